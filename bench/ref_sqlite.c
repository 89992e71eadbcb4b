/* bench/ref_sqlite.c: what SQLite itself can do with the work of a queue, durable at every commit.
 *
 *     ref_sqlite DIR TASKS        prints tasks a second for each kind of work and layout
 *
 * Two layouts: one table, as one would write it first, and split tables (bodies written once, a
 * small hot row, a history), as store/sqlite has them. No JSON, no HTTP, no locks, no counters: the
 * loops below are a limit, not a queue.
 *
 * SPDX-License-Identifier: MIT */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/def.h"

#define BATCH      100 /* tasks in a transaction, of inserts and of claims with completes */
#define LIFE_BATCH 64
#define PAYLOAD    200

static const char settings[] = "PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL;"
                               "PRAGMA synchronous = FULL; PRAGMA cache_size = -4000;"
                               "PRAGMA wal_autocheckpoint = 1000; PRAGMA temp_store = MEMORY;"
                               "PRAGMA secure_delete = OFF;";

/* Each layout: its tables, and the statements of a life, in order, up to two a step. */
enum step { INSERT, CLAIM, COMPLETE, STEPS };

struct layout {
    const char *name, *tables;
    const char *statements[STEPS][2];
};

static const struct layout layouts[] = {
    {"Naive",
     "CREATE TABLE task (k INTEGER PRIMARY KEY, type TEXT, queue TEXT, document TEXT,"
     " payload BLOB, state INTEGER, priority INTEGER, attempt INTEGER, worker TEXT, token INTEGER,"
     " lease_ms INTEGER, created_ms INTEGER, queued_ms INTEGER, finished_ms INTEGER, result BLOB);",
     {{"INSERT INTO task VALUES (?1, 'bench', 'bench', NULL, ?2, 2, 2, 0, NULL, 0, 0, ?3, ?3, 0,"
       " NULL)"},
      {"UPDATE task SET state = 3, attempt = 1, worker = 'w', token = ?3, lease_ms = ?3"
       " WHERE k = ?1 AND state = 2 AND attempt = 0"},
      {"UPDATE task SET state = 5, finished_ms = ?3, result = '{}', lease_ms = 0"
       " WHERE k = ?1 AND state = 3 AND attempt = 1"}}},
    {"Split",
     "CREATE TABLE body (k INTEGER PRIMARY KEY, type INTEGER, queue INTEGER, document TEXT,"
     " created_ms INTEGER, payload BLOB);"
     "CREATE TABLE task (k INTEGER PRIMARY KEY, state INTEGER, priority INTEGER, attempt INTEGER,"
     " queued_ms INTEGER, worker TEXT, token INTEGER, lease_ms INTEGER);"
     "CREATE TABLE done (k INTEGER PRIMARY KEY, state INTEGER, priority INTEGER, attempt INTEGER,"
     " queued_ms INTEGER, worker TEXT, finished_ms INTEGER, result BLOB);",
     {{"INSERT INTO body VALUES (?1, 1, 1, NULL, ?3, ?2)",
       "INSERT INTO task VALUES (?1, 2, 2, 0, ?3, NULL, 0, 0)"},
      {"UPDATE task SET state = 3, attempt = 1, worker = 'w', token = ?3, lease_ms = ?3"
       " WHERE k = ?1 AND state = 2 AND attempt = 0"},
      {"DELETE FROM task WHERE k = ?1 AND state = 3 AND attempt = 1",
       "INSERT INTO done VALUES (?1, 5, 2, 1, ?3, 'w', ?3, '{}')"}}},
};

struct db {
    sqlite3 *handle;
    sqlite3_stmt *statements[STEPS][2];
    char path[4096];
};

static void must(struct db *db, int rc)
{
    if (rc != SQLITE_OK && rc != SQLITE_DONE && rc != SQLITE_ROW) {
        fprintf(stderr, "ref_sqlite: %s\n", sqlite3_errmsg(db->handle));
        exit(1);
    }
}

static void run(struct db *db, const char *sql)
{
    must(db, sqlite3_exec(db->handle, sql, NULL, NULL, NULL));
}

