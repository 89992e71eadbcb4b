# tests/system/test_fleet_proxy.py: the bad network of the fleet's tests does what it says.
#
# SPDX-License-Identifier: MIT
"""Tests of the proxy itself, with Redis behind it."""
import socket
import time

from errand import check, main, same, test
from proxy import Proxy
from redis import Redis, RedisError, exchange


def dial(proxy, timeout=30):
    connection = socket.create_connection(("127.0.0.1", proxy.port), timeout)
    return connection.makefile("rwb")


def fails(stream, *words):
    """The connection is of no use any more."""
    try:
        exchange(stream, words)
    except (OSError, RedisError):
        return True
    return False


@test(server=False)
def bytes_pass_until_they_are_cut_and_again_when_healed(nest):
    redis = Redis(nest)
    proxy = Proxy(nest, redis.port)
    stream = dial(proxy)
    same(exchange(stream, ("SET", "k", "x" * 300000)), "OK")
    same(len(exchange(stream, ("GET", "k"))), 300000)
    proxy.cut()
    check(fails(stream, "PING") and fails(dial(proxy), "PING"), "it is cut")
    proxy.heal()
    same(exchange(dial(proxy), ("PING",)), "PONG")


@test(server=False)
def answers_can_be_swallowed_while_commands_arrive(nest):
    redis = Redis(nest)
    proxy = Proxy(nest, redis.port)
    stream = dial(proxy, timeout=0.5)
    same(exchange(stream, ("PING",)), "PONG")
    proxy.swallow(up=False, down=True)
    check(fails(stream, "SET", "k", "1"), "no answer comes")
    same(redis.ask("GET", "k"), "1")
    proxy.heal()
    check(fails(stream, "PING"), "a connection with a gap is broken")


@test(server=False)
def one_answer_can_be_lost_with_its_connection(nest):
    redis = Redis(nest)
    proxy = Proxy(nest, redis.port)
    stream, other = dial(proxy), dial(proxy)
    proxy.lose_answer(b"INCR")
    same(exchange(stream, ("PING",)), "PONG")
    check(fails(stream, "INCR", "n"), "its answer is lost")
    check(proxy.lost.wait(10), "and the proxy knows")
    same(exchange(other, ("INCR", "n")), 2)


@test(server=False)
def a_delay_counts_each_way(nest):
    proxy = Proxy(nest, Redis(nest).port)
    stream, began = dial(proxy), time.monotonic()
    proxy.delay(0.1)
    same(exchange(stream, ("PING",)), "PONG")
    check(time.monotonic() - began >= 0.2, "twice a tenth")


main()
