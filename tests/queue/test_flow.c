/* tests/queue/test_flow.c: what one task's end means for others: children, parents, dependents.
 *
 * SPDX-License-Identifier: MIT */
#include "request.h"

/* ---- Dependencies ---- */

TEST(a_dependent_waits_for_all_and_then_runs)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct request r = {.b = &b};
    size_t x = request_add(&r, 0, NULL), y = request_add(&r, 0, NULL), z = request_add(&r, 0, NULL);
    request_need(&r, z, (struct order_need){.order = x});
    request_need(&r, z, (struct order_need){.order = y});
    CHECK_EQ(request_send(&r)->command.err.kind, ERR_NONE);
    CHECK_EQ(request_state(&r, z), TASK_WAITING);
    CHECK_EQ(claim_and(&b, OUTCOME_COMPLETED), ERR_NONE);
    CHECK_EQ(request_state(&r, z), TASK_WAITING);
    CHECK_EQ(claim_and(&b, OUTCOME_COMPLETED), ERR_NONE);
    CHECK_EQ(request_state(&r, z), TASK_QUEUED);
    CHECK(id_eq(bench_claim(&b, .worker = "w").id, request_id(&r, z)));
}

TEST(a_bad_end_cancels_what_depends_on_it_down_the_line)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct request r = {.b = &b};
    size_t x = request_add(&r, 0, NULL), y = request_add(&r, 0, NULL), z = request_add(&r, 0, NULL),
           any = request_add(&r, 0, NULL);
    request_need(&r, y, (struct order_need){.order = x});
    request_need(&r, z, (struct order_need){.order = y});
    request_need(&r, any, (struct order_need){.order = z});
    r.orders[any - 1].task.runs_anyway = true;
    request_send(&r);
    CHECK_EQ(bench_cancel(&b, request_id(&r, x)), ERR_NONE);
    CHECK_EQ(request_state(&r, y), TASK_CANCELLED);
    CHECK_EQ(request_state(&r, z), TASK_CANCELLED);
    CHECK_EQ(request_state(&r, any), TASK_QUEUED);
    char text[TASK_ID_TEXT];
    struct task cancelled = bench_task(&b, request_id(&r, y));
    CHECK(strstr(cancelled.cancel_reason.ptr, id_text(request_id(&r, x), text).ptr) != NULL);
}

TEST(depending_on_what_ended_badly_is_cancelled_at_once)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task_id gone = bench_create(&b, "t");
    CHECK_EQ(bench_cancel(&b, gone), ERR_NONE);
    struct request r = {.b = &b};
    size_t x = request_add(&r, 0, NULL), y = request_add(&r, 0, NULL);
    request_need(&r, x, (struct order_need){.id = gone});
    request_need(&r, y, (struct order_need){.order = x});
    CHECK_EQ(request_send(&r)->command.err.kind, ERR_NONE);
    CHECK_EQ(request_state(&r, x), TASK_CANCELLED);
    CHECK_EQ(request_state(&r, y), TASK_CANCELLED);
}

TEST(cycles_and_unknown_ids_are_refused_and_leave_nothing)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct request r = {.b = &b};
    size_t x = request_add(&r, 0, NULL), y = request_add(&r, 0, NULL);
    request_need(&r, x, (struct order_need){.order = y});
    request_need(&r, y, (struct order_need){.order = x});
    struct call *call = request_send(&r);
    CHECK_EQ(call->command.err.kind, ERR_INVALID);
    CHECK_STR(str_of(call->command.err.field), "dependsOn");
    struct request unknown = {.b = &b};
    size_t z = request_add(&unknown, 0, NULL);
    request_need(&unknown, z, (struct order_need){.id = {1, 1}});
    CHECK_EQ(request_send(&unknown)->command.err.kind, ERR_INVALID);
    CHECK_EQ(bench_count(&b, TASK_QUEUED) + bench_count(&b, TASK_WAITING), 0);
}

