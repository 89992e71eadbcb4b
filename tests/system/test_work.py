# tests/system/test_work.py: `errand work`: a command for each task, as a remote worker.
#
# SPDX-License-Identifier: MIT
"""System tests of `errand work`."""
import json
import os
import signal
import socket
import ssl
import subprocess
import time

from errand import SANITIZER, binary, check, has, main, same, test, wait_for
from tokens import certificate


class Worker:
    """A running `errand work`."""

    def __init__(self, s, *arguments, env=None):
        plain = {k: v for k, v in os.environ.items() if not k.startswith("ERRAND_")}
        self.process = subprocess.Popen(
            [binary(), "work", *arguments], stderr=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True, cwd=s.nest.root, env={
                **plain, "ERRAND_URL": f"http://127.0.0.1:{s.port}", **(env or {}),
                **({"ERRAND_TOKEN": s.token} if s.token else {})})
        s.nest.closing.append(self)

    def signal(self, number=signal.SIGTERM):
        self.process.send_signal(number)

    def ended(self):
        """Its exit status and what it said."""
        _, said = self.process.communicate(timeout=60)
        check(not SANITIZER.search(said), said)
        return self.process.returncode, said

    def end(self):
        self.signal()
        status, said = self.ended()
        same(status, 0, "its exit status: " + said)
        return said

    def end_at_once(self):
        """Told twice; two signals at once could be one."""
        self.signal()
        wait_for(lambda: "claiming no more" in self.process.stderr.readline(), "its word")
        self.signal()
        status, said = self.ended()
        same(status, 0, "its exit status: " + said)

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()


def worker_id(s):
    """The only worker outside, once it is known."""
    def found():
        return [w["id"] for w in s.get("/api/workers")["workers"] if w["kind"] == "remote"]
    wait_for(found, "a worker")
    return found()[0]


def shell(text):
    return "--", "sh", "-c", text


def done(s, task):
    return s.show(task, waitMs=30000)


def running(s, task):
    wait_for(lambda: s.state(task) == "RUNNING", "RUNNING")


@test()
def the_payload_is_standard_input_and_standard_output_the_result(s):
    worker = Worker(s, "--type", "echo-it", "--", "cat")
    has(done(s, s.create("echo-it", payload={"a": [1, "é"]})), state="COMPLETED",
        result={"a": [1, "é"]})
    has(done(s, s.create("echo-it", payloadBase64="aGVsbG8K")), state="COMPLETED", result="hello")
    has(done(s, s.create("echo-it")), state="COMPLETED", result=None)
    worker.end()


@test()
def a_failure_is_told_with_the_last_lines_of_standard_error(s):
    worker = Worker(s, "--type", "t", *shell("echo first >&2; echo no such image >&2; exit 3"))
    task = s.create("t", maxRetries=0)
    has(done(s, task), state="FAILED", error={
        "code": "command_failed", "message": "exit status 3: no such image",
        "detail": {"exitStatus": 3, "stderr": "first\nno such image\n"}})
    worker.end()


@test()
def exit_100_fails_for_good_and_others_are_retried(s):
    worker = Worker(s, "--type", "once", "--type", "again",
                    *shell('[ $ERRAND_TASK_TYPE = once ] && exit 100; '
                           '[ $ERRAND_ATTEMPT = 2 ] || exit 1; echo $ERRAND_ATTEMPT'))
    has(done(s, s.create("once", maxRetries=3)), state="FAILED", attempt=1)
    again = s.create("again", backoff={"baseMs": 1, "factor": 1, "maxMs": 1, "jitter": 0})
    has(done(s, again), state="COMPLETED", attempt=2, result=2)
    worker.end()


@test()
def the_environment_is_clean_but_for_what_is_asked_for(s):
    worker = Worker(s, "--type", "t", "--env", "MINE", "--env", "HIS=a=b", "--", "env",
                    env={"MINE": "1", "SECRET": "2", "ERRAND_TOKEN": "x"})
    task = s.create("t", documentId="d 1")
    lines = done(s, task)["result"].split("\n")
    names = dict(line.split("=", 1) for line in lines)
    has(names, MINE="1", HIS="a=b", ERRAND_TASK_ID=task["id"], ERRAND_TASK_TYPE="t",
        ERRAND_DOCUMENT_ID="d 1", ERRAND_ATTEMPT="1")
    check(set(names) <= {"MINE", "HIS", "PATH", "HOME", "LANG", "ERRAND_TASK_ID",
                         "ERRAND_TASK_TYPE", "ERRAND_DOCUMENT_ID", "ERRAND_ATTEMPT"}, names)
    worker.end()


