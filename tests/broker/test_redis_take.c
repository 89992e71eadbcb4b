/* tests/broker/test_redis_take.c: claims of many tasks: their order, where the lanes are read by
 * the piece, and what Redis may answer.
 *
 * SPDX-License-Identifier: MIT */
#include <arpa/inet.h>
#include <hiredis/hiredis.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "node.h"
#include "test.h"

/* Lanes take turns after 1, 2, 3, … tasks: 1 to 903 are in 42 rows. */
static void offer_in_turns(struct fleet *f, size_t lanes)
{
    static const char *const types[] = {"t", "u", "v"};
    uint64_t number = 1;
    for (size_t row = 1; row <= 42; row++) {
        for (size_t i = 0; i < row; i++, number++) {
            struct hint hint = hint_of(number, TASK_NORMAL, number % 97 == 0 ? STR("d") : STR_NONE);
            hint.type = str_of(types[row % lanes]);
            hint.queued_ms = 1000 + (int64_t)number / 5; /* then by id */
            broker_offer(f->a, &hint);
        }
    }
    broker_flush(f->a);
}

/* Takes by `most` all but those behind document d, and compares them with what was offered. */
static void take_in_turns(struct fleet *f, const struct want *want, size_t most)
{
    struct hint *hints = arena_array(&f->arena, struct hint, most);
    uint64_t number = 1;
    for (size_t n = most; n == most;) {
        n = broker_take(f->b, want, most, hints, &f->arena);
        for (size_t i = 0; i < n; i++, number++) {
            number += number > 97 && number % 97 == 0;
            CHECK(id_eq(hints[i].id, number_id(number)));
            CHECK(hints[i].queued_ms == 1000 + (int64_t)number / 5 && str_is(hints[i].queue, "q"));
            CHECK(hints[i].priority == TASK_NORMAL &&
                  str_is(hints[i].document, number == 97 ? "d" : ""));
        }
    }
    CHECK_EQ(number, 904);
}

TEST(hundreds_of_tasks_of_lanes_that_take_turns_come_in_the_order_of_all)
{
    struct str types[] = {STR("t"), STR("u"), STR("v")};
    struct want_queue queue = {.name = STR("q"), .room = 5000};
    const struct want wants[] = {
        {.any_queue = true},
        {.any_queue = true, .types = types, .types_count = 3},
        {.queues = &queue, .queues_count = 1},
        {.queues = &queue, .queues_count = 1, .types = types, .types_count = 3}};
    const size_t most[] = {1, 16, 17, 100, 902, 5000};
    FLEET(f);
    fleet_init(&f);
    for (size_t i = 0; i < ARRAY_LEN(wants) * ARRAY_LEN(most); i++) {
        offer_in_turns(&f, 1 + i % 3);
        take_in_turns(&f, &wants[i / ARRAY_LEN(most)], most[i % ARRAY_LEN(most)]);
        ask(&f, "FLUSHALL");
        CHECK(broker_empty(f.a));
        broker_filled(f.a);
        CHECK(!asks_rows(f.a) && !asks_rows(f.b));
    }
}

TEST(of_a_queue_with_little_room_no_more_is_taken_and_the_rest_is_still_there)
{
    FLEET(f);
    fleet_init(&f);
    struct want_queue queue = {.name = STR("q"), .room = 20};
    struct want want = {.queues = &queue, .queues_count = 1};
    struct hint hints[500];
    offer_in_turns(&f, 3);
    CHECK_EQ(broker_take(f.b, &want, ARRAY_LEN(hints), hints, &f.arena), 20);
    CHECK(id_eq(hints[19].id, number_id(20)));
    CHECK_EQ(broker_ready_count(f.b), 883);
    CHECK_STR(take(&f, f.b, 3), "21 22 23");
}

