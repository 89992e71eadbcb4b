# tests/system/test_move.py: everything from one stopped store into an empty one, there and back.
#
# A store with everything in it is moved to PostgreSQL and from there into a new folder; under a clock that stands still each
# server must answer every question as the one before did. Only attempts that ran are others: they are lost.
#
# SPDX-License-Identifier: MIT
"""errand move, between an embedded store and PostgreSQL."""
import itertools
import json
import os
import sqlite3
import subprocess

import teams
from errand import START, binary, check, has, main, same, test, wait_for
from fleet import shared_postgres
from proxy import Proxy
from standins import Llm

NUMBERS = itertools.count(1)
PLACE = "/v2/projects/p/locations/l"
CLOUD = "projects/p/locations/l/queues/cq"
DAY = 86400000


def database():
    """The URL of a new, empty database, and its name."""
    name = f"moved{next(NUMBERS)}"
    shared_postgres().sql(f"CREATE DATABASE {name}")
    return shared_postgres().url(name), name


def embedded(folder):
    return f"sqlite:{folder}/errand.db"


def move(nest, source, target, *more, expect=0):
    return nest.run("move", "--from", source, "--to", target, *more, expect=expect)


def moved(nest, source, target, *more):
    return json.loads(move(nest, source, target, "--json", *more).stdout)


def on_postgres(nest, url, **options):
    return nest.server(args=["--store", url, "--workers", "0"], **options)


def doctor(nest, url):
    data = url[len("sqlite:"):-len("/errand.db")] if url.startswith("sqlite:") else nest.folder()
    run = nest.run("doctor", "--data", data, "--store", url, expect=None)
    check("FAIL" not in run.stdout, run.stdout)
    check("invariant" in run.stdout, run.stdout)


# ---- A store with everything in it ----

def fill_tasks(s):
    """Tasks in every state, with what can be said of them."""
    for n in range(3):
        s.create("plain", payload={"n": n}, tags=["a", "b"], priority="HIGH", metadata={"m": n}, idempotencyKey=f"k{n}")
    s.create("raw", payload=None)
    s.create("later", delayMs=3600000, expiresAt="2027-04-01T00:00:00Z", backoff={"baseMs": 7, "factor": 2, "maxMs": 99, "jitter": 0.5})
    ended = s.create("fails", maxRetries=0)
    s.fail(s.claim_one(taskTypes=["fails"]), error={"code": "E", "message": "no", "detail": {"x": [1]}})
    has(s.show(ended), state="FAILED")
    s.create("again", maxRetries=5)
    task = s.claim_one(taskTypes=["again"])
    s.heartbeat(task, progress={"percent": 40, "message": "on it"}, log="first line\nsecond line\n")
    s.fail(task, error={"code": "E", "message": "once more"})
    s.create("done")
    task = s.claim_one(taskTypes=["done"])
    s.heartbeat(task, log="it says\n")
    s.complete(task, result={"r": "é\u0000"}, cost={"actual": 1.5, "tokens": 12})
    s.cancel(s.create("never"), reason="not needed")
    s.create("slow", timeoutMs=1000, maxRetries=0)
    s.claim_one(taskTypes=["slow"], leaseMs=5000)
    s.advance(1500)
    first = s.create("first")
    s.create("second", dependsOn=[first["id"]])
    s.create("third", dependsOn=[first["id"], ended["id"]], onDependencyFailure="run")
    s.create("family", documentId="book", children=[{"taskType": "one"}, {"taskType": "two"}])
    s.complete(s.claim_one(taskTypes=["one"]), result=1)
    s.create("waits", documentId="book")


def fill_records(s):
    s.call("PUT", "/api/queues/narrow", {"maxConcurrent": 3, "ratePerSecond": 2.5, "burst": 4}, expect=200)
    s.create("held", queue="stopped")
    s.post("/api/queues/stopped/pause", None, 200)
    daily = s.post("/api/schedules", {"title": "News", "rrule": "FREQ=DAILY", "userId": "ann"}, 201)
    s.post("/api/schedules", {"title": "work", "cron": "*/5 * * * *", "taskType": "tick", "userId": "bob"}, 201)
    s.advance(DAY)
    wait_for(lambda: s.get("/api/notifications", userId="ann"), "a notification")
    wait_for(lambda: all(run["isDelivered"] for run in s.get(f"/api/schedules/{daily['id']}/executions")), "the delivery")


