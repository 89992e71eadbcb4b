/* base/mem.c: memory that is there or ends the process. See mem.h.
 *
 * SPDX-License-Identifier: MIT */
#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *checked(void *ptr, size_t size)
{
    if (ptr == NULL && size > 0) {
        fprintf(stderr, "errand: out of memory asking for %zu bytes\n", size);
        abort();
    }
    return ptr;
}

void mem_must(bool has, const char *what)
{
    if (!has) {
        fprintf(stderr, "errand: out of memory for %s\n", what);
        abort();
    }
}

void *mem_alloc(size_t size)
{
    return checked(malloc(size), size);
}

void *mem_zero(size_t size)
{
    return checked(calloc(1, size), size);
}

void *mem_grow(void *old, size_t size)
{
    return checked(realloc(old, size), size);
}

void *mem_array(void *old, size_t n, size_t of)
{
    size_t size;
    if (__builtin_mul_overflow(n, of, &size)) {
        checked(NULL, SIZE_MAX);
    }
    return mem_grow(old, size);
}

char *mem_text(const char *ptr, size_t len)
{
    char *copy = mem_alloc(len + 1);
    if (len > 0) {
        memcpy(copy, ptr, len);
    }
    copy[len] = '\0';
    return copy;
}

void mem_free(void *ptr)
{
    free(ptr);
}

void mem_free_at(void *ptr_to_ptr)
{
    free(*(void **)ptr_to_ptr);
}
