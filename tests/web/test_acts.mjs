// tests/web/test_acts.mjs: what one can do on the pages, what changes there by itself, and what stays while it does.
//
// SPDX-License-Identifier: MIT
import { assert, client, main, openPage, says, serve, test, visit, waitFor } from './browser.mjs';

const server = await serve({ args: ['--workers', '1'] });
const api = client(server);
const create = (order) => api('POST', '/api/tasks', order);
const state = async (id) => (await api('GET', `/api/tasks/${id}`)).state;
const until = (id, wanted) => waitFor(async () => await state(id) === wanted, `${wanted} of ${id}`);
const row = (page, text) => page.locator('main table tbody tr', { hasText: text });
const claim = async (taskType) => (await api('POST', '/api/claim', { workerId: 'w', taskTypes: [taskType], leaseMs: 600000 })).tasks[0];

test('a task is cancelled after a question that Escape and Keep answer with no', async () => {
  const page = await openPage();
  const { id } = await create({ taskType: 'cancel-me' });
  await visit(page, `${server.url}/tasks/${id}`);
  await page.getByRole('button', { name: 'Cancel', exact: true }).press('Enter');
  const dialog = page.getByRole('dialog');
  await dialog.waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Cancel', exact: true }).click();
  await dialog.getByRole('button', { name: 'Keep' }).click();
  await dialog.waitFor({ state: 'detached' });
  assert.equal(await state(id), 'QUEUED');
  await page.getByRole('button', { name: 'Cancel', exact: true }).click();
  await dialog.getByRole('button', { name: 'Cancel', exact: true }).click();
  await until(id, 'CANCELLED');
  await says(page.locator('.why'), /was cancelled/);
  await page.getByRole('button', { name: 'Retry' }).click();
  await until(id, 'QUEUED');
  await page.getByRole('button', { name: 'Cancel', exact: true }).waitFor();
  await api('POST', `/api/tasks/${id}/cancel`);
  await page.getByRole('button', { name: 'Delete' }).click();
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await page.waitForURL('**/tasks');
  assert.equal((await fetch(`${server.url}/api/tasks/${id}`)).status, 404);
});

test('a task is run again with the same order, long numbers unharmed', async () => {
  const page = await openPage();
  const body = '{"taskType":"again","queue":"lane","documentId":"paper","priority":"HIGH","payload":{"n":12345678901234567890,"password":"p"}}';
  const { id } = await (await fetch(`${server.url}/api/tasks`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body })).json();
  await visit(page, `${server.url}/tasks/${id}`);
  await page.getByText('12345678901234567890').waitFor();
  await page.getByRole('button', { name: 'Run again' }).click();
  await page.waitForURL((url) => url.pathname.startsWith('/tasks/') && !url.pathname.endsWith(id));
  const fresh = new URL(page.url()).pathname.split('/')[2];
  const text = await (await fetch(`${server.url}/api/tasks/${fresh}`)).text();
  assert(text.includes('12345678901234567890') && text.includes('"password":"p"'), text);
  const { taskType, queue, documentId, priority } = JSON.parse(text);
  assert.deepEqual({ taskType, queue, documentId, priority }, { taskType: 'again', queue: 'lane', documentId: 'paper', priority: 'HIGH' });
});

test('an edited order keeps what was not shown', async () => {
  const page = await openPage();
  const { id } = await create({ taskType: 'edit', payload: { secret: 's', n: 1 } });
  await visit(page, `${server.url}/tasks/${id}`);
  await page.getByRole('button', { name: 'Edit' }).click();
  const box = page.getByRole('dialog').getByLabel('Payload');
  const shown = await box.inputValue();
  assert(shown.includes('•••') && !shown.includes('"s"'), shown);
  await box.fill(shown.replace('1', '2'));
  await page.getByRole('dialog').getByRole('button', { name: 'Start' }).click();
  await page.waitForURL((url) => !url.pathname.endsWith(id));
  const fresh = await api('GET', `/api/tasks/${new URL(page.url()).pathname.split('/')[2]}`);
  assert.deepEqual(fresh.payload, { secret: 's', n: 2 });
});

