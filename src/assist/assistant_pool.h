/* assist/assistant_pool.h: a few threads that ask the language model, so that nobody else waits
 * for it.
 *
 * A job is given away and comes back as notes: steps on the way, then the end. Whoever takes a note
 * frees it with mem_free().
 *
 * Thread: any gives; the threads' own answer.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_ASSIST_ASSISTANT_POOL_H
#define ERRAND_ASSIST_ASSISTANT_POOL_H

#include "assist/assistant.h"
#include "base/channel.h"

#define ASSISTANT_THREADS     4
#define ASSISTANT_WAITING_MAX 100 /* jobs; further ones are refused */

struct assistant_job {
    struct link link;
    struct arena *arena; /* the job's until it is back */
    struct assistant_asked asked;
    bool away; /* out: the model did not answer; otherwise `said` is filled */
    struct assistant_said said;
    void *sender;
};

struct assistant_note {
    struct link link;
    struct assistant_job *job;
    const char *step; /* NULL: the job is back */
};

struct assistant_pool;

struct assistant_pool_options {
    const struct llm_options *llm; /* borrowed */
    struct channel *notes;         /* where jobs come back; borrowed */
};

MUST_CHECK bool assistant_pool_start(const struct assistant_pool_options *options,
                                     struct assistant_pool **out, struct err *err);
/* False: too many wait; the job is still the caller's. */
MUST_CHECK bool assistant_pool_give(struct assistant_pool *pool, struct assistant_job *job,
                                    struct err *err);
/* Gives up what is being asked; every job is back when it returns. NULL is welcome. */
void assistant_pool_stop(struct assistant_pool *pool);

#endif
