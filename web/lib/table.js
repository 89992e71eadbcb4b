// web/lib/table.js: a list as a table whose rows keep their place: what is shown of a row changes, the row does not jump.
//
// A column is {name, cell(row), level, class}: level 2 and 3 are left out where the page is narrow.
// While somebody is at work in the table (a row is chosen, focused or pointed at) rows neither come nor go; what has come is offered
// by a button instead.
//
// SPDX-License-Identifier: MIT
import { button, h, keep, plural, put } from './dom.js';

const POINTING_MS = 1500; // after the pointer moved over it

export class Table {
  /** {label, columns, key(row), empty: node, holds: whether rows stay while one is at work, more: 'task'}. */
  constructor({ label, columns, key = (row) => row.id, empty, holds = false, noun = 'row', rowClass }) {
    Object.assign(this, { columns, key, empty, holds, noun, rowClass });
    this.rows = new Map(); // key → {row, element}
    this.pointed = -Infinity;
    this.body = h('tbody', {});
    this.table = h('table', { 'aria-label': label, hidden: true }, h('thead', {}, h('tr', {}, columns.map((column) => h('th', { scope: 'col', class: this.look(column) }, column.head ? column.head() : column.name)))), this.body);
    this.news = h('p', { class: 'news', hidden: true });
    this.body.addEventListener('pointermove', () => { this.pointed = performance.now(); });
    this.element = h('div', { class: 'list' }, this.news, this.table);
    this.void = h('div', { class: 'void' });
    this.element.append(this.void);
    this.chosen = () => false;
  }

  look(column) {
    return [column.class, column.level && `level${column.level}`].filter(Boolean).join(' ') || null;
  }

  atWork() {
    return this.holds && this.rows.size > 0 &&
      (this.chosen() || this.body.contains(document.activeElement) || performance.now() - this.pointed < POINTING_MS || scrollY > this.table.offsetTop + 200);
  }

  fill(element, row) {
    element.className = this.rowClass?.(row) ?? '';
    this.columns.forEach((column, at) => {
      const cell = element.children[at];
      keep(cell, column.cell(row));
    });
  }

  make(row) {
    const element = h('tr', {}, this.columns.map((column) => h(column.header ? 'th' : 'td', { class: this.look(column), scope: column.header ? 'row' : null })));
    this.fill(element, row);
    return element;
  }

  /** Shows these rows, or updates those that are there and says how many more have come. */
  update(rows, { force = false } = {}) {
    const wanted = new Map(rows.map((row) => [this.key(row), row]));
    if (!force && this.atWork()) {
      const fresh = rows.filter((row) => !this.rows.has(this.key(row))).length;
      this.rows.forEach((shown, key) => {
        if (wanted.has(key)) {
          this.refill(shown, wanted.get(key));
        }
        shown.element.classList.toggle('left', !wanted.has(key));
      });
      this.offer(fresh, rows);
      return;
    }
    this.offer(0);
    this.rows.forEach((shown, key) => {
      if (!wanted.has(key)) {
        if (shown.element.contains(document.activeElement)) { // the focus goes on where the row was
          (shown.element.nextElementSibling ?? shown.element.previousElementSibling)?.querySelector('a, button, input')?.focus();
        }
        shown.element.remove();
        this.rows.delete(key);
      }
    });
    let at = this.body.firstElementChild;
    wanted.forEach((row, key) => {
      const shown = this.rows.get(key);
      if (shown === undefined) {
        const element = this.make(row);
        this.rows.set(key, { row, element });
        this.body.insertBefore(element, at);
        return;
      }
      this.refill(shown, row);
      shown.element.classList.remove('left');
      if (shown.element === at) {
        at = at.nextElementSibling;
      } else {
        this.body.insertBefore(shown.element, at);
      }
    });
    this.table.hidden = rows.length === 0 && this.empty !== undefined;
    put(this.void, this.table.hidden ? (typeof this.empty === 'function' ? this.empty() : this.empty) : null);
  }

  refill(shown, row) {
    shown.row = row;
    this.fill(shown.element, row);
  }

  offer(fresh, rows) {
    this.news.hidden = fresh === 0;
    keep(this.news, fresh > 0 && button(`Show ${plural(fresh, `new ${this.noun}`)}`, () => {
      this.pointed = -Infinity;
      this.update(this.latest, { force: true });
    }));
    this.latest = rows;
  }
}
