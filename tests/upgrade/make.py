# tests/upgrade/make.py: what a release leaves on disk and in PostgreSQL, as texts for test_upgrade.py.
#
#     ERRAND_BIN=…/errand-0.1 python3 tests/upgrade/make.py tests/upgrade/0.1
#
# Run once, with the binary of that release, when it is made (docs/releases.md): a server is given some of everything, is killed in
# the middle of its work, and what it left is dumped: sqlite.sql and postgres.sql, the file of tokens, and what it answered last.
#
# SPDX-License-Identifier: MIT
"""Makes the fixtures of an upgrade."""
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "system"))
import teams  # noqa: E402
from errand import START, Nest, has, wait_for  # noqa: E402
from postgres import Postgres, find_tool  # noqa: E402

DAY = 86400000
HOUR = 3600000


def fill(s):
    """Tasks in every state, families, dependencies, documents, schedules, a team; two attempts run."""
    s.call("PUT", "/api/queues/narrow", {"maxConcurrent": 3, "ratePerSecond": 2.5, "burst": 4}, expect=200)
    daily = s.post("/api/schedules", {"title": "News", "rrule": "FREQ=DAILY", "userId": "ann"}, 201)
    s.advance(DAY)
    wait_for(lambda: s.get("/api/notifications", userId="ann"), "a notification")
    wait_for(lambda: all(run["isDelivered"] for run in s.get(f"/api/schedules/{daily['id']}/executions")), "the delivery")
    for n in range(2):
        s.create("plain", payload={"n": n}, tags=["a", "é"], priority="HIGH", metadata={"m": n}, idempotencyKey=f"k{n}")
    s.create("later", delayMs=2 * HOUR, backoff={"baseMs": 7, "factor": 2, "maxMs": 99, "jitter": 0.5})
    ended = s.create("fails", maxRetries=0)
    s.fail(s.claim_one(taskTypes=["fails"]), error={"code": "E", "message": "no", "detail": {"x": [1]}})
    has(s.show(ended), state="FAILED")
    s.create("again", maxRetries=5, backoff={"baseMs": 2 * HOUR, "factor": 1, "maxMs": 2 * HOUR, "jitter": 0})
    task = s.claim_one(taskTypes=["again"])
    s.heartbeat(task, progress={"percent": 40, "message": "on it"}, log="first line\nsecond line\n")
    s.fail(task, error={"code": "E", "message": "once more"})
    s.create("done")
    s.complete(s.claim_one(taskTypes=["done"]), result={"r": "é"})
    s.cancel(s.create("never"), reason="not needed")
    first = s.create("first")
    s.create("second", dependsOn=[first["id"]])
    s.create("family", documentId="book", children=[{"taskType": "one"}, {"taskType": "two"}])
    s.complete(s.claim_one(taskTypes=["one"]), result=1)
    s.create("waits", documentId="book")
    team = teams.begin(s, teams.task("a"), teams.task("b", "a"))
    teams.say(s, team, "hello", to="a2")
    s.create("runs", documentId="page", maxRetries=3)
    s.claim_one(taskTypes=["runs"], leaseMs=HOUR)


def answers(s):
    paths = ["/api/schedules", "/api/notifications", "/api/queues/narrow", "/api/teams"]
    paths += [f"/api/tasks/{task['id']}" for task in s.get("/api/tasks", limit=200)]
    paths += [f"/api/schedules/{one['id']}/executions" for one in s.get("/api/schedules")]
    return {path: s.get(path) for path in paths}


def note(s, path):
    said = {"now": s.advance(0), "answers": answers(s)}
    with open(path, "w", encoding="utf-8") as out:
        json.dump(said, out, indent=0, sort_keys=True, ensure_ascii=False)
        out.write("\n")
    s.kill()


def make_sqlite(nest, out):
    s = nest.server(clock=START)
    fill(s)
    note(s, os.path.join(out, "sqlite.json"))
    token = nest.run("token", "create", "--role", "admin", "--data", s.data).stdout
    shutil.copy(os.path.join(s.data, "tokens"), os.path.join(out, "tokens"))
    with open(os.path.join(out, "token"), "w", encoding="utf-8") as file:
        file.write(token)
    with sqlite3.connect(os.path.join(s.data, "errand.db")) as db, \
            open(os.path.join(out, "sqlite.sql"), "w", encoding="utf-8") as file:
        file.write("-- tests/upgrade/%s/sqlite.sql: the database of a data folder of that release.\n" % os.path.basename(out))
        for pragma in ("application_id", "user_version"):
            file.write(f"PRAGMA {pragma} = {db.execute(f'PRAGMA {pragma}').fetchone()[0]};\n")
        file.writelines(line + "\n" for line in db.iterdump() if "sqlite_stat" not in line)


def make_postgres(nest, out):
    with Postgres() as server:
        server.sql("CREATE DATABASE errand")
        s = nest.server(clock=START, args=["--store", server.url("errand")])
        fill(s)
        note(s, os.path.join(out, "postgres.json"))
        dump = subprocess.run([find_tool("pg_dump"), "--no-owner", "--inserts", "-d", server.url("errand")], check=True,
                              capture_output=True, text=True).stdout
    # What a newer psql says for itself is not the schema's, and functions that hold plans are made again by whoever lacks them.
    dump = re.sub(r"\n(CREATE FUNCTION .*?\n\$\$;|CREATE FUNCTION .*?\$_\$;)\n", "\n", dump, flags=re.S)
    lines = [line for line in dump.splitlines() if line and not line.startswith(("--", "\\"))]
    with open(os.path.join(out, "postgres.sql"), "w", encoding="utf-8") as file:
        file.write("-- tests/upgrade/%s/postgres.sql: a database of that release.\n" % os.path.basename(out))
        file.write("\n".join(lines) + "\n")


def main():
    out = os.path.abspath(sys.argv[1])
    os.makedirs(out, exist_ok=True)
    nest = Nest()
    try:
        make_sqlite(nest, out)
        make_postgres(nest, out)
    finally:
        nest.close()


if __name__ == "__main__":
    main()
