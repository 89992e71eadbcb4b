# tests/system/test_steer.py: cancel, retry, change and remove, in every state a task can be in.
#
# SPDX-License-Identifier: MIT
from errand import START, has, later, main, same, test


def in_every_state(s):
    """A task in each state, by name; the clock does not move."""
    tasks = {}
    s.create("RUNNING")
    tasks["RUNNING"] = s.claim_one()
    s.create("RETRYING")
    tasks["RETRYING"] = s.fail(s.claim_one())
    s.create("COMPLETED")
    tasks["COMPLETED"] = s.complete(s.claim_one())
    s.create("FAILED")
    tasks["FAILED"] = s.fail(s.claim_one(), retry=False,
                             error={"code": "c", "message": "m"})
    tasks["CANCELLED"] = s.cancel(s.create("CANCELLED"), reason="first")
    tasks["QUEUED"] = s.create("QUEUED")
    tasks["SCHEDULED"] = s.create("SCHEDULED", delayMs=60000)
    for name, task in tasks.items():
        same(task["state"], name)
    return tasks


def timed_out(s):
    s.create("TIMEOUT", timeoutMs=1000, maxRetries=0, priority="CRITICAL")
    task = s.claim_one()
    s.advance(1000)
    has(s.show(task), state="TIMEOUT")
    return task


# ---- Cancel ----


@test(clock=START)
def cancel_in_every_state(s):
    tasks = in_every_state(s)
    for name in ("QUEUED", "SCHEDULED", "RETRYING"):
        has(s.cancel(tasks[name], reason="why not"), state="CANCELLED", cancelReason="why not",
            cancelledAt=START, finishedAt=START, updatedAt=START)
        has(s.cancel(tasks[name], reason="again"), state="CANCELLED", cancelReason="why not")
    has(s.cancel(tasks["CANCELLED"]), state="CANCELLED", cancelReason="first")
    has(s.cancel(tasks["RUNNING"], 202), state="RUNNING", cancelRequested=True)
    for name in ("COMPLETED", "FAILED"):
        before = s.show(tasks[name])
        s.cancel(tasks[name], 409)
        same(s.show(tasks[name]), before)
    s.cancel(timed_out(s), 409)
    same(s.claim(), [])


@test()
def a_cancel_may_come_without_a_body_or_with_an_empty_one(s):
    for body in (None, {}, {"reason": "x"}):
        task = s.create()
        answer = s.call("POST", f"/api/tasks/{task['id']}/cancel", body, 200)
        has(answer.json, state="CANCELLED", cancelReason=(body or {}).get("reason"))
    task = s.create()
    s.cancel(task, 400, why="x")
    s.cancel(task, 400, reason=5)
    s.cancel(task, 400, reason="x" * 100000)
    s.call("POST", f"/api/tasks/{task['id']}/cancel", b"{}", 415, {"Content-Type": "text/plain"})
    has(s.show(task), state="QUEUED")


# ---- Retry ----


@test(clock=START)
def retry_in_every_state(s):
    tasks = in_every_state(s)
    tasks["TIMEOUT"] = timed_out(s)
    now = later(START, 1000)
    for name in ("QUEUED", "SCHEDULED", "RETRYING", "RUNNING", "COMPLETED"):
        before = s.show(tasks[name])
        s.retry(tasks[name], 409)
        same(s.show(tasks[name]), before)
    for name, attempt in (("FAILED", 1), ("CANCELLED", 0), ("TIMEOUT", 1)):
        has(s.retry(tasks[name]), state="QUEUED", retries=0, attempt=attempt, finishedAt=None,
            cancelledAt=None, cancelReason=None, queuedAt=now, workerId=None)
        s.retry(tasks[name], 409)


@test(clock=START)
def a_retried_task_has_a_fresh_budget(s):
    task = s.create(maxRetries=1)
    for _ in range(2):
        s.fail(s.claim_one())
        s.advance(5000)
    has(s.show(task), state="FAILED", retries=1, attempt=2)
    s.retry(task)
    has(s.claim_one(), id=task["id"], attempt=3, retries=0)
    s.restart()
    has(s.show(task), state="RUNNING", attempt=3, retries=0)
    same([a["number"] for a in s.show(task)["attempts"]], [1, 2, 3])


