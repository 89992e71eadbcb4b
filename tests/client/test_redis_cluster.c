/* tests/client/test_redis_cluster.c: a cluster of real servers whose slots move and whose primaries
 * fail.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "client/redis_cluster.h"
#include "conformance/redis_server.h"
#include "test.h"

#define PATIENCE_MS (20 * SECOND_MS) /* far more than anything here takes */
#define SERVERS     2

/* ---- The rules ---- */

TEST(a_key_has_the_slot_that_redis_says)
{
    CHECK_EQ(redis_slot(STR("123456789")), 0x31C3); /* the example of the specification */
    CHECK_EQ(redis_slot(STR("")), 0);
    CHECK_EQ(redis_slot(STR("errand:{a}:x")), redis_slot(STR("a")));
    CHECK_EQ(redis_slot(STR("x{a}{b}")), redis_slot(STR("a")));
    CHECK_EQ(redis_slot(STR("x{{a}}")), redis_slot(STR("{a")));
    CHECK(redis_slot(STR("x{}{a}")) != redis_slot(STR("a"))); /* empty braces do not count */
    CHECK(redis_slot(STR("x{a")) != redis_slot(STR("a")));
}

TEST(a_redirection_is_read_whole_or_not_at_all)
{
    struct redis_moved moved;
    CHECK(redis_moved_parse(STR("MOVED 3999 127.0.0.1:6381"), &moved));
    CHECK(moved.slot == 3999 && moved.port == 6381);
    CHECK_STR(moved.host, "127.0.0.1");
    CHECK(redis_moved_parse(STR("MOVED 0 ::1:6381"), &moved));
    CHECK_STR(moved.host, "::1");
    CHECK(redis_moved_parse(STR("MOVED 0 :6381"), &moved) && moved.host.len == 0 && !moved.asks);
    CHECK(redis_moved_parse(STR("ASK 7 h:6381"), &moved) && moved.slot == 7 && moved.asks);
    const char *const bad[] = {"",
                               "MOVED",
                               "MOVED 1",
                               "MOVED 1 h",
                               "MOVED 1 h:",
                               "MOVED 1 h:0",
                               "MOVED 1 h:65536",
                               "MOVED 16384 h:1",
                               "MOVED x h:1",
                               "ASK 1"};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        CHECK(!redis_moved_parse(str_of(bad[i]), &moved));
    }
}

/* ---- A cluster of two ---- */

struct bench {
    struct redis_server servers[SERVERS + 1]; /* the last is a replica, if there is one */
    char folder[32];
    struct redis *redis;
    struct arena arena;
    struct redis_reply *replies;
    struct err err;
};

static struct str ask(struct bench *b, int at, const char *format, ...)
{
    char command[256];
    va_list args;
    va_start(args, format);
    vsnprintf(command, sizeof command, format, args);
    va_end(args);
    return redis_server_ask(&b->servers[at], &b->arena, command);
}

static bool says(struct bench *b, int at, const char *command, const char *word)
{
    return strstr(ask(b, at, "%s", command).ptr, word) != NULL;
}

static void bench_add(struct bench *b, int at)
{
    snprintf(b->servers[at].cluster, sizeof b->servers[at].cluster, "%s", b->folder);
    redis_server_start(&b->servers[at]);
    ask(b, at, "CONFIG SET cluster-node-timeout 1000");
}

static void bench_meet(struct bench *b, int at)
{
    /* The port of the cluster's own talk is a random one, too. */
    char text[32];
    struct str bus = ask(b, 0, "CONFIG GET cluster-port");
    struct str rest = bus;
    str_cut(&rest, ' ');
    snprintf(text, sizeof text, STR_FMT, STR_ARG(rest));
    ask(b, at, "CLUSTER MEET 127.0.0.1 %d %s", b->servers[0].port, text);
}

/* The first server has the lower half of the slots. */
static void bench_init(struct bench *b)
{
    snprintf(b->folder, sizeof b->folder, "/tmp/errand-cluster-XXXXXX");
    CHECK(mkdtemp(b->folder) != NULL);
    for (int i = 0; i < SERVERS; i++) {
        bench_add(b, i);
        ask(b, i, "CLUSTER ADDSLOTSRANGE %d %d", i * REDIS_SLOTS / SERVERS,
            (i + 1) * REDIS_SLOTS / SERVERS - 1);
    }
    bench_meet(b, 1);
    for (int i = 0; i < SERVERS; i++) {
        WAIT_FOR(says(b, i, "CLUSTER INFO", "cluster_state:ok"));
    }
}

