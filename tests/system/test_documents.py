# tests/system/test_documents.py: one attempt at a time for each document (G3).
#
# SPDX-License-Identifier: MIT
import os
import threading
import urllib.parse

from errand import START, check, has, later, main, same, test, together, wait_for
from tokens import ROLES, make_token


def document(s, name):
    return s.get("/api/documents/" + urllib.parse.quote(name, safe=""))


@test(clock=START)
def tasks_of_one_document_run_one_after_the_other(s):
    first, second, third = (s.create(documentId="d") for _ in range(3))
    claimed = s.claim(max=10)
    same([task["id"] for task in claimed], [first["id"]])
    same(s.claim(max=10), [])
    s.complete(claimed[0])
    claimed = s.claim(max=10)
    same([task["id"] for task in claimed], [second["id"]])
    s.fail(claimed[0], retry=False)
    claimed = s.claim(max=10)
    same([task["id"] for task in claimed], [third["id"]])


@test(clock=START)
def other_documents_overtake_freely(s):
    s.create("a1", documentId="a")
    s.create("a2", documentId="a", priority="CRITICAL")
    s.create("b1", documentId="b")
    s.create("free")
    first = s.claim_one()
    same(first["taskType"], "a2")
    same([task["taskType"] for task in s.claim(max=10)], ["b1", "free"])
    s.complete(first)
    same(s.claim_one()["taskType"], "a1")


@test(clock=START)
def a_document_is_given_on_by_priority_then_arrival(s):
    s.create("held", documentId="d", priority="LOW")
    held = s.claim_one()
    names = [("n1", "NORMAL"), ("l1", "LOW"), ("c1", "CRITICAL"), ("n2", "NORMAL"), ("c2", 4)]
    made = {name: s.create(name, documentId="d", priority=p)["id"] for name, p in names}
    order = ["c1", "c2", "n1", "n2", "l1"]
    same(document(s, "d")["waiting"], [made[name] for name in order])
    for name in order:
        s.complete(held)
        held = s.claim_one()
        same(held["taskType"], name)


@test(clock=START)
def a_document_says_who_holds_it(s):
    name = "dir/ü doc?#%"
    has(document(s, name), documentId=name, locked=False, waiting=[], taskId=None, workerId=None,
        since=None)
    task = s.create(documentId=name)
    has(document(s, name), locked=False, waiting=[task["id"]])
    s.advance(1000)
    held = s.claim_one("holder")
    waiting = s.create(documentId=name)
    has(document(s, name), documentId=name, locked=True, taskId=task["id"], workerId="holder",
        since=later(START, 1000), waiting=[waiting["id"]])
    listed = s.get("/api/documents", locked="true")
    listed = listed["documents"] if isinstance(listed, dict) else listed
    same([d["documentId"] for d in listed], [name])
    has(listed[0], locked=True, taskId=task["id"], workerId="holder", since=later(START, 1000), waitingCount=1,
        waiting=[waiting["id"]])
    more = [s.create(documentId=name, priority="HIGH")["id"] for _ in range(12)]
    has(s.get("/api/documents")[0], waitingCount=13, waiting=more[:10])
    s.create(documentId="e")
    s.claim_one()
    same(len(s.get("/api/documents", limit=1)), 1)
    same([(each["documentId"], each["waitingCount"], each["waiting"]) for each in s.get("/api/documents")][1], ("e", 0, []))
    for wrong in (0, 1001, "x"):
        s.get("/api/documents", 400, limit=wrong)
    s.complete(held)
    has(document(s, name), locked=False)


@test(clock=START)
def why_names_the_holder_and_how_many_are_ahead(s):
    s.create(documentId="d")
    held = s.claim_one("holder")
    first, second = s.create(documentId="d"), s.create(documentId="d")
    urgent = s.create(documentId="d", priority="HIGH")
    for task, ahead in ((urgent, 0), (first, 1), (second, 2)):
        reason = s.why(task)["reasons"][0]
        has(reason, code="document_locked", taskId=held["id"], workerId="holder", since=START,
            ahead=ahead)
        check("d" in reason["message"], reason["message"])


@test(clock=START)
def a_retrying_task_does_not_hold_its_document(s):
    first = s.create("first", documentId="d")
    s.create("second", documentId="d")
    s.fail(s.claim_one())
    has(document(s, "d"), locked=False)
    second = s.claim_one()
    same(second["taskType"], "second")
    s.advance(5000)
    same(s.claim(), [], "the retry waits for its document")
    same(s.why(first)["reasons"][0]["code"], "document_locked")
    s.complete(second)
    same(s.claim_one()["id"], first["id"])


