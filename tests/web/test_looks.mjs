// tests/web/test_looks.mjs: every page as it looks and is held on to: names, roles, contrast, width, and that text stays text.
//
// SPDX-License-Identifier: MIT
import zlib from 'node:zlib';
import { assert, axe, client, main, openPage, serve, test, visit, waitFor } from './browser.mjs';
import { NASTY, fillNastily } from './data.mjs';

const NAMES = ['Overview', 'Tasks', 'Documents', 'Queues', 'Schedules', 'Teams', 'Workers', 'Notifications', 'Usage'];
const ASSETS_MAX = 300 * 1024;
const ROWS_MAX = 200;
const FIRST_PAINT_MS = 200;

const full = await serve({ args: ['--workers', '2'] });
const empty = await serve();
const api = client(full);
const ids = await fillNastily(api);
await waitFor(async () => (await api('GET', '/api/notifications')).length > 0, 'a notification');
const PATHS = ['/', '/tasks', '/documents', '/queues', '/schedules', '/teams', '/workers', '/notifications', '/usage',
  `/tasks/${ids.failed}`, `/tasks/${ids.done}`, `/tasks/${ids.running}`, `/tasks/${ids.waiting}`, `/tasks/${ids.cancelled}`, `/tasks/${ids.parent}`, `/tasks/${ids.depends}`,
  `/schedules/${ids.schedule}`, `/teams/${ids.team}`];

/** The page has shown what it asked for: nothing is under way but its stream. */
const settled = (page) => page.waitForFunction(() => document.querySelectorAll('main section, main .nothing').length > 0);

async function sidewaysBy(page) {
  return page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
}

/** What each page is held on to by, on one walk through all of them. */
const walked = { sizes: [], asked: [], shown: 0 };

test('every page has one heading, navigation, a title, tables with headers, named buttons; outside text stays text; axe finds nothing', async () => {
  const page = await openPage();
  page.on('request', (request) => walked.asked.push(new URL(request.url())));
  for (const path of PATHS) {
    await visit(page, full.url + path);
    await settled(page);
    assert.equal(await page.locator('h1').count(), 1, path);
    assert.deepEqual(await page.locator('nav a').allInnerTexts(), NAMES);
    assert.match(await page.title(), /Errand/, path);
    assert.equal(await page.locator('table:not(:has(th))').count(), 0, path);
    const nameless = await page.locator('button').evaluateAll((all) => all.filter((one) => !(one.getAttribute('aria-label') ?? one.innerText).trim()).length);
    assert.equal(nameless, 0, path);
    assert.deepEqual(await axe(page), [], path);
    walked.sizes.push(...await page.locator('button:visible, input:visible, select:visible, summary:visible, nav a').evaluateAll((all) => all
      .filter((one) => one.getBoundingClientRect().height < 24 || one.getBoundingClientRect().width < 24).map((one) => one.outerHTML)));
    await page.locator('details').evaluateAll((all) => all.forEach((one) => { one.open = true; }));
    assert.equal(await page.evaluate(() => window.hacked), undefined, path);
    assert.equal(await page.locator('img, script:not([type=module])').count(), 0, path);
    walked.shown += (await page.locator('main').innerText()).includes(NASTY) ? 1 : 0;
  }
  assert(walked.shown >= 14, `${walked.shown} pages show it`);
  assert.deepEqual(page.trouble, []);
});

test('targets have 24 pixels, no page asked for more than 200 rows, and all came from the server itself', () => {
  assert.deepEqual(walked.sizes, []);
  assert.deepEqual(walked.asked.filter((url) => url.origin !== full.url).map(String), []);
  assert.deepEqual(walked.asked.filter((url) => Number(url.searchParams.get('limit')) > ROWS_MAX).map(String), []);
  const lists = walked.asked.filter((url) => ['/api/tasks', '/api/schedules', '/api/teams', '/api/notifications'].includes(url.pathname));
  assert(lists.length > 0);
  assert.deepEqual(lists.filter((url) => !url.searchParams.has('limit')).map(String), []);
  const streams = walked.asked.filter((url) => /\/(events|stream)$/.test(url.pathname));
  assert(streams.length > 0 && streams.length <= PATHS.length + 4, `${streams.length} streams for ${PATHS.length} pages`);
});

test('axe finds nothing wrong in the dark either', async () => {
  const page = await openPage({ colorScheme: 'dark' });
  for (const path of PATHS) {
    await visit(page, full.url + path);
    await settled(page);
    assert.deepEqual(await axe(page), [], path);
  }
});

