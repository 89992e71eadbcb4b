// web/lib/chart.js: figures over time as lines: a chart with a pointer that tells the values, and a small one beside a name.
//
// A value that is not known (null) is a gap, not a zero.
//
// SPDX-License-Identifier: MIT
import { h, put, s, short } from './dom.js';

const WIDTH = 600;
const HEIGHT = 170;

/** Each run of known values as a path; with `close` down to the ground. `dots`: those that stand alone instead. */
function paths(values, x, y, { close = false, dots = false } = {}) {
  const pieces = [];
  let begin = null;
  values.forEach((value, at) => {
    if (value === null || value === undefined) {
      begin = null;
      return;
    }
    if (begin === null) {
      begin = at;
      pieces.push([]);
    }
    pieces.at(-1).push([x(at), y(value)]);
  });
  return pieces.filter((points) => (points.length === 1) === dots).map((points) => {
    const line = points.map(([a, b], at) => `${at === 0 ? 'M' : 'L'}${a.toFixed(1)} ${b.toFixed(1)}`).join('');
    if (dots) {
      return `${line}h0.1`;
    }
    return close ? `${line}L${points.at(-1)[0].toFixed(1)} ${HEIGHT}L${points[0][0].toFixed(1)} ${HEIGHT}Z` : line;
  }).join('');
}

/** A round number not below the highest value. */
function ceiling(highest) {
  const step = 10 ** Math.floor(Math.log10(highest || 1));
  return [1, 2, 2.5, 5, 10].map((times) => times * step).find((top) => top >= highest) ?? 10 * step;
}

const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });

const DRAWN = 75; // points; more than that is a hedge, not a line

/** Fewer points of the same time: each the mean (of rates) or the highest (of times) of what it stands for, null where nothing is known. */
export function thin(values, most) {
  const size = thinBy(values);
  return Array.from({ length: Math.floor((values?.length ?? 0) / size) }, (_, at) => {
    const known = values.slice(at * size, (at + 1) * size).filter((value) => value !== null);
    return known.length === 0 ? null : most ? Math.max(...known) : known.reduce((sum, value) => sum + value, 0) / known.length;
  });
}

/** How long a drawn point is, in steps of the series. */
export const thinBy = (values) => Math.ceil((values?.length ?? 0) / DRAWN) || 1;

export class Chart {
  /** {label, lines: [{key, name, look}], unit(value)}. */
  constructor({ label, lines, unit = (value) => short(Math.round(value * 10) / 10) }) {
    Object.assign(this, { label, lines, unit });
    this.svg = s('svg', { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: 'none', role: 'img', 'aria-label': label });
    this.legend = h('ul', { class: 'legend' });
    this.axis = h('div', { class: 'axis', 'aria-hidden': 'true' });
    this.topLabel = h('span', { class: 'top', 'aria-hidden': 'true' });
    this.element = h('div', { class: 'chart' }, h('div', { class: 'chart' }, this.svg, this.topLabel), this.axis, this.legend);
    this.svg.addEventListener('pointermove', (event) => {
      const box = this.svg.getBoundingClientRect();
      this.pointed = (event.clientX - box.left) / box.width;
      this.draw();
    });
    this.svg.addEventListener('pointerleave', () => {
      this.pointed = undefined;
      this.draw();
    });
  }

  /** {from: ms, stepMs, values: {key: […]}}. */
  update(data) {
    this.data = data;
    this.draw();
  }

  draw() {
    const { from, stepMs, values } = this.data;
    const points = Math.max(2, ...this.lines.map(({ key }) => values[key]?.length ?? 0));
    const highest = Math.max(0, ...this.lines.flatMap(({ key }) => (values[key] ?? []).filter((value) => value !== null)));
    const top = ceiling(highest);
    const x = (at) => (at / (points - 1)) * WIDTH;
    const y = (value) => HEIGHT - 2 - (value / top) * (HEIGHT - 10);
    const at = this.pointed === undefined ? null : Math.min(points - 1, Math.max(0, Math.round(this.pointed * (points - 1))));
    put(this.svg,
      [0, 0.5, 1].map((part) => s('line', { class: 'grid', x1: 0, x2: WIDTH, y1: y(part * top), y2: y(part * top) })),
      this.lines.map(({ key, look }, nth) => nth === 0 && s('path', { class: `area f-${look}`, d: paths(values[key] ?? [], x, y, { close: true }) })),
      this.lines.map(({ key, look }) => s('path', { class: `line c-${look}`, d: paths(values[key] ?? [], x, y) })),
      this.lines.map(({ key, look }) => s('path', { class: `line dot c-${look}`, d: paths(values[key] ?? [], x, y, { dots: true }) })),
      at !== null && s('line', { class: 'cursor', x1: x(at), x2: x(at), y1: 0, y2: HEIGHT }));
    put(this.topLabel, this.unit(top));
    const shown = at ?? points - 1;
    put(this.legend, this.lines.map(({ key, name, look }) => {
      const value = values[key]?.[shown];
      return h('li', {}, s('svg', { viewBox: '0 0 16 8', 'aria-hidden': 'true' }, s('line', { class: `line c-${look}`, x1: 1, x2: 15, y1: 4, y2: 4 })), name,
        h('b', {}, value === null || value === undefined ? '–' : this.unit(value)));
    }), at !== null && h('li', { class: 'soft' }, clock.format(from + at * stepMs)));
    put(this.axis, [0, 0.5, 1].map((part) => h('span', {}, clock.format(from + part * (points - 1) * stepMs))));
    this.svg.setAttribute('aria-label', `${this.label}. Now ${this.lines.map(({ key, name }) => `${name} ${this.unit(values[key]?.at(-1) ?? 0)}`).join(', ')}.`);
  }
}

/** A small line beside a name. */
export function spark(values, look = 'completed') {
  const top = Math.max(1e-9, ...values.filter((value) => value !== null));
  const x = (at) => (at / Math.max(1, values.length - 1)) * 110;
  const y = (value) => 24 - (value / top) * 21;
  return s('svg', { class: 'spark', viewBox: '0 0 110 26', preserveAspectRatio: 'none', 'aria-hidden': 'true' },
    s('path', { class: `line c-${look}`, d: paths(values, x, y) }));
}
