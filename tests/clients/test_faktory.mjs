// tests/clients/test_faktory.mjs: the npm client of Faktory, worker and producer, against a real server. Speaks TAP.
//
// SPDX-License-Identifier: MIT
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';

import { START, main, test, waitFor } from './harness.mjs';

const faktory = createRequire(import.meta.url)(path.join(process.env.ERRAND_NPM, 'faktory-worker'));
const ARGS = ['--faktory', '127.0.0.1:0'];

const portOf = (s) => waitFor(() => /Faktory is spoken on \S+:(\d+)/.exec(s.said)?.[1], 'the listener');

async function clientOf(s, options = {}) {
  const client = new faktory.Client({ port: await portOf(s), host: '127.0.0.1', ...options });
  (s.closing ??= []).push(() => client.close());
  return client;
}

/** A worker that runs while `act` does; what goes wrong in it is kept. */
async function working(s, registry, act, options = {}) {
  const worker = new faktory.Worker({ port: await portOf(s), host: '127.0.0.1', registry, concurrency: 4, timeout: 2, ...options });
  const errors = [];
  worker.removeAllListeners('error');
  worker.on('error', (error) => errors.push(error));
  worker.on('fail', () => {});
  await worker.work();
  try {
    return await act(worker, errors);
  } finally {
    await worker.stop();
  }
}

const get = async (s, where) => (await fetch(s.url + where)).json();
const taskOf = async (s, jid) => (await get(s, `/api/tasks?externalId=${jid}`))[0];
const post = (s, where, body) => fetch(s.url + where, {
  method: 'POST', ...(body ? { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) } : {}),
});
const ends = (s, jid, state) => waitFor(async () => (await taskOf(s, jid))?.state === state, `${jid} to be ${state}`);

test('a job that was pushed is worked on, with its arguments', async (s) => {
  const client = await clientOf(s);
  const seen = [];
  await working(s, { add: async (a, b) => { seen.push([a, b]); } }, async () => {
    const jid = await client.job('add', 1, { b: [2] }).push();
    await ends(s, jid, 'COMPLETED');
    assert.deepEqual(seen, [[1, { b: [2] }]]);
  });
}, { args: ARGS });

test('a bulk of jobs is worked on once each, and the bad ones are told', async (s) => {
  const client = await clientOf(s);
  const seen = [];
  await working(s, { count: async (n) => { seen.push(n); } }, async () => {
    const jobs = Array.from({ length: 200 }, (_, n) => client.job('count', n));
    const bad = client.job('count', -1);
    bad.reserveFor = 100000;
    const rejected = await client.pushBulk([...jobs, bad]);
    assert.deepEqual(Object.values(rejected).map(({ reason }) => reason), ['jobs cannot be reserved for more than one day']);
    await waitFor(() => seen.length >= 200, 'all to be done');
    assert.deepEqual(seen.sort((a, b) => a - b), jobs.map((_, n) => n));
    const info = await waitFor(async () => {
      const { faktory: told } = await client.info();
      return told.total_processed === 200 && told;
    }, 'all to be counted');
    assert.deepEqual([info.total_failures, info.sets.working, info.total_enqueued], [0, 0, 0]);
  });
}, { args: ARGS });

test('queues are worked on in their order', async (s) => {
  const client = await clientOf(s);
  const seen = [];
  for (const queue of ['low', 'low', 'high']) {
    const job = client.job('see', queue);
    job.queue = queue;
    await job.push();
  }
  await working(s, { see: async (queue) => { seen.push(queue); } }, async () => {
    await waitFor(() => seen.length === 3, 'all to be done');
    assert.deepEqual(seen, ['high', 'low', 'low']);
  }, { queues: ['high', 'low'], concurrency: 1 });
}, { args: ARGS });

