/* tests/conformance/store_suite_documents.c: documents that a batch holds, or that are kept when
 * their task has ended.
 *
 * SPDX-License-Identifier: MIT */
#include "store_suite.h"

TEST(a_batch_holds_its_document_from_its_first_child_to_its_own_end)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    struct brood brood;
    bench_brood(&b, &brood, "d");
    struct task other = bench_on_document(&b, "d");
    CHECK(bench_try_start(&b, &brood.child[0]));
    CHECK(!bench_try_start(&b, &other));
    CHECK(bench_move(&b, &brood.top, TASK_RUNNING));
    check_healthy(&b);
    bench_complete(&b, &brood.child[0], "1");
    CHECK(!bench_try_start(&b, &other)); /* between two children */
    CHECK(bench_try_start(&b, &brood.child[1]));
    bench_fail(&b, &brood.child[1], "x");
    CHECK_EQ(brood.child[1].state, TASK_RETRYING);
    CHECK(!bench_try_start(&b, &other));
    bench_reopen(&b);
    CHECK(!bench_try_start(&b, &other)); /* also after a restart */
    check_healthy(&b);

    CHECK(bench_move(&b, &brood.top, TASK_FAILED));
    CHECK(bench_try_start(&b, &other));
    CHECK(!bench_try_start(&b, &brood.child[2]));
    check_healthy(&b);
}

TEST(a_container_takes_no_document_its_first_member_does)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    struct brood one, two;
    bench_brood(&b, &one, "d");
    bench_brood(&b, &two, "d");
    CHECK(bench_move(&b, &one.top, TASK_RUNNING));
    CHECK(bench_move(&b, &two.top, TASK_RUNNING)); /* both were retried, say */
    check_healthy(&b);
    CHECK(bench_try_start(&b, &two.child[0]));
    CHECK(!bench_try_start(&b, &one.child[0]));
    check_healthy(&b);
}

TEST(an_inner_container_leaves_the_document_with_the_outermost)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    struct brood brood;
    bench_brood(&b, &brood, "d");
    struct task inner = bench_member(&b, &brood.top), deep, other = bench_on_document(&b, "d");
    inner.container = true;
    bench_insert(&b, &inner);
    deep = bench_member(&b, &inner);
    bench_insert(&b, &deep);
    CHECK(bench_try_start(&b, &deep));
    CHECK(bench_move(&b, &inner, TASK_RUNNING) && bench_move(&b, &brood.top, TASK_RUNNING));
    bench_complete(&b, &deep, "1");
    CHECK(bench_move(&b, &inner, TASK_COMPLETED));
    CHECK(!bench_try_start(&b, &other));
    check_healthy(&b);
    CHECK(bench_move(&b, &brood.top, TASK_COMPLETED));
    CHECK(bench_try_start(&b, &other));
}

TEST(a_batch_lets_go_of_its_members_own_documents_too)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    struct brood brood;
    bench_brood(&b, &brood, NULL);
    struct task mine = bench_member(&b, &brood.top), other = bench_on_document(&b, "e");
    mine.document = STR("e");
    bench_insert(&b, &mine);
    CHECK(bench_try_start(&b, &mine) && bench_move(&b, &brood.top, TASK_RUNNING));
    bench_complete(&b, &mine, "1");
    CHECK(!bench_try_start(&b, &other));
    check_healthy(&b);
    CHECK(bench_move(&b, &brood.top, TASK_COMPLETED));
    CHECK(bench_try_start(&b, &other));
    check_healthy(&b);
}

TEST(a_claim_that_is_lost_takes_nothing_from_the_batch)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    struct brood brood;
    bench_brood(&b, &brood, "d");
    struct task stale = brood.child[1], other = bench_on_document(&b, "d");
    CHECK(bench_move(&b, &brood.top, TASK_RUNNING));
    CHECK(bench_try_start(&b, &brood.child[0]));
    CHECK(bench_move(&b, &brood.child[1], TASK_CANCELLED));
    CHECK(!bench_try_start(&b, &stale));
    CHECK(!bench_try_start(&b, &other)); /* the batch still has its document */
    check_healthy(&b);
}

/* A task that ended while its run function goes on, and so keeps its document. */
static struct task kept_task(struct bench *b, const char *document)
{
    struct err err = ERR_INIT;
    struct task task = bench_on_document(b, document), ended;
    CHECK(bench_try_start(b, &task));
    ended = task;
    CHECK_OK(task_cancel_now(&ended, b->now_ms, &err));
    bench_keep(b, &task, &ended);
    return ended;
}

static void free_document(struct bench *b, const char *document, struct task_id holder)
{
    SCOPED(tx_close) struct tx *tx = NULL;
    struct err err = ERR_INIT;
    CHECK_OK(store_begin(b->store, &tx, &err));
    CHECK_OK(tx_free_document(tx, str_of(document), holder, &err));
    CHECK_OK(tx_commit(&tx, &err));
}

TEST(a_kept_document_is_held_until_it_is_freed_by_its_holder)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    struct task ended = kept_task(&b, "d"), other = bench_on_document(&b, "d");
    CHECK(!bench_try_start(&b, &other));
    bench_delete(&b, ended.id);
    CHECK(!bench_try_start(&b, &other)); /* even if the task itself is gone */
    free_document(&b, "d", other.id);
    free_document(&b, "e", ended.id);
    CHECK(!bench_try_start(&b, &other));
    free_document(&b, "d", ended.id);
    check_healthy(&b);
    CHECK(bench_try_start(&b, &other));
    free_document(&b, "d", ended.id); /* once more changes nothing */
    check_healthy(&b);
}

TEST(a_kept_document_is_granted_to_its_holder_again)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    struct err err = ERR_INIT;
    struct task task = kept_task(&b, "d"), other = bench_on_document(&b, "d"), was = task;
    CHECK_OK(task_revive(&task, b.now_ms, &err));
    CHECK(bench_save(&b, &was, &task, false, NULL));
    CHECK(!bench_try_start(&b, &other));
    CHECK(bench_try_start(&b, &task));
    check_healthy(&b);
    bench_complete(&b, &task, "1");
    CHECK(bench_try_start(&b, &other));
    check_healthy(&b);
}

TEST(kept_documents_are_free_after_a_restart)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    kept_task(&b, "d");
    struct task runs = bench_on_document(&b, "e"), one = bench_on_document(&b, "d"),
                two = bench_on_document(&b, "e");
    CHECK(bench_try_start(&b, &runs));
    bench_reopen(&b);
    check_healthy(&b);
    CHECK(bench_try_start(&b, &one));
    CHECK(!bench_try_start(&b, &two)); /* what was RUNNING holds on */
}

TEST(leases_are_rolled_back_with_the_rest)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    struct tx *tx = NULL;
    struct err err = ERR_INIT;
    struct task runs = bench_on_document(&b, "d"), waits = bench_on_document(&b, "e"),
                third = bench_on_document(&b, "d");
    CHECK(bench_try_start(&b, &runs));
    struct task started = waits;
    CHECK_OK(task_start(&started, &(struct task_claim){STR("v"), 1000, 9}, b.now_ms, &err));
    struct task_change change = {.was = &waits, .now = &started};
    CHECK_OK(store_begin(b.store, &tx, &err));
    CHECK_OK(tx_save(tx, &change, 1, &err));
    CHECK_OK(tx_free_document(tx, STR("d"), runs.id, &err));
    tx_close(&tx);

    CHECK(change.applied);
    CHECK(!bench_try_start(&b, &third));
    struct task rival = bench_on_document(&b, "e");
    CHECK(bench_try_start(&b, &rival));
    check_healthy(&b);
}
