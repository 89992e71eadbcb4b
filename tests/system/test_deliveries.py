# tests/system/test_deliveries.py: what becomes of the runs of schedules: deliveries, notifications,
# costs, and runs that an outside scheduler asks for.
#
# SPDX-License-Identifier: MIT
"""Deliveries of schedules, against a stand-in model and a real SMTP server."""
import re

from errand import check, has, main, same, test, wait_for
from sink import Sink
from standins import Llm, Smtp

START = "2027-03-01T09:00:00Z"
DAY = 86400000
HOUR = 3600000
SECRET = "a secret of the outside"


def serve(nest, llm=None, smtp=None, clock=START, **env):
    if llm:
        env.update({"ERRAND_LLM_BASE_URL": llm.url, "ERRAND_LLM_MODEL": "small"})
    if smtp:
        env.update({"ERRAND_SMTP_URL": smtp.url, "ERRAND_SMTP_FROM": "errand@example.org"})
    return nest.server(clock=clock, env={"ERRAND_PUSH_ALLOW_PRIVATE": "yes",
                                         "ERRAND_EXECUTE_SECRET": SECRET, **env})


def order(s, **fields):
    return s.post("/api/schedules", {"title": "News", "rrule": "FREQ=DAILY", "userId": "ann",
                                     **fields}, 201)


def runs(s, schedule):
    return s.get(f"/api/schedules/{schedule['id']}/executions")


def delivered(s, schedule):
    """Its last run, once everything was delivered."""
    wait_for(lambda: runs(s, schedule) and runs(s, schedule)[0]["isDelivered"], "the deliveries")
    return runs(s, schedule)[0]


# ---- Deliveries ----

@test(server=False)
def a_run_reaches_its_user_on_every_channel(nest):
    llm, smtp, sink = Llm(nest), Smtp(nest), Sink(nest)
    llm.answer({"text": "It **rains**."})
    s = serve(nest, llm, smtp)
    schedule = order(s, purpose="Say the weather", delivery=["EMAIL", "WEB", "MOBILE"],
                     deliveryTitle="Weather", deliverTo={"EMAIL": "ann@example.org",
                                                         "MOBILE": sink.url})
    s.advance(DAY)
    run = delivered(s, schedule)
    has(run, status="SUCCESS", content="It **rains**.", queries=1, tokens=18, isDelivered=True)
    same({c: d["status"] for c, d in run["deliveries"].items()},
         {"EMAIL": "COMPLETED", "WEB": "COMPLETED", "MOBILE": "COMPLETED"})
    check(run["progress"], "no steps")
    mail = smtp.mails(1)[0]
    same((mail["to"], mail["headers"]["Subject"]), (["ann@example.org"], "Weather"))
    same(mail["headers"]["Message-ID"], f"<{run['id']}.EMAIL@example.org>")
    check("<strong>rains</strong>" in mail["parts"]["text/html"], mail["parts"])
    same((sink.came[0]["headers"]["Title"], sink.came[0]["body"]), ("Weather", "It **rains**."))
    told = s.get("/api/notifications", userId="ann")
    same(len(told), 1)
    has(told[0], title="Weather", content="It **rains**.", read=False, scheduleId=schedule["id"],
        executionId=run["id"])
    tasks = {t["taskType"]: t for t in s.list(scheduleId=schedule["id"])}
    same(sorted(tasks), ["deliver.email", "deliver.mobile", "deliver.web", "prompt"])
    same(tasks["deliver.email"]["idempotencyKey"], f"deliver:{run['id']}:EMAIL")
    same(tasks["deliver.email"]["queue"], "deliveries")


