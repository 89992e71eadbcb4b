/* english/edit_name.c: which schedules an edit means.
 *
 * SPDX-License-Identifier: MIT */
#include "english/edit_parts.h"
#include "time/bits.h"

#define GROUPS_MAX 16
#define STEM_MIN   3
#define TYPO_MIN   6
#define ENDING_MAX 4 /* letters by which two forms of one word may differ at the end */

/* ---- Words ---- */

static bool is_word_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (unsigned char)c >= 0x80;
}

/* The next word of a title: letters and digits; hyphens inside are left out by the compare. */
static struct str next_word(struct str *rest)
{
    size_t from = 0, to;
    while (from < rest->len && !is_word_char(rest->ptr[from])) {
        from++;
    }
    to = from;
    while (to < rest->len && (is_word_char(rest->ptr[to]) || rest->ptr[to] == '-')) {
        to++;
    }
    struct str word = {rest->ptr + from, to - from};
    *rest = str_from(*rest, to);
    return word;
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static size_t same_letters(struct str a, struct str b, size_t *a_len, size_t *b_len)
{
    size_t i = 0, k = 0, n = 0;
    for (;;) {
        i += i < a.len && a.ptr[i] == '-';
        k += k < b.len && b.ptr[k] == '-';
        if (i >= a.len || k >= b.len || lower(a.ptr[i]) != lower(b.ptr[k])) {
            break;
        }
        i++;
        k++;
        n++;
    }
    *a_len = a.len - i;
    *b_len = b.len - k;
    return n;
}

static struct str without_possessive(struct str word)
{
    if (word.len > 2 && word.ptr[word.len - 2] == '\'' && lower(word.ptr[word.len - 1]) == 's') {
        word.len -= 2;
    }
    return word;
}

/* One letter missing, doubled or two swapped. */
static bool is_mistyped(struct str a, struct str b)
{
    char x[TOKEN_WORD_MAX], y[TOKEN_WORD_MAX];
    if (a.len > sizeof x || b.len > sizeof y) {
        return false;
    }
    for (size_t i = 0; i < a.len; i++) {
        x[i] = lower(a.ptr[i]);
    }
    for (size_t i = 0; i < b.len; i++) {
        y[i] = lower(b.ptr[i]);
    }
    return lexicon_is_nearly((struct str){x, a.len}, (struct str){y, b.len});
}

/* plants and plant, calling and call, renewal and renew. */
static bool same_word(struct str a, struct str b)
{
    size_t a_rest, b_rest;
    a = without_possessive(a);
    b = without_possessive(b);
    size_t same = same_letters(a, b, &a_rest, &b_rest);
    if (a_rest == 0 && b_rest == 0) {
        return a.len > 0;
    }
    if (same > 0 && a.len >= TYPO_MIN && b.len >= TYPO_MIN && is_mistyped(a, b)) {
        return true;
    }
    size_t stem = MIN(a.len, b.len);
    bool one_ends = a_rest == 0 || b_rest == 0 || (a_rest <= 1 && stem > 4);
    char next = a_rest > 0 ? lower(a.ptr[a.len - a_rest]) : lower(b.ptr[b.len - b_rest]);
    bool plural = MAX(a_rest, b_rest) == 1 && next == 's';
    return one_ends && same >= STEM_MIN && MAX(a_rest, b_rest) <= ENDING_MAX &&
           (plural || same >= 4 || strchr("siem", next) != NULL);
}

/* Words that no title is known by. */
static bool is_small(struct str word)
{
    static const char *const small[] = {"the",  "a",  "an",  "to",   "of", "with",  "for", "my",
                                        "and",  "on", "at",  "in",   "me", "about", "is",  "by",
                                        "from", "up", "our", "your", "it", "that",  "i",   "be"};
    for (size_t i = 0; i < ARRAY_LEN(small); i++) {
        if (str_eq_nocase(word, str_of(small[i]))) {
            return true;
        }
    }
    return false;
}

bool edit_matches_title(const struct edit *e, size_t token, struct str title)
{
    struct str rest = title, word, text = e->t.at[token].text;
    if (token >= e->t.count || is_small(text)) {
        return false;
    }
    while ((word = next_word(&rest)).len > 0) {
        if (!is_small(word) && same_word(text, word)) {
            return true;
        }
    }
    return false;
}

/* ---- What the sentence calls it ---- */

static bool is_known_word(const struct tokens *t, size_t at)
{
    static const char *const known[] = {
        "please",      "can",    "could",  "would",      "will",       "you",       "i",
        "we",          "us",     "me",     "it",         "that",       "instead",   "only",
        "now",         "again",  "back",   "longer",     "no",         "not",       "anymore",
        "more",        "one",    "ones",   "reminder",   "reminders",  "task",      "tasks",
        "thing",       "things", "job",    "jobs",       "schedule",   "schedules", "scheduled",
        "alarm",       "item",   "entry",  "event",      "series",     "recurring", "meeting",
        "appointment", "is",     "be",     "should",     "need",       "want",      "time",
        "earlier",     "later",  "sooner", "forward",    "ahead",      "out",       "off",
        "up",          "all",    "both",   "everything", "every",      "each",      "the",
        "so",          "then",   "just",   "let's",      "lets",       "let",       "have",
        "hold",        "next",   "this",   "week",       "occurrence", "instance",  "name",
        "title",       "called", "hey",    "ok",         "also",       "too",       "don't",
        "dont",        "do",     "i'd",    "like",       "there",      "there's",   "of",
        "temporarily", "while",  "happen", "happens",    "go",         "to",        "with",
        "about",       "for",    "from",   "on",         "at",         "in",        "by",
        "goes",        "runs",   "gets",   "sent",       "takes",      "place",     "away",
        "i'm",         "im",     "i'll",   "vacation",   "holiday",    "same",      "thanks",
        "pls",         "plz",    "but",    "instead",    "than",       "rather",    "zone",
        "timezone",    "limit",  "well",   "as",         "send",       "onwards",   "only",
        "until",       "till",   "anyway", "hereafter",  "we're",      "i've",      "got",
        "after",       "use"};
    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        if (token_is_word(t, at, known[i])) {
            return true;
        }
    }
    return is_small(t->at[at].text);
}

