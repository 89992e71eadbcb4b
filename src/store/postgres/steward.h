/* store/postgres/steward.h: the fleet's own connection, seen from inside this folder.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_STORE_POSTGRES_STEWARD_H
#define ERRAND_STORE_POSTGRES_STEWARD_H

#include "store/fleet.h"
#include "store/postgres/postgres.h"

struct steward {
    struct pg_store *store; /* only its number and address: it is another thread's */
    struct pg pg;
    int64_t server; /* who answered last; 0: nobody yet */
};

/* One question. */
bool steward_read(struct steward *steward, struct pg_call *call, struct err *err);
/* Calls that write, in one transaction and one trip. */
bool steward_write(struct steward *steward, struct pg_call *calls, size_t n, struct err *err);

#endif
