/* tests/conformance/store_postgres_upgrade.c: a database of an older errand: what becomes of its
 * tasks, of its schema, and of the functions that other versions left.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "postgres_sql.h"
#include "store_postgres.h"
#include "store_postgres_pair.h"

/* ---- Its tasks ---- */

#define OLD_VERSION 5
#define LIVE                                                                                       \
    "INSERT INTO task (id, type, queue, document, container, expires_ms, state, priority, "        \
    "attempt, retries, max_retries, timeout_ms, scheduled_ms, queued_ms, started_ms, updated_ms, " \
    "cancel_requested, token, outcome, worker, lease_ms, lease_until_ms, attempt_ended_ms, "       \
    "log_bytes, unmet) VALUES "

/* Live ones in every state that time or others can change, one that ended, a document that is held,
 * a key, a tag, and one that waits for another. */
static const char *const old_rows[] = {
    "INSERT INTO body (id, type, queue, created_ms, expires_ms, backoff_base_ms, backoff_max_ms, "
    "backoff_factor, backoff_jitter, payload_raw, container, continues, runs_anyway, document, "
    "key, tags, payload) SELECT ('00000000-0000-7000-8000-00000000000' || n)::uuid, 't', 'q', n, "
    "CASE n WHEN 1 THEN 99 ELSE 0 END, 1000, 60000, 2, 0, false, false, false, false, "
    "CASE n WHEN 3 THEN 'd'::bytea END, CASE n WHEN 5 THEN 'k'::bytea END, "
    "CASE n WHEN 5 THEN '\\x0300726564'::bytea END, '{}' FROM generate_series(1, 6) AS n",
    "INSERT INTO tag VALUES ('red', '00000000-0000-7000-8000-000000000005')",
    LIVE "('00000000-0000-7000-8000-000000000001', 't', 'q', NULL, false, 99, 2, 2, 0, 0, 3, 0, 0, "
         "50, 0, 50, false, 0, 0, NULL, 0, 0, 0, 0, 0)",
    LIVE "('00000000-0000-7000-8000-000000000002', 't', 'q', NULL, false, 0, 0, 2, 0, 0, 3, 0, 77, "
         "0, 0, 50, false, 0, 0, NULL, 0, 0, 0, 0, 0)",
    LIVE "('00000000-0000-7000-8000-000000000003', 't', 'q', 'd', false, 0, 3, 2, 1, 0, 3, 10, 0, "
         "50, 60, 60, false, 9, 0, 'w', 30, 90, 0, 0, 0)",
    LIVE "('00000000-0000-7000-8000-000000000004', 't', 'q', NULL, false, 0, 4, 2, 1, 1, 3, 0, 88, "
         "50, 60, 60, false, 9, 2, 'w', 30, 0, 70, 0, 0)",
    LIVE "('00000000-0000-7000-8000-000000000006', 't', 'q', NULL, false, 0, 1, 2, 0, 0, 3, 0, 0, "
         "0, 0, 50, false, 0, 0, NULL, 0, 0, 0, 0, 1)",
    "INSERT INTO attempt (id, number, outcome, started_ms, finished_ms) VALUES "
    "('00000000-0000-7000-8000-000000000004', 1, 2, 60, 70)",
    "INSERT INTO dependency VALUES ('00000000-0000-7000-8000-000000000006', "
    "'00000000-0000-7000-8000-000000000001')",
    "INSERT INTO doc_lease VALUES ('d', '00000000-0000-7000-8000-000000000003', false, false, 1, "
    "'1', 60)",
    "INSERT INTO done (id, state, priority, attempt, retries, max_retries, timeout_ms, "
    "scheduled_ms, queued_ms, started_ms, updated_ms, cancel_requested, token, outcome, worker, "
    "lease_ms, lease_until_ms, attempt_ended_ms, log_bytes, unmet, finished_ms, cancelled_ms, "
    "result) VALUES ('00000000-0000-7000-8000-000000000005', 5, 2, 1, 0, 3, 0, 0, 50, 60, 70, "
    "false, 9, 1, 'w', 30, 0, 70, 0, 0, 70, 0, '7')",
    "INSERT INTO counter VALUES (0, 'q', 1, 1, 1, 1, 1, 1, 0, 0, 0)",
    "INSERT INTO meta (version, oldest_reader) VALUES (5, 1)",
};

static struct task_id old_id(uint64_t n)
{
    return (struct task_id){UINT64_C(0x7000), UINT64_C(0x8000000000000000) | n};
}

