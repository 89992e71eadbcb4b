/* tests/schedule/test_planner_rules.c: overlap, misfires, wake-ups, pauses, and crashes in between.
 *
 * SPDX-License-Identifier: MIT */
#include "desk.h"
#include "test.h"

#define HOURLY(more) "{'title':'t','rrule':'FREQ=HOURLY'" more "}"

/* ---- Overlap ---- */

TEST(a_time_is_left_out_while_the_last_run_is_unfinished)
{
    SCOPED(desk_fini) struct desk d = DESK_INIT;
    struct task_id id = desk_create(&d, HOURLY());
    desk_pass_ms(&d, 2 * HOUR_MS);
    CHECK_STR(desk_story(&d, id), "RUNNING SKIPPED");
    desk_finish(&d, OUTCOME_COMPLETED, NULL);
    desk_pass_ms(&d, HOUR_MS);
    CHECK_STR(desk_story(&d, id), "SUCCESS SKIPPED RUNNING");
}

TEST(queued_runs_wait_for_the_one_before_however_it_ends)
{
    SCOPED(desk_fini) struct desk d = DESK_INIT;
    struct task_id id = desk_create(&d, HOURLY(",'overlap':'queue','maxRetries':0"));
    desk_pass_ms(&d, 3 * HOUR_MS);
    CHECK_STR(desk_story(&d, id), "RUNNING RUNNING RUNNING");
    CHECK_EQ(bench_count(&d.bench, TASK_QUEUED), 1);
    CHECK_EQ(bench_count(&d.bench, TASK_WAITING), 2);
    desk_finish(&d, OUTCOME_FAILED, NULL);
    CHECK_EQ(bench_count(&d.bench, TASK_QUEUED), 1);
    desk_finish(&d, OUTCOME_COMPLETED, NULL);
    desk_finish(&d, OUTCOME_COMPLETED, NULL);
    CHECK_STR(desk_story(&d, id), "FAILURE SUCCESS SUCCESS");
}

TEST(runs_may_overlap_where_that_is_allowed)
{
    SCOPED(desk_fini) struct desk d = DESK_INIT;
    struct task_id id = desk_create(&d, HOURLY(",'overlap':'allow'"));
    desk_pass_ms(&d, 3 * HOUR_MS);
    CHECK_STR(desk_story(&d, id), "RUNNING RUNNING RUNNING");
    CHECK_EQ(bench_count(&d.bench, TASK_QUEUED), 3);
}

TEST(the_last_run_is_cancelled_for_the_next_started_or_not)
{
    SCOPED(desk_fini) struct desk d = DESK_INIT;
    size_t count;
    struct task_id id = desk_create(&d, HOURLY(",'overlap':'cancel'"));
    desk_pass_ms(&d, 2 * HOUR_MS);
    CHECK_STR(desk_story(&d, id), "FAILURE RUNNING");
    struct task task = bench_claim(&d.bench, .worker = "w");
    bench_heartbeat(&d.bench, &task, 2 * HOUR_MS);
    desk_pass_ms(&d, HOUR_MS);
    struct execution *all = desk_history(&d, id, &count);
    CHECK_EQ(count, 3);
    CHECK(bench_task(&d.bench, task.id).cancel_requested || all[1].status == EXECUTION_FAILURE);
    desk_pass_ms(&d, MINUTE_MS); /* the grace of the remote worker is over */
    CHECK_STR(desk_story(&d, id), "FAILURE FAILURE RUNNING");
    CHECK_EQ(bench_count(&d.bench, TASK_QUEUED), 1);
}

