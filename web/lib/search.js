// web/lib/search.js: the search line of the tasks: read into the filter names of the API, told as a line again, and completed
// while one types. Pure but for nothing: it touches no page.
//
// `state:failed type:report doc:"annual report"`: quotes hold what has a space; a bare word is a type or the beginning of an id.
//
// SPDX-License-Identifier: MIT
import { PRIORITIES, STATES } from './states.js';

export const WORDS = { // as it is typed → as the API calls it
  state: 'state', type: 'taskType', queue: 'queue', doc: 'documentId', tag: 'tag', parent: 'parentId', schedule: 'scheduleId',
  team: 'teamId', priority: 'priority', after: 'createdAfter', before: 'createdBefore', external: 'externalId', id: 'id',
};
const NAMES = Object.fromEntries(Object.entries(WORDS).map(([word, name]) => [name, word]));
const BEGINS_AN_ID = /^[0-9a-f]{4,8}(-[0-9a-f-]*)?$/i;
const PIECE = /\s*(?:([a-z]+):)?(?:"((?:[^"\\]|\\.)*)"?|([^\s"]+))/giy;

/** {filter, problem}: the filter by the API's names, and what could not be understood. */
export function parse(line) {
  const filter = {};
  let problem = null;
  PIECE.lastIndex = 0;
  for (let found = PIECE.exec(line); found !== null; found = PIECE.exec(line)) {
    const [, word, quoted, bare] = found;
    const value = quoted === undefined ? bare : quoted.replace(/\\(.)/g, '$1');
    const name = word === undefined ? (BEGINS_AN_ID.test(value) && /\d/.test(value) ? 'id' : 'taskType') : WORDS[word.toLowerCase()];
    if (name === undefined) {
      problem ??= `“${word}:” is not one of ${Object.keys(WORDS).map((known) => `${known}:`).join(' ')}`;
    } else if (name === 'state' || name === 'priority') {
      const known = name === 'state' ? [...STATES, 'PENDING', 'IN_PROGRESS'] : PRIORITIES;
      const values = value.toUpperCase().split(',').filter(Boolean);
      const stranger = values.find((one) => !known.includes(one));
      problem ??= stranger ? `“${stranger.toLowerCase()}” is not a ${name}: ${known.join(', ').toLowerCase()}` : null;
      filter[name] = [...(filter[name]?.split(',') ?? []), ...values].join(',');
    } else {
      filter[name] = value;
    }
  }
  return { filter, problem };
}

const quoted = (value) => (/[\s"\\]/.test(value) || value === '' ? `"${value.replace(/["\\]/g, '\\$&')}"` : value);

/** The line that says this filter. */
export function tell(filter) {
  return Object.entries(filter).filter(([name, value]) => NAMES[name] && value)
    .map(([name, value]) => `${NAMES[name]}:${quoted(name === 'state' || name === 'priority' ? value.toLowerCase() : value)}`).join(' ');
}

/** What may be meant by the word at the cursor: [{text, about, from, to}]. `known` has values by the API's names. */
export function complete(line, at, known) {
  const from = line.lastIndexOf(' ', at - 1) + 1;
  const typed = line.slice(from, at);
  const [, word, begun] = /^(?:([a-z]+):)?(.*)$/i.exec(typed);
  const to = at;
  if (word === undefined) {
    return Object.keys(WORDS).filter((one) => typed !== '' && one.startsWith(typed.toLowerCase()))
      .map((one) => ({ text: `${one}:`, about: ABOUT[one], from, to }));
  }
  const name = WORDS[word.toLowerCase()];
  const values = name === 'state' ? STATES.map((one) => one.toLowerCase()) : name === 'priority' ? PRIORITIES.map((one) => one.toLowerCase()) : known[name] ?? [];
  const plain = begun.replace(/^"/, '').toLowerCase();
  return values.filter((value) => value.toLowerCase().startsWith(plain) && value.toLowerCase() !== plain).slice(0, 12)
    .map((value) => ({ text: `${word}:${quoted(value)} `, about: '', from, to }));
}

const ABOUT = {
  state: 'queued, running, failed …', type: 'the task type', queue: 'the queue', doc: 'the document', tag: 'one of its tags', parent: 'children of a task',
  schedule: 'made by a schedule', team: 'of a team', priority: 'critical, high, normal, low', after: 'created after a time', before: 'created before a time',
  external: 'the name of another protocol', id: 'an id or its beginning',
};
