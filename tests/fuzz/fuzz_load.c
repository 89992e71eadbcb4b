/* tests/fuzz/fuzz_load.c: whatever load was read from another node is written and read back.
 *
 * SPDX-License-Identifier: MIT */
#include "fleet/load.h"
#include "fuzz.h"

void fuzz_one(struct str text)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    SCOPED(buf_fini) struct buf again = BUF_INIT(8 * MIB);
    struct err err = ERR_INIT;
    struct queue_load first, second;
    if (!load_read(text, &arena, &first, &err)) {
        return;
    }
    load_write(&again, &first);
    FUZZ_CLAIM(again.full || load_read(buf_view(&again), &arena, &second, &err));
    FUZZ_CLAIM(again.full || second.wanted_count == first.wanted_count);
}
