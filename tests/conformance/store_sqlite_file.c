/* tests/conformance/store_sqlite_file.c: what only a store in a file can do wrong: its lock, its
 * schema, a full disk.
 *
 * SPDX-License-Identifier: MIT */
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "move_tables.h"
#include "sqlite_sql.h"
#include "store_sqlite.h"
#include "store_suite.h"

void place_run(struct place *place, const char *sql)
{
    sqlite3 *db = NULL;
    char *why = NULL;
    CHECK_EQ(sqlite3_open(place->file, &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, &why) != SQLITE_OK) {
        print_error("%s: %s\n", sql, why);
        CHECK(false);
    }
    sqlite3_close(db);
}

int64_t place_ask(struct place *place, const char *sql)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *s = NULL;
    CHECK_EQ(sqlite3_open_v2(place->file, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    CHECK_EQ(sqlite3_prepare_v2(db, sql, -1, &s, NULL), SQLITE_OK);
    CHECK_EQ(sqlite3_step(s), SQLITE_ROW);
    int64_t value = sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    sqlite3_close(db);
    return value;
}

/* Whoever adds a table says in store/sqlite/move.c what becomes of it in a move. */
TEST(a_move_accounts_for_every_table)
{
    SCOPED(bench_fini) struct bench b;
    SCOPED(buf_fini) struct buf names = BUF_INIT(4 * KIB);
    SCOPED(buf_fini) struct buf sql = BUF_INIT(8 * KIB);
    bench_init(&b);
    int64_t known = move_tables_list(sqlite_move_tables, &names);
    buf_printf(&sql,
               "SELECT count(*) + 1000 * count(CASE WHEN name NOT IN (%s) THEN 1 END) FROM "
               "sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%%'",
               buf_c_text(&names));
    CHECK_EQ(place_ask(b.place, buf_c_text(&sql)), known);
}

TEST(a_second_server_on_the_same_folder_is_refused)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    struct err err = ERR_INIT;
    struct store *second = NULL;
    CHECK(!place_try_open(b.place, &(struct store_options){0}, &second, &err));
    CHECK(strstr(err.text, b.place->folder) != NULL);
    CHECK(strstr(err.text, "another errand is using the folder") != NULL);
}

static void count_finding(void *arg, const char *invariant, const char *sentence)
{
    size_t *findings = arg;
    (void)invariant;
    (void)sentence;
    ++*findings;
}

TEST(a_doctor_may_look_beside_a_server)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    struct err err = ERR_INIT;
    struct store *doctor = NULL, *server = b.store;
    struct tx *tx = NULL;
    struct task task = bench_task(&b);
    bench_insert(&b, &task);
    CHECK_OK(place_try_open(b.place, &(struct store_options){.read_only = true}, &doctor, &err));
    b.store = doctor;
    check_healthy(&b);
    CHECK_EQ(store_epoch(doctor), store_epoch(server));
    CHECK(!store_begin(doctor, &tx, &err));
    b.store = server;
    store_close(doctor);
    bench_start(&b, &task); /* and the server goes on */
}

static bool is_healthy(struct store *store)
{
    struct err err = ERR_INIT;
    size_t findings = 0;
    CHECK_OK(store_check(store, count_finding, &findings, &err));
    return findings == 0;
}

TEST(a_document_kept_for_a_run_function_is_well_only_beside_a_server)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    struct err err = ERR_INIT;
    struct store *doctor = NULL;
    struct task task = bench_task(&b), ended;
    task.document = STR("d");
    bench_insert(&b, &task);
    bench_start(&b, &task);
    ended = task;
    CHECK_OK(task_cancel_now(&ended, b.now_ms, &err));
    bench_keep(&b, &task, &ended);
    CHECK_OK(place_try_open(b.place, &(struct store_options){.read_only = true}, &doctor, &err));
    CHECK(is_healthy(doctor));
    CHECK(!is_healthy(b.store));
    store_close(doctor);
    bench_reopen(&b);
    CHECK(is_healthy(b.store));
}

TEST(a_reader_needs_a_file_that_is_there)
{
    struct place *place = place_new();
    struct err err = ERR_INIT;
    struct store *store = NULL;
    CHECK(!place_try_open(place, &(struct store_options){.read_only = true}, &store, &err));
    CHECK_EQ(err.kind, ERR_UNAVAILABLE);
    place_free(place);
}

TEST(a_read_that_fails_on_its_way_is_a_failure_not_a_short_answer)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    struct err err = ERR_INIT;
    struct task task = bench_task(&b);
    struct task_detail detail;
    bool found = false;
    bench_insert(&b, &task);
    place_run(b.place, "DROP TABLE child");
    CHECK(!reader_detail(b.reader, task.id, &b.arena, &found, &detail, &err));
}

