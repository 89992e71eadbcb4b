# tests/system/test_fleet_cloud.py: queues of the Cloud Tasks API on several nodes that share PostgreSQL and Redis.
#
# SPDX-License-Identifier: MIT
"""Any node takes the calls, any node sends; names and limits hold for all of them."""
import threading

from errand import check, main, same, test
from fleet import Fleet, wait_slowly
from sink import Sink

PLACE = "/v2/projects/p/locations/l"
QUEUE = PLACE + "/queues/q"
NAME = "projects/p/locations/l/queues/q"


def ask(node, method, path, body=None, expected=200):
    answer = node.raw(method, path, body)
    same(answer.status, expected)
    return answer.json


def make(fleet, **settings):
    return ask(fleet.node(0), "POST", PLACE + "/queues", {"name": NAME, **settings})


@test(server=False)
def any_node_takes_a_call_and_any_node_sends(nest):
    sink = Sink(nest)
    sink.answers = [(500, {}), (404, {})]
    fleet = Fleet(nest, nodes=2, workers=1, env={"ERRAND_PUSH_ALLOW_PRIVATE": "yes"})
    make(fleet, retryConfig={"minBackoff": "0.1s", "maxBackoff": "0.1s"}, rateLimits={"maxConcurrentDispatches": 3})
    same(ask(fleet.node(1), "GET", QUEUE)["rateLimits"]["maxConcurrentDispatches"], 3)
    task = {"name": NAME + "/tasks/t", "httpRequest": {"url": sink.url, "body": "aGk="}}
    ask(fleet.node(1), "POST", QUEUE + "/tasks", {"task": task})
    sink.wait(3)
    seen = [{name.lower(): value for name, value in came["headers"].items()} for came in sink.came[:3]]
    same([(one["x-cloudtasks-taskretrycount"], one["x-cloudtasks-taskexecutioncount"], one.get("x-cloudtasks-taskpreviousresponse"))
          for one in seen], [("0", "0", None), ("1", "0", "500"), ("2", "1", "404")])
    wait_slowly(lambda: fleet.node(0).raw("GET", QUEUE + "/tasks/t").status == 404, "its end, seen elsewhere")
    for node in fleet.nodes:
        ask(node, "POST", QUEUE + "/tasks", {"task": task}, 409)


@test(server=False)
def one_of_many_nodes_gets_a_name(nest):
    fleet = Fleet(nest, nodes=2, env={"ERRAND_PUSH_ALLOW_PRIVATE": "yes"})
    make(fleet)
    for at in range(8):
        task = {"name": f"{NAME}/tasks/n{at}", "httpRequest": {"url": "https://example.com/"}, "scheduleTime": "2100-01-01T00:00:00Z"}
        got = []
        racers = [threading.Thread(target=lambda node=node: got.append(node.raw("POST", QUEUE + "/tasks", {"task": task}).status))
                  for node in fleet.nodes]
        for racer in racers:
            racer.start()
        for racer in racers:
            racer.join()
        same(sorted(got), [200, 409])
    same(len(ask(fleet.node(1), "GET", QUEUE + "/tasks")["tasks"]), 8)
    ask(fleet.node(1), "POST", QUEUE + ":purge", {})
    same(ask(fleet.node(0), "GET", QUEUE + "/tasks"), {"tasks": []})


@test(server=False)
def a_pause_holds_everywhere_and_a_run_goes_all_the_same(nest):
    sink = Sink(nest)
    fleet = Fleet(nest, nodes=2, workers=1, env={"ERRAND_PUSH_ALLOW_PRIVATE": "yes"})
    make(fleet)
    ask(fleet.node(0), "POST", QUEUE + ":pause", {})
    names = [ask(node, "POST", QUEUE + "/tasks", {"task": {"httpRequest": {"url": sink.url}}})["name"] for node in fleet.nodes]
    ask(fleet.node(1), "POST", f"/v2/{names[0]}:run", {})
    sink.wait(1)
    wait_slowly(lambda: fleet.node(0).raw("GET", "/v2/" + names[0]).status == 404, "the one that was run")
    same(ask(fleet.node(0), "GET", "/v2/" + names[1])["dispatchCount"], 0)
    same(ask(fleet.node(1), "GET", QUEUE)["state"], "PAUSED")
    ask(fleet.node(1), "POST", QUEUE + ":resume", {})
    sink.wait(2)
    check(sink.came[1]["headers"]["X-CloudTasks-TaskName"] == names[1].rsplit("/", 1)[1], "the other one")
    ask(fleet.node(1), "DELETE", QUEUE)
    ask(fleet.node(0), "GET", QUEUE, expected=404)


if __name__ == "__main__":
    main()
