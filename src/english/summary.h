/* english/summary.h: a recurrence in English: "Every Monday at 09:00, Europe/Paris".
 *
 * True for any rule: what has no short form is spelled out part by part. EXDATEs and RDATEs are not
 * mentioned.
 *
 * Thread: any. Keeps nothing.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_ENGLISH_SUMMARY_H
#define ERRAND_ENGLISH_SUMMARY_H

#include "time/recur.h"

/* Without a zone in the order none is named. */
void summary_write(struct buf *out, const struct recur_order *order);

#endif
