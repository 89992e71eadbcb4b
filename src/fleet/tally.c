/* fleet/tally.c: what the other nodes have done since they told it last. See parts.h.
 *
 * Each says what it has done since its start. A node that joined after this one is counted from
 * its beginning, one that was there before from when it was seen first.
 *
 * Thread: the fleet's.
 *
 * SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "base/mem.h"
#include "fleet/parts.h"

static struct tally_node *find(struct tally *tally, uint64_t id)
{
    for (size_t i = 0; i < tally->count; i++) {
        if (tally->nodes[i].id == id) {
            return &tally->nodes[i];
        }
    }
    return NULL;
}

void tally_note(struct tally *tally, struct str node, const struct series_sums *told,
                struct series_sums *fresh)
{
    uint64_t id = str_hash(node);
    struct tally_node *known = find(tally, id);
    if (known == NULL) {
        known = ARRAY_PUSH(tally->nodes, tally->count, tally->room);
        *known = (struct tally_node){.id = id};
        known->told = tally->begun ? known->told : *told;
    }
    series_add(fresh, told);
    series_take_away(fresh, &known->told);
    known->told = *told;
    known->is_here = true;
}

void tally_end(struct tally *tally)
{
    size_t kept = 0;
    for (size_t i = 0; i < tally->count; i++) {
        if (tally->nodes[i].is_here) {
            tally->nodes[kept] = tally->nodes[i];
            tally->nodes[kept++].is_here = false;
        }
    }
    tally->count = kept;
    tally->begun = true;
}
