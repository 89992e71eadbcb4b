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
import subprocess
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


# ---- Several nodes: what saturates first ----


class Busy:
    """How much of a core was used while something ran."""

    def __init__(self):
        self.before = self.look()

    @staticmethod
    def look():
        with open("/proc/stat", encoding="ascii") as file:
            rows = [line.split() for line in file if line[:3] == "cpu" and line[3] != " "]
        return [(sum(map(int, row[1:4])) + sum(map(int, row[6:9])), sum(map(int, row[1:9]))) for row in rows]

    def share(self, core):
        (was, all_was), (now, all_now) = self.before[core], self.look()[core]
        return (now - was) / max(1, all_now - all_was)


@contextlib.contextmanager
def pinned(*processes):
    """What stores runs on the first core, what is started meanwhile on the second."""
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        yield None
        return
    for pid in processes:
        os.sched_setaffinity(pid, {cores[0]})
    os.sched_setaffinity(0, {cores[1]})
    try:
        yield cores
    finally:
        os.sched_setaffinity(0, set(cores))
        for pid in processes:
            os.sched_setaffinity(pid, set(cores))


def scaling(bench, serve, postgres, redis):
    """The same work over 1, 2 and 3 nodes, PostgreSQL and Redis on one core, nodes and client on the other."""
    of_postgres = subprocess.run(["pgrep", "-P", str(postgres.process.pid)], capture_output=True, text=True, check=False).stdout.split()
    with pinned(postgres.process.pid, *map(int, of_postgres), redis.pid) as cores:
        for mode, connections in (("create", 64), ("life", 64), ("life", 256)):
            for count in (1, 2, 3):
                with nodes(bench, serve, postgres, redis, count, f"scale{mode}{connections}n{count}") as fleet:
                    wait_filled(fleet[0])
                    busy = Busy()
                    reached = bench.drive(fleet[0], mode, bench.n(12000, 1500), "--connections", connections,
                                          *(["--worker-url", fleet[-1].url] if mode == "life" else []))["tasksPerSecond"]
                    used = f"PostgreSQL's core {busy.share(cores[0]):.0%}, the nodes' {busy.share(cores[1]):.0%}" if cores else ""
                bench.table.add(f"fleet: {mode} over {count} pinned nodes, {connections} connections", rate(reached), used, "",
                                "shown", True)


def run(bench, serve):
    with servers() as (postgres, redis):
        only = os.environ.get("ERRAND_BENCH_FLEET", "").split(",")
        for part in (throughput, latency, backlog, scaling):
            if only == [""] or part.__name__ in only:
                part(bench, serve, postgres, redis)
