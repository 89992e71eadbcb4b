// tests/web/browser.mjs: one Chromium and a few servers for all tests of a file, and the runner that tells TAP.
//
// Nothing waits for luck: what should come is asked for until it is there (playwright's locators and waitFor do the same).
//
// SPDX-License-Identifier: MIT
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { Server, waitFor } from '../clients/harness.mjs';

const npm = createRequire(path.join(process.env.ERRAND_NPM, 'package.json'));
const { chromium } = npm('playwright-core');
const AXE = fs.readFileSync(npm.resolve('axe-core/axe.min.js'), 'utf8');
const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find((file) => fs.existsSync(file));
const PATIENCE_MS = 20000;

export { Server, assert, waitFor };

/** The API as a program uses it; `token` for servers that ask for one. */
export function client(server, token) {
  return async (method, where, body) => {
    const headers = { ...(body === undefined ? {} : { 'Content-Type': 'application/json' }), ...(token ? { Authorization: `Bearer ${token}` } : {}) };
    const response = await fetch(server.url + where, { method, headers, body: body === undefined ? undefined : JSON.stringify(body) });
    const text = await response.text();
    assert(response.ok, `${method} ${where}: ${response.status} ${text}`);
    return text === '' ? null : JSON.parse(text);
  };
}

/** Makes a token for a server that runs on this data folder. */
export function makeToken(server, role, ...more) {
  const made = spawnSync(process.env.ERRAND_BIN, ['token', 'create', '--role', role, ...more, '--data', server.data], { encoding: 'utf8' });
  assert.equal(made.status, 0, made.stderr);
  return made.stdout.trim();
}

let browser = null;

/** A page of its own context: {colorScheme, viewport, …}. What goes wrong in it is kept in page.trouble. */
export async function openPage(options = {}) {
  browser ??= await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] });
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, reducedMotion: 'reduce', timezoneId: 'Europe/Paris', ...options });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  page.trouble = [];
  page.on('console', (message) => message.type() === 'error' && page.trouble.push(message.text()));
  page.on('pageerror', (problem) => page.trouble.push(problem.stack));
  return page;
}

/** Opens a path and waits until the page has its heading and what it asked for is there. */
export async function visit(page, url) {
  await page.goto(url);
  await page.locator('main:not([aria-busy]) h1').first().waitFor();
}

/** What axe-core finds wrong by WCAG A and AA. */
export async function axe(page) {
  await page.evaluate(AXE);
  const { violations } = await page.evaluate(() => window.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] }));
  return violations.map((one) => `${one.id}: ${one.nodes.slice(0, 3).map((node) => `${node.html} ${node.failureSummary}`).join(' | ')}`);
}

/** Waits until the text of a locator fits. */
export const says = (locator, pattern) => waitFor(async () => pattern.test((await locator.allInnerTexts()).join(' ')), `${pattern} in ${locator}`);

const tests = [];
const endings = [];

export const test = (name, act) => tests.push({ name, act });
export const atEnd = (act) => endings.push(act);

/** A server for the whole file. */
export async function serve(options) {
  const server = await Server.start(options);
  atEnd(() => server.close());
  return server;
}

export async function main() {
  const wanted = process.argv.slice(2);
  const chosen = tests.filter(({ name }) => wanted.length === 0 || wanted.some((part) => name.includes(part)));
  let failed = 0;
  console.log(`1..${chosen.length}`);
  for (const [at, { name, act }] of chosen.entries()) {
    const began = performance.now();
    let trouble;
    try {
      await act();
    } catch (problem) {
      trouble = problem;
      failed += 1;
      console.error(problem.stack ?? problem); // meson shows what a failed test wrote there, and no comment of TAP
    }
    console.log(`${trouble === undefined ? 'ok' : 'not ok'} ${at + 1} - ${name} # ${Math.round(performance.now() - began)} ms`);
  }
  await browser?.close();
  for (const end of endings) {
    await end().catch((problem) => {
      failed += 1;
      console.error(problem.stack ?? problem);
    });
  }
  process.exit(failed === 0 ? 0 : 1);
}