static bool is_name_word(const struct edit *e, size_t at)
{
    if (e->use[at] == USE_NAME) {
        return true;
    }
    return e->use[at] == USE_NONE && !token_is_mark(&e->t, at);
}

/* Fits the schedule the time that it is named by? */
static bool fits_weekday(const struct edit *e, const struct edit_schedule *s)
{
    int64_t wall_s = zone_wall(e->asked->zone, wall_div(s->next_ms, 1000));
    if (e->which.weekdays == 0) {
        return true;
    }
    if (s->rule == NULL) {
        return e->which.weekdays >> wall_weekday(wall_div(wall_s, WALL_DAY_S)) & 1;
    }
    uint32_t days = s->rule->weekdays;
    for (unsigned i = 0; i < 7; i++) {
        days |= s->rule->nth[i] != 0 || s->rule->nth_last[i] != 0 ? 1u << i : 0;
    }
    return (days & e->which.weekdays) == e->which.weekdays;
}

static bool hour_in_part(unsigned hour, unsigned parts)
{
    bool morning = hour >= 5 && hour < 12, afternoon = hour >= 12 && hour < 17;
    return (parts >> PART_MORNING & 1 && morning) || (parts >> PART_AFTERNOON & 1 && afternoon) ||
           (parts & (1u << PART_EVENING | 1u << PART_NIGHT) && !morning && !afternoon);
}

