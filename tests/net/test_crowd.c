/* tests/net/test_crowd.c: claims about clients that would stop the others: they do not.
 *
 * SPDX-License-Identifier: MIT */
#include "base/mem.h"
#include "stand.h"
#include "test.h"

#define GET(path) "GET " path " HTTP/1.1\r\nHost: localhost\r\n\r\n"

static void announce(struct client *client, const char *path, size_t len, const char *headers)
{
    char head[256];
    snprintf(head, sizeof head,
             "POST %s HTTP/1.1\r\nHost: localhost\r\n%sContent-Length: %zu\r\n\r\n", path, headers,
             len);
    client_say(client, head);
}

static void send_body(struct client *client, size_t len)
{
    char *body = mem_alloc(len);
    memset(body, 'b', len);
    client_send(client, (struct str){body, len});
    mem_free(body);
}

/* ---- Those who may not come in ---- */

static bool refuse_secret(struct stand *stand, struct exchange *exchange)
{
    (void)stand;
    if (!str_is(exchange->request.path, "/secret")) {
        return true;
    }
    exchange_answer(exchange, 401, "text/plain", STR(""), STR("no"));
    return false;
}

TEST(who_may_not_come_in_is_told_before_its_body_comes)
{
    STAND(stand, 0);
    stand.admit = refuse_secret;
    CLIENT(client, &stand);
    announce(&client, "/secret", 16 * MIB, "");
    client_read_end(&client); /* nothing of the body was ever sent */
    CHECK_EQ(client_count(&client, "HTTP/1.1 401 "), 1);
    CHECK_EQ(client_count(&client, "Connection: close\r\n"), 1);
    CHECK_EQ(stand.handled, 0);
}

TEST(who_asks_for_a_go_ahead_and_may_not_come_in_gets_the_answer_instead)
{
    STAND(stand, 0);
    stand.admit = refuse_secret;
    CLIENT(client, &stand);
    announce(&client, "/secret", 5, "Expect: 100-continue\r\n");
    client_read_end(&client);
    CHECK_EQ(client_count(&client, "HTTP/1.1 401 "), 1);
    CHECK_EQ(client_count(&client, "100 Continue"), 0);
}

TEST(a_short_body_of_a_refused_request_is_passed_over)
{
    STAND(stand, 0);
    stand.admit = refuse_secret;
    CLIENT(client, &stand);
    announce(&client, "/secret", 5, "");
    CHECK(client_sees(&client, "HTTP/1.1 401 "));
    client_say(&client, "hel");
    client_say(&client, "lo" GET("/echo"));
    CHECK(client_sees(&client, "GET "));
    announce(&client, "/secret", 0, "");
    client_say(&client, GET("/echo"));
    stand_step_until(&stand, &stand.handled, 2);
    CHECK_EQ(server_connections(stand.server), 1);
}

TEST(chunks_of_a_refused_request_end_its_connection)
{
    STAND(stand, 0);
    stand.admit = refuse_secret;
    CLIENT(client, &stand);
    client_say(&client, "POST /secret HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n"
                        "\r\n3\r\nabc\r\n");
    client_read_end(&client);
    CHECK_EQ(client_count(&client, "HTTP/1.1 401 "), 1);
}

static bool allow_ten_bytes(struct stand *stand, struct exchange *exchange)
{
    (void)stand;
    if (exchange_limit_body(exchange, 10)) {
        return true;
    }
    exchange_answer(exchange, 413, "text/plain", STR(""), STR("ten"));
    return false;
}

TEST(a_path_may_take_less_than_the_server_does)
{
    STAND(stand, 0);
    stand.admit = allow_ten_bytes;
    CLIENT(long_one, &stand);
    announce(&long_one, "/echo", 11, "");
    CHECK(client_sees(&long_one, "HTTP/1.1 413 "));
    CLIENT(chunks, &stand);
    client_say(&chunks, "POST /echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n"
                        "\r\n6\r\nabcdef\r\n6\r\n");
    client_read_end(&chunks);
    CHECK_EQ(client_count(&chunks, "HTTP/1.1 413 "), 1);
    CLIENT(short_one, &stand);
    announce(&short_one, "/echo", 10, "");
    send_body(&short_one, 10);
    CHECK(client_sees(&short_one, "POST bbbbbbbbbb"));
}

/* ---- Bodies that do not end ---- */

enum { SLOW = 8 }; /* clients that fill what all share, and do not go on */

struct slow {
    struct client clients[SLOW];
};

static void slow_open(struct slow *slow, struct stand *stand, const char *path)
{
    for (int i = 0; i < SLOW; i++) {
        client_open(&slow->clients[i], stand);
        announce(&slow->clients[i], path, 2 * MIB, "");
        send_body(&slow->clients[i], MIB - 64 * KIB);
    }
    int64_t now = (int64_t)uv_now(&stand->loop);
    while ((int64_t)uv_now(&stand->loop) < now + 2) { /* they are older than who comes now */
        stand_step(stand, -1);
    }
}

