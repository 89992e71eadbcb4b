// web/lib/task_actions.js: what can be done with a task, by its state and the viewer's role; and with many at once.
//
// SPDX-License-Identifier: MIT
import { change, get, may, post } from './api.js';
import { ask, attempt, confirm, note } from './dialog.js';
import { button, field, h, plural } from './dom.js';
import { refreshNow } from './live.js';
import { undot } from './redact.js';
import { PRIORITIES, ended } from './states.js';

const MAY_RETRY = ['FAILED', 'TIMEOUT', 'CANCELLED'];

/** The words of each action: whom it is for, what it does, and what is asked before. */
export const ACTIONS = {
  Cancel: {
    fits: (task) => !ended(task),
    act: (id) => post(`/api/tasks/${id}/cancel`),
    done: 'cancelled',
    question: (what) => `${what} will not run any more; what runs is asked to stop. Tasks that depend on it are cancelled too.`,
  },
  Retry: {
    fits: (task) => MAY_RETRY.includes(task.state),
    act: (id) => post(`/api/tasks/${id}/retry`),
    done: 'to run again',
  },
  Delete: {
    fits: ended,
    act: (id) => change('DELETE', `/api/tasks/${id}`),
    done: 'deleted',
    question: (what) => `${what} and its history are removed for good.`,
  },
};

/** Asks first where it cannot be undone, does it, says so. Returns whether it was done. */
export async function actOn(name, task) {
  const { act, question, done } = ACTIONS[name];
  if (question && !await confirm({ title: `${name} this task?`, text: question(`The task ${task.taskType}`), action: name })) {
    return false;
  }
  const well = await attempt(() => act(task.id), (answer) => (answer?.cancelRequested ? 'Asked to stop.' : `1 task ${done}.`));
  refreshNow();
  return well;
}

/** The same order once more: type, queue, payload, document and priority. */
export function orderOf(task) {
  const order = { taskType: task.taskType, queue: task.queue, priority: task.priority };
  ['payload', 'payloadBase64', 'documentId'].forEach((name) => {
    if (task[name] !== undefined) {
      order[name] = task[name];
    }
  });
  return order;
}

export async function runAgain(task, go) {
  await attempt(async () => {
    const whole = await get(`/api/tasks/${task.id}`, undefined, { stored: true }); // as it was sent, secrets and all
    const fresh = await post('/api/tasks', orderOf(whole));
    note('A new task was created.');
    go(`/tasks/${fresh.id}`);
  });
}

function readPayload(text) {
  try {
    return JSON.parse(text);
  } catch (problem) {
    throw new Error(`The payload is not JSON: ${problem.message}`);
  }
}

/** Change the order in a form, then run it as a new task. */
export async function editAndRetry(task, go) {
  const payload = field({ label: 'Payload', tag: 'textarea', spellcheck: 'false', hint: 'JSON. It becomes a new task; this one stays as it is. Dots stand for what is not shown, and are kept.' });
  payload.input.value = task.payload === undefined ? '' : JSON.stringify(task.payload, null, 2);
  const queue = field({ label: 'Queue', value: task.queue });
  const doc = field({ label: 'Document', value: task.documentId ?? '' });
  const priority = h('div', { class: 'field' }, h('label', { for: 'edit-priority' }, 'Priority'),
    h('select', { id: 'edit-priority' }, PRIORITIES.map((name) => h('option', { selected: name === task.priority }, name))));
  const fresh = await ask({
    title: 'Edit and run as a new task',
    fields: [payload, queue, doc, priority],
    action: 'Start',
    save: async () => {
      const stored = await get(`/api/tasks/${task.id}`, undefined, { stored: true });
      const order = { ...orderOf(task), queue: queue.input.value.trim(), priority: priority.querySelector('select').value };
      delete order.payload;
      delete order.payloadBase64;
      delete order.documentId;
      if (payload.input.value.trim() !== '') {
        order.payload = undot(readPayload(payload.input.value), stored.payload);
      }
      if (doc.input.value !== '') {
        order.documentId = doc.input.value;
      }
      return post('/api/tasks', order);
    },
  });
  if (fresh?.id) {
    go(`/tasks/${fresh.id}`);
  }
}

/** The buttons that fit a task; nobody sees one that he may not press. */
export const taskButtons = (task, { small = false, only = Object.keys(ACTIONS), after } = {}) => (may('produce') ? only : [])
  .filter((name) => ACTIONS[name].fits(task))
  .map((name) => button(name, async () => {
    if (await actOn(name, task)) {
      after?.(name);
    }
  }, { class: small ? 'small' : name === 'Retry' ? 'primary' : null }));

/** As others would do it: on a command line. */
export const asCurl = (task) => `curl ${location.origin}/api/tasks/${task.id}`;
export const asErrand = (task) => `errand show ${task.id} --url ${location.origin}`;

const shellQuoted = (text) => `'${text.replace(/'/g, "'\\''")}'`;

/** What creates such a task, as curl and as errand. */
export function createLines(task) {
  const { payload, ...order } = orderOf(task);
  const body = JSON.stringify({ ...order, ...(payload === undefined ? {} : { payload }) });
  const doc = task.documentId ? ` --doc ${shellQuoted(task.documentId)}` : '';
  return {
    curl: `curl ${location.origin}/api/tasks -H 'Content-Type: application/json' -d ${shellQuoted(body)}`,
    errand: `errand push ${shellQuoted(task.taskType)}${payload === undefined ? '' : ` ${shellQuoted(JSON.stringify(payload))}`} --queue ${task.queue} --priority ${task.priority}${doc} --url ${location.origin}`,
  };
}

/** Browsers give the clipboard to https and to this machine only; elsewhere the text is shown to be taken by hand. */
export async function copy(text, what) {
  if (navigator.clipboard) {
    await attempt(() => navigator.clipboard.writeText(text), `${what} copied.`);
    return;
  }
  const box = field({ label: what, tag: 'textarea', readonly: true });
  box.input.value = text;
  box.input.addEventListener('focus', () => box.input.select());
  await ask({ title: 'Copy', fields: [box], action: 'Done', save: () => true });
}

/** "1 task" or "12 tasks". */
export const tasksText = (n) => plural(n, 'task');
