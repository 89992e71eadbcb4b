# tests/system/test_faults.py: a full disk, a disk that lies, a power cut at every write, and a wall
# clock that jumps.
#
# shim.c, preloaded into the server, makes these happen; shim.py writes its control file.
#
# SPDX-License-Identifier: MIT
import os
import random
import shutil
import time

from errand import check, has, main, parse_time, same, test, time_text, together, wait_for
from shim import Shim

BEFORE, HALF, AFTER = 1, 2, 3
WRITE, SYNC = 1, 2
ENOSPC, EIO = 28, 5
HOUR = 3600000
# Of all places where the power could go these many are tried, from a seed; ERRAND_CUTS=100000 tries them all.
CUTS = int(os.environ.get("ERRAND_CUTS", 96))
SEED = int(os.environ.get("ERRAND_SEED", 1))


def healthy_again(s):
    """A restart without the shim: all is well."""
    s.restart(env={k: v for k, v in s.env.items() if k != "LD_PRELOAD"})
    s.doctor()
    return s


# ---- A full disk ----


@test(server=False)
def a_full_disk_refuses_writes_and_recovers_by_itself(nest):
    shim = Shim(nest)
    s = shim.server()
    kept = [s.create(payload=n)["id"] for n in range(10)]
    held = s.claim_one()
    shim.set(disk_full=1)

    def filled():
        answer = s.call("POST", "/api/tasks", {"taskType": "t", "payload": "x" * 100000},
                        (201, 503))
        if answer.status == 201:
            kept.append(answer.json["id"])
        return answer if answer.status == 503 else None
    answer = wait_for(filled, "the disk to be full")
    check(int(answer.headers["retry-after"]) >= 1)
    for _ in range(3):
        s.call("POST", "/api/tasks", {"taskType": "t", "payload": "y" * 100000}, 503)
    same(len(s.list(limit=500)), len(kept))
    has(s.show(held), state="RUNNING")
    has(s.get("/healthz"), status="degraded", degraded=["store"])
    check("retry-after" in s.call("GET", "/readyz", expect=503).headers)
    check(s.process.poll() is None)
    shim.set(disk_full=0)
    wait_for(lambda: s.raw("POST", "/api/tasks", {"taskType": "after"}).status == 201, "recovery")
    has(s.complete(held), state="COMPLETED")
    same(sorted(s.ids(limit=500, taskType="t") + s.ids(taskType="work")),
         sorted(kept), "what was refused left nothing behind")
    wait_for(lambda: s.get("/healthz")["status"] == "ok", "health")
    s.get("/readyz")
    s.terminate()
    healthy_again(s)
    has(s.show(held), state="COMPLETED")


@test(server=False)
def a_full_disk_half_does_nothing(nest):
    """An array, a finish and a purge that do not fit leave everything as it was."""
    shim = Shim(nest)
    s = shim.server()
    s.post("/api/tasks", [{"taskType": "t", "queue": "q"}] * 500, 201)
    claimed = s.claim(queues=["q"], max=200, leaseMs=3600000)
    shim.set(disk_full=1, fail_at=1, fail_errno=ENOSPC, fail_calls=WRITE)
    s.call("POST", "/api/tasks", [{"taskType": "t"}] * 1000, 503)
    s.call("POST", "/api/finish", [{"id": t["id"], "lease": t["lease"], "outcome": "complete",
                                    "result": "r"} for t in claimed], 503)
    s.call("POST", "/api/queues/q/purge", None, 503)
    s.call("POST", "/api/claim", {"workerId": "w", "queues": ["q"], "max": 50}, 503)
    s.call("PUT", "/api/queues/q", {"maxConcurrent": 1}, 503)
    shim.set(disk_full=0, fail_at=0)
    wait_for(lambda: s.raw("POST", "/api/tasks", {"taskType": "after"}).status == 201, "recovery")
    counts = {q["name"]: {k: v for k, v in q["counts"].items() if v} for q in s.get("/api/queues")}
    same(counts, {"q": {"QUEUED": 300, "RUNNING": 200}, "default": {"QUEUED": 1}})
    same(len(s.claim(queues=["q"], max=1000)), 300, "memory and disk agree")
    answers = s.post("/api/finish", [{"id": t["id"], "lease": t["lease"], "outcome": "complete"}
                                     for t in claimed])
    same({a["status"] for a in answers}, {200})
    s.terminate()
    healthy_again(s)
    same({q["name"]: q["counts"]["COMPLETED"] for q in s.get("/api/queues")}["q"], 200)


