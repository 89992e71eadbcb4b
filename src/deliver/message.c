/* deliver/message.c: what is delivered. See message.h.
 *
 * SPDX-License-Identifier: MIT */
#include "deliver/message.h"

#include "wire/json.h"
#include "wire/time.h"

/* The members that are texts. */
static const struct field {
    const char *key;
    size_t at;
} fields[] = {
    {"to", offsetof(struct message, to)},
    {"title", offsetof(struct message, title)},
    {"text", offsetof(struct message, text)},
    {"messageId", offsetof(struct message, id)},
    {"userId", offsetof(struct message, user)},
    {"scheduleId", offsetof(struct message, schedule)},
    {"executionId", offsetof(struct message, execution)},
    {"chatId", offsetof(struct message, chat)},
};

struct str message_write(const struct message *message, struct arena *arena)
{
    SCOPED(buf_fini) struct buf json = BUF_INIT(8 * MIB);
    struct json_writer w = JSON_WRITER(&json);
    json_open_object(&w);
    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        struct str text = *(const struct str *)((const char *)message + fields[i].at);
        if (!str_absent(text)) {
            json_put_str(&w, fields[i].key, text);
        }
    }
    json_put_time(&w, "at", message->at_ms);
    json_close_object(&w);
    return arena_str(arena, buf_view(&json));
}

static struct str *place_of(struct message *message, struct str key)
{
    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        if (str_is(key, fields[i].key)) {
            return (struct str *)((char *)message + fields[i].at);
        }
    }
    return NULL;
}

static bool read_time(struct json *json, int64_t *out, struct err *err)
{
    struct str text;
    return json_str(json, &text, err) && time_parse(text, out, err);
}

bool message_read(struct str payload, struct arena *arena, struct message *out, struct err *err)
{
    struct json json;
    struct str key;
    *out = (struct message){.at_ms = 0};
    json_start(&json, payload, arena);
    if (str_absent(payload) || !json_enter_object(&json, err)) {
        return err_set(err, ERR_INVALID, "the payload must be an object with to, title and text");
    }
    while (json_member(&json, &key, err)) {
        struct str *place = place_of(out, key);
        bool ok = json_take_null(&json) ? true
                  : place != NULL       ? json_str(&json, place, err)
                  : str_is(key, "at")   ? read_time(&json, &out->at_ms, err)
                                        : json_refuse(&json, err, "is not a known field");
        if (!ok) {
            return false;
        }
    }
    return json_end(&json, err);
}

struct str message_line(struct str text, size_t max, struct arena *arena)
{
    SCOPED(buf_fini) struct buf line = BUF_INIT(max);
    text = str_head(text, max);
    while (text.len > 0) {
        size_t len = MAX(str_utf8_len(text), (size_t)1);
        struct str one = {text.ptr, len};
        buf_str(&line, str_has_control(one) ? STR(" ") : one);
        text = str_from(text, len);
    }
    return arena_str(arena, str_trim(buf_view(&line)));
}
