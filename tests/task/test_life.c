/* tests/task/test_life.c: every cell of a task's life, the absent ones too, and its names.
 *
 * SPDX-License-Identifier: MIT */
#include "task/life.h"
#include "test.h"

static struct task queued(void)
{
    struct task task = {.type = STR("t"),
                        .queue = STR("default"),
                        .priority = TASK_NORMAL,
                        .max_retries = 1,
                        .backoff = TASK_BACKOFF_DEFAULT,
                        .timeout_ms = 300000};
    task_begin(&task, 1000);
    return task;
}

static struct task running(void)
{
    struct err err;
    struct task task = queued();
    CHECK_OK(task_start(&task, &(struct task_claim){STR("w1"), 60000, 77}, 2000, &err));
    return task;
}

static const struct task_lease current = {1, 77};

TEST(the_table_of_life_has_these_cells_and_no_others)
{
    /* One letter per state a cell leads to; a dot is refused. Rows and columns as declared. */
    static const char *const cells[TASK_STATES] = {
        "Q.......C.SR..WF", /* SCHEDULED */
        ".Q......C.SR....", /* WAITING */
        "..R.....C.SR..W.", /* QUEUED */
        "...DrFTQC.S.....", /* RUNNING */
        "Q.......C.r....F", /* RETRYING */
        "................", /* COMPLETED */
        ".........Q..WR..", /* FAILED */
        ".........Q..WR..", /* CANCELLED */
        ".........Q..WR..", /* TIMEOUT */
    };
    static const char letters[TASK_STATES + 1] = "SWQRrDFCT";
    for (int state = 0; state < TASK_STATES; state++) {
        for (int event = 0; event < TASK_EVENTS; event++) {
            enum task_state next = TASK_STATES;
            bool allowed = task_life_allows((enum task_state)state, (enum task_event)event, &next);
            char got = allowed ? letters[next] : '.';
            assert_int_equal(got, cells[state][event]);
        }
    }
}

TEST(a_failed_attempt_is_retried_on_the_curve_until_the_budget_is_used)
{
    struct err err;
    struct task task = running();
    struct task_error why = {.code = STR("x"), .message = STR("y")};
    CHECK_OK(task_fail(&task, &why, true, 0, 3000, &err));
    CHECK_EQ(task.state, TASK_RETRYING);
    CHECK_EQ(task.scheduled_ms, 3000 + 5000);
    CHECK_OK(task_due(&task, 8000, &err));
    CHECK_EQ(task.queued_ms, 8000);
    CHECK_OK(task_start(&task, &(struct task_claim){STR("w1"), 1000, 78}, 8000, &err));
    CHECK_OK(task_fail(&task, &why, true, 0, 9000, &err));
    CHECK_EQ(task.state, TASK_FAILED);
    CHECK_EQ(task.retries, 1);
    CHECK_EQ(task.attempt, 2);
}

TEST(a_retry_waits_longer_when_it_was_asked_to_but_never_shorter)
{
    struct err err;
    struct task task = running(), last = running();
    CHECK_OK(task_fail(&task, &(struct task_error){0}, true, 0, 3000, &err));
    task_retry_not_before(&task, 4000);
    CHECK_EQ(task.scheduled_ms, 3000 + 5000);
    task_retry_not_before(&task, 60000);
    CHECK_EQ(task.scheduled_ms, 60000);
    CHECK_OK(task_fail(&last, &(struct task_error){0}, false, 0, 3000, &err));
    task_retry_not_before(&last, 60000);
    CHECK_EQ(last.state, TASK_FAILED);
    CHECK_EQ(last.scheduled_ms, 0);
}

TEST(the_backoff_is_5_25_125_seconds_and_never_past_its_limit)
{
    struct task_backoff backoff = TASK_BACKOFF_DEFAULT;
    CHECK_EQ(task_backoff_ms(&backoff, 1, 0), 5000);
    CHECK_EQ(task_backoff_ms(&backoff, 2, 0), 25000);
    CHECK_EQ(task_backoff_ms(&backoff, 3, 0), 125000);
    CHECK_EQ(task_backoff_ms(&backoff, 100, 0), 3600000);
    backoff.factor = 1000;
    CHECK_EQ(task_backoff_ms(&backoff, INT32_MAX, 0), 3600000);
    backoff.jitter = 0.5;
    int64_t wait = task_backoff_ms(&backoff, 9, 0.999);
    CHECK(wait >= 1800000 && wait < 1802000);
}

