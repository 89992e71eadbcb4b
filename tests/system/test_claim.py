# tests/system/test_claim.py: who gets which task, in which order, and when.
#
# SPDX-License-Identifier: MIT
import time

from errand import START, check, has, later, main, parse_time, same, test, together, wait_for


def types(tasks):
    return [task["taskType"] for task in tasks]


@test(clock=START)
def a_claimed_task_runs_under_a_lease(s):
    task = s.create(payload={"a": 1}, documentId="d", tags=["x"])
    s.advance(500)
    now = later(START, 500)
    claimed = s.claim_one("me", leaseMs=5000)
    has(claimed, id=task["id"], state="RUNNING", attempt=1, retries=0, workerId="me",
        startedAt=now, leaseExpiresAt=later(now, 5000), payload={"a": 1}, documentId="d",
        updatedAt=now, queuedAt=START, createdAt=START, tags=["x"], finishedAt=None)
    check(claimed["lease"], "no lease")
    shown = s.show(task)
    has(shown, state="RUNNING", workerId="me", leaseExpiresAt=later(now, 5000), lease=None)
    same(len(shown["attempts"]), 1)
    has(shown["attempts"][0], number=1, workerId="me", startedAt=now, outcome=None,
        finishedAt=None)
    same(s.claim("other"), [])


@test(clock=START)
def the_defaults_of_a_claim(s):
    s.create("a")
    s.create("b")
    s.create("c", queue="other")
    claimed = s.claim_one()
    has(claimed, taskType="a", leaseExpiresAt=later(START, 60000))
    same(types(s.claim(max=1000, queues=[], taskTypes=[])), ["b"])


@test(clock=START)
def a_lease_never_outlasts_the_time_out(s):
    s.create(timeoutMs=2000)
    s.create(timeoutMs=0)
    first, second = s.claim(max=2, leaseMs=60000)
    same(first["leaseExpiresAt"], later(START, 2000))
    same(second["leaseExpiresAt"], later(START, 60000))
    s.advance(1000)
    same(s.heartbeat(first)["leaseExpiresAt"], later(START, 2000))
    same(s.heartbeat(second, extendMs=5000)["leaseExpiresAt"], later(START, 6000))
    same(s.heartbeat(second)["leaseExpiresAt"], later(START, 61000))


@test()
def a_claim_is_checked(s):
    for body, field in (({}, "workerId"), ({"workerId": ""}, "workerId"),
                        ({"workerId": 1}, "workerId"), ({"workerId": "x" * 257}, "workerId"),
                        ({"max": 0}, "max"), ({"max": 1001}, "max"), ({"max": "1"}, "max"),
                        ({"leaseMs": 999}, "leaseMs"), ({"leaseMs": 86400001}, "leaseMs"),
                        ({"waitMs": -1}, "waitMs"), ({"waitMs": 60001}, "waitMs"),
                        ({"taskTypes": "a"}, "taskTypes"), ({"nope": 1}, "nope"),
                        ({"type": "a"}, "type")):
        full = body if "workerId" in body or not body else {"workerId": "w", **body}
        answer = s.call("POST", "/api/claim", full, 400)
        same(answer.error.get("field"), field, str(body))
    for bad in ({"queues": [1]}, {"queues": ["a b"]}, {"taskTypes": [""]}, {"taskTypes": [None]}):
        s.claim(expect=400, **bad)
    s.claim(leaseMs=1000)
    s.claim(leaseMs=86400000, max=1000, waitMs=0)


@test()
def urgent_tasks_go_first_then_the_oldest(s):
    order = []
    for n, priority in enumerate(("LOW", "NORMAL", "HIGH", "CRITICAL") * 3):
        s.create(f"{priority}{n}", priority=priority)
        order.append(f"{priority}{n}")
    rank = {"C": 0, "H": 1, "N": 2, "L": 3}
    order.sort(key=lambda name: rank[name[0]])
    same(types([s.claim_one() for _ in range(5)]) + types(s.claim(max=100)), order)


@test()
def first_come_first_served_in_bulk(s):
    tasks = s.post("/api/tasks", [{"taskType": str(n)} for n in range(300)], 201)
    found = []
    for size in (1, 2, 50, 100, 147):
        found += s.claim(max=size)
    same([task["id"] for task in found], [task["id"] for task in tasks])


@test(clock=START)
def the_line_is_by_queued_at_then_creation(s):
    s.create("late", delayMs=1000)
    s.create("early", delayMs=500)
    s.create("now")
    s.advance(1000)
    s.create("last")
    same(types(s.claim(max=10)), ["now", "early", "late", "last"])


