/* net/on_execution.c: the history of schedules.
 *
 * Thread: net loop.
 *
 * SPDX-License-Identifier: MIT */
#include "net/on.h"
#include "net/filter_in.h"
#include "net/schedule_in.h"
#include "net/schedule_out.h"

struct page {
    struct query *schedule;
    size_t limit;
    struct task_id before;
};

static const struct form_row list_rows[] = {
    LIMIT_ROW(struct page, limit, "Entries on a page."),
    CURSOR_ROW(struct page, before),
};
const struct form execution_list_form = FORM(list_rows);

/* Whether the asker may see a record that was asked for. */
static bool may_see(const struct call *call, const struct query *query)
{
    struct str own = call_user(call);
    return query->found && (str_absent(own) || str_eq(own, query->record.owner));
}

/* While a run goes on its task knows when it began. */
static bool read_run(struct call *call, const struct record *record, const struct task *task,
                     struct execution *out)
{
    if (!execution_load(record, call->arena, out, &call->failure)) {
        return false;
    }
    if (task != NULL && task->attempt == 1 && out->started_ms == 0) {
        out->started_ms = task->started_ms;
    }
    return true;
}

static void answer_list(struct call *call)
{
    const struct query *query = call->own;
    const struct records *found = &query->records;
    struct json_writer w = call_writer(call);
    json_open_array(&w);
    for (size_t i = 0; i < found->count; i++) {
        struct execution execution;
        if (read_run(call, &found->at[i], query->tasks[i], &execution)) {
            execution_write(&w, &execution, true);
        }
    }
    json_close_array(&w);
    call_answer_page(call, found->more, found->count > 0 ? &found->at[found->count - 1].id : NULL);
}

/* The schedule is there, and may be seen: now its history. */
static void ask_entries(struct call *call)
{
    const struct page *page = call->own;
    struct query *query = call_query(call, QUERY_RECORDS);
    if (!may_see(call, page->schedule)) {
        err_set(&call->failure, ERR_NOT_FOUND, "there is no such schedule");
        call_fail(call, &call->failure);
        return;
    }
    query->record_filter = (struct record_filter){.kind = RECORD_EXECUTION,
                                                  .parent = page->schedule->id,
                                                  .before = page->before,
                                                  .limit = page->limit};
    query->task_marks = UINT32_C(1) << EXECUTION_RUNNING;
    call->own = query;
    call->done = answer_list;
    call_ask(call, query);
}

bool on_execution_list(struct call *call, struct err *err)
{
    struct task_id id;
    struct page *page = arena_new(call->arena, struct page);
    page->limit = LIST_LIMIT_DEFAULT;
    if (!id_parse(call->name, &id) || id_none(id)) {
        return err_set(err, ERR_NOT_FOUND, "there is no such schedule");
    }
    if (!call_asked(call, &execution_list_form, page, err)) {
        return false;
    }
    page->schedule = call_query(call, QUERY_RECORD);
    page->schedule->record_filter.kind = RECORD_SCHEDULE;
    page->schedule->id = id;
    call->own = page;
    call->done = ask_entries;
    call_ask(call, page->schedule);
    return true;
}

static void answer_show(struct call *call)
{
    const struct query *query = call->own;
    struct execution execution;
    if (!may_see(call, query)) {
        err_set(&call->failure, ERR_NOT_FOUND, "there is no such execution");
    } else {
        (void)!read_run(call, &query->record, query->tasks[0], &execution);
    }
    if (call->failure.kind != ERR_NONE) {
        call_fail(call, &call->failure);
        return;
    }
    struct json_writer w = call_writer(call);
    execution_write(&w, &execution, false);
    call_answer(call, 200);
}

bool on_execution_show(struct call *call, struct err *err)
{
    struct task_id id;
    if (!id_parse(call->name, &id) || id_none(id)) {
        return err_set(err, ERR_NOT_FOUND, "there is no such execution");
    }
    if (!call_asked(call, NULL, NULL, err)) {
        return false;
    }
    struct query *query = call_query(call, QUERY_RECORD);
    query->record_filter.kind = RECORD_EXECUTION;
    query->task_marks = UINT32_C(1) << EXECUTION_RUNNING;
    query->id = id;
    call->own = query;
    call->done = answer_show;
    call_ask(call, query);
    return true;
}
