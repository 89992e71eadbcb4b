/* net/task_in.h: orders for new tasks, out of JSON.
 *
 * What is wrong with a value is said here with its field; what may be done with a task is the
 * engine's to say. Texts point into the request or its arena.
 *
 * Thread: any.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_NET_TASK_IN_H
#define ERRAND_NET_TASK_IN_H

#include "queue/queue.h"
#include "wire/form.h"

/* The body of POST /api/tasks: an order, an array of orders, or {"tasks":[…]}. */
struct create_in {
    struct order *orders;
    size_t count;
    bool many; /* answered by an array */
};
MUST_CHECK bool create_read(struct json *json, size_t payload_max, struct create_in *out,
                            struct err *err);

extern const struct form order_form; /* what an order has beside the fields of task_form */

#endif
