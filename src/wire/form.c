/* wire/form.c: a plain struct as a JSON object. See form.h.
 *
 * Thread: any. Keeps nothing.
 *
 * SPDX-License-Identifier: MIT */
#include "wire/form.h"

#include "wire/time.h"

#define WORDS_SHOWN 200 /* bytes of a list of words in a message */

static void *place(const struct form_row *row, void *into)
{
    return (char *)into + row->at;
}

static const void *place_of(const struct form_row *row, const void *from)
{
    return (const char *)from + row->at;
}

/* ---- Words ---- */

bool form_word(const char *const *words, struct str text, int *out)
{
    for (int i = 0; words[i] != NULL; i++) {
        if (words[i][0] != '\0' && str_is(text, words[i])) {
            *out = i;
            return true;
        }
    }
    return false;
}

static bool refuse_word(struct json *json, const struct form_row *row, struct err *err)
{
    SCOPED(buf_fini) struct buf known = BUF_INIT(WORDS_SHOWN);
    for (size_t i = 0; row->words[i] != NULL; i++) {
        if (row->words[i][0] != '\0') {
            buf_printf(&known, "%s%s", known.len == 0 ? "" : ", ", row->words[i]);
        }
    }
    return json_refuse(json, err, "must be one of %s", buf_c_text(&known));
}

static bool read_number_word(struct json *json, const struct form_row *row, int *out,
                             struct err *err)
{
    int64_t number = -1, count = 0;
    while (row->words[count] != NULL) {
        count++;
    }
    if (!json_i64(json, &number, err)) {
        return false;
    }
    if (number < 0 || number >= count || row->words[number][0] == '\0') {
        return refuse_word(json, row, err);
    }
    *out = (int)number;
    return true;
}

static bool read_word(struct json *json, const struct form_row *row, int *out, struct err *err)
{
    struct str text;
    if (row->use & FORM_NUMBER && json_peek(json) == JSON_NUMBER) {
        return read_number_word(json, row, out, err);
    }
    return json_str(json, &text, err) &&
           (form_word(row->words, text, out) || refuse_word(json, row, err));
}

