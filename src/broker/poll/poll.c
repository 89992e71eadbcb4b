/* broker/poll/poll.c: the broker of a fleet without Redis: it knows nothing and never did.
 *
 * Claims ask the store. An offer still wakes whoever waits on this very node; the others look for
 * themselves, at most a second apart. Everything else is left out of its table.
 *
 * Thread: engine.
 *
 * SPDX-License-Identifier: MIT */
#include "base/mem.h"
#include "broker/ops.h"

static void poll_close(struct broker *broker)
{
    mem_free(broker);
}

static void poll_offer(struct broker *broker, const struct hint *hint)
{
    broker->ready(broker->arg, hint->queue, hint->type);
}

static enum broker_health poll_health(struct broker *broker)
{
    (void)broker;
    return BROKER_NONE;
}

bool poll_open(const struct broker_options *options, struct broker **out, struct err *err)
{
    static const struct broker_ops ops = {.kind = "poll",
                                          .close = poll_close,
                                          .offer = poll_offer,
                                          .give_back = poll_offer,
                                          .health = poll_health};
    (void)options;
    (void)err;
    *out = mem_new(struct broker);
    (*out)->ops = &ops;
    return true;
}
