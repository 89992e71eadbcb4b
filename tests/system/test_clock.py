# tests/system/test_clock.py: `--test-clock`: a year of delays and retries in a second.
#
# SPDX-License-Identifier: MIT
import time

from errand import START, check, has, later, main, parse_time, same, test

DAY = 86400000


@test(clock=START)
def the_clock_stands_still_until_told(s):
    same(s.create()["createdAt"], START)
    same(s.create()["createdAt"], START)
    same(s.advance(0), START)
    same(s.advance(1), later(START, 1))
    same(s.set_clock("2027-03-01T10:00:00Z"), "2027-03-01T10:00:00.000Z")
    same(s.set_clock("2027-03-01T12:00:00+01:00"), "2027-03-01T11:00:00.000Z")
    same(s.create()["createdAt"], "2027-03-01T11:00:00.000Z")


@test(clock=START)
def it_never_goes_back(s):
    s.advance(5000)
    for wrong in ({"set": START}, {"advanceMs": -1}, {}, {"advanceMs": 1, "set": START},
                  {"set": "soon"}, {"advanceMs": "1"}, {"nope": 1}, {"advanceMs": 1.5}):
        s.post("/api/test/clock", wrong, 400)
    same(s.advance(0), later(START, 5000))
    same(s.set_clock(later(START, 5000)), later(START, 5000))


@test()
def without_the_flag_there_is_no_clock_to_wind(s):
    s.post("/api/test/clock", {"advanceMs": 1}, 404)


@test(clock=True)
def without_a_time_it_starts_at_the_wall_clock(s):
    created = parse_time(s.create()["createdAt"])
    check(abs(created - time.time() * 1000) < 60000, "not now")


@test(clock=START)
def each_event_sees_its_own_due_time(s):
    tasks = [s.create(delayMs=delay) for delay in (3000, 1000, 2000)]
    expiring = s.create("x", queue="none", expiresAt=later(START, 1500))
    s.advance(100000)
    for task, due in zip(tasks, (3000, 1000, 2000)):
        has(s.show(task), state="QUEUED", queuedAt=later(START, due), updatedAt=later(START, due))
    has(s.show(expiring), cancelledAt=later(START, 1500))
    same([t["id"] for t in s.claim(max=9)], [tasks[n]["id"] for n in (1, 2, 0)])


@test(clock=START)
def a_chain_of_events_unrolls_in_one_step(s):
    s.create(timeoutMs=60000, maxRetries=3)
    task = s.claim_one(leaseMs=10000)
    s.advance(DAY)
    has(s.show(task), state="QUEUED", queuedAt=later(START, 15000))
    same(s.show(task)["attempts"][0]["finishedAt"], later(START, 10000))


@test(clock="2027-01-01T00:00:00Z")
def a_year_passes_in_a_second(s):
    start = "2027-01-01T00:00:00.000Z"
    tasks = [s.create(delayMs=day * DAY) for day in range(1, 366)]
    began = time.monotonic()
    same(s.advance(365 * DAY), later(start, 365 * DAY))
    check(time.monotonic() - began < 30, "a year took too long")
    last = s.show(tasks[-1])
    has(last, state="QUEUED", queuedAt=later(start, 365 * DAY))
    same(len(s.claim(max=1000)), 365)


@test(clock=START)
def a_restart_starts_at_the_time_it_is_given(s):
    task = s.create(delayMs=10000)
    s.create("other", queue="q")
    held = s.claim_one(queues=["q"], leaseMs=20000)
    s.advance(5000)
    s.restart()
    same(s.advance(0), START)
    has(s.show(task), state="SCHEDULED", scheduledAt=later(START, 10000))
    s.advance(10000)
    has(s.show(task), state="QUEUED")
    has(s.show(held), state="RUNNING")


@test(clock=START)
def after_a_restart_the_remaining_times_come_from_the_stored_ones(s):
    s.create("lease", queue="q", maxRetries=0)
    held = s.claim_one(queues=["q"], leaseMs=20000)
    s.create("retry")
    failed = s.fail(s.claim_one())
    s.command = [a if not a.startswith("--test-clock") else f"--test-clock={later(START, 19999)}"
                 for a in s.command]
    s.restart()
    has(s.show(held), state="RUNNING")
    has(s.show(failed, waitMs=1), state="QUEUED")
    s.advance(1)
    has(s.show(held), state="FAILED")


main()
