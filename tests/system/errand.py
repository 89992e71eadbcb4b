# tests/system/errand.py: a real `errand serve` to speak to, and the runner that tells TAP.
#
# A test is a function with a claim for a name; it is given a fresh server in a folder of its own:
#
#     @test(clock=START)
#     def a_failed_task_waits_for_its_backoff(s): ...
#
# No test sleeps and hopes: it waits with waitMs, follows an event stream, winds the test clock, or
# asks for a condition under a generous deadline (patience.py). Every answer is held against the server's
# own /openapi.json on the way. A server that died by itself, or whose sanitizer had something to
# say, fails its test.
#
# SPDX-License-Identifier: MIT
"""Harness of the system tests."""
import datetime
import itertools
import json
import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import urllib.parse

import schema
from patience import DEADLINE, wait_for  # noqa: F401: for the tests

START = "2027-03-01T09:00:00.000Z"
PATIENCE = 120  # seconds for one answer; a hung server fails its test, not the whole suite
UUID7 = re.compile(r"^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$")
TIME = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
SANITIZER = re.compile(r"ERROR: \w+Sanitizer|WARNING: \w+Sanitizer|runtime error:")
TERMINAL = ("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT")


def binary():
    return os.environ.get("ERRAND_BIN") or os.path.abspath("build/errand")


# ---- Checks and times ----


def check(condition, message="this does not hold"):
    if not condition:
        raise AssertionError(message)


def same(actual, expected, what=""):
    if actual != expected:
        raise AssertionError(f"{what or 'value'} is {actual!r}, not {expected!r}")


def has(mapping, **expected):
    """Every named field is there with that value; None: it is absent."""
    for key, value in expected.items():
        if value is None:
            check(key not in mapping, f"{key} is there: {mapping.get(key)!r}")
        else:
            check(key in mapping, f"{key} is missing in {mapping}")
            same(mapping[key], value, key)


def parse_time(text):
    check(TIME.match(text), f"{text!r} is not RFC 3339 in UTC with milliseconds")
    plain = datetime.datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ")
    return round(plain.replace(tzinfo=datetime.timezone.utc).timestamp() * 1000)


