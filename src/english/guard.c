/* english/guard.c: what must not be scheduled: texts that are no order at all, and orders with a
 * word left over that looks like a part of when.
 *
 * Every word has its place. A date, time, zone, holiday, count or exception that no phrase took is
 * a reason to refuse, and is quoted; it never lands in the title while the rest is scheduled. It
 * may stay in the title only where it is plainly the thing to do: "the Friday team", "chapter 7".
 *
 * SPDX-License-Identifier: MIT */
#include "english/phrase.h"

#define HOUR_LIKE 24 /* a number up to this may be an hour */

void guard_refuse(struct choice *c, enum said_fault fault, size_t from, size_t to)
{
    if (c->said.fault == FAULT_NONE) {
        c->said.fault = fault;
        c->blame_from = from;
        c->blame_to = to;
    }
}

static bool is_one_of(const struct tokens *t, size_t at, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (token_is_word(t, at, words[i])) {
            return true;
        }
    }
    return false;
}

#define IS_ONE_OF(t, at, words) is_one_of(t, at, words, ARRAY_LEN(words))

/* ---- Rules, cron, questions, negations ---- */

static bool contains(struct str text, const char *part)
{
    struct str want = str_of(part);
    for (size_t i = 0; i + want.len <= text.len; i++) {
        if (str_eq_nocase((struct str){text.ptr + i, want.len}, want)) {
            return true;
        }
    }
    return false;
}

/* Five fields of digits, stars and the like at the beginning. */
static bool is_cron(struct str text)
{
    struct str rest = str_trim(text);
    bool star = false, digit = false;
    for (int field = 0; field < 5; field++) {
        rest = str_trim(rest);
        struct str word = str_cut(&rest, ' ');
        if (word.len == 0) {
            return false;
        }
        for (size_t i = 0; i < word.len; i++) {
            if (strchr("0123456789*/,-?LW#", word.ptr[i]) == NULL) {
                return false;
            }
            star |= word.ptr[i] == '*';
            digit |= word.ptr[i] >= '0' && word.ptr[i] <= '9';
        }
    }
    return star || digit;
}

static void check_notation(const struct tokens *t, struct choice *c)
{
    static const char *const macros[] = {"@daily",  "@hourly",   "@weekly", "@monthly",
                                         "@yearly", "@annually", "@reboot", "@midnight"};
    if (contains(t->text, "FREQ=") || contains(t->text, "RRULE:")) {
        guard_refuse(c, FAULT_RULE, 0, t->count);
    } else if (is_cron(t->text)) {
        guard_refuse(c, FAULT_CRON, 0, MIN(t->count, 5));
    }
    for (size_t i = 0; i < ARRAY_LEN(macros); i++) {
        struct str text = str_trim(t->text), macro = str_of(macros[i]);
        if (text.len >= macro.len && str_eq_nocase((struct str){text.ptr, macro.len}, macro)) {
            guard_refuse(c, FAULT_CRON, 0, MIN(t->count, 2));
        }
    }
}

/* The first word that is not a greeting. */
static size_t opening(const struct tokens *t)
{
    static const char *const greetings[] = {"hey",  "hi",  "hello", "ok",   "okay", "please",
                                            "pls",  "and", "so",    "well", "um",   "btw",
                                            "just", "plz", "also",  "then", "yo",   "dear"};
    size_t at = 0;
    while (at < t->count && (token_is_mark(t, at) || IS_ONE_OF(t, at, greetings))) {
        at++;
    }
    return at;
}

