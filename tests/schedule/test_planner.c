/* tests/schedule/test_planner.c: schedules are fired when they are due, each occurrence once.
 *
 * SPDX-License-Identifier: MIT */
#include "desk.h"
#include "test.h"

#define DAILY "{'title':'t','rrule':'FREQ=DAILY;BYHOUR=9;BYMINUTE=0','taskType':'w'}"

TEST(an_occurrence_becomes_a_task_at_its_time_and_the_next_is_planned)
{
    SCOPED(desk_fini) struct desk d = DESK_INIT;
    struct task_id id = desk_create(&d, DAILY);
    CHECK_STR(desk_time(&d, desk_schedule(&d, id).next_ms), "2027-01-15T09:00:00.000Z");
    desk_to(&d, "2027-01-15T08:59:59.999Z");
    CHECK_EQ(bench_count(&d.bench, TASK_QUEUED), 0);
    desk_pass_ms(&d, 1);
    CHECK_EQ(bench_count(&d.bench, TASK_QUEUED), 1);
    struct schedule schedule = desk_schedule(&d, id);
    CHECK_STR(desk_time(&d, schedule.next_ms), "2027-01-16T09:00:00.000Z");
    CHECK_STR(desk_time(&d, schedule.last_ms), "2027-01-15T09:00:00.000Z");
    CHECK_STR(desk_story(&d, id), "RUNNING");
}

TEST(a_run_is_the_task_it_stands_for)
{
    SCOPED(desk_fini) struct desk d = DESK_INIT;
    size_t count;
    struct task_id id =
        desk_create(&d, "{'title':'t','rrule':'FREQ=DAILY','purpose':'say hi','userId':'u',"
                        "'priority':'HIGH','queue':'q','documentId':'doc','maxRetries':1,"
                        "'timeoutMs':5000,'chatId':'c','messageId':'m'}");
    desk_pass_ms(&d, DAY_MS);
    struct execution *run = desk_history(&d, id, &count);
    CHECK_EQ(count, 1);
    CHECK(id_eq(run->id, run->task));
    struct task task = bench_task(&d.bench, run->id);
    CHECK(id_eq(task.schedule, id));
    CHECK_STR(task.type, "remind");
    CHECK_STR(task.queue, "q");
    CHECK_STR(task.document, "doc");
    CHECK_EQ(task.priority, TASK_HIGH);
    CHECK_EQ(task.max_retries, 1);
    CHECK_EQ(task.timeout_ms, 5000);
    struct arena *arena = &d.bench.arena;
    CHECK_STR(json_find_str(task.payload, "purpose", arena), "say hi");
    CHECK_STR(json_find_str(task.payload, "title", arena), "t");
    CHECK_STR(json_find_str(task.payload, "scheduledFor", arena), "2027-01-16T08:00:00.000Z");
    char text[TASK_ID_TEXT];
    CHECK_STR(json_find_str(task.payload, "executionId", arena), id_text(run->id, text).ptr);
    CHECK_STR(json_find_str(task.payload, "scheduleId", arena), id_text(id, text).ptr);
    CHECK_STR(run->user, "u");
    CHECK_STR(run->chat, "c");
    CHECK_STR(run->message, "m");
}

TEST(a_payload_of_its_own_is_handed_on_byte_for_byte)
{
    SCOPED(desk_fini) struct desk d = DESK_INIT;
    size_t count;
    struct task_id id =
        desk_create(&d, "{'title':'t','rrule':'FREQ=DAILY','payload':{ 'a' : 1.0 }}");
    desk_pass_ms(&d, DAY_MS);
    CHECK_STR(bench_task(&d.bench, desk_history(&d, id, &count)->id).payload, "{ \"a\" : 1.0 }");
}

