# tests/system/test_schedule_cli.py: schedules from the command line.
#
# SPDX-License-Identifier: MIT
import json

from errand import START, UUID7, check, has, main, parse_time, same, test

DAY = 24 * 3600000
NOBODY = "0192f3a1-7c1e-7000-8000-000000000001"


def order(s, *arguments):
    return json.loads(s.cli("schedule", *arguments, "--json"))


def refused(s, *arguments, expect=1):
    """What it says on standard error."""
    run = s.nest.run(*arguments, expect=expect, env={"ERRAND_URL": f"http://127.0.0.1:{s.port}"})
    check(run.stderr.startswith("errand: "), run.stderr)
    return run.stderr


def holds(said, *parts):
    for part in parts:
        check(part in said, f"{part!r} is not in:\n{said}")


# ---- Creating ----


@test(clock=START)
def a_sentence_becomes_a_schedule(s):
    said = s.cli("schedule", "every Monday at 9am water the plants", "--timezone", "Europe/Paris",
                 "--user", "u", "--delivery", "EMAIL,WEB", "--to", "a@example.org")
    holds(said, "Every Monday at 09:00, Europe/Paris", "water the plants",
          "2027-03-08T09:00:00+01:00", "2027-04-05T09:00:00+02:00")
    one, = s.get("/api/schedules")
    holds(said, one["id"])
    same(said.count("T09:00:00"), 5, "dates shown")
    has(one, userId="u", timezone="Europe/Paris", delivery=["EMAIL", "WEB"],
        deliverTo={"EMAIL": "a@example.org"})


@test(clock=START)
def words_need_no_quotes_and_an_address_says_its_channel(s):
    has(order(s, "tomorrow", "at", "5pm", "call", "mom", "--to", "https://ntfy.example/t",
              "--to", "a@example.org"),
        isOneTime=True, title="call mom", delivery=["EMAIL", "MOBILE"],
        deliverTo={"MOBILE": "https://ntfy.example/t", "EMAIL": "a@example.org"})


@test(clock=START)
def a_refusal_says_why(s):
    holds(refused(s, "schedule", "remind me soon"), "vague")
    check(refused(s, "schedule", "buy milk"))
    check(refused(s, "schedule", "every day at 9", "--timezone", "Mars/Olympus"))
    check(refused(s, "schedule", "--title", "t", "--rrule", "FREQ=SOMETIMES"))
    check(refused(s, "schedule", "--title", "t", "--at", "2020-01-01T00:00:00"))
    same(s.get("/api/schedules"), [])


@test(clock=START)
def rules_times_and_cron_are_taken_as_they_are(s):
    has(order(s, "--title", "Backup", "--cron", "30 2 * * *", "--type", "backup",
              "--payload", '{"all":true}', "--queue", "q", "--priority", "HIGH", "--category", "REPORT"),
        title="Backup", taskType="backup", payload={"all": True}, queue="q", priority="HIGH",
        category="REPORT", nextExecutionTime="2027-03-02T02:30:00.000Z")
    has(order(s, "--title", "Daily", "--rrule", "FREQ=DAILY", "--at", "2027-03-05T10:00:00"),
        rrule="FREQ=DAILY", nextExecutionTime="2027-03-05T10:00:00.000Z")
    holds(s.cli("schedule", "--title", "Once", "--at", "2027-03-05T10:00:00"),
          "Once", "2027-03-05T10:00:00+00:00")


@test(server=False)
def wrong_usage_of_schedules_is_2(nest):
    for arguments in (("schedule",), ("schedule", "--explain"), ("schedule", "--title", "t"),
                      ("schedule", "every day at 9", "--rrule", "FREQ=DAILY"),
                      ("schedule", "every day at 9", "--payload", "{"),
                      ("schedule", "every day at 9", "--now", "2027-03-01T09:00:00"),
                      ("schedule", "every day at 9", "--to", "a@b", "--to", "c@d"),
                      ("schedule", "show"), ("schedule", "next", "x", "-n", "0"),
                      ("schedule", "edit", "x"), ("schedule", "edit", "x", "at 8", "--title", "t"),
                      ("schedules", "--month", "March")):
        run = nest.run(*arguments, expect=2)
        check(run.stderr.strip() and not run.stdout.strip(), f"{arguments}: {run}")
    for verb in ("show", "next", "run", "pause", "resume", "edit", "rm", "history"):
        holds(nest.run("schedule", verb, "--help").stdout, f"Usage: errand schedule {verb} ID")
    holds(nest.run("completion", "words", "--", "schedule", "h").stdout, "history")
    holds(nest.run("completion", "words", "--", "schedules", "--c").stdout, "--calendar")


