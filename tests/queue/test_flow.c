/* tests/queue/test_flow.c: what one task's end means for others: children, parents, dependents.
 *
 * SPDX-License-Identifier: MIT */
#include "bench.h"
#include "test.h"

#define MEMBERS_MAX 64

/* A request under construction: orders that may name each other. */
struct request {
    struct bench *b;
    struct order orders[MEMBERS_MAX];
    size_t count;
};

static size_t add(struct request *r, size_t parent, const char *document)
{
    struct order order = bench_order(r->b, (struct bench_order){.type = "t", .document = document});
    order.parent = parent;
    r->orders[r->count++] = order;
    return r->count; /* 1 + its place, as orders name each other */
}

static void needs(struct request *r, size_t who, struct order_need need)
{
    struct order *order = &r->orders[who - 1];
    struct order_need *more = arena_array(&r->b->arena, struct order_need, order->needs_count + 1);
    if (order->needs_count > 0) {
        memcpy(more, order->needs, order->needs_count * sizeof *more);
    }
    more[order->needs_count] = need;
    order->needs = more;
    order->needs_count++;
}

static struct call *send(struct request *r)
{
    struct call *call = bench_call(r->b, COMMAND_CREATE);
    call->command.create = (struct command_create){r->orders, r->count};
    return bench_run(r->b, call);
}

static struct task_id id_of(const struct request *r, size_t place)
{
    return r->orders[place - 1].task.id;
}

static enum task_state state_of(struct request *r, size_t place)
{
    return bench_task(r->b, id_of(r, place)).state;
}

static enum err_kind claim_and(struct bench *b, enum task_outcome outcome)
{
    struct task task = bench_claim(b, .worker = "w");
    CHECK(!id_none(task.id));
    return bench_finish(b, &task, outcome);
}

/* ---- Dependencies ---- */

TEST(a_dependent_waits_for_all_and_then_runs)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct request r = {.b = &b};
    size_t x = add(&r, 0, NULL), y = add(&r, 0, NULL), z = add(&r, 0, NULL);
    needs(&r, z, (struct order_need){.order = x});
    needs(&r, z, (struct order_need){.order = y});
    CHECK_EQ(send(&r)->command.err.kind, ERR_NONE);
    CHECK_EQ(state_of(&r, z), TASK_WAITING);
    CHECK_EQ(claim_and(&b, OUTCOME_COMPLETED), ERR_NONE);
    CHECK_EQ(state_of(&r, z), TASK_WAITING);
    CHECK_EQ(claim_and(&b, OUTCOME_COMPLETED), ERR_NONE);
    CHECK_EQ(state_of(&r, z), TASK_QUEUED);
    CHECK(id_eq(bench_claim(&b, .worker = "w").id, id_of(&r, z)));
}

TEST(a_bad_end_cancels_what_depends_on_it_down_the_line)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct request r = {.b = &b};
    size_t x = add(&r, 0, NULL), y = add(&r, 0, NULL), z = add(&r, 0, NULL), any = add(&r, 0, NULL);
    needs(&r, y, (struct order_need){.order = x});
    needs(&r, z, (struct order_need){.order = y});
    needs(&r, any, (struct order_need){.order = z});
    r.orders[any - 1].task.runs_anyway = true;
    send(&r);
    CHECK_EQ(bench_cancel(&b, id_of(&r, x)), ERR_NONE);
    CHECK_EQ(state_of(&r, y), TASK_CANCELLED);
    CHECK_EQ(state_of(&r, z), TASK_CANCELLED);
    CHECK_EQ(state_of(&r, any), TASK_QUEUED);
    char text[TASK_ID_TEXT];
    struct task cancelled = bench_task(&b, id_of(&r, y));
    CHECK(strstr(cancelled.cancel_reason.ptr, id_text(id_of(&r, x), text).ptr) != NULL);
}

TEST(depending_on_what_ended_badly_is_cancelled_at_once)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task_id gone = bench_create(&b, "t");
    CHECK_EQ(bench_cancel(&b, gone), ERR_NONE);
    struct request r = {.b = &b};
    size_t x = add(&r, 0, NULL), y = add(&r, 0, NULL);
    needs(&r, x, (struct order_need){.id = gone});
    needs(&r, y, (struct order_need){.order = x});
    CHECK_EQ(send(&r)->command.err.kind, ERR_NONE);
    CHECK_EQ(state_of(&r, x), TASK_CANCELLED);
    CHECK_EQ(state_of(&r, y), TASK_CANCELLED);
}

