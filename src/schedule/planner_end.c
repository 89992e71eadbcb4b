/* schedule/planner_end.c: what the life of a task means for the run it stands for.
 *
 * Thread: engine; on whatever node the task changes. Keeps: I6.
 *
 * SPDX-License-Identifier: MIT */
#include "schedule/planner_data.h"

/* Removed in the night after its time is over: not one by one. */
int64_t planner_expiry_ms(const struct planner *planner, int64_t now_ms)
{
    int64_t keep_ms = planner->with.retention_ms;
    return keep_ms == 0 ? 0 : (now_ms + keep_ms) / DAY_MS * DAY_MS + DAY_MS;
}

/* The execution of a task; not found: it is no run, or its schedule was removed. */
static bool load_run(struct batch *batch, struct task_id id, bool *found, struct execution *out)
{
    struct err err = ERR_INIT;
    struct record_load load = {.kind = RECORD_EXECUTION, .id = id};
    struct tx *tx = guest_tx(batch);
    if (tx == NULL) {
        return false;
    }
    if (!tx_records_load(tx, &load, 1, guest_arena(batch), &err) ||
        (load.found && !execution_load(&load.record, guest_arena(batch), out, &err))) {
        guest_store_failed(batch, &err);
        return false;
    }
    *found = load.found;
    return true;
}

static bool save_run(struct planner *planner, struct batch *batch, const struct execution *run)
{
    struct record record = execution_record(run, guest_arena(batch));
    return planner_save(planner, batch, &record, 1);
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

static bool end_in_schedule(struct planner *planner, struct batch *batch, const struct task *task,
                            struct execution *run)
{
    const struct planner_hooks *hooks = &planner->with.hooks;
    struct schedule schedule;
    bool found, says = run->status == EXECUTION_SUCCESS && run->content.len > 0;
    if (!run->decides && !says && hooks->run_ended == NULL) {
        return true;
    }
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
    if (hooks->run_ended != NULL) {
        hooks->run_ended(hooks->arg, batch, &schedule, run, task);
    }
    if (!changed && !says) {
        return true;
    }
    schedule.updated_ms = guest_now(batch).wall_ms;
    struct record record = schedule_record(&schedule, guest_arena(batch));
    return planner_save(planner, batch, &record, 1);
}

/* ---- Changes ---- */

static void on_end(struct planner *planner, struct batch *batch, const struct task *task,
                   struct execution *run)
{
    end_run(batch, task, run);
    if (end_in_schedule(planner, batch, task, run)) {
        (void)!save_run(planner, batch, run);
    }
}

/* A failed task was retried by hand: the run goes on. */
static void on_revival(struct planner *planner, struct batch *batch, struct execution *run)
{
    run->status = EXECUTION_RUNNING;
    run->finished_ms = 0;
    run->content = STR_NONE;
    (void)!save_run(planner, batch, run);
}

/* The first attempt is over and others follow: when it began is known now. While it runs its task
 * says so; a write for every start would cost more than that look. */
static void on_first_try(struct planner *planner, struct batch *batch, const struct task *was,
                         struct execution *run)
{
    run->started_ms = was->started_ms;
    (void)!save_run(planner, batch, run);
}

void planner_changed(struct guest *guest, struct batch *batch, const struct task *was,
                     const struct task *now)
{
    struct planner *planner = HOLDER(guest, struct planner, guest);
    struct execution run;
    bool found, ends = task_state_terminal(now->state);
    bool revived = was != NULL && task_state_terminal(was->state) && !ends;
    bool tried = was != NULL && was->state == TASK_RUNNING && was->attempt == 1 && !ends;
    if (id_none(now->schedule) || !(ends || revived || tried) ||
        !load_run(batch, now->id, &found, &run) || !found) {
        return;
    }
    if (ends) {
        on_end(planner, batch, now, &run);
    } else if (revived) {
        on_revival(planner, batch, &run);
    } else {
        on_first_try(planner, batch, was, &run);
    }
}

void planner_progressed(struct guest *guest, struct batch *batch, const struct task *now)
{
    struct planner *planner = HOLDER(guest, struct planner, guest);
    struct execution run;
    bool found;
    if (id_none(now->schedule) || !load_run(batch, now->id, &found, &run) || !found) {
        return;
    }
    execution_step(&run, guest_now(batch).wall_ms, now->progress, now->progress_message,
                   guest_arena(batch));
    (void)!save_run(planner, batch, &run);
}
