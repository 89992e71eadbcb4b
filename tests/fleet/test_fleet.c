/* tests/fleet/test_fleet.c: what the fleet's thread does and when: the register of nodes, the
 * leader, the walks over what others left, doubt about the broker.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>

#include "conformance/redis_server.h"
#include "stand.h"
#include "test.h"

static struct fleet_status status(struct stand *stand)
{
    return fleet_status(stand->fleet);
}

/* What another node says of itself, as the register keeps it. */
static void add_node(struct rows *rows, const char *id, const char *broker)
{
    size_t at = rows->nodes_count++;
    snprintf(rows->nodes[at].id, sizeof rows->nodes[at].id, "%s", id);
    snprintf(rows->nodes[at].body, sizeof rows->nodes[at].body,
             "{\"id\":\"%s\",\"broker\":\"%s\"}\n\n"
             "{\"created\":2,\"waiting\":3,\"hintsLayout\":%d,\"wants\":[]}",
             id, broker, BROKER_LAYOUT);
    rows->nodes[at].seen_ms = 1800000000000;
}

/* ---- The register of nodes ---- */

TEST(a_node_is_in_the_register_after_its_first_tick_and_sees_the_others)
{
    struct rows rows = {0};
    STAND(a);
    STAND(b);
    stand_init(&a, &rows, "a", "poll:");
    stand_init(&b, &rows, "b", "poll:");
    stand_tick(&a, 1000);
    CHECK_EQ(rows.nodes_count, 1);
    stand_tick(&b, 1000);
    stand_tick(&a, 2000);
    CHECK(status(&a).nodes == 2 && status(&b).nodes == 2);
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct fleet_view view;
    fleet_look(a.fleet, &arena, &view);
    CHECK(strstr(view.nodes.ptr, "\"id\":\"b\"") != NULL);
    CHECK(strstr(view.nodes.ptr, "\"id\":\"a\"") == NULL);
}

TEST(a_node_that_is_silent_for_too_long_vanishes)
{
    struct rows rows = {0};
    STAND(a);
    stand_init(&a, &rows, "a", "poll:");
    add_node(&rows, "gone", "poll");
    stand_tick(&a, 1000);
    CHECK_EQ(status(&a).nodes, 2);
    stand_tick(&a, FLEET_DEAD_MS + 1000);
    CHECK_EQ(status(&a).nodes, 1);
}

TEST(the_load_of_the_others_is_added_up)
{
    struct rows rows = {0};
    STAND(a);
    stand_init(&a, &rows, "a", "poll:");
    add_node(&rows, "b", "poll");
    add_node(&rows, "c", "poll");
    stand_tick(&a, 1000);
    CHECK_EQ((int)status(&a).others.created_per_second, 4);
    CHECK_EQ(status(&a).others.waiting_claims, 6);
}

TEST(a_store_that_is_away_is_told_and_comes_back)
{
    struct rows rows = {0};
    STAND(a);
    stand_init(&a, &rows, "a", "poll:");
    stand_tick(&a, 1000);
    CHECK(!status(&a).store_away);
    rows.away = true;
    stand_tick(&a, 2000);
    CHECK(status(&a).store_away && a.fleet->steward == NULL);
    rows.away = false;
    stand_tick(&a, 3000);
    CHECK(!status(&a).store_away);
}

/* ---- The leader ---- */

TEST(one_node_leads_and_another_follows_when_it_is_silent)
{
    struct rows rows = {0};
    STAND(a);
    STAND(b);
    stand_init(&a, &rows, "a", "poll:");
    stand_init(&b, &rows, "b", "poll:");
    stand_tick(&a, 1000);
    stand_tick(&b, 1000);
    CHECK(status(&a).leads && !status(&b).leads && a.fleet->epoch == 1);
    CHECK_EQ(stand_given(&a, COMMAND_LEAD)->lead.epoch, 1);
    stand_tick(&b, 1000 + FLEET_LEAD_TTL_MS);
    CHECK(status(&b).leads && b.fleet->epoch == 2);
    stand_tick(&a, 2000 + FLEET_LEAD_TTL_MS);
    CHECK(!status(&a).leads); /* the row is another's now */
    CHECK_EQ(stand_given(&a, COMMAND_LEAD)->lead.epoch, 0);
}

TEST(a_leader_renews_before_its_time_is_over)
{
    struct rows rows = {0};
    STAND(a);
    STAND(b);
    stand_init(&a, &rows, "a", "poll:");
    stand_init(&b, &rows, "b", "poll:");
    for (int64_t now_ms = 1000; now_ms < 4 * FLEET_LEAD_TTL_MS; now_ms += FLEET_TICK_MS) {
        stand_tick(&a, now_ms);
        stand_tick(&b, now_ms);
    }
    CHECK(status(&a).leads && !status(&b).leads && rows.epoch == 1);
}

