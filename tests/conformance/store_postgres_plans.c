/* tests/conformance/store_postgres_plans.c: the plans of frequent statements when nobody has looked
 * at the tables yet: none may read more than it was asked for.
 *
 * SPDX-License-Identifier: MIT */
#include <libpq-fe.h>
#include <stdio.h>

#include "base/buf.h"
#include "postgres_sql.h"
#include "store_postgres.h"
#include "store_suite.h"

/* Live tasks, as they stand when autovacuum has not come yet. */
static const char fill[] =
    "ALTER TABLE task SET (autovacuum_enabled = false);"
    "ALTER TABLE body SET (autovacuum_enabled = false);"
    "INSERT INTO body (id, type, queue, created_ms, expires_ms, backoff_base_ms, backoff_max_ms, "
    "backoff_factor, backoff_jitter, payload_raw, container, continues, runs_anyway) SELECT "
    "('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, 't' || n % 3, 'q' || n % 7, "
    "0, "
    "0, 1, 1, 1, 0, false, false, false, false FROM generate_series(1, 20000) AS n;"
    "INSERT INTO task (id, type, queue, container, expires_ms, state, priority, attempt, retries, "
    "max_retries, timeout_ms, scheduled_ms, queued_ms, started_ms, updated_ms, cancel_requested, "
    "token, outcome, lease_ms, lease_until_ms, attempt_ended_ms, log_bytes, unmet) SELECT id, "
    "type, "
    "queue, false, 0, 2, 2, 0, 0, 3, 0, 0, 1000, 0, 0, "
    "false, 0, 0, 0, 0, 0, 0, 0 FROM body";

static void run(PGconn *conn, const char *sql)
{
    PGresult *result = PQexec(conn, sql);
    ExecStatusType status = PQresultStatus(result);
    if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) {
        print_error("%s: %s\n", sql, PQerrorMessage(conn));
        CHECK(false);
    }
    PQclear(result);
}

/* The plan of a statement with any arguments, as text; what it reads is the same for all. */
static void explain(PGconn *conn, enum pg_id sql, bool walks, struct buf *plan)
{
    SCOPED(buf_fini) struct buf text = BUF_INIT(64 * KIB);
    run(conn, "BEGIN");
    run(conn, pg_statements[PG_LIMITS].text);
    if (walks) {
        run(conn, pg_statements[PG_WALK_ALONG].text);
    }
    buf_printf(&text, "PREPARE one AS %s", pg_statements[sql].text);
    run(conn, buf_c_text(&text));
    buf_clear(&text);
    buf_c(&text, "EXPLAIN EXECUTE one");
    for (int i = 0; i < pg_statements[sql].parameters; i++) {
        buf_printf(&text, "%sNULL%s", i == 0 ? "(" : ", ",
                   i + 1 == pg_statements[sql].parameters ? ")" : "");
    }
    PGresult *result = PQexec(conn, buf_c_text(&text));
    CHECK_EQ(PQresultStatus(result), PGRES_TUPLES_OK);
    for (int i = 0; i < PQntuples(result); i++) {
        buf_printf(plan, "%s\n", PQgetvalue(result, i, 0));
    }
    PQclear(result);
    run(conn, "DEALLOCATE one");
    run(conn, "ROLLBACK");
}

static void check_plan(PGconn *conn, enum pg_id sql, bool walks)
{
    SCOPED(buf_fini) struct buf plan = BUF_INIT(64 * KIB);
    explain(conn, sql, walks, &plan);
    const char *text = buf_c_text(&plan);
    bool reads_all =
        strstr(text, "Seq Scan on task") != NULL || strstr(text, "Seq Scan on body") != NULL;
    bool by_ids = strstr(text, "Index Cond: (id = ANY") != NULL;
    bool sorts = strstr(text, "Sort") != NULL || strstr(text, "Bitmap") != NULL;
    if (reads_all || (walks ? sorts : !by_ids)) {
        print_error("%s:\n%s", pg_statements[sql].name, text);
        CHECK(false);
    }
}

TEST(statements_of_every_batch_read_the_rows_they_name_and_no_others)
{
    static const enum pg_id frequent[] = {
        PG_START_TASKS, PG_COMPLETE_TASKS,    PG_SAVE_TASKS,    PG_FINISH_TASKS,
        PG_LOAD_LIVE,   PG_SAVE_ON_DOCUMENTS, PG_LOCK_PROPOSED, PG_FINISH_ON_DOCUMENTS};
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    PGconn *conn = PQconnectdb(((struct place *)b.place)->url);
    run(conn, fill);
    for (size_t i = 0; i < ARRAY_LEN(frequent); i++) {
        check_plan(conn, frequent[i], false);
    }
    PQfinish(conn);
}

TEST(the_oldest_is_found_along_the_index_and_nothing_is_sorted)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    PGconn *conn = PQconnectdb(((struct place *)b.place)->url);
    run(conn, fill);
    check_plan(conn, PG_FIND_OLDEST, true);
    check_plan(conn, PG_FIND_OLDEST_IN, true);
    PQfinish(conn);
}

/* A history of the same tasks. */
static const char end_all[] =
    "ALTER TABLE done SET (autovacuum_enabled = false);"
    "INSERT INTO done (id, state, priority, attempt, retries, max_retries, timeout_ms, "
    "scheduled_ms, queued_ms, started_ms, updated_ms, cancel_requested, token, outcome, lease_ms, "
    "lease_until_ms, attempt_ended_ms, log_bytes, unmet, finished_ms, cancelled_ms) SELECT id, 5, "
    "2, 1, 0, 3, 0, 0, 1000, 1000, 1000, false, 1, 1, 1, 0, 1000, 0, 0, 1000, 0 FROM task;"
    "DELETE FROM task";

TEST(retention_looks_at_each_of_its_tasks_once_and_by_itself)
{
    static const enum pg_id sweeps[] = {PG_SWEEP, PG_FIND_FAMILIES, PG_REMOVE_TASKS};
    static const char *const never[] = {"Seq Scan on body", "Seq Scan on done", "Gather",
                                        "Join Filter", "Hash Cond"};
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    PGconn *conn = PQconnectdb(((struct place *)b.place)->url);
    run(conn, fill);
    run(conn, end_all);
    for (size_t i = 0; i < ARRAY_LEN(sweeps); i++) {
        SCOPED(buf_fini) struct buf plan = BUF_INIT(64 * KIB);
        explain(conn, sweeps[i], false, &plan);
        for (size_t n = 0; n < ARRAY_LEN(never); n++) {
            if (strstr(buf_c_text(&plan), never[n]) != NULL) {
                print_error("%s:\n%s", pg_statements[sweeps[i]].name, buf_c_text(&plan));
                CHECK(false);
            }
        }
    }
    PQfinish(conn);
}
