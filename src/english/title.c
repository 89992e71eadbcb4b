/* english/title.c: what is left of the text when the order is taken out: title, purpose
 * and category; and for each word what it was taken for.
 *
 * SPDX-License-Identifier: MIT */
#include "english/phrase.h"

/* ---- What each word was taken for ---- */

static enum english_role role_of(const struct phrase *p)
{
    static const enum english_role roles[] = {
        [PHRASE_OFTEN] = ENGLISH_OFTEN,   [PHRASE_DAY] = ENGLISH_DAY,
        [PHRASE_TIME] = ENGLISH_TIME,     [PHRASE_START] = ENGLISH_START,
        [PHRASE_END] = ENGLISH_END,       [PHRASE_EXCEPT] = ENGLISH_EXCEPT,
        [PHRASE_ZONE] = ENGLISH_ZONE,     [PHRASE_FAULT] = ENGLISH_UNCLEAR,
        [PHRASE_FILLER] = ENGLISH_POLITE,
    };
    return p->said.fault != FAULT_NONE ? ENGLISH_UNCLEAR : roles[p->kind];
}

static struct english_word *mark_words(const struct tokens *t, const struct choice *c,
                                       struct arena *arena)
{
    struct english_word *words = arena_array(arena, struct english_word, t->count + 1);
    for (size_t i = 0; i < t->count; i++) {
        words[i].text = t->at[i].text;
    }
    for (size_t i = 0; i < c->count; i++) {
        for (size_t at = c->phrases[i].from; c->phrases[i].used && at < c->phrases[i].to; at++) {
            words[at].role = role_of(&c->phrases[i]);
            words[at].phrase = (unsigned)i + 1;
        }
    }
    for (size_t at = c->blame_from; at < c->blame_to && at < t->count; at++) {
        words[at].role = ENGLISH_UNCLEAR;
        words[at].phrase = c->blame_from == 0 ? (unsigned)c->count + 1 : words[at].phrase;
    }
    return words;
}

/* ---- Words around the task ---- */

/* Openings that are no part of the task; the longest first. */
static const char *const openings[] = {
    "don't let me forget to",
    "don't let me forget",
    "do not let me forget to",
    "don't forget to",
    "dont forget to",
    "remember to",
    "make sure that i",
    "make sure i",
    "make sure to",
    "make sure that",
    "i would like you to",
    "i would like to",
    "i would like",
    "i'd like you to",
    "i'd like to",
    "i'd like",
    "i want you to",
    "i want to",
    "i want",
    "i need you to",
    "i need to",
    "i need",
    "i have to",
    "i must",
    "set up a recurring task to",
    "set up a recurring reminder to",
    "set up a task to",
    "set up a reminder to",
    "set up a recurring task for",
    "set a recurring reminder to",
    "set a recurring reminder for",
    "create a recurring task to",
    "create a recurring reminder to",
    "create a task to",
    "create a reminder to",
    "create a reminder for",
    "create a schedule to",
    "create a task for",
    "add a reminder to",
    "add a reminder for",
    "add a task to",
    "make a reminder to",
    "make a reminder for",
    "set a reminder to",
    "set a reminder for",
    "set a reminder",
    "set me a reminder to",
    "set a timer for",
    "schedule a task to",
    "schedule a reminder to",
    "schedule an",
    "schedule a",
    "schedule the",
    "schedule",
    "reminder to",
    "reminder that",
    "reminder:",
    "remind me to",
    "remind me that i",
    "remind me that",
    "remind me of",
    "remind me about",
    "remind me",
    "remind us to",
    "remind us",
    "ping me to",
    "ping me about",
    "ping me",
    "notify me to",
    "notify me",
    "nudge me to",
    "nudge me",
    "alert me to",
    "could you please",
    "can you please",
    "would you please",
    "could you",
    "can you",
    "would you",
    "please",
    "pls",
    "plz",
    "hey",
    "hi",
    "hello",
    "ok",
    "okay",
    "also",
    "just",
    "to",
    "that",
    "and",
    "then",
    "i",
    "a reminder to",
    "a reminder for",
    "should",
    "on",
    "for",
    "at",
    "about",
    "once",
};

