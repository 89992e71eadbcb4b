/* tests/fuzz/fuzz.h: what every fuzz target is made of.
 *
 * A target is one file fuzz_NAME.c that defines fuzz_one(), a folder corpus/NAME with some texts to
 * begin from, and one line in meson.build. Every test run replays the corpora; -Dfuzz=true (clang)
 * also builds the searching programs:
 *
 *     CC=clang meson setup build-fuzz -Dfuzz=true -Db_sanitize=address,undefined -Db_lundef=false
 *     ninja -C build-fuzz && build-fuzz/tests/fuzz/fuzz_json NEW-FOLDER tests/fuzz/corpus/json
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_TESTS_FUZZ_H
#define ERRAND_TESTS_FUZZ_H

#include <stdio.h>
#include <stdlib.h>

#include "base/str.h"

/* Reads any text. Returning is success; a claim that does not hold ends the process. */
void fuzz_one(struct str text);

#define FUZZ_CLAIM(truth)                                                                          \
    do {                                                                                           \
        if (!(truth)) {                                                                            \
            fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #truth);             \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

#endif
