/* tests/queue/test_flow_ends.c: no history ends in a dead end: families and dependencies together
 * with retry, expiry, changes, removal and very many dependents.
 *
 * SPDX-License-Identifier: MIT */
#include "request.h"

TEST(a_retried_family_stands_in_its_documents_line_again)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct request r = {.b = &b};
    size_t p = request_add(&r, 0, "d"), one = request_add(&r, p, "d");
    r.orders[one - 1].task.max_retries = 0;
    request_send(&r);
    CHECK_EQ(claim_and(&b, OUTCOME_FAILED), ERR_NONE);
    struct task_id holds = bench_create(&b, "t", .document = "d");
    struct task other = bench_claim(&b, .worker = "w");
    CHECK(id_eq(other.id, holds));

    CHECK_EQ(bench_revive(&b, request_id(&r, p)), ERR_NONE); /* while its document is another's */
    CHECK_EQ(request_state(&r, p), TASK_RUNNING);
    CHECK(id_none(bench_claim(&b, .worker = "w").id));
    CHECK_EQ(bench_why(&b, request_id(&r, one))->command.why.reasons[0].code, WHY_DOCUMENT_LOCKED);
    CHECK_EQ(bench_finish(&b, &other, OUTCOME_COMPLETED), ERR_NONE);
    bench_restart(&b);
    struct task again = bench_claim(&b, .worker = "w");
    CHECK(id_eq(again.id, request_id(&r, one)));
    bench_create(&b, "t", .document = "d");
    CHECK(id_none(bench_claim(&b, .worker = "w").id)); /* the family has it now */
    CHECK_EQ(bench_finish(&b, &again, OUTCOME_COMPLETED), ERR_NONE);
    CHECK_EQ(request_state(&r, p), TASK_COMPLETED);
    CHECK_EQ(claim_and(&b, OUTCOME_COMPLETED), ERR_NONE);
}

TEST(a_retry_reaches_all_that_did_not_end_well_below)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct request r = {.b = &b};
    size_t root = request_add(&r, 0, NULL), one = request_add(&r, root, NULL),
           mid = request_add(&r, root, NULL), x = request_add(&r, mid, NULL);
    r.orders[one - 1].task.max_retries = 0;
    request_send(&r);
    CHECK_EQ(claim_and(&b, OUTCOME_FAILED), ERR_NONE);
    CHECK_EQ(request_state(&r, x), TASK_CANCELLED);
    CHECK_EQ(bench_revive(&b, request_id(&r, root)), ERR_NONE);
    CHECK_EQ(claim_and(&b, OUTCOME_COMPLETED), ERR_NONE);
    CHECK_EQ(request_state(&r, x), TASK_QUEUED);
    CHECK_EQ(claim_and(&b, OUTCOME_COMPLETED), ERR_NONE);
    CHECK_EQ(request_state(&r, mid), TASK_COMPLETED);
    CHECK_EQ(request_state(&r, root), TASK_COMPLETED);
}

TEST(a_cancelled_parent_whose_children_all_complete_is_completed)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct request r = {.b = &b};
    size_t p = request_add(&r, 0, NULL), one = request_add(&r, p, NULL);
    request_send(&r);
    struct task running = bench_claim(&b, .worker = "w");
    CHECK_EQ(bench_cancel(&b, request_id(&r, p)), ERR_NONE);
    CHECK(bench_task(&b, request_id(&r, one)).cancel_requested);
    CHECK_EQ(bench_finish(&b, &running, OUTCOME_COMPLETED), ERR_NONE);
    CHECK_EQ(request_state(&r, p), TASK_COMPLETED); /* as a task whose cancel comes too late */
}

TEST(a_child_that_is_over_before_its_parent_begins_ends_it)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct request born = {.b = &b}, late = {.b = &b}, goes_on = {.b = &b};
    size_t p = request_add(&born, 0, NULL), one = request_add(&born, p, NULL),
           two = request_add(&born, p, NULL);
    born.orders[one - 1].task.expires_ms = BENCH_START_MS - 1;
    request_send(&born);
    CHECK_EQ(request_state(&born, one), TASK_CANCELLED);
    CHECK_EQ(request_state(&born, two), TASK_CANCELLED);
    CHECK_EQ(request_state(&born, p), TASK_FAILED);

    p = request_add(&late, 0, NULL), one = request_add(&late, p, NULL),
    two = request_add(&late, p, NULL);
    late.orders[p - 1].delay_ms = 60000;
    late.orders[one - 1].task.expires_ms = BENCH_START_MS + 1000;
    request_send(&late);
    CHECK_EQ(request_state(&late, p), TASK_SCHEDULED);
    bench_pass_ms(&b, 1000);
    CHECK_EQ(request_state(&late, two), TASK_CANCELLED);
    CHECK_EQ(request_state(&late, p), TASK_FAILED);

    p = request_add(&goes_on, 0, NULL), one = request_add(&goes_on, p, NULL),
    two = request_add(&goes_on, p, NULL);
    goes_on.orders[p - 1].delay_ms = 60000;
    goes_on.orders[p - 1].task.continues = true;
    request_send(&goes_on);
    CHECK_EQ(bench_cancel(&b, request_id(&goes_on, one)), ERR_NONE);
    CHECK_EQ(request_state(&goes_on, p), TASK_SCHEDULED);
    bench_pass_ms(&b, 60000);
    CHECK_EQ(request_state(&goes_on, two), TASK_QUEUED);
    CHECK_EQ(claim_and(&b, OUTCOME_COMPLETED), ERR_NONE);
    CHECK_EQ(request_state(&goes_on, p), TASK_FAILED);
}

