// worker.js: claims tasks, runs a handler for each, says how it went.
//
// `concurrency` loops, each claiming for itself and running one task at a time; one timer for each job renews its lease. A handler
// is told to stop by `job.signal`; it cannot be stopped by force, so a handler that does not listen keeps its place until it returns.
//
// SPDX-License-Identifier: MIT
import { randomUUID } from 'node:crypto';
import { EventEmitter } from 'node:events';
import os from 'node:os';

import { Client } from './client.js';
import { ApiError, Cancelled, Conflict, ErrandError, LeaseLost, Permanent, Release, Unavailable, apiError } from './errors.js';
import { Backoff, rest } from './transport.js';

const BEATS_A_LEASE = 3; // a lease is renewed when a third of it has passed
const BEAT_AGAIN_MS = 1000; // after a heartbeat that did not get through
const REPORT_MS = 250; // between two reports of progress of one job
const MESSAGE_MAX = 1000;
const DETAIL_MAX = 8000;

/** One attempt, as its handler sees it. */
export class Job {
  #worker;
  #abort = new AbortController();
  #waiting = {}; // to be said with the next heartbeat
  #renewedAt = performance.now();
  #saidAt = performance.now();
  #timer;
  #beating;

  constructor(worker, task) {
    this.#worker = worker;
    this.task = task;
    this.id = task.id;
    this.type = task.taskType;
    this.payload = task.payload;
    this.document = task.documentId;
    this.attempt = task.attempt;
    this.lease = task.lease;
  }

  /** Aborted when the handler should stop; its reason is Cancelled, LeaseLost or Release. */
  get signal() {
    return this.#abort.signal;
  }

  /** Seen in `errand watch`; what comes faster than four times a second is thinned out. Throws once the job should stop. */
  progress(percent, message) {
    this.check();
    this.#waiting.progress = message === undefined ? { percent } : { percent, message: String(message).slice(0, MESSAGE_MAX) };
    this.#plan();
  }

  /** Kept with the attempt. */
  log(...lines) {
    this.check();
    this.#waiting.log = [...(this.#waiting.log ?? []), ...lines.map(String)];
    this.#plan();
  }

  /** Renews the lease now; the worker does it by itself. Throws LeaseLost when the task is somebody else's. */
  async heartbeat() {
    this.check();
    await this.#beat();
    this.check();
  }

  /** Throws why this attempt should stop, if it should. */
  check() {
    this.signal.throwIfAborted();
  }

  // ---- For the worker ----

  begin() {
    this.#plan();
  }

  /** The first reason stays. */
  stop(reason) {
    if (!this.signal.aborted) {
      this.#abort.abort(reason);
    }
  }

