/* queue/lane.c: what the engine knows of each queue. See lane.h.
 *
 * SPDX-License-Identifier: MIT */
#include "queue/lane.h"

#include "base/mem.h"
#include "queue/due.h"
#include "store/rate.h"

void lanes_init(struct lanes *lanes, bool shared)
{
    *lanes = (struct lanes){.by_name = MAP_INIT, .shared = shared};
    list_init(&lanes->all);
    list_init(&lanes->ready);
    list_init(&lanes->limited);
    list_init(&lanes->any);
    list_init(&lanes->idle);
    lanes->common = lane_get(lanes, STR("default"));
    lane_settle(lanes, lanes->common);
    lanes->count = 0;
}

void lanes_fini(struct lanes *lanes)
{
    LIST_EACH(&lanes->all, it)
    {
        struct lane *lane = HOLDER(it, struct lane, all);
        mem_free((char *)lane->settings.name.ptr);
        mem_free(lane);
    }
    map_fini(&lanes->by_name);
}

struct lane *lane_find(const struct lanes *lanes, struct str name)
{
    struct map_node *node = map_find(&lanes->by_name, str_hash(name));
    while (node != NULL && !str_eq(HOLDER(node, struct lane, node)->settings.name, name)) {
        node = map_again(node);
    }
    return node == NULL ? NULL : HOLDER(node, struct lane, node);
}

struct lane *lane_get(struct lanes *lanes, struct str name)
{
    if (lanes->last != NULL && str_eq(lanes->last->settings.name, name)) {
        return lanes->last;
    }
    struct lane *lane = lane_find(lanes, name);
    if (lane != NULL) {
        lanes->last = lane;
        return lane;
    }
    lane = mem_new(struct lane);
    lane->settings.name = (struct str){mem_text(name.ptr, name.len), name.len};
    list_init(&lane->waiting);
    lane->shared = lanes->shared;
    lane->fleet_room = SIZE_MAX;
    map_add(&lanes->by_name, &lane->node, str_hash(name));
    list_append(&lanes->all, &lane->all);
    lanes->count++;
    lane_settle(lanes, lane);
    lanes->last = lane;
    return lane;
}

static void refill(struct lane *lane, struct now now)
{
    double passed = (double)(now.mono_ms - lane->tokens_mono_ms) / 1000;
    lane->tokens =
        fmin(rate_burst(&lane->settings), lane->tokens + passed * lane->settings.rate_per_second);
    lane->tokens_mono_ms = now.mono_ms;
}

size_t lane_room(struct lane *lane, struct now now)
{
    int64_t room = INT64_MAX;
    if (lane->settings.paused) {
        return 0;
    }
    if (lane->shared) {
        size_t taken = (size_t)MAX(lane->pending, 0);
        return lane->fleet_room == SIZE_MAX ? SIZE_MAX
                                            : lane->fleet_room - MIN(taken, lane->fleet_room);
    }
    if (lane->settings.max_concurrent > 0) {
        room = lane->settings.max_concurrent - lane->running - lane->pending;
    }
    if (lane->settings.rate_per_second > 0) {
        refill(lane, now);
        room = MIN(room, (int64_t)rate_whole(lane->tokens) - lane->pending);
    }
    return room == INT64_MAX ? SIZE_MAX : (size_t)MAX(room, 0);
}

bool lane_limited(struct lane *lane, struct now now)
{
    return !lane->settings.paused && lane_room(lane, now) == 0;
}

static bool has_limit(const struct store_queue *settings)
{
    return settings->paused || settings->max_concurrent > 0 || settings->rate_per_second > 0;
}

/* ---- Which lanes are needed ---- */

void lane_settle(struct lanes *lanes, struct lane *lane)
{
    /* Where others use the store too, memory does not know how many tasks a queue has, and need
     * not: the lane comes back with the next of them. */
    bool idle = list_empty(&lane->waiting) && lane->pending == 0 &&
                (lanes->shared || lane->live == 0) && !has_limit(&lane->settings) &&
                lane->settings.burst == 0 && lane != lanes->common;
    if (link_in_list(&lane->idle)) {
        list_remove(&lane->idle);
        lanes->idle_count--;
    }
    if (idle) {
        list_append(&lanes->idle, &lane->idle);
        lanes->idle_count++;
    }
}