@test()
def a_command_has_its_four_descriptors_and_no_others(s):
    worker = Worker(s, "--type", "t", *shell("ls /proc/$$/fd; true"))
    for _ in range(2):
        same(done(s, s.create("t"))["result"].split(), ["0", "1", "2", "3"])
    worker.end()


@test()
def progress_and_log_lines_come_through_descriptor_3(s):
    gate = os.path.join(s.nest.root, "gate")
    os.mkfifo(gate)
    worker = Worker(s, "--type", "t", *shell(
        "echo progress 40 half way >&3; echo log a line >&3; read x < gate; echo '\"ok\"'"))
    task = s.create("t")
    wait_for(lambda: s.show(task).get("progress") == {"percent": 40, "message": "half way"})
    wait_for(lambda: "a line" in str(s.show(task)["attempts"][0].get("log")))
    with open(gate, "w", encoding="utf-8") as handle:
        handle.write("go\n")
    has(done(s, task), state="COMPLETED", result="ok")
    worker.end()


@test()
def several_run_at_once_and_no_more(s):
    worker = Worker(s, "--type", "t", "-j", "3", "-qa", "-q", "b", "--", "sleep", "1000")
    tasks = [s.create("t", queue="ab"[i % 2]) for i in range(5)]
    wait_for(lambda: len(s.list(state="RUNNING")) == 3, "three at once")
    same([s.state(task) for task in tasks], ["RUNNING"] * 3 + ["QUEUED"] * 2)
    worker.end_at_once()


@test()
def a_cancelled_task_is_asked_to_stop_and_what_it_leaves_is_gone(s):
    worker = Worker(s, "--type", "t", "--lease", "1500ms", *shell(
        "trap 'echo stopping >&2; exit 7' TERM; sleep 1000 & echo $! > pid; wait"))
    task = s.create("t")
    running(s, task)
    pid = int(wait_for(lambda: read(s, "pid"), "the child"))
    s.cancel(task, expect=202)
    has(done(s, task), state="CANCELLED")
    wait_for(lambda: not is_alive(pid), "the end of the child")
    worker.end()


def read(s, name):
    path = os.path.join(s.nest.root, name)
    if not os.path.exists(path):
        return ""
    with open(path, encoding="utf-8") as handle:
        return handle.read()


def is_alive(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as handle:
            return handle.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


@test()
def a_command_that_ignores_the_cancel_is_killed_after_the_grace_period(s):
    worker = Worker(s, "--type", "t", "--lease", "1500ms", "--grace", "100ms", *shell(
        "trap '' TERM; echo $$ > pid; while :; do sleep 1000; done"))
    task = s.create("t")
    pid = int(wait_for(lambda: read(s, "pid"), "the command"))
    s.cancel(task, expect=202)
    has(done(s, task), state="CANCELLED")
    check(not is_alive(pid), "it is still there")
    worker.end()


@test()
def a_task_that_runs_past_its_time_out_is_stopped(s):
    worker = Worker(s, "--type", "t", *shell("echo $$ > pid; exec sleep 1000"))
    task = s.create("t", timeoutMs=300, maxRetries=0)
    has(done(s, task), state="TIMEOUT")
    pid = int(wait_for(lambda: read(s, "pid"), "the command"))
    wait_for(lambda: not is_alive(pid), "the end of the command")
    worker.end()


@test()
def the_first_sigterm_lets_what_runs_finish(s):
    gate = os.path.join(s.nest.root, "gate")
    os.mkfifo(gate)
    worker = Worker(s, "--type", "t", *shell("echo 1 > begun; read x < gate; echo $x"))
    task, later = s.create("t"), s.create("t")
    wait_for(lambda: read(s, "begun"), "the command")
    worker.signal()
    wait_for(lambda: "claiming no more" in worker.process.stderr.readline(), "its word")
    with open(gate, "w", encoding="utf-8") as handle:
        handle.write("5\n")
    status, said = worker.ended()
    same(status, 0, said)
    has(s.show(task), state="COMPLETED", result=5)
    has(s.show(later), state="QUEUED", attempt=0)


@test()
def the_second_sigterm_gives_back_what_runs(s):
    worker = Worker(s, "--type", "t", *shell("echo $$ > pid; exec sleep 1000"))
    task = s.create("t")
    pid = int(wait_for(lambda: read(s, "pid"), "the command"))
    worker.end_at_once()
    has(s.show(task), state="QUEUED", retries=0)
    check(not is_alive(pid), "it is still there")


@test()
def an_idle_worker_ends_at_once(s):
    worker = Worker(s, "--type", "t", "--", "true")
    wait_for(lambda: "taking t" in worker.process.stderr.readline(), "its word")
    began = time.monotonic()
    worker.end()
    check(time.monotonic() - began < 10, "it waited for its claim")
    wait_for(lambda: s.get("/api/stats")["waitingClaims"] == 0, "that the claim waits no more")
    has(s.show(s.create("t")), state="QUEUED", attempt=0)


def read_request(connection):
    """Its path and its body."""
    data = b""
    while b"\r\n\r\n" not in data:
        data += connection.recv(65536)
    head, _, body = data.partition(b"\r\n\r\n")
    lines = head.lower().split(b"\r\n")
    length = next(int(line.split(b":")[1]) for line in lines if line.startswith(b"content-length"))
    while len(body) < length:
        body += connection.recv(65536)
    return head.split(b" ")[1].decode(), json.loads(body)


def answer(connection, body):
    text = json.dumps(body).encode()
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(text), text))


