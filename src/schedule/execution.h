/* schedule/execution.h: one entry in a schedule's history: a run, a wake-up, or times left out.
 *
 * The id of a run is the id of its task, so that a task's end finds it without searching.
 *
 * Thread: any. Keeps nothing.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_SCHEDULE_EXECUTION_H
#define ERRAND_SCHEDULE_EXECUTION_H

#include "store/record.h"
#include "wire/form.h"

#define EXECUTION_CONTENT_MAX    (256 * KIB) /* of a result; its task has the whole */
#define EXECUTION_STEPS_MAX      50          /* the last ones stay */
#define EXECUTION_PROGRESS_MAX   (128 * KIB)
#define EXECUTION_DELIVERIES_MAX (64 * KIB)

enum execution_status {
    EXECUTION_RUNNING,
    EXECUTION_SUCCESS,
    EXECUTION_FAILURE,
    EXECUTION_WAKE_UP,
    EXECUTION_SKIPPED,
    EXECUTION_STATUSES
};

struct execution {
    struct task_id id, schedule;
    struct str key;       /* unique in the store; absent: none. Not in the body */
    struct task_id task;  /* of a run; none: there was none */
    int64_t scheduled_ms; /* the occurrence */
    int64_t created_ms, started_ms, finished_ms;
    enum execution_status status;
    int64_t count;      /* SKIPPED: how many times were left out; else 1 */
    struct str content; /* what came of it, as text */
    struct str chat, message, user;
    double queries, tokens; /* what it cost; negative: not known */
    struct str progress;    /* the steps it reported: [{"at","percent","message"}] */
    bool delivered;
    struct str deliveries; /* {"EMAIL":{"status","attempts","error"}} */

    /* Not shown: */
    bool decides;       /* its end is the end of its one-time schedule */
    int64_t counted_ms; /* whose day's limit it counts for; 0: that of its creation */
    int64_t expires_ms; /* removed from the history then; 0: never */
    int64_t version;    /* of its record; 0: new. Not in the body */
};

#define EXECUTION_INIT ((struct execution){.count = 1, .queries = -1, .tokens = -1})

extern const struct form execution_form;
extern const char *const execution_statuses[];

MUST_CHECK bool execution_load(const struct record *record, struct arena *arena,
                               struct execution *out, struct err *err);
struct record execution_record(const struct execution *execution, struct arena *arena);

/* The key of an occurrence: whoever saves it first runs it. */
struct str execution_key(struct task_id schedule, int64_t occurrence_ms, struct arena *arena);

/* A result as text: a JSON string without its quotes, anything else as it is, null as nothing. */
struct str execution_content(struct str result, struct arena *arena);

/* The queries that a run counts for, once it has ended: what its worker said; of one that ended
 * well and says nothing, what was expected. */
double execution_queries(const struct task *task);

/* One more step; the oldest go when there are too many. */
void execution_step(struct execution *execution, int64_t at_ms, double percent, struct str message,
                    struct arena *arena);

#endif
