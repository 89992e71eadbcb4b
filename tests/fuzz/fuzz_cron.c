/* tests/fuzz/fuzz_cron.c: whatever cron expression was read is a rule that can be written and read.
 *
 * SPDX-License-Identifier: MIT */
#include "fuzz.h"
#include "time/cron.h"

void fuzz_one(struct str text)
{
    SCOPED(buf_fini) struct buf buf = BUF_INIT(RRULE_TEXT_MAX);
    struct err err = ERR_INIT;
    struct rrule rule, back;
    if (!cron_parse(text, &rule, &err)) {
        FUZZ_CLAIM(err.kind == ERR_INVALID && err.text[0] != '\0');
        return;
    }
    rrule_write(&buf, &rule);
    FUZZ_CLAIM(!buf.full && rrule_parse(buf_view(&buf), &back, NULL));
    FUZZ_CLAIM(memcmp(&rule, &back, sizeof back) == 0);
}
