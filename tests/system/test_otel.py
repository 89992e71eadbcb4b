# tests/system/test_otel.py: a span of each attempt reaches a collector of OpenTelemetry.
#
# The collector here is the server's side of OTLP over HTTP in JSON: it takes a request apart field by field and refuses
# what the protocol does not have.
#
# SPDX-License-Identifier: MIT
import http.server
import json
import os
import re
import signal
import threading

from errand import START, check, has, main, parse_time, same, test, wait_for
from sink import Sink

TRACE = "0af7651916cd43dd8448eb211c80319c"
CALLER = "b7ad6b7169203331"
PARENT = f"00-{TRACE}-{CALLER}-01"


def only(mapping, *keys):
    unknown = set(mapping) - set(keys)
    check(not unknown, f"{unknown} in {mapping}")


def attributes_of(entries):
    out = {}
    for entry in entries:
        only(entry, "key", "value")
        (kind, value), = entry["value"].items()
        check(kind in ("stringValue", "intValue") and isinstance(value, str), f"{entry}")
        check(entry["key"] not in out, f"{entry['key']} is told twice")
        out[entry["key"]] = int(value) if kind == "intValue" else value
    return out


def span_of(raw, resource):
    only(raw, "traceId", "spanId", "parentSpanId", "traceState", "flags", "name", "kind", "startTimeUnixNano",
         "endTimeUnixNano", "attributes", "status")
    check(re.fullmatch("[0-9a-f]{32}", raw["traceId"]) and int(raw["traceId"], 16), f"{raw}")
    for key in ("spanId", "parentSpanId"):
        check(key not in raw or re.fullmatch("[0-9a-f]{16}", raw[key]) and int(raw[key], 16), f"{raw}")
    check(re.fullmatch("[0-9]+", raw["startTimeUnixNano"]) and re.fullmatch("[0-9]+", raw["endTimeUnixNano"]), f"{raw}")
    check(int(raw["startTimeUnixNano"]) <= int(raw["endTimeUnixNano"]), f"it ends before it begins: {raw}")
    only(raw["status"], "code", "message")
    same((raw["kind"], raw["flags"] & 1), (5, 1))
    return {**raw, "attributes": attributes_of(raw["attributes"]), "resource": resource}