test('a job that fails is retried with what it failed of', async (s) => {
  const client = await clientOf(s);
  let calls = 0;
  const flaky = async () => {
    calls += 1;
    if (calls === 1) {
      throw Object.assign(new Error('not yet'), { code: 'E_LATER' });
    }
  };
  await working(s, { flaky }, async () => {
    const job = client.job('flaky');
    job.retry = 2;
    const jid = await job.push();
    await ends(s, jid, 'RETRYING');
    const { error } = await get(s, `/api/tasks/${(await taskOf(s, jid)).id}`);
    assert.deepEqual([error.code, error.message], ['E_LATER', 'not yet']);
    assert(Array.isArray(error.detail) && error.detail[0].includes('not yet'));
    await post(s, '/api/test/clock', { advanceMs: 45000 });
    await ends(s, jid, 'COMPLETED');
  });
}, { args: ARGS, clock: START });

test('a job for later waits for its time', async (s) => {
  const client = await clientOf(s);
  const job = client.job('later');
  job.at = new Date(Date.parse(START) + 3600000);
  const jid = await job.push();
  assert.equal((await taskOf(s, jid)).state, 'SCHEDULED');
  assert.equal((await client.info()).faktory.sets.scheduled, 1);
  await post(s, '/api/test/clock', { advanceMs: 3600000 });
  assert.equal((await client.fetch('default')).jid, jid);
  await client.ack(jid);
  assert.equal((await taskOf(s, jid)).state, 'COMPLETED');
}, { args: ARGS, clock: START });

test('jobs of one document never overlap, whoever works on them', async (s) => {
  const client = await clientOf(s);
  const open = [];
  let most = 0;
  const write = async () => {
    open.push(1);
    most = Math.max(most, open.length);
    await new Promise(setImmediate);
    open.pop();
  };
  for (let n = 0; n < 20; n += 1) {
    const job = client.job('write', n);
    job.custom = { document_id: 'd', priority: 'HIGH' };
    await job.push();
  }
  const other = (async () => { // a worker over HTTP beside it
    for (;;) {
      const { tasks } = await (await post(s, '/api/claim', { workerId: 'http', waitMs: 100 })).json();
      if (tasks.length > 0) {
        await write();
        await post(s, `/api/tasks/${tasks[0].id}/complete`, { lease: tasks[0].lease });
      } else if ((await get(s, '/api/tasks?state=COMPLETED')).length === 20) {
        return;
      }
    }
  })();
  await working(s, { write }, () => other);
  assert.equal(most, 1);
  assert.deepEqual([...new Set((await get(s, '/api/tasks')).map((t) => `${t.state} ${t.priority}`))], ['COMPLETED HIGH']);
}, { args: ARGS });

test('a worker is seen, goes quiet and stops when it is told to', async (s) => {
  await working(s, {}, async (worker) => {
    const mine = await waitFor(async () => (await get(s, '/api/workers')).workers.find((w) => w.id === worker.wid), 'it to be seen');
    assert.equal(mine.kind, 'remote');
    await post(s, `/api/workers/${worker.wid}/quiet`);
    await worker.beat();
    assert(worker.quieted);
    assert.equal(await worker.client.beat(), 'quiet');
    await post(s, `/api/workers/${worker.wid}/stop`);
    assert.equal(await worker.client.beat(), 'terminate');
  });
}, { args: ARGS });

test('sets are changed through mutations', async (s) => {
  const client = await clientOf(s);
  const jids = [];
  for (const kind of ['keep', 'kill', 'drop']) {
    const job = client.job(kind, { uid: 12345 });
    job.at = '2099-01-01T00:00:00Z';
    jids.push(await job.push());
  }
  await client.scheduled.ofType('kill').kill();
  await client.scheduled.ofType('drop').matching('*"uid":12345*').discard();
  await client.scheduled.withJids(jids[0]).requeue();
  assert.deepEqual(await Promise.all(jids.map(async (jid) => (await taskOf(s, jid)).state)), ['QUEUED', 'FAILED', 'CANCELLED']);
  await client.dead.clear();
  assert.equal((await client.info()).faktory.sets.dead, 0);
}, { args: ARGS });

const config = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'errand-faktory-')), 'errand.conf');
fs.writeFileSync(config, '[faktory]\npassword = sesame\n');

test('a password opens the door, and a wrong one does not', async (s) => {
  const client = await clientOf(s, { password: 'sesame' });
  await client.job('x').push();
  const stranger = await clientOf(s, { password: 'barley' });
  await assert.rejects(stranger.connect(), /Invalid password/);
}, { args: [...ARGS, '--config', config] });

await main();
