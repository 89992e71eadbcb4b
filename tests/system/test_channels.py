# tests/system/test_channels.py: the task types that the server does with the servers of others.
#
# SPDX-License-Identifier: MIT
"""prompt, remind, deliver.email, deliver.mobile and deliver.web, as plain tasks."""
import base64
import hashlib
import hmac
import json

from errand import check, has, main, same, test, wait_for
from sink import Sink
from standins import Llm, Smtp

ONCE = {"maxRetries": 0}
KEY = base64.b64encode(b"k" * 24).decode()


def asks(nest, llm, **env):
    return nest.server(env={"ERRAND_LLM_BASE_URL": llm.url, "ERRAND_LLM_MODEL": "small", **env})


def posts(nest, smtp, **env):
    return nest.server(env={"ERRAND_SMTP_URL": smtp.url,
                            "ERRAND_SMTP_FROM": "Errand <errand@example.org>",
                            "ERRAND_PUSH_ALLOW_PRIVATE": "yes", **env})


def ended(s, type, payload, **fields):
    task = s.create(type, payload=payload, **fields)
    return s.show(task["id"], waitMs=30000)


def mail(**more):
    return {"to": "ann@example.org", "title": "News", "text": "Hello\n", "messageId": "e1.EMAIL",
            "at": "2027-03-01T09:00:00Z", **more}


# ---- prompt and remind ----

@test(server=False)
def a_prompt_asks_the_model_with_the_conversation_and_costs(nest):
    llm = Llm(nest)
    llm.answer({"text": "Sunny, 20 degrees."})
    s = asks(nest, llm)
    task = ended(s, "prompt", {
        "title": "Weather", "purpose": "Say the weather", "timezone": "Europe/Paris",
        "messages": [{"role": "user", "content": "I live in Lyon"},
                     {"role": "assistant", "content": [{"type": "TEXT", "text": "Noted."}]}]})
    has(task, state="COMPLETED", result="Sunny, 20 degrees.")
    same((task["cost"]["actual"], task["cost"]["tokens"]), (1, 18))
    asked = llm.requests(1)[0]["body"]["messages"]
    same([(m["role"], m["content"]) for m in asked[1:]],
         [("user", "I live in Lyon"), ("assistant", "Noted."), ("user", "Say the weather")])
    check("Weather" in asked[0]["content"] and "Europe/Paris" in asked[0]["content"], asked[0])


@test(server=False)
def a_prompt_shows_the_words_as_they_come(nest):
    llm = Llm(nest)
    llm.answer({"text": "One two three", "pieces": ["One ", "two ", "three"], "hold": 1})
    s = asks(nest, llm)
    task = s.create("prompt", payload={"prompt": "Count"})
    wait_for(lambda: s.show(task["id"]).get("progress", {}).get("message") == "One ", "a word")
    llm.release()
    has(s.show(task["id"], waitMs=30000), state="COMPLETED", result="One two three")


@test(server=False)
def a_prompt_that_is_cancelled_stops_asking(nest):
    llm = Llm(nest)
    llm.answer({"text": "never", "hold": 0})
    s = asks(nest, llm)
    task = s.create("prompt", payload={"purpose": "Wait"})
    llm.requests(1)
    s.cancel(task, expect=202)
    has(s.show(task["id"], waitMs=30000), state="CANCELLED")


@test(server=False)
def a_model_that_declines_fails_the_run_for_good(nest):
    llm = Llm(nest)
    llm.answer({"status": 400, "error": "no such model"})
    task = ended(asks(nest, llm), "prompt", {"purpose": "x"})
    has(task, state="FAILED", attempt=1)
    same(task["error"]["code"], "llm_refused")


@test(server=False)
def a_model_that_is_busy_is_asked_again_when_it_says(nest):
    llm = Llm(nest)
    llm.answer({"status": 429, "error": "later", "headers": {"Retry-After": "600"}, "times": 0})
    s = asks(nest, llm)
    task = s.create("prompt", payload={"purpose": "x"})
    wait_for(lambda: s.state(task["id"]) == "RETRYING", "a retry")
    shown = s.show(task["id"])
    same(shown["error"]["code"], "llm_busy")
    check(s.why(task)["reasons"][0]["code"] == "retry_backoff", "it waits")


@test(server=False)
def an_answer_that_is_none_is_asked_for_again(nest):
    llm = Llm(nest)
    llm.answer({"raw": "<html>", "media": "text/html"})
    s = asks(nest, llm)
    task = ended(s, "prompt", {"purpose": "x"}, backoff={"baseMs": 1, "factor": 1})
    has(task, state="COMPLETED", attempt=2)


@test(server=False)
def a_payload_without_a_purpose_is_refused(nest):
    s = asks(nest, Llm(nest))
    for payload in ({}, [], {"purpose": 7}, {"purpose": "x", "messages": {}}):
        has(ended(s, "prompt", payload), state="FAILED", attempt=1)


@test()
def without_a_model_a_reminder_still_reminds(s):
    task = ended(s, "remind", {"title": "Call Ann", "purpose": "about the house"})
    has(task, state="COMPLETED", result="Call Ann\n\nabout the house")
    has(ended(s, "remind", {"title": "Call"}), result="Call")
    waits = s.create("prompt", payload={"purpose": "x"})
    same(s.why(waits)["reasons"][0]["code"], "no_worker")


# ---- Mail ----

