/* net/task_out.h: tasks as JSON, by the rows of task/task.def.
 *
 * A field that is unset is absent. Payload, result, metadata and detail are written byte for byte
 * as they came.
 *
 * Thread: any.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_NET_TASK_OUT_H
#define ERRAND_NET_TASK_OUT_H

#include "queue/queue.h"
#include "wire/form.h"

#define LIST_OMIT_OVER (4 * KIB) /* payloads and results above it are left out of lists */

/* Past this many bytes an answer with many whole tasks goes on as a list does: big payloads and
 * results are left out and said to be. A thousand tasks of a megabyte must not fill the memory. */
#define ANSWER_WHOLE_MAX (64 * MIB)

void task_write(struct json_writer *w, const struct task *task); /* whole */
/* A task that a request has just created, the one at this place; of one with children with
 * `childIds`, in their order. */
void task_write_created(struct json_writer *w, const struct order *orders, size_t count, size_t at);
void task_write_row(struct json_writer *w, const struct task_row *row); /* as a list shows it */
/* With its `lease` and the results of what it depended on; of a task that is part of somebody's
 * trace, or where spans are sent (`traced`), with its `traceparent` too. */
void task_write_claimed(struct json_writer *w, const struct task *task,
                        const struct claim_facts *facts, bool traced);
/* The same without those results, and left open for more fields. */
void task_open_claimed(struct json_writer *w, const struct task *task, bool traced);
/* `deliveries`: of a schedule's run, as its execution has them; absent: none. */
void task_write_detail(struct json_writer *w, const struct task_detail *detail,
                       struct str deliveries);

/* For openapi.json: what a task is shown with beside task_form, and its attempts. */
extern const struct form task_view_form, attempt_form;

void id_write(struct json_writer *w, struct task_id id); /* as a string */
void id_put(struct json_writer *w, const char *key,
            struct task_id id); /* nothing if there is none */
void ids_put(struct json_writer *w, const char *key, const struct task_id *ids, size_t count);
void signal_put(struct json_writer *w, enum worker_signal signal); /* nothing if there is none */
void time_put(struct json_writer *w, const char *key, int64_t ms); /* nothing if it is 0 */

/* {"SCHEDULED":n, …}: every state is there. */
void counts_put(struct json_writer *w, const char *key, const int64_t counts[TASK_STATES]);

#endif
