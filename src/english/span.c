/* english/span.c: phrases for from when, until when, how long, what not; and those from
 * which nothing can be scheduled.
 *
 * SPDX-License-Identifier: MIT */
#include "english/phrase.h"
#include "time/bits.h"

static size_t year_alone(const struct tokens *t, size_t at, struct said *out)
{
    if (at < t->count && t->at[at].digits && t->at[at].text.len == 4 && t->at[at].number > 1900) {
        out->year = t->at[at].number;
        return at + 1;
    }
    return at;
}

/* A day or a time of the day: what "starting", "from" and "until" are followed by. */
static size_t target(const struct tokens *t, size_t at, struct said *out)
{
    struct phrase day = {.said = said_nothing()};
    *out = said_nothing();
    size_t lead =
        token_is(t, at, WORD_ON) || token_is(t, at, WORD_AT) || token_is(t, at, WORD_FROM);
    size_t from = at + lead, to;
    to = phrase_clock(t, from, true, &out->clocks[0], &out->fault);
    bool number = token_is(t, from, WORD_NUMBER) && to == from + 1;
    if (to > from && !(number && token_is(t, to, WORD_MONTH))) {
        out->clocks_count = 1;
        return to;
    }
    *out = said_nothing();
    bool month = token_is(t, from + token_is(t, from, WORD_IN), WORD_MONTH);
    to = phrase_day(t, from, &day);
    if (to > from && (!month || day.said.dated)) {
        *out = day.said;
        return to;
    }
    if (!month) {
        return at;
    }
    from += token_is(t, from, WORD_IN);
    out->months = 1u << token_value(t, from, WORD_MONTH);
    return year_alone(t, from + 1, out);
}

static const struct said *keep(struct arena *arena, const struct said *said)
{
    struct said *copy = arena_new(arena, struct said);
    *copy = *said;
    return copy;
}

/* ---- From when ---- */

static size_t start_word(const struct tokens *t, size_t at)
{
    if (token_is_word(t, at, "as") && token_is(t, at + 1, WORD_OF)) {
        return at + 2;
    }
    return token_is(t, at, WORD_START) ? at + 1 : at;
}

static size_t start(const struct tokens *t, size_t at, struct arena *arena, struct phrase *out)
{
    struct said from;
    size_t next = start_word(t, at), to;
    if (next == at) {
        return at;
    }
    next += token_is(t, next, WORD_FROM) && !token_is(t, at, WORD_FROM);
    out->kind = PHRASE_START;
    out->force = FORCE_LED;
    if (token_is(t, next, WORD_NOW)) {
        out->kind = PHRASE_FILLER;
        return next + 1 + token_is(t, next + 1, WORD_ON);
    }
    to = target(t, next, &from);
    if (to == next) {
        return at;
    }
    out->said.fault = from.fault;
    out->said.start = keep(arena, &from);
    to += token_is_word(t, to, "onwards") || token_is_word(t, to, "onward");
    return to;
}

/* ---- Until when ---- */

static size_t end_word(const struct tokens *t, size_t at, bool *through)
{
    *through = token_is(t, at, WORD_THROUGH);
    if (token_is_word(t, at, "up") &&
        (token_is(t, at + 1, WORD_TO) || token_is(t, at + 1, WORD_UNTIL))) {
        return at + 2;
    }
    bool ending = token_is_word(t, at, "ending") || token_is_word(t, at, "ends");
    if (ending || token_is(t, at, WORD_UNTIL) || *through) {
        return at + 1;
    }
    return at;
}

/* until December, through August, until the end of October, until Friday, until 5pm */
static size_t end(const struct tokens *t, size_t at, struct arena *arena, struct phrase *out)
{
    struct said until = said_nothing();
    bool through;
    size_t next = end_word(t, at, &through), to;
    if (next == at) {
        return at;
    }
    out->kind = PHRASE_END;
    out->force = FORCE_LED;
    next += token_is_word(t, next, "and") && token_is_word(t, next + 1, "including") ? 2 : 0;
    if (token_is_word(t, next, "further") && token_is_word(t, next + 1, "notice")) {
        out->kind = PHRASE_FILLER;
        return next + 2;
    }
    to = year_alone(t, next, &until);
    to = to > next ? to : target(t, next, &until);
    if (to == next) {
        out->kind = PHRASE_FAULT; /* until the exam */
        out->said.fault = next >= t->count ? FAULT_MISSING : FAULT_EVENT;
        out->force = FORCE_BARE;
        return through ? at : next;
    }
    out->said.fault = until.fault;
    out->said.until = keep(arena, &until);
    out->said.through = through;
    return to;
}

