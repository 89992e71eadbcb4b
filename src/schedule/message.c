/* schedule/message.c: what is delivered. See message.h.
 *
 * SPDX-License-Identifier: MIT */
#include "schedule/message.h"

#include "wire/form.h"

#define ROW(label, member, kind, ...)                                                              \
    FORM_ROW(label, struct message, member, kind, FORM_SET | FORM_SHOWN, __VA_ARGS__)

static const struct form_row rows[] = {
    ROW("to", to, FORM_TEXT, 0),
    ROW("title", title, FORM_TEXT, 0),
    ROW("text", text, FORM_TEXT, 0),
    ROW("messageId", id, FORM_TEXT, 0),
    ROW("userId", user, FORM_TEXT, 0),
    ROW("scheduleId", schedule, FORM_TEXT, 0),
    ROW("executionId", execution, FORM_TEXT, 0),
    ROW("chatId", chat, FORM_TEXT, 0),
    ROW("at", at_ms, FORM_TIME, 0),
};
static const struct form form = FORM(rows);

struct str message_write(const struct message *message, struct arena *arena)
{
    SCOPED(buf_fini) struct buf json = BUF_INIT(8 * MIB);
    struct json_writer w = JSON_WRITER(&json);
    json_open_object(&w);
    form_show(&w, &form, message);
    json_close_object(&w);
    return arena_str(arena, buf_view(&json));
}

bool message_read(struct str payload, struct arena *arena, struct message *out, struct err *err)
{
    struct json json;
    uint64_t given = 0;
    *out = (struct message){.at_ms = 0};
    json_start(&json, payload, arena);
    if (str_absent(payload) || json_peek(&json) != JSON_OBJECT) {
        return err_set(err, ERR_INVALID, "the payload must be an object with to, title and text");
    }
    return form_read(&json, &form, out, &given, NULL, err) && json_end(&json, err);
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
