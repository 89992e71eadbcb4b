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
size_t phrase_year(const struct tokens *t, size_t at, struct said *said);
size_t phrase_ordinal(const struct tokens *t, size_t at, int *n, bool *digits);
/* One of "24 and 25 October" or "Dec 24 and 25"; `before` is the one before it, or NULL. */
size_t phrase_listed_date(const struct tokens *t, size_t at, const struct said *before,
                          struct said *out);

/* Christmas, the Monday after Easter's own name, Thanksgiving 2027. */
size_t phrase_holiday(const struct tokens *t, size_t at, struct said *said);
/* "tomorrow", "next Friday", "the 20th", Christmas: a day without a word that leads it. */
size_t phrase_single_day(const struct tokens *t, size_t at, struct said *said);
/* 9-11, "at 7 until 8", 14:00–15:30: from when to when. */
size_t phrase_clock_range(const struct tokens *t, size_t at, bool led, struct said *said);
void phrase_settle_window(struct said *said);
const struct said *phrase_keep(const struct tokens *t, const struct said *said);

/* ---- Phrases ---- */

/* What stands before a phrase: it decides whether a bare number is an hour. */
struct place {
    bool apart;       /* at the beginning, or after a mark or a phrase */
    bool after_day;   /* right after a weekday, "tomorrow" or the like */
    bool after_often; /* right after another day, date, or how often */
    bool after_clock; /* right after a time of the day */
};

size_t phrase_often(const struct tokens *t, size_t at, struct phrase *out);
size_t phrase_day(const struct tokens *t, size_t at, struct phrase *out);
size_t phrase_time(const struct tokens *t, size_t at, const struct place *place,
                   struct phrase *out);
size_t phrase_zone(const struct tokens *t, size_t at, bool after_clock, struct phrase *out);
size_t phrase_span(const struct tokens *t, size_t at, struct phrase *out);
size_t phrase_except(const struct tokens *t, size_t at, struct phrase *out);
size_t phrase_fault(const struct tokens *t, size_t at, struct phrase *out);

/* choose.c: all phrases of a text, and what those meant as an order say together. */
struct choice {
    struct phrase *phrases;
    size_t count;
    struct said said;
    size_t blame_from, blame_to; /* the tokens for which it is refused */
};
void choose(const struct tokens *t, struct arena *arena, struct choice *out);
void choose_find(const struct tokens *t, struct arena *arena, struct choice *out);

/* place.c */
bool place_is_users(struct str name, const struct zone *zone, int64_t at_s);
const char *place_of_offset(int minutes, struct arena *arena);     /* NULL: no zone has it */
void place_take_offsets(const struct tokens *t, struct phrase *p); /* 14:30+02:00 names its zone */
bool place_is_city(const struct tokens *t, size_t at, size_t *to);

/* guard.c: texts that are no order at all; and words left over that look like a part of when. */
void guard_text(const struct tokens *t, struct choice *choice);
void guard_leftovers(const struct tokens *t, struct choice *choice);
bool foreign_find(const struct tokens *t, size_t *from, size_t *to); /* foreign.c */
void guard_refuse(struct choice *choice, enum said_fault fault, size_t from, size_t to);

/* title.c: what is left of the text when the order is taken out. */
void title_read(const struct tokens *t, const struct choice *choice, struct arena *arena,
                struct english_read *out);

#endif
