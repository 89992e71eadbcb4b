# tests/system/test_fleet_history.py: the judge of histories sees what is wrong, and nothing where nothing is.
#
# SPDX-License-Identifier: MIT
"""Tests of the history checker itself."""
import os

from errand import check, main, same, test, wait_for
from fleet import Lone
from history import Call, History, Producer, Worker, judge

RANDOM = {"priority": ("CRITICAL", "HIGH", "NORMAL", "LOW"), "documentId": (None, None, "d1", "d2")}


def orders(random):
    picked = {key: random.choice(values) for key, values in RANDOM.items()}
    return {key: value for key, value in picked.items() if value is not None}


# ---- A small history by hand: one task, created, claimed, completed ----


def task(**more):
    return {"id": "a", "payload": "k", "priority": "NORMAL", "queue": "default", "state": "QUEUED",
            "queuedAt": "2027-03-01T09:00:00.000Z", **more}


def create(start=0.0, key="k", status=201, **more):
    return Call("create", start, start + 0.1, status, tasks=[task(**{"payload": key, **more})],
                orders=[{"idempotencyKey": key, "payload": key}])


def claim(start, attempt=1, lease_s=10.0, **more):
    given = task(**{"attempt": attempt, "lease": f"L{attempt}", "state": "RUNNING", **more})
    return Call("claim", start, start + 0.1, 200, tasks=[given], lease_s=lease_s, queues=["default"])


def finish(start, verb="complete", attempt=1, status=200, ident="a", **more):
    lease = f"L{attempt}"
    return Call(verb, start, start + 0.1, status, **{"id": ident, "lease": lease, "attempt": attempt,
                                                     "result": lease, **more})


def ended(state="COMPLETED", result="L1", ident="a", payload="k"):
    return {ident: {"state": state, "result": result, "payload": payload}}


def verdict(final, *calls, quiet=()):
    history = History()
    history.add(*calls)
    history.quiet = list(quiet)
    return judge(history, final)


def guilty(promise, final, *calls, quiet=()):
    found = verdict(final, *calls, quiet=quiet)
    check(found and all(line.startswith(promise) for line in found), f"{promise}: {found}")


@test(server=False)
def a_good_history_is_found_good(_):
    same(verdict(ended(), create(), claim(1), finish(2)), [])
    same(verdict(ended(result="L2"), create(), claim(1, lease_s=1), finish(5, status=409), claim(3, attempt=2),
                 finish(6, attempt=2)), [])
    same(verdict(ended(), create(status=None), create(1), claim(2), finish(3, status=None), finish(4)), [])


@test(server=False)
def a_lost_or_doubled_create_is_seen(_):
    guilty("G1", {}, create())
    guilty("G1", {**ended(), **ended(ident="b")}, create(), create(1, id="b"), claim(2), finish(3),
           claim(2, id="b", lease="M"), finish(3, ident="b"))
    guilty("G1", ended(state="QUEUED", result=None), create())
    guilty("G1", ended(payload="other"), create(), claim(1), finish(2))


@test(server=False)
def a_lost_complete_is_seen(_):
    guilty("G1", ended(state="FAILED", result=None), create(), claim(1), finish(2))
    guilty("G1", ended(result="other"), create(), claim(1), finish(2, status=None, result="other"), finish(3))


@test(server=False)
def a_second_complete_and_a_stale_lease_are_seen(_):
    guilty("G2", ended(), create(), claim(1, lease_s=1), claim(3, attempt=2), finish(4))
    guilty("G2", ended(), create(), claim(1, lease_s=1), finish(2), claim(3, attempt=2))
    guilty("G2", ended(result="L2"), create(), claim(1, lease_s=1), claim(3, attempt=2), finish(4, attempt=2),
           finish(5, verb="heartbeat"))
    found = verdict(ended(result="L2"), create(), claim(1, lease_s=1), claim(3, attempt=2), finish(3.05),
                    finish(4, attempt=2))
    check(any("two leases" in line for line in found), found)


@test(server=False)
def an_attempt_given_out_twice_or_ended_twice_is_seen(_):
    guilty("G2", ended(), create(), claim(1, lease_s=1), claim(3, lease_s=1), finish(4))
    guilty("G2", ended(), create(), claim(1), finish(2, verb="release"), finish(3))
    guilty("G2", ended(result="nobody"), create(), claim(1))


@test(server=False)
def a_document_held_twice_is_seen(_):
    both = {**ended(), **ended(ident="b", result="M", payload="k2")}
    second = create(0.2, key="k2", id="b")
    last = finish(4, ident="b", lease="M", result="M")
    guilty("G3", both, create(), second, claim(1, documentId="d"), claim(2, id="b", lease="M", documentId="d"),
           finish(3), last)
    same(verdict(both, create(), second, claim(1, documentId="d"), finish(1.5),
                 claim(2, id="b", lease="M", documentId="d"), last), [])
    same(verdict(both, create(), second, claim(1, documentId="d", lease_s=0.9), finish(3),
                 claim(2, id="b", lease="M", documentId="d"), last), [], "a lease that has ended")
    guilty("G3", both, create(), second, claim(1, documentId="d", lease_s=0.9),
           finish(1.5, verb="heartbeat", lease_s=10.0), claim(2, id="b", lease="M", documentId="d"), finish(3), last)


@test(server=False)
def a_task_passed_over_is_seen_in_quiet_phases_only(_):
    both = {**ended(), **ended(ident="b", result="M", payload="k2")}
    calls = (create(priority="HIGH"), create(key="k2", id="b"), claim(3, id="b", lease="M"), claim(4, priority="HIGH"),
             finish(5), finish(5, ident="b", lease="M", result="M"))
    guilty("G4", both, *calls, quiet=[(2, 9)])
    same(verdict(both, *calls), [])
    same(verdict(both, *calls, quiet=[(3.5, 9)]), [])
    hasty = (create(2.5, priority="HIGH"), *calls[1:])
    same(verdict(both, *hasty, quiet=[(2, 9)]), [], "a second must have passed since the create")


# ---- Real histories ----


def live(s, count=200, late=0.02):
    """A producer and two workers on one server, until everything has ended."""
    history, fleet = History(), Lone(s)
    history.quiet = [(0, 1e9)]
    clients = [Producer(fleet, history, "p", 7, count=count, make=orders),
               *(Worker(fleet, history, f"w{i}", 7, late=late, lease_ms=1000) for i in range(2))]
    for client in clients:
        client.start()
    clients[0].join()
    wait_for(lambda: not s.list(state="SCHEDULED,WAITING,QUEUED,RUNNING,RETRYING", limit=1), "the end of all tasks")
    for client in clients:
        client.end()
    return history, fleet.all_tasks()


@test()
def the_history_of_one_good_server_is_found_good(s):
    history, final = live(s)
    same(len(final), 200)
    same(judge(history, final), [])
    check(any(call.status == 409 for call in history.calls), "nobody ever came late")


@test()
def a_server_without_the_fence_is_found_guilty(s):
    s.command[0] = os.environ["ERRAND_UNFENCED"]
    s.restart()
    history, final = live(s, count=20, late=0.5)
    found = judge(history, final)
    check(any(line.startswith("G2: a stale lease was accepted") for line in found), f"not seen: {found}")


main()
