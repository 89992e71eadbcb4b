/* broker/memory/line.c: things that stand in line by (queued_ms, id.hi). See line.h.
 *
 * SPDX-License-Identifier: MIT */
#include "broker/memory/line.h"

/* The room a heap keeps when it is empty; more goes back. */
#define HEAP_KEEP ((size_t)1024)

static struct spot *of_link(const struct link *link)
{
    return HOLDER(link, struct spot, link);
}

static struct spot *of_place(const struct heap_node *place)
{
    return HOLDER(place, struct spot, place);
}

static bool before(const struct heap_node *a, const struct heap_node *b)
{
    return key_before(of_place(a)->key, of_place(b)->key);
}

void line_init(struct line *line)
{
    *line = (struct line){.heap = HEAP_INIT(before)};
    list_init(&line->list);
}

void line_fini(struct line *line, size_t *bytes)
{
    *bytes -= line->heap.room * sizeof *line->heap.at;
    heap_fini(&line->heap);
}

static void add_to_heap(struct line *line, struct spot *spot, size_t *bytes)
{
    size_t room = line->heap.room;
    heap_add(&line->heap, &spot->place);
    *bytes += (line->heap.room - room) * sizeof *line->heap.at;
}

void line_add(struct line *line, struct spot *spot, size_t *bytes)
{
    struct link *first = list_first(&line->list), *last = list_last(&line->list);
    if (last == NULL || !key_before(spot->key, of_link(last)->key)) {
        list_append(&line->list, &spot->link);
    } else if (key_before(spot->key, of_link(first)->key)) {
        list_prepend(&line->list, &spot->link);
    } else {
        add_to_heap(line, spot, bytes);
        return;
    }
    line->list_count++;
}

void line_remove(struct line *line, struct spot *spot, size_t *bytes)
{
    if (link_in_list(&spot->link)) {
        list_remove(&spot->link);
        line->list_count--;
        return;
    }
    heap_remove(&line->heap, &spot->place);
    if (line->heap.count == 0 && line->heap.room > HEAP_KEEP) {
        line_fini(line, bytes);
    }
}

struct spot *line_first(const struct line *line)
{
    struct link *link = list_first(&line->list);
    struct heap_node *top = heap_top(&line->heap);
    if (top == NULL) {
        return link == NULL ? NULL : of_link(link);
    }
    bool heap_first = link == NULL || key_before(of_place(top)->key, of_link(link)->key);
    return heap_first ? of_place(top) : of_link(link);
}

size_t line_some_count(const struct line *line, size_t most)
{
    return MIN(line->list_count, most) + line->heap.count;
}

size_t line_some(const struct line *line, size_t most, struct spot **out)
{
    size_t n = 0;
    for (struct link *at = list_first(&line->list); at != NULL && n < most;
         at = list_after(&line->list, at)) {
        out[n++] = of_link(at);
    }
    for (size_t i = 0; i < line->heap.count; i++) {
        out[n++] = of_place(line->heap.at[i]);
    }
    return n;
}

size_t line_before(const struct line *line, struct key key)
{
    size_t n = 0;
    for (struct link *at = list_first(&line->list); at != NULL && key_before(of_link(at)->key, key);
         at = list_after(&line->list, at)) {
        n++;
    }
    for (size_t i = 0; i < line->heap.count; i++) {
        n += key_before(of_place(line->heap.at[i])->key, key);
    }
    return n;
}
