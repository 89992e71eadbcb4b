/* store/postgres/move.c: a shared store as the source or the target of a move. See store/move.h.
 *
 * Whether a fleet is stopped is seen by watching: a node that ended well has taken its row away,
 * one that was killed has left it, and one that lives says so every second. From then on a lock
 * holds off whoever would begin to write: of the source in a transaction of its own, of the target
 * in that of the move.
 *
 * SPDX-License-Identifier: MIT */
#include <poll.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/mem.h"
#include "store/postgres/postgres.h"
#include "store/postgres/row.h"
#include "store/shared.h"

#define WATCH_US       (4 * INT64_C(1000000)) /* several beats of a node */
#define WATCH_PAUSE_MS 200

const struct move_table postgres_move_tables[] = {
    {"meta", "of each store its own"},
    {"body", "a task"},
    {"task", "a task"},
    {"done", "a task"},
    {"tag", "with its task"},
    {"counter", "counted anew"},
    {"attempt", "row by row"},
    {"log", "row by row"},
    {"dependency", "row by row"},
    {"doc_lease", "row by row, if its holder runs"},
    {"queue", "row by row; buckets of rate limits begin full"},
    {"record", "row by row"},
    {"token", "row by row"},
    {"writer", "of those who use the store: nobody does"},
    {"mark", "of those who use the store: nobody does"},
    {"node", "of those who use the store: nobody does"},
    {"leader", "of those who use the store: nobody does"},
    {"message", "of those who use the store: nobody does"},
    {NULL, NULL},
};

static bool identify(struct store *base, struct buf *out, struct err *err)
{
    struct pg_call call = {.sql = PG_MOVE_IDENTITY};
    if (!pg_read_run(&PG_STORE(base)->pg, &call, 1, err)) {
        return false;
    }
    buf_str(out, STR("postgres/"));
    buf_str(out, get_str(call.result, 0, 0));
    pg_calls_fini(&call, 1);
    return true;
}

/* ---- Whether it is stopped ---- */

/* What those who use the store have said last, in one text: it changes as soon as one of them
 * speaks. Who goes away changes nothing. */
static bool look_users(struct pg_store *store, struct buf *names, int64_t *newest, size_t *n,
                       struct err *err)
{
    SCOPED(args_fini) struct args args;
    args_init(&args, false);
    arg_int(&args, store->node);
    struct pg_call call = {.sql = PG_MOVE_USERS, .args = &args};
    if (!pg_read_run(&store->pg, &call, 1, err)) {
        return false;
    }
    *n = get_count(call.result);
    buf_clear(names);
    for (size_t i = 0; i < *n; i++) {
        *newest = MAX(*newest, get_int(call.result, i, 1));
        buf_str(names, i == 0 ? STR("") : STR(", "));
        buf_str(names, get_str(call.result, i, 0));
    }
    pg_calls_fini(&call, 1);
    return true;
}

static bool watch_users(struct pg_store *store, struct err *err)
{
    SCOPED(buf_fini) struct buf names = BUF_INIT(64 * KIB);
    int64_t until_us = clock_real_mono_us() + WATCH_US, first = 0, newest = 0;
    size_t n = 1;
    if (!look_users(store, &names, &first, &n, err)) {
        return false;
    }
    newest = first;
    while (n > 0 && newest == first && clock_real_mono_us() < until_us) {
        poll(NULL, 0, WATCH_PAUSE_MS);
        if (!look_users(store, &names, &newest, &n, err)) {
            return false;
        }
    }
    return newest == first ||
           err_set(err, ERR_CONFLICT, "it is in use (%.200s): stop every server first",
                   buf_c_text(&names));
}

/* A connection of its own: what is read in between begins and ends transactions. */
static bool hold_off(struct pg_store *store, struct err *err)
{
    struct pg *pg = mem_new(struct pg);
    struct pg_call calls[] = {
        {.sql = PG_BEGIN}, {.sql = PG_MOVE_PATIENCE}, {.sql = PG_MOVE_HOLD_OFF}};
    pg_init(pg, &store->address);
    store->seized = pg;
    if (!pg_ready(pg, PG_READY_MS, err) || !pg_run(pg, calls, ARRAY_LEN(calls), err)) {
        return false;
    }
    pg_calls_fini(calls, ARRAY_LEN(calls));
    return true;
}