# ---- Looking ----


@test(clock=START)
def schedules_are_listed_and_narrowed(s):
    one = order(s, "every Monday at 9am plants", "--user", "u")
    two = order(s, "every day at 8am news")
    s.cli("schedule", "pause", two["id"])
    said = s.cli("schedules")
    holds(said, one["id"], two["id"], "Every Monday at 09:00", "PAUSED", "2027-03-08T09:00:00.000Z")
    same([x["id"] for x in json.loads(s.cli("schedules", "--json"))], [two["id"], one["id"]])
    same([x["id"] for x in json.loads(s.cli("schedules", "--status", "PAUSED", "--json"))], [two["id"]])
    same([x["id"] for x in json.loads(s.cli("schedules", "--user", "u", "--json"))], [one["id"]])
    same(json.loads(s.cli("schedules", "--category", "ANALYSIS", "--json")), [])
    same(len(json.loads(s.cli("schedules", "--limit", "1", "--json"))), 1)
    check(refused(s, "schedules", "--status", "NOPE"))


@test(clock=START)
def one_schedule_is_shown_with_its_month(s):
    one = order(s, "every Monday at 9am plants", "--timezone", "Europe/Paris")
    said = s.cli("schedule", "show", one["id"])
    holds(said, "Every Monday at 09:00, Europe/Paris", "ACTIVE", one["rrule"], "2027-03\n",
          " 8*", "15*", "22*", "29*", "Mon  8  09:00  plants")
    check("9*" not in said.replace("29*", ""), said)
    same(json.loads(s.cli("schedule", "show", one["id"], "--json"))["id"], one["id"])
    holds(refused(s, "schedule", "show", NOBODY), "no such schedule")


@test(clock=START)
def the_next_times_are_printed_in_the_schedules_zone(s):
    one = order(s, "every Monday at 9am plants", "--timezone", "Europe/Paris")
    same(s.cli("schedule", "next", one["id"], "-n", "2"),
         "2027-03-08T09:00:00+01:00\n2027-03-15T09:00:00+01:00\n")
    same(len(s.cli("schedule", "next", one["id"]).splitlines()), 10)
    same(json.loads(s.cli("schedule", "next", one["id"], "-n", "1", "--json")),
         [{"utc": "2027-03-08T08:00:00.000Z", "local": "2027-03-08T09:00:00+01:00"}])


@test(clock=START)
def a_calendar_marks_the_days_with_runs(s):
    same(s.cli("schedules", "--calendar"), "nothing is going to run\n")
    order(s, "every Monday at 9am plants")
    order(s, "--title", "Often", "--rrule", "FREQ=DAILY;COUNT=3;BYHOUR=10,11;BYMINUTE=0;BYSECOND=0")
    paused = order(s, "every day at 8am news")
    s.cli("schedule", "pause", paused["id"])
    said = s.cli("schedules", "--calendar")
    holds(said, " Mo  Tu  We  Th  Fr  Sa  Su\n  1*  2*  3   4   5   6   7\n  8*  9 ",
          "Mon  1  10:00  Often  (2 times that day)\nTue  2  10:00  Often\nMon  8  09:00  plants")
    check("news" not in said, said)
    said = s.cli("schedules", "--calendar", "--month", "2027-05")
    holds(said, "2027-05\n", "\n" + " " * 20 + "  1   2\n  3*", " 31*\n", "Mon 31  09:00  plants")
    holds(s.cli("schedules", "--month", "2027-02"), "28\n", "nothing is going to run in this month")
    check("1000" not in s.cli("schedules", "--calendar"), "all of the month is known")
    order(s, "--title", "Beat", "--rrule", "FREQ=MINUTELY")
    holds(s.cli("schedules", "--calendar"), "Beat", "the next 1000 runs are shown")
    same([(x["date"], x["time"], x["count"]) for x in
          json.loads(s.cli("schedules", "--calendar", "--json")) if x["title"] == "Often"],
         [("2027-03-01", "10:00", 2), ("2027-03-02", "10:00", 1)])


