# tests/system/test_chaos.py: whole schedules of faults from one seed; then the fleet is healed and judged.
#
#     ERRAND_CHAOS_SEED=7 ERRAND_CHAOS_RUNS=3 ERRAND_CHAOS_TASKS=2000 tests/system/test_chaos.py
#
# The seed is printed at the beginning; a run that fails says how to repeat it alone. Several runs go on side by side, since a
# healing fleet mostly waits. Each is a fresh fleet of three nodes, every other one behind proxies. While producers and workers call all of them, two
# faults at a time come and go as the dice fall: nodes die, freeze and come back, Redis is stopped, frozen and flushed,
# PostgreSQL crashes and freezes, networks are cut, slow, or swallow what they carry. Then everything is healed, all tasks must
# come to their end, and the judge reads what the clients saw (history.py). `errand doctor` looks at the rows.
#
# SPDX-License-Identifier: MIT
"""Bounded chaos."""
import concurrent.futures
import os
import random
import signal
import threading
import time

from errand import Nest, check, main, same, test, wait_for
from fleet import Fleet
from patience import wait_until
from history import CALM_PATIENCE_S, OPEN, SETTLED_S, History, Producer, Worker, judge

SEED = int(os.environ.get("ERRAND_CHAOS_SEED") or int.from_bytes(os.urandom(3), "big"))
RUNS = int(os.environ.get("ERRAND_CHAOS_RUNS") or 20)
TASKS = int(os.environ.get("ERRAND_CHAOS_TASKS") or 500)
LANES = 4  # runs at once
NODES = 3
FAULTS_AT_ONCE = 2
DOCUMENTS = 60
STORM_S = (4, 20)  # faults go on until everything was created, but neither shorter nor longer
STUCK_S = 60  # a healed fleet that gets nothing done for this long will never
CALM_TASKS = 60


# ---- Faults: each begins and returns what ends it, or None if it cannot be now ----


def some_node(storm):
    """One that lives, as long as another is left."""
    alive = storm.fleet.alive()
    return storm.random.choice(alive) if len(alive) > 1 else None


def kill(storm, at):
    if at is None or len(storm.fleet.alive()) < 2:
        return None
    storm.fleet.kill(at)
    return lambda: storm.dead.add(at)  # revived when PostgreSQL can be reached


def kill_node(storm):
    return kill(storm, some_node(storm))


def kill_leader(storm):
    """Whoever Redis says it is: nodes are slow to answer during a storm. One that is frozen says nothing."""
    if "redis" in storm.active:
        return None
    try:
        name = storm.fleet.redis.ask("GET", "errand:leader")
    except OSError:
        return None
    at = storm.names.get(name)
    return kill(storm, at) if at in storm.fleet.alive() else None


def freeze_node(storm):
    at = some_node(storm)
    if at is None:
        return None
    storm.fleet.freeze(at)
    return lambda: storm.fleet.thaw(at)


def freeze_redis(storm):
    storm.fleet.redis.freeze()
    return storm.fleet.redis.thaw


def stop_redis(storm):
    storm.fleet.redis.stop()
    return storm.fleet.redis.start


def flush_redis(storm):
    ending = threading.Event()

    def flood():
        while not ending.wait(0.05):
            try:
                storm.fleet.redis.flush()
            except OSError:
                pass
    thread = threading.Thread(target=flood)
    thread.start()

    def end():
        ending.set()
        thread.join()
    return end


def freeze_postgres(storm):
    storm.fleet.postgres.freeze()
    return storm.fleet.postgres.thaw


def crash_postgres(storm):
    storm.fleet.postgres.stop(signal.SIGQUIT)
    return storm.fleet.postgres.start


def harm_wire(storm, server):
    if not storm.fleet.proxied:
        return None
    wire = storm.random.choice(storm.fleet.wires)[server]
    storm.random.choice((wire.cut, wire.swallow, lambda: wire.swallow(up=False), lambda: wire.delay(0.1),
                         lambda: wire.delay(0.4)))()
    return wire.heal


