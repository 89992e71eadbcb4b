/* english/edit_days.c: edits that leave out dated occurrences, and those that pause until a time.
 *
 * SPDX-License-Identifier: MIT */
#include "english/edit_parts.h"
#include "time/bits.h"

#define SPANS_MAX 32
#define SKIPS_MAX 366

/* Days from one to another, both included. */
struct span {
    int64_t from, to;
};

struct spans {
    struct span at[SPANS_MAX];
    size_t count;
};

static bool is_whole_week(const struct said *said)
{
    return said->of_week != OF_NONE && said->weekdays == 0;
}

/* The day, week or month that is said. */
static bool span_of(struct edit *e, const struct said *said, struct span *out)
{
    struct resolver to = edit_resolver(e);
    struct resolved why = {.kind = ENGLISH_REFUSED};
    if (said->fault != FAULT_NONE || !resolve_day(&to, said, WALL_DAY_S - 1, &out->from, &why)) {
        return edit_refuse(e, "dtstart", STR("there is no such day ahead"));
    }
    bool month = said->of_month != OF_NONE && said->month_days == 0;
    struct amount length = {.days = month ? 0 : is_whole_week(said) ? 7 : 1, .months = month};
    if (said->is_weekend) {
        length.days = 2;
    }
    out->to = resolve_add(out->from, &length) - 1;
    return true;
}

/* ---- Days that are listed: "24 and 25 October", "from 26 to 30 October" ---- */

static bool joins_days(const struct tokens *t, size_t at)
{
    return token_is(t, at, WORD_TO) || token_is(t, at, WORD_DASH) || token_is(t, at, WORD_UNTIL) ||
           token_is(t, at, WORD_THROUGH);
}

/* One day or range at a token; the same place: none. */
static size_t one_span(struct edit *e, size_t at, struct said *last, struct span *out)
{
    struct said first, second;
    const struct tokens *t = &e->t;
    bool dated = last->dated;
    size_t to = phrase_listed_date(t, at, dated ? last : NULL, &first);
    if (to == at) {
        return at;
    }
    if (!span_of(e, &first, out)) {
        return to;
    }
    *last = first;
    bool between = at > 0 && token_is(t, at - 1, WORD_BETWEEN) && token_is(t, to, WORD_AND);
    if (joins_days(t, to) || between) {
        size_t end = phrase_listed_date(t, to + 1, &first, &second);
        struct span upto;
        if (end > to + 1 && span_of(e, &second, &upto) && upto.from >= out->from) {
            out->to = upto.from;
            *last = second;
            return end;
        }
    }
    return to;
}

static void find_spans(struct edit *e, struct spans *out)
{
    struct said last = said_nothing();
    for (size_t at = 0; at < e->t.count && out->count < SPANS_MAX && e->out->op != EDIT_REFUSED;) {
        struct span span;
        size_t to = one_span(e, at, &last, &span);
        if (to == at) {
            at++;
            bool joined = token_is(&e->t, at - 1, WORD_AND) || token_is(&e->t, at - 1, WORD_COMMA);
            last = joined ? last : said_nothing();
            continue;
        }
        out->at[out->count++] = span;
        at = to;
    }
}

bool edit_lists_days(const struct edit *e)
{
    for (size_t at = 0; at < e->t.count; at++) {
        struct said said;
        if (phrase_listed_date(&e->t, at, NULL, &said) > at) {
            return true;
        }
    }
    return false;
}

/* ---- Leaving out ---- */

static bool take_occurrences(struct edit *e, struct recur *recur, const struct span *span,
                             struct edit_change *change)
{
    struct zone_answer answer;
    zone_resolve(e->asked->zone, span->from * WALL_DAY_S, &answer);
    int64_t at_ms = MAX(answer.first_s * 1000 - 1, e->asked->now_ms);
    zone_resolve(e->asked->zone, (span->to + 1) * WALL_DAY_S, &answer);
    size_t before = change->skips_count;
    while (recur_next(recur, at_ms, &at_ms) && at_ms < answer.first_s * 1000) {
        if (change->skips_count == SKIPS_MAX) {
            return edit_refuse(e, "rrule", STR("that leaves out too many; pause it instead"));
        }
        change->skips_ms[change->skips_count++] = at_ms;
    }
    return change->skips_count > before ||
           edit_refuse(e, "dtstart", STR("it does not occur on that day"));
}

static bool is_skipped(const struct edit_change *change, int64_t at_ms)
{
    for (size_t i = 0; i < change->skips_count; i++) {
        if (change->skips_ms[i] == at_ms) {
            return true;
        }
    }
    return false;
}

