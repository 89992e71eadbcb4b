# tests/system/test_finish.py: how attempts end, well, badly, twice or too late.
#
# SPDX-License-Identifier: MIT
from errand import START, check, has, later, main, parse_time, same, test, together, wait_for

ERROR = {"code": "boom", "message": "it broke", "detail": {"line": 3}}
MIB = 1024 * 1024


def taken(s, **fields):
    s.create(**fields)
    return s.claim_one()


def outcomes(s, task):
    return [attempt.get("outcome") for attempt in s.show(task)["attempts"]]


def lost(s, task, *verbs):
    """With this lease nothing can be done any more."""
    before = s.show(task)
    for verb in verbs or ("complete", "fail", "release", "heartbeat"):
        answer = s.finish(verb, task, 409)
        same(answer["error"]["code"], "lease_lost", verb)
    same(s.show(task), before, "the task after refused calls")


# ---- Well ----


@test(clock=START)
def a_completed_task_keeps_its_result(s):
    task = taken(s, payload=1)
    s.advance(250)
    now = later(START, 250)
    done = s.complete(task, result={"a": [1, 2]}, cost={"estimated": 1, "actual": 2.5, "tokens": 9})
    has(done, id=task["id"], state="COMPLETED", result={"a": [1, 2]}, finishedAt=now, updatedAt=now,
        attempt=1, retries=0, workerId=None, leaseExpiresAt=None, error=None, lease=None,
        cost={"estimated": 1, "actual": 2.5, "tokens": 9}, payload=1, startedAt=START)
    shown = s.show(task)
    same(len(shown["attempts"]), 1)
    has(shown["attempts"][0], number=1, outcome="COMPLETED", workerId="w", startedAt=START,
        finishedAt=now, error=None)


@test()
def a_result_is_kept_byte_for_byte_and_may_be_left_out(s):
    raw = b'{ "n":12345678901234567890123 , "e":1.0E+2,"u":"\\u00e9" }'
    task = taken(s)
    body = b'{"lease":"' + task["lease"].encode() + b'","result":' + raw + b"}"
    answer = s.call("POST", f"/api/tasks/{task['id']}/complete", body, 200)
    check(b'"result":' + raw in answer.body, answer.body)
    check(b'"result":' + raw in s.raw("GET", f"/api/tasks/{task['id']}").body)
    task = taken(s)
    has(s.complete(task), state="COMPLETED", result=None)
    task = taken(s)
    has(s.complete(task, result="x" * (MIB - 2)), state="COMPLETED")
    task = taken(s)
    same(s.complete(task, 413, result="x" * (MIB - 1))["error"]["field"], "result")
    has(s.complete(task, result="short"), state="COMPLETED")


@test()
def finish_calls_are_checked(s):
    task = taken(s)
    base = f"/api/tasks/{task['id']}/"
    for verb in ("complete", "fail", "release", "heartbeat"):
        s.call("POST", base + verb, {}, 400)
        s.call("POST", base + verb, {"lease": 5}, 400)
        s.call("POST", base + verb, {"lease": task["lease"], "nope": 1}, 400)
        s.call("POST", base + verb, {"lease": "made up"}, (400, 409))
        s.call("POST", base + verb, None, (400, 415))
    s.fail(task, 400, error={"kode": 1})
    s.fail(task, 400, retry="yes")
    s.release(task, 400, delayMs=-1)
    s.complete(task, 400, cost={"dollars": 1})
    s.complete(task, 400, cost=5)
    s.complete(task, 400, cost={"actual": None})
    s.heartbeat(task, 400, extendMs=999)
    s.heartbeat(task, 400, extendMs=86400001)
    s.heartbeat(task, 400, progress={"percent": "half"})
    s.heartbeat(task, 400, progress={"percent": None})
    s.heartbeat(task, 400, log=5)
    has(s.complete(task), state="COMPLETED")


# ---- Badly ----


@test(clock=START)
def failures_are_retried_after_5_25_and_125_seconds(s):
    task, now = s.create(), START
    for failure, wait in enumerate((5000, 25000, 125000), 1):
        claimed = s.claim_one()
        has(claimed, attempt=failure, retries=failure - 1)
        failed = s.fail(claimed, error=ERROR)
        has(failed, state="RETRYING", retries=failure, attempt=failure, error=ERROR,
            scheduledAt=later(now, wait), finishedAt=None, workerId=None, leaseExpiresAt=None)
        why = s.why(task)
        same([r["code"] for r in why["reasons"]], ["retry_backoff"])
        same(why["reasons"][0]["until"], later(now, wait))
        s.advance(wait - 1)
        same(s.claim(), [], f"before retry {failure}")
        s.advance(1)
        now = later(now, wait)
        has(s.show(task), state="QUEUED", queuedAt=now)
    failed = s.fail(s.claim_one(), error=ERROR)
    has(failed, state="FAILED", attempt=4, retries=3, finishedAt=now, error=ERROR)
    shown = s.show(task)
    same(outcomes(s, task), ["FAILED"] * 4)
    for number, attempt in enumerate(shown["attempts"], 1):
        has(attempt, number=number, error=ERROR)