static struct place *place_of_version(int version)
{
    struct place *place = place_new();
    for (int i = 0; i < version; i++) {
        place_run(place, pg_migrations[i].text);
    }
    return place;
}

static struct place *old_place(void)
{
    struct place *place = place_of_version(OLD_VERSION);
    for (size_t i = 0; i < ARRAY_LEN(old_rows); i++) {
        place_run(place, old_rows[i]);
    }
    return place;
}

static void check_old_tasks(struct bench *b)
{
    static const enum task_state states[] = {TASK_QUEUED,   TASK_SCHEDULED, TASK_RUNNING,
                                             TASK_RETRYING, TASK_COMPLETED, TASK_WAITING};
    struct task got;
    for (size_t i = 0; i < ARRAY_LEN(states); i++) {
        CHECK(bench_load(b, old_id(i + 1), &got));
        CHECK_EQ(got.state, states[i]);
        CHECK_STR(got.payload, "{}");
        CHECK_EQ(bench_count(b, "q", states[i]), 1);
    }
    CHECK_STR(bench_detail(b, old_id(5)).task.result, "7");
    CHECK_EQ(bench_list(b, &(struct task_filter){.tag = STR("red"), .limit = 9}).count, 1);
    CHECK_EQ(bench_detail(b, old_id(6)).dependencies_count, 1);
    CHECK(bench_load(b, old_id(3), &got));
    CHECK_STR(got.document, "d");
}

TEST(a_database_of_an_older_errand_is_migrated_with_all_that_is_in_it)
{
    struct bench b = {.place = old_place(), .now_ms = INT64_C(1800000000000)};
    struct err err = ERR_INIT;
    struct steward *steward = NULL;
    struct steward_due due[9];
    size_t count = 0;
    struct task_id known;
    bench_reopen(&b);
    check_old_tasks(&b);
    CHECK_OK(steward_open(b.store, &steward, &err));
    CHECK_OK(steward_due(steward, 1000, 0, TASK_ID_NONE, 9, due, &count, &err));
    CHECK_EQ(count, 4);
    CHECK(id_eq(due[0].id, old_id(3)) && due[0].due_ms == 70); /* its time-out */
    CHECK(id_eq(due[1].id, old_id(2)) && due[1].due_ms == 77);
    CHECK(id_eq(due[2].id, old_id(4)) && due[2].due_ms == 88);
    CHECK(id_eq(due[3].id, old_id(1)) && due[3].due_ms == 99); /* it expires */
    steward_close(steward);
    struct tx *tx = pair_begin(b.store);
    CHECK_OK(tx_find_keys(tx, &STR("k"), 1, &known, &err));
    CHECK(id_eq(known, old_id(5)));
    tx_close(&tx);
    check_healthy(&b);
    bench_fini(&b);
}

/* What a node of the older version would write after the migration, if it had begun before. */
TEST(an_older_errand_cannot_store_an_attempt_that_nobody_would_miss)
{
    struct bench b = {.place = old_place(), .now_ms = INT64_C(1800000000000)};
    bench_reopen(&b);
    CHECK_EQ(place_run(b.place, "DO $$ BEGIN UPDATE task SET state = 3, attempt = 1, token = 1, "
                                "worker = 'w', lease_until_ms = 9, due_ms = NULL WHERE state = 2; "
                                "EXCEPTION WHEN check_violation THEN NULL; END $$"),
             0);
    CHECK_EQ(bench_count(&b, "q", TASK_RUNNING), 1);
    CHECK_EQ(place_run(b.place, "SELECT count(*) FROM task WHERE state = 3"), 1);
    bench_fini(&b);
}

/* ---- Its schema ---- */

/* All that belongs to the schema but its rows, as one number. */
#define CATALOG                                                                                    \
    "SELECT hashtextextended(string_agg(what, ';' ORDER BY what), 0) FROM (SELECT "                \
    "replace(what, current_schema() || '.', '') AS what FROM (SELECT "                             \
    "concat(attrelid::regclass, '.', attname, ' ', format_type(atttypid, atttypmod), "             \
    "attnotnull, pg_get_expr(adbin, adrelid)) AS what FROM pg_attribute JOIN pg_class c ON "       \
    "c.oid = attrelid LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum WHERE "        \
    "relnamespace = current_schema()::regnamespace AND attnum > 0 AND NOT attisdropped UNION "     \
    "ALL SELECT pg_get_indexdef(indexrelid) FROM pg_index JOIN pg_class c ON c.oid = indrelid"     \
    " WHERE relnamespace = current_schema()::regnamespace UNION ALL SELECT concat(conname, ' "     \
    "', conrelid::regclass, ' ', pg_get_constraintdef(oid)) FROM pg_constraint WHERE "             \
    "connamespace = current_schema()::regnamespace UNION ALL SELECT concat(proname, "              \
    "pg_get_function_arguments(oid), prosrc) FROM pg_proc WHERE pronamespace = "                   \
    "current_schema()::regnamespace UNION ALL SELECT concat(relname, relkind, reloptions) "        \
    "FROM pg_class WHERE relnamespace = current_schema()::regnamespace) raw) x"
