/* tests/net/test_pipeline.c: requests of one connection that are handled beside each other.
 *
 * What is asked at /ahead… overlaps and is parked, all else does not.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <sys/socket.h>

#include "net/connection.h"
#include "stand.h"
#include "test.h"

#define MANY 200

struct parked {
    struct exchange *at[MANY];
    int count, gone;
};

static bool admit(struct stand *stand, struct exchange *exchange)
{
    (void)stand;
    exchange->overlaps = str_starts(exchange->request.path, STR("/ahead"));
    if (str_is(exchange->request.path, "/refused")) {
        exchange_answer(exchange, 403, "text/plain", STR(""), STR("refused"));
        return false;
    }
    return true;
}

static void gone(struct exchange *exchange)
{
    ((struct parked *)exchange->user)->gone++;
}

static void handle(struct stand *stand, struct exchange *exchange)
{
    struct parked *parked = stand->user;
    if (str_is(exchange->request.path, "/now")) {
        exchange_answer(exchange, 200, "text/plain", STR(""), STR("now"));
        return;
    }
    exchange->user = parked;
    exchange->gone = gone;
    parked->at[parked->count++] = exchange;
}

#define PARKED(stand, parked)                                                                      \
    struct parked parked = {.count = 0};                                                           \
    STAND(stand, 0);                                                                               \
    (stand).admit = admit;                                                                         \
    (stand).other = handle;                                                                        \
    (stand).user = &(parked)

#define POST(path, body)                                                                           \
    "POST " path " HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n\r\n" body

static void answer(struct parked *parked, int which, const char *body)
{
    exchange_answer(parked->at[which], 200, "text/plain", STR(""), str_of(body));
}

/* Everything that was said before has been read: a second connection has its answer. */
static void settle(struct stand *stand)
{
    CLIENT(other, stand);
    client_say(&other, "GET /now HTTP/1.1\r\nHost: localhost\r\n\r\n");
    CHECK(client_sees(&other, "now"));
}

TEST(requests_that_overlap_are_handled_together_and_answered_in_order)
{
    PARKED(stand, parked);
    CLIENT(client, &stand);
    client_say(&client, POST("/ahead", "1") POST("/ahead", "2") POST("/ahead", "3"));
    stand_step_until(&stand, &parked.count, 3);
    answer(&parked, 2, "third");
    answer(&parked, 0, "first");
    settle(&stand);
    CHECK(client_sees(&client, "first"));
    CHECK_EQ(client_count(&client, "third"), 0);
    answer(&parked, 1, "second");
    CHECK(client_sees(&client, "third"));
    const char *text = buf_c_text(&client.in);
    CHECK(strstr(text, "first") < strstr(text, "second"));
    CHECK(strstr(text, "second") < strstr(text, "third"));
    CHECK_EQ(client_count(&client, "HTTP/1.1 200 OK"), 3);
}

TEST(a_request_that_does_not_overlap_waits_for_all_before_it_and_keeps_back_all_behind_it)
{
    PARKED(stand, parked);
    CLIENT(client, &stand);
    client_say(&client,
               POST("/ahead", "1") POST("/ahead", "2") POST("/slow", "3") POST("/ahead", "4"));
    stand_step_until(&stand, &parked.count, 2);
    settle(&stand);
    CHECK_EQ(parked.count, 2);
    answer(&parked, 1, "b");
    answer(&parked, 0, "a");
    stand_step_until(&stand, &parked.count, 3);
    CHECK_STR(parked.at[2]->request.path, "/slow");
    settle(&stand);
    CHECK_EQ(parked.count, 3);
    answer(&parked, 2, "c");
    stand_step_until(&stand, &parked.count, 4);
    answer(&parked, 3, "the last");
    CHECK(client_sees(&client, "the last"));
}

TEST(only_so_many_are_handled_at_once)
{
    PARKED(stand, parked);
    CLIENT(client, &stand);
    for (int i = 0; i < MANY; i++) {
        client_say(&client, POST("/ahead", "x"));
    }
    stand_step_until(&stand, &parked.count, PIPELINE_DEPTH);
    settle(&stand);
    CHECK_EQ(parked.count, PIPELINE_DEPTH);
    for (int i = 0; i < MANY; i++) {
        stand_step_until(&stand, &parked.count, MIN(PIPELINE_DEPTH + i, MANY));
        answer(&parked, i, i == MANY - 1 ? "the last" : "one");
    }
    CHECK(client_sees(&client, "the last"));
    CHECK_EQ(client_count(&client, "HTTP/1.1 200 OK"), MANY);
}

TEST(a_refusal_comes_behind_the_answers_before_it)
{
    PARKED(stand, parked);
    CLIENT(client, &stand);
    client_say(&client, POST("/ahead", "1") POST("/refused", "2") POST("/ahead", "3"));
    stand_step_until(&stand, &parked.count, 2); /* the body of the refused one is passed over */
    settle(&stand);
    CHECK_EQ(client_count(&client, "403"), 0);
    answer(&parked, 1, "third");
    answer(&parked, 0, "first");
    CHECK(client_sees(&client, "third"));
    const char *text = buf_c_text(&client.in);
    CHECK(strstr(text, "first") < strstr(text, "refused"));
    CHECK(strstr(text, "refused") < strstr(text, "third"));
}

