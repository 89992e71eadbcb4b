# tests/system/history.py: clients that write down everything, and the judge who reads it.
#
# Producers and remote workers talk to all nodes at once, give up on a slow one and try again elsewhere. Each call goes
# into the history with the times when it was sent and when its answer came; an answer that never came is an unknown outcome.
# From that and what the store holds at the end, judge() proves or refutes:
#
#   G1  what was acknowledged is there: each create exists and has ended, each complete stays with its result
#   G2  an attempt is given out once; one lease at most completes a task; a lease is refused once a newer one was handed out
#   G3  no two workers that obey their leases worked on one document at once
#   G4  in quiet phases no claim passed over a better task that was committed more than a second before
#
# The judge only believes what is certain. A worker holds its task from the moment the claim's answer has come until it sends
# its finish, and never beyond the lease counted from when the claim was sent, so an overlap of two such intervals is no
# matter of clocks.
#
# SPDX-License-Identifier: MIT
"""Recording clients and the checker of their history."""
import collections
import random
import threading
import time

from errand import Wire, same, wait_for

RANK = {"CRITICAL": 4, "HIGH": 3, "NORMAL": 2, "LOW": 1}
SETTLED_S = 1.0  # G4 holds among tasks committed this long before the claim
CALM_PATIENCE_S = 20.0  # for one answer, when nothing is broken any more
CALM_LEASE_MS = 20000
TERMINAL = ("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT")
FINISHES = ("complete", "fail", "release")
OPEN = "SCHEDULED,WAITING,QUEUED,RUNNING,RETRYING"


class Call:
    """One call of one client, as it saw it. status None: no answer came, or none that says what happened."""

    def __init__(self, kind, start, end, status=None, **more):
        self.kind, self.start, self.end, self.status = kind, start, end, status
        self.node, self.id, self.lease, self.attempt = None, None, None, None
        self.tasks, self.lease_s, self.result = [], 0.0, None
        self.__dict__.update(more)

    @property
    def done(self):
        return self.status is not None and 200 <= self.status < 300

    def __repr__(self):
        return f"{self.kind} on node {self.node} at {self.start:.3f}–{self.end:.3f}: {self.status}"


class History:
    """All calls of all clients."""

    def __init__(self):
        self.guard, self.calls, self.quiet = threading.Lock(), [], []
        self.began = time.monotonic()

    def now(self):
        return time.monotonic() - self.began

    def add(self, *calls):
        with self.guard:
            self.calls += calls

    def count(self, kind):
        """How many such calls were acknowledged."""
        with self.guard:
            return sum(1 for call in self.calls if call.kind == kind and call.done)

    def acknowledged(self):
        """The ids of all tasks whose create was acknowledged."""
        with self.guard:
            return {task["id"] for call in self.calls if call.kind == "create" and call.done for task in call.tasks}


# ---- Clients ----


class Client(threading.Thread):
    """Speaks to any node; what goes wrong with the network is only written down."""

    def __init__(self, fleet, history, name, seed, patience=3.0):
        super().__init__(name=name, daemon=True)
        self.fleet, self.history, self.patience = fleet, history, patience
        self.random = random.Random(f"{seed}/{name}")
        self.stopping, self.trouble, self.wires = threading.Event(), None, {}

    def run(self):
        try:
            while not self.stopping.is_set() and self.step():
                pass
        except Exception as trouble:
            self.trouble = trouble
        for wire in self.wires.values():
            wire.close()

    def end(self):
        self.stopping.set()
        self.join()
        if self.trouble:
            raise self.trouble

    def exchange(self, at, method, path, body, patience):
        """(status, answer) of node `at`, or (None, None). A 503 or 429 says nothing of what happened."""
        server = self.fleet.nodes[at]
        try:
            key = (at, server.process.pid)
            if key not in self.wires:
                self.wires[key] = Wire(server.port, timeout=patience)
            wire = self.wires[key]
            wire.socket.settimeout(patience)
            wire.send(server.request(method, path, body))
            answer = wire.answer(method)
        except (OSError, TypeError):  # TypeError: it has no port while it is being started again
            wire = self.wires.pop((at, server.process.pid), None)
            if wire:
                wire.close()
            return None, None
        if answer.headers.get("connection", "").lower() == "close":
            self.wires.pop(key).close()
        return (None, answer.json) if answer.status in (429, 503) else (answer.status, answer.json)

    def take_time(self):
        """From the next call on it is in no hurry: what is slow now is the machine, and no fault of the fleet."""
        self.patience = CALM_PATIENCE_S

    def any_node(self):
        return self.random.randrange(len(self.fleet.nodes))

    def rest(self, seconds):
        self.stopping.wait(seconds)


