/* tests/net/test_api.c: the API over real sockets, in front of the real engine.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>

#include "rig.h"
#include "test.h"

#define NO_TASK "0192f3a0-0000-7000-8000-000000000001"

/* ---- Creating ---- */

TEST(a_created_task_is_answered_whole_and_has_a_location)
{
    RIG(rig);
    CHECK_EQ(rig_ask(&rig, "POST /api/tasks",
                     "{'taskType':'mail','payload':{ 'a' : 1.0 },'documentId':'d','tags':['x'],"
                     "'metadata':{'k':null},'priority':3,'maxRetries':0,'cost':{'estimated':2}}"),
             201);

    CHECK_STR(rig_text(&rig, "state"), "QUEUED");
    CHECK_STR(rig_text(&rig, "priority"), "HIGH");
    CHECK_STR(rig_raw(&rig, "payload"), "{ \"a\" : 1.0 }");
    CHECK_STR(rig_text(&rig, "createdAt"), RIG_START);
    CHECK_STR(rig_text(&rig, "queuedAt"), RIG_START);
    CHECK_STR(rig_raw(&rig, "attempt"), "0");
    CHECK_STR(rig_raw(&rig, "maxRetries"), "0");
    CHECK_STR(rig_raw(&rig, "cost.estimated"), "2");
    CHECK(strstr(rig.head.ptr, rig_printf(&rig, "Location: /api/tasks/%s\r\n",
                                          rig_text(&rig, "id").ptr)) != NULL);
}

TEST(a_delay_or_a_time_ahead_makes_it_scheduled)
{
    RIG(rig);
    rig_create(&rig, "{'taskType':'a','delayMs':5000}");
    CHECK_STR(rig_text(&rig, "state"), "SCHEDULED");
    CHECK_STR(rig_text(&rig, "scheduledAt"), "2027-03-01T09:00:05.000Z");
    rig_create(&rig, "{'taskType':'a','scheduledAt':'2027-03-02T00:00:00+01:00'}");
    CHECK_STR(rig_text(&rig, "state"), "SCHEDULED");
    CHECK_STR(rig_text(&rig, "scheduledAt"), "2027-03-01T23:00:00.000Z");
    rig_create(&rig, "{'taskType':'a','scheduledAt':'2020-01-01T00:00:00Z'}");
    CHECK_STR(rig_text(&rig, "state"), "QUEUED");
}

TEST(a_known_key_answers_the_first_task)
{
    RIG(rig);
    const char *id = rig_create(&rig, "{'taskType':'a','idempotencyKey':'k'}");

    CHECK_EQ(rig_ask(&rig, "POST /api/tasks", "{'taskType':'b','idempotencyKey':'k'}"), 200);
    CHECK_STR(rig_text(&rig, "id"), id);
    CHECK_STR(rig_text(&rig, "taskType"), "a");
    CHECK_EQ(rig_ask(&rig, "POST /api/tasks",
                     "[{'taskType':'c'},{'taskType':'b','idempotencyKey':'k'}]"),
             201);
    CHECK_STR(rig_text(&rig, "1.id"), id);
}

TEST(many_are_created_in_order_or_not_at_all)
{
    RIG(rig);
    CHECK_EQ(rig_ask(&rig, "POST /api/tasks", "{'tasks':[{'taskType':'a'},{'taskType':'b'}]}"),
             201);
    CHECK_STR(rig_text(&rig, "0.taskType"), "a");
    CHECK_STR(rig_text(&rig, "1.taskType"), "b");
    rig_ask(&rig, "POST /api/tasks", "[{'taskType':'c'},{'taskType':'d','priority':'x'}]");
    rig_check_error(&rig, 400, "invalid_argument", "[1].priority");
    CHECK_EQ(rig_ask(&rig, "GET /api/tasks?taskType=c", ""), 200);
    CHECK_STR(rig.body, "[]");
}

