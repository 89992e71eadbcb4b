/* net/work_in.h: what workers say, out of JSON into the structs the engine takes.
 *
 * Thread: any.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_NET_WORK_IN_H
#define ERRAND_NET_WORK_IN_H

#include "net/fields.h"
#include "queue/queue.h"

#define CLAIM_NAMES_MAX 256 /* task types, or queues, that one claim may name */

/* The body of POST /api/claim. `wait_ms` is the loop's business, the rest the engine's. */
struct claim_in {
    struct command_claim *claim;
    int64_t wait_ms;
};
MUST_CHECK bool claim_read(struct json *json, struct claim_in *in, struct err *err);

/* A text that is no lease of ours becomes this one, which no task has: the engine then says that it
 * is lost. */
#define LEASE_OF_NOBODY ((struct task_lease){.attempt = -1})

/* The body of POST /api/tasks/{id}/heartbeat. */
MUST_CHECK bool heartbeat_read(struct json *json, struct command_heartbeat *out, struct err *err);

/* The body of …/complete, …/fail and …/release; `outcome` says which and is set already. */
MUST_CHECK bool finish_read(struct json *json, struct finish *out, struct err *err);

/* The body of POST /api/finish: an array. */
MUST_CHECK bool finishes_read(struct json *json, struct command_finish *out, struct err *err);

#endif
