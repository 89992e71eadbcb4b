/* tests/conformance/store_postgres_trouble.c: connections that break at bad moments, two who meet
 * on one row, and schemas that are older or newer.
 *
 * A go-between passes everything on between the store and the server until it sees COMMIT, and then
 * lets the answer, or the question, get lost.
 *
 * SPDX-License-Identifier: MIT */
#include <arpa/inet.h>
#include <libpq-fe.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "move_tables.h"
#include "store/postgres/pg.h"
#include "store_postgres.h"
#include "store_postgres_pair.h"

/* ---- The go-between ---- */

enum go_between { PASS_ON, LOSE_ANSWER, LOSE_QUESTION };

struct middle {
    int listener, port;
    char server[160]; /* the server's socket */
    _Atomic enum go_between mood;
    _Atomic bool over;
    pthread_t thread;
};

static int connect_server(const struct middle *m)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    snprintf(address.sun_path, sizeof address.sun_path, "%s", m->server);
    CHECK_EQ(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    return fd;
}

static bool has_commit(const char *bytes, size_t n)
{
    return memmem(bytes, n, "COMMIT;", 7) != NULL;
}

/* Passes one piece on; false when the connection is to end. */
static bool pass_piece(struct middle *m, int from, int to, bool question)
{
    char bytes[65536];
    ssize_t n = read(from, bytes, sizeof bytes);
    if (n <= 0) {
        return false;
    }
    bool commits = question && m->mood != PASS_ON && has_commit(bytes, (size_t)n);
    if (commits && m->mood == LOSE_QUESTION) {
        m->mood = PASS_ON;
        return false;
    }
    if (write(to, bytes, (size_t)n) != n) {
        return false;
    }
    if (commits) { /* the server answers, but nobody hears it */
        struct pollfd answer = {.fd = to, .events = POLLIN};
        m->mood = PASS_ON;
        poll(&answer, 1, 10000);
        return false;
    }
    return true;
}

static void serve(struct middle *m, int client)
{
    int server = connect_server(m);
    struct pollfd fds[] = {{.fd = client, .events = POLLIN}, {.fd = server, .events = POLLIN}};
    bool open = true;
    while (open && !m->over) {
        poll(fds, 2, 50);
        if (fds[0].revents != 0) {
            open = pass_piece(m, client, server, true);
        } else if (fds[1].revents != 0) {
            open = pass_piece(m, server, client, false);
        }
    }
    close(client);
    close(server);
}

/* One connection at a time is enough: the store has one that writes. */
static void *go_between(void *arg)
{
    struct middle *m = arg;
    struct pollfd fd = {.fd = m->listener, .events = POLLIN};
    while (!m->over) {
        if (poll(&fd, 1, 50) > 0) {
            serve(m, accept(m->listener, NULL, NULL));
        }
    }
    return NULL;
}

static void middle_init(struct middle *m, struct place *place)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    *m = (struct middle){.listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    place_socket(m->server, sizeof m->server);
    CHECK_EQ(bind(m->listener, (struct sockaddr *)&address, sizeof address), 0);
    CHECK_EQ(listen(m->listener, 8), 0);
    CHECK_EQ(getsockname(m->listener, (struct sockaddr *)&address, &len), 0);
    m->port = ntohs(address.sin_port);
    snprintf(place->url, sizeof place->url,
             "postgres://postgres@127.0.0.1:%d/postgres?options=-csearch_path%%3D%s", m->port,
             place->schema);
    CHECK_EQ(pthread_create(&m->thread, NULL, go_between, m), 0);
}

static void middle_fini(struct middle *m)
{
    m->over = true;
    pthread_join(m->thread, NULL);
    close(m->listener);
}

