/* tests/client/test_redis.c: the Redis client against a real Redis that stops, freezes and refuses.
 *
 * SPDX-License-Identifier: MIT */
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "client/redis.h"
#include "conformance/redis_server.h"
#include "test.h"

#define PATIENCE_MS (20 * SECOND_MS) /* far more than anything here takes */

struct bench {
    struct redis_server server;
    struct redis *redis;
    struct arena arena;
    struct redis_reply *replies;
    struct err err;
};

static void bench_open(struct bench *b, struct str probe_key)
{
    CHECK(redis_open(&(struct redis_options){.url = str_of(b->server.url), .probe_key = probe_key},
                     &b->redis, &b->err));
    CHECK(redis_wait(b->redis, PATIENCE_MS));
}

static void bench_init(struct bench *b)
{
    *b = (struct bench){0};
    redis_server_start(&b->server);
    bench_open(b, STR_NONE);
}

static void bench_fini(struct bench *b)
{
    redis_close(b->redis);
    redis_server_stop(&b->server);
    arena_fini(&b->arena);
}

static bool bench_run(struct bench *b)
{
    b->err = ERR_INIT;
    return redis_run(b->redis, &b->arena, &b->replies, &b->err);
}

#define BENCH(b) SCOPED(bench_fini) struct bench b

/* ---- The address ---- */

static bool parse(const char *url, struct redis_url *out)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct err err = ERR_INIT;
    bool fine = redis_url_parse(str_of(url), &arena, out, &err);
    CHECK(fine || (err.kind == ERR_INVALID && strstr(err.text, "secret") == NULL));
    return fine;
}

TEST(an_address_has_a_host_a_port_a_password_and_a_database)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct redis_url url;
    struct err err = ERR_INIT;
    CHECK_OK(redis_url_parse(STR("redis://:s%3Acret@[::1]:7000/3"), &arena, &url, &err));
    CHECK_STR(url.host, "::1");
    CHECK_STR(url.password, "s:cret");
    CHECK(str_absent(url.user) && url.port == 7000 && url.db == 3);
    CHECK_OK(redis_url_parse(STR("redis://me:pw@redis.example"), &arena, &url, &err));
    CHECK_STR(url.host, "redis.example");
    CHECK_STR(url.user, "me");
    CHECK(url.port == 6379 && url.db == 0 && !url.tls);
    CHECK_OK(redis_url_parse(STR("rediss://redis.example:6380/1"), &arena, &url, &err));
    CHECK(url.port == 6380 && url.db == 1 && url.tls);
}

TEST(a_bad_address_is_refused_and_its_password_is_not_repeated)
{
    struct redis_url url;
    const char *const bad[] = {"",
                               "redis:",
                               "redis://",
                               "http://127.0.0.1:1",
                               "rediss://:secret@h:1/x",
                               "redis://:secret@h:99999",
                               "redis://secret@h:1",
                               "redis://:@h:1",
                               "redis://:secret%zz@h:1",
                               "redis://:secret@h:1/x",
                               "redis://:secret@h:1/65536",
                               "redis://:secret@h:1/1?x=1"};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        CHECK(!parse(bad[i], &url));
    }
}

/* ---- Commands ---- */

TEST(a_pipeline_is_answered_in_order_with_every_kind_of_reply)
{
    BENCH(b);
    bench_init(&b);
    REDIS_ADD(b.redis, STR("SET"), STR("k"), STR("a\0b"));
    REDIS_ADD(b.redis, STR("GET"), STR("k"));
    REDIS_ADD(b.redis, STR("GET"), STR("missing"));
    REDIS_ADD(b.redis, STR("STRLEN"), STR("k"));
    REDIS_ADD(b.redis, STR("MGET"), STR("k"), STR("missing"));
    CHECK(bench_run(&b));
    CHECK_STR(b.replies[0].text, "OK");
    CHECK(b.replies[1].kind == REDIS_TEXT && b.replies[1].text.len == 3);
    CHECK_EQ(b.replies[2].kind, REDIS_NOTHING);
    CHECK(b.replies[3].kind == REDIS_NUMBER && b.replies[3].number == 3);
    CHECK(b.replies[4].kind == REDIS_LIST && b.replies[4].number == 2);
    CHECK_EQ(b.replies[4].items[1].kind, REDIS_NOTHING);
}

