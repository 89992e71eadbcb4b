# tests/system/test_fleet.py: several nodes are one system.
#
# SPDX-License-Identifier: MIT
"""What holds on every node of a fleet."""
import statistics
import threading
import time

from errand import check, has, main, same, test, together, wait_for
from fleet import WAIT_MS, Fleet, wait_slowly

SOON_S = 0.5  # well below the second after which a node would look for itself


def waiting_claim(node, worker, **fields):
    """A claim that sleeps on `node`; returns a function that gives its tasks."""
    values = []
    thread = threading.Thread(target=lambda: values.append(node.claim(worker, waitMs=WAIT_MS, **fields)))
    thread.start()
    wait_for(lambda: any(each["id"] == worker and each["state"] == "idle" for each in node.get("/api/workers")["workers"]),
             f"{worker} at work")

    def end():
        thread.join()
        check(values, f"the claim of {worker} failed")
        return values[0]
    return end


def doclock(fleet, document):
    return fleet.redis.ask("GET", f"errand:doclock:{{{document}}}")


# ---- One system ----


@test(server=False)
def any_node_answers_any_call(nest):
    a, b, c = Fleet(nest).wait_together().nodes
    task = a.create("letter", payload={"n": 1}, idempotencyKey="k", tags=["x"], documentId="d")
    same(b.show(task)["payload"], {"n": 1})
    same(c.ids(tag="x"), [task["id"]])
    same(b.create("other", idempotencyKey="k", expect=200)["id"], task["id"])
    same(c.patch(task, priority="HIGH")["priority"], "HIGH")
    claimed = b.claim_one("w")
    same((claimed["id"], claimed["priority"]), (task["id"], "HIGH"))
    same(a.get("/api/documents/d")["taskId"], task["id"])
    c.heartbeat(claimed, progress={"percent": 50})
    same(a.complete(claimed, result="done")["state"], "COMPLETED")
    has(b.show(task), state="COMPLETED", result="done")
    same(c.get("/api/documents/d")["locked"], False)
    b.delete(task)
    a.show(task, expect=404)


@test(server=False)
def a_bulk_command_reaches_what_other_nodes_created(nest):
    a, b = Fleet(nest, nodes=2).wait_together().nodes
    ids = [task["id"] for task in a.call("POST", "/api/tasks", [{"taskType": "t", "tags": ["x"]}] * 5, expect=201).json]
    same(b.call("POST", "/api/tasks/cancel", {"tag": "x"}, expect=200).json, {"count": 5})
    same(sorted(a.ids(state="CANCELLED")), sorted(ids))
    same(b.call("POST", "/api/tasks/retry", {"tag": "x"}, expect=200).json, {"count": 5})
    same(b.call("POST", "/api/queues/default/purge", expect=200).json, {"count": 5})


@test(server=False)
def a_stale_lease_is_refused_on_every_node(nest):
    fleet = Fleet(nest).wait_together()
    task = fleet.node(0).create(backoff={"baseMs": 1, "factor": 1, "maxMs": 1, "jitter": 0})
    old = fleet.node(1).claim_one("w1", leaseMs=1000)
    new = fleet.node(2).claim_one("w2", waitMs=WAIT_MS)
    same((new["id"], new["attempt"]), (task["id"], 2))
    for node in fleet.nodes:
        same(node.complete(old, expect=409)["error"]["code"], "lease_lost")
        node.heartbeat(old, expect=409)
    same(fleet.node(0).complete(new)["state"], "COMPLETED")
    same([each["outcome"] for each in fleet.node(1).show(task)["attempts"]], ["LOST", "COMPLETED"])


@test(server=False)
def a_task_created_on_one_node_wakes_a_worker_on_another(nest):
    fleet, delays = Fleet(nest).wait_together(), []
    for i in range(9):
        producer, node = fleet.node(i % 3), fleet.node((i + 1) % 3)
        answer = waiting_claim(node, f"w{i}")
        began = time.monotonic()
        task = producer.create()
        tasks = answer()
        delays.append(time.monotonic() - began)
        same([each["id"] for each in tasks], [task["id"]])
        fleet.node((i + 2) % 3).complete(tasks[0])
    check(statistics.median(delays) < SOON_S, f"wake-ups took {delays}")


