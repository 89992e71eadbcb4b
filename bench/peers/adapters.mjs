// bench/peers/adapters.mjs: how each queue is used, the way that suits it best. For client.mjs.
//
// An adapter has: putOne(body), putMany(bodies), drain(count), which may tell when it began, wait(onJob) for a worker that
// waits, close(). beanstalkd and Redis are spoken to directly, over sockets with pipelines; the others through their own
// clients. What they need to work (a queue, a stream, a schema) is made when an adapter is opened.
//
// SPDX-License-Identifier: MIT
import net from 'node:net';
import { createRequire } from 'node:module';

const CONNECTIONS = 16;  // of beanstalkd and Redis in bulk
const PIPELINE = 50;     // commands on their way on one connection
const ARRAY = 1000;      // jobs in one statement, or one call
const LOOPS = 4;         // of those who fetch by the array

// What npm installed lies in a folder of its own, not beside this file.
const require = createRequire(process.env.PEERS_MODULES + '/');

function* pieces(list, size) {
  for (let at = 0; at < list.length; at += size) {
    yield list.slice(at, at + size);
  }
}

/** Gives each of `count` workers its share of the list, in pieces. */
async function share(list, size, count, work) {
  const rest = pieces(list, size);
  await Promise.all(Array.from({ length: count }, async (_, which) => {
    for (let next = rest.next(); !next.done; next = rest.next()) {
      await work(next.value, which);
    }
  }));
}

// ---- Line protocols ----

/** A connection whose answers come in the order of its commands. `read(buffer, at)` gives [answer, end] or nothing yet. */
class Wire {
  constructor(port, read) {
    this.waiting = [];
    this.left = Buffer.alloc(0);
    this.read = read;
    this.socket = net.connect({ port, host: '127.0.0.1', noDelay: true });
    this.socket.on('data', (data) => this.take(data));
    this.socket.on('error', (error) => this.fail(error));
    this.socket.on('close', () => this.fail(new Error('it closed the connection')));
  }

  take(data) {
    this.left = this.left.length === 0 ? data : Buffer.concat([this.left, data]);
    let at = 0;
    for (let found = this.read(this.left, at); found; found = this.read(this.left, at)) {
      at = found[1];
      this.waiting.shift().done(found[0]);
    }
    this.left = this.left.subarray(at);
  }

  fail(error) {
    for (const each of this.waiting.splice(0)) {
      each.failed(error);
    }
  }

  /** One answer for each of the commands, which go out in one piece. */
  ask(commands) {
    const answers = commands.map(() => new Promise((done, failed) => this.waiting.push({ done, failed })));
    this.socket.write(commands.join(''));
    return Promise.all(answers);
  }

  close() {
    this.socket.removeAllListeners('close');
    this.socket.destroy();
  }
}

function wires(port, read, count) {
  return Array.from({ length: count }, () => new Wire(port, read));
}

function line(buffer, at) {
  const end = buffer.indexOf('\r\n', at);
  return end < 0 ? null : [buffer.toString('latin1', at, end), end + 2];
}

/** A line, or "RESERVED ID BYTES" with what follows it. */
function readBeanstalkd(buffer, at) {
  const head = line(buffer, at);
  if (!head || !head[0].startsWith('RESERVED ')) {
    return head && [{ line: head[0] }, head[1]];
  }
  const [, id, bytes] = head[0].split(' ');
  const end = head[1] + Number(bytes);
  return end + 2 > buffer.length ? null : [{ line: head[0], id, body: buffer.toString('latin1', head[1], end) }, end + 2];
}

function expect(answers, beginning) {
  const wrong = answers.find((each) => !String(each.line ?? each).startsWith(beginning));
  if (wrong) {
    throw new Error(`it answered ${wrong.line ?? wrong}`);
  }
}

