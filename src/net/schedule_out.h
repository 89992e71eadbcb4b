/* net/schedule_out.h: schedules and executions as JSON, by the tables of their fields.
 *
 * Thread: any.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_NET_SCHEDULE_OUT_H
#define ERRAND_NET_SCHEDULE_OUT_H

#include "net/call.h"
#include "schedule/execution.h"
#include "schedule/schedule.h"

extern const struct form schedule_omitted, execution_omitted; /* what is shown beside the fields */

/* `in_list`: what is over LIST_OMIT_OVER is left out and said to be. */
#define SCHEDULE_WARNINGS 2 /* at most */
void schedule_write(struct json_writer *w, const struct schedule *schedule, const struct api *api,
                    bool in_list);
/* One that was just made or changed: with a warning of what this server lacks to do it. */
void schedule_write_made(struct json_writer *w, const struct schedule *schedule,
                         const struct api *api);
void execution_write(struct json_writer *w, const struct execution *execution, bool in_list);

/* Answers a failure; one that the asker's times caused has a `refusal` beside its `error`. */
void schedule_fail(struct call *call);
/* `refusal` names the fields of a text; NULL: the one in `err`. */
struct english_refusal;
void schedule_refuse(struct call *call, int status, const struct err *err,
                     const struct english_refusal *refusal);

#endif
