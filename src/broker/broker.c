/* broker/broker.c: finds the back end that a url names and passes every call on to it.
 *
 * Thread: engine.
 *
 * SPDX-License-Identifier: MIT */
#include "broker/broker.h"

#include "broker/ops.h"

bool broker_open(struct str url, broker_ready_fn *ready, void *arg, struct broker **out,
                 struct err *err)
{
    struct broker *broker = NULL;
    if (!str_is(url, "memory:")) {
        return err_field(err, "broker", "no broker answers to '" STR_FMT "'", STR_ARG(url));
    }
    if (!memory_open(&broker, err)) {
        return err_wrap(err, "open the broker " STR_FMT, STR_ARG(url));
    }
    broker->ready = ready;
    broker->arg = arg;
    *out = broker;
    return true;
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

void broker_withdraw(struct broker *broker, struct task_id id)
{
    broker->ops->withdraw(broker, id);
}

size_t broker_take(struct broker *broker, const struct want *want, size_t max, struct hint *out,
                   struct arena *arena)
{
    return broker->ops->take(broker, want, max, out, arena);
}

void broker_give_back(struct broker *broker, const struct hint *hint)
{
    broker->ops->give_back(broker, hint);
}

void broker_hold(struct broker *broker, struct str document, struct task_id holder)
{
    broker->ops->hold(broker, document, holder);
}

void broker_let_go(struct broker *broker, struct str document, struct task_id holder)
{
    broker->ops->let_go(broker, document, holder);
}

void broker_document(struct broker *broker, struct str document, size_t most, struct arena *arena,
                     struct broker_document *out)
{
    broker->ops->document(broker, document, most, arena, out);
}

size_t broker_documents(struct broker *broker, size_t most, struct arena *arena,
                        struct broker_document **out)
{
    return broker->ops->documents(broker, most, arena, out);
}

size_t broker_ahead(struct broker *broker, struct task_id id)
{
    return broker->ops->ahead(broker, id);
}

bool broker_knows(struct broker *broker, struct task_id id)
{
    return broker->ops->knows(broker, id);
}

size_t broker_ready_count(struct broker *broker)
{
    return broker->ops->ready_count(broker);
}

int64_t broker_oldest_ms(struct broker *broker, struct str queue)
{
    return broker->ops->oldest_ms(broker, queue);
}

bool broker_has(struct broker *broker, const struct want *want)
{
    return broker->ops->has(broker, want);
}

const char *broker_kind(const struct broker *broker)
{
    return broker->ops->kind;
}

size_t broker_memory(const struct broker *broker)
{
    return broker->ops->memory(broker);
}
