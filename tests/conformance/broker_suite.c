/* tests/conformance/broker_suite.c: what every broker promises, claim by claim.
 *
 * SPDX-License-Identifier: MIT */
#include "broker_suite.h"

#include "test.h"

#define STAND(s) SCOPED(stand_fini) struct stand s

static struct want of_queue(const struct want_queue *queue)
{
    return (struct want){.queues = queue, .queues_count = 1};
}

static struct want of_type(const struct str *type)
{
    return (struct want){.types = type, .types_count = 1, .any_queue = true};
}

static const struct want_queue only_q = {STR("q"), SIZE_MAX};

/* ---- Order ---- */

TEST(urgent_tasks_start_first_whatever_came_before)
{
    STAND(s);
    stand_init(&s);
    stand_offer(&s, 1, .priority = TASK_LOW);
    stand_offer(&s, 2, .priority = TASK_NORMAL);
    stand_offer(&s, 3, .priority = TASK_CRITICAL, .queued_ms = 9000);
    stand_offer(&s, 4, .priority = TASK_HIGH);
    CHECK_STR(stand_take(&s, 10, of_queue(&only_q)), "3 4 2 1");
}

TEST(within_a_priority_the_earlier_arrival_starts_first_then_the_earlier_creation)
{
    STAND(s);
    stand_init(&s);
    stand_offer(&s, 5, .queued_ms = 3000);
    stand_offer(&s, 9, .queued_ms = 1000);
    stand_offer(&s, 7, .queued_ms = 1000);
    stand_offer(&s, 8, .queued_ms = 2000);
    stand_offer(&s, 6, .queued_ms = 2000);
    CHECK_STR(stand_take(&s, 10, of_queue(&only_q)), "7 9 6 8 5");
}

TEST(queues_and_types_form_one_line)
{
    STAND(s);
    stand_init(&s);
    stand_offer(&s, 1, .queue = STR("a"), .type = STR("x"), .queued_ms = 1000);
    stand_offer(&s, 2, .queue = STR("b"), .type = STR("y"), .queued_ms = 1001);
    stand_offer(&s, 3, .queue = STR("a"), .type = STR("y"), .queued_ms = 1002);
    stand_offer(&s, 4, .queue = STR("b"), .type = STR("x"), .queued_ms = 1003);
    stand_offer(&s, 5, .queue = STR("c"), .type = STR("x"), .queued_ms = 1);
    const struct want_queue queues[] = {{STR("b"), SIZE_MAX}, {STR("a"), SIZE_MAX}};
    struct want want = {.queues = queues, .queues_count = 2};
    CHECK_STR(stand_take(&s, 10, want), "1 2 3 4");
    CHECK_STR(stand_take(&s, 10, ANY_QUEUE), "5");
}

TEST(a_claim_takes_only_the_types_it_names)
{
    STAND(s);
    stand_init(&s);
    stand_offer(&s, 1, .type = STR("x"));
    stand_offer(&s, 2, .type = STR("y"));
    stand_offer(&s, 3, .type = STR("z"));
    stand_offer(&s, 4, .type = STR("x"), .queue = STR("other"));
    const struct str types[] = {STR("z"), STR("x"), STR("unheard-of")};
    struct want want = {.types = types, .types_count = 3, .queues = &only_q, .queues_count = 1};
    CHECK_STR(stand_take(&s, 10, want), "1 3");
    want.any_queue = true;
    CHECK_STR(stand_take(&s, 10, want), "4");
    CHECK_STR(stand_take(&s, 10, of_type(&types[2])), "");
}

TEST(no_more_than_asked_for_is_taken)
{
    STAND(s);
    stand_init(&s);
    for (uint64_t i = 1; i <= 5; i++) {
        stand_offer(&s, i, .queued_ms = (int64_t)i);
    }
    CHECK_STR(stand_take(&s, 2, ANY_QUEUE), "1 2");
    CHECK_STR(stand_take(&s, 0, ANY_QUEUE), "");
    CHECK_STR(stand_take(&s, 9, ANY_QUEUE), "3 4 5");
    CHECK_EQ(broker_ready_count(s.broker), 0);
}

