# tests/system/test_create.py: every field of a new task, its default, its limit, its refusal.
#
# SPDX-License-Identifier: MIT
import base64
import json

from errand import START, UUID7, check, has, later, main, parse_time, same, test, together

KIB, MIB = 1024, 1024 * 1024
HOUR = 3600000


def create_raw(s, body, expect=201, **headers):
    return s.call("POST", "/api/tasks", body.encode() if isinstance(body, str) else body, expect,
                  headers)


# ---- Defaults and fields ----


@test(clock=START)
def a_task_needs_only_a_type(s):
    answer = create_raw(s, '{"taskType":"resize"}')
    task = answer.json
    check(UUID7.match(task["id"]), task["id"])
    same(answer.headers["location"], f"/api/tasks/{task['id']}")
    check(answer.headers["content-type"].startswith("application/json"))
    has(task, taskType="resize", queue="default", priority="NORMAL", state="QUEUED", attempt=0,
        retries=0, maxRetries=3, timeoutMs=300000, createdAt=START, queuedAt=START,
        updatedAt=START, backoff={"baseMs": 5000, "factor": 5, "maxMs": 3600000, "jitter": 0},
        startedAt=None, finishedAt=None, cancelledAt=None, scheduledAt=None, expiresAt=None,
        documentId=None, payload=None, payloadBase64=None, result=None, error=None, progress=None,
        workerId=None, leaseExpiresAt=None, cancelReason=None, idempotencyKey=None,
        externalId=None, parentId=None, teamId=None, scheduleId=None, lease=None)


@test(clock=START)
def every_field_comes_back_as_it_was_given(s):
    given = dict(queue="Lane_1.a:b/c-d", documentId="doc ü/1", payload={"a": [1, None, "x"]},
                 priority="CRITICAL", maxRetries=7, timeoutMs=1234, idempotencyKey="käy",
                 backoff={"baseMs": 10, "factor": 1.5, "maxMs": 99, "jitter": 0.5},
                 tags=["a", "ß"], metadata={"k": {"n": 1}}, expiresAt=later(START, HOUR),
                 scheduledAt=later(START, 5000))
    task = s.create("t/ü p", **given)
    has(task, taskType="t/ü p", state="SCHEDULED", **given)
    shown = s.show(task)
    has(shown, taskType="t/ü p", state="SCHEDULED", attempts=[], childIds=[], **given)
    has(s.list()[0], taskType="t/ü p", state="SCHEDULED", **given)


@test()
def priorities_may_be_numbers(s):
    for number, name in ((4, "CRITICAL"), (3, "HIGH"), (2, "NORMAL"), (1, "LOW")):
        same(s.create(priority=number)["priority"], name)
        same(s.create(priority=name)["priority"], name)
    for wrong in (0, 5, -1, 2.5, "URGENT", "", True, [], {}):
        s.refused("priority", priority=wrong)


@test()
def part_of_a_backoff_leaves_the_rest_at_its_default(s):
    task = s.create(backoff={"baseMs": 100})
    same(task["backoff"], {"baseMs": 100, "factor": 5, "maxMs": 3600000, "jitter": 0})


@test(clock=START)
def a_time_ahead_makes_it_scheduled_and_a_past_one_does_not(s):
    has(s.create(scheduledAt=later(START, 1)), state="SCHEDULED", scheduledAt=later(START, 1),
        queuedAt=None)
    has(s.create(delayMs=1500), state="SCHEDULED", scheduledAt=later(START, 1500))
    has(s.create(delayMs=0), state="QUEUED")
    has(s.create(scheduledAt=START), state="QUEUED", queuedAt=START)
    has(s.create(scheduledAt="2020-01-01T00:00:00Z"), state="QUEUED", queuedAt=START)


@test(clock=START)
def times_are_read_with_any_offset_and_shown_in_utc(s):
    for text in ("2027-03-01T12:30:00+01:30", "2027-03-01T11:00:00Z", "2027-03-01T11:00:00.000Z",
                 "2027-03-01t11:00:00z", "2027-03-01T03:00:00-08:00"):
        same(s.create(scheduledAt=text)["scheduledAt"], "2027-03-01T11:00:00.000Z", text)
    for wrong in ("tomorrow", "2027-03-01", "2027-03-01T11:00:00", "2027-02-30T11:00:00Z",
                  "2027-03-01T25:00:00Z", 1772362800, True, ""):
        s.refused("scheduledAt", scheduledAt=wrong)
        s.refused("expiresAt", expiresAt=wrong)


