/* broker/broker.c: finds the back end that a url names and passes every call on to it. What a back
 * end leaves out of its table is answered here as by one that knows nothing.
 *
 * Thread: engine.
 *
 * SPDX-License-Identifier: MIT */
#include "broker/broker.h"

#include "broker/ops.h"

/* Errors name the scheme only: the rest may have a password in it. */
struct broker_scheme {
    struct str name;
    bool (*open)(const struct broker_options *options, struct broker **out, struct err *err);
};

bool broker_open(const struct broker_options *options, struct broker **out, struct err *err)
{
    static const struct broker_scheme schemes[] = {
        {{"memory:", 7}, memory_open},
        {{"poll:", 5}, poll_open},
        {{"redis:", 6}, dispatch_open},
        {{"rediss:", 7}, dispatch_open},
    };
    for (size_t i = 0; i < ARRAY_LEN(schemes); i++) {
        if (str_starts(options->url, schemes[i].name)) {
            struct broker *broker = NULL;
            if (!schemes[i].open(options, &broker, err)) {
                return err_wrap(err, "open the broker " STR_FMT, STR_ARG(schemes[i].name));
            }
            broker->ready = options->ready;
            broker->arg = options->arg;
            *out = broker;
            return true;
        }
    }
    struct str rest = options->url, name = str_cut(&rest, ':');
    return err_field(err, "broker", "no broker answers to '" STR_FMT ":'", STR_ARG(name));
}

void broker_close(struct broker *broker)
{
    if (broker != NULL) {
        broker->ops->close(broker);
    }
}

void broker_offer(struct broker *broker, const struct hint *hint)
{
    broker->ops->offer(broker, hint);
}

void broker_offer_again(struct broker *broker, const struct hint *hints, size_t count)
{
    if (broker->ops->offer_again != NULL) {
        broker->ops->offer_again(broker, hints, count);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        broker->ops->offer(broker, &hints[i]);
    }
}

void broker_withdraw(struct broker *broker, const struct hint *hint)
{
    if (broker->ops->withdraw != NULL) {
        broker->ops->withdraw(broker, hint);
    }
}

size_t broker_take(struct broker *broker, const struct want *want, size_t max, struct hint *out,
                   struct arena *arena)
{
    return broker->ops->take == NULL ? 0 : broker->ops->take(broker, want, max, out, arena);
}

void broker_give_back(struct broker *broker, const struct hint *hint)
{
    broker->ops->give_back(broker, hint);
}

void broker_lock(struct broker *broker, struct broker_lock *locks, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        locks[i].granted = true;
    }
    if (broker->ops->lock != NULL) {
        broker->ops->lock(broker, locks, n);
    }
}

void broker_hold(struct broker *broker, struct str document, struct task_id holder, struct str lock)
{
    if (broker->ops->hold != NULL) {
        broker->ops->hold(broker, document, holder, lock);
    }
}

void broker_let_go(struct broker *broker, struct str document, struct task_id holder,
                   struct str lock)
{
    if (broker->ops->let_go != NULL) {
        broker->ops->let_go(broker, document, holder, lock);
    }
}

void broker_flush(struct broker *broker)
{
    if (broker->ops->flush != NULL) {
        broker->ops->flush(broker);
    }
}

enum broker_health broker_health(struct broker *broker)
{
    return broker->ops->health == NULL ? BROKER_WHOLE : broker->ops->health(broker);
}

enum broker_health broker_check(struct broker *broker)
{
    return broker->ops->check == NULL ? broker_health(broker) : broker->ops->check(broker);
}

void broker_doubt(struct broker *broker, bool doubts)
{
    if (broker->ops->doubt != NULL) {
        broker->ops->doubt(broker, doubts);
    }
}

bool broker_empty(struct broker *broker)
{
    return broker->ops->empty != NULL && broker->ops->empty(broker);
}

void broker_fill(struct broker *broker)
{
    if (broker->ops->fill != NULL) {
        broker->ops->fill(broker);
    }
}

void broker_filled(struct broker *broker)
{
    if (broker->ops->filled != NULL) {
        broker->ops->filled(broker);
    }
}

bool broker_tidy(struct broker *broker)
{
    return broker->ops->tidy != NULL && broker->ops->tidy(broker);
}

void broker_document(struct broker *broker, struct str document, size_t most, struct arena *arena,
                     struct broker_document *out)
{
    *out = (struct broker_document){.document = document};
    if (broker->ops->document != NULL) {
        broker->ops->document(broker, document, most, arena, out);
    }
}

size_t broker_held(struct broker *broker, uint64_t *cursor, size_t most, struct arena *arena,
                   struct broker_document **out)
{
    if (broker->ops->held == NULL) {
        *cursor = 0;
        *out = NULL;
        return 0;
    }
    return broker->ops->held(broker, cursor, most, arena, out);
}

size_t broker_documents(struct broker *broker, size_t most, struct arena *arena,
                        struct broker_document **out)
{
    uint64_t cursor = 0;
    size_t count = 0;
    *out = arena_array(arena, struct broker_document, most);
    do {
        struct broker_document *page;
        size_t n = broker_held(broker, &cursor, most - count, arena, &page);
        for (size_t i = 0; i < n && count < most; i++) {
            (*out)[count++] = page[i];
        }
    } while (cursor != 0 && count < most);
    return count;
}

size_t broker_ahead(struct broker *broker, struct task_id id)
{
    return broker->ops->ahead == NULL ? 0 : broker->ops->ahead(broker, id);
}

bool broker_waits_before(struct broker *broker, struct str document, const struct hint *hint)
{
    return broker->ops->waits_before == NULL || broker->ops->waits_before(broker, document, hint);
}

bool broker_knows(struct broker *broker, const struct hint *hint)
{
    return broker->ops->knows != NULL && broker->ops->knows(broker, hint);
}

size_t broker_ready_count(struct broker *broker)
{
    return broker->ops->ready_count == NULL ? SIZE_MAX : broker->ops->ready_count(broker);
}

int64_t broker_oldest_ms(struct broker *broker, struct str queue)
{
    return broker->ops->oldest_ms == NULL ? INT64_MAX : broker->ops->oldest_ms(broker, queue);
}

bool broker_has(struct broker *broker, const struct want *want)
{
    return broker->ops->has == NULL || broker->ops->has(broker, want);
}

const char *broker_kind(const struct broker *broker)
{
    return broker->ops->kind;
}

const char *broker_shown(const struct broker *broker, enum broker_health health)
{
    return health_rule(health)->degraded ? "degraded" : broker_kind(broker);
}

size_t broker_memory(const struct broker *broker)
{
    return broker->ops->memory == NULL ? 0 : broker->ops->memory(broker);
}
