// web/pages/task.js: one task: what it is, why it is not running, what became of each attempt, and what belongs to it.
//
// While it lives its own stream is followed, log lines as they come; once it has ended, that of its type, for somebody may retry it.
//
// SPDX-License-Identifier: MIT
import { ROWS_MAX, get, list, may } from '../lib/api.js';
import { button, h, keep, link, nothing, number, panel, put } from '../lib/dom.js';
import { graph } from '../lib/graph.js';
import { jsonPanel } from '../lib/json.js';
import { badge, documentLink, ended, errorText, queueLink, taskLink, tasksLink } from '../lib/states.js';
import { asCurl, asErrand, copy, createLines, editAndRetry, runAgain, taskButtons } from '../lib/task_actions.js';
import { timeline } from '../lib/timeline.js';
import { absolute, duration, relative, since, when } from '../lib/time.js';

export const title = 'Task';

const LOG_LINES = 1000;      // of the running attempt, kept here
const ATTEMPTS_SHOWN = 20;   // the newest
const NEIGHBOURS = 24;       // dependencies drawn
const LOOK_EVERY_MS = 5000;  // what others do (why, lines before it) has no event of this task

// ---- Why it is not running ----

const LINKS = {
  document_locked: (reason) => reason.taskId && [' ', taskLink(reason.taskId, 'Who holds it')],
  dependencies: (reason) => (reason.taskIds ?? []).slice(0, 5).map((id) => [' ', taskLink(id)]),
  parent: (reason) => reason.taskId && [' ', taskLink(reason.taskId, 'The parent')],
  queue_paused: () => [' ', link('/queues', 'Queues')],
  queue_limit: () => [' ', link('/queues', 'Queues')],
  no_worker: () => [' ', link('/workers', 'Workers')],
  workers_busy: () => [' ', link('/workers', 'Workers')],
};

/** Where the server gives no reason, the state itself is one. */
function plainly(task) {
  switch (task.state) {
    case 'RUNNING':
      return task.workerId ? ['It has been running on ', task.workerId, ' for ', since(task.startedAt), task.cancelRequested ? '; it was asked to stop.' : '.'] : ['Its children are running.'];
    case 'COMPLETED':
      return ['It completed ', when(task.finishedAt), task.startedAt ? ` after ${duration(Date.parse(task.finishedAt) - Date.parse(task.startedAt))}.` : '.'];
    case 'CANCELLED':
      return ['It was cancelled ', when(task.cancelledAt ?? task.finishedAt), task.cancelReason ? `: ${task.cancelReason}` : '.'];
    case 'TIMEOUT':
      return ['It ran past its limit of ', duration(task.timeoutMs), ', the last time ', when(task.finishedAt), '.'];
    case 'FAILED':
      return ['It failed ', when(task.finishedAt), task.error ? `: ${errorText(task.error)}` : '.'];
    default:
      return [`It is ${task.state.toLowerCase()}.`];
  }
}

const sentence = (text) => `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`;

function whyBox(task, why) {
  const reasons = why.reasons.length > 0 ? why.reasons.map((reason) => h('p', {}, sentence(reason.message),
    reason.until && h('span', { class: 'soft', title: absolute(reason.until) }, ` (${relative(Date.parse(reason.until))})`), LINKS[reason.code]?.(reason)))
    : h('p', {}, plainly(task));
  return h('div', { class: `why is-${task.state}` }, reasons);
}

// ---- What it is made of ----

function facts(task) {
  const row = (name, ...value) => (value.flat().some((one) => one !== undefined && one !== null && one !== '') ? [h('dt', {}, name), h('dd', {}, ...value)] : null);
  return h('dl', { class: 'facts' },
    row('Id', h('span', { class: 'mono' }, task.id)),
    row('Queue', queueLink(task.queue)),
    row('Document', task.documentId && documentLink(task.documentId)),
    row('Priority', task.priority),
    row('Attempts', `${number(task.attempt)}, ${number(task.retries)} of ${task.maxRetries < 0 ? 'unlimited' : number(task.maxRetries)} retries used`),
    row('Time limit', task.timeoutMs === 0 ? 'none' : duration(task.timeoutMs)),
    row('Created', when(task.createdAt)),
    row('Not before', task.scheduledAt && when(task.scheduledAt)),
    row('Expires', task.expiresAt && when(task.expiresAt)),
    row('Started', task.startedAt && when(task.startedAt)),
    row('Ended', task.finishedAt && when(task.finishedAt)),
    row('Worker', task.workerId),
    row('Lease ends', task.leaseExpiresAt && when(task.leaseExpiresAt)),
    row('Schedule', task.scheduleId && link(`/schedules/${task.scheduleId}`, task.scheduleId)),
    row('Team', task.teamId && link(`/teams/${task.teamId}`, task.teamId)),
    row('Parent', task.parentId && taskLink(task.parentId)),
    row('Key', task.idempotencyKey),
    row('External id', task.externalId),
    row('Tags', (task.tags ?? []).map((tag) => h('span', { class: 'tag' }, tag))),
    row('Cost', task.cost && Object.entries(task.cost).map(([name, value]) => `${name} ${number(value)}`).join(', ')));
}

