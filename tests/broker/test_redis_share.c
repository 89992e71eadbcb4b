/* tests/broker/test_redis_share.c: what nodes that share a Redis see of each other.
 *
 * SPDX-License-Identifier: MIT */
#include <hiredis/hiredis.h>
#include <stdio.h>

#include "node.h"
#include "test.h"

#define LOCK_KEY "errand:doclock:{d}"

/* One lock for the first task that node a takes. */
static bool lock_first(struct fleet *f, struct broker *broker, struct hint *hint, const char *value)
{
    struct want want = {.any_queue = true};
    CHECK_EQ(broker_take(broker, &want, 1, hint, &f->arena), 1);
    struct broker_lock lock = {.hint = hint, .lock = str_of(value)};
    broker_lock(broker, &lock, 1);
    return lock.granted;
}

static int64_t ttl_ms(struct fleet *f)
{
    int64_t ms;
    CHECK(str_i64(ask(f, "PTTL " LOCK_KEY), &ms));
    return ms;
}

/* ---- Hints and documents ---- */

TEST(what_one_node_offers_another_takes_in_the_order_of_all)
{
    FLEET(f);
    fleet_init(&f);
    offer(f.a, 1, TASK_LOW, STR_NONE);
    offer(f.b, 2, TASK_CRITICAL, STR_NONE);
    offer(f.a, 3, TASK_HIGH, STR_NONE);
    CHECK_STR(take(&f, f.b, 2), "2 3");
    CHECK_STR(take(&f, f.a, 9), "1");
    CHECK_STR(take(&f, f.b, 9), "");
}

TEST(a_document_held_by_one_node_is_out_of_reach_for_another_and_handed_over)
{
    FLEET(f);
    fleet_init(&f);
    offer(f.a, 1, TASK_NORMAL, STR("d"));
    offer(f.b, 2, TASK_NORMAL, STR("d"));
    CHECK_STR(take(&f, f.a, 9), "1");
    CHECK(!has(f.b));
    broker_let_go(f.b, STR("d"), number_id(1), STR("lease")); /* the janitor of another node */
    broker_flush(f.b);
    CHECK_STR(take(&f, f.b, 9), "2");
}

TEST(a_task_whose_node_died_before_it_started_is_offered_again_and_its_document_is_free)
{
    FLEET(f);
    fleet_init(&f);
    offer(f.a, 1, TASK_NORMAL, STR("d"));
    CHECK_STR(take(&f, f.a, 9), "1");
    CHECK(!knows(f.b, 1));
    offer(f.b, 1, TASK_NORMAL, STR("d"));
    CHECK_STR(take(&f, f.b, 9), "1");
}

TEST(changes_wait_for_the_flush_or_for_a_question)
{
    FLEET(f);
    fleet_init(&f);
    struct hint hint = hint_of(1, TASK_NORMAL, STR_NONE);
    broker_offer(f.a, &hint);
    CHECK(!has(f.b) && f.ready == 0);
    CHECK(has(f.a) && f.ready == 1);
    broker_withdraw(f.a, &hint);
    CHECK(has(f.b));
    broker_flush(f.a);
    CHECK(!has(f.b));
}

TEST(a_batch_of_thousands_arrives_whole_and_in_order)
{
    FLEET(f);
    fleet_init(&f);
    for (uint64_t i = 1; i <= 1700; i++) {
        struct hint hint = hint_of(i, TASK_NORMAL, STR_NONE);
        broker_offer(f.a, &hint);
    }
    withdraw(f.a, 1);
    broker_flush(f.a);
    CHECK_EQ(broker_ready_count(f.b), 1699);
    CHECK_STR(take(&f, f.b, 3), "2 3 4");
}

