# tests/system/test_fleet_nodes.py: nodes die, freeze, stop and join; who leads afterwards, and what becomes of their work.
#
# SPDX-License-Identifier: MIT
"""The life and death of nodes (G7)."""
import signal
import time

from errand import check, has, main, same, test, wait_for
from fleet import GONE_S, LEADER_S, SLACK_S, Fleet
from stamps import Stamps, all_gone, order

QUICK = {"baseMs": 1, "factor": 1, "maxMs": 1, "jitter": 0}
OWN_LEASE_S = 30  # of an attempt inside a server


def leader_key(fleet):
    return fleet.redis.ask("GET", "errand:leader")


def others(fleet, at):
    return [each for each in range(len(fleet.nodes)) if each != at]


@test(server=False)
def the_leader_shows_in_redis_with_a_time_to_live(nest):
    fleet = Fleet(nest).wait_together()
    leader = fleet.leader()
    same(leader_key(fleet), fleet.entry(leader)["id"])
    lived = [fleet.redis.ask("PTTL", "errand:leader")]
    check(0 < lived[0] <= 10_000, f"{lived[0]} ms to live")
    wait_for(lambda: lived.append(fleet.redis.ask("PTTL", "errand:leader")) or lived[-1] > lived[-2], "a renewal", 6)
    same(fleet.leader(), leader)
    for at in range(3):
        same([each["id"] for each in fleet.roster(at) if each["leader"]], [leader_key(fleet)])


@test(server=False)
def every_node_shows_the_series_of_all(nest):
    fleet = Fleet(nest, nodes=2).wait_together()
    for at in (0, 1):
        fleet.node(at).post("/api/tasks", [{"taskType": "t"}] * (3 + at), 201)
    for task in fleet.node(0).claim("w", max=2) + fleet.node(1).claim("w", max=3):
        fleet.node(1).complete(task)

    def told(at):
        series = fleet.node(at).get("/api/series", minutes=5)
        sums = [sum(value or 0 for value in series[name]) for name in ("created", "started", "completed")]
        return sums + [series["queued"][-1], series["running"][-1]]

    for at in (0, 1):
        wait_for(lambda: told(at) == [7, 5, 5, 2, 0], f"node {at} to tell of both")
    fleet.add()
    fleet.wait_together()
    fleet.node(2).post("/api/tasks", [{"taskType": "t"}] * 2, 201)
    for at, created in ((0, 9), (1, 9), (2, 2)):
        wait_for(lambda: (told(at)[0], told(at)[3]) == (created, 4), f"node {at} to tell of the third")


@test(server=False)
def every_node_tells_the_latencies_of_all(nest):
    fleet = Fleet(nest, nodes=3).wait_together()
    fleet.node(0).post("/api/tasks", [{"taskType": "t"}] * 20, 201)
    for task in fleet.node(1).claim("w", max=20):
        fleet.node(1).complete(task)
    told = fleet.node(1).get("/api/stats")["latency"]
    check(told["queueWaitMs"]["p50"] > 0 and told["runMs"]["p99"] > 0, told)
    for at in (0, 2):  # which have started nothing
        wait_for(lambda: fleet.node(at).get("/api/stats")["latency"] == told, f"node {at} to tell of the other")


@test(server=False)
def a_worker_is_quieted_and_resumed_through_any_node(nest):
    fleet = Fleet(nest, nodes=2).wait_together()
    same(fleet.node(1).claim("far"), [])  # it is known there
    wait_for(lambda: any(w["id"] == "far" for w in fleet.node(0).get("/api/workers")["workers"]), "node 0 to know of it")
    fleet.node(0).call("POST", "/api/workers/far/quiet", expect=200)
    signals = lambda: [w.get("signal") for w in fleet.node(1).get("/api/workers")["workers"] if w["id"] == "far"]
    wait_for(lambda: signals() == ["quiet"], "it to be quiet")
    task = fleet.node(0).create()
    same(fleet.node(1).claim("far", waitMs=0), [])
    fleet.node(0).call("POST", "/api/workers/far/resume", expect=200)
    wait_for(lambda: signals() == [None], "it to be resumed")
    same(fleet.node(1).claim_one("far", waitMs=20000)["id"], task["id"])


@test(server=False)
def a_document_is_taken_from_its_holder_on_another_node(nest):
    fleet = Fleet(nest, nodes=0)
    fleet.add(args=("--workers", "1"))
    fleet.add()
    fleet.wait_together()
    here, there = fleet.node(0), fleet.node(1)
    remote = here.create("t", documentId="r", maxRetries=0)
    held = here.claim_one("w", taskTypes=["t"])
    waits = [there.create("t", documentId="r", priority="LOW")["id"] for _ in range(12)]
    row = next(each for each in there.get("/api/documents") if each["documentId"] == "r")
    has(row, taskId=remote["id"], waitingCount=12, waiting=waits[:10], workerId="w")
    there.post("/api/documents/r/release")
    has(there.show(remote), state="QUEUED", retries=0)
    here.complete(held, 409)
    same(there.claim_one("w", taskTypes=["t"])["id"], remote["id"])
    inside = here.create("sleep", documentId="d", payload={"ms": 600000}, maxRetries=0)
    wait_for(lambda: there.state(inside) == "RUNNING")
    there.post("/api/queues/default/pause")
    other = there.create("u", documentId="d", queue="q")
    there.post("/api/documents/d/release", None, 202)
    same(there.claim_one("w", queues=["q"], waitMs=30000)["id"], other["id"])
    has(there.show(inside), state="QUEUED", retries=0)


