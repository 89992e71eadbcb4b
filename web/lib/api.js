// web/lib/api.js: asks the public API, and knows who is asking.
//
// Everything that changes something carries a header that no page of another site can send; the cookie alone does not suffice.
// Answers come with secrets left out, unless they are asked for as they were stored, to be sent again and never to be shown.
//
// SPDX-License-Identifier: MIT
import { clean, setKeys } from './redact.js';

export const ROWS_MAX = 200; // of any list: more is paged
const PATIENCE_MS = 30000;

/** Why the API refused: its own words. status 0: it could not be reached. */
export class Refused extends Error {
  constructor(status, answer) {
    super(answer?.error?.message ?? (status === 0 ? 'The server cannot be reached.' : `The server answered ${status}.`));
    this.status = status;
    this.field = answer?.error?.field;
    this.answer = answer;
  }
}

/** Who is asking: as GET /api/session tells. */
export const session = { required: false, role: 'admin', user: null };

const RIGHTS = { admin: ['read', 'produce', 'work', 'admin'], produce: ['read', 'produce'], read: ['read'], work: ['work'] };

/** Whether the role allows it: nobody sees a button that he may not press. */
export const may = (right) => (RIGHTS[session.role] ?? []).includes(right);

export async function learnSession() {
  const { answer, response } = await ask('GET', '/api/session');
  Object.assign(session, { role: null, user: null }, answer);
  setKeys(response.headers.get('X-Errand-Redact'));
  if (!session.required) {
    session.role = 'admin';
  }
  return session;
}

const LONG_NUMBER = /\d{16}/;

/** A number that JavaScript would round stays as it was written, so that a payload can be shown and sent again unharmed. */
const exact = (key, value, context) => (Number.isInteger(value) && !Number.isSafeInteger(value) && context?.source && JSON.rawJSON ? JSON.rawJSON(context.source) : value);

async function read(response) {
  const text = await response.text();
  try {
    return text === '' ? null : JSON.parse(text, LONG_NUMBER.test(text) ? exact : undefined);
  } catch {
    return null;
  }
}

async function ask(method, path, body, signal, { patience = PATIENCE_MS, stored = false } = {}) {
  const limit = AbortSignal.timeout(patience);
  const options = { method, credentials: 'same-origin', cache: 'no-store', headers: { 'X-Errand-Request': '1' }, signal: signal ? AbortSignal.any([signal, limit]) : limit };
  if (body !== undefined) {
    options.headers['Content-Type'] = 'application/json';
    options.body = typeof body === 'string' ? body : JSON.stringify(body);
  }
  let response;
  let answer;
  try {
    response = await fetch(path, options);
    answer = await read(response);
  } catch (problem) {
    if (signal?.aborted) {
      throw problem; // the page is no longer there: nobody waits for it
    }
    throw new Refused(0);
  }
  if (!response.ok) {
    if (response.status === 401 && session.required && path !== '/api/session') {
      dispatchEvent(new Event('signedout'));
    }
    throw new Refused(response.status, answer);
  }
  return { answer: stored ? answer : clean(answer), response };
}

export const get = async (path, signal, options) => (await ask('GET', path, undefined, signal, options)).answer;
export const post = async (path, body, signal) => (await ask('POST', path, body, signal)).answer;
export const change = async (method, path, body) => (await ask(method, path, body)).answer;

/** A page of a list: its rows, and the path of the page behind it. */
export async function list(path, signal) {
  const { answer, response } = await ask('GET', path, undefined, signal);
  const next = /<([^>]*)>;\s*rel="next"/.exec(response.headers.get('Link') ?? '')?.[1] ?? null;
  return { rows: answer, next };
}

/** A path with a query: absent and empty values are left out. */
export function path(base, query) {
  const params = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== null && value !== undefined && value !== ''));
  return `${base}${params.size > 0 ? `?${params}` : ''}`;
}

export const escaped = encodeURIComponent;