def fill_teams(s):
    team = teams.begin(s, teams.task("a"), teams.task("b", "a"))
    teams.claim(s, team)
    teams.say(s, team, "hello", to="a2")
    s.call("POST", PLACE + "/queues", {"name": CLOUD, "retryConfig": {"maxAttempts": 7}}, 200)
    s.call("POST", f"{PLACE}/queues/cq/tasks", {"task": {
        "name": CLOUD + "/tasks/t", "httpRequest": {"url": "https://example.com/"}, "scheduleTime": "2030-01-01T00:00:00Z"}}, 200)


def append_document(s):
    task = s.create("document.append", documentId="a/b c", payload={"text": "one"})
    has(s.show(task, waitMs=30000), state="COMPLETED")


def source(nest):
    """A stopped data folder with everything in it, two attempts running; what its server last said, and what it is about."""
    llm = Llm(nest)
    s = nest.server(clock=START, args=["--workers", "1"],
                    env={"ERRAND_LLM_BASE_URL": llm.url, "ERRAND_LLM_MODEL": "small", "ERRAND_PUSH_ALLOW_PRIVATE": "yes"})
    append_document(s)
    fill_tasks(s)
    fill_records(s)
    now = s.advance(0)
    s.terminate()
    s = nest.server(data=s.data, clock=now, args=["--workers", "0"])  # without a model nobody works on a team by himself
    fill_teams(s)
    retried = s.create("runs", documentId="page", maxRetries=3)
    dying = s.create("dies", maxRetries=0)
    s.create("after", dependsOn=[dying["id"]])
    s.claim_one(taskTypes=["runs"], leaseMs=3600000)
    s.claim_one(taskTypes=["dies"], leaseMs=3600000)
    told = answers(s)
    token = nest.run("token", "create", "--role", "admin", "--data", s.data).stdout.strip()
    nest.run("token", "create", "--role", "read", "--user", "ann", "--data", s.data)
    s.kill()
    return s.data, told, {"retried": retried["id"], "dying": dying["id"], "token": token, "now": now}


def pages(s, path, **query):
    """A whole list, however long."""
    rows, more = [], s.get(path, limit=200, **query)
    while more:
        rows += more
        more = s.get(path, limit=200, before=more[-1]["id"], **query) if len(more) == 200 else []
    return rows


def answers(s):
    """Whatever can be asked of a server, by path."""
    paths = ["/api/schedules", "/api/notifications", "/api/usage", "/api/teams", "/api/documents", "/api/queues",
             PLACE + "/queues", PLACE + "/queues/cq/tasks"]
    tasks = pages(s, "/api/tasks")
    paths += [f"/api/tasks/{task['id']}" for task in tasks]
    paths += [f"/api/tasks?tag=a", "/api/tasks?documentId=book", "/api/tasks?state=FAILED"]
    for schedule in s.get("/api/schedules"):
        paths += [f"/api/schedules/{schedule['id']}", f"/api/schedules/{schedule['id']}/executions",
                  f"/api/schedules/{schedule['id']}/next"]
    for team in s.get("/api/teams"):
        ident = team.get("teamId") or team["id"]
        paths += [f"/api/teams/{ident}", f"/api/teams/{ident}/messages?agent=a2"]
    said = {path: s.call("GET", path, expect=200).json for path in paths}
    said["/api/tasks"] = tasks
    return said


def plain(said, without):
    """What is said, but for tasks that are others, and what a list tells of the moment it was asked in."""
    out = {}
    for path, body in said.items():
        if any(ident in path for ident in without):
            continue
        text = [row for row in body if row.get("id") not in without] if isinstance(body, list) else body
        out[path] = text
    for queue in out.get("/api/queues", []):
        for key in list(queue):
            if key not in ("name", "queue", "paused", "maxConcurrent", "ratePerSecond", "burst"):
                queue.pop(key)
    return out


def compare(before, after, without=()):
    left, right = plain(before, without), plain(after, without)
    same(sorted(left), sorted(right), "the paths that can be asked")
    for path, body in left.items():
        same(right[path], body, path)


# ---- There and back ----

