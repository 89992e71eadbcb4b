/* fleet/walk.c: what others left behind, found by walking over the rows a page at a time.
 *
 * Due times: each node minds the deadlines of what went through its own hands; the leader also
 * those of nodes that are gone. It fetches them a little before they come and hands them to its
 * engine, which reads the rows again and decides.
 *
 * Hints: what is QUEUED in the store but unknown to the broker would wait for ever. Every node
 * walks once at its start, the leader all the time, slowly, and at once when the broker has lost
 * everything. Documents likewise; the leader also looks every second for holds that nobody owns,
 * as long as that costs little.
 *
 * Thread: the fleet's.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/log.h"
#include "fleet/parts.h"

#define WALK_PAUSE_MS  (5 * SECOND_MS) /* between two walks of the leader */
#define OTHERS_WAIT_MS SECOND_MS       /* before a node that does not lead fills an empty broker */
#define ORPHANS_MS     SECOND_MS       /* between two looks for orphans, ... */
#define ORPHANS_MAX    200             /* ... while no more documents than this are held */

/* ---- Due times ---- */

static void review(struct fleet *fleet, const struct steward_due *due, size_t count)
{
    struct sent *sent = fleet_order(fleet, COMMAND_REVIEW);
    struct task_id *ids = arena_array(&sent->arena, struct task_id, count);
    for (size_t i = 0; i < count; i++) {
        ids[i] = due[i].id;
    }
    sent->command.review.ids = ids;
    sent->command.review.count = count;
    fleet_send(fleet, sent);
}

static void look_for_due(struct fleet *fleet, int64_t now_ms)
{
    struct err err = ERR_INIT;
    struct task_id after = TASK_ID_NONE;
    int64_t wall_ms = clock_now(fleet->with.clock).wall_ms, after_ms = 0;
    size_t count = FLEET_PAGE;
    SCOPED(mem_free_at) struct steward_due *due = mem_array(NULL, FLEET_PAGE, sizeof *due);
    if (fleet->epoch == 0 || now_ms < fleet->due_next_ms) {
        return;
    }
    fleet->due_next_ms = now_ms + SECOND_MS;
    while (count == FLEET_PAGE && steward_due(fleet->steward, wall_ms + FLEET_AHEAD_MS, after_ms,
                                              after, FLEET_PAGE, due, &count, &err)) {
        if (count > 0) {
            review(fleet, due, count);
            after_ms = due[count - 1].due_ms;
            after = due[count - 1].id;
        }
    }
}

/* Cancels cross by messages; while those go through the store, a look is safer. */
static void look_for_cancels(struct fleet *fleet)
{
    struct err err = ERR_INIT;
    struct task_id *ids;
    size_t count = 0;
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    if (fleet_redis_up(fleet) ||
        !steward_cancelled(fleet->steward, fleet->with.node, &arena, &ids, &count, &err) ||
        count == 0) {
        return;
    }
    struct sent *sent = fleet_order(fleet, COMMAND_REVIEW);
    struct task_id *copy = arena_array(&sent->arena, struct task_id, count);
    memcpy(copy, ids, count * sizeof *ids);
    sent->command.review.ids = copy;
    sent->command.review.count = count;
    fleet_send(fleet, sent);
}

/* ---- Hints ---- */

static bool offer_page(struct fleet *fleet, struct err *err)
{
    struct walk *walk = &fleet->walk;
    size_t count;
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct hint *hints = arena_array(&arena, struct hint, FLEET_PAGE);
    if (!steward_queued(fleet->steward, walk->after, FLEET_PAGE, &arena, hints, &count, err)) {
        return false;
    }
    broker_offer_again(fleet->broker, hints, count);
    broker_flush(fleet->broker);
    walk->under_way = count == FLEET_PAGE;
    walk->after = walk->under_way ? hints[count - 1].id : TASK_ID_NONE;
    return true;
}

/* ---- Documents ---- */

static void names_add(struct names *names, struct str name)
{
    *ARRAY_PUSH(names->at, names->count, names->room) = str_hash(name);
}

