/* broker/health.h: how far a broker can be relied on: its states, what moves it between them, and
 * what each of them means. Pure: no Redis, no clock, no thread. docs/design/degraded.md has the
 * table and the reasons.
 *
 * A broker whose hints are shared between nodes may be lost, flushed, or visible to some nodes
 * only. Whatever happens to it, claims go on: they ask the rows of the store where its hints may
 * lack something. A client of such a broker keeps one of these states for each server that it
 * talks to; what counts for claims is the worst of them.
 *
 * Thread: any; a state belongs to the thread that owns the client.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_BROKER_HEALTH_H
#define ERRAND_BROKER_HEALTH_H

#include <stdbool.h>

#include "base/def.h"

/* In the order of badness: of two servers the later state counts. */
enum broker_health {
    BROKER_NONE,    /* there is no broker: nodes ask the store, always */
    BROKER_WHOLE,   /* it has every hint, and every node was seen to reach it */
    BROKER_DOUBTED, /* it has every hint that we know of; another node may not reach it */
    BROKER_FILLING, /* it answers, and has not been filled since we know it */
    BROKER_EMPTIED, /* it answers, and has lost hints: it must be filled again */
    BROKER_AWAY,    /* it does not answer; nothing of ours was on its way */
    BROKER_MISSED,  /* it did not answer to changes of ours, and must be told so */
    BROKER_HEALTHS
};

enum broker_event {
    BROKER_LOST,         /* a question was not answered */
    BROKER_LOST_CHANGES, /* nor were changes; or changes came up while it was away */
    BROKER_SAID_WHOLE,   /* it answered, and nothing is missing there */
    BROKER_SAID_EMPTY,   /* it answered, and was flushed, restarted or told of missed changes */
    BROKER_DOUBT,        /* another node does not reach it, or keeps its hints elsewhere */
    BROKER_TRUST,        /* all nodes were seen to reach it */
    BROKER_EVENTS
};

/* Where the event leads. An event that says nothing new, or that a state has no cell for, changes
 * nothing. */
enum broker_health health_next(enum broker_health health, enum broker_event event);
bool health_has_cell(enum broker_health health, enum broker_event event);

/* What a state means. Claims ask either the broker or the rows, never both: an answer that may
 * lack the most urgent task is worth nothing (G4). */
struct health_rule {
    const char *name;
    bool asks_broker; /* claims do; else the rows */
    bool writes;      /* hints are sent; else dropped, and who waits on this node is woken */
    bool fills;       /* somebody should offer everything again */
    bool degraded;    /* as people see it: /healthz, /api/nodes, errand_broker_up */
};
const struct health_rule *health_rule(enum broker_health health);

static inline enum broker_health health_worse(enum broker_health a, enum broker_health b)
{
    return MAX(a, b);
}

const char *health_event_name(enum broker_event event);

#endif
