// web/pages/schedule.js: one schedule: when it runs, what came of each run, what it cost and where it went; changed in English.
//
// SPDX-License-Identifier: MIT
import { change, get, list, may, path, post } from '../lib/api.js';
import { attempt } from '../lib/dialog.js';
import { field, h, keep, link, nothing, number, panel, put } from '../lib/dom.js';
import { jsonPanel } from '../lib/json.js';
import { refreshNow } from '../lib/live.js';
import { monthTable, scheduleButtons } from '../lib/schedule_parts.js';
import { queueLink, taskLink, tasksLink } from '../lib/states.js';
import { Table } from '../lib/table.js';
import { absolute, dayAndTime, duration, now, when } from '../lib/time.js';

export const title = 'Schedule';

const PAGE_ROWS = 50;
const COMING = 5;
const COMING_IN_MONTH = 60;
const TYPING_MS = 250;

function facts(schedule) {
  const row = (name, ...value) => (value.some((one) => one !== undefined && one !== null && one !== '') ? [h('dt', {}, name), h('dd', {}, ...value)] : null);
  return h('dl', { class: 'facts' },
    row('When', schedule.summary), row('Rule', schedule.isOneTime ? 'once' : schedule.rrule && h('code', {}, schedule.rrule)), row('Begins', schedule.dtstart), row('Time zone', schedule.timezone),
    row('Next', when(schedule.nextExecutionTime)), row('Last', when(schedule.lastExecutionTime)), row('Paused because', schedule.pausedReason), row('Resumes', schedule.resumeAt && when(schedule.resumeAt)),
    row('Purpose', schedule.purpose), row('Category', schedule.category), row('User', schedule.userId && link(path('/schedules', { userId: schedule.userId }), schedule.userId)),
    row('Task type', schedule.taskType), row('Queue', queueLink(schedule.queue)), row('Priority', schedule.priority), row('Document', schedule.documentId),
    row('If the last still runs', schedule.overlap), row('If a time was missed', schedule.misfire), row('Delivery', (schedule.delivery ?? []).join(', ')),
    row('Queries a run', number(schedule.queryPerExecution)), row('Tasks', tasksLink({ scheduleId: schedule.id }, 'All its tasks')));
}

const deliveries = (execution) => Object.entries(execution.deliveries ?? {}).map(([channel, { status, attempts, error }]) =>
  h('div', { title: error ? String(error.message ?? error) : null }, channel, ' ', h('span', { class: `state is-${status}` }, status), attempts > 1 && h('span', { class: 'soft' }, ` ${attempts} attempts`)));

const took = (execution) => (execution.finishedAt && execution.startedAt ? duration(Date.parse(execution.finishedAt) - Date.parse(execution.startedAt)) : '');

function content(execution) {
  if (execution.content === undefined || execution.content === null) {
    return execution.count > 1 ? `${number(execution.count)} times` : '';
  }
  return h('span', {}, typeof execution.content === 'string' ? execution.content : JSON.stringify(execution.content));
}

/** A whole new rhythm ("every Monday at 8am") is seen before it is saved; a change ("move it to 9am") is read by the server then. */
class Editor {
  constructor(page, schedule) {
    Object.assign(this, { page, schedule, asked: 0 });
    this.text = field({ label: 'Schedule', class: 'wide', autocomplete: 'off', placeholder: 'every Monday at 8am, or: move it to 9am', oninput: () => {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.preview(), TYPING_MS);
    } });
    this.said = h('div', { 'aria-live': 'polite' });
    this.element = panel('Edit in English', h('form', { class: 'limits', onsubmit: (event) => this.save(event) }, this.text, h('button', { type: 'submit', class: 'primary' }, 'Save')), this.said);
  }

  words() {
    return { text: this.text.input.value.trim(), timezone: this.schedule.timezone };
  }

  /** What the text would become by itself; null where it does not name a whole rhythm. */
  async understood() {
    if (this.words().text === '') {
      return null;
    }
    const answer = await post('/api/schedules/preview?tolerant=true', this.words(), this.page.signal).catch(() => null);
    return answer?.mode === 'REFUSAL' ? null : answer;
  }

  async preview() {
    this.asked += 1;
    const mine = this.asked;
    const answer = await this.understood();
    if (mine === this.asked) {
      put(this.said, answer?.rrule ? [h('strong', {}, answer.summary), h('span', { class: 'soft' }, ` next ${answer.next.slice(0, 2).map(dayAndTime).join(', then ')}`)]
        : this.words().text !== '' && h('span', { class: 'soft' }, 'It is read as a change of this schedule when you save it.'));
    }
  }

  /** The assistant reads changes; what it refuses may still be a whole new rhythm. */
  async apply() {
    const { refusal } = await post(`/api/assistant?scheduleId=${this.schedule.id}`, { ...this.words(), userId: this.schedule.userId });
    const answer = refusal ? await this.understood() : null;
    if (answer) {
      const { rrule = null, dtstart, timezone, isOneTime, exdates = null, rdates = null } = answer;
      await change('PATCH', `/api/schedules/${this.schedule.id}`, { rrule, dtstart, timezone, isOneTime, exdates, rdates });
    } else if (refusal) {
      throw new Error(refusal.reason);
    }
  }

  async save(event) {
    event.preventDefault();
    this.asked += 1;
    const done = await attempt(() => this.apply(), 'The schedule is changed.');
    if (done) {
      this.text.input.value = '';
      put(this.said);
      refreshNow();
    }
  }
}

