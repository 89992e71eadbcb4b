// tests/clients/test_mcp.mjs: agents through the Model Context Protocol, over both transports, driven by the official client.
//
// SPDX-License-Identifier: MIT
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

import { main, test, waitFor } from './harness.mjs';

const SDK = path.join(process.env.ERRAND_NPM, '@modelcontextprotocol', 'sdk', 'dist', 'esm');
const { Client } = await import(path.join(SDK, 'client', 'index.js'));
const { StdioClientTransport } = await import(path.join(SDK, 'client', 'stdio.js'));
const { StreamableHTTPClientTransport } = await import(path.join(SDK, 'client', 'streamableHttp.js'));

const TRANSPORTS = {
  stdio: (s, token) => new StdioClientTransport({
    command: process.env.ERRAND_BIN,
    args: ['mcp', '--url', s.url],
    env: { PATH: process.env.PATH, ...(token ? { ERRAND_TOKEN: token } : {}) },
  }),
  http: (s, token) => new StreamableHTTPClientTransport(new URL('/mcp', s.url), token ? { requestInit: { headers: { authorization: `Bearer ${token}` } } } : {}),
};

/** An agent that is connected; what it is told of a call is the call's object. */
async function agent(s, transport, token) {
  const client = new Client({ name: 'tests', version: '1' });
  await client.connect(TRANSPORTS[transport](s, token));
  (s.closing ??= []).push(() => client.close());
  const call = async (name, args = {}, options = {}) => {
    const told = await client.callTool({ name, arguments: args }, undefined, options);
    assert.equal(told.content[0].type, 'text');
    return told;
  };
  const done = async (name, args, options) => {
    const told = await call(name, args, options);
    assert(!told.isError, `${name}: ${told.content[0].text}`);
    assert.deepEqual(JSON.parse(told.content[0].text), told.structuredContent);
    return told.structuredContent;
  };
  return { client, call, done };
}

function both(name, act, options) {
  for (const transport of Object.keys(TRANSPORTS)) {
    test(`${name}, over ${transport}`, (s) => act(s, transport), options);
  }
}

