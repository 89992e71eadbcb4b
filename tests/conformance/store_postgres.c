/* tests/conformance/store_postgres.c: the store suite on PostgreSQL.
 *
 * SPDX-License-Identifier: MIT */
#include "store_postgres.h"

#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "store_suite.h"

static const char *server(void)
{
    const char *url = getenv("ERRAND_POSTGRES");
    if (url == NULL) {
        print_error("ERRAND_POSTGRES is not set: run this program by tests/system/postgres.py\n");
        exit(2);
    }
    return url;
}

int64_t place_run(struct place *place, const char *sql)
{
    PGconn *conn = PQconnectdb(place->url);
    PGresult *result = PQexec(conn, sql);
    ExecStatusType status = PQresultStatus(result);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
        print_error("%s: %s\n", sql, PQerrorMessage(conn));
        CHECK(false);
    }
    int64_t first = PQntuples(result) > 0 ? atoll(PQgetvalue(result, 0, 0)) : 0;
    PQclear(result);
    PQfinish(conn);
    return first;
}

struct place *place_new(void)
{
    struct place *place = mem_new(struct place);
    struct rand rand;
    char sql[96];
    rand_init(&rand);
    snprintf(place->schema, sizeof place->schema, "s%016llx", (unsigned long long)rand_u64(&rand));
    snprintf(place->url, sizeof place->url, "%s&options=-csearch_path%%3D%s", server(),
             place->schema);
    snprintf(sql, sizeof sql, "CREATE SCHEMA %s", place->schema);
    place_run(place, sql);
    return place;
}

void place_socket(char *out, size_t size)
{
    PGconn *conn = PQconnectdb(server());
    CHECK_EQ(PQstatus(conn), CONNECTION_OK);
    snprintf(out, size, "%s/.s.PGSQL.%s", PQhost(conn), PQport(conn));
    PQfinish(conn);
}

void place_count_finding(void *arg, const char *invariant, const char *sentence)
{
    size_t *findings = arg;
    (void)invariant;
    (void)sentence;
    ++*findings;
}

bool place_try_open(struct place *place, const struct store_options *like, struct store **out,
                    struct err *err)
{
    struct store_options options = *like;
    options.url = str_of(place->url);
    return store_open(&options, out, err);
}

struct store *place_open(struct place *place)
{
    struct err err = ERR_INIT;
    struct store *store = NULL;
    CHECK_OK(place_try_open(place, &(struct store_options){0}, &store, &err));
    return store;
}

void place_free(struct place *place)
{
    char sql[96];
    snprintf(sql, sizeof sql, "SET client_min_messages = error; DROP SCHEMA %s CASCADE",
             place->schema);
    place_run(place, sql);
    mem_free(place);
}