struct run {
    const struct tokens *t;
    struct english_word *words;
    size_t *kept; /* tokens of the task */
    size_t count;
};

/* How many kept tokens from `from` on spell the opening; 0: they do not. */
static size_t spells(const struct run *run, size_t from, const char *opening)
{
    struct str rest = str_of(opening);
    size_t n = 0;
    while (!str_absent(rest)) {
        struct str word = str_cut(&rest, ' ');
        if (from + n >= run->count || !str_eq_nocase(run->t->at[run->kept[from + n]].text, word)) {
            return 0;
        }
        n++;
    }
    return n;
}

static size_t opening_len(const struct run *run, size_t from)
{
    if (token_is_mark(run->t, run->kept[from])) {
        return 1;
    }
    for (size_t i = 0; i < ARRAY_LEN(openings); i++) {
        size_t n = spells(run, from, openings[i]);
        if (n > 0) {
            return n;
        }
    }
    return 0;
}

static void drop_front(struct run *run)
{
    size_t from = 0, n;
    while (from < run->count && (n = opening_len(run, from)) > 0 && from + n < run->count) {
        for (size_t i = from; i < from + n; i++) {
            run->words[run->kept[i]].role = ENGLISH_POLITE;
        }
        from += n;
    }
    run->kept += from;
    run->count -= from;
}

static bool is_politeness(const struct tokens *t, size_t at)
{
    return token_is_word(t, at, "please") || token_is_word(t, at, "pls") ||
           token_is_word(t, at, "plz") || token_is_word(t, at, "thanks") ||
           token_is_word(t, at, "thx");
}

static bool trails(const struct tokens *t, size_t at)
{
    static const enum word_class loose[] = {WORD_AND, WORD_ON,   WORD_FOR, WORD_FROM,
                                            WORD_BY,  WORD_ONLY, WORD_OF,  WORD_THE};
    for (size_t i = 0; i < ARRAY_LEN(loose); i++) {
        if (token_is(t, at, loose[i]) && !token_is_particle(t, at)) {
            return true;
        }
    }
    return token_is_mark(t, at) || is_politeness(t, at);
}

/* Only words that an order stood behind are loose: "turn it on" keeps its last word. */
static void drop_back(struct run *run)
{
    while (run->count > 0) {
        size_t last = run->kept[run->count - 1];
        bool before_order = last + 1 < run->t->count && run->words[last + 1].role != ENGLISH_TASK;
        bool mark = token_is_mark(run->t, last) && !str_is(run->t->at[last].text, ")");
        if (!trails(run->t, last) || !(mark || before_order || is_politeness(run->t, last))) {
            return;
        }
        run->words[last].role = ENGLISH_POLITE;
        run->count--;
    }
}

/* Joins the kept words as they were written; where something was taken out is one blank. */
static struct str join(const struct run *run, struct arena *arena)
{
    SCOPED(buf_fini) struct buf out = BUF_INIT(2 * ENGLISH_TEXT_MAX);
    for (size_t i = 0; i < run->count; i++) {
        const struct token *token = &run->t->at[run->kept[i]];
        bool glued = token->glued && i > 0 && run->kept[i - 1] + 1 == run->kept[i];
        bool comma = i > 0 && token_is(run->t, run->kept[i], WORD_COMMA);
        if (i > 0 && !glued && !comma) {
            buf_char(&out, ' ');
        }
        buf_str(&out, token->text);
    }
    return arena_str(arena, buf_view(&out));
}

static struct str unquoted(struct str text)
{
    bool quoted = text.len > 2 && (text.ptr[0] == '"' || text.ptr[0] == '\'') &&
                  text.ptr[text.len - 1] == text.ptr[0] &&
                  memchr(text.ptr + 1, text.ptr[0], text.len - 2) == NULL;
    return quoted ? (struct str){text.ptr + 1, text.len - 2} : text;
}