TEST(requests_that_are_wrong_as_such_are_told_so)
{
    RIG(rig);
    rig_ask(&rig, "POST /api/tasks", "");
    rig_check_error(&rig, 400, "invalid_argument", NULL);
    rig_ask(&rig, "POST /api/tasks", "{'taskType':}");
    rig_check_error(&rig, 400, "invalid_argument", NULL);
    rig_ask(&rig, "POST /api/tasks?x=1", "{'taskType':'a'}");
    rig_check_error(&rig, 400, "invalid_argument", "x");
    rig_ask(&rig, "GET /api/nothing", "");
    rig_check_error(&rig, 404, "not_found", NULL);
    rig_ask(&rig, "GET /nothing", "");
    rig_check_error(&rig, 404, "not_found", NULL);
    rig_ask(&rig, "PUT /api/tasks", "{}");
    rig_check_error(&rig, 405, "method_not_allowed", NULL);
    CHECK(strstr(rig.head.ptr, "Allow: POST, GET, HEAD\r\n") != NULL);
    client_say(&rig.client, "POST /api/tasks HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n"
                            "Content-Type: text/plain\r\n\r\n{}");
    rig_hear(&rig, &rig.client);
    rig_check_error(&rig, 415, "unsupported_media_type", NULL);
    client_say(&rig.client, "GET /api/tasks HTTP/1.1\r\nHost: evil.example\r\n\r\n");
    rig_hear(&rig, &rig.client);
    rig_check_error(&rig, 403, "forbidden", NULL);
}

/* ---- Looking ---- */

TEST(a_list_pages_with_a_link_that_keeps_the_filter)
{
    RIG(rig);
    for (int i = 0; i < 3; i++) {
        rig_create(&rig, "{'taskType':'a b'}");
        rig_create(&rig, "{'taskType':'other'}");
    }
    CHECK_EQ(rig_ask(&rig, "GET /api/tasks?taskType=a%20b&limit=2", ""), 200);
    CHECK_STR(rig_text(&rig, "1.taskType"), "a b");
    CHECK(str_absent(rig_raw(&rig, "2")));
    const char *link = strstr(rig.head.ptr, "Link: </api/tasks?taskType=a%20b&limit=2&cursor=");
    CHECK(link != NULL);
    const char *next = rig_printf(&rig, "GET %.*s", (int)(strchr(link, '>') - link) - 7, link + 7);

    CHECK_EQ(rig_ask(&rig, next, ""), 200);
    CHECK_STR(rig_text(&rig, "0.taskType"), "a b");
    CHECK(str_absent(rig_raw(&rig, "1")));
    CHECK(strstr(rig.head.ptr, "Link:") == NULL);
}

TEST(a_list_leaves_big_payloads_out_and_the_detail_does_not)
{
    RIG(rig);
    char big[6000];
    memset(big, 'x', sizeof big - 1);
    big[sizeof big - 1] = '\0';
    SCOPED(buf_fini) struct buf body = BUF_INIT(16 * KIB);
    buf_printf(&body, "{'taskType':'a','payload':'%s'}", big);
    const char *id = rig_create(&rig, buf_c_text(&body));

    CHECK_EQ(rig_ask(&rig, "GET /api/tasks", ""), 200);
    CHECK_STR(rig_raw(&rig, "0.payloadOmitted"), "true");
    CHECK(str_absent(rig_raw(&rig, "0.payload")));
    CHECK_EQ(rig_ask(&rig, rig_printf(&rig, "GET /api/tasks/%s", id), ""), 200);
    CHECK_EQ(rig_raw(&rig, "payload").len, sizeof big + 1);
    CHECK_STR(rig_raw(&rig, "attempts"), "[]");
    CHECK_STR(rig_raw(&rig, "childIds"), "[]");
}

TEST(an_unknown_task_is_not_found_by_any_verb)
{
    static const char *const requests[] = {
        "GET /api/tasks/" NO_TASK,           "GET /api/tasks/no-uuid",
        "GET /api/tasks/" NO_TASK "/why",    "POST /api/tasks/" NO_TASK "/cancel",
        "POST /api/tasks/" NO_TASK "/retry", "DELETE /api/tasks/" NO_TASK,
        "GET /api/tasks/" NO_TASK "/stream"};
    RIG(rig);
    for (size_t i = 0; i < ARRAY_LEN(requests); i++) {
        rig_ask(&rig, requests[i], "");
        rig_check_error(&rig, 404, "not_found", NULL);
    }
    rig_ask(&rig, "PATCH /api/tasks/" NO_TASK, "{'priority':'LOW'}");
    rig_check_error(&rig, 404, "not_found", NULL);
    rig_ask(&rig, "POST /api/tasks/" NO_TASK "/complete", "{'lease':'1-0000000000000001'}");
    rig_check_error(&rig, 404, "not_found", NULL);
}

/* ---- Steering ---- */

