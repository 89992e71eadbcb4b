/* net/work_in.h: what workers say, out of JSON into the structs the engine takes.
 *
 * Thread: any.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_NET_WORK_IN_H
#define ERRAND_NET_WORK_IN_H

#include "queue/queue.h"
#include "wire/form.h"

#define CLAIM_NAMES_MAX 256 /* task types, or queues, that one claim may name */

/* The body of POST /api/claim. */
struct claim_in {
    struct command_claim claim;
    struct form_texts types, queues; /* of the claim, too */
    bool finishes;                   /* it has a `finish`, perhaps an empty one */
};
MUST_CHECK bool claim_read(struct json *json, struct claim_in *out, struct err *err);
extern const struct form claim_form; /* into a struct claim_in */

/* The body of POST /api/tasks/{id}/heartbeat. */
MUST_CHECK bool heartbeat_read(struct json *json, struct command_heartbeat *out, struct err *err);
extern const struct form heartbeat_form;

/* The body of …/complete, …/fail and …/release; `outcome` says which and is set already. */
MUST_CHECK bool finish_read(struct json *json, struct finish *out, struct err *err);

/* The body of POST /api/finish: an array. */
MUST_CHECK bool finishes_read(struct json *json, struct command_finish *out, struct err *err);

/* Fields of a struct finish: all of them in POST /api/finish (FORM_SET), those of one outcome in
 * the calls named for it. */
extern const struct form finish_form;
#define FINISH_COMPLETE (FORM_OWN << 0)
#define FINISH_FAIL     (FORM_OWN << 1)
#define FINISH_RELEASE  (FORM_OWN << 2)
extern const struct form error_form; /* of a struct task_error */

#endif
