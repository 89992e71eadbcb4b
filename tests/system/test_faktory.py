# tests/system/test_faktory.py: Faktory's work protocol on a bare socket: every verb, and what clients do wrong.
#
# SPDX-License-Identifier: MIT
"""System tests of the Faktory listener."""
import json
import re
import socket
import ssl
import time

from errand import START, check, has, later, main, parse_time, same, test, together, wait_for
from faktory import ARGS, Faktory, Refused, port_of, pwdhash, task_of
from tokens import certificate

CLOCKED = {"args": ARGS, "clock": START}


def ended(wire):
    """The server says no more and closes."""
    return wire.rest() == b""


# ---- Coming in ----


@test(args=ARGS)
def the_server_speaks_first_and_a_second_hello_is_unknown(s):
    f = Faktory(s, hello=None)
    same(f.greeting, {"v": 2})
    same(f.call('HELLO {"v":2,"wid":null,"hostname":null,"extra":[1]}'), "OK")
    f.refused('HELLO {"v":2}', "unknown command HELLO")
    f.refused("info", "unknown command info")
    f.refused("", "unknown command ")
    for verb in ("PUSH", "PUSHB", "ACK", "FAIL", "BEAT", "QUEUE", "MUTATE", "TRACK"):
        f.refused(verb, f"{verb} needs an argument")
    f.refused("FETCH", "must call fetch with at least one queue")
    f.refused("BATCH NEW {}", "BATCH is only available in Faktory Enterprise")
    f.send("END\r\n")
    check(ended(f))


@test(args=ARGS)
def whoever_does_not_begin_with_hello_is_sent_away(s):
    port = port_of(s)
    for first in ("INFO", "HELLO", "HELLO x", "HELLO {", 'HELLO {"v":2} x', "\x00\xff\x01", "GET / HTTP/1.1"):
        f = Faktory(port, hello=None)
        f.send(first + "\r\n")
        check(re.match(rb"^(-ERR .*\r\n)?$", f.rest()), first)
    silent = Faktory(port, hello=None)
    began = time.monotonic()
    silent.send("HELLO")
    check(ended(silent))
    check(1.5 < time.monotonic() - began < 20, "the handshake has two seconds")


def with_config(nest, text, *args, **options):
    path = nest.root + "/errand.conf"
    with open(path, "w", encoding="utf-8") as out:
        out.write(text)
    return nest.server(args=(*ARGS, "--config", path, *args), **options)


@test(server=False)
def a_password_is_asked_for_with_new_salt_and_rounds_each_time(nest):
    s = with_config(nest, "[faktory]\npassword = foobar\n")
    port = port_of(s)
    first, second = Faktory(port, hello=None), Faktory(port, hello=None)
    check(first.greeting["s"] != second.greeting["s"], "the same salt twice")
    check(4000 <= first.greeting["i"] <= 8095, first.greeting)
    Faktory(port, password="foobar").info()
    # A client that names no version hashes once.
    same(first.call("HELLO " + json.dumps({"pwdhash": pwdhash("foobar", first.greeting, 1)})), "OK")
    for said in ({"v": 2}, {"v": 2, "pwdhash": ""}, {"v": 2, "pwdhash": "0" * 64},
                 {"v": 2, "pwdhash": pwdhash("wrong", second.greeting)}):
        f = Faktory(port, hello=None)
        f.refused("HELLO " + json.dumps(said), "Invalid password")
        check(ended(f))
    second.refused("HELLO " + json.dumps({"v": 2, "pwdhash": pwdhash("foobar", second.greeting, 1)}), "Invalid password")
    Faktory(port, password="foobar").refused("FLUSH", "FLUSH is not allowed here: [faktory] flush = yes allows it")
    check("foobar" not in s.stderr(), "the password is in the log")


@test(server=False)
def a_public_address_needs_a_password(nest):
    said = nest.refuses("--listen", "127.0.0.1:0", "--data", nest.folder(), "--faktory", "0.0.0.0:0")
    check("[faktory] password" in said, said)