async function beanstalkd({ port }) {
  const [one, worker, ...many] = wires(port, readBeanstalkd, CONNECTIONS + 2);
  const put = (body) => `put 0 0 600 ${body.length}\r\n${body}\r\n`;
  return {
    async putOne(body) {
      expect(await one.ask([put(body)]), 'INSERTED');
    },
    async putMany(bodies) {
      await share(bodies, PIPELINE, CONNECTIONS, async (piece, which) => expect(await many[which].ask(piece.map(put)), 'INSERTED'));
    },
    async drain(count) {
      let left = count;
      await Promise.all(many.map(async (wire) => {
        while (left > 0) {
          const n = Math.min(left, PIPELINE);
          left -= n;
          const jobs = await wire.ask(Array(n).fill('reserve-with-timeout 0\r\n'));
          expect(jobs, 'RESERVED');
          expect(await wire.ask(jobs.map((job) => `delete ${job.id}\r\n`)), 'DELETED');
        }
      }));
    },
    async wait(onJob) {
      for (;;) {
        const [job] = await worker.ask(['reserve\r\n']);
        onJob(job.body);
        await worker.ask([`delete ${job.id}\r\n`]);
      }
    },
    close: () => [one, worker, ...many].forEach((wire) => wire.close()),
  };
}

/** Integers, states, errors and texts: no command here is answered by a list. */
function readRedis(buffer, at) {
  const head = line(buffer, at);
  if (!head || head[0][0] !== '$') {
    return head;
  }
  const length = Number(head[0].slice(1));
  const end = head[1] + length;
  if (length < 0) {
    return ['', head[1]];
  }
  return end + 2 > buffer.length ? null : [buffer.toString('latin1', head[1], end), end + 2];
}

function resp(...words) {
  return `*${words.length}\r\n${words.map((word) => `$${String(word).length}\r\n${word}\r\n`).join('')}`;
}

async function redisLists({ port }) {
  const [one, worker, ...many] = wires(port, readRedis, CONNECTIONS + 2);
  const take = resp('LMOVE', 'queue', 'taken', 'RIGHT', 'LEFT');
  return {
    async putOne(body) {
      expect(await one.ask([resp('LPUSH', 'queue', body)]), ':');
    },
    async putMany(bodies) {
      await share(bodies, ARRAY, CONNECTIONS, async (piece, which) =>
        expect(await many[which].ask([...pieces(piece, 100)].map((each) => resp('LPUSH', 'queue', ...each))), ':'));
    },
    async drain(count) {
      let left = count;
      await Promise.all(many.map(async (wire) => {
        while (left > 0) {
          const n = Math.min(left, PIPELINE);
          left -= n;
          const bodies = await wire.ask(Array(n).fill(take));
          expect(bodies, '{');
          expect(await wire.ask(bodies.map((body) => resp('LREM', 'taken', 1, body))), ':1');
        }
      }));
    },
    async wait(onJob) {
      for (;;) {
        const [body] = await worker.ask([resp('BLMOVE', 'queue', 'taken', 'RIGHT', 'LEFT', 0)]);
        onJob(body);
        await worker.ask([resp('LREM', 'taken', 1, body)]);
      }
    },
    close: () => [one, worker, ...many].forEach((wire) => wire.close()),
  };
}

// ---- Through their own clients ----

async function nats({ port }) {
  const { connect, AckPolicy, RetentionPolicy, StorageType } = require('nats');
  const connection = await connect({ servers: `127.0.0.1:${port}` });
  const manager = await connection.jetstreamManager();
  await manager.streams.add({
    name: 'queue', subjects: ['queue'], retention: RetentionPolicy.Workqueue, storage: StorageType.File,
  });
  await manager.consumers.add('queue', { durable_name: 'workers', ack_policy: AckPolicy.Explicit, max_ack_pending: 10000 });
  const stream = connection.jetstream();
  const consumer = await stream.consumers.get('queue', 'workers');
  return {
    putOne: (body) => stream.publish('queue', body),
    putMany: (bodies) => share(bodies, ARRAY, 1, (piece) => Promise.all(piece.map((body) => stream.publish('queue', body)))),
    async drain(count) {
      let left = count;
      const jobs = await consumer.consume({ max_messages: ARRAY });
      for await (const job of jobs) {
        job.ack();
        if (--left === 0) {
          break;
        }
      }
      await connection.flush();
    },
    async wait(onJob) {
      for await (const job of await consumer.consume({ max_messages: 10 })) {
        onJob(job.string());
        job.ack();
      }
    },
    close: () => connection.close(),
  };
}

