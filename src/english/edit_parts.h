/* english/edit_parts.h: what the files of edit*.c share. Private to them.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_ENGLISH_EDIT_PARTS_H
#define ERRAND_ENGLISH_EDIT_PARTS_H

#include "english/edit.h"
#include "english/phrase.h"

/* What a token of the sentence is for. */
enum edit_use {
    USE_NONE,
    USE_VERB,  /* "move", "no longer need" */
    USE_NAME,  /* a word that may be of a title */
    USE_VALUE, /* of a phrase that says the new time */
    USE_WHICH, /* of a phrase that names by time: "the Monday one" */
};

enum edit_verb {
    VERB_NONE,
    VERB_CANCEL,
    VERB_PAUSE,
    VERB_RESUME,
    VERB_SKIP,
    VERB_RENAME,
    VERB_MOVE,  /* a new time */
    VERB_LATER, /* postpone */
    VERB_EARLIER,
    VERB_ADD,
    VERB_START, /* from when on */
    VERB_END,   /* until when */
    VERB_DO,    /* do, run, make: an edit only with "the" or "instead" */
};

struct edit {
    const struct edit_asked *asked;
    struct arena *arena;
    struct edit_read *out;
    struct tokens t;
    struct choice phrases;
    enum edit_use *use; /* of each token */
    enum edit_verb verb;
    size_t verb_at, verb_to;
    bool strong; /* the verb alone shows that it is an edit */
    bool also, instead, only, not_more, for_now, again, all, next;
    bool has_pronoun, has_one, has_article; /* "it"; "the … one"; "the" or "my" with the name */
    bool from_name;                         /* "… from the gym": what is said is taken away */
    struct said value;                      /* the new time */
    bool has_value;
    struct said which;    /* by which time it is named */
    struct said instance; /* "tomorrow's": the one that is left out */
    bool has_instance;
    const char *zone;         /* "to Berlin time" */
    const struct zone *named; /* that zone */
    bool has_replaced;        /* "instead of Monday" */
    struct said replaced;
    bool has_shift;
    int shift_sign; /* by so much later (1) or earlier (-1) */
    struct amount shift;
};

void edit_scan(struct edit *e);                              /* edit_scan.c */
bool edit_name(struct edit *e);                              /* edit_name.c: fills the changes */
bool edit_apply(struct edit *e, struct edit_change *change); /* edit_apply.c */
bool edit_skip(struct edit *e, struct edit_change *change, enum edit_op *op); /* edit_days.c */
bool edit_pause(struct edit *e, struct edit_change *change);
bool edit_is_pause_until(const struct edit *e);
bool edit_lists_days(const struct edit *e);
bool edit_has_unknown_words(const struct edit *e);
struct resolver edit_resolver(const struct edit *e);
int64_t edit_next_wall(const struct edit *e, const struct edit_schedule *s);
bool edit_matches_title(const struct edit *e, size_t token, struct str title);
bool edit_refuse(struct edit *e, const char *field, struct str reason);

#endif
