#!/usr/bin/env python3
# tools/count.py: how many tests passed, failed and were skipped, from the log that `meson test` leaves.
#
# A TAP program counts once for each of its tests; any other program counts as one. One that died,
# ran out of time or gave fewer answers than it promised counts as a failure more. What did not run
# did not pass: skips are counted apart and named, and script/test fails for them.
#
# SPDX-License-Identifier: MIT
"""count.py TESTLOG.json: prints "PASSED FAILED SKIPPED"; names what failed or was skipped on standard error."""
import json
import re
import sys


def count_tap(lines):
    """(passed, failed, skipped) of a TAP stream; None when it is none."""
    plans = [found for line in lines if (found := re.match(r"1\.\.(\d+)(.*)", line))]
    if not plans:
        return None
    promised, remark = int(plans[0].group(1)), plans[0].group(2)
    if promised == 0:  # "1..0 # SKIP because …": the whole program
        return (0, 0, 1) if "skip" in remark.lower() else (0, 1, 0)
    answers = [line for line in lines if re.match(r"(not )?ok\b", line)]
    skipped = sum("# skip" in line.lower() for line in answers)
    failed = sum(line.startswith("not ok") and "# skip" not in line.lower() for line in answers)
    return len(answers) - skipped - failed, failed + max(0, promised - len(answers)), skipped


def count(entry):
    result = entry.get("result")
    good = result in ("OK", "EXPECTEDFAIL", "SKIP")
    counts = count_tap((entry.get("stdout") or "").splitlines())
    if counts is None:
        return (0, 0, 1) if result == "SKIP" else (int(good), int(not good), 0)
    passed, failed, skipped = counts
    return passed, failed if good or failed else 1, skipped


def main(path):
    total = (0, 0, 0)
    with open(path, encoding="utf-8") as handle:
        for line in handle:
            entry = json.loads(line)
            here = count(entry)
            total = tuple(a + b for a, b in zip(total, here))
            if here[1] or here[2]:
                print(f"  {entry['name']}: {entry['result']}, {here[1]} failed, {here[2]} skipped", file=sys.stderr)
    print(*total)


if __name__ == "__main__":
    main(sys.argv[1])
