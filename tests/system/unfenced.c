/* tests/system/unfenced.c: Errand without its fence, to prove that the judge of histories sees.
 *
 * The linker puts this in the place of task_holds() (--wrap): any lease that a running task ever
 * had is taken for the current one. It is linked into a binary of its own that only tests start.
 *
 * SPDX-License-Identifier: MIT */
#include "task/life.h"

bool __real_task_holds(const struct task *task, struct task_lease lease, struct err *err);
bool __wrap_task_holds(const struct task *task, struct task_lease lease, struct err *err);

bool __wrap_task_holds(const struct task *task, struct task_lease lease, struct err *err)
{
    return task->state == TASK_RUNNING || __real_task_holds(task, lease, err);
}