@test(clock=START)
def a_task_that_expired_before_it_came_is_cancelled(s):
    task = s.create(expiresAt=later(START, -1000))
    shown = s.show(task, waitMs=10000)
    has(shown, state="CANCELLED", cancelReason="expired")


# ---- Limits ----


@test()
def a_value_at_its_limit_is_taken_and_one_over_is_refused(s):
    for field, good, wrong in (
            ("documentId", "ü" * 128, "ü" * 128 + "x"),
            ("queue", "q" * 256, "q" * 257),
            ("idempotencyKey", "k" * 256, "k" * 257),
            ("maxRetries", 100, 101), ("maxRetries", 0, -1), ("maxRetries", 1, 1.5),
            ("timeoutMs", 0, -1), ("timeoutMs", 1, "1"), ("delayMs", 0, -1),
            ("tags", [str(n) for n in range(16)], [str(n) for n in range(17)])):
        same(s.create(**{field: good}).get(field, good), good)
        s.refused(field, **{field: wrong})
    s.create(tags=["t" * 128])
    s.refused(tags=["t" * 129])
    s.refused(tags=[1])
    s.refused("tags", tags="a")


@test()
def a_type_has_1_to_256_bytes_without_control_characters(s):
    s.create("ü" * 128)
    for wrong in ("", "x" * 257, "ü" * 129, "a\nb", "a\0b", "\x7f", "\x1b", 7, None, ["a"]):
        answer = s.call("POST", "/api/tasks", {"taskType": wrong}, 400)
        same(answer.error["field"], "taskType", repr(wrong))
    answer = s.call("POST", "/api/tasks", {}, 400)
    has(answer.error, code="invalid_argument", field="taskType")


@test()
def a_queue_name_has_only_its_letters(s):
    for wrong in ("", "a b", "ü", "a%", "a?", "a#", 1):
        s.refused("queue", queue=wrong)


@test()
def metadata_is_an_object_of_at_most_16_kib(s):
    def of(size):
        return '{"taskType":"t","metadata":{"a":"%s"}}' % ("x" * (size - 8))
    create_raw(s, of(16 * KIB))
    same(create_raw(s, of(16 * KIB + 1), 400).error["field"], "metadata")
    for wrong in ([], "x", 1, True):
        s.refused("metadata", metadata=wrong)


@test()
def numbers_that_do_not_fit_are_refused_and_never_clamped(s):
    for field in ("delayMs", "timeoutMs", "maxRetries"):
        for wrong in ("1e30", "9223372036854775808", "-1", '"5"', "1.5", "[]"):
            body = '{"taskType":"t","%s":%s}' % (field, wrong)
            same(create_raw(s, body, 400).error["field"], field, body)
    for wrong in ({"baseMs": -1}, {"factor": -1}, {"maxMs": -1}, {"jitter": 2}, {"jitter": -1},
                  {"base": 1}, [], 5):
        s.refused(backoff=wrong)


@test()
def a_payload_has_at_most_1_mib(s):
    text = '"' + "x" * (MIB - 2) + '"'
    task = create_raw(s, '{"taskType":"t","payload":%s}' % text).json
    same(len(s.show(task)["payload"]), MIB - 2)
    create_raw(s, '{"taskType":"t","payload":%s }' % text)
    has(create_raw(s, '{"taskType":"t","payload":%s}' % text.replace("x", "xx", 1), 413).error,
        field="payload")
    s.create(payloadBase64=base64.b64encode(b"\0" * MIB).decode())
    s.refused("payloadBase64", 413, payloadBase64=base64.b64encode(b"\0" * (MIB + 1)).decode())


@test()
def a_request_has_at_most_16_mib(s):
    one = {"taskType": "t", "payload": "x" * (MIB - 100)}
    many = json.dumps([one] * 15).encode()
    same(len(create_raw(s, many).json), 15)
    body = json.dumps([one] * 17).encode()
    wire = s.wire()
    wire.send(f"POST /api/tasks HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
              f"Content-Length: {len(body)}\r\n\r\n")
    answer = wire.answer()
    same(answer.status, 413)
    check(answer.error["code"])
    same(len(s.list(limit=100)), 15)


