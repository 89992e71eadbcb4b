# tests/system/test_metrics.py: /metrics by type, schedule, delivery and team; their list in the docs; the dashboard and
# the alert rules of examples/grafana.
#
# SPDX-License-Identifier: MIT
import json
import os
import re
import shutil
import subprocess

from prometheus_client.parser import text_string_to_metric_families

from errand import START, check, main, same, test, wait_for
from standins import Smtp

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
GRAFANA = os.path.join(ROOT, "examples", "grafana")
TYPES_MAX = 100


def page(s):
    return s.call("GET", "/metrics", expect=200).body.decode()


def families(s):
    return {f.name: f for f in text_string_to_metric_families(page(s))}


def value(s, metric, **labels):
    """The one sample of this name with these labels."""
    found = [x.value for f in text_string_to_metric_families(page(s)) for x in f.samples
             if x.name == metric and labels.items() <= x.labels.items()]
    same(len(found), 1, f"samples of {metric}{labels}")
    return found[0]


# ---- Types ----


@test(args=["--workers", "0"])
def what_became_of_the_tasks_of_a_type_is_told(s):
    s.create("report", maxRetries=0)
    s.create("report", maxRetries=0)
    s.create("report", maxRetries=3)
    s.complete(s.claim_one())
    s.fail(s.claim_one(), error={"code": "c", "message": "m"})
    s.fail(s.claim_one(), error={"code": "c", "message": "m"})
    same(value(s, "errand_type_enqueued_total", type="report"), 3)
    same(value(s, "errand_type_completed_total", type="report"), 1)
    same(value(s, "errand_type_failed_total", type="report"), 1)
    same(value(s, "errand_type_retries_total", type="report"), 1)
    same(value(s, "errand_type_attempts_total", type="report", outcome="failed"), 2)
    same(value(s, "errand_type_run_seconds_count", type="report"), 3)
    same(value(s, "errand_tasks_failed_total", queue="default"), 1)


@test(args=["--workers", "0"])
def types_are_bounded_and_hostile_names_are_escaped(s):
    hostile = ['"} 1\\n# HELP x', "back\\slash", "ünïcode ✓", "a" * 256, "other"]
    s.post("/api/tasks", [{"taskType": t} for t in hostile], 201)
    for i in range(3):
        s.post("/api/tasks", [{"taskType": f"flood-{i}-{n}"} for n in range(TYPES_MAX)], 201)
    samples = families(s)["errand_type_enqueued"].samples
    told = {x.labels["type"]: x.value for x in samples}
    same(len(samples), TYPES_MAX)
    same(sum(told.values()), len(hostile) + 3 * TYPES_MAX)
    check(set(hostile) <= set(told), "a name was not told as it is")
    check(told["other"] > 2 * TYPES_MAX, f"only {told['other']} under other")
    check(told["deliver.email"] == 0, "the server's own types have their place in any case")


# ---- Schedules, deliveries, teams ----


@test(clock=START)
def schedules_and_their_deliveries_are_counted(s):
    smtp = Smtp(s.nest)
    s.restart(env={"ERRAND_SMTP_URL": smtp.url, "ERRAND_SMTP_FROM": "errand@example.org"}, clock=START)
    smtp.refuse("451 4.7.1 later", at="RCPT")
    s.post("/api/schedules", {"title": "t", "rrule": "FREQ=HOURLY", "taskType": "noop", "delivery": ["WEB", "EMAIL"],
                              "deliverTo": {"EMAIL": "ann@example.org"}}, 201)
    same(value(s, "errand_schedules_active"), 1)
    s.advance(3600_000)
    same(value(s, "errand_schedule_runs_total"), 1)
    same(value(s, "errand_schedule_lateness_seconds_count"), 1)
    same(value(s, "errand_deliveries_sent_total", channel="web"), 1)
    wait_for(lambda: value(s, "errand_delivery_retries_total", channel="email") == 1)
    same(value(s, "errand_deliveries_waiting", channel="email"), 1)
    s.advance(6_000)
    wait_for(lambda: value(s, "errand_deliveries_sent_total", channel="email") == 1)
    same(value(s, "errand_deliveries_waiting", channel="email"), 0)
    same(value(s, "errand_deliveries_failed_total", channel="email"), 0)


