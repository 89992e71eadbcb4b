/* store/fleet.h: what a store that several nodes share can do besides store.h.
 *
 * On one machine the engine's memory knows every task; in a fleet each node knows only what went
 * through its own hands, and asks the rows for the rest. The functions on a transaction are the
 * engine's; a `struct steward` is one more connection, for whoever keeps the fleet in order: the
 * register of nodes, the leader's row, the walks over what is due or queued. An embedded
 * store has none of this: store_shared() says so, and only then may the rest be called. The
 * steward's functions live in store/postgres/, the only such store.
 *
 * Every walk is a keyset batch: it goes on behind the last row it saw, so that one stuck row never
 * hides the rest.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_STORE_FLEET_H
#define ERRAND_STORE_FLEET_H

#include "store/store.h"
#include "task/hint.h"

bool store_shared(const struct store *store);

/* On whom the store stands. A database may be replaced by a standby that lacks what was committed
 * last: then `history` is another number than before, and what memory holds must give way to the
 * rows. The transaction that notices fails. For any thread. */
struct store_ground {
    uint64_t history;
    int64_t server; /* which server answers; changes when it restarts, too */
    uint32_t line;  /* of history, the same for all nodes; 0: the server does not tell */
};
struct store_ground store_ground(const struct store *store);

/* ---- For the engine, in its transaction ---- */

/* The limited and paused queues among `names` (all of them without names), with what may start now
 * in the whole fleet. Their rows are locked until the transaction ends, so that a claim that stays
 * within `room` keeps the limit; tx_save() counts what starts and ends. */
struct store_room {
    struct store_queue settings;
    size_t room;         /* SIZE_MAX: any number */
    int64_t opens_at_ms; /* room is 0 because of the rate: when the next may start; else 0 */
};
MUST_CHECK bool tx_rooms(struct tx *tx, const struct str *names, size_t names_count, int64_t now_ms,
                         struct arena *arena, struct store_room **out, size_t *count,
                         struct err *err);

/* The transaction fails with ERR_CONFLICT if one of these queues is limited or paused: costs no
 * look. False: they must be asked. */
MUST_CHECK bool tx_expect_open(struct tx *tx, const struct str *names, size_t count);

/* What a broker would propose, straight from the rows: QUEUED, no containers, best first by G4,
 * never two of a document, none whose document is held (but by its own family), none that another
 * transaction is taking, and none that this one was proposed before, nor another of its document:
 * a claim that holds a task uses up a place of its queue, and the next must not count it once more.
 * Locks them. Writes at most `max` to `out`. */
MUST_CHECK bool tx_propose(struct tx *tx, const struct want *want, size_t max, struct arena *arena,
                           struct hint *out, size_t *count, struct err *err);

/* Who holds a document and who waits for it, in start order, at most `most` of them. */
struct store_document {
    struct str document;
    bool held;
    struct task_id holder;
    struct str worker; /* of the attempt that runs on it; absent: none */
    int64_t since_ms;
    struct task_id *waiting;
    size_t waiting_count;
    int64_t line; /* out of tx_documents(): so many wait, however many are told */
};
#define DOCUMENT_FIRST 10 /* of those who wait are told with each of a list of documents */
MUST_CHECK bool tx_document(struct tx *tx, struct str document, size_t most, struct arena *arena,
                            struct store_document *out, struct err *err);
MUST_CHECK bool tx_documents(struct tx *tx, size_t most, struct arena *arena,
                             struct store_document **out, size_t *count, struct err *err);

/* queued_ms of the oldest QUEUED task of a queue (absent: of all), as of the last commits, not of
 * this transaction; INT64_MAX: none. */
MUST_CHECK bool tx_oldest(struct tx *tx, struct str queue, int64_t *out, struct err *err);

/* True while `id` leads in `epoch`: what a late leader still wants to write is refused. */
MUST_CHECK bool tx_leads(struct tx *tx, struct str id, uint64_t epoch, bool *out, struct err *err);

/* ---- For the fleet's own thread ---- */

struct steward;
MUST_CHECK bool steward_open(struct store *store, struct steward **out, struct err *err);
void steward_close(struct steward *steward); /* NULL is welcome */
int64_t
steward_server(const struct steward *steward); /* as store_ground.server; 0: not known yet */