TEST(a_queue_or_a_type_that_is_named_twice_is_one)
{
    STAND(s);
    stand_init(&s);
    for (uint64_t i = 1; i <= 4; i++) {
        stand_offer(&s, i, .queued_ms = (int64_t)i);
    }
    const struct want_queue queues[] = {{STR("q"), 3}, {STR("q"), 3}};
    const struct str types[] = {STR("t"), STR("t")};
    struct want want = {.queues = queues, .queues_count = 2, .types = types, .types_count = 2};
    CHECK_STR(stand_take(&s, 2, want), "1 2");
    want.types_count = 0;
    CHECK_STR(stand_take(&s, 9, want), "3 4");
}

#define LONG_LINE 1500 /* tasks of three types and two queues, each behind the last */

TEST(long_lanes_are_taken_as_one_line)
{
    STAND(s);
    stand_init(&s);
    const struct str types[] = {STR("x"), STR("y"), STR("z")};
    for (uint64_t i = 1; i <= LONG_LINE; i++) {
        struct hint hint =
            stand_hint(i, (struct hint){.queued_ms = (int64_t)i,
                                        .type = types[i * i % 7 % 3],
                                        .queue = i % 5 == 0 ? STR("r") : STR("q"),
                                        .document = i % 100 == 0 ? STR("d") : STR_NONE});
        broker_offer(s.broker, &hint);
    }
    struct hint *hints = arena_array(&s.arena, struct hint, LONG_LINE);
    size_t count = broker_take(s.broker, &ANY_QUEUE, LONG_LINE, hints, &s.arena), at = 0;
    for (uint64_t i = 1; i <= LONG_LINE; i++) {
        if (i % 100 != 0 || i == 100) { /* the first of its document alone */
            CHECK(at < count && hints[at++].id.hi == i);
        }
    }
    CHECK_EQ(count, at);
    CHECK_EQ(broker_ready_count(s.broker), LONG_LINE - count);
}

TEST(a_claim_that_names_no_queue_takes_nothing)
{
    STAND(s);
    stand_init(&s);
    stand_offer(&s, 1);
    CHECK_STR(stand_take(&s, 2, (struct want){0}), "");
    CHECK(!broker_has(s.broker, &(struct want){0}));
}

/* ---- Room ---- */

TEST(a_queue_gives_no_more_than_its_room_over_all_types_and_priorities)
{
    STAND(s);
    stand_init(&s);
    stand_offer(&s, 1, .type = STR("x"), .priority = TASK_HIGH);
    stand_offer(&s, 2, .type = STR("y"), .priority = TASK_HIGH);
    stand_offer(&s, 3, .type = STR("x"));
    stand_offer(&s, 4, .type = STR("y"));
    stand_offer(&s, 5, .queue = STR("free"), .priority = TASK_LOW);
    const struct str types[] = {STR("x"), STR("y"), STR("t")};
    const struct want_queue queues[] = {{STR("q"), 3}, {STR("free"), SIZE_MAX}};
    struct want want = {.types = types, .types_count = 3, .queues = queues, .queues_count = 2};
    CHECK_STR(stand_take(&s, 10, want), "1 2 3 5");
}

TEST(any_queue_leaves_named_queues_to_their_room)
{
    STAND(s);
    stand_init(&s);
    stand_offer(&s, 1, .queue = STR("paused"), .queued_ms = 1);
    stand_offer(&s, 2, .queue = STR("limited"), .queued_ms = 2);
    stand_offer(&s, 3, .queue = STR("limited"), .queued_ms = 3);
    stand_offer(&s, 4, .queue = STR("a"), .queued_ms = 4);
    stand_offer(&s, 5, .queue = STR("b"), .queued_ms = 5);
    const struct want_queue queues[] = {{STR("paused"), 0}, {STR("limited"), 1}};
    struct want want = {.queues = queues, .queues_count = 2, .any_queue = true};
    CHECK_STR(stand_take(&s, 10, want), "2 4 5");
    CHECK(!broker_has(s.broker, &(struct want){.queues = queues, .queues_count = 1}));
    const struct str type = STR("t");
    want.types = &type;
    want.types_count = 1;
    CHECK_STR(stand_take(&s, 10, want), "3");
    CHECK_STR(stand_take(&s, 10, ANY_QUEUE), "1");
}

