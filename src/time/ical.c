/* time/ical.c: the calendar and its events. See ical.h; zones are written in ical_zone.c.
 *
 * Thread: any.
 *
 * SPDX-License-Identifier: MIT */
#include "time/ical.h"

#include "base/mem.h"
#include "time/ical_line.h"

#define YEAR_S          ((int64_t)31556952)
#define BACK_S          YEAR_S
#define AHEAD_S         (10 * YEAR_S)
#define CORRECTIONS_MAX 1000 /* EXDATEs and RDATEs for the changes of the clocks, of one event */

/* An event as it will be written. */
struct plan {
    const struct ical_event *event;
    const struct zone *zone;
    bool never;
    bool in_utc;     /* else on the wall of the zone */
    int64_t first_s; /* DTSTART: UTC or wall */
    int64_t from_s;  /* the same as an instant, about */
    bool has_rule;
    struct rrule rule; /* as it is written */
};

/* ---- Where an event begins, and its rule ---- */

static bool first_of(const struct recur_order *order, bool *any, int64_t *out_s, struct err *err)
{
    SCOPED(recur_free_at) struct recur *recur = NULL;
    int64_t ms = 0;
    if (!recur_new(order, &recur, err)) {
        return false;
    }
    *any = recur_first(recur, &ms);
    *out_s = wall_div(ms, 1000);
    return true;
}

static int64_t start_wall(const struct plan *plan)
{
    struct when start = plan->event->when.start;
    return start.is_utc ? zone_wall(plan->zone, start.s) : start.s;
}

/* The wall time that the rule means. An instant would not tell it: what lies in a gap is shifted
 * that day only. */
static bool first_on_wall(struct plan *plan, struct err *err)
{
    struct rrule rule = plan->rule;
    struct recur_order floating = {.start = {.s = start_wall(plan)}, .rule = &rule};
    rule.count = 0;
    rule.until = RRULE_ENDLESS;
    return first_of(&floating, &plan->has_rule, &plan->first_s, err);
}

static bool place_rule(struct plan *plan, struct err *err)
{
    struct recur_order order = plan->event->when;
    order.exdates_count = order.rdates_count = 0;
    if (!first_of(&order, &plan->has_rule, &plan->first_s, err)) {
        return false;
    }
    if (plan->has_rule && plan->rule.freq >= RRULE_DAILY) {
        return first_on_wall(plan, err);
    }
    plan->in_utc |= plan->rule.has == 0;
    plan->first_s = plan->in_utc ? plan->first_s : zone_wall(plan->zone, plan->first_s);
    return true;
}

/* On the wall if the wall means that instant, else in UTC. */
static void place_instant(struct plan *plan, int64_t utc_s)
{
    struct zone_answer answer;
    int64_t wall_s = zone_wall(plan->zone, utc_s);
    zone_resolve(plan->zone, wall_s, &answer);
    plan->in_utc |= answer.first_s != utc_s;
    plan->first_s = plan->in_utc ? utc_s : wall_s;
}

/* RFC 5545 wants UNTIL in UTC, of every event whose start is not floating. */
static void place_until(struct plan *plan)
{
    struct zone_answer answer;
    if (plan->rule.until != RRULE_ENDLESS && plan->rule.until != RRULE_UNTIL_UTC) {
        zone_resolve(plan->zone, plan->rule.until_s, &answer);
        plan->rule.until_s = answer.kind == ZONE_FOLD ? answer.second_s : answer.first_s;
        plan->rule.until = RRULE_UNTIL_UTC;
    }
}

static bool has_choices(const struct plan *plan)
{
    const struct recur_order *when = &plan->event->when;
    return plan->has_rule && !plan->in_utc && plan->rule.freq >= RRULE_DAILY &&
           (when->gap != RECUR_SHIFT || when->fold != RECUR_FIRST);
}

/* What is left out or doubled changes what COUNT counts: then the end is told by its time. */
static bool place_count(struct plan *plan, struct err *err)
{
    SCOPED(recur_free_at) struct recur *recur = NULL;
    struct recur_order order = plan->event->when;
    int64_t ms = 0;
    order.exdates_count = order.rdates_count = 0;
    if (plan->rule.count == 0 || !has_choices(plan)) {
        return true;
    }
    if (!recur_new(&order, &recur, err)) {
        return false;
    }
    if (recur_last(recur, INT64_MIN, WALL_MAX_S * 1000, &ms)) {
        plan->rule.count = 0;
        plan->rule.until = RRULE_UNTIL_UTC;
        plan->rule.until_s = wall_div(ms, 1000);
    }
    return true;
}

static void note_from(struct plan *plan)
{
    struct zone_answer answer = {.first_s = plan->first_s};
    if (!plan->in_utc) {
        zone_resolve(plan->zone, plan->first_s, &answer);
    }
    plan->from_s = answer.first_s;
}