TEST(cycles_and_unknown_ids_are_refused_and_leave_nothing)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct request r = {.b = &b};
    size_t x = add(&r, 0, NULL), y = add(&r, 0, NULL);
    needs(&r, x, (struct order_need){.order = y});
    needs(&r, y, (struct order_need){.order = x});
    struct call *call = send(&r);
    CHECK_EQ(call->command.err.kind, ERR_INVALID);
    CHECK_STR(str_of(call->command.err.field), "dependsOn");
    struct request unknown = {.b = &b};
    size_t z = add(&unknown, 0, NULL);
    needs(&unknown, z, (struct order_need){.id = {1, 1}});
    CHECK_EQ(send(&unknown)->command.err.kind, ERR_INVALID);
    CHECK_EQ(bench_count(&b, TASK_QUEUED) + bench_count(&b, TASK_WAITING), 0);
}

TEST(retrying_a_cancelled_dependent_waits_until_its_dependency_is_retried_too)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct request r = {.b = &b};
    size_t x = add(&r, 0, NULL), y = add(&r, 0, NULL);
    needs(&r, y, (struct order_need){.order = x});
    send(&r);
    CHECK_EQ(bench_cancel(&b, id_of(&r, x)), ERR_NONE);
    CHECK_EQ(bench_revive(&b, id_of(&r, y)), ERR_NONE);
    CHECK_EQ(state_of(&r, y), TASK_WAITING);
    CHECK_EQ(bench_revive(&b, id_of(&r, x)), ERR_NONE);
    CHECK_EQ(claim_and(&b, OUTCOME_COMPLETED), ERR_NONE);
    CHECK_EQ(state_of(&r, y), TASK_QUEUED);
}

TEST(why_names_the_dependencies_that_are_open)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct request r = {.b = &b};
    size_t x = add(&r, 0, NULL), y = add(&r, 0, NULL);
    needs(&r, y, (struct order_need){.order = x});
    send(&r);
    struct command_why *why = &bench_why(&b, id_of(&r, y))->command.why;
    CHECK_EQ(why->count, 1);
    CHECK_EQ(why->reasons[0].code, WHY_DEPENDENCIES);
    CHECK_EQ(why->reasons[0].tasks_count, 1);
    CHECK(id_eq(why->reasons[0].tasks[0], id_of(&r, x)));
}

/* ---- Children ---- */

TEST(children_run_one_after_the_other_and_then_the_parent_is_completed)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct request r = {.b = &b};
    size_t p = add(&r, 0, NULL), one = add(&r, p, NULL), two = add(&r, p, NULL);
    send(&r);
    CHECK_EQ(state_of(&r, p), TASK_QUEUED);
    CHECK_EQ(state_of(&r, one), TASK_QUEUED);
    CHECK_EQ(state_of(&r, two), TASK_WAITING);
    struct task first = bench_claim(&b, .worker = "w");
    CHECK(id_eq(first.id, id_of(&r, one)));
    CHECK_EQ(state_of(&r, p), TASK_RUNNING);
    CHECK(id_none(bench_claim(&b, .worker = "w").id));
    CHECK_EQ(bench_finish(&b, &first, OUTCOME_COMPLETED), ERR_NONE);
    CHECK_EQ(state_of(&r, two), TASK_QUEUED);
    CHECK_EQ(claim_and(&b, OUTCOME_COMPLETED), ERR_NONE);
    struct task parent = bench_task(&b, id_of(&r, p));
    CHECK_EQ(parent.state, TASK_COMPLETED);
    CHECK(parent.result.len >= 2 && parent.result.ptr[0] == '[');
    CHECK_STR(bench_story(&b, id_of(&r, p)), "QUEUED RUNNING COMPLETED");
}

TEST(a_failed_child_cancels_the_rest_and_fails_the_parent_by_name)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct request r = {.b = &b};
    size_t p = add(&r, 0, NULL), one = add(&r, p, NULL), two = add(&r, p, NULL);
    r.orders[one - 1].task.max_retries = 0;
    send(&r);
    CHECK_EQ(claim_and(&b, OUTCOME_FAILED), ERR_NONE);
    CHECK_EQ(state_of(&r, one), TASK_FAILED);
    CHECK_EQ(state_of(&r, two), TASK_CANCELLED);
    struct task parent = bench_task(&b, id_of(&r, p));
    char text[TASK_ID_TEXT];
    CHECK_EQ(parent.state, TASK_FAILED);
    CHECK(strstr(parent.error.message.ptr, id_text(id_of(&r, one), text).ptr) != NULL);
    CHECK_EQ(bench_revive(&b, id_of(&r, one)), ERR_CONFLICT);
    CHECK_EQ(bench_revive(&b, id_of(&r, p)), ERR_NONE);
    CHECK_EQ(state_of(&r, p), TASK_RUNNING);
    CHECK_EQ(state_of(&r, one), TASK_QUEUED);
    CHECK_EQ(state_of(&r, two), TASK_WAITING);
    CHECK_EQ(claim_and(&b, OUTCOME_COMPLETED), ERR_NONE);
    CHECK_EQ(claim_and(&b, OUTCOME_COMPLETED), ERR_NONE);
    CHECK_EQ(state_of(&r, p), TASK_COMPLETED);
}

