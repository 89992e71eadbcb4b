/* store/sqlite/move.c: an embedded store as the source or the target of a move. See store/move.h.
 *
 * The lock file keeps servers out on both sides. A held document's lock is made up here: an
 * embedded store needs none, and a fleet wants to know who has it.
 *
 * SPDX-License-Identifier: MIT */
#include <sys/stat.h>

#include "base/array.h"
#include "store/shared.h"
#include "store/sqlite/sqlite.h"

const struct move_table sqlite_move_tables[] = {
    {"meta", "of each store its own; the highest id goes on"},
    {"name", "with the tasks that have it"},
    {"body", "a task"},
    {"task", "a task"},
    {"done", "a task"},
    {"key", "with its task"},
    {"child", "with its task"},
    {"facet", "made anew from the tasks"},
    {"ended", "counted anew"},
    {"attempt", "row by row"},
    {"log", "row by row"},
    {"dependency", "row by row"},
    {"doc_lease", "row by row, if its holder runs"},
    {"queue", "row by row"},
    {"record", "row by row"},
    {NULL, NULL},
};

static bool identify(struct store *base, struct buf *out, struct err *err)
{
    struct stat st;
    if (stat(SQLITE_STORE(base)->path, &st) != 0) {
        return err_set(err, ERR_UNAVAILABLE, "cannot look at %s", SQLITE_STORE(base)->path);
    }
    buf_printf(out, "sqlite/%lld/%lld", (long long)st.st_dev, (long long)st.st_ino);
    return true;
}

static bool seize(struct store *base, struct err *err)
{
    struct sqlite_store *store = SQLITE_STORE(base);
    return store->lock >= 0 || take_lock(store, err);
}

static bool count(struct store *base, struct move_counts *out, struct err *err)
{
    struct db *db = &SQLITE_STORE(base)->db;
    sqlite3_stmt *s = db_use(db, SQL_MOVE_COUNTS);
    bool row = true;
    *out = (struct move_counts){0};
    while (db_row(db, SQL_MOVE_COUNTS, &row, err) && row) {
        if (!move_counts_add(out, column_int(s, 0), column_int(s, 1), column_int(s, 2), err)) {
            db_done(db, SQL_MOVE_COUNTS);
            return false;
        }
    }
    return !row;
}

/* ---- Out ---- */

static bool read_task(struct db *db, int64_t k, struct arena *arena, struct move_rows *out,
                      size_t *bytes, struct err *err)
{
    struct loaded loaded;
    if (!load_row(db, k, INT64_MAX, &loaded, err)) {
        return false;
    }
    if (loaded.found) {
        task_keep(ARENA_PUSH(arena, out->tasks, out->count), &loaded.row.task, arena);
        *bytes += task_texts_size(&loaded.row.task);
    }
    db_done(db, loaded.used);
    return loaded.found || err_set(err, ERR_FATAL, "a task has an order and stands nowhere");
}

static bool read_tasks(struct db *db, sqlite3_stmt *s, const struct move_rows *after,
                       struct arena *arena, struct move_rows *out, struct err *err)
{
    bool row = true;
    size_t bytes = 0;
    bind_int(s, 1, after->count == 0 ? 0 : (int64_t)after->tasks[after->count - 1].id.hi);
    bind_int(s, 2, MOVE_SLICE_ROWS);
    while (bytes < MOVE_SLICE_BYTES && db_row(db, SQL_MOVE_TASKS, &row, err) && row) {
        if (!read_task(db, column_int(s, 0), arena, out, &bytes, err)) {
            db_done(db, SQL_MOVE_TASKS);
            return false;
        }
    }
    if (row && bytes >= MOVE_SLICE_BYTES) {
        db_done(db, SQL_MOVE_TASKS);
        return true;
    }
    return !row;
}

