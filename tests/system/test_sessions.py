# tests/system/test_sessions.py: signing in and out with a browser's cookie.
#
# SPDX-License-Identifier: MIT
"""What a cookie may do, for how long, and who cannot use it."""
import json

from errand import START, check, has, later, main, same, test, together, wait_for
from tokens import ROLES, certificate, make_token

OURS = {"X-Errand-Request": "1"}


def sign_in(s, token, expect=204):
    answer = s.call("POST", "/api/session", {"token": token}, expect)
    line = answer.headers.get("set-cookie", "")
    return line.split(";")[0], line


def status(s, cookie, method="GET", path="/api/tasks", body=None, **headers):
    more = {name.replace("_", "-"): value for name, value in headers.items()}
    return s.raw(method, path, body, {"Cookie": cookie, **more}).status


def who(s, cookie=None, **headers):
    answer = s.call("GET", "/api/session", None, 200, {"Cookie": cookie, **headers})
    check("no-store" in answer.headers.get("cache-control", ""), answer.headers)
    return answer.json


def tokens(s, *roles):
    made = [make_token(s.nest, s.data, role) for role in roles]
    wait_for(lambda: s.raw("GET", "/api/tasks").status == 401, "tokens that count")
    s.token = made[0]
    s.get("/openapi.json")
    s.call("GET", "/healthz")
    s.token = None
    return made


@test()
def without_tokens_nobody_signs_in(s):
    same(who(s), {"required": False, "role": "admin", "user": None})
    sign_in(s, "errand_" + "A" * 43, 401)
    s.call("DELETE", "/api/session", None, 204)


@test()
def a_cookie_stands_for_its_token_and_role(s):
    made = dict(zip(ROLES, tokens(s, *ROLES)))
    same(who(s), {"required": True, "role": None, "user": None})
    for role, token in made.items():
        cookie, line = sign_in(s, token)
        parts = [part.strip().lower() for part in line.split(";")]
        check(parts[0].startswith("errand_session=") and len(parts[0]) > 30, line)
        check({"httponly", "samesite=strict", "path=/"} <= set(parts) and "secure" not in parts, line)
        check("max-age=43200" in parts and not any(part.startswith("domain") for part in parts), line)
        check(token not in line, "the token can be read in the cookie")
        same(who(s, cookie), {"required": True, "role": role, "user": None})
        same(status(s, cookie), 200, role)
        same(status(s, cookie, path="/api/queues"), 403 if role == "work" else 200, role)
        same(status(s, cookie, "POST", body={"taskType": "t"}, **OURS), 201 if role in ("produce", "admin") else 403)
        same(status(s, cookie, "POST", "/api/queues/q/pause", **OURS), 200 if role == "admin" else 403, role)
        check(token not in s.stderr() and cookie not in s.stderr(), "a secret is in the log")


@test()
def a_wrong_token_signs_nobody_in(s):
    (token,) = tokens(s, "admin")
    for wrong in (token[:-1], token + "x", "", "x", token.upper(), "é" * 20):
        answer = s.call("POST", "/api/session", {"token": wrong}, 401)
        check("set-cookie" not in answer.headers, answer.headers)
    for body, expect in (({}, 400), ({"token": 1}, 400), ({"token": "x" * 300}, 400), ({"token": token, "x": 1}, 400),
                         ([], 400), (b"", 400), ({"token": "x" * 5000}, 413)):
        s.call("POST", "/api/session", body, expect)
    answer = s.raw("POST", "/api/session", json.dumps({"token": token}).encode(), {"Content-Type": "text/plain"})
    same(answer.status, 415)
    same(s.raw("GET", "/api/session", headers={"Authorization": "Bearer wrong"}).status, 401)
    same(s.raw("PUT", "/api/session").status, 405)


@test()
def whoever_guesses_at_tokens_is_slowed_down(s):
    (token,) = tokens(s, "admin")
    statuses = [s.raw("POST", "/api/session", {"token": "x"}).status for _ in range(40)]
    same(statuses[0], 401)
    check(429 in statuses, statuses)
    answer = s.call("POST", "/api/session", {"token": token}, 429)
    check(int(answer.headers["retry-after"]) > 0, answer.headers)
    same(s.raw("GET", "/api/tasks", headers={"Authorization": f"Bearer {token}"}).status, 200)


