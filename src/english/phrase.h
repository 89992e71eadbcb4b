/* english/phrase.h: the grammar: phrases that speak of time. Private to english*.c.
 *
 * Each reader looks for its phrase at a token and answers where it ends; the same place means that
 * it is not there. What it says is added to `said`.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_ENGLISH_PHRASE_H
#define ERRAND_ENGLISH_PHRASE_H

#include "english/said.h"

#define PHRASES_MAX 64 /* of one text; further ones are words of the task */

enum phrase_kind {
    PHRASE_OFTEN,
    PHRASE_DAY,
    PHRASE_TIME,
    PHRASE_START,
    PHRASE_END,
    PHRASE_EXCEPT,
    PHRASE_ZONE,
    PHRASE_FAULT,
    PHRASE_FILLER, /* "from now on" */
};

/* How surely a phrase is meant as an order, not as a word of the task. */
enum phrase_force {
    FORCE_THING, /* "the Friday trip": never */
    FORCE_MAYBE, /* "a daily summary": when nothing else is said */
    FORCE_BARE,  /* "Friday", "18:30": beside others */
    FORCE_LED,   /* "on Friday", "at 18:30", "tomorrow" */
    FORCE_EVERY, /* "every Friday" */
};

struct phrase {
    enum phrase_kind kind;
    enum phrase_force force;
    size_t from, to; /* tokens */
    struct said said;
    bool used;
    unsigned cluster; /* phrases with nothing of the task between them share it */
};

/* ---- Pieces ---- */

size_t phrase_number(const struct tokens *t, size_t at, int *n);
size_t phrase_amount(const struct tokens *t, size_t at, struct amount *out);
void amount_add(struct amount *out, int n, int hundredths, int unit);
size_t phrase_separator(const struct tokens *t, size_t at); /* ", and", "/" */

/* One time of the day. `led`: after "at", where a bare number is one. */
size_t phrase_clock(const struct tokens *t, size_t at, bool led, struct day_time *out,
                    enum said_fault *fault);
size_t phrase_clocks(const struct tokens *t, size_t at, bool led, struct said *said);

/* Monday; Monday and Friday; mon-fri; weekdays. */
size_t phrase_weekdays(const struct tokens *t, size_t at, struct said *said);
/* The first and third Friday; the 15th and the last day; with "of every month" after it. */
size_t phrase_ordinals(const struct tokens *t, size_t at, struct said *said);
size_t phrase_of(const struct tokens *t, size_t at, struct said *said);
/* June 20, 20 June 2027, 6/20, 2027-06-20. */
size_t phrase_date(const struct tokens *t, size_t at, struct said *said);
size_t phrase_months(const struct tokens *t, size_t at, struct said *said);

/* ---- Phrases ---- */

size_t phrase_often(const struct tokens *t, size_t at, struct phrase *out);
size_t phrase_day(const struct tokens *t, size_t at, struct phrase *out);
size_t phrase_time(const struct tokens *t, size_t at, struct phrase *out);
size_t phrase_span(const struct tokens *t, size_t at, struct arena *arena, struct phrase *out);
size_t phrase_fault(const struct tokens *t, size_t at, struct phrase *out);

/* choose.c: all phrases of a text, and what those meant as an order say together. */
struct choice {
    struct phrase *phrases;
    size_t count;
    struct said said;
};
void choose(const struct tokens *t, struct arena *arena, struct choice *out);
void choose_find(const struct tokens *t, struct arena *arena, struct choice *out);

/* title.c: what is left of the text when the order is taken out. */
void title_read(const struct tokens *t, const struct choice *choice, struct arena *arena,
                struct english_read *out);

#endif
