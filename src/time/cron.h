/* time/cron.h: cron expressions, read as recurrence rules.
 *
 * Five fields (minute, hour, day of the month, month, day of the week) of *, numbers, ranges,
 * steps, lists and names, or @hourly, @daily, @weekly, @monthly, @yearly. The days may be ?; those
 * of the month L, L-3, LW and 1W, those of the week MON#2 and FRIL.
 *
 * A field of all hours or all minutes is elapsed time, so that nothing is left out in the night the
 * clocks change; given hours are those on the wall.
 *
 * Thread: any. Keeps nothing.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_TIME_CRON_H
#define ERRAND_TIME_CRON_H

#include "time/rrule.h"

/* The rule always has BYSECOND=0. Refused with the reason: what is no cron expression, and what no
 * one rule can say (a day of the month OR a day of the week). */
MUST_CHECK bool cron_parse(struct str text, struct rrule *out, struct err *err);

#endif
