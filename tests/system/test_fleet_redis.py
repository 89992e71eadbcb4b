# tests/system/test_fleet_redis.py: Redis fails, or the way to it; the promises hold (G3, G4, G6).
#
# SPDX-License-Identifier: MIT
"""Faults of Redis."""
import threading
import time

from errand import check, main, same, test, together, wait_for
from fleet import SLACK_S, WAIT_MS, Fleet, wait_slowly
from history import Load

ORDER_S = 2  # G4: this long after Redis was flushed, order is strict again


def drain(fleet, count, worker=1):
    """Claims until `count` different tasks were had; completes them."""
    seen, end = set(), time.monotonic() + 30
    while len(seen) < count:
        check(time.monotonic() < end, f"only {len(seen)} of {count} tasks can be had")
        for task in fleet.node(worker).claim("w", max=50, waitMs=2000):
            check(task["id"] not in seen, "a task was given out twice")
            seen.add(task["id"])
            fleet.node(worker).complete(task)
    return seen


def quietly(function):
    try:
        function()
    except OSError:
        pass


def many(fleet, count, at=0, **fields):
    tasks = fleet.node(at).post("/api/tasks", [{"taskType": "t", **fields} for _ in range(count)], 201)
    return {task["id"] for task in tasks}


def all_brokers(fleet, kind):
    for at in fleet.alive():
        fleet.wait_broker(at, kind)


def work_goes_on(fleet, break_it, mend_it, kind="degraded"):
    """Before, during and after: tasks pass from node to node, none is lost, none comes twice."""
    before = many(fleet, 40)
    break_it()
    if kind:
        all_brokers(fleet, kind)
    during = many(fleet, 40, at=1, documentId="d") | many(fleet, 40, at=2)
    same(drain(fleet, 20, worker=0) <= before | during, True)
    left = (before | during) - {task["id"] for task in fleet.node(0).list(state="COMPLETED", limit=500)}
    mend_it()
    all_brokers(fleet, "redis")
    after = many(fleet, 10)
    same(drain(fleet, len(left) + 10, worker=2), left | after)
    fleet.pass_a_task()
    fleet.doctor()


@test(server=False)
def redis_may_stop_and_start_empty(nest):
    fleet = Fleet(nest).wait_together()
    work_goes_on(fleet, fleet.redis.stop, fleet.redis.start)


@test(server=False)
def redis_may_freeze_and_thaw(nest):
    fleet = Fleet(nest).wait_together()
    work_goes_on(fleet, fleet.redis.freeze, fleet.redis.thaw)


@test(server=False)
def redis_may_run_out_of_memory(nest):
    fleet = Fleet(nest).wait_together()

    def fill():
        fleet.redis.ask("CONFIG", "SET", "maxmemory-policy", "noeviction")
        fleet.redis.ask("CONFIG", "SET", "maxmemory", "1mb")
        many(fleet, 5)

    def empty():
        fleet.redis.ask("CONFIG", "SET", "maxmemory", "0")
    began = fleet.node(0).create(priority="CRITICAL")
    same(fleet.node(1).claim_one("w")["id"], began["id"])
    fill()
    drain(fleet, 5)
    work_goes_on(fleet, lambda: None, empty, kind=None)


@test(server=False)
def redis_may_be_flushed_again_and_again(nest):
    fleet = Fleet(nest).wait_together()
    load = Load(fleet, count=300)
    for _ in range(20):
        load.under_way("claim", 3)
        fleet.redis.flush()
    load.judge()
    all_brokers(fleet, "redis")


def hints(fleet):
    """What Redis holds of the only line: each task and its place."""
    words = [word for lane in fleet.redis.ask("KEYS", "errand:{dispatch3}:lane:*")
             for word in fleet.redis.ask("ZRANGE", lane, "0", "-1", "WITHSCORES")]
    return dict(zip(words[::2], words[1::2]))


@test(server=False)
def order_returns_soon_after_a_flush(nest):
    fleet = Fleet(nest).wait_together()
    made = [fleet.node(i % 3).create(priority=priority) for i, priority in
            enumerate(("LOW", "HIGH", "NORMAL", "CRITICAL", "LOW", "HIGH", "NORMAL", "CRITICAL"))]
    line = wait_for(lambda: len(hints(fleet)) == len(made) and hints(fleet), "all in their line")
    fleet.redis.flush()
    wait_for(lambda: hints(fleet) == line, "the line as it was", ORDER_S + SLACK_S)
    order = [made[i]["id"] for i in (3, 7, 1, 5, 2, 6, 0, 4)]
    same([fleet.node(i % 3).claim_one("w")["id"] for i in range(8)], order)


