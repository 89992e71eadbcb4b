/* task/family.h: what a parent and its children ask of each other, decided without a store.
 *
 * The whole of it is one function of how they stand now: whose turn it is, who is not wanted any
 * more, and whether the parent opens or ends. It does not ask what happened last, so nothing that
 * can happen is forgotten; applied again to what it asked for, it asks for nothing more.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_TASK_FAMILY_H
#define ERRAND_TASK_FAMILY_H

#include "task/task.h"

enum family_end {
    FAMILY_GOES_ON, /* something in it can still run */
    FAMILY_ENDS_WELL,
    FAMILY_ENDS_BADLY
};

/* Places among the children, in order of creation; `count` stands for none. */
struct family {
    enum family_end end;
    bool opens;      /* the parent runs from now on: one of its children does */
    size_t turn;     /* the child that may run; all others that have not ended wait for it */
    size_t unwanted; /* from this place on, whoever has not ended is to be cancelled */
    size_t bad;      /* the first that ended badly */
};
struct family family_judge(const struct task *parent, const enum task_state *children,
                           size_t count);

/* Does a dependency in this state stand in the way of a task that waits for it? */
bool family_stands(const struct task *waits, enum task_state on);

#endif
