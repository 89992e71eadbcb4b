/* tests/sim/check.c: the promises, after each batch and whenever it is quiet.
 *
 * SPDX-License-Identifier: MIT */
#include "guests.h"

/* ---- What the answers of a batch say ---- */

/* Past its retention: it may have been swept away, which nobody is told. */
static bool is_old(const struct sim *sim, const struct known *known)
{
    return known->seen.state >= TASK_COMPLETED &&
           known->seen.finished_ms + HOUR_MS <= sim_now_ms(sim);
}

static void learn_order(struct sim *sim, const struct order *order)
{
    struct known *known = know_find(sim, order->task.id);
    if (order->skipped) {
        return; /* the child of a task that was known already */
    }
    if (order->known) {
        if (known == NULL || known->gone || known->seen.key != seen_of(&order->task).key) {
            sim_fail(sim, "a create was answered with a task that does not have its key");
        }
        return;
    }
    for (size_t i = 0; known == NULL && i < sim->known_count; i++) {
        const struct known *other = &sim->known[i];
        if (!other->gone && !other->dirty && other->seen.key >= 0 &&
            other->seen.key == seen_of(&order->task).key && !is_old(sim, other)) {
            sim_fail(sim, "two tasks have one key");
        }
    }
    known = know_add(sim, order->task.id);
    known->seen = seen_of(&order->task);
    known->depends = order->task.depends_count > 0;
    known->dirty = true;
}

/* An attempt is handed out once (G2). */
static void learn_lease(struct sim *sim, const struct task *task)
{
    struct known *known = know_find(sim, task->id);
    if (known == NULL) {
        return; /* order_check() complains */
    }
    if (task->attempt <= known->claimed_attempt) {
        sim_fail(sim, "G2: attempt %d of task #%d was handed out twice", task->attempt,
                 know_number(sim, known));
    }
    known->dirty = true;
    known->claimed_attempt = task->attempt;
    known->leases[known->leases_count++ % LEASES_MAX] =
        (struct task_lease){task->attempt, task->token};
}

static void name_bulk(struct sim *sim)
{
    for (size_t i = 0; i < sim->known_count; i++) {
        sim->known[i].dirty = true;
    }
}

static bool is_parent(struct sim *sim, struct task_id id)
{
    const struct known *known = know_find(sim, id);
    return known != NULL && known->seen.container;
}

static void name_ends(struct sim *sim, const struct command_finish *ends)
{
    for (size_t i = 0; i < ends->count; i++) {
        know_name(sim, ends->items[i].id);
    }
}

static void name_all(struct sim *sim, const struct call *call)
{
    const struct command *command = &call->command;
    switch (command->kind) {
    case COMMAND_CREATE:
        for (size_t i = 0; i < command->create.count; i++) {
            learn_order(sim, &command->create.orders[i]);
        }
        break;
    case COMMAND_CLAIM:
        for (size_t i = 0; i < command->claim.count; i++) {
            learn_lease(sim, &command->claim.tasks[i]);
        }
        break;
    case COMMAND_FINISH:
        name_ends(sim, &command->finish);
        break;
    case COMMAND_HEARTBEAT:
        know_name(sim, command->heartbeat.id);
        break;
    case COMMAND_RETURNED:
        if (know_find(sim, command->returned.id) != NULL) {
            know_find(sim, command->returned.id)->strays = false;
        }
        break;
    default:
        if (sim_is_one(command->kind) &&
            (command->kind == COMMAND_REMOVE || is_parent(sim, command->one.id))) {
            name_bulk(sim); /* others change with it, or are told */
        } else if (sim_is_one(command->kind)) {
            know_name(sim, command->one.id);
        }
    }
}

static void learn(struct sim *sim)
{
    for (size_t i = 0; i < sim->calls_count; i++) {
        const struct call *call = sim->calls[i];
        if (call->command.kind == COMMAND_BULK) {
            name_bulk(sim);
        } else if (call->answered && call->command.err.kind == ERR_NONE) {
            name_all(sim, call);
        }
        if (call->command.kind == COMMAND_CLAIM && sim_has_ended(call)) {
            name_ends(sim, &call->command.claim.finish);
        }
    }
}

static void hear(struct sim *sim)
{
    for (size_t i = 0; sim->events != NULL && i < sim->events->count; i++) {
        const struct event *event = &sim->events->events[i];
        struct known *known = know_find(sim, event->task);
        if (event->kind != EVENT_STATE || event->removed) {
            continue;
        }
        known = known == NULL ? know_made(sim, event->task) : known;
        if (known == NULL) {
            sim_fail(sim, "an event told of a task that nobody was told of");
            return;
        }
        known->dirty = true;
        known->told++;
        known->told_state = event->state;
    }
    event_batch_free(sim->events);
    sim->events = NULL;
}

