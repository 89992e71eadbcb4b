# tests/system/test_streams.py: event streams: what happened, in order, without gaps.
#
# SPDX-License-Identifier: MIT
from errand import START, check, has, main, same, test, wait_for
from tokens import make_token


def states(events):
    return [(data["taskId"], data["state"]) for event, _, data in events if event == "state"]


@test(clock=START)
def every_change_of_state_is_told_in_order(s):
    stream = s.stream("/api/events")
    same(stream.status, 200)
    check(stream.headers["content-type"].startswith("text/event-stream"), stream.headers)
    same(stream.headers["cache-control"], "no-store")
    check("content-length" not in stream.headers)
    task = s.create("t", documentId="d")
    s.fail(s.claim_one())
    s.advance(5000)
    s.complete(s.claim_one())
    events = stream.until(lambda event, data: event == "state" and data["state"] == "COMPLETED")
    same(states(events), [(task["id"], name) for name in (
        "QUEUED", "RUNNING", "RETRYING", "QUEUED", "RUNNING", "COMPLETED")])
    for event, ident, data in events:
        check(ident, "an event without id")
        has(data, taskId=task["id"], taskType="t", documentId="d")
    numbers = [int(ident) for _, ident, _ in events]
    same(numbers, sorted(set(numbers)), "ids grow")
    same(stream.retry, "3000")


@test()
def a_task_has_a_stream_of_its_own(s):
    task, other = s.create("t"), s.create("other")
    stream = s.stream(f"/api/tasks/{task['id']}/stream")
    same(stream.status, 200)
    first, second = s.claim(max=2)
    same(first["id"], task["id"])
    s.heartbeat(second, log="not mine", progress={"percent": 1})
    s.heartbeat(first, log="mine", progress={"percent": 50, "message": "half"})
    s.complete(second)
    s.complete(first)
    events = stream.until(lambda event, data: event == "state" and data["state"] == "COMPLETED")
    same({data["taskId"] for _, _, data in events}, {task["id"]})
    kinds = [event for event, _, _ in events]
    check("log" in kinds and "progress" in kinds, kinds)
    check(any("mine" in str(data) for event, _, data in events if event == "log"), events)
    check(any("half" in str(data) for event, _, data in events if event == "progress"), events)
    check(other["id"] not in str(events), "another task's events")


@test()
def a_parents_stream_tells_of_its_descendants(s):
    other = s.create("other", queue="elsewhere")
    parent = s.post("/api/tasks", {"taskType": "p", "documentId": "d", "children": [
        {"taskType": "one"}, {"taskType": "inner", "children": [{"taskType": "leaf"}]}]}, 201)
    one, inner = s.show(parent)["childIds"]
    leaf, = s.show(inner)["childIds"]
    stream = s.stream(f"/api/tasks/{parent['id']}/stream")
    same([(stream.next()[2]["taskId"]) for _ in range(4)], [parent["id"], one, inner, leaf])
    claimed = s.claim_one()
    s.heartbeat(claimed, progress={"percent": 50}, log="mine")
    s.complete(claimed)
    s.complete(s.claim_one(queues=["elsewhere"]))
    s.complete(s.claim_one())
    events = stream.rest()
    check(other["id"] not in str(events), "another task's events")
    same([d["taskId"] for event, _, d in events if event == "state" and d["state"] == "COMPLETED"],
         [one, leaf, inner, parent["id"]])
    for _, _, data in events:
        same(data.get("parentId"), {one: parent["id"], inner: parent["id"], leaf: inner}.get(
            data["taskId"]))
        same(data.get("batchId"), None if data["taskId"] == parent["id"] else parent["id"])
    shares = [d["percent"] for event, _, d in events
              if event == "progress" and d["taskId"] == parent["id"]]
    same(shares, [50])


@test()
def the_stream_of_a_cancelled_parent_tells_all_ends(s):
    parent = s.post("/api/tasks", {"taskType": "p", "children": [{"taskType": "c"}] * 3}, 201)
    stream = s.stream(f"/api/tasks/{parent['id']}/stream")
    for _ in range(4):
        stream.next()
    s.cancel(parent)
    same([d["state"] for _, _, d in stream.rest()], ["CANCELLED"] * 4)
    again = s.stream(f"/api/tasks/{parent['id']}/stream").rest()
    same([d["taskId"] for _, _, d in again][-1], parent["id"])
    same(len(again), 4)