/* A file with only the first migration, and a task in it. */
static struct place *old_place(void)
{
    struct place *place = place_new();
    place_run(place, sql_script_create);
    place_run(place, sql_migrations[0].text);
    place_run(place,
              "PRAGMA application_id = 0x45727264; PRAGMA user_version = 1;"
              "INSERT INTO name VALUES (1, 't'), (2, 'default');"
              "INSERT INTO counter VALUES (2, 0, 0, 1, 0, 0, 0, 0, 0, 0);"
              "INSERT INTO body (k, lo, type_id, queue_id, created_ms, expires_ms, document,"
              " backoff_base_ms, backoff_max_ms, backoff_factor, backoff_jitter, payload_raw)"
              " VALUES (5, 6, 1, 2, 7, 0, 'd', 1, 1, 1, 0, 0);"
              "INSERT INTO task (k, lo, type_id, queue_id, document, expires_ms, created_ms, state,"
              " priority, attempt, retries, max_retries, timeout_ms, scheduled_ms, queued_ms,"
              " started_ms, updated_ms, cancel_requested, token, outcome, lease_ms,"
              " lease_until_ms, attempt_ended_ms, log_bytes)"
              " VALUES (5, 6, 1, 2, 'd', 0, 7, 2, 2, 0, 0, 3, 0, 0, 7, 0, 7, 0, 0, 0, 0, 0, 0, 0)");
    return place;
}

TEST(an_old_schema_is_upgraded_when_the_store_opens)
{
    SCOPED(bench_fini) struct bench b = {.place = old_place()};
    struct task task;
    bench_reopen(&b);
    CHECK(bench_load(&b, (struct task_id){5, 6}, &task));
    CHECK(id_none(task.family) && !task.container && task.unmet == 0);
    bench_start(&b, &task);
    CHECK_EQ(bench_list(&b, &(struct task_filter){.document = STR("d"), .limit = 9}).count, 1);
    check_healthy(&b);
}

/* A file of the version before columns were packed, with a value in each of them: a live task and
 * one that ended. */
static struct place *unpacked_place(void)
{
    struct place *place = place_new();
    place_run(place, sql_script_create);
    for (size_t i = 0; i < 6; i++) {
        place_run(place, sql_migrations[i].text);
    }
    place_run(
        place,
        "PRAGMA application_id = 0x45727264; PRAGMA user_version = 6;"
        "INSERT INTO name VALUES (1, 't'), (2, 'q'); INSERT INTO ended VALUES (2, 0, 1, 0, 0);"
        "INSERT INTO body SELECT value, 6, 1, 2, 7, 8, 9, 10, 2.5, 0.5, 1, 'd', 'key' || value,"
        " 'external', x'010078', NULL, NULL, 21, 22, 31, 32, x'7b7d', x'0001', 0, 1, 1, NULL,"
        " NULL, x'6f72' FROM json_each('[5, 15]');"
        "INSERT INTO key VALUES ('key5', 5), ('key15', 15); INSERT INTO doc_lease VALUES ('d', 5, "
        "0);"
        "INSERT INTO task VALUES (5, 6, 1, 2, 3, 4, 1, 41, 42, 8, 'd', 1, 0, 0, 0, 0, 0, 1, 1, 0, "
        "7,"
        " 0, -1, 43, 44, 45, 1, -5, 0, 'worker', 46, 47, 48, 49, 'reason', 12.5, 'message', 1.5,"
        " 2.5, 3.5, 'code', 'text', x'5b5d');"
        "INSERT INTO done VALUES (15, 6, 1, 1, 2, 3, 43, 42, 41, 44, 45, 0, -7, 2, 'worker', 46, 0,"
        " 48, 0, NULL, NULL, NULL, NULL, NULL, NULL, 'code', NULL, NULL, 50, 51, NULL, 1)");
    return place;
}

