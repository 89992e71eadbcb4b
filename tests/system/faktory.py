# tests/system/faktory.py: a client of Faktory's work protocol on a bare socket: what is sent and answered is seen byte by byte.
#
# SPDX-License-Identifier: MIT
"""A Faktory client for system tests."""
import hashlib
import itertools
import json
import re

from errand import Wire, check, same, wait_for

ARGS = ("--faktory", "127.0.0.1:0", "--workers", "0")
NUMBERS = itertools.count(1)


class Refused(Exception):
    """An error answer: its code and its text."""

    def __init__(self, line):
        super().__init__(line)
        self.code, _, self.text = line.partition(" ")


def port_of(s):
    found = wait_for(lambda: re.search(r"Faktory is spoken on \S+:(\d+)", s.stderr()), "the listener")
    return int(found.group(1))


def pwdhash(password, greeting, rounds=None):
    data = (password + greeting["s"]).encode()
    for _ in range(rounds or greeting["i"]):
        data = hashlib.sha256(data).digest()
    return data.hex()


class Faktory(Wire):
    """One connection. `hello`: what HELLO says besides v; None: it says nothing yet."""

    def __init__(self, s, wid=None, password=None, hello=(), context=None):
        super().__init__(s if isinstance(s, int) else port_of(s), context=context)
        line = self.line()
        check(line.startswith("+HI {") and " " not in line[4:], f"no greeting: {line!r}")
        self.greeting = json.loads(line[4:])
        if hello is None:
            return
        said = {"v": 2, **dict(hello)}
        if wid is not None:
            said.update(wid=wid, hostname="h", pid=1, labels=["test"])
        if password is not None:
            said["pwdhash"] = pwdhash(password, self.greeting)
        same(self.call("HELLO " + json.dumps(said)), "OK")

    def reply(self):
        """A text, the bytes of a bulk, or None; errors are raised."""
        line = self.line()
        if line.startswith("-"):
            raise Refused(line[1:])
        if line.startswith("+"):
            return line[1:]
        check(re.match(r"^\$(-1|\d+)$", line), f"neither text, bulk nor error: {line!r}")
        if line == "$-1":
            return None
        bulk = self.take(int(line[1:]) + 2)
        check(bulk.endswith(b"\r\n"), "a bulk without its end")
        return bulk[:-2]

    def call(self, line):
        self.send(line + "\r\n")
        return self.reply()

    def refused(self, line, text, code="ERR"):
        try:
            answer = self.call(line)
        except Refused as refusal:
            same((refusal.code, refusal.text if isinstance(text, str) else bool(re.search(text, refusal.text))),
                 (code, text if isinstance(text, str) else True), f"{line}: {refusal}")
            return
        raise AssertionError(f"{line} was answered {answer!r}")

    def push(self, jobtype="work", *args, answer="OK", **fields):
        job = {"jid": f"job-{next(NUMBERS):08d}", "jobtype": jobtype, "args": list(args), **fields}
        same(self.call("PUSH " + json.dumps(job)), answer)
        return job["jid"]

    def pushb(self, *jobs):
        return json.loads(self.call("PUSHB " + json.dumps(jobs)))

    def fetch(self, *queues):
        bulk = self.call("FETCH " + " ".join(queues or ("default",)))
        if bulk is None:
            return None
        check(bulk.startswith(b"{") and b"\n" not in bulk, "a job is one line")
        return json.loads(bulk)

    def ack(self, jid):
        return self.call("ACK " + json.dumps({"jid": jid}))

    def fail(self, jid, **fields):
        return self.call("FAIL " + json.dumps({"jid": jid, **fields}))

    def beat(self, wid, **fields):
        answer = self.call("BEAT " + json.dumps({"wid": wid, "rss_kb": 1000, **fields}))
        return answer if isinstance(answer, str) else json.loads(answer)

    def mutate(self, cmd, target, **filters):
        return self.call("MUTATE " + json.dumps({"cmd": cmd, "target": target, "filter": filters or None}))

    def info(self):
        bulk = self.call("INFO")
        check(bulk.startswith(b"{") and b"\n" not in bulk, "INFO is one line")
        return json.loads(bulk)["faktory"]

    def track(self, jid):
        return json.loads(self.call(f"TRACK GET {jid}"))


def task_of(s, jid):
    """The newest task of a jid, as the API shows it, with its attempts."""
    found = s.get("/api/tasks", externalId=jid)
    check(found, f"no task has the externalId {jid}")
    return s.show(found[0])
