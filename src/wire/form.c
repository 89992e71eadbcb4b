/* wire/form.c: a plain struct out of JSON, or out of a query, by the table of its fields. See
 * form.h.
 *
 * The limits of values are in form_limits.c, queries in form_query.c; what is shown and kept is in
 * form_write.c, what is described in form_schema.c.
 *
 * Thread: any. Keeps nothing.
 *
 * SPDX-License-Identifier: MIT */
#include "wire/form.h"

#include <stdarg.h>
#include <stdio.h>

#include "wire/form_limits.h"
#include "wire/time.h"

static void *place(const struct form_row *row, void *into)
{
    return (char *)into + row->at;
}

static size_t *count_of(const struct form_row *row, void *into)
{
    return (size_t *)((char *)into + row->count_at);
}

/* ---- Values out of JSON ---- */

static bool read_word(struct json *json, const struct form_row *row, int *out, struct err *err)
{
    struct str text;
    char why[FORM_WHY_MAX];
    if (row->use & FORM_NUMBER && json_peek(json) == JSON_NUMBER) {
        return json_raw(json, &text, err) &&
               (form_word_of_number(row, text, out) || form_say_words(row, "must be one of", why) ||
                json_refuse(json, err, "%s", why));
    }
    if (row->rule != NULL && json_peek(json) != JSON_STRING) {
        return json_refuse(json, err, "%s", row->rule);
    }
    return json_str(json, &text, err) &&
           (form_word(row->words, text, out) || form_say_words(row, "must be one of", why) ||
            json_refuse(json, err, "%s", why));
}

static bool read_words(struct json *json, const struct form_row *row, unsigned *out,
                       struct err *err)
{
    unsigned bits = 0;
    if (!json_enter_array(json, err)) {
        return false;
    }
    while (json_item(json, err)) {
        int word;
        if (!read_word(json, row, &word, err)) {
            return false;
        }
        bits |= 1u << word;
    }
    *out = bits;
    return json_ok(json);
}

static bool read_yes(struct json *json, const struct form_row *row, bool *out, struct err *err)
{
    struct str text;
    if (row->words == NULL) {
        return json_bool(json, out, err);
    }
    if (!json_str(json, &text, err)) {
        return false;
    }
    *out = str_is(text, row->words[1]);
    return *out || str_is(text, row->words[0]) ||
           json_refuse(json, err, "must be %s or %s", row->words[0], row->words[1]);
}

/* U+0000 cannot be kept by every store, and no address can name it. */
static bool read_plain(struct json *json, struct str *out, struct err *err)
{
    return json_str(json, out, err) && (out->len == 0 || memchr(out->ptr, '\0', out->len) == NULL ||
                                        json_refuse(json, err, "must not hold U+0000"));
}

static bool read_text(struct json *json, const struct form_row *row, struct str *out,
                      struct err *err)
{
    struct str text;
    char why[FORM_WHY_MAX];
    if (!read_plain(json, &text, err)) {
        return false;
    }
    if (!form_text_fits(row, text, why)) {
        return json_refuse(json, err, "%s", why);
    }
    *out = text;
    return true;
}

static bool read_raw(struct json *json, const struct form_row *row, struct str *out,
                     struct err *err)
{
    enum json_type wanted = row->kind == FORM_OBJECT  ? JSON_OBJECT
                            : row->kind == FORM_ARRAY ? JSON_ARRAY
                                                      : json_peek(json);
    struct str raw;
    if (json_peek(json) != wanted) {
        return json_refuse(json, err, "must be %s", json_type_name(wanted));
    }
    if (!json_raw(json, &raw, err)) {
        return false;
    }
    if (row->max == 0 || raw.len <= (size_t)row->max) {
        *out = raw;
        return true;
    }
    if (row->rule != NULL) {
        return json_refuse(json, err, "%s", row->rule);
    }
    json_refuse(json, err, "has %zu bytes; the limit is %lld", raw.len, (long long)row->max);
    if (err != NULL) {
        err->kind = ERR_TOO_LARGE;
    }
    return false;
}

