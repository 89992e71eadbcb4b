/* english/choose.c: which phrases of a text are the order, and which belong to the task.
 *
 * "Write a monthly report every Monday": one of them says when. Phrases beside each other form a
 * cluster; the strongest decides, its cluster goes with it, and others may fill what it leaves open
 * ("every day call mom at 5pm"). The rest stays in the title.
 *
 * SPDX-License-Identifier: MIT */
#include "english/phrase.h"

/* ---- All phrases ---- */

static bool may_begin(const struct tokens *t, size_t at)
{
    static const char *const words[] = {
        "up",  "as",        "but",      "apart", "over",    "during",    "close",   "max",
        "x",   "month-end", "skip",     "aside", "save",    "with",      "leaving", "just",
        "all", "same",      "previous", "limit", "limited", "following", "outside", "besides"};
    if (t->at[at].count > 0) {
        return true;
    }
    if (t->at[at].quoted) {
        return false;
    }
    char first = t->at[at].text.ptr[0];
    if ((first == 'x' || first == 'X') && t->at[at].text.len <= 4) {
        return true;
    }
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        if (token_is_word(t, at, words[i])) {
            return true;
        }
    }
    return false;
}

static size_t try_forever(const struct tokens *t, size_t at, struct phrase *out)
{
    out->kind = PHRASE_FILLER;
    out->force = FORCE_BARE;
    return at + token_is(t, at, WORD_FOREVER);
}

/* The longest phrase at a token; of two the same length the first tried. */
static size_t longest(const struct tokens *t, size_t at, const struct place *place,
                      struct phrase *out)
{
    static size_t (*const readers[])(const struct tokens *, size_t, struct phrase *) = {
        phrase_span, phrase_often, phrase_day, phrase_fault, try_forever};
    struct phrase best = {.said = said_nothing()};
    size_t end = phrase_zone(t, at, place->after_clock, &best);
    if (!may_begin(t, at)) {
        struct said holiday = said_nothing();
        size_t to = phrase_holiday(t, at, &holiday);
        if (to > end) {
            end = to;
            best = (struct phrase){.kind = PHRASE_DAY, .force = FORCE_BARE, .said = holiday};
        }
        *out = best;
        return end;
    }
    for (size_t i = 0; i < ARRAY_LEN(readers); i++) {
        struct phrase phrase = {.said = said_nothing()};
        size_t to = readers[i](t, at, &phrase);
        if (to > end) {
            end = to;
            best = phrase;
        }
        if (i == 2) {
            phrase = (struct phrase){.said = said_nothing()};
            to = phrase_time(t, at, place, &phrase);
            if (to > end) {
                end = to;
                best = phrase;
            }
        }
    }
    *out = best;
    return end;
}

static bool are_beside(const struct tokens *t, const struct phrase *a, const struct phrase *b)
{
    for (size_t at = a->to; at < b->from; at++) {
        if (!token_is_mark(t, at) && !token_is(t, at, WORD_AND) && !token_is(t, at, WORD_ONLY) &&
            !token_is_word(t, at, "also") && !token_is_word(t, at, "then")) {
            return false;
        }
    }
    return true;
}

/* ---- How surely ---- */

static void weigh(const struct tokens *t, struct phrase *p, const struct phrase *before)
{
    bool part_only = p->kind == PHRASE_TIME && p->said.clocks_count == 0 && p->said.parts != 0;
    if (p->force != FORCE_BARE || (p->kind != PHRASE_DAY && p->kind != PHRASE_TIME)) {
        return;
    }
    bool follows = before != NULL && before->to == p->from;
    size_t at = p->from > 0 ? p->from - 1 : t->count; /* the word before, if any */
    bool determined = token_is(t, at, WORD_THE) || token_is(t, at, WORD_MY) ||
                      token_is(t, at, WORD_ABOUT) || token_is(t, at, WORD_THIS);
    bool apart = p->from == 0 || token_is_mark(t, at) || token_is_word(t, at, "me") ||
                 token_is_word(t, at, "us") || p->to >= t->count || token_is_mark(t, p->to) ||
                 token_is(t, p->to, WORD_TO);
    if (part_only && !follows) {
        p->force = FORCE_THING; /* "movie night" */
    } else if (determined) {
        p->force = FORCE_THING; /* "the Friday trip" */
    } else if (token_is(t, at, WORD_A)) {
        p->force = FORCE_MAYBE; /* "a 7am alarm" */
    } else if (apart) {
        p->force = FORCE_LED;
    }
}

