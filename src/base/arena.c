/* base/arena.c: memory that ends all at once. See arena.h.
 *
 * SPDX-License-Identifier: MIT */
#include "base/arena.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/mem.h"

#define BLOCK_SIZE (8 * KIB) /* holds a usual request whole */
#define ALIGN      ((size_t)16)

struct arena_block {
    struct arena_block *older;
    size_t size;
};

#define HEADER ((sizeof(struct arena_block) + ALIGN - 1) & ~(ALIGN - 1))

static void add_block(struct arena *arena, size_t room)
{
    size_t size = MAX(room, BLOCK_SIZE);
    struct arena_block *block = mem_alloc(HEADER + size);
    block->older = arena->block;
    block->size = size;
    arena->block = block;
    arena->at = (char *)block + HEADER;
    arena->end = arena->at + size;
}

void *arena_alloc(struct arena *arena, size_t size)
{
    size = (size + ALIGN - 1) & ~(ALIGN - 1);
    if (arena->at == NULL || size > (size_t)(arena->end - arena->at)) {
        add_block(arena, size);
    }
    void *piece = arena->at;
    arena->at += size;
    return piece;
}

void *arena_zero(struct arena *arena, size_t size)
{
    return memset(arena_alloc(arena, size), 0, size);
}

static void free_chain(struct arena_block *block)
{
    while (block != NULL) {
        struct arena_block *older = block->older;
        mem_free(block);
        block = older;
    }
}

void arena_fini(struct arena *arena)
{
    free_chain(arena->block);
    *arena = ARENA_INIT;
}

void arena_clear(struct arena *arena)
{
    struct arena_block *kept = arena->block;
    if (kept == NULL) {
        return;
    }
    free_chain(kept->older);
    kept->older = NULL;
    if (kept->size > 16 * BLOCK_SIZE) { /* one huge request must not pin its memory */
        arena_fini(arena);
        return;
    }
    arena->at = (char *)kept + HEADER;
    arena->end = arena->at + kept->size;
}

char *arena_c_text(struct arena *arena, struct str text)
{
    char *copy = arena_alloc(arena, text.len + 1);
    if (text.len > 0) {
        memcpy(copy, text.ptr, text.len);
    }
    copy[text.len] = '\0';
    return copy;
}

struct str arena_str(struct arena *arena, struct str text)
{
    return str_absent(text) ? text : (struct str){arena_c_text(arena, text), text.len};
}

struct str arena_printf(struct arena *arena, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, format, args);
    char *text = arena_alloc(arena, (size_t)len + 1);
    vsnprintf(text, (size_t)len + 1, format, again);
    va_end(again);
    va_end(args);
    return (struct str){text, (size_t)len};
}

void *arena_grow(struct arena *arena, void *items, size_t count, size_t *room, size_t size)
{
    if (count < *room) {
        return items;
    }
    *room = MAX((size_t)16, *room * 2);
    char *bigger = arena_alloc(arena, *room * size);
    if (count > 0) {
        memcpy(bigger, items, count * size);
    }
    return bigger;
}