TEST(one_message_for_each_batch_names_the_node_and_the_queues_that_became_ready)
{
    FLEET(f);
    fleet_init(&f);
    redisContext *ear = redisConnect("127.0.0.1", f.server.port);
    redisReply *reply = NULL;
    freeReplyObject(redisCommand(ear, "SUBSCRIBE errand:wake"));
    struct hint hint = hint_of(1, TASK_NORMAL, STR_NONE);
    broker_offer(f.a, &hint);
    hint = hint_of(2, TASK_LOW, STR_NONE);
    hint.type = STR("another type");
    broker_offer(f.a, &hint);
    hint.id = number_id(3);
    hint.queue = STR("mail");
    broker_offer(f.a, &hint);
    broker_flush(f.a);
    broker_flush(f.a);
    offer(f.b, 4, TASK_LOW, STR_NONE); /* nothing better, nothing to say */
    offer(f.b, 5, TASK_HIGH, STR_NONE);
    CHECK_EQ(redisGetReply(ear, (void **)&reply), REDIS_OK);
    struct str first = str_of(reply->element[2]->str);
    CHECK(str_is(first, "node-a q mail") || str_is(first, "node-a mail q"));
    freeReplyObject(reply);
    CHECK_EQ(redisGetReply(ear, (void **)&reply), REDIS_OK);
    CHECK_STR(str_of(reply->element[2]->str), "node-b q");
    freeReplyObject(reply);
    redisFree(ear);
}

/* ---- Locks ---- */

TEST(a_lock_is_short_until_its_attempt_is_stored_and_ends_with_it)
{
    FLEET(f);
    fleet_init(&f);
    struct hint hint;
    offer(f.a, 1, TASK_NORMAL, STR("d"));
    CHECK(lock_first(&f, f.a, &hint, "lease-1"));
    CHECK_STR(ask(&f, "GET " LOCK_KEY), "lease-1");
    CHECK(ttl_ms(&f) > 0 && ttl_ms(&f) <= 10000);
    broker_hold(f.a, STR("d"), hint.id, STR("lease-1"));
    broker_flush(f.a);
    CHECK(ttl_ms(&f) > 590000 && ttl_ms(&f) <= 600000);
    broker_let_go(f.b, STR("d"), hint.id, STR("lease-2")); /* of an attempt that lost it */
    broker_flush(f.b);
    CHECK_STR(ask(&f, "GET " LOCK_KEY), "lease-1");
    broker_let_go(f.b, STR("d"), hint.id, STR("lease-1"));
    broker_flush(f.b);
    CHECK_STR(ask(&f, "EXISTS " LOCK_KEY), "0");
}

TEST(a_missing_lock_is_set_by_holding_and_a_foreign_one_is_left_alone)
{
    FLEET(f);
    fleet_init(&f);
    broker_hold(f.a, STR("d"), number_id(1), STR("lease-1"));
    broker_flush(f.a);
    CHECK_STR(ask(&f, "GET " LOCK_KEY), "lease-1");
    ask(&f, "SET " LOCK_KEY " foreign");
    broker_hold(f.a, STR("d"), number_id(1), STR("lease-1"));
    broker_let_go(f.a, STR("d"), number_id(1), STR("lease-1"));
    broker_flush(f.a);
    CHECK_STR(ask(&f, "GET " LOCK_KEY), "foreign");
}

TEST(letting_go_without_a_lock_leaves_the_lock)
{
    FLEET(f);
    fleet_init(&f);
    struct hint hint;
    offer(f.a, 1, TASK_NORMAL, STR("d"));
    CHECK(lock_first(&f, f.a, &hint, "batch"));
    broker_let_go(f.a, STR("d"), hint.id, STR_NONE);
    broker_flush(f.a);
    CHECK_STR(ask(&f, "GET " LOCK_KEY), "batch");
    struct broker_document document;
    broker_document(f.b, STR("d"), 9, &f.arena, &document);
    CHECK(!document.held);
}

TEST(one_s_own_lock_is_granted_again)
{
    FLEET(f);
    fleet_init(&f);
    struct hint hint;
    ask(&f, "SET " LOCK_KEY " lease-1");
    offer(f.a, 1, TASK_NORMAL, STR("d"));
    CHECK(lock_first(&f, f.a, &hint, "lease-1"));
}

TEST(a_hint_whose_document_is_locked_waits_for_the_release)
{
    FLEET(f);
    fleet_init(&f);
    struct hint hint;
    struct broker_document document;
    ask(&f, "SET " LOCK_KEY " foreign");
    offer(f.a, 1, TASK_NORMAL, STR("d"));
    CHECK(!lock_first(&f, f.a, &hint, "lease-1"));
    CHECK(!has(f.a) && !has(f.b) && broker_knows(f.b, &hint));
    broker_document(f.b, STR("d"), 9, &f.arena, &document);
    CHECK(document.held && id_none(document.holder));
    f.ready = 0;
    broker_let_go(f.a, STR("d"), number_id(77), STR("foreign"));
    broker_flush(f.a);
    CHECK_EQ(f.ready, 1);
    CHECK_STR(ask(&f, "EXISTS " LOCK_KEY), "0");
    CHECK(lock_first(&f, f.b, &hint, "lease-1"));
}

