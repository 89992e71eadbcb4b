# tests/tools/test_count.py: what did not run is never counted as passed (tools/count.py).
#
# SPDX-License-Identifier: MIT
"""test_count.py: speaks TAP."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools"))

from count import count  # noqa: E402

CASES = {  # claim: (result, standard output, (passed, failed, skipped))
    "every test of a program counts": ("OK", "1..2\nok 1 - a\nok 2 - b\n", (2, 0, 0)),
    "a program without TAP is one test": ("OK", "hello\n", (1, 0, 0)),
    "a program without TAP that failed is one failure": ("FAIL", "", (0, 1, 0)),
    "a test that failed is counted": ("FAIL", "1..2\nok 1 - a\nnot ok 2 - b\n", (1, 1, 0)),
    "a skipped test did not pass": ("OK", "1..2\nok 1 - a\nok 2 - b # SKIP no tool\n", (1, 0, 1)),
    "a skipped test that is not ok is skipped": ("OK", "1..1\nnot ok 1 - a # skip no tool\n", (0, 0, 1)),
    "a skipped program is a skip": ("SKIP", "1..0 # SKIP no tool\n", (0, 0, 1)),
    "exit status 77 is a skip": ("SKIP", "", (0, 0, 1)),
    "a program that promised nothing failed": ("OK", "1..0\n", (0, 1, 0)),
    "answers that are missing are failures": ("TIMEOUT", "1..3\nok 1 - a\n", (1, 2, 0)),
    "a program that died after its last answer failed": ("ERROR", "1..1\nok 1 - a\n", (1, 1, 0)),
    "a program that gave up at once failed": ("ERROR", "Bail out! spin is not installed\n", (0, 1, 0)),
}


def main():
    failed = 0
    print(f"1..{len(CASES)}")
    for number, (claim, (result, stdout, wanted)) in enumerate(CASES.items(), 1):
        got = count({"name": "t", "result": result, "stdout": stdout})
        failed += got != wanted
        print(f"# {got}, not {wanted}\nnot ok" if got != wanted else "ok", f"{number} - {claim}")
    return 1 if failed else 0


sys.exit(main())
