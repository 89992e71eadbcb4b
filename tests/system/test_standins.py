# tests/system/test_standins.py: the stand-ins speak their protocols, so that other tests may lean
# on them.
#
# SPDX-License-Identifier: MIT
"""Tests of the stand-ins themselves, by Python's own clients."""
import json
import smtplib
import ssl
import urllib.error
import urllib.request

from errand import check, main, same, test
from standins import Llm, Smtp


def ask(llm, text, **more):
    body = {"model": "m", "messages": [{"role": "user", "content": text}], **more}
    request = urllib.request.Request(llm.url + "/chat/completions", json.dumps(body).encode(),
                                     {"Content-Type": "application/json"})
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request) as answer:
        return answer.read().decode()


def content(text):
    return json.loads(text)["choices"][0]["message"]["content"]


@test(server=False)
def a_model_says_what_it_was_told_and_then_repeats(nest):
    llm = Llm(nest)
    llm.answer({"when": "weather", "text": "Rain.", "times": 0}, {"json": {"mode": "REFUSAL"}})
    same(json.loads(content(ask(llm, "Hello"))), {"mode": "REFUSAL"})
    same(content(ask(llm, "Hello")), "You said: Hello")
    same(content(ask(llm, "The weather?")), "Rain.")
    same(content(ask(llm, "The weather again?")), "Rain.")
    same([r["body"]["messages"][0]["content"] for r in llm.requests(4)],
         ["Hello", "Hello", "The weather?", "The weather again?"])


@test(server=False)
def a_model_fills_the_schema_it_is_asked_for(nest):
    schema = {"type": "object", "properties": {
        "mode": {"type": "string", "enum": ["TASK_CREATION", "REFUSAL"]},
        "title": {"type": "string"}, "rrule": {"type": ["string", "null"]},
        "isOneTime": {"type": "boolean"}}}
    wanted = {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}
    same(json.loads(content(ask(Llm(nest), "Hello", response_format=wanted))),
         {"mode": "TASK_CREATION", "title": "", "rrule": "", "isOneTime": False})


@test(server=False)
def a_model_streams(nest):
    llm = Llm(nest)
    llm.answer({"text": "One two"})
    lines = ask(llm, "Hello", stream=True, stream_options={"include_usage": True}).split("\n\n")
    same(lines[-2], "data: [DONE]")
    pieces = [json.loads(line[6:]) for line in lines[:-2]]
    same("".join(p["choices"][0]["delta"].get("content", "") for p in pieces if p["choices"]),
         "One two")
    same(pieces[-1]["usage"]["total_tokens"], 18)


@test(server=False)
def a_model_refuses_when_told_to_and_can_go_away(nest):
    llm = Llm(nest)
    llm.answer({"status": 429, "error": "slow down", "headers": {"Retry-After": "7"}})
    try:
        ask(llm, "Hello")
        check(False, "it was answered")
    except urllib.error.HTTPError as refused:
        same((refused.code, refused.headers["Retry-After"]), (429, "7"))
    llm.clear()
    same(llm.requests(), [])
    llm.stop()
    try:
        ask(llm, "Hello")
        check(False, "it was answered")
    except urllib.error.URLError:
        pass


MAIL = "From: a@example.org\r\nTo: b@example.org\r\nSubject: Hi\r\n\r\nHello\r\n"


@test(server=False)
def a_mail_server_keeps_what_it_is_sent(nest):
    smtp = Smtp(nest, "--starttls", "--user", "ann", "--password", "word")
    host, port = smtp.url.removeprefix("smtp://").split(":")
    with smtplib.SMTP(host, int(port)) as client:
        client.starttls(context=ssl.create_default_context(cafile=smtp.ca))
        client.login("ann", "word")
        client.sendmail("a@example.org", ["b@example.org"], MAIL)
    mail = smtp.mails(1)[0]
    same((mail["from"], mail["to"], mail["tls"], mail["user"]),
         ("a@example.org", ["b@example.org"], True, "ann"))
    same((mail["headers"]["Subject"], mail["parts"]["text/plain"]), ("Hi", "Hello\n"))


@test(server=False)
def a_mail_server_refuses_when_told_to(nest):
    smtp = Smtp(nest)
    smtp.refuse("451 4.7.1 later", at="RCPT", to="b@")
    host, port = smtp.url.removeprefix("smtp://").split(":")
    with smtplib.SMTP(host, int(port)) as client:
        try:
            client.sendmail("a@example.org", ["b@example.org"], MAIL)
            check(False, "it was taken")
        except smtplib.SMTPRecipientsRefused as refused:
            same(refused.recipients["b@example.org"][0], 451)
        client.sendmail("a@example.org", ["b@example.org"], MAIL)
    same(len(smtp.mails(1)), 1)


main()