/* Inserts a task over a go-between in this mood; was it committed, by what the store says? */
static bool survives(enum go_between mood, struct err *why)
{
    struct err err = ERR_INIT;
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    struct place through = *(struct place *)b.place;
    struct middle m;
    struct task task = bench_task(&b), got;
    const struct task *one = &task;
    struct store *store = NULL;
    struct tx *tx = NULL;
    middle_init(&m, &through);
    CHECK_OK(place_try_open(&through, &(struct store_options){0}, &store, &err));
    CHECK_OK(store_begin(store, &tx, &err));
    CHECK_OK(tx_insert(tx, &one, 1, &err));
    m.mood = mood;
    bool said = tx_commit(&tx, why);
    CHECK_EQ(bench_load(&b, task.id, &got), said); /* it says what is true */
    tx = NULL;
    struct err later = ERR_INIT;
    WAIT_FOR(store_begin(store, &tx, &later) || later.kind != ERR_UNAVAILABLE);
    CHECK(tx != NULL); /* it came back by itself */
    tx_close(&tx);
    check_healthy(&b);
    store_close(store);
    middle_fini(&m);
    return said;
}

TEST(a_commit_whose_answer_was_lost_is_known_to_have_happened)
{
    struct err err = ERR_INIT;
    CHECK(survives(LOSE_ANSWER, &err));
}

TEST(a_commit_that_never_arrived_is_known_not_to_have_happened)
{
    struct err err = ERR_INIT;
    CHECK(!survives(LOSE_QUESTION, &err));
    CHECK_EQ(err.kind, ERR_UNAVAILABLE);
    CHECK(strstr(err.text, "nothing happened") != NULL);
}

/* ---- Broken connections ---- */

static void cut_all(struct bench *b)
{
    char sql[256];
    snprintf(sql, sizeof sql,
             "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
             " WHERE application_name = 'errand' AND pid <> pg_backend_pid()");
    place_run(b->place, sql);
}

TEST(a_lost_connection_is_told_and_the_next_transaction_has_a_new_one)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    struct err err = ERR_INIT;
    struct tx *tx = NULL;
    struct task task = bench_task(&b), got;
    const struct task *one = &task;
    bench_list(&b, &(struct task_filter){.limit = 1});
    bench_count(&b, "default", TASK_QUEUED);
    CHECK_OK(store_begin(b.store, &tx, &err));
    CHECK_OK(tx_insert(tx, &one, 1, &err));
    cut_all(&b);
    CHECK(!tx_commit(&tx, &err));
    CHECK_EQ(err.kind, ERR_UNAVAILABLE);
    CHECK(!bench_load(&b, task.id, &got));
    CHECK_EQ(bench_list(&b, &(struct task_filter){.limit = 1}).count, 0); /* readers, too */
    CHECK_EQ(bench_count(&b, "default", TASK_QUEUED), -1);
    bench_insert(&b, &task);
    check_healthy(&b);
}

TEST(a_server_that_is_not_there_is_told_soon_and_without_its_password)
{
    struct err err = ERR_INIT;
    struct store *store = NULL;
    int64_t began_us = clock_real_mono_us();
    struct store_options options = {
        .url = STR("postgres://me:s3cr3t@127.0.0.1:1/db?connect_timeout=2")};
    CHECK(!store_open(&options, &store, &err));
    CHECK_EQ(err.kind, ERR_UNAVAILABLE);
    CHECK(strstr(err.text, "s3cr3t") == NULL);
    options.url = STR("postgres://me:s3cr3t@[::1/db?x=s3cr3t");
    CHECK(!store_open(&options, &store, &err));
    CHECK_STR(str_of(err.field), "store");
    CHECK(strstr(err.text, "s3cr3t") == NULL);
    CHECK(clock_real_mono_us() - began_us < 30 * INT64_C(1000000));
}

