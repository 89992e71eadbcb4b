// errors.js: what can go wrong, each with a class of its own.
//
// SPDX-License-Identifier: MIT

/** Everything that this package throws by itself. */
export class ErrandError extends Error {
  get name() {
    return this.constructor.name;
  }
}

/** The server refused: `status`, `code`, `message` and `field` are what it said. */
export class ApiError extends ErrandError {
  constructor(status, code, message, field, body) {
    super(message);
    Object.assign(this, { status, code, field, body });
  }
}

/** 404: there is no such thing, or not for this token. */
export class NotFound extends ApiError {}
/** 409: it is not in a state in which that can be done. */
export class Conflict extends ApiError {}
/** 409 lease_lost: the attempt is somebody else's by now. */
export class LeaseLost extends Conflict {}

/** 422: a sentence or a schedule that was not understood, is past or never comes. */
export class Refused extends ApiError {
  get refusal() {
    return this.body?.refusal;
  }
}

/** The server could not be reached, or said 503, for longer than the client was told to try. */
export class Unavailable extends ErrandError {}
/** The task has not ended within the time that wait() was given. */
export class WaitTimeout extends ErrandError {}

// ---- Thrown by handlers ----

/** Thrown by a handler: failed, and another try would not help. */
export class Permanent extends Error {
  constructor(message, { code = 'failed', detail } = {}) {
    super(message);
    Object.assign(this, { code, detail });
  }
}

/** Thrown by a handler: give the task back without using a retry, for a while if `delayMs` says so. */
export class Release extends Error {
  constructor({ delayMs = 0 } = {}) {
    super('released');
    this.delayMs = delayMs;
  }
}

/** The reason of `job.signal` when the task is to be cancelled. */
export class Cancelled extends Error {}

export function apiError(status, body) {
  const told = body?.error ?? {};
  const { code = 'error', message = `the server answered ${status}`, field } = told;
  const kinds = { 404: NotFound, 409: code === 'lease_lost' ? LeaseLost : Conflict, 422: Refused };
  return new (kinds[status] ?? ApiError)(status, code, message, field, body);
}
