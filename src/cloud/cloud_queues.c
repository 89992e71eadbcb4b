/* cloud/cloud_queues.c: what clients wish of queues of the Cloud Tasks API.
 *
 * What is changed is loaded first, which keeps others from changing it until the batch is over.
 *
 * Thread: engine.
 *
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "cloud/cloud_data.h"
#include "store/rate.h"

/* ---- Loading, answering, saving ---- */

/* *there: there is a record, be it of a queue that is being deleted. */
static bool load(struct wish *wish, bool *there, struct cloud_queue *out)
{
    struct record_load record = {.kind = RECORD_CLOUD_QUEUE,
                                 .id = cloud_queue_id(wish->order->queue)};
    if (!guest_load_record(wish->batch, &record, wish->arena)) {
        return false;
    }
    *there = record.found;
    if (record.found && !cloud_queue_load(&record.record, wish->arena, out, wish->err)) {
        guest_store_failed(wish->batch, wish->err);
        return false;
    }
    return true;
}

static bool load_known(struct wish *wish, struct cloud_queue *out)
{
    bool there = false;
    return load(wish, &there, out) &&
           ((there && !out->deleting) || err_set(wish->err, ERR_NOT_FOUND, "%s", CLOUD_NO_QUEUE));
}

static bool save(struct wish *wish, const struct cloud_queue *queue)
{
    struct record record = cloud_queue_record(queue, guest_arena(wish->batch));
    return guest_save_record(wish->batch, &record);
}

static bool answer(struct wish *wish, const struct cloud_queue *queue)
{
    struct cloud_queue_view *view = arena_new(wish->arena, struct cloud_queue_view);
    if (!guest_queue(wish->batch, queue->name, &view->settings)) {
        return false;
    }
    view->queue = *queue;
    view->queue.name = arena_str(wish->arena, queue->name);
    wish->order->views = view;
    wish->order->count = 1;
    return true;
}

/* What Errand's own queue of that name is told. */
static bool set_limits(struct wish *wish, const struct cloud_settings *settings, bool resume)
{
    struct command_queue *change = arena_new(guest_arena(wish->batch), struct command_queue);
    *change = (struct command_queue){
        .name = wish->order->queue,
        .has_max_concurrent = true,
        .has_rate = true,
        .has_burst = true,
        .has_paused = resume,
        .set = {.max_concurrent = settings->concurrent,
                .rate_per_second = settings->rate,
                .burst = settings->rate == 0 ? 0 : cloud_burst(settings->rate)}};
    return guest_set_queue(wish->batch, change, wish->err);
}

/* ---- Making and changing ---- */

static bool make(struct wish *wish, struct cloud_queue *queue, struct cloud_settings *settings)
{
    int64_t version = queue->version; /* of one that is being deleted, or 0 */
    wish->cloud->draft.awake = true;
    cloud_settings_default(settings);
    *queue = (struct cloud_queue){.name = wish->order->queue,
                                  .generation = guest_make_id(wish->batch),
                                  .retry = settings->retry,
                                  .version = version};
    return cloud_settings_check(settings, wish->err) && set_limits(wish, settings, true) &&
           save(wish, queue) && answer(wish, queue);
}

bool cloud_create_queue(struct wish *wish)
{
    struct cloud_queue queue = {0};
    struct cloud_settings settings = wish->order->settings;
    bool there = false;
    if (!load(wish, &there, &queue)) {
        return false;
    }
    if (there && !queue.deleting) {
        return err_set(wish->err, ERR_CONFLICT, "Queue already exists");
    }
    return make(wish, &queue, &settings);
}

bool cloud_patch_queue(struct wish *wish)
{
    struct cloud_queue queue = {0};
    struct store_queue now;
    struct cloud_settings settings = {0};
    bool there = false;
    if (!load(wish, &there, &queue)) {
        return false;
    }
    if (!there || queue.deleting) {
        cloud_settings_apply(&settings, wish->order->mask, &wish->order->settings);
        return make(wish, &queue, &settings);
    }
    if (!guest_queue(wish->batch, queue.name, &now)) {
        return false;
    }
    settings = (struct cloud_settings){.rate = now.rate_per_second,
                                       .concurrent = (int32_t)MIN(now.max_concurrent, INT32_MAX),
                                       .retry = queue.retry};
    double rate = settings.rate;
    int32_t concurrent = settings.concurrent;
    cloud_settings_apply(&settings, wish->order->mask, &wish->order->settings);
    cloud_settings_default(&settings);
    queue.retry = settings.retry;
    bool limits = settings.rate != rate || settings.concurrent != concurrent;
    return cloud_settings_check(&settings, wish->err) &&
           (!limits || set_limits(wish, &settings, false)) && save(wish, &queue) &&
           answer(wish, &queue);
}