@test(server=False)
def redis_may_evict_what_it_likes(nest):
    fleet = Fleet(nest).wait_together()
    used = int(next(line for line in fleet.redis.ask("INFO", "memory").splitlines()
                    if line.startswith("used_memory:")).split(":")[1])
    fleet.redis.ask("CONFIG", "SET", "maxmemory-policy", "allkeys-random")
    fleet.redis.ask("CONFIG", "SET", "maxmemory", str(used + 100_000))
    made = set().union(*(many(fleet, 30, at=i % 3, documentId=f"d{i}") if i % 2 else many(fleet, 200, at=i % 3)
                         for i in range(4)))
    wait_for(lambda: "evicted_keys:0" not in fleet.redis.ask("INFO", "stats"), "keys to be evicted")
    fleet.redis.ask("CONFIG", "SET", "maxmemory", "0")
    same(drain(fleet, len(made)), made)
    fleet.wait_together()
    fleet.pass_a_task()


@test(server=False)
def a_node_may_be_blind_to_redis_alone(nest):
    fleet = Fleet(nest, proxied=True).wait_together()
    fleet.wires[1]["redis"].cut()
    fleet.wait_broker(1, "degraded")
    same([fleet.broker_of(0), fleet.broker_of(2)], ["redis", "redis"])
    stream = fleet.node(1).stream("/api/events?types=state")
    for documented in ({}, {"documentId": "d"}):
        fleet.pass_a_task(maker=0, worker=1, ender=2, **documented)
        fleet.pass_a_task(maker=1, worker=2, ender=0, **documented)
    stream.until(lambda event, data: data["state"] == "COMPLETED" and data.get("documentId") == "d")
    blind_and_seeing(fleet)
    check(fleet.leader() is not None and sum(each["leader"] for each in fleet.roster(1)) == 1, "one leads")
    fleet.wires[1]["redis"].heal()
    fleet.wait_broker(1, "redis")
    Load(fleet, count=100, seed=12).judge()


@test(server=False)
def what_comes_through_redis_and_through_the_store_is_told_once(nest):
    fleet = Fleet(nest, proxied=True).wait_together()
    fleet.wires[1]["redis"].cut()
    for at in (0, 1, 2):
        wait_slowly(lambda at=at: (fleet.entry(1, seen_by=at) or {}).get("broker") == "degraded", "a blind node")
    blind, seeing = [fleet.node(at).stream("/api/events?types=state") for at in (1, 2)]
    made = [fleet.node(0).create()["id"]]
    told = []
    while len(made) < 6:  # the blind node reads the store once in a while, and so does the seeing one
        blind.until(lambda event, data: data["taskId"] == made[-1])
        made.append(fleet.node(0).create()["id"])
    while made[-1] not in told:
        told.append(seeing.next()[2]["taskId"])
    same(told, made)


def blind_and_seeing(fleet):
    """They compete for documents: PostgreSQL decides."""
    load = Load(fleet, count=200)
    load.judge()


@test(server=False)
def a_node_whose_redis_swallows_everything_goes_on(nest):
    fleet = Fleet(nest, proxied=True).wait_together()
    fleet.wires[0]["redis"].swallow()
    fleet.wait_broker(0, "degraded")
    fleet.pass_a_task(maker=0, worker=1, ender=2)
    fleet.pass_a_task(maker=1, worker=0, ender=2)
    fleet.wires[0]["redis"].heal()
    fleet.wait_broker(0, "redis")
    fleet.wires[2]["redis"].delay(0.4)  # beyond the quarter of a second that a command has
    fleet.wait_broker(2, "degraded")
    fleet.pass_a_task(maker=0, worker=2, ender=1)
    fleet.wires[2]["redis"].heal()
    fleet.wait_broker(2, "redis")
    fleet.doctor()


@test(server=False)
def two_redis_may_fail_one_by_one(nest):
    fleet = Fleet(nest, redis=2).wait_together()
    high, low = fleet.brokers
    held = fleet.node(0).create(documentId="d", priority="LOW")
    claimed = fleet.node(1).claim_one("w")
    same((claimed["id"], high.ask("GET", "errand:doclock:{d}")), (held["id"], claimed["lease"]))
    check(high.ask("GET", "errand:leader") and not low.ask("GET", "errand:leader"), "the leader's key is on the first")
    fleet.node(2).complete(claimed)
    for broken, whole in ((low, high), (high, low)):
        broken.stop()
        all_brokers(fleet, "degraded")
        for priority in ("CRITICAL", "HIGH", "NORMAL", "LOW"):
            fleet.pass_a_task(priority=priority)
            fleet.pass_a_task(priority=priority, documentId="d", maker=2, worker=0, ender=1)
        check(whole.ask("PING"), "the other lives")
        broken.start()
        all_brokers(fleet, "redis")
    for priority in ("CRITICAL", "LOW"):
        fleet.pass_a_task(priority=priority)
    fleet.doctor()


