/* schedule/usage.h: what runs have cost, and what a user may still spend today.
 *
 * Each run that ended has a record of its cost, which outlives the run and its schedule. Where a
 * daily limit is set, a further record for each user and day (UTC) has the sum: a run is counted
 * with its estimate when its task is created (and once more for each attempt that follows one that
 * has cost something), and with what it really cost when it has ended, so that runs at the same
 * time cannot all slip below the limit, on however many nodes: whoever asks what is left holds the
 * record of that day, and begins it where there is none, until its transaction ends. A run whose
 * worker says nothing of its cost counts as estimated if it went well, and as nothing if it did
 * not.
 *
 * Thread: engine, but for usage_read(). Keeps: I6.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_SCHEDULE_USAGE_H
#define ERRAND_SCHEDULE_USAGE_H

#include "queue/guest.h"
#include "schedule/execution.h"

#define USAGE_KEPT_MS (400 * DAY_MS) /* a year, and time to look back at it */

enum { USAGE_RUN, USAGE_DAY }; /* marks of their records */

struct usage {
    double queries, tokens;
    struct task_id schedule; /* whose run it was */
    int64_t counted_ms;      /* in the day whose sum has it; 0: in that of its end */
};

/* Notes what a run cost; said again after a retry by hand, the later word counts. False: the batch
 * is over. */
MUST_CHECK bool usage_note(struct batch *batch, const struct execution *run,
                           const struct task *task);
struct usage usage_read(const struct record *record, struct arena *arena);

/* ---- The daily limit ---- */

struct usage_limit {
    _Atomic int64_t queries_max; /* of one user in one day, UTC; 0: any number */
    struct usage_reserved { /* runs that this batch lets through and whose tasks are not created */
        struct str user;
        double queries;
    } * reserved;
    size_t count, room;
};

void usage_limit_fini(struct usage_limit *limit);
void usage_forget_reserved(struct usage_limit *limit); /* its batch is over */

/* Sets aside what runs of that user need today. False: the day has no room for them; `refused` is
 * ERR_BUSY, says why and how long to wait. */
bool usage_reserve(struct usage_limit *limit, struct batch *batch, struct str user, double queries,
                   struct err *refused);

/* Whether the day's sum changes because the task of a run went from `was` (NULL: it is new) to
 * `now`. */
bool usage_counts(const struct usage_limit *limit, const struct task *was, const struct task *now);
/* Changes it. Another attempt that the day has no room for is not made: the run ends here. */
void usage_count_run(struct usage_limit *limit, struct batch *batch, const struct task *was,
                     const struct task *now, const struct execution *run);

#endif
