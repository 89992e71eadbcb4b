/* english/weekday.c: weekdays, ordinals and what they are of: "mon-fri", "the first and
 * third Friday of every month", "the 15th and the last day", "day 15".
 *
 * SPDX-License-Identifier: MIT */
#include "english/phrase.h"

#define MONTH_DAY_MAX 31
#define LIST_MAX      40 /* members of a list; what follows begins a new one */
#define NTH_MAX       5  /* weekdays of one name in a month */

/* ---- Weekdays ---- */

struct days {
    unsigned set;
    bool plural, group; /* group: weekdays, a weekend */
    unsigned parts;
};

/* "business day", "week days", "weekend day". */
static size_t day_of_two_words(const struct tokens *t, size_t at, struct days *out)
{
    bool weekend = token_is(t, at, WORD_DAYSET) && token_value(t, at, WORD_DAYSET) == SAID_WEEKEND;
    bool week = token_is_unit(t, at, UNIT_WEEK);
    if (week && token_is_word(t, at + 1, "end")) {
        *out = (struct days){.set = SAID_WEEKEND, .group = true};
        return at + 2;
    }
    if ((!weekend && !week && !token_is(t, at, WORD_WORK)) || !token_is_unit(t, at + 1, UNIT_DAY)) {
        return at;
    }
    *out = (struct days){.set = weekend ? SAID_WEEKEND : SAID_WORKDAYS,
                         .plural = token_value(t, at + 1, WORD_UNIT) & TOKEN_PLURAL,
                         .group = true};
    return at + 2;
}

static size_t one_day(const struct tokens *t, size_t at, struct days *out)
{
    size_t to = day_of_two_words(t, at, out);
    if (to > at || at >= t->count || t->at[at].possessive) {
        return to;
    }
    if (token_is(t, at, WORD_WEEKDAY)) {
        int value = token_value(t, at, WORD_WEEKDAY);
        *out = (struct days){.set = 1u << (value & 7), .plural = value & TOKEN_PLURAL};
        return at + 1;
    }
    if (token_is(t, at, WORD_DAYSET)) {
        int value = token_value(t, at, WORD_DAYSET);
        *out = (struct days){(unsigned)value & SAID_ALL_DAYS, value & TOKEN_PLURAL, true, 0};
        out->parts = token_is(t, at, WORD_PART) ? 1u << PART_NIGHT : 0;
        return at + 1;
    }
    return at;
}

/* From Friday to Monday is Friday, Saturday, Sunday, Monday. */
static unsigned range(unsigned from, unsigned to)
{
    unsigned set = from;
    while (from != to) {
        from = from == 1u << 6 ? 1 : from << 1;
        set |= from;
    }
    return set;
}

static bool joins_range(const struct tokens *t, size_t at)
{
    return token_is(t, at, WORD_TO) || token_is(t, at, WORD_THROUGH) ||
           token_is(t, at, WORD_DASH) || token_is(t, at, WORD_UNTIL);
}

static size_t day_or_range(const struct tokens *t, size_t at, struct days *out, bool *is_range)
{
    struct days last;
    size_t to = one_day(t, at, out);
    *is_range = false;
    if (to > at && !out->group && joins_range(t, to) && one_day(t, to + 1, &last) > to + 1 &&
        !last.group) {
        out->set = range(out->set, last.set);
        *is_range = true;
        return to + 2;
    }
    return to;
}

static size_t trailing_part(const struct tokens *t, size_t at, struct said *said)
{
    if (!token_is(t, at, WORD_PART) || t->at[at].possessive) {
        return at;
    }
    int value = token_value(t, at, WORD_PART);
    said->parts |= 1u << (value & ~TOKEN_PLURAL);
    said->plural |= (value & TOKEN_PLURAL) != 0;
    return at + 1;
}

/* Between two of a list: a comma, "and", a slash, "and on", "and every". */
static size_t between_days(const struct tokens *t, size_t at, struct said *said)
{
    size_t to = phrase_separator(t, at);
    if (token_is(t, to, WORD_OR) && (to > at || token_is(t, at, WORD_OR))) {
        said->fault = FAULT_ALTERNATIVE;
        return to + 1;
    }
    if (to == at) {
        return at;
    }
    bool joined = token_is(t, to - 1, WORD_AND);
    to += token_is(t, to, WORD_ON);
    /* "Monday and every Thursday"; after a comma "every" begins something else. */
    return to + (joined && token_is(t, to, WORD_EVERY));
}