def harm_redis_wire(storm):
    return harm_wire(storm, "redis")


def harm_postgres_wire(storm):
    return harm_wire(storm, "postgres")


def lose_commit(storm):
    if not storm.fleet.proxied:
        return None
    wire = storm.random.choice(storm.fleet.wires)["postgres"]
    wire.lose_answer(b"COMMIT;")
    return wire.heal


FAULTS = {
    kill_node: "nodes", kill_leader: "nodes", freeze_node: "nodes",
    freeze_redis: "redis", stop_redis: "redis", flush_redis: "redis", harm_redis_wire: "redis wire",
    freeze_postgres: "postgres", crash_postgres: "postgres", harm_postgres_wire: "postgres wire",
    lose_commit: "postgres wire",
}


class Storm:
    """Faults that come and go, at most one of a kind at once."""

    def __init__(self, fleet, seed):
        self.fleet, self.random = fleet, random.Random(f"storm {seed}")
        self.active, self.dead, self.told = {}, set(), []
        self.names = {fleet.entry(at)["id"]: at for at in range(NODES)}
        self.began = self.next = time.monotonic()

    def tell(self, text):
        self.told.append(f"{time.monotonic() - self.began:6.2f} {text}")

    def begin(self):
        fault = self.random.choice([each for each, part in FAULTS.items() if part not in self.active])
        end = fault(self)
        if end is not None:
            self.active[FAULTS[fault]] = (fault.__name__, end)
            self.tell(f"{fault.__name__} begins")

    def end_one(self):
        part = next(iter(self.active))
        name, end = self.active.pop(part)
        end()
        self.tell(f"{name} ends")
        self.revive()

    def revive(self):
        """A node that starts needs PostgreSQL."""
        if not any(part.startswith("postgres") for part in self.active):
            while self.dead:
                at = self.dead.pop()
                self.fleet.revive(at)
                self.names[wait_for(lambda a=at: self.fleet.entry(a), "a node that knows itself")["id"]] = at

    def step(self):
        if len(self.active) < FAULTS_AT_ONCE:
            self.begin()
        elif self.active:
            self.end_one()
        self.next += self.random.uniform(0.1, 0.6)
        wait_until(self.next)

    def heal(self):
        while self.active:
            self.end_one()
        self.revive()
        self.tell("healed")


# ---- A run ----


def order(dice):
    document = f"d{dice.randrange(DOCUMENTS)}" if dice.random() < 0.3 else None
    return {"priority": dice.choice(("CRITICAL", "HIGH", "NORMAL", "LOW")),
            **({"documentId": document} if document else {}),
            **({"delayMs": dice.randrange(1, 500)} if dice.random() < 0.1 else {})}


