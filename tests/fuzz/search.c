/* tests/fuzz/search.c: lets libFuzzer look for a text that breaks a target. See fuzz.h.
 *
 * SPDX-License-Identifier: MIT */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len); /* the name libFuzzer knows */

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    fuzz_one((struct str){(const char *)bytes, len});
    return 0;
}
