/* cloud/cloud.c: the room as a guest of the engine: when it acts, and what a commit means. See
 * cloud.h.
 *
 * Thread: engine.
 *
 * SPDX-License-Identifier: MIT */
#include "cloud/cloud.h"

#include "base/mem.h"
#include "cloud/cloud_data.h"

#define NEVER        INT64_MAX
#define EXPIRE_CHUNK 1000

static struct cloud *cloud_of(struct guest *guest)
{
    return HOLDER(guest, struct cloud, guest);
}

bool cloud_find_queue(struct batch *batch, struct str name, bool *found, struct cloud_queue *out)
{
    struct err err = ERR_INIT;
    struct records records;
    struct tx *tx = guest_tx(batch);
    const struct record_filter filter = {
        .kind = RECORD_CLOUD_QUEUE, .parent = cloud_queue_id(name), .limit = 1};
    if (tx == NULL) {
        return false;
    }
    if (!tx_records_list(tx, &filter, guest_arena(batch), &records, &err) ||
        (records.count > 0 && !cloud_queue_load(&records.at[0], guest_arena(batch), out, &err))) {
        guest_store_failed(batch, &err);
        return false;
    }
    *found = records.count > 0 && !out->deleting;
    return true;
}

/* ---- Names that may be used again ---- */

void cloud_saved_name(struct cloud *cloud, int64_t due_ms)
{
    cloud->draft.saved_ms = MIN(cloud->draft.saved_ms, due_ms);
}

static int64_t until(int64_t at_ms, int64_t now_ms)
{
    return at_ms == NEVER ? NEVER : MAX(at_ms - now_ms, 0);
}

static int64_t due_in_ms(struct guest *guest, struct now now)
{
    const struct cloud *cloud = cloud_of(guest);
    if (!cloud->leads) {
        return NEVER;
    }
    int64_t in = until(cloud->next_ms, now.wall_ms);
    bool polls = cloud->with.shared && !cloud->with.is_told;
    return polls ? MIN(in, until(cloud->looked_mono_ms + CLOUD_POLL_MS, now.mono_ms)) : in;
}

/* After a start: were there queues before? */
static void look_for_queues(struct cloud *cloud, struct batch *batch, struct tx *tx)
{
    struct err err = ERR_INIT;
    struct records queues;
    const struct record_filter any = {.kind = RECORD_CLOUD_QUEUE, .limit = 1};
    if (!tx_records_list(tx, &any, guest_arena(batch), &queues, &err)) {
        guest_store_failed(batch, &err);
        return;
    }
    cloud->draft.awake = queues.count > 0;
}

static void act(struct guest *guest, struct batch *batch)
{
    struct cloud *cloud = cloud_of(guest);
    struct arena *arena = guest_arena(batch);
    struct err err = ERR_INIT;
    struct records old;
    struct tx *tx = guest_tx(batch);
    if (tx == NULL) {
        return;
    }
    if (!cloud->awake) {
        look_for_queues(cloud, batch, tx);
    }
    if (!tx_records_due(tx, RECORD_CLOUD_NAME, guest_now(batch).wall_ms, EXPIRE_CHUNK, arena, &old,
                        &cloud->draft.next_ms, &err)) {
        guest_store_failed(batch, &err);
        return;
    }
    struct task_id *ids = arena_array(arena, struct task_id, old.count);
    for (size_t i = 0; i < old.count; i++) {
        ids[i] = old.at[i].id;
    }
    if (guest_delete_records(batch, RECORD_CLOUD_NAME, ids, old.count)) {
        cloud->draft.looked = true;
        cloud->draft.looked_mono_ms = guest_now(batch).mono_ms;
    }
}

/* ---- What a commit means ---- */

static void draft_clear(struct cloud *cloud)
{
    cloud->draft.looked = cloud->draft.awake = false;
    cloud->draft.next_ms = cloud->draft.saved_ms = NEVER;
    LIST_EACH(&cloud->draft.starts, it)
    {
        struct cloud_start *start = HOLDER(it, struct cloud_start, link);
        list_remove(it);
        arena_fini(&start->arena);
        mem_free(start);
    }
}