static void check_question(const struct tokens *t, struct choice *c)
{
    static const char *const asks[] = {
        "what",  "what's", "whats", "where",  "where's", "why",     "who",    "who's", "whose",
        "which", "how",    "how's", "did",    "does",    "is",      "are",    "was",   "were",
        "has",   "am",     "isn't", "aren't", "didn't",  "doesn't", "when's", "whens",
    };
    static const char *const helpers[] = {"do",    "have",  "should", "shall", "will", "can",
                                          "could", "would", "may",    "might", "when"};
    static const char *const people[] = {"i",   "we",   "they",   "he",   "she", "it",  "there",
                                         "is",  "are",  "was",    "does", "did", "do",  "will",
                                         "has", "have", "should", "were", "can", "the", "my"};
    size_t at = opening(t);
    bool plain = IS_ONE_OF(t, at, asks);
    bool helped = IS_ONE_OF(t, at, helpers) && IS_ONE_OF(t, at + 1, people);
    bool the = token_is(t, at + 1, WORD_THE) || token_is(t, at + 1, WORD_MY);
    bool marked = t->count > 0 && str_is(t->at[t->count - 1].text, "?");
    bool when =
        token_is_word(t, at, "when") || token_is_word(t, at, "do") || token_is_word(t, at, "have");
    bool can_we = IS_ONE_OF(t, at, helpers) && !when &&
                  (token_is_word(t, at + 1, "i") || token_is_word(t, at + 1, "we"));
    /* "do the dishes", "when I am back": an order, a condition. */
    if (plain || (helped && (!the || marked) &&
                  !(token_is_word(t, at, "when") &&
                    (token_is_word(t, at + 1, "i") || token_is_word(t, at + 1, "we") ||
                     token_is_word(t, at + 1, "it") || the) &&
                    !marked) &&
                  !can_we)) {
        guard_refuse(c, FAULT_QUESTION, at, MIN(at + 1, t->count));
    }
}

static void check_negation(const struct tokens *t, struct choice *c)
{
    static const char *const sayings[] = {"don't", "dont", "do not", "never", "no more", "no",
                                          "not",   "stop", "don’t",  "quit",  "cease"};
    static const char *const fine[] = {
        "don't forget",        "dont forget",         "do not forget",      "never forget",
        "don't let me forget", "don’t forget",        "dont let me forget", "do not let me forget",
        "don’t let me forget", "don't let us forget", "don't let me miss",  "don't miss",
        "dont miss",           "do not miss"};
    size_t at = opening(t);
    size_t to = at;
    for (size_t i = 0; i < ARRAY_LEN(fine); i++) {
        if (token_spells(t, at, fine[i]) > at) {
            return;
        }
    }
    for (size_t i = 0; i < ARRAY_LEN(sayings); i++) {
        to = MAX(to, token_spells(t, at, sayings[i]));
    }
    bool stop_by = token_spells(t, at, "stop by") > at || token_spells(t, at, "stop at") > at;
    if (to > at && !stop_by) {
        guard_refuse(c, FAULT_NEGATION, at, to);
    }
}

void guard_text(const struct tokens *t, struct choice *c)
{
    check_notation(t, c);
    size_t from, to;
    if (foreign_find(t, &from, &to)) {
        guard_refuse(c, FAULT_LANGUAGE, from, to);
    }
    check_question(t, c);
    check_negation(t, c);
}

/* ---- Left over ---- */

struct guard {
    const struct tokens *t;
    struct choice *c;
    const struct phrase **of; /* of each token the phrase it is in, or NULL */
};

static bool is_taken(const struct guard *g, size_t at)
{
    return at < g->t->count && g->of[at] != NULL && g->of[at]->used;
}

/* Is a phrase of the order right before or behind, with at most a comma between? */
static bool is_beside(const struct guard *g, size_t from, size_t to)
{
    size_t after = to + token_is(g->t, to, WORD_COMMA);
    size_t before = from > 0 && token_is(g->t, from - 1, WORD_COMMA) ? from - 1 : from;
    return is_taken(g, after) || (before > 0 && is_taken(g, before - 1));
}

static bool has_day(const struct guard *g)
{
    return said_has_day(&g->c->said) || said_recurs(&g->c->said);
}

static bool has_time(const struct guard *g)
{
    return said_has_time(&g->c->said) || g->c->said.has_in || g->c->said.minutes != 0 ||
           g->c->said.unit <= UNIT_HOUR;
}

/* A word of the task that can be what a name belongs to: "the Friday team". */
static bool is_thing(const struct guard *g, size_t at)
{
    return at < g->t->count && !is_taken(g, at) && g->t->at[at].count == 0 &&
           !token_is_mark(g->t, at);
}

