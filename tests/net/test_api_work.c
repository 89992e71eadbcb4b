/* tests/net/test_api_work.c: workers and those who wait, over real sockets.
 *
 * SPDX-License-Identifier: MIT */
#include <sched.h>

#include "net/call.h"
#include "rig.h"
#include "test.h"

#define NO_TASK "0192f3a0-0000-7000-8000-000000000001"

/* ---- Working ---- */

TEST(a_claimed_task_is_completed_once_and_repeating_it_is_fine)
{
    RIG(rig);
    rig_create(&rig, "{'taskType':'a'}");
    struct rig_claimed claimed = rig_claim(&rig);
    CHECK_STR(rig_text(&rig, "tasks.0.state"), "RUNNING");
    CHECK_STR(rig_text(&rig, "tasks.0.workerId"), "w");
    CHECK_STR(rig_text(&rig, "tasks.0.leaseExpiresAt"), "2027-03-01T09:01:00.000Z");
    const char *complete = rig_printf(&rig, "POST /api/tasks/%s/complete", claimed.id);
    const char *body =
        rig_printf(&rig, "{'lease':'%s','result':[1, 2],'cost':{'tokens':7}}", claimed.lease);

    CHECK_EQ(rig_ask(&rig, complete, body), 200);
    CHECK_STR(rig_text(&rig, "state"), "COMPLETED");
    CHECK_STR(rig_raw(&rig, "result"), "[1, 2]");
    CHECK_STR(rig_raw(&rig, "cost.tokens"), "7");
    CHECK(str_absent(rig_raw(&rig, "workerId")));
    CHECK_EQ(rig_ask(&rig, complete, body), 200);
    rig_ask(&rig, rig_printf(&rig, "POST /api/tasks/%s/fail", claimed.id),
            rig_printf(&rig, "{'lease':'%s'}", claimed.lease));
    rig_check_error(&rig, 409, "lease_lost", NULL);
    rig_ask(&rig, complete, "{'lease':'nonsense'}");
    rig_check_error(&rig, 409, "lease_lost", NULL);
    CHECK_EQ(rig_ask(&rig, rig_printf(&rig, "GET /api/tasks/%s", claimed.id), ""), 200);
    CHECK_STR(rig_text(&rig, "attempts.0.outcome"), "COMPLETED");
    CHECK_STR(rig_raw(&rig, "attempts.0.number"), "1");
}

TEST(a_failure_is_retried_after_its_backoff)
{
    RIG(rig);
    rig_create(&rig, "{'taskType':'a'}");
    struct rig_claimed claimed = rig_claim(&rig);

    CHECK_EQ(rig_ask(&rig, rig_printf(&rig, "POST /api/tasks/%s/fail", claimed.id),
                     rig_printf(&rig, "{'lease':'%s','error':{'code':'E','message':'m'}}",
                                claimed.lease)),
             200);
    CHECK_STR(rig_text(&rig, "state"), "RETRYING");
    CHECK_STR(rig_raw(&rig, "retries"), "1");
    CHECK_STR(rig_text(&rig, "error.code"), "E");
    CHECK_STR(rig_text(&rig, "scheduledAt"), "2027-03-01T09:00:05.000Z");
    CHECK_EQ(rig_ask(&rig, rig_printf(&rig, "GET /api/tasks/%s/why", claimed.id), ""), 200);
    CHECK_STR(rig_text(&rig, "reasons.0.code"), "retry_backoff");
    CHECK_EQ(rig_ask(&rig, "POST /api/test/clock", "{'advanceMs':5000}"), 200);
    CHECK_STR(rig_text(&rig, "now"), "2027-03-01T09:00:05.000Z");
    CHECK_EQ(rig_ask(&rig, rig_printf(&rig, "GET /api/tasks/%s", claimed.id), ""), 200);
    CHECK_STR(rig_text(&rig, "state"), "QUEUED");
}

