/* english/edit_apply.c: what becomes of a schedule that an edit means.
 *
 * The old rule is said again (struct said), what the sentence says replaces its part of that, and
 * the same resolver as for a new sentence makes the new rule of it.
 *
 * SPDX-License-Identifier: MIT */
#include "english/edit_parts.h"
#include "time/bits.h"
#include "wire/time.h"

#define MONTH_DAY_SURE 28 /* every month has it */

struct resolver edit_resolver(const struct edit *e)
{
    const struct edit_asked *asked = e->asked;
    const struct zone *zone = e->named != NULL ? e->named : asked->zone;
    struct resolver to = {.now_ms = asked->now_ms,
                          .now_wall_s = zone_wall(zone, wall_div(asked->now_ms, 1000)),
                          .zone = zone,
                          .min_lead_ms = asked->min_lead_ms,
                          .arena = e->arena,
                          .default_s = RESOLVE_DEFAULT_S};
    to.today = wall_div(to.now_wall_s, WALL_DAY_S);
    return to;
}

int64_t edit_next_wall(const struct edit *e, const struct edit_schedule *s)
{
    return zone_wall(e->asked->zone, wall_div(s->next_ms, 1000));
}

/* ---- The old rule, said again ---- */

static void say_times(const struct rrule *rule, struct said *said)
{
    unsigned all =
        (unsigned)(__builtin_popcount(rule->hours) * __builtin_popcountll(rule->minutes));
    if (rule->freq < RRULE_DAILY) {
        said->minutes = rule->has & RRULE_BYMINUTE ? rule->minutes : 0;
        return;
    }
    if (all > SAID_CLOCKS_MAX || rule->has & RRULE_BYSETPOS) {
        said->hours = rule->hours;
        said->minutes = rule->minutes;
        return;
    }
    for (uint64_t h = rule->hours; h != 0; h &= h - 1) {
        for (uint64_t m = rule->minutes; m != 0; m &= m - 1) {
            said->clocks[said->clocks_count++] =
                (struct day_time){.hour = (int)bits_first(h), .minute = (int)bits_first(m)};
        }
    }
}

static void say_days(const struct rrule *rule, struct said *said)
{
    bool set = rule->has & RRULE_BYSETPOS && rule->freq >= RRULE_MONTHLY;
    *(set ? &said->set_days : &said->weekdays) = rule->has & RRULE_BYDAY ? rule->weekdays : 0;
    for (size_t i = 0; i < 7; i++) {
        said->nth[i] = (uint32_t)rule->nth[i];
        said->nth_last[i] = (uint32_t)rule->nth_last[i];
    }
    if (set) {
        said->set_nth = (uint32_t)rule->positions[0];
        said->set_nth_last = (uint32_t)rule->positions_last[0];
    } else if (rule->has & RRULE_BYSETPOS) {
        memcpy(said->only, rule->positions, sizeof said->only);
        said->has_only = true;
    }
    said->month_days = rule->has & RRULE_BYMONTHDAY ? rule->month_days : 0;
    said->month_days_last = rule->has & RRULE_BYMONTHDAY ? rule->month_days_last : 0;
    said->months = rule->has & RRULE_BYMONTH ? rule->months : 0;
}

static bool can_be_said(const struct rrule *rule)
{
    return !(rule->has & (RRULE_BYYEARDAY | RRULE_BYWEEKNO)) && rule->wkst == 0;
}

static struct said say(const struct edit *e, const struct edit_schedule *s)
{
    struct said said = said_nothing();
    struct rrule rule = *s->rule;
    rrule_fill(&rule, edit_next_wall(e, s));
    said.every = true;
    said.unit = (int)rule.freq;
    said.interval = (int)MIN(rule.interval, INT32_MAX);
    say_days(&rule, &said);
    say_times(&rule, &said);
    return said;
}

/* ---- What replaces what ---- */

static void forget_days(struct said *said)
{
    said->weekdays = said->set_days = 0;
    said->set_nth = said->set_nth_last = said->month_days = said->month_days_last = 0;
    said->has_only = false;
    memset(said->nth, 0, sizeof said->nth);
    memset(said->nth_last, 0, sizeof said->nth_last);
}

