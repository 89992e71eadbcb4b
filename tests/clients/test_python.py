# tests/clients/test_python.py: the Python client and worker against a real server.
#
# SPDX-License-Identifier: MIT
"""Claims about clients/python."""
import asyncio
import contextlib
import datetime
import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.join(HERE, "..", "..", "clients", "python")
sys.path[:0] = [os.path.join(SOURCE, "src"), os.path.join(HERE, "..", "system")]

import errand  # noqa: E402: the package; the harness of the system tests is a file of the same name
from patience import wait_for  # noqa: E402

_spec = importlib.util.spec_from_file_location("harness", os.path.join(HERE, "..", "system", "errand.py"))
harness = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(harness)
check, same, has, test = harness.check, harness.same, harness.has, harness.test


def worker_of(s, **options):
    return errand.Worker(client_of(s), claim_wait=0.3, **options)


def client_of(s, **options):
    return errand.Client(f"http://127.0.0.1:{s.port}", s.token, **options)


@contextlib.contextmanager
def working(s, worker):
    """The worker on a thread of its own, until the block ends."""
    thread = threading.Thread(target=worker.run, kwargs={"signals": False})
    thread.start()
    try:
        yield worker
    finally:
        worker.stop()
        thread.join(60)
        check(not thread.is_alive(), "the worker did not stop")


def refused(kind, function):
    try:
        function()
    except kind as problem:
        return problem
    raise AssertionError(f"no {kind.__name__} was raised")


# ---- The client ----


@test(args=("--workers", "0"))
def what_was_pushed_is_there_with_all_that_was_said(s):
    c = client_of(s)
    at = datetime.datetime(2099, 1, 1, tzinfo=datetime.timezone.utc)
    task = c.push("work", {"a": [1, None, "ü"]}, document="d", priority="HIGH", at=at, tags=["x"], timeout=1.5,
                  max_retries=7, metadata={"m": 1}, key="k")
    has(c.get(task["id"]), payload={"a": [1, None, "ü"]}, documentId="d", priority="HIGH", tags=["x"], timeoutMs=1500,
        maxRetries=7, metadata={"m": 1}, idempotencyKey="k", state="SCHEDULED", scheduledAt="2099-01-01T00:00:00.000Z")
    same(c.push("work", key="k")["id"], task["id"], "the task of a key that is known")
    same(c.get(c.push("bytes", b"\x00\xff")["id"])["payloadBase64"], "AP8=")
    check("payload" not in c.push("none"), "no payload was given")
    same(c.push("null", None)["payload"], None)


@test(args=("--workers", "0"))
def a_refusal_says_what_the_server_said(s):
    c = client_of(s)
    problem = refused(errand.ApiError, lambda: c.push("work", priority="SOON"))
    same((problem.status, problem.code, problem.field), (400, "invalid_argument", "priority"))
    refused(errand.NotFound, lambda: c.get("01890000-0000-7000-8000-000000000000"))
    task = c.push("work")
    c.cancel(task["id"], reason="no longer needed")
    same(c.get(task["id"])["cancelReason"], "no longer needed")
    c.delete(task["id"])
    refused(errand.NotFound, lambda: c.retry(task["id"]))
    refused(ValueError, lambda: c.push("work", at=datetime.datetime(2099, 1, 1)))
    refused(ValueError, lambda: errand.Client("127.0.0.1:8001"))


@test(args=("--workers", "0"))
def many_are_created_together_and_listed_page_by_page(s):
    c = client_of(s)
    made = c.push_many(errand.order("many", i, tags=["odd"] if i % 2 else None) for i in range(450))
    same(len(made), 450)
    same([task["payload"] for task in c.list(taskType="many")], list(range(449, -1, -1)), "the list")
    same(len(list(c.list(tag="odd", state=["QUEUED", "RUNNING"]))), 225)
    same(len(list(c.list(limit=3))), 3)
    same(c.push_many([]), [])
    refused(errand.ApiError, lambda: c.push_many([errand.order("good"), errand.order("")]))
    same(list(c.list(taskType="good")), [], "what a refused request left behind")


