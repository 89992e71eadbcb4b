# tests/system/test_relations.py: children, parents and dependencies.
#
# SPDX-License-Identifier: MIT
from errand import START, check, has, later, main, same, test


def order(kind, *children, **fields):
    """A task to be created, with its children in the order they run."""
    return {"taskType": kind, **fields, **({"children": list(children)} if children else {})}


def make(s, kind, *children, expect=201, **fields):
    return s.post("/api/tasks", order(kind, *children, **fields), expect)


def children(s, task):
    return [s.show(ident) for ident in s.show(task)["childIds"]]


def states(s, *tasks):
    return [s.state(task) for task in tasks]


def codes(s, task):
    return [reason["code"] for reason in s.why(task)["reasons"]]


# ---- Dependencies ----


@test(clock=START)
def a_dependent_waits_until_all_have_completed(s):
    a, b = s.create("a"), s.create("b")
    c = s.create("c", dependsOn=[a["id"], b["id"]])
    has(c, state="WAITING", dependsOn=[a["id"], b["id"]], queuedAt=None)
    reason = s.why(c)["reasons"][0]
    has(reason, code="dependencies")
    same(sorted(reason["taskIds"]), sorted([a["id"], b["id"]]))
    same(sorted(s.show(c)["dependsOn"]), sorted([a["id"], b["id"]]))
    one, two = s.claim(max=5)
    s.complete(one)
    has(s.show(c), state="WAITING")
    s.advance(1000)
    s.complete(two)
    has(s.show(c), state="QUEUED", queuedAt=later(START, 1000))
    claimed = s.claim_one()
    same(claimed["id"], c["id"])
    same(sorted(claimed["dependsOn"]), sorted([a["id"], b["id"]]))


@test(clock=START)
def a_dependent_of_completed_tasks_does_not_wait(s):
    s.create("a")
    a = s.complete(s.claim_one())
    has(s.create("b", dependsOn=[a["id"]]), state="QUEUED")
    has(s.create("c", dependsOn=[]), state="QUEUED")


@test(clock=START)
def refs_name_tasks_of_the_same_request(s):
    first, second, third = s.post("/api/tasks", [
        {"taskType": "c", "dependsOn": ["two", "one"]}, {"taskType": "a", "ref": "one"},
        {"taskType": "b", "ref": "two", "dependsOn": ["one"]}], 201)
    same([t["state"] for t in (first, second, third)], ["WAITING", "QUEUED", "WAITING"])
    same(first["dependsOn"], [third["id"], second["id"]])
    for kind in ("a", "b", "c"):
        task = s.claim_one()
        same(task["taskType"], kind)
        s.complete(task)
    same(s.claim(), [])


@test()
def cycles_and_unknown_ids_are_refused_and_leave_nothing(s):
    unknown = "018f0000-0000-7000-8000-000000000000"
    for body in ([{"taskType": "a", "ref": "a", "dependsOn": ["b"]},
                  {"taskType": "b", "ref": "b", "dependsOn": ["a"]}],
                 [{"taskType": "a", "ref": "a", "dependsOn": ["a"]}],
                 [{"taskType": "x"}, {"taskType": "a", "dependsOn": [unknown]}],
                 [{"taskType": "x"}, {"taskType": "a", "dependsOn": ["nobody"]}],
                 [{"taskType": "x", "ref": "a"}, {"taskType": "y", "ref": "a"}],
                 {"taskType": "a", "dependsOn": "a"}, {"taskType": "a", "dependsOn": [5]},
                 {"taskType": "a", "onDependencyFailure": "explode"}):
        answer = s.call("POST", "/api/tasks", body, 400)
        same(answer.error["code"], "invalid_argument", str(body))
    same(s.list(), [])