/* Its worker has the grace period to stop; the next ones are due before that. */
TEST(a_run_waits_for_the_one_that_is_being_cancelled_though_others_were_between)
{
    SCOPED(desk_fini) struct desk d = DESK_INIT;
    struct task_id id = desk_create(&d, HOURLY(",'overlap':'cancel','timeoutMs':0"));
    desk_pass_ms(&d, HOUR_MS);
    struct task task = bench_claim(&d.bench, .worker = "w", .lease_ms = 2 * HOUR_MS);
    desk_wish(&d, id, PLANNER_RUN);
    desk_wish(&d, id, PLANNER_RUN);
    CHECK_STR(desk_story(&d, id), "RUNNING FAILURE RUNNING");
    CHECK_EQ(bench_task(&d.bench, task.id).state, TASK_RUNNING);
    CHECK_EQ(bench_count(&d.bench, TASK_WAITING), 1);
    desk_pass_ms(&d, MINUTE_MS); /* the grace period is over */
    CHECK_EQ(bench_task(&d.bench, task.id).state, TASK_CANCELLED);
    CHECK_EQ(bench_count(&d.bench, TASK_QUEUED), 1);
}

TEST(a_queued_run_waits_for_the_one_that_runs_though_the_last_was_cancelled)
{
    SCOPED(desk_fini) struct desk d = DESK_INIT;
    struct task_id id = desk_create(&d, HOURLY(",'overlap':'queue','timeoutMs':0"));
    desk_pass_ms(&d, HOUR_MS);
    struct task task = bench_claim(&d.bench, .worker = "w", .lease_ms = 9 * HOUR_MS);
    desk_pass_ms(&d, HOUR_MS);
    bench_cancel(&d.bench, desk_schedule(&d, id).last_run);
    desk_pass_ms(&d, HOUR_MS);
    CHECK_STR(desk_story(&d, id), "RUNNING FAILURE RUNNING");
    CHECK_EQ(bench_count(&d.bench, TASK_WAITING), 1);
    bench_finish(&d.bench, &task, OUTCOME_COMPLETED);
    CHECK_EQ(bench_count(&d.bench, TASK_QUEUED), 1);
}

TEST(runs_in_line_stay_in_line_when_one_between_them_is_cancelled)
{
    SCOPED(desk_fini) struct desk d = DESK_INIT;
    struct task_id id = desk_create(&d, HOURLY(",'overlap':'queue','timeoutMs':0"));
    desk_pass_ms(&d, 2 * HOUR_MS);
    desk_finish(&d, OUTCOME_COMPLETED, NULL);
    struct task task = bench_claim(&d.bench, .worker = "w", .lease_ms = 9 * HOUR_MS);
    desk_pass_ms(&d, HOUR_MS);
    struct task_id between = desk_schedule(&d, id).last_run;
    desk_pass_ms(&d, HOUR_MS);
    bench_cancel(&d.bench, between);
    CHECK_STR(desk_story(&d, id), "SUCCESS RUNNING FAILURE RUNNING");
    CHECK_EQ(bench_count(&d.bench, TASK_WAITING), 1);
    bench_finish(&d.bench, &task, OUTCOME_COMPLETED);
    CHECK_EQ(bench_count(&d.bench, TASK_QUEUED), 1);
}

TEST(a_run_that_ends_in_the_very_batch_of_the_next_time_is_no_overlap)
{
    SCOPED(desk_fini) struct desk d = DESK_INIT;
    struct task_id id = desk_create(&d, HOURLY(",'timeoutMs':0"));
    desk_pass_ms(&d, HOUR_MS);
    struct task task = bench_claim(&d.bench, .worker = "w", .lease_ms = 2 * HOUR_MS);
    struct call *call = bench_finish_call(&d.bench, &task, OUTCOME_COMPLETED);
    bench_jump_ms(&d.bench, HOUR_MS);
    bench_run(&d.bench, call);
    CHECK_STR(desk_story(&d, id), "SUCCESS RUNNING");
}

/* ---- Misfires ---- */

TEST(one_missed_time_is_made_up_and_the_others_are_counted)
{
    SCOPED(desk_fini) struct desk d = DESK_INIT;
    struct task_id id = desk_create(&d, HOURLY());
    desk_restart(&d, 5 * HOUR_MS + 30 * MINUTE_MS);
    CHECK_STR(desk_story(&d, id), "SKIPPED:4 RUNNING");
    CHECK_STR(desk_times(&d, id), "01-15T09:00 01-15T13:00");
    CHECK_STR(desk_time(&d, desk_schedule(&d, id).next_ms), "2027-01-15T14:00:00.000Z");
}