TEST(a_purge_of_what_waits_for_a_parent_ends_the_parent)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct request r = {.b = &b};
    struct task_id first = bench_create(&b, "t", .queue = "other");
    size_t p = request_add(&r, 0, NULL), one = request_add(&r, p, NULL);
    r.orders[p - 1].task.queue = STR("other");
    request_need(&r, p, (struct order_need){.id = first});
    request_send(&r);
    CHECK_EQ(request_state(&r, p), TASK_WAITING);
    bench_run(&b, bench_bulk_call(&b, BULK_PURGE, (struct task_filter){.queue = STR("default")}));
    CHECK_EQ(request_state(&r, one), TASK_CANCELLED);
    CHECK_EQ(request_state(&r, p), TASK_FAILED);
}

TEST(putting_off_a_parent_takes_its_childs_turn_back)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct request r = {.b = &b};
    size_t p = request_add(&r, 0, NULL), one = request_add(&r, p, NULL),
           two = request_add(&r, p, NULL);
    request_send(&r);
    struct task_patch later = {TASK_BIT(scheduled_ms),
                               &(struct task){.scheduled_ms = BENCH_START_MS + 5000}};
    CHECK_EQ(bench_change(&b, request_id(&r, p), later), ERR_NONE);
    CHECK_EQ(request_state(&r, p), TASK_SCHEDULED);
    CHECK_EQ(request_state(&r, one), TASK_WAITING);
    CHECK(id_none(bench_claim(&b, .worker = "w").id));
    bench_pass_ms(&b, 5000);
    CHECK_EQ(request_state(&r, one), TASK_QUEUED);
    CHECK_EQ(request_state(&r, two), TASK_WAITING);
    CHECK_EQ(claim_and(&b, OUTCOME_COMPLETED), ERR_NONE);
    CHECK_EQ(claim_and(&b, OUTCOME_COMPLETED), ERR_NONE);
    CHECK_EQ(request_state(&r, p), TASK_COMPLETED);
}

TEST(children_behind_a_bad_end_are_cancelled_and_those_before_it_finish)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct request r = {.b = &b};
    size_t p = request_add(&r, 0, NULL), one = request_add(&r, p, NULL),
           two = request_add(&r, p, NULL), three = request_add(&r, p, NULL);
    request_send(&r);
    struct task running = bench_claim(&b, .worker = "w");
    CHECK_EQ(bench_cancel(&b, request_id(&r, two)), ERR_NONE);
    CHECK_EQ(request_state(&r, three), TASK_CANCELLED);
    CHECK(!bench_task(&b, request_id(&r, one)).cancel_requested);
    CHECK_EQ(request_state(&r, p), TASK_RUNNING);
    CHECK_EQ(bench_finish(&b, &running, OUTCOME_COMPLETED), ERR_NONE);
    CHECK_EQ(request_state(&r, p), TASK_FAILED);
}

TEST(a_dependency_named_twice_or_by_a_twin_counts_once)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task_id first = bench_create(&b, "t", .key = "k");
    struct request r = {.b = &b};
    size_t twin = request_add(&r, 0, NULL), waits = request_add(&r, 0, NULL);
    r.orders[twin - 1].task.key = STR("k");
    request_need(&r, waits, (struct order_need){.id = first});
    request_need(&r, waits, (struct order_need){.id = first});
    request_need(&r, waits, (struct order_need){.order = twin});
    CHECK_EQ(request_send(&r)->command.err.kind, ERR_NONE);
    CHECK_EQ(bench_task(&b, request_id(&r, waits)).unmet, 1);
    CHECK_EQ(claim_and(&b, OUTCOME_COMPLETED), ERR_NONE);
    CHECK_EQ(request_state(&r, waits), TASK_QUEUED);
}

