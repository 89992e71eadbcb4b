/* store/sqlite/load.c: finds tasks by id and by key, and reads the live ones at start.
 *
 * Thread: the connection's.
 *
 * SPDX-License-Identifier: MIT */
#include "store/shared.h"
#include "store/sqlite/names.h"
#include "store/sqlite/sqlite.h"

/* The columns of load_live and load_done; the first ones are those of the body. */
static bool read_row(struct db *db, sqlite3_stmt *s, struct task_row *row, struct err *err)
{
    struct task *task = &row->task;
    uint64_t k = task->id.hi;
    if (!read_rest(s, 4, task, err) || !add_rest(s, 10, task, err) ||
        !name_text(db, column_int(s, 1), &task->type, err) ||
        !name_text(db, column_int(s, 2), &task->queue, err)) {
        return false;
    }
    task->id = (struct task_id){k, (uint64_t)column_int(s, 0)};
    task->created_ms = column_int(s, 3);
    task->payload = column_str(s, 5);
    row->payload_omitted = str_absent(task->payload) && sqlite3_column_type(s, 6) != SQLITE_NULL;
    task->state = (enum task_state)column_int(s, 7);
    task->priority = (enum task_priority)column_int(s, 8);
    task->attempt = (int32_t)column_int(s, 9);
    if (task_state_terminal(task->state)) {
        task->finished_ms = column_int(s, 11);
        task->result = column_str(s, 12);
        row->result_omitted = str_absent(task->result) && sqlite3_column_type(s, 13) != SQLITE_NULL;
    }
    return true;
}

bool load_row(struct db *db, int64_t k, int64_t omit_over, struct loaded *out, struct err *err)
{
    static const enum sql_id places[] = {SQL_LOAD_LIVE, SQL_LOAD_DONE};
    names_trim(db);
    out->found = false;
    out->row = (struct task_row){.task.id.hi = (uint64_t)k};
    for (size_t i = 0; i < ARRAY_LEN(places) && !out->found; i++) {
        sqlite3_stmt *s = db_use(db, places[i]);
        out->used = places[i];
        bind_int(s, 1, omit_over);
        bind_int(s, 2, k);
        if (!db_row(db, places[i], &out->found, err)) {
            return false;
        }
    }
    if (out->found && !read_row(db, db_use(db, out->used), &out->row, err)) {
        db_done(db, out->used);
        return false;
    }
    return true;
}

static void give(struct task_load *load, const struct task *task)
{
    load->found = task->id.lo == load->id.lo;
    if (!load->found) {
        return;
    }
    struct task part = *task;
    if (!load->whole) {
        part.payload = part.metadata = STR_NONE;
        part.tags_count = 0;
    }
    task_keep(&load->task, &part, load->arena);
}

static bool load_one(struct sqlite_store *store, struct task_load *load, struct err *err)
{
    struct db *db = &store->db;
    struct loaded loaded;
    load->found = false;
    if (!load_row(db, (int64_t)load->id.hi, load->whole ? INT64_MAX : -1, &loaded, err)) {
        return false;
    }
    if (loaded.found) {
        give(load, &loaded.row.task);
    }
    db_done(db, loaded.used);
    return true;
}

bool sqlite_load(struct tx *tx, struct task_load *loads, size_t n, struct err *err)
{
    for (size_t i = 0; i < n; i++) {
        if (!load_one(SQLITE_TX(tx)->store, &loads[i], err)) {
            return false;
        }
    }
    return true;
}

bool sqlite_find_keys(struct tx *tx, const struct str *keys, size_t n, struct task_id *out,
                      struct err *err)
{
    struct db *db = &SQLITE_TX(tx)->store->db;
    sqlite3_stmt *s = db_use(db, SQL_FIND_KEY);
    for (size_t i = 0; i < n; i++) {
        bool row = false;
        bind_text(s, 1, keys[i]);
        if (!db_row(db, SQL_FIND_KEY, &row, err)) {
            return false;
        }
        out[i] = TASK_ID_NONE;
        if (row) {
            out[i] = (struct task_id){(uint64_t)column_int(s, 0), (uint64_t)column_int(s, 1)};
            db_done(db, SQL_FIND_KEY);
        }
    }
    return true;
}

static bool tell_live(struct sqlite_store *store, sqlite3_stmt *s, store_each_fn *each, void *arg,
                      struct err *err)
{
    struct db *db = &store->db;
    struct task task;
    names_trim(db);
    if (!read_rest(s, 7, &task, err) || !name_text(db, column_int(s, 2), &task.type, err) ||
        !name_text(db, column_int(s, 3), &task.queue, err)) {
        return false;
    }
    task.id = column_id(s, 0);
    task.state = (enum task_state)column_int(s, 4);
    task.priority = (enum task_priority)column_int(s, 5);
    task.attempt = (int32_t)column_int(s, 6);
    return count_live(store, task.queue, task.state, err) && each(arg, &task, err);
}

bool sqlite_scan_live(struct store *base, store_each_fn *each, void *arg, struct err *err)
{
    struct sqlite_store *store = SQLITE_STORE(base);
    struct db *db = &store->db;
    sqlite3_stmt *s = db_use(db, SQL_SCAN_LIVE);
    bool row = true;
    while (db_row(db, SQL_SCAN_LIVE, &row, err) && row) {
        if (!tell_live(store, s, each, arg, err)) {
            db_done(db, SQL_SCAN_LIVE);
            break;
        }
    }
    counts_live_done(store, !row);
    return !row;
}
