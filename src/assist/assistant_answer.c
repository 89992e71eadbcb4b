/* assist/assistant_answer.c: what the model answered, read with patience: it is a stranger's
 * text, whatever the schema asked for. See assistant_parts.h.
 *
 * SPDX-License-Identifier: MIT */
#include "assist/assistant_parts.h"

#define SCHEMA_MAX (8 * KIB)

/* An empty text says nothing, and neither does null. */
static bool read_text(struct json *json, const struct form_row *row, void *into, struct err *err)
{
    struct str text;
    if (json_take_null(json)) {
        return true;
    }
    if (!json_str(json, &text, err)) {
        return false;
    }
    text = str_trim(text);
    *(struct str *)((char *)into + row->at) = text.len == 0 ? STR_NONE : text;
    return true;
}

static bool read_once(struct json *json, const struct form_row *row, void *into, struct err *err)
{
    bool once;
    (void)row;
    if (json_take_null(json)) {
        return true;
    }
    if (!json_bool(json, &once, err)) {
        return false;
    }
    ((struct assistant_answer *)into)->one_time = once;
    return true;
}

/* ---- Which schedules ---- */

static void add_ids(struct assistant_answer *out, struct str list)
{
    while (!str_absent(list)) {
        struct str id = str_trim(str_cut(&list, ','));
        if (id.len > 0 && out->ids_count < ANSWER_IDS_MAX) {
            out->ids[out->ids_count++] = id;
        }
    }
}

/* One id, several with commas between, or an array. */
static bool read_ids(struct json *json, const struct form_row *row, void *into, struct err *err)
{
    struct str text;
    (void)row;
    if (json_take_null(json)) {
        return true;
    }
    if (json_peek(json) == JSON_STRING) {
        bool ok = json_str(json, &text, err);
        add_ids(into, ok ? text : STR_NONE);
        return ok;
    }
    if (!json_enter_array(json, err)) {
        return false;
    }
    while (json_item(json, err)) {
        if (!json_str(json, &text, err)) {
            return false;
        }
        add_ids(into, text);
    }
    return json_ok(json);
}

/* ---- Refusals ---- */

static bool read_fields(struct json *json, const struct form_row *row, void *into, struct err *err)
{
    struct english_refusal *out = into;
    struct str field;
    (void)row;
    if (json_take_null(json)) {
        return true;
    }
    if (!json_enter_array(json, err)) {
        return false;
    }
    while (json_item(json, err)) {
        if (!json_str(json, &field, err)) {
            return false;
        }
        if (out->fields_count < ENGLISH_FIELDS_MAX) {
            out->fields[out->fields_count++] = arena_c_text(json->arena, field);
        }
    }
    return json_ok(json);
}

static const struct form_hook text_hook = {.read = read_text}, once_hook = {.read = read_once},
                              ids_hook = {.read = read_ids}, fields_hook = {.read = read_fields};

#define HOOK(label, type, member, use, reads, ...)                                                 \
    FORM_ROW(label, type, member, FORM_HOOK, use, .hook = &(reads), __VA_ARGS__)

static const struct form_row refusal_rows[] = {
    HOOK("fields", struct english_refusal, fields, FORM_KEPT, fields_hook, 0),
    HOOK("reason", struct english_refusal, reason, FORM_KEPT, text_hook, 0),
};
static const struct form refusal_form = FORM(refusal_rows);

/* An object, a sentence, or just the fact. */
static bool read_refusal(struct json *json, const struct form_row *row, void *into, struct err *err)
{
    struct assistant_answer *out = into;
    struct english_refusal *refusal = &out->refusal;
    struct str object;
    bool ok;
    (void)row;
    if (json_take_null(json)) {
        return true;
    }
    switch (json_peek(json)) {
    case JSON_BOOL:
        return json_bool(json, &out->refuses, err);
    case JSON_STRING:
        ok = read_text(json, &refusal_rows[1], refusal, err);
        break;
    default:
        ok = json_raw(json, &object, err) &&
             form_load(object, &refusal_form, json->arena, refusal, err);
    }
    out->refuses = !str_absent(refusal->reason) || refusal->fields_count > 0;
    return ok;
}

static const struct form_hook refusal_hook = {.read = read_refusal};

/* ---- All of it ---- */

#define TEXT  "{\"type\":[\"string\",\"null\"]}"
#define MODES "{\"type\":\"string\",\"enum\":[\"TASK_CREATION\",\"TASK_UPDATE\",\"REFUSAL\"]}"
#define ACTIONS                                                                                    \
    "{\"type\":[\"string\",\"null\"],\"enum\":[\"change\",\"pause\",\"resume\",\"delete\","        \
    "\"skip_next\",null]}"
#define CATEGORIES                                                                                 \
    "{\"type\":[\"string\",\"null\"],\"enum\":[\"REMINDER\",\"REPORT\",\"ANALYSIS\",\"OTHERS\","   \
    "null]}"
#define REFUSAL                                                                                    \
    "{\"type\":[\"object\",\"null\"],\"properties\":{\"fields\":{\"type\":\"array\",\"items\":"    \
    "{\"type\":\"string\"}},\"reason\":{\"type\":\"string\"}},\"required\":[\"fields\","           \
    "\"reason\"],"                                                                                 \
    "\"additionalProperties\":false}"
#define ROW(label, member, reads, wanted)                                                          \
    HOOK(label, struct assistant_answer, member, FORM_SET | FORM_NEEDED, reads, .schema = wanted)

/* clang-format off */
static const struct form_row rows[] = {
    ROW("mode", mode, text_hook, MODES),
    ROW("action", action, text_hook, ACTIONS),
    ROW("title", title, text_hook, TEXT),
    ROW("description", description, text_hook, TEXT),
    ROW("purpose", purpose, text_hook, TEXT),
    ROW("category", category, text_hook, CATEGORIES),
    ROW("isOneTime", one_time, once_hook, "{\"type\":[\"boolean\",\"null\"]}"),
    ROW("rrule", rrule, text_hook, TEXT),
    ROW("dtstart", dtstart, text_hook, TEXT),
    ROW("timezone", timezone, text_hook, TEXT),
    ROW("scheduleId", ids, ids_hook, TEXT),
    ROW("refusal", refusal, refusal_hook, REFUSAL),
    HOOK("scheduleIds", struct assistant_answer, ids, FORM_KEPT, ids_hook, 0), /* never asked for */
};
/* clang-format on */
static const struct form form = FORM(rows);

struct str assistant_schema(struct arena *arena)
{
    SCOPED(buf_fini) struct buf schema = BUF_INIT(SCHEMA_MAX);
    struct json_writer w = JSON_WRITER(&schema);
    form_schema(&w, &form, NULL, FORM_SET, false);
    return arena_str(arena, buf_view(&schema));
}

bool assistant_answer_read(struct str text, struct arena *arena, struct assistant_answer *out,
                           struct err *err)
{
    *out = (struct assistant_answer){.one_time = -1};
    return form_load(text, &form, arena, out, err);
}
