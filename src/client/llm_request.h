/* client/llm_request.h: a question as the server reads it, and when to try it again. Pure.
 *
 * Thread: any.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_CLIENT_LLM_REQUEST_H
#define ERRAND_CLIENT_LLM_REQUEST_H

#include "base/buf.h"
#include "client/llm.h"

#define LLM_RETRY_AFTER_MAX_MS DAY_MS

/* The body of the request. `model` is the one to use if the question names none. */
MUST_CHECK bool llm_request_write(const struct llm_question *question, struct str model,
                                  struct buf *out, struct err *err);

/* The headers of an answer that say how long to wait; absent ones are STR_NONE. */
struct llm_pause {
    struct str retry_after;    /* seconds or a date */
    struct str retry_after_ms; /* the finer one that some servers send beside it */
    struct str date;           /* of the answer: what a date in retry_after is compared with */
};

int64_t llm_pause_ms(const struct llm_pause *pause, int64_t now_ms); /* 0: it does not say */

/* How long to wait after try number `tries`. `spread` is 0 ≤ x < 1. A time that the server named
 * is never shortened. */
int64_t llm_wait_ms(const struct llm_limits *limits, unsigned tries, int64_t pause_ms,
                    double spread);

bool llm_status_may_pass(long status); /* a later try may have another answer */

#endif