/** POST /mcp by hand. */
async function post(s, body, headers = {}) {
  const answer = await fetch(`${s.url}/mcp`, {
    method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const text = await answer.text();
  return { status: answer.status, type: answer.headers.get('content-type'), text, json: text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : undefined };
}

const rpc = (method, params, id = 1) => ({ jsonrpc: '2.0', id, method, ...(params ? { params } : {}) });

const TOOLS = ['push_task', 'get_task', 'why_not_running', 'list_tasks', 'cancel_task', 'retry_task', 'wait_for_task', 'claim_task', 'heartbeat_task',
  'complete_task', 'fail_task', 'release_task', 'preview_schedule', 'schedule', 'list_schedules', 'edit_schedule', 'start_team', 'team_claim', 'team_say',
  'team_read', 'queue_stats'];

both('tools say what they take', async (s, transport) => {
  const { client } = await agent(s, transport);
  const { tools } = await client.listTools();
  assert.deepEqual(tools.map((tool) => tool.name), TOOLS);
  for (const tool of tools) {
    assert(tool.description.length > 40, tool.name);
    assert.equal(typeof tool.annotations.readOnlyHint, 'boolean');
    assert.equal(typeof tool.annotations.destructiveHint, 'boolean');
    assert(!JSON.stringify(tool.inputSchema).includes('$ref'), `${tool.name} refers to what is not there`);
  }
  const push = tools.find((tool) => tool.name === 'push_task');
  assert.deepEqual(push.inputSchema.required, ['taskType']);
  assert.equal(push.inputSchema.properties.maxRetries.maximum, 100);
  assert.equal(client.getServerVersion().name, 'errand');
});

both('an agent queues an edit, waits for it and is told how it goes', async (s, transport) => {
  const { done, call } = await agent(s, transport);
  const task = await done('push_task', { taskType: 'sleep', payload: { ms: 1500 }, documentId: 'report' });
  const progress = [];
  const ended = await done('wait_for_task', { id: task.id }, { onprogress: (told) => progress.push(told) });
  assert.equal(ended.state, 'COMPLETED');
  assert(progress.length > 0 && progress.every((told, i) => i === 0 || told.progress > progress[i - 1].progress), JSON.stringify(progress));
  assert.equal((await done('get_task', { id: task.id })).attempts.length, 1);
  assert.deepEqual((await done('list_tasks', { taskType: 'sleep', state: ['COMPLETED', 'FAILED'] })).items.map((each) => each.id), [task.id]);
  assert.equal((await call('get_task', { id: task.id, waitMs: 'soon' })).isError, true);
});

both('a list is paged by its cursor', async (s, transport) => {
  const { done } = await agent(s, transport);
  for (let i = 0; i < 3; i += 1) {
    await done('push_task', { taskType: 'page', payload: i });
  }
  const first = await done('list_tasks', { taskType: 'page', limit: 2 });
  const rest = await done('list_tasks', { taskType: 'page', limit: 2, cursor: first.next });
  assert.deepEqual([...first.items, ...rest.items].map((each) => each.payload), [2, 1, 0]);
  assert.equal(rest.next, undefined);
});

both('mistakes come back in words that a model can mend', async (s, transport) => {
  const { client, call } = await agent(s, transport);
  const mistake = async (name, args) => {
    const told = await call(name, args);
    assert.equal(told.isError, true, JSON.stringify(told));
    return told.content[0].text;
  };
  assert.match(await mistake('push_task', { taskType: 'x', priority: 'soon' }), /priority must be one of CRITICAL/);
  assert.match(await mistake('push_task', { taskTyp: 'x' }), /taskTyp/);
  assert.match(await mistake('get_task', {}), /id is required/);
  assert.match(await mistake('get_task', { id: 'nope' }), /no such task/);
  assert.match(await mistake('schedule', { text: 'sometime soon call mom', timezone: 'UTC' }), /\w/);
  assert.match(await mistake('complete_task', { id: '01890000-0000-7000-8000-000000000000', lease: '1-0000000000000000' }), /task/);
  await assert.rejects(client.callTool({ name: 'make_coffee', arguments: {} }), /unknown tool/);
  await assert.rejects(client.readResource({ uri: 'errand://tasks/nope' }), /no such task/);
});

both('an agent that works claims, beats, completes, fails and gives back', async (s, transport) => {
  const { done, call } = await agent(s, transport);
  assert.deepEqual(await done('claim_task', { workerId: 'me', taskTypes: ['edit'] }), { tasks: [] });
  const ids = [];
  for (const name of ['a', 'b', 'c']) {
    ids.push((await done('push_task', { taskType: 'edit', payload: name })).id);
  }
  const take = async () => (await done('claim_task', { workerId: 'me', taskTypes: ['edit'], waitMs: 5000, leaseMs: 60000 })).tasks[0];
  const [a, b, c] = [await take(), await take(), await take()];
  assert.equal((await done('heartbeat_task', { id: a.id, lease: a.lease, progress: { percent: 40, message: 'half' } })).cancelRequested, false);
  assert.equal((await done('complete_task', { id: a.id, lease: a.lease, result: { ok: true } })).state, 'COMPLETED');
  assert.equal((await done('fail_task', { id: b.id, lease: b.lease, error: { code: 'no', message: 'no' }, retry: false })).state, 'FAILED');
  assert.equal((await done('release_task', { id: c.id, lease: c.lease })).state, 'QUEUED');
  assert.equal((await done('retry_task', { id: b.id })).state, 'QUEUED');
  assert.equal((await done('cancel_task', { id: b.id, reason: 'enough' })).cancelReason, 'enough');
  const lost = await call('complete_task', { id: c.id, lease: c.lease });
  assert.equal(lost.structuredContent.error.code, 'lease_lost');
  assert.equal((await done('why_not_running', { id: c.id })).state, 'QUEUED');
});

both('"remind me every Friday" in a chat', async (s, transport) => {
  const { client, done, call } = await agent(s, transport);
  const said = { text: 'every friday at 4pm send me the report', timezone: 'Europe/Paris' };
  assert.equal((await done('preview_schedule', said)).next.length, 5);
  const made = await done('schedule', { ...said, userId: 'ann' });
  assert.deepEqual((await done('list_schedules', { userId: 'ann' })).items.map((each) => each.id), [made.id]);
  assert.match((await done('edit_schedule', { id: made.id, text: 'move it to 8am' })).schedule.rrule, /BYHOUR=8/);
  assert.equal((await done('edit_schedule', { id: made.id, title: 'Weekly report' })).title, 'Weekly report');
  assert.match((await call('edit_schedule', { id: made.id, text: 'make it purple' })).content[0].text, /\w/);
  assert.match((await call('edit_schedule', { id: made.id, text: 'move it to 9', title: 'x' })).content[0].text, /text must not be given/);
  const { contents: [resource] } = await client.readResource({ uri: `errand://schedules/${made.id}` });
  assert.equal(JSON.parse(resource.text).title, 'Weekly report');
});

both('agents share a team and its mailbox', async (s, transport) => {
  const { done } = await agent(s, transport);
  const { teamId } = await done('start_team', { prompt: 'Write a page', tasks: [{ id: 'a', title: 'Draft' }, { id: 'b', title: 'Check', dependsOn: ['a'] }] });
  const { task } = await done('team_claim', { teamId, agent: 'ann', waitMs: 5000 });
  assert.equal(task.title, 'Draft');
  assert.equal((await done('team_claim', { teamId, agent: 'bob' })).task, null);
  await done('team_say', { teamId, from: 'ann', to: 'bob', body: 'done soon' });
  assert.deepEqual((await done('team_read', { teamId, agent: 'bob', waitMs: 5000 })).items.map((message) => message.body), ['done soon']);
  await done('complete_task', { id: task.id, lease: task.lease, result: 'text' });
  assert.equal((await done('team_claim', { teamId, agent: 'bob', waitMs: 5000 })).task.dependencies[0].result, 'text');
});

both('resources are there to be read', async (s, transport) => {
  const { client, done } = await agent(s, transport);
  const task = await done('push_task', { taskType: 'read me' });
  assert.deepEqual((await client.listResources()).resources.map((each) => each.uri), ['errand://queues']);
  assert.deepEqual((await client.listResourceTemplates()).resourceTemplates.map((each) => each.uriTemplate), ['errand://tasks/{id}', 'errand://schedules/{id}']);
  const { contents: [found] } = await client.readResource({ uri: `errand://tasks/${task.id}` });
  assert.equal(JSON.parse(found.text).taskType, 'read me');
  const { contents: [queues] } = await client.readResource({ uri: 'errand://queues' });
  assert.equal(JSON.parse(queues.text)[0].counts.QUEUED, 1);
  assert.equal((await done('queue_stats')).items[0].name, 'default');
});

both('a call that waits can be given up, and others go on beside it', async (s, transport) => {
  const { client, done } = await agent(s, transport);
  const task = await done('push_task', { taskType: 'nobody' });
  const abort = new AbortController();
  const waiting = client.callTool({ name: 'wait_for_task', arguments: { id: task.id } }, undefined, { signal: abort.signal, onprogress: () => abort.abort() });
  const [given] = await Promise.allSettled([waiting, done('queue_stats')]);
  assert.equal(given.status, 'rejected');
  assert.equal((await done('cancel_task', { id: task.id })).state, 'CANCELLED');
});

both('a role shows the tools that it may use', async (s, transport) => {
  const token = (role) => execFileSync(process.env.ERRAND_BIN, ['token', 'create', '--role', role, '--data', s.data], { encoding: 'utf8' }).trim();
  const names = async (role) => (await (await agent(s, transport, token(role))).client.listTools()).tools.map((tool) => tool.name);
  const work = await names('work');
  assert(work.includes('claim_task') && work.includes('get_task') && !work.includes('push_task') && !work.includes('schedule'));
  const read = await names('read');
  assert(read.includes('queue_stats') && !read.includes('claim_task') && !read.includes('cancel_task'));
  const { client } = await agent(s, transport, token('read'));
  await assert.rejects(client.callTool({ name: 'push_task', arguments: { taskType: 'x' } }), /unknown tool/);
  await assert.rejects(agent(s, transport, 'wrong'));
});

both('an agent that falls silent loses its task', async (s, transport) => {
  const { done } = await agent(s, transport);
  const { id } = await done('push_task', { taskType: 'edit', maxRetries: 0 });
  await done('claim_task', { workerId: 'me', taskTypes: ['edit'], leaseMs: 1000 });
  assert.equal((await done('wait_for_task', { id })).error.code, 'lost');
});

// ---- The protocol itself ----

test('versions, batches and what is no message', async (s) => {
  const version = async (asked) => (await post(s, rpc('initialize', { protocolVersion: asked, capabilities: {}, clientInfo: { name: 'x', version: '1' } }))).json.result.protocolVersion;
  assert.equal(await version('2025-06-18'), '2025-06-18');
  assert.equal(await version('2025-03-26'), '2025-03-26');
  assert.equal(await version('1999-01-01'), '2025-06-18');
  const two = [rpc('ping', undefined, 1), { jsonrpc: '2.0', method: 'notifications/initialized' }, rpc('tools/call', { name: 'queue_stats' }, 'x')];
  assert.deepEqual((await post(s, two)).json.map((each) => each.id), [1, 'x']);
  assert.deepEqual((await post(s, two, { 'mcp-protocol-version': '2025-03-26' })).json.map((each) => each.id), [1, 'x']);
  assert.equal((await post(s, two, { 'mcp-protocol-version': '2025-06-18' })).json.error.code, -32600);
  assert.equal((await post(s, [])).json.error.code, -32600);
  assert.equal((await post(s, rpc('ping'), { 'mcp-protocol-version': '2024-11-05' })).status, 400);
  assert.deepEqual([(await post(s, { jsonrpc: '2.0', method: 'notifications/initialized' })).status, (await post(s, [{ jsonrpc: '2.0', method: 'notifications/initialized' }])).status], [202, 202]);
  assert.equal((await post(s, '{"jsonrpc":')).json.error.code, -32700);
  assert.equal((await post(s, { id: 1, method: 'ping' })).json.error.code, -32600);
  assert.equal((await post(s, rpc('no/such/method'))).json.error.code, -32601);
  assert.equal((await post(s, rpc('tools/call', { name: 'no_such_tool' }))).json.error.code, -32602);
  assert.equal((await post(s, rpc('tools/call', [1]))).json.error.code, -32602);
  assert.equal((await post(s, rpc('ping'), { origin: 'http://elsewhere.example' })).status, 403);
  assert.equal((await fetch(`${s.url}/mcp`)).status, 405);
});

test('an answer is JSON, or a stream where progress was asked for', async (s) => {
  assert.equal((await post(s, rpc('tools/list'))).type, 'application/json');
  const told = await post(s, rpc('tools/call', { name: 'queue_stats', _meta: { progressToken: 'p' } }));
  assert.equal(told.type, 'text/event-stream');
  assert.match(told.text, /^event: message\ndata: \{.*\}\n\n$/);
});

test('a client that leaves a wait is no harm', async (s) => {
  const { json } = await post(s, rpc('tools/call', { name: 'push_task', arguments: { taskType: 'nobody' } }));
  const { id } = json.result.structuredContent;
  for (const meta of [{}, { _meta: { progressToken: 1 } }]) {
    for (let i = 0; i < 20; i += 1) {
      const abort = new AbortController();
      const leaving = fetch(`${s.url}/mcp`, {
        method: 'POST', headers: { 'content-type': 'application/json' }, signal: abort.signal,
        body: JSON.stringify(rpc('tools/call', { name: 'wait_for_task', arguments: { id }, ...meta })),
      }).then((answer) => answer.text(), () => {});
      await post(s, rpc('ping'));
      abort.abort();
      await leaving.catch(() => {});
    }
  }
  assert.equal((await post(s, rpc('tools/call', { name: 'cancel_task', arguments: { id } }))).json.result.structuredContent.state, 'CANCELLED');
});

test('errand mcp ends with its input, and says when there is no server', async (s) => {
  const child = spawn(process.env.ERRAND_BIN, ['mcp', '--url', s.url], { stdio: ['pipe', 'pipe', 'inherit'] });
  let said = '';
  child.stdout.on('data', (chunk) => { said += chunk; });
  child.stdin.write(`${JSON.stringify(rpc('initialize', { protocolVersion: '2025-06-18' }))}\n\n`);
  await waitFor(() => said.includes('\n'), 'the first answer');
  child.stdin.end(`[${JSON.stringify(rpc('ping'))}]\nnonsense\n${JSON.stringify(rpc('ping', undefined, 'last'))}`);
  const [status] = await once(child, 'exit');
  const answers = said.trim().split('\n').map((line) => JSON.parse(line));
  assert.equal(status, 0);
  assert.deepEqual(answers.map((each) => each.error?.code ?? each.id).sort(), [-32600, -32700, 1, 'last'].sort());
  await s.end('SIGTERM');
  const alone = execFileSync(process.env.ERRAND_BIN, ['mcp', '--url', s.url], { input: `${JSON.stringify(rpc('ping'))}\n`, encoding: 'utf8' });
  assert.equal(JSON.parse(alone).error.code, -32000);
});

await main();
