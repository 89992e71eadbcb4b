// transport.js: requests over kept connections, tried again where that is safe.
//
// A request that got no answer may have been carried out: only what is safe to repeat is sent again (reads, and writes that
// the server recognises when they come twice).
//
// SPDX-License-Identifier: MIT
import http from 'node:http';
import https from 'node:https';
import { setTimeout as pause } from 'node:timers/promises';

import { Unavailable, apiError } from './errors.js';

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5000;
const ANSWER_MS = 30000; // beyond what a call asks the server to wait

/** Growing pauses, each with a random half, so that many clients do not come back together. */
export class Backoff {
  #nextMs = FIRST_PAUSE_MS;

  pauseMs() {
    const whole = this.#nextMs;
    this.#nextMs = Math.min(whole * 2, LONGEST_PAUSE_MS);
    return whole * (0.5 + Math.random() / 2);
  }
}

export class Transport {
  constructor({ url, token, patienceMs, ca }) {
    this.url = new URL(url);
    if (!['http:', 'https:'].includes(this.url.protocol)) {
      throw new TypeError(`url must look like http://127.0.0.1:8001, not ${url}`);
    }
    this.patienceMs = patienceMs;
    this.client = this.url.protocol === 'https:' ? https : http;
    this.agent = new this.client.Agent({ keepAlive: true, ca });
    this.headers = { accept: 'application/json', ...(token ? { authorization: `Bearer ${token}` } : {}) };
  }

  close() {
    this.agent.destroy();
  }

  /** Sends once; resolves with the answer when its head is there. When `hangUp` is aborted our side of the connection is closed and
   *  the answer still read: the server then stops waiting, and gives back what a claim has found since; what it had sent before
   *  is there to be read. Nothing is leased to nobody. */
  open(method, path, { body, headers = {}, timeoutMs, signal, hangUp } = {}) {
    return new Promise((resolve, reject) => {
      const request = this.client.request(new URL(this.url.pathname.replace(/\/$/, '') + path, this.url), {
        method,
        agent: this.agent,
        signal,
        headers: { ...this.headers, ...(body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }), ...headers },
      });
      if (timeoutMs !== undefined) {
        request.setTimeout(timeoutMs, () => request.destroy(new Error(`no answer within ${timeoutMs} ms`)));
      }
      const end = () => (request.socket ? request.socket.end() : request.once('socket', (socket) => socket.end()));
      hangUp?.addEventListener('abort', end, { once: true });
      request.once('close', () => hangUp?.removeEventListener('abort', end));
      request.once('response', resolve).once('error', reject).end(body);
    });
  }

  async once(method, path, body, waitMs, signal, hangUp) {
    const answer = await this.open(method, path, { body, timeoutMs: waitMs + ANSWER_MS, signal, hangUp });
    const chunks = [];
    for await (const chunk of answer) {
      chunks.push(chunk);
    }
    return { status: answer.statusCode, headers: answer.headers, body: parsed(Buffer.concat(chunks)) };
  }

  /** The answer's JSON and headers. `repeat`: it may be sent again when it is not known to have arrived. `hangUp` ends the wait for it
   *  early; it has no body then. */
  async ask(method, path, value, { repeat, waitMs = 0, patienceMs = this.patienceMs, signal, hangUp } = {}) {
    const body = value === undefined ? undefined : JSON.stringify(value);
    const until = performance.now() + patienceMs;
    const backoff = new Backoff();
    for (;;) {
      let reason;
      let pauseMs;
      try {
        const answer = await this.once(method, path, body, waitMs, signal, hangUp);
        if (answer.status < 400) {
          return answer;
        }
        const error = apiError(answer.status, answer.body);
        pauseMs = toldPauseMs(answer.headers);
        if (answer.status !== 503 && !(answer.status === 429 && pauseMs !== undefined)) {
          throw error;
        }
        reason = error;
      } catch (problem) {
        if (problem.status !== undefined || signal?.aborted) {
          throw signal?.aborted ? signal.reason : problem;
        }
        if (!repeat && problem.code !== 'ECONNREFUSED') { // refused: nothing was carried out
          throw new Unavailable(`${method} ${path}: ${problem.message}; it may or may not have been carried out`, { cause: problem });
        }
        reason = problem;
      }
      pauseMs ??= backoff.pauseMs();
      if (performance.now() + pauseMs > until || hangUp?.aborted) {
        throw new Unavailable(`${method} ${path}: ${reason.message || reason.code}`, { cause: reason });
      }
      await rest(pauseMs, signal ?? hangUp);
    }
  }

  /** Server-sent events {event, id, data}, until the server ends them. */
  async *stream(path, lastId, signal) {
    const answer = await this.open('GET', path, {
      headers: { accept: 'text/event-stream', ...(lastId ? { 'last-event-id': lastId } : {}) },
      signal,
    });
    if (answer.statusCode !== 200) {
      const chunks = [];
      for await (const chunk of answer) {
        chunks.push(chunk);
      }
      throw apiError(answer.statusCode, parsed(Buffer.concat(chunks)));
    }
    yield* readEvents(answer);
  }
}

export async function rest(ms, signal) {
  try {
    await pause(ms, undefined, { signal });
  } catch {
    throw signal.reason;
  }
}

function parsed(bytes) {
  try {
    return bytes.length > 0 ? JSON.parse(bytes.toString('utf8')) : undefined;
  } catch {
    return undefined;
  }
}

function toldPauseMs(headers) {
  const seconds = Number.parseFloat(headers['retry-after']);
  return Number.isFinite(seconds) ? Math.min(Math.max(seconds * 1000, 0), LONGEST_PAUSE_MS) : undefined;
}

async function* readEvents(answer) {
  let text = '';
  answer.setEncoding('utf8');
  for await (const chunk of answer) {
    text += chunk;
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const event = readEvent(text.slice(0, end));
      text = text.slice(end + 2);
      if (event.data !== undefined) {
        yield event;
      }
    }
  }
}

function readEvent(block) {
  const event = { event: 'message', id: undefined, data: undefined };
  for (const line of block.split('\n')) {
    const colon = line.indexOf(':');
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (name === 'data') {
      event.data = event.data === undefined ? value : `${event.data}\n${value}`;
    } else if (name === 'event' || name === 'id') {
      event[name] = value;
    }
  }
  return event;
}