TEST(a_time_that_is_late_by_no_more_than_the_limit_is_fired_as_ever)
{
    SCOPED(desk_fini) struct desk d = DESK_INIT;
    struct task_id id = desk_create(&d, HOURLY(",'misfire':'skip'"));
    struct task_id late =
        desk_create(&d, HOURLY(",'misfire':'skip','dtstart':'2027-01-15T07:59:59'"));
    desk_restart(&d, HOUR_MS + MINUTE_MS);
    CHECK_STR(desk_story(&d, id), "RUNNING");
    CHECK_STR(desk_story(&d, late), "SKIPPED");
}

TEST(missed_times_may_be_left_out_or_all_made_up)
{
    SCOPED(desk_fini) struct desk d = DESK_INIT;
    struct task_id none = desk_create(&d, HOURLY(",'misfire':'skip'"));
    struct task_id all = desk_create(&d, HOURLY(",'misfire':'all','taskType':'a'"));
    desk_restart(&d, 4 * HOUR_MS + 30 * MINUTE_MS);
    CHECK_STR(desk_story(&d, none), "SKIPPED:4");
    CHECK_STR(desk_story(&d, all), "RUNNING RUNNING RUNNING RUNNING");
    CHECK_STR(desk_times(&d, all), "01-15T09:00 01-15T10:00 01-15T11:00 01-15T12:00");
    CHECK_EQ(bench_count(&d.bench, TASK_QUEUED), 1); /* one after the other */
    CHECK_EQ(bench_count(&d.bench, TASK_WAITING), 3);
}

TEST(no_more_than_a_thousand_missed_times_are_made_up)
{
    SCOPED(desk_fini) struct desk d = DESK_INIT;
    size_t count;
    struct task_id id =
        desk_create(&d, "{'title':'t','rrule':'FREQ=MINUTELY','misfire':'all','overlap':'allow'}");
    desk_restart(&d, 1500 * MINUTE_MS);
    struct execution *all = desk_history(&d, id, &count);
    CHECK_EQ(all[0].status, EXECUTION_SKIPPED);
    CHECK_EQ(all[0].count, 498); /* the last two are not late enough to be missed */
    CHECK_EQ(count, 1 + PLANNER_MISFIRES_MAX + 2);
    CHECK_STR(desk_time(&d, all[count - 1].scheduled_ms), "2027-01-16T09:00:00.000Z");
}

TEST(a_single_time_that_was_missed_runs_late_or_is_left_out)
{
    SCOPED(desk_fini) struct desk d = DESK_INIT;
    struct task_id late = desk_create(&d, "{'title':'t','dtstart':'2027-01-15T09:00:00'}");
    struct task_id out =
        desk_create(&d, "{'title':'t','dtstart':'2027-01-15T09:00:00','misfire':'skip'}");
    desk_restart(&d, 3 * HOUR_MS);
    CHECK_STR(desk_story(&d, late), "RUNNING");
    CHECK_STR(desk_story(&d, out), "SKIPPED");
    CHECK_EQ(desk_schedule(&d, out).status, SCHEDULE_COMPLETED);
}

/* ---- Wake-ups ---- */

