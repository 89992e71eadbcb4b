/* net/owners.h: whose schedules are, as far as event streams of one user need to know.
 *
 * An event names its task's schedule and not its owner. Who follows the events with a token of one
 * user is sent those of that user's schedules alone, so an owner that is not known is asked for
 * once, and the stream waits at that event until it is.
 *
 * Bounded, and forgetful: what was learned a minute ago is asked for again, because a schedule may
 * be given to somebody else.
 *
 * Thread: net loop. Time is given in.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_NET_OWNERS_H
#define ERRAND_NET_OWNERS_H

#include "base/list.h"
#include "base/map.h"
#include "wire/id.h"

#define OWNERS_MAX     4096 /* schedules; the one that was asked for first is forgotten first */
#define OWNERS_KEPT_MS MINUTE_MS

struct owners {
    struct map schedules;
    struct list order; /* by when they were asked for */
    size_t count;
    void (*ask)(void *arg, struct task_id schedule); /* answered by owners_learn() */
    void *arg;
};

enum owner_is { OWNER_UNKNOWN, OWNER_USER, OWNER_OTHER };

void owners_init(struct owners *owners);
void owners_fini(struct owners *owners);

/* Unknown: it is being asked for. */
enum owner_is owners_look(struct owners *owners, struct task_id schedule, struct str user,
                          int64_t now_ms);
/* `owner` is absent where it is nobody's or gone. */
void owners_learn(struct owners *owners, struct task_id schedule, struct str owner, int64_t now_ms);
void owners_forget(struct owners *owners, struct task_id schedule); /* nobody could say */

#endif
