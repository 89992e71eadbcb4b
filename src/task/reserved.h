/* task/reserved.h: the names that the server keeps for its own tasks.
 *
 * A delivery is recognised by its idempotencyKey, and a team by the queue its tasks lie in: whoever
 * could take such a name first would keep a result from being delivered, or hold up a team. So no
 * client may use them in an order, by whatever door it comes; the server's own rooms (guests of the
 * engine) do not pass that check.
 *
 * Names of workers inside the server begin with "errand:" (task_worker_reserved).
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_TASK_RESERVED_H
#define ERRAND_TASK_RESERVED_H

#include "task/task.h"

#define RESERVED_DELIVERY_KEY   "deliver:" /* the delivery of a run's result on one channel */
#define RESERVED_FAILURE_KEY    "failure:" /* the notice that a run failed, on one channel */
#define RESERVED_TEAM_TYPE      "team."
#define RESERVED_DELIVERY_TYPE  "deliver." /* anybody may send a message: not reserved */
#define RESERVED_TEAM_QUEUE     "team/"
#define RESERVED_DELIVERY_QUEUE "deliveries"
#define RESERVED_CLOUD_TYPE     "cloudtasks" /* of tasks made over the Cloud Tasks API */

/* ERR_INVALID that names the field where a client's order uses one of them. */
MUST_CHECK bool reserved_check(const struct task *task, struct err *err);

/* Whether a queue is a team's: claimed from through the team alone, and never paused or limited,
 * for its number is given to another team later. */
bool reserved_for_teams(struct str queue);

/* Whether a task was made over the Cloud Tasks API: its queue says how it is retried, and it is
 * sent to an address of its own. */
static inline bool task_is_cloud(const struct task *task)
{
    return str_is(task->type, RESERVED_CLOUD_TYPE);
}

#endif
