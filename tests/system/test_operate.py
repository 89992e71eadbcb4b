# tests/system/test_operate.py: what an operator sees: the log in text and JSON, the service manager's word.
#
# SPDX-License-Identifier: MIT
import json
import os
import re
import signal
import socket
import ssl
import subprocess

from errand import START, check, has, main, same, test, wait_for
from terminal import Terminal


def lines_of(s):
    return s.stderr().splitlines()


def said(s, message):
    """The lines of the JSON log with this message."""
    lines = [json.loads(line) for line in lines_of(s)]
    return [line for line in lines if line["message"].startswith(message)]


@test()
def a_line_at_the_start_says_what_runs_here(s):
    first = lines_of(s)[0]
    check(re.search(r"info errand \S+ serves version=\S+ address=127\.0\.0\.1:%d store=sqlite broker=memory workers=\d+ "
                    r"settings=none dashboard=http://127\.0\.0\.1:%d/$" % (s.port, s.port), first), first)


@test(env={"ERRAND_LOG_FORMAT": "json"})
def in_json_every_line_is_an_object_with_named_facts(s):
    task = s.create("fragile", maxRetries=0, queue="q")
    claimed = s.claim_one(queues=["q"])
    s.fail(claimed, error={"code": "c", "message": "the password is \"hunter2\"\n"})
    found = said(s, "a task failed for good")
    same(len(found), 1)
    has(found[0], level="warn", taskId=task["id"], taskType="fragile", queue="q", attempt=1, outcome="FAILED")
    check(all(set(json.loads(line)) >= {"time", "level", "message"} for line in lines_of(s)))
    check("hunter2" not in s.stderr(), "what a worker says stays out of the log")
    s.create("left")
    s.kill()
    s.restart()
    has(said(s, "recovered from the store")[-1], live=1, running=0)


@test(env={"ERRAND_LOG_FORMAT": "json"})
def a_retry_is_not_the_end_and_a_storm_is_bounded(s):
    tasks = s.post("/api/tasks", [{"taskType": "t", "maxRetries": 0}] * 200, 201)
    s.create("again", maxRetries=1)
    claimed = s.claim(max=201)
    s.post("/api/finish", [{"id": t["id"], "lease": t["lease"], "outcome": "fail", "error": {"message": "no"}} for t in claimed])
    told = said(s, "a task failed for good")
    check(20 <= len(told) <= 40, f"{len(told)} lines of {len(tasks)}")
    check(all(line["taskType"] == "t" for line in told), "a task that is tried again has not failed for good")


def hangup(s, times):
    """SIGHUP, and what the log says of the settings then."""
    s.process.send_signal(signal.SIGHUP)
    return wait_for(lambda: (lines := [line for line in lines_of(s) if "settings" in line.split(" ", 2)[2][:40]
                                       and "serves" not in line]) and len(lines) >= times and lines[-1])


@test(server=False)
def sighup_reads_the_settings_again(nest):
    path = nest.file("errand.conf", "[limits]\npayload = 1k\n[log]\nlevel = info\n")
    s = nest.server(args=["--config", path])
    s.post("/api/tasks", {"taskType": "t", "payload": "x" * 2000}, 413)
    nest.file("errand.conf", "[limits]\npayload = 4k\nwaiting_claims = 1\n[retention]\nfinished = 2d\n[workers]\ncount = 1\n")
    check("2 changed" in hangup(s, 1), s.stderr())
    check("[retention] finished has changed: that needs a restart" in s.stderr(), s.stderr())
    s.post("/api/tasks", {"taskType": "t", "payload": "x" * 2000}, 201)
    nest.file("errand.conf", "[limits]\npayload = lots\n")
    check("stay as they were" in hangup(s, 2) and "payload" in s.stderr(), s.stderr())
    s.post("/api/tasks", {"taskType": "t", "payload": "x" * 2000}, 201)
    nest.file("errand.conf", "[limits]\npayload = 1k\n[log]\nlevel = error\n")
    s.process.send_signal(signal.SIGHUP)
    wait_for(lambda: s.raw("POST", "/api/tasks", {"taskType": "t", "payload": "x" * 2000}).status == 413)
    same(s.terminate(), 0)
    check("draining" not in s.stderr(), "the level was changed, too")