static bool is_determiner(const struct tokens *t, size_t at)
{
    static const char *const words[] = {"about", "of",      "no.", "these", "those", "some",
                                        "any",   "another", "for", "with",  "this",  "on"};
    return token_is(t, at, WORD_THE) || token_is(t, at, WORD_MY) || token_is(t, at, WORD_A) ||
           IS_ONE_OF(t, at, words) || (at < t->count && t->at[at].possessive);
}

/* Films, songs and books have such names: "watch Friday the 13th". */
static bool is_title_of_work(const struct tokens *t, size_t at)
{
    static const char *const verbs[] = {
        "watch",    "watching", "read",     "rewatch", "stream", "play",   "sing",
        "hear",     "record",   "review",   "see",     "listen", "reread", "perform",
        "practice", "practise", "rehearse", "film",    "movie",  "song",   "novel",
        "album",    "series",   "download", "finish",  "episode"};
    for (size_t back = 1; back <= MIN(at, 4); back++) {
        size_t before = at - back;
        if (IS_ONE_OF(t, before, verbs)) {
            return true;
        }
        char first = t->at[before].text.ptr[0];
        bool goes_on = token_is(t, before, WORD_TO) || token_is(t, before, WORD_THE) ||
                       (first >= 'A' && first <= 'Z');
        if (!goes_on) {
            return false;
        }
    }
    return false;
}

/* Said of people whose names are months: "ask May about it". */
static bool is_person(const struct guard *g, size_t at)
{
    static const char *const verbs[] = {
        "call",         "email",     "mail",      "ask",   "text",   "tell", "meet",
        "ping",         "message",   "invite",    "thank", "visit",  "with", "for",
        "to",           "from",      "phone",     "ring",  "remind", "help", "pay",
        "congratulate", "greet",     "introduce", "by",    "skype",  "see",  "brief",
        "join",         "interview", "pick",      "send",  "give",   "and",  "bring",
        "write",        "contact",   "nudge",     "aunt",  "miss",   "ms"};
    static const char *const names[] = {"april", "may",   "june", "august", "jan",
                                        "mar",   "march", "apr",  "jun",    "aug"};
    const struct tokens *t = g->t;
    char first = t->at[at].text.ptr[0];
    if (at == 0 || first < 'A' || first > 'Z' || !IS_ONE_OF(t, at, names)) {
        return false;
    }
    return IS_ONE_OF(t, at - 1, verbs) || token_is(t, at - 1, WORD_AND) ||
           token_is(t, at - 1, WORD_FOR) || (is_thing(g, at - 1));
}

/* "check if it is up" is a task, "if it rains" is not. */
static bool condition_is_task(const struct guard *g, size_t at)
{
    static const char *const verbs[] = {
        "check",   "see",    "ask",  "out",  "know", "test",      "verify", "sure", "wonder",
        "confirm", "decide", "look", "tell", "me",   "determine", "as",     "what", "even",
        "whether", "him",    "her",  "them", "us",   "find",      "only"};
    return at > 0 && (IS_ONE_OF(g->t, at - 1, verbs) ||
                      (is_thing(g, at - 1) && at > 1 && IS_ONE_OF(g->t, at - 2, verbs)));
}

