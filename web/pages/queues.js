// web/pages/queues.js: the queues: what is in them, how fast they go, their limits, and holding them up.
//
// Rates are seen from here: how the counts of ended tasks grow from look to look.
//
// SPDX-License-Identifier: MIT
import { change, escaped, get, may, post } from '../lib/api.js';
import { spark } from '../lib/chart.js';
import { attempt, confirm } from '../lib/dialog.js';
import { button, field, h, keep, nothing, number, plural, put, short } from '../lib/dom.js';
import { refreshNow } from '../lib/live.js';
import { ENDED, tasksLink } from '../lib/states.js';
import { now } from '../lib/time.js';

export const title = 'Queues';

const LOOK_EVERY_MS = 1500;
const SAMPLES = 60;
const PURGED = ['SCHEDULED', 'WAITING', 'QUEUED', 'RETRYING'];
const SHOWN = 200;
const LIMITS = [['maxConcurrent', 'Concurrent'], ['ratePerSecond', 'Rate per second'], ['burst', 'Burst']]; // 0: none

const sum = (counts, states) => states.reduce((total, state) => total + counts[state], 0);

const COLUMNS = ['Queue', 'Tasks', 'Pace', 'Limits', 'Actions'];

/** One queue: its row stays while it is there, so that typing in it is never disturbed. */
class QueueRow {
  constructor(queue) {
    this.samples = []; // {at, ended}
    this.name = queue.name;
    this.state = h('span', {});
    this.counts = h('div', { class: 'counts' });
    this.pace = h('div', {});
    this.actions = h('div', { class: 'actions' });
    this.limits = LIMITS.map(([key, label]) => field({ label, type: 'number', min: 0, step: key === 'ratePerSecond' ? 'any' : 1, class: 'limit', title: '0: no limit', 'data-key': key }));
    this.trouble = h('p', { class: 'trouble', 'aria-live': 'polite' });
    const cell = (name, ...inside) => h('td', { role: 'cell', 'data-name': name }, ...inside);
    this.element = h('tr', { role: 'row' }, h('th', { scope: 'row', role: 'rowheader' }, h('div', {}, tasksLink({ queue: queue.name }, queue.name)), this.state),
      cell('Tasks', this.counts), cell('Pace', this.pace), cell('Limits', this.form()), cell('Actions', this.actions));
    this.update(queue);
  }

  form() {
    if (!may('admin')) {
      this.told = h('p', { class: 'soft' });
      return this.told;
    }
    const save = async (event) => {
      event.preventDefault();
      put(this.trouble);
      try {
        const limits = Object.fromEntries(this.limits.map(({ input }) => [input.dataset.key, Number(input.value)]));
        await change('PUT', `/api/queues/${escaped(this.name)}`, limits);
        this.saved = undefined; // what the server says next is shown
        await attempt(async () => {}, `The limits of ${this.name} are saved.`);
        refreshNow();
      } catch (problem) {
        put(this.trouble, problem.message);
      }
    };
    return h('form', { class: 'limits', onsubmit: save, novalidate: true }, this.limits, h('button', { type: 'submit' }, 'Save'), this.trouble);
  }

  update(queue) {
    const { counts } = queue;
    const ended = sum(counts, ENDED);
    this.samples.push({ at: now(), ended, failed: counts.FAILED + counts.TIMEOUT });
    this.samples.splice(0, this.samples.length - SAMPLES);
    keep(this.state, h('span', { class: `state is-${queue.paused ? 'PAUSED' : 'ok'}` }, queue.paused ? 'paused' : 'open'));
    keep(this.counts, ['QUEUED', 'RUNNING', 'SCHEDULED', 'WAITING', 'RETRYING', 'COMPLETED', 'FAILED', 'TIMEOUT', 'CANCELLED'].filter((state) => counts[state] > 0 || ['QUEUED', 'RUNNING'].includes(state))
      .map((state) => tasksLink({ queue: queue.name, state }, h('span', { class: `state is-${state}`, title: number(counts[state]) }, `${short(counts[state])} ${state.toLowerCase()}`))));
    this.showPace();
    keep(this.actions, may('admin') && [
      queue.paused ? button('Resume', () => this.act('resume', 'resumed')) : button('Pause', () => this.act('pause', 'paused')),
      button('Purge', () => this.purge(sum(counts, PURGED)), { class: 'danger' })]);
    this.showLimits(queue);
  }

  showPace() {
    const rates = this.samples.slice(1).map((sample, at) => {
      const before = this.samples[at];
      return Math.max(0, (sample.ended - before.ended) * 1000) / Math.max(1, sample.at - before.at);
    });
    const recent = rates.slice(-10);
    const rate = recent.length === 0 ? 0 : recent.reduce((total, one) => total + one, 0) / recent.length;
    put(this.pace, rates.length > 1 && spark(rates), h('span', { class: 'soft' }, `${short(Math.round(rate * 10) / 10)} ended a second`));
  }

  /** What somebody is typing stays; what the server says anew is shown where nobody does. */
  showLimits(queue) {
    if (this.told) {
      keep(this.told, LIMITS.map(([key, label]) => `${label}: ${queue[key] || 'any'}`).join(' · '));
      return;
    }
    const told = JSON.stringify(LIMITS.map(([key]) => queue[key]));
    if (told !== this.saved && !this.limits.some(({ input }) => input === document.activeElement)) {
      this.saved = told;
      this.limits.forEach(({ input }) => { input.value = queue[input.dataset.key]; });
    }
  }

  async act(verb, done) {
    await attempt(() => post(`/api/queues/${escaped(this.name)}/${verb}`), `The queue ${this.name} is ${done}.`);
    refreshNow();
  }

  async purge(count) {
    const text = `${plural(count, 'task')} of ${this.name} that ${count === 1 ? 'is' : 'are'} not running ${count === 1 ? 'is' : 'are'} cancelled. Those that run go on. This cannot be undone.`;
    if (await confirm({ title: `Purge ${this.name}?`, text, action: 'Purge', typed: this.name })) {
      await attempt(() => post(`/api/queues/${escaped(this.name)}/purge`), (answer) => `${plural(answer.count, 'task')} cancelled.`);
      refreshNow();
    }
  }
}

export async function open(page) {
  const rows = new Map();
  const body = h('tbody', { role: 'rowgroup' });
  const table = h('table', { class: 'stacks', role: 'table', 'aria-label': 'Queues' }, h('thead', { role: 'rowgroup' }, h('tr', { role: 'row' }, COLUMNS.map((name) => h('th', { scope: 'col', role: 'columnheader' }, name)))), body);
  const said = h('div', {});

  async function refresh() {
    const queues = (await get('/api/queues', page.signal)).slice(0, SHOWN);
    const names = new Set(queues.map((queue) => queue.name));
    rows.forEach((row, name) => {
      if (!names.has(name)) {
        row.element.remove();
        rows.delete(name);
      }
    });
    queues.forEach((queue) => {
      if (rows.has(queue.name)) {
        rows.get(queue.name).update(queue);
      } else {
        const row = new QueueRow(queue);
        rows.set(queue.name, row);
        body.append(row.element);
      }
    });
    table.hidden = queues.length === 0;
    keep(said, queues.length === 0 && nothing('There are no queues yet.', 'A queue is there as soon as a task is in it: ', h('code', {}, `errand push echo 1 --queue reports --url ${location.origin}`)));
  }

  put(page.main, page.heading(title), h('section', { class: 'panel' }, table, said));
  await refresh();
  page.follow('/api/events?types=queue', ['queue'], refresh);
  page.every(LOOK_EVERY_MS, () => refresh().catch(() => {}));
}
