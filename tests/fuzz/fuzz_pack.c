/* tests/fuzz/fuzz_pack.c: whatever run of packed fields was read says the same when it is packed
 * again.
 *
 * SPDX-License-Identifier: MIT */
#include "base/def.h"
#include "fuzz.h"
#include "store/pack.h"

#define RUN_MAX (4 * MIB)

void fuzz_one(struct str text)
{
    struct task first, second;
    SCOPED(buf_fini) struct buf once = BUF_INIT(RUN_MAX);
    SCOPED(buf_fini) struct buf again = BUF_INIT(RUN_MAX);
    unpack_begin(&first);
    unpack_begin(&second);
    if (!unpack(text, &first) || !pack_whole(&once, &first)) {
        return;
    }
    FUZZ_CLAIM(unpack(buf_view(&once), &second) && pack_whole(&again, &second));
    FUZZ_CLAIM(str_eq(buf_view(&once), buf_view(&again)));
}
