# errand/transport.py: requests over kept connections, tried again where that is safe.
#
# A connection belongs to the thread that opened it. A request that got no answer may have been carried out: only what is
# safe to repeat is sent again (reads, and writes that the server recognises when they come twice).
#
# SPDX-License-Identifier: MIT
"""HTTP to one server."""
from __future__ import annotations

import http.client
import json
import random
import socket
import ssl
import threading
import time
import urllib.parse
from typing import Any, Dict, Iterator, Optional, Set, Tuple

from .errors import Unavailable, api_error

FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.1, 5.0
ANSWER_S = 30.0  # beyond what a call asks the server to wait


class Backoff:
    """Growing pauses, each with a random half, so that many clients do not come back together."""

    def __init__(self) -> None:
        self.next_s = FIRST_PAUSE_S

    def pause_s(self) -> float:
        whole, self.next_s = self.next_s, min(self.next_s * 2, LONGEST_PAUSE_S)
        return whole * (0.5 + random.random() / 2)


class Stop:
    """Ends calls that wait. Their side of the connection is closed and the answer is still read: the server then stops waiting, and gives
    back what it has found since; what it had sent before is there to be read. Nothing is leased to nobody."""

    def __init__(self, wanted: threading.Event):
        self.wanted = wanted
        self.lock = threading.Lock()
        self.waiting: Set[socket.socket] = set()

    def enter(self, sock: socket.socket) -> None:
        """A call goes out here. Raises Unavailable if none should any more."""
        with self.lock:
            if self.wanted.is_set():
                raise Unavailable("stopped")
            self.waiting.add(sock)

    def leave(self, sock: socket.socket) -> None:
        with self.lock:
            self.waiting.discard(sock)

    def end_waits(self) -> None:
        """After `wanted` was set: whoever has not entered by then does not."""
        with self.lock:
            for sock in self.waiting:
                try:
                    socket.socket.shutdown(sock, socket.SHUT_WR)  # below TLS: what comes can still be read
                except OSError:
                    pass  # it is closed already


class Transport:
    """Thread-safe: each thread has its own connection."""

    def __init__(self, url: str, token: Optional[str], patience_s: float, cafile: Optional[str]):
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"url must look like http://127.0.0.1:8001, not {url!r}")
        self.secure, self.host = parts.scheme == "https", parts.hostname
        self.port = parts.port or (443 if self.secure else 80)
        self.prefix = parts.path.rstrip("/")
        self.patience_s = patience_s
        self.headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if token:
            self.headers["Authorization"] = f"Bearer {token}"
        self.tls = ssl.create_default_context(cafile=cafile) if self.secure else None
        self.own = threading.local()

    def open(self, timeout_s: Optional[float]) -> http.client.HTTPConnection:
        if self.secure:
            return http.client.HTTPSConnection(self.host, self.port, timeout=timeout_s, context=self.tls)
        return http.client.HTTPConnection(self.host, self.port, timeout=timeout_s)

    def kept(self, timeout_s: float) -> http.client.HTTPConnection:
        connection = getattr(self.own, "connection", None)
        if connection is None:
            connection = self.own.connection = self.open(timeout_s)
        connection.timeout = timeout_s
        if connection.sock is not None:
            connection.sock.settimeout(timeout_s)
        return connection

    def drop(self) -> None:
        connection = getattr(self.own, "connection", None)
        if connection is not None:
            connection.close()
            self.own.connection = None

    def once(self, method: str, path: str, body: Optional[bytes], wait_s: float,
             stop: Optional[Stop] = None) -> Tuple[int, Dict[str, str], bytes]:
        connection = self.kept(wait_s + ANSWER_S)
        if connection.sock is None:
            connection.connect()
        sock = connection.sock
        if stop is not None:
            stop.enter(sock)
        try:
            connection.request(method, self.prefix + path, body, self.headers)
            answer = connection.getresponse()
            content = answer.read()
        finally:
            if stop is not None:
                stop.leave(sock)
        if answer.will_close or (stop is not None and stop.wanted.is_set()):
            self.drop()
        return answer.status, {k.lower(): v for k, v in answer.getheaders()}, content

    def ask(self, method: str, path: str, body: Any = None, *, repeat: bool, wait_s: float = 0,
            patience_s: Optional[float] = None, stop: Optional[Stop] = None) -> Tuple[Any, Dict[str, str]]:
        """The answer's JSON and headers. `repeat`: it may be sent again when it is not known to have arrived. `stop` ends it."""
        sent = None if body is None else json.dumps(body, separators=(",", ":")).encode()
        until = time.monotonic() + (self.patience_s if patience_s is None else patience_s)
        backoff = Backoff()
        while True:
            pause_s = None
            try:
                status, headers, content = self.once(method, path, sent, wait_s, stop)
            except (OSError, http.client.HTTPException) as problem:
                unsent = isinstance(problem, ConnectionRefusedError)  # nothing was carried out
                self.drop()
                if not (repeat or unsent):
                    raise Unavailable(f"{method} {path}: {problem}; it may or may not have been carried out") from problem
                reason = str(problem) or type(problem).__name__
            else:
                if status not in (429, 503):
                    return self.judged(status, content), headers
                error = api_error(status, parsed(content))
                reason, pause_s = str(error), told_pause_s(headers)
                if status == 429 and pause_s is None:
                    raise error  # a limit that does not pass by waiting
            if pause_s is None:
                pause_s = backoff.pause_s()
            if time.monotonic() + pause_s > until or (stop is not None and stop.wanted.wait(pause_s)):
                raise Unavailable(f"{method} {path}: {reason}")
            if stop is None:
                time.sleep(pause_s)

    @staticmethod
    def judged(status: int, content: bytes) -> Any:
        if status >= 400:
            raise api_error(status, parsed(content))
        return parsed(content)

    def stream(self, path: str, last_id: Optional[str], idle_s: Optional[float]) -> Iterator[Tuple[str, Optional[str], str]]:
        """Server-sent events: (event, id, data), until the server ends them."""
        connection = self.open(idle_s)
        headers = dict(self.headers, Accept="text/event-stream")
        if last_id:
            headers["Last-Event-ID"] = last_id
        try:
            connection.request("GET", self.prefix + path, None, headers)
            answer = connection.getresponse()
            if answer.status != 200:
                self.judged(answer.status, answer.read())
            yield from read_events(answer)
        finally:
            connection.close()


def parsed(content: bytes) -> Any:
    try:
        return json.loads(content) if content else None
    except ValueError:
        return None


def told_pause_s(headers: Dict[str, str]) -> Optional[float]:
    try:
        return min(max(float(headers["retry-after"]), 0.0), LONGEST_PAUSE_S)
    except (KeyError, ValueError):
        return None


def read_events(lines: Any) -> Iterator[Tuple[str, Optional[str], str]]:
    event, ident, data = "message", None, []
    for raw in lines:
        line = raw.decode("utf-8").rstrip("\r\n")
        if not line:
            if data:
                yield event, ident, "\n".join(data)
            event, data = "message", []
        elif not line.startswith(":"):
            name, _, value = line.partition(":")
            value = value[1:] if value.startswith(" ") else value
            if name == "event":
                event = value
            elif name == "id":
                ident = value
            elif name == "data":
                data.append(value)