@test()
def one_waits_for_an_end_and_is_told_why_there_is_none(s):
    c = client_of(s)
    same(c.wait(c.push("echo", {"x": 1})["id"], 60)["result"], {"x": 1})
    stuck = c.push("nobody")
    same([reason["code"] for reason in c.why(stuck["id"])["reasons"]], ["no_worker"])
    refused(errand.WaitTimeout, lambda: c.wait(stuck["id"], 0.05))


@test(args=("--workers", "0"))
def a_create_whose_answer_was_lost_is_repeated_and_never_doubled(s):
    """The server dies right behind the request of every push, and comes back."""
    port, c = s.port, client_of(s)
    c.push("warm")  # a connection is open, and will break
    s.command[s.command.index("--listen") + 1] = f"127.0.0.1:{port}"
    for i in range(3):
        pushing = threading.Thread(target=c.push, args=("lost", i))
        s.kill()
        pushing.start()
        s.restart()
        pushing.join(60)
        check(not pushing.is_alive(), "the push did not come through")
    same(sorted(task["payload"] for task in c.list(taskType="lost")), [0, 1, 2], "what was created")


class Swallower:
    """Passes requests on and, so many times, hangs up instead of passing on the answer."""

    def __init__(self, port, times):
        self.port, self.left = port, times
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.socket.getsockname()[1]}"
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                ours = self.socket.accept()[0]
            except OSError:
                return
            with ours, socket.create_connection(("127.0.0.1", self.port)) as theirs:
                request = b""
                while b"\r\n\r\n" not in request or len(request) < self.length(request):
                    request += ours.recv(65536)
                theirs.sendall(request)
                answer = theirs.recv(65536)  # it was carried out
                if self.left > 0:
                    self.left -= 1
                else:
                    ours.sendall(answer)

    @staticmethod
    def length(request):
        head, _, _ = request.partition(b"\r\n\r\n")
        return len(head) + 4 + int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])


@test(args=("--workers", "0"))
def a_create_that_was_carried_out_unanswered_is_not_carried_out_again(s):
    swallower = Swallower(s.port, 2)
    made = errand.Client(swallower.url).push("once")
    same((swallower.left, s.ids(taskType="once")), (0, [made["id"]]))
    swallower.left = 1
    problem = refused(errand.Unavailable, lambda: errand.Client(swallower.url).schedule("every day at 9", timezone="UTC"))
    check("may or may not" in str(problem), "what has no key is not sent again")
    swallower.socket.close()


@test(args=("--workers", "0"))
def an_absent_server_is_said_to_be_absent(s):
    c = client_of(s, patience=0.2)
    s.kill()
    refused(errand.Unavailable, lambda: c.push("work"))
    refused(errand.Unavailable, lambda: c.get("x"))


@test(args=("--workers", "0"))
def events_go_on_behind_a_broken_connection(s):
    port, c, seen = s.port, client_of(s), []
    s.command[s.command.index("--listen") + 1] = f"127.0.0.1:{port}"

    def follow():
        for event in c.events(types=["state"]):
            seen.append((event["event"], (event["data"] or {}).get("state")))
            if ("state", "CANCELLED") in seen:
                return

    following = threading.Thread(target=follow, daemon=True)
    following.start()
    wait_for(lambda: c.push("seen") and ("state", "QUEUED") in seen, "the first event")
    s.restart()
    wait_for(lambda: not following.is_alive() or (c.cancel(c.push("seen")["id"]) and False), "an event after the restart")


@test(args=("--workers", "0"))
def schedules_are_said_previewed_and_refused(s):
    c = client_of(s)
    shown = c.preview("every friday at 4pm send the report", timezone="Europe/Paris", now="2027-03-01T09:00:00Z")
    same((shown["next"][0], len(shown["next"])), ("2027-03-05T15:00:00.000Z", 5))
    made = c.schedule("every friday at 4pm send the report", timezone="Europe/Paris", userId="ann")
    same([each["id"] for each in c.schedules(userId="ann")], [made["id"]])
    problem = refused(errand.Refused, lambda: c.schedule("sometime soon call mom", timezone="UTC"))
    check(problem.refusal["reason"], "a refusal has a reason")


