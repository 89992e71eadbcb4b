# tests/system/test_upgrade.py: what an older release left is opened, says what it said, and is worked off.
#
# tests/upgrade/ has a folder for each release, made by its own binary (tests/upgrade/make.py): killed in the middle of its work.
#
# SPDX-License-Identifier: MIT
"""Upgrades from every release, of a data folder and of a schema in PostgreSQL."""
import itertools
import json
import os
import shutil
import sqlite3
import subprocess

from errand import check, has, main, same, test
from fleet import shared_postgres, wait_slowly
from postgres import find_tool

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "upgrade")
RELEASES = sorted(name for name in os.listdir(HERE) if os.path.isdir(os.path.join(HERE, name)))
NUMBERS = itertools.count(1)
HOUR = 3600000
PATIENT_MS = 20000  # a fleet looks around once in a while


def left(release, name):
    with open(os.path.join(HERE, release, name), encoding="utf-8") as file:
        return file.read()


def embedded(nest, release):
    """A data folder as that release left it."""
    data = nest.folder()
    os.mkdir(data)
    with sqlite3.connect(os.path.join(data, "errand.db")) as file:
        file.executescript(left(release, "sqlite.sql"))
    shutil.copy(os.path.join(HERE, release, "tokens"), data)
    os.chmod(os.path.join(data, "tokens"), 0o600)
    return data


def shared(release):
    """A database as that release left it; its URL and its name."""
    server, name = shared_postgres(), f"upgrade{next(NUMBERS)}"
    server.sql(f"CREATE DATABASE {name}")
    subprocess.run([find_tool("psql"), "-qX", "-v", "ON_ERROR_STOP=1", "-d", server.url(name), "-f",
                    os.path.join(HERE, release, "postgres.sql")], check=True, stdout=subprocess.DEVNULL)
    return server.url(name), name


def holds(new, old, where):
    """Whatever was said is still said; more may be."""
    if isinstance(old, dict):
        for key, value in old.items():
            check(key in new, f"{where}: {key} is gone")
            holds(new[key], value, f"{where}.{key}")
    elif isinstance(old, list):
        same(len(new), len(old), where)
        for at, value in enumerate(old):
            holds(new[at], value, f"{where}[{at}]")
    else:
        same(new, old, where)


def says_what_was_said(s, said):
    for path, old in said["answers"].items():
        holds(s.get(path), old, path)
    same(len(s.list(limit=200)), sum(path.startswith("/api/tasks/") for path in said["answers"]))


def work_off(s):
    """All that was left can be done: in the order that was promised, the attempt that was cut short too."""
    def does(kind):
        task = s.claim_one(taskTypes=[kind], waitMs=PATIENT_MS)
        s.complete(task)
        has(s.show(task), state="COMPLETED")
    same(s.claim(taskTypes=["waits"]), [], "the family holds its document")
    for kind in ("two", "waits", "first", "second", "plain", "plain"):
        does(kind)
    wait_slowly(lambda: s.list(taskType="family")[0]["state"] == "COMPLETED", "the family's end")
    s.advance(HOUR)
    wait_slowly(lambda: s.list(taskType="runs")[0]["state"] in ("RETRYING", "QUEUED"), "the end of the attempt that ran")
    s.advance(2 * HOUR)
    for kind in ("runs", "later", "again"):
        does(kind)
    same([one["outcome"] for one in s.show(s.list(taskType="runs")[0])["attempts"]], ["TIMEOUT", "COMPLETED"])
    same(s.create("plain", idempotencyKey="k1", expect=200)["state"], "COMPLETED")


@test(server=False)
def a_data_folder_of_every_release_is_opened_and_worked_off(nest):
    for release in RELEASES:
        said = json.loads(left(release, "sqlite.json"))
        data, token = embedded(nest, release), left(release, "token").strip()
        check("errand migrate" in nest.refuses("--data", data, "--listen", "127.0.0.1:0", "--no-migrate"))
        s = nest.server(data=data, clock=said["now"], token=token, args=["--workers", "0"])
        says_what_was_said(s, said)
        work_off(s)
        s.terminate()
        run = nest.run("doctor", "--data", data, expect=None)
        check("FAIL" not in run.stdout, run.stdout)


@test(server=False)
def a_schema_of_every_release_is_opened_and_worked_off(nest):
    for release in RELEASES:
        said = json.loads(left(release, "postgres.json"))
        url, _ = shared(release)
        refused = nest.refuses("--data", nest.folder(), "--listen", "127.0.0.1:0", "--no-migrate", "--store", url)
        check("errand migrate" in refused, refused)
        check("now has the schema" in nest.run("migrate", "--data", nest.folder(), "--store", url).stdout)
        s = nest.server(clock=said["now"], args=["--workers", "0", "--store", url, "--no-migrate"])
        says_what_was_said(s, said)
        work_off(s)
        s.terminate()
        run = nest.run("doctor", "--data", s.data, "--store", url, expect=None)
        check("FAIL" not in run.stdout, run.stdout)


@test(server=False)
def what_a_newer_release_has_migrated_is_refused_and_left_alone(nest):
    data = embedded(nest, RELEASES[-1])
    path = os.path.join(data, "errand.db")
    with sqlite3.connect(path) as file:
        file.execute("PRAGMA user_version = 999")
    refused = nest.refuses("--data", data, "--listen", "127.0.0.1:0")
    check("version 999" in refused and "newer errand" in refused, refused)
    with sqlite3.connect(path) as file:
        same(file.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'ended'").fetchone()[0], 1)
        same(file.execute("PRAGMA user_version").fetchone()[0], 999)
    url, name = shared(RELEASES[-1])
    shared_postgres().sql("UPDATE public.meta SET version = 999, oldest_reader = 999", name)
    refused = nest.refuses("--data", nest.folder(), "--listen", "127.0.0.1:0", "--store", url)
    check("version 999" in refused and "newer errand" in refused, refused)
    same(shared_postgres().sql("SELECT version FROM public.meta", name), "999")


if __name__ == "__main__":
    main()