/* ---- From … to … ---- */

static bool joins(const struct tokens *t, size_t at, bool between)
{
    return between ? token_is(t, at, WORD_AND) || token_is(t, at, WORD_DASH)
                   : token_is(t, at, WORD_TO) || token_is(t, at, WORD_DASH) ||
                         token_is(t, at, WORD_UNTIL) || token_is(t, at, WORD_THROUGH);
}

/* 9am to 5pm: the first takes am or pm from the second when it then comes earlier. */
static void settle_window(struct said *said)
{
    bool same = said->from.open && !said->to.open && said->from.hour % 12 < said->to.hour % 12 &&
                said->to.hour != 0;
    if (same) {
        said->from.hour = said->from.hour % 12 + (said->to.hour >= 12 ? 12 : 0);
        said->from.open = false;
    }
}

static size_t range(const struct tokens *t, size_t at, struct arena *arena, struct phrase *out)
{
    bool between = token_is(t, at, WORD_BETWEEN), from = token_is(t, at, WORD_FROM);
    bool led = between || from;
    struct said first, last;
    size_t next = at + led, to, end;
    if (!led && !token_is(t, at, WORD_CLOCK) && !token_is(t, at, WORD_MOMENT) &&
        !token_is(t, at, WORD_MONTH) && !token_is(t, at, WORD_DATE)) {
        return at;
    }
    size_t days = led ? phrase_weekdays(t, next, &out->said) : next;
    if (days > next && out->said.listed) { /* from Monday to Friday */
        out->kind = PHRASE_DAY;
        out->force = FORCE_LED;
        return days;
    }
    out->said = said_nothing();
    to = target(t, next, &first);
    if (to == next || !joins(t, to, between)) {
        return at;
    }
    end = target(t, to + 1, &last);
    if (end == to + 1 || (first.clocks_count > 0) != (last.clocks_count > 0)) {
        return at;
    }
    out->force = FORCE_LED;
    out->said.fault = first.fault != FAULT_NONE ? first.fault : last.fault;
    if (first.clocks_count > 0) {
        out->kind = PHRASE_TIME;
        out->said.has_window = true;
        out->said.from = first.clocks[0];
        out->said.to = last.clocks[0];
        settle_window(&out->said);
        return end;
    }
    out->kind = PHRASE_START;
    first.year = first.year != 0 || !last.dated ? first.year : last.year;
    out->said.start = keep(arena, &first);
    out->said.until = keep(arena, &last);
    out->said.through = true;
    return end;
}

/* ---- How long, how many times ---- */

/* "for the rest of the week" */
static size_t the_rest(const struct tokens *t, size_t at, struct arena *arena, struct phrase *out)
{
    struct said until = said_nothing();
    if (!token_is(t, at, WORD_FOR) || !token_is(t, at + 1, WORD_THE) ||
        !token_is_word(t, at + 2, "rest") || !token_is(t, at + 3, WORD_OF) ||
        !(token_is(t, at + 4, WORD_THE) || token_is(t, at + 4, WORD_THIS))) {
        return at;
    }
    until.of_week = token_is_unit(t, at + 5, UNIT_WEEK) ? OF_THIS : OF_NONE;
    until.of_month = token_is_unit(t, at + 5, UNIT_MONTH) ? OF_THIS : OF_NONE;
    until.of_year = token_is_unit(t, at + 5, UNIT_YEAR) ? OF_THIS : OF_NONE;
    out->kind = PHRASE_END;
    out->force = FORCE_LED;
    out->said.until = keep(arena, &until);
    return said_has_day(&until) ? at + 6 : at;
}