@test()
def filters_choose_events(s):
    by_type = s.stream("/api/events?taskType=a")
    by_document = s.stream("/api/events?documentId=d%2F1")
    by_kind = s.stream("/api/events?types=log,queue")
    a = s.create("a")
    b = s.create("b", documentId="d/1")
    first, second = s.claim(max=2)
    s.heartbeat(second, log="hello")
    s.post("/api/queues/default/pause")
    s.complete(first)
    s.complete(second)

    def ended(event, data):
        return event == "state" and data["state"] == "COMPLETED"
    same({d["taskId"] for _, _, d in by_type.until(ended)}, {a["id"]})
    same({d["taskId"] for _, _, d in by_document.until(ended)}, {b["id"]})
    kinds = [event for event, _, _ in by_kind.until(lambda event, data: event == "queue")]
    same(kinds, ["log", "queue"])
    s.call("GET", "/api/events?types=nope", expect=400)
    s.call("GET", "/api/events?color=red", expect=400)


@test()
def a_reader_resumes_where_it_was(s):
    stream = s.stream("/api/events")
    first = s.create()
    _, ident, data = stream.next()
    same(data["taskId"], first["id"])
    stream.close()
    missed = [s.create()["id"] for _ in range(30)]
    again = s.stream("/api/events", {"Last-Event-ID": ident})
    same([again.next()[2]["taskId"] for _ in missed], missed)
    live = s.create()
    same(again.next()[2]["taskId"], live["id"])


@test()
def an_unknown_place_gets_a_reset_then_live(s):
    s.create()
    for unknown in ("99999999999999999999", "nonsense", "1"):
        stream = s.stream("/api/events", {"Last-Event-ID": unknown})
        same(stream.next()[0], "reset", unknown)
        task = s.create()
        event, _, data = stream.next()
        same((event, data["taskId"]), ("state", task["id"]))


@test()
def a_place_from_before_a_restart_gets_a_reset(s):
    stream = s.stream("/api/events")
    s.create()
    ident = stream.next()[1]
    s.restart()
    again = s.stream("/api/events", {"Last-Event-ID": ident})
    same(again.next()[0], "reset")
    task = s.create()
    event, later_ident, data = again.next()
    same((event, data["taskId"]), ("state", task["id"]))
    check(int(later_ident) > int(ident), "ids grow from one run to the next")


@test()
def progress_is_coalesced_and_states_are_not(s):
    stream = s.stream("/api/events")
    s.create()
    task = s.claim_one()
    for percent in range(1, 101):
        s.heartbeat(task, progress={"percent": percent})
    events = stream.until(lambda event, data: event == "progress" and "100" in str(data))
    count = sum(event == "progress" for event, _, _ in events)
    check(count < 60, f"{count} progress events for 100 heartbeats")
    tasks = s.post("/api/tasks", [{"taskType": "many"}] * 500, 201)
    for claimed in (s.claim(taskTypes=["many"], max=250), s.claim(taskTypes=["many"], max=250)):
        s.post("/api/finish", [{"id": t["id"], "lease": t["lease"], "outcome": "complete"}
                               for t in claimed])
    seen = states(stream.until(lambda event, data: data.get("taskId") == tasks[-1]["id"]
                               and data["state"] == "COMPLETED"))
    for state in ("QUEUED", "RUNNING", "COMPLETED"):
        found = [ident for ident, name in seen if name == state]
        same(found, [t["id"] for t in tasks], state)


@test()
def queue_events_tell_pause_and_resume(s):
    stream = s.stream("/api/events?types=queue")
    s.post("/api/queues/q/pause")
    check("q" in str(stream.next()[2]))
    s.post("/api/queues/q/resume")
    check("q" in str(stream.next()[2]))


@test()
def a_reader_that_does_not_read_harms_nobody(s):
    slow = s.stream("/api/events")
    body = [{"taskType": "x" * 200}] * 1000
    for _ in range(12):
        same(s.raw("POST", "/api/tasks", body).status, 201)
    same(len(s.list(limit=500)), 500)
    fresh = s.stream("/api/events")
    task = s.create()
    same(fresh.next()[2]["taskId"], task["id"])
    slow.close()