TEST(the_end_of_its_task_is_the_end_of_a_run)
{
    SCOPED(desk_fini) struct desk d = DESK_INIT;
    size_t count;
    struct task_id id = desk_create(&d, DAILY);
    desk_pass_ms(&d, DAY_MS);
    bench_pass_ms(&d.bench, 500);
    struct task task = bench_claim(&d.bench, .worker = "w");
    bench_pass_ms(&d.bench, 500);
    struct call *call = bench_finish_call(&d.bench, &task, OUTCOME_COMPLETED);
    call->command.finish.items[0].result = STR("\"all \\\"well\\\"\"");
    call->command.finish.items[0].cost = (struct task_cost){-1, 2, 77};
    bench_run(&d.bench, call);
    struct execution *run = desk_history(&d, id, &count);
    CHECK_EQ(run->status, EXECUTION_SUCCESS);
    CHECK_STR(run->content, "all \"well\"");
    CHECK_STR(desk_time(&d, run->created_ms), "2027-01-15T09:00:00.000Z");
    CHECK_EQ(run->finished_ms - run->started_ms, 500);
    CHECK(run->queries == 2 && run->tokens == 77);
}

TEST(a_run_began_with_its_first_attempt)
{
    SCOPED(desk_fini) struct desk d = DESK_INIT;
    size_t count;
    struct task_id id = desk_create(&d, DAILY);
    desk_pass_ms(&d, HOUR_MS);
    desk_finish(&d, OUTCOME_FAILED, NULL);
    desk_pass_ms(&d, MINUTE_MS);
    desk_finish(&d, OUTCOME_COMPLETED, NULL);
    struct execution *run = desk_history(&d, id, &count);
    CHECK_STR(desk_time(&d, run->started_ms), "2027-01-15T09:00:00.000Z");
    CHECK_STR(desk_time(&d, run->finished_ms), "2027-01-15T09:01:00.000Z");
}

TEST(a_run_that_fails_for_good_or_is_cancelled_is_a_failure)
{
    SCOPED(desk_fini) struct desk d = DESK_INIT;
    size_t count;
    struct task_id id =
        desk_create(&d, "{'title':'t','rrule':'FREQ=HOURLY','maxRetries':0,'overlap':'allow'}");
    desk_pass_ms(&d, HOUR_MS);
    struct task task = bench_claim(&d.bench, .worker = "w");
    struct call *call = bench_finish_call(&d.bench, &task, OUTCOME_FAILED);
    call->command.finish.items[0].error = (struct task_error){STR("x"), STR("no luck"), STR_NONE};
    bench_run(&d.bench, call);
    desk_pass_ms(&d, HOUR_MS);
    struct execution *all = desk_history(&d, id, &count);
    CHECK_EQ(bench_cancel(&d.bench, all[1].id), ERR_NONE);
    all = desk_history(&d, id, &count);
    CHECK_EQ(count, 2);
    CHECK_EQ(all[0].status, EXECUTION_FAILURE);
    CHECK_STR(all[0].content, "no luck");
    CHECK_EQ(all[1].status, EXECUTION_FAILURE);
    CHECK_EQ(all[1].started_ms, 0);
    CHECK(all[1].finished_ms != 0);
}

TEST(a_run_whose_task_is_retried_by_hand_goes_on)
{
    SCOPED(desk_fini) struct desk d = DESK_INIT;
    struct task_id id =
        desk_create(&d, "{'title':'t','dtstart':'2027-01-15T09:00:00','maxRetries':0}");
    desk_pass_ms(&d, HOUR_MS);
    struct task_id run = desk_finish(&d, OUTCOME_FAILED, NULL);
    CHECK_STR(desk_story(&d, id), "FAILURE");
    CHECK_EQ(desk_schedule(&d, id).status, SCHEDULE_FAILED);
    CHECK_EQ(bench_revive(&d.bench, run), ERR_NONE);
    CHECK_STR(desk_story(&d, id), "RUNNING");
    desk_finish(&d, OUTCOME_COMPLETED, NULL);
    CHECK_STR(desk_story(&d, id), "SUCCESS");
    CHECK_EQ(desk_schedule(&d, id).status, SCHEDULE_COMPLETED);
}

TEST(a_single_time_is_completed_by_its_run)
{
    SCOPED(desk_fini) struct desk d = DESK_INIT;
    struct task_id id = desk_create(&d, "{'title':'t','dtstart':'2027-01-15T09:00:00'}");
    CHECK(desk_schedule(&d, id).one_time);
    desk_pass_ms(&d, HOUR_MS);
    CHECK_EQ(desk_schedule(&d, id).status, SCHEDULE_ACTIVE);
    CHECK_EQ(desk_schedule(&d, id).next_ms, 0);
    desk_finish(&d, OUTCOME_COMPLETED, NULL);
    CHECK_EQ(desk_schedule(&d, id).status, SCHEDULE_COMPLETED);
}

