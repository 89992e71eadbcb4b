/* queue/queue.h: the engine. Commands in, one transaction per batch, answers out.
 *
 * Whoever wants something of the queue fills a `struct command`, gives it to the engine and gets
 * the same command back, answered, after the change is on disk (G1). Commands that arrive while one
 * commit is under way form the next batch. A command that fails takes no other with it.
 *
 * Thread: engine_give() and the answers' channel are for any thread; the rest is the engine's.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_QUEUE_QUEUE_H
#define ERRAND_QUEUE_QUEUE_H

#include "base/clock.h"
#include "broker/broker.h"
#include "queue/command.h"
#include "queue/event.h"

/* Two nodes whose clocks are right differ by less. A lease that another node wrote is given as much
 * longer before it counts as lost. */
#define QUEUE_CLOCKS_APART_MS ((int64_t)500)

/* ---- The engine ---- */

struct engine;

/* What the engine says besides its answers, which go to each command's `reply_to`: on its own
 * thread, once per commit. */
struct engine_host {
    void *arg;
    void (*happened)(void *arg, struct event_batch *events); /* takes the batch; may be NULL */
    /* An attempt of a worker inside the server should stop. NULL: there are none. */
    void *abort_arg;
    void (*abort)(void *arg, struct task_id id, int32_t attempt, enum abort_why why);
    void (*failed)(void *arg, const struct err *err); /* the store cannot be trusted: end soon */
    /* An attempt has ended, and that is on disk: the task as the attempt ran, and as it is now with
     * its metadata. NULL: nobody wants to know. */
    void *ended_arg;
    void (*ended)(void *arg, const struct task *was, const struct task *now);
};

struct engine_options {
    struct store *store;   /* borrowed */
    struct broker *broker; /* borrowed; opened with engine_ready as its callback */
    struct clock *clock;
    struct rand *rand;
    struct engine_host host;
    int64_t retention_ms;        /* [retention] finished; 0: for ever */
    _Atomic size_t waiting_max;  /* claims that may wait at once: beyond it ERR_BUSY */
    int64_t grace_ms;            /* a cancelled remote attempt loses its lease after this */
    struct str node;             /* who we are among those that share the store; borrowed */
    struct guest *const *guests; /* borrowed; see guest.h */
    size_t guests_count;
    const struct str *types; /* of tasks: those with figures of their own in any case; copied */
    size_t types_count;
    bool looks_in_real_time; /* at what others did, though the clock is wound by hand */
    bool doubts_memory;      /* for tests: what is at hand is compared with its row */
};

/* Builds the memory state from the store. The broker's `ready` callback must be engine_ready with
 * the address of the variable that `out` points to, because the broker is older than the engine. */
MUST_CHECK bool engine_new(const struct engine_options *options, struct engine **out,
                           struct err *err);
void engine_free(struct engine *engine); /* answers what still waits with ERR_UNAVAILABLE */
void engine_ready(void *engine_pointer, struct str queue, struct str type);

/* One batch: takes the commands, fires what is due, commits, answers. For tests and the simulator,
 * and what the thread does in a loop. Returns true when another step would find work at once. */
bool engine_step(struct engine *engine, struct list *commands);

/* Milliseconds until something falls due by either clock; -1: nothing will by itself. */
int64_t engine_due_in_ms(struct engine *engine);

/* ---- Its thread ---- */

MUST_CHECK bool engine_start(struct engine *engine, struct err *err);
void engine_give(struct engine *engine,
                 struct list *commands); /* any thread; leaves the list empty */
void engine_set_waiting_max(struct engine *engine, size_t claims); /* while it runs; any thread */
void engine_stop(struct engine *engine); /* waits until the thread has ended */

#endif