class Producer(Client):
    """Creates `count` tasks and repeats each create, by its keys, until it is acknowledged."""

    def __init__(self, *args, count, lot=25, pause=0.0, make=None, **more):
        super().__init__(*args, **more)
        self.left, self.lot, self.pause, self.made, self.pending = count, lot, pause, 0, None
        self.make = make or (lambda random: {})

    def order(self):
        self.made += 1
        key = f"{self.name}-{self.made}"
        return {"taskType": "t", "idempotencyKey": key, "payload": key, "maxRetries": 100,
                "backoff": {"baseMs": 1, "factor": 1, "maxMs": 1, "jitter": 0}, **self.make(self.random)}

    def step(self):
        if self.pending is None:
            size = min(self.left, self.random.randint(1, self.lot))
            self.pending = [self.order() for _ in range(size)]
        at, start = self.any_node(), self.history.now()
        status, tasks = self.exchange(at, "POST", "/api/tasks", self.pending, self.patience)
        call = Call("create", start, self.history.now(), status, node=at, orders=self.pending)
        if call.done:
            call.tasks = tasks
            self.left -= len(tasks)
            self.pending = None
        elif status is None:
            self.rest(0.05)
        else:
            raise AssertionError(f"create was refused: {status} {tasks}")
        self.history.add(call)
        self.rest(self.random.uniform(0, 2 * self.pause))
        return self.left > 0


class Worker(Client):
    """Claims and ends tasks. Now and then it forgets one, fails, gives back, or comes late."""

    def __init__(self, *args, take=20, wait_ms=300, lease_ms=1500, queues=(), faults=0.1, late=0.02, **more):
        super().__init__(*args, **more)
        self.take, self.wait_ms, self.lease_ms, self.queues = take, wait_ms, lease_ms, list(queues)
        self.faults, self.late, self.kept = faults, late, []

    def take_time(self):
        super().take_time()
        self.lease_ms = CALM_LEASE_MS

    def step(self):
        at, start, lease_ms = self.any_node(), self.history.now(), self.lease_ms
        body = {"workerId": self.name, "max": self.random.randint(1, self.take), "waitMs": self.wait_ms,
                "leaseMs": lease_ms, "queues": self.queues}
        status, answer = self.exchange(at, "POST", "/api/claim", body, self.patience + self.wait_ms / 1000)
        call = Call("claim", start, self.history.now(), status, node=at, lease_s=lease_ms / 1000,
                    queues=self.queues or ["default"])
        if call.done:
            call.tasks = answer["tasks"]
        elif status is not None:
            raise AssertionError(f"a claim was refused: {status} {answer}")
        self.history.add(call)
        self.work(call)
        self.finish_late()
        if not call.done:
            self.rest(0.05)
        return True

    def work(self, claim):
        now, endings = [], {}
        for task in claim.tasks:
            verb = self.choose()
            if verb == "late":
                self.kept.append((self.history.now() + claim.lease_s * 1.5, task))
            elif verb != "forget":
                endings[task["id"]] = verb
                now.append(task)
        if claim.tasks and self.random.random() < 0.1:
            self.heartbeat(claim.tasks[0], claim.lease_s)
        if now:
            self.finish(now, endings)

    def choose(self):
        if self.random.random() < self.late:
            return "late"
        if self.random.random() < self.faults:
            return self.random.choice(("fail", "release", "forget"))
        return "complete"

    def finish_late(self):
        """What it should have ended long ago: it must be told, unless nobody else has begun."""
        late = [task for when, task in self.kept if when <= self.history.now()]
        if late:
            self.kept = [pair for pair in self.kept if pair[1] not in late]
            self.finish(late, {task["id"]: "complete" for task in late})

    def heartbeat(self, task, lease_s):
        at, start = self.any_node(), self.history.now()
        status, _ = self.exchange(at, "POST", f"/api/tasks/{task['id']}/heartbeat", {"lease": task["lease"]},
                                  self.patience)
        self.history.add(Call("heartbeat", start, self.history.now(), status, node=at, id=task["id"],
                              lease=task["lease"], attempt=task["attempt"], lease_s=lease_s))

    def finish(self, tasks, endings):
        """Until an answer comes, at most five times: the same call with the same lease may be repeated."""
        body = [{"id": task["id"], "lease": task["lease"], "outcome": endings[task["id"]],
                 **({"result": task["lease"]} if endings[task["id"]] == "complete" else {})} for task in tasks]
        for _ in range(5):
            at, start = self.any_node(), self.history.now()
            status, answer = self.exchange(at, "POST", "/api/finish", body, self.patience)
            self.note_finish(tasks, endings, Call("finish", start, self.history.now(), status, node=at), answer)
            if status is not None:
                return
            self.rest(0.1)

    def note_finish(self, tasks, endings, whole, answer):
        if whole.status not in (None, 200):
            raise AssertionError(f"finish: {whole.status} {answer}")
        said = {one["id"]: one["status"] for one in answer} if whole.done else {}
        self.history.add(*(Call(endings[task["id"]], whole.start, whole.end, said.get(task["id"]), node=whole.node,
                                id=task["id"], lease=task["lease"], attempt=task["attempt"], result=task["lease"])
                           for task in tasks))