TEST(what_lies_beyond_the_horizon_is_planned_again_and_again)
{
    SCOPED(desk_fini) struct desk d = DESK_INIT;
    d.with.limits.horizon_ms = 30 * DAY_MS;
    struct task_id id = desk_create(&d, "{'title':'t','dtstart':'2027-03-20T08:00:00'}");
    CHECK_STR(desk_time(&d, desk_schedule(&d, id).wake_ms), "2027-02-14T08:00:00.000Z");
    CHECK_STR(desk_time(&d, desk_schedule(&d, id).next_ms), "2027-03-20T08:00:00.000Z");
    desk_to(&d, "2027-02-14T08:00:00Z");
    CHECK_STR(desk_story(&d, id), "WAKE_UP");
    CHECK_STR(desk_time(&d, desk_schedule(&d, id).wake_ms), "2027-03-16T08:00:00.000Z");
    desk_to(&d, "2027-03-16T08:00:00Z");
    CHECK_STR(desk_time(&d, desk_schedule(&d, id).wake_ms), "");
    desk_to(&d, "2027-03-20T08:00:00Z");
    CHECK_STR(desk_story(&d, id), "WAKE_UP WAKE_UP RUNNING");
}

/* ---- Pausing, running, changing ---- */

TEST(what_was_missed_in_a_pause_is_not_made_up)
{
    SCOPED(desk_fini) struct desk d = DESK_INIT;
    struct task_id id = desk_create(&d, HOURLY());
    desk_wish(&d, id, PLANNER_PAUSE, .reason = STR("holiday"));
    CHECK_STR(desk_schedule(&d, id).paused_reason, "holiday");
    CHECK_EQ(desk_schedule(&d, id).next_ms, 0);
    desk_pass_ms(&d, 5 * HOUR_MS + 1);
    CHECK_STR(desk_story(&d, id), "");
    desk_wish(&d, id, PLANNER_RESUME);
    CHECK_EQ(d.err.kind, ERR_NONE);
    CHECK_STR(desk_story(&d, id), "");
    CHECK_STR(desk_time(&d, desk_schedule(&d, id).next_ms), "2027-01-15T14:00:00.000Z");
    desk_pass_ms(&d, HOUR_MS);
    CHECK_STR(desk_story(&d, id), "RUNNING");
}

TEST(a_schedule_that_has_ended_is_neither_paused_nor_resumed)
{
    SCOPED(desk_fini) struct desk d = DESK_INIT;
    struct task_id id = desk_create(&d, "{'title':'t','dtstart':'2027-01-15T09:00:00'}");
    desk_wish(&d, id, PLANNER_PAUSE);
    desk_pass_ms(&d, 2 * HOUR_MS);
    desk_wish(&d, id, PLANNER_RESUME);
    CHECK_EQ(desk_schedule(&d, id).status, SCHEDULE_COMPLETED);
    desk_wish(&d, id, PLANNER_PAUSE);
    CHECK_EQ(d.err.kind, ERR_CONFLICT);
    desk_wish(&d, id, PLANNER_RESUME);
    CHECK_EQ(d.err.kind, ERR_CONFLICT);
}

TEST(a_run_by_hand_does_not_touch_the_rhythm)
{
    SCOPED(desk_fini) struct desk d = DESK_INIT;
    struct task_id id = desk_create(&d, HOURLY());
    desk_pass_ms(&d, 30 * MINUTE_MS);
    struct planner_order run = desk_wish(&d, id, PLANNER_RUN);
    CHECK_STR(bench_task(&d.bench, run.execution).type, "remind");
    CHECK_STR(desk_times(&d, id), "01-15T08:30");
    CHECK_STR(desk_time(&d, desk_schedule(&d, id).next_ms), "2027-01-15T09:00:00.000Z");
    desk_wish(&d, id, PLANNER_RUN); /* never left out */
    CHECK_STR(desk_story(&d, id), "RUNNING RUNNING");
}

TEST(a_run_that_is_asked_for_twice_under_one_key_is_one)
{
    SCOPED(desk_fini) struct desk d = DESK_INIT;
    struct task_id id = desk_create(&d, HOURLY());
    struct planner_order one = desk_wish(&d, id, PLANNER_RUN, .key = STR("k"));
    struct planner_order two = desk_wish(&d, id, PLANNER_RUN, .key = STR("k"));
    CHECK(id_eq(one.execution, two.execution));
    CHECK_STR(desk_story(&d, id), "RUNNING");
}

