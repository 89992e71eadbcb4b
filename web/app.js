// web/app.js: opens the page that the address names, and says when the server is away or not well.
//
// A page is a module with `title` and `open(page)`: it fills page.main, follows one stream, and needs no goodbye: its requests
// are given up by page.signal, its stream and its timers end with it.
//
// SPDX-License-Identifier: MIT
import { change, learnSession, may, post, session } from './lib/api.js';
import { attempt } from './lib/dialog.js';
import { button, field, h, put } from './lib/dom.js';
import { follow, onHealth, startHealth, unfollow } from './lib/live.js';
import * as documents from './pages/documents.js';
import * as notifications from './pages/notifications.js';
import * as overview from './pages/overview.js';
import * as queues from './pages/queues.js';
import * as schedule from './pages/schedule.js';
import * as schedules from './pages/schedules.js';
import * as task from './pages/task.js';
import * as tasks from './pages/tasks.js';
import * as team from './pages/team.js';
import * as teams from './pages/teams.js';
import * as usage from './pages/usage.js';
import * as workers from './pages/workers.js';

const PAGES = [ // path, module, the right it needs
  [/^\/$/, overview, 'read'],
  [/^\/tasks$/, tasks, 'read', 'work'],
  [/^\/tasks\/([^/]+)$/, task, 'read', 'work'],
  [/^\/documents$/, documents, 'read'],
  [/^\/queues$/, queues, 'read'],
  [/^\/schedules$/, schedules, 'read'],
  [/^\/schedules\/([^/]+)$/, schedule, 'read'],
  [/^\/teams$/, teams, 'read'],
  [/^\/teams\/([^/]+)$/, team, 'read', 'work'],
  [/^\/workers$/, workers, 'read'],
  [/^\/notifications$/, notifications, 'read'],
  [/^\/usage$/, usage, 'read'],
];

const main = document.getElementById('main');
let leaving = new AbortController();
let current = null; // the path that is open

// ---- The page that is open ----

function heading(text, ...beside) {
  document.title = `${text} · Errand`;
  return h('div', { class: 'head' }, h('h1', { tabindex: '-1' }, text), ...beside);
}

function leave() {
  leaving.abort();
  main.removeAttribute('aria-busy');
  leaving = new AbortController();
  unfollow();
}

async function open() {
  leave();
  current = location.pathname;
  markNavigation();
  if (session.required && !session.role) {
    signIn();
    return;
  }
  const found = PAGES.find(([path]) => path.test(location.pathname));
  const { signal } = leaving;
  const page = {
    main,
    signal,
    heading,
    id: decodeURIComponent(found?.[0].exec(location.pathname)[1] ?? ''),
    query: new URLSearchParams(location.search),
    follow: (...what) => !signal.aborted && follow(...what),
    every: (ms, act) => {
      const timer = setInterval(() => document.visibilityState === 'visible' && act(), ms);
      signal.addEventListener('abort', () => clearInterval(timer));
    },
    setQuery: (query) => history.replaceState(null, '', query),
    go,
  };
  if (!found.slice(2).some(may)) {
    put(main, heading(found[1].title), h('p', {}, `A token of the role ${session.role} may not see this page.`));
    return;
  }
  main.setAttribute('aria-busy', 'true'); // a screen reader waits with what is not there yet, and so do tests
  try {
    await found[1].open(page);
  } catch (problem) {
    if (!signal.aborted) {
      put(main, heading(found[1].title), h('p', { class: 'trouble' }, problem.message));
    }
  }
  if (!signal.aborted) {
    main.removeAttribute('aria-busy');
  }
}

function markNavigation() {
  document.querySelectorAll('nav a').forEach((a) => {
    const path = a.getAttribute('href');
    const here = path === '/' ? current === '/' : current === path || current.startsWith(`${path}/`);
    if (here) {
      a.setAttribute('aria-current', 'page');
    } else {
      a.removeAttribute('aria-current');
    }
  });
}

async function go(path) {
  const focused = document.activeElement;
  history.pushState(null, '', path);
  scrollTo(0, 0);
  await open();
  if (document.activeElement === focused || document.activeElement === document.body) { // else somebody has gone on meanwhile
    main.querySelector('h1')?.focus({ preventScroll: true });
  }
}

document.addEventListener('click', (event) => {
  const a = event.target.closest?.('a[href]');
  const plain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
  if (!a || !plain || event.defaultPrevented || a.origin !== location.origin || a.hasAttribute('download') || a.target) {
    return;
  }
  if (a.getAttribute('href').startsWith('#')) {
    return;
  }
  if (PAGES.some(([path]) => path.test(a.pathname))) {
    event.preventDefault();
    go(a.pathname + a.search);
  }
});
addEventListener('popstate', open);

// ---- Who is here ----

function showSession() {
  const box = document.getElementById('session');
  document.querySelector('nav').hidden = session.required && !session.role;
  if (!session.required || !session.role) {
    put(box);
    return;
  }
  put(box, h('p', { class: 'soft' }, session.user ? `${session.user}, ` : '', session.role), button('Sign out', async () => {
    await attempt(() => change('DELETE', '/api/session'));
    await start();
  }));
}

function signIn() {
  const token = field({ label: 'Token', type: 'password', autocomplete: 'current-password', required: true, autofocus: true,
    hint: 'Made by whoever runs this server: errand token create --role read' });
  const trouble = h('p', { class: 'trouble', 'aria-live': 'assertive' });
  const submit = async (event) => {
    event.preventDefault();
    try {
      await post('/api/session', { token: token.input.value.trim() });
      await start();
    } catch (problem) {
      put(trouble, problem.status === 401 ? 'This token is not known here.' : problem.message);
      token.input.focus();
      token.input.select();
    }
  };
  put(main, h('div', { class: 'sign-in' }, heading('Sign in'), h('form', { onsubmit: submit }, token, trouble,
    h('button', { type: 'submit', class: 'primary' }, 'Sign in'))));
  token.input.focus();
}

addEventListener('signedout', () => {
  session.role = null;
  showSession();
  open();
});

// ---- How the server is ----

const MEANINGS = {
  store: 'The store is away or failed: nothing can be changed, and what you see may be old.',
  broker: 'The broker is away: work goes on from the store, a little slower.',
  workers: 'Some run functions do not return: fewer workers than configured are at work.',
  clock: 'The clocks of the nodes differ.',
};

onHealth(({ online, health }) => {
  const banner = document.getElementById('banner');
  document.body.classList.toggle('offline', !online);
  if (!online) {
    put(banner, h('div', { class: 'banner bad', role: 'alert' }, 'The server cannot be reached. What you see is how it was; this page goes on by itself when the server is back.'));
  } else if (health.status !== 'ok') {
    put(banner, h('div', { class: 'banner warn', role: 'status' }, h('strong', {}, 'Degraded. '), (health.degraded ?? []).map((what) => MEANINGS[what] ?? `${what}.`).join(' ')));
  } else {
    put(banner);
  }
});

async function start() {
  try {
    await learnSession();
  } catch {
    setTimeout(start, 1000); // the banner says why
    return;
  }
  showSession();
  await open();
}

start().finally(startHealth);