static void bench_fini(struct bench *b)
{
    char command[64];
    redis_close(b->redis);
    for (int i = 0; i <= SERVERS; i++) {
        redis_server_stop(&b->servers[i]);
    }
    snprintf(command, sizeof command, "rm -r %s", b->folder);
    CHECK_EQ(system(command), 0);
    arena_fini(&b->arena);
}

#define BENCH(b) SCOPED(bench_fini) struct bench b

static void bench_open(struct bench *b, int at, const char *probe)
{
    const struct redis_options options = {.url = str_of(b->servers[at].url),
                                          .probe_key = str_of(probe)};
    CHECK(redis_open(&options, &b->redis, &b->err));
    CHECK(redis_wait(b->redis, PATIENCE_MS));
}

static bool bench_run(struct bench *b)
{
    b->err = ERR_INIT;
    return redis_run(b->redis, &b->arena, &b->replies, &b->err);
}

/* Keys of all slots: some of them are on each server. */
static void write_keys(struct bench *b, int count)
{
    struct redis_script script;
    redis_script_init(&script, STR("return redis.call('SET', KEYS[1], ARGV[1])"));
    for (int i = 0; i < count; i++) {
        struct str key = arena_printf(&b->arena, "k%d", i);
        redis_add_script(b->redis, &script, key, &key, 1);
    }
    CHECK(bench_run(b));
    for (int i = 0; i < count; i++) {
        REDIS_ADD(b->redis, STR("GET"), arena_printf(&b->arena, "k%d", i));
    }
    CHECK(bench_run(b));
    for (int i = 0; i < count; i++) {
        CHECK_STR(b->replies[i].text, arena_printf(&b->arena, "k%d", i).ptr);
    }
}

TEST(each_command_goes_to_the_server_that_has_its_key)
{
    BENCH(b) = {0};
    bench_init(&b);
    bench_open(&b, 0, "probe");
    write_keys(&b, 20);
    CHECK(!says(&b, 0, "DBSIZE", "20") && !says(&b, 1, "DBSIZE", "20"));
    CHECK(!redis_away(b.redis));
}

TEST(a_slot_that_moves_is_followed_without_a_failure)
{
    BENCH(b) = {0};
    bench_init(&b);
    unsigned slot = redis_slot(STR("moving"));
    int from = slot < REDIS_SLOTS / SERVERS ? 0 : 1;
    struct str to = ask(&b, 1 - from, "CLUSTER MYID"), identity;
    bench_open(&b, 0, "probe");
    CHECK(redis_connected(b.redis, &identity) && identity.len > 0);
    REDIS_ADD(b.redis, STR("DEL"), STR("moving"));
    CHECK(bench_run(&b));
    for (int i = 1; i >= 0; i--) { /* who gets it is told first */
        ask(&b, i == 0 ? from : 1 - from, "CLUSTER SETSLOT %u NODE " STR_FMT, slot, STR_ARG(to));
    }
    for (int i = 0; i < 3; i++) {
        REDIS_ADD(b.redis, STR("SET"), STR("moving"), arena_printf(&b.arena, "%d", i));
        REDIS_ADD(b.redis, STR("GET"), STR("moving"));
    }
    CHECK(bench_run(&b));
    CHECK_STR(b.replies[1].text, "0");
    CHECK_STR(b.replies[5].text, "2");
    CHECK_STR(ask(&b, 1 - from, "GET moving"), "2");
    CHECK(!redis_connected(b.redis, &identity));
}

/* As `redis-cli --cluster reshard` does it: some of its keys are here, some there. */
static void begin_move(struct bench *b, unsigned slot, int from, struct str there)
{
    struct str here = arena_str(&b->arena, ask(b, from, "CLUSTER MYID"));
    ask(b, 1 - from, "CLUSTER SETSLOT %u IMPORTING " STR_FMT, slot, STR_ARG(here));
    ask(b, from, "CLUSTER SETSLOT %u MIGRATING " STR_FMT, slot, STR_ARG(there));
}

