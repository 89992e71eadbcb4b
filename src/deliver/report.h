/* deliver/report.h: how the deliveries of one execution stand:
 * {"EMAIL":{"status","attempts","taskId","error"}}. Pure.
 *
 * Thread: any. Keeps nothing.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_DELIVER_REPORT_H
#define ERRAND_DELIVER_REPORT_H

#include "base/arena.h"
#include "task/task.h"

#define REPORT_ERROR_MAX 1000 /* bytes of an error's text */

/* The entry of one channel, from its task. */
struct report_entry {
    struct str channel;
    enum task_state state;
    int32_t attempts;
    struct task_id task;      /* none: there was none */
    struct task_error error;  /* shown unless it was delivered */
    struct str cancel_reason; /* CANCELLED: shown as its error */
};

/* The report with that entry put into its place, or behind the others. */
struct str report_put(struct str report, const struct report_entry *entry, struct arena *arena);

/* Whether every channel has been delivered to, and there is one. */
bool report_done(struct str report, struct arena *arena);

#endif
