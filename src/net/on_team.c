/* net/on_team.c: teams: begun, looked at, ended.
 *
 * Thread: net loop.
 *
 * SPDX-License-Identifier: MIT */
#include "net/filter_in.h"
#include "net/on.h"
#include "net/team_call.h"
#include "net/team_out.h"

/* ---- What every handler of teams needs ---- */

bool team_call_id(struct call *call, struct task_id *out, struct err *err)
{
    return (id_parse(call->name, out) && !id_none(*out)) ||
           err_set(err, ERR_NOT_FOUND, "there is no such team");
}

bool team_call_find(struct call *call, struct task_id id, void (*done)(struct call *call),
                    struct err *err)
{
    if (call->api->parts.lead == NULL) {
        return err_set(err, ERR_NOT_FOUND, "there is no such team");
    }
    struct query *query = call_query(call, QUERY_RECORD);
    query->record_filter.kind = RECORD_TEAM;
    query->id = id;
    ((struct team_call *)call->own)->query = query;
    call->done = done;
    call_ask(call, query);
    return true;
}

bool team_call_read(struct call *call, struct team *out)
{
    const struct query *query = ((struct team_call *)call->own)->query;
    struct err err = ERR_INIT;
    if (!query->found) {
        err_set(&err, ERR_NOT_FOUND, "there is no such team");
    } else if (team_load(&query->record, call->arena, out, &err)) {
        return true;
    }
    call_fail(call, &err);
    return false;
}

void team_call_tasks(struct call *call, struct task_id team, struct query **out)
{
    struct query *query = call_query(call, QUERY_LIST);
    query->filter = (struct task_filter){.team = team, .limit = TEAM_ROWS_MAX, .omit_over = 1};
    *out = query;
    call_ask(call, query);
}

struct lead_order *team_call_wish(struct call *call, enum lead_verb verb,
                                  void (*done)(struct call *call))
{
    struct lead_order *order = arena_new(call->arena, struct lead_order);
    order->verb = verb;
    call->own = order;
    call->done = done;
    lead_ask(call->api->parts.lead, call_command(call, COMMAND_GUEST), order);
    return order;
}

/* ---- Beginning and ending ---- */

static void answer_begun(struct call *call)
{
    const struct team *team = &((struct lead_order *)call->own)->team;
    char text[TASK_ID_TEXT];
    struct json_writer w = call_writer(call);
    bool idle = team->mates.count > 0 && !lead_decides(call->api->parts.lead);
    team_write_begun(&w, team,
                     idle ? STR("its teammates do nothing by themselves, since this server has no "
                                "[llm]: agents outside must claim its tasks")
                          : STR_NONE);
    call_answer_with(call, 202, "application/json",
                     arena_printf(call->arena, "Location: /api/teams/" STR_FMT "\r\n",
                                  STR_ARG(id_text(team->id, text))));
}

bool on_team_create(struct call *call, struct err *err)
{
    struct team team = TEAM_INIT;
    if (!call_asked(call, NULL, NULL, err) ||
        !call_body(call, &team_request, false, &team, NULL, err)) {
        return false;
    }
    team_call_wish(call, LEAD_CREATE, answer_begun)->team = team;
    return true;
}

static void answer_ended(struct call *call)
{
    const struct lead_order *order = call->own;
    if (order->removed) {
        call_answer_empty(call, 204);
        return;
    }
    struct json_writer w = call_writer(call);
    team_write_begun(&w, &order->team, STR_NONE);
    call_answer(call, 200);
}

bool on_team_end(struct call *call, struct err *err)
{
    struct task_id id;
    if (!team_call_id(call, &id, err) || !call_asked(call, NULL, NULL, err)) {
        return false;
    }
    team_call_wish(call, LEAD_END, answer_ended)->id = id;
    return true;
}

/* ---- One ---- */

struct show {
    struct team_call of; /* first */
    struct team team;
    struct query *tasks;
};

static void answer_show(struct call *call)
{
    struct show *show = call->own;
    struct json_writer w = call_writer(call);
    team_write(&w, &show->team, &show->tasks->rows, true, call->arena);
    call_answer(call, 200);
}

static void show_tasks(struct call *call)
{
    struct show *show = call->own;
    if (team_call_read(call, &show->team)) {
        call->done = answer_show;
        team_call_tasks(call, show->team.id, &show->tasks);
    }
}

bool on_team_show(struct call *call, struct err *err)
{
    struct task_id id;
    call->own = arena_new(call->arena, struct show);
    return team_call_id(call, &id, err) && call_asked(call, NULL, NULL, err) &&
           team_call_find(call, id, show_tasks, err);
}

/* ---- Lists ---- */

struct list_in {
    unsigned statuses;
    size_t limit;
    struct task_id before;
    struct query *teams, **tasks;
    size_t asked; /* teams whose tasks were */
};

static const struct form_row list_rows[] = {
    FORM_ROW("status", struct list_in, statuses, FORM_WORDS, FORM_SET, .words = team_statuses,
             .about = "One status or several, comma separated."),
    LIMIT_ROW(struct list_in, limit, "Teams on a page."),
    CURSOR_ROW(struct list_in, before),
};
const struct form team_list_form = FORM(list_rows);

static void answer_list(struct call *call)
{
    const struct list_in *in = call->own;
    const struct records *found = &in->teams->records;
    struct json_writer w = call_writer(call);
    json_open_array(&w);
    for (size_t i = 0; i < found->count; i++) {
        struct team team;
        if (team_load(&found->at[i], call->arena, &team, &call->failure)) {
            team_write(&w, &team, &in->tasks[i]->rows, false, call->arena);
        }
    }
    json_close_array(&w);
    call_answer_page(call, found->more, found->count > 0 ? &found->at[found->count - 1].id : NULL);
}

/* One team after the other: answers share the arena of the call. */
static void list_tasks(struct call *call)
{
    struct list_in *in = call->own;
    if (in->asked == in->teams->records.count) {
        answer_list(call);
        return;
    }
    if (in->asked == 0) {
        in->tasks = arena_array(call->arena, struct query *, in->teams->records.count);
    }
    size_t at = in->asked++;
    team_call_tasks(call, in->teams->records.at[at].id, &in->tasks[at]);
}

bool on_team_list(struct call *call, struct err *err)
{
    struct list_in *in = arena_new(call->arena, struct list_in);
    in->limit = LIST_LIMIT_DEFAULT;
    if (!call_asked(call, &team_list_form, in, err)) {
        return false;
    }
    in->teams = call_query(call, QUERY_RECORDS);
    in->teams->record_filter = (struct record_filter){
        .kind = RECORD_TEAM, .marks = in->statuses, .before = in->before, .limit = in->limit};
    call->own = in;
    call->done = list_tasks;
    call_ask(call, in->teams);
    return true;
}
