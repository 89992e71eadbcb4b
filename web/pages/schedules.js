// web/pages/schedules.js: orders that last: a line that is understood while one types, the list, and the month.
//
// SPDX-License-Identifier: MIT
import { ROWS_MAX, get, list, may, path, post } from '../lib/api.js';
import { button, field, h, keep, link, nothing, panel, put } from '../lib/dom.js';
import { attempt } from '../lib/dialog.js';
import { refreshNow } from '../lib/live.js';
import { monthTable, scheduleButtons } from '../lib/schedule_parts.js';
import { Table } from '../lib/table.js';
import { absolute, dayAndTime, now, when } from '../lib/time.js';

export const title = 'Schedules';

const PAGE_ROWS = 100;
const TYPING_MS = 200;
const CALENDAR_SCHEDULES = 40; // whose coming times are asked for
const STATUSES = ['ACTIVE', 'PAUSED', 'COMPLETED', 'FAILED'];

const viewerZone = () => Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC';

// ---- The line ----

/** What a text would become: the summary, the next five times, and what each word was taken for. */
const understood = (answer) => h('div', { class: 'preview' },
  h('p', {}, h('strong', {}, answer.summary)),
  h('p', { class: 'soft' }, `“${answer.title}”, ${answer.category.toLowerCase()}, ${answer.isOneTime ? 'once' : answer.rrule}`),
  answer.next.length > 0 ? h('ol', { class: 'words', 'aria-label': 'Next times' }, answer.next.map((time) => h('li', {}, h('time', { datetime: time, 'data-still': true, title: absolute(time) }, dayAndTime(time))))) : h('p', {}, 'It never occurs.'),
  answer.words?.length > 0 && h('ul', { class: 'words', 'aria-label': 'What each word was taken for' }, answer.words.map(({ text, as }) => h('li', {}, text, h('small', {}, as)))));

class Line {
  constructor(page) {
    this.page = page;
    this.asked = 0;
    this.text = field({ label: 'Schedule', class: 'wide', type: 'text', autocomplete: 'off', placeholder: 'every weekday at 9am send me the open invoices', oninput: () => this.typed() });
    this.zone = field({ label: 'Time zone', value: viewerZone(), autocomplete: 'off', oninput: () => this.typed() });
    this.answer = h('div', { 'aria-live': 'polite' });
    this.save = h('button', { type: 'submit', class: 'primary', disabled: true }, 'Save');
    const form = h('form', { class: 'limits', onsubmit: (event) => this.create(event) }, this.text, this.zone, this.save);
    this.element = panel('New schedule', form, this.answer);
  }

  typed() {
    clearTimeout(this.timer);
    this.save.disabled = true;
    this.timer = setTimeout(() => this.preview(), TYPING_MS);
  }

  body() {
    return { text: this.text.input.value.trim(), timezone: this.zone.input.value.trim() || 'UTC' };
  }

  async preview() {
    this.asked += 1;
    const mine = this.asked;
    const body = this.body();
    let shown = null;
    let fits = false;
    if (body.text !== '') {
      try {
        const answer = await post('/api/schedules/preview?tolerant=true', body, this.page.signal);
        fits = answer.mode !== 'REFUSAL';
        shown = fits ? understood(answer) : h('p', { class: 'trouble' }, answer.refusal.reason);
      } catch (problem) {
        shown = h('p', { class: 'trouble' }, problem.message);
      }
    }
    if (mine === this.asked && !this.page.signal.aborted) { // a later letter has its own answer
      put(this.answer, shown);
      this.save.disabled = !fits;
    }
  }

  async create(event) {
    event.preventDefault();
    if (await attempt(() => post('/api/schedules', this.body()), (schedule) => `“${schedule.title}” is scheduled.`)) {
      this.text.input.value = '';
      this.save.disabled = true;
      put(this.answer);
      refreshNow();
    }
  }
}

// ---- The page ----