def killed_leader(fleet):
    """Another leads in time, fires what is due, and the dead one is forgotten."""
    leader = fleet.leader()
    pid, rest = fleet.node(leader).process.pid, others(fleet, leader)
    due = fleet.node(leader).create("due", delayMs=3000)
    retry = fleet.node(leader).create("lost", backoff=QUICK)
    held = fleet.node(leader).claim_one("w", taskTypes=["lost"], leaseMs=2000)
    same(held["id"], retry["id"])
    fleet.kill(leader)
    killed = time.monotonic()
    after = fleet.wait_leader(among=rest)
    check(after != leader and time.monotonic() - killed <= LEADER_S + SLACK_S, "another leads")
    taken = {}
    while len(taken) < 2:
        taken.update((task["id"], task) for task in fleet.node(rest[0]).claim("w2", waitMs=15000, max=2))
    same(set(taken), {due["id"], retry["id"]})
    same(taken[retry["id"]]["attempt"], 2)
    for task in taken.values():
        fleet.node(rest[1]).complete(task)
    wait_for(lambda: all(each["pid"] != pid for at in rest for each in fleet.roster(at)), "the dead node to vanish",
             GONE_S + SLACK_S - (time.monotonic() - killed))
    return leader, after


@test(server=False)
def another_leads_when_the_leader_is_killed(nest):
    fleet = Fleet(nest).wait_together()
    dead, after = killed_leader(fleet)
    same(leader_key(fleet), fleet.entry(after)["id"])
    fleet.revive(dead)
    fleet.wait_together()
    same(fleet.leader(), after)


@test(server=False)
def another_leads_without_redis_too(nest):
    killed_leader(Fleet(nest, redis=0).wait_together())


def leader_row(fleet):
    return fleet.sql("SELECT convert_from(owner, 'UTF8') FROM leader WHERE owner IS NOT NULL")


@test(server=False)
def a_leader_that_stops_cleanly_hands_over_at_once(nest):
    """Its key, its row and its place in the list are gone when it has ended: nobody waits for them to run out."""
    fleet = Fleet(nest).wait_together()
    leader = fleet.leader()
    name = fleet.entry(leader)["id"]
    same(fleet.node(leader).terminate(), 0)
    check(fleet.redis.ask("GET", "errand:leader") != name, "the key is still its own")
    check(name not in leader_row(fleet), "the row is still its own")
    check(not fleet.sql(f"SELECT 1 FROM node WHERE id = '{name}'::bytea"), "it is still in the register")
    fleet.wait_leader(among=others(fleet, leader))
    wait_for(lambda: len(fleet.roster(others(fleet, leader)[0])) == 2, "the node to have left the list")


def leader_that_drains(nest, **options):
    """A fleet whose leader runs something for ten minutes; it is told to stop, and has as long."""
    conf = nest.file("slow.conf", "[workers]\ngrace = 10m\n")
    fleet = Fleet(nest, nodes=1, workers=1, file=conf, **options)
    fleet.wait_leader()
    task = fleet.node(0).create("sleep", payload={"ms": 600000}, timeoutMs=0)
    wait_for(lambda: fleet.node(0).show(task)["state"] == "RUNNING", "a worker at work")
    fleet.add()
    wait_for(lambda: len(fleet.roster(1)) == 2, "two nodes")
    fleet.node(0).process.send_signal(signal.SIGTERM)
    return fleet, task


def check_hand_over(fleet, task):
    """The other leads while the first still runs its task; what that gives back is taken without waiting for its lease."""
    wait_for(lambda: (fleet.entry(1) or {}).get("leader"), "another leader")
    same(fleet.node(0).process.poll(), None, "the end of the first")
    has(fleet.node(1).show(task), state="RUNNING", attempt=1)
    same(fleet.node(0).terminate(), 0)  # the second time: at once
    wait_for(lambda: fleet.node(1).show(task)["attempt"] == 2, "the second attempt")
    shown = fleet.node(1).show(task)
    same((shown["attempts"][0]["outcome"], shown["retries"]), ("RELEASED", 0))
    fleet.kill(1)  # it would have ten minutes too


@test(server=False)
def a_leader_that_drains_is_followed_before_it_has_ended(nest):
    check_hand_over(*leader_that_drains(nest))


@test(server=False)
def a_leader_that_drains_is_followed_without_redis_too(nest):
    check_hand_over(*leader_that_drains(nest, redis=0))


