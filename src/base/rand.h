/* base/rand.h: random numbers, injected: from the kernel, or from a seed that a test prints.
 *
 * Thread: each struct belongs to one.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_BASE_RAND_H
#define ERRAND_BASE_RAND_H

#include "base/def.h"

struct rand {
    bool seeded;
    uint64_t state;
    unsigned char pool[512]; /* kernel bytes fetched ahead */
    size_t left;
};

void rand_init(struct rand *rand);                     /* from the kernel */
void rand_init_seed(struct rand *rand, uint64_t seed); /* repeatable; never for secrets */
uint64_t rand_u64(struct rand *rand);
uint64_t rand_below(struct rand *rand, uint64_t limit); /* 0 … limit-1; limit ≥ 1 */
double rand_unit(struct rand *rand);                    /* 0 ≤ x < 1 */
void rand_bytes(struct rand *rand, void *out, size_t len);

#endif
