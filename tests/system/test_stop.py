# tests/system/test_stop.py: how a server ends, and what the next one finds.
#
# SPDX-License-Identifier: MIT
import os
import signal
import socket

from errand import START, check, has, main, same, test, together, wait_for


@test()
def sigterm_ends_it_with_0_and_keeps_everything(s):
    task = s.create(payload={"a": 1}, documentId="d", delayMs=3600000)
    queued = s.create("queued")
    done = s.create("done", priority="HIGH")
    s.complete(s.claim_one(), result=7)
    s.call("PUT", "/api/queues/q", {"maxConcurrent": 5}, 200)
    before = {t["id"]: s.show(t) for t in (task, queued, done)}
    same(s.terminate(), 0)
    s.restart()
    for ident, shown in before.items():
        same(s.show(ident), shown)
    has([q for q in s.get("/api/queues") if q["name"] == "q"][0], maxConcurrent=5)
    same(s.claim_one()["id"], queued["id"])
    s.doctor()


@test()
def sigint_ends_it_too(s):
    s.expected_to_die = True
    s.process.send_signal(signal.SIGINT)
    same(s.wait(), 0)


@test()
def a_remote_lease_survives_the_restart(s):
    s.create(documentId="d")
    held = s.claim_one()
    same(s.terminate(), 0)
    s.restart()
    has(s.heartbeat(held), cancelRequested=False)
    has(s.complete(held, result=1), state="COMPLETED", attempt=1)


@test()
def waiting_claims_and_streams_are_let_go(s):
    stream = s.stream("/api/events")
    wire = s.wire()
    wire.send(s.request("POST", "/api/claim", {"workerId": "w", "waitMs": 60000}))
    wait_for(lambda: s.get("/api/workers")["workers"])
    same(s.terminate(), 0)
    answer = wire.rest()
    check(answer == b"" or b'"tasks":[]' in answer or b" 503 " in answer, answer)
    try:
        while True:
            stream.next()
    except ConnectionError:
        pass
    wire.close()


@test(server=False)
def who_comes_while_it_drains_is_told_503(nest):
    go = os.path.join(nest.root, "go")
    os.mkfifo(go)
    script = nest.file("wait.sh", f"#!/bin/sh\ncat {go}\n")
    os.chmod(script, 0o755)
    config = nest.file("errand.conf", f"[handler.wait]\nexec = {script}\n[workers]\ngrace = 10m\n")
    s = nest.server(args=["--config", config])
    task = s.create("wait")
    wait_for(lambda: s.show(task)["state"] == "RUNNING")
    s.expected_to_die = True
    s.process.send_signal(signal.SIGTERM)

    def status(path):
        with socket.create_connection(("127.0.0.1", s.port), timeout=60) as wire:
            wire.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            return wire.recv(4096).split(b" ")[1]
    wait_for(lambda: status("/readyz") == b"503")
    for path in ("/readyz", "/healthz", "/api/tasks", "/metrics", "/no/such/path"):
        same(status(path), b"503", path)
    with open(go, "w", encoding="utf-8") as pipe:
        pipe.write("7")
    same(s.wait(), 0)
    s.restart()
    has(s.show(task), state="COMPLETED", result=7)


@test()
def a_second_sigterm_stops_at_once(s):
    s.create()
    s.claim_one()
    s.expected_to_die = True
    s.process.send_signal(signal.SIGTERM)
    s.process.send_signal(signal.SIGTERM)
    s.wait(20)


@test()
def two_servers_never_share_a_data_folder(s):
    task = s.create()
    said = s.nest.refuses("--listen", "127.0.0.1:0", "--data", s.data)
    check(s.data in said or "lock" in said or "another" in said or "use" in said, said)
    has(s.show(task), state="QUEUED")
    s.kill()
    s.restart()
    has(s.show(task), state="QUEUED")


@test()
def a_port_in_use_is_told(s):
    said = s.nest.refuses("--listen", f"127.0.0.1:{s.port}", "--data", s.nest.folder())
    check(str(s.port) in said, said)
    for wrong in ("nonsense", "127.0.0.1:99999", "127.0.0.1:x"):
        check(s.nest.refuses("--listen", wrong, "--data", s.nest.folder()), wrong)


@test(clock=START)
def a_kill_keeps_order_and_places(s):
    """G4 after a restart: priority, queuedAt, creation; a released task keeps its place."""
    for n in range(30):
        s.create(f"t{n}", priority=("LOW", "NORMAL", "HIGH")[n % 3])
    first = s.claim_one()
    s.create("late", priority="HIGH")
    s.release(first)
    s.restart()
    found = [t["taskType"] for t in s.claim(max=100)]
    expected = ([f"t{n}" for n in range(2, 30, 3)] + ["late"] + [f"t{n}" for n in range(1, 30, 3)]
                + [f"t{n}" for n in range(0, 30, 3)])
    same(found, expected)


@test(clock=START)
def everything_about_a_task_survives_a_kill(s):
    s.create("a", documentId="d", tags=["x"], metadata={"m": 1}, idempotencyKey="k",
             backoff={"baseMs": 10, "factor": 2, "maxMs": 100, "jitter": 0})
    claimed = s.claim_one()
    s.fail(claimed, error={"code": "c", "message": "m", "detail": [1]})
    s.create("b", expiresAt="2027-03-02T00:00:00Z")
    s.create("c", delayMs=5000)
    running = s.create("d", queue="other")
    s.claim_one(queues=["other"])
    s.cancel(running, 202, reason="r")
    s.cancel(s.create("e"), reason="gone")
    before = [s.show(t["id"]) for t in s.list()]
    counts = s.get("/api/queues")
    s.restart()
    same([s.show(t["id"]) for t in s.list()], before)
    same(s.get("/api/queues"), counts)
    has(s.create(expect=200, idempotencyKey="k"), taskType="a")
    s.doctor()


@test()
def requests_during_a_stop_are_answered_or_cut_but_never_lie(s):
    accepted = []

    def produce():
        try:
            for _ in range(100000):
                accepted.append(s.create()["id"])
        except (OSError, AssertionError):
            return
    def stop():
        wait_for(lambda: len(accepted) > 50)
        s.expected_to_die = True
        s.process.send_signal(signal.SIGTERM)
        same(s.process.wait(60), 0)
    together(produce, produce, stop)
    s.wait()
    s.restart()
    for ident in accepted[-100:]:
        has(s.show(ident), state="QUEUED")
    same(s.get("/api/queues")[0]["counts"]["QUEUED"] >= len(accepted), True)


main()
