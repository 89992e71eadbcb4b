# tests/system/test_rights.py: what belongs to the server itself or to another user is out of reach.
#
# SPDX-License-Identifier: MIT
"""Reserved names, tokens of one user, guesses at the secret of the outside."""
from errand import check, has, main, same, test, wait_for
from teams import begin, claim, task

DAY = 86400000


# ---- Reserved names ----

@test(clock="2027-03-01T09:00:00Z")
def nobody_takes_the_key_of_a_delivery(s):
    schedule = s.post("/api/schedules", {"title": "t", "rrule": "FREQ=DAILY", "userId": "ann"}, 201)
    ident = s.post(f"/api/schedules/{schedule['id']}/run", expect=202)["executionId"]
    for prefix in ("deliver:", "failure:"):
        check("reserved" in s.refused("idempotencyKey", idempotencyKey=f"{prefix}{ident}:WEB")["message"])
    s.show({"id": ident}, waitMs=30000)
    same(len(s.get("/api/notifications", userId="ann")), 1)


@test()
def nobody_puts_tasks_into_a_team(s):
    team = begin(s, task("a"))
    queue = s.list(teamId=team)[0]["queue"]
    s.refused("queue", queue=queue, priority="CRITICAL")
    s.refused("taskType", taskType="team.task", queue="elsewhere")
    s.refused("queue", queue="deliveries")
    s.create("deliver.web", queue="deliveries", payload={"title": "t", "text": "x"})
    body = {"taskType": "t", "children": [{"taskType": "t"}, {"taskType": "team.split"}]}
    same(s.call("POST", "/api/tasks", body, 400).error["field"], "children[1].taskType")
    same(s.call("POST", "/api/tasks", [{"taskType": "t"}, {"taskType": "t", "queue": queue}], 400).error["field"],
         "[1].queue")
    for field, value in (("queue", queue), ("taskType", "team.task")):
        wanted = {"title": "t", "rrule": "FREQ=DAILY", field: value}
        same(s.call("POST", "/api/schedules", wanted, 400).error["field"], field)
        same(s.call("POST", "/api/schedules/preview", wanted, 400).error["field"], field)
    plain = s.post("/api/schedules", {"title": "t", "rrule": "FREQ=DAILY"}, 201)
    same(s.call("PATCH", f"/api/schedules/{plain['id']}", {"queue": queue}, 400).error["field"], "queue")
    same(s.claim(queues=[queue], expect=400)["error"]["field"], "queues")
    path = "/api/queues/" + queue.replace("/", "%2F")
    same(s.call("PUT", path, {"maxConcurrent": 1}, 400).error["field"], "queue")
    same(s.call("POST", path + "/pause", None, 400).error["field"], "queue")
    s.post(path + "/resume")
    has(claim(s, team), title="A")


# ---- Guesses ----

@test(env={"ERRAND_EXECUTE_SECRET": "a long one"})
def whoever_guesses_at_the_secret_of_the_outside_is_slowed_down(s):
    def guess(secret):
        return s.raw("POST", "/v1/tasks/execute", {"secret": secret, "taskId": "x"})
    same(guess("a long one").status, 404)
    answers = []
    while not answers or answers[-1].status == 401:
        answers.append(guess(f"wrong {len(answers)}"))
        check(len(answers) < 100, "it is never slowed down")
    same(answers[-1].status, 429)
    check(len(answers) > 20, "a few are free")
    check(1 <= int(answers[-1].headers["retry-after"]) <= 60, answers[-1].headers)
    wait_for(lambda: guess("a long one").status == 404, "the end of the wait", 90)
    same(guess("wrong").status, 401)  # the right one has cleared it


main()
