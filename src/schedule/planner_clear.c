/* schedule/planner_clear.c: the history of a schedule that was removed goes in small pieces.
 *
 * A schedule may have a million entries: removing them in one transaction would hold up everybody
 * else. The first ones go with the schedule; where there are more, a record remembers whose they
 * are until the last one is gone, so that a crash in between leaves nothing behind for ever.
 *
 * Thread: engine; in a fleet the leader's.
 *
 * SPDX-License-Identifier: MIT */
#include "schedule/planner_data.h"

#define NEVER INT64_MAX

/* Removes a piece; *more: others are left. */
static bool clear_piece(struct batch *batch, struct task_id schedule, bool *more)
{
    struct err err = ERR_INIT;
    struct arena *arena = guest_arena(batch);
    struct tx *tx = guest_tx(batch);
    struct records found;
    const struct record_filter filter = {
        .kind = RECORD_EXECUTION, .parent = schedule, .oldest_first = true, .limit = CLEAR_CHUNK};
    if (tx == NULL || !tx_records_list(tx, &filter, arena, &found, &err)) {
        guest_store_failed(batch, &err);
        return false;
    }
    struct task_id *ids = arena_array(arena, struct task_id, found.count);
    for (size_t i = 0; i < found.count; i++) {
        ids[i] = found.at[i].id;
    }
    if (found.count > 0 && !tx_records_delete(tx, RECORD_EXECUTION, ids, found.count, &err)) {
        guest_store_failed(batch, &err);
        return false;
    }
    *more = found.more;
    return true;
}

static void go_on(struct planner *planner, struct batch *batch, int64_t in_ms)
{
    planner->draft.cleared = true;
    planner->draft.clear_at_mono_ms = in_ms == NEVER ? NEVER : guest_now(batch).mono_ms + in_ms;
}

bool clear_begin(struct planner *planner, struct batch *batch, const struct schedule *schedule)
{
    struct err err = ERR_INIT;
    struct record left = {.kind = RECORD_REMOVED,
                          .id = schedule->id,
                          .due_ms = MAX(guest_now(batch).wall_ms, (int64_t)1)};
    struct record_save save = {.record = &left};
    bool more;
    if (!clear_piece(batch, schedule->id, &more)) {
        return false;
    }
    if (!more) {
        return true;
    }
    if (!tx_records_save(guest_tx(batch), &save, 1, &err)) {
        guest_store_failed(batch, &err);
        return false;
    }
    go_on(planner, batch, CLEAR_PAUSE_MS);
    return true;
}

static void clear_next(struct planner *planner, struct batch *batch, struct task_id schedule)
{
    struct err err = ERR_INIT;
    bool more;
    if (!clear_piece(batch, schedule, &more)) {
        return;
    }
    guest_wrote(batch);
    if (!more && !tx_records_delete(guest_tx(batch), RECORD_REMOVED, &schedule, 1, &err)) {
        guest_store_failed(batch, &err);
        return;
    }
    go_on(planner, batch, CLEAR_PAUSE_MS);
}

void clear_step(struct planner *planner, struct batch *batch)
{
    struct err err = ERR_INIT;
    struct records found;
    int64_t next_ms;
    struct tx *tx = guest_tx(batch);
    if (tx == NULL) {
        return;
    }
    if (!tx_records_due(tx, RECORD_REMOVED, NEVER - 1, 1, guest_arena(batch), &found, &next_ms,
                        &err)) {
        guest_store_failed(batch, &err);
    } else if (found.count > 0) {
        clear_next(planner, batch, found.at[0].id);
    } else {
        go_on(planner, batch, planner->with.shared ? CLEAR_LOOK_MS : NEVER);
    }
}