@test(args=("--config", "small.conf"), server=False)
def the_limits_can_be_configured(nest):
    conf = nest.file("small.conf", "[limits]\npayload = 1KiB\nrequest = 4KiB\n")
    s = nest.server(args=("--config", conf))
    s.create(payload="x" * 1022)
    s.refused("payload", 413, payload="x" * 1023)
    create_raw(s, json.dumps({"taskType": "t", "metadata": {"a": "x" * 5000}}), 413)


# ---- Payload bytes ----


@test()
def a_payload_is_kept_byte_for_byte(s):
    for raw in ('123456789012345678901234567890', '1.000e+05', '-0', '0.1e-400', 'true', 'null',
                '"\\u00e9\\/\\ud83d\\ude00 é \\b"', '{ "b" : 1 ,\n\t"a":[ ]\r\n}',
                '{"a":1,"a":2}', '"\u2028\u00a0\U0001F600"', '[' * 200 + ']' * 200, '""', '{}'):
        text = raw.encode()
        answer = create_raw(s, b'{"taskType":"t","payload":  ' + text + b'  }')
        check(b'"payload":' + text + b"," in answer.body.replace(text + b"}", text + b",}"),
              f"{raw!r} came back as {answer.body!r}")
        shown = s.raw("GET", f"/api/tasks/{answer.json['id']}").body
        check(b'"payload":' + text in shown, f"{raw!r} is shown as {shown!r}")
        claimed = s.raw("POST", "/api/claim", {"workerId": "w"}).body
        check(b'"payload":' + text in claimed, f"{raw!r} is handed out as {claimed!r}")


@test()
def metadata_is_untouched(s):
    raw = b'{ "n" : 10000000000000000000001, "n":"\\u0041", "e":1E5 }'
    answer = create_raw(s, b'{"taskType":"t","metadata":' + raw + b"}")
    check(raw in answer.body, answer.body)
    check(raw in s.raw("GET", f"/api/tasks/{answer.json['id']}").body)