static size_t lasting(const struct tokens *t, size_t at, struct phrase *out)
{
    bool over = token_is_word(t, at, "over") || token_is_word(t, at, "during");
    if (!token_is(t, at, WORD_FOR) && !over) {
        return at;
    }
    size_t next = at + 1 + token_is(t, at + 1, WORD_THE);
    bool following = token_is(t, next, WORD_NEXT) || token_is_word(t, next, "following") ||
                     token_is_word(t, next, "another");
    next += following;
    struct amount amount;
    size_t to = phrase_amount(t, next, &amount);
    if (following && to == next && token_is(t, next, WORD_UNIT)) { /* for the next month */
        amount = (struct amount){.unit = UNIT_NONE};
        amount_add(&amount, 1, 0, token_value(t, next, WORD_UNIT) & ~TOKEN_PLURAL);
        to = next + 1;
    }
    if (to == next) {
        return at;
    }
    out->kind = PHRASE_END;
    out->force = FORCE_LED;
    out->said.has_lasting = true;
    out->said.lasting = amount;
    if (amount.months + amount.days + amount.seconds < 1) {
        out->said.fault = amount.vague ? FAULT_VAGUE : FAULT_IMPOSSIBLE;
    }
    return to;
}

/* 8 times, for 5 occurrences, 10 times in total, 1 time */
static size_t times(const struct tokens *t, size_t at, struct phrase *out)
{
    int n;
    size_t from = at + token_is(t, at, WORD_FOR), to;
    from += token_is(t, from, WORD_A) && token_is_word(t, from + 1, "total") ? 3 : 0;
    to = phrase_number(t, from, &n);
    bool once = to > from && n == 1 && t->at[from].digits && token_is(t, to, WORD_TIME);
    if (to == from || !(once || token_is(t, to, WORD_TIMES))) {
        return at;
    }
    out->kind = PHRASE_END;
    out->force = FORCE_BARE;
    out->said.count = n;
    out->said.fault = n < 1 ? FAULT_IMPOSSIBLE : FAULT_NONE;
    to++;
    to += token_is(t, to, WORD_IN) && token_is_word(t, to + 1, "total") ? 2 : 0;
    return to + (token_is_word(t, to, "total"));
}

/* ---- What not ---- */

static size_t except_word(const struct tokens *t, size_t at)
{
    size_t but = at + token_is_word(t, at, "but");
    if (token_is(t, but, WORD_NOT) && (but > at || token_is(t, but + 1, WORD_ON))) {
        return but + 1;
    }
    if ((token_is_word(t, at, "apart") && token_is(t, at + 1, WORD_FROM)) ||
        (token_is(t, at, WORD_OTHER) && token_is_word(t, at + 1, "than"))) {
        return at + 2;
    }
    if (token_is_word(t, but, "except") || (but == at && token_is(t, at, WORD_EXCEPT))) {
        return but + 1 + token_is(t, but + 1, WORD_FOR);
    }
    return at;
}

static size_t except(const struct tokens *t, size_t at, struct phrase *out)
{
    struct said left = said_nothing();
    size_t next = except_word(t, at);
    if (next == at) {
        return at;
    }
    out->kind = PHRASE_EXCEPT;
    out->force = FORCE_LED;
    next += token_is(t, next, WORD_ON) || token_is(t, next, WORD_IN) || token_is(t, next, WORD_FOR);
    next += token_is(t, next, WORD_THE) && token_is(t, next + 1, WORD_DAYSET);
    if (token_is(t, next, WORD_EVENT)) {
        out->said.fault = FAULT_HOLIDAYS;
        return next + 1;
    }
    size_t to = phrase_date(t, next, &left);
    if (to > next) {
        out->said.fault = FAULT_HOLIDAYS;
        return to;
    }
    to = phrase_weekdays(t, next, &left);
    to = to > next ? to : phrase_months(t, next, &left);
    to = to > next ? to : phrase_ordinals(t, next, &left);
    if (to == next) {
        return at;
    }
    out->said.except_weekdays = left.weekdays;
    out->said.except_months = left.months;
    out->said.except_month_days = left.month_days;
    return to;
}