TEST(a_lock_that_nobody_holds_any_more_is_found_and_removed)
{
    FLEET(f);
    fleet_init(&f);
    struct hint hint;
    struct broker_document *documents;
    ask(&f, "SET " LOCK_KEY " of-a-dead-node");
    offer(f.a, 1, TASK_NORMAL, STR("d"));
    CHECK(!lock_first(&f, f.a, &hint, "lease-1"));
    CHECK_EQ(broker_documents(f.b, 9, &f.arena, &documents), 1);
    broker_let_go(f.b, documents[0].document, documents[0].holder, STR_NONE);
    broker_flush(f.b);
    CHECK_STR(ask(&f, "EXISTS " LOCK_KEY), "0");
    CHECK_STR(take(&f, f.a, 9), "1");
}

/* ---- The cost ---- */

/* How many commands Redis has carried out, those of scripts included. */
static int64_t commands(struct fleet *f)
{
    struct str rest = ask(f, "INFO commandstats");
    int64_t sum = 0, calls;
    while (!str_absent(rest)) {
        struct str line = str_cut(&rest, '\n');
        const char *at = line.len == 0 ? NULL : memmem(line.ptr, line.len, "calls=", 6);
        bool ours = str_starts(line, STR("cmdstat_")) && !str_starts(line, STR("cmdstat_info"));
        if (at != NULL && ours) {
            struct str number = {at + 6, line.len - (size_t)(at + 6 - line.ptr)};
            CHECK(str_i64(str_cut(&number, ','), &calls));
            sum += calls;
        }
    }
    return sum;
}

/* What an urgent task costs from its offer to the end of its document's lock. */
static int64_t cost_of_urgent(struct fleet *f, uint64_t number)
{
    int64_t before = commands(f);
    char text[8];
    snprintf(text, sizeof text, "%d", (int)number);
    offer(f->a, number, TASK_CRITICAL, STR("urgent"));
    CHECK_STR(take(f, f->a, 1), text);
    broker_let_go(f->a, STR("urgent"), number_id(number), STR("lease"));
    broker_flush(f->a);
    return commands(f) - before;
}

static void add_backlog(struct fleet *f, uint64_t from, uint64_t to)
{
    for (uint64_t i = from; i <= to; i++) {
        struct hint hint = hint_of(i, TASK_LOW, i % 10 == 0 ? STR("busy") : STR_NONE);
        broker_offer(f->b, &hint);
    }
    broker_flush(f->b);
}

TEST(a_backlog_of_100000_adds_no_step_to_an_urgent_task)
{
    FLEET(f);
    fleet_init(&f);
    add_backlog(&f, 1000, 1100);
    cost_of_urgent(&f, 1); /* the script is sent whole once */
    int64_t small = cost_of_urgent(&f, 2);
    add_backlog(&f, 1101, 101000);
    CHECK(!is_degraded(f.b));
    CHECK_EQ(broker_ready_count(f.a), 100001);
    CHECK_EQ(cost_of_urgent(&f, 3), small);
    CHECK(small < 70);
}

TEST(tasks_without_documents_cost_a_fraction_of_a_command_each)
{
    FLEET(f);
    fleet_init(&f);
    struct want want = {.any_queue = true};
    struct hint *taken = arena_array(&f.arena, struct hint, 1000);
    CHECK_EQ(broker_take(f.a, &want, 1, taken, &f.arena), 0);
    int64_t before = commands(&f);
    for (uint64_t i = 1; i <= 1000; i++) {
        struct hint hint = hint_of(i, TASK_NORMAL, STR_NONE);
        broker_offer(f.a, &hint);
    }
    broker_flush(f.a);
    CHECK_EQ(broker_take(f.a, &want, 1000, taken, &f.arena), 1000);
    CHECK(commands(&f) - before < 100);
}

static int64_t cost_of_handing_over(struct fleet *f)
{
    int64_t before = commands(f);
    broker_hold(f->a, STR("busy"), number_id(9), STR("lease"));
    broker_flush(f->a);
    broker_let_go(f->a, STR("busy"), number_id(9), STR("lease"));
    broker_flush(f->a);
    return commands(f) - before;
}