@test(args=("--workers", "0"))
def agents_share_a_team(s):
    c = client_of(s)
    team = c.team("Write a page", tasks=[{"id": "a", "title": "Draft"}, {"id": "b", "title": "Check", "dependsOn": ["a"]}],
                  teammates=[{"role": "writer", "focus": "text"}])
    task = team.claim("ann", wait=10)
    same(task["title"], "Draft")
    same(team.claim("bob"), None)
    team.say("ann", "done soon", to="bob")
    same([message["body"] for message in team.read("bob", wait=5)], ["done soon"])
    c.call("POST", f"/api/tasks/{task['id']}/complete", {"lease": task["lease"], "result": "text"})
    same(team.claim("bob", wait=10)["dependencies"][0]["result"], "text")
    team.cancel()
    same(team.get()["status"], "cancelled")


@test(args=("--workers", "0"))
def a_token_is_sent(s):
    secret = s.nest.run("token", "create", "--role", "produce", "--data", s.data).stdout.strip()
    wait_for(lambda: s.raw("GET", "/api/tasks").status == 401, "that a token is asked for")
    same(refused(errand.ApiError, lambda: client_of(s).push("work")).status, 401)
    same(errand.Client(f"http://127.0.0.1:{s.port}", secret).push("work")["state"], "QUEUED")


# ---- The worker ----


@test(args=("--workers", "0"))
def handlers_end_their_tasks_as_they_say(s):
    c, worker = client_of(s), worker_of(s, concurrency=2)

    @worker.task("add", "sum")
    def add(job):
        job.progress(50, "half way")
        job.log("one", "two")
        return sum(job.payload)

    @worker.task("bad")
    def bad(job):
        raise ValueError("no such thing")

    @worker.task("worse")
    def worse(job):
        raise errand.Permanent("never", code="hopeless", detail={"why": 1})

    @worker.task("later")
    def later(job):
        raise errand.Release(3600)

    @worker.task("odd")
    def odd(job):
        return object()

    with working(s, worker):
        done = c.wait(c.push("sum", [1, 2])["id"], 60)
        has(done, state="COMPLETED", result=3)
        has(c.get(done["id"])["attempts"][0], log=["one", "two"], workerId=worker.name)
        failed = c.wait(c.push("bad", max_retries=0)["id"], 60)
        has(failed["error"], code="ValueError", message="no such thing")
        check("in bad" in failed["error"]["detail"], "the trace is kept")
        has(c.wait(c.push("worse")["id"], 60), state="FAILED", error={"code": "hopeless", "message": "never", "detail": {"why": 1}})
        given = c.push("later")["id"]
        wait_for(lambda: c.get(given)["state"] == "SCHEDULED", "the release")
        same(c.get(given)["retries"], 0)
        same(c.wait(c.push("odd")["id"], 60)["error"]["code"], "bad_result")


class Recording(errand.Client):
    """Remembers what was asked; `break_claim` may break one that carries an end: before it is sent, or when it is answered."""

    def __init__(self, s):
        super().__init__(f"http://127.0.0.1:{s.port}", s.token)
        self.asked, self.break_claim = [], None

    def call(self, method, path, body=None, **options):
        self.asked.append(path.rsplit("/", 1)[1] + ("+finish" if "finish" in (body or {}) else ""))
        how, self.break_claim = (self.break_claim, None) if self.asked[-1] == "claim+finish" else (None, self.break_claim)
        if how == "unsent":
            raise errand.Unavailable("the network is gone")
        answer = super().call(method, path, body, **options)
        if how == "unanswered":
            raise errand.Unavailable("the answer is gone")
        return how(answer) if callable(how) else answer


@test(args=("--workers", "0"))
def in_its_rhythm_a_worker_needs_one_request_a_task(s):
    c, worker = client_of(s), errand.Worker(Recording(s), claim_wait=0.3)
    worker.task("t")(lambda job: job.payload)
    made = c.push_many(errand.order("t", n) for n in range(20))
    with working(s, worker):
        for n, task in enumerate(made):
            has(c.wait(task["id"], 60), state="COMPLETED", result=n)
    same(worker.client.asked[:21], ["claim"] + 20 * ["claim+finish"])
    check("complete" not in worker.client.asked, worker.client.asked)


