# tests/system/test_lists.py: lists: their filters, their order, their pages.
#
# SPDX-License-Identifier: MIT
import re

from errand import START, check, has, later, main, same, test


def follow(s, path):
    """All tasks from this page on, by the Link headers."""
    tasks = []
    while path:
        answer = s.call("GET", path, expect=200)
        tasks += answer.json
        link = answer.headers.get("link")
        found = re.match(r'^<([^>]+)>; rel="next"$', link) if link else None
        check(link is None or found, f"not a next link: {link}")
        path = re.sub(r"^https?://[^/]+", "", found.group(1)) if found else None
    return tasks


@test()
def the_newest_come_first_50_of_them(s):
    ids = [task["id"] for task in s.post("/api/tasks", [{"taskType": "t"}] * 120, 201)]
    same(s.ids(), ids[:-51:-1])
    same(s.ids(limit=3), ids[:-4:-1])
    same(s.ids(limit=500), ids[::-1])
    for wrong in ("0", "501", "-1", "x", "", "1.5"):
        s.list(400, limit=wrong)


@test()
def links_lead_through_all_pages_and_the_last_has_none(s):
    ids = [task["id"] for task in s.post("/api/tasks", [{"taskType": "t"}] * 25, 201)]
    for limit in (1, 7, 10, 25, 26):
        found = follow(s, f"/api/tasks?limit={limit}")
        same([task["id"] for task in found], ids[::-1], f"limit {limit}")
    answer = s.call("GET", "/api/tasks?limit=25", expect=200)
    check("link" not in answer.headers, "a link to an empty page")
    for wrong in ("x", "%00", "", "zzzz-zzzz", "9" * 400):
        s.call("GET", f"/api/tasks?cursor={wrong}", expect=400)


@test()
def paging_is_stable_while_tasks_arrive_and_change(s):
    ids = [task["id"] for task in s.post("/api/tasks", [{"taskType": "t"}] * 40, 201)]
    seen, path = [], "/api/tasks?limit=6&state=QUEUED,COMPLETED"
    while path:
        answer = s.call("GET", path, expect=200)
        seen += [task["id"] for task in answer.json]
        link = answer.headers.get("link", "")
        path = link[1:link.index(">")] if link else None
        s.create()
        s.complete(s.claim_one())
    same(seen, ids[::-1])


@test(clock=START)
def each_filter_selects_what_it_names(s):
    a = s.create("a", queue="q1", documentId="d/1", priority="HIGH", tags=["x", "y"])
    b = s.create("b", queue="q2", documentId="d 2", priority="LOW", tags=["y"])
    s.advance(1000)
    c = s.create("a", queue="q1", delayMs=60000)
    a, b, c = a["id"], b["id"], c["id"]
    for query, expected in (
            ({"taskType": "a"}, [c, a]), ({"taskType": "none"}, []),
            ({"queue": "q2"}, [b]), ({"documentId": "d/1"}, [a]), ({"documentId": "d 2"}, [b]),
            ({"priority": "HIGH"}, [a]), ({"priority": "1"}, [b]), ({"priority": "NORMAL"}, [c]),
            ({"tag": "y"}, [b, a]), ({"tag": "x"}, [a]),
            ({"state": "SCHEDULED"}, [c]), ({"state": "QUEUED"}, [b, a]),
            ({"state": "PENDING"}, [b, a]), ({"state": "SCHEDULED,QUEUED"}, [c, b, a]),
            ({"state": "RUNNING"}, []), ({"state": "IN_PROGRESS,COMPLETED"}, []),
            ({"taskType": "a", "state": "QUEUED"}, [a]), ({"tag": "y", "queue": "q2"}, [b]),
            ({"createdAfter": START}, [c]), ({"createdBefore": later(START, 1000)}, [b, a]),
            ({"createdAfter": later(START, -1), "createdBefore": later(START, 1)}, [b, a]),
            ({"parentId": a}, []), ({"teamId": a}, []), ({"scheduleId": a}, [])):
        same(s.ids(**query), expected, str(query))


@test()
def a_filter_that_makes_no_sense_is_a_400(s):
    for query in ({"state": "NOPE"}, {"state": ""}, {"state": "QUEUED,"}, {"priority": "9"},
                  {"createdAfter": "yesterday"}, {"parentId": "x"}, {"color": "red"},
                  {"limit": "many"}):
        answer = s.call("GET", "/api/tasks?" + "&".join(f"{k}={v}" for k, v in query.items()),
                        expect=400)
        same(answer.error.get("field"), list(query)[0], str(query))


@test()
def a_task_is_in_its_new_list_as_soon_as_it_changed(s):
    for _ in range(20):
        task = s.create(documentId="d", tags=["t"])
        same(s.ids(state="QUEUED", documentId="d"), [task["id"]])
        claimed = s.claim_one()
        same(s.ids(state="RUNNING", tag="t"), [task["id"]])
        s.complete(claimed)
        same(s.ids(state="QUEUED,RUNNING"), [])
        check(task["id"] in s.ids(state="COMPLETED", documentId="d"))