static bool read_attempts(struct db *db, sqlite3_stmt *s, const struct move_rows *after,
                          struct arena *arena, struct move_rows *out, struct err *err)
{
    const struct move_attempt *last = after->count == 0 ? NULL : &after->attempts[after->count - 1];
    bool row = true;
    bind_int(s, 1, last == NULL ? 0 : (int64_t)last->id.hi);
    bind_int(s, 2, last == NULL ? 0 : last->attempt.number);
    bind_int(s, 3, MOVE_SLICE_ROWS);
    while (db_row(db, SQL_MOVE_ATTEMPTS, &row, err) && row) {
        struct task_error error;
        read_error(s, 7, &error);
        *ARENA_PUSH(arena, out->attempts, out->count) =
            (struct move_attempt){column_id(s, 0),
                                  {.number = (int32_t)column_int(s, 2),
                                   .outcome = (enum task_outcome)column_int(s, 3),
                                   .worker = arena_str(arena, column_str(s, 4)),
                                   .started_ms = column_int(s, 5),
                                   .finished_ms = column_int(s, 6),
                                   .error = task_error_copy(arena, &error)}};
    }
    return !row;
}

static bool read_logs(struct db *db, sqlite3_stmt *s, const struct move_rows *after,
                      struct arena *arena, struct move_rows *out, struct err *err)
{
    const struct move_log *last = after->count == 0 ? NULL : &after->logs[after->count - 1];
    bool row = true;
    bind_int(s, 1, last == NULL ? 0 : (int64_t)last->id.hi);
    bind_int(s, 2, last == NULL ? 0 : last->number);
    bind_int(s, 3, last == NULL ? 0 : last->until_byte);
    bind_int(s, 4, MOVE_SLICE_ROWS);
    while (db_row(db, SQL_MOVE_LOGS, &row, err) && row) {
        *ARENA_PUSH(arena, out->logs, out->count) =
            (struct move_log){column_id(s, 0), (int32_t)column_int(s, 2), column_int(s, 3),
                              arena_str(arena, column_str(s, 4))};
    }
    return !row;
}

static bool read_dependencies(struct db *db, sqlite3_stmt *s, const struct move_rows *after,
                              struct arena *arena, struct move_rows *out, struct err *err)
{
    bool row = true, first = after->count == 0;
    bind_int(s, 1, first ? 0 : (int64_t)after->dependencies[after->count - 1].id.hi);
    bind_int(s, 2, first ? 0 : (int64_t)after->dependencies[after->count - 1].on.hi);
    bind_int(s, 3, MOVE_SLICE_ROWS);
    while (db_row(db, SQL_MOVE_DEPENDENCIES, &row, err) && row) {
        *ARENA_PUSH(arena, out->dependencies, out->count) =
            (struct move_dependency){column_id(s, 0), column_id(s, 2)};
    }
    return !row;
}

/* The lock of an attempt is its lease, that of a family its id. */
static bool read_holder(struct db *db, int64_t k, struct arena *arena, struct move_held *held,
                        struct err *err)
{
    struct loaded loaded;
    char text[TASK_ID_TEXT > TASK_LEASE_TEXT ? TASK_ID_TEXT : TASK_LEASE_TEXT];
    if (!load_row(db, k, -1, &loaded, err)) {
        return false;
    }
    const struct task *task = &loaded.row.task;
    held->holder = task->id;
    held->since_ms = MAX(task->started_ms, task->queued_ms);
    held->lock = arena_str(
        arena, held->family
                   ? id_text(task->id, text)
                   : task_lease_text((struct task_lease){task->attempt, task->token}, text));
    db_done(db, loaded.used);
    return true;
}

static bool read_held(struct db *db, sqlite3_stmt *s, const struct move_rows *after,
                      struct arena *arena, struct move_rows *out, struct err *err)
{
    bool row = true;
    bind_text(s, 1, after->count == 0 ? STR("") : after->held[after->count - 1].document);
    bind_int(s, 2, MOVE_SLICE_ROWS);
    while (db_row(db, SQL_MOVE_HELD, &row, err) && row) {
        struct move_held *held = ARENA_PUSH(arena, out->held, out->count);
        *held = (struct move_held){.document = arena_str(arena, column_str(s, 0)),
                                   .family = column_int(s, 2) != 0};
        if (!read_holder(db, column_int(s, 1), arena, held, err)) {
            db_done(db, SQL_MOVE_HELD);
            return false;
        }
    }
    return !row;
}

