/* queue/type_book.c: what became of the tasks of each type. See type_book.h.
 *
 * SPDX-License-Identifier: MIT */
#include "queue/type_book.h"

#include "base/mem.h"

static struct type_entry *find(const struct type_book *book, struct str type, uint64_t hash)
{
    struct map_node *node = map_find(&book->by_name, hash);
    while (node != NULL && !str_eq(HOLDER(node, struct type_entry, node)->figures.type, type)) {
        node = map_again(node);
    }
    return node == NULL ? NULL : HOLDER(node, struct type_entry, node);
}

static struct type_entry *add(struct type_book *book, struct str type, uint64_t hash)
{
    struct type_entry *entry = mem_new(struct type_entry);
    entry->figures.type = (struct str){mem_text(type.ptr, type.len), type.len};
    map_add(&book->by_name, &entry->node, hash);
    book->entries[book->count++] = entry;
    return entry;
}

void type_book_init(struct type_book *book, const struct str *types, size_t count)
{
    *book = (struct type_book){.by_name = MAP_INIT};
    book->last = add(book, STR(TYPE_BOOK_OTHER), str_hash(STR(TYPE_BOOK_OTHER)));
    for (size_t i = 0; i < count; i++) {
        (void)type_book_of(book, types[i]);
    }
}

void type_book_fini(struct type_book *book)
{
    for (size_t i = 0; i < book->count; i++) {
        mem_free((char *)book->entries[i]->figures.type.ptr);
        mem_free(book->entries[i]);
    }
    map_fini(&book->by_name);
}

struct type_figures *type_book_of(struct type_book *book, struct str type)
{
    if (str_eq(book->last->figures.type, type)) {
        return &book->last->figures;
    }
    uint64_t hash = str_hash(type);
    struct type_entry *entry = find(book, type, hash);
    if (entry == NULL) {
        entry = book->count < TYPE_BOOK_MAX ? add(book, type, hash) : book->entries[0];
    }
    book->last = entry;
    return &entry->figures;
}

void type_book_created(struct type_book *book, const struct task *task)
{
    type_book_of(book, task->type)->enqueued++;
}

void type_book_started(struct type_book *book, const struct task *task)
{
    histogram_add(&type_book_of(book, task->type)->wait, task->started_ms - task->queued_ms);
}

void type_book_ended(struct type_book *book, const struct task *task, int64_t run_ms)
{
    struct type_figures *figures = type_book_of(book, task->type);
    figures->outcomes[task->outcome]++;
    figures->completed += task->state == TASK_COMPLETED;
    figures->retried += task->state == TASK_RETRYING;
    histogram_add(&figures->run, run_ms);
}

size_t type_book_list(const struct type_book *book, struct arena *arena, struct type_figures **out)
{
    *out = arena_array(arena, struct type_figures, book->count);
    for (size_t i = 0; i < book->count; i++) {
        (*out)[i] = book->entries[i]->figures;
        (*out)[i].type = arena_str(arena, (*out)[i].type);
    }
    return book->count;
}