TEST(with_continue_the_rest_runs_and_the_parent_fails_at_the_end)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct request r = {.b = &b};
    size_t p = add(&r, 0, NULL), one = add(&r, p, NULL), two = add(&r, p, NULL);
    r.orders[p - 1].task.continues = true;
    r.orders[one - 1].task.max_retries = 0;
    send(&r);
    CHECK_EQ(claim_and(&b, OUTCOME_FAILED), ERR_NONE);
    CHECK_EQ(state_of(&r, two), TASK_QUEUED);
    CHECK_EQ(state_of(&r, p), TASK_RUNNING);
    CHECK_EQ(claim_and(&b, OUTCOME_COMPLETED), ERR_NONE);
    CHECK_EQ(state_of(&r, p), TASK_FAILED);
}

TEST(with_continue_a_child_cancelled_out_of_turn_gives_no_other_its_turn)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct request r = {.b = &b};
    size_t p = add(&r, 0, NULL), one = add(&r, p, NULL), two = add(&r, p, NULL),
           three = add(&r, p, NULL);
    r.orders[p - 1].task.continues = true;
    send(&r);
    struct task running = bench_claim(&b, .worker = "w");
    CHECK(id_eq(running.id, id_of(&r, one)));
    CHECK_EQ(bench_cancel(&b, id_of(&r, two)), ERR_NONE);
    CHECK_EQ(state_of(&r, three), TASK_WAITING);
    CHECK_EQ(bench_finish(&b, &running, OUTCOME_COMPLETED), ERR_NONE);
    CHECK_EQ(state_of(&r, three), TASK_QUEUED);
    CHECK_EQ(claim_and(&b, OUTCOME_COMPLETED), ERR_NONE);
    CHECK_EQ(state_of(&r, p), TASK_FAILED);
}

TEST(a_parents_progress_is_the_share_of_its_children_that_have_ended)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct request r = {.b = &b};
    size_t p = add(&r, 0, NULL);
    for (int i = 0; i < 3; i++) {
        add(&r, p, NULL);
    }
    send(&r);
    CHECK(bench_task(&b, id_of(&r, p)).progress < 0);
    CHECK_EQ(claim_and(&b, OUTCOME_COMPLETED), ERR_NONE);
    CHECK_EQ((int)(bench_task(&b, id_of(&r, p)).progress * 10), 333);
    CHECK_STR(bench_task(&b, id_of(&r, p)).progress_message, "1 of 3");
    CHECK_EQ(claim_and(&b, OUTCOME_COMPLETED), ERR_NONE);
    CHECK_EQ(claim_and(&b, OUTCOME_COMPLETED), ERR_NONE);
    CHECK_EQ((int)bench_task(&b, id_of(&r, p)).progress, 100);
}

TEST(events_name_the_parent_and_the_batch_that_holds_the_document)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct request r = {.b = &b};
    size_t p = add(&r, 0, "d"), inner = add(&r, p, "d"), leaf = add(&r, inner, "d");
    send(&r);
    const struct event *first = HOLDER(list_first(&b.events), struct event_batch, link)->events;
    CHECK(id_none(first[p - 1].parent) && id_none(first[p - 1].batch));
    CHECK(id_eq(first[leaf - 1].parent, id_of(&r, inner)));
    CHECK(id_eq(first[leaf - 1].batch, id_of(&r, p)));
}

