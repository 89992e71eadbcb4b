/* store/sqlite/function.c: what SQL can ask of C: ids as people know them, and packed fields.
 *
 * Thread: the connection's.
 *
 * SPDX-License-Identifier: MIT */
#include "store/columns.h"
#include "store/pack.h"
#include "store/shared.h"
#include "store/sqlite/db.h"

#define PACK_MAX MIB /* of one row */

/* task_id(k, lo): the id as people know it. */
static void sql_task_id(sqlite3_context *context, int n, sqlite3_value **values)
{
    char text[TASK_ID_TEXT];
    (void)n;
    struct task_id id = {(uint64_t)sqlite3_value_int64(values[0]),
                         (uint64_t)sqlite3_value_int64(values[1])};
    struct str view = id_text(id, text);
    sqlite3_result_text(context, view.ptr, (int)view.len, SQLITE_TRANSIENT);
}

static struct str value_str(sqlite3_value *value)
{
    const void *bytes = sqlite3_value_blob(value);
    size_t len = (size_t)sqlite3_value_bytes(value);
    bool none = sqlite3_value_type(value) == SQLITE_NULL;
    return none ? STR_NONE : (struct str){bytes == NULL ? "" : bytes, len};
}

static double value_amount(sqlite3_value *value)
{
    return sqlite3_value_type(value) == SQLITE_NULL ? -1 : sqlite3_value_double(value);
}

/* ---- packed(run, number): one field of a run; an id is its first half ---- */

#define TELL_INT(member) sqlite3_result_int64(context, (int64_t)task.member)
#define TELL_ID(member)                                                                            \
    if (!id_none(task.member)) {                                                                   \
        sqlite3_result_int64(context, (int64_t)task.member.hi);                                    \
    }
#define TELL_TEXT(member)                                                                          \
    if (!str_absent(task.member)) {                                                                \
        sqlite3_result_text(context, task.member.ptr, (int)task.member.len, SQLITE_TRANSIENT);     \
    }
#define TELL_F64(member)      sqlite3_result_double(context, task.member)
#define TELL_AMOUNT(member)   sqlite3_result_double(context, task.member)
#define TELL_NAME(member)     TELL_TEXT(member)
#define TELL_JSON(member)     TELL_TEXT(member)
#define TELL_BYTES(member)    TELL_TEXT(member)
#define TELL_TAGS(member)     sqlite3_result_int64(context, (int64_t)task.tags_count)
#define TELL_TIME(member)     TELL_INT(member)
#define TELL_I64(member)      TELL_INT(member)
#define TELL_U64(member)      TELL_INT(member)
#define TELL_I32(member)      TELL_INT(member)
#define TELL_STATE(member)    TELL_INT(member)
#define TELL_PRIORITY(member) TELL_INT(member)
#define TELL_OUTCOME(member)  TELL_INT(member)
#define TELL_BOOL(member)     TELL_INT(member)

static void sql_packed(sqlite3_context *context, int n, sqlite3_value **values)
{
    struct task task;
    (void)n;
    unpack_begin(&task);
    if (!unpack(value_str(values[0]), &task)) {
        sqlite3_result_error(context, "a packed row is damaged", -1);
        return;
    }
    switch (sqlite3_value_int(values[1])) {
#define FIELD(part, kind, column, member, ...)                                                     \
    case PACKED_##column:                                                                          \
        TELL_##kind(member);                                                                       \
        return;
#include "task/task.def"
    default:
        sqlite3_result_error(context, "there is no such field", -1);
    }
}

/* ---- pack(number, value, …): a run of columns, for migrations; an id has two values ---- */

#define SET_ID(member)                                                                             \
    task.member = (struct task_id){(uint64_t)sqlite3_value_int64(values[i]),                       \
                                   (uint64_t)sqlite3_value_int64(values[i + 1])};                  \
    i++
#define SET_NAME(member)     task.member = value_str(values[i])
#define SET_TEXT(member)     task.member = value_str(values[i])
#define SET_JSON(member)     task.member = value_str(values[i])
#define SET_BYTES(member)    task.member = value_str(values[i])
#define SET_TAGS(member)     tags_unpack(value_str(values[i]), &task)
#define SET_TIME(member)     task.member = sqlite3_value_int64(values[i])
#define SET_I64(member)      task.member = sqlite3_value_int64(values[i])
#define SET_U64(member)      task.member = (uint64_t)sqlite3_value_int64(values[i])
#define SET_I32(member)      task.member = sqlite3_value_int(values[i])
#define SET_STATE(member)    task.member = (enum task_state)sqlite3_value_int(values[i])
#define SET_PRIORITY(member) task.member = (enum task_priority)sqlite3_value_int(values[i])
#define SET_OUTCOME(member)  task.member = (enum task_outcome)sqlite3_value_int(values[i])
#define SET_F64(member)      task.member = sqlite3_value_double(values[i])
#define SET_AMOUNT(member)   task.member = value_amount(values[i])
#define SET_BOOL(member)     task.member = sqlite3_value_int(values[i]) != 0

static void sql_pack(sqlite3_context *context, int n, sqlite3_value **values)
{
    SCOPED(buf_fini) struct buf run = BUF_INIT(PACK_MAX);
    struct task task;
    unpack_begin(&task);
    for (int i = 1; i < n; i += 2) {
        switch (sqlite3_value_int(values[i - 1])) {
#define FIELD(part, kind, column, member, ...)                                                     \
    case PACKED_##column:                                                                          \
        SET_##kind(member);                                                                        \
        break;
#include "task/task.def"
        default:
            sqlite3_result_error(context, "there is no such field", -1);
            return;
        }
    }
    if (!pack_rest(&run, &task)) {
        sqlite3_result_error_toobig(context);
        return;
    }
    sqlite3_result_blob(context, buf_view(&run).ptr, (int)run.len, SQLITE_TRANSIENT);
}

bool db_add_functions(struct db *db, struct err *err)
{
    static const struct {
        const char *name;
        int arguments;
        void (*call)(sqlite3_context *, int, sqlite3_value **);
    } functions[] = {
        {"task_id", 2, sql_task_id}, {"packed", 2, sql_packed}, {"pack", -1, sql_pack}};
    for (size_t i = 0; i < ARRAY_LEN(functions); i++) {
        if (sqlite3_create_function(db->handle, functions[i].name, functions[i].arguments,
                                    SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL, functions[i].call,
                                    NULL, NULL) != SQLITE_OK) {
            return db_fail(db, "add a function", err);
        }
    }
    return true;
}
