/* english/said.h: what a sentence says about time, however it says it.
 *
 * Each phrase fills some of it; phrases of one order are put together, and the resolver makes a
 * schedule of the whole. Private to english*.c.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_ENGLISH_SAID_H
#define ERRAND_ENGLISH_SAID_H

#include "english/english.h"
#include "english/token.h"

#define SAID_CLOCKS_MAX 24
#define SAID_WORKDAYS   0x1fu
#define SAID_WEEKEND    0x60u
#define SAID_ALL_DAYS   0x7fu

/* A time of the day. `open`: neither am nor pm was said, nor is it plain from the digits. `is_24`:
 * the digits are those of the 24-hour clock, and then of all in its list. */
struct day_time {
    int hour, minute, second;
    bool open, is_24;
};

/* "2 hours and 30 minutes", "three weeks". Days and months are of the calendar. */
struct amount {
    int months, days;
    int64_t seconds;
    int unit, n;   /* of its first part */
    bool vague;    /* a few, 2 or 3 */
    bool workdays; /* the days are those from Monday to Friday */
};

/* Of which month, week or year something is. */
enum said_of {
    OF_NONE,
    OF_THIS,
    OF_NEXT,
    OF_AFTER_NEXT,
    OF_EVERY, /* "of every month", and "of the month" */
};

/* What is wrong with what was said: nothing can be scheduled from it. */
enum said_fault {
    FAULT_NONE,
    FAULT_VAGUE,       /* soon, every few days */
    FAULT_EVENT,       /* when I get home, at sunset */
    FAULT_ALTERNATIVE, /* Monday or Tuesday */
    FAULT_IMPOSSIBLE,  /* 25:00, the 32nd */
    FAULT_PAST,        /* yesterday */
    FAULT_MISSING,     /* every day at */
    FAULT_AMBIGUOUS,   /* bimonthly */
    FAULT_CONFLICT,    /* every Monday on Tuesday */
    FAULT_ZONE,        /* 9am Tokyo time, and no zones at hand */
    FAULT_HOLIDAYS,    /* except holidays */
    FAULT_WHICH_DAYS,  /* twice a week */
    FAULT_PLACE,       /* Springfield time */
    FAULT_ZONES,       /* IST */
    FAULT_DASHED,      /* 10-11-2026 */
    FAULT_NO_HOLIDAY,  /* on bank holiday Monday */
    FAULT_EASTER,      /* every Easter */
    FAULT_UNPLACED,    /* a word that looks like a part of when, and has no place */
    FAULT_SPAN,        /* every sprint */
    FAULT_LANGUAGE,    /* jeden Montag */
    FAULT_RULE,        /* FREQ=DAILY */
    FAULT_CRON,        /* 0 9 * * 1 */
    FAULT_QUESTION,    /* when is the meeting? */
    FAULT_NEGATION,    /* don't wake me */
    FAULT_CONDITION,   /* unless it rains */
    FAULT_TWO,         /* two schedules */
};

/* A meal settles am or pm of a bare hour. */
enum said_meal { MEAL_NONE, MEAL_BREAKFAST, MEAL_DINNER };

#define SAID_EXCEPT_MAX 16

struct said {
    enum said_fault fault;

    /* How often. */
    bool every; /* it was said that it recurs */
    int unit;   /* enum word_unit; UNIT_NONE */
    int interval;
    int per;          /* so many times in each unit */
    uint64_t minutes; /* of each hour: "on the hour" */

    /* Which days. */
    unsigned weekdays;
    bool plural, listed;            /* Fridays; Monday and Friday */
    enum said_of which;             /* this Friday, next Friday */
    bool bare_last;                 /* "last Friday": the past one, unless it is of a month */
    uint32_t nth[7], nth_last[7];   /* of each weekday: the first and third Friday */
    uint32_t set_nth, set_nth_last; /* the last … */
    unsigned set_days;              /* … of these together: working day, weekend day */
    uint32_t month_days, month_days_last;
    unsigned months;
    int year;
    enum said_of of_month, of_week, of_year, of_quarter;
    bool is_weekend; /* "this weekend": its Saturday */
    bool has_offset;
    int offset; /* days from today */
    bool has_in;
    struct amount in;
    const struct said *anchor; /* `in` counts from this day; NULL: today */
    bool in_before;            /* and backwards */
    unsigned near_weekdays;    /* the first of these after the anchor, or before */
    int ahead;                 /* three Fridays from now */
    int holiday;               /* of holiday.c, from 1; 0: none */
    bool dated;                /* a day of the month with its month: "June 20" */
    bool if_weekday;           /* "the 13th if it is Friday" */

