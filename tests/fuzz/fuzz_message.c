/* tests/fuzz/fuzz_message.c: a payload that is read as a message can be written and read again, and
 * a conversation that is read has words in each of its messages.
 *
 * SPDX-License-Identifier: MIT */
#include "assist/chat.h"
#include "fuzz.h"
#include "schedule/message.h"

static void check_message(struct str text, struct arena *arena)
{
    struct err err = ERR_INIT;
    struct message once, again;
    if (!message_read(text, arena, &once, &err)) {
        FUZZ_CLAIM(err.kind == ERR_INVALID && err.text[0] != '\0');
        return;
    }
    FUZZ_CLAIM(message_read(message_write(&once, arena), arena, &again, &err));
    FUZZ_CLAIM(str_eq(once.title, again.title) && str_eq(once.to, again.to));
    FUZZ_CLAIM(!str_has_control(message_line(once.title, MESSAGE_TITLE_MAX, arena)));
}

static void check_chat(struct str text, struct arena *arena)
{
    struct err err = ERR_INIT;
    struct chat chat = {0};
    if (!chat_read(&chat, text, arena, &err)) {
        FUZZ_CLAIM(err.kind != ERR_NONE);
        return;
    }
    for (size_t i = 0; i < chat.count; i++) {
        FUZZ_CLAIM(chat.at[i].content.len > 0);
    }
}

void fuzz_one(struct str text)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    check_message(text, &arena);
    check_chat(text, &arena);
}
