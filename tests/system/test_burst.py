# tests/system/test_burst.py: thousands of schedules that fall due in the same second, with a kill -9 in the middle.
#
# Nothing here is timed: wherever the kill meets the server, each occurrence has run exactly once in the end.
#
# SPDX-License-Identifier: MIT
import threading

from errand import START, check, later, main, same, test, wait_for

MANY = 2000
AT_ONCE = 50  # requests under way on one connection
HOUR = 3600000
DUE = later(START, HOUR)


def create_many(s):
    """The ids of MANY schedules that are all due at DUE, once."""
    order = s.request("POST", "/api/schedules", {"title": "t", "taskType": "nobody", "queue": "burst", "dtstart": DUE})
    wire, ids = s.wire(), []
    for _ in range(MANY // AT_ONCE):
        wire.send(order * AT_ONCE)
        for _ in range(AT_ONCE):
            answer = wire.answer("POST")
            same(answer.status, 201)
            ids.append(answer.json["id"])
    wire.close()
    return ids


def pages(s, path):
    """All of a list."""
    found = []
    while path:
        answer = s.call("GET", path, None, 200)
        found += answer.json
        link = answer.headers.get("link", "")
        path = "/api" + link.split("/api", 1)[1].split(">")[0] if 'rel="next"' in link else None
    return found


def wind_until_killed(s):
    try:
        s.raw("POST", "/api/test/clock", {"set": DUE})
    except OSError:
        pass  # it was killed meanwhile


def reborn(s, clock):
    s.restart(command=[f"--test-clock={clock}" if word.startswith("--test-clock") else word
                       for word in s.command])


def check_each_once(s, ids):
    tasks = pages(s, "/api/tasks?queue=burst&limit=500")
    same(len(tasks), MANY)
    same({task["scheduleId"] for task in tasks}, set(ids))
    for one in ids[::MANY // 20]:
        runs = s.get(f"/api/schedules/{one}/executions")
        same([(run["status"], run["scheduledFor"]) for run in runs], [("RUNNING", DUE)])
        check(runs[0]["taskId"] in {task["id"] for task in tasks}, runs)


@test(clock=START)
def many_that_are_due_at_once_each_run_once(s):
    ids = create_many(s)
    s.set_clock(DUE)
    check_each_once(s, ids)
    s.advance(HOUR)
    check_each_once(s, ids)


@test(clock=START)
def a_kill_in_the_middle_loses_and_doubles_none_of_them(s):
    ids = create_many(s)
    winding = threading.Thread(target=wind_until_killed, args=(s,))
    winding.start()
    wait_for(lambda: s.list(queue="burst", limit=1), "the first tasks")
    s.kill()
    winding.join()
    reborn(s, later(DUE, 1000))
    s.advance(1000)
    check_each_once(s, ids)


main()
