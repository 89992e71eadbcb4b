/* team/lead_tasks.c: the tasks of a team as orders to the engine.
 *
 * They live in the team's queue, each kind under its own type: agents outside claim team.task, the
 * lead's own work (team.split, team.synthesis) is done by the crew.
 *
 * Thread: engine.
 *
 * SPDX-License-Identifier: MIT */
#include "team/lead_data.h"

static struct str payload_of(const struct team_task *task, struct arena *arena)
{
    SCOPED(buf_fini) struct buf text = BUF_INIT(TASK_PAYLOAD_MAX);
    struct json_writer w = JSON_WRITER(&text);
    json_open_object(&w);
    json_put_str(&w, "id", task->ref);
    json_put_str(&w, "title", task->title);
    if (!str_absent(task->description)) {
        json_put_str(&w, "description", task->description);
    }
    json_close_object(&w);
    return arena_str(arena, buf_view(&text));
}

static struct order order_of(struct batch *batch, const struct team *team, struct str type)
{
    return (struct order){.task = {.id = guest_make_id(batch),
                                   .type = type,
                                   .queue = team->queue,
                                   .team = team->id,
                                   .priority = TASK_NORMAL,
                                   .backoff = TASK_BACKOFF_DEFAULT,
                                   .max_retries = TASK_MAX_RETRIES_DEFAULT,
                                   .timeout_ms = TEAM_TASK_TIMEOUT_MS,
                                   .cost = TASK_COST_NONE,
                                   .progress = -1},
                          .named = true,
                          .delay_ms = -1};
}

static struct order_need *needs_of(const struct team_task *task, struct arena *arena)
{
    struct order_need *needs = arena_array(arena, struct order_need, task->depends_on.count);
    for (size_t i = 0; i < task->depends_on.count; i++) {
        needs[i].order = 1 + task->needs[i];
    }
    return needs;
}

static struct order task_order(struct batch *batch, const struct team *team,
                               const struct team_task *task)
{
    struct arena *arena = guest_arena(batch);
    struct order order = order_of(batch, team, STR(TEAM_TASK_TYPE));
    order.task.document = str_absent(task->document) ? team->document : task->document;
    order.task.payload = payload_of(task, arena);
    order.needs = needs_of(task, arena);
    order.needs_count = task->depends_on.count;
    return order;
}

/* It runs when all others have ended, however they did. */
static struct order synthesis_order(struct batch *batch, const struct team *team)
{
    struct order order = order_of(batch, team, STR(TEAM_SYNTHESIS_TYPE));
    struct order_need *needs =
        arena_array(guest_arena(batch), struct order_need, team->tasks.count);
    for (size_t i = 0; i < team->tasks.count; i++) {
        needs[i].order = 1 + i;
    }
    order.task.runs_anyway = true;
    order.needs = needs;
    order.needs_count = team->tasks.count;
    return order;
}

bool lead_create_tasks(struct batch *batch, struct team *team, struct err *err)
{
    size_t count = team->tasks.count;
    struct order *orders = arena_array(guest_arena(batch), struct order, count + 1);
    for (size_t i = 0; i < count; i++) {
        orders[i] = task_order(batch, team, &team->tasks.at[i]);
        team->tasks.at[i].task = orders[i].task.id;
    }
    if (team->decides) {
        orders[count] = synthesis_order(batch, team);
        team->synthesis = orders[count].task.id;
    }
    return guest_create(batch, orders, count + team->decides, err);
}

bool lead_create_split(struct batch *batch, struct team *team, struct err *err)
{
    struct order *order = arena_new(guest_arena(batch), struct order);
    *order = order_of(batch, team, STR(TEAM_SPLIT_TYPE));
    team->split = order->task.id;
    return guest_create(batch, order, 1, err);
}

static void cancel_one(struct batch *batch, struct task_id id, struct str reason)
{
    struct err refused = ERR_INIT;
    const struct task *task = id_none(id) ? NULL : guest_task(batch, id);
    if (task != NULL && !task_state_terminal(task->state)) {
        (void)!guest_cancel(batch, id, reason, &refused);
    }
}

void lead_cancel_tasks(struct batch *batch, const struct team *team, struct str reason)
{
    cancel_one(batch, team->split, reason);
    cancel_one(batch, team->synthesis, reason);
    for (size_t i = 0; i < team->tasks.count; i++) {
        cancel_one(batch, team->tasks.at[i].task, reason);
    }
}