/* The beginning that fits, without cutting a character or, if it can be, a word. */
static struct str shorten(struct str text)
{
    if (text.len <= ENGLISH_TITLE_MAX) {
        return text;
    }
    size_t len = ENGLISH_TITLE_MAX;
    while (len > 0 && text.ptr[len] != ' ') {
        len--;
    }
    return len > 0 ? (struct str){text.ptr, len} : str_head(text, ENGLISH_TITLE_MAX);
}

/* ---- Category ---- */

static bool has_word(const struct run *run, const char *const *list)
{
    for (size_t i = 0; i < run->count; i++) {
        struct str word = run->t->at[run->kept[i]].text;
        for (size_t k = 0; list[k] != NULL; k++) {
            struct str prefix = str_of(list[k]);
            if (word.len >= prefix.len && word.len <= prefix.len + 4 &&
                str_eq_nocase((struct str){word.ptr, prefix.len}, prefix)) {
                return true;
            }
        }
    }
    return false;
}

static bool asks_to_be_reminded(const struct tokens *t)
{
    for (size_t i = 0; i < t->count; i++) {
        if (token_is_word(t, i, "remind") || token_is_word(t, i, "reminder") ||
            token_is_word(t, i, "forget") || token_is_word(t, i, "alarm") ||
            token_is_word(t, i, "wake")) {
            return true;
        }
    }
    return false;
}

static enum english_category category(const struct run *run)
{
    static const char *const analysis[] = {"analy",  "compare",  "trend",    "forecast", "evaluat",
                                           "assess", "investig", "research", "audit",    NULL};
    static const char *const report[] = {"report",   "summar",   "digest", "headline",
                                         "news",     "brief",    "recap",  "status",
                                         "list the", "overview", NULL};
    static const char *const machine[] = {
        "backup",   "deploy", "run",     "rotate", "sync",   "clean",  "restart", "script", "cron",
        "database", "ping",   "execute", "delete", "export", "import", "server",  NULL};
    if (asks_to_be_reminded(run->t)) {
        return ENGLISH_REMINDER;
    }
    if (has_word(run, analysis)) {
        return ENGLISH_ANALYSIS;
    }
    if (has_word(run, report)) {
        return ENGLISH_REPORT;
    }
    return has_word(run, machine) ? ENGLISH_OTHERS : ENGLISH_REMINDER;
}

/* ---- All of it ---- */

/* Commas and "and" between two phrases of the order go with them. */
static void drop_glue(const struct tokens *t, struct english_word *words)
{
    for (size_t at = 1; at + 1 < t->count; at++) {
        bool glue = token_is_mark(t, at) || token_is(t, at, WORD_AND) || token_is(t, at, WORD_ONLY);
        if (glue && words[at].role == ENGLISH_TASK && words[at - 1].role != ENGLISH_TASK &&
            words[at + 1].role != ENGLISH_TASK) {
            words[at].role = ENGLISH_POLITE;
        }
    }
}

void title_read(const struct tokens *t, const struct choice *choice, struct arena *arena,
                struct english_read *out)
{
    struct english_word *words = mark_words(t, choice, arena);
    struct run run = {.t = t, .words = words, .kept = arena_array(arena, size_t, t->count + 1)};
    drop_glue(t, words);
    for (size_t i = 0; i < t->count; i++) {
        if (words[i].role == ENGLISH_TASK) {
            run.kept[run.count++] = i;
        }
    }
    out->category = category(&run);
    drop_front(&run);
    drop_back(&run);
    out->purpose = unquoted(join(&run, arena));
    if (out->purpose.len == 0) {
        out->purpose = STR("Reminder");
    }
    out->title = shorten(out->purpose);
    out->words = words;
    out->words_count = t->count;
}
