# tests/system/test_cli.py: the command line as its users type it.
#
# SPDX-License-Identifier: MIT
import json
import os
import subprocess

from errand import START, UUID7, binary, check, has, main, same, test, together

COMMANDS = ("serve", "push", "ls", "show", "why", "cancel", "retry", "watch", "stats", "schedule", "schedules", "queues",
            "workers",
            "migrate", "token", "bench", "doctor", "completion")


def push(s, *arguments, **options):
    ident = s.cli("push", *arguments, **options).strip()
    check(UUID7.match(ident), f"not an id: {ident!r}")
    return ident


# ---- Help and usage ----


@test(server=False)
def help_is_there_for_every_command(nest):
    overview = nest.run("help").stdout
    same(nest.run("--help").stdout, overview)
    for command in COMMANDS:
        check(command in overview, f"{command} is not in the overview")
        if command != "token":
            said = nest.run(command, "--help").stdout
            check(command in said and "Usage" in said, said)
    for verb in ("create", "ls", "revoke"):
        check("Usage" in nest.run("token", verb, "--help").stdout)
    check(nest.run("--version").stdout.strip(), "no version")


@test(server=False)
def wrong_usage_is_2_and_says_why(nest):
    for arguments in ((), ("nope",), ("push",), ("push", "t", "--nope"), ("push", "t", "{bad"),
                      ("push", "t", "--delay", "soon"), ("show",), ("ls", "--limit", "x"),
                      ("cancel",), ("token", "create", "--data", "x"), ("serve", "--listen"),
                      ("token", "create", "--role", "boss", "--data", "x"), ("completion", "tcsh"), ("push", "t", "1", "2"), ("serve", "extra"),
                      ("push", "t", "@/no/such/file")):
        run = nest.run(*arguments, expect=2)
        check(run.stderr.strip() and not run.stdout.strip(), f"{arguments}: {run}")


@test(server=False)
def without_a_server_client_commands_fail_with_1(nest):
    for arguments in (("ls",), ("push", "t"), ("stats",), ("queues",), ("show", "x")):
        run = nest.run(*arguments, expect=1, env={"ERRAND_URL": "http://127.0.0.1:1"})
        check("127.0.0.1:1" in run.stderr, run.stderr)
    run = nest.run("ls", "--url", "ftp://x", expect=None)
    check(run.returncode in (1, 2) and run.stderr)


# ---- Schedules ----


@test(server=False)
def explain_shows_what_a_sentence_means(nest):
    at = ("--timezone", "Europe/Paris", "--now", "2027-03-01T10:00:00")
    said = nest.run("schedule", "--explain", "every Monday at 9am water the plants", *at).stdout
    for part in ("how often", "what time", "the task", "FREQ=WEEKLY;BYDAY=MO;BYHOUR=9;BYMINUTE=0",
                 "2027-03-08T09:00:00+01:00", "2027-04-05T09:00:00+02:00"):
        check(part in said, f"{part} is not in {said}")
    answer = json.loads(nest.run("schedule", "--explain", "tomorrow at 5pm call mom", *at, "--json").stdout)
    same((answer["isOneTime"], answer["title"], answer["dtstart"], answer["next"]),
         (True, "call mom", "2027-03-02T17:00:00", ["2027-03-02T16:00:00.000Z"]))


@test(server=False)
def explain_says_why_it_refuses(nest):
    run = nest.run("schedule", "--explain", "remind", "me", "soon", expect=1)
    check("vague" in run.stderr, run.stderr)
    answer = json.loads(nest.run("schedule", "--explain", "buy milk", "--json", expect=1).stdout)
    check(answer["mode"] == "REFUSAL" and answer["refusal"]["fields"] and answer["refusal"]["reason"])
    nest.run("schedule", "--explain", "tomorrow", "--timezone", "Mars/Olympus", expect=2)


# ---- Push ----


@test()
def push_creates_a_task_with_every_option(s):
    ident = push(s, "mail", '{"to": 7}', "--doc", "d 1", "--priority", "HIGH", "--delay", "10m",
                 "--key", "k", "--queue", "q", "--tag", "a", "--tag", "b", "--max-retries", "9",
                 "--timeout", "90s")
    has(s.show(ident), taskType="mail", payload={"to": 7}, documentId="d 1", priority="HIGH",
        state="SCHEDULED", idempotencyKey="k", queue="q", tags=["a", "b"], maxRetries=9,
        timeoutMs=90000)
    same(push(s, "mail", "--key", "k"), ident)
    has(s.show(push(s, "t", "--at", "2100-01-01T00:00:00Z")), scheduledAt="2100-01-01T00:00:00.000Z")
    task = json.loads(s.cli("push", "t", "[1,2]", "--json"))
    has(task, taskType="t", payload=[1, 2], state="QUEUED")


