# tests/system/test_watch.py: errand watch, on a terminal of 80 columns and into a pipe.
#
# SPDX-License-Identifier: MIT
import json
import subprocess
import threading

from errand import binary, check, has, main, same, test, together, wait_for
from terminal import Terminal


class Piped:
    """A watch into a pipe; its lines as they come."""

    def __init__(self, s, *arguments):
        self.process = subprocess.Popen([binary(), "watch", *arguments, "--url", f"http://127.0.0.1:{s.port}"],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=s.nest.root)
        self.lines, self.said = [], []
        self.readers = [threading.Thread(target=lambda file=file, into=into: into.extend(iter(file.readline, "")))
                        for file, into in ((self.process.stdout, self.lines), (self.process.stderr, self.said))]
        for reader in self.readers:
            reader.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.end()

    def end(self):
        status = self.process.wait()
        for reader in self.readers:
            reader.join()
        self.process.stdout.close()
        self.process.stderr.close()
        return status

    def until(self, word):
        wait_for(lambda: any(word in line for line in self.lines + self.said), f"{word} in a watch")


# ---- Into a pipe ----


@test()
def watch_follows_the_events(s):
    with Piped(s, "--json") as watch:
        wait_for(lambda: watch.lines or (s.create("watched") and False), "a line of watch")
        line = json.loads(watch.lines[0])
        same(sorted(line), ["data", "event"])
        has(line["data"], taskType="watched", state="QUEUED")


@test()
def watch_of_one_task_ends_with_it(s):
    task = s.create()
    claimed = s.claim_one()
    out, _ = together(lambda: s.cli("watch", task["id"]),
                      lambda: (s.heartbeat(claimed, log="halfway"), s.complete(claimed)))
    check("COMPLETED" in out, out)


@test()
def watch_ends_with_1_when_what_it_watched_failed(s):
    task = s.create(maxRetries=0)
    s.fail(s.claim_one(), error={"code": "c", "message": "no such file"})
    check("no such file" in s.cli("watch", task["id"], expect=1), "the error is shown")
    cancelled = s.create()
    s.post(f"/api/tasks/{cancelled['id']}/cancel", {"reason": "not needed"}, 200)
    check("not needed" in s.cli("watch", cancelled["id"], expect=1), "the reason is shown")
    parent = s.post("/api/tasks", {"taskType": "p", "children": [{"taskType": "c", "maxRetries": 0}]}, 201)
    s.fail(s.claim_one(), retry=False)
    same(json.loads(s.cli("watch", parent["id"], "--json", expect=1).splitlines()[-1])["data"]["state"], "FAILED")


@test()
def watch_of_a_batch_shows_its_children_below_it(s):
    parent = s.post("/api/tasks", {"taskType": "p", "children": [{"taskType": "one"}, {
        "taskType": "inner", "children": [{"taskType": "leaf"}]}]}, 201)

    def work():
        for _ in range(2):
            s.complete(s.claim_one())
    out, _ = together(lambda: s.cli("watch", parent["id"]), work)
    lines = [line[36:].rstrip() for line in out.splitlines()]
    for line in ("  COMPLETED    one  100%", "  COMPLETED      leaf  100%", "  COMPLETED    inner  100%"):
        check(line in lines, out)
    check(any(line.startswith("  COMPLETED  p  100%") for line in lines), out)
    over = s.cli("watch", parent["id"])
    check("leaf" in over, f"the tree of a batch that has ended: {over}")


@test()
def a_filter_says_what_is_watched_and_until_done_when_it_ends(s):
    s.create("other")
    s.cli("watch", "--type", "mine", "--until-done")
    s.create("mine", queue="q", documentId="d")
    claimed = s.claim_one(queues=["q"])
    with Piped(s, "--type", "mine", "--queue", "q", "--doc", "d", "--until-done") as watch:
        watch.until("RUNNING    mine")
        s.create("mine", queue="elsewhere", documentId="d")
        s.fail(claimed, retry=False, error={"code": "c", "message": "broken"})
        same(watch.end(), 1)
    same([line.split()[1] for line in watch.lines], ["RUNNING", "FAILED"])
    check("broken" in watch.lines[1], watch.lines)
    s.nest.run("watch", claimed["id"], "--type", "mine", expect=2)