@test(clock=START)
def every_end_of_an_attempt_frees_the_document(s):
    ends = [lambda t: s.complete(t), lambda t: s.fail(t), lambda t: s.release(t, delayMs=99999),
            lambda t: (s.cancel(t, 202), s.fail(t)), lambda t: (s.cancel(t, 202), s.advance(10000)),
            lambda t: s.advance(20000), lambda t: s.advance(30000)]
    for number, end in enumerate(ends):
        name = f"d{number}"
        s.create("a", documentId=name, timeoutMs=30000 if number == 6 else 300000, maxRetries=0)
        held = s.claim_one(leaseMs=60000 if number == 6 else 20000)
        same(held["documentId"], name)
        after = s.create("b", documentId=name)
        same(s.claim(), [])
        end(held)
        claimed = s.claim_one()
        same(claimed["id"], after["id"], f"end {number}")
        s.complete(claimed)


@test(clock=START)
def a_task_nobody_asks_for_does_not_hold_up_its_document(s):
    s.create("rare", documentId="d", priority="CRITICAL")
    s.create("paused", documentId="d", queue="asleep", priority="HIGH")
    s.create("common", documentId="d")
    s.post("/api/queues/asleep/pause")
    same([t["taskType"] for t in s.claim(taskTypes=["common", "paused"],
                                         queues=["default", "asleep"])], ["common"])


@test(clock=START)
def cancelling_a_waiting_task_takes_it_out_of_the_line(s):
    s.create("held", documentId="d")
    held = s.claim_one()
    first, second = s.create(documentId="d"), s.create(documentId="d")
    s.cancel(first)
    same(document(s, "d")["waiting"], [second["id"]])
    s.patch(second, priority="LOW")
    third = s.create(documentId="d")
    same(document(s, "d")["waiting"], [third["id"], second["id"]])
    s.complete(held)
    same(s.claim_one()["id"], third["id"])


@test()
def the_lock_survives_a_crash(s):
    s.create("held", documentId="d")
    held = s.claim_one("holder")
    waiting = s.create("waiting", documentId="d")
    s.restart()
    same(s.claim(max=10), [])
    has(document(s, "d"), locked=True, taskId=held["id"], workerId="holder",
        waiting=[waiting["id"]])
    s.complete(held)
    same(s.claim_one()["id"], waiting["id"])


@test()
def workers_in_a_hurry_never_share_a_document(s):
    names = [f"d{n}" for n in range(5)]
    s.post("/api/tasks", [{"taskType": "t", "documentId": names[n % 5]} for n in range(250)], 201)
    holders, guard, doubled = {}, threading.Lock(), []

    def work():
        done = 0
        while tasks := s.claim(max=3, waitMs=300):
            with guard:
                doubled.extend(t["id"] for t in tasks if t["documentId"] in holders)
                holders.update((t["documentId"], t["id"]) for t in tasks)
            for task in tasks:
                with guard:
                    del holders[task["documentId"]]
                s.complete(task)
                done += 1
        return done
    same(sum(together(*[work] * 6)), 250)
    same(doubled, [])


# ---- Taken away by an operator ----


def take(s, document, expect=200):
    return s.post(f"/api/documents/{document}/release", None, expect)


@test(clock=START)
def a_released_document_leaves_its_holder_with_a_void_lease(s):
    first = s.create(documentId="d", maxRetries=0)
    second = s.create(documentId="d", priority="HIGH")
    third = s.create(documentId="d")
    s.patch(second, priority="LOW")
    held = s.claim_one("w1")
    same(held["id"], first["id"])
    answer = take(s, "d")
    same((answer["documentId"], answer["locked"]), ("d", False))
    same(answer["waiting"], [first["id"], third["id"], second["id"]])
    shown = s.show(first)
    has(shown, state="QUEUED", retries=0, attempt=1, queuedAt=first["queuedAt"], workerId=None)
    same(shown["attempts"][0]["outcome"], "RELEASED")
    for verb in ("heartbeat", "complete", "fail", "release"):
        same(s.finish(verb, held, 409)["error"]["code"], "lease_lost", verb)
    again = s.claim_one("w2")
    has(again, id=first["id"], attempt=2)
    s.complete(held, 409)
    s.complete(again)
    same(s.claim_one("w1")["id"], third["id"])
    s.doctor()


@test()
def a_claim_that_waits_gets_the_released_task(s):
    task = s.create(documentId="d")
    held = s.claim_one("w1")

    def wait():
        return s.claim("w2", waitMs=30000)

    def let_go():
        wait_for(lambda: s.get("/api/stats")["waitingClaims"] == 1, "the claim that waits")
        return take(s, "d")

    claimed, _ = together(wait, let_go)
    same([each["id"] for each in claimed], [task["id"]])
    s.complete(held, 409)
    s.complete(claimed[0])