@test()
def the_trace_of_a_caller_is_kept_unless_there_are_metadata(s):
    trace = {"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "tracestate": "a=b"}
    has(s.post("/api/tasks", {"taskType": "t"}, 201, trace), metadata=trace)
    has(s.post("/api/tasks", {"taskType": "t", "metadata": {}}, 201, trace), metadata={})
    for wrong in ("", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331", "x" * 55):
        has(s.post("/api/tasks", {"taskType": "t"}, 201, {**trace, "traceparent": wrong}), metadata=None)


@test()
def raw_bytes_come_and_go_as_base64(s):
    for data in (b"", b"\0", b"\0\xff\xfe", bytes(range(256))):
        text = base64.b64encode(data).decode()
        task = s.create(payloadBase64=text)
        has(task, payloadBase64=text, payload=None)
        has(s.show(task), payloadBase64=text, payload=None)
        has(s.claim_one(), payloadBase64=text, payload=None)
    for wrong in ("=", "AA", "A===", "AA==A", "A A=", "AB==", "-_==", 1, {}):
        s.refused("payloadBase64", payloadBase64=wrong)
    s.refused(payload=1, payloadBase64="AA==")


# ---- Refusals ----


@test()
def an_unknown_field_is_an_error_that_names_it(s):
    for field in ("priorty", "id", "state", "attempt", "result", "createdAt", "externalId",
                  "TaskType", "lease", ""):
        error = s.refused(field or None, **{field: "x"})
        same(error["code"], "invalid_argument")
    for field, meant in (("priorty", "priority"), ("type", "taskType"), ("document", "documentId"), ("max_retries", "maxRetries"),
                         ("child", "children"), ("depends", "dependsOn")):
        check(f"did you mean {meant}?" in s.refused(field, **{field: "x"})["message"], field)
    check("did you mean baseMs?" in s.refused("backoff.base", backoff={"base": 1})["message"])
    check("did you mean state?" in s.get("/api/tasks?stat=QUEUED", 400)["error"]["message"])
    check("did you mean workerId?" in s.post("/api/claim", {"worker": "w"}, 400)["error"]["message"])
    create_raw(s, '{"taskType":"a","taskType":"b"}', 400)
    create_raw(s, '{"taskType":"a","queue":"x","queue":"x"}', 400)


@test()
def only_one_of_delay_and_time(s):
    s.refused(delayMs=5, scheduledAt="2030-01-01T00:00:00Z")


@test()
def a_body_must_be_json_and_say_so(s):
    for wrong in ("", "{", "nope", '{"taskType":"t"}x', '{"taskType":"t"},', "null", "1", '"x"',
                  "{'taskType':'t'}", '{"taskType":"t",}', '{"taskType":"\\ud800"}',
                  '{"taskType":"t","payload":NaN}', '{"taskType":"t","payload":01}',
                  '\ufeff{"taskType":"t"}'):
        same(create_raw(s, wrong, 400).error["code"], "invalid_argument", wrong)
    create_raw(s, b'{"taskType":"\xff"}', 400)
    good = '{"taskType":"t"}'
    for media in ("text/plain", "application/x-www-form-urlencoded", "application/jsonx", ""):
        create_raw(s, good, 415, **{"Content-Type": media})
    create_raw(s, good, 415, **{"Content-Type": None})
    for media in ("application/json", "application/json; charset=utf-8", "Application/JSON"):
        create_raw(s, good, 201, **{"Content-Type": media})


# ---- Idempotency ----


@test()
def a_second_create_with_the_key_returns_the_first(s):
    first = s.create(idempotencyKey="k", payload=1)
    answer = s.call("POST", "/api/tasks", {"taskType": "other", "idempotencyKey": "k"}, 200)
    same(answer.json["id"], first["id"])
    same(answer.json["payload"], 1)
    same(len(s.list()), 1)
    claimed = s.claim_one()
    same(s.create(expect=200, idempotencyKey="k")["state"], "RUNNING")
    s.complete(claimed, result=5)
    has(s.create(expect=200, idempotencyKey="k"), id=first["id"], state="COMPLETED", result=5)
    s.delete(first)
    check(s.create(idempotencyKey="k")["id"] != first["id"])


@test()
def many_creates_with_one_key_at_once_make_one_task(s):
    found = together(*[lambda: s.call("POST", "/api/tasks", {
        "taskType": "t", "idempotencyKey": "k"}, (200, 201)).status] * 12)
    same(sorted(found), [200] * 11 + [201])
    same(len(s.list()), 1)


@test()
def a_key_in_an_array_yields_the_first_task_in_its_place(s):
    first = s.create(idempotencyKey="a")
    many = s.post("/api/tasks", [{"taskType": "x"}, {"taskType": "y", "idempotencyKey": "a"},
                                 {"taskType": "z", "idempotencyKey": "b"},
                                 {"taskType": "z", "idempotencyKey": "b"}], 201)
    same(many[1]["id"], first["id"])
    same(many[2]["id"], many[3]["id"])
    same(len({task["id"] for task in many}), 3)
    same(len(s.list()), 3)


# ---- Arrays ----


@test()
def an_array_is_answered_in_its_order(s):
    for body in ([{"taskType": f"t{n}"} for n in range(1000)],):
        for form in (body, {"tasks": body}):
            many = s.post("/api/tasks", form, 201)
            same([task["taskType"] for task in many], [task["taskType"] for task in body])
            ids = [task["id"] for task in many]
            same(ids, sorted(ids), "creation order")


@test()
def a_refused_array_leaves_nothing_behind(s):
    for bad in ({"taskType": ""}, {"taskType": "t", "nope": 1}, {"taskType": "t", "priority": 9},
                5, None, [], {"taskType": "t", "payloadBase64": "!"}):
        answer = s.call("POST", "/api/tasks", [{"taskType": "a", "idempotencyKey": "k"}, bad], 400)
        same(answer.error["code"], "invalid_argument")
        s.call("POST", "/api/tasks", {"tasks": [{"taskType": "a"}, bad]}, 400)
    same(s.list(), [])
    s.create(idempotencyKey="k")
    s.call("POST", "/api/tasks", [{"taskType": "t"}] * 1001, 400)
    s.call("POST", "/api/tasks", {"tasks": [{"taskType": "t"}], "more": 1}, 400)
    same(len(s.list()), 1)


@test()
def ids_grow_and_times_are_close_to_now(s):
    tasks = [s.create() for _ in range(20)]
    ids = [task["id"] for task in tasks]
    same(ids, sorted(ids), "creation order")
    stamp = int(ids[0].replace("-", "")[:12], 16)
    check(abs(stamp - parse_time(tasks[0]["createdAt"])) < 2000, "the id holds its time")


main()
