/* queue/turn.c: when a turn has come, and what happens then. See turn.h.
 *
 * Whether it has come is looked at when the broker says that its document is free, when somebody
 * before it left, and when one that was let go first has had its time. Nodes that share a store
 * look once in a while, too: what others did is not always heard.
 *
 * Thread: engine. Keeps: G3 (the hold takes the document in the store, or does not begin).
 *
 * SPDX-License-Identifier: MIT */
#include "queue/turn.h"

#include "base/mem.h"
#include "queue/document.h"
#include "queue/engine.h"

#define SHARED_LOOK_MS (5 * SECOND_MS) /* a look for oneself; without a broker every POLL_MS */
#define TURN_WORKER    "errand:team:lead"

struct turn {
    struct link link;
    struct task_id id, hold;
    struct str queue, document; /* owned */
    int64_t look_mono_ms;       /* when it is looked at; NEVER_MS: when something happens */
};

/* ---- Those that wait ---- */

void turns_init(struct turns *turns)
{
    list_init(&turns->all);
}

static void forget(struct turn *turn)
{
    list_remove(&turn->link);
    mem_free((char *)turn->queue.ptr);
    mem_free((char *)turn->document.ptr);
    mem_free(turn);
}

void turns_fini(struct turns *turns)
{
    LIST_EACH(&turns->all, it)
    {
        forget(HOLDER(it, struct turn, link));
    }
    while (turns->heard_count > 0) {
        mem_free((char *)turns->heard[--turns->heard_count].ptr);
    }
}

static struct turn *find(const struct engine *engine, struct task_id id)
{
    LIST_EACH(&engine->turns.all, it)
    {
        struct turn *turn = HOLDER(it, struct turn, link);
        if (id_eq(turn->id, id)) {
            return turn;
        }
    }
    return NULL;
}

static struct str own(struct str text)
{
    return (struct str){mem_text(text.ptr, text.len), text.len};
}

void turn_add(struct engine *engine, const struct task *task)
{
    struct turn *turn = find(engine, task->id);
    if (turn == NULL) {
        turn = mem_new(struct turn);
        turn->id = task->id;
        turn->hold = task->family;
        turn->queue = own(task->queue);
        turn->document = own(task->document);
        list_append(&engine->turns.all, &turn->link);
    }
    turn->look_mono_ms = INT64_MIN;
}

void turn_forget(struct engine *engine, struct task_id id)
{
    struct turn *turn = find(engine, id);
    if (turn != NULL) {
        forget(turn);
    }
}

void turns_ready(struct engine *engine, struct str queue)
{
    bool known = false;
    LIST_EACH(&engine->turns.all, it)
    {
        struct turn *turn = HOLDER(it, struct turn, link);
        if (str_absent(queue) || str_eq(turn->queue, queue)) {
            turn->look_mono_ms = INT64_MIN;
            known = true;
        }
    }
    /* Where several nodes share a store, a turn that another took in may come here. */
    struct turns *turns = &engine->turns;
    if (!known && engine->shared && !str_absent(queue) && str_ends(queue, STR(TURN_QUEUE_SUFFIX)) &&
        turns->heard_count < TURNS_AT_ONCE) {
        turns->heard[turns->heard_count++] = own(queue);
    }
}

void turns_left(struct engine *engine, struct str document)
{
    LIST_EACH(&engine->turns.all, it)
    {
        struct turn *turn = HOLDER(it, struct turn, link);
        if (str_eq(turn->document, document)) {
            turn->look_mono_ms = INT64_MIN;
        }
    }
}

int64_t turns_in_ms(const struct engine *engine, struct now now)
{
    int64_t soonest = NEVER_MS;
    LIST_EACH(&engine->turns.all, it)
    {
        soonest = MIN(soonest, HOLDER(it, struct turn, link)->look_mono_ms);
    }
    soonest = engine->turns.heard_count > 0 ? INT64_MIN : soonest;
    bool none = soonest == NEVER_MS || engine->draining;
    return none ? NEVER_MS : soonest <= now.mono_ms ? 0 : soonest - now.mono_ms;
}

