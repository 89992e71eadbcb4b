/* tests/sim/quiet.c: what must hold when the engine has nothing left to do: nothing is late, nobody
 * waits for what is there, memory and disk say the same.
 *
 * SPDX-License-Identifier: MIT */
#include "guests.h"

#define WHOLE_EVERY 8 /* quiet moments between two looks at everything */

static bool overdue(const struct known *known, int64_t now_ms)
{
    const struct seen *seen = &known->seen;
    bool expires = seen->expires_ms != 0 && seen->attempt == 0 &&
                   seen->queued_ms < seen->expires_ms && seen->expires_ms <= now_ms;
    switch (seen->state) {
    case TASK_SCHEDULED:
        return expires || seen->scheduled_ms <= now_ms;
    case TASK_RETRYING:
        return !known->strays && seen->scheduled_ms <= now_ms;
    case TASK_QUEUED:
    case TASK_WAITING:
        return expires;
    case TASK_RUNNING:
        if (seen->kind != WORKER_REMOTE) {
            return known->orphaned || (seen->kind == WORKER_RUN && known->stop_at_ms != 0 &&
                                       known->stop_at_ms <= now_ms);
        }
        return (!seen->container && seen->lease_until_ms <= now_ms) ||
               (known->cancel_at_ms != 0 && known->cancel_at_ms <= now_ms);
    default:
        return false;
    }
}

static void check_time(struct sim *sim)
{
    for (size_t i = 0; i < sim->known_count; i++) {
        if (!sim->known[i].gone && overdue(&sim->known[i], sim_now_ms(sim))) {
            sim_fail(sim, "G5, G7: task #%zu is %s past its time", i,
                     task_state_name(sim->known[i].seen.state));
        }
    }
}

static void check_waiting(struct sim *sim)
{
    for (size_t i = 0; i < sim->calls_count; i++) {
        const struct command *command = &sim->calls[i]->command;
        const struct known *ready =
            command->kind == COMMAND_CLAIM ? order_ready(sim, &command->claim) : NULL;
        /* Claims that ask the rows look once a second; a document is let go without their hearing
         * it. */
        bool looks = (outage_relied_on(sim) && outage_complete(sim)) ||
                     (sim->passed_ms >= SECOND_MS && ready != NULL && ready->seen.document < 0);
        if (ready != NULL && looks) {
            sim_fail(sim, "a claim sleeps though task #%d is ready", know_number(sim, ready));
        }
        if (command->kind == COMMAND_CLAIM && !command->claim.wait) {
            sim_fail(sim, "a claim is in line though it was stopped, or never meant to wait");
        }
    }
}

/* I5: a document is held for the task that runs on it, and by nobody else but a family that has
 * begun; and the broker holds exactly what the store holds. */
static void check_held(struct sim *sim, int document)
{
    struct broker_document found;
    struct task_id kept = memory_disk_holder(sim->disk, sim_documents[document]);
    struct task_id runs = TASK_ID_NONE;
    broker_document(sim->broker, sim_documents[document], 0, &sim->arena, &found);
    for (size_t i = 0; i < sim->known_count; i++) {
        const struct known *known = &sim->known[i];
        if (!known->gone && known->seen.document == document && known->seen.state == TASK_RUNNING &&
            !known->seen.container) {
            runs = relate_holder(&known->seen, known->id);
        }
    }
    if (!id_none(runs) && relate_strays(sim, document)) {
        sim_fail(sim, "G3: a task runs on document %d beside a run function that was given up",
                 document);
    }
    if (!id_none(runs) && !id_eq(runs, kept)) {
        sim_fail(sim, "I5: a task runs on document %d and does not hold it", document);
    }
    if (found.held != !id_none(kept) || (found.held && !id_eq(found.holder, kept))) {
        sim_fail(sim, "I5: document %d is %s in the broker and %s in the store", document,
                 found.held ? "held" : "free", id_none(kept) ? "free" : "held by another");
    }
}

static void check_broker(struct sim *sim)
{
    for (int document = 0; document < DOCUMENTS && outage_complete(sim); document++) {
        check_held(sim, document);
    }
}

/* ---- Everything, now and then ---- */

/* A document that is kept for a run function is held by a task that has ended. */
static void found_wrong(void *arg, const char *invariant, const char *sentence)
{
    bool kept = false;
    for (int document = 0; document < DOCUMENTS; document++) {
        kept = kept || relate_strays(arg, document);
    }
    if (!kept || strcmp(invariant, "I5") != 0) {
        sim_fail(arg, "%s: %s", invariant, sentence);
    }
}

static void check_disk(struct sim *sim)
{
    struct err err = ERR_INIT;
    for (size_t i = 0; i < sim->known_count; i++) {
        sim->known[i].dirty = true;
    }
    know_look(sim);
    for (size_t i = 0; i < sim->known_count; i++) {
        const struct known *known = &sim->known[i];
        bool same =
            known->next_gone ? check_removal(sim, known) : seen_same(&known->seen, &known->next);
        if (!known->gone && !same) {
            sim_fail(sim, "task #%zu changed on the disk and nobody was told", i);
        }
    }
    know_settle(sim);
    if (!sim->store_hook.inner->check(sim->store, found_wrong, sim, &err)) {
        sim_fail(sim, "the doctor failed: %s", err.text);
    }
}

static void check_counts(struct sim *sim)
{
    struct store_counts counts;
    struct err err = ERR_INIT;
    int64_t rows = 0, known = 0;
    if (!store_counts(sim->store, &sim->arena, &counts, &err)) {
        sim_fail(sim, "the counters cannot be read: %s", err.text);
        return;
    }
    for (size_t i = 0; i < counts.count; i++) {
        for (int state = 0; state < TASK_STATES; state++) {
            rows += counts.at[i].tasks[state];
        }
    }
    for (size_t i = 0; i < sim->known_count; i++) {
        known += !sim->known[i].gone;
    }
    if (rows != known) {
        sim_fail(sim, "I7: %lld tasks are counted, %lld are known", (long long)rows,
                 (long long)known);
    }
}

void check_quiet(struct sim *sim)
{
    if (sim_now_ms(sim) >= sim->paused_until_ms) {
        check_time(sim);
        check_waiting(sim);
    }
    check_broker(sim);
    relate_check(sim);
    if (sim->guests != NULL) {
        sim->guests->quiet(sim);
    }
    if (sim_pick(sim, WHOLE_EVERY) == 0) {
        check_disk(sim);
        check_counts(sim);
    }
}