TEST(retrying_a_cancelled_dependent_waits_until_its_dependency_is_retried_too)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct request r = {.b = &b};
    size_t x = request_add(&r, 0, NULL), y = request_add(&r, 0, NULL);
    request_need(&r, y, (struct order_need){.order = x});
    request_send(&r);
    CHECK_EQ(bench_cancel(&b, request_id(&r, x)), ERR_NONE);
    CHECK_EQ(bench_revive(&b, request_id(&r, y)), ERR_NONE);
    CHECK_EQ(request_state(&r, y), TASK_WAITING);
    CHECK_EQ(bench_revive(&b, request_id(&r, x)), ERR_NONE);
    CHECK_EQ(claim_and(&b, OUTCOME_COMPLETED), ERR_NONE);
    CHECK_EQ(request_state(&r, y), TASK_QUEUED);
}

TEST(why_names_the_dependencies_that_are_open)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct request r = {.b = &b};
    size_t x = request_add(&r, 0, NULL), y = request_add(&r, 0, NULL);
    request_need(&r, y, (struct order_need){.order = x});
    request_send(&r);
    struct command_why *why = &bench_why(&b, request_id(&r, y))->command.why;
    CHECK_EQ(why->count, 1);
    CHECK_EQ(why->reasons[0].code, WHY_DEPENDENCIES);
    CHECK_EQ(why->reasons[0].tasks_count, 1);
    CHECK(id_eq(why->reasons[0].tasks[0], request_id(&r, x)));
}

/* ---- Children ---- */

TEST(children_run_one_after_the_other_and_then_the_parent_is_completed)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct request r = {.b = &b};
    size_t p = request_add(&r, 0, NULL), one = request_add(&r, p, NULL),
           two = request_add(&r, p, NULL);
    request_send(&r);
    CHECK_EQ(request_state(&r, p), TASK_QUEUED);
    CHECK_EQ(request_state(&r, one), TASK_QUEUED);
    CHECK_EQ(request_state(&r, two), TASK_WAITING);
    struct task first = bench_claim(&b, .worker = "w");
    CHECK(id_eq(first.id, request_id(&r, one)));
    CHECK_EQ(request_state(&r, p), TASK_RUNNING);
    CHECK(id_none(bench_claim(&b, .worker = "w").id));
    CHECK_EQ(bench_finish(&b, &first, OUTCOME_COMPLETED), ERR_NONE);
    CHECK_EQ(request_state(&r, two), TASK_QUEUED);
    CHECK_EQ(claim_and(&b, OUTCOME_COMPLETED), ERR_NONE);
    struct task parent = bench_task(&b, request_id(&r, p));
    CHECK_EQ(parent.state, TASK_COMPLETED);
    CHECK(parent.result.len >= 2 && parent.result.ptr[0] == '[');
    CHECK_STR(bench_story(&b, request_id(&r, p)), "QUEUED RUNNING COMPLETED");
}

TEST(a_failed_child_cancels_the_rest_and_fails_the_parent_by_name)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct request r = {.b = &b};
    size_t p = request_add(&r, 0, NULL), one = request_add(&r, p, NULL),
           two = request_add(&r, p, NULL);
    r.orders[one - 1].task.max_retries = 0;
    request_send(&r);
    CHECK_EQ(claim_and(&b, OUTCOME_FAILED), ERR_NONE);
    CHECK_EQ(request_state(&r, one), TASK_FAILED);
    CHECK_EQ(request_state(&r, two), TASK_CANCELLED);
    struct task parent = bench_task(&b, request_id(&r, p));
    char text[TASK_ID_TEXT];
    CHECK_EQ(parent.state, TASK_FAILED);
    CHECK(strstr(parent.error.message.ptr, id_text(request_id(&r, one), text).ptr) != NULL);
    CHECK_EQ(bench_revive(&b, request_id(&r, one)), ERR_CONFLICT);
    CHECK_EQ(bench_revive(&b, request_id(&r, p)), ERR_NONE);
    CHECK_EQ(request_state(&r, p), TASK_RUNNING);
    CHECK_EQ(request_state(&r, one), TASK_QUEUED);
    CHECK_EQ(request_state(&r, two), TASK_WAITING);
    CHECK_EQ(claim_and(&b, OUTCOME_COMPLETED), ERR_NONE);
    CHECK_EQ(claim_and(&b, OUTCOME_COMPLETED), ERR_NONE);
    CHECK_EQ(request_state(&r, p), TASK_COMPLETED);
}

