// client.js: what programs ask of the server. Objects are the API's own: names and values are those of /openapi.json.
//
// SPDX-License-Identifier: MIT
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';

import { ApiError, Unavailable, WaitTimeout } from './errors.js';
import { Backoff, Transport, rest } from './transport.js';

const DEFAULT_URL = 'http://127.0.0.1:8001';
const TERMINAL = new Set(['COMPLETED', 'FAILED', 'CANCELLED', 'TIMEOUT']);
const WAIT_MS = 30000; // of one request that holds its answer; longer waits are several of them
const PAGE = 200;
const CREATE_MAX = 1000;

const given = (fields) => Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
const when = (value) => (value instanceof Date ? value.toISOString() : value);
const task = (id) => `/api/tasks/${encodeURIComponent(id)}`;

function query(fields) {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(given(fields))) {
    params.set(name, Array.isArray(value) ? value.join(',') : String(when(value)));
  }
  const text = params.toString();
  return text ? `?${text}` : '';
}

/** One task for pushMany() or `children`. `document`, `key` and `at` are short for documentId, idempotencyKey and scheduledAt. */
export function order(taskType, payload, { document, key, at, expiresAt, ...more } = {}) {
  const bytes = payload instanceof Uint8Array;
  return given({
    taskType,
    payload: bytes ? undefined : payload,
    payloadBase64: bytes ? Buffer.from(payload).toString('base64') : undefined,
    documentId: document,
    idempotencyKey: key,
    scheduledAt: when(at),
    expiresAt: when(expiresAt),
    ...more,
  });
}

export class Client {
  constructor({ url, token, patienceMs = 30000, ca } = {}) {
    this.url = url ?? process.env.ERRAND_URL ?? DEFAULT_URL;
    const caFile = process.env.ERRAND_CACERT;
    this.transport = new Transport({
      url: this.url,
      token: token ?? process.env.ERRAND_TOKEN,
      patienceMs,
      ca: ca ?? (caFile ? readFileSync(caFile) : undefined),
    });
  }

  /** Ends the kept connections, so that a program may end. */
  close() {
    this.transport.close();
  }

  /** Any call of the API. `repeat`: send it again when no answer came (by default only what reads). */
  async call(method, path, body, { repeat = ['GET', 'PUT', 'DELETE'].includes(method), ...options } = {}) {
    return (await this.transport.ask(method, path, body, { repeat, ...options })).body;
  }

  // ---- Tasks ----

  /** Creates a task; it is on disk when this resolves. Without a `key` one is made for this call, so that a create whose
   *  answer was lost is repeated and never doubled. */
  push(taskType, payload, { signal, ...options } = {}) {
    return this.call('POST', '/api/tasks', keyed(order(taskType, payload, options)), { repeat: true, signal });
  }

  /** Creates up to 1,000 tasks, all or none; each is an order(). */
  async pushMany(orders, { signal } = {}) {
    const made = [...orders].map(keyed);
    if (made.length > CREATE_MAX) {
      throw new RangeError(`at most ${CREATE_MAX} tasks at once are created all or none: split them`);
    }
    return made.length === 0 ? [] : this.call('POST', '/api/tasks', made, { repeat: true, signal });
  }

  get(id, { signal } = {}) {
    return this.call('GET', task(id), undefined, { signal });
  }

  /** The task once it has ended, however it ended. WaitTimeout after `timeoutMs`. */
  async wait(id, { timeoutMs = Infinity, signal } = {}) {
    const until = performance.now() + timeoutMs;
    for (;;) {
      const waitMs = Math.round(Math.min(WAIT_MS, Math.max(0, until - performance.now())));
      const found = await this.call('GET', `${task(id)}?waitMs=${waitMs}`, undefined, { waitMs, signal });
      if (TERMINAL.has(found.state)) {
        return found;
      }
      if (performance.now() >= until) {
        throw new WaitTimeout(`task ${id} is ${found.state} after ${timeoutMs} ms`);
      }
    }
  }

  /** What the task waits for: {state, reasons: [{code, message, …}]}. */
  why(id, { signal } = {}) {
    return this.call('GET', `${task(id)}/why`, undefined, { signal });
  }