/* ---- Coming, moving and leaving ---- */

TEST(offering_a_known_task_again_changes_nothing)
{
    STAND(s);
    stand_init(&s);
    stand_offer(&s, 1);
    stand_offer(&s, 1);
    CHECK_EQ(broker_ready_count(s.broker), 1);
    CHECK_STR(stand_take(&s, 5, ANY_QUEUE), "1");
    CHECK(!stand_knows(&s, 1));
}

TEST(a_changed_priority_moves_the_task)
{
    STAND(s);
    stand_init(&s);
    stand_offer(&s, 1, .priority = TASK_HIGH, .document = STR("d"));
    stand_offer(&s, 2);
    stand_offer(&s, 3);
    stand_withdraw(&s, 3);
    stand_offer(&s, 3, .priority = TASK_CRITICAL);
    stand_withdraw(&s, 1, .priority = TASK_HIGH, .document = STR("d"));
    stand_offer(&s, 1, .priority = TASK_LOW, .document = STR("d"));
    CHECK_EQ(broker_ready_count(s.broker), 3);
    CHECK_STR(stand_take(&s, 5, ANY_QUEUE), "3 2 1");
}

TEST(a_withdrawn_task_is_not_taken_wherever_it_stood)
{
    STAND(s);
    stand_init(&s);
    for (uint64_t i = 1; i <= 5; i++) { /* 1 … 5 in order, then 6 … 8 between them */
        stand_offer(&s, i, .queued_ms = (int64_t)i * 10);
    }
    for (uint64_t i = 6; i <= 8; i++) {
        stand_offer(&s, i, .queued_ms = (int64_t)(i - 4) * 10 - 5);
    }
    stand_withdraw(&s, 1);
    stand_withdraw(&s, 3);
    stand_withdraw(&s, 5);
    stand_withdraw(&s, 7);
    stand_withdraw(&s, 99);
    CHECK_STR(stand_take(&s, 9, ANY_QUEUE), "6 2 8 4");
}

TEST(withdrawing_the_first_of_a_document_lets_the_next_stand_there)
{
    STAND(s);
    stand_init(&s);
    stand_offer(&s, 1, .document = STR("d"), .queued_ms = 1);
    stand_offer(&s, 2, .queued_ms = 2);
    stand_offer(&s, 3, .document = STR("d"), .queued_ms = 3);
    stand_offer(&s, 4, .document = STR("d"), .queued_ms = 4);
    stand_withdraw(&s, 1);
    stand_withdraw(&s, 4);
    CHECK_STR(stand_take(&s, 9, ANY_QUEUE), "2 3");
    broker_let_go(s.broker, STR("d"), stand_id(3), STR("lock"));
    CHECK_STR(stand_take(&s, 9, ANY_QUEUE), "");
}

TEST(what_is_given_back_stands_in_its_old_place)
{
    STAND(s);
    stand_init(&s);
    for (uint64_t i = 1; i <= 4; i++) {
        stand_offer(&s, i, .document = i == 2 ? STR("d") : STR_NONE, .queued_ms = (int64_t)i);
    }
    struct hint taken[3];
    CHECK_EQ(broker_take(s.broker, &ANY_QUEUE, 3, taken, &s.arena), 3);
    stand_offer(&s, 5, .queued_ms = 5);
    for (size_t i = 0; i < 3; i++) {
        broker_give_back(s.broker, &taken[i]);
    }
    CHECK_STR(stand_take(&s, 9, ANY_QUEUE), "1 2 3 4 5");
}