TEST(with_continue_the_rest_runs_and_the_parent_fails_at_the_end)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct request r = {.b = &b};
    size_t p = request_add(&r, 0, NULL), one = request_add(&r, p, NULL),
           two = request_add(&r, p, NULL);
    r.orders[p - 1].task.continues = true;
    r.orders[one - 1].task.max_retries = 0;
    request_send(&r);
    CHECK_EQ(claim_and(&b, OUTCOME_FAILED), ERR_NONE);
    CHECK_EQ(request_state(&r, two), TASK_QUEUED);
    CHECK_EQ(request_state(&r, p), TASK_RUNNING);
    CHECK_EQ(claim_and(&b, OUTCOME_COMPLETED), ERR_NONE);
    CHECK_EQ(request_state(&r, p), TASK_FAILED);
}

TEST(with_continue_a_child_cancelled_out_of_turn_gives_no_other_its_turn)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct request r = {.b = &b};
    size_t p = request_add(&r, 0, NULL), one = request_add(&r, p, NULL),
           two = request_add(&r, p, NULL), three = request_add(&r, p, NULL);
    r.orders[p - 1].task.continues = true;
    request_send(&r);
    struct task running = bench_claim(&b, .worker = "w");
    CHECK(id_eq(running.id, request_id(&r, one)));
    CHECK_EQ(bench_cancel(&b, request_id(&r, two)), ERR_NONE);
    CHECK_EQ(request_state(&r, three), TASK_WAITING);
    CHECK_EQ(bench_finish(&b, &running, OUTCOME_COMPLETED), ERR_NONE);
    CHECK_EQ(request_state(&r, three), TASK_QUEUED);
    CHECK_EQ(claim_and(&b, OUTCOME_COMPLETED), ERR_NONE);
    CHECK_EQ(request_state(&r, p), TASK_FAILED);
}

TEST(a_parents_progress_is_the_share_of_its_children_that_have_ended)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct request r = {.b = &b};
    size_t p = request_add(&r, 0, NULL);
    for (int i = 0; i < 3; i++) {
        request_add(&r, p, NULL);
    }
    request_send(&r);
    CHECK(bench_task(&b, request_id(&r, p)).progress < 0);
    CHECK_EQ(claim_and(&b, OUTCOME_COMPLETED), ERR_NONE);
    CHECK_EQ((int)(bench_task(&b, request_id(&r, p)).progress * 10), 333);
    CHECK_STR(bench_task(&b, request_id(&r, p)).progress_message, "1 of 3");
    CHECK_EQ(claim_and(&b, OUTCOME_COMPLETED), ERR_NONE);
    CHECK_EQ(claim_and(&b, OUTCOME_COMPLETED), ERR_NONE);
    CHECK_EQ((int)bench_task(&b, request_id(&r, p)).progress, 100);
}

TEST(events_name_the_parent_and_the_batch_that_holds_the_document)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct request r = {.b = &b};
    size_t p = request_add(&r, 0, "d"), inner = request_add(&r, p, "d"),
           leaf = request_add(&r, inner, "d");
    request_send(&r);
    const struct event *first = HOLDER(list_first(&b.events), struct event_batch, link)->events;
    CHECK(id_none(first[p - 1].parent) && id_none(first[p - 1].family));
    CHECK(id_eq(first[leaf - 1].parent, request_id(&r, inner)));
    CHECK(id_eq(first[leaf - 1].family, request_id(&r, p)));
}

