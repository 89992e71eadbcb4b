/* net/schedule_in.c: wishes about schedules out of JSON. See schedule_in.h.
 *
 * SPDX-License-Identifier: MIT */
#include "net/schedule_in.h"
#include "net/fault.h"

#include "net/assist.h"
#include "net/schedule_out.h"

#define ROW(label, member, form_kind, use, ...)                                                    \
    FORM_ROW(label, struct schedule_in, member, form_kind, use, __VA_ARGS__)

/* clang-format off */
static const struct form_row rows[] = { /* a change has the first, a new one two, a preview all */
    ROW("cron", cron, FORM_TEXT, FORM_SET | FORM_CHANGE, .max = RRULE_TEXT_MAX,
        .about = "Five fields or @daily and the like, instead of rrule."),
    ROW("text", text, FORM_TEXT, FORM_SET, .max = ENGLISH_TEXT_MAX, .about = "A wish in English instead of a rule."),
    ROW("now", now_ms, FORM_TIME, FORM_SET, .about = "As if it were this time."),
};
/* clang-format on */
const struct form schedule_change_more = {rows, 1};
const struct form schedule_create_more = {rows, 2};
const struct form schedule_preview_more = {rows, 3};

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

bool call_choose_user(const struct call *call, const char *what, struct str *user, struct err *err)
{
    struct str own = call_user(call);
    if (!str_absent(own) && !str_absent(*user) && !str_eq(own, *user)) {
        return err_set(err, ERR_FORBIDDEN, "this token may only see %s", what);
    }
    *user = str_absent(own) ? *user : own;
    return true;
}

/* ---- English ---- */

static bool check_text(struct call *call, const struct schedule_in *in, struct err *err)
{
    struct err why = ERR_INIT;
    SCOPED(zone_release_at) const struct zone *zone = NULL;
    const struct schedule *schedule = &in->schedule;
    if (!str_absent(schedule->rrule) || !str_absent(in->cron) || !str_absent(schedule->dtstart) ||
        schedule->rdates.count > 0) {
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
    bool rule = !str_absent(schedule->rrule) || !str_absent(in->cron);
    if (!rule && str_absent(schedule->dtstart)) {
        err_field(err, "dtstart", "when should it run? rrule, cron or dtstart is needed");
        err->kind = ERR_REFUSED;
        return false;
    }
    bool often = form_given(&schedule_form, in->given, "isOneTime") && !schedule->one_time;
    if (often && !rule && schedule->rdates.count == 0) {
        return err_field(err, "isOneTime", "isOneTime is false, but there is no rule");
    }
    return schedule_settle(schedule, in->cron, planner_zones(call->api->parts.planner), in->now_ms,
                           call->arena, err);
}

bool schedule_in_parse(struct call *call, struct json *json, struct schedule_in *out,
                       struct err *err)
{
    bool preview = out->preview;
    *out = (struct schedule_in){
        .schedule = schedule_blank(), .preview = preview, .tolerant = out->tolerant};
    const struct form_more more = {preview ? &schedule_preview_more : &schedule_create_more, out};
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
        schedule_refuse(call, in->tolerant ? 200 : fault_status(err->kind), err, &in->refusal);
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
    const struct form_more more = {&schedule_change_more, &in};
    *out = (struct schedule_change){.given = 0};
    if (!call_json(call, &json, err) ||
        !form_read_for(FORM_CHANGE | FORM_SHOWN, &json, &schedule_form, &out->schedule, &out->given,
                       &more, err) ||
        !json_end(&json, err)) {
        return false;
    }
    out->cron = in.cron;
    /* Of a user's token: the schedule is that user's already, or it is not found. */
    return check_user(call_user(call), &out->schedule, err);
}
