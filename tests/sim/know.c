/* tests/sim/know.c: what the sim knows of the tasks: found on the disk, compared field by field.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "guests.h"
#include "queue/turn.h"
#include "task/reserved.h"

const struct str sim_queues[QUEUES] = {{"default", 7}, {"qa", 2}, {"qb", 2}, {"deliveries", 10}};
const struct str sim_types[TYPES] = {{"t0", 2},
                                     {"t1", 2},
                                     {"deliver.email", 13},
                                     {"deliver.web", 11},
                                     {"deliver.mobile", 14},
                                     {"team.task", 9},
                                     {"team.document", 13},
                                     {"team.turn", 9}};
const struct str sim_documents[DOCUMENTS] = {{"d0", 2}, {"d1", 2}, {"d2", 2}};
const struct str sim_keys[KEYS] = {{"k0", 2}, {"k1", 2}, {"k2", 2}, {"k3", 2}, {"k4", 2}};
const struct str sim_workers[WORKERS] = {
    {"w0", 2}, {"w1", 2}, {"w2", 2}, {"errand:run:1", 12}, {"errand:exec:1", 13}};

static int place(struct str name, const struct str *names, int count)
{
    for (int i = 0; i < count; i++) {
        if (str_eq(name, names[i])) {
            return i;
        }
    }
    return -1;
}

#define TEAM_QUEUES 1000

struct str know_queue(const struct known *known)
{
    return known->seen.queue < QUEUES ? sim_queues[known->seen.queue] : str_of(known->queue);
}

/* Behind the others: those of teams, then those in which their turns lie. */
static int queue_place(struct str name)
{
    uint64_t number = 0;
    if (!str_starts(name, STR(RESERVED_TEAM_QUEUE))) {
        return place(name, sim_queues, QUEUES);
    }
    struct str rest = str_from(name, sizeof RESERVED_TEAM_QUEUE - 1);
    bool turn = str_ends(rest, STR(TURN_QUEUE_SUFFIX));
    rest.len -= turn ? sizeof TURN_QUEUE_SUFFIX - 1 : 0;
    (void)!str_u64(rest, &number);
    return QUEUES - 1 + (int)number + (turn ? TEAM_QUEUES : 0);
}

struct seen seen_of(const struct task *task)
{
    return (struct seen){.state = task->state,
                         .priority = task->priority,
                         .outcome = task->outcome,
                         .attempt = task->attempt,
                         .retries = task->retries,
                         .max_retries = task->max_retries,
                         .timeout_ms = task->timeout_ms,
                         .scheduled_ms = task->scheduled_ms,
                         .queued_ms = task->queued_ms,
                         .started_ms = task->started_ms,
                         .finished_ms = task->finished_ms,
                         .lease_until_ms = task->lease_until_ms,
                         .expires_ms = task->expires_ms,
                         .token = task->token,
                         .cancel_requested = task->cancel_requested,
                         .queue = queue_place(task->queue),
                         .type = place(task->type, sim_types, TYPES),
                         .document = place(task->document, sim_documents, DOCUMENTS),
                         .key = place(task->key, sim_keys, KEYS),
                         .parent = task->parent,
                         .family = task->family,
                         .container = task->container,
                         .continues = task->continues,
                         .runs_anyway = task->runs_anyway,
                         .kind = task->state == TASK_RUNNING ? task_worker_kind(task->worker)
                                                             : WORKER_REMOTE,
                         .cost = task->cost};
}

struct hint know_hint(const struct known *known)
{
    const struct seen *seen = &known->seen;
    return (struct hint){.id = known->id,
                         .type = sim_types[seen->type],
                         .queue = know_queue(known),
                         .document = seen->document < 0 ? STR_NONE : sim_documents[seen->document],
                         .priority = seen->priority,
                         .queued_ms = seen->queued_ms};
}