function progressBar(task) {
  if (task.state !== 'RUNNING' || !task.progress) {
    return null;
  }
  const { percent, message } = task.progress;
  const known = percent !== undefined && percent >= 0;
  return h('div', {}, h('div', { class: `progress ${known ? '' : 'unknown'}`, role: 'progressbar', 'aria-label': 'Progress', 'aria-valuemin': '0', 'aria-valuemax': '100', 'aria-valuenow': known ? Math.round(percent) : null },
    h('span', known ? { style: { width: `${percent}%` } } : {})), h('p', { class: 'soft' }, known ? `${Math.round(percent)} %` : '', message ? ` ${message}` : ''));
}

const logLines = (log) => (Array.isArray(log) ? log : (log ?? '').split('\n')).filter((line) => line !== '');

function attemptBox(attempt, live) {
  const lines = [...logLines(attempt.log), ...(attempt.finishedAt ? [] : live)];
  const outcome = attempt.outcome ?? 'RUNNING';
  return h('div', { class: 'attempt' },
    h('div', { class: 'row' }, h('h3', {}, `Attempt ${attempt.number}`), badge(outcome), h('span', { class: 'soft' }, attempt.workerId ?? ''), when(attempt.startedAt),
      attempt.finishedAt && h('span', { class: 'soft' }, `took ${duration(Date.parse(attempt.finishedAt) - Date.parse(attempt.startedAt))}`)),
    attempt.error && h('p', { class: 'error' }, errorText(attempt.error)),
    attempt.error?.detail !== undefined && h('pre', {}, typeof attempt.error.detail === 'string' ? attempt.error.detail : JSON.stringify(attempt.error.detail, null, 2)),
    lines.length > 0 && h('pre', { class: 'log', tabindex: '0', 'aria-label': `Log of attempt ${attempt.number}` }, lines.join('\n')));
}

// ---- What belongs to it ----

async function family(task, signal) {
  if (task.childIds.length === 0) {
    return null;
  }
  const { rows, next } = await list(`/api/tasks?parentId=${task.id}&limit=${ROWS_MAX}`, signal);
  const order = new Map(task.childIds.map((id, at) => [id, at]));
  rows.sort((a, b) => (order.get(a.id) ?? 0) - (order.get(b.id) ?? 0));
  return h('ul', { class: 'tree root' }, h('li', {}, h('strong', {}, task.taskType), ' ', badge(task.state),
    h('ul', { class: 'tree' }, rows.map((child) => h('li', { class: 'row' }, taskLink(child.id, child.taskType), badge(child.state), child.error && h('span', { class: 'error' }, errorText(child.error)))),
      next && h('li', {}, tasksLink({ parentId: task.id }, 'All children')))));
}

async function ways(task, signal) {
  const before = task.dependencyResults ?? [];
  if (before.length === 0) {
    return null;
  }
  const known = await Promise.all(before.slice(0, NEIGHBOURS).map(({ id, state }) => get(`/api/tasks/${id}`, signal).catch(() => ({ id, state, taskType: id }))));
  const nodes = known.map((one) => ({ id: one.id, title: one.taskType, under: one.state, state: one.state, after: (one.dependencyResults ?? []).map(({ id }) => id), href: `/tasks/${one.id}` }));
  return graph('What this task depends on', [...nodes, { id: task.id, title: task.taskType, under: task.state, state: task.state, after: known.map(({ id }) => id), here: true }]);
}

// ---- The page ----

