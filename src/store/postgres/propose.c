/* store/postgres/propose.c: what a broker would propose, straight from the rows.
 *
 * A walk along the queues and types that are asked for, best first, in windows. What
 * is free is locked without waiting, so that two nodes never propose one task, nor two of one
 * document. Many tasks that wait for one document would have to be walked past by everybody: they
 * are parked (park_tasks) as soon as they are met, in a transaction of its own, because this
 * one may come to nothing.
 *
 * Within one transaction a task is proposed once; the same question again goes on where it stopped.
 *
 * Thread: engine. Keeps: G3, G4.
 *
 * SPDX-License-Identifier: MIT */
#include "base/log.h"
#include "base/mem.h"
#include "store/postgres/fleet.h"
#include "store/postgres/postgres.h"

#define WINDOW_MIN 64
#define WINDOW_MAX 1000
#define WALK_MAX   20000 /* rows that one question looks at */
#define PARK_MIN   8     /* of a window: less is not worth a transaction */
#define DOCUMENTS_MAX                                                                              \
    1000 /* whose locks one question takes: the server has room for some thousands */

/* A task or a document that was given to somebody in this transaction, or is in a line seen. */
struct proposed {
    struct map_node node;
    struct task_id id;
    struct str document; /* absent: it is a task */
};

/* The best of a document, family, queue and type in this walk: others of them stand behind it. */
struct line {
    struct map_node node;
    const struct row *first;
    bool crowded;
};

/* A row of a window. */
struct row {
    struct hint hint;
    struct task_id family;
    bool blocked; /* its document is held by another */
};

struct walk {
    struct pg_tx *tx;
    const struct want *want;
    struct arena *arena;
    struct hint *out;
    size_t max, count;
    size_t *rooms; /* what is left of each wanted queue */
    size_t looked, documents;
    struct map lines;
    struct hint *picked; /* of this window */
    size_t picked_count, crowd;
};

static void walk_fini(struct walk *walk)
{
    map_fini(&walk->lines);
    mem_free(walk->rooms);
}

/* ---- What was given before ---- */

static bool is_proposed(const struct pg_tx *tx, struct task_id id, struct str document)
{
    uint64_t hash = str_absent(document) ? id_hash(id) : str_hash(document);
    for (struct map_node *n = map_find(&tx->proposed, hash); n != NULL; n = map_again(n)) {
        const struct proposed *known = HOLDER(n, struct proposed, node);
        bool same = str_absent(document)
                        ? str_absent(known->document) && id_eq(known->id, id)
                        : !str_absent(known->document) && str_eq(known->document, document);
        if (same) {
            return true;
        }
    }
    return false;
}

static void add_proposed(struct pg_tx *tx, struct task_id id, struct str document)
{
    struct proposed *known = arena_new(&tx->arena, struct proposed);
    known->id = id;
    known->document = arena_str(&tx->arena, document);
    map_add(&tx->proposed, &known->node, str_absent(document) ? id_hash(id) : str_hash(document));
}

/* ---- Where to go on ---- */

static uint64_t mix(uint64_t hash, struct str text)
{
    return (hash ^ str_hash(text)) * UINT64_C(0x9E3779B97F4A7C15);
}

/* The question by its names: rooms may have changed since. Never 0. */
static uint64_t want_hash(const struct want *want)
{
    uint64_t hash = want->any_queue ? 3 : 5;
    for (size_t i = 0; i < want->types_count; i++) {
        hash = mix(hash, want->types[i]);
    }
    hash += 7;
    for (size_t i = 0; !want->any_queue && i < want->queues_count; i++) {
        hash = mix(hash, want->queues[i].name);
    }
    return hash | 1;
}

static void start_walk(struct walk *walk)
{
    struct pg_tx *tx = walk->tx;
    uint64_t want = want_hash(walk->want);
    if (tx->walked.want != want) {
        tx->walked.want = want;
        tx->walked.id = TASK_ID_NONE;
    }
    walk->rooms = mem_array(NULL, MAX(walk->want->queues_count, (size_t)1), sizeof *walk->rooms);
    for (size_t i = 0; i < walk->want->queues_count; i++) {
        walk->rooms[i] = walk->want->queues[i].room;
    }
}

/* ---- One window ---- */

static size_t *room_of(struct walk *walk, struct str queue)
{
    for (size_t i = 0; i < walk->want->queues_count; i++) {
        if (str_eq(walk->want->queues[i].name, queue)) {
            return &walk->rooms[i];
        }
    }
    return NULL;
}

/* Queues that are asked for and have room; or with any queue those that have none. */
static size_t list_queues(struct walk *walk, bool with_room, struct arena *arena, struct str **out)
{
    size_t n = 0;
    *out = arena_array(arena, struct str, walk->want->queues_count + 1);
    for (size_t i = 0; i < walk->want->queues_count; i++) {
        if ((walk->rooms[i] > 0) == with_room) {
            (*out)[n++] = walk->want->queues[i].name;
        }
    }
    return n;
}