/* Days after which a bare number is an hour: a weekday, "tomorrow", "tonight". */
static bool takes_hour(const struct said *said)
{
    bool dated = said->month_days != 0 || said->month_days_last != 0 || said->months != 0;
    return (said->weekdays != 0 || said->has_offset || said->which != OF_NONE) && !dated &&
           said->unit > UNIT_HOUR;
}

static struct place place_at(const struct tokens *t, size_t at, const struct phrase *before)
{
    struct place place = {.apart = at == 0 || token_is_mark(t, at - 1)};
    if (before == NULL || before->force <= FORCE_THING) {
        return place;
    }
    bool mark = before->to + 1 == at &&
                (token_is_mark(t, before->to) || str_is(t->at[before->to].text, "("));
    if (before->to != at && !mark) {
        return place;
    }
    bool part = before->kind == PHRASE_TIME && before->said.parts != 0 &&
                before->said.clocks_count == 0 && !before->said.has_window;
    bool day = before->kind == PHRASE_DAY || before->kind == PHRASE_OFTEN;
    bool timed = said_has_time(&before->said) && !before->said.tonight && before->said.parts == 0;
    place.apart = true;
    place.after_day = before->to == at && ((day && takes_hour(&before->said) && !timed) || part);
    place.after_often = (day || before->kind == PHRASE_END) && !place.after_day && !timed;
    place.after_clock =
        before->to == at && (before->said.clocks_count > 0 || before->said.has_window ||
                             before->said.minutes != 0 || before->said.parts != 0);
    return place;
}

void choose_find(const struct tokens *t, struct arena *arena, struct choice *out)
{
    *out = (struct choice){.said = said_nothing()};
    out->phrases = arena_array(arena, struct phrase, MIN(PHRASES_MAX, t->count + 1));
    for (size_t at = 0; at < t->count && out->count < PHRASES_MAX;) {
        struct phrase *p = &out->phrases[out->count], *before = out->count > 0 ? p - 1 : NULL;
        struct place place = place_at(t, at, before);
        size_t to = longest(t, at, &place, p);
        if (to == at) {
            at++;
            continue;
        }
        p->from = at;
        p->to = to;
        place_take_offsets(t, p);
        weigh(t, p, before);
        bool beside = before != NULL && are_beside(t, before, p) && before->force > FORCE_THING;
        p->cluster = before == NULL ? 1 : before->cluster + !(beside && p->force > FORCE_THING);
        out->count++;
        at = to;
    }
}

/* ---- The one that decides ---- */

static bool is_single_day(const struct said *said)
{
    bool dated_year = said->year != 0 && (said->unit != UNIT_YEAR || !said->dated);
    return said->has_offset || said->has_in || said->is_weekend || dated_year || said->ahead != 0 ||
           (said->holiday != 0 && !said->every) ||
           (said->of_week != OF_NONE && said->of_week != OF_EVERY) || said->which != OF_NONE ||
           said->of_month == OF_THIS || said->of_month == OF_NEXT;
}

/* "Weekly review on Friday": the day goes with how often. */
static bool goes_with(const struct phrase *often, const struct phrase *day)
{
    const struct said *said = &day->said;
    if (often->force < FORCE_BARE || is_single_day(said)) {
        return false;
    }
    return (often->said.unit == UNIT_WEEK && said->weekdays != 0) ||
           (often->said.unit == UNIT_MONTH && said_has_days(said) && said->months == 0 &&
            said->weekdays == 0) ||
           (often->said.unit == UNIT_YEAR && said->months != 0);
}