TEST(cancelling_the_parent_cancels_what_is_unfinished)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct request r = {.b = &b};
    size_t p = add(&r, 0, NULL), one = add(&r, p, NULL), two = add(&r, p, NULL);
    send(&r);
    struct task running = bench_claim(&b, .worker = "w");
    CHECK_EQ(bench_cancel(&b, id_of(&r, p)), ERR_NONE);
    CHECK_EQ(state_of(&r, p), TASK_RUNNING);
    CHECK(bench_task(&b, id_of(&r, one)).cancel_requested);
    CHECK_EQ(state_of(&r, two), TASK_CANCELLED);
    CHECK_EQ(bench_finish(&b, &running, OUTCOME_FAILED), ERR_NONE);
    CHECK_EQ(state_of(&r, one), TASK_CANCELLED);
    CHECK_EQ(state_of(&r, p), TASK_CANCELLED);
}

TEST(a_batch_keeps_its_document_from_its_first_childs_start_to_its_end)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct request r = {.b = &b};
    size_t p = add(&r, 0, "d"), one = add(&r, p, "d"), two = add(&r, p, "d");
    send(&r);
    struct task_id other = bench_create(&b, "t", .document = "d", .priority = TASK_CRITICAL);
    struct task urgent = bench_claim(&b, .worker = "w");
    CHECK(id_eq(urgent.id, other)); /* the batch has not begun: priority counts */
    struct task_id later = bench_create(&b, "t", .document = "d", .priority = TASK_CRITICAL);
    CHECK_EQ(bench_finish(&b, &urgent, OUTCOME_COMPLETED), ERR_NONE);
    struct task next = bench_claim(&b, .worker = "w");
    CHECK(id_eq(next.id, later));
    CHECK_EQ(bench_finish(&b, &next, OUTCOME_COMPLETED), ERR_NONE);
    struct task first = bench_claim(&b, .worker = "w");
    CHECK(id_eq(first.id, id_of(&r, one)));
    struct task_id outside = bench_create(&b, "t", .document = "d", .priority = TASK_CRITICAL);
    CHECK_EQ(bench_finish(&b, &first, OUTCOME_FAILED), ERR_NONE); /* RETRYING: still the batch's */
    CHECK(id_none(bench_claim(&b, .worker = "w").id));
    bench_restart(&b);
    bench_pass_ms(&b, 5000);
    CHECK_EQ(claim_and(&b, OUTCOME_COMPLETED), ERR_NONE);
    struct task second = bench_claim(&b, .worker = "w");
    CHECK(id_eq(second.id, id_of(&r, two)));
    CHECK_EQ(bench_finish(&b, &second, OUTCOME_COMPLETED), ERR_NONE);
    CHECK_EQ(state_of(&r, p), TASK_COMPLETED);
    CHECK(id_eq(bench_claim(&b, .worker = "w").id, outside));
}

TEST(children_of_children_run_in_order_too)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct request r = {.b = &b};
    size_t p = add(&r, 0, NULL), inner = add(&r, p, NULL), leaf = add(&r, inner, NULL),
           last = add(&r, p, NULL);
    send(&r);
    CHECK_EQ(state_of(&r, leaf), TASK_QUEUED);
    CHECK_EQ(claim_and(&b, OUTCOME_COMPLETED), ERR_NONE);
    CHECK_EQ(state_of(&r, inner), TASK_COMPLETED);
    CHECK_EQ(state_of(&r, last), TASK_QUEUED);
    CHECK_EQ(claim_and(&b, OUTCOME_COMPLETED), ERR_NONE);
    CHECK_EQ(state_of(&r, p), TASK_COMPLETED);
}

TEST(a_parent_with_a_time_waits_for_it_and_its_children_with_it)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct request r = {.b = &b};
    size_t p = add(&r, 0, NULL), one = add(&r, p, NULL);
    r.orders[p - 1].delay_ms = 1000;
    send(&r);
    CHECK_EQ(state_of(&r, p), TASK_SCHEDULED);
    CHECK_EQ(state_of(&r, one), TASK_WAITING);
    bench_pass_ms(&b, 1000);
    CHECK_EQ(state_of(&r, p), TASK_QUEUED);
    CHECK_EQ(state_of(&r, one), TASK_QUEUED);
}

/* ---- Many ---- */

static void random_request(struct request *r, struct rand *rand)
{
    size_t n = 2 + rand_below(rand, 12);
    for (size_t i = 0; i < n; i++) {
        size_t place = add(r, 0, rand_below(rand, 3) == 0 ? "d" : NULL);
        r->orders[place - 1].task.runs_anyway = rand_below(rand, 4) == 0;
        r->orders[place - 1].task.max_retries = (int32_t)rand_below(rand, 2);
        for (size_t j = 1; j < place; j++) {
            if (r->orders[j - 1].parent == 0 && rand_below(rand, 4) == 0) {
                needs(r, place, (struct order_need){.order = j});
            }
        }
        for (size_t kids = rand_below(rand, 4) == 0 ? 1 + rand_below(rand, 3) : 0;
             kids > 0 && r->count < MEMBERS_MAX; kids--) {
            struct str document = r->orders[place - 1].task.document;
            add(r, place, str_absent(document) ? NULL : "d");
        }
    }
}