@test()
def what_a_cookie_changes_needs_the_header_of_our_pages(s):
    (token,) = tokens(s, "admin")
    cookie, _ = sign_in(s, token)
    task = json.loads(s.raw("POST", "/api/tasks", {"taskType": "t"}, {"Cookie": cookie, **OURS}).body)
    base = f"/api/tasks/{task['id']}"
    changes = (("POST", "/api/tasks", {"taskType": "t"}), ("PATCH", base, {"priority": "LOW"}),
               ("POST", base + "/cancel", None), ("DELETE", base, None), ("PUT", "/api/queues/q", {"burst": 1}),
               ("POST", "/api/claim", {"workerId": "w"}), ("DELETE", "/api/session", None),
               ("POST", "/mcp", {"jsonrpc": "2.0", "id": 1, "method": "ping"}))
    for method, path, body in changes:
        for wrong in ({}, {"X-Errand-Request": "0"}, {"X-Errand-Request": ""}, {"X-Errand-Request": "true"}):
            same(status(s, cookie, method, path, body, **wrong), 403, f"{method} {path}")
        check(status(s, None, method, path, body, Authorization=f"Bearer {token}") not in (401, 403), path)
    same(status(s, cookie), 200)
    preview = {"title": "t", "rrule": "FREQ=DAILY"}
    same(status(s, cookie, "POST", "/api/schedules/preview", preview), 200)
    same(status(s, cookie, "POST", "/api/schedules", preview), 403)
    same(status(s, cookie, "POST", "/api/schedules", preview, **OURS), 201)
    # A token beside the cookie needs nothing: no other site can send that either.
    same(status(s, cookie, "POST", "/api/tasks", {"taskType": "t"}, Authorization=f"Bearer {token}"), 201)
    same(status(s, cookie, "POST", "/api/tasks", {"taskType": "t"}, Origin="http://evil.example", **OURS), 403)
    same(status(s, cookie, Origin="http://evil.example"), 403)
    same(status(s, cookie, Host="evil.example"), 403)


@test(clock=START)
def a_session_ends_by_signing_out_by_time_and_with_its_token(s):
    admin, reader = tokens(s, "admin", "read")
    first, _ = sign_in(s, admin)
    second, _ = sign_in(s, admin)
    third, _ = sign_in(s, reader)
    check(first != second, "two sessions are one")
    answer = s.call("DELETE", "/api/session", None, 204, {"Cookie": first, **OURS})
    line = answer.headers["set-cookie"].lower()
    check(line.startswith("errand_session=;") and "max-age=0" in line and "path=/" in line, line)
    same([status(s, each) for each in (first, second, third)], [401, 200, 200])
    same(who(s, first), {"required": True, "role": None, "user": None})
    s.call("DELETE", "/api/session", None, 204, {"Cookie": first, **OURS})  # again: it is over already
    rows = json.loads(s.nest.run("token", "ls", "--data", s.data, "--json").stdout)
    s.nest.run("token", "revoke", next(row["id"] for row in rows if row["role"] == "read"), "--data", s.data)
    wait_for(lambda: status(s, third) == 401, "the end of the revoked token's session")
    s.token = admin
    s.advance(12 * 3600 * 1000 - 1)
    s.token = None
    same(status(s, second), 200)
    s.token = admin
    s.advance(1)
    s.token = None
    same(status(s, second), 401)
    fresh, _ = sign_in(s, admin)
    same(status(s, fresh), 200)
    s.restart()
    same([status(s, each) for each in (first, fresh)], [401, 401], "sessions from before the restart")


@test()
def a_forged_or_doubled_cookie_is_nobody(s):
    (token,) = tokens(s, "admin")
    cookie, _ = sign_in(s, token)
    name, value = cookie.split("=", 1)
    ident, sealed = value.split(".", 1)
    for forged in (value[:-1], value + "A", value[:-4] + "AAAA", ident, ident + ".", "." + sealed, "000000000000." + sealed,
                   ident + "." + "A" * len(sealed), ident + "." + sealed[::-1], "x" * 5000, token, f"{ident}.{sealed}.{sealed}"):
        same(status(s, f"{name}={forged}"), 401, forged)
    for odd in ("", ";", "=", ";;;=;=;", "errand_session", "errand_session=", "x=" + value, "ERRAND_SESSION=" + value,
                f"{cookie}; {name}={value[:-4]}AAAA"):
        same(status(s, odd), 401, odd)
    for fine in (f"a=b; {cookie}", f"{cookie};a=b", f" {name} = {value} ", f'{name}="{value}"', f"{cookie}; {cookie}"):
        same(status(s, fine), 200, fine)


@test()
def event_streams_open_with_the_cookie(s):
    (token,) = tokens(s, "read")
    cookie, _ = sign_in(s, token)
    same(s.stream("/api/events").status, 401)
    same(s.stream("/api/events", {"Cookie": cookie}).status, 200)
    same(s.stream("/api/notifications/stream", {"Cookie": cookie}).status, 200)


