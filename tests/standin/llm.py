#!/usr/bin/env python3
# tests/standin/llm.py: a server of the OpenAI chat-completions protocol that says what it was told.
#
# It prints `llm: ready on http://127.0.0.1:PORT/v1` and ends when its standard input does. What it
# answers is the first entry of the script (control.py) that fits; without one it repeats the last
# message, or fills the schema that was asked for. An entry may have:
#
#     "when": TEXT       only for questions that hold this text, in any message
#     "text": TEXT       the content; "json": VALUE: the same as JSON
#     "pieces": [TEXT…]  how a streamed content is cut; else into words
#     "usage": {…}       instead of the usual one; null: none
#     "finish": REASON   instead of "stop"; "refusal": TEXT: the model declines
#     "status": N        with "error": TEXT as message, and "headers": {NAME: VALUE}
#     "raw": TEXT        the body, whatever it is; "media": its type
#     "huge": N          a content of N bytes
#     "cut": N           the connection ends after N pieces of a stream, or N bytes of a body
#     "hold": N          the same, but it is held there until released; 0: before anything is said
#     "stream": false    answers whole although a stream was asked for
#
# SPDX-License-Identifier: MIT
"""Stand-in of a language model."""
import json
import re
import socket

import control

USAGE = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
HEAD = {"id": "chatcmpl-1", "created": 1800000000, "model": "stand-in"}


class Cut(Exception):
    """The connection ends here."""


def sample(schema):
    """The least value that a schema lets through."""
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object":
        return {key: sample(value) for key, value in schema.get("properties", {}).items()}
    return {"array": [], "string": "", "integer": 0, "number": 0, "boolean": False}.get(kind)


def usual(request):
    """What is said when the script says nothing."""
    wanted = request.get("response_format", {})
    if wanted.get("type") == "json_schema":
        return {"json": sample(wanted["json_schema"]["schema"])}
    return {"text": "You said: " + request["messages"][-1]["content"]}


def content_of(entry):
    if "json" in entry:
        return json.dumps(entry["json"])
    if "huge" in entry:
        return "x" * entry["huge"]
    if "pieces" in entry:
        return "".join(entry["pieces"])
    return entry.get("text", "" if "refusal" not in entry else None)


class Chat(control.Handler):
    def do_POST(self):
        if self.control():
            return
        body = self.body()
        try:
            request = json.loads(body)
        except ValueError:
            request = None
        self.book.write({"path": self.path, "headers": dict(self.headers.items()), "body": request})
        if self.path != "/v1/chat/completions" or not request or not request.get("messages"):
            self.answer(400, b'{"error":{"message":"not a chat completion"}}')
            return
        try:
            self.play(request)
        except (Cut, OSError):
            self.hang_up()

    def play(self, request):
        said = "\n".join(message["content"] for message in request["messages"])
        entry = self.book.take(lambda e: e.get("when", "") in said) or usual(request)
        if entry.get("hold") == 0:
            self.book.hold()
        if "status" in entry:
            body = json.dumps({"error": {"message": entry.get("error", "no"), "type": "stand_in"}})
            self.answer(entry["status"], body.encode(), headers=entry.get("headers", {}).items())
        elif "raw" in entry:
            media = "text/event-stream" if request.get("stream") else "application/json"
            self.say(entry, entry["raw"].encode(), entry.get("media", media))
        elif request.get("stream") and entry.get("stream", True):
            self.stream(entry, request)
        else:
            self.say(entry, json.dumps(self.whole(entry)).encode(), "application/json")

    def whole(self, entry):
        message = {"role": "assistant", "content": content_of(entry)}
        if "refusal" in entry:
            message["refusal"] = entry["refusal"]
        choice = {"index": 0, "message": message, "finish_reason": entry.get("finish", "stop")}
        answer = {**HEAD, "object": "chat.completion", "choices": [choice]}
        usage = entry.get("usage", USAGE)
        return answer if usage is None else {**answer, "usage": usage}

    def say(self, entry, body, media):
        stop = entry.get("cut", entry.get("hold"))
        if not stop and "cut" not in entry:
            self.answer(200, body, media)
            return
        self.send_response(200)
        self.send_header("Content-Type", media)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[:stop])
        self.pause(entry)
        self.wfile.write(body[stop:])

    def pause(self, entry):
        self.wfile.flush()
        if "cut" in entry:
            raise Cut
        self.book.hold()

    def chunk(self, data):
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))

    def event(self, value):
        text = value if isinstance(value, str) else json.dumps(value)
        self.chunk(f"data: {text}\n\n".encode())

    def piece(self, delta, finish=None):
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        self.event({**HEAD, "object": "chat.completion.chunk", "choices": [choice]})

    def stream(self, entry, request):
        pieces = entry.get("pieces") or re.findall(r"\S+\s*|\s+", content_of(entry) or "")
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.piece({"role": "assistant", "content": ""})
        stop = entry.get("cut", entry.get("hold") or None)
        for at, piece in enumerate(pieces):
            if at == stop:
                self.pause(entry)
            self.piece({"content": piece})
        if stop is not None and stop >= len(pieces):
            self.pause(entry)
        if "refusal" in entry:
            self.piece({"refusal": entry["refusal"]})
        self.piece({}, entry.get("finish", "stop"))
        usage = entry.get("usage", USAGE)
        if usage is not None and request.get("stream_options", {}).get("include_usage"):
            self.event({**HEAD, "object": "chat.completion.chunk", "choices": [], "usage": usage})
        self.event("[DONE]")
        self.chunk(b"")

    def hang_up(self):
        self.close_connection = True
        try:
            self.connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


if __name__ == "__main__":
    server = control.serve(Chat, control.Book())
    control.stay(f"llm: ready on http://127.0.0.1:{server.server_port}/v1")
