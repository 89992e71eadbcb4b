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
    /* "until 5 November", "from 5 shops", "from 26 to 30 October" */
    bool counts = number && (token_is(t, to, WORD_MONTH) || token_is(t, to, WORD_UNIT) ||
                             token_is(t, to, WORD_TIMES) ||
                             (token_is(t, to, WORD_OF) && token_is(t, to + 1, WORD_MONTH)) ||
                             (token_is_plain(t, to) && token_is(t, at - (at > 0), WORD_FROM)));
    if (to > from && !counts) {
        out->clocks_count = 1;
        return to;
    }
    *out = said_nothing();
    if (counts && !token_is(t, to, WORD_MONTH) && !token_is(t, to, WORD_OF)) {
        return at;
    }
    bool month = token_is(t, from + token_is(t, from, WORD_IN), WORD_MONTH);
    to = phrase_day(t, from, &day);
    if (to > from && (!month || day.said.dated)) {
        *out = day.said;
        bool weekday = out->weekdays != 0 && !out->dated && !out->listed && !out->plural;
        size_t next = to + token_is(t, to, WORD_COMMA);
        size_t date = weekday ? phrase_date(t, next, out) : next; /* Sunday 1 November */
        return date > next ? date : to;
    }
    if (!month) {
        return at;
    }
    from += token_is(t, from, WORD_IN);
    out->months = 1u << token_value(t, from, WORD_MONTH);
    return year_alone(t, from + 1, out);
}

/* ---- From when ---- */

static size_t start_word(const struct tokens *t, size_t at)
{
    if (token_is_word(t, at, "as") && token_is(t, at + 1, WORD_OF)) {
        return at + 2;
    }
    return token_is(t, at, WORD_START) ? at + 1 : at;
}

static size_t start(const struct tokens *t, size_t at, struct phrase *out)
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
    out->said.start = phrase_keep(t, &from);
    to += token_is_word(t, to, "onwards") || token_is_word(t, to, "onward");
    return to;
}

/* ---- Until when ---- */

static size_t end_word(const struct tokens *t, size_t at, bool *through)
{
    *through = token_is(t, at, WORD_THROUGH);
    if (at > 0 && token_is_word(t, at, "till") &&
        (token_is(t, at - 1, WORD_THE) || token_is(t, at - 1, WORD_MY))) {
        return at; /* "count the till" */
    }
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

/* "until it has run 10 times", "until it ran 3 times" */
static size_t until_run(const struct tokens *t, size_t at, struct phrase *out)
{
    static const char *const openings[] = {"it has run",   "it ran",  "it has happened",
                                           "it has fired", "its run", "it's run",
                                           "it runs",      "done"};
    int n;
    for (size_t i = 0; i < ARRAY_LEN(openings); i++) {
        size_t to = token_spells(t, at, openings[i]);
        size_t end = to > at ? phrase_number(t, to, &n) : to;
        if (end > to && token_is(t, end, WORD_TIMES)) {
            out->said.count = n;
            out->said.fault = n < 1 ? FAULT_IMPOSSIBLE : FAULT_NONE;
            return end + 1;
        }
    }
    return at;
}

/* "row 12", "page 30": a place, no time. */
static bool is_numbered_place(const struct tokens *t, size_t at)
{
    static const char *const places[] = {"row",   "page",  "chapter", "level",    "floor",
                                         "line",  "seat",  "section", "step",     "episode",
                                         "verse", "slide", "item",    "question", "lesson"};
    size_t noun = at + token_is(t, at, WORD_THE);
    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        if (token_is_word(t, noun, places[i]) && noun + 1 < t->count && t->at[noun + 1].digits) {
            return true;
        }
    }
    return false;
}

/* until December, through August, until the end of October, until Friday, until 5pm */
static size_t end(const struct tokens *t, size_t at, struct phrase *out)
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
    to = until_run(t, next, out);
    if (to > next) {
        return to;
    }
    to = year_alone(t, next, &until);
    to = to > next ? to : target(t, next, &until);
    if (to == next) {
        if (is_numbered_place(t, next)) { /* "book seats until row 12" */
            return at;
        }
        out->kind = PHRASE_FAULT; /* until the exam */
        out->said.fault = next >= t->count ? FAULT_MISSING : FAULT_EVENT;
        out->force = FORCE_BARE;
        return through ? at : next;
    }
    out->said.fault = until.fault;
    out->said.until = phrase_keep(t, &until);
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

static size_t range(const struct tokens *t, size_t at, struct phrase *out)
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
        phrase_settle_window(&out->said);
        return end;
    }
    out->kind = PHRASE_START;
    first.year = first.year != 0 || !last.dated ? first.year : last.year;
    out->said.start = phrase_keep(t, &first);
    out->said.until = phrase_keep(t, &last);
    out->said.through = true;
    return end;
}

/* ---- How long, how many times ---- */