/* ---- Has it come? ---- */

/* Whoever stands before a turn goes first if somebody may ask for it. */
static bool goes_first(struct batch *batch, const struct task *task)
{
    struct lane *lane = lane_find(&batch->engine->lanes, task->queue);
    if (task->state != TASK_QUEUED || (lane != NULL && lane_room(lane, batch->now) == 0)) {
        return false;
    }
    return batch->now.wall_ms - task->queued_ms < TURN_PASSES_MS ||
           shared_somebody_takes(batch, task);
}

enum place { PLACE_FREE, PLACE_HELD, PLACE_BEHIND, PLACE_GONE };

/* Where one stands who is in the line, or who would come to its end with this priority. */
static enum place look(struct batch *batch, struct str document, struct task_id id,
                       enum task_priority priority, struct task_id *holder)
{
    struct document_view view;
    if (!document_look(batch, document, TURN_AHEAD_MAX, &batch->arena, &view)) {
        return PLACE_HELD;
    }
    *holder = view.task;
    if (view.locked) {
        return PLACE_HELD;
    }
    for (size_t i = 0; i < view.waiting_count; i++) {
        const struct item *item =
            id_eq(view.waiting[i], id) ? NULL : batch_item(batch, view.waiting[i]);
        if (item == NULL || (id_none(id) && item->now.priority < priority)) {
            return batch_ok(batch) ? PLACE_FREE : PLACE_HELD;
        }
        if (item->found && goes_first(batch, &item->now)) {
            return PLACE_BEHIND;
        }
    }
    bool all = view.waiting_count < TURN_AHEAD_MAX;
    return !all ? PLACE_BEHIND : id_none(id) ? PLACE_FREE : PLACE_GONE;
}

/* Does this very batch give the document to somebody without the broker's knowing: a container that
 * is retried, another hold? */
static bool is_given(const struct batch *batch, struct str document)
{
    for (size_t i = 0; i < batch->all_count; i++) {
        const struct item *item = batch->all[i];
        if (item->owner != NULL && item->now.container && item->now.state == TASK_RUNNING &&
            item->was.state != TASK_RUNNING && str_eq(item->now.document, document)) {
            return true;
        }
    }
    return false;
}

bool turn_is_now(struct batch *batch, struct str document, enum task_priority priority)
{
    struct task_id holder;
    for (size_t i = 0; i < batch->orders_count; i++) {
        if (str_eq(batch->orders[i]->task.document, document)) {
            return false; /* somebody comes to its line in this very batch, and came first */
        }
    }
    return !is_given(batch, document) &&
           look(batch, document, TASK_ID_NONE, priority, &holder) == PLACE_FREE;
}

/* ---- Taking it ---- */

/* A claim of the engine's own, for this one task. */
static void propose(struct batch *batch, const struct turn *turn)
{
    static const struct str type = {TASK_TURN_TYPE, sizeof TASK_TURN_TYPE - 1};
    struct command *command = arena_new(&batch->arena, struct command);
    struct str *queue = arena_new(&batch->arena, struct str);
    *queue = arena_str(&batch->arena, turn->queue);
    *command = (struct command){.kind = COMMAND_CLAIM,
                                .arena = &batch->arena,
                                .claim = {.worker = STR(TURN_WORKER),
                                          .types = &type,
                                          .types_count = 1,
                                          .queues = queue,
                                          .queues_count = 1,
                                          .max = 1}};
    lane_get(&batch->engine->lanes, *queue);
    if (claim_propose(batch, command) > 0) {
        batch->turns[batch->turns_count++] = command;
    }
}

