/* tests/conformance/store_suite_relations.c: children and dependencies, and what goes with them.
 *
 * SPDX-License-Identifier: MIT */
#include "store_suite.h"

static bool is_there(struct bench *b, struct task_id id)
{
    struct task got;
    return bench_load(b, id, &got);
}

static struct kin_list kin_in(struct bench *b, struct tx *tx, enum kinship kinship,
                              struct task_id id)
{
    struct err err = ERR_INIT;
    struct kin_list kin;
    struct kin_query query = {.kinship = kinship, .ids = &id, .count = 1};
    CHECK_OK(tx_kin(tx, &query, &b->arena, &kin, &err));
    return kin;
}

/* Checks that these tasks are its kin, in this order. */
static void check_kin(struct bench *b, enum kinship kinship, struct task_id id,
                      const struct task *const *want, size_t n)
{
    struct tx *tx = NULL;
    struct err err = ERR_INIT;
    CHECK_OK(store_begin(b->store, &tx, &err));
    struct kin_list kin = kin_in(b, tx, kinship, id);
    tx_close(&tx);
    CHECK_EQ(kin.count, n);
    for (size_t i = 0; i < n; i++) {
        struct task now;
        CHECK(id_eq(kin.at[i].id, want[i]->id));
        CHECK_EQ(kin.at[i].of, 0);
        CHECK(bench_load(b, want[i]->id, &now));
        CHECK_EQ(kin.at[i].state, now.state);
    }
}

static void count_finding(void *arg, const char *invariant, const char *sentence)
{
    size_t *findings = arg;
    (void)sentence;
    *findings += strcmp(invariant, "relations") == 0;
}

static void check_finds_relations(struct bench *b)
{
    struct err err = ERR_INIT;
    size_t findings = 0;
    CHECK_OK(store_check(b->store, count_finding, &findings, &err));
    CHECK(findings > 0);
}

/* ---- Relations ---- */

TEST(children_are_known_in_order_of_creation)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    struct brood one, two;
    bench_brood(&b, &one, NULL);
    bench_brood(&b, &two, NULL);
    CHECK(bench_move(&b, &one.child[1], TASK_CANCELLED));
    const struct task *want[] = {&one.child[0], &one.child[1], &one.child[2]};

    check_kin(&b, KIN_CHILDREN, one.top.id, want, 3);
    check_kin(&b, KIN_CHILDREN, one.child[0].id, NULL, 0);
    check_kin(&b, KIN_CHILDREN, (struct task_id){one.top.id.hi + 1, 0}, NULL, 0);
    bench_reopen(&b);
    check_kin(&b, KIN_CHILDREN, one.top.id, want, 3);
    CHECK_EQ(bench_list(&b, &(struct task_filter){.parent = two.top.id, .limit = 9}).count, 3);
    check_healthy(&b);
}

TEST(more_children_than_fit_on_a_page_are_all_known)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    SCOPED(tx_close) struct tx *tx = NULL;
    struct err err = ERR_INIT;
    struct task top = bench_task(&b);
    top.container = true;
    bench_insert(&b, &top);
    CHECK_OK(store_begin(b.store, &tx, &err));
    for (size_t i = 0; i < 1000; i++) {
        struct task child = bench_member(&b, &top);
        const struct task *one = &child;
        CHECK_OK(tx_insert(tx, &one, 1, &err));
    }
    CHECK_EQ(kin_in(&b, tx, KIN_CHILDREN, top.id).count, 1000); /* its own, uncommitted */
    CHECK_OK(tx_commit(&tx, &err));
    CHECK_EQ(bench_detail(&b, top.id).children_count, 1000);
}

/* It is WAITING, as whoever depends on something that has not ended. */
static void make_wait(struct task *task, const struct task_id *on, size_t count)
{
    task->state = TASK_WAITING;
    task->queued_ms = 0;
    task->depends = on;
    task->depends_count = count;
    task->unmet = (int32_t)count;
}

