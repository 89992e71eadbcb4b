/* store/postgres/plan.c: statements whose plans the server keeps. See plan.h.
 *
 * SPDX-License-Identifier: MIT */
#include "store/postgres/plan.h"

#include <assert.h>

#include "base/buf.h"
#include "base/log.h"
#include "store/postgres/pg.h"

#define DDL_MAX (128 * KIB)
#define TURN    "4703152905531031" /* the number of the lock, ours alone */

/* What every batch of an engine sends. The rest is rare enough to be planned each time. */
static const struct pg_plan frequent[] = {
    {.sql = PG_INSERT_ALIKE},
    {.sql = PG_INSERT_PLAIN},
    {.sql = PG_INSERT_FRESH},
    {.sql = PG_INSERT_TASKS},
    {.sql = PG_START_TASKS},
    {.sql = PG_COMPLETE_TASKS},
    {.sql = PG_SAVE_TASKS},
    {.sql = PG_SAVE_ON_DOCUMENTS},
    {.sql = PG_FINISH_TASKS},
    {.sql = PG_FINISH_ON_DOCUMENTS},
    {.sql = PG_COUNT_TASKS},
    {.sql = PG_PAY_RATES},
    {.sql = PG_LOAD_LIVE},
    {.sql = PG_LOAD_LIVE, .suffix = PG_LOCK_LIVE},
    {.sql = PG_LOAD_DONE, .suffix = PG_LOCK_DONE},
    {.sql = PG_FIND_TIES},
    {.sql = PG_FIND_KEYS},
    {.sql = PG_FIND_BODIES},
    {.sql = PG_COUNT_RUNNING},
    {.sql = PG_LOCK_ROOMS},
    {.sql = PG_EXPECT_OPEN},
    {.sql = PG_INSERT_ATTEMPTS},
    {.sql = PG_PROPOSE},
    {.sql = PG_PROPOSE_BEHIND},
    {.sql = PG_LOCK_DOCUMENTS},
    {.sql = PG_LOCK_PROPOSED},
    {.sql = PG_UNPARK_TASKS},
    {.sql = PG_SWEEP},
    {.sql = PG_FIND_FAMILIES},
    {.sql = PG_REMOVE_TASKS},
    {.sql = PG_INSERT_RECORDS},
    {.sql = PG_UPDATE_RECORDS},
    {.sql = PG_LIMITS, .plain = true},
    {.sql = PG_RAISE_MARK, .plain = true},
    {.sql = PG_STAND_FIRM, .plain = true},
};
static_assert(ARRAY_LEN(frequent) <= 64, "pg.prepared has a bit for each");

/* FNV-1a: the same on every node and in every run. */
static uint64_t hash_text(uint64_t hash, const char *text)
{
    for (; text != NULL && *text != '\0'; text++) {
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    }
    return hash;
}

static const char *name_of(struct arena *arena, const struct pg_plan *plan)
{
    uint64_t hash = hash_text(UINT64_C(0xcbf29ce484222325), pg_statements[plan->sql].text);
    return arena_printf(arena, "errand_%016llx", (unsigned long long)hash_text(hash, plan->suffix))
        .ptr;
}

/* ---- Making ---- */

static PGresult *ask(struct pg *pg, const char *text)
{
    PGresult *result = PQexec(pg->conn, text);
    ExecStatusType status = PQresultStatus(result);
    if (status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK) {
        return result;
    }
    log_debug("keep a plan: %s", PQerrorMessage(pg->conn));
    PQclear(result);
    return NULL;
}

