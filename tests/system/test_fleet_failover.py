# tests/system/test_fleet_failover.py: PostgreSQL fails over to a standby that lacks the last commits; the rows are right.
#
# SPDX-License-Identifier: MIT
"""A lost tail: what was acknowledged and is gone."""
import os
import re

from errand import check, has, main, same, test, wait_for
from fleet import Fleet, wait_slowly

LEASE = {"leaseMs": 60000}


def wait_ready(fleet):
    for node in fleet.nodes:
        wait_slowly(lambda n=node: n.call("GET", "/readyz").status == 200, "a ready node")
        wait_slowly(lambda n=node: n.call("POST", "/api/claim", {"workerId": "r", "queues": ["none"]}).status == 200,
                    "an engine that reaches the store")


def number(node, name):
    """The sum of a metric's samples; 0: there are none."""
    text = node.raw("GET", "/metrics").body.decode()
    return sum(float(line.split()[-1]) for line in text.splitlines() if re.match(name + r"(\{.*\})? ", line))


@test(server=False)
def what_the_standby_lacks_is_dropped_and_done_again(nest):
    fleet = Fleet(nest, standby=True).wait_together()
    a, b, c = fleet.nodes
    again = a.create("again", documentId="d")
    held = a.create("held")
    held = b.claim_one("w1", taskTypes=["held"], **LEASE)
    fleet.stop_shipping()
    lost = [a.create("lost", documentId=f"l{i}") for i in range(5)]
    soon = b.create("lost", delayMs=1500)
    gone = b.claim_one("w2", taskTypes=["again"], **LEASE)
    same(gone["id"], again["id"])
    new = c.claim_one("w3", taskTypes=["lost"], **LEASE)
    same(b.complete(held, result=1)["state"], "COMPLETED")
    fleet.fail_over()
    wait_ready(fleet)
    for node in fleet.nodes:
        wait_slowly(lambda n=node: number(n, "errand_store_lost_commits_total") >= 1, "a count of what was lost")
        check("failed over and lost the last" in node.stderr(), "nobody says what was lost")
        for task in (*lost, soon):
            node.call("GET", f"/api/tasks/{task['id']}", expect=404)
    b.heartbeat(gone, expect=409)
    c.complete(gone, expect=409)
    c.complete(new, expect=404)
    has(a.show(held), state="RUNNING", attempt=1)
    has(b.complete(held, result=2), state="COMPLETED", result=2)
    second = a.claim_one("w4", taskTypes=["again"], waitMs=20000, **LEASE)
    same((second["id"], second["attempt"]), (again["id"], 1))
    check(second["lease"] != gone["lease"], "the lost lease was given out again")
    b.complete(gone, expect=409)
    has(b.complete(second), state="COMPLETED", attempt=1)
    same(c.claim("w5", taskTypes=["lost"], waitMs=3000), [], "what nobody knows any more")
    fleet.pass_a_task()
    fleet.doctor()


SLOW = """#!/bin/sh
if [ -f "$0.pid" ] && kill -0 "$(cat "$0.pid")"; then echo "two at once" >> "$0.log"; fi
echo $$ > "$0.pid"
echo begun >> "$0.log"
exec sleep 600
"""


def told(path):
    try:
        with open(path + ".log", encoding="utf-8") as log:
            return log.read().split("\n")[:-1]
    except FileNotFoundError:
        return []


@test(server=False)
def work_that_the_rows_do_not_know_is_stopped_before_it_begins_again(nest):
    slow = nest.file("slow.sh", SLOW)
    os.chmod(slow, 0o755)
    fleet = Fleet(nest, nodes=2, workers=1, standby=True,
                  file=nest.file("errand.conf", f"[workers]\ngrace = 3s\n[handler.slow]\nexec = {slow}\n")).wait_together()
    gate = fleet.node(0).create("gate")
    work = fleet.node(0).create("slow", documentId="d", dependsOn=[gate["id"]])
    held = fleet.node(0).claim_one("w", taskTypes=["gate"], **LEASE)
    fleet.stop_shipping()
    fleet.node(0).complete(held)
    wait_for(lambda: len(told(slow)) == 1, "the work to begin")
    fleet.fail_over()
    wait_ready(fleet)
    has(fleet.node(0).show(work), state="WAITING")
    fleet.node(1).complete(held)
    wait_for(lambda: told(slow).count("begun") == 2, "the work to begin again")
    same(told(slow), ["begun", "begun"])
    fleet.node(0).call("POST", f"/api/tasks/{work['id']}/cancel", expect=(200, 202))
    wait_for(lambda: fleet.node(1).show(work)["state"] == "CANCELLED", "the end of it all")
    fleet.doctor()


main()
