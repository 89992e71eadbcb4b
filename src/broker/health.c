/* broker/health.c: the states of a broker and what moves it between them. See health.h.
 *
 * SPDX-License-Identifier: MIT */
#include "broker/health.h"

#include <assert.h>

/* Rows: what is known of it. Columns: what happens. An absent cell (BROKER_NONE) changes nothing.
 *
 * BROKER_WHOLE has one entrance, BROKER_TRUST: a broker that was away or empty is relied on again
 * when every node was seen to reach it, not when the first one does. */
static const enum broker_health cells[BROKER_HEALTHS][BROKER_EVENTS] = {
    [BROKER_WHOLE] = {[BROKER_LOST] = BROKER_AWAY,
                      [BROKER_LOST_CHANGES] = BROKER_MISSED,
                      [BROKER_SAID_EMPTY] = BROKER_EMPTIED,
                      [BROKER_DOUBT] = BROKER_DOUBTED},
    [BROKER_DOUBTED] = {[BROKER_LOST] = BROKER_AWAY,
                        [BROKER_LOST_CHANGES] = BROKER_MISSED,
                        [BROKER_SAID_EMPTY] = BROKER_EMPTIED,
                        [BROKER_TRUST] = BROKER_WHOLE},
    [BROKER_FILLING] = {[BROKER_LOST] = BROKER_AWAY,
                        [BROKER_LOST_CHANGES] = BROKER_MISSED,
                        [BROKER_SAID_WHOLE] = BROKER_DOUBTED},
    [BROKER_EMPTIED] = {[BROKER_LOST] = BROKER_AWAY,
                        [BROKER_LOST_CHANGES] = BROKER_MISSED,
                        [BROKER_SAID_WHOLE] = BROKER_DOUBTED},
    [BROKER_AWAY] = {[BROKER_LOST_CHANGES] = BROKER_MISSED,
                     [BROKER_SAID_WHOLE] = BROKER_DOUBTED,
                     [BROKER_SAID_EMPTY] = BROKER_EMPTIED},
    /* Our first word empties it: an answer "whole" was given before that, and is out of date. */
    [BROKER_MISSED] = {[BROKER_SAID_EMPTY] = BROKER_EMPTIED},
};

bool health_has_cell(enum broker_health health, enum broker_event event)
{
    assert(health < BROKER_HEALTHS && event < BROKER_EVENTS);
    return cells[health][event] != BROKER_NONE;
}

enum broker_health health_next(enum broker_health health, enum broker_event event)
{
    return health_has_cell(health, event) ? cells[health][event] : health;
}

const struct health_rule *health_rule(enum broker_health health)
{
    static const struct health_rule rules[BROKER_HEALTHS] = {
        [BROKER_NONE] = {.name = "none"},
        [BROKER_WHOLE] = {.name = "whole", .asks_broker = true, .writes = true},
        [BROKER_DOUBTED] = {.name = "doubted", .writes = true},
        [BROKER_FILLING] = {.name = "filling", .writes = true, .fills = true},
        [BROKER_EMPTIED] = {.name = "emptied", .writes = true, .fills = true, .degraded = true},
        [BROKER_AWAY] = {.name = "away", .degraded = true},
        [BROKER_MISSED] = {.name = "missed", .degraded = true},
    };
    assert(health < BROKER_HEALTHS);
    return &rules[health];
}

const char *health_event_name(enum broker_event event)
{
    static const char *const names[BROKER_EVENTS] = {
        [BROKER_LOST] = "lost",
        [BROKER_LOST_CHANGES] = "lost with changes",
        [BROKER_SAID_WHOLE] = "says it is whole",
        [BROKER_SAID_EMPTY] = "says it is empty",
        [BROKER_DOUBT] = "doubted by another node",
        [BROKER_TRUST] = "seen by all nodes",
    };
    assert(event < BROKER_EVENTS);
    return names[event];
}
