# tests/system/test_system.py: what an operator looks at: health, numbers, the API's description.
#
# SPDX-License-Identifier: MIT
import os
import re
import time

from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics
from prometheus_client.parser import text_string_to_metric_families

from errand import START, check, has, main, parse_time, same, test, wait_for

SAMPLE = re.compile(r'^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$')
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(?:,|$)')


# ---- Health ----


@test()
def healthz_and_readyz_say_ok(s):
    has(s.get("/healthz"), status="ok")
    check(isinstance(s.get("/readyz"), dict))
    for path in ("/healthz", "/readyz", "/metrics", "/openapi.json", "/api/stats"):
        answer = s.call("HEAD", path, expect=(200, 405))
        check(not answer.body)


@test()
def nodes_and_workers_are_listed(s):
    nodes = s.get("/api/nodes")["nodes"]
    same(len(nodes), 1)
    has(nodes[0], address=f"127.0.0.1:{s.port}", pid=s.process.pid, leader=True, store="ok",
        broker="memory", running=0)
    check(nodes[0]["id"] and nodes[0]["version"])
    parse_time(nodes[0]["startedAt"])
    ours = s.get("/api/workers")["workers"]
    check(all(w["kind"] in ("run", "exec") and w["state"] == "idle" for w in ours))
    task = s.create()
    s.claim("idle one", queues=["none"])
    claimed = s.claim_one("busy one")
    workers = {w["id"]: w for w in s.get("/api/workers")["workers"]}
    has(workers["busy one"], kind="remote", state="busy", taskIds=[task["id"]], node=nodes[0]["id"])
    has(workers["idle one"], kind="remote", state="idle", taskIds=[])
    parse_time(workers["idle one"]["lastSeenAt"])
    same(s.get("/api/nodes")["nodes"][0]["running"], 1)
    s.complete(claimed)
    workers = {w["id"]: w for w in s.get("/api/workers")["workers"]}
    has(workers["busy one"], state="idle", taskIds=[])


# ---- Numbers ----


@test(clock=START)
def stats_count_states_rates_and_latencies(s):
    for _ in range(3):
        s.create()
    s.advance(1000)
    claimed = s.claim_one()
    s.advance(2000)
    s.complete(claimed)
    stats = s.get("/api/stats")
    text = str(stats)
    counts = next(v for v in stats.values() if isinstance(v, dict) and "QUEUED" in v)
    same((counts["QUEUED"], counts["COMPLETED"]), (2, 1))
    for word in ("p50", "p95", "p99"):
        check(word in text, f"no {word} in {text}")
    check("oldest" in text.lower(), f"no oldest ready task in {text}")


def parse_metrics(text):
    """Families by name: {"type", "samples": [(name, labels, value)]}; strict about the format."""
    families, current, series = {}, None, set()
    check(text.endswith("\n"), "no end of line at the end")
    for line in text[:-1].split("\n"):
        if line.startswith("# "):
            _, word, name, rest = line.split(" ", 3)
            if word == "HELP":
                check(name not in families, f"{name} is interleaved or told twice")
                current = families[name] = {"help": rest, "samples": []}
            else:
                same(word, "TYPE")
                check(families.get(name) is current and "type" not in current, f"TYPE of {name}")
                check(rest in ("counter", "gauge", "histogram", "summary", "untyped"), rest)
                current["type"] = rest
            continue
        found = SAMPLE.match(line)
        check(found, f"not a sample: {line!r}")
        name, labels, value = found.groups()
        pairs = LABEL.findall(labels or "")
        same(",".join(f'{k}="{v}"' for k, v in pairs), (labels or "").rstrip(","), "labels")
        family = re.sub(r"_(bucket|sum|count)$", "", name) \
            if current.get("type") in ("histogram", "summary") else name
        check(families.get(family) is current, f"{name} stands outside its family")
        check((name, labels) not in series, f"{name} {labels} is there twice")
        series.add((name, labels))
        current["samples"].append((name, dict(pairs), float(value)))
    return families


def check_histogram(name, samples):
    groups = {}
    for sample, labels, value in samples:
        key = tuple(sorted((k, v) for k, v in labels.items() if k != "le"))
        group = groups.setdefault(key, {"buckets": []})
        if sample.endswith("_bucket"):
            group["buckets"].append((float(labels["le"]), value))
        else:
            group[sample[len(name):]] = value
    for group in groups.values():
        bounds = [bound for bound, _ in group["buckets"]]
        counts = [count for _, count in group["buckets"]]
        same(bounds, sorted(set(bounds)), f"{name} bounds")
        same(counts, sorted(counts), f"{name} is cumulative")
        same(bounds[-1], float("inf"), f"{name} last bucket")
        same(counts[-1], group["_count"], f"{name} count")
        check(group["_sum"] >= 0)