static bool read_part(struct store *base, enum move_part part, const struct move_rows *after,
                      struct arena *arena, struct move_rows *out, struct err *err)
{
    static const struct {
        enum sql_id sql;
        bool (*read)(struct db *db, sqlite3_stmt *s, const struct move_rows *after,
                     struct arena *arena, struct move_rows *out, struct err *err);
    } parts[MOVE_PARTS] = {
        [MOVE_TASKS] = {SQL_MOVE_TASKS, read_tasks},
        [MOVE_ATTEMPTS] = {SQL_MOVE_ATTEMPTS, read_attempts},
        [MOVE_LOGS] = {SQL_MOVE_LOGS, read_logs},
        [MOVE_DEPENDENCIES] = {SQL_MOVE_DEPENDENCIES, read_dependencies},
        [MOVE_HELD] = {SQL_MOVE_HELD, read_held},
    };
    struct db *db = &SQLITE_STORE(base)->db;
    *out = (struct move_rows){0};
    return parts[part].read(db, db_use(db, parts[part].sql), after, arena, out, err) ||
           err_wrap(err, "read the source");
}

/* ---- In ---- */

static bool adopt(struct tx *base, uint64_t last_id, struct err *err)
{
    struct sqlite_tx *tx = SQLITE_TX(base);
    struct db *db = &tx->store->db;
    tx->adopts = true;
    tx->last_id = MAX(tx->last_id, last_id);
    bind_int(db_use(db, SQL_KEEP_LAST_K), 1, (int64_t)last_id);
    return db_run(db, SQL_KEEP_LAST_K, err);
}

static bool write_task(struct sqlite_tx *tx, const struct move_rows *rows, size_t i,
                       struct err *err)
{
    const struct task *task = &rows->tasks[i];
    return sqlite_insert(&tx->tx, &task, 1, err);
}

static bool write_attempt(struct sqlite_tx *tx, const struct move_rows *rows, size_t i,
                          struct err *err)
{
    return insert_attempt(tx, rows->attempts[i].id, &rows->attempts[i].attempt, err);
}

static bool write_log(struct sqlite_tx *tx, const struct move_rows *rows, size_t i, struct err *err)
{
    struct db *db = &tx->store->db;
    sqlite3_stmt *s = db_use(db, SQL_MOVE_LOG);
    bind_int(s, 1, (int64_t)rows->logs[i].id.hi);
    bind_int(s, 2, rows->logs[i].number);
    bind_int(s, 3, rows->logs[i].until_byte);
    bind_bytes(s, 4, rows->logs[i].text);
    return db_run(db, SQL_MOVE_LOG, err);
}

static bool write_dependency(struct sqlite_tx *tx, const struct move_rows *rows, size_t i,
                             struct err *err)
{
    const struct task task = {
        .id = rows->dependencies[i].id, .depends = &rows->dependencies[i].on, .depends_count = 1};
    return family_insert(tx, &task, err);
}

static bool write_held(struct sqlite_tx *tx, const struct move_rows *rows, size_t i,
                       struct err *err)
{
    const struct move_held *held = &rows->held[i];
    enum lease_answer answer = LEASE_REFUSED;
    struct task task = {.id = held->holder, .document = held->document, .container = held->family};
    return lease_document(tx, &task, &answer, err) &&
           (answer == LEASE_TAKEN || err_set(err, ERR_INTERNAL, "a document is held twice"));
}

static bool write_part(struct tx *base, enum move_part part, const struct move_rows *rows,
                       struct err *err)
{
    static bool (*const writes[MOVE_PARTS])(struct sqlite_tx * tx, const struct move_rows *rows,
                                            size_t i, struct err *err) = {
        [MOVE_TASKS] = write_task, [MOVE_ATTEMPTS] = write_attempt,
        [MOVE_LOGS] = write_log,   [MOVE_DEPENDENCIES] = write_dependency,
        [MOVE_HELD] = write_held,
    };
    for (size_t i = 0; i < rows->count; i++) {
        if (!writes[part](SQLITE_TX(base), rows, i, err)) {
            return err_wrap(err, "write the target");
        }
    }
    return true;
}

const struct move_ops sqlite_move = {
    .identify = identify,
    .seize = seize,
    .count = count,
    .read = read_part,
    .adopt = adopt,
    .write = write_part,
};