TEST(a_taken_hint_says_all_that_was_offered)
{
    STAND(s);
    stand_init(&s);
    struct hint in = stand_hint(1, (struct hint){.document = STR("d"), .priority = TASK_HIGH});
    struct hint out;
    broker_offer(s.broker, &in);
    CHECK_EQ(broker_take(s.broker, &ANY_QUEUE, 1, &out, &s.arena), 1);
    CHECK(id_eq(in.id, out.id) && out.queued_ms == 1000);
    CHECK_EQ(out.priority, TASK_HIGH);
    CHECK_STR(out.type, "t");
    CHECK_STR(out.queue, "q");
    CHECK_STR(out.document, "d");
}

/* ---- Documents ---- */

TEST(one_claim_never_takes_two_tasks_of_a_document)
{
    STAND(s);
    stand_init(&s);
    stand_offer(&s, 1, .document = STR("d"), .type = STR("x"));
    stand_offer(&s, 2, .document = STR("d"), .type = STR("y"), .queue = STR("other"));
    stand_offer(&s, 3, .document = STR("d"), .priority = TASK_LOW);
    CHECK_STR(stand_take(&s, 9, ANY_QUEUE), "1");
    CHECK_STR(stand_take(&s, 9, ANY_QUEUE), "");
    broker_let_go(s.broker, STR("d"), stand_id(1), STR("lock"));
    CHECK_STR(stand_take(&s, 9, ANY_QUEUE), "2");
    broker_let_go(s.broker, STR("d"), stand_id(2), STR("lock"));
    CHECK_STR(stand_take(&s, 9, ANY_QUEUE), "3");
}

TEST(tasks_behind_a_document_start_by_priority_then_arrival)
{
    STAND(s);
    stand_init(&s);
    broker_hold(s.broker, STR("d"), stand_id(100), STR("lock"));
    stand_offer(&s, 1, .document = STR("d"), .queued_ms = 30);
    stand_offer(&s, 2, .document = STR("d"), .queued_ms = 20, .type = STR("u"));
    stand_offer(&s, 3, .document = STR("d"), .queued_ms = 40, .priority = TASK_HIGH);
    CHECK_STR(stand_take(&s, 9, ANY_QUEUE), "");
    broker_let_go(s.broker, STR("d"), stand_id(100), STR("lock"));
    CHECK_STR(stand_take(&s, 9, ANY_QUEUE), "3");
    broker_let_go(s.broker, STR("d"), stand_id(3), STR("lock"));
    CHECK_STR(stand_take(&s, 9, ANY_QUEUE), "2");
    broker_let_go(s.broker, STR("d"), stand_id(2), STR("lock"));
    CHECK_STR(stand_take(&s, 9, ANY_QUEUE), "1");
}

TEST(a_task_nobody_asks_for_does_not_hold_up_its_document)
{
    STAND(s);
    stand_init(&s);
    stand_offer(&s, 1, .document = STR("d"), .type = STR("unwanted"), .priority = TASK_CRITICAL);
    stand_offer(&s, 2, .document = STR("d"), .type = STR("wanted"), .queued_ms = 5000);
    const struct str wanted = STR("wanted");
    CHECK(broker_has(s.broker, &(struct want[]){of_type(&wanted)}[0]));
    CHECK_STR(stand_take(&s, 9, of_type(&wanted)), "2");
    CHECK_STR(stand_take(&s, 9, ANY_QUEUE), "");
    broker_let_go(s.broker, STR("d"), stand_id(2), STR("lock"));
    CHECK_STR(stand_take(&s, 9, ANY_QUEUE), "1");
}

TEST(other_documents_overtake_a_held_one)
{
    STAND(s);
    stand_init(&s);
    broker_hold(s.broker, STR("hot"), stand_id(100), STR("lock"));
    stand_offer(&s, 1, .document = STR("hot"), .priority = TASK_CRITICAL);
    stand_offer(&s, 2, .document = STR("cold"));
    stand_offer(&s, 3);
    CHECK_STR(stand_take(&s, 9, ANY_QUEUE), "2 3");
}