static bool pause(struct wish *wish, bool paused)
{
    struct cloud_queue queue;
    struct command_queue *change = arena_new(guest_arena(wish->batch), struct command_queue);
    *change = (struct command_queue){
        .name = wish->order->queue, .has_paused = true, .set = {.paused = paused}};
    return load_known(wish, &queue) && guest_set_queue(wish->batch, change, wish->err) &&
           answer(wish, &queue);
}

bool cloud_pause_queue(struct wish *wish)
{
    return pause(wish, true);
}

bool cloud_resume_queue(struct wish *wish)
{
    return pause(wish, false);
}

bool cloud_purge_queue(struct wish *wish)
{
    struct cloud_queue queue;
    if (!load_known(wish, &queue)) {
        return false;
    }
    queue.purge_ms = guest_now(wish->batch).wall_ms;
    queue.purge = guest_make_id(wish->batch);
    return save(wish, &queue) && answer(wish, &queue);
}

/* Said again while it is being deleted, perhaps by a server that stopped on the way, it goes on. */
bool cloud_delete_queue(struct wish *wish)
{
    struct cloud_queue queue;
    bool there = false;
    if (!load(wish, &there, &queue)) {
        return false;
    }
    if (!there) {
        return err_set(wish->err, ERR_NOT_FOUND, "%s", CLOUD_NOT_FOUND);
    }
    queue.deleting = true;
    return save(wish, &queue);
}

bool cloud_forget_queue(struct wish *wish)
{
    struct cloud_queue queue;
    struct cloud_settings none = {0};
    bool there = false;
    if (!load(wish, &there, &queue)) {
        return false;
    }
    if (!there || !queue.deleting) {
        return true; /* made anew meanwhile */
    }
    struct task_id id = cloud_queue_id(queue.name);
    return set_limits(wish, &none, true) &&
           guest_delete_records(wish->batch, RECORD_CLOUD_QUEUE, &id, 1);
}

/* ---- Looking ---- */

bool cloud_get_queue(struct wish *wish)
{
    struct cloud_queue queue;
    bool found = false;
    if (!cloud_find_queue(wish->batch, wish->order->queue, &found, &queue)) {
        return false;
    }
    return (found || err_set(wish->err, ERR_NOT_FOUND, "%s", CLOUD_NO_QUEUE)) &&
           answer(wish, &queue);
}

static int by_name(const void *a, const void *b)
{
    return str_cmp(((const struct cloud_queue_view *)a)->queue.name,
                   ((const struct cloud_queue_view *)b)->queue.name);
}

bool cloud_list_queues(struct wish *wish)
{
    struct cloud_order *order = wish->order;
    struct records records;
    struct tx *tx = guest_tx(wish->batch);
    const struct record_filter filter = {.kind = RECORD_CLOUD_QUEUE, .owner = order->parent};
    if (tx == NULL || !guest_load_queues(wish->batch)) {
        return false;
    }
    if (!tx_records_list(tx, &filter, wish->arena, &records, wish->err)) {
        guest_store_failed(wish->batch, wish->err);
        return false;
    }
    order->views = arena_array(wish->arena, struct cloud_queue_view, records.count);
    order->count = 0;
    for (size_t i = 0; i < records.count; i++) {
        struct cloud_queue_view *view = &order->views[order->count];
        if (!cloud_queue_load(&records.at[i], wish->arena, &view->queue, wish->err)) {
            guest_store_failed(wish->batch, wish->err);
            return false;
        }
        if (!guest_queue(wish->batch, view->queue.name, &view->settings)) {
            return false;
        }
        order->count += !view->queue.deleting;
    }
    qsort(order->views, order->count, sizeof *order->views, by_name);
    return true;
}