static struct phrase *strongest_recurring(const struct choice *c)
{
    struct phrase *best = NULL;
    for (size_t i = 0; i < c->count; i++) {
        struct phrase *p = &c->phrases[i];
        if (said_recurs(&p->said) && p->force > FORCE_THING &&
            (best == NULL || p->force > best->force)) {
            best = p;
        }
    }
    /* "Daily standup notes tomorrow at 9am": tomorrow decides. */
    for (size_t i = 0; best != NULL && best->force < FORCE_LED && i < c->count; i++) {
        const struct phrase *p = &c->phrases[i];
        if (p->kind == PHRASE_DAY && p->force >= FORCE_LED && !said_recurs(&p->said) &&
            !goes_with(best, p)) {
            return NULL;
        }
    }
    return best;
}

static int score(const struct choice *c, const struct phrase *of)
{
    bool day = false, time = false, led = false, sound = true;
    for (size_t i = 0; i < c->count; i++) {
        const struct phrase *p = &c->phrases[i];
        if (p->cluster == of->cluster && p->force > FORCE_THING) {
            day |= p->kind == PHRASE_DAY || p->kind == PHRASE_OFTEN;
            time |= p->kind == PHRASE_TIME;
            led |= p->force >= FORCE_LED;
            sound &= p->said.fault == FAULT_NONE;
        }
    }
    return !day && !time ? 0 : 8 * (of->force > FORCE_MAYBE) + 4 * sound + 2 * led + (day && time);
}

static struct phrase *strongest_once(const struct choice *c)
{
    struct phrase *best = NULL;
    int most = 0;
    for (size_t i = 0; i < c->count; i++) {
        struct phrase *p = &c->phrases[i];
        bool counts = (p->kind == PHRASE_DAY || p->kind == PHRASE_TIME) && p->force > FORCE_THING;
        int points = counts ? score(c, p) : 0;
        if (points > most) {
            most = points;
            best = p;
        }
    }
    return best;
}

/* ---- What goes with it ---- */

static void use(const struct tokens *t, struct choice *c, struct phrase *p)
{
    struct said more = p->said;
    bool also = p->from > 0 && token_is(t, p->from - 1, WORD_AND) && more.clocks_count > 0 &&
                c->said.clocks_count + more.clocks_count <= SAID_CLOCKS_MAX;
    if (also && c->said.clocks_count > 0) { /* "at 8am … and at 8pm" */
        memcpy(c->said.clocks + c->said.clocks_count, more.clocks,
               more.clocks_count * sizeof more.clocks[0]);
        c->said.clocks_count += more.clocks_count;
        more.clocks_count = 0;
    }
    p->used = true;
    enum said_fault fault = c->said.fault;
    if (!said_add(&c->said, &more) && c->said.fault == FAULT_NONE) {
        c->said.fault = FAULT_CONFLICT;
    }
    if (fault == FAULT_NONE && c->said.fault != FAULT_NONE) {
        c->blame_from = p->from;
        c->blame_to = p->to;
    }
}

/* "meditate for 20 minutes every day": that is how long the task takes. */
static bool lasts_with(const struct said *said, const struct said *more)
{
    bool clock_unit = more->lasting.unit <= UNIT_HOUR;
    return !more->has_lasting || more->lasting_ahead ||
           (said_recurs(said) && (!clock_unit || said->unit <= UNIT_HOUR) && !more->lasting.vague);
}

/* A week, month or year that bounds a rule: "every weekday next week". */
static bool is_period(const struct said *said)
{
    bool of = said->of_week == OF_THIS || said->of_week == OF_NEXT || said->of_month == OF_THIS ||
              said->of_month == OF_NEXT || said->of_year == OF_THIS || said->of_year == OF_NEXT;
    return of && !said_has_days(said) && !said->has_offset && !said->has_in && said->year == 0;
}

static bool fits_cluster(const struct tokens *t, const struct choice *c, const struct phrase *p)
{
    bool recurs = said_recurs(&c->said);
    switch (p->kind) {
    case PHRASE_DAY:
        /* "every weekday at 8 today in history": today belongs to the task. */
        return !recurs || !is_single_day(&p->said) || is_period(&p->said) ||
               !token_is_plain(t, p->to);
    case PHRASE_OFTEN:
        return p->force > FORCE_MAYBE;
    case PHRASE_END:
        return lasts_with(&c->said, &p->said) && (recurs || p->said.count == 0) &&
               (recurs || p->said.until == NULL || !said_has_time(&c->said));
    case PHRASE_FAULT:
        /* "on my birthday, May 15", "at 5pm when I get home": the time is known. */
        return p->said.fault != FAULT_EVENT ||
               (!said_has_time(&c->said) && c->said.month_days == 0);
    default:
        return true;
    }
}