#define LEAVE_FUNCTION                                                                             \
    "CREATE FUNCTION errand_00000000000000%02d() RETURNS void LANGUAGE plpgsql AS 'BEGIN END'"
#define COUNT_LEFT                                                                                 \
    "SELECT count(*) FROM pg_proc WHERE pronamespace = current_schema()::regnamespace AND "        \
    "proname LIKE 'errand_00000000000000%'"

static void leave_function(struct place *place, int number)
{
    char sql[200];
    snprintf(sql, sizeof sql, LEAVE_FUNCTION, number);
    place_run(place, sql);
}

static void tidy(struct place *place)
{
    struct err err = ERR_INIT;
    struct store *store = NULL;
    CHECK_OK(
        place_try_open(place, &(struct store_options){.tidies_for = STR("1.0")}, &store, &err));
    store_close(store);
}

TEST(a_database_that_was_migrated_from_any_schema_is_what_a_new_one_is)
{
    struct place *fresh = place_new();
    tidy(fresh);
    int64_t catalog = place_run(fresh, CATALOG);
    for (int version = 1; version < PG_MIGRATIONS; version++) {
        struct place *old = place_of_version(version);
        char sql[100];
        snprintf(sql, sizeof sql, "INSERT INTO meta (version, oldest_reader) VALUES (%d, 1)",
                 version);
        place_run(old, sql);
        leave_function(old, version);
        CHECK(place_run(old, CATALOG) != catalog);
        tidy(old);
        CHECK_EQ(place_run(old, CATALOG), catalog);
        place_free(old);
    }
    place_free(fresh);
}

TEST(functions_of_another_version_stay_while_a_node_of_it_lives)
{
    struct place *place = place_new();
    tidy(place);
    leave_function(place, 7);
    place_run(place, "INSERT INTO node VALUES ('n', '{\"version\":\"0.9\"}', extract(epoch FROM "
                     "clock_timestamp()) * 1000, 1)");
    tidy(place);
    CHECK_EQ(place_run(place, COUNT_LEFT), 1);
    place_run(place, "UPDATE node SET body = '{\"version\":\"1.0\"}'");
    tidy(place);
    CHECK_EQ(place_run(place, COUNT_LEFT), 0);
    leave_function(place, 8);
    store_close(place_open(place)); /* whoever only serves leaves them alone */
    CHECK_EQ(place_run(place, COUNT_LEFT), 1);
    place_free(place);
}

static bool insert_one(struct store *store, const struct task *task, struct err *err)
{
    SCOPED(tx_close) struct tx *tx = NULL;
    *err = ERR_INIT;
    return store_begin(store, &tx, err) && tx_insert(tx, &task, 1, err) && tx_commit(&tx, err);
}

TEST(a_node_behind_a_pooler_goes_on_when_its_functions_are_gone)
{
    struct err err = ERR_INIT;
    struct place *place = place_new(); /* a way to the server; the pooler knows another schema */
    struct bench b = {.now_ms = INT64_C(1800000000000)};
    rand_init(&b.rand);
    b.ids.rand = &b.rand;
    CHECK_OK(store_open(&(struct store_options){.url = str_of(getenv("ERRAND_PGBOUNCER"))},
                        &b.store, &err));
    struct task first = bench_task(&b), second = bench_task(&b);
    CHECK(insert_one(b.store, &first, &err));
    place_run(place,
              "DO $$ DECLARE f text; BEGIN FOR f IN SELECT oid::regprocedure FROM pg_proc WHERE "
              "pronamespace = 'public'::regnamespace AND proname ~ '^errand_[0-9a-f]{16}$' LOOP "
              "EXECUTE 'DROP FUNCTION ' || f; END LOOP; END $$");
    CHECK(!insert_one(b.store, &second, &err));
    CHECK_EQ(err.kind, ERR_CONFLICT); /* nothing happened; it is begun again */
    CHECK(insert_one(b.store, &second, &err));
    CHECK(bench_try_start(&b, &second));
    store_close(b.store);
    arena_fini(&b.arena);
    place_free(place);
}
