/* wire/form_schema.c: what a form takes and shows, as JSON schemas for openapi.json. See form.h.
 *
 * Thread: any. Keeps nothing.
 *
 * SPDX-License-Identifier: MIT */
#include "wire/form_limits.h"

#define FORM_ASK (1u << 31) /* a parameter of a query: a text that is never empty */

/* ---- One value: the members of its schema, in an object that is open ---- */

static bool takes_null(const struct form_row *row, unsigned use)
{
    return !(use & FORM_ASK) && use != FORM_SHOWN && form_can_unset(row, use);
}

static void put_type(struct json_writer *w, const struct form_row *row, unsigned use,
                     const char *type)
{
    if (!takes_null(row, use)) {
        json_put_c(w, "type", type);
        return;
    }
    json_put_array(w, "type");
    json_add_str(w, str_of(type));
    json_add_str(w, STR("null"));
    json_close_array(w);
}

static void put_limits(struct json_writer *w, const struct form_row *row, unsigned use)
{
    if (use == FORM_SHOWN && row->use & FORM_LOOSE) {
        return;
    }
    json_put_i64(w, "minimum", row->min);
    if (row->max != INT64_MAX && (use != FORM_SHOWN || row->max > 0)) {
        json_put_i64(w, "maximum", row->max);
    }
}

static void put_enum(struct json_writer *w, const struct form_row *row, bool or_null)
{
    json_put_array(w, "enum");
    for (size_t i = 0; row->words[i] != NULL; i++) {
        if (row->words[i][0] != '\0') {
            json_add_str(w, str_of(row->words[i]));
        }
    }
    if (or_null) {
        json_add_raw(w, STR("null"));
    }
    json_close_array(w);
}

static void put_word(struct json_writer *w, const struct form_row *row, unsigned use)
{
    if (use == FORM_SHOWN || !(row->use & FORM_NUMBER)) {
        put_type(w, row, use, "string");
        put_enum(w, row, takes_null(row, use));
        return;
    }
    json_put_array(w, "oneOf");
    json_open_object(w);
    put_type(w, row, use, "string");
    put_enum(w, row, takes_null(row, use));
    json_close_object(w);
    json_open_object(w);
    json_put_c(w, "type", "integer");
    json_put_array(w, "enum");
    for (int64_t i = 0; row->words[i] != NULL; i++) {
        if (row->words[i][0] != '\0') {
            json_add_i64(w, i);
        }
    }
    json_close_array(w);
    json_close_object(w);
    json_close_array(w);
}

static void put_text(struct json_writer *w, const struct form_row *row, unsigned use)
{
    put_type(w, row, use, "string");
    if (use == FORM_SHOWN) {
        return;
    }
    if (row->min > 0 || (use & FORM_ASK && !(row->use & FORM_EMPTY))) {
        json_put_i64(w, "minLength", MAX(row->min, 1));
    }
    if (row->max > 0 && row->max != INT64_MAX) {
        json_put_i64(w, "maxLength", row->max);
    }
    if (row->pattern != NULL) {
        json_put_c(w, "pattern", row->pattern);
    }
}

static void put_texts(struct json_writer *w, const struct form_row *row, unsigned use)
{
    put_type(w, row, use, "array");
    json_put_object(w, "items");
    json_put_c(w, "type", "string");
    if (use != FORM_SHOWN && row->item_max > 0) {
        json_put_i64(w, "minLength", row->item_min);
        json_put_i64(w, "maxLength", row->item_max);
    }
    json_close_object(w);
    if (use != FORM_SHOWN) {
        json_put_i64(w, "maxItems", row->max);
    }
}

static void put_yes(struct json_writer *w, const struct form_row *row, unsigned use)
{
    if (row->words == NULL && use == FORM_SHOWN) {
        json_put_bool(w, "const", true);
    } else if (row->words == NULL) {
        json_put_c(w, "type", "boolean");
    } else if (use == FORM_SHOWN) {
        json_put_c(w, "const", row->words[1]);
    } else {
        json_put_c(w, "type", "string");
        put_enum(w, row, false);
        json_put_c(w, "default", row->words[0]);
    }
}

