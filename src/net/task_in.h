/* net/task_in.h: JSON of requests into the structs the engine takes.
 *
 * What is wrong with a value is said here with its field; what may be done with a task is the
 * engine's to say. Texts point into the request or its arena.
 *
 * Thread: any.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_NET_TASK_IN_H
#define ERRAND_NET_TASK_IN_H

#include "net/fields.h"
#include "queue/queue.h"

/* The body of POST /api/tasks: an order, an array of orders, or {"tasks":[…]}. */
struct create_in {
    struct order *orders;
    size_t count;
    bool many; /* answered by an array */
};
MUST_CHECK bool create_read(struct json *json, size_t payload_max, struct create_in *out,
                            struct err *err);

/* The body of PATCH /api/tasks/{id}. */
extern const struct fields patch_fields; /* into a struct task_patch */

/* Values that several bodies have. */
MUST_CHECK bool read_priority(struct json *json, enum task_priority *out, struct err *err);
MUST_CHECK bool read_cost(struct json *json, struct task_cost *out, struct err *err);
MUST_CHECK bool priority_of(struct str text, enum task_priority *out); /* a name, or 4 3 2 1 */
#define PRIORITY_RULE "must be one of CRITICAL, HIGH, NORMAL, LOW (or 4, 3, 2, 1)"

#endif
