/* queue/shared.h: what is different when other nodes use the store too.
 *
 * Thread: engine.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_QUEUE_SHARED_H
#define ERRAND_QUEUE_SHARED_H

#include "broker/broker.h"
#include "queue/due.h"
#include "queue/item.h"

#define POLL_MS      SECOND_MS /* between two looks of a waiting claim while no broker can tell */
#define OWN_LEASE_MS (30 * SECOND_MS) /* of an attempt inside the server ... */
#define OWN_RENEW_MS (10 * SECOND_MS) /* ... renewed this often */

struct engine;

struct late_hint { /* the store refused what it names: it is offered again a little later */
    struct link link;
    struct hint hint;
    struct arena arena;
};

struct elsewhere { /* what workers of other nodes would take */
    struct arena arena;
    const struct wanted *wanted;
    size_t count;
};

void shared_fini(struct engine *engine);

bool shared_is_own(const struct engine *engine, struct str worker); /* inside this very server */
bool shared_somebody_takes(struct batch *batch, const struct task *task); /* seen lately */
bool shared_load_rooms(struct batch *batch, const struct command_claim *claim);
void shared_review_item(struct batch *batch, struct item *item);
bool relies_on_broker(const struct engine *engine);

void shared_offer_later(struct engine *engine, const struct hint *hint);
void shared_poll(struct engine *engine, struct now now); /* waiting claims ask again */
int64_t shared_poll_in_ms(const struct engine *engine, struct now now);
int64_t shared_look_in_ms(const struct engine *engine); /* of real time; NEVER_MS: no need */
void shared_look(struct engine *engine);                /* guests forget what they knew */

/* ---- Deadlines that may be out of date ---- */

bool shared_is_stale(struct batch *batch, struct item *item, const struct due_entry *entry);
bool shared_renew_own(struct batch *batch, struct item *item, struct due_entry *entry,
                      struct err *err);
void shared_guard_leases(struct batch *batch); /* stops work whose lease could not be renewed */

#endif
