/* store/postgres/row.h: a task as parameters, a row as a task, derived from task/task.def.
 *
 * Thread: any.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_STORE_POSTGRES_ROW_H
#define ERRAND_STORE_POSTGRES_ROW_H

#include "store/postgres/args.h"
#include "store/store.h"

/* The values of @order and the payload, @fresh, @standing, and @end. `scratch` holds packed tags.
 */
void args_order(struct args *args, const struct task *task, struct buf *scratch);
void args_fresh(struct args *args, const struct task *task);
void args_standing(struct args *args, const struct task *task);
/* When something happens to it by itself, or NULL. */
void args_due(struct args *args, const struct task *task);
void args_error(struct args *args, const struct task_error *error);
void args_end(struct args *args, const struct task *task);
/* The columns of load_live and load_done; texts are borrowed from the rows. */
void get_row(const PGresult *rows, size_t row, struct task_row *out);
void get_standing(const PGresult *rows, size_t row, int at, struct task *task);
void get_error(const PGresult *rows, size_t row, int at, struct task_error *error);
/* Does the change only begin an attempt, or only end it well? Then the row may keep all the rest as
 * it is there: see start_tasks and complete_tasks. */
bool row_only_starts(const struct task *was, const struct task *now);
bool row_only_completes(const struct task *was, const struct task *now);
/* Do both stand at the same place? */
bool row_same_standing(const struct task *a, const struct task *b);
/* What the lock of the task's document is worth elsewhere: see broker_lock(). */
struct str lock_text(const struct task *task, char out[static TASK_ID_TEXT]);

#endif