test('no page scrolls sideways at 390 pixels, full or empty', async () => {
  const page = await openPage({ viewport: { width: 390, height: 800 } });
  for (const url of [...PATHS.map((path) => full.url + path), ...PATHS.slice(0, 9).map((path) => empty.url + path)]) {
    await visit(page, url);
    await settled(page);
    assert.equal(await sidewaysBy(page), 0, url);
  }
  assert.deepEqual(page.trouble, []);
});

test('an empty server says on each page what to do next', async () => {
  const page = await openPage({ colorScheme: 'dark' });
  for (const path of PATHS.slice(0, 9)) {
    await visit(page, empty.url + path);
    await settled(page);
    assert.deepEqual(await axe(page), [], path);
  }
  await visit(page, `${empty.url}/tasks`);
  await page.getByText('There are no tasks yet.').waitFor();
  await visit(page, `${empty.url}/tasks/00000000-0000-7000-8000-000000000001`);
  await page.getByText('There is no such task').waitFor();
});

test('the keyboard alone leads from page to page, and its focus is seen', async () => {
  const page = await openPage();
  await visit(page, `${full.url}/tasks`);
  await page.keyboard.press('Tab');
  assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Skip to content');
  await page.keyboard.press('Tab');
  for (const [at, name] of NAMES.entries()) {
    await page.getByRole('navigation').getByRole('link', { name, exact: true }).press('Enter');
    await page.locator('h1', { hasText: name }).waitFor();
    assert.equal(new URL(page.url()).pathname, PATHS[at]);
    assert.equal(await page.locator('nav a[aria-current=page]').innerText(), name);
  }
  await page.getByRole('navigation').getByRole('link', { name: 'Tasks' }).focus();
  await page.keyboard.press('Tab');
  assert.notEqual(await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle), 'none');
  assert.deepEqual(page.trouble, []);
});

test('all that a first visit loads is small, kept for ever by its name, and painted at once', async () => {
  const page = await openPage();
  let bytes = 0;
  const assets = [];
  page.on('response', async (response) => {
    if (response.url().includes('/assets/')) {
      assets.push(response);
    }
  });
  await visit(page, `${empty.url}/`);
  await settled(page);
  for (const response of assets) {
    const headers = await response.allHeaders();
    assert.match(response.url(), /\.[0-9a-f]{12}\.(js|css|svg)$/);
    assert.match(headers['cache-control'], /immutable/);
    assert.equal(headers['content-encoding'], 'gzip');
    bytes += Number(headers['content-length']);
  }
  assert(assets.length > 5 && bytes < ASSETS_MAX, `${assets.length} files, ${bytes} bytes`);
  const painted = await waitFor(() => page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime), 'a first paint');
  assert(painted < 10 * FIRST_PAINT_MS, `${painted} ms`); // a sanitizer's build beside other tests; the figure itself is in docs/dashboard.md
});

test('pages come with a strict policy and are asked for again by their tag; files are packed for those who take them', async () => {
  const page = await fetch(`${empty.url}/schedules/some-id?x=1`);
  const policy = page.headers.get('content-security-policy');
  assert.match(policy, /frame-ancestors 'none'/);
  assert.doesNotMatch(policy, /unsafe|\*|data:|https?:/);
  assert.equal(page.headers.get('cache-control'), 'no-cache');
  const html = await page.text();
  assert.equal((await fetch(`${empty.url}/`, { headers: { 'If-None-Match': page.headers.get('etag') } })).status, 304);
  const file = /\/assets\/app\.[^"]+\.js/.exec(html)[0];
  const plain = await fetch(empty.url + file, { headers: { 'Accept-Encoding': 'gzip;q=0, identity' } });
  assert.equal(plain.headers.get('content-encoding'), null);
  assert.match(plain.headers.get('content-type'), /^text\/javascript/);
  const text = await plain.text();
  const raw = await new Promise((resolve, reject) => import('node:http').then((http) => http.get(empty.url + file, { headers: { 'Accept-Encoding': 'br, gzip' } }, (answer) => {
    const pieces = [];
    answer.on('data', (piece) => pieces.push(piece));
    answer.on('end', () => resolve(Buffer.concat(pieces)));
  }).on('error', reject)));
  assert.equal(zlib.gunzipSync(raw).toString(), text);
  const head = await fetch(`${empty.url}/tasks`, { method: 'HEAD' });
  assert.equal(head.status, 200);
  assert.equal(await head.text(), '');
  assert.equal((await fetch(`${empty.url}/assets/app.000000000000.js`)).status, 404);
  assert.equal((await fetch(`${empty.url}/no-such-page`)).status, 404);
  assert.equal((await fetch(`${empty.url}/tasks`, { method: 'POST' })).status, 405);
});

await main();
