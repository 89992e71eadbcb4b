/* tests/broker/node.h: nodes of a fleet that share one Redis, or two, of the test's own.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_TESTS_BROKER_NODE_H
#define ERRAND_TESTS_BROKER_NODE_H

#include "broker/broker.h"
#include "conformance/redis_server.h"

struct fleet {
    struct redis_server server, low; /* low is started only if asked for */
    struct arena arena;
    struct broker *a, *b; /* two nodes */
    size_t ready;         /* calls at node a */
};

void fleet_init(struct fleet *f); /* filled with nothing */
void fleet_init_two(struct fleet *f);
void fleet_fini(struct fleet *f);

struct task_id number_id(uint64_t number);
/* Type "t", queue "q", queued_ms 1000 + number. */
struct hint hint_of(uint64_t number, enum task_priority priority, struct str document);
void offer(struct broker *broker, uint64_t number, enum task_priority priority,
           struct str document);                       /* and sends it */
void withdraw(struct broker *broker, uint64_t number); /* a NORMAL one without a document */
bool knows(struct broker *broker, uint64_t number);
/* The numbers of what a claim of everything takes, like "3 1". */
struct str take(struct fleet *f, struct broker *broker, size_t max);
bool has(struct broker *broker);

/* Waits until it is or is not so, under a generous limit. */
void until(bool (*is)(struct broker *broker), struct broker *broker, bool wanted);
bool is_degraded(struct broker *broker);
/* Do claims ask the rows, though it was looked at and all nodes are said to see it? */
bool asks_rows(struct broker *broker);

struct str ask(struct fleet *f, const char *command); /* of the first Redis */

#define FLEET(f) SCOPED(fleet_fini) struct fleet f

#endif