@test()
def a_watch_says_when_it_is_cut_off_and_what_it_missed_meanwhile(s):
    task, other = s.create("missed"), s.create("goes-on")
    claimed = s.claim_one(leaseMs=600000)
    s.claim_one(leaseMs=600000)
    with Piped(s) as watch:
        watch.until(other["id"])
        port = s.port
        s.kill()
        watch.until("disconnected")
        # It comes back at another address first, where the watch does not see it.
        s.restart()
        s.complete(claimed)
        s.kill()
        s.command[s.command.index("--listen") + 1] = f"127.0.0.1:{port}"
        s.restart()
        watch.until("connected again")
        watch.until("COMPLETED  missed")
        states = [line.split()[1] for line in watch.lines if other["id"] in line]
        same(states, ["RUNNING"])
    check(task["id"] in "".join(watch.lines))
    same([line.split(",")[0].split(":")[-1].strip() for line in watch.said], ["disconnected", "connected again"])


# ---- On a terminal ----


@test()
def a_terminal_shows_what_runs_first_and_folds_the_rest(s):
    s.create("broken", maxRetries=0)
    failing = s.claim_one()
    s.create("again", maxRetries=1, backoff={"baseMs": 3600000})
    s.fail(s.claim_one(), error={"code": "c", "message": "no mail server"})
    s.create("a-long-job-of-somebody")
    running = s.claim_one()
    s.heartbeat(running, progress={"percent": 40, "message": "half of the third paragraph of the second chapter"})
    for _ in range(30):
        s.create("waits")
    s.create("later", delayMs=3600000)
    with Terminal(["watch"], s.port) as terminal:
        terminal.until(lambda text: "QUEUED 30" in text and "40%" in text)
        s.fail(failing, error={"code": "c", "message": "no such file"}, retry=False)
        text = terminal.until(lambda text: "no such file" in text)
        s.complete(s.claim_one())
        last = terminal.until(lambda text: "COMPLETED 1" in text and "QUEUED 29" in text)
    lines = text.splitlines()
    same(lines[0], "RUNNING 1")
    check(running["id"][:18] in lines[1] and "[####......]  40%" in lines[1], text)
    same([line.split()[0] for line in lines if line[0] != " "], ["RUNNING", "RETRYING", "FAILED", "QUEUED", "SCHEDULED"])
    check("retries in 59m" in text and "no mail server" in text, text)
    check("waits" not in text.replace("waits x", ""), f"what waits is folded: {text}")
    check("COMPLETED 1  waits" in last, last)


@test()
def a_terminal_shows_a_batch_with_its_children_folded(s):
    parent = s.post("/api/tasks", {"taskType": "p", "children": [{"taskType": "one"}] * 3}, 201)
    claimed = s.claim_one()
    s.heartbeat(claimed, progress={"percent": 40, "message": "halfway"})
    with Terminal(["watch", parent["id"]], s.port, columns=120) as terminal:
        text = terminal.until(lambda text: "halfway" in text)
        check(text.startswith("RUNNING  " + parent["id"]) and "WAITING 2  one x2" in text, text)
        s.complete(claimed)
        terminal.until(lambda text: " 33%" in text)
        for _ in range(2):
            s.complete(s.claim_one())
        same(terminal.end(), 0)
    lines = terminal.text.splitlines()
    check(lines[0].startswith("COMPLETED  " + parent["id"]) and "ran " in lines[0], terminal.text)
    same(lines[1:], ["COMPLETED 3  one x3"])


@test()
def more_than_fits_is_counted_on_a_small_terminal(s):
    for _ in range(20):
        s.create("t")
    s.claim(max=20)
    with Terminal(["watch"], s.port, columns=60, rows=10) as terminal:
        text = terminal.until(lambda text: "RUNNING 20" in text)
    check("the longest" in text and len(text.splitlines()) < 10, text)


@test()
def a_terminal_says_that_the_server_is_away_until_it_is_back(s):
    s.create("t")
    s.claim_one(leaseMs=600000)
    with Terminal(["watch"], s.port) as terminal:
        terminal.until(lambda text: "RUNNING 1" in text)
        s.command[s.command.index("--listen") + 1] = f"127.0.0.1:{s.port}"
        s.kill()
        terminal.until(lambda text: text.startswith("disconnected, trying again"))
        s.restart()
        terminal.until(lambda text: "disconnected" not in text and "RUNNING 1" in text)


main()