@test(clock=START)
def a_retried_task_ends_like_any_other(s):
    task = s.create(maxRetries=1)
    s.fail(s.claim_one(), retry=False, error={"code": "c", "message": "m"})
    s.retry(task)
    s.fail(s.claim_one())
    has(s.show(task), state="RETRYING", retries=1, attempt=2, scheduledAt=later(START, 5000))
    s.advance(5000)
    has(s.complete(s.claim_one(), result=1), state="COMPLETED", attempt=3, result=1, error=None)
    same([a["outcome"] for a in s.show(task)["attempts"]], ["FAILED", "FAILED", "COMPLETED"])


@test(clock=START)
def a_retried_document_task_stands_in_line_again(s):
    failed = s.create("a", documentId="d", maxRetries=0)
    s.fail(s.claim_one())
    s.create("b", documentId="d")
    held = s.claim_one()
    s.retry(failed)
    same(s.claim(), [])
    s.complete(held)
    same(s.claim_one()["id"], failed["id"])


# ---- Change ----


@test(clock=START)
def patch_in_every_state(s):
    tasks = in_every_state(s)
    tasks["TIMEOUT"] = timed_out(s)
    for name, task in tasks.items():
        if name in ("QUEUED", "SCHEDULED", "RETRYING"):
            has(s.patch(task, priority="HIGH", maxRetries=9, timeoutMs=77), state=name,
                priority="HIGH", maxRetries=9, timeoutMs=77)
            has(s.show(task), priority="HIGH", maxRetries=9, timeoutMs=77)
        else:
            before = s.show(task)
            s.patch(task, 409, priority="HIGH")
            same(s.show(task), before)


@test(clock=START)
def a_patched_time_moves_between_queued_and_scheduled(s):
    task = s.create()
    has(s.patch(task, scheduledAt=later(START, 5000)), state="SCHEDULED",
        scheduledAt=later(START, 5000))
    same(s.claim(), [])
    has(s.patch(task, scheduledAt=later(START, 9000)), state="SCHEDULED",
        scheduledAt=later(START, 9000))
    s.advance(5000)
    has(s.show(task), state="SCHEDULED")
    has(s.patch(task, scheduledAt=later(START, -1)), state="QUEUED", queuedAt=later(START, 5000))
    same(s.claim_one()["id"], task["id"])
    task = s.create(delayMs=60000)
    has(s.patch(task, scheduledAt=later(START, 5000)), state="QUEUED")
    task = s.create(delayMs=60000)
    s.patch(task, scheduledAt=later(START, 6000))
    s.advance(1000)
    has(s.show(task), state="QUEUED")


@test(clock=START)
def a_patched_time_sets_the_retry_of_a_retrying_task(s):
    s.create()
    task = s.fail(s.claim_one())
    has(s.patch(task, scheduledAt=later(START, 2000)), state="RETRYING",
        scheduledAt=later(START, 2000), retries=1)
    s.advance(1999)
    has(s.show(task), state="RETRYING")
    s.advance(1)
    has(s.show(task), state="QUEUED", retries=1)
    failed = s.fail(s.claim_one())
    s.patch(failed, scheduledAt=later(START, 86400000))
    s.advance(30000)
    has(s.show(task), state="RETRYING")
    s.patch(task, scheduledAt=START)
    s.advance(0)
    same(s.claim_one()["id"], task["id"])


@test(clock=START)
def a_patched_priority_changes_the_order(s):
    s.create("first")
    second = s.create("second")
    third = s.create("third", priority="HIGH")
    s.patch(second, priority=4)
    s.patch(third, priority="LOW")
    same([t["taskType"] for t in s.claim(max=3)], ["second", "first", "third"])


@test(clock=START)
def patched_limits_hold_for_the_next_attempt(s):
    task = s.create()
    s.patch(task, timeoutMs=2000, maxRetries=0)
    s.claim_one()
    s.advance(2000)
    has(s.show(task), state="TIMEOUT", retries=0)
    task = s.create(maxRetries=5)
    s.fail(s.claim_one())
    s.patch(task, maxRetries=1)
    s.advance(5000)
    has(s.fail(s.claim_one()), state="FAILED", retries=1)


