/* net/owners.c: whose schedules are. See owners.h.
 *
 * SPDX-License-Identifier: MIT */
#include "net/owners.h"

#include "base/mem.h"

struct owner {
    struct map_node node;
    struct link link;
    struct task_id schedule;
    bool known;    /* else it is being asked for */
    int64_t at_ms; /* when it was learned */
    size_t len;    /* 0: nobody */
    char user[];
};

void owners_init(struct owners *owners)
{
    *owners = (struct owners){.schedules = MAP_INIT};
    list_init(&owners->order);
}

static struct owner *find(const struct owners *owners, struct task_id schedule)
{
    struct map_node *n = map_find(&owners->schedules, id_hash(schedule));
    for (; n != NULL; n = map_again(n)) {
        struct owner *owner = HOLDER(n, struct owner, node);
        if (id_eq(owner->schedule, schedule)) {
            return owner;
        }
    }
    return NULL;
}

static void drop(struct owners *owners, struct owner *owner)
{
    map_remove(&owners->schedules, &owner->node);
    list_remove(&owner->link);
    owners->count--;
    mem_free(owner);
}

void owners_fini(struct owners *owners)
{
    while (!list_empty(&owners->order)) {
        drop(owners, HOLDER(list_first(&owners->order), struct owner, link));
    }
    map_fini(&owners->schedules);
}

/* In place of what was known. */
static struct owner *put(struct owners *owners, struct task_id schedule, struct str user)
{
    struct owner *old = find(owners, schedule);
    if (old != NULL) {
        drop(owners, old);
    } else if (owners->count == OWNERS_MAX) {
        drop(owners, HOLDER(list_first(&owners->order), struct owner, link));
    }
    struct owner *owner = mem_zero(sizeof *owner + user.len);
    owner->schedule = schedule;
    owner->len = user.len;
    if (user.len > 0) {
        memcpy(owner->user, user.ptr, user.len);
    }
    map_add(&owners->schedules, &owner->node, id_hash(schedule));
    list_append(&owners->order, &owner->link);
    owners->count++;
    return owner;
}

enum owner_is owners_look(struct owners *owners, struct task_id schedule, struct str user,
                          int64_t now_ms)
{
    const struct owner *owner = find(owners, schedule);
    if (owner == NULL || (owner->known && now_ms - owner->at_ms >= OWNERS_KEPT_MS)) {
        put(owners, schedule, STR_NONE);
        owners->ask(owners->arg, schedule);
        owner = find(owners, schedule); /* it may have been answered at once */
    }
    if (owner == NULL || !owner->known) {
        return OWNER_UNKNOWN;
    }
    return owner->len > 0 && str_eq((struct str){owner->user, owner->len}, user) ? OWNER_USER
                                                                                 : OWNER_OTHER;
}

void owners_learn(struct owners *owners, struct task_id schedule, struct str owner, int64_t now_ms)
{
    struct owner *known = put(owners, schedule, owner);
    known->known = true;
    known->at_ms = now_ms;
}

void owners_forget(struct owners *owners, struct task_id schedule)
{
    struct owner *owner = find(owners, schedule);
    if (owner != NULL) {
        drop(owners, owner);
    }
}