# ---- What a page follows ----


def words(stream, wanted):
    """Names and data of the events up to the first that `wanted` likes."""
    return [(event, data) for event, _, data in stream.until(wanted)]


@test()
def messages_notifications_and_schedules_come_when_they_are_asked_for(s):
    everything = s.stream("/api/events?types=message,notification,schedule")
    usual = s.stream("/api/events")
    team = s.post("/api/teams", {"prompt": "p", "teammates": [{"role": "a"}],
                                 "tasks": [{"id": "1", "title": "one", "description": "d"}]}, 202)["teamId"]
    said = s.post(f"/api/teams/{team}/messages", {"from": "a", "body": "hello"}, 201)
    same(words(everything, lambda event, data: True), [("message", {"teamId": team, **said})])
    made = s.post("/api/schedules", {"title": "t", "rrule": "FREQ=DAILY", "taskType": "noop", "userId": "ann"}, 201)["id"]
    same(words(everything, lambda event, data: True), [("schedule", {"scheduleId": made, "change": "created"})])
    run = s.post(f"/api/schedules/{made}/run", None, 202)["executionId"]
    seen = words(everything, lambda event, data: event == "notification")
    check(("schedule", {"scheduleId": made, "executionId": run, "status": "RUNNING", "change": "execution"}) in seen, seen)
    has(seen[-1][1], scheduleId=made, userId="ann")
    check({event for event, _ in seen} == {"schedule", "notification"}, seen)
    s.call("DELETE", f"/api/schedules/{made}", None, 204)
    words(everything, lambda event, data: data.get("change") == "removed")
    last = s.create("work", delayMs=60000)
    seen = words(usual, lambda event, data: data.get("taskId") == last["id"])
    check({event for event, _ in seen} <= {"state", "progress", "log", "queue", "leader"}, seen)
    both = s.stream("/api/events?types=state,message")
    task = s.create("work", delayMs=60000)
    s.post(f"/api/teams/{team}/messages", {"from": "a", "body": "again"}, 201)
    same([event for event, data in words(both, lambda event, data: event == "message")
          if data.get("taskId", task["id"]) == task["id"]][-2:], ["state", "message"])
    for wrong in ("types=cancel", "types=sign_out", "types=topic", "paceMs=99", "paceMs=10001", "paceMs=x"):
        s.call("GET", f"/api/events?{wrong}", None, 400)
    s.call("GET", f"/api/tasks/{task['id']}/stream?paceMs=500", None, 400)
    s.call("GET", f"/api/teams/{team}/stream?types=message", None, 400)


@test()
def a_user_is_told_of_his_own_schedules_and_notifications(s):
    admin, ann = make_token(s.nest, s.data, "admin"), make_token(s.nest, s.data, "read", "--user", "ann")
    s.token = admin
    wait_for(lambda: s.raw("GET", "/api/tasks", headers={"Authorization": None}).status == 401)
    wait_for(lambda: s.raw("GET", "/api/tasks", headers={"Authorization": f"Bearer {ann}"}).status == 200)
    stream = s.stream("/api/events?types=schedule,notification", {"Authorization": f"Bearer {ann}"})
    made = {user: s.post("/api/schedules", {"title": "t", "rrule": "FREQ=DAILY", "taskType": "noop", "userId": user}, 201)["id"]
            for user in ("ben", "annabel", "ann")}
    for user in ("ben", "annabel", "ann"):
        s.post(f"/api/schedules/{made[user]}/run", None, 202)
    seen = words(stream, lambda event, data: event == "notification")
    same({data["scheduleId"] for _, data in seen}, {made["ann"]})


@test()
def a_paced_stream_says_how_many_it_left_out(s):
    paced = s.stream("/api/events?types=state&paceMs=200")
    task = s.create("work", delayMs=60000)
    same([data["taskId"] for _, data in words(paced, lambda event, data: True)], [task["id"]])
    for _ in range(2):
        s.post("/api/tasks", [{"taskType": "work", "delayMs": 60000}] * 1000, 201)
    seen = words(paced, lambda event, data: event == "skipped")
    check(seen[-1][1]["count"] > 500, seen)
    last = s.create("work", delayMs=60000)
    words(paced, lambda event, data: data.get("taskId") == last["id"] or event == "skipped")


main()
