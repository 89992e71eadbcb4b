# tests/system/test_crash.py: kill -9 at random moments while clients work; the history must hold.
#
# Every client writes down what it was answered. After all is over the notes of all of them are held
# against what the server kept: whatever was acknowledged is there (G1), nobody finished under two
# leases (G2), no document was held twice at once (G3), and the line is in order (G4).
#
# SPDX-License-Identifier: MIT
import itertools
import os
import random
import threading
import time

from errand import check, main, same, test, wait_for

ROUNDS = 22  # and as many more as a busy machine needs for ENOUGH
ENOUGH = 20  # tasks completed
RUNNING_CREATES = 40  # at most, between a start and its kill
DOCUMENTS = 6
RANK = {"CRITICAL": 4, "HIGH": 3, "NORMAL": 2, "LOW": 1}


class History:
    """What clients know for certain, and what they only tried."""

    def __init__(self):
        self.guard = threading.Lock()
        self.created = {}  # id → the task as it was answered
        self.keys = {}  # idempotency key → id
        self.completed = {}  # id → (lease, result)
        self.failed_for_good = set()
        self.cancelled = set()
        self.maybe = {}  # id → outcomes tried whose answer never came
        self.claims = []  # (document, lease, begin, end); end None while unknown
        self.leases = {}  # id → every lease handed out

    def note(self, function):
        with self.guard:
            return function()


class Client(threading.Thread):
    """Creates, claims and ends tasks until told to stop; a broken connection is no trouble."""

    def __init__(self, server, history, seed, stopping):
        super().__init__()
        self.server, self.history, self.stopping = server, history, stopping
        self.random = random.Random(seed)
        self.name, self.trouble, self.count = f"c{seed}", None, 0

    def run(self):
        while not self.stopping.is_set():
            try:
                self.random.choice((self.create, self.work, self.work, self.cancel))()
            except (OSError, ValueError):
                self.stopping.wait(0.01)  # the server is down; its next one listens elsewhere
            except AssertionError as trouble:
                self.trouble = trouble
                return

    def ask(self, method, path, body=None):
        """(status, answer); 503 counts as no answer."""
        answer = self.server.raw(method, path, body)
        if answer.status == 503:
            raise OSError("unavailable")
        return answer.status, answer.json

    def create(self):
        self.count += 1
        key = f"{self.name}-{self.count}"
        body = {"taskType": "t", "idempotencyKey": key, "payload": key, "maxRetries": 1,
                "priority": self.random.choice(list(RANK)),
                "backoff": {"baseMs": 1, "factor": 1, "maxMs": 1, "jitter": 0}}
        if self.random.random() < 0.5:
            body["documentId"] = f"d{self.random.randrange(DOCUMENTS)}"
        status, task = self.ask("POST", "/api/tasks", body)
        check(status in (200, 201), f"create: {status} {task}")
        check(task["payload"] == key)

        def note():
            self.history.created[task["id"]] = task
            self.history.keys[key] = task["id"]
        self.history.note(note)

    def work(self):
        before = time.monotonic()
        status, answer = self.ask("POST", "/api/claim", {
            "workerId": self.name, "max": self.random.randrange(1, 4), "leaseMs": 1000})
        check(status == 200, f"claim: {status} {answer}")
        for task in answer["tasks"]:
            self.end(task, before)

    def end(self, task, before):
        verb = self.random.choice(("complete", "complete", "fail", "release", "leave"))
        ident, lease, after = task["id"], task["lease"], time.monotonic()
        history = self.history
        history.note(lambda: history.leases.setdefault(ident, []).append(lease))
        if verb == "leave":
            return
        history.note(lambda: history.maybe.setdefault(ident, set()).add(verb))
        body = {"lease": lease}
        if verb == "complete":
            body["result"] = lease
        sent = time.monotonic()
        status, answer = self.ask("POST", f"/api/tasks/{ident}/{verb}", body)
        check(status in (200, 409), f"{verb}: {status} {answer}")
        if status != 200:
            return

        def note():
            if verb == "complete":
                check(ident not in history.completed, f"{ident} completed under two leases")
                history.completed[ident] = lease
            if verb == "fail" and answer["state"] == "FAILED":
                history.failed_for_good.add(ident)
            if "documentId" in task:
                history.claims.append((task["documentId"], lease, after, sent, before))
        history.note(note)

    def cancel(self):
        if self.random.random() > 0.2:
            return
        known = self.history.note(lambda: list(self.history.created))
        if not known:
            return
        ident = self.random.choice(known[-20:])
        self.history.note(lambda: self.history.maybe.setdefault(ident, set()).add("cancel"))
        status, task = self.ask("POST", f"/api/tasks/{ident}/cancel", {})
        check(status in (200, 202, 409), f"cancel: {status} {task}")
        if status == 200:
            self.history.note(lambda: self.history.cancelled.add(ident))


