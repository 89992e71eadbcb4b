// web/lib/states.js: the states of things, and how a task is named on a page.
//
// SPDX-License-Identifier: MIT
import { h, link } from './dom.js';

export const STATES = ['SCHEDULED', 'WAITING', 'QUEUED', 'RUNNING', 'RETRYING', 'COMPLETED', 'FAILED', 'TIMEOUT', 'CANCELLED'];
export const ENDED = ['COMPLETED', 'FAILED', 'TIMEOUT', 'CANCELLED'];
export const BAD = ['FAILED', 'TIMEOUT'];
export const PRIORITIES = ['CRITICAL', 'HIGH', 'NORMAL', 'LOW'];

export const ended = (task) => ENDED.includes(task.state);

/** A state as a word with a dot. */
export const badge = (state) => h('span', { class: `state is-${state}` }, state);

const SHORT_ID = 18; // of one node these many characters are unique

export const shortId = (id) => id.slice(0, SHORT_ID);

export const taskLink = (id, text) => h('a', { href: `/tasks/${id}`, class: text ? null : 'id', title: id }, text ?? shortId(id));

/** Where a list of such tasks is. */
export const tasksLink = (query, text, properties = {}) => h('a', { href: `/tasks?${new URLSearchParams(query)}`, ...properties }, text);

export const queueLink = (name) => tasksLink({ queue: name }, name);

export const documentLink = (id) => link(`/documents?documentId=${encodeURIComponent(id)}`, id);

/** The one sentence of an error. */
export const errorText = (error) => (error ? [error.code, error.message].filter(Boolean).join(': ') : '');
