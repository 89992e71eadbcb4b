# tests/system/test_crew.py: teams with a language model: it splits, works and puts together.
#
# SPDX-License-Identifier: MIT
"""System tests of teammates inside the server."""
from errand import check, has, main, same, test, wait_for
from standins import Llm
from teams import begin, claim, end, ended, mail, say, states, story, task, team

SPLIT = "Split the assignment"
JOIN = "Put their results"
WORK = "You are a member of a team"


def server(nest, **options):
    llm = Llm(nest)
    s = nest.server(env={"ERRAND_LLM_BASE_URL": llm.url, "ERRAND_LLM_MODEL": "small"}, **options)
    return s, llm


def asked(llm, words):
    """The questions so far that hold these words: each as one text."""
    texts = ["\n".join(m["content"] for m in r["body"]["messages"]) for r in llm.requests()]
    return [text for text in texts if words in text]


@test(server=False)
def a_model_splits_works_and_puts_together(nest):
    s, llm = server(nest)
    llm.answer({"when": SPLIT, "json": {"tasks": [
        {"id": "a", "title": "Alpha", "description": "first", "dependsOn": []},
        {"id": "b", "title": "Beta", "description": "second", "dependsOn": ["a"]}]}},
        {"when": "first", "text": "alpha is done"}, {"when": "second", "text": "beta is done"},
        {"when": JOIN, "text": "all is done"})
    ident = begin(s, teammates=[{"role": "thinker", "focus": "depth"}, {"role": "writer"}], model="big")
    stream = s.stream(f"/api/teams/{ident}/stream")
    found = ended(s, ident)
    has(found, status="completed", result="all is done", tasksDone=2, tasksTotal=2,
        cost={"actual": 4, "tokens": 72}, model="big")
    same(sum(m["tasksDone"] for m in found["teammates"]), 2)
    same({m["inside"] for m in found["teammates"]}, {True})
    same({r["body"]["model"] for r in llm.requests()}, {"big"})
    beta, = asked(llm, "second")
    check("alpha is done" in beta and "write a book" in beta and "Your role: " in beta, beta)
    join, = asked(llm, JOIN)
    check("alpha is done" in join and "beta is done" in join, join)
    check("thinker: depth" in asked(llm, SPLIT)[0], "who is there is told to the lead")
    told = story(stream)
    same([e for e in told if e != "message"],
         ["decomposing", "tasks_created", "teammates_started", "task_claimed", "task_completed",
          "task_claimed", "task_completed", "synthesizing", "team_completed"])
    same([m["body"] for m in mail(s, ident)], ["alpha is done", "beta is done"])
    same({t["taskType"] for t in s.list(teamId=ident)}, {"team.split", "team.task", "team.synthesis"})


@test(server=False)
def no_more_teammates_work_than_there_are(nest):
    s, llm = server(nest)
    llm.answer(*[{"when": f"task{n} ", "hold": 0} for n in range(4)])
    ident = begin(s, *[task(f"t{n}", description=f"task{n} here") for n in range(4)],
                  teammates=[{"role": "x"}, {"role": "x"}])
    wait_for(lambda: len(asked(llm, WORK)) == 2)
    same(sorted(states(s, ident).values()), ["QUEUED", "QUEUED", "RUNNING", "RUNNING"])
    same([(m["agent"], m["status"]) for m in team(s, ident)["teammates"]],
         [("x", "working"), ("x 2", "working")])
    workers = [w for w in s.get("/api/workers")["workers"] if w["kind"] == "team" and w["taskIds"]]
    same(len(workers), 2)
    llm.clear()
    has(ended(s, ident), status="completed", tasksDone=4)


@test(server=False)
def agents_outside_and_inside_work_together(nest):
    s, llm = server(nest)
    llm.answer({"when": "inner work", "hold": 0})
    ident = begin(s, task("a", description="inner work"), task("b"), task("c", "b"),
                  teammates=[{"role": "inner"}])
    wait_for(lambda: asked(llm, "inner work"))
    got = claim(s, ident, "outer")
    same(got["ref"], "b")
    say(s, ident, "look at the north side", sender="outer", to="inner")
    s.complete(got, result="from outside")
    got = claim(s, ident, "outer")
    same(got["ref"], "c")
    s.release(got)
    llm.clear()
    found = ended(s, ident)
    has(found, status="completed", tasksDone=3)
    same({m["agent"]: m["tasksDone"] for m in found["teammates"]}, {"inner": 2, "outer": 1})
    last = asked(llm, "\n# Your task\nC")
    check("look at the north side" in last[0] and "from outside" in last[0], last)


@test(server=False)
def a_team_of_no_teammates_is_left_to_agents_outside(nest):
    s, llm = server(nest)
    llm.answer({"when": JOIN, "text": "joined"})
    ident = begin(s, task("a"), teammates=[])
    s.complete(claim(s, ident, waitMs=10000), result="x")
    has(ended(s, ident), status="completed", result="joined")
    same(asked(llm, WORK), [])


