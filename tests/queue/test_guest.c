/* tests/queue/test_guest.c: a room that lives on the engine takes part in its batches.
 *
 * SPDX-License-Identifier: MIT */
#include "queue/guest.h"

#include "bench.h"
#include "test.h"

/* A guest that lets every completed task of its schedule be followed by another, `left` times, and
 * that creates the first one by itself when its time has come. */
struct chain {
    struct guest guest;
    struct task_id schedule;
    int64_t at_ms; /* when to begin; 0: not at all */
    size_t left, committed, dropped;
    size_t seen[TASK_STATES];
};

static struct chain *chain_of(struct guest *guest)
{
    return HOLDER(guest, struct chain, guest);
}

static void create_one(struct chain *chain, struct batch *batch)
{
    struct err err = ERR_INIT;
    struct order *order = arena_new(guest_arena(batch), struct order);
    *order = (struct order){.task = {.type = STR("step"),
                                     .queue = STR("default"),
                                     .priority = TASK_NORMAL,
                                     .backoff = TASK_BACKOFF_DEFAULT,
                                     .cost = TASK_COST_NONE,
                                     .progress = -1,
                                     .schedule = chain->schedule},
                            .delay_ms = -1};
    CHECK_OK(guest_create(batch, order, 1, &err));
}

static int64_t due_in_ms(struct guest *guest, struct now now)
{
    int64_t at_ms = chain_of(guest)->at_ms;
    return at_ms == 0 ? INT64_MAX : MAX(at_ms - now.wall_ms, 0);
}

static void act(struct guest *guest, struct batch *batch)
{
    CHECK_EQ(guest_now(batch).wall_ms, chain_of(guest)->at_ms);
    create_one(chain_of(guest), batch);
}

static void changed(struct guest *guest, struct batch *batch, const struct task *was,
                    const struct task *now)
{
    struct chain *chain = chain_of(guest);
    CHECK(was == NULL || was->state != now->state);
    chain->seen[now->state]++;
    if (now->state == TASK_COMPLETED && chain->left > 0) {
        create_one(chain, batch);
        guest_tell(batch, STR("chain:1"), STR("step_done"), STR("{}"));
    }
}

static void settled(struct guest *guest, struct batch *batch, bool committed)
{
    struct chain *chain = chain_of(guest);
    (void)batch;
    chain->committed += committed;
    chain->dropped += !committed;
    chain->at_ms = committed && chain->seen[TASK_QUEUED] > 0 ? 0 : chain->at_ms;
}

#define CHAIN_INIT                                                                                 \
    ((struct chain){.guest = {due_in_ms, act, changed, settled, NULL}, .schedule = {7, 7}})

TEST(a_guest_acts_when_its_time_has_come)
{
    struct chain chain = CHAIN_INIT;
    struct guest *guests[] = {&chain.guest};
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    b.with.guests = guests;
    b.with.guests_count = 1;
    chain.at_ms = BENCH_START_MS + 5000;
    bench_pass_ms(&b, 4999);
    CHECK_EQ(chain.seen[TASK_QUEUED], 0);
    bench_pass_ms(&b, 1);
    CHECK_EQ(chain.seen[TASK_QUEUED], 1);
    CHECK(!id_none(bench_claim(&b, .worker = "w").id));
}

TEST(what_a_guest_creates_at_a_task_s_end_is_there_with_that_end)
{
    struct chain chain = CHAIN_INIT;
    struct guest *guests[] = {&chain.guest};
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    b.with.guests = guests;
    b.with.guests_count = 1;
    chain.at_ms = BENCH_START_MS + 1;
    chain.left = 1;
    bench_pass_ms(&b, 1);
    struct task first = bench_claim(&b, .worker = "w");
    CHECK_EQ(bench_finish(&b, &first, OUTCOME_COMPLETED), ERR_NONE);
    CHECK_EQ(chain.seen[TASK_COMPLETED], 1);
    CHECK_EQ(bench_count(&b, TASK_QUEUED), 1);
    bench_restart(&b);
    CHECK_EQ(bench_count(&b, TASK_QUEUED), 1);
}

