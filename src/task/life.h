/* task/life.h: what may happen to a task, decided without a store, a socket or a clock.
 *
 * Each verb checks that the task's state allows it (the table in life.c), then changes the struct.
 * Refused verbs change nothing. Callers save the result by compare-and-set on (state, attempt).
 *
 * Keeps: G2 (only the current token finishes), I1, I3.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_TASK_LIFE_H
#define ERRAND_TASK_LIFE_H

#include "base/err.h"
#include "task/task.h"

enum task_event {
    EV_DUE,     /* its time has come */
    EV_UNBLOCK, /* its dependencies are met */
    EV_CLAIM,
    EV_COMPLETE,
    EV_RETRY,    /* the attempt ended badly, another will follow */
    EV_GIVE_UP,  /* the attempt ended badly, none will follow */
    EV_TIME_OUT, /* likewise, by running too long */
    EV_RELEASE,
    EV_CANCEL,
    EV_REVIVE, /* a manual retry */
    EV_DELAY,  /* put off to a later time */
    EV_OPEN,   /* a container's first child starts, or it ends without one that did */
    EV_SHELVE, /* a manual retry of what has to wait its turn again */
    EV_REOPEN, /* a manual retry of a container */
    EV_HOLD,   /* it had its turn, and has to wait for it again: its parent was put off */
    EV_KILL,   /* given up by hand, before its time came */
    TASK_EVENTS
};

/* False when the table has no such cell. */
bool task_life_allows(enum task_state state, enum task_event event, enum task_state *next);
const char *task_event_name(enum task_event event);

/* SCHEDULED or QUEUED, by scheduled_ms; fills the times. Everything else is the order's. */
void task_begin(struct task *task, int64_t now_ms);

/* WAITING for dependencies, or for its turn among its parent's children; CANCELLED when it has
 * expired already. */
void task_begin_waiting(struct task *task, int64_t now_ms);

/* What it waited for has happened: QUEUED, or SCHEDULED while its time is still ahead. */
MUST_CHECK bool task_unblock(struct task *task, int64_t now_ms, struct err *err);

MUST_CHECK bool task_due(struct task *task, int64_t now_ms, struct err *err);

struct task_claim {
    struct str worker;
    int64_t lease_ms;
    uint64_t token;
};
MUST_CHECK bool task_start(struct task *task, const struct task_claim *claim, int64_t now_ms,
                           struct err *err);

/* Is this the lease that may speak for the task now? Else ERR_LEASE_LOST. */
MUST_CHECK bool task_holds(const struct task *task, struct task_lease lease, struct err *err);

/* The lease now ends `extend_ms` from now (negative: as the claim asked), but never past the
 * attempt's time-out, of which `left_ms` are left: the caller has a clock that does not jump. */
MUST_CHECK bool task_renew(struct task *task, struct task_lease lease, int64_t extend_ms,
                           int64_t left_ms, int64_t now_ms, struct err *err);

/* The three ways a worker ends its attempt, after task_holds(). A cancel that was requested turns
 * fail and release into CANCELLED; complete wins over it. */
MUST_CHECK bool task_complete(struct task *task, struct str result, int64_t now_ms,
                              struct err *err);
MUST_CHECK bool task_fail(struct task *task, const struct task_error *error, bool retry,
                          double chance, int64_t now_ms,
                          struct err *err); /* chance: 0 ≤ x < 1, for the jitter */
/* After a task_fail() that is followed by a retry: it waits at least until then. */
void task_retry_not_before(struct task *task, int64_t at_ms);
MUST_CHECK bool task_release(struct task *task, int64_t delay_ms, int64_t now_ms, struct err *err);

/* A worker that repeats itself: true when the attempt `lease` names already ended with `outcome`
 * (RETRYING, FAILED and CANCELLED all answer a repeated fail) and no newer attempt has started. */
bool task_repeats(const struct task *task, struct task_lease lease, enum task_outcome outcome);

/* An operator takes the task from its attempt, whose lease is void; it is QUEUED at its old place.
 */
MUST_CHECK bool task_take_back(struct task *task, int64_t now_ms, struct err *err);

/* The attempt ran past timeout_ms, or its lease ended: retried while the budget lasts. */
MUST_CHECK bool task_time_out(struct task *task, double chance, int64_t now_ms, struct err *err);
MUST_CHECK bool task_lose(struct task *task, double chance, int64_t now_ms, struct err *err);

/* Not running: CANCELLED at once. Running: marks the request; the attempt's end does the rest.
 * Already cancelled: true, unchanged. Otherwise terminal: ERR_CONFLICT. */
MUST_CHECK bool task_cancel(struct task *task, struct str reason, int64_t now_ms, struct err *err);
MUST_CHECK bool task_cancel_now(struct task *task, int64_t now_ms,
                                struct err *err); /* of a running one */

/* SCHEDULED or RETRYING → FAILED with the error `killed`: it will not run, and is not forgotten. */
MUST_CHECK bool task_kill(struct task *task, int64_t now_ms, struct err *err);

/* FAILED, TIMEOUT or CANCELLED → QUEUED with a fresh budget; `attempt` goes on counting. */
MUST_CHECK bool task_revive(struct task *task, int64_t now_ms, struct err *err);

/* FAILED, TIMEOUT or CANCELLED → WAITING: retried, but its turn has not come. */
MUST_CHECK bool task_shelve(struct task *task, int64_t now_ms, struct err *err);

/* SCHEDULED or QUEUED → WAITING: a child whose turn is over before it could start. */
MUST_CHECK bool task_hold_back(struct task *task, int64_t now_ms, struct err *err);

/* A container runs from its first child's start to its last child's end, without an attempt. */
MUST_CHECK bool task_open(struct task *container, int64_t now_ms, struct err *err);
MUST_CHECK bool task_reopen(struct task *container, int64_t now_ms, struct err *err);
MUST_CHECK bool task_close(struct task *container, struct str result, int64_t now_ms,
                           struct err *err);
MUST_CHECK bool task_close_badly(struct task *container, const struct task_error *error,
                                 int64_t now_ms, struct err *err); /* CANCELLED if that was asked */

/* PATCH: which fields, and their new values. */
struct task_patch {
    uint64_t given;        /* TASK_BIT() of each field that changes */
    const struct task *to; /* its values in those fields */
};
MUST_CHECK bool task_change(struct task *task, const struct task_patch *patch, int64_t now_ms,
                            struct err *err);

/* task/retry.c: how long the retry after failure n (1…) waits: base·factor^(n-1), at most max,
 * `jitter` of it random. Factor 0 is the curve of Faktory's jobs: base +
 * (n-1)^4 + up to 29·n seconds. Saturates. */
int64_t task_backoff_ms(const struct task_backoff *backoff, int32_t failures, double chance);

#endif
