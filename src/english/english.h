/* english/english.h: what an English sentence orders: once, again and again, or a refusal.
 *
 * "every other Friday at 3pm payday" is a rule, a start and a title. The text is cut into tokens
 * (token.h), a small grammar finds the phrases that speak of time (phrase.h), those that order
 * something are told from those that belong to the task (choose.c), what is left over may not look
 * like a part of when (guard.c), and one resolver applies the conventions that
 * tests/english/corpora shows row by row (once.c, recurring.c). See docs/design/english.md.
 *
 * Thread: any. Keeps nothing and asks no clock.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_ENGLISH_ENGLISH_H
#define ERRAND_ENGLISH_ENGLISH_H

#include "base/arena.h"
#include "time/recur.h"

#define ENGLISH_TEXT_MAX   (8 * KIB) /* longer texts are refused */
#define ENGLISH_WORDS_MAX  2000      /* tokens of one text */
#define ENGLISH_TITLE_MAX  120       /* bytes; the purpose has it all */
#define ENGLISH_FIELDS_MAX 2

struct english_asked {
    struct str text;
    int64_t now_ms;
    const struct zone *zone; /* needed; zone_utc() for none */
    struct zones *zones;     /* where a zone that the text names is found; NULL: only `zone` */
    int64_t min_lead_ms;     /* a time nearer than this is refused */
};

enum english_kind { ENGLISH_REFUSED, ENGLISH_ONCE, ENGLISH_RECURRING };

enum english_category {
    ENGLISH_REMINDER,
    ENGLISH_REPORT,
    ENGLISH_ANALYSIS,
    ENGLISH_OTHERS,
};

/* What a word was taken for. */
enum english_role {
    ENGLISH_TASK,    /* it belongs to the title */
    ENGLISH_POLITE,  /* "remind me to" */
    ENGLISH_OFTEN,   /* how often */
    ENGLISH_DAY,     /* which day or days */
    ENGLISH_TIME,    /* time of the day */
    ENGLISH_START,   /* from when on */
    ENGLISH_END,     /* until when, how many times */
    ENGLISH_EXCEPT,  /* what is left out */
    ENGLISH_ZONE,    /* the time zone */
    ENGLISH_UNCLEAR, /* why it was refused */
};

struct english_word {
    struct str text; /* borrowed from the text asked */
    enum english_role role;
    unsigned phrase; /* words of one phrase share its number; 0: of none */
};

/* Why nothing is scheduled: the fields that would have to be said otherwise. */
struct english_refusal {
    const char *fields[ENGLISH_FIELDS_MAX]; /* "dtstart", "rrule", "timezone", "text" */
    size_t fields_count;
    struct str reason; /* a sentence without its full stop */
};

/* All texts live in the arena or borrow from the text asked. */
struct english_read {
    enum english_kind kind;
    struct str title, purpose;
    enum english_category category;
    struct rrule rule;  /* RECURRING */
    struct str rrule;   /* its canonical text */
    int64_t first_ms;   /* the first occurrence */
    struct when start;  /* DTSTART, the first occurrence; on the wall when the wall can say it */
    struct str dtstart; /* as text: "2027-03-01T09:00:00" */
    struct str zone;    /* the zone that the text names; absent: the one asked with */
    const struct when *exdates; /* RECURRING: what is left out */
    size_t exdates_count;
    struct english_refusal refusal; /* REFUSED */
    const struct english_word *words;
    size_t words_count;
};

/* Never fails: what it cannot understand it refuses, with the reason. */
void english_read(const struct english_asked *asked, struct arena *arena, struct english_read *out);

/* Words that were taken for one thing together: where the run that begins there ends, and its
 * text. */
size_t english_run_end(const struct english_word *words, size_t count, size_t from);
struct str english_run_text(const struct english_word *words, size_t from, size_t to);

const char *english_category_name(enum english_category category); /* "REMINDER" … */
const char *english_role_name(enum english_role role);             /* "how often" … */

#endif
