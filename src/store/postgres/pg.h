/* store/postgres/pg.h: one connection to PostgreSQL, which comes back by itself.
 *
 * Statements go out in pipelines: several, one answer each, one trip. Nothing is set for the
 * session, so a pooler in transaction mode may stand between. The frequent ones (plan.h) are
 * prepared, but only where the session is known to be ours alone: there the server process that
 * answers is the one that we were connected with, which no pooler can say.
 *
 * A connection that is lost fails the calls under way with ERR_UNAVAILABLE; the next pg_ready()
 * makes a new one, after a pause that grows and is never the same for two nodes.
 *
 * Thread: whoever owns the struct.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_STORE_POSTGRES_PG_H
#define ERRAND_STORE_POSTGRES_PG_H

#include <stdatomic.h>

#include "base/err.h"
#include "base/rand.h"
#include "postgres_sql.h"
#include "store/postgres/args.h"
#include "store/postgres/plan.h"

#define PG_READY_MS 1000 /* a caller waits so long for a new connection */

/* Where the server is, and how to talk to it. Passwords stay in here. */
struct pg_address {
    const char **keys, **values; /* owned; ended by NULL */
    struct pg_plans plans;       /* what the server there has kept */
    _Atomic int64_t met_us;      /* when somebody last got through to it */
};
MUST_CHECK bool pg_address_parse(struct str url, struct pg_address *out, struct err *err);
void pg_address_fini(struct pg_address *address);

struct pg {
    struct pg_address *address;
    PGconn *conn;        /* NULL: none */
    bool connecting;     /* not yet usable */
    int64_t give_up_us;  /* connecting: until then */
    int64_t failed_us;   /* the last attempt */
    int64_t retry_at_us; /* none: not before then, unless another got through meanwhile */
    int failures;        /* in a row */
    bool denied;         /* the last attempt to connect: by who we are, or no such database */
    bool useless;        /* this server cannot serve: shutting down, or a standby by now */
    enum { PG_UNKNOWN, PG_OURS, PG_SHARED } session;
    bool never_ours;   /* a statement that we had prepared was not there */
    bool no_functions; /* a function that keeps a plan was not there (plan.h) */
    uint64_t prepared; /* in this session: bits, by pg_plan_number() */
    struct rand rand;
};

void pg_init(struct pg *pg, struct pg_address *address);
void pg_fini(struct pg *pg);

/* Connected, or ERR_UNAVAILABLE after at most `wait_ms`. */
MUST_CHECK bool pg_ready(struct pg *pg, int64_t wait_ms, struct err *err);
void pg_drop(struct pg *pg); /* its transaction, if any, is rolled back there */
bool pg_up(const struct pg *pg);

struct pg_call {
    enum pg_id sql;
    const char *suffix; /* more text behind the statement, or NULL */
    struct args *args;  /* NULL: none */
    PGresult *result;   /* out, owned by the call */
    bool prepares;      /* pg.c: it goes out behind its own preparation */
};
void pg_calls_fini(struct pg_call *calls, size_t n);

/* Sends all calls at once and takes their answers. The first that fails is the answer, and what
 * came behind it did not happen. On failure there are no results. */
MUST_CHECK bool pg_run(struct pg *pg, struct pg_call *calls, size_t n, struct err *err);

/* A script of several statements, without parameters. */
MUST_CHECK bool pg_script(struct pg *pg, const char *script, struct err *err);
/* One question of any length in time, its answer as text. The caller owns *out. */
MUST_CHECK bool pg_ask(struct pg *pg, const char *name, const char *text, PGresult **out,
                       struct err *err);

#endif
