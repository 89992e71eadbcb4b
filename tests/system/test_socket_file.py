# tests/system/test_socket_file.py: a server that listens on a socket file, beside an address or alone.
#
# SPDX-License-Identifier: MIT
import http.client
import json
import os
import socket
import stat

from errand import check, has, main, same, test, wait_for


class Wire(http.client.HTTPConnection):
    """HTTP over a socket file."""

    def __init__(self, path):
        super().__init__("localhost", timeout=30)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(30)
        self.sock.connect(self.path)

    def ask(self, method, path, body=None, **headers):
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        self.request(method, path, None if body is None else json.dumps(body), {"Content-Type": "application/json", **headers})
        answer = self.getresponse()
        return answer.status, json.loads(answer.read() or b"null")


def both(nest, **more):
    """A server on a free port and on a socket file; its path."""
    path = os.path.join(nest.root, "errand.sock")
    return nest.server(args=["--listen", f"unix:{path}"], **more), path


@test(server=False)
def the_same_api_is_served_beside_the_address(nest):
    s, path = both(nest)
    check(stat.S_IMODE(os.stat(path).st_mode) == 0o660, "its mode is not 0660")
    status, task = Wire(path).ask("POST", "/api/tasks", {"taskType": "a"})
    same(status, 201)
    has(s.show(task), state="QUEUED")
    has(s.claim_one(), id=task["id"])
    same(s.terminate(), 0)
    check(not os.path.exists(path), "the file is still there")


@test(server=False)
def client_commands_find_it(nest):
    s, path = both(nest)
    nest.run("push", "a", '{"n":1}', "--url", f"unix:{path}")
    listed = json.loads(nest.run("ls", "--json", env={"ERRAND_URL": f"unix:{path}"}).stdout)
    same([task["taskType"] for task in listed], ["a"])
    nest.run("bench", "--count", "50", "--connections", "2", "--url", f"unix:{path}")
    same(len(s.get("/api/tasks?taskType=bench")), 50)
    said = nest.run("ls", "--url", "unix:", expect=None).stderr
    check("is not a server's address" in said, said)


@test(server=False)
def a_server_may_have_a_socket_file_alone(nest):
    path = os.path.join(nest.root, "alone.sock")
    s = nest.server(listen=f"unix:{path}", wait=False)
    line = s.process.stdout.readline().decode()
    same(line, f"errand: ready on unix:{path}\n")
    same(Wire(path).ask("GET", "/api/nodes")[1]["nodes"][0]["address"], f"unix:{path}")
    same(s.terminate(), 0)


@test(server=False)
def what_a_dead_server_left_is_replaced_and_a_living_one_is_not(nest):
    s, path = both(nest)
    said = nest.refuses("--listen", f"unix:{path}", "--data", nest.folder())
    check("another server does already" in said, said)
    same(Wire(path).ask("GET", "/healthz")[0], 200)
    s.kill()
    check(os.path.exists(path), "a killed server removed its file")
    s.start()
    same(Wire(path).ask("GET", "/healthz")[0], 200)


@test(server=False)
def a_file_that_is_no_socket_is_left_alone(nest):
    path = nest.file("notes.txt", "mine")
    said = nest.refuses("--listen", f"unix:{path}", "--data", nest.folder())
    check("no socket" in said, said)
    with open(path, encoding="ascii") as handle:
        same(handle.read(), "mine")
    for bad in ("unix:", "unix:" + "x" * 200, "unix:a,unix:b", "127.0.0.1:0,127.0.0.1:0"):
        nest.refuses("--listen", bad, "--data", nest.folder())


@test(server=False)
def the_rules_for_host_origin_and_tokens_hold_there_too(nest):
    s, path = both(nest)
    same(Wire(path).ask("GET", "/api/tasks", Host="evil.example")[0], 403)
    same(Wire(path).ask("GET", "/api/tasks", Origin="http://evil.example")[0], 403)
    token = nest.run("token", "create", "--role", "read", "--data", s.data).stdout.strip()
    wait_for(lambda: Wire(path).ask("GET", "/api/tasks")[0] == 401)
    same(Wire(path).ask("GET", "/api/tasks", Authorization=f"Bearer {token}")[0], 200)
    same(Wire(path).ask("POST", "/api/tasks", {"taskType": "a"}, Authorization=f"Bearer {token}")[0], 403)


@test(server=False)
def pipelined_creates_are_answered_in_order(nest):
    _, path = both(nest)
    wire = socket.socket(socket.AF_UNIX)
    wire.settimeout(30)
    wire.connect(path)
    requests = b""
    for number in range(100):
        body = json.dumps({"taskType": f"t{number:03}"}).encode()
        requests += b"POST /api/tasks HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
    wire.sendall(requests + b"GET /api/tasks?limit=500 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    with wire.makefile("rb") as heard:
        text = heard.read()
    wire.close()
    same(text.count(b"HTTP/1.1 201 "), 100)
    answers = text.split(b"HTTP/1.1 ")[1:]
    for number, answer in enumerate(answers[:100]):
        check(b'"taskType":"t%03d"' % number in answer, answer)
    same(answers[100].count(b'"taskType":'), 100)  # a list behind creates has them


main()