@test()
def push_reads_payloads_from_files_and_standard_input(s):
    path = s.nest.file("payload.json", b'{ "n": 12345678901234567890 }\n')
    ident = push(s, "t", f"@{path}")
    check(b'{ "n": 12345678901234567890 }' in s.raw("GET", f"/api/tasks/{ident}").body)
    same(s.show(push(s, "t", "-", stdin='{"from":"stdin"}'))["payload"], {"from": "stdin"})
    check("payload" not in s.show(push(s, "t")))


@test()
def push_tells_what_the_server_refuses(s):
    for arguments in (("--priority", "URGENT"), ("--at", "soon"), ("--queue", "a b")):
        run = s.nest.run("push", "t", *arguments, expect=None,
                         env={"ERRAND_URL": f"http://127.0.0.1:{s.port}"})
        check(run.returncode in (1, 2) and run.stderr.strip(), f"{arguments}: {run}")
    same(s.list(), [])


@test()
def push_wait_prints_the_result(s):
    def work(end):
        task = s.claim_one(waitMs=30000)
        end(task)
    out, _ = together(lambda: s.cli("push", "t", "--wait"),
                      lambda: work(lambda t: s.complete(t, result={"sum": 3})))
    same(json.loads(out), {"sum": 3})
    out, _ = together(
        lambda: s.nest.run("push", "t", "--wait", expect=1,
                           env={"ERRAND_URL": f"http://127.0.0.1:{s.port}"}),
        lambda: work(lambda t: s.fail(t, retry=False, error={"code": "c", "message": "it broke"})))
    check("FAILED" in out.stderr and "it broke" in out.stderr, out.stderr)


# ---- Looking ----


@test()
def ls_lists_and_filters(s):
    first = push(s, "alpha", "--doc", "d", "--tag", "x")
    second = push(s, "beta", "--queue", "q", "--priority", "LOW")
    table = s.cli("ls")
    check("alpha" in table and "beta" in table and "QUEUED" in table, table)
    for arguments, expected in (
            ((), [second, first]), (("--type", "alpha"), [first]), (("--queue", "q"), [second]),
            (("--doc", "d"), [first]), (("--tag", "x"), [first]), (("--priority", "LOW"), [second]),
            (("--state", "RUNNING,FAILED"), []), (("--limit", "1"), [second]),
            (("--after", "2100-01-01T00:00:00Z"), [])):
        out = s.cli("ls", "--json", *arguments)
        rows = json.loads(out) if out.lstrip().startswith("[") else [
            json.loads(line) for line in out.splitlines()]
        same([row["id"] for row in rows], expected, str(arguments))
    s.cli("ls", "--state", "NOPE", expect=1)


@test()
def show_and_why_explain_a_task(s):
    ident = push(s, "alpha", '"secret payload"', "--doc", "d")
    shown = s.cli("show", ident)
    check("alpha" in shown and "QUEUED" in shown and ident in shown, shown)
    same(json.loads(s.cli("show", ident, "--json"))["id"], ident)
    claimed = s.claim_one("holder")
    other = push(s, "beta", "--doc", "d")
    why = s.cli("why", other)
    check("holder" in why and ident in why, why)
    same(json.loads(s.cli("why", other, "--json"))["reasons"][0]["code"], "document_locked")
    s.heartbeat(claimed, log=["one line", "another"])
    s.fail(claimed, error={"code": "c", "message": "the error text"})
    shown = s.cli("show", ident)
    check("the error text" in shown and "\n    | one line\n    | another\n" in shown, shown)
    s.cli("show", "018f0000-0000-7000-8000-000000000000", expect=1)
    s.cli("why", "018f0000-0000-7000-8000-000000000000", expect=1)


@test()
def cancel_and_retry_by_id_and_by_filter(s):
    first, second = push(s, "a"), push(s, "a")
    out = s.cli("cancel", first, "--reason", "wrong file")
    check("CANCELLED" in out, out)
    has(s.show(first), cancelReason="wrong file")
    same(s.cli("cancel", "--type", "a").strip(), "1")
    same(s.state(second), "CANCELLED")
    same(s.cli("retry", "--state", "CANCELLED").strip(), "2")
    s.complete(s.claim_one())
    s.cli("retry", first, expect=1)
    check("QUEUED" in s.cli("ls"))
    same(json.loads(s.cli("cancel", "--json", "--type", "a"))["count"], 1)


@test()
def stats_and_queues_print_tables_or_json(s):
    push(s, "a", "--queue", "mail")
    check("QUEUED" in s.cli("stats"))
    check(isinstance(json.loads(s.cli("stats", "--json")), dict))
    check("mail" in s.cli("queues"))
    same(json.loads(s.cli("queues", "--json"))[0]["name"], "mail")
    s.cli("queues", "set", "mail", "--max-concurrent", "2", "--rate", "1.5", "--burst", "3")
    has(s.get("/api/queues")[0], maxConcurrent=2, ratePerSecond=1.5, burst=3)
    s.cli("queues", "pause", "mail")
    has(s.get("/api/queues")[0], paused=True)
    check("paused" in s.cli("queues"))
    s.cli("queues", "resume", "mail")
    has(s.get("/api/queues")[0], paused=False)
    same(s.cli("queues", "purge", "mail").strip(), "1")


