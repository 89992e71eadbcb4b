/* tests/conformance/broker_suite.h: the tests that every broker must pass.
 *
 * The suite is the definition of broker.h. A program links broker_suite.c and broker_model.c and
 * says which broker it is about.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_TESTS_BROKER_SUITE_H
#define ERRAND_TESTS_BROKER_SUITE_H

#include "base/arena.h"
#include "broker/broker.h"

/* Given by the program: where a broker that holds nothing can be opened. */
void broker_suite_options(struct broker_options *options);

#define STAND_CALLS_MAX 64

#ifndef TELLS_LINES /* who waits for a document, who is ahead and how old; else the rows are asked \
                     */
#define TELLS_LINES true
#endif

/* A broker under test, with what its ready callback was told. */
struct stand {
    struct broker *broker;
    struct arena arena;
    struct str calls[STAND_CALLS_MAX]; /* "queue/type", in order */
    size_t calls_count;
};

void stand_init(struct stand *s);
void stand_fini(struct stand *s);

/* stand_offer(&s, 7, .type = STR("mail")) offers a hint; what is not said: type "t", queue "q",
 * NORMAL, queued_ms 1000, no document. The id is made from the number. */
struct hint stand_hint(uint64_t number, struct hint hint);
#define stand_offer(s, number, ...)                                                                \
    stand_offer_hint((s), stand_hint(number, (struct hint){__VA_ARGS__}))
void stand_offer_hint(struct stand *s, struct hint hint); /* and sends it: one offer, one batch */

/* What was offered as stand_offer() says is withdrawn, or known. */
#define stand_withdraw(s, number, ...)                                                             \
    stand_withdraw_hint((s), stand_hint(number, (struct hint){__VA_ARGS__}))
void stand_withdraw_hint(struct stand *s, struct hint hint);
bool stand_knows(struct stand *s, uint64_t number);

struct task_id stand_id(uint64_t number);

/* stand_take(&s, 10, .queues = …): the numbers of the tasks taken, like "3 1 2". */
struct str stand_take(struct stand *s, size_t max, struct want want);
#define ANY_QUEUE ((struct want){.any_queue = true})

#endif