static void check_started_in_order(struct request *r, const struct task *task)
{
    for (size_t i = 0; i < r->count; i++) {
        const struct order *order = &r->orders[i];
        for (size_t j = 0; id_eq(order->task.id, task->id) && j < order->needs_count; j++) {
            enum task_state on = state_of(r, order->needs[j].order);
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
        (void)bench_cancel(b, id_of(r, 1 + rand_below(rand, r->count)));
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
        if (!task_state_terminal(state_of(r, i))) {
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
        CHECK_EQ(send(&r)->command.err.kind, ERR_NONE);
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
    size_t one = add(&r, 0, NULL), both = add(&r, 0, NULL), next = add(&r, 0, NULL);
    needs(&r, one, (struct order_need){.id = first});
    needs(&r, both, (struct order_need){.id = first});
    needs(&r, both, (struct order_need){.id = other});
    needs(&r, next, (struct order_need){.order = one});
    send_and_end(&r, &task, OUTCOME_COMPLETED);
    CHECK_EQ(state_of(&r, one), TASK_QUEUED);
    CHECK_EQ(state_of(&r, both), TASK_WAITING);
    CHECK_EQ(state_of(&r, next), TASK_WAITING);
    CHECK_EQ(claim_and(&b, OUTCOME_COMPLETED), ERR_NONE);
    CHECK_EQ(state_of(&r, both), TASK_QUEUED);
    CHECK_EQ(claim_and(&b, OUTCOME_COMPLETED), ERR_NONE);
    CHECK_EQ(state_of(&r, next), TASK_QUEUED);
}

TEST(a_batch_that_waited_for_it_begins_with_its_first_child)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task_id first = bench_create(&b, "t");
    struct task task = bench_claim(&b, .worker = "w");
    struct request r = {.b = &b};
    size_t top = add(&r, 0, NULL), inner = add(&r, top, NULL), leaf = add(&r, inner, NULL);
    size_t last = add(&r, top, NULL);
    needs(&r, top, (struct order_need){.id = first});
    send_and_end(&r, &task, OUTCOME_COMPLETED);
    CHECK_EQ(state_of(&r, top), TASK_QUEUED);
    CHECK_EQ(state_of(&r, leaf), TASK_QUEUED);
    CHECK_EQ(state_of(&r, last), TASK_WAITING);
    CHECK_EQ(claim_and(&b, OUTCOME_COMPLETED), ERR_NONE);
    CHECK_EQ(claim_and(&b, OUTCOME_COMPLETED), ERR_NONE);
    CHECK_EQ(state_of(&r, top), TASK_COMPLETED);
}

TEST(a_bad_end_in_the_batch_that_brings_its_dependents_cancels_them)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task_id first = bench_create(&b, "t", .max_retries = BENCH_NONE);
    struct task task = bench_claim(&b, .worker = "w");
    struct request r = {.b = &b};
    size_t top = add(&r, 0, NULL), child = add(&r, top, NULL), next = add(&r, 0, NULL);
    size_t anyway = add(&r, 0, NULL);
    r.orders[anyway - 1].task.runs_anyway = true;
    needs(&r, top, (struct order_need){.id = first});
    needs(&r, next, (struct order_need){.order = top});
    needs(&r, anyway, (struct order_need){.id = first});
    send_and_end(&r, &task, OUTCOME_FAILED);
    CHECK_EQ(state_of(&r, top), TASK_CANCELLED);
    CHECK_EQ(state_of(&r, child), TASK_CANCELLED);
    CHECK_EQ(state_of(&r, next), TASK_CANCELLED);
    CHECK_EQ(state_of(&r, anyway), TASK_QUEUED);
}

/* ---- No dead ends: retry, expiry, changes and removal together with families ---- */

TEST(a_retried_family_stands_in_its_documents_line_again)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct request r = {.b = &b};
    size_t p = add(&r, 0, "d"), one = add(&r, p, "d");
    r.orders[one - 1].task.max_retries = 0;
    send(&r);
    CHECK_EQ(claim_and(&b, OUTCOME_FAILED), ERR_NONE);
    struct task_id holds = bench_create(&b, "t", .document = "d");
    struct task other = bench_claim(&b, .worker = "w");
    CHECK(id_eq(other.id, holds));

    CHECK_EQ(bench_revive(&b, id_of(&r, p)), ERR_NONE); /* while its document is another's */
    CHECK_EQ(state_of(&r, p), TASK_RUNNING);
    CHECK(id_none(bench_claim(&b, .worker = "w").id));
    CHECK_EQ(bench_why(&b, id_of(&r, one))->command.why.reasons[0].code, WHY_DOCUMENT_LOCKED);
    CHECK_EQ(bench_finish(&b, &other, OUTCOME_COMPLETED), ERR_NONE);
    bench_restart(&b);
    struct task again = bench_claim(&b, .worker = "w");
    CHECK(id_eq(again.id, id_of(&r, one)));
    bench_create(&b, "t", .document = "d");
    CHECK(id_none(bench_claim(&b, .worker = "w").id)); /* the family has it now */
    CHECK_EQ(bench_finish(&b, &again, OUTCOME_COMPLETED), ERR_NONE);
    CHECK_EQ(state_of(&r, p), TASK_COMPLETED);
    CHECK_EQ(claim_and(&b, OUTCOME_COMPLETED), ERR_NONE);
}