TEST(a_heartbeat_sets_the_lease_and_keeps_progress_and_log)
{
    RIG(rig);
    rig_create(&rig, "{'taskType':'a'}");
    struct rig_claimed claimed = rig_claim(&rig);

    CHECK_EQ(rig_ask(&rig, rig_printf(&rig, "POST /api/tasks/%s/heartbeat", claimed.id),
                     rig_printf(&rig,
                                "{'lease':'%s','progress':{'percent':40,'message':'x'},"
                                "'log':['one','two'],'extendMs':90000}",
                                claimed.lease)),
             200);
    CHECK_STR(rig_raw(&rig, "cancelRequested"), "false");
    CHECK_STR(rig_text(&rig, "leaseExpiresAt"), "2027-03-01T09:01:30.000Z");
    CHECK_EQ(rig_ask(&rig, rig_printf(&rig, "GET /api/tasks/%s", claimed.id), ""), 200);
    CHECK_STR(rig_raw(&rig, "progress"), "{\"percent\":40,\"message\":\"x\"}");
    CHECK_STR(rig_raw(&rig, "attempts.0.log"), "[\"one\",\"two\"]");
}

TEST(a_release_puts_it_back_without_using_a_retry)
{
    RIG(rig);
    rig_create(&rig, "{'taskType':'a'}");
    struct rig_claimed claimed = rig_claim(&rig);
    const char *release = rig_printf(&rig, "POST /api/tasks/%s/release", claimed.id);

    CHECK_EQ(rig_ask(&rig, release, rig_printf(&rig, "{'lease':'%s'}", claimed.lease)), 200);
    CHECK_STR(rig_text(&rig, "state"), "QUEUED");
    CHECK_STR(rig_raw(&rig, "retries"), "0");
}

TEST(many_endings_are_answered_one_by_one)
{
    RIG(rig);
    rig_create(&rig, "{'taskType':'a'}");
    struct rig_claimed claimed = rig_claim(&rig);
    CHECK_EQ(rig_ask(&rig, "POST /api/finish",
                     rig_printf(&rig,
                                "[{'id':'%s','lease':'%s','outcome':'complete','result':5},"
                                "{'id':'%s','lease':'9-0000000000000001','outcome':'fail'},"
                                "{'id':'" NO_TASK "','lease':'x','outcome':'release'}]",
                                claimed.id, claimed.lease, claimed.id)),
             200);
    CHECK_STR(rig_raw(&rig, "0.status"), "200");
    CHECK_STR(rig_text(&rig, "0.task.state"), "COMPLETED");
    CHECK_STR(rig_raw(&rig, "1.status"), "409");
    CHECK_STR(rig_text(&rig, "1.error.code"), "lease_lost");
    CHECK_STR(rig_raw(&rig, "2.status"), "404");
    CHECK_STR(rig_text(&rig, "2.id"), NO_TASK);
}

TEST(a_claim_finishes_first_and_answers_both)
{
    RIG(rig);
    rig_create(&rig, "{'taskType':'a'}");
    rig_create(&rig, "{'taskType':'b'}");
    struct rig_claimed claimed = rig_claim(&rig);
    CHECK_EQ(rig_ask(&rig, "POST /api/claim",
                     rig_printf(&rig,
                                "{'workerId':'w','finish':[{'id':'%s','lease':'%s',"
                                "'outcome':'complete','result':5},{'id':'" NO_TASK
                                "','lease':'x','outcome':'release'}]}",
                                claimed.id, claimed.lease)),
             200);
    CHECK_STR(rig_text(&rig, "tasks.0.taskType"), "b");
    CHECK_STR(rig_raw(&rig, "finished.0.status"), "200");
    CHECK_STR(rig_text(&rig, "finished.0.task.state"), "COMPLETED");
    CHECK_STR(rig_raw(&rig, "finished.1.status"), "404");
    CHECK_EQ(rig_ask(&rig, "POST /api/claim", "{'workerId':'w','finish':[]}"), 200);
    CHECK_STR(rig_raw(&rig, "finished"), "[]");
    CHECK_EQ(rig_ask(&rig, "POST /api/claim", "{'workerId':'w'}"), 200);
    CHECK(str_absent(rig_raw(&rig, "finished")));
}

