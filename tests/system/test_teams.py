# tests/system/test_teams.py: teams whose tasks were given, and agents outside who work on them.
#
# SPDX-License-Identifier: MIT
"""System tests of teams, without a language model."""
import json
import os
import subprocess

from errand import START, UUID7, binary, check, has, main, same, test, together, wait_for
from teams import begin, claim, document, end, ended, mail, say, states, story, task, team


@test()
def a_team_is_begun_worked_on_and_put_together(s):
    answer = s.call("POST", "/api/teams", {
        "prompt": "compare", "teammates": [{"role": "researcher", "focus": "facts"}, {"role": "writer"}],
        "tasks": [task("a", description="find"), task("b"), task("c", "a", "b")]}, 202)
    has(answer.json, status="running", numTeammates=2)
    ident = answer.json["teamId"]
    check(UUID7.match(ident), ident)
    same(answer.json["streamUrl"], f"/api/teams/{ident}/stream")
    same(answer.headers["location"], f"/api/teams/{ident}")
    first, second = claim(s, ident, "researcher"), claim(s, ident, "x")
    has(first, title="A", ref="a", description="find", prompt="compare", workerId="researcher",
        state="RUNNING", teamId=ident, dependencies=[])
    same(second["title"], "B")
    same(claim(s, ident), None, "c is not ready")
    s.complete(first, result="facts")
    s.complete(second, result={"n": 2})
    third = claim(s, ident, "writer")
    same([(d["id"], d["title"], d["result"]) for d in third["dependencies"]],
         [("a", "A", "facts"), ("b", "B", {"n": 2})])
    has(team(s, ident), status="running", tasksDone=2, tasksTotal=3)
    s.complete(third, result="the end")
    found = team(s, ident)
    has(found, status="completed", tasksDone=3, tasksFailed=0, prompt="compare",
        result="## A\n\nfacts\n\n## B\n\n{\"n\": 2}\n\n## C\n\nthe end")
    same([(m["agent"], m["role"], m["tasksDone"], m["status"]) for m in found["teammates"]],
         [("researcher", "researcher", 1, "done"), ("writer", "writer", 1, "done"),
          ("x", "x", 1, "done")])
    same(len(s.list(teamId=ident)), 3)


@test()
def a_prompt_without_tasks_needs_a_language_model(s):
    same(begin(s, expect=422)["code"], "unprocessable")
    same(s.get("/api/teams"), [])


@test()
def a_wrong_split_is_refused_and_named(s):
    def refused(field, *tasks, **fields):
        same(begin(s, *tasks, expect=400, **fields).get("field"), field)
    refused("tasks[1].id", task("a"), task("a"))
    refused("tasks[0].dependsOn", task("a", "b"))
    refused("tasks", task("a", "b"), task("b", "a"))
    refused("tasks", task("a", "a"))
    refused("tasks", task("x"), task("a", "x", "c"), task("b", "a"), task("c", "b"))
    refused("tasks", tasks=[])
    refused("tasks", *[task(f"t{i}") for i in range(51)])
    refused("tasks[0].title", {"id": "a"})
    refused("tasks[0].id", {"title": "a"})
    refused("tasks[0].id", {"id": "", "title": "a"})
    refused("tasks[0].colour", task("a", colour="red"))
    refused("tasks[0].taskId", task("a", taskId="x"))
    refused("tasks[0]", "a")
    refused("tasks", tasks="a")
    refused("teammates", task("a"), teammates=[{"role": "r"}] * 17)
    refused("teammates[0].role", task("a"), teammates=[{"focus": "r"}])
    refused("teammates[1].role", task("a"), teammates=[{"role": "r"}, {"role": "errand:x"}])
    refused("colour", task("a"), colour="red")
    refused("onTaskFailure", task("a"), onTaskFailure="ignore")
    refused("prompt", task("a"), prompt="")
    same(s.call("POST", "/api/teams", {"tasks": [task("a")]}, 400).error["field"], "prompt")
    same(s.get("/api/teams"), [])
    same(s.list(), [])