  /** The handler is over: what it said last, for the end to come behind it. */
  async end() {
    clearTimeout(this.#timer);
    this.#timer = null;
    await this.#beating;
    return this.#waiting;
  }

  #plan() {
    if (this.#timer === null) {
      return; // it is over
    }
    clearTimeout(this.#timer);
    const renewAt = this.#renewedAt + this.#worker.leaseMs / BEATS_A_LEASE;
    const at = Object.keys(this.#waiting).length > 0 ? Math.min(renewAt, this.#saidAt + REPORT_MS) : renewAt;
    this.#timer = setTimeout(() => this.#beat(), Math.max(0, at - performance.now()));
  }

  /** One at a time: what is said meanwhile goes with the next. */
  #beat() {
    this.#beating = (this.#beating ?? Promise.resolve()).then(() => this.#say());
    return this.#beating;
  }

  async #say() {
    const said = this.#waiting;
    const began = performance.now();
    this.#waiting = {};
    this.#saidAt = began;
    try {
      const answer = await this.#worker.client.call('POST', `/api/tasks/${this.id}/heartbeat`,
        { lease: this.lease, extendMs: this.#worker.leaseMs, ...said }, { repeat: true, patienceMs: 0 });
      this.#renewedAt = began;
      if (answer.cancelRequested) {
        this.stop(new Cancelled('the task was cancelled'));
      }
      this.#worker.obey(answer.signal);
      this.#plan();
    } catch (problem) {
      if (problem instanceof LeaseLost) {
        this.stop(problem);
        return;
      }
      const log = [...(said.log ?? []), ...(this.#waiting.log ?? [])];
      this.#waiting = { ...said, ...this.#waiting, ...(log.length > 0 ? { log } : {}) };
      if (performance.now() - this.#renewedAt > this.#worker.leaseMs) {
        this.stop(new LeaseLost(409, 'lease_lost', 'the lease could not be renewed in time'));
      } else if (this.#timer !== null) {
        clearTimeout(this.#timer);
        this.#timer = setTimeout(() => this.#beat(), BEAT_AGAIN_MS);
      }
    }
  }
}

/** Runs handlers for the types it knows. Emits 'error' (problem, job) for what failed, was lost or could not be told. */
export class Worker extends EventEmitter {
  #handlers = new Map();
  #jobs = new Set();
  #quiet = new AbortController();
  #now = new AbortController();
  #rhythm = true; // ends go with claims; a server before 0.2 does not know that

  constructor({ client, url, token, queues = [], concurrency = 1, leaseMs = 60000, graceMs = 30000, claimWaitMs = 5000, name } = {}) {
    super();
    Object.assign(this, { client: client ?? new Client({ url, token }), queues, concurrency, leaseMs, graceMs, claimWaitMs });
    this.name = name ?? `${os.hostname()}:${process.pid}:${randomUUID().slice(0, 8)}`;
  }

  /** The handler runs tasks of this type; what it returns is the result. It may throw Permanent or Release; anything else is a
   *  failure that is retried. */
  task(type, handler) {
    this.#handlers.set(type, handler);
    return this;
  }

  /** Claims no more; what runs may finish within the grace period. `now`: it is given back at once. */
  stop({ now = false } = {}) {
    if (now) {
      this.#now.abort();
    }
    this.#quiet.abort();
  }

  /** What an operator asked of this worker: `quiet` or `stop`. */
  obey(wish) {
    if (wish !== undefined) {
      this.stop();
    }
  }

  /** Works until stop() is called, or SIGTERM or SIGINT comes; a second signal gives everything back at once. */
  async run({ signals = true } = {}) {
    if (this.#handlers.size === 0) {
      throw new ErrandError("no handler: register one with worker.task('type', handler)");
    }
    const onSignal = () => this.stop({ now: this.#quiet.signal.aborted });
    let deadline;
    this.#quiet.signal.addEventListener('abort', () => {
      deadline = setTimeout(() => this.#giveBack(), this.graceMs);
    });
    this.#now.signal.addEventListener('abort', () => this.#giveBack());
    if (signals) {
      process.on('SIGTERM', onSignal).on('SIGINT', onSignal);
    }
    try {
      await Promise.all(Array.from({ length: this.concurrency }, () => this.#work()));
    } finally {
      clearTimeout(deadline);
      process.off('SIGTERM', onSignal).off('SIGINT', onSignal);
    }
  }

  #giveBack() {
    for (const job of this.#jobs) {
      job.stop(new Release());
    }
  }

  #tell(problem, job) {
    if (this.listenerCount('error') > 0) {
      this.emit('error', problem, job);
    }
  }

  // In its rhythm a worker needs one request a task: the end of one attempt goes with the claim for the next. It is on disk before
  // the claim waits. Where the claim fails it is told by itself, as often as needed: the same end under the same lease counts once.
  async #work() {
    let backoff = new Backoff();
    let ended; // the attempt whose end goes with the next claim
    while (!this.#quiet.signal.aborted) {
      const carried = ended;
      let task;
      ended = undefined;
      try {
        task = await this.#claim(carried);
        backoff = new Backoff();
      } catch (problem) {
        const status = problem instanceof ApiError ? problem.status : undefined;
        if (carried !== undefined) {
          this.#rhythm &&= status !== 400;
          await this.#finish(carried.job, carried.end);
          continue;
        }
        if (this.#quiet.signal.aborted) {
          return;
        }
        this.#tell(problem);
        if ([400, 401, 403].includes(status)) {
          this.stop();
          throw problem;
        }
        await rest(backoff.pauseMs(), this.#quiet.signal).catch(() => {});
        continue;
      }
      if (task !== undefined && this.#quiet.signal.aborted) {
        await this.#finish(new Job(this, task), { outcome: 'release' });
      } else if (task !== undefined) {
        ended = await this.#run(new Job(this, task));
      }
    }
    if (ended !== undefined) {
      await this.#finish(ended.job, ended.end);
    }
  }

  // Not repeated by itself: a claim whose answer was lost has leased a task to nobody, and its lease must end.
  async #claim(ended) {
    const answer = await this.client.call('POST', '/api/claim', {
      workerId: this.name,
      taskTypes: [...this.#handlers.keys()],
      max: 1,
      waitMs: this.claimWaitMs,
      leaseMs: this.leaseMs,
      ...(this.queues.length > 0 ? { queues: this.queues } : {}),
      ...(ended === undefined ? {} : { finish: [{ id: ended.job.id, lease: ended.job.lease, ...ended.end }] }),
    }, { repeat: false, waitMs: this.claimWaitMs, hangUp: this.#quiet.signal, ...(ended === undefined ? {} : { patienceMs: 0 }) });
    if (answer === undefined) {
      throw new Unavailable('stopped while it waited');
    }
    this.obey(answer.signal);
    if (ended !== undefined) {
      await this.#checkEnd(ended, answer.finished[0]);
    }
    return answer.tasks[0];
  }

  async #checkEnd({ job, end }, said) {
    if (said.status === 429 || said.status >= 500) {
      await this.#finish(job, end);
    } else if (said.status >= 400) {
      this.#tellEnd(apiError(said.status, said), job);
    }
  }

  #tellEnd(problem, job) {
    this.#tell(problem instanceof Conflict ? problem : new ErrandError(`its end could not be told: ${problem.message}`, { cause: problem }), job);
  }

  /** Its end, to be told with the next claim; undefined: there is nothing to tell, or it was told. */
  async #run(job) {
    this.#jobs.add(job);
    job.begin();
    let end;
    try {
      const result = await this.#handlers.get(job.type)(job);
      end = { outcome: 'complete', ...(result === undefined ? {} : { result }) };
      JSON.stringify(result);
      if (job.signal.reason instanceof LeaseLost) {
        throw job.signal.reason;
      }
    } catch (problem) {
      end = this.#judge(job, problem, end);
    }
    const said = await job.end();
    this.#jobs.delete(job);
    if (end !== undefined && this.#rhythm && Object.keys(said).length === 0) {
      return { job, end };
    }
    if (end !== undefined) {
      await this.#finish(job, end, said);
    }
    return undefined;
  }

  // What the job was told decides over how the handler came to its end: it may have wrapped what was thrown in it.
  #judge(job, thrown, done) {
    const own = thrown instanceof Permanent || thrown instanceof Release;
    const reason = job.signal.aborted && !own ? job.signal.reason : thrown;
    if (reason instanceof LeaseLost) {
      this.#tell(reason, job);
      return undefined;
    }
    if (reason instanceof Release) {
      return { outcome: 'release', ...(reason.delayMs ? { delayMs: reason.delayMs } : {}) };
    }
    if (reason instanceof Cancelled) {
      return failure('cancelled', 'stopped', undefined, true);
    }
    this.#tell(thrown, job);
    if (done !== undefined) {
      return failure('bad_result', `the result is no JSON: ${thrown.message}`, undefined, false);
    }
    if (thrown instanceof Permanent) {
      return failure(thrown.code, thrown.message, thrown.detail, false);
    }
    return failure(thrown?.code ?? thrown?.name ?? 'error', String(thrown?.message ?? thrown), thrown?.stack?.slice(-DETAIL_MAX), true);
  }

  async #finish(job, { outcome, ...body }, said = {}) {
    try {
      if (Object.keys(said).length > 0) { // the last words of a handler come before its end
        await this.client.call('POST', `/api/tasks/${job.id}/heartbeat`, { lease: job.lease, ...said }, { repeat: true });
      }
      await this.client.call('POST', `/api/tasks/${job.id}/${outcome}`, { lease: job.lease, ...body }, { repeat: true, patienceMs: this.leaseMs });
    } catch (problem) {
      this.#tellEnd(problem, job);
    }
  }
}

function failure(code, message, detail, retry) {
  const error = { code: String(code).slice(0, 100), message: message.slice(0, MESSAGE_MAX), ...(detail === undefined ? {} : { detail }) };
  return { outcome: 'fail', error, retry };
}
