/* net/schedule_in.c: wishes about schedules out of JSON. See schedule_in.h.
 *
 * SPDX-License-Identifier: MIT */
#include "net/schedule_in.h"

#include "net/assist.h"
#include "net/schedule_out.h"

#define MORE_ROW(label, member, form_kind, ...)                                                    \
    FORM_ROW(label, struct schedule_in, member, form_kind, FORM_SET, __VA_ARGS__)

static const struct form_row create_rows[] = {
    MORE_ROW("cron", cron, FORM_TEXT, .max = RRULE_TEXT_MAX),
    MORE_ROW("text", text, FORM_TEXT, .max = ENGLISH_TEXT_MAX),
    MORE_ROW("now", now_ms, FORM_TIME, 0), /* the last: only of a preview */
};
static const struct form create_form = {create_rows, ARRAY_LEN(create_rows) - 1};
static const struct form preview_form = {create_rows, ARRAY_LEN(create_rows)};
static const struct form patch_form = {create_rows, 1};

/* A token of a user speaks for that user alone. */
static bool check_user(struct str user, struct schedule *schedule, struct err *err)
{
    if (str_absent(user)) {
        return true;
    }
    if (!str_absent(schedule->user) && !str_eq(schedule->user, user)) {
        return err_set(err, ERR_FORBIDDEN, "this token may only touch schedules of its own user");
    }
    schedule->user = user;
    return true;
}

/* ---- Creating ---- */

static bool refuse(struct err *err, const char *field, const char *why)
{
    err_field(err, field, "%s", why);
    err->kind = ERR_REFUSED;
    return false;
}

static bool check_one_time(const struct schedule_in *in, struct err *err)
{
    bool said = form_given(&schedule_form, in->given, "isOneTime");
    return !said || in->schedule.one_time || !str_absent(in->schedule.rrule) ||
           !str_absent(in->cron) || in->schedule.rdates.count > 0 ||
           err_field(err, "isOneTime", "isOneTime is false, but there is no rule");
}

/* ---- English ---- */

static bool is_said_twice(const struct schedule_in *in)
{
    const struct schedule *schedule = &in->schedule;
    return !str_absent(schedule->rrule) || !str_absent(in->cron) ||
           !str_absent(schedule->dtstart) || schedule->rdates.count > 0;
}

static bool check_text(struct call *call, const struct schedule_in *in, struct err *err)
{
    struct err why = ERR_INIT;
    SCOPED(zone_release_at) const struct zone *zone = NULL;
    if (is_said_twice(in)) {
        return err_field(err, "text", "text must not be given beside rrule, cron or dtstart");
    }
    return zones_get(planner_zones(call->api->parts.planner), in->schedule.timezone, &zone, &why) ||
           err_field(err, "timezone", "timezone: %s", why.text);
}

void schedule_in_take(struct schedule_in *in, const struct schedule *said)
{
    struct schedule *schedule = &in->schedule;
    schedule->rrule = said->rrule;
    schedule->dtstart = said->dtstart;
    schedule->timezone = said->timezone;
    if (schedule->exdates.count == 0) {
        schedule->exdates = said->exdates;
    }
    if (str_absent(schedule->title)) {
        schedule->title = said->title;
    }
    if (str_absent(schedule->description)) {
        schedule->description = said->description;
    }
    if (str_absent(schedule->purpose)) {
        schedule->purpose = said->purpose;
    }
    if (!form_given(&schedule_form, in->given, "category")) {
        schedule->category = said->category;
    }
}

/* ---- Structured ---- */