@test()
def fifty_tasks_in_a_chain_are_run_in_order(s):
    ident = begin(s, *[task(f"t{i}", *([f"t{i - 1}"] if i else [])) for i in range(50)])
    for i in range(50):
        got = claim(s, ident)
        same(got["ref"], f"t{i}")
        s.complete(got, result=i)
    has(team(s, ident), status="completed", tasksDone=50)


@test()
def two_hundred_agents_get_each_task_once(s):
    ident = begin(s, *[task(f"t{i}") for i in range(50)])
    got = together(*[lambda n=n: claim(s, ident, f"agent-{n}") for n in range(200)])
    held = [(t["ref"], t["workerId"]) for t in got if t]
    same(len(held), 50)
    same(len({ref for ref, _ in held}), 50, "different tasks")
    same(len({agent for _, agent in held}), 50, "different agents")
    together(*[lambda t=t: s.complete(t) for t in got if t])
    has(team(s, ident), status="completed")


@test(clock=START)
def a_task_whose_agent_vanished_is_taken_by_another(s):
    ident = begin(s, task("a"))
    first = claim(s, ident, "gone", leaseMs=1000)
    s.advance(1000)
    same(claim(s, ident, "other"), None, "its backoff")
    s.advance(5000)
    second = claim(s, ident, "other")
    same(second["id"], first["id"])
    s.complete(first, expect=409)
    s.complete(second, result="done")
    has(team(s, ident), status="completed")


@test()
def a_waiting_claim_gets_what_becomes_ready_and_nothing_when_the_team_ends(s):
    ident = begin(s, task("a"), task("b", "a"))
    first = claim(s, ident)
    got, _ = together(lambda: claim(s, ident, "a2", waitMs=30000),
                      lambda: s.complete(first, result=1))
    same(got["ref"], "b")
    nothing, _ = together(
        lambda: s.post(f"/api/teams/{ident}/claim", {"agent": "a3", "waitMs": 60000}),
        lambda: (wait_for(lambda: any(w["id"] == "a3" for w in s.get("/api/workers")["workers"])),
                 s.complete(got)))
    same(nothing, {"task": None, "status": "completed"})
    same(s.post(f"/api/teams/{ident}/claim", {"agent": "a3"}), {"task": None, "status": "completed"})


@test()
def one_failed_task_fails_the_team(s):
    ident = begin(s, task("a"), task("b", "a"), task("c"))
    running = claim(s, ident, "x", expect=200)
    other = claim(s, ident, "y")
    s.fail(running, error={"code": "no", "message": "cannot"}, retry=False)
    found = team(s, ident)
    has(found, status="failed", result=None)
    same(found["error"]["code"], "task_failed")
    check("A" in found["error"]["message"] and "cannot" in found["error"]["message"], found["error"])
    same(states(s, ident), {"a": "FAILED", "b": "CANCELLED", "c": "RUNNING"})
    same(s.heartbeat(other)["cancelRequested"], True)


@test()
def with_continue_what_failed_is_named_in_the_result(s):
    ident = begin(s, task("a"), task("b", "a"), task("c"), onTaskFailure="continue")
    s.fail(claim(s, ident), error="cannot", retry=False)
    same(states(s, ident), {"a": "FAILED", "b": "CANCELLED", "c": "QUEUED"})
    s.complete(claim(s, ident), result="well")
    found = team(s, ident)
    has(found, status="completed", tasksDone=1, tasksFailed=2)
    check(found["result"].startswith("## C\n\nwell\n\nNot done:\n- A (FAILED: cannot)\n- B (CANCELLED"),
          found["result"])
    ident = begin(s, task("a"), onTaskFailure="continue")
    s.fail(claim(s, ident), retry=False, error="x")
    found = team(s, ident)
    same((found["status"], found["error"]["code"]), ("failed", "no_results"))


def one(ident):
    return {"id": ident}


