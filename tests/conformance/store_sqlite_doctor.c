/* tests/conformance/store_sqlite_doctor.c: the doctor finds each kind of damage, and says which.
 *
 * Every test writes one wrong thing into a healthy file behind the store's back.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "store/record.h"
#include "store_sqlite.h"
#include "store_suite.h"

struct findings {
    char last[16];
    char sentence[160];
    size_t count;
};

static void note(void *arg, const char *invariant, const char *sentence)
{
    struct findings *findings = arg;
    snprintf(findings->last, sizeof findings->last, "%s", invariant);
    snprintf(findings->sentence, sizeof findings->sentence, "%s", sentence);
    findings->count++;
}

static void fill_record(struct bench *b)
{
    struct record record = {.kind = RECORD_SCHEDULE,
                            .id = {1, 2},
                            .parent = {3, 4},
                            .key = STR("k"),
                            .body = STR("{}")};
    struct record_save save = {.record = &record};
    struct tx *tx = NULL;
    struct err err = ERR_INIT;
    CHECK_OK(store_begin(b->store, &tx, &err));
    CHECK_OK(tx_records_save(tx, &save, 1, &err));
    CHECK_OK(tx_commit(&tx, &err));
}

/* A store with one of everything: a running task with a document, a failed one with attempts, a
 * queued one with a key, labels, a team, a parent and a dependency; a record. */
static void fill(struct bench *b)
{
    struct task running = bench_task(b), failed = bench_task(b), parent = bench_task(b);
    struct task queued = bench_task(b);
    running.document = STR("d");
    bench_insert(b, &running);
    bench_start(b, &running);
    CHECK(bench_save(b, &running, &running, false, "line\n"));
    failed.max_retries = 1;
    bench_insert(b, &failed);
    bench_start(b, &failed);
    bench_fail(b, &failed, "x");
    struct task was = failed;
    struct err err = ERR_INIT;
    CHECK_OK(task_due(&failed, b->now_ms, &err));
    CHECK(bench_save(b, &was, &failed, false, NULL));
    bench_start(b, &failed);
    bench_fail(b, &failed, "y");
    queued.key = STR("k");
    queued.tags[0] = STR("red");
    queued.tags_count = 1;
    parent.container = true;
    bench_insert(b, &parent);
    queued.parent = parent.id;
    queued.depends = &failed.id;
    queued.depends_count = 1;
    queued.team = (struct task_id){1, 2};
    bench_insert(b, &queued);
    fill_record(b);
}

/* What comes last in a packed column is what counts (store/pack.h): its number, then its value. */
#define WRITE(bytes) "rest = CAST(rest || x'" bytes "' AS BLOB)"
#define THE_PARENT   "k IN (SELECT parent_k FROM child)"
#define KEY_77       "000000000000004D0000000000000000"

/* Damages a healthy store with `sql`; the doctor must name `invariant`. */
static void finds(const char *sql, const char *invariant)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    struct err err = ERR_INIT;
    struct findings findings = {0};
    fill(&b);
    check_healthy(&b);
    char damage[512];
    snprintf(damage, sizeof damage, "PRAGMA ignore_check_constraints = ON; %s", sql);
    place_run(b.place, damage);
    CHECK_OK(store_check(b.store, note, &findings, &err));

    if (findings.count == 0 || strcmp(findings.last, invariant) != 0) {
        print_error("after <%s>: %zu findings, the last %s: %s\n", sql, findings.count,
                    findings.last, findings.sentence);
        CHECK(false);
    }
}

TEST(the_doctor_finds_a_task_that_stands_nowhere)
{
    finds("DELETE FROM task WHERE state = 2", "rows");
}

TEST(the_doctor_finds_a_row_without_its_task)
{
    finds("INSERT INTO attempt VALUES (99, 1, 2, 'w', 1, 2, NULL, NULL, NULL)", "rows");
}

TEST(the_doctor_finds_a_hot_row_that_differs_from_its_order)
{
    finds("UPDATE task SET " WRITE("010A") " WHERE state = 2" /* expires_ms = 5 */, "rows");
}

TEST(the_doctor_finds_a_task_without_a_name)
{
    finds("UPDATE body SET type_id = 77; UPDATE task SET type_id = 77", "rows");
}

