/* tests/conformance/store_postgres.h: where the PostgreSQL stores of the tests live: a schema each.
 *
 * The server is whoever runs the program's business (tests/system/postgres.py); ERRAND_POSTGRES
 * says where it is.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_TESTS_STORE_POSTGRES_H
#define ERRAND_TESTS_STORE_POSTGRES_H

#include "store/store.h"

struct place {
    char schema[40];
    char url[512];
};

/* Runs a script there behind the store's back; returns the first column of the first row as a
 * number, or 0. */
int64_t place_run(struct place *place, const char *sql);

void place_socket(char *out, size_t size); /* the path of the server's own socket */
void place_count_finding(void *arg, const char *invariant, const char *sentence); /* size_t */

bool place_try_open(struct place *place, const struct store_options *like, struct store **out,
                    struct err *err);

#endif
