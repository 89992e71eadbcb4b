/* wire/form_limits.c: what a value of a form must be. See form_limits.h.
 *
 * Thread: any. Keeps nothing.
 *
 * SPDX-License-Identifier: MIT */
#include "wire/form_limits.h"

#include <stdarg.h>
#include <stdio.h>

/* ---- Limits: each says in `why` what a value must be ---- */

static bool say(char why[static FORM_WHY_MAX], const char *format, ...) PRINTF_LIKE(2, 3);
static bool say(char why[static FORM_WHY_MAX], const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(why, FORM_WHY_MAX, format, args);
    va_end(args);
    return false;
}

bool form_text_fits(const struct form_row *row, struct str text, char why[static FORM_WHY_MAX])
{
    bool short_enough = row->max == 0 || text.len <= (size_t)row->max;
    if (text.len >= (size_t)row->min && short_enough && (row->check == NULL || row->check(text))) {
        return true;
    }
    return row->rule != NULL ? say(why, "%s", row->rule)
           : !short_enough && row->min == 0
               ? say(why, "must be at most %lld bytes", (long long)row->max)
           : row->max == 0
               ? say(why, "must not be empty")
               : say(why, "must be %lld to %lld bytes", (long long)row->min, (long long)row->max);
}

bool form_number_fits(const struct form_row *row, int64_t value, char why[static FORM_WHY_MAX])
{
    return (value >= row->min && value <= row->max) ||
           say(why, "must be from %lld to %lld", (long long)row->min, (long long)row->max);
}

bool form_amount_fits(const struct form_row *row, double value, char why[static FORM_WHY_MAX])
{
    if (!(value >= (double)row->min && value <= (double)row->max)) {
        return say(why, "must be from %.15g to %.15g", (double)row->min, (double)row->max);
    }
    return true;
}

bool form_texts_fit(const struct form_row *row, const struct str *at, size_t count,
                    char why[static FORM_WHY_MAX])
{
    if (count > (size_t)row->max) {
        return say(why, "must not be more than %lld", (long long)row->max);
    }
    for (size_t i = 0; i < count; i++) {
        if (at[i].len < (size_t)row->item_min ||
            (row->item_max > 0 && at[i].len > (size_t)row->item_max) ||
            (row->check != NULL && !row->check(at[i]))) {
            return row->rule != NULL ? say(why, "%s", row->rule)
                                     : say(why, "must be texts of %lld to %lld bytes",
                                           (long long)row->item_min, (long long)row->item_max);
        }
    }
    return true;
}

bool form_say_words(const struct form_row *row, const char *opening, char why[static FORM_WHY_MAX])
{
    SCOPED(buf_fini) struct buf known = BUF_INIT(FORM_WHY_MAX - 20);
    if (row->rule != NULL) {
        return say(why, "%s", row->rule);
    }
    for (size_t i = 0; row->words[i] != NULL; i++) {
        if (row->words[i][0] != '\0') {
            buf_printf(&known, "%s%s", known.len == 0 ? "" : ", ", row->words[i]);
        }
    }
    return say(why, "%s %s", opening, buf_c_text(&known));
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

bool form_can_unset(const struct form_row *row, unsigned use)
{
    bool bare = row->kind == FORM_TEXT || row->kind == FORM_OBJECT || row->kind == FORM_ARRAY ||
                row->kind == FORM_TEXTS || row->kind == FORM_LIST;
    bool inner = memchr(row->name.ptr, '.', row->name.len) != NULL;
    bool restores = use & FORM_CHANGE && row->use & FORM_CHANGE && row->use & FORM_DEFAULT;
    return (row->use & FORM_NULL && !inner && !(use & FORM_CHANGE)) || (bare && row->min == 0) ||
           restores;
}

bool form_word_of_number(const struct form_row *row, struct str text, int *out)
{
    int64_t number, count = 0;
    while (row->words[count] != NULL) {
        count++;
    }
    if (!str_i64(text, &number) || number < 0 || number >= count || row->words[number][0] == '\0') {
        return false;
    }
    *out = (int)number;
    return true;
}

void form_store_number(const struct form_row *row, int64_t value, void *at)
{
    if (row->kind == FORM_I32) {
        *(int32_t *)at = (int32_t)value;
    } else if (row->kind == FORM_SIZE) {
        *(size_t *)at = (size_t)value;
    } else {
        *(int64_t *)at = value;
    }
}

/* ---- A whole struct ---- */

static bool texts_utf8(const struct str *at, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!str_is_utf8(at[i])) {
            return false;
        }
    }
    return true;
}

static bool text_is(const struct form_row *row, struct str text, char why[static FORM_WHY_MAX])
{
    return str_absent(text)    ? !(row->use & FORM_NEEDED) || say(why, "is required")
           : str_is_utf8(text) ? form_text_fits(row, text, why)
                               : say(why, "must be UTF-8");
}

static bool value_fits(const struct form_row *row, const void *from, char why[static FORM_WHY_MAX])
{
    const void *at = (const char *)from + row->at;
    const struct str *text = at;
    const struct form_texts *texts = at;
    const size_t *count = (const size_t *)((const char *)from + row->count_at);
    switch (row->kind) {
    case FORM_TEXT:
        return text_is(row, *text, why);
    case FORM_OBJECT:
    case FORM_ARRAY:
    case FORM_VALUE:
        return row->max == 0 || text->len <= (size_t)row->max ||
               say(why, "must be at most %lld bytes", (long long)row->max);
    case FORM_I32:
        return form_number_fits(row, *(const int32_t *)at, why);
    case FORM_I64:
        return form_number_fits(row, *(const int64_t *)at, why);
    case FORM_SIZE:
        return form_number_fits(row, (int64_t) * (const size_t *)at, why);
    case FORM_F64:
        return (*(const double *)at < 0 && !(row->use & FORM_DEFAULT)) ||
               form_amount_fits(row, *(const double *)at, why);
    case FORM_TIME:
        return *(const int64_t *)at >= 0 || say(why, "must be after 1970-01-01T00:00:00Z");
    case FORM_TEXTS:
        return form_texts_fit(row, texts->at, texts->count, why) &&
               (texts_utf8(texts->at, texts->count) || say(why, "must be UTF-8"));
    case FORM_LIST:
        return form_texts_fit(row, text, *count, why) &&
               (texts_utf8(text, *count) || say(why, "must be UTF-8"));
    default:
        return true;
    }
}

bool form_check(const struct form *form, const void *from, struct err *err)
{
    char why[FORM_WHY_MAX];
    for (size_t i = 0; i < form->count; i++) {
        const struct form_row *row = &form->rows[i];
        if (row->use & FORM_SET && !(row->use & FORM_LOOSE) && !value_fits(row, from, why)) {
            return err_field(err, row->name.ptr, "%s %s", row->name.ptr, why);
        }
    }
    return true;
}

void form_offer(const struct form *form, unsigned use, struct str outer, struct nearest *nearest)
{
    for (size_t i = 0; i < form->count; i++) {
        const struct form_row *row = &form->rows[i];
        struct str name = str_from(row->name, MIN(outer.len, row->name.len));
        bool here = outer.len == 0 || str_starts(row->name, outer);
        if (here && row->use & use & ~(unsigned)FORM_SHOWN) {
            nearest_offer(nearest, str_cut(&name, '.'));
        }
    }
}

bool form_refuse_unknown(struct json *json, const struct nearest *nearest, struct err *err)
{
    return str_absent(nearest->best)
               ? json_refuse(json, err, "is not a known field")
               : json_refuse(json, err, "is not a known field; did you mean " STR_FMT "?",
                             STR_ARG(nearest->best));
}