TEST(cancelling_the_parent_cancels_what_is_unfinished)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct request r = {.b = &b};
    size_t p = request_add(&r, 0, NULL), one = request_add(&r, p, NULL),
           two = request_add(&r, p, NULL);
    request_send(&r);
    struct task running = bench_claim(&b, .worker = "w");
    CHECK_EQ(bench_cancel(&b, request_id(&r, p)), ERR_NONE);
    CHECK_EQ(request_state(&r, p), TASK_RUNNING);
    CHECK(bench_task(&b, request_id(&r, one)).cancel_requested);
    CHECK_EQ(request_state(&r, two), TASK_CANCELLED);
    CHECK_EQ(bench_finish(&b, &running, OUTCOME_FAILED), ERR_NONE);
    CHECK_EQ(request_state(&r, one), TASK_CANCELLED);
    CHECK_EQ(request_state(&r, p), TASK_CANCELLED);
}

/* The store says the same of rows: conformance/store_postgres_fleet.c. */
TEST(a_member_of_the_family_that_holds_a_document_does_not_wait_for_it)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct request r = {.b = &b};
    size_t p = request_add(&r, 0, "d"), one = request_add(&r, p, "d"),
           two = request_add(&r, p, "d");
    request_send(&r);
    CHECK_EQ(claim_and(&b, OUTCOME_COMPLETED), ERR_NONE);
    struct task_id other = bench_create(&b, "t", .document = "d");
    CHECK_EQ(request_state(&r, one), TASK_COMPLETED);
    CHECK_EQ(request_state(&r, two), TASK_QUEUED);
    struct document_view view = bench_document(&b, "d");

    CHECK(view.locked && id_eq(view.task, request_id(&r, p)));
    CHECK_EQ(view.waiting_count, 1);
    CHECK(id_eq(view.waiting[0], other));
}

TEST(a_batch_keeps_its_document_from_its_first_childs_start_to_its_end)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct request r = {.b = &b};
    size_t p = request_add(&r, 0, "d"), one = request_add(&r, p, "d"),
           two = request_add(&r, p, "d");
    request_send(&r);
    struct task_id other = bench_create(&b, "t", .document = "d", .priority = TASK_CRITICAL);
    struct task urgent = bench_claim(&b, .worker = "w");
    CHECK(id_eq(urgent.id, other)); /* the batch has not begun: priority counts */
    struct task_id later = bench_create(&b, "t", .document = "d", .priority = TASK_CRITICAL);
    CHECK_EQ(bench_finish(&b, &urgent, OUTCOME_COMPLETED), ERR_NONE);
    struct task next = bench_claim(&b, .worker = "w");
    CHECK(id_eq(next.id, later));
    CHECK_EQ(bench_finish(&b, &next, OUTCOME_COMPLETED), ERR_NONE);
    struct task first = bench_claim(&b, .worker = "w");
    CHECK(id_eq(first.id, request_id(&r, one)));
    struct task_id outside = bench_create(&b, "t", .document = "d", .priority = TASK_CRITICAL);
    CHECK_EQ(bench_finish(&b, &first, OUTCOME_FAILED), ERR_NONE); /* RETRYING: still the batch's */
    CHECK(id_none(bench_claim(&b, .worker = "w").id));
    bench_restart(&b);
    bench_pass_ms(&b, 5000);
    CHECK_EQ(claim_and(&b, OUTCOME_COMPLETED), ERR_NONE);
    struct task second = bench_claim(&b, .worker = "w");
    CHECK(id_eq(second.id, request_id(&r, two)));
    CHECK_EQ(bench_finish(&b, &second, OUTCOME_COMPLETED), ERR_NONE);
    CHECK_EQ(request_state(&r, p), TASK_COMPLETED);
    CHECK(id_eq(bench_claim(&b, .worker = "w").id, outside));
}

TEST(children_of_children_run_in_order_too)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct request r = {.b = &b};
    size_t p = request_add(&r, 0, NULL), inner = request_add(&r, p, NULL),
           leaf = request_add(&r, inner, NULL), last = request_add(&r, p, NULL);
    request_send(&r);
    CHECK_EQ(request_state(&r, leaf), TASK_QUEUED);
    CHECK_EQ(claim_and(&b, OUTCOME_COMPLETED), ERR_NONE);
    CHECK_EQ(request_state(&r, inner), TASK_COMPLETED);
    CHECK_EQ(request_state(&r, last), TASK_QUEUED);
    CHECK_EQ(claim_and(&b, OUTCOME_COMPLETED), ERR_NONE);
    CHECK_EQ(request_state(&r, p), TASK_COMPLETED);
}

