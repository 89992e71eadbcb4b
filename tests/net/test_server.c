/* tests/net/test_server.c: claims about connections, requests and answers.
 *
 * SPDX-License-Identifier: MIT */
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "stand.h"
#include "test.h"

#define GET(path) "GET " path " HTTP/1.1\r\nHost: localhost\r\n\r\n"

TEST(a_request_is_answered_and_the_connection_stays)
{
    STAND(stand, 0);
    CLIENT(client, &stand);
    client_say(&client, GET("/echo"));
    CHECK(client_sees(&client, "\r\n\r\nGET "));
    CHECK_EQ(client_count(&client, "HTTP/1.1 200 OK\r\nDate: "), 1);
    CHECK_EQ(
        client_count(&client, "Content-Type: text/plain\r\nContent-Length: 4\r\nX-Own: 1\r\n\r\n"),
        1);
    client_say(&client, GET("/echo"));
    stand_step_until(&stand, &stand.handled, 2);
    CHECK_EQ(server_connections(stand.server), 1);
}

TEST(pipelined_requests_are_answered_in_order)
{
    STAND(stand, 0);
    CLIENT(client, &stand);
    client_say(
        &client,
        "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\none"
        "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\ntwo" GET("/echo"));
    CHECK(client_sees(&client, "GET "));
    const char *text = buf_c_text(&client.in);
    CHECK(strstr(text, "POST one") < strstr(text, "POST two"));
    CHECK(strstr(text, "POST two") < strstr(text, "GET "));
}

TEST(a_pipelined_request_waits_for_the_answer_before_it)
{
    STAND(stand, 0);
    CLIENT(client, &stand);
    client_say(&client, GET("/park") GET("/echo"));
    stand_step_until(&stand, &stand.handled, 1);
    stand_step_until(&stand, &stand.gone, 0);
    CHECK_EQ(stand.handled, 1);
    exchange_answer(stand.kept, 200, "text/plain", STR(""), STR("parked"));
    CHECK(client_sees(&client, "GET "));
    CHECK_EQ(client_count(&client, "parked"), 1);
    CHECK_EQ(stand.handled, 2);
}

TEST(a_flood_behind_a_parked_request_is_held_back_and_then_answered)
{
    STAND(stand, 0);
    CLIENT(client, &stand);
    client_say(&client, GET("/park"));
    enum { MANY = 5000 }; /* far more than is kept */
    for (int i = 0; i < MANY; i++) {
        client_say(&client, GET("/echo"));
    }
    CHECK_EQ(stand.handled, 1);
    exchange_answer(stand.kept, 200, "text/plain", STR(""), STR("parked"));
    while (stand.handled <= MANY && !client.ended) {
        client_read_some(&client);
    }
    CHECK_EQ(stand.handled, MANY + 1);
}

TEST(a_request_may_come_byte_by_byte)
{
    STAND(stand, 0);
    CLIENT(client, &stand);
    const char *text = "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello";
    for (size_t i = 0; i < strlen(text); i++) {
        client_send(&client, (struct str){text + i, 1});
    }
    CHECK(client_sees(&client, "POST hello"));
}

TEST(chunks_become_one_body)
{
    STAND(stand, 0);
    CLIENT(client, &stand);
    client_say(&client, "POST /echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n"
                        "\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n");
    CHECK(client_sees(&client, "POST abcde"));
}

TEST(a_large_body_arrives_whole_and_what_follows_it_too)
{
    STAND(stand, 0);
    CLIENT(client, &stand);
    size_t len = 3 * MIB;
    char *body = mem_alloc(len);
    memset(body, 'b', len);
    client_say(&client,
               "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3145728\r\n\r\n");
    client_send(&client, (struct str){body, len});
    client_say(&client, GET("/echo"));
    CHECK(client_sees(&client, "GET "));
    CHECK(client_count(&client, "Content-Length: 3145733\r\n") == 1);
    mem_free(body);
}

TEST(a_client_that_asks_first_gets_its_go_ahead)
{
    STAND(stand, 0);
    CLIENT(client, &stand);
    client_say(&client, "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n"
                        "Expect: 100-continue\r\n\r\n");
    CHECK(client_sees(&client, "HTTP/1.1 100 Continue\r\n\r\n"));
    client_say(&client, "ok");
    CHECK(client_sees(&client, "POST ok"));
}

