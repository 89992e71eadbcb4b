/* tests/fuzz/zones.h: the zones of this machine, for every text of a search. See fuzz.h.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_TESTS_FUZZ_ZONES_H
#define ERRAND_TESTS_FUZZ_ZONES_H

#include "time/zone.h"

/* One set for the whole process: reading a zone's file takes longer than most texts do. */
struct zones *fuzz_zones(void);

/* The zone named at this place, or UTC. The caller ends it with zone_release(). */
const struct zone *fuzz_zone(const char *const *names, size_t count, size_t choice);

#endif
