/* base/list.h: a doubly linked list whose links live inside its members.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_BASE_LIST_H
#define ERRAND_BASE_LIST_H

#include "base/def.h"

struct link {
    struct link *prev, *next; /* both NULL: in no list */
};

struct list {
    struct link head; /* head.next is the first, head.prev the last; itself when empty */
};

static inline void list_init(struct list *list)
{
    list->head.prev = list->head.next = &list->head;
}

static inline bool list_empty(const struct list *list)
{
    return list->head.next == &list->head;
}

static inline bool link_in_list(const struct link *link)
{
    return link->next != NULL;
}

static inline void list_insert_before(struct link *at, struct link *link)
{
    link->prev = at->prev;
    link->next = at;
    at->prev->next = link;
    at->prev = link;
}

static inline void list_append(struct list *list, struct link *link)
{
    list_insert_before(&list->head, link);
}

static inline void list_prepend(struct list *list, struct link *link)
{
    list_insert_before(list->head.next, link);
}

static inline void list_remove(struct link *link)
{
    link->prev->next = link->next;
    link->next->prev = link->prev;
    link->prev = link->next = NULL;
}

static inline struct link *list_first(const struct list *list) /* NULL when empty */
{
    return list_empty(list) ? NULL : list->head.next;
}

static inline struct link *list_last(const struct list *list)
{
    return list_empty(list) ? NULL : list->head.prev;
}

static inline struct link *list_after(const struct list *list, const struct link *link)
{
    return link->next == &list->head ? NULL : link->next;
}

/* Walks a list from which the visited member may be removed. */
#define LIST_EACH(list, it)                                                                        \
    for (struct link *it = (list)->head.next, *it##_next = it->next; it != &(list)->head;          \
         it = it##_next, it##_next = it->next)

#endif