bool edit_skip(struct edit *e, struct edit_change *change, enum edit_op *op)
{
    SCOPED(recur_free_at) struct recur *recur = NULL;
    const struct edit_schedule *s = &e->asked->schedules[change->which];
    struct recur_order order = {.rule = s->rule, .zone = e->asked->zone};
    struct spans spans = {.count = 0};
    order.start = (struct when){.is_utc = true, .s = wall_div(s->next_ms, 1000)};
    if (s->rule == NULL || !recur_new(&order, &recur, NULL)) {
        return edit_refuse(e, "scheduleId", STR("that schedule runs only once; cancel it instead"));
    }
    change->skips_ms = arena_array(e->arena, int64_t, SKIPS_MAX);
    find_spans(e, &spans);
    if (e->out->op == EDIT_REFUSED) {
        return false;
    }
    if (spans.count == 0 && e->has_instance) {
        if (!span_of(e, &e->instance, &spans.at[0])) {
            return false;
        }
        spans.count = 1;
    }
    for (size_t i = 0; i < spans.count; i++) {
        if (!take_occurrences(e, recur, &spans.at[i], change)) {
            return false;
        }
    }
    if (spans.count == 0) {
        change->skips_ms[change->skips_count++] = s->next_ms;
    }
    change->skip_ms = change->skips_ms[0];
    *op = change->skips_count == 1 && change->skip_ms == s->next_ms ? EDIT_SKIP_NEXT : EDIT_SKIP;
    for (change->next_ms = s->next_ms; is_skipped(change, change->next_ms);) {
        if (!recur_next(recur, change->next_ms, &change->next_ms)) {
            return edit_refuse(e, "rrule", STR("it has no other occurrence; cancel it instead"));
        }
    }
    return true;
}

/* ---- Pausing until ---- */

bool edit_is_pause_until(const struct edit *e)
{
    const struct said *said = &e->value;
    bool ends = (said->until != NULL && said->start == NULL) || said->has_lasting;
    bool resumes = e->verb == VERB_RESUME && e->has_value &&
                   (said->start != NULL || (said_has_day(said) && !said_recurs(said)));
    return resumes ||
           (ends && (e->verb == VERB_PAUSE || e->verb == VERB_CANCEL || e->verb == VERB_SKIP));
}

/* The moment before which nothing runs. */
static bool resume_at(struct edit *e, int64_t *at_ms)
{
    const struct said *said = &e->value;
    struct resolver to = edit_resolver(e);
    struct resolved why = {.kind = ENGLISH_REFUSED};
    struct zone_answer answer;
    int64_t day, wall_s;
    if (said->fault != FAULT_NONE) {
        return edit_refuse(e, "dtstart", STR("until when? That time is past, or not known"));
    }
    if (said->has_lasting) {
        if (said->lasting.vague) {
            return edit_refuse(e, "dtstart", STR("for how long? That is too vague"));
        }
        wall_s = resolve_add(to.today, &said->lasting) * WALL_DAY_S +
                 wall_mod(to.now_wall_s, WALL_DAY_S) + said->lasting.seconds;
    } else {
        struct said until = said->until != NULL   ? *said->until
                            : said->start != NULL ? *said->start
                                                  : *said;
        if (until.clocks_count > 0 && !said_has_day(&until)) {
            if (!resolve_once(&to, &until, &why)) {
                return edit_refuse(e, why.field, why.reason);
            }
            *at_ms = why.first_ms;
            return true;
        }
        if (!resolve_day(&to, &until, WALL_DAY_S - 1, &day, &why)) {
            return edit_refuse(e, why.field, why.reason);
        }
        int64_t time_s = 0;
        if (until.clocks_count > 0) {
            (void)resolve_clock(&until, &until.clocks[0], &time_s);
        }
        wall_s = day * WALL_DAY_S + time_s;
    }
    zone_resolve(to.zone, wall_s, &answer);
    *at_ms = answer.first_s * 1000;
    return true;
}

bool edit_pause(struct edit *e, struct edit_change *change)
{
    SCOPED(recur_free_at) struct recur *recur = NULL;
    const struct edit_schedule *s = &e->asked->schedules[change->which];
    struct recur_order order = {.rule = s->rule, .zone = e->asked->zone};
    order.start = (struct when){.is_utc = true, .s = wall_div(s->next_ms, 1000)};
    if (!resume_at(e, &change->resume_ms)) {
        return false;
    }
    if (change->resume_ms <= e->asked->now_ms) {
        return edit_refuse(e, "dtstart", STR("that time is in the past"));
    }
    if (s->rule == NULL || !recur_new(&order, &recur, NULL)) {
        return edit_refuse(e, "scheduleId", STR("that schedule runs only once; move it instead"));
    }
    change->next_ms = s->next_ms;
    if (s->next_ms < change->resume_ms &&
        !recur_next(recur, change->resume_ms - 1, &change->next_ms)) {
        return edit_refuse(e, "rrule", STR("it has ended by then; cancel it instead"));
    }
    return true;
}