@test(server=False)
def a_run_sees_the_conversation_and_what_earlier_runs_said(nest):
    llm = Llm(nest)
    llm.answer({"text": "first answer"}, {"text": "second answer"})
    s = serve(nest, llm)
    schedule = order(s, purpose="Go on", messages=[{"role": "user", "content": "I like trains"}])
    s.advance(DAY)
    s.advance(DAY)
    wait_for(lambda: len(runs(s, schedule)) == 2 and runs(s, schedule)[0]["status"] == "SUCCESS",
             "two runs")
    asked = [m["content"] for m in llm.requests(2)[1]["body"]["messages"]]
    check("I like trains" in asked and "first answer" in asked and asked[-1] == "Go on", asked)


@test(server=False)
def without_a_model_a_reminder_is_delivered(nest):
    s = serve(nest)
    schedule = order(s, title="Call Ann", purpose="about the house")
    s.advance(DAY)
    delivered(s, schedule)
    told = s.get("/api/notifications", userId="ann")[0]
    has(told, title="Call Ann", content="Call Ann\n\nabout the house")


@test(server=False)
def a_channel_without_a_sender_or_an_address_fails_visibly_and_alone(nest):
    s = serve(nest)
    schedule = order(s, delivery=["EMAIL", "WEB", "MOBILE"],
                     deliverTo={"EMAIL": "ann@example.org"})
    s.advance(DAY)
    wait_for(lambda: all(d["status"] in ("COMPLETED", "FAILED")
                         for d in runs(s, schedule)[0]["deliveries"].values()), "the ends")
    run = runs(s, schedule)[0]
    has(run, status="SUCCESS", isDelivered=False)
    has(run["deliveries"]["EMAIL"], status="FAILED", attempts=1)
    check("mail server" in run["deliveries"]["EMAIL"]["error"], run)
    check("MOBILE" in run["deliveries"]["MOBILE"]["error"], run)
    same(run["deliveries"]["WEB"]["status"], "COMPLETED")


@test(server=False)
def a_mail_server_that_is_away_delays_its_channel_only(nest):
    smtp = Smtp(nest)
    smtp.refuse("451 4.3.0 later")
    s = serve(nest, smtp=smtp)
    schedule = order(s, delivery=["EMAIL", "WEB"], deliverTo={"EMAIL": "ann@example.org"})
    s.advance(DAY)
    wait_for(lambda: runs(s, schedule)[0]["deliveries"]["EMAIL"]["status"] == "RETRYING", "a retry")
    has(runs(s, schedule)[0]["deliveries"]["EMAIL"], attempts=1)
    wait_for(lambda: len(s.get("/api/notifications", userId="ann")) == 1, "the notification")
    s.advance(6000)
    run = delivered(s, schedule)
    has(run["deliveries"]["EMAIL"], status="COMPLETED", attempts=2)
    same(len(smtp.mails(1)), 1)


@test(server=False)
def a_failed_delivery_can_be_retried_by_hand(nest):
    sink = Sink(nest)
    sink.answers = [(404, {})]
    s = serve(nest)
    schedule = order(s, delivery=["MOBILE"], deliverTo={"MOBILE": sink.url})
    s.advance(DAY)
    wait_for(lambda: runs(s, schedule)[0]["deliveries"]["MOBILE"]["status"] == "FAILED", "the end")
    s.retry({"id": runs(s, schedule)[0]["deliveries"]["MOBILE"]["taskId"]})
    has(delivered(s, schedule)["deliveries"]["MOBILE"], status="COMPLETED", attempts=2)


@test(server=False)
def a_kill_between_run_and_delivery_loses_and_doubles_nothing(nest):
    smtp = Smtp(nest)
    smtp.script({"at": "DATA", "hold": True})
    s = serve(nest, smtp=smtp, clock=None)
    schedule = order(s, delivery=["EMAIL", "WEB"], deliverTo={"EMAIL": "ann@example.org"})
    s.post(f"/api/schedules/{schedule['id']}/run", None, 202)
    smtp.book(1)  # the mail is on its way
    s.kill()
    smtp.clear()
    s.restart()
    wait_for(lambda: runs(s, schedule)[0]["isDelivered"], "the deliveries", 60)
    same(len(s.get("/api/notifications", userId="ann")), 1)
    ids = {m["headers"]["Message-ID"] for m in smtp.mails(1)}
    same(len(ids), 1)


