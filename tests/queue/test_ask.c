/* tests/queue/test_ask.c: why, documents, queues, workers, figures, events.
 *
 * SPDX-License-Identifier: MIT */
#include "bench.h"
#include "test.h"

/* The codes of a why, as "code code". */
static struct str why(struct bench *b, struct task_id id)
{
    struct command_why *answer = &bench_why(b, id)->command.why;
    struct str text = STR("");
    for (size_t i = 0; i < answer->count; i++) {
        text = arena_printf(&b->arena, STR_FMT "%s%s", STR_ARG(text), i == 0 ? "" : " ",
                            why_code_name(answer->reasons[i].code));
    }
    return text;
}

TEST(a_scheduled_task_is_not_due)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task_id id = bench_create(&b, "t", .delay_ms = 1000);
    CHECK_STR(why(&b, id), "not_due");
    CHECK_EQ(bench_why(&b, id)->command.why.reasons[0].until_ms, BENCH_START_MS + 1000);
}

TEST(a_retrying_task_waits_for_its_backoff)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task_id id = bench_create(&b, "t");
    struct task task = bench_claim(&b);
    CHECK_EQ(bench_finish(&b, &task, OUTCOME_FAILED), ERR_NONE);
    CHECK_STR(why(&b, id), "retry_backoff");
    CHECK_EQ(bench_why(&b, id)->command.why.reasons[0].until_ms, BENCH_START_MS + 5000);
}

TEST(a_task_behind_a_document_names_its_holder)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task_id holder = bench_create(&b, "t", .document = "d");
    bench_claim(&b, .worker = "w1");
    bench_create(&b, "t", .document = "d");
    struct task_id id = bench_create(&b, "t", .document = "d");

    CHECK_STR(why(&b, id), "document_locked");
    struct why_reason reason = bench_why(&b, id)->command.why.reasons[0];
    CHECK(id_eq(reason.task, holder));
    CHECK_STR(reason.worker, "w1");
    CHECK_EQ(reason.since_ms, BENCH_START_MS);
    CHECK_EQ(reason.ahead, 1);
}

TEST(a_task_in_a_paused_queue_says_so)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task_id id = bench_create(&b, "t");
    bench_claim(&b, .type = "t", .queue = "other");
    bench_queue(&b, "default", (struct command_queue){.has_paused = true, .set.paused = true});
    CHECK_STR(why(&b, id), "queue_paused no_worker");
}

TEST(a_task_in_a_full_queue_says_so)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    bench_create(&b, "t");
    struct task_id id = bench_create(&b, "t");
    bench_queue(&b, "default",
                (struct command_queue){.has_max_concurrent = true, .set.max_concurrent = 1});
    bench_claim(&b);
    CHECK_STR(why(&b, id), "queue_limit");
}

TEST(a_task_nobody_asked_for_has_no_worker)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    bench_claim(&b, .worker = "w", .type = "u");
    struct task_id id = bench_create(&b, "t");
    CHECK_STR(why(&b, id), "no_worker");
    bench_claim(&b, .worker = "w2", .type = "t", .queue = "elsewhere");
    CHECK_STR(why(&b, id), "no_worker");
}

TEST(a_task_whose_workers_are_all_busy_says_so_until_they_are_forgotten)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    CHECK(id_none(bench_claim(&b, .worker = "w", .type = "t").id));
    struct task_id id = bench_create(&b, "t");
    CHECK_STR(why(&b, id), "workers_busy");
    bench_pass_ms(&b, 60 * SECOND_MS + 1);
    CHECK_STR(why(&b, id), "no_worker");
}

TEST(a_running_or_finished_task_has_no_reasons)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task_id id = bench_create(&b, "t");
    struct task task = bench_claim(&b);
    CHECK_STR(why(&b, id), "");
    CHECK_EQ(bench_finish(&b, &task, OUTCOME_COMPLETED), ERR_NONE);
    CHECK_STR(why(&b, id), "");
    CHECK_EQ(bench_why(&b, id)->command.why.state, TASK_COMPLETED);
}

/* ---- Documents, queues, workers ---- */

