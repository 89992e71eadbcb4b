/* assist/chat.c: a conversation as clients send it. See chat.h.
 *
 * SPDX-License-Identifier: MIT */
#include "assist/chat.h"

#include "wire/json.h"

void chat_add(struct chat *chat, enum llm_role role, struct str content, struct arena *arena)
{
    if (chat->count == chat->room) {
        size_t room = MAX(chat->room * 2, (size_t)8);
        struct llm_message *longer = arena_array(arena, struct llm_message, room);
        if (chat->count > 0) {
            memcpy(longer, chat->at, chat->count * sizeof *longer);
        }
        chat->at = longer;
        chat->room = room;
    }
    chat->at[chat->count++] = (struct llm_message){role, content};
}

/* One part of a content: {"type":"text","text":"…"}, or a text. */
static bool read_part(struct json *json, struct buf *out, struct err *err)
{
    struct str key, text = STR_NONE;
    if (json_peek(json) == JSON_STRING) {
        if (!json_str(json, &text, err)) {
            return false;
        }
    } else if (json_enter_object(json, err)) {
        while (json_member(json, &key, err)) {
            bool is_text = str_is(key, "text") && json_peek(json) == JSON_STRING;
            if (is_text ? !json_str(json, &text, err) : !json_skip(json, err)) {
                return false;
            }
        }
    }
    if (!str_absent(text)) {
        buf_c(out, out->len > 0 ? "\n" : "");
        buf_str(out, text);
    }
    return json_ok(json);
}

static bool read_content(struct json *json, struct arena *arena, struct str *out, struct err *err)
{
    SCOPED(buf_fini) struct buf text = BUF_INIT(LLM_REQUEST_MAX);
    if (json_peek(json) == JSON_STRING) {
        return json_str(json, out, err);
    }
    if (json_take_null(json)) {
        return true;
    }
    if (!json_enter_array(json, err)) {
        return false;
    }
    while (json_item(json, err)) {
        if (!read_part(json, &text, err)) {
            return false;
        }
    }
    *out = arena_str(arena, buf_view(&text));
    return json_ok(json);
}

static bool read_message(struct chat *chat, struct json *json, struct arena *arena, struct err *err)
{
    struct str key, role = STR("user"), content = STR_NONE;
    enum llm_role meant;
    if (!json_enter_object(json, err)) {
        return false;
    }
    while (json_member(json, &key, err)) {
        bool ok = str_is(key, "role")      ? json_str(json, &role, err)
                  : str_is(key, "content") ? read_content(json, arena, &content, err)
                                           : json_skip(json, err);
        if (!ok) {
            return false;
        }
    }
    if (json_ok(json) && content.len > 0) {
        chat_add(chat, llm_role_read(role, &meant) ? meant : LLM_USER, content, arena);
    }
    return json_ok(json);
}

bool chat_read(struct chat *chat, struct str text, struct arena *arena, struct err *err)
{
    struct json json;
    size_t before = chat->count;
    json_start(&json, text, arena);
    if (!json_enter_array(&json, err)) {
        return err_wrap(err, "messages");
    }
    while (json_item(&json, err)) {
        if (chat->count - before >= CHAT_MESSAGES_MAX) {
            return err_field(err, "messages", "there are more than %d messages", CHAT_MESSAGES_MAX);
        }
        if (!read_message(chat, &json, arena, err)) {
            return err_wrap(err, "messages");
        }
    }
    return json_end(&json, err);
}