@test(clock=START)
def a_bad_end_cancels_the_dependents_and_names_itself(s):
    for end in ("fail", "cancel", "timeout"):
        a = s.create("a", maxRetries=0, timeoutMs=1000)
        b = s.create("b", dependsOn=[a["id"]])
        c = s.create("c", dependsOn=[b["id"]])
        stubborn = s.create("d", dependsOn=[a["id"]], onDependencyFailure="run")
        claimed = s.claim_one()
        if end == "fail":
            s.fail(claimed)
        elif end == "cancel":
            s.cancel(a, 202)
            s.fail(claimed)
        else:
            s.advance(1000)
        same(states(s, b, c), ["CANCELLED", "CANCELLED"], end)
        check(a["id"] in s.show(b)["cancelReason"], s.show(b)["cancelReason"])
        check(b["id"] in s.show(c)["cancelReason"], s.show(c)["cancelReason"])
        s.complete(s.claim_one())
        has(s.show(stubborn), state="COMPLETED")


@test(clock=START)
def depending_on_what_ended_badly_is_cancelled_at_once(s):
    a = s.create("a")
    s.cancel(a)
    b = s.create("b", dependsOn=[a["id"]])
    has(b, state="CANCELLED")
    check(a["id"] in b["cancelReason"], b)
    has(s.create("c", dependsOn=[a["id"]], onDependencyFailure="run"), state="QUEUED")


@test(clock=START)
def a_dependency_with_a_time_waits_for_both(s):
    a = s.create("a")
    b = s.create("b", dependsOn=[a["id"]], delayMs=5000)
    c = s.create("c", dependsOn=[a["id"]], delayMs=500)
    same([b["state"], c["state"]], ["WAITING", "WAITING"])
    s.advance(1000)
    same(states(s, b, c), ["WAITING", "WAITING"])
    s.complete(s.claim_one())
    same(states(s, b, c), ["SCHEDULED", "QUEUED"])
    same(codes(s, b), ["not_due"])
    s.advance(4000)
    has(s.show(b), state="QUEUED", queuedAt=later(START, 5000))


@test(clock=START)
def a_retried_dependent_waits_again_and_cancelled_ones_stay(s):
    a = s.create("a", maxRetries=0)
    b = s.create("b", dependsOn=[a["id"]])
    s.fail(s.claim_one())
    same(s.state(b), "CANCELLED")
    has(s.retry(b), state="WAITING")
    s.cancel(b)
    has(s.retry(a), state="QUEUED")
    same(s.state(b), "CANCELLED")
    s.complete(s.claim_one())
    same(s.state(b), "CANCELLED")
    has(s.retry(b), state="QUEUED")


@test(clock=START)
def waiting_tasks_can_be_steered(s):
    a = s.create("a", queue="other")
    b, c, d, e = (s.create(k, dependsOn=[a["id"]]) for k in "bcde")
    has(s.patch(b, priority="HIGH", maxRetries=1, timeoutMs=5), state="WAITING", priority="HIGH")
    has(s.patch(c, scheduledAt=later(START, 9000)), state="WAITING")
    has(s.cancel(d), state="CANCELLED")
    s.delete(e, 409)
    s.retry(e, 409)
    same(s.list(state="WAITING")[0]["id"], e["id"])
    same(s.post("/api/queues/default/purge"), {"count": 3})
    same(states(s, b, c, e), ["CANCELLED"] * 3)


@test(clock=START)
def dependencies_survive_a_kill(s):
    a = s.create("a")
    b = s.create("b", dependsOn=[a["id"]])
    p = make(s, "p", order("c1"), order("c2"))
    s.restart()
    same(states(s, b, p), ["WAITING", "QUEUED"])
    for task in s.claim(max=5):
        s.complete(task)
    s.restart()
    same([t["taskType"] for t in s.claim(max=5)], ["b", "c2"])
    s.doctor()


# ---- Children ----


