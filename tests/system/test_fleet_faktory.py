# tests/system/test_fleet_faktory.py: clients of Faktory on several nodes that share a store.
#
# SPDX-License-Identifier: MIT
"""System tests of the Faktory listener in a fleet."""
import json

from errand import has, main, same, test, together, wait_for
from faktory import Faktory, task_of
from fleet import Fleet

FAKTORY = ("--faktory", "127.0.0.1:0")


@test(server=False)
def jobs_cross_from_node_to_node_and_are_ended_on_any(nest):
    fleet = Fleet(nest, nodes=2, args=FAKTORY)
    here, there = (Faktory(fleet.node(n), wid=f"w{n}") for n in (0, 1))
    jid = here.push("t", 1, queue="q", custom={"document_id": "d"})
    same(wait_for(lambda: there.fetch("q"), "the job")["jid"], jid)
    has(fleet.node(0).get("/api/documents/d"), locked=True, workerId="w1")
    same(here.ack(jid), "OK")  # another node gave it out: any connection may end it
    same(task_of(fleet.node(1), jid)["state"], "COMPLETED")


@test(server=False)
def workers_on_two_nodes_get_each_job_once(nest):
    fleet = Fleet(nest, nodes=2, args=FAKTORY)
    producer = Faktory(fleet.node(0))
    same(producer.pushb(*({"jid": f"each{n:08d}", "jobtype": "t", "args": [n]} for n in range(100))), {})

    def work(at):
        mine, worker = [], Faktory(fleet.node(at % 2), wid=f"w{at}")
        while job := worker.fetch():
            mine.append(job["args"][0])
            worker.ack(job["jid"])
        return mine
    got = together(*[lambda at=at: work(at) for at in range(4)])
    same(sorted(n for mine in got for n in mine), list(range(100)))


@test(server=False)
def a_worker_hears_on_every_node_what_was_asked_of_it_on_another(nest):
    fleet = Fleet(nest, nodes=2, args=FAKTORY)
    far, both = Faktory(fleet.node(1), wid="far"), [Faktory(fleet.node(n), wid="both") for n in (0, 1)]
    same((far.beat("far"), both[0].beat("both"), both[1].beat("both")), ("OK", "OK", "OK"))

    def listed():
        return {w["id"] for w in fleet.node(0).get("/api/workers")["workers"]} >= {"far", "both"}
    wait_for(listed, "the other node's workers")
    fleet.node(0).post("/api/workers/far/quiet")
    wait_for(lambda: far.beat("far") == {"state": "quiet"}, "it to hear")
    same(both[0].beat("both", current_state="quiet"), {"state": "quiet"})
    wait_for(lambda: both[1].beat("both") == {"state": "quiet"}, "its other connection to hear")
    fleet.node(1).post("/api/workers/both/stop")
    wait_for(lambda: both[0].beat("both") == {"state": "terminate"}, "it to hear")


@test(server=False)
def a_unique_job_is_unique_on_all_nodes(nest):
    fleet = Fleet(nest, nodes=2, args=FAKTORY)
    wires = [Faktory(fleet.node(n % 2)) for n in range(8)]

    def push(n):
        wires[n].send("PUSH " + json.dumps({"jid": f"unique-{n:04d}", "jobtype": "u", "args": [1], "custom": {"unique_for": 600}}) + "\r\n")
        return wires[n].line()
    answers = together(*[lambda n=n: push(n) for n in range(8)])
    same(sorted(answers), ["+OK"] + ["-NOTUNIQUE Job not unique"] * 7)


main()