/* "for the rest of the week" */
static size_t the_rest(const struct tokens *t, size_t at, struct phrase *out)
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
    out->said.until = phrase_keep(t, &until);
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
    if (amount.workdays) {
        out->said.count = amount.n;
        out->said.fault = amount.n < 1 ? FAULT_IMPOSSIBLE : FAULT_NONE;
        return to;
    }
    out->said.has_lasting = true;
    out->said.lasting = amount;
    out->said.lasting_ahead = following && amount.unit == UNIT_DAY;
    if (amount.months + amount.days + amount.seconds < 1) {
        out->said.fault = amount.vague ? FAULT_VAGUE : FAULT_IMPOSSIBLE;
    }
    return to;
}

/* "max", "only", "at most", "for", "a total of": before a number of times. */
static size_t times_lead(const struct tokens *t, size_t at)
{
    static const char *const leads[] = {"max",   "maximum",      "max.",           "at most",
                                        "only",  "no more than", "a maximum of",   "up to",
                                        "for",   "just",         "for a total of", "a total of",
                                        "limit", "limited to",   "for only",       "for another"};
    size_t best = at;
    for (size_t i = 0; i < ARRAY_LEN(leads); i++) {
        best = MAX(best, token_spells(t, at, leads[i]));
    }
    return best;
}

/* x 12, x12 */
static size_t crossed(const struct tokens *t, size_t at, int *n)
{
    struct str text = at < t->count ? t->at[at].text : STR("");
    bool cross = token_is_word(t, at, "x") || str_is(text, "\xc3\x97");
    if (cross && at + 1 < t->count && t->at[at + 1].digits && t->at[at + 1].hundredths == 0 &&
        !t->at[at].glued) {
        *n = t->at[at + 1].number;
        return at + 2;
    }
    if (text.len < 2 || text.len > 4 || (text.ptr[0] != 'x' && text.ptr[0] != 'X')) {
        return at;
    }
    *n = 0;
    for (size_t i = 1; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9') {
            return at;
        }
        *n = *n * 10 + text.ptr[i] - '0';
    }
    return at + 1;
}

/* 8 times, 3x, x 12, for 5 occurrences, max 6 times, 10 times in total, 1 time */
static size_t times(const struct tokens *t, size_t at, struct phrase *out)
{
    int n;
    size_t from = times_lead(t, at), to = phrase_number(t, from, &n);
    size_t cross = crossed(t, from, &n);
    bool word = from > at && token_is(t, from, WORD_ONCE) && !token_is(t, from + 1, WORD_A) &&
                !token_is(t, from + 1, WORD_FREQ) && !token_is(t, from + 1, WORD_EVERY);
    if (word) { /* only twice */
        n = token_value(t, from, WORD_ONCE);
        to = from + 1;
    } else if (cross > from) {
        to = cross;
    } else {
        to += to > from && token_is_word(t, to, "more");
        bool once = to > from && n == 1 && t->at[from].digits && token_is(t, to, WORD_TIME);
        bool glued =
            to > from && token_is_word(t, to, "x") && t->at[from].digits && t->at[to].glued;
        if (to == from || !(once || glued || token_is(t, to, WORD_TIMES))) {
            return at;
        }
        to++;
    }
    out->kind = PHRASE_END;
    out->force = FORCE_BARE;
    out->said.count = n;
    out->said.fault = n < 1 ? FAULT_IMPOSSIBLE : FAULT_NONE;
    to += token_is(t, to, WORD_IN) && token_is_word(t, to + 1, "total") ? 2 : 0;
    to += token_is_word(t, to, "only");
    return to + (token_is_word(t, to, "total"));
}

/* "the next 4 Mondays", "the next 3 days", "next 5 weekdays" */
static size_t next_few(const struct tokens *t, size_t at, struct phrase *out)
{
    int n;
    size_t from = at + token_is(t, at, WORD_FOR) + token_is(t, at, WORD_ON);
    from += token_is(t, from, WORD_THE);
    bool ahead = token_is(t, from, WORD_NEXT) || token_is_word(t, from, "following") ||
                 token_is(t, from, WORD_COMING);
    size_t number = from + 1, to = ahead ? phrase_number(t, number, &n) : number;
    if (!ahead || to == number) {
        return at;
    }
    struct said found = said_nothing();
    size_t end = phrase_weekdays(t, to, &found);
    if (end == to && token_is_unit(t, to, UNIT_DAY) && !token_is(t, at, WORD_FOR)) {
        found.unit = UNIT_DAY;
        end = to + 1;
    }
    if (end == to || found.listed) {
        return at;
    }
    out->kind = PHRASE_OFTEN;
    out->force = FORCE_EVERY;
    out->said = found;
    out->said.every = true;
    out->said.count = n;
    out->said.fault = n < 1 ? FAULT_IMPOSSIBLE : found.fault;
    return end;
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

size_t phrase_span(const struct tokens *t, size_t at, struct phrase *out)
{
    size_t to = range(t, at, out);
    to = to > at ? to : start(t, at, out);
    to = to > at ? to : next_few(t, at, out);
    to = to > at ? to : times(t, at, out);
    to = to > at ? to : the_rest(t, at, out);
    to = to > at ? to : lasting(t, at, out);
    to = to > at ? to : only(t, at, out);
    to = to > at ? to : phrase_except(t, at, out);
    return to > at ? to : end(t, at, out);
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
        {{"the", "other", "day"}},        {{"next", "time"}},        {{"the", "next", "time"}},
        {{"in", "the", "future"}},
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
