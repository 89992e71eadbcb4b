/* net/team_out.h: teams as JSON, with what their tasks have come to.
 *
 * Thread: any.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_NET_TEAM_OUT_H
#define ERRAND_NET_TEAM_OUT_H

#include "queue/queue.h"
#include "team/lead.h"

/* `rows` are all tasks of the team. `whole`: with its people, tasks and result. */
void team_write(struct json_writer *w, const struct team *team, const struct task_rows *rows,
                bool whole, struct arena *arena);

/* What POST /api/teams answers; a warning, where there is one. */
void team_write_begun(struct json_writer *w, const struct team *team, struct str warning);

/* A task as its agent gets it. */
void team_write_claimed(struct json_writer *w, const struct team *team, const struct task *task,
                        const struct claim_facts *facts, bool traced);

#endif