TEST(a_key_whose_slot_is_on_its_way_is_found_on_either_side)
{
    BENCH(b) = {0};
    struct redis_script script;
    struct str identity;
    bench_init(&b);
    unsigned slot = redis_slot(STR("m"));
    int from = slot < REDIS_SLOTS / SERVERS ? 0 : 1;
    struct str there = arena_str(&b.arena, ask(&b, 1 - from, "CLUSTER MYID"));
    bench_open(&b, 0, "probe");
    CHECK(redis_connected(b.redis, &identity));
    REDIS_ADD(b.redis, STR("SET"), STR("stays{m}"), STR("1"));
    REDIS_ADD(b.redis, STR("SET"), STR("goes{m}"), STR("2"));
    CHECK(bench_run(&b));
    begin_move(&b, slot, from, there);
    ask(&b, from, "MIGRATE 127.0.0.1 %d goes{m} 0 5000", b.servers[1 - from].port);
    redis_script_init(&script, STR("return redis.call('INCR', KEYS[1])"));
    redis_add_script(b.redis, &script, STR("goes{m}"), NULL, 0);
    redis_add_script(b.redis, &script, STR("stays{m}"), NULL, 0);
    redis_add_script(b.redis, &script, STR("new{m}"), NULL, 0);
    CHECK(bench_run(&b));
    CHECK_EQ(b.replies[0].number, 3);
    CHECK_EQ(b.replies[1].number, 2);
    CHECK_EQ(b.replies[2].number, 1);
    CHECK(!redis_away(b.redis) && !redis_connected(b.redis, &identity));

    /* What touches others beside its key would find half of them. */
    script.many_keys = true;
    redis_add_script(b.redis, &script, STR("goes{m}"), NULL, 0);
    CHECK(!bench_run(&b));
}

/* Of the second server, which has the home key; we know the address of the first. */
static void add_replica(struct bench *b)
{
    bench_add(b, SERVERS);
    bench_meet(b, SERVERS);
    struct str primary = ask(b, 1, "CLUSTER MYID");
    WAIT_FOR(says(b, SERVERS, "CLUSTER NODES", primary.ptr));
    ask(b, SERVERS, "CLUSTER REPLICATE " STR_FMT, STR_ARG(primary));
    WAIT_FOR(says(b, 1, "INFO replication", "state=online"));
}

TEST(a_promoted_replica_is_found_and_told_as_another_server)
{
    BENCH(b) = {0};
    char probe[16] = "p0";
    struct str first, second;
    bench_init(&b);
    add_replica(&b);
    while (redis_slot(str_of(probe)) < REDIS_SLOTS / SERVERS) {
        probe[1]++;
    }
    bench_open(&b, 1, probe); /* by the address of the one that dies */
    write_keys(&b, 5);
    CHECK(redis_connected(b.redis, &first));
    first = arena_str(&b.arena, first);
    redis_server_stop(&b.servers[1]);
    WAIT_FOR(says(&b, SERVERS, "ROLE", "slave"));
    ask(&b, SERVERS, "CLUSTER FAILOVER TAKEOVER");
    WAIT_FOR(redis_wait(b.redis, 100));
    write_keys(&b, 5);
    CHECK(redis_connected(b.redis, &second) && !str_eq(first, second));
    CHECK(!redis_connected(b.redis, &second)); /* told once */
}

TEST(a_cluster_that_does_not_serve_all_slots_is_away)
{
    BENCH(b) = {0};
    bench_init(&b);
    struct redis_place place = {0};
    struct redis_seeds seeds = {0};
    struct redis_cluster *cluster = NULL;
    CHECK(redis_place_open(str_of(b.servers[0].url), &(struct tls_files){0}, &place, &b.err));
    for (int i = 0; i < SERVERS; i++) {
        ask(&b, i, "CLUSTER DELSLOTS 7");
    }
    CHECK(!redis_cluster_open(&place, &seeds, STR_NONE, &cluster, &b.err));
    CHECK(strstr(b.err.text, "does not serve all of its slots") != NULL);
    redis_place_close(&place);
}
