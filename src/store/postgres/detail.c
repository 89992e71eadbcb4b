/* store/postgres/detail.c: one task whole, with its attempts, their logs and its relations.
 *
 * All of it in one trip and one snapshot.
 *
 * Thread: the reader's.
 *
 * SPDX-License-Identifier: MIT */
#include "base/mem.h"
#include "store/postgres/postgres.h"
#include "store/postgres/row.h"
#include "store/shared.h"

#define LOG_READ_MAX (64 * MIB) /* pieces may overlap the window by one heartbeat's worth */

enum { LIVE, DONE, ATTEMPTS, LOGS, CHILDREN, RESULTS, CALLS };

bool pg_reader_open(struct store *base, struct reader **out, struct err *err)
{
    struct pg_reader *reader = mem_new(struct pg_reader);
    (void)err; /* it connects when it is first used */
    pg_init(&reader->pg, &PG_STORE(base)->address);
    reader->reader.ops = base->ops;
    *out = &reader->reader;
    return true;
}

void pg_reader_close(struct reader *base)
{
    struct pg_reader *reader = (struct pg_reader *)base;
    pg_fini(&reader->pg);
    mem_free(reader);
}

static bool read_task(const PGresult *rows, struct arena *arena, struct task *out)
{
    struct task_row row;
    if (get_count(rows) == 0) {
        return false;
    }
    get_row(rows, 0, &row);
    task_keep(out, &row.task, arena);
    return true;
}

/* The running attempt, or the last one of a finished task, is told by the task's own row. */
static void read_attempts(const PGresult *rows, struct arena *arena, struct task_detail *out)
{
    size_t n = get_count(rows);
    out->attempts = arena_array(arena, struct task_attempt, n + 1);
    for (size_t i = 0; i < n; i++) {
        struct task_attempt *attempt = &out->attempts[i];
        attempt->number = (int32_t)get_int(rows, i, 0);
        attempt->outcome = (enum task_outcome)get_int(rows, i, 1);
        attempt->worker = arena_str(arena, get_str(rows, i, 2));
        attempt->started_ms = get_int(rows, i, 3);
        attempt->finished_ms = get_int(rows, i, 4);
        get_error(rows, i, 5, &attempt->error);
        attempt->error.code = arena_str(arena, attempt->error.code);
        attempt->error.message = arena_str(arena, attempt->error.message);
        attempt->error.detail = arena_str(arena, attempt->error.detail);
    }
    int32_t last = n == 0 ? 0 : out->attempts[n - 1].number;
    if (task_tells_attempt(&out->task) && out->task.attempt > last) {
        out->attempts[n++] = task_last_attempt(&out->task);
    }
    out->attempts_count = n;
}

static void read_log(const PGresult *rows, struct arena *arena, struct task_attempt *attempt)
{
    SCOPED(buf_fini) struct buf text = BUF_INIT(LOG_READ_MAX);
    for (size_t i = 0; i < get_count(rows); i++) {
        if (get_int(rows, i, 0) == attempt->number) {
            buf_str(&text, get_str(rows, i, 1));
        }
    }
    attempt->log = text.len == 0 ? STR_NONE : arena_str(arena, log_window(buf_view(&text)));
}

static void read_results(const PGresult *rows, struct arena *arena, struct task_detail *out)
{
    out->dependencies_count = get_count(rows);
    out->dependencies = arena_array(arena, struct task_dependency, out->dependencies_count);
    for (size_t i = 0; i < out->dependencies_count; i++) {
        out->dependencies[i] =
            (struct task_dependency){get_id(rows, i, 0), (enum task_state)get_int(rows, i, 1),
                                     arena_str(arena, get_str(rows, i, 2))};
    }
}

static void read_detail(const struct pg_call *calls, struct arena *arena, bool *found,
                        struct task_detail *out)
{
    *found = read_task(calls[LIVE].result, arena, &out->task) ||
             read_task(calls[DONE].result, arena, &out->task);
    if (!*found) {
        return;
    }
    read_attempts(calls[ATTEMPTS].result, arena, out);
    for (size_t i = 0; i < out->attempts_count; i++) {
        read_log(calls[LOGS].result, arena, &out->attempts[i]);
    }
    get_ids(calls[CHILDREN].result, arena, &out->children, &out->children_count);
    read_results(calls[RESULTS].result, arena, out);
}

bool pg_detail(struct reader *base, struct task_id id, struct arena *arena, bool *found,
               struct task_detail *out, struct err *err)
{
    SCOPED(args_fini) struct args wanted;
    SCOPED(args_fini) struct args one;
    args_init(&wanted, true);
    args_init(&one, false);
    arg_id(&wanted, id);
    arg_int(&wanted, INT64_MAX);
    args_row_end(&wanted);
    arg_id(&one, id);
    struct pg_call calls[CALLS] = {
        [LIVE] = {.sql = PG_LOAD_LIVE, .args = &wanted},
        [DONE] = {.sql = PG_LOAD_DONE, .args = &wanted},
        [ATTEMPTS] = {.sql = PG_LIST_ATTEMPTS, .args = &one},
        [LOGS] = {.sql = PG_LIST_LOGS, .args = &one},
        [CHILDREN] = {.sql = PG_LIST_CHILDREN, .args = &one},
        [RESULTS] = {.sql = PG_LIST_RESULTS, .args = &one},
    };
    *out = (struct task_detail){0};
    *found = false;
    if (!pg_read_run(&((struct pg_reader *)base)->pg, calls, CALLS, err)) {
        return err_wrap(err, "read a task");
    }
    read_detail(calls, arena, found, out);
    pg_calls_fini(calls, CALLS);
    return true;
}