def die_claiming(fleet, document):
    """Node 1 claims a task; its next COMMIT never arrives, and then it is killed. The task."""
    wire, task = fleet.wires[1]["postgres"], fleet.node(0).create(documentId=document)
    wire.lose_question(b"COMMIT;")
    claim = threading.Thread(target=lambda: quietly(lambda: fleet.node(1).claim("w", waitMs=2000)))
    claim.start()
    check(wire.lost.wait(30), "no commit was lost")
    fleet.kill(1)
    claim.join()
    wire.cut()  # PostgreSQL hears of its end as well
    wire.heal()
    return task


@test(server=False)
def a_hold_of_a_node_that_died_before_its_commit_is_given_up(nest):
    fleet = Fleet(nest, nodes=2, proxied=True).wait_together()
    task = die_claiming(fleet, "d0")
    for again in range(1, 10):
        if fleet.node(0).show(task)["state"] == "QUEUED":
            break
        fleet.revive(1)  # it was a commit of the heartbeat that was lost
        fleet.wait_together()
        task = die_claiming(fleet, f"d{again}")
    taken = fleet.node(0).claim_one("v", waitMs=WAIT_MS)
    same((taken["id"], taken["attempt"]), (task["id"], 1))
    same(fleet.node(0).complete(taken)["state"], "COMPLETED")


@test(server=False)
def a_redis_cluster_whose_node_holds_all_slots_serves(nest):
    fleet = Fleet(nest, nodes=2, cluster=True)
    wait_for(lambda: "cluster_state:ok" in fleet.redis.ask("CLUSTER", "INFO"), "a cluster")
    fleet.wait_together()
    for document in ("a", "b", "c"):  # three hash tags
        fleet.pass_a_task(maker=0, worker=1, ender=0, documentId=document)
    fleet.node(0).create(documentId="d")
    claimed = fleet.node(1).claim_one("w", waitMs=20000)
    same(fleet.redis.ask("GET", "errand:doclock:{d}"), claimed["lease"])
    fleet.redis.flush()
    tasks = many(fleet, 40)
    same(drain(fleet, 40), tasks)
    all_brokers(fleet, "redis")


def offers(fleet):
    """How often something was put into a line."""
    stats = [line for line in fleet.redis.ask("INFO", "commandstats").splitlines() if line.startswith("cmdstat_zadd:")]
    return int(stats[0].split("calls=")[1].split(",")[0]) if stats else 0


def waiting(fleet, count):
    wait_for(lambda: fleet.node(0).get("/api/stats")["waitingClaims"] == count, f"{count} claims that wait")


@test(server=False)
def what_a_waiting_claim_of_the_same_node_takes_is_no_hint(nest):
    fleet = Fleet(nest, nodes=2).wait_together()

    def create():
        waiting(fleet, 1)
        before = offers(fleet)
        made = fleet.node(0).create(taskType="met")
        return made, offers(fleet) - before
    met = False
    for _ in range(10):  # one that is created while another node says something goes the usual way
        task, (made, offered) = together(lambda: fleet.node(0).claim_one("w", taskTypes=["met"], waitMs=WAIT_MS), create)
        same(task["id"], made["id"])
        fleet.node(1).complete(task)
        met = met or offered == 0
    check(met, "each was offered to all")


@test(server=False)
def a_queue_paused_elsewhere_is_not_met_by_a_claim_that_waits(nest):
    fleet = Fleet(nest, nodes=2).wait_together()

    def create():
        waiting(fleet, 1)
        fleet.node(1).post("/api/queues/default/pause")
        made = fleet.node(0).create(taskType="met")
        same(made["state"], "QUEUED")
        same(fleet.node(1).show(made)["state"], "QUEUED")
        fleet.node(1).post("/api/queues/default/resume")
        return made
    task, made = together(lambda: fleet.node(0).claim_one("w", taskTypes=["met"], waitMs=WAIT_MS), create)
    same(task["id"], made["id"])


@test(server=False)
def doctor_compares_documents_in_redis_with_those_in_the_store(nest):
    fleet = Fleet(nest, nodes=1)
    fleet.wait_broker(0, "redis")
    fleet.node(0).create(taskType="t", documentId="dossier")
    task = fleet.node(0).claim("w", waitMs=WAIT_MS)[0]
    prefix = "errand:{dispatch3}:"
    wait_for(lambda: fleet.redis.ask("HGET", prefix + "held", "dossier") == task["id"], "the hold in Redis")
    said = said_of_broker(fleet)
    check("documents are held as in the store" in said, said)
    fleet.kill(0)  # nobody mends it
    fleet.redis.ask("HDEL", prefix + "held", "dossier")
    fleet.redis.ask("HSET", prefix + "held", "ghost", task["id"])
    said = said_of_broker(fleet)
    check("document dossier is held in the store and not in Redis" in said, said)
    check("document ghost is held in Redis and not in the store" in said, said)


def said_of_broker(fleet):
    return fleet.nest.run("doctor", "--data", fleet.nodes[0].data, "--store", fleet.store_url(), expect=None,
                          env={"ERRAND_BROKER": fleet.redis.url, "ERRAND_URL": "http://127.0.0.1:1"}).stdout


main()