/* May an unused phrase stay in the title? */
static bool phrase_is_task(const struct guard *g, const struct phrase *p)
{
    const struct tokens *t = g->t;
    const struct said *said = &p->said;
    bool thing_after = is_thing(g, p->to) || (p->to < t->count && t->at[p->to].quoted);
    bool determined = p->from > 0 && is_determiner(t, p->from - 1);
    bool opens_determined = token_is(t, p->from, WORD_THE) || token_is(t, p->from, WORD_THIS);
    bool beside = is_beside(g, p->from, p->to);
    bool part_only = p->kind == PHRASE_TIME && said->clocks_count == 0 && !said->has_window &&
                     !said->time_now && said->minutes == 0;
    if (p->kind == PHRASE_FILLER || (is_title_of_work(t, p->from) && has_day(g))) {
        return true;
    }
    if (p->kind == PHRASE_FAULT && token_is(t, p->to - 1, WORD_EVENT)) {
        return said_has_day(&g->c->said); /* "on my birthday, May 15" */
    }
    if (p->kind == PHRASE_FAULT) {
        bool until = token_is(t, p->from, WORD_UNTIL) || token_is_word(t, p->from, "unless");
        bool vague = said->fault == FAULT_VAGUE && (beside || p->from == 0);
        bool when = token_is(t, p->from, WORD_WHEN) && said_recurs(&g->c->said);
        return !until && !vague && !(when && !condition_is_task(g, p->from));
    }
    if (part_only) { /* "movie night", "parents evening" */
        return p->from > 0 && !(beside && !has_time(g));
    }
    if (p->kind == PHRASE_OFTEN && p->force <= FORCE_BARE) { /* "the weekly rent" */
        return thing_after || determined;
    }
    if (p->kind == PHRASE_END && (said->has_lasting || said->count > 0)) {
        bool clock = said->has_lasting && said->lasting.unit <= UNIT_HOUR;
        return clock || !beside; /* "meditate for 20 minutes", "for 3 nights" */
    }
    if (p->kind == PHRASE_ZONE || p->kind == PHRASE_EXCEPT || p->kind == PHRASE_START ||
        p->kind == PHRASE_END) {
        return false;
    }
    if ((determined || opens_determined) && thing_after) {
        return true; /* "the Friday team", "the 9am train" */
    }
    bool holiday = said->holiday != 0 || said->fault == FAULT_NO_HOLIDAY;
    if (has_day(g) && has_time(g) && !beside && p->from > 0 && is_thing(g, p->from - 1) &&
        (holiday || token_is(t, p->from, WORD_FOR))) {
        return true; /* "pack for the weekend", "plan the summer holidays" */
    }
    if (said->has_offset && said_recurs(&g->c->said) && !beside && p->from > 0) {
        return true; /* "every evening at 9 tell me the weather for tomorrow" */
    }
    bool named = said->holiday != 0 || said->fault == FAULT_NO_HOLIDAY || said->weekdays != 0 ||
                 said->fault == FAULT_PAST || said->months != 0;
    return (named && thing_after && has_day(g) && !(p->from > 0 && is_taken(g, p->from - 1))) ||
           (determined && has_day(g) && has_time(g) && !beside);
}

/* "chapter 7", "room 405" */
static bool is_numbered(const struct tokens *t, size_t at)
{
    static const char *const numbered[] = {
        "chapter",   "room",     "unit",      "order",    "row",       "page",     "gate",
        "form",      "flight",   "bus",       "line",     "train",     "table",    "seat",
        "apartment", "apt",      "suite",     "lot",      "version",   "step",     "season",
        "episode",   "part",     "volume",    "lesson",   "track",     "route",    "exit",
        "zone",      "team",     "grade",     "class",    "size",      "level",    "floor",
        "building",  "block",    "section",   "item",     "invoice",   "ticket",   "issue",
        "bug",       "case",     "ward",      "bed",      "number",    "no",       "phase",
        "round",     "sprint",   "option",    "highway",  "pages",     "chapters", "rooms",
        "units",     "platform", "pier",      "door",     "box",       "locker",   "channel",
        "exercise",  "module",   "slide",     "question", "problem",   "verse",    "psalm",
        "draft",     "node",     "server",    "port",     "pod",       "rack",     "release",
        "milestone", "account",  "extension", "policy",   "claim",     "job",      "task",
        "batch",     "group",    "tier",      "act",      "scene",     "week",     "day",
        "year",      "quarter",  "area",      "article",  "paragraph", "figure",   "aisle",
        "rows",      "steps",    "lines",     "rule",     "stage",     "set",      "vol",
        "nr",        "terminal", "lane",      "dock",     "bay",       "pump",     "kiln",
        "ward",      "theatre",  "hall",      "studio"};
    return IS_ONE_OF(t, at, numbered);
}

/* A number below or beside the times that were said: one more of them, in a place where the grammar
 * does not take one. */
