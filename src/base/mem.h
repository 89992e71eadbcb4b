/* base/mem.h: memory that is there or ends the process.
 *
 * Running out of memory is the one failure that is not returned: named limits at the edge keep
 * clients from causing it, and durability makes dying safe. A queue may die; it may never lie.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_BASE_MEM_H
#define ERRAND_BASE_MEM_H

#include "base/def.h"

void *mem_alloc(size_t size);                    /* uninitialised; never NULL */
void *mem_zero(size_t size);                     /* zeroed; never NULL */
void *mem_grow(void *old, size_t size);          /* like realloc; never NULL */
void *mem_array(void *old, size_t n, size_t of); /* realloc to n items, overflow checked */
char *mem_text(const char *ptr, size_t len);     /* a NUL-terminated copy */
void mem_free(void *ptr);                        /* NULL is welcome */
void mem_free_at(void *ptr_to_ptr);              /* for SCOPED: frees *(void **)ptr_to_ptr */

/* A library could not get the memory or descriptors it begins with: ends the process likewise. */
void mem_must(bool has, const char *what);

#define mem_new(type) ((type *)mem_zero(sizeof(type)))

#endif