TEST(a_finish_counts_though_its_client_leaves_while_the_claim_waits)
{
    RIG(rig);
    rig_create(&rig, "{'taskType':'a'}");
    struct rig_claimed claimed = rig_claim(&rig);
    {
        CLIENT(worker, &rig.stand);
        rig_say(&worker, "POST /api/claim",
                rig_printf(&rig,
                           "{'workerId':'w','waitMs':60000,'finish':[{'id':'%s','lease':'%s',"
                           "'outcome':'complete'}]}",
                           claimed.id, claimed.lease));
        rig_until(&rig, "GET /api/stats", "waitingClaims", "1");
    }
    rig_until(&rig, "GET /api/stats", "waitingClaims", "0");
    CHECK_EQ(rig_ask(&rig, rig_printf(&rig, "GET /api/tasks/%s", claimed.id), ""), 200);
    CHECK_STR(rig_text(&rig, "state"), "COMPLETED");
}

/* ---- Waiting ---- */

TEST(a_waiting_claim_gets_the_task_that_arrives)
{
    RIG(rig);
    CLIENT(worker, &rig.stand);
    rig_say(&worker, "POST /api/claim", "{'workerId':'w2','waitMs':60000}");
    rig_until(&rig, "GET /api/stats", "waitingClaims", "1");
    const char *id = rig_create(&rig, "{'taskType':'a'}");

    CHECK_EQ(rig_hear(&rig, &worker), 200);
    CHECK_STR(rig_text(&rig, "tasks.0.id"), id);
}

TEST(a_waiting_claim_whose_client_left_takes_nothing)
{
    RIG(rig);
    CLIENT(worker, &rig.stand);
    rig_say(&worker, "POST /api/claim", "{'workerId':'w2','waitMs':60000}");
    rig_until(&rig, "GET /api/stats", "waitingClaims", "1");
    client_close(&worker);
    rig_until(&rig, "GET /api/stats", "waitingClaims", "0");
    rig_create(&rig, "{'taskType':'a'}");

    CHECK_STR(rig_text(&rig, "state"), "QUEUED");
    rig_claim(&rig);
    CHECK_STR(rig_raw(&rig, "tasks.0.attempt"), "1");
}

/* How many answers of the engine wait for the loop. */
static size_t answers_ready(struct rig *rig)
{
    size_t count = 0;
    pthread_mutex_lock(&rig->api->answers.lock);
    LIST_EACH(&rig->api->answers.messages, it)
    {
        count++;
    }
    pthread_mutex_unlock(&rig->api->answers.lock);
    return count;
}

static void forget(struct api_sender *sender, struct command *command)
{
    (void)sender;
    (void)command;
}

/* The client leaves, then the engine hands it a task, and only then does the loop run. */
TEST(a_task_that_was_claimed_for_a_client_that_left_is_released)
{
    RIG(rig);
    CLIENT(worker, &rig.stand);
    rig_say(&worker, "POST /api/claim", "{'workerId':'w2','waitMs':60000}");
    rig_until(&rig, "GET /api/stats", "waitingClaims", "1");
    struct api_sender sender = {forget};
    struct order order = {.delay_ms = -1,
                          .task = {.type = STR("a"),
                                   .queue = STR("default"),
                                   .priority = TASK_NORMAL,
                                   .progress = -1,
                                   .cost = TASK_COST_NONE}};
    struct command create = {.kind = COMMAND_CREATE,
                             .arena = &rig.arena,
                             .sender = &sender,
                             .reply_to = &rig.api->answers,
                             .create = {&order, 1}};
    struct list commands;
    list_init(&commands);
    list_append(&commands, &create.link);
    stand_step(&rig.stand, -1); /* nothing is left in the kernel's list, so that what comes next */
    stand_step(&rig.stand, -1); /* is seen in the order in which it comes */
    client_close(&worker);
    engine_give(rig.engine, &commands);
    while (answers_ready(&rig) < 2) {
        sched_yield();
    }

    rig_until(&rig, "GET /api/tasks", "0.state", "\"QUEUED\"");
    CHECK_STR(rig_raw(&rig, "0.attempt"), "1");
    CHECK_STR(rig_raw(&rig, "0.retries"), "0");
}