bool schedule_in_settle(struct call *call, struct schedule_in *in, struct err *err)
{
    struct schedule *schedule = &in->schedule;
    if (in->preview && str_absent(schedule->title)) {
        schedule->title = STR("preview");
    }
    if (!schedule_check(schedule, call->arena, err)) {
        return false;
    }
    if (str_absent(schedule->rrule) && str_absent(in->cron) && str_absent(schedule->dtstart)) {
        return refuse(err, "dtstart", "when should it run? rrule, cron or dtstart is needed");
    }
    return check_one_time(in, err) &&
           schedule_settle(schedule, in->cron, planner_zones(call->api->parts.planner), in->now_ms,
                           call->arena, err);
}

bool schedule_in_parse(struct call *call, struct json *json, struct schedule_in *out,
                       struct err *err)
{
    bool preview = out->preview;
    *out = (struct schedule_in){.schedule = SCHEDULE_INIT, .preview = preview};
    const struct form_more more = {preview ? &preview_form : &create_form, out};
    if (!form_read(json, &schedule_form, &out->schedule, &out->given, &more, err) ||
        !json_end(json, err) || !check_user(call_user(call), &out->schedule, err)) {
        return false;
    }
    if (out->now_ms == 0) {
        out->now_ms = clock_now(call->api->options.clock).wall_ms;
    }
    return str_absent(out->text) || check_text(call, out, err);
}

/* ---- Understanding ---- */

struct reading {
    struct assist assist;
    struct schedule_in *in;
};

static void fail(struct call *call, const struct schedule_in *in, const struct err *err)
{
    if (err->kind == ERR_REFUSED) {
        schedule_refuse(call, err, &in->refusal);
    } else {
        call_fail(call, err);
    }
}

static void on_understood(struct assist *assist)
{
    struct schedule_in *in = HOLDER(assist, struct reading, assist)->in;
    const struct assistant_said *said = &assist->job.said;
    struct err err = ERR_INIT;
    if (said->mode == ASSISTANT_REFUSAL) {
        in->refusal = said->refusal;
        err_set(&err, ERR_REFUSED, STR_FMT, STR_ARG(said->refusal.reason));
    } else {
        schedule_in_take(in, &said->schedule);
        in->words = said->words;
        in->words_count = said->words_count;
    }
    if (err.kind == ERR_NONE && schedule_in_settle(assist->call, in, &err)) {
        in->ready(assist->call, in);
    } else {
        fail(assist->call, in, &err);
    }
}

static void understand(struct call *call, struct schedule_in *in)
{
    struct reading *reading = arena_new(call->arena, struct reading);
    reading->in = in;
    reading->assist = (struct assist){.job.arena = call->arena,
                                      .job.asked = assist_asked(call, in->text, in->now_ms),
                                      .call = call,
                                      .understood = on_understood};
    reading->assist.job.asked.timezone = in->schedule.timezone;
    reading->assist.job.asked.messages = in->schedule.messages;
    reading->assist.job.asked.only_new = true;
    assist_begin(&reading->assist);
}

bool schedule_in_read(struct call *call, struct schedule_in *in, struct err *err)
{
    struct json json;
    void (*ready)(struct call *, struct schedule_in *) = in->ready;
    if (!call_json(call, &json, err) || !schedule_in_parse(call, &json, in, err)) {
        return false;
    }
    in->ready = ready;
    if (!str_absent(in->text)) {
        understand(call, in);
    } else if (schedule_in_settle(call, in, err)) {
        in->ready(call, in);
    } else {
        fail(call, in, err);
    }
    return true;
}

/* ---- Changing ---- */

bool schedule_in_change(struct call *call, struct schedule_change *out, struct err *err)
{
    struct json json;
    struct schedule_in in = {.cron = STR_NONE};
    const struct form_more more = {&patch_form, &in};
    *out = (struct schedule_change){.given = 0};
    if (!call_json(call, &json, err) ||
        !form_read(&json, &schedule_form, &out->schedule, &out->given, &more, err) ||
        !json_end(&json, err)) {
        return false;
    }
    out->cron = in.cron;
    /* Of a user's token: the schedule is that user's already, or it is not found. */
    return check_user(call_user(call), &out->schedule, err);
}