static bool names_days(const struct said *said)
{
    uint32_t any = said->weekdays | said->month_days | said->month_days_last | said->set_days;
    for (size_t i = 0; i < 7; i++) {
        any |= said->nth[i] | said->nth_last[i];
    }
    return any != 0;
}

static bool names_month_days(const struct said *said)
{
    return names_days(said) && said->weekdays == 0;
}

/* The unit that new days imply: those of a week or of a month. */
static int unit_for(const struct said *old, const struct said *new)
{
    if (new->unit != UNIT_NONE) {
        return new->unit;
    }
    if (names_month_days(new)) {
        return old->unit == UNIT_YEAR || new->months != 0 ? UNIT_YEAR : UNIT_MONTH;
    }
    return names_days(new) ? UNIT_WEEK : old->unit;
}

static void replace_days(struct said *said, const struct said *new)
{
    int unit = unit_for(said, new);
    bool same_unit = unit == said->unit;
    /* "every week" of a weekly rule keeps its days; a new unit or new days do not. */
    if (names_days(new) || !same_unit) {
        forget_days(said);
    }
    if (new->unit != UNIT_NONE || !same_unit) {
        said->interval = new->interval;
        said->months =
            unit == UNIT_YEAR && names_month_days(new) && new->months == 0 ? said->months : 0;
    }
    said->unit = unit;
    said->weekdays |= new->weekdays;
    said->set_days |= new->set_days;
    said->set_nth |= new->set_nth;
    said->set_nth_last |= new->set_nth_last;
    said->month_days |= new->month_days;
    said->month_days_last |= new->month_days_last;
    said->months = new->months != 0 ? new->months : said->months;
    for (size_t i = 0; i < 7; i++) {
        said->nth[i] |= new->nth[i];
        said->nth_last[i] |= new->nth_last[i];
    }
    said->except_weekdays = new->except_weekdays;
    said->except_months = new->except_months;
    said->of_quarter = new->of_quarter;
}

static void replace_times(struct said *said, const struct said *new)
{
    if (new->unit <= UNIT_HOUR) { /* what now steps by the clock has no times of the day */
        said->clocks_count = 0;
        said->hours = 0;
        said->minutes = 0;
    }
    if (!said_has_time(new) && new->minutes == 0) {
        return;
    }
    said->clocks_count = new->clocks_count;
    memcpy(said->clocks, new->clocks, sizeof said->clocks);
    said->hours = 0;
    said->minutes = new->minutes;
    said->parts = new->parts;
    said->has_window = new->has_window;
    said->from = new->from;
    said->to = new->to;
    said->has_only = false;
}

/* A date given to a series: its day of the week or of the month. */
static void spread_date(const struct edit *e, const struct said *old, struct said *new)
{
    struct resolver to = edit_resolver(e);
    struct resolved out = {.kind = ENGLISH_REFUSED};
    int64_t day;
    bool single = new->has_offset || new->has_in || new->is_weekend || new->of_week != OF_NONE ||
                  (new->dated && old->unit < UNIT_MONTH);
    if (new->dated && old->unit == UNIT_MONTH) {
        new->months = 0;
    }
    new->which = OF_NONE;
    if (!single || names_days(new) > new->dated || !resolve_day(&to, new, 0, &day, &out)) {
        return;
    }
    new->has_offset = new->has_in = new->is_weekend = false;
    new->of_week = OF_NONE;
    if (old->unit == UNIT_WEEK) {
        new->month_days = 0;
        new->months = 0;
        new->weekdays = 1u << wall_weekday(day);
    } else if (old->unit == UNIT_MONTH) {
        int64_t year;
        unsigned month, of_month;
        time_date_of(day, &year, &month, &of_month);
        new->month_days = (uint32_t)1 << of_month;
    }
}

/* ---- Adding and taking away ---- */

static bool change_weekdays(struct edit *e, struct said *said, bool away)
{
    unsigned days = e->value.weekdays | e->value.except_weekdays;
    if (said->unit == UNIT_DAY && said->interval == 1) {
        said->weekdays = said->weekdays == 0 ? SAID_ALL_DAYS : said->weekdays;
        said->unit = UNIT_WEEK;
    }
    if (said->unit != UNIT_WEEK) {
        return edit_refuse(e, "rrule", STR("that schedule is not one of weekdays"));
    }
    unsigned now = away ? said->weekdays & ~days : said->weekdays | days;
    if (now == 0 || now == said->weekdays) {
        return edit_refuse(e, "rrule", STR("that would change nothing, or leave no day"));
    }
    said->weekdays = now;
    return true;
}

