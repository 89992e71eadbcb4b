# tests/system/fleet.py: several nodes on one PostgreSQL and one or two Redis, and their bad days.
#
#     fleet = Fleet(nest, nodes=3, redis=1)
#     fleet.node(0).create(); fleet.node(1).claim_one()
#     fleet.kill(2); fleet.revive(2); fleet.freeze(1); fleet.thaw(1); fleet.add()
#     fleet.postgres.freeze(); fleet.redis.flush(); fleet.wires[1]["redis"].cut()     # with proxied=True
#     fleet = Fleet(nest, standby=True); fleet.stop_shipping(); fleet.fail_over()
#
# One PostgreSQL serves all tests of a file, each in a database of its own; a test that stops it starts it again. With
# proxied=True every node reaches Redis and PostgreSQL through proxies of its own. With standby=True it has a PostgreSQL of its own, proxies
# in front of it, and a second one that follows the first until stop_shipping(). With pooled=True nodes speak to PgBouncer in transaction mode.
#
# SPDX-License-Identifier: MIT
"""A fleet for system tests."""
import atexit
import itertools
import os
import signal
import subprocess
import threading

from errand import DEADLINE, check, same, wait_for
from postgres import Postgres
from proxy import Proxy
from redis import Redis

SHARED = threading.local()  # a thread that has a fleet has a PostgreSQL of its own
NUMBERS = itertools.count(1)
START_ATTEMPTS = 10
LEADER_S = 11  # G7: another leads within this long
SLACK_S = 3  # a busy machine and our own polling
WAIT_MS = 20000  # of a claim that must find something
GONE_S = 15  # dead nodes vanish from the list


class Database(Postgres):
    """One cluster for the whole file, with bad days."""

    def pids(self):
        """The postmaster and its children."""
        found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(self.process.pid)], capture_output=True, text=True,
                               check=False).stdout
        return [self.process.pid, *(int(word) for word in found.split())]

    def freeze(self):
        """Every process stands still: connections stay open and nothing is answered."""
        self.frozen = self.pids()
        for pid in self.frozen:
            signal_quietly(pid, signal.SIGSTOP)

    def thaw(self):
        for pid in self.frozen:
            signal_quietly(pid, signal.SIGCONT)

    def start(self):
        """Somebody may be faster to take a port, or a child of the last server slower to end."""
        left = START_ATTEMPTS

        def started():
            nonlocal left
            try:
                super(Database, self).start()
                return True
            except RuntimeError as error:
                left -= 1
                check(left > 0, f"{error}: {self.tail()}")
                return False
        wait_for(started, "PostgreSQL", deadline=float("inf"), every=0.5)

    def restart(self, how=signal.SIGINT):
        self.stop(how)
        self.start()

    def close(self):
        self.__exit__()


def wait_slowly(condition, what, deadline=DEADLINE):
    """As wait_for(), for questions that cost a fleet something."""
    return wait_for(condition, what, deadline, every=0.1)


def signal_quietly(pid, number):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def shared_postgres():
    if not hasattr(SHARED, "postgres"):
        SHARED.postgres = Database().__enter__()
        atexit.register(SHARED.postgres.__exit__)
    return SHARED.postgres