TEST(a_pipeline_larger_than_the_socket_is_sent_and_answered)
{
    BENCH(b);
    bench_init(&b);
    struct str big = {arena_zero(&b.arena, MIB), MIB};
    for (int i = 0; i < 4; i++) {
        REDIS_ADD(b.redis, STR("ECHO"), big);
    }
    CHECK(bench_run(&b));
    CHECK_EQ(b.replies[3].text.len, MIB);
}

TEST(a_script_that_redis_has_not_seen_or_forgot_is_sent_whole)
{
    BENCH(b);
    bench_init(&b);
    struct redis_script script;
    const struct str words[] = {STR("x"), STR("y")};
    redis_script_init(&script, STR("return KEYS[1] .. ARGV[1] .. ARGV[2]"));
    for (int i = 0; i < 3; i++) {
        redis_add_script(b.redis, &script, STR("k"), words, 2);
        redis_add_script(b.redis, &script, STR("l"), words, 2);
        CHECK(bench_run(&b));
        CHECK_STR(b.replies[0].text, "kxy");
        CHECK_STR(b.replies[1].text, "lxy");
        if (i == 1) {
            redis_server_ask(&b.server, &b.arena, "SCRIPT FLUSH");
        }
    }
    struct str calls = redis_server_ask(&b.server, &b.arena, "INFO commandstats");
    CHECK(strstr(calls.ptr, "cmdstat_eval:calls=4") != NULL);
}

TEST(the_password_and_the_database_of_the_address_are_used)
{
    BENCH(b) = {.server.password = "sesame"};
    redis_server_start(&b.server);
    snprintf(b.server.url, sizeof b.server.url, "redis://:sesame@127.0.0.1:%d/5", b.server.port);
    bench_open(&b, STR_NONE);
    REDIS_ADD(b.redis, STR("SET"), STR("here"), STR("1"));
    CHECK(bench_run(&b));
    CHECK(strstr(redis_server_ask(&b.server, &b.arena, "INFO keyspace").ptr, "db5:keys=1"));
}

/* ---- The circuit ---- */

TEST(nobody_there_is_away_and_calls_return_at_once)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct redis *redis;
    struct redis_reply *replies;
    struct err err = ERR_INIT;
    CHECK_OK(redis_open(&(struct redis_options){.url = STR("redis://:secret@127.0.0.1:1")}, &redis,
                        &err));
    CHECK(redis_away(redis));
    REDIS_ADD(redis, STR("PING"));
    CHECK(!redis_run(redis, &arena, &replies, &err));
    CHECK_EQ(err.kind, ERR_UNAVAILABLE);
    CHECK(strstr(err.text, "secret") == NULL);
    redis_close(redis);
}

TEST(a_frozen_redis_opens_the_circuit_and_it_heals)
{
    BENCH(b);
    bench_init(&b);
    redis_server_freeze(&b.server);
    REDIS_ADD(b.redis, STR("SET"), STR("k"), STR("1"));
    CHECK(!bench_run(&b));
    CHECK(redis_away(b.redis));
    for (int i = 0; i < 1000; i++) { /* a thousand limits would be four minutes */
        REDIS_ADD(b.redis, STR("PING"));
        CHECK(!bench_run(&b));
    }
    redis_server_thaw(&b.server);
    CHECK(redis_wait(b.redis, PATIENCE_MS));
    REDIS_ADD(b.redis, STR("PING"));
    CHECK(bench_run(&b));
}

