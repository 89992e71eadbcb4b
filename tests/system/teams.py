# tests/system/teams.py: what tests of teams have in common.
#
# SPDX-License-Identifier: MIT
"""Calls that agents and their principals make."""
import urllib.parse

from errand import wait_for


def task(ident, *depends, **fields):
    return {"id": ident, "title": ident.upper(), "dependsOn": list(depends), **fields}


def begin(s, *tasks, expect=202, **fields):
    """The id of a new team, or the error."""
    body = {"prompt": "write a book", **fields}
    if tasks:
        body["tasks"] = list(tasks)
    answer = s.call("POST", "/api/teams", body, expect)
    return answer.json["teamId"] if expect == 202 else answer.error


def team(s, ident, expect=200):
    return s.get(f"/api/teams/{ident}", expect)


def claim(s, ident, agent="a1", expect=200, **fields):
    answer = s.post(f"/api/teams/{ident}/claim", {"agent": agent, **fields}, expect)
    return answer["task"] if expect == 200 else answer


def say(s, ident, body, sender="a1", expect=201, **fields):
    return s.post(f"/api/teams/{ident}/messages", {"from": sender, "body": body, **fields}, expect)


def mail(s, ident, expect=200, **query):
    return s.get(f"/api/teams/{ident}/messages?" + urllib.parse.urlencode(query), expect)


def end(s, ident, expect=200):
    answer = s.call("DELETE", f"/api/teams/{ident}", None, expect)
    return answer.json if answer.body else None


def states(s, ident):
    return {t["id"]: t["state"] for t in team(s, ident)["tasks"]}


def ended(s, ident):
    wait_for(lambda: team(s, ident)["status"] != "running", "the team's end")
    return team(s, ident)


def story(stream):
    """The names of all events until the stream ends."""
    return [event for event, _, _ in stream.rest()]


def document(s, name):
    return s.get("/api/documents/" + urllib.parse.quote(name, safe=""))
