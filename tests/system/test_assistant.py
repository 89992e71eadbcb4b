# tests/system/test_assistant.py: texts become schedules, by the model or by the built-in grammar.
#
# SPDX-License-Identifier: MIT
"""POST /api/assistant, and texts in POST /api/schedules, with a model that may misbehave."""
import threading

from errand import check, has, main, same, test, wait_for
from standins import Llm

START = "2027-03-01T09:00:00Z"  # a Monday
DAILY = {"mode": "TASK_CREATION", "title": "Weather", "description": "The weather, daily",
         "purpose": "Say the weather", "category": "REPORT", "isOneTime": False,
         "rrule": "FREQ=DAILY", "dtstart": "2027-03-02T07:00:00", "timezone": "Europe/Paris",
         "scheduleId": None, "refusal": None}


def smart(nest, llm, **env):
    return nest.server(clock=START, env={
        "ERRAND_LLM_BASE_URL": llm.url, "ERRAND_LLM_MODEL": "small", **env})


def say(s, text, expect=200, headers=None, **fields):
    return s.post("/api/assistant", {"text": text, "userId": "ann", **fields}, expect, headers)


def order(s, title, **fields):
    return s.post("/api/schedules", {"title": title, "rrule": "FREQ=DAILY", "userId": "ann",
                                     "dtstart": "2027-03-02T09:00:00", **fields}, 201)


def show(s, schedule, expect=200):
    return s.get(f"/api/schedules/{schedule['id']}", expect)


# ---- The grammar ----

@test(clock=START)
def without_a_model_the_grammar_creates(s):
    made = say(s, "every Monday at 9am send me the weekly report", 201, timezone="Europe/Paris",
               chatId="c1", messages=[{"role": "user", "content": "hello"}])
    same(made["mode"], "TASK_CREATION")
    has(made["schedule"], rrule="FREQ=WEEKLY;BYDAY=MO;BYHOUR=9;BYMINUTE=0",
        timezone="Europe/Paris", userId="ann", chatId="c1", status="ACTIVE", messages=[{"role": "user", "content": "hello"}])
    has(show(s, made["schedule"]), id=made["schedule"]["id"])


@test(clock=START)
def the_grammar_changes_pauses_resumes_skips_renames_and_deletes(s):
    schedule = order(s, "Daily report")
    moved = say(s, "move my daily report to 8am")
    has(moved, mode="TASK_UPDATE", action="reschedule")
    has(moved["schedule"], id=schedule["id"], nextExecutionTime="2027-03-02T08:00:00.000Z")
    has(say(s, "pause the daily report")["schedule"], status="PAUSED")
    has(say(s, "resume the daily report")["schedule"], status="ACTIVE")
    skipped = say(s, "skip the next daily report")
    has(skipped["schedule"], nextExecutionTime="2027-03-03T08:00:00.000Z")
    has(say(s, "rename my daily report to Morning news")["schedule"], title="Morning news")
    has(say(s, "delete it"), mode="TASK_UPDATE", action="cancel")
    show(s, schedule, 404)


@test(clock=START)
def the_only_schedule_needs_no_name(s):
    schedule = order(s, "Daily report")
    has(say(s, "don't send it on March 5"), action="skip")
    same(show(s, schedule)["exdates"], ["2027-03-05T09:00:00Z"])
    has(say(s, "cancel tomorrow"), action="skip_next")
    has(say(s, "also at 5pm")["schedule"], rrule="FREQ=DAILY;BYHOUR=9,17;BYMINUTE=0")
    paused = say(s, "pause it until 10 March")
    has(paused, action="pause_until")
    has(paused["schedule"], status="PAUSED", resumeAt="2027-03-10T00:00:00.000Z")
    has(say(s, "resume it")["schedule"], status="ACTIVE")
    has(say(s, "switch it to Berlin time")["schedule"], timezone="Europe/Berlin")
    has(say(s, "switch it to Springfield time"), mode="REFUSAL")
    same(len(s.get("/api/schedules")), 1)