static bool read_words(struct json *json, const struct form_row *row, unsigned *out,
                       struct err *err)
{
    unsigned bits = 0;
    if (json_peek(json) != JSON_ARRAY) {
        return json_refuse(json, err, "must be an array");
    }
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

/* ---- Texts and numbers ---- */

static bool read_text(struct json *json, const struct form_row *row, struct str *out,
                      struct err *err)
{
    struct str text;
    if (!json_str(json, &text, err)) {
        return false;
    }
    if (text.len > 0 && memchr(text.ptr, '\0', text.len) != NULL) {
        return json_refuse(json, err, "must not hold U+0000");
    }
    if (text.len < (size_t)row->min || text.len > (size_t)row->max) {
        return row->min == 0
                   ? json_refuse(json, err, "must be at most %lld bytes", (long long)row->max)
                   : json_refuse(json, err, "must be %lld to %lld bytes", (long long)row->min,
                                 (long long)row->max);
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
    if (json_peek(json) != wanted) {
        return json_refuse(json, err, "must be %s", json_type_name(wanted));
    }
    if (!json_raw(json, out, err)) {
        return false;
    }
    if (out->len > (size_t)row->max) {
        json_refuse(json, err, "has %zu bytes; the limit is %lld", out->len, (long long)row->max);
        if (err != NULL) {
            err->kind = ERR_TOO_LARGE;
        }
        return false;
    }
    return true;
}

static bool read_i64(struct json *json, const struct form_row *row, int64_t *out, struct err *err)
{
    int64_t value;
    if (!json_i64(json, &value, err)) {
        return false;
    }
    if (value < row->min || value > row->max) {
        return json_refuse(json, err, "must be from %lld to %lld", (long long)row->min,
                           (long long)row->max);
    }
    *out = value;
    return true;
}

static bool read_f64(struct json *json, const struct form_row *row, double *out, struct err *err)
{
    double value;
    if (!json_f64(json, &value, err)) {
        return false;
    }
    if (!(value >= 0 && value <= (double)row->max)) {
        return json_refuse(json, err, "must be from 0 to %lld", (long long)row->max);
    }
    *out = value;
    return true;
}

static bool read_time(struct json *json, int64_t *out, struct err *err)
{
    struct str text;
    return json_str(json, &text, err) &&
           (time_parse(text, out, NULL) ||
            json_refuse(json, err, "must be a time such as 2027-03-01T09:00:00Z (RFC 3339)"));
}

static bool read_id(struct json *json, struct task_id *out, struct err *err)
{
    struct str text;
    return json_str(json, &text, err) &&
           (id_parse(text, out) || json_refuse(json, err, "must be an id (a UUID)"));
}

static bool read_texts(struct json *json, const struct form_row *row, struct form_texts *out,
                       struct err *err)
{
    struct form_texts texts = {NULL, 0};
    size_t room = 0;
    if (json_peek(json) != JSON_ARRAY) {
        return json_refuse(json, err, "must be an array of texts");
    }
    if (!json_enter_array(json, err)) {
        return false;
    }
    while (json_item(json, err)) {
        if (texts.count == (size_t)row->max) {
            return json_refuse(json, err, "must be at most %lld", (long long)row->max);
        }
        if (texts.count == room) {
            struct str *more = arena_array(json->arena, struct str, room == 0 ? 8 : 2 * room);
            memcpy(more, texts.at == NULL ? more : texts.at, texts.count * sizeof *more);
            texts.at = more;
            room = room == 0 ? 8 : 2 * room;
        }
        if (!json_str(json, &texts.at[texts.count++], err)) {
            return false;
        }
    }
    *out = texts;
    return json_ok(json);
}

/* ---- A row ---- */

static bool read_value(struct json *json, const struct form_row *row, void *at, struct err *err)
{
    switch (row->kind) {
    case FORM_TEXT:
        return read_text(json, row, at, err);
    case FORM_OBJECT:
    case FORM_ARRAY:
    case FORM_VALUE:
        return read_raw(json, row, at, err);
    case FORM_BOOL:
        return json_bool(json, at, err);
    case FORM_I64:
        return read_i64(json, row, at, err);
    case FORM_F64:
        return read_f64(json, row, at, err);
    case FORM_TIME:
        return read_time(json, at, err);
    case FORM_ID:
        return read_id(json, at, err);
    case FORM_WORD:
        return read_word(json, row, at, err);
    case FORM_TEXTS:
        return read_texts(json, row, at, err);
    case FORM_WORDS:
        return read_words(json, row, at, err);
    }
    return false;
}

/* null unsets what can be unset. */
static bool take_unset(struct json *json, const struct form_row *row, void *at)
{
    bool text = row->kind == FORM_TEXT || row->kind == FORM_OBJECT || row->kind == FORM_ARRAY;
    if ((!text && row->kind != FORM_TEXTS) || row->min > 0 || !json_take_null(json)) {
        return false;
    }
    if (text) {
        *(struct str *)at = STR_NONE;
    } else {
        *(struct form_texts *)at = (struct form_texts){NULL, 0};
    }
    return true;
}

/* Members mostly come in the order of the rows: the search begins behind the last one. */
static const struct form_row *find_row(const struct form *form, struct str name, size_t *from)
{
    for (size_t i = 0; i < form->count; i++) {
        size_t at = (*from + i) % form->count;
        if (str_eq(form->rows[at].name, name)) {
            *from = at + 1;
            return &form->rows[at];
        }
    }
    return NULL;
}

static bool read_row(struct json *json, const struct form_row *row, void *into, struct err *err)
{
    if (row == NULL || !(row->use & (FORM_SET | FORM_SHOWN))) {
        return json_refuse(json, err, "is not a known field");
    }
    if (!(row->use & FORM_SET)) {
        return json_refuse(json, err, "is read only");
    }
    void *at = place(row, into);
    return take_unset(json, row, at) || read_value(json, row, at, err);
}

bool form_read(struct json *json, const struct form *form, void *into, uint64_t *given,
               const struct form_more *more, struct err *err)
{
    struct str key;
    size_t from = 0, more_from = 0;
    if (!json_enter_object(json, err)) {
        return false;
    }
    while (json_member(json, &key, err)) {
        const struct form_row *row = find_row(form, key, &from);
        if (row != NULL) {
            *given |= UINT64_C(1) << (row - form->rows);
        }
        bool ok = row == NULL && more != NULL
                      ? read_row(json, find_row(more->form, key, &more_from), more->into, err)
                      : read_row(json, row, into, err);
        if (!ok) {
            return false;
        }
    }
    return json_ok(json);
}

bool form_given(const struct form *form, uint64_t given, const char *name)
{
    size_t from = 0;
    const struct form_row *row = find_row(form, str_of(name), &from);
    return row != NULL && (given >> (row - form->rows) & 1) != 0;
}

bool form_load(struct str body, const struct form *form, struct arena *arena, void *into,
               struct err *err)
{
    struct json json;
    struct str key;
    size_t from = 0;
    json_start(&json, body, arena);
    if (!json_enter_object(&json, err)) {
        return false;
    }
    while (json_member(&json, &key, err)) {
        const struct form_row *row = find_row(form, key, &from);
        if (row != NULL && !read_value(&json, row, place(row, into), err)) {
            return false;
        }
    }
    return json_end(&json, err);
}

/* ---- Writing ---- */

static void put_id(struct json_writer *w, const char *key, const struct task_id *id)
{
    char text[TASK_ID_TEXT];
    if (!id_none(*id)) {
        json_put_str(w, key, id_text(*id, text));
    }
}

static void put_texts(struct json_writer *w, const char *key, const struct form_texts *texts)
{
    if (texts->count == 0) {
        return;
    }
    json_put_array(w, key);
    for (size_t i = 0; i < texts->count; i++) {
        json_add_str(w, texts->at[i]);
    }
    json_close_array(w);
}

static void put_words(struct json_writer *w, const struct form_row *row, unsigned bits)
{
    json_put_array(w, row->name.ptr);
    for (unsigned i = 0; row->words[i] != NULL; i++) {
        if (bits >> i & 1) {
            json_add_str(w, str_of(row->words[i]));
        }
    }
    json_close_array(w);
}

static void put_str(struct json_writer *w, const struct form_row *row, struct str text)
{
    if (str_absent(text)) {
        return;
    }
    if (row->kind == FORM_TEXT) {
        json_put_str(w, row->name.ptr, text);
    } else {
        json_put_raw(w, row->name.ptr, text);
    }
}

static void put_number(struct json_writer *w, const struct form_row *row, const void *at)
{
    const char *key = row->name.ptr;
    if (row->kind == FORM_I64) {
        json_put_i64(w, key, *(const int64_t *)at);
    } else if (row->kind == FORM_F64 && *(const double *)at >= 0) {
        json_put_f64(w, key, *(const double *)at);
    } else if (row->kind == FORM_TIME && *(const int64_t *)at != 0) {
        json_put_time(w, key, *(const int64_t *)at);
    }
}

static void put_value(struct json_writer *w, const struct form_row *row, const void *at)
{
    const char *key = row->name.ptr;
    switch (row->kind) {
    case FORM_TEXT:
    case FORM_OBJECT:
    case FORM_ARRAY:
    case FORM_VALUE:
        put_str(w, row, *(const struct str *)at);
        return;
    case FORM_BOOL:
        json_put_bool(w, key, *(const bool *)at);
        return;
    case FORM_I64:
    case FORM_F64:
    case FORM_TIME:
        put_number(w, row, at);
        return;
    case FORM_ID:
        put_id(w, key, at);
        return;
    case FORM_WORD:
        json_put_c(w, key, row->words[*(const int *)at]);
        return;
    case FORM_TEXTS:
        put_texts(w, key, at);
        return;
    case FORM_WORDS:
        put_words(w, row, *(const unsigned *)at);
        return;
    }
}

static void put_rows(struct json_writer *w, const struct form *form, const void *from, unsigned use)
{
    for (size_t i = 0; i < form->count; i++) {
        if (form->rows[i].use & use) {
            put_value(w, &form->rows[i], place_of(&form->rows[i], from));
        }
    }
}

void form_keep(struct json_writer *w, const struct form *form, const void *from)
{
    json_open_object(w);
    put_rows(w, form, from, FORM_KEPT);
    json_close_object(w);
}

void form_show(struct json_writer *w, const struct form *form, const void *from)
{
    put_rows(w, form, from, FORM_SHOWN);
}
