// web/pages/overview.js: how it goes: first what needs somebody, then figures over time, then who is at work.
//
// SPDX-License-Identifier: MIT
import { get, list } from '../lib/api.js';
import { Chart, thin, thinBy } from '../lib/chart.js';
import { button, h, keep, link, number, panel, plural, put, short } from '../lib/dom.js';
import { BAD, STATES, badge, errorText, queueLink, taskLink, tasksLink } from '../lib/states.js';
import { Table } from '../lib/table.js';
import { duration, setClock, when } from '../lib/time.js';

export const title = 'Overview';

const LOOK_EVERY_MS = 1500;
const FAILURES = 8;
const SAMPLE = 200;            // newest tasks that the busiest types are taken from
const OLD_MS = 5 * 60 * 1000;  // a ready task that waits longer than this needs somebody
const SPANS = [[5, '5 min'], [60, '1 h'], [360, '6 h'], [1440, '24 h']];
const SPAN_DEFAULT = 60;
const BUSY_TYPES = 6;

// ---- What needs attention ----

function attention({ stats, queues, nodes, failures }) {
  const found = [];
  const age = stats.oldestReadyTask?.ageMs ?? 0;
  const recent = failures.filter((task) => Date.parse(stats.now) - Date.parse(task.finishedAt ?? task.updatedAt) < 3600 * 1000);
  nodes.filter((node) => node.store !== 'ok').forEach((node) => found.push(['bad', `The store of ${node.id} is ${node.store}.`, '/workers']));
  nodes.filter((node) => node.broker === 'degraded').forEach((node) => found.push(['warn', `The broker of ${node.id} is degraded.`, '/workers']));
  if (recent.length > 0) {
    const many = recent.length === FAILURES ? `${FAILURES} or more tasks` : plural(recent.length, 'task');
    found.push(['bad', `${many} failed within the last hour.`, '/tasks?state=FAILED%2CTIMEOUT']);
  }
  if (age > OLD_MS) {
    found.push(['warn', `A task has been ready for ${duration(age)} and has not started.`, '/tasks?state=QUEUED']);
  }
  queues.filter((queue) => queue.paused && queue.counts.QUEUED > 0)
    .forEach((queue) => found.push(['warn', `The queue ${queue.name} is paused with ${plural(queue.counts.QUEUED, 'task')} waiting.`, '/queues']));
  return found.length === 0 ? h('p', { class: 'all-well' }, 'Nothing needs attention.')
    : h('ul', { class: 'attention' }, found.map(([look, text, path]) => h('li', { class: look }, h('span', {}, text, ' ', link(path, 'Look')))));
}

// ---- Figures ----

const tiles = (counts) => STATES.map((state) => tasksLink({ state }, [badge(state), h('strong', { class: counts[state] === 0 ? 'none' : null, title: number(counts[state]) }, short(counts[state]))], { class: 'tile' }));

function latencies({ latency, rates, oldestReadyTask }) {
  const row = (name, figures) => h('tr', {}, h('th', { scope: 'row' }, name), ['p50', 'p95', 'p99'].map((q) => h('td', { class: 'number' }, duration(figures[q]))));
  return [
    h('table', { class: 'quantiles', 'aria-label': 'Latencies' }, h('thead', {}, h('tr', {}, ['', 'p50', 'p95', 'p99'].map((name, at) => (at === 0 ? h('td', {}) : h('th', { scope: 'col', class: 'number' }, name))))),
      h('tbody', {}, row('Queue wait', latency.queueWaitMs), row('Run time', latency.runMs))),
    h('dl', { class: 'facts' },
      h('dt', {}, 'Created'), h('dd', {}, `${short(Math.round(rates.createdPerSecond * 100) / 100)} a second`),
      h('dt', {}, 'Finished'), h('dd', {}, `${short(Math.round(rates.finishedPerSecond * 100) / 100)} a second`),
      h('dt', {}, 'Oldest ready task'), h('dd', {}, oldestReadyTask ? h('span', { title: oldestReadyTask.queuedAt }, duration(oldestReadyTask.ageMs)) : 'none waits')),
  ];
}

const busiest = (queues) => queues.map((queue) => ({ name: queue.name, running: queue.counts.RUNNING, waiting: queue.counts.QUEUED + queue.counts.RETRYING, paused: queue.paused }))
  .filter((queue) => queue.running + queue.waiting > 0).sort((a, b) => b.running + b.waiting - a.running - a.waiting || a.name.localeCompare(b.name)).slice(0, BUSY_TYPES);

function typesOf(tasks) {
  const counts = new Map();
  tasks.forEach((task) => {
    const found = counts.get(task.taskType) ?? { name: task.taskType, tasks: 0, bad: 0 };
    found.tasks += 1;
    found.bad += BAD.includes(task.state) ? 1 : 0;
    counts.set(task.taskType, found);
  });
  return [...counts.values()].sort((a, b) => b.tasks - a.tasks || a.name.localeCompare(b.name)).slice(0, BUSY_TYPES);
}

function health({ nodes, workers }) {
  const busy = workers.filter((worker) => worker.state === 'busy').length;
  return [
    h('dl', { class: 'facts' },
      h('dt', {}, 'Workers'), h('dd', {}, link('/workers', `${number(busy)} busy, ${number(workers.length - busy)} idle`)),
      nodes.map((node) => [h('dt', {}, node.leader ? 'Leader' : 'Node'),
        h('dd', {}, `${node.id} at ${node.address} · `, h('span', { class: `state is-${node.store}` }, `store ${node.store}`), ' · ', h('span', { class: `state is-${node.broker === 'degraded' ? 'degraded' : 'ok'}` }, `broker ${node.broker}`))])),
  ];
}

