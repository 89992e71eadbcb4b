/* queue/engine.h: what the engine remembers between two batches.
 *
 * It is little: which tasks have a deadline (due.h), each queue's limits (lane.h), who works
 * (worker.h), which claims wait (claim.h), and some tasks that will be needed again (hot.h). All of
 * it follows from what was committed, and is changed by publish.c after the commit, so that a batch
 * that fails leaves no trace.
 *
 * Thread: engine.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_QUEUE_ENGINE_H
#define ERRAND_QUEUE_ENGINE_H

#include "queue/batch.h"
#include "queue/due.h"
#include "queue/failover.h"
#include "queue/hot.h"
#include "queue/janitor.h"
#include "queue/journal.h"
#include "queue/lane.h"
#include "queue/queue.h"
#include "queue/shared.h"
#include "queue/stray.h"
#include "queue/timer.h"
#include "queue/turn.h"
#include "queue/type_book.h"
#include "queue/worker.h"

struct engine {
    struct engine_options with;
    struct store *store;
    struct broker *broker;
    struct id_maker ids;

    struct list pending; /* commands for the next batch, in order */
    struct list jobs;    /* bulk commands that need more batches */

    struct hot hot; /* tasks at hand; only where no other node writes */
    struct due due;
    struct lanes lanes;
    struct claims claims;
    struct workers workers;
    struct strays strays;
    struct turns turns;
    struct timers timers;
    struct winding winding;
    struct retention retention;
    struct rates rates;
    struct type_book types;
    struct journal journal;
    struct series series;
    struct unfollowed_list unfollowed;
    int64_t unfollowed_look_ms; /* shared, monotonic: when to look for what others left */

    struct event_batch *events; /* of the last commit, until they are told */
    size_t in_server;           /* attempts that run inside this server */

    /* Among several nodes: */
    bool shared;             /* other nodes use the store too */
    uint64_t epoch;          /* of our leadership; 0: another leads. Embedded: always 1 */
    bool asked_broker;       /* whom the claims that wait asked last: the broker, or the rows */
    int64_t poll_at_mono_ms; /* when waiting claims ask the store again; see looks_in_real_time */
    struct list late_hints;  /* struct late_hint */
    struct elsewhere elsewhere;
    struct ground ground;

    /* Its own pace: */
    int64_t tend_at_mono_ms;     /* NEVER_MS: nothing to tend */
    int64_t pause_until_mono_ms; /* the store was away: what nobody asks for waits until then */
    int behind;                  /* batches in a row that could not take all commands there were */
    unsigned losses;             /* batches in a row that lost a race */
    uint64_t batches, commands;
    bool draining, dead;

    struct { /* thread.c */
        pthread_t id;
        bool started;
        _Atomic bool stop;
        struct channel inbox;
        int wake_fd, wall_fd;
    } thread;
};

bool engine_paused(const struct engine *engine, struct now now);
/* Until something happens by itself, the store's upkeep aside; NEVER_MS: nothing will. */
int64_t engine_event_in_ms(struct engine *engine, struct now now);

bool engine_accepts(const struct list *commands); /* for assert: they are whole */

/* boot.c: memory and hints are rebuilt from the store. */
MUST_CHECK bool boot_engine(struct engine *engine, struct err *err);

#endif
