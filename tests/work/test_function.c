/* tests/work/test_function.c: run functions of shared objects: what they see, say and ignore.
 *
 * SPDX-License-Identifier: MIT */
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

#include "stand.h"

static const char *const functions[] = {HANDLERS "/functions.so", HANDLERS "/wordcount.so"};

static void open_stand(struct stand *s, struct stand_options options)
{
    options.handlers = functions;
    options.handlers_count = ARRAY_LEN(functions);
    stand_open(s, &options);
}

/* ---- What it sees and says ---- */

TEST(a_run_function_sees_its_task)
{
    SCOPED(stand_close) struct stand s;
    char want[256], id[TASK_ID_TEXT];
    open_stand(&s, (struct stand_options){0});
    struct task task = stand_do(
        &s, (struct stand_order){.type = "facts", .payload = "{\"a\":1}", .document = "plan"},
        TASK_COMPLETED);
    snprintf(want, sizeof want, "[\"%s\",\"facts\",\"plan\",1,7,{\"a\":1}]",
             id_text(task.id, id).ptr);
    CHECK_STR(task.result, want);
}

TEST(a_run_function_without_payload_or_document_sees_neither)
{
    SCOPED(stand_close) struct stand s;
    char want[256], id[TASK_ID_TEXT];
    open_stand(&s, (struct stand_options){0});
    struct task task = stand_do(&s, (struct stand_order){.type = "facts"}, TASK_COMPLETED);
    snprintf(want, sizeof want, "[\"%s\",\"facts\",\"none\",1,0,null]", id_text(task.id, id).ptr);
    CHECK_STR(task.result, want);
}

TEST(what_a_run_function_says_is_kept_as_well_formed_lines)
{
    SCOPED(stand_close) struct stand s;
    open_stand(&s, (struct stand_options){0});
    struct task task = stand_do(&s, (struct stand_order){.type = "talks"}, TASK_COMPLETED);
    CHECK_STR(stand_log(&s, task.id), "first line\nbad \xEF\xBF\xBD byte\nand a third line\n");
    CHECK(task.progress == 40);
    CHECK_STR(task.progress_message, "two fifths");
}

TEST(a_run_function_that_talks_too_much_loses_words_and_nothing_else)
{
    SCOPED(stand_close) struct stand s;
    open_stand(&s, (struct stand_options){0});
    struct task task = stand_do(&s, (struct stand_order){.type = "talks_much"}, TASK_COMPLETED);
    CHECK(stand_log(&s, task.id).len <= TASK_LOG_MAX);
}

TEST(the_example_in_the_tutorial_works)
{
    SCOPED(stand_close) struct stand s;
    open_stand(&s, (struct stand_options){0});
    struct task task =
        stand_do(&s, (struct stand_order){.type = "wordcount", .payload = "\"to be or not to be\""},
                 TASK_COMPLETED);
    CHECK_STR(task.result, "{\"lines\":0,\"words\":6,\"bytes\":20}");
}

/* ---- How it ends ---- */

TEST(an_error_that_allows_no_retry_fails_the_task)
{
    SCOPED(stand_close) struct stand s;
    open_stand(&s, (struct stand_options){0});
    struct task task =
        stand_do(&s, (struct stand_order){.type = "fails", .max_retries = 3}, TASK_FAILED);
    CHECK_EQ(task.attempt, 1);
    CHECK_STR(task.error.code, "no_such_image");
    CHECK_STR(task.error.message, "the file is gone");
}

TEST(a_run_function_that_returns_something_else_is_tried_again)
{
    SCOPED(stand_close) struct stand s;
    open_stand(&s, (struct stand_options){0});
    struct task task =
        stand_do(&s, (struct stand_order){.type = "seven", .max_retries = 1}, TASK_FAILED);
    CHECK_EQ(task.attempt, 2);
    CHECK_STR(task.error.message, "the run function returned 7");
}

TEST(a_result_that_is_no_json_fails_the_attempt)
{
    SCOPED(stand_close) struct stand s;
    open_stand(&s, (struct stand_options){0});
    struct task task = stand_do(&s, (struct stand_order){.type = "no_json"}, TASK_FAILED);
    CHECK_STR(task.error.code, "invalid_result");
}

/* ---- How it is stopped ---- */

TEST(a_run_function_that_is_cancelled_and_stops_is_CANCELLED)
{
    SCOPED(stand_close) struct stand s;
    open_stand(&s, (struct stand_options){0});
    struct task_id id = stand_create(&s, "obedient", .document = "plan");
    stand_until_log(&s, id, "begun");
    stand_cancel(&s, id);
    stand_until(&s, id, TASK_CANCELLED);
    CHECK(!stand_document(&s, "plan").locked);
    stand_do(&s, (struct stand_order){.type = "facts", .document = "plan"}, TASK_COMPLETED);
}

TEST(a_run_function_that_completes_although_it_was_cancelled_is_COMPLETED)
{
    SCOPED(stand_close) struct stand s;
    open_stand(&s, (struct stand_options){0});
    struct task_id id = stand_create(&s, "diligent");
    stand_until_log(&s, id, "begun");
    stand_cancel(&s, id);
    stand_until(&s, id, TASK_COMPLETED);
    CHECK_STR(stand_task(&s, id).task.result, "\"done\"");
}

TEST(a_run_function_past_its_time_out_is_a_TIMEOUT_whatever_it_returns)
{
    SCOPED(stand_close) struct stand s;
    open_stand(&s, (struct stand_options){0});
    struct task_id stopped = stand_create(&s, "obedient", .timeout_ms = 20);
    struct task_id done = stand_create(&s, "diligent", .timeout_ms = 20);
    stand_until(&s, stopped, TASK_TIMEOUT);
    stand_until(&s, done, TASK_TIMEOUT);
}

