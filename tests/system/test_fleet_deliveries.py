# tests/system/test_fleet_deliveries.py: runs and deliveries where several nodes share a store.
#
# SPDX-License-Identifier: MIT
"""Schedules, deliveries, notifications and costs in a fleet."""
from errand import check, main, same, test, together, wait_for
from fleet import Fleet
from standins import Smtp


def found(fleet, at, path, **query):
    return fleet.node(at).get(path, **query)


@test(server=False)
def every_run_is_delivered_once_whichever_node_does_it(nest):
    smtp = Smtp(nest)
    fleet = Fleet(nest, nodes=2, workers=2, env={
        "ERRAND_SMTP_URL": smtp.url, "ERRAND_SMTP_FROM": "errand@example.org",
        "ERRAND_LIMITS_QUERIES_PER_USER_PER_DAY": "1000"})
    streams = [node.stream("/api/notifications/stream?userId=ann") for node in fleet.nodes]
    ids = []
    for n in range(6):
        schedule = fleet.node(n % 2).post("/api/schedules", {
            "title": f"News {n}", "dtstart": "2099-01-01T00:00:00", "userId": "ann",
            "delivery": ["EMAIL", "WEB"], "deliverTo": {"EMAIL": "ann@example.org"}}, 201)
        ids.append(fleet.node((n + 1) % 2).post(f"/api/schedules/{schedule['id']}/run", None,
                                                202)["executionId"])
    for n, id in enumerate(ids):
        wait_for(lambda: found(fleet, n % 2, f"/api/executions/{id}")["isDelivered"], "a delivery", 60)
    same(len(found(fleet, 0, "/api/notifications", userId="ann")), len(ids))
    same(len(found(fleet, 1, "/api/notifications", userId="ann")), len(ids))
    for stream in streams:
        same(sorted(stream.next()[2]["executionId"] for _ in ids), sorted(ids))
    mails = [mail["headers"]["Message-ID"] for mail in smtp.mails(len(ids))]
    same(sorted(mails), sorted(f"<{id}.EMAIL@example.org>" for id in ids))
    same(found(fleet, 1, "/api/usage", userId="ann")["queries"], len(ids))


@test(server=False)
def a_limit_holds_for_the_whole_fleet(nest):
    fleet = Fleet(nest, nodes=2, workers=2, env={
        "ERRAND_LIMITS_QUERIES_PER_USER_PER_DAY": "3"}).wait_together()
    schedules = [fleet.node(n % 2).post("/api/schedules", {
        "title": "x", "rrule": "FREQ=SECONDLY", "userId": "ann"}, 201) for n in range(3)]

    def paused():
        return all(found(fleet, 0, f"/api/schedules/{s['id']}")["status"] == "PAUSED"
                   for s in schedules)
    wait_for(paused, "the limit", 60)
    runs = [run for s in schedules for run in found(fleet, 1, f"/api/schedules/{s['id']}/executions")
            if run["status"] != "SKIPPED"]
    check(len(runs) <= 3, f"{len(runs)} runs")


@test(server=False)
def runs_by_hand_on_several_nodes_share_what_is_left(nest):
    fleet = Fleet(nest, nodes=2, workers=0, env={
        "ERRAND_LIMITS_QUERIES_PER_USER_PER_DAY": "5"}).wait_together()
    users = ["ann", "bob", "cat", "dan"]  # each begins a day of their own, on both nodes at once
    schedules = {user: [fleet.node(0).post("/api/schedules", {
        "title": "x", "dtstart": "2099-01-01T00:00:00", "overlap": "allow", "userId": user}, 201)["id"]
        for _ in range(4)] for user in users}

    def run(user, n):
        return fleet.node(n % 2).raw("POST", f"/api/schedules/{schedules[user][n % 4]}/run").status
    for user in users:
        answers = together(*[lambda n=n: run(user, n) for n in range(12)])
        same(sorted(answers), [202] * 5 + [429] * 7)
    same(len(fleet.node(1).list(state="QUEUED")), 5 * len(users))


if __name__ == "__main__":
    main()