@test(server=False)
def a_split_that_is_nonsense_is_asked_for_again_once(nest):
    s, llm = server(nest)
    good = {"tasks": [{"id": "a", "title": "A", "description": "", "dependsOn": []}]}
    cycle = {"tasks": [{"id": "a", "title": "A", "description": "", "dependsOn": ["a"]}]}
    llm.answer({"when": SPLIT, "json": cycle}, {"when": SPLIT, "json": good})
    has(ended(s, begin(s)), status="completed", tasksTotal=1)
    again = asked(llm, "That split cannot be used")
    same(len(again), 1)
    check("in a cycle" in again[0], again)
    llm.clear()
    llm.answer({"when": SPLIT, "text": "no JSON at all"}, {"when": SPLIT, "json": {"tasks": []}})
    found = ended(s, begin(s))
    has(found, status="failed", tasksTotal=0)
    same(found["error"]["code"], "split_failed")
    check("tasks must be 1 to 50" in found["error"]["message"], found)


@test(server=False)
def a_model_that_is_busy_is_asked_later(nest):
    s, llm = server(nest, clock=True)
    llm.answer(*[{"when": "hard", "status": 429, "headers": {"Retry-After": "3600"}}] * 4)
    ident = begin(s, task("a", description="hard"), task("b"), onTaskFailure="continue")
    wait_for(lambda: states(s, ident) == {"a": "RETRYING", "b": "COMPLETED"})
    llm.clear()
    s.advance(3600 * 1000)
    has(ended(s, ident), status="completed", tasksDone=2)


@test(server=False)
def a_model_that_refuses_fails_the_task_and_the_synthesis_names_it(nest):
    s, llm = server(nest)
    llm.answer({"when": "\n# Your task\nA", "refusal": "I will not"}, {"when": JOIN, "text": "what we have"})
    ident = begin(s, task("a"), task("b"), onTaskFailure="continue")
    found = ended(s, ident)
    has(found, status="completed", tasksDone=1, tasksFailed=1)
    check(found["result"].startswith("what we have\n\nNot done:\n- A (FAILED: "), found["result"])
    check("was not done" in asked(llm, JOIN)[0], "the model is told, too")


@test(server=False)
def results_are_kept_when_the_synthesis_fails(nest):
    s, llm = server(nest)
    llm.answer({"when": "\n# Your task\nA", "text": "found"}, {"when": JOIN, "refusal": "no"})
    has(ended(s, begin(s, task("a"))), status="completed", result="## A\n\nfound")


@test(server=False)
def cancelling_stops_what_the_model_is_asked(nest):
    s, llm = server(nest)
    llm.answer({"when": "slow", "hold": 0})
    ident = begin(s, task("a", description="slow"), task("b", "a"))
    wait_for(lambda: asked(llm, "slow"))
    has(end(s, ident), status="cancelled")
    wait_for(lambda: states(s, ident) == {"a": "CANCELLED", "b": "CANCELLED"}, "the end of both")
    llm.release()


@test(server=False)
def a_crash_in_the_middle_of_thinking_loses_nothing(nest):
    s, llm = server(nest)
    llm.answer({"when": SPLIT, "hold": 0})
    ident = begin(s)
    wait_for(lambda: asked(llm, SPLIT))
    s.kill()
    llm.clear()
    llm.answer({"when": SPLIT, "json": {"tasks": [
        {"id": "a", "title": "A", "description": "slow", "dependsOn": []}]}},
        {"when": "slow", "hold": 0})
    s.restart()
    wait_for(lambda: asked(llm, "slow"))
    s.kill()
    llm.clear()
    s.restart()
    has(ended(s, ident), status="completed", tasksDone=1)
    s.doctor()


@test(server=False)
def a_stop_gives_back_what_is_being_thought_about(nest):
    s, llm = server(nest, args=["--config", nest.file("c.conf", "[workers]\ngrace = 100ms\n")])
    llm.answer({"when": "slow", "hold": 0})
    ident = begin(s, task("a", description="slow"))
    wait_for(lambda: asked(llm, "slow"))
    same(s.terminate(), 0)
    llm.clear()
    s.restart()
    has(ended(s, ident), status="completed")
    has(s.show(team(s, ident)["tasks"][0]["taskId"]), retries=0, attempt=2)


@test(server=False)
def many_teams_share_the_seats(nest):
    s, llm = server(nest)
    idents = [begin(s, task("a"), task("b", "a"), teammates=[{"role": "r"}]) for _ in range(30)]
    for ident in idents:
        has(ended(s, ident), status="completed", tasksDone=2)
    check(llm.requests(), "the model was asked")


main()