@test(clock=START)
def children_run_in_order_and_their_results_are_the_parents(s):
    parent = make(s, "p", order("c1"), order("c2"), order("c3"), queue="q", priority="HIGH",
                  documentId="d")
    has(parent, state="QUEUED")
    shown = s.show(parent)
    same(len(shown["childIds"]), 3)
    found = children(s, parent)
    same([c["taskType"] for c in found], ["c1", "c2", "c3"])
    same([c["state"] for c in found], ["QUEUED", "WAITING", "WAITING"])
    for child in found:
        has(child, parentId=parent["id"], queue="q", priority="HIGH", documentId="d")
    same(codes(s, found[1]), ["parent"])
    same([t["id"] for t in reversed(s.list(parentId=parent["id"]))], shown["childIds"])
    for number, kind in enumerate(("c1", "c2", "c3"), 1):
        claimed = s.claim(queues=["q"], max=10)
        same([t["taskType"] for t in claimed], [kind])
        same(s.state(parent), "RUNNING")
        s.complete(claimed[0], result={"n": number})
    has(s.show(parent), state="COMPLETED", result=[{"n": 1}, {"n": 2}, {"n": 3}])
    same(s.claim(queues=["q"]), [])


@test(clock=START)
def a_bad_child_ends_the_batch(s):
    parent = make(s, "p", order("c1", maxRetries=0), order("c2"))
    first, second = children(s, parent)
    s.fail(s.claim_one(), error={"code": "c", "message": "m"})
    shown = s.show(parent)
    has(shown, state="FAILED")
    check(first["id"] in str(shown["error"]), shown["error"])
    same(states(s, first, second), ["FAILED", "CANCELLED"])
    s.retry(first, 409)
    has(s.retry(parent), state="RUNNING")
    again = s.claim_one()
    same(again["id"], first["id"], "it goes on from the failed child")
    s.complete(again, result=1)
    s.complete(s.claim_one(), result=2)
    has(s.show(parent), state="COMPLETED", result=[1, 2])


@test(clock=START)
def a_batch_may_go_on_after_a_bad_child(s):
    parent = make(s, "p", order("c1", maxRetries=0), order("c2"), onChildFailure="continue")
    first, second = children(s, parent)
    s.fail(s.claim_one())
    same(states(s, parent, second), ["RUNNING", "QUEUED"])
    s.complete(s.claim_one())
    same(states(s, parent, first, second), ["FAILED", "FAILED", "COMPLETED"])


@test(clock=START)
def the_document_belongs_to_the_batch(s):
    parent = make(s, "p", order("c1"), order("c2"), documentId="d")
    other = s.create("other", documentId="d", priority="CRITICAL")
    first = s.claim_one("holder", taskTypes=["c1"])
    held = {"taskId": parent["id"], "workerId": "holder", "since": START}
    has(s.get("/api/documents/d"), locked=True, **held)
    has(s.get("/api/documents", locked="true")[0], **held)
    has(s.why(other)["reasons"][0], code="document_locked", **held)
    s.fail(first)
    same(s.claim(), [], "also while a child is retrying")
    same(codes(s, other), ["document_locked"])
    has(s.get("/api/documents/d"), locked=True, taskId=parent["id"], workerId=None, since=START)
    s.advance(5000)
    s.complete(s.claim_one())
    second = s.claim_one()
    same(second["taskType"], "c2")
    s.complete(second)
    has(s.show(parent), state="COMPLETED")
    same(s.claim_one()["id"], other["id"])


@test(clock=START)
def cancelling_a_parent_cancels_what_is_unfinished(s):
    parent = make(s, "p", order("c1"), order("c2"), order("c3"))
    first, second, third = children(s, parent)
    s.complete(s.claim_one())
    running = s.claim_one()
    s.cancel(parent, (200, 202), reason="enough")
    same(s.state(third), "CANCELLED")
    same(s.heartbeat(running)["cancelRequested"], True)
    s.fail(running)
    same(states(s, parent, first, second), ["CANCELLED", "COMPLETED", "CANCELLED"])
    untouched = make(s, "p", order("c1"), order("c2"))
    has(s.cancel(untouched), state="CANCELLED", startedAt=None)
    same([c["state"] for c in children(s, untouched)], ["CANCELLED"] * 2)
    has(s.retry(untouched), state="RUNNING", startedAt=START)


@test(clock=START)
def a_child_is_not_removed_before_its_parent_has_ended(s):
    parent = make(s, "p", order("c1"), order("c2"))
    first, second = children(s, parent)
    s.complete(s.claim_one(), result=1)
    s.delete(first, expect=409)
    s.complete(s.claim_one(), result=2)
    has(s.show(parent), state="COMPLETED", result=[1, 2])
    s.delete(first)
    same(s.show(parent)["childIds"], [second["id"]])