bool lanes_admit(const struct lanes *lanes, const struct str *names, size_t count, struct err *err)
{
    size_t used = lanes->count - lanes->idle_count;
    for (size_t i = 0; used + count > LANES_MAX && i < count; i++) {
        used += lane_find(lanes, names[i]) == NULL;
        if (used > LANES_MAX) {
            return err_set(
                err, ERR_BUSY,
                "%d queues have tasks, settings or claims that wait, and there cannot be "
                "more: use one of them, or ask again when one has run empty",
                LANES_MAX);
        }
    }
    return true;
}

static void lane_forget(struct lanes *lanes, struct lane *lane)
{
    histogram_merge(&lanes->gone_wait, &lane->wait);
    histogram_merge(&lanes->gone_run, &lane->run);
    map_remove(&lanes->by_name, &lane->node);
    list_remove(&lane->all);
    list_remove(&lane->idle);
    lanes->idle_count--;
    lanes->count--;
    lanes->last = lanes->last == lane ? NULL : lanes->last;
    mem_free((char *)lane->settings.name.ptr);
    mem_free(lane);
}

void lanes_trim(struct lanes *lanes)
{
    LIST_EACH(&lanes->idle, it)
    {
        struct lane *lane = HOLDER(it, struct lane, idle);
        if (lanes->count <= LANES_MAX) {
            return;
        }
        if (!link_in_list(&lane->ready)) { /* else claims on every queue are still to be asked */
            lane_forget(lanes, lane);
        }
    }
}

void lane_configure(struct lanes *lanes, struct lane *lane, const struct store_queue *settings,
                    bool at_boot, struct now now)
{
    struct str name = lane->settings.name;
    if (lane->settings.rate_per_second > 0) {
        refill(lane, now);
    } else if (settings->rate_per_second > 0) {
        /* A new rate begins with a full bucket; after a restart nobody knows how full it was, and
         * a hard limit must not be exceeded by restarting. */
        lane->tokens = at_boot ? 0 : rate_burst(settings);
        lane->tokens_mono_ms = now.mono_ms;
    }
    lane->settings = *settings;
    lane->settings.name = name;
    if (link_in_list(&lane->limited)) {
        list_remove(&lane->limited);
    }
    if (has_limit(settings)) {
        list_append(&lanes->limited, &lane->limited);
    }
    lane_settle(lanes, lane);
    lane_wake(lanes, lane);
}

void lane_started(struct lane *lane, struct now now)
{
    lane->running++;
    if (lane->settings.rate_per_second > 0) {
        refill(lane, now);
        lane->tokens -= 1;
    }
}

void lane_wake(struct lanes *lanes, struct lane *lane)
{
    bool awaited = !list_empty(&lane->waiting) || !list_empty(&lanes->any);
    if (awaited && !link_in_list(&lane->ready)) {
        list_append(&lanes->ready, &lane->ready);
    }
}

void lanes_wake(struct lanes *lanes, struct str name)
{
    struct lane *lane = lane_find(lanes, name);
    if (lane != NULL || !list_empty(&lanes->any)) {
        lane_wake(lanes, lane != NULL ? lane : lane_get(lanes, name));
    }
}

void lanes_wake_all(struct lanes *lanes)
{
    LIST_EACH(&lanes->all, it)
    {
        lane_wake(lanes, HOLDER(it, struct lane, all));
    }
}

int64_t lanes_in_ms(struct lanes *lanes, struct now now)
{
    int64_t soonest = NEVER_MS;
    LIST_EACH(&lanes->limited, it)
    {
        struct lane *lane = HOLDER(it, struct lane, limited);
        bool awaited = !list_empty(&lane->waiting) || !list_empty(&lanes->any);
        if (!awaited || lane->settings.paused || lane->settings.rate_per_second <= 0) {
            continue;
        }
        if (lane->shared) {
            int64_t in = lane->opens_mono_ms - now.mono_ms;
            soonest = in > 0 ? MIN(soonest, in) : soonest;
            continue;
        }
        refill(lane, now);
        if (rate_whole(lane->tokens) >= 1) {
            continue; /* time alone opens it no further: a task must come, or one that runs end */
        }
        soonest = MIN(soonest, rate_wait_ms(lane->tokens, lane->settings.rate_per_second));
    }
    return soonest;
}
