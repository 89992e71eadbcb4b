// index.d.ts: the types of the package.
//
// SPDX-License-Identifier: MIT
import { EventEmitter } from 'node:events';

export type Priority = 'CRITICAL' | 'HIGH' | 'NORMAL' | 'LOW';
export type State =
  | 'SCHEDULED' | 'WAITING' | 'QUEUED' | 'RUNNING' | 'RETRYING' | 'COMPLETED' | 'FAILED' | 'CANCELLED' | 'TIMEOUT';

/** A task as the API shows it; /openapi.json has every field. */
export interface Task {
  id: string;
  taskType: string;
  queue: string;
  state: State;
  priority: Priority;
  attempt: number;
  retries: number;
  maxRetries: number;
  payload?: unknown;
  payloadBase64?: string;
  documentId?: string;
  result?: unknown;
  error?: { code: string; message: string; detail?: unknown };
  progress?: { percent?: number; message?: string };
  createdAt: string;
  [field: string]: unknown;
}

export interface OrderOptions {
  queue?: string;
  document?: string;
  priority?: Priority | 1 | 2 | 3 | 4;
  key?: string;
  delayMs?: number;
  at?: Date | string;
  expiresAt?: Date | string;
  maxRetries?: number;
  timeoutMs?: number;
  backoff?: { baseMs?: number; factor?: number; maxMs?: number; jitter?: number };
  tags?: string[];
  metadata?: Record<string, unknown>;
  ref?: string;
  dependsOn?: string[];
  onDependencyFailure?: 'cancel' | 'run';
  children?: Order[];
  onChildFailure?: 'stop' | 'continue';
}
export type Order = { taskType: string } & Record<string, unknown>;
export interface Abortable {
  signal?: AbortSignal;
}
export interface Filters {
  state?: State | State[];
  taskType?: string;
  queue?: string;
  documentId?: string;
  priority?: Priority;
  parentId?: string;
  teamId?: string;
  scheduleId?: string;
  tag?: string;
  createdAfter?: Date | string;
  createdBefore?: Date | string;
}

export function order(taskType: string, payload?: unknown, options?: OrderOptions): Order;

export interface CallOptions extends Abortable {
  repeat?: boolean;
  waitMs?: number;
  patienceMs?: number;
  /** Ends the wait for an answer early: it then has no body. */
  hangUp?: AbortSignal;
}

export class Client {
  constructor(options?: { url?: string; token?: string; patienceMs?: number; ca?: string | Buffer });
  readonly url: string;
  close(): void;
  call(method: string, path: string, body?: unknown, options?: CallOptions): Promise<any>;
  push(taskType: string, payload?: unknown, options?: OrderOptions & Abortable): Promise<Task>;
  pushMany(orders: Iterable<Order>, options?: Abortable): Promise<Task[]>;
  get(id: string, options?: Abortable): Promise<Task>;
  wait(id: string, options?: Abortable & { timeoutMs?: number }): Promise<Task>;
  why(id: string, options?: Abortable): Promise<{ state: State; reasons: Array<{ code: string; message: string; [fact: string]: unknown }> }>;
  list(filters?: Filters & Abortable & { limit?: number }): AsyncGenerator<Task>;
  cancel(id: string, options?: Abortable & { reason?: string }): Promise<Task>;
  retry(id: string, options?: Abortable): Promise<Task>;
  delete(id: string, options?: Abortable): Promise<void>;
  stats(options?: Abortable): Promise<Record<string, unknown>>;
  queues(options?: Abortable): Promise<Array<Record<string, unknown>>>;
  events(filters?: Abortable & { types?: string | string[]; taskType?: string; documentId?: string }): AsyncGenerator<{ event: string; id?: string; data: any }>;
  schedule(fields: string | Record<string, unknown>, options?: Abortable): Promise<Record<string, any>>;
  preview(fields: string | Record<string, unknown>, options?: Abortable): Promise<Record<string, any>>;
  schedules(filters?: Abortable & Record<string, unknown>): Promise<Array<Record<string, any>>>;
  team(prompt: string, fields?: Abortable & Record<string, unknown>): Promise<Team>;
}

export class Team {
  constructor(client: Client, id: string);
  readonly id: string;
  get(options?: Abortable): Promise<Record<string, any>>;
  claim(agent: string, options?: Abortable & { waitMs?: number }): Promise<(Task & { lease: string; title: string }) | null>;
  say(from: string, body: string, options?: Abortable & { to?: string }): Promise<Record<string, any>>;
  read(agent: string, options?: Abortable & { after?: string; waitMs?: number }): Promise<Array<Record<string, any>>>;
  cancel(options?: Abortable): Promise<void>;
}

export class Job {
  readonly task: Task;
  readonly id: string;
  readonly type: string;
  readonly payload: any;
  readonly document?: string;
  readonly attempt: number;
  readonly lease: string;
  readonly signal: AbortSignal;
  progress(percent: number, message?: string): void;
  log(...lines: string[]): void;
  heartbeat(): Promise<void>;
  check(): void;
}

export interface WorkerOptions {
  client?: Client;
  url?: string;
  token?: string;
  queues?: string[];
  concurrency?: number;
  leaseMs?: number;
  graceMs?: number;
  claimWaitMs?: number;
  name?: string;
}

export class Worker extends EventEmitter {
  constructor(options?: WorkerOptions);
  readonly name: string;
  task(type: string, handler: (job: Job) => unknown): this;
  run(options?: { signals?: boolean }): Promise<void>;
  stop(options?: { now?: boolean }): void;
}

export class ErrandError extends Error {}
export class ApiError extends ErrandError {
  readonly status: number;
  readonly code: string;
  readonly field?: string;
  readonly body: any;
}
export class NotFound extends ApiError {}
export class Conflict extends ApiError {}
export class LeaseLost extends Conflict {}
export class Refused extends ApiError {
  readonly refusal: any;
}
export class Unavailable extends ErrandError {}
export class WaitTimeout extends ErrandError {}
export class Permanent extends Error {
  constructor(message: string, options?: { code?: string; detail?: unknown });
}
export class Release extends Error {
  constructor(options?: { delayMs?: number });
}
export class Cancelled extends Error {}
