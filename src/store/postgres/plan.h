/* store/postgres/plan.h: statements whose plans the server keeps.
 *
 * A statement with fifty arrays takes PostgreSQL longer to read and to plan than to carry out. So
 * the frequent ones have a number, by which a session that is ours alone prepares them (pg.c).
 * A pooler in transaction mode keeps nothing of a session; for it they are wrapped into functions
 * in the schema: a function's plans are kept by whichever server process runs it.
 *
 * A function is named for the bytes of its statement, so nodes of different versions each have
 * their own. Where functions cannot be made (no right to), or are gone, the statements are sent as
 * they are.
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
        bool plain;       /* as quickly sent as it is: it needs no function */
    } * at;
    size_t count;
};

/* Makes what is missing. Never fails: what cannot be kept is not. */
void pg_plans_open(struct pg_plans *plans, struct pg *pg);
/* Functions of other versions go, if no node of another than `version` lives. */
void pg_plans_tidy(const struct pg_plans *plans, struct pg *pg, struct str version);
void pg_plans_fini(struct pg_plans *plans);

/* The text to send instead of the statement; NULL: itself. */
const char *pg_plan_call(const struct pg_plans *plans, enum pg_id sql, const char *suffix);

/* Below 64; -1: it is not frequent. */
int pg_plan_number(enum pg_id sql, const char *suffix);

#endif