TEST(too_many_waiting_claims_are_told_to_come_back)
{
    RIG(rig);
    CLIENT(one, &rig.stand);
    CLIENT(two, &rig.stand);
    rig_say(&one, "POST /api/claim", "{'workerId':'w1','waitMs':60000}");
    rig_say(&two, "POST /api/claim", "{'workerId':'w2','waitMs':60000}");
    rig_until(&rig, "GET /api/stats", "waitingClaims", "2");

    rig_ask(&rig, "POST /api/claim", "{'workerId':'w3','waitMs':60000}");
    rig_check_error(&rig, 429, "resource_exhausted", NULL);
    CHECK(strstr(rig.head.ptr, "Retry-After: 1\r\n") != NULL);
}

TEST(a_claim_that_waits_in_vain_is_answered_with_none)
{
    RIG(rig);
    CHECK_EQ(rig_ask(&rig, "POST /api/claim", "{'workerId':'w','waitMs':1}"), 200);
    CHECK_STR(rig.body, "{\"tasks\":[]}");
}

TEST(waiting_for_a_task_holds_the_answer_until_it_ends)
{
    RIG(rig);
    CLIENT(watcher, &rig.stand);
    rig_create(&rig, "{'taskType':'a'}");
    struct rig_claimed claimed = rig_claim(&rig);
    rig_say(&watcher, rig_printf(&rig, "GET /api/tasks/%s?waitMs=60000", claimed.id), "");
    rig_ask(&rig, "GET /api/stats", "");
    rig_ask(&rig, rig_printf(&rig, "POST /api/tasks/%s/complete", claimed.id),
            rig_printf(&rig, "{'lease':'%s'}", claimed.lease));

    CHECK_EQ(rig_hear(&rig, &watcher), 200);
    CHECK_STR(rig_text(&rig, "state"), "COMPLETED");
    CHECK_EQ(rig_ask(&rig, rig_printf(&rig, "GET /api/tasks/%s?waitMs=60000", claimed.id), ""),
             200);
    CHECK_STR(rig_text(&rig, "state"), "COMPLETED");
}

TEST(waiting_in_vain_answers_the_task_as_it_is)
{
    RIG(rig);
    const char *id = rig_create(&rig, "{'taskType':'a'}");

    CHECK_EQ(rig_ask(&rig, rig_printf(&rig, "GET /api/tasks/%s?waitMs=1", id), ""), 200);
    CHECK_STR(rig_text(&rig, "state"), "QUEUED");
    rig_ask(&rig, rig_printf(&rig, "GET /api/tasks/%s?waitMs=60001", id), "");
    rig_check_error(&rig, 400, "invalid_argument", "waitMs");
    rig_ask(&rig, "GET /api/tasks/" NO_TASK "?waitMs=60000", "");
    rig_check_error(&rig, 404, "not_found", NULL);
}

TEST(a_stream_of_a_task_begins_with_its_state_and_ends_with_it)
{
    RIG(rig);
    CLIENT(watcher, &rig.stand);
    const char *id = rig_create(&rig, "{'taskType':'a'}");
    rig_say(&watcher, rig_printf(&rig, "GET /api/tasks/%s/stream", id), "");
    CHECK(client_sees(&watcher, "\"state\":\"QUEUED\""));
    rig_ask(&rig, rig_printf(&rig, "POST /api/tasks/%s/cancel", id), "");

    client_read_end(&watcher);
    CHECK(client_sees(&watcher, "\"state\":\"CANCELLED\""));
    CLIENT(late, &rig.stand);
    rig_say(&late, rig_printf(&rig, "GET /api/tasks/%s/stream", id), "");
    client_read_end(&late);
    CHECK(client_sees(&late, "event: state\ndata: "));
    CHECK(client_sees(&late, "\"state\":\"CANCELLED\""));
}