TEST(a_node_that_drains_gives_leadership_up_at_once)
{
    struct rows rows = {0};
    STAND(a);
    STAND(b);
    stand_init(&a, &rows, "a", "poll:");
    stand_init(&b, &rows, "b", "poll:");
    stand_tick(&a, 1000);
    stand_tick(&b, 1000);
    fleet_quiet(a.fleet);
    stand_tick(&a, 1250);
    stand_tick(&b, 1000 + FLEET_TRY_EVERY_MS);
    CHECK(!status(&a).leads && status(&b).leads);
}

TEST(the_key_in_redis_decides_over_the_row)
{
    struct rows rows = {.leader = "old", .epoch = 7, .leader_until_ms = INT64_MAX};
    SCOPED(redis_server_stop) struct redis_server server = {0};
    redis_server_start(&server);
    STAND(a);
    STAND(b);
    stand_init(&a, &rows, "a", server.url);
    stand_init(&b, &rows, "b", server.url);
    CHECK(redis_wait(a.fleet->redis, 5000) && redis_wait(b.fleet->redis, 5000));
    stand_tick(&a, 1000);
    stand_tick(&b, 1000);
    CHECK(a.fleet->epoch == 8 && b.fleet->epoch == 0); /* the old leader is fenced */
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    CHECK_STR(redis_server_ask(&server, &arena, "GET errand:leader"), "a");
}

/* ---- What others left behind ---- */

static struct hint hint(uint64_t number, const char *document)
{
    return (struct hint){.id = {number, 1},
                         .queue = STR("q"),
                         .type = STR("t"),
                         .document = document == NULL ? STR_NONE : str_of(document),
                         .priority = TASK_NORMAL,
                         .queued_ms = 1};
}

TEST(each_node_offers_once_what_is_queued_and_wakes_its_own_claims)
{
    struct rows rows = {.leader = "other", .leader_until_ms = INT64_MAX};
    rows.queued[rows.queued_count++] = hint(1, NULL);
    rows.queued[rows.queued_count++] = hint(2, NULL);
    STAND(a);
    stand_init(&a, &rows, "a", "poll:");
    stand_tick(&a, 1000); /* documents */
    stand_tick(&a, 1250); /* tasks */
    const struct command *woken = stand_given(&a, COMMAND_HEARD);
    CHECK(woken != NULL && woken->heard.count == 1);
    CHECK_STR(woken->heard.queues[0], "q");
    CHECK(!a.fleet->walk.under_way && !status(&a).leads);
}

TEST(documents_are_held_before_any_task_of_theirs_comes_forward)
{
    struct rows rows = {0};
    rows.queued[rows.queued_count++] = hint(2, "d");
    rows.held[rows.held_count++] = (struct steward_held){.document = STR("d"), .holder = {1, 1}};
    STAND(a);
    stand_init(&a, &rows, "a", "memory:");
    stand_tick(&a, 1000);
    stand_tick(&a, 1250);
    CHECK(broker_knows(a.fleet->broker, &rows.queued[0]));
    CHECK(!broker_has(a.fleet->broker, &(struct want){.any_queue = true}));
}

/* One that was taken this very moment looks like an orphan: it must be seen in two walks. */
TEST(a_hold_that_nobody_owns_is_let_go_when_it_was_seen_twice)
{
    struct rows rows = {0};
    struct broker_document found;
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    STAND(a);
    stand_init(&a, &rows, "a", "memory:");
    broker_hold(a.fleet->broker, STR("d"), (struct task_id){9, 1}, STR_NONE);
    stand_tick(&a, 1000);
    broker_document(a.fleet->broker, STR("d"), 0, &arena, &found);
    CHECK(found.held);
    for (int64_t now_ms = 1250; now_ms <= 8000; now_ms += FLEET_TICK_MS) {
        stand_tick(&a, now_ms);
    }
    broker_document(a.fleet->broker, STR("d"), 0, &arena, &found);
    CHECK(!found.held);
}

TEST(the_leader_alone_has_due_tasks_of_others_looked_at)
{
    struct rows rows = {0};
    STAND(a);
    STAND(b);
    stand_init(&a, &rows, "a", "poll:");
    stand_init(&b, &rows, "b", "poll:");
    rows.due[rows.due_count++] = (struct steward_due){{5, 1}, 1800000000000 + 3000};
    rows.due[rows.due_count++] = (struct steward_due){{6, 1}, 1800000000000 + HOUR_MS};
    stand_tick(&a, 1000);
    stand_tick(&b, 1000);
    const struct command *review = stand_given(&a, COMMAND_REVIEW);
    CHECK(review != NULL && review->review.count == 1 && review->review.ids[0].hi == 5);
    CHECK(stand_given(&b, COMMAND_REVIEW) == NULL);
}