@test()
def a_patch_is_checked(s):
    task = s.create()
    for field, wrong in (("priority", "URGENT"), ("priority", 9), ("maxRetries", 101),
                         ("maxRetries", -1), ("timeoutMs", -1), ("scheduledAt", "soon"),
                         ("payload", 1), ("taskType", "x"), ("delayMs", 5), ("state", "QUEUED")):
        same(s.patch(task, 400, **{field: wrong})["error"]["field"], field)
    s.patch(task, 400, priority="HIGH", nope=1)
    has(s.show(task), priority="NORMAL", state="QUEUED")
    s.call("PATCH", f"/api/tasks/{task['id']}", b"[]", 400)


@test(clock=START)
def a_second_cancel_does_not_change_the_reason(s):
    s.create()
    task = s.claim_one()
    s.cancel(task, 202, reason="first")
    s.cancel(task, 202, reason="second")
    has(s.fail(task), state="CANCELLED", cancelReason="first")


# ---- Remove ----


@test(clock=START)
def delete_in_every_state(s):
    tasks = in_every_state(s)
    tasks["TIMEOUT"] = timed_out(s)
    for name, task in tasks.items():
        if name in ("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT"):
            s.delete(task)
            s.show(task, 404)
            s.delete(task, 404)
        else:
            s.delete(task, 409)
            has(s.show(task), state=name)
    same(len(s.list()), 4)


# ---- Many at once ----


@test(clock=START)
def bulk_cancel_takes_the_lists_filters(s):
    for n in range(10):
        s.create("a", queue="q", tags=["x"] if n < 3 else [], documentId=f"d{n % 2}",
                 priority="HIGH" if n == 9 else "NORMAL")
    s.create("b", queue="q")
    same(s.post("/api/tasks/cancel", {"tag": "x"}), {"count": 3})
    same(s.post("/api/tasks/cancel", {"priority": "HIGH"}), {"count": 1})
    same(s.post("/api/tasks/cancel", {"taskType": "a", "documentId": "d1"}), {"count": 3})
    same(s.post("/api/tasks/cancel", {"taskType": "a", "state": "QUEUED"}), {"count": 3})
    same(s.post("/api/tasks/cancel", {"queue": "q", "createdBefore": later(START, 1)}),
         {"count": 1})
    same(len(s.list(state="CANCELLED")), 11)
    same(s.claim(queues=["q"]), [])


@test(clock=START)
def bulk_cancel_asks_what_runs_and_leaves_what_ended(s):
    tasks = in_every_state(s)
    timed_out(s)
    s.post("/api/tasks/cancel", {"createdAfter": later(START, -1000)})
    has(s.show(tasks["RUNNING"]), state="RUNNING", cancelRequested=True)
    for name in ("QUEUED", "SCHEDULED", "RETRYING"):
        has(s.show(tasks[name]), state="CANCELLED")
    for name in ("COMPLETED", "FAILED"):
        has(s.show(tasks[name]), state=name)
    has(s.show(tasks["CANCELLED"]), cancelReason="first")


@test(clock=START)
def bulk_retry_revives_what_ended_badly(s):
    tasks = in_every_state(s)
    same(s.post("/api/tasks/retry", {"state": "FAILED"}), {"count": 1})
    has(s.show(tasks["FAILED"]), state="QUEUED", retries=0)
    same(s.post("/api/tasks/retry", {"queue": "default"}), {"count": 1})
    has(s.show(tasks["CANCELLED"]), state="QUEUED")
    has(s.show(tasks["COMPLETED"]), state="COMPLETED")
    has(s.show(tasks["RUNNING"]), state="RUNNING")


@test()
def bulk_filters_are_checked(s):
    s.create()
    for verb in ("cancel", "retry"):
        for wrong in ({}, {"nope": 1}, {"state": "NOPE"}, {"limit": 5}, {"queue": 5}, []):
            s.post(f"/api/tasks/{verb}", wrong, 400)
        s.call("POST", f"/api/tasks/{verb}", None, (400, 415))
    same(len(s.list(state="QUEUED")), 1)


@test()
def bulk_works_in_chunks_over_thousands(s):
    for _ in range(3):
        s.post("/api/tasks", [{"taskType": "t"}] * 1000, 201)
    keep = s.create("keep")
    same(s.post("/api/tasks/cancel", {"taskType": "t"}), {"count": 3000})
    has(s.show(keep), state="QUEUED")
    same(s.post("/api/tasks/retry", {"taskType": "t", "state": "CANCELLED"}), {"count": 3000})
    counts = s.get("/api/queues")[0]["counts"]
    same(counts["QUEUED"], 3001)


main()
