/* net/filter_in.c: which tasks. See filter_in.h.
 *
 * SPDX-License-Identifier: MIT */
#include "net/filter_in.h"

#include <stdio.h>

#include "net/fields.h"
#include "net/task_in.h"
#include "wire/time.h"

/* ---- Values, out of text ---- */

static bool set_state(void *into, struct str value, struct err *err)
{
    struct task_filter *filter = into;
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

static bool set_type(void *into, struct str value, struct err *err)
{
    (void)err;
    ((struct task_filter *)into)->type = value;
    return true;
}

static bool set_queue(void *into, struct str value, struct err *err)
{
    (void)err;
    ((struct task_filter *)into)->queue = value;
    return true;
}

static bool set_document(void *into, struct str value, struct err *err)
{
    (void)err;
    ((struct task_filter *)into)->document = value;
    return true;
}

static bool set_tag(void *into, struct str value, struct err *err)
{
    (void)err;
    ((struct task_filter *)into)->tag = value;
    return true;
}

static bool set_external(void *into, struct str value, struct err *err)
{
    (void)err;
    ((struct task_filter *)into)->external_id = value;
    return true;
}

static bool set_priority(void *into, struct str value, struct err *err)
{
    return priority_of(value, &((struct task_filter *)into)->priority) ||
           err_field(err, "priority", "priority " PRIORITY_RULE);
}

/* The nil id would mean "any" inside; it names no task either way. */
static bool read_id(const char *name, struct str value, struct task_id *out, struct err *err)
{
    return (id_parse(value, out) && !id_none(*out)) ||
           err_field(err, name, "%s must be an id (a UUID)", name);
}

static bool set_parent(void *into, struct str value, struct err *err)
{
    return read_id("parentId", value, &((struct task_filter *)into)->parent, err);
}

static bool set_team(void *into, struct str value, struct err *err)
{
    return read_id("teamId", value, &((struct task_filter *)into)->team, err);
}

static bool set_schedule(void *into, struct str value, struct err *err)
{
    return read_id("scheduleId", value, &((struct task_filter *)into)->schedule, err);
}

/* In a query '+' is a blank, and people forget to write %2B before the hours of an offset. */
static struct str mend_offset(struct str value, char room[static 64])
{
    bool blank = value.len >= 6 && value.len < 64 && value.ptr[value.len - 6] == ' ';
    if (!blank) {
        return value;
    }
    memcpy(room, value.ptr, value.len);
    room[value.len - 6] = '+';
    return (struct str){room, value.len};
}

static bool read_time(const char *name, struct str value, int64_t *out_ms, struct err *err)
{
    char room[64];
    int64_t ms;
    if (!time_parse(mend_offset(value, room), &ms, NULL)) {
        return err_field(err, name, "%s must be a time such as 2027-03-01T09:00:00Z (RFC 3339)",
                         name);
    }
    *out_ms = MAX(ms, 1); /* 0 means any; no task is that old */
    return true;
}

static bool set_created_after(void *into, struct str value, struct err *err)
{
    return read_time("createdAfter", value, &((struct task_filter *)into)->created_after_ms, err);
}

static bool set_created_before(void *into, struct str value, struct err *err)
{
    return read_time("createdBefore", value, &((struct task_filter *)into)->created_before_ms, err);
}

bool limit_parse(struct str value, size_t *out, struct err *err)
{
    int64_t limit;
    if (!param_i64("limit", value, 1, LIST_LIMIT_MAX, &limit, err)) {
        return false;
    }
    *out = (size_t)limit;
    return true;
}

static bool set_limit(void *into, struct str value, struct err *err)
{
    return limit_parse(value, &((struct task_filter *)into)->limit, err);
}

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

bool cursor_parse(struct str value, struct task_id *out, struct err *err)
{
    struct str hi = {value.ptr, (CURSOR_TEXT - 1) / 2}, lo = {value.ptr + hi.len, hi.len};
    bool ok = value.len == CURSOR_TEXT - 1 && half_parse(hi, &out->hi) && half_parse(lo, &out->lo);
    return (ok && out->hi != 0) || err_field(err, "cursor", "cursor must come from a Link header");
}

static bool take_cursor(const struct form_row *row, struct str value, void *into, struct err *err)
{
    return cursor_parse(value, (struct task_id *)(void *)((char *)into + row->at), err);
}

const struct form_hook cursor_hook = {.text = take_cursor};

static bool set_cursor(void *into, struct str value, struct err *err)
{
    return cursor_parse(value, &((struct task_filter *)into)->before, err);
}

/* ---- The tables ---- */

#define TEXT_SCHEMA "{\"type\":\"string\",\"minLength\":1}"
#define ID_SCHEMA   "{\"type\":\"string\",\"format\":\"uuid\"}"
#define TIME_SCHEMA "{\"type\":\"string\",\"format\":\"date-time\"}"

#define FILTER_ROWS                                                                                \
    PARAM("state", set_state, TEXT_SCHEMA, "One state or several, comma separated."),              \
        PARAM("taskType", set_type, TEXT_SCHEMA, "Tasks of this type."),                           \
        PARAM("queue", set_queue, TEXT_SCHEMA, "Tasks of this queue."),                            \
        PARAM("documentId", set_document, TEXT_SCHEMA, "Tasks of this document."),                 \
        PARAM("priority", set_priority, "{\"$ref\":\"#/components/schemas/Priority\"}",            \
              "Tasks of this priority."),                                                          \
        PARAM("parentId", set_parent, ID_SCHEMA, "Children of this task."),                        \
        PARAM("teamId", set_team, ID_SCHEMA, "Tasks of this team."),                               \
        PARAM("scheduleId", set_schedule, ID_SCHEMA, "Tasks made by this schedule."),              \
        PARAM("tag", set_tag, TEXT_SCHEMA, "Tasks that have this tag."),                           \
        PARAM("externalId", set_external, TEXT_SCHEMA, "The task another protocol names so."),     \
        PARAM("createdAfter", set_created_after, TIME_SCHEMA, "Created after this time."),         \
        PARAM("createdBefore", set_created_before, TIME_SCHEMA, "Created before this time.")

static const struct param filter_table[] = {FILTER_ROWS};

static const struct param list_table[] = {
    FILTER_ROWS,
    PARAM("limit", set_limit, LIMIT_SCHEMA, "Tasks on a page."),
    PARAM("cursor", set_cursor, TEXT_SCHEMA, "Where the page begins: from the Link header."),
};

const struct params filter_params = {filter_table, ARRAY_LEN(filter_table)};
const struct params list_params = {list_table, ARRAY_LEN(list_table)};

/* ---- Bodies ---- */

/* Several states in an array are the same text as in a query. */
static bool join_texts(struct json *json, struct str *out, struct err *err)
{
    struct texts texts;
    SCOPED(buf_fini) struct buf joined = BUF_INIT(4 * KIB);
    if (!field_texts(json, TASK_STATES * 2, &texts, err)) {
        return false;
    }
    for (size_t i = 0; i < texts.count; i++) {
        buf_c(&joined, i == 0 ? "" : ",");
        buf_str(&joined, texts.at[i]);
    }
    if (joined.len == 0 || joined.full) {
        return json_refuse(json, err, "must name states");
    }
    *out = arena_str(json->arena, buf_view(&joined));
    return true;
}

static bool read_value(struct json *json, struct str key, struct str *out, struct err *err)
{
    enum json_type type = json_peek(json);
    if (type == JSON_ARRAY && str_is(key, "state")) {
        return join_texts(json, out, err);
    }
    if (type == JSON_NUMBER && str_is(key, "priority")) {
        return json_raw(json, out, err);
    }
    if (!field_str(json, out, err)) {
        return false;
    }
    return out->len > 0 || json_refuse(json, err, "must not be empty");
}

static bool read_member(struct json *json, struct str key, struct bulk_in *in, bool *filtered,
                        struct err *err)
{
    struct str value;
    const struct param *param = params_find(filter_params, key);
    if (in->takes_reason && str_is(key, "reason")) {
        return json_take_null(json) || field_text(json, 0, TASK_REASON_MAX, &in->reason, err);
    }
    if (param == NULL) {
        return json_refuse(json, err, "is not a known field");
    }
    *filtered = true;
    return read_value(json, key, &value, err) && param->set(&in->filter, value, err);
}

bool bulk_read(struct json *json, struct bulk_in *in, struct err *err)
{
    struct str key;
    bool filtered = false;
    if (!json_enter_object(json, err)) {
        return false;
    }
    while (json_member(json, &key, err)) {
        if (!read_member(json, key, in, &filtered, err)) {
            return false;
        }
    }
    if (!json_ok(json)) {
        return false;
    }
    return filtered || err_set(err, ERR_INVALID, "an empty filter would mean every task: name one");
}