@test()
def what_nobody_holds_or_nobody_can_give_is_not_released(s):
    take(s, "nothing", 409)
    s.create(documentId="d", delayMs=60000)
    take(s, "d", 409)
    s.call("POST", "/api/documents/" + "x" * 300 + "/release", None, 400)
    s.call("POST", "/api/documents/d/release", {"force": True}, 400)
    s.call("GET", "/api/documents/d/release", None, 405)
    team = s.post("/api/teams", {"prompt": "p", "documentId": "t", "teammates": [{"role": "a"}],
                                 "tasks": [{"id": "1", "title": "one", "description": "d"}]}, 202)
    wait_for(lambda: s.get("/api/documents/t")["locked"], "the team's document")
    refused = take(s, "t", 409)
    check(team["teamId"] in refused["error"]["message"] and "team" in refused["error"]["message"], refused)
    same(s.get(f"/api/teams/{team['teamId']}")["status"], "running")


@test()
def a_cancelled_attempt_that_is_released_is_cancelled(s):
    s.create(documentId="d")
    held = s.claim_one()
    s.cancel(held, 202)
    same(take(s, "d")["locked"], False)
    same(s.state(held), "CANCELLED")
    s.complete(held, 409)


@test(clock=START)
def a_batch_keeps_its_document_and_its_child_is_taken_back(s):
    parent = s.create(documentId="d", children=[{"taskType": "c", "maxRetries": 1}, {"taskType": "c"}])
    other = s.create(documentId="d")
    held = s.claim_one(taskTypes=["c"])
    answer = take(s, "d")
    same((answer["locked"], answer["taskId"]), (True, parent["id"]))
    same([s.state(held), s.state(parent)], ["QUEUED", "RUNNING"])
    s.complete(held, 409)
    again = s.claim_one()
    has(again, id=held["id"], attempt=2, retries=0)
    s.fail(again)
    refused = take(s, "d", 409)  # its child is RETRYING
    check(parent["id"] in refused["error"]["message"], refused)
    s.advance(5000)
    s.complete(s.claim_one())
    s.complete(s.claim_one())
    same(s.state(parent), "COMPLETED")
    same(s.claim_one()["id"], other["id"])
    s.doctor()


@test()
def work_in_the_server_stops_before_its_document_is_given_on(s):
    long = s.create("sleep", payload={"ms": 600000}, documentId="d", maxRetries=0)
    wait_for(lambda: s.state(long) == "RUNNING")
    s.post("/api/queues/default/pause")
    other = s.create("remote", documentId="d", queue="q", priority="CRITICAL")
    take(s, "d")
    has(s.show(long), state="QUEUED", retries=0, attempt=1)
    claimed = s.claim_one(queues=["q"], waitMs=20000)
    same(claimed["id"], other["id"])
    same(s.get("/api/documents/d")["taskId"], other["id"])
    s.complete(claimed)
    s.post("/api/queues/default/resume")
    wait_for(lambda: s.state(long) == "RUNNING", "its second attempt")
    s.cancel(long, 202)
    wait_for(lambda: s.state(long) == "CANCELLED")
    s.doctor()


@test(server=False)
def a_command_is_stopped_or_killed_before_its_document_is_given_on(nest):
    script = nest.file("stay.sh", "#!/bin/sh\ntrap '' TERM\necho here >> \"$HOME/ran\"\nwhile :; do sleep 0.1; done\n")
    os.chmod(script, 0o755)
    config = nest.file("errand.conf", f"[workers]\ngrace = 1s\n[handler.stay]\nexec = {script}\nenv.HOME = {nest.root}\n")
    s = nest.server(args=("--config", config))
    task = s.create("stay", documentId="d")
    wait_for(lambda: os.path.exists(os.path.join(nest.root, "ran")), "the command")
    s.post("/api/queues/default/pause")
    other = s.create("remote", documentId="d", queue="q")
    answer = take(s, "d")
    has(s.show(task), state="QUEUED", retries=0)
    if answer["locked"]:  # until it is killed
        take(s, "d", 409)
    same(s.claim_one(queues=["q"], waitMs=20000)["id"], other["id"])
    same(s.state(task), "QUEUED")


@test()
def releasing_is_for_admins_of_no_particular_user(s):
    s.create(documentId="d")
    s.claim_one()
    made = {role: make_token(s.nest, s.data, role) for role in ROLES}
    made["own"] = make_token(s.nest, s.data, "admin", "--user", "ann")
    wait_for(lambda: s.raw("GET", "/api/tasks").status == 401)
    for role, token in made.items():
        got = s.raw("POST", "/api/documents/d/release", headers={"Authorization": f"Bearer {token}"}).status
        same(got, 200 if role == "admin" else 403, role)
    same(s.raw("POST", "/api/documents/d/release").status, 401)


main()