TEST(cancelling_is_done_at_once_or_asked_for)
{
    RIG(rig);
    const char *queued = rig_create(&rig, "{'taskType':'b','priority':'LOW'}");
    rig_create(&rig, "{'taskType':'a'}");
    struct rig_claimed running = rig_claim(&rig);

    CHECK_EQ(rig_ask(&rig, rig_printf(&rig, "POST /api/tasks/%s/cancel", queued),
                     "{'reason':'why not'}"),
             200);
    CHECK_STR(rig_text(&rig, "state"), "CANCELLED");
    CHECK_STR(rig_text(&rig, "cancelReason"), "why not");
    CHECK_EQ(rig_ask(&rig, rig_printf(&rig, "POST /api/tasks/%s/cancel", queued), ""), 200);
    CHECK_EQ(rig_ask(&rig, rig_printf(&rig, "POST /api/tasks/%s/cancel", running.id), "{}"), 202);
    CHECK_STR(rig_raw(&rig, "cancelRequested"), "true");
    CHECK_STR(rig_text(&rig, "state"), "RUNNING");
    CHECK_EQ(rig_ask(&rig, rig_printf(&rig, "POST /api/tasks/%s/complete", running.id),
                     rig_printf(&rig, "{'lease':'%s'}", running.lease)),
             200);
    CHECK_STR(rig_text(&rig, "state"), "COMPLETED");
    rig_ask(&rig, rig_printf(&rig, "POST /api/tasks/%s/cancel", running.id), "");
    rig_check_error(&rig, 409, "conflict", NULL);
    rig_ask(&rig, rig_printf(&rig, "POST /api/tasks/%s/retry", running.id), "");
    rig_check_error(&rig, 409, "conflict", NULL);
    CHECK_EQ(rig_ask(&rig, rig_printf(&rig, "POST /api/tasks/%s/retry", queued), ""), 200);
    CHECK_STR(rig_text(&rig, "state"), "QUEUED");
    CHECK(str_absent(rig_raw(&rig, "cancelReason")));
    CHECK(str_absent(rig_raw(&rig, "cancelledAt")));
}

TEST(a_task_that_waits_can_be_changed_and_an_ended_one_removed)
{
    RIG(rig);
    const char *id = rig_create(&rig, "{'taskType':'a'}");
    const char *task = rig_printf(&rig, "/api/tasks/%s", id);

    CHECK_EQ(rig_ask(&rig, rig_printf(&rig, "PATCH %s", task),
                     "{'priority':'CRITICAL','timeoutMs':5,'maxRetries':9,"
                     "'scheduledAt':'2027-03-02T00:00:00Z'}"),
             200);
    CHECK_STR(rig_text(&rig, "state"), "SCHEDULED");
    CHECK_STR(rig_text(&rig, "priority"), "CRITICAL");
    CHECK_STR(rig_raw(&rig, "timeoutMs"), "5");
    CHECK_STR(rig_raw(&rig, "maxRetries"), "9");
    rig_ask(&rig, rig_printf(&rig, "DELETE %s", task), "");
    rig_check_error(&rig, 409, "conflict", NULL);
    CHECK_EQ(rig_ask(&rig, rig_printf(&rig, "POST %s/cancel", task), ""), 200);
    rig_ask(&rig, rig_printf(&rig, "PATCH %s", task), "{'priority':'LOW'}");
    rig_check_error(&rig, 409, "conflict", NULL);
    CHECK_EQ(rig_ask(&rig, rig_printf(&rig, "DELETE %s", task), ""), 204);
    CHECK_EQ(rig_ask(&rig, rig_printf(&rig, "GET %s", task), ""), 404);
}

TEST(a_filter_cancels_and_retries_what_it_selects)
{
    RIG(rig);
    rig_ask(&rig, "POST /api/tasks", "[{'taskType':'a'},{'taskType':'a'},{'taskType':'b'}]");

    CHECK_EQ(rig_ask(&rig, "POST /api/tasks/cancel", "{'taskType':'a','reason':'bulk'}"), 200);
    CHECK_STR(rig.body, "{\"count\":2}");
    CHECK_EQ(rig_ask(&rig, "POST /api/tasks/retry", "{'state':['CANCELLED']}"), 200);
    CHECK_STR(rig.body, "{\"count\":2}");
    rig_ask(&rig, "POST /api/tasks/cancel", "{}");
    rig_check_error(&rig, 400, "invalid_argument", NULL);
    rig_ask(&rig, "POST /api/tasks/retry", "{'taskType':'a','reason':'x'}");
    rig_check_error(&rig, 400, "invalid_argument", "reason");
}

