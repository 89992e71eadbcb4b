# tests/system/test_backup.py: a data folder in one file, made beside a running server, and back.
#
# SPDX-License-Identifier: MIT
import os
import sqlite3
import stat
import threading

from errand import check, has, main, same, test


def name(nest, text):
    return os.path.join(nest.root, text)


def restored(nest, path, **options):
    """A server on what a backup holds."""
    data = nest.folder()
    nest.run("restore", path, "--data", data)
    return nest.server(data=data, **options)


@test()
def everything_comes_back(s):
    nest, path = s.nest, name(s.nest, "backup")
    done = s.create("document.append", documentId="a/b c", payload={"text": "one"}, idempotencyKey="k")
    has(s.show(done, waitMs=30000), state="COMPLETED")
    waiting = s.create("t", tags=["x"], delayMs=3600000)
    schedule = s.post("/api/schedules", {"title": "water", "rrule": "FREQ=DAILY", "taskType": "t"}, 201)
    s.call("PUT", "/api/queues/q", {"maxConcurrent": 3}, expect=200)
    team = s.post("/api/teams", {"prompt": "p", "tasks": [{"id": "a", "title": "A"}]}, 202)
    nest.run("token", "create", "--role", "admin", "--data", s.data)
    said = nest.run("backup", path, "--data", s.data).stdout
    check("2 files" in said, said)
    same(stat.S_IMODE(os.stat(path).st_mode), 0o600)
    check("every invariant holds" in nest.run("backup", "--check", path).stdout)
    data = nest.folder()
    nest.run("restore", path, "--data", data)
    token = nest.run("token", "create", "--role", "admin", "--data", data).stdout.strip()
    same(len(nest.run("token", "ls", "--data", data).stdout.strip().splitlines()), 3, "a head and two tokens")
    t = nest.server(data=data, token=token)
    has(t.show(done), state="COMPLETED", idempotencyKey="k", result={"bytes": 4})
    has(t.show(waiting), state="SCHEDULED", tags=["x"])
    has(t.get(f"/api/schedules/{schedule['id']}"), title="water")
    has(t.get("/api/queues/q"), maxConcurrent=3)
    has(t.get(f"/api/teams/{team['teamId']}"), status="running")
    same(t.post("/api/tasks", {"taskType": "t", "idempotencyKey": "k"}, 200)["id"], done["id"])
    with open(os.path.join(data, "documents", "a%2Fb%20c"), encoding="utf-8") as file:
        same(file.read(), "one\n")
    t.doctor()


@test()
def a_running_attempt_is_tried_again(s):
    task = s.create(maxRetries=3)
    s.claim_one()
    path = name(s.nest, "backup")
    s.nest.run("backup", path, "--data", s.data)
    has(s.show(task), state="RUNNING")
    t = restored(s.nest, path)
    check(t.show(task)["state"] in ("RUNNING", "RETRYING", "QUEUED"), t.show(task)["state"])
    t.doctor()


@test()
def a_backup_beside_writers_is_one_moment(s):
    stop = threading.Event()

    def create():
        while not stop.is_set():
            s.post("/api/tasks", [{"taskType": "t", "documentId": f"d{n}", "tags": ["x"]} for n in range(20)], 201)
    threads = [threading.Thread(target=create) for _ in range(3)]
    for thread in threads:
        thread.start()
    for n in range(5):
        s.nest.run("backup", name(s.nest, f"b{n}"), "--data", s.data)
        s.nest.run("backup", "--check", name(s.nest, f"b{n}"))
    stop.set()
    for thread in threads:
        thread.join()
    t = restored(s.nest, name(s.nest, "b4"))
    same(t.get("/api/stats")["counts"]["QUEUED"] % 20, 0, "an array is whole or not there")


@test()
def what_cannot_be_is_refused_and_leaves_nothing(s):
    nest, path = s.nest, name(s.nest, "backup")
    nest.run("backup", path, "--data", s.data)
    check("there already" in nest.run("backup", path, "--data", s.data, expect=1).stderr)
    check("pg_dump" in nest.run("backup", name(nest, "x"), "--store", "postgres://127.0.0.1:1/x", expect=1).stderr)
    nest.run("backup", name(nest, "x"), "--data", name(nest, "nowhere"), expect=1)
    nest.run("backup", name(nest, "no/such/folder/x"), "--data", s.data, expect=1)
    same([n for n in os.listdir(nest.root) if n.startswith("x")], [])
    check("using the folder" in nest.run("restore", path, "--data", s.data, expect=1).stderr)
    full = nest.folder()
    os.mkdir(full)
    with open(os.path.join(full, "mine"), "w", encoding="utf-8"):
        pass
    check("not empty" in nest.run("restore", path, "--data", full, expect=1).stderr)
    same(os.listdir(full), ["mine"])
    nest.run("restore", path, expect=2)
    noise = nest.file("noise", os.urandom(9000))
    for arguments in (("backup", "--check", noise), ("restore", noise, "--data", nest.folder()),
                      ("backup", "--check", os.path.join(s.data, "errand.db"))):
        check("not a backup" in nest.run(*arguments, expect=1).stderr, arguments)


@test()
def a_hostile_backup_stays_in_its_folder(s):
    path = name(s.nest, "backup")
    for wicked in ("../evil", "/tmp/evil", "documents/../../evil", "", "errand.db", "a//b", "documents/."):
        s.nest.run("backup", path, "--data", s.data)
        with sqlite3.connect(path) as db:
            db.execute("INSERT INTO backup_file VALUES (?, 0, x'00')", (wicked,))
        db.close()
        check("must not have" in s.nest.run("restore", path, "--data", s.nest.folder(), expect=1).stderr, wicked)
        os.remove(path)
    same([n for n in os.listdir(s.nest.root) if "evil" in n], [])


@test()
def a_damaged_backup_is_found_out(s):
    task = s.create()
    path = name(s.nest, "backup")
    s.nest.run("backup", path, "--data", s.data)
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA ignore_check_constraints = ON")
        table = next(t for (t,) in db.execute("SELECT name FROM sqlite_master WHERE name = 'body'"))
        db.execute(f"DELETE FROM {table}")
    db.close()
    run = s.nest.run("backup", "--check", path, expect=1)
    check("violations" in run.stderr, run.stderr + task["id"])


main()
