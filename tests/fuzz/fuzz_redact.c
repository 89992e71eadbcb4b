/* tests/fuzz/fuzz_redact.c: what was redacted is JSON still, or UTF-8 still, and of a member with a
 * key nothing is left.
 *
 * SPDX-License-Identifier: MIT */
#include "fuzz.h"
#include "wire/json.h"
#include "wire/redact.h"

static void check_text(const struct redact_keys *keys, struct str text)
{
    SCOPED(buf_fini) struct buf out = BUF_INIT(MIB);
    redact_text(&out, keys, text);
    FUZZ_CLAIM(out.full || !str_is_utf8(text) || str_is_utf8(buf_view(&out)));
}

static void check_json(const struct redact_keys *keys, struct str text)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    SCOPED(buf_fini) struct buf answer = BUF_INIT(MIB);
    SCOPED(buf_fini) struct buf out = BUF_INIT(MIB);
    struct err err = ERR_INIT;
    buf_c(&answer, "{\"payload\":{\"Token\":");
    buf_str(&answer, text);
    buf_c(&answer, "},\"result\":");
    buf_str(&answer, text);
    buf_c(&answer, "}");
    redact_json(&out, keys, buf_view(&answer));
    if (!answer.full && !out.full) {
        FUZZ_CLAIM(json_valid(buf_view(&out), &err));
        struct str payload = json_find(buf_view(&out), "payload", &arena);
        FUZZ_CLAIM(str_is(json_find_str(payload, "Token", &arena), REDACTED));
    }
}

void fuzz_one(struct str text)
{
    const struct redact_keys keys = {{STR("a"), STR("token")}, 2};
    struct redact_keys read;
    struct err err = ERR_INIT;
    (void)!redact_parse(text, &read, &err);
    check_text(&keys, text);
    if (json_valid(text, &err)) {
        check_json(&keys, text);
    }
}