static bool plan_event(struct plan *plan, const struct ical_event *event, struct err *err)
{
    bool any = false;
    int64_t first_s = 0;
    const struct zone *zone = event->when.zone == NULL ? zone_utc() : event->when.zone;
    *plan = (struct plan){.event = event, .zone = zone};
    plan->in_utc = zone_offset_min(zone) == 0 && zone_offset_max(zone) == 0;
    if (!first_of(&event->when, &any, &first_s, err)) {
        return false;
    }
    plan->never = !any;
    if (event->when.rule != NULL) {
        plan->rule = *event->when.rule;
        if (!place_rule(plan, err)) {
            return false;
        }
        place_until(plan);
    }
    if (!plan->has_rule) { /* once, or its RDATEs alone */
        place_instant(plan, first_s);
    }
    note_from(plan);
    return place_count(plan, err);
}

/* ---- Dates ---- */

static void write_instant(struct ical_out *o, const struct plan *plan, const char *name,
                          int64_t utc_s)
{
    struct zone_answer answer;
    int64_t wall_s = zone_wall(plan->zone, utc_s);
    zone_resolve(plan->zone, wall_s, &answer);
    if (plan->in_utc || answer.first_s != utc_s) {
        ical_utc_line(o, name, utc_s);
    } else {
        ical_wall_line(o, name, plan->zone, wall_s);
    }
}

/* A wall time is written as it was given, because that is what readers compare. */
static void write_wall(struct ical_out *o, const struct plan *plan, const char *name,
                       int64_t wall_s)
{
    enum recur_fold fold = plan->event->when.fold;
    struct zone_answer answer;
    zone_resolve(plan->zone, wall_s, &answer);
    bool twice = answer.kind == ZONE_FOLD;
    if (!twice || fold != RECUR_LAST) {
        if (plan->in_utc) {
            ical_utc_line(o, name, answer.first_s);
        } else {
            ical_wall_line(o, name, plan->zone, wall_s);
        }
    }
    if (twice && fold != RECUR_FIRST) {
        ical_utc_line(o, name, answer.second_s);
    }
}

static bool is_skipped(const struct plan *plan, struct when date)
{
    struct zone_answer answer = {.kind = ZONE_UNIQUE};
    if (!date.is_utc) {
        zone_resolve(plan->zone, date.s, &answer);
    }
    return answer.kind == ZONE_GAP && plan->event->when.gap == RECUR_SKIP;
}

static void write_date(struct ical_out *o, const struct plan *plan, const char *name,
                       struct when date)
{
    if (date.is_utc) {
        write_instant(o, plan, name, date.s);
    } else {
        write_wall(o, plan, name, date.s);
    }
}

static void write_dates(struct ical_out *o, const struct plan *plan)
{
    const struct recur_order *when = &plan->event->when;
    for (size_t i = 0; i < when->exdates_count; i++) {
        write_date(o, plan, "EXDATE", when->exdates[i]);
    }
    for (size_t i = 0; i < when->rdates_count; i++) {
        if (!is_skipped(plan, when->rdates[i])) {
            write_date(o, plan, "RDATE", when->rdates[i]);
        }
    }
}

/* ---- Choices for gaps and folds that readers do not know ---- */

struct choices {
    struct recur *chosen, *usual;
    size_t written;
};

/* One that readers would find and we do not, or the other way round. */
static void write_difference(struct ical_out *o, const struct plan *plan,
                             const struct zone_span *span, int64_t utc_s, bool usual)
{
    bool gap = utc_s >= span->from_s && span->before_s < span->offset_s;
    if (usual && gap) {
        ical_wall_line(o, "EXDATE", plan->zone, utc_s + span->before_s);
    } else {
        write_instant(o, plan, usual ? "EXDATE" : "RDATE", utc_s);
    }
}

/* Walks both around one change of the clocks: as long as it is, before it and after it. */
static void compare_around(struct ical_out *o, const struct plan *plan,
                           const struct zone_span *span, struct choices *choices)
{
    int64_t length_s = span->offset_s > span->before_s ? span->offset_s - span->before_s
                                                       : span->before_s - span->offset_s;
    int64_t end_ms = (span->from_s + length_s) * 1000;
    for (int64_t at_ms = (span->from_s - length_s) * 1000 - 1;
         choices->written < CORRECTIONS_MAX;) {
        int64_t chosen_ms = INT64_MAX, usual_ms = INT64_MAX;
        bool any_chosen = recur_next(choices->chosen, at_ms, &chosen_ms);
        bool any_usual = recur_next(choices->usual, at_ms, &usual_ms);
        chosen_ms = any_chosen ? chosen_ms : INT64_MAX;
        usual_ms = any_usual ? usual_ms : INT64_MAX;
        at_ms = MIN(chosen_ms, usual_ms);
        if (at_ms >= end_ms) {
            return;
        }
        if (chosen_ms != usual_ms) {
            write_difference(o, plan, span, wall_div(at_ms, 1000), usual_ms == at_ms);
            choices->written++;
        }
    }
}