/* The store's clock: nodes agree on it. */
MUST_CHECK bool steward_now(struct steward *steward, int64_t *out, struct err *err);

/* A node as the others see it. `body` is its own JSON (load, workers, versions). */
struct steward_node {
    struct str id, body;
    int64_t seen_ms;
};
/* Says that this node lives; those not seen since `dead_before_ms` are removed. */
MUST_CHECK bool steward_beat(struct steward *steward, const struct steward_node *node,
                             int64_t dead_before_ms, struct err *err);
MUST_CHECK bool steward_leave(struct steward *steward, struct str id, struct err *err);
MUST_CHECK bool steward_nodes(struct steward *steward, struct arena *arena,
                              struct steward_node **out, size_t *count, struct err *err);

/* The leader's row (owner, epoch, until). Taken when it is free, ended or ours, or by force (the
 * caller holds the lock in Redis); taking it from another raises the epoch. Not taken: *epoch is 0
 * and `owner` is who has it. Times are the store's. */
MUST_CHECK bool steward_lead(struct steward *steward, struct str id, int64_t ttl_ms, bool by_force,
                             uint64_t *epoch, struct err *err);
MUST_CHECK bool steward_resign(struct steward *steward, struct str id, uint64_t epoch,
                               struct err *err);
MUST_CHECK bool steward_leader(struct steward *steward, struct arena *arena, struct str *owner,
                               uint64_t *epoch, struct err *err); /* absent: nobody */

/* Live tasks to which something happens by itself at or before `until_ms` (a due SCHEDULED or
 * RETRYING one, an expiry, the end of a lease or time-out), earliest first, behind (after_ms,
 * after). */
struct steward_due {
    struct task_id id;
    int64_t due_ms;
};
MUST_CHECK bool steward_due(struct steward *steward, int64_t until_ms, int64_t after_ms,
                            struct task_id after, size_t most, struct steward_due *out,
                            size_t *count, struct err *err);

/* QUEUED tasks that may be offered (no containers), by id behind `after`; and documents that are
 * held, by name behind `after`: for reconciling a broker with the rows. */
MUST_CHECK bool steward_queued(struct steward *steward, struct task_id after, size_t most,
                               struct arena *arena, struct hint *out, size_t *count,
                               struct err *err);
struct steward_held {
    struct str document;
    struct task_id holder; /* as a broker knows it: the task, or its family */
    struct str lock;       /* the value of its lock: see broker_lock() */
};
MUST_CHECK bool steward_held(struct steward *steward, struct str after, size_t most,
                             struct arena *arena, struct steward_held *out, size_t *count,
                             struct err *err);

/* Attempts of this node's own workers (their names end in "@ID") whose cancel was requested. */
MUST_CHECK bool steward_cancelled(struct steward *steward, struct str node, struct arena *arena,
                                  struct task_id **out, size_t *count, struct err *err);

/* Messages between nodes while Redis is away: written behind a growing number, read behind it. */
struct steward_message {
    uint64_t number;
    struct str from, body;
};
MUST_CHECK bool steward_tell(struct steward *steward, const struct steward_message *messages,
                             size_t n, struct err *err);
MUST_CHECK bool steward_hear(struct steward *steward, uint64_t after, size_t most,
                             struct arena *arena, struct steward_message *out, size_t *count,
                             struct err *err);
MUST_CHECK bool steward_forget(struct steward *steward, int64_t older_than_ms, struct err *err);

/* Who may speak to the nodes. What a line says is net/token.h's business; it holds no secret. The
 * stamp is another one as soon as anything has changed. */
struct steward_token {
    struct str id, line;
};
struct steward_stamp {
    int64_t newest, count;
};
MUST_CHECK bool steward_tokens(struct steward *steward, struct arena *arena,
                               struct steward_token **out, size_t *count,
                               struct err *err); /* oldest first */
MUST_CHECK bool steward_tokens_stamp(struct steward *steward, struct steward_stamp *out,
                                     struct err *err);
MUST_CHECK bool steward_token_add(struct steward *steward, const struct steward_token *token,
                                  size_t most, bool *added, struct err *err);
MUST_CHECK bool steward_token_drop(struct steward *steward, struct str id, bool *dropped,
                                   struct err *err);

#endif
