/* english/edit_scan.c: what the words of an edit are for: the verb, the name, the new
 * time.
 *
 * SPDX-License-Identifier: MIT */
#include "english/edit_parts.h"

#define SAYING_MAX 4

struct saying {
    const char *words[SAYING_MAX];
    enum edit_verb verb;
    bool strong;
};

/* The longest of those at one place counts, and the first place in the sentence. */
static const struct saying verbs[] = {
    {{"cancel"}, VERB_CANCEL, true},
    {{"delete"}, VERB_CANCEL, true},
    {{"remove"}, VERB_CANCEL, true},
    {{"scrap"}, VERB_CANCEL, true},
    {{"ditch"}, VERB_CANCEL, true},
    {{"discard"}, VERB_CANCEL, true},
    {{"erase"}, VERB_CANCEL, true},
    {{"kill"}, VERB_CANCEL, true},
    {{"drop"}, VERB_CANCEL, true},
    {{"stop"}, VERB_CANCEL, true},
    {{"end"}, VERB_END, true},
    {{"finish"}, VERB_END, false},
    {{"limit"}, VERB_MOVE, true},
    {{"begin"}, VERB_START, false},
    {{"unschedule"}, VERB_CANCEL, true},
    {{"get", "rid", "of"}, VERB_CANCEL, true},
    {{"call", "off"}, VERB_CANCEL, true},
    {{"no", "longer", "need"}, VERB_CANCEL, true},
    {{"no", "longer", "want"}, VERB_CANCEL, true},
    {{"don't", "need"}, VERB_CANCEL, true},
    {{"don't", "want"}, VERB_CANCEL, true},
    {{"do", "not", "need"}, VERB_CANCEL, true},
    {{"forget", "about"}, VERB_CANCEL, true},
    {{"stop", "reminding", "me"}, VERB_CANCEL, true},
    {{"forget"}, VERB_CANCEL, true},
    {{"take", "off"}, VERB_CANCEL, true},
    {{"take"}, VERB_CANCEL, false},
    {{"pause"}, VERB_PAUSE, true},
    {{"suspend"}, VERB_PAUSE, true},
    {{"freeze"}, VERB_PAUSE, true},
    {{"disable"}, VERB_PAUSE, true},
    {{"deactivate"}, VERB_PAUSE, true},
    {{"halt"}, VERB_PAUSE, true},
    {{"mute"}, VERB_PAUSE, true},
    {{"turn", "off"}, VERB_PAUSE, true},
    {{"switch", "off"}, VERB_PAUSE, true},
    {{"on", "hold"}, VERB_PAUSE, true},
    {{"hold", "off"}, VERB_PAUSE, true},
    {{"put", "on", "hold"}, VERB_PAUSE, true},
    {{"resume"}, VERB_RESUME, true},
    {{"unpause"}, VERB_RESUME, true},
    {{"restart"}, VERB_RESUME, true},
    {{"reactivate"}, VERB_RESUME, true},
    {{"continue"}, VERB_RESUME, true},
    {{"enable"}, VERB_RESUME, true},
    {{"reinstate"}, VERB_RESUME, true},
    {{"bring", "back"}, VERB_RESUME, true},
    {{"turn", "on"}, VERB_RESUME, true},
    {{"turn", "back", "on"}, VERB_RESUME, true},
    {{"switch", "on"}, VERB_RESUME, true},
    {{"unfreeze"}, VERB_RESUME, true},
    {{"no"}, VERB_SKIP, false},
    {{"don't", "do"}, VERB_SKIP, true},
    {{"don't", "send"}, VERB_SKIP, true},
    {{"don't", "run"}, VERB_SKIP, true},
    {{"do", "not", "send"}, VERB_SKIP, true},
    {{"do", "not", "run"}, VERB_SKIP, true},
    {{"not", "on"}, VERB_SKIP, false},
    {{"i'm", "away"}, VERB_SKIP, true},
    {{"i", "am", "away"}, VERB_SKIP, true},
    {{"i'm", "off"}, VERB_SKIP, true},
    {{"i'm", "on", "holiday"}, VERB_SKIP, true},
    {{"i'm", "on", "vacation"}, VERB_SKIP, true},
    {{"drop", "out"}, VERB_SKIP, true},
    {{"skip"}, VERB_SKIP, true},
    {{"omit"}, VERB_SKIP, true},
    {{"leave", "out"}, VERB_SKIP, true},
    {{"rename"}, VERB_RENAME, true},
    {{"retitle"}, VERB_RENAME, true},
    {{"relabel"}, VERB_RENAME, true},
    {{"change", "the", "name"}, VERB_RENAME, true},
    {{"change", "the", "title"}, VERB_RENAME, true},
    {{"move"}, VERB_MOVE, true},
    {{"shift"}, VERB_MOVE, true},
    {{"change"}, VERB_MOVE, true},
    {{"switch"}, VERB_MOVE, true},
    {{"reschedule"}, VERB_MOVE, true},
    {{"update"}, VERB_MOVE, true},
    {{"adjust"}, VERB_MOVE, true},
    {{"bump"}, VERB_LATER, true},
    {{"push"}, VERB_LATER, true},
    {{"push", "back"}, VERB_LATER, true},
    {{"postpone"}, VERB_LATER, true},
    {{"delay"}, VERB_LATER, true},
    {{"defer"}, VERB_LATER, true},
    {{"put", "off"}, VERB_LATER, true},
    {{"snooze"}, VERB_LATER, true},
    {{"bring", "forward"}, VERB_EARLIER, true},
    {{"pull", "forward"}, VERB_EARLIER, true},
    {{"move", "up"}, VERB_EARLIER, true},
    {{"advance"}, VERB_EARLIER, true},
    {{"bring"}, VERB_EARLIER, true},
    {{"add"}, VERB_ADD, false},
    {{"do"}, VERB_DO, false},
    {{"run"}, VERB_DO, false},
    {{"make"}, VERB_DO, false},
    {{"set"}, VERB_DO, false},
    {{"have"}, VERB_DO, false},
    {{"start"}, VERB_START, false},
    {{"starts"}, VERB_START, false},
    {{"put"}, VERB_DO, false},
    {{"keep"}, VERB_DO, false},
    {{"send"}, VERB_DO, false},
};