static bool is_one_more_time(const struct guard *g, size_t at, bool hour_like)
{
    const struct tokens *t = g->t;
    size_t before = at > 0 ? at - 1 : t->count;
    const struct phrase *said = before > 0 && is_taken(g, before - 1) ? g->of[before - 1] : NULL;
    bool joins = token_is(t, before, WORD_AND) || token_is(t, before, WORD_OR);
    if (said != NULL && hour_like && joins && said->said.clocks_count > 0) {
        return true; /* "at 12 and 24" */
    }
    bool listed = before < t->count && str_is(t->at[before].text, ":");
    if (said != NULL && hour_like && listed && !has_time(g)) {
        return true; /* "mon/wed/fri: 7 swim" */
    }
    bool to = token_is(t, before, WORD_TO) || token_is(t, before, WORD_UNTIL) ||
              token_is(t, before, WORD_DASH);
    if (said != NULL && to && token_is(t, said->from, WORD_FROM)) {
        return true; /* "from 3pm to 25" */
    }
    size_t after = at + 1 + (token_is(t, at + 1, WORD_AND) || token_is(t, at + 1, WORD_COMMA));
    return after > at + 1 && hour_like && is_taken(g, after) &&
           g->of[after]->said.clocks_count > 0 && g->of[after]->from == after &&
           !token_is(t, after, WORD_AT); /* "10 and 4pm" */
}

/* A number: is it plainly how many, or which one? */
static bool number_is_task(const struct guard *g, size_t at)
{
    const struct tokens *t = g->t;
    const struct token *token = &t->at[at];
    size_t before = at > 0 ? at - 1 : t->count;
    bool hash = before < t->count && str_is(t->at[before].text, "#");
    bool led = token_is(t, before, WORD_AT) || token_is(t, before, WORD_BEFORE) ||
               token_is(t, before, WORD_AFTER) || token_is(t, before, WORD_UNTIL) ||
               token_is(t, before, WORD_BETWEEN);
    bool hour_like =
        token->number <= HOUR_LIKE || (token->text.len >= 3 && token->number < 2400 &&
                                       token->number % 100 < 60 && !token_is_plain(t, at + 1));
    bool one = !token->digits && token->number == 1; /* "one on one" */
    bool opens = token_is(t, before, WORD_ABOUT) || token_is(t, before, WORD_FROM);
    led = led || (opens && (before == 0 || is_taken(g, before - 1)));
    bool year = token_is(t, before, WORD_IN) && token->number >= 1900 && token->number < 2200;
    if (year && !is_thing(g, before - (before > 0))) {
        return false; /* "in 2027" */
    }
    if ((token_is(t, at + 1, WORD_OF) && is_taken(g, at + 2)) ||
        (at >= 3 && token_spells(t, at - 3, "in the year") == at)) {
        return false; /* "15 of each month", "in the year 2028" */
    }
    if (is_one_more_time(g, at, hour_like)) {
        return false;
    }
    if (hash || one || is_numbered(t, before) || token->is_year) {
        return true;
    }
    bool counts = is_thing(g, at + 1) || token_is(t, at + 1, WORD_UNIT) ||
                  token_is(t, at + 1, WORD_FOR) || token_is(t, at + 1, WORD_DASH);
    if (led && hour_like) {
        return false;
    }
    bool has_clock = g->c->said.clocks_count > 0 || g->c->said.has_window || g->c->said.has_in ||
                     g->c->said.minutes != 0 || g->c->said.unit <= UNIT_HOUR;
    if (has_clock) {
        /* "every day at 9 10 pushups" is fine, "at 9 10" is not. */
        bool clock_like =
            token->number <= HOUR_LIKE ||
            (token->text.len >= 3 && token->number < 2400 && token->number % 100 < 60);
        return (counts && token->number <= HOUR_LIKE) || !is_taken(g, before) || !clock_like;
    }
    return !hour_like || !is_beside(g, at, at + 1) || (counts && !is_taken(g, before));
}

