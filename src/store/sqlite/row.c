/* store/sqlite/row.c: a task as parameters, a row as a task. See row.h.
 *
 * An id is two columns. What few tasks have is bound only when this task has it, or the last one
 * had: most inserts bind half of their parameters.
 *
 * SPDX-License-Identifier: MIT */
#include "store/sqlite/row.h"

#include "store/sqlite/names.h"

#include "store/columns.h"
#include "store/shared.h"

/* Absent numbers are negative in memory and NULL in the file. */
static void bind_optional(sqlite3_stmt *s, int at, double value)
{
    if (value < 0) {
        sqlite3_bind_null(s, at);
    } else {
        sqlite3_bind_double(s, at, value);
    }
}

static double column_optional(sqlite3_stmt *s, int at)
{
    return sqlite3_column_type(s, at) == SQLITE_NULL ? -1 : sqlite3_column_double(s, at);
}

static int bind_id(sqlite3_stmt *s, int at, struct task_id id)
{
    if (id_none(id)) {
        sqlite3_bind_null(s, at);
        sqlite3_bind_null(s, at + 1);
    } else {
        bind_int(s, at, (int64_t)id.hi);
        bind_int(s, at + 1, (int64_t)id.lo);
    }
    return at + 2;
}

struct task_id column_id(sqlite3_stmt *s, int at)
{
    return (struct task_id){(uint64_t)column_int(s, at), (uint64_t)column_int(s, at + 1)};
}

/* ---- In ---- */

#define BIND_ID(column, member)       at = bind_id(s, at, task->member)
#define BIND_NAME(column, member)     bind_again(db, id, at++, names->column##_id)
#define BIND_TEXT(column, member)     bind_text(s, at++, task->member)
#define BIND_JSON(column, member)     bind_bytes(s, at++, task->member)
#define BIND_BYTES(column, member)    bind_bytes(s, at++, task->member)
#define BIND_TAGS(column, member)     bind_bytes(s, at++, tags_pack(task, scratch))
#define BIND_TIME(column, member)     bind_again(db, id, at++, task->member)
#define BIND_I64(column, member)      bind_again(db, id, at++, task->member)
#define BIND_U64(column, member)      bind_int(s, at++, (int64_t)task->member)
#define BIND_I32(column, member)      bind_again(db, id, at++, task->member)
#define BIND_STATE(column, member)    bind_again(db, id, at++, task->member)
#define BIND_PRIORITY(column, member) bind_again(db, id, at++, task->member)
#define BIND_OUTCOME(column, member)  bind_again(db, id, at++, task->member)
#define BIND_F64(column, member)      sqlite3_bind_double(s, at++, task->member)
#define BIND_AMOUNT(column, member)   bind_optional(s, at++, task->member)
#define BIND_BOOL(column, member)     bind_again(db, id, at++, task->member)

ALWAYS_INLINE int bind_parts(struct db *db, enum sql_id id, int at, const struct task *task,
                             const struct task_names *names, struct buf *scratch, unsigned parts)
{
    sqlite3_stmt *s = db_use(db, id);
#define FIELD(part, kind, column, member, ...)                                                     \
    if ((PART_##part & parts) != 0) {                                                              \
        BIND_##kind(column, member);                                                               \
    }
#include "task/task.def"
    return at;
}

int bind_order(struct db *db, enum sql_id id, int at, const struct task *task,
               const struct task_names *names, struct buf *scratch)
{
    bool plain = task_is_blank(task, PART_RARE_ORDER);
    at = bind_parts(db, id, at, task, names, scratch, PART_ORDER);
    if (!plain || db->rare_bound[id]) {
        bind_parts(db, id, at, task, names, scratch, PART_RARE_ORDER);
        db->rare_bound[id] = !plain;
    }
    return at + SQL_RARE_ORDER_COLUMNS;
}

int bind_standing(struct db *db, enum sql_id id, int at, const struct task *task)
{
    bool plain = task_is_blank(task, PART_RARE_STANDING);
    at = bind_parts(db, id, at, task, NULL, NULL, PART_FRESH | PART_STANDING);
    if (!plain || db->rare_bound[id]) {
        bind_parts(db, id, at, task, NULL, NULL, PART_RARE_STANDING);
        db->rare_bound[id] = !plain;
    }
    return at + SQL_RARE_STANDING_COLUMNS;
}

int bind_end(struct db *db, enum sql_id id, int at, const struct task *task)
{
    return bind_parts(db, id, at, task, NULL, NULL, PART_END);
}

int bind_error(sqlite3_stmt *s, int at, const struct task_error *error)
{
    bind_text(s, at, error->code);
    bind_text(s, at + 1, error->message);
    bind_bytes(s, at + 2, error->detail);
    return at + 3;
}

/* ---- Out ---- */

#define READ_ID(member)       task->member = column_id(s, (at += 2) - 2)
#define READ_NAME(member)     ok = ok && name_text(db, column_int(s, at++), &task->member, err)
#define READ_TEXT(member)     task->member = column_str(s, at++)
#define READ_JSON(member)     task->member = column_str(s, at++)
#define READ_BYTES(member)    task->member = column_str(s, at++)
#define READ_TAGS(member)     tags_unpack(column_str(s, at++), task)
#define READ_TIME(member)     task->member = column_int(s, at++)
#define READ_I64(member)      task->member = column_int(s, at++)
#define READ_U64(member)      task->member = (uint64_t)column_int(s, at++)
#define READ_I32(member)      task->member = (int32_t)column_int(s, at++)
#define READ_STATE(member)    task->member = (enum task_state)column_int(s, at++)
#define READ_PRIORITY(member) task->member = (enum task_priority)column_int(s, at++)
#define READ_OUTCOME(member)  task->member = (enum task_outcome)column_int(s, at++)
#define READ_F64(member)      task->member = sqlite3_column_double(s, at++)
#define READ_AMOUNT(member)   task->member = column_optional(s, at++)
#define READ_BOOL(member)     task->member = column_int(s, at++) != 0

/* False only where a name is not known. */
ALWAYS_INLINE bool read_parts(struct db *db, sqlite3_stmt *s, int *from, struct task *task,
                              unsigned parts, struct err *err)
{
    int at = *from;
    bool ok = true;
#define FIELD(part, kind, column, member, ...)                                                     \
    if ((PART_##part & parts) != 0) {                                                              \
        READ_##kind(member);                                                                       \
    }
#include "task/task.def"
    *from = at;
    return ok;
}

bool read_order(struct db *db, sqlite3_stmt *s, int *at, struct task *task, struct err *err)
{
    return read_parts(db, s, at, task, PARTS_ORDER, err);
}

void read_standing(sqlite3_stmt *s, int *at, struct task *task)
{
    read_parts(NULL, s, at, task, PARTS_STANDING, NULL);
}

void read_end(sqlite3_stmt *s, int *at, struct task *task)
{
    read_parts(NULL, s, at, task, PART_END, NULL);
}

void read_error(sqlite3_stmt *s, int at, struct task_error *error)
{
    error->code = column_str(s, at);
    error->message = column_str(s, at + 1);
    error->detail = column_str(s, at + 2);
}

void read_facets(sqlite3_stmt *s, int at, struct task *task)
{
    task->document = column_str(s, at);
    task->external_id = column_str(s, at + 1);
    tags_unpack(column_str(s, at + 2), task);
    task->parent = column_id(s, at + 3);
    task->team = column_id(s, at + 5);
    task->schedule = column_id(s, at + 7);
}
