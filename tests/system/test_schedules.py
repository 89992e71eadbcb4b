# tests/system/test_schedules.py: schedules: created, fired across the change of clocks, steered, and their history.
#
# SPDX-License-Identifier: MIT
from errand import START, UUID7, check, has, later, main, same, test

HOUR = 3600000
DAY = 24 * HOUR
DAILY = {"title": "Report", "rrule": "FREQ=DAILY;BYHOUR=9;BYMINUTE=0", "taskType": "work"}


def schedule(s, expect=201, **fields):
    body = {"title": "t", "taskType": "work", **fields}
    return s.post("/api/schedules", body, expect)


def history(s, one, **query):
    return s.get(f"/api/schedules/{one['id']}/executions", **query)


def story(s, one):
    return [(e["status"], e["scheduledFor"]) for e in reversed(history(s, one))]


def reborn(s, clock):
    s.restart(command=[f"--test-clock={clock}" if word.startswith("--test-clock") else word
                       for word in s.command])


def look(s, one, expect=200):
    return s.get(f"/api/schedules/{one['id']}", expect)


# ---- Creating ----


@test(clock=START)
def a_schedule_has_its_defaults(s):
    answer = s.call("POST", "/api/schedules", {"title": "t", "rrule": "FREQ=DAILY"}, 201)
    one = answer.json
    check(UUID7.match(one["id"]))
    same(answer.headers["location"], f"/api/schedules/{one['id']}")
    has(one, title="t", isOneTime=False, rrule="FREQ=DAILY", dtstart="2027-03-01T09:00:00",
        timezone="UTC", status="ACTIVE", category="OTHERS", taskType="remind", queue="default",
        priority="NORMAL", maxRetries=3, timeoutMs=300000, overlap="skip", misfire="once",
        dstGap="shift", dstFold="first", jitterMs=0, delivery=["WEB"], queryPerExecution=1,
        nextExecutionTime=later(START, DAY), createdAt=START, updatedAt=START)
    same(look(s, one), one)


@test(clock=START)
def every_field_is_kept_as_it_was_given(s):
    fields = {
        "title": "Weekly", "description": "d", "purpose": "p", "isOneTime": False,
        "rrule": "FREQ=WEEKLY;BYDAY=MO;BYHOUR=9;BYMINUTE=0", "dtstart": "2027-03-01T09:00:00",
        "exdates": ["2027-03-08T09:00:00"], "rdates": ["2027-03-09T10:00:00Z"],
        "timezone": "Europe/Paris", "category": "REPORT", "taskType": "work",
        "payload": {"a": [1, 2.50]}, "queue": "q", "priority": "HIGH", "documentId": "doc",
        "maxRetries": 1, "timeoutMs": 1000, "overlap": "queue", "misfire": "all",
        "dstGap": "skip", "dstFold": "both", "jitterMs": 1000,
        "delivery": ["EMAIL", "MOBILE"], "deliveryTitle": "Your report",
        "deliverTo": {"EMAIL": "a@example.org", "MOBILE": "https://ntfy.example/topic"},
        "queryPerExecution": 2.5, "userId": "u", "chatId": "c", "messageId": "m",
        "messages": [{"role": "user", "content": "hi"}],
    }
    one = s.post("/api/schedules", fields, 201)
    has(one, **fields)
    same(one["nextExecutionTime"], "2027-03-09T10:00:00.000Z")
    has(look(s, one), **fields)


@test(clock=START)
def cron_is_read_as_a_rule(s):
    one = schedule(s, cron="30 9 * * 1-5", timezone="Europe/Paris")
    check("cron" not in one)
    same(one["rrule"], "FREQ=DAILY;BYDAY=MO,TU,WE,TH,FR;BYHOUR=9;BYMINUTE=30;BYSECOND=0"
         if one["rrule"].startswith("FREQ=DAILY") else one["rrule"])
    same(one["nextExecutionTime"], "2027-03-02T08:30:00.000Z")
    has(schedule(s, expect=400, cron="61 * * * *")["error"], field="cron")
    has(schedule(s, expect=400, cron="0 9 * * *", rrule="FREQ=DAILY")["error"], field="cron")


