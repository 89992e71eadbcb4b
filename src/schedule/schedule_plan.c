/* schedule/schedule_plan.c: what a schedule means in time. See schedule_plan.h.
 *
 * SPDX-License-Identifier: MIT */
#include "schedule/schedule_plan.h"

#include "time/cron.h"
#include "wire/time.h"

/* ---- Reading ---- */

static bool get_zone(const struct schedule *schedule, struct zones *zones, const struct zone **out,
                     struct err *err)
{
    struct err why = ERR_INIT;
    return zones_get(zones, schedule->timezone, out, &why) ||
           err_field(err, "timezone", "timezone: %s", why.text);
}

static bool read_when(struct str text, const char *field, struct when *out, struct err *err)
{
    struct err why = ERR_INIT;
    return when_parse(text, out, &why) || err_field(err, field, "%s %s", field, why.text);
}

static bool read_rule(struct str text, struct rrule *out, struct err *err)
{
    struct err why = ERR_INIT;
    return rrule_parse(text, out, &why) || err_field(err, "rrule", "rrule: %s", why.text);
}

static bool read_dates(const struct form_texts *texts, const char *field, struct arena *arena,
                       const struct when **out, struct err *err)
{
    struct when *dates = arena_array(arena, struct when, texts->count);
    for (size_t i = 0; i < texts->count; i++) {
        if (!read_when(texts->at[i], field, &dates[i], err)) {
            return false;
        }
    }
    *out = dates;
    return true;
}

/* ---- Settling ---- */

/* The rule as it is kept. */
static bool keep_rule(struct schedule *schedule, const struct rrule *rule, struct arena *arena,
                      struct err *err)
{
    SCOPED(buf_fini) struct buf text = BUF_INIT(RRULE_TEXT_MAX);
    rrule_write(&text, rule);
    schedule->rrule = arena_str(arena, buf_view(&text));
    return !text.full ||
           err_field(err, "rrule", "rrule written in full is longer than %d bytes", RRULE_TEXT_MAX);
}

static bool read_cron(struct schedule *schedule, struct str cron, struct arena *arena,
                      struct err *err)
{
    struct rrule rule;
    struct err why = ERR_INIT;
    if (!str_absent(schedule->rrule)) {
        return err_field(err, "cron", "cron must not be given beside rrule");
    }
    if (!cron_parse(cron, &rule, &why)) {
        return err_field(err, "cron", "%s", why.text);
    }
    return keep_rule(schedule, &rule, arena, err);
}

static bool settle_rule(struct schedule *schedule, struct rrule *rule, struct arena *arena,
                        struct err *err)
{
    struct str text = schedule->rrule;
    if (str_absent(text)) {
        return true;
    }
    /* As people copy it out of calendars: RRULE:FREQ=DAILY; */
    if (text.len > 6 && str_eq_nocase((struct str){text.ptr, 6}, STR("RRULE:"))) {
        text = str_from(text, 6);
    }
    if (text.len > 0 && text.ptr[text.len - 1] == ';') {
        text.len--;
    }
    return read_rule(text, rule, err) && keep_rule(schedule, rule, arena, err);
}

/* A rule without a start begins now; what it says about hours and minutes is meant on the hour and
 * the minute, not at the seconds of this very moment. */
static struct when start_now(const struct rrule *rule, const struct zone *zone, int64_t now_ms)
{
    int64_t wall = zone_wall(zone, wall_div(now_ms, SECOND_MS));
    bool hours = rule->has & RRULE_BYHOUR, minutes = rule->has & RRULE_BYMINUTE;
    if (hours && !minutes) {
        wall -= wall_mod(wall, 3600);
    } else if ((hours || minutes) && !(rule->has & RRULE_BYSECOND)) {
        wall -= wall_mod(wall, 60);
    }
    return (struct when){.is_utc = false, .s = wall};
}

static struct str when_text(struct when when, struct arena *arena)
{
    SCOPED(buf_fini) struct buf text = BUF_INIT(64);
    wall_write(&text, when.s);
    buf_c(&text, when.is_utc ? "Z" : "");
    return arena_str(arena, buf_view(&text));
}

static bool settle_start(struct schedule *schedule, const struct rrule *rule,
                         const struct zone *zone, int64_t now_ms, struct arena *arena,
                         struct err *err)
{
    struct when start;
    schedule->open_start = schedule->open_start || str_absent(schedule->dtstart);
    if (str_absent(schedule->dtstart)) {
        start = start_now(rule, zone, now_ms);
    } else if (!read_when(schedule->dtstart, "dtstart", &start, err)) {
        return false;
    }
    schedule->dtstart = when_text(start, arena);
    return true;
}

static bool settle_kind(struct schedule *schedule, struct err *err)
{
    bool rule = !str_absent(schedule->rrule), dates = schedule->rdates.count > 0;
    if (!rule && str_absent(schedule->dtstart)) {
        return err_field(err, "rrule", "rrule, cron or dtstart is required: when should it run?");
    }
    if (schedule->one_time && rule) {
        return err_field(err, "isOneTime", "isOneTime contradicts the rule: give dtstart alone");
    }
    schedule->one_time = !rule && !dates;
    return true;
}

bool schedule_settle(struct schedule *schedule, struct str cron, struct zones *zones,
                     int64_t now_ms, struct arena *arena, struct err *err)
{
    SCOPED(zone_release_at) const struct zone *zone = NULL;
    struct rrule rule = {0};
    SCOPED(plan_close) struct plan plan = {0};
    return (str_absent(cron) || read_cron(schedule, cron, arena, err)) &&
           settle_rule(schedule, &rule, arena, err) && get_zone(schedule, zones, &zone, err) &&
           settle_kind(schedule, err) && settle_start(schedule, &rule, zone, now_ms, arena, err) &&
           plan_open(schedule, zones, arena, &plan, err);
}

