// tests/clients/test_cloudtasks.mjs: Google's client for Cloud Tasks, unmodified, against a real server and a real target.
//
// SPDX-License-Identifier: MIT
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';

import { main, START, test, waitFor } from './harness.mjs';

const require = createRequire(path.join(process.env.ERRAND_NPM, 'tests.js'));
const { CloudTasksClient } = require('@google-cloud/tasks');
const { OAuth2Client, PassThroughClient } = require('google-auth-library');

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'errand-cloudtasks-'));
process.on('exit', () => fs.rmSync(folder, { recursive: true, force: true }));

/** A configuration file: tasks may be sent to this machine. */
function config(name, more = '') {
  const file = path.join(folder, `${name}.conf`);
  fs.writeFileSync(file, `[push]\nallow_private = true\n${more}`);
  return ['--config', file];
}
const OPEN = { args: config('open') };
const CLOCK = { args: config('clock'), clock: START };
const GOOGLE = { args: config('google', '[cloudtasks]\ngoogle_limits = true\n'), clock: START };

const P = 'my-project';
const L = 'us-west1';

function clientOf(s, auth = { authClient: new PassThroughClient() }) {
  const client = new CloudTasksClient({ fallback: 'rest', apiEndpoint: '127.0.0.1', port: s.port, protocol: 'http', projectId: P, ...auth });
  (s.closing ??= []).push(() => client.close());
  return client;
}

/** Where tasks go: keeps what came, and answers with the statuses it was given, then 200. */
async function targetOf(s, statuses = [], act = () => {}) {
  const target = { requests: [] };
  const server = http.createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) {
      chunks.push(chunk);
    }
    const came = { method: request.method, url: request.url, headers: request.headers, raw: request.rawHeaders, body: Buffer.concat(chunks) };
    target.requests.push(came);
    await act(came);
    response.writeHead(statuses.shift() ?? 200);
    response.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  (s.closing ??= []).push(() => { server.closeAllConnections(); server.close(); });
  target.url = `http://127.0.0.1:${server.address().port}`;
  return target;
}

async function queueOf(client, settings = {}, id = 'q') {
  const name = client.queuePath(P, L, id);
  await client.createQueue({ parent: client.locationPath(P, L), queue: { name, ...settings } });
  return name;
}

const api = async (s, method, where, body) => {
  const answer = await fetch(`${s.url}${where}`, { method, headers: { 'content-type': 'application/json' }, ...(body ? { body: JSON.stringify(body) } : {}) });
  return answer.json();
};
const wind = (s, ms) => api(s, 'POST', '/api/test/clock', { advanceMs: ms });
const seconds = (timestamp) => Number(timestamp.seconds);
const code = (expected, text) => (problem) => {
  assert.equal(problem.code, expected, `${problem.code}: ${problem.message}`);
  assert(text === undefined || problem.message.includes(text), problem.message);
  return true;
};