@test(server=False)
def tls_is_spoken_from_the_first_byte(nest):
    cert, key = certificate(nest)
    s = nest.server(args=(*ARGS, "--tls-cert", cert, "--tls-key", key), tls=cert)
    context = ssl.create_default_context(cafile=cert)
    context.check_hostname = False
    f = Faktory(s, wid="w", context=context)
    jid = f.push("t", "x" * 100000)
    job = f.fetch()
    same((job["jid"], len(job["args"][0])), (jid, 100000))
    same(f.ack(jid), "OK")


@test(server=False)
def too_many_connections_are_told_so(nest):
    s = with_config(nest, "[faktory]\nconnections = 3\n")
    port = port_of(s)
    kept = [Faktory(port) for _ in range(3)]
    over = Faktory(port, hello=None)
    over.refused('HELLO {"v":2}', "too many connections: 4")
    check(ended(over))
    kept.pop().close()

    def comes_in():
        try:
            return Faktory(port).push()
        except Refused:
            return False
    wait_for(comes_in, "a free place")
    kept[0].push()


# ---- Framing ----


@test(args=ARGS)
def commands_in_one_piece_are_answered_in_order(s):
    f = Faktory(s, wid="w")
    f.send("".join(f'PUSH {{"jid":"pipe{n:08d}","jobtype":"t","args":[{n}]}}\n' for n in range(500)) +
           "FETCH default\nBAD\r\nPUSH {}\nACK {\"jid\":\"pipe00000000\"}\nINFO\n")
    same([f.reply() for _ in range(500)], ["OK"] * 500)
    same(json.loads(f.reply())["jid"], "pipe00000000")
    for text in ("unknown command BAD", "jobs must have a reasonable jid parameter"):
        try:
            f.reply()
        except Refused as refusal:
            same(refusal.text, text)
    same(f.reply(), "OK")
    info = json.loads(f.reply())["faktory"]
    same((info["queues"], info["sets"]["working"], info["total_processed"]), ({"default": 499}, 0, 1))


@test(args=ARGS)
def a_fetch_that_waits_holds_back_what_follows(s):
    waits, other = Faktory(s, wid="w"), Faktory(s)
    waits.send("FETCH q\r\nINFO\r\n")
    jid = other.push(queue="q")
    same(json.loads(waits.reply())["jid"], jid)
    same(json.loads(waits.reply())["faktory"]["sets"]["working"], 1)


@test(args=ARGS)
def who_stops_sending_still_gets_his_answers(s):
    f = Faktory(s, wid="w")
    f.send('PUSH {"jid":"half0000","jobtype":"t","args":[]}\r\nFETCH default\r\nACK {"jid":"half0000"}\r\n')
    f.socket.shutdown(socket.SHUT_WR)
    same(f.reply(), "OK")
    same(json.loads(f.reply())["jid"], "half0000")
    same(f.reply(), "OK")
    check(ended(f))
    same(task_of(s, "half0000")["state"], "COMPLETED")


@test(args=ARGS)
def a_fetch_ends_with_its_connection_and_the_job_goes_to_another(s):
    gone, here = Faktory(s, wid="gone"), Faktory(s, wid="here")
    gone.send("FETCH q\r\n")
    wait_for(lambda: [w for w in s.get("/api/queues") if w["name"] == "q"], "the claim")
    gone.close()
    wait_for(lambda: all(w["id"] != "gone" for w in s.get("/api/workers")["workers"]), "it to be forgotten")
    jid = here.push(queue="q")
    same(here.fetch("q")["jid"], jid)


@test(server=False)
def a_line_may_be_long_but_not_endless(nest):
    s = with_config(nest, "[faktory]\nline = 9MiB\n")
    f = Faktory(s, wid="w")
    jid = f.push("big", "y" * (8 << 20))
    same(len(f.fetch()["args"][0]), 8 << 20)
    same(f.ack(jid), "OK")
    f.send("PUSH " + "x" * (9 << 20))
    try:
        f.reply()
        raise AssertionError("it was taken")
    except Refused as refusal:
        same(str(refusal), "ERR line too long")
    check(ended(f))


@test(args=ARGS)
def a_client_that_never_reads_does_not_stall_the_others(s):
    deaf, other = Faktory(s), Faktory(s)
    deaf.socket.settimeout(2)
    try:
        for _ in range(64):
            deaf.send("INFO\r\n" * 200000)
    except TimeoutError:
        pass  # the server has stopped reading
    else:
        raise AssertionError("the server reads on for ever")
    began = time.monotonic()
    other.push()
    check(time.monotonic() - began < 10, "it is stalled")


