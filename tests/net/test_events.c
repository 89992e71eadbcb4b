/* tests/net/test_events.c: claims about event streams and waiting for a task.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "base/buf.h"
#include "base/mem.h"
#include "net/backlog.h"
#include "net/events.h"
#include "stand.h"
#include "test.h"

#define BOOT_MS INT64_C(1800000000000)
#define FIRST   ((uint64_t)BOOT_MS << 20)

struct bench {
    struct stand stand;
    struct events *events;
};

static void on_subscribe(struct stand *stand, struct exchange *exchange)
{
    struct bench *bench = stand->user;
    struct events_filter filter;
    struct err err = ERR_INIT;
    if (!events_filter_parse(exchange, &filter, &err)) {
        exchange_answer(exchange, 400, "text/plain", STR(""), str_of(err.text));
    } else {
        CHECK_OK(events_subscribe(bench->events, exchange, &filter, &err));
    }
}

static void bench_open(struct bench *bench)
{
    struct err err = ERR_INIT;
    stand_open(&bench->stand, &(struct server_options){0});
    CHECK_OK(events_start(&bench->stand.loop, BOOT_MS, &bench->events, &err));
    bench->stand.other = on_subscribe;
    bench->stand.user = bench;
}

static void bench_close(struct bench *bench)
{
    events_stop(bench->events);
    stand_close(&bench->stand);
    events_free(bench->events);
}

#define BENCH(name)                                                                                \
    SCOPED(bench_close) struct bench name;                                                         \
    bench_open(&name)

static struct event state_of(uint64_t task, enum task_state state)
{
    return (struct event){.kind = EVENT_STATE,
                          .at_ms = BOOT_MS,
                          .task = {0x0123456789abcdef, task},
                          .type = STR("mail"),
                          .queue = STR("default"),
                          .document = task == 1 ? STR("doc") : STR_NONE,
                          .state = state,
                          .attempt = 2,
                          .percent = -1};
}

static void happens(struct bench *bench, struct event event)
{
    struct event_batch *batch = mem_new(struct event_batch);
    batch->events = arena_new(&batch->arena, struct event);
    *batch->events = event;
    batch->count = 1;
    events_give(bench->events, batch);
}

static void subscribe(struct client *client, const char *query, const char *header)
{
    char text[512];
    snprintf(text, sizeof text, "GET /api/events%s HTTP/1.1\r\nHost: localhost\r\n%s\r\n", query,
             header);
    client_say(client, text);
}

TEST(a_subscriber_sees_what_happens_from_then_on)
{
    BENCH(bench);
    happens(&bench, state_of(9, TASK_QUEUED));
    CLIENT(client, &bench.stand);
    subscribe(&client, "", "");
    CHECK(client_sees(&client, "\r\n\r\nretry: 3000\n\n"));
    happens(&bench, state_of(1, TASK_RUNNING));
    CHECK(client_sees(&client, "id: 1887436800000000001\nevent: state\ndata: {\"taskId\":"
                               "\"01234567-89ab-cdef-0000-000000000001\",\"taskType\":\"mail\","
                               "\"documentId\":\"doc\",\"queue\":\"default\",\"state\":\"RUNNING\","
                               "\"attempt\":2,\"at\":\"2027-01-15T08:00:00.000Z\"}\n\n"));
    CHECK_EQ(client_count(&client, "event: "), 1);
    CHECK_EQ(events_last(bench.events), FIRST + 1);
}

TEST(progress_log_and_queue_events_carry_their_own_fields)
{
    BENCH(bench);
    CLIENT(client, &bench.stand);
    subscribe(&client, "", "");
    CHECK(client_sees(&client, "retry: 3000\n\n"));
    struct event event = state_of(1, TASK_RUNNING);
    event.kind = EVENT_PROGRESS;
    event.percent = 12.5;
    event.text = STR("half\nway");
    happens(&bench, event);
    event.kind = EVENT_LOG;
    event.text = STR("one\ntwo\n");
    happens(&bench, event);
    happens(&bench, (struct event){.kind = EVENT_QUEUE, .queue = STR("q"), .text = STR("paused")});
    CHECK(
        client_sees(&client, "event: queue\ndata: {\"queue\":\"q\",\"change\":\"paused\",\"at\":"));
    CHECK_EQ(client_count(&client, "\"percent\":12.5,\"message\":\"half\\nway\",\"at\":"), 1);
    CHECK_EQ(client_count(&client, "\"lines\":[\"one\",\"two\"],\"at\":"), 1);
}

TEST(a_filter_leaves_out_what_was_not_asked_for)
{
    BENCH(bench);
    CLIENT(kinds, &bench.stand);
    CLIENT(document, &bench.stand);
    CLIENT(type, &bench.stand);
    subscribe(&kinds, "?types=queue,log", "");
    subscribe(&document, "?documentId=doc", "");
    subscribe(&type, "?taskType=other", "");
    CHECK(client_sees(&kinds, "retry") && client_sees(&document, "retry") &&
          client_sees(&type, "retry"));
    happens(&bench, state_of(1, TASK_QUEUED));
    happens(&bench, state_of(2, TASK_QUEUED));
    struct event other = state_of(3, TASK_QUEUED);
    other.type = STR("other");
    happens(&bench, other);
    happens(&bench, (struct event){.kind = EVENT_QUEUE, .queue = STR("q"), .text = STR("paused")});
    CHECK(client_sees(&kinds, "event: queue") && client_sees(&type, "event: state"));
    CHECK(client_sees(&document, "event: state"));
    CHECK_EQ(client_count(&kinds, "event: "), 1);
    CHECK_EQ(client_count(&document, "event: "), 1);
    CHECK_EQ(client_count(&type, "event: "), 1);
}

TEST(an_unknown_kind_or_parameter_is_refused)
{
    BENCH(bench);
    CLIENT(client, &bench.stand);
    subscribe(&client, "?types=state,nonsense", "");
    CHECK(client_sees(&client, "types must be a list of"));
    subscribe(&client, "?colour=red", "");
    CHECK(client_sees(&client, "colour is not a known parameter"));
}

TEST(who_comes_back_resumes_behind_the_last_event_it_saw)
{
    BENCH(bench);
    for (uint64_t task = 1; task <= 4; task++) {
        happens(&bench, state_of(task, TASK_QUEUED));
    }
    CLIENT(header, &bench.stand);
    subscribe(&header, "", "Last-Event-ID: 1887436800000000001\r\n");
    CHECK(client_sees(&header, "id: 1887436800000000003\n"));
    CHECK_EQ(client_count(&header, "id: "), 2);
    CHECK_EQ(client_count(&header, "id: 1887436800000000002\n"), 1);

    CLIENT(query, &bench.stand);
    subscribe(&query, "?lastEventId=1887436800000000003", "");
    CHECK(client_sees(&query, "retry: 3000\n\n"));
    happens(&bench, state_of(5, TASK_QUEUED));
    CHECK(client_sees(&query, "id: 1887436800000000004\n"));
    CHECK_EQ(client_count(&query, "event: "), 1);
}

TEST(an_unknown_place_is_reset_and_then_live)
{
    BENCH(bench);
    happens(&bench, state_of(1, TASK_QUEUED));
    static const char *const ids[] = {"1", "abc", "1887436800000009999", "99999999999999999999"};
    for (size_t i = 0; i < ARRAY_LEN(ids); i++) {
        char line[64];
        CLIENT(client, &bench.stand);
        snprintf(line, sizeof line, "Last-Event-ID: %s\r\n", ids[i]);
        subscribe(&client, "", line);
        CHECK(client_sees(&client, "retry: 3000\n\nevent: reset\ndata: {}\n\n"));
        happens(&bench, state_of(2, TASK_RUNNING));
        CHECK(client_sees(&client, "\"state\":\"RUNNING\""));
        CHECK_EQ(client_count(&client, "event: state"), 1);
    }
}

TEST(progress_is_coalesced_and_states_are_not)
{
    BENCH(bench);
    CLIENT(client, &bench.stand);
    subscribe(&client, "", "");
    CHECK(client_sees(&client, "retry"));
    for (int i = 1; i <= 50; i++) {
        struct event event = state_of(1, TASK_RUNNING);
        happens(&bench, event);
        event.kind = EVENT_PROGRESS;
        event.percent = i;
        happens(&bench, event);
    }
    CHECK(client_sees(&client, "\"percent\":50")); /* a quarter of a second later */
    CHECK_EQ(client_count(&client, "event: state"), 50);
    CHECK_EQ(client_count(&client, "event: progress"), 2);
    CHECK_EQ(client_count(&client, "\"percent\":1,"), 1);
}