test('a queue is made, changed, paused, listed and deleted', async (s) => {
  const client = clientOf(s);
  const name = await queueOf(client, { rateLimits: { maxConcurrentDispatches: 7 } });
  const [queue] = await client.getQueue({ name });
  assert.equal(queue.state, 'RUNNING');
  assert.equal(queue.rateLimits.maxDispatchesPerSecond, 500);
  assert.equal(queue.rateLimits.maxConcurrentDispatches, 7);
  assert.equal(queue.retryConfig.maxAttempts, 100);
  assert.equal(queue.retryConfig.minBackoff.nanos, 100000000);
  assert.equal(seconds(queue.retryConfig.maxBackoff), 3600);
  await assert.rejects(queueOf(client), code(409, 'Queue already exists'));

  const [changed] = await client.updateQueue({
    queue: { name, retryConfig: { maxAttempts: 3, minBackoff: { seconds: 1, nanos: 500000000 } } },
    updateMask: { paths: ['retry_config.max_attempts', 'retryConfig.minBackoff'] },
  });
  assert.equal(changed.retryConfig.maxAttempts, 3);
  assert.deepEqual([seconds(changed.retryConfig.minBackoff), changed.retryConfig.minBackoff.nanos], [1, 500000000]);
  assert.equal(changed.rateLimits.maxConcurrentDispatches, 7);
  const [back] = await client.updateQueue({ queue: { name }, updateMask: { paths: ['retry_config.max_attempts'] } });
  assert.equal(back.retryConfig.maxAttempts, 100);

  assert.equal((await client.pauseQueue({ name }))[0].state, 'PAUSED');
  assert.equal((await client.resumeQueue({ name }))[0].state, 'RUNNING');
  for (const id of ['b', 'a']) {
    await queueOf(client, {}, id);
  }
  const [all] = await client.listQueues({ parent: client.locationPath(P, L), pageSize: 2 });
  assert.deepEqual(all.map((one) => one.name.split('/').at(-1)), ['a', 'b', 'q']);
  const places = [];
  for await (const place of client.listLocationsAsync({ name: `projects/${P}` })) {
    places.push(place.locationId);
  }
  assert.deepEqual(places, [L]);
  await client.deleteQueue({ name });
  await assert.rejects(client.getQueue({ name }), code(404, 'Queue does not exist.'));
  await assert.rejects(client.getIamPolicy({ resource: name }), code(501));
}, OPEN);

test('a task arrives as it was said, with the headers of Cloud Tasks', async (s) => {
  const client = clientOf(s);
  const target = await targetOf(s);
  const parent = await queueOf(client);
  const body = Buffer.from(JSON.stringify({ hello: 'wörld' }));
  const [task] = await client.createTask({
    parent,
    task: { httpRequest: { url: `${target.url}/tasks/../a?x=1&y=%20`, httpMethod: 'PUT', body: body.toString('base64'), headers: { 'Content-Type': 'application/json', 'X-Mine': 'yes' } } },
  });
  assert.equal(task.httpRequest.httpMethod, 'PUT');
  assert.equal(task.view, 'BASIC');
  await waitFor(() => target.requests.length > 0, 'the request');
  const [came] = target.requests;
  assert.equal(came.method, 'PUT');
  assert.equal(came.url, '/tasks/../a?x=1&y=%20');
  assert.deepEqual(came.body, body);
  assert.equal(came.headers['content-type'], 'application/json');
  assert.equal(came.headers['x-mine'], 'yes');
  assert.equal(came.headers['user-agent'], 'Google-Cloud-Tasks');
  assert.equal(came.headers['x-cloudtasks-queuename'], 'q');
  assert.equal(came.headers['x-cloudtasks-taskname'], task.name.split('/').at(-1));
  assert.equal(came.headers['x-cloudtasks-taskretrycount'], '0');
  assert.equal(came.headers['x-cloudtasks-taskexecutioncount'], '0');
  assert.match(came.headers['x-cloudtasks-tasketa'], /^\d+\.\d{6}$/);
  assert(!('x-cloudtasks-taskpreviousresponse' in came.headers));
  await waitFor(async () => (await api(s, 'GET', '/api/tasks?state=COMPLETED')).length === 1, 'its end');
  await assert.rejects(client.getTask({ name: task.name }), code(404, 'existed recently'));
}, OPEN);

