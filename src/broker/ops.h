/* broker/ops.h: what a back end of the broker provides. Callers use broker.h.
 *
 * A back end puts `struct broker` first in its own struct, so one pointer serves both. Each entry
 * does what the function of the same name in broker.h promises; for one that is absent broker.c
 * answers as somebody who knows nothing. The ready callback is called when
 * the operation is done and the back end is whole again; it must not call the broker itself.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_BROKER_OPS_H
#define ERRAND_BROKER_OPS_H

#include "broker/broker.h"

struct broker_ops {
    const char *kind;
    void (*close)(struct broker *broker);

    void (*offer)(struct broker *broker, const struct hint *hint);
    void (*offer_again)(struct broker *broker, const struct hint *hints,
                        size_t count); /* NULL: each is offered */
    void (*withdraw)(struct broker *broker, const struct hint *hint);
    size_t (*take)(struct broker *broker, const struct want *want, size_t max, struct hint *out,
                   struct arena *arena);
    void (*give_back)(struct broker *broker, const struct hint *hint);
    void (*lock)(struct broker *broker, struct broker_lock *locks, size_t n);
    void (*hold)(struct broker *broker, struct str document, struct task_id holder,
                 struct str lock);
    void (*let_go)(struct broker *broker, struct str document, struct task_id holder,
                   struct str lock);
    void (*flush)(struct broker *broker);
    enum broker_health (*health)(struct broker *broker); /* NULL: always whole */
    enum broker_health (*check)(struct broker *broker);
    void (*doubt)(struct broker *broker, bool doubts);
    bool (*empty)(struct broker *broker);
    void (*fill)(struct broker *broker);
    void (*filled)(struct broker *broker);
    bool (*tidy)(struct broker *broker);

    void (*document)(struct broker *broker, struct str document, size_t most, struct arena *arena,
                     struct broker_document *out);
    size_t (*held)(struct broker *broker, uint64_t *cursor, size_t most, struct arena *arena,
                   struct broker_document **out);
    size_t (*ahead)(struct broker *broker, struct task_id id);
    bool (*waits_before)(struct broker *broker, struct str document, const struct hint *hint);
    bool (*knows)(struct broker *broker, const struct hint *hint);
    size_t (*ready_count)(struct broker *broker);
    int64_t (*oldest_ms)(struct broker *broker, struct str queue);
    bool (*has)(struct broker *broker, const struct want *want);
    size_t (*memory)(const struct broker *broker);
};

struct broker {
    const struct broker_ops *ops;
    broker_ready_fn *ready;
    void *arg;
};

/* The back ends. broker_open() has set `ready` and `arg` when a call other than open comes. */
MUST_CHECK bool memory_open(const struct broker_options *options, struct broker **out,
                            struct err *err);
MUST_CHECK bool dispatch_open(const struct broker_options *options, struct broker **out,
                              struct err *err); /* redis/ */
MUST_CHECK bool poll_open(const struct broker_options *options, struct broker **out,
                          struct err *err);

#endif
