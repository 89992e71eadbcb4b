/* wire/form.h: a plain struct as a JSON object, by one table of its fields.
 *
 * The same table reads what a client sends (strictly: what it may not set is refused by name),
 * reads the query of a request, shows the struct to clients, keeps it in the store, copies its
 * texts and describes all that in openapi.json. A row says where the field lies in the struct, how
 * it looks in JSON, what its limits are and who may set it. Unset fields are left out.
 *
 * A dot in a name is an object inside: "backoff.baseMs" is the member baseMs of the object backoff,
 * and a refusal names it so. The rows of one inner object stand together.
 *
 * Thread: any. Keeps nothing.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_WIRE_FORM_H
#define ERRAND_WIRE_FORM_H

#include "wire/id.h"
#include "wire/json.h"

enum form_kind {
    FORM_NONE,   /* nothing of the struct: what comes is taken and forgotten */
    FORM_TEXT,   /* struct str of `min` to `max` bytes (0: any number); absent: unset */
    FORM_OBJECT, /* struct str: a JSON object as sent, at most `max` bytes (0: any number) */
    FORM_ARRAY,  /* the same, an array */
    FORM_VALUE,  /* the same, any value */
    FORM_BOOL,
    FORM_YES,   /* bool, written as words[0] (no) or words[1] (yes); no is not shown */
    FORM_I32,   /* int32_t from `min` to `max` */
    FORM_I64,   /* int64_t from `min` to `max` */
    FORM_SIZE,  /* size_t from `min` to `max` */
    FORM_F64,   /* double from `min` to `max`; negative: unset */
    FORM_TIME,  /* int64_t, UTC milliseconds; 0: unset */
    FORM_ID,    /* struct task_id; none: unset */
    FORM_WORD,  /* an enum by its place in `words` */
    FORM_TEXTS, /* struct form_texts of at most `max` */
    FORM_LIST,  /* struct str[max] in the struct; how many is the size_t at `count_at` */
    FORM_WORDS, /* unsigned: bits 1 << place in `words`, shown as an array */
    FORM_HOOK,  /* code of its own: `hook` */
};

enum form_use {
    FORM_SET = 1,       /* clients may set it */
    FORM_SHOWN = 2,     /* clients see it */
    FORM_KEPT = 4,      /* it is stored */
    FORM_NUMBER = 8,    /* a word that may be given by its number too */
    FORM_CHANGE = 16,   /* clients may change it later */
    FORM_NULL = 32,     /* null unsets it in what is new; also true of texts, objects and arrays
                           without a `min`, which a change may unset too. Of a member of an inner
                           object: the object may be null, not the member */
    FORM_NEEDED = 64,   /* a request without it is refused */
    FORM_ALWAYS = 128,  /* an answer always has it; numbers, booleans and words are always there */
    FORM_DEFAULT = 256, /* `standard` (of a text: `standard_text`) is its value if none is given,
                           and again where a change gives null */
    FORM_LOOSE = 512,   /* form_check() does not hold it to its limits: others may set it, too. Of a
                           time: any time will do */
    FORM_EMPTY = 1024,  /* empty in a query is as if it were not given */
    FORM_OWN = 1 << 16, /* this bit and those above are the form's own: kinds of requests */
};

struct form_texts {
    struct str *at;
    size_t count;
};

struct form_row;

/* A field that needs code. `into` and `from` are the struct, not the field. What is NULL is not
 * asked for: a field without `show` is never shown. */
struct form_hook {
    bool (*read)(struct json *json, const struct form_row *row, void *into, struct err *err);
    bool (*text)(const struct form_row *row, struct str value, void *into, struct err *err);
    void (*show)(struct json_writer *w, const struct form_row *row, const void *from);
};

struct form_row {
    struct str name;
    enum form_kind kind;
    unsigned use;
    size_t at;
    int64_t min, max;
    const char *const *words; /* ended by NULL; a gap is "" */
    size_t count_at;          /* of a LIST */
    int64_t item_max;         /* bytes of each text of TEXTS and LIST; 0: any number */
    int64_t item_min;
    bool (*check)(struct str text); /* of TEXT and each of TEXTS, LIST: further than its length */
    const char *rule;               /* "must be …": says it better than the limits can */
    int64_t standard;
    const char *standard_text;
    const struct form_hook *hook;
    const char *pattern; /* for openapi.json: what `check` wants, as a regular expression */
    const char *schema;  /* for openapi.json: instead of what follows from the row */
    const char *about;   /* for openapi.json: a sentence */
};