TEST(a_document_is_handed_over_in_as_many_steps_however_many_wait)
{
    FLEET(f);
    fleet_init(&f);
    add_backlog(&f, 1000, 1100);
    cost_of_handing_over(&f);
    int64_t small = cost_of_handing_over(&f);
    add_backlog(&f, 1101, 21000);
    CHECK_EQ(cost_of_handing_over(&f), small);
}

/* ---- Many types and queues on one document ---- */

static struct str numbered(struct fleet *f, const char *what, uint64_t number)
{
    return arena_printf(&f->arena, "%s%llu", what, (unsigned long long)number);
}

static void offer_types(struct fleet *f, uint64_t from, uint64_t to)
{
    for (uint64_t i = from; i < to; i++) {
        struct hint hint = hint_of(i, TASK_NORMAL, STR("hub"));
        hint.type = numbered(f, "type", i);
        broker_offer(f->a, &hint);
    }
    broker_flush(f->a);
}

/* What the first of the document costs from its claim to its end, with another claim in vain. */
static int64_t cost_of_turn(struct fleet *f, uint64_t number)
{
    int64_t before = commands(f);
    struct str type = numbered(f, "type", number);
    struct want want = {.types = &type, .types_count = 1, .any_queue = true};
    struct hint hint;
    CHECK_EQ(broker_take(f->a, &want, 1, &hint, &f->arena), 1);
    CHECK(id_eq(hint.id, number_id(number)));
    CHECK(!has(f->b));
    broker_let_go(f->a, STR("hub"), hint.id, STR("lease"));
    broker_flush(f->a);
    return commands(f) - before;
}

static int64_t cost_of_offer(struct fleet *f, uint64_t number)
{
    int64_t before = commands(f);
    offer_types(f, number, number + 1);
    return commands(f) - before;
}

TEST(each_of_4000_types_on_one_document_costs_as_much_as_each_of_100)
{
    FLEET(f);
    fleet_init(&f);
    offer_types(&f, 1, 100);
    CHECK(cost_of_turn(&f, 1) > 0); /* the script is sent whole once */
    int64_t turn = cost_of_turn(&f, 2), offered = cost_of_offer(&f, 100);
    offer_types(&f, 101, 4000);
    CHECK_EQ(cost_of_offer(&f, 4000), offered);
    CHECK_EQ(cost_of_turn(&f, 3), turn);
    CHECK_EQ(cost_of_turn(&f, 4), turn);
    CHECK_EQ(broker_ready_count(f.b), 3996);
}

static int64_t calls_of(struct fleet *f, const char *command)
{
    struct str stats = ask(f, "INFO commandstats");
    struct str name = arena_printf(&f->arena, "cmdstat_%s:calls=", command);
    const char *at = memmem(stats.ptr, stats.len, name.ptr, name.len);
    int64_t calls = 0;
    if (at != NULL) {
        struct str rest = {at + name.len, stats.len - (size_t)(at + name.len - stats.ptr)};
        CHECK(str_i64(str_cut(&rest, ','), &calls));
    }
    return calls;
}

/* They were all offered in vain while it was held; one script must not bring all of them back. */
TEST(a_document_that_4000_types_wait_for_comes_back_in_pieces)
{
    FLEET(f);
    fleet_init(&f);
    broker_hold(f.a, STR("hub"), number_id(9999), STR("lease"));
    offer_types(&f, 1, 4001);
    CHECK(!has(f.a));
    int64_t before = calls_of(&f, "evalsha");
    f.ready = 0;
    broker_let_go(f.a, STR("hub"), number_id(9999), STR("lease"));
    broker_flush(f.a);
    CHECK(calls_of(&f, "evalsha") - before >= 20);
    CHECK(f.ready >= 4000);
    CHECK_STR(take(&f, f.b, 9), "1");
}

/* Whoever let it go died in between. */
TEST(what_was_left_of_a_document_comes_back_with_the_next_change_of_anybody)
{
    FLEET(f);
    fleet_init(&f);
    broker_hold(f.a, STR("hub"), number_id(9999), STR("lease"));
    offer_types(&f, 1, 4001);
    ask(&f, "HDEL errand:{dispatch3}:held hub");
    ask(&f, "SADD errand:{dispatch3}:thawing hub");
    CHECK(!has(f.b));
    offer(f.b, 5000, TASK_LOW, STR_NONE);
    CHECK_STR(take(&f, f.b, 9), "1 5000");
    CHECK_STR(ask(&f, "EXISTS errand:{dispatch3}:thawing"), "0");
}

