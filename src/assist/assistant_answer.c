/* assist/assistant_answer.c: what the model answered, read with patience: it is a stranger's
 * text, whatever the schema asked for. See assistant_parts.h.
 *
 * SPDX-License-Identifier: MIT */
#include "assist/assistant_parts.h"

#define TEXT_OR_NULL "{\"type\":[\"string\",\"null\"]}"

const char assistant_schema[] =
    "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{"
    "\"mode\":{\"type\":\"string\",\"enum\":[\"TASK_CREATION\",\"TASK_UPDATE\",\"REFUSAL\"]},"
    "\"action\":{\"type\":[\"string\",\"null\"],\"enum\":[\"change\",\"pause\",\"resume\","
    "\"delete\",\"skip_next\",null]},"
    "\"title\":" TEXT_OR_NULL ",\"description\":" TEXT_OR_NULL ",\"purpose\":" TEXT_OR_NULL ","
    "\"category\":{\"type\":[\"string\",\"null\"],\"enum\":[\"REMINDER\",\"REPORT\",\"ANALYSIS\","
    "\"OTHERS\",null]},"
    "\"isOneTime\":{\"type\":[\"boolean\",\"null\"]},"
    "\"rrule\":" TEXT_OR_NULL ",\"dtstart\":" TEXT_OR_NULL ",\"timezone\":" TEXT_OR_NULL ","
    "\"scheduleId\":" TEXT_OR_NULL ","
    "\"refusal\":{\"type\":[\"object\",\"null\"],\"additionalProperties\":false,\"properties\":{"
    "\"fields\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},"
    "\"reason\":{\"type\":\"string\"}},\"required\":[\"fields\",\"reason\"]}},"
    "\"required\":[\"mode\",\"action\",\"title\",\"description\",\"purpose\",\"category\","
    "\"isOneTime\",\"rrule\",\"dtstart\",\"timezone\",\"scheduleId\",\"refusal\"]}";

/* An empty text says nothing. */
static bool read_text(struct json *json, struct str *out, struct err *err)
{
    struct str text;
    if (!json_str(json, &text, err)) {
        return false;
    }
    text = str_trim(text);
    *out = text.len == 0 ? STR_NONE : text;
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
static bool read_ids(struct json *json, struct assistant_answer *out, struct err *err)
{
    struct str text = STR_NONE;
    if (json_peek(json) == JSON_STRING) {
        bool ok = read_text(json, &text, err);
        add_ids(out, text);
        return ok;
    }
    if (!json_enter_array(json, err)) {
        return false;
    }
    while (json_item(json, err)) {
        if (!read_text(json, &text, err)) {
            return false;
        }
        add_ids(out, text);
    }
    return json_ok(json);
}

/* ---- Refusals ---- */

static bool read_fields(struct json *json, struct english_refusal *out, struct err *err)
{
    struct str field;
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

static bool read_refusal_object(struct json *json, struct english_refusal *out, struct err *err)
{
    struct str key;
    if (!json_enter_object(json, err)) {
        return false;
    }
    while (json_member(json, &key, err)) {
        bool ok = json_take_null(json)    ? true
                  : str_is(key, "fields") ? read_fields(json, out, err)
                  : str_is(key, "reason") ? read_text(json, &out->reason, err)
                                          : json_skip(json, err);
        if (!ok) {
            return false;
        }
    }
    return json_ok(json);
}

/* An object, a sentence, or just the fact. */
static bool read_refusal(struct json *json, struct assistant_answer *out, struct err *err)
{
    switch (json_peek(json)) {
    case JSON_BOOL:
        return json_bool(json, &out->refuses, err);
    case JSON_STRING:
        if (!read_text(json, &out->refusal.reason, err)) {
            return false;
        }
        out->refuses = !str_absent(out->refusal.reason);
        return true;
    default:
        if (!read_refusal_object(json, &out->refusal, err)) {
            return false;
        }
        out->refuses = !str_absent(out->refusal.reason) || out->refusal.fields_count > 0;
        return true;
    }
}

/* ---- All of it ---- */

static struct str *place_of(struct assistant_answer *out, struct str key)
{
    const struct {
        const char *key;
        struct str *place;
    } texts[] = {{"mode", &out->mode},        {"action", &out->action},
                 {"title", &out->title},      {"description", &out->description},
                 {"purpose", &out->purpose},  {"category", &out->category},
                 {"rrule", &out->rrule},      {"dtstart", &out->dtstart},
                 {"timezone", &out->timezone}};
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        if (str_is(key, texts[i].key)) {
            return texts[i].place;
        }
    }
    return NULL;
}

static bool read_once(struct json *json, struct assistant_answer *out, struct err *err)
{
    bool once;
    if (!json_bool(json, &once, err)) {
        return false;
    }
    out->one_time = once;
    return true;
}

bool assistant_answer_read(struct str text, struct arena *arena, struct assistant_answer *out,
                           struct err *err)
{
    struct json json;
    struct str key;
    *out = (struct assistant_answer){.one_time = -1};
    json_start(&json, text, arena);
    if (!json_enter_object(&json, err)) {
        return false;
    }
    while (json_member(&json, &key, err)) {
        struct str *place = place_of(out, key);
        bool ok = json_take_null(&json)        ? true
                  : place != NULL              ? read_text(&json, place, err)
                  : str_is(key, "isOneTime")   ? read_once(&json, out, err)
                  : str_is(key, "scheduleId")  ? read_ids(&json, out, err)
                  : str_is(key, "scheduleIds") ? read_ids(&json, out, err)
                  : str_is(key, "refusal")     ? read_refusal(&json, out, err)
                                               : json_skip(&json, err);
        if (!ok) {
            return false;
        }
    }
    return json_end(&json, err);
}
