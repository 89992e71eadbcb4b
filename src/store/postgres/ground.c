/* store/postgres/ground.c: whether the database is still the one that this store knew.
 *
 * Every transaction begins with limits, which also says which server answers, so that the
 * question costs no trip of its own. Another server than before may be the same one, restarted, or
 * a standby in its place; its timeline tells. A standby may lack what was committed last: this
 * store's mark (004_marks.sql) says how much of its own is gone.
 *
 * A schema may also have been migrated so far that an errand of this version must not write there
 * any more.
 *
 * Thread: engine, but for pg_ground().
 *
 * SPDX-License-Identifier: MIT */
#include "base/log.h"
#include "store/postgres/fleet.h"
#include "store/postgres/postgres.h"

enum { COLUMN_SERVER = 9, COLUMN_OLDEST_READER }; /* of limits */

int64_t pg_ground_server(const PGresult *limits)
{
    return get_int(limits, 0, COLUMN_SERVER);
}

/* Fatal: no later transaction will be admitted either. */
bool pg_ground_admits(const PGresult *limits, struct err *err)
{
    int64_t oldest = get_int(limits, 0, COLUMN_OLDEST_READER);
    return oldest <= PG_MIGRATIONS ||
           err_set(err, ERR_FATAL,
                   "its schema was migrated and needs an errand that knows version %lld; this one "
                   "knows only up to %d: use a newer errand",
                   (long long)oldest, PG_MIGRATIONS);
}

/* A server that refuses to tell has ended the transaction with that. */
static bool read_line(struct pg_store *store, uint32_t *out)
{
    struct pg_call call = {.sql = PG_READ_LINE};
    if (!pg_run(&store->pg, &call, 1, NULL)) {
        return false;
    }
    *out = (uint32_t)get_int(call.result, 0, 0);
    pg_calls_fini(&call, 1);
    return true;
}

/* The number of this store's last transaction, by the rows; 0: they do not know the store. */
static bool read_mark(struct pg_store *store, uint64_t *out, struct err *err)
{
    SCOPED(args_fini) struct args args;
    args_init(&args, false);
    arg_int(&args, store->node);
    struct pg_call call = {.sql = PG_READ_OUTCOME, .args = &args};
    if (!pg_run(&store->pg, &call, 1, err)) {
        return false;
    }
    *out = get_count(call.result) == 0 ? 0 : (uint64_t)get_int(call.result, 0, 0);
    pg_calls_fini(&call, 1);
    return true;
}

static bool begin_history(struct pg_store *store, int64_t server, uint32_t line, uint64_t mark,
                          struct err *err)
{
    uint64_t lost = store->mark > mark ? store->mark - mark : 0;
    if (lost > 0) {
        log_error("PostgreSQL has failed over and lost the last %llu commits of this node, which "
                  "were acknowledged: what the rows say counts",
                  (unsigned long long)lost);
    } else {
        log_warn("PostgreSQL has failed over; no commit of this node is missing");
    }
    store->lost_commits += lost;
    store->mark = mark;
    store->server = server;
    store->line = line;
    store->history++;
    return err_set(err, ERR_UNAVAILABLE, "PostgreSQL has failed over: try again");
}

/* Another server than the last time. Where it does not tell its timeline, only the mark can. */
static bool meet_server(struct pg_store *store, int64_t server, struct err *err)
{
    uint32_t line = 0;
    uint64_t mark = 0;
    bool first = store->server == 0;
    if (!store->mute && !read_line(store, &line)) {
        store->mute = pg_up(&store->pg); /* else the connection was lost */
        return first || err_set(err, ERR_UNAVAILABLE, "PostgreSQL has restarted: try again");
    }
    if (!first && !read_mark(store, &mark, err)) {
        return false;
    }
    if (!first && (line != store->line || (mark > 0 && mark < store->mark))) {
        return begin_history(store, server, line, mark, err);
    }
    store->server = server;
    store->line = line;
    return true;
}

bool pg_ground_check(struct pg_store *store, const PGresult *limits, struct err *err)
{
    int64_t server = pg_ground_server(limits);
    return pg_ground_admits(limits, err) &&
           (server == store->server || meet_server(store, server, err));
}

struct store_ground pg_ground(const struct store *base)
{
    const struct pg_store *store = (const struct pg_store *)base;
    return (struct store_ground){
        .history = store->history, .server = store->server, .line = store->line};
}
