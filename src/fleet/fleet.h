/* fleet/fleet.h: this node among others: who lives, who leads, what they tell each other.
 *
 * One thread keeps the register of nodes, tries to lead, and while it leads looks for what others
 * left behind: tasks whose node died before their time came, hints that the broker lost. It only
 * proposes: the engine decides by compare-and-set, so two leaders for a while are harmless.
 *
 * Events, wake-ups and cancels cross from node to node through Redis, and through the store
 * while Redis is away for any of them.
 *
 * Thread: fleet_tell(), fleet_look() and fleet_status() are for any; start and stop for one.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_FLEET_FLEET_H
#define ERRAND_FLEET_FLEET_H

#include "base/clock.h"
#include "broker/broker.h"
#include "queue/queue.h"
#include "store/fleet.h"
#include "store/store.h"

#define FLEET_BEAT_MS       SECOND_MS
#define FLEET_DEAD_MS       (12 * SECOND_MS) /* not seen for this long: gone */
#define FLEET_LEAD_TTL_MS   (10 * SECOND_MS)
#define FLEET_LEAD_EVERY_MS (3 * SECOND_MS) /* a leader renews */
#define FLEET_TRY_EVERY_MS  ((int64_t)500)  /* others try to follow it */
#define FLEET_TICK_MS       ((int64_t)250)
#define FLEET_JOIN_MS       (3 * SECOND_MS)  /* a start waits so long for the first tick at most */
#define FLEET_HEAR_MS       SECOND_MS        /* between two looks for messages in the store */
#define FLEET_KEEP_MS       (60 * SECOND_MS) /* messages in the store */
#define FLEET_AHEAD_MS      (5 * SECOND_MS)  /* due times are fetched this long before they come */
#define FLEET_PAGE          ((size_t)1000)
#define FLEET_BACKLOG_MAX   ((size_t)4096) /* event batches that wait to be told; older ones go */

#define FLEET_CLOCK_MS ((int64_t)250) /* a clock further from the store's is wrong */

_Static_assert(2 * FLEET_CLOCK_MS <= QUEUE_CLOCKS_APART_MS,
               "two nodes on either side of the store's clock");

struct fleet;

struct fleet_options {
    struct store *store;               /* borrowed; shared */
    struct broker_options broker;      /* as the engine's; poll: no Redis */
    struct engine *engine;             /* borrowed; started before and stopped after */
    struct clock *clock;               /* borrowed */
    struct str node, address, version; /* borrowed */
    int64_t started_ms;
    void (*heard)(void *arg, struct event_batch *events); /* takes the batch; any thread */
    void *heard_arg;
    /* Who may speak to the nodes has changed; on the fleet's thread. Borrowed. */
    void (*tokens)(void *arg, const struct steward_token *tokens, size_t count);
    void *tokens_arg;
};

/* Comes back when the node is on the list and knows whether it leads, or after FLEET_JOIN_MS. */
MUST_CHECK bool fleet_start(const struct fleet_options *options, struct fleet **out,
                            struct err *err);
void fleet_quiet(
    struct fleet *fleet); /* another may lead from now on; NULL is welcome, any thread */
void fleet_stop(struct fleet *fleet); /* resigns and leaves; NULL is welcome */
void fleet_free(struct fleet *fleet); /* after the engine has ended; until then it may be told and
                                         asked; NULL is welcome */

/* What happened here, for the others. Borrows the batch. */
void fleet_tell(struct fleet *fleet, const struct event_batch *events);

/* This machine's clock beside the store's. */
struct fleet_clock {
    bool known;        /* it was compared */
    int64_t offset_ms; /* ahead of the store's; about half of a trip to it may be error */
    int64_t error_ms;  /* that offset_ms may have */
    bool off;          /* by more than FLEET_CLOCK_MS for certain */
};
/* Asks what time it is for the store, and compares. A trip that took too long compares nothing. */
MUST_CHECK bool fleet_clock_ask(struct steward *steward, struct fleet_clock *clock, int64_t *now_ms,
                                struct err *err);

/* Where this machine's clock is off the node goes by the store's. True: by another time than
 * before.
 */
bool fleet_clock_follow(const struct fleet_clock *measured, struct clock *clock);

/* A document that is held in the store and not in the broker, the other way round, or in both by
 * different holders. */
struct fleet_difference {
    struct str document;
    bool in_store, in_broker;
};
/* What differs at this moment, by name; changes nothing. See compare.c for what that means. */
MUST_CHECK bool fleet_compare(struct steward *steward, struct broker *broker, struct arena *arena,
                              struct fleet_difference **out, size_t *count, struct err *err);

struct fleet_status {
    bool leads, store_away;
    struct fleet_clock clock;
    enum broker_health health; /* of the broker, as this node sees it */
    const char *broker;        /* "redis", "poll", "degraded": as /api/nodes shows it */
    struct queue_load others;  /* of the other nodes together, without what they want */
    size_t nodes;
};
struct fleet_status fleet_status(struct fleet *fleet);

/* The other nodes and the workers they know, as JSON array elements separated by commas. */
struct fleet_view {
    struct str nodes, workers;
};
void fleet_look(struct fleet *fleet, struct arena *arena, struct fleet_view *out);

#endif