export async function open(page) {
  const head = h('div', {});
  const top = h('div', {});
  const bar = h('div', {});
  const line = h('div', {});
  const attempts = h('div', {});
  const values = h('div', { class: 'panel' });
  const about = h('div', {});
  const kin = h('div', {});
  let live = [];
  let valuesKnown = '';
  let following = null;
  let task;

  function buttons() {
    const creates = () => createLines(task);
    return h('div', { class: 'actions' }, taskButtons(task, { after: (name) => name === 'Delete' && page.go('/tasks') }),
      may('produce') && [button('Run again', () => runAgain(task, page.go)), button('Edit', () => editAndRetry(task, page.go))],
      button('Copy as curl', () => copy(`${asCurl(task)}\n${creates().curl}`, 'curl command')), button('Copy as errand', () => copy(`${asErrand(task)}\n${creates().errand}`, 'errand command')));
  }

  /** Payload and the like are drawn again only when they differ: what one has unfolded stays so. */
  function showValues() {
    const known = JSON.stringify([task.payload, task.result, task.error, task.metadata, task.payloadBase64]);
    if (known !== valuesKnown) {
      valuesKnown = known;
      put(values, h('h2', {}, 'Values'), task.payload !== undefined && jsonPanel('Payload', task.payload), task.payloadBase64 !== undefined && jsonPanel('Payload (Base64)', task.payloadBase64),
        task.result !== undefined && jsonPanel('Result', task.result), task.error && jsonPanel('Error', task.error), task.metadata && jsonPanel('Metadata', task.metadata),
        task.payload === undefined && task.payloadBase64 === undefined && task.result === undefined && h('p', { class: 'soft' }, 'It has no payload and no result yet.'));
    }
  }

  function showAttempts() {
    const shown = task.attempts.slice(-ATTEMPTS_SHOWN).reverse();
    keep(attempts, shown.length > 0 ? shown.map((one) => attemptBox(one, one === task.attempts.at(-1) ? live : [])) : h('p', { class: 'soft' }, 'It has not been attempted yet.'),
      task.attempts.length > ATTEMPTS_SHOWN && h('p', { class: 'soft' }, `and ${number(task.attempts.length - ATTEMPTS_SHOWN)} before these`));
  }

  function followIt() {
    const wanted = ended(task) ? `/api/events?types=state&taskType=${encodeURIComponent(task.taskType)}` : `/api/tasks/${task.id}/stream`;
    if (following !== wanted) {
      following = wanted;
      page.follow(wanted, ['state', 'progress', 'log'], refresh, happened);
    }
  }

  function happened(kind, data) {
    if (data.taskId !== task.id) {
      return !ended(task); // of a child
    }
    if (kind === 'progress') {
      task.progress = { percent: data.percent, message: data.message };
      keep(bar, progressBar(task));
      return false;
    }
    if (kind === 'log') {
      live = [...live, ...data.lines].slice(-LOG_LINES);
      showAttempts();
      return false;
    }
    return true;
  }

  async function refresh() {
    const before = task?.attempts.at(-1);
    let why;
    [task, why] = await Promise.all([get(`/api/tasks/${page.id}`, page.signal), get(`/api/tasks/${page.id}/why`, page.signal)]);
    const latest = task.attempts.at(-1);
    if (before?.number !== latest?.number || latest?.finishedAt || logLines(latest?.log).length > 0) {
      live = []; // the stored log has them
    }
    document.title = `${task.taskType} · Errand`;
    keep(head, h('div', { class: 'head' }, h('h1', { tabindex: '-1' }, `Task ${task.taskType}`), badge(task.state), buttons()));
    keep(top, whyBox(task, why));
    keep(bar, progressBar(task));
    keep(line, timeline(task));
    showAttempts();
    showValues();
    keep(about, facts(task));
    const [tree, depends] = await Promise.all([family(task, page.signal), ways(task, page.signal)]);
    keep(kin, tree && panel('Children', tree), depends && panel('Dependencies', depends));
    followIt();
  }

  put(page.main, h('p', {}, link('/tasks', 'All tasks')), head, top, bar,
    h('div', { class: 'columns' }, panel('Timeline and attempts', line, attempts), panel('About', about)), kin, values);
  try {
    await refresh();
  } catch (problem) {
    if (problem.status === 404 || problem.status === 400) {
      put(page.main, page.heading('Task'), nothing('There is no such task, or it was removed.', link('/tasks', 'All tasks')));
      return;
    }
    throw problem;
  }
  page.every(LOOK_EVERY_MS, () => !ended(task) && refresh().catch(() => {}));
}