TEST(jobs_of_faktory_wait_by_its_own_curve)
{
    struct task_backoff backoff = {15 * SECOND_MS, TASK_DURATION_MAX_MS, TASK_FACTOR_FAKTORY, 0};
    CHECK_EQ(task_backoff_ms(&backoff, 1, 0), 15000);
    CHECK_EQ(task_backoff_ms(&backoff, 1, 0.9999), 44000);
    CHECK_EQ(task_backoff_ms(&backoff, 2, 0), 16000);
    CHECK_EQ(task_backoff_ms(&backoff, 2, 0.9999), 74000);
    CHECK_EQ(task_backoff_ms(&backoff, 3, 0), 31000);
    CHECK_EQ(task_backoff_ms(&backoff, 3, 0.9999), 118000);
    CHECK_EQ(task_backoff_ms(&backoff, 25, 0), 331791000);
    CHECK_EQ(task_backoff_ms(&backoff, INT32_MAX, 0.5), TASK_DURATION_MAX_MS);
}

TEST(what_has_not_come_to_its_turn_can_be_killed_and_is_a_failure)
{
    struct err err;
    struct task task = queued();
    CHECK(!task_kill(&task, 2000, &err));
    CHECK_EQ(err.kind, ERR_CONFLICT);
    CHECK_EQ(task.finished_ms, 0);
    task.state = TASK_RETRYING;
    CHECK_OK(task_kill(&task, 2000, &err));
    CHECK_EQ(task.state, TASK_FAILED);
    CHECK_EQ(task.finished_ms, 2000);
    CHECK_STR(task.error.code, "killed");
}

TEST(only_the_current_lease_speaks_for_the_task)
{
    struct err err;
    struct task task = running();
    CHECK(task_holds(&task, current, &err));
    CHECK(!task_holds(&task, (struct task_lease){1, 78}, &err));
    CHECK_EQ(err.kind, ERR_LEASE_LOST);
    CHECK(!task_holds(&task, (struct task_lease){2, 77}, &err));
    CHECK_OK(task_complete(&task, STR("1"), 3000, &err));
    CHECK(!task_holds(&task, current, &err));
    CHECK(task_repeats(&task, current, OUTCOME_COMPLETED));
    CHECK(!task_repeats(&task, current, OUTCOME_FAILED));
}

TEST(a_lease_never_outlasts_the_time_out)
{
    struct err err;
    struct task task = queued();
    task.timeout_ms = 5000;
    CHECK_OK(task_start(&task, &(struct task_claim){STR("w"), 60000, 77}, 2000, &err));
    CHECK_EQ(task.lease_until_ms, 7000);
    CHECK_OK(task_renew(&task, current, 60000, 4000, 3000, &err));
    CHECK_EQ(task.lease_until_ms, 7000);
    CHECK_OK(task_renew(&task, current, 1500, 4000, 3000, &err));
    CHECK_EQ(task.lease_until_ms, 4500);
    CHECK_OK(task_renew(&task, current, -1, 3900, 9000000, &err)); /* the wall clock jumped */
    CHECK_EQ(task.lease_until_ms, 9003900);
}

TEST(a_requested_cancel_yields_to_complete_but_not_to_fail_or_release)
{
    struct err err;
    struct task done = running(), failed = running(), released = running();
    CHECK_OK(task_cancel(&done, STR("stop"), 2500, &err));
    CHECK(done.cancel_requested && done.state == TASK_RUNNING);
    CHECK_OK(task_complete(&done, STR("1"), 3000, &err));
    CHECK_EQ(done.state, TASK_COMPLETED);
    CHECK_OK(task_cancel(&failed, STR("stop"), 2500, &err));
    CHECK_OK(task_fail(&failed, &(struct task_error){0}, true, 0, 3000, &err));
    CHECK_EQ(failed.state, TASK_CANCELLED);
    CHECK_STR(failed.cancel_reason, "stop");
    CHECK(task_repeats(&failed, current, OUTCOME_FAILED));
    CHECK_OK(task_cancel(&released, STR("stop"), 2500, &err));
    CHECK_OK(task_release(&released, 0, 3000, &err));
    CHECK_EQ(released.state, TASK_CANCELLED);
}

TEST(a_released_task_keeps_its_place_also_after_a_delay)
{
    struct err err;
    struct task task = running();
    CHECK_OK(task_release(&task, 5000, 3000, &err));
    CHECK_EQ(task.state, TASK_SCHEDULED);
    CHECK_OK(task_due(&task, 8000, &err));
    CHECK_EQ(task.queued_ms, 1000);
    CHECK_EQ(task.retries, 0);
}

TEST(a_worker_that_lost_its_lease_cannot_claim_to_have_finished)
{
    struct err err;
    struct task task = running();
    CHECK_OK(task_lose(&task, 0, 62001, &err));
    CHECK_EQ(task.state, TASK_RETRYING);
    CHECK_EQ(task.outcome, OUTCOME_LOST);
    CHECK(!task_repeats(&task, current, OUTCOME_FAILED));
    CHECK(!task_repeats(&task, (struct task_lease){1, 0}, OUTCOME_LOST));
}

