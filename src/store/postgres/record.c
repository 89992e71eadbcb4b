/* store/postgres/record.c: records, which are found by a few columns and otherwise left alone.
 *
 * What a transaction loads is locked until it ends, and what falls due is locked by the first who
 * sees it, so that two nodes never work on one record.
 *
 * Thread: the connection's.
 *
 * SPDX-License-Identifier: MIT */
#include "store/postgres/record.h"

#include "base/mem.h"
#include "store/postgres/postgres.h"

#define GET_PACKED get_id(rows, i, at++)
#define GET_TEXT   arena_str(arena, get_str(rows, i, at++))
#define GET_BYTES  GET_TEXT
#define GET_TIME   get_int(rows, i, at++)
#define GET_I64    get_int(rows, i, at++)
#define GET_I32    (int32_t) get_int(rows, i, at++)

/* Its id and @record, from column `at` on. */
static void read_record(const PGresult *rows, size_t i, int at, enum record_kind kind,
                        struct arena *arena, struct record *out)
{
    *out = (struct record){.kind = kind, .id = get_id(rows, i, at++)};
#define FIELD(part, kind, column, member) out->member = GET_##kind;
#include "store/record.def"
}

static void arg_name(struct args *args, enum record_kind kind, struct task_id id)
{
    arg_small(args, kind);
    arg_id(args, id);
    args_row_end(args);
}

/* ---- Looking ---- */

bool pg_records_load(struct tx *base, struct record_load *loads, size_t n, struct arena *arena,
                     struct err *err)
{
    SCOPED(args_fini) struct args args;
    args_init(&args, true);
    for (size_t i = 0; i < n; i++) {
        loads[i].found = false;
        arg_name(&args, loads[i].kind, loads[i].id);
    }
    struct pg_call call = {.sql = PG_LOAD_RECORDS, .suffix = "FOR UPDATE OF r", .args = &args};
    if (!pg_tx_run(PG_TX(base), &call, 1, TX_READS, err)) {
        return err_wrap(err, "load records");
    }
    for (size_t i = 0; i < get_count(call.result); i++) {
        struct record_load *load = &loads[get_int(call.result, i, 0) - 1];
        read_record(call.result, i, 1, load->kind, arena, &load->record);
        load->found = true;
    }
    pg_calls_fini(&call, 1);
    return true;
}

bool pg_reader_record(struct reader *base, enum record_kind kind, struct task_id id,
                      struct arena *arena, bool *found, struct record *out, struct err *err)
{
    SCOPED(args_fini) struct args args;
    args_init(&args, true);
    arg_name(&args, kind, id);
    struct pg_call call = {.sql = PG_LOAD_RECORDS, .args = &args};
    if (!pg_read_run(&((struct pg_reader *)base)->pg, &call, 1, err)) {
        return err_wrap(err, "load a record");
    }
    *found = get_count(call.result) > 0;
    if (*found) {
        read_record(call.result, 0, 1, kind, arena, out);
    }
    pg_calls_fini(&call, 1);
    return true;
}

bool pg_records_find(struct tx *base, enum record_kind kind, const struct str *keys, size_t n,
                     struct task_id *out, struct err *err)
{
    SCOPED(args_fini) struct args args;
    args_init(&args, true);
    for (size_t i = 0; i < n; i++) {
        out[i] = TASK_ID_NONE;
        arg_small(&args, kind);
        arg_bytes(&args, keys[i]);
        args_row_end(&args);
    }
    struct pg_call call = {.sql = PG_FIND_RECORDS, .args = &args};
    if (!pg_tx_run(PG_TX(base), &call, 1, TX_READS, err)) {
        return err_wrap(err, "find records");
    }
    for (size_t i = 0; i < get_count(call.result); i++) {
        out[get_int(call.result, i, 0) - 1] = get_id(call.result, i, 1);
    }
    pg_calls_fini(&call, 1);
    return true;
}

/* ---- Changes ---- */

#define ARG_PACKED arg_id
#define ARG_TEXT   arg_bytes
#define ARG_BYTES  arg_bytes
#define ARG_TIME   arg_int
#define ARG_I64    arg_int
#define ARG_I32    arg_small

static void arg_record(struct args *args, const struct record *record)
{
    arg_small(args, record->kind);
    arg_id(args, record->id);
#define FIELD(part, kind, column, member) ARG_##kind(args, record->member);
#include "store/record.def"
    args_row_end(args);
}