# ---- All together ----


class Load:
    """Producers and workers over all nodes while something breaks."""

    def __init__(self, fleet, count=600, seed=11, **worker):
        self.fleet, self.history = fleet, History()
        self.producers = [Producer(fleet, self.history, f"p{i}-{seed}", seed, count=count // 2, lot=10, make=self.order)
                          for i in range(2)]
        self.workers = [Worker(fleet, self.history, f"w{i}", seed, **worker) for i in range(3)]
        for client in (*self.producers, *self.workers):
            client.start()

    @staticmethod
    def order(random):
        document = random.choice((None, None, f"d{random.randrange(20)}"))
        return {"priority": random.choice(("HIGH", "NORMAL", "LOW")), **({"documentId": document} if document else {})}

    def under_way(self, kind, more=20):
        """Waits until `more` such calls were acknowledged from now on, or all is created."""
        had = self.history.count(kind)
        wait_for(lambda: self.history.count(kind) >= had + more or not any(p.is_alive() for p in self.producers),
                 f"{more} more of {kind}", 60)

    def without_answer(self, more=3, node=None):
        """Waits until `more` calls (to this node) were given up or put off from now on, or all is created."""
        def count():
            with self.history.guard:
                return sum(call.status is None and node in (None, call.node) for call in self.history.calls)
        had = count()
        wait_for(lambda: count() >= had + more or not any(p.is_alive() for p in self.producers),
                 f"{more} calls without an answer", 60)

    def judge(self):
        """To the end, and to court."""
        for producer in self.producers:
            producer.join()
        node = self.fleet.node(self.fleet.alive()[0])

        def ended():
            try:
                return not node.list(state=OPEN, limit=1)
            except OSError:  # a node closes connections that were idle for long, as it may; ours was, on a slow machine
                return False
        wait_for(ended, "the end of all tasks", 60, every=0.1)
        for client in (*self.producers, *self.workers):
            client.end()
        same(judge(self.history, self.fleet.all_tasks()), [], "what the judge found")
        self.fleet.doctor()


# ---- The judge ----


def judge(history, final):
    """Sentences about all that cannot be, given {id: task} of the end; an empty list if every promise was kept."""
    calls = sorted(history.calls, key=lambda call: call.start)
    return [*created(calls, final), *completed(calls, final), *leases(calls), *documents(calls),
            *priorities(calls, history.quiet)]


def created(calls, final):
    """G1: what was created exists and has ended."""
    of_key = {}
    for call in calls:
        if call.kind != "create" or not call.done:
            continue
        for order, task in zip(call.orders, call.tasks):
            key, ident = order["idempotencyKey"], task["id"]
            if of_key.setdefault(key, ident) != ident:
                yield f"G1: key {key} made two tasks, {of_key[key]} and {ident}"
            if ident not in final:
                yield f"G1: task {ident} was acknowledged ({call}) and is gone"
            elif final[ident]["state"] not in TERMINAL:
                yield f"G1: task {ident} never ended: it is {final[ident]['state']}"
            elif final[ident]["payload"] != order["payload"]:
                yield f"G1: task {ident} has another payload, {final[ident]['payload']}"
    ids = collections.Counter(of_key.values())
    yield from (f"G1: one task for {n} keys: {ident}" for ident, n in ids.items() if n > 1)


def completed(calls, final):
    """G1 and G2: a complete that was acknowledged stays, and nobody else completed that task."""
    winners, tried = {}, collections.defaultdict(set)
    for call in calls:
        if call.kind != "complete":
            continue
        tried[call.id].add(call.result)
        if not call.done:
            continue
        if winners.setdefault(call.id, call).lease != call.lease:
            yield f"G2: task {call.id} was completed under two leases: {winners[call.id]} and {call}"
        now = final.get(call.id, {})
        if (now.get("state"), now.get("result")) != ("COMPLETED", call.result):
            yield f"G1: task {call.id} was completed ({call}) with {call.result}, and is {now.get('state')} " \
                  f"with {now.get('result')}"
    ours = {task["id"] for call in calls if call.kind == "create" and call.done for task in call.tasks}
    for ident, task in final.items():
        if ident in ours and task["state"] == "COMPLETED" and task.get("result") not in tried[ident]:
            yield f"G2: task {ident} was completed by nobody we know, with {task.get('result')}"


def leases(calls):
    """G2: an attempt is given out once, in growing numbers, and only the newest may change anything."""
    claims = collections.defaultdict(list)  # id → (attempt, claim)
    for call in calls:
        for task in call.tasks if call.kind == "claim" else ():
            for attempt, other in claims[task["id"]]:
                if attempt == task["attempt"]:
                    yield f"G2: attempt {attempt} of task {task['id']} was given out twice: {other} and {call}"
                if attempt > task["attempt"] and other.end < call.start:
                    yield f"G2: task {task['id']} was given out as attempt {task['attempt']} after {attempt}: {call}"
            claims[task["id"]].append((task["attempt"], call))
    yield from stale(calls, claims)
    yield from two_ends(calls)


def stale(calls, claims):
    for call in calls:
        if call.kind not in (*FINISHES, "heartbeat") or not call.done:
            continue
        newer = [claim for attempt, claim in claims[call.id] if attempt > call.attempt]
        if any(claim.end < call.start for claim in newer):
            yield f"G2: a stale lease was accepted: attempt {call.attempt} of task {call.id}, {call}, after {newer[0]}"
        elif newer and call.kind == "complete":
            yield f"G2: task {call.id} was given out after it was completed: {call}, then {newer[0]}"


def two_ends(calls):
    ends = {}
    for call in calls:
        if call.kind in FINISHES and call.done and ends.setdefault((call.id, call.lease), call).kind != call.kind:
            yield f"G2: one lease of task {call.id} ended twice: {ends[call.id, call.lease]} and {call}"


def held(calls):
    """(document, from, until, text) for each attempt, as long as its worker certainly held it."""
    until, sent = {}, {}
    for call in calls:
        if call.kind == "heartbeat" and call.done:
            until.setdefault(call.lease, []).append((call.start, call.end, call.start + call.lease_s))
        if call.kind in FINISHES:
            sent[call.lease] = min(call.start, sent.get(call.lease, call.start))
    for call in calls:
        for task in call.tasks if call.kind == "claim" else ():
            if "documentId" not in task:
                continue
            end = call.start + call.lease_s
            for start, answered, renewed in until.get(task["lease"], ()):
                if answered <= end:  # one that came later leaves a gap in which the worker must not work
                    end = max(end, renewed)
            end = min(end, sent.get(task["lease"], end))
            if call.end < end:
                yield task["documentId"], call.end, end, f"attempt {task['attempt']} of {task['id']} ({call})"


def documents(calls):
    """G3: sorted by their beginnings, none begins before the one before it has ended."""
    last = {}
    for document, start, end, what in sorted(held(calls), key=lambda each: each[1]):
        if document in last and start < last[document][0]:
            yield f"G3: document {document} was held twice from {start:.3f} to {min(end, last[document][0]):.3f}: " \
                  f"{last[document][1]} and {what}"
        if document not in last or end > last[document][0]:
            last[document] = (end, what)


def place(task):
    return -RANK[task["priority"]], task["queuedAt"]


def priorities(calls, quiet):
    """G4: whoever was certainly in the line, settled, and ahead of what a quiet claim took, was passed over."""
    made, first = {}, {}
    for call in calls:
        for task in call.tasks if call.done else ():
            if call.kind == "create" and task["state"] == "QUEUED" and "documentId" not in task:
                made.setdefault(task["id"], (call, task))
            if call.kind == "claim" and task["attempt"] == 1:
                first[task["id"]] = call
    waiting = [(task, made_by, first[ident]) for ident, (made_by, task) in made.items() if ident in first]
    for call in calls:
        calm = any(begin <= call.start and call.end <= end for begin, end in quiet)
        if call.kind == "claim" and call.tasks and calm:
            yield from passed_over(call, waiting)


def passed_over(claim, waiting):
    worst = max(claim.tasks, key=place)
    for task, made_by, taken_by in waiting:
        if made_by.end + SETTLED_S < claim.start and taken_by.start > claim.end and \
                task["queue"] in claim.queues and place(task) < place(worst):
            yield f"G4: {task['id']} ({task['priority']}, {task['queuedAt']}) was passed over for {worst['id']} " \
                  f"({worst['priority']}, {worst['queuedAt']}) by {claim}"
            return
