/* tests/conformance/store_postgres_crowd.c: several nodes take from one backlog at once, by
 * proposals from the rows alone: everything runs, nothing twice, and no two on one document.
 *
 * SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <stdio.h>

#include "store/fleet.h"
#include "store_postgres.h"
#include "store_suite.h"

#define NODES     3
#define TASKS     400
#define DOCUMENTS 12
#define TAKE      8
#define IDLE_MAX  2000 /* times in a row that a node finds nothing before it gives up */

struct node {
    struct store *store;
    struct rand rand;
    int64_t now_ms;
    size_t ended, conflicts;
    _Atomic size_t *left;
    struct err err;
};

static bool is_conflict(struct node *node, const struct err *err)
{
    node->conflicts += err->kind == ERR_CONFLICT;
    return err->kind == ERR_CONFLICT;
}

/* What one batch changes, all or nothing. */
struct batch {
    struct task_load loads[TAKE];
    struct task now[TAKE];
    struct task_change changes[TAKE];
    size_t count;
};

static bool save_all(struct tx **tx, struct batch *batch, bool *lost, struct err *err)
{
    if (!tx_save(*tx, batch->changes, batch->count, err)) {
        return false;
    }
    for (size_t i = 0; i < batch->count; i++) {
        *lost |= !batch->changes[i].applied;
    }
    return *lost || tx_commit(tx, err);
}

static bool load_all(struct tx *tx, struct batch *batch, struct arena *arena, struct err *err)
{
    for (size_t i = 0; i < batch->count; i++) {
        batch->loads[i] = (struct task_load){.id = batch->loads[i].id, .arena = arena};
    }
    return tx_load(tx, batch->loads, batch->count, err);
}

/* Starts what is proposed. *lost: somebody else was quicker, begin again. */
static bool take(struct node *node, struct batch *batch, struct arena *arena, bool *lost,
                 struct err *err)
{
    static const struct want any = {.any_queue = true};
    SCOPED(tx_close) struct tx *tx = NULL;
    struct hint hints[TAKE];
    batch->count = 0;
    if (!store_begin(node->store, &tx, err) ||
        !tx_propose(tx, &any, 1 + rand_below(&node->rand, TAKE), arena, hints, &batch->count,
                    err)) {
        return false;
    }
    for (size_t i = 0; i < batch->count; i++) {
        batch->loads[i].id = hints[i].id;
    }
    if (!load_all(tx, batch, arena, err)) {
        return false;
    }
    for (size_t i = 0; i < batch->count; i++) {
        struct task_claim claim = {STR("w"), TASK_LEASE_DEFAULT_MS, rand_u64(&node->rand) | 1};
        batch->now[i] = batch->loads[i].task;
        if (!task_start(&batch->now[i], &claim, node->now_ms, err)) {
            return false;
        }
        batch->changes[i] =
            (struct task_change){.was = &batch->loads[i].task, .now = &batch->now[i]};
    }
    return save_all(&tx, batch, lost, err);
}

/* Ends what was started: well, or given back for one more attempt. */
static bool finish(struct node *node, struct batch *batch, struct arena *arena, struct err *err)
{
    SCOPED(tx_close) struct tx *tx = NULL;
    bool lost = false;
    size_t ended = 0;
    if (!store_begin(node->store, &tx, err) || !load_all(tx, batch, arena, err)) {
        return false;
    }
    for (size_t i = 0; i < batch->count; i++) {
        const struct task *was = &batch->loads[i].task;
        bool gives_back = was->attempt == 1 && rand_below(&node->rand, 8) == 0;
        batch->now[i] = *was;
        if (!(gives_back ? task_release(&batch->now[i], 0, node->now_ms, err)
                         : task_complete(&batch->now[i], STR("1"), node->now_ms, err))) {
            return false;
        }
        ended += !gives_back;
        batch->changes[i] = (struct task_change){.was = was, .now = &batch->now[i], .ended = true};
    }
    if (!save_all(&tx, batch, &lost, err) || lost) {
        return lost ? err_set(err, ERR_INTERNAL, "somebody else ended our attempt") : false;
    }
    node->ended += ended;
    *node->left -= ended;
    return true;
}

/* One round. False: give up. */
static bool work_once(struct node *node, size_t *idle)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct batch batch;
    bool lost = false;
    struct err err = ERR_INIT;
    if (!take(node, &batch, &arena, &lost, &err) && !is_conflict(node, &err)) {
        node->err = err;
        return false;
    }
    if (lost || err.kind != ERR_NONE || batch.count == 0) {
        return ++*idle < IDLE_MAX;
    }
    *idle = 0;
    for (int tries = 0; !finish(node, &batch, &arena, &err); tries++) {
        if (!is_conflict(node, &err) || tries == 100) {
            node->err = err;
            return false;
        }
        err = ERR_INIT;
    }
    return true;
}

static void *work(void *arg)
{
    struct node *node = arg;
    size_t idle = 0;
    while (*node->left > 0 && work_once(node, &idle)) {
    }
    return NULL;
}

static void fill(struct bench *b)
{
    static const char *const names[] = {"a", "b", "c"};
    char document[16];
    for (size_t i = 0; i < TASKS; i++) {
        struct task task = bench_task(b);
        snprintf(document, sizeof document, "d%d", (int)rand_below(&b->rand, DOCUMENTS));
        task.queue = str_of(names[rand_below(&b->rand, 2)]);
        task.type = str_of(names[rand_below(&b->rand, 3)]);
        task.priority = (enum task_priority)(1 + rand_below(&b->rand, 4));
        task.document = rand_below(&b->rand, 4) == 0 ? STR_NONE : str_of(document);
        bench_insert(b, &task);
    }
}

TEST(a_crowd_of_nodes_does_everything_once)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    _Atomic size_t left = TASKS;
    struct node nodes[NODES];
    pthread_t threads[NODES];
    size_t ended = 0;
    fill(&b);
    for (size_t i = 0; i < NODES; i++) {
        nodes[i] = (struct node){.store = place_open(b.place), .now_ms = b.now_ms, .left = &left};
        rand_init_seed(&nodes[i].rand, i + 1);
        CHECK_EQ(pthread_create(&threads[i], NULL, work, &nodes[i]), 0);
    }
    for (size_t i = 0; i < NODES; i++) {
        CHECK_EQ(pthread_join(threads[i], NULL), 0);
        if (nodes[i].err.kind != ERR_NONE) {
            print_error("node %zu: %s\n", i, nodes[i].err.text);
        }
        CHECK_EQ(nodes[i].err.kind, ERR_NONE);
        ended += nodes[i].ended;
        store_close(nodes[i].store);
    }
    CHECK_EQ(ended, TASKS);
    CHECK_EQ(bench_count(&b, "a", TASK_COMPLETED) + bench_count(&b, "b", TASK_COMPLETED), TASKS);
    CHECK_EQ(place_run(b.place, "SELECT count(*) FROM task"), 0);
    CHECK_EQ(place_run(b.place, "SELECT count(*) FROM doc_lease"), 0);
    check_healthy(&b);
}