/* "mon wed fri": abbreviations need nothing between them. */
static bool are_short(const struct tokens *t, size_t at)
{
    return token_is(t, at - 1, WORD_WEEKDAY) && token_is(t, at, WORD_WEEKDAY) &&
           t->at[at - 1].text.len <= 5 && t->at[at].text.len <= 5;
}

size_t phrase_weekdays(const struct tokens *t, size_t at, struct said *said)
{
    struct said found = *said;
    unsigned items = 0;
    bool is_range;
    size_t to = at;
    for (;;) {
        struct days days;
        struct said trial = found;
        size_t next = to == at ? at : between_days(t, to, &trial);
        size_t end = day_or_range(t, next, &days, &is_range);
        if (end == next || (to > at && next == to && !are_short(t, to)) || items > LIST_MAX) {
            break;
        }
        found = trial;
        found.weekdays |= days.set;
        found.plural |= days.plural;
        found.parts |= days.parts;
        found.listed |= is_range || ++items > 1;
        to = end;
    }
    if (to > at) {
        to = trailing_part(t, to, &found);
        *said = found;
    }
    return to;
}

/* ---- Ordinals ---- */

struct ordinals {
    uint32_t bits, last_bits; /* waiting for what they number */
    bool digits;              /* 1st, not first */
    bool bare;                /* day 1, not the 1st */
    bool nouns;               /* something was numbered */
};

/* "third", "last", "second to last", "second last". */
static size_t ordinal(const struct tokens *t, size_t at, int *n, bool *digits)
{
    if (!token_is(t, at, WORD_ORDINAL) || t->at[at].possessive) {
        return at;
    }
    *n = token_value(t, at, WORD_ORDINAL);
    *digits = t->at[at].number > 0 && t->at[at].text.ptr[0] <= '9';
    size_t last = at + 1 + (token_is(t, at + 1, WORD_TO) || token_is(t, at + 1, WORD_FROM));
    last += last > at + 1 && token_is(t, last, WORD_THE);
    if (*n > 1 && token_value(t, last, WORD_ORDINAL) == -1) {
        *n = -*n;
        return last + 1;
    }
    if (*n == -1 && token_spells(t, at + 1, "but one") > at + 1) {
        *n = -2;
        return at + 3;
    }
    return at + 1;
}

/* "day 15", "the 15": as good as "the 15th". */
static size_t day_in_digits(const struct tokens *t, size_t at, int *n)
{
    bool day = token_is_unit(t, at, UNIT_DAY), the = token_is(t, at, WORD_THE);
    size_t number = at + 1, after = number + 1;
    if ((!day && !the) || number >= t->count || !t->at[number].digits ||
        t->at[number].hundredths != 0 || t->at[number].text.len > 2 || t->at[number].number < 0) {
        return at;
    }
    bool on = at > 0 && token_is(t, at - 1, WORD_ON);
    /* "the 15 people", "the 7 o'clock train" */
    bool of_thing = token_is(t, after, WORD_OF) &&
                    token_is_plain(t, after + 1 + token_is(t, after + 1, WORD_THE));
    if ((the && !on && token_is_plain(t, after)) || token_is(t, after, WORD_UNIT) ||
        token_is(t, after, WORD_OCLOCK) || token_is(t, after, WORD_HALF_OF_DAY) || of_thing) {
        return at;
    }
    *n = t->at[number].number == 0 ? 99 : t->at[number].number;
    return after;
}

/* "twenty first", "thirty-first" */
size_t phrase_ordinal(const struct tokens *t, size_t at, int *n, bool *digits)
{
    bool tens = token_is(t, at, WORD_NUMBER) && !t->at[at].digits &&
                (t->at[at].number == 20 || t->at[at].number == 30);
    size_t next = at + 1 + token_is(t, at + 1, WORD_DASH);
    if (!tens || !token_is(t, next, WORD_ORDINAL) || token_value(t, next, WORD_ORDINAL) < 1 ||
        token_value(t, next, WORD_ORDINAL) > 9) {
        return ordinal(t, at, n, digits);
    }
    *n = t->at[at].number + token_value(t, next, WORD_ORDINAL);
    *digits = true;
    return next + 1;
}

/* The next of a list that began with "day 15" or "the 15": "day 1 and 15". */
static size_t more_digits(const struct tokens *t, size_t at, const struct ordinals *o, int *n)
{
    if (!o->bare || at >= t->count || !t->at[at].digits || t->at[at].text.len > 2 ||
        t->at[at].hundredths != 0 || token_is_plain(t, at + 1) || token_is(t, at + 1, WORD_UNIT)) {
        return at;
    }
    *n = t->at[at].number;
    return at + 1;
}

