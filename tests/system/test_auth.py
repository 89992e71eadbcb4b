# tests/system/test_auth.py: tokens, roles, addresses and TLS.
#
# SPDX-License-Identifier: MIT
import json
import os
import socket

from errand import Wire, check, main, same, test, wait_for
from tokens import ROLES, certificate, make_token


def status(s, token, method, path, body=None):
    headers = {"Authorization": f"Bearer {token}"} if token else None
    return s.raw(method, path, body, headers).status


@test()
def authentication_is_on_as_soon_as_one_token_exists(s):
    s.create()
    token = make_token(s.nest, s.data, "admin")
    wait_for(lambda: status(s, None, "GET", "/api/tasks") == 401, "401")
    answer = s.raw("GET", "/api/tasks")
    check(answer.headers.get("www-authenticate", "").startswith("Bearer"), answer.headers)
    check(answer.error["code"] and answer.error["message"])
    same(status(s, token, "GET", "/api/tasks"), 200)
    for wrong in (token[:-1], token + "x", "x", token.upper(), ""):
        answer = s.raw("GET", "/api/tasks", headers={"Authorization": f"Bearer {wrong}"})
        same(answer.status, 401, wrong)
    for scheme in (f"Basic {token}", token, "Bearer", f"Bearer {token} x"):
        same(s.raw("GET", "/api/tasks", headers={"Authorization": scheme}).status, 401, scheme)
    same(s.raw("GET", "/api/tasks", headers={"Authorization": f"bearer {token}"}).status, 200)
    for path in ("/healthz", "/readyz"):
        same(status(s, None, "GET", path), 200, path)
    check(token not in s.stderr(), "the token is in the log")
    for name in os.listdir(s.data):
        with open(os.path.join(s.data, name), "rb") as handle:
            check(token.encode() not in handle.read(), f"the token stands in {name}")


@test()
def a_revoked_token_is_refused(s):
    keep = make_token(s.nest, s.data, "admin")
    gone = make_token(s.nest, s.data, "read", "--user", "ann")
    rows = json.loads(s.nest.run("token", "ls", "--data", s.data, "--json").stdout)
    same(sorted(row["role"] for row in rows), ["admin", "read"])
    check(gone not in json.dumps(rows) and keep not in json.dumps(rows))
    table = s.nest.run("token", "ls", "--data", s.data).stdout
    check("read" in table and "ann" in table and "admin" in table, table)
    wait_for(lambda: status(s, gone, "GET", "/api/tasks") == 200)
    ident = next(row["id"] for row in rows if row["role"] == "read")
    s.nest.run("token", "revoke", ident, "--data", s.data)
    wait_for(lambda: status(s, gone, "GET", "/api/tasks") == 401, "the end of the token")
    same(status(s, keep, "GET", "/api/tasks"), 200)
    s.nest.run("token", "revoke", ident, "--data", s.data, expect=1)


@test(clock=True)
def a_token_has_a_name_and_expires_by_the_servers_clock(s):
    keep = make_token(s.nest, s.data, "admin")
    brief = make_token(s.nest, s.data, "work", "--name", "resizer", "--expires", "2h")
    table = s.nest.run("token", "list", "--data", s.data).stdout
    check("resizer" in table and "EXPIRES" in table and "never" in table, table)
    row = next(row for row in json.loads(s.nest.run("token", "ls", "--data", s.data, "--json").stdout) if "name" in row)
    same((row["name"], row["role"], row["expiresAt"] > row["createdAt"]), ("resizer", "work", True))
    wait_for(lambda: status(s, brief, "GET", "/api/tasks") == 200)
    s.token = keep
    s.post("/api/test/clock", {"advanceMs": 3 * 3600000}, 200)
    s.token = None
    answer = s.raw("GET", "/api/tasks", headers={"Authorization": f"Bearer {brief}"})
    same(answer.status, 401)
    check("expired at " + row["expiresAt"] in answer.error["message"], answer.error)
    check("expired at" in s.nest.run("ls", "--token", brief, "--url", f"http://127.0.0.1:{s.port}", expect=1).stderr)
    same(status(s, keep, "GET", "/api/tasks"), 200)
    check("ahead" in s.nest.run("token", "create", "--role", "read", "--expires", "1h ago", "--data", s.data, expect=1).stderr)
    for words, hint in ((("token", "creat"), "token create"), (("tokn",), "token")):
        check(f"did you mean {hint}?" in s.nest.run(*words, expect=2).stderr)


