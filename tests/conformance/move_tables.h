/* tests/conformance/move_tables.h: the tables that a move accounts for, to compare a schema with.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_TESTS_MOVE_TABLES_H
#define ERRAND_TESTS_MOVE_TABLES_H

#include "store/move.h"

/* "'meta', 'body', …"; returns how many they are. */
static inline int64_t move_tables_list(const struct move_table *tables, struct buf *out)
{
    int64_t n = 0;
    for (; tables[n].name != NULL; n++) {
        buf_printf(out, "%s'%s'", n == 0 ? "" : ", ", tables[n].name);
    }
    return n;
}

#endif
