/* bench/ref_postgres.c: what PostgreSQL itself can do with the work of a queue, durable at every
 * commit.
 *
 *     ref_postgres URL TASKS BATCH    prints creates and whole lives a second
 *
 * One connection, arrays with unnest, one transaction a step: insert a batch, claim it with FOR
 * UPDATE SKIP LOCKED, complete it into a history. No documents, no counters, no relations: a
 * limit, not a queue.
 *
 * SPDX-License-Identifier: MIT */
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/def.h"

#define PAYLOAD 200

static const char tables[] =
    "SET client_min_messages = warning; DROP SCHEMA IF EXISTS errand_ref CASCADE;"
    "CREATE SCHEMA errand_ref;"
    "CREATE TABLE errand_ref.body (id bigint PRIMARY KEY, type text, queue text, created_ms bigint,"
    " payload bytea);"
    "CREATE TABLE errand_ref.task (id bigint PRIMARY KEY, state smallint, priority smallint,"
    " attempt int, queued_ms bigint, worker text, token bigint, lease_ms bigint)"
    " WITH (fillfactor = 70);"
    "CREATE INDEX ON errand_ref.task (priority DESC, queued_ms, id) WHERE state = 2;"
    "CREATE TABLE errand_ref.done (id bigint PRIMARY KEY, state smallint, attempt int,"
    " finished_ms bigint, result bytea);";

static const char insert[] =
    "WITH n AS (SELECT unnest($1::bigint[]) AS id), b AS (INSERT INTO errand_ref.body"
    " SELECT id, 'bench', 'bench', 0, $2::bytea FROM n)"
    " INSERT INTO errand_ref.task SELECT id, 2, 2, 0, 0, NULL, 0, 0 FROM n";

static const char claim[] =
    "WITH c AS (SELECT id FROM errand_ref.task WHERE state = 2 ORDER BY priority DESC, queued_ms, "
    "id"
    " LIMIT $1::int FOR UPDATE SKIP LOCKED)"
    " UPDATE errand_ref.task t SET state = 3, attempt = 1, worker = 'w', token = 7, lease_ms = 1"
    " FROM c WHERE t.id = c.id RETURNING t.id";

static const char complete[] =
    "WITH d AS (DELETE FROM errand_ref.task WHERE id = ANY($1::bigint[]) AND state = 3"
    " AND attempt = 1 RETURNING id)"
    " INSERT INTO errand_ref.done SELECT id, 5, 1, 0, '{}' FROM d";

static PGresult *must(PGconn *conn, PGresult *result)
{
    ExecStatusType status = PQresultStatus(result);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
        fprintf(stderr, "ref_postgres: %s", PQerrorMessage(conn));
        exit(1);
    }
    return result;
}

static PGresult *ask(PGconn *conn, const char *sql, int count, const char *const *values)
{
    return must(conn, PQexecParams(conn, sql, count, NULL, values, NULL, NULL, 0));
}

static char *id_array(char *out, size_t size, long first, int count)
{
    size_t at = 0;
    for (int i = 0; i < count; i++) {
        at += (size_t)snprintf(out + at, size - at, "%c%ld", i == 0 ? '{' : ',', first + i);
    }
    snprintf(out + at, size - at, "}");
    return out;
}

static void insert_batch(PGconn *conn, char *room, size_t size, long first, int count)
{
    static const char payload[] = "\\x";
    char bytes[2 * PAYLOAD + 3];
    memset(bytes, '7', sizeof bytes);
    memcpy(bytes, payload, 2);
    bytes[2 * PAYLOAD + 2] = '\0';
    const char *values[] = {id_array(room, size, first, count), bytes};
    PQclear(ask(conn, insert, 2, values));
}

static void live_batch(PGconn *conn, char *room, size_t size, int count)
{
    char number[16];
    size_t at = 0;
    snprintf(number, sizeof number, "%d", count);
    PGresult *claimed = ask(conn, claim, 1, (const char *const[]){number});
    for (int i = 0; i < PQntuples(claimed); i++) {
        at += (size_t)snprintf(room + at, size - at, "%c%s", i == 0 ? '{' : ',',
                               PQgetvalue(claimed, i, 0));
    }
    snprintf(room + at, size - at, "}");
    PQclear(claimed);
    PQclear(ask(conn, complete, 1, (const char *const[]){room}));
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
    size_t size = (size_t)batch * 24 + 8;
    char *room = malloc(size);
    PQclear(must(conn, PQexec(conn, tables)));
    int64_t began_us = clock_real_mono_us();
    for (long done = 0; done < tasks; done += batch) {
        insert_batch(conn, room, size, done, batch);
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
