/* deliver/usage.h: what runs have cost, and what a user may still spend today.
 *
 * Each run that ended has a record of its cost, which outlives the run and its schedule. Where a
 * daily limit is set, a further record for each user and day (UTC) has the sum: a run is counted
 * with its estimate when its task is created (and once more for each attempt that follows one that
 * has cost something), and with what it really cost when it has ended, so that runs at the same
 * time cannot all slip below the limit, on however many nodes: the record is locked by whoever asks
 * what is left. A run whose worker says nothing of its cost counts as estimated if it went well,
 * and as nothing if it did not.
 *
 * Thread: engine, but for what takes a reader's records. Keeps: I6.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_DELIVER_USAGE_H
#define ERRAND_DELIVER_USAGE_H

#include "queue/guest.h"
#include "schedule/execution.h"

#define USAGE_KEPT_MS (400 * DAY_MS) /* a year, and time to look back at it */

enum { USAGE_RUN, USAGE_DAY }; /* marks of their records */

struct usage {
    double queries, tokens;
    struct task_id schedule; /* whose run it was */
};

/* Notes what a run cost; said again after a retry by hand, the later word counts. False: the batch
 * is over. */
MUST_CHECK bool usage_note(struct batch *batch, const struct execution *run,
                           const struct task *task);
struct usage usage_read(const struct record *record, struct arena *arena);

/* What that user's runs of the day of `at_ms` have taken so far. */
MUST_CHECK bool usage_of_day(struct batch *batch, struct str user, int64_t at_ms, double *out);
MUST_CHECK bool usage_add_to_day(struct batch *batch, struct str user, int64_t at_ms,
                                 double queries);

#endif