static bool seize(struct store *base, struct err *err)
{
    struct pg_store *store = PG_STORE(base);
    return watch_users(store, err) && (store->node != 0 || hold_off(store, err));
}

static bool count(struct store *base, struct move_counts *out, struct err *err)
{
    struct pg_store *store = PG_STORE(base);
    struct pg_call call = {.sql = PG_MOVE_COUNTS};
    *out = (struct move_counts){0};
    if (!(store->tx.open ? pg_tx_run(&store->tx, &call, 1, TX_READS, err)
                         : pg_run(store->seized, &call, 1, err))) {
        return err_wrap(err, "count rows");
    }
    bool ok = true;
    for (size_t i = 0; ok && i < get_count(call.result); i++) {
        ok = move_counts_add(out, get_int(call.result, i, 0), get_int(call.result, i, 1),
                             get_int(call.result, i, 2), err);
    }
    pg_calls_fini(&call, 1);
    return ok;
}

/* ---- Out ---- */

/* The next tasks' names, no more than fit into a slice. */
static bool next_tasks(struct pg_store *store, const struct move_rows *after, struct args *wanted,
                       struct err *err)
{
    SCOPED(args_fini) struct args args;
    size_t bytes = 0;
    args_init(&args, false);
    arg_id(&args, after->count == 0 ? TASK_ID_NONE : after->tasks[after->count - 1].id);
    arg_int(&args, MOVE_SLICE_ROWS);
    struct pg_call call = {.sql = PG_MOVE_TASKS, .args = &args};
    if (!pg_read_run(&store->pg, &call, 1, err)) {
        return false;
    }
    for (size_t i = 0; i < get_count(call.result) && bytes < MOVE_SLICE_BYTES; i++) {
        arg_id(wanted, get_id(call.result, i, 0));
        arg_int(wanted, INT64_MAX);
        args_row_end(wanted);
        bytes += (size_t)get_int(call.result, i, 1);
    }
    pg_calls_fini(&call, 1);
    return true;
}

/* Each in its place among those that were asked for. */
static void take_tasks(const PGresult *rows, struct arena *arena, struct move_rows *out)
{
    for (size_t i = 0; i < get_count(rows); i++) {
        struct task_row row;
        get_row(rows, i, &row);
        task_keep(&out->tasks[get_int(rows, i, 0) - 1], &row.task, arena);
        out->count++;
    }
}

static bool read_tasks(struct pg_store *store, const struct move_rows *after, struct arena *arena,
                       struct move_rows *out, struct err *err)
{
    SCOPED(args_fini) struct args wanted;
    args_init(&wanted, true);
    if (!next_tasks(store, after, &wanted, err) || wanted.rows_count == 0) {
        return wanted.rows_count == 0;
    }
    struct pg_call calls[] = {{.sql = PG_LOAD_LIVE, .args = &wanted},
                              {.sql = PG_LOAD_DONE, .args = &wanted}};
    if (!pg_read_run(&store->pg, calls, ARRAY_LEN(calls), err)) {
        return false;
    }
    out->tasks = arena_array(arena, struct task, wanted.rows_count);
    take_tasks(calls[0].result, arena, out);
    take_tasks(calls[1].result, arena, out);
    pg_calls_fini(calls, ARRAY_LEN(calls));
    return out->count == wanted.rows_count ||
           err_set(err, ERR_FATAL, "a task has an order and stands nowhere");
}

static void place_attempts(struct args *args, const struct move_rows *after)
{
    const struct move_attempt *last = after->count == 0 ? NULL : &after->attempts[after->count - 1];
    arg_id(args, last == NULL ? TASK_ID_NONE : last->id);
    arg_small(args, last == NULL ? 0 : last->attempt.number);
}

static void take_attempt(const PGresult *rows, size_t i, struct arena *arena, struct move_rows *out)
{
    struct task_error error;
    get_error(rows, i, 6, &error);
    *ARENA_PUSH(arena, out->attempts, out->count) =
        (struct move_attempt){get_id(rows, i, 0),
                              {.number = (int32_t)get_int(rows, i, 1),
                               .outcome = (enum task_outcome)get_int(rows, i, 2),
                               .worker = arena_str(arena, get_str(rows, i, 3)),
                               .started_ms = get_int(rows, i, 4),
                               .finished_ms = get_int(rows, i, 5),
                               .error = task_error_copy(arena, &error)}};
}