@test()
def teams_are_counted(s):
    team = s.post("/api/teams", {"prompt": "p", "tasks": [{"id": "a", "title": "A"}]}, 202)["teamId"]
    same(value(s, "errand_teams_running"), 1)
    task = s.post(f"/api/teams/{team}/claim", {"agent": "ann"})["task"]
    s.complete(task, result=1, cost={"tokens": 77})
    same(value(s, "errand_teams_running"), 0)
    same(value(s, "errand_teams_ended_total", status="completed"), 1)
    other = s.post("/api/teams", {"prompt": "p", "tasks": [{"id": "a", "title": "A"}]}, 202)["teamId"]
    s.call("DELETE", f"/api/teams/{other}", expect=200)
    same(value(s, "errand_teams_ended_total", status="cancelled"), 1)
    same(value(s, "errand_teams_ended_total", status="failed"), 0)
    same(value(s, "errand_team_turns_total"), 1)
    same(value(s, "errand_team_tokens_total"), 77)


# ---- The list in the docs ----


def documented():
    """The table of docs/operations.md: {name: (type, labels, meaning)}."""
    with open(os.path.join(ROOT, "docs", "operations.md"), encoding="utf-8") as file:
        rows = re.findall(r"^\| `((?:errand|process)_\w+)` \| (\w+) \| (.*?) \| (.*) \|$", file.read(), re.M)
    same(len(rows), len({row[0] for row in rows}), "rows of the table")
    return {name: (kind, set(re.findall(r"`(\w+)`", labels)), meaning) for name, kind, labels, meaning in rows}


@test()
def the_docs_list_every_metric_and_no_other(s):
    s.create("report")
    text = page(s)
    told = dict(re.findall(r"^# TYPE (\S+) (\S+)$", text, re.M))
    meant = dict(re.findall(r"^# HELP (\S+) (.*)$", text, re.M))
    labels = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            name = re.sub(r"_(bucket|sum|count)$", "", sample.name) if family.type in ("histogram", "summary") else sample.name
            labels.setdefault(name, set()).update(set(sample.labels) - {"le"})
    docs = documented()
    same(sorted(told), sorted(docs), "metrics")
    for name, (kind, has_labels, meaning) in docs.items():
        same((told[name], labels[name], meant[name]), (kind, has_labels, meaning), name)


# ---- examples/grafana ----


def promtool(*arguments, stdin=None):
    program = shutil.which("promtool") or shutil.which("promtool", path=os.path.join(ROOT, "build-unpacked", "usr", "bin"))
    check(program, "there is no promtool: script/test fetches it out of Debian's package prometheus")
    ran = subprocess.run([program, *arguments], input=stdin, capture_output=True, text=True, timeout=120)
    return ran.returncode, ran.stdout + ran.stderr


def series(s):
    """{name: {label: values}} of every sample, buckets and sums included."""
    out = {}
    for family in text_string_to_metric_families(page(s)):
        for sample in family.samples:
            of = out.setdefault(sample.name, {})
            for label, told in sample.labels.items():
                of.setdefault(label, set()).add(told)
    return out


SELECTOR = re.compile(r"\b((?:errand|process)_\w+|up)\b(?:\{([^}]*)\})?")
MATCHER = re.compile(r'(\w+)(=~|!~|!=|=)"([^"]*)"')
GROUPED = re.compile(r"\b(?:by|on) \(([^)]*)\)")
OF_THE_SCRAPE = {"job", "instance"}