TEST(a_parent_with_a_time_waits_for_it_and_its_children_with_it)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct request r = {.b = &b};
    size_t p = request_add(&r, 0, NULL), one = request_add(&r, p, NULL);
    r.orders[p - 1].delay_ms = 1000;
    request_send(&r);
    CHECK_EQ(request_state(&r, p), TASK_SCHEDULED);
    CHECK_EQ(request_state(&r, one), TASK_WAITING);
    bench_pass_ms(&b, 1000);
    CHECK_EQ(request_state(&r, p), TASK_QUEUED);
    CHECK_EQ(request_state(&r, one), TASK_QUEUED);
}

/* ---- Many ---- */

static void random_request(struct request *r, struct rand *rand)
{
    size_t n = 2 + rand_below(rand, 12);
    for (size_t i = 0; i < n; i++) {
        size_t place = request_add(r, 0, rand_below(rand, 3) == 0 ? "d" : NULL);
        r->orders[place - 1].task.runs_anyway = rand_below(rand, 4) == 0;
        r->orders[place - 1].task.max_retries = (int32_t)rand_below(rand, 2);
        for (size_t j = 1; j < place; j++) {
            if (r->orders[j - 1].parent == 0 && rand_below(rand, 4) == 0) {
                request_need(r, place, (struct order_need){.order = j});
            }
        }
        for (size_t kids = rand_below(rand, 4) == 0 ? 1 + rand_below(rand, 3) : 0;
             kids > 0 && r->count < MEMBERS_MAX; kids--) {
            struct str document = r->orders[place - 1].task.document;
            request_add(r, place, str_absent(document) ? NULL : "d");
        }
    }
}

static void check_started_in_order(struct request *r, const struct task *task)
{
    for (size_t i = 0; i < r->count; i++) {
        const struct order *order = &r->orders[i];
        for (size_t j = 0; id_eq(order->task.id, task->id) && j < order->needs_count; j++) {
            enum task_state on = request_state(r, order->needs[j].order);
            CHECK(order->task.runs_anyway ? task_state_terminal(on) : on == TASK_COMPLETED);
        }
    }
}

static void random_step(struct request *r, struct rand *rand)
{
    static const enum task_outcome ends[] = {OUTCOME_COMPLETED, OUTCOME_COMPLETED,
                                             OUTCOME_COMPLETED, OUTCOME_FAILED, OUTCOME_RELEASED};
    struct bench *b = r->b;
    if (rand_below(rand, 12) == 0) {
        (void)bench_cancel(b, request_id(r, 1 + rand_below(rand, r->count)));
    }
    struct task task = bench_claim(b, .worker = "w", .lease_ms = 1000);
    if (id_none(task.id)) {
        bench_pass_ms(b, 30000);
        return;
    }
    check_started_in_order(r, &task);
    if (rand_below(rand, 8) == 0) {
        bench_pass_ms(b, 1001); /* killed: its lease ends */
    } else {
        (void)bench_finish(b, &task, ends[rand_below(rand, ARRAY_LEN(ends))]);
    }
    if (rand_below(rand, 16) == 0) {
        bench_restart(b);
    }
}

static bool all_over(struct request *r)
{
    for (size_t i = 1; i <= r->count; i++) {
        if (!task_state_terminal(request_state(r, i))) {
            return false;
        }
    }
    return true;
}

TEST(a_thousand_random_graphs_all_come_to_an_end_in_order)
{
    for (uint64_t seed = 1; seed <= 1000; seed++) {
        SCOPED(bench_fini) struct bench b = BENCH_INIT;
        struct request r = {.b = &b};
        struct rand rand;
        rand_init_seed(&rand, seed);
        random_request(&r, &rand);
        CHECK_EQ(request_send(&r)->command.err.kind, ERR_NONE);
        for (int step = 0; !all_over(&r); step++) {
            if (step > 2000) {
                print_error("seed %llu does not end\n", (unsigned long long)seed);
                CHECK(false);
            }
            random_step(&r, &rand);
        }
    }
}