@test(server=False)
def everything_moves_to_postgresql_and_back(nest):
    folder, before, about = source(nest)
    url, _ = database()
    told = moved(nest, embedded(folder), url)
    same((told["lost"], told["tokens"], told["documents"]), (3, 2, 0))
    same(told["tasks"], len(before["/api/tasks"]))
    for name in ("attempts", "logs", "dependencies", "held", "queues", "schedules", "executions", "notifications", "teams",
                 "messages", "usage", "cloudQueues"):
        check(told[name] > 0, f"no {name} among {told}")
    doctor(nest, url)

    fleet = on_postgres(nest, url, clock=about["now"], token=about["token"])
    wait_for(lambda: fleet.state(about["retried"]) == "RETRYING", "the attempt to be lost")
    wait_for(lambda: fleet.state(about["dying"]) == "FAILED", "the last attempt to be lost")
    lost = {about["retried"], about["dying"], *(task["id"] for task in before["/api/tasks"]
                                                if task["taskType"] in ("after", "team.task") or task.get("teamId"))}
    attempt = fleet.show(about["retried"])["attempts"]
    same([(one["number"], one["outcome"]) for one in attempt], [(1, "LOST")])
    after = answers(fleet)
    teams_said = {path for path in before if path.startswith(("/api/teams", "/api/documents"))}
    compare({k: v for k, v in before.items() if k not in teams_said},
            {k: v for k, v in after.items() if k not in teams_said}, lost)
    same(fleet.raw("GET", "/api/tasks", headers={"Authorization": "Bearer wrong"}).status, 401)
    fleet.terminate()

    home = nest.folder()
    told = moved(nest, url, embedded(home))
    same((told["lost"], told["tokens"], told["tasks"]), (0, 2, len(before["/api/tasks"])))
    doctor(nest, embedded(home))
    back = nest.server(data=home, clock=about["now"], token=about["token"], args=["--workers", "0"])
    compare(after, answers(back))
    work_off(back)
    back.terminate()
    doctor(nest, embedded(home))


def work_off(s):
    """Whatever is left can still be done, in the order that was promised."""
    s.post("/api/queues/stopped/resume", None, 200)
    same(s.claim(taskTypes=["waits"]), [], "the family holds its document")
    s.complete(s.claim_one(taskTypes=["two"]))
    s.complete(s.claim_one(taskTypes=["waits"]))
    same(s.create("plain", idempotencyKey="k1", expect=200)["id"], s.ids(taskType="plain")[1], "the key's task")
    s.complete(s.claim_one(taskTypes=["first"]))
    s.complete(s.claim_one(taskTypes=["second"]))
    s.complete(s.claim_one(taskTypes=["third"]))
    s.advance(3600000 + 60000)
    for kind in ("runs", "again", "later"):
        task = s.claim_one(taskTypes=[kind])
        s.complete(task)
        has(s.show(task), state="COMPLETED")
    newest = s.create("new")
    check(newest["id"] > max(s.ids(taskType="plain")), "ids go on")


@test(server=False)
def folders_move_into_folders_with_their_documents(nest):
    s = nest.server()
    append_document(s)
    nest.run("token", "create", "--role", "admin", "--data", s.data)
    s.terminate()
    home = nest.folder()
    said = move(nest, embedded(s.data), embedded(home)).stdout
    check("1 document: copied" in said and "tokens" in said, said)
    with open(os.path.join(home, "documents", "a%2Fb%20c"), encoding="utf-8") as file:
        same(file.read(), "one\n")
    same(len(json.loads(nest.run("token", "ls", "--json", "--data", home).stdout)), 1)
    doctor(nest, embedded(home))


@test(server=False)
def documents_go_with_the_data_folder_of_a_node(nest):
    s = nest.server()
    append_document(s)
    s.terminate()
    url, _ = database()
    node, home = nest.folder(), nest.folder()
    os.mkdir(node)
    same(moved(nest, embedded(s.data), url, "--data", node)["documents"], 1)
    same(moved(nest, url, embedded(home), "--data", node)["documents"], 1)
    check(os.path.exists(os.path.join(home, "documents", "a%2Fb%20c")))


# ---- What is refused ----

def refused(nest, source_url, target_url, *words):
    run = move(nest, source_url, target_url, expect=1)
    for word in words:
        check(word in run.stderr, run.stderr)


@test()
def a_store_in_use_is_refused(s):
    nest = s.nest
    task = s.create()
    url, _ = database()
    refused(nest, embedded(s.data), url, "source", "another errand is using")
    s.terminate()
    fleet = on_postgres(nest, url, data=s.data)
    check(f"errand move --from {embedded(s.data)}" in fleet.stderr(), fleet.stderr())
    refused(nest, embedded(s.data), url, "target", "in use")
    home = nest.folder()
    refused(nest, url, embedded(home), "source", "in use")
    fleet.terminate()
    same(moved(nest, embedded(s.data), url)["tasks"], 1)
    fleet = on_postgres(nest, url, data=s.data)
    check("errand move" not in fleet.stderr(), fleet.stderr())
    has(fleet.show(task), state="QUEUED")
    fleet.kill()  # its row stays, and says nothing any more
    same(moved(nest, url, embedded(home))["tasks"], 1)


