/* base/arena.h: memory that ends all at once.
 *
 * Whatever lives as long as one request or one batch comes from its arena and is never freed by
 * hand. Big pieces get a block of their own, so nothing ever moves.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_BASE_ARENA_H
#define ERRAND_BASE_ARENA_H

#include "base/str.h"

struct arena_block;

struct arena {
    struct arena_block *block; /* the newest; older ones hang behind it */
    char *at, *end;            /* free room in the newest */
};

#define ARENA_INIT ((struct arena){0})

void arena_fini(struct arena *arena);
void arena_clear(struct arena *arena);               /* as new, one block kept for reuse */
void *arena_alloc(struct arena *arena, size_t size); /* aligned to 16, uninitialised */
void *arena_zero(struct arena *arena, size_t size);
struct str arena_str(struct arena *arena,
                     struct str text); /* a copy, NUL behind it; absent stays absent */
char *arena_c_text(struct arena *arena, struct str text); /* a NUL-terminated copy */
struct str arena_printf(struct arena *arena, const char *format, ...) PRINTF_LIKE(2, 3);

/* Room for one more item of `size` bytes behind `count` others: the array, or a bigger copy. */
void *arena_grow(struct arena *arena, void *items, size_t count, size_t *room, size_t size);

#define arena_new(arena, type)      ((type *)arena_zero((arena), sizeof(type)))
#define arena_array(arena, type, n) ((type *)arena_zero((arena), sizeof(type) * (n)))

#endif
