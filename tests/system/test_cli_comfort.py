# tests/system/test_cli_comfort.py: the command line helps: beginnings of ids, times in words, groups, errors that say the next step.
#
# SPDX-License-Identifier: MIT
import fcntl
import json
import os
import pty
import select
import struct
import subprocess
import termios

from errand import binary, check, has, main, same, test
from terminal import Terminal


def refused(s, *arguments, expect=1):
    return s.nest.run(*arguments, "--url", f"http://127.0.0.1:{s.port}", expect=expect).stderr


@test()
def a_task_is_named_by_the_beginning_of_its_id(s):
    one, two = s.create("one", delayMs=3600000), s.create("two")
    has(json.loads(s.cli("show", one["id"][:18], "--json")), id=one["id"])
    has(json.loads(s.cli("show", "@last", "--json")), id=two["id"])
    has(json.loads(s.cli("why", one["id"][:18].upper(), "--json")), state="SCHEDULED")
    said = refused(s, "show", one["id"][:6])
    check("several" in said and one["id"] in said and two["id"] in said, said)
    check("begins with" in refused(s, "show", "ffff"), "it names what it looked for")
    s.cli("cancel", one["id"][:18])
    has(s.show(one), state="CANCELLED")
    check(one["id"] in s.cli("rm", one["id"][:18]), "the whole id is told")
    s.get(f"/api/tasks/{one['id']}", 404)
    check("@last" in refused(s, "schedule", "show", "@last"), "there is none")


@test()
def a_schedule_and_a_team_are_named_so_too(s):
    first = json.loads(s.cli("schedule", "every Monday at 9am water the plants", "--json", "--timezone", "UTC"))
    second = json.loads(s.cli("schedule", "every day at 8am walk", "--json", "--timezone", "UTC"))
    has(json.loads(s.cli("schedule", "show", "@last", "--json")), id=second["id"])
    has(json.loads(s.cli("schedule", "show", first["id"][:18], "--json")), id=first["id"])
    s.cli("schedule", "pause", first["id"][:18])
    has(s.get(f"/api/schedules/{first['id']}"), status="PAUSED")
    s.cli("schedule", "edit", first["id"][:18], "move it to 10am")
    check("BYHOUR=10" in s.get(f"/api/schedules/{first['id']}")["rrule"], "it was edited")
    team = s.cli("team", "start", "p", "--tasks", '[{"id":"a","title":"A"}]').strip()
    has(json.loads(s.cli("team", "show", "@last", "--json")), teamId=team)
    has(json.loads(s.cli("team", "show", team[:18], "--json")), teamId=team)


@test()
def states_come_in_any_case_and_times_in_words(s):
    task = s.create()
    for arguments in (("--state", "queued"), ("--state", "Queued,RUNNING"), ("--after", "1h"), ("--after", "2h ago"),
                      ("--after", "2020-01-01"), ("--before", "2100-01-01"), ("--priority", "normal")):
        same([t["id"] for t in json.loads(s.cli("ls", *arguments, "--json"))], [task["id"]], arguments)
    same(json.loads(s.cli("ls", "--before", "1h", "--json")), [])
    check("2h ago" in refused(s, "ls", "--after", "soon", expect=2), "an example is shown")
    later = s.cli("push", "t", "--at", "10m").strip()
    has(s.show(later), state="SCHEDULED")


@test()
def waiting_tasks_are_edited_and_ended_ones_removed(s):
    task = s.create()
    check("SCHEDULED" in s.cli("edit", task["id"], "--priority", "critical", "--at", "1h", "--timeout", "5s", "--max-retries", "7"))
    has(s.show(task), priority="CRITICAL", state="SCHEDULED", timeoutMs=5000, maxRetries=7)
    check("nothing to change" in refused(s, "edit", task["id"], expect=2))
    refused(s, "rm", task["id"])
    s.cli("cancel", "--type", task["taskType"], "--reason", "not now")
    has(s.show(task), state="CANCELLED", cancelReason="not now")


@test()
def documents_nodes_and_events_are_shown(s):
    holder, behind = s.create(documentId="page 1"), s.create(documentId="page 1")
    claimed = s.claim_one()
    check("page 1" in s.cli("documents") and holder["id"] in s.cli("documents"))
    shown = s.cli("documents", "page 1")
    check(behind["id"] in shown, "who waits is shown")
    same(shown.splitlines()[1].split()[-1], "1", "WAITING")
    check(f"127.0.0.1:{s.port}" in s.cli("nodes") and "leader" in s.cli("nodes"))
    process = subprocess.Popen([binary(), "events", "--types", "state", "--json", "--url", f"http://127.0.0.1:{s.port}"],
                               stdout=subprocess.PIPE, text=True)
    until_told(s, process)
    line = process.stdout.readline()
    process.terminate()
    process.wait()
    process.stdout.close()
    has(json.loads(line), event="state")
    s.complete(claimed)


