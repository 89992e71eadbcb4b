/* tests/sim/relate.c: what parents, children and dependencies promise: no history ends in a dead
 * end.
 *
 * This is the reference: what must hold between tasks whenever nothing is left to do, in the words
 * of the contract and without the engine's code. How they came to be so is not asked.
 *
 * SPDX-License-Identifier: MIT */
#include "sim.h"

static bool is_live(enum task_state state)
{
    return state < TASK_COMPLETED;
}

static bool is_bad(enum task_state state)
{
    return !is_live(state) && state != TASK_COMPLETED;
}

static bool waits(enum task_state state)
{
    return is_live(state) && state != TASK_RUNNING;
}

struct task_id relate_holder(const struct seen *seen, struct task_id id)
{
    return id_none(seen->family) ? id : seen->family;
}

bool relate_strays(const struct sim *sim, int document)
{
    for (size_t i = 0; i < sim->known_count; i++) {
        const struct known *known = &sim->known[i];
        if (known->strays && known->seen.document == document) {
            return true; /* also one whose task was removed meanwhile */
        }
    }
    return false;
}

/* ---- Changes that others cause ---- */

static bool opened_or_ended(const struct seen *was, const struct seen *now)
{
    return now->attempt == 0 && now->lease_until_ms == 0 &&
           (now->state == TASK_RUNNING || !is_live(now->state) || waits(was->state) ||
            is_bad(was->state));
}

/* Nobody but its worker, or time, ends an attempt: of one that runs only a cancel is asked for. */
static bool moved(const struct seen *was, const struct seen *now)
{
    if (was->state == TASK_RUNNING) {
        return now->state == TASK_RUNNING && now->token == was->token && now->cancel_requested;
    }
    if (now->attempt != was->attempt || now->state == TASK_RUNNING) {
        return false;
    }
    if (is_live(was->state)) {
        return is_live(now->state) || now->state == TASK_CANCELLED;
    }
    return was->state != TASK_COMPLETED && now->state != TASK_COMPLETED; /* retried, or again bad */
}

bool relate_explains(const struct sim *sim, const struct known *known)
{
    const struct seen *was = &known->seen, *now = &known->next;
    (void)sim;
    if (was->container) {
        return was->state != TASK_COMPLETED && opened_or_ended(was, now);
    }
    bool related = !id_none(was->parent) || known->depends;
    return related && moved(was, now);
}

/* A parent's cancel and its priority reach its members without a change of their states, so no
 * event tells of them. */
void relate_refresh(struct sim *sim)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct task_load loads[TASKS_MAX];
    struct known *asked[TASKS_MAX];
    size_t n = 0;
    for (size_t i = 0; i < sim->known_count; i++) {
        struct known *known = &sim->known[i];
        if (!known->gone && is_live(known->seen.state) &&
            (known->seen.container || !id_none(known->seen.parent) || sim_is_led(known))) {
            asked[n] = known;
            loads[n++] = (struct task_load){.id = known->id, .arena = &arena};
        }
    }
    if (n == 0 || !know_load(sim, loads, n)) {
        return;
    }
    for (size_t i = 0; i < n; i++) {
        struct seen *seen = &asked[i]->seen;
        seen->priority = loads[i].task.priority;
        if (loads[i].task.cancel_requested && !seen->cancel_requested) {
            seen->cancel_requested = true;
            asked[i]->cancel_at_ms = seen->container ? 0 : sim_now_ms(sim) + 10000;
        }
    }
}

/* ---- Families ---- */

struct family {
    const struct known *parent;
    const struct known *at[TASKS_MAX];
    size_t count;
};

static bool gather(struct sim *sim, const struct known *parent, struct family *family)
{
    struct err err = ERR_INIT;
    struct tx *tx = NULL;
    struct kin_list kin = {0};
    struct kin_query query = {.kinship = KIN_CHILDREN, .ids = &parent->id, .count = 1};
    const struct store_ops *inner = sim->store_hook.inner;
    *family = (struct family){.parent = parent};
    if (!inner->begin(sim->store, &tx, &err) || !inner->kin(tx, &query, &sim->arena, &kin, &err)) {
        return sim_fail(sim, "the disk cannot be read: %s", err.text);
    }
    inner->abandon(tx);
    for (size_t i = 0; i < kin.count; i++) {
        const struct known *child = know_find(sim, kin.at[i].id);
        if (child != NULL && !child->gone) {
            family->at[family->count++] = child;
        }
    }
    return true;
}

static void broken(struct sim *sim, const struct family *family, const struct known *child,
                   const char *what)
{
    sim_fail(sim, "parent #%d is %s and child #%d is %s: %s", know_number(sim, family->parent),
             task_state_name(family->parent->seen.state), know_number(sim, child),
             task_state_name(child->seen.state), what);
}