@test(server=False)
def priorities_hold_over_nodes(nest):
    fleet = Fleet(nest).wait_together()
    made = [fleet.node(i % 3).create(priority=priority)
            for i, priority in enumerate(("LOW", "NORMAL", "HIGH", "CRITICAL", "LOW", "HIGH"))]
    order = [made[i]["id"] for i in (3, 2, 5, 1, 0, 4)]
    same([fleet.node(i % 3).claim_one("w")["id"] for i in range(6)], order)


@test(server=False)
def a_delayed_task_and_a_retry_come_due_on_time(nest):
    fleet = Fleet(nest).wait_together()
    begun = time.monotonic()
    task = fleet.node(0).create(delayMs=500, backoff={"baseMs": 300, "factor": 1, "maxMs": 300, "jitter": 0})
    first = fleet.node(1).claim_one("w", waitMs=WAIT_MS)
    check(time.monotonic() - begun >= 0.5, "it came early")
    same(fleet.node(2).fail(first, error={"code": "no", "message": "not yet"})["state"], "RETRYING")
    second = fleet.node(0).claim_one("w", waitMs=WAIT_MS)
    same((second["id"], second["attempt"]), (task["id"], 2))
    check(time.monotonic() - begun < 0.8 + 4 * SOON_S, "it came late")


# ---- Locks and limits ----


@test(server=False)
def a_document_lock_shows_in_redis_while_the_attempt_lives(nest):
    fleet = Fleet(nest).wait_together()
    first = fleet.node(0).create(documentId="paper")
    second = fleet.node(1).create(documentId="paper")
    one = fleet.node(1).claim_one("w1")
    same(one["id"], first["id"])
    same(doclock(fleet, "paper"), one["lease"])
    check(500_000 < fleet.redis.ask("PTTL", "errand:doclock:{paper}") <= 600_000, "ten minutes to live")
    answer = waiting_claim(fleet.node(2), "w2")
    fleet.node(0).complete(one)
    two = answer()[0]
    same(two["id"], second["id"])
    same(doclock(fleet, "paper"), two["lease"])
    fleet.node(1).fail(two, retry=False, error={"code": "no", "message": "no"})
    wait_for(lambda: doclock(fleet, "paper") is None, "the lock to be gone")


def documents_exclude(fleet, rounds=12):
    """Tasks of one document, pulled by one worker at each node: no two at once, each once."""
    for i in range(rounds):
        fleet.node(i % 3).create("doc", documentId="one")
    guard, running, done, troubles = threading.Lock(), set(), [], []

    def work(node, name):
        while True:
            tasks = node.claim(name, taskTypes=["doc"], waitMs=3000, max=5)
            if not tasks:
                return
            with guard:
                troubles.extend(["two tasks of a document at once"] * (len(tasks) > 1 or bool(running)))
                running.update(task["id"] for task in tasks)
            for other in fleet.nodes:
                troubles.extend(["another while one runs"] * len(other.claim("thief", taskTypes=["doc"])))
            with guard:
                running.difference_update(task["id"] for task in tasks)
            for task in tasks:
                done.append(task["id"])
                node.complete(task)

    together(*(lambda n=node, i=i: work(n, f"w{i}") for i, node in enumerate(fleet.nodes)))
    same(troubles, [])
    same((len(done), len(set(done))), (rounds, rounds))


def codes(node, task):
    return [reason["code"] for reason in node.why(task)["reasons"]]


