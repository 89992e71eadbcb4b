#!/usr/bin/env python3
# tools/count.py: how many tests passed and failed, from the log that `meson test` leaves.
#
# A TAP program counts once for each of its tests; any other program counts as one. One that died,
# ran out of time or gave fewer answers than it promised counts as a failure more.
#
# SPDX-License-Identifier: MIT
"""count.py TESTLOG.json: prints "PASSED FAILED"; names what failed on standard error."""
import json
import re
import sys

GOOD = ("OK", "EXPECTEDFAIL", "SKIP")


def count_tap(lines):
    """(passed, failed) of a TAP stream; None when it is none."""
    plan = [int(found.group(1)) for line in lines if (found := re.match(r"1\.\.(\d+)", line))]
    if not plan:
        return None
    failed = sum(line.startswith("not ok") for line in lines)
    passed = sum(bool(re.match(r"ok\b", line)) and "# skip" not in line.lower() for line in lines)
    answers = sum(bool(re.match(r"(not )?ok\b", line)) for line in lines)
    return passed, failed + max(0, plan[0] - answers)


def count(entry):
    good = entry.get("result") in GOOD
    tap = count_tap((entry.get("stdout") or "").splitlines())
    if tap is None:
        return (int(entry.get("result") != "SKIP"), 0) if good else (0, 1)
    passed, failed = tap
    return passed, failed if good or failed else 1


def main(path):
    passed = failed = 0
    with open(path, encoding="utf-8") as handle:
        for line in handle:
            entry = json.loads(line)
            here = count(entry)
            passed, failed = passed + here[0], failed + here[1]
            if here[1]:
                print(f"  {entry['name']}: {entry['result']}", file=sys.stderr)
    print(passed, failed)


main(sys.argv[1])
