/* work/push_answer.h: what an answer to a push means for its task. Pure: no socket, no clock.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_WORK_PUSH_ANSWER_H
#define ERRAND_WORK_PUSH_ANSWER_H

#include "work/job.h"

#define PUSH_BODY_SHOWN KIB /* of an answer that is not 2xx, in the error's detail */

struct push_answer {
    int status;             /* 0: there was none */
    struct str body;        /* at most TASK_RESULT_MAX */
    bool body_cut;          /* there was more */
    struct str retry_after; /* the headers of these names; or absent */
    struct str date;
    const char *broken;  /* why the exchange ended early; NULL: it is whole */
    const char *refused; /* what the guard said of the address; NULL: it was let through */
};

/* `now_ms` is the wall clock of the world outside. Texts live in the arena or are the answer's. */
struct job_end push_judge(const struct push_answer *answer, int64_t now_ms, struct arena *arena);
/* The same by the rules of the Cloud Tasks API: any 2xx is success, all else is tried again. */
struct job_end push_cloud_judge(const struct push_answer *answer, int64_t now_ms,
                                struct arena *arena);

#endif
