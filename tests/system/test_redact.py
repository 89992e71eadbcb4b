# tests/system/test_redact.py: what tokens of role read are not shown.
#
# SPDX-License-Identifier: MIT
"""[redact] keys."""
import base64
import json

from errand import check, main, same, test, wait_for
from tokens import make_token

DOTS = "•••"
SECRET = "hunter2-hunter2"
PAYLOAD = b'{ "user":"ann", "Password":"hunter2-hunter2","deep":[{"TOKEN":{"x":"hunter2-hunter2"}}], "n":1.50 }'


def bearer(token):
    return {"Authorization": f"Bearer {token}"}


def open_both(s):
    """An admin's token, which the server's own calls use, and a reader's."""
    admin, reader = make_token(s.nest, s.data, "admin"), make_token(s.nest, s.data, "read")
    s.token = admin
    wait_for(lambda: s.raw("GET", "/api/tasks", headers=bearer(reader)).status == 200)
    wait_for(lambda: s.raw("GET", "/api/tasks", headers={"Authorization": None}).status == 401)
    return admin, reader


def hidden(s, reader, path, shown=True):
    """The reader's answer has no secret in it, the admin's has."""
    plain, clean = s.raw("GET", path), s.raw("GET", path, headers=bearer(reader))
    same((plain.status, clean.status), (200, 200), path)
    s.conforms("GET", path, clean)
    check(SECRET.encode() not in clean.body, f"{path}: {clean!r}")
    check(not shown or SECRET.encode() in plain.body, f"{path} has lost it: {plain!r}")
    check(not shown or DOTS.encode() in clean.body, f"{path}: {clean!r}")
    return clean.json


@test()
def a_reader_sees_dots_where_others_see_what_was_stored(s):
    _, reader = open_both(s)
    stream = s.stream("/api/events?types=log,progress,state", bearer(reader))
    task = s.post("/api/tasks", b'{"taskType":"t","metadata":{"secret":"hunter2-hunter2","a":1},"payload":' + PAYLOAD + b"}", 201)
    path = f"/api/tasks/{task['id']}"
    own = s.stream(path + "/stream", bearer(reader))
    claimed = s.claim_one()
    s.heartbeat(claimed, log=[f"try password={SECRET} now", json.dumps({"token": SECRET, "b": 2})],
                progress={"percent": 5, "message": f"secret={SECRET}"})
    s.fail(claimed, error={"code": "c", "message": f"authorization: Bearer {SECRET}", "detail": {"token": [SECRET]}}, retry=False)
    shown = hidden(s, reader, path)
    same(shown["payload"], {"user": "ann", "Password": DOTS, "deep": [{"TOKEN": DOTS}], "n": 1.5})
    same(shown["metadata"], {"secret": DOTS, "a": 1})
    same(shown["error"], {"code": "c", "message": f"authorization: {DOTS}", "detail": {"token": DOTS}})
    same(shown["attempts"][0]["log"], [f"try password={DOTS} now", f'{{"token": "{DOTS}", "b": 2}}'])
    same(shown["attempts"][0]["error"]["message"], f"authorization: {DOTS}")
    check(b' "n":1.50 }' in s.raw("GET", path, headers=bearer(reader)).body, "what is not hidden was changed")
    check(PAYLOAD in s.raw("GET", path).body, "the admin does not get what was stored")
    hidden(s, reader, "/api/tasks")
    hidden(s, reader, f"/api/tasks?id={task['id'][:18]}")
    for each in (stream, own):
        seen = each.until(lambda event, data: data.get("state") == "FAILED")
        check(SECRET not in json.dumps(seen), seen)
        check(any(event == "log" and data["lines"][0] == f"try password={DOTS} now" for event, _, data in seen), seen)
        check(any(event == "progress" and data["message"] == f"secret={DOTS}" for event, _, data in seen), seen)
    again = s.post("/api/tasks", {"taskType": "t", "payload": {"token": SECRET}}, 201)
    s.complete(s.claim_one(), result={"list": [{"Authorization": SECRET}]})
    same(hidden(s, reader, f"/api/tasks/{again['id']}")["result"], {"list": [{"Authorization": DOTS}]})