TEST(a_restarted_redis_is_found_again)
{
    BENCH(b);
    bench_init(&b);
    redis_server_stop(&b.server);
    REDIS_ADD(b.redis, STR("PING"));
    CHECK(!bench_run(&b));
    redis_server_start(&b.server);
    CHECK(redis_wait(b.redis, PATIENCE_MS));
    REDIS_ADD(b.redis, STR("PING"));
    CHECK(bench_run(&b));
    CHECK_STR(b.replies[0].text, "PONG");
}

TEST(a_redis_that_cannot_be_written_is_away)
{
    BENCH(b) = {0};
    redis_server_start(&b.server);
    bench_open(&b, STR("probe"));
    redis_server_ask(&b.server, &b.arena, "REPLICAOF 127.0.0.1 1");
    REDIS_ADD(b.redis, STR("SET"), STR("k"), STR("1"));
    CHECK(!bench_run(&b));
    CHECK(strstr(b.err.text, "READONLY") != NULL);
    CHECK(!redis_wait(b.redis, 300));
    redis_server_ask(&b.server, &b.arena, "REPLICAOF NO ONE");
    CHECK(redis_wait(b.redis, PATIENCE_MS));
}

/* ---- Channels ---- */

/* What the subscriber's thread has said so far. */
struct ear {
    pthread_mutex_t lock;
    int fd;
    char text[256];
};

static void note(struct ear *ear, const char *word, struct str text)
{
    pthread_mutex_lock(&ear->lock);
    size_t len = strlen(ear->text);
    snprintf(ear->text + len, sizeof ear->text - len, "%s" STR_FMT " ", word, STR_ARG(text));
    pthread_mutex_unlock(&ear->lock);
    eventfd_write(ear->fd, 1);
}

static void on_message(void *arg, struct str channel, struct str message)
{
    CHECK_STR(channel, "news");
    note(arg, "", message);
}

static void on_state(void *arg, bool up)
{
    note(arg, up ? "up" : "down", STR(""));
}

static void ear_wait(struct ear *ear, const char *want)
{
    bool heard = false;
    while (!heard) {
        struct pollfd fd = {.fd = ear->fd, .events = POLLIN};
        eventfd_t count;
        CHECK(poll(&fd, 1, PATIENCE_MS) > 0 && eventfd_read(ear->fd, &count) == 0);
        pthread_mutex_lock(&ear->lock);
        heard = strcmp(ear->text, want) == 0;
        pthread_mutex_unlock(&ear->lock);
    }
}

TEST(a_subscriber_hears_what_is_published_also_after_a_restart)
{
    BENCH(b);
    bench_init(&b);
    struct ear ear = {.lock = PTHREAD_MUTEX_INITIALIZER, .fd = eventfd(0, EFD_CLOEXEC)};
    const struct str channels[] = {STR("news"), STR("other")};
    struct redis_subscriber *subscriber;
    struct err err = ERR_INIT;
    CHECK_OK(redis_subscribe(&(struct redis_subscription){.url = str_of(b.server.url),
                                                          .channels = channels,
                                                          .channels_count = 2,
                                                          .message = on_message,
                                                          .state = on_state,
                                                          .arg = &ear},
                             &subscriber, &err));
    ear_wait(&ear, "up ");
    CHECK_OK(redis_publish(b.redis, STR("news"), STR("one"), &err));
    CHECK_OK(redis_publish(b.redis, STR("news"), STR("two"), &err));
    ear_wait(&ear, "up one two ");
    redis_server_stop(&b.server);
    ear_wait(&ear, "up one two down ");
    redis_server_start(&b.server);
    ear_wait(&ear, "up one two down up ");
    redis_server_ask(&b.server, &b.arena, "PUBLISH news three");
    ear_wait(&ear, "up one two down up three ");
    redis_unsubscribe(subscriber);
    close(ear.fd);
}
