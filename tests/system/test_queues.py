# tests/system/test_queues.py: queues: their limits, their pause, their purge.
#
# SPDX-License-Identifier: MIT
from errand import START, check, has, later, main, same, test, together

STATES = ("SCHEDULED", "WAITING", "QUEUED", "RUNNING", "RETRYING", "COMPLETED", "FAILED",
          "CANCELLED", "TIMEOUT")


def put(s, name, expect=200, **fields):
    return s.call("PUT", f"/api/queues/{name}", fields, expect).json


def queue(s, name):
    found = [q for q in s.get("/api/queues") if q["name"] == name]
    return found[0] if found else None


@test(clock=START)
def queues_count_their_tasks_by_state(s):
    for _ in range(3):
        s.create(queue="a")
    s.create(queue="a", delayMs=1000)
    s.create(queue="b")
    first, second = s.claim(queues=["a"], max=2)
    s.complete(first)
    s.fail(second)
    found = queue(s, "a")
    has(found, name="a", paused=False)
    same({k: v for k, v in found["counts"].items() if v},
         {"QUEUED": 1, "SCHEDULED": 1, "COMPLETED": 1, "RETRYING": 1})
    check(set(found["counts"]) <= set(STATES), found["counts"])
    same(queue(s, "b")["counts"]["QUEUED"], 1)
    s.delete(first)
    same(queue(s, "a")["counts"].get("COMPLETED", 0), 0)


@test()
def a_paused_queue_starts_nothing_and_takes_everything(s):
    running = s.create(queue="q")
    claimed = s.claim_one(queues=["q"])
    same(s.post("/api/queues/q/pause")["paused"], True)
    task = s.create(queue="q", priority="CRITICAL")
    same(s.claim(queues=["q"]), [])
    same([r["code"] for r in s.why(task)["reasons"]], ["queue_paused"])
    has(s.complete(claimed), id=running["id"], state="COMPLETED")
    has(queue(s, "q"), paused=True)
    s.restart()
    has(queue(s, "q"), paused=True)
    same(s.claim(queues=["q"]), [])
    same(s.post("/api/queues/q/resume")["paused"], False)
    same(s.claim_one(queues=["q"])["id"], task["id"])


@test()
def settings_are_checked_kept_and_lifted(s):
    has(put(s, "q", maxConcurrent=2, ratePerSecond=1.5, burst=4), name="q", maxConcurrent=2,
        ratePerSecond=1.5, burst=4)
    has(put(s, "q", maxConcurrent=3), maxConcurrent=3, ratePerSecond=1.5, burst=4)
    s.restart()
    has(queue(s, "q"), maxConcurrent=3, ratePerSecond=1.5, burst=4, paused=False)
    for wrong in ({"maxConcurrent": -1}, {"maxConcurrent": 1.5}, {"maxConcurrent": "1"},
                  {"ratePerSecond": -1}, {"ratePerSecond": "fast"},
                  {"ratePerSecond": 1e-17}, {"ratePerSecond": 0.0000099}, {"burst": -1}, {"nope": 1}):
        answer = s.call("PUT", "/api/queues/q", wrong, 400)
        same(answer.error["field"], list(wrong)[0])
    has(queue(s, "q"), maxConcurrent=3)
    put(s, "a%2Fb", maxConcurrent=1)
    check(queue(s, "a/b"), "a percent-encoded name")
    for name in ("a%20b", "%C3%BC", "q" * 257):
        s.call("PUT", f"/api/queues/{name}", {"maxConcurrent": 1}, 400)
        s.call("POST", f"/api/queues/{name}/pause", None, 400)
    put(s, "q", maxConcurrent=0, ratePerSecond=0, burst=0)
    s.post("/api/tasks", [{"taskType": "t", "queue": "q"}] * 50, 201)
    same(len(s.claim(queues=["q"], max=100)), 50)


@test(clock=START)
def no_more_run_at_once_than_allowed(s):
    put(s, "q", maxConcurrent=2)
    tasks = [s.create(queue="q") for _ in range(5)]
    first, second = s.claim(queues=["q"], max=10)
    same(s.claim(queues=["q"], max=10), [])
    same([r["code"] for r in s.why(tasks[2])["reasons"]], ["queue_limit"])
    s.complete(first)
    third = s.claim_one(queues=["q"], max=10)
    s.fail(third)
    fourth = s.claim_one(queues=["q"], max=10)
    same(s.claim(queues=["q"]), [])
    s.cancel(second, 202)
    same(s.claim(queues=["q"]), [], "a cancelled attempt counts until it has stopped")
    s.advance(5000)
    same(s.claim(queues=["q"]), [])
    put(s, "q", maxConcurrent=3)
    same(len(s.claim(queues=["q"], max=10)), 1)
    put(s, "q", maxConcurrent=1)
    s.complete(fourth)
    same(s.claim(queues=["q"]), [])


