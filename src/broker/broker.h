/* broker/broker.h: hints and wake-ups. One interface; behind it memory/ and redis/.
 *
 * The broker proposes which task to start next; the store decides. What it holds can be rebuilt
 * from the store at any time: a lost or stale hint costs time, never correctness. It does not know
 * store/.
 *
 * A hint is *ready* from broker_offer() until it is taken or withdrawn. Taking one also holds its
 * document; ready tasks of a held document stand in line behind it at no cost and come forward when
 * it is let go. Order everywhere (G3, G4): priority, then queued_ms, then creation (id.hi).
 *
 * Thread: engine.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_BROKER_BROKER_H
#define ERRAND_BROKER_BROKER_H

#include "base/arena.h"
#include "base/err.h"
#include "task/task.h"

struct broker;

/* Told when a ready task can be taken where before none of that queue and type could, or a better
 * one can: whoever waits for it should ask again. Called inside offer, let_go and give_back. */
typedef void broker_ready_fn(void *arg, struct str queue, struct str type);

MUST_CHECK bool broker_open(struct str url, broker_ready_fn *ready, void *arg, struct broker **out,
                            struct err *err); /* memory: */
void broker_close(struct broker *broker);     /* NULL is welcome */

struct hint {
    struct task_id id;
    struct str type, queue;
    struct str document; /* absent: none */
    enum task_priority priority;
    int64_t queued_ms;
};

/* The task is QUEUED and may start. Offering a known task again moves it to the place that the new
 * hint says (a changed priority); nothing happens if nothing changed. */
void broker_offer(struct broker *broker, const struct hint *hint);

/* The task is no longer QUEUED for a reason other than being taken. Unknown ids are passed over. */
void broker_withdraw(struct broker *broker, struct task_id id);

/* Which tasks a claim may take. */
struct want_queue {
    struct str name;
    size_t room; /* how many of this queue's tasks may start now (pause, limits); SIZE_MAX: any */
};
struct want {
    const struct str *types; /* none: any type */
    size_t types_count;
    const struct want_queue *queues;
    size_t queues_count;
    bool any_queue; /* every queue that is not named in `queues`, without limit (in-server workers)
                     */
};

/* Proposes up to `max` tasks, best first, never two of one document, none of a held document.
 * They are no longer ready, and their documents are held by them. Returns how many. */
size_t broker_take(struct broker *broker, const struct want *want, size_t max, struct hint *out,
                   struct arena *arena);

/* A proposal came to nothing (the batch was rolled back): ready again in its old place. */
void broker_give_back(struct broker *broker, const struct hint *hint);

/* A document is held by a running attempt (found at start), or let go because it ended. Letting go
 * something that `holder` does not hold does nothing. */
void broker_hold(struct broker *broker, struct str document, struct task_id holder);
void broker_let_go(struct broker *broker, struct str document, struct task_id holder);

/* ---- Looking ---- */

struct broker_document {
    struct str document;
    bool held;
    struct task_id holder;
    struct task_id *waiting; /* ready tasks of the document in start order */
    size_t waiting_count;
};
/* Unknown documents are not held and nobody waits. At most `most` waiting ids. */
void broker_document(struct broker *broker, struct str document, size_t most, struct arena *arena,
                     struct broker_document *out);
/* All held documents (at most `most`), without their waiting lines. Returns how many. */
size_t broker_documents(struct broker *broker, size_t most, struct arena *arena,
                        struct broker_document **out);
/* How many ready tasks of its document start before this one; the holder not counted. */
size_t broker_ahead(struct broker *broker, struct task_id id);

bool broker_knows(struct broker *broker, struct task_id id); /* is it ready? */
size_t broker_ready_count(struct broker *broker);
/* queued_ms of the oldest ready task of a queue; INT64_MAX: none. Waiting behind a document counts.
 */
int64_t broker_oldest_ms(struct broker *broker, struct str queue);
/* Could a claim with this `want` take something now? */
bool broker_has(struct broker *broker, const struct want *want);

const char *broker_kind(const struct broker *broker); /* "memory", for /api/nodes */
size_t broker_memory(const struct broker *broker);    /* bytes held, for metrics and bench */

#endif