TEST(a_rule_that_ends_completes_its_schedule_with_the_last_time)
{
    SCOPED(desk_fini) struct desk d = DESK_INIT;
    struct task_id counted =
        desk_create(&d, "{'title':'t','rrule':'FREQ=DAILY;COUNT=3','overlap':'allow'}");
    struct task_id until = desk_create(
        &d, "{'title':'t','rrule':'FREQ=DAILY;UNTIL=20270117T080000Z','overlap':'allow'}");
    desk_pass_ms(&d, DAY_MS);
    CHECK_EQ(desk_schedule(&d, counted).status, SCHEDULE_ACTIVE);
    desk_pass_ms(&d, 9 * DAY_MS);
    CHECK_EQ(desk_schedule(&d, counted).status, SCHEDULE_COMPLETED);
    CHECK_STR(desk_times(&d, counted), "01-16T08:00 01-17T08:00");
    CHECK_EQ(desk_schedule(&d, until).status, SCHEDULE_COMPLETED);
    CHECK_STR(desk_times(&d, until), "01-16T08:00 01-17T08:00");
}

TEST(dates_are_left_out_and_added)
{
    SCOPED(desk_fini) struct desk d = DESK_INIT;
    struct task_id id =
        desk_create(&d, "{'title':'t','rrule':'FREQ=DAILY;BYHOUR=9;BYMINUTE=0','overlap':'allow',"
                        "'exdates':['2027-01-16T09:00:00'],'rdates':['2027-01-16T10:30:00Z']}");
    desk_to(&d, "2027-01-17T12:00:00Z");
    CHECK_STR(desk_times(&d, id), "01-15T09:00 01-16T10:30 01-17T09:00");
}

TEST(wall_clock_times_stay_across_the_change_of_clocks)
{
    SCOPED(desk_fini) struct desk d = DESK_INIT;
    desk_to(&d, "2027-03-26T12:00:00Z");
    struct task_id id = desk_create(&d, "{'title':'t','rrule':'FREQ=DAILY;BYHOUR=2;BYMINUTE=30',"
                                        "'timezone':'Europe/Berlin','overlap':'allow'}");
    struct task_id skips =
        desk_create(&d, "{'title':'t','rrule':'FREQ=DAILY;BYHOUR=2;BYMINUTE=30','dstGap':'skip',"
                        "'timezone':'Europe/Berlin','overlap':'allow'}");
    desk_to(&d, "2027-03-29T12:00:00Z");
    CHECK_STR(desk_times(&d, id), "03-27T01:30 03-28T01:30 03-29T00:30");
    CHECK_STR(desk_times(&d, skips), "03-27T01:30 03-29T00:30");
    desk_to(&d, "2027-10-30T12:00:00Z");
    struct task_id both =
        desk_create(&d, "{'title':'t','rrule':'FREQ=DAILY;BYHOUR=2;BYMINUTE=30','dstFold':'both',"
                        "'timezone':'Europe/Berlin','overlap':'allow'}");
    desk_to(&d, "2027-10-31T12:00:00Z");
    CHECK_STR(desk_times(&d, both), "10-31T00:30 10-31T01:30");
}

TEST(jitter_moves_the_start_by_the_same_amount_each_time)
{
    SCOPED(desk_fini) struct desk d = DESK_INIT;
    size_t count;
    struct task_id id =
        desk_create(&d, "{'title':'t','rrule':'FREQ=DAILY','jitterMs':600000,'overlap':'allow'}");
    struct schedule schedule = desk_schedule(&d, id);
    int64_t offset = schedule_offset_ms(&schedule);
    CHECK(offset > 0 && offset <= 600000);
    desk_pass_ms(&d, 3 * DAY_MS);
    struct execution *all = desk_history(&d, id, &count);
    CHECK_EQ(count, 2);
    for (size_t i = 0; i < count; i++) {
        CHECK_EQ(all[i].created_ms - all[i].scheduled_ms, offset);
    }
    desk_pass_ms(&d, offset);
    CHECK_STR(desk_times(&d, id), "01-16T08:00 01-17T08:00 01-18T08:00");
}