@test(clock=START)
def malformed_fields_are_named(s):
    for field, fields in (
            ("rrule", {"rrule": "FREQ=FORTNIGHTLY"}),
            ("rrule", {"rrule": "FREQ=DAILY;COUNT=2;UNTIL=20300101T000000Z"}),
            ("rrule", {"rrule": 5}),
            ("timezone", {"rrule": "FREQ=DAILY", "timezone": "Europe/Atlantis"}),
            ("timezone", {"rrule": "FREQ=DAILY", "timezone": "../../etc/passwd"}),
            ("dtstart", {"dtstart": "next week"}),
            ("dtstart", {"dtstart": "2027-02-30T09:00:00"}),
            ("exdates", {"rrule": "FREQ=DAILY", "exdates": ["x"]}),
            ("exdates", {"rrule": "FREQ=DAILY", "exdates": "2027-03-02T09:00:00"}),
            ("isOneTime", {"rrule": "FREQ=DAILY", "isOneTime": True}),
            ("isOneTime", {"dtstart": "2027-04-01T09:00:00", "isOneTime": False}),
            ("overlap", {"rrule": "FREQ=DAILY", "overlap": "sometimes"}),
            ("misfire", {"rrule": "FREQ=DAILY", "misfire": "twice"}),
            ("category", {"rrule": "FREQ=DAILY", "category": "FUN"}),
            ("delivery", {"rrule": "FREQ=DAILY", "delivery": ["FAX"]}),
            ("deliverTo", {"rrule": "FREQ=DAILY", "deliverTo": {"FAX": "1"}}),
            ("deliverTo", {"rrule": "FREQ=DAILY", "deliverTo": {"EMAIL": "ann"}}),
            ("deliverTo", {"rrule": "FREQ=DAILY", "deliverTo": {"MOBILE": "ftp://example.org"}}),
            ("taskType", {"rrule": "FREQ=DAILY", "taskType": ""}),
            ("jitterMs", {"rrule": "FREQ=DAILY", "jitterMs": -1}),
            ("jitterMs", {"rrule": "FREQ=DAILY", "jitterMs": DAY + 1}),
            ("maxRetries", {"rrule": "FREQ=DAILY", "maxRetries": 101}),
            ("priority", {"rrule": "FREQ=DAILY", "priority": "URGENT"}),
            ("queue", {"rrule": "FREQ=DAILY", "queue": "a b"}),
            ("messages", {"rrule": "FREQ=DAILY", "messages": list(range(51))}),
            ("status", {"rrule": "FREQ=DAILY", "status": "PAUSED"}),
            ("title", {"rrule": "FREQ=DAILY", "title": ""}),
            ("title", {"rrule": "FREQ=DAILY", "title": None}),
            ("nope", {"rrule": "FREQ=DAILY", "nope": 1}),
            ("lastRun", {"rrule": "FREQ=DAILY", "lastRun": 1}),
            ("now", {"rrule": "FREQ=DAILY", "now": START})):
        has(schedule(s, expect=400, **fields)["error"], code="invalid_argument", field=field)
    has(s.post("/api/schedules", {"rrule": "FREQ=DAILY"}, 400)["error"], field="title")
    s.call("POST", "/api/schedules", b"[]", 400, headers={"Content-Type": "application/json"})
    same(s.get("/api/schedules"), [])


@test(clock=START)
def times_that_cannot_be_are_refused_with_a_reason(s):
    for field, fields in (
            ("dtstart", {"dtstart": "2027-03-01T08:59:59"}),
            ("dtstart", {"dtstart": "2027-03-01T09:00:04"}),
            ("rrule", {"rrule": "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30"}),
            ("rrule", {"rrule": "FREQ=DAILY;UNTIL=20270228T000000Z"}),
            ("dtstart", {})):
        answer = schedule(s, expect=422, **fields)
        same(answer["error"]["code"], "unprocessable")
        same(answer["refusal"]["fields"], [field])
        check(answer["refusal"]["reason"])
    schedule(s, dtstart="2027-03-01T09:00:05")
    schedule(s, rrule="FREQ=DAILY", dtstart="2020-01-01T09:00:00")