static void use_cluster(const struct tokens *t, struct choice *c, const struct phrase *main)
{
    for (size_t i = 0; i < c->count; i++) {
        struct phrase *p = &c->phrases[i];
        if (p->cluster == main->cluster && p->force > FORCE_THING && !p->used &&
            p->kind != PHRASE_END && p->kind != PHRASE_FAULT && fits_cluster(t, c, p)) {
            use(t, c, p);
        }
    }
    for (size_t i = 0; i < c->count; i++) { /* ends and faults last: they depend on the rest */
        struct phrase *p = &c->phrases[i];
        if (p->cluster == main->cluster && p->force > FORCE_THING && !p->used &&
            fits_cluster(t, c, p)) {
            use(t, c, p);
        }
    }
}

static bool fills(const struct choice *c, const struct phrase *p)
{
    const struct said *said = &c->said;
    bool recurs = said_recurs(said);
    switch (p->kind) {
    case PHRASE_TIME:
        return !said_has_time(said) || (said->clocks_count == 0 && p->said.clocks_count > 0 &&
                                        !said->has_window && p->force >= FORCE_LED);
    case PHRASE_DAY:
        return recurs ? is_period(&p->said) || (!said_has_days(said) && said->unit >= UNIT_WEEK &&
                                                said_has_days(&p->said) && !is_single_day(&p->said))
                      : !said_has_day(said);
    case PHRASE_START:
        return recurs && said->start == NULL && p->said.start != NULL;
    case PHRASE_END:
        return (recurs || p->said.lasting_ahead) && said->until == NULL && !said->has_lasting &&
               said->count == 0 && lasts_with(said, &p->said);
    case PHRASE_EXCEPT:
        return recurs;
    case PHRASE_ZONE:
        return p->said.zone != NULL || p->said.unsure_zone.len > 0 || p->said.fault != FAULT_NONE;
    case PHRASE_OFTEN: /* "Biweekly sync on Thursdays" */
        return recurs && !said->every && said->weekdays != 0 && p->said.unit == UNIT_WEEK;
    default:
        return false;
    }
}

static void fill(const struct tokens *t, struct choice *c, enum phrase_force least)
{
    for (size_t i = 0; i < c->count; i++) {
        struct phrase *p = &c->phrases[i];
        bool sound = p->said.fault == FAULT_NONE || p->force >= FORCE_LED;
        if (!p->used && p->force >= least && sound && fills(c, p)) {
            use(t, c, p);
        }
    }
}

/* ---- What is wrong ---- */

/* "Monday or Tuesday": two phrases with only "or" between them. */
static bool has_alternative(const struct tokens *t, const struct choice *c)
{
    for (size_t i = 0; i + 1 < c->count; i++) {
        const struct phrase *a = &c->phrases[i], *b = a + 1;
        size_t choice = a->to + token_is(t, a->to, WORD_COMMA);
        if ((a->used || b->used) && token_is(t, choice, WORD_OR) && b->from == choice + 1) {
            return true;
        }
    }
    for (size_t i = 0; i < c->count; i++) { /* "an hour or so", "tomorrow or the day after" */
        size_t next = c->phrases[i].to;
        if (c->phrases[i].used && token_is(t, next, WORD_OR) &&
            (token_is_word(t, next + 1, "so") || token_is(t, next + 1, WORD_THE))) {
            return true;
        }
    }
    return false;
}

