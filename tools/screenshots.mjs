#!/usr/bin/env node
// tools/screenshots.mjs: makes the pictures of the dashboard that README.md shows, light and dark, from a server of its own.
//
// An hour of work is played on a clock that is wound by hand, so the pictures come out alike each time and within seconds. Needs Chromium,
// tests/npm (`script/test` installs both) and a built binary: node tools/screenshots.mjs [BINARY]
//
// SPDX-License-Identifier: MIT
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';

const root = path.dirname(path.dirname(new URL(import.meta.url).pathname));
const { chromium } = createRequire(path.join(root, 'tests/npm/package.json'))('playwright-core');
const binary = process.argv[2] ?? path.join(root, 'build/errand');
const START = '2027-03-01T08:00:00Z';
const MINUTES = 58;
const SIZE = { width: 1280, height: 860 };

const data = fs.mkdtempSync(path.join(os.tmpdir(), 'errand-pictures-'));
const server = spawn(binary, ['serve', '--listen', '127.0.0.1:0', '--data', data, '--workers', '6', `--test-clock=${START}`], { stdio: ['ignore', 'pipe', 'inherit'] });
const url = await new Promise((resolve) => server.stdout.on('data', (text) => resolve(/http:\S+/.exec(text)[0])));

async function api(method, where, body) {
  const response = await fetch(url + where, { method, headers: { 'Content-Type': 'application/json' }, body: body && JSON.stringify(body) });
  const text = await response.text();
  if (!response.ok) {
    throw new Error(`${method} ${where}: ${text}`);
  }
  return text && JSON.parse(text);
}

/** The same numbers each time, and yet no straight line. */
const wave = (minute, size, shift) => Math.round(size * (1 + 0.5 * Math.sin(minute / 6 + shift) + 0.2 * Math.sin(minute * 1.7)));

const claim = async (taskType, max) => (await api('POST', '/api/claim', { workerId: `${taskType.split('.')[0]}-1`, taskTypes: [taskType], queues: ['reports', 'mail', 'images', 'default'], max, leaseMs: 3600000 })).tasks;

async function minute(at) {
  const orders = [['report.render', 'reports', 4], ['email.send', 'mail', 9], ['image.resize', 'images', 6]].flatMap(([taskType, queue, size], nth) =>
    Array.from({ length: wave(at, size, nth) }, (_, n) => ({ taskType, queue, payload: { n }, maxRetries: 0, ...(taskType === 'report.render' ? { documentId: `report ${at}-${n}` } : {}) })));
  await api('POST', '/api/tasks', orders);
  await api('POST', '/api/test/clock', { advanceMs: 9000 + wave(at, 3000, 1) });
  for (const taskType of ['report.render', 'email.send', 'image.resize']) {
    const tasks = await claim(taskType, taskType === 'image.resize' && at > MINUTES - 4 ? 2 : 200);
    await api('POST', '/api/test/clock', { advanceMs: 800 + wave(at, 900, 2) });
    const bad = at % 9 === 4 && taskType === 'email.send';
    await api('POST', '/api/finish', tasks.map(({ id, lease }, n) => (bad && n < 2
      ? { id, lease, outcome: 'fail', retry: false, error: { code: 'smtp_550', message: 'mailbox unavailable: orders@example.org' } } : { id, lease, outcome: 'complete', result: 'ok' })));
  }
  await api('POST', '/api/test/clock', { set: new Date(Date.parse(START) + (at + 1) * 60000).toISOString() });
}

for (let at = 0; at < MINUTES; at += 1) {
  await minute(at);
}
await api('POST', '/api/tasks', [0, 1, 2].map((n) => ({ taskType: 'report.render', queue: 'reports', documentId: `annual report ${n}`, priority: 'HIGH' })));
for (const [n, { id, lease }] of (await claim('report.render', 2)).entries()) {
  await api('POST', `/api/tasks/${id}/heartbeat`, { lease, progress: { percent: 35 + 30 * n, message: 'drawing pages' } });
}

const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
for (const colorScheme of ['light', 'dark']) {
  const page = await browser.newPage({ viewport: SIZE, colorScheme, reducedMotion: 'reduce', timezoneId: 'UTC' });
  await page.goto(url);
  await page.getByRole('table', { name: 'Busiest types' }).waitFor();
  await page.screenshot({ path: path.join(root, `docs/dashboard-${colorScheme}.png`) });
}
await browser.close();
server.kill('SIGKILL');
fs.rmSync(data, { recursive: true, force: true });
