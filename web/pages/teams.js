// web/pages/teams.js: teams: prompts that were split into tasks, and starting another.
//
// SPDX-License-Identifier: MIT
import { list, may, path, post } from '../lib/api.js';
import { ask } from '../lib/dialog.js';
import { button, field, h, keep, link, nothing, number, put } from '../lib/dom.js';
import { Table } from '../lib/table.js';
import { when } from '../lib/time.js';

export const title = 'Teams';

const PAGE_ROWS = 100;
const LOOK_EVERY_MS = 1500;
const STATUSES = ['running', 'completed', 'failed', 'cancelled'];

/** One a line: "role: focus" for teammates, "title" or "title after 1, 2" for tasks. */
const lines = (text) => text.split('\n').map((line) => line.trim()).filter(Boolean);

function readMate(line) {
  const [role, ...focus] = line.split(':');
  return { role: role.trim(), ...(focus.length > 0 ? { focus: focus.join(':').trim() } : {}) };
}

function readTask(line, at) {
  const [, text, after] = /^(.*?)(?:\s+after\s+([\d\s,]+))?$/.exec(line);
  return { id: String(at + 1), title: text, description: text, dependsOn: (after?.match(/\d+/g) ?? []) };
}

async function start(page) {
  const prompt = field({ label: 'Prompt', tag: 'textarea', required: true, autofocus: true });
  const mates = field({ label: 'Teammates', tag: 'textarea', hint: 'One a line: role: focus' });
  const tasks = field({ label: 'Tasks', tag: 'textarea', hint: 'One a line; “Draft after 1, 2” waits for the first two. Empty: the language model splits the prompt' });
  mates.input.value = 'writer';
  const team = await ask({
    title: 'Start a team',
    fields: [prompt, mates, tasks],
    action: 'Start',
    save: () => {
      const split = lines(tasks.input.value).map(readTask);
      return post('/api/teams', { prompt: prompt.input.value.trim(), teammates: lines(mates.input.value).map(readMate), ...(split.length > 0 ? { tasks: split } : {}) });
    },
  });
  if (team?.teamId) {
    page.go(`/teams/${team.teamId}`);
  }
}

export async function open(page) {
  const wanted = { status: page.query.get('status') ?? '', cursor: page.query.get('cursor') ?? '' };
  const pages = h('div', { class: 'actions' });
  const table = new Table({
    label: 'Teams',
    holds: true,
    noun: 'team',
    key: (team) => team.teamId,
    columns: [
      { name: 'Prompt', header: true, cell: (team) => link(`/teams/${team.teamId}`, team.prompt.length > 160 ? `${team.prompt.slice(0, 160)}…` : team.prompt) },
      { name: 'Status', class: 'tight', cell: (team) => h('span', { class: `state is-${team.status}` }, team.status) },
      { name: 'Done', class: 'number', cell: (team) => `${number(team.tasksDone)} of ${number(team.tasksTotal)}` },
      { name: 'Teammates', level: 2, class: 'number', cell: (team) => number(team.numTeammates) },
      { name: 'Begun', level: 2, class: 'tight', cell: (team) => when(team.createdAt) },
    ],
    empty: () => nothing('There are no teams yet.', may('produce') ? 'Start one, or ask the command line: ' : 'Ask the command line: ', h('code', {}, 'errand team --help')),
  });

  async function refresh(force = false) {
    const { rows, next } = await list(path('/api/teams', { ...wanted, limit: PAGE_ROWS }), page.signal);
    table.update(rows, { force: force === true });
    keep(pages, wanted.cursor && link('/teams', 'Newest'), next && link(path('/teams', { ...wanted, cursor: new URLSearchParams(next.split('?')[1]).get('cursor') }), 'Older'));
  }

  const chip = (name, status) => h('a', { href: path('/teams', { status }), 'aria-current': wanted.status === status ? 'true' : null }, name);
  put(page.main, page.heading(title, h('div', { class: 'actions' }, may('produce') && button('Start a team', () => start(page), { class: 'primary' }))),
    h('div', { class: 'chips', role: 'group', 'aria-label': 'Status' }, chip('All', ''), STATUSES.map((status) => chip(status.charAt(0).toUpperCase() + status.slice(1), status))),
    h('section', { class: 'panel' }, table.element, pages));
  await refresh(true);
  page.follow('/api/events?types=message', ['message'], refresh);
  page.every(LOOK_EVERY_MS, () => refresh().catch(() => {}));
}
