/* english/token.h: an English sentence cut into tokens. Private to english*.c.
 *
 * A token is a piece of the text with what it may mean: "second" is an ordinal and a unit. What
 * the lexicon does not know is a plain word of the task.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_ENGLISH_TOKEN_H
#define ERRAND_ENGLISH_TOKEN_H

#include "base/arena.h"

#define TOKEN_READINGS 3
#define TOKEN_PLURAL   0x100 /* of weekdays, sets of them, units and parts of the day */
#define TOKEN_WORD_MAX 24    /* longer words are none of ours */

/* What a word may be. */
enum word_class {
    WORD_PLAIN,
    WORD_COMMA,
    WORD_DASH,
    WORD_SLASH,
    WORD_STOP,  /* other punctuation */
    WORD_EVERY, /* every, each */
    WORD_OTHER,
    WORD_SINGLE, /* every single day */
    WORD_UNIT,   /* enum word_unit */
    WORD_FREQ,   /* daily, biweekly: unit × 16 + interval */
    WORD_WEEKDAY,
    WORD_DAYSET, /* weekdays, weekend: their bits */
    WORD_WORK,   /* business, working: a day after it is a weekday */
    WORD_MONTH,
    WORD_PART,        /* enum word_part */
    WORD_MOMENT,      /* noon, midnight: its hour */
    WORD_NUMBER,      /* the token's number */
    WORD_ORDINAL,     /* the number; -1 is last */
    WORD_HALF_OF_DAY, /* am 0, pm 1 */
    WORD_CLOCK,       /* 9:30, 9am */
    WORD_DATE,        /* 2027-03-01, 7/4/2027, 7/4 */
    WORD_AT,
    WORD_ON,
    WORD_IN,
    WORD_OF,
    WORD_FOR,
    WORD_BY,
    WORD_ABOUT,
    WORD_FROM,
    WORD_TO,
    WORD_UNTIL,
    WORD_THROUGH,
    WORD_BETWEEN,
    WORD_START,
    WORD_AND,
    WORD_OR,
    WORD_THE,
    WORD_A,
    WORD_MY, /* whose it is, or which: what follows is a thing */
    WORD_NEXT,
    WORD_THIS,
    WORD_COMING,
    WORD_TODAY, /* how many days away */
    WORD_TONIGHT,
    WORD_NOW,
    WORD_AGO,
    WORD_EXCEPT,
    WORD_NOT,
    WORD_TIMES,
    WORD_ONCE, /* once 1, twice 2 */
    WORD_PER,
    WORD_HALF,
    WORD_QUARTER,
    WORD_PAST,  /* half past six */
    WORD_AFTER, /* ten after six, the day after tomorrow */
    WORD_BEFORE,
    WORD_WHEN, /* when I get home */
    WORD_OCLOCK,
    WORD_SHARP,
    WORD_END,
    WORD_BEGIN,
    WORD_VAGUE,
    WORD_FEW,
    WORD_TIME,
    WORD_ZONE,
    WORD_ONLY,
    WORD_IF,
    WORD_EVENT, /* sunset, payday: a time that we do not know */
    WORD_FOREVER,
};

/* The first seven are those of enum rrule_freq. */
enum word_unit {
    UNIT_SECOND,
    UNIT_MINUTE,
    UNIT_HOUR,
    UNIT_DAY,
    UNIT_WEEK,
    UNIT_MONTH,
    UNIT_YEAR,
    UNIT_QUARTER,
    UNIT_FORTNIGHT,
    UNIT_NONE,
};

enum word_part { PART_NONE, PART_MORNING, PART_AFTERNOON, PART_EVENING, PART_NIGHT };

enum { FREQ_NIGHTLY = 1000, FREQ_AMBIGUOUS = 1001 };

struct reading {
    enum word_class is;
    int value;
};

struct token {
    struct str text;
    struct reading readings[TOKEN_READINGS];
    unsigned count;  /* of readings; 0: plain */
    bool glued;      /* no blank before it */
    bool possessive; /* tomorrow's */
    bool quoted;
    bool digits;              /* a number in digits */
    int number;               /* of NUMBER; the year of DATE, 0: none */
    int hundredths;           /* of NUMBER: 1.5 has 50 */
    int hour, minute, second; /* of CLOCK */
    int half_of_day;          /* of CLOCK: am 0, pm 1, not said -1 */
    bool is_24;               /* of CLOCK and NUMBER: a leading zero or four digits */
    int month, day;           /* of DATE; the month is -1: it may be day or month first */
    bool is_year;             /* of NUMBER: '26 */
    bool has_offset;          /* of CLOCK: 14:30+02:00, 15:00Z */
    int offset_min;
};

struct tokens {
    struct str text;
    struct arena *arena;
    struct token *at; /* one more follows the last: plain, empty */
    size_t count;
};

/* Cuts the text; false when it has too many tokens. */
MUST_CHECK bool tokens_cut(struct str text, struct arena *arena, struct tokens *out);

/* Past the end nothing is anything. */
bool token_is(const struct tokens *tokens, size_t at, enum word_class class);
int token_value(const struct tokens *tokens, size_t at, enum word_class class); /* 0: it is none */
bool token_is_unit(const struct tokens *tokens, size_t at, enum word_unit unit);
bool token_is_word(const struct tokens *tokens, size_t at, const char *word);
/* The tokens from there spell these words, separated by blanks; the answer is where they end. */
size_t token_spells(const struct tokens *tokens, size_t at, const char *words);
bool token_is_plain(const struct tokens *tokens, size_t at);    /* a word of the task */
bool token_is_particle(const struct tokens *tokens, size_t at); /* "turn the lights on" */
bool token_is_mark(const struct tokens *tokens, size_t at);     /* punctuation */

/* Fills the readings of a lower-case word, also one with a letter missing or two swapped. */
void lexicon_read(struct str word, struct token *token);
bool lexicon_knows(struct str word); /* exactly so */
/* Is it that word, or that word with one letter missing, doubled or two swapped? */
bool lexicon_is_nearly(struct str word, struct str right);

#endif