static size_t saying_len(const struct tokens *t, size_t at, const struct saying *saying)
{
    size_t n = 0;
    while (n < SAYING_MAX && saying->words[n] != NULL) {
        if (!token_is_word(t, at + n, saying->words[n])) {
            return 0;
        }
        n++;
    }
    return n;
}

static void find_verb(struct edit *e)
{
    for (size_t at = 0; at < e->t.count; at++) {
        size_t best = 0;
        for (size_t i = 0; i < ARRAY_LEN(verbs); i++) {
            size_t n = saying_len(&e->t, at, &verbs[i]);
            bool better = verbs[i].strong && !e->strong;
            if (n > best && (e->verb == VERB_NONE || better || at == e->verb_at)) {
                best = n;
                e->verb = verbs[i].verb;
                e->strong = verbs[i].strong;
                e->verb_at = at;
                e->verb_to = at + n;
            }
        }
    }
    for (size_t at = e->verb_at; at < e->verb_to; at++) {
        e->use[at] = USE_VERB;
    }
}

/* call the backup "nightly dump", call it morning brief */
static void find_call(struct edit *e)
{
    size_t last = e->t.count - 1;
    bool it = token_is_word(&e->t, 0, "call") && token_is_word(&e->t, 1, "it") && last > 1 &&
              e->asked->count > 0;
    if (it) {
        e->verb = VERB_RENAME;
        e->strong = true;
        e->verb_at = 0;
        e->verb_to = 1;
        for (size_t at = 0; at < e->t.count; at++) {
            e->use[at] = USE_VERB;
        }
        return;
    }
    if (token_is_word(&e->t, 0, "call") && e->t.at[last].quoted && last > 1 &&
        (token_is(&e->t, 1, WORD_THE) || token_is(&e->t, 1, WORD_MY))) {
        e->verb = VERB_RENAME;
        e->strong = true;
        e->verb_at = 0;
        e->verb_to = 1;
        e->use[0] = USE_VERB;
    }
}