@test(clock=START)
def a_backoff_stops_growing_at_its_maximum(s):
    s.create(backoff={"baseMs": 1000, "factor": 10, "maxMs": 5000, "jitter": 0}, maxRetries=5)
    for wait in (1000, 5000, 5000, 5000, 5000):
        now = s.advance(0)
        same(s.fail(s.claim_one())["scheduledAt"], later(now, wait))
        s.advance(wait)
    same(s.fail(s.claim_one())["state"], "FAILED")


@test(clock=START)
def jitter_spreads_a_backoff(s):
    waits = set()
    for _ in range(20):
        s.create(backoff={"baseMs": 10000, "factor": 1, "maxMs": 10000, "jitter": 0.5})
        until = s.fail(s.claim_one())["scheduledAt"]
        waits.add(parse_time(until) - parse_time(START))
    check(len(waits) > 5, f"always the same: {waits}")
    check(all(5000 <= wait <= 15000 for wait in waits), f"out of bounds: {waits}")


@test(clock=START)
def a_steep_backoff_does_not_overflow(s):
    s.create(backoff={"baseMs": 1000, "factor": 1000, "maxMs": 316224000000, "jitter": 1},
             maxRetries=100)
    for _ in range(40):
        task = s.fail(s.claim_one())
        check(task["scheduledAt"] > task["updatedAt"] and task["scheduledAt"] < "3", task)
        s.set_clock(task["scheduledAt"]) if task["scheduledAt"] < "2040" else s.patch(
            task, scheduledAt=START)
        s.advance(0)


@test()
def a_worker_may_say_not_to_retry(s):
    task = taken(s, maxRetries=50)
    has(s.fail(task, retry=False, error={"code": "bad", "message": "never"}), state="FAILED",
        retries=0, attempt=1, error={"code": "bad", "message": "never"})
    task = taken(s, maxRetries=0)
    has(s.fail(task, retry=True), state="FAILED")
    task = taken(s, maxRetries=1)
    has(s.fail(task, error={"message": "only words"}), state="RETRYING")


# ---- Given back ----


@test(clock=START)
def a_released_task_keeps_its_place(s):
    first = s.create("first")
    s.create("second")
    s.advance(1000)
    claimed = s.claim_one()
    back = s.release(claimed)
    has(back, state="QUEUED", retries=0, attempt=1, queuedAt=START, workerId=None)
    same(outcomes(s, first), ["RELEASED"])
    again = s.claim_one()
    has(again, id=first["id"], attempt=2, retries=0)
    delayed = s.release(again, delayMs=5000)
    has(delayed, state="SCHEDULED", retries=0, scheduledAt=later(START, 6000))
    same([r["code"] for r in s.why(first)["reasons"]], ["not_due"])
    s.create("third")
    s.advance(5000)
    same([t["taskType"] for t in s.claim(max=5)], ["first", "second", "third"])


# ---- Too late, and twice ----


@test(clock=START)
def an_expired_lease_ends_the_attempt_as_lost(s):
    s.create(maxRetries=1)
    task = s.claim_one(leaseMs=10000)
    s.advance(9999)
    has(s.show(task), state="RUNNING")
    s.advance(1)
    has(s.show(task), state="RETRYING", retries=1, scheduledAt=later(START, 15000))
    same(outcomes(s, task), ["LOST"])
    lost(s, task)
    s.advance(5000)
    second = s.claim_one(leaseMs=1000)
    lost(s, task)
    s.advance(1000)
    shown = s.show(task)
    has(shown, state="FAILED", attempt=2, retries=1, finishedAt=later(START, 16000))
    check(shown["error"]["message"], "no word about why it failed")
    same(outcomes(s, task), ["LOST", "LOST"])
    lost(s, second)


