/* tests/fleet/stand.h: the fleet's work without its threads, on a store and an engine that the test
 * holds in its hands.
 *
 * The store's side (struct steward) is rows in memory, the engine takes commands and answers
 * nothing unless the test says so, and time is an argument of each tick.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_TESTS_FLEET_STAND_H
#define ERRAND_TESTS_FLEET_STAND_H

#include "fleet/parts.h"
#include "store/ops.h"

#define ROWS_MAX 64

struct rows { /* what nodes share; several stands may */
    struct store store;
    struct {
        char id[32], body[1024];
        int64_t seen_ms;
    } nodes[ROWS_MAX];
    size_t nodes_count;
    char leader[32];
    uint64_t epoch;
    int64_t leader_until_ms;
    struct hint queued[ROWS_MAX];
    size_t queued_count;
    struct steward_held held[ROWS_MAX];
    size_t held_count;
    struct steward_due due[ROWS_MAX];
    size_t due_count;
    struct {
        char from[32];
        char body[1024];
    } messages[ROWS_MAX];
    size_t messages_count;
    int64_t now_ms; /* the store's clock */
    bool away;
};

struct stand {
    struct fleet *fleet;
    struct clock clock;
    struct list
        given;    /* commands that went to the engine: struct sent, answered by stand_answer() */
    size_t heard; /* batches of events from other nodes */
};

/* `url`: of the broker. Two stands with the same rows are two nodes. */
void stand_init(struct stand *stand, struct rows *rows, const char *node, const char *url);
void stand_fini(struct stand *stand);
#define STAND(name) SCOPED(stand_fini) struct stand name

void stand_tick(struct stand *stand, int64_t now_ms);

/* The last command of a kind that was given to the engine and not yet taken back; NULL: none. */
const struct command *stand_given(struct stand *stand, enum command_kind kind);
/* Answers all of them; what was asked about its workers with this broker's health. */
void stand_answer(struct stand *stand, enum broker_health health);

#endif
