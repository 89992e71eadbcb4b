/* fleet/compare.c: are documents held in the broker as they are in the store? For `errand doctor`.
 *
 * Between a claim and its commit, and between an end and its word to the broker, the two differ in
 * a fleet that is well: only what differs in two looks is wrong, and the leader's walk mends it
 * (walk.c).
 *
 * Thread: any; a steward's and a broker's own.
 *
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "base/array.h"
#include "fleet/fleet.h"

struct held {
    struct str document;
    struct task_id holder;
};
struct held_list { /* in an arena */
    struct held *at;
    size_t count;
};

static int by_document(const void *left, const void *right)
{
    return str_cmp(((const struct held *)left)->document, ((const struct held *)right)->document);
}

static void held_add(struct held_list *list, struct str document, struct task_id holder,
                     struct arena *arena)
{
    *ARENA_PUSH(arena, list->at, list->count) = (struct held){arena_str(arena, document), holder};
}

static bool read_store(struct steward *steward, struct arena *arena, struct held_list *list,
                       struct err *err)
{
    struct steward_held *page = arena_array(arena, struct steward_held, FLEET_PAGE);
    struct str after = STR("");
    size_t count = FLEET_PAGE;
    while (count == FLEET_PAGE) {
        if (!steward_held(steward, after, FLEET_PAGE, arena, page, &count, err)) {
            return false;
        }
        for (size_t i = 0; i < count; i++) {
            held_add(list, page[i].document, page[i].holder, arena);
            after = list->at[list->count - 1].document;
        }
    }
    return true;
}

/* A page of the broker's may tell of a document that an earlier one told of. */
static void read_broker(struct broker *broker, struct arena *arena, struct held_list *list)
{
    uint64_t cursor = 0;
    do {
        struct broker_document *page;
        size_t count = broker_held(broker, &cursor, FLEET_PAGE, arena, &page);
        for (size_t i = 0; i < count; i++) {
            held_add(list, page[i].document, page[i].holder, arena);
        }
    } while (cursor != 0);
}

bool fleet_compare(struct steward *steward, struct broker *broker, struct arena *arena,
                   struct fleet_difference **out, size_t *count, struct err *err)
{
    struct held_list store = {0}, hints = {0};
    if (!read_store(steward, arena, &store, err)) {
        return false;
    }
    read_broker(broker, arena, &hints);
    *out = arena_array(arena, struct fleet_difference, store.count + hints.count + 1);
    *count = 0;
    if (store.count > 0) {
        qsort(store.at, store.count, sizeof *store.at, by_document);
    }
    if (hints.count > 0) {
        qsort(hints.at, hints.count, sizeof *hints.at, by_document);
    }
    for (size_t i = 0, j = 0; i < store.count || j < hints.count;) {
        int order = i == store.count   ? 1
                    : j == hints.count ? -1
                                       : by_document(&store.at[i], &hints.at[j]);
        struct fleet_difference found = {.document = order <= 0 ? store.at[i].document
                                                                : hints.at[j].document,
                                         .in_store = order <= 0,
                                         .in_broker = order >= 0};
        if (order != 0 || !id_eq(store.at[i].holder, hints.at[j].holder)) {
            (*out)[(*count)++] = found;
        }
        i += order <= 0;
        j += order >= 0;
        while (j > 0 && j < hints.count && by_document(&hints.at[j], &hints.at[j - 1]) == 0) {
            j++;
        }
    }
    return true;
}