static bool read_number(struct json *json, const struct form_row *row, void *at, struct err *err)
{
    int64_t value;
    char why[FORM_WHY_MAX];
    if (!json_i64(json, &value, err)) {
        return false;
    }
    if (!form_number_fits(row, value, why)) {
        return json_refuse(json, err, "%s", why);
    }
    form_store_number(row, value, at);
    return true;
}

static bool read_amount(struct json *json, const struct form_row *row, double *out, struct err *err)
{
    double value;
    char why[FORM_WHY_MAX];
    if (!json_f64(json, &value, err)) {
        return false;
    }
    if (!form_amount_fits(row, value, why)) {
        return json_refuse(json, err, "%s", why);
    }
    *out = value;
    return true;
}

/* 0 means unset inside, so what clients say must be later; what may be as old as it likes counts as
 * the first moment that is not 0. */
static bool read_time(struct json *json, const struct form_row *row, int64_t *out, struct err *err)
{
    struct str text;
    int64_t ms;
    if (!read_plain(json, &text, err)) {
        return false;
    }
    if (!time_parse(text, &ms, NULL)) {
        return json_refuse(json, err, FORM_TIME_RULE);
    }
    if (ms <= 0 && !(row->use & (FORM_KEPT | FORM_LOOSE))) {
        return json_refuse(json, err, "must be after 1970-01-01T00:00:00Z");
    }
    *out = row->use & FORM_LOOSE ? MAX(ms, 1) : ms;
    return true;
}

static bool read_id(struct json *json, const struct form_row *row, struct task_id *out,
                    struct err *err)
{
    struct str text;
    bool may_be_none = row->use & FORM_KEPT; /* nobody is called that: it would mean "unset" */
    return json_str(json, &text, err) &&
           ((id_parse(text, out) && (may_be_none || !id_none(*out))) ||
            json_refuse(json, err, "%s", row->rule == NULL ? FORM_ID_RULE : row->rule));
}

static bool read_texts(struct json *json, const struct form_row *row, struct form_texts *out,
                       struct err *err)
{
    struct form_texts texts = {NULL, 0};
    size_t room = 0;
    char why[FORM_WHY_MAX];
    if (json_peek(json) != JSON_ARRAY && json_peek(json) != JSON_NONE) {
        return json_refuse(json, err, "must be an array of texts");
    }
    if (!json_enter_array(json, err)) { /* what is no JSON at all is said by the scanner */
        return false;
    }
    while (json_item(json, err)) {
        if (texts.count == (size_t)row->max) {
            json->failed = true; /* json_refuse() would speak of each of them */
            return err_field(err, row->name.ptr, "%s must not be more than %lld", row->name.ptr,
                             (long long)row->max);
        }
        texts.at = arena_grow(json->arena, texts.at, texts.count, &room, sizeof *texts.at);
        if (!read_plain(json, &texts.at[texts.count++], err)) {
            return false;
        }
    }
    if (json_ok(json) && !form_texts_fit(row, texts.at, texts.count, why)) {
        return json_refuse(json, err, "%s", why);
    }
    *out = texts;
    return json_ok(json);
}

static bool read_list(struct json *json, const struct form_row *row, void *into, struct err *err)
{
    struct form_texts texts;
    if (!read_texts(json, row, &texts, err)) {
        return false;
    }
    memcpy(place(row, into), texts.at == NULL ? place(row, into) : texts.at,
           texts.count * sizeof(struct str));
    *count_of(row, into) = texts.count;
    return true;
}

