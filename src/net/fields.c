/* net/fields.c: reading JSON objects by table. See fields.h.
 *
 * SPDX-License-Identifier: MIT */
#include "net/fields.h"

#include <stdio.h>

#include "wire/form.h"
#include "wire/time.h"

bool fields_take(struct json *json, struct fields fields, struct str key, void *into,
                 struct err *err)
{
    for (size_t i = 0; i < fields.count; i++) {
        if (str_eq(fields.at[i].name, key)) {
            return fields.at[i].set(json, into, err);
        }
    }
    return json_refuse(json, err, "is not a known field");
}

bool fields_rest(struct json *json, struct fields fields, void *into, struct err *err)
{
    struct str key;
    while (json_member(json, &key, err)) {
        if (!fields_take(json, fields, key, into, err)) {
            return false;
        }
    }
    return json_ok(json);
}

bool fields_read(struct json *json, struct fields fields, void *into, struct err *err)
{
    return json_enter_object(json, err) && fields_rest(json, fields, into, err);
}

bool fields_inner(struct json *json, struct fields fields, const char *name, void *into,
                  struct err *err)
{
    if (json_peek(json) != JSON_OBJECT) {
        return json_refuse(json, err, "must be an object");
    }
    return fields_read(json, fields, into, err) || form_inside(err, "%s", name);
}

bool fields_item(struct json *json, struct fields fields, size_t index, void *into, struct err *err)
{
    if (json_peek(json) != JSON_OBJECT && json_peek(json) != JSON_NONE) {
        char name[32];
        snprintf(name, sizeof name, "[%zu]", index);
        return err_field(err, name, "%s must be an object", name);
    }
    return fields_read(json, fields, into, err) || form_inside(err, "[%zu]", index);
}

bool field_i64(struct json *json, int64_t min, int64_t max, int64_t *out, struct err *err)
{
    int64_t value;
    if (!json_i64(json, &value, err)) {
        return false;
    }
    if (value < min || value > max) {
        return json_refuse(json, err, "must be from %lld to %lld", (long long)min, (long long)max);
    }
    *out = value;
    return true;
}

bool field_f64(struct json *json, double min, double max, double *out, struct err *err)
{
    double value;
    if (!json_f64(json, &value, err)) {
        return false;
    }
    if (!(value >= min && value <= max)) {
        return json_refuse(json, err, "must be from %g to %g", min, max);
    }
    *out = value;
    return true;
}

bool field_str(struct json *json, struct str *out, struct err *err)
{
    struct str text;
    if (!json_str(json, &text, err)) {
        return false;
    }
    if (text.len > 0 && memchr(text.ptr, '\0', text.len) != NULL) {
        return json_refuse(json, err, "must not hold U+0000");
    }
    *out = text;
    return true;
}

bool field_text(struct json *json, size_t min, size_t max, struct str *out, struct err *err)
{
    struct str text;
    if (!field_str(json, &text, err)) {
        return false;
    }
    if (text.len < min || text.len > max) {
        return min == 0 ? json_refuse(json, err, "must be at most %zu bytes", max)
                        : json_refuse(json, err, "must be %zu to %zu bytes", min, max);
    }
    *out = text;
    return true;
}

bool field_time(struct json *json, int64_t *out_ms, struct err *err)
{
    struct str text;
    int64_t ms;
    if (!field_str(json, &text, err)) {
        return false;
    }
    if (!time_parse(text, &ms, NULL)) {
        return json_refuse(json, err, "must be a time such as 2027-03-01T09:00:00Z (RFC 3339)");
    }
    if (ms <= 0) { /* 0 means unset inside */
        return json_refuse(json, err, "must be after 1970-01-01T00:00:00Z");
    }
    *out_ms = ms;
    return true;
}

void *fields_room(struct arena *arena, void *items, size_t count, size_t *room, size_t size)
{
    if (count < *room) {
        return items;
    }
    *room = MAX((size_t)16, *room * 2);
    char *bigger = arena_alloc(arena, *room * size);
    if (count > 0) {
        memcpy(bigger, items, count * size);
    }
    return bigger;
}

bool field_texts(struct json *json, size_t most, struct texts *out, struct err *err)
{
    struct texts texts = {NULL, 0};
    size_t room = 0;
    if (!json_enter_array(json, err)) {
        return false;
    }
    while (json_item(json, err)) {
        if (texts.count == most) {
            return json_refuse(json, err, "must not be more than %zu", most);
        }
        texts.at = fields_room(json->arena, texts.at, texts.count, &room, sizeof *texts.at);
        if (!field_str(json, &texts.at[texts.count++], err)) {
            return false;
        }
    }
    *out = texts;
    return json_ok(json);
}
