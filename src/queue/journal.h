/* queue/journal.h: what an operator is told of the engine's work, beside metrics and events.
 *
 * Attempts that failed for good are told one by one, up to a number a second: a storm of failures
 * must not become a storm of lines. Nothing that a client wrote freely is in a line.
 *
 * Thread: engine.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_QUEUE_JOURNAL_H
#define ERRAND_QUEUE_JOURNAL_H

#include "task/task.h"

#define JOURNAL_FAILED_MAX 20              /* lines about failures in a second */
#define JOURNAL_SLOW_MS    (1 * SECOND_MS) /* a commit of this length is told */

struct journal {
    int64_t second; /* monotonic */
    unsigned told, left_out;
    uint64_t slow_commits; /* since the start */
};

void journal_failed(struct journal *journal, const struct task *task, int64_t mono_ms);
void journal_commit(struct journal *journal, int64_t took_ms, size_t tasks);

/* At start: what was there, and what ran when the last process ended. */
void journal_recovered(size_t live, size_t running);

#endif