@test(clock=START)
def a_sentence_is_read_as_a_schedule(s):
    one = s.post("/api/schedules", {"text": "every Monday at 9am write the weekly report",
                                    "timezone": "Europe/Paris", "userId": "u"}, 201)
    has(one, isOneTime=False, timezone="Europe/Paris", userId="u",
        nextExecutionTime="2027-03-08T08:00:00.000Z", dtstart="2027-03-08T09:00:00")
    check("weekly report" in one["title"].lower())
    once = s.post("/api/schedules", {"text": "remind me to call mom tomorrow at 5pm"}, 201)
    has(once, isOneTime=True, nextExecutionTime="2027-03-02T17:00:00.000Z")
    check("rrule" not in once)
    for text in ("sometime soon", "call mom", "every day at 25:00", "yesterday at noon", ""):
        answer = s.post("/api/schedules", {"text": text}, 422)
        check(answer["refusal"]["reason"] and answer["error"]["message"])
    has(s.post("/api/schedules", {"text": "every day", "rrule": "FREQ=DAILY"}, 400)["error"],
        field="text")
    has(s.post("/api/schedules", {"text": "every day", "timezone": "Nowhere"}, 400)["error"],
        field="timezone")


# ---- Previews ----


@test(clock=START)
def a_schedule_says_when_it_runs_in_english(s):
    weekly = {"title": "w", "rrule": "FREQ=WEEKLY;BYDAY=MO;BYHOUR=9;BYMINUTE=0", "timezone": "Europe/Paris"}
    said = "Every Monday at 09:00, Europe/Paris"
    same(s.post("/api/schedules/preview", weekly)["summary"], said)
    made = s.post("/api/schedules", weekly, 201)
    same(made["summary"], said)
    once = s.post("/api/schedules", {"title": "o", "dtstart": "2027-03-05T09:00:00", "timezone": "Europe/Paris"}, 201)
    listed = {each["id"]: each["summary"] for each in s.get("/api/schedules")}
    same(listed[made["id"]], said)
    check("2027" in listed[once["id"]] and "09:00" in listed[once["id"]], listed[once["id"]])
    path = f"/api/schedules/{made['id']}"
    has(s.call("PATCH", path, {"rrule": "FREQ=DAILY;BYHOUR=7;BYMINUTE=0", "timezone": None}).json, summary="Every day at 07:00, UTC")
    same(s.get(path)["summary"], "Every day at 07:00, UTC")
    until = {"rrule": "FREQ=DAILY;BYHOUR=7;BYMINUTE=0;UNTIL=20270430T220000Z", "timezone": "Europe/Paris"}
    changed = s.call("PATCH", path, until).json["summary"]
    same(changed, s.post("/api/schedules/preview", {"dtstart": made["dtstart"], **until})["summary"])
    check(changed.endswith(", Europe/Paris"), changed)
    s.call("PATCH", path, {"summary": "never"}, 400)


@test(clock=START)
def a_preview_saves_nothing(s):
    shown = s.post("/api/schedules/preview", {
        "title": "t", "rrule": "FREQ=WEEKLY;BYDAY=MO;BYHOUR=9;BYMINUTE=0",
        "timezone": "Europe/Paris", "now": "2027-03-20T00:00:00Z"})
    has(shown, mode="TASK_CREATION", title="t", category="OTHERS", isOneTime=False,
        timezone="Europe/Paris", summary="Every Monday at 09:00, Europe/Paris",
        next=["2027-03-22T08:00:00.000Z", "2027-03-29T07:00:00.000Z", "2027-04-05T07:00:00.000Z",
              "2027-04-12T07:00:00.000Z", "2027-04-19T07:00:00.000Z"])
    same(s.get("/api/schedules"), [])
    never = s.post("/api/schedules/preview", {"rrule": "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30"})
    same(never["next"], [])
    short = s.post("/api/schedules/preview", {"rrule": "FREQ=DAILY;COUNT=3"})
    same(len(short["next"]), 2)  # strictly after now
    has(s.post("/api/schedules/preview", {"rrule": "X"}, 400)["error"], field="rrule")
    s.post("/api/schedules/preview", {"text": "whenever"}, 422)
    has(s.post("/api/schedules/preview", {"text": "daily at 8"}), isOneTime=False)
    said = s.post("/api/schedules/preview", {
        "text": "every day at 9am Tokyo time except Dec 24 send the digest",
        "timezone": "Europe/Paris", "now": "2027-12-20T00:00:00Z"})
    has(said, timezone="Asia/Tokyo", exdates=["2027-12-24T09:00:00"], title="send the digest")
    has(said["words"][0], text="every day", **{"as": "how often"})
    refused = s.post("/api/schedules/preview", {"text": "every sprint at 9 plan"}, 422)
    same("every sprint" in refused["refusal"]["reason"], True)