static void settled(struct guest *guest, struct batch *batch, bool committed)
{
    struct cloud *cloud = cloud_of(guest);
    (void)batch;
    if (committed) {
        if (cloud->draft.looked) {
            cloud->next_ms = cloud->draft.next_ms;
            cloud->looked_mono_ms = cloud->draft.looked_mono_ms;
        }
        cloud->next_ms = MIN(cloud->next_ms, cloud->draft.saved_ms);
        if (cloud->draft.awake && !cloud->awake && cloud->with.wake != NULL) {
            cloud->with.wake(cloud->with.arg);
        }
        cloud->awake = cloud->awake || cloud->draft.awake;
        LIST_EACH(&cloud->draft.starts, it)
        {
            cloud->with.run(cloud->with.arg, &HOLDER(it, struct cloud_start, link)->task);
        }
    }
    draft_clear(cloud);
}

static void leads(struct guest *guest, bool leads)
{
    struct cloud *cloud = cloud_of(guest);
    cloud->leads = leads;
    cloud->next_ms = 0;
}

/* ---- Wishes ---- */

static void decide(struct guest *guest, struct batch *batch, struct command *command)
{
    static cloud_wish_fn *const verbs[CLOUD_VERBS] = {
        [CLOUD_CREATE_QUEUE] = cloud_create_queue, [CLOUD_GET_QUEUE] = cloud_get_queue,
        [CLOUD_LIST_QUEUES] = cloud_list_queues,   [CLOUD_PATCH_QUEUE] = cloud_patch_queue,
        [CLOUD_PAUSE_QUEUE] = cloud_pause_queue,   [CLOUD_RESUME_QUEUE] = cloud_resume_queue,
        [CLOUD_PURGE_QUEUE] = cloud_purge_queue,   [CLOUD_DELETE_QUEUE] = cloud_delete_queue,
        [CLOUD_FORGET_QUEUE] = cloud_forget_queue, [CLOUD_CREATE_TASK] = cloud_create_task,
        [CLOUD_DELETE_TASK] = cloud_delete_task,   [CLOUD_RUN_TASK] = cloud_run_task,
    };
    struct wish wish = {.cloud = cloud_of(guest),
                        .batch = batch,
                        .command = command,
                        .order = command->guest.what,
                        .arena = command->arena,
                        .err = &command->err};
    command->err = ERR_INIT;
    if (!verbs[wish.order->verb](&wish) && command->err.kind == ERR_NONE) {
        err_set(&command->err, ERR_UNAVAILABLE, "the store is away"); /* the batch says more */
    }
}

void cloud_ask(struct cloud *cloud, struct command *command, struct cloud_order *order)
{
    command->guest = (struct command_guest){&cloud->guest, decide, order, false};
}

/* ---- Life ---- */

struct cloud *cloud_new(const struct cloud_options *options)
{
    struct cloud *cloud = mem_new(struct cloud);
    cloud->guest = (struct guest){.due_in_ms = due_in_ms,
                                  .act = act,
                                  .changed = cloud_changed,
                                  .settled = settled,
                                  .leads = leads,
                                  .ending = cloud_ending};
    cloud->with = *options;
    cloud->leads = !options->shared;
    list_init(&cloud->draft.starts);
    draft_clear(cloud);
    return cloud;
}

void cloud_free(struct cloud *cloud)
{
    if (cloud != NULL) {
        draft_clear(cloud);
        mem_free(cloud);
    }
}

struct guest *cloud_guest(struct cloud *cloud)
{
    return &cloud->guest;
}

bool cloud_google_limits(const struct cloud *cloud)
{
    return cloud->with.google_limits;
}

int64_t cloud_tombstone_ms(const struct cloud *cloud)
{
    return cloud->with.tombstone_ms;
}