TEST(a_file_from_before_columns_were_packed_opens_with_all_it_had)
{
    SCOPED(bench_fini) struct bench b = {.place = unpacked_place()};
    struct task live, done;
    bench_reopen(&b);
    CHECK(bench_load(&b, (struct task_id){5, 6}, &live));
    CHECK(bench_load(&b, (struct task_id){15, 6}, &done));

    CHECK_STR(live.type, "t");
    CHECK_STR(live.queue, "q");
    CHECK_EQ(live.created_ms, 7);
    CHECK_EQ(live.expires_ms, 8);
    CHECK_EQ(live.backoff.base_ms, 9);
    CHECK_EQ(live.backoff.max_ms, 10);
    CHECK(live.backoff.factor == 2.5 && live.backoff.jitter == 0.5);
    CHECK(live.payload_raw && live.continues && live.runs_anyway && !live.container);
    CHECK_STR(live.document, "d");
    CHECK_STR(live.key, "key5");
    CHECK_STR(live.external_id, "external");
    CHECK_EQ(live.tags_count, 1);
    CHECK_STR(live.tags[0], "x");
    CHECK(id_none(live.parent) && id_none(live.family));
    CHECK(id_eq(live.team, ((struct task_id){21, 22})));
    CHECK(id_eq(live.schedule, ((struct task_id){31, 32})));
    CHECK_STR(live.metadata, "{}");
    CHECK_STR(live.origin, "or");
    CHECK_EQ(live.payload.len, 2);
    CHECK_EQ(live.state, TASK_RUNNING);
    CHECK_EQ(live.priority, TASK_CRITICAL);
    CHECK_EQ(live.attempt, 1);
    CHECK_EQ(live.queued_ms, 41);
    CHECK_EQ(live.scheduled_ms, 42);
    CHECK_EQ(live.max_retries, -1);
    CHECK_EQ(live.timeout_ms, 43);
    CHECK_EQ(live.started_ms, 44);
    CHECK_EQ(live.updated_ms, 45);
    CHECK(live.cancel_requested);
    CHECK(live.token == (uint64_t)-5);
    CHECK_STR(live.worker, "worker");
    CHECK_EQ(live.lease_ms, 46);
    CHECK_EQ(live.lease_until_ms, 47);
    CHECK_EQ(live.attempt_ended_ms, 48);
    CHECK_EQ(live.log_bytes, 49);
    CHECK_STR(live.cancel_reason, "reason");
    CHECK_STR(live.progress_message, "message");
    CHECK(live.progress == 12.5 && live.cost.estimated == 1.5 && live.cost.tokens == 3.5);
    CHECK_STR(live.error.code, "code");
    CHECK_STR(live.error.message, "text");
    CHECK_STR(live.error.detail, "[]");

    CHECK_EQ(done.state, TASK_FAILED);
    CHECK_EQ(done.retries, 2);
    CHECK_EQ(done.max_retries, 3);
    CHECK_EQ(done.finished_ms, 50);
    CHECK_EQ(done.cancelled_ms, 51);
    CHECK_EQ(done.outcome, OUTCOME_FAILED);
    CHECK_EQ(done.unmet, 1);
    CHECK(done.progress < 0 && done.cost.actual < 0 && str_absent(done.error.message));
    CHECK_EQ(bench_list(&b, &(struct task_filter){.document = STR("d"), .limit = 9}).count, 2);
    CHECK_EQ(bench_list(&b, &(struct task_filter){.states = 1u << TASK_FAILED, .limit = 9}).count,
             1);
}

/* ---- Live tasks are counted at the start ---- */

static bool pass_by(void *arg, const struct task *task, struct err *err)
{
    (void)arg;
    (void)task;
    (void)err;
    return true;
}

static bool stop_there(void *arg, const struct task *task, struct err *err)
{
    (void)arg;
    (void)task;
    return err_set(err, ERR_INTERNAL, "enough");
}

/* Two queued, one running, one completed. */
static void put_four(struct bench *b)
{
    struct task tasks[4];
    for (int i = 0; i < 4; i++) {
        tasks[i] = bench_task(b);
        bench_insert(b, &tasks[i]);
    }
    bench_start(b, &tasks[0]);
    bench_start(b, &tasks[1]);
    bench_complete(b, &tasks[1], "1");
}

static void check_four(struct bench *b)
{
    CHECK_EQ(bench_count(b, "default", TASK_QUEUED), 2);
    CHECK_EQ(bench_count(b, "default", TASK_RUNNING), 1);
    CHECK_EQ(bench_count(b, "default", TASK_COMPLETED), 1);
    check_healthy(b);
}

TEST(a_store_that_opens_counts_its_live_tasks_once)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    struct err err = ERR_INIT;
    put_four(&b);
    bench_reopen(&b);
    check_four(&b);
    CHECK_OK(store_scan_live(b.store, pass_by, NULL, &err));
    check_four(&b);
}

