/* cloud/dispatch.h: what a task of the Cloud Tasks API remembers from attempt to attempt, and how
 * it says where it goes.
 *
 * The request lies in two places: its body is the task's payload, the rest its metadata, as the
 * member `httpRequest` with `url`, `httpMethod` and `headers`.
 *
 * Thread: any. Pure.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_CLOUD_DISPATCH_H
#define ERRAND_CLOUD_DISPATCH_H

#include "task/task.h"

#define CLOUD_WORKER "errand:push:cloud" /* who sends its requests */

#define CLOUD_DEADLINE_MS     (10 * MINUTE_MS) /* of one attempt, unless the task says otherwise */
#define CLOUD_DEADLINE_MIN_MS (15 * SECOND_MS)
#define CLOUD_DEADLINE_MAX_MS (30 * MINUTE_MS)

enum cloud_method {
    CLOUD_METHOD_NONE,
    CLOUD_POST,
    CLOUD_GET,
    CLOUD_HEAD,
    CLOUD_PUT,
    CLOUD_DELETE,
    CLOUD_PATCH,
    CLOUD_OPTIONS,
    CLOUD_METHODS
};
extern const char *const cloud_method_words[]; /* by enum cloud_method, ended by NULL */
static inline bool cloud_method_has_body(enum cloud_method method)
{
    return method == CLOUD_POST || method == CLOUD_PUT || method == CLOUD_PATCH;
}

struct cloud_request {
    struct str url;
    enum cloud_method method;
    struct str headers; /* a JSON object of texts */
};
/* As metadata; `more` are further members, each with a comma before it, or absent. */
struct str cloud_request_text(const struct cloud_request *request, struct str more,
                              struct arena *arena);
MUST_CHECK bool cloud_request_read(struct str metadata, struct arena *arena,
                                   struct cloud_request *out, struct err *err);

/* What was, before the attempt that runs or comes next. */
struct cloud_dispatch {
    int64_t first_ms;     /* when the first attempt was sent; 0: none has ended yet */
    int64_t scheduled_ms; /* what the last one was scheduled for */
    int32_t answers;      /* how many had an answer */
    int32_t executions;   /* how many of them were not 5xx */
    int32_t status;       /* of the last one; 0: there was no answer */
};
struct cloud_dispatch cloud_dispatch_read(const struct task *task, struct arena *arena);
/* An attempt of the task ended without success: notes it. `status`: 0: there was no answer. */
void cloud_dispatch_note(struct task *task, int status, struct arena *arena);

/* What the attempt that runs or comes next is scheduled for. */
int64_t cloud_eta_ms(const struct task *task);
/* The status in an error of a push; 0: there was no answer. */
int cloud_status_of(const struct task_error *error, struct arena *arena);

/* The task's short name, out of its externalId. */
struct str cloud_short_name(const struct task *task);
/* The queue's, out of its name in Errand. */
struct str cloud_short_queue(struct str queue);

#endif