TEST(a_batch_that_fails_leaves_nothing_of_the_guest_s_behind)
{
    struct chain chain = CHAIN_INIT;
    struct guest *guests[] = {&chain.guest};
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    b.with.guests = guests;
    b.with.guests_count = 1;
    chain.at_ms = BENCH_START_MS + 1;
    chain.left = 1;
    bench_pass_ms(&b, 1);
    struct task first = bench_claim(&b, .worker = "w");
    memory_disk_fail_next(b.disk, MEMORY_FULL);
    CHECK_EQ(bench_finish(&b, &first, OUTCOME_COMPLETED), ERR_UNAVAILABLE);
    CHECK_EQ(chain.dropped, 1);
    CHECK_EQ(bench_count(&b, TASK_QUEUED), 0);
    CHECK_EQ(bench_count(&b, TASK_RUNNING), 1);
}

TEST(tasks_of_no_schedule_are_none_of_its_business)
{
    struct chain chain = CHAIN_INIT;
    struct guest *guests[] = {&chain.guest};
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    b.with.guests = guests;
    b.with.guests_count = 1;
    bench_create(&b, "other");
    CHECK_EQ(chain.seen[TASK_QUEUED], 0);
}

/* ---- Records ---- */

/* A guest that keeps one record; each command of it writes the record anew. */
static void write_record(struct guest *guest, struct batch *batch, struct command *command)
{
    struct record_load load = {.kind = RECORD_SCHEDULE, .id = {3, 3}};
    const struct record *other = command->guest.what;
    (void)guest;
    if (!guest_load_record(batch, &load, command->arena)) {
        return;
    }
    struct record record = {.kind = RECORD_SCHEDULE,
                            .id = load.id,
                            .version = load.found ? load.record.version : 0,
                            .body = STR("{}")};
    CHECK(guest_save_record(batch, &record));
    if (other != NULL) {
        (void)!guest_save_record(batch, other);
    }
}

static enum err_kind run_guest(struct bench *b, guest_decide_fn *decide, void *what)
{
    struct call *call = bench_call(b, COMMAND_GUEST);
    call->command.guest = (struct command_guest){.decide = decide, .what = what};
    return bench_run(b, call)->command.err.kind;
}

static struct record_load stored_record(struct bench *b)
{
    struct err err = ERR_INIT;
    SCOPED(tx_close) struct tx *tx = NULL;
    struct record_load load = {.kind = RECORD_SCHEDULE, .id = {3, 3}};
    CHECK_OK(store_begin(b->store, &tx, &err));
    CHECK_OK(tx_records_load(tx, &load, 1, &b->arena, &err));
    return load;
}

TEST(a_record_that_a_guest_saves_is_committed_though_no_task_changed)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    CHECK_EQ(run_guest(&b, write_record, NULL), ERR_NONE);
    CHECK(stored_record(&b).found);
    CHECK_EQ(run_guest(&b, write_record, NULL), ERR_NONE);
    CHECK_EQ(stored_record(&b).record.version, 2);
}

TEST(a_guest_s_record_that_others_keep_changing_takes_the_whole_batch_with_it)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct record late = {.kind = RECORD_SCHEDULE, .id = {4, 4}, .version = 17, .body = STR("{}")};
    CHECK_EQ(run_guest(&b, write_record, &late), ERR_UNAVAILABLE);
    CHECK(!stored_record(&b).found);
}

TEST(a_guest_whose_store_is_full_is_told_so_and_wrote_nothing)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    bench_create(&b, "anything");
    memory_disk_fail_next(b.disk, MEMORY_FULL);
    CHECK_EQ(run_guest(&b, write_record, NULL), ERR_UNAVAILABLE);
    CHECK(!stored_record(&b).found);
}

static void delete_record(struct guest *guest, struct batch *batch, struct command *command)
{
    const struct task_id id = {3, 3};
    (void)guest;
    (void)command;
    CHECK(guest_delete_records(batch, RECORD_SCHEDULE, &id, 1));
}

TEST(a_record_that_a_guest_deletes_is_gone)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    CHECK_EQ(run_guest(&b, write_record, NULL), ERR_NONE);
    CHECK_EQ(run_guest(&b, delete_record, NULL), ERR_NONE);
    CHECK(!stored_record(&b).found);
}
