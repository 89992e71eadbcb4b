/* store/sqlite/feed.c: tasks as tables that a statement selects from. See feed.h.
 *
 * Virtual tables of the connection: the file knows nothing of them.
 *
 * SPDX-License-Identifier: MIT */
#include "store/sqlite/feed.h"

#include <assert.h>

#include "base/mem.h"
#include "store/pack.h"

#define NUMBERS_MAX 7

/* One statement at a time has rows, so one cursor is enough. */
struct feed {
    sqlite3_vtab_cursor cursor;
    struct fed *rows;
    size_t count, at;
    int64_t numbers[NUMBERS_MAX]; /* the first columns of the row at hand, */
    struct str texts[2];          /* and the others */
    struct buf rest;              /* the one that is packed */
};

struct table {
    sqlite3_vtab vtab;
    struct feed *feed;
    const struct kind *kind;
};

/* ---- What their columns are ---- */

struct kind {
    const char *name, *columns;
    int numbers; /* so many columns are numbers; the others follow */
    bool (*read)(struct feed *feed, const struct fed *row);
};

static bool read_body(struct feed *feed, const struct fed *row)
{
    const struct task *task = row->now;
    int64_t *numbers = feed->numbers;
    numbers[0] = (int64_t)task->id.hi;
    numbers[1] = (int64_t)task->id.lo;
    numbers[2] = row->names.type_id;
    numbers[3] = row->names.queue_id;
    numbers[4] = task->created_ms;
    feed->texts[1] = task->payload;
    return pack_order(&feed->rest, task);
}

static bool read_task(struct feed *feed, const struct fed *row)
{
    const struct task *task = row->now;
    int64_t *numbers = feed->numbers;
    numbers[0] = (int64_t)task->id.hi;
    numbers[1] = (int64_t)task->id.lo;
    numbers[2] = row->names.type_id;
    numbers[3] = row->names.queue_id;
    numbers[4] = task->state;
    numbers[5] = task->priority;
    numbers[6] = task->attempt;
    return pack_standing(&feed->rest, row->order, task);
}

static bool read_done(struct feed *feed, const struct fed *row)
{
    const struct task *task = row->now;
    int64_t *numbers = feed->numbers;
    numbers[0] = (int64_t)task->id.hi;
    numbers[1] = task->state;
    numbers[2] = task->priority;
    numbers[3] = task->attempt;
    numbers[4] = task->finished_ms;
    feed->texts[1] = task->result;
    return pack_end(&feed->rest, task);
}

static const struct kind kinds[] = {
    {"given_body", "CREATE TABLE t (k, lo, type_id, queue_id, created_ms, rest, payload)", 5,
     read_body},
    {"given_task", "CREATE TABLE t (k, lo, type_id, queue_id, state, priority, attempt, rest)", 7,
     read_task},
    {"given_done", "CREATE TABLE t (k, state, priority, attempt, finished_ms, rest, result)", 5,
     read_done},
};

static int read_row(struct table *table)
{
    struct feed *feed = table->feed;
    if (feed->at == feed->count) {
        return SQLITE_OK;
    }
    buf_clear(&feed->rest);
    if (!table->kind->read(feed, &feed->rows[feed->at])) {
        table->vtab.zErrMsg = sqlite3_mprintf("the texts of a task are too long for its row");
        return SQLITE_TOOBIG;
    }
    feed->texts[0] = buf_view(&feed->rest);
    return SQLITE_OK;
}

/* stands(lo, state, attempt): the compare of a compare-and-set, of a row with the fed one. */
static void sql_stands(sqlite3_context *context, int n, sqlite3_value **values)
{
    const struct feed *feed = sqlite3_user_data(context);
    struct fed *row = &feed->rows[feed->at];
    const struct task *was = row->change->was;
    (void)n;
    row->met = true;
    row->change->applied = sqlite3_value_int64(values[0]) == (int64_t)was->id.lo &&
                           sqlite3_value_int64(values[1]) == (int64_t)was->state &&
                           sqlite3_value_int64(values[2]) == was->attempt;
    sqlite3_result_int(context, row->change->applied);
}

/* ---- Tables as SQLite wants them ---- */