# ---- Steering ----


@test(clock=START)
def schedules_are_paused_resumed_and_removed(s):
    one, two = order(s, "every Monday at 9am plants"), order(s, "every day at 8am news")
    same(s.cli("schedule", "pause", one["id"], two["id"], "--reason", "holidays"),
         f"{one['id']}  PAUSED\n{two['id']}  PAUSED\n")
    has(s.get(f"/api/schedules/{one['id']}"), status="PAUSED", pausedReason="holidays")
    holds(s.cli("schedule", "show", one["id"]), "holidays")
    holds(s.cli("schedule", "resume", one["id"]), "ACTIVE")
    holds(refused(s, "schedule", "rm", NOBODY, one["id"]), NOBODY)
    same([x["id"] for x in s.get("/api/schedules")], [two["id"]])
    same(s.cli("schedule", "rm", two["id"]), f"{two['id']}  removed\n")


@test(clock=START)
def a_run_is_in_the_history(s):
    one = order(s, "--title", "Work", "--rrule", "FREQ=DAILY", "--type", "work")
    same(s.cli("schedule", "history", one["id"], "--json"), "[]\n")
    run = s.cli("schedule", "run", one["id"]).split()[1]
    check(UUID7.match(run), run)
    s.complete(s.claim_one(), result="all done")
    s.advance(DAY)
    said = s.cli("schedule", "history", one["id"])
    holds(said, "SUCCESS", run, "all done", "RUNNING", "2027-03-02T09:00:00.000Z")
    same([x["status"] for x in json.loads(s.cli("schedule", "history", one["id"], "--json"))],
         ["RUNNING", "SUCCESS"])


@test(clock=START)
def a_sentence_changes_the_schedule_that_is_named(s):
    one = order(s, "every Monday at 9am plants", "--timezone", "Europe/Paris", "--user", "u")
    two = order(s, "every Monday at 9am plants", "--timezone", "Europe/Paris", "--user", "u")
    holds(s.cli("schedule", "edit", one["id"], "move it to 8am"),
          "Every Monday at 08:00, Europe/Paris", "2027-03-08T08:00:00+01:00")
    holds(s.cli("schedule", "edit", one["id"], "pause it"), "PAUSED")
    same(s.get(f"/api/schedules/{two['id']}"), two)
    check(refused(s, "schedule", "edit", one["id"], "every Friday at noon buy fish"))
    check(refused(s, "schedule", "edit", one["id"], "hello"))
    check(refused(s, "schedule", "edit", NOBODY, "move it to 8am"))
    same(len(s.get("/api/schedules")), 2)
    same(s.cli("schedule", "edit", two["id"], "delete it"), "removed\n")
    same([x["id"] for x in s.get("/api/schedules")], [one["id"]])


@test(clock=START)
def fields_are_changed_one_by_one(s):
    one = order(s, "every Monday at 9am plants")
    has(json.loads(s.cli("schedule", "edit", one["id"], "--title", "Flowers", "--json")),
        title="Flowers", rrule=one["rrule"])
    holds(s.cli("schedule", "edit", one["id"], "--rrule", "FREQ=DAILY;BYHOUR=7;BYMINUTE=0",
                "--timezone", "Asia/Tokyo"), "Every day at 07:00, Asia/Tokyo", "Flowers")
    check(refused(s, "schedule", "edit", one["id"], "--rrule", "FREQ=NEVER"))


EVERY = ("--description", "d", "--purpose", "p", "--category", "report", "--user", "u", "--timezone", "Asia/Tokyo", "--without",
         "2027-03-02T09:00:00", "--also", "2027-03-02T10:00:00", "--overlap", "queue", "--misfire", "all", "--dst-gap", "skip",
         "--dst-fold", "both", "--jitter", "5m", "--type", "t", "--payload", "[1]", "--queue", "q", "--priority", "high", "--doc", "x",
         "--max-retries", "7", "--timeout", "1m", "--delivery", "email,web", "--delivery-title", "dt", "--to", "a@example.org")