def limits_hold(fleet):
    """maxConcurrent, pause and rate, whoever asks."""
    a, b, c = fleet.nodes
    a.call("PUT", "/api/queues/narrow", {"maxConcurrent": 2}, 200)
    for i in range(8):
        fleet.node(i % 3).create(queue="narrow")
    taken = sum(together(*(lambda n=n: n.claim("w", queues=["narrow"], max=10) for n in fleet.nodes)), [])
    same(len(taken), 2, "tasks that run at once")
    same(b.claim("w", queues=["narrow"], max=10), [])
    ready = c.list(queue="narrow", state="QUEUED")[0]
    check("queue_limit" in codes(c, ready), c.why(ready))
    answer = waiting_claim(c, "late", queues=["narrow"], max=10)
    a.complete(taken[0])
    tasks = answer()
    same(len(tasks), 1, "tasks that fill the place")
    pauses_hold(fleet, [*taken[1:], *tasks])
    rates_hold(fleet)


def pauses_hold(fleet, running):
    a, b, c = fleet.nodes
    a.post("/api/queues/narrow/pause")
    for task in running:
        b.complete(task)
    same(c.claim("w", queues=["narrow"]), [])
    ready = c.list(queue="narrow", state="QUEUED")[0]
    check("queue_paused" in codes(c, ready), c.why(ready))
    answer = waiting_claim(b, "patient", queues=["narrow"])
    c.post("/api/queues/narrow/resume")
    same(len(answer()), 1)


def rates_hold(fleet):
    rate, burst, seconds = 4, 2, 2.0
    fleet.node(1).call("PUT", "/api/queues/slow", {"ratePerSecond": rate, "burst": burst}, 200)
    fleet.node(0).post("/api/tasks", [{"taskType": "t", "queue": "slow"} for _ in range(40)], 201)
    began, taken = time.monotonic(), []

    def hurry(node):
        while time.monotonic() - began < seconds:
            taken.extend(node.claim("w", queues=["slow"], max=10, waitMs=200))
    together(*(lambda n=n: hurry(n) for n in fleet.nodes))
    most = rate * (time.monotonic() - began) + burst
    check(len(taken) <= most + 1, f"{len(taken)} tasks began where {most:.1f} may")
    check(len(taken) >= rate, f"only {len(taken)} tasks began")


@test(server=False)
def documents_and_limits_hold_over_nodes(nest):
    fleet = Fleet(nest).wait_together()
    documents_exclude(fleet)
    limits_hold(fleet)
    fleet.doctor()


@test(server=False)
def documents_and_limits_hold_without_redis(nest):
    fleet = Fleet(nest, redis=0).wait_together()
    documents_exclude(fleet)
    limits_hold(fleet)
    fleet.doctor()


@test(server=False)
def documents_and_limits_hold_while_redis_is_down(nest):
    fleet = Fleet(nest).wait_together()
    fleet.redis.stop()
    for at in range(3):
        fleet.wait_broker(at, "degraded")
    documents_exclude(fleet)
    limits_hold(fleet)
    fleet.redis.start()
    for at in range(3):
        fleet.wait_broker(at, "redis")
    documents_exclude(fleet)
    fleet.doctor()


# ---- What one node says to another ----


@test(server=False)
def events_of_one_node_are_seen_on_another(nest):
    fleet = Fleet(nest).wait_together()
    stream = fleet.node(1).stream("/api/events?types=state")
    task = fleet.node(0).create("seen", documentId="d")
    claimed = fleet.node(2).claim_one("w")
    fleet.node(0).complete(claimed)
    events = [data for _, _, data in stream.until(lambda event, data: data["state"] == "COMPLETED")]
    same([each["state"] for each in events], ["QUEUED", "RUNNING", "COMPLETED"])
    for each in events:
        has(each, taskId=task["id"], taskType="seen", documentId="d")


@test(server=False)
def a_wait_for_the_end_hears_it_from_another_node(nest):
    for redis in (1, 0):
        fleet = Fleet(nest, redis=redis).wait_together()
        task = fleet.node(0).create()
        claimed = fleet.node(2).claim_one("w")
        shown = []
        thread = threading.Thread(target=lambda: shown.append(fleet.node(1).show(task, waitMs=WAIT_MS)))
        began = time.monotonic()
        thread.start()
        fleet.node(2).complete(claimed, result=7)
        thread.join()
        has(shown[0], state="COMPLETED", result=7)
        check(time.monotonic() - began < WAIT_MS / 1000 / 2, "it was the end of the wait that woke it")