static const struct known *first_live(const struct family *family)
{
    for (size_t i = 0; i < family->count; i++) {
        if (is_live(family->at[i]->seen.state)) {
            return family->at[i];
        }
    }
    return NULL;
}

/* A parent is open exactly as long as something in it can still run. */
static void check_open(struct sim *sim, const struct family *family, const struct known *next)
{
    const struct seen *parent = &family->parent->seen;
    bool all_well = true;
    for (size_t i = 0; i < family->count; i++) {
        all_well = all_well && family->at[i]->seen.state == TASK_COMPLETED;
    }
    if (family->count == 0) { /* they were removed when all was over */
        if (is_live(parent->state)) {
            sim_fail(sim, "parent #%d has no children", know_number(sim, family->parent));
        }
    } else if (next == NULL && is_live(parent->state)) {
        broken(sim, family, family->at[0], "no child can run any more");
    } else if (next != NULL && !is_live(parent->state)) {
        broken(sim, family, next, "its parent has ended");
    } else if (next == NULL && !all_well && parent->state == TASK_COMPLETED) {
        broken(sim, family, family->at[0], "a parent is COMPLETED when all its children are");
    }
}

/* The first that has not ended has its turn, and nobody else. */
static void check_turns(struct sim *sim, const struct family *family, const struct known *next)
{
    const struct seen *parent = &family->parent->seen;
    bool begun = parent->state == TASK_QUEUED || parent->state == TASK_RUNNING;
    for (size_t i = 0; i < family->count; i++) {
        const struct known *child = family->at[i];
        enum task_state state = child->seen.state;
        bool has_turn = is_live(state) && state != TASK_WAITING;
        if (has_turn && (!begun || child != next)) {
            broken(sim, family, child, "it is not its turn");
        }
        if (state == TASK_WAITING && begun && child == next) {
            broken(sim, family, child, "its turn has come, and it waits");
        }
        if ((state == TASK_RUNNING || state == TASK_RETRYING) && parent->state != TASK_RUNNING) {
            broken(sim, family, child, "its parent is not open");
        }
    }
}

/* What is not wanted any more is cancelled: behind a bad end, and in a family that is to stop. */
static void check_stopped(struct sim *sim, const struct family *family)
{
    const struct seen *parent = &family->parent->seen;
    bool stopped = parent->cancel_requested;
    for (size_t i = 0; i < family->count; i++) {
        const struct seen *child = &family->at[i]->seen;
        bool stops = child->state == TASK_RUNNING && child->cancel_requested;
        if (stopped && is_live(child->state) && !stops) {
            broken(sim, family, family->at[i], "it should have been cancelled");
        }
        stopped = stopped || (is_bad(child->state) && !parent->continues);
    }
}

static void check_family(struct sim *sim, const struct known *parent)
{
    struct family family;
    if (gather(sim, parent, &family)) {
        const struct known *next = first_live(&family);
        check_open(sim, &family, next);
        if (is_live(parent->seen.state)) {
            check_turns(sim, &family, next);
            check_stopped(sim, &family);
        }
    }
}

/* ---- Dependencies ---- */

/* A dependency is counted once, and exists; whoever waits has something to wait for. */
static void check_dependent(struct sim *sim, const struct known *known)
{
    struct err err = ERR_INIT;
    struct tx *tx = NULL;
    struct kin_list kin = {0};
    struct kin_query query = {.kinship = KIN_DEPENDENCIES, .ids = &known->id, .count = 1};
    struct task_load load = {.id = known->id, .arena = &sim->arena};
    int32_t open = 0;
    const struct store_ops *inner = sim->store_hook.inner;
    if (!inner->begin(sim->store, &tx, &err) || !inner->load(tx, &load, 1, &err) ||
        !inner->kin(tx, &query, &sim->arena, &kin, &err)) {
        sim_fail(sim, "the disk cannot be read: %s", err.text);
        return;
    }
    inner->abandon(tx);
    for (size_t i = 0; i < kin.count; i++) {
        const struct known *on = know_find(sim, kin.at[i].id);
        open +=
            on != NULL && !on->gone &&
            (known->seen.runs_anyway ? is_live(on->seen.state) : on->seen.state != TASK_COMPLETED);
    }
    if (open == 0) {
        sim_fail(sim, "task #%d is WAITING for nothing", know_number(sim, known));
    } else if (open != load.task.unmet) {
        sim_fail(sim, "task #%d waits for %d dependencies and counts %d", know_number(sim, known),
                 open, load.task.unmet);
    }
}

void relate_check(struct sim *sim)
{
    for (size_t i = 0; i < sim->known_count && !sim->failed; i++) {
        const struct known *known = &sim->known[i];
        if (!known->gone && known->seen.container && id_none(known->team)) {
            check_family(sim, known);
        }
        if (!known->gone && id_none(known->seen.parent) && known->seen.state == TASK_WAITING) {
            check_dependent(sim, known);
        }
    }
}
