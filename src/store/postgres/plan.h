/* store/postgres/plan.h: statements whose plans the server keeps.
 *
 * A statement with fifty arrays takes PostgreSQL longer to read and to plan than to carry out, and
 * a prepared one would be state of the session, which a pooler in transaction mode does not keep.
 * So the frequent ones are wrapped into functions in the schema: a function's plans are kept by
 * whichever server process runs it, and calling it takes no planning to speak of.
 *
 * A function is named for the bytes of its statement, so nodes of different versions each have
 * their own. Where functions cannot be made (no right to), the statements are sent as they are.
 *
 * Thread: made once, when the store is opened; read by all.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_STORE_POSTGRES_PLAN_H
#define ERRAND_STORE_POSTGRES_PLAN_H

#include "base/arena.h"
#include "postgres_sql.h"

struct pg;

#define PG_LOCK_LIVE "FOR UPDATE OF t" /* whoever loads to change locks in the order of ids */
#define PG_LOCK_DONE "FOR UPDATE OF d"

struct pg_plans {
    struct arena arena;
    struct pg_plan {
        enum pg_id sql;
        const char *suffix;
        const char *call; /* NULL: sent as it is */
    } * at;
    size_t count;
};

/* Makes what is missing. Never fails: what cannot be kept is not. */
void pg_plans_open(struct pg_plans *plans, struct pg *pg);
void pg_plans_fini(struct pg_plans *plans);

/* The text to send instead of the statement; NULL: itself. */
const char *pg_plan_call(const struct pg_plans *plans, enum pg_id sql, const char *suffix);

#endif