TEST(a_retry_reaches_all_that_did_not_end_well_below)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct request r = {.b = &b};
    size_t root = add(&r, 0, NULL), one = add(&r, root, NULL), mid = add(&r, root, NULL),
           x = add(&r, mid, NULL);
    r.orders[one - 1].task.max_retries = 0;
    send(&r);
    CHECK_EQ(claim_and(&b, OUTCOME_FAILED), ERR_NONE);
    CHECK_EQ(state_of(&r, x), TASK_CANCELLED);
    CHECK_EQ(bench_revive(&b, id_of(&r, root)), ERR_NONE);
    CHECK_EQ(claim_and(&b, OUTCOME_COMPLETED), ERR_NONE);
    CHECK_EQ(state_of(&r, x), TASK_QUEUED);
    CHECK_EQ(claim_and(&b, OUTCOME_COMPLETED), ERR_NONE);
    CHECK_EQ(state_of(&r, mid), TASK_COMPLETED);
    CHECK_EQ(state_of(&r, root), TASK_COMPLETED);
}

TEST(a_cancelled_parent_whose_children_all_complete_is_completed)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct request r = {.b = &b};
    size_t p = add(&r, 0, NULL), one = add(&r, p, NULL);
    send(&r);
    struct task running = bench_claim(&b, .worker = "w");
    CHECK_EQ(bench_cancel(&b, id_of(&r, p)), ERR_NONE);
    CHECK(bench_task(&b, id_of(&r, one)).cancel_requested);
    CHECK_EQ(bench_finish(&b, &running, OUTCOME_COMPLETED), ERR_NONE);
    CHECK_EQ(state_of(&r, p), TASK_COMPLETED); /* as a task whose cancel comes too late */
}

TEST(a_child_that_is_over_before_its_parent_begins_ends_it)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct request born = {.b = &b}, late = {.b = &b}, goes_on = {.b = &b};
    size_t p = add(&born, 0, NULL), one = add(&born, p, NULL), two = add(&born, p, NULL);
    born.orders[one - 1].task.expires_ms = BENCH_START_MS - 1;
    send(&born);
    CHECK_EQ(state_of(&born, one), TASK_CANCELLED);
    CHECK_EQ(state_of(&born, two), TASK_CANCELLED);
    CHECK_EQ(state_of(&born, p), TASK_FAILED);

    p = add(&late, 0, NULL), one = add(&late, p, NULL), two = add(&late, p, NULL);
    late.orders[p - 1].delay_ms = 60000;
    late.orders[one - 1].task.expires_ms = BENCH_START_MS + 1000;
    send(&late);
    CHECK_EQ(state_of(&late, p), TASK_SCHEDULED);
    bench_pass_ms(&b, 1000);
    CHECK_EQ(state_of(&late, two), TASK_CANCELLED);
    CHECK_EQ(state_of(&late, p), TASK_FAILED);

    p = add(&goes_on, 0, NULL), one = add(&goes_on, p, NULL), two = add(&goes_on, p, NULL);
    goes_on.orders[p - 1].delay_ms = 60000;
    goes_on.orders[p - 1].task.continues = true;
    send(&goes_on);
    CHECK_EQ(bench_cancel(&b, id_of(&goes_on, one)), ERR_NONE);
    CHECK_EQ(state_of(&goes_on, p), TASK_SCHEDULED);
    bench_pass_ms(&b, 60000);
    CHECK_EQ(state_of(&goes_on, two), TASK_QUEUED);
    CHECK_EQ(claim_and(&b, OUTCOME_COMPLETED), ERR_NONE);
    CHECK_EQ(state_of(&goes_on, p), TASK_FAILED);
}