/* "turn the backup back on": the verb stands around the name. */
static void find_split_verb(struct edit *e)
{
    static const struct {
        const char *first, *last;
        enum edit_verb verb;
    } split[] = {
        {"turn", "on", VERB_RESUME},    {"turn", "off", VERB_PAUSE},
        {"switch", "on", VERB_RESUME},  {"switch", "off", VERB_PAUSE},
        {"bring", "back", VERB_RESUME}, {"call", "off", VERB_CANCEL},
        {"put", "off", VERB_LATER},     {"leave", "out", VERB_SKIP},
        {"put", "on hold", VERB_PAUSE}, {"place", "on hold", VERB_PAUSE},
    };
    size_t last = e->t.count;
    while (last > 0 && (token_is_mark(&e->t, last - 1) || token_is_word(&e->t, last - 1, "again") ||
                        token_is_word(&e->t, last - 1, "please"))) {
        last--;
    }
    for (size_t first = 0; first < MIN(3, last); first++) {
        for (size_t i = 0; i < ARRAY_LEN(split) && last > first + 1; i++) {
            size_t words = strchr(split[i].last, ' ') != NULL ? 2 : 1;
            if (token_is_word(&e->t, first, split[i].first) && last > first + words &&
                token_spells(&e->t, last - words, split[i].last) == last) {
                e->verb = split[i].verb;
                e->strong = true;
                e->verb_at = first;
                e->verb_to = first + 1;
                e->use[first] = e->use[last - words] = e->use[last - 1] = USE_VERB;
            }
        }
    }
}

/* ---- Words that say what kind of change ---- */

static bool has_pair(const struct tokens *t, size_t at, const char *first, const char *second)
{
    return token_is_word(t, at, first) && token_is_word(t, at + 1, second);
}

static void find_markers(struct edit *e)
{
    const struct tokens *t = &e->t;
    for (size_t at = 0; at < t->count; at++) {
        e->instead |= token_is_word(t, at, "instead");
        e->also |= token_is_word(t, at, "too") || token_is_word(t, at, "also");
        e->only |= token_is(t, at, WORD_ONLY) || has_pair(t, at, "is", "now") ||
                   has_pair(t, at, "should", "be");
        e->not_more |= token_is_word(t, at, "anymore") || has_pair(t, at, "no", "longer");
        e->for_now |= has_pair(t, at, "for", "now") || token_is_word(t, at, "temporarily") ||
                      (has_pair(t, at, "for", "a") && token_is_word(t, at + 2, "while"));
        e->again |= token_is_word(t, at, "again") || token_is_word(t, at, "back");
        e->all |= token_is_word(t, at, "all") || token_is_word(t, at, "everything") ||
                  token_is_word(t, at, "both") || token_is_word(t, at, "ones");
        e->also |= has_pair(t, at, "as", "well");
        e->only |= token_spells(t, at, "from now on") > at;
        e->has_pronoun |= token_is_word(t, at, "it") || token_is_word(t, at, "that") ||
                          has_pair(t, at, "same", "thing");
        e->has_one |= token_is_word(t, at, "one") || token_is_word(t, at, "ones");
    }
}

/* ---- Which phrases name, which say the new time ---- */

static bool is_filler_noun(const struct tokens *t, size_t at)
{
    static const char *const nouns[] = {"one",   "ones",  "reminder", "reminders", "task",
                                        "tasks", "thing", "job",      "schedule",  "alarm",
                                        "item",  "entry", "event"};
    for (size_t i = 0; i < ARRAY_LEN(nouns); i++) {
        if (token_is_word(t, at, nouns[i])) {
            return true;
        }
    }
    return false;
}

static bool matches_some_title(const struct edit *e, size_t at)
{
    for (size_t i = 0; i < e->asked->count && i < EDIT_SCHEDULES_MAX; i++) {
        if (edit_matches_title(e, at, e->asked->schedules[i].title)) {
            return true;
        }
    }
    return false;
}

