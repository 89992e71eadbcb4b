/* broker/memory/slab.c: many things of one size without an allocation each. See slab.h.
 *
 * SPDX-License-Identifier: MIT */
#include "broker/memory/slab.h"

#include <string.h>

#include "base/mem.h"

/* Big enough that its header and the allocator's weigh nothing, small enough for an idle server. */
#define BLOCK_BYTES (64 * KIB)

struct slab_block {
    struct slab_block *older;
    char items[];
};

void slab_fini(struct slab *slab)
{
    for (struct slab_block *block = slab->blocks, *older; block != NULL; block = older) {
        older = block->older;
        mem_free(block);
    }
    *slab = (struct slab){.item = slab->item};
}

void *slab_get(struct slab *slab)
{
    void *item = slab->spare;
    if (item != NULL) {
        memcpy(&slab->spare, item, sizeof slab->spare);
        return memset(item, 0, slab->item);
    }
    if (slab->left == 0) {
        struct slab_block *block = mem_alloc(BLOCK_BYTES);
        block->older = slab->blocks;
        slab->blocks = block;
        slab->left = (BLOCK_BYTES - sizeof *block) / slab->item;
        slab->bytes += BLOCK_BYTES;
    }
    return memset(slab->blocks->items + --slab->left * slab->item, 0, slab->item);
}

void slab_put(struct slab *slab, void *item)
{
    memcpy(item, &slab->spare, sizeof slab->spare);
    slab->spare = item;
}
