# tests/system/test_fleet_schedules.py: schedules of several nodes: whoever leads fires each time once.
#
# SPDX-License-Identifier: MIT
"""Schedules in a fleet."""
from errand import START, check, later, main, parse_time, same, test, wait_for
from fleet import Fleet

EVERY_SECOND = {"title": "t", "rrule": "FREQ=SECONDLY", "taskType": "noop", "overlap": "allow", "delivery": []}


def history(fleet, at, schedule):
    node, entries, path = fleet.node(at), [], f"/api/schedules/{schedule['id']}/executions?limit=500"
    while path:
        answer = node.call("GET", path, None, 200)
        entries += answer.json
        link = answer.headers.get("link", "")
        path = link[1:link.index(">")] if link else None
    return entries


def times(entries):
    return sorted(parse_time(each["scheduledFor"]) // 1000 for each in entries)


def unbroken(seconds):
    same(seconds, list(range(seconds[0], seconds[0] + len(seconds))), "the seconds that were run")


@test(server=False)
def each_time_is_run_once_whoever_leads(nest):
    fleet = Fleet(nest, nodes=2, redis=0, workers=2)
    fleet.wait_together()
    leader = fleet.leader()
    other = 1 - leader
    mine = fleet.node(leader).post("/api/schedules", EVERY_SECOND, 201)
    theirs = fleet.node(other).post("/api/schedules", EVERY_SECOND, 201)  # the leader hears of it within a second
    for schedule in (mine, theirs):
        wait_for(lambda s=schedule: len(history(fleet, other, s)) >= 3, "three runs")
    fleet.kill(leader)
    fleet.wait_leader(among=[other])
    fired = {s["id"]: len(history(fleet, other, s)) for s in (mine, theirs)}
    for schedule in (mine, theirs):
        wait_for(lambda s=schedule: len(history(fleet, other, s)) >= fired[s["id"]] + 5, "runs of the new leader")
        fleet.node(other).post(f"/api/schedules/{schedule['id']}/pause")
        wait_for(lambda s=schedule: all(e["status"] != "RUNNING" for e in history(fleet, other, s)), "their ends", 60)
        entries = history(fleet, other, schedule)
        check(all(e["status"] == "SUCCESS" for e in entries), [e for e in entries if e["status"] != "SUCCESS"])
        unbroken(times(entries))
        tasks = fleet.node(other).get("/api/tasks", scheduleId=schedule["id"], limit=500)
        same(sorted(t["id"] for t in tasks), sorted(e["id"] for e in entries))
    fleet.doctor()


DAY = 86400000


@test(server=False)
def a_week_is_wound_through_in_a_fleet_too(nest):
    """Winding goes from event to event, also for times that another node has ordered."""
    fleet = Fleet(nest, nodes=0, redis=1)
    leader, other = (fleet.node(fleet.add(clock=START)) for _ in range(2))
    fleet.wait_leader(among=[0])
    ordered = [node.post("/api/schedules", {"title": "t", "rrule": "FREQ=DAILY", "overlap": "allow"}, 201)
               for node in (leader, other)]
    leader.advance(7 * DAY)
    for schedule in ordered:
        entries = history(fleet, 0, schedule)
        same([e["scheduledFor"] for e in reversed(entries)], [later(START, n * DAY) for n in range(1, 8)])
        check(all(e["createdAt"] == e["scheduledFor"] for e in entries), "each time at its time")


@test(server=False)
def a_frozen_leader_that_wakes_up_fires_nothing_again(nest):
    fleet = Fleet(nest, nodes=2, redis=0, workers=2)
    fleet.wait_together()
    leader = fleet.leader()
    other = 1 - leader
    schedule = fleet.node(other).post("/api/schedules", EVERY_SECOND, 201)
    wait_for(lambda: len(history(fleet, other, schedule)) >= 2, "two runs")
    fleet.freeze(leader)
    fleet.wait_leader(among=[other])
    wait_for(lambda: times(history(fleet, other, schedule))[-1] >= times(history(fleet, other, schedule))[0] + 15,
             "runs of the new leader", 60)
    fleet.thaw(leader)
    before = len(history(fleet, other, schedule))
    wait_for(lambda: len(history(fleet, other, schedule)) >= before + 3, "more runs")
    fleet.node(leader).post(f"/api/schedules/{schedule['id']}/pause")
    unbroken(times(history(fleet, leader, schedule)))


main()