/* If nothing is heard meanwhile. Who stands before it may leave on another node, unheard. */
static int64_t look_again_in(const struct engine *engine, enum place place)
{
    if (engine->with.looks_in_real_time) {
        return NEVER_MS; /* shared.c says when */
    }
    if (!engine->shared) {
        return place == PLACE_BEHIND ? TURN_PASSES_MS : NEVER_MS;
    }
    return place == PLACE_BEHIND || !relies_on_broker(engine) ? POLL_MS : SHARED_LOOK_MS;
}

static void try(struct batch *batch, struct turn *turn)
{
    const struct engine *engine = batch->engine;
    struct task_id holder;
    enum place place = look(batch, turn->document, turn->id, TASK_NORMAL, &holder);
    int64_t again_ms = look_again_in(engine, place);
    turn->look_mono_ms = again_ms == NEVER_MS ? NEVER_MS : batch->now.mono_ms + again_ms;
    if (place == PLACE_FREE) {
        propose(batch, turn);
    } else if (place == PLACE_GONE || (place == PLACE_HELD && id_eq(holder, turn->hold))) {
        forget(turn); /* another node was faster, or it is QUEUED no more */
    }
}

/* What was only heard of is read from its row. */
static void find_heard(struct batch *batch)
{
    struct turns *turns = &batch->engine->turns;
    while (turns->heard_count > 0 && batch_begin(batch)) {
        struct err err = ERR_INIT;
        struct task_id *ids;
        size_t count;
        struct str *queue = &turns->heard[turns->heard_count - 1];
        struct task_filter filter = {.queue = *queue, .states = 1u << TASK_QUEUED, .limit = 1};
        if (!tx_select(batch->tx, &filter, &batch->arena, &ids, &count, &err)) {
            batch_fail_store(batch, &err);
            return;
        }
        struct item *item = count == 0 ? NULL : batch_item(batch, ids[0]);
        if (item != NULL && item->found && task_is_turn(&item->now)) {
            turn_add(batch->engine, &item->now);
        }
        mem_free((char *)queue->ptr);
        turns->heard_count--;
    }
}

void turns_propose(struct batch *batch)
{
    struct engine *engine = batch->engine;
    if (engine->draining || engine_paused(engine, batch->now)) {
        return;
    }
    find_heard(batch);
    LIST_EACH(&engine->turns.all, it)
    {
        struct turn *turn = HOLDER(it, struct turn, link);
        if (turn->look_mono_ms <= batch->now.mono_ms && batch->turns_count < TURNS_AT_ONCE &&
            batch_ok(batch)) {
            try(batch, turn);
        }
    }
}

/* The turn is over and the hold begins, in one step: there is no time in which the document is
 * neither waited for nor held. */
static void begin(struct batch *batch, struct command *command)
{
    struct err refused;
    int64_t now_ms = batch->now.wall_ms;
    const struct proposal *proposal = &batch->proposals[command->claim.proposal - 1];
    struct item *turn = batch_item(batch, proposal->hints[0].id);
    struct item *hold = turn == NULL ? NULL : batch_item(batch, turn->now.family);
    if (hold == NULL || !hold->found || hold->owner != NULL || hold->now.state != TASK_QUEUED ||
        is_given(batch, hold->now.document)) {
        return; /* somebody ends it in this very batch, or comes first; it is looked at again */
    }
    claim_decide(batch, command);
    if (command->claim.count == 1 && task_open(&hold->now, now_ms, &refused) &&
        task_complete(&turn->now, STR_NONE, now_ms, &refused)) {
        turn->ended = true;
        batch_change(batch, hold, &command->claim);
    }
}

void turns_decide(struct batch *batch)
{
    for (size_t i = 0; batch_ok(batch) && i < batch->turns_count; i++) {
        begin(batch, batch->turns[i]);
    }
}

void turns_refused(struct batch *batch, const struct item *hold)
{
    for (size_t i = 0; i < batch->all_count; i++) {
        struct item *item = batch->all[i];
        if (item->claim != NULL && task_is_turn(&item->now) && id_eq(item->now.family, hold->id)) {
            item->refused = true;
        }
    }
}