@test()
def a_team_holds_its_document_while_its_tasks_run_beside_each_other(s):
    ident = begin(s, task("a"), task("b"), task("c", documentId="other"), task("d", documentId="other"), documentId="book")
    outside = s.create(documentId="book")
    first, second, third = (claim(s, ident, f"a{n}") for n in range(3))
    same([t["ref"] for t in (first, second, third)], ["a", "b", "c"])
    same([t["documentId"] for t in (first, second, third)], ["book", "book", "other"])
    same(claim(s, ident), None, "a document of one's own is had by one at a time")
    same(s.claim(), [])
    held = document(s, "book")
    has(held, locked=True, waiting=[outside["id"]])
    has(s.show(held["taskId"]), taskType="team.document", state="RUNNING", teamId=ident)
    has(s.why(outside)["reasons"][0], code="document_locked", taskId=held["taskId"], since=held["since"])
    for done in (first, second, third):
        s.complete(done)
    same(s.claim(), [], "the team has a task left")
    s.complete(claim(s, ident))
    has(team(s, ident), status="completed")
    same(s.claim_one()["id"], outside["id"])
    has(s.show(held["taskId"]), state="COMPLETED")
    s.retry(one(held["taskId"]), 409)


@test()
def a_team_stands_in_the_line_of_its_document(s):
    before = s.create(documentId="d")
    ident = begin(s, task("a"), task("b"), documentId="d")
    behind = s.create(documentId="d")
    line = document(s, "d")["waiting"]
    same((line[0], line[2]), (before["id"], behind["id"]))
    has(s.show(line[1]), taskType="team.turn", teamId=ident, state="QUEUED")
    waiting = team(s, ident)["tasks"][0]["taskId"]
    same(claim(s, ident), None)
    got = s.claim_one()
    same(got["id"], before["id"])
    reason, = s.why(one(waiting))["reasons"]
    has(reason, code="document_locked", taskId=before["id"], ahead=0)
    same(s.why(one(line[1]))["reasons"], [reason])
    late, _ = together(lambda: s.claim_one("late", waitMs=30000), lambda: finish_in_turn(s, got, ident))
    same(late["id"], behind["id"])
    has(team(s, ident), status="completed")


def finish_in_turn(s, got, ident):
    s.complete(got)
    both = [claim(s, ident, name, waitMs=30000) for name in "ab"]
    same([t["ref"] for t in both], ["a", "b"])
    same([t["dependencies"] for t in both], [[], []])
    for done in both:
        s.complete(done)


@test(clock=START)
def a_task_that_nobody_asks_for_holds_up_a_team_for_a_minute(s):
    nobodys = s.create("nobody's", documentId="d")
    ident = begin(s, task("a"), documentId="d")
    has(s.why(one(team(s, ident)["tasks"][0]["taskId"]))["reasons"][0], code="document_locked", taskId=nobodys["id"], ahead=1)
    s.advance(59000)
    same(claim(s, ident), None)
    s.advance(2000)
    s.complete(claim(s, ident))
    same(s.claim_one()["id"], nobodys["id"])


@test()
def a_crash_keeps_what_a_team_holds_and_its_place_in_line(s):
    first = begin(s, task("a"), task("b"), documentId="d")
    second = begin(s, task("a"), documentId="d")
    outside = s.create(documentId="d")
    held = claim(s, first)
    s.restart()
    has(document(s, "d"), locked=True)
    same((s.claim(), claim(s, second)), ([], None))
    s.complete(claim(s, first, "other"))
    s.restart()
    s.complete(held)
    has(team(s, first), status="completed")
    s.restart()
    same(s.claim(), [])
    s.complete(claim(s, second, waitMs=30000))
    same(s.claim_one()["id"], outside["id"])
    s.doctor()


