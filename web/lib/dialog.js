// web/lib/dialog.js: questions before what cannot be undone, forms in front of the page, and short notes of what was done.
//
// A dialog is the browser's own: it keeps the focus inside, ends with Escape, and gives the focus back.
//
// SPDX-License-Identifier: MIT
import { button, field, h, put } from './dom.js';

const NOTE_MS = 6000;

/** Opens it and resolves with what close() was given; Escape and Keep give undefined. */
function open(title, content, buttons) {
  return new Promise((resolve) => {
    let value;
    const close = (given) => {
      value = given;
      dialog.close();
    };
    const form = h('form', { method: 'dialog', onsubmit: (event) => event.preventDefault() }, content, h('div', { class: 'actions' }, buttons(close)));
    const dialog = h('dialog', { role: 'dialog', 'aria-modal': 'true', 'aria-labelledby': 'dialog-title' }, h('h2', { id: 'dialog-title' }, title), form);
    dialog.addEventListener('close', () => {
      dialog.remove();
      resolve(value);
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}

/** Asks {title, text, action}; true for yes. `typed`: a word that must be typed for it. */
export async function confirm({ title, text, action, typed }) {
  const word = typed && field({ label: `Type ${typed} to confirm`, autocomplete: 'off', spellcheck: 'false', autofocus: true });
  const answer = await open(title, [h('p', {}, text), word], (close) => {
    const yes = h('button', { type: 'submit', class: 'danger', disabled: Boolean(typed), onclick: () => close(true) }, action);
    word?.input.addEventListener('input', () => { yes.disabled = word.input.value !== typed; });
    return [button('Keep', () => close(false), typed ? {} : { autofocus: true }), yes];
  });
  return answer === true;
}

/** A form: `fields` are nodes, `save` does it and may throw what is then shown. Resolves with its result. */
export function ask({ title, text, fields, action, save }) {
  const trouble = h('p', { class: 'trouble', 'aria-live': 'assertive' });
  return open(title, [text && h('p', {}, text), fields, trouble], (close) => [
    button('Keep', () => close(undefined)),
    h('button', {
      type: 'submit',
      class: 'primary',
      onclick: async (event) => {
        const { currentTarget: yes } = event;
        yes.disabled = true;
        try {
          close(await save() ?? true);
        } catch (problem) {
          put(trouble, problem.message);
          yes.disabled = false;
        }
      },
    }, action),
  ]);
}

/** Says in passing what was done, or why not. */
export function note(text, look = '') {
  const line = h('p', { class: `note ${look}` }, text);
  document.getElementById('notes').append(line);
  setTimeout(() => line.remove(), NOTE_MS);
}

/** Does it, says that it was done, and says the server's words when it was not. Returns whether it was. */
export async function attempt(act, done) {
  try {
    const answer = await act();
    if (done) {
      note(typeof done === 'function' ? done(answer) : done);
    }
    return true;
  } catch (problem) {
    note(problem.message, 'bad');
    return false;
  }
}
