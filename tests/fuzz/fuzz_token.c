/* tests/fuzz/fuzz_token.c: a line of the file `tokens` that was read is written and read back.
 *
 * SPDX-License-Identifier: MIT */
#include "fuzz.h"
#include "net/token_file.h"

void fuzz_one(struct str text)
{
    SCOPED(buf_fini) struct buf line = BUF_INIT(4 * KIB);
    struct token once, again;
    if (!token_line_parse(text, &once)) {
        return;
    }
    FUZZ_CLAIM(once.role > ROLE_NONE && once.role < ROLES && once.id[0] != '\0');
    token_line_write(&line, &once);
    FUZZ_CLAIM(!line.full && token_line_parse(buf_view(&line), &again));
    FUZZ_CLAIM(memcmp(&once, &again, sizeof once) == 0);
}