/* "type, type, …" of so many object ids, as the server writes them. */
static const char *type_names(struct pg *pg, struct arena *arena, const Oid *types, int count,
                              const char *prefix)
{
    SCOPED(buf_fini) struct buf text = BUF_INIT(DDL_MAX);
    buf_printf(&text,
               "SELECT coalesce(string_agg('%s' || format_type(o, NULL), ', ' ORDER BY n),"
               " '') FROM unnest('{",
               prefix);
    for (int i = 0; i < count; i++) {
        buf_printf(&text, "%s%u", i == 0 ? "" : ",", types[i]);
    }
    buf_c(&text, "}'::oid[]) WITH ORDINALITY AS u (o, n)");
    PGresult *result = ask(pg, buf_c_text(&text));
    const char *names =
        result == NULL ? NULL : arena_printf(arena, "%s", PQgetvalue(result, 0, 0)).ptr;
    PQclear(result);
    return names;
}

/* Columns have no names of their own outside: o1, o2, … cannot be taken for those of a table. */
static const char *returns(struct pg *pg, struct arena *arena, const PGresult *described)
{
    int count = PQnfields(described);
    Oid *types = arena_array(arena, Oid, (size_t)count + 1);
    for (int i = 0; i < count; i++) {
        types[i] = PQftype(described, i);
    }
    if (count == 0) {
        return "void";
    }
    const char *names = type_names(pg, arena, types, count, "o' || n || ' ");
    return names == NULL ? NULL : arena_printf(arena, "TABLE (%s)", names).ptr;
}

static const char *takes(struct pg *pg, struct arena *arena, const PGresult *described)
{
    int count = PQnparams(described);
    Oid *types = arena_array(arena, Oid, (size_t)count + 1);
    for (int i = 0; i < count; i++) {
        types[i] = PQparamtype(described, i);
    }
    return type_names(pg, arena, types, count, "");
}

static struct str body_of(struct arena *arena, const struct pg_plan *plan)
{
    struct str text = str_of(pg_statements[plan->sql].text);
    while (text.len > 0 && strchr("; \n", text.ptr[text.len - 1]) != NULL) {
        text.len--; /* another text may stand behind it */
    }
    return arena_printf(arena, STR_FMT " %s", STR_ARG(text),
                        plan->suffix == NULL ? "" : plan->suffix);
}

static void create(struct pg *pg, struct arena *arena, const struct pg_plan *plan,
                   const PGresult *described)
{
    SCOPED(buf_fini) struct buf ddl = BUF_INIT(DDL_MAX);
    const char *in = takes(pg, arena, described), *out = returns(pg, arena, described);
    struct str body = body_of(arena, plan);
    if (in == NULL || out == NULL) {
        return;
    }
    buf_printf(&ddl,
               "CREATE OR REPLACE FUNCTION %s(%s) RETURNS %s LANGUAGE plpgsql AS $errand$\n"
               "BEGIN\n%s\n" STR_FMT "\n;\nEND $errand$",
               name_of(arena, plan), in, out, PQnfields(described) == 0 ? "" : "RETURN QUERY",
               STR_ARG(body));
    PQclear(ask(pg, buf_c_text(&ddl)));
}

static void make(struct pg *pg, struct arena *arena, const struct pg_plan *plan)
{
    struct str body = body_of(arena, plan);
    PGresult *prepared = PQprepare(pg->conn, "", body.ptr, 0, NULL);
    PGresult *described = PQdescribePrepared(pg->conn, "");
    if (PQresultStatus(prepared) == PGRES_COMMAND_OK &&
        PQresultStatus(described) == PGRES_COMMAND_OK) {
        create(pg, arena, plan, described);
    } else {
        log_debug("keep a plan: %s", PQerrorMessage(pg->conn));
    }
    PQclear(prepared);
    PQclear(described);
}

/* ---- Finding ---- */

/* "SELECT * FROM name($1::type, …)" of those that are there. */
static void find(struct pg *pg, struct arena *arena, struct pg_plan *plan)
{
    const char *query = arena_printf(arena,
                                     "SELECT coalesce(string_agg('$' || n || '::' || format_type(t,"
                                     " NULL), ', ' ORDER BY n), ''), p.oid FROM pg_proc p LEFT JOIN"
                                     " unnest(p.proargtypes::oid[]) WITH ORDINALITY AS u (t, n) ON"
                                     " true WHERE p.proname = '%s' AND p.pronamespace ="
                                     " current_schema()::regnamespace GROUP BY p.oid",
                                     name_of(arena, plan))
                            .ptr;
    PGresult *found = ask(pg, query);
    if (found != NULL && PQntuples(found) == 1) {
        plan->call = arena_printf(arena, "SELECT * FROM %s(%s)", name_of(arena, plan),
                                  PQgetvalue(found, 0, 0))
                         .ptr;
    }
    PQclear(found);
}