TEST(whoever_walks_through_the_live_tasks_has_counted_them)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    struct err err = ERR_INIT;
    put_four(&b);
    bench_reopen(&b);
    CHECK(!store_scan_live(b.store, stop_there, NULL, &err));
    CHECK_OK(store_scan_live(b.store, pass_by, NULL, &err));
    check_four(&b);
    put_four(&b);
    CHECK_EQ(bench_count(&b, "default", TASK_QUEUED), 4);
}

TEST(a_file_whose_making_was_cut_short_is_finished_and_still_known_later)
{
    SCOPED(bench_fini) struct bench b = {.place = place_new()};
    place_run(b.place, sql_script_create);
    place_run(b.place, "PRAGMA journal_mode = WAL"); /* writes the first page, without a table */
    bench_reopen(&b);
    bench_reopen(&b);
    check_healthy(&b);
}

TEST(an_old_schema_is_refused_when_it_must_not_be_upgraded)
{
    struct place *place = old_place();
    struct err err = ERR_INIT;
    struct store *store = NULL;
    CHECK(!place_try_open(place, &(struct store_options){.no_migrate = true}, &store, &err));
    CHECK(strstr(err.text, "errand migrate") != NULL);
    place_free(place);
}

TEST(a_newer_schema_is_refused)
{
    struct place *place = place_new();
    struct err err = ERR_INIT;
    store_close(place_open(place));
    place_run(place, "PRAGMA user_version = 99");
    struct store *store = NULL;
    CHECK(!place_try_open(place, &(struct store_options){0}, &store, &err));
    CHECK(strstr(err.text, "version 99") != NULL);
    place_free(place);
}

TEST(a_database_of_another_program_is_left_alone)
{
    struct place *place = place_new();
    struct err err = ERR_INIT;
    struct store *store = NULL;
    place_run(place, "CREATE TABLE theirs (x)");
    CHECK(!place_try_open(place, &(struct store_options){0}, &store, &err));
    CHECK(strstr(err.text, "not one of errand's") != NULL);
    place_free(place);
}

TEST(a_file_that_is_no_database_is_refused)
{
    struct place *place = place_new();
    struct err err = ERR_INIT;
    struct store *store = NULL;
    FILE *file = fopen(place->file, "w");
    for (int i = 0; i < 4096; i++) {
        fputc('x', file);
    }
    fclose(file);
    CHECK(!place_try_open(place, &(struct store_options){0}, &store, &err));
    place_free(place);
}

/* From here on no file of this process grows beyond `bytes`: a disk that is full. */
static void limit_files(rlim_t bytes)
{
    struct rlimit limit;
    CHECK_EQ(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes == 0 ? limit.rlim_max : bytes;
    CHECK_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
    signal(SIGXFSZ, SIG_IGN);
}

static rlim_t size_of_log(const struct place *place)
{
    char path[80];
    struct stat st;
    snprintf(path, sizeof path, "%s-wal", place->file);
    CHECK_EQ(stat(path, &st), 0);
    return (rlim_t)st.st_size;
}

/* Inserts a task too big for what is left. */
static enum err_kind insert_big(struct bench *b, struct task *task)
{
    SCOPED(tx_close) struct tx *tx = NULL;
    struct err err = ERR_INIT;
    const struct task *one = task;
    *task = bench_task(b);
    task->queue = STR("new");
    task->payload = (struct str){arena_alloc(&b->arena, MIB), MIB};
    memset((char *)task->payload.ptr, 'x', MIB);
    CHECK_OK(store_begin(b->store, &tx, &err));
    bool ok = tx_insert(tx, &one, 1, &err) && tx_commit(&tx, &err);
    return ok ? ERR_NONE : err.kind;
}

TEST(a_full_disk_is_said_so_and_the_store_goes_on_when_there_is_room)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    struct task kept = bench_task(&b), big, small, got;
    bench_insert(&b, &kept);
    limit_files(size_of_log(b.place) + 64 * KIB);
    enum err_kind kind = insert_big(&b, &big);
    small = bench_task(&b);
    bench_insert(&b, &small); /* what fits is still taken */
    limit_files(0);

    CHECK_EQ(kind, ERR_UNAVAILABLE);
    CHECK(!bench_load(&b, big.id, &got));
    CHECK(bench_load(&b, kept.id, &got) && bench_load(&b, small.id, &got));
    CHECK_EQ(bench_count(&b, "new", TASK_QUEUED), -1);
    CHECK_EQ(insert_big(&b, &big), ERR_NONE);
    check_healthy(&b);
    bench_reopen(&b);
    CHECK(bench_load(&b, big.id, &got));
    check_healthy(&b);
}