@test(clock=START)
def what_is_ambiguous_is_refused_with_the_candidates(s):
    one, other = order(s, "Sales report"), order(s, "Weather report")
    refused = say(s, "pause my report")
    same(refused["mode"], "REFUSAL")
    same(sorted(c["id"] for c in refused["refusal"]["candidates"]), sorted([one["id"], other["id"]]))
    same([show(s, x)["status"] for x in (one, other)], ["ACTIVE", "ACTIVE"])
    has(say(s, "pause it"), mode="REFUSAL")


@test(clock=START)
def it_is_the_only_one_of_the_chat(s):
    order(s, "Sales report", chatId="c1")
    mine = order(s, "Weather report", chatId="c2")
    has(say(s, "pause it", chatId="c2")["schedule"], id=mine["id"], status="PAUSED")


@test(clock=START)
def it_is_the_one_whose_id_was_given(s):
    one, two = order(s, "Report"), order(s, "Report")

    def change(text, expect=200, only=one["id"], user="ann"):
        return s.post(f"/api/assistant?scheduleId={only}", {"text": text, "userId": user}, expect)

    has(change("move it to 8am")["schedule"], id=one["id"], nextExecutionTime="2027-03-02T08:00:00.000Z")
    has(change("every Friday at noon buy fish"), mode="REFUSAL")
    has(change("delete it", user="bob"), mode="REFUSAL")
    has(change("pause it", 400, only="x")["error"], field="scheduleId")
    same(show(s, two), two)
    same(len(s.get("/api/schedules")), 2)


@test(clock=START)
def schedules_of_others_are_not_touched(s):
    theirs = order(s, "Daily report", userId="bob")
    has(say(s, "delete my daily report"), mode="REFUSAL")
    has(show(s, theirs), status="ACTIVE")


@test(clock=START)
def a_text_without_a_time_is_refused(s):
    refused = say(s, "call Ann")
    same(refused["mode"], "REFUSAL")
    check(refused["refusal"]["reason"], refused)
    same(s.get("/api/schedules"), [])


@test(clock=START)
def a_request_that_is_none_is_a_400(s):
    s.post("/api/assistant", {"userId": "ann"}, 400)
    s.post("/api/assistant", {"text": "", "userId": "ann"}, 400)
    s.post("/api/assistant", {"text": "daily at 9", "rrule": "FREQ=DAILY"}, 400)
    s.post("/api/assistant", {"text": "daily at 9", "nonsense": 1}, 400)
    s.post("/api/assistant", {"text": "daily at 9", "timezone": "Mars/Base"}, 400)
    s.post("/api/assistant", {"text": "x" * 9000}, 400)


# ---- The model ----

@test(server=False)
def the_model_reads_the_text_with_conversation_and_schedules(nest):
    llm = Llm(nest)
    s = smart(nest, llm)
    known = order(s, "Known one")
    llm.answer({"json": DAILY})
    made = say(s, "wie wird das Wetter, jeden Tag um sieben", 201, timezone="Europe/Paris",
               messages=[{"role": "user", "content": "I live in Lyon"}])
    has(made["schedule"], title="Weather", purpose="Say the weather", category="REPORT",
        rrule="FREQ=DAILY", timezone="Europe/Paris", taskType="prompt",
        nextExecutionTime="2027-03-02T06:00:00.000Z")
    asked = llm.requests(1)[0]["body"]
    words = [m["content"] for m in asked["messages"]]
    check(known["id"] in words[0] and "Europe/Paris" in words[0] and START[:10] in words[0], words)
    same(words[1:], ["I live in Lyon", "wie wird das Wetter, jeden Tag um sieben"])
    schema = asked["response_format"]["json_schema"]["schema"]
    for field in DAILY:
        check(field in schema["properties"], f"the schema lacks {field}")


@test(server=False)
def where_the_model_and_the_grammar_differ_the_user_is_asked(nest):
    llm = Llm(nest)
    s = smart(nest, llm)
    llm.answer({"json": DAILY})
    refused = say(s, "every day at 9am say the weather", timezone="Europe/Paris")
    same(refused["mode"], "REFUSAL")
    check("09:00" in refused["refusal"]["reason"] and "07:00" in refused["refusal"]["reason"],
          refused)
    same(s.get("/api/schedules"), [])
    llm.answer({"json": DAILY})
    say(s, "every day at 7am say the weather", 201, timezone="Europe/Paris")