@test(args=ARGS)
def a_thousand_idle_connections_cost_nobody_anything(s):
    port = port_of(s)
    crowd = [Faktory(port, wid=f"w{n % 50}") for n in range(1000)]
    same(json.loads(crowd[0].call("INFO"))["server"]["connections"], 1000)
    jid = crowd[1].push()
    same(crowd[999].fetch()["jid"], jid)
    same(len(s.get("/api/workers")["workers"]), 50)


# ---- Pushing ----


@test(**CLOCKED)
def a_job_is_an_ordinary_task(s):
    f = Faktory(s, wid="w1")
    text = '{"jid":"exact-jid-1","jobtype":"mail","args":[12345678901234567890, {"a" : 1.0}],"queue":"post","retry":3,' \
           '"reserve_for":120,"at":"2027-03-01T11:00:00.123456789+01:00","created_at":"2027-02-28T00:00:00.5Z","priority":9,' \
           '"backtrace":5,"custom":{"document_id":"d","priority":"HIGH","x":[1]}}'
    same(f.call("PUSH " + text), "OK")
    task = task_of(s, "exact-jid-1")
    has(task, state="SCHEDULED", taskType="mail", queue="post", maxRetries=3, timeoutMs=0, documentId="d", priority="HIGH",
        scheduledAt="2027-03-01T10:00:00.123Z", externalId="exact-jid-1",
        metadata={"document_id": "d", "priority": "HIGH", "x": [1]})
    check(b'"payload":[12345678901234567890, {"a" : 1.0}]' in s.raw("GET", f"/api/tasks/{task['id']}").body, "args byte for byte")
    has(s.get(f"/api/tasks/{task['id']}/why")["reasons"][0], code="not_due")
    s.advance(3600124)
    bulk = f.call("FETCH post")
    check(b'"args":[12345678901234567890, {"a" : 1.0}]' in bulk, "args byte for byte")
    has(json.loads(bulk), jid="exact-jid-1", queue="post", jobtype="mail", retry=3, reserve_for=120, backtrace=5,
        at="2027-03-01T11:00:00.123456789+01:00", created_at="2027-02-28T00:00:00.5Z",
        enqueued_at="2027-03-01T10:00:00.123Z", custom={"document_id": "d", "priority": "HIGH", "x": [1]}, failure=None)
    now = later(START, 3600124)
    has(task_of(s, "exact-jid-1"), state="RUNNING", workerId="w1", leaseExpiresAt=later(now, 120000))
    has(s.get("/api/documents/d"), locked=True, workerId="w1")
    has([w for w in s.get("/api/workers")["workers"] if w["id"] == "w1"][0], kind="remote", state="busy")
    same(f.ack("exact-jid-1"), "OK")
    has(task_of(s, "exact-jid-1"), state="COMPLETED", attempt=1)


@test(args=ARGS)
def bad_jobs_are_refused_in_the_words_that_clients_know(s):
    f = Faktory(s)
    good = {"jid": "12345678", "jobtype": "t", "args": []}
    for change, text in (({"jid": "1234567"}, "jobs must have a reasonable jid parameter"),
                         ({"jobtype": ""}, "jobs must have a jobtype parameter"),
                         ({"args": None}, "jobs must have an args parameter"),
                         ({"reserve_for": 86401}, "jobs cannot be reserved for more than one day"),
                         ({"at": "tomorrow"}, "invalid timestamp for 'at': 'tomorrow'"),
                         ({"queue": "a b"}, "queue names must match [a-zA-Z0-9._-]+")):
        f.refused("PUSH " + json.dumps({**good, **change}), text)
    for change in ({"retry": "3"}, {"retry": 1.5}, {"args": {}}, {"custom": []}, {"jid": 1}):
        f.refused("PUSH " + json.dumps({**good, **change}), re.compile("^invalid JSON: "))
    for text in ("{", "x", json.dumps(good) + " x", '{"jid":"12345678","jobtype":"t","args":[1,]}', "[]"):
        f.refused("PUSH " + text, re.compile("^invalid JSON"))
    for custom, text in (({"priority": "URGENT"}, r"^custom\.priority must be one of"),
                         ({"expires_at": "never"}, r"^custom\.expires_at must be"),
                         ({"depends_on": ["no-such-job"]}, r"^custom\.depends_on: no job no-such-job"),
                         ({"depends_on": 5}, r"^custom\.depends_on must be"),
                         ({"document_id": "x" * 257}, r"documentId")):
        f.refused("PUSH " + json.dumps({**good, "custom": custom}), re.compile(text))
    deep = json.dumps(good)[:-3] + "[" * 300 + "]" * 300 + "]}"
    f.refused("PUSH " + deep, re.compile("^invalid JSON"))
    same(s.get("/api/tasks"), [])