static void args_window(struct walk *walk, size_t window, struct args *args)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    const struct want *want = walk->want;
    const struct pg_tx *tx = walk->tx;
    struct str *open, *full;
    size_t open_count = list_queues(walk, true, &arena, &open);
    size_t full_count = list_queues(walk, false, &arena, &full);
    arg_texts(args, want->any_queue ? NULL : open, want->any_queue ? 0 : open_count);
    arg_texts(args, full, full_count);
    arg_texts(args, want->types_count == 0 ? NULL : want->types, want->types_count);
    arg_int(args, (int64_t)window);
    if (!id_none(tx->walked.id)) {
        arg_small(args, (int32_t)tx->walked.priority);
        arg_int(args, tx->walked.queued_ms);
        arg_id(args, tx->walked.id);
    }
}

/* The columns of propose. */
static void read_window_row(const PGresult *rows, size_t i, struct arena *arena, struct row *out)
{
    out->hint = (struct hint){.id = get_id(rows, i, 0),
                              .type = arena_str(arena, get_str(rows, i, 1)),
                              .queue = arena_str(arena, get_str(rows, i, 2)),
                              .document = arena_str(arena, get_str(rows, i, 3)),
                              .priority = (enum task_priority)get_int(rows, i, 4),
                              .queued_ms = get_int(rows, i, 5)};
    out->blocked = get_bool(rows, i, 6);
    out->family = get_id(rows, i, 7);
}

static bool same_line(const struct row *a, const struct row *b)
{
    return id_eq(a->family, b->family) && str_eq(a->hint.document, b->hint.document) &&
           str_eq(a->hint.queue, b->hint.queue) && str_eq(a->hint.type, b->hint.type);
}

/* Notes the task in the line of its document, family, queue and type: true if others are before it.
 */
static bool join_line(struct walk *walk, const struct row *row)
{
    uint64_t hash = id_hash(row->family);
    hash = mix(mix(mix(hash, row->hint.document), row->hint.queue), row->hint.type);
    for (struct map_node *n = map_find(&walk->lines, hash); n != NULL; n = map_again(n)) {
        struct line *line = HOLDER(n, struct line, node);
        if (same_line(line->first, row)) {
            line->crowded = true;
            walk->crowd++;
            return true;
        }
    }
    struct line *line = arena_new(walk->arena, struct line);
    line->first = row;
    map_add(&walk->lines, &line->node, hash);
    return false;
}

/* May this row be somebody's? */
static bool fits(struct walk *walk, const struct row *row)
{
    struct pg_tx *tx = walk->tx;
    const struct hint *hint = &row->hint;
    size_t *room = room_of(walk, hint->queue);
    bool on_document = !str_absent(hint->document);
    if (on_document && join_line(walk, row)) {
        return false;
    }
    if (row->blocked || (room != NULL && *room == 0) || is_proposed(tx, hint->id, STR_NONE)) {
        return false;
    }
    return !on_document ||
           (walk->documents < DOCUMENTS_MAX && !is_proposed(tx, hint->id, hint->document));
}

static void pick(struct walk *walk, const struct hint *hint)
{
    size_t *room = room_of(walk, hint->queue);
    walk->picked[walk->picked_count++] = *hint;
    if (room != NULL && *room != SIZE_MAX) {
        --*room;
    }
    add_proposed(walk->tx, hint->id, STR_NONE);
    if (!str_absent(hint->document)) {
        add_proposed(walk->tx, hint->id, hint->document);
        walk->documents++;
    }
}

/* Looks at the rows in turn until enough is picked. Returns whether it saw them all. */
static bool look_at(struct walk *walk, const PGresult *rows)
{
    size_t n = get_count(rows);
    walk->picked = arena_array(walk->arena, struct hint, walk->max - walk->count);
    walk->picked_count = 0;
    for (size_t i = 0; i < n; i++) {
        if (walk->count + walk->picked_count == walk->max) {
            return false;
        }
        struct row *row = arena_new(walk->arena, struct row);
        read_window_row(rows, i, walk->arena, row);
        if (fits(walk, row)) {
            pick(walk, &row->hint);
        }
        walk->tx->walked.priority = row->hint.priority;
        walk->tx->walked.queued_ms = row->hint.queued_ms;
        walk->tx->walked.id = row->hint.id;
        walk->looked++;
    }
    return true;
}

/* ---- Parking ---- */