static bool leads_value(const struct tokens *t, size_t at)
{
    return token_is(t, at, WORD_TO) || token_is(t, at, WORD_AT) || token_is(t, at, WORD_ON) ||
           token_is(t, at, WORD_BY) || token_is(t, at, WORD_FROM);
}

/* "the Monday one", "my 9am standup", "daily report"; and "the one at 9am". */
static bool names(const struct edit *e, const struct phrase *p)
{
    const struct tokens *t = &e->t;
    bool noun_after =
        is_filler_noun(t, p->to) || (token_is_plain(t, p->to) && matches_some_title(e, p->to));
    bool led = p->from > 0 && leads_value(t, p->from - 1);
    bool after_one = p->from > 0 && (token_is_word(t, p->from - 1, "one")) && p->from > 1 &&
                     token_is(t, p->from - 2, WORD_THE);
    return (noun_after && !led && !leads_value(t, p->from)) || after_one;
}

static void mark(struct edit *e, const struct phrase *p, enum edit_use use)
{
    for (size_t at = p->from; at < p->to; at++) {
        e->use[at] = e->use[at] == USE_VERB ? USE_VERB : use;
    }
}

/* Words of the phrase that are words of titles name by title, not by time. */
static bool is_title_word(const struct edit *e, const struct phrase *p)
{
    for (size_t at = p->from; at < p->to; at++) {
        if (!matches_some_title(e, at)) {
            return false;
        }
    }
    return true;
}

static bool is_time_phrase(const struct phrase *p)
{
    return p->kind != PHRASE_FAULT && p->kind != PHRASE_FILLER && p->kind != PHRASE_ZONE;
}

static void add_value(struct edit *e, const struct phrase *p)
{
    bool fine = said_add(&e->value, &p->said);
    if (!fine && e->value.fault == FAULT_NONE) {
        e->value.fault = FAULT_CONFLICT;
    }
    e->has_value = true;
}

/* "Tuesday instead of Monday": what goes. */
static void find_replaced(struct edit *e)
{
    const struct tokens *t = &e->t;
    for (size_t at = 0; at < t->count; at++) {
        size_t from = token_spells(t, at, "instead of");
        from = from > at ? from : token_spells(t, at, "rather than");
        size_t what =
            from + (from > at && (token_is(t, from, WORD_AT) || token_is(t, from, WORD_ON)));
        if (from == at) {
            continue;
        }
        size_t to = phrase_weekdays(t, what, &e->replaced);
        to = to > what ? to : phrase_clocks(t, what, true, &e->replaced);
        if (to > what) {
            e->has_replaced = true;
            for (size_t i = at; i < to; i++) {
                e->use[i] = USE_VERB;
            }
        }
    }
}

/* "24 and 25 October": numbers of a list of dates are no name. */
static void mark_listed_dates(struct edit *e)
{
    struct said before = said_nothing(), one;
    for (size_t at = 0; at < e->t.count; at++) {
        size_t to = phrase_listed_date(&e->t, at, before.dated ? &before : NULL, &one);
        if (to > at) {
            for (size_t i = at; i < to; i++) {
                e->use[i] = e->use[i] == USE_NONE ? USE_VALUE : e->use[i];
            }
            before = one;
            at = to - 1;
        } else if (!token_is(&e->t, at, WORD_AND) && !token_is(&e->t, at, WORD_COMMA)) {
            before = said_nothing();
        }
    }
}

/* "to Berlin time", "to UTC". */
static void find_zone_name(struct edit *e)
{
    const struct tokens *t = &e->t;
    for (size_t at = 1; at < t->count; at++) {
        struct phrase p = {.said = said_nothing()};
        bool led = token_is(t, at - 1, WORD_TO) || token_is(t, at - 1, WORD_ON) ||
                   token_is(t, at - 1, WORD_IN) || token_is_word(t, at - 1, "use");
        size_t to = phrase_zone(t, at, led && t->at[at].text.len >= 2, &p);
        if (to > at && p.kind == PHRASE_ZONE && p.said.zone != NULL && e->use[at] == USE_NONE) {
            e->zone = p.said.zone;
            for (size_t i = at; i < to; i++) {
                e->use[i] = USE_VALUE;
            }
            return;
        }
    }
}

