# tests/system/test_fleet_tokens.py: who may speak to a fleet may speak to each of its nodes.
#
# SPDX-License-Identifier: MIT
"""Tokens in the store that nodes share."""
import json

from errand import check, main, same, test
from fleet import Fleet, wait_slowly


def status(node, token, method="GET", path="/api/tasks", body=None):
    return node.raw(method, path, body, {"Authorization": f"Bearer {token}"} if token else None).status


def token_of(fleet, verb, *args):
    """`errand token VERB` on the store; the data folder is none of the nodes'."""
    return fleet.nest.run("token", verb, *args, "--data", fleet.nest.folder(), "--store", fleet.store_url()).stdout


def wait_statuses(fleet, token, expected):
    wait_slowly(lambda: all(status(node, token) == expected for node in fleet.nodes), f"{expected} on every node")


@test(server=False)
def a_token_opens_every_node_until_it_is_revoked(nest):
    fleet = Fleet(nest, nodes=2)
    wait_statuses(fleet, None, 200)
    admin = token_of(fleet, "create", "--role", "admin").strip()
    wait_statuses(fleet, None, 401)
    wait_statuses(fleet, admin, 200)
    reader = token_of(fleet, "create", "--role", "read", "--user", "ann").strip()
    wait_statuses(fleet, reader, 200)
    for node in fleet.nodes:
        same(status(node, reader, "POST", "/api/tasks", {"taskType": "t"}), 403)
    rows = json.loads(token_of(fleet, "ls", "--json"))
    same([(row["role"], row["place"]) for row in rows], [("admin", "store"), ("read", "store")])
    token_of(fleet, "revoke", rows[1]["id"])
    wait_statuses(fleet, reader, 401)
    wait_statuses(fleet, admin, 200)
    check(not fleet.sql(f"SELECT 1 FROM token WHERE position('{admin}' in convert_from(line, 'UTF8')) > 0"),
          "the token itself is in the store")


@test(server=False)
def a_node_knows_the_fleets_tokens_before_anybody_can_reach_it(nest):
    fleet = Fleet(nest, nodes=0)
    refused = nest.refuses("--listen", "0.0.0.0:0", "--data", nest.folder(), "--store", fleet.store_url(),
                           "--broker", fleet.redis.url)
    check("token create" in refused and "--store" in refused, refused)
    admin = token_of(fleet, "create", "--role", "admin").strip()
    fleet.add(listen="0.0.0.0:0")
    same(status(fleet.node(0), None), 401)
    same(status(fleet.node(0), admin), 200)


@test(server=False)
def a_token_of_the_data_folder_opens_its_own_node_only(nest):
    fleet = Fleet(nest, nodes=2)
    own = nest.run("token", "create", "--role", "admin", "--data", fleet.node(0).data).stdout.strip()
    shared = token_of(fleet, "create", "--role", "admin").strip()
    wait_statuses(fleet, None, 401)
    wait_statuses(fleet, shared, 200)
    same([status(node, own) for node in fleet.nodes], [200, 401])
    run = nest.run("token", "ls", "--json", "--data", fleet.node(0).data, "--store", fleet.store_url())
    rows = json.loads(run.stdout)
    same(sorted(row["place"] for row in rows), ["folder", "store"])
    for row in rows:
        nest.run("token", "revoke", row["id"], "--data", fleet.node(0).data, "--store", fleet.store_url())
    wait_statuses(fleet, shared, 401)
    wait_statuses(fleet, own, 401)
    wait_statuses(fleet, None, 401)  # what was shut stays shut: on each node until it is started again
    fleet.node(0).restart()
    same([status(node, None) for node in fleet.nodes], [200, 401])


@test(server=False)
def a_store_that_is_away_changes_nobodys_rights(nest):
    fleet = Fleet(nest, nodes=1, proxied=True)
    admin = token_of(fleet, "create", "--role", "admin").strip()
    wait_statuses(fleet, None, 401)
    fleet.wires[0]["postgres"].cut()
    wait_slowly(lambda: status(fleet.node(0), None, path="/readyz") == 503, "a node without its store")
    same(status(fleet.node(0), None), 401)
    same(status(fleet.node(0), admin), 503)
    fleet.wires[0]["postgres"].heal()
    wait_statuses(fleet, admin, 200)


@test(server=False)
def a_token_of_a_user_reaches_no_run_of_another_on_any_node(nest):
    fleet = Fleet(nest, nodes=2, workers=0).wait_together()
    admin, ann = [token_of(fleet, "create", "--role", *args).strip()
                  for args in (("admin",), ("produce", "--user", "ann"))]
    wait_statuses(fleet, None, 401)  # before a node knows of tokens, anybody is welcome there
    wait_statuses(fleet, ann, 200)
    wait_statuses(fleet, admin, 200)
    streams = [node.stream("/api/events?types=state", {"Authorization": f"Bearer {ann}"}) for node in fleet.nodes]
    runs, told = {}, []
    for n, user in enumerate(("bob", "ann", "bob", "ann")):
        node = fleet.node(n % 2)
        node.token = admin
        schedule = node.post("/api/schedules", {"title": "t", "dtstart": "2099-01-01T00:00:00", "userId": user,
                                                "taskType": "t"}, 201)["id"]
        run = node.post(f"/api/schedules/{schedule}/run", None, 202)["executionId"]
        runs.setdefault(user, []).append((schedule, run))
    mine = [run for _, run in runs["ann"]]
    for stream in streams:
        told = [stream.next()[2]["taskId"] for _ in mine]
        same(sorted(told), sorted(mine))
    for node in fleet.nodes:
        node.token = ann
        same(sorted(node.ids()), sorted(mine))
        for schedule, run in runs["bob"]:
            same(node.list(scheduleId=schedule), [])
            node.get(f"/api/tasks/{run}", 404)
            node.post(f"/api/tasks/{run}/cancel", None, 404)
            same(node.post("/api/tasks/cancel", {"scheduleId": schedule}), {"count": 0})
    same(fleet.node(1).post("/api/tasks/cancel", {"taskType": "t"}), {"count": 2})


@test(server=False)
def a_session_opens_every_node_until_one_of_them_is_left(nest):
    fleet = Fleet(nest, nodes=2)
    admin = token_of(fleet, "create", "--role", "admin").strip()
    wait_statuses(fleet, None, 401)
    wait_statuses(fleet, admin, 200)
    cookies = []
    for at in (0, 1):
        answer = fleet.node(at).raw("POST", "/api/session", {"token": admin})
        same(answer.status, 204)
        cookies.append(answer.headers["set-cookie"].split(";")[0])
    for cookie in cookies:
        for node in fleet.nodes:
            same(node.raw("GET", "/api/tasks", headers={"Cookie": cookie}).status, 200)
    left = fleet.node(0).raw("DELETE", "/api/session", None, {"Cookie": cookies[1], "X-Errand-Request": "1"})
    same(left.status, 204)
    same(fleet.node(0).raw("GET", "/api/tasks", headers={"Cookie": cookies[1]}).status, 401)
    wait_slowly(lambda: fleet.node(1).raw("GET", "/api/tasks", headers={"Cookie": cookies[1]}).status == 401,
                "the other node to hear of it")
    same(fleet.node(1).raw("GET", "/api/tasks", headers={"Cookie": cookies[0]}).status, 200)


main()