@test(args=ARGS)
def one_bad_job_among_many_stops_no_other(s):
    f = Faktory(s, wid="w")
    answer = f.pushb({"jid": "many0001", "jobtype": "t", "args": []}, {"jid": "short", "jobtype": "t", "args": []},
                     {"jid": "many0002", "jobtype": "t"}, {"jid": "many0003", "jobtype": "t", "args": [], "custom": {"depends_on": "many0001"}})
    same(answer, {"short": "jobs must have a reasonable jid parameter", "many0002": "jobs must have an args parameter"})
    same(task_of(s, "many0003")["state"], "WAITING")
    same(f.call("PUSHB []"), b"{}")
    for text in ("{}", "[1]", "[{}", "x"):
        f.refused("PUSHB " + text, re.compile("^invalid JSON"))
    same(f.pushb(*({"jid": f"bulk{n:08d}", "jobtype": "t", "args": [n], "queue": "bulk"} for n in range(2500))), {})
    same(f.info()["queues"]["bulk"], 2500)
    same([f.fetch("bulk")["args"][0] for _ in range(3)], [0, 1, 2])


@test(args=ARGS)
def a_job_may_depend_on_others_by_their_jids(s):
    f = Faktory(s, wid="w")
    f.send('PUSH {"jid":"first000","jobtype":"a","args":[]}\nPUSH {"jid":"second00","jobtype":"b","args":[],"custom":{"depends_on":["first000"]}}\n')
    same((f.reply(), f.reply()), ("OK", "OK"))
    same(f.fetch()["jid"], "first000")
    has(s.get(f"/api/tasks/{task_of(s, 'second00')['id']}/why")["reasons"][0], code="dependencies")
    f.ack("first000")
    same(f.fetch()["jid"], "second00")


@test(args=ARGS)
def an_idempotency_key_makes_a_second_push_harmless(s):
    f = Faktory(s, wid="w")
    f.push("t", custom={"idempotency_key": "k"})
    f.push("t", custom={"idempotency_key": "k"})
    same(len(s.get("/api/tasks")), 1)


@test(**CLOCKED)
def a_unique_job_is_alone_until_it_has_ended_or_its_time_is_over(s):
    f = Faktory(s, wid="w")
    unique = {"custom": {"unique_for": 60}}
    again = lambda **fields: f.refused(  # noqa: E731
        "PUSH " + json.dumps({"jid": "other-jid", "jobtype": "u", "args": [1], **unique, **fields}), "Job not unique", "NOTUNIQUE")
    jid = f.push("u", 1, **unique)
    again()
    f.push("u", 2, **unique)
    f.push("u", 1, queue="other", **unique)
    f.push("u", 1)
    same(f.pushb({"jid": "in-a-row", "jobtype": "u", "args": [1], **unique}), {"in-a-row": "NOTUNIQUE Job not unique"})
    same(f.fetch()["jid"], jid)
    again()
    f.ack(jid)
    jid = f.push("u", 1, **unique)
    s.advance(59000)
    again()
    s.advance(1000)
    f.push("u", 1, **unique)
    starts = {"custom": {"unique_for": 60, "unique_until": "start"}}
    f.push("s", queue="s", **starts)
    f.refused('PUSH {"jid":"starts-2","jobtype":"s","args":[],"queue":"s","custom":{"unique_for":60}}', "Job not unique", "NOTUNIQUE")
    f.fetch("s")
    f.push("s", queue="s", **starts)