static int on_connect(sqlite3 *handle, void *arg, int n, const char *const *words,
                      sqlite3_vtab **out, char **why)
{
    const struct kind *kind = kinds;
    (void)n;
    (void)why;
    while (strcmp(kind->name, words[0]) != 0) {
        kind++; /* it is one of ours */
    }
    int rc = sqlite3_declare_vtab(handle, kind->columns);
    if (rc == SQLITE_OK) {
        struct table *table = mem_new(struct table);
        table->feed = arg;
        table->kind = kind;
        *out = &table->vtab;
    }
    return rc;
}

static int on_disconnect(sqlite3_vtab *vtab)
{
    mem_free(HOLDER(vtab, struct table, vtab));
    return SQLITE_OK;
}

static int on_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
    (void)vtab;
    (void)info;
    return SQLITE_OK; /* all rows, as they come */
}

static int on_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **out)
{
    *out = &HOLDER(vtab, struct table, vtab)->feed->cursor;
    return SQLITE_OK;
}

static int on_close(sqlite3_vtab_cursor *cursor)
{
    (void)cursor;
    return SQLITE_OK;
}

static int on_filter(sqlite3_vtab_cursor *cursor, int plan, const char *words, int n,
                     sqlite3_value **values)
{
    (void)plan;
    (void)words;
    (void)n;
    (void)values;
    HOLDER(cursor, struct feed, cursor)->at = 0;
    return read_row(HOLDER(cursor->pVtab, struct table, vtab));
}

static int on_next(sqlite3_vtab_cursor *cursor)
{
    HOLDER(cursor, struct feed, cursor)->at++;
    return read_row(HOLDER(cursor->pVtab, struct table, vtab));
}

static int on_eof(sqlite3_vtab_cursor *cursor)
{
    const struct feed *feed = HOLDER(cursor, struct feed, cursor);
    return feed->at == feed->count;
}

static int on_column(sqlite3_vtab_cursor *cursor, sqlite3_context *out, int column)
{
    const struct feed *feed = HOLDER(cursor, struct feed, cursor);
    int numbers = HOLDER(cursor->pVtab, struct table, vtab)->kind->numbers;
    if (column < numbers) {
        sqlite3_result_int64(out, feed->numbers[column]);
    } else {
        struct str text = feed->texts[column - numbers];
        sqlite3_result_blob(out, text.ptr, (int)text.len, SQLITE_STATIC); /* absent is NULL */
    }
    return SQLITE_OK;
}

static int on_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *out)
{
    *out = (sqlite3_int64)HOLDER(cursor, struct feed, cursor)->at;
    return SQLITE_OK;
}

static const sqlite3_module module = {
    .xConnect = on_connect,
    .xBestIndex = on_best_index,
    .xDisconnect = on_disconnect,
    .xOpen = on_open,
    .xClose = on_close,
    .xFilter = on_filter,
    .xNext = on_next,
    .xEof = on_eof,
    .xColumn = on_column,
    .xRowid = on_rowid,
};

bool feed_open(struct db *db, struct err *err)
{
    db->feed = mem_new(struct feed);
    db->feed->rest = BUF_INIT(ROW_REST_MAX);
    int rc = sqlite3_create_function(db->handle, "stands", 3, SQLITE_UTF8, db->feed, sql_stands,
                                     NULL, NULL);
    for (size_t i = 0; rc == SQLITE_OK && i < ARRAY_LEN(kinds); i++) {
        rc = sqlite3_create_module(db->handle, kinds[i].name, &module, db->feed);
    }
    return rc == SQLITE_OK || db_fail(db, "add a table", err);
}

void feed_close(struct db *db)
{
    if (db->feed != NULL) {
        buf_fini(&db->feed->rest);
        mem_free(db->feed);
    }
}

bool feed_run(struct db *db, enum sql_id id, struct fed *rows, size_t n, struct err *err)
{
    struct feed *feed = db->feed;
    assert(feed->count == 0); /* one at a time */
    if (n == 0) {
        return true;
    }
    feed->rows = rows;
    feed->count = n;
    bool ok = db_run(db, id, err);
    feed->count = feed->at = 0;
    return ok;
}
