/* fleet/roster.c: the register of nodes: this one says that it lives, and reads who else does.
 *
 * What a node says of itself is three lines of JSON. Two of them the others pass on as they are:
 * itself as /api/nodes shows it, and its workers as /api/workers does. The third, how busy it is
 * and what its workers would take, they add up.
 *
 * Thread: the fleet's.
 *
 * SPDX-License-Identifier: MIT */
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "fleet/load.h"
#include "fleet/parts.h"
#include "wire/json.h"

#define WORKERS_TOLD 1000 /* of one node, to the others */

/* ---- What this node says of itself ---- */

static void put_worker(struct json_writer *w, const struct worker_view *worker, struct str node)
{
    char id[TASK_ID_TEXT];
    json_open_object(w);
    json_put_str(w, "id", worker->id);
    json_put_c(w, "kind", task_worker_kind_name(worker->kind));
    json_put_str(w, "node", node);
    json_put_c(w, "state", worker->tasks_count > 0 ? "busy" : "idle");
    json_put_array(w, "taskIds");
    for (size_t i = 0; i < worker->tasks_count; i++) {
        json_add_str(w, id_text(worker->tasks[i], id));
    }
    json_close_array(w);
    json_put_time(w, "lastSeenAt", worker->seen_ms);
    json_close_object(w);
}

static void write_workers(struct fleet *fleet, const struct command_workers *workers)
{
    for (size_t i = 0; i < MIN(workers->count, (size_t)WORKERS_TOLD); i++) {
        struct json_writer w = JSON_WRITER(&fleet->census);
        if (i > 0) {
            buf_char(&fleet->census, ',');
        }
        put_worker(&w, &workers->workers[i], fleet->with.node);
    }
}

static int64_t running(const struct command_workers *workers)
{
    int64_t n = 0;
    for (size_t i = 0; i < workers->count; i++) {
        n += (int64_t)workers->workers[i].tasks_count;
    }
    return n;
}

static void write_node(struct fleet *fleet, int64_t tasks)
{
    struct json_writer w = JSON_WRITER(&fleet->census);
    json_open_object(&w);
    json_put_str(&w, "id", fleet->with.node);
    json_put_str(&w, "address", fleet->with.address);
    json_put_i64(&w, "pid", getpid());
    json_put_bool(&w, "leader", fleet->epoch != 0);
    json_put_c(&w, "store", "ok");
    json_put_c(&w, "broker", broker_shown(fleet->broker, fleet_broker_health(fleet)));
    json_put_str(&w, "version", fleet->with.version);
    json_put_time(&w, "startedAt", fleet->with.started_ms);
    json_put_i64(&w, "running", tasks);
    if (fleet->clock.known) {
        json_put_i64(&w, "clockOffsetMs", fleet->clock.offset_ms);
    }
    json_close_object(&w);
}

void roster_answered(struct fleet *fleet, struct sent *sent)
{
    fleet->census_out = false;
    if (sent->command.err.kind != ERR_NONE) {
        return;
    }
    fleet->engine_sees = sent->command.workers.broker;
    fleet->engine_holds = sent->command.workers.holds;
    fleet->line = sent->command.workers.load.line;
    fleet->own_done = sent->command.workers.load.series;
    buf_clear(&fleet->census);
    write_node(fleet, running(&sent->command.workers));
    buf_char(&fleet->census, '\n');
    write_workers(fleet, &sent->command.workers);
    buf_char(&fleet->census, '\n');
    sent->command.workers.load.hints_layout = BROKER_LAYOUT;
    load_write(&fleet->census, &sent->command.workers.load);
    /* The others must know at once: those that see Redis ask the store too. */
    fleet->look_next_ms = fleet->beat_next_ms = 0;
}

void roster_ask_engine(struct fleet *fleet)
{
    if (!fleet->census_out) {
        fleet->census_out = true;
        fleet_send(fleet, fleet_order(fleet, COMMAND_WORKERS));
    }
}

/* ---- Who else is there ---- */

static void add(struct buf *to, struct str text)
{
    if (!str_absent(text) && text.len > 0) {
        if (to->len > 0) {
            buf_char(to, ',');
        }
        buf_str(to, text);
    }
}

/* Whether the node that says this of itself does not reach the broker. */
static bool is_blind(struct str node, struct arena *arena)
{
    return str_is(json_find_str(node, "broker", arena), "degraded");
}

/* What other nodes' workers would take, as one list for the engine. */
struct elsewhere {
    struct sent *sent;
    struct wanted *wanted;
    size_t count;
    uint64_t hash;
    struct series_sums done; /* by all of them since the last heartbeat */
    bool behind; /* one of them has not looked at what it runs since the store failed over */
};

/* A node that does not know such lines cannot be waited for. */
static bool is_behind(const struct fleet *fleet, int64_t line)
{
    return line == LINE_OPEN || (line != 0 && fleet->line != 0 && line != fleet->line);
}