TEST(a_slot_is_as_good_as_new_after_an_abort)
{
    SCOPED(stand_close) struct stand s;
    open_stand(&s, (struct stand_options){.workers = 1});
    for (int i = 0; i < 3; i++) {
        struct task_id id = stand_create(&s, "obedient");
        stand_until_log(&s, id, "begun");
        stand_cancel(&s, id);
        stand_until(&s, id, TASK_CANCELLED);
    }
    stand_do(&s, (struct stand_order){.type = "facts"}, TASK_COMPLETED);
}

/* ---- One that does not stop ---- */

struct gate {
    int fds[2];
    char payload[16];
};

static void gate_open(struct gate *gate)
{
    CHECK_EQ(pipe(gate->fds), 0);
    snprintf(gate->payload, sizeof gate->payload, "%d", gate->fds[0]);
}

static void gate_close(struct gate *gate)
{
    close(gate->fds[0]);
    close(gate->fds[1]);
}

static void gate_pass(struct gate *gate)
{
    CHECK_EQ(write(gate->fds[1], "x", 1), 1);
}

static void until_lost(struct stand *s, size_t lost)
{
    while (workforce_health(s->work).lost != lost) {
        sched_yield();
    }
}

TEST(a_run_function_that_ignores_its_time_out_keeps_its_document_until_it_returns)
{
    struct gate gate;
    gate_open(&gate);
    SCOPED(stand_close) struct stand s;
    open_stand(&s, (struct stand_options){.grace_ms = 30});
    struct task_id id =
        stand_create(&s, "stubborn", .payload = gate.payload, .document = "plan", .timeout_ms = 20);
    stand_until(&s, id, TASK_TIMEOUT); /* the engine has given it up */
    until_lost(&s, 1);
    struct task_id next = stand_create(&s, "facts", .document = "plan");
    struct document_view view = stand_document(&s, "plan");
    CHECK(view.locked);
    CHECK(id_eq(view.task, id));
    CHECK_EQ(stand_task(&s, next).task.state, TASK_QUEUED);
    gate_pass(&gate);
    stand_until(&s, next, TASK_COMPLETED);
    CHECK_EQ(workforce_health(s.work).lost, 0);
    gate_close(&gate);
}

TEST(a_task_whose_last_attempt_still_runs_is_not_started_again)
{
    struct gate gate;
    gate_open(&gate);
    SCOPED(stand_close) struct stand s;
    open_stand(&s, (struct stand_options){.grace_ms = 30});
    struct task_id id =
        stand_create(&s, "stubborn", .payload = gate.payload, .timeout_ms = 1000, .max_retries = 1);
    stand_until(&s, id, TASK_RETRYING);
    until_lost(&s, 1);
    stand_do(&s, (struct stand_order){.type = "facts"}, TASK_COMPLETED); /* others go on */
    CHECK_EQ(stand_task(&s, id).task.attempt, 1);
    gate_pass(&gate); /* the first attempt returns, the second follows … */
    gate_pass(&gate); /* … and may complete */
    stand_until(&s, id, TASK_COMPLETED);
    CHECK_EQ(stand_task(&s, id).task.attempt, 2);
    gate_close(&gate);
}

TEST(a_cancelled_run_function_that_ignores_it_is_given_up_after_the_grace_period)
{
    struct gate gate;
    gate_open(&gate);
    SCOPED(stand_close) struct stand s;
    open_stand(&s, (struct stand_options){.grace_ms = 30});
    struct task_id id = stand_create(&s, "stubborn", .payload = gate.payload, .document = "plan");
    stand_until_log(&s, id, "begun");
    stand_cancel(&s, id);
    stand_until(&s, id, TASK_CANCELLED);
    CHECK(stand_document(&s, "plan").locked);
    gate_pass(&gate);
    stand_do(&s, (struct stand_order){.type = "facts", .document = "plan"}, TASK_COMPLETED);
    gate_close(&gate);
}

TEST(a_drain_gives_back_a_run_function_that_stops_when_asked)
{
    SCOPED(stand_close) struct stand s;
    open_stand(&s, (struct stand_options){.grace_ms = 30});
    struct task_id id = stand_create(&s, "obedient");
    stand_until_log(&s, id, "begun");
    workforce_quiet(s.work);
    stand_rested(&s);
    CHECK_EQ(stand_task(&s, id).task.state, TASK_QUEUED);
    CHECK_EQ(stand_task(&s, id).attempts[0].outcome, OUTCOME_RELEASED);
}

/* ---- Files that are no handlers ---- */

static void check_refused(const char *file, const char *text)
{
    struct err err = ERR_INIT;
    struct workforce *work = workforce_new();
    struct workforce_options options = {
        .workers = 1, .handlers = &file, .handlers_count = 1, .data = STR("/tmp")};
    CHECK(!workforce_start(work, &options, &err));
    workforce_free(work);
    if (strstr(err.text, text) == NULL) {
        CHECK_STR(str_of(err.text), text);
    }
}

TEST(a_file_that_is_no_handler_is_refused_with_its_name_and_the_reason)
{
    check_refused(HANDLERS "/nowhere.so", "nowhere.so: No such file");
    check_refused(HANDLERS "/stranger.so", "was not built with errand/handler.h");
    check_refused(HANDLERS "/future.so", "handler ABI 99 and this server speaks 1");
    check_refused(HANDLERS "/taken.so", "the task type \"mine\" has two handlers");
}