static bool fits_time(const struct edit *e, const struct edit_schedule *s)
{
    int64_t wall_s = zone_wall(e->asked->zone, wall_div(s->next_ms, 1000)), want;
    unsigned of_day = (unsigned)wall_mod(wall_s, WALL_DAY_S);
    bool by_time = e->which.clocks_count > 0 || e->which.parts != 0;
    if (by_time && s->rule != NULL && s->rule->freq < RRULE_DAILY) {
        return false; /* it has no hour of its own */
    }
    if (e->which.clocks_count > 0) {
        (void)resolve_clock(&e->which, &e->which.clocks[0], &want);
        bool listed = s->rule != NULL && s->rule->has & RRULE_BYHOUR &&
                      s->rule->hours >> (want / 3600) & 1 &&
                      s->rule->minutes >> (want / 60 % 60) & 1;
        return listed || of_day == want;
    }
    return e->which.parts == 0 || hour_in_part(of_day / 3600, e->which.parts);
}

static bool fits_often(const struct edit *e, const struct edit_schedule *s)
{
    return e->which.unit == UNIT_NONE || (s->rule != NULL && (int)s->rule->freq == e->which.unit &&
                                          (int)s->rule->interval == e->which.interval);
}

/* A group of the name's words, [from, to), and one schedule: how many match; -1: it is not meant.
 */
static int score(const struct edit *e, size_t from, size_t to, const struct edit_schedule *s)
{
    int matched = 0;
    bool last_matched = false, stray = false;
    for (size_t at = from; at < to; at++) {
        if (!is_name_word(e, at)) {
            last_matched = last_matched && token_is(&e->t, at, WORD_OF);
            continue;
        }
        bool match = edit_matches_title(e, at, s->title);
        bool known = is_known_word(&e->t, at);
        matched += match;
        /* A word beside the name that is not of this title: another thing is meant. */
        bool next_matches =
            at + 1 < to && is_name_word(e, at + 1) && edit_matches_title(e, at + 1, s->title);
        stray |= !match && !known && (last_matched || next_matches);
        last_matched = match || (known && last_matched);
    }
    return stray ? -1 : matched;
}

static bool is_named_by_time(const struct edit *e)
{
    return e->which.weekdays != 0 || e->which.clocks_count > 0 || e->which.parts != 0 ||
           e->which.unit != UNIT_NONE;
}

/* How many words there are that only a title can explain. */
static int unknown_words(const struct edit *e, size_t from, size_t to)
{
    int count = 0;
    for (size_t at = from; at < to; at++) {
        count += is_name_word(e, at) && !is_known_word(&e->t, at);
    }
    return count;
}

struct found {
    size_t *at;
    size_t count;
    int best;
};

static void find_group(const struct edit *e, size_t from, size_t to, struct found *out)
{
    bool by_time = is_named_by_time(e);
    out->count = 0;
    out->best = unknown_words(e, from, to) > 0 || !by_time ? 1 : 0;
    for (size_t i = 0; i < e->asked->count && i < EDIT_SCHEDULES_MAX; i++) {
        const struct edit_schedule *s = &e->asked->schedules[i];
        int points = score(e, from, to, s);
        if (points < out->best || !fits_weekday(e, s) || !fits_time(e, s) || !fits_often(e, s)) {
            continue;
        }
        out->count = points > out->best ? 0 : out->count;
        out->best = points;
        out->at[out->count++] = i;
    }
}

/* ---- Deciding ---- */

static void add_target(struct edit *e, size_t which)
{
    for (size_t i = 0; i < e->out->count; i++) {
        if (e->out->changes[i].which == which) {
            return;
        }
    }
    e->out->changes[e->out->count++].which = which;
}

static bool refuse_several(struct edit *e, const struct found *found)
{
    e->out->candidates = found->at;
    e->out->candidates_count = found->count;
    return edit_refuse(e, "scheduleId", STR("several schedules fit; say which one is meant"));
}

