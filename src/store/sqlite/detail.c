/* store/sqlite/detail.c: one task whole, with its attempts, their logs and its relations.
 *
 * Thread: the reader's.
 *
 * SPDX-License-Identifier: MIT */
#include "base/mem.h"
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

static struct task_attempt *add_attempt(struct task_detail *out, struct arena *arena)
{
    size_t n = out->attempts_count++;
    if ((n & (n - 1)) == 0) { /* doubles at 0, 1, 2, 4, 8, … */
        struct task_attempt *old = out->attempts;
        out->attempts = arena_array(arena, struct task_attempt, MAX(1, n * 2));
        memcpy(out->attempts, n == 0 ? out->attempts : old, n * sizeof *old);
    }
    return &out->attempts[n];
}

static bool read_attempts(struct db *db, struct task_id id, struct arena *arena,
                          struct task_detail *out, struct err *err)
{
    sqlite3_stmt *s = db_use(db, SQL_LIST_ATTEMPTS);
    bool row = true;
    bind_int(s, 1, (int64_t)id.hi);
    while (db_row(db, SQL_LIST_ATTEMPTS, &row, err) && row) {
        struct task_attempt *attempt = add_attempt(out, arena);
        attempt->number = (int32_t)column_int(s, 0);
        attempt->outcome = (enum task_outcome)column_int(s, 1);
        attempt->worker = arena_str(arena, column_str(s, 2));
        attempt->started_ms = column_int(s, 3);
        attempt->finished_ms = column_int(s, 4);
        read_error(s, 5, &attempt->error);
        attempt->error.code = arena_str(arena, attempt->error.code);
        attempt->error.message = arena_str(arena, attempt->error.message);
        attempt->error.detail = arena_str(arena, attempt->error.detail);
    }
    return !row;
}

/* The running attempt, or the last one of a finished task, is told by the task's own row. */
static void add_last_attempt(struct arena *arena, struct task_detail *out)
{
    int32_t last = out->attempts_count == 0 ? 0 : out->attempts[out->attempts_count - 1].number;
    if (task_tells_attempt(&out->task) && out->task.attempt > last) {
        *add_attempt(out, arena) = task_last_attempt(&out->task);
    }
}

static bool read_logs(struct db *db, struct arena *arena, struct task_detail *out, struct err *err)
{
    for (size_t i = 0; i < out->attempts_count; i++) {
        if (!read_log(db, out->task.id, &out->attempts[i], arena, err)) {
            return false;
        }
    }
    return true;
}

static struct task_dependency *add_dependency(struct task_detail *out, struct arena *arena)
{
    size_t n = out->dependencies_count++;
    if ((n & (n - 1)) == 0) { /* doubles, as above */
        struct task_dependency *old = out->dependencies;
        out->dependencies = arena_array(arena, struct task_dependency, MAX(1, n * 2));
        memcpy(out->dependencies, n == 0 ? out->dependencies : old, n * sizeof *old);
    }
    return &out->dependencies[n];
}

static bool read_dependencies(struct db *db, struct arena *arena, struct task_detail *out,
                              struct err *err)
{
    sqlite3_stmt *s = db_use(db, SQL_LIST_RESULTS);
    bool row = true;
    bind_int(s, 1, (int64_t)out->task.id.hi);
    while (db_row(db, SQL_LIST_RESULTS, &row, err) && row) {
        *add_dependency(out, arena) = (struct task_dependency){
            column_id(s, 0), (enum task_state)column_int(s, 2), arena_str(arena, column_str(s, 3))};
    }
    return !row;
}

static bool read_relations(struct db *db, struct arena *arena, struct task_detail *out,
                           struct err *err)
{
    return related_ids(db, SQL_LIST_CHILDREN, out->task.id, arena, &out->children,
                       &out->children_count, err) &&
           read_dependencies(db, arena, out, err);
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
    add_last_attempt(arena, out);
    return read_logs(db, arena, out, err) && read_relations(db, arena, out, err);
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