@test(server=False)
def narrow_workers_still_deliver(nest):
    s = serve(nest, ERRAND_WORKERS_QUEUES="special")
    schedule = order(s, queue="special")
    s.advance(DAY)
    delivered(s, schedule)


# ---- Notifications ----

def tell(s, *users):
    """A notification for each of them, in this order."""
    for user in users:
        schedule = s.post("/api/schedules", {
            "title": f"for {user}", "dtstart": "2099-01-01T00:00:00", "userId": user}, 201)
        s.post(f"/api/schedules/{schedule['id']}/run", None, 202)
        delivered(s, schedule)


@test()
def notifications_are_listed_read_and_followed(s):
    stream = s.stream("/api/notifications/stream?userId=ann")
    everybody = s.stream("/api/notifications/stream")
    tell(s, "ann", "bob", "ann")
    first, second = [stream.next() for _ in range(2)]
    same((first[0], second[0]), ("notification", "notification"))
    same([everybody.next()[2]["userId"] for _ in range(3)], ["ann", "bob", "ann"])
    mine = s.get("/api/notifications", userId="ann")
    same([n["id"] for n in mine], [second[2]["id"], first[2]["id"]])
    same(len(s.get("/api/notifications")), 3)
    same([n["id"] for n in s.get("/api/notifications", userId="ann", after=mine[1]["id"])],
         [mine[0]["id"]])
    read = s.post(f"/api/notifications/{mine[0]['id']}/read")
    check(read["read"] and read["readAt"], read)
    same(s.post(f"/api/notifications/{mine[0]['id']}/read")["readAt"], read["readAt"])
    same([n["id"] for n in s.get("/api/notifications", userId="ann", unread="true")],
         [mine[1]["id"]])


@test()
def notifications_that_are_not_there_and_questions_that_are_none(s):
    s.post("/api/notifications/0192f3a0-0000-7000-8000-000000000000/read", None, 404)
    s.post("/api/notifications/nonsense/read", None, 404)
    s.get("/api/notifications", 400, unread="perhaps")
    s.get("/api/notifications", 400, after="x")
    s.get("/api/notifications", 400, more="x")
    same(s.get("/api/notifications", userId="nobody"), [])


# ---- Costs ----

@test(server=False)
def costs_are_summed_by_user_and_schedule(nest):
    llm = Llm(nest)
    s = serve(nest, llm)
    one, other = order(s), order(s, title="Other")
    order(s, userId="bob")
    s.advance(DAY)
    s.advance(DAY)
    wait_for(lambda: s.get("/api/usage")["queries"] == 6, "six runs")
    mine = s.get("/api/usage", userId="ann")
    same((mine["queries"], mine["tokens"]), (4, 72))
    same({p["scheduleId"]: (p["queries"], p["tokens"]) for p in mine["bySchedule"]},
         {one["id"]: (2, 36), other["id"]: (2, 36)})
    same(s.get("/api/usage", userId="ann", **{"from": "2027-03-03"})["queries"], 2)
    same(s.get("/api/usage", userId="ann", to="2027-03-03T00:00:00Z")["queries"], 2)
    same(s.get("/api/usage", userId="nobody"), {"queries": 0, "tokens": 0, "bySchedule": []})
    s.get("/api/usage", 400, to="yesterday")


