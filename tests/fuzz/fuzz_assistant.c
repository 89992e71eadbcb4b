/* tests/fuzz/fuzz_assistant.c: whatever a model answers is read or refused, and stays in its
 * bounds.
 *
 * SPDX-License-Identifier: MIT */
#include "assist/assistant_parts.h"
#include "fuzz.h"

void fuzz_one(struct str text)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct err err = ERR_INIT;
    struct assistant_answer answer;
    if (!assistant_answer_read(text, &arena, &answer, &err)) {
        FUZZ_CLAIM(err.kind == ERR_INVALID && err.text[0] != '\0');
        return;
    }
    FUZZ_CLAIM(answer.ids_count <= ANSWER_IDS_MAX);
    FUZZ_CLAIM(answer.refusal.fields_count <= ENGLISH_FIELDS_MAX);
    FUZZ_CLAIM(answer.one_time >= -1 && answer.one_time <= 1);
    FUZZ_CLAIM(str_absent(answer.title) || answer.title.len > 0);
}
