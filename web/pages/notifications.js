// web/pages/notifications.js: what schedules had to say on the WEB channel.
//
// SPDX-License-Identifier: MIT
import { escaped, list, may, path, post } from '../lib/api.js';
import { attempt } from '../lib/dialog.js';
import { button, field, h, keep, link, nothing, put } from '../lib/dom.js';
import { refreshNow } from '../lib/live.js';
import { Table } from '../lib/table.js';
import { when } from '../lib/time.js';

export const title = 'Notifications';

const PAGE_ROWS = 100;
const TYPING_MS = 300;

export async function open(page) {
  const wanted = { userId: page.query.get('userId') ?? '', unread: page.query.get('unread') ?? '' };
  let timer = 0;
  const markRead = async (row) => {
    await attempt(() => post(`/api/notifications/${escaped(row.id)}/read`));
    refreshNow();
  };
  const table = new Table({
    label: 'Notifications',
    holds: true,
    noun: 'notification',
    rowClass: (row) => (row.read ? '' : 'unread'),
    columns: [
      { name: 'What', header: true, cell: (row) => [h('div', {}, row.title), row.content && row.content !== row.title && h('div', { class: 'soft' }, row.content)] },
      { name: 'For', level: 2, cell: (row) => row.userId ?? '' },
      { name: 'Schedule', level: 3, class: 'tight', cell: (row) => (row.scheduleId ? link(`/schedules/${row.scheduleId}`, 'Schedule') : '') },
      { name: 'When', class: 'tight', cell: (row) => when(row.createdAt) },
      may('produce') && { name: 'Actions', class: 'tight', cell: (row) => (row.read ? '' : h('div', { class: 'actions' }, button('Mark read', () => markRead(row), { class: 'small' }))) },
    ].filter(Boolean),
    empty: () => (wanted.userId || wanted.unread ? nothing('No notification matches.', link('/notifications', 'Show all'))
      : nothing('There are no notifications.', 'A schedule that delivers to WEB puts its results here. ', link('/schedules', 'Schedules'))),
  });
  const unread = button('Unread only', () => {
    wanted.unread = wanted.unread ? '' : 'true';
    show();
  });
  const user = field({ label: 'User', type: 'search', value: wanted.userId, oninput: (event) => {
    wanted.userId = event.target.value.trim();
    clearTimeout(timer);
    timer = setTimeout(show, TYPING_MS);
  } });
  const trouble = h('p', { class: 'trouble' });

  function show() {
    unread.setAttribute('aria-pressed', String(Boolean(wanted.unread)));
    page.setQuery(path('/notifications', wanted));
    return refresh(true).catch((problem) => put(trouble, problem.message));
  }

  async function refresh(force = false) {
    const { rows } = await list(path('/api/notifications', { ...wanted, limit: PAGE_ROWS }), page.signal);
    put(trouble);
    table.update(rows, { force: force === true });
  }

  unread.setAttribute('aria-pressed', String(Boolean(wanted.unread)));
  put(page.main, page.heading(title), h('div', { class: 'row' }, user, unread), trouble, h('section', { class: 'panel' }, table.element));
  await refresh(true);
  page.follow('/api/events?types=notification', ['notification'], refresh);
}