/* "every day at": the sentence breaks off. */
static bool breaks_off(const struct tokens *t, const struct choice *c)
{
    static const enum word_class leads[] = {WORD_AT,    WORD_ON, WORD_UNTIL, WORD_FROM,   WORD_BY,
                                            WORD_EVERY, WORD_IN, WORD_START, WORD_BETWEEN};
    size_t last = t->count;
    while (last > 0 && token_is_mark(t, last - 1)) {
        last--;
    }
    for (size_t i = 0; i < c->count; i++) {
        for (size_t k = 0; k < ARRAY_LEN(leads) && c->phrases[i].used; k++) {
            if (c->phrases[i].to + 1 == last && token_is(t, last - 1, leads[k]) &&
                !token_is_word(t, last - 1, "start")) {
                return true;
            }
        }
    }
    return false;
}

/* "before 5pm", "after Friday": not when. */
static bool is_beside_a_fault(const struct tokens *t, const struct choice *c)
{
    for (size_t i = 0; i + 1 < c->count; i++) {
        const struct phrase *a = &c->phrases[i], *b = a + 1;
        bool relative = token_is(t, a->from, WORD_BEFORE) || token_is(t, a->from, WORD_AFTER);
        if (a->kind == PHRASE_FAULT && relative && b->used && a->to == b->from) {
            return true;
        }
    }
    return false;
}

/* "every weekday next week": the week is where it begins and ends. */
static void bound(const struct tokens *t, struct said *said)
{
    struct said period = said_nothing();
    bool next = said->of_week == OF_NEXT || said->of_month == OF_NEXT || said->of_year == OF_NEXT;
    bool this = said->of_week == OF_THIS || said->of_month == OF_THIS || said->of_year == OF_THIS;
    if ((!next && !this) || said->until != NULL || (next && said->start != NULL) ||
        said->has_lasting || said->month_days != 0 || said->dated) {
        return;
    }
    period.of_week = said->of_week;
    period.of_month = said->of_month == OF_EVERY ? OF_NONE : said->of_month;
    period.of_year = said->of_year == OF_EVERY ? OF_NONE : said->of_year;
    said->until = phrase_keep(t, &period);
    said->start = next ? said->until : said->start;
    said->through = true;
    said->of_week = OF_NONE;
    said->of_month = said->of_month == OF_EVERY ? OF_EVERY : OF_NONE;
    said->of_year = said->of_year == OF_EVERY ? OF_EVERY : OF_NONE;
}

/* "every Monday and the 1st of the month", "every 2 days and every Monday": no one rule. */
static bool joins_two(const struct tokens *t, struct choice *c)
{
    for (size_t i = 0; i + 1 < c->count; i++) {
        const struct phrase *a = &c->phrases[i], *b = a + 1;
        if (!a->used || !b->used || !token_is(t, a->to, WORD_AND) || b->from != a->to + 1) {
            continue;
        }
        bool days = (a->said.weekdays != 0 && b->said.month_days != 0) ||
                    (a->said.month_days != 0 && b->said.weekdays != 0);
        if (days || (a->force == FORCE_EVERY && b->force == FORCE_EVERY)) {
            c->blame_from = b->from;
            c->blame_to = b->to;
            return true;
        }
    }
    return false;
}

/* "Thursday from 3pm", "every weekday starting at 8": the start is the time of the day. One time
 * with another start has no meaning. */
static void take_start_time(struct said *said)
{
    bool steps = said_recurs(said) && said->unit <= UNIT_HOUR;
    if (said->start == NULL || steps) {
        return;
    }
    if (said->start->clocks_count > 0 && !said_has_day(said->start) && !said_has_time(said)) {
        said->clocks[said->clocks_count++] = said->start->clocks[0];
        said->start = NULL;
    } else if (said->start->clocks_count > 0 && !said_has_day(said->start)) {
        said->fault = said->fault == FAULT_NONE ? FAULT_CONFLICT : said->fault;
    } else if (!said_recurs(said) && said->fault == FAULT_NONE) {
        said->fault = FAULT_SPAN;
    }
}

