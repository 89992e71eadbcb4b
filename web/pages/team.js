// web/pages/team.js: one team: its tasks as a graph with live states, what its members say, and the result.
//
// SPDX-License-Identifier: MIT
import { change, get, may, post } from '../lib/api.js';
import { attempt, confirm } from '../lib/dialog.js';
import { button, field, h, keep, link, nothing, number, panel, put } from '../lib/dom.js';
import { graph } from '../lib/graph.js';
import { jsonPanel } from '../lib/json.js';
import { refreshNow } from '../lib/live.js';
import { badge, taskLink } from '../lib/states.js';
import { Table } from '../lib/table.js';
import { when } from '../lib/time.js';

export const title = 'Team';

const MESSAGES_SHOWN = 200;
const LOOK_EVERY_MS = 1500;


const drawing = (team) => graph('The tasks of this team', team.tasks.map((task) => ({ id: task.id, title: task.title, under: task.agent ?? task.state, state: task.state, after: task.dependsOn, href: task.taskId ? `/tasks/${task.taskId}` : null })));

const messageLine = (message) => h('div', { class: 'message' }, h('div', { class: 'row' }, h('strong', {}, message.from), message.to && h('span', { class: 'soft' }, `to ${message.to}`), when(message.createdAt)),
  typeof message.body === 'string' ? message.body : JSON.stringify(message.body));

function sayForm(page, members) {
  const to = h('select', { id: 'say-to' }, h('option', { value: '' }, 'everybody'), members.map((name) => h('option', {}, name)));
  const text = field({ label: 'Message', class: 'wide', autocomplete: 'off', required: true });
  const say = async (event) => {
    event.preventDefault();
    const body = { from: 'dashboard', body: text.input.value, ...(to.value ? { to: to.value } : {}) };
    if (text.input.value.trim() !== '' && await attempt(() => post(`/api/teams/${page.id}/messages`, body))) {
      text.input.value = '';
      refreshNow();
    }
  };
  return h('form', { class: 'limits', onsubmit: say }, h('div', { class: 'field' }, h('label', { for: 'say-to' }, 'To'), to), text, h('button', { type: 'submit' }, 'Say'));
}

export async function open(page) {
  const head = h('div', {});
  const picture = h('div', {});
  const result = h('div', {});
  const talk = h('div', { class: 'messages', tabindex: '0', role: 'log', 'aria-label': 'Conversation' });
  const sayPlace = h('div', {});
  let last = null;
  let messages = [];
  let resultKnown;
  const taskTable = new Table({
    label: 'Tasks',
    columns: [
      { name: 'Task', header: true, cell: (task) => (task.taskId ? taskLink(task.taskId, task.title) : task.title) },
      { name: 'State', class: 'tight', cell: (task) => badge(task.state) },
      { name: 'Waits for', level: 2, cell: (task) => task.dependsOn.join(', ') },
      { name: 'By', level: 2, cell: (task) => task.agent ?? '' },
    ],
    empty: h('p', { class: 'soft' }, 'The prompt is being split.'),
  });
  const mateTable = new Table({
    label: 'Teammates',
    key: (mate) => mate.agent,
    columns: [
      { name: 'Teammate', header: true, cell: (mate) => mate.agent },
      { name: 'Role', level: 2, cell: (mate) => [mate.role, mate.focus && h('span', { class: 'soft' }, ` ${mate.focus}`)] },
      { name: 'Status', class: 'tight', cell: (mate) => mate.status },
      { name: 'Done', class: 'number', cell: (mate) => number(mate.tasksDone) },
    ],
    empty: h('p', { class: 'soft' }, 'Nobody has joined yet.'),
  });

  async function end(team) {
    const runs = team.status === 'running';
    const [action, text] = runs ? ['Cancel', 'What is unfinished is cancelled; results that are there stay.'] : ['Delete', 'The team, its messages and its result are removed. Its tasks stay.'];
    if (await confirm({ title: `${action} this team?`, text, action }) && await attempt(() => change('DELETE', `/api/teams/${page.id}`), runs ? 'The team is cancelled.' : 'The team is deleted.')) {
      if (runs) {
        refreshNow();
      } else {
        page.go('/teams');
      }
    }
  }

  async function refresh() {
    const [team, fresh] = await Promise.all([get(`/api/teams/${page.id}`, page.signal), get(`/api/teams/${page.id}/messages${last ? `?after=${last}` : ''}`, page.signal)]);
    const atEnd = talk.scrollTop + talk.clientHeight >= talk.scrollHeight - 8;
    messages = [...messages, ...fresh].slice(-MESSAGES_SHOWN);
    last = messages.at(-1)?.id ?? null;
    document.title = 'Team · Errand';
    keep(head, h('div', { class: 'head' }, h('h1', { tabindex: '-1' }, 'Team'), h('span', { class: `state is-${team.status}` }, team.status), h('span', { class: 'soft' }, `${number(team.tasksDone)} of ${number(team.tasksTotal)} tasks done, begun `, when(team.createdAt)),
      h('div', { class: 'actions' }, may('produce') && button(team.status === 'running' ? 'Cancel' : 'Delete', () => end(team)))), h('p', {}, team.prompt));
    keep(picture, team.tasks.length > 0 && drawing(team));
    taskTable.update(team.tasks);
    mateTable.update(team.teammates ?? []);
    keep(talk, messages.length > 0 ? messages.map(messageLine) : h('p', { class: 'soft' }, 'Nothing was said yet.'));
    if (atEnd) {
      talk.scrollTop = talk.scrollHeight;
    }
    if (sayPlace.childElementCount === 0 && may('work') && team.status === 'running') {
      put(sayPlace, sayForm(page, (team.teammates ?? []).map((mate) => mate.agent)));
    }
    const told = JSON.stringify([team.result, team.error]);
    if (told !== resultKnown) {
      resultKnown = told;
      put(result, team.error && h('p', { class: 'error' }, typeof team.error === 'string' ? team.error : team.error.message), typeof team.result === 'string' ? h('pre', { tabindex: '0' }, team.result)
        : team.result !== undefined ? jsonPanel('Result', team.result, { open: true }) : !team.error && h('p', { class: 'soft' }, 'There is no result yet.'));
    }
  }

  put(page.main, h('p', {}, link('/teams', 'All teams')), head, panel('Graph', picture), h('div', { class: 'columns' }, panel('Tasks', taskTable.element), panel('Teammates', mateTable.element)),
    h('div', { class: 'columns' }, panel('Conversation', talk, sayPlace), panel('Result', result)));
  try {
    await refresh();
  } catch (problem) {
    if (problem.status === 404 || problem.status === 400) {
      put(page.main, page.heading('Team'), nothing('There is no such team, or it was removed.', link('/teams', 'All teams')));
      return;
    }
    throw problem;
  }
  page.follow('/api/events?types=message', ['message'], refresh, (kind, data) => data.teamId === undefined || data.teamId === page.id);
  page.every(LOOK_EVERY_MS, () => refresh().catch(() => {}));
}
