// web/pages/usage.js: what runs have cost: in all, by schedule, for one user or all, in a span of days.
//
// SPDX-License-Identifier: MIT
import { ROWS_MAX, get, list, path } from '../lib/api.js';
import { field, h, keep, link, nothing, number, panel, put } from '../lib/dom.js';
import { Table } from '../lib/table.js';
import { now } from '../lib/time.js';

export const title = 'Usage';

const DAYS_DEFAULT = 30;
const TYPING_MS = 300;
const DAY_MS = 24 * 3600 * 1000;

const dayOf = (ms) => new Date(ms).toISOString().slice(0, 10);

export async function open(page) {
  const wanted = { userId: page.query.get('userId') ?? '', from: page.query.get('from') ?? dayOf(now() - DAYS_DEFAULT * DAY_MS), to: page.query.get('to') ?? dayOf(now() + DAY_MS) };
  let timer = 0;
  let titles = new Map();
  const sums = h('div', { class: 'tiles' });
  const trouble = h('p', { class: 'trouble', 'aria-live': 'polite' });
  const table = new Table({
    label: 'By schedule',
    key: (row) => row.scheduleId,
    columns: [
      { name: 'Schedule', header: true, cell: (row) => link(`/schedules/${row.scheduleId}`, titles.get(row.scheduleId)?.title ?? row.scheduleId) },
      { name: 'User', level: 2, cell: (row) => titles.get(row.scheduleId)?.userId ?? '' },
      { name: 'Status', level: 2, class: 'tight', cell: (row) => budget(titles.get(row.scheduleId)) },
      { name: 'Queries', class: 'number', cell: (row) => number(row.queries) },
      { name: 'Tokens', class: 'number', cell: (row) => number(row.tokens) },
    ],
    empty: nothing('Nothing was used in this time.', 'Runs of schedules are counted here, by queries and by tokens of the language model.'),
  });
  const users = new Table({
    label: 'By user',
    key: (row) => row.user,
    columns: [
      { name: 'User', header: true, cell: (row) => (row.user ? link(path('/usage', { ...wanted, userId: row.user }), row.user) : h('span', { class: 'soft' }, 'nobody in particular')) },
      { name: 'Queries', class: 'number', cell: (row) => number(row.queries) },
      { name: 'Tokens', class: 'number', cell: (row) => number(row.tokens) },
      { name: 'Over the limit', class: 'number', cell: (row) => (row.paused > 0 ? h('span', { class: 'state is-PAUSED' }, `${number(row.paused)} paused`) : h('span', { class: 'soft' }, 'no')) },
    ],
    empty: h('p', { class: 'soft' }, 'Nobody has used anything.'),
  });

  const input = (label, name, type) => field({ label, type, value: wanted[name], oninput: (event) => {
    wanted[name] = event.target.value.trim();
    clearTimeout(timer);
    timer = setTimeout(() => {
      page.setQuery(path('/usage', wanted));
      refresh().catch((problem) => put(trouble, problem.message));
    }, TYPING_MS);
  } });

  async function refresh() {
    const query = { userId: wanted.userId, from: wanted.from && `${wanted.from}T00:00:00Z`, to: wanted.to && `${wanted.to}T00:00:00Z` };
    const [usage, schedules] = await Promise.all([get(path('/api/usage', query), page.signal), list(path('/api/schedules', { userId: wanted.userId, limit: ROWS_MAX }), page.signal)]);
    put(trouble);
    titles = new Map(schedules.rows.map((row) => [row.id, row]));
    keep(sums, [['Queries', usage.queries], ['Tokens', usage.tokens], ['Schedules', usage.bySchedule.length]].map(([name, value]) => h('div', { class: 'tile' }, h('span', { class: 'soft' }, name), h('strong', {}, number(value)))));
    table.update([...usage.bySchedule].sort((a, b) => b.tokens - a.tokens || b.queries - a.queries).slice(0, ROWS_MAX));
    users.update(byUser(usage.bySchedule, titles));
  }

  put(page.main, page.heading(title), h('div', { class: 'row' }, input('User', 'userId', 'search'), input('From', 'from', 'date'), input('To', 'to', 'date')), trouble, sums, panel('By user', users.element), panel('By schedule', table.element));
  await refresh();
  page.follow('/api/events?types=schedule', ['schedule'], refresh);
}

/** Whether a schedule is held up by its user's budget. */
function budget(schedule) {
  if (schedule?.status !== 'PAUSED') {
    return schedule?.status.toLowerCase() ?? '';
  }
  return h('span', { class: 'state is-PAUSED', title: schedule.pausedReason ?? '' }, schedule.pausedReason ?? 'paused');
}

function byUser(rows, titles) {
  const users = new Map();
  rows.forEach(({ scheduleId, queries, tokens }) => {
    const schedule = titles.get(scheduleId);
    const user = schedule?.userId ?? '';
    const found = users.get(user) ?? { user, queries: 0, tokens: 0, paused: 0 };
    found.queries += queries;
    found.tokens += tokens;
    found.paused += schedule?.status === 'PAUSED' && schedule.resumeAt ? 1 : 0;
    users.set(user, found);
  });
  return [...users.values()].sort((a, b) => b.queries - a.queries || a.user.localeCompare(b.user));
}
