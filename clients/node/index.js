// index.js: what the package offers.
//
// SPDX-License-Identifier: MIT
export { Client, Team, order } from './client.js';
export {
  ApiError, Cancelled, Conflict, ErrandError, LeaseLost, NotFound, Permanent, Refused, Release, Unavailable, WaitTimeout,
} from './errors.js';
export { Job, Worker } from './worker.js';
