# tests/system/test_stalls.py: a disk that does not answer for a while, and a data folder restored from an older copy.
#
# SPDX-License-Identifier: MIT
import select
import shutil
import signal
import time

from errand import START, check, has, main, same, test, wait_for
from shim import Shim

DAY = 86400000


def send(s, method, path, body=None):
    """A request whose answer is looked at later."""
    wire = s.wire()
    s.nest.closing.append(wire)
    wire.send(s.request(method, path, body))
    return wire


def is_answered(wire):
    return bool(select.select([wire.socket], [], [], 0)[0])


def stall(s, shim):
    """From here on the disk is silent; returns a create that waits for it."""
    shim.hold()
    wire = send(s, "POST", "/api/tasks", {"taskType": "slow"})
    wait_for(lambda: shim.get("held") > 0, "the disk to be asked")
    return wire


@test(server=False)
def a_disk_that_takes_its_time_holds_up_writes_and_nothing_else(nest):
    shim = Shim(nest)
    s = shim.server()
    s.create("kept", maxRetries=0)
    kept = s.claim_one(leaseMs=1000, taskTypes=["kept"])
    claimed = time.monotonic()
    s.create("finished", maxRetries=0)
    finished = s.claim_one(leaseMs=1000, taskTypes=["finished"])
    s.create("left", maxRetries=0)
    left = s.claim_one(leaseMs=1000, taskTypes=["left"])
    create = stall(s, shim)
    beat = send(s, "POST", f"/api/tasks/{kept['id']}/heartbeat", {"lease": kept["lease"], "extendMs": 60000})
    finish = send(s, "POST", f"/api/tasks/{finished['id']}/complete", {"lease": finished["lease"]})
    wait_for(lambda: time.monotonic() - claimed > 2.5, "the ends of the leases")
    has(s.get("/healthz"), status="ok")
    has(s.show(kept), state="RUNNING")
    same(len(s.list()), 3)
    check(not any(map(is_answered, (create, beat, finish))), "answered before it was on disk")
    shim.let_go()
    made = create.answer()
    same((made.status, beat.answer().status, finish.answer().status), (201, 200, 200))
    has(s.show(left, waitMs=20000), state="FAILED")
    has(s.complete(kept), state="COMPLETED", attempt=1)
    has(s.show(finished), state="COMPLETED", attempt=1)
    has(s.show(made.json["id"]), state="QUEUED")
    s.doctor()


@test(server=False)
def sigterm_while_the_disk_is_silent_waits_for_it_and_loses_nothing(nest):
    shim = Shim(nest)
    config = nest.file("c.conf", "[workers]\ngrace = 50ms\n")
    s = shim.server(args=("--config", config))
    before = s.create()
    create = stall(s, shim)
    s.expected_to_die = True
    s.process.send_signal(signal.SIGTERM)
    wait_for(lambda: "draining" in s.stderr(), "its word")
    check(not is_answered(create), "answered before it was on disk")
    shim.let_go()
    same(s.wait(), 0, "exit status")
    made = create.rest()
    s.restart(env={k: v for k, v in s.env.items() if k != "LD_PRELOAD"})
    has(s.show(before), state="QUEUED")
    check(b" 201 " not in made or len(s.list(taskType="slow")) == 1, "acknowledged, and not there")
    s.doctor()


@test(clock=START)
def a_folder_restored_from_an_older_copy_doubles_nothing(s):
    copy = s.data + ".copy"
    one = s.post("/api/schedules", {"title": "daily", "rrule": "FREQ=DAILY", "dtstart": "2027-03-01T10:00:00",
                                    "timezone": "UTC", "taskType": "report"}, 201)
    early = s.create("early", documentId="d", idempotencyKey="k")
    running = s.create("running", maxRetries=5)
    before = s.claim_one(taskTypes=["running"], leaseMs=3600000)
    same(s.terminate(), 0)
    shutil.copytree(s.data, copy)

    s.restart()  # the future that is lost
    lost = [s.create("lost")["id"] for _ in range(20)]
    future = s.claim_one(taskTypes=["early"], leaseMs=3600000)
    s.fail(before)
    s.advance(DAY)
    fired = s.list(taskType="report")
    same(len(fired), 1)
    same(s.terminate(), 0)
    shutil.rmtree(s.data)
    shutil.move(copy, s.data)

    s.restart()
    for ident in lost + [fired[0]["id"]]:
        s.show(ident, expect=404)
    s.complete(future, expect=409)
    again = s.claim_one(taskTypes=["early"], leaseMs=3600000)
    same((again["id"], again["attempt"]), (early["id"], future["attempt"]))
    check(again["lease"] != future["lease"], "the same lease for another claim")
    s.heartbeat(future, expect=409)
    s.complete(future, expect=409)
    has(s.complete(again), state="COMPLETED", attempt=1)
    same(s.create(expect=200, idempotencyKey="k")["id"], early["id"])
    has(s.complete(before), state="COMPLETED", attempt=1)  # handed out before the copy: it holds
    fresh = [s.create("fresh")["id"] for _ in range(20)]
    check(min(fresh) > max(lost), "an id from the lost future, or older than one")
    s.advance(DAY)
    reports = s.list(taskType="report")
    same(len(reports), 1, "occurrences of that day")
    check(reports[0]["id"] > max(lost), reports)
    same([e["scheduledFor"] for e in s.get(f"/api/schedules/{one['id']}/executions")], [START[:11] + "10:00:00.000Z"])
    s.doctor()


main()
