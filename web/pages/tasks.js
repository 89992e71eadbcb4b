// web/pages/tasks.js: all tasks, newest first: searched, filtered, chosen, and steered many at once.
//
// What is shown is in the address by the API's own names, so that a link shows what its sender saw.
//
// SPDX-License-Identifier: MIT
import { ROWS_MAX, list, may, path, post } from '../lib/api.js';
import { attempt, confirm, note } from '../lib/dialog.js';
import { button, field, h, keep, link, nothing, number, put } from '../lib/dom.js';
import { refreshNow } from '../lib/live.js';
import { WORDS, complete, parse, tell } from '../lib/search.js';
import { BAD, ENDED, STATES, badge, documentLink, errorText, queueLink, shortId, taskLink } from '../lib/states.js';
import { Table } from '../lib/table.js';
import { ACTIONS, copy, taskButtons, tasksText } from '../lib/task_actions.js';
import { duration, now, when } from '../lib/time.js';

export const title = 'Tasks';

const PAGE_ROWS = 50;
const TYPING_MS = 250;
const AT_ONCE = 8; // requests of a bulk command under way
const FILTERS = Object.values(WORDS);

/** Why it ended as it did, in its own line. */
function reason(task) {
  const text = errorText(task.error) || task.cancelReason;
  return text && h('div', { class: BAD.includes(task.state) ? 'error small' : 'soft small' }, text);
}

export async function open(page) {
  const filter = Object.fromEntries(FILTERS.map((name) => [name, page.query.get(name)]).filter(([, value]) => value));
  const view = new TasksView(page, filter);
  await view.show();
  page.follow('/api/events?types=state,progress', ['state', 'progress'], (force) => view.refresh(force));
}

class TasksView {
  constructor(page, filter) {
    this.page = page;
    this.filter = filter;
    this.cursor = page.query.get('cursor');
    this.chosen = new Set();
    this.all = false; // all that match, shown or not
    this.known = {};  // values seen, for completion
    this.next = null;
    this.total = 0;
    this.search = new SearchLine(this);
    this.chips = h('div', { class: 'chips', role: 'group', 'aria-label': 'States' });
    this.bulk = h('div', {});
    this.pages = h('div', { class: 'row apart' });
    this.trouble = h('p', { class: 'trouble' });
    this.table = this.makeTable();
    put(page.main, page.heading(title, h('div', { class: 'actions' }, button('Copy as curl', () => copy(`curl '${location.origin}${this.apiPath()}'`, 'curl command')),
      button('Copy as errand', () => copy(this.asErrand(), 'errand command')))),
    this.search.element, this.chips, this.trouble, this.bulk, h('section', { class: 'panel' }, this.table.element, this.pages));
  }

  makeTable() {
    const choosable = may('produce');
    const table = new Table({
      label: 'Tasks',
      holds: true,
      noun: 'task',
      empty: () => this.emptiness(),
      columns: [
        choosable && { name: 'Choose', class: 'tight', head: () => this.makeAllBox(), cell: (task) => this.box(task) },
        { name: 'Type', header: true, cell: (task) => [h('div', {}, taskLink(task.id, task.taskType)), h('div', { class: 'id soft', title: task.id }, shortId(task.id))] },
        { name: 'State', cell: (task) => [badge(task.state), task.state === 'RUNNING' && task.progress?.percent !== undefined && h('span', { class: 'soft' }, ` ${Math.round(task.progress.percent)} %`), reason(task)] },
        { name: 'Queue', level: 2, cell: (task) => queueLink(task.queue) },
        { name: 'Document', level: 3, cell: (task) => (task.documentId ? documentLink(task.documentId) : '') },
        { name: 'Priority', level: 3, class: 'tight', cell: (task) => h('span', { class: task.priority }, task.priority) },
        { name: 'Attempt', level: 3, class: 'number tight', cell: (task) => number(task.attempt) },
        { name: 'Ran', level: 3, class: 'number tight', cell: (task) => (task.startedAt ? duration((task.finishedAt ? Date.parse(task.finishedAt) : now()) - Date.parse(task.startedAt)) : '') },
        { name: 'Created', level: 2, class: 'tight', cell: (task) => when(task.createdAt) },
        choosable && { name: 'Actions', class: 'tight level2', cell: (task) => h('div', { class: 'actions' }, taskButtons(task, { small: true })) },
      ].filter(Boolean),
    });
    table.chosen = () => this.chosen.size > 0;
    return table;
  }