@test(clock=START)
def parents_wait_for_their_time_and_dependencies_too(s):
    late = make(s, "late", order("c"), delayMs=1000)
    a = s.create("a", queue="other")
    waits = make(s, "waits", order("c"), dependsOn=[a["id"]])
    same([late["state"], waits["state"]], ["SCHEDULED", "WAITING"])
    same(s.claim(max=5), [])
    s.advance(1000)
    same(len(s.claim(max=5)), 1)
    s.complete(s.claim_one(queues=["other"]))
    same(len(s.claim(max=5)), 1)


@test()
def children_may_have_children_8_levels_deep(s):
    def deep(levels):
        return order("t", *([deep(levels - 1)] if levels > 1 else []))
    root = s.post("/api/tasks", deep(8), 201)
    s.complete(s.claim_one(), result="leaf")
    nested = "leaf"
    for _ in range(7):
        nested = [nested]
    has(s.show(root), state="COMPLETED", result=nested)
    s.post("/api/tasks", deep(9), 400)
    same(len(s.list()), 8)


@test()
def children_are_checked(s):
    for body in (order("p", order("c", documentId="x"), documentId="d"),
                 order("p", {"payload": 1}), {"taskType": "p", "children": {}},
                 {"taskType": "p", "children": [5]},
                 order("p", order("c1", dependsOn=["c2"]), order("c2", ref="c2")),
                 order("p", order("c"), onChildFailure="explode")):
        s.call("POST", "/api/tasks", body, 400)
    s.refused("children", children=[5])
    same(s.list(), [])
    same(s.show(s.create(children=None, dependsOn=None))["childIds"], [])
    s.complete(s.claim_one())
    parent = make(s, "p", order("c1", ref="x", documentId="own"), order("c2", dependsOn=["x"],
                                                                       queue="q", priority="LOW"))
    first, second = children(s, parent)
    has(first, documentId="own")
    has(second, queue="q", priority="LOW", documentId=None)


@test(clock=START)
def a_finished_batch_is_removed_with_its_children(s):
    parent = make(s, "p", order("c1"), order("c2"))
    first, second = children(s, parent)
    s.complete(s.claim_one())
    s.complete(s.claim_one())
    s.advance(31 * 86400000)
    for task in (parent, first, second):
        s.show(task, 404)


@test()
def what_becomes_of_failures_is_shown_where_it_is_not_the_usual(s):
    first = s.create()
    parent = make(s, "p", order("c"), onChildFailure="continue", onDependencyFailure="run",
                  dependsOn=[first["id"]])
    plain = make(s, "p", order("c"), onChildFailure="stop", onDependencyFailure="cancel")
    listed, = (t for t in s.list() if t["id"] == parent["id"])
    for shown in (parent, s.show(parent), listed):
        has(shown, id=parent["id"], onChildFailure="continue", onDependencyFailure="run")
    for shown in (plain, s.show(plain)):
        check("onChildFailure" not in shown and "onDependencyFailure" not in shown, shown)


@test()
def who_creates_children_is_told_their_ids(s):
    order = {"taskType": "p", "children": [{"taskType": "a"}, {"taskType": "b", "children": [{"taskType": "c"}]}, {"taskType": "d"}]}
    made = s.post("/api/tasks", order, 201)
    same(len(made["childIds"]), 3)
    same(made["childIds"], s.show(made)["childIds"])
    same([s.show({"id": child})["taskType"] for child in made["childIds"]], ["a", "b", "d"])
    first, plain, second = s.post("/api/tasks", [order, {"taskType": "x"}, order], 201)
    check("childIds" not in plain)
    for task in (first, second):
        same(task["childIds"], s.show(task)["childIds"])
    check("childIds" not in s.post("/api/tasks", {"taskType": "y"}, 201))
    keyed = {**order, "idempotencyKey": "k"}
    same(s.post("/api/tasks", keyed, 201)["id"], s.post("/api/tasks", keyed, 200)["id"])


main()