TEST(a_subscriber_that_leaves_is_forgotten)
{
    BENCH(bench);
    CLIENT(client, &bench.stand);
    subscribe(&client, "", "");
    CHECK(client_sees(&client, "retry"));
    CHECK_EQ(events_subscribers(bench.events), 1);
    client_close(&client);
    while (events_subscribers(bench.events) > 0) {
        stand_step(&bench.stand, -1);
    }
    happens(&bench, state_of(1, TASK_QUEUED));
    stand_step(&bench.stand, -1);
    CHECK_EQ(uv_backend_timeout(&bench.stand.loop), -1); /* and nothing wakes the server */
}

TEST(a_subscriber_that_falls_off_the_backlog_is_dropped)
{
    BENCH(bench);
    CLIENT(client, &bench.stand);
    subscribe(&client, "", "");
    CHECK(client_sees(&client, "retry"));
    SCOPED(buf_fini) struct buf lines = BUF_INIT(60000);
    memset(buf_room(&lines, lines.max), 'x', lines.max);
    buf_used(&lines, lines.max);
    struct event event = state_of(1, TASK_RUNNING);
    event.kind = EVENT_LOG;
    event.text = buf_view(&lines);
    for (int i = 0; events_subscribers(bench.events) > 0; i++) {
        CHECK(i < 2000);
        happens(&bench, event);
        stand_step(&bench.stand, -1);
    }
    client_read_end(&client);
}