test('a running task shows its progress, its log as it comes, and its end', async () => {
  const page = await openPage();
  const { id } = await create({ taskType: 'follow' });
  const { lease } = await claim('follow');
  await visit(page, `${server.url}/tasks/${id}`);
  await api('POST', `/api/tasks/${id}/heartbeat`, { lease, progress: { percent: 30, message: 'a third' }, log: ['line one'] });
  const bar = page.getByRole('progressbar');
  await waitFor(async () => await bar.getAttribute('aria-valuenow') === '30', '30 %');
  await page.getByText('line one').waitFor();
  await api('POST', `/api/tasks/${id}/heartbeat`, { lease, progress: { percent: 60 }, log: ['line two'] });
  await page.getByText('line two').waitFor();
  await api('POST', `/api/tasks/${id}/complete`, { lease, result: { answer: 42 } });
  await says(page.locator('.why'), /completed/);
  await page.getByText('answer').waitFor();
  assert.equal(await bar.count(), 0);
});

test('why a task is not running is one sentence with a link to who holds its document', async () => {
  const page = await openPage();
  const first = await create({ taskType: 'holds', documentId: 'shared paper' });
  await claim('holds');
  const second = await create({ taskType: 'waits', documentId: 'shared paper' });
  await visit(page, `${server.url}/tasks/${second.id}`);
  const { reasons } = await api('GET', `/api/tasks/${second.id}/why`);
  await says(page.locator('.why'), /shared paper/);
  assert(reasons.some(({ code }) => code === 'document_locked'));
  await page.locator('.why').getByRole('link', { name: 'Who holds it' }).click();
  await page.waitForURL(`**/tasks/${first.id}`);
});

test('a document is released after a question that says what it means', async () => {
  const page = await openPage();
  const { id } = await create({ taskType: 'hold-on', documentId: 'to release' });
  const { lease } = await claim('hold-on');
  await create({ taskType: 'in-line', documentId: 'to release' });
  await visit(page, `${server.url}/documents`);
  await row(page, 'to release').getByRole('button', { name: 'Release' }).click();
  await says(page.getByRole('dialog'), /lease is void/);
  await page.getByRole('dialog').getByRole('button', { name: 'Release' }).click();
  await until(id, 'QUEUED');
  await row(page, 'to release').waitFor({ state: 'detached' });
  const late = await fetch(`${server.url}/api/tasks/${id}/complete`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ lease }) });
  assert.equal(late.status, 409);
});

test('what happens while a list is being asked for is asked for again', async () => {
  const page = await openPage();
  await visit(page, `${server.url}/documents`);
  let asked, askedAgain, answer;
  const held = new Promise((resolve) => { asked = resolve; });
  const opened = new Promise((resolve) => { answer = resolve; });
  const again = new Promise((resolve) => { askedAgain = resolve; });
  await page.route('**/api/documents?locked=true', async (route) => {
    const response = await route.fetch(); // as it is now
    const { length } = (await response.json()).filter((row) => row.documentId === 'meanwhile');
    if (length > 0) {
      asked();
      await opened;
    } else if (answer === undefined) {
      askedAgain();
    }
    await route.fulfill({ response });
  });
  const { id } = await create({ taskType: 'meanwhile', documentId: 'meanwhile' });
  const { lease } = await claim('meanwhile');
  await held;
  const told = page.evaluate((of) => new Promise((resolve) => {
    const source = new EventSource('/api/events?types=state&paceMs=500');
    source.addEventListener('state', (event) => JSON.parse(event.data).taskId === of && JSON.parse(event.data).state === 'COMPLETED' && (source.close(), resolve()));
    source.onopen = () => { window.listens = true; };
  }), id);
  await page.waitForFunction(() => window.listens);
  await api('POST', `/api/tasks/${id}/complete`, { lease });
  await told;
  answer();
  answer = undefined;
  await again;
  await row(page, 'meanwhile').waitFor({ state: 'detached' });
});

