# tests/system/test_commands.py: commands end with the server that started them. See stamps.py.
#
# SPDX-License-Identifier: MIT
import os
import resource
import signal
import subprocess

from errand import binary, check, has, main, same, test, wait_for
from stamps import Stamps, all_gone, is_alive, order, parent_of


@test(server=False)
def two_attempts_on_a_document_never_overlap_across_kill_9(nest):
    stamps = Stamps(nest)
    s = nest.server(args=stamps.args)
    task = s.create("stamp", **order())
    for attempt in (1, 2, 3):
        stamps.all_run(attempt)
        s.restart()
    last = stamps.all_run(4)
    stamps.check_order()
    s.cancel(task, expect=202)
    has(s.show(task, waitMs=30000), state="CANCELLED")
    check(not any(map(is_alive, last)), "the task has ended, its processes have not")
    same([a["outcome"] for a in s.show(task)["attempts"]], ["LOST"] * 3 + ["CANCELLED"])


@test(server=False)
def commands_end_with_a_server_that_is_not_started_again(nest):
    stamps = Stamps(nest)
    s = nest.server(args=stamps.args)
    s.create("stamp", **order())
    pids = stamps.all_run(1)
    s.kill()
    all_gone(pids)


@test(server=False)
def the_next_server_waits_for_what_the_last_one_left(nest):
    """The minder is held up: what it minds lives on, and the document is not given on."""
    stamps = Stamps(nest)
    s = nest.server(args=stamps.args)
    s.create("stamp", **order())
    leader = stamps.all_run(1)[0]
    minder = parent_of(leader)
    os.kill(minder, signal.SIGSTOP)
    s.kill()
    s.examine()
    s.start(wait=False)
    wait_for(lambda: "waiting for the commands of the last server" in s.stderr(), "its word")
    check(is_alive(leader), "the command ended without its minder")
    os.kill(minder, signal.SIGCONT)
    line = s.process.stdout.readline().decode()
    check("ready on" in line, line)
    s.port = int(line.rsplit(":", 1)[1])
    stamps.all_run(2)
    stamps.check_order()


@test(server=False)
def a_starter_that_is_killed_harms_nothing(nest):
    stamps = Stamps(nest)
    s = nest.server(args=stamps.args)
    task = s.create("stamp", **order())
    pids = stamps.all_run(1)
    os.kill(parent_of(parent_of(pids[0])), signal.SIGKILL)
    s.cancel(task, expect=202)
    has(s.show(task, waitMs=30000), state="CANCELLED")
    check(not any(map(is_alive, pids)), "something is left")
    other = s.create("stamp", **order(maxRetries=0))
    wait_for(lambda: s.state(other) == "RUNNING", "another start")
    s.kill()
    wait_for(lambda: not any(is_alive(int(line[2])) for line in stamps.lines()), "their end")


@test()
def commands_of_errand_work_end_with_it(s):
    stamps = Stamps(s.nest)
    worker = subprocess.Popen(
        [binary(), "work", "--type", "stamp", "--url", f"http://127.0.0.1:{s.port}", "--lease",
         "1s", "--", stamps.script, stamps.log], stderr=subprocess.DEVNULL)
    try:
        task = s.create("stamp", **order())
        pids = stamps.all_run(1)
    finally:
        worker.kill()
        worker.wait()
    all_gone(pids)
    has(s.show(task), attempt=1)


# ---- A server that has no room for a command ----


def limit_files(s, most):
    resource.prlimit(s.process.pid, resource.RLIMIT_NOFILE, (most, 4096))


@test(server=False)
def without_descriptors_a_command_is_given_back_and_uses_no_retry(nest):
    config = nest.file("c.conf", "[handler.x]\nexec = /bin/true\n[workers]\ncount = 1\n")
    s = nest.server(args=("--config", config))
    s.get("/healthz")  # a connection that stays open
    limit_files(s, len(os.listdir(f"/proc/{s.process.pid}/fd")))
    task = s.create("x", maxRetries=0)
    wait_for(lambda: len(s.show(task)["attempts"]) > 1, "a second try")
    has(s.show(task), retries=0)
    same({a["outcome"] for a in s.show(task)["attempts"] if "outcome" in a}, {"RELEASED"})
    same(s.stderr().count("cannot be started here"), 1, "how often it was said")
    limit_files(s, 1024)
    has(s.show(task, waitMs=30000), state="COMPLETED", retries=0)


@test(server=False)
def without_descriptors_a_push_is_given_back_and_uses_no_retry(nest):
    config = nest.file("c.conf", "[handler.x]\nurl = http://127.0.0.1:9/\n"
                                 "[push]\nallow_private = true\n")
    s = nest.server(args=("--config", config))
    s.get("/healthz")
    limit_files(s, len(os.listdir(f"/proc/{s.process.pid}/fd")))
    task = s.create("x", maxRetries=0)
    wait_for(lambda: len(s.show(task)["attempts"]) > 1, "a second try")
    has(s.show(task), retries=0)
    same({a["outcome"] for a in s.show(task)["attempts"] if "outcome" in a}, {"RELEASED"})
    same(s.stderr().count("cannot be started here"), 1, "how often it was said")
    limit_files(s, 1024)
    same(s.show(task, waitMs=30000)["error"]["code"], "unreachable")


main()
