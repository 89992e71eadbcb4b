/* cloud/cloud_tasks.c: what clients wish of tasks of the Cloud Tasks API, and what becomes of them.
 *
 * Thread: engine. Keeps: a name is used once as long as its record lives, in the whole fleet; it is
 * written in the transaction of the task's creation, and its end in that of the task's end (I6).
 *
 * SPDX-License-Identifier: MIT */
#include "base/mem.h"
#include "cloud/cloud_data.h"
#include "task/reserved.h"
#include "wire/cloud.h"

static bool find_queue(struct wish *wish, struct cloud_queue *out)
{
    bool found = false;
    return cloud_find_queue(wish->batch, wish->order->queue, &found, out) &&
           (found || err_set(wish->err, ERR_NOT_FOUND, "%s", CLOUD_NO_QUEUE));
}

static bool load_name(struct wish *wish, const struct cloud_queue *queue, struct record_load *out)
{
    *out = (struct record_load){.kind = RECORD_CLOUD_NAME,
                                .id = cloud_name_id(queue, wish->order->task)};
    return guest_load_record(wish->batch, out, guest_arena(wish->batch));
}

/* ---- Making one ---- */

/* The record that holds the name, to be saved with the task. */
static bool take_name(struct wish *wish, const struct cloud_queue *queue, struct task_id task,
                      struct record *out)
{
    struct record_load known;
    if (!load_name(wish, queue, &known)) {
        return false;
    }
    int64_t due_ms = known.found ? known.record.due_ms : 0;
    bool over = due_ms != 0 && due_ms <= guest_now(wish->batch).wall_ms;
    if (known.found && !over) {
        return err_set(wish->err, ERR_CONFLICT, "Requested entity already exists");
    }
    *out = (struct record){.kind = RECORD_CLOUD_NAME,
                           .id = known.id,
                           .parent = task,
                           .version = known.found ? known.record.version : 0,
                           .body = STR("{}")};
    return true;
}

/* "projects/P/locations/L/queues/Q/tasks/T". */
static struct str full_name(struct wish *wish, struct str task)
{
    struct str rest = wish->order->queue;
    struct str project = str_cut(&rest, '/'), location = str_cut(&rest, '/');
    return arena_printf(
        wish->arena, "projects/" STR_FMT "/locations/" STR_FMT "/queues/" STR_FMT "/tasks/" STR_FMT,
        STR_ARG(project), STR_ARG(location), STR_ARG(rest), STR_ARG(task));
}

static void fill_order(struct wish *wish, const struct cloud_queue *queue, struct order *order)
{
    const struct cloud_retry *retry = &queue->retry;
    struct task *task = &order->task;
    char id[TASK_ID_TEXT];
    bool named = !str_absent(wish->order->task), endless = retry->max_attempts < 0;
    task->type = STR(RESERVED_CLOUD_TYPE);
    task->queue = wish->order->queue;
    task->external_id = full_name(wish, named ? wish->order->task : id_text(task->id, id));
    task->max_retries = endless ? TASK_RETRIES_UNLIMITED : retry->max_attempts - 1;
    task->backoff = (struct task_backoff){
        .base_ms = retry->min_backoff_ms, .max_ms = retry->max_backoff_ms, .factor = 2};
    if (wish->cloud->with.google_limits) {
        task->expires_ms = guest_now(wish->batch).wall_ms + CLOUD_LIFE_MAX_MS;
    }
}

bool cloud_create_task(struct wish *wish)
{
    struct cloud_queue queue;
    struct record name;
    struct order *order = arena_new(guest_arena(wish->batch), struct order);
    bool named = !str_absent(wish->order->task);
    if (!find_queue(wish, &queue)) {
        return false;
    }
    *order = (struct order){.task = wish->order->make, .delay_ms = -1, .named = true};
    order->task.id = guest_make_id(wish->batch);
    if (named && !take_name(wish, &queue, order->task.id, &name)) {
        return false;
    }
    fill_order(wish, &queue, order);
    if (!guest_create(wish->batch, order, 1, wish->err)) {
        return false;
    }
    wish->order->out = task_copy(wish->arena, &order->task);
    return !named || guest_save_record(wish->batch, &name);
}

/* ---- Finding one ---- */

/* A task that has ended, or is about to for somebody deleted it, is not there any more. */
static bool find_task(struct wish *wish, struct task_id *out)
{
    struct cloud_queue queue;
    struct record_load name;
    struct task_id id;
    if (!find_queue(wish, &queue) || !load_name(wish, &queue, &name)) {
        return false;
    }
    id = name.record.parent;
    if (!name.found && !id_parse(wish->order->task, &id)) {
        return err_set(wish->err, ERR_NOT_FOUND, "%s", CLOUD_NOT_FOUND);
    }
    const struct task *task = guest_task(wish->batch, id);
    bool ours = task != NULL && task_is_cloud(task) && str_eq(task->queue, queue.name) &&
                str_eq(cloud_short_name(task), wish->order->task);
    bool gone = ours && (task_state_terminal(task->state) || task->cancel_requested ||
                         (task->state == TASK_RUNNING && cloud_queue_purged(&queue, id)));
    if (!ours || gone) {
        return err_set(wish->err, ERR_NOT_FOUND, "%s",
                       gone || name.found ? CLOUD_WAS_THERE : CLOUD_NOT_FOUND);
    }
    *out = id;
    return true;
}