test('the list is live, and rows stay while somebody works in it', async () => {
  const page = await openPage();
  const [one] = await create([{ taskType: 'live-one', queue: 'live' }, { taskType: 'live-two', queue: 'live' }]);
  await visit(page, `${server.url}/tasks?queue=live`);
  await row(page, 'live-one').waitFor();
  await create({ taskType: 'live-three', queue: 'live' });
  await row(page, 'live-three').waitFor();
  await row(page, 'live-one').getByRole('checkbox').check();
  const place = await row(page, 'live-one').boundingBox();
  await create({ taskType: 'live-four', queue: 'live' });
  await api('POST', `/api/tasks/${one.id}/cancel`);
  await says(row(page, 'live-one'), /CANCELLED/);
  await page.getByRole('button', { name: 'Show 1 new task' }).waitFor();
  assert.equal((await row(page, 'live-one').boundingBox()).y - place.y < 60, true); // the offer itself has a line
  assert.equal(await row(page, 'live-four').count(), 0);
  assert(await row(page, 'live-one').getByRole('checkbox').isChecked());
  await page.getByRole('button', { name: 'Show 1 new task' }).click();
  await row(page, 'live-four').waitFor();
});

test('a storm of events is passed over, and what comes behind it is shown', async () => {
  const page = await openPage();
  await visit(page, `${server.url}/documents`);
  await page.getByRole('heading', { name: 'Documents' }).waitFor();
  await Promise.all([1, 2, 3].map(() => create(Array.from({ length: 1000 }, () => ({ taskType: 'storm', queue: 'storm', documentId: 'storm' })))));
  await create({ taskType: 'behind', documentId: 'behind the storm' });
  await claim('behind');
  await row(page, 'behind the storm').waitFor();
  assert.equal((await api('POST', '/api/tasks/cancel', { queue: 'storm' })).count, 3000);
  assert.deepEqual(page.trouble, []);
});

test('a list and a task are copied as commands', async () => {
  const page = await openPage({ permissions: ['clipboard-read', 'clipboard-write'] });
  const copied = () => page.evaluate(() => navigator.clipboard.readText());
  const { id } = await create({ taskType: 'copied', payload: { it: "isn't" } });
  await visit(page, `${server.url}/tasks?state=QUEUED&taskType=copied`);
  await page.getByRole('button', { name: 'Copy as errand' }).click();
  await waitFor(async () => (await copied()).startsWith("errand ls --state 'QUEUED' --type 'copied'"), 'the command');
  await page.getByRole('button', { name: 'Copy as curl' }).click();
  await waitFor(async () => (await copied()).includes('/api/tasks?state=QUEUED&taskType=copied'), 'the command');
  await visit(page, `${server.url}/tasks/${id}`);
  await page.getByRole('button', { name: 'Copy as errand' }).click();
  await waitFor(async () => (await copied()).includes(`errand show ${id}`), 'the command');
});

test('the search line filters as one types, completes, and lives in the address', async () => {
  const page = await openPage();
  const [{ id }] = await create([{ taskType: 'report', queue: 'search', documentId: 'two words', tags: ['red'] }, { taskType: 'other', queue: 'search' }]);
  await visit(page, `${server.url}/tasks`);
  const search = page.getByLabel('Search');
  await search.fill('queue:search type:report');
  await waitFor(async () => await page.locator('main tbody tr').count() === 1, 'one row');
  assert.equal(new URL(page.url()).search, '?queue=search&taskType=report');
  await search.fill('doc:"two words" state:queued');
  await waitFor(async () => new URL(page.url()).search === '?documentId=two+words&state=QUEUED', 'the address');
  await row(page, 'report').waitFor();
  await search.fill('tag:red');
  await waitFor(async () => new URL(page.url()).search === '?tag=red', 'the address');
  await search.fill(id.slice(0, 18));
  await waitFor(async () => new URL(page.url()).search === `?id=${id.slice(0, 18)}`, 'the address');
  await waitFor(async () => await page.locator('main tbody tr').count() >= 1, 'the row');
  await search.fill('sta');
  await page.getByRole('option', { name: /state:/ }).waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  assert.equal(await search.inputValue(), 'state:');
  await page.keyboard.type('fa');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  assert.equal(await search.inputValue(), 'state:failed ');
  await search.fill('colour:red');
  await page.getByText('“colour:” is not one of').waitFor();
  await visit(page, `${server.url}/tasks?state=QUEUED&taskType=report`);
  assert.equal(await page.getByLabel('Search').inputValue(), 'state:queued type:report');
});