def ends(s, stream, what):
    """Something happens again and again, and the stream ends instead of telling it."""
    def over():
        s.create("more")
        try:
            stream.next()
        except ConnectionError:
            return True
        return False
    wait_for(over, what)


def revoke(s, role):
    rows = json.loads(s.nest.run("token", "ls", "--data", s.data, "--json").stdout)
    s.nest.run("token", "revoke", next(row["id"] for row in rows if row["role"] == role), "--data", s.data)


@test(clock=START)
def a_stream_ends_with_the_token_or_session_that_opened_it(s):
    admin, reader = tokens(s, "admin", "read")
    cookie, _ = sign_in(s, reader)
    leaving, _ = sign_in(s, admin)
    bearer = s.stream("/api/events", {"Authorization": f"Bearer {reader}"})
    page = s.stream("/api/events?paceMs=100", {"Cookie": cookie})
    signed = s.stream("/api/events", {"Cookie": leaving})
    s.token = admin
    brief = make_token(s.nest, s.data, "produce", "--expires", later(START, 3600 * 1000))
    wait_for(lambda: s.raw("GET", "/api/tasks", None, {"Authorization": f"Bearer {brief}"}).status == 200)
    expires = s.stream("/api/events", {"Authorization": f"Bearer {brief}"})
    stays = s.stream("/api/events")
    same([each.status for each in (bearer, page, signed, expires, stays)], [200] * 5)
    revoke(s, "read")
    ends(s, bearer, "the end of a revoked token's stream")
    ends(s, page, "the end of the stream of its session")
    s.token = None
    s.call("DELETE", "/api/session", None, 204, {"Cookie": leaving, **OURS})
    s.token = admin
    ends(s, signed, "the end of the stream of who has signed out")
    s.advance(3600 * 1000)
    ends(s, expires, "the end of an expired token's stream")
    same(stays.next()[0], "state")


@test(args=("--workers", "0"))
def what_waits_is_not_answered_to_a_revoked_token(s):
    admin, worker = tokens(s, "admin", "work")
    body = {"workerId": "w", "taskTypes": ["t"], "waitMs": 60000}
    s.token = admin
    other = s.create("other")
    bearer = {"Authorization": f"Bearer {worker}"}

    def act():
        wait_for(lambda: s.get("/api/stats")["waitingClaims"] == 1, "a claim that waits")
        revoke(s, "work")
        wait_for(lambda: s.raw("GET", f"/api/tasks/{other['id']}", None, bearer).status == 401, "the end of the token")
        s.post(f"/api/tasks/{other['id']}/cancel", None)
        return s.create("t")

    claim, show, task = together(
        lambda: s.raw("POST", "/api/claim", body, bearer),
        lambda: s.raw("GET", f"/api/tasks/{other['id']}?waitMs=60000", None, bearer), act)
    same([claim.status, show.status], [401, 401])
    wait_for(lambda: s.get(f"/api/tasks/{task['id']}")["state"] == "QUEUED", "that it is given back")
    has(s.get(f"/api/tasks/{task['id']}"), retries=0)


@test()
def the_session_of_a_users_token_is_that_users(s):
    admin = make_token(s.nest, s.data, "admin")
    ann = make_token(s.nest, s.data, "produce", "--user", "ann")
    wait_for(lambda: s.raw("GET", "/api/tasks").status == 401)
    made = s.raw("POST", "/api/schedules", {"title": "b", "rrule": "FREQ=DAILY", "userId": "ben"},
                 {"Authorization": f"Bearer {admin}"}).json
    s.token = admin
    cookie, _ = sign_in(s, ann)
    s.token = None
    same(who(s, cookie), {"required": True, "role": "produce", "user": "ann"})
    same(status(s, cookie, path=f"/api/schedules/{made['id']}"), 404)
    same(json.loads(s.raw("GET", "/api/schedules", headers={"Cookie": cookie}).body), [])
    same(status(s, cookie, "POST", "/api/claim", {"workerId": "w"}, **OURS), 403)


@test(server=False)
def under_tls_the_cookie_is_secure(nest):
    cert, key = certificate(nest)
    s = nest.server(args=("--tls-cert", cert, "--tls-key", key), tls=cert)
    (token,) = tokens(s, "admin")
    cookie, line = sign_in(s, token)
    check("; secure" in line.lower(), line)
    same(status(s, cookie), 200)
    answer = s.call("DELETE", "/api/session", None, 204, {"Cookie": cookie, **OURS})
    check("; secure" in answer.headers["set-cookie"].lower(), answer.headers)


main()