static void judge(const struct tokens *t, struct choice *c)
{
    enum said_fault *fault = &c->said.fault;
    take_start_time(&c->said);
    if (c->said.lasting_ahead && !said_recurs(&c->said) && !said_has_day(&c->said)) {
        c->said.every = true; /* for the next 3 days */
        c->said.unit = UNIT_DAY;
    }
    if (said_recurs(&c->said) && c->said.which == OF_NONE) {
        bound(t, &c->said);
    }
    if (*fault == FAULT_NONE && joins_two(t, c)) {
        *fault = FAULT_TWO;
    }
    if (has_alternative(t, c)) {
        *fault = FAULT_ALTERNATIVE;
    } else if (*fault == FAULT_NONE && breaks_off(t, c)) {
        *fault = FAULT_MISSING;
    } else if (*fault == FAULT_NONE && is_beside_a_fault(t, c)) {
        *fault = FAULT_VAGUE;
    } else if (*fault == FAULT_NONE && !said_recurs(&c->said) && c->said.until != NULL) {
        *fault = FAULT_SPAN; /* from tomorrow until Friday */
    } else if (*fault == FAULT_NONE && said_recurs(&c->said) && is_single_day(&c->said)) {
        *fault = FAULT_CONFLICT;
    }
}

/* A meal among the words of the task settles am or pm. */
static enum said_meal meal_of(const struct tokens *t)
{
    enum said_meal meal = MEAL_NONE;
    for (size_t at = 0; at < t->count; at++) {
        bool morning = token_is_word(t, at, "breakfast");
        bool evening = token_is_word(t, at, "dinner") || token_is_word(t, at, "supper");
        meal = morning ? MEAL_BREAKFAST : evening && meal == MEAL_NONE ? MEAL_DINNER : meal;
    }
    return meal;
}

/* Nothing says when: is there at least a reason? */
static void blame(struct choice *c)
{
    for (size_t i = 0; i < c->count; i++) {
        struct phrase *p = &c->phrases[i];
        if (p->said.fault != FAULT_NONE && p->force > FORCE_THING && c->said.fault == FAULT_NONE) {
            c->said.fault = p->said.fault;
            c->blame_from = p->from;
            c->blame_to = p->to;
            p->used = true;
        }
    }
}

/* "for the next 3 days" alone says when. */
static struct phrase *ahead(const struct choice *c)
{
    for (size_t i = 0; i < c->count; i++) {
        if (c->phrases[i].said.lasting_ahead) {
            return &c->phrases[i];
        }
    }
    return NULL;
}

static bool has_time_before(const struct choice *c, const struct phrase *end)
{
    for (const struct phrase *p = c->phrases; p < end; p++) {
        if (p->cluster == end->cluster && p->force > FORCE_THING &&
            (p->said.clocks_count > 0 || p->said.hours != 0 || p->said.unit <= UNIT_HOUR)) {
            return true;
        }
    }
    return false;
}

/* "every day at 9am until June 30 at 5pm": the second time is that of the end. */
static void join_ends(struct choice *c, struct arena *arena)
{
    for (size_t i = 0; i + 1 < c->count; i++) {
        struct phrase *end = &c->phrases[i], *time = end + 1;
        bool dated = end->kind == PHRASE_END && end->said.until != NULL &&
                     end->said.until->clocks_count == 0 && said_has_day(end->said.until);
        if (dated && time->kind == PHRASE_TIME && time->said.clocks_count == 1 &&
            time->from == end->to && has_time_before(c, end)) {
            struct said *until = arena_new(arena, struct said);
            *until = *end->said.until;
            until->clocks[until->clocks_count++] = time->said.clocks[0];
            end->said.until = until;
            end->to = time->to;
            time->kind = PHRASE_FILLER;
            time->force = FORCE_THING;
        }
    }
}

void choose(const struct tokens *t, struct arena *arena, struct choice *out)
{
    choose_find(t, arena, out);
    join_ends(out, arena);
    guard_text(t, out);
    if (out->said.fault != FAULT_NONE) {
        return;
    }
    struct phrase *main = strongest_recurring(out);
    main = main != NULL ? main : strongest_once(out);
    main = main != NULL ? main : ahead(out);
    if (main == NULL) {
        blame(out);
        return;
    }
    use(t, out, main);
    use_cluster(t, out, main);
    fill(t, out, FORCE_LED);
    fill(t, out, FORCE_BARE);
    fill(t, out, FORCE_MAYBE);
    judge(t, out);
    out->said.meal = meal_of(t);
    guard_leftovers(t, out);
}
