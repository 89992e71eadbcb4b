/* tests/sim/teams_check.c: what teams promise, in the words of the contract.
 *
 * A team is over exactly when its tasks are, or when its policy or a client says so; it ends once;
 * nobody works for a team that is over, or waits for it; mailboxes keep what was said, in order.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "teams.h"

static bool is_live(enum task_state state)
{
    return state < TASK_COMPLETED;
}

/* ---- The disk ---- */

struct look {
    struct sim *sim;
    struct teams *all;
    struct arena *arena;
};

static void look_at_team(struct look *look, const struct record *record)
{
    struct err err = ERR_INIT;
    struct team team;
    struct crew *crew = teams_find(look->all, record->id);
    if (!team_load(record, look->arena, &team, &err)) {
        sim_fail(look->sim, "%s", err.text);
        return;
    }
    if (crew == NULL) {
        crew = &look->all->crews[look->all->count++];
        *crew = (struct crew){.id = record->id, .count = team.tasks.count, .policy = team.policy};
        snprintf(crew->queue, sizeof crew->queue, STR_FMT, STR_ARG(team.queue));
        for (size_t i = 0; i < team.tasks.count; i++) {
            crew->tasks[i] = team.tasks.at[i].task;
        }
    }
    crew->next_gone = false;
    crew->next = (struct team_seen){record->version, team.status, !str_absent(team.result)};
}

static void look_at_message(struct look *look, const struct record *record)
{
    struct err err = ERR_INIT;
    struct team_message message;
    struct crew *crew = teams_find(look->all, record->parent);
    if (!team_message_load(record, look->arena, &message, &err)) {
        sim_fail(look->sim, "%s", err.text);
        return;
    }
    if (crew == NULL || crew->next_gone) {
        sim_fail(look->sim, "there is a message of a team that is gone");
        return;
    }
    crew->said++;
    for (size_t i = 0; i < look->all->said_count; i++) {
        if (id_eq(look->all->said[i].id, record->id)) {
            look->all->said[i].next_gone = false;
            return;
        }
    }
    if (look->all->said_count < MESSAGES_OF_SIM) {
        look->all->said[look->all->said_count++] = (struct said){
            .id = record->id, .team = record->parent, .task = message.task, .is_new = true};
    }
}

static void look_at_all(struct look *look, struct tx *tx, enum record_kind kind,
                        void (*each)(struct look *look, const struct record *record))
{
    struct records found;
    struct err err = ERR_INIT;
    const struct record_filter filter = {.kind = kind, .oldest_first = true};
    if (!look->sim->store_hook.inner->records_list(tx, &filter, look->arena, &found, &err)) {
        sim_fail(look->sim, "the records cannot be read: %s", err.text);
        return;
    }
    for (size_t i = 0; i < found.count && !look->sim->failed; i++) {
        each(look, &found.at[i]);
    }
}

void teams_look(struct sim *sim)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct err err = ERR_INIT;
    struct tx *tx = NULL;
    struct teams *all = teams_of(sim);
    struct look look = {sim, all, &arena};
    for (size_t i = 0; i < all->count; i++) {
        all->crews[i].next_gone = true;
        all->crews[i].said = 0;
    }
    for (size_t i = 0; i < all->said_count; i++) {
        all->said[i].next_gone = true;
    }
    if (!sim->store_hook.inner->begin(sim->store, &tx, &err)) {
        sim_fail(sim, "the disk cannot be read: %s", err.text);
        return;
    }
    look_at_all(&look, tx, RECORD_TEAM, look_at_team);
    look_at_all(&look, tx, RECORD_MESSAGE, look_at_message);
    sim->store_hook.inner->abandon(tx);
}

void teams_settle(struct sim *sim)
{
    struct teams *all = teams_of(sim);
    for (size_t i = 0; i < all->count; i++) {
        all->crews[i].seen = all->crews[i].next;
        all->crews[i].gone = all->crews[i].next_gone;
    }
    for (size_t i = 0; i < all->said_count; i++) {
        all->said[i].gone = all->said[i].next_gone;
        all->said[i].is_new = false;
    }
}

/* ---- A team and its tasks, as this batch leaves them ---- */

static int number(const struct teams *all, const struct crew *crew)
{
    return (int)(crew - all->crews);
}

static const struct seen *seen_now(const struct known *known)
{
    return known->dirty ? &known->next : &known->seen;
}

static bool is_gone(const struct known *known)
{
    return known == NULL || (known->dirty ? known->next_gone : known->gone);
}

struct sum {
    size_t live, good, bad, gone;
};