static struct task bench_waiting(struct bench *b, const struct task_id *on)
{
    struct task task = bench_task(b);
    make_wait(&task, on, 1);
    bench_insert(b, &task);
    return task;
}

TEST(dependencies_are_known_from_both_ends)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    struct task on[2] = {bench_on_document(&b, NULL), bench_on_document(&b, NULL)},
                first = bench_task(&b), second = bench_task(&b);
    struct task_id both[] = {on[1].id, on[0].id, on[1].id}; /* in any order, one of them twice */
    make_wait(&first, both, 3);
    make_wait(&second, &on[0].id, 1);
    first.unmet = 2;
    bench_insert(&b, &first);
    bench_insert(&b, &second);
    const struct task *needs[] = {&on[0], &on[1]}, *waiting[] = {&first, &second};

    for (int restarts = 0; restarts < 2; restarts++) {
        check_kin(&b, KIN_DEPENDENCIES, first.id, needs, 2);
        check_kin(&b, KIN_DEPENDENCIES, second.id, needs, 1);
        check_kin(&b, KIN_DEPENDENCIES, on[0].id, NULL, 0);
        check_kin(&b, KIN_WAITING, on[0].id, waiting, 2);
        check_kin(&b, KIN_WAITING, on[1].id, waiting, 1);
        check_kin(&b, KIN_WAITING, first.id, NULL, 0);
        check_kin(&b, KIN_WAITING, (struct task_id){on[0].id.hi, 1}, NULL, 0);
        check_healthy(&b);
        bench_reopen(&b);
    }
    CHECK(bench_move(&b, &first, TASK_QUEUED)); /* a change does not change relations */
    check_kin(&b, KIN_DEPENDENCIES, first.id, needs, 2);
    check_kin(&b, KIN_WAITING, on[1].id, NULL, 0); /* but it waits no longer */
}

TEST(kin_of_many_come_in_order_and_by_the_page)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    SCOPED(tx_close) struct tx *tx = NULL;
    struct err err = ERR_INIT;
    struct kin_list kin;
    struct task on[3] = {bench_on_document(&b, NULL), bench_on_document(&b, NULL),
                         bench_on_document(&b, NULL)},
                waits[4];
    struct task_id ids[] = {on[0].id, on[1].id, on[2].id};
    for (size_t i = 0; i < 4; i++) { /* nobody waits for the one in the middle */
        waits[i] = bench_waiting(&b, &ids[i < 2 ? 0 : 2]);
    }
    CHECK_OK(store_begin(b.store, &tx, &err));
    struct kin_query all = {.kinship = KIN_WAITING, .ids = ids, .count = 3};
    CHECK_OK(tx_kin(tx, &all, &b.arena, &kin, &err));
    CHECK_EQ(kin.count, 4);
    for (size_t i = 0; i < 4; i++) {
        CHECK(id_eq(kin.at[i].id, waits[i].id));
        CHECK_EQ(kin.at[i].of, i < 2 ? 0 : 2);
    }
    all.most = 3;
    CHECK_OK(tx_kin(tx, &all, &b.arena, &kin, &err));
    CHECK_EQ(kin.count, 3);
    struct kin_query rest = {
        .kinship = KIN_WAITING, .ids = &ids[2], .count = 1, .after = waits[2].id};
    CHECK_OK(tx_kin(tx, &rest, &b.arena, &kin, &err));
    CHECK_EQ(kin.count, 1);
    CHECK(id_eq(kin.at[0].id, waits[3].id));
}

TEST(the_detail_view_tells_dependencies_with_their_results)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    struct task on[3] = {bench_on_document(&b, NULL), bench_on_document(&b, NULL),
                         bench_on_document(&b, NULL)};
    struct task_id ids[] = {on[0].id, on[1].id, on[2].id};
    struct task task = bench_task(&b);
    task.depends = ids;
    task.depends_count = 3;
    bench_insert(&b, &task);
    bench_start(&b, &on[0]);
    bench_complete(&b, &on[0], "{\"n\":1}");
    bench_cancel(&b, &on[1]);

    struct task_detail detail = bench_detail(&b, task.id);
    CHECK_EQ(detail.dependencies_count, 3);
    for (size_t i = 0; i < 3; i++) {
        CHECK(id_eq(detail.dependencies[i].id, on[i].id));
        CHECK_EQ(detail.dependencies[i].state, on[i].state);
    }
    CHECK_STR(detail.dependencies[0].result, "{\"n\":1}");
    CHECK(str_absent(detail.dependencies[1].result) && str_absent(detail.dependencies[2].result));
    CHECK_EQ(bench_detail(&b, on[0].id).dependencies_count, 0);
}