  /** Tasks, newest first, page by page. Filters by their API names. */
  async *list({ limit = Infinity, signal, ...filters } = {}) {
    let path = `/api/tasks${query({ ...filters, limit: Math.min(limit, PAGE) })}`;
    let left = limit;
    while (path) {
      const page = await this.transport.ask('GET', path, undefined, { repeat: true, signal });
      for (const each of page.body) {
        yield each;
        if ((left -= 1) <= 0) {
          return;
        }
      }
      path = nextPage(page.headers.link);
    }
  }

  cancel(id, { reason, signal } = {}) {
    return this.call('POST', `${task(id)}/cancel`, given({ reason }), { repeat: true, signal });
  }

  retry(id, { signal } = {}) {
    return this.call('POST', `${task(id)}/retry`, {}, { signal });
  }

  delete(id, { signal } = {}) {
    return this.call('DELETE', task(id), undefined, { repeat: false, signal });
  }

  stats({ signal } = {}) {
    return this.call('GET', '/api/stats', undefined, { signal });
  }

  queues({ signal } = {}) {
    return this.call('GET', '/api/queues', undefined, { signal });
  }

  /** What happens, from now on: {event, id, data}. A broken connection is opened again and goes on where it was; an event
   *  `reset` says that something may be missing. */
  async *events({ signal, ...filters } = {}) {
    const path = `/api/events${query(filters)}`;
    let last;
    let backoff = new Backoff();
    let awaySince;
    for (;;) {
      try {
        for await (const event of this.transport.stream(path, last, signal)) {
          last = event.id ?? last;
          backoff = new Backoff();
          awaySince = undefined;
          yield { ...event, data: event.data ? JSON.parse(event.data) : undefined };
        }
      } catch (problem) {
        if (signal?.aborted) {
          return;
        }
        if (problem instanceof ApiError && problem.status !== 429 && problem.status !== 503) {
          throw problem;
        }
        awaySince ??= performance.now();
        if (performance.now() - awaySince > this.transport.patienceMs) {
          throw new Unavailable(`GET ${path}: ${problem.message}`, { cause: problem });
        }
      }
      if (signal?.aborted) {
        return;
      }
      await rest(backoff.pauseMs());
    }
  }

  // ---- Schedules ----

  /** From English (`{text: 'every friday at 4pm, send the report', timezone}`) or from fields. Not repeated when its answer is
   *  lost: a schedule has no key. */
  schedule(fields, { signal } = {}) {
    return this.call('POST', '/api/schedules', typeof fields === 'string' ? { text: fields } : fields, { signal });
  }

  /** What schedule() would make. Nothing is saved. */
  preview(fields, { signal } = {}) {
    return this.call('POST', '/api/schedules/preview', typeof fields === 'string' ? { text: fields } : fields, { repeat: true, signal });
  }

  schedules({ signal, ...filters } = {}) {
    return this.call('GET', `/api/schedules${query(filters)}`, undefined, { signal });
  }

  // ---- Teams ----

  /** Starts a team on a prompt; {teammates, tasks, documentId, …}. */
  async team(prompt, { signal, ...fields } = {}) {
    return new Team(this, (await this.call('POST', '/api/teams', { prompt, ...fields }, { signal })).teamId);
  }
}

/** A team by its id. */
export class Team {
  constructor(client, id) {
    Object.assign(this, { client, id, path: `/api/teams/${encodeURIComponent(id)}` });
  }

  get({ signal } = {}) {
    return this.client.call('GET', this.path, undefined, { signal });
  }

  /** A task of the team for this agent, with its lease; null when there is none within `waitMs`. */
  async claim(agent, { waitMs = 0, signal } = {}) {
    return (await this.client.call('POST', `${this.path}/claim`, { agent, waitMs }, { waitMs, signal })).task;
  }

  say(from, body, { to, signal } = {}) {
    return this.client.call('POST', `${this.path}/messages`, given({ from, to, body }), { signal });
  }

  read(agent, { after, waitMs, signal } = {}) {
    return this.client.call('GET', `${this.path}/messages${query({ agent, after, waitMs })}`, undefined, { waitMs: waitMs ?? 0, signal });
  }

  cancel({ signal } = {}) {
    return this.client.call('DELETE', this.path, undefined, { repeat: false, signal });
  }
}

function keyed(made) {
  return { ...made, idempotencyKey: made.idempotencyKey ?? `node:${randomUUID()}` };
}

function nextPage(link = '') {
  const found = /<([^>]*)>\s*;\s*rel="next"/.exec(link);
  if (!found) {
    return undefined;
  }
  const url = new URL(found[1], 'http://localhost');
  return url.pathname + url.search;
}