@test(clock=START)
def a_full_queue_holds_up_no_other(s):
    put(s, "full", maxConcurrent=1)
    for _ in range(3):
        s.create("slow", queue="full", priority="CRITICAL")
    s.create("quick", queue="free", priority="LOW")
    found = s.claim(queues=["full", "free"], max=10)
    same([t["taskType"] for t in found], ["slow", "quick"])


@test(clock=START)
def a_rate_is_held_exactly_under_the_test_clock(s):
    put(s, "q", ratePerSecond=2, burst=3)
    s.post("/api/tasks", [{"taskType": "t", "queue": "q"}] * 40, 201)
    same(len(s.claim(queues=["q"], max=100)), 3, "the burst")
    waiting = s.list(queue="q", state="QUEUED")[0]
    same([r["code"] for r in s.why(waiting)["reasons"]], ["queue_limit"])
    s.advance(499)
    same(s.claim(queues=["q"], max=100), [])
    s.advance(1)
    same(len(s.claim(queues=["q"], max=100)), 1)
    s.advance(1000)
    same(len(s.claim(queues=["q"], max=100)), 2)
    s.advance(60000)
    same(len(s.claim(queues=["q"], max=100)), 3, "no more than the burst after a quiet minute")


@test(clock=START)
def a_limit_without_a_burst_allows_its_rate(s):
    put(s, "q", ratePerSecond=5)
    s.post("/api/tasks", [{"taskType": "t", "queue": "q"}] * 40, 201)
    total = len(s.claim(queues=["q"], max=100))
    check(1 <= total <= 5, f"{total} at once")
    for _ in range(4):
        s.advance(1000)
        total += len(s.claim(queues=["q"], max=100))
    check(20 <= total <= 25, f"{total} in four seconds")


@test(clock=START)
def a_rate_may_be_less_than_one_a_second(s):
    put(s, "q", ratePerSecond=0.1)
    s.post("/api/tasks", [{"taskType": "t", "queue": "q"}] * 10, 201)
    starts = []
    for second in range(25):
        starts += [second] * len(s.claim(queues=["q"], max=10))
        s.advance(1000)
    same(starts, [0, 10, 20])


@test()
def a_waiting_claim_wakes_when_the_rate_allows(s):
    put(s, "q", ratePerSecond=5, burst=1)
    s.post("/api/tasks", [{"taskType": "t", "queue": "q"}] * 3, 201)
    for _ in range(3):
        s.claim_one(queues=["q"], waitMs=30000)


@test()
def the_limit_holds_for_many_who_claim_at_once(s):
    put(s, "q", maxConcurrent=7)
    s.post("/api/tasks", [{"taskType": "t", "queue": "q"}] * 100, 201)
    found = together(*[lambda: s.claim(queues=["q"], max=5)] * 8)
    same(sum(len(tasks) for tasks in found), 7)


@test(clock=START)
def a_purge_cancels_what_has_not_started(s):
    running = s.create(queue="q")
    s.create(queue="q")
    claimed, failing = s.claim(queues=["q"], max=2)
    s.fail(failing)
    s.create(queue="q", delayMs=1000)
    s.create(queue="q")
    other = s.create(queue="other")
    same(s.post("/api/queues/q/purge"), {"count": 3})
    for task in s.list(queue="q", state="CANCELLED"):
        has(task, cancelReason="purged", cancelledAt=START)
    same(len(s.list(queue="q", state="CANCELLED")), 3)
    has(s.show(running), state="RUNNING")
    has(s.show(other), state="QUEUED")
    s.complete(claimed)
    same(s.post("/api/queues/q/purge"), {"count": 0})


def create_apart(s, stem, count, **fields):
    for at in range(0, count, 1000):
        s.post("/api/tasks", [{"taskType": "t", "queue": f"{stem}-{at + i}", **fields} for i in range(1000)], 201)


@test(clock=START, args=("--workers", "0"))
def queues_that_have_run_empty_leave_room_for_others(s):
    """Names are given back: what has ended on ten thousand queues stands in nobody's way."""
    create_apart(s, "gone", 10000, expiresAt=later(START, 1000))
    answer = s.call("POST", "/api/tasks", {"taskType": "t", "queue": "more"}, 429)
    check("10000 queues" in answer.json["error"]["message"], answer.json)
    s.create("t")
    s.advance(2000)
    s.create("t")
    create_apart(s, "next", 2000)
    s.create("t", queue="more")
    same(len(s.claim(max=10)), 2)
    s.restart()
    s.create("t", queue="still-more")
    same(queue(s, "next-7")["counts"]["QUEUED"], 1)
    check(len(s.get("/api/queues")) <= 10001)


main()
