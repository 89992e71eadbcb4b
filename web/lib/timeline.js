// web/lib/timeline.js: the life of a task by width: waited, ran, backed off, attempt by attempt.
//
// SPDX-License-Identifier: MIT
import { h } from './dom.js';
import { duration, now } from './time.js';

const percent = (part) => `${(100 * part).toFixed(2)}%`;

/** The pieces of a task's life: [{what, from, to, attempt}]. */
export function pieces(task) {
  const ms = (text) => (text ? Date.parse(text) : null);
  const found = [];
  let free = ms(task.createdAt);
  task.attempts.forEach((attempt, at) => {
    const began = ms(attempt.startedAt) ?? free;
    found.push({ what: at === 0 ? 'queued' : 'backoff', from: free, to: began, attempt: null });
    free = ms(attempt.finishedAt) ?? now();
    found.push({ what: attempt.outcome ?? 'RUNNING', from: began, to: free, attempt });
  });
  if (!task.finishedAt && task.state !== 'RUNNING') {
    found.push({ what: task.attempts.length === 0 ? 'queued' : 'backoff', from: free, to: now(), attempt: null });
  }
  return found.filter(({ from, to, attempt }) => attempt !== null || to - from >= 1);
}

const NAMES = { queued: 'Queued', backoff: 'Backoff' };

/** Longer than a few attempts, the middle says nothing: the first and the last ones are drawn. */
export function timeline(task, most = 24) {
  const all = pieces(task);
  if (all.length === 0) {
    return null;
  }
  const shown = all.length > most ? [...all.slice(0, most / 2), ...all.slice(-most / 2)] : all;
  const begin = shown[0].from;
  const whole = Math.max(1, shown.at(-1).to - begin);
  return h('ol', { class: 'timeline', 'aria-label': 'Timeline' }, shown.map(({ what, from, to, attempt }) => h('li', { class: 'track' },
    h('span', {}, attempt ? `Attempt ${attempt.number}` : NAMES[what]),
    h('span', { class: 'bar', 'aria-hidden': 'true' }, h('span', { class: attempt ? `is-${what}` : what, style: { left: percent(Math.min(0.995, (from - begin) / whole)), width: percent((to - from) / whole) } })),
    h('span', { class: 'number' }, duration(to - from)))));
}