@test()
def however_a_team_ends_its_document_is_given_on(s):
    failed = begin(s, task("a"), task("b"), documentId="d")
    outside = s.create(documentId="d")
    s.fail(claim(s, failed), retry=False)
    has(team(s, failed), status="failed")
    s.complete(s.claim_one())
    cancelled = begin(s, task("a"), task("b"), documentId="d")
    outside = s.create(documentId="d")
    end(s, cancelled)
    s.complete(s.claim_one())
    at_work = begin(s, task("a"), task("b"), documentId="d")
    got = claim(s, at_work)
    outside = s.create(documentId="d")
    end(s, at_work)
    end(s, at_work, 204)
    same(s.claim(), [], "its agent has not stopped yet")
    check(s.heartbeat(got)["cancelRequested"])
    s.release(got)
    got = s.claim_one()
    same(got["id"], outside["id"])
    in_line = begin(s, task("a"), documentId="d")
    turn, = document(s, "d")["waiting"]
    s.cancel(one(turn), reason="not now")
    has(team(s, in_line), status="cancelled")
    same(document(s, "d")["waiting"], [])
    s.complete(got)
    held = begin(s, task("a"), documentId="d")
    s.patch(one(document(s, "d")["taskId"]), 409, priority="HIGH")
    s.cancel(one(document(s, "d")["taskId"]), 202)
    has(team(s, held), status="cancelled")
    has(document(s, "d"), locked=False)
    s.doctor()


@test()
def the_turn_of_a_team_is_nobodys_to_claim(s):
    got = s.create(documentId="d") and s.claim_one()
    ident = begin(s, task("a"), documentId="d")
    turn = s.show(document(s, "d")["waiting"][0])
    s.post("/api/claim", {"workerId": "thief", "queues": [turn["queue"]]}, 400)
    number = turn["queue"].split("~")[0]
    s.complete(got)
    s.post("/api/claim", {"workerId": "thief", "queues": [number]}, 400)
    has(s.post(f"/api/teams/{ident}/claim", {"agent": "a1", "waitMs": 30000})["task"], taskType="team.task")
    same(ident, s.show(turn["id"])["teamId"])
    s.post(f"/api/queues/{number.replace('/', '%2F')}/purge")
    has(s.show(turn["id"]), state="COMPLETED")


@test()
def mailboxes_are_ordered_and_resumed(s):
    ident = begin(s, task("a"))
    one = say(s, ident, "for all")
    has(one, **{"from": "a1", "to": None, "body": "for all"})
    two = say(s, ident, {"for": ["b"]}, to="b")
    three = say(s, ident, 3, sender="b", to="a1")
    same([m["id"] for m in mail(s, ident, agent="b")], [one["id"], two["id"]])
    same(mail(s, ident, agent="a1"), [one, three])
    same(mail(s, ident, agent="stranger"), [one])
    same(mail(s, ident), [one, two, three])
    same(mail(s, ident, agent="b", after=one["id"]), [two])
    same(mail(s, ident, agent="b", after=two["id"]), [])
    s.restart()
    same(mail(s, ident), [one, two, three])
    s.complete(claim(s, ident, "b"), result={"x": 1})
    last = mail(s, ident, after=three["id"])
    same(len(last), 1)
    has(last[0], **{"from": "b", "to": None, "body": {"x": 1}, "title": "A"})
    say(s, ident, "late", expect=409)
    same(len(mail(s, ident, agent="a1")), 3)


@test()
def a_mailbox_may_be_waited_for(s):
    ident = begin(s, task("a"))
    came, _ = together(
        lambda: mail(s, ident, agent="b", waitMs=30000),
        lambda: (say(s, ident, "not for b", to="c"), say(s, ident, "for b", to="b")))
    same([m["body"] for m in came], ["for b"])
    same(mail(s, ident, agent="b", after=came[0]["id"], waitMs=1), [])
    nothing, _ = together(lambda: mail(s, ident, agent="d", after=came[0]["id"], waitMs=60000),
                          lambda: end(s, ident))
    check(nothing in ([], [m for m in nothing if m["from"] == "lead"]), nothing)
    same([m["from"] for m in mail(s, ident, agent="d")], ["lead"])