TEST(a_time_out_without_retries_left_is_the_end)
{
    struct err err;
    struct task task = running();
    task.max_retries = 0;
    CHECK_OK(task_time_out(&task, 0, 302000, &err));
    CHECK_EQ(task.state, TASK_TIMEOUT);
    CHECK_EQ(task.finished_ms, 302000);
}

TEST(reviving_gives_a_fresh_budget_and_goes_on_counting_attempts)
{
    struct err err;
    struct task task = running();
    task.max_retries = 0;
    CHECK_OK(task_fail(&task, &(struct task_error){.code = STR("x")}, true, 0, 3000, &err));
    CHECK_OK(task_revive(&task, 4000, &err));
    CHECK_EQ(task.state, TASK_QUEUED);
    CHECK_EQ(task.attempt, 1);
    CHECK_EQ(task.retries, 0);
    CHECK_EQ(task.finished_ms, 0);
    struct task finished = running();
    CHECK_OK(task_complete(&finished, STR("1"), 3000, &err));
    CHECK(!task_revive(&finished, 4000, &err));
    CHECK_EQ(err.kind, ERR_CONFLICT);
}

TEST(changing_the_time_moves_between_queued_and_scheduled)
{
    struct err err;
    struct task task = queued();
    struct task_patch later = {TASK_BIT(scheduled_ms), &(struct task){.scheduled_ms = 9000}};
    CHECK_OK(task_change(&task, &later, 2000, &err));
    CHECK_EQ(task.state, TASK_SCHEDULED);
    struct task_patch past = {TASK_BIT(scheduled_ms), &(struct task){.scheduled_ms = 1}};
    CHECK_OK(task_change(&task, &past, 3000, &err));
    CHECK_EQ(task.state, TASK_QUEUED);
    CHECK_EQ(task.queued_ms, 3000);
    struct task busy = running();
    CHECK(!task_change(&busy, &later, 3000, &err));
    CHECK_EQ(err.kind, ERR_CONFLICT);
}

TEST(what_waited_is_queued_or_scheduled_by_its_time)
{
    struct err err;
    struct task soon = {0}, later = {.scheduled_ms = 9000};
    task_begin_waiting(&soon, 1000);
    task_begin_waiting(&later, 1000);
    CHECK_OK(task_unblock(&soon, 2000, &err));
    CHECK_OK(task_unblock(&later, 2000, &err));
    CHECK_EQ(soon.state, TASK_QUEUED);
    CHECK_EQ(soon.queued_ms, 2000);
    CHECK_EQ(later.state, TASK_SCHEDULED);
}

TEST(a_container_opens_closes_and_reopens_without_an_attempt)
{
    struct err err;
    struct task box = queued();
    CHECK_OK(task_open(&box, 2000, &err));
    CHECK_EQ(box.state, TASK_RUNNING);
    CHECK_EQ(box.attempt, 0);
    struct task_error why = {.code = STR("child_failed")};
    CHECK_OK(task_close_badly(&box, &why, 3000, &err));
    CHECK_EQ(box.state, TASK_FAILED);
    CHECK_OK(task_reopen(&box, 4000, &err));
    CHECK_EQ(box.state, TASK_RUNNING);
    CHECK(str_absent(box.error.code));
    CHECK_OK(task_close(&box, STR("[1]"), 5000, &err));
    CHECK_EQ(box.state, TASK_COMPLETED);
}

TEST(a_task_that_expired_before_it_came_is_cancelled_at_once)
{
    struct task task = {.expires_ms = 500};
    task_begin(&task, 1000);
    CHECK_EQ(task.state, TASK_CANCELLED);
    CHECK_STR(task.cancel_reason, "expired");
}

TEST(ids_grow_whatever_the_clock_does)
{
    struct rand rand;
    rand_init_seed(&rand, 1);
    struct id_maker maker = {.rand = &rand};
    struct task_id last = id_make(&maker, 1700000000000), id;
    for (int i = 0; i < 10000; i++) {
        id = id_make(&maker, 1700000000000 - i);
        CHECK(id.hi > last.hi);
        CHECK_EQ(id.hi >> 12 & 15, 7);
        CHECK_EQ(id.lo >> 62, 2);
        last = id;
    }
    char text[TASK_ID_TEXT];
    struct task_id back;
    CHECK(id_parse(id_text(last, text), &back) && id_eq(last, back));
    CHECK(!id_parse(STR("0192f3c4-0000-7000-8000-00000000000g"), &back));
    CHECK(!id_parse(STR("0192f3c4-0000-7000-8000-0000000000000"), &back));
}