TEST(a_claim_of_any_queue_passes_over_a_held_document_in_thousands_of_them)
{
    FLEET(f);
    fleet_init(&f);
    for (uint64_t i = 1; i <= 1200; i++) {
        struct hint hint = hint_of(i, TASK_NORMAL, STR("hub"));
        hint.queue = numbered(&f, "queue", i);
        broker_offer(f.a, &hint);
    }
    offer(f.a, 3000, TASK_LOW, STR_NONE);
    broker_hold(f.a, STR("hub"), number_id(9999), STR("lease"));
    CHECK_STR(take(&f, f.a, 9), "3000");
    CHECK(!has(f.b));
    int64_t before = commands(&f);
    CHECK(!has(f.b)); /* they are out of the way now */
    CHECK(commands(&f) - before < 10);
    broker_let_go(f.a, STR("hub"), number_id(9999), STR("lease"));
    broker_flush(f.a);
    CHECK_STR(take(&f, f.b, 9), "1");
}

/* Not one entry for each of its types. */
TEST(a_claim_passes_over_a_queue_that_is_left_out_in_one_step)
{
    FLEET(f);
    fleet_init(&f);
    const struct want_queue closed = {STR("q"), 0};
    const struct want want = {.queues = &closed, .queues_count = 1, .any_queue = true};
    int64_t costs[2];
    for (size_t round = 0; round < ARRAY_LEN(costs); round++) {
        for (uint64_t i = 1; i <= (round == 0 ? 20 : 3000); i++) {
            struct hint hint = hint_of(i, TASK_HIGH, i % 2 == 0 ? numbered(&f, "d", i) : STR_NONE);
            hint.type = numbered(&f, "type", i);
            broker_offer(f.a, &hint);
        }
        broker_flush(f.a);
        CHECK(!broker_has(f.a, &want));
        int64_t before = commands(&f);
        CHECK(!broker_has(f.a, &want));
        costs[round] = commands(&f) - before;
    }
    CHECK_EQ(costs[1], costs[0]);
}

/* ---- Two halves ---- */

TEST(the_first_hears_nothing_of_tasks_without_documents_that_live_on_the_second)
{
    FLEET(f);
    fleet_init_two(&f);
    CHECK_STR(take(&f, f.a, 1), "");
    int64_t before = commands(&f);
    take(&f, f.a, 1);
    int64_t claim = commands(&f) - before;
    struct want want = {.any_queue = true};
    struct hint *taken = arena_array(&f.arena, struct hint, 1000);
    before = commands(&f);
    for (uint64_t i = 1; i <= 2000; i++) {
        struct hint hint = hint_of(i, i % 2 == 0 ? TASK_LOW : TASK_NORMAL, STR_NONE);
        broker_offer(f.a, &hint);
        if (i % 100 == 0) {
            broker_withdraw(f.a, &hint); /* cancelled */
        }
    }
    broker_flush(f.a);
    int64_t told = commands(&f) - before; /* somebody may look again, on whatever half it is */
    CHECK(told <= 1);
    CHECK_EQ(broker_take(f.a, &want, 1000, taken, &f.arena), 1000);
    for (size_t i = 0; i < 1000; i++) {
        broker_give_back(f.a, &taken[i]);
    }
    broker_flush(f.a);
    CHECK_EQ(broker_take(f.a, &want, 1000, taken, &f.arena), 1000);
    CHECK_EQ(broker_take(f.a, &want, 1000, taken, &f.arena), 980);
    CHECK(commands(&f) - before <= 3 * claim + 2);
}

TEST(rows_offered_again_are_a_few_steps_for_the_half_that_has_them_not)
{
    FLEET(f);
    fleet_init_two(&f);
    struct hint *rows = arena_array(&f.arena, struct hint, 1000);
    for (uint64_t i = 0; i < 1000; i++) {
        rows[i] = hint_of(i + 1, TASK_LOW, STR_NONE);
    }
    int64_t before = commands(&f);
    broker_offer_again(f.a, rows, 1000);
    broker_flush(f.a);
    CHECK(commands(&f) - before <= 20); /* a few for each script */
    offer(f.a, 7, TASK_HIGH, STR_NONE); /* of an earlier time, says the store */
    broker_offer_again(f.a, rows, 1000);
    broker_flush(f.a);
    CHECK_EQ(broker_ready_count(f.a), 1000);
}