@test()
def what_is_wrong_about_a_message_or_claim_is_said(s):
    ident = begin(s, task("a"))
    path = f"/api/teams/{ident}"
    def refused(field, verb, body, expect=400):
        same(s.call("POST", f"{path}/{verb}", body, expect).error.get("field"), field)
    refused("from", "messages", {"body": 1})
    refused("body", "messages", {"from": "a"})
    refused("from", "messages", {"from": "", "body": 1})
    refused("to", "messages", {"from": "a", "to": "errand:x", "body": 1})
    refused("cc", "messages", {"from": "a", "cc": "b", "body": 1})
    refused("body", "messages", {"from": "a", "body": "x" * 20000}, 413)
    refused("agent", "claim", {})
    refused("agent", "claim", {"agent": "errand:team:1"})
    refused("agent", "claim", {"agent": "a\nb"})
    refused("waitMs", "claim", {"agent": "a", "waitMs": 60001})
    refused("leaseMs", "claim", {"agent": "a", "leaseMs": 1})
    s.get(f"{path}/messages?after=x", expect=400)
    s.get(f"{path}/messages?agent=", expect=400)
    s.get(f"{path}/messages?colour=red", expect=400)
    s.get(f"{path}/stream?types=state", expect=400)
    for other in ("x", "01890000-0000-7000-8000-000000000000"):
        for method, verb, body in (("GET", "", None), ("DELETE", "", None),
                                   ("POST", "/claim", {"agent": "a"}), ("GET", "/messages", None),
                                   ("POST", "/messages", {"from": "a", "body": 1}),
                                   ("GET", "/stream", None)):
            s.call(method, f"/api/teams/{other}{verb}", body, 404)


@test()
def a_team_may_say_a_thousand_things(s):
    ident = begin(s, task("a"), task("b"))
    def talk():
        for n in range(250):
            say(s, ident, n)
    together(talk, talk, talk, talk)
    same(s.call("POST", f"/api/teams/{ident}/messages", {"from": "a", "body": 1}, 429).error["code"],
         "resource_exhausted")
    ids = [m["id"] for m in mail(s, ident)]
    same((len(ids), ids), (1000, sorted(set(ids))))
    s.complete(claim(s, ident), result="still told")
    same([m["body"] for m in mail(s, ident, after=ids[-1])], ["still told"])


@test()
def cancelling_reaches_queued_and_running_work_and_the_agents(s):
    ident = begin(s, task("a"), task("b"), task("c", "a"))
    running = claim(s, ident)
    has(end(s, ident), status="cancelled", teamId=ident)
    same(states(s, ident), {"a": "RUNNING", "b": "CANCELLED", "c": "CANCELLED"})
    same(s.heartbeat(running)["cancelRequested"], True)
    same([m["body"] for m in mail(s, ident, agent="a1")], ["the team was cancelled"])
    s.release(running)
    same(states(s, ident)["a"], "CANCELLED")
    has(team(s, ident), status="cancelled")
    end(s, ident, 204)
    team(s, ident, 404)
    mail(s, ident, 404)
    same(s.get("/api/teams"), [])


@test()
def a_task_of_a_team_that_has_ended_is_not_retried(s):
    ident = begin(s, task("a"))
    gone = claim(s, ident)
    s.fail(gone, retry=False, error="x")
    s.retry(gone)
    wait_for(lambda: s.state(gone) == "CANCELLED")
    has(s.show(gone), cancelReason="its team has ended")