class Fleet:
    """Nodes 0, 1, …; each is a Server of errand.py with a data folder of its own."""

    def __init__(self, nest, nodes=3, redis=1, proxied=False, workers=0, args=(), env=None, file=None, cluster=False,
                 standby=False, pooled=False, tls=None, brokers=None):
        self.nest, self.proxied, self.args, self.file = nest, proxied or standby, ["--workers", str(workers), *args], file
        self.env, self.nodes, self.wires, self.frozen = env or {}, [], [], set()
        self.postgres, self.database = self.own_postgres() if standby else shared_postgres(), f"fleet{next(NUMBERS)}"
        self.postgres.sql(f"CREATE DATABASE {self.database}")
        self.pooled = pooled
        if pooled:
            self.postgres.start_pooler()
        self.brokers = brokers or [Redis(nest, cluster=cluster, tls=tls) for _ in range(redis)]
        for _ in range(nodes):
            self.add()

    @property
    def redis(self):
        return self.brokers[0]

    def node(self, at):
        return self.nodes[at]

    # -- starting --

    def add(self, **options):
        """One node more; returns its number."""
        wires = self.wires_of() if self.proxied else {}
        self.wires.append(wires)
        args = ["--store", self.store_url(wires), *self.broker_args(wires), *self.args, *options.pop("args", ())]
        if self.file:
            args += ["--config", self.file]
        env = {**self.env, **self.broker_env(wires), **options.pop("env", {})}
        self.nodes.append(self.nest.server(args=args, env=env, **options))
        return len(self.nodes) - 1

    def wires_of(self):
        return {"postgres": Proxy(self.nest, self.postgres.port),
                **{name: Proxy(self.nest, server.port) for name, server in zip(("redis", "low"), self.brokers)}}

    def store_url(self, wires=None):
        if not wires:
            return self.postgres.pooler_url(self.database) if self.pooled else self.postgres.url(self.database)
        return self.postgres.url(self.database, host="127.0.0.1", port=wires["postgres"].port)

    def redis_url(self, wires, name, server):
        return f"redis://127.0.0.1:{wires[name].port}" if wires else server.url

    def broker_args(self, wires):
        return ["--broker", self.redis_url(wires, "redis", self.brokers[0])] if len(self.brokers) == 1 else []

    def broker_env(self, wires):
        if len(self.brokers) < 2:
            return {}
        return {"ERRAND_BROKER_HIGH": self.redis_url(wires, "redis", self.brokers[0]),
                "ERRAND_BROKER_LOW": self.redis_url(wires, "low", self.brokers[1])}

    def own_postgres(self):
        """Two servers; the second streams what the first writes, through a wire that can be cut."""
        primary, self.standby = Database().__enter__(), Database()
        self.nest.closing += [primary, self.standby]
        self.shipping = Proxy(self.nest, primary.port)
        primary.make_standby(self.standby, self.shipping.port)
        return primary

    # -- bad days --

    def stop_shipping(self):
        """The standby has everything up to here, and gets nothing more."""
        here = self.postgres.sql("SELECT pg_current_wal_flush_lsn()")
        wait_for(lambda: self.standby.sql(f"SELECT pg_last_wal_replay_lsn() >= '{here}'") == "t", "the standby to follow")
        self.shipping.cut()

    def fail_over(self):
        """The server dies as if its power failed, and the standby takes its place."""
        for wires in self.wires:
            wires["postgres"].cut()
        self.postgres.stop(signal.SIGQUIT)
        self.standby.promote()
        self.postgres = self.standby
        for wires in self.wires:
            wires["postgres"].target = self.standby.port
            wires["postgres"].heal()

    def kill(self, at):
        self.nodes[at].kill()
        self.frozen.discard(at)

    def freeze(self, at):
        self.nodes[at].process.send_signal(signal.SIGSTOP)
        self.frozen.add(at)

    def thaw(self, at):
        self.nodes[at].process.send_signal(signal.SIGCONT)
        self.frozen.discard(at)

    def revive(self, at):
        """A new process in the place of one that has ended."""
        self.nodes[at].restart()

    def alive(self):
        return [at for at, node in enumerate(self.nodes) if node.process.poll() is None and at not in self.frozen]

    # -- using --

    def pass_a_task(self, maker=0, worker=1, ender=2, **fields):
        """From node to node, whatever is broken."""
        task = self.nodes[maker].create(**fields)
        claimed = self.nodes[worker].claim_one("w", waitMs=WAIT_MS)
        same(claimed["id"], task["id"])
        same(self.nodes[ender].complete(claimed)["state"], "COMPLETED")

    # -- looking --

    def roster(self, at=0):
        """Empty while the node cannot read the store."""
        answer = self.nodes[at].call("GET", "/api/nodes", expect=(200, 503))
        return answer.json["nodes"] if answer.status == 200 else []

    def entry(self, at, seen_by=None):
        """Node `at` as node `seen_by` shows it; None: it is not in the list."""
        pid = self.nodes[at].process.pid
        seen = self.roster(at if seen_by is None else seen_by)
        return next((each for each in seen if each["pid"] == pid), None)

    def leader(self):
        """The number of the node that says it leads; None: nobody."""
        return next((at for at in self.alive() if (self.entry(at) or {}).get("leader")), None)

    def wait_leader(self, among=None, deadline=LEADER_S + SLACK_S):
        def found():
            at = self.leader()
            return at is not None and (among is None or at in among) and [at]
        return wait_slowly(found, "a leader", deadline)[0]

    def wait_together(self):
        """Everybody sees everybody, the broker works, and one leads."""
        def settled():
            shown = [self.roster(at) for at in self.alive()]
            kinds = ("poll",) if not self.brokers else ("redis",)
            return all(len(each) == len(self.alive()) and sum(n["leader"] for n in each) == 1 and
                       all(n["broker"] in kinds for n in each) for each in shown)
        wait_slowly(settled, "one fleet of all nodes")
        return self

    def broker_of(self, at):
        return self.entry(at)["broker"]

    def wait_broker(self, at, kind, deadline=10):
        wait_slowly(lambda: self.broker_of(at) == kind, f"node {at} with its broker {kind}", deadline)

    def sql(self, text):
        return self.postgres.sql(text, self.database)

    def doctor(self):
        """`errand doctor` finds nothing wrong with the shared store."""
        run = self.nest.run("doctor", "--data", self.nodes[0].data, "--store", self.store_url(), expect=None,
                            env={"ERRAND_URL": f"http://127.0.0.1:{self.nodes[self.alive()[0]].port}"})
        check(run.returncode == 0, f"doctor complains:\n{run.stdout}\n{run.stderr}")
        check("every invariant holds" in run.stdout, f"doctor did not look:\n{run.stdout}\n{run.stderr}")

    def all_tasks(self, at=None):
        """{id: task} of everything, by pages."""
        node, found, path = self.nodes[self.alive()[0] if at is None else at], {}, "/api/tasks?limit=500"
        while path:
            answer = node.call("GET", path, expect=200)
            found.update((task["id"], task) for task in answer.json)
            link = answer.headers.get("link", "")
            path = link[1:link.index(">")] if 'rel="next"' in link else None
        return found


class Lone:
    """One embedded node where a fleet is expected: the clients of history.py need no more."""

    def __init__(self, server):
        self.nodes = [server]

    alive = Fleet.alive
    all_tasks = Fleet.all_tasks
    frozen = frozenset()