TEST(what_is_unmet_is_saved_by_every_change)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    struct task task = bench_task(&b), got;
    task.state = TASK_WAITING;
    task.unmet = 3;
    bench_insert(&b, &task);
    task.unmet = 2;
    CHECK(bench_save(&b, &task, &task, false, NULL));
    CHECK(bench_load(&b, task.id, &got));
    CHECK_EQ(got.unmet, 2);
    CHECK(bench_move(&b, &task, TASK_CANCELLED));
    CHECK(bench_load(&b, task.id, &got));
    CHECK_EQ(got.unmet, 2);
    CHECK(bench_move(&b, &task, TASK_WAITING)); /* revived: it is still unmet */
    CHECK(bench_load(&b, task.id, &got));
    check_same_task(&got, &task);
    CHECK_EQ(got.unmet, 2);
}

TEST(a_container_runs_without_a_lease_and_comes_back_from_the_history)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    struct task top = bench_task(&b), got;
    top.container = top.continues = true;
    bench_insert(&b, &top);
    CHECK(bench_move(&b, &top, TASK_RUNNING));
    check_healthy(&b);
    CHECK(bench_move(&b, &top, TASK_FAILED));
    CHECK(bench_move(&b, &top, TASK_RUNNING));
    CHECK(bench_load(&b, top.id, &got));
    check_same_task(&got, &top);
    check_healthy(&b);
}

TEST(the_doctor_finds_relations_to_tasks_that_are_missing)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    struct task top = bench_task(&b), orphan = bench_member(&b, &top); /* top is never stored */
    bench_insert(&b, &orphan);
    check_finds_relations(&b);
    CHECK(bench_move(&b, &orphan, TASK_CANCELLED));
    bench_delete(&b, orphan.id);
    check_healthy(&b);

    struct task waits = bench_task(&b);
    waits.depends = &top.id;
    waits.depends_count = 1;
    bench_insert(&b, &waits);
    check_finds_relations(&b);
    CHECK_EQ(bench_detail(&b, waits.id).dependencies_count, 0);
}

/* ---- Removal ---- */

static void end_all(struct bench *b, struct brood *brood)
{
    for (size_t i = 0; i < 3; i++) {
        CHECK(bench_move(b, &brood->child[i], TASK_CANCELLED));
    }
    CHECK(bench_move(b, &brood->top, TASK_FAILED));
}

TEST(a_container_is_deleted_with_all_its_descendants)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    struct brood brood;
    bench_brood(&b, &brood, NULL);
    struct task inner = bench_member(&b, &brood.top), deep, other = bench_on_document(&b, NULL);
    inner.container = true;
    bench_insert(&b, &inner);
    deep = bench_member(&b, &inner);
    deep.key = STR("k");
    bench_insert(&b, &deep);
    end_all(&b, &brood);
    CHECK(bench_move(&b, &inner, TASK_CANCELLED));
    bench_delete(&b, brood.top.id); /* one below still lives: nothing goes */
    CHECK(is_there(&b, brood.top.id) && is_there(&b, brood.child[0].id) && is_there(&b, inner.id));
    CHECK(bench_move(&b, &deep, TASK_COMPLETED));
    bench_delete(&b, (struct task_id){brood.top.id.hi, 1}); /* a guess */
    CHECK(is_there(&b, deep.id));

    bench_delete(&b, brood.top.id);
    CHECK(!is_there(&b, brood.top.id) && !is_there(&b, brood.child[2].id));
    CHECK(!is_there(&b, inner.id) && !is_there(&b, deep.id) && is_there(&b, other.id));
    CHECK_EQ(bench_list(&b, &(struct task_filter){.limit = 9}).count, 1);
    CHECK_EQ(bench_list(&b, &(struct task_filter){.parent = brood.top.id, .limit = 9}).count, 0);
    check_healthy(&b);
    struct task again = bench_task(&b);
    again.key = STR("k");
    bench_insert(&b, &again);
}