@test(args=ARGS)
def of_many_unique_jobs_that_come_at_once_one_is_taken(s):
    f = Faktory(s)
    f.send("".join(f'PUSH {{"jid":"at-once-{n:04d}","jobtype":"u","args":[1],"custom":{{"unique_for":60}}}}\n' for n in range(50)))
    same(sorted(f.line() for _ in range(50)), ["+OK"] + ["-NOTUNIQUE Job not unique"] * 49)


@test(**CLOCKED)
def an_expired_job_is_dropped_instead_of_given_out(s):
    f = Faktory(s, wid="w")
    jid = f.push(custom={"expires_at": later(START, 1000)})
    s.advance(1001)
    same(f.fetch(), None)
    has(task_of(s, jid), state="CANCELLED", cancelReason="expired")


# ---- Fetching ----


@test(args=ARGS)
def queues_are_emptied_in_the_order_they_are_named(s):
    f = Faktory(s, wid="w")
    low, high = f.push(queue="low"), f.push(queue="high")
    urgent = f.push(queue="low", custom={"priority": "CRITICAL"})
    same([f.fetch("high", "", "low")["jid"] for _ in range(3)], [high, urgent, low])
    began = time.monotonic()
    same(f.fetch("high", "low"), None)
    check(1.5 < time.monotonic() - began < 10, "it waits a little less than two seconds")


@test(args=ARGS)
def a_waiting_fetch_is_woken_by_any_of_its_queues_and_the_longest_waits_first(s):
    first, second, other = Faktory(s, wid="a"), Faktory(s, wid="b"), Faktory(s)
    first.send("FETCH one two\r\n")
    wait_for(lambda: [q for q in s.get("/api/queues") if q["name"] == "two"], "the first to wait")
    second.send("FETCH two\r\n")
    wait_for(lambda: s.get("/api/stats")["waitingClaims"] == 2, "both to wait")
    jid = other.push(queue="two")
    same(json.loads(first.reply())["jid"], jid)
    jid = other.push(queue="two")
    same(json.loads(second.reply())["jid"], jid)


@test(args=ARGS)
def a_task_of_the_api_can_be_fetched_as_a_job(s):
    f = Faktory(s, wid="w")
    task = s.create("t", payload={"a": [1]}, metadata={"m": 1}, maxRetries=4)
    has(f.fetch(), jid=task["id"], jobtype="t", args=[{"a": [1]}], custom={"m": 1}, retry=4, reserve_for=1800)
    same(f.ack(task["id"]), "OK")
    same(s.state(task), "COMPLETED")
    listed, bare = s.create("t", payload=[1, 2]), s.create("t")
    same((f.fetch()["args"], f.fetch()["args"]), ([1, 2], []))
    same(f.fail(listed["id"], message="no"), "OK")
    has(s.show(listed), state="RETRYING", error={"code": "unknown", "message": "no"})
    same(Faktory(s).ack(bare["id"]), "OK")
    same(s.state(bare), "COMPLETED")


@test(args=ARGS)
def workers_of_both_kinds_share_a_queue_and_a_document(s):
    f = Faktory(s, wid="faktory")
    jobs = [f.push("t", n, custom={"document_id": "d"}) for n in range(4)]
    job = f.fetch()
    same(s.claim("http"), [])
    has(s.get("/api/documents/d"), locked=True, workerId="faktory", waiting=[task_of(s, j)["id"] for j in jobs[1:]])
    f.ack(job["jid"])
    task = s.claim_one("http", waitMs=5000)
    same(task["externalId"], jobs[1])
    same(f.fetch(), None)
    has(s.get(f"/api/tasks/{task_of(s, jobs[2])['id']}/why")["reasons"][0], code="document_locked", workerId="http")
    s.complete(task)
    same(f.fetch()["jid"], jobs[2])


# ---- Ends ----