@test(server=False)
def over_its_limit_a_user_waits_for_the_next_day(nest):
    s = serve(nest, Llm(nest), ERRAND_LIMITS_QUERIES_PER_USER_PER_DAY="3")
    schedule = order(s, rrule="FREQ=HOURLY")
    free = order(s, rrule="FREQ=DAILY", userId="bob")
    for _ in range(5):
        s.advance(HOUR)
    has(s.get(f"/api/schedules/{schedule['id']}"), status="PAUSED")
    check("limit" in s.get(f"/api/schedules/{schedule['id']}")["pausedReason"], "no reason")
    same(len(runs(s, schedule)), 3)
    s.set_clock("2027-03-02T01:30:00Z")
    has(s.get(f"/api/schedules/{schedule['id']}"), status="ACTIVE")
    check("pausedReason" not in s.get(f"/api/schedules/{schedule['id']}"), "the reason stayed")
    wait_for(lambda: len(runs(s, schedule)) > 3, "runs of the next day")
    has(s.get(f"/api/schedules/{free['id']}"), status="ACTIVE")


@test(server=False)
def a_run_that_is_asked_for_beyond_the_limit_never_reaches_the_model(nest):
    llm = Llm(nest)
    s = serve(nest, llm, ERRAND_LIMITS_QUERIES_PER_USER_PER_DAY="2")
    schedule = order(s, rrule="FREQ=HOURLY", dtstart="2027-02-28T00:00:00", overlap="allow")
    path = f"/api/schedules/{schedule['id']}"
    ids = [s.post(path + "/run", None, 202)["executionId"] for _ in range(2)]
    refused = s.call("POST", path + "/run", None, 429)
    check("limit" in refused.error["message"], refused)
    same(refused.headers["retry-after"], str(15 * 3600))  # until the next day
    fire(s, 429, taskId=schedule["id"])
    s.post(path + "/backfill", {"from": "2027-03-01T01:00:00Z", "to": "2027-03-01T02:00:00Z"}, 429)
    for ident in ids:
        has(s.show({"id": ident}, waitMs=30000), state="COMPLETED")
    same(s.get("/api/usage", userId="ann")["queries"], 2)
    same(len(runs(s, schedule)), 2)
    s.post(path + "/run", None, 429)  # what runs have cost is known now: as much as was expected
    same(len(llm.requests(2)), 2)


# ---- Outside schedulers ----

def fire(s, expect=200, headers=None, **fields):
    return s.post("/v1/tasks/execute", {"secret": SECRET, **fields}, expect, headers)


@test(server=False)
def an_outside_scheduler_fires_by_its_secret(nest):
    llm = Llm(nest)
    s = serve(nest, llm)
    schedule = order(s, purpose="as ever", chatId="c1")
    answer = fire(s, taskId=schedule["id"], chatId="c2", purposeOfTask="only now", request={"x": 1})
    check(answer["success"] is True, answer)
    wait_for(lambda: s.get(f"/api/executions/{answer['executionId']}")["status"] == "SUCCESS", "it")
    has(s.get(f"/api/executions/{answer['executionId']}"), chatId="c2",
        content="You said: only now")
    same(s.get(f"/api/schedules/{schedule['id']}")["nextExecutionTime"],
         schedule["nextExecutionTime"])


@test(server=False)
def a_repeat_with_the_same_task_name_answers_the_first(nest):
    s = serve(nest)
    schedule = order(s)
    names = [{"X-CloudTasks-TaskName": n} for n in ("t-1", "t-1", "t-2")]
    ids = [fire(s, headers=h, taskId=schedule["id"])["executionId"] for h in names]
    check(ids[0] == ids[1] != ids[2], ids)


@test(server=False)
def a_wake_up_only_plans_again(nest):
    s = serve(nest)
    schedule = order(s)
    same(fire(s, taskId=schedule["id"], isAWakeUpCall=True),
         {"success": True, "isWakeUpCall": True})
    check(all(r["status"] == "WAKE_UP" for r in runs(s, schedule)), runs(s, schedule))


@test(server=False)
def without_the_secret_nothing_is_told(nest):
    s = serve(nest)
    schedule = order(s)
    for secret in ("", "wrong", None, 7, SECRET + "x", SECRET[:-1]):
        fire(s, 401, secret=secret, taskId=schedule["id"])
        fire(s, 401, secret=secret, taskId="0192f3a0-0000-7000-8000-000000000000")
    s.post("/v1/tasks/execute", {"taskId": schedule["id"]}, 401)
    fire(s, 404, taskId="0192f3a0-0000-7000-8000-000000000000")
    fire(s, 404, taskId="nonsense")
    fire(s, 400)
    fire(s, 400, taskId=schedule["id"], isAWakeUpCall="yes")
    same(runs(s, schedule), [])