@test(server=False)
def a_frozen_leader_is_replaced_and_does_no_harm_when_it_wakes(nest):
    fleet = Fleet(nest).wait_together()
    leader = fleet.leader()
    task = fleet.node(leader).create("nap", backoff=QUICK, documentId="d")
    old = fleet.node(leader).claim_one("w", leaseMs=1000)
    fleet.freeze(leader)
    after = fleet.wait_leader(among=others(fleet, leader))
    new = fleet.node(after).claim_one("w2", waitMs=15000)
    same((new["id"], new["attempt"]), (task["id"], 2))
    fleet.thaw(leader)
    fleet.node(leader).complete(old, expect=409)
    fleet.node(leader).heartbeat(old, expect=409)
    wait_for(lambda: sum(each["leader"] for each in fleet.roster(leader)) == 1 and fleet.leader() == after,
             "one leader", LEADER_S + SLACK_S)
    same(fleet.node(leader).complete(new)["state"], "COMPLETED")
    fleet.wait_together()
    fleet.doctor()


@test(server=False)
def work_inside_killed_and_frozen_nodes_is_lost_and_tried_again_elsewhere(nest):
    fleet = Fleet(nest, workers=1).wait_together()
    ids = {fleet.entry(at)["id"]: at for at in range(3)}
    tasks = {}  # by the node that runs it
    for i in range(3):
        task = fleet.node(0).create("sleep", payload={"ms": 5000}, documentId=f"bed{i}", backoff=QUICK)
        shown = wait_for(lambda t=task: next((x for x in [fleet.node(0).show(t)] if x["state"] == "RUNNING"), None), "its start")
        tasks[ids[shown["workerId"].split("@")[1]]] = task
    same(set(tasks), {0, 1, 2}, "nodes at work")
    fleet.kill(0)
    fleet.freeze(1)
    struck, left = time.monotonic(), fleet.node(2)
    for at in (0, 1):
        same(left.state(tasks[at]), "RUNNING")
    for at in (0, 1):
        wait_for(lambda a=at: len(left.show(tasks[a])["attempts"]) == 2, "a second attempt", OWN_LEASE_S + LEADER_S + 2 * SLACK_S)
    check(time.monotonic() - struck < OWN_LEASE_S + LEADER_S + 2 * SLACK_S, "that took longer than lease and election")
    fleet.thaw(1)
    for at, outcomes in ((0, ["LOST", "COMPLETED"]), (1, ["LOST", "COMPLETED"]), (2, ["COMPLETED"])):
        has(left.show(tasks[at], waitMs=20000), state="COMPLETED", attempt=len(outcomes))
        same([each["outcome"] for each in left.show(tasks[at])["attempts"]], outcomes)
    fleet.revive(0)
    fleet.wait_together()
    fleet.doctor()


@test(server=False)
def commands_of_a_killed_node_are_gone_before_its_lease_ends(nest):
    stamps = Stamps(nest)
    fleet = Fleet(nest, nodes=1, workers=1, file=stamps.config)
    task = fleet.node(0).create("stamp", **order())
    pids = stamps.all_run(1)
    fleet.add()
    fleet.kill(0)
    all_gone(pids)
    has(fleet.node(1).show(task), state="RUNNING", attempt=1)
    fleet.node(1).cancel(task, expect=202)


@test(server=False)
def a_node_may_join_and_drain_at_any_time(nest):
    fleet = Fleet(nest, nodes=1, workers=1).wait_together()
    fleet.add()
    fleet.wait_together()
    tasks = [fleet.node(0).create("sleep", payload={"ms": 1000}) for _ in range(6)]
    for node in fleet.nodes:
        wait_for(lambda n=node: [n.state(task) for task in tasks].count("RUNNING") == 2, "work at both nodes")
    same(fleet.node(0).terminate(), 0)
    for task in tasks:
        has(fleet.node(1).show(task, waitMs=30000), state="COMPLETED", retries=0)
    same(len(fleet.roster(1)), 1)


@test(server=False)
def a_second_sigterm_stops_a_node_at_once_and_its_work_goes_back(nest):
    fleet = Fleet(nest, nodes=2, workers=1).wait_together()
    tasks = [fleet.node(0).create("sleep", payload={"ms": 60000}) for _ in range(2)]
    wait_for(lambda: all(fleet.node(0).state(task) == "RUNNING" for task in tasks), "both asleep")
    fleet.node(0).expected_to_die = True
    fleet.node(0).process.send_signal(signal.SIGTERM)  # two that are sent in one go would be one
    wait_for(lambda: "draining" in fleet.node(0).stderr(), "the first to be heard")
    fleet.node(0).process.send_signal(signal.SIGTERM)
    began = time.monotonic()
    fleet.node(0).wait()
    check(time.monotonic() - began < 30, "it waited for its work, which takes a minute")
    wait_for(lambda: sorted(fleet.node(1).state(task) for task in tasks) == ["QUEUED", "RUNNING"], "one given back")
    for task in tasks:
        fleet.node(1).cancel(task, expect=(200, 202))


main()