TEST(only_the_holder_lets_a_document_go)
{
    STAND(s);
    stand_init(&s);
    broker_hold(s.broker, STR("d"), stand_id(100), STR("lock"));
    stand_offer(&s, 1, .document = STR("d"));
    broker_let_go(s.broker, STR("d"), stand_id(1), STR("lock"));
    broker_let_go(s.broker, STR("unknown"), stand_id(100), STR("lock"));
    CHECK(!broker_has(s.broker, &ANY_QUEUE));
    broker_let_go(s.broker, STR("d"), stand_id(100), STR("lock"));
    broker_let_go(s.broker, STR("d"), stand_id(100), STR("lock"));
    CHECK_STR(stand_take(&s, 9, ANY_QUEUE), "1");
}

TEST(holding_a_free_document_takes_its_tasks_out_of_reach)
{
    STAND(s);
    stand_init(&s);
    stand_offer(&s, 1, .document = STR("d"));
    broker_hold(s.broker, STR("d"), stand_id(100), STR("lock"));
    CHECK(!broker_has(s.broker, &ANY_QUEUE));
    CHECK(stand_knows(&s, 1));
    stand_withdraw(&s, 1);
    broker_let_go(s.broker, STR("d"), stand_id(100), STR("lock"));
    CHECK_STR(stand_take(&s, 9, ANY_QUEUE), "");
}

TEST(giving_back_lets_the_document_go_and_keeps_the_order)
{
    STAND(s);
    stand_init(&s);
    stand_offer(&s, 1, .document = STR("d"), .queued_ms = 1);
    stand_offer(&s, 2, .document = STR("d"), .queued_ms = 2);
    struct hint taken;
    CHECK_EQ(broker_take(s.broker, &ANY_QUEUE, 1, &taken, &s.arena), 1);
    broker_give_back(s.broker, &taken);
    CHECK_STR(stand_take(&s, 9, ANY_QUEUE), "1");
    CHECK_STR(stand_take(&s, 9, ANY_QUEUE), "");
}

/* ---- Looking ---- */

TEST(a_document_tells_its_holder_and_who_waits_in_start_order)
{
    STAND(s);
    stand_init(&s);
    struct broker_document doc;
    broker_hold(s.broker, STR("d"), stand_id(100), STR("lock"));
    stand_offer(&s, 1, .document = STR("d"), .queued_ms = 30);
    stand_offer(&s, 2, .document = STR("d"), .queued_ms = 20, .type = STR("u"));
    stand_offer(&s, 3, .document = STR("d"), .queued_ms = 40, .priority = TASK_HIGH);
    stand_offer(&s, 4, .document = STR("d"), .queued_ms = 10);
    broker_document(s.broker, STR("d"), 3, &s.arena, &doc);
    CHECK_STR(doc.document, "d");
    CHECK(doc.held && id_eq(doc.holder, stand_id(100)));
    CHECK_EQ(doc.waiting_count, TELLS_LINES ? 3 : 0);
    if (!TELLS_LINES) {
        return;
    }
    CHECK_EQ(doc.waiting[0].hi, 3);
    CHECK_EQ(doc.waiting[1].hi, 4);
    CHECK_EQ(doc.waiting[2].hi, 2);
    CHECK_EQ(broker_ahead(s.broker, stand_id(3)), 0);
    CHECK_EQ(broker_ahead(s.broker, stand_id(2)), 2);
    CHECK_EQ(broker_ahead(s.broker, stand_id(1)), 3);
}

TEST(an_unknown_document_is_free_and_nobody_waits)
{
    STAND(s);
    stand_init(&s);
    struct broker_document doc;
    broker_document(s.broker, STR("nobody's"), 10, &s.arena, &doc);
    CHECK(!doc.held && id_none(doc.holder) && doc.waiting_count == 0);
    stand_offer(&s, 1);
    CHECK_EQ(broker_ahead(s.broker, stand_id(1)), 0);
    CHECK_EQ(broker_ahead(s.broker, stand_id(2)), 0);
}

