/* wire/form_query.c: the rows of a form out of the query of a request. See form.h.
 *
 * Thread: any. Keeps nothing.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "wire/form_limits.h"
#include "wire/time.h"
#include "wire/uri.h"

#define OFFSET_LEN 6 /* " 02:00" */

/* In a query '+' is a blank, and people forget to write %2B before the hours of an offset. */
static struct str mend_offset(struct str value, char room[static 64])
{
    bool blank =
        value.len >= OFFSET_LEN && value.len < 64 && value.ptr[value.len - OFFSET_LEN] == ' ';
    if (!blank) {
        return value;
    }
    memcpy(room, value.ptr, value.len);
    room[value.len - OFFSET_LEN] = '+';
    return (struct str){room, value.len};
}

static bool refuse(const struct form_row *row, const char *why, struct err *err)
{
    return err_field(err, row->name.ptr, "%s %s", row->name.ptr, why);
}

static bool take_number(const struct form_row *row, struct str value, void *at, struct err *err)
{
    int64_t number;
    if (!str_i64(value, &number) || number < row->min || number > row->max) {
        return err_field(err, row->name.ptr, "%s must be a whole number from %lld to %lld",
                         row->name.ptr, (long long)row->min, (long long)row->max);
    }
    form_store_number(row, number, at);
    return true;
}

/* A question may reach back before 1970; 0 means any time inside, and nothing here is that old. */
static bool take_time(const struct form_row *row, struct str value, int64_t *out, struct err *err)
{
    char room[64];
    int64_t ms;
    if (!time_parse(mend_offset(value, room), &ms, NULL)) {
        return refuse(row, FORM_TIME_RULE, err);
    }
    *out = MAX(ms, 1);
    return true;
}

static bool take_bool(const struct form_row *row, struct str value, bool *out, struct err *err)
{
    *out = str_is(value, "true") || str_is(value, "1");
    return *out || str_is(value, "false") || str_is(value, "0") ||
           refuse(row, row->rule == NULL ? "must be true or false" : row->rule, err);
}

static bool take_words(const struct form_row *row, struct str value, unsigned *out, struct err *err)
{
    unsigned bits = 0;
    char why[FORM_WHY_MAX];
    while (!str_absent(value)) {
        int word;
        if (!form_word(row->words, str_cut(&value, ','), &word)) {
            form_say_words(row, "must be of", why);
            return refuse(row, why, err);
        }
        bits |= 1u << word;
    }
    *out = bits;
    return true;
}

/* The nil id would mean "any" inside; it names nothing either way. */
static bool take_id(const struct form_row *row, struct str value, struct task_id *out,
                    struct err *err)
{
    return (id_parse(value, out) && !id_none(*out)) ||
           refuse(row, row->rule == NULL ? FORM_ID_RULE : row->rule, err);
}

bool form_text(const struct form_row *row, struct str value, void *into, struct err *err)
{
    void *at = (char *)into + row->at;
    char why[FORM_WHY_MAX];
    switch (row->kind) {
    case FORM_NONE:
        return true;
    case FORM_TEXT:
        *(struct str *)at = value;
        return form_text_fits(row, value, why) || refuse(row, why, err);
    case FORM_BOOL:
        return take_bool(row, value, at, err);
    case FORM_I32:
    case FORM_I64:
    case FORM_SIZE:
        return take_number(row, value, at, err);
    case FORM_TIME:
        return take_time(row, value, at, err);
    case FORM_ID:
        return take_id(row, value, at, err);
    case FORM_WORD:
        return form_word(row->words, value, at) ||
               (row->use & FORM_NUMBER && form_word_of_number(row, value, at)) ||
               form_say_words(row, "must be one of", why) || refuse(row, why, err);
    case FORM_WORDS:
        return take_words(row, value, at, err);
    case FORM_HOOK:
        return row->hook->text(row, value, into, err);
    default:
        return refuse(row, "cannot be given in a query", err);
    }
}

static bool refuse_name(struct str name, const char *why, struct err *err)
{
    char field[sizeof err->field];
    name.len = MIN(name.len, sizeof field - 1);
    if (name.len > 0) {
        memcpy(field, name.ptr, name.len);
    }
    field[name.len] = '\0';
    return err_field(err, field, "%s %s", field, why);
}

static bool refuse_unknown(struct str name, const struct form *form, struct err *err)
{
    char why[sizeof err->text] = "is not a known parameter";
    struct nearest nearest = nearest_begin(name);
    form_offer(form, FORM_SET, STR(""), &nearest);
    if (!str_absent(nearest.best)) {
        snprintf(why, sizeof why, "is not a known parameter; did you mean " STR_FMT "?",
                 STR_ARG(nearest.best));
    }
    return refuse_name(name, why, err);
}

bool form_query(struct str query, const struct form *form, struct arena *arena, void *into,
                struct err *err)
{
    struct str name, value;
    uint64_t seen = 0;
    while (uri_pair(&query, arena, &name, &value, err)) {
        const struct form_row *row = form_find(form, name);
        if (row == NULL || !(row->use & FORM_SET)) {
            return refuse_unknown(name, form, err);
        }
        uint64_t bit = UINT64_C(1) << (row - form->rows);
        if (seen & bit) {
            return refuse_name(name, "is given twice", err);
        }
        seen |= bit;
        if (value.len == 0 && !(row->use & FORM_EMPTY)) {
            return refuse_name(name, "must not be empty", err);
        }
        if (value.len > 0 && !form_text(row, value, into, err)) {
            return false;
        }
    }
    return str_absent(query); /* else an escape was bad, and err says so */
}