TEST(a_store_tells_how_it_is_doing)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    struct store_health before, after;
    store_health(b.store, &before);
    struct task task = bench_task(&b);
    bench_insert(&b, &task);
    store_health(b.store, &after);
    CHECK_EQ(after.commits, before.commits + 1);
    CHECK(after.file_bytes > 0 && after.wal_bytes > 0);
    CHECK(after.commit_us_sum >= before.commit_us_sum);
}

TEST(the_log_of_the_file_does_not_grow_for_ever)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    struct task task = bench_task(&b);
    char *text = arena_alloc(&b.arena, 64 * KIB);
    memset(text, 'x', 64 * KIB);
    for (int i = 0; i < 300; i++) { /* 20 MB in all */
        task = bench_task(&b);
        task.payload = (struct str){text, 64 * KIB};
        bench_insert(&b, &task);
    }
    CHECK(size_of_log(b.place) < 6 * MIB);
}

/* n plain tasks in one transaction, the first with a tag. */
static void insert_plain(struct bench *b, size_t n)
{
    SCOPED(tx_close) struct tx *tx = NULL;
    struct err err = ERR_INIT;
    CHECK_OK(store_begin(b->store, &tx, &err));
    for (size_t i = 0; i < n; i++) {
        struct task task = bench_task(b);
        const struct task *one = &task;
        task.tags[0] = STR("first");
        task.tags_count = i == 0;
        CHECK_OK(tx_insert(tx, &one, 1, &err));
    }
    CHECK_OK(tx_commit(&tx, &err));
}

TEST(a_commit_brings_the_late_index_forward_when_it_lags_too_far)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    struct task_filter first = {.tag = STR("first"), .limit = 9};
    insert_plain(&b, 100);
    CHECK_EQ(place_ask(b.place, "SELECT count(*) FROM facet"), 0);
    CHECK_EQ(bench_list(&b, &first).count, 1);
    insert_plain(&b, 50000);
    CHECK_EQ(place_ask(b.place, "SELECT count(*) FROM facet"), 2);
    CHECK_EQ(bench_list(&b, &first).count, 2);
    CHECK(place_ask(b.place, "SELECT count(*) FROM body, meta WHERE k > indexed_k") <= 50000);
    check_healthy(&b);
}

TEST(upkeep_gives_room_back_to_the_disk)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    struct err err = ERR_INIT;
    struct task tasks[8];
    struct store_health full, empty;
    for (size_t i = 0; i < ARRAY_LEN(tasks); i++) {
        CHECK_EQ(insert_big(&b, &tasks[i]), ERR_NONE);
        bench_cancel(&b, &tasks[i]);
    }
    store_health(b.store, &full);
    for (size_t i = 0; i < ARRAY_LEN(tasks); i++) {
        bench_delete(&b, tasks[i].id);
    }
    for (bool more = true; more;) {
        CHECK_OK(store_tend(b.store, &more, &err));
    }
    bench_reopen(&b);
    store_health(b.store, &empty);
    CHECK(empty.file_bytes < full.file_bytes - (int64_t)(2 * MIB));
    check_healthy(&b);
}

/* The life of a process that will be killed: it tells the id of each task after its commit. */
static void create_until_killed(struct place *place, int tell)
{
    struct bench b = {.place = place, .now_ms = 1};
    rand_init_seed(&b.rand, 3);
    b.ids.rand = &b.rand;
    b.store = place_open(place);
    for (;;) {
        struct task task = bench_task(&b);
        bench_insert(&b, &task);
        if (write(tell, &task.id, sizeof task.id) != (ssize_t)sizeof task.id) {
            _exit(1);
        }
    }
}

TEST(what_was_committed_survives_a_kill)
{
    SCOPED(bench_fini) struct bench b = {.place = place_new()};
    int pipe_fds[2], status = 0;
    CHECK_EQ(pipe(pipe_fds), 0);
    pid_t child = fork();
    if (child == 0) {
        create_until_killed(b.place, pipe_fds[1]);
    }
    close(pipe_fds[1]);
    struct task_id ids[200];
    for (size_t i = 0; i < ARRAY_LEN(ids); i++) {
        CHECK_EQ(read(pipe_fds[0], &ids[i], sizeof ids[i]), sizeof ids[i]);
    }
    CHECK_EQ(kill(child, SIGKILL), 0);
    CHECK_EQ(waitpid(child, &status, 0), child);
    close(pipe_fds[0]);

    bench_reopen(&b); /* the lock went with its process */
    for (size_t i = 0; i < ARRAY_LEN(ids); i++) {
        struct task got;
        CHECK(bench_load(&b, ids[i], &got));
    }
    check_healthy(&b);
}
