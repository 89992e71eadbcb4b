/* assist/chat.h: a conversation as clients send it, for the language model.
 *
 * Thread: any. Keeps nothing.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_ASSIST_CHAT_H
#define ERRAND_ASSIST_CHAT_H

#include "client/llm.h"

#define CHAT_MESSAGES_MAX 1000

struct chat {
    struct llm_message *at;
    size_t count, room;
};

void chat_add(struct chat *chat, enum llm_role role, struct str content, struct arena *arena);

/* Adds what an array of {"role","content"} says. A content is a text, or an array of parts of which
 * those with a "text" count. Other members of a message are passed over, a role that the model does
 * not know is the user's, a message without any text is left out. Texts borrow from `json` or live
 * in the arena. */
MUST_CHECK bool chat_read(struct chat *chat, struct str json, struct arena *arena, struct err *err);

#endif