/* "test every smoke alarm" is a task, "every sprint" is how often. */
static bool every_is_task(const struct guard *g, size_t at)
{
    static const char *const spans[] = {
        "sprint",   "shift",     "full",      "moon",     "semester", "term",    "season", "lunch",
        "meal",     "meeting",   "time",      "birthday", "payday",   "holiday", "school", "game",
        "match",    "training",  "spring",    "summer",   "autumn",   "fall",    "winter", "lunar",
        "solstice", "trimester", "iteration", "cycle",    "century",  "decade",  "period", "odd",
        "even",     "leap",      "new",       "tide",     "sunrise",  "sunset",  "dawn",   "dusk",
        "business", "trading",   "pay",       "blue"};
    const struct tokens *t = g->t;
    bool verb_before = at > 0 && is_thing(g, at - 1) &&
                       !(at > 1 && is_determiner(t, at - 2) && !token_is(t, at - 2, WORD_A));
    bool particle = at > 0 && (token_is(t, at - 1, WORD_TO) || token_is(t, at - 1, WORD_ON) ||
                               token_is(t, at - 1, WORD_FOR) || token_is(t, at - 1, WORD_FROM) ||
                               token_is(t, at - 1, WORD_THROUGH) || token_is(t, at - 1, WORD_OF) ||
                               token_is(t, at - 1, WORD_AND) || token_is(t, at - 1, WORD_IN) ||
                               token_is(t, at - 1, WORD_AT));
    bool apart = at == 0 || is_taken(g, at - 1) || token_is_mark(t, at - 1);
    return !apart && (verb_before || particle) && is_thing(g, at + 1) &&
           !IS_ONE_OF(t, at + 1, spans);
}

static bool month_is_task(const struct guard *g, size_t at)
{
    const struct tokens *t = g->t;
    bool determined = at > 0 && is_determiner(t, at - 1) && !token_is(t, at - 1, WORD_ON);
    bool after_order = at > 0 && is_taken(g, at - 1);
    if (t->at[at].possessive || is_person(g, at) || (determined && is_thing(g, at + 1))) {
        return true;
    }
    /* "march with the band", "may" as a verb: a small letter, and no order beside it. */
    char first = t->at[at].text.ptr[0];
    bool verb = (token_is_word(t, at, "march") || token_is_word(t, at, "may") ||
                 token_is_word(t, at, "mar")) &&
                first >= 'a';
    return (verb && !is_beside(g, at, at + 1)) ||
           (has_day(g) && !after_order && (is_thing(g, at + 1) || is_title_of_work(t, at)));
}

static bool is_vague_edge(const struct tokens *t, size_t at)
{
    static const char *const words[] = {"early",   "mid",    "late",      "middle",   "around",
                                        "roughly", "approx", "somewhere", "sometimes"};
    return IS_ONE_OF(t, at, words);
}

/* "early next month", "mid March": not which day. */
static void check_edges(struct guard *g)
{
    const struct said *said = &g->c->said;
    for (size_t at = 0; at + 1 < g->t->count; at++) {
        size_t next = at + 1 + token_is(g->t, at + 1, WORD_IN) + token_is(g->t, at + 1, WORD_ON);
        next += token_is(g->t, next, WORD_THE);
        struct str text = g->t->at[at].text;
        bool hyphen = text.len > 4 && str_eq_nocase((struct str){text.ptr, 4}, STR("mid-"));
        bool day_known =
            said->clocks_count > 0 && (said->has_offset || said->weekdays != 0 || said->dated);
        bool bare_month = token_is(g->t, next, WORD_MONTH) && !is_taken(g, next);
        if (is_taken(g, at) || (!is_vague_edge(g->t, at) && !hyphen)) {
            continue;
        }
        if ((is_taken(g, next) && !day_known) || bare_month ||
            (hyphen && is_beside(g, at, at + 1))) {
            guard_refuse(g->c, FAULT_VAGUE, at, next + !hyphen);
        }
    }
}

static bool is_shouted(struct str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < 'A' || text.ptr[i] > 'Z') {
            return false;
        }
    }
    return text.len >= 2;
}

/* A zone's name or a city right beside a time, and no "time" behind it. */
static void check_places(struct guard *g)
{
    static const char *const names[] = {
        "wake",   "midway", "easter",    "christmas", "reunion", "casey",    "davis",   "palmer",
        "jersey", "regina", "center",    "troll",     "knox",    "victoria", "phoenix", "apia",
        "nome",   "fiji",   "jan mayen", "st helena", "maceio",  "mawson",   "faroe",   "rome"};
    const struct tokens *t = g->t;
    for (size_t at = 1; at < t->count; at++) {
        size_t to, in = token_is(t, at, WORD_IN); /* "9am in oslo" is no zone, "in Oslo" is */
        const struct phrase *before = g->of[at - 1];
        bool clock = is_taken(g, at - 1) && before->said.clocks_count > 0;
        if (!clock || is_taken(g, at) || t->at[at].quoted) {
            continue;
        }
        struct phrase zone = {.said = said_nothing()};
        if (is_shouted(t->at[at].text) && phrase_zone(t, at, true, &zone) > at) {
            guard_refuse(g->c, FAULT_UNPLACED, at, at + 1);
        } else if (place_is_city(t, at + in, &to) && !IS_ONE_OF(t, at + in, names)) {
            guard_refuse(g->c, FAULT_UNPLACED, at, to);
        }
    }
}