def listen(tls):
    listener = socket.create_server(("127.0.0.1", 0))
    listener.settimeout(30)
    if not tls:
        return listener
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*tls)
    return context.wrap_socket(listener, server_side=True)


def leave(s, listener, claims, tls=None):
    """A worker's connection after so many claims, the last without an answer; it has hung up, and listens."""
    url = f"http{'s' if tls else ''}://127.0.0.1:{listener.getsockname()[1]}"
    trust = {"ERRAND_CACERT": tls[0]} if tls else {}
    worker = Worker(s, "--type", "t", "--", "false", env={"ERRAND_URL": url, **trust})
    claiming = listener.accept()[0]
    for _ in range(claims - 1):
        same(read_request(claiming)[0], "/api/claim")
        answer(claiming, {"tasks": []})
    same(read_request(claiming)[0], "/api/claim")
    worker.signal()
    end = socket.socket.recv(claiming, 1, socket.MSG_PEEK)  # below TLS, which answers nobody who is gone
    same(end, b"", "what it says after its claim")
    return worker, claiming


def told_at_its_end(s, claims, tls=None):
    """What a worker says last when it is given a task after it has hung up."""
    with listen(tls) as listener:
        worker, claiming = leave(s, listener, claims, tls)
        with claiming:
            answer(claiming, {"tasks": [{"id": "1", "taskType": "t", "attempt": 1, "lease": "1.x"}]})
            with listener.accept()[0] as telling:
                told = read_request(telling)
                answer(telling, [{"id": "1", "status": 200}])
                status, said = worker.ended()
                same(status, 0, said)
    return told


@test()
def what_a_claim_brings_when_the_worker_ends_is_given_back(s):
    release = "/api/finish", [{"id": "1", "lease": "1.x", "outcome": "release"}]
    same(told_at_its_end(s, claims=1), release, "on a new connection")
    same(told_at_its_end(s, claims=2), release, "on one that was kept")
    same(told_at_its_end(s, claims=2, tls=certificate(s.nest)), release, "over TLS")


@test()
def a_worker_that_ends_does_not_claim_again_when_its_claim_is_cut_off(s):
    with listen(None) as listener:
        worker, claiming = leave(s, listener, claims=2)
        claiming.close()
        status, said = worker.ended()
        same(status, 0, said)
        listener.settimeout(0)
        try:
            listener.accept()
            check(False, "it came again")
        except BlockingIOError:
            pass


@test(args=("--workers", "0"))
def a_task_that_comes_as_the_worker_ends_is_not_kept(s):
    for each in "abcde":
        worker = Worker(s, "--type", each, "--", "cat")
        wait_for(lambda: s.get("/api/stats")["waitingClaims"] == 1, "a claim that waits")
        worker.signal()
        task = s.create(each)
        status, said = worker.ended()
        same(status, 0, said)
        check(s.state(task) in ("QUEUED", "COMPLETED"), s.show(task))


@test()
def leases_outlast_their_length_while_a_command_runs(s):
    worker = Worker(s, "--type", "t", "--lease", "1s", "--", "sleep", "3")
    has(done(s, s.create("t")), state="COMPLETED", attempt=1)
    worker.end()


