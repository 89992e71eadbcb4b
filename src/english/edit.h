/* english/edit.h: what an English sentence changes: "move my daily report to 8am".
 *
 * The sentence names one or more of the schedules given, by words of their titles, by weekday, hour
 * or part of the day, and says what becomes of them. What it does not mention stays as it was.
 *
 * Thread: any. Keeps nothing and asks no clock.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_ENGLISH_EDIT_H
#define ERRAND_ENGLISH_EDIT_H

#include "english/english.h"

#define EDIT_SCHEDULES_MAX 10000 /* looked at; further ones are not found by name */

/* One of the schedules that the sentence may mean. */
struct edit_schedule {
    struct str title;
    const struct rrule *rule; /* NULL: once */
    int64_t next_ms;          /* its next occurrence; of one that is once: its time */
    struct str chat_id;
    bool paused;
};

enum edit_op {
    EDIT_NONE,    /* the sentence is no edit */
    EDIT_REFUSED, /* it is one, and cannot be done: see refusal and candidates */
    EDIT_RESCHEDULE,
    EDIT_PAUSE,
    EDIT_RESUME,
    EDIT_CANCEL,
    EDIT_SKIP_NEXT,
    EDIT_SKIP, /* dated occurrences are left out */
    EDIT_RENAME,
    EDIT_PAUSE_UNTIL, /* nothing runs before a time */
};

struct edit_asked {
    struct str text;
    int64_t now_ms;
    const struct zone *zone;
    struct zones *zones; /* where a zone that the text names is found; NULL: nowhere */
    int64_t min_lead_ms;
    const struct edit_schedule *schedules;
    size_t count;
    struct str chat_id; /* "it" is the only one of this chat */
};

/* What becomes of one of them. */
struct edit_change {
    size_t which;      /* of the schedules asked */
    bool is_recurring; /* RESCHEDULE: `rule` is the whole new rule */
    struct rrule rule;
    struct str rrule;
    struct when start; /* RESCHEDULE: the new DTSTART, which is the next occurrence */
    struct str dtstart;
    int64_t skip_ms;   /* SKIP_NEXT: the occurrence that is left out */
    int64_t *skips_ms; /* SKIP: those that are left out */
    size_t skips_count;
    int64_t resume_ms; /* PAUSE_UNTIL */
    struct str zone;   /* RESCHEDULE: another zone; absent: as it was */
    int64_t next_ms;   /* the next occurrence; of SKIP_NEXT the one after that left out */
};

struct edit_read {
    enum edit_op op;
    struct edit_change *changes; /* one for each schedule that is meant */
    size_t count;
    struct str title; /* RENAME */
    struct english_refusal refusal;
    size_t *candidates; /* REFUSED: those that it might have meant, if several */
    size_t candidates_count;
};

/* Never fails: what it cannot understand it refuses, with the reason. */
void english_edit(const struct edit_asked *asked, struct arena *arena, struct edit_read *out);

const char *edit_op_name(enum edit_op op); /* "reschedule" … */

#endif
