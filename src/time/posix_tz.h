/* time/posix_tz.h: the rule in the footer of a TZif file, "CET-1CEST,M3.5.0,M10.5.0/3".
 *
 * Thread: any. Private to this folder.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_TIME_POSIX_TZ_H
#define ERRAND_TIME_POSIX_TZ_H

#include "base/str.h"

enum posix_day {
    POSIX_JULIAN, /* Jn: day 1 to 365, 29 February is never counted */
    POSIX_ZERO,   /* n: day 0 to 365 of the year */
    POSIX_MONTH,  /* Mm.w.d: weekday d (0 is Sunday) of week w, 5 being the last */
};

struct posix_turn {
    enum posix_day kind;
    int32_t day, week, month;
    int32_t time_s; /* of that day, -167 to 167 hours */
};

struct posix_tz {
    bool has_dst;
    int32_t std_s, dst_s; /* offsets, east of Greenwich positive */
    struct posix_turn start, end;
};

MUST_CHECK bool posix_tz_parse(struct str text, struct posix_tz *out);

/* The wall time, on the clock as it was before, of that turn in that year. */
int64_t posix_turn_wall(const struct posix_turn *turn, int64_t year);

#endif
