# tests/system/test_fleet_clocks.py: nodes whose clocks differ from PostgreSQL's, by little or by much.
#
# SPDX-License-Identifier: MIT
"""Clocks in a fleet."""
import json
import time

from errand import check, has, main, parse_time, same, test
from fleet import Fleet, wait_slowly
from shim import Shim

LIMIT_MS = 250  # FLEET_CLOCK_MS
NEAR_MS = 200  # within the limit, so nothing may go wrong
LEASE_S = 3.0


def add_shifted(fleet, offset_ms):
    """One node more, whose clock is that far ahead."""
    shim = Shim(fleet.nest)
    shim.set(wall_offset_ms=offset_ms)
    fleet.add(data=shim.data, env=shim.env())
    return shim


def offset_of(fleet, at, seen_by):
    return (fleet.entry(at, seen_by) or {}).get("clockOffsetMs")


@test(server=False)
def a_clock_that_is_off_is_shown_everywhere(nest):
    fleet = Fleet(nest, nodes=1)
    shim = add_shifted(fleet, 5000)
    late, good = fleet.node(1), fleet.node(0)
    wait_slowly(lambda: late.get("/healthz").get("degraded") == ["clock"], "a node that knows its clock is off")
    same(late.call("GET", "/readyz").status, 200)
    for seen_by in (0, 1):
        wait_slowly(lambda s=seen_by: abs((offset_of(fleet, 1, s) or 0) - 5000) < 2 * LIMIT_MS, "its offset in the list")
        wait_slowly(lambda s=seen_by: offset_of(fleet, 0, s) is not None, "the offset of the other")
    wait_slowly(lambda: good.get("/healthz")["status"] == "ok", "a node whose clock is right")
    check("errand_clock_offset_seconds" in late.raw("GET", "/metrics").body.decode(), "no metric")
    said = json.loads(nest.run("doctor", "--json", "--data", shim.data, "--store", fleet.store_url(), expect=None,
                               env=shim.env()).stdout)
    clock = [each for each in said if each["check"] == "clock"]
    check(any(each["status"] == "warn" and "store" in each["message"] for each in clock), clock)
    shim.set(wall_offset_ms=0)
    wait_slowly(lambda: late.get("/healthz")["status"] == "ok", "a node whose clock is right again")


@test(server=False)
def a_leader_whose_clock_is_ahead_does_not_steal_a_lease(nest):
    fleet = Fleet(nest, nodes=0)
    ahead = add_shifted(fleet, NEAR_MS)  # it leads: it was there first
    fleet.wait_leader()
    behind = add_shifted(fleet, -NEAR_MS)
    fleet.wait_together()
    task = fleet.node(1).create(documentId="d", backoff={"baseMs": 1, "factor": 1, "maxMs": 1, "jitter": 0})
    sent = time.monotonic()
    claimed = fleet.node(1).claim_one("w", leaseMs=int(LEASE_S * 1000))
    same(claimed["id"], task["id"])
    fleet.kill(1)  # nobody minds the lease now but the leader
    again = fleet.node(0).claim_one("v", waitMs=20000)
    check(time.monotonic() - sent >= LEASE_S, "the lease ended before its worker could know")
    same((again["id"], again["attempt"]), (task["id"], 2))
    same((ahead.get("wall_offset_ms"), behind.get("wall_offset_ms")), (NEAR_MS, -NEAR_MS))


HOUR_MS = 3600000
SECONDLY = {"title": "t", "rrule": "FREQ=SECONDLY", "taskType": "tick", "overlap": "allow", "delivery": []}
QUICK = {"baseMs": 1, "factor": 1, "maxMs": 1, "jitter": 0}


def utc(ms):
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(ms // 1000)) + f".{ms % 1000:03d}Z"


def an_hour_off(nest, offset_ms):
    """A leader whose clock is an hour off: nothing of what the other one does or wrote is judged by it."""
    fleet = Fleet(nest, nodes=0)
    add_shifted(fleet, offset_ms)
    fleet.wait_leader()
    fleet.add()
    fleet.wait_together()
    off, right = fleet.nodes
    kept = [node.create("kept", documentId="d") for node in (right, off)]
    held = right.claim_one("w", taskTypes=["kept"], leaseMs=60000)
    due_ms = int(time.time() * 1000) + 2000
    late = [node.create("late", scheduledAt=utc(due_ms)) for node in (right, off)]
    same([task["state"] for task in late], ["SCHEDULED"] * 2)
    for node in (off, right):
        has(node.claim_one("w", taskTypes=["late"], waitMs=20000), state="RUNNING")
        check(time.time() * 1000 >= due_ms - LIMIT_MS, "a task was due before its time")
    tick = off.post("/api/schedules", SECONDLY, 201)
    fired = right.claim_one("w", taskTypes=["tick"], waitMs=20000)
    check(abs(parse_time(fired["createdAt"]) - time.time() * 1000) < 60000, f"fired at {fired['createdAt']}")
    off.post(f"/api/schedules/{tick['id']}/pause")
    has(right.heartbeat(held), cancelRequested=False)  # the leader looks every second, and did not take it
    same(off.complete(held)["id"], kept[0]["id"])
    lost = right.create("lost", backoff=QUICK)
    same(right.claim_one("w", taskTypes=["lost"], leaseMs=1000)["id"], lost["id"])
    fleet.kill(1)  # now the leader alone minds that lease, by the other's clock
    same(off.claim_one("v", taskTypes=["lost"], waitMs=20000)["attempt"], 2)
    same(off.claim_one("v", taskTypes=["kept"], waitMs=20000)["id"], kept[1]["id"])


@test(server=False)
def a_clock_an_hour_ahead_decides_nothing(nest):
    an_hour_off(nest, HOUR_MS)


@test(server=False)
def a_clock_an_hour_behind_decides_nothing(nest):
    an_hour_off(nest, -HOUR_MS)


main()