@test(server=False)
def sighup_takes_a_new_certificate_or_none(nest):
    cert, key = (os.path.join(nest.root, name) for name in ("c.pem", "k.pem"))

    def renew(name):
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key,
                        "-out", cert, "-days", "2", "-subj", f"/CN={name}"], check=True, capture_output=True)

    def greets(s):
        with socket.create_connection(("127.0.0.1", s.port), timeout=60) as plain:
            context = ssl._create_unverified_context()
            with context.wrap_socket(plain) as wire:
                return wire.getpeercert(binary_form=True)
    renew("one")
    s = nest.server(args=["--tls-cert", cert, "--tls-key", key], tls=cert, wait=True)
    first = greets(s)
    with open(cert, "w", encoding="utf-8") as file:
        file.write("no certificate")
    check("stay as they were" in hangup(s, 1))
    same(greets(s), first)
    renew("two")
    check("read the settings again" in hangup(s, 2))
    check(greets(s) != first, "the old certificate is still shown")


@test()
def top_shows_one_screen(s):
    running, waiting = s.create("slow"), s.create("left", queue="mail")
    claimed = s.claim_one("w 1")
    s.heartbeat(claimed, progress={"percent": 40, "message": "halfway"})
    s.create("broken", maxRetries=0)
    s.fail(s.claim_one("w 2"), error={"message": "no such page"})
    screen = s.cli("top")
    for part in (f"127.0.0.1:{s.port}", "leader", "QUEUED", "RUNNING 1", "mail", running["id"], "40% halfway", "no such page", "busy"):
        check(part in screen, f"{part} is not in {screen}")
    check(waiting["id"] not in screen, "what waits is counted, not listed")


@test(clock=START)
def top_shows_how_long_queues_wait_and_what_failed_lately(s):
    waiting = s.create("left", queue="mail")
    s.create("broken", maxRetries=0)
    s.fail(s.claim_one(), error={"message": "no such page"})
    has(s.get("/api/queues/mail"), oldestQueuedAt=waiting["queuedAt"])
    has(s.get("/api/queues/default"), oldestQueuedAt=None)
    s.advance(9 * 60000)
    screen = s.cli("top")
    check("9m 0s" in screen and "no such page" in screen, screen)
    s.advance(2 * 60000)
    screen = s.cli("top")
    check("11m 0s" in screen and "no such page" not in screen, f"failures of the last ten minutes are shown, not {screen}")


@test()
def top_fits_its_terminal_and_says_when_the_server_is_away(s):
    for number in range(30):
        s.create("left", queue=f"a-queue-with-a-long-name-{number}")
    with Terminal(["top"], s.port, rows=20) as terminal:
        text = terminal.until(lambda text: "busy" in text)
        check(text.startswith("node ") and "more queues" in text, f"all of it is on the screen:\n{text}")
        s.kill()
        terminal.until(lambda text: text.startswith("disconnected") and "a-queue" in text)


@test()
def probes_and_scrapers_come_by_any_host(s):
    for path in ("/healthz", "/readyz", "/metrics"):
        same(s.raw("GET", path, headers={"Host": "10.0.0.7:8001"}).status, 200, path)
    answer = s.raw("GET", "/api/stats", headers={"Host": "10.0.0.7:8001"})
    same(answer.status, 403)
    check("[http] hosts" in answer.json["error"]["message"], answer.body)
    same(s.raw("GET", "/metrics", headers={"Origin": "http://evil.example"}).status, 403)


@test(server=False)
def the_service_manager_is_told(nest):
    path = os.path.join(nest.root, "notify")
    manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    manager.bind(path)
    manager.settimeout(60)
    s = nest.server(env={"NOTIFY_SOCKET": path, "WATCHDOG_USEC": "200000"})
    check(manager.recv(4096).startswith(b"READY=1\nSTATUS=serving 127.0.0.1:"), "it is ready")
    same(manager.recv(4096), b"WATCHDOG=1")
    same(manager.recv(4096), b"WATCHDOG=1")
    s.terminate()
    wait_for(lambda: b"STOPPING=1" in manager.recv(4096))
    manager.close()


@test(server=False)
def a_watchdog_of_another_process_is_left_alone(nest):
    path = os.path.join(nest.root, "notify")
    manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    manager.bind(path)
    manager.settimeout(60)
    s = nest.server(env={"NOTIFY_SOCKET": path, "WATCHDOG_USEC": "1000", "WATCHDOG_PID": "1"})
    check(b"READY=1" in manager.recv(4096))
    s.get("/api/stats")
    s.terminate()
    check(b"STOPPING=1" in manager.recv(4096), "nothing in between")
    manager.close()


main()