@test(server=False)
def without_a_configured_secret_nobody_fires(nest):
    s = nest.server()
    schedule = order(s)
    for secret in ("", SECRET):
        s.post("/v1/tasks/execute", {"taskId": schedule["id"], "secret": secret}, 401)


# ---- Tokens ----

@test(server=False)
def a_token_of_a_user_sees_that_users_notifications_and_costs(nest):
    s = serve(nest, clock=None)
    tell(s, "ann", "bob")
    theirs = s.get("/api/notifications", userId="bob")[0]["id"]
    ann = nest.run("token", "create", "--role", "produce", "--user", "ann", "--data",
                   s.data).stdout.strip()
    s.token = ann
    same([n["userId"] for n in s.get("/api/notifications")], ["ann"])
    s.get("/api/notifications", 403, userId="bob")
    s.get("/api/notifications/stream", 403, userId="bob")
    s.get("/api/usage", 403, userId="bob")
    same(len(s.get("/api/usage")["bySchedule"]), 1)
    s.post(f"/api/notifications/{theirs}/read", None, 404)
    s.token = None
    s.get("/api/notifications", 401)
    schedule = {"id": "0192f3a0-0000-7000-8000-000000000000"}
    fire(s, 404, taskId=schedule["id"])  # the secret suffices without a token


@test(clock=START)
def the_run_of_a_schedule_shows_how_it_was_delivered(s):
    schedule = s.post("/api/schedules", {"title": "t", "rrule": "FREQ=HOURLY", "taskType": "noop"}, 201)
    s.advance(3600_000)
    run = s.get(f"/api/schedules/{schedule['id']}/executions")[0]
    web = run["deliveries"]["WEB"]
    has(web, status="COMPLETED", attempts=1)
    check(web["at"] >= run["createdAt"], web["at"])
    same(s.show({"id": run["taskId"]})["deliveries"], run["deliveries"])
    check("deliveries" not in s.show(s.create()), "a task that is no run has none")
    shown = s.cli("show", run["taskId"])
    check(re.search(r"deliveries\n  WEB +COMPLETED +\S", shown), shown)
    check("WEB COMPLETED" in s.cli("schedule", "history", schedule["id"]))


@test()
def a_schedule_that_cannot_be_done_here_is_warned_about(s):
    mail = {"title": "t", "rrule": "FREQ=DAILY", "delivery": ["EMAIL"], "deliverTo": {"EMAIL": "ann@example.org"}}
    made = s.post("/api/schedules", mail, 201)
    same(made["warnings"], ["nothing is delivered by EMAIL: this server has no [smtp]"])
    check("warnings" not in s.get(f"/api/schedules/{made['id']}"), "it is told when it is made")
    check("warnings" not in s.post("/api/schedules", {"title": "t", "rrule": "FREQ=DAILY"}, 201))
    prompt = s.post("/api/schedules", {"title": "t", "rrule": "FREQ=DAILY", "taskType": "prompt"}, 201)
    check("[llm]" in prompt["warnings"][0], prompt["warnings"])
    changed = s.call("PATCH", f"/api/schedules/{prompt['id']}", {"taskType": "noop"}, expect=200).json
    check("warnings" not in changed, changed)
    ran = s.nest.run("schedule", "--title", "t", "--rrule", "FREQ=DAILY", "--delivery", "EMAIL", "--to", "ann@example.org",
                     "--url", f"http://127.0.0.1:{s.port}")
    check("errand: warning: nothing is delivered by EMAIL" in ran.stderr, ran.stderr)


if __name__ == "__main__":
    main()