bool seen_same(const struct seen *a, const struct seen *b)
{
    return a->state == b->state && a->priority == b->priority && a->outcome == b->outcome &&
           a->attempt == b->attempt && a->retries == b->retries &&
           a->max_retries == b->max_retries && a->timeout_ms == b->timeout_ms &&
           a->scheduled_ms == b->scheduled_ms && a->queued_ms == b->queued_ms &&
           a->started_ms == b->started_ms && a->finished_ms == b->finished_ms &&
           a->lease_until_ms == b->lease_until_ms && a->expires_ms == b->expires_ms &&
           a->token == b->token && a->cancel_requested == b->cancel_requested &&
           a->queue == b->queue && a->type == b->type && a->document == b->document &&
           a->key == b->key;
}

struct known *know_find(struct sim *sim, struct task_id id)
{
    for (size_t i = 0; i < sim->known_count; i++) {
        if (id_eq(sim->known[i].id, id)) {
            return &sim->known[i];
        }
    }
    return NULL;
}

struct known *know_add(struct sim *sim, struct task_id id)
{
    struct known *known = &sim->known[sim->known_count++];
    *known = (struct known){.id = id};
    return known;
}

/* Whose it is, it says itself. */
struct known *know_made(struct sim *sim, struct task_id id)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct task_load load = {.id = id, .arena = &arena, .whole = true};
    if (sim->guests == NULL || !know_load(sim, &load, 1) || !load.found) {
        return NULL;
    }
    struct known *known = know_add(sim, id);
    known->seen = seen_of(&load.task);
    known->depends = true; /* perhaps: on the run before it */
    snprintf(known->queue, sizeof known->queue, STR_FMT, STR_ARG(load.task.queue));
    if (!sim->guests->learn(sim, known, &load.task)) {
        sim->known_count--;
        return NULL;
    }
    sim->made++;
    return known;
}

int know_number(const struct sim *sim, const struct known *known)
{
    return (int)(known - sim->known);
}

void know_name(struct sim *sim, struct task_id id)
{
    struct known *known = know_find(sim, id);
    if (known != NULL) {
        known->dirty = true;
    }
}

/* Past the hooks: the disk as it is. */
bool know_load(struct sim *sim, struct task_load *loads, size_t n)
{
    struct err err = ERR_INIT;
    struct tx *tx = NULL;
    const struct store_ops *inner = sim->store_hook.inner;
    if (!inner->begin(sim->store, &tx, &err)) {
        return sim_fail(sim, "the disk cannot be read: %s", err.text);
    }
    bool ok = inner->load(tx, loads, n, &err);
    inner->abandon(tx);
    return ok || sim_fail(sim, "the disk cannot be read: %s", err.text);
}

void know_look(struct sim *sim)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct task_load loads[TASKS_MAX];
    struct known *asked[TASKS_MAX];
    size_t n = 0;
    for (size_t i = 0; i < sim->known_count; i++) {
        if (sim->known[i].dirty && !sim->known[i].gone) {
            asked[n] = &sim->known[i];
            loads[n++] = (struct task_load){.id = sim->known[i].id, .arena = &arena};
        }
    }
    if (n == 0 || !know_load(sim, loads, n)) {
        return;
    }
    for (size_t i = 0; i < n; i++) {
        asked[i]->next_gone = !loads[i].found;
        asked[i]->next = loads[i].found ? seen_of(&loads[i].task) : asked[i]->seen;
    }
}

static void settle_cancel(const struct sim *sim, struct known *known)
{
    bool asked = known->next.state == TASK_RUNNING && known->next.cancel_requested &&
                 known->next.kind == WORKER_REMOTE && !known->next.container;
    if (!asked) {
        known->cancel_at_ms = 0;
    } else if (known->cancel_at_ms == 0) {
        known->cancel_at_ms = sim_now_ms(sim) + 10000;
    }
}

/* A run function cannot be stopped by force: its attempt ends without it. So does whatever runs in
 * the server when its document is taken away; nothing runs of the last process. */