@test()
def the_stream_tells_the_whole_story_to_whoever_comes(s):
    ident = begin(s, task("a"), task("b", "a"))
    live = s.stream(f"/api/teams/{ident}/stream")
    live.until(lambda event, _: event == "teammates_started")
    first = claim(s, ident)
    live.until(lambda event, data: event == "task_claimed" and data["agent"] == "a1"
               and data["id"] == "a" and data["taskId"] == first["id"])
    say(s, ident, "hello")
    live.until(lambda event, data: event == "message" and data["body"] == "hello")
    late = s.stream(f"/api/teams/{ident}/stream")
    same([e for e, _, _ in late.until(lambda event, _: event == "task_claimed")],
         ["tasks_created", "teammates_started", "task_claimed"])
    s.complete(first, result=1)
    s.complete(claim(s, ident), result=2)
    same(story(live), ["task_completed", "message", "task_claimed", "task_completed", "message",
                       "synthesizing", "team_completed"])
    same(story(late)[-1], "team_completed")
    same(story(s.stream(f"/api/teams/{ident}/stream")),
         ["tasks_created", "teammates_started", "task_claimed", "task_completed", "task_claimed",
          "task_completed", "synthesizing", "team_completed"])


@test()
def a_stream_is_resumed_and_ends_with_a_failure_too(s):
    ident = begin(s, task("a"))
    live = s.stream(f"/api/teams/{ident}/stream")
    say(s, ident, 1)
    _, number, _ = live.until(lambda event, _: event == "message")[-1]
    live.close()
    say(s, ident, 2)
    again = s.stream(f"/api/teams/{ident}/stream", {"Last-Event-ID": number})
    event, _, data = again.next()
    same((event, data["body"]), ("message", 2))
    s.fail(claim(s, ident), retry=False, error="no")
    same(story(again), ["task_claimed", "task_failed", "team_failed"])


@test()
def a_crash_loses_nothing_of_a_team(s):
    ident = begin(s, task("a"), task("b", "a"), documentId="d")
    s.complete(claim(s, ident), result="kept")
    s.restart()
    got = claim(s, ident)
    same(got["dependencies"][0]["result"], "kept")
    s.restart()
    s.complete(got, result="too")
    has(team(s, ident), status="completed", result="## A\n\nkept\n\n## B\n\ntoo")
    s.doctor()


@test()
def teams_are_listed_by_status_and_page(s):
    idents = [begin(s, task("a")) for _ in range(3)]
    end(s, idents[0])
    same([t["teamId"] for t in s.get("/api/teams")], idents[::-1])
    same([t["teamId"] for t in s.get("/api/teams?status=cancelled")], [idents[0]])
    same(len(s.get("/api/teams?status=cancelled,running")), 3)
    page = s.call("GET", "/api/teams?limit=2", expect=200)
    same([t["teamId"] for t in page.json], [idents[2], idents[1]])
    rest = page.headers["link"].split(">")[0][1:]
    same([t["teamId"] for t in s.get(rest)], [idents[0]])
    s.get("/api/teams?status=lost", expect=400)


@test()
def cost_adds_up(s):
    ident = begin(s, task("a"), task("b"))
    s.complete(claim(s, ident), cost={"actual": 1.5, "tokens": 100})
    s.complete(claim(s, ident), cost={"tokens": 11})
    same(team(s, ident)["cost"], {"actual": 1.5, "tokens": 111})


@test()
def roles_decide_who_may_do_what(s):
    def token(role):
        return s.nest.run("token", "create", "--role", role, "--data", s.data).stdout.strip()
    tokens = {role: token(role) for role in ("admin", "produce", "work", "read")}
    def allowed(role, method, path, body=None):
        return s.raw(method, path, body, {"Authorization": f"Bearer {tokens[role]}"}).status != 403
    s.token = tokens["admin"]
    ident = begin(s, task("a"))
    path = f"/api/teams/{ident}"
    body = {"prompt": "p", "tasks": [task("a")]}
    for method, where, sent, who in (
            ("POST", "/api/teams", body, "admin produce"),
            ("GET", "/api/teams", None, "admin produce read"),
            ("GET", path, None, "admin produce read work"),
            ("POST", f"{path}/claim", {"agent": "a"}, "admin work"),
            ("POST", f"{path}/messages", {"from": "a", "body": 1}, "admin work"),
            ("GET", f"{path}/messages", None, "admin produce read work"),
            ("DELETE", path, None, "admin produce")):
        same({r for r in tokens if allowed(r, method, where, sent)}, set(who.split()),
             f"{method} {where}")