TEST(a_queue_has_limits_can_be_paused_and_purged)
{
    RIG(rig);
    CHECK_EQ(
        rig_ask(&rig, "PUT /api/queues/a%2Fb", "{'maxConcurrent':5,'ratePerSecond':0.5,'burst':2}"),
        200);
    CHECK_STR(rig_text(&rig, "name"), "a/b");
    CHECK_STR(rig_raw(&rig, "maxConcurrent"), "5");
    CHECK_STR(rig_raw(&rig, "ratePerSecond"), "0.5");
    CHECK_STR(rig_raw(&rig, "paused"), "false");
    CHECK_STR(rig_raw(&rig, "counts.QUEUED"), "0");
    CHECK_EQ(rig_ask(&rig, "PUT /api/queues/a%2Fb", "{'maxConcurrent':null}"), 200);
    CHECK_STR(rig_raw(&rig, "maxConcurrent"), "0");
    CHECK_STR(rig_raw(&rig, "burst"), "2");
    CHECK_EQ(rig_ask(&rig, "POST /api/queues/a%2Fb/pause", ""), 200);
    CHECK_STR(rig_raw(&rig, "paused"), "true");
    rig_create(&rig, "{'taskType':'a','queue':'a/b'}");
    CHECK_EQ(rig_ask(&rig, "POST /api/claim", "{'workerId':'w','queues':['a/b']}"), 200);
    CHECK_STR(rig.body, "{\"tasks\":[]}");
    CHECK_EQ(rig_ask(&rig, "POST /api/queues/a%2Fb/resume", ""), 200);
    CHECK_EQ(rig_ask(&rig, "POST /api/queues/a%2Fb/purge", ""), 200);
    CHECK_STR(rig.body, "{\"count\":1}");
    CHECK_EQ(rig_ask(&rig, "GET /api/tasks?queue=a/b", ""), 200);
    CHECK_STR(rig_text(&rig, "0.cancelReason"), "purged");
    CHECK_EQ(rig_ask(&rig, "GET /api/queues", ""), 200);
    CHECK_STR(rig_text(&rig, "0.name"), "a/b");
    CHECK_STR(rig_raw(&rig, "0.counts.CANCELLED"), "1");
}

TEST(bad_queue_settings_are_refused_with_their_field)
{
    static const char *const bad[][3] = {
        {"PUT /api/queues/q", "{'maxConcurrent':-1}", "maxConcurrent"},
        {"PUT /api/queues/q", "{'maxConcurrent':1000001}", "maxConcurrent"},
        {"PUT /api/queues/q", "{'maxConcurrent':1.5}", "maxConcurrent"},
        {"PUT /api/queues/q", "{'ratePerSecond':'5'}", "ratePerSecond"},
        {"PUT /api/queues/q", "{'burst':-1}", "burst"},
        {"PUT /api/queues/q", "{'paused':true}", "paused"},
        {"PUT /api/queues/a%20b", "{'burst':1}", "queue"},
        {"POST /api/queues/q/pause", "{'x':1}", "x"},
    };
    RIG(rig);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        rig_ask(&rig, bad[i][0], bad[i][1]);
        rig_check_error(&rig, 400, "invalid_argument", bad[i][2]);
    }
    CHECK_EQ(rig_ask(&rig, "GET /api/queues/q", ""), 404);
}

/* ---- The system ---- */

TEST(a_document_tells_its_holder_and_its_line)
{
    RIG(rig);
    rig_create(&rig, "{'taskType':'a','documentId':'d 1'}");
    const char *waiting = rig_create(&rig, "{'taskType':'a','documentId':'d 1'}");
    struct rig_claimed claimed = rig_claim(&rig);

    CHECK_EQ(rig_ask(&rig, "GET /api/documents/d%201", ""), 200);
    CHECK_STR(rig_text(&rig, "documentId"), "d 1");
    CHECK_STR(rig_raw(&rig, "locked"), "true");
    CHECK_STR(rig_text(&rig, "taskId"), claimed.id);
    CHECK_STR(rig_text(&rig, "workerId"), "w");
    CHECK_STR(rig_text(&rig, "since"), RIG_START);
    CHECK_STR(rig_text(&rig, "waiting.0"), waiting);
    CHECK_EQ(rig_ask(&rig, "GET /api/documents?locked=true", ""), 200);
    CHECK_STR(rig_text(&rig, "0.documentId"), "d 1");
    CHECK_EQ(rig_ask(&rig, "GET /api/documents/unknown", ""), 200);
    CHECK_STR(rig.body, "{\"documentId\":\"unknown\",\"locked\":false,\"waiting\":[]}");
    CHECK_EQ(rig_ask(&rig, rig_printf(&rig, "GET /api/tasks/%s/why", waiting), ""), 200);
    CHECK_STR(rig_text(&rig, "reasons.0.code"), "document_locked");
    CHECK_STR(rig_text(&rig, "reasons.0.taskId"), claimed.id);
    CHECK_STR(rig_raw(&rig, "reasons.0.ahead"), "0");
}

