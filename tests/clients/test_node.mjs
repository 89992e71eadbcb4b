// tests/clients/test_node.mjs: the Node client and worker against a real server. Speaks TAP.
//
// SPDX-License-Identifier: MIT
import assert from 'node:assert/strict';
import { spawn, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { START, main, test, waitFor } from './harness.mjs';

const HERE = path.dirname(fileURLToPath(import.meta.url));
const SOURCE = path.join(HERE, '..', '..', 'clients', 'node');

const {
  ApiError, Cancelled, Client, LeaseLost, NotFound, Permanent, Refused, Release, Unavailable, WaitTimeout, Worker, order,
} = await import(path.join(SOURCE, 'index.js'));

function clientOf(server, options = {}) {
  const client = new Client({ url: server.url, ...options });
  (server.closing ??= []).push(() => client.close());
  return client;
}

const workerOf = (server, options = {}) => new Worker({ client: clientOf(server), claimWaitMs: 300, ...options });

/** The worker runs while `act` does. */
async function working(worker, act) {
  const running = worker.run({ signals: false });
  try {
    return await act();
  } finally {
    worker.stop();
    await running;
  }
}

async function all(iterator) {
  const found = [];
  for await (const each of iterator) {
    found.push(each);
  }
  return found;
}

// ---- The client ----

test('what was pushed is there with all that was said', async (s) => {
  const c = clientOf(s);
  const made = await c.push('work', { a: [1, null, 'ü'] }, {
    document: 'd', priority: 'HIGH', at: new Date('2099-01-01T00:00:00Z'), tags: ['x'], timeoutMs: 1500, maxRetries: 7, metadata: { m: 1 }, key: 'k',
  });
  const { payload, documentId, priority, tags, timeoutMs, maxRetries, metadata, idempotencyKey, state, scheduledAt } = await c.get(made.id);
  assert.deepEqual({ payload, documentId, priority, tags, timeoutMs, maxRetries, metadata, idempotencyKey, state, scheduledAt }, {
    payload: { a: [1, null, 'ü'] }, documentId: 'd', priority: 'HIGH', tags: ['x'], timeoutMs: 1500, maxRetries: 7, metadata: { m: 1 },
    idempotencyKey: 'k', state: 'SCHEDULED', scheduledAt: '2099-01-01T00:00:00.000Z',
  });
  assert.equal((await c.push('work', null, { key: 'k' })).id, made.id);
  assert.equal((await c.push('bytes', new Uint8Array([0, 255]))).payloadBase64, 'AP8=');
  assert(!('payload' in await c.push('none')));
});

test('a refusal says what the server said', async (s) => {
  const c = clientOf(s);
  await assert.rejects(c.push('work', 1, { priority: 'SOON' }), (problem) => problem instanceof ApiError &&
    problem.status === 400 && problem.code === 'invalid_argument' && problem.field === 'priority');
  await assert.rejects(c.get('01890000-0000-7000-8000-000000000000'), NotFound);
  const { id } = await c.push('work');
  await c.cancel(id, { reason: 'no longer needed' });
  assert.equal((await c.get(id)).cancelReason, 'no longer needed');
  await c.delete(id);
  await assert.rejects(c.retry(id), NotFound);
  assert.throws(() => new Client({ url: 'ftp://127.0.0.1' }), TypeError);
});

test('many are created together and listed page by page', async (s) => {
  const c = clientOf(s);
  const made = await c.pushMany(Array.from({ length: 450 }, (_, i) => order('many', i, i % 2 ? { tags: ['odd'] } : {})));
  assert.equal(made.length, 450);
  assert.deepEqual((await all(c.list({ taskType: 'many' }))).map((each) => each.payload), Array.from({ length: 450 }, (_, i) => 449 - i));
  assert.equal((await all(c.list({ tag: 'odd', state: ['QUEUED', 'RUNNING'] }))).length, 225);
  assert.equal((await all(c.list({ limit: 3 }))).length, 3);
  assert.deepEqual(await c.pushMany([]), []);
  await assert.rejects(c.pushMany([order('good'), order('')]), ApiError);
  assert.deepEqual(await all(c.list({ taskType: 'good' })), []);
});

test('one waits for an end, is told why there is none, and may stop waiting', async (s) => {
  const c = clientOf(s);
  assert.deepEqual((await c.wait((await c.push('echo', { x: 1 })).id, { timeoutMs: 60000 })).result, { x: 1 });
  const stuck = await c.push('nobody');
  assert.deepEqual((await c.why(stuck.id)).reasons.map((reason) => reason.code), ['no_worker']);
  await assert.rejects(c.wait(stuck.id, { timeoutMs: 50 }), WaitTimeout);
  const abort = new AbortController();
  const waiting = c.wait(stuck.id, { signal: abort.signal });
  abort.abort(new Error('enough'));
  await assert.rejects(waiting, /enough/);
});

test('a create that was carried out unanswered is not carried out again', async (s) => {
  let left = 2;
  const swallower = net.createServer((ours) => {
    const theirs = net.connect(s.port, '127.0.0.1');
    ours.on('error', () => {}).on('close', () => theirs.destroy()).pipe(theirs);
    theirs.on('error', () => {}).on('data', (answer) => { // it was carried out
      if (left > 0) {
        left -= 1;
        ours.destroy();
      } else {
        ours.write(answer);
      }
    });
  });
  await once(swallower.listen(0, '127.0.0.1'), 'listening');
  const c = clientOf(s, { url: `http://127.0.0.1:${swallower.address().port}` });
  const made = await c.push('once');
  assert.deepEqual([left, (await all(c.list({ taskType: 'once' }))).map((each) => each.id)], [0, [made.id]]);
  left = 1;
  await assert.rejects(c.schedule({ text: 'every day at 9', timezone: 'UTC' }), /may or may not/);
  c.close();
  swallower.close();
});

test('a create goes through a restart, and an absent server is said to be absent', async (s) => {
  const c = clientOf(s);
  await c.push('warm'); // a connection is open, and will break
  await s.end('SIGKILL');
  const pushing = c.push('lost', 1);
  await s.restart();
  await pushing;
  assert.equal((await all(c.list({ taskType: 'lost' }))).length, 1);
  await s.end('SIGKILL');
  await assert.rejects(clientOf(s, { patienceMs: 200 }).push('work'), Unavailable);
});

test('events go on behind a broken connection', async (s) => {
  const c = clientOf(s);
  const seen = new Set();
  const following = (async () => {
    for await (const { event, data } of c.events({ types: ['state'] })) {
      seen.add(`${event} ${data?.state}`);
      if (data?.state === 'CANCELLED') {
        return;
      }
    }
  })();
  let over = false;
  following.then(() => { over = true; });
  await waitFor(async () => await c.push('seen') && seen.has('state QUEUED'), 'the first event');
  await s.restart();
  await waitFor(async () => over || (await c.cancel((await c.push('seen')).id), false), 'an event after the restart');
  await following;
});

test('schedules are said, previewed and refused', async (s) => {
  const c = clientOf(s);
  const shown = await c.preview({ text: 'every friday at 4pm send the report', timezone: 'Europe/Paris', now: '2027-03-01T09:00:00Z' });
  assert.deepEqual([shown.next[0], shown.next.length], ['2027-03-05T15:00:00.000Z', 5]);
  const made = await c.schedule({ text: 'every friday at 4pm send the report', timezone: 'Europe/Paris', userId: 'ann' });
  assert.deepEqual((await c.schedules({ userId: 'ann' })).map((each) => each.id), [made.id]);
  await assert.rejects(c.schedule({ text: 'sometime soon call mom', timezone: 'UTC' }), (problem) => problem instanceof Refused && problem.refusal.reason !== '');
});

test('agents share a team', async (s) => {
  const c = clientOf(s);
  const team = await c.team('Write a page', {
    tasks: [{ id: 'a', title: 'Draft' }, { id: 'b', title: 'Check', dependsOn: ['a'] }], teammates: [{ role: 'writer', focus: 'text' }],
  });
  const task = await team.claim('ann', { waitMs: 10000 });
  assert.equal(task.title, 'Draft');
  assert.equal(await team.claim('bob'), null);
  await team.say('ann', 'done soon', { to: 'bob' });
  assert.deepEqual((await team.read('bob', { waitMs: 5000 })).map((message) => message.body), ['done soon']);
  await c.call('POST', `/api/tasks/${task.id}/complete`, { lease: task.lease, result: 'text' });
  assert.equal((await team.claim('bob', { waitMs: 10000 })).dependencies[0].result, 'text');
  await team.cancel();
  assert.equal((await team.get()).status, 'cancelled');
});

// ---- The worker ----

test('handlers end their tasks as they say', async (s) => {
  const [c, worker, told] = [clientOf(s), workerOf(s, { concurrency: 2 }), []];
  worker.on('error', (problem) => told.push(problem.message));
  worker.task('sum', (job) => {
    job.progress(50, 'half way');
    job.log('one', 'two');
    return job.payload.reduce((a, b) => a + b);
  });
  worker.task('bad', () => { throw new RangeError('no such thing'); });
  worker.task('worse', () => { throw new Permanent('never', { code: 'hopeless', detail: { why: 1 } }); });
  worker.task('later', () => { throw new Release({ delayMs: 3600000 }); });
  worker.task('odd', () => 1n);
  await working(worker, async () => {
    const done = await c.wait((await c.push('sum', [1, 2])).id);
    assert.deepEqual([done.state, done.result], ['COMPLETED', 3]);
    const [attempt] = (await c.get(done.id)).attempts;
    assert.deepEqual([attempt.log, attempt.workerId], [['one', 'two'], worker.name]);
    const failed = await c.wait((await c.push('bad', 1, { maxRetries: 0 })).id);
    assert.deepEqual([failed.error.code, failed.error.message], ['RangeError', 'no such thing']);
    const worse = await c.wait((await c.push('worse')).id);
    assert.deepEqual([worse.state, worse.error], ['FAILED', { code: 'hopeless', message: 'never', detail: { why: 1 } }]);
    const { id } = await c.push('later');
    await waitFor(async () => (await c.get(id)).state === 'SCHEDULED', 'the release');
    assert.equal((await c.get(id)).retries, 0);
    assert.equal((await c.wait((await c.push('odd')).id)).error.code, 'bad_result');
  });
  assert.deepEqual(told.slice(0, 2), ['no such thing', 'never']);
});

/** A client that remembers what was asked; `breakClaim` may break one claim that carries an end: before it is sent, or when it is
 *  answered. */
function recording(server, breakClaim) {
  const client = clientOf(server);
  const call = client.call.bind(client);
  client.asked = [];
  client.call = async (method, path, body, options) => {
    client.asked.push(path.split('/').pop() + (body?.finish ? '+finish' : ''));
    const how = client.asked.at(-1) === 'claim+finish' ? breakClaim : undefined;
    breakClaim = how === undefined ? breakClaim : undefined;
    if (how === 'unsent') {
      throw new Unavailable('the network is gone');
    }
    const answer = await call(method, path, body, options);
    if (how === 'unanswered') {
      throw new Unavailable('the answer is gone');
    }
    return how === 'busy' ? { ...answer, finished: [{ status: 503 }] } : answer;
  };
  return client;
}

test('in its rhythm a worker needs one request a task', async (s) => {
  const c = clientOf(s);
  const worker = new Worker({ client: recording(s), claimWaitMs: 300 }).task('t', (job) => job.payload);
  const made = await c.pushMany(Array.from({ length: 20 }, (_, n) => order('t', n)));
  await working(worker, async () => {
    for (const [n, task] of made.entries()) {
      const done = await c.wait(task.id);
      assert.deepEqual([done.state, done.result], ['COMPLETED', n]);
    }
  });
  assert.deepEqual(worker.client.asked.slice(0, 21), ['claim', ...Array(20).fill('claim+finish')]);
  assert(!worker.client.asked.includes('complete'));
});

test('an end whose claim failed is told by itself', async (s) => {
  const c = clientOf(s);
  for (const how of ['unsent', 'unanswered', 'busy']) {
    let ran = 0;
    const worker = new Worker({ client: recording(s, how), claimWaitMs: 100 }).task('t', () => { ran += 1; return 'kept'; });
    await working(worker, async () => {
      const done = await c.wait((await c.push('t')).id);
      assert.deepEqual([done.state, done.result, done.attempt], ['COMPLETED', 'kept', 1]);
      await waitFor(() => worker.client.asked.includes('complete'), 'the end by itself');
    });
    assert.equal(ran, 1);
  }
});

test('an end that comes too late is reported with its claim', async (s) => {
  const [c, told] = [clientOf(s), []];
  const worker = new Worker({ client: recording(s), claimWaitMs: 100, leaseMs: 30000 });
  worker.on('error', (problem) => told.push(problem.constructor));
  worker.task('t', async () => {
    await c.call('POST', '/api/test/clock', { advanceMs: 31000 }); // its lease ends meanwhile
    return 1;
  });
  await working(worker, async () => {
    const { id } = await c.push('t', 1, { maxRetries: 0 });
    await waitFor(() => told.length > 0, 'the report');
    assert.equal((await c.get(id)).state, 'FAILED');
  });
  assert.deepEqual(told, [LeaseLost]);
}, { clock: START });

test('a cancel aborts the signal of the handler', async (s) => {
  const [c, worker, seen] = [clientOf(s), workerOf(s, { leaseMs: 3000 }), []];
  worker.task('long', async (job) => {
    seen.push('began');
    await once(job.signal, 'abort');
    seen.push(job.signal.reason instanceof Cancelled);
    job.check();
  });
  await working(worker, async () => {
    const { id } = await c.push('long');
    await waitFor(() => seen.length > 0, 'its start');
    await c.cancel(id);
    assert.equal((await c.wait(id)).state, 'CANCELLED');
    await waitFor(() => seen.length === 2, 'the end of the handler');
  });
  assert.deepEqual(seen, ['began', true]);
});

test('heartbeats keep a lease that is shorter than the work', async (s) => {
  const [c, worker] = [clientOf(s), workerOf(s, { leaseMs: 1000 })];
  let go;
  const gate = new Promise((resolve) => { go = resolve; });
  worker.task('long', async (job) => { await gate; return job.attempt; });
  await working(worker, async () => {
    const { id } = await c.push('long');
    await waitFor(async () => (await c.get(id)).state === 'RUNNING', 'its start');
    for (let round = 0, last = (await c.get(id)).leaseExpiresAt; round < 3; round += 1) {
      last = await waitFor(async () => { const at = (await c.get(id)).leaseExpiresAt; return at > last && at; }, 'a renewal');
    }
    go();
    assert.equal((await c.wait(id)).result, 1);
  });
});

test('a lost lease is an exception and changes nothing', async (s) => {
  const [c, worker, told] = [clientOf(s), workerOf(s), []];
  let go;
  const gate = new Promise((resolve) => { go = resolve; });
  worker.on('error', (problem) => told.push(problem.constructor));
  worker.task('work', async (job) => {
    await gate;
    await job.heartbeat().catch((problem) => { told.push(problem.code); throw problem; });
    return 'too late';
  });
  await working(worker, async () => {
    const { id } = await c.push('work', 1, { maxRetries: 0 });
    await waitFor(async () => (await c.get(id)).state === 'RUNNING', 'its start');
    await c.call('POST', '/api/test/clock', { advanceMs: 61000 }); // the lease is over, the worker knows nothing of it
    assert.equal((await c.get(id)).state, 'FAILED');
    go();
    await waitFor(() => told.length === 2, 'that it was told');
    assert.deepEqual(told, ['lease_lost', LeaseLost]);
    assert(!('result' in await c.get(id)));
  });
}, { clock: START });

const SLOW = `
  import { once } from 'node:events';
  const { Worker } = await import(process.argv[1]);
  const worker = new Worker({ leaseMs: Number(process.argv[2]), graceMs: 60000, claimWaitMs: 300 });
  worker.task('slow', async (job) => {
    console.log('began', job.attempt);
    if (job.attempt === 1) await Promise.race([once(job.signal, 'abort'), process.argv[3] === 'ends' ? once(process, 'SIGTERM') : new Promise(() => {})]);
    job.check();
    return job.attempt;
  });
  await worker.run();
  worker.client.close();
  console.log('drained');
`;

function program(s, leaseMs, how) {
  const child = spawn(process.execPath, ['--input-type=module', '-e', SLOW, path.join(SOURCE, 'index.js'), String(leaseMs), how],
    { stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, ERRAND_URL: s.url } });
  child.said = '';
  child.stdout.on('data', (chunk) => { child.said += chunk; });
  return child;
}