@test(args=("--workers", "0"))
def an_end_whose_claim_failed_is_told_by_itself(s):
    for how in ("unsent", "unanswered", lambda answer: dict(answer, finished=[{"status": 503}])):
        c, worker = client_of(s), errand.Worker(Recording(s), claim_wait=0.1, lease=30)
        worker.client.break_claim = how
        ran = []
        worker.task("t")(lambda job, ran=ran: ran.append(job.id) or "kept")
        task = c.push("t")
        with working(s, worker):
            has(c.wait(task["id"], 60), state="COMPLETED", result="kept", attempt=1)
            wait_for(lambda: "complete" in worker.client.asked, "the end by itself")
        same(ran, [task["id"]])


@test(clock=harness.START, args=("--workers", "0"))
def an_end_that_comes_too_late_is_reported_with_its_claim(s):
    c, worker, seen = client_of(s), errand.Worker(Recording(s), claim_wait=0.1, lease=30), []
    worker.on_error = lambda job, problem: seen.append(problem)

    @worker.task("t")
    def late(job):
        s.post("/api/test/clock", {"advanceMs": 31000}, 200)  # its lease ends meanwhile
        return 1

    task = c.push("t", max_retries=0)
    with working(s, worker):
        wait_for(lambda: seen, "the report")
    check(isinstance(seen[0], errand.LeaseLost), seen)
    has(c.get(task["id"]), state="FAILED")


@test(args=("--workers", "0"))
def coroutines_run_beside_each_other_in_one_loop(s):
    c, worker, met, all_here = client_of(s), worker_of(s, concurrency=3), [], []

    @worker.task("meet")
    async def meet(job):
        all_here[:] = all_here or [asyncio.Event()]  # of the loop that runs them all
        met.append(job.id)
        if len(met) == 3:
            all_here[0].set()
        await all_here[0].wait()
        return len(met)

    with working(s, worker):
        tasks = c.push_many([errand.order("meet")] * 3)
        same([c.wait(task["id"], 60)["result"] for task in tasks], [3, 3, 3])


def _cancelled(s, handler_is_coroutine):
    c, worker, seen = client_of(s), worker_of(s, lease=3), []

    if handler_is_coroutine:
        @worker.task("long")
        async def long(job):
            seen.append("began")
            try:
                await asyncio.Event().wait()
            finally:
                seen.append("cleaned up")
    else:
        @worker.task("long")
        def long(job):
            seen.append("began")
            try:
                while True:
                    pass
            except Exception:  # a broad except must not swallow it
                seen.append("swallowed")
            finally:
                seen.append("cleaned up")

    with working(s, worker):
        task = c.push("long")["id"]
        wait_for(lambda: seen, "its start")
        c.cancel(task)
        same(c.wait(task, 60)["state"], "CANCELLED")
        wait_for(lambda: len(seen) == 2, "the end of the handler")
        same(seen, ["began", "cleaned up"])


@test(args=("--workers", "0"))
def a_cancel_is_raised_inside_a_plain_handler(s):
    _cancelled(s, False)


@test(args=("--workers", "0"))
def a_cancel_is_raised_inside_a_coroutine(s):
    _cancelled(s, True)


@test(args=("--workers", "0"))
def heartbeats_keep_a_lease_that_is_shorter_than_the_work(s):
    c, worker, go = client_of(s), worker_of(s, lease=1), threading.Event()

    @worker.task("long")
    def long(job):
        go.wait(60)
        return job.attempt

    with working(s, worker):
        task = c.push("long")["id"]
        wait_for(lambda: c.get(task)["state"] == "RUNNING", "its start")
        first = c.get(task)["leaseExpiresAt"]
        wait_for(lambda: c.get(task).get("leaseExpiresAt", first) > first, "a renewal")
        second = c.get(task)["leaseExpiresAt"]
        wait_for(lambda: c.get(task).get("leaseExpiresAt", second) > second, "another")
        go.set()
        same(c.wait(task, 60)["result"], 1, "the attempt that completed it")