TEST(a_document_shows_its_holder_and_its_line)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    CHECK(!bench_document(&b, "d").locked);
    struct task_id holder = bench_create(&b, "t", .document = "d");
    bench_claim(&b, .worker = "w1");
    struct task_id second = bench_create(&b, "t", .document = "d");
    struct task_id urgent = bench_create(&b, "t", .document = "d", .priority = TASK_HIGH);

    struct document_view view = bench_document(&b, "d");
    CHECK(view.locked);
    CHECK(id_eq(view.task, holder));
    CHECK_STR(view.worker, "w1");
    CHECK_EQ(view.waiting_count, 2);
    CHECK(id_eq(view.waiting[0], urgent));
    CHECK(id_eq(view.waiting[1], second));
    struct call *all = bench_call(&b, COMMAND_DOCUMENTS);
    all->command.document.most = 5;
    bench_run(&b, all);
    CHECK_EQ(all->command.document.count, 1);
    CHECK_STR(all->command.document.all[0].document, "d");
    CHECK_EQ(all->command.document.all[0].line, 2);
    CHECK(id_eq(all->command.document.all[0].waiting[0], urgent));
}

TEST(queues_show_their_counts_by_name)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    bench_create_many(&b, 3, (struct bench_order){.type = "t", .queue = "z"});
    bench_create(&b, "t", .queue = "a", .delay_ms = 1000);
    bench_claim(&b, .queue = "z");
    bench_queue(&b, "m", (struct command_queue){.has_paused = true, .set.paused = true});

    struct command_queues *queues = &bench_run(&b, bench_call(&b, COMMAND_QUEUES))->command.queues;
    CHECK_EQ(queues->count, 3);
    CHECK_STR(queues->views[0].settings.name, "a");
    CHECK_EQ(queues->views[0].counts[TASK_SCHEDULED], 1);
    CHECK_STR(queues->views[1].settings.name, "m");
    CHECK(queues->views[1].settings.paused);
    CHECK_STR(queues->views[2].settings.name, "z");
    CHECK_EQ(queues->views[2].counts[TASK_QUEUED], 2);
    CHECK_EQ(queues->views[2].counts[TASK_RUNNING], 1);
}

TEST(queues_are_known_after_a_restart)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    bench_create(&b, "t", .queue = "q");
    bench_restart(&b);
    struct command_queues *queues = &bench_run(&b, bench_call(&b, COMMAND_QUEUES))->command.queues;
    CHECK_EQ(queues->count, 1);
    CHECK_EQ(queues->views[0].counts[TASK_QUEUED], 1);
}

TEST(a_worker_is_busy_while_it_holds_a_task_and_forgotten_a_minute_after)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    bench_create(&b, "t");
    struct task task = bench_claim(&b, .worker = "w1");
    struct command_workers *seen = &bench_run(&b, bench_call(&b, COMMAND_WORKERS))->command.workers;
    CHECK_EQ(seen->count, 1);
    CHECK_STR(seen->workers[0].id, "w1");
    CHECK_EQ(seen->workers[0].tasks_count, 1);
    CHECK(id_eq(seen->workers[0].tasks[0], task.id));
    CHECK_EQ(bench_finish(&b, &task, OUTCOME_COMPLETED), ERR_NONE);
    seen = &bench_run(&b, bench_call(&b, COMMAND_WORKERS))->command.workers;
    CHECK_EQ(seen->workers[0].tasks_count, 0);
    bench_pass_ms(&b, 60 * SECOND_MS + 1);

    seen = &bench_run(&b, bench_call(&b, COMMAND_WORKERS))->command.workers;
    CHECK_EQ(seen->count, 0);
}

static enum worker_signal beat(struct bench *b, enum worker_signal says, bool left)
{
    struct call *call = bench_call(b, COMMAND_BEAT);
    call->command.beat = (struct command_beat){.worker = STR("w1"), .signal = says, .left = left};
    return bench_run(b, call)->command.beat.signal;
}

TEST(a_worker_that_beats_is_there_and_hears_what_is_asked_of_it)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    CHECK_EQ(beat(&b, SIGNAL_NONE, false), SIGNAL_NONE);
    struct call *quiet = bench_call(&b, COMMAND_WORKER);
    quiet->command.worker = (struct command_worker){.id = STR("w1"), .signal = SIGNAL_QUIET};
    CHECK_EQ(bench_run(&b, quiet)->command.err.kind, ERR_NONE);
    CHECK_EQ(beat(&b, SIGNAL_NONE, false), SIGNAL_QUIET);
    CHECK_EQ(beat(&b, SIGNAL_STOP, false), SIGNAL_STOP);
    CHECK_EQ(beat(&b, SIGNAL_QUIET, false), SIGNAL_STOP); /* never back */
}