static void sort_phrases(struct edit *e)
{
    for (size_t i = 0; i < e->phrases.count; i++) {
        struct phrase *p = &e->phrases.phrases[i];
        bool in_verb = p->from < e->verb_to && p->to > e->verb_at;
        /* "should only start in January": the verb is a part of when. */
        bool starts = in_verb && e->verb == VERB_START && p->said.start != NULL;
        bool not_on = in_verb && e->verb == VERB_SKIP && p->kind == PHRASE_DAY;
        in_verb = in_verb && !starts && !not_on;
        if (p->kind == PHRASE_EXCEPT && in_verb && p->said.except_days_count == 1) {
            e->instance = *p->said.except_days[0]; /* "not on Christmas" */
            e->has_instance = true;
            mark(e, p, USE_VALUE);
        } else if (p->kind == PHRASE_EXCEPT && in_verb && p->said.except_weekdays != 0) {
            e->value.weekdays = p->said.except_weekdays; /* "not on Sundays" */
            e->value.plural = e->has_value = true;
            mark(e, p, USE_VALUE);
        }
        if (e->use[p->from] == USE_VERB && e->has_replaced && p->from >= e->verb_to) {
            continue;
        }
        bool past = p->said.fault == FAULT_PAST || p->said.fault == FAULT_IMPOSSIBLE ||
                    p->said.fault == FAULT_VAGUE || p->said.fault == FAULT_ALTERNATIVE;
        bool old = p->said.start != NULL && p->said.until == NULL &&
                   token_is(&e->t, p->from, WORD_FROM) && token_is(&e->t, p->to, WORD_TO);
        if (p->kind == PHRASE_FILLER || old) { /* "from weekdays to every day": as it was */
            mark(e, p, USE_VERB);
        }
        /* "an hour later" is a shift, found by its amount. */
        if (in_verb || old || token_is_word(&e->t, p->from, "later") ||
            (!is_time_phrase(p) && !past)) {
            continue;
        }
        if (names(e, p)) {
            bool title = is_title_word(e, p);
            mark(e, p, title ? USE_NAME : USE_WHICH);
            (void)(title || said_add(&e->which, &p->said));
            e->has_one |= !title;
        } else {
            mark(e, p, USE_VALUE);
            add_value(e, p);
        }
    }
}

/* "move it to 5": a number that only an edit takes for a time of the day. */
static void find_bare_hour(struct edit *e)
{
    const struct tokens *t = &e->t;
    for (size_t at = 0; !e->has_value && at + 1 < t->count; at++) {
        struct phrase p = {.from = at + 1, .said = said_nothing()};
        if (!token_is(t, at, WORD_TO) || e->use[at + 1] != USE_NONE) {
            continue;
        }
        p.to = phrase_clocks(t, p.from, true, &p.said);
        bool last = p.to >= t->count || token_is_mark(t, p.to);
        if (p.to > p.from && last) {
            mark(e, &p, USE_VALUE);
            add_value(e, &p);
        }
    }
}

/* ---- tomorrow's, the next ---- */

static void find_instance(struct edit *e)
{
    const struct tokens *t = &e->t;
    for (size_t at = 0; at < t->count; at++) {
        struct said said = said_nothing();
        if (t->at[at].possessive && token_is(t, at, WORD_TODAY)) {
            said.has_offset = true;
            said.offset = token_value(t, at, WORD_TODAY);
        } else if (t->at[at].possessive && token_is(t, at, WORD_TONIGHT)) {
            said.has_offset = true;
        } else if (t->at[at].possessive && token_is(t, at, WORD_WEEKDAY)) {
            said.weekdays = 1u << (token_value(t, at, WORD_WEEKDAY) & 7);
        } else if (t->at[at].possessive && token_is_unit(t, at, UNIT_WEEK) && at > 0) {
            said.of_week = token_is(t, at - 1, WORD_NEXT) ? OF_NEXT : OF_THIS;
        } else if (token_is(t, at, WORD_NEXT) && e->use[at] == USE_NONE) {
            e->next = true;
            e->use[at] = USE_VERB;
            continue;
        } else {
            continue;
        }
        e->use[at] = USE_WHICH;
        e->instance = said;
        e->has_instance = true;
    }
}