def time_text(ms):
    plain = datetime.datetime.fromtimestamp(ms // 1000, datetime.timezone.utc)
    return plain.strftime("%Y-%m-%dT%H:%M:%S") + f".{ms % 1000:03d}Z"


def later(text, ms):
    return time_text(parse_time(text) + ms)


# ---- HTTP, by hand: the server's framing is under test too ----


class Answer:
    """One response: status, headers (lower-case names), body."""

    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def error(self):
        return self.json["error"]

    def __repr__(self):
        return f"{self.status} {self.body[:600].decode(errors='replace')}"


class Wire:
    """One connection: sends bytes, reads answers."""

    def __init__(self, port, host="127.0.0.1", context=None, timeout=PATIENCE):
        self.socket = socket.create_connection((host, port), timeout=timeout)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if context is not None:
            self.socket = context.wrap_socket(self.socket, server_hostname="localhost")
        self.buffer = bytearray()

    def break_off(self):
        try:
            self.socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # the other side was faster

    def send(self, data):
        self.socket.sendall(data if isinstance(data, bytes) else data.encode())

    def more(self):
        try:
            data = self.socket.recv(65536)
        except (ssl.SSLEOFError, ssl.SSLZeroReturnError):
            data = b""
        if not data:
            raise ConnectionError("the server closed the connection")
        self.buffer += data

    def line(self):
        while (end := self.buffer.find(b"\r\n")) < 0:
            self.more()
        return self.take(end + 2)[:-2].decode("latin-1")

    def take(self, n):
        while len(self.buffer) < n:
            self.more()
        data = bytes(self.buffer[:n])
        del self.buffer[:n]
        return data

    def head(self):
        status_line, headers = self.line(), {}
        found = re.match(r"^HTTP/1\.1 (\d{3})( .*)?$", status_line)
        check(found, f"not a status line: {status_line!r}")
        while line := self.line():
            name, value = line.split(":", 1)
            headers[name.lower()] = value.strip()
        return int(found.group(1)), headers

    def chunks(self):
        body = b""
        while size := int(self.line().split(";")[0], 16):
            body += self.take(size)
            self.line()
        while self.line():
            pass
        return body

    def answer(self, method="GET"):
        status, headers = self.head()
        while 100 <= status < 200:
            status, headers = self.head()
        if method == "HEAD" or status in (204, 304):
            body = b""
        elif headers.get("transfer-encoding") == "chunked":
            body = self.chunks()
        elif "content-length" in headers:
            body = self.take(int(headers["content-length"]))
        else:
            body = self.rest()
        return Answer(status, headers, body)

    def rest(self):
        """Everything until the server closes."""
        try:
            while True:
                self.more()
        except ConnectionError:
            return self.take(len(self.buffer))

    def close(self):
        self.socket.close()


class Stream:
    """An event stream: an iterator of (event, id, data) without pings."""

    def __init__(self, wire):
        self.wire = wire
        self.status, self.headers = wire.head()
        self.chunked = self.headers.get("transfer-encoding") == "chunked"
        self.text, self.retry = b"", None

    def more(self):
        if not self.chunked:
            if not self.wire.buffer:
                self.wire.more()
            self.text += self.wire.take(len(self.wire.buffer))
            return
        size = int(self.wire.line().split(";")[0], 16)
        if size == 0:
            raise ConnectionError("the stream ended")
        self.text += self.wire.take(size)
        self.wire.line()

    def block(self):
        while b"\n\n" not in self.text:
            self.more()
        block, self.text = self.text.split(b"\n\n", 1)
        return block.decode()

    def next(self):
        """The next event as (event, id, data); comments and retry lines are passed over."""
        while True:
            fields = {}
            for line in self.block().split("\n"):
                if line.startswith(":"):
                    continue
                name, _, value = line.partition(": ")
                check(name not in fields, f"an event with two {name} lines")
                fields[name] = value
            self.retry = fields.pop("retry", self.retry)
            if fields:
                data = json.loads(fields["data"]) if "data" in fields else None
                return fields.get("event", "message"), fields.get("id"), data

    def until(self, wanted):
        """Reads on until wanted(event, data) holds; returns all events read."""
        seen = []
        while True:
            seen.append(self.next())
            if wanted(seen[-1][0], seen[-1][2]):
                return seen

    def rest(self):
        """All events until the server ends the stream."""
        seen = []
        try:
            while True:
                seen.append(self.next())
        except (ConnectionError, EOFError):
            return seen

    def close(self):
        self.wire.close()


# ---- A server ----


class Server:
    """One `errand serve` process and the calls its users make."""

    def __init__(self, nest, data=None, clock=None, args=(), env=None, tls=None, listen=None,
                 wait=True, token=None):
        self.nest, self.token, self.tls = nest, token, tls
        self.data = data or nest.folder()
        self.command = [binary(), "serve", "--listen", listen or "127.0.0.1:0", "--data", self.data]
        if clock:
            self.command.append("--test-clock" if clock is True else f"--test-clock={clock}")
        self.command += list(args)
        # Any suite can be run with several net loops: ERRAND_TEST_THREADS=3 tests/system/test_claim.py
        self.env = {k: v for k, v in os.environ.items() if not k.startswith("ERRAND_")}
        self.env["ERRAND_HTTP_THREADS"] = os.environ.get("ERRAND_TEST_THREADS", "1")
        self.env.update(env or {})
        self.local, self.wires, self.book = threading.local(), [], None
        self.start(wait)

    def start(self, wait=True):
        self.errors = tempfile.TemporaryFile(dir=self.nest.root)
        self.process = subprocess.Popen(
            self.command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.errors,
            env=self.env, cwd=self.nest.root)
        self.expected_to_die = False
        self.port = None
        if wait:
            line = self.process.stdout.readline().decode()
            if wait == "maybe" and not line:
                return
            found = re.match(r"^errand: ready on https?://(.+):(\d+)\n$", line)
            check(found, f"no ready line but {line!r}; it said: {self.stderr()}")
            self.port = int(found.group(2))

    def stderr(self):
        self.errors.seek(0)
        return self.errors.read().decode(errors="replace")

    def drop_wires(self):
        """Ends them for whoever waits there. Closing is left to the last that knows one: a number that is closed under a
        thread is given to the next connection, and the thread would go on to read, or wait, there."""
        for wire in self.wires:
            wire.break_off()
        self.wires, self.local = [], threading.local()

    # -- ending it --

    def kill(self):
        """kill -9, as a power cut would."""
        self.expected_to_die = True
        self.process.kill()
        self.wait()

    def wait(self, timeout=PATIENCE):
        status = self.process.wait(timeout)
        self.process.stdout.close()
        self.drop_wires()
        return status

    def terminate(self):
        """SIGTERM; returns the exit status."""
        self.expected_to_die = True
        self.process.send_signal(signal.SIGTERM)
        return self.wait()

    def restart(self, **changes):
        """A new process on the same data; the old one is killed unless it has ended."""
        if self.process.poll() is None:
            self.kill()
        self.examine()
        for key, value in changes.items():
            setattr(self, key, value)
        self.start()
        return self

    def examine(self):
        """The sanitizers have found nothing."""
        said = self.stderr()
        self.errors.close()
        found = SANITIZER.search(said)
        check(not found, f"a sanitizer reports:\n{said[found.start():] if found else None}")

    def close(self):
        died = self.process.poll() is not None and not self.expected_to_die
        if self.process.poll() is None:
            status = self.terminate()
            said = self.stderr()
            check(status == 0, f"SIGTERM ended it with {status}:\n{said[-4000:]}")
        elif not self.process.stdout.closed:
            self.wait()
        said = self.stderr()
        self.examine()
        check(not died, f"it ended by itself with {self.process.returncode}:\n{said[-4000:]}")

    # -- speaking to it --

    def wire(self, timeout=PATIENCE):
        context = None
        if self.tls:
            context = ssl.create_default_context(cafile=self.tls)
            context.check_hostname = False
        return Wire(self.port, context=context, timeout=timeout)

    def kept_wire(self):
        """This thread's kept-alive connection."""
        if getattr(self.local, "wire", None) is None:
            self.local.wire = self.wire()
            self.wires.append(self.local.wire)
        return self.local.wire

    def request(self, method, path, body=None, headers=None):
        """The bytes of a request. A body that is not bytes is sent as JSON."""
        lines = {"Host": f"127.0.0.1:{self.port}"}
        if body is not None:
            if not isinstance(body, bytes):
                body = json.dumps(body).encode()
            lines["Content-Type"] = "application/json"
            lines["Content-Length"] = str(len(body))
        elif method in ("POST", "PUT", "PATCH"):
            lines["Content-Length"] = "0"
        if self.token:
            lines["Authorization"] = f"Bearer {self.token}"
        lines.update(headers or {})
        head = "".join(f"{k}: {v}\r\n" for k, v in lines.items() if v is not None)
        return f"{method} {path} HTTP/1.1\r\n{head}\r\n".encode() + (body or b"")

    def raw(self, method, path, body=None, headers=None):
        """One exchange over this thread's connection, unjudged."""
        wire = self.kept_wire()
        try:
            wire.send(self.request(method, path, body, headers))
            answer = wire.answer(method)
        except (OSError, ConnectionError):
            self.local.wire = None
            raise
        if answer.headers.get("connection", "").lower() == "close":
            self.local.wire = None
        return answer

    def call(self, method, path, body=None, expect=None, headers=None):
        answer = self.raw(method, path, body, headers)
        if expect is not None:
            wanted = expect if isinstance(expect, tuple) else (expect,)
            check(answer.status in wanted, f"{method} {path} should be {expect}, is {answer!r}")
        self.conforms(method, path, answer)
        return answer

    def conforms(self, method, path, answer):
        """True to the server's own description, and to the one shape of errors."""
        if answer.status >= 400 and method != "HEAD" and path != "/readyz":
            error = answer.error
            check(set(error) <= {"code", "message", "field"} and error["code"] and error["message"],
                  f"not the shape of an error: {answer!r}")
        if self.book is None:
            self.book = schema.OpenApi(self.raw("GET", "/openapi.json").json)
        self.book.check(method, path, answer)

    def get(self, path, expect=200, **query):
        if query:
            path += "?" + urllib.parse.urlencode(query)
        answer = self.call("GET", path, expect=expect)
        return answer.json if answer.headers.get("content-type", "").startswith(
            "application/json") else answer.body.decode()

    def post(self, path, body=None, expect=200, headers=None):
        answer = self.call("POST", path, body, expect, headers)
        return answer.json if answer.body else None

    # -- what users do --

    def create(self, type="work", expect=201, **fields):
        return self.post("/api/tasks", {"taskType": type, **fields}, expect)

    def refused(self, field=None, expect=400, **fields):
        """A create that is refused and names the field."""
        answer = self.call("POST", "/api/tasks", {"taskType": "work", **fields}, expect)
        if field:
            same(answer.error.get("field"), field, "the field it complains about")
        return answer.error

    def claim(self, worker="w", expect=200, **fields):
        answer = self.post("/api/claim", {"workerId": worker, **fields}, expect)
        return answer["tasks"] if expect == 200 else answer

    def claim_one(self, worker="w", **fields):
        tasks = self.claim(worker, **fields)
        check(len(tasks) == 1, f"{len(tasks)} tasks were claimed, not one")
        return tasks[0]

    def finish(self, verb, task, expect=200, **fields):
        return self.post(f"/api/tasks/{task['id']}/{verb}", {"lease": task["lease"], **fields},
                         expect)

    def complete(self, task, expect=200, **fields):
        return self.finish("complete", task, expect, **fields)

    def fail(self, task, expect=200, **fields):
        return self.finish("fail", task, expect, **fields)

    def release(self, task, expect=200, **fields):
        return self.finish("release", task, expect, **fields)

    def heartbeat(self, task, expect=200, **fields):
        return self.finish("heartbeat", task, expect, **fields)

    def show(self, task, expect=200, **query):
        ident = task if isinstance(task, str) else task["id"]
        return self.get(f"/api/tasks/{ident}", expect, **query)

    def state(self, task):
        return self.show(task)["state"]

    def why(self, task):
        return self.get(f"/api/tasks/{task['id']}/why")

    def cancel(self, task, expect=200, **fields):
        return self.post(f"/api/tasks/{task['id']}/cancel", fields or None, expect)

    def retry(self, task, expect=200):
        return self.post(f"/api/tasks/{task['id']}/retry", None, expect)

    def patch(self, task, expect=200, **fields):
        return self.call("PATCH", f"/api/tasks/{task['id']}", fields, expect).json

    def delete(self, task, expect=204):
        self.call("DELETE", f"/api/tasks/{task['id']}", None, expect)

    def list(self, expect=200, **query):
        return self.get("/api/tasks", expect, **query)

    def ids(self, **query):
        return [task["id"] for task in self.list(**query)]

    def advance(self, ms):
        return self.post("/api/test/clock", {"advanceMs": ms})["now"]

    def set_clock(self, text):
        return self.post("/api/test/clock", {"set": text})["now"]

    def stream(self, path, headers=None):
        wire = self.wire()
        wire.send(self.request("GET", path, headers={"Accept": "text/event-stream",
                                                     **(headers or {})}))
        stream = Stream(wire)
        self.nest.closing.append(stream)
        return stream

    def cli(self, *arguments, expect=0, stdin=None, env=None):
        """Runs a client command against this server; returns its standard output."""
        scheme = "https" if self.tls else "http"
        return self.nest.run(*arguments, expect=expect, stdin=stdin, env={
            "ERRAND_URL": f"{scheme}://127.0.0.1:{self.port}",
            **({"ERRAND_TOKEN": self.token} if self.token else {}), **(env or {})}).stdout

    def doctor(self):
        """`errand doctor` finds nothing wrong with the data."""
        run = self.nest.run("doctor", "--data", self.data, expect=None, env={
            "ERRAND_URL": f"http://127.0.0.1:{self.port}"})
        check(run.returncode == 0, f"doctor complains:\n{run.stdout}\n{run.stderr}")


class Nest:
    """What one test owns: folders, servers, streams. All of it is gone afterwards."""

    def __init__(self):
        self.root = tempfile.mkdtemp(prefix="errand-")
        self.servers, self.closing, self.numbers = [], [], itertools.count(1)

    def folder(self):
        return os.path.join(self.root, f"data{next(self.numbers)}")

    def file(self, name, text):
        path = os.path.join(self.root, name)
        with open(path, "wb") as handle:
            handle.write(text if isinstance(text, bytes) else text.encode())
        return path

    def server(self, **options):
        server = Server(self, **options)
        self.servers.append(server)
        return server

    def refuses(self, *arguments, env=None):
        """`errand serve` ends by itself, not well; returns what it said."""
        run = self.run("serve", *arguments, expect=None, env=env)
        check(run.returncode not in (0, None), f"it started: {run.stdout}")
        check("ready on" not in run.stdout, f"it said it was ready: {run.stdout}")
        return run.stderr

    def run(self, *arguments, expect=0, stdin=None, env=None):
        plain = {k: v for k, v in os.environ.items() if not k.startswith("ERRAND_")}
        run = subprocess.run([binary(), *arguments], input=stdin or "", capture_output=True,
                             text=True, env={**plain, **(env or {})}, cwd=self.root,
                             timeout=PATIENCE, check=False)
        check(not SANITIZER.search(run.stderr), f"a sanitizer reports:\n{run.stderr}")
        if expect is not None:
            check(run.returncode == expect, f"errand {' '.join(arguments)} ended with "
                  f"{run.returncode}, not {expect}: {run.stdout} {run.stderr}")
        return run

    def close(self):
        troubles = []
        for stream in self.closing:
            stream.close()
        for server in self.servers:
            try:
                server.close()
            except Exception as trouble:  # every server is ended, whatever the others did
                troubles.append(str(trouble))
                if server.process.poll() is None:
                    server.process.kill()
                    server.process.wait()
        shutil.rmtree(self.root, ignore_errors=True)
        check(not troubles, "\n".join(troubles))


def together(*functions):
    """Runs the functions at once in threads; returns their values, raises the first trouble."""
    values, troubles = [None] * len(functions), []

    def run(at, function):
        try:
            values[at] = function()
        except Exception as trouble:
            troubles.append(trouble)

    threads = [threading.Thread(target=run, args=pair) for pair in enumerate(functions)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if troubles:
        raise troubles[0]
    return values


# ---- The runner ----

TESTS = []


def test(server=True, **options):
    """Registers a test. It is given a Server made with `options`; server=False: only a Nest."""
    def register(function):
        TESTS.append((function, server, options))
        return function
    return register


def run_one(function, server, options):
    nest = Nest()
    try:
        function(nest.server(**options) if server else nest)
    except BaseException:
        for each in nest.servers:
            if not each.errors.closed:
                for line in each.stderr().splitlines()[-40:]:
                    print("# server: " + line)
        try:
            nest.close()
        except Exception as more:
            for line in str(more).splitlines():
                print("# also: " + line)
        raise
    nest.close()


def where_and_what():
    """The lines of the test on the way to its trouble, then the trouble."""
    kind, trouble, trace = sys.exc_info()
    frames = [f for f in traceback.extract_tb(trace) if "/test_" in f.filename]
    yield from (f"{os.path.basename(f.filename)}:{f.lineno} {f.line}" for f in frames)
    yield from f"{kind.__name__}: {trouble}"[:3000].splitlines()


def main():
    wanted = sys.argv[1:]
    chosen = [t for t in TESTS if not wanted or t[0].__name__ in wanted]
    failed = 0
    print(f"1..{len(chosen)}", flush=True)
    for number, (function, server, options) in enumerate(chosen, 1):
        name, began = function.__name__.replace("_", " "), time.monotonic()
        try:
            run_one(function, server, options)
            print(f"ok {number} - {name}", flush=True)
        except Exception:
            failed += 1
            print(f"{name}:", *where_and_what(), sep="\n  ", file=sys.stderr, flush=True) # shown by meson, a comment of TAP is not
            print(f"not ok {number} - {name}", flush=True)
        if time.monotonic() - began > 5:
            print(f"# that took {time.monotonic() - began:.1f} s", flush=True)
    sys.exit(1 if failed else 0)
