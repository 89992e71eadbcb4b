// web/lib/json.js: a JSON value as a tree that can be folded and searched.
//
// What is shown is text; secrets are dots already (redact.js).
//
// SPDX-License-Identifier: MIT
import { field, h, put } from './dom.js';

const OPEN_ITEMS = 12;   // a value with more is folded
const SHOWN_ITEMS = 500; // of one array or object
const SEARCH_FROM = 400; // characters: shorter ones are seen at a glance

const isExact = (value) => JSON.isRawJSON?.(value) ?? false; // a number too long for JavaScript

/** Text with the found parts marked. */
function marked(text, wanted) {
  const at = wanted ? text.toLowerCase().indexOf(wanted) : -1;
  return at < 0 ? [text] : [text.slice(0, at), h('mark', {}, text.slice(at, at + wanted.length)), ...marked(text.slice(at + wanted.length), wanted)];
}

const holds = (key, value, wanted) => `${key} ${JSON.stringify(value)}`.toLowerCase().includes(wanted);

function leaf(value, wanted) {
  const text = typeof value === 'string' ? `"${value}"` : isExact(value) ? value.rawJSON : String(value);
  return h('span', { class: typeof value === 'string' ? 'text' : 'other' }, marked(text, wanted));
}

function tree(key, value, wanted) {
  const name = key === null ? null : h('span', { class: 'key' }, marked(String(key), wanted), ': ');
  if (value === null || typeof value !== 'object' || isExact(value)) {
    return h('div', {}, name, leaf(value, wanted));
  }
  const entries = Object.entries(value);
  const [begin, end] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  if (entries.length === 0) {
    return h('div', {}, name, begin, end);
  }
  const rows = entries.filter(([inner, inside]) => !wanted || holds(inner, inside, wanted));
  const unfolded = wanted ? rows.length > 0 : key === null || entries.length <= OPEN_ITEMS;
  return h('details', { open: unfolded }, h('summary', {}, name, begin, h('span', { class: 'soft' }, ` ${entries.length} `), end),
    h('ul', {}, rows.slice(0, SHOWN_ITEMS).map(([inner, inside]) => h('li', {}, tree(inner, inside, wanted))),
      rows.length > SHOWN_ITEMS && h('li', { class: 'soft' }, `${rows.length - SHOWN_ITEMS} more`)));
}

/** A folded panel with a value: its title, the value as the API gave it. */
export function jsonPanel(title, value, { open = false } = {}) {
  const size = JSON.stringify(value)?.length ?? 0;
  const place = h('div', { class: 'json' }, tree(null, value, ''));
  const search = size > SEARCH_FROM && field({ label: `Search in ${title.toLowerCase()}`, type: 'search', spellcheck: 'false',
    oninput: (event) => put(place, tree(null, value, event.target.value.trim().toLowerCase())) });
  return h('details', { class: 'value', open: open || size <= SEARCH_FROM }, h('summary', {}, title, h('span', { class: 'soft' }, ` ${size.toLocaleString('en')} characters`)), search, place);
}