static bool read_value(struct json *json, const struct form_row *row, void *into, struct err *err)
{
    void *at = place(row, into);
    switch (row->kind) { /* flat: one case for each kind */
    case FORM_NONE:
        return json_skip(json, err);
    case FORM_TEXT:
        return read_text(json, row, at, err);
    case FORM_OBJECT:
    case FORM_ARRAY:
    case FORM_VALUE:
        return read_raw(json, row, at, err);
    case FORM_BOOL:
        return json_bool(json, at, err);
    case FORM_YES:
        return read_yes(json, row, at, err);
    case FORM_I32:
    case FORM_I64:
    case FORM_SIZE:
        return read_number(json, row, at, err);
    case FORM_F64:
        return read_amount(json, row, at, err);
    case FORM_TIME:
        return read_time(json, row, at, err);
    case FORM_ID:
        return read_id(json, row, at, err);
    case FORM_WORD:
        return read_word(json, row, at, err);
    case FORM_TEXTS:
        return read_texts(json, row, at, err);
    case FORM_LIST:
        return read_list(json, row, into, err);
    case FORM_WORDS:
        return read_words(json, row, at, err);
    case FORM_HOOK:
        return row->hook->read(json, row, into, err);
    }
    return false;
}

/* ---- Unset ---- */

static void unset(const struct form_row *row, void *into)
{
    void *at = place(row, into);
    switch (row->kind) {
    case FORM_TEXT:
    case FORM_OBJECT:
    case FORM_ARRAY:
    case FORM_VALUE:
        *(struct str *)at = row->standard_text == NULL ? STR_NONE : str_of(row->standard_text);
        return;
    case FORM_BOOL:
    case FORM_YES:
        *(bool *)at = row->standard != 0;
        return;
    case FORM_I32:
    case FORM_I64:
    case FORM_SIZE:
    case FORM_TIME:
        form_store_number(row, row->standard, at);
        return;
    case FORM_F64:
        *(double *)at = row->use & FORM_DEFAULT ? (double)row->standard : -1;
        return;
    case FORM_ID:
        *(struct task_id *)at = TASK_ID_NONE;
        return;
    case FORM_WORD:
        *(int *)at = (int)row->standard;
        return;
    case FORM_WORDS:
        *(unsigned *)at = (unsigned)row->standard;
        return;
    case FORM_TEXTS:
        *(struct form_texts *)at = (struct form_texts){NULL, 0};
        return;
    case FORM_LIST:
        *count_of(row, into) = 0;
        return;
    case FORM_NONE:
    case FORM_HOOK: /* stays as it is */
        return;
    }
}

void form_init(const struct form *form, void *into)
{
    for (size_t i = 0; i < form->count; i++) {
        if (form->rows[i].use & FORM_DEFAULT || form->rows[i].kind == FORM_F64) {
            unset(&form->rows[i], into);
        }
    }
}

static size_t size_of(const struct form_row *row)
{
    switch (row->kind) {
    case FORM_TEXT:
    case FORM_OBJECT:
    case FORM_ARRAY:
    case FORM_VALUE:
        return sizeof(struct str);
    case FORM_BOOL:
    case FORM_YES:
        return sizeof(bool);
    case FORM_I32:
        return sizeof(int32_t);
    case FORM_I64:
    case FORM_TIME:
        return sizeof(int64_t);
    case FORM_SIZE:
        return sizeof(size_t);
    case FORM_F64:
        return sizeof(double);
    case FORM_ID:
        return sizeof(struct task_id);
    case FORM_WORD:
    case FORM_WORDS:
        return sizeof(int);
    case FORM_TEXTS:
        return sizeof(struct form_texts);
    case FORM_LIST:
        return sizeof(struct str) * (size_t)row->max;
    case FORM_NONE:
    case FORM_HOOK:
        return 0;
    }
    return 0;
}

void form_apply(const struct form *form, uint64_t given, const void *from, void *into)
{
    for (size_t i = 0; i < form->count; i++) {
        const struct form_row *row = &form->rows[i];
        if (given >> i & 1) {
            memcpy(place(row, into), (const char *)from + row->at, size_of(row));
            if (row->kind == FORM_LIST) {
                memcpy(count_of(row, into), (const char *)from + row->count_at, sizeof(size_t));
            }
        }
    }
}

/* ---- Rows ---- */

/* One object on its way in: its members are the rows whose names begin with `outer` ("" or
 * "backoff."). The search for a member begins behind the last one, since members mostly come in the
 * order of the rows. */
struct reading {
    struct json *json;
    const struct form *form;
    unsigned use;
    void *into;
    uint64_t *given;
    struct str outer;
    size_t from;
};

