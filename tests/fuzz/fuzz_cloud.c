/* tests/fuzz/fuzz_cloud.c: names, values and messages of the Cloud Tasks API.
 *
 * SPDX-License-Identifier: MIT */
#include "fuzz.h"
#include "wire/cloud.h"

static void check_message(struct str text, struct arena *arena)
{
    struct str once, twice;
    if (cloud_message(text, arena, &once, NULL)) {
        FUZZ_CLAIM(json_valid(once, NULL));
        /* A second reading finds nothing to do, unless two spellings have become one name. */
        if (cloud_message(once, arena, &twice, NULL)) {
            FUZZ_CLAIM(str_eq(once, twice));
        }
    }
}

static void check_headers(struct str text, struct arena *arena)
{
    struct str once, twice;
    if (cloud_headers_read(text, arena, &once, NULL)) {
        FUZZ_CLAIM(json_valid(once, NULL));
        FUZZ_CLAIM(cloud_headers_read(once, arena, &twice, NULL) && str_eq(once, twice));
    }
}

void fuzz_one(struct str text)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    SCOPED(buf_fini) struct buf buf = BUF_INIT(KIB);
    struct cloud_name name;
    struct str bytes;
    int64_t ms, back;
    uint64_t bits;
    static const struct form_row rows[] = {
        FORM_ROW("rateLimits.maxBurstSize", struct str, len, FORM_HOOK, FORM_SET,
                 .hook = &cloud_i32),
        FORM_ROW("retryConfig.minBackoff", struct str, len, FORM_HOOK, FORM_SET,
                 .hook = &cloud_duration),
    };
    static const struct form form = FORM(rows);
    if (cloud_duration_parse(text, &ms, NULL)) {
        cloud_duration_write(&buf, ms);
        FUZZ_CLAIM(ms >= 0 && cloud_duration_parse(buf_view(&buf), &back, NULL) && back == ms);
    }
    if (cloud_name_parse(text, &name)) {
        FUZZ_CLAIM(name.project.len > 0);
    }
    if (cloud_mask_parse(text, &form, &arena, &bits, NULL)) {
        FUZZ_CLAIM(bits != 0 && bits < 4);
    }
    if (cloud_bytes_parse(text, &arena, &bytes, NULL)) {
        FUZZ_CLAIM(bytes.len <= text.len);
    }
    check_message(text, &arena);
    check_headers(text, &arena);
}