/* Would the two in one statement depend on which comes first? */
static bool meet(const struct record *a, const struct record *b)
{
    bool keys = !str_absent(a->key) && !str_absent(b->key) && str_eq(a->key, b->key);
    return a->kind == b->kind && (id_eq(a->id, b->id) || keys);
}

/* One statement: saves from `from` on that are alike and do not meet. Returns the one behind them.
 */
#define RUN_MAX 256
static size_t run_end(const struct record_save *saves, size_t from, size_t n)
{
    bool fresh = saves[from].record->version == 0;
    size_t end = from + 1;
    for (; end < n && end - from < RUN_MAX; end++) {
        const struct record *next = saves[end].record;
        /* What changes may let go of a key that another wants: those with a key go alone. */
        if ((next->version == 0) != fresh ||
            (!fresh && (!str_absent(next->key) || !str_absent(saves[end - 1].record->key)))) {
            return end;
        }
        for (size_t i = from; i < end; i++) {
            if (meet(saves[i].record, next)) {
                return end;
            }
        }
    }
    return end;
}

static bool save_run(struct pg_tx *tx, struct record_save *saves, size_t n, struct err *err)
{
    SCOPED(args_fini) struct args args;
    args_init(&args, true);
    for (size_t i = 0; i < n; i++) {
        saves[i].applied = false;
        arg_record(&args, saves[i].record);
    }
    enum pg_id sql = saves[0].record->version == 0 ? PG_INSERT_RECORDS : PG_UPDATE_RECORDS;
    struct pg_call call = {.sql = sql, .args = &args};
    if (!pg_tx_run(tx, &call, 1, TX_WRITES, err)) {
        return false;
    }
    for (size_t i = 0; i < get_count(call.result); i++) {
        saves[get_int(call.result, i, 0) - 1].applied = true;
    }
    pg_calls_fini(&call, 1);
    return true;
}

bool pg_records_save(struct tx *base, struct record_save *saves, size_t n, struct err *err)
{
    for (size_t from = 0, end; from < n; from = end) {
        end = run_end(saves, from, n);
        if (!save_run(PG_TX(base), saves + from, end - from, err)) {
            return err_wrap(err, "save records");
        }
    }
    return true;
}

bool pg_records_delete(struct tx *base, enum record_kind kind, const struct task_id *ids, size_t n,
                       struct err *err)
{
    SCOPED(args_fini) struct args args;
    args_init(&args, true);
    for (size_t i = 0; i < n; i++) {
        arg_name(&args, kind, ids[i]);
    }
    struct pg_call call = {.sql = PG_DELETE_RECORDS, .args = &args};
    if (!pg_tx_run(PG_TX(base), &call, 1, TX_WRITES, err)) {
        return err_wrap(err, "delete records");
    }
    pg_calls_fini(&call, 1);
    return true;
}

bool pg_records_clear(struct tx *base, enum record_kind kind, struct task_id parent,
                      struct err *err)
{
    SCOPED(args_fini) struct args args;
    args_init(&args, false);
    arg_small(&args, kind);
    arg_id(&args, parent);
    struct pg_call call = {.sql = PG_CLEAR_RECORDS, .args = &args};
    if (!pg_tx_run(PG_TX(base), &call, 1, TX_WRITES, err)) {
        return err_wrap(err, "clear records");
    }
    pg_calls_fini(&call, 1);
    return true;
}

/* ---- Lists ---- */

static void take_records(const PGresult *rows, enum record_kind kind, size_t most,
                         struct arena *arena, struct records *out)
{
    out->count = MIN(get_count(rows), most);
    out->more = get_count(rows) > most;
    out->at = arena_array(arena, struct record, out->count);
    for (size_t i = 0; i < out->count; i++) {
        read_record(rows, i, 0, kind, arena, &out->at[i]);
    }
}

static bool list_due(struct pg_tx *tx, enum record_kind kind, int64_t until_ms, size_t most,
                     struct arena *arena, struct records *out, struct err *err)
{
    SCOPED(args_fini) struct args args;
    args_init(&args, false);
    arg_small(&args, kind);
    arg_int(&args, until_ms);
    arg_int(&args, (int64_t)MIN(most, (size_t)INT32_MAX));
    struct pg_call call = {.sql = PG_LIST_DUE, .args = &args};
    if (!pg_tx_run(tx, &call, 1, TX_READS, err)) {
        return false;
    }
    take_records(call.result, kind, most, arena, out);
    pg_calls_fini(&call, 1);
    return true;
}