@test()
def bytes_conversations_and_runs_are_hidden_too(s):
    _, reader = open_both(s)
    raw = s.post("/api/tasks", {"taskType": "t", "queue": "q", "payloadBase64": base64.b64encode(f"password={SECRET}".encode()).decode()}, 201)
    shown = json.loads(s.raw("GET", f"/api/tasks/{raw['id']}", headers=bearer(reader)).body)
    same(base64.b64decode(shown["payloadBase64"]).decode(), f"password={DOTS}")
    team = s.post("/api/teams", {"prompt": f"token={SECRET}", "teammates": [{"role": "a"}],
                                 "tasks": [{"id": "1", "title": "t", "description": f"secret={SECRET}"}]}, 202)
    base = f"/api/teams/{team['teamId']}"
    live = s.stream(base + "/stream", bearer(reader))
    s.post(base + "/messages", {"from": "a", "body": f"password={SECRET}"}, 201)
    same(live.until(lambda event, data: event == "message")[-1][2]["body"], f"password={DOTS}")
    same(hidden(s, reader, base + "/messages")[0]["body"], f"password={DOTS}")
    hidden(s, reader, base)
    hidden(s, reader, "/api/teams", shown=False)
    made = s.post("/api/schedules", {"title": "t", "rrule": "FREQ=DAILY", "purpose": f"token={SECRET}", "taskType": "echo",
                                     "payload": {"password": SECRET}}, 201)
    same(hidden(s, reader, f"/api/schedules/{made['id']}")["payload"], {"password": DOTS})
    hidden(s, reader, "/api/schedules")
    run = s.post(f"/api/schedules/{made['id']}/run", None, 202)
    wait_for(lambda: s.get(f"/api/executions/{run['executionId']}")["status"] == "SUCCESS")
    hidden(s, reader, f"/api/executions/{run['executionId']}")
    hidden(s, reader, f"/api/schedules/{made['id']}/executions")
    wait_for(lambda: s.get("/api/notifications"))
    hidden(s, reader, "/api/notifications")


@test()
def agents_of_role_read_are_not_shown_it_either(s):
    _, reader = open_both(s)
    task = s.post("/api/tasks", {"taskType": "t", "payload": {"password": SECRET}}, 201)
    calls = (("tools/call", {"name": "get_task", "arguments": {"id": task["id"]}}),
             ("tools/call", {"name": "list_tasks", "arguments": {}}),
             ("resources/read", {"uri": f"errand://tasks/{task['id']}"}))
    for method, params in calls:
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        answer = s.raw("POST", "/mcp", body, bearer(reader))
        same(answer.status, 200)
        check(SECRET.encode() not in answer.body and "•••" in answer.body.decode(), f"{method}: {answer!r}")
        check(SECRET.encode() in s.raw("POST", "/mcp", body).body, f"{method} has lost it")


@test(server=False)
def the_keys_are_a_setting(nest):
    s = nest.server(args=("--config", nest.file("errand.conf", "[redact]\nkeys = Api-Key, größe\n")))
    _, reader = open_both(s)
    answer = s.raw("GET", "/api/session")
    same(answer.headers["x-errand-redact"].lower(), "api-key, gr%c3%b6%c3%9fe")
    task = s.post("/api/tasks", {"taskType": "t", "payload": {"api-key": SECRET, "größe": 1, "password": "seen"}}, 201)
    same(hidden(s, reader, f"/api/tasks/{task['id']}")["payload"], {"api-key": DOTS, "größe": DOTS, "password": "seen"})
    long = nest.file("long.conf", "[redact]\nkeys = " + "k" * 65 + "\n")
    said = nest.refuses("--listen", "127.0.0.1:0", "--data", nest.folder(), "--config", long)
    check("[redact] keys" in said and "64" in said, said)


main()
