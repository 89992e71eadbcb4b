# tests/system/test_redis.py: the Redis that other tests lean on can be started, frozen and stopped.
#
# SPDX-License-Identifier: MIT
"""Tests of the Redis starter itself."""
from errand import check, main, same, test
from redis import Redis, RedisError


@test(server=False)
def a_redis_answers_with_every_kind_of_reply(nest):
    redis = Redis(nest)
    same(redis.ask("SET", "k", "a b"), "OK")
    same(redis.ask("GET", "k"), "a b")
    same(redis.ask("GET", "missing"), None)
    same(redis.ask("MGET", "k", "missing"), ["a b", None])
    same(redis.ask("STRLEN", "k"), 3)
    try:
        redis.ask("INCR", "k")
        check(False, "INCR of a text is refused")
    except RedisError as error:
        check("not an integer" in str(error))
    redis.flush()
    same(redis.ask("DBSIZE"), 0)


@test(server=False)
def a_redis_can_be_frozen_and_stopped_and_keeps_its_address(nest):
    redis = Redis(nest, password="sesame")
    url = redis.url
    redis.ask("SET", "k", "1")
    redis.freeze()
    redis.thaw()
    same(redis.ask("GET", "k"), "1")
    redis.stop()
    try:
        redis.ask("PING")
        check(False, "nobody is there")
    except OSError:
        pass
    redis.start()
    same((redis.url, redis.ask("GET", "k")), (url, None))


main()
