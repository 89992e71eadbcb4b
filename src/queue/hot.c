/* queue/hot.c: live tasks that will be needed again soon. See hot.h.
 *
 * Thread: engine.
 *
 * SPDX-License-Identifier: MIT */
#include "queue/hot.h"

#include <assert.h>

#include "base/mem.h"
#include "store/pack.h"

struct hot_row {
    struct map_node node;
    struct link link; /* in its line, then among the dropped */
    struct task_id id;
    int64_t since_mono_ms;
    uint32_t len;
    bool held;
    char run[];
};

void hot_init(struct hot *hot)
{
    *hot = (struct hot){.rows = MAP_INIT,
                        .queued.most = HOT_QUEUED_MAX,
                        .held.most = HOT_HELD_MAX,
                        .scratch = BUF_INIT(2 * MIB)};
    list_init(&hot->queued.rows);
    list_init(&hot->held.rows);
    list_init(&hot->dropped);
}

static void free_all(struct list *rows)
{
    LIST_EACH(rows, it)
    {
        mem_free(HOLDER(it, struct hot_row, link));
    }
    list_init(rows);
}

void hot_fini(struct hot *hot)
{
    free_all(&hot->queued.rows);
    free_all(&hot->held.rows);
    free_all(&hot->dropped);
    map_fini(&hot->rows);
    buf_fini(&hot->scratch);
}

void hot_settle(struct hot *hot)
{
    free_all(&hot->dropped);
}

static struct hot_row *find(const struct hot *hot, struct task_id id)
{
    struct map_node *node = map_find(&hot->rows, id_hash(id));
    while (node != NULL && !id_eq(HOLDER(node, struct hot_row, node)->id, id)) {
        node = map_again(node);
    }
    return node == NULL ? NULL : HOLDER(node, struct hot_row, node);
}

bool hot_read(const struct hot *hot, struct task_id id, struct task *out)
{
    const struct hot_row *row = find(hot, id);
    if (row == NULL) {
        return false;
    }
    unpack_begin(out);
    bool whole = unpack((struct str){row->run, row->len}, out);
    assert(whole); /* we packed it */
    return whole;
}

static void drop(struct hot *hot, struct hot_row *row)
{
    struct hot_line *line = row->held ? &hot->held : &hot->queued;
    line->bytes -= sizeof *row + row->len;
    map_remove(&hot->rows, &row->node);
    list_remove(&row->link);
    list_append(&hot->dropped, &row->link);
}

void hot_forget(struct hot *hot, struct task_id id)
{
    struct hot_row *row = find(hot, id);
    if (row != NULL) {
        drop(hot, row);
    }
}

/* Makes room at the cost of the oldest, where that is not about to be claimed itself. */
static bool has_room(struct hot *hot, struct hot_line *line, size_t bytes, struct now now)
{
    while (line->bytes + bytes > line->most) {
        struct hot_row *oldest = HOLDER(list_first(&line->rows), struct hot_row, link);
        if (line == &hot->queued && now.mono_ms - oldest->since_mono_ms < HOT_STALE_MS) {
            return false;
        }
        drop(hot, oldest);
    }
    return true;
}

void hot_keep(struct hot *hot, const struct task *task, struct now now)
{
    bool held = task->state == TASK_RUNNING;
    struct hot_line *line = held ? &hot->held : &hot->queued;
    hot_forget(hot, task->id);
    if ((!held && task->state != TASK_QUEUED) || task->container ||
        task->payload.len > HOT_ROW_MAX) {
        return;
    }
    buf_clear(&hot->scratch);
    if (!pack_live(&hot->scratch, task) || hot->scratch.len > HOT_ROW_MAX ||
        !has_room(hot, line, sizeof(struct hot_row) + hot->scratch.len, now)) {
        return;
    }
    struct hot_row *row = mem_alloc(sizeof *row + hot->scratch.len);
    *row = (struct hot_row){.id = task->id,
                            .since_mono_ms = now.mono_ms,
                            .len = (uint32_t)hot->scratch.len,
                            .held = held};
    memcpy(row->run, hot->scratch.ptr, hot->scratch.len);
    map_add(&hot->rows, &row->node, id_hash(task->id));
    list_append(&line->rows, &row->link);
    line->bytes += sizeof *row + row->len;
}
