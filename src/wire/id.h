/* wire/id.h: names for tasks: UUIDv7, ordered by creation.
 *
 * The first 64 bits (48 of real milliseconds, the version, a 12-bit counter) are unique in a store
 * and only ever grow, also when the clock goes back: a full counter carries into the next
 * millisecond. Stores use them as the key. The last 64 are random, stored and compared, so ids
 * cannot be guessed. Where several nodes share a store only both halves together are unique; that
 * two tasks have the first in common is made rare, since an embedded store could not hold both.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_WIRE_ID_H
#define ERRAND_WIRE_ID_H

#include "base/rand.h"
#include "base/str.h"

struct task_id {
    uint64_t hi, lo; /* both 0: no id */
};

#define TASK_ID_NONE ((struct task_id){0, 0})
#define TASK_ID_TEXT 37 /* bytes of its text, the NUL included */

struct id_maker {
    uint64_t last_hi; /* the highest hi handed out or found in the store */
    struct rand *rand;
    bool spread; /* others make ids for the same store: count from a random number on */
};

struct task_id id_make(struct id_maker *maker, int64_t real_wall_ms);
uint64_t id_first_hi(int64_t real_wall_ms); /* at most that of any id made from then on */

/* Strict: 36 characters, hex digits of either case, hyphens in place. */
MUST_CHECK bool id_parse(struct str text, struct task_id *out);
/* The beginning of an id, at least one digit, hyphens in place: *first is the smallest id that has
 * it, *last the greatest. A whole id is its own beginning. */
MUST_CHECK bool id_beginning(struct str text, struct task_id *first, struct task_id *last);
struct str id_text(struct task_id id, char out[static TASK_ID_TEXT]); /* returns a view of out */

static inline bool id_eq(struct task_id a, struct task_id b)
{
    return a.hi == b.hi && a.lo == b.lo;
}

static inline bool id_none(struct task_id id)
{
    return id.hi == 0 && id.lo == 0;
}

/* Tasks that were created together lie together in a map: walking a backlog in order then stays in
 * the cache, which a hash that scatters would miss at every step. Ids are made here, so nobody can
 * choose them to collide; an odd number of slots per millisecond spreads slow streams over the
 * whole map. */
static inline uint64_t id_hash(struct task_id id)
{
    return (id.hi >> 16) * 61 + (id.hi & 0xFFF);
}

#endif