struct form {
    const struct form_row *rows;
    size_t count; /* at most 64 */
};

#define FORM_ROW(label, type, member, form_kind, form_use, ...)                                    \
    {                                                                                              \
        .name = {label, sizeof(label) - 1}, .kind = (form_kind), .use = (form_use),                \
        .at = offsetof(type, member), __VA_ARGS__                                                  \
    }
#define FORM(table)                                                                                \
    {                                                                                              \
        (table), ARRAY_LEN(table)                                                                  \
    }

/* Sets every row to its standard, and amounts (F64) without one to unset; the rest is left as it
 * is. */
void form_init(const struct form *form, void *into);

/* ---- Reading what clients send ---- */

/* Reads the object that is next, as a client sent it. `given` gets a bit for each row that was
 * there; null unsets what can be unset. A request may bring fields that are not the struct's:
 * `more`, or NULL. */
struct form_more {
    const struct form *form;
    void *into;
};
MUST_CHECK bool form_read(struct json *json, const struct form *form, void *into, uint64_t *given,
                          const struct form_more *more, struct err *err);

/* The same for the rows of one use alone, FORM_SET, FORM_CHANGE or one of the form's own: others
 * are as unknown as those that do not exist. `given` may be NULL. */
MUST_CHECK bool form_read_for(unsigned use, struct json *json, const struct form *form, void *into,
                              uint64_t *given, const struct form_more *more, struct err *err);
/* The same for the members that are left of an object already entered, the first of which is `key`.
 */
MUST_CHECK bool form_read_rest(unsigned use, struct json *json, struct str key,
                               const struct form *form, void *into, uint64_t *given,
                               const struct form_more *more, struct err *err);
bool form_given(const struct form *form, uint64_t given, const char *name);

/* Reads the query of a request: the same rows, their values as texts. A name that is unknown, given
 * twice or left empty is refused. */
MUST_CHECK bool form_query(struct str query, const struct form *form, struct arena *arena,
                           void *into, struct err *err);

const struct form_row *form_find(const struct form *form, struct str name); /* or NULL */
/* Sets the field of a row by a text, as a query has it. Several words are separated by commas. */
MUST_CHECK bool form_text(const struct form_row *row, struct str value, void *into,
                          struct err *err);

/* A change: copies the fields of the rows in `given` from one struct to another. Texts are
 * borrowed.
 */
void form_apply(const struct form *form, uint64_t given, const void *from, void *into);

/* Whether a struct that was filled some other way keeps the limits of what clients may set. */
MUST_CHECK bool form_check(const struct form *form, const void *from, struct err *err);

/* Item `index` of an array must be an object: "[3] must be an object". */
MUST_CHECK bool form_item(const struct json *json, size_t index, struct err *err);

/* Names the value at fault from further out: "priority" becomes "[3].priority", in the message too.
 * Leaves errors that name no field alone. Returns false. */
bool form_inside(struct err *err, const char *outer_format, ...) PRINTF_LIKE(2, 3);

/* The word of a row; for messages and filters. */
MUST_CHECK bool form_word(const char *const *words, struct str text, int *out);

/* ---- Keeping, showing, copying ---- */

/* What form_keep() wrote; fields that are no longer known are passed over. */
MUST_CHECK bool form_load(struct str body, const struct form *form, struct arena *arena, void *into,
                          struct err *err);

void form_keep(struct json_writer *w, const struct form *form, const void *from); /* an object */
void form_show(struct json_writer *w, const struct form *form, const void *from); /* its members */
/* The same without some rows: `hidden` has their bits. */
void form_show_but(struct json_writer *w, const struct form *form, const void *from,
                   uint64_t hidden);
uint64_t form_bit(const struct form *form, const char *name); /* of form_show_but(), form_read() */

/* Copies all texts of a struct into the arena, in place. */
void form_copy(const struct form *form, void *into, struct arena *arena);

/* ---- Describing: openapi.json ---- */

/* The JSON schema of the object that form_read_for() takes (FORM_SET, FORM_CHANGE) or form_show()
 * writes (FORM_SHOWN). `more`: further rows of the same object, or NULL. An `open` one may have
 * fields that are not said here. */
void form_schema(struct json_writer *w, const struct form *form, const struct form *more,
                 unsigned use, bool open);
/* The parameters of form_query(): items of an array that is open. */
void form_parameters(struct json_writer *w, const struct form *form);

#endif