/* The row called `name`, or the first of the inner object that is called so. */
static const struct form_row *find_row(struct reading *reading, struct str name)
{
    const struct form *form = reading->form;
    size_t depth = reading->outer.len, whole = depth + name.len;
    for (size_t i = 0, at = reading->from; i < form->count; i++, at++) {
        at = at >= form->count ? 0 : at;
        struct str other = form->rows[at].name;
        bool long_enough = other.len == whole || (other.len > whole && other.ptr[whole] == '.');
        if (long_enough && memcmp(other.ptr + depth, name.ptr, name.len) == 0 &&
            memcmp(other.ptr, reading->outer.ptr, depth) == 0) {
            reading->from = at + 1;
            return &form->rows[at];
        }
    }
    return NULL;
}

static bool read_members(struct reading *reading, struct str key, const struct form_more *more,
                         struct err *err);

/* The object that is the value of `key`; `first` is the first row of its members. */
static bool read_group(struct reading *reading, const struct form_row *first, struct str key,
                       struct err *err)
{
    struct json *json = reading->json;
    struct reading inner = *reading;
    inner.from = (size_t)(first - reading->form->rows);
    inner.outer = (struct str){first->name.ptr, reading->outer.len + key.len + 1};
    if (first->use & FORM_NULL && json_take_null(json)) {
        for (size_t i = inner.from; i < reading->form->count; i++) {
            if (str_starts(reading->form->rows[i].name, inner.outer)) {
                unset(&reading->form->rows[i], reading->into);
                *reading->given |= UINT64_C(1) << i;
            }
        }
        return true;
    }
    if (json_peek(json) != JSON_OBJECT) {
        return json_refuse(json, err, "must be an object");
    }
    *reading->given |= UINT64_C(1) << inner.from; /* an empty object is one that was given */
    return json_enter_object(json, err) &&
           (read_members(&inner, STR_NONE, NULL, err) || form_inside(err, STR_FMT, STR_ARG(key)));
}

/* Takes the value of `key`, of which `row` is the row or the first of its inner object, or NULL.
 * `other` has names that would have been taken too; NULL: there are none. */
static bool read_row(struct reading *reading, const struct form_row *row, struct str key,
                     const struct reading *other, struct err *err)
{
    struct json *json = reading->json;
    bool dotted = memchr(key.ptr, '.', key.len) != NULL; /* it would name the row from outside */
    if (row == NULL || dotted || !(row->use & reading->use)) {
        struct nearest nearest = nearest_begin(key);
        form_offer(reading->form, reading->use, reading->outer, &nearest);
        if (other != NULL) {
            form_offer(other->form, other->use, other->outer, &nearest);
        }
        return form_refuse_unknown(json, &nearest, err);
    }
    if (!(row->use & reading->use & ~(unsigned)FORM_SHOWN)) {
        return json_refuse(json, err, "is read only");
    }
    if (row->name.len > reading->outer.len + key.len) {
        return read_group(reading, row, key, err);
    }
    *reading->given |= UINT64_C(1) << (row - reading->form->rows);
    if (form_can_unset(row, reading->use) && json_take_null(json)) {
        unset(row, reading->into);
        return true;
    }
    return read_value(json, row, reading->into, err);
}

/* What a request must have and does not: the first of those rows is named. */
static bool check_needed(const struct form *form, unsigned use, uint64_t given, struct err *err)
{
    for (size_t i = 0; i < form->count; i++) {
        const struct form_row *row = &form->rows[i];
        if (row->use & FORM_NEEDED && row->use & use && !(given >> i & 1)) {
            return err_field(err, row->name.ptr, "%s is required", row->name.ptr);
        }
    }
    return true;
}

/* Reads the members that are left; `key`, if it is not absent, is the first and was read already.
 */
