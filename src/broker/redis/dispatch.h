/* broker/redis/dispatch.h: the broker of a fleet: hints, documents and locks in one Redis, or in
 * two.
 *
 * Changes are gathered and sent together with the next question, or by broker_flush(), in one
 * pipeline. What they do there is told in the Lua files beside this one. Two *halves*: CRITICAL and
 * HIGH hints live on the first, NORMAL and LOW on the second; with one Redis there is one half.
 * Holds are known to both; locks and wake-ups live on the first.
 *
 * A half answers questions only while its sentinel key is there: a flush removes it, and so does a
 * sender whose changes did not arrive. broker_filled() puts it back when everything was offered
 * again. It names the data that was filled: a replica that is promoted has the sentinel of the
 * former server, but perhaps not all that this one had acknowledged.
 *
 * Thread: engine.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_BROKER_REDIS_DISPATCH_H
#define ERRAND_BROKER_REDIS_DISPATCH_H

#include "base/buf.h"
#include "broker/ops.h"
#include "client/redis.h"

#define HALVES          2
#define RUN_MAX         250   /* tasks of one lane that one change offers or withdraws */
#define RUNS_OPEN       8     /* of the last changes, to which a task of their lane is added */
#define DOCUMENT_WORK   10    /* what a change of a document costs, as tasks without one */
#define WORK_PER_CALL   500   /* a script that runs long holds up everybody, ... */
#define CALLS_PER_RUN   4     /* of changes, in one pipeline */
#define TAKES_PER_CALL  1000  /* ... and each has a quarter of a second, on a busy machine too */
#define WORK_MAX        20000 /* gathered; then it is sent without being asked */
#define LOCKS_MAX       20000 /* changes of locks kept for a Redis that is away */
#define WAKE_QUEUES_MAX 64    /* more are told as "*" */
#define TOKEN_TEXT      17
#define IDENTITY_TEXT   48
#define CURSOR_TEXT     24       /* a number of Redis' own */
#define LOCK_MS         "600000" /* of a running attempt's lock, renewed while it lives */
/* Of a lock whose attempt is not yet stored: a node that dies in between leaves it behind, and
 * nobody else knows of it. */
#define LOCK_NEW_MS "10000"

/* What change.lua is to do: a verb of it and its arguments. */
struct change {
    const char *verb;
    struct str *words;
    size_t count, room;
    size_t work;
};

struct half {
    struct redis *redis;
    enum broker_health health; /* as last seen; see dispatch_health() */
    bool more;                 /* its script has not brought back all that was let go */
    /* Of the data there; "": it does not say. `unproven`: a new connection, and the sentinel may be
     * that of a server which had more. */
    char identity[IDENTITY_TEXT];
    bool unproven;
    char token[TOKEN_TEXT];   /* of a filling that was begun here; "": none */
    char cursor[CURSOR_TEXT]; /* where tidying goes on; "": it has not begun */
    bool tidy;                /* nothing of an older layout is left */
    struct arena texts;
    struct change *changes; /* gathered */
    size_t count, room, work;
};

/* A lock to be renewed or released. These survive an outage: a lock that is not released would
 * keep its document from everybody. */
struct lock_change {
    const struct redis_script *script;
    struct str key, value;
};

struct dispatch {
    struct broker broker;
    struct arena texts;
    struct str base;     /* of all keys of the dispatch: "errand:{dispatch3}:" */
    struct str any_keys; /* the pattern of the keys of all layouts */
    struct str prefix;   /* "errand:" */
    struct str channel, node;
    struct redis_script script, renew, release;
    struct half halves[HALVES];
    size_t count;
    struct arena lock_texts;
    struct lock_change *locks;
    size_t locks_count, locks_room;
    struct arena wake_texts;
    struct str woken[WAKE_QUEUES_MAX]; /* queues to be told of */
    size_t woken_count;
    bool woken_all;
};

static inline struct dispatch *dispatch_of(struct broker *broker)
{
    return HOLDER(broker, struct dispatch, broker);
}

/* Its last answer said that nothing is missing: what it says of ready tasks is all there is. */
static inline bool half_complete(const struct half *half)
{
    return half->health == BROKER_WHOLE || half->health == BROKER_DOUBTED;
}

/* ---- change.c: gathering, sending, waking ---- */

/* Gathers one change. Its arguments live as long as half->texts. */
void dispatch_change(struct half *half, const char *verb, const struct str *args, size_t count);
void dispatch_change_offer(struct half *half, const struct hint *hint);
void dispatch_offer(struct broker *broker, const struct hint *hint);
void dispatch_offer_again(struct broker *broker, const struct hint *hints, size_t count);
void dispatch_withdraw(struct broker *broker, const struct hint *hint);
void dispatch_hold(struct broker *broker, struct str document, struct task_id holder,
                   struct str lock);
void dispatch_let_go(struct broker *broker, struct str document, struct task_id holder,
                     struct str lock);
void dispatch_flush(struct broker *broker);

void dispatch_read_score(int64_t score, struct hint *hint); /* priority and queued_ms */
struct half *dispatch_half_of(struct dispatch *d, enum task_priority priority);

/* Sends what was gathered for the half and, if there is one, a question to its script: a verb and
 * its arguments. *out is a list of at least `least` items; half_complete() says whether it is to be
 * relied on. False: the half is away. */
MUST_CHECK bool dispatch_ask(struct dispatch *d, struct half *half, const struct str *words,
                             size_t count, size_t least, struct arena *arena,
                             struct redis_reply *out);
#define DISPATCH_ASK(d, half, least, arena, out, ...)                                              \
    dispatch_ask((d), (half), (const struct str[]){__VA_ARGS__},                                   \
                 ARRAY_LEN(((const struct str[]){__VA_ARGS__})), (least), (arena), (out))
void dispatch_send(struct dispatch *d, struct half *half); /* changes only */

/* ---- lock.c, take.c ---- */

void dispatch_lock(struct broker *broker, struct broker_lock *locks, size_t n);
void dispatch_lock_change(struct dispatch *d, const struct redis_script *script,
                          struct str document, struct str value);
size_t dispatch_take(struct broker *broker, const struct want *want, size_t max, struct hint *out,
                     struct arena *arena);
bool dispatch_has(struct broker *broker, const struct want *want);
void dispatch_document(struct broker *broker, struct str document, size_t most, struct arena *arena,
                       struct broker_document *out);
size_t dispatch_held(struct broker *broker, uint64_t *cursor, size_t most, struct arena *arena,
                     struct broker_document **out);
bool dispatch_knows(struct broker *broker, const struct hint *hint);
size_t dispatch_ready_count(struct broker *broker);

#endif
