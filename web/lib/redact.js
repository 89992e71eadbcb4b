// web/lib/redact.js: secrets become dots before anything of a page sees them.
//
// The server names the keys; it hides them from role read itself, and gives others what was stored, because a task is run again with it. What
// came from outside stands in a few members of Errand's objects; names around them (a type, a document) are left alone, for links lead by them.
//
// SPDX-License-Identifier: MIT
export const DOTS = '•••';

const OUTSIDE = new Set(['payload', 'result', 'metadata', 'error', 'progress', 'log', 'lines', 'message', 'messages', 'prompt', 'description', 'purpose', 'content', 'body',
  'cancelReason', 'results', 'detail']);

let keys = new Set();
let inText = null;

/** As the header X-Errand-Redact lists them: lower case, comma separated. */
export function setKeys(text) {
  keys = new Set((text ?? '').split(',').map((key) => key.trim().toLowerCase()).filter(Boolean));
  const words = [...keys].map((key) => key.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|');
  inText = words === '' ? null
    : new RegExp(`(["']?)(?<![\\w])(${words})\\1(\\s*[:=]\\s*)("(?:[^"\\\\]|\\\\.)*"?|'(?:[^'\\\\]|\\\\.)*'?|(?:(?:Bearer|Basic|Digest|Token)\\s+)?[^\\s"'&]+)`, 'gi');
}

const hideInText = (text) => (inText === null ? text
  : text.replace(inText, (_, quote, key, between, value) => `${quote}${key}${quote}${between}${/^["']/.test(value) ? value[0] + DOTS + value[0] : DOTS}`));

const isPlain = (value) => value !== null && typeof value === 'object' && !JSON.isRawJSON?.(value);

/** What came from outside, with each secret replaced in any depth. */
function hide(value) {
  if (Array.isArray(value)) {
    return value.map(hide);
  }
  if (isPlain(value)) {
    return Object.fromEntries(Object.entries(value).map(([key, inside]) => [key, keys.has(key.toLowerCase()) ? DOTS : hide(inside)]));
  }
  return typeof value === 'string' ? hideInText(value) : value;
}

/** An answer or an event of the API, with what came from outside made clean. */
export function clean(answer) {
  if (Array.isArray(answer)) {
    return answer.map(clean);
  }
  if (!isPlain(answer)) {
    return answer;
  }
  return Object.fromEntries(Object.entries(answer).map(([name, value]) => [name, OUTSIDE.has(name) ? hide(value) : clean(value)]));
}

/** An edited value whose dots stand for what was stored at the same place: secrets that were not shown are not lost. */
export function undot(edited, stored) {
  if (edited === DOTS) {
    return stored ?? edited;
  }
  if (!isPlain(edited)) {
    return edited;
  }
  const inside = Object.entries(edited).map(([key, value]) => [key, undot(value, stored?.[key])]);
  return Array.isArray(edited) ? inside.map(([, value]) => value) : Object.fromEntries(inside);
}
