/* store/postgres/migrate.c: brings the schema up to date, forwards only, while other nodes run.
 *
 * All missing migrations run in one transaction, under a lock that ends with it: a second node that
 * starts at the same moment waits and finds them done. An older errand goes on beside a newer
 * schema as long as that says it may (meta.oldest_reader).
 *
 * Thread: whoever opens the store.
 *
 * SPDX-License-Identifier: MIT */
#include "store/postgres/postgres.h"

#define OLDEST_READER                                                                              \
    7 /* the fewest migrations that an errand must know to work with this schema */

struct schema {
    int64_t version; /* 0: nothing there yet */
    int64_t oldest_reader;
};

static bool run_one(struct pg *pg, struct pg_call *call, struct err *err)
{
    return pg_run(pg, call, 1, err);
}

static bool read_schema(struct pg *pg, struct schema *out, struct err *err)
{
    struct pg_call find = {.sql = PG_FIND_META}, read = {.sql = PG_READ_META};
    *out = (struct schema){0};
    if (!run_one(pg, &find, err)) {
        return false;
    }
    bool there = get_bool(find.result, 0, 0);
    pg_calls_fini(&find, 1);
    if (!there || !run_one(pg, &read, err)) {
        return !there;
    }
    if (get_count(read.result) == 1) {
        out->version = get_int(read.result, 0, 0);
        out->oldest_reader = get_int(read.result, 0, 1);
    }
    pg_calls_fini(&read, 1);
    return true;
}

static bool set_version(struct pg *pg, struct err *err)
{
    SCOPED(args_fini) struct args args;
    args_init(&args, false);
    arg_small(&args, PG_MIGRATIONS);
    arg_small(&args, OLDEST_READER);
    struct pg_call call = {.sql = PG_SET_VERSION, .args = &args};
    if (!run_one(pg, &call, err)) {
        return false;
    }
    pg_calls_fini(&call, 1);
    return true;
}

static bool lock_schema(struct pg *pg, struct err *err)
{
    struct pg_call calls[] = {{.sql = PG_BEGIN}, {.sql = PG_LOCK_SCHEMA}};
    if (!pg_run(pg, calls, ARRAY_LEN(calls), err)) {
        return false;
    }
    pg_calls_fini(calls, ARRAY_LEN(calls));
    return true;
}

static bool may_read(const struct schema *schema, struct err *err)
{
    if (schema->oldest_reader <= PG_MIGRATIONS) {
        return true;
    }
    return err_set(err, ERR_INVALID,
                   "its schema is version %lld and needs an errand that knows version %lld; this "
                   "one knows only up to %d: use a newer errand",
                   (long long)schema->version, (long long)schema->oldest_reader, PG_MIGRATIONS);
}

/* Another node may have done it, and more, while this one waited for the lock. */
static bool upgrade(struct pg *pg, struct err *err)
{
    struct schema schema;
    struct pg_call commit = {.sql = PG_COMMIT};
    if (!lock_schema(pg, err) || !read_schema(pg, &schema, err) || !may_read(&schema, err)) {
        return false;
    }
    for (int64_t i = schema.version; i < PG_MIGRATIONS; i++) {
        if (!pg_script(pg, pg_migrations[i].text, err)) {
            return err_wrap(err, "migrate to %s", pg_migrations[i].name);
        }
    }
    if ((schema.version < PG_MIGRATIONS && !set_version(pg, err)) || !run_one(pg, &commit, err)) {
        return false;
    }
    pg_calls_fini(&commit, 1);
    return true;
}

bool pg_migrate(struct pg *pg, const struct store_options *options, struct err *err)
{
    struct schema schema;
    if (!read_schema(pg, &schema, err) || !may_read(&schema, err)) {
        return false;
    }
    if (schema.version >= PG_MIGRATIONS) {
        return true;
    }
    bool makes = options->makes_new && schema.version == 0;
    if ((options->no_migrate && !makes) || options->read_only) {
        return err_set(err, ERR_INVALID,
                       "its schema is version %lld and this errand needs %d: run `errand migrate`",
                       (long long)schema.version, PG_MIGRATIONS);
    }
    if (!upgrade(pg, err)) {
        pg_read_undo(pg);
        return false;
    }
    return true;
}