test('every method is sent, a body only where there is one, and no type is invented', async (s) => {
  const client = clientOf(s);
  const target = await targetOf(s);
  const parent = await queueOf(client);
  const methods = ['POST', 'GET', 'HEAD', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'];
  for (const httpMethod of methods) {
    await client.createTask({ parent, task: { httpRequest: { url: `${target.url}/${httpMethod}`, httpMethod, headers: { Empty: '', Host: 'elsewhere', 'X-CloudTasks-TaskName': 'forged' } } } });
  }
  await waitFor(() => target.requests.length === methods.length, 'all of them');
  for (const came of target.requests) {
    assert.equal(came.url, `/${came.method}`);
    assert(!('content-type' in came.headers), came.method);
    assert.equal(came.headers['content-length'], ['POST', 'PUT', 'PATCH'].includes(came.method) ? '0' : undefined);
    assert.equal(came.headers.empty, '');
    assert.equal(`http://${came.headers.host}`, target.url);
    assert.notEqual(came.headers['x-cloudtasks-taskname'], 'forged');
  }
}, OPEN);

test('failures are retried by the queue, and the receiver is told of them', async (s) => {
  const client = clientOf(s);
  const target = await targetOf(s, [500, 404, 302]);
  const parent = await queueOf(client, { retryConfig: { minBackoff: { seconds: 10 }, maxBackoff: { seconds: 300 }, maxDoublings: 3 } });
  const [{ name }] = await client.createTask({ parent, task: { httpRequest: { url: target.url } } });
  const told = [];
  for (const [at, wait] of [10, 20, 40].entries()) {
    await waitFor(async () => (await client.getTask({ name }))[0].lastAttempt?.responseTime && target.requests.length === at + 1, `attempt ${at + 1}`);
    const [task] = await client.getTask({ name });
    told.push(task.lastAttempt.responseStatus.message);
    assert.equal(task.dispatchCount, at + 1);
    assert.equal(task.responseCount, at + 1);
    assert.equal(seconds(task.scheduleTime) - seconds(task.lastAttempt.responseTime), wait);
    await wind(s, wait * 1000);
  }
  assert.deepEqual(told, ['INTERNAL(13): HTTP status code 500', 'NOT_FOUND(5): HTTP status code 404', 'UNKNOWN(2): HTTP status code 302']);
  await waitFor(() => target.requests.length === 4, 'the last attempt');
  assert.deepEqual(target.requests.map(({ headers }) => [headers['x-cloudtasks-taskretrycount'], headers['x-cloudtasks-taskexecutioncount'], headers['x-cloudtasks-taskpreviousresponse']]),
    [['0', '0', undefined], ['1', '0', '500'], ['2', '1', '404'], ['3', '2', '302']]);
  const etas = target.requests.map(({ headers }) => Number(headers['x-cloudtasks-tasketa']) - Date.parse(START) / 1000);
  assert.deepEqual(etas, [0, 10, 30, 70]);
}, CLOCK);

test('a task that is not answered is tried again, and given up after its attempts', async (s) => {
  const client = clientOf(s);
  const parent = await queueOf(client, { retryConfig: { maxAttempts: 2 } });
  const [{ name }] = await client.createTask({ parent, task: { httpRequest: { url: 'http://127.0.0.1:1/' } } });
  const failed = await waitFor(async () => (await api(s, 'GET', '/api/tasks?state=FAILED'))[0], 'its end');
  assert.equal(failed.externalId, name);
  assert.equal(failed.attempt, 2);
  assert.equal(failed.error.code, 'unreachable');
  await assert.rejects(client.getTask({ name }), code(404));
}, OPEN);

test('a task set 45 days ahead arrives on its day', async (s) => {
  const client = clientOf(s);
  const target = await targetOf(s);
  const parent = await queueOf(client);
  const day = 45 * 86400;
  const [task] = await client.createTask({ parent, task: { httpRequest: { url: target.url }, scheduleTime: { seconds: Date.parse(START) / 1000 + day } } });
  assert.equal(seconds(task.scheduleTime), Date.parse(START) / 1000 + day);
  await wind(s, day * 1000 - 1);
  assert.equal(target.requests.length, 0);
  assert.equal((await client.getTask({ name: task.name }))[0].dispatchCount, 0);
  await wind(s, 1);
  await waitFor(() => target.requests.length === 1, 'the request');
  assert.equal(target.requests[0].headers['x-cloudtasks-tasketa'], `${Date.parse(START) / 1000 + day}.000000`);
}, CLOCK);

// The assistant of the seed documents: whatever lies further ahead than Google allows is reached by a chain of wake-ups, each a
// named task that plans the next one. Its program knows nothing but the client and the server's clock.
test('a chain of wake-up calls reaches a day beyond the horizon, under Google\'s limits', async (s) => {
  const HORIZON_MS = 30 * 24 * 60 * 60 * 1000;
  const client = clientOf(s);
  let now = Date.parse(START);
  const schedule = { id: 'birthday', nextExecutionTime: now + 75 * 24 * 60 * 60 * 1000, executions: [] };
  const target = await targetOf(s, [], async (came) => {
    const input = JSON.parse(came.body);
    assert.equal(came.headers['x-merlin-version'], 'merlin-web');
    now = Math.max(now, Number(came.headers['x-cloudtasks-tasketa']) * 1000);
    schedule.executions.push([input.isAWakeUpCall, new Date(now).toISOString()]);
    if (input.isAWakeUpCall) {
      await plan();
    }
  });
  const parent = await queueOf(client, {}, 'merlin-tasks');
  async function plan() {
    const isAWakeUpCall = schedule.nextExecutionTime - now > HORIZON_MS;
    const at = isAWakeUpCall ? now + HORIZON_MS : schedule.nextExecutionTime;
    const [task] = await client.createTask({
      parent,
      task: {
        name: `${parent}/tasks/${schedule.id}-${schedule.executions.length}`,
        httpRequest: {
          httpMethod: 'POST', url: `${target.url}/v1/tasks/execute`,
          body: Buffer.from(JSON.stringify({ taskId: schedule.id, isAWakeUpCall })).toString('base64'),
          headers: { 'Content-Type': 'application/json', 'x-merlin-version': 'merlin-web' },
        },
        scheduleTime: { seconds: at / 1000 },
      },
    });
    schedule.currentCloudTaskId = task.name;
  }
  await assert.rejects(client.createTask({ parent, task: { httpRequest: { url: target.url }, scheduleTime: { seconds: schedule.nextExecutionTime / 1000 } } }),
    code(400, 'Schedule time must be no more than 720h in the future.'));
  await plan();
  for (let steps = 0; schedule.executions.length < 3; steps += 1) {
    assert(steps < 10, JSON.stringify(schedule.executions));
    const done = schedule.executions.length;
    await wind(s, 15 * 24 * 60 * 60 * 1000);
    await waitFor(async () => schedule.executions.length > done || (await client.listTasks({ parent }))[0].every((task) => task.dispatchCount === 0), 'rest');
  }
  assert.deepEqual(schedule.executions, [[true, '2027-03-31T09:00:00.000Z'], [true, '2027-04-30T09:00:00.000Z'], [false, '2027-05-15T09:00:00.000Z']]);
  await assert.rejects(client.getTask({ name: schedule.currentCloudTaskId }), code(404));
}, GOOGLE);

test('a name is used once, also after its task is done', async (s) => {
  const client = clientOf(s);
  const target = await targetOf(s);
  const parent = await queueOf(client);
  const task = { name: `${parent}/tasks/once_1`, httpRequest: { url: target.url } };
  await client.createTask({ parent, task });
  await waitFor(async () => (await api(s, 'GET', '/api/tasks?state=COMPLETED')).length === 1, 'its end');
  await assert.rejects(client.createTask({ parent, task }), code(409, 'Requested entity already exists'));
  await wind(s, 24 * 60 * 60 * 1000);
  await client.createTask({ parent, task });
  await waitFor(() => target.requests.length === 2, 'the second one');
}, CLOCK);

test('a paused queue holds its tasks; one can be run all the same', async (s) => {
  const client = clientOf(s);
  const target = await targetOf(s, [503]);
  const parent = await queueOf(client, { retryConfig: { minBackoff: { seconds: 60 } } });
  await client.pauseQueue({ name: parent });
  const [later] = await client.createTask({ parent, task: { httpRequest: { url: `${target.url}/later` }, scheduleTime: { seconds: Date.parse(START) / 1000 + 3600 } } });
  await client.createTask({ parent, task: { httpRequest: { url: `${target.url}/held` } } });
  const [run] = await client.runTask({ name: later.name, responseView: 'FULL' });
  assert.equal(run.view, 'FULL');
  assert.equal(seconds(run.scheduleTime), Date.parse(START) / 1000);
  await waitFor(async () => (await client.getTask({ name: later.name }))[0].lastAttempt?.responseTime, 'its answer');
  const [failed] = await client.getTask({ name: later.name });
  assert.equal(seconds(failed.scheduleTime), Date.parse(START) / 1000 + 60);
  await wind(s, 7200 * 1000);
  assert.deepEqual(target.requests.map(({ url }) => url), ['/later']);
  await client.runTask({ name: later.name });
  await waitFor(() => target.requests.length === 2, 'the second run');
  await client.resumeQueue({ name: parent });
  await waitFor(() => target.requests.length === 3, 'what was held');
  assert.equal(target.requests[2].url, '/held');
}, CLOCK);

test('tasks are listed, deleted and purged', async (s) => {
  const client = clientOf(s);
  const parent = await queueOf(client);
  const scheduleTime = { seconds: Math.floor(Date.now() / 1000) + 86400 };
  for (let i = 0; i < 5; i += 1) {
    await client.createTask({ parent, task: { name: `${parent}/tasks/t${i}`, httpRequest: { url: 'https://example.com/', body: Buffer.from(`${i}`).toString('base64') }, scheduleTime } });
  }
  const [listed] = await client.listTasks({ parent, pageSize: 2, responseView: 'FULL' });
  assert.deepEqual(listed.map((task) => task.name.split('/').at(-1)).sort(), ['t0', 't1', 't2', 't3', 't4']);
  assert(listed.every((task) => Buffer.from(task.httpRequest.body, 'base64').toString() === task.name.at(-1)));
  await client.deleteTask({ name: listed[0].name });
  await assert.rejects(client.deleteTask({ name: listed[0].name }), code(404));
  const [purged] = await client.purgeQueue({ name: parent });
  assert(purged.purgeTime);
  assert.deepEqual((await client.listTasks({ parent }))[0], []);
  const states = (await api(s, 'GET', '/api/tasks')).map((task) => [task.state, task.cancelReason]);
  assert.deepEqual(states.sort(), [['CANCELLED', 'deleted'], ['CANCELLED', 'purged'], ['CANCELLED', 'purged'], ['CANCELLED', 'purged'], ['CANCELLED', 'purged']]);
}, OPEN);

test('rates and numbers at once are held', async (s) => {
  const client = clientOf(s);
  let open = 0;
  let most = 0;
  let letGo;
  const gate = new Promise((resolve) => { letGo = resolve; });
  const target = await targetOf(s, [], async () => {
    open += 1;
    most = Math.max(most, open);
    await gate;
    open -= 1;
  });
  const parent = await queueOf(client, { rateLimits: { maxConcurrentDispatches: 2 } });
  for (let i = 0; i < 6; i += 1) {
    await client.createTask({ parent, task: { httpRequest: { url: target.url } } });
  }
  await waitFor(() => open === 2, 'two at once');
  const [waiting] = (await api(s, 'GET', '/api/tasks?state=QUEUED'));
  const why = await api(s, 'GET', `/api/tasks/${waiting.id}/why`);
  assert.equal(why.reasons[0].code, 'queue_limit');
  await client.updateQueue({ queue: { name: parent, rateLimits: { maxConcurrentDispatches: 3 } }, updateMask: { paths: ['rate_limits.max_concurrent_dispatches'] } });
  await waitFor(() => open === 3, 'three at once');
  letGo();
  await waitFor(() => target.requests.length === 6, 'all of them');
  assert.equal(most, 3);
}, OPEN);

test('wrong requests are told what is wrong', async (s) => {
  const client = clientOf(s);
  const parent = await queueOf(client);
  const refused = async (task, text) => assert.rejects(client.createTask({ parent, task }), code(400, text));
  await refused({ httpRequest: { url: '' } }, 'HttpRequest.url is required.');
  await refused({ httpRequest: { url: 'ftp://x/' } }, 'must start with');
  await refused({ httpRequest: { url: 'http://x/', oidcToken: { serviceAccountEmail: 'a@example.com' } } }, 'oidcToken is not supported');
  await refused({ httpRequest: { url: 'http://x/', oauthToken: { serviceAccountEmail: 'a@example.com' } } }, 'oauthToken is not supported');
  await refused({ appEngineHttpRequest: { relativeUri: '/x' } }, 'appEngineHttpRequest is not supported');
  await refused({ httpRequest: { url: 'http://169.254.169.254/' } }, 'link-local');
  await refused({ httpRequest: { url: 'http://x/' }, dispatchDeadline: { seconds: 5 } }, 'Task.dispatchDeadline must be between [15s, 30m].');
  await refused({ name: `${parent}/tasks/a b`, httpRequest: { url: 'http://x/' } }, 'can contain only letters');
  await assert.rejects(client.createTask({ parent: client.queuePath(P, L, 'none'), task: { httpRequest: { url: 'http://x/' } } }), code(404, 'Queue does not exist.'));
  await assert.rejects(client.updateQueue({ queue: { name: parent, rateLimits: { maxDispatchesPerSecond: 501 } }, updateMask: { paths: ['rate_limits'] } }), code(400, 'less than or equal to 500'));
}, OPEN);

test('a token is taken as an API key or as a bearer, and its role holds', async (s) => {
  const client = clientOf(s);
  const parent = await queueOf(client);
  const token = (role) => execFileSync(process.env.ERRAND_BIN, ['token', 'create', '--role', role, '--data', s.data]).toString().trim();
  const roles = { admin: token('admin'), produce: token('produce'), read: token('read') };
  await waitFor(() => client.getQueue({ name: parent }).then(() => false, (problem) => problem.code === 401), 'tokens are on');
  const produce = clientOf(s, { apiKey: roles.produce });
  const [{ name }] = await produce.createTask({ parent, task: { httpRequest: { url: 'https://example.com/', headers: { Authorization: 'Bearer hidden' }, body: 'aGk=' }, scheduleTime: { seconds: Math.floor(Date.now() / 1000) + 3600 } } });
  await assert.rejects(produce.pauseQueue({ name: parent }), code(403));
  await clientOf(s, { apiKey: roles.admin }).pauseQueue({ name: parent });
  const oauth = new OAuth2Client();
  oauth.setCredentials({ access_token: roles.produce, expiry_date: Date.now() + 3600000 });
  const [seen] = await clientOf(s, { authClient: oauth }).getTask({ name, responseView: 'FULL' });
  assert.equal(seen.httpRequest.headers.Authorization, 'Bearer hidden');
  const [hidden] = await clientOf(s, { apiKey: roles.read }).getTask({ name, responseView: 'FULL' });
  assert.equal(hidden.httpRequest.headers.Authorization, '•••');
  assert.equal(hidden.httpRequest.body.length, 0);
  await assert.rejects(clientOf(s, { apiKey: roles.read }).deleteTask({ name }), code(403));
}, OPEN);

test('a server that was killed goes on where it was', async (s) => {
  const client = clientOf(s);
  let hang = true;
  const target = await targetOf(s, [500], async () => { await (hang && target.requests.length > 1 ? new Promise(() => {}) : undefined); });
  const parent = await queueOf(client, { retryConfig: { minBackoff: { nanos: 100000000 }, maxBackoff: { nanos: 200000000 } } });
  const [{ name }] = await client.createTask({ parent, task: { name: `${parent}/tasks/t`, httpRequest: { url: target.url } } });
  await waitFor(() => target.requests.length === 2, 'the second attempt');
  hang = false;
  await s.restart();
  await waitFor(() => target.requests.length === 3, 'the third attempt');
  assert.deepEqual(target.requests.map(({ headers }) => headers['x-cloudtasks-taskretrycount']), ['0', '1', '2']);
  assert.equal(target.requests[2].headers['x-cloudtasks-taskpreviousresponse'], '0');
  await waitFor(() => client.getTask({ name }).then(() => false, (problem) => problem.code === 404), 'its end');
  await assert.rejects(client.createTask({ parent, task: { name, httpRequest: { url: target.url } } }), code(409));
}, OPEN);

await main();
