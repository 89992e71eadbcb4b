/* tests/conformance/store_sqlite.h: where the SQLite stores of the tests live: a folder each.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_TESTS_STORE_SQLITE_H
#define ERRAND_TESTS_STORE_SQLITE_H

#include "store/store.h"

struct place {
    char folder[32];
    char file[64];
};

/* Writes into the file behind the store's back. */
void place_run(struct place *place, const char *sql);
int64_t place_ask(struct place *place, const char *sql); /* the first column of the first row */

bool place_try_open(struct place *place, const struct store_options *like, struct store **out,
                    struct err *err);

#endif