static int slow_refused(struct slow *slow)
{
    int refused = 0;
    for (int i = 0; i < SLOW; i++) {
        client_read_some(&slow->clients[i]);
        refused += (int)client_count(&slow->clients[i], "HTTP/1.1 503 ");
    }
    return refused;
}

static void slow_close(struct slow *slow)
{
    for (int i = 0; i < SLOW; i++) {
        client_close(&slow->clients[i]);
    }
}

TEST(bodies_that_do_not_end_give_way_to_one_that_comes)
{
    STAND(stand, .input_max = SLOW * MIB);
    SCOPED(slow_close) struct slow slow;
    slow_open(&slow, &stand, "/echo");
    for (int i = 1; i <= 20; i++) {
        CLIENT(other, &stand);
        announce(&other, "/echo", 300 * KIB, "");
        send_body(&other, 300 * KIB);
        CHECK(client_sees(&other, "POST bbb"));
    }
    int refused = slow_refused(&slow);
    CHECK(refused >= 1 && refused <= 2); /* no more of them than had to */
}

static bool know_friends(struct stand *stand, struct exchange *exchange)
{
    (void)stand;
    exchange->stranger = !str_is(exchange->request.path, "/friend");
    return true;
}

TEST(strangers_give_way_before_anybody_who_is_known)
{
    STAND(stand, .input_max = (SLOW + 1) * MIB);
    stand.admit = know_friends;
    CLIENT(friend, &stand); /* older, and with more */
    announce(&friend, "/friend", MIB + 4, "");
    send_body(&friend, MIB);
    SCOPED(slow_close) struct slow slow;
    slow_open(&slow, &stand, "/echo");
    CLIENT(other, &stand);
    announce(&other, "/friend", MIB, "");
    send_body(&other, MIB);
    CHECK(client_sees(&other, "POST bbb"));
    send_body(&friend, 4);
    CHECK(client_sees(&friend, "POST bbb"));
    CHECK(slow_refused(&slow) >= 1);
}

static void answer_early(struct exchange *exchange)
{
    exchange_answer(exchange, 200, "text/plain", STR(""), STR("early"));
}

static void wait_with_body(struct stand *stand, struct exchange *exchange)
{
    (void)stand;
    if (str_is(exchange->request.path, "/wait")) {
        exchange_timer(exchange, HOUR_MS, answer_early);
    } else {
        exchange_answer(exchange, 200, "text/plain", STR(""), STR("served"));
    }
}

TEST(a_wait_that_holds_much_is_over_early)
{
    STAND(stand, .input_max = 3 * MIB);
    stand.other = wait_with_body;
    CLIENT(waits, &stand);
    announce(&waits, "/wait", MIB + MIB / 2, "");
    send_body(&waits, MIB + MIB / 2);
    stand_step_until(&stand, &stand.handled, 1);
    CLIENT(other, &stand);
    announce(&other, "/echo", MIB + MIB / 2, "");
    send_body(&other, MIB + MIB / 2);
    CHECK(client_sees(&other, "served"));
    CHECK(client_sees(&waits, "early"));
}

/* ---- Answers that are not read ---- */

enum { DEAF = 4 }; /* clients that ask for much and read nothing */

TEST(answers_that_nobody_reads_give_way_to_those_that_are_read)
{
    STAND(stand, .output_max = 2 * BIG_BODY);
    struct client deaf[DEAF];
    for (int i = 0; i < DEAF; i++) {
        client_open(&deaf[i], &stand);
        client_say(&deaf[i], GET("/big"));
        stand_step_until(&stand, &stand.handled, i + 1);
        CHECK(server_unsent(stand.server) <= 2 * BIG_BODY);
    }
    CLIENT(other, &stand);
    client_say(&other, GET("/big") GET("/echo"));
    CHECK(client_sees(&other, "GET "));
    CHECK(other.in.len > BIG_BODY);
    while (server_connections(stand.server) > 3) { /* two of them fit, beside the other */
        stand_step(&stand, -1);
    }
    for (int i = 0; i < DEAF; i++) {
        client_close(&deaf[i]);
    }
}

TEST(streams_that_nobody_reads_count_among_the_answers)
{
    STAND(stand, .output_max = 256 * KIB);
    CLIENT(client, &stand);
    client_say(&client, GET("/stream"));
    CHECK(client_sees(&client, "\r\n\r\n"));
    static const char piece[8192];
    while (stream_pending(stand.kept) < 200 * KIB) {
        CHECK(stream_send(stand.kept, (struct str){piece, sizeof piece}));
    }
    CLIENT(deaf, &stand);
    client_say(&deaf, GET("/big")); /* alone it is too much, and with the stream even more so */
    stand_step_until(&stand, &stand.handled, 2);
    CHECK(server_unsent(stand.server) <= 256 * KIB);
    CLIENT(other, &stand);
    client_say(&other, GET("/echo"));
    CHECK(client_sees(&other, "GET "));
}
