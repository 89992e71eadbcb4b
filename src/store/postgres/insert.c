/* store/postgres/insert.c: new tasks, many at once.
 *
 * Tags, dependencies and documents that are held from the start are rows of their own; all
 * statements of a chunk go out together.
 *
 * Thread: engine. Keeps: G3 (doc_lease), I7 (counts).
 *
 * SPDX-License-Identifier: MIT */
#include "store/columns.h"
#include "store/postgres/postgres.h"
#include "store/postgres/row.h"
#include "store/shared.h"

#define CHUNK_ROWS  1000
#define CHUNK_BYTES (16 * MIB)

struct chunk {
    bool fresh; /* nothing has happened to its tasks yet */
    struct args tasks, tags, depends, documents;
    struct buf scratch; /* packed tags of the task at hand */
};

static void chunk_init(struct chunk *chunk)
{
    args_init(&chunk->tasks, true);
    args_init(&chunk->tags, true);
    args_init(&chunk->depends, true);
    args_init(&chunk->documents, true);
    chunk->scratch = BUF_INIT(TASK_TAGS_MAX * (TASK_TAG_MAX + 2));
}

static void chunk_fini(struct chunk *chunk)
{
    args_fini(&chunk->tasks);
    args_fini(&chunk->tags);
    args_fini(&chunk->depends);
    args_fini(&chunk->documents);
    buf_fini(&chunk->scratch);
}

static void chunk_clear(struct chunk *chunk)
{
    args_clear(&chunk->tasks);
    args_clear(&chunk->tags);
    args_clear(&chunk->depends);
    args_clear(&chunk->documents);
}

void pg_count(struct pg_tx *tx, struct str queue, enum task_state state, int64_t n)
{
    count_change_add(&tx->counts, counts_slot(&tx->store->counts, queue), state, n);
}

static void add_document(struct pg_tx *tx, struct chunk *chunk, const struct task *task)
{
    char text[TASK_ID_TEXT];
    arg_bytes(&chunk->documents, task->document);
    arg_id(&chunk->documents, task_holder(task));
    arg_bool(&chunk->documents, task->container || !id_none(task->family));
    arg_int(&chunk->documents, tx->store->node);
    arg_text(&chunk->documents, lock_text(task, text));
    arg_int(&chunk->documents, task->updated_ms);
    args_row_end(&chunk->documents);
}

static void add_relations(struct pg_tx *tx, struct chunk *chunk, const struct task *task)
{
    for (size_t i = 0; i < task->tags_count; i++) {
        arg_bytes(&chunk->tags, task->tags[i]);
        arg_id(&chunk->tags, task->id);
        args_row_end(&chunk->tags);
    }
    for (size_t i = 0; i < task->depends_count; i++) {
        arg_id(&chunk->depends, task->id);
        arg_id(&chunk->depends, task->depends[i]);
        args_row_end(&chunk->depends);
        ties_add(tx, task->depends[i], true);
    }
}

/* Nothing has happened to it yet: it needs half of its columns. */
static bool is_fresh(const struct task *task)
{
    return !task_state_terminal(task->state) && task->state != TASK_RUNNING &&
           task_is_blank(task, PART_STANDING | PART_RARE_STANDING);
}

/* A live task has no result and no end; the schema has no room for them. */
static void add_task(struct pg_tx *tx, struct chunk *chunk, const struct task *task)
{
    args_order(&chunk->tasks, task, &chunk->scratch);
    if (chunk->fresh) {
        args_fresh(&chunk->tasks, task);
    } else {
        args_standing(&chunk->tasks, task);
        args_end(&chunk->tasks, task);
    }
    args_row_end(&chunk->tasks);
    add_relations(tx, chunk, task);
    if (task->state == TASK_RUNNING && !str_absent(task->document)) {
        add_document(tx, chunk, task);
    }
    pg_count(tx, task->queue, task->state, 1);
}

static bool chunk_write(struct pg_tx *tx, struct chunk *chunk, struct err *err)
{
    struct pg_call calls[4] = {
        {.sql = chunk->fresh ? PG_INSERT_FRESH : PG_INSERT_TASKS, .args = &chunk->tasks}};
    size_t n = 1;
    if (chunk->tags.rows_count > 0) {
        calls[n++] = (struct pg_call){.sql = PG_INSERT_TAGS, .args = &chunk->tags};
    }
    if (chunk->depends.rows_count > 0) {
        calls[n++] = (struct pg_call){.sql = PG_INSERT_DEPENDENCIES, .args = &chunk->depends};
    }
    if (chunk->documents.rows_count > 0) {
        calls[n++] = (struct pg_call){.sql = PG_LEASE_DOCUMENTS, .args = &chunk->documents};
    }
    if (!pg_tx_run(tx, calls, n, TX_WRITES, err)) {
        return false;
    }
    int64_t refused = chunk->documents.rows_count > 0 ? get_int(calls[n - 1].result, 0, 0) : 0;
    pg_calls_fini(calls, n);
    chunk_clear(chunk);
    return refused == 0 || err_set(err, ERR_CONFLICT, "the document is held by another task");
}

bool pg_insert(struct tx *base, const struct task *const *tasks, size_t n, struct err *err)
{
    SCOPED(chunk_fini) struct chunk chunk;
    size_t bytes = 0;
    chunk_init(&chunk);
    chunk.fresh = true;
    for (size_t i = 0; i < n; i++) {
        chunk.fresh = chunk.fresh && is_fresh(tasks[i]);
    }
    for (size_t i = 0; i < n; i++) {
        add_task(PG_TX(base), &chunk, tasks[i]);
        bytes += task_texts_size(tasks[i]);
        bool full = chunk.tasks.rows_count == CHUNK_ROWS || bytes > CHUNK_BYTES || i + 1 == n;
        if (full && !chunk_write(PG_TX(base), &chunk, err)) {
            return err_wrap(err, "insert tasks");
        }
        bytes = full ? 0 : bytes;
    }
    return true;
}
