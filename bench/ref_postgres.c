/* bench/ref_postgres.c: what PostgreSQL itself can do with the work of a queue, durable at every
 * commit.
 *
 *     ref_postgres URL TASKS BATCH    prints creates and whole lives a second
 *
 * One connection, arrays with unnest, prepared statements, one transaction a step: insert a batch,
 * claim it in order with FOR UPDATE SKIP LOCKED and read what is to be done, complete it into a
 * history. No documents, no limits, no counters, no relations: a limit, not a queue.
 *
 * SPDX-License-Identifier: MIT */
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/def.h"
#include "base/rand.h"

#define PAYLOAD 200
#define ID_TEXT 36
#define ID_ROOM (ID_TEXT + 1) /* with the comma before it */

/* No statistics are there yet when the work begins: the plans are the best ones all the same. */
static const char tables[] =
    "SET client_min_messages = warning; SET enable_seqscan = off; SET enable_sort = off;"
    "SET enable_mergejoin = off; SET enable_hashjoin = off; SET plan_cache_mode = "
    "force_generic_plan;"
    "DROP SCHEMA IF EXISTS errand_ref CASCADE; CREATE SCHEMA errand_ref;"
    "CREATE TABLE errand_ref.body (id uuid PRIMARY KEY, type text, queue text, created_ms bigint,"
    " payload bytea);"
    "CREATE TABLE errand_ref.task (id uuid PRIMARY KEY, state smallint, priority smallint,"
    " attempt int, queued_ms bigint, worker text, token bigint, lease_ms bigint)"
    " WITH (fillfactor = 70);"
    "CREATE INDEX ON errand_ref.task (priority DESC, queued_ms, id) WHERE state = 2;"
    "CREATE TABLE errand_ref.done (id uuid PRIMARY KEY, state smallint, attempt int, worker text,"
    " finished_ms bigint, result bytea);";

static const struct {
    const char *name, *text;
} statements[] = {
    {"insert", "WITH n AS MATERIALIZED (SELECT unnest($1::uuid[]) AS id), b AS (INSERT INTO"
               " errand_ref.body SELECT id, 'bench', 'bench', 0, $2::bytea FROM n)"
               " INSERT INTO errand_ref.task SELECT id, 2, 2, 0, 0, NULL, 0, 0 FROM n"},
    {"claim", "WITH c AS MATERIALIZED (SELECT id FROM errand_ref.task WHERE state = 2"
              " ORDER BY priority DESC, queued_ms, id LIMIT $1::int FOR UPDATE SKIP LOCKED),"
              " u AS (UPDATE errand_ref.task t SET state = 3, attempt = t.attempt + 1,"
              " worker = 'w', token = 7, lease_ms = 1 FROM c WHERE t.id = c.id RETURNING t.id)"
              " SELECT b.id, b.type, b.queue, b.created_ms, b.payload"
              " FROM u JOIN errand_ref.body b ON b.id = u.id"},
    {"complete", "WITH d AS (DELETE FROM errand_ref.task WHERE id = ANY($1::uuid[]) AND state = 3"
                 " AND attempt = 1 RETURNING id, worker)"
                 " INSERT INTO errand_ref.done SELECT id, 5, 1, worker, 0, '{}' FROM d"},
};

static PGresult *must(PGconn *conn, PGresult *result)
{
    ExecStatusType status = PQresultStatus(result);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
        fprintf(stderr, "ref_postgres: %s", PQerrorMessage(conn));
        exit(1);
    }
    return result;
}

static PGresult *ask(PGconn *conn, const char *name, int count, const char *const *values)
{
    return must(conn, PQexecPrepared(conn, name, count, values, NULL, NULL, 0));
}

static void prepare_all(PGconn *conn)
{
    PQclear(must(conn, PQexec(conn, tables)));
    for (size_t i = 0; i < ARRAY_LEN(statements); i++) {
        PQclear(must(conn, PQprepare(conn, statements[i].name, statements[i].text, 0, NULL)));
    }
}

/* In the order of their creation, as UUIDv7 are. */
static char *id_array(char *out, size_t size, struct rand *rand, long first, int count)
{
    size_t at = 0;
    for (int i = 0; i < count; i++) {
        unsigned long long any = rand_u64(rand);
        at += (size_t)snprintf(out + at, size - at, "%c%012lx7%03llx8%015llx", i == 0 ? '{' : ',',
                               first, any & 0xfff, any >> 4);
    }
    snprintf(out + at, size - at, "}");
    return out;
}

static void insert_batch(PGconn *conn, char *room, size_t size, struct rand *rand, long first,
                         int count)
{
    static const char payload[] = "\\x";
    char bytes[2 * PAYLOAD + 3];
    memset(bytes, '7', sizeof bytes);
    memcpy(bytes, payload, 2);
    bytes[2 * PAYLOAD + 2] = '\0';
    const char *values[] = {id_array(room, size, rand, first, count), bytes};
    PQclear(ask(conn, "insert", 2, values));
}

static void live_batch(PGconn *conn, char *room, size_t size, int count)
{
    char number[16];
    size_t at = 0;
    snprintf(number, sizeof number, "%d", count);
    PGresult *claimed = ask(conn, "claim", 1, (const char *const[]){number});
    for (int i = 0; i < PQntuples(claimed); i++) {
        at += (size_t)snprintf(room + at, size - at, "%c%s", i == 0 ? '{' : ',',
                               PQgetvalue(claimed, i, 0));
    }
    snprintf(room + at, size - at, "}");
    PQclear(claimed);
    PQclear(ask(conn, "complete", 1, (const char *const[]){room}));
}

static double rate(long tasks, int64_t began_us)
{
    return (double)tasks * 1e6 / (double)(clock_real_mono_us() - began_us);
}

int main(int argc, char **argv)
{
    long tasks = argc > 2 ? atol(argv[2]) : 0;
    int batch = argc > 3 ? atoi(argv[3]) : 64;
    if (argc < 3 || tasks < 1 || batch < 1) {
        fprintf(stderr, "usage: ref_postgres URL TASKS [BATCH]\n");
        return 2;
    }
    PGconn *conn = PQconnectdb(argv[1]);
    if (PQstatus(conn) != CONNECTION_OK) {
        fprintf(stderr, "ref_postgres: %s", PQerrorMessage(conn));
        return 1;
    }
    struct rand rand;
    size_t size = (size_t)batch * ID_ROOM + 8;
    char *room = malloc(size);
    rand_init(&rand);
    prepare_all(conn);
    int64_t began_us = clock_real_mono_us();
    for (long done = 0; done < tasks; done += batch) {
        insert_batch(conn, room, size, &rand, done, batch);
    }
    printf("createPerSecond %.0f\n", rate(tasks, began_us));
    int64_t lived_us = clock_real_mono_us();
    for (long done = 0; done < tasks; done += batch) {
        live_batch(conn, room, size, batch);
    }
    printf("claimCompletePerSecond %.0f\n", rate(tasks, lived_us));
    printf("lifePerSecond %.0f\n", rate(tasks, began_us));
    PQclear(must(conn, PQexec(conn, "DROP SCHEMA errand_ref CASCADE")));
    PQfinish(conn);
    free(room);
    return 0;
}