@test(clock=START)
def several_queues_and_types_form_one_line(s):
    for name, queue, priority in (("a", "q1", "NORMAL"), ("b", "q2", "HIGH"), ("a", "q2", "NORMAL"),
                                  ("c", "q1", "HIGH"), ("b", "q1", "NORMAL"),
                                  ("a", "q3", "CRITICAL")):
        s.create(name, queue=queue, priority=priority, payload=f"{name}{queue}")
    found = s.claim(queues=["q2", "q1"], taskTypes=["b", "a"], max=10)
    same([task["payload"] for task in found], ["bq2", "aq1", "aq2", "bq1"])
    same(s.claim(max=10), [])
    same([t["payload"] for t in s.claim(queues=["q1", "q3"], max=10)], ["aq3", "cq1"])


@test()
def a_waiting_claim_wakes_when_a_task_arrives(s):
    began = time.monotonic()

    def come():
        wait_for(lambda: any(w["id"] == "w" for w in s.get("/api/workers")["workers"]))
        return s.create("x")
    found, created = together(lambda: s.claim(waitMs=60000), come)
    same([task["id"] for task in found], [created["id"]])
    check(time.monotonic() - began < 20, "it waited for its whole time")


@test()
def a_waiting_claim_wakes_for_its_own_types_and_queues_only(s):
    def come():
        wait_for(lambda: s.get("/api/workers")["workers"])
        s.create("b", queue="q")
        s.create("a")
        return s.create("a", queue="q")
    found, created = together(
        lambda: s.claim(waitMs=60000, taskTypes=["a"], queues=["q"], max=5), come)
    same([task["id"] for task in found], [created["id"]])


@test()
def a_waiting_claim_wakes_for_what_becomes_ready(s):
    """A delay that ends, a release, a resumed queue, a freed document, a manual retry."""
    s.create("delayed", delayMs=200)
    same(types(s.claim(waitMs=60000)), ["delayed"])
    s.create("released")
    held = s.claim_one()
    same(types(together(lambda: s.claim(waitMs=60000), lambda: s.release(held))[0]), ["released"])
    s.post("/api/queues/default/pause")
    s.create("paused")
    found, _ = together(lambda: s.claim(waitMs=60000), lambda: s.post("/api/queues/default/resume"))
    same(types(found), ["paused"])
    s.create("first", documentId="d")
    s.create("second", documentId="d")
    held = s.claim_one()
    same(types(together(lambda: s.claim(waitMs=60000), lambda: s.complete(held))[0]), ["second"])
    failed = s.create("failed", maxRetries=0)
    s.fail(s.claim_one())
    same(types(together(lambda: s.claim(waitMs=60000), lambda: s.retry(failed))[0]), ["failed"])


@test(clock=START)
def waiting_takes_real_time_under_a_test_clock(s):
    began = time.monotonic()
    same(s.claim(waitMs=300), [])
    check(0.25 < time.monotonic() - began < 10, "it did not wait for 300 ms")
    s.create("x", delayMs=5000)
    found, _ = together(lambda: s.claim(waitMs=60000), lambda: s.advance(5000))
    same(types(found), ["x"])


@test(clock=START)
def a_quieted_worker_claims_no_more(s):
    s.create()
    held = s.claim_one("w")
    same(set(s.heartbeat(held)), {"cancelRequested", "leaseExpiresAt"})
    has(s.post("/api/workers/w/quiet"), id="w", kind="remote", state="busy", signal="quiet")
    has(s.heartbeat(held), signal="quiet")
    waiting = s.create()
    same(s.post("/api/claim", {"workerId": "w", "waitMs": 20000}), {"tasks": [], "signal": "quiet"})
    same([r["code"] for r in s.get(f"/api/tasks/{waiting['id']}/why")["reasons"]], ["no_worker"])
    same(s.post("/api/claim", {"workerId": "other"})["tasks"][0]["id"], waiting["id"])
    has(s.post("/api/workers/w/stop"), signal="stop")
    has(s.heartbeat(held), signal="stop")
    s.create()
    check("signal" not in s.post("/api/workers/w/resume"), "it was resumed")
    same(len(s.post("/api/claim", {"workerId": "w"})["tasks"]), 1)
    check("signal" not in s.heartbeat(held))
    s.complete(held)


@test()
def a_waiting_claim_of_a_quieted_worker_is_answered_at_once(s):
    answer, _ = together(
        lambda: s.post("/api/claim", {"workerId": "w", "waitMs": 60000}),
        lambda: wait_for(lambda: s.raw("POST", "/api/workers/w/quiet", {}).status == 200, "w"))
    same(answer, {"tasks": [], "signal": "quiet"})