@test(clock=START)
def a_heartbeat_keeps_the_lease(s):
    s.create()
    task = s.claim_one(leaseMs=5000)
    for step in range(1, 5):
        s.advance(4000)
        same(s.heartbeat(task), {"cancelRequested": False,
                                 "leaseExpiresAt": later(START, step * 4000 + 5000)})
    same(s.heartbeat(task, extendMs=60000)["leaseExpiresAt"], later(START, 76000))
    s.advance(59000)
    has(s.complete(task), state="COMPLETED", attempt=1)


@test(clock=START)
def an_attempt_past_its_time_out_is_ended_at_once(s):
    s.create(timeoutMs=3000, maxRetries=1)
    task = s.claim_one(leaseMs=60000)
    s.advance(2999)
    same(s.heartbeat(task, extendMs=60000)["leaseExpiresAt"], later(START, 3000))
    s.advance(1)
    has(s.show(task), state="RETRYING", retries=1, scheduledAt=later(START, 8000))
    same(outcomes(s, task), ["TIMEOUT"])
    lost(s, task)
    s.advance(5000)
    s.claim_one()
    s.advance(3000)
    has(s.show(task), state="TIMEOUT", retries=1, attempt=2, finishedAt=later(START, 11000))
    same(outcomes(s, task), ["TIMEOUT", "TIMEOUT"])


@test(clock=START)
def without_a_time_out_an_attempt_may_last(s):
    s.create(timeoutMs=0)
    task = s.claim_one(leaseMs=86400000)
    for _ in range(3):
        s.advance(86000000)
        s.heartbeat(task)
    has(s.complete(task), state="COMPLETED")


@test(clock=START)
def the_same_call_again_is_answered_again(s):
    task = taken(s)
    done = s.complete(task, result=1)
    same(s.complete(task, result=1), done)
    for verb in ("fail", "release", "heartbeat"):
        s.finish(verb, task, 409)
    same(s.show(task)["state"], "COMPLETED")

    task = taken(s, maxRetries=1)
    failed = s.fail(task, error=ERROR)
    same(s.fail(task, error=ERROR), failed)
    s.complete(task, 409)
    s.release(task, 409)
    s.advance(5000)
    has(s.fail(task, error=ERROR), state="QUEUED", retries=1)
    again = s.claim_one()
    lost(s, task)
    has(s.fail(again), state="FAILED")
    has(s.fail(again), state="FAILED")

    task = taken(s)
    s.release(task)
    has(s.release(task), state="QUEUED")
    s.complete(task, 409)
    s.claim_one()
    lost(s, task)


@test()
def a_finished_task_can_be_asked_again_after_a_restart(s):
    task = taken(s)
    s.complete(task, result=1)
    s.restart()
    has(s.complete(task, result=1), state="COMPLETED")
    s.fail(task, 409)


@test()
def only_one_of_many_finishers_wins(s):
    task = taken(s, maxRetries=0)

    def call(verb, fields):
        answer = s.call("POST", f"/api/tasks/{task['id']}/{verb}",
                        {"lease": task["lease"], **fields}, (200, 409))
        return verb, answer.status
    calls = [("complete", {}), ("fail", {}), ("release", {})] * 5
    found = together(*[lambda c=c: call(*c) for c in calls])
    winners = {verb for verb, status in found if status == 200}
    same(len(winners), 1, f"winners {winners}")


# ---- Cancelled meanwhile ----


@test(clock=START)
def a_cancel_is_told_by_the_heartbeat(s):
    task = taken(s)
    asked = s.cancel(task, 202, reason="changed my mind")
    has(asked, state="RUNNING", cancelRequested=True)
    same(s.heartbeat(task)["cancelRequested"], True)
    has(s.cancel(task, 202), state="RUNNING", cancelRequested=True)
    has(s.show(task), state="RUNNING", cancelRequested=True)


@test(clock=START)
def completing_wins_over_a_cancel_and_the_rest_ends_cancelled(s):
    task = taken(s)
    s.cancel(task, 202)
    has(s.complete(task, result=1), state="COMPLETED", result=1, cancelledAt=None)
    for verb, outcome in (("fail", "FAILED"), ("release", "RELEASED")):
        task = taken(s)
        s.cancel(task, 202, reason="stop")
        ended = s.finish(verb, task)
        has(ended, state="CANCELLED", cancelReason="stop", cancelledAt=START, finishedAt=START)
        check(outcomes(s, task)[0] in ("CANCELLED", outcome), outcomes(s, task))
        has(s.finish(verb, task), state="CANCELLED")
        s.complete(task, 409)


