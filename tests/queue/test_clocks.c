/* tests/queue/test_clocks.c: two clocks: leases, time-outs and backoffs are durations, scheduled
 * times and expiries follow the wall clock (G9).
 *
 * SPDX-License-Identifier: MIT */
#include "queue/due.h"
#include "test.h"

#define NOON_MS   INT64_C(1800000000000)
#define GRACE_MS  10000
#define JUMP_MS   (5 * HOUR_MS)
#define UPTIME_MS 70000

static const struct now noon = {NOON_MS, UPTIME_MS};

static struct now later(int64_t wall_ms, int64_t mono_ms)
{
    return (struct now){NOON_MS + wall_ms, UPTIME_MS + mono_ms};
}

static bool is_due(struct due *due, struct now now)
{
    struct due_entry *found[1];
    return due_collect(due, now, found, 1) == 1;
}

static struct task running(void)
{
    return (struct task){.id = {1, 1},
                         .state = TASK_RUNNING,
                         .attempt = 1,
                         .started_ms = NOON_MS,
                         .timeout_ms = 3000,
                         .lease_until_ms = NOON_MS + 1000};
}

TEST(a_jump_of_the_wall_clock_does_not_steal_a_lease)
{
    SCOPED(due_fini) struct due due;
    struct task task = running();
    due_init(&due);
    due_set(&due, &task, DUE_WRITTEN, GRACE_MS, noon);

    CHECK(!is_due(&due, later(JUMP_MS, 999)));
    CHECK(is_due(&due, later(JUMP_MS, 1000)));
}

TEST(a_wall_clock_set_back_does_not_stretch_a_lease)
{
    SCOPED(due_fini) struct due due;
    struct task task = running();
    due_init(&due);
    due_set(&due, &task, DUE_WRITTEN, GRACE_MS, noon);

    CHECK(is_due(&due, later(-JUMP_MS, 1000)));
}

TEST(a_heartbeat_after_a_jump_measures_from_then)
{
    SCOPED(due_fini) struct due due;
    struct task task = running();
    due_init(&due);
    due_set(&due, &task, DUE_WRITTEN, GRACE_MS, noon);
    task.lease_until_ms = NOON_MS + JUMP_MS + 500 + 2000;
    due_set(&due, &task, DUE_WRITTEN, GRACE_MS, later(JUMP_MS + 500, 500));

    CHECK(!is_due(&due, later(JUMP_MS, 2499)));
    CHECK(is_due(&due, later(JUMP_MS, 2500)));
}

TEST(heartbeats_do_not_move_the_time_out)
{
    SCOPED(due_fini) struct due due;
    struct task task = running();
    due_init(&due);
    due_set(&due, &task, DUE_WRITTEN, GRACE_MS, noon);
    task.lease_until_ms = NOON_MS + HOUR_MS;
    due_set(&due, &task, DUE_WRITTEN, GRACE_MS, later(500, 500));

    CHECK(!is_due(&due, later(2999, 2999)));
    CHECK(is_due(&due, later(3000, 3000)));
}

TEST(a_backoff_is_a_duration)
{
    SCOPED(due_fini) struct due due;
    struct task task = {.id = {1, 1}, .state = TASK_RETRYING, .scheduled_ms = NOON_MS + 5000};
    due_init(&due);
    due_set(&due, &task, DUE_WRITTEN, GRACE_MS, noon);

    CHECK(!is_due(&due, later(JUMP_MS, 4999)));
    CHECK(is_due(&due, later(-JUMP_MS, 5000)));
}

TEST(a_scheduled_time_follows_the_wall_clock)
{
    SCOPED(due_fini) struct due due;
    struct task task = {.id = {1, 1}, .state = TASK_SCHEDULED, .scheduled_ms = NOON_MS + 5000};
    due_init(&due);
    due_set(&due, &task, DUE_WRITTEN, GRACE_MS, noon);

    CHECK(!is_due(&due, later(4999, JUMP_MS)));
    CHECK(is_due(&due, later(5000, 1)));
    CHECK_EQ(due_in_ms(&due, later(4000, 1)), 1000);
}

TEST(an_expiry_follows_the_wall_clock)
{
    SCOPED(due_fini) struct due due;
    struct task task = {
        .id = {1, 1}, .state = TASK_QUEUED, .queued_ms = NOON_MS, .expires_ms = NOON_MS + 5000};
    due_init(&due);
    due_set(&due, &task, DUE_WRITTEN, GRACE_MS, noon);

    CHECK(!is_due(&due, later(4999, JUMP_MS)));
    CHECK(is_due(&due, later(5000, 1)));
}

TEST(what_waits_for_nothing_has_no_entry)
{
    SCOPED(due_fini) struct due due;
    struct task task = {.id = {1, 1}, .state = TASK_QUEUED, .queued_ms = NOON_MS};
    due_init(&due);

    CHECK(due_set(&due, &task, DUE_WRITTEN, GRACE_MS, noon) == NULL);
    CHECK_EQ(due_in_ms(&due, noon), NEVER_MS);
}

/* ---- Among nodes ---- */

#define APART_MS 500

TEST(a_lease_that_another_node_wrote_has_as_much_longer_as_clocks_may_differ)
{
    SCOPED(due_fini) struct due due;
    struct task task = running();
    due_init(&due);
    due.node = STR("us");
    due.apart_ms = APART_MS;
    struct due_entry *entry = due_set(&due, &task, DUE_READ, GRACE_MS, noon);

    CHECK(due_knows(entry, &task));
    CHECK(!is_due(&due, later(1000 + APART_MS - 1, 1000 + APART_MS - 1)));
    CHECK(is_due(&due, later(1000 + APART_MS, 1000 + APART_MS)));
}

TEST(reading_ones_own_row_again_changes_nothing_and_anothers_heartbeat_does)
{
    SCOPED(due_fini) struct due due;
    struct task task = running();
    due_init(&due);
    due.node = STR("us");
    due.apart_ms = APART_MS;
    due_set(&due, &task, DUE_WRITTEN, GRACE_MS, noon);
    struct due_entry *entry = due_set(&due, &task, DUE_READ, GRACE_MS, later(JUMP_MS, 500));
    CHECK(!is_due(&due, later(JUMP_MS, 999)));
    CHECK(is_due(&due, later(JUMP_MS, 1000)));

    task.lease_until_ms = NOON_MS + 2000;
    CHECK(!due_knows(entry, &task));
    due_set(&due, &task, DUE_READ, GRACE_MS, later(1000, 1000));
    CHECK(!is_due(&due, later(2499, 2499)));
    CHECK(is_due(&due, later(2500, 2500)));

    task.lease_until_ms = NOON_MS + 2600; /* ours again */
    due_set(&due, &task, DUE_WRITTEN, GRACE_MS, later(2100, 2100));
    CHECK(is_due(&due, later(2600, 2600)));
}

TEST(the_time_out_of_an_attempt_on_another_node_is_later_too_and_only_once)
{
    SCOPED(due_fini) struct due due;
    struct task task = running();
    due_init(&due);
    due.node = STR("us");
    due.apart_ms = APART_MS;
    task.lease_until_ms = NOON_MS + HOUR_MS;
    due_set(&due, &task, DUE_READ, GRACE_MS, noon);
    task.lease_until_ms++;
    due_set(&due, &task, DUE_READ, GRACE_MS, later(1, 1));

    CHECK(!is_due(&due, later(3000 + APART_MS - 1, 3000 + APART_MS - 1)));
    CHECK(is_due(&due, later(3000 + APART_MS, 3000 + APART_MS)));
}