    /* What time. */
    struct day_time clocks[SAID_CLOCKS_MAX];
    unsigned clocks_count;
    uint32_t hours;                 /* with `minutes`: "at minutes 0 and 30 of hours 9 to 17" */
    uint64_t only[RRULE_DAY_WORDS]; /* the 1st, 3rd … of each day or month, as a summary says it */
    bool has_only, only_last;       /* only_last: counted from the end */
    unsigned parts;                 /* bits of enum word_part */
    bool tonight;
    bool time_now; /* "this time tomorrow": the minute of now */
    enum said_meal meal;
    bool has_window;
    struct day_time from, to;

    /* From when, until when, what not. */
    const struct said *start, *until;
    bool through; /* the end includes the month it names */
    struct amount lasting;
    bool has_lasting;
    bool lasting_ahead; /* for the next 3 days */
    int count;
    unsigned except_weekdays, except_months;
    uint32_t except_month_days, except_month_days_last;
    uint32_t except_nth, except_nth_last;            /* "the last one of the month" … */
    unsigned except_nth_days;                        /* … of these; 0: of all */
    const struct said *except_days[SAID_EXCEPT_MAX]; /* single days */
    unsigned except_days_count;

    /* Where. */
    const char *zone;
    struct str unsure_zone; /* a name with several meanings */
};

static inline struct said said_nothing(void)
{
    return (struct said){.unit = UNIT_NONE, .interval = 1};
}

bool said_has_day(const struct said *said);  /* some day, date or relative day */
bool said_has_days(const struct said *said); /* days that a rule can name */
bool said_has_time(const struct said *said);
bool said_recurs(const struct said *said);

/* Puts what `more` says to what is said; false when the two contradict. */
bool said_add(struct said *said, const struct said *more);

/* ---- The resolver: once.c, recurring.c ---- */

struct resolved {
    enum english_kind kind;
    struct rrule rule;
    struct when *exdates;
    size_t exdates_count;
    int64_t first_ms;
    struct when start;
    enum said_fault fault;
    const char *field;
    struct str reason;
};

struct resolver {
    int64_t now_ms, now_wall_s; /* whole seconds on the wall */
    int64_t today;              /* a day's number */
    const struct zone *zone;
    int64_t min_lead_ms;
    struct arena *arena;
    int default_s; /* the time of the day when none is said */
};

#define RESOLVE_DEFAULT_S (9 * 3600)

void resolve(struct resolver *to, const struct said *said, struct resolved *out);
bool resolve_refuse(struct resolved *out, const char *field, struct str reason);

/* once.c: the day that is said, with a time of the day for "the next one in the future". */
bool resolve_day(const struct resolver *to, const struct said *said, int64_t time_s, int64_t *day,
                 struct resolved *out);
bool resolve_clock(const struct said *said, const struct day_time *clock, int64_t *time_s);
bool resolve_once(const struct resolver *to, const struct said *said, struct resolved *out);
int64_t resolve_add(int64_t day, const struct amount *amount); /* calendar days and months */
/* holiday.c: its day in that year. */
int64_t holiday_day(int holiday, int64_t year);
/* Fills a yearly rule with it; false: no rule gives it. */
bool holiday_rule(int holiday, struct rrule *rule);
bool resolve_recurring(const struct resolver *to, const struct said *said, struct resolved *out);

/* Finds the first occurrence of a rule later than `after_ms`, and its start on the wall. */
bool resolve_first(const struct resolver *to, const struct rrule *rule, int64_t after_ms,
                   struct resolved *out);
void resolve_start(const struct resolver *to, const struct rrule *rule, struct resolved *out);

#endif