TEST(a_purge_of_what_waits_for_a_parent_ends_the_parent)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct request r = {.b = &b};
    struct task_id first = bench_create(&b, "t", .queue = "other");
    size_t p = add(&r, 0, NULL), one = add(&r, p, NULL);
    r.orders[p - 1].task.queue = STR("other");
    needs(&r, p, (struct order_need){.id = first});
    send(&r);
    CHECK_EQ(state_of(&r, p), TASK_WAITING);
    bench_run(&b, bench_bulk_call(&b, BULK_PURGE, (struct task_filter){.queue = STR("default")}));
    CHECK_EQ(state_of(&r, one), TASK_CANCELLED);
    CHECK_EQ(state_of(&r, p), TASK_FAILED);
}

TEST(putting_off_a_parent_takes_its_childs_turn_back)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct request r = {.b = &b};
    size_t p = add(&r, 0, NULL), one = add(&r, p, NULL), two = add(&r, p, NULL);
    send(&r);
    struct task_patch later = {.has_scheduled = true, .scheduled_ms = BENCH_START_MS + 5000};
    CHECK_EQ(bench_change(&b, id_of(&r, p), later), ERR_NONE);
    CHECK_EQ(state_of(&r, p), TASK_SCHEDULED);
    CHECK_EQ(state_of(&r, one), TASK_WAITING);
    CHECK(id_none(bench_claim(&b, .worker = "w").id));
    bench_pass_ms(&b, 5000);
    CHECK_EQ(state_of(&r, one), TASK_QUEUED);
    CHECK_EQ(state_of(&r, two), TASK_WAITING);
    CHECK_EQ(claim_and(&b, OUTCOME_COMPLETED), ERR_NONE);
    CHECK_EQ(claim_and(&b, OUTCOME_COMPLETED), ERR_NONE);
    CHECK_EQ(state_of(&r, p), TASK_COMPLETED);
}

TEST(children_behind_a_bad_end_are_cancelled_and_those_before_it_finish)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct request r = {.b = &b};
    size_t p = add(&r, 0, NULL), one = add(&r, p, NULL), two = add(&r, p, NULL),
           three = add(&r, p, NULL);
    send(&r);
    struct task running = bench_claim(&b, .worker = "w");
    CHECK_EQ(bench_cancel(&b, id_of(&r, two)), ERR_NONE);
    CHECK_EQ(state_of(&r, three), TASK_CANCELLED);
    CHECK(!bench_task(&b, id_of(&r, one)).cancel_requested);
    CHECK_EQ(state_of(&r, p), TASK_RUNNING);
    CHECK_EQ(bench_finish(&b, &running, OUTCOME_COMPLETED), ERR_NONE);
    CHECK_EQ(state_of(&r, p), TASK_FAILED);
}

TEST(a_dependency_named_twice_or_by_a_twin_counts_once)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task_id first = bench_create(&b, "t", .key = "k");
    struct request r = {.b = &b};
    size_t twin = add(&r, 0, NULL), waits = add(&r, 0, NULL);
    r.orders[twin - 1].task.key = STR("k");
    needs(&r, waits, (struct order_need){.id = first});
    needs(&r, waits, (struct order_need){.id = first});
    needs(&r, waits, (struct order_need){.order = twin});
    CHECK_EQ(send(&r)->command.err.kind, ERR_NONE);
    CHECK_EQ(bench_task(&b, id_of(&r, waits)).unmet, 1);
    CHECK_EQ(claim_and(&b, OUTCOME_COMPLETED), ERR_NONE);
    CHECK_EQ(state_of(&r, waits), TASK_QUEUED);
}

TEST(a_child_cannot_be_the_task_that_its_key_stands_for)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    bench_create(&b, "t", .key = "k");
    struct request r = {.b = &b};
    size_t p = add(&r, 0, NULL), one = add(&r, p, NULL);
    r.orders[one - 1].task.key = STR("k");
    struct call *call = send(&r);
    CHECK_EQ(call->command.err.kind, ERR_INVALID);
    CHECK_STR(str_of(call->command.err.field), "idempotencyKey");
    CHECK_EQ(bench_count(&b, TASK_QUEUED), 1);
}

