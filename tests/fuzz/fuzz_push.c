/* tests/fuzz/fuzz_push.c: whatever an endpoint answers, its task ends in words that can be kept.
 *
 * The first byte chooses the status; then come Retry-After and Date, each up to a byte 01, and the
 * body.
 *
 * SPDX-License-Identifier: MIT */
#include "fuzz.h"
#include "task/task.h"
#include "wire/json.h"
#include "work/push_answer.h"

#define NOW_MS INT64_C(1800000000000)

static bool is_json(struct str text, struct arena *arena)
{
    struct err err = ERR_INIT;
    struct json json;
    json_start(&json, text, arena);
    return json_skip(&json, &err) && json_end(&json, &err);
}

void fuzz_one(struct str text)
{
    static const int statuses[] = {200, 204, 301, 400, 408, 409, 429, 500, 503, 0};
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    if (text.len == 0) {
        return;
    }
    struct push_answer answer = {.status = statuses[(unsigned char)text.ptr[0] % 10]};
    text = str_from(text, 1);
    answer.broken = answer.status == 0 ? "it broke off" : NULL;
    answer.retry_after = str_cut(&text, '\x01');
    answer.date = str_cut(&text, '\x01');
    answer.body = str_absent(text) ? STR("") : text;
    struct job_end end = push_judge(&answer, NOW_MS, &arena);
    FUZZ_CLAIM(!end.completed || str_absent(end.result) || is_json(end.result, &arena));
    FUZZ_CLAIM(end.completed || (end.error.code.len > 0 && str_is_utf8(end.error.message)));
    FUZZ_CLAIM(str_absent(end.error.detail) || is_json(end.error.detail, &arena));
    FUZZ_CLAIM(end.retry_after_ms >= 0 && end.retry_after_ms <= 366 * DAY_MS);
}
