/* broker/broker.h: hints and wake-ups. One interface; behind it memory/, redis/ and poll/.
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
#include "broker/health.h"
#include "client/tls.h"
#include "task/hint.h"

/* How nodes that share a Redis keep their hints there. Nodes of different layouts do not see each
 * other's hints: as long as there are both, everybody asks the store. */
#define BROKER_LAYOUT 3

struct broker;

/* A key beside the hints: in a cluster of Redis it names the server that has them, where wake-ups
 * are published and heard. An absent prefix is "errand:". */
struct str broker_home_key(struct str prefix, struct arena *arena);

/* Told when a claim that took nothing could now take a ready task, or a better one than before, of
 * that queue and type: whoever waits for it should ask again. What nobody has asked for need not be
 * told. Called inside offer, let_go and give_back, or when what they changed is sent. */
typedef void broker_ready_fn(void *arg, struct str queue, struct str type);

/* memory: knows every hint of one node. redis://HOST:PORT[/DB], or rediss:// for TLS, shares hints
 * between nodes; poll: knows nothing and sends every claim to the store. */
struct broker_options {
    struct str url;
    struct str low_url; /* another Redis for NORMAL and LOW hints; absent: the same */
    struct tls_files tls;
    struct str prefix;  /* of all keys in Redis; absent: "errand:" */
    struct str node;    /* who we are: our own wake-ups need not come back to us */
    int64_t command_ms; /* how long Redis may take for a command; 0: as client/redis.h has it */
    broker_ready_fn *ready;
    void *arg;
};
MUST_CHECK bool broker_open(const struct broker_options *options, struct broker **out,
                            struct err *err);
void broker_close(struct broker *broker); /* NULL is welcome */

/* How far it can be relied on, as it was last seen; never waits. health_rule() says what that
 * means: where claims do not ask it everything else here is welcome all the same, but may have no
 * effect beyond the `ready` callback. memory: is always whole. */
enum broker_health broker_health(struct broker *broker);
/* Asks whether it is there and whole. A broker that was away comes back so, by itself. */
enum broker_health broker_check(struct broker *broker);
/* What is known of the other nodes: one of them does not reach it; or all do. */
void broker_doubt(struct broker *broker, bool doubts);

/* The task is QUEUED and may start. Offering a known task again moves it to the place that the new
 * hint says (for a changed priority see broker_withdraw()); nothing happens if nothing
 * changed.
 */
void broker_offer(struct broker *broker, const struct hint *hint);

/* The task is no longer QUEUED for a reason other than being taken. `hint` says what was offered;
 * a broker of one machine finds it by the id alone. Unknown ones are passed over. A task whose
 * priority has changed is withdrawn under the old one and offered with the new one. */
void broker_withdraw(struct broker *broker, const struct hint *hint);

/* Proposes up to `max` tasks, best first, never two of one document, none of a held document.
 * They are no longer ready, and their documents are held by them. Returns how many. */
size_t broker_take(struct broker *broker, const struct want *want, size_t max, struct hint *out,
                   struct arena *arena);

/* A proposal came to nothing (the batch was rolled back): ready again in its old place. */
void broker_give_back(struct broker *broker, const struct hint *hint);

/* The lock that others can see on a document, for nodes that share a broker: taken between
 * broker_take() and the commit, by the attempts that are about to start. `lock` is its value: the
 * attempt's lease as the worker sees it, or a family's id. Not granted: somebody else has it; the
 * hint was put in line behind the document and must not be given back. Away or memory: granted. */
struct broker_lock {
    const struct hint *hint;
    struct str lock;
    bool granted; /* out */
};
void broker_lock(struct broker *broker, struct broker_lock *locks, size_t n);

/* A document is held by a running attempt (found at start; said again, its lock is renewed), or let
 * go because it ended. Letting go something that `holder` does not hold does nothing, and a lock
 * with another value stays. */
void broker_hold(struct broker *broker, struct str document, struct task_id holder,
                 struct str lock);
void broker_let_go(struct broker *broker, struct str document, struct task_id holder,
                   struct str lock);

/* Offers, withdrawals, holds and letting go may be gathered; this sends them and wakes whoever
 * waits on other nodes. After every batch. */
void broker_flush(struct broker *broker);

/* Reconciliation: a broker that is there but has lost its hints, or never had them, says so when it
 * is asked. When everything that the store knows was offered again since broker_fill(), it is
 * whole, unless something was lost once more meanwhile. Several nodes may fill it at once. */
bool broker_empty(struct broker *broker);
void broker_fill(struct broker *broker);
void broker_filled(struct broker *broker);
/* Offers a page of rows. A task that the broker also knows under another priority is forgotten
 * there. */
void broker_offer_again(struct broker *broker, const struct hint *hints, size_t count);

/* Removes a piece of what an older version of Errand has left behind. True: call again. */
bool broker_tidy(struct broker *broker);

/* ---- Looking ---- */

struct broker_document {
    struct str document;
    bool held;
    struct task_id holder;
    struct task_id *waiting; /* ready tasks of the document in start order */
    size_t waiting_count;
    size_t line; /* so many are ready, however many of them are told */
};
/* Unknown documents are not held and nobody waits. At most `most` waiting ids. Redis tells the
 * holder alone, and nothing of lines and ages: nodes that share it ask the rows for those. */
void broker_document(struct broker *broker, struct str document, size_t most, struct arena *arena,
                     struct broker_document *out);
/* A page of about `most` held documents and their holders, without their waiting lines. *cursor is
 * 0 at the beginning and again after the last page. What is held from the first page to the last is
 * told, at least once; what is held or let go meanwhile may be. Returns how many. */
size_t broker_held(struct broker *broker, uint64_t *cursor, size_t most, struct arena *arena,
                   struct broker_document **out);
/* The first `most` of them. */
size_t broker_documents(struct broker *broker, size_t most, struct arena *arena,
                        struct broker_document **out);
/* How many ready tasks of its document start before this one; the holder not counted. */
size_t broker_ahead(struct broker *broker, struct task_id id);
/* Would a ready task of the document, once that is let go, come before this hint? Not known: yes.
 */
bool broker_waits_before(struct broker *broker, struct str document, const struct hint *hint);

bool broker_knows(struct broker *broker, const struct hint *hint); /* is it ready? As above */
size_t broker_ready_count(struct broker *broker);
/* queued_ms of the oldest ready task of a queue; INT64_MAX: none. Waiting behind a document counts.
 */
int64_t broker_oldest_ms(struct broker *broker, struct str queue);
/* Could a claim with this `want` take something now? */
bool broker_has(struct broker *broker, const struct want *want);

/* "memory", "redis" or "poll"; and as /api/nodes shows it: "degraded" where its health is. */
const char *broker_kind(const struct broker *broker);
const char *broker_shown(const struct broker *broker, enum broker_health health);
size_t broker_memory(const struct broker *broker); /* bytes held, for metrics and bench */

#endif