def clients_of(fleet, history, seed):
    lot = max(10, TASKS // 40)
    return ([Producer(fleet, history, f"p{i}", seed, count=TASKS // 2, lot=lot, pause=0.1, make=order, patience=2.0)
             for i in range(2)],
            [Worker(fleet, history, f"w{i}", seed, take=60, lease_ms=1500, faults=0.03, late=0.005, patience=2.0)
             for i in range(3)])


def weather(storm, producers):
    began = time.monotonic()
    while any(each.is_alive() for each in producers) or time.monotonic() - began < STORM_S[0]:
        if time.monotonic() - began > STORM_S[1]:
            break
        storm.step()
    storm.heal()


def all_ended(fleet):
    try:
        answer = fleet.node(0).call("GET", f"/api/tasks?state={OPEN}&limit=1", expect=(200, 503))
    except OSError:  # it closes connections that were idle for long, as it may
        return False
    return answer.status == 200 and not answer.json


def wait_moving(history, condition, what):
    """However slow the machine is: only standing still is a failure."""
    def acknowledged():
        return sum(history.count(kind) for kind in ("create", "complete", "fail", "release"))
    had, since = acknowledged(), time.monotonic()

    def looked():
        nonlocal had, since
        if acknowledged() != had:
            had, since = acknowledged(), time.monotonic()
        check(time.monotonic() - since < STUCK_S, f"{what} did not come, and nothing moved for {STUCK_S} s")
        return condition()
    wait_for(looked, what, deadline=float("inf"), every=0.1)


def settle(fleet, history, producers):
    """Everything comes to its end."""
    wait_moving(history, lambda: not any(each.is_alive() for each in producers), "the end of all creates")
    wait_moving(history, lambda: all_ended(fleet), "the end of all tasks")


def drop_idle(fleet):
    """A node closes connections that were idle for long, as it may; ours were, if the storm was slow."""
    for node in fleet.nodes:
        node.drop_wires()


def calm(fleet, history, seed):
    """When all is well again strict priority is, too: what waited for more than a second is taken in its order."""
    drop_idle(fleet)
    fleet.wait_together()
    producer = Producer(fleet, history, "calm-p", seed, count=CALM_TASKS, make=order, patience=CALM_PATIENCE_S)
    worker = Worker(fleet, history, "calm-w", seed, take=5, lease_ms=30000, faults=0, late=0, patience=CALM_PATIENCE_S)
    producer.start()
    producer.join()
    created = max(call.end for call in history.calls if call.kind == "create")
    wait_for(lambda: history.now() > created + 2 * SETTLED_S, "the moment from which the judge asks for order")
    begin = history.now()
    worker.start()
    wait_moving(history, lambda: all_ended(fleet), "the end of the last tasks")
    worker.end()
    producer.end()
    history.quiet.append((begin, history.now()))
    drop_idle(fleet)


def run(nest, seed):
    fleet, history = Fleet(nest, nodes=NODES, proxied=seed % 2 == 0).wait_together(), History()
    producers, workers = clients_of(fleet, history, seed)
    storm = Storm(fleet, seed)
    try:
        for client in (*producers, *workers):
            client.start()
        weather(storm, producers)
        for client in (*producers, *workers):
            client.take_time()
        settle(fleet, history, producers)
        for client in (*producers, *workers):
            client.end()
        calm(fleet, history, seed)
        same(len(history.acknowledged()), TASKS + CALM_TASKS, "tasks that were acknowledged")
        same(judge(history, fleet.all_tasks()), [], "what the judge found")
        fleet.doctor()
    except BaseException:
        nest.told = storm.told
        storm.heal()
        raise
    finally:
        for client in (*producers, *workers):
            client.stopping.set()


def in_a_lane(seed):
    """One run with what it owns; what went wrong, with the weather and the last words of its nodes, or None."""
    nest, trouble = Nest(), None
    nest.told = []
    try:
        run(nest, seed)
    except BaseException as error:
        lines = [f"run it again with ERRAND_CHAOS_SEED={seed} ERRAND_CHAOS_RUNS=1 ERRAND_CHAOS_TASKS={TASKS}",
                 f"{type(error).__name__}: {error}"[:2000], *nest.told]
        for at, server in enumerate(nest.servers):
            if not server.errors.closed:
                lines += [f"node {at}: {line}" for line in server.stderr().splitlines()[-25:]]
        trouble = "\n".join(lines)
    try:
        nest.close()
    except AssertionError as error:
        trouble = f"{trouble or ''}\n{error}".strip()
    return trouble


def register(number, lanes):
    result = lanes.submit(in_a_lane, SEED + number)

    def chaos(_):
        trouble = result.result()
        check(not trouble, f"a promise was broken: {trouble}")
    chaos.__name__ = f"chaos_{SEED + number}_leaves_every_promise_whole"
    test(server=False)(chaos)


print(f"# ERRAND_CHAOS_SEED={SEED}", flush=True)
the_lanes = concurrent.futures.ThreadPoolExecutor(LANES)
for each_run in range(RUNS):
    register(each_run, the_lanes)
main()
