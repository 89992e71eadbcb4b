/* tests/net/test_loops.c: claims about several net loops: what any of them answers, what goes to
 * the first, and how they end. Each further loop has its thread; the first is stepped by the
 * clients.
 *
 * SPDX-License-Identifier: MIT */
#include <sys/socket.h>

#include "net/call.h"
#include "rig.h"
#include "test.h"

#define FURTHER 2
#define CLIENTS 6
#define LOOPS(name)                                                                                \
    SCOPED(rig_close) struct rig name;                                                             \
    rig_open_loops(&name, FURTHER, 0)

struct crowd {
    struct client at[CLIENTS];
};

static void crowd_open(struct crowd *crowd, struct rig *rig)
{
    for (size_t i = 0; i < CLIENTS; i++) {
        client_open(&crowd->at[i], &rig->stand);
    }
}

static void crowd_close(struct crowd *crowd)
{
    for (size_t i = 0; i < CLIENTS; i++) {
        client_close(&crowd->at[i]);
    }
}

#define CROWD(name, rig)                                                                           \
    SCOPED(crowd_close) struct crowd name;                                                         \
    crowd_open(&name, rig)

static int ask(struct rig *rig, struct client *client, const char *request, const char *body)
{
    rig_say(client, request, body);
    return rig_hear(rig, client);
}

static uint64_t created_by(const struct api *api)
{
    return api->commands_given[COMMAND_CREATE];
}

/* ---- Who answers ---- */

TEST(new_connections_are_spread_evenly_and_every_loop_answers_its_own)
{
    LOOPS(rig);
    CROWD(crowd, &rig);
    for (size_t round = 0; round < 3; round++) {
        for (size_t i = 0; i < CLIENTS; i++) {
            rig_say(&crowd.at[i], "POST /api/tasks", "{'taskType':'a'}");
        }
        for (size_t i = 0; i < CLIENTS; i++) {
            CHECK_EQ(rig_hear(&rig, &crowd.at[i]), 201);
        }
    }

    /* Of seven connections, with the rig's own, no loop has more than one more than another. */
    CHECK(created_by(rig.api) >= 3);
    for (size_t i = 0; i < FURTHER; i++) {
        CHECK_EQ(created_by(rig.api->others[i]), 6);
    }
    CHECK_EQ(api_commands_given(rig.api, COMMAND_CREATE), 3 * CLIENTS);
}

TEST(the_figures_are_those_of_all_loops)
{
    LOOPS(rig);
    CROWD(crowd, &rig);
    for (size_t i = 0; i < CLIENTS; i++) {
        CHECK_EQ(ask(&rig, &crowd.at[i], "POST /api/tasks", "{'taskType':'a'}"), 201);
    }

    for (size_t i = 0; i < CLIENTS; i++) { /* whoever is asked */
        CHECK_EQ(ask(&rig, &crowd.at[i], "GET /metrics", ""), 200);
        CHECK(rig_has(&rig, "command='create'} 6\n"));
        CHECK(rig_has(&rig, "errand_connections{protocol='http'} 7\n"));
    }
}

TEST(a_list_asked_of_one_loop_has_what_another_created)
{
    LOOPS(rig);
    CROWD(crowd, &rig);
    for (size_t i = 0; i < CLIENTS; i++) {
        CHECK_EQ(ask(&rig, &crowd.at[i], "POST /api/tasks", "{'taskType':'a'}"), 201);
        const char *id = rig_text(&rig, "id").ptr;
        struct client *next = &crowd.at[(i + 1) % CLIENTS];
        CHECK_EQ(ask(&rig, next, rig_printf(&rig, "GET /api/tasks/%s", id), ""), 200);
        CHECK_STR(rig_text(&rig, "id"), id);
    }
}

TEST(a_claim_that_waits_on_one_loop_is_given_what_another_brings)
{
    LOOPS(rig);
    CROWD(crowd, &rig);
    for (size_t i = 0; i < CLIENTS; i++) {
        struct client *worker = &crowd.at[i], *producer = &crowd.at[(i + 1) % CLIENTS];
        rig_say(worker, "POST /api/claim", "{'workerId':'w','waitMs':60000}");
        CHECK_EQ(ask(&rig, producer, "POST /api/tasks", "{'taskType':'a'}"), 201);
        const char *id = rig_text(&rig, "id").ptr;
        CHECK_EQ(rig_hear(&rig, worker), 200);
        CHECK_STR(rig_text(&rig, "tasks.0.id"), id);
    }
}