static void place_logs(struct args *args, const struct move_rows *after)
{
    const struct move_log *last = after->count == 0 ? NULL : &after->logs[after->count - 1];
    arg_id(args, last == NULL ? TASK_ID_NONE : last->id);
    arg_small(args, last == NULL ? 0 : last->number);
    arg_int(args, last == NULL ? 0 : last->until_byte);
}

static void take_log(const PGresult *rows, size_t i, struct arena *arena, struct move_rows *out)
{
    *ARENA_PUSH(arena, out->logs, out->count) =
        (struct move_log){get_id(rows, i, 0), (int32_t)get_int(rows, i, 1), get_int(rows, i, 2),
                          arena_str(arena, get_str(rows, i, 3))};
}

static void place_dependencies(struct args *args, const struct move_rows *after)
{
    static const struct move_dependency none;
    const struct move_dependency *last =
        after->count == 0 ? &none : &after->dependencies[after->count - 1];
    arg_id(args, last->id);
    arg_id(args, last->on);
}

static void take_dependency(const PGresult *rows, size_t i, struct arena *arena,
                            struct move_rows *out)
{
    *ARENA_PUSH(arena, out->dependencies, out->count) =
        (struct move_dependency){get_id(rows, i, 0), get_id(rows, i, 1)};
}

static void place_held(struct args *args, const struct move_rows *after)
{
    arg_bytes(args, after->count == 0 ? STR_NONE : after->held[after->count - 1].document);
}

static void take_held(const PGresult *rows, size_t i, struct arena *arena, struct move_rows *out)
{
    *ARENA_PUSH(arena, out->held, out->count) = (struct move_held){
        .document = arena_str(arena, get_str(rows, i, 0)),
        .holder = get_id(rows, i, 1),
        .family = get_bool(rows, i, 2),
        .lock = arena_str(arena, get_str(rows, i, 3)),
        .since_ms = get_int(rows, i, 4),
    };
}

static bool read_part(struct store *base, enum move_part part, const struct move_rows *after,
                      struct arena *arena, struct move_rows *out, struct err *err)
{
    static const struct {
        enum pg_id sql;
        void (*place)(struct args *args, const struct move_rows *after);
        void (*take)(const PGresult *rows, size_t i, struct arena *arena, struct move_rows *out);
    } parts[MOVE_PARTS] = {
        [MOVE_ATTEMPTS] = {PG_MOVE_ATTEMPTS, place_attempts, take_attempt},
        [MOVE_LOGS] = {PG_MOVE_LOGS, place_logs, take_log},
        [MOVE_DEPENDENCIES] = {PG_MOVE_DEPENDENCIES, place_dependencies, take_dependency},
        [MOVE_HELD] = {PG_MOVE_HELD, place_held, take_held},
    };
    SCOPED(args_fini) struct args args;
    args_init(&args, false);
    *out = (struct move_rows){0};
    if (part == MOVE_TASKS) {
        return read_tasks(PG_STORE(base), after, arena, out, err) ||
               err_wrap(err, "read the source");
    }
    parts[part].place(&args, after);
    arg_int(&args, MOVE_SLICE_ROWS);
    struct pg_call call = {.sql = parts[part].sql, .args = &args};
    if (!pg_read_run(&PG_STORE(base)->pg, &call, 1, err)) {
        return err_wrap(err, "read the source");
    }
    for (size_t i = 0; i < get_count(call.result); i++) {
        parts[part].take(call.result, i, arena, out);
    }
    pg_calls_fini(&call, 1);
    return true;
}

/* ---- In ---- */

/* The ids of an embedded store are only in its own way. */
static bool adopt(struct tx *base, uint64_t last_id, struct err *err)
{
    struct pg_call calls[] = {{.sql = PG_MOVE_PATIENCE}, {.sql = PG_MOVE_HOLD_OFF}};
    (void)last_id;
    PG_TX(base)->adopts = true;
    if (!pg_tx_run(PG_TX(base), calls, ARRAY_LEN(calls), TX_WRITES, err)) {
        return err_wrap(err, "hold off others");
    }
    pg_calls_fini(calls, ARRAY_LEN(calls));
    return true;
}