export async function open(page) {
  const cursor = page.query.get('cursor') ?? '';
  const head = h('div', {});
  const about = h('div', {});
  const coming = h('div', {});
  const calendar = h('div', {});
  const pages = h('div', { class: 'actions' });
  const values = h('div', {});
  let month = new Date(now());
  let schedule = await get(`/api/schedules/${page.id}`, page.signal).catch((problem) => {
    if (problem.status === 404) {
      return null;
    }
    throw problem;
  });
  if (schedule === null) {
    put(page.main, page.heading('Schedule'), nothing('There is no such schedule, or it was deleted.', link('/schedules', 'All schedules')));
    return;
  }
  const history = new Table({
    label: 'History',
    holds: true,
    noun: 'run',
    columns: [
      { name: 'For', header: true, class: 'tight', cell: (row) => (row.taskId ? taskLink(row.taskId, dayAndTime(row.scheduledFor)) : h('time', { datetime: row.scheduledFor, 'data-still': true, title: absolute(row.scheduledFor) }, dayAndTime(row.scheduledFor))) },
      { name: 'Status', class: 'tight', cell: (row) => h('span', { class: `state is-${row.status}` }, row.status) },
      { name: 'Content', cell: content },
      { name: 'Took', level: 3, class: 'number', cell: took },
      { name: 'Queries', level: 3, class: 'number', cell: (row) => number(row.queries ?? 0) },
      { name: 'Tokens', level: 3, class: 'number', cell: (row) => number(row.tokens ?? 0) },
      { name: 'Delivered', level: 2, cell: deliveries },
    ],
    empty: h('p', { class: 'soft' }, 'It has not run yet.'),
  });

  async function refresh(force = false) {
    const [fresh, { rows, next }, times] = await Promise.all([get(`/api/schedules/${page.id}`, page.signal), list(path(`/api/schedules/${page.id}/executions`, { limit: PAGE_ROWS, cursor }), page.signal),
      get(`/api/schedules/${page.id}/next?n=${COMING_IN_MONTH}`, page.signal)]);
    schedule = fresh;
    document.title = `${schedule.title} · Errand`;
    keep(head, h('div', { class: 'head' }, h('h1', { tabindex: '-1' }, `Schedule ${schedule.title}`), h('span', { class: `state is-${schedule.status}` }, schedule.status),
      h('div', { class: 'actions' }, may('produce') && scheduleButtons(schedule, { after: () => page.go('/schedules') }), h('a', { href: `/api/schedules/${schedule.id}.ics`, download: true, class: 'button' }, 'Calendar file'))));
    keep(about, facts(schedule));
    keep(coming, times.length > 0 ? h('ol', { class: 'words', 'aria-label': 'Next times' }, times.slice(0, COMING).map(({ utc, local }) => h('li', {}, h('time', { datetime: utc, 'data-still': true, title: `${absolute(utc)}; there ${local}` }, dayAndTime(utc))))) : h('p', { class: 'soft' }, 'It will not run again.'));
    history.update(rows, { force: force === true });
    keep(pages, cursor && link(`/schedules/${page.id}`, 'Newest'), next && link(path(`/schedules/${page.id}`, { cursor: new URLSearchParams(next.split('?')[1]).get('cursor') }), 'Older'));
    const runs = [...rows.map((row) => ({ time: row.scheduledFor, text: row.status, href: row.taskId ? `/tasks/${row.taskId}` : `/schedules/${page.id}`, state: row.status })),
      ...(schedule.status === 'ACTIVE' ? times.map(({ utc }) => ({ time: utc, text: schedule.title, href: `/schedules/${page.id}`, coming: true })) : [])];
    keep(calendar, monthTable(new Date(month.getFullYear(), month.getMonth(), 1), runs, (step) => {
      month = new Date(month.getFullYear(), month.getMonth() + step, 1);
      refreshNow();
    }));
  }

  put(values, schedule.payload !== undefined && panel('Payload', jsonPanel('Payload', schedule.payload)));
  put(page.main, h('p', {}, link('/schedules', 'All schedules')), head, may('produce') && new Editor(page, schedule).element,
    h('div', { class: 'columns' }, panel('About', about), panel('Next', coming, calendar)), panel('History', history.element, pages), values);
  await refresh(true);
  page.follow('/api/events?types=schedule', ['schedule'], refresh, (kind, data) => data.scheduleId === undefined || data.scheduleId === page.id);
}