test('SIGTERM lets what runs finish', async (s) => {
  const c = clientOf(s);
  const { id } = await c.push('slow');
  const child = program(s, 60000, 'ends');
  await waitFor(() => child.said === 'began 1\n', 'its start');
  child.kill('SIGTERM');
  const [status] = await once(child, 'exit');
  assert.deepEqual([status, child.said], [0, 'began 1\ndrained\n']);
  assert.equal((await c.get(id)).result, 1);
});

test('an idle worker ends at once', async (s) => {
  const c = clientOf(s);
  const waiting = async () => (await c.call('GET', '/api/stats')).waitingClaims;
  const worker = workerOf(s, { claimWaitMs: 60000 }).task('work', () => {});
  const running = worker.run({ signals: false });
  await waitFor(async () => await waiting() === 1, 'a claim that waits');
  worker.stop();
  let ended = false;
  running.then(() => { ended = true; });
  await waitFor(() => ended, 'its end'); // within half of what its claim would wait
  await waitFor(async () => await waiting() === 0, 'that the claim waits no more');
  const { state, attempt } = await c.get((await c.push('work')).id);
  assert.deepEqual([state, attempt], ['QUEUED', 0]);
}, { args: ['--workers', '0'] });

test('what a claim brings when the worker ends is given back', async () => {
  const asked = [];
  const server = net.createServer({ allowHalfOpen: true }, (socket) => {
    const answer = (body) => socket.end(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`);
    socket.setEncoding('utf8').once('data', (text) => {
      asked.push(text.split(' ')[1]);
      if (asked.length === 1) { // answered when the worker has hung up, and listens
        socket.once('end', () => answer('{"tasks":[{"id":"1","taskType":"work","attempt":1,"lease":"1.x"}]}'));
      } else {
        answer('{}');
      }
    });
  });
  await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  const client = new Client({ url: `http://127.0.0.1:${server.address().port}` });
  const worker = new Worker({ client, claimWaitMs: 60000 }).task('work', () => assert.fail('it must not run'));
  const running = worker.run({ signals: false });
  await waitFor(() => asked.length === 1, 'the claim');
  worker.stop();
  await running;
  client.close();
  server.close();
  assert.deepEqual(asked, ['/api/claim', '/api/tasks/1/release']);
});

test('a second SIGTERM gives the task back', async (s) => {
  const c = clientOf(s);
  const { id } = await c.push('slow');
  const child = program(s, 60000, 'stays');
  await waitFor(() => child.said === 'began 1\n', 'its start');
  await waitFor(() => child.exitCode !== null || child.signalCode !== null || (child.kill('SIGTERM'), false), 'its end');
  const task = await c.get(id);
  assert.deepEqual([task.state, task.retries, task.attempts[0].outcome], ['QUEUED', 0, 'RELEASED']);
});

test('a killed worker loses nothing', async (s) => {
  const c = clientOf(s);
  const { id } = await c.push('slow');
  const child = program(s, 5000, 'stays');
  await waitFor(() => child.said === 'began 1\n', 'its start');
  child.kill('SIGKILL');
  await once(child, 'exit');
  await c.call('POST', '/api/test/clock', { advanceMs: 60000 });
  assert.equal((await c.get(id)).state, 'QUEUED');
  const again = program(s, 60000, 'stays');
  assert.equal((await c.wait(id)).result, 2);
  again.kill('SIGTERM');
  await once(again, 'exit');
}, { clock: START });

test('a worker outlives its server', async (s) => {
  const [c, worker, ran] = [clientOf(s), workerOf(s), []];
  let go;
  const gate = new Promise((resolve) => { go = resolve; });
  worker.task('work', async (job) => { ran.push(job.payload); await gate; return job.payload; });
  await working(worker, async () => {
    const first = await c.push('work', 1);
    await waitFor(() => ran.length === 1, 'its start');
    await s.end('SIGKILL');
    go(); // it ends while nobody listens, and is told once somebody does
    await s.restart();
    assert.equal((await c.wait(first.id)).result, 1);
    assert.equal((await c.wait((await c.push('work', 2)).id)).result, 2);
    assert.deepEqual(ran, [1, 2]);
  });
});

// ---- What would be published ----

test('the package holds what it needs, and its example runs', async (s) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'errand-pack-'));
  const packed = JSON.parse(execFileSync('npm', ['pack', '--json', '--offline', '--pack-destination', folder], { cwd: SOURCE, encoding: 'utf8' }));
  assert.deepEqual(packed[0].files.map((file) => file.path).sort(),
    ['CHANGELOG.md', 'README.md', 'client.js', 'errors.js', 'index.d.ts', 'index.js', 'package.json', 'transport.js', 'worker.js']);
  fs.mkdirSync(path.join(folder, 'node_modules', 'errand'), { recursive: true });
  execFileSync('tar', ['-xzf', path.join(folder, packed[0].filename), '-C', path.join(folder, 'node_modules', 'errand'), '--strip-components=1']);
  fs.copyFileSync(path.join(SOURCE, 'examples', 'thumbnails.mjs'), path.join(folder, 'thumbnails.mjs'));
  const child = spawn(process.execPath, ['thumbnails.mjs'], { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, ERRAND_URL: s.url } });
  let said = '';
  child.stdout.on('data', (chunk) => { said += chunk; });
  await once(child, 'exit');
  assert.equal(said, 'cat.png COMPLETED cat-64.png\ndog.png COMPLETED dog-64.png\nnotes.txt FAILED notes.txt is no picture\n');
  fs.rmSync(folder, { recursive: true, force: true });
});

await main();
