// web/pages/workers.js: who is at work, and on which nodes.
//
// SPDX-License-Identifier: MIT
import { ROWS_MAX, escaped, get, may, post } from '../lib/api.js';
import { attempt, confirm } from '../lib/dialog.js';
import { button, h, keep, nothing, number, panel, plural, put } from '../lib/dom.js';
import { refreshNow } from '../lib/live.js';
import { taskLink } from '../lib/states.js';
import { Table } from '../lib/table.js';
import { when } from '../lib/time.js';

export const title = 'Workers';

const LOOK_EVERY_MS = 1500;
const TASKS_SHOWN = 3;
const ASKED = { quiet: 'claims no more', stop: 'asked to stop' };

async function signal(worker, verb, done, question) {
  if (!question || await confirm({ title: `Stop ${worker.id}?`, text: question, action: 'Stop' })) {
    await attempt(() => post(`/api/workers/${escaped(worker.id)}/${verb}`), done);
    refreshNow();
  }
}

/** Only workers outside can be asked for something: those inside follow the server. */
function actions(worker) {
  if (worker.kind !== 'remote' || !may('admin')) {
    return '';
  }
  return h('div', { class: 'actions' }, worker.signal ? button('Resume', () => signal(worker, 'resume', 'It may claim again.'), { class: 'small' })
    : [button('Quiet', () => signal(worker, 'quiet', 'It will claim no more.'), { class: 'small' }),
      button('Stop', () => signal(worker, 'stop', 'It was asked to stop.', 'It ends, and gives back what it does not finish in time.'), { class: 'small' })]);
}

export async function open(page) {
  const said = h('p', { class: 'soft' });
  const workerTable = new Table({
    label: 'Workers',
    holds: true,
    noun: 'worker',
    columns: [
      { name: 'Worker', header: true, cell: (worker) => worker.id },
      { name: 'State', class: 'tight', cell: (worker) => [h('span', { class: `state is-${worker.state}` }, worker.state), worker.signal && h('span', { class: 'soft' }, ` ${ASKED[worker.signal]}`)] },
      { name: 'Kind', level: 2, class: 'tight', cell: (worker) => worker.kind },
      { name: 'Tasks', cell: (worker) => [worker.taskIds.slice(0, TASKS_SHOWN).map((id) => [taskLink(id), ' ']), worker.taskIds.length > TASKS_SHOWN && `and ${number(worker.taskIds.length - TASKS_SHOWN)} more`] },
      { name: 'Node', level: 3, cell: (worker) => worker.node },
      { name: 'Seen', level: 2, class: 'tight', cell: (worker) => when(worker.lastSeenAt) },
      may('admin') && { name: 'Actions', level: 2, class: 'tight', cell: actions },
    ].filter(Boolean),
    empty: nothing('No worker was seen lately.', 'Start one: ', h('code', {}, `errand work --type echo --url ${location.origin} -- cat`)),
  });
  const nodeTable = new Table({
    label: 'Nodes',
    columns: [
      { name: 'Node', header: true, cell: (node) => [node.id, node.leader && h('span', { class: 'tag' }, 'leader')] },
      { name: 'Store', class: 'tight', cell: (node) => h('span', { class: `state is-${node.store}` }, node.store) },
      { name: 'Broker', class: 'tight', cell: (node) => h('span', { class: `state is-${node.broker === 'degraded' ? 'degraded' : 'ok'}` }, node.broker) },
      { name: 'Address', level: 2, cell: (node) => node.address },
      { name: 'Running', class: 'number', cell: (node) => number(node.running) },
      { name: 'Version', level: 3, cell: (node) => node.version },
      { name: 'Clock', level: 3, class: 'number', cell: (node) => (node.clockOffsetMs === undefined ? '' : `${node.clockOffsetMs} ms`) },
      { name: 'Started', level: 2, class: 'tight', cell: (node) => when(node.startedAt) },
    ],
  });

  async function refresh(force = false) {
    const [{ workers }, { nodes }] = await Promise.all(['/api/workers', '/api/nodes'].map((path) => get(path, page.signal)));
    workers.sort((a, b) => a.id.localeCompare(b.id, 'en', { numeric: true }));
    workerTable.update(workers.slice(0, ROWS_MAX), { force: force === true });
    nodeTable.update(nodes);
    const busy = workers.filter((worker) => worker.state === 'busy').length;
    keep(said, `${plural(busy, 'worker')} busy, ${number(workers.length - busy)} idle${workers.length > ROWS_MAX ? `; the first ${ROWS_MAX} are shown` : ''}.`);
  }

  put(page.main, page.heading(title), panel('At work', said, workerTable.element), panel('Nodes', nodeTable.element));
  await refresh();
  page.follow('/api/events?types=leader', ['leader'], refresh);
  page.every(LOOK_EVERY_MS, () => refresh().catch(() => {}));
}