TEST(many_that_are_due_together_are_all_fired)
{
    SCOPED(desk_fini) struct desk d = DESK_INIT;
    for (int i = 0; i < 2 * PLANNER_DUE_MAX + 7; i++) {
        desk_create(&d, DAILY);
    }
    desk_pass_ms(&d, HOUR_MS);
    CHECK_EQ(bench_count(&d.bench, TASK_QUEUED), 2 * PLANNER_DUE_MAX + 7);
}

TEST(what_a_run_said_is_context_for_the_next)
{
    SCOPED(desk_fini) struct desk d = DESK_INIT;
    struct task_id id = desk_create(
        &d, "{'title':'t','rrule':'FREQ=HOURLY','messages':[{'role':'user','content':'hi'}]}");
    desk_pass_ms(&d, HOUR_MS);
    desk_finish(&d, OUTCOME_COMPLETED, "\"one\"");
    CHECK_STR(desk_schedule(&d, id).messages,
              "[{\"role\":\"user\",\"content\":\"hi\"},{\"role\":\"assistant\",\"content\":"
              "\"one\"}]");
    for (int i = 0; i < SCHEDULE_MESSAGES_MAX; i++) {
        desk_pass_ms(&d, HOUR_MS);
        desk_finish(&d, OUTCOME_COMPLETED, "{\"n\":1}");
    }
    struct str messages = desk_schedule(&d, id).messages;
    CHECK(memmem(messages.ptr, messages.len, "one", 3) == NULL);
    struct json json;
    size_t count = 0;
    json_start(&json, messages, &d.bench.arena);
    CHECK(json_enter_array(&json, NULL));
    while (json_item(&json, NULL)) {
        count++;
    }
    CHECK_EQ(count, SCHEDULE_MESSAGES_MAX);
}

TEST(steps_of_a_run_are_kept_in_its_history)
{
    SCOPED(desk_fini) struct desk d = DESK_INIT;
    size_t count;
    struct task_id id = desk_create(&d, DAILY);
    desk_pass_ms(&d, HOUR_MS);
    struct task task = bench_claim(&d.bench, .worker = "w");
    for (int i = 0; i < 2; i++) {
        struct call *call = bench_heartbeat_call(&d.bench, &task, -1);
        call->command.heartbeat.progress = 50.0 * i;
        call->command.heartbeat.message = i == 0 ? STR("begun") : STR("half");
        bench_run(&d.bench, call);
    }
    CHECK_STR(desk_history(&d, id, &count)->progress,
              "[{\"at\":\"2027-01-15T09:00:00.000Z\",\"percent\":0,\"message\":\"begun\"},"
              "{\"at\":\"2027-01-15T09:00:00.000Z\",\"percent\":50,\"message\":\"half\"}]");
}

TEST(a_schedule_that_is_removed_takes_its_history_with_it_but_not_its_tasks)
{
    SCOPED(desk_fini) struct desk d = DESK_INIT;
    size_t count;
    struct task_id id = desk_create(&d, DAILY);
    desk_pass_ms(&d, HOUR_MS);
    desk_wish(&d, id, PLANNER_REMOVE);
    CHECK_EQ(d.err.kind, ERR_NONE);
    CHECK(!desk_has(&d, id));
    desk_history(&d, id, &count);
    CHECK_EQ(count, 0);
    desk_finish(&d, OUTCOME_COMPLETED, NULL);
    desk_pass_ms(&d, 2 * DAY_MS);
    CHECK_EQ(bench_count(&d.bench, TASK_QUEUED), 0);
}

static size_t entries(struct desk *d, struct task_id id)
{
    size_t count;
    desk_history(d, id, &count);
    return count;
}