TEST(removing_a_dependency_leaves_nobody_waiting_for_it)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct request r = {.b = &b};
    size_t bad = add(&r, 0, NULL), good = add(&r, 0, NULL), waits = add(&r, 0, NULL),
           open = add(&r, 0, NULL), other = add(&r, 0, NULL);
    needs(&r, waits, (struct order_need){.order = bad});
    needs(&r, other, (struct order_need){.order = good});
    needs(&r, other, (struct order_need){.order = open});
    send(&r);
    CHECK_EQ(bench_cancel(&b, id_of(&r, bad)), ERR_NONE);
    CHECK_EQ(bench_revive(&b, id_of(&r, waits)), ERR_NONE);
    CHECK_EQ(state_of(&r, waits), TASK_WAITING);
    CHECK_EQ(bench_remove(&b, id_of(&r, bad)), ERR_NONE);
    CHECK_EQ(state_of(&r, waits), TASK_CANCELLED); /* what it waits for can never complete */

    CHECK_EQ(claim_and(&b, OUTCOME_COMPLETED), ERR_NONE);
    CHECK_EQ(state_of(&r, good), TASK_COMPLETED);
    CHECK_EQ(bench_remove(&b, id_of(&r, good)), ERR_NONE);
    CHECK_EQ(bench_task(&b, id_of(&r, other)).unmet, 1);
    CHECK_EQ(claim_and(&b, OUTCOME_COMPLETED), ERR_NONE);
    CHECK_EQ(state_of(&r, other), TASK_QUEUED);
}

/* ---- Slices ---- */

#define CROWD 1200 /* more than two commits look at */

static struct task_id crowd(struct bench *b, struct task_id *waits)
{
    struct task_id first = bench_create(b, "t");
    struct call *call = bench_call(b, COMMAND_CREATE);
    struct order *orders = arena_array(&b->arena, struct order, CROWD);
    struct order_need *need = arena_new(&b->arena, struct order_need);
    need->id = first;
    for (size_t i = 0; i < CROWD; i++) {
        orders[i] = bench_order(b, (struct bench_order){.type = "t"});
        orders[i].needs = need;
        orders[i].needs_count = 1;
    }
    call->command.create = (struct command_create){orders, CROWD};
    CHECK_EQ(bench_run(b, call)->command.err.kind, ERR_NONE);
    for (size_t i = 0; i < CROWD; i++) {
        waits[i] = orders[i].task.id;
    }
    return first;
}

TEST(a_task_that_very_many_wait_for_is_followed_in_slices)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    static struct task_id waits[CROWD];
    crowd(&b, waits);
    struct task task = bench_claim(&b, .worker = "w");
    struct call *finish = bench_finish_call(&b, &task, OUTCOME_COMPLETED);
    bench_give(&b, finish);
    CHECK(bench_step(&b)); /* it has more to do */
    CHECK(finish->answered);
    CHECK_EQ(bench_task(&b, waits[499]).state, TASK_QUEUED);
    CHECK_EQ(bench_task(&b, waits[500]).state, TASK_WAITING);
    struct call *create = bench_create_call(&b, &(struct bench_order){.type = "u"}, 1);
    bench_give(&b, create);
    CHECK(bench_step(&b));
    CHECK(create->answered); /* others are served in between */
    CHECK_EQ(bench_task(&b, waits[1000]).state, TASK_WAITING);
    bench_restart(&b); /* what is left is on record */
    bench_settle(&b);
    CHECK_EQ(bench_count(&b, TASK_QUEUED), CROWD + 1);
    CHECK_EQ(bench_count(&b, TASK_WAITING), 0);
}

TEST(a_bad_end_cancels_very_many_in_slices_whatever_happens_meanwhile)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    static struct task_id waits[CROWD];
    struct task_id first = crowd(&b, waits);
    bench_give(&b, bench_one_call(&b, COMMAND_CANCEL, first));
    CHECK(bench_step(&b));
    CHECK_EQ(bench_task(&b, waits[500]).state, TASK_WAITING);
    struct call *remove = bench_one_call(&b, COMMAND_REMOVE, first);
    bench_give(&b, remove);
    CHECK(bench_step(&b));
    CHECK_EQ(remove->command.err.kind, ERR_CONFLICT); /* too many still wait for it */
    bench_settle(&b);
    CHECK_EQ(bench_count(&b, TASK_CANCELLED), CROWD + 1);
    CHECK_EQ(bench_remove(&b, first), ERR_NONE);
}
