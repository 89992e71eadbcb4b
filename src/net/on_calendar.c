/* net/on_calendar.c: schedules as iCalendar, so that a calendar app can subscribe.
 *
 * Thread: net loop.
 *
 * SPDX-License-Identifier: MIT */
#include "net/on.h"
#include "net/schedule_in.h"
#include "time/ical.h"

#define CALENDAR_EVENTS_MAX 500
#define CALENDAR_TYPE       "text/calendar; charset=utf-8"
#define WORD_SCHEMA         "{\"type\":\"string\",\"minLength\":1}"

static bool set_user(void *into, struct str value, struct err *err)
{
    (void)err;
    *(struct str *)into = value;
    return true;
}

static bool pass_over(void *into, struct str value, struct err *err)
{
    (void)into;
    (void)value;
    (void)err;
    return true;
}

#define TOKEN_ROW                                                                                  \
    PARAM("access_token", pass_over, WORD_SCHEMA, "The token, for readers that send no headers.")

static const struct param one_table[] = {TOKEN_ROW};
static const struct param all_table[] = {
    PARAM("userId", set_user, WORD_SCHEMA, "Schedules of this user."),
    TOKEN_ROW,
};
const struct params schedule_calendar_params = {one_table, ARRAY_LEN(one_table)};
const struct params calendar_params = {all_table, ARRAY_LEN(all_table)};

/* ---- Events ---- */

static enum ical_status status_of(enum schedule_status status)
{
    return status == SCHEDULE_PAUSED   ? ICAL_TENTATIVE
           : status == SCHEDULE_FAILED ? ICAL_CANCELLED
                                       : ICAL_CONFIRMED;
}

static bool read_event(struct call *call, const struct record *record, struct plan *plan,
                       struct ical_event *out, struct err *err)
{
    char text[TASK_ID_TEXT];
    struct schedule schedule;
    if (!schedule_load(record, call->arena, &schedule, err) ||
        !plan_open(&schedule, planner_zones(call->api->parts.planner), call->arena, plan, err)) {
        return false;
    }
    *out = (struct ical_event){
        .uid = arena_str(call->arena, id_text(schedule.id, text)),
        .title = schedule.title,
        .description = str_absent(schedule.description) ? schedule.purpose : schedule.description,
        .status = status_of(schedule.status),
        .created_ms = schedule.created_ms,
        .updated_ms = schedule.updated_ms,
        .when = plan->order,
    };
    return true;
}

/* One that can no longer be planned has no times to show: it is left out. */
static void answer_calendar(struct call *call, const struct record *records, size_t count)
{
    struct plan *plans = arena_array(call->arena, struct plan, count);
    struct ical_event *events = arena_array(call->arena, struct ical_event, count);
    size_t n = 0;
    (void)call_writer(call); /* empties the answer */
    for (size_t i = 0; i < count; i++) {
        struct err passed = ERR_INIT;
        n += read_event(call, &records[i], &plans[i], &events[n], &passed);
    }
    const struct ical calendar = {.name = STR("Errand"),
                                  .events = events,
                                  .count = n,
                                  .now_ms = clock_now(call->api->options.clock).wall_ms};
    bool ok = ical_write(&call->api->scratch, &calendar, &call->failure);
    for (size_t i = 0; i < count; i++) {
        plan_close(&plans[i]);
    }
    if (ok) {
        call_answer_with(call, 200, CALENDAR_TYPE, STR(""));
    } else {
        call_fail(call, &call->failure);
    }
}

/* ---- Routes ---- */

static void answer_all(struct call *call)
{
    const struct records *found = &((struct query *)call->own)->records;
    answer_calendar(call, found->at, found->count);
}

bool on_calendar(struct call *call, struct err *err)
{
    struct str user = STR_NONE, own = call_user(call);
    if (!call_params(call, calendar_params, &user, err)) {
        return false;
    }
    if (!str_absent(own) && !str_absent(user) && !str_eq(own, user)) {
        return err_set(err, ERR_FORBIDDEN, "this token may only see schedules of its own user");
    }
    struct query *query = call_query(call, QUERY_RECORDS);
    query->record_filter = (struct record_filter){.kind = RECORD_SCHEDULE,
                                                  .owner = str_absent(own) ? user : own,
                                                  .limit = CALENDAR_EVENTS_MAX};
    call->own = query;
    call->done = answer_all;
    call_ask(call, query);
    return true;
}

static void answer_one(struct call *call)
{
    const struct query *query = call->own;
    struct str own = call_user(call);
    if (!query->found || (!str_absent(own) && !str_eq(own, query->record.owner))) {
        err_set(&call->failure, ERR_NOT_FOUND, "there is no such schedule");
        call_fail(call, &call->failure);
        return;
    }
    answer_calendar(call, &query->record, 1);
}

bool on_schedule_calendar(struct call *call, struct err *err)
{
    struct task_id id;
    if (!id_parse(call->name, &id) || id_none(id)) {
        return err_set(err, ERR_NOT_FOUND, "there is no such schedule");
    }
    if (!call_params(call, schedule_calendar_params, NULL, err)) {
        return false;
    }
    struct query *query = call_query(call, QUERY_RECORD);
    query->record_filter.kind = RECORD_SCHEDULE;
    query->id = id;
    call->own = query;
    call->done = answer_one;
    call_ask(call, query);
    return true;
}
