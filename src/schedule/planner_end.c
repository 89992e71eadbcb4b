/* schedule/planner_end.c: what the life of a task means for the run it stands for.
 *
 * Thread: engine; on whatever node the task changes. Keeps: I6.
 *
 * SPDX-License-Identifier: MIT */
#include "schedule/delivery.h"
#include "schedule/planner_data.h"

/* Removed in the night after its time is over: not one by one. */
int64_t planner_expiry_ms(const struct planner *planner, int64_t now_ms)
{
    int64_t keep_ms = planner->with.retention_ms;
    return keep_ms == 0 ? 0 : (now_ms + keep_ms) / DAY_MS * DAY_MS + DAY_MS;
}

/* The execution of a task. False: it is no run, or its schedule was removed, or the batch is over.
 */
static bool find_run(struct batch *batch, struct task_id id, struct execution *out)
{
    struct err err = ERR_INIT;
    struct record_load load = {.kind = RECORD_EXECUTION, .id = id};
    if (!guest_load_record(batch, &load, guest_arena(batch)) || !load.found) {
        return false;
    }
    if (!execution_load(&load.record, guest_arena(batch), out, &err)) {
        guest_store_failed(batch, &err);
        return false;
    }
    return true;
}

static void save_run(struct planner *planner, struct batch *batch, const struct execution *run)
{
    struct record record = execution_record(run, guest_arena(batch));
    (void)!planner_save(planner, batch, &record, 1);
}

/* ---- Its end ---- */

static struct str failure_text(struct arena *arena, const struct task *task)
{
    if (task->state == TASK_CANCELLED) {
        return str_absent(task->cancel_reason)
                   ? STR("cancelled")
                   : arena_printf(arena, "cancelled: " STR_FMT, STR_ARG(task->cancel_reason));
    }
    return str_absent(task->error.message) ? str_of(task_state_name(task->state))
                                           : task->error.message;
}

static void end_run(struct batch *batch, const struct task *task, struct execution *run)
{
    struct arena *arena = guest_arena(batch);
    bool well = task->state == TASK_COMPLETED;
    run->status = well ? EXECUTION_SUCCESS : EXECUTION_FAILURE;
    run->started_ms = run->started_ms == 0 ? task->started_ms : run->started_ms;
    run->finished_ms = guest_now(batch).wall_ms;
    run->content = execution_content(well ? task->result : STR_NONE, arena);
    if (!well) {
        run->content = failure_text(arena, task);
    }
    run->queries = execution_queries(task);
    run->tokens = MAX(task->cost.tokens, 0);
}

/* The end of the one time decides about its schedule; a retry by hand may still turn it. */
static bool decide_schedule(struct schedule *schedule, const struct execution *run)
{
    if (!run->decides || schedule->next_ms != 0 || schedule->status == SCHEDULE_PAUSED) {
        return false;
    }
    bool well = run->status == EXECUTION_SUCCESS;
    schedule->status = well ? SCHEDULE_COMPLETED : SCHEDULE_FAILED;
    schedule->paused_reason = well ? STR_NONE : run->content;
    return true;
}

/* What the end of a run means for its schedule and for whoever waits for its result. False: the
 * batch is over. */
static bool end_in_schedule(struct planner *planner, struct batch *batch, const struct task *task,
                            struct execution *run)
{
    struct schedule schedule;
    int64_t retention_ms = planner->with.retention_ms;
    bool found, well = run->status == EXECUTION_SUCCESS, says = well && run->content.len > 0;
    if (!planner_load_schedule(batch, run->schedule, &found, &schedule)) {
        return false;
    }
    if (!found) {
        return true;
    }
    bool changed = decide_schedule(&schedule, run);
    if (says) {
        schedule_remember(&schedule, run->content, guest_arena(batch));
    }
    if (!usage_note(batch, run, task)) {
        return false;
    }
    if (well) {
        deliveries_create(batch, &schedule, run, retention_ms);
    } else if (task->state != TASK_CANCELLED) { /* whoever cancelled it knows */
        deliveries_tell_failure(batch, &schedule, run, retention_ms);
    }
    if (!changed && !says) {
        return true;
    }
    schedule.updated_ms = guest_now(batch).wall_ms;
    struct record record = schedule_record(&schedule, guest_arena(batch));
    return planner_save(planner, batch, &record, 1);
}

/* ---- Changes ---- */

static void change_run(struct planner *planner, struct batch *batch, const struct task *was,
                       const struct task *now, struct execution *run)
{
    if (task_state_terminal(now->state)) {
        end_run(batch, now, run);
        planner->draft.figures.failed += run->status == EXECUTION_FAILURE;
        if (end_in_schedule(planner, batch, now, run)) {
            save_run(planner, batch, run);
        }
    } else if (was != NULL && task_state_terminal(was->state)) {
        /* Retried by hand: the run goes on, and counts for the day of that retry from now on. */
        run->status = EXECUTION_RUNNING;
        run->finished_ms = 0;
        run->content = STR_NONE;
        if (planner->limit.queries_max != 0) {
            run->counted_ms = guest_now(batch).wall_ms;
        }
        save_run(planner, batch, run);
    } else if (was != NULL && was->state == TASK_RUNNING && was->attempt == 1) {
        /* The first attempt is over and others follow: when it began is known now. While it runs
         * its task says so; a write for every start would cost more than that look. */
        run->started_ms = was->started_ms;
        save_run(planner, batch, run);
    }
}

void planner_changed(struct guest *guest, struct batch *batch, const struct task *was,
                     const struct task *now)
{
    struct planner *planner = HOLDER(guest, struct planner, guest);
    struct delivery delivery;
    struct execution run;
    if (id_none(now->schedule)) {
        return;
    }
    if (delivery_of(now, &delivery)) {
        if (was != NULL) {
            delivery_changed(batch, &delivery, was, now, planner->with.retention_ms);
        }
        return;
    }
    bool ends = task_state_terminal(now->state);
    bool revived = was != NULL && task_state_terminal(was->state);
    bool tried = was != NULL && was->state == TASK_RUNNING && was->attempt == 1;
    bool counts = usage_counts(&planner->limit, was, now);
    if ((ends || revived || tried || counts) && find_run(batch, now->id, &run)) {
        change_run(planner, batch, was, now, &run);
        if (counts) {
            usage_count_run(&planner->limit, batch, was, now, &run);
        }
    }
}

void planner_progressed(struct guest *guest, struct batch *batch, const struct task *now)
{
    struct planner *planner = HOLDER(guest, struct planner, guest);
    struct execution run;
    if (id_none(now->schedule) || !find_run(batch, now->id, &run)) {
        return;
    }
    execution_step(&run, guest_now(batch).wall_ms, now->progress, now->progress_message,
                   guest_arena(batch));
    save_run(planner, batch, &run);
}

bool planner_may_revive(struct guest *guest, struct batch *batch, const struct task *task,
                        struct err *err)
{
    struct planner *planner = HOLDER(guest, struct planner, guest);
    struct delivery delivery;
    struct execution run;
    return planner->limit.queries_max == 0 || id_none(task->schedule) ||
           delivery_of(task, &delivery) || !find_run(batch, task->id, &run) ||
           usage_reserve(&planner->limit, batch, run.user, MAX(task->cost.estimated, 0), err);
}