def sleeper(nest, redis=1):
    """Node 0 has a worker inside, the others have none; a task sleeps there."""
    fleet = Fleet(nest, nodes=0, redis=redis)
    fleet.args = ["--workers", "1"]
    fleet.add()
    fleet.args = ["--workers", "0"]
    fleet.add()
    fleet.add()
    fleet.wait_together()
    task = fleet.node(1).create("sleep", payload={"ms": 120000}, documentId="bed")
    wait_for(lambda: fleet.node(2).state(task) == "RUNNING", "the sleeper's start")
    return fleet, task


@test(server=False)
def a_task_inside_one_node_is_cancelled_by_another(nest):
    fleet, task = sleeper(nest)
    shown = fleet.node(1).cancel(task, expect=202)
    same(shown["cancelRequested"], True)
    same(fleet.node(2).show(task, waitMs=WAIT_MS)["state"], "CANCELLED")
    wait_for(lambda: doclock(fleet, "bed") is None, "the lock to be gone")


@test(server=False)
def a_task_inside_one_node_is_cancelled_by_another_without_redis(nest):
    fleet, task = sleeper(nest, redis=0)
    fleet.node(1).cancel(task, expect=202)
    same(fleet.node(2).show(task, waitMs=WAIT_MS)["state"], "CANCELLED")


@test(server=False)
def why_and_the_rates_count_what_other_nodes_do(nest):
    fleet = Fleet(nest, nodes=2).wait_together()
    a, b = fleet.nodes
    end = waiting_claim(a, "w", taskTypes=["other", "letter"], queues=["post"])
    task = b.create("letter", queue="mail")

    def reasons(of):
        return [each["code"] for each in b.get(f"/api/tasks/{of['id']}/why")["reasons"]]
    same(reasons(task), ["no_worker"])
    b.call("POST", "/api/queues/post/pause", expect=200)
    held = b.create("letter", queue="post")
    wait_slowly(lambda: reasons(held) == ["queue_paused"], "what the worker of the other node takes")
    wait_slowly(lambda: b.get("/api/stats")["waitingClaims"] == 1, "the claim that waits there")
    b.call("POST", "/api/queues/post/resume", expect=200)
    same([each["id"] for each in end()], [held["id"]])
    wait_slowly(lambda: b.claim_one("v", queues=["mail"], waitMs=WAIT_MS) and b.create("letter", queue="mail") and
                a.get("/api/stats")["rates"]["startedPerSecond"] > 1 / 60, "what was started on the other node")
    wait_slowly(lambda: b.create() and a.get("/api/stats")["rates"]["createdPerSecond"] > 0, "what was created there")


@test(server=False)
def nodes_and_workers_of_all_are_listed_by_each(nest):
    fleet = Fleet(nest, workers=1).wait_together()
    for at in range(3):
        shown = fleet.roster(at)
        same(sorted(each["pid"] for each in shown), sorted(node.process.pid for node in fleet.nodes))
        same(len({each["id"] for each in shown}), 3)
        same(sorted(each["address"] for each in shown), sorted(f"127.0.0.1:{node.port}" for node in fleet.nodes))
        for each in shown:
            has(each, store="ok", broker="redis")
        wait_for(lambda at=at: len({each["node"] for each in fleet.node(at).get("/api/workers")["workers"]}) == 3,
                 "the workers of all nodes")


@test(server=False)
def nodes_without_redis_find_work_within_a_second(nest):
    fleet = Fleet(nest, redis=0).wait_together()
    for each in fleet.roster():
        same(each["broker"], "poll")
    for i in range(4):
        answer = waiting_claim(fleet.node(i % 3), f"w{i}")
        began = time.monotonic()
        task = fleet.node((i + 1) % 3).create()
        tasks = answer()
        check(time.monotonic() - began < 1 + SOON_S, "longer than a second")
        same([each["id"] for each in tasks], [task["id"]])
        fleet.node((i + 2) % 3).complete(tasks[0])


main()