TEST(who_comes_by_the_name_of_a_worker_that_left_is_another)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    CHECK_EQ(beat(&b, SIGNAL_QUIET, false), SIGNAL_QUIET);
    CHECK_EQ(beat(&b, SIGNAL_NONE, true), SIGNAL_NONE);
    CHECK_EQ(bench_run(&b, bench_call(&b, COMMAND_WORKERS))->command.workers.count, 0);
    CHECK_EQ(beat(&b, SIGNAL_NONE, false), SIGNAL_NONE);
    CHECK_EQ(bench_run(&b, bench_call(&b, COMMAND_WORKERS))->command.workers.count, 1);
}

TEST(a_worker_keeps_its_task_over_a_restart)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    bench_create(&b, "t");
    bench_claim(&b, .worker = "w1");
    bench_restart(&b);
    struct command_workers *seen = &bench_run(&b, bench_call(&b, COMMAND_WORKERS))->command.workers;
    CHECK_EQ(seen->count, 1);
    CHECK_EQ(seen->workers[0].tasks_count, 1);
}

TEST(the_figures_add_up)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    bench_create_many(&b, 3, (struct bench_order){.type = "t"});
    bench_pass_ms(&b, 70);
    struct task task = bench_claim(&b);
    bench_pass_ms(&b, 300);
    CHECK_EQ(bench_finish(&b, &task, OUTCOME_COMPLETED), ERR_NONE);

    struct queue_stats stats = bench_stats(&b);
    CHECK_EQ(stats.counts[TASK_QUEUED], 2);
    CHECK_EQ(stats.counts[TASK_COMPLETED], 1);
    CHECK_EQ(stats.wait.count, 1);
    CHECK_EQ(stats.wait.sum_ms, 70);
    CHECK_EQ(stats.run.sum_ms, 300);
    CHECK_EQ(stats.oldest_ms, BENCH_START_MS);
    CHECK_EQ((int)(stats.created_per_second * 60 + 0.5), 3);
    CHECK_EQ((int)(stats.finished_per_second * 60 + 0.5), 1);
}

/* ---- Events ---- */

TEST(every_state_is_told_once)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    struct task_id id = bench_create(&b, "t", .delay_ms = 1000);
    bench_pass_ms(&b, 1000);
    struct task task = bench_claim(&b);
    CHECK_EQ(bench_heartbeat(&b, &task, -1), ERR_NONE);
    CHECK_EQ(bench_finish(&b, &task, OUTCOME_FAILED), ERR_NONE);
    CHECK_EQ(bench_finish(&b, &task, OUTCOME_FAILED), ERR_NONE);
    bench_pass_ms(&b, 5000);
    task = bench_claim(&b);
    CHECK_EQ(bench_finish(&b, &task, OUTCOME_COMPLETED), ERR_NONE);

    CHECK_STR(bench_story(&b, id), "SCHEDULED QUEUED RUNNING RETRYING QUEUED RUNNING COMPLETED");
}

static size_t count_events(struct bench *b, enum event_kind kind)
{
    size_t n = 0;
    LIST_EACH(&b->events, it)
    {
        const struct event_batch *events = HOLDER(it, struct event_batch, link);
        for (size_t i = 0; i < events->count; i++) {
            n += events->events[i].kind == kind;
        }
    }
    return n;
}

TEST(progress_and_log_are_told_when_they_are_said)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    bench_create(&b, "t");
    struct task task = bench_claim(&b);
    struct call *call = bench_heartbeat_call(&b, &task, -1);
    call->command.heartbeat.progress = 40;
    call->command.heartbeat.message = STR("half");
    call->command.heartbeat.log = STR("x\n");
    bench_run(&b, call);
    CHECK_EQ(bench_heartbeat(&b, &task, -1), ERR_NONE);

    CHECK_EQ(count_events(&b, EVENT_PROGRESS), 1);
    CHECK_EQ(count_events(&b, EVENT_LOG), 1);
}

TEST(a_paused_queue_is_told)
{
    SCOPED(bench_fini) struct bench b = BENCH_INIT;
    bench_queue(&b, "q", (struct command_queue){.has_paused = true, .set.paused = true});
    CHECK_EQ(count_events(&b, EVENT_QUEUE), 1);
    const struct event_batch *events = HOLDER(list_first(&b.events), struct event_batch, link);
    CHECK_STR(events->events[0].text, "paused");
    CHECK_STR(events->events[0].queue, "q");
}
