# tests/remote/test_remote.py: liberrand against a real server that comes and goes.
#
# SPDX-License-Identifier: MIT
"""System tests of liberrand."""
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "system"))
from errand import SANITIZER, check, main, same, test, wait_for  # noqa: E402


class Driver:
    """tests/remote/driver.c, and what it answers."""

    def __init__(self, s, *arguments, env=None):
        address = [] if env else [f"http://127.0.0.1:{s.port}"]
        self.process = subprocess.Popen(
            [os.environ["ERRAND_DRIVER"], *address, *arguments], env={**os.environ, **(env or {})},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        s.nest.closing.append(self)
        self.said = self.process.stdout.readline().strip()

    def tell(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def hear(self):
        return self.process.stdout.readline().strip()

    def do(self, line):
        self.tell(line)
        return self.hear()

    def end(self):
        """Closes its input; it frees the client and ends well."""
        _, errors = self.process.communicate()
        check(not SANITIZER.search(errors), errors)
        same(self.process.returncode, 0, "its exit status: " + errors)

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()


def stay(s):
    """A restart will listen where the server listens now."""
    s.command[3] = f"127.0.0.1:{s.port}"
    return s


def numbers(s):
    """The payloads of all tasks, oldest first."""
    found, cursor = [], None
    while True:
        answer = s.call("GET", "/api/tasks?limit=500" + (f"&cursor={cursor}" if cursor else ""))
        found += [task["payload"]["n"] for task in answer.json]
        link = answer.headers.get("link", "")
        if 'rel="next"' not in link:
            return found[::-1]
        cursor = link.split("cursor=")[1].split(">")[0].split("&")[0]


@test()
def a_thousand_creates_survive_an_outage_in_order_none_lost_none_doubled(s):
    stay(s)
    spool = os.path.join(s.nest.root, "spool")
    driver = Driver(s, spool)
    same(driver.said, "ready")
    s.kill()
    same(driver.do("create work 1000"), "created 0 spooled 1000 failed 0")
    s.restart()
    same(driver.do("flush 60000"), "flushed 0")
    same(numbers(s), list(range(1000)))
    same(os.path.getsize(spool), 32, "the size of an empty spool")
    same(driver.do("create work 1"), "created 1 spooled 0 failed 0")
    driver.end()


@test()
def the_environment_says_which_server_and_by_which_token(s):
    token = s.nest.run("token", "create", "--role", "admin", "--data", s.data).stdout.strip()
    wait_for(lambda: s.raw("GET", "/api/tasks").status == 401, "the need of a token")
    s.token = token
    driver = Driver(s, env={"ERRAND_URL": f"http://127.0.0.1:{s.port}", "ERRAND_TOKEN": s.token})
    same(driver.do("create work 1"), "created 1 spooled 0 failed 0")
    same(numbers(s), [0])
    driver.end()


@test()
def a_spool_outlives_its_process(s):
    stay(s)
    spool = os.path.join(s.nest.root, "spool")
    driver = Driver(s, spool)
    s.kill()
    same(driver.do("create work 20"), "created 0 spooled 20 failed 0")
    driver.close()
    s.restart()
    other = Driver(s, spool)
    same(other.do("flush 60000"), "flushed 0")
    same(numbers(s), list(range(20)))
    other.end()


@test()
def a_server_that_dies_while_the_spool_is_sent_gets_the_rest_later(s):
    stay(s)
    driver = Driver(s, os.path.join(s.nest.root, "spool"))
    s.kill()
    same(driver.do("create work 600"), "created 0 spooled 600 failed 0")
    s.restart()
    wait_for(lambda: s.list(limit=1), "the first task")
    s.restart()
    same(driver.do("flush 60000"), "flushed 0")
    same(numbers(s), list(range(600)))
    driver.end()


@test()
def what_the_server_refuses_is_put_aside_and_holds_up_nothing(s):
    stay(s)
    spool = os.path.join(s.nest.root, "spool")
    driver = Driver(s, spool)
    s.kill()
    same(driver.do("create " + "x" * 63 + " 2"), "created 0 spooled 2 failed 0")
    same(driver.do("create \x01 1"), "created 0 spooled 1 failed 0")
    same(driver.do("create work 2"), "created 0 spooled 2 failed 0")
    s.restart()
    same(driver.do("flush 60000"), "flushed 0")
    same(numbers(s), [0, 1, 0, 1])
    with open(spool + ".refused", encoding="utf-8") as handle:
        same(len(handle.read().splitlines()), 1, "lines that were refused")
    driver.end()


@test()
def a_create_without_a_spool_waits_for_the_server(s):
    stay(s)
    driver = Driver(s)
    s.kill()
    driver.tell("create work 3")
    s.restart()
    same(driver.hear(), "created 3 spooled 0 failed 0")
    same(numbers(s), [0, 1, 2])
    driver.end()


@test()
def a_refused_create_says_why(s):
    driver = Driver(s)
    same(driver.do("create \x01 1"), "created 0 spooled 0 failed 1 invalid_argument")
    driver.end()


@test()
def finishes_travel_together_and_each_is_answered(s):
    driver = Driver(s)
    same(driver.do("create work 50"), "created 50 spooled 0 failed 0")
    same(driver.do("claim work 50"), "claimed 50")
    driver.do("finish complete")
    same(driver.do("await"), "answered 50 good 50 last 200")
    done = s.list(state="COMPLETED", limit=100)
    same(len(done), 50)
    check(all(task["result"] == task["payload"] for task in done), "a result is not its payload")
    driver.end()


@test()
def a_worker_in_its_rhythm_finishes_with_its_next_claim(s):
    driver = Driver(s)
    same(driver.do("create work 100"), "created 100 spooled 0 failed 0")
    same(driver.do("rhythm work 100"), "done 100 good 100")
    same(len(s.list(state="COMPLETED", limit=200)), 100)
    commands = {name: float(count) for name, count in re.findall(
        r'^errand_commands_total\{protocol="http",command="(\w+)"\} (\S+)$', s.call("GET", "/metrics").body.decode(), re.M)}
    check(commands.get("finish", 0) < 100, f"each finish was a request of its own: {commands}")
    driver.end()


@test()
def a_claim_waits_for_a_server_that_is_away(s):
    stay(s)
    driver = Driver(s)
    s.create("work")
    s.kill()
    driver.tell("claim work 1")
    s.restart()
    same(driver.hear(), "claimed 1")
    driver.do("finish fail")
    same(driver.do("await"), "answered 1 good 1 last 200")
    task = s.list()[0]
    same(task["state"], "FAILED")
    same(task["error"], {"code": "no_luck", "message": "it did not work", "detail": {"why": 1}})
    driver.end()


@test()
def a_finish_is_said_again_when_the_server_is_back(s):
    stay(s)
    driver = Driver(s)
    same(driver.do("create work 3"), "created 3 spooled 0 failed 0")
    same(driver.do("claim work 3"), "claimed 3")
    s.kill()
    driver.do("finish release")
    s.restart()
    driver.do("await")
    wait_for(lambda: len(s.list(state="QUEUED")) == 3 or len(s.list(state="RETRYING")) > 0)
    driver.end()


@test()
def leases_are_renewed_for_as_long_as_a_job_is_held(s):
    driver = Driver(s)
    task = s.create("work")
    same(driver.do("claim work 1"), "claimed 1")
    first = s.show(task)["leaseExpiresAt"]
    wait_for(lambda: s.show(task).get("leaseExpiresAt", "") > first, "a renewal")
    same(s.state(task), "RUNNING")
    driver.end()
    same(s.state(task), "QUEUED")


@test()
def progress_and_logs_travel_with_the_heartbeats(s):
    driver = Driver(s)
    task = s.create("work")
    same(driver.do("claim work 1"), "claimed 1")
    driver.do("report halfway")
    wait_for(lambda: s.show(task).get("progress") == {"percent": 40, "message": "halfway"})
    wait_for(lambda: "a line" in str(s.show(task)["attempts"][0].get("log")))
    driver.do("finish complete")
    driver.end()
    same(s.state(task), "COMPLETED")


@test()
def a_cancel_is_told_to_the_worker(s):
    driver = Driver(s)
    task = s.create("work")
    same(driver.do("claim work 1"), "claimed 1")
    s.cancel(task, expect=202)
    same(driver.do("stopped"), "stopped 1 1")
    driver.do("finish release")
    same(driver.do("await"), "answered 1 good 1 last 200")
    same(s.state(task), "CANCELLED")
    driver.end()


@test()
def a_lost_lease_is_told_to_the_worker_and_a_late_finish_changes_nothing(s):
    driver = Driver(s)
    task = s.create("work", timeoutMs=100, maxRetries=0)
    same(driver.do("claim work 1"), "claimed 1")
    same(driver.do("stopped"), "stopped 2 2")
    wait_for(lambda: s.state(task) == "TIMEOUT")
    driver.do("finish complete")
    same(driver.do("await"), "answered 1 good 0 last 409")
    same(s.state(task), "TIMEOUT")
    driver.end()


@test()
def a_spool_in_use_is_refused(s):
    spool = os.path.join(s.nest.root, "spool")
    first = Driver(s, spool)
    second = Driver(s, spool)
    check("another process" in second.said, second.said)
    first.end()


@test()
def a_stopped_worker_claims_no_more_and_gives_back_what_it_holds(s):
    task = s.create("t")
    driver = Driver(s)
    same(driver.do("claim t 1"), "claimed 1")
    worker = s.show(task)["workerId"]
    s.post(f"/api/workers/{worker}/stop")
    same(driver.do("claim t 1"), "claimed -1 stopped")
    driver.end()
    same(s.state(task), "QUEUED")


if __name__ == "__main__":
    main()