@test(clock=START)
def an_ended_team_goes_with_its_messages_when_tasks_do(s):
    ident = begin(s, task("a"))
    say(s, ident, "x")
    s.complete(claim(s, ident))
    ended(s, ident)
    s.advance(30 * 86400 * 1000 - 1000)
    team(s, ident)
    s.advance(2000)
    team(s, ident, 404)


@test()
def commands_begin_show_watch_and_cancel_a_team(s):
    split = s.nest.file("split.json", json.dumps([task("a"), task("b", "a")]))
    ident = s.cli("team", "start", "a prompt", "--tasks", f"@{split}", "--mate", "ann: facts",
                  "--doc", "d", "--continue").strip()
    has(team(s, ident), prompt="a prompt", documentId="d", onTaskFailure="continue")
    same(team(s, ident)["teammates"][0]["focus"], "facts")
    shown = s.cli("team", "show", ident)
    check("0 of 2  running  a prompt" in shown and "WAITING    b  B  after a" in shown, shown)
    check(s.cli("team", "say", ident, "hello", "--to", "ann").strip() == mail(s, ident)[0]["id"])
    has(mail(s, ident)[0], **{"from": "user", "to": "ann", "body": "hello"})
    check(ident in s.cli("team") and "a prompt" in s.cli("team"), "the list")
    def work():
        s.complete(claim(s, ident, "w", waitMs=20000), result="one")
        s.complete(claim(s, ident, "w", waitMs=20000), result="two")
    seen, _ = together(lambda: s.cli("team", "watch", ident), work)
    check("task_completed  b  B  by w" in seen and seen.endswith("## A\n\none\n\n## B\n\ntwo\n"), seen)
    same(s.cli("team", "cancel", ident), "removed\n")
    ident = s.cli("team", "start", "other", "--tasks", json.dumps([task("a")])).strip()
    same(s.cli("team", "cancel", ident), "cancelled\n")
    s.cli("team", "watch", ident, expect=1)
    s.cli("team", "show", ident[:-1] + ("0" if ident[-1] != "0" else "1"), expect=1)
    s.cli("team", "start", "p", expect=1)
    s.cli("team", "start", "p", "--tasks", "nonsense", expect=2)


@test()
def the_example_works(s):
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../examples/team")
    run = subprocess.run([os.path.join(folder, "run.sh")], capture_output=True, text=True,
                         timeout=120, check=False, env={
                             **os.environ, "ERRAND": binary(),
                             "ERRAND_URL": f"http://127.0.0.1:{s.port}"})
    same(run.returncode, 0, run.stdout + run.stderr)
    found = s.get("/api/teams")[0]
    has(found, status="completed", tasksDone=5)
    words = {(m["from"], m.get("to"), m["body"]) for m in mail(s, found["teamId"]) if "to" in m}
    check({("editor", "poet", "lighthouses"), ("editor", "critic", "be kind"),
           ("critic", "editor", "I will be kind")} <= words, words)
    check("## Bind the book" in run.stdout, run.stdout)


@test()
def teammates_without_a_language_model_are_warned_about(s):
    order = {"prompt": "p", "teammates": [{"role": "writer"}], "tasks": [{"id": "a", "title": "A"}]}
    begun = s.post("/api/teams", order, 202)
    check("[llm]" in begun["warnings"][0], begun)
    check("warnings" not in s.post("/api/teams", {"prompt": "p", "tasks": [{"id": "a", "title": "A"}]}, 202))
    ran = s.nest.run("team", "start", "p", "--mate", "writer", "--tasks", '[{"id":"a","title":"A"}]',
                     "--url", f"http://127.0.0.1:{s.port}")
    check("errand: warning: its teammates do nothing by themselves" in ran.stderr, ran.stderr)


main()
