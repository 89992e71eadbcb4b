# errand/errors.py: what can go wrong, each with a class of its own.
#
# SPDX-License-Identifier: MIT
"""Errors of the client, and what a handler raises to say how its task ended."""
from __future__ import annotations

from typing import Any, Optional


class ErrandError(Exception):
    """Everything that this package raises by itself."""


class ApiError(ErrandError):
    """The server refused. `status`, `code`, `message` and `field` are what it said."""

    def __init__(self, status: int, code: str, message: str, field: Optional[str] = None, body: Any = None):
        super().__init__(message)
        self.status, self.code, self.message, self.field, self.body = status, code, message, field, body

    def __str__(self) -> str:
        return f"{self.message} ({self.status} {self.code})"


class NotFound(ApiError):
    """404: there is no such thing, or not for this token."""


class Conflict(ApiError):
    """409: it is not in a state in which that can be done."""


class LeaseLost(Conflict):
    """409 lease_lost: the attempt is somebody else's by now. Nothing that is done for it counts any more."""


class Refused(ApiError):
    """422: a sentence or a schedule that was not understood, is past or never comes; `refusal` says which part and why."""

    @property
    def refusal(self) -> Any:
        return (self.body or {}).get("refusal")


class Unavailable(ErrandError):
    """The server could not be reached, or said 503, for longer than the client was told to try."""


class WaitTimeout(ErrandError):
    """The task has not ended within the time that wait() was given."""


# ---- Raised by handlers ----


class Permanent(Exception):
    """Raised by a handler: failed, and another try would not help."""

    def __init__(self, message: str, code: str = "failed", detail: Any = None):
        super().__init__(message)
        self.code, self.detail = code, detail


class Release(Exception):
    """Raised by a handler: give the task back without using a retry, after a while if `delay` (seconds) says so."""

    def __init__(self, delay: float = 0):
        super().__init__("released")
        self.delay = delay


class Cancelled(BaseException):
    """Raised *inside* a handler whose task is to be cancelled, or whose worker stops. A BaseException, so that
    `except Exception` does not swallow it; clean up in `finally` and let it pass."""


def api_error(status: int, body: Any) -> ApiError:
    told = body.get("error") if isinstance(body, dict) else None
    told = told if isinstance(told, dict) else {}
    code, message = str(told.get("code", "error")), str(told.get("message", f"the server answered {status}"))
    kind = {404: NotFound, 409: LeaseLost if code == "lease_lost" else Conflict, 422: Refused}.get(status, ApiError)
    return kind(status, code, message, told.get("field"), body)
