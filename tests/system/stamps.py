# tests/system/stamps.py: a command that can be watched, with all that it starts.
#
# A command writes a line to a file again and again, and so do all that it starts: a child, one in a
# session of its own, one that was forked twice and has forgotten its environment. Each line bears
# the attempt's number. What counts is the order of lines in the file: none of attempt 1 may follow
# one of attempt 2.
#
# SPDX-License-Identifier: MIT
"""Commands that leave stamps."""
import os

from errand import same, wait_for

KINDS = ("leader", "child", "session", "stranger")
SCRIPT = r"""#!/bin/sh
log=$1
stamp() { while :; do echo "$ERRAND_ATTEMPT $1 $2" >> "$log"; sleep 0.02; done; }
if [ $# = 3 ]; then ERRAND_ATTEMPT=$3; stamp "$2" $$; fi
"$0" "$log" child $ERRAND_ATTEMPT &
setsid "$0" "$log" session $ERRAND_ATTEMPT &
(setsid env -i PATH="$PATH" "$0" "$log" stranger $ERRAND_ATTEMPT < /dev/null > /dev/null 2>&1 3>&- &)
stamp leader $$
"""


class Stamps:
    """A handler for the type "stamp", and the file that its commands write to."""

    def __init__(self, nest):
        self.log = nest.file("stamps", b"")
        script = nest.file("stamp.sh", SCRIPT)
        os.chmod(script, 0o755)
        self.script = script
        self.config = nest.file("stamp.conf", f"[handler.stamp]\nexec = {script} {self.log}\n"
                                              f"[workers]\ngrace = 200ms\n")
        self.args = ("--config", self.config)

    def lines(self):
        with open(self.log, encoding="utf-8") as handle:
            return [tuple(line.split()) for line in handle.read().split("\n")[:-1]]

    def all_run(self, attempt):
        """Every kind of process has written for this attempt; returns their pids."""
        def found():
            pids = {(n, kind): int(pid) for n, kind, pid in self.lines()}
            wanted = [(str(attempt), kind) for kind in KINDS]
            return all(w in pids for w in wanted) and [pids[w] for w in wanted]
        return wait_for(found, f"all processes of attempt {attempt}")

    def check_order(self):
        numbers = [int(line[0]) for line in self.lines()]
        same(numbers, sorted(numbers), "the attempts in the order of their lines")


def is_alive(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as handle:
            return handle.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def parent_of(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8") as handle:
        return int(handle.read().rsplit(")", 1)[1].split()[1])


def all_gone(pids):
    wait_for(lambda: not any(map(is_alive, pids)), "the end of all that the command started")


def order(**more):
    return {"documentId": "d", "maxRetries": 5, "timeoutMs": 0,
            "backoff": {"baseMs": 1, "factor": 1, "maxMs": 1, "jitter": 0}, **more}
