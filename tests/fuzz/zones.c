/* tests/fuzz/zones.c: the zones of this machine, read once. See zones.h.
 *
 * SPDX-License-Identifier: MIT */
#include "zones.h"

struct zones *fuzz_zones(void)
{
    static struct zones *zones;
    if (zones == NULL) {
        zones = zones_new(NULL);
    }
    return zones;
}

const struct zone *fuzz_zone(const char *const *names, size_t count, size_t choice)
{
    const struct zone *zone = NULL;
    if (choice >= count || !zones_get(fuzz_zones(), str_of(names[choice]), &zone, NULL)) {
        zone = zone_utc();
    }
    return zone;
}
