# bench/fleet.py: a fleet beside bare PostgreSQL: rows of bench/run.
#
# P is what a bare libpq loop reaches with arrays on the same server (ref_postgres), at the batch size that Errand had in
# the row: the tasks of one commit on average. PostgreSQL and Redis are started here, durable (fsync and synchronous_commit
# on), in a folder on the disk that is measured.
#
# SPDX-License-Identifier: MIT
"""Rows of the fleet."""
import contextlib
import os
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tests", "system"))

from postgres import Postgres  # noqa: E402
from redis import Redis  # noqa: E402

DURABLE = {"fsync": "on", "full_page_writes": "on", "synchronous_commit": "on", "shared_buffers": "1GB",
           "max_wal_size": "4GB"}
STEPS = 3  # of a life, each in some commit: create, claim, complete


class Nest:
    """What redis.py asks of a test."""

    def __init__(self):
        self.closing = []

    def close(self):
        for each in self.closing:
            each.stop()


@contextlib.contextmanager
def servers():
    nest = Nest()
    with Postgres(**DURABLE) as postgres:
        try:
            yield postgres, Redis(nest)
        finally:
            nest.close()


@contextlib.contextmanager
def nodes(bench, serve, postgres, redis, count, name):
    """On a database of their own; what Redis held was another's."""
    if redis:
        redis.flush()
    postgres.sql(f"CREATE DATABASE {name}")
    more = ["--store", postgres.url(name)] + (["--broker", redis.url] if redis else [])
    with contextlib.ExitStack() as stack:
        yield [stack.enter_context(serve([bench.errand, "serve", "--listen", "127.0.0.1:0", "--data",
                                          bench.data(f"{name}{i}"), "--workers", "0", "--config", os.devnull, *more]))
               for i in range(count)]


def rate(value):
    return f"{value:,.0f}/s"


def commits(node):
    return sum(float(line.split()[1]) for line in node.text("/metrics").splitlines()
               if line.startswith("errand_wal_fsync_seconds_count"))


def drive(bench, node, mode, count, steps):
    """Tasks a second, and how many of them shared a commit."""
    before = commits(node)
    reached = bench.drive(node, mode, count, "--connections", 64)["tasksPerSecond"]
    return reached, max(1, round(steps * count / (commits(node) - before)))


def raw_limit(bench, postgres, batch, what):
    count = bench.n(60000, 6400) // batch * batch
    words = bench.run_reference("ref_postgres", postgres.url(), count, batch).split()
    return dict(zip(words[::2], map(float, words[1::2])))[what]


def against(bench, measure, reached, name, limit, target):
    bench.table.add(measure, rate(reached), f"{name} {rate(limit)}", f"{reached / limit:.2f}", f"≥ {target}",
                    reached >= target * limit)


def throughput(bench, serve, postgres, redis):
    with nodes(bench, serve, postgres, redis, 1, "one") as (node,):
        create, batch = drive(bench, node, "create", bench.n(40000, 2000), 1)
    limit = raw_limit(bench, postgres, batch, "createPerSecond")
    against(bench, f"fleet: create, 64 connections, {batch} a commit", create, "P", limit, 0.6)
    with nodes(bench, serve, postgres, redis, 1, "life") as (node,):
        life, batch = drive(bench, node, "life", bench.n(30000, 2000), STEPS)
    limit = raw_limit(bench, postgres, batch, "lifePerSecond")
    against(bench, f"fleet: whole life, 64 + 64 connections, {batch} a commit", life, "P", limit, 0.5)
    with nodes(bench, serve, postgres, None, 1, "poll") as (node,):
        polled, _ = drive(bench, node, "life", bench.n(30000, 2000), STEPS)
    bench.table.add("fleet: whole life without Redis against with", rate(polled), rate(life),
                    f"{polled / life:.0%}", "≥ 50 %", polled >= 0.5 * life)


def latency(bench, serve, postgres, redis):
    with nodes(bench, serve, postgres, redis, 2, "two") as (first, second):
        wait_filled(second)
        postgres.sql("CHECKPOINT")  # of what other rows left to be written
        start = bench.drive(first, "latency", bench.n(1000, 100), "--rate", 40, "--workers", 4,
                            "--worker-url", second.url)["startMs"]
    bench.table.add("fleet: create → worker on another node has it", f"p50 {start['p50']:.2f} ms, p99 {start['p99']:.2f} ms",
                    "", "", "≤ 5 ms, ≤ 25 ms", start["p50"] <= 5 and start["p99"] <= 25)


def backlog(bench, serve, postgres, redis):
    rates = []
    for count in (bench.n(10000, 2000), bench.n(1000000, 20000)):
        with nodes(bench, serve, postgres, redis, 1, f"backlog{count}") as (node,):
            bench.drive(node, "bulk", count + bench.n(10000, 1000), "--batch", 1000, "--connections", 4)
            wait_filled(node)
            postgres.sql("VACUUM (ANALYZE)", f"backlog{count}")  # filling is not what is measured
            postgres.sql("CHECKPOINT")
            rates.append(bench.drive(node, "claim", bench.n(10000, 1000), "--no-fill",
                                     "--connections", 64)["tasksPerSecond"])
    bench.table.add("fleet: backlog of 1,000,000 against 10,000, claim + complete", rate(rates[1]), rate(rates[0]),
                    f"{rates[1] / rates[0]:.0%}", "≥ 75 %", rates[1] >= 0.75 * rates[0])


def wait_filled(node):
    """Until the broker answers claims: a fresh Redis is filled by the leader first."""
    until = time.monotonic() + 120
    while time.monotonic() < until:
        if all(each["broker"] == "redis" for each in node.ask("GET", "/api/nodes", None)["nodes"]):
            return
        time.sleep(.1)


def scaling(bench, serve, postgres, redis):
    """The same work over 1, 2 and 3 nodes: what saturates first on one machine."""
    reached = []
    for count in (1, 2, 3):
        with nodes(bench, serve, postgres, redis, count, f"scale{count}") as fleet:
            worker = fleet[-1].url
            reached.append(bench.drive(fleet[0], "life", bench.n(20000, 1500), "--connections", 64,
                                       "--worker-url", worker)["tasksPerSecond"])
    bench.table.add("fleet: whole life over 1, 2, 3 nodes, one machine", ", ".join(rate(each) for each in reached), "", "",
                    "shown", True)


def run(bench, serve):
    with servers() as (postgres, redis):
        for part in (throughput, latency, backlog, scaling):
            part(bench, serve, postgres, redis)