bool cloud_delete_task(struct wish *wish)
{
    struct task_id id;
    if (!find_task(wish, &id)) {
        return false;
    }
    wish->command->guest.later = guest_busy(wish->batch, id);
    return wish->command->guest.later || guest_cancel(wish->batch, id, STR("deleted"), wish->err);
}

/* ---- Sending one at once ---- */

static bool start(struct wish *wish, struct task_id id, bool *later)
{
    struct cloud_start *started = mem_new(struct cloud_start);
    list_append(&wish->cloud->draft.starts, &started->link); /* which frees it in any case */
    if (guest_start(wish->batch, id, STR(CLOUD_WORKER), &started->arena, &started->task, later,
                    wish->err)) {
        return true;
    }
    list_remove(&started->link);
    arena_fini(&started->arena);
    mem_free(started);
    return false;
}

bool cloud_run_task(struct wish *wish)
{
    struct task_id id;
    bool later = false;
    if (!find_task(wish, &id)) {
        return false;
    }
    bool runs = guest_task(wish->batch, id)->state == TASK_RUNNING;
    bool done = runs                            ? true
                : wish->cloud->with.run != NULL ? start(wish, id, &later)
                                                : guest_hurry(wish->batch, id, &later, wish->err);
    if (later) {
        *wish->err = ERR_INIT;
        wish->command->guest.later = true;
        return true;
    }
    if (done) {
        wish->order->out = task_copy(wish->arena, guest_task(wish->batch, id));
    }
    return done;
}

/* ---- What becomes of it ---- */

/* Its queue says now, not when it was made, whether and when it is tried again. */
static void judge(const struct cloud_options *with, const struct cloud_retry *retry,
                  const struct cloud_dispatch *was, int64_t now_ms, struct task *task)
{
    int32_t failures = task->retries + (task->retries < INT32_MAX);
    int64_t wait_ms = cloud_backoff_ms(retry, failures);
    bool endless = retry->max_attempts < 0;
    bool spent = !endless && failures >= retry->max_attempts;
    bool in_time = retry->max_duration_ms > 0 && now_ms - was->first_ms < retry->max_duration_ms;
    if (spent && in_time) { /* both must have passed */
        endless = true;
        spent = false;
    }
    if (with->google_limits && now_ms + wait_ms > task->created_ms + CLOUD_LIFE_MAX_MS) {
        spent = true;
    }
    task->max_retries = spent     ? task->retries
                        : endless ? TASK_RETRIES_UNLIMITED
                                  : retry->max_attempts - 1;
    task->backoff = (struct task_backoff){.base_ms = wait_ms, .max_ms = wait_ms, .factor = 1};
}

void cloud_ending(struct guest *guest, struct batch *batch, struct task *task,
                  const struct task_error *error)
{
    struct cloud *cloud = HOLDER(guest, struct cloud, guest);
    struct arena *arena = guest_arena(batch);
    struct cloud_queue queue;
    bool found = false;
    if (!task_is_cloud(task) || !cloud_find_queue(batch, task->queue, &found, &queue)) {
        return;
    }
    cloud_dispatch_note(task, cloud_status_of(error, arena), arena);
    if (!found || cloud_queue_purged(&queue, task->id)) {
        task->cancel_reason = task->cancel_requested ? task->cancel_reason
                              : found                ? STR("purged")
                                                     : STR("queue deleted");
        task->cancel_requested = true;
        return;
    }
    struct cloud_dispatch was = cloud_dispatch_read(task, arena);
    judge(&cloud->with, &queue.retry, &was, guest_now(batch).wall_ms, task);
}

/* A name stays taken for a while after its task has ended; one that is tried again by hand has it
 * for as long as that takes. */
void cloud_changed(struct guest *guest, struct batch *batch, const struct task *was,
                   const struct task *now)
{
    struct cloud *cloud = HOLDER(guest, struct cloud, guest);
    struct err err = ERR_INIT;
    struct records names;
    char id[TASK_ID_TEXT];
    bool ended = task_state_terminal(now->state);
    bool turned = was != NULL && ended != task_state_terminal(was->state);
    if (!task_is_cloud(now) || !turned || str_eq(cloud_short_name(now), id_text(now->id, id))) {
        return;
    }
    const struct record_filter filter = {.kind = RECORD_CLOUD_NAME, .parent = now->id, .limit = 1};
    struct tx *tx = guest_tx(batch);
    if (tx == NULL) {
        return;
    }
    if (!tx_records_list(tx, &filter, guest_arena(batch), &names, &err)) {
        guest_store_failed(batch, &err);
        return;
    }
    for (size_t i = 0; i < names.count; i++) {
        struct record name = names.at[i];
        name.due_ms = ended ? guest_now(batch).wall_ms + MAX(cloud->with.tombstone_ms, 1) : 0;
        if (guest_save_record(batch, &name) && ended) {
            cloud_saved_name(cloud, name.due_ms);
        }
    }
}
