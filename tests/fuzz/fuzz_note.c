/* tests/fuzz/fuzz_note.c: whatever note was read from another node is written and read back.
 *
 * SPDX-License-Identifier: MIT */
#include "fleet/note.h"
#include "fuzz.h"

void fuzz_one(struct str text)
{
    struct err err = ERR_INIT;
    struct event_batch *first, *second;
    SCOPED(buf_fini) struct buf again = BUF_INIT(NOTE_MAX);
    if (!note_read(text, &first, &err)) {
        return;
    }
    note_write(&again, STR("node"), first);
    FUZZ_CLAIM(again.full || note_read(buf_view(&again), &second, &err));
    if (!again.full) {
        FUZZ_CLAIM(second->count == first->count);
        event_batch_free(second);
    }
    event_batch_free(first);
}