@test()
def what_is_not_empty_or_not_there_or_the_same_is_refused(s):
    nest = s.nest
    s.create()
    s.terminate()
    url, _ = database()
    refused(nest, embedded(s.data), embedded(s.data), "same store")
    refused(nest, embedded(nest.folder()), url, "cannot read")
    same(moved(nest, embedded(s.data), url)["tasks"], 1)
    refused(nest, embedded(s.data), url, "not empty", "1 tasks")
    refused(nest, url, url, "same store")
    home = nest.folder()
    nest.run("token", "create", "--role", "admin", "--data", home)
    refused(nest, url, embedded(home), "tokens already")
    other = nest.folder()
    os.makedirs(os.path.join(other, "documents"))
    run = nest.run("move", "--from", url, expect=2)
    check("--to is missing" in run.stderr, run.stderr)
    run = nest.run("move", "--from", url, "--to", "mysql://x", expect=1)
    check("--to must be" in run.stderr, run.stderr)


@test()
def an_old_schema_is_refused_with_a_word_about_migrate(s):
    nest = s.nest
    s.terminate()
    with sqlite3.connect(os.path.join(s.data, "errand.db")) as file:
        file.execute("PRAGMA user_version = 1")
    refused(nest, embedded(s.data), database()[0], "errand migrate")
    url, name = database()
    on_postgres(nest, url).terminate()
    shared_postgres().sql("UPDATE meta SET version = 1", name)
    refused(nest, url, embedded(nest.folder()), "errand migrate")


@test(server=False)
def tasks_that_two_nodes_named_in_one_instant_stay_in_postgresql(nest):
    url, name = database()
    fleet = on_postgres(nest, url)
    ident = fleet.create()["id"]
    fleet.terminate()
    twin = ident[:19] + "8000-000000000001"
    shared_postgres().sql(f"CREATE TEMP TABLE b AS TABLE body; UPDATE b SET id = '{twin}'; INSERT INTO body TABLE b;"
                          f"CREATE TEMP TABLE t AS TABLE task; UPDATE t SET id = '{twin}'; INSERT INTO task TABLE t", name)
    home = nest.folder()
    refused(nest, url, embedded(home), "first half of its id")
    with sqlite3.connect(os.path.join(home, "errand.db")) as file:
        same(file.execute("SELECT count(*) FROM body").fetchone()[0], 0)
    other, _ = database()
    same(moved(nest, url, other)["tasks"], 2)


# ---- Never half ----

def killed(nest, proxy, *urls, at):
    """A move that stood still when it said `at`, and was killed there."""
    proxy.lose_question(at)
    process = subprocess.Popen([binary(), "move", "--from", urls[0], "--to", urls[1]], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, cwd=nest.root)
    check(proxy.lost.wait(60), "it never came so far")
    same(process.poll(), None)
    process.kill()
    process.wait()
    proxy.heal()


@test()
def a_move_that_is_killed_leaves_an_empty_target_and_can_be_begun_again(s):
    nest = s.nest
    for n in range(3):
        s.post("/api/tasks", [{"taskType": "t", "payload": f"number {n * 1000 + i}", "tags": ["x"]} for i in range(1000)], 201)
    append_document(s)
    s.terminate()
    url, name = database()
    proxy = Proxy(nest, shared_postgres().port)
    far = shared_postgres().url(name, host="127.0.0.1", port=proxy.port)
    killed(nest, proxy, embedded(s.data), far, at=b"number 2222")
    same(shared_postgres().sql("SELECT count(*) FROM body", name), "0")
    same(moved(nest, embedded(s.data), url)["tasks"], 3001)
    home = nest.folder()
    killed(nest, proxy, far, embedded(home), at=b"FROM log")
    with sqlite3.connect(os.path.join(home, "errand.db")) as file:
        same(file.execute("SELECT count(*) FROM body").fetchone()[0], 0)
    same(moved(nest, url, embedded(home))["tasks"], 3001)
    doctor(nest, embedded(home))


if __name__ == "__main__":
    main()