/* Nothing that has to happen: it saves looks. */
static void park(struct walk *walk)
{
    struct pg_store *store = walk->tx->store;
    SCOPED(args_fini) struct args args;
    struct err err = ERR_INIT;
    struct map_walk at = MAP_WALK;
    args_init(&args, true);
    for (struct map_node *n; (n = map_walk(&walk->lines, &at)) != NULL;) {
        struct line *line = HOLDER(n, struct line, node);
        if (line->crowded) {
            arg_id(&args, line->first->hint.id);
            args_row_end(&args);
            line->crowded = false;
        }
    }
    walk->crowd = 0;
    struct pg_call calls[] = {{.sql = PG_BEGIN},
                              {.sql = PG_LIMITS},
                              {.sql = PG_PARK_TASKS, .args = &args},
                              {.sql = PG_COMMIT}};
    struct pg *pg = pg_spare_take(store);
    if (pg_ready(pg, PG_READY_MS, &err) && pg_run(pg, calls, ARRAY_LEN(calls), &err)) {
        pg_calls_fini(calls, ARRAY_LEN(calls));
    } else {
        log_debug("store: park: %s", err.text);
        pg_read_undo(pg);
    }
    pg_spare_put(store, pg);
}

/* ---- Taking ---- */

/* The same on every node (FNV-1a): the name of the document's lock. */
static int64_t document_hash(struct str document)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < document.len; i++) {
        hash = (hash ^ (unsigned char)document.ptr[i]) * UINT64_C(0x100000001b3);
    }
    return (int64_t)hash;
}

static void give_back_room(struct walk *walk, const bool *taken)
{
    for (size_t i = 0; i < walk->picked_count; i++) {
        size_t *room = taken[i] ? NULL : room_of(walk, walk->picked[i].queue);
        if (room != NULL && *room != SIZE_MAX) {
            ++*room;
        }
    }
}

/* Which of them were locked: both the document and the row. */
static bool *read_taken(struct walk *walk, const PGresult *documents, const PGresult *rows)
{
    bool *free = arena_array(walk->arena, bool, walk->picked_count);
    bool *taken = arena_array(walk->arena, bool, walk->picked_count);
    for (size_t i = 0; i < get_count(documents); i++) {
        free[get_int(documents, i, 0) - 1] = true;
    }
    for (size_t i = 0; i < get_count(rows); i++) {
        struct task_id id = get_id(rows, i, 0);
        for (size_t at = 0; at < walk->picked_count; at++) {
            taken[at] |= free[at] && id_eq(walk->picked[at].id, id);
        }
    }
    return taken;
}

static bool take_picked(struct walk *walk, struct err *err)
{
    SCOPED(args_fini) struct args hashes;
    SCOPED(args_fini) struct args ids;
    struct pg_call calls[] = {{.sql = PG_LOCK_DOCUMENTS, .args = &hashes},
                              {.sql = PG_LOCK_PROPOSED, .args = &ids}};
    args_init(&hashes, true);
    args_init(&ids, true);
    for (size_t i = 0; i < walk->picked_count; i++) {
        struct str document = walk->picked[i].document;
        arg_optional_int(&hashes, document_hash(document), !str_absent(document));
        args_row_end(&hashes);
        arg_id(&ids, walk->picked[i].id);
        args_row_end(&ids);
    }
    if (walk->picked_count == 0) {
        return true;
    }
    if (!pg_tx_run(walk->tx, calls, ARRAY_LEN(calls), TX_READS, err)) {
        return false;
    }
    const bool *taken = read_taken(walk, calls[0].result, calls[1].result);
    for (size_t i = 0; i < walk->picked_count; i++) {
        if (taken[i]) {
            walk->out[walk->count++] = walk->picked[i];
        }
    }
    give_back_room(walk, taken);
    pg_calls_fini(calls, ARRAY_LEN(calls));
    return true;
}

/* *over: there is nothing behind this window, or no need to look. */
static bool walk_window(struct walk *walk, bool *over, struct err *err)
{
    SCOPED(args_fini) struct args args;
    size_t wanted = walk->max - walk->count;
    size_t window = MIN(wanted + wanted / 4 + WINDOW_MIN, (size_t)WINDOW_MAX);
    args_init(&args, false);
    args_window(walk, window, &args);
    struct pg_call call = {.sql = id_none(walk->tx->walked.id) ? PG_PROPOSE : PG_PROPOSE_BEHIND,
                           .args = &args};
    if (!pg_tx_run(walk->tx, &call, 1, TX_READS, err)) {
        return false;
    }
    bool all = look_at(walk, call.result);
    *over = (all && get_count(call.result) < window) || walk->documents == DOCUMENTS_MAX;
    pg_calls_fini(&call, 1);
    if (walk->crowd >= PARK_MIN) {
        park(walk);
    }
    return take_picked(walk, err);
}

bool pg_propose(struct tx *base, const struct want *want, size_t max, struct arena *arena,
                struct hint *out, size_t *count, struct err *err)
{
    SCOPED(walk_fini)
    struct walk walk = {
        .tx = PG_TX(base), .want = want, .arena = arena, .out = out, .max = max, .lines = MAP_INIT};
    bool over = max == 0;
    start_walk(&walk);
    while (!over && walk.count < max && walk.looked < WALK_MAX) {
        if (!walk_window(&walk, &over, err)) {
            return err_wrap(err, "propose tasks");
        }
    }
    *count = walk.count;
    return true;
}