export async function open(page) {
  const wanted = { status: page.query.get('status') ?? '', userId: page.query.get('userId') ?? '', category: page.query.get('category') ?? '', cursor: page.query.get('cursor') ?? '' };
  const chips = h('div', { class: 'chips', role: 'group', 'aria-label': 'Status' });
  const calendar = h('div', {});
  const pages = h('div', { class: 'actions' });
  let month = new Date(now());
  let monthTold = null;
  const table = new Table({
    label: 'What is planned',
    holds: true,
    noun: 'schedule',
    columns: [
      { name: 'Schedule', header: true, cell: (row) => [link(`/schedules/${row.id}`, row.title), row.userId && h('span', { class: 'soft' }, ` ${row.userId}`)] },
      { name: 'Status', class: 'tight', cell: (row) => h('span', { class: `state is-${row.status}`, title: row.pausedReason ?? '' }, row.status) },
      { name: 'Rule', level: 3, cell: (row) => h('span', { title: row.rrule ?? '' }, row.summary ?? row.rrule ?? 'once') },
      { name: 'Next', level: 2, class: 'tight', cell: (row) => when(row.nextExecutionTime) },
      { name: 'Last', level: 3, class: 'tight', cell: (row) => when(row.lastExecutionTime) },
      may('produce') && { name: 'Actions', class: 'tight level2', cell: (row) => h('div', { class: 'actions' }, scheduleButtons(row, { small: true })) },
    ].filter(Boolean),
    empty: () => (wanted.status || wanted.userId ? nothing('No schedule matches.', link('/schedules', 'Show all')) : nothing('There are no schedules yet.', may('produce') ? 'Say above what should happen and when.' : 'Whoever may create tasks may create schedules, too.')),
  });

  async function showMonth(rows) {
    const first = new Date(month.getFullYear(), month.getMonth(), 1);
    const coming = await Promise.all(rows.filter((row) => row.status === 'ACTIVE' && row.nextExecutionTime).slice(0, CALENDAR_SCHEDULES).map(async (row) => {
      const times = await get(`/api/schedules/${row.id}/next?n=31`, page.signal);
      return times.map(({ utc }) => ({ time: utc, text: row.title, href: `/schedules/${row.id}`, coming: true }));
    }));
    const past = rows.filter((row) => row.lastExecutionTime).map((row) => ({ time: row.lastExecutionTime, text: row.title, href: `/schedules/${row.id}`, state: 'SUCCESS' }));
    keep(calendar, monthTable(first, [...past, ...coming.flat()], (step) => {
      month = new Date(month.getFullYear(), month.getMonth() + step, 1);
      refreshNow();
    }));
  }

  async function refresh(force = false) {
    const { rows, next } = await list(path('/api/schedules', { ...wanted, limit: PAGE_ROWS }), page.signal);
    table.update(rows, { force: force === true });
    keep(pages, wanted.cursor && link('/schedules', 'Newest'), next && link(path('/schedules', { ...wanted, cursor: new URLSearchParams(next.split('?')[1]).get('cursor') }), 'Older'));
    const told = JSON.stringify([month, rows.map((row) => [row.id, row.title, row.status, row.nextExecutionTime, row.lastExecutionTime])]);
    if (told !== monthTold) { // its times are asked for one schedule at a time
      await showMonth(rows);
      monthTold = told;
    }
  }

  const chip = (name, status) => h('a', { href: path('/schedules', { ...wanted, cursor: '', status }), 'aria-current': wanted.status === status ? 'true' : null }, name);
  put(chips, chip('All', ''), STATUSES.map((status) => chip(status.charAt(0) + status.slice(1).toLowerCase(), status)));
  put(page.main, page.heading(title, h('div', { class: 'actions' }, h('a', { href: '/api/schedules.ics', download: true, class: 'button' }, 'Calendar file'))), may('produce') && new Line(page).element, chips,
    h('section', { class: 'panel' }, table.element, pages), h('section', { class: 'panel', 'aria-label': 'Month' }, calendar));
  await refresh(true);
  page.follow('/api/events?types=schedule', ['schedule'], refresh);
}