@test(**CLOCKED)
def a_failed_job_is_retried_on_its_curve_and_says_why(s):
    f = Faktory(s, wid="w")
    jid = f.push("t", retry=2)
    f.fetch()
    same(f.fail(jid, message="  boom ", errtype="E" * 200, backtrace=["l"] * 100), "OK")
    task = task_of(s, jid)
    has(task, state="RETRYING", retries=1)
    wait = parse_time(task["scheduledAt"]) - parse_time(START)
    check(15000 <= wait <= 44000 and wait % 1000 == 0, wait)
    f.refused("FAIL " + json.dumps({"jid": jid}), f"Job not found {jid}")
    same(f.ack(jid), "OK")
    same(task_of(s, jid)["state"], "RETRYING")
    s.advance(44000)
    job = f.fetch()
    has(job["failure"], retry_count=0, remaining=2, failed_at=START, message="boom", errtype="E" * 100, backtrace=["l"] * 50,
        next_at=task["scheduledAt"])
    failed_again = f.fail(jid, errtype="Second")
    same(failed_again, "OK")
    wait = parse_time(task_of(s, jid)["scheduledAt"]) - parse_time(later(START, 44000))
    check(16000 <= wait <= 74000, wait)
    s.advance(74000)
    has(f.fetch()["failure"], retry_count=1, remaining=1, failed_at=START, message="unknown", errtype="Second")
    f.fail(jid)
    has(task_of(s, jid), state="FAILED", retries=2)
    info = f.info()
    same((info["sets"], info["total_failures"], info["total_processed"]),
         ({"scheduled": 0, "retries": 0, "dead": 1, "working": 0}, 3, 3))


@test(args=ARGS)
def a_job_without_retries_is_forgotten_or_dead(s):
    f = Faktory(s, wid="w")
    none, dead = f.push("t", retry=0), f.push("t", retry=-1)
    same(f.fetch()["retry"], 0)
    same(f.fetch()["retry"], -1)
    f.fail(none)
    f.fail(dead)
    same((task_of(s, none)["state"], task_of(s, dead)["state"]), ("FAILED", "FAILED"))
    same(f.info()["sets"]["dead"], 1)
    same((f.track(none)["state"], f.track(dead)["state"]), ("failed", "dead"))
    same(f.mutate("requeue", "dead"), "OK")
    same((task_of(s, none)["state"], f.fetch()["jid"]), ("FAILED", dead))


@test(**CLOCKED)
def a_reservation_ends_in_time_and_a_late_end_is_told_so(s):
    late, next_one, f = Faktory(s, wid="late"), Faktory(s, wid="next"), Faktory(s)
    jid = f.push("t", reserve_for=10)
    late.fetch()
    same(late.beat("late"), "OK")  # beats do not lengthen it
    s.advance(59999)
    same(task_of(s, jid)["state"], "RUNNING")
    s.advance(1001)
    task = task_of(s, jid)
    has(task, state="RETRYING", retries=1)
    same(task["attempts"][0]["outcome"], "LOST")
    s.advance(45000)
    job = next_one.fetch()
    has(job["failure"], errtype="ReservationExpired", message="Faktory job reservation expired", retry_count=0)
    for _ in range(2):
        late.refused("ACK " + json.dumps({"jid": jid}), f"Job {jid} is no longer reserved by this worker: ACK ignored")
        late.refused("FAIL " + json.dumps({"jid": jid}), f"Job not found {jid}")
    has(task_of(s, jid), state="RUNNING", workerId="next")
    same(next_one.ack(jid), "OK")
    same(task_of(s, jid)["state"], "COMPLETED")


@test(args=ARGS)
def ends_may_come_on_any_connection_and_after_a_restart(s):
    f = Faktory(s, wid="w")
    first, second, third = f.push(), f.push(), f.push()
    for _ in range(2):
        f.fetch()
    same(Faktory(s).ack(first), "OK")
    same(task_of(s, first)["state"], "COMPLETED")
    same(f.ack(third), "OK")  # queued, not reserved: nothing changes
    same(task_of(s, third)["state"], "QUEUED")
    s.restart()
    again = Faktory(s, wid="w")
    same(again.fail(second, message="x"), "OK")
    same(task_of(s, second)["state"], "RETRYING")
    same(again.fetch()["jid"], third)
    uuid = again.push(jid="0190b2a6-7d2c-7000-8000-0123456789ab")  # looks like one of ours
    s.restart()
    same(Faktory(s, wid="somebody").ack(third), "OK")
    again = Faktory(s, wid="w")
    same(again.fetch()["jid"], uuid)
    s.restart()
    same(Faktory(s).ack(uuid), "OK")
    same(task_of(s, uuid)["state"], "COMPLETED")
    same(task_of(s, third)["state"], "COMPLETED")
    same(Faktory(s).ack("nobody-knows"), "OK")
    Faktory(s).refused('ACK {"jid":1}', 'invalid ACK {"jid":1}')
    Faktory(s).refused("FAIL {}", "missing JID")
    Faktory(s).refused('FAIL {"jid":"nobody-knows"}', "Job not found nobody-knows")


