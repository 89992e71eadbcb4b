# tests/system/test_documents.py: one attempt at a time for each document (G3).
#
# SPDX-License-Identifier: MIT
import threading
import urllib.parse

from errand import START, check, has, later, main, same, test, together


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
    has(listed[0], locked=True, taskId=task["id"], workerId="holder", since=later(START, 1000))
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


main()