  // ---- Choosing ----

  makeAllBox() {
    this.allBox = h('input', { type: 'checkbox', 'aria-label': 'Choose all shown', onchange: (event) => {
      [...this.table.rows.keys()].forEach((id) => (event.target.checked ? this.chosen.add(id) : this.chosen.delete(id)));
      this.all = false;
      this.table.body.querySelectorAll('input[type=checkbox]').forEach((box) => { box.checked = event.target.checked; });
      this.showBulk();
    } });
    return this.allBox;
  }

  box(task) {
    const box = h('input', { type: 'checkbox', 'aria-label': `Choose ${task.id}`, onchange: (event) => {
      this.chosen[event.target.checked ? 'add' : 'delete'](task.id);
      this.all = false;
      this.showBulk();
    } });
    box.checked = this.chosen.has(task.id);
    return box;
  }

  unchoose() {
    this.chosen.clear();
    this.all = false;
    this.table.element.querySelectorAll('input[type=checkbox]').forEach((box) => { box.checked = false; });
    this.showBulk();
  }

  chosenTasks() {
    return [...this.table.rows.values()].map(({ row }) => row).filter((task) => this.chosen.has(task.id));
  }

  /** What can be done with those that are chosen. */
  showBulk() {
    if (this.busy) {
      return;
    }
    if (this.chosen.size === 0) {
      put(this.bulk);
      return;
    }
    const tasks = this.chosenTasks();
    const narrowed = Object.keys(this.filter).length > 0;
    const fitting = (name) => (this.all ? true : tasks.some(ACTIONS[name].fits));
    keep(this.bulk, h('div', { class: 'bulk row' },
      h('span', {}, this.all ? 'All tasks that match are chosen.' : `${tasksText(this.chosen.size)} chosen.`),
      !this.all && narrowed && button('Choose all that match', () => {
        this.all = true;
        this.showBulk();
      }),
      h('div', { class: 'actions' }, Object.keys(ACTIONS).filter(fitting).map((name) => button(name, () => this.act(name), { class: name === 'Retry' ? 'primary' : null })),
        button('Choose none', () => this.unchoose()))));
  }

  async act(name) {
    const { question, done } = ACTIONS[name];
    const tasks = this.chosenTasks().filter(ACTIONS[name].fits);
    const what = this.all ? 'Every task that matches' : tasksText(tasks.length);
    if (question && !await confirm({ title: `${name} ${this.all ? 'all that match' : tasksText(tasks.length)}?`, text: question(what), action: name })) {
      return;
    }
    await attempt(async () => {
      const count = await (this.all ? this.actOnAll(name) : this.actOnEach(name, tasks.map((task) => task.id)));
      note(`${tasksText(count)} ${done}.`);
    });
    this.busy = false;
    this.unchoose();
    refreshNow();
  }

  progress(text, done, total) {
    this.busy = true;
    const known = total !== null;
    put(this.bulk, h('div', { class: 'bulk' }, h('p', {}, text),
      h('div', { class: `progress ${known ? '' : 'unknown'}`, role: 'progressbar', 'aria-label': text, 'aria-valuemin': known ? 0 : null, 'aria-valuemax': known ? total : null, 'aria-valuenow': known ? done : null },
        h('span', known ? { style: { width: `${(100 * done) / Math.max(1, total)}%` } } : {}))));
  }