static void add_load(struct fleet *fleet, struct str node, struct str text,
                     struct elsewhere *elsewhere)
{
    struct arena *arena = &elsewhere->sent->arena;
    struct err err = ERR_INIT;
    struct queue_load load = {0};
    bool read = !str_absent(text) && load_read(arena_str(arena, text), arena, &load, &err);
    fleet->layouts_differ = fleet->layouts_differ || load.hints_layout != BROKER_LAYOUT;
    if (!read) {
        return; /* an older node, or a newer one */
    }
    elsewhere->behind = elsewhere->behind || is_behind(fleet, load.line);
    tally_note(&fleet->tally, node, &load.series, &elsewhere->done);
    struct str wants = json_find(text, "wants", arena);
    elsewhere->hash = elsewhere->hash * 31 + (str_absent(wants) ? 0 : str_hash(wants));
    fleet->status.others.created_per_second += load.created_per_second;
    fleet->status.others.started_per_second += load.started_per_second;
    fleet->status.others.finished_per_second += load.finished_per_second;
    fleet->status.others.waiting_claims += load.waiting_claims;
    series_add(&fleet->status.others.series, &load.series);
    for (size_t i = 0; i < load.wanted_count; i++) {
        elsewhere->wanted[elsewhere->count++] = load.wanted[i];
    }
}

/* The engine is told when it has changed. */
static void tell_elsewhere(struct fleet *fleet, const struct elsewhere *elsewhere)
{
    struct sent *sent = elsewhere->sent;
    sent->command.elsewhere =
        (struct command_elsewhere){.wanted = elsewhere->wanted, .count = elsewhere->count};
    if (elsewhere->hash == fleet->elsewhere_hash) {
        arena_fini(&sent->arena);
        mem_free(sent);
        return;
    }
    fleet->elsewhere_hash = elsewhere->hash;
    fleet_send(fleet, sent);
}

/* What they did is part of the series that this node shows. While nobody does anything, this node
 * included, the store is not asked how much there is of what. */
static void tell_done(struct fleet *fleet, const struct series_sums *done)
{
    struct sent *sent = fleet_order(fleet, COMMAND_SERIES);
    struct series_news *news = arena_new(&sent->arena, struct series_news);
    struct series_sums all = fleet->own_done;
    struct store_counts counts;
    struct err err = ERR_INIT;
    series_add(&all, done);
    if (memcmp(&all, &fleet->done_told, sizeof all) == 0) {
        arena_fini(&sent->arena);
        mem_free(sent);
        return;
    }
    news->others = *done;
    news->counted = store_counts(fleet->with.store, &sent->arena, &counts, &err);
    for (size_t i = 0; news->counted && i < counts.count; i++) {
        news->queued += counts.at[i].tasks[TASK_QUEUED];
        news->running += counts.at[i].tasks[TASK_RUNNING];
    }
    if (news->counted) {
        fleet->done_told = fleet->own_done;
    }
    sent->command.series.news = news;
    fleet_send(fleet, sent);
}

/* Every node has stopped what the rows do not know: see queue/failover.c. */
static void tell_resume(struct fleet *fleet, bool behind)
{
    if (fleet->engine_holds && fleet->line != LINE_OPEN && !behind) {
        struct sent *sent = fleet_order(fleet, COMMAND_RESUME);
        sent->command.resume.line = fleet->line;
        fleet_send(fleet, sent);
    }
}

static void note_nodes(struct fleet *fleet, const struct steward_node *nodes, size_t count)
{
    struct elsewhere elsewhere = {.sent = fleet_order(fleet, COMMAND_ELSEWHERE)};
    elsewhere.wanted =
        arena_array(&elsewhere.sent->arena, struct wanted, count * LOAD_WANTED_MAX + 1);
    pthread_mutex_lock(&fleet->lock);
    fleet->status.others = (struct queue_load){0};
    buf_clear(&fleet->nodes);
    buf_clear(&fleet->workers);
    fleet->status.nodes = 1;
    fleet->other_blind = fleet->layouts_differ = false;
    for (size_t i = 0; i < count; i++) {
        struct str body = nodes[i].body, node = str_cut(&body, '\n');
        struct str workers = str_absent(body) ? body : str_cut(&body, '\n');
        if (str_eq(nodes[i].id, fleet->with.node)) {
            continue;
        }
        add(&fleet->nodes, node);
        add(&fleet->workers, workers);
        if (node.len > 0) { /* one that has only just come has said nothing yet */
            add_load(fleet, nodes[i].id, body, &elsewhere);
        }
        fleet->status.nodes++;
        fleet->other_blind = fleet->other_blind || is_blind(node, &elsewhere.sent->arena);
    }
    pthread_mutex_unlock(&fleet->lock);
    tally_end(&fleet->tally);
    tell_done(fleet, &elsewhere.done);
    tell_resume(fleet, elsewhere.behind);
    tell_elsewhere(fleet, &elsewhere);
}