@test(**CLOCKED)
def a_late_end_is_refused_after_a_restart_too(s):
    f, late = Faktory(s, wid="w"), Faktory(s, wid="late")
    jid = f.push("t", reserve_for=60)
    late.fetch()
    s.advance(61000)
    s.advance(45000)
    same(f.fetch()["jid"], jid)
    s.command = [c if not c.startswith("--test-clock=") else f"--test-clock={later(START, 107000)}" for c in s.command]
    s.restart()
    late = Faktory(s, wid="late")
    late.refused("ACK " + json.dumps({"jid": jid}), f"Job {jid} is no longer reserved by this worker: ACK ignored")
    same(task_of(s, jid)["state"], "RUNNING")


# ---- Workers ----


@test(args=ARGS)
def a_worker_hears_from_its_beat_what_is_asked_of_it(s):
    one, two = Faktory(s, wid="w"), Faktory(s, wid="w")
    same(one.beat("w"), "OK")
    one.refused('BEAT {"wid":"nobody"}', "unknown worker nobody")
    s.post("/api/workers/w/quiet")
    same((one.beat("w"), two.beat("w")), ({"state": "quiet"}, {"state": "quiet"}))
    two.push()
    began = time.monotonic()
    same(two.fetch(), None)
    check(time.monotonic() - began > 1.5, "it is told as late as if it had waited")
    s.post("/api/workers/w/stop")
    same(two.beat("w", current_state="quiet"), {"state": "terminate"})
    one.close()
    two.close()
    wait_for(lambda: not s.get("/api/workers")["workers"], "it to be forgotten")
    fresh = Faktory(s, wid="w")
    same(fresh.beat("w"), "OK")
    check(fresh.fetch(), "a new one works")
    same(fresh.beat("w", current_state="terminate"), {"state": "terminate"})


@test(**CLOCKED)
def a_job_that_is_tracked_says_how_far_it_is(s):
    f = Faktory(s, wid="w")
    same(f.track("nobody-knows"), {"jid": "nobody-knows", "state": "unknown", "updated_at": "", "percent": 0, "desc": ""})
    jid = f.push("t", reserve_for=60)
    same(f.track(jid)["state"], "enqueued")
    f.fetch()
    same(f.call("TRACK SET " + json.dumps({"jid": jid, "percent": 40, "desc": "half", "reserve_until": later(START, 600000)})), "OK")
    has(f.track(jid), state="working", percent=40, desc="half", updated_at=START)
    has(task_of(s, jid), leaseExpiresAt=later(START, 600000), progress={"percent": 40, "message": "half"})
    same(f.call("TRACK SET " + json.dumps({"jid": jid, "reserve_until": later(START, 1000)})), "OK")
    has(task_of(s, jid), leaseExpiresAt=later(START, 600000))
    f.ack(jid)
    same(f.track(jid)["state"], "success")


# ---- Steering ----


@test(**CLOCKED)
def sets_are_mutated_by_jid_type_and_glob(s):
    f = Faktory(s, wid="w")
    at = later(START, 3600000)
    jids = [f.push(kind, {"uid": n}, at=at) for n, kind in enumerate("aabbc")]
    state = lambda: [task_of(s, jid)["state"] for jid in jids]  # noqa: E731
    same(f.mutate("requeue", "scheduled", jids=[jids[0], "nobody-knows"]), "OK")
    same(f.mutate("kill", "scheduled", jobtype="b", regexp='*"uid":3*'), "OK")
    same(f.mutate("discard", "scheduled", regexp='*"uid":[12]*', jobtype="a"), "OK")
    same(state(), ["QUEUED", "CANCELLED", "SCHEDULED", "FAILED", "SCHEDULED"])
    has(task_of(s, jids[3]), error={"code": "killed", "message": "given up by hand before its time came"})
    same(f.info()["sets"], {"scheduled": 2, "retries": 0, "dead": 1, "working": 0})
    same(f.mutate("clear", "scheduled", jobtype="z"), "OK")
    same(f.mutate("discard", "dead"), "OK")
    same(f.info()["sets"], {"scheduled": 0, "retries": 0, "dead": 0, "working": 0})
    same(f.mutate("kill", "retries"), "OK")
    f.refused('MUTATE {"cmd":"eat","target":"dead"}', "unknown mutate operation")
    f.refused('MUTATE {"cmd":"kill","target":"living"}', "invalid target for mutation command")
    f.fetch()
    f.fail(jids[0])
    same(f.mutate("requeue", "retries"), "OK")
    has(f.fetch(), jid=jids[0], at=at)