@test(clock=START)
def nobody_else_is_told(s):
    s.call("POST", "/api/workers/nobody/quiet", expect=404)
    s.call("POST", "/api/workers/errand:run:1/stop", expect=409)
    s.post("/api/claim", {"workerId": "a/b"})
    has(s.post("/api/workers/a%2Fb/quiet"), id="a/b", signal="quiet")
    same([w.get("signal") for w in s.get("/api/workers")["workers"] if w["id"] == "a/b"], ["quiet"])
    s.advance(60001)
    same(s.post("/api/claim", {"workerId": "a/b"}), {"tasks": []}, "another by the same name")


@test()
def an_empty_claim_answers_at_once(s):
    began = time.monotonic()
    same(s.claim(), [])
    same(s.claim(waitMs=0), [])
    check(time.monotonic() - began < 5)


@test()
def a_client_that_left_while_waiting_gets_no_task(s):
    for number in range(5):
        wire = s.wire()
        wire.send(s.request("POST", "/api/claim", {"workerId": f"gone{number}", "waitMs": 60000}))
        wait_for(lambda: any(w["id"] == f"gone{number}"
                             for w in s.get("/api/workers")["workers"]))
        wire.close()
        task = s.create()
        claimed = s.claim_one("stays", waitMs=60000)
        same(claimed["id"], task["id"])
        has(s.complete(claimed), state="COMPLETED", retries=0)


@test()
def a_hundred_who_leave_and_one_who_stays(s):
    wires = []
    for number in range(100):
        wires.append(s.wire())
        wires[-1].send(s.request("POST", "/api/claim", {"workerId": "gone", "waitMs": 60000}))
    stays = s.wire()
    stays.send(s.request("POST", "/api/claim", {"workerId": "stays", "waitMs": 60000}))
    wait_for(lambda: len(s.get("/api/workers")["workers"]) >= 2)
    for wire in wires:
        wire.close()
    task = s.create()
    found = stays.answer().json["tasks"]
    same([t["id"] for t in found], [task["id"]])
    stays.close()


@test()
def waiting_claims_are_served_in_their_order(s):
    wires = []
    for number in range(5):
        wire = s.wire()
        wire.send(s.request("POST", "/api/claim", {"workerId": f"w{number}", "waitMs": 60000}))
        wait_for(lambda: any(w["id"] == f"w{number}" for w in s.get("/api/workers")["workers"]))
        wires.append(wire)
    ids = []
    for wire in wires:
        ids.append(s.create()["id"])
        same([t["id"] for t in wire.answer().json["tasks"]], [ids[-1]])
        wire.close()


@test()
def no_task_goes_to_two_workers(s):
    s.post("/api/tasks", [{"taskType": "t"} for _ in range(400)], 201)

    def drain():
        mine = []
        while tasks := s.claim(max=7):
            mine += [task["id"] for task in tasks]
        return mine
    found = sum(together(*[drain] * 6), [])
    same(len(found), 400)
    same(len(set(found)), 400)


@test()
def a_claim_of_very_much_loses_nothing(s):
    body = [{"taskType": "t", "payload": "x" * 900000}] * 15
    same(s.raw("POST", "/api/tasks", body).status, 201)
    found = []
    while tasks := s.claim(max=1000, leaseMs=3600000):
        found += tasks
    same(len({task["id"] for task in found}), 15)
    same({len(task["payload"]) for task in found}, {900000})


@test(clock=START)
def why_says_that_nobody_takes_it_or_that_all_are_busy(s):
    task = s.create("rare")
    why = s.why(task)
    same(why["state"], "QUEUED")
    same([r["code"] for r in why["reasons"]], ["no_worker"])
    check(why["reasons"][0]["message"])
    s.claim(taskTypes=["other"])
    same([r["code"] for r in s.why(task)["reasons"]], ["no_worker"])
    other = s.create("rare", priority="HIGH")
    claimed = s.claim_one(taskTypes=["rare"])
    same(claimed["id"], other["id"])
    same([r["code"] for r in s.why(task)["reasons"]], ["workers_busy"])
    same(s.why(claimed), {"state": "RUNNING", "reasons": []})
    s.complete(claimed)
    same(s.why(claimed), {"state": "COMPLETED", "reasons": []})
    s.advance(61000)
    same([r["code"] for r in s.why(task)["reasons"]], ["no_worker"])


@test()
def a_due_task_is_claimable_at_once(s):
    late = []
    for _ in range(10):
        due = s.create(delayMs=50)["scheduledAt"]
        found = s.claim_one(waitMs=10000)
        late.append(parse_time(found["startedAt"]) - parse_time(due))
    late.sort()
    check(late[0] >= 0, f"started before its time: {late}")
    check(late[5] < 1000, f"not on time: {late} ms late")


main()