static struct sum add_up(struct sim *sim, const struct crew *crew)
{
    struct sum sum = {0};
    for (size_t i = 0; i < crew->count; i++) {
        const struct known *known = know_find(sim, crew->tasks[i]);
        bool gone = is_gone(known);
        sum.gone += gone;
        sum.live += !gone && is_live(seen_now(known)->state);
        sum.good += !gone && seen_now(known)->state == TASK_COMPLETED;
        sum.bad +=
            !gone && !is_live(seen_now(known)->state) && seen_now(known)->state != TASK_COMPLETED;
    }
    return sum;
}

/* What is left of a team that is over has been told to stop. */
static void check_over(struct sim *sim, const struct teams *all, const struct crew *crew)
{
    for (size_t i = 0; i < crew->count; i++) {
        const struct known *known = know_find(sim, crew->tasks[i]);
        struct task_load load = {.id = crew->tasks[i], .arena = &sim->arena};
        if (is_gone(known) || !is_live(seen_now(known)->state)) {
            continue;
        }
        if (know_load(sim, &load, 1) && load.found &&
            !(load.task.state == TASK_RUNNING && load.task.cancel_requested)) {
            sim_fail(sim, "team %d is %s and its task #%d is %s", number(all, crew),
                     team_statuses[crew->next.status], know_number(sim, known),
                     task_state_name(load.task.state));
        }
    }
}

static void check_team(struct sim *sim, const struct teams *all, const struct crew *crew)
{
    struct sum sum = add_up(sim, crew);
    int status = crew->next.status;
    if (status == TEAM_RUNNING) {
        if (sum.live == 0) {
            sim_fail(sim, "team %d is RUNNING and nothing of it can run", number(all, crew));
        } else if (sum.bad > 0 && crew->policy == TEAM_FAIL) {
            sim_fail(sim, "team %d is RUNNING though one of its tasks has failed",
                     number(all, crew));
        }
        return;
    }
    check_over(sim, all, crew);
    bool ends = crew->seen.version != 0 && crew->seen.status == TEAM_RUNNING;
    if (!ends && crew->seen.version != 0 && crew->seen.status != status) {
        sim_fail(sim, "team %d ended twice", number(all, crew));
    }
    if (ends && status == TEAM_COMPLETED &&
        (sum.live > 0 || sum.good == 0 || !crew->next.has_result ||
         (crew->policy == TEAM_FAIL && sum.bad > 0))) {
        sim_fail(sim, "team %d is COMPLETED: %zu of its tasks are not over, %zu are done, %zu not",
                 number(all, crew), sum.live, sum.good, sum.bad);
    }
    if (ends && status == TEAM_FAILED && sum.bad == 0) {
        sim_fail(sim, "team %d FAILED and none of its tasks has", number(all, crew));
    }
}

static void check_queues(struct sim *sim, const struct teams *all)
{
    for (size_t i = 0; i < all->count; i++) {
        for (size_t j = 0; j < i; j++) {
            const struct crew *a = &all->crews[i], *b = &all->crews[j];
            if (strcmp(a->queue, b->queue) == 0 && !a->next_gone && !b->next_gone &&
                a->next.status == TEAM_RUNNING && b->next.status == TEAM_RUNNING) {
                sim_fail(sim, "teams %zu and %zu have one queue", i, j);
            }
        }
    }
}

/* ---- Mailboxes ---- */

/* A new message comes behind all others of its team; what was said stays as long as the team. */
static void check_mail(struct sim *sim, struct teams *all)
{
    for (size_t i = 0; i < all->said_count; i++) {
        const struct said *said = &all->said[i];
        const struct crew *crew = teams_find(all, said->team);
        if (said->next_gone && !said->gone && !crew->next_gone) {
            sim_fail(sim, "a message of team %d is lost", number(all, crew));
        }
        for (size_t j = 0; said->is_new && j < i; j++) {
            const struct said *other = &all->said[j];
            if (id_eq(other->team, said->team) && other->id.hi >= said->id.hi) {
                sim_fail(sim, "a message of team %d comes before one that was said earlier",
                         number(all, crew));
            }
        }
    }
}