@test(clock=harness.START, args=("--workers", "0"))
def a_lost_lease_is_an_exception_and_changes_nothing(s):
    c, worker, told, go = client_of(s), worker_of(s, lease=60), [], threading.Event()
    worker.on_error = lambda job, problem: told.append(type(problem))

    @worker.task("work")
    def work(job):
        go.wait(60)
        try:
            job.heartbeat()
        except errand.LeaseLost as lost:
            told.append(lost.code)
            raise
        return "too late"

    with working(s, worker):
        task = c.push("work", max_retries=0)["id"]
        wait_for(lambda: c.get(task)["state"] == "RUNNING", "its start")
        s.advance(61000)  # the server's clock: the lease is over, the worker knows nothing of it
        same(c.get(task)["state"], "FAILED")
        go.set()
        wait_for(lambda: len(told) == 2, "that it was told")
        same(told, ["lease_lost", errand.LeaseLost])
        check("result" not in c.get(task), "nothing was changed")


def _program(s, text, **env):
    """A Python program of its own with the package in its path."""
    return subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE, text=True, env={
        **os.environ, "PYTHONPATH": os.path.join(SOURCE, "src"), "ERRAND_URL": f"http://127.0.0.1:{s.port}", **env})


SLOW = """
import errand, threading
pause = threading.Event()
worker = errand.Worker(lease=LEASE, grace=60, claim_wait=0.3)
@worker.task("slow")
def slow(job):
    print("began", job.attempt, flush=True)
    while job.attempt == 1 and not job.cancelled:
        pause.wait(0.01)
        if STOPS: break
    return job.attempt
worker.run()
print("drained", flush=True)
"""


@test(args=("--workers", "0"))
def sigterm_lets_what_runs_finish(s):
    c = client_of(s)
    task = c.push("slow")["id"]
    program = _program(s, SLOW.replace("LEASE", "60").replace("STOPS", "True"))
    same(program.stdout.readline(), "began 1\n")
    program.send_signal(signal.SIGTERM)
    same(program.communicate(timeout=60)[0], "drained\n")
    same(program.returncode, 0)
    has(c.get(task), state="COMPLETED", result=1)


IDLE = """
import errand
worker = errand.Worker(claim_wait=60)
worker.task("work")(lambda job: None)
print("ready", flush=True)
worker.run()
"""


def _waiting(c):
    return c.call("GET", "/api/stats")["waitingClaims"]


@test(args=("--workers", "0"))
def an_idle_worker_ends_at_once(s):
    c = client_of(s)
    with _program(s, IDLE) as program:
        same(program.stdout.readline(), "ready\n")
        wait_for(lambda: _waiting(c) == 1, "a claim that waits")
        program.send_signal(signal.SIGTERM)
        same(program.wait(timeout=30), 0)  # half of what its claim would wait
    wait_for(lambda: _waiting(c) == 0, "that the claim waits no more")
    has(c.get(c.push("work")["id"]), state="QUEUED", attempt=0)


def _read_request(connection):
    """Its path; with all that comes before the end of what the client says, if it has said all."""
    data = b""
    while b"\r\n\r\n" not in data:
        data += connection.recv(65536)
    head, _, body = data.partition(b"\r\n\r\n")
    length = next(int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length"))
    while len(body) < length:
        body += connection.recv(65536)
    return head.split(b" ")[1].decode()


def _answer(connection, body):
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))


@test(server=False)
def what_a_claim_brings_when_the_worker_ends_is_given_back(_s):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        worker = errand.Worker(errand.Client(f"http://127.0.0.1:{listener.getsockname()[1]}", "t"), claim_wait=60)
        worker.task("work")(lambda job: check(False, "it must not run"))
        thread = threading.Thread(target=worker.run, kwargs={"signals": False})
        thread.start()
        with listener.accept()[0] as claiming:
            same(_read_request(claiming), "/api/claim")
            worker.stop()
            same(claiming.recv(1), b"")  # it has hung up, and listens
            _answer(claiming, b'{"tasks":[{"id":"1","taskType":"work","attempt":1,"lease":"1.x"}]}')
            with listener.accept()[0] as telling:
                same(_read_request(telling), "/api/tasks/1/release")
                _answer(telling, b"{}")
        thread.join(30)
        check(not thread.is_alive(), "the worker did not stop")