static bool change_month_days(struct edit *e, struct said *said, bool away)
{
    uint32_t days = e->value.month_days, last = e->value.month_days_last;
    said->month_days = away ? said->month_days & ~days : said->month_days | days;
    said->month_days_last = away ? said->month_days_last & ~last : said->month_days_last | last;
    return said->unit >= UNIT_MONTH && (said->month_days | said->month_days_last) != 0
               ? true
               : edit_refuse(e, "rrule", STR("that would leave no day"));
}

static bool change_times(struct edit *e, struct said *said, bool away)
{
    unsigned kept = 0;
    int64_t had, given;
    for (unsigned i = 0; away && i < said->clocks_count; i++) {
        (void)resolve_clock(said, &said->clocks[i], &had);
        (void)resolve_clock(&e->value, &e->value.clocks[0], &given);
        if (had != given) {
            said->clocks[kept++] = said->clocks[i];
        }
    }
    if (away) {
        said->clocks_count = kept;
        return kept > 0 || edit_refuse(e, "rrule", STR("that would leave no time"));
    }
    if (said->clocks_count >= SAID_CLOCKS_MAX || e->value.clocks_count != 1) {
        return edit_refuse(e, "rrule", STR("one more time at once, please"));
    }
    said->clocks[said->clocks_count++] = e->value.clocks[0];
    return true;
}

static bool add_or_take(struct edit *e, struct said *said, bool away)
{
    if ((e->value.weekdays | e->value.except_weekdays) != 0) {
        return change_weekdays(e, said, away);
    }
    if ((e->value.month_days | e->value.month_days_last) != 0) {
        return change_month_days(e, said, away);
    }
    if (e->value.clocks_count > 0) {
        return change_times(e, said, away);
    }
    return edit_refuse(e, "rrule", STR("it does not say which day or time"));
}

/* ---- Earlier and later ---- */

static unsigned turn(unsigned weekdays, int64_t days)
{
    unsigned turned = 0;
    for (unsigned i = 0; i < 7; i++) {
        turned |= weekdays >> i & 1 ? 1u << wall_mod((int64_t)i + days, 7) : 0;
    }
    return turned;
}

static bool shift_days(struct edit *e, struct said *said, int64_t days)
{
    if (days == 0 || said->unit == UNIT_DAY) {
        return true;
    }
    if (said->unit == UNIT_WEEK) {
        said->weekdays = turn(said->weekdays, days);
        return true;
    }
    uint32_t moved = 0;
    for (uint32_t set = said->month_days; set != 0; set &= set - 1) {
        int64_t day = (int64_t)bits_first(set) + days;
        if (day < 1 || day > MONTH_DAY_SURE) {
            return edit_refuse(e, "rrule", STR("name the new day, please"));
        }
        moved |= (uint32_t)1 << day;
    }
    said->month_days = moved;
    return moved != 0 || edit_refuse(e, "rrule", STR("name the new day, please"));
}

static bool shift_series(struct edit *e, struct said *said)
{
    int64_t by = e->shift.seconds * e->shift_sign, days = (int64_t)e->shift.days * e->shift_sign;
    int64_t carry = 0;
    if (e->shift.vague || e->shift.months != 0 || said->unit <= UNIT_HOUR ||
        (said->unit == UNIT_DAY && days != 0)) {
        return edit_refuse(e, "rrule", STR("name the new time, please"));
    }
    for (unsigned i = 0; i < said->clocks_count; i++) {
        int64_t at;
        (void)resolve_clock(said, &said->clocks[i], &at);
        carry = wall_div(at + by, WALL_DAY_S);
        at = wall_mod(at + by, WALL_DAY_S);
        said->clocks[i] = (struct day_time){
            .hour = (int)(at / 3600), .minute = (int)(at / 60 % 60), .second = (int)(at % 60)};
    }
    return shift_days(e, said, days + carry);
}

/* ---- The series ---- */