def spans_of(body):
    request = json.loads(body)
    only(request, "resourceSpans")
    for group in request["resourceSpans"]:
        only(group, "resource", "scopeSpans")
        resource = attributes_of(group["resource"]["attributes"])
        for scope in group["scopeSpans"]:
            only(scope, "scope", "spans")
            same(scope["scope"]["name"], "errand")
            yield from (span_of(raw, resource) for raw in scope["spans"])


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        collector = self.server.collector
        body = self.rfile.read(int(self.headers["Content-Length"]))
        status, headers, answer = collector.answers.pop(0) if collector.answers else (200, {}, {})
        collector.requests.append((self.path, self.headers, status))
        if collector.hangs:
            collector.released.wait(60)
        try:
            if status == 200:
                check(self.path == "/v1/traces" and self.headers["Content-Type"] == "application/json", self.path)
                collector.spans += spans_of(body)
        except Exception as wrong:
            collector.wrong.append(repr(wrong))
        text = json.dumps(answer).encode()
        self.send_response(status)
        for name, value in {**headers, "Content-Type": "application/json", "Content-Length": str(len(text))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


class Quiet(http.server.ThreadingHTTPServer):
    def handle_error(self, *_):
        """A client that has left."""


class Collector:
    """Takes spans on a free port of this machine."""

    def __init__(self, nest, port=0):
        self.spans, self.requests, self.answers, self.wrong = [], [], [], []
        self.hangs, self.released = False, threading.Event()
        self.server = Quiet(("127.0.0.1", port), Handler)
        self.server.collector = self
        self.port = self.server.server_port
        self.url = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()
        nest.closing.append(self)

    def wait(self, count):
        wait_for(lambda: len(self.spans) >= count or self.wrong, f"{count} spans")
        same(self.wrong, [])
        return list(self.spans)

    def close(self):
        self.released.set()
        self.server.shutdown()
        self.server.server_close()


def watched(nest, **options):
    """A server whose spans go to a collector."""
    collector = Collector(nest)
    env = {"ERRAND_OTEL_ENDPOINT": collector.url, **options.pop("env", {})}
    return nest.server(env=env, **options), collector


def create(s, type="work", parent=PARENT, **fields):
    headers = {"Content-Type": "application/json", **({"traceparent": parent} if parent else {})}
    return s.post("/api/tasks", {"taskType": type, **fields}, 201, headers=headers)


def metric(s, name):
    return float(re.search(rf"^{name} (\S+)$", s.call("GET", "/metrics", expect=200).body.decode(), re.M).group(1))


# ---- What a span says ----


@test(server=False)
def a_span_is_a_child_of_the_caller_and_tells_of_its_attempt(nest):
    s, collector = watched(nest, args=["--workers", "0"], clock=START)
    task = create(s, queue="q", payload={"password": "hunter2"}, tags=["t"])
    s.advance(1500)
    claimed = s.claim_one("ann", queues=["q"])
    s.advance(2000)
    done = s.complete(claimed, result={"secret": "hunter2"})
    span, = collector.wait(1)
    has(span, traceId=TRACE, parentSpanId=CALLER, name="work", status={"code": 1})
    same(claimed["traceparent"], f"00-{TRACE}-{span['spanId']}-01")
    same(int(span["startTimeUnixNano"]) // 10**6, parse_time(claimed["startedAt"]))
    same(int(span["endTimeUnixNano"]) // 10**6, parse_time(done["finishedAt"]))
    has(span["attributes"], **{
        "errand.task.id": task["id"], "errand.task.type": "work", "errand.task.state": "COMPLETED", "errand.queue": "q",
        "errand.attempt": 1, "errand.outcome": "COMPLETED", "errand.worker.id": "ann", "errand.wait_ms": 1500,
        "messaging.system": "errand", "messaging.destination.name": "q"})
    has(span["resource"], **{"service.name": "errand", "service.instance.id": s.get("/api/nodes")["nodes"][0]["id"]})
    check("hunter2" not in json.dumps(span), "a payload is in the span")


@test(server=False)
def every_kind_of_end_is_told_with_its_parent(nest):
    s, collector = watched(nest, args=["--workers", "0"], clock=START)
    for outcome in ("fail", "release", "lose", "time out", "cancel"):
        task = create(s, outcome, maxRetries=0, timeoutMs=60_000)
        claimed = s.claim_one(taskTypes=[outcome], leaseMs=5000 if outcome == "lose" else 120_000)
        if outcome == "fail":
            s.fail(claimed, error={"code": "disk_full", "message": "no room; token=hunter2"})
        elif outcome == "release":
            s.release(claimed)
        elif outcome == "cancel":
            s.call("POST", f"/api/tasks/{task['id']}/cancel", {}, expect=202)
            s.fail(claimed, error={"code": "c", "message": "stopped"})
        else:
            s.advance(6_000 if outcome == "lose" else 61_000)
    spans = {span["name"]: span for span in collector.wait(5)}
    same({name: span["attributes"]["errand.outcome"] for name, span in spans.items()},
         {"fail": "FAILED", "release": "RELEASED", "lose": "LOST", "time out": "TIMEOUT", "cancel": "CANCELLED"})
    for span in spans.values():
        has(span, traceId=TRACE, parentSpanId=CALLER)
    same(spans["fail"]["status"], {"code": 2, "message": "no room; token=•••"})
    same(spans["fail"]["attributes"]["error.type"], "disk_full")
    for name in ("lose", "time out"):
        same(spans[name]["status"]["code"], 2)
        check(spans[name]["status"]["message"], f"{name} says nothing")
    same((spans["release"]["status"], spans["cancel"]["status"]), ({}, {}))


@test(server=False)
def attempts_of_a_task_that_nobody_traces_share_a_trace_that_begins_here(nest):
    s, collector = watched(nest, args=["--workers", "0"], clock=START)
    create(s, parent=None, maxRetries=1)
    first = s.claim_one()
    s.fail(first, error={"code": "c", "message": "m"})
    s.advance(10_000)
    second = s.claim_one()
    s.complete(second)
    one, two = sorted(collector.wait(2), key=lambda span: span["attributes"]["errand.attempt"])
    same(one["traceId"], two["traceId"])
    check(one["spanId"] != two["spanId"] and "parentSpanId" not in one and "parentSpanId" not in two)
    same([first["traceparent"], second["traceparent"]], [f"00-{x['traceId']}-{x['spanId']}-01" for x in (one, two)])
    same([one["attributes"]["errand.task.state"], two["attributes"]["errand.task.state"]], ["RETRYING", "COMPLETED"])


@test(server=False)
def a_caller_that_records_nothing_decides_for_the_task_too(nest):
    s, collector = watched(nest, args=["--workers", "0"])
    create(s, "unseen", parent=f"00-{TRACE}-{CALLER}-00")
    unseen = s.claim_one()
    check(unseen["traceparent"].endswith("-00"), unseen["traceparent"])
    s.complete(unseen)
    create(s, "seen", parent=None)
    s.complete(s.claim_one())
    same([span["name"] for span in collector.wait(1)], ["seen"])


@test(server=False)
def pushes_and_commands_are_given_the_span_that_is_sent(nest):
    sink = Sink(nest)
    collector = Collector(nest)
    command = nest.file("tell.sh", '#!/bin/sh\nprintf \'"%s"\' "$TRACEPARENT"\n')

    os.chmod(command, 0o755)
    config = nest.file("errand.conf", f"[handler.pushed]\nurl = {sink.url}\n[handler.run]\nexec = {command}\n"
                                      f"[push]\nallow_private = yes\n[otel]\nendpoint = {collector.url}/\n")
    s = nest.server(args=["--config", config])
    create(s, "pushed")
    ran = create(s, "run")
    spans = {span["name"]: span for span in collector.wait(2)}
    same(sink.wait(1)[0]["headers"]["traceparent"], f"00-{TRACE}-{spans['pushed']['spanId']}-01")
    same(s.show(ran)["result"], f"00-{TRACE}-{spans['run']['spanId']}-01")


@test()
def without_a_collector_only_traced_tasks_are_given_a_span(s):
    create(s, "traced")
    create(s, "plain", parent=None)
    check(s.claim_one(taskTypes=["traced"])["traceparent"].startswith(f"00-{TRACE}-"))
    check("traceparent" not in s.claim_one(taskTypes=["plain"]))


# ---- The way there ----


@test(server=False)
def a_collector_that_is_away_gets_the_spans_when_it_is_back(nest):
    away = Collector(nest)
    away.close()
    nest.closing.remove(away)
    s = nest.server(env={"ERRAND_OTEL_ENDPOINT": away.url}, args=["--workers", "0"])
    for _ in range(3):
        create(s)
        s.complete(s.claim_one())
    wait_for(lambda: "takes no spans" in s.stderr())
    same(metric(s, "errand_otel_spans_waiting"), 3)
    back = Collector(nest, away.port)
    same(len(back.wait(3)), 3)
    wait_for(lambda: metric(s, "errand_otel_spans_sent_total") == 3)
    same((metric(s, "errand_otel_spans_waiting"), metric(s, "errand_otel_spans_dropped_total")), (0, 0))
    wait_for(lambda: "takes spans again" in s.stderr())


@test(server=False)
def busy_is_tried_again_refused_and_partly_taken_are_counted(nest):
    s, collector = watched(nest, args=["--workers", "0"])
    collector.answers = [(503, {"Retry-After": "1"}, {}), (200, {}, {"partialSuccess": {"rejectedSpans": "1"}}), (400, {}, {})]
    s.post("/api/tasks", [{"taskType": "t"}] * 3, 201)
    s.post("/api/finish", [{"id": t["id"], "lease": t["lease"], "outcome": "complete"} for t in s.claim(max=3)])
    collector.wait(3)
    wait_for(lambda: metric(s, "errand_otel_spans_sent_total") == 2)
    same([status for _, _, status in collector.requests], [503, 200])
    create(s)
    s.complete(s.claim_one())
    wait_for(lambda: metric(s, "errand_otel_spans_dropped_total") == 2)
    check("it answers 400" in s.stderr() or "it answers 503" in s.stderr())


@test(server=False)
def many_spans_come_in_batches_and_the_line_is_bounded(nest):
    s, collector = watched(nest, args=["--workers", "0"])
    for _ in range(2):
        s.post("/api/tasks", [{"taskType": "t"}] * 1000, 201)
        s.post("/api/finish", [{"id": t["id"], "lease": t["lease"], "outcome": "complete"} for t in s.claim(max=1000)])
    spans = collector.wait(2000)
    same(len({span["spanId"] for span in spans}), 2000)
    check(len(collector.requests) <= 20, f"{len(collector.requests)} requests")


@test(server=False)
def what_ended_last_is_sent_before_the_server_ends(nest):
    s, collector = watched(nest, args=["--workers", "0"])
    create(s)
    s.complete(s.claim_one())
    s.terminate()
    same(len(collector.wait(1)), 1)


@test(server=False)
def a_collector_that_hangs_does_not_hold_up_the_end(nest):
    s, collector = watched(nest, args=["--workers", "0"], env={"ERRAND_WORKERS_GRACE": "1s"})
    collector.hangs = True
    create(s)
    s.complete(s.claim_one())
    wait_for(lambda: collector.requests)
    s.terminate()
    check("1 spans were not sent" in s.stderr(), s.stderr())


# ---- Settings ----


@test(server=False)
def headers_and_the_name_of_the_service_are_settings(nest):
    s, collector = watched(nest, args=["--workers", "0"], env={
        "ERRAND_OTEL_HEADERS": "x-api-key=s3cret, Authorization=Basic YTpi=", "ERRAND_OTEL_SERVICE": "billing"})
    create(s)
    s.complete(s.claim_one())
    same(collector.wait(1)[0]["resource"]["service.name"], "billing")
    has(dict(collector.requests[0][1]), **{"x-api-key": "s3cret", "Authorization": "Basic YTpi="})
    check("s3cret" not in s.stderr())


@test(server=False)
def settings_that_cannot_be_are_refused_by_name(nest):
    for env, words in (({"ERRAND_OTEL_ENDPOINT": "collector:4318"}, "[otel] endpoint must be http://"),
                       ({"ERRAND_OTEL_ENDPOINT": "http://h:1", "ERRAND_OTEL_HEADERS": "nonsense"}, "[otel] headers must be NAME=VALUE"),
                       ({"ERRAND_OTEL_HEADERS": "a=b"}, "[otel] needs endpoint")):
        check(words in nest.refuses(env=env), words)


@test(server=False)
def another_endpoint_needs_a_restart(nest):
    collector = Collector(nest)
    config = nest.file("errand.conf", f"[otel]\nendpoint = {collector.url}\n")
    s = nest.server(args=["--config", config])
    nest.file("errand.conf", f"[otel]\nendpoint = {collector.url}\nservice = other\n")
    s.process.send_signal(signal.SIGHUP)
    wait_for(lambda: "[otel] service has changed: that needs a restart" in s.stderr())


if __name__ == "__main__":
    main()
