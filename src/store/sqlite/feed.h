/* store/sqlite/feed.h: tasks as tables that a statement selects from: many rows by one statement.
 *
 * To begin and to end a statement costs as much as a short row does. So the rows of a batch are not
 * bound one after the other: the statement asks for them. The tables given_body, given_task and
 * given_done have the columns of those they are for, and rows only while feed_run() runs.
 *
 * Thread: the connection's.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_STORE_SQLITE_FEED_H
#define ERRAND_STORE_SQLITE_FEED_H

#include "base/array.h"
#include "store/sqlite/db.h"
#include "store/store.h"

#define ROW_REST_MAX MIB /* of what is packed: texts with limits that add up to far less */

struct task_names {
    int64_t type_id, queue_id;
};

/* A task on its way into a table. */
struct fed {
    const struct task *order, *now;
    struct task_names names;    /* of `task` and `body` */
    struct task_change *change; /* for stands(), which says `applied` */
    bool met;                   /* stands() was asked, so there is a row */
    bool took;                  /* a document, for this change */
};

struct fed_rows { /* with ARRAY_PUSH() */
    struct fed *at;
    size_t count, room;
};

/* For db_open() and db_close(). */
MUST_CHECK bool feed_open(struct db *db, struct err *err);
void feed_close(struct db *db);

/* Runs a statement that selects from one of the tables, which then have these rows. */
MUST_CHECK bool feed_run(struct db *db, enum sql_id id, struct fed *rows, size_t n,
                         struct err *err);

#endif
