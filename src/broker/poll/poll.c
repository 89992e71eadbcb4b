/* broker/poll/poll.c: the broker of a fleet without Redis: it knows nothing and never did.
 *
 * Claims ask the store. An offer still wakes whoever waits on this very node; the others look for
 * themselves, at most a second apart.
 *
 * Thread: engine.
 *
 * SPDX-License-Identifier: MIT */
#include "base/mem.h"
#include "broker/ops.h"

static const char *poll_kind(const struct broker *broker)
{
    (void)broker;
    return "poll";
}

static void poll_close(struct broker *broker)
{
    mem_free(broker);
}

static void poll_offer(struct broker *broker, const struct hint *hint)
{
    broker->ready(broker->arg, hint->queue, hint->type);
}

static void poll_withdraw(struct broker *broker, struct task_id id, enum task_priority priority)
{
    (void)broker;
    (void)id;
    (void)priority;
}

static size_t poll_take(struct broker *broker, const struct want *want, size_t max,
                        struct hint *out, struct arena *arena)
{
    (void)broker;
    (void)want;
    (void)max;
    (void)out;
    (void)arena;
    return 0;
}

static void poll_lock(struct broker *broker, struct broker_lock *locks, size_t n)
{
    (void)broker;
    for (size_t i = 0; i < n; i++) {
        locks[i].granted = true; /* the store decides alone */
    }
}

static void poll_hold(struct broker *broker, struct str document, struct task_id holder,
                      struct str lock)
{
    (void)broker;
    (void)document;
    (void)holder;
    (void)lock;
}

static void poll_flush(struct broker *broker)
{
    (void)broker;
}

static bool poll_away(struct broker *broker)
{
    (void)broker;
    return true;
}

static bool poll_empty(struct broker *broker)
{
    (void)broker;
    return false;
}

static void poll_document(struct broker *broker, struct str document, size_t most,
                          struct arena *arena, struct broker_document *out)
{
    (void)broker;
    (void)most;
    (void)arena;
    *out = (struct broker_document){.document = document};
}

static size_t poll_held(struct broker *broker, uint64_t *cursor, size_t most, struct arena *arena,
                        struct broker_document **out)
{
    (void)broker;
    (void)most;
    (void)arena;
    *cursor = 0;
    *out = NULL;
    return 0;
}

static size_t poll_ahead(struct broker *broker, struct task_id id)
{
    (void)broker;
    (void)id;
    return 0;
}

static bool poll_knows(struct broker *broker, struct task_id id)
{
    (void)broker;
    (void)id;
    return false;
}

static size_t poll_ready_count(struct broker *broker)
{
    (void)broker;
    return SIZE_MAX;
}

static int64_t poll_oldest_ms(struct broker *broker, struct str queue)
{
    (void)broker;
    (void)queue;
    return INT64_MAX;
}

static bool poll_has(struct broker *broker, const struct want *want)
{
    (void)broker;
    (void)want;
    return true; /* who knows? */
}

static size_t poll_memory(const struct broker *broker)
{
    (void)broker;
    return sizeof *broker;
}

bool poll_open(const struct broker_options *options, struct broker **out, struct err *err)
{
    static const struct broker_ops ops = {
        .kind = poll_kind,
        .close = poll_close,
        .offer = poll_offer,
        .withdraw = poll_withdraw,
        .take = poll_take,
        .give_back = poll_offer,
        .lock = poll_lock,
        .hold = poll_hold,
        .let_go = poll_hold,
        .flush = poll_flush,
        .away = poll_away,
        .empty = poll_empty,
        .fill = poll_flush,
        .filled = poll_flush,
        .document = poll_document,
        .held = poll_held,
        .ahead = poll_ahead,
        .knows = poll_knows,
        .ready_count = poll_ready_count,
        .oldest_ms = poll_oldest_ms,
        .has = poll_has,
        .memory = poll_memory,
    };
    (void)options;
    (void)err;
    *out = mem_new(struct broker);
    (*out)->ops = &ops;
    return true;
}