static bool take(struct edit *e, const struct found *found)
{
    if (found->count == 0) {
        return edit_refuse(e, "scheduleId", STR("no schedule of yours fits that name"));
    }
    if (found->count > 1 && !e->all) {
        return refuse_several(e, found);
    }
    for (size_t i = 0; i < found->count; i++) {
        add_target(e, found->at[i]);
    }
    return true;
}

/* Where the name's words are; the new title of a rename is not among them. */
static void name_zone(const struct edit *e, size_t *from, size_t *to)
{
    *from = 0;
    *to = e->t.count;
    if (e->verb == VERB_RENAME && token_is_word(&e->t, e->verb_at, "call") &&
        token_is_word(&e->t, e->verb_at + 1, "it")) {
        *to = e->verb_at + 1;
        return;
    }
    for (size_t at = e->verb_to; e->verb == VERB_RENAME && at < e->t.count; at++) {
        if (token_is(&e->t, at, WORD_TO) || token_is_word(&e->t, at, "as") ||
            token_is_word(&e->t, at, "into") || e->t.at[at].quoted) {
            *to = at;
            return;
        }
    }
}

static size_t group_end(const struct edit *e, size_t from, size_t to)
{
    while (from < to && !(e->use[from] == USE_NONE &&
                          (token_is(&e->t, from, WORD_AND) || token_is(&e->t, from, WORD_COMMA)))) {
        from++;
    }
    return from;
}

/* "the report and the standup": each part names its own. */
static bool take_groups(struct edit *e, size_t from, size_t to, struct found *found)
{
    unsigned groups = 0;
    while (from < to && groups < GROUPS_MAX) {
        size_t end = group_end(e, from, to);
        if (unknown_words(e, from, end) > 0) {
            find_group(e, from, end, found);
            groups++;
            if (!take(e, found)) {
                return false;
            }
        }
        from = end + 1;
    }
    return groups > 0;
}

/* "it": the only one, or the only one of this chat. */
static bool take_pronoun(struct edit *e, struct found *found)
{
    const struct edit_asked *asked = e->asked;
    found->count = 0;
    for (size_t i = 0; i < asked->count && i < EDIT_SCHEDULES_MAX; i++) {
        bool here = asked->chat_id.len > 0 && str_eq(asked->schedules[i].chat_id, asked->chat_id);
        if (asked->count == 1 || here) {
            found->at[found->count++] = i;
        }
    }
    if (found->count == 1) {
        return take(e, found);
    }
    for (size_t i = found->count = 0; i < asked->count && i < EDIT_SCHEDULES_MAX; i++) {
        found->at[found->count++] = i;
    }
    return refuse_several(e, found);
}

static bool take_all(struct edit *e, struct found *found)
{
    for (size_t i = found->count = 0; i < e->asked->count && i < EDIT_SCHEDULES_MAX; i++) {
        const struct edit_schedule *s = &e->asked->schedules[i];
        bool wanted = e->verb == VERB_PAUSE    ? !s->paused
                      : e->verb == VERB_RESUME ? s->paused
                                               : true;
        if (wanted) {
            found->at[found->count++] = i;
        }
    }
    return take(e, found);
}

bool edit_has_unknown_words(const struct edit *e)
{
    size_t from, to;
    name_zone(e, &from, &to);
    return unknown_words(e, from, to) > 0;
}

bool edit_name(struct edit *e)
{
    size_t from, to;
    struct found found = {.at = arena_array(e->arena, size_t, e->asked->count + 1)};
    e->out->changes = arena_array(e->arena, struct edit_change, e->asked->count + 1);
    name_zone(e, &from, &to);
    int named = unknown_words(e, from, to);
    if (named == 0 && !is_named_by_time(e)) {
        return e->all ? take_all(e, &found) : take_pronoun(e, &found);
    }
    find_group(e, from, to, &found);
    bool whole = found.count > 0 && found.best >= named;
    if (whole || named < 2 || group_end(e, from, to) == to) {
        return take(e, &found);
    }
    return take_groups(e, from, to, &found);
}