static bool read_members(struct reading *reading, struct str key, const struct form_more *more,
                         struct err *err)
{
    uint64_t more_given = 0;
    struct reading further = *reading;
    if (more != NULL) {
        further.form = more->form;
        further.into = more->into;
        further.given = &more_given;
    }
    while (!str_absent(key) || json_member(reading->json, &key, err)) {
        const struct form_row *row = find_row(reading, key);
        bool others = more != NULL && (row == NULL || !(row->use & reading->use));
        if (!(others ? read_row(&further, find_row(&further, key), key, reading, err)
                     : read_row(reading, row, key, NULL, err))) {
            return false;
        }
        key = STR_NONE;
    }
    bool partial = reading->outer.len > 0 || reading->use == FORM_CHANGE;
    return json_ok(reading->json) &&
           (partial || (check_needed(reading->form, reading->use, *reading->given, err) &&
                        (more == NULL || check_needed(more->form, reading->use, more_given, err))));
}

bool form_read_rest(unsigned use, struct json *json, struct str key, const struct form *form,
                    void *into, uint64_t *given, const struct form_more *more, struct err *err)
{
    uint64_t ignored = 0;
    struct reading reading = {
        .json = json,
        .form = form,
        .use = use,
        .into = into,
        .given = given == NULL ? &ignored : given,
        .outer = STR(""),
    };
    return read_members(&reading, key, more, err);
}

bool form_read_for(unsigned use, struct json *json, const struct form *form, void *into,
                   uint64_t *given, const struct form_more *more, struct err *err)
{
    return json_enter_object(json, err) &&
           form_read_rest(use, json, STR_NONE, form, into, given, more, err);
}

bool form_read(struct json *json, const struct form *form, void *into, uint64_t *given,
               const struct form_more *more, struct err *err)
{
    return form_read_for(FORM_SET | FORM_SHOWN, json, form, into, given, more, err);
}

const struct form_row *form_find(const struct form *form, struct str name)
{
    struct reading reading = {.form = form, .outer = STR("")};
    const struct form_row *row = find_row(&reading, name);
    return row == NULL || row->name.len > name.len ? NULL : row;
}

uint64_t form_bit(const struct form *form, const char *name)
{
    const struct form_row *row = form_find(form, str_of(name));
    return row == NULL ? 0 : UINT64_C(1) << (row - form->rows);
}

bool form_given(const struct form *form, uint64_t given, const char *name)
{
    return (given & form_bit(form, name)) != 0;
}

bool form_load(struct str body, const struct form *form, struct arena *arena, void *into,
               struct err *err)
{
    struct json json;
    struct str key;
    struct reading reading = {.json = &json, .form = form, .outer = STR("")};
    json_start(&json, body, arena);
    if (!json_enter_object(&json, err)) {
        return false;
    }
    while (json_member(&json, &key, err)) {
        const struct form_row *row = find_row(&reading, key);
        if (row == NULL || row->name.len > key.len) {
            continue;
        }
        if (form_can_unset(row, FORM_SET) && json_take_null(&json)) {
            unset(row, into);
        } else if (!read_value(&json, row, into, err)) {
            return false;
        }
    }
    return json_end(&json, err);
}

bool form_item(const struct json *json, size_t index, struct err *err)
{
    char name[32];
    if (json_peek(json) == JSON_OBJECT || json_peek(json) == JSON_NONE) {
        return true; /* what is no JSON at all is said by the scanner */
    }
    snprintf(name, sizeof name, "[%zu]", index);
    return err_field(err, name, "%s must be an object", name);
}

bool form_inside(struct err *err, const char *outer_format, ...)
{
    char outer[sizeof err->field], field[2 * sizeof err->field], text[2 * sizeof err->text];
    va_list args;
    if (err == NULL || err->field[0] == '\0') {
        return false;
    }
    va_start(args, outer_format);
    vsnprintf(outer, sizeof outer, outer_format, args);
    va_end(args);
    size_t old = strlen(err->field);
    bool named = strncmp(err->text, err->field, old) == 0;
    const char *dot = err->field[0] == '[' ? "" : ".";
    snprintf(field, sizeof field, "%s%s%s", outer, dot, err->field);
    snprintf(text, sizeof text, "%s%s", named ? field : "", err->text + (named ? old : 0));
    snprintf(err->field, sizeof err->field, "%s", field);
    snprintf(err->text, sizeof err->text, "%s", text);
    return false;
}
