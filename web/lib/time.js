// web/lib/time.js: times as people say them: relative, with the absolute time in the viewer's zone on hover.
//
// "Now" is the server's: the viewer's clock, set right by what the server said last. All times on the page move on together.
//
// SPDX-License-Identifier: MIT
import { h } from './dom.js';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const CLOCKS_AGREE_MS = 2 * SECOND; // within the time an answer takes, no difference is known

let offset = 0;

export const now = () => Date.now() + offset;

/** The server says what time it is for its tasks. */
export function setClock(text) {
  const difference = Date.parse(text) - Date.now();
  offset = Math.abs(difference) < CLOCKS_AGREE_MS ? 0 : difference;
}

/** 90061 as "1m 30s". */
export function duration(ms) {
  if (ms === null || ms === undefined || Number.isNaN(ms)) {
    return '–';
  }
  if (ms < 1) {
    return ms <= 0 ? '0 ms' : '< 1 ms';
  }
  if (ms < SECOND) {
    return `${Math.round(ms)} ms`;
  }
  if (ms < MINUTE) {
    return `${(ms / SECOND).toFixed(ms < 10 * SECOND ? 1 : 0)} s`;
  }
  const [big, bigName, small, smallName] = ms < HOUR ? [MINUTE, 'm', SECOND, 's']
    : ms < DAY ? [HOUR, 'h', MINUTE, 'm'] : [DAY, 'd', HOUR, 'h'];
  const rest = Math.floor((ms % big) / small);
  return `${Math.floor(ms / big)}${bigName}${rest ? ` ${rest}${smallName}` : ''}`;
}

function about(ms) {
  const [unit, name] = ms < MINUTE ? [SECOND, 's'] : ms < HOUR ? [MINUTE, 'm'] : ms < 2 * DAY ? [HOUR, 'h'] : [DAY, 'd'];
  return `${Math.floor(ms / unit)}${name}`;
}

export function relative(ms) {
  const ago = now() - ms;
  if (Math.abs(ago) < 2 * SECOND) {
    return 'now';
  }
  return ago > 0 ? `${about(ago)} ago` : `in ${about(-ago)}`;
}

const whole = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'long' });
const day = new Intl.DateTimeFormat('en-GB', { weekday: 'short', day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' });

export const absolute = (text) => whole.format(new Date(text));
export const dayAndTime = (text) => day.format(new Date(text));

/** A time that moves on; nothing for one that is not set. */
export function when(text) {
  if (!text) {
    return h('span', { class: 'soft' }, '–');
  }
  return h('time', { datetime: text, title: absolute(text) }, relative(Date.parse(text)));
}

/** How long something that began then has lasted; it counts on. */
export const since = (text) => h('time', { datetime: text, title: `since ${absolute(text)}`, 'data-since': true }, duration(now() - Date.parse(text)));

setInterval(() => {
  document.querySelectorAll('time[datetime]:not([data-still])').forEach((element) => {
    const ms = Date.parse(element.dateTime);
    const text = element.hasAttribute('data-since') ? duration(Math.floor((now() - ms) / SECOND) * SECOND) : relative(ms);
    if (element.textContent !== text) {
      element.textContent = text;
    }
  });
}, SECOND);
