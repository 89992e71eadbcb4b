/* queue/due.h: every task that something will happen to by itself, and when.
 *
 * Two heaps, because there are two clocks: scheduled times and expiries follow the wall clock,
 * leases, time-outs, backoffs and the grace period are durations on the monotonic one (G9). A task
 * stands in one of them, with its earliest time; a running one is also linked to its worker.
 *
 * Thread: engine.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_QUEUE_DUE_H
#define ERRAND_QUEUE_DUE_H

#include "base/clock.h"
#include "base/heap.h"
#include "base/list.h"
#include "base/map.h"
#include "task/task.h"

#define NEVER_MS INT64_MAX

struct worker;

struct due_entry {
    struct task_id id;
    struct map_node node;
    struct heap_node place;
    bool by_wall;
    int64_t at_ms; /* of its clock */
    /* Of a running attempt, monotonic: */
    int64_t lease_at_ms, timeout_at_ms;
    int64_t lease_until_ms; /* wall, as its row had it when lease_at_ms was measured */
    int64_t apart_ms;       /* is in lease_at_ms besides: another node wrote that row */
    int64_t stop_at_ms;     /* told to stop: the end of its grace period; 0: not told */
    enum worker_kind kind;  /* of our own workers; those inside other nodes count as remote */
    int32_t attempt;
    uint64_t token;     /* of its lease: a row that went back counts attempts again */
    bool doubted;       /* it must be compared with its row */
    int64_t started_ms; /* wall, for people */
    struct worker *worker;
    struct link of_worker;
};

struct due {
    struct heap by_wall, by_mono;
    struct map entries;
    struct str node;        /* who we are in a fleet; absent: alone */
    int64_t renew_every_ms; /* our own attempts' leases; NEVER_MS: not at all */
    int64_t apart_ms;       /* in a fleet: what clocks may differ by */
};

/* Where the times of a task come from. */
enum due_from {
    DUE_SAME,    /* nothing was set: what was measured before stays */
    DUE_WRITTEN, /* set by us just now: the remaining time is measured from now */
    DUE_READ,    /* found in its row, and set by another node's clock if it is new to us: a lease
                    or time-out that was is given as much longer as clocks may differ */
};

void due_init(struct due *due);
void due_fini(struct due *due);
struct due_entry *due_find(const struct due *due, struct task_id id); /* NULL: no deadline */

/* Sets what `task` waits for now. */
struct due_entry *due_set(struct due *due, const struct task *task, enum due_from from,
                          int64_t grace_ms, struct now now); /* NULL: nothing */
/* Whether the attempt's times were measured from what its row says now: nobody renewed its lease
 * since, and the entry's time is right. */
bool due_knows(const struct due_entry *entry, const struct task *task);
/* A running attempt was told to stop: its grace period begins. due_set() again puts it in its
 * place. */
void due_stop(struct due_entry *entry, int64_t grace_ms, struct now now);
/* The attempt, one of our own, is compared with its row at once. */
void due_doubt(struct due *due, struct due_entry *entry, struct now now);
void due_lose(struct due *due, struct due_entry *entry); /* its worker is known to be gone */
void due_remove(struct due *due, struct due_entry *entry);

/* When something happens to the task, by what its row says alone; NEVER_MS: never. */
int64_t due_by_row_ms(const struct task *task);

/* When it is cancelled unless it starts: counts only before the first attempt. NEVER_MS: never. */
int64_t due_expiry_ms(const struct task *task);

/* Up to `most` entries whose time has come, earliest first, without removing them. */
size_t due_collect(struct due *due, struct now now, struct due_entry **out, size_t most);
int64_t due_in_ms(const struct due *due, struct now now); /* until the next; NEVER_MS: none */

#endif