@test()
def lists_leave_out_what_is_over_4_kib(s):
    small = s.create(payload="x" * 4094)
    big = s.create(payload="x" * 4095)
    for _ in range(2):
        s.complete(s.claim_one(), result="y" * 4095)
    listed = {task["id"]: task for task in s.list()}
    has(listed[small["id"]], payload="x" * 4094, payloadOmitted=None, result=None,
        resultOmitted=True)
    has(listed[big["id"]], payload=None, payloadOmitted=True, result=None)
    same(s.show(big)["payload"], "x" * 4095)
    same(s.show(big)["result"], "y" * 4095)
    noted = s.create(metadata={"k": "m" * 5000}, maxRetries=0)
    error = {"code": "E", "message": "e" * 5000, "detail": {"d": 1}}
    claimed = s.claim_one()
    has(claimed, metadata={"k": "m" * 5000}, metadataOmitted=None)
    s.call("POST", f"/api/tasks/{noted['id']}/fail", {"lease": claimed["lease"], "error": error}, 200)
    has(s.list()[0], metadata=None, metadataOmitted=True, errorOmitted=True,
        error={"code": "E", "message": "e" * 1024})
    has(s.show(noted), metadata={"k": "m" * 5000}, error=error, errorOmitted=None)


@test()
def an_unknown_task_is_a_404(s):
    for ident in ("018f0000-0000-7000-8000-000000000000",):
        for method, path in (("GET", ""), ("DELETE", ""), ("GET", "/why"), ("GET", "/stream")):
            s.call(method, f"/api/tasks/{ident}{path}", expect=404)
        for verb in ("cancel", "retry"):
            s.call("POST", f"/api/tasks/{ident}/{verb}", expect=404)
        s.call("PATCH", f"/api/tasks/{ident}", {"priority": "LOW"}, 404)
        for verb in ("complete", "fail", "release", "heartbeat"):
            s.call("POST", f"/api/tasks/{ident}/{verb}", {"lease": "1-0123456789abcdef"},
                   (404, 409))
    s.call("GET", "/api/tasks/nonsense", expect=(400, 404))


@test()
def waiting_for_a_task_ends_when_it_ends(s):
    from errand import together
    task = s.create()
    claimed = s.claim_one()
    shown, _ = together(lambda: s.show(task, waitMs=60000),
                        lambda: s.complete(claimed, result="done"))
    has(shown, state="COMPLETED", result="done")
    has(s.show(task, waitMs=60000), state="COMPLETED")
    other = s.create()
    has(s.show(other, waitMs=1), state="QUEUED")
    s.get(f"/api/tasks/{other['id']}", 400, waitMs="x")
    s.get(f"/api/tasks/{other['id']}", 400, waitMs=-1)


@test()
def ids_that_begin_alike_are_listed_by_their_beginning(s):
    ids = [task["id"] for task in s.post("/api/tasks", [{"taskType": "t"}] * 30, 201)]
    for length in (1, 8, 12, 16, 18, 20, 36):
        beginning = ids[3][:length]
        expected = [i for i in reversed(ids) if i.startswith(beginning)]
        same([task["id"] for task in follow(s, f"/api/tasks?id={beginning.upper()}&limit=7")], expected, beginning)
    other = ids[3][:35] + ("0" if ids[3][35] != "0" else "1")
    same(s.ids(id=other), [])
    same(s.ids(id=ids[3][:18], state="RUNNING"), [])
    for wrong in ("", "x", "0192f3c40", ids[0] + "0", "%00"):
        s.call("GET", f"/api/tasks?id={wrong}", expect=400)
    s.post("/api/tasks/cancel", {"id": ids[0]}, 400)


@test()
def a_thousand_of_many_kinds_are_listed_right(s):
    kinds = [(q, p) for q in ("q1", "q2", "q3") for p in ("HIGH", "NORMAL")]
    body = [{"taskType": "t", "queue": kinds[n % 6][0], "priority": kinds[n % 6][1],
             "documentId": f"d{n % 7}"} for n in range(1000)]
    tasks = s.post("/api/tasks", body, 201)
    for document in range(7):
        expected = [t["id"] for t in reversed(tasks) if t["documentId"] == f"d{document}"]
        found = follow(s, f"/api/tasks?documentId=d{document}&limit=60")
        same([t["id"] for t in found], expected, f"document {document}")
    expected = [t["id"] for t in reversed(tasks) if t["queue"] == "q2" and t["priority"] == "HIGH"]
    found = follow(s, "/api/tasks?queue=q2&priority=HIGH&limit=100")
    same([t["id"] for t in found], expected)


main()