static void put_words(struct json_writer *w, const struct form_row *row, unsigned use)
{
    if (use & FORM_ASK) { /* separated by commas */
        json_put_c(w, "type", "string");
        json_put_i64(w, "minLength", 1);
        return;
    }
    put_type(w, row, use, "array");
    json_put_object(w, "items");
    json_put_c(w, "type", "string");
    put_enum(w, row, false);
    json_close_object(w);
}

static void put_kind(struct json_writer *w, const struct form_row *row, unsigned use)
{
    switch (row->kind) { /* flat: one case for each kind */
    case FORM_VALUE:
        return;
    case FORM_NONE:
    case FORM_HOOK:
    case FORM_TEXT:
        put_text(w, row, use);
        return;
    case FORM_OBJECT:
        put_type(w, row, use, "object");
        return;
    case FORM_ARRAY:
        put_type(w, row, use, "array");
        return;
    case FORM_BOOL:
        put_type(w, row, use, "boolean");
        return;
    case FORM_YES:
        put_yes(w, row, use);
        return;
    case FORM_I32:
    case FORM_I64:
    case FORM_SIZE:
        put_type(w, row, use, "integer");
        put_limits(w, row, use);
        return;
    case FORM_F64:
        put_type(w, row, use, "number");
        put_limits(w, row, use);
        return;
    case FORM_TIME:
        put_type(w, row, use, "string");
        json_put_c(w, "format", "date-time");
        return;
    case FORM_ID:
        put_type(w, row, use, "string");
        json_put_c(w, "format", "uuid");
        return;
    case FORM_WORD:
        put_word(w, row, use);
        return;
    case FORM_TEXTS:
    case FORM_LIST:
        put_texts(w, row, use);
        return;
    case FORM_WORDS:
        put_words(w, row, use);
        return;
    }
}

static void put_standard(struct json_writer *w, const struct form_row *row)
{
    bool fits = row->standard >= row->min && row->standard <= row->max;
    if (row->standard_text != NULL) {
        json_put_c(w, "default", row->standard_text);
    } else if (row->kind == FORM_WORD) {
        json_put_c(w, "default", row->words[row->standard]);
    } else if (row->kind == FORM_WORDS) {
        json_put_array(w, "default");
        for (size_t i = 0; row->words[i] != NULL; i++) {
            if (row->standard >> i & 1) {
                json_add_str(w, str_of(row->words[i]));
            }
        }
        json_close_array(w);
    } else if (row->kind == FORM_BOOL) {
        json_put_bool(w, "default", row->standard != 0);
    } else if (fits) { /* else it means that there is none */
        json_put_i64(w, "default", row->standard);
    }
}

static void put_schema(struct json_writer *w, const struct form_row *row, unsigned use)
{
    bool plain = use & FORM_ASK && row->hook != NULL && row->hook->read != NULL; /* as a text */
    json_open_object(w);
    if (row->schema != NULL && !plain) { /* the members of an object that is written by hand */
        struct str text = str_of(row->schema);
        json_add_raw(w, (struct str){text.ptr + 1, text.len - 2});
        w->comma = text.len > 2;
    } else {
        put_kind(w, row, use);
        if (!(use & (FORM_SHOWN | FORM_CHANGE)) && row->use & FORM_DEFAULT) {
            put_standard(w, row);
        }
    }
    if (row->about != NULL && !(use & FORM_ASK)) {
        json_put_c(w, "description", row->about);
    }
    json_close_object(w);
}

/* ---- Objects ---- */

static bool is_required(const struct form_row *row, unsigned use)
{
    if (use == FORM_CHANGE) {
        return false;
    }
    if (use != FORM_SHOWN) {
        return row->use & FORM_NEEDED;
    }
    return row->use & (FORM_ALWAYS | FORM_NEEDED) || row->kind == FORM_BOOL ||
           row->kind == FORM_I32 || row->kind == FORM_I64 || row->kind == FORM_SIZE ||
           row->kind == FORM_WORDS || (row->kind == FORM_WORD && row->words[0][0] != '\0');
}

