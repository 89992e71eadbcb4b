# errand/client.py: what programs ask of the server.
#
# Objects are the API's own, as dictionaries: names and values are those of /openapi.json.
#
# SPDX-License-Identifier: MIT
"""Client: create tasks, look at them, steer them; schedules and teams."""
from __future__ import annotations

import datetime
import json
import os
import time
import urllib.parse
import uuid
from typing import Any, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Union

from .errors import ApiError, ErrandError, Unavailable, WaitTimeout
from .transport import Backoff, Stop, Transport

Task = Dict[str, Any]
Json = Any
When = Union[str, datetime.datetime]

DEFAULT_URL = "http://127.0.0.1:8001"
TERMINAL = frozenset({"COMPLETED", "FAILED", "CANCELLED", "TIMEOUT"})
WAIT_S = 30.0  # of one request that holds its answer; longer waits are several of them
PAGE, CREATE_MAX = 200, 1000


class _Unset:
    """A payload that was not given; None is a payload."""


UNSET = _Unset()


def _when(value: Optional[When]) -> Optional[str]:
    if isinstance(value, datetime.datetime):
        if value.tzinfo is None:
            raise ValueError("a time needs a time zone: datetime.now(timezone.utc), or text as the API takes it")
        return value.astimezone(datetime.timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return value


def _quoted(ident: str) -> str:
    return urllib.parse.quote(ident, safe="")


def _given(fields: Mapping[str, Any]) -> Dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def order(task_type: str, payload: Any = UNSET, *, queue: Optional[str] = None, document: Optional[str] = None,
          priority: Optional[str] = None, key: Optional[str] = None, delay: Optional[float] = None,
          at: Optional[When] = None, expires: Optional[When] = None, max_retries: Optional[int] = None,
          timeout: Optional[float] = None, tags: Optional[Sequence[str]] = None, metadata: Optional[Mapping[str, Any]] = None,
          depends_on: Optional[Sequence[str]] = None, children: Optional[Sequence[Mapping[str, Any]]] = None,
          **more: Any) -> Dict[str, Any]:
    """One task for push_many() or `children`. Seconds for `delay` and `timeout`; `more` has fields by their API names."""
    made = _given({
        "taskType": task_type, "queue": queue, "documentId": document, "priority": priority, "idempotencyKey": key,
        "delayMs": None if delay is None else round(delay * 1000), "scheduledAt": _when(at), "expiresAt": _when(expires),
        "maxRetries": max_retries, "timeoutMs": None if timeout is None else round(timeout * 1000),
        "tags": None if tags is None else list(tags), "metadata": metadata,
        "dependsOn": None if depends_on is None else list(depends_on),
        "children": None if children is None else list(children), **more})
    if isinstance(payload, (bytes, bytearray)):
        import base64
        made["payloadBase64"] = base64.b64encode(payload).decode()
    elif payload is not UNSET:
        made["payload"] = payload
    return made


class Client:
    """One server, for as many threads as like. `patience` (seconds): how long a call tries again while the server is away."""

    def __init__(self, url: Optional[str] = None, token: Optional[str] = None, *, patience: float = 30.0,
                 cafile: Optional[str] = None):
        self.url = url or os.environ.get("ERRAND_URL") or DEFAULT_URL
        self.token = token or os.environ.get("ERRAND_TOKEN")
        self.cafile = cafile or os.environ.get("ERRAND_CACERT")
        self.transport = Transport(self.url, self.token, patience, self.cafile)

    def call(self, method: str, path: str, body: Any = None, *, repeat: Optional[bool] = None, wait: float = 0,
             patience: Optional[float] = None, stop: Optional[Stop] = None) -> Any:
        """Any call of the API. `repeat`: send it again when no answer came (by default only what reads)."""
        safe = method in ("GET", "PUT", "DELETE") if repeat is None else repeat
        return self.transport.ask(method, path, body, repeat=safe, wait_s=wait, patience_s=patience, stop=stop)[0]

    # ---- Tasks ----

    def push(self, task_type: str, payload: Any = UNSET, **options: Any) -> Task:
        """Creates a task; it is on disk when this returns. Options are those of order().

        Without a `key` one is made for this call, so that a create whose answer was lost is repeated and never doubled."""
        made = order(task_type, payload, **options)
        made.setdefault("idempotencyKey", f"py:{uuid.uuid4()}")
        return self.call("POST", "/api/tasks", made, repeat=True)

    def push_many(self, orders: Iterable[Mapping[str, Any]]) -> List[Task]:
        """Creates up to 1,000 tasks, all or none. Each is an order(), or the API's object; `ref` and `dependsOn` may relate them."""
        made = [dict(each) for each in orders]
        if len(made) > CREATE_MAX:
            raise ValueError(f"at most {CREATE_MAX} tasks at once are created all or none: split them")
        if not made:
            return []
        for each in made:
            each.setdefault("idempotencyKey", f"py:{uuid.uuid4()}")
        return self.call("POST", "/api/tasks", made, repeat=True)

    def get(self, ident: str) -> Task:
        return self.call("GET", f"/api/tasks/{_quoted(ident)}")

    def wait(self, ident: str, timeout: Optional[float] = None) -> Task:
        """The task once it has ended, however it ended. WaitTimeout after `timeout` seconds."""
        until = None if timeout is None else time.monotonic() + timeout
        while True:
            left = WAIT_S if until is None else min(WAIT_S, max(0.0, until - time.monotonic()))
            task = self.call("GET", f"/api/tasks/{_quoted(ident)}?waitMs={round(left * 1000)}", wait=left)
            if task["state"] in TERMINAL:
                return task
            if until is not None and time.monotonic() >= until:
                raise WaitTimeout(f"task {ident} is {task['state']} after {timeout} s")

    def why(self, ident: str) -> Dict[str, Any]:
        """What the task waits for: {"state", "reasons": [{"code", "message", …}]}."""
        return self.call("GET", f"/api/tasks/{_quoted(ident)}/why")

    def list(self, *, limit: Optional[int] = None, **filters: Any) -> Iterator[Task]:
        """Tasks, newest first, page by page. Filters by their API names: state="FAILED", taskType=…, documentId=…, tag=…"""
        query = _given({**filters, "limit": min(limit or PAGE, PAGE)})
        for name, value in query.items():
            if isinstance(value, (list, tuple, set, frozenset)):
                query[name] = ",".join(value)
            elif isinstance(value, datetime.datetime):
                query[name] = _when(value)
        path: Optional[str] = "/api/tasks?" + urllib.parse.urlencode(query)
        seen = 0
        while path:
            page, headers = self.transport.ask("GET", path, repeat=True)
            for task in page:
                yield task
                seen += 1
                if limit is not None and seen >= limit:
                    return
            path = _next_page(headers.get("link", ""))

    def cancel(self, ident: str, reason: Optional[str] = None) -> Task:
        return self.call("POST", f"/api/tasks/{_quoted(ident)}/cancel", _given({"reason": reason}), repeat=True)

    def retry(self, ident: str) -> Task:
        return self.call("POST", f"/api/tasks/{_quoted(ident)}/retry", {})

    def delete(self, ident: str) -> None:
        self.call("DELETE", f"/api/tasks/{_quoted(ident)}", repeat=False)

    def stats(self) -> Dict[str, Any]:
        return self.call("GET", "/api/stats")

    def queues(self) -> List[Dict[str, Any]]:
        return self.call("GET", "/api/queues")

    def events(self, **filters: Any) -> Iterator[Dict[str, Any]]:
        """What happens, from now on: {"event", "id", "data"}. Filters: types="state,progress", taskType=…, documentId=…

        A broken connection is opened again and goes on where it was; an event `reset` says that something may be missing."""
        query = urllib.parse.urlencode(_given({name: ",".join(value) if isinstance(value, (list, tuple)) else value
                                               for name, value in filters.items()}))
        return self._stream("/api/events" + ("?" + query if query else ""))

    def _stream(self, path: str) -> Iterator[Dict[str, Any]]:
        last, backoff, away_since = None, Backoff(), None
        while True:
            try:
                for event, ident, data in self.transport.stream(path, last, idle_s=60):
                    last, backoff, away_since = ident or last, Backoff(), None
                    yield {"event": event, "id": ident, "data": json.loads(data) if data else None}
            except ApiError as problem:
                if problem.status not in (429, 503):
                    raise
            except (OSError, ValueError, ErrandError) as problem:
                away_since = away_since or time.monotonic()
                if time.monotonic() - away_since > self.transport.patience_s:
                    raise Unavailable(f"GET {path}: {problem}") from problem
            time.sleep(backoff.pause_s())

    # ---- Schedules ----

    def schedule(self, text: Optional[str] = None, **fields: Any) -> Dict[str, Any]:
        """A schedule from English ("every friday at 4pm, send the report") or from fields (title, rrule, timezone, …).

        Refused when it is not understood, past or never. Not repeated when its answer is lost: a schedule has no key."""
        return self.call("POST", "/api/schedules", _given({"text": text, **fields}))

    def preview(self, text: Optional[str] = None, **fields: Any) -> Dict[str, Any]:
        """What schedule() would make: rule, next five times, summary, what each word was taken for. Nothing is saved."""
        return self.call("POST", "/api/schedules/preview", _given({"text": text, **fields}), repeat=True)

    def schedules(self, **filters: Any) -> List[Dict[str, Any]]:
        query = urllib.parse.urlencode(_given(filters))
        return self.call("GET", "/api/schedules" + ("?" + query if query else ""))

    # ---- Teams ----

    def team(self, prompt: str, **fields: Any) -> "Team":
        """Starts a team on a prompt: teammates=[{"role", "focus"}], tasks=[{"id", "title", "dependsOn"}], documentId=…"""
        return Team(self, self.call("POST", "/api/teams", _given({"prompt": prompt, **fields}))["teamId"])


class Team:
    """A team by its id."""

    def __init__(self, client: Client, ident: str):
        self.client, self.id, self.path = client, ident, f"/api/teams/{_quoted(ident)}"

    def get(self) -> Dict[str, Any]:
        return self.client.call("GET", self.path)

    def claim(self, agent: str, wait: float = 0) -> Optional[Task]:
        """A task of the team for this agent, with its lease; None when there is none within `wait` seconds."""
        return self.client.call("POST", self.path + "/claim", {"agent": agent, "waitMs": round(wait * 1000)}, wait=wait)["task"]

    def say(self, sender: str, body: str, to: Optional[str] = None) -> Dict[str, Any]:
        return self.client.call("POST", self.path + "/messages", _given({"from": sender, "to": to, "body": body}))

    def read(self, agent: str, after: Optional[str] = None, wait: float = 0) -> List[Dict[str, Any]]:
        query = urllib.parse.urlencode(_given({"agent": agent, "after": after, "waitMs": round(wait * 1000) or None}))
        return self.client.call("GET", f"{self.path}/messages?{query}", wait=wait)

    def cancel(self) -> None:
        self.client.call("DELETE", self.path, repeat=False)


def _next_page(link: str) -> Optional[str]:
    for part in link.split(","):
        address, _, rel = part.partition(";")
        if 'rel="next"' in rel:
            parts = urllib.parse.urlsplit(address.strip().strip("<>"))
            return parts.path + ("?" + parts.query if parts.query else "")
    return None