/* ---- An hour earlier, by two days ---- */

static int direction(const struct edit *e, size_t at)
{
    const struct tokens *t = &e->t;
    if (token_is_word(t, at, "earlier") || token_is_word(t, at, "sooner") ||
        token_is_word(t, at, "forward") || token_is_word(t, at, "up") ||
        token_is_word(t, at, "ahead")) {
        return -1;
    }
    return token_is_word(t, at, "later") || token_is_word(t, at, "back") ||
           token_is_word(t, at, "out");
}

static void find_shift(struct edit *e)
{
    const struct tokens *t = &e->t;
    for (size_t at = 0; at < t->count; at++) {
        struct amount amount;
        size_t to = e->use[at] == USE_VALUE ? at : phrase_amount(t, at, &amount);
        if (to == at) {
            continue;
        }
        int sign = direction(e, to);
        bool by = at > 0 && token_is(t, at - 1, WORD_BY);
        int before = direction(e, at - (at > 0) - by);
        bool verb_shifts = e->verb == VERB_LATER || e->verb == VERB_EARLIER;
        if (sign == 0 && !by && !(before != 0 && at > 0) && !verb_shifts) {
            continue;
        }
        e->has_shift = true;
        e->shift = amount;
        e->shift_sign = sign != 0                 ? sign
                        : before != 0 && at > 0   ? before
                        : e->verb == VERB_EARLIER ? -1
                                                  : 1;
        for (size_t i = at; i < to + (sign != 0); i++) {
            e->use[i] = USE_VALUE;
        }
        return;
    }
}

/* ---- All of it ---- */

/* "drop Thursday from the gym", "take Thursday off the gym" */
static bool takes_away(const struct edit *e)
{
    const struct tokens *t = &e->t;
    for (size_t at = 1; at < t->count; at++) {
        bool off = token_is(t, at, WORD_FROM) || token_is_word(t, at, "off") ||
                   token_is_word(t, at, "out");
        bool name = token_is(t, at + 1, WORD_THE) || token_is(t, at + 1, WORD_MY) ||
                    token_is(t, at + 1, WORD_OF);
        if (off && name && e->use[at - 1] == USE_VALUE) {
            return true;
        }
    }
    return false;
}

/* "from Monday to Tuesday": the second is new. */
static void split_range(struct edit *e)
{
    const struct tokens *t = &e->t;
    for (size_t at = 0; at + 3 < t->count; at++) {
        if (token_is(t, at, WORD_FROM) && token_is(t, at + 2, WORD_TO) &&
            token_is(t, at + 1, WORD_WEEKDAY) && token_is(t, at + 3, WORD_WEEKDAY)) {
            e->value.weekdays = 1u << (token_value(t, at + 3, WORD_WEEKDAY) & 7);
            e->value.listed = false;
            e->replaced.weekdays = 1u << (token_value(t, at + 1, WORD_WEEKDAY) & 7);
            e->has_replaced = true;
        }
    }
    if (e->value.has_window && e->value.unit > UNIT_HOUR) {
        e->value.has_window = false;
        e->value.clocks[0] = e->value.to;
        e->value.clocks_count = 1;
    }
}

void edit_scan(struct edit *e)
{
    find_verb(e);
    find_split_verb(e);
    find_call(e);
    find_markers(e);
    find_replaced(e);
    find_zone_name(e);
    sort_phrases(e);
    find_bare_hour(e);
    find_instance(e);
    find_shift(e);
    if (e->verb == VERB_SKIP || e->verb == VERB_CANCEL) {
        mark_listed_dates(e);
    }
    e->from_name = takes_away(e);
    split_range(e);
    if (e->verb == VERB_START && e->again) {
        e->verb = VERB_RESUME;
    }
    if (e->also && (e->verb == VERB_DO || e->verb == VERB_NONE)) {
        e->verb = VERB_ADD;
    }
}