test('many tasks are cancelled, retried and deleted at once, with a progress', async () => {
  const page = await openPage();
  await create(Array.from({ length: 230 }, (_, n) => ({ taskType: 'bulk', queue: 'bulk', payload: n })));
  await visit(page, `${server.url}/tasks?queue=bulk`);
  const count = async (...states) => {
    const queue = await api('GET', '/api/queues/bulk');
    return states.reduce((sum, name) => sum + queue.counts[name], 0);
  };
  await page.getByLabel('Choose all shown').check();
  await page.getByRole('button', { name: 'Choose all that match' }).click();
  await page.locator('.bulk').getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel', exact: true }).click();
  await page.getByText('230 tasks cancelled.').waitFor();
  assert.equal(await count('CANCELLED'), 230);
  await page.locator('main tbody tr').nth(0).getByRole('checkbox').check();
  await page.locator('main tbody tr').nth(1).getByRole('checkbox').check();
  await page.locator('.bulk').getByRole('button', { name: 'Retry' }).click();
  await page.getByText('2 tasks to run again.').waitFor();
  assert.equal(await count('QUEUED'), 2);
  let progress = 0;
  await page.exposeFunction('sawProgress', () => { progress += 1; });
  await page.evaluate(() => new MutationObserver(() => document.querySelector('.bulk [role=progressbar][aria-valuenow]') && window.sawProgress()).observe(document.querySelector('main'), { childList: true, subtree: true }));
  await page.getByLabel('Choose all shown').check();
  await page.getByRole('button', { name: 'Choose all that match' }).click();
  await page.locator('.bulk').getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByText('228 tasks deleted.').waitFor();
  assert.equal(await count('CANCELLED'), 0);
  assert(progress > 0);
});

test('a long list is paged by the server, and a page has its address', async () => {
  const page = await openPage();
  await create(Array.from({ length: 120 }, (_, n) => ({ taskType: `paged-${n}`, queue: 'paged' })));
  await visit(page, `${server.url}/tasks?queue=paged`);
  await row(page, 'paged-119').waitFor();
  assert.equal(await page.locator('main tbody tr').count(), 50);
  await page.getByRole('button', { name: 'Older' }).click();
  await row(page, 'paged-69').waitFor();
  await page.reload();
  await row(page, 'paged-69').waitFor();
  await page.getByRole('button', { name: 'Newest' }).click();
  await row(page, 'paged-119').waitFor();
});

test('a queue is paused, resumed, limited and purged; what one types is not disturbed', async () => {
  const page = await openPage();
  await create([{ taskType: 'q', queue: 'lane-1' }, { taskType: 'q', queue: 'lane-1', delayMs: 600000 }]);
  await visit(page, `${server.url}/queues`);
  const lane = row(page, 'lane-1');
  await lane.getByRole('button', { name: 'Pause' }).click();
  await says(lane, /paused/);
  await lane.getByRole('button', { name: 'Resume' }).click();
  await lane.getByRole('button', { name: 'Pause' }).waitFor();
  await lane.getByLabel('Concurrent').fill('7');
  await lane.getByLabel('Rate per second').fill('2.5');
  await create({ taskType: 'q', queue: 'lane-1' }); // something happens meanwhile
  await says(lane, /2 queued/);
  assert.equal(await lane.getByLabel('Concurrent').inputValue(), '7');
  await lane.getByLabel('Burst').fill('4');
  await lane.getByRole('button', { name: 'Save' }).click();
  const saved = await waitFor(async () => (await api('GET', '/api/queues/lane-1')).burst === 4 && api('GET', '/api/queues/lane-1'), 'the limits');
  assert.deepEqual([saved.maxConcurrent, saved.ratePerSecond, saved.burst], [7, 2.5, 4]);
  await lane.getByRole('button', { name: 'Purge' }).click();
  const dialog = page.getByRole('dialog');
  assert(await dialog.getByRole('button', { name: 'Purge' }).isDisabled());
  await dialog.getByRole('textbox').fill('lane-1');
  await dialog.getByRole('button', { name: 'Purge' }).click();
  await waitFor(async () => (await api('GET', '/api/queues/lane-1')).counts.CANCELLED === 3, 'three cancelled');
});

