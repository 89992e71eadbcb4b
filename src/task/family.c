/* task/family.c: what a parent and its children ask of each other. See family.h.
 *
 * SPDX-License-Identifier: MIT */
#include "task/family.h"

static bool ended_badly(enum task_state state)
{
    return task_state_terminal(state) && state != TASK_COMPLETED;
}

struct family family_judge(const struct task *parent, const enum task_state *children, size_t count)
{
    struct family family = {.turn = count, .unwanted = count, .bad = count};
    size_t first_live = count;
    bool begun = parent->state == TASK_QUEUED || parent->state == TASK_RUNNING, works = false;
    for (size_t i = count; i-- > 0;) {
        family.bad = ended_badly(children[i]) ? i : family.bad;
        first_live = task_state_terminal(children[i]) ? first_live : i;
        works = works || children[i] == TASK_RUNNING || children[i] == TASK_RETRYING;
    }
    family.opens = parent->state == TASK_QUEUED && works;
    if (task_state_terminal(parent->state) || parent->cancel_requested) {
        family.unwanted = 0;
    } else if (!parent->continues && family.bad < count) {
        family.unwanted = family.bad + 1; /* those before it finish what they began */
    }
    if (first_live == count) {
        family.end = family.bad == count ? FAMILY_ENDS_WELL : FAMILY_ENDS_BADLY;
    } else if (begun && first_live < family.unwanted) {
        family.turn = first_live;
    }
    return family;
}

bool family_stands(const struct task *waits, enum task_state on)
{
    return waits->runs_anyway ? !task_state_terminal(on) : on != TASK_COMPLETED;
}