static void note_lost_hints(struct sim *sim)
{
    for (size_t i = 0; i < sim->lost_count; i++) {
        struct known *known = know_find(sim, sim->lost[i]);
        if (known != NULL) {
            known->hint_lost = true;
        }
    }
}

/* ---- One task ---- */

bool check_removal(struct sim *sim, const struct known *known)
{
    if (known->seen.state < TASK_COMPLETED) {
        return false;
    }
    if (is_old(sim, known)) {
        return true;
    }
    const struct known *parent = know_find(sim, known->seen.parent);
    if (parent != NULL && parent->next_gone) {
        return check_removal(sim, parent); /* children go with it */
    }
    for (size_t i = 0; i < sim->calls_count; i++) {
        const struct command *command = &sim->calls[i]->command;
        if (command->kind == COMMAND_REMOVE && sim->calls[i]->answered &&
            command->err.kind == ERR_NONE && id_eq(command->one.id, known->id)) {
            return true;
        }
    }
    return false;
}

static void check_shape(struct sim *sim, const struct known *known)
{
    const struct seen *now = &known->next;
    if (now->retries > now->max_retries) {
        sim_fail(sim, "I3: task #%d used %d of %d retries", know_number(sim, known), now->retries,
                 now->max_retries);
    }
    if ((now->state == TASK_RUNNING && !now->container) != (now->lease_until_ms != 0)) {
        sim_fail(sim, "I4: task #%d is %s and its lease does not fit", know_number(sim, known),
                 task_state_name(now->state));
    }
}

static void check_told(struct sim *sim, const struct known *known, bool is_new)
{
    /* What holds a team's document may have it from the start: it was created, and it runs. */
    bool opened = is_new && !id_none(known->team) && known->next.state == TASK_RUNNING;
    int changes = is_new + (opened || known->next.state != known->seen.state);
    if (known->told != changes || (changes > 0 && known->told_state != known->next.state)) {
        sim_fail(sim, "task #%d went from %s to %s and %d events told so", know_number(sim, known),
                 task_state_name(known->seen.state), task_state_name(known->next.state),
                 known->told);
    }
}

/* Created and started in one commit: the create was answered with what it was before its start. */
static bool was_met(const struct known *known)
{
    return known->seen.state == TASK_QUEUED && known->next.state == TASK_RUNNING;
}

static void check_one(struct sim *sim, struct known *known, bool is_new)
{
    int number = know_number(sim, known);
    if (known->next_gone) {
        if (is_new) {
            sim_fail(sim, "G1: task #%d was answered and is not on the disk", number);
        } else if (!check_removal(sim, known)) {
            sim_fail(sim, "task #%d, %s, is gone", number, task_state_name(known->seen.state));
        }
        return;
    }
    bool same = seen_same(&known->seen, &known->next);
    if (is_new || known->seen.state != known->next.state) {
        sim_trace(sim, "  #%d is %s", number, task_state_name(known->next.state));
    }
    if (!same && ((is_new && !was_met(known)) || sim->commit_failed)) {
        sim_fail(sim, "G1: task #%d is not on the disk as it was answered", number);
    } else if (!same && !explained(sim, known)) {
        sim_fail(sim, "task #%d went from %s to %s (attempt %d to %d) for no reason", number,
                 task_state_name(known->seen.state), task_state_name(known->next.state),
                 known->seen.attempt, known->next.attempt);
    }
    check_shape(sim, known);
    check_told(sim, known, is_new);
}

/* ---- Answers against what happened ---- */

static bool is_current(const struct known *known, struct task_lease lease)
{
    return known->seen.state == TASK_RUNNING && known->seen.attempt == lease.attempt &&
           known->seen.token == lease.token && known->next.state == TASK_RUNNING &&
           known->next.token == lease.token;
}

static void check_finish(struct sim *sim, const struct finish *finish)
{
    const struct known *known = know_find(sim, finish->id);
    if (known == NULL || known->next_gone) {
        return;
    }
    bool overtaken =
        (!id_none(known->seen.parent) || sim_is_led(known)) && known->next.state == TASK_CANCELLED;
    if (finish->err.kind == ERR_NONE && finish->task.state != known->seen.state &&
        finish->task.state != known->next.state && !overtaken) { /* by its parent, or a guest */
        sim_fail(sim, "a finish of task #%d was answered with a state it never had",
                 know_number(sim, known));
    }
    if (finish->err.kind == ERR_NONE && is_current(known, finish->lease)) {
        sim_fail(sim, "G1: a finish of task #%d was answered and it still runs",
                 know_number(sim, known));
    }
    if (finish->err.kind == ERR_LEASE_LOST && is_current(known, finish->lease)) {
        sim_fail(sim, "G2: the current lease of task #%d was refused", know_number(sim, known));
    }
}

