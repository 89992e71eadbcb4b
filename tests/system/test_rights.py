# tests/system/test_rights.py: what belongs to the server itself or to another user is out of reach.
#
# SPDX-License-Identifier: MIT
"""Reserved names, tokens of one user, guesses at the secret of the outside."""
import os

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


# ---- Files ----

def modes(s):
    found = {}
    for folder, _, names in os.walk(s.data):
        found[os.path.relpath(folder, s.data)] = os.stat(folder).st_mode & 0o777
        found.update({name: os.stat(os.path.join(folder, name)).st_mode & 0o777 for name in names})
    return found


@test(server=False)
def files_are_their_owners_alone_whatever_the_folder_and_the_umask(nest):
    data, before = nest.folder(), os.umask(0)
    try:
        os.mkdir(data, 0o777)
        s = nest.server(data=data)
        make_token(s, "admin")
        s.token = make_token(s, "admin")
        wait_for(lambda: s.raw("GET", "/api/tasks").status == 200)
        task = s.create("document.append", documentId="d", payload={"text": "x"})
        has(s.show(task, waitMs=30000), state="COMPLETED")
        wide = {name: mode for name, mode in modes(s).items() if mode & 0o077 and name != "."}
        same(wide, {}, "modes")
        check("errand.db-wal" in modes(s), modes(s))
        s.kill()
        for name in ("errand.db", "errand.db-wal", "tokens"):
            os.chmod(os.path.join(data, name), 0o644)
        s.restart()
        same(s.list()[0]["id"], task["id"])
        same({modes(s)[name] for name in ("errand.db", "errand.db-wal", "errand.db-shm", "tokens")}, {0o600})
        check("errand.db had the mode 0644" in s.stderr() and "tokens had the mode 0644" in s.stderr(), s.stderr())
    finally:
        os.umask(before)


# ---- Tokens of one user ----

def make_token(s, role, user=None):
    return s.nest.run("token", "create", "--role", role, "--data", s.data,
                      *(("--user", user) if user else ())).stdout.strip()


def run_of(s, user, **fields):
    """A schedule of that user and a run of it that nobody does."""
    schedule = s.post("/api/schedules", {"title": user, "dtstart": "2099-01-01T00:00:00", "userId": user,
                                         "taskType": "t", "overlap": "allow", **fields}, 201)
    ident = s.post(f"/api/schedules/{schedule['id']}/run", None, 202)["executionId"]
    return schedule["id"], ident


@test(args=("--workers", "0"))
def a_token_of_a_user_reaches_no_run_of_another(s):
    (_, mine), (theirs, run) = run_of(s, "ann"), run_of(s, "bob")
    _, nobodys = run_of(s, "x", userId=None)
    plain = s.create("plain")
    admin, s.token = make_token(s, "admin"), make_token(s, "produce", "ann")
    wait_for(lambda: s.raw("GET", "/api/tasks").status == 200)
    path = f"/api/tasks/{run}"
    same(s.list(scheduleId=theirs), [])
    for method, after, body in (("GET", "", None), ("GET", "/why", None), ("GET", "/stream", None),
                                ("PATCH", "", {"priority": "LOW"}), ("DELETE", "", None),
                                ("POST", "/cancel", None), ("POST", "/retry", None)):
        same(s.call(method, path + after, body, 404).error["message"], "there is no such task", method + after)
    s.get(f"/api/executions/{run}", 404)
    s.get(f"/api/tasks/{nobodys}", 404)
    s.get(path + "?waitMs=1000", 404)
    same(set(s.ids()), {mine, plain["id"]})
    for verb, field, value in (("cancel", "scheduleId", theirs), ("cancel", "taskType", "t"), ("retry", "taskType", "t")):
        wanted = 1 if field == "taskType" else 0
        same(s.post(f"/api/tasks/{verb}", {field: value})["count"], wanted, verb + field)
    s.cancel({"id": mine})
    has(s.show(plain), state="QUEUED")
    s.token = make_token(s, "admin", "ann")
    s.post("/api/queues/default/purge")
    s.claim(expect=403)
    s.call("POST", path + "/complete", {"lease": "1-0000000000000000"}, 404)
    s.token = admin
    has(s.show({"id": run}), state="QUEUED")
    same(s.claim_one()["id"], run)


@test(args=("--workers", "0"))
def lists_of_a_token_of_a_user_are_whole_pages(s):
    pages, seen = [run_of(s, "ann" if n % 3 == 0 else "bob")[1] for n in range(24)], []
    s.token = make_token(s, "read", "ann")
    wait_for(lambda: s.raw("GET", "/api/tasks").status == 200)
    path = "/api/tasks?limit=3"
    while path:
        answer = s.call("GET", path, None, 200)
        seen.append([t["id"] for t in answer.json])
        link = answer.headers.get("link")
        path = link[1:link.index(">")] if link else None
    same(seen, [pages[21:11:-3][:3], pages[12:2:-3][:3], pages[3::-3]])


@test(args=("--workers", "0"))
def events_of_other_users_runs_are_not_told(s):
    admin, ann = make_token(s, "admin"), make_token(s, "read", "ann")
    s.token = ann
    wait_for(lambda: s.raw("GET", "/api/tasks").status == 200)
    stream = s.stream("/api/events", {"Authorization": f"Bearer {ann}"})
    same(stream.status, 200)
    s.token, expected = admin, []
    for n in range(6):
        user = ("ann", "bob")[n % 2]
        _, run = run_of(s, user)
        s.cancel({"id": run})
        expected += [(run, "QUEUED"), (run, "CANCELLED")] if user == "ann" else []
        plain = s.create()
        expected.append((plain["id"], "QUEUED"))
    same([(e[2]["taskId"], e[2]["state"]) for e in (stream.next() for _ in expected)], expected)


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