TEST(workers_nodes_stats_and_health_are_shown)
{
    RIG(rig);
    rig_create(&rig, "{'taskType':'a'}");
    struct rig_claimed claimed = rig_claim(&rig);

    CHECK_EQ(rig_ask(&rig, "GET /api/workers", ""), 200);
    CHECK(rig_has(&rig,
                  "{'workers':[{'id':'w','kind':'remote','node':'n1','state':'busy','taskIds':['"));
    CHECK_STR(rig_text(&rig, "workers.0.taskIds.0"), claimed.id);
    CHECK_EQ(rig_ask(&rig, "GET /api/nodes", ""), 200);
    CHECK_STR(rig_raw(&rig, "nodes.0.leader"), "true");
    CHECK_STR(rig_raw(&rig, "nodes.0.running"), "1");
    CHECK_STR(rig_text(&rig, "nodes.0.broker"), "memory");
    CHECK_EQ(rig_ask(&rig, "GET /api/stats", ""), 200);
    CHECK_STR(rig_raw(&rig, "counts.RUNNING"), "1");
    CHECK_STR(rig_raw(&rig, "oldestReadyTask"), "null");
    CHECK_EQ(rig_ask(&rig, "GET /healthz", ""), 200);
    CHECK_STR(rig_text(&rig, "status"), "ok");
    CHECK_EQ(rig_ask(&rig, "GET /readyz", ""), 200);
    CHECK_EQ(rig_ask(&rig, "GET /openapi.json", ""), 200);
    CHECK_STR(rig_text(&rig, "openapi"), "3.1.0");
}

TEST(metrics_are_text_for_prometheus)
{
    RIG(rig);
    rig_create(&rig, "{'taskType':'a'}");

    CHECK_EQ(rig_ask(&rig, "GET /metrics", ""), 200);
    CHECK(strstr(rig.head.ptr, "Content-Type: text/plain; version=0.0.4") != NULL);
    CHECK(rig_has(&rig, "# TYPE errand_tasks_enqueued_total counter\n"
                        "errand_tasks_enqueued_total{queue='default'} 1\n"));
    CHECK(rig_has(&rig, "errand_tasks{queue='default',state='QUEUED'} 1\n"));
    CHECK(rig_has(&rig, "errand_task_wait_seconds_bucket{queue='default',le='+Inf'} 0\n"));
    CHECK(rig_has(&rig, "errand_commands_total{protocol='http',command='create'} 1\n"));
    CHECK(rig_has(&rig, "errand_build_info{version='0.0.0'} 1\n"));
    CHECK(rig_has(&rig, "errand_type_enqueued_total{type='a'} 1\n"));
    CHECK(rig_has(&rig, "errand_store_up 1\n"));
}

TEST(who_has_no_token_where_one_is_needed_is_told_so)
{
    RIG(rig);
    rig.auth.required = true;
    rig_ask(&rig, "GET /api/tasks", "");
    rig_check_error(&rig, 401, "unauthenticated", NULL);
    CHECK(strstr(rig.head.ptr, "WWW-Authenticate: Bearer") != NULL);
    rig_ask(&rig, "POST /api/tasks", "{'taskType':'a'}");
    rig_check_error(&rig, 401, "unauthenticated", NULL);
    CHECK_EQ(rig_ask(&rig, "GET /healthz", ""), 200);
    CHECK_EQ(rig_ask(&rig, "GET /readyz", ""), 200);
}

TEST(the_test_clock_goes_forward_only)
{
    RIG(rig);
    CHECK_EQ(rig_ask(&rig, "POST /api/test/clock", "{'set':'2027-03-01T10:00:00Z'}"), 200);
    CHECK_STR(rig.body, "{\"now\":\"2027-03-01T10:00:00.000Z\"}");
    CHECK_EQ(rig_ask(&rig, "POST /api/test/clock", "{'set':'2027-03-01T09:00:00Z'}"), 400);
    CHECK_EQ(rig_ask(&rig, "POST /api/test/clock", "{}"), 400);
    CHECK_EQ(rig_ask(&rig, "POST /api/test/clock", "{'advanceMs':1,'set':'2028-01-01T00:00:00Z'}"),
             400);
    rig_ask(&rig, "POST /api/test/clock", "{'advanceMs':-1}");
    rig_check_error(&rig, 400, "invalid_argument", "advanceMs");
}