// ---- The page ----

export async function open(page) {
  let minutes = Number(page.query.get('minutes')) || SPAN_DEFAULT;
  const needs = h('div', {});
  const counts = h('div', { class: 'tiles' });
  const figures = h('div', { class: 'panel-body' });
  const servers = h('div', {});
  const flow = new Chart({ label: 'Tasks a minute', lines: [{ key: 'completed', name: 'Completed', look: 'completed' }, { key: 'failed', name: 'Failed', look: 'failed' }, { key: 'created', name: 'Created', look: 'created' }] });
  const speed = new Chart({ label: 'Waiting and running time, p95', unit: duration, lines: [{ key: 'waitP95Ms', name: 'Queue wait p95', look: 'wait' }, { key: 'runP95Ms', name: 'Run time p95', look: 'run' }] });
  const spans = h('div', { class: 'switch', role: 'group', 'aria-label': 'Span' }, SPANS.map(([value, name]) => button(name, () => choose(value), { 'aria-pressed': String(value === minutes), 'data-minutes': value })));
  const failed = new Table({
    label: 'What failed last',
    columns: [
      { name: 'Type', header: true, cell: (task) => taskLink(task.id, task.taskType) },
      { name: 'Why', cell: (task) => h('span', { class: 'error' }, errorText(task.error) || task.state.toLowerCase()) },
      { name: 'When', class: 'tight', cell: (task) => when(task.finishedAt ?? task.updatedAt) },
    ],
    empty: h('p', { class: 'soft' }, 'Nothing has failed.'),
  });
  const queueTable = new Table({
    label: 'Busiest queues',
    key: (queue) => queue.name,
    columns: [
      { name: 'Queue', header: true, cell: (queue) => [queueLink(queue.name), queue.paused && h('span', { class: 'soft' }, ' paused')] },
      { name: 'Running', class: 'number', cell: (queue) => short(queue.running) },
      { name: 'Waiting', class: 'number', cell: (queue) => short(queue.waiting) },
    ],
    empty: h('p', { class: 'soft' }, 'All queues are empty.'),
  });
  const typeTable = new Table({
    label: 'Busiest types',
    key: (type) => type.name,
    columns: [
      { name: 'Type', header: true, cell: (type) => tasksLink({ taskType: type.name }, type.name) },
      { name: `Of the last ${SAMPLE}`, class: 'number', cell: (type) => number(type.tasks) },
      { name: 'Failed', class: 'number', cell: (type) => number(type.bad) },
    ],
    empty: h('p', { class: 'soft' }, 'No tasks yet.'),
  });
  put(page.main, page.heading(title), needs, counts,
    panel('Throughput', h('div', { class: 'row apart' }, h('p', { class: 'soft' }, 'Tasks a minute'), spans), flow.element),
    h('div', { class: 'columns' }, panel('Waiting and running time', speed.element), panel('Latency', figures)),
    h('div', { class: 'columns' }, panel('What failed last', failed.element), panel('Health', servers)),
    h('div', { class: 'columns' }, panel('Busiest queues', queueTable.element), panel('Busiest types', typeTable.element)));

  let sampledAt = -Infinity;
  let failuresKnown = null;
  let failures = [];

  async function refresh() {
    const [stats, queues, { nodes }, { workers }] = await Promise.all(['/api/stats', '/api/queues', '/api/nodes', '/api/workers'].map((path) => get(path, page.signal)));
    setClock(stats.now);
    const failuresNow = `${stats.counts.FAILED} ${stats.counts.TIMEOUT}`;
    if (failuresNow !== failuresKnown) {
      const { rows } = await list(`/api/tasks?state=FAILED,TIMEOUT&limit=${FAILURES}`, page.signal);
      failures = rows.sort((a, b) => Date.parse(b.finishedAt ?? b.updatedAt) - Date.parse(a.finishedAt ?? a.updatedAt));
      failuresKnown = failuresNow;
      failed.update(failures);
    }
    if (performance.now() - sampledAt > 5 * LOOK_EVERY_MS) {
      typeTable.update(typesOf((await list(`/api/tasks?limit=${SAMPLE}`, page.signal)).rows));
      sampledAt = performance.now();
    }
    keep(needs, attention({ stats, queues, nodes, failures }));
    keep(counts, tiles(stats.counts));
    keep(figures, latencies(stats));
    keep(servers, health({ nodes, workers }));
    queueTable.update(busiest(queues));
  }

  async function refreshCharts() {
    const series = await get(`/api/series?minutes=${minutes}`, page.signal);
    const perMinute = (values) => thin(values).map((value) => (value === null ? null : value * (60000 / series.stepMs)));
    const time = { from: Date.parse(series.from), stepMs: series.stepMs * thinBy(series.created) };
    flow.update({ ...time, values: { completed: perMinute(series.completed), failed: perMinute(series.failed), created: perMinute(series.created) } });
    speed.update({ ...time, values: { waitP95Ms: thin(series.waitP95Ms, true), runP95Ms: thin(series.runP95Ms, true) } });
  }

  function choose(value) {
    minutes = value;
    page.setQuery(value === SPAN_DEFAULT ? '/' : `/?minutes=${value}`);
    spans.querySelectorAll('button').forEach((one) => one.setAttribute('aria-pressed', String(Number(one.dataset.minutes) === value)));
    refreshCharts().catch(() => {});
  }

  await Promise.all([refresh(), refreshCharts().catch(() => {})]);
  page.follow('/api/events?types=queue,leader', ['queue', 'leader'], refresh);
  page.every(LOOK_EVERY_MS, () => refresh().catch(() => {}));
  page.every(2 * LOOK_EVERY_MS, () => refreshCharts().catch(() => {}));
}