# ---- A disk that lies ----


def dies_of(nest, **fault):
    shim = Shim(nest)
    s = shim.server()
    kept = [s.create(payload=n)["id"] for n in range(20)]
    held = s.claim_one(leaseMs=3600000)
    s.complete(held, result="kept")
    s.expected_to_die = True
    shim.set(fail_at=shim.get("calls") + 1, **fault)
    began = time.monotonic()
    try:
        answer = s.raw("POST", "/api/tasks", {"taskType": "lost", "payload": "x"})
        check(answer.status == 503, f"acknowledged without a disk: {answer!r}")
        for _ in range(1000):
            check(s.raw("POST", "/api/tasks", {"taskType": "lost"}).status == 503, "a 2xx later")
    except (OSError, ConnectionError):
        pass
    same(s.process.wait(30), 1, "exit status")
    check(time.monotonic() - began < 10, "it lived on")
    s.wait()
    healthy_again(s)
    for ident in kept:
        check(s.show(ident)["state"] in ("QUEUED", "COMPLETED"))
    has(s.show(held), state="COMPLETED", result="kept")
    s.complete(s.claim_one())


@test(server=False)
def a_failing_fsync_ends_the_server_and_loses_nothing(nest):
    dies_of(nest, fail_errno=EIO, fail_calls=SYNC)


@test(server=False)
def a_failing_write_ends_the_server_and_loses_nothing(nest):
    dies_of(nest, fail_errno=EIO, fail_calls=WRITE | SYNC)


# ---- A power cut at every write ----


class Story:
    """A short life of several tasks, told call by call.

    `facts` were acknowledged and must survive; `pending` is what the call under way would change:
    when the cut comes during it, either is right."""

    def __init__(self, s):
        self.s, self.facts, self.pending = s, {}, {}

    def step(self, call, **changes):
        self.pending = changes
        answer = call()
        self.facts.update(changes)
        self.pending = {}
        return answer

    def create(self, *bodies):
        made = self.s.post("/api/tasks", list(bodies), 201)
        self.facts.update((task["id"], task["state"]) for task in made)
        return [task["id"] for task in made]

    def claim(self, *idents):
        return self.step(lambda: self.s.claim(max=len(idents), leaseMs=HOUR),
                         **{ident: "RUNNING" for ident in idents})

    def tell(self):
        s, step = self.s, self.step
        a, b, c, late = self.create(
            {"taskType": "a", "documentId": "d", "payload": "p" * 5000, "idempotencyKey": "k"},
            {"taskType": "b", "documentId": "d"}, {"taskType": "c"},
            {"taskType": "e", "delayMs": HOUR})
        first, third = self.claim(a, c)
        step(lambda: s.heartbeat(first, progress={"percent": 5}, log="line"))
        step(lambda: s.complete(first, result={"done": 1}), **{a: "COMPLETED"})
        step(lambda: s.fail(third, retry=False), **{c: "FAILED"})
        step(lambda: s.retry({"id": c}), **{c: "QUEUED"})
        second, third = self.claim(b, c)
        step(lambda: s.release(third), **{c: "QUEUED"})
        step(lambda: s.cancel({"id": late}), **{late: "CANCELLED"})
        step(lambda: s.delete({"id": late}), **{late: "gone"})
        step(lambda: s.call("PUT", "/api/queues/q", {"maxConcurrent": 4}, 200), queue=4)
        step(lambda: s.complete(second), **{b: "COMPLETED"})

    def now(self, key):
        if key == "queue":
            return next((q["maxConcurrent"] for q in self.s.get("/api/queues")
                         if q["name"] == "q"), None)
        answer = self.s.raw("GET", f"/api/tasks/{key}")
        return "gone" if answer.status == 404 else answer.json["state"]

    def check(self, when):
        for key, value in self.facts.items():
            found = self.now(key)
            check(found in (value, self.pending.get(key)),
                  f"{when}: {key} is {found}, acknowledged was {value}")


