# tests/system/patience.py: the one place where a test pauses.
#
#     wait_for(lambda: s.state(task) == "COMPLETED", "its end")
#
# A test never sleeps and hopes: it says what it waits for and how long that may take at the very most. tools/tidy.py holds
# every other file of tests/ to that.
#
# SPDX-License-Identifier: MIT
"""Waiting for what can be seen."""
import time

DEADLINE = 30  # seconds a condition may take before it counts as never coming


def wait_for(condition, what="the condition", deadline=DEADLINE, every=0.01):
    """Asks until condition() is true; returns its value. `every`: for questions that cost the asked something."""
    end = time.monotonic() + deadline
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() >= end:
            raise AssertionError(f"{what} did not come within {deadline} s")
        time.sleep(every)


def wait_until(moment, every=0.01):
    """Until time.monotonic() says so: for a timetable of faults. It is no way to wait for something to have happened."""
    wait_for(lambda: time.monotonic() >= moment, "its time", deadline=float("inf"), every=every)