static bool next_due(struct pg_tx *tx, enum record_kind kind, const struct records *listed,
                     int64_t *out, struct err *err)
{
    SCOPED(args_fini) struct args args;
    SCOPED(mem_free_at)
    struct task_id *ids = mem_array(NULL, MAX(listed->count, (size_t)1), sizeof *ids);
    for (size_t i = 0; i < listed->count; i++) {
        ids[i] = listed->at[i].id;
    }
    args_init(&args, false);
    arg_small(&args, kind);
    arg_ids(&args, ids, listed->count);
    struct pg_call call = {.sql = PG_NEXT_DUE, .args = &args};
    if (!pg_tx_run(tx, &call, 1, TX_READS, err)) {
        return false;
    }
    *out = get_count(call.result) == 0 ? INT64_MAX : get_int(call.result, 0, 0);
    pg_calls_fini(&call, 1);
    return true;
}

bool pg_records_due(struct tx *base, enum record_kind kind, int64_t until_ms, size_t most,
                    struct arena *arena, struct records *out, int64_t *next_ms, struct err *err)
{
    *out = (struct records){0};
    if (!list_due(PG_TX(base), kind, until_ms, most, arena, out, err) ||
        !next_due(PG_TX(base), kind, out, next_ms, err)) {
        return err_wrap(err, "list due records");
    }
    out->more = *next_ms <= until_ms;
    return true;
}

static void arg_filter(struct args *args, const struct record_filter *filter)
{
    arg_small(args, filter->kind);
    arg_id(args, filter->parent);
    arg_bytes(args, filter->owner);
    arg_id(args, filter->after);
    arg_id(args, filter->before);
    arg_int(args, filter->marks);
    arg_int(args, filter->at_from_ms);
    arg_int(args, filter->at_before_ms);
    arg_int(args, filter->limit == 0 ? INT64_MAX : (int64_t)MIN(filter->limit, INT32_MAX) + 1);
}

static void list_call(const struct record_filter *filter, struct args *args, struct pg_call *call)
{
    args_init(args, false);
    arg_filter(args, filter);
    *call = (struct pg_call){.sql = filter->oldest_first ? PG_LIST_RECORDS_OLDEST
                                                         : PG_LIST_RECORDS_NEWEST,
                             .args = args};
}

static void take_list(struct pg_call *call, const struct record_filter *filter, struct arena *arena,
                      struct records *out)
{
    *out = (struct records){0};
    take_records(call->result, filter->kind, filter->limit == 0 ? SIZE_MAX : filter->limit, arena,
                 out);
    pg_calls_fini(call, 1);
}

bool pg_records_list(struct tx *base, const struct record_filter *filter, struct arena *arena,
                     struct records *out, struct err *err)
{
    SCOPED(args_fini) struct args args;
    struct pg_call call;
    list_call(filter, &args, &call);
    if (!pg_tx_run(PG_TX(base), &call, 1, TX_READS, err)) {
        return err_wrap(err, "list records");
    }
    take_list(&call, filter, arena, out);
    return true;
}

bool pg_reader_records(struct reader *base, const struct record_filter *filter, struct arena *arena,
                       struct records *out, struct err *err)
{
    SCOPED(args_fini) struct args args;
    struct pg_call call;
    list_call(filter, &args, &call);
    if (!pg_read_run(&((struct pg_reader *)base)->pg, &call, 1, err)) {
        return err_wrap(err, "list records");
    }
    take_list(&call, filter, arena, out);
    return true;
}

bool pg_reader_records_count(struct reader *base, enum record_kind kind, uint32_t marks,
                             int64_t *out, struct err *err)
{
    SCOPED(args_fini) struct args args;
    args_init(&args, false);
    arg_int(&args, kind);
    arg_int(&args, marks);
    struct pg_call call = {.sql = PG_COUNT_RECORDS, .args = &args};
    if (!pg_read_run(&((struct pg_reader *)base)->pg, &call, 1, err)) {
        return err_wrap(err, "count records");
    }
    *out = get_int(call.result, 0, 0);
    pg_calls_fini(&call, 1);
    return true;
}