@test()
def too_much_output_is_a_failure(s):
    worker = Worker(s, "--type", "t", "--", "head", "-c", "2000000", "/dev/zero")
    task = s.create("t", maxRetries=0)
    same(done(s, task)["error"]["code"], "output_too_large")
    worker.end()


@test()
def a_command_that_cannot_be_started_fails_the_task(s):
    path = s.nest.file("command", "#!/bin/sh\n")
    os.chmod(path, 0o755)
    worker = Worker(s, "--type", "t", "--", path)
    worker_id(s)
    os.unlink(path)  # it was there when the worker began
    task = s.create("t", maxRetries=0)
    error = done(s, task)["error"]
    same(error["code"], "spawn_failed")
    check("No such file" in error["message"], error)
    worker.end()


@test()
def a_command_that_is_not_there_is_refused_before_anything_is_claimed(s):
    plain = s.nest.file("plain", "#!/bin/sh\n")
    os.chmod(plain, 0o644)
    script = s.nest.file("script", "#!/no/such/interpreter -x\n")
    os.chmod(script, 0o755)
    for command, word in (("./no-such-command", "No such file"), (plain, "chmod +x"), (s.nest.root, "not a file"),
                          (script, "/no/such/interpreter"), ("no-such-command", "PATH"), ("plain", "./plain")):
        status, said = Worker(s, "--type", "t", "--", command).ended()
        same(status, 2, said)
        check(word in said and command in said, said)
    same([w for w in s.get("/api/workers")["workers"] if w["kind"] == "remote"], [])


@test()
def a_worker_waits_for_a_server_that_is_away_and_tells_what_ended_meanwhile(s):
    s.command[3] = f"127.0.0.1:{s.port}"
    gate = os.path.join(s.nest.root, "gate")
    os.mkfifo(gate)
    worker = Worker(s, "--type", "t", *shell("read x < gate; echo $x"))
    task = s.create("t")
    running(s, task)
    s.kill()
    with open(gate, "w", encoding="utf-8") as handle:
        handle.write("7\n")
    s.restart()
    has(done(s, task), state="COMPLETED", result=7)
    with_next = s.create("t")
    running(s, with_next)
    with open(gate, "w", encoding="utf-8") as handle:
        handle.write("8\n")
    has(done(s, with_next), state="COMPLETED", result=8)
    worker.end()


@test()
def a_worker_that_is_refused_ends_and_says_why(s):
    token = s.nest.run("token", "create", "--role", "read", "--data", s.data).stdout.strip()
    worker = Worker(s, "--type", "t", "--token", token, "--", "true")
    status, said = worker.ended()
    same(status, 1)
    check("errand:" in said, said)
    s.token = s.nest.run("token", "create", "--role", "admin", "--data", s.data).stdout.strip()


@test()
def wrong_usage_says_so(s):
    for arguments in (("--", "true"), ("--type", "t"), ("--type", "t", "-j", "0", "--", "x"),
                      ("--type", "t", "--url", "nowhere", "--", "x")):
        worker = Worker(s, *arguments)
        status, said = worker.ended()
        same(status, 2, f"{arguments}: {said}")


@test()
def a_quieted_worker_goes_on_when_it_is_resumed(s):
    worker = Worker(s, "--type", "t", "--worker", "w", *shell("echo 1"))
    same(worker_id(s), "w")
    s.post("/api/workers/w/quiet")
    wait_for(lambda: "claim no more" in worker.process.stderr.readline(), "its word")
    task = s.create("t")
    same(s.state(task), "QUEUED")
    s.post("/api/workers/w/resume")
    has(done(s, task), state="COMPLETED", result=1)
    worker.end()


@test()
def a_stopped_worker_gives_back_what_does_not_end_in_time_and_exits(s):
    worker = Worker(s, "--type", "t", "-j", "2", "--worker", "w", "--lease", "1s", "--grace", "1s",
                    *shell("read n; echo 1 > begun.$n; sleep $n"))
    brief, long = s.create("t", payload=1), s.create("t", payload=100)
    wait_for(lambda: read(s, "begun.1") and read(s, "begun.100"), "both commands")
    s.post("/api/workers/w/stop")
    status, said = worker.ended()
    same(status, 0, said)
    check("asks to stop" in said, said)
    same(s.state(brief), "COMPLETED")
    has(s.show(long), state="QUEUED", retries=0, attempt=1)


if __name__ == "__main__":
    main()
