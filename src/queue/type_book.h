/* queue/type_book.h: what became of the tasks of each type, for /metrics.
 *
 * Clients choose the names of types, so there is room for a number of them: the types that this
 * server knows by its settings, then whichever come first. The rest is counted under one name,
 * which is also that of a type that is really called so. Nothing is kept across a restart.
 *
 * Thread: engine.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_QUEUE_TYPE_BOOK_H
#define ERRAND_QUEUE_TYPE_BOOK_H

#include "base/map.h"
#include "queue/stats.h"

#define TYPE_BOOK_MAX   100 /* types with figures of their own, that of the rest among them */
#define TYPE_BOOK_OTHER "other"

struct type_entry {
    struct map_node node;
    struct type_figures figures; /* its name is owned by the entry */
};

struct type_book {
    struct map by_name;
    struct type_entry *entries[TYPE_BOOK_MAX]; /* the first is that of the rest */
    size_t count;
    struct type_entry *last; /* tasks of one type come in a row */
};

/* These types have a place from the start. */
void type_book_init(struct type_book *book, const struct str *types, size_t count);
void type_book_fini(struct type_book *book);
struct type_figures *type_book_of(struct type_book *book, struct str type); /* never NULL */

/* A task has gone from one state to another, with the end of an attempt or without one. */
void type_book_created(struct type_book *book, const struct task *task);
void type_book_started(struct type_book *book, const struct task *task);
void type_book_ended(struct type_book *book, const struct task *task, int64_t run_ms);

/* All of them, copied into `arena`. */
size_t type_book_list(const struct type_book *book, struct arena *arena, struct type_figures **out);

#endif
