/* store/postgres/insert.c: new tasks, many at once.
 *
 * Tags, dependencies and documents that are held from the start are rows of their own. What is
 * written here goes out with the commit, unless somebody asks for it before.
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

/* What there is to say of a new task: one statement each. */
enum kind {
    KIND_PLAIN, /* queued at once, with nothing unusual */
    KIND_FRESH, /* nothing has happened to it yet */
    KIND_ANY,
    KINDS
};

struct chunk {
    struct args tasks[KINDS];
    const struct task *plain[CHUNK_ROWS]; /* its plain tasks, which are retried alike */
    size_t plain_count;
    bool alike; /* they differ by id and payload only */
    struct args tags, depends, documents;
    struct buf scratch; /* packed tags of the task at hand */
    size_t count, bytes;
};

static void chunk_init(struct chunk *chunk)
{
    chunk->plain_count = chunk->count = chunk->bytes = 0;
    chunk->alike = true;
    for (int kind = 0; kind < KINDS; kind++) {
        args_init(&chunk->tasks[kind], true);
    }
    args_init(&chunk->tags, true);
    args_init(&chunk->depends, true);
    args_init(&chunk->documents, true);
    chunk->scratch = BUF_INIT(TASK_TAGS_MAX * (TASK_TAG_MAX + 2));
}

static void chunk_fini(struct chunk *chunk)
{
    for (int kind = 0; kind < KINDS; kind++) {
        args_fini(&chunk->tasks[kind]);
    }
    args_fini(&chunk->tags);
    args_fini(&chunk->depends);
    args_fini(&chunk->documents);
    buf_fini(&chunk->scratch);
}

static void chunk_clear(struct chunk *chunk)
{
    chunk->plain_count = chunk->count = chunk->bytes = 0;
    chunk->alike = true;
    for (int kind = 0; kind < KINDS; kind++) {
        args_clear(&chunk->tasks[kind]);
    }
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
        fresh_drop(&tx->store->fresh, task->depends[i]); /* its row will say so */
    }
}

static bool same_backoff(const struct task_backoff *a, const struct task_backoff *b)
{
    return a->base_ms == b->base_ms && a->max_ms == b->max_ms && a->factor == b->factor &&
           a->jitter == b->jitter;
}

/* The statement with the fewest arrays that can say it all. */
static enum kind kind_of(const struct chunk *chunk, const struct task *task)
{
    if (task_state_terminal(task->state) || task->state == TASK_RUNNING ||
        !task_is_blank(task, PART_STANDING | PART_RARE_STANDING)) {
        return KIND_ANY;
    }
    bool plain =
        task->state == TASK_QUEUED && task->queued_ms == task->created_ms &&
        task->updated_ms == task->created_ms && task->scheduled_ms == 0 && task->unmet == 0 &&
        task->expires_ms == 0 && !task->payload_raw && !task->container && !task->continues &&
        !task->runs_anyway && str_absent(task->document) && task_is_blank(task, PART_RARE_ORDER) &&
        (chunk->plain_count == 0 || same_backoff(&chunk->plain[0]->backoff, &task->backoff));
    return plain ? KIND_PLAIN : KIND_FRESH;
}

static bool same_make(const struct task *a, const struct task *b)
{
    return a->created_ms == b->created_ms && a->priority == b->priority &&
           a->max_retries == b->max_retries && a->timeout_ms == b->timeout_ms &&
           str_eq(a->type, b->type) && str_eq(a->queue, b->queue);
}

static void args_backoff(struct args *args, const struct task_backoff *backoff)
{
    arg_int(args, backoff->base_ms);
    arg_int(args, backoff->max_ms);
    arg_real(args, backoff->factor);
    arg_real(args, backoff->jitter);
}

static void args_make(struct args *args, const struct task *task)
{
    arg_text(args, task->type);
    arg_text(args, task->queue);
    arg_int(args, task->created_ms);
    arg_small(args, (int32_t)task->priority);
    arg_small(args, task->max_retries);
    arg_int(args, task->timeout_ms);
}