TEST(held_documents_are_listed_and_free_ones_are_not)
{
    STAND(s);
    stand_init(&s);
    struct broker_document *docs;
    broker_hold(s.broker, STR("a"), stand_id(1), STR("lock"));
    broker_hold(s.broker, STR("b"), stand_id(2), STR("lock"));
    broker_hold(s.broker, STR("c"), stand_id(3), STR("lock"));
    stand_offer(&s, 9, .document = STR("free"));
    broker_let_go(s.broker, STR("b"), stand_id(2), STR("lock"));
    CHECK_EQ(broker_documents(s.broker, 10, &s.arena, &docs), 2);
    CHECK(docs[0].held && docs[1].held);
    CHECK(docs[0].holder.hi + docs[1].holder.hi == 4);
    CHECK_EQ(broker_documents(s.broker, 1, &s.arena, &docs), 1);
}

#define MANY_HELD 3000

/* Each document once in `seen`, with its right holder; returns how many pages there were. */
static size_t read_pages(struct stand *s, size_t most, bool seen[static MANY_HELD])
{
    uint64_t cursor = 0;
    size_t pages = 0;
    do {
        struct broker_document *docs;
        size_t n = broker_held(s->broker, &cursor, most, &s->arena, &docs);
        for (size_t i = 0; i < n; i++) {
            uint64_t number;
            CHECK(docs[i].held && str_u64(str_from(docs[i].document, 1), &number));
            CHECK(number < MANY_HELD && id_eq(docs[i].holder, stand_id(number)));
            seen[number] = true;
        }
        pages++;
    } while (cursor != 0);
    return pages;
}

TEST(held_documents_are_told_in_pages_none_left_out)
{
    STAND(s);
    stand_init(&s);
    bool seen[MANY_HELD] = {false};
    CHECK_EQ(read_pages(&s, 100, seen), 1);
    for (uint64_t i = 0; i < MANY_HELD; i++) {
        broker_hold(s.broker, arena_printf(&s.arena, "d%d", (int)i), stand_id(i), STR("lock"));
    }
    broker_let_go(s.broker, STR("d7"), stand_id(7), STR("lock"));
    broker_flush(s.broker);
    CHECK(read_pages(&s, 100, seen) >= 10);
    for (size_t i = 0; i < MANY_HELD; i++) {
        CHECK_EQ(seen[i], i != 7);
    }
}

TEST(a_task_withdrawn_under_its_priority_and_offered_with_another_is_known_once)
{
    STAND(s);
    stand_init(&s);
    broker_hold(s.broker, STR("d"), stand_id(100), STR("lock"));
    stand_offer(&s, 1, .priority = TASK_LOW, .document = STR("d"));
    stand_offer(&s, 2, .priority = TASK_NORMAL, .document = STR("d"));
    stand_withdraw(&s, 1, .priority = TASK_LOW, .document = STR("d"));
    stand_offer(&s, 1, .priority = TASK_CRITICAL, .document = STR("d"));
    CHECK_EQ(broker_ready_count(s.broker), 2);
    broker_let_go(s.broker, STR("d"), stand_id(100), STR("lock"));
    CHECK_STR(stand_take(&s, 9, ANY_QUEUE), "1");
    broker_let_go(s.broker, STR("d"), stand_id(1), STR("lock"));
    CHECK_STR(stand_take(&s, 9, ANY_QUEUE), "2");
    CHECK_EQ(broker_ready_count(s.broker), 0);
}

TEST(rows_offered_again_mend_a_priority_that_was_changed_by_half)
{
    STAND(s);
    stand_init(&s);
    struct hint rows[12];
    for (uint64_t i = 0; i < ARRAY_LEN(rows); i++) {
        enum task_priority priority = i % 2 == 0 ? TASK_LOW : TASK_HIGH;
        stand_offer(&s, i + 1, .priority = priority == TASK_LOW ? TASK_HIGH : TASK_LOW);
        rows[i] = stand_hint(i + 1, (struct hint){.priority = priority});
    }
    broker_offer_again(s.broker, rows, ARRAY_LEN(rows));
    broker_offer_again(s.broker, rows, ARRAY_LEN(rows));
    broker_flush(s.broker);
    CHECK_EQ(broker_ready_count(s.broker), ARRAY_LEN(rows));
    CHECK_STR(stand_take(&s, 99, ANY_QUEUE), "2 4 6 8 10 12 1 3 5 7 9 11");
}

