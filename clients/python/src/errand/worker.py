# errand/worker.py: claims tasks, runs a handler for each, says how it went.
#
# Threads: `concurrency` workers, each claiming for itself and running one task at a time; one beater that renews every
# lease; one event loop for handlers that are coroutines, started when the first is registered. A handler that is a plain function runs
# on its worker's thread; cancelling it raises Cancelled there at the next line of Python, or at its next call of the job.
#
# SPDX-License-Identifier: MIT
"""Worker and Job."""
from __future__ import annotations

import asyncio
import ctypes
import inspect
import json
import logging
import os
import signal
import socket
import threading
import time
import traceback
import uuid
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from .client import Client, Task
from .errors import ApiError, Cancelled, Conflict, ErrandError, LeaseLost, Permanent, Release, Unavailable, api_error
from .transport import Backoff, Stop

log = logging.getLogger("errand")

BEATS_A_LEASE = 3      # a lease is renewed when a third of it has passed
BEAT_AGAIN_S = 1.0     # after a heartbeat that did not get through
REPORT_S = 0.25        # between two reports of progress of one job
MESSAGE_MAX, DETAIL_MAX = 1000, 8000


class Job:
    """One attempt, as its handler sees it. Any thread may call."""

    def __init__(self, worker: "Worker", task: Task):
        self.worker, self.task = worker, task
        self.id: str = task["id"]
        self.type: str = task["taskType"]
        self.payload: Any = task.get("payload")
        self.document: Optional[str] = task.get("documentId")
        self.attempt: int = task["attempt"]
        self.lease: str = task["lease"]
        self.lock = threading.RLock()
        self.reason: Optional[BaseException] = None   # why the handler should stop; raised inside it
        self.thread: Optional[int] = None             # a plain handler that can be interrupted
        self.future: Optional["asyncio.Task[Any]"] = None
        self.waiting: Dict[str, Any] = {}             # to be said with the next heartbeat
        self.renewed_at = self.said_at = time.monotonic()
        self.again_at: Optional[float] = None         # the last heartbeat did not get through: when to try again

    # ---- For handlers ----

    def progress(self, percent: float, message: Optional[str] = None) -> None:
        """Seen in `errand watch`; what comes faster than four times a second is thinned out. Raises once the job should stop."""
        with self.lock:
            self.check()
            told: Dict[str, Any] = {"percent": percent}
            if message is not None:
                told["message"] = message[:MESSAGE_MAX]
            self.waiting["progress"] = told
        self.worker.beat_soon()

    def log(self, *lines: str) -> None:
        """Kept with the attempt."""
        with self.lock:
            self.check()
            self.waiting.setdefault("log", []).extend(lines)
        self.worker.beat_soon()

    def heartbeat(self) -> None:
        """Renews the lease now. The worker does it by itself; a handler need not. Raises LeaseLost when it is somebody else's."""
        self.check()
        self.beat()
        self.check()

    def check(self) -> None:
        """Raises LeaseLost or Cancelled if this attempt should stop."""
        if self.reason is not None:
            raise self.reason

    @property
    def cancelled(self) -> bool:
        return self.reason is not None

    # ---- For the worker ----

    def beat(self) -> None:
        """Says what there is to say, and renews the lease. Never waits for a server that is away: others must be renewed too."""
        with self.lock:
            said, self.waiting = self.waiting, {}
            began = self.said_at = time.monotonic()
            self.again_at = None
        try:
            answer = self.worker.client.call("POST", f"/api/tasks/{self.id}/heartbeat",
                                             {"lease": self.lease, "extendMs": self.worker.lease_ms, **said},
                                             repeat=True, patience=0)
        except LeaseLost as lost:
            self.stop(lost)
        except (Unavailable, ApiError) as problem:
            log.warning("task %s: no heartbeat: %s", self.id, problem)
            with self.lock:
                said.get("log", []).extend(self.waiting.pop("log", []))
                self.waiting = {**said, **self.waiting}
                self.again_at = time.monotonic() + BEAT_AGAIN_S
            if time.monotonic() - self.renewed_at > self.worker.lease_ms / 1000:
                self.stop(LeaseLost(409, "lease_lost", "the lease could not be renewed in time"))
        else:
            self.renewed_at = began
            if answer.get("cancelRequested"):
                self.stop(Cancelled("the task was cancelled"))
            self.worker.obey(answer.get("signal"))

    def due_in_s(self, now: float) -> float:
        renew_at = self.renewed_at + self.worker.lease_ms / 1000 / BEATS_A_LEASE
        said_at = self.said_at + REPORT_S if self.waiting else renew_at
        return (min(renew_at, said_at) if self.again_at is None else self.again_at) - now

    def stop(self, reason: BaseException) -> None:
        """Raises `reason` inside the handler. The first reason stays."""
        with self.lock:
            if self.reason is not None:
                return
            self.reason = reason
            if self.future is not None:
                self.worker.loop_call(self.future.cancel)
            elif self.thread is not None and self.thread != threading.get_ident():
                # Cancelled even if the lease was lost: the interpreter takes a class, and run() knows the reason.
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self.thread), ctypes.py_object(Cancelled))

    def uninterruptible(self) -> None:
        """The handler is over. An interruption that was sent and has not arrived is taken back."""
        with self.lock:
            if self.thread is not None:
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self.thread), None)
            self.thread = self.future = None


