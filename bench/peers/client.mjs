// bench/peers/client.mjs: drives one queue and prints what it reached as one line of JSON.
//
//     node client.mjs ADAPTER ROW COUNT '{"port":1}' | '{"url":"postgres://…"}'
//
// Rows: one (create one by one), many (create in the best way), drain (take and end what was created before), latency
// (from the call that creates a job to a waiting worker that has it). `bench/peers/run` calls this.
//
// SPDX-License-Identifier: MIT
import { setTimeout as pause } from 'node:timers/promises';

import { adapters } from './adapters.mjs';

const BODY = 200;       // bytes of a job
const PACE_MS = 25;     // between two jobs whose latency is measured
const WORKER_MS = 1500; // until a worker waits

/** JSON of a fixed size, each of another number: some queues find a job by its body. */
function body(number) {
  const text = JSON.stringify({ number, fill: '' });
  return text.replace('""', `"${'x'.repeat(BODY - text.length)}"`);
}

function bodies(count) {
  return Array.from({ length: count }, (_, number) => body(number));
}

async function perSecond(count, work) {
  const called = performance.now();
  const began = await work() ?? called;
  return { perSecond: count / (performance.now() - began) * 1000 };
}

const rows = {
  one: (queue, count) => perSecond(count, async () => {
    for (const each of bodies(count)) {
      await queue.putOne(each);
    }
  }),

  many(queue, count) {
    const all = bodies(count);
    return perSecond(count, () => queue.putMany(all));
  },

  async drain(queue, count) {
    await queue.putMany(bodies(count));
    return perSecond(count, () => queue.drain(count));
  },

  async latency(queue, count) {
    const began = new Map();
    const took = [];
    let last;
    const over = new Promise((done) => { last = done; });
    queue.wait((text) => {
      took.push(performance.now() - began.get(JSON.parse(text).number));
      if (took.length === count) {
        last();
      }
    });
    await pause(WORKER_MS);
    for (let number = 0; number < count; number++) {
      began.set(number, performance.now());
      await queue.putOne(body(number));
      await pause(PACE_MS);
    }
    await over;
    took.sort((a, b) => a - b);
    return { p50: took[Math.floor(count * 0.5)], p99: took[Math.floor(count * 0.99)] };
  },
};

const [adapter, row, count, where] = process.argv.slice(2);
const queue = await adapters[adapter](JSON.parse(where));
console.log(JSON.stringify(await rows[row](queue, Number(count))));
await Promise.race([queue.close(), pause(2000)]);
process.exit(0);