/* An interval that stays counts on from where it stood. */
static void keep_rhythm(const struct edit *e, const struct edit_schedule *s, struct resolved *out)
{
    SCOPED(recur_free_at) struct recur *recur = NULL;
    struct resolver to = edit_resolver(e);
    struct amount back = {.unit = UNIT_NONE};
    int64_t day = wall_div(edit_next_wall(e, s), WALL_DAY_S), first_ms;
    int n = -(int)MIN(out->rule.interval, 10000);
    back.days = out->rule.freq == RRULE_DAILY ? n : out->rule.freq == RRULE_WEEKLY ? 7 * n : 0;
    back.months = out->rule.freq == RRULE_MONTHLY ? n : out->rule.freq == RRULE_YEARLY ? 12 * n : 0;
    struct recur_order order = {.rule = &out->rule, .zone = e->asked->zone};
    order.start.s = resolve_add(day, &back) * WALL_DAY_S;
    if (recur_new(&order, &recur, NULL) && recur_next(recur, e->asked->now_ms, &first_ms)) {
        out->first_ms = first_ms;
        resolve_start(&to, &out->rule, out);
    }
}

static bool take_resolved(struct edit *e, const struct resolved *from, struct edit_change *change)
{
    SCOPED(buf_fini) struct buf rule = BUF_INIT(RRULE_TEXT_MAX), start = BUF_INIT(64);
    if (from->kind == ENGLISH_REFUSED) {
        return edit_refuse(e, from->field, from->reason);
    }
    change->is_recurring = from->kind == ENGLISH_RECURRING;
    change->start = from->start;
    change->next_ms = from->first_ms;
    wall_write(&start, from->start.s);
    buf_c(&start, from->start.is_utc ? "Z" : "");
    change->dtstart = arena_str(e->arena, buf_view(&start));
    if (change->is_recurring) {
        change->rule = from->rule;
        rrule_write(&rule, &from->rule);
        change->rrule = arena_str(e->arena, buf_view(&rule));
    }
    return true;
}

static void keep_end(const struct rrule *old, const struct said *new, struct rrule *rule)
{
    if (new->until == NULL && !new->has_lasting &&new->count == 0) {
        rule->count = old->count;
        rule->until = old->until;
        rule->until_s = old->until_s;
    }
}

/* "Tuesday instead of Monday": that day alone, or that time. */
static bool replace_one(struct edit *e, struct said *said)
{
    const struct said *old = &e->replaced, *new = &e->value;
    bool days = old->weekdays != 0 && new->weekdays != 0;
    if (days && said->unit == UNIT_WEEK && (said->weekdays & old->weekdays) == old->weekdays) {
        said->weekdays = (said->weekdays & ~old->weekdays) | new->weekdays;
        if (new->clocks_count > 0) {
            replace_times(said, new);
        }
        return true;
    }
    int64_t had, gone;
    for (unsigned i = 0; i < said->clocks_count && old->clocks_count > 0 && new->clocks_count > 0;
         i++) {
        (void)resolve_clock(said, &said->clocks[i], &had);
        (void)resolve_clock(old, &old->clocks[0], &gone);
        if (had == gone) {
            said->clocks[i] = new->clocks[0];
            return true;
        }
    }
    return edit_refuse(e, "rrule", STR("it has no such day or time to be changed"));
}

/* "start it in November", "end it on 30 November": where the value goes. */
static void place_value(const struct edit *e, struct said *new)
{
    bool day = said_has_day(new) && !said_recurs(new);
    if (e->verb == VERB_START && day && new->start == NULL) {
        struct said from = *new;
        *new = said_nothing();
        from.clocks_count = 0;
        new->start = phrase_keep(&e->t, &from);
        new->clocks_count = e->value.clocks_count;
        memcpy(new->clocks, e->value.clocks, sizeof new->clocks);
    } else if (e->verb == VERB_END && day && new->until == NULL) {
        const struct said *until = phrase_keep(&e->t, new);
        *new = said_nothing();
        new->until = until;
    }
}

static bool changes_something(struct edit *e, const struct edit_schedule *s,
                              const struct edit_change *change, bool starts)
{
    SCOPED(buf_fini) struct buf old = BUF_INIT(RRULE_TEXT_MAX);
    rrule_write(&old, s->rule);
    bool same = str_eq(buf_view(&old), change->rrule) && change->next_ms == s->next_ms;
    return !same || starts || e->zone != NULL ||
           edit_refuse(e, "text", STR("that changes nothing: it is so already"));
}