TEST(whoever_pauses_tries_again_when_another_got_through)
{
    char socket_path[160], folder[] = "/tmp/errand-pg-XXXXXX", link[64], url[256];
    struct err err = ERR_INIT, away = ERR_INIT;
    struct pg_address address = {.keys = NULL};
    struct pg pausing, other;
    CHECK(mkdtemp(folder) != NULL);
    place_socket(socket_path, sizeof socket_path);
    char *name = strrchr(socket_path, '/'), *port = strrchr(socket_path, '.') + 1;
    *name = '\0';
    snprintf(link, sizeof link, "%s/server", folder);
    snprintf(url, sizeof url, "postgres://postgres@/postgres?host=%s&port=%s", link, port);
    CHECK_OK(pg_address_parse(str_of(url), &address, &err));
    pg_init(&pausing, &address);
    pg_init(&other, &address);
    pausing.failures = 100; /* so it pauses as long as anybody */
    CHECK(!pg_ready(&pausing, PG_READY_MS, NULL));
    CHECK(!pg_ready(&pausing, PG_READY_MS, &away));
    CHECK_STR(str_of(away.text), "PostgreSQL is away");
    CHECK_EQ(symlink(socket_path, link), 0); /* the server is back */
    CHECK_OK(pg_ready(&other, 10 * PG_READY_MS, &err));
    CHECK_OK(pg_ready(&pausing, 10 * PG_READY_MS, &err));
    pg_fini(&pausing);
    pg_fini(&other);
    pg_address_fini(&address);
    CHECK_EQ(unlink(link), 0);
    CHECK_EQ(rmdir(folder), 0);
}

/* ---- Two on one row ---- */

struct waiter {
    struct store *store;
    struct task_id id;
    struct arena *arena;
    struct task got;
    bool found;
};

static void *load_there(void *arg)
{
    struct waiter *w = arg;
    struct err err = ERR_INIT;
    struct tx *tx = NULL;
    struct task_load load = {.id = w->id, .arena = w->arena};
    if (store_begin(w->store, &tx, &err) && tx_load(tx, &load, 1, &err)) {
        w->found = load.found;
        w->got = load.task;
    }
    tx_close(&tx);
    return NULL;
}

/* Until so many wait for a lock. */
static void wait_for_waiters(struct place *place, int64_t count)
{
    WAIT_FOR(place_run(place,
                       "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' "
                       "AND application_name = 'errand'") >= count);
}

static void wait_for_waiter(struct place *place)
{
    wait_for_waiters(place, 1);
}

/* Loads in the other node while this one makes the change; returns what it saw. */
static struct task meet(struct pair *p, const struct task *was, const struct task *now)
{
    struct err err = ERR_INIT;
    struct arena arena = ARENA_INIT;
    struct waiter w = {.store = p->other, .id = was->id, .arena = &arena};
    struct tx *tx = pair_begin(p->b.store);
    struct task_change change = {.was = was, .now = now};
    pthread_t thread;
    CHECK_OK(tx_save(tx, &change, 1, &err));
    CHECK(change.applied);
    CHECK_EQ(pthread_create(&thread, NULL, load_there, &w), 0);
    wait_for_waiter(p->b.place);
    pair_commit(tx);
    CHECK_EQ(pthread_join(thread, NULL), 0);
    CHECK(w.found);
    arena_fini(&arena);
    return w.got;
}

TEST(whoever_loads_waits_for_the_one_before_and_sees_what_it_did)
{
    SCOPED(pair_fini) struct pair p;
    pair_init(&p);
    struct task task = bench_task(&p.b), now;
    task.state = TASK_WAITING;
    task.unmet = 2;
    bench_insert(&p.b, &task);
    now = task;
    now.unmet = 1;
    CHECK_EQ(meet(&p, &task, &now).unmet, 1); /* so two who count down never count the same */
}

TEST(a_task_that_moves_while_somebody_waits_for_it_is_found_where_it_went)
{
    SCOPED(pair_fini) struct pair p;
    pair_init(&p);
    struct err err = ERR_INIT;
    struct task task = bench_task(&p.b), ended, revived;
    bench_insert(&p.b, &task);
    ended = task;
    CHECK_OK(task_cancel(&ended, STR("x"), p.b.now_ms, &err));
    CHECK_EQ(meet(&p, &task, &ended).state, TASK_CANCELLED);
    revived = ended;
    CHECK_OK(task_revive(&revived, p.b.now_ms, &err));
    CHECK_EQ(meet(&p, &ended, &revived).state, TASK_QUEUED);
}

static void *insert_there(void *arg)
{
    struct waiter *w = arg;
    struct err err = ERR_INIT;
    struct tx *tx = NULL;
    const struct task *one = &w->got;
    w->found =
        store_begin(w->store, &tx, &err) && tx_insert(tx, &one, 1, &err) && tx_commit(&tx, &err);
    w->got.state = err.kind == ERR_CONFLICT ? TASK_CANCELLED : TASK_QUEUED;
    tx_close(&tx);
    return NULL;
}