TEST(a_child_may_be_deleted_by_name)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    struct brood brood;
    bench_brood(&b, &brood, NULL);
    CHECK(bench_move(&b, &brood.child[1], TASK_CANCELLED));
    bench_delete(&b, brood.child[1].id);
    const struct task *left[] = {&brood.child[0], &brood.child[2]};
    check_kin(&b, KIN_CHILDREN, brood.top.id, left, 2);
    CHECK_EQ(bench_detail(&b, brood.top.id).children_count, 2);
    check_healthy(&b);
}

TEST(dependencies_go_with_either_end)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    struct task on[2] = {bench_on_document(&b, NULL), bench_on_document(&b, NULL)},
                one = bench_task(&b), two = bench_task(&b);
    struct task_id both[] = {on[0].id, on[1].id};
    make_wait(&one, both, 2);
    make_wait(&two, both, 2);
    bench_insert(&b, &one);
    bench_insert(&b, &two);
    bench_cancel(&b, &on[0]);
    bench_cancel(&b, &two);
    bench_delete(&b, on[0].id);
    const struct task *needs[] = {&on[1]}, *waiting[] = {&one};
    check_kin(&b, KIN_DEPENDENCIES, one.id, needs, 1);
    CHECK_EQ(bench_detail(&b, one.id).dependencies_count, 1);

    bench_delete(&b, two.id);
    check_kin(&b, KIN_WAITING, on[1].id, waiting, 1);
    check_kin(&b, KIN_WAITING, on[0].id, NULL, 0);
    check_healthy(&b);
}

TEST(deletion_and_new_relations_mix_within_one_transaction)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    SCOPED(tx_close) struct tx *tx = NULL;
    struct err err = ERR_INIT;
    struct task on = bench_on_document(&b, NULL), waits = bench_task(&b);
    const struct task *one = &waits;
    make_wait(&waits, &on.id, 1);
    bench_cancel(&b, &on);
    CHECK_OK(store_begin(b.store, &tx, &err));
    CHECK_OK(tx_insert(tx, &one, 1, &err));
    CHECK_EQ(kin_in(&b, tx, KIN_WAITING, on.id).count, 1);
    CHECK_OK(tx_delete(tx, &on.id, 1, &err));
    CHECK_EQ(kin_in(&b, tx, KIN_DEPENDENCIES, waits.id).count, 0);
    tx_close(&tx); /* none of it happened */

    CHECK(is_there(&b, on.id) && !is_there(&b, waits.id));
    check_kin(&b, KIN_WAITING, on.id, NULL, 0);
    check_healthy(&b);
}

static struct store_sweep sweep_all(struct bench *b, int64_t before_ms)
{
    struct store_sweep sweep = {.before_ms = before_ms, .most = 2, .oldest_ms = INT64_MAX};
    struct err err = ERR_INIT;
    do {
        SCOPED(tx_close) struct tx *tx = NULL;
        CHECK_OK(store_begin(b->store, &tx, &err));
        CHECK_OK(tx_sweep(tx, &sweep, &err));
        CHECK_OK(tx_commit(&tx, &err));
    } while (sweep.cursor != 0);
    return sweep;
}

