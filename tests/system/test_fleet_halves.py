# tests/system/test_fleet_halves.py: two Redis, each with its half of the hints; and hints of another layout.
#
# SPDX-License-Identifier: MIT
"""Hints in Redis."""
import json

from errand import check, has, main, same, test, together
from fleet import WAIT_MS, Fleet, wait_slowly

HINTS = "errand:{dispatch3}:hints"  # of tasks with documents; others stand in their lane alone
LANES = "errand:{dispatch3}:lane:*"
# Of hints: what watches in the background does none of these.
WRITES = ("hset", "hdel", "zadd", "zrem", "zremrangebyrank", "hget", "sadd")
OLDER = ("errand:{dispatch}:", "errand:{dispatch2}:")  # what the keys of other layouts began with


def calls(redis):
    """How often each command was carried out, also inside of scripts."""
    lines = [line for line in redis.ask("INFO", "commandstats").splitlines() if line.startswith("cmdstat_")]
    return {line.split(":")[0][len("cmdstat_"):]: int(line.split("calls=")[1].split(",")[0]) for line in lines}


def counts(fleet):
    """Hints on the first and on the second."""
    return [int(redis.ask("HLEN", HINTS)) + sum(int(redis.ask("ZCARD", lane)) for lane in redis.ask("KEYS", LANES))
            for redis in fleet.brokers]


@test(server=False)
def bulk_work_without_documents_leaves_the_first_redis_alone(nest):
    fleet = Fleet(nest, nodes=2, redis=2).wait_together()
    node, high = fleet.node(0), fleet.brokers[0]
    before = calls(high)
    made = node.post("/api/tasks", [{"taskType": "t", "priority": "LOW"} for _ in range(300)], 201)
    same(counts(fleet), [0, 300])
    for task in made[:20]:
        node.cancel(task)
    done = [node.complete(task) for _ in range(7) for task in node.claim("w", max=40, waitMs=WAIT_MS)]
    same((len(done), counts(fleet)), (280, [0, 0]))
    after = calls(high)
    same({name: after.get(name, 0) - before.get(name, 0) for name in WRITES}, {name: 0 for name in WRITES})


@test(server=False)
def a_task_behind_a_document_moves_from_half_to_half(nest):
    fleet = Fleet(nest, nodes=2, redis=2).wait_together()
    fleet.node(0).create(documentId="d", priority="HIGH")
    running = fleet.node(1).claim_one("w", waitMs=WAIT_MS)
    low = fleet.node(0).create(documentId="d", priority="LOW")
    other = fleet.node(1).create(documentId="d", priority="NORMAL")
    same(counts(fleet), [0, 2])
    fleet.node(1).patch(low, priority="CRITICAL")
    same(counts(fleet), [1, 1])
    fleet.node(0).patch(other, priority="HIGH")
    fleet.node(0).patch(other, priority="LOW")
    gone = fleet.node(0).create(documentId="d", priority="LOW")
    fleet.node(1).patch(gone, priority="HIGH")
    fleet.node(0).cancel(gone)
    same(counts(fleet), [1, 1])
    fleet.node(0).complete(running)
    for task in (low, other):
        taken = fleet.node(1).claim_one("w", waitMs=WAIT_MS)
        same(taken["id"], task["id"])
        fleet.node(0).fail(taken, error="again", retry=False)
    same(counts(fleet), [0, 0])
    fleet.node(0).retry(low)
    same(counts(fleet), [1, 0])
    same(fleet.node(0).claim_one("w", waitMs=WAIT_MS)["id"], low["id"])


@test(server=False)
def a_claim_that_waits_is_told_when_a_document_of_many_types_is_free(nest):
    fleet = Fleet(nest, nodes=2).wait_together()
    types = [f"type-{number}" for number in range(300)]
    fleet.node(0).post("/api/tasks", [{"taskType": each, "documentId": "hub"} for each in types], 201)
    for each in types[:5]:
        first = fleet.node(1).claim_one("w", taskTypes=[each], waitMs=WAIT_MS)
        same(fleet.node(0).claim("v", taskTypes=types[10:12]), [])
        fleet.node(0).complete(first)
    running = fleet.node(1).claim_one("w", taskTypes=[types[5]], waitMs=WAIT_MS)

    def end_when_it_waits():
        wait_slowly(lambda: fleet.node(1).get("/api/stats")["waitingClaims"] == 1, "a claim that waits")
        fleet.node(0).complete(running)
    had, _ = together(lambda: fleet.node(1).claim_one("v", taskTypes=[types[7]], waitMs=WAIT_MS), end_when_it_waits)
    has(had, taskType=types[7])


def join_older(fleet):
    """A node of a version that kept its hints elsewhere, as far as the others can see."""
    shown = json.dumps({**fleet.roster()[0], "id": "older", "pid": 1, "leader": False, "broker": "redis"})
    body = f'{shown}\n\n{{"created":0,"wants":[]}}'
    fleet.sql(f"""INSERT INTO node (id, body, seen_ms, writer) VALUES ('older', convert_to('{body}', 'UTF8'),
              (extract(epoch FROM clock_timestamp()) * 1000)::bigint + 60000, 999999)""")


@test(server=False)
def beside_a_node_with_hints_of_an_older_layout_all_ask_the_store(nest):
    fleet = Fleet(nest, nodes=1).wait_together()
    for older in OLDER:
        fleet.redis.ask("HSET", older + "hints", "a", "b")
    join_older(fleet)
    fleet.wait_broker(0, "degraded")
    fleet.pass_a_task(maker=0, worker=0, ender=0)
    fleet.add()
    fleet.wait_broker(1, "degraded")
    fleet.pass_a_task(maker=0, worker=1, ender=0, documentId="d")
    same(int(fleet.redis.ask("EXISTS", *[older + "hints" for older in OLDER])), len(OLDER))  # it is still in use
    fleet.sql("DELETE FROM node WHERE id = 'older'")
    fleet.wait_together()
    fleet.pass_a_task(maker=0, worker=1, ender=0)


@test(server=False)
def what_an_older_version_left_in_redis_is_removed(nest):
    fleet = Fleet(nest, nodes=0)
    for number in range(1200):
        fleet.redis.ask("SET", f"{OLDER[number % 2]}behind:{number}", "x")
    fleet.redis.ask("SET", "another:{dispatch}:key", "x")
    fleet.add()
    fleet.wait_together()
    wait_slowly(lambda: not any(fleet.redis.ask("KEYS", older + "*") for older in OLDER), "an end of the older keys")
    same(fleet.redis.ask("GET", "another:{dispatch}:key"), "x")


main()
