/* store/sqlite/detail.c: one task whole, with its attempts, their logs and its relations.
 *
 * Thread: the reader's.
 *
 * SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "store/shared.h"
#include "store/sqlite/sqlite.h"

#define LOG_READ_MAX (64 * MIB) /* pieces may overlap the window by one heartbeat's worth */

bool sqlite_reader_open(struct store *base, struct reader **out, struct err *err)
{
    struct sqlite_reader *reader = mem_new(struct sqlite_reader);
    if (!db_open(&reader->db, SQLITE_STORE(base)->path, SQLITE_OPEN_READONLY, sql_script_reader,
                 err) ||
        !db_prepare(&reader->db, err)) {
        db_close(&reader->db);
        mem_free(reader);
        return err_wrap(err, "open a reader");
    }
    reader->reader.ops = base->ops;
    *out = &reader->reader;
    return true;
}

void sqlite_reader_close(struct reader *base)
{
    struct sqlite_reader *reader = (struct sqlite_reader *)base;
    db_close(&reader->db);
    mem_free(reader);
}

static bool read_log(struct db *db, struct task_id id, struct task_attempt *attempt,
                     struct arena *arena, struct err *err)
{
    SCOPED(buf_fini) struct buf text = BUF_INIT(LOG_READ_MAX);
    sqlite3_stmt *s = db_use(db, SQL_LIST_LOG);
    bool row = true;
    bind_int(s, 1, (int64_t)id.hi);
    bind_int(s, 2, attempt->number);
    while (db_row(db, SQL_LIST_LOG, &row, err) && row) {
        buf_str(&text, column_str(s, 0));
    }
    attempt->log = text.len == 0 ? STR_NONE : arena_str(arena, log_window(buf_view(&text)));
    return !row;
}

/* The earlier attempts; and the running one, or the last one of a finished task, which is told by
 * the task's own row. */
static bool read_attempts(struct db *db, struct task_id id, struct arena *arena,
                          struct task_detail *out, struct err *err)
{
    sqlite3_stmt *s = db_use(db, SQL_LIST_ATTEMPTS);
    bool row = true;
    bind_int(s, 1, (int64_t)id.hi);
    while (db_row(db, SQL_LIST_ATTEMPTS, &row, err) && row) {
        struct task_attempt *attempt = ARENA_PUSH(arena, out->attempts, out->attempts_count);
        *attempt = (struct task_attempt){.number = (int32_t)column_int(s, 0),
                                         .outcome = (enum task_outcome)column_int(s, 1),
                                         .worker = arena_str(arena, column_str(s, 2)),
                                         .started_ms = column_int(s, 3),
                                         .finished_ms = column_int(s, 4)};
        read_error(s, 5, &attempt->error);
        attempt->error.code = arena_str(arena, attempt->error.code);
        attempt->error.message = arena_str(arena, attempt->error.message);
        attempt->error.detail = arena_str(arena, attempt->error.detail);
    }
    int32_t last = out->attempts_count == 0 ? 0 : out->attempts[out->attempts_count - 1].number;
    if (task_tells_attempt(&out->task) && out->task.attempt > last) {
        *ARENA_PUSH(arena, out->attempts, out->attempts_count) = task_last_attempt(&out->task);
    }
    return !row;
}

static bool read_dependencies(struct db *db, struct arena *arena, struct task_detail *out,
                              struct err *err)
{
    sqlite3_stmt *s = db_use(db, SQL_LIST_RESULTS);
    bool row = true;
    bind_int(s, 1, (int64_t)out->task.id.hi);
    while (db_row(db, SQL_LIST_RESULTS, &row, err) && row) {
        *ARENA_PUSH(arena, out->dependencies, out->dependencies_count) = (struct task_dependency){
            column_id(s, 0), (enum task_state)column_int(s, 2), arena_str(arena, column_str(s, 3))};
    }
    return !row;
}

static bool read_task(struct db *db, struct task_id id, struct arena *arena, bool *found,
                      struct task *out, struct err *err)
{
    struct loaded loaded;
    if (!load_row(db, (int64_t)id.hi, INT64_MAX, &loaded, err)) {
        return false;
    }
    *found = loaded.found && loaded.row.task.id.lo == id.lo;
    if (*found) {
        task_keep(out, &loaded.row.task, arena);
    }
    db_done(db, loaded.used);
    return true;
}

static bool read_detail(struct db *db, struct task_id id, struct arena *arena, bool *found,
                        struct task_detail *out, struct err *err)
{
    if (!read_task(db, id, arena, found, &out->task, err)) {
        return false;
    }
    if (!*found) {
        return true;
    }
    if (!read_attempts(db, id, arena, out, err)) {
        return false;
    }
    for (size_t i = 0; i < out->attempts_count; i++) {
        if (!read_log(db, id, &out->attempts[i], arena, err)) {
            return false;
        }
    }
    return related_ids(db, SQL_LIST_CHILDREN, id, arena, &out->children, &out->children_count,
                       err) &&
           read_dependencies(db, arena, out, err);
}

bool sqlite_detail(struct reader *base, struct task_id id, struct arena *arena, bool *found,
                   struct task_detail *out, struct err *err)
{
    struct db *db = &((struct sqlite_reader *)base)->db;
    *out = (struct task_detail){0};
    *found = false;
    if (!db_run(db, SQL_BEGIN_READ, err)) {
        return err_wrap(err, "read a task");
    }
    bool ok = read_detail(db, id, arena, found, out, err);
    ok = db_run(db, SQL_COMMIT, ok ? err : NULL) && ok;
    return ok || err_wrap(err, "read a task");
}