@test(server=False)
def the_model_reads_texts_of_schedules_and_previews_too(nest):
    llm = Llm(nest)
    s = smart(nest, llm)
    llm.answer({"json": DAILY}, {"json": DAILY})
    seen = s.post("/api/schedules/preview", {"text": "wetter"})
    has(seen, mode="TASK_CREATION", title="Weather", rrule="FREQ=DAILY", timezone="Europe/Paris")
    made = s.post("/api/schedules", {"text": "wetter", "title": "My own title"}, 201)
    has(made, title="My own title", rrule="FREQ=DAILY")
    llm.answer({"json": {**DAILY, "mode": "REFUSAL", "refusal": {
        "fields": ["dtstart"], "reason": "there is no time"}}})
    refused = s.post("/api/schedules", {"text": "wetter"}, 422)
    same(refused["refusal"], {"fields": ["dtstart"], "reason": "there is no time"})


def judged(nest, wrong, field):
    """A wrong answer is asked again once; right then, it is done; wrong again, it is refused."""
    llm = Llm(nest)
    s = smart(nest, llm)
    llm.answer({"json": {**DAILY, **wrong}}, {"json": DAILY})
    say(s, "weather", 201)
    again = llm.requests(2)[1]["body"]["messages"]
    same(again[-2]["role"], "assistant")
    llm.clear()
    llm.answer({"json": {**DAILY, **wrong}, "times": 2})
    refused = say(s, "weather")
    same(refused["mode"], "REFUSAL")
    same(refused["refusal"]["fields"], [field])
    same(len(llm.requests(2)), 2)
    same(len(s.get("/api/schedules")), 1)


@test(server=False)
def a_rule_that_does_not_parse_is_asked_again_then_refused(nest):
    judged(nest, {"rrule": "FREQ=SOMETIMES"}, "rrule")


@test(server=False)
def a_zone_that_is_none_is_asked_again_then_refused(nest):
    judged(nest, {"timezone": "Mars/Base"}, "timezone")


@test(server=False)
def a_time_in_the_past_is_asked_again_then_refused(nest):
    judged(nest, {"rrule": None, "isOneTime": True, "dtstart": "2020-01-01T00:00:00"}, "dtstart")


@test(server=False)
def no_time_at_all_is_asked_again_then_refused(nest):
    judged(nest, {"rrule": None, "dtstart": None}, "dtstart")


@test(server=False)
def a_mode_that_is_none_is_asked_again_then_refused(nest):
    judged(nest, {"mode": "PERHAPS"}, "mode")


@test(server=False)
def the_model_changes_and_renames(nest):
    llm = Llm(nest)
    s = smart(nest, llm)
    schedule = order(s, "Report")
    none = {key: None for key in DAILY}
    update = {**none, "mode": "TASK_UPDATE", "scheduleId": schedule["id"]}
    llm.answer({"json": {**update, "dtstart": "2027-03-02T07:30:00"}})
    has(say(s, "früher bitte")["schedule"], nextExecutionTime="2027-03-02T07:30:00.000Z")
    llm.answer({"json": {**update, "title": "Bericht"}})
    has(say(s, "nenne es Bericht")["schedule"], title="Bericht", rrule="FREQ=DAILY")
    llm.answer({"json": {**update, "action": "pause"}})
    has(say(s, "Pause")["schedule"], status="PAUSED")
    llm.answer({"json": update})  # what is to be done is understood from the text
    has(say(s, "resume my Bericht")["schedule"], status="ACTIVE")
    llm.answer({"json": {**update, "action": "delete"}})
    say(s, "weg damit")
    show(s, schedule, 404)


