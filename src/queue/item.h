/* queue/item.h: one task that a batch touches: as it was, as it is now, and what was done to it.
 *
 * The first command to change an item owns it; others wait for the next batch, so that each commit
 * takes a task through one transition.
 *
 * Thread: engine. Lives as long as its batch.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_QUEUE_ITEM_H
#define ERRAND_QUEUE_ITEM_H

#include "base/map.h"
#include "queue/command.h"

struct item {
    struct map_node node;
    struct task_id id;
    bool loaded, found;
    bool whole, has_whole; /* asked for, and loaded */
    bool starts;           /* nobody asked for it but a claim */
    int64_t queued_ms;     /* ... which was told that it is queued since then */
    uint64_t token;        /* nobody asked for it but whoever ends this attempt; 0: others did */
    const void *owner;     /* who changed it; NULL: nobody yet */
    bool ended;            /* this change ends an attempt */
    bool removed;          /* terminal and deleted */
    bool renewed;          /* its lease was set anew */
    struct str log;        /* lines to add */

    /* claim.c, meet.c */
    bool fresh;            /* created in this very batch: written once, as it is now */
    bool taken;            /* proposed in this batch, by the broker or the rows */
    bool parked;           /* ... but its document is locked: it stands in line again */
    bool refused;          /* ... but the store did not let it start */
    struct command *claim; /* that started it */

    /* janitor.c */
    bool beats, finishes; /* whoever holds its lease says so in this batch */
    bool strays;          /* the attempt ends, but its run function goes on: its document is kept */

    /* flow.c, create.c */
    bool walks;                /* it is to be looked at */
    int looked;                /* 1 + the state it had when it was last looked at; 0: not yet */
    const void *cause;         /* who changed what made it be looked at */
    bool kin_known;            /* its children were asked for */
    struct kin_list kin;       /* a container's children */
    struct awaiting *awaiting; /* whoever waits for it without the rows' telling so */
    struct order *order;       /* this batch brings it: it has no row yet */
    struct arena *arena;       /* that outlives the order's answer */

    /* guest.c */
    int told; /* 1 + the state that guests were told of */
    bool told_progress;

    /* Large, and written when it is loaded: a new item is cleared up to here. */
    struct task was, now;
};

/* True when another command of this batch already changed it. */
static inline bool item_busy(const struct item *item, const void *owner)
{
    return item->owner != NULL && item->owner != owner;
}

struct items {
    struct item **at; /* owned */
    size_t count, room;
};
void items_add(struct items *items, struct item *item);
void items_fini(struct items *items);

#endif