static void check_word(struct guard *g, size_t at)
{
    const struct tokens *t = g->t;
    bool after_order = at > 0 && is_taken(g, at - 1 - (at > 1 && token_is(t, at - 1, WORD_COMMA)));
    if (token_is(t, at, WORD_NUMBER) && !number_is_task(g, at)) {
        guard_refuse(g->c, FAULT_UNPLACED, at, at + 1);
    } else if (token_is(t, at, WORD_EVERY) && !every_is_task(g, at)) {
        guard_refuse(g->c, FAULT_SPAN, at, MIN(at + 2, t->count));
    } else if (token_is_word(t, at, "unless") ||
               (token_is(t, at, WORD_IF) && !condition_is_task(g, at))) {
        guard_refuse(g->c, FAULT_CONDITION, at, MIN(at + 3, t->count));
    } else if ((token_is(t, at, WORD_EXCEPT) || token_is_word(t, at, "but")) && after_order &&
               !token_is_word(t, at + 1, "fail")) {
        guard_refuse(g->c, FAULT_UNPLACED, at, MIN(at + 2, t->count));
    } else if (token_is(t, at, WORD_MONTH) && !month_is_task(g, at)) {
        guard_refuse(g->c, FAULT_UNPLACED, at, at + 1);
    } else if (token_is(t, at, WORD_OR) && after_order &&
               (at + 1 >= t->count || t->at[at + 1].count > 0)) {
        guard_refuse(g->c, FAULT_ALTERNATIVE, at, MIN(at + 3, t->count));
    } else if (token_is(t, at, WORD_UNIT) && !t->at[at].possessive &&
               (is_taken(g, at + 1) || (token_is(t, at + 1, WORD_OF) && is_taken(g, at + 2))) &&
               !(at > 0 && token_is(t, at - 1, WORD_NUMBER))) {
        guard_refuse(g->c, FAULT_UNPLACED, at, at + 1); /* "the week of November 9" */
    } else if (token_is(t, at, WORD_ABOUT) && after_order && !has_time(g)) {
        guard_refuse(g->c, FAULT_VAGUE, at, MIN(at + 2, t->count)); /* "Mondays around lunch" */
    } else if ((token_is(t, at, WORD_HALF_OF_DAY) && after_order) ||
               (token_is(t, at, WORD_WORK) && token_is_unit(t, at + 1, UNIT_DAY) &&
                is_taken(g, at + 1))) { /* "the working day before the 15th" */
        guard_refuse(g->c, FAULT_UNPLACED, at, at + 1);
    }
}

void guard_leftovers(const struct tokens *t, struct choice *c)
{
    struct guard g = {
        .t = t, .c = c, .of = arena_array(t->arena, const struct phrase *, t->count + 1)};
    for (size_t i = 0; i < c->count; i++) {
        for (size_t at = c->phrases[i].from; at < c->phrases[i].to; at++) {
            g.of[at] = &c->phrases[i];
        }
    }
    check_edges(&g);
    for (size_t i = 0; i < c->count && c->said.fault == FAULT_NONE; i++) {
        struct phrase *p = &c->phrases[i];
        if (!p->used && !phrase_is_task(&g, p)) {
            bool condition = token_is_word(t, p->from, "unless");
            size_t more = p->kind == PHRASE_FAULT && p->to < t->count;
            guard_refuse(c, condition ? FAULT_CONDITION : FAULT_UNPLACED, p->from, p->to + more);
        }
    }
    for (size_t at = 0; at < t->count && c->said.fault == FAULT_NONE; at++) {
        if (g.of[at] == NULL && !t->at[at].quoted) {
            check_word(&g, at);
        }
    }
    check_places(&g);
}
