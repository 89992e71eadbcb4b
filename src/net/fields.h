/* net/fields.h: a JSON object of a request is read by a table: one row a field, its name and how
 * to take its value.
 *
 * A name that is not in the table is refused, a name given twice too; a refusal names its field.
 *
 * Thread: any.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_NET_FIELDS_H
#define ERRAND_NET_FIELDS_H

#include "base/arena.h"
#include "task/task.h" /* before FIELD here: task.def has its own */
#include "wire/json.h"

struct field {
    struct str name;
    bool (*set)(struct json *json, void *into, struct err *err); /* takes the value that is next */
};

struct fields {
    const struct field *at;
    size_t count;
};

#define FIELD(name, set)                                                                           \
    {                                                                                              \
        {name, sizeof(name) - 1}, set                                                              \
    }
#define FIELDS(table) ((struct fields){(table), ARRAY_LEN(table)})
#define FIELDS_NONE   ((struct fields){NULL, 0})

/* Reads the object that is next into `into`. */
MUST_CHECK bool fields_read(struct json *json, struct fields fields, void *into, struct err *err);
/* The same for the members that are left of an object already entered. */
MUST_CHECK bool fields_rest(struct json *json, struct fields fields, void *into, struct err *err);
/* Takes the value of the member `key`, which was just read. */
MUST_CHECK bool fields_take(struct json *json, struct fields fields, struct str key, void *into,
                            struct err *err);
/* The same as fields_read() for the object that is the value of `name`, or item `index` of an
 * array: refusals are named from outside, "backoff.baseMs" and "[3].priority". */
MUST_CHECK bool fields_inner(struct json *json, struct fields fields, const char *name, void *into,
                             struct err *err);
MUST_CHECK bool fields_item(struct json *json, struct fields fields, size_t index, void *into,
                            struct err *err);

/* ---- Values of one kind. Over a limit is a refusal, never a clamp. ---- */

MUST_CHECK bool field_i64(struct json *json, int64_t min, int64_t max, int64_t *out,
                          struct err *err);
MUST_CHECK bool field_f64(struct json *json, double min, double max, double *out, struct err *err);
/* A text without U+0000, which not every store can keep and no address can name. */
MUST_CHECK bool field_str(struct json *json, struct str *out, struct err *err);
MUST_CHECK bool field_text(struct json *json, size_t min, size_t max, struct str *out,
                           struct err *err);
MUST_CHECK bool field_time(struct json *json, int64_t *out_ms, struct err *err); /* from 1970 on */

/* An array of texts, at most `most`, into the scanner's arena. */
struct texts {
    struct str *at;
    size_t count;
};
MUST_CHECK bool field_texts(struct json *json, size_t most, struct texts *out, struct err *err);

/* Room for one more item of `size` bytes behind `count` others: the array, or a bigger copy. */
void *fields_room(struct arena *arena, void *items, size_t count, size_t *room, size_t size);

#endif