TEST(of_two_creations_with_one_key_the_second_begins_again)
{
    SCOPED(pair_fini) struct pair p;
    pair_init(&p);
    struct err err = ERR_INIT;
    struct task mine = bench_task(&p.b);
    const struct task *one = &mine;
    struct waiter w = {.store = p.other, .got = bench_task(&p.b)};
    pthread_t thread;
    mine.key = w.got.key = STR("k");
    struct tx *tx = pair_begin(p.b.store);
    struct task_id known;
    CHECK_OK(tx_insert(tx, &one, 1, &err));
    CHECK_OK(tx_find_keys(tx, &mine.key, 1, &known, &err));
    CHECK(id_eq(known, mine.id));
    CHECK_EQ(pthread_create(&thread, NULL, insert_there, &w), 0);
    wait_for_waiter(p.b.place);
    pair_commit(tx);
    CHECK_EQ(pthread_join(thread, NULL), 0);
    CHECK(!w.found);
    CHECK_EQ(w.got.state, TASK_CANCELLED); /* ERR_CONFLICT */
}

/* ---- Schemas ---- */

struct opener {
    struct place *place;
    struct store *store;
    bool ok;
    char why[256];
};

static void *open_there(void *arg)
{
    struct opener *o = arg;
    struct err err = ERR_INIT;
    o->ok = place_try_open(o->place, &(struct store_options){0}, &o->store, &err);
    snprintf(o->why, sizeof o->why, "%s", o->ok ? "" : err.text);
    return NULL;
}

static void run_on(PGconn *conn, const char *sql)
{
    PGresult *result = PQexec(conn, sql);
    ExecStatusType status = PQresultStatus(result);
    CHECK(status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK);
    PQclear(result);
}

/* Whoever opens after this has seen the schema as it was when it comes to wait for the lock. */
static PGconn *hold_schema(struct place *place)
{
    PGconn *conn = PQconnectdb(place->url);
    run_on(conn, "SELECT pg_advisory_lock(x'45727264'::integer, 1)");
    return conn;
}

TEST(two_nodes_that_start_together_migrate_once)
{
    struct place *place = place_new();
    struct opener one = {.place = place}, two = {.place = place};
    pthread_t threads[2];
    PGconn *holder = hold_schema(place);
    CHECK_EQ(pthread_create(&threads[0], NULL, open_there, &one), 0);
    CHECK_EQ(pthread_create(&threads[1], NULL, open_there, &two), 0);
    wait_for_waiters(place, 2);
    PQfinish(holder);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    CHECK_STR(str_of(one.why), "");
    CHECK_STR(str_of(two.why), "");
    CHECK(store_epoch(one.store) + store_epoch(two.store) == 3);
    store_close(one.store);
    store_close(two.store);
    place_free(place);
}

TEST(what_another_node_migrated_while_this_one_waited_is_seen)
{
    struct place *place = place_new();
    struct opener late = {.place = place};
    pthread_t thread;
    PGconn *newer = hold_schema(place);
    CHECK_EQ(pthread_create(&thread, NULL, open_there, &late), 0);
    wait_for_waiters(place, 1);
    run_on(newer, "CREATE TABLE meta (version integer, oldest_reader integer, epoch bigint)");
    run_on(newer, "INSERT INTO meta VALUES (900, 900, 1)");
    PQfinish(newer);
    pthread_join(thread, NULL);
    CHECK(!late.ok);
    CHECK(strstr(late.why, "use a newer errand") != NULL);
    place_free(place);
}