@test(args=("--workers", "0"))
def a_second_sigterm_gives_the_task_back(s):
    c = client_of(s)
    task = c.push("slow")["id"]
    program = _program(s, SLOW.replace("LEASE", "60").replace("STOPS", "False"))
    same(program.stdout.readline(), "began 1\n")
    program.send_signal(signal.SIGTERM)
    program.send_signal(signal.SIGTERM)
    while program.poll() is None:  # the second may have come before the first was handled
        program.send_signal(signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            program.wait(0.2)
    program.stdout.close()
    has(c.get(task), state="QUEUED", retries=0)
    same(c.get(task)["attempts"][0]["outcome"], "RELEASED")


@test(clock=harness.START, args=("--workers", "0"))
def a_killed_worker_loses_nothing(s):
    c = client_of(s)
    task = c.push("slow")["id"]
    program = _program(s, SLOW.replace("LEASE", "5").replace("STOPS", "False"))
    same(program.stdout.readline(), "began 1\n")
    program.kill()
    program.communicate()
    s.advance(60000)
    has(c.get(task), state="QUEUED", attempt=1)
    again = _program(s, SLOW.replace("LEASE", "60").replace("STOPS", "False"))
    same(again.stdout.readline(), "began 2\n")
    same(c.wait(task, 60)["result"], 2)
    again.terminate()
    same(again.communicate(timeout=60)[0], "drained\n")


@test(args=("--workers", "0"))
def a_worker_outlives_its_server(s):
    port, c = s.port, client_of(s)
    s.command[s.command.index("--listen") + 1] = f"127.0.0.1:{port}"
    worker, ran, go = worker_of(s, lease=60), [], threading.Event()

    @worker.task("work")
    def work(job):
        ran.append(job.payload)
        go.wait(60)
        return job.payload

    with working(s, worker):
        first = c.push("work", 1)["id"]
        wait_for(lambda: ran == [1], "its start")
        s.kill()
        go.set()  # it ends while nobody listens, and is told once somebody does
        s.restart()
        same(c.wait(first, 60)["result"], 1)
        same(c.wait(c.push("work", 2)["id"], 60)["result"], 2)
        same(ran, [1, 2], "how often it ran")


# ---- What would be published ----


@test(args=("--workers", "0"))
def the_example_does_what_it_says(s):
    run = subprocess.run([sys.executable, os.path.join(SOURCE, "examples", "thumbnails.py")], stdout=subprocess.PIPE, text=True,
                         timeout=60, check=True, env={**os.environ, "PYTHONPATH": os.path.join(SOURCE, "src"),
                                                      "ERRAND_URL": f"http://127.0.0.1:{s.port}"})
    same(run.stdout.splitlines(), ["cat.png COMPLETED {'file': 'cat-64.png'}", "dog.png COMPLETED {'file': 'dog-64.png'}",
                                   "notes.txt FAILED notes.txt is no picture"])


@test(server=False)
def the_wheel_holds_the_package_and_its_types(nest):
    tree = os.path.join(nest.root, "python")
    shutil.copytree(SOURCE, tree, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info", "build", "dist"))
    done = subprocess.run([sys.executable, "-m", "build", "--no-isolation", "--outdir", os.path.join(nest.root, "dist"), tree],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    same(done.returncode, 0, done.stdout)
    made = sorted(os.listdir(os.path.join(nest.root, "dist")))
    same(made, [f"errand-{errand.__version__}-py3-none-any.whl", f"errand-{errand.__version__}.tar.gz"])
    with zipfile.ZipFile(os.path.join(nest.root, "dist", made[0])) as wheel:
        names = wheel.namelist()
        wheel.extractall(os.path.join(nest.root, "installed"))
    check("errand/py.typed" in names and "errand/worker.py" in names, f"the wheel holds {names}")
    subprocess.run([sys.executable, "-c", "import errand; errand.Client(); errand.Worker()"], check=True,
                   env={**os.environ, "PYTHONPATH": os.path.join(nest.root, "installed")})


harness.main()