TEST(runs_asked_for_together_still_wait_for_each_other)
{
    SCOPED(desk_fini) struct desk d = DESK_INIT;
    struct task_id id = desk_create(&d, HOURLY(",'overlap':'queue'"));
    struct planner_order orders[3];
    for (size_t i = 0; i < 3; i++) {
        orders[i] = (struct planner_order){.verb = PLANNER_RUN, .id = id};
        bench_give(&d.bench, desk_call(&d, &orders[i]));
    }
    bench_settle(&d.bench);
    CHECK_STR(desk_story(&d, id), "RUNNING RUNNING RUNNING");
    CHECK_EQ(bench_count(&d.bench, TASK_QUEUED), 1);
    CHECK_EQ(bench_count(&d.bench, TASK_WAITING), 2);
}

TEST(a_past_window_is_run_but_no_time_twice)
{
    SCOPED(desk_fini) struct desk d = DESK_INIT;
    struct task_id id =
        desk_create(&d, "{'title':'t','rrule':'FREQ=HOURLY','dtstart':'2027-01-14T08:00:00'}");
    int64_t now_ms = bench_now(&d.bench).wall_ms;
    struct planner_order order = desk_wish(
        &d, id, PLANNER_BACKFILL, .from_ms = now_ms - 3 * HOUR_MS, .to_ms = now_ms - HOUR_MS);
    CHECK_EQ(order.count, 3);
    CHECK_STR(desk_times(&d, id), "01-15T05:00 01-15T06:00 01-15T07:00");
    CHECK_STR(desk_time(&d, desk_schedule(&d, id).next_ms), "2027-01-15T09:00:00.000Z");
    order = desk_wish(&d, id, PLANNER_BACKFILL, .from_ms = now_ms - 4 * HOUR_MS,
                      .to_ms = now_ms - HOUR_MS);
    CHECK_EQ(order.count, 1);
    desk_wish(&d, id, PLANNER_BACKFILL, .from_ms = now_ms, .to_ms = now_ms + 1);
    CHECK_EQ(d.err.kind, ERR_INVALID);
    CHECK_STR(str_of(d.err.field), "to");
    CHECK_EQ(bench_count(&d.bench, TASK_QUEUED), 1);
    CHECK_EQ(bench_count(&d.bench, TASK_WAITING), 3);
}

TEST(a_past_window_is_run_again_where_that_is_asked_for)
{
    SCOPED(desk_fini) struct desk d = DESK_INIT;
    struct task_id id =
        desk_create(&d, "{'title':'t','rrule':'FREQ=HOURLY','dtstart':'2027-01-14T08:00:00'}");
    int64_t now_ms = bench_now(&d.bench).wall_ms;
    desk_wish(&d, id, PLANNER_BACKFILL, .from_ms = now_ms - HOUR_MS, .to_ms = now_ms - HOUR_MS);
    struct planner_order order =
        desk_wish(&d, id, PLANNER_BACKFILL, .from_ms = now_ms - 2 * HOUR_MS,
                  .to_ms = now_ms - HOUR_MS, .again = true);
    CHECK_EQ(order.count, 2);
    CHECK_STR(desk_times(&d, id), "01-15T07:00 01-15T06:00 01-15T07:00");
    CHECK_EQ(bench_count(&d.bench, TASK_QUEUED), 1); /* one after the other, as ever */
    CHECK_EQ(bench_count(&d.bench, TASK_WAITING), 2);
    order = desk_wish(&d, id, PLANNER_BACKFILL, .from_ms = now_ms - 2 * HOUR_MS,
                      .to_ms = now_ms - HOUR_MS);
    CHECK_EQ(order.count, 0);
}

