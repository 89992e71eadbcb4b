// tests/clients/harness.mjs: a real `errand serve` for tests in JavaScript, and the runner that tells TAP.
//
// SPDX-License-Identifier: MIT
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

const DEADLINE_MS = 30000;
export const START = '2027-03-01T09:00:00.000Z';

/** Asks until the condition holds; nothing here waits for luck. */
export async function waitFor(condition, what) {
  for (const until = performance.now() + DEADLINE_MS; ;) {
    const value = await condition();
    if (value) {
      return value;
    }
    assert(performance.now() < until, `${what} did not come within ${DEADLINE_MS} ms`);
    await pause(10);
  }
}

export class Server {
  static async start({ clock, port = 0, args = [], data = fs.mkdtempSync(path.join(os.tmpdir(), 'errand-node-')) } = {}) {
    const server = new Server();
    Object.assign(server, { data, clock, args });
    const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('ERRAND_')));
    server.process = spawn(process.env.ERRAND_BIN, ['serve', '--listen', `127.0.0.1:${port}`, '--data', data, '--workers', '1',
      ...(clock ? [`--test-clock=${clock}`] : []), ...args], { stdio: ['ignore', 'pipe', 'pipe'], env });
    server.said = '';
    server.process.stderr.on('data', (chunk) => { server.said += chunk; });
    let ready = '';
    for await (const chunk of server.process.stdout) {
      ready += chunk;
      if (ready.includes('\n')) {
        break;
      }
    }
    server.port = Number(/ready on http:\/\/.*:(\d+)\n/.exec(ready)?.[1]);
    assert(server.port, `no ready line: ${ready} ${server.said}`);
    server.url = `http://127.0.0.1:${server.port}`;
    return server;
  }

  async end(signal) {
    if (this.process.exitCode === null && this.process.signalCode === null) {
      this.process.kill(signal);
      await once(this.process, 'exit');
    }
    assert(!/Sanitizer|runtime error:/.test(this.said), this.said);
  }

  /** kill -9, and a new one on the same data and port. */
  async restart() {
    await this.end('SIGKILL');
    Object.assign(this, await Server.start({ port: this.port, data: this.data, clock: this.clock, args: this.args }));
  }

  async close() {
    this.closing?.forEach((close) => close());
    await this.end('SIGTERM');
    fs.rmSync(this.data, { recursive: true, force: true });
  }
}

// ---- The runner ----

const tests = [];

/** Registers a test: a claim for a name, and what it does with a server of its own. */
export const test = (name, act, options = {}) => tests.push({ name, act, options });

export async function main() {
  const wanted = process.argv.slice(2);
  const chosen = tests.filter(({ name }) => wanted.length === 0 || wanted.includes(name));
  let failed = 0;
  console.log(`1..${chosen.length}`);
  for (const [at, { name, act, options }] of chosen.entries()) {
    const server = await Server.start(options);
    let trouble;
    try {
      await act(server);
    } catch (problem) {
      trouble = problem;
    }
    await server.close().catch((problem) => { trouble ??= problem; });
    if (trouble !== undefined) {
      failed += 1;
      console.error(trouble.stack ?? trouble); // meson shows what a failed test wrote there, and no comment of TAP
    }
    console.log(`${trouble === undefined ? 'ok' : 'not ok'} ${at + 1} - ${name}`);
  }
  process.exit(failed === 0 ? 0 : 1);
}