static void check_beat(struct sim *sim, const struct command *command)
{
    const struct known *known = know_find(sim, command->heartbeat.id);
    if (known != NULL && command->err.kind == ERR_LEASE_LOST &&
        is_current(known, command->heartbeat.lease)) {
        sim_fail(sim, "G2: the current lease of task #%d was refused", know_number(sim, known));
    }
}

static void check_refused(struct sim *sim, const struct command *command)
{
    const struct known *known = know_find(sim, command->one.id);
    if (known == NULL || known->gone || !seen_same(&known->seen, &known->next)) {
        return;
    }
    bool ended = known->seen.state >= TASK_COMPLETED, child = !id_none(known->seen.parent);
    bool wrong = command->kind == COMMAND_CANCEL ? !ended
                 : command->kind == COMMAND_REVIVE
                     ? ended && known->seen.state != TASK_COMPLETED && !child &&
                           !known->seen.container /* whose children may have been removed */
                     : false;
    if (wrong && command->err.kind == ERR_CONFLICT) {
        sim_fail(sim, "a command on task #%d was refused for no reason", know_number(sim, known));
    }
}

/* After a failed commit nobody may be told that a change was made. */
static void check_failed(struct sim *sim, const struct command *command)
{
    if (command->err.kind == ERR_NONE && command_row(command->kind)->answer == ANSWER_COMMITTED &&
        command->kind != COMMAND_CLAIM_STOP) {
        sim_fail(sim, "G1: a command was answered with success though the commit failed");
    }
}

/* The finishes of a claim, once: after the batch that wrote them. */
static void check_ends(struct sim *sim, struct call *call)
{
    const struct command_finish *ends = &call->command.claim.finish;
    if (call->command.kind != COMMAND_CLAIM || call->ended || !sim_has_ended(call)) {
        return;
    }
    call->ended = true;
    for (size_t i = 0; i < ends->count; i++) {
        check_finish(sim, &ends->items[i]);
    }
}

static void check_answer(struct sim *sim, const struct call *call)
{
    const struct command *command = &call->command;
    if (sim->commit_failed) {
        check_failed(sim, command);
    } else if (command->kind == COMMAND_CLAIM && command->err.kind == ERR_NONE) {
        order_check(sim, call);
    } else if (command->kind == COMMAND_FINISH && command->err.kind == ERR_NONE) {
        check_finish(sim, &command->finish.items[0]);
    } else if (command->kind == COMMAND_HEARTBEAT) {
        check_beat(sim, command);
    } else if (sim_is_one(command->kind)) {
        check_refused(sim, command);
    }
}

/* ---- All together ---- */

static void check_documents(struct sim *sim)
{
    const struct known *holders[DOCUMENTS] = {0};
    for (size_t i = 0; i < sim->known_count; i++) {
        const struct known *known = &sim->known[i];
        int document = known->seen.document;
        if (known->gone || document < 0 || known->seen.state != TASK_RUNNING ||
            known->seen.container) {
            continue;
        }
        bool shared = holders[document] != NULL && !id_none(known->team) &&
                      id_eq(holders[document]->seen.family, known->seen.family) &&
                      !id_none(known->seen.family); /* a team's tasks have it together */
        if (holders[document] != NULL && !shared) {
            sim_fail(sim, "I2: tasks #%d and #%d run on one document",
                     know_number(sim, holders[document]), know_number(sim, known));
        }
        holders[document] = known;
    }
}

void check_batch(struct sim *sim)
{
    size_t before = sim->known_count;
    sim->in_batch = true;
    learn(sim);
    hear(sim);
    note_lost_hints(sim);
    know_look(sim);
    if (sim->guests != NULL) {
        sim->guests->look(sim);
    }
    for (size_t i = 0; i < sim->known_count; i++) {
        if (sim->known[i].dirty && !sim->known[i].gone) {
            check_one(sim, &sim->known[i], i >= before);
        }
    }
    rule_check(sim);
    for (size_t i = 0; i < sim->calls_count; i++) {
        check_ends(sim, sim->calls[i]);
        if (sim->calls[i]->answered) {
            check_answer(sim, sim->calls[i]);
        }
    }
    if (sim->guests != NULL) {
        sim->guests->check(sim);
        sim->guests->settle(sim);
    }
    know_settle(sim);
    relate_refresh(sim);
    for (size_t i = 0; i < sim->calls_count; i++) {
        const struct call *call = sim->calls[i];
        if (call->answered && call->command.kind == COMMAND_QUEUE &&
            call->command.err.kind == ERR_NONE) {
            rule_changed(sim, call);
        }
    }
    check_documents(sim);
    sim->in_batch = false;
}