/* ---- Changing ---- */

static void skip_occurrence(struct schedule *schedule, int64_t occurrence_ms, struct arena *arena)
{
    size_t count = schedule->exdates.count;
    struct str *longer = arena_array(arena, struct str, count + 1);
    for (size_t i = 0; i < count; i++) {
        longer[i] = schedule->exdates.at[i];
    }
    longer[count] =
        when_text((struct when){.is_utc = true, .s = wall_div(occurrence_ms, SECOND_MS)}, arena);
    schedule->exdates = (struct form_texts){longer, count + 1};
}

bool schedule_change(struct schedule *schedule, const struct schedule_change *change,
                     struct zones *zones, int64_t now_ms, struct arena *arena, bool *retimed,
                     struct err *err)
{
    static const char *const timing[] = {"rrule",    "dtstart", "exdates", "rdates",
                                         "timezone", "dstGap",  "dstFold", "isOneTime"};
    struct schedule changed = *schedule;
    uint64_t rule = form_bit(&schedule_form, "rrule"), zone = form_bit(&schedule_form, "timezone");
    bool cron = !str_absent(change->cron), skips = change->skip_ms != 0 || change->skips_count > 0,
         times = cron || skips;
    changed.one_time = false; /* follows from the rest */
    form_apply(&schedule_form, change->given, &change->schedule, &changed);
    for (size_t i = 0; i < ARRAY_LEN(timing); i++) {
        times = times || form_given(&schedule_form, change->given, timing[i]);
    }
    if (cron && !(change->given & rule)) {
        changed.rrule = STR_NONE; /* the old one goes */
    }
    /* Where nobody said when to begin, another rule or zone begins now. */
    if (form_given(&schedule_form, change->given, "dtstart")) {
        changed.open_start = false;
    } else if (changed.open_start && (cron || change->given & (rule | zone))) {
        changed.dtstart = STR_NONE;
    }
    if (change->skip_ms != 0) {
        skip_occurrence(&changed, change->skip_ms, arena);
    }
    for (size_t i = 0; i < change->skips_count; i++) {
        skip_occurrence(&changed, change->skips_ms[i], arena);
    }
    if (!schedule_check(&changed, arena, err) ||
        !schedule_settle(&changed, change->cron, zones, now_ms, arena, err)) {
        return false;
    }
    *schedule = changed;
    *retimed = times;
    return true;
}

/* ---- Plans ---- */

bool plan_open_in(const struct schedule *schedule, const struct zone *zone, struct arena *arena,
                  struct plan *out, struct err *err)
{
    struct err why = ERR_INIT;
    struct recur_order *order = &out->order;
    *out = (struct plan){.zone = zone_keep(zone),
                         .order = {.gap = (enum recur_gap)schedule->gap,
                                   .fold = (enum recur_fold)schedule->fold,
                                   .exdates_count = schedule->exdates.count,
                                   .rdates_count = schedule->rdates.count}};
    bool rule = !str_absent(schedule->rrule);
    if ((rule && !read_rule(schedule->rrule, &out->rule, err)) ||
        !read_when(schedule->dtstart, "dtstart", &order->start, err) ||
        !read_dates(&schedule->exdates, "exdates", arena, &order->exdates, err) ||
        !read_dates(&schedule->rdates, "rdates", arena, &order->rdates, err)) {
        return false;
    }
    order->rule = rule ? &out->rule : NULL;
    order->zone = out->zone;
    return recur_new(order, &out->recur, &why) || err_field(err, "rrule", "rrule: %s", why.text);
}

bool plan_open(const struct schedule *schedule, struct zones *zones, struct arena *arena,
               struct plan *out, struct err *err)
{
    SCOPED(zone_release_at) const struct zone *zone = NULL;
    *out = (struct plan){0};
    return get_zone(schedule, zones, &zone, err) && plan_open_in(schedule, zone, arena, out, err);
}

void plan_close(struct plan *plan)
{
    recur_free(plan->recur);
    zone_release(plan->zone);
    *plan = (struct plan){0};
}

void plan_next(const struct plan *plan, struct schedule *schedule, int64_t horizon_ms,
               int64_t now_ms)
{
    schedule->zone_version = (int64_t)zone_version(plan->zone);
    schedule->wake_ms = 0;
    if (!recur_next(plan->recur, schedule->cursor_ms, &schedule->next_ms)) {
        schedule->next_ms = 0;
    } else if (schedule->next_ms + schedule_offset_ms(schedule) > now_ms + horizon_ms) {
        schedule->wake_ms = now_ms + horizon_ms;
    }
}

static bool refuse(struct err *err, const char *field, const char *text)
{
    err_field(err, field, "%s", text);
    if (err != NULL) {
        err->kind = ERR_REFUSED;
    }
    return false;
}

bool plan_begin(const struct plan *plan, struct schedule *schedule,
                const struct plan_limits *limits, int64_t now_ms, struct err *err)
{
    const char *field = str_absent(schedule->rrule) ? "dtstart" : "rrule";
    int64_t first;
    schedule->cursor_ms = now_ms;
    plan_next(plan, schedule, limits->horizon_ms, now_ms);
    if (schedule->next_ms == 0) {
        return recur_first(plan->recur, &first)
                   ? refuse(err, field, "the time is in the past: it never occurs again")
                   : refuse(err, field, "this never occurs");
    }
    if (schedule->one_time && schedule->next_ms < now_ms + limits->min_lead_ms) {
        return refuse(err, field, "the time is too near: it must be some seconds ahead");
    }
    return true;
}
