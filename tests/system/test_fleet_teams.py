# tests/system/test_fleet_teams.py: teams on several nodes that share a store.
#
# SPDX-License-Identifier: MIT
"""System tests of teams in a fleet."""
from errand import check, has, main, same, test, together, wait_for
from fleet import Fleet
from standins import Llm
from teams import begin, claim, end, ended, mail, say, states, story, task, team


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
def a_document_of_a_team_is_one_on_all_nodes(nest):
    fleet = Fleet(nest, nodes=2)
    ident = begin(fleet.node(0), *[task(f"t{i}") for i in range(6)], documentId="d")
    for n in range(6):
        got = [t for t in together(*[lambda m=m: claim(fleet.node(m % 2), ident, f"a{m}", waitMs=m // 2 * 500)
                                     for m in range(4)]) if t]
        wait_for(lambda: list(states(fleet.node(n % 2), ident).values()).count("RUNNING") == 1)
        same(len(got), 1)
        fleet.node(n % 2).complete(got[0])
    has(ended(fleet.node(0), ident), status="completed")


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