TEST(a_backfill_has_a_limit)
{
    SCOPED(desk_fini) struct desk d = DESK_INIT;
    struct task_id id =
        desk_create(&d, "{'title':'t','rrule':'FREQ=MINUTELY','dtstart':'2027-01-14T08:00:00'}");
    int64_t now_ms = bench_now(&d.bench).wall_ms;
    desk_wish(&d, id, PLANNER_BACKFILL, .from_ms = now_ms - 1000 * MINUTE_MS, .to_ms = now_ms);
    CHECK_EQ(d.err.kind, ERR_INVALID);
    CHECK_STR(desk_story(&d, id), "");
}

TEST(a_change_of_rule_or_zone_moves_the_next_time)
{
    SCOPED(desk_fini) struct desk d = DESK_INIT;
    struct task_id id = desk_create(&d, "{'title':'t','rrule':'FREQ=DAILY;BYHOUR=9;BYMINUTE=0'}");
    CHECK_EQ(desk_change(&d, id, "{'timezone':'America/New_York'}"), ERR_NONE);
    CHECK_STR(desk_time(&d, desk_schedule(&d, id).next_ms), "2027-01-15T14:00:00.000Z");
    CHECK_EQ(desk_change(&d, id, "{'rrule':'FREQ=DAILY;BYHOUR=10;BYMINUTE=0','title':'new'}"),
             ERR_NONE);
    CHECK_STR(desk_time(&d, desk_schedule(&d, id).next_ms), "2027-01-15T15:00:00.000Z");
    CHECK_STR(desk_schedule(&d, id).title, "new");
    CHECK_EQ(desk_change(&d, id, "{'rrule':'FREQ=DAILY;UNTIL=20200101T000000Z'}"), ERR_REFUSED);
    CHECK_EQ(desk_change(&d, id, "{'rrule':'FREQ=SOMETIMES'}"), ERR_INVALID);
    CHECK_STR(desk_time(&d, desk_schedule(&d, id).next_ms), "2027-01-15T15:00:00.000Z");
    desk_to(&d, "2027-01-15T15:00:00Z");
    CHECK_STR(desk_story(&d, id), "RUNNING");
}

TEST(a_paused_schedule_that_is_changed_stays_paused)
{
    SCOPED(desk_fini) struct desk d = DESK_INIT;
    struct task_id id = desk_create(&d, HOURLY());
    desk_wish(&d, id, PLANNER_PAUSE);
    CHECK_EQ(desk_change(&d, id, "{'rrule':'FREQ=MINUTELY'}"), ERR_NONE);
    CHECK_EQ(desk_schedule(&d, id).status, SCHEDULE_PAUSED);
    desk_pass_ms(&d, HOUR_MS);
    CHECK_STR(desk_story(&d, id), "");
}

TEST(times_that_cannot_be_are_refused)
{
    SCOPED(desk_fini) struct desk d = DESK_INIT;
    const struct {
        const char *json, *field;
        enum err_kind kind;
    } rows[] = {
        {"{'title':'t','dtstart':'2026-01-15T08:00:00'}", "dtstart", ERR_REFUSED},
        {"{'title':'t','dtstart':'2027-01-15T08:00:04'}", "dtstart", ERR_REFUSED},
        {"{'title':'t','rrule':'FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30'}", "rrule", ERR_REFUSED},
        {"{'title':'t','rrule':'FREQ=DAILY;UNTIL=20260101T000000Z'}", "rrule", ERR_REFUSED},
        {"{'title':'t','rrule':'FREQ=DAILY;COUNT=0'}", "rrule", ERR_INVALID},
        {"{'title':'t','dtstart':'tomorrow'}", "dtstart", ERR_INVALID},
        {"{'title':'t','rrule':'FREQ=DAILY','timezone':'Mars/Base'}", "timezone", ERR_INVALID},
        {"{'title':'t','rrule':'FREQ=DAILY','exdates':['x']}", "exdates", ERR_INVALID},
        {"{'title':'t','rrule':'FREQ=DAILY','isOneTime':true}", "isOneTime", ERR_INVALID},
        {"{'title':'t'}", "rrule", ERR_INVALID},
        {"{'rrule':'FREQ=DAILY'}", "title", ERR_INVALID},
        {"{'title':'t','rrule':'FREQ=DAILY','overlap':'maybe'}", "overlap", ERR_INVALID},
        {"{'title':'t','rrule':'FREQ=DAILY','status':'ACTIVE'}", "status", ERR_INVALID},
        {"{'title':'t','rrule':'FREQ=DAILY','nope':1}", "nope", ERR_INVALID},
        {"{'title':'t','rrule':'FREQ=DAILY','cursor':1}", "cursor", ERR_INVALID},
        {"{'title':'t','rrule':'FREQ=DAILY','jitterMs':-1}", "jitterMs", ERR_INVALID},
        {"{'title':'t','rrule':'FREQ=DAILY','delivery':['PIGEON']}", "delivery", ERR_INVALID},
        {"{'title':'t','rrule':'FREQ=DAILY','deliverTo':{'FAX':'1'}}", "deliverTo", ERR_INVALID},
        {"{'title':'t','rrule':'FREQ=DAILY','queue':'a b'}", "queue", ERR_INVALID},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        CHECK(id_none(desk_create(&d, rows[i].json)));
        CHECK_EQ(d.err.kind, rows[i].kind);
        CHECK_STR(str_of(d.err.field), rows[i].field);
    }
    CHECK(!id_none(desk_create(&d, "{'title':'t','dtstart':'2027-01-15T08:00:05'}")));
}