TEST(the_oldest_of_a_queue_counts_those_behind_documents)
{
    STAND(s);
    stand_init(&s);
    CHECK(broker_oldest_ms(s.broker, STR("q")) == INT64_MAX);
    stand_offer(&s, 1, .queued_ms = 500, .priority = TASK_LOW);
    if (!TELLS_LINES) {
        CHECK(broker_oldest_ms(s.broker, STR("q")) == INT64_MAX);
        return;
    }
    stand_offer(&s, 2, .queued_ms = 900, .priority = TASK_HIGH);
    stand_offer(&s, 3, .queued_ms = 100, .queue = STR("other"));
    CHECK_EQ(broker_oldest_ms(s.broker, STR("q")), 500);
    broker_hold(s.broker, STR("d"), stand_id(100), STR("lock"));
    stand_offer(&s, 4, .queued_ms = 400, .document = STR("d"));
    CHECK_EQ(broker_oldest_ms(s.broker, STR("q")), 400);
    stand_withdraw(&s, 4);
    stand_withdraw(&s, 1);
    CHECK_EQ(broker_oldest_ms(s.broker, STR("q")), 900);
}

/* ---- Waking ---- */

TEST(ready_is_called_for_a_first_or_better_task_and_not_for_a_later_one)
{
    STAND(s);
    stand_init(&s);
    stand_offer(&s, 1, .queued_ms = 100);
    CHECK_EQ(s.calls_count, 1);
    CHECK_STR(s.calls[0], "q/t");
    stand_offer(&s, 2, .queued_ms = 200);
    stand_offer(&s, 3, .priority = TASK_LOW);
    stand_offer(&s, 1, .queued_ms = 100);
    stand_offer(&s, 1, .queued_ms = 100, .priority = TASK_LOW);
    CHECK_EQ(s.calls_count, 1);
    stand_offer(&s, 4, .queued_ms = 50);
    stand_offer(&s, 5, .queued_ms = 900, .priority = TASK_HIGH);
    stand_offer(&s, 6, .type = STR("u"));
    CHECK_EQ(s.calls_count, 4);
    CHECK_STR(s.calls[3], "q/u");
}

TEST(ready_is_called_when_a_document_is_let_go_and_not_while_it_is_held)
{
    STAND(s);
    stand_init(&s);
    broker_hold(s.broker, STR("d"), stand_id(100), STR("lock"));
    stand_offer(&s, 1, .document = STR("d"), .type = STR("x"));
    stand_offer(&s, 2, .document = STR("d"), .type = STR("y"));
    stand_offer(&s, 3, .document = STR("d"), .type = STR("y"));
    broker_let_go(s.broker, STR("d"), stand_id(99), STR("lock"));
    broker_flush(s.broker);
    CHECK_EQ(s.calls_count, 0);
    broker_let_go(s.broker, STR("d"), stand_id(100), STR("lock"));
    broker_flush(s.broker);
    CHECK_EQ(s.calls_count, 2);
    CHECK(!str_eq(s.calls[0], s.calls[1]));
}

TEST(ready_is_called_when_a_task_is_given_back)
{
    STAND(s);
    stand_init(&s);
    struct hint taken;
    stand_offer(&s, 1, .document = STR("d"));
    stand_offer(&s, 2, .document = STR("d"));
    CHECK_EQ(broker_take(s.broker, &ANY_QUEUE, 1, &taken, &s.arena), 1);
    s.calls_count = 0;
    broker_give_back(s.broker, &taken);
    broker_flush(s.broker);
    CHECK_EQ(s.calls_count, 1);
    stand_withdraw(&s, 1);
    broker_flush(s.broker);
    CHECK_EQ(s.calls_count, 1);
}