TEST(the_doctor_finds_an_end_without_a_time)
{
    finds("UPDATE done SET finished_ms = 0", "I1");
}

TEST(the_doctor_finds_too_many_retries)
{
    finds("UPDATE done SET " WRITE("1912") /* retries */, "I3");
}

TEST(the_doctor_finds_a_running_task_without_a_lease)
{
    finds("UPDATE task SET " WRITE("2000") " WHERE state = 3" /* lease_until_ms = 0 */, "I4");
}

TEST(the_doctor_finds_a_lease_without_a_running_task)
{
    finds("UPDATE task SET " WRITE("200E") " WHERE state = 2" /* lease_until_ms = 7 */, "I4");
}

TEST(the_doctor_finds_a_running_task_without_its_document)
{
    finds("DELETE FROM doc_lease", "I2");
}

TEST(the_doctor_finds_a_document_held_by_nobody)
{
    finds("INSERT INTO doc_lease SELECT 'other', max(k), 0 FROM task WHERE state = 2", "I5");
}

TEST(the_doctor_finds_a_wrong_counter)
{
    finds("UPDATE ended SET completed = completed + 1", "I7");
}

TEST(the_doctor_finds_a_key_that_is_lost)
{
    finds("DELETE FROM key", "keys");
}

TEST(the_doctor_finds_a_missing_attempt)
{
    finds("DELETE FROM attempt", "attempts");
}

TEST(the_doctor_finds_a_log_of_an_attempt_that_never_was)
{
    finds("UPDATE log SET number = 5", "attempts");
}

TEST(the_doctor_finds_a_relation_missing_in_the_index)
{
    finds("DELETE FROM facet", "index");
}

TEST(the_doctor_finds_a_label_missing_in_the_index)
{
    finds("UPDATE meta SET indexed_k = 9223372036854775807", "index");
}

TEST(the_doctor_finds_what_the_schema_forbids)
{
    finds("UPDATE task SET priority = 9 WHERE state = 2", "file");
}

TEST(the_doctor_finds_a_container_that_was_claimed)
{
    finds("UPDATE task SET attempt = 1 WHERE " THE_PARENT, "I4");
}

TEST(the_doctor_finds_a_member_that_runs_without_its_batch)
{
    finds("UPDATE task SET " WRITE(
              "11" KEY_77) " WHERE state = 3;"
                           "UPDATE body SET " WRITE(
                               "11" KEY_77) " WHERE k = (SELECT k FROM task WHERE state = 3)",
          "I2");
}

TEST(the_doctor_finds_a_child_that_its_parent_does_not_know)
{
    finds("DELETE FROM child", "relations");
}

TEST(the_doctor_finds_a_parent_that_knows_a_child_of_none)
{
    finds("INSERT INTO child SELECT parent_k, 77 FROM child", "relations");
}

TEST(the_doctor_finds_an_orphan)
{
    finds(
        "UPDATE body SET " WRITE("0E" KEY_77) " WHERE k IN (SELECT k FROM child);"
                                              "UPDATE task SET " WRITE(
                                                  "0E" KEY_77) " WHERE k IN (SELECT k FROM child);"
                                                               "UPDATE child SET parent_k = 77",
        "relations");
}

TEST(the_doctor_finds_children_of_a_task_that_is_no_container)
{
    finds("UPDATE body SET rest = x'' WHERE " THE_PARENT
          ";UPDATE task SET rest = x'' WHERE " THE_PARENT,
          "relations");
}

TEST(the_doctor_finds_a_dependency_on_a_task_that_is_missing)
{
    finds("UPDATE dependency SET on_k = 77", "relations");
}

TEST(the_doctor_says_so_where_a_packed_column_is_damaged)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    struct err err = ERR_INIT;
    struct findings findings = {0};
    fill(&b);
    place_run(b.place, "UPDATE body SET rest = x'FE'");
    CHECK(!store_check(b.store, note, &findings, &err));
    CHECK(strstr(err.text, "damaged") != NULL);
}

TEST(the_doctor_finds_a_record_that_was_never_written)
{
    finds("UPDATE record SET version = 0", "records");
    finds("UPDATE record SET id = x'00'", "records");
    finds("UPDATE record SET due_ms = -1", "records");
}
