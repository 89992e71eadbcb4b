/* net/pace.h: spaces out the progress of each task.
 *
 * The first progress of a task goes through at once. What follows within the interval is held, each
 * replacing the one before, and let go when the interval is over. A task that left RUNNING has no
 * use for what is held: its state says more.
 *
 * Thread: net loop. Time is given in.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_NET_PACE_H
#define ERRAND_NET_PACE_H

#include "base/list.h"
#include "base/map.h"
#include "net/backlog.h"

struct pace {
    struct map tasks;
    struct list due; /* all have the same interval, so the first is due first */
    int64_t interval_ms;
    size_t max; /* tasks at once; beyond it progress is lost, as it may be */
};

void pace_init(struct pace *pace, int64_t interval_ms, size_t max);
void pace_fini(struct pace *pace);

/* Gives back what may go out now, or NULL; takes the entry either way. */
struct backlog_entry *pace_progress(struct pace *pace, struct backlog_entry *entry, int64_t now_ms);
void pace_forget(struct pace *pace, struct task_id task); /* drops what is held of that task */

/* Gives back the next one whose interval is over, or NULL when there is none by now. */
struct backlog_entry *pace_due(struct pace *pace, int64_t now_ms);
int64_t pace_next_ms(const struct pace *pace); /* when to ask again; 0: never */

#endif
