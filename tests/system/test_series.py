# tests/system/test_series.py: what happened in each step of the last minutes.
#
# SPDX-License-Identifier: MIT
"""GET /api/series."""
from errand import START, check, main, parse_time, same, test, wait_for

COUNTS = ("created", "started", "completed", "failed", "queued", "running")
LISTS = COUNTS + ("waitP95Ms", "runP95Ms")


def series(s, minutes=None):
    found = s.get("/api/series", **({"minutes": minutes} if minutes else {}))
    same(set(found), {"stepMs", "from", *LISTS})
    lengths = {len(found[name]) for name in LISTS}
    check(len(lengths) == 1 and lengths.pop() <= 300, "lists of different lengths")
    return found


def total(found, name):
    return sum(value or 0 for value in found[name])


@test(clock=START)
def each_step_tells_what_happened_in_it(s):
    found = series(s, 5)
    same((found["stepMs"], len(found["created"]), parse_time(found["from"])), (1000, 300, parse_time(START) - 300000))
    for name in LISTS:
        same(found[name], [None] * 300, name)
    s.post("/api/tasks", [{"taskType": "t", "maxRetries": 0}] * 4, 201)
    s.advance(3000)  # they wait for three seconds
    tasks = s.claim(max=3)
    s.advance(2000)
    s.complete(tasks[0])
    s.fail(tasks[1])
    s.advance(1000)
    found = series(s, 5)
    at = {name: found[name][-6:] for name in LISTS}
    same(at["created"], [4, 0, 0, 0, 0, 0])
    same(at["started"], [0, 0, 0, 3, 0, 0])
    same(at["completed"], [0, 0, 0, 0, 0, 1])
    same(at["failed"], [0, 0, 0, 0, 0, 1])
    same(at["queued"], [4, 4, 4, 1, 1, 1])
    same(at["running"], [0, 0, 0, 3, 3, 1])
    same([value is None for value in at["waitP95Ms"]], [True, True, True, False, True, True])
    check(2000 < at["waitP95Ms"][3] <= 5000, at["waitP95Ms"])
    check(1000 < at["runP95Ms"][5] <= 2000, at["runP95Ms"])
    same(found["created"][-7], None)


@test(clock=START)
def a_day_is_there_in_longer_steps(s):
    for _ in range(20):
        s.create("noop")
        s.advance(3600 * 1000)
    day, hour = series(s, 1440), series(s)
    same((day["stepMs"], len(day["created"])), (300000, 288))
    same((hour["stepMs"], len(hour["created"])), (15000, 240))
    same((total(day, "created"), total(day, "completed"), total(hour, "created")), (20, 20, 1))
    same(day["created"].count(None), 288 - 240)
    same(day["queued"][-1], 0)
    s.advance(366 * 24 * 3600 * 1000)
    same((total(series(s, 1440), "created"), series(s, 1440)["created"].count(None)), (0, 0))


@test()
def what_is_queued_and_running_is_what_there_is(s):
    s.post("/api/tasks", [{"taskType": "a", "children": [{"taskType": "b"}, {"taskType": "b"}]},
                          {"taskType": "later", "delayMs": 3600000}, {"taskType": "b"}, {"taskType": "b"},
                          {"taskType": "b", "documentId": "d"}, {"taskType": "b", "documentId": "d"}], 201)
    tasks = s.claim(max=3, taskTypes=["b"])
    s.complete(tasks[0])
    s.release(tasks[1])
    s.post("/api/tasks/cancel", {"state": "SCHEDULED"})
    s.claim(max=2, taskTypes=["b"])
    counts = s.get("/api/stats")["counts"]

    def told():
        found = series(s, 5)
        return found["queued"][-1], found["running"][-1], total(found, "created")

    wait_for(lambda: told() == (counts["QUEUED"], counts["RUNNING"], 8), f"{counts}")
    s.restart()
    s.claim(max=1, taskTypes=["b"])
    counts = s.get("/api/stats")["counts"]
    wait_for(lambda: told() == (counts["QUEUED"], counts["RUNNING"], 0), f"{counts} after the restart")


@test()
def minutes_have_their_limits(s):
    for wrong in ("4", "1441", "0", "-5", "x", "5.5", ""):
        answer = s.call("GET", f"/api/series?minutes={wrong}", None, 400)
        same(answer.error.get("field"), "minutes", wrong)
    s.call("GET", "/api/series?hours=1", None, 400)
    for right in ("5", "1440"):
        s.call("GET", f"/api/series?minutes={right}", None, 200)


main()