TEST(a_claim_whose_client_left_is_stopped_whichever_loop_had_it)
{
    LOOPS(rig);
    CROWD(crowd, &rig);
    for (size_t i = 0; i < CLIENTS; i++) { /* more than may wait at once */
        SCOPED(client_close) struct client worker;
        client_open(&worker, &rig.stand);
        rig_say(&worker, "POST /api/claim", "{'workerId':'w','waitMs':60000}");
        rig_until(&rig, "GET /api/stats", "waitingClaims", "1");
        client_close(&worker);
        rig_until(&rig, "GET /api/stats", "waitingClaims", "0");
    }
}

/* ---- What goes to the first ---- */

TEST(a_stream_hears_what_every_loop_does_wherever_it_was_asked_for)
{
    LOOPS(rig);
    CROWD(streams, &rig);
    CROWD(crowd, &rig);
    for (size_t i = 0; i < CLIENTS; i++) {
        client_say(&streams.at[i], "GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
        CHECK(client_sees(&streams.at[i], "retry: "));
    }
    for (size_t i = 0; i < CLIENTS; i++) {
        CHECK_EQ(ask(&rig, &crowd.at[i], "POST /api/tasks",
                     rig_printf(&rig, "{'taskType':'type-%zu'}", i)),
                 201);
    }

    for (size_t i = 0; i < CLIENTS; i++) {
        for (size_t n = 0; n < CLIENTS; n++) {
            CHECK(client_sees(&streams.at[i], rig_printf(&rig, "\"type-%zu\"", n)));
        }
    }
}

TEST(a_connection_goes_on_where_its_request_has_led_it)
{
    LOOPS(rig);
    CROWD(crowd, &rig);
    for (size_t round = 0; round < 2; round++) {
        for (size_t i = 0; i < CLIENTS; i++) {
            CHECK_EQ(ask(&rig, &crowd.at[i], "GET /api/nodes", ""), 200);
            CHECK_EQ(ask(&rig, &crowd.at[i], "POST /api/tasks", "{'taskType':'a'}"), 201);
            CHECK_EQ(ask(&rig, &crowd.at[i], "GET /api/nothing", ""), 404);
        }
    }
    CHECK_EQ(created_by(rig.api), 2 * CLIENTS);
    CHECK_EQ(server_connections(rig.stand.server), CLIENTS + 1);
}

TEST(a_body_that_comes_in_pieces_follows_its_head)
{
    LOOPS(rig);
    CROWD(crowd, &rig);
    for (size_t i = 0; i < CLIENTS; i++) {
        struct client *client = &crowd.at[i];
        client_say(client, "POST /api/schedules/preview HTTP/1.1\r\nHost: localhost\r\n"
                           "Content-Type: application/json\r\nContent-Length: 20\r\n\r\n{\"cron\"");
        CHECK_EQ(ask(&rig, &rig.client, "GET /api/nodes", ""), 200);
        client_say(client, ":\"0 9 * * *\"");
        CHECK_EQ(ask(&rig, &rig.client, "GET /api/nodes", ""), 200);
        client_say(client, "}GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
        CHECK_EQ(rig_hear(&rig, client), 200);
        CHECK(rig_has(&rig, "'next'"));
        CHECK_EQ(rig_hear(&rig, client), 200);
        CHECK_STR(rig_text(&rig, "status"), "ok");
    }
}

TEST(what_was_pipelined_before_a_request_that_leaves_is_answered_before_it)
{
    LOOPS(rig);
    CROWD(crowd, &rig);
    for (size_t i = 0; i < CLIENTS; i++) {
        SCOPED(buf_fini) struct buf all = BUF_INIT(MIB);
        for (size_t n = 0; n < 8; n++) {
            buf_c(&all, "POST /api/tasks HTTP/1.1\r\nHost: localhost\r\n"
                        "Content-Type: application/json\r\nContent-Length: 16\r\n\r\n"
                        "{\"taskType\":\"a\"}");
        }
        buf_c(&all, "GET /api/nodes HTTP/1.1\r\nHost: localhost\r\n\r\n"
                    "POST /api/claim HTTP/1.1\r\nHost: localhost\r\n"
                    "Content-Type: application/json\r\nContent-Length: 25\r\n\r\n"
                    "{\"workerId\":\"w\",\"max\":10}");
        client_send(&crowd.at[i], buf_view(&all));
        for (size_t n = 0; n < 8; n++) {
            CHECK_EQ(rig_hear(&rig, &crowd.at[i]), 201);
        }
        CHECK_EQ(rig_hear(&rig, &crowd.at[i]), 200);
        CHECK(rig_has(&rig, "'nodes'"));
        CHECK_EQ(rig_hear(&rig, &crowd.at[i]), 200);
        CHECK(rig_has(&rig, "'tasks'"));
        CHECK_STR(rig_text(&rig, "tasks.7.taskType"), "a");
    }
}

TEST(who_says_no_more_and_listens_is_answered_by_the_first_too)
{
    LOOPS(rig);
    CROWD(crowd, &rig);
    for (size_t i = 0; i < CLIENTS; i++) {
        client_say(&crowd.at[i], "GET /api/nodes HTTP/1.1\r\nHost: localhost\r\n\r\n");
        shutdown(crowd.at[i].fd, SHUT_WR);
        CHECK(client_sees(&crowd.at[i], "\"nodes\""));
        client_read_end(&crowd.at[i]);
    }
}

/* ---- Limits, and the end ---- */

TEST(connections_of_all_loops_have_one_limit)
{
    SCOPED(rig_close) struct rig rig;
    rig_open_loops(&rig, FURTHER, CLIENTS + 1);
    CROWD(crowd, &rig);
    for (size_t i = 0; i < CLIENTS; i++) {
        CHECK_EQ(ask(&rig, &crowd.at[i], "GET /healthz", ""), 200);
    }
    CHECK_EQ(ask(&rig, &rig.client, "GET /healthz", ""), 200);

    CLIENT(extra, &rig.stand);
    CHECK_EQ(ask(&rig, &extra, "GET /healthz", ""), 503);
    client_read_end(&extra);
}

TEST(a_loop_that_drains_is_busy_until_those_who_wait_are_answered)
{
    LOOPS(rig);
    CROWD(crowd, &rig);
    for (size_t i = 0; i < 2; i++) {
        rig_say(&crowd.at[i], "POST /api/claim", "{'workerId':'w','waitMs':60000}");
    }
    rig_until(&rig, "GET /api/stats", "waitingClaims", "2");
    loops_quiet(rig.loops);
    server_quiet(rig.stand.server);
    CHECK(loops_busy(rig.loops));
    (void)api_command(rig.api, COMMAND_DRAIN);

    for (size_t i = 0; i < 2; i++) {
        CHECK_EQ(rig_hear(&rig, &crowd.at[i]), 200);
        CHECK(str_starts(rig.body, STR("{\"tasks\":[]")));
        client_read_end(&crowd.at[i]);
    }
    WAIT_FOR(!loops_busy(rig.loops));
}

TEST(what_changes_at_home_changes_on_every_loop)
{
    LOOPS(rig);
    struct err err = ERR_INIT;
    CHECK(loops_turn(rig.loops)); /* nobody had been asked before */
    CHECK_OK(server_change(
        rig.stand.server, &(struct server_changes){.connections_max = 100, .body_max = KIB}, &err));
    api_set_payload_max(rig.api, 16);
    loops_change(rig.loops, 16, false);
    WAIT_FOR(loops_turn(rig.loops)); /* it has looked at both */

    CROWD(crowd, &rig);
    for (size_t i = 0; i < CLIENTS; i++) {
        ask(&rig, &crowd.at[i], "POST /api/tasks",
            "{'taskType':'a','payload':'longer than sixteen'}");
        rig_check_error(&rig, 413, "too_large", "payload");
    }
}