@test(args=ARGS)
def queues_are_paused_resumed_removed_and_timed(s):
    f = Faktory(s, wid="w")
    jid = f.push(queue="q")
    f.push(queue="r")
    same(f.call("QUEUE pause q unknown"), "OK")
    has([q for q in s.get("/api/queues") if q["name"] == "q"][0], paused=True)
    check(all(q["name"] != "unknown" for q in s.get("/api/queues")), "an unknown queue is ignored")
    same(f.fetch("q"), None)
    latency = json.loads(f.call("QUEUE LATENCY q unknown"))
    check(latency["q"] > 1 and latency["unknown"] == 0, latency)
    f.refused("QUEUE LATENCY *", "QUEUE LATENCY takes names, not *")
    f.refused("QUEUE FROB q", "no such QUEUE subcommand: FROB")
    same(f.call("QUEUE RESUME *"), "OK")
    same(f.fetch("q")["jid"], jid)
    same(f.call("QUEUE PAUSE r"), "OK")
    same(f.call("QUEUE REMOVE r"), "OK")
    check("r" not in f.info()["queues"], "a removed queue is named")
    jid = f.push(queue="r")
    same(f.info()["queues"]["r"], 1)
    same(f.fetch("r")["jid"], jid)


@test(args=ARGS)
def flush_leaves_nothing(s):
    f = Faktory(s, wid="w")
    f.push("dead", retry=-1)
    f.fail(f.fetch()["jid"])
    f.push("runs")
    jid = f.fetch()["jid"]
    f.push("waits")
    f.push("later", at="2099-01-01T00:00:00Z")
    same(f.call("FLUSH"), "OK")
    same(f.info(), {"queues": {}, "sets": {"scheduled": 0, "retries": 0, "dead": 0, "working": 0}, "tasks": {},
                    "total_failures": 0, "total_processed": 0, "total_enqueued": 0, "total_queues": 0})
    f.refused("ACK " + json.dumps({"jid": jid}), f"Job {jid} is no longer reserved by this worker: ACK ignored")


@test(args=ARGS)
def info_has_the_keys_that_clients_insist_on(s):
    f = Faktory(s)
    info = json.loads(f.call("INFO"))
    same(set(info), {"now", "server_utc_time", "faktory", "server"})
    same(set(info["faktory"]), {"queues", "sets", "tasks", "total_failures", "total_processed", "total_enqueued", "total_queues"})
    same(set(info["server"]), {"description", "faktory_version", "uptime", "connections", "command_count", "used_memory_mb"})
    same(info["server"]["faktory_version"], "1.10.0")


@test(args=ARGS)
def a_server_that_ends_takes_last_words_and_no_more(s):
    f, waits = Faktory(s, wid="w"), Faktory(s, wid="x")
    waits.send("FETCH other\r\n")
    wait_for(lambda: s.get("/api/stats")["waitingClaims"] == 1, "it to wait")
    s.expected_to_die = True
    s.process.terminate()
    same(waits.reply(), None)
    same(s.wait(), 0)
    check(f.rest() == b"" and waits.rest() == b"", "both are closed")


@test(args=ARGS)
def many_workers_get_each_job_once(s):
    port = port_of(s)
    f = Faktory(port)
    same(f.pushb(*({"jid": f"each{n:08d}", "jobtype": "t", "args": [n]} for n in range(300))), {})

    def work(wid):
        mine, w = [], Faktory(port, wid=wid)
        while job := w.fetch():
            mine.append(job["args"][0])
            w.ack(job["jid"])
        return mine
    got = together(*[lambda n=n: work(f"w{n}") for n in range(8)])
    same(sorted(n for mine in got for n in mine), list(range(300)))


main()