/* Others may write there what they like. */
TEST(what_is_no_task_in_a_lane_is_passed_over)
{
    static const char *const garbage[][2] = {
        {"-5", "00000000-0000-0063-0000-000000000063"},
        {"-inf", "00000000-0000-0064-0000-000000000064"},
        {"1.5", "00000000-0000-0065-0000-000000000065"},
        {"90000000000000", "00000000-0000-0066-0000-000000000066"}, /* below LOW */
        {"1e300", "00000000-0000-0067-0000-000000000067"},
        {"inf", "00000000-0000-0068-0000-000000000068"},
        {"1", ""},
        {"2", " "},
        {"3", "one two three four"},
        {"4", "00000000-0000-0000-0000-000000000000"},
        {"35184372090001", "00000000-0000-0069-0000-00000000006"},
        {"35184372090002", "zzzzzzzz-zzzz-zzzz-zzzz-zzzzzzzzzzzz"}};
    FLEET(f);
    fleet_init(&f);
    struct want_queue queue = {.name = STR("q"), .room = SIZE_MAX};
    struct str type = STR("t");
    struct want want = {.queues = &queue, .queues_count = 1, .types = &type, .types_count = 1};
    struct hint hints[99];
    redisContext *other = redisConnect("127.0.0.1", f.server.port);
    offer(f.a, 1, TASK_CRITICAL, STR_NONE);
    offer(f.a, 2, TASK_NORMAL, STR_NONE);
    offer(f.a, 3, TASK_LOW, STR_NONE);
    for (size_t i = 0; i < ARRAY_LEN(garbage); i++) {
        freeReplyObject(redisCommand(other, "ZADD %s %s %s", "errand:{dispatch3}:lane:q t",
                                     garbage[i][0], garbage[i][1]));
    }
    redisFree(other);
    CHECK_EQ(broker_take(f.b, &want, ARRAY_LEN(hints), hints, &f.arena), 3);
    for (uint64_t i = 0; i < 3; i++) {
        CHECK(id_eq(hints[i].id, number_id(i + 1)) && hints[i].queued_ms == 1001 + (int64_t)i);
    }
    CHECK_EQ(broker_ready_count(f.b), 0);
}

/* ---- Answers that the script would never give ---- */

/* Stands between a node and Redis, and answers claims itself when it has an answer. */
struct middle {
    int listener, redis_port;
    _Atomic(const char *) answer; /* NULL: as Redis does */
    atomic_bool over;
    pthread_t thread;
};

static int loopback(int port, int (*how)(int, const struct sockaddr *, socklen_t))
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    address.sin_port = htons((uint16_t)port);
    CHECK_EQ(how(fd, (struct sockaddr *)&address, sizeof address), 0);
    return fd;
}

static bool pass(struct middle *m, int from, int to)
{
    char bytes[32 * KIB];
    ssize_t n = read(from, bytes, sizeof bytes);
    const char *answer = m->answer;
    if (n > 0 && answer != NULL && memmem(bytes, (size_t)n, "\r\ntake\r\n", 8) != NULL) {
        return write(from, answer, strlen(answer)) > 0;
    }
    return n > 0 && write(to, bytes, (size_t)n) == n;
}

static void serve(struct middle *m, int node)
{
    int redis = loopback(m->redis_port, connect);
    struct pollfd fds[] = {{.fd = node, .events = POLLIN}, {.fd = redis, .events = POLLIN}};
    bool open = true;
    while (open && !m->over) {
        if (poll(fds, 2, 50) > 0) {
            open = (fds[0].revents == 0 || pass(m, node, redis)) &&
                   (fds[1].revents == 0 || pass(m, redis, node));
        }
    }
    close(node);
    close(redis);
}

/* One connection at a time is enough: a node has one for its hints. */
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

static struct broker *middle_init(struct middle *m, const struct fleet *f)
{
    struct sockaddr_in address;
    socklen_t len = sizeof address;
    struct err err = ERR_INIT;
    struct broker *broker = NULL;
    char url[64];
    *m = (struct middle){.listener = loopback(0, bind), .redis_port = f->server.port};
    CHECK_EQ(listen(m->listener, 8), 0);
    CHECK_EQ(getsockname(m->listener, (struct sockaddr *)&address, &len), 0);
    CHECK_EQ(pthread_create(&m->thread, NULL, go_between, m), 0);
    snprintf(url, sizeof url, "redis://127.0.0.1:%d", ntohs(address.sin_port));
    CHECK_OK(
        broker_open(&(struct broker_options){.url = str_of(url), .command_ms = REDIS_PATIENCE_MS},
                    &broker, &err));
    return broker;
}