async function graphileWorker({ url }) {
  const { makeWorkerUtils, run, Logger } = require('graphile-worker');
  const { Pool } = require('pg');
  const logger = new Logger(() => () => {});
  const pool = new Pool({ connectionString: url, max: CONNECTIONS });
  pool.on('error', (error) => { throw error; });
  const utils = await makeWorkerUtils({ pgPool: pool, logger });
  await utils.migrate();
  const insert = `SELECT count(*) FROM graphile_worker.add_jobs(ARRAY(
    SELECT json_populate_recordset(NULL::graphile_worker.job_spec, $1::json)))`;
  // Its own bench's settings: jobs are fetched and completed by the batch.
  const batches = { localQueue: { size: 500 }, completeJobBatchDelay: 0, failJobBatchDelay: 0 };
  const start = (concurrency, noop) => run({
    connectionString: url, concurrency, taskList: { noop }, noHandleSignals: true, logger, maxPoolSize: CONNECTIONS,
    preset: concurrency === 1 ? {} : { worker: batches },
  });
  let waiting;
  return {
    putOne: (body) => utils.addJob('noop', JSON.parse(body)),
    putMany: (bodies) => share(bodies, ARRAY, LOOPS, (piece) => pool.query(insert,
      [JSON.stringify(piece.map((body) => ({ identifier: 'noop', payload: JSON.parse(body) })))])),
    async drain(count) {
      let left = count;
      let began, ended;
      const over = new Promise((done) => { ended = done; });
      const runner = await start(CONNECTIONS * 2, async () => {
        began ??= performance.now();
        left -= 1;
        if (left === 0) {
          ended();
        }
      });
      await over;
      await runner.stop(); // the last ones are written down
      return began;        // its start is not what is measured
    },
    async wait(onJob) {
      waiting = await start(1, async (payload) => onJob(JSON.stringify(payload)));
    },
    async close() {
      await waiting?.stop();
      await utils.release();
      await pool.end();
    },
  };
}

async function pgBoss({ url }) {
  const PgBoss = require('pg-boss');
  const boss = new PgBoss({ connectionString: url, max: CONNECTIONS, supervise: false, schedule: false });
  boss.on('error', (error) => { throw error; });
  await boss.start();
  await boss.createQueue('queue');
  return {
    putOne: (body) => boss.send('queue', JSON.parse(body)),
    putMany: (bodies) => share(bodies, ARRAY, LOOPS, (piece) =>
      boss.insert(piece.map((body) => ({ name: 'queue', data: JSON.parse(body) })))),
    async drain(count) {
      let left = count;
      await Promise.all(Array.from({ length: LOOPS }, async () => {
        while (left > 0) {
          const jobs = await boss.fetch('queue', { batchSize: ARRAY / 2 });
          left -= jobs.length;
          if (jobs.length > 0) {
            await boss.complete('queue', jobs.map((job) => job.id));
          }
        }
      }));
    },
    async wait(onJob) {
      await boss.work('queue', { pollingIntervalSeconds: 0.5, batchSize: 100 }, // no poll is more frequent
        async (jobs) => jobs.forEach((job) => onJob(JSON.stringify(job.data))));
    },
    close: () => boss.stop({ graceful: false, wait: true }),
  };
}

export const adapters = { beanstalkd, redisLists, nats, graphileWorker, pgBoss };
