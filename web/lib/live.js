// web/lib/live.js: one stream for the page that is open, and whether the server is there.
//
// The stream says that something happened; what it is now is asked of the API, at most once a second however much happens. The
// stream is paced: of more than a browser should read along comes but their number (`skipped`).
// A stream can be silent because nothing happens or because a cable was pulled, so the server's health is asked for beside it.
//
// SPDX-License-Identifier: MIT
import { get } from './api.js';
import { clean } from './redact.js';

const HEALTH_EVERY_MS = 1500;
const HEALTH_PATIENCE_MS = 2000; // both together: a silent server is noticed within 5 seconds
const REFRESH_EVERY_MS = 900;
const RECONNECT_MS = 1000;
const PACE_MS = 500;

let source = null;
let asked = null; // {path, kinds, happened, refresh}
let timer = 0;    // to connect again
let due = 0;      // the refresh that is to come or under way
let running = false; // it is under way: what happens now it may have missed
let again = false;   // ... and something did
let lastRefresh = 0;
let acted = false; // something was done here: lists show it even while one works in them

const state = { online: true, health: { status: 'ok' } };
const listeners = new Set();

/** Told whenever the server goes, comes back, or its health changes. */
export const onHealth = (listener) => listeners.add(listener);
const tell = () => listeners.forEach((listener) => listener(state));

async function look() {
  let health = null;
  try {
    health = await get('/healthz', undefined, { patience: HEALTH_PATIENCE_MS });
  } catch (problem) {
    health = problem.status > 0 ? { status: 'degraded', degraded: [problem.message] } : null;
  }
  const back = health !== null && !state.online;
  const changed = back || (health === null && state.online) || (health !== null && JSON.stringify(health) !== JSON.stringify(state.health));
  state.online = health !== null;
  state.health = health ?? state.health;
  if (changed) {
    tell();
  }
  if (back && asked !== null) {
    connect();
    refreshSoon();
  }
}

async function watchHealth() {
  await look();
  setTimeout(watchHealth, HEALTH_EVERY_MS);
}

function refreshSoon() {
  if (due !== 0 || asked === null) {
    again = again || running;
    return;
  }
  due = setTimeout(async () => {
    const mine = asked;
    running = true;
    lastRefresh = performance.now();
    try {
      const force = acted;
      acted = false;
      await mine?.refresh(force);
    } catch {
      // Said by the page where it matters; the next event asks again.
    } finally {
      due = 0;
      running = false;
      if (again) {
        again = false;
        refreshSoon();
      }
    }
  }, Math.max(50, REFRESH_EVERY_MS - (performance.now() - lastRefresh)));
}

function connect() {
  source?.close();
  clearTimeout(timer);
  source = null;
  if (asked === null || document.visibilityState === 'hidden') {
    return;
  }
  const mine = asked;
  source = new EventSource(mine.path.startsWith('/api/events?') ? `${mine.path}&paceMs=${PACE_MS}` : mine.path);
  const happened = (event) => {
    if (mine === asked && mine.happened?.(event.type, clean(JSON.parse(event.data))) !== false) {
      refreshSoon();
    }
  };
  mine.kinds.forEach((kind) => source.addEventListener(kind, happened));
  ['reset', 'skipped'].forEach((kind) => source.addEventListener(kind, refreshSoon));
  source.onopen = refreshSoon; // what happened while nobody listened
  source.onerror = () => {
    source?.close();
    clearTimeout(timer);
    timer = setTimeout(connect, RECONNECT_MS);
    look();
  };
}

/**
 * The page's one stream: its path, the kinds of events it carries, what to do with each (false: nothing is to be asked for
 * because of it) and what shows how things are now. It ends with the page.
 */
export function follow(path, kinds, refresh, happened) {
  asked = { path, kinds, refresh, happened };
  connect();
}

export function unfollow() {
  asked = null;
  connect();
}

/** Something was done here: show it at once instead of when the stream tells. */
export function refreshNow() {
  lastRefresh = 0;
  acted = true;
  refreshSoon();
}

// A hidden page needs no stream; a browser has but few connections for one server.
document.addEventListener('visibilitychange', () => {
  connect();
  if (document.visibilityState === 'visible') {
    refreshSoon();
  }
});

export function startHealth() {
  tell();
  watchHealth();
}