/* ---- What ends in the batch that brings what waits for it ---- */

/* Creates the request and ends `task` in one batch, in that order. */
static void send_and_end(struct request *r, const struct task *task, enum task_outcome outcome)
{
    struct call *call = bench_call(r->b, COMMAND_CREATE);
    call->command.create = (struct command_create){r->orders, r->count};
    bench_give(r->b, call);
    bench_give(r->b, bench_finish_call(r->b, task, outcome));
    bench_settle(r->b);
    CHECK_EQ(call->command.err.kind, ERR_NONE);
}

TEST(a_dependency_that_ends_in_the_batch_that_brings_its_dependent_frees_it)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task_id first = bench_create(&b, "t"), other = bench_create(&b, "t");
    struct task task = bench_claim(&b, .worker = "w");
    CHECK(id_eq(task.id, first));
    struct request r = {.b = &b};
    size_t one = request_add(&r, 0, NULL), both = request_add(&r, 0, NULL),
           next = request_add(&r, 0, NULL);
    request_need(&r, one, (struct order_need){.id = first});
    request_need(&r, both, (struct order_need){.id = first});
    request_need(&r, both, (struct order_need){.id = other});
    request_need(&r, next, (struct order_need){.order = one});
    send_and_end(&r, &task, OUTCOME_COMPLETED);
    CHECK_EQ(request_state(&r, one), TASK_QUEUED);
    CHECK_EQ(request_state(&r, both), TASK_WAITING);
    CHECK_EQ(request_state(&r, next), TASK_WAITING);
    CHECK_EQ(claim_and(&b, OUTCOME_COMPLETED), ERR_NONE);
    CHECK_EQ(request_state(&r, both), TASK_QUEUED);
    CHECK_EQ(claim_and(&b, OUTCOME_COMPLETED), ERR_NONE);
    CHECK_EQ(request_state(&r, next), TASK_QUEUED);
}

TEST(a_batch_that_waited_for_it_begins_with_its_first_child)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task_id first = bench_create(&b, "t");
    struct task task = bench_claim(&b, .worker = "w");
    struct request r = {.b = &b};
    size_t top = request_add(&r, 0, NULL), inner = request_add(&r, top, NULL),
           leaf = request_add(&r, inner, NULL);
    size_t last = request_add(&r, top, NULL);
    request_need(&r, top, (struct order_need){.id = first});
    send_and_end(&r, &task, OUTCOME_COMPLETED);
    CHECK_EQ(request_state(&r, top), TASK_QUEUED);
    CHECK_EQ(request_state(&r, leaf), TASK_QUEUED);
    CHECK_EQ(request_state(&r, last), TASK_WAITING);
    CHECK_EQ(claim_and(&b, OUTCOME_COMPLETED), ERR_NONE);
    CHECK_EQ(claim_and(&b, OUTCOME_COMPLETED), ERR_NONE);
    CHECK_EQ(request_state(&r, top), TASK_COMPLETED);
}

TEST(a_bad_end_in_the_batch_that_brings_its_dependents_cancels_them)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task_id first = bench_create(&b, "t", .max_retries = BENCH_NONE);
    struct task task = bench_claim(&b, .worker = "w");
    struct request r = {.b = &b};
    size_t top = request_add(&r, 0, NULL), child = request_add(&r, top, NULL),
           next = request_add(&r, 0, NULL);
    size_t anyway = request_add(&r, 0, NULL);
    r.orders[anyway - 1].task.runs_anyway = true;
    request_need(&r, top, (struct order_need){.id = first});
    request_need(&r, next, (struct order_need){.order = top});
    request_need(&r, anyway, (struct order_need){.id = first});
    send_and_end(&r, &task, OUTCOME_FAILED);
    CHECK_EQ(request_state(&r, top), TASK_CANCELLED);
    CHECK_EQ(request_state(&r, child), TASK_CANCELLED);
    CHECK_EQ(request_state(&r, next), TASK_CANCELLED);
    CHECK_EQ(request_state(&r, anyway), TASK_QUEUED);
}
