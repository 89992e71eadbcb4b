// web/lib/dom.js: builds what is on the page. Whatever comes from outside becomes text here, never markup.
//
// SPDX-License-Identifier: MIT
const SVG = 'http://www.w3.org/2000/svg';

function set(element, name, value) {
  if (value === null || value === undefined || value === false) {
    return;
  }
  if (name.startsWith('on')) {
    element.addEventListener(name.slice(2), value);
  } else if (name === 'class') {
    element.setAttribute('class', value);
  } else if (name === 'style') { // property by property: a style attribute is refused by the page's policy
    Object.entries(value).forEach(([property, what]) => element.style.setProperty(property, what));
  } else {
    element.setAttribute(name, value === true ? '' : value);
  }
}

function build(element, properties, children) {
  Object.entries(properties ?? {}).forEach(([name, value]) => set(element, name, value));
  element.append(...solid(children));
  return element;
}

/** What is really there of children that may be absent, lists or plain values. */
const solid = (children) => children.flat(Infinity)
  .filter((child) => child !== null && child !== undefined && child !== false)
  .map((child) => (child instanceof Node ? child : String(child)));

/** h('p', {class: 'soft'}, 'text', node, …): an element. */
export const h = (name, properties, ...children) => build(document.createElement(name), properties, children);

/** The same for drawings. */
export const s = (name, properties, ...children) => build(document.createElementNS(SVG, name), properties, children);

/** Shows exactly these children. */
export function put(element, ...children) {
  element.replaceChildren(...solid(children));
  return element;
}

/** Shows these children if they differ from what is shown: what did not change keeps its focus, selection and place. */
export function keep(element, ...children) {
  const next = build(element.cloneNode(false), {}, children);
  if (!element.isEqualNode(next)) {
    element.replaceChildren(...next.childNodes);
  }
  return element;
}

let count = 0;

/** A labelled input: {label, hint, …attributes}. Returns the field; field.input is the input. */
export function field({ label, hint, tag = 'input', class: look = '', ...attributes }) {
  count += 1;
  const id = `field-${count}`;
  const input = h(tag, { id, 'aria-describedby': hint ? `${id}-hint` : null, ...attributes });
  const box = h('div', { class: `field ${look}` }, h('label', { for: id }, label), input,
    hint && h('p', { id: `${id}-hint`, class: 'hint' }, hint));
  box.input = input;
  return box;
}

export const button = (text, onclick, properties = {}) => h('button', { type: 'button', onclick, ...properties }, text);

export const link = (path, ...children) => h('a', { href: path }, ...children);

/** A panel with a heading of its own. */
export const panel = (title, ...children) => h('section', { class: 'panel' }, h('h2', {}, title), ...children);

/** What to say, and do next, where there is nothing to show. */
export const nothing = (text, ...next) => h('div', { class: 'nothing' }, h('p', {}, text), next.length > 0 && h('p', { class: 'soft' }, ...next));

export const plural = (n, one, many = `${one}s`) => `${number(n)} ${n === 1 ? one : many}`;

const grouped = new Intl.NumberFormat('en');
export const number = (n) => grouped.format(n);

/** 1234567 as 1.2M, for places where a digit more says nothing. */
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });
export const short = (n) => (Math.abs(n) < 10000 ? grouped.format(n) : compact.format(n));