TEST(what_is_somebody_else_s_is_not_there)
{
    SCOPED(desk_fini) struct desk d = DESK_INIT;
    struct task_id id = desk_create(&d, HOURLY(",'userId':'ann'"));
    desk_wish(&d, id, PLANNER_PAUSE, .owner = STR("bob"));
    CHECK_EQ(d.err.kind, ERR_NOT_FOUND);
    desk_wish(&d, id, PLANNER_PAUSE, .owner = STR("ann"));
    CHECK_EQ(d.err.kind, ERR_NONE);
    desk_wish(&d, ((struct task_id){9, 9}), PLANNER_RUN);
    CHECK_EQ(d.err.kind, ERR_NOT_FOUND);
}

/* ---- Crashes ---- */

TEST(a_commit_that_fails_leaves_the_occurrence_to_be_fired_once)
{
    static const enum memory_fault faults[] = {MEMORY_FULL, MEMORY_CRASH_BEFORE,
                                               MEMORY_CRASH_AFTER};
    for (size_t i = 0; i < ARRAY_LEN(faults); i++) {
        SCOPED(desk_fini) struct desk d = DESK_INIT;
        struct task_id id = desk_create(&d, HOURLY());
        memory_disk_fail_next(d.bench.disk, faults[i]);
        bench_jump_ms(&d.bench, HOUR_MS);
        bench_step(&d.bench);
        desk_restart(&d, 0);
        CHECK_STR(desk_story(&d, id), "RUNNING");
        CHECK_EQ(bench_count(&d.bench, TASK_QUEUED), 1);
        CHECK_STR(desk_time(&d, desk_schedule(&d, id).next_ms), "2027-01-15T10:00:00.000Z");
        desk_pass_ms(&d, 30 * MINUTE_MS);
        CHECK_STR(desk_story(&d, id), "RUNNING");
    }
}

TEST(a_schedule_that_is_put_off_says_nothing_of_what_it_missed_yet)
{
    SCOPED(desk_fini) struct desk d = DESK_INIT;
    struct task_id id = desk_create(&d, HOURLY(",'overlap':'queue'"));
    struct planner_order run = {.verb = PLANNER_RUN, .id = id};
    bench_jump_ms(&d.bench, 3 * HOUR_MS + 2 * MINUTE_MS);
    bench_give(&d.bench, desk_call(&d, &run));
    bench_step(&d.bench); /* nothing can wait for a run of this very batch */
    CHECK_STR(desk_story(&d, id), "RUNNING");
    bench_settle(&d.bench);
    CHECK_STR(desk_story(&d, id), "RUNNING SKIPPED:2 RUNNING");
    CHECK_EQ(bench_count(&d.bench, TASK_WAITING), 1);
}