  /** One by one, a few at once; what has changed its state meanwhile is passed over. */
  async actOnEach(name, ids, before = 0, total = ids.length) {
    let done = 0;
    let at = 0;
    const work = async () => {
      while (at < ids.length) {
        const id = ids[at];
        at += 1;
        try {
          await ACTIONS[name].act(id);
          done += 1;
        } catch (problem) {
          if (problem.status === 0) {
            throw problem;
          }
        }
        this.progress(`${name}: ${number(before + done)} of ${number(total)}`, before + done, total);
      }
    };
    this.progress(`${name}: ${number(before)} of ${number(total)}`, before, total);
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    return done;
  }

  async actOnAll(name) {
    const { filter } = this;
    if (name === 'Delete') {
      return this.deleteAll(filter);
    }
    this.progress(`${name}: the server goes through all that match …`, 0, null);
    return (await post(`/api/tasks/${name.toLowerCase()}`, filter)).count;
  }

  /** The API removes one task at a time: page by page, those that have ended. */
  async deleteAll(filter) {
    let removed = 0;
    const states = (filter.state?.split(',') ?? STATES).filter((state) => ENDED.includes(state));
    for (let more = states.length > 0; more;) {
      const { rows } = await list(path('/api/tasks', { ...filter, state: states.join(','), limit: ROWS_MAX }), this.page.signal);
      const count = await this.actOnEach('Delete', rows.map((task) => task.id), removed, removed + rows.length);
      removed += count;
      more = rows.length === ROWS_MAX && count > 0;
    }
    return removed;
  }

  // ---- Showing ----

  apiPath() {
    return path('/api/tasks', { ...this.filter, limit: PAGE_ROWS, cursor: this.cursor });
  }

  asErrand() {
    const flags = { state: 'state', taskType: 'type', queue: 'queue', documentId: 'doc', priority: 'priority', tag: 'tag', createdAfter: 'after', createdBefore: 'before' };
    const words = Object.entries(this.filter).filter(([name]) => flags[name]).map(([name, value]) => `--${flags[name]} '${value.replace(/'/g, "'\\''")}'`);
    return ['errand ls', ...words, `--url ${location.origin}`].join(' ');
  }

  /** Another filter: from its first page, in the address, and at once. */
  set(filter, { keepLine = false } = {}) {
    this.filter = filter;
    this.cursor = null;
    this.address();
    if (!keepLine) {
      this.search.say(filter);
    }
    this.unchoose();
    return this.show();
  }

  address() {
    this.page.setQuery(path('/tasks', { ...this.filter, cursor: this.cursor }));
  }

  fetch() {
    return list(this.apiPath(), this.page.signal);
  }

  async show() {
    this.showChips();
    try {
      const { rows, next } = await this.fetch();
      put(this.trouble);
      this.take(rows, next, true);
    } catch (problem) {
      if (!this.page.signal.aborted) {
        put(this.trouble, problem.message);
        this.take([], null, true);
      }
    }
  }

  async refresh(force = false) {
    const asked = JSON.stringify([this.filter, this.cursor]);
    const { rows, next } = await this.fetch();
    if (asked === JSON.stringify([this.filter, this.cursor])) {
      this.take(rows, next, force);
    }
  }

  take(rows, next, force) {
    rows.forEach((task) => ['taskType', 'queue', 'documentId', 'scheduleId', 'teamId', 'parentId'].forEach((name) => {
      if (task[name]) {
        (this.known[name] ??= []).includes(task[name]) || this.known[name].push(task[name]);
      }
    }));
    rows.flatMap((task) => task.tags ?? []).forEach((tag) => (this.known.tag ??= []).includes(tag) || this.known.tag.push(tag));
    this.table.update(rows, { force });
    this.next = next;
    keep(this.pages, h('span', { class: 'soft' }, rows.length > 0 ? `${tasksText(rows.length)} shown, newest first` : ''),
      h('div', { class: 'actions' }, this.cursor && button('Newest', () => this.turn(null)), next && button('Older', () => this.turn(new URLSearchParams(next.split('?')[1]).get('cursor')))));
    this.showBulk();
  }

  async turn(cursor) {
    this.cursor = cursor;
    this.unchoose();
    history.pushState(null, '', path('/tasks', { ...this.filter, cursor }));
    await this.show();
    scrollTo(0, 0);
  }

