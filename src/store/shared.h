/* store/shared.h: what every kind of store does the same way.
 *
 * Pure: plain structs in, plain structs out.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_STORE_SHARED_H
#define ERRAND_STORE_SHARED_H

#include "base/buf.h"
#include "store/store.h"

#define STATES_LIVE ((1u << TASK_COMPLETED) - 1)
#define STATES_ALL  ((1u << TASK_STATES) - 1)

/* Does a list or a bulk command with this filter want the task? `before` and the rest of the page
 * are not looked at. */
bool filter_wants(const struct task_filter *filter, const struct task *task);

/* A copy whose texts live in `arena`. */
void task_keep(struct task *out, const struct task *task, struct arena *arena);

/* A copy whose texts lie one after the other in `room`, which holds task_texts_size() bytes. */
size_t task_texts_size(const struct task *task);
void task_pack(struct task *out, const struct task *task, char *room);

/* The order of one and where the other stands: what a store keeps of a change. What is written once
 * stays, whatever `now` says, and a live task has no result and no end. Texts are borrowed. */
struct task task_with_standing(const struct task *order, const struct task *now);

/* A task's tags as one text, in `scratch`: of each two bytes of its length, the low one first, and
 * itself. Absent: there are none. */
struct str tags_pack(const struct task *task, struct buf *scratch);
void tags_unpack(struct str packed, struct task *task); /* borrowed from `packed` */

#define ROW_MESSAGE_MAX KIB /* of an error that a list shows shortened */

/* Takes out what `omit_over` leaves out of lists; 0: nothing. */
void row_omit(struct task_row *row, size_t omit_over);

/* The end of a log that is kept: whole lines, at most TASK_LOG_MAX bytes. */
struct str log_window(struct str log);

/* The attempt that the task's own fields tell about: the running one, or the last. */
struct task_attempt task_last_attempt(const struct task *task);

/* Does the task itself tell about its last attempt? Else that is on record with the earlier ones.
 */
static inline bool task_tells_attempt(const struct task *task)
{
    return task->attempt > 0 && (task->state == TASK_RUNNING || (task_state_terminal(task->state) &&
                                                                 task->outcome != OUTCOME_NONE));
}

/* Who holds the document while the task runs. */
static inline struct task_id task_holder(const struct task *task)
{
    return id_none(task->family) ? task->id : task->family;
}

/* Does this change start, or end, the time in which the task needs its document? A container takes
 * none itself, but for a hold: the first of its members that starts takes it in its name. When it
 * stops running it lets go of all that its members needed; a member of nothing. */
static inline bool change_takes_document(const struct task_change *change)
{
    return !str_absent(change->now->document) &&
           (!change->now->container || task_is_hold(change->now)) &&
           change->now->state == TASK_RUNNING && change->was->state != TASK_RUNNING;
}

static inline bool change_frees_document(const struct task_change *change)
{
    const struct task *was = change->was;
    return was->state == TASK_RUNNING && change->now->state != TASK_RUNNING &&
           !change->keeps_document && id_eq(task_holder(was), was->id) &&
           (was->container || !str_absent(was->document));
}

/* Must the attempt was->attempt be written down apart from its task? It is when the task goes on:
 * the last attempt of a finished task is told by the task itself. */
static inline bool change_keeps_attempt(const struct task_change *change)
{
    return !task_state_terminal(change->now->state) &&
           (change->ended || (task_state_terminal(change->was->state) && change->was->attempt > 0 &&
                              change->was->outcome != OUTCOME_NONE));
}

/* That attempt: from `now` if it ended with this change, else from the finished task as it was. */
struct task_attempt change_attempt(const struct task_change *change);

/* The attempt that a change's log lines belong to. */
static inline int32_t change_log_number(const struct task_change *change)
{
    return change->was->state == TASK_RUNNING ? change->was->attempt : change->now->attempt;
}

#endif