@test(clock=START)
def a_cancelled_attempt_loses_its_lease_after_the_grace(s):
    s.create(documentId="d")
    task = s.claim_one(leaseMs=600000)
    waiting = s.create(documentId="d")
    s.cancel(task, 202, reason="now")
    s.advance(9999)
    has(s.show(task), state="RUNNING")
    same(s.claim(), [], "its document is still locked")
    s.advance(1)
    has(s.show(task), state="CANCELLED", cancelReason="now", cancelledAt=later(START, 10000))
    same(outcomes(s, task), ["CANCELLED"])
    lost(s, task)
    same(s.claim_one()["id"], waiting["id"])


# ---- Progress and logs ----


@test(clock=START)
def progress_and_logs_are_shown(s):
    task = taken(s)
    s.heartbeat(task, progress={"percent": 12.5, "message": "an eighth"}, log="one line")
    has(s.show(task), progress={"percent": 12.5, "message": "an eighth"})
    s.heartbeat(task, progress={"percent": 50}, log=["two", "three ü"])
    same(s.show(task)["progress"], {"percent": 50})
    s.heartbeat(task, progress={"message": "still half"})
    same(s.show(task)["progress"], {"percent": 50, "message": "still half"})
    s.fail(task, error=ERROR)
    s.advance(5000)
    again = s.claim_one()
    s.heartbeat(again, progress={"message": "no number yet"})
    same(s.show(task)["progress"], {"message": "no number yet"})
    s.heartbeat(again, log="second attempt")
    attempts = s.show(task)["attempts"]
    same(attempts[0]["log"], ["one line", "two", "three ü"])
    same(attempts[1]["log"], ["second attempt"])
    for wrong in ({"percent": -1}, {"percent": 101}, {"percent": None, "x": 1}, 5):
        s.heartbeat(again, 400, progress=wrong)


@test()
def a_log_has_a_limit_and_keeps_the_newest_lines(s):
    task = taken(s)
    for part in range(40):
        s.heartbeat(task, log=[f"{part} {line} " + "x" * 90 for line in range(50)])
    log = s.show(task)["attempts"][0]["log"]
    size = sum(len(line) + 1 for line in log)
    check(size <= 65536 + 4096, f"{size} bytes are kept")
    check(size > 30000, f"only {size} bytes are kept")
    check(log[-1].startswith("39 49 "), f"the last line is gone: {log[-1][:20]}")


# ---- Many at once ----


@test(clock=START)
def finish_ends_many_each_with_its_own_answer(s):
    for name in "abcdef":
        s.create(name, maxRetries=0 if name == "c" else 3)
    a, b, c, d, e, f = s.claim(max=6)
    s.complete(e, result="before")
    items = [
        {"id": a["id"], "lease": a["lease"], "outcome": "complete", "result": {"x": 1}},
        {"id": b["id"], "lease": b["lease"], "outcome": "fail", "error": ERROR},
        {"id": c["id"], "lease": c["lease"], "outcome": "fail", "retry": True},
        {"id": d["id"], "lease": d["lease"], "outcome": "release", "delayMs": 1000},
        {"id": e["id"], "lease": e["lease"], "outcome": "fail"},
        {"id": f["id"], "lease": a["lease"], "outcome": "complete"},
        {"id": "018f0000-0000-7000-8000-000000000000", "lease": a["lease"], "outcome": "complete"},
    ]
    answers = s.post("/api/finish", items)
    same([item["id"] for item in answers], [item["id"] for item in items])
    same([item["status"] for item in answers][:6], [200, 200, 200, 200, 409, 409])
    check(answers[6]["status"] in (404, 409), answers[6])
    same([item["task"]["state"] for item in answers[:4]],
         ["COMPLETED", "RETRYING", "FAILED", "SCHEDULED"])
    same(answers[0]["task"]["result"], {"x": 1})
    for item in answers[4:]:
        check(item["error"]["code"] and item["error"]["message"] and "task" not in item, item)
    same(answers[5]["error"]["code"], "lease_lost")
    has(s.show(f), state="RUNNING")
    has(s.show(e), state="COMPLETED", result="before")


@test()
def a_malformed_finish_changes_nothing(s):
    task = taken(s)
    good = {"id": task["id"], "lease": task["lease"], "outcome": "complete"}
    for bad in ({**good, "outcome": "explode"}, {"id": task["id"]}, {**good, "nope": 1}, 5,
                {**good, "id": "x"}, {**good, "outcome": "fail", "cost": {}}):
        s.post("/api/finish", [good, bad], 400)
    s.post("/api/finish", {"items": [good]}, 400)
    s.post("/api/finish", [good] * 1001, 400)
    same(s.post("/api/finish", []), [])
    has(s.show(task), state="RUNNING")