def until_told(s, process):
    """Makes tasks until the stream has told of one: it may not have begun with the first."""
    while process.poll() is None and not select.select([process.stdout], [], [], 0.05)[0]:
        s.create()


@test()
def a_narrow_terminal_shows_ids_that_can_be_used(s):
    task = s.create("a-type-with-a-long-name", queue="a-queue-with-a-long-name")
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    subprocess.run([binary(), "ls", "--url", f"http://127.0.0.1:{s.port}"], stdout=theirs, check=True)
    os.close(theirs)
    seen = os.read(ours, 65536).decode()
    os.close(ours)
    check(task["id"][:18] in seen and task["id"] not in seen, seen)
    has(json.loads(s.cli("show", seen.splitlines()[1].split()[0], "--json")), id=task["id"])
    check(task["id"] in s.cli("ls"), "a file gets all of it")


@test()
def no_list_is_wider_than_a_narrow_terminal(s):
    s.create("a-type-with-a-long-name", queue="a-queue-with-a-long-name", documentId="page", priority="HIGH")
    s.create("other", queue="a-queue-with-a-long-name")
    s.call("PUT", "/api/queues/a-queue-with-a-long-name", {"maxConcurrent": 40, "ratePerSecond": 2.5, "burst": 40}, 200)
    s.claim_one("a worker with a long name:1", queues=["a-queue-with-a-long-name"])
    s.post("/api/schedules", {"title": "a report with a long title", "cron": "30 2 * * 1-5", "timezone": "Europe/Paris",
                              "userId": "somebody"}, 201)
    for words in (["ls"], ["queues"], ["documents"], ["documents", "page"], ["workers"], ["nodes"], ["schedules"], ["stats"], ["top"]):
        with Terminal(words, s.port) as terminal:
            if words == ["top"]:
                terminal.until(lambda text: "busy" in text)
            else:
                same(terminal.end(), 0, words)
            check(words != ["queues"] or "a-queue-with-a-long-name " in terminal.text, "a queue's name is shown whole")
    check("PRIORITY" in s.cli("ls"), "a file gets every column")


@test()
def numbers_have_units_and_times_are_exact(s):
    task = s.create(maxRetries=3, backoff={"baseMs": 60000})
    s.fail(s.claim_one(), error={"message": "boom"})
    stats = s.cli("stats")
    check("PerSecond" in stats and "/s" in stats and "ms" in stats and '"' not in stats, stats)
    shown = s.cli("show", task["id"])
    check("5m 0s" in shown and "ran " in shown and task["createdAt"] in shown and "ago)" in shown, shown)
    why = s.cli("why", task["id"])
    check(": retries in " in why and ", at 20" in why, why)


@test()
def a_queue_that_is_not_there_is_not_paused_by_mistake(s):
    check("--yes" in refused(s, "queues", "pause", "nosuch"))
    same(s.get("/api/queues"), [])
    s.cli("queues", "pause", "nosuch", "--yes")
    has(s.get("/api/queues/nosuch"), paused=True)
    s.create(queue="there")
    s.cli("queues", "pause", "there")
    has(s.get("/api/queues/there"), paused=True)


@test(server=False)
def errors_say_the_next_step(nest):
    said = nest.run("ls", "--url", "http://127.0.0.1:1", expect=1).stderr
    check("nothing listens at http://127.0.0.1:1" in said and "errand serve" in said, said)
    check("create" in nest.run("token", expect=2).stderr, "the group is explained")
    check("create" in nest.run("token", "--help").stdout and "create" in nest.run("help", "token").stdout)
    check("queues pause" in nest.run("queues", "--help").stdout, "what belongs to it is named")


@test(server=False)
def a_missing_token_is_asked_for(nest):
    data = nest.folder()
    nest.run("token", "create", "--role", "admin", "--data", data)
    s = nest.server(data=data)
    check("ERRAND_TOKEN" in s.nest.run("ls", "--url", f"http://127.0.0.1:{s.port}", expect=1).stderr)


