/* broker/memory/slab.h: many things of one size without an allocation each.
 *
 * What is put back is handed out again; blocks go home only with the slab. A backlog's peak thus
 * stays reserved, which the next backlog wants anyway.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_BROKER_MEMORY_SLAB_H
#define ERRAND_BROKER_MEMORY_SLAB_H

#include "base/def.h"

struct slab_block;

struct slab {
    size_t item; /* bytes of one */
    struct slab_block *blocks;
    void *spare; /* put back, linked through their first word */
    size_t left; /* items never handed out at the end of the newest block */
    size_t bytes;
};

#define SLAB_INIT(type) ((struct slab){.item = sizeof(type)})

void slab_fini(struct slab *slab);
void *slab_get(struct slab *slab); /* zeroed */
void slab_put(struct slab *slab, void *item);

#endif