TEST(two_nodes_seldom_make_ids_that_begin_alike)
{
    struct rand rand;
    rand_init_seed(&rand, 1);
    struct id_maker one = {.rand = &rand, .spread = true}, other = one;
    struct task_id last = TASK_ID_NONE;
    int alike = 0;
    for (int ms = 0; ms < 4000; ms++) {
        struct task_id a = id_make(&one, 1700000000000 + ms),
                       b = id_make(&other, 1700000000000 + ms);
        CHECK(a.hi > last.hi && a.hi >= id_first_hi(1700000000000 + ms));
        CHECK(a.hi < id_first_hi(1700000000000 + ms + 1));
        alike += a.hi == b.hi;
        last = a;
    }
    CHECK(alike < 10);
}

TEST(a_beginning_is_a_stretch_of_ids)
{
    struct task_id first, last, whole;
    CHECK(id_beginning(STR("0192F3c4-0"), &first, &last));
    CHECK_EQ(first.hi, 0x0192f3c400000000);
    CHECK_EQ(last.hi, 0x0192f3c40fffffff);
    CHECK(first.lo == 0 && last.lo == UINT64_MAX);
    CHECK(id_beginning(STR("0192f3c4-0000-7000-8"), &first, &last));
    CHECK(first.hi == last.hi && first.lo == UINT64_C(8) << 60 &&
          last.lo == UINT64_C(9) * (UINT64_C(1) << 60) - 1);
    CHECK(id_beginning(STR("0192f3c4-0000-7000-8000-000000000001"), &first, &last));
    CHECK(id_parse(STR("0192f3c4-0000-7000-8000-000000000001"), &whole));
    CHECK(id_eq(first, whole) && id_eq(last, whole));
    const char *wrong[] = {"", "x", "0192f3c40", "0192f3c4-0000-7000-8000-0000000000010", "-"};
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        CHECK(!id_beginning(str_of(wrong[i]), &first, &last));
    }
}

TEST(ids_read_back_as_written_and_nothing_else_is_one)
{
    char text[TASK_ID_TEXT];
    struct task_id id = {0x0192f3c4abcd7fffu, 0x8001023456789abcu}, back;
    CHECK_STR(id_text(id, text), "0192f3c4-abcd-7fff-8001-023456789abc");
    CHECK(id_parse(str_of(text), &back) && id_eq(back, id));
    CHECK(id_parse(STR("0192F3C4-ABCD-7FFF-8001-023456789ABC"), &back) && id_eq(back, id));
    CHECK(!id_parse(STR("00000000-0000-0000-0000-000000000000"), &back));
    for (size_t i = 0; i < TASK_ID_TEXT - 1; i++) { /* each place is looked at */
        char wrong[TASK_ID_TEXT];
        memcpy(wrong, text, sizeof wrong);
        wrong[i] = text[i] == '-' ? 'a' : 'g';
        CHECK(!id_parse(str_of(wrong), &back));
    }
    CHECK(!id_parse((struct str){text, TASK_ID_TEXT - 2}, &back));
}

TEST(leases_and_names_read_back_as_written)
{
    char text[TASK_LEASE_TEXT];
    struct task_lease back, lease = {12, 0xFEDCBA9876543210u};
    CHECK(task_lease_parse(task_lease_text(lease, text), &back));
    CHECK(back.attempt == 12 && back.token == lease.token);
    CHECK_STR(task_lease_text(lease, text), "12-fedcba9876543210");
    CHECK_STR(task_lease_text((struct task_lease){0, 0x0A09}, text), "0-0000000000000a09");
    CHECK_STR(task_lease_text((struct task_lease){INT32_MAX, 1}, text),
              "2147483647-0000000000000001");
    CHECK(!task_lease_parse(STR("12-FEDCBA9876543210"), &back)); /* not as it was given */
    CHECK(!task_lease_parse(STR("12"), &back) && !task_lease_parse(STR("-1-00"), &back));
    enum task_state state;
    CHECK(task_state_parse(STR("PENDING"), &state) && state == TASK_QUEUED);
    CHECK(!task_state_parse(STR("queued"), &state));
    enum task_priority priority;
    CHECK(task_priority_parse(STR("CRITICAL"), &priority) && priority == TASK_CRITICAL);
}

TEST(a_bad_order_is_refused_by_the_name_of_its_field)
{
    struct err err;
    struct task good = queued(), bad = good;
    CHECK_OK(task_check_order(&good, &err));
    bad.type = STR("a\nb");
    CHECK(!task_check_order(&bad, &err));
    CHECK_STR(str_of(err.field), "taskType");
    bad = good;
    bad.queue = STR("no spaces");
    CHECK(!task_check_order(&bad, &err));
    CHECK_STR(str_of(err.field), "queue");
    bad = good;
    bad.backoff.factor = 0.5;
    CHECK(!task_check_order(&bad, &err));
    CHECK_STR(str_of(err.field), "backoff.factor");
}
