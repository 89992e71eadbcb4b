/* base/rand.c: random numbers from the kernel or from a seed. See rand.h.
 *
 * SPDX-License-Identifier: MIT */
#include "base/rand.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

void rand_init(struct rand *rand)
{
    *rand = (struct rand){.seeded = false};
}

void rand_init_seed(struct rand *rand, uint64_t seed)
{
    *rand = (struct rand){.seeded = true, .state = seed};
}

uint64_t rand_u64(struct rand *rand)
{
    uint64_t value;
    if (rand->seeded) {
        /* SplitMix64: small, fast, and good enough for choosing test schedules. */
        value = (rand->state += 0x9E3779B97F4A7C15u);
        value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9u;
        value = (value ^ (value >> 27)) * 0x94D049BB133111EBu;
        return value ^ (value >> 31);
    }
    if (rand->left < sizeof value) {
        if (getrandom(rand->pool, sizeof rand->pool, 0) != (ssize_t)sizeof rand->pool) {
            fputs("errand: the kernel gives no random bytes\n", stderr);
            abort();
        }
        rand->left = sizeof rand->pool;
    }
    rand->left -= sizeof value;
    memcpy(&value, rand->pool + rand->left, sizeof value);
    return value;
}

uint64_t rand_below(struct rand *rand, uint64_t limit)
{
    return (uint64_t)(((__uint128_t)rand_u64(rand) * limit) >> 64);
}

double rand_unit(struct rand *rand)
{
    return (double)(rand_u64(rand) >> 11) * 0x1.0p-53;
}

void rand_bytes(struct rand *rand, void *out, size_t len)
{
    for (char *p = out; len > 0;) {
        uint64_t word = rand_u64(rand);
        size_t piece = MIN(len, sizeof word);
        memcpy(p, &word, piece);
        p += piece;
        len -= piece;
    }
}