# ---- Firing ----


@test(clock="2027-03-26T12:00:00Z", args=("--workers", "3"))
def the_wall_clock_is_kept_across_the_change_of_clocks(s):
    rule = {"rrule": "FREQ=DAILY;BYHOUR=2;BYMINUTE=30", "timezone": "Europe/Berlin",
            "taskType": "noop"}
    one, skips = schedule(s, **rule), schedule(s, dstGap="skip", **rule)
    s.set_clock("2027-03-29T12:00:00Z")
    same(story(s, one), [("SUCCESS", "2027-03-27T01:30:00.000Z"),
                         ("SUCCESS", "2027-03-28T01:30:00.000Z"),
                         ("SUCCESS", "2027-03-29T00:30:00.000Z")])
    same([t for _, t in story(s, skips)], ["2027-03-27T01:30:00.000Z", "2027-03-29T00:30:00.000Z"])
    s.set_clock("2027-10-30T12:00:00Z")
    both = schedule(s, dstFold="both", **rule)
    last = schedule(s, dstFold="last", **rule)
    s.set_clock("2027-10-31T12:00:00Z")
    same([t for _, t in story(s, both)], ["2027-10-31T00:30:00.000Z", "2027-10-31T01:30:00.000Z"])
    same([t for _, t in story(s, last)], ["2027-10-31T01:30:00.000Z"])


@test(clock=START, args=("--workers", "0"))
def a_run_is_a_task_with_a_history(s):
    one = schedule(s, rrule="FREQ=DAILY", userId="u", chatId="c", messageId="m")
    s.advance(DAY)
    run = history(s, one)[0]
    has(run, scheduleId=one["id"], taskId=run["id"], scheduledFor=later(START, DAY),
        createdAt=later(START, DAY), status="RUNNING", chatId="c", messageId="m", userId="u",
        queries=0, tokens=0, progress=[], isDelivered=False, deliveries={})
    check("finishedAt" not in run and "startedAt" not in run)
    task = s.claim_one()
    has(task, id=run["id"], scheduleId=one["id"])
    has(task["payload"], scheduleId=one["id"], executionId=run["id"], title="t", chatId="c")
    same(s.list(scheduleId=one["id"])[0]["id"], task["id"])
    has(s.get(f"/api/executions/{run['id']}"), status="RUNNING", startedAt=later(START, DAY))
    has(history(s, one)[0], startedAt=later(START, DAY))
    s.heartbeat(task, progress={"percent": 50, "message": "half"})
    s.advance(1000)
    s.complete(task, result="all is well", cost={"actual": 2, "tokens": 99})
    run = s.get(f"/api/executions/{run['id']}")
    has(run, status="SUCCESS", content="all is well", startedAt=later(START, DAY),
        finishedAt=later(START, DAY + 1000), queries=2, tokens=99)
    same(run["progress"], [{"at": later(START, DAY), "percent": 50, "message": "half"}])
    now = look(s, one)
    has(now, nextExecutionTime=later(START, 2 * DAY), lastExecutionTime=later(START, DAY))
    same(now["messages"], [{"role": "assistant", "content": "all is well"}])
    s.advance(DAY)
    same(s.claim_one()["payload"]["messages"], now["messages"])
    s.get("/api/executions/0192f300-0000-7000-8000-000000000000", 404)
    s.get("/api/executions/x", 404)


