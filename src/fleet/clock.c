/* fleet/clock.c: this machine's clock beside the one that all nodes share.
 *
 * Nodes stamp leases and due times by their own clocks, and others judge them: queue/due.h gives a
 * lease that another node wrote as much longer as two right clocks may differ. A node whose clock
 * is further off goes by the store's, and says so aloud.
 *
 * Thread: any; a steward's own.
 *
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "base/clock.h"
#include "fleet/fleet.h"

#define TRIP_MAX_MS (2 * FLEET_CLOCK_MS) /* a longer one says too little */

bool fleet_clock_ask(struct steward *steward, struct fleet_clock *clock, int64_t *now_ms,
                     struct err *err)
{
    int64_t before_ms = clock_real_wall_ms(), began_us = clock_real_mono_us();
    if (!steward_now(steward, now_ms, err)) {
        return false;
    }
    int64_t trip_ms = (clock_real_mono_us() - began_us) / 1000;
    if (trip_ms > TRIP_MAX_MS) {
        return true;
    }
    int64_t offset_ms = before_ms + trip_ms / 2 - *now_ms;
    int64_t error_ms = trip_ms / 2 + 1;
    *clock = (struct fleet_clock){.known = true,
                                  .offset_ms = offset_ms,
                                  .error_ms = error_ms,
                                  .off = llabs(offset_ms) - error_ms > FLEET_CLOCK_MS};
    return true;
}

/* Not with every measurement: each has its error, and a clock must not tremble. */
bool fleet_clock_follow(const struct fleet_clock *measured, struct clock *clock)
{
    int64_t gap_ms = llabs(measured->offset_ms - clock->ahead_ms) - measured->error_ms;
    if (!measured->known || clock->by_hand || gap_ms <= FLEET_CLOCK_MS) {
        return false;
    }
    clock_follow(clock, measured->off ? measured->offset_ms : 0);
    return true;
}