/* The result of each task is said once. */
static void check_results(struct sim *sim, struct teams *all, const struct crew *crew)
{
    for (size_t i = 0; i < crew->count && all->said_count < MESSAGES_OF_SIM; i++) {
        const struct known *known = know_find(sim, crew->tasks[i]);
        size_t told = 0;
        for (size_t j = 0; j < all->said_count; j++) {
            told += !all->said[j].next_gone && id_eq(all->said[j].task, crew->tasks[i]);
        }
        bool done = !is_gone(known) && seen_now(known)->state == TASK_COMPLETED;
        bool late = crew->next.status != TEAM_RUNNING; /* it ended when nobody listened any more */
        if (told > 1 || (done && told == 0 && !late)) {
            sim_fail(sim, "the result of task #%d was said to team %d %zu times",
                     known == NULL ? -1 : know_number(sim, known), number(all, crew), told);
        }
    }
}

/* ---- What was answered ---- */

static void check_answer(struct sim *sim, struct teams *all, const struct lead_order *order)
{
    const struct crew *crew =
        teams_find(all, order->verb == LEAD_CREATE ? order->team.id : order->id);
    if (crew == NULL) {
        sim_fail(sim, "G1: a wish was granted to a team that is not on the disk");
    } else if (order->verb == LEAD_END && !crew->next_gone &&
               (order->removed || crew->next.status == TEAM_RUNNING)) {
        sim_fail(sim, "G1: team %d was ended and is not", number(all, crew));
    } else if (order->verb == LEAD_SAY && !crew->next_gone) {
        bool found = all->said_count == MESSAGES_OF_SIM;
        for (size_t i = 0; i < all->said_count; i++) {
            found = found || id_eq(all->said[i].id, order->message.id);
        }
        if (!found) {
            sim_fail(sim, "G1: a message to team %d was taken and is not there", number(all, crew));
        }
    }
}

/* How often a client has ended it in this batch: the first time cancels it, the second removes it.
 */
static size_t ends(const struct sim *sim, const struct crew *crew)
{
    size_t n = 0;
    for (size_t i = 0; i < sim->calls_count; i++) {
        const struct command *command = &sim->calls[i]->command;
        const struct lead_order *order =
            command->kind == COMMAND_GUEST ? command->guest.what : NULL;
        n += order != NULL && sim->calls[i]->answered && order->verb == LEAD_END &&
             id_eq(order->id, crew->id);
    }
    return n;
}

/* ---- After each batch, and when it is quiet ---- */

void teams_check(struct sim *sim)
{
    struct teams *all = teams_of(sim);
    for (size_t i = 0; i < all->count && !sim->failed; i++) {
        const struct crew *crew = &all->crews[i];
        if (!crew->next_gone) {
            check_team(sim, all, crew);
            check_results(sim, all, crew);
        } else if (!crew->gone && crew->seen.status == TEAM_RUNNING && ends(sim, crew) < 2) {
            sim_fail(sim, "team %zu was RUNNING and is gone", i);
        }
    }
    check_queues(sim, all);
    check_mail(sim, all);
    for (size_t i = 0; i < sim->calls_count && !sim->failed; i++) {
        const struct command *command = &sim->calls[i]->command;
        if (command->kind == COMMAND_GUEST && sim->calls[i]->answered &&
            command->err.kind == ERR_NONE) {
            check_answer(sim, all, command->guest.what);
        }
    }
}

/* Whoever waits for tasks of a team is told when there will be none. One who comes just then is
 * not: it must look again. */
void teams_quiet(struct sim *sim)
{
    const struct teams *all = teams_of(sim);
    for (size_t i = 0; i < sim->calls_count; i++) {
        const struct command *command = &sim->calls[i]->command;
        bool open = false;
        if (command->kind != COMMAND_CLAIM || command->claim.queues_count != 1 ||
            !str_starts(command->claim.queues[0], STR("team/"))) {
            continue;
        }
        for (size_t j = 0; j < all->count; j++) {
            const struct crew *crew = &all->crews[j];
            open = open || (!crew->gone && crew->seen.status == TEAM_RUNNING &&
                            str_is(command->claim.queues[0], crew->queue));
        }
        sim->calls[i]->in_line = sim->calls[i]->in_line || open;
        if (!open && sim->calls[i]->in_line && sim_now_ms(sim) >= sim->paused_until_ms) {
            sim_fail(sim, "a claim waits for a team that is over");
        }
    }
}

void teams_restart(struct sim *sim, bool kept)
{
    struct teams *all = teams_of(sim);
    teams_look(sim);
    for (size_t i = 0; i < all->count && !kept; i++) {
        const struct crew *crew = &all->crews[i];
        if (crew->gone != crew->next_gone ||
            (!crew->gone && crew->seen.version != crew->next.version)) {
            sim_fail(sim, "G1: team %zu is not what it was before a crash", i);
        }
    }
    teams_settle(sim);
}