@test(clock=START, args=("--workers", "0"))
def a_failed_run_says_why(s):
    one = schedule(s, dtstart="2027-03-01T10:00:00", maxRetries=0)
    same(one["isOneTime"], True)
    s.advance(HOUR)
    s.fail(s.claim_one(), error={"code": "x", "message": "no luck"})
    has(history(s, one)[0], status="FAILURE", content="no luck", queries=0, tokens=0)
    has(look(s, one), status="FAILED", pausedReason="no luck")
    s.retry(history(s, one)[0], 200)
    same(history(s, one)[0]["status"], "RUNNING")
    s.complete(s.claim_one())
    has(history(s, one)[0], status="SUCCESS", queries=1, tokens=0)
    has(look(s, one), status="COMPLETED")
    check("pausedReason" not in look(s, one))


@test(clock=START, args=("--workers", "0"))
def overlap_says_what_becomes_of_a_time_while_the_last_run_goes_on(s):
    made = {kind: schedule(s, rrule="FREQ=HOURLY", overlap=kind, taskType=kind)
            for kind in ("skip", "queue", "allow", "cancel")}
    s.advance(2 * HOUR)
    same([e["status"] for e in history(s, made["skip"])], ["SKIPPED", "RUNNING"])
    check("taskId" not in history(s, made["skip"])[0])
    same([e["status"] for e in history(s, made["queue"])], ["RUNNING", "RUNNING"])
    same([t["state"] for t in s.list(taskType="queue")], ["WAITING", "QUEUED"])
    same([t["state"] for t in s.list(taskType="allow")], ["QUEUED", "QUEUED"])
    same([t["state"] for t in s.list(taskType="cancel")], ["QUEUED", "CANCELLED"])
    same([e["status"] for e in history(s, made["cancel"])], ["RUNNING", "FAILURE"])
    s.complete(s.claim_one(taskTypes=["queue"]))
    same([t["state"] for t in s.list(taskType="queue")], ["QUEUED", "COMPLETED"])


