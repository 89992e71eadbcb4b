/* team/lead_tasks.c: the tasks of a team as orders to the engine.
 *
 * They live in the team's queue, each kind under its own type: agents outside claim team.task, the
 * lead's own work (team.split, team.synthesis) is done by the crew. The team's document is held by
 * one more (team.document) for all of them, so that they run beside each other on it.
 *
 * Thread: engine.
 *
 * SPDX-License-Identifier: MIT */
#include "queue/turn.h"
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

/* ---- The document ---- */

/* A free document is the team's with its first commit; else somebody stands in line for it. */
static size_t order_document(struct batch *batch, struct team *team, struct order *orders)
{
    if (str_absent(team->document) || !id_none(team->hold)) {
        return 0;
    }
    orders[0] = order_of(batch, team, STR(TEAM_HOLD_TYPE));
    orders[0].task.document = team->document;
    orders[0].task.container = true;
    orders[0].task.timeout_ms = orders[0].task.max_retries = 0;
    team->hold = orders[0].task.id;
    if (guest_finds_free(batch, team->document, orders[0].task.priority)) {
        return 1;
    }
    orders[1] = order_of(batch, team, STR(TASK_TURN_TYPE));
    orders[1].task.document = team->document;
    orders[1].task.family = team->hold;
    orders[1].task.queue =
        arena_printf(guest_arena(batch), STR_FMT TURN_QUEUE_SUFFIX, STR_ARG(team->queue));
    team->turn = orders[1].task.id;
    return 2;
}

/* ---- The tasks ---- */

/* All of them wait for the turn, if it has not come yet: also one whose dependency is cancelled and
 * removed, and that is retried by hand before the turn. `first`: the place of
 * the first task among the orders, behind those of the document. */
static void add_needs(const struct team *team, const struct team_task *task, size_t first,
                      struct arena *arena, struct order *order)
{
    bool waits = !id_none(team->turn);
    struct order_need *needs = arena_array(arena, struct order_need, task->depends_on.count + 1);
    for (size_t i = 0; i < task->depends_on.count; i++) {
        needs[i].order = 1 + first + task->needs[i];
    }
    if (waits) {
        needs[task->depends_on.count] = (struct order_need){.id = team->turn, .order = first};
    }
    order->needs = needs;
    order->needs_count = task->depends_on.count + waits;
}

static struct order task_order(struct batch *batch, const struct team *team,
                               const struct team_task *task, size_t first)
{
    struct arena *arena = guest_arena(batch);
    struct order order = order_of(batch, team, STR(TEAM_TASK_TYPE));
    /* One that names the team's document has it as the others do. */
    bool own = !str_absent(task->document) &&
               (str_absent(team->document) || !str_eq(task->document, team->document));
    order.task.document = own ? task->document : team->document;
    order.task.family = own ? TASK_ID_NONE : team->hold;
    order.task.payload = payload_of(task, arena);
    add_needs(team, task, first, arena, &order);
    return order;
}

/* It runs when all others have ended, however they did. */
static struct order synthesis_order(struct batch *batch, const struct team *team, size_t first)
{
    struct order order = order_of(batch, team, STR(TEAM_SYNTHESIS_TYPE));
    struct order_need *needs =
        arena_array(guest_arena(batch), struct order_need, team->tasks.count);
    for (size_t i = 0; i < team->tasks.count; i++) {
        needs[i].order = 1 + first + i;
    }
    order.task.runs_anyway = true;
    order.needs = needs;
    order.needs_count = team->tasks.count;
    return order;
}

bool lead_create_tasks(struct batch *batch, struct team *team, struct err *err)
{
    struct order *orders = arena_array(guest_arena(batch), struct order, team->tasks.count + 3);
    size_t first = order_document(batch, team, orders), n = first;
    for (size_t i = 0; i < team->tasks.count; i++) {
        orders[n] = task_order(batch, team, &team->tasks.at[i], first);
        team->tasks.at[i].task = orders[n++].task.id;
    }
    if (team->tasks.count == 0) {
        orders[n] = order_of(batch, team, STR(TEAM_SPLIT_TYPE));
        team->split = orders[n++].task.id;
    } else if (team->decides) {
        orders[n] = synthesis_order(batch, team, first);
        team->synthesis = orders[n++].task.id;
    }
    if (!guest_create(batch, orders, n, err)) {
        return false;
    }
    if (first == 1) {
        guest_open(batch, &orders[0]);
    }
    return true;
}

/* ---- Ends ---- */

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
    cancel_one(batch, team->turn, reason);
    cancel_one(batch, team->split, reason);
    cancel_one(batch, team->synthesis, reason);
    for (size_t i = 0; i < team->tasks.count; i++) {
        cancel_one(batch, team->tasks.at[i].task, reason);
    }
}

/* Does anybody of the family run? Rows of others are not locked, see lead_follow.c; what this batch
 * has changed is not in the store yet. */
static bool any_runs(struct batch *batch, const struct task *hold)
{
    struct err err = ERR_INIT;
    struct task_id *ids;
    size_t count;
    for (int queued = 0; queued < 2; queued++) {
        struct task_filter filter = {.team = hold->team,
                                     .document = hold->document,
                                     .states = 1u << (queued ? TASK_QUEUED : TASK_RUNNING)};
        if (!tx_select(guest_tx(batch), &filter, guest_arena(batch), &ids, &count, &err)) {
            guest_store_failed(batch, &err);
            return true;
        }
        for (size_t i = 0; i < count; i++) {
            const struct task *task = guest_peek(batch, ids[i]);
            bool runs = task == NULL ? !queued : task->state == TASK_RUNNING;
            if (runs && !id_eq(ids[i], hold->id)) {
                return true;
            }
        }
    }
    return false;
}

void lead_release_document(struct batch *batch, struct task_id id, struct str reason)
{
    const struct task *hold = id_none(id) ? NULL : guest_task(batch, id);
    if (hold == NULL || task_state_terminal(hold->state)) {
        return;
    }
    if (hold->state != TASK_RUNNING) {
        cancel_one(batch, id, reason);
    } else if (!any_runs(batch, hold)) {
        guest_close(batch, id);
    }
}