@test(server=False)
def the_model_cannot_reach_schedules_of_others(nest):
    llm = Llm(nest)
    s = smart(nest, llm)
    theirs = order(s, "Report", userId="bob")
    llm.answer({"json": {"mode": "TASK_UPDATE", "scheduleId": theirs["id"], "action": "delete"},
                "times": 2})
    has(say(s, "delete it"), mode="REFUSAL")
    has(show(s, theirs), status="ACTIVE")


@test(server=False)
def when_the_model_is_away_or_raves_the_grammar_answers(nest):
    llm = Llm(nest)
    s = smart(nest, llm)
    for trouble in ({"status": 500}, {"raw": "<html>"}, {"text": "no JSON"}, {"status": 401},
                    {"json": []}, {"cut": 3, "text": "hello"}):
        llm.clear()
        llm.answer({"times": 0, **trouble})
        made = say(s, "every day at 8am water the plants", 201)
        has(made["schedule"], rrule="FREQ=DAILY;BYHOUR=8;BYMINUTE=0")
    llm.stop()
    say(s, "every day at 8am feed the cat", 201)
    s.post("/api/schedules", {"text": "tomorrow at noon call Ann"}, 201)


# ---- Streams ----

@test(server=False)
def whoever_wants_to_watch_gets_steps_and_then_the_end(nest):
    llm = Llm(nest)
    s = smart(nest, llm)
    llm.answer({"json": {**DAILY, "rrule": "FREQ=SOMETIMES"}}, {"json": DAILY})
    answer = s.raw("POST", "/api/assistant", {"text": "weather", "userId": "ann"},
                   {"Accept": "text/event-stream"})
    same(answer.status, 200)
    check(answer.headers["content-type"].startswith("text/event-stream"), answer.headers)
    events = [dict(line.split(": ", 1) for line in block.split("\n"))
              for block in answer.body.decode().strip().split("\n\n")]
    same({e["event"] for e in events[:-1]}, {"step"})
    check(any("again" in e["data"] for e in events), events)
    same(events[-1]["event"], "done")
    check('"mode":"TASK_CREATION"' in events[-1]["data"], events[-1])


@test(server=False)
def a_watcher_that_leaves_changes_nothing(nest):
    llm = Llm(nest)
    s = smart(nest, llm)
    llm.answer({"json": DAILY, "hold": 0})
    wire = s.wire()
    body = b'{"text":"weather","userId":"ann"}'
    wire.send(b"POST /api/assistant HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n"
              b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
    llm.requests(1)
    wire.close()
    llm.release()
    wait_for(lambda: len(s.get("/api/schedules")) == 1, "the schedule")


@test(server=False)
def a_model_that_hangs_holds_up_nobody(nest):
    llm = Llm(nest)
    s = smart(nest, llm)
    llm.answer({"json": DAILY, "hold": 0})
    asking = threading.Thread(target=lambda: say(s, "weather", 201))
    asking.start()
    llm.requests(1)
    s.create("noop")
    s.get("/api/schedules")
    llm.release()
    asking.join()


@test(server=False)
def a_server_that_stops_gives_up_asking(nest):
    llm = Llm(nest)
    s = smart(nest, llm, ERRAND_WORKERS_GRACE="0s")
    llm.answer({"json": DAILY, "hold": 0})
    wire = s.wire()
    body = b'{"text":"weather"}'
    wire.send(b"POST /api/assistant HTTP/1.1\r\nHost: localhost\r\n"
              b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
    llm.requests(1)
    s.terminate()


# ---- Tokens ----

@test(server=False)
def a_token_of_a_user_speaks_for_that_user(nest):
    s = nest.server(clock=START)
    theirs = order(s, "Daily report", userId="bob")
    s.token = nest.run("token", "create", "--role", "produce", "--user", "ann", "--data",
                       s.data).stdout.strip()
    s.post("/api/assistant", {"text": "every day at 8 run", "userId": "bob"}, 403)
    made = s.post("/api/assistant", {"text": "every day at 8am go for a run"}, 201)
    has(made["schedule"], userId="ann")
    has(s.post("/api/assistant", {"text": "delete my daily report"}), mode="REFUSAL")
    show(s, theirs, 404)


if __name__ == "__main__":
    main()