static void find_all(struct pg_plans *plans, struct pg *pg)
{
    for (size_t i = 0; i < plans->count; i++) {
        plans->at[i].call = NULL;
        if (!plans->at[i].plain) {
            find(pg, &plans->arena, &plans->at[i]);
        }
    }
}

static bool is_any_missing(const struct pg_plans *plans)
{
    for (size_t i = 0; i < plans->count; i++) {
        if (plans->at[i].call == NULL && !plans->at[i].plain) {
            return true;
        }
    }
    return false;
}

/* Nodes that start together take turns: two who make the same function at once would both fail. */
static void make_all(struct pg_plans *plans, struct pg *pg)
{
    PQclear(ask(pg, "BEGIN"));
    PQclear(ask(pg, "SELECT pg_advisory_xact_lock(" TURN ")"));
    for (size_t i = 0; i < plans->count; i++) {
        if (plans->at[i].plain) {
            continue;
        }
        find(pg, &plans->arena, &plans->at[i]);
        if (plans->at[i].call == NULL) {
            make(pg, &plans->arena, &plans->at[i]);
        }
    }
    PQclear(ask(pg, "COMMIT")); /* after any failure: a rollback */
}

void pg_plans_open(struct pg_plans *plans, struct pg *pg)
{
    plans->at = arena_array(&plans->arena, struct pg_plan, ARRAY_LEN(frequent));
    plans->count = ARRAY_LEN(frequent);
    memcpy(plans->at, frequent, sizeof frequent);
    if (!pg_up(pg) || PQexitPipelineMode(pg->conn) != 1) {
        return;
    }
    find_all(plans, pg);
    if (is_any_missing(plans)) {
        make_all(plans, pg);
        find_all(plans, pg);
    }
    if (PQenterPipelineMode(pg->conn) != 1) {
        pg_drop(pg);
    }
}

void pg_plans_tidy(const struct pg_plans *plans, struct pg *pg, struct str version)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    SCOPED(args_fini) struct args args;
    struct err err = ERR_INIT;
    struct str *names = arena_array(&arena, struct str, plans->count);
    for (size_t i = 0; i < plans->count; i++) {
        names[i] = str_of(name_of(&arena, &plans->at[i]));
    }
    args_init(&args, false);
    arg_texts(&args, names, plans->count);
    arg_text(&args, version);
    struct pg_call call = {.sql = PG_FIND_OTHER_PLANS, .args = &args};
    if (plans->count == 0 || !pg_run(pg, &call, 1, &err)) {
        log_debug("functions of other versions: %s", err.text);
        return;
    }
    struct str script = get_str(call.result, 0, 0);
    if (!str_absent(script) && !pg_script(pg, arena_c_text(&arena, script), &err)) {
        log_warn("functions of other versions are left in the schema: %s", err.text);
    }
    pg_calls_fini(&call, 1);
}

void pg_plans_fini(struct pg_plans *plans)
{
    arena_fini(&plans->arena);
}

static bool same_suffix(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

int pg_plan_number(enum pg_id sql, const char *suffix)
{
    for (size_t i = 0; i < ARRAY_LEN(frequent); i++) {
        if (frequent[i].sql == sql && same_suffix(frequent[i].suffix, suffix)) {
            return (int)i;
        }
    }
    return -1;
}

const char *pg_plan_call(const struct pg_plans *plans, enum pg_id sql, const char *suffix)
{
    int number = plans->count == 0 ? -1 : pg_plan_number(sql, suffix);
    return number < 0 ? NULL : plans->at[number].call;
}