static bool write_choices(struct ical_out *o, const struct plan *plan, int64_t to_s,
                          struct err *err)
{
    SCOPED(recur_free_at) struct recur *chosen = NULL;
    SCOPED(recur_free_at) struct recur *usual = NULL;
    struct rrule rule = plan->rule;
    struct recur_order order = plan->event->when;
    struct zone_span span;
    if (!has_choices(plan)) {
        return true;
    }
    order.rule = &rule; /* with its end told by a time */
    order.exdates_count = order.rdates_count = 0;
    if (!recur_new(&order, &chosen, err)) {
        return false;
    }
    order.gap = RECUR_SHIFT;
    order.fold = RECUR_FIRST;
    if (!recur_new(&order, &usual, err)) {
        return false;
    }
    struct choices choices = {chosen, usual, 0};
    zone_span_at(plan->zone, plan->from_s - WALL_DAY_S, &span);
    while (span.to_s <= to_s) {
        zone_span_at(plan->zone, span.to_s, &span);
        compare_around(o, plan, &span, &choices);
    }
    return true;
}

/* ---- Events ---- */

static void write_start(struct ical_out *o, const struct plan *plan)
{
    if (plan->in_utc) {
        ical_utc_line(o, "DTSTART", plan->first_s);
    } else {
        ical_wall_line(o, "DTSTART", plan->zone, plan->first_s);
    }
    if (plan->has_rule) {
        buf_c(&o->line, "RRULE:");
        rrule_write(&o->line, &plan->rule);
        ical_end_line(o);
    }
}

static void write_stamp(struct ical_out *o, const char *name, int64_t ms)
{
    if (ms != 0) {
        ical_utc_line(o, name, wall_div(ms, 1000));
    }
}

/* It is a moment, without a length, and keeps nobody busy. */
static bool write_event(struct ical_out *o, const struct plan *plan, int64_t now_ms,
                        struct err *err)
{
    static const char *const status[] = {"CONFIRMED", "TENTATIVE", "CANCELLED"};
    const struct ical_event *event = plan->event;
    int64_t to_s = MAX(plan->from_s, now_ms / 1000) + AHEAD_S;
    ical_line(o, "BEGIN:VEVENT");
    ical_text_line(o, "UID", event->uid);
    ical_utc_line(o, "DTSTAMP", wall_div(now_ms, 1000));
    write_start(o, plan);
    write_dates(o, plan);
    if (!write_choices(o, plan, to_s, err)) {
        return false;
    }
    ical_text_line(o, "SUMMARY", event->title);
    ical_text_line(o, "DESCRIPTION", event->description);
    ical_line(o, "STATUS:%s", status[event->status]);
    ical_line(o, "TRANSP:TRANSPARENT");
    write_stamp(o, "CREATED", event->created_ms);
    write_stamp(o, "LAST-MODIFIED", event->updated_ms);
    ical_line(o, "END:VEVENT");
    return true;
}

/* ---- The calendar ---- */

static bool needs_zone(const struct plan *plan)
{
    return !plan->never && !plan->in_utc;
}

/* The zone of plans[i] for all who need it, unless an earlier one did. */
static void write_zone(struct ical_out *o, const struct plan *plans, size_t count, size_t i,
                       int64_t now_s)
{
    const char *name = zone_name(plans[i].zone);
    int64_t from_s = plans[i].from_s, to_s = MAX(from_s, now_s);
    for (size_t j = 0; j < count; j++) {
        if (!needs_zone(&plans[j]) || strcmp(zone_name(plans[j].zone), name) != 0) {
            continue;
        }
        if (j < i) {
            return;
        }
        from_s = MIN(from_s, plans[j].from_s);
        to_s = MAX(to_s, plans[j].from_s);
    }
    ical_zone(o, plans[i].zone, from_s - BACK_S, to_s + AHEAD_S);
}

static bool write_calendar(struct ical_out *o, const struct ical *calendar,
                           const struct plan *plans, struct err *err)
{
    ical_line(o, "BEGIN:VCALENDAR");
    ical_line(o, "VERSION:2.0");
    ical_line(o, "PRODID:-//Errand//Errand//EN");
    ical_line(o, "CALSCALE:GREGORIAN");
    ical_text_line(o, "X-WR-CALNAME", calendar->name);
    for (size_t i = 0; i < calendar->count; i++) {
        if (needs_zone(&plans[i])) {
            write_zone(o, plans, calendar->count, i, wall_div(calendar->now_ms, 1000));
        }
    }
    for (size_t i = 0; i < calendar->count; i++) {
        if (!plans[i].never && !write_event(o, &plans[i], calendar->now_ms, err)) {
            return false;
        }
    }
    ical_line(o, "END:VCALENDAR");
    return true;
}

bool ical_write(struct buf *out, const struct ical *calendar, struct err *err)
{
    SCOPED(mem_free_at)
    struct plan *plans = mem_array(NULL, calendar->count + 1, sizeof *plans);
    struct ical_out o = {.out = out, .line = BUF_INIT(out->max)};
    bool ok = true;
    for (size_t i = 0; ok && i < calendar->count; i++) {
        ok = plan_event(&plans[i], &calendar->events[i], err);
    }
    ok = ok && write_calendar(&o, calendar, plans, err);
    buf_fini(&o.line);
    if (ok && out->full) {
        return err_set(err, ERR_TOO_LARGE, "the calendar has more than %zu bytes", out->max);
    }
    return ok || err_wrap(err, "write a calendar");
}
