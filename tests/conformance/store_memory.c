/* tests/conformance/store_memory.c: the store suite on the memory store, and its bad days.
 *
 * SPDX-License-Identifier: MIT */
#include "store_memory/memory.h"
#include "store_suite.h"

struct place *place_new(void)
{
    return (struct place *)memory_disk_new();
}

struct store *place_open(struct place *place)
{
    struct err err = ERR_INIT;
    struct store *store = NULL;
    CHECK_OK(memory_disk_open((struct memory_disk *)place, &store, &err));
    return store;
}

void place_free(struct place *place)
{
    memory_disk_free((struct memory_disk *)place);
}

/* A commit of one new task that goes wrong; is the task there after a restart? */
static bool survives(enum memory_fault fault, enum err_kind kind)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    struct err err = ERR_INIT;
    struct task task = bench_task(&b), got;
    const struct task *one = &task;
    struct tx *tx = NULL;
    CHECK_OK(store_begin(b.store, &tx, &err));
    CHECK_OK(tx_insert(tx, &one, 1, &err));
    memory_disk_fail_next(memory_store_disk(b.store), fault);
    CHECK(!tx_commit(&tx, &err));
    CHECK(tx == NULL);
    CHECK_EQ(err.kind, kind);
    CHECK_EQ(store_begin(b.store, &tx, &err), kind != ERR_FATAL);
    tx_close(&tx);
    bench_reopen(&b);
    check_healthy(&b);
    return bench_load(&b, task.id, &got);
}

TEST(a_full_disk_keeps_nothing_and_the_store_goes_on)
{
    CHECK(!survives(MEMORY_FULL, ERR_UNAVAILABLE));
}

TEST(a_crash_before_the_commit_keeps_nothing)
{
    CHECK(!survives(MEMORY_CRASH_BEFORE, ERR_FATAL));
}

TEST(a_crash_after_the_commit_keeps_everything)
{
    CHECK(survives(MEMORY_CRASH_AFTER, ERR_FATAL));
}

TEST(a_disk_is_open_once)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    struct err err = ERR_INIT;
    struct store *second = NULL;
    CHECK(!memory_disk_open(memory_store_disk(b.store), &second, &err));
}

TEST(a_store_is_chosen_by_its_url)
{
    struct err err = ERR_INIT;
    struct store *store = NULL;
    CHECK(!store_open(&(struct store_options){.url = STR("mysql://x")}, &store, &err));
    CHECK_STR(str_of(err.field), "store");
    CHECK(!store_open(&(struct store_options){.url = STR("memory:")}, &store, &err));
    store_close(NULL);
}

TEST(a_store_on_a_disk_of_its_own_is_open_for_the_first_time)
{
    struct store *store = memory_store_new();
    CHECK_EQ(store_epoch(store), 1);
    store_close(store);
}