static int by_number(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

static void names_sort(struct names *names)
{
    if (names->count > 0) {
        qsort(names->at, names->count, sizeof *names->at, by_number);
    }
}

static bool names_has(const struct names *names, struct str name) /* when they are sorted */
{
    uint64_t hash = str_hash(name);
    return names->count > 0 &&
           bsearch(&hash, names->at, names->count, sizeof *names->at, by_number) != NULL;
}

/* A document with its holder: another one's hold of it is another matter. */
static struct str suspect_name(const struct broker_document *found, struct arena *arena)
{
    char id[TASK_ID_TEXT];
    return arena_printf(arena, "%s " STR_FMT, id_text(found->holder, id).ptr,
                        STR_ARG(found->document));
}

/* What the broker holds and the store does not: left by a node that died between its claim and the
 * commit. One that was just taken looks the same, so it must have been seen in the last look too.
 */
static void free_orphans(struct fleet *fleet)
{
    struct names orphans = {0};
    uint64_t cursor = 0;
    names_sort(&fleet->held);
    do {
        struct broker_document *found;
        SCOPED(arena_fini) struct arena arena = ARENA_INIT;
        size_t count = broker_held(fleet->broker, &cursor, FLEET_PAGE, &arena, &found);
        for (size_t i = 0; i < count; i++) {
            if (names_has(&fleet->held, found[i].document)) {
                continue;
            }
            struct str name = suspect_name(&found[i], &arena);
            if (names_has(&fleet->suspects, name)) {
                broker_let_go(fleet->broker, found[i].document, found[i].holder, STR_NONE);
            } else {
                names_add(&orphans, name);
            }
        }
        broker_flush(fleet->broker);
    } while (cursor != 0);
    names_sort(&orphans);
    mem_free(fleet->suspects.at);
    fleet->suspects = orphans;
    fleet->held_last = fleet->held.count;
    fleet->held.count = 0;
}

/* Between two walks, if few documents are held. What is held is only read: telling the broker again
 * and again would bring back a hold that was released meanwhile. */
static void look_for_orphans(struct fleet *fleet, int64_t now_ms)
{
    struct err err = ERR_INIT;
    size_t count;
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    if (fleet->epoch == 0 || !fleet_redis_up(fleet) || fleet->walk.under_way ||
        fleet->held_last > ORPHANS_MAX || now_ms < fleet->orphans_next_ms) {
        return;
    }
    fleet->orphans_next_ms = now_ms + ORPHANS_MS;
    struct steward_held *held = arena_array(&arena, struct steward_held, ORPHANS_MAX + 1);
    if (!steward_held(fleet->steward, STR(""), ORPHANS_MAX + 1, &arena, held, &count, &err)) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        names_add(&fleet->held, held[i].document);
    }
    if (count <= ORPHANS_MAX) {
        free_orphans(fleet);
    }
    fleet->held_last = count;
    fleet->held.count = 0;
}

static bool hold_page(struct fleet *fleet, struct err *err)
{
    struct walk *walk = &fleet->walk;
    size_t count;
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct steward_held *held = arena_array(&arena, struct steward_held, FLEET_PAGE);
    if (!steward_held(fleet->steward, str_of(walk->document), FLEET_PAGE, &arena, held, &count,
                      err)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        broker_hold(fleet->broker, held[i].document, held[i].holder, held[i].lock);
        names_add(&fleet->held, held[i].document);
    }
    broker_flush(fleet->broker);
    walk->documents_done = count < FLEET_PAGE;
    if (walk->documents_done) {
        free_orphans(fleet);
    } else {
        struct str last = held[count - 1].document;
        snprintf(walk->document, sizeof walk->document, STR_FMT, STR_ARG(last));
    }
    return true;
}

static void finish_walk(struct fleet *fleet, int64_t now_ms)
{
    struct walk *walk = &fleet->walk;
    if (walk->refill) {
        broker_filled(fleet->broker);
        fleet->empty_since_ms = 0;
        log_info("the broker has its hints again");
        roster_ask_engine(fleet); /* it finds that out, and is told whether all nodes see it */
    }
    *walk = (struct walk){.next_ms = now_ms + WALK_PAUSE_MS};
}

/* Documents first, so that no hint comes forward whose document is held. */
static bool walk_page(struct fleet *fleet, int64_t now_ms, struct err *err)
{
    struct walk *walk = &fleet->walk;
    if (!(walk->documents_done ? offer_page(fleet, err) : hold_page(fleet, err))) {
        return false;
    }
    bus_wake(fleet);
    if (!walk->under_way) {
        finish_walk(fleet, now_ms);
    }
    return true;
}

static void begin_walk(struct fleet *fleet, bool refill)
{
    fleet->walk = (struct walk){.under_way = true, .refill = refill};
    if (refill) {
        broker_fill(fleet->broker);
    }
}

/* While older nodes are around, what they keep in Redis is in use. */
static void tidy(struct fleet *fleet)
{
    if (fleet->epoch != 0 && !fleet->tidy && !fleet->layouts_differ && fleet_redis_up(fleet)) {
        fleet->tidy = !broker_tidy(fleet->broker);
    }
}

/* The leader fills an empty broker at once; the others only if it does not. */
static void watch_empty(struct fleet *fleet, int64_t now_ms)
{
    if (!broker_empty(fleet->broker)) {
        fleet->empty_since_ms = 0;
        return;
    }
    if (fleet->empty_since_ms == 0) {
        fleet->empty_since_ms = now_ms;
    }
    bool mine = fleet->epoch != 0 || now_ms - fleet->empty_since_ms >= OTHERS_WAIT_MS;
    if (mine && !fleet->walk.refill) {
        begin_walk(fleet, true);
    }
}

void walk_tick(struct fleet *fleet, int64_t now_ms)
{
    struct err err = ERR_INIT;
    struct walk *walk = &fleet->walk;
    look_for_due(fleet, now_ms);
    look_for_cancels(fleet);
    look_for_orphans(fleet, now_ms);
    watch_empty(fleet, now_ms);
    tidy(fleet);
    if (!walk->under_way && fleet->epoch != 0 && now_ms >= walk->next_ms) {
        begin_walk(fleet, false);
    }
    bool hurry = walk->refill; /* claims ask the store until this is done */
    while (walk->under_way && !fleet->stop) {
        if (!walk_page(fleet, now_ms, &err)) {
            if (err.kind != ERR_UNAVAILABLE) { /* that is said by the heartbeat */
                log_warn("offer what is queued: %s", err.text);
            }
            return;
        }
        if (!hurry) {
            return; /* a page a tick is enough when nobody waits for it */
        }
    }
}