# ---- Claims that finish first ----


def end_of(task, outcome="complete", **more):
    return {"id": task["id"], "lease": task["lease"], "outcome": outcome, **more}


@test(clock=START)
def one_request_ends_a_task_and_takes_the_next(s):
    for name in "abc":
        s.create(name)
    task = s.claim_one()
    for left in (1, 0):
        answer = s.post("/api/claim", {"workerId": "w", "finish": [end_of(task, result=left)]})
        has(answer["finished"][0], id=task["id"], status=200)
        has(answer["finished"][0]["task"], state="COMPLETED", result=left)
        task = answer["tasks"][0]
    answer = s.post("/api/claim", {"workerId": "w", "finish": [end_of(task), end_of(task, "fail")]})
    same([row["status"] for row in answer["finished"]], [200, 409])
    same(answer["tasks"], [])
    same(len(s.get("/api/tasks?state=COMPLETED")), 3)


@test(clock=START)
def a_claim_that_finishes_sees_what_the_finish_set_free(s):
    s.call("PUT", "/api/queues/q", {"maxConcurrent": 1}, 200)
    s.create("first", documentId="d")
    held = s.claim_one()
    s.create("low", priority="LOW")
    s.create("second", documentId="d", priority="HIGH")
    answer = s.post("/api/claim", {"workerId": "w", "finish": [end_of(held)]})
    same(answer["tasks"][0]["taskType"], "second")
    s.create("limited", queue="q")
    s.create("limited too", queue="q")
    held = s.claim_one(queues=["q"])
    same(s.claim(queues=["q"]), [])
    answer = s.post("/api/claim", {"workerId": "w", "queues": ["q"], "finish": [end_of(held)]})
    same(answer["tasks"][0]["taskType"], "limited too")
    held = answer["tasks"][0]
    answer = s.post("/api/claim", {"workerId": "w", "queues": ["q"], "finish": [end_of(held, "release")]})
    has(answer["tasks"][0], id=held["id"], attempt=2, retries=0)


@test(clock=START)
def a_finish_does_not_wait_for_its_claim(s):
    s.create("a")
    task = s.claim_one()

    def come():
        wait_for(lambda: s.show(task)["state"] == "COMPLETED")
        return s.create("b")

    answer, created = together(
        lambda: s.post("/api/claim", {"workerId": "w", "waitMs": 60000, "finish": [end_of(task)]}), come)
    same(answer["tasks"][0]["id"], created["id"])
    same(answer["finished"][0]["status"], 200)


@test()
def a_malformed_finish_refuses_the_claim_with_it(s):
    s.create("a")
    s.create("b")
    task = s.claim_one()
    for bad, field in ((5, "finish"), ([5], "finish[0]"), ([{**end_of(task), "nope": 1}], "finish[0].nope"),
                       ([end_of(task)] * 1001, "finish")):
        answer = s.call("POST", "/api/claim", {"workerId": "w", "finish": bad}, 400)
        same(answer.json["error"]["field"], field)
    has(s.show(task), state="RUNNING")
    same(len(s.get("/api/tasks?state=QUEUED")), 1)


# ---- Expiry ----


@test(clock=START)
def a_task_not_started_by_its_expiry_is_cancelled(s):
    queued = s.create(expiresAt=later(START, 5000))
    scheduled = s.create(delayMs=60000, expiresAt=later(START, 5000))
    started = s.create("other", expiresAt=later(START, 5000), queue="q")
    claimed = s.claim_one(queues=["q"])
    s.fail(claimed)
    s.advance(4999)
    has(s.show(queued), state="QUEUED")
    s.advance(1)
    for task in (queued, scheduled):
        has(s.show(task), state="CANCELLED", cancelReason="expired",
            cancelledAt=later(START, 5000), attempts=[])
    s.advance(1000)
    again = s.claim_one(queues=["q"])
    same(again["id"], started["id"], "expiry counts only before the first attempt")
    s.release(again, delayMs=1000)
    s.advance(1000)
    has(s.show(started), state="QUEUED")


@test(clock=START)
def finished_tasks_are_kept_for_30_days(s):
    task = s.create(idempotencyKey="k")
    s.complete(s.claim_one())
    waiting = s.create(delayMs=40 * 86400000)
    s.advance(30 * 86400000 - 1000)
    has(s.show(task), state="COMPLETED")
    s.advance(3600000)
    s.show(task, 404)
    check(s.create(idempotencyKey="k")["id"] != task["id"], "the key is not free")
    has(s.show(waiting), state="SCHEDULED")


main()