static void number(struct ordinals *o, int n, int upto, struct said *said)
{
    if (n == 0 || n > MONTH_DAY_MAX || n < -MONTH_DAY_MAX || upto > MONTH_DAY_MAX) {
        said->fault = FAULT_IMPOSSIBLE;
        return;
    }
    for (int i = n; i <= upto; i++) {
        *(i < 0 ? &o->last_bits : &o->bits) |= (uint32_t)1 << (i < 0 ? -i : i);
    }
}

static void number_weekday(struct ordinals *o, const struct days *days, struct said *said)
{
    if (o->bits >> (NTH_MAX + 1) != 0 || o->last_bits >> (NTH_MAX + 1) != 0) {
        said->fault = FAULT_IMPOSSIBLE;
    }
    for (unsigned day = 0; day < 7; day++) {
        if (days->set >> day & 1) {
            said->nth[day] |= o->bits;
            said->nth_last[day] |= o->last_bits;
        }
    }
}

/* What the ordinals so far number: days, weekdays, working days. */
static size_t noun(const struct tokens *t, size_t at, struct ordinals *o, struct said *said)
{
    struct days days;
    size_t to = one_day(t, at, &days);
    bool weekend_alone = to == at + 1 && days.group && days.set == SAID_WEEKEND;
    if (token_is_unit(t, at, UNIT_DAY)) {
        said->month_days |= o->bits;
        said->month_days_last |= o->last_bits;
        to = at + 1;
    } else if (to == at) {
        return at;
    } else if (weekend_alone) {
        number_weekday(o, &(struct days){.set = 1u << 5}, said); /* its Saturday */
    } else if (days.group) {
        said->set_days = days.set;
        said->set_nth |= o->bits;
        said->set_nth_last |= o->last_bits;
    } else {
        number_weekday(o, &days, said);
    }
    *o = (struct ordinals){.nouns = true};
    return to;
}

/* One of the list: "the 15th", "15th to 20th", "last Friday". */
static size_t one_ordinal(const struct tokens *t, size_t at, struct ordinals *o, struct said *said)
{
    int n, upto, many;
    bool digits = true;
    size_t from = at, to = day_in_digits(t, at, &n);
    to = to > at ? to : more_digits(t, at, o, &n);
    o->bare |= to > at;
    if (to == at) {
        from = at + token_is(t, at, WORD_THE);
        to = token_spells(t, from, "next to last");
        n = -2;
        to = to > from ? to : phrase_ordinal(t, from, &n, &digits);
    }
    if (to == from) {
        return at;
    }
    size_t counted = n == 1 || n == -1 ? phrase_number(t, to, &many) : to;
    if (counted > to && many > 1 && many <= MONTH_DAY_MAX &&
        (token_is(t, counted, WORD_UNIT) || token_is(t, counted, WORD_WEEKDAY) ||
         token_is(t, counted, WORD_WORK) || token_is(t, counted, WORD_DAYSET))) {
        number(o, n > 0 ? 1 : -many, n > 0 ? many : -1, said); /* the last three days */
        size_t end = noun(t, counted, o, said);
        return end > counted ? end : at;
    }
    size_t next = to + 1 + token_is(t, to + 1, WORD_THE);
    size_t end = joins_range(t, to) ? phrase_ordinal(t, next, &upto, &digits) : next;
    bool is_range = end > next && n > 0 && upto > n;
    number(o, n, is_range ? upto : n, said);
    o->digits |= digits;
    to = is_range ? end : to;
    size_t after = noun(t, to, o, said);
    return after;
}

static size_t between_ordinals(const struct tokens *t, size_t at, struct said *said)
{
    size_t to = phrase_separator(t, at);
    if (token_is(t, at, WORD_OR)) {
        said->fault = FAULT_ALTERNATIVE;
        return at + 1;
    }
    return to > at ? to + token_is(t, to, WORD_ON) : at;
}

/* Things that have numbers and are no days. */
static bool is_numbered_thing(const struct tokens *t, size_t at)
{
    static const char *const things[] = {"floor",   "avenue",   "street",  "anniversary", "grade",
                                         "edition", "chapter",  "version", "step",        "item",
                                         "round",   "draft",    "phase",   "team",        "place",
                                         "century", "birthday", "attempt", "page"};
    for (size_t i = 0; i < ARRAY_LEN(things); i++) {
        if (token_is_word(t, at, things[i])) {
            return true;
        }
    }
    return token_is_unit(t, at, UNIT_QUARTER) || token_is(t, at, WORD_EVENT);
}

