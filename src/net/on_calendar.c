/* net/on_calendar.c: schedules as iCalendar, so that a calendar app can subscribe.
 *
 * Thread: net loop.
 *
 * SPDX-License-Identifier: MIT */
#include "net/filter_in.h"
#include "net/on.h"
#include "net/schedule_in.h"
#include "time/ical.h"

#define CALENDAR_EVENTS_MAX 500
#define CALENDAR_TYPE       "text/calendar; charset=utf-8"

struct calendar_in {
    struct str user;
};

static const struct form_row one_rows[] = {TOKEN_ROW};
static const struct form_row all_rows[] = {
    FORM_ROW("userId", struct calendar_in, user, FORM_TEXT, FORM_SET,
             .about = "Schedules of this user."),
    TOKEN_ROW,
};
const struct form schedule_calendar_form = FORM(one_rows);
const struct form calendar_form = FORM(all_rows);

/* ---- Events ---- */

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
        .status = schedule.status == SCHEDULE_PAUSED   ? ICAL_TENTATIVE
                  : schedule.status == SCHEDULE_FAILED ? ICAL_CANCELLED
                                                       : ICAL_CONFIRMED,
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
    struct calendar_in in = {.user = STR_NONE};
    if (!call_asked(call, &calendar_form, &in, err) ||
        !call_choose_user(call, "schedules of its own user", &in.user, err)) {
        return false;
    }
    struct query *query = call_query(call, QUERY_RECORDS);
    query->record_filter = (struct record_filter){
        .kind = RECORD_SCHEDULE, .owner = in.user, .limit = CALENDAR_EVENTS_MAX};
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
    if (!call_asked(call, &schedule_calendar_form, NULL, err)) {
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