TEST(a_child_cannot_be_the_task_that_its_key_stands_for)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    bench_create(&b, "t", .key = "k");
    struct request r = {.b = &b};
    size_t p = request_add(&r, 0, NULL), one = request_add(&r, p, NULL);
    r.orders[one - 1].task.key = STR("k");
    struct call *call = request_send(&r);
    CHECK_EQ(call->command.err.kind, ERR_INVALID);
    CHECK_STR(str_of(call->command.err.field), "idempotencyKey");
    CHECK_EQ(bench_count(&b, TASK_QUEUED), 1);
}

TEST(removing_a_dependency_leaves_nobody_waiting_for_it)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct request r = {.b = &b};
    size_t bad = request_add(&r, 0, NULL), good = request_add(&r, 0, NULL),
           waits = request_add(&r, 0, NULL), open = request_add(&r, 0, NULL),
           other = request_add(&r, 0, NULL);
    request_need(&r, waits, (struct order_need){.order = bad});
    request_need(&r, other, (struct order_need){.order = good});
    request_need(&r, other, (struct order_need){.order = open});
    request_send(&r);
    CHECK_EQ(bench_cancel(&b, request_id(&r, bad)), ERR_NONE);
    CHECK_EQ(bench_revive(&b, request_id(&r, waits)), ERR_NONE);
    CHECK_EQ(request_state(&r, waits), TASK_WAITING);
    CHECK_EQ(bench_remove(&b, request_id(&r, bad)), ERR_NONE);
    CHECK_EQ(request_state(&r, waits), TASK_CANCELLED); /* what it waits for can never complete */

    CHECK_EQ(claim_and(&b, OUTCOME_COMPLETED), ERR_NONE);
    CHECK_EQ(request_state(&r, good), TASK_COMPLETED);
    CHECK_EQ(bench_remove(&b, request_id(&r, good)), ERR_NONE);
    CHECK_EQ(bench_task(&b, request_id(&r, other)).unmet, 1);
    CHECK_EQ(claim_and(&b, OUTCOME_COMPLETED), ERR_NONE);
    CHECK_EQ(request_state(&r, other), TASK_QUEUED);
}

TEST(a_child_waits_for_the_run_function_of_its_elder_sibling)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct request r = {.b = &b};
    size_t p = request_add(&r, 0, "d"), one = request_add(&r, p, "d"),
           two = request_add(&r, p, "d");
    r.orders[p - 1].task.continues = true;
    r.orders[one - 1].task.max_retries = 0;
    r.orders[one - 1].task.timeout_ms = 1000;
    request_send(&r);
    CHECK(id_eq(bench_claim(&b, .worker = "errand:run:1").id, request_id(&r, one)));
    for (int i = 0; i < 2; i++) { /* told to stop, and given up: it has not returned */
        bench_jump_ms(&b, 10000);
        bench_settle(&b);
    }
    CHECK_EQ(request_state(&r, one), TASK_TIMEOUT);
    CHECK_EQ(request_state(&r, two), TASK_QUEUED);
    CHECK(id_none(bench_claim(&b, .worker = "w").id)); /* it still works on their document */
    struct call *returned = bench_call(&b, COMMAND_RETURNED);
    returned->command.returned.id = request_id(&r, one);
    bench_run(&b, returned);
    CHECK_EQ(claim_and(&b, OUTCOME_COMPLETED), ERR_NONE);
    CHECK_EQ(request_state(&r, p), TASK_FAILED);
    bench_create(&b, "t", .document = "d");
    CHECK_EQ(claim_and(&b, OUTCOME_COMPLETED), ERR_NONE); /* nobody holds it any more */
}

/* ---- Slices ---- */

#define CROWD 1200 /* more than two commits look at */

static struct task_id crowd(struct bench *b, struct task_id **waits)
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
    *waits = arena_array(&b->arena, struct task_id, CROWD);
    for (size_t i = 0; i < CROWD; i++) {
        (*waits)[i] = orders[i].task.id;
    }
    return first;
}

TEST(a_task_that_very_many_wait_for_is_followed_in_slices)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task_id *waits;
    crowd(&b, &waits);
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
    struct task_id *waits, first = crowd(&b, &waits);
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

TEST(a_parent_is_not_retried_in_the_batch_that_removes_its_last_child)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct request r = {.b = &b};
    size_t p = request_add(&r, 0, NULL), one = request_add(&r, p, NULL);
    request_send(&r);
    CHECK_EQ(bench_cancel(&b, request_id(&r, p)), ERR_NONE);
    struct call *remove = bench_one_call(&b, COMMAND_REMOVE, request_id(&r, one));
    struct call *revive = bench_one_call(&b, COMMAND_REVIVE, request_id(&r, p));
    bench_give(&b, remove);
    bench_give(&b, revive);
    bench_settle(&b);
    CHECK_EQ(remove->command.err.kind, ERR_NONE);
    CHECK_EQ(revive->command.err.kind, ERR_CONFLICT);
    CHECK_EQ(request_state(&r, p), TASK_CANCELLED);
}