@test()
def a_crontab_is_taken_over_whole_or_not_at_all(s):
    text = ('CRON_TZ=Europe/Paris\nMAILTO=""\n# a comment\n\n*/5 * * * * report a\\%b\n@daily backup --all\n')
    good = s.nest.file("good", text)
    bad = s.nest.file("bad", text + "@reboot warm up\nPATH=/bin\n61 * * * * never\n0 9 * * * mail %text\n0 9 * * *\n")
    said = refused(s, "import", "crontab", bad)
    for line in ("line 7: @reboot", "line 8: PATH", "line 9: ", "line 10: ", "line 11: there is no command", "--skip"):
        check(line in said, f"{line} is not in {said}")
    same(s.get("/api/schedules"), [])
    taken = json.loads(s.cli("import", "crontab", good, "--json"))
    same([t["line"] for t in taken], [5, 6])
    has(s.get(f"/api/schedules/{taken[0]['id']}"), timezone="Europe/Paris", taskType="cron",
        payload={"command": "report a%b"}, title="report a%b")
    s.cli("import", "crontab", bad, "--skip", "--type", "job")
    same(len(s.get("/api/schedules")), 4)
    odd = s.nest.file("odd", "0 9 * * * cut -d'\t' list\r\n0 0 30 2 * never\r\n@reboot warm up\r\n")
    run = s.nest.run("import", "crontab", odd, "--skip", "--json", "--url", f"http://127.0.0.1:{s.port}")
    taken = json.loads(run.stdout)
    same([t["line"] for t in taken], [1], "what never occurs is left out, too")
    has(s.get(f"/api/schedules/{taken[0]['id']}"), payload={"command": "cut -d'\t' list"}, title="cut -d' ' list")
    same([json.loads(line)["error"]["message"][:6] for line in run.stderr.splitlines()], ["line 3", "line 2"])
    system = s.nest.file("system", "0 9 * * * root /usr/bin/true\n")
    taken = json.loads(s.cli("import", "crontab", system, "--system", "--json", "--timezone", "Asia/Tokyo"))
    has(s.get(f"/api/schedules/{taken[0]['id']}"), payload={"command": "/usr/bin/true"}, timezone="Asia/Tokyo")


@test()
def why_says_who_asked_and_was_quieted(s):
    s.claim("w 1", max=1)
    s.post("/api/workers/w%201/quiet", {}, 200)
    s.claim("w 1", max=1)
    task = s.create()
    why = s.cli("why", task["id"])
    check("worker w 1 asked 0 s ago and was told to be quiet" in why, why)
    has(s.get(f"/api/tasks/{task['id']}/why")["reasons"][0], code="no_worker", workerId="w 1")
    s.post("/api/workers/w%201/resume", {}, 200)
    check("is busy" in s.cli("why", task["id"]), "it is heeded again")


@test()
def json_has_one_shape(s):
    one, two = s.create("t", documentId="d"), s.create("t")
    for words in (("ls",), ("queues",), ("workers",), ("nodes",), ("documents",), ("schedules",), ("team",)):
        check(isinstance(json.loads(s.cli(*words, "--json")), list), words)
    for words in (("show", one["id"]), ("why", one["id"]), ("stats",), ("queues", "pause", "default"), ("documents", "d"), ("cancel", "--type", "no")):
        check(isinstance(json.loads(s.cli(*words, "--json")), dict), words)
    rows = [json.loads(line) for line in s.cli("cancel", two["id"], one["id"], "--json").splitlines()]
    same([(row["id"], row["state"]) for row in rows], [(two["id"], "CANCELLED"), (one["id"], "CANCELLED")])
    rows = [json.loads(line) for line in s.cli("rm", one["id"][:18], two["id"], "--json").splitlines()]
    same(rows, [{"id": task["id"], "removed": True} for task in (one, two)])
    made = json.loads(s.cli("token", "create", "--role", "admin", "--name", "n", "--data", s.data, "--json"))
    has(json.loads(s.cli("token", "ls", "--data", s.data, "--json"))[0], id=made["id"], name="n")
    s.token = made["token"]


@test()
def an_error_in_json_is_the_apis_object(s):
    for words, status, code, field in (
            (("show", "0192f3a1-7c1e-7000-8000-000000000001"), 1, "not_found", None), (("show",), 2, "invalid_argument", None),
            (("ls", "--state", "no"), 1, "invalid_argument", "state"), (("push", "t", "{"), 2, "invalid_argument", None),
            (("ls", "--stat", "x"), 2, "invalid_argument", None), (("schedule", "remind me"), 1, "unprocessable", None)):
        error = json.loads(refused(s, *words, "--json", expect=status))["error"]
        has(error, code=code, field=field)
        check(error["message"], words)
    away = s.nest.run("ls", "--json", "--url", "http://127.0.0.1:1", expect=1).stderr
    same(json.loads(away)["error"]["code"], "unavailable")


main()