TEST(a_slow_subscriber_catches_up_without_a_gap)
{
    BENCH(bench);
    CLIENT(client, &bench.stand);
    subscribe(&client, "", "");
    CHECK(client_sees(&client, "retry"));
    enum { MANY = 15000 };
    for (int i = 0; i < MANY; i++) {
        happens(&bench, state_of(2, TASK_QUEUED));
        if (i % 1000 == 0) {
            uv_run(&bench.stand.loop, UV_RUN_NOWAIT);
        }
    }
    CHECK(client_sees(&client, "id: 1887436800000014999\n"));
    CHECK_EQ(client_count(&client, "event: state"), MANY);
}

/* ---- Watches ---- */

struct waiter {
    struct events_watch watch;
    int fired;
    struct events *events;
    struct events_watch *other; /* ended by this one */
};

static void on_end(struct events_watch *watch, const struct event *event)
{
    struct waiter *waiter = HOLDER(watch, struct waiter, watch);
    CHECK(id_eq(event->task, watch->task));
    waiter->fired++;
    if (waiter->other != NULL) {
        events_unwatch(waiter->events, waiter->other);
    }
}

static void wait_for(struct waiter *waiter, struct bench *bench, uint64_t task)
{
    *waiter = (struct waiter){.events = bench->events};
    waiter->watch.task = (struct task_id){0x0123456789abcdef, task};
    waiter->watch.fire = on_end;
    events_watch(bench->events, &waiter->watch);
}

TEST(a_watch_fires_once_when_its_task_has_ended)
{
    BENCH(bench);
    struct waiter one, other, removed;
    wait_for(&one, &bench, 1);
    wait_for(&other, &bench, 2);
    wait_for(&removed, &bench, 3);
    happens(&bench, state_of(1, TASK_RUNNING));
    stand_step(&bench.stand, -1);
    CHECK_EQ(one.fired, 0);
    happens(&bench, state_of(1, TASK_COMPLETED));
    happens(&bench, state_of(1, TASK_COMPLETED));
    struct event event = state_of(3, TASK_QUEUED);
    event.removed = true;
    happens(&bench, event);
    stand_step_until(&bench.stand, &removed.fired, 1);
    CHECK_EQ(one.fired, 1);
    CHECK_EQ(other.fired, 0);
    CHECK(!one.watch.active);
    events_unwatch(bench.events, &one.watch); /* over already: welcome */
    events_unwatch(bench.events, &other.watch);
}

TEST(a_watch_may_end_another_of_the_same_task)
{
    BENCH(bench);
    struct waiter one, two;
    wait_for(&one, &bench, 1);
    wait_for(&two, &bench, 1);
    one.other = &two.watch;
    two.other = &one.watch;
    happens(&bench, state_of(1, TASK_FAILED));
    while (one.fired + two.fired == 0) {
        stand_step(&bench.stand, -1);
    }
    CHECK_EQ(one.fired + two.fired, 1);
}

/* ---- The backlog ---- */

TEST(a_backlog_keeps_the_newest_within_both_bounds)
{
    SCOPED(backlog_fini) struct backlog backlog;
    backlog_init(&backlog, 100, 4, 2000);
    for (int i = 0; i < 6; i++) {
        struct event event = state_of(1, TASK_QUEUED);
        event.attempt = i;
        backlog_add(&backlog, backlog_entry_new(&event));
    }
    CHECK_EQ(backlog.first, 102);
    CHECK_EQ(backlog.next, 106);
    CHECK_EQ(backlog_event(&backlog, 103)->attempt, 3);
    char large[1500] = "";
    struct event event = {.kind = EVENT_LOG, .text = {large, sizeof large}};
    backlog_add(&backlog, backlog_entry_new(&event));
    CHECK(backlog.bytes <= 2000);
    CHECK_EQ(backlog.next, 107);
    CHECK(backlog.first > 103);
}
