/* tests/queue/request.h: a request under construction: orders that may name each other.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_TESTS_QUEUE_REQUEST_H
#define ERRAND_TESTS_QUEUE_REQUEST_H

#include "bench.h"
#include "test.h"

#define MEMBERS_MAX 64

struct request {
    struct bench *b;
    struct order orders[MEMBERS_MAX];
    size_t count;
};

/* Adds an order; returns 1 + its place, as orders name each other. */
size_t request_add(struct request *r, size_t parent, const char *document);
void request_need(struct request *r, size_t who, struct order_need need);
struct call *request_send(struct request *r);
struct task_id request_id(const struct request *r, size_t place);
enum task_state request_state(struct request *r, size_t place);

/* Claims the next task and ends it so. */
enum err_kind claim_and(struct bench *b, enum task_outcome outcome);

#endif