@test(server=False)
def a_mail_goes_out_with_its_own_id_and_date(nest):
    smtp = Smtp(nest)
    s = posts(nest, smtp)
    has(ended(s, "deliver.email", mail(title="Grüße\nBcc: eve@example.org")), state="COMPLETED")
    got = smtp.mails(1)[0]
    same(got["to"], ["ann@example.org"])
    same(got["headers"]["Subject"], "Grüße Bcc: eve@example.org")
    same(got["headers"]["Message-ID"], "<e1.EMAIL@example.org>")
    check("Bcc" not in got["headers"], got["headers"])
    check("Hello" in got["parts"]["text/plain"], got["parts"])


@test(server=False)
def a_mail_server_that_says_later_is_tried_again_with_the_same_id(nest):
    smtp = Smtp(nest)
    smtp.refuse("451 4.7.1 later")
    s = posts(nest, smtp)
    has(ended(s, "deliver.email", mail(), backoff={"baseMs": 1, "factor": 1}),
        state="COMPLETED", attempt=2)
    same(smtp.mails(1)[0]["headers"]["Message-ID"], "<e1.EMAIL@example.org>")


@test(server=False)
def a_mail_server_that_says_never_is_believed(nest):
    smtp = Smtp(nest)
    smtp.refuse("550 5.1.1 no such user", at="RCPT")
    task = ended(posts(nest, smtp), "deliver.email", mail())
    has(task, state="FAILED", attempt=1)
    check("no such user" in task["error"]["message"], task["error"])


@test()
def without_a_mail_server_or_an_address_the_task_says_so(s):
    same(ended(s, "deliver.email", mail())["error"]["code"], "no_mail_server")
    same(ended(s, "deliver.mobile", mail(to=None))["error"]["code"], "no_address")
    same(ended(s, "deliver.email", {"nonsense": 1})["error"]["code"], "invalid_payload")


# ---- Phones ----

@test(server=False)
def a_topic_gets_the_text_with_a_title(nest):
    sink = Sink(nest)
    s = nest.server(env={"ERRAND_PUSH_ALLOW_PRIVATE": "yes"})
    has(ended(s, "deliver.mobile", mail(to=sink.url, text="x" * 5000)), state="COMPLETED")
    has(ended(s, "deliver.mobile", mail(to=sink.url, title="Grüße")), state="COMPLETED")
    same(sink.came[0]["headers"]["Title"], "News")
    check(sink.came[0]["body"].endswith("x…") and len(sink.came[0]["body"]) == 4001, "not cut")
    same(sink.came[1]["headers"]["Title"],
         "=?utf-8?B?" + base64.b64encode("Grüße".encode()).decode() + "?=")


@test(server=False)
def with_a_secret_it_is_a_signed_webhook(nest):
    sink = Sink(nest)
    s = nest.server(env={"ERRAND_PUSH_ALLOW_PRIVATE": "yes", "ERRAND_MOBILE_SECRET": "whsec_" + KEY})
    has(ended(s, "deliver.mobile", mail(to=sink.url, messageId="e1.MOBILE")), state="COMPLETED")
    got = sink.came[0]
    has(json.loads(got["body"]), title="News", text="Hello\n", messageId="e1.MOBILE")
    headers = {k.lower(): v for k, v in got["headers"].items()}
    signed = f"e1.MOBILE.{headers['webhook-timestamp']}.{got['body']}".encode()
    same(headers["webhook-signature"],
         "v1," + base64.b64encode(hmac.new(b"k" * 24, signed, hashlib.sha256).digest()).decode())


@test(server=False)
def a_topic_that_is_busy_names_its_time(nest):
    sink = Sink(nest)
    sink.answers = [(429, {"Retry-After": "900"})]
    s = nest.server(env={"ERRAND_PUSH_ALLOW_PRIVATE": "yes"}, clock="2027-03-01T09:00:00Z")
    task = s.create("deliver.mobile", payload=mail(to=sink.url))
    wait_for(lambda: s.state(task["id"]) == "RETRYING", "a retry")
    s.advance(899000)
    same((len(sink.came), s.state(task["id"])), (1, "RETRYING"))
    s.advance(2000)
    sink.wait(2)
    has(s.show(task["id"], waitMs=30000), state="COMPLETED", attempt=2)


@test(server=False)
def a_topic_that_is_not_there_is_final(nest):
    sink = Sink(nest)
    sink.answers = [(404, {})]
    s = nest.server(env={"ERRAND_PUSH_ALLOW_PRIVATE": "yes"})
    task = ended(s, "deliver.mobile", mail(to=sink.url))
    has(task, state="FAILED", attempt=1)
    same(task["error"]["code"], "http_404")


@test()
def addresses_inside_are_refused(s):
    for url in ("http://127.0.0.1:1/x", "http://localhost/x", "http://[::1]/x", "http://10.0.0.1/x",
                "http://169.254.169.254/latest", "http://2130706433/"):
        task = ended(s, "deliver.mobile", mail(to=url))
        has(task, state="FAILED", attempt=1)
        same(task["error"]["code"], "address_refused")
    for url in ("ftp://example.org/x", "file:///etc/passwd", "nonsense"):
        same(ended(s, "deliver.mobile", mail(to=url))["error"]["code"], "invalid_address")


@test(server=False)
def link_local_addresses_never_are_allowed(nest):
    s = nest.server(env={"ERRAND_PUSH_ALLOW_PRIVATE": "yes"})
    task = ended(s, "deliver.mobile", mail(to="http://169.254.169.254/latest"))
    same(task["error"]["code"], "address_refused")


if __name__ == "__main__":
    main()
