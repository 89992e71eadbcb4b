# tests/system/test_http.py: HTTP/1.1 as strangers speak it: in pieces, at length, and badly.
#
# SPDX-License-Identifier: MIT
import json
import resource
import socket
import struct

from errand import Wire, check, has, main, same, test, together

MIB = 1024 * 1024
CREATE = b'{"taskType":"t"}'


def exchange(s, data):
    """Sends the bytes on a new connection; returns the first answer, or None when it was closed."""
    wire = s.wire()
    try:
        wire.send(data)
        return wire.answer()
    except (ConnectionError, OSError):
        return None
    finally:
        wire.close()


def post(headers, body=CREATE, path=b"/api/tasks", version=b"HTTP/1.1"):
    return (b"POST " + path + b" " + version + b"\r\nHost: localhost\r\n"
            b"Content-Type: application/json\r\n" + headers + b"\r\n" + body)


# ---- Framing that must be refused ----


@test()
def ambiguous_framing_is_refused(s):
    size = str(len(CREATE)).encode()
    chunk = b"10\r\n" + CREATE + b"\r\n0\r\n\r\n"
    length = b"Content-Length: " + size + b"\r\n"
    for name, data in {
            "length and chunks": post(length + b"Transfer-Encoding: chunked\r\n", chunk),
            "two lengths": post(length + b"Content-Length: 15\r\n"),
            "a signed length": post(b"Content-Length: +" + size + b"\r\n"),
            "a negative length": post(b"Content-Length: -1\r\n"),
            "a hex length": post(b"Content-Length: 0x10\r\n"),
            "an empty length": post(b"Content-Length: \r\n"),
            "a list of lengths": post(b"Content-Length: 16, 17\r\n"),
            "a huge length": post(b"Content-Length: 99999999999999999999999\r\n"),
            "gzip, chunked": post(b"Transfer-Encoding: gzip, chunked\r\n", chunk),
            "identity": post(b"Transfer-Encoding: identity\r\n" + length),
            "xchunked": post(b"Transfer-Encoding: xchunked\r\n", chunk),
            "chunked twice": post(b"Transfer-Encoding: chunked\r\n"
                                  b"Transfer-Encoding: chunked\r\n", chunk),
            "space before colon": post(b"Content-Length : " + size + b"\r\n"),
            "bare CR": post(b"X-A: a\rb\r\n" + length),
            "NUL in a header": post(b"X-A: a\0b\r\n" + length),
            "folded header": post(b"X-A: a\r\n b\r\n" + length),
            "header without colon": post(b"nonsense\r\n" + length),
            "empty name": post(b": x\r\n" + length),
            "no host": b"GET /api/tasks HTTP/1.1\r\n\r\n",
            "two hosts": b"GET /api/tasks HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n",
            "no version": b"GET /api/tasks\r\nHost: localhost\r\n\r\n",
            "a strange version": b"GET /api/tasks HTTP/9.9\r\nHost: localhost\r\n\r\n",
            "no path": b"GET  HTTP/1.1\r\nHost: localhost\r\n\r\n",
            "a strange method": b"GE\x00T / HTTP/1.1\r\nHost: localhost\r\n\r\n",
            "space in the path": b"GET /api/ tasks HTTP/1.1\r\nHost: localhost\r\n\r\n",
            "bad chunk size": post(b"Transfer-Encoding: chunked\r\n", b"xyz\r\n" + CREATE),
            "negative chunk": post(b"Transfer-Encoding: chunked\r\n", b"-1\r\n"),
            "huge chunk": post(b"Transfer-Encoding: chunked\r\n", b"ffffffffffffffffff\r\n"),
            "chunk without end": post(b"Transfer-Encoding: chunked\r\n", b"10\r\n" + CREATE + b"xx"),
            "percent rubbish": b"GET /api/tasks/%zz HTTP/1.1\r\nHost: localhost\r\n\r\n",
            "a TLS hello": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n"}.items():
        answer = exchange(s, data)
        check(answer is None or 400 <= answer.status < 506 and answer.status != 500,
              f"{name}: {answer!r}")
        check(answer is None or answer.status >= 500 or answer.error["message"], name)
    same(s.list(), [], "nothing came of it")


@test()
def heads_have_a_limit(s):
    long_path = b"GET /" + b"x" * 100000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n"
    many = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n" + b"X-Y: z\r\n" * 5000 + b"\r\n"
    big = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Y: " + b"z" * 200000 + b"\r\n\r\n"
    for data in (long_path, many, big):
        answer = exchange(s, data)
        check(answer is None or answer.status in (400, 413, 414, 431), repr(answer))
    has(s.get("/healthz"), status="ok")


# ---- Framing that must work ----


@test()
def chunked_bodies_with_extensions_and_trailers(s):
    head = b"Transfer-Encoding: chunked\r\n"
    for body in (b"10\r\n" + CREATE + b"\r\n0\r\n\r\n",
                 b"5;a=b;c=\"d\"\r\n" + CREATE[:5] + b"\r\n00b;x\r\n" + CREATE[5:]
                 + b"\r\n0\r\nX-Trailer: y\r\n\r\n",
                 b"".join(b"1\r\n" + bytes([c]) + b"\r\n" for c in CREATE) + b"0\r\n\r\n"):
        same(exchange(s, post(head, body)).status, 201, repr(body))


@test()
def a_request_may_come_byte_by_byte(s):
    wire = s.wire()
    data = post(b"Content-Length: %d\r\n" % len(CREATE))
    for at in range(len(data)):
        wire.send(data[at:at + 1])
    same(wire.answer().status, 201)
    wire.close()


@test()
def pipelined_requests_are_answered_in_order(s):
    wire = s.wire()
    count = 200
    body = [json.dumps({"taskType": f"t{n}"}).encode() for n in range(count)]
    wire.send(b"".join(post(b"Content-Length: %d\r\n" % len(b), b) for b in body)
              + b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
    for n in range(count):
        answer = wire.answer()
        same((answer.status, answer.json["taskType"]), (201, f"t{n}"))
    same(wire.answer().json["status"], "ok")
    wire.close()


@test()
def expect_is_answered_before_the_body(s):
    wire = s.wire()
    wire.send(post(b"Expect: 100-continue\r\nContent-Length: %d\r\n" % len(CREATE), b""))
    same(wire.head()[0], 100)
    wire.send(CREATE)
    same(wire.answer().status, 201)
    wire.send(post(b"Expect: 100-continue\r\nContent-Length: %d\r\n" % (64 * MIB), b""))
    same(wire.answer().status, 413)
    wire.close()


@test()
def connections_are_kept_or_closed_as_asked(s):
    wire = s.wire()
    for _ in range(3):
        wire.send(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        same(wire.answer().status, 200)
    wire.send(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    same(wire.answer().headers.get("connection", "").lower(), "close")
    same(wire.rest(), b"")
    old = s.wire()
    old.send(b"GET /healthz HTTP/1.0\r\nHost: localhost\r\n\r\n")
    check(b" 200 " in old.rest())
    half = s.wire()
    half.send(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
    half.socket.shutdown(socket.SHUT_WR)
    same(half.answer().status, 200, "a client that says no more still gets its answer")
    for each in (wire, old, half):
        each.close()


@test()
def clients_that_vanish_harm_nobody(s):
    data = post(b"Content-Length: %d\r\n" % len(CREATE))
    for cut in range(0, len(data), 7):
        wire = s.wire()
        wire.send(data[:cut])
        if cut % 2:  # a reset instead of a polite end
            wire.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        wire.close()
    same(s.list(), [])
    s.create()


@test()
def an_answer_may_be_read_slowly(s):
    s.post("/api/tasks", [{"taskType": "t", "payload": "x" * 4000}] * 500, 201)
    wire = Wire(s.port)
    wire.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
    wire.send(b"GET /api/tasks?limit=500 HTTP/1.1\r\nHost: localhost\r\n\r\n")
    s.create()
    same(len(wire.answer().json), 500)
    wire.close()


# ---- Hostile JSON ----


@test()
def hostile_json_is_refused_kindly(s):
    deep = 100000
    for body in (b'{"taskType":"t","payload":' + b"[" * deep + b"]" * deep + b"}",
                 b"[" * deep, b'{"a":' * deep,
                 b'{"taskType":"t","payload":' + b"[" * 300 + b"]" * 300 + b"}",
                 b'{"taskType":"t","payload":"\xff\xfe"}',
                 b'{"taskType":"t","payload":"\xc0\xaf"}',
                 b'{"taskType":"t","payload":"\xed\xa0\x80"}',
                 b'{"taskType":"t","payload":"\xf4\x90\x80\x80"}',
                 b'{"taskType":"t","payload":"a\nb"}', b'{"taskType":"t","payload":"\\x41"}',
                 b'{"taskType":"t","payload":"\\ud800"}', b'{"taskType":"t","payload":.5}',
                 b'{"taskType":"t","payload":+1}', b'{"taskType":"t","payload":1.}',
                 b'{"taskType":"t","payload":tru}', b'{"taskType":"t" "payload":1}',
                 b'{"taskType":"t","payload":[1,]}', b'{"taskType":"t"', b'{"taskType":"t\0"}',
                 b'\0', b'{"taskType":"t","payload":"unfinished'):
        answer = s.call("POST", "/api/tasks", body, 400)
        same(answer.error["code"], "invalid_argument", repr(body[:60]))
    same(s.list(), [])


@test()
def ten_megabytes_in_one_request(s):
    body = json.dumps({"tasks": [{"taskType": "t", "payload": "x" * 10000}] * 999}).encode()
    check(len(body) > 9 * MIB)
    same(len(s.call("POST", "/api/tasks", body, 201).json), 999)
    s.call("POST", "/api/tasks", b" " * (10 * MIB) + CREATE, 201)
    s.call("POST", "/api/tasks", b"[" + b"{}," * (3 * MIB) + b"{}]", 400)
    s.call("POST", "/api/tasks", b'{"taskType":"' + b"\\u0041" * MIB + b'"}', 400)


# ---- Many ----


@test()
def ten_thousand_idle_connections(s):
    wanted = 10000
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    check(hard >= wanted + 500, f"only {hard} files may be open here: raise `ulimit -Hn`")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted + 500), hard))
    with open(f"/proc/{s.process.pid}/limits", encoding="ascii") as handle:
        server_soft = next(int(line.split()[3]) for line in handle if "open files" in line)
    check(server_soft >= wanted + 500, f"the server may open only {server_soft} files here")
    idle = []
    try:
        for _ in range(wanted):
            idle.append(socket.create_connection(("127.0.0.1", s.port), timeout=60))
        has(s.get("/healthz"), status="ok")
        task = s.create()
        same(s.claim_one()["id"], task["id"])
        for connection in idle[::1000]:
            connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            check(connection.recv(100).startswith(b"HTTP/1.1 200"))
    finally:
        for connection in idle:
            connection.close()
    s.create()


@test(server=False)
def too_many_connections_get_a_clear_answer(nest):
    conf = nest.file("errand.conf", "[limits]\nconnections = 10\n")
    s = nest.server(args=("--config", conf))
    wires = [s.wire() for _ in range(10)]
    for wire in wires:
        wire.send(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        same(wire.answer().status, 200)
    extra = s.wire()
    answer = extra.answer()
    same(answer.status, 503)
    check("retry-after" in answer.headers, answer.headers)
    for wire in wires + [extra]:
        wire.close()


@test(server=False)
def too_many_waiting_claims_get_a_429(nest):
    conf = nest.file("errand.conf", "[limits]\nwaiting_claims = 3\n")
    s = nest.server(args=("--config", conf))
    wires = [s.wire() for _ in range(5)]
    for wire in wires:
        wire.send(s.request("POST", "/api/claim", {"workerId": "w", "waitMs": 60000}))
    refused = []
    for wire in wires:
        wire.socket.settimeout(0.3)
        try:
            refused.append(wire.answer())
        except TimeoutError:
            pass
    same([answer.status for answer in refused], [429, 429])
    check(all("retry-after" in answer.headers for answer in refused))
    for wire in wires:
        wire.close()


@test()
def many_at_once_are_all_answered(s):
    def burst():
        for n in range(40):
            s.create(payload=n)
            s.complete(s.claim_one(waitMs=10000))
        return True
    together(*[burst] * 8)
    same(len(s.list(state="COMPLETED", limit=500)), 320)


main()
