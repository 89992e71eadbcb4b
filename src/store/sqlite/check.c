/* store/sqlite/check.c: the doctor's look at a store, beside a running server if need be.
 *
 * The invariants are SQL (check.sql), each a question whose answers are violations; the index of
 * facets is compared here, because only C knows its hash. Everything is seen in one snapshot.
 *
 * Thread: the store's own.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "store/sqlite/facet.h"
#include "store/sqlite/sqlite.h"

struct doctor {
    struct db *db;
    store_finding_fn *each;
    void *arg;
    bool beside; /* perhaps of a running server, which may hold more than the file explains */
};

static bool ask(const struct doctor *doctor, const struct sql_text *check, struct err *err)
{
    sqlite3_stmt *s = NULL;
    if (sqlite3_prepare_v2(doctor->db->handle, check->text, -1, &s, NULL) != SQLITE_OK) {
        return db_fail(doctor->db, check->name, err);
    }
    int beside = sqlite3_bind_parameter_index(s, ":beside");
    if (beside > 0) {
        bind_int(s, beside, doctor->beside);
    }
    int rc = sqlite3_step(s);
    for (; rc == SQLITE_ROW; rc = sqlite3_step(s)) {
        doctor->each(doctor->arg, (const char *)sqlite3_column_text(s, 0),
                     (const char *)sqlite3_column_text(s, 1));
    }
    bool ok = rc == SQLITE_DONE || db_fail(doctor->db, check->name, err);
    sqlite3_finalize(s);
    return ok;
}

/* One row "ok", or a row for each thing that is wrong. */
static int note_page(void *arg, int n, char **texts, char **names)
{
    const struct doctor *doctor = arg;
    (void)names;
    if (n > 0 && texts[0] != NULL && strcmp(texts[0], "ok") != 0) {
        doctor->each(doctor->arg, "file", texts[0]);
    }
    return 0;
}

static bool check_file(const struct doctor *doctor, struct err *err)
{
    sqlite3 *handle = doctor->db->handle;
    int rc = sqlite3_exec(handle, sql_script_check, note_page, (void *)doctor, NULL);
    if ((rc & 0xff) == SQLITE_CORRUPT || (rc & 0xff) == SQLITE_NOTADB) {
        doctor->each(doctor->arg, "file", sqlite3_errmsg(handle));
        return true;
    }
    return rc == SQLITE_OK || db_fail(doctor->db, "check the file", err);
}

static bool has_facets(const struct doctor *doctor, const uint64_t *h, size_t n, int64_t k,
                       bool *all, struct err *err)
{
    sqlite3_stmt *s = db_use(doctor->db, SQL_HAS_FACET);
    for (size_t i = 0; i < n && *all; i++) {
        bind_int(s, 1, (int64_t)h[i]);
        bind_int(s, 2, k);
        if (!db_row(doctor->db, SQL_HAS_FACET, all, err)) {
            return false;
        }
        db_done(doctor->db, SQL_HAS_FACET);
    }
    return true;
}

static bool check_facets_of(const struct doctor *doctor, const struct task *task, int64_t indexed_k,
                            struct err *err)
{
    uint64_t relations[FACET_RELATIONS_MAX], labels[FACET_LABELS_MAX];
    int64_t k = (int64_t)task->id.hi;
    size_t late = k <= indexed_k ? facet_labels(task, labels) : 0;
    bool all = true;
    if (!has_facets(doctor, relations, facet_relations(task, relations), k, &all, err) ||
        !has_facets(doctor, labels, late, k, &all, err)) {
        return false;
    }
    if (!all) {
        char sentence[96];
        snprintf(sentence, sizeof sentence, "the task with key %lld is missing in the index",
                 (long long)k);
        doctor->each(doctor->arg, "index", sentence);
    }
    return true;
}

static bool check_facets(const struct doctor *doctor, struct err *err)
{
    struct db *db = doctor->db;
    sqlite3_stmt *s = db_use(db, SQL_LIST_FACETS);
    int64_t indexed_k = 0;
    if (!facet_indexed(db, &indexed_k, err)) {
        return false;
    }
    bool row = true;
    bind_int(s, 1, INT64_MIN);
    bind_int(s, 2, INT64_MAX);
    while (db_row(db, SQL_LIST_FACETS, &row, err) && row) {
        struct task task;
        if (!read_rest(s, 1, &task, err)) {
            db_done(db, SQL_LIST_FACETS);
            return false;
        }
        task.id.hi = (uint64_t)column_int(s, 0);
        if (!check_facets_of(doctor, &task, indexed_k, err)) {
            db_done(db, SQL_LIST_FACETS);
            return false;
        }
    }
    return !row;
}

static bool check_all(const struct doctor *doctor, struct err *err)
{
    if (!check_file(doctor, err)) {
        return false;
    }
    for (size_t i = 0; i < SQL_CHECKS; i++) {
        if (!ask(doctor, &sql_checks[i], err)) {
            return false;
        }
    }
    return check_facets(doctor, err);
}

bool sqlite_check(struct store *base, store_finding_fn *each, void *arg, struct err *err)
{
    struct doctor doctor = {&SQLITE_STORE(base)->db, each, arg, SQLITE_STORE(base)->lock < 0};
    if (!db_run(doctor.db, SQL_BEGIN_READ, err)) {
        return false;
    }
    bool ok = check_all(&doctor, err);
    ok = db_run(doctor.db, SQL_ROLLBACK, ok ? err : NULL) && ok;
    return ok || err_wrap(err, "check the store");
}
