# tests/system/test_fleet_teams.py: teams on several nodes that share a store.
#
# SPDX-License-Identifier: MIT
"""System tests of teams in a fleet."""
from errand import check, has, main, same, test, together, wait_for
from fleet import Fleet
from standins import Llm
from teams import begin, claim, document, end, ended, mail, say, states, story, task, team


@test(server=False)
def two_hundred_agents_on_two_nodes_get_each_task_once(nest):
    fleet = Fleet(nest, nodes=2)
    ident = begin(fleet.node(0), *[task(f"t{i}") for i in range(50)])
    got = together(*[lambda n=n: claim(fleet.node(n % 2), ident, f"agent-{n}", waitMs=5000)
                     for n in range(200)])
    held = [t for t in got if t]
    same(len(held), 50)
    same(len({t["id"] for t in held}), 50, "different tasks")
    same({t["workerId"] for t in held}, {f"agent-{n}" for n, t in enumerate(got) if t})
    together(*[lambda n=n, t=t: fleet.node(n % 2).complete(t, result=n) for n, t in enumerate(held)])
    has(ended(fleet.node(1), ident), status="completed", tasksDone=50)


@test(server=False)
def members_on_two_nodes_talk_and_watch(nest):
    fleet = Fleet(nest, nodes=2)
    here, there = fleet.node(0), fleet.node(1)
    ident = begin(here, task("a"), task("b", "a"))
    stream = there.stream(f"/api/teams/{ident}/stream")
    stream.until(lambda event, _: event == "teammates_started")
    came, _ = together(lambda: mail(there, ident, agent="b", waitMs=30000),
                       lambda: say(here, ident, "hello", to="b"))
    same([m["body"] for m in came], ["hello"])
    def talk(s):
        for n in range(50):
            say(s, ident, n)
    together(lambda: talk(here), lambda: talk(there))
    ids = [m["id"] for m in mail(here, ident)]
    same((len(ids), ids), (101, sorted(set(ids))))
    same([m["id"] for m in mail(there, ident, after=ids[50])], ids[51:])
    there.complete(claim(there, ident, waitMs=10000), result=1)
    here.complete(claim(here, ident, waitMs=10000), result=2)
    told = story(stream)
    same([e for e in told if e != "message"],
         ["task_claimed", "task_completed", "task_claimed", "task_completed", "synthesizing", "team_completed"])
    has(team(here, ident), status="completed")
    end(there, ident, 204)
    team(here, ident, 404)


@test(server=False)
def a_claim_that_waits_on_another_node_is_told_that_the_team_ended(nest):
    fleet = Fleet(nest, nodes=2)
    here, there = fleet.node(0), fleet.node(1)
    ident = begin(here, task("a"))
    got = claim(here, ident)
    told, _ = together(
        lambda: there.post(f"/api/teams/{ident}/claim", {"agent": "late", "waitMs": 60000}),
        lambda: (wait_for(lambda: any(w["id"] == "late" for w in there.get("/api/workers")["workers"])),
                 here.complete(got)))
    same(told, {"task": None, "status": "completed"})


@test(server=False)
def a_team_holds_its_document_on_all_nodes(nest):
    fleet = Fleet(nest, nodes=2)
    here, there = fleet.node(0), fleet.node(1)
    ident = begin(here, task("a"), task("b"), task("c", "a", "b"), documentId="d")
    after = there.create(documentId="d")
    got = [claim(s, ident, f"a{n}", waitMs=30000) for n, s in enumerate((here, there))]
    same([t["ref"] for t in got], ["a", "b"])
    hold = document(there, "d")["taskId"]
    has(there.show(hold), taskType="team.document", state="RUNNING")
    same((here.claim(), there.claim()), ([], []))
    fleet.redis.flush()
    for s in (here, there):
        wait_for(lambda s=s: s.get("/api/nodes")["nodes"] and fleet.redis.ask("EXISTS", "errand:doclock:{d}") == 1, "the lock")
        same(s.claim(), [])
    for n, t in enumerate(got):
        fleet.node(n).complete(t)
    here.complete(claim(there, ident, waitMs=30000))
    has(ended(there, ident), status="completed")
    same(there.claim_one(waitMs=30000)["id"], after["id"])
    fleet.doctor()


@test(server=False)
def a_hold_and_a_place_in_line_outlive_the_node_that_took_them(nest):
    fleet = Fleet(nest, nodes=2)
    fleet.wait_leader()
    first = fleet.leader()
    here, there = fleet.node(first), fleet.node(1 - first)
    idents = [begin(here, task("a"), task("b"), documentId="d") for _ in range(2)]
    after = there.create(documentId="d")
    held = [claim(s, idents[0], f"a{n}", waitMs=30000, leaseMs=600000) for n, s in enumerate((here, there))]
    fleet.kill(first)
    same(there.claim(), [])
    for t in held:
        there.complete(t)
    same(there.claim(), [])
    for n in range(2):
        there.complete(claim(there, idents[1], f"b{n}", waitMs=60000))
    has(ended(there, idents[1]), status="completed")
    same(there.claim_one(waitMs=30000)["id"], after["id"])
    fleet.doctor()


@test(server=False)
def teammates_of_the_leader_work_and_those_of_the_next_go_on(nest):
    llm = Llm(nest)
    fleet = Fleet(nest, nodes=2, workers=2,
                  env={"ERRAND_LLM_BASE_URL": llm.url, "ERRAND_LLM_MODEL": "m"})
    def leader():
        return [n for n in (0, 1) if fleet.node(n).process.poll() is None for seen in
                fleet.node(n).get("/api/nodes")["nodes"] if seen["leader"]
                and seen["address"].endswith(f":{fleet.node(n).port}")]
    wait_for(lambda: leader(), "a leader")
    first = leader()[0]
    other = 1 - first
    llm.answer({"when": "Split the assignment", "json": {"tasks": [
        {"id": t, "title": t.upper(), "description": f"work on {t}.", "dependsOn": []} for t in "abc"]}},
        {"when": "work on a.", "hold": 0}, {"when": "work on b.", "hold": 0})
    ident = begin(fleet.node(other), teammates=[{"role": "x"}, {"role": "y"}])
    wait_for(lambda: list(states(fleet.node(other), ident).values()).count("RUNNING") == 2, "two at work")
    check("QUEUED" in states(fleet.node(other), ident).values(), "no more than two")
    fleet.kill(first)
    llm.clear()
    wait_for(lambda: team(fleet.node(other), ident)["status"] == "completed", "the end", deadline=240)
    has(team(fleet.node(other), ident), tasksDone=3)


main()