static bool apply_series(struct edit *e, const struct edit_schedule *s, struct edit_change *change)
{
    struct resolver to = edit_resolver(e);
    struct resolved out;
    struct said said = say(e, s), new = e->value;
    place_value(e, &new);
    bool away = e->from_name || (e->not_more && e->value.plural);
    if (!can_be_said(s->rule)) {
        return edit_refuse(e, "rrule", STR("that rule is too special to be changed in words"));
    }
    if (e->has_replaced) {
        if (!replace_one(e, &said)) {
            return false;
        }
    } else if (away || e->verb == VERB_ADD) {
        if (!add_or_take(e, &said, away)) {
            return false;
        }
    } else if (e->has_shift) {
        if (!shift_series(e, &said)) {
            return false;
        }
    } else {
        spread_date(e, &said, &new);
        replace_days(&said, &new);
        replace_times(&said, &new);
    }
    said.fault = new.fault;
    said.start = new.start;
    said.until = new.until;
    said.through = new.through;
    said.has_lasting = new.has_lasting;
    said.lasting = new.lasting;
    said.count = new.count;
    resolve(&to, &said, &out);
    bool same_rhythm = new.unit == UNIT_NONE && (int)s->rule->freq == said.unit;
    if (out.kind == ENGLISH_RECURRING) {
        keep_end(s->rule, &new, &out.rule);
        if (same_rhythm && out.rule.interval > 1 && out.rule.freq >= RRULE_DAILY &&
            new.start == NULL) {
            keep_rhythm(e, s, &out);
        }
    }
    return take_resolved(e, &out, change) && changes_something(e, s, change, new.start != NULL);
}

/* ---- Once ---- */

static bool shift_once(struct edit *e, const struct edit_schedule *s, struct edit_change *change)
{
    struct resolver to = edit_resolver(e);
    struct resolved out = {.kind = ENGLISH_ONCE};
    struct amount by = {.months = e->shift.months * e->shift_sign,
                        .days = e->shift.days * e->shift_sign};
    int64_t wall_s = edit_next_wall(e, s);
    struct zone_answer answer;
    wall_s =
        resolve_add(wall_div(wall_s, WALL_DAY_S), &by) * WALL_DAY_S + wall_mod(wall_s, WALL_DAY_S);
    zone_resolve(to.zone, wall_s, &answer);
    out.first_ms = (answer.first_s + e->shift.seconds * e->shift_sign) * 1000;
    if (e->shift.vague || out.first_ms <= to.now_ms || wall_s > WALL_MAX_S - WALL_DAY_S) {
        return edit_refuse(e, "dtstart", STR("that time is in the past, or too vague"));
    }
    resolve_start(&to, NULL, &out);
    return take_resolved(e, &out, change);
}

static bool apply_once(struct edit *e, const struct edit_schedule *s, struct edit_change *change)
{
    struct resolver to = edit_resolver(e);
    struct resolved out;
    struct said new = e->value;
    int64_t wall_s = edit_next_wall(e, s);
    if (e->has_shift) {
        return shift_once(e, s, change);
    }
    to.default_s = (int)wall_mod(wall_s, WALL_DAY_S);
    if (new.until != NULL && !said_has_day(&new)) { /* postpone it until Friday */
        (void)said_add(&new, new.until);
        new.until = NULL;
    }
    if (!said_has_day(&new) && !said_recurs(&new)) { /* its day stays */
        new.has_offset = true;
        new.offset = (int)(wall_div(wall_s, WALL_DAY_S) - to.today);
    }
    resolve(&to, &new, &out);
    return take_resolved(e, &out, change);
}

bool edit_apply(struct edit *e, struct edit_change *change)
{
    const struct edit_schedule *s = &e->asked->schedules[change->which];
    if (!e->has_value && !e->has_shift && e->zone == NULL) {
        return edit_refuse(e, "text", STR("to what? Say the new time"));
    }
    change->zone = e->zone == NULL ? STR_NONE : str_of(e->zone);
    return s->rule == NULL ? apply_once(e, s, change) : apply_series(e, s, change);
}