@test()
def the_last_token_revoked_shuts_the_server_until_it_is_started_again(s):
    token = make_token(s.nest, s.data, "admin")
    wait_for(lambda: status(s, None, "GET", "/api/tasks") == 401)
    rows = json.loads(s.nest.run("token", "ls", "--data", s.data, "--json").stdout)
    s.nest.run("token", "revoke", rows[0]["id"], "--data", s.data)
    wait_for(lambda: status(s, token, "GET", "/api/tasks") == 401, "the end of the token")
    same(status(s, None, "GET", "/api/tasks"), 401)
    os.unlink(os.path.join(s.data, "tokens"))
    same(status(s, None, "GET", "/api/tasks"), 401)
    fresh = make_token(s.nest, s.data, "admin")
    wait_for(lambda: status(s, fresh, "GET", "/api/tasks") == 200, "a new token's welcome")
    os.truncate(os.path.join(s.data, "tokens"), 0)
    wait_for(lambda: status(s, fresh, "GET", "/api/tasks") == 401)
    same(status(s, None, "GET", "/api/tasks"), 401)
    s.restart()
    same(status(s, None, "GET", "/api/tasks"), 200)


@test()
def roles_may_do_what_the_table_says(s):
    task = s.create("none", queue="quiet")
    tokens = {role: make_token(s.nest, s.data, role) for role in ROLES}
    wait_for(lambda: status(s, None, "GET", "/api/tasks") == 401)
    base = f"/api/tasks/{task['id']}"
    nothing = "/api/tasks/018f0000-0000-7000-8000-000000000000"
    lease = {"lease": "1-0000000000000000"}
    for method, path, body, may in (
            ("GET", "/api/tasks", None, "read produce work admin"),
            ("GET", base, None, "read produce work admin"),
            ("GET", base + "/why", None, "read produce work admin"),
            ("GET", "/api/queues", None, "read produce admin"),
            ("GET", "/api/documents/d", None, "read produce admin"),
            ("GET", "/api/workers", None, "read produce admin"),
            ("GET", "/api/nodes", None, "read produce admin"),
            ("GET", "/api/stats", None, "read produce admin"),
            ("GET", "/metrics", None, "read produce admin"),
            ("POST", "/api/tasks", {"taskType": "t", "queue": "quiet"}, "produce admin"),
            ("PATCH", base, {"priority": "LOW"}, "produce admin"),
            ("POST", nothing + "/cancel", None, "produce admin"),
            ("POST", nothing + "/retry", None, "produce admin"),
            ("DELETE", nothing, None, "produce admin"),
            ("POST", "/api/tasks/cancel", {"taskType": "nobody"}, "produce admin"),
            ("POST", "/api/tasks/retry", {"taskType": "nobody"}, "produce admin"),
            ("POST", "/api/claim", {"workerId": "w"}, "work admin"),
            ("POST", nothing + "/heartbeat", lease, "work admin"),
            ("POST", nothing + "/complete", lease, "work admin"),
            ("POST", nothing + "/fail", lease, "work admin"),
            ("POST", nothing + "/release", lease, "work admin"),
            ("POST", "/api/finish", [], "work admin"),
            ("PUT", "/api/queues/x", {"maxConcurrent": 1}, "admin"),
            ("POST", "/api/queues/x/pause", None, "admin"),
            ("POST", "/api/queues/x/resume", None, "admin"),
            ("POST", "/api/queues/x/purge", None, "admin")):
        for role in ROLES:
            got = status(s, tokens[role], method, path, body)
            if role in may.split():
                check(got not in (401, 403), f"{role} may not {method} {path}: {got}")
            else:
                same(got, 403, f"{role} {method} {path}")
        same(status(s, None, method, path, body), 401, f"nobody {method} {path}")