static void middle_fini(struct middle *m)
{
    m->over = true;
    pthread_join(m->thread, NULL);
    close(m->listener);
}

/* How many tasks a claim of two takes when it is answered so, after one that went well. */
static size_t taken_of(struct fleet *f, struct middle *m, struct broker *broker, const char *answer)
{
    struct hint hints[2];
    struct want want = {.any_queue = true};
    offer(f->a, 1, TASK_NORMAL, STR_NONE);
    m->answer = NULL;
    until(asks_rows, broker, false);
    CHECK_EQ(broker_take(broker, &want, 2, hints, &f->arena), 1);
    m->answer = answer;
    size_t n = broker_take(broker, &want, 2, hints, &f->arena);
    for (size_t i = 0; i < n; i++) {
        CHECK(id_eq(hints[i].id, number_id(i + 1)) && hints[i].priority == TASK_NORMAL);
        CHECK(str_is(hints[i].queue, "q") && str_is(hints[i].type, "t"));
    }
    m->answer = NULL;
    return n;
}

TEST(an_answer_of_another_shape_has_no_tasks)
{
    static const char *const answers[] = {
        "*0\r\n",
        ":1\r\n",
        "$1\r\nx\r\n",
        "$-1\r\n",
        "*1\r\n:1\r\n",
        "*2\r\n:1\r\n:0\r\n",
        "*3\r\n:1\r\n:0\r\n$3\r\nq t\r\n",
        "*4\r\n:1\r\n:0\r\n$3\r\nq t\r\n$0\r\n\r\n",
        "*5\r\n:1\r\n:0\r\n:1\r\n:2\r\n:3\r\n",
        "*5\r\n:1\r\n:0\r\n$-1\r\n$-1\r\n$-1\r\n",
        "*5\r\n:1\r\n:0\r\n*0\r\n*-1\r\n*1\r\n$1\r\nx\r\n",
        "*5\r\n:1\r\n$1\r\n1\r\n$0\r\n\r\n$0\r\n\r\n$0\r\n\r\n",
        "-ERR no\r\n",
    };
    FLEET(f);
    fleet_init(&f);
    struct middle m;
    struct broker *broker = middle_init(&m, &f);
    for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
        CHECK_EQ(taken_of(&f, &m, broker, answers[i]), 0);
    }
    broker_close(broker);
    middle_fini(&m);
}

#define ONE   "00000000-0000-0001-0000-000000000008 35184372089833"
#define TWO   "00000000-0000-0002-0000-00000000000f 35184372089834"
#define THREE "00000000-0000-0003-0000-000000000016 35184372089835"

TEST(a_text_of_tasks_gives_those_it_has_and_no_more_than_were_asked_for)
{
    static const struct {
        const char *tasks;
        size_t count;
    } texts[] = {
        {ONE, 1},
        {ONE " " TWO, 2},
        {ONE " " TWO " " THREE, 2},
        {ONE " ", 1},
        {ONE " 00000000-0000-0002-0000-00000000000f", 1},
        {ONE " 00000000-0000-0002-0000-00000000000f ", 1},
        {"x y " ONE " z " TWO, 1},
        {"  " ONE, 1},
        {" " ONE, 0},
        {"00000000-0000-0001-0000-000000000008 99999999999999999999", 0},
    };
    FLEET(f);
    fleet_init(&f);
    struct middle m;
    struct broker *broker = middle_init(&m, &f);
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        /* The go-between may still look at it when the node has it. */
        struct str answer =
            arena_printf(&f.arena, "*5\r\n:1\r\n:0\r\n$3\r\nq t\r\n$0\r\n\r\n$%zu\r\n%s\r\n",
                         strlen(texts[i].tasks), texts[i].tasks);
        CHECK_EQ(taken_of(&f, &m, broker, arena_c_text(&f.arena, answer)), texts[i].count);
    }
    broker_close(broker);
    middle_fini(&m);
}
