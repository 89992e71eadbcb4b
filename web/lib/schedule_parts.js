// web/lib/schedule_parts.js: what the list of schedules and the page of one share: the actions, and a month of runs.
//
// SPDX-License-Identifier: MIT
import { change, post } from './api.js';
import { attempt, confirm } from './dialog.js';
import { button, h, number } from './dom.js';
import { refreshNow } from './live.js';
import { absolute, now } from './time.js';

const RUNS_SHOWN = 3; // of one day

/** Pause or Resume, Run now, Delete: as it stands. The caller knows whether the viewer may. */
export function scheduleButtons(schedule, { small = false, after } = {}) {
  const look = { class: small ? 'small' : null };
  const act = (verb, done) => async () => {
    await attempt(() => post(`/api/schedules/${schedule.id}/${verb}`), done);
    refreshNow();
  };
  const remove = async () => {
    const text = `“${schedule.title}” will not run any more, and its history is removed. Tasks it has created stay.`;
    if (await confirm({ title: 'Delete this schedule?', text, action: 'Delete' }) && await attempt(() => change('DELETE', `/api/schedules/${schedule.id}`), 'The schedule is deleted.')) {
      after?.();
      refreshNow();
    }
  };
  return [
    schedule.status === 'ACTIVE' && button('Pause', act('pause', 'Paused.'), look),
    schedule.status === 'PAUSED' && button('Resume', act('resume', 'Resumed; what was missed is not made up.'), look),
    button('Run now', act('run', 'It runs now.'), look),
    button('Delete', remove, look),
  ];
}

const monthName = new Intl.DateTimeFormat('en-GB', { month: 'long', year: 'numeric' });
const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const WEEK = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];
const dayKey = (date) => `${date.getFullYear()}-${date.getMonth()}-${date.getDate()}`;

function dayCell(date, runs, month) {
  const today = dayKey(date) === dayKey(new Date(now()));
  return h('td', { class: [today && 'today', date.getMonth() !== month && 'other'].filter(Boolean).join(' ') || null }, h('div', {}, date.getDate()),
    runs.slice(0, RUNS_SHOWN).map(({ time, text, href, coming, state }) => h('a', { href, class: `run ${coming ? 'coming' : `is-${state}`}`, title: `${text}: ${absolute(time)}`, 'aria-label': `${text}, ${absolute(time)}${coming ? '' : `, ${state.toLowerCase()}`}` },
      h('span', {}, clock.format(new Date(time))))),
    runs.length > RUNS_SHOWN && h('div', { class: 'soft' }, `+${number(runs.length - RUNS_SHOWN)}`));
}

/** runs: [{time, text, href, coming or state}]; turn(±1) shows another month. In the viewer's zone. */
export function monthTable(first, runs, turn) {
  const byDay = new Map();
  [...runs].sort((a, b) => Date.parse(a.time) - Date.parse(b.time)).forEach((run) => {
    const key = dayKey(new Date(run.time));
    byDay.set(key, [...(byDay.get(key) ?? []), run]);
  });
  const start = new Date(first);
  start.setDate(1 - ((first.getDay() + 6) % 7));
  const weeks = [];
  for (const day = new Date(start); weeks.length === 0 || (day.getMonth() === first.getMonth() && weeks.length < 6);) {
    weeks.push(WEEK.map(() => {
      const date = new Date(day);
      day.setDate(day.getDate() + 1);
      return date;
    }));
  }
  return [
    h('div', { class: 'row apart' }, h('h2', {}, monthName.format(first)), h('div', { class: 'actions' }, button('Earlier', () => turn(-1), { class: 'small' }), button('Later', () => turn(1), { class: 'small' }))),
    h('table', { class: 'month', 'aria-label': monthName.format(first) }, h('thead', {}, h('tr', {}, WEEK.map((name) => h('th', { scope: 'col' }, name)))),
      h('tbody', {}, weeks.map((week) => h('tr', {}, week.map((date) => dayCell(date, byDay.get(dayKey(date)) ?? [], first.getMonth())))))),
  ];
}