Ended = Tuple[Job, Dict[str, Any]]


class Worker:
    """Runs handlers for the types it knows. Times in seconds: `lease` of an attempt, renewed by itself; `grace` for what runs
    when it stops; `claim_wait` for a task to come."""

    def __init__(self, client: Optional[Client] = None, *, url: Optional[str] = None, token: Optional[str] = None,
                 queues: Sequence[str] = (), concurrency: int = 1, lease: float = 60.0, grace: float = 30.0,
                 claim_wait: float = 5.0, name: Optional[str] = None):
        self.client = client or Client(url, token)
        self.queues, self.concurrency = list(queues), concurrency
        self.grace_s, self.claim_wait_s = grace, claim_wait
        self.lease_ms = round(lease * 1000)
        self.name = name or f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}"
        self.handlers: Dict[str, Callable[[Job], Any]] = {}
        self.jobs: Dict[str, Job] = {}
        self.lock = threading.Lock()
        self.quiet, self.ended = threading.Event(), threading.Event()
        self.claims = Stop(self.quiet)
        self.beat_now = threading.Condition(self.lock)
        self.loop: Optional[asyncio.AbstractEventLoop] = None
        self.rhythm = True  # ends go with claims; a server before 0.2 does not know that
        self.on_error: Callable[[Job, BaseException], None] = _log_error

    # ---- Registering ----

    def task(self, *types: str) -> Callable[[Callable[[Job], Any]], Callable[[Job], Any]]:
        """A decorator: the function (or coroutine function) runs tasks of these types. What it returns is the result.

        It may raise Permanent (failed for good) or Release (given back); any other exception is a failure that is retried."""
        def register(handler: Callable[[Job], Any]) -> Callable[[Job], Any]:
            for each in types:
                self.handlers[each] = handler
            return handler
        return register

    # ---- Running ----

    def run(self, *, signals: bool = True) -> None:
        """Works until stop() is called, or SIGTERM or SIGINT comes; a second signal gives everything back at once."""
        if not self.handlers:
            raise ErrandError("no handler: register one with @worker.task(\"type\")")
        before = self._take_signals() if signals and threading.current_thread() is threading.main_thread() else {}
        threads = [threading.Thread(target=self._work, name=f"errand-{i}", daemon=True) for i in range(self.concurrency)]
        beater = threading.Thread(target=self._beat, name="errand-beat", daemon=True)
        try:
            self._start_loop()
            for thread in [*threads, beater]:
                thread.start()
            while not self.quiet.wait(0.2):
                pass
            self.claims.end_waits()
            until = time.monotonic() + self.grace_s
            for thread in threads:
                while thread.is_alive():
                    thread.join(0.1)
                    if time.monotonic() > until or self.ended.is_set():
                        self._give_back()
        finally:
            self.quiet.set()
            self.ended.set()
            with self.beat_now:
                self.beat_now.notify_all()
            if self.loop is not None:
                self.loop.call_soon_threadsafe(self.loop.stop)
            for number, handler in before.items():
                signal.signal(number, handler)

    def stop(self, now: bool = False) -> None:
        """Claims no more; what runs may finish within the grace period. `now`: it is given back at once."""
        if now:
            self.ended.set()
        self.quiet.set()

    def obey(self, wish: Optional[str]) -> None:
        """What an operator asked of this worker: `quiet` or `stop`."""
        if wish is not None and not self.quiet.is_set():
            log.info("asked to %s", wish)
            self.stop()

    def _take_signals(self) -> Dict[int, Any]:
        def on_signal(_number: int, _frame: Any) -> None:
            self.stop(now=self.quiet.is_set())
        return {number: signal.signal(number, on_signal) for number in (signal.SIGTERM, signal.SIGINT)}

    def _give_back(self) -> None:
        with self.lock:
            running = list(self.jobs.values())
        for job in running:
            job.stop(Release())

    # ---- A worker's thread ----

    # In its rhythm a worker needs one request a task: the end of one attempt goes with the claim for the next. It is on disk before
    # the claim waits. Where the claim fails it is told by itself, as often as needed: the same end under the same lease counts once.

    def _work(self) -> None:
        backoff = Backoff()
        ended: Optional[Ended] = None  # the attempt whose end goes with the next claim
        while not self.quiet.is_set():
            carried, ended = ended, None
            try:
                task = self._claim(carried)
                backoff = Backoff()
            except (Unavailable, ApiError) as problem:
                if carried is not None:
                    self.rhythm = self.rhythm and not (isinstance(problem, ApiError) and problem.status == 400)
                    self._finish(*carried)
                elif isinstance(problem, ApiError) and problem.status in (400, 401, 403):
                    log.error("cannot claim: %s", problem)
                    self.stop()
                elif not self.quiet.is_set():
                    log.warning("cannot claim: %s", problem)
                    self.quiet.wait(backoff.pause_s())
                continue
            if task is not None and self.quiet.is_set():
                self._finish(Job(self, task), {"outcome": "release"})
            elif task is not None:
                ended = self._run(Job(self, task))
        if ended is not None:
            self._finish(*ended)

    def _claim(self, ended: Optional[Ended]) -> Optional[Task]:
        wanted: Dict[str, Any] = {"workerId": self.name, "taskTypes": sorted(self.handlers), "max": 1,
                                  "waitMs": round(self.claim_wait_s * 1000), "leaseMs": self.lease_ms}
        if self.queues:
            wanted["queues"] = self.queues
        if ended is not None:
            wanted["finish"] = [{"id": ended[0].id, "lease": ended[0].lease, **ended[1]}]
        # Not repeated by itself: a claim whose answer was lost has leased a task to nobody, and its lease must end.
        answer = self.client.call("POST", "/api/claim", wanted, repeat=False, wait=self.claim_wait_s,
                                  patience=None if ended is None else 0, stop=self.claims)
        if answer is None:  # stopped while it waited
            raise Unavailable("stopped")
        self.obey(answer.get("signal"))
        if ended is not None:
            self._check_end(*ended, answer["finished"][0])
        return answer["tasks"][0] if answer["tasks"] else None

    def _check_end(self, job: Job, end: Dict[str, Any], said: Dict[str, Any]) -> None:
        if said["status"] == 429 or said["status"] >= 500:
            self._finish(job, end)
        elif said["status"] >= 400:
            self._tell_problem(job, api_error(said["status"], said))

    def _tell_problem(self, job: Job, problem: ErrandError) -> None:
        if isinstance(problem, Conflict):
            self.on_error(job, problem)
        else:
            log.error("task %s: its end could not be told: %s", job.id, problem)

    def _run(self, job: Job) -> Optional[Ended]:
        """Its end, to be told with the next claim; None: there is nothing to tell, or it was told."""
        with self.beat_now:
            self.jobs[job.id] = job
            self.beat_now.notify()
        try:
            end = self._outcome(job)
        finally:
            with self.lock:
                del self.jobs[job.id]
        if end is None:
            return None
        if self.rhythm and not job.waiting:
            return job, end
        self._finish(job, end)
        return None

    def _outcome(self, job: Job) -> Optional[Dict[str, Any]]:
        """What to tell of the attempt; None: nothing, it is somebody else's."""
        handler = self.handlers[job.type]
        try:
            try:
                result = self._await(job, handler) if inspect.iscoroutinefunction(handler) else self._call(job, handler)
            finally:
                job.uninterruptible()
        except BaseException as raised:  # noqa: B902: Cancelled is none of Exception, and nothing may end this thread
            return self._judge(job, raised)
        if isinstance(job.reason, LeaseLost):
            return self._judge(job, job.reason)
        try:
            json.dumps(result)
        except (TypeError, ValueError) as problem:
            return _failure("bad_result", f"the result is no JSON: {problem}", None, retry=False)
        return {"outcome": "complete", **({} if result is None else {"result": result})}

    def _judge(self, job: Job, raised: BaseException) -> Optional[Dict[str, Any]]:
        # What the job was told decides over how the handler came to its end: it may have wrapped what was raised in it.
        reason = job.reason if job.reason is not None and not isinstance(raised, (Permanent, Release)) else raised
        if isinstance(reason, LeaseLost):
            self.on_error(job, reason)
            return None
        if isinstance(reason, Release):
            return {"outcome": "release", **({"delayMs": round(reason.delay * 1000)} if reason.delay else {})}
        if isinstance(reason, (Cancelled, asyncio.CancelledError)):
            return _failure("cancelled", "stopped", None, retry=True)
        self.on_error(job, raised)
        if isinstance(raised, Permanent):
            return _failure(raised.code, str(raised), raised.detail, retry=False)
        trace = "".join(traceback.format_exception(type(raised), raised, raised.__traceback__))
        return _failure(type(raised).__name__, str(raised) or type(raised).__name__, trace[-DETAIL_MAX:], retry=True)

    def _call(self, job: Job, handler: Callable[[Job], Any]) -> Any:
        with job.lock:
            job.thread = threading.get_ident()
            job.check()
        return handler(job)

    def _finish(self, job: Job, end: Dict[str, Any]) -> None:
        body = dict(end, lease=job.lease)
        verb = body.pop("outcome")
        with job.lock:
            said, job.waiting = job.waiting, {}
        try:
            if said:  # the last words of a handler come before its end
                self.client.call("POST", f"/api/tasks/{job.id}/heartbeat", {"lease": job.lease, **said}, repeat=True)
            self.client.call("POST", f"/api/tasks/{job.id}/{verb}", body, repeat=True, patience=self.lease_ms / 1000)
        except (Unavailable, ApiError) as problem:
            self._tell_problem(job, problem)

    # ---- Coroutines ----

    def _start_loop(self) -> None:
        if any(inspect.iscoroutinefunction(handler) for handler in self.handlers.values()):
            self.loop = asyncio.new_event_loop()
            threading.Thread(target=self.loop.run_forever, name="errand-loop", daemon=True).start()

    def loop_call(self, what: Callable[[], Any]) -> None:
        if self.loop is not None:
            self.loop.call_soon_threadsafe(what)

    def _await(self, job: Job, handler: Callable[[Job], Any]) -> Any:
        async def begin() -> Any:
            with job.lock:
                job.future = asyncio.current_task()
                job.check()
            return await handler(job)
        assert self.loop is not None
        return asyncio.run_coroutine_threadsafe(begin(), self.loop).result()

    # ---- The beater ----

    def beat_soon(self) -> None:
        with self.beat_now:
            self.beat_now.notify()

    def _beat(self) -> None:
        while True:
            with self.beat_now:
                now = time.monotonic()
                due: List[Job] = [job for job in self.jobs.values() if job.due_in_s(now) <= 0]
                if not due:
                    if self.ended.is_set() and not self.jobs:
                        return
                    waits = [job.due_in_s(now) for job in self.jobs.values()]
                    self.beat_now.wait(max(0.01, min(waits)) if waits else None)
                    continue
            for job in due:
                job.beat()


def _failure(code: str, message: str, detail: Any, retry: bool) -> Dict[str, Any]:
    error: Dict[str, Any] = {"code": code[:100], "message": message[:MESSAGE_MAX]}
    if detail is not None:
        error["detail"] = detail
    return {"outcome": "fail", "error": error, "retry": retry}


def _log_error(job: Job, problem: BaseException) -> None:
    log.warning("task %s (%s), attempt %d: %s: %s", job.id, job.type, job.attempt, type(problem).__name__, problem)