/* ", only the 1st and last of each month": as a summary says which of several. */
static size_t only(const struct tokens *t, size_t at, struct phrase *out)
{
    struct said *said = &out->said;
    size_t to = at + 2;
    if (!token_is(t, at, WORD_ONLY) || !token_is(t, at + 1, WORD_THE)) {
        return at;
    }
    while (token_is(t, to, WORD_ORDINAL)) {
        int n = token_value(t, to, WORD_ORDINAL);
        bool from_end = token_is(t, to + 1, WORD_TO) && token_value(t, to + 2, WORD_ORDINAL) == -1;
        said->only_last = n < 0 || from_end;
        n = n < 0 ? -n : n;
        if (n < 1 || n > 366) {
            return at;
        }
        bits_add(said->only, (unsigned)n);
        to += from_end ? 3 : 1;
        to = phrase_separator(t, to);
    }
    if (!token_is(t, to, WORD_OF) || !token_is(t, to + 1, WORD_EVERY) ||
        !token_is(t, to + 2, WORD_UNIT)) {
        return at;
    }
    out->kind = PHRASE_DAY;
    out->force = FORCE_LED;
    said->has_only = true;
    return to + 3;
}

size_t phrase_span(const struct tokens *t, size_t at, struct arena *arena, struct phrase *out)
{
    size_t to = range(t, at, arena, out);
    to = to > at ? to : start(t, at, arena, out);
    to = to > at ? to : times(t, at, out);
    to = to > at ? to : the_rest(t, at, arena, out);
    to = to > at ? to : lasting(t, at, out);
    to = to > at ? to : only(t, at, out);
    to = to > at ? to : except(t, at, out);
    return to > at ? to : end(t, at, arena, out);
}

/* ---- Nothing can be made of these ---- */

static size_t vague(const struct tokens *t, size_t at)
{
    static const struct {
        const char *words[4];
    } sayings[] = {
        {{"now", "and", "then"}},         {{"now", "and", "again"}}, {{"once", "in", "a", "while"}},
        {{"from", "time", "to", "time"}}, {{"at", "some", "point"}}, {{"in", "a", "bit"}},
        {{"in", "a", "while"}},           {{"some", "day"}},         {{"some", "time"}},
        {{"one", "of", "these", "days"}}, {{"as", "soon", "as"}},    {{"at", "some", "time"}},
        {{"every", "once", "in", "a"}},   {{"in", "a", "few"}},      {{"one", "day"}},
        {{"the", "other", "day"}},        {{"in", "the", "future"}},
    };
    for (size_t i = 0; i < ARRAY_LEN(sayings); i++) {
        size_t n = 0;
        while (n < 4 && sayings[i].words[n] != NULL &&
               token_is_word(t, at + n, sayings[i].words[n])) {
            n++;
        }
        if (n == 4 || (n > 0 && sayings[i].words[n] == NULL)) {
            return at + n;
        }
    }
    return at + token_is(t, at, WORD_VAGUE);
}

/* when I get home, before the meeting, after 5pm, at sunset, on my birthday */
static size_t event(const struct tokens *t, size_t at)
{
    size_t what = at + 1 + (token_is(t, at + 1, WORD_MY) || token_is(t, at + 1, WORD_THE));
    bool once_i = token_is(t, at, WORD_ONCE) &&
                  (token_is_word(t, at + 1, "i") || token_is_word(t, at + 1, "we") ||
                   token_is(t, at + 1, WORD_THE));
    bool led = token_is(t, at, WORD_AT) || token_is(t, at, WORD_ON) || token_is(t, at, WORD_BY);
    if (led && token_is(t, what, WORD_EVENT)) {
        return what + 1;
    }
    bool relative =
        (token_is(t, at, WORD_BEFORE) || token_is(t, at, WORD_AFTER)) && at + 1 < t->count;
    return token_is(t, at, WORD_WHEN) || once_i || relative ? at + 1 : at;
}

size_t phrase_fault(const struct tokens *t, size_t at, struct phrase *out)
{
    out->kind = PHRASE_FAULT;
    out->force = FORCE_LED;
    size_t to = vague(t, at);
    out->said.fault = FAULT_VAGUE;
    if (to == at) {
        out->force = FORCE_BARE;
        out->said.fault = FAULT_EVENT;
        to = event(t, at);
    }
    return to;
}