  showChips() {
    const { state, ...rest } = this.filter;
    const chip = (name, query, here) => h('a', { href: path('/tasks', query), 'aria-current': here ? 'true' : null }, name);
    keep(this.chips, chip('All', rest, !state), STATES.map((one) => chip(one.charAt(0) + one.slice(1).toLowerCase(), { ...rest, state: one }, state === one)));
  }

  emptiness() {
    if (Object.keys(this.filter).length > 0) {
      return nothing('No task matches.', link('/tasks', 'Show all tasks'));
    }
    return nothing('There are no tasks yet.', 'Create one: ', h('code', {}, `errand push echo '{"hello":"world"}' --url ${location.origin}`));
  }
}

/** The search line: what is typed is a filter a moment later; suggestions are chosen with the arrow keys. */
class SearchLine {
  constructor(view) {
    this.view = view;
    this.list = h('ul', { class: 'suggestions', id: 'suggestions', role: 'listbox', 'aria-label': 'Suggestions', hidden: true });
    const box = field({ label: 'Search', type: 'text', role: 'combobox', autocomplete: 'off', spellcheck: 'false', placeholder: 'state:failed type:report doc:"annual report"',
      'aria-expanded': 'false', 'aria-controls': 'suggestions', 'aria-autocomplete': 'list', oninput: () => this.typed(), onkeydown: (event) => this.key(event), onblur: () => this.hide() });
    this.input = box.input;
    this.problem = h('p', { class: 'trouble', 'aria-live': 'polite' });
    this.element = h('search', {}, h('div', { class: 'search' }, box, this.list), this.problem);
    this.say(view.filter);
    this.offered = [];
    this.at = -1;
  }

  say(filter) {
    this.input.value = tell(filter);
  }

  typed() {
    this.suggest();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.search(), TYPING_MS);
  }

  search() {
    clearTimeout(this.timer);
    const { filter, problem } = parse(this.input.value);
    put(this.problem, problem);
    if (problem === null && JSON.stringify(filter) !== JSON.stringify(this.view.filter)) {
      this.view.set(filter, { keepLine: true });
    }
  }

  suggest() {
    this.offered = complete(this.input.value, this.input.selectionStart, this.view.known);
    this.at = -1;
    put(this.list, this.offered.map(({ text, about }, at) => h('li', { id: `suggestion-${at}`, role: 'option', 'aria-selected': 'false',
      onmousedown: (event) => { event.preventDefault(); this.take(at); } }, h('span', {}, text), h('span', { class: 'soft' }, about))));
    this.list.hidden = this.offered.length === 0;
    this.input.setAttribute('aria-expanded', String(!this.list.hidden));
    this.input.removeAttribute('aria-activedescendant');
  }

  hide() {
    this.list.hidden = true;
    this.input.setAttribute('aria-expanded', 'false');
    this.input.removeAttribute('aria-activedescendant');
  }

  take(at) {
    const { text, from, to } = this.offered[at];
    this.input.setRangeText(text, from, to, 'end');
    this.hide();
    this.typed();
  }

  key(event) {
    if (event.key === 'Enter') {
      event.preventDefault();
      if (!this.list.hidden && this.at >= 0) {
        this.take(this.at);
      } else {
        this.hide();
        this.search();
      }
    } else if (event.key === 'Escape' && !this.list.hidden) {
      event.preventDefault();
      this.hide();
    } else if ((event.key === 'ArrowDown' || event.key === 'ArrowUp') && this.offered.length > 0 && !this.list.hidden) {
      event.preventDefault();
      const step = event.key === 'ArrowDown' ? 1 : -1;
      this.at = (this.at + step + this.offered.length + (this.at < 0 && step < 0 ? 1 : 0)) % this.offered.length;
      [...this.list.children].forEach((item, at) => item.setAttribute('aria-selected', String(at === this.at)));
      this.input.setAttribute('aria-activedescendant', `suggestion-${this.at}`);
      this.list.children[this.at].scrollIntoView({ block: 'nearest' });
    }
  }
}