@test()
def metrics_are_in_the_exposition_format(s):
    s.create(queue="a")
    s.create(queue="b", delayMs=100000)
    s.create('we"ird\\type')
    s.complete(s.claim_one(queues=["a"]))
    s.fail(s.claim_one(), retry=False)
    answer = s.call("GET", "/metrics", expect=200)
    check(answer.headers["content-type"].startswith("text/plain; version=0.0.4"))
    families = parse_metrics(answer.body.decode())
    for name, family in families.items():
        check("type" in family, f"{name} has no TYPE")
        check(name.startswith(("errand_", "process_")), name)
        if family["type"] == "counter":
            check(name.endswith("_total"), f"the counter {name}")
        else:
            check(not name.endswith("_total"), f"{name} is no counter")
        if family["type"] == "histogram":
            check_histogram(name, family["samples"])
        for _, labels, _ in family["samples"]:
            check("taskId" not in labels, f"{name} has a label per task")
    for name in ("errand_tasks_enqueued_total", "errand_tasks_completed_total",
                 "errand_task_attempts_total", "errand_tasks", "errand_queue_paused",
                 "errand_queue_oldest_task_age_seconds", "errand_task_wait_seconds",
                 "errand_task_run_seconds", "errand_workers", "errand_connections",
                 "errand_build_info", "process_resident_memory_bytes",
                 "process_cpu_seconds_total", "process_open_fds", "process_max_fds",
                 "process_start_time_seconds"):
        check(name in families, f"{name} is missing among {sorted(families)}")
    values = {(n, tuple(sorted(lb.items()))): v for f in families.values()
              for n, lb, v in f["samples"]}
    same(values["errand_tasks_completed_total", (("queue", "a"),)], 1)
    same(values["errand_tasks", (("queue", "b"), ("state", "SCHEDULED"))], 1)
    same(values["errand_task_attempts_total", (("outcome", "failed"), ("queue", "default"))], 1)


def as_openmetrics(text):
    """The same in the stricter format that followed: a counter's family is named without _total, and the end is told."""
    return re.sub(r"^# (HELP|TYPE) (\w+)_total ", r"# \1 \2 ", text, flags=re.M) + "# EOF\n"


@test()
def prometheus_own_library_reads_the_metrics(s):
    for queue in ("default", "x/y:z"):
        s.create(queue=queue)
        s.complete(s.claim_one(queues=[queue]))
    text = s.get("/metrics")
    plain = {family.name: family for family in text_string_to_metric_families(text)}
    strict = {family.name: family for family in openmetrics(as_openmetrics(text))}
    same(set(plain), set(strict))
    for name, family in strict.items():
        check(family.documentation, f"{name} has no HELP")
        check(family.type in ("counter", "gauge", "histogram", "summary"), f"{name} is a {family.type}")
        check(not re.search(r"_(ms|millis\w*|minutes|hours|kb|mb|kib|mib|percent)(_|$)", name), f"{name} is in no base unit")
    done = [sample for sample in strict["errand_tasks_completed"].samples if sample.labels == {"queue": "x/y:z"}]
    same([(sample.name, sample.value) for sample in done], [("errand_tasks_completed_total", 1)])


# ---- The description ----


@test()
def the_description_is_openapi_3_1(s):
    book = s.get("/openapi.json")
    check(book["openapi"].startswith("3.1"), book["openapi"])
    check(book["info"]["title"] and book["info"]["version"])
    names = set()
    for path, methods in book["paths"].items():
        wanted = re.findall(r"\{([^}]+)\}", path)
        for method, operation in methods.items():
            if method not in ("get", "put", "post", "patch", "delete", "head"):
                continue
            check(operation["responses"], f"{method} {path} has no responses")
            given = [p["name"] for p in operation.get("parameters", methods.get("parameters", []))
                     if p.get("in") == "path"]
            given += [p["name"] for p in methods.get("parameters", []) if p.get("in") == "path"]
            same(sorted(set(given)), sorted(wanted), f"path parameters of {method} {path}")
            if "operationId" in operation:
                check(operation["operationId"] not in names, operation["operationId"])
                names.add(operation["operationId"])
    same(list(dangling(book, book)), [])
    check("nullable" not in str(book), "nullable is of 3.0")


def dangling(book, node):
    if isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            target = book
            for part in node["$ref"].removeprefix("#/").split("/"):
                target = target.get(part, {}) if isinstance(target, dict) else {}
            if not target:
                yield node["$ref"]
        for value in node.values():
            yield from dangling(book, value)
    elif isinstance(node, list):
        for value in node:
            yield from dangling(book, value)


