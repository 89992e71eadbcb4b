# bench/schedules.py: schedules: rules, sentences, a million of them, a year, and many at once: rows of bench/run.
#
# Rules and sentences are timed inside one program (time_rules), in CPU time; the rest is a server over HTTP. Runs are of
# `noop`, so a row counts what schedules cost and not what is done; their results go nowhere unless the row says WEB.
#
# SPDX-License-Identifier: MIT
"""Rows of schedules."""
import datetime
import http.client
import json
import os
import select
import socket
import subprocess
import time
import urllib.parse
import urllib.request

import rules

CONNECTIONS = 32
CLOCK = "2027-03-01T09:00:00Z"  # a Monday
NOOP = {"title": "bench", "taskType": "noop", "queue": "bench", "delivery": []}


# ---- A client that keeps many requests under way ----


class Pipe:
    """One connection with one request under way."""

    def __init__(self, url):
        address = urllib.parse.urlsplit(url)
        self.socket = socket.create_connection((address.hostname, address.port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.got = b""

    def ask(self, body):
        self.socket.sendall(b"POST /api/schedules HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                            b"Content-Length: %d\r\n\r\n%s" % (len(body), body))

    def answered(self):
        """Reads what is there; True when it was the end of an answer."""
        self.got += self.socket.recv(65536)
        head, mark, rest = self.got.partition(b"\r\n\r\n")
        if not mark:
            return False
        if not head.startswith(b"HTTP/1.1 201"):
            raise SystemExit(f"bench: {self.got.decode(errors='replace')}")
        length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
        if len(rest) < length:
            return False
        self.got = b""
        return True


def create(server, count, **fields):
    """So many schedules alike, over a few connections."""
    body = json.dumps({**NOOP, **fields}).encode()
    pipes = {pipe.socket.fileno(): pipe for pipe in (Pipe(server.url) for _ in range(min(CONNECTIONS, count)))}
    poll = select.epoll()
    for number, pipe in pipes.items():
        poll.register(number, select.EPOLLIN)
        pipe.ask(body)
    asked, done = len(pipes), 0
    while done < count:
        for number, _ in poll.poll():
            if pipes[number].answered():
                done += 1
                if asked < count:
                    asked += 1
                    pipes[number].ask(body)
    for pipe in pipes.values():
        pipe.socket.close()
    poll.close()


def serve(bench, kind, name, *more, workers=3):
    return kind([bench.errand, "serve", "--listen", "127.0.0.1:0", "--data", bench.data(name), "--workers", str(workers),
                 "--config", os.devnull, *more])


# ---- Rules and sentences ----


def time_rules(bench, mode, steps, lines):
    """(ready, each) in nanoseconds, for each line."""
    command = [os.path.join(bench.build, "bench", "time_rules"), mode, str(steps)]
    done = subprocess.run(command, input="\n".join(lines) + "\n", stdout=subprocess.PIPE, text=True, check=True)
    return [tuple(int(word) for word in line.split()) for line in done.stdout.splitlines()]


def pure(bench):
    common = [rules.line(rule, zone=zone) for rule in rules.COMMON for zone in ("", "Europe/Berlin")]
    each = [ns for _, ns in time_rules(bench, "next", 1000, common)]
    bench.table.add(f"next occurrence, {len(each)} common rules", f"mean {sum(each) / len(each):.0f} ns, worst {max(each)} ns",
                    "", "", "< 1 µs", max(each) < 1000)
    any_rule = rules.hard_lines() + rules.random_lines(bench.n(50000, 2000))
    took = time_rules(bench, "next", 1, any_rule)
    worst = max(ns for _, ns in took)
    bench.table.add(f"next occurrence, {len(took):,} hard and random rules", f"worst {worst / 1e6:.2f} ms", "", "", "< 1 ms",
                    worst < 1e6)
    ready = max(ns for ns, _ in took)
    bench.table.add("the same rules, read and made ready", f"worst {ready / 1e6:.2f} ms", "", "", "", None)
    sentences = list(rules.sentences())
    each = sorted(ns for _, ns in time_rules(bench, "english", bench.n(20, 2), sentences))
    bench.table.add(f"{len(each)} English sentences", f"mean {sum(each) / len(each) / 1000:.1f} µs, worst {each[-1] / 1000:.1f} µs",
                    "", "", "< 50 µs", each[-1] < 50000)


# ---- A million of them ----


def million(bench, kind):
    count = bench.n(1000000, 5000)
    with serve(bench, kind, "million", f"--test-clock={CLOCK}") as server:
        create(server, 100, rrule="FREQ=DAILY")
        empty, began = server.rss_bytes(), time.monotonic()
        create(server, count, rrule="FREQ=WEEKLY;BYDAY=MO;BYHOUR=8;BYMINUTE=0", timezone="Europe/Berlin")
        filled_s, each = time.monotonic() - began, (server.rss_bytes() - empty) / count
    bench.table.add(f"memory of an active schedule, {count:,} of them", f"{each:.0f} B",
                    f"created at {count / filled_s:,.0f}/s", "", "≤ 300 B", each <= 300)
    with serve(bench, kind, "million", f"--test-clock={CLOCK}") as server:
        bench.table.add(f"restart with {count:,} schedules", f"{server.ready_s:.2f} s", "", "", "≤ 3 s", server.ready_s <= 3)


# ---- A year ----


def wind(server, until):
    """Winds the test clock; the seconds that took. A year may take longer than most requests."""
    address = urllib.parse.urlsplit(server.url)
    client = http.client.HTTPConnection(address.hostname, address.port, timeout=1200)
    began = time.monotonic()
    client.request("POST", "/api/test/clock", json.dumps({"set": until}), {"Content-Type": "application/json"})
    answer = client.getresponse()
    if answer.status != 200:
        raise SystemExit(f"bench: {answer.read().decode()}")
    client.close()
    return time.monotonic() - began


def runs(server):
    """How many have ended; the queue itself forgets them after a month."""
    with urllib.request.urlopen(server.url + "/metrics", timeout=60) as answer:
        return sum(int(float(line.split()[-1])) for line in answer.read().decode().splitlines()
                   if line.startswith("errand_tasks_completed_total{") and 'queue="bench"' in line)


def one_year(bench, kind, name, rrule, runs_each, target_s, **fields):
    count = bench.n(1000, 20)
    with serve(bench, kind, name, f"--test-clock={CLOCK}") as server:
        create(server, count, rrule=rrule, **fields)
        used = server.cpu_s()
        took = wind(server, "2028-02-29T12:00:00Z")
        used, ended = server.cpu_s() - used, runs(server)
    if ended != count * runs_each:
        raise SystemExit(f"bench: {ended} runs of {count * runs_each}")
    what = ", results to WEB" if fields.get("delivery") else ""
    bench.table.add(f"a year of {count:,} {name} schedules of noop{what}", f"{took:.1f} s",
                    f"{ended:,} runs, {used / ended * 1e6:.0f} µs CPU each", "",
                    f"≤ {target_s} s" if target_s else "", took <= target_s if target_s else None)


def year(bench, kind):
    one_year(bench, kind, "daily", "FREQ=DAILY;BYHOUR=9;BYMINUTE=0", 365, 60)
    one_year(bench, kind, "monthly", "FREQ=MONTHLY;BYMONTHDAY=2;BYHOUR=9", 12, 3)
    one_year(bench, kind, "weekly", "FREQ=WEEKLY;BYDAY=MO;BYHOUR=9;BYMINUTE=0", 52, None, delivery=["WEB"])


# ---- In time ----


def when(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(int(len(ordered) * share), len(ordered) - 1)]


def punctual_tasks(bench, kind):
    """Tasks that were put off until one instant, five times over."""
    count, late = bench.n(1000, 50), []
    with serve(bench, kind, "punctual-tasks") as server:
        for turn in range(bench.n(5, 1)):
            due = datetime.datetime.fromtimestamp(int(time.time()) + 3, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
            queue = f"bench-{turn}"
            server.ask("POST", "/api/tasks", [{"taskType": "noop", "queue": queue, "scheduledAt": due}] * count)
            while server.ask("GET", f"/api/queues/{queue}")["counts"].get("COMPLETED", 0) < count:
                time.sleep(.2)
            late += [(when(one["startedAt"]) - when(due)) * 1000 for one in all_tasks(server, queue)]
    p99 = percentile(late, .99)
    bench.table.add(f"{count:,} tasks due in one instant: start - due", f"p50 {percentile(late, .5):.0f} ms, p99 {p99:.0f} ms",
                    f"{len(late):,} tasks looked at", "", "p99 ≤ 100 ms", p99 <= 100)


def punctual(bench, kind):
    """Each of them every second: so many fall due in the same instant, again and again."""
    count, seconds = bench.n(1000, 50), bench.n(20, 3)
    with serve(bench, kind, "punctual") as server:
        create(server, count, rrule="FREQ=SECONDLY", overlap="allow")
        time.sleep(3)  # what creating them left over has been done
        from_s = time.time()
        time.sleep(seconds)
        until_s = time.time() - 1
        late = []
        ids = [one["id"] for one in server.ask("GET", "/api/schedules?limit=500")]
        for one in ids:
            for run in server.ask("GET", f"/api/schedules/{one}/executions?limit={seconds + 5}"):
                due = when(run["scheduledFor"])
                if from_s <= due <= until_s and run.get("startedAt"):
                    late.append((when(run["startedAt"]) - due) * 1000)
    p99 = percentile(late, .99)
    bench.table.add(f"{count:,} schedules due a second: start - due", f"p50 {percentile(late, .5):.0f} ms, p99 {p99:.0f} ms",
                    f"{len(late):,} runs looked at", "", "p99 ≤ 100 ms", p99 <= 100)


# ---- All at once ----


def all_tasks(server, queue):
    """Every task of a queue."""
    address = urllib.parse.urlsplit(server.url)
    client = http.client.HTTPConnection(address.hostname, address.port, timeout=120)
    path, found = f"/api/tasks?queue={queue}&limit=500", []
    while path:
        client.request("GET", path)
        answer = client.getresponse()
        found += json.load(answer)
        link = answer.headers.get("Link", "")
        path = link.split("<")[1].split(">")[0].removeprefix(server.url) if 'rel="next"' in link else None
    return found


def queued(server, queue):
    return sum(server.ask("GET", f"/api/queues/{queue}")["counts"].values())


def burst(bench, kind):
    """All due in the same second, on the wall clock; nobody takes their tasks, so that only creating them counts."""
    count = bench.n(100000, 500)
    with serve(bench, kind, "burst", workers=0) as server:
        began = time.monotonic()
        create(server, bench.n(2000, 100), rrule="FREQ=YEARLY;COUNT=2", queue="other")
        ahead_s = (time.monotonic() - began) * count / bench.n(2000, 100) * 1.5 + 10
        due = datetime.datetime.now(datetime.timezone.utc).replace(microsecond=0) + datetime.timedelta(seconds=int(ahead_s))
        create(server, count, dtstart=due.strftime("%Y-%m-%dT%H:%M:%SZ"), queue="burst")
        server.ask("POST", "/api/tasks", {"taskType": "none", "queue": "burst"})  # so that the queue is there
        calm = bench.drive(server, "create", bench.n(1000, 100), "--connections", 32, "--rate", 200)["createMs"]["p99"]
        load = subprocess.Popen([bench.errand, "bench", "--url", server.url, "--mode", "create", "--count",
                                 str(int((due.timestamp() - time.time() + bench.n(20, 2)) * 200)), "--connections", "32",
                                 "--rate", "200", "--json"], stdout=subprocess.PIPE, text=True)
        time.sleep(max(due.timestamp() - time.time(), 0))
        began = time.monotonic()
        while queued(server, "burst") < count + 1 and time.monotonic() < began + 600:
            time.sleep(.1)
        took = time.monotonic() - began
        busy = json.loads(load.communicate()[0])["createMs"]["p99"]
        found = [one["scheduleId"] for one in all_tasks(server, "burst") if one.get("scheduleId")]
    once = len(found) == len(set(found)) == count
    bench.table.add(f"{count:,} schedules due in one second: all tasks exist", f"{took:.1f} s",
                    f"{count / took:,.0f}/s, each {'once' if once else 'NOT once'}", "", "≤ 60 s, each once", once and took <= 60)
    bench.table.add("creates meanwhile, 200/s", f"p99 {busy:.1f} ms", f"before p99 {calm:.1f} ms", "", "p99 ≤ 50 ms", busy <= 50)


def run(bench, kind):
    pure(bench)
    for rows in (burst, million):
        rows(bench, kind)
