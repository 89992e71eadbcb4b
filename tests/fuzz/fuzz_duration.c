/* tests/fuzz/fuzz_duration.c: whatever duration or time was read is written and read back.
 *
 * SPDX-License-Identifier: MIT */
#include "fuzz.h"
#include "wire/time.h"

static void check_duration(int64_t ms)
{
    SCOPED(buf_fini) struct buf buf = BUF_INIT(KIB);
    int64_t back;
    duration_write(&buf, ms);
    FUZZ_CLAIM(!buf.full && buf.len > 0);
    FUZZ_CLAIM(duration_parse(buf_view(&buf), &back, NULL) == (ms >= 0));
    FUZZ_CLAIM(ms < 0 || back == ms);
}

static void check_time(int64_t ms)
{
    SCOPED(buf_fini) struct buf buf = BUF_INIT(KIB);
    int64_t back, in_range = MAX(TIME_MIN_MS, MIN(ms, TIME_MAX_MS));
    time_write(&buf, ms);
    FUZZ_CLAIM(time_parse(buf_view(&buf), &back, NULL) && back == in_range);
    buf_clear(&buf);
    time_write_http(&buf, ms);
    FUZZ_CLAIM(time_parse_http(buf_view(&buf), &back, NULL));
    FUZZ_CLAIM(back <= in_range && in_range - back < SECOND_MS);
}

/* The text as a text, and its first bytes as a number. */
void fuzz_one(struct str text)
{
    int64_t ms = 0;
    memcpy(&ms, text.len > 0 ? text.ptr : "", MIN(text.len, sizeof ms));
    check_duration(ms);
    check_time(ms);
    if (duration_parse(text, &ms, NULL)) {
        FUZZ_CLAIM(ms >= 0);
        check_duration(ms);
    }
    if (time_parse(text, &ms, NULL)) {
        FUZZ_CLAIM(ms >= TIME_MIN_MS && ms <= TIME_MAX_MS);
        check_time(ms);
    }
    if (time_parse_http(text, &ms, NULL)) {
        check_time(ms);
    }
}