static void open_db(struct db *db, const char *dir, const struct layout *layout)
{
    snprintf(db->path, sizeof db->path, "%s/ref-sqlite-%d.db", dir, (int)getpid());
    must(db, sqlite3_open(db->path, &db->handle));
    run(db, settings);
    run(db, layout->tables);
    for (int step = 0; step < STEPS; step++) {
        for (int i = 0; i < 2 && layout->statements[step][i] != NULL; i++) {
            must(db, sqlite3_prepare_v3(db->handle, layout->statements[step][i], -1,
                                        SQLITE_PREPARE_PERSISTENT, &db->statements[step][i], NULL));
        }
    }
}

static void close_db(struct db *db)
{
    static const char *const endings[] = {"", "-wal", "-shm"};
    char path[sizeof db->path + 8];
    for (int step = 0; step < STEPS; step++) {
        sqlite3_finalize(db->statements[step][0]);
        sqlite3_finalize(db->statements[step][1]);
    }
    sqlite3_close(db->handle);
    for (size_t i = 0; i < ARRAY_LEN(endings); i++) {
        snprintf(path, sizeof path, "%s%s", db->path, endings[i]);
        unlink(path);
    }
    *db = (struct db){0};
}

/* One step of one task's life. */
static void take(struct db *db, enum step step, long k)
{
    static const char payload[PAYLOAD];
    for (int i = 0; i < 2 && db->statements[step][i] != NULL; i++) {
        sqlite3_stmt *statement = db->statements[step][i];
        sqlite3_bind_int64(statement, 1, k);
        if (sqlite3_bind_parameter_count(statement) >= 3) {
            sqlite3_bind_int64(statement, 3, INT64_C(1800000000000) + k);
        }
        if (step == INSERT && i == 0) {
            sqlite3_bind_blob(statement, 2, payload, PAYLOAD, SQLITE_STATIC);
        }
        must(db, sqlite3_step(statement));
        must(db, sqlite3_reset(statement));
    }
}

static void take_range(struct db *db, enum step step, long from, long to)
{
    for (long k = from; k < to; k++) {
        take(db, step, k);
    }
}

static double insert_all(struct db *db, long tasks)
{
    int64_t start = clock_real_mono_us();
    for (long from = 0; from < tasks; from += BATCH) {
        run(db, "BEGIN IMMEDIATE");
        take_range(db, INSERT, from, MIN(from + BATCH, tasks));
        run(db, "COMMIT");
    }
    return (double)tasks / (double)(clock_real_mono_us() - start) * 1e6;
}

/* A worker claims a hundred, then completes them: two commits. */
static double claim_all(struct db *db, long tasks)
{
    int64_t start = clock_real_mono_us();
    for (long from = 0; from < tasks; from += BATCH) {
        for (enum step step = CLAIM; step <= COMPLETE; step++) {
            run(db, "BEGIN IMMEDIATE");
            take_range(db, step, from, MIN(from + BATCH, tasks));
            run(db, "COMMIT");
        }
    }
    return (double)tasks / (double)(clock_real_mono_us() - start) * 1e6;
}

/* Producers and workers together: each commit creates 64, claims the 64 before and completes those
 * before them. */
static double live_all(struct db *db, long tasks)
{
    int64_t start = clock_real_mono_us();
    for (long from = 0; from < tasks + 2 * LIFE_BATCH; from += LIFE_BATCH) {
        run(db, "BEGIN IMMEDIATE");
        for (enum step step = INSERT; step < STEPS; step++) {
            long first = from - (long)step * LIFE_BATCH;
            take_range(db, step, MAX(first, 0L), MIN(first + LIFE_BATCH, tasks));
        }
        run(db, "COMMIT");
    }
    return (double)tasks / (double)(clock_real_mono_us() - start) * 1e6;
}

int main(int argc, char **argv)
{
    struct db db = {0};
    if (argc != 3) {
        fprintf(stderr, "Usage: ref_sqlite DIR TASKS\n");
        return 2;
    }
    long tasks = atol(argv[2]);
    for (size_t i = 0; i < ARRAY_LEN(layouts); i++) {
        const struct layout *layout = &layouts[i];
        open_db(&db, argv[1], layout);
        double insert = insert_all(&db, tasks), claim = claim_all(&db, tasks);
        close_db(&db);
        open_db(&db, argv[1], layout);
        double life = live_all(&db, tasks);
        close_db(&db);
        printf("%s\"insert%s\": %.0f, \"claim%s\": %.0f, \"life%s\": %.0f", i == 0 ? "{" : ", ",
               layout->name, insert, layout->name, claim, layout->name, life);
    }
    printf("}\n");
    return 0;
}