def check_history(s, history):
    for ident, task in history.created.items():
        shown = s.show(ident)  # 404 fails: an acknowledged create is lost
        same(shown["payload"], task["payload"])
        tried = history.maybe.get(ident, set())
        if ident in history.completed:
            same((shown["state"], shown.get("result")), ("COMPLETED", history.completed[ident]))
        elif shown["state"] == "COMPLETED":
            check("complete" in tried, f"{ident} was completed by nobody")
            check(shown["result"] in history.leases[ident], "a result from nowhere")
        if ident in history.failed_for_good:
            same(shown["state"], "FAILED")
        if ident in history.cancelled:
            same(shown["state"], "CANCELLED")
        numbers = [attempt["number"] for attempt in shown["attempts"]]
        same(numbers, sorted(set(numbers)), "attempts")
        ended = [a for a in shown["attempts"] if a.get("outcome") == "COMPLETED"]
        check(len(ended) <= 1, f"{ident} was completed {len(ended)} times")
    check_documents(history)


def check_documents(history):
    """Both ends of a hold are answered calls, so its inner interval is certain."""
    spans = {}
    for document, lease, begin, end, _ in history.claims:
        spans.setdefault(document, []).append((begin, end, lease))
    for document, holds in spans.items():
        holds.sort()
        for (_, end, one), (begin, _, other) in zip(holds, holds[1:]):
            check(begin >= end, f"{document} was held by {one} and {other} at once")


def check_order(s):
    """What is left is handed out by priority, queuedAt, creation."""
    queued = [t for t in s.list(limit=500, state="QUEUED") if "documentId" not in t]
    claimed = s.claim("last", max=1000, leaseMs=86400000)
    places = [(-RANK[t["priority"]], t["queuedAt"], t["id"]) for t in claimed
              if "documentId" not in t]
    same(places, sorted(places), "the order of the line")
    check({t["id"] for t in queued} <= {t["id"] for t in claimed}, "a queued task was not offered")


@test()
def nothing_acknowledged_is_lost_by_kill_9(s):
    seed = int(os.environ.get("CRASH_SEED", 1))
    print(f"# CRASH_SEED={seed}")
    chance, history, stopping = random.Random(seed), History(), threading.Event()
    clients = [Client(s, history, seed + n, stopping) for n in range(5)]
    for client in clients:
        client.start()
    try:
        for round_number in itertools.count():
            if round_number >= ROUNDS and len(history.completed) > ENOUGH or any(c.trouble for c in clients):
                break
            enough = len(history.created) + chance.randrange(1, RUNNING_CREATES)
            wait_for(lambda: len(history.created) >= enough or any(c.trouble for c in clients), "more creates")
            s.kill()
            if round_number % 4 == 3:
                s.doctor()
            s.restart()
    finally:
        stopping.set()
        for client in clients:
            client.join()
    for client in clients:
        if client.trouble:
            raise client.trouble
    print(f"# {len(history.created)} created, {len(history.completed)} completed, "
          f"{len(history.cancelled)} cancelled over {round_number} crashes")
    s.doctor()
    s.kill()
    s.doctor()
    s.restart()
    check_history(s, history)
    check_order(s)
    for key, ident in list(history.keys.items())[-50:]:
        same(s.create(expect=200, idempotencyKey=key)["id"], ident)
    s.doctor()


main()