@test(clock=START, args=("--workers", "0"))
def after_downtime_misfire_decides(s):
    made = {kind: schedule(s, rrule="FREQ=HOURLY", misfire=kind) for kind in ("once", "skip", "all")}
    reborn(s, later(START, 5 * HOUR + HOUR // 2))
    s.advance(0)
    once = history(s, made["once"])
    same([(e["status"], e["count"]) for e in once], [("RUNNING", 1), ("SKIPPED", 4)])
    same(once[0]["scheduledFor"], later(START, 5 * HOUR))
    same([(e["status"], e["count"]) for e in history(s, made["skip"])], [("SKIPPED", 5)])
    same([e["scheduledFor"] for e in history(s, made["all"])],
         [later(START, n * HOUR) for n in (5, 4, 3, 2, 1)])
    same(look(s, made["skip"])["nextExecutionTime"], later(START, 6 * HOUR))


@test(clock=START, args=("--workers", "0"))
def far_times_are_woken_up_for(s):
    one = schedule(s, dtstart="2027-05-15T09:00:00")
    has(one, nextExecutionTime="2027-05-15T09:00:00.000Z", nextWakeUpTime=later(START, 30 * DAY))
    s.set_clock("2027-05-15T09:00:00Z")
    same([e["status"] for e in history(s, one)], ["RUNNING", "WAKE_UP", "WAKE_UP"])
    same(history(s, one)[2]["scheduledFor"], later(START, 30 * DAY))


@test(clock=START)
def a_restart_neither_loses_nor_repeats(s):
    one = schedule(s, rrule="FREQ=HOURLY", taskType="noop")
    s.advance(3 * HOUR)
    s.kill()
    reborn(s, later(START, 3 * HOUR))
    s.advance(2 * HOUR)
    same([t for _, t in story(s, one)], [later(START, n * HOUR) for n in range(1, 6)])


# ---- Steering ----


@test(clock=START, args=("--workers", "0"))
def pause_and_resume(s):
    one = schedule(s, rrule="FREQ=HOURLY")
    path = f"/api/schedules/{one['id']}"
    paused = s.post(path + "/pause", {"reason": "holiday"})
    has(paused, status="PAUSED", pausedReason="holiday")
    check("nextExecutionTime" not in paused)
    same(s.post(path + "/pause")["status"], "PAUSED")
    s.advance(5 * HOUR + 1)
    resumed = s.post(path + "/resume")
    has(resumed, status="ACTIVE", nextExecutionTime=later(START, 6 * HOUR))
    check("pausedReason" not in resumed)
    same(history(s, one), [])
    same(s.post(path + "/resume")["status"], "ACTIVE")
    s.post(path + "/pause", {"nope": 1}, 400)
    s.post("/api/schedules/0192f300-0000-7000-8000-000000000000/pause", None, 404)


@test(clock=START, args=("--workers", "0"))
def a_pause_may_have_an_end(s):
    one = schedule(s, rrule="FREQ=HOURLY")
    path = f"/api/schedules/{one['id']}"
    paused = s.post(path + "/pause", {"until": later(START, 5 * HOUR)})
    has(paused, status="PAUSED", resumeAt=later(START, 5 * HOUR),
        nextExecutionTime=later(START, 5 * HOUR))
    s.post(path + "/pause", {"until": START}, 400)
    book = s.get("/openapi.json")["components"]["schemas"]
    same(set(book["PauseRequest"]["properties"]), {"reason", "until"})
    s.advance(6 * HOUR)
    has(look(s, one), status="ACTIVE")
    check("resumeAt" not in look(s, one))
    same([t for _, t in story(s, one)], [later(START, 5 * HOUR), later(START, 6 * HOUR)])


@test(clock=START, args=("--workers", "0"))
def run_and_backfill(s):
    one = schedule(s, rrule="FREQ=HOURLY", dtstart="2027-02-28T09:00:00")
    path = f"/api/schedules/{one['id']}"
    s.advance(1000)
    answer = s.call("POST", path + "/run", None, 202)
    run = answer.json["executionId"]
    same(answer.headers["location"], f"/api/executions/{run}")
    has(s.get(f"/api/executions/{run}"), status="RUNNING", scheduledFor=later(START, 1000))
    same(look(s, one)["nextExecutionTime"], later(START, HOUR))
    window = {"from": later(START, -3 * HOUR), "to": later(START, -HOUR)}
    same(s.post(path + "/backfill", window, 202), {"count": 3})
    same(s.post(path + "/backfill", window, 202), {"count": 0})
    same(len(history(s, one)), 4)
    same(s.post(path + "/backfill", {**window, "again": False}, 202), {"count": 0})
    same(s.post(path + "/backfill", {**window, "from": later(START, -4 * HOUR), "again": True}, 202), {"count": 4})
    same(sorted(r["scheduledFor"] for r in history(s, one))[:7],
         [later(START, -n * HOUR) for n in (4, 3, 3, 2, 2, 1, 1)])
    for field, wrong in (("to", {"from": START}), ("from", {"to": START}), ("to", {
            "from": START, "to": later(START, -1)}), ("to", {"from": START, "to": later(START, DAY)}),
                         ("from", {"from": "x", "to": START}), ("n", {"n": 1}),
                         ("again", {**window, "again": 1})):
        has(s.post(path + "/backfill", wrong, 400)["error"], field=field)


@test(clock=START, args=("--workers", "0"))
def a_patch_moves_the_next_time(s):
    one = s.post("/api/schedules", DAILY, 201)
    path = f"/api/schedules/{one['id']}"

    def patch(expect=200, **fields):
        return s.call("PATCH", path, fields, expect).json
    same(patch(timezone="America/New_York")["nextExecutionTime"], "2027-03-01T14:00:00.000Z")
    has(patch(title="New", description="d"), title="New", description="d",
        nextExecutionTime="2027-03-01T14:00:00.000Z")
    check("description" not in patch(description=None))
    same(patch(cron="0 8 * * *")["nextExecutionTime"], "2027-03-01T13:00:00.000Z")
    same(patch(exdates=["2027-03-01T08:00:00"])["nextExecutionTime"], "2027-03-02T13:00:00.000Z")
    has(patch(rrule=None, dtstart="2027-06-01T08:00:00"), isOneTime=True,
        nextExecutionTime="2027-06-01T12:00:00.000Z")
    same(patch(422, dtstart="2020-01-01T00:00:00")["refusal"]["fields"], ["dtstart"])
    for field, wrong in (("rrule", {"rrule": "X"}), ("id", {"id": "x"}), ("nope", {"nope": 1}),
                         ("title", {"title": None}), ("nextExecutionTime", {"nextExecutionTime": START})):
        same(patch(400, **wrong)["error"]["field"], field)
    same(look(s, one)["nextExecutionTime"], "2027-06-01T12:00:00.000Z")
    s.call("PATCH", "/api/schedules/0192f300-0000-7000-8000-000000000000", {"title": "x"}, 404)


@test(clock=START, args=("--workers", "0"))
def removing_a_schedule_takes_its_history(s):
    one = schedule(s, rrule="FREQ=HOURLY")
    s.advance(HOUR)
    run = history(s, one)[0]
    s.call("DELETE", f"/api/schedules/{one['id']}", None, 204)
    look(s, one, 404)
    s.get(f"/api/schedules/{one['id']}/executions", 404)
    s.get(f"/api/executions/{run['id']}", 404)
    s.call("DELETE", f"/api/schedules/{one['id']}", None, 404)
    s.complete(s.claim_one())
    s.advance(DAY)
    same(s.claim(), [])


# ---- Looking ----


@test(clock=START)
def next_times_in_both_clocks(s):
    one = schedule(s, rrule="FREQ=DAILY;BYHOUR=9;BYMINUTE=0", timezone="Europe/Berlin",
                   dtstart="2027-03-27T00:00:00")
    path = f"/api/schedules/{one['id']}/next"
    same(s.get(path, n=2), [{"utc": "2027-03-27T08:00:00.000Z", "local": "2027-03-27T09:00:00+01:00"},
                            {"utc": "2027-03-28T07:00:00.000Z", "local": "2027-03-28T09:00:00+02:00"}])
    same(len(s.get(path)), 10)
    for wrong in (0, 1001, "x"):
        has(s.get(path, 400, n=wrong)["error"], field="n")


@test(clock=START)
def lists_are_filtered_and_paged(s):
    made = [schedule(s, rrule="FREQ=DAILY", userId="ann" if n % 2 else "bob",
                     category="REPORT" if n < 3 else "OTHERS") for n in range(7)]
    s.post(f"/api/schedules/{made[0]['id']}/pause")

    def ids(**query):
        return [x["id"] for x in s.get("/api/schedules", **query)]
    order = [x["id"] for x in reversed(made)]
    same(ids(), order)
    same(ids(userId="ann"), [order[n] for n in (1, 3, 5)])
    same(ids(category="REPORT"), order[4:])
    same(ids(status="PAUSED"), order[6:])
    same(ids(status="ACTIVE", category="REPORT"), order[4:6])
    same(ids(status="ACTIVE,PAUSED", userId="bob", category="REPORT"), [order[4], order[6]])
    seen, path = [], "/api/schedules?limit=3&userId=bob"
    while path:
        answer = s.call("GET", path, None, 200)
        seen += [x["id"] for x in answer.json]
        link = answer.headers.get("link")
        path = link[1:link.index(">")] if link else None
    same(seen, ids(userId="bob"))
    for field, wrong in (("status", "DONE"), ("category", "x"), ("limit", 501), ("cursor", "x"),
                         ("nope", 1)):
        has(s.get("/api/schedules", 400, **{field: wrong})["error"], field=field)


@test(clock=START, args=("--workers", "0"))
def histories_are_paged(s):
    one = schedule(s, rrule="FREQ=HOURLY", overlap="allow")
    s.advance(5 * HOUR)
    answer = s.call("GET", f"/api/schedules/{one['id']}/executions?limit=2", None, 200)
    same([e["scheduledFor"] for e in answer.json], [later(START, n * HOUR) for n in (5, 4)])
    path = answer.headers["link"]
    rest = s.call("GET", path[1:path.index(">")], None, 200).json
    same([e["scheduledFor"] for e in rest], [later(START, n * HOUR) for n in (3, 2)])


@test(clock=START)
def calendars_can_be_subscribed_to(s):
    one = schedule(s, rrule="FREQ=WEEKLY;BYDAY=MO;BYHOUR=9;BYMINUTE=0", timezone="Europe/Paris",
                   userId="ann", title="Report; weekly")
    schedule(s, dtstart="2027-04-01T10:00:00", userId="bob", title="Once")
    answer = s.call("GET", f"/api/schedules/{one['id']}.ics", None, 200)
    check(answer.headers["content-type"].startswith("text/calendar"), answer.headers)
    text = answer.body.decode()
    for piece in ("BEGIN:VCALENDAR\r\n", "DTSTART;TZID=Europe/Paris:20270308T090000",
                  "RRULE:FREQ=WEEKLY;BYDAY=MO", "SUMMARY:Report\\; weekly", "BEGIN:VTIMEZONE"):
        check(piece in text, f"{piece} is not in {text}")

    def events(**query):
        where = "&".join(f"{k}={v}" for k, v in query.items())
        return s.call("GET", f"/api/schedules.ics?{where}", None, 200).body.count(b"BEGIN:VEVENT")
    same(events(), 2)
    same(events(userId="bob"), 1)
    same(events(userId="eve"), 0)
    s.get("/api/schedules/0192f300-0000-7000-8000-000000000000.ics", 404)
    s.get("/api/schedules/.ics", 404)
    token = s.nest.run("token", "create", "--role", "read", "--data", s.data).stdout.strip()
    same(s.raw("GET", "/api/schedules.ics").status, 401)
    same(s.raw("GET", f"/api/schedules.ics?access_token={token}").status, 200)
    same(s.raw("GET", f"/api/schedules/{one['id']}.ics?access_token={token}").status, 200)
    same(s.raw("GET", f"/api/schedules?access_token={token}").status, 401)


# ---- Who ----


@test(clock=START)
def a_token_of_a_user_sees_that_user_s_schedules_alone(s):
    token = {role: s.nest.run("token", "create", "--role", role[0], "--data", s.data, *role[1:]).stdout.strip()
             for role in (("admin",), ("read",), ("work",), ("produce", "--user", "ann"))}
    s.token = token[("admin",)]
    headers = {role[0]: {"Authorization": f"Bearer {text}"} for role, text in token.items()}

    def ask(who, method, path, body=None, expect=200):
        return s.call(method, path, body, expect, headers=headers[who])
    rule = {"title": "t", "rrule": "FREQ=HOURLY"}
    hers = ask("produce", "POST", "/api/schedules", rule, 201).json
    same(hers["userId"], "ann")
    ask("produce", "POST", "/api/schedules", {**rule, "userId": "bob"}, 403)
    his = ask("admin", "POST", "/api/schedules", {**rule, "userId": "bob"}, 201).json
    same([x["id"] for x in ask("produce", "GET", "/api/schedules").json], [hers["id"]])
    same(len(ask("read", "GET", "/api/schedules").json), 2)
    ask("produce", "GET", "/api/schedules?userId=bob", None, 403)
    for method, end, body in (("GET", "", None), ("GET", "/next", None), ("GET", "/executions", None),
                              ("PATCH", "", {"title": "x"}), ("DELETE", "", None),
                              ("POST", "/pause", None), ("POST", "/run", None)):
        ask("produce", method, f"/api/schedules/{his['id']}{end}", body, 404)
    ask("produce", "PATCH", f"/api/schedules/{hers['id']}", {"userId": "bob"}, 403)
    run = ask("admin", "POST", f"/api/schedules/{his['id']}/run", None, 202).json["executionId"]
    ask("produce", "GET", f"/api/executions/{run}", None, 404)
    ask("read", "GET", f"/api/executions/{run}")
    ask("read", "POST", "/api/schedules", rule, 403)
    ask("work", "GET", "/api/schedules", None, 403)


@test()
def a_page_may_preview_every_letter_without_a_4xx(s):
    for body, field in (({"text": "buy milk"}, "dtstart"), ({"text": "every day at 9am", "timezone": "Eur"}, "timezone")):
        answer = s.post("/api/schedules/preview?tolerant=true", body, 200)
        has(answer, mode="REFUSAL")
        check(field in answer["refusal"]["fields"] and answer["refusal"]["reason"], answer)
        s.post("/api/schedules/preview", body, 422 if field == "dtstart" else 400)
    has(s.post("/api/schedules/preview?tolerant=true", {"text": "every day at 9am"}, 200), mode="TASK_CREATION")
    s.post("/api/schedules/preview?tolerant=perhaps", {"text": "every day at 9am"}, 400)


main()
