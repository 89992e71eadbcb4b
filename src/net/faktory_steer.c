/* net/faktory_steer.c: what operators do to many jobs over the Faktory protocol: MUTATE and FLUSH.
 *
 * Both walk over the tasks of a set page by page, newest first, and give a command for each that is
 * chosen; what has moved on meanwhile is left alone. Which states a set is: faktory_queues.c.
 *
 * Thread: net loop.
 *
 * SPDX-License-Identifier: MIT */
#include "net/faktory_parts.h"

#define PAGE ((size_t)500)
#define FLUSH_RUNNING_MAX                                                                          \
    ((size_t)100000) /* ended at once by FLUSH; the others by their leases                         \
                      */
#define BIT(state)  (1u << (state))
#define DEAD_STATES (BIT(TASK_FAILED) | BIT(TASK_TIMEOUT))
#define LIVE_STATES                                                                                \
    (BIT(TASK_SCHEDULED) | BIT(TASK_WAITING) | BIT(TASK_QUEUED) | BIT(TASK_RUNNING) |              \
     BIT(TASK_RETRYING))

/* ---- MUTATE ---- */

struct mutation {
    struct faktory_change change;
    struct query *page;
    size_t jid; /* of those that were named: the next */
    int64_t now_ms;
    void (*done)(struct faktory_op *op);
};

static const unsigned set_states[] = {[FAKTORY_SCHEDULED] = BIT(TASK_SCHEDULED),
                                      [FAKTORY_RETRIES_SET] = BIT(TASK_RETRYING),
                                      [FAKTORY_DEAD] = DEAD_STATES};

static bool is_chosen(const struct faktory_change *change, const struct task *task,
                      struct arena *arena)
{
    bool in_set = set_states[change->target] & BIT(task->state) && !queue_is_own(task->queue) &&
                  !(change->target == FAKTORY_DEAD && job_is_forgotten(task));
    if (!in_set || change->cmd == FAKTORY_CLEAR || !change->filtered || change->jids_count > 0) {
        return in_set;
    }
    if (!str_absent(change->jobtype) && !str_eq(change->jobtype, task->type)) {
        return false;
    }
    if (str_absent(change->regexp)) {
        return true;
    }
    SCOPED(buf_fini) struct buf compact = BUF_INIT(SIZE_MAX / 2);
    faktory_compact(&compact, job_write(task, NULL, arena));
    return faktory_glob(change->regexp, buf_view(&compact));
}

static void change_task(struct faktory_op *op, const struct mutation *mutation,
                        const struct task *task)
{
    bool dead = mutation->change.target == FAKTORY_DEAD;
    switch (mutation->change.cmd) {
    case FAKTORY_KILL:
        if (!dead) {
            op_command(op, COMMAND_KILL)->one.id = task->id;
        }
        return;
    case FAKTORY_REQUEUE: {
        struct command *command = op_command(op, dead ? COMMAND_REVIVE : COMMAND_CHANGE);
        struct task *to = arena_new(&op->arena, struct task);
        to->scheduled_ms = mutation->now_ms;
        command->one =
            (struct command_one){.id = task->id,
                                 .keeps_retries = true,
                                 .patch = {.given = dead ? 0 : TASK_BIT(scheduled_ms), .to = to}};
        return;
    }
    default: {
        struct command *command = op_command(op, dead ? COMMAND_REMOVE : COMMAND_CANCEL);
        command->one = (struct command_one){.id = task->id, .reason = STR("discarded")};
    }
    }
}

static void mutate_page(struct faktory_op *op);

/* Some of a page may have moved on meanwhile: that they are not there any more is no failure. */
static void page_done(struct faktory_op *op)
{
    struct mutation *mutation = op->own;
    enum err_kind kind = op->failure.kind;
    const struct query *page = mutation->page;
    if (kind == ERR_UNAVAILABLE || kind == ERR_FATAL || kind == ERR_BUSY) {
        op_fail(op, &op->failure);
        return;
    }
    op->failure = ERR_INIT;
    bool named = mutation->change.cmd != FAKTORY_CLEAR && mutation->change.jids_count > 0;
    if (named ? mutation->jid < mutation->change.jids_count : page->rows.more) {
        mutate_page(op);
    } else {
        mutation->done(op);
    }
}

static void page_back(struct faktory_op *op)
{
    struct mutation *mutation = op->own;
    const struct query *page = mutation->page;
    const struct task *found[PAGE];
    size_t count = op_found(page, found, PAGE);
    op->back = page_done;
    op->pending++; /* those that are refused at once come back at once */
    for (size_t i = 0; i < count; i++) {
        if (is_chosen(&mutation->change, found[i], &op->arena)) {
            change_task(op, mutation, found[i]);
        }
    }
    if (--op->pending == 0) {
        page_done(op);
    }
}