FIELDS = {"description": "d", "purpose": "p", "category": "REPORT", "userId": "u", "timezone": "Asia/Tokyo",
          "exdates": ["2027-03-02T09:00:00"], "rdates": ["2027-03-02T10:00:00"], "overlap": "queue", "misfire": "all",
          "dstGap": "skip", "dstFold": "both", "jitterMs": 300000, "taskType": "t", "payload": [1], "queue": "q", "priority": "HIGH",
          "documentId": "x", "maxRetries": 7, "timeoutMs": 60000, "delivery": ["EMAIL", "WEB"], "deliveryTitle": "dt",
          "deliverTo": {"EMAIL": "a@example.org"}}


DEFAULTS = {"queue": "queue", "priority": "priority", "max-retries": "maxRetries", "timeout": "timeoutMs", "overlap": "overlap",
            "misfire": "misfire", "dst-gap": "dstGap", "dst-fold": "dstFold", "jitter": "jitterMs", "delivery": "delivery",
            "category": "category"}


@test(clock=START)
def editing_takes_what_making_takes_and_clears_it(s):
    has(order(s, "--title", "made", "--cron", "0 9 * * *", *EVERY), **FIELDS)
    one = order(s, "--title", "plain", "--at", "2027-03-05T09:00:00")
    has(json.loads(s.cli("schedule", "edit", one["id"], "--cron", "0 9 * * *", "--title", "changed", *EVERY, "--json")),
        title="changed", **FIELDS)
    cleared = json.loads(s.cli("schedule", "edit", "@last", "--clear", "doc", "--clear", "without", "--clear", "to", "--clear", "purpose",
                               "--json"))
    has(cleared, documentId=None, exdates=None, deliverTo=None, purpose=None, queue="q", rdates=["2027-03-02T10:00:00"])
    plain = json.loads(s.cli("schedule", "edit", "@last", *(word for name in DEFAULTS for word in ("--clear", name)), "--json"))
    has(plain, **{DEFAULTS[name]: one[DEFAULTS[name]] for name in DEFAULTS})
    holds(refused(s, "schedule", "edit", "@last", "--clear", "title"), "title must be a string")
    holds(refused(s, "schedule", "edit", "@last", "--clear", "dok", expect=2), "did you mean doc?")
    holds(refused(s, "schedule", "edit", "@last", "--overlap", "maybe"), "overlap")
    refused(s, "schedule", "edit", "@last", "move it to 8am", "--queue", "x", expect=2)
    made = s.cli("schedule", "--help"), s.cli("schedule", "edit", "--help")
    for option in EVERY[::2]:
        check(all(option in text for text in made), f"{option} is not explained")


@test()
def a_schedule_begins_at_a_date_or_after_a_while(s):
    day = order(s, "--title", "t", "--at", "2031-03-01", "--timezone", "Asia/Tokyo")
    has(s.get(f"/api/schedules/{day['id']}"), nextExecutionTime="2031-02-28T15:00:00.000Z")
    soon = order(s, "--title", "t", "--at", "2h", "--timezone", "Asia/Tokyo")
    ahead = parse_time(soon["nextExecutionTime"]) - parse_time(soon["createdAt"])
    check(7000000 < ahead <= 7200000, f"two hours, not {ahead} ms")
    exact = order(s, "--title", "t", "--at", "2031-03-01T09:00:00", "--timezone", "Asia/Tokyo")
    has(s.get(f"/api/schedules/{exact['id']}"), nextExecutionTime="2031-03-01T00:00:00.000Z")
    same(len(json.loads(s.cli("schedules", "--status", "active", "--category", "others", "--json"))), 3)


@test(clock=START)
def a_window_of_the_past_is_made_up_for(s):
    one = order(s, "--title", "t", "--cron", "0 * * * *", "--type", "none", "--misfire", "skip", "--overlap", "allow", "--timezone", "UTC")
    s.cli("schedule", "pause", one["id"], "--until", "2027-03-01T15:00:00Z")
    holds(s.cli("schedule", "show", one["id"]), "resumes   2027-03-01T15:00:00.000Z")
    has(s.get(f"/api/schedules/{one['id']}"), status="PAUSED", resumeAt="2027-03-01T15:00:00.000Z")
    s.post("/api/test/clock", {"set": "2027-03-01T14:30:00Z"}, 200)
    holds(s.cli("schedule", "backfill", one["id"], "--from", "2027-03-01T10:30:00Z", "--to", "2027-03-01T13:30:00Z"), "  3")
    same(len(s.get("/api/tasks?taskType=none")), 3)
    refused(s, "schedule", "backfill", one["id"], "--from", "1h", expect=2)


main()