/* ---- Messages through the store ---- */

TEST(without_redis_events_cross_through_the_store)
{
    struct rows rows = {0};
    STAND(a);
    STAND(b);
    stand_init(&a, &rows, "a", "poll:");
    stand_init(&b, &rows, "b", "poll:");
    stand_tick(&a, 1000);
    stand_tick(&b, 1000);
    stand_tick(&a, 2000);
    struct event event = {.kind = EVENT_CANCEL, .task = {5, 1}, .queue = STR("q"), .percent = -1};
    fleet_tell(a.fleet, &(struct event_batch){.events = &event, .count = 1});
    stand_tick(&a, 3100);
    size_t heard = b.heard;
    stand_tick(&b, 3200);
    CHECK_EQ(b.heard, heard + 1);
    CHECK_EQ(stand_given(&b, COMMAND_REVIEW)->review.ids[0].hi, 5); /* its own attempt may be it */
    stand_tick(&b, 5000);
    CHECK_EQ(b.heard, heard + 1);
}

TEST(what_is_asked_of_a_worker_is_told_to_the_nodes_it_may_speak_to)
{
    struct rows rows = {0};
    STAND(a);
    STAND(b);
    stand_init(&a, &rows, "a", "poll:");
    stand_init(&b, &rows, "b", "poll:");
    stand_tick(&a, 1000);
    stand_tick(&b, 1000);
    stand_tick(&a, 2000);
    struct event event = {
        .kind = EVENT_WORKER, .name = STR("w1"), .attempt = SIGNAL_STOP, .percent = -1};
    fleet_tell(a.fleet, &(struct event_batch){.events = &event, .count = 1});
    stand_tick(&a, 3100);
    stand_tick(&b, 3200);
    const struct command *told = stand_given(&b, COMMAND_WORKER);
    CHECK(told != NULL && told->worker.heard && told->worker.signal == SIGNAL_STOP);
    CHECK_STR(told->worker.id, "w1");
}

/* ---- Doubt ---- */

struct with_redis {
    struct redis_server server;
    struct rows rows;
    struct stand stand;
};

static void with_redis_init(struct with_redis *w)
{
    *w = (struct with_redis){0};
    redis_server_start(&w->server);
    stand_init(&w->stand, &w->rows, "a", w->server.url);
    CHECK(redis_wait(w->stand.fleet->redis, 5000));
    stand_tick(&w->stand, 1000); /* leads, and fills the broker */
}

static void with_redis_fini(struct with_redis *w)
{
    stand_fini(&w->stand);
    redis_server_stop(&w->server);
}

/* Says how the engine's broker is, and what the engine is told then. */
static const struct command *told(struct with_redis *w, enum broker_health health, int64_t now_ms)
{
    stand_answer(&w->stand, health);
    stand_tick(&w->stand, now_ms);
    return stand_given(&w->stand, COMMAND_DOUBT);
}

TEST(an_engine_that_doubts_its_broker_is_told_that_all_nodes_see_it)
{
    SCOPED(with_redis_fini) struct with_redis w;
    with_redis_init(&w);
    CHECK(stand_given(&w.stand, COMMAND_DOUBT) == NULL); /* nothing is known of its broker yet */
    const struct command *doubt = told(&w, BROKER_DOUBTED, 2000);
    CHECK(doubt != NULL && !doubt->doubt.doubts);
    CHECK_STR(str_of(status(&w.stand).broker), "redis");
    CHECK(told(&w, BROKER_WHOLE, 3000) == NULL); /* it knows */
}

TEST(a_blind_neighbour_makes_the_engine_doubt_and_leaves_this_node_well)
{
    SCOPED(with_redis_fini) struct with_redis w;
    with_redis_init(&w);
    (void)told(&w, BROKER_WHOLE, 2000);
    add_node(&w.rows, "b", "degraded");
    const struct command *doubt = told(&w, BROKER_WHOLE, 3500);
    CHECK(doubt != NULL && doubt->doubt.doubts);
    CHECK(!health_rule(status(&w.stand).health)->degraded);
    snprintf(w.rows.nodes[1].body, sizeof w.rows.nodes[1].body,
             "{\"broker\":\"redis\"}\n\n{\"hintsLayout\":%d}", BROKER_LAYOUT);
    doubt = told(&w, BROKER_DOUBTED, 5000);
    CHECK(doubt != NULL && !doubt->doubt.doubts);
}