static void mutate_page(struct faktory_op *op)
{
    struct mutation *mutation = op->own;
    const struct faktory_change *change = &mutation->change;
    const struct query *last = mutation->page;
    unsigned states = set_states[change->target];
    op->back = page_back;
    if (change->cmd != FAKTORY_CLEAR && change->jids_count > 0) {
        mutation->page = op_find(op, change->jids[mutation->jid++], states, PAGE);
        return;
    }
    mutation->page = op_list(op, states, PAGE);
    if (change->cmd != FAKTORY_CLEAR && !str_absent(change->jobtype)) {
        mutation->page->filter.type = change->jobtype;
    }
    if (last != NULL) {
        mutation->page->filter.before = last->rows.at[last->rows.count - 1].task.id;
    }
    op_ask(op, mutation->page);
}

static struct mutation *mutation_new(struct faktory_op *op, void (*done)(struct faktory_op *op))
{
    struct mutation *mutation = arena_new(&op->arena, struct mutation);
    mutation->now_ms = clock_now(op->faktory->options.api->options.clock).wall_ms;
    mutation->done = done;
    op->own = mutation;
    return mutation;
}

void op_mutate(struct faktory_op *op)
{
    struct err err = ERR_INIT;
    struct mutation *mutation = mutation_new(op, op_ok);
    if (!faktory_read_mutate(op->line.rest, &op->arena, &mutation->change, &err)) {
        op_fail(op, &err);
        return;
    }
    mutate_page(op);
}

/* ---- FLUSH: all jobs, all sets, all counters ---- */

static void counters_back(struct faktory_op *op)
{
    if (op->failure.kind == ERR_NONE) {
        info_start_over(op->faktory, &((struct command *)op->own)->queues);
    }
    op_ok_or_fail(op);
}

static void dead_removed(struct faktory_op *op)
{
    op->back = counters_back;
    op->own = op_command(op, COMMAND_QUEUES);
}

static void reserved_ended(struct faktory_op *op)
{
    if (op->failure.kind != ERR_NONE) {
        op_fail(op, &op->failure);
        return;
    }
    struct mutation *mutation = mutation_new(op, dead_removed);
    mutation->change = (struct faktory_change){.cmd = FAKTORY_CLEAR, .target = FAKTORY_DEAD};
    mutate_page(op);
}

/* What runs was asked to stop. Work outside has no say in it: it ends here, as CANCELLED, and its
 * worker is told when it comes with an end. */
static void reserved_back(struct faktory_op *op)
{
    const struct query *page = op->own;
    op->back = reserved_ended;
    op->pending++;
    for (size_t i = 0; op->failure.kind == ERR_NONE && i < page->rows.count; i++) {
        const struct task *task = &page->rows.at[i].task;
        if (task_worker_reserved(task->worker) || queue_is_own(task->queue)) {
            continue;
        }
        struct finish *finish = arena_new(&op->arena, struct finish);
        *finish = (struct finish){.id = task->id,
                                  .lease = {task->attempt, task->token},
                                  .outcome = OUTCOME_RELEASED,
                                  .cost = TASK_COST_NONE};
        op_command(op, COMMAND_FINISH)->finish = (struct command_finish){finish, 1};
    }
    if (--op->pending == 0) {
        reserved_ended(op);
    }
}

static void live_cancelled(struct faktory_op *op)
{
    if (op->failure.kind != ERR_NONE) {
        op_fail(op, &op->failure);
        return;
    }
    struct query *page = op_list(op, BIT(TASK_RUNNING), FLUSH_RUNNING_MAX);
    page->filter.omit_over = 1;
    op->back = reserved_back;
    op->own = page;
    op_ask(op, page);
}

static void flush_queues(struct faktory_op *op)
{
    const struct command_queues *queues = &((struct command *)op->own)->queues;
    if (op->failure.kind != ERR_NONE) {
        op_fail(op, &op->failure);
        return;
    }
    op->back = live_cancelled;
    op->pending++;
    for (size_t i = 0; i < queues->count; i++) {
        const struct queue_view *view = &queues->views[i];
        struct str name = view->settings.name;
        if (queue_is_own(name)) {
            continue;
        }
        queue_remove(op, view);
        op_command(op, COMMAND_BULK)->bulk =
            (struct command_bulk){.verb = BULK_CANCEL,
                                  .reason = STR("flushed"),
                                  .filter = {.queue = name, .states = LIVE_STATES}};
    }
    if (--op->pending == 0) {
        live_cancelled(op);
    }
}

void op_flush(struct faktory_op *op)
{
    if (!op->faktory->options.flush) {
        op_error(op, "ERR", STR("FLUSH is not allowed here: [faktory] flush = yes allows it"));
        return;
    }
    op->back = flush_queues;
    op->own = op_command(op, COMMAND_QUEUES);
}