static bool is_shown(const struct form_row *row, unsigned use)
{
    return row->use & use && row->name.len > 0;
}

/* How much of a row's name, from `depth` on, is the name of a member: the rest is an object's. */
static size_t segment(const struct form_row *row, size_t depth)
{
    const char *dot = memchr(row->name.ptr + depth, '.', row->name.len - depth);
    return dot == NULL ? row->name.len - depth : (size_t)(dot - row->name.ptr) - depth;
}

static void put_object(struct json_writer *w, const struct form *form, const struct form *more,
                       unsigned use, struct str outer, bool open, bool null);

/* The rows whose names begin with `outer`; those of an inner object follow each other. */
static void put_properties(struct json_writer *w, const struct form *form, unsigned use,
                           struct str outer)
{
    struct str last = STR("");
    for (size_t i = 0; i < form->count; i++) {
        const struct form_row *row = &form->rows[i];
        if (!is_shown(row, use) || !str_starts(row->name, outer)) {
            continue;
        }
        size_t len = segment(row, outer.len);
        struct str name = {row->name.ptr + outer.len, len};
        if (outer.len + len == row->name.len) {
            json_key_str(w, name);
            put_schema(w, row, use);
        } else if (!str_eq(name, last)) {
            json_key_str(w, name);
            put_object(w, form, NULL, use, (struct str){row->name.ptr, outer.len + len + 1}, false,
                       !(use & (FORM_SHOWN | FORM_CHANGE)) && row->use & FORM_NULL);
        }
        last = name;
    }
}

static void add_required(struct json_writer *w, const struct form *form, unsigned use,
                         struct str outer, bool *any)
{
    struct str last = STR("");
    for (size_t i = 0; i < form->count; i++) {
        const struct form_row *row = &form->rows[i];
        struct str name = {row->name.ptr + outer.len, 0};
        if (!is_shown(row, use) || !is_required(row, use) || !str_starts(row->name, outer)) {
            continue;
        }
        name.len = segment(row, outer.len);
        if (!str_eq(name, last)) {
            if (!*any) {
                json_put_array(w, "required");
                *any = true;
            }
            json_add_str(w, name);
        }
        last = name;
    }
}

static void put_object(struct json_writer *w, const struct form *form, const struct form *more,
                       unsigned use, struct str outer, bool open, bool null)
{
    bool any = false;
    json_open_object(w);
    if (null) {
        json_put_raw(w, "type", STR("[\"object\",\"null\"]"));
    } else {
        json_put_c(w, "type", "object");
    }
    json_put_object(w, "properties");
    put_properties(w, form, use, outer);
    if (more != NULL) {
        put_properties(w, more, use, outer);
    }
    json_close_object(w);
    add_required(w, form, use, outer, &any);
    if (more != NULL) {
        add_required(w, more, use, outer, &any);
    }
    if (any) {
        json_close_array(w);
    }
    if (!open) {
        json_put_bool(w, "additionalProperties", false);
    }
    json_close_object(w);
}

void form_schema(struct json_writer *w, const struct form *form, const struct form *more,
                 unsigned use, bool open)
{
    put_object(w, form, more, use, STR(""), open, false);
}

void form_parameters(struct json_writer *w, const struct form *form)
{
    for (size_t i = 0; i < form->count; i++) {
        const struct form_row *row = &form->rows[i];
        if (!is_shown(row, FORM_SET)) {
            continue;
        }
        json_open_object(w);
        json_put_str(w, "name", row->name);
        json_put_c(w, "in", "query");
        if (row->use & FORM_NEEDED) {
            json_put_bool(w, "required", true);
        }
        if (row->about != NULL) {
            json_put_c(w, "description", row->about);
        }
        json_key(w, "schema");
        put_schema(w, row, FORM_SET | FORM_ASK);
        json_close_object(w);
    }
}