TEST(what_is_not_http_is_told_so_behind_the_answers_before_it)
{
    PARKED(stand, parked);
    CLIENT(client, &stand);
    client_say(&client, POST("/ahead", "1") "this is not HTTP\r\n\r\n" POST("/ahead", "2"));
    stand_step_until(&stand, &parked.count, 1);
    settle(&stand);
    answer(&parked, 0, "number one");
    client_read_end(&client);
    CHECK_EQ(client_count(&client, "number one"), 1);
    CHECK_EQ(client_count(&client, "HTTP/1.1 400 "), 1);
    CHECK_EQ(client_count(&client, "HTTP/1.1 200 "), 1);
    CHECK_EQ(client_count(&client, "Connection: close"), 1);
    CHECK_EQ(parked.count, 1);
}

TEST(a_request_that_closes_is_the_last)
{
    PARKED(stand, parked);
    CLIENT(client, &stand);
    client_say(&client,
               POST("/ahead", "1") "POST /ahead HTTP/1.1\r\nHost: localhost\r\nConnection: "
                                   "close\r\nContent-Length: 1\r\n\r\n2" POST("/ahead", "3"));
    stand_step_until(&stand, &parked.count, 2);
    settle(&stand);
    answer(&parked, 1, "second");
    answer(&parked, 0, "first");
    client_read_end(&client);
    CHECK_EQ(client_count(&client, "second"), 1);
    CHECK_EQ(client_count(&client, "Connection: close"), 1);
    CHECK_EQ(parked.count, 2);
}

TEST(a_go_ahead_is_not_said_before_the_answers_before_it)
{
    PARKED(stand, parked);
    CLIENT(client, &stand);
    client_say(&client, POST("/ahead", "1") "POST /ahead HTTP/1.1\r\nHost: localhost\r\nExpect: "
                                            "100-continue\r\nContent-Length: 1\r\n\r\n");
    stand_step_until(&stand, &parked.count, 1);
    settle(&stand);
    answer(&parked, 0, "first");
    CHECK(client_sees(&client, "100 Continue"));
    CHECK_EQ(client_count(&client, "first"), 1);
    client_say(&client, "2");
    stand_step_until(&stand, &parked.count, 2);
    answer(&parked, 1, "second");
    CHECK(client_sees(&client, "second"));
}

TEST(whoever_leaves_is_told_to_every_handler)
{
    PARKED(stand, parked);
    {
        CLIENT(client, &stand);
        client_say(&client, POST("/ahead", "1") POST("/ahead", "2") POST("/ahead", "3"));
        stand_step_until(&stand, &parked.count, 3);
        answer(&parked, 1, "second"); /* it is kept, and dropped with the connection */
    }
    stand_step_until(&stand, &parked.gone, 2);
    answer(&parked, 0, "first");
    answer(&parked, 2, "third");
    settle(&stand);
    CHECK_EQ(server_unsent(stand.server), 0);
}

TEST(a_client_that_says_no_more_still_hears_all_answers)
{
    PARKED(stand, parked);
    CLIENT(client, &stand);
    client_say(&client, POST("/ahead", "1") POST("/ahead", "2"));
    stand_step_until(&stand, &parked.count, 2);
    shutdown(client.fd, SHUT_WR);
    stand_step_until(&stand, &parked.gone, 2);
    answer(&parked, 1, "second");
    answer(&parked, 0, "first");
    client_read_end(&client);
    CHECK_EQ(client_count(&client, "first"), 1);
    CHECK_EQ(client_count(&client, "second"), 1);
}

TEST(a_server_that_ends_answers_what_it_has_begun)
{
    PARKED(stand, parked);
    CLIENT(client, &stand);
    client_say(&client, POST("/ahead", "1") POST("/ahead", "2"));
    stand_step_until(&stand, &parked.count, 2);
    server_quiet(stand.server);
    CHECK(server_busy(stand.server));
    answer(&parked, 0, "first");
    answer(&parked, 1, "second");
    client_read_end(&client);
    CHECK_EQ(client_count(&client, "first"), 1);
    CHECK_EQ(client_count(&client, "second"), 1);
    CHECK(!server_busy(stand.server));
}

TEST(a_body_in_pieces_behind_a_parked_request_arrives_whole)
{
    PARKED(stand, parked);
    CLIENT(client, &stand);
    client_say(&client, POST("/ahead", "1") "POST /ahead HTTP/1.1\r\nHost: localhost\r\nContent-"
                                            "Length: 6\r\n\r\nab");
    stand_step_until(&stand, &parked.count, 1);
    client_say(&client, "cdef" POST("/ahead", "3"));
    stand_step_until(&stand, &parked.count, 3);
    CHECK_STR(parked.at[0]->request.body, "1");
    CHECK_STR(parked.at[1]->request.body, "abcdef");
    CHECK_STR(parked.at[2]->request.body, "3");
    for (int i = 0; i < 3; i++) {
        answer(&parked, i, i == 2 ? "the last" : "one");
    }
    CHECK(client_sees(&client, "the last"));
}

TEST(answers_that_wait_for_their_turn_are_bounded)
{
    struct parked parked = {.count = 0};
    STAND(stand, .output_max = MIB);
    stand.admit = admit;
    stand.other = handle;
    stand.user = &parked;
    CLIENT(client, &stand);
    for (int i = 0; i < 10; i++) {
        client_say(&client, POST("/ahead", "x"));
    }
    stand_step_until(&stand, &parked.count, 10);
    char body[MIB / 8];
    memset(body, 'x', sizeof body);
    for (int i = 1; i < 10; i++) { /* the first one is never answered */
        exchange_answer(parked.at[i], 200, "text/plain", STR(""), (struct str){body, sizeof body});
    }
    stand_step_until(&stand, &parked.gone, 1);
    CHECK(server_unsent(stand.server) <= MIB);
    answer(&parked, 0, "too late");
}
