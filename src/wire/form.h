/* wire/form.h: a plain struct as a JSON object, by one table of its fields.
 *
 * The same table reads what a client sends (strictly: what it may not set is refused by name),
 * shows the struct to clients, and keeps it in the store. A row says where the field lies in the
 * struct, how it looks in JSON and what its limits are. Unset fields are left out.
 *
 * Thread: any. Keeps nothing.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_WIRE_FORM_H
#define ERRAND_WIRE_FORM_H

#include "wire/id.h"
#include "wire/json.h"

enum form_kind {
    FORM_TEXT,   /* struct str of `min` to `max` bytes; absent: unset */
    FORM_OBJECT, /* struct str: a JSON object as sent, at most `max` bytes */
    FORM_ARRAY,  /* the same, an array */
    FORM_VALUE,  /* the same, any value */
    FORM_BOOL,
    FORM_I64,   /* int64_t from `min` to `max` */
    FORM_F64,   /* double from 0 to `max`; negative: unset */
    FORM_TIME,  /* int64_t, UTC milliseconds; 0: unset */
    FORM_ID,    /* struct task_id; none: unset */
    FORM_WORD,  /* an enum by its place in `words` */
    FORM_TEXTS, /* struct form_texts of at most `max` */
    FORM_WORDS, /* unsigned: bits 1 << place in `words`, shown as an array */
};

enum form_use {
    FORM_SET = 1,    /* clients may set it */
    FORM_SHOWN = 2,  /* clients see it */
    FORM_KEPT = 4,   /* it is stored */
    FORM_NUMBER = 8, /* a word that may be given by its number too */
};

struct form_texts {
    struct str *at;
    size_t count;
};

struct form_row {
    struct str name;
    enum form_kind kind;
    unsigned use;
    size_t at;
    int64_t min, max;
    const char *const *words; /* ended by NULL; a gap is "" */
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

/* Reads the object that is next, as a client sent it. `given` gets a bit for each row that was
 * there; null unsets what can be unset. A request may bring fields that are not the struct's:
 * `more`, or NULL. */
struct form_more {
    const struct form *form;
    void *into;
};
MUST_CHECK bool form_read(struct json *json, const struct form *form, void *into, uint64_t *given,
                          const struct form_more *more, struct err *err);
bool form_given(const struct form *form, uint64_t given, const char *name);

/* What form_keep() wrote; fields that are no longer known are passed over. */
MUST_CHECK bool form_load(struct str body, const struct form *form, struct arena *arena, void *into,
                          struct err *err);

void form_keep(struct json_writer *w, const struct form *form, const void *from); /* an object */
void form_show(struct json_writer *w, const struct form *form, const void *from); /* its members */

/* The word of a row; for messages and filters. */
MUST_CHECK bool form_word(const char *const *words, struct str text, int *out);

#endif