TEST(a_sweep_takes_children_with_their_parent_and_never_alone)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    struct brood old, young;
    bench_brood(&b, &old, NULL);
    bench_brood(&b, &young, NULL);
    for (size_t i = 0; i < 3; i++) {
        CHECK(bench_move(&b, &young.child[i], TASK_CANCELLED));
    }
    end_all(&b, &old);
    b.now_ms += 1000;
    CHECK_EQ(sweep_all(&b, b.now_ms).removed, 4); /* the children of a live parent stay */
    CHECK(!is_there(&b, old.top.id) && !is_there(&b, old.child[0].id));
    CHECK(is_there(&b, young.child[0].id));

    CHECK(bench_move(&b, &young.top, TASK_FAILED));
    struct store_sweep sweep = sweep_all(&b, b.now_ms);
    CHECK_EQ(sweep.removed, 0);
    CHECK_EQ(sweep.oldest_ms, b.now_ms); /* the parent's end; the children's do not count */
    CHECK_EQ(sweep_all(&b, b.now_ms + 1).removed, 4);
    CHECK_EQ(bench_list(&b, &(struct task_filter){.limit = 9}).count, 0);
    check_healthy(&b);
}

TEST(a_sweep_leaves_a_family_that_has_not_ended)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    struct brood brood;
    bench_brood(&b, &brood, NULL);
    CHECK(bench_move(&b, &brood.top, TASK_CANCELLED));
    struct store_sweep sweep = sweep_all(&b, b.now_ms + 1);
    CHECK_EQ(sweep.removed, 0);
    CHECK_EQ(sweep.oldest_ms, b.now_ms);
    CHECK(is_there(&b, brood.top.id));
}

TEST(a_sweep_keeps_what_a_live_task_depends_on)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    struct brood brood;
    bench_brood(&b, &brood, NULL);
    struct task waits = bench_waiting(&b, &brood.child[1].id);
    end_all(&b, &brood);
    CHECK_EQ(sweep_all(&b, b.now_ms + 1).removed, 0);
    CHECK(bench_move(&b, &waits, TASK_CANCELLED));
    CHECK_EQ(sweep_all(&b, b.now_ms + 1).removed, 5);
    check_healthy(&b);
}

/* ---- Dead ends ---- */

static void count_dead_end(void *arg, const char *invariant, const char *sentence)
{
    size_t *findings = arg;
    (void)sentence;
    *findings += strcmp(invariant, "I8") == 0;
}

static size_t dead_ends(struct bench *b)
{
    struct err err = ERR_INIT;
    size_t findings = 0;
    CHECK_OK(store_check(b->store, count_dead_end, &findings, &err));
    return findings;
}

TEST(the_doctor_finds_families_that_can_never_end)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    struct brood brood;
    bench_brood(&b, &brood, NULL);
    CHECK_EQ(dead_ends(&b), 2); /* its second and third child may run as well as the first */
    CHECK(bench_move(&b, &brood.child[1], TASK_WAITING) &&
          bench_move(&b, &brood.child[2], TASK_WAITING));
    CHECK_EQ(dead_ends(&b), 0);
    CHECK(bench_move(&b, &brood.child[0], TASK_CANCELLED));
    CHECK_EQ(dead_ends(&b), 1); /* the second has its turn, and waits */
    CHECK(bench_move(&b, &brood.child[1], TASK_CANCELLED) &&
          bench_move(&b, &brood.child[2], TASK_CANCELLED));
    CHECK_EQ(dead_ends(&b), 1); /* nothing can run any more */
    CHECK(bench_move(&b, &brood.top, TASK_FAILED));
    CHECK_EQ(dead_ends(&b), 0);
}

TEST(the_doctor_finds_tasks_that_wait_for_nothing)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    struct task on = bench_on_document(&b, NULL);
    struct task waits = bench_waiting(&b, &on.id), both = bench_task(&b);
    struct task_id twice[] = {on.id, on.id};
    CHECK_EQ(dead_ends(&b), 0);
    make_wait(&both, twice, 2); /* counted twice: it would wait for ever */
    bench_insert(&b, &both);
    CHECK_EQ(dead_ends(&b), 1);
    bench_cancel(&b, &both);
    bench_start(&b, &on);
    bench_complete(&b, &on, "1");
    CHECK_EQ(dead_ends(&b), 1);
    CHECK(bench_move(&b, &waits, TASK_CANCELLED));
    CHECK_EQ(dead_ends(&b), 0);
}