static void settle_attempt(struct known *known)
{
    bool ended = known->seen.state == TASK_RUNNING &&
                 (known->next.state != TASK_RUNNING || known->next.attempt != known->seen.attempt);
    if (ended) {
        known->strays =
            (known->seen.kind == WORKER_RUN && known->gives_up) ||
            (known->seen.kind != WORKER_REMOTE && known->taken_back && !known->orphaned);
        known->stop_at_ms = 0;
        known->orphaned = known->gives_up = known->taken_back = false;
    }
}

void know_settle(struct sim *sim)
{
    for (size_t i = 0; i < sim->known_count; i++) {
        struct known *known = &sim->known[i];
        if (known->dirty && !known->gone) {
            settle_cancel(sim, known);
            settle_attempt(known);
            known->gone = known->next_gone;
            known->seen = known->next;
        }
        known->dirty = false;
        known->told = 0;
        known->told_removed = false;
    }
}

/* ---- After a crash ---- */

/* A commit that was under way may have brought tasks that nobody was told of. */
static void discover(struct sim *sim)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct err err = ERR_INIT;
    struct reader *reader = NULL;
    struct task_rows rows;
    struct task_filter all = {.limit = 2 * TASKS_MAX};
    if (!reader_open(sim->store, &reader, &err) ||
        !reader_list(reader, &all, &arena, &rows, &err)) {
        sim_fail(sim, "the disk cannot be listed: %s", err.text);
        reader_close(reader);
        return;
    }
    for (size_t i = rows.count; i-- > 0;) {
        if (know_find(sim, rows.at[i].task.id) == NULL &&
            know_made(sim, rows.at[i].task.id) == NULL) {
            struct known *known = know_add(sim, rows.at[i].task.id);
            known->seen = seen_of(&rows.at[i].task);
            known->depends = true; /* perhaps: nobody was told */
        }
    }
    reader_close(reader);
}

/* What was answered must be there, exactly; only the batch that was cut off may have gone either
 * way, and even that may not touch what had ended well. */
static void check_kept(struct sim *sim, struct known *known, bool kept)
{
    bool same =
        known->next_gone ? check_removal(sim, known) : seen_same(&known->seen, &known->next);
    if (!kept && !same) {
        sim_fail(sim, "G1: task #%d was %s and is %s after a crash", know_number(sim, known),
                 task_state_name(known->seen.state),
                 known->next_gone ? "gone" : task_state_name(known->next.state));
    }
    if (known->seen.state == TASK_COMPLETED && !known->next_gone &&
        known->next.state != TASK_COMPLETED) {
        sim_fail(sim, "I1: task #%d was COMPLETED before a crash", know_number(sim, known));
    }
}

void know_look_after_crash(struct sim *sim, bool kept)
{
    size_t before = sim->known_count;
    for (size_t i = 0; i < sim->known_count; i++) {
        sim->known[i].dirty = true;
        sim->known[i].hint_lost = sim->known[i].hint_stale = sim->known[i].strays = false;
        sim->known[i].stop_at_ms = 0;
        sim->known[i].cancel_at_ms = 0; /* the grace period begins anew */
    }
    know_look(sim);
    for (size_t i = 0; i < sim->known_count; i++) {
        if (!sim->known[i].gone) {
            check_kept(sim, &sim->known[i], kept);
        }
    }
    know_settle(sim);
    discover(sim);
    for (size_t i = 0; i < sim->known_count; i++) {
        struct known *known = &sim->known[i];
        known->orphaned = known->seen.state == TASK_RUNNING && known->seen.kind != WORKER_REMOTE;
        known->leases_count = known->orphaned ? 0 : known->leases_count; /* its worker is gone */
    }
    if (!kept && sim->known_count != before) {
        sim_fail(sim, "a crash made tasks that nobody ordered");
    }
}
