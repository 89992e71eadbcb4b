/* tests/sim/teams_step.c: what clients and agents do with teams, as the dice fall.
 *
 * SPDX-License-Identifier: MIT */
#include "teams.h"

static const struct crew *any_team(struct sim *sim)
{
    const struct teams *all = teams_of(sim);
    return all->count == 0 ? NULL : &all->crews[sim_pick(sim, all->count)];
}

static void give(struct sim *sim, struct lead_order order)
{
    struct lead_order *asked = arena_new(&sim->arena, struct lead_order);
    struct call *call = world_call(sim, COMMAND_GUEST);
    *asked = order;
    lead_ask(teams_of(sim)->lead, &call->command, asked);
    world_give(sim, call);
}

/* Some tasks; each may wait for some of those before it. */
static struct team_tasks any_tasks(struct sim *sim)
{
    size_t count = 1 + sim_pick(sim, TEAM_TASKS_OF_SIM);
    struct team_tasks tasks = {arena_array(&sim->arena, struct team_task, count), count};
    for (size_t i = 0; i < count; i++) {
        struct team_task *task = &tasks.at[i];
        task->ref = arena_printf(&sim->arena, "r%zu", i);
        task->title = task->ref;
        task->document = sim_chance(sim, 25) ? sim_documents[sim_pick(sim, DOCUMENTS)] : STR_NONE;
        task->depends_on.at = arena_array(&sim->arena, struct str, i + 1);
        for (size_t j = 0; j < i; j++) {
            if (sim_chance(sim, 30)) {
                task->depends_on.at[task->depends_on.count++] = tasks.at[j].ref;
            }
        }
    }
    return tasks;
}

/* Two teams, each with a document and a task that asks for the other's, wait for each other until
 * somebody cancels one: no team here asks for a second document. */
static void share_document(struct team *team)
{
    for (size_t i = 0; i < team->tasks.count; i++) {
        struct team_task *task = &team->tasks.at[i];
        task->document = str_absent(task->document) ? STR_NONE : team->document;
    }
}

static void do_begin(struct sim *sim)
{
    struct err err = ERR_INIT;
    struct team team = TEAM_INIT;
    if (teams_of(sim)->count + sim->calls_count >= TEAMS_MAX) {
        return;
    }
    team.prompt = STR("p");
    team.policy = sim_chance(sim, 50) ? TEAM_FAIL : TEAM_CONTINUE;
    team.tasks = any_tasks(sim);
    if (sim->whole && sim_chance(sim, 60)) {
        team.document = sim_documents[sim_pick(sim, DOCUMENTS)];
        share_document(&team);
    }
    if (!team_tasks_check(&team.tasks, &sim->arena, &err)) {
        sim_fail(sim, "a team is refused: %s", err.text);
        return;
    }
    sim_trace(sim, "begin a team of %zu tasks, policy %d", team.tasks.count, team.policy);
    give(sim, (struct lead_order){.verb = LEAD_CREATE, .team = team});
}

static void do_end(struct sim *sim)
{
    const struct crew *crew = any_team(sim);
    if (crew != NULL) {
        sim_trace(sim, "end team %zu", (size_t)(crew - teams_of(sim)->crews));
        give(sim, (struct lead_order){.verb = LEAD_END, .id = crew->id});
    }
}

static void do_say(struct sim *sim)
{
    const struct crew *crew = any_team(sim);
    if (crew != NULL && teams_of(sim)->said_count + 50 < MESSAGES_OF_SIM) {
        sim_trace(sim, "say to team %zu", (size_t)(crew - teams_of(sim)->crews));
        give(sim,
             (struct lead_order){.verb = LEAD_SAY,
                                 .id = crew->id,
                                 .message = {.from = sim_workers[0], .body = STR("\"hello\"")}});
    }
}

/* An agent asks for a task of one team, and may wait for it. */
static void do_ask(struct sim *sim)
{
    const struct crew *crew = any_team(sim);
    if (crew == NULL || crew->gone || crew->seen.status != TEAM_RUNNING) {
        return;
    }
    struct call *call = world_call(sim, COMMAND_CLAIM);
    struct str *queue = arena_new(&sim->arena, struct str);
    *queue = arena_str(&sim->arena, str_of(crew->queue));
    call->command.claim = (struct command_claim){.worker = sim_workers[sim_pick(sim, 3)],
                                                 .queues = queue,
                                                 .queues_count = 1,
                                                 .max = 1 + sim_pick(sim, 2),
                                                 .lease_ms = 1000 + (int64_t)sim_pick(sim, 9000),
                                                 .serial = ++sim->serial};
    call->waits = call->command.claim.wait = sim_chance(sim, 50);
    sim_trace(sim, "claim of team %zu%s", (size_t)(crew - teams_of(sim)->crews),
              call->waits ? ", waits" : "");
    world_give(sim, call);
}

const struct act teams_acts[] = {
    {6, do_begin}, {1, do_end}, {4, do_say}, {14, do_ask}, {2, hook_lose_save}};
const size_t teams_acts_count = ARRAY_LEN(teams_acts);