test('a schedule is understood while one types, saved, paused, run and changed in English', async () => {
  const page = await openPage();
  await visit(page, `${server.url}/schedules`);
  const line = page.getByLabel('Schedule', { exact: true });
  await line.fill('every monday at 9am send the weekly report');
  await page.getByText('Every Monday at 09:00, Europe/Paris').waitFor();
  assert.equal(await page.getByRole('list', { name: 'Next times' }).getByRole('listitem').count(), 5);
  await says(page.getByRole('list', { name: /taken for/ }), /how often/);
  await line.fill('every blurb at 9am');
  await page.getByText('how often is that?').waitFor();
  assert(await page.getByRole('button', { name: 'Save' }).isDisabled());
  await line.fill('every monday at 9am send the weekly report');
  await page.getByText('Every Monday at 09:00, Europe/Paris').waitFor();
  await page.getByRole('button', { name: 'Save' }).click();
  const weekly = row(page, 'send the weekly report');
  await says(weekly, /Every Monday at 09:00, Europe\/Paris/);
  await weekly.first().getByRole('button', { name: 'Pause' }).click();
  await says(weekly, /PAUSED/);
  await weekly.first().getByRole('button', { name: 'Resume' }).click();
  await says(weekly, /ACTIVE/);
  await weekly.first().getByRole('button', { name: 'Run now' }).click();
  await weekly.first().getByRole('link').first().click();
  await page.waitForURL('**/schedules/*');
  await says(page.getByRole('table', { name: 'History' }), /SUCCESS/);
  await page.getByLabel('Schedule', { exact: true }).fill('every tuesday at 8am');
  await page.getByText('Every Tuesday at 08:00').waitFor();
  await page.getByRole('button', { name: 'Save' }).click();
  await says(page.locator('.facts').first(), /Every Tuesday at 08:00.*BYDAY=TU/s);
  await page.getByLabel('Schedule', { exact: true }).fill('move it to 7am');
  await page.getByRole('button', { name: 'Save' }).click();
  await says(page.locator('.facts').first(), /BYHOUR=7/);
  await visit(page, `${server.url}/notifications`);
  await row(page, 'send the weekly report').getByRole('button', { name: 'Mark read' }).click();
  await waitFor(async () => (await api('GET', '/api/notifications'))[0].read, 'read');
  await visit(page, `${server.url}/usage`);
  await row(page, 'send the weekly report').waitFor();
  assert.deepEqual(page.trouble, [], 'nothing is in the console, refused texts included');
});

test('a team is started and spoken to; its graph and its conversation are live', async () => {
  const page = await openPage();
  await visit(page, `${server.url}/teams`);
  await page.getByRole('button', { name: 'Start a team' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Prompt').fill('write the notes');
  await dialog.getByLabel('Tasks').fill('Outline\nDraft after 1');
  await dialog.getByRole('button', { name: 'Start' }).click();
  await page.waitForURL('**/teams/*');
  const team = new URL(page.url()).pathname.split('/')[2];
  await page.locator('.graph').getByRole('link', { name: /Draft/ }).waitFor();
  await page.getByLabel('Message').fill('hello <b>all</b>');
  await page.getByRole('button', { name: 'Say' }).click();
  await page.getByRole('log').getByText('hello <b>all</b>').waitFor();
  const { task } = await api('POST', `/api/teams/${team}/claim`, { agent: 'writer' });
  await says(page.getByRole('table', { name: 'Tasks' }), /RUNNING/);
  await api('POST', `/api/tasks/${task.id}/complete`, { lease: task.lease, result: 'the outline' });
  await page.getByRole('log').getByText('the outline').waitFor();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel', exact: true }).click();
  await waitFor(async () => (await api('GET', `/api/teams/${team}`)).status === 'cancelled', 'its end');
});

test('the overview counts, draws and names what failed', async () => {
  const page = await openPage();
  await visit(page, `${server.url}/`);
  const { id } = await create({ taskType: 'breaks', maxRetries: 0 });
  const { lease } = await claim('breaks');
  await api('POST', `/api/tasks/${id}/fail`, { lease, error: { code: 'oops', message: 'the disk is full' }, retry: false });
  await page.getByRole('table', { name: 'What failed last' }).getByText('the disk is full').waitFor();
  await says(page.locator('.attention'), /failed within the last hour/);
  await page.getByRole('button', { name: '24 h' }).click();
  await waitFor(async () => new URL(page.url()).search === '?minutes=1440', 'the address');
  await page.getByRole('img', { name: /Tasks a minute/ }).waitFor();
  await visit(page, `${server.url}/workers`);
  await page.getByRole('table', { name: 'Nodes' }).getByText('leader').waitFor();
});

await main();
