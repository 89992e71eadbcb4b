// tests/web/test_session.mjs: signing in, what each role sees, what nobody sees, and being cut off.
//
// SPDX-License-Identifier: MIT
import { assert, axe, client, main, makeToken, openPage, says, serve, test, visit, waitFor } from './browser.mjs';

const ACTIONS = ['Cancel', 'Retry', 'Delete', 'Run again', 'Release', 'Pause', 'Resume', 'Purge', 'Run now', 'Save'];
const guarded = await serve({ args: ['--workers', '1'] });
const tokens = Object.fromEntries(['admin', 'produce', 'read', 'work'].map((role) => [role, makeToken(guarded, role)]));
const api = client(guarded, tokens.admin);
await waitFor(async () => (await fetch(`${guarded.url}/api/tasks`)).status === 401, 'tokens to be on');
const { id } = await api('POST', '/api/tasks', { taskType: 'guarded', documentId: 'guarded', payload: { nested: [{ Password: 'hunter2' }], n: 1 }, metadata: { SECRET: 'hunter2' } });
const { tasks: [{ lease }] } = await api('POST', '/api/claim', { workerId: 'w', taskTypes: ['guarded'], leaseMs: 600000 });
await api('POST', `/api/tasks/${id}/heartbeat`, { lease, log: ['password=hunter2 ok', '{"token":"hunter2"}'] });
await api('POST', '/api/tasks', { taskType: 'ended', queue: 'lane' }).then((task) => api('POST', `/api/tasks/${task.id}/cancel`));
const schedule = await api('POST', '/api/schedules', { title: 'daily', rrule: 'FREQ=DAILY', taskType: 'remind' });
const PATHS = ['/', '/tasks', `/tasks/${id}`, '/documents', '/queues', '/schedules', `/schedules/${schedule.id}`, '/teams', '/workers', '/notifications', '/usage'];

async function signIn(page, token) {
  await page.goto(`${guarded.url}/`);
  await page.getByLabel('Token').fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

test('a wrong token is refused, a right one opens the page that was asked for, and signing out closes it', async () => {
  const page = await openPage();
  await page.goto(`${guarded.url}/queues`);
  await page.getByLabel('Token').fill('errand_wrong');
  await page.getByRole('button', { name: 'Sign in' }).press('Enter');
  await page.getByText('This token is not known here.').waitFor();
  assert.deepEqual(await axe(page), []);
  await page.getByLabel('Token').fill(tokens.admin);
  await page.keyboard.press('Enter');
  await page.locator('h1', { hasText: 'Queues' }).waitFor();
  const [cookie] = await page.context().cookies();
  assert.deepEqual([cookie.name, cookie.httpOnly, cookie.sameSite], ['errand_session', true, 'Strict']);
  assert.equal(await page.evaluate(() => document.cookie + JSON.stringify(localStorage) + JSON.stringify(sessionStorage)), '{}{}');
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByLabel('Token').waitFor();
  assert.equal(await page.evaluate(async () => (await fetch('/api/tasks')).status), 401);
});

test('nobody sees a button that his role may not press', async () => {
  const shown = {};
  for (const role of ['read', 'produce', 'admin']) {
    const page = await openPage();
    await signIn(page, tokens[role]);
    await page.locator('h1', { hasText: 'Overview' }).waitFor();
    shown[role] = new Set();
    for (const path of PATHS) {
      await visit(page, guarded.url + path);
      (await page.getByRole('button').allInnerTexts()).forEach((name) => shown[role].add(name));
    }
    assert.deepEqual(page.trouble, [], role);
  }
  assert.deepEqual(ACTIONS.filter((name) => shown.read.has(name)), []);
  assert(shown.produce.has('Cancel') && shown.produce.has('Run now') && shown.produce.has('Run again'));
  assert.deepEqual(['Purge', 'Release'].filter((name) => shown.produce.has(name)), []);
  assert(shown.admin.has('Purge') && shown.admin.has('Release'));
  const page = await openPage();
  await signIn(page, tokens.work);
  await page.getByText('may not see this page').waitFor();
  await visit(page, `${guarded.url}/tasks/${id}`);
  await says(page.locator('h1'), /guarded/);
});

test('secrets are dots on the page for every role', async () => {
  for (const role of ['admin', 'read']) {
    const page = await openPage();
    await signIn(page, tokens[role]);
    await visit(page, `${guarded.url}/tasks/${id}`);
    await page.locator('.log').waitFor();
    await page.locator('details').evaluateAll((all) => all.forEach((one) => { one.open = true; }));
    const html = await page.content();
    assert(!html.includes('hunter2'), role);
    assert((await page.locator('main').innerText()).includes('•••'), role);
  }
});

test('being cut off shows an alert, and it goes when the server is back', async () => {
  const server = await serve({ args: ['--workers', '1'] });
  const page = await openPage();
  await visit(page, `${server.url}/tasks`);
  await server.end('SIGKILL');
  await page.getByRole('alert').waitFor();
  assert.deepEqual(await axe(page), []);
  await server.restart();
  await page.getByRole('alert').waitFor({ state: 'detached' });
  await client(server)('POST', '/api/tasks', { taskType: 'after the storm' });
  await page.getByRole('link', { name: 'after the storm' }).waitFor();
});

test('a server that is there and silent is noticed, too', async () => {
  const server = await serve();
  const page = await openPage();
  await visit(page, `${server.url}/workers`);
  server.process.kill('SIGSTOP');
  try {
    await page.getByRole('alert').waitFor();
  } finally {
    server.process.kill('SIGCONT');
  }
  await page.getByRole('alert').waitFor({ state: 'detached' });
});

test('a degraded server says so on every page, in words', async () => {
  const page = await openPage();
  let health = { status: 'degraded', degraded: ['broker'] };
  await page.route('**/healthz', (route) => route.fulfill({ json: health }));
  await signIn(page, tokens.read);
  await page.getByText('The broker is away').waitFor();
  assert.deepEqual(await axe(page), []);
  health = { status: 'ok' };
  await page.getByText('The broker is away').waitFor({ state: 'detached' });
});

await main();
