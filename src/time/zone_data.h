/* time/zone_data.h: what a zone is made of. Private to the zone*.c and tzif.c files here.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_TIME_ZONE_DATA_H
#define ERRAND_TIME_ZONE_DATA_H

#include <stdatomic.h>

#include "time/zone.h"

/* The Gregorian calendar repeats, weekdays included, after 400 years. */
#define CYCLE_YEARS 400
#define CYCLE_DAYS  ((int64_t)146097)
#define DAY_S       ((int64_t)86400)
#define CYCLE_S     (CYCLE_DAYS * DAY_S)

struct zone_turn {
    int64_t at_s;     /* the first has -ZONE_FOREVER_S */
    int32_t offset_s; /* from then on; differs from the one before */
};

struct zone {
    _Atomic unsigned refs;
    char name[ZONE_NAME_MAX + 1];
    uint64_t version;
    int32_t offset_min, offset_max;
    int64_t cycle_from_s; /* from here on all repeats each CYCLE_S; ZONE_FOREVER_S: it does not */
    size_t count;         /* of turns, at least one; they cover a cycle and a bit beyond it */
    struct zone_turn *turns;
};

#endif