TEST(a_schema_is_not_made_or_changed_by_who_may_not)
{
    struct place *place = place_new();
    struct err err = ERR_INIT;
    struct store *store = NULL;
    CHECK(!place_try_open(place, &(struct store_options){.no_migrate = true}, &store, &err));
    CHECK_EQ(err.kind, ERR_INVALID);
    CHECK(!place_try_open(place, &(struct store_options){.read_only = true}, &store, &err));
    store_close(place_open(place));
    CHECK_OK(place_try_open(place, &(struct store_options){.no_migrate = true}, &store, &err));
    store_close(store);
    place_run(place, "UPDATE meta SET version = version - 1");
    CHECK(!place_try_open(place, &(struct store_options){.no_migrate = true}, &store, &err));
    CHECK(strstr(err.text, "errand migrate") != NULL);
    place_free(place);
}

TEST(an_older_errand_works_beside_a_newer_schema_as_long_as_that_allows_it)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    struct err err = ERR_INIT;
    struct store *store = NULL;
    place_run(b.place, "UPDATE meta SET version = 900");
    store = place_open(b.place);
    store_close(store);
    place_run(b.place, "UPDATE meta SET oldest_reader = 900");
    CHECK(!place_try_open(b.place, &(struct store_options){0}, &store, &err));
    CHECK_EQ(err.kind, ERR_INVALID);
    CHECK(strstr(err.text, "newer errand") != NULL);
}

TEST(a_doctor_looks_beside_a_running_node_and_changes_nothing)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    struct err err = ERR_INIT;
    struct store *doctor = NULL;
    struct tx *tx = NULL;
    uint64_t epoch = store_epoch(b.store);
    CHECK_OK(place_try_open(b.place, &(struct store_options){.read_only = true}, &doctor, &err));
    CHECK_EQ(store_epoch(doctor), epoch);
    CHECK(!store_begin(doctor, &tx, &err));
    store_close(doctor);
    CHECK_EQ(place_run(b.place, "SELECT count(*) FROM writer"), 1);
    place_run(b.place, "INSERT INTO counter VALUES (0, 'x', 1, 0, 0, 0, 0, 0, 0, 0, 0)");
    size_t findings = 0;
    CHECK_OK(store_check(b.store, place_count_finding, &findings, &err));
    CHECK_EQ(findings, 1);
}

/* ---- A pooler between ---- */

/* Whoever adds a table says in store/postgres/move.c what becomes of it in a move. */
TEST(a_move_accounts_for_every_table)
{
    SCOPED(bench_fini) struct bench b;
    SCOPED(buf_fini) struct buf names = BUF_INIT(4 * KIB);
    SCOPED(buf_fini) struct buf sql = BUF_INIT(8 * KIB);
    bench_init(&b);
    int64_t known = move_tables_list(postgres_move_tables, &names);
    buf_printf(&sql,
               "SELECT count(*) + 1000 * count(*) FILTER (WHERE relname NOT IN (%s)) FROM pg_class "
               "WHERE relnamespace = '%s'::regnamespace AND relkind IN ('r', 'p') AND NOT "
               "relispartition",
               buf_c_text(&names), b.place->schema);
    CHECK_EQ(place_run(b.place, buf_c_text(&sql)), known);
}

TEST(a_pooler_in_transaction_mode_may_stand_between)
{
    const char *pooler = getenv("ERRAND_PGBOUNCER");
    struct err err = ERR_INIT;
    struct store *store = NULL;
    struct store_counts counts;
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    CHECK(pooler != NULL); /* postgres.py sets it */
    CHECK_OK(store_open(&(struct store_options){.url = str_of(pooler)}, &store, &err));
    struct bench b = {.store = store, .now_ms = INT64_C(1800000000000)};
    rand_init(&b.rand);
    b.ids.rand = &b.rand;
    CHECK_OK(reader_open(store, &b.reader, &err));
    for (int i = 0; i < 20; i++) {
        struct task task = bench_on_document(&b, "d"), got;
        CHECK(bench_try_start(&b, &task));
        CHECK_EQ(bench_detail(&b, task.id).attempts_count, 1);
        bench_complete(&b, &task, "1");
        CHECK(bench_load(&b, task.id, &got));
        CHECK_EQ(got.state, TASK_COMPLETED);
    }
    CHECK_OK(store_counts(store, &arena, &counts, &err));
    check_healthy(&b);
    reader_close(b.reader);
    store_close(store);
    arena_fini(&b.arena);
}