TEST(http_1_0_closes_unless_asked_to_stay)
{
    STAND(stand, 0);
    CLIENT(one, &stand);
    client_say(&one, "GET /echo HTTP/1.0\r\n\r\n");
    client_read_end(&one);
    CHECK_EQ(client_count(&one, "Connection: close\r\n"), 1);

    CLIENT(two, &stand);
    client_say(&two, "GET /echo HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    CHECK(client_sees(&two, "GET "));
    CHECK_EQ(client_count(&two, "Connection: keep-alive\r\n"), 1);
}

TEST(a_head_request_gets_the_length_but_no_body)
{
    STAND(stand, 0);
    CLIENT(client, &stand);
    client_say(&client, "HEAD /echo HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    client_read_end(&client);
    CHECK_EQ(client_count(&client, "Content-Length: 5\r\n"), 1);
    CHECK(str_ends(buf_view(&client.in), STR("\r\n\r\n")));
}

TEST(a_client_that_only_stops_sending_still_gets_its_answer)
{
    STAND(stand, 0);
    CLIENT(client, &stand);
    client_say(&client, GET("/echo") GET("/park"));
    shutdown(client.fd, SHUT_WR);
    stand_step_until(&stand, &stand.gone, 1);
    exchange_answer(stand.kept, 200, "text/plain", STR(""), STR("parked"));
    client_read_end(&client);
    CHECK_EQ(client_count(&client, "GET "), 1);
    CHECK_EQ(client_count(&client, "parked"), 1);
}

TEST(a_client_that_leaves_while_parked_is_noticed_at_once)
{
    STAND(stand, 0);
    CLIENT(client, &stand);
    client_say(&client, GET("/park"));
    stand_step_until(&stand, &stand.handled, 1);
    client_close(&client);
    stand_step_until(&stand, &stand.gone, 1);
    CHECK(stand.kept->is_gone);
    exchange_answer(stand.kept, 200, "text/plain", STR(""), STR("to nobody"));
}

TEST(a_client_that_resets_while_parked_is_noticed_at_once)
{
    STAND(stand, 0);
    CLIENT(client, &stand);
    client_say(&client, GET("/park"));
    stand_step_until(&stand, &stand.handled, 1);
    struct linger reset = {1, 0};
    setsockopt(client.fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    client_close(&client);
    stand_step_until(&stand, &stand.gone, 1);
    CHECK_EQ(server_connections(stand.server), 0);
    exchange_answer(stand.kept, 200, "text/plain", STR(""), STR("to nobody"));
}

TEST(a_body_over_the_limit_is_a_413_and_ends_the_connection)
{
    STAND(stand, .body_max = 10);
    CLIENT(client, &stand);
    client_say(&client, "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 11\r\n\r\n");
    client_read_end(&client);
    CHECK_EQ(client_count(&client, "HTTP/1.1 413 "), 1);
    CHECK_EQ(client_count(&client, "{\"error\":{\"code\":\"too_large\",\"message\":\""), 1);
    CHECK_EQ(stand.handled, 0);
}

TEST(a_malformed_request_is_a_400_and_ends_the_connection)
{
    STAND(stand, 0);
    CLIENT(client, &stand);
    client_say(&client, "GET /echo HTTP/1.1\r\nHost : localhost\r\n\r\n" GET("/echo"));
    client_read_end(&client);
    CHECK_EQ(client_count(&client, "HTTP/1.1 400 Bad Request\r\n"), 1);
    CHECK_EQ(client_count(&client, "Content-Type: application/json\r\n"), 1);
    CHECK_EQ(client_count(&client, "{\"error\":{\"code\":\"bad_request\",\"message\":\""), 1);
    CHECK_EQ(client_count(&client, "Connection: close\r\n"), 1);
    CHECK_EQ(stand.handled, 0);
}

TEST(connections_over_the_limit_are_told_to_come_back)
{
    STAND(stand, .connections_max = 1);
    CLIENT(first, &stand);
    client_say(&first, GET("/echo"));
    CHECK(client_sees(&first, "GET "));
    CLIENT(second, &stand);
    client_say(&second, GET("/echo"));
    client_read_end(&second);
    CHECK_EQ(client_count(&second, "HTTP/1.1 503 "), 1);
    CHECK_EQ(client_count(&second, "Retry-After: 1\r\n"), 1);
    client_say(&first, GET("/echo"));
    stand_step_until(&stand, &stand.handled, 2);
}

TEST(idle_connections_do_not_disturb)
{
    STAND(stand, 0);
    enum { MANY = 200 };
    struct client idle[MANY];
    for (int i = 0; i < MANY; i++) {
        client_open(&idle[i], &stand);
        uv_run(&stand.loop, UV_RUN_NOWAIT);
    }
    CLIENT(client, &stand);
    client_say(&client, GET("/echo"));
    CHECK(client_sees(&client, "GET "));
    CHECK_EQ(server_connections(stand.server), MANY + 1);
    for (int i = 0; i < MANY; i++) {
        client_close(&idle[i]);
    }
}

TEST(a_quiet_server_says_goodbye_with_each_answer)
{
    STAND(stand, 0);
    CLIENT(client, &stand);
    client_say(&client, GET("/park"));
    stand_step_until(&stand, &stand.handled, 1);
    server_quiet(stand.server);
    exchange_answer(stand.kept, 204, NULL, STR(""), STR(""));
    client_read_end(&client);
    CHECK_EQ(client_count(&client, "HTTP/1.1 204 No Content\r\n"), 1);
    CHECK_EQ(client_count(&client, "Connection: close\r\n\r\n"), 1);
    CHECK_EQ(client_count(&client, "Content-Length"), 0);
}

TEST(stopping_tells_those_who_wait)
{
    struct stand stand;
    stand_open(&stand, &(struct server_options){0});
    CLIENT(client, &stand);
    client_say(&client, GET("/park"));
    stand_step_until(&stand, &stand.handled, 1);
    stand_close(&stand); /* frees the exchange that nobody answers */
    CHECK_EQ(stand.gone, 1);
}

TEST(an_address_that_is_taken_is_an_error_that_says_so)
{
    STAND(stand, 0);
    char listen[32];
    snprintf(listen, sizeof listen, "127.0.0.1:%d", server_port(stand.server));
    struct server *second;
    struct err err = ERR_INIT;
    CHECK(!server_start(&(struct server_options){.loop = &stand.loop, .listen = str_of(listen)},
                        &second, &err));
    CHECK(strstr(err.text, "address already in use") != NULL);
    CHECK(strstr(err.text, listen) != NULL);
}

/* ---- Time ---- */

TEST(a_head_that_does_not_end_is_a_408)
{
    STAND(stand, .head_timeout_ms = 20);
    CLIENT(client, &stand);
    client_say(&client, "GET /echo HTTP/1.1\r\nHost: loc");
    client_read_end(&client);
    CHECK_EQ(client_count(&client, "HTTP/1.1 408 "), 1);
}

TEST(a_body_that_does_not_come_is_a_408)
{
    STAND(stand, .body_timeout_ms = 20);
    CLIENT(client, &stand);
    client_say(&client, "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nab");
    client_read_end(&client);
    CHECK_EQ(client_count(&client, "HTTP/1.1 408 "), 1);
}

TEST(an_idle_connection_is_closed_without_a_word)
{
    STAND(stand, .idle_timeout_ms = 20);
    CLIENT(fresh, &stand);
    CLIENT(used, &stand);
    client_say(&used, GET("/echo"));
    client_read_end(&fresh);
    client_read_end(&used);
    CHECK_EQ(fresh.in.len, 0);
    CHECK_EQ(client_count(&used, "HTTP/1.1 "), 1);
    CHECK_EQ(uv_backend_timeout(&stand.loop), -1); /* and nothing wakes the server any more */
}

TEST(a_parked_request_is_not_idle)
{
    STAND(stand, .idle_timeout_ms = 20, .head_timeout_ms = 20);
    CLIENT(other, &stand);
    CLIENT(client, &stand);
    client_say(&client, GET("/park"));
    stand_step_until(&stand, &stand.handled, 1);
    client_read_end(&other); /* the same time later */
    exchange_answer(stand.kept, 200, "text/plain", STR(""), STR("parked"));
    CHECK(client_sees(&client, "parked"));
}

TEST(a_reader_that_does_not_read_is_dropped)
{
    STAND(stand, .write_timeout_ms = 20);
    CLIENT(client, &stand);
    client_say(&client, GET("/big"));
    stand_step_until(&stand, &stand.handled, 1);
    while (server_connections(stand.server) > 0) {
        stand_step(&stand, -1);
    }
    client_read_end(&client);
    CHECK(client.in.len < BIG_BODY);
}

TEST(a_large_answer_reaches_a_reader_that_reads)
{
    STAND(stand, .write_timeout_ms = 2000);
    CLIENT(client, &stand);
    client_say(&client, GET("/big") GET("/echo"));
    CHECK(client_sees(&client, "GET "));
    CHECK(client.in.len > BIG_BODY);
}

static void answer_late(struct exchange *exchange)
{
    exchange_answer(exchange, 200, "text/plain", STR(""), STR("late"));
}

TEST(an_exchange_timer_fires_once)
{
    STAND(stand, 0);
    CLIENT(client, &stand);
    client_say(&client, GET("/park"));
    stand_step_until(&stand, &stand.handled, 1);
    exchange_timer(stand.kept, 100000, answer_late);
    exchange_timer(stand.kept, 5, answer_late);
    CHECK(client_sees(&client, "late"));
}

/* ---- Streams ---- */

TEST(a_stream_sends_until_it_is_ended)
{
    STAND(stand, 0);
    CLIENT(client, &stand);
    client_say(&client, GET("/stream"));
    CHECK(client_sees(&client, "\r\n\r\n"));
    CHECK_EQ(client_count(&client, "Content-Type: text/event-stream\r\n"), 1);
    CHECK_EQ(client_count(&client, "Cache-Control: no-store\r\nX-Accel-Buffering: no\r\n"), 1);
    CHECK(stream_send(stand.kept, STR("one\n")));
    CHECK(stream_send(stand.kept, STR("two\n")));
    exchange_end(stand.kept);
    client_read_end(&client);
    CHECK(str_ends(buf_view(&client.in), STR("\r\n\r\none\ntwo\n")));
    CHECK_EQ(stand.gone, 0);
}

TEST(a_stream_ends_when_its_reader_leaves)
{
    STAND(stand, 0);
    CLIENT(client, &stand);
    client_say(&client, GET("/stream"));
    CHECK(client_sees(&client, "\r\n\r\n"));
    client_close(&client);
    stand_step_until(&stand, &stand.gone, 1);
    CHECK_EQ(server_connections(stand.server), 0);
}

static size_t fill_stream(struct stand *stand)
{
    static const char piece[8192];
    size_t sent = 0;
    while (stream_send(stand->kept, (struct str){piece, sizeof piece})) {
        sent += sizeof piece;
    }
    return sent;
}

TEST(a_full_stream_takes_no_more_until_it_has_drained)
{
    STAND(stand, 0);
    CLIENT(client, &stand);
    client_say(&client, GET("/stream"));
    CHECK(client_sees(&client, "\r\n\r\n"));
    size_t sent = fill_stream(&stand);
    CHECK(stream_pending(stand.kept) <= STREAM_PENDING_MAX);
    while (stand.drained == 0) {
        client_read_some(&client);
    }
    CHECK(client.in.len > 0 && sent > 0);
    CHECK_EQ(stream_pending(stand.kept), 0);
    CHECK(stream_send(stand.kept, STR("more")));
    exchange_end(stand.kept);
}

TEST(a_stream_whose_reader_does_not_read_is_dropped)
{
    STAND(stand, .write_timeout_ms = 20);
    CLIENT(client, &stand);
    client_say(&client, GET("/stream"));
    CHECK(client_sees(&client, "\r\n\r\n"));
    fill_stream(&stand);
    stand_step_until(&stand, &stand.gone, 1);
    CHECK_EQ(server_connections(stand.server), 0);
}