/* As insert_alike takes them, or insert_plain. */
static void args_plain(const struct chunk *chunk, struct args *args)
{
    for (size_t i = 0; i < chunk->plain_count; i++) {
        const struct task *task = chunk->plain[i];
        arg_id(args, task->id);
        arg_bytes(args, task->payload);
        if (!chunk->alike || args_same(args)) {
            args_make(args, task);
        }
        if (args_same(args)) {
            args_backoff(args, &task->backoff);
        }
        args_row_end(args);
    }
}

/* A live task has no result and no end; the schema has no room for them. */
static void add_task(struct pg_tx *tx, struct chunk *chunk, const struct task *task)
{
    enum kind kind = kind_of(chunk, task);
    struct args *args = &chunk->tasks[kind];
    if (kind == KIND_PLAIN) {
        chunk->plain[chunk->plain_count++] = task;
        chunk->alike = chunk->alike && same_make(chunk->plain[0], task);
        if (!tx->adopts) { /* nobody here will start it */
            fresh_add(&tx->store->fresh, task);
        }
    } else {
        args_order(args, task, &chunk->scratch);
        args_due(args, task);
    }
    if (kind == KIND_FRESH) {
        args_fresh(args, task);
        args_row_end(args);
    } else if (kind == KIND_ANY) {
        args_standing(args, task);
        args_end(args, task);
        args_row_end(args);
    }
    add_relations(tx, chunk, task);
    if (task->state == TASK_RUNNING && !str_absent(task->document) && !tx->adopts) {
        add_document(tx, chunk, task);
    }
    pg_count(tx, task->queue, task->state, 1);
    chunk->count++;
    chunk->bytes += task_texts_size(task);
}

/* Documents may be refused, which has to be known; all the rest waits for the commit. */
static bool lease_documents(struct pg_tx *tx, struct chunk *chunk, struct err *err)
{
    struct pg_call call = {.sql = PG_LEASE_DOCUMENTS, .args = &chunk->documents};
    if (!pg_tx_run(tx, &call, 1, TX_WRITES, err)) {
        return false;
    }
    int64_t refused = get_int(call.result, 0, 0);
    pg_calls_fini(&call, 1);
    return refused == 0 || err_set(err, ERR_CONFLICT, "the document is held by another task");
}

static bool chunk_write(struct pg_tx *tx, struct chunk *chunk, struct err *err)
{
    const enum pg_id sql[KINDS] = {[KIND_PLAIN] = chunk->alike ? PG_INSERT_ALIKE : PG_INSERT_PLAIN,
                                   [KIND_FRESH] = PG_INSERT_FRESH,
                                   [KIND_ANY] = PG_INSERT_TASKS};
    bool written = true;
    args_plain(chunk, &chunk->tasks[KIND_PLAIN]);
    for (int kind = 0; kind < KINDS && written; kind++) {
        written = chunk->tasks[kind].rows_count == 0 ||
                  pg_tx_defer(tx, sql[kind], &chunk->tasks[kind], chunk->bytes, err);
    }
    if (written && chunk->tags.rows_count > 0) {
        written = pg_tx_defer(tx, PG_INSERT_TAGS, &chunk->tags, 0, err);
    }
    if (written && chunk->depends.rows_count > 0) {
        written = pg_tx_defer(tx, PG_INSERT_DEPENDENCIES, &chunk->depends, 0, err);
    }
    if (written && chunk->documents.rows_count > 0) {
        written = lease_documents(tx, chunk, err);
    }
    chunk_clear(chunk);
    return written;
}

bool pg_insert(struct tx *base, const struct task *const *tasks, size_t n, struct err *err)
{
    SCOPED(chunk_fini) struct chunk chunk;
    chunk_init(&chunk);
    for (size_t i = 0; i < n; i++) {
        if (!ties_lock(PG_TX(base), tasks[i]->depends, tasks[i]->depends_count, err)) {
            return err_wrap(err, "insert tasks");
        }
        add_task(PG_TX(base), &chunk, tasks[i]);
        bool full = chunk.count == CHUNK_ROWS || chunk.bytes > CHUNK_BYTES || i + 1 == n;
        if (full && !chunk_write(PG_TX(base), &chunk, err)) {
            return err_wrap(err, "insert tasks");
        }
    }
    return true;
}
