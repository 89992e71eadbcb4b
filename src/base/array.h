/* base/array.h: arrays that grow.
 *
 * An array is three members of its owner: where it lies, how many are in it and how many have room.
 * All three begin as zero; the owner ends it with mem_free(). Growing moves what is in it, so a
 * pointer into an array holds until the next one is pushed.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_BASE_ARRAY_H
#define ERRAND_BASE_ARRAY_H

#include <string.h>

#include "base/arena.h"
#include "base/mem.h"

/* The members of the first room: few arrays that grow stay smaller. */
#define ARRAY_LEAST ((size_t)16)

/* The same array with room for `wanted` members of `size` bytes; what is new is uninitialised. */
static inline void *array_room(void *at, size_t *room, size_t wanted, size_t size)
{
    if (wanted <= *room) {
        return at;
    }
    *room = MAX(wanted, MAX(*room * 2, ARRAY_LEAST));
    return mem_array(at, *room, size);
}

#define ARRAY_ROOM(at, room, wanted)                                                               \
    ((void)((at) = array_room((at), &(room), (wanted), sizeof *(at))))

/* Makes room for one more and says where it lies: *ARRAY_PUSH(at, count, room) = member; */
#define ARRAY_PUSH(at, count, room) (ARRAY_ROOM(at, room, (count) + 1), (at) + (count)++)

/* The same for an array that lies in an arena and knows only its count: it doubles whenever that is
 * a power of two. */
static inline void *array_in_arena(struct arena *arena, void *at, size_t count, size_t size)
{
    if (count != 0 && (count < ARRAY_LEAST || (count & (count - 1)) != 0)) {
        return at;
    }
    void *more = arena_alloc(arena, MAX(count * 2, ARRAY_LEAST) * size);
    return count == 0 ? more : memcpy(more, at, count * size);
}

#define ARENA_PUSH(arena, at, count)                                                               \
    ((at) = array_in_arena((arena), (at), (count), sizeof *(at)), (at) + (count)++)

#endif
