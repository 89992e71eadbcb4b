/* fleet/lead.c: who leads.
 *
 * With Redis: the key errand:leader, taken by SET NX with a time to live, renewed and given up by
 * scripts that check the owner; its holder then takes the leader's row in the store by force, which
 * raises the epoch and fences whoever led before. Without Redis the row alone elects, by
 * compare-and-set. The row is renewed in both cases, so a node that is blind to Redis sees a live
 * leader in the store and does not take its place.
 *
 * Thread: the fleet's.
 *
 * SPDX-License-Identifier: MIT */
#include "base/log.h"
#include "base/mem.h"
#include "fleet/parts.h"

/* Only its owner renews the key or gives it up. */
#define IF_OURS "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call("
#define RENEW   IF_OURS "'PEXPIRE', KEYS[1], ARGV[2]) end return 0"
#define RELEASE IF_OURS "'DEL', KEYS[1]) end return 0"

/* ---- The key in Redis ---- */

static bool key_take(struct fleet *fleet)
{
    struct err err = ERR_INIT;
    struct redis_reply *reply;
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    REDIS_ADD(fleet->redis, STR("SET"), fleet->leader_key, fleet->with.node, STR("NX"), STR("PX"),
              arena_printf(&arena, "%lld", (long long)FLEET_LEAD_TTL_MS));
    return redis_run(fleet->redis, &arena, &reply, &err) && reply[0].kind == REDIS_TEXT;
}

static bool key_script(struct fleet *fleet, const char *text)
{
    struct err err = ERR_INIT;
    struct redis_reply *reply;
    struct redis_script script;
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    redis_script_init(&script, str_of(text));
    const struct str words[] = {fleet->with.node,
                                arena_printf(&arena, "%lld", (long long)FLEET_LEAD_TTL_MS)};
    redis_add_script(fleet->redis, &script, fleet->leader_key, words, ARRAY_LEN(words));
    return redis_run(fleet->redis, &arena, &reply, &err) && reply[0].kind == REDIS_NUMBER &&
           reply[0].number == 1;
}

/* ---- Telling ---- */

static void tell_watchers(struct fleet *fleet)
{
    struct event_batch *batch = mem_new(struct event_batch);
    batch->events = arena_array(&batch->arena, struct event, 1);
    batch->count = 1;
    batch->events[0] = (struct event){.kind = EVENT_LEADER,
                                      .at_ms = clock_now(fleet->with.clock).wall_ms,
                                      .percent = -1,
                                      .text = arena_str(&batch->arena, fleet->with.node)};
    fleet_tell(fleet, batch);
    fleet->with.heard(fleet->with.heard_arg, batch);
}

static void set_epoch(struct fleet *fleet, uint64_t epoch)
{
    if (epoch == fleet->epoch) {
        return;
    }
    bool began = fleet->epoch == 0 && epoch != 0;
    fleet->epoch = epoch;
    log_info(epoch == 0 ? "this node leads no more" : "this node leads now");
    struct sent *sent = fleet_order(fleet, COMMAND_LEAD);
    sent->command.lead.epoch = epoch;
    fleet_send(fleet, sent);
    if (began) {
        fleet->due_next_ms = 0; /* what the last leader left behind */
        tell_watchers(fleet);
    }
}

/* ---- Leading ---- */

/* The store's clock and rows decide; being refused there means somebody else has forced it. */
static void take_row(struct fleet *fleet, bool by_force)
{
    struct err err = ERR_INIT;
    uint64_t epoch = 0;
    if (steward_lead(fleet->steward, fleet->with.node, FLEET_LEAD_TTL_MS, by_force, &epoch, &err)) {
        set_epoch(fleet, epoch);
    }
}

/* Gives up the key and the row, so that nobody has to wait for their end. */
static void yield_lead(struct fleet *fleet)
{
    struct err err = ERR_INIT;
    if (fleet->epoch == 0) {
        return;
    }
    if (fleet_redis_up(fleet)) {
        (void)!key_script(fleet, RELEASE);
        fleet->key_ours = false;
    }
    if (fleet->steward != NULL &&
        !steward_resign(fleet->steward, fleet->with.node, fleet->epoch, &err)) {
        log_warn("resign: %s", err.text);
    }
    set_epoch(fleet, 0);
}

void lead_tick(struct fleet *fleet, int64_t now_ms)
{
    if (fleet->quiet) {
        yield_lead(fleet);
        return;
    }
    if (now_ms < fleet->lead_next_ms) {
        return;
    }
    bool led = fleet->epoch != 0;
    if (!fleet_redis_up(fleet)) { /* the key may outlive the outage, and is then renewed */
        take_row(fleet, false);
    } else {
        /* The key may be ours while the row is not: a standby that took the store's place may not
         * know that we led. */
        fleet->key_ours = (fleet->key_ours && key_script(fleet, RENEW)) || key_take(fleet);
        if (fleet->key_ours) {
            take_row(fleet, !led);
        } else if (fleet_redis_up(fleet)) {
            set_epoch(fleet, 0);
        }
    }
    bool leads = fleet->epoch != 0;
    fleet->lead_next_ms = now_ms + (leads ? FLEET_LEAD_EVERY_MS : FLEET_TRY_EVERY_MS);
}

void lead_resign(struct fleet *fleet)
{
    struct err err = ERR_INIT;
    yield_lead(fleet);
    if (fleet->steward != NULL && !steward_leave(fleet->steward, fleet->with.node, &err)) {
        log_warn("leave the fleet: %s", err.text);
    }
}