TEST(nodes_with_another_layout_of_hints_are_as_good_as_blind)
{
    SCOPED(with_redis_fini) struct with_redis w;
    with_redis_init(&w);
    (void)told(&w, BROKER_WHOLE, 2000);
    add_node(&w.rows, "b", "redis");
    snprintf(w.rows.nodes[1].body, sizeof w.rows.nodes[1].body,
             "{\"broker\":\"redis\"}\n\n{\"hintsLayout\":1}");
    const struct command *doubt = told(&w, BROKER_WHOLE, 3500);
    CHECK(doubt != NULL && doubt->doubt.doubts);
    CHECK_STR(str_of(status(&w.stand).broker), "degraded"); /* so that older ones ask the store */
}

TEST(a_node_whose_engine_lost_its_broker_says_so_to_the_others_at_once)
{
    SCOPED(with_redis_fini) struct with_redis w;
    with_redis_init(&w);
    CHECK(told(&w, BROKER_EMPTIED, 1100) == NULL); /* its claims ask the store already */
    CHECK_STR(str_of(status(&w.stand).broker), "degraded");
    CHECK(strstr(w.rows.nodes[0].body, "\"broker\":\"degraded\"") != NULL);
}

/* ---- Telling through Redis ---- */

static void tell_cancel(struct fleet *fleet)
{
    struct event event = {.kind = EVENT_CANCEL, .task = {5, 1}, .queue = STR("q"), .percent = -1};
    fleet_tell(fleet, &(struct event_batch){.events = &event, .count = 1});
}

static int64_t calls_of(struct with_redis *w, const char *command)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct str stats = redis_server_ask(&w->server, &arena, "INFO commandstats");
    struct str name = arena_printf(&arena, "cmdstat_%s:calls=", command);
    const char *at = memmem(stats.ptr, stats.len, name.ptr, name.len);
    return at == NULL ? 0 : strtoll(at + name.len, NULL, 10);
}

TEST(a_node_that_is_alone_tells_nothing_until_another_is_heard)
{
    SCOPED(with_redis_fini) struct with_redis w;
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct err err = ERR_INIT;
    with_redis_init(&w);
    struct fleet *fleet = w.stand.fleet;
    CHECK_OK(bus_start(fleet, &err));
    WAIT_FOR(fleet->greets); /* it listens, and has yet to say so */
    stand_tick(&w.stand, 2000);
    CHECK(!fleet->greets && calls_of(&w, "publish") == 1);
    tell_cancel(fleet);
    CHECK(fleet_is_alone(fleet) && fleet->outbox_count == 0);
    redis_server_ask(&w.server, &arena, "PUBLISH errand:wake b");
    WAIT_FOR(!fleet_is_alone(fleet));
    tell_cancel(fleet);
    CHECK_EQ(fleet->outbox_count, 1);
    fleet_stop(fleet);
}

TEST(what_happens_is_told_at_once_and_the_broker_is_not_asked_each_time)
{
    SCOPED(with_redis_fini) struct with_redis w;
    with_redis_init(&w);
    add_node(&w.rows, "b", "redis");
    stand_tick(&w.stand, 2000);
    int64_t asked = calls_of(&w, "evalsha"), told_before = calls_of(&w, "publish");
    for (int i = 0; i < 10; i++) {
        tell_cancel(w.stand.fleet);
        stand_tick(&w.stand, 2001 + i);
    }
    CHECK_EQ(calls_of(&w, "evalsha"), asked);
    CHECK_EQ(calls_of(&w, "publish"), told_before + 10);
    stand_tick(&w.stand, 2000 + FLEET_TICK_MS);
    CHECK(calls_of(&w, "evalsha") > asked);
}

/* ---- Documents, compared ---- */

TEST(documents_that_store_and_broker_hold_alike_do_not_differ)
{
    struct rows rows = {0};
    struct fleet_difference *found;
    size_t count;
    struct err err = ERR_INIT;
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    STAND(a);
    stand_init(&a, &rows, "a", "memory:");
    stand_tick(&a, 1000);
    struct broker *broker = a.fleet->broker;
    const char *const names[] = {"alike", "forgotten", "other"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        rows.held[rows.held_count++] =
            (struct steward_held){.document = str_of(names[i]), .holder = {1 + i, 1}};
    }
    broker_hold(broker, STR("alike"), (struct task_id){1, 1}, STR_NONE);
    broker_hold(broker, STR("other"), (struct task_id){9, 1}, STR_NONE);
    broker_hold(broker, STR("orphan"), (struct task_id){8, 1}, STR_NONE);
    CHECK_OK(fleet_compare(a.fleet->steward, broker, &arena, &found, &count, &err));
    CHECK_EQ(count, 3);
    CHECK_STR(found[0].document, "forgotten");
    CHECK(found[0].in_store && !found[0].in_broker);
    CHECK_STR(found[1].document, "orphan");
    CHECK(!found[1].in_store && found[1].in_broker);
    CHECK_STR(found[2].document, "other");
    CHECK(found[2].in_store && found[2].in_broker);
}
