/* net/pace.c: spaces out the progress of each task. See pace.h.
 *
 * SPDX-License-Identifier: MIT */
#include "net/pace.h"

#include "base/mem.h"

struct paced {
    struct map_node node;
    struct link link;
    struct task_id task;
    int64_t due_ms;
    struct backlog_entry *held;
};

void pace_init(struct pace *pace, int64_t interval_ms, size_t max)
{
    *pace = (struct pace){.interval_ms = interval_ms, .max = max};
    list_init(&pace->due);
}

static void remove_paced(struct pace *pace, struct paced *paced)
{
    map_remove(&pace->tasks, &paced->node);
    list_remove(&paced->link);
    backlog_entry_free(paced->held);
    mem_free(paced);
}

void pace_fini(struct pace *pace)
{
    LIST_EACH(&pace->due, link)
    {
        remove_paced(pace, HOLDER(link, struct paced, link));
    }
    map_fini(&pace->tasks);
}

static struct paced *find(const struct pace *pace, struct task_id task)
{
    struct map_node *node = map_find(&pace->tasks, id_hash(task));
    while (node != NULL && !id_eq(HOLDER(node, struct paced, node)->task, task)) {
        node = map_again(node);
    }
    return node == NULL ? NULL : HOLDER(node, struct paced, node);
}

struct backlog_entry *pace_progress(struct pace *pace, struct backlog_entry *entry, int64_t now_ms)
{
    struct task_id task = entry->event.task;
    struct paced *paced = find(pace, task);
    if (paced != NULL) {
        backlog_entry_free(paced->held);
        paced->held = entry;
        return NULL;
    }
    if (pace->tasks.count >= pace->max) {
        backlog_entry_free(entry);
        return NULL;
    }
    paced = mem_new(struct paced);
    paced->task = task;
    paced->due_ms = now_ms + pace->interval_ms;
    map_add(&pace->tasks, &paced->node, id_hash(task));
    list_append(&pace->due, &paced->link);
    return entry;
}

void pace_forget(struct pace *pace, struct task_id task)
{
    struct paced *paced = find(pace, task);
    if (paced != NULL) {
        backlog_entry_free(paced->held);
        paced->held = NULL;
    }
}

struct backlog_entry *pace_due(struct pace *pace, int64_t now_ms)
{
    struct link *first;
    while ((first = list_first(&pace->due)) != NULL) {
        struct paced *paced = HOLDER(first, struct paced, link);
        struct backlog_entry *held = paced->held;
        if (paced->due_ms > now_ms) {
            return NULL;
        }
        if (held != NULL) {
            paced->held = NULL;
            paced->due_ms = now_ms + pace->interval_ms;
            list_remove(first);
            list_append(&pace->due, first);
            return held;
        }
        remove_paced(pace, paced);
    }
    return NULL;
}

int64_t pace_next_ms(const struct pace *pace)
{
    struct link *first = list_first(&pace->due);
    return first == NULL ? 0 : HOLDER(first, struct paced, link)->due_ms;
}