@test()
def strangers_are_told_before_their_bodies_come(s):
    token = make_token(s.nest, s.data, "produce")
    wait_for(lambda: status(s, None, "GET", "/api/tasks") == 401, "401")
    announce = ("{} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                "Content-Length: 16777216\r\n{}\r\n").format
    known = f"Authorization: Bearer {token}\r\n"
    wires = []
    for line, more, wanted in [("POST /api/tasks", "", 401)] * 17 + [
            ("POST /api/tasks", "Expect: 100-continue\r\n", 401),
            ("POST /api/tasks", "Authorization: Bearer x\r\n", 401),
            ("POST /api/tasks", "Origin: http://evil.example\r\n", 403),
            ("POST /api/queues/default/purge", known, 403),
            ("POST /api/nothing", known, 404),
            ("DELETE /api/tasks", known, 405),
            ("GET /healthz", "", 413),
            ("POST /v1/tasks/execute", "", 413)]:
        wires.append(s.wire())
        wires[-1].send(announce(line, more))
        answer = wires[-1].answer()
        same(answer.status, wanted, line + more)
        check(answer.error["code"] and answer.error["message"], line)
        same(answer.headers.get("connection"), "close", line)
    same(status(s, token, "POST", "/api/tasks", {"taskType": "t", "payload": "x" * 300000}), 201)
    for wire in wires:
        wire.close()


@test()
def streams_take_a_token_in_the_query(s):
    token = make_token(s.nest, s.data, "read")
    wait_for(lambda: status(s, None, "GET", "/api/tasks") == 401)
    same(s.stream("/api/events").status, 401)
    same(s.stream(f"/api/events?access_token={token}").status, 200)
    same(s.stream("/api/events?access_token=wrong").status, 401)


@test()
def tokens_survive_a_restart_and_serve_the_client_commands(s):
    admin = make_token(s.nest, s.data, "admin")
    s.restart()
    same(status(s, None, "GET", "/api/tasks"), 401)
    s.cli("ls", expect=1)
    s.cli("ls", env={"ERRAND_TOKEN": admin})
    s.cli("push", "t", "--token", admin)
    s.cli("ls", "--token", "wrong", expect=1)


@test(server=False)
def another_address_needs_tokens_or_an_explicit_word(nest):
    folder = nest.folder()
    said = nest.refuses("--listen", "0.0.0.0:0", "--data", folder)
    check("token" in said.lower() or "insecure" in said.lower(), said)
    open_one = nest.server(data=folder, listen="0.0.0.0:0", args=("--insecure",))
    same(open_one.raw("GET", "/api/tasks").status, 200)
    same(open_one.terminate(), 0)
    token = make_token(nest, folder, "admin")
    closed = nest.server(data=folder, listen="0.0.0.0:0")
    same(status(closed, None, "GET", "/api/tasks"), 401)
    same(status(closed, token, "GET", "/api/tasks"), 200)


@test(env={"ERRAND_LOG_LEVEL": "debug"})
def payloads_and_secrets_never_appear_in_logs(s):
    secret = "SECRET-SECRET"
    s.create(payload=secret, metadata={"a": secret})
    s.call("POST", "/api/tasks", b'{"taskType":"t","payload":"SECRET-SECRET', 400)
    s.raw("GET", "/api/events?access_token=wrong&types=SECRET-SECRET")
    s.raw("GET", "/api/tasks", headers={"Authorization": f"Bearer {secret}"})
    task = s.claim_one()
    s.heartbeat(task, log=secret)
    s.fail(task, error={"code": "c", "message": secret})
    same(s.terminate(), 0)
    check(secret not in s.stderr(), s.stderr())


@test(server=False)
def tls_carries_the_whole_api(nest):
    cert, key = certificate(nest)
    s = nest.server(args=("--tls-cert", cert, "--tls-key", key), tls=cert)
    s.post("/api/tasks", [{"taskType": "t", "payload": "x" * 50000}] * 20, 201)
    s.complete(s.claim_one(), result="y" * 300000)
    same(len(s.show(s.list(state="COMPLETED")[0])["result"]), 300000)
    stream = s.stream("/api/events")
    task = s.create()
    same(stream.next()[2]["taskId"], task["id"])
    plain = Wire(s.port)
    plain.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
    check(not plain.rest().startswith(b"HTTP/1.1 200"), "plain text is answered")
    for junk in (b"\x16\x03\x01\x00\x00", b"\0" * 100, b""):
        with socket.create_connection(("127.0.0.1", s.port)) as bad:
            bad.sendall(junk)
    s.create()


@test(server=False)
def tls_needs_both_files_and_they_must_fit(nest):
    cert, key = certificate(nest)
    data = nest.folder()
    base = ("--listen", "127.0.0.1:0", "--data", data)
    nest.refuses(*base, "--tls-cert", cert)
    nest.refuses(*base, "--tls-key", key)
    nest.refuses(*base, "--tls-cert", cert, "--tls-key", cert)
    nest.refuses(*base, "--tls-cert", "/nowhere", "--tls-key", key)


main()
