/* wire/form_write.c: a plain struct as JSON, and its texts copied, by the table of its fields. See
 * form.h.
 *
 * Thread: any. Keeps nothing.
 *
 * SPDX-License-Identifier: MIT */
#include "wire/form.h"

/* ---- Whether there is something to write ---- */

static const struct str *texts_of(const struct form_row *row, const void *from, size_t *count)
{
    const void *at = (const char *)from + row->at;
    if (row->kind == FORM_LIST) {
        *count = *(const size_t *)((const char *)from + row->count_at);
        return at;
    }
    *count = ((const struct form_texts *)at)->count;
    return ((const struct form_texts *)at)->at;
}

static bool is_set(const struct form_row *row, const void *from)
{
    const void *at = (const char *)from + row->at;
    size_t count;
    switch (row->kind) {
    case FORM_NONE:
        return false;
    case FORM_TEXT:
    case FORM_OBJECT:
    case FORM_ARRAY:
    case FORM_VALUE:
        return !str_absent(*(const struct str *)at);
    case FORM_YES:
        return *(const bool *)at;
    case FORM_F64:
        return *(const double *)at >= 0;
    case FORM_TIME:
        return *(const int64_t *)at != 0;
    case FORM_ID:
        return !id_none(*(const struct task_id *)at);
    case FORM_TEXTS:
    case FORM_LIST:
        texts_of(row, from, &count);
        return count > 0;
    case FORM_WORD:
        return row->words[*(const int *)at][0] != '\0';
    case FORM_HOOK:
        return row->hook->show != NULL;
    case FORM_BOOL:
    case FORM_I32:
    case FORM_I64:
    case FORM_SIZE:
    case FORM_WORDS:
        return true;
    }
    return false;
}

/* ---- Values ---- */

static void put_texts(struct json_writer *w, const struct form_row *row, const char *key,
                      const void *from)
{
    size_t count;
    const struct str *at = texts_of(row, from, &count);
    json_put_array(w, key);
    for (size_t i = 0; i < count; i++) {
        json_add_str(w, at[i]);
    }
    json_close_array(w);
}

static void put_words(struct json_writer *w, const struct form_row *row, const char *key,
                      unsigned bits)
{
    json_put_array(w, key);
    for (unsigned i = 0; row->words[i] != NULL; i++) {
        if (bits >> i & 1) {
            json_add_str(w, str_of(row->words[i]));
        }
    }
    json_close_array(w);
}

static void put_id(struct json_writer *w, const char *key, struct task_id id)
{
    char text[TASK_ID_TEXT + 2];
    struct str plain = id_text(id, text + 1);
    text[0] = text[1 + plain.len] = '"'; /* nothing in it needs an escape */
    json_put_raw(w, key, (struct str){text, plain.len + 2});
}

static void put_value(struct json_writer *w, const struct form_row *row, const char *key,
                      const void *from)
{
    const void *at = (const char *)from + row->at;
    switch (row->kind) { /* flat: one case for each kind */
    case FORM_NONE:
        return;
    case FORM_TEXT:
        json_put_str(w, key, *(const struct str *)at);
        return;
    case FORM_OBJECT:
    case FORM_ARRAY:
    case FORM_VALUE:
        json_put_raw(w, key, *(const struct str *)at);
        return;
    case FORM_BOOL:
        json_put_bool(w, key, *(const bool *)at);
        return;
    case FORM_YES:
        if (row->words == NULL) {
            json_put_bool(w, key, true);
        } else {
            json_put_c(w, key, row->words[1]);
        }
        return;
    case FORM_I32:
        json_put_i64(w, key, *(const int32_t *)at);
        return;
    case FORM_I64:
        json_put_i64(w, key, *(const int64_t *)at);
        return;
    case FORM_SIZE:
        json_put_i64(w, key, (int64_t) * (const size_t *)at);
        return;
    case FORM_F64:
        json_put_f64(w, key, *(const double *)at);
        return;
    case FORM_TIME:
        json_put_time(w, key, *(const int64_t *)at);
        return;
    case FORM_ID:
        put_id(w, key, *(const struct task_id *)at);
        return;
    case FORM_WORD:
        json_put_c(w, key, row->words[*(const int *)at]);
        return;
    case FORM_TEXTS:
    case FORM_LIST:
        put_texts(w, row, key, from);
        return;
    case FORM_WORDS:
        put_words(w, row, key, *(const unsigned *)at);
        return;
    case FORM_HOOK:
        row->hook->show(w, row, from);
        return;
    }
}

/* ---- Objects ---- */

/* The inner object that a row belongs to: "backoff." of backoff.baseMs; else empty. */
static struct str group_of(const struct form_row *row)
{
    const char *dot = memchr(row->name.ptr, '.', row->name.len);
    return (struct str){row->name.ptr, dot == NULL ? 0 : (size_t)(dot - row->name.ptr) + 1};
}

/* Closes the inner object that is open and opens that of the row, as the case may be. An empty text
 * alone is no reason to open one. */
static bool enter_group(struct json_writer *w, const struct form_row *row, const void *from,
                        struct str *open)
{
    struct str group = group_of(row);
    if (open->len > 0 && !str_eq(group, *open)) {
        json_close_object(w);
        *open = STR("");
    }
    if (group.len > 0 && open->len == 0) {
        const struct str *text = (const void *)((const char *)from + row->at);
        if (row->kind == FORM_TEXT && text->len == 0) {
            return false;
        }
        json_key_str(w, (struct str){group.ptr, group.len - 1});
        json_open_object(w);
        *open = group;
    }
    return true;
}

static void put_rows(struct json_writer *w, const struct form *form, const void *from, unsigned use,
                     uint64_t hidden)
{
    struct str open = STR("");
    for (size_t i = 0; i < form->count; i++) {
        const struct form_row *row = &form->rows[i];
        if (row->use & use && !(hidden >> i & 1) && is_set(row, from) &&
            enter_group(w, row, from, &open)) {
            put_value(w, row, row->name.ptr + open.len, from);
        }
    }
    if (open.len > 0) {
        json_close_object(w);
    }
}

void form_keep(struct json_writer *w, const struct form *form, const void *from)
{
    json_open_object(w);
    put_rows(w, form, from, FORM_KEPT, 0);
    json_close_object(w);
}

void form_show(struct json_writer *w, const struct form *form, const void *from)
{
    put_rows(w, form, from, FORM_SHOWN, 0);
}

void form_show_but(struct json_writer *w, const struct form *form, const void *from,
                   uint64_t hidden)
{
    put_rows(w, form, from, FORM_SHOWN, hidden);
}

/* ---- Copying ---- */

void form_copy(const struct form *form, void *into, struct arena *arena)
{
    for (size_t i = 0; i < form->count; i++) {
        const struct form_row *row = &form->rows[i];
        void *at = (char *)into + row->at;
        if (row->kind == FORM_TEXT || row->kind == FORM_OBJECT || row->kind == FORM_ARRAY ||
            row->kind == FORM_VALUE) {
            *(struct str *)at = arena_str(arena, *(struct str *)at);
        } else if (row->kind == FORM_LIST || row->kind == FORM_TEXTS) {
            size_t count;
            const struct str *old = texts_of(row, into, &count);
            struct str *texts = row->kind == FORM_LIST ? at : arena_array(arena, struct str, count);
            for (size_t j = 0; j < count; j++) {
                texts[j] = arena_str(arena, old[j]);
            }
            if (row->kind == FORM_TEXTS) {
                ((struct form_texts *)at)->at = texts;
            }
        }
    }
}