/* Said once, not with every heartbeat. */
static void note_store(struct fleet *fleet, bool away)
{
    if (fleet->store_away != away) {
        fleet->store_away = away;
        log_info(away ? "the store cannot be reached" : "the store answers again");
    }
}

/* A transaction of the engine's that reads the queues' limits, which may have changed, too. */
static void ask_of_store(struct fleet *fleet)
{
    struct sent *sent = fleet_order(fleet, COMMAND_HEARD);
    sent->command.heard.settings = true;
    fleet_send(fleet, sent);
}

static void lose_store(struct fleet *fleet, const struct err *err)
{
    if (err->kind == ERR_FATAL) {
        ask_of_store(fleet); /* the engine meets the same, and ends the node */
    }
    if (!fleet->store_away) {
        log_warn("the register of nodes: %s", err->text);
    }
    note_store(fleet, err->kind == ERR_UNAVAILABLE);
    steward_close(fleet->steward);
    fleet->steward = NULL;
}

/* They belong to the fleet as its nodes do, and are looked at as often. */
static bool pass_on_tokens(struct fleet *fleet, struct err *err)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct steward_stamp stamp;
    struct steward_token *tokens;
    size_t count;
    if (!steward_tokens_stamp(fleet->steward, &stamp, err)) {
        return false;
    }
    if (stamp.newest == fleet->tokens.newest && stamp.count == fleet->tokens.count) {
        return true;
    }
    if (!steward_tokens(fleet->steward, &arena, &tokens, &count, err)) {
        return false;
    }
    fleet->with.tokens(fleet->with.tokens_arg, tokens, count);
    fleet->tokens = stamp; /* older than what was told, if somebody came between: told again */
    return true;
}

/* Said when it changes, not with every heartbeat. */
static bool compare_clocks(struct fleet *fleet, int64_t *now_ms, struct err *err)
{
    bool was_off = fleet->clock.off;
    if (!fleet_clock_ask(fleet->steward, &fleet->clock, now_ms, err)) {
        return false;
    }
    if (fleet->clock.off && !was_off) {
        log_warn(
            "this machine's clock is %lld ms off the store's, by which this node goes instead; "
            "is it synchronized?",
            (long long)fleet->clock.offset_ms);
    } else if (was_off && !fleet->clock.off) {
        log_info("this machine's clock is right again");
    }
    if (fleet_clock_follow(&fleet->clock, fleet->with.clock)) {
        fleet_send(fleet, fleet_order(fleet, COMMAND_HEARD)); /* it may sleep by the other time */
    }
    return true;
}

/* Another server answers than the engine knows: it finds out what that means, in a transaction of
 * its own. Where it is a standby that lacks what was written last, numbers of messages are counted
 * again, and what the broker was told may not be so. */
static void watch_server(struct fleet *fleet)
{
    struct store_ground ground = store_ground(fleet->with.store);
    if (fleet->history != ground.history) {
        fleet->history = ground.history;
        fleet->heard_begun = false;
        fleet->heard_number = 0;
        fleet->lead_next_ms = 0;
        fleet->walk = (struct walk){.under_way = true, .refill = fleet->walk.refill};
    }
    if (steward_server(fleet->steward) != ground.server) {
        ask_of_store(fleet);
    }
}

static bool beat(struct fleet *fleet, struct err *err)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct steward_node *nodes;
    size_t count;
    int64_t now_ms;
    if (!compare_clocks(fleet, &now_ms, err)) {
        return false;
    }
    const struct steward_node self = {
        .id = fleet->with.node, .body = buf_view(&fleet->census), .seen_ms = now_ms};
    if (!steward_beat(fleet->steward, &self, now_ms - FLEET_DEAD_MS, err) ||
        !steward_nodes(fleet->steward, &arena, &nodes, &count, err)) {
        return false;
    }
    watch_server(fleet);
    note_nodes(fleet, nodes, count);
    return pass_on_tokens(fleet, err);
}

void roster_tick(struct fleet *fleet, int64_t now_ms)
{
    struct err err = ERR_INIT;
    if (now_ms < fleet->beat_next_ms) {
        return;
    }
    bool passes_on = fleet->beat_next_ms == 0 && fleet->census.len > 0; /* what the engine said */
    fleet->beat_next_ms = now_ms + FLEET_BEAT_MS;
    if (fleet->census.len == 0) {
        write_node(fleet, 0);
    }
    if (!beat(fleet, &err)) {
        lose_store(fleet, &err);
        return;
    }
    note_store(fleet, false);
    if (!passes_on) {
        roster_ask_engine(fleet);
    }
}