def life(nest, prepare, n=0, how=BEFORE):
    """One life with a power cut at its n-th write or sync (0: none); returns how many there were."""
    shim = Shim(nest)
    prepare(shim)
    shim.set(kill_at=n, kill_how=how)
    s = shim.server(wait="maybe")
    story = Story(s)
    try:
        if s.port:
            story.tell()
    except (OSError, ConnectionError):
        pass
    calls = shim.get("calls")
    if n == 0 or calls < n:
        s.kill()
    s.expected_to_die = True
    s.wait()
    shim.forget_unsynced()
    s.restart(env={k: v for k, v in s.env.items() if k != "LD_PRELOAD"})
    story.check(f"cut {how} at {n}")
    s.doctor()
    s.kill()
    s.examine()
    nest.servers.remove(s)
    shutil.rmtree(shim.data)
    shutil.rmtree(shim.shadow, ignore_errors=True)
    return calls


def cut_everywhere(nest, most, hows, prepare):
    """At every write and sync if there are no more than `most`, else spread over them at random."""
    total = life(nest, prepare)
    everywhere = [(n, how) for how in hows for n in range(1, total + 1)]
    cuts = random.Random(SEED).sample(everywhere, min(most, len(everywhere)))
    print(f"# {len(cuts)} of {len(everywhere)} cuts at {total} writes; seed {SEED}")
    rest = iter(cuts)

    def work():
        for n, how in rest:
            life(nest, prepare, n, how)
    together(work, work)


@test(server=False)
def a_power_cut_at_any_write_keeps_what_was_acknowledged(nest):
    ready = nest.server()
    ready.terminate()
    cut_everywhere(nest, CUTS, (BEFORE, HALF), lambda shim: shutil.copytree(
        ready.data, shim.data))


@test(server=False)
def a_power_cut_that_takes_all_that_was_not_synced(nest):
    ready = nest.server()
    ready.terminate()

    def prepare(shim):
        shutil.copytree(ready.data, shim.data)
        shim.seed_shadow()
    cut_everywhere(nest, CUTS // 2, (BEFORE,), prepare)


@test(server=False)
def a_power_cut_while_the_store_is_made(nest):
    cut_everywhere(nest, CUTS // 3, (BEFORE,), lambda shim: os.mkdir(shim.data))


# ---- A wall clock that jumps ----


def now_ms():
    return int(time.time() * 1000)


@test(server=False)
def a_jump_of_the_wall_clock_moves_no_lease(nest):
    for jump in (HOUR, -HOUR):
        shim = Shim(nest)
        s = shim.server()
        s.create("held", timeoutMs=120000, maxRetries=0)
        held = s.claim_one(leaseMs=60000)
        s.create("short", maxRetries=0)
        short = s.claim_one(leaseMs=1500)
        s.create("retrying", backoff={"baseMs": 1200, "factor": 1, "maxMs": 1200, "jitter": 0})
        retrying = s.fail(s.claim_one())
        began = time.monotonic()
        shim.set(wall_offset_ms=jump)
        claimed = s.claim_one(waitMs=20000, taskTypes=["retrying"])
        waited = time.monotonic() - began
        same(claimed["id"], retrying["id"])
        check(0.9 < waited < 10, f"a backoff of 1.2 s took {waited} s after a jump of {jump}")
        has(s.show(held), state="RUNNING")
        has(s.show(short, waitMs=20000), state="FAILED")
        check(0.9 < time.monotonic() - began < 12, "the short lease was stretched")
        s.heartbeat(held)
        has(s.complete(held), state="COMPLETED", attempt=1)
        s.terminate()


@test(server=False)
def scheduled_times_follow_the_wall_clock(nest):
    shim = Shim(nest)
    s = shim.server()
    at = s.create("at", scheduledAt=time_text(now_ms() + HOUR // 2))
    expiring = s.create("expiring", queue="none", expiresAt=time_text(now_ms() + HOUR // 2))
    same(s.claim(taskTypes=["at"]), [])
    shim.set(wall_offset_ms=HOUR)
    s.create("nudge", queue="other")
    claimed = s.claim_one(waitMs=20000, taskTypes=["at"])
    same(claimed["id"], at["id"])
    has(s.show(expiring, waitMs=20000), state="CANCELLED", cancelReason="expired")
    created = parse_time(s.create("later")["createdAt"])
    check(abs(created - now_ms() - HOUR) < 60000, "createdAt is not the wall clock's")


main()