@test()
def hostile_texts_do_not_reach_the_terminal(s):
    s.create("t", documentId="\u202eevil", metadata={"a": "\x1b[31m"}, tags=["\u009b31m"])
    task = s.create("t")
    claimed = s.claim(max=2)
    s.fail(claimed[1], error={"code": "c", "message": "\x1b]0;owned\x07"}, retry=False)
    for out in (s.cli("ls"), s.cli("show", task["id"]), s.cli("show", claimed[0]["id"])):
        check("\x1b]" not in out and "\x07" not in out and "\u009b" not in out, repr(out))


@test()
def workers_are_listed_and_told(s):
    s.create()
    task = s.claim_one("w 1")
    check(task["id"] in s.cli("workers"), "the task is not shown")
    check("quiet" in s.cli("workers", "quiet", "w 1"), "no signal is shown")
    has(json.loads(s.cli("workers", "stop", "w 1", "--json")), id="w 1", state="busy", signal="stop")
    check("stop" in s.cli("workers", "ls"), "no signal in the list")
    check("stop" not in s.cli("workers", "resume", "w 1"), "it was resumed")
    check("seen lately" in s.nest.run("workers", "quiet", "nobody", "--url",
                                      f"http://127.0.0.1:{s.port}", expect=1).stderr)


# ---- Beside the server ----


@test(server=False)
def completion_is_a_script_that_bash_accepts(nest):
    script = nest.run("completion", "bash").stdout
    path = nest.file("completion.bash", script)
    os.symlink(binary(), os.path.join(nest.root, "errand"))
    asked = ("source %s; COMP_WORDS=(errand pu); COMP_CWORD=1; _errand; echo ${COMPREPLY[@]}; "
             "COMP_WORDS=(errand push --pri); COMP_CWORD=2; _errand; echo ${COMPREPLY[@]}; "
             "COMP_WORDS=(errand queues pa); COMP_CWORD=2; _errand; echo ${COMPREPLY[@]}" % path)
    run = subprocess.run(["bash", "-c", asked], capture_output=True, text=True, timeout=60, check=True,
                         env=dict(os.environ, PATH=nest.root + ":" + os.environ["PATH"]))
    for command in COMMANDS:
        check(command in nest.run("completion", "words", "--", "").stdout.split(), f"{command} is not completed")
    same(run.stdout.split(), ["push", "--priority", "pause"])


@test(clock=START)
def doctor_finds_nothing_wrong_beside_a_server_and_after_it(s):
    s.create(documentId="d")
    s.create("x", delayMs=1000)
    claimed = s.claim_one()
    s.doctor()
    s.complete(claimed)
    s.doctor()
    s.kill()
    s.doctor()


@test(server=False)
def doctor_complains_about_what_is_wrong(nest):
    s = nest.server()
    s.create()
    s.terminate()
    database = os.path.join(s.data, "errand.db")
    with open(database, "r+b") as handle:
        handle.write(b"this is no database file")
    run = nest.run("doctor", "--data", s.data, expect=1)
    check((run.stdout + run.stderr).strip())
    conf = nest.file("bad.conf", "[limits]\npayload = much\n")
    run = nest.run("doctor", "--config", conf, expect=None)
    check(run.returncode in (1, 2) and "bad.conf:2" in run.stdout + run.stderr, run)


@test(server=False)
def migrate_brings_a_folder_up_to_date(nest):
    folder = nest.folder()
    nest.run("migrate", "--data", folder)
    nest.run("migrate", "--data", folder)
    s = nest.server(data=folder)
    s.create()


@test(server=False)
def settings_come_from_file_environment_and_flags(nest):
    conf = nest.file("my.conf", "listen = 127.0.0.1:0\n[limits]\npayload = 100\n")
    s = nest.server(args=("--config", conf))
    s.refused("payload", 413, payload="x" * 200)
    s.terminate()
    s = nest.server(args=("--config", conf), env={"ERRAND_LIMITS_PAYLOAD": "1KiB"})
    s.create(payload="x" * 200)
    for text in ("nonsense = 1\n", "[limits]\npaylod = 1\n", "[nope]\na = 1\n", "listen\n"):
        bad = nest.file("bad.conf", text)
        said = nest.refuses("--config", bad, "--data", nest.folder())
        check("bad.conf" in said, said)


@test()
def bench_measures_a_server(s):
    for mode in ("create", "bulk", "claim", "life", "latency"):
        out = s.cli("bench", "--mode", mode, "--count", "50", "--connections", "2", "--json")
        check(isinstance(json.loads(out), dict), out)


@test()
def bench_does_not_measure_the_wait_for_a_task_that_never_comes(s):
    """Its last tasks are finished by themselves: two creates, two claims and two finishes."""
    out = json.loads(s.cli("bench", "--mode", "life", "--count", "2", "--connections", "1", "--json"))
    check(out["requests"] >= 6, out)


main()