size_t phrase_ordinals(const struct tokens *t, size_t at, struct said *said)
{
    struct said found = *said;
    struct ordinals o = {.bits = 0};
    unsigned items = 0;
    size_t to = at;
    for (;;) {
        struct said trial = found;
        size_t next = to == at ? at : between_ordinals(t, to, &trial);
        struct ordinals more = o;
        size_t end = one_ordinal(t, next, &more, &trial);
        if (end == next || (to > at && next == to) || items++ > LIST_MAX) {
            break;
        }
        found = trial;
        o = more;
        to = end;
    }
    if (to == at || is_numbered_thing(t, to)) {
        return at;
    }
    size_t end = phrase_of(t, to, &found);
    bool on_the = at > 0 && token_is(t, at - 1, WORD_ON) && token_is(t, at, WORD_THE) &&
                  !token_is_plain(t, to); /* "on the fourth" */
    if ((o.bits | o.last_bits) != 0 && !o.digits && end == to && !on_the) {
        return at; /* "first, call mom" */
    }
    found.month_days |= o.bits;
    found.month_days_last |= o.last_bits;
    *said = found;
    return end;
}

/* ---- Of what ---- */

static size_t of_every(const struct tokens *t, size_t at, struct said *said)
{
    int n = 1;
    size_t to = at + 1;
    if (token_is(t, to, WORD_OTHER)) {
        n = 2;
        to++;
    } else if (token_is(t, to, WORD_ORDINAL) && token_value(t, to, WORD_ORDINAL) > 1) {
        n = token_value(t, to++, WORD_ORDINAL);
    } else {
        to = phrase_number(t, to, &n);
    }
    said->every = true;
    if (token_is(t, to, WORD_MONTH)) {
        return phrase_months(t, to, said);
    }
    if (token_is_unit(t, to, UNIT_MONTH)) {
        said->of_month = OF_EVERY;
    } else if (token_is_unit(t, to, UNIT_QUARTER)) {
        said->of_quarter = OF_EVERY;
        return to + 1;
    } else if (token_is_unit(t, to, UNIT_YEAR)) {
        said->of_year = OF_EVERY;
    } else {
        return at;
    }
    said->unit = token_is_unit(t, to, UNIT_MONTH) ? UNIT_MONTH : UNIT_YEAR;
    said->interval = n;
    said->fault = n > 0 ? said->fault : FAULT_IMPOSSIBLE;
    return to + 1;
}

/* The month, week, quarter or year after "the", "this" or "next". */
static size_t of_period(const struct tokens *t, size_t at, enum said_of which, struct said *said)
{
    if (token_is_unit(t, at, UNIT_MONTH)) {
        said->of_month = which;
    } else if (token_is_unit(t, at, UNIT_QUARTER)) {
        said->of_quarter = which;
    } else if (token_is_unit(t, at, UNIT_YEAR)) {
        said->of_year = which;
    } else if (token_is_unit(t, at, UNIT_WEEK) && which != OF_EVERY) {
        said->of_week = which;
    } else {
        return at;
    }
    return at + 1;
}

size_t phrase_of(const struct tokens *t, size_t at, struct said *said)
{
    struct said found = *said;
    bool of = token_is(t, at, WORD_OF) || token_is(t, at, WORD_IN);
    size_t next = at + of, to = next;
    if (token_is(t, next, WORD_EVERY) && of) {
        to = of_every(t, next, &found);
    } else if (token_is(t, next, WORD_THIS) || token_is(t, next, WORD_NEXT)) {
        to = of_period(t, next + 1, token_is(t, next, WORD_NEXT) ? OF_NEXT : OF_THIS, &found);
        to = to > next + 1 ? to : next;
    } else if (of && (token_is(t, next, WORD_THE) || token_is(t, next, WORD_A))) {
        size_t period = next + 1 + token_is(t, next + 1, WORD_COMING);
        to = of_period(t, period, OF_EVERY, &found);
        to = to > period ? to : next;
    } else if (of && token_is(t, at, WORD_OF) && token_is_unit(t, next, UNIT_MONTH)) {
        to = of_period(t, next, OF_EVERY, &found);
    } else if (token_is(t, next, WORD_MONTH)) {
        to = phrase_months(t, next, &found);
        to = to > next ? phrase_year(t, to, &found) : next;
    }
    if (to == next) {
        return at;
    }
    *said = found;
    return to;
}
