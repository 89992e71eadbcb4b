/* wire/json.h: JSON in and out, without trees.
 *
 * Reading is a strict pull scanner over a text that is whole in memory: RFC 8259, UTF-8 and
 * surrogates checked, no recursion, one pass. Values come out as slices of the text; only a string
 * with escapes is decoded into the arena. What Errand reads itself may not name a key twice; inside
 * a value taken raw everything stays as the client sent it, byte for byte.
 *
 *     json_start(&json, text, arena);
 *     if (!json_enter_object(&json, err)) return false;
 *     while (json_member(&json, &key, err)) {
 *         bool ok = str_is(key, "taskType")  ? json_str(&json, &order->type, err)
 *                   : str_is(key, "payload") ? json_raw(&json, &order->payload, err)
 *                                            : json_refuse(&json, err, "is not a known field");
 *         if (!ok) return false;
 *     }
 *     return json_end(&json, err);
 *
 * A scanner that failed stays failed, so a loop may look at the end only.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_WIRE_JSON_H
#define ERRAND_WIRE_JSON_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

#define JSON_DEPTH_MAX   256 /* brackets open at once */
#define JSON_MEMBERS_MAX 256 /* members of one object that is entered; raw ones are free */

enum json_type {
    JSON_NONE, /* nothing that can begin a value */
    JSON_NULL,
    JSON_BOOL,
    JSON_NUMBER,
    JSON_STRING,
    JSON_ARRAY,
    JSON_OBJECT,
};

struct json_level;

struct json {
    const char *start, *at, *end;
    struct arena *arena;
    struct json_level *level, *spare; /* what is entered now; left ones, for use again */
    unsigned depth;
    bool failed;
};

/* --- Reading. Texts that come out live as long as `text` or the arena, whichever ends first. */
void json_start(struct json *json, struct str text, struct arena *arena);
enum json_type json_peek(const struct json *json); /* the type of the value that is next */
const char *json_type_name(enum json_type type);   /* "an object", "a number", … */

/* Steps inside. json_member() and json_item() answer true for each further one and false at the
 * closing bracket, which also leaves it, or on failure. A value nobody took is skipped. */
MUST_CHECK bool json_enter_object(struct json *json, struct err *err);
MUST_CHECK bool json_member(struct json *json, struct str *key, struct err *err);
MUST_CHECK bool json_enter_array(struct json *json, struct err *err);
MUST_CHECK bool json_item(struct json *json, struct err *err);

/* Takes the value that is next. A wrong type is ERR_INVALID with the member named as field. */
MUST_CHECK bool json_raw(struct json *json, struct str *out, struct err *err); /* its exact bytes */
MUST_CHECK bool json_str(struct json *json, struct str *out, struct err *err); /* may hold \0 */
MUST_CHECK bool json_i64(struct json *json, int64_t *out, struct err *err); /* not 1.0, not 1e3 */
MUST_CHECK bool json_f64(struct json *json, double *out, struct err *err);
MUST_CHECK bool json_bool(struct json *json, bool *out, struct err *err);
MUST_CHECK bool json_skip(struct json *json, struct err *err);
bool json_take_null(struct json *json); /* true, and taken, if null is next */

/* Fails, naming the member whose value is next: "priority must be one of …". Returns false. */
bool json_refuse(struct json *json, struct err *err, const char *format, ...) PRINTF_LIKE(3, 4);

bool json_ok(const struct json *json);                        /* nothing failed so far */
MUST_CHECK bool json_end(struct json *json, struct err *err); /* nothing failed, nothing is left */
bool json_valid(struct str text, struct err *err);            /* one whole, well formed document */

/* The raw value of a member of an object, STR_NONE if it is not there or `object` is none: a
 * glance at an answer, not a way to read requests. The first of two equal keys counts. */
struct str json_find(struct str object, const char *key, struct arena *arena);
struct str json_find_str(struct str object, const char *key, struct arena *arena); /* decoded */

/* For people: a JSON string is its text, anything else stays JSON, nothing is "". */
struct str json_plain(struct str value, struct arena *arena);

/* --- Writing. Commas come by themselves; whether it all fitted is said by the buf. */

struct json_writer {
    struct buf *buf;
    bool comma;     /* a value was written at this level */
    int64_t second; /* of the last time that was written; 0: none */
    char time[26];  /* ... with its quotes: the times of a task are close together */
};

#define JSON_WRITER(to) ((struct json_writer){.buf = (to)})

void json_open_object(struct json_writer *w);
void json_close_object(struct json_writer *w);
void json_open_array(struct json_writer *w);
void json_close_array(struct json_writer *w);
void json_key(struct json_writer *w, const char *key); /* our own word: no escapes needed */
void json_key_str(struct json_writer *w, struct str key);
void json_add_str(struct json_writer *w, struct str text); /* bad UTF-8 becomes U+FFFD */
void json_add_raw(struct json_writer *w, struct str json); /* JSON already */
void json_add_i64(struct json_writer *w, int64_t value);
void json_add_f64(struct json_writer *w, double value); /* shortest; not finite: null */
void json_add_bool(struct json_writer *w, bool value);
void json_add_null(struct json_writer *w);
void json_add_time(struct json_writer *w, int64_t ms); /* "2027-03-01T09:00:00.000Z" */
void json_add_base64(struct json_writer *w, struct str bytes);

/* Key and value at once. */
void json_put_object(struct json_writer *w, const char *key); /* opens it */
void json_put_array(struct json_writer *w, const char *key);
void json_put_str(struct json_writer *w, const char *key, struct str text);
void json_put_c(struct json_writer *w, const char *key, const char *c_text);
void json_put_raw(struct json_writer *w, const char *key, struct str json);
void json_put_i64(struct json_writer *w, const char *key, int64_t value);
void json_put_f64(struct json_writer *w, const char *key, double value);
void json_put_bool(struct json_writer *w, const char *key, bool value);
void json_put_null(struct json_writer *w, const char *key);
void json_put_time(struct json_writer *w, const char *key, int64_t ms);

#endif