TEST(a_long_history_goes_in_pieces_and_a_crash_in_between_leaves_none_of_it)
{
    SCOPED(desk_fini) struct desk d = DESK_INIT;
    struct task_id id = desk_create(&d, "{'title':'t','rrule':'FREQ=MINUTELY','overlap':'allow',"
                                        "'dtstart':'2027-01-14T08:00:00'}");
    int64_t now_ms = bench_now(&d.bench).wall_ms;
    desk_wish(&d, id, PLANNER_BACKFILL, .from_ms = now_ms - 900 * MINUTE_MS, .to_ms = now_ms - 1);
    CHECK_EQ(entries(&d, id), 900);
    desk_wish(&d, id, PLANNER_REMOVE);
    CHECK(!desk_has(&d, id));
    CHECK_EQ(entries(&d, id), 400); /* CLEAR_CHUNK less */
    desk_restart(&d, 0);
    desk_pass_ms(&d, SECOND_MS);
    CHECK_EQ(entries(&d, id), 0);
}

TEST(a_run_that_still_goes_on_stays_in_the_history)
{
    SCOPED(desk_fini) struct desk d = DESK_INIT;
    d.with.retention_ms = DAY_MS;
    struct task_id id = desk_create(&d, "{'title':'t','dtstart':'2027-01-15T09:00:00'}");
    desk_pass_ms(&d, 5 * DAY_MS);
    CHECK_STR(desk_story(&d, id), "RUNNING");
    desk_finish(&d, OUTCOME_COMPLETED, NULL);
    desk_pass_ms(&d, 3 * DAY_MS);
    CHECK_STR(desk_story(&d, id), "");
}

TEST(old_entries_leave_the_history)
{
    SCOPED(desk_fini) struct desk d = DESK_INIT;
    d.with.retention_ms = 2 * DAY_MS;
    struct task_id id = desk_create(&d, DAILY);
    desk_pass_ms(&d, HOUR_MS);
    desk_finish(&d, OUTCOME_COMPLETED, NULL);
    desk_wish(&d, id, PLANNER_PAUSE);
    desk_to(&d, "2027-01-17T23:59:59Z");
    CHECK_STR(desk_story(&d, id), "SUCCESS");
    desk_pass_ms(&d, SECOND_MS);
    CHECK_STR(desk_story(&d, id), "");
}

/* ---- Figures ---- */

static struct planner_figures figures(struct desk *d)
{
    struct planner_figures out;
    struct call *call = bench_call(&d->bench, COMMAND_GUEST);
    planner_ask_figures(d->planner, &call->command, &out);
    bench_run(&d->bench, call);
    CHECK_EQ(call->command.err.kind, ERR_NONE);
    return out;
}

TEST(runs_and_how_they_ended_are_counted_once_they_are_on_disk)
{
    SCOPED(desk_fini) struct desk d = DESK_INIT;
    struct task_id id = desk_create(&d, "{'title':'t','rrule':'FREQ=HOURLY','maxRetries':0}");
    desk_pass_ms(&d, HOUR_MS);
    CHECK_EQ(figures(&d).runs, 1);
    desk_pass_ms(&d, HOUR_MS);
    CHECK_EQ(figures(&d).overlapped, 1);
    desk_finish(&d, OUTCOME_FAILED, NULL);
    desk_wish(&d, id, PLANNER_RUN);

    struct planner_figures now = figures(&d);
    CHECK_EQ(now.runs, 2);
    CHECK_EQ(now.failed, 1);
    CHECK_EQ(now.overlapped, 1);
    CHECK_EQ(now.missed, 0);
    CHECK_EQ(now.lateness.count, 1); /* of the run that the rule asked for */
    CHECK_EQ(now.lateness.sum_ms, 0);

    memory_disk_fail_next(d.bench.disk, MEMORY_FULL);
    desk_wish(&d, id, PLANNER_RUN);
    CHECK_EQ(figures(&d).runs, 2);
}

TEST(times_that_nobody_could_run_are_counted_as_missed_and_the_late_one_as_late)
{
    SCOPED(desk_fini) struct desk d = DESK_INIT;
    desk_create(&d, "{'title':'t','rrule':'FREQ=HOURLY'}");
    desk_restart(&d, 5 * HOUR_MS + 10 * MINUTE_MS);
    desk_pass_ms(&d, SECOND_MS);

    struct planner_figures now = figures(&d);
    CHECK_EQ(now.runs, 1);
    CHECK_EQ(now.missed, 4);
    CHECK_EQ(now.lateness.count, 1);
    CHECK_EQ(now.lateness.sum_ms, 10 * MINUTE_MS);
}
