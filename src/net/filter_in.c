/* net/filter_in.c: which tasks. See filter_in.h.
 *
 * SPDX-License-Identifier: MIT */
#include "net/filter_in.h"

#include <stdio.h>

/* ---- Pages ---- */

struct str cursor_text(struct task_id last, char out[static CURSOR_TEXT])
{
    int len = snprintf(out, CURSOR_TEXT, "%016llx%016llx", (unsigned long long)last.hi,
                       (unsigned long long)last.lo);
    return (struct str){out, (size_t)len};
}

/* Sixteen digits. */
static bool half_parse(struct str value, uint64_t *out)
{
    *out = 0;
    for (size_t i = 0; i < value.len; i++) {
        const char *digits = "0123456789abcdef", *found = strchr(digits, value.ptr[i]);
        if (found == NULL || *found == '\0') {
            return false;
        }
        *out = *out << 4 | (uint64_t)(found - digits);
    }
    return true;
}

static bool take_cursor(const struct form_row *row, struct str value, void *into, struct err *err)
{
    struct task_id *out = (struct task_id *)(void *)((char *)into + row->at);
    struct str hi = {value.ptr, (CURSOR_TEXT - 1) / 2}, lo = {value.ptr + hi.len, hi.len};
    bool ok = value.len == CURSOR_TEXT - 1 && half_parse(hi, &out->hi) && half_parse(lo, &out->lo);
    return (ok && out->hi != 0) || err_field(err, "cursor", "cursor must come from a Link header");
}

const struct form_hook cursor_hook = {.text = take_cursor};

/* Ids that begin alike lie beside each other, so a beginning is a stretch of the list. */
static bool take_beginning(const struct form_row *row, struct str value, void *into,
                           struct err *err)
{
    struct task_filter *filter = into;
    struct task_id first, last;
    (void)row;
    if (!id_beginning(value, &first, &last)) {
        return err_field(err, "id", "id must be a task's id or the beginning of one");
    }
    filter->beginning = value;
    filter->not_before = first.hi;
    return true;
}

static const struct form_hook beginning_hook = {.text = take_beginning};

void filter_narrow(struct task_filter *filter)
{
    struct task_id first, last;
    if (str_absent(filter->beginning) || !id_beginning(filter->beginning, &first, &last) ||
        last.hi == UINT64_MAX) {
        return;
    }
    struct task_id past = {last.hi + 1, 0};
    bool sooner = !id_none(filter->before) && filter->before.hi < past.hi;
    filter->before = sooner ? filter->before : past;
}

bool filter_begins(const struct task_filter *filter, struct task_id id)
{
    struct task_id first, last;
    if (str_absent(filter->beginning) || !id_beginning(filter->beginning, &first, &last)) {
        return true;
    }
    return (id.lo >= first.lo && id.lo <= last.lo) || first.hi != last.hi;
}

/* ---- The table ---- */

/* The states may have the names that older systems gave them, too. */
static bool take_states(const struct form_row *row, struct str value, void *into, struct err *err)
{
    struct task_filter *filter = into;
    (void)row;
    while (!str_absent(value)) {
        enum task_state state;
        if (!task_state_parse(str_cut(&value, ','), &state)) {
            return err_field(err, "state",
                             "state must be of SCHEDULED, WAITING, QUEUED, RUNNING, RETRYING, "
                             "COMPLETED, FAILED, CANCELLED, TIMEOUT");
        }
        filter->states |= 1u << state;
    }
    return true;
}

/* In a body the states may be an array as well. */
static bool read_states(struct json *json, const struct form_row *row, void *into, struct err *err)
{
    struct str text;
    bool ok, many = json_peek(json) == JSON_ARRAY;
    if (!many) {
        return json_str(json, &text, err) &&
               (text.len > 0 || json_refuse(json, err, "must not be empty")) &&
               take_states(row, text, into, err);
    }
    ok = json_enter_array(json, err);
    while (ok && json_item(json, err)) {
        ok = json_str(json, &text, err) && take_states(row, text, into, err);
    }
    return ok && json_ok(json) &&
           (((struct task_filter *)into)->states != 0 ||
            json_refuse(json, err, "must name states"));
}

static const struct form_hook states_hook = {.read = read_states, .text = take_states};
#define STATES_SCHEMA                                                                              \
    "{\"oneOf\":[{\"type\":\"string\",\"minLength\":1},{\"type\":\"array\",\"minItems\":1,"        \
    "\"items\":{\"type\":\"string\",\"minLength\":1}}]}"

#define ROW(label, member, kind, ...)                                                              \
    FORM_ROW(label, struct task_filter, member, kind, FORM_SET, __VA_ARGS__)

/* clang-format off */
static const struct form_row rows[] = {
    ROW("state", states, FORM_HOOK, .hook = &states_hook, .schema = STATES_SCHEMA, .about = "One state or several, comma separated."),
#define WANTED_NAME(label, member, text) ROW(label, member, FORM_TEXT, .min = 1, .about = text),
#define WANTED_TEXT(label, member, text) ROW(label, member, FORM_TEXT, .min = 1, .about = text),
#define WANTED_ID(label, member, text)   ROW(label, member, FORM_ID, .about = text),
#define FIELD(part, kind, column, member, label, text) WANTED_##kind(label, member, text)
#include "store/filter.def"
    FORM_ROW("priority", struct task_filter, priority, FORM_WORD, FORM_SET | FORM_NUMBER,
             .words = task_priority_words, .rule = TASK_PRIORITY_RULE, .about = "Tasks of this priority."),
    ROW("tag", tag, FORM_TEXT, .min = 1, .about = "Tasks that have this tag."),
    FORM_ROW("createdAfter", struct task_filter, created_after_ms, FORM_TIME, FORM_SET | FORM_LOOSE, .about = "Created after this time."),
    FORM_ROW("createdBefore", struct task_filter, created_before_ms, FORM_TIME, FORM_SET | FORM_LOOSE, .about = "Created before this time."),
    /* The last three: only of a list. */
    ROW("id", beginning, FORM_HOOK, .hook = &beginning_hook, .schema = "{\"type\":\"string\",\"minLength\":1}",
        .about = "Tasks whose id begins so."),
    LIMIT_ROW(struct task_filter, limit, "Tasks on a page."),
    CURSOR_ROW(struct task_filter, before),
};
/* clang-format on */
const struct form filter_form = {rows, ARRAY_LEN(rows) - 3};
const struct form list_form = FORM(rows);

/* ---- Bodies ---- */

static const struct form_row reason_rows[] = {
    FORM_ROW("reason", struct bulk_in, reason, FORM_TEXT, FORM_SET, .max = TASK_REASON_MAX),
};
const struct form reason_form = FORM(reason_rows);

bool bulk_read(struct json *json, struct bulk_in *in, struct err *err)
{
    const struct form_more more = {&reason_form, in};
    uint64_t given = 0;
    return form_read_for(FORM_SET, json, &filter_form, &in->filter, &given,
                         in->takes_reason ? &more : NULL, err) &&
           (given != 0 ||
            err_set(err, ERR_INVALID, "an empty filter would mean every task: name one"));
}
