/* net/team_call.h: what the handlers of teams share.
 *
 * Thread: net loop.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_NET_TEAM_CALL_H
#define ERRAND_NET_TEAM_CALL_H

#include "net/call.h"
#include "team/lead.h"

#define TEAM_ROWS_MAX (TEAM_TASKS_MAX + 4) /* tasks of one team: the lead's own four among them */

/* The beginning of whatever a handler keeps as call->own while a team is looked up. */
struct team_call {
    struct query *query;
};

MUST_CHECK bool team_call_id(struct call *call, struct task_id *out, struct err *err);
/* Asks for the team; call->own is there already and begins with a struct team_call. */
MUST_CHECK bool team_call_find(struct call *call, struct task_id id,
                               void (*done)(struct call *call), struct err *err);
/* What was found; false: the call is over, answered with what is wrong. */
MUST_CHECK bool team_call_read(struct call *call, struct team *out);
/* Asks for its tasks. The call may be over afterwards: when the readers have ended. */
void team_call_tasks(struct call *call, struct task_id team, struct query **out);
struct lead_order *team_call_wish(struct call *call, enum lead_verb verb,
                                  void (*done)(struct call *call));

#endif