def check_expression(known, text):
    """Every metric exists, with the labels that are asked of it and a value that fits."""
    names, labels = [], set(OF_THE_SCRAPE)
    for name, matchers in SELECTOR.findall(re.sub(r'"[^"]*"', lambda m: m.group().replace("errand_", ""), text)):
        if name == "up":
            continue
        check(name in known, f"there is no {name}: {text}")
        names.append(name)
        labels |= set(known[name])
        for label, how, wanted in MATCHER.findall(matchers):
            if label in OF_THE_SCRAPE:
                continue
            check(label in known[name], f"{name} has no label {label}: {text}")
            if how in ("=", "=~") and "$" not in wanted:
                for one in wanted.split("|") if how == "=~" else [wanted]:
                    check(one in known[name][label], f"{name} is never told with {label}={one}: {text}")
    for group in GROUPED.findall(text):
        for label in re.findall(r"\w+", group):
            check(label in labels, f"nothing has the label {label}: {text}")
    return names


def expressions_of(panel):
    return [target["expr"] for target in panel.get("targets", [])]


@test()
def every_expression_of_dashboard_and_rules_finds_its_metrics(s):
    s.create("report")
    known = series(s)
    with open(os.path.join(GRAFANA, "dashboard.json"), encoding="utf-8") as file:
        dashboard = json.load(file)
    ids = [panel["id"] for panel in dashboard["panels"]]
    same(len(ids), len(set(ids)), "ids of panels")
    shown = [e for panel in dashboard["panels"] for e in expressions_of(panel)]
    shown += [a["expr"] for a in dashboard["annotations"]["list"]]
    shown += [v["definition"].removeprefix("label_values(").rsplit(",", 1)[0]
              for v in dashboard["templating"]["list"] if v["type"] == "query"]
    with open(os.path.join(GRAFANA, "alerts.yml"), encoding="utf-8") as file:
        rules = re.findall(r"^        expr: (?:>-\n((?: {10}.*\n)+)|(.*)$)", file.read(), re.M)
    alerts = [" ".join(("".join(rule)).split()) for rule in rules]
    check(len(shown) > 50 and len(alerts) > 15, f"{len(shown)} and {len(alerts)} expressions were found")
    used = {name for text in shown + alerts for name in check_expression(known, text)}
    families_used = {re.sub(r"_(bucket|sum|count)$", "", name) if name not in documented() else name for name in used}
    same(sorted(set(documented()) - families_used - {"errand_build_info", "process_start_time_seconds"}), [],
         "metrics that the dashboard does not show")


@test(server=False)
def promtool_reads_and_tests_the_alert_rules(nest):
    for arguments in (("check", "rules", "alerts.yml"), ("test", "rules", "alerts_test.yml")):
        code, said = promtool(*arguments[:2], os.path.join(GRAFANA, arguments[2]))
        check(code == 0 and "SUCCESS" in said, said)
    with open(os.path.join(GRAFANA, "alerts.yml"), encoding="utf-8") as file:
        alerts = re.findall(r"- alert: (\w+)", file.read())
    with open(os.path.join(GRAFANA, "alerts_test.yml"), encoding="utf-8") as file:
        tested = re.findall(r"- alertname: (\w+)", file.read())
    with open(os.path.join(ROOT, "docs", "operations.md"), encoding="utf-8") as file:
        told = re.findall(r"^\| `(Errand\w+)` \|", file.read(), re.M)
    same(sorted(tested), sorted(alerts), "alerts that are tested")
    same(sorted(told), sorted(alerts), "alerts that the docs explain")


@test()
def promtool_finds_nothing_wrong_with_the_page_and_the_expressions(s):
    s.create("re\"port\\")
    code, said = promtool("check", "metrics", stdin=page(s))
    check(code == 0 and not said, said)
    with open(os.path.join(GRAFANA, "dashboard.json"), encoding="utf-8") as file:
        dashboard = json.load(file)
    shown = [e for panel in dashboard["panels"] for e in expressions_of(panel)]
    rules = {"groups": [{"name": "g", "rules": [
        {"record": f"r:{i}", "expr": e.replace("$__rate_interval", "5m")} for i, e in enumerate(shown)]}]}
    code, said = promtool("check", "rules", s.nest.file("shown.yml", json.dumps(rules)))
    check(code == 0, said)


if __name__ == "__main__":
    main()
