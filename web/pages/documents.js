// web/pages/documents.js: who holds each locked document, since when, and who waits for it in which order.
//
// SPDX-License-Identifier: MIT
import { ROWS_MAX, escaped, get, may, post } from '../lib/api.js';
import { attempt, confirm } from '../lib/dialog.js';
import { button, field, h, keep, link, nothing, number, plural, put } from '../lib/dom.js';
import { refreshNow } from '../lib/live.js';
import { taskLink, tasksLink } from '../lib/states.js';
import { Table } from '../lib/table.js';
import { since } from '../lib/time.js';

export const title = 'Documents';

const WAITING_SHOWN = 10;

async function release(row) {
  const text = `The task ${row.taskId} loses the document “${row.documentId}” now: its lease is void, what it still does changes nothing through Errand, and it is queued again without using a retry. If its worker is still writing, two may write at once.`;
  if (await confirm({ title: `Release ${row.documentId}?`, text, action: 'Release' })) {
    await attempt(() => post(`/api/documents/${escaped(row.documentId)}/release`), 'Document released.');
    refreshNow();
  }
}

const line = (row) => (row.waiting?.length > 0 ? h('ol', { class: 'tree root' }, row.waiting.slice(0, WAITING_SHOWN).map((id) => h('li', {}, taskLink(id))),
  (row.waitingCount ?? row.waiting.length) > WAITING_SHOWN && h('li', {}, tasksLink({ documentId: row.documentId, state: 'QUEUED' }, `and ${number(row.waitingCount - WAITING_SHOWN)} more`))) : h('span', { class: 'soft' }, 'nobody'));

export async function open(page) {
  let wanted = page.query.get('documentId') ?? '';
  const one = h('div', {});
  const said = h('p', { class: 'soft' });
  const table = new Table({
    label: 'Locked documents',
    holds: true,
    noun: 'document',
    key: (row) => row.documentId,
    columns: [
      { name: 'Document', header: true, cell: (row) => tasksLink({ documentId: row.documentId }, row.documentId) },
      { name: 'Held by', cell: (row) => taskLink(row.taskId) },
      { name: 'Worker', level: 2, cell: (row) => row.workerId ?? '' },
      { name: 'Held for', level: 2, class: 'tight', cell: (row) => since(row.since) },
      { name: 'Waiting', level: 2, class: 'number', cell: (row) => number(row.waitingCount ?? row.waiting?.length ?? 0) },
      { name: 'Next in line', level: 3, cell: line },
      may('admin') && { name: 'Actions', class: 'tight', cell: (row) => h('div', { class: 'actions' }, button('Release', () => release(row), { class: 'small' })) },
    ].filter(Boolean),
    empty: nothing('No document is locked.', 'A task with a ', h('code', {}, 'documentId'), ' holds its document while it runs.'),
  });
  const search = field({ label: 'Document', type: 'search', value: wanted, placeholder: 'Look one up by its id', oninput: (event) => {
    wanted = event.target.value;
    page.setQuery(wanted ? `/documents?documentId=${escaped(wanted)}` : '/documents');
    refreshNow();
  } });

  /** One document by its id, locked or not. */
  async function lookUp() {
    const row = wanted ? await get(`/api/documents/${escaped(wanted)}`, page.signal) : null;
    keep(one, row && h('section', { class: 'panel' }, h('h2', {}, row.documentId),
      row.locked ? h('p', {}, 'Held by ', taskLink(row.taskId), row.workerId ? ` on ${row.workerId}` : '', ' for ', since(row.since), '.') : h('p', {}, 'It is not locked.'),
      row.waiting.length > 0 && [h('h3', {}, `${plural(row.waiting.length, 'task')} waiting, in this order`), line({ ...row, waitingCount: row.waiting.length })],
      h('div', { class: 'actions' }, link(`/tasks?documentId=${escaped(wanted)}`, 'All its tasks'), row.locked && may('admin') && button('Release', () => release(row)))));
  }

  async function refresh(force = false) {
    const rows = await get('/api/documents?locked=true', page.signal);
    table.update(rows.slice(0, ROWS_MAX), { force: force === true });
    keep(said, rows.length > ROWS_MAX ? `${number(rows.length)} documents are locked; the first ${ROWS_MAX} are shown. Look others up by their id.` : '');
    await lookUp();
  }

  put(page.main, page.heading(title), search, one, h('section', { class: 'panel' }, table.element, said));
  await refresh();
  page.follow('/api/events?types=state', ['state'], refresh, (kind, data) => data.documentId !== undefined);
}