static bool write_tasks(struct tx *base, const struct move_rows *rows, struct err *err)
{
    const struct task *tasks[MOVE_SLICE_ROWS];
    for (size_t i = 0; i < rows->count; i++) {
        tasks[i] = &rows->tasks[i];
    }
    return pg_insert(base, tasks, rows->count, err);
}

static void give_attempt(struct pg_tx *tx, struct args *args, const struct move_rows *rows,
                         size_t i)
{
    const struct task_attempt *attempt = &rows->attempts[i].attempt;
    (void)tx;
    arg_id(args, rows->attempts[i].id);
    arg_small(args, attempt->number);
    arg_small(args, (int32_t)attempt->outcome);
    arg_bytes(args, attempt->worker);
    arg_int(args, attempt->started_ms);
    arg_int(args, attempt->finished_ms);
    args_error(args, &attempt->error);
}

static void give_log(struct pg_tx *tx, struct args *args, const struct move_rows *rows, size_t i)
{
    (void)tx;
    arg_id(args, rows->logs[i].id);
    arg_small(args, rows->logs[i].number);
    arg_int(args, rows->logs[i].until_byte);
    arg_bytes(args, rows->logs[i].text);
}

static void give_dependency(struct pg_tx *tx, struct args *args, const struct move_rows *rows,
                            size_t i)
{
    (void)tx;
    arg_id(args, rows->dependencies[i].id);
    arg_id(args, rows->dependencies[i].on);
}

static void give_held(struct pg_tx *tx, struct args *args, const struct move_rows *rows, size_t i)
{
    const struct move_held *held = &rows->held[i];
    arg_bytes(args, held->document);
    arg_id(args, held->holder);
    arg_bool(args, held->family);
    arg_int(args, tx->store->node);
    arg_text(args, held->lock);
    arg_int(args, held->since_ms);
}

static bool write_rows(struct pg_tx *tx, enum pg_id sql, struct args *args, struct err *err)
{
    struct pg_call call = {.sql = sql, .args = args};
    if (!pg_tx_run(tx, &call, 1, TX_WRITES, err)) {
        return err_wrap(err, "write the target");
    }
    pg_calls_fini(&call, 1);
    return true;
}

static bool write_part(struct tx *base, enum move_part part, const struct move_rows *rows,
                       struct err *err)
{
    static const struct {
        enum pg_id sql;
        void (*give)(struct pg_tx *tx, struct args *args, const struct move_rows *rows, size_t i);
    } parts[MOVE_PARTS] = {
        [MOVE_ATTEMPTS] = {PG_INSERT_ATTEMPTS, give_attempt},
        [MOVE_LOGS] = {PG_MOVE_LOG, give_log},
        [MOVE_DEPENDENCIES] = {PG_INSERT_DEPENDENCIES, give_dependency},
        [MOVE_HELD] = {PG_LEASE_DOCUMENTS, give_held},
    };
    SCOPED(args_fini) struct args args;
    args_init(&args, true);
    if (part == MOVE_TASKS) {
        return write_tasks(base, rows, err);
    }
    for (size_t i = 0; i < rows->count; i++) {
        parts[part].give(PG_TX(base), &args, rows, i);
        args_row_end(&args);
    }
    return write_rows(PG_TX(base), parts[part].sql, &args, err);
}

static bool write_tokens(struct tx *base, const struct steward_token *tokens, size_t n,
                         struct err *err)
{
    SCOPED(args_fini) struct args args;
    args_init(&args, true);
    for (size_t i = 0; i < n; i++) {
        arg_bytes(&args, tokens[i].id);
        arg_bytes(&args, tokens[i].line);
        args_row_end(&args);
    }
    return write_rows(PG_TX(base), PG_MOVE_TOKENS, &args, err);
}

const struct move_ops pg_move = {
    .identify = identify,
    .seize = seize,
    .count = count,
    .read = read_part,
    .adopt = adopt,
    .write = write_part,
    .write_tokens = write_tokens,
};