TEST(a_single_time_that_a_backfill_has_run_is_over)
{
    SCOPED(desk_fini) struct desk d = DESK_INIT;
    struct task_id id =
        desk_create(&d, "{'title':'t','dtstart':'2027-01-15T09:00:00Z','overlap':'queue'}");
    struct planner_order run = {.verb = PLANNER_BACKFILL, .id = id};
    bench_jump_ms(&d.bench, HOUR_MS);
    run.from_ms = run.to_ms = bench_now(&d.bench).wall_ms;
    bench_give(&d.bench, desk_call(&d, &run)); /* just before the planner does */
    bench_settle(&d.bench);
    CHECK_STR(desk_story(&d, id), "RUNNING");
    CHECK_EQ(desk_schedule(&d, id).status, SCHEDULE_COMPLETED);
}

TEST(the_run_that_a_backfill_made_of_a_time_is_not_cancelled_for_that_time)
{
    SCOPED(desk_fini) struct desk d = DESK_INIT;
    struct task_id id = desk_create(&d, HOURLY(",'overlap':'cancel'"));
    struct planner_order run = {.verb = PLANNER_BACKFILL, .id = id};
    bench_jump_ms(&d.bench, HOUR_MS);
    run.from_ms = run.to_ms = bench_now(&d.bench).wall_ms;
    bench_give(&d.bench, desk_call(&d, &run)); /* just before the planner does */
    bench_settle(&d.bench);
    CHECK_STR(desk_story(&d, id), "RUNNING");
    CHECK_EQ(bench_count(&d.bench, TASK_QUEUED), 1);
}

TEST(only_the_leader_fires)
{
    SCOPED(desk_fini) struct desk d = DESK_INIT;
    d.with.shared = true;
    struct task_id id = desk_create(&d, HOURLY());
    d.guests[0]->leads(d.guests[0], false);
    bench_jump_ms(&d.bench, HOUR_MS);
    bench_settle(&d.bench);
    CHECK_STR(desk_story(&d, id), "");
    d.guests[0]->leads(d.guests[0], true);
    bench_step(&d.bench);
    CHECK_STR(desk_story(&d, id), "RUNNING");
    CHECK(d.guests[0]->due_in_ms(d.guests[0], bench_now(&d.bench)) <= PLANNER_POLL_MS);
}

/* ---- Others ---- */

TEST(an_occurrence_that_another_node_has_run_is_passed_over)
{
    SCOPED(desk_fini) struct desk d = DESK_INIT;
    struct err err = ERR_INIT;
    struct task_id id = desk_create(&d, HOURLY());
    struct execution theirs = EXECUTION_INIT;
    theirs.id = (struct task_id){5, 5};
    theirs.schedule = id;
    theirs.status = EXECUTION_SUCCESS;
    theirs.scheduled_ms = desk_schedule(&d, id).next_ms;
    theirs.key = execution_key(id, theirs.scheduled_ms, &d.bench.arena);
    struct record record = execution_record(&theirs, &d.bench.arena);
    struct record_save save = {.record = &record};
    SCOPED(tx_close) struct tx *tx = NULL;
    CHECK_OK(store_begin(d.bench.store, &tx, &err));
    CHECK_OK(tx_records_save(tx, &save, 1, &err));
    CHECK_OK(tx_commit(&tx, &err));

    desk_pass_ms(&d, HOUR_MS);
    CHECK_STR(desk_story(&d, id), "SUCCESS");
    CHECK_EQ(bench_count(&d.bench, TASK_QUEUED), 0);
    CHECK_STR(desk_time(&d, desk_schedule(&d, id).next_ms), "2027-01-15T10:00:00.000Z");
    desk_pass_ms(&d, HOUR_MS);
    CHECK_STR(desk_story(&d, id), "SUCCESS RUNNING");
}