@test()
def every_call_of_the_contract_is_described(s):
    paths = s.get("/openapi.json")["paths"]
    described = {(method, re.sub(r"\{[^}]+\}", "{}", path)) for path, methods in paths.items()
                 for method in methods}
    for line in """get /api/tasks|post /api/tasks|get /api/tasks/{}|patch /api/tasks/{}
            delete /api/tasks/{}|post /api/tasks/{}/cancel|post /api/tasks/{}/retry
            post /api/tasks/cancel|post /api/tasks/retry|get /api/tasks/{}/why
            get /api/tasks/{}/stream|get /api/events|get /api/documents/{}|get /api/documents
            get /api/queues|put /api/queues/{}|post /api/queues/{}/pause
            post /api/queues/{}/resume|post /api/queues/{}/purge|get /api/workers|get /api/nodes
            get /api/stats|get /metrics|get /healthz|get /readyz|get /openapi.json
            post /api/claim|post /api/tasks/{}/heartbeat|post /api/tasks/{}/complete
            post /api/tasks/{}/fail|post /api/tasks/{}/release|post /api/finish""".split("\n"):
        for entry in line.strip().split("|"):
            check(tuple(entry.split(" ")) in described, f"{entry} is not described")


# ---- What is not there ----


@test()
def unknown_paths_and_methods(s):
    for path in ("/nope", "/api", "/api/", "/api/task", "/api/tasks/", "/api/queues/q/nope",
                 "/api/tasks/x/y/z", "/API/TASKS", "//api/tasks", "/api/tasks/../tasks"):
        s.call("GET", path, expect=(400, 404))
    for method, path, allowed in (("DELETE", "/api/tasks", {"GET", "POST"}),
                                  ("PUT", "/api/claim", {"POST"}), ("GET", "/api/claim", {"POST"}),
                                  ("POST", "/api/stats", {"GET"}), ("PATCH", "/healthz", {"GET"})):
        body = {} if method in ("PUT", "POST", "PATCH") else None
        answer = s.call(method, path, body, 405)
        check(allowed <= {m.strip() for m in answer.headers["allow"].split(",")},
              f"Allow: {answer.headers.get('allow')}")


# ---- From where ----


@test()
def a_foreign_host_or_origin_is_refused(s):
    for host in ("evil.example", "evil.example:80", "127.0.0.1.evil.example", "", "localhost.evil"):
        answer = s.raw("GET", "/api/tasks", headers={"Host": host})
        check(answer.status in (400, 403), f"Host {host!r}: {answer!r}")
    for host in (f"127.0.0.1:{s.port}", f"localhost:{s.port}", "localhost", "127.0.0.1", "[::1]"):
        same(s.raw("GET", "/api/tasks", headers={"Host": host}).status, 200, host)
    for origin in ("http://evil.example", "https://evil.example", "null",
                   "http://localhost.evil.example", "file://", "http://localhost:3000",
                   "http://localhost", "http://127.0.0.1:1", f"https://localhost:{s.port}"):
        answer = s.raw("POST", "/api/tasks", {"taskType": "t"}, {"Origin": origin})
        same(answer.status, 403, origin)
        same(s.raw("GET", "/api/tasks", headers={"Origin": origin}).status, 403, origin)
    for origin in (f"http://127.0.0.1:{s.port}", f"http://localhost:{s.port}"):
        same(s.raw("POST", "/api/tasks", {"taskType": "t"}, {"Origin": origin}).status, 201)
    same(len(s.list()), 2)


@test(server=False)
def configured_hosts_are_ours(nest):
    conf = nest.file("errand.conf", "[http]\nhosts = queue.example, other.example\n")
    s = nest.server(args=("--config", conf))
    same(s.raw("GET", "/api/tasks", headers={"Host": "queue.example"}).status, 200)
    same(s.raw("GET", "/api/tasks", headers={"Host": "other.example:8001"}).status, 200)
    same(s.raw("GET", "/api/tasks", headers={"Host": "evil.example"}).status, 403)
    same(s.raw("GET", "/api/tasks", headers={
        "Host": "queue.example", "Origin": "http://queue.example"}).status, 200)


# ---- Quiet ----


def cpu_ticks(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as handle:
        fields = handle.read().rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])


def switches(pid):
    total = 0
    for thread in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{thread}/status", encoding="ascii") as handle:
            found = re.search(r"^voluntary_ctxt_switches:\s+(\d+)", handle.read(), re.M)
            total += int(found.group(1))
    return total


@test()
def an_idle_server_costs_nothing(s):
    """Waiting tasks, waiting claims and open streams do not make it poll."""
    s.stream("/api/events")
    for n in range(20):
        s.create(documentId="d", delayMs=0 if n % 2 else 3600000)
    s.claim_one(leaseMs=3600000)
    wire = s.wire()
    wire.send(s.request("POST", "/api/claim", {"workerId": "w", "waitMs": 60000}))
    wait_for(lambda: len(s.get("/api/workers")["workers"]) >= 1)

    def sample():
        return time.monotonic(), switches(s.process.pid), cpu_ticks(s.process.pid)
    window = sample()

    def quiet():
        """Half a second in which it hardly woke; a busy machine may need several."""
        nonlocal window
        now = sample()
        if now[1] - window[1] > 10 or now[2] - window[2] > 2:
            window = now
        return now[0] - window[0] >= 0.5
    wait_for(quiet, "quiet")
    wire.close()


main()
