/* store/postgres/list.c: which tasks a list or a bulk command selects, newest first.
 *
 * First the ids, from the table that has them (the live ones, the history, what went wrong, or
 * all bodies), then the rows, in one snapshot.
 *
 * Thread: the connection's.
 *
 * SPDX-License-Identifier: MIT */
#include "store/postgres/postgres.h"
#include "store/postgres/row.h"
#include "store/shared.h"

#define NO_LIMIT ((size_t)INT32_MAX)

static enum pg_id source_of(const struct task_filter *filter)
{
    unsigned states = filter->states == 0 ? STATES_ALL : filter->states & STATES_ALL;
    bool live = (states & STATES_LIVE) != 0, over = (states & ~STATES_LIVE) != 0;
    if (live) {
        return over ? PG_SELECT_ALL : PG_SELECT_LIVE;
    }
    return states >> TASK_COMPLETED & 1 ? PG_SELECT_DONE : PG_SELECT_RARE;
}

static void args_filter(struct args *args, const struct task_filter *f, size_t most)
{
    arg_id(args, f->before);
    arg_id(args, (struct task_id){f->not_before, 0}); /* the smallest with this first half */
    arg_small(args, (int32_t)(f->states & STATES_ALL));
    arg_small(args, (int32_t)f->priority);
#define WANTED_NAME(member)                    arg_text(args, f->member);
#define WANTED_TEXT(member)                    arg_bytes(args, f->member);
#define WANTED_ID(member)                      arg_id(args, f->member);
#define FIELD(part, kind, column, member, ...) WANTED_##kind(member)
#include "store/filter.def"
    arg_bytes(args, f->tag);
    arg_int(args, f->created_after_ms);
    arg_int(args, f->created_before_ms);
    arg_bytes(args, f->reach);
    arg_int(args, (int64_t)most);
}

struct page {
    struct args args;
    struct pg_call call;
    size_t count;
    bool more;
};

static void page_fini(struct page *page)
{
    args_fini(&page->args);
    pg_calls_fini(&page->call, 1);
}

typedef bool run_fn(void *arg, struct pg_call *call, struct err *err);

static bool read_page(const struct task_filter *filter, struct page *page, run_fn *run, void *arg,
                      struct err *err)
{
    size_t limit = filter->limit == 0 ? NO_LIMIT : filter->limit;
    args_init(&page->args, false);
    args_filter(&page->args, filter, limit + 1); /* one more says whether there are more */
    page->call = (struct pg_call){.sql = source_of(filter), .args = &page->args};
    if (!run(arg, &page->call, err)) {
        return false;
    }
    page->count = MIN(get_count(page->call.result), limit);
    page->more = page->count < get_count(page->call.result);
    return true;
}

/* A filter that names states, but none of ours, selects nothing. */
static bool selects_nothing(const struct task_filter *filter)
{
    return filter->states != 0 && (filter->states & STATES_ALL) == 0;
}

static bool run_in_tx(void *arg, struct pg_call *call, struct err *err)
{
    return pg_tx_run(arg, call, 1, TX_READS, err);
}

bool pg_select(struct tx *base, const struct task_filter *filter, struct arena *arena,
               struct task_id **ids, size_t *count, struct err *err)
{
    SCOPED(page_fini) struct page page = {0};
    *ids = NULL;
    *count = 0;
    if (selects_nothing(filter)) {
        return true;
    }
    if (!read_page(filter, &page, run_in_tx, PG_TX(base), err)) {
        return err_wrap(err, "select tasks");
    }
    get_ids(page.call.result, arena, ids, count);
    *count = page.count;
    return true;
}

/* ---- Lists ---- */

static bool run_reading(void *arg, struct pg_call *call, struct err *err)
{
    return pg_run(arg, call, 1, err);
}

/* Puts the rows where their ids stand in the page. */
static void take_rows(const PGresult *rows, const struct task_filter *filter, struct arena *arena,
                      struct task_rows *out)
{
    for (size_t i = 0; i < get_count(rows); i++) {
        struct task_row row, *kept = &out->at[get_int(rows, i, 0) - 1];
        get_row(rows, i, &row);
        row_omit(&row, filter->omit_over);
        *kept = row;
        task_keep(&kept->task, &row.task, arena);
    }
}

/* The rows of the page's ids, with which the snapshot ends. */
static bool read_rows(struct pg *pg, const struct task_filter *filter, const struct page *page,
                      struct arena *arena, struct task_rows *out, struct err *err)
{
    SCOPED(args_fini) struct args wanted;
    args_init(&wanted, true);
    for (size_t i = 0; i < page->count; i++) {
        arg_id(&wanted, get_id(page->call.result, i, 0));
        arg_int(&wanted, filter->omit_over == 0 ? INT64_MAX : (int64_t)filter->omit_over);
        args_row_end(&wanted);
    }
    struct pg_call calls[] = {{.sql = PG_LOAD_LIVE, .args = &wanted},
                              {.sql = PG_LOAD_DONE, .args = &wanted},
                              {.sql = PG_COMMIT}};
    size_t first = page->count == 0 ? 2 : 0;
    if (!pg_run(pg, calls + first, ARRAY_LEN(calls) - first, err)) {
        return false;
    }
    out->at = arena_array(arena, struct task_row, page->count);
    out->count = page->count;
    out->more = page->more;
    if (first == 0) {
        take_rows(calls[0].result, filter, arena, out);
        take_rows(calls[1].result, filter, arena, out);
    }
    pg_calls_fini(calls + first, ARRAY_LEN(calls) - first);
    return true;
}

static bool list_once(struct pg *pg, const struct task_filter *filter, struct arena *arena,
                      struct task_rows *out, struct err *err)
{
    SCOPED(page_fini) struct page page = {0};
    struct pg_call begin[] = {{.sql = PG_BEGIN_READ}, {.sql = PG_LIMITS}};
    if (!pg_ready(pg, PG_READY_MS, err) || !pg_run(pg, begin, ARRAY_LEN(begin), err)) {
        return false;
    }
    pg_calls_fini(begin, ARRAY_LEN(begin));
    return read_page(filter, &page, run_reading, pg, err) &&
           read_rows(pg, filter, &page, arena, out, err);
}

bool pg_list(struct reader *base, const struct task_filter *filter, struct arena *arena,
             struct task_rows *out, struct err *err)
{
    struct pg *pg = &((struct pg_reader *)base)->pg;
    bool was_up = pg_up(pg);
    *out = (struct task_rows){0};
    if (selects_nothing(filter) || list_once(pg, filter, arena, out, err)) {
        return true;
    }
    pg_read_undo(pg);
    /* As in pg_read_run(): an old connection may have been a dead one. */
    return (was_up && !pg_up(pg) && list_once(pg, filter, arena, out, err)) ||
           err_wrap(err, "list tasks");
}
