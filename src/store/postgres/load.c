/* store/postgres/load.c: finds tasks by id, by key and by their relations, and locks what was
 * found.
 *
 * What was loaded cannot change until the transaction ends: others wait, and so the engine may
 * read, decide and write counters as if it were alone. A task that moved between the hot table and
 * the history while we waited for its lock is in neither for the two statements that look: those
 * are looked up again.
 *
 * Thread: engine. Keeps: rule 1.
 *
 * SPDX-License-Identifier: MIT */
#include "base/clock.h"
#include "base/mem.h"
#include "store/postgres/postgres.h"
#include "store/postgres/row.h"
#include "store/shared.h"

#define LOOKS_MAX 8     /* a task that moves more often while we look is somebody's quarrel */
#define SCAN_PAGE 10000 /* tasks */

/* ---- Ties: what is known of dependencies ----
 *
 * Nearly every task that starts or ends asks for its dependencies, and nearly none has any: what
 * was loaded in this transaction is known to have none without asking. */

struct tie {
    struct map_node node;
    struct task_id id;
    bool dependents, dependencies;
    bool locked; /* its row: nobody else can change it until the transaction ends */
    bool whole;
    uint32_t made;         /* by which transaction, if memory told of it (fresh.h) */
    enum task_state state; /* as it was loaded */
};

static struct tie *tie_find(const struct pg_tx *tx, struct task_id id)
{
    struct map_node *node = map_find(&tx->ties, id_hash(id));
    while (node != NULL && !id_eq(HOLDER(node, struct tie, node)->id, id)) {
        node = map_again(node);
    }
    return node == NULL ? NULL : HOLDER(node, struct tie, node);
}

static struct tie *tie_get(struct pg_tx *tx, struct task_id id)
{
    struct tie *tie = tie_find(tx, id);
    if (tie == NULL) {
        tie = arena_new(&tx->arena, struct tie);
        tie->id = id;
        map_add(&tx->ties, &tie->node, id_hash(id));
    }
    return tie;
}

static bool ties_none(const struct pg_tx *tx, struct task_id id, bool dependents)
{
    const struct tie *tie = tie_find(tx, id);
    return tie != NULL && !(dependents ? tie->dependents : tie->dependencies);
}

bool ties_locked(const struct pg_tx *tx, struct task_id id)
{
    const struct tie *tie = tie_find(tx, id);
    return tie != NULL && tie->locked;
}

bool ties_unlocked(const struct pg_tx *tx, struct task_id id)
{
    const struct tie *tie = tie_find(tx, id);
    return tie != NULL && !tie->locked;
}

uint32_t ties_made(const struct pg_tx *tx, struct task_id id)
{
    const struct tie *tie = tie_find(tx, id);
    return tie == NULL || tie->locked ? 0 : tie->made;
}

void ties_add(struct pg_tx *tx, struct task_id id, bool dependents)
{
    struct tie *tie = tie_find(tx, id);
    if (tie != NULL && dependents) {
        tie->dependents = true;
    } else if (tie != NULL) {
        tie->dependencies = true;
    }
}

/* ---- Loading ---- */

static struct tie *give(struct pg_tx *tx, struct task_load *load, const struct task *task,
                        bool locked)
{
    struct task part = *task;
    if (!load->whole) {
        part.payload = part.metadata = STR_NONE;
        part.tags_count = 0;
    }
    task_keep(&load->task, &part, load->arena);
    load->found = true;
    struct tie *tie = tie_get(tx, load->id);
    tie->locked |= locked;
    tie->whole |= load->whole;
    tie->state = task->state;
    return tie;
}

/* Live rows say themselves whether they have ties. */
static void take_live(struct pg_tx *tx, const PGresult *rows, struct task_load **missing,
                      bool locked)
{
    struct task_row row;
    int awaited = PQnfields(rows) - 2;
    for (size_t i = 0; i < get_count(rows); i++) {
        struct task_load *load = missing[get_int(rows, i, 0) - 1];
        get_row(rows, i, &row);
        struct tie *tie = give(tx, load, &row.task, locked);
        tie->dependents |= get_bool(rows, i, awaited);
        tie->dependencies |= get_bool(rows, i, awaited + 1);
    }
}

static void take_done(struct pg_tx *tx, const PGresult *rows, const PGresult *ties,
                      struct task_load **missing)
{
    struct task_row row;
    for (size_t i = 0; i < get_count(rows); i++) {
        get_row(rows, i, &row);
        give(tx, missing[get_int(rows, i, 0) - 1], &row.task, true);
    }
    for (size_t i = 0; i < get_count(ties); i++) {
        ties_add(tx, get_id(ties, i, 0), get_bool(ties, i, 1));
    }
}

static void args_missing(struct args *wanted, struct args *ids, struct task_load **missing,
                         size_t n)
{
    for (size_t i = 0; i < n; i++) {
        arg_id(wanted, missing[i]->id);
        arg_int(wanted, missing[i]->whole ? INT64_MAX : -1);
        args_row_end(wanted);
        arg_id(ids, missing[i]->id);
        args_row_end(ids);
    }
}

/* Puts those that are only to be started first; how many they are. */
static size_t sort_starts(struct task_load **missing, size_t n)
{
    size_t first = 0;
    for (size_t i = 0; i < n; i++) {
        if (missing[i]->starts) {
            struct task_load *load = missing[i];
            missing[i] = missing[first];
            missing[first++] = load;
        }
    }
    return first;
}

/* Those that are live: nearly always all of them. Those that are only to be started come first, and
 * are not locked: the start itself is a compare-and-set of all that it writes. */
static bool look(struct pg_tx *tx, struct task_load **missing, size_t n, struct err *err)
{
    SCOPED(args_fini) struct args starts;
    SCOPED(args_fini) struct args locks;
    SCOPED(args_fini) struct args ids; /* nobody asks for these */
    size_t first = sort_starts(missing, n), calls_count = 0;
    struct pg_call calls[2];
    args_init(&starts, true);
    args_init(&locks, true);
    args_init(&ids, true);
    args_missing(&starts, &ids, missing, first);
    args_missing(&locks, &ids, missing + first, n - first);
    if (first > 0) {
        calls[calls_count++] = (struct pg_call){.sql = PG_LOAD_LIVE, .args = &starts};
    }
    if (first < n) {
        calls[calls_count++] =
            (struct pg_call){.sql = PG_LOAD_LIVE, .suffix = PG_LOCK_LIVE, .args = &locks};
    }
    if (!pg_tx_run(tx, calls, calls_count, TX_READS, err)) {
        return false;
    }
    if (first > 0) {
        take_live(tx, calls[0].result, missing, false);
    }
    if (first < n) {
        take_live(tx, calls[calls_count - 1].result, missing + first, true);
    }
    pg_calls_fini(calls, calls_count);
    return true;
}

/* Keeps those that were not found. */
static size_t keep_missing(struct task_load **missing, size_t n)
{
    size_t left = 0;
    for (size_t i = 0; i < n; i++) {
        if (!missing[i]->found) {
            missing[left++] = missing[i];
        }
    }
    return left;
}

/* Keeps those that exist although they were in neither table: they were just moving. */
static size_t keep_moving(const PGresult *bodies, struct task_load **missing, size_t n)
{
    size_t moving = 0;
    for (size_t i = 0; i < n; i++) {
        for (size_t row = 0; row < get_count(bodies); row++) {
            if (id_eq(get_id(bodies, row, 0), missing[i]->id)) {
                missing[moving++] = missing[i];
                break;
            }
        }
    }
    return moving;
}

/* Of those that are not live: the finished ones, and which of the rest exist at all. */
static bool look_back(struct pg_tx *tx, struct task_load **missing, size_t *n, struct err *err)
{
    SCOPED(args_fini) struct args wanted;
    SCOPED(args_fini) struct args ids;
    args_init(&wanted, true);
    args_init(&ids, true);
    args_missing(&wanted, &ids, missing, *n);
    struct pg_call calls[] = {
        {.sql = PG_LOAD_DONE, .suffix = PG_LOCK_DONE, .args = &wanted},
        {.sql = PG_FIND_TIES, .args = &ids},
        {.sql = PG_FIND_BODIES, .args = &ids},
    };
    if (!pg_tx_run(tx, calls, ARRAY_LEN(calls), TX_READS, err)) {
        return false;
    }
    take_done(tx, calls[0].result, calls[1].result, missing);
    *n = keep_moving(calls[2].result, missing, keep_missing(missing, *n));
    pg_calls_fini(calls, ARRAY_LEN(calls));
    return true;
}

/* What memory knows well enough: an attempt that began here, or a task that was created here. */
static bool recall(struct pg_tx *tx, struct task_load *load, int64_t now_us)
{
    struct pg_store *store = tx->store;
    struct task fresh;
    uint32_t made = 0;
    if (store->careful) {
        fresh_drop(&store->fresh, load->id); /* it may be what went wrong */
    }
    if (store->careful || tie_find(tx, load->id) != NULL) {
        return false;
    }
    const struct task *known = held_find(&store->held, load->id, load->token);
    if (known == NULL && load->starts &&
        fresh_read(&store->fresh, load->id, load->queued_ms, now_us, &fresh, &made)) {
        known = &fresh;
    }
    if (known != NULL) {
        give(tx, load, known, false)->made = made;
    }
    return known != NULL;
}

/* Those that memory does not know well enough. */
static size_t list_missing(struct pg_tx *tx, struct task_load *loads, size_t n,
                           struct task_load **missing)
{
    int64_t now_us = clock_real_mono_us();
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        loads[i].found = false;
        if (!recall(tx, &loads[i], now_us)) {
            missing[count++] = &loads[i];
        }
    }
    return count;
}

bool pg_load(struct tx *base, struct task_load *loads, size_t n, struct err *err)
{
    SCOPED(mem_free_at)
    struct task_load **missing = mem_array(NULL, MAX(n, (size_t)1), sizeof *missing);
    n = list_missing(PG_TX(base), loads, n, missing);
    for (int looks = 0; n > 0; looks++) {
        if (looks == LOOKS_MAX) {
            return err_set(err, ERR_CONFLICT, "load: a task would not stand still");
        }
        if (!look(PG_TX(base), missing, n, err)) {
            return err_wrap(err, "load tasks");
        }
        n = keep_missing(missing, n);
        if (n > 0 && !look_back(PG_TX(base), missing, &n, err)) {
            return err_wrap(err, "load tasks");
        }
    }
    return true;
}

bool ties_lock(struct pg_tx *tx, const struct task_id *ids, size_t n, struct err *err)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    for (size_t i = 0; i < n; i++) {
        struct tie *tie = tie_find(tx, ids[i]);
        struct task_load load = {.id = ids[i], .arena = &arena};
        if (tie == NULL || tie->locked) {
            continue;
        }
        enum task_state state = tie->state;
        if (!pg_load(&tx->tx, &load, 1, err)) {
            return false;
        }
        if (!load.found || load.task.state != state) {
            return err_set(err, ERR_CONFLICT, "another node has changed the task meanwhile");
        }
    }
    return true;
}

void ties_hold(struct pg_tx *tx, const struct task *running)
{
    const struct tie *tie = tie_find(tx, running->id);
    bool plain = tie != NULL && tie->whole && !tie->dependents && !tie->dependencies &&
                 !running->container && str_absent(running->document) && id_none(running->parent) &&
                 id_none(running->family) && id_none(running->team);
    held_drop(&tx->store->held, running->id);
    if (plain) {
        held_begin(&tx->store->held, running);
    }
}

bool pg_find_keys(struct tx *base, const struct str *keys, size_t n, struct task_id *out,
                  struct err *err)
{
    SCOPED(args_fini) struct args args;
    args_init(&args, true);
    for (size_t i = 0; i < n; i++) {
        out[i] = TASK_ID_NONE;
        arg_bytes(&args, keys[i]);
        args_row_end(&args);
    }
    struct pg_call call = {.sql = PG_FIND_KEYS, .args = &args};
    if (n == 0 || !pg_tx_run(PG_TX(base), &call, 1, TX_READS, err)) {
        return n == 0 || err_wrap(err, "find keys");
    }
    for (size_t i = 0; i < get_count(call.result); i++) {
        out[get_int(call.result, i, 0) - 1] = get_id(call.result, i, 1);
    }
    pg_calls_fini(&call, 1);
    return true;
}

/* ---- Relations ---- */

static bool run_kin(struct pg_tx *tx, const struct kin_query *query, const struct task_id *ids,
                    size_t count, PGresult **rows, struct err *err)
{
    static const enum pg_id statements[KINSHIPS] = {[KIN_CHILDREN] = PG_KIN_CHILDREN,
                                                    [KIN_WAITING] = PG_KIN_WAITING,
                                                    [KIN_DEPENDENCIES] = PG_KIN_DEPENDENCIES};
    SCOPED(args_fini) struct args args;
    args_init(&args, false);
    arg_ids(&args, ids, count);
    arg_id(&args, query->after);
    arg_int(&args, query->most == 0 ? INT64_MAX : (int64_t)query->most);
    struct pg_call call = {.sql = statements[query->kinship], .args = &args};
    if (!pg_tx_run(tx, &call, 1, TX_READS, err)) {
        return err_wrap(err, "find related tasks");
    }
    *rows = call.result;
    return true;
}

/* Rows come in the order of the ids, and those grow: one walk through both joins them. */
static void take_kin(const PGresult *rows, const struct kin_query *query, struct arena *arena,
                     struct kin_list *out)
{
    size_t of = 0;
    out->count = get_count(rows);
    out->at = arena_array(arena, struct kin, out->count + 1);
    for (size_t i = 0; i < out->count; i++) {
        while (!id_eq(query->ids[of], get_id(rows, i, 0))) {
            of++;
        }
        out->at[i] = (struct kin){of, get_id(rows, i, 1), (enum task_state)get_int(rows, i, 2)};
    }
}

bool pg_kin(struct tx *base, const struct kin_query *query, struct arena *arena,
            struct kin_list *out, struct err *err)
{
    struct pg_tx *tx = PG_TX(base);
    struct task_id *ids = arena_array(arena, struct task_id, query->count);
    PGresult *rows;
    size_t n = 0;
    for (size_t i = 0; i < query->count; i++) {
        if (query->kinship == KIN_CHILDREN ||
            !ties_none(tx, query->ids[i], query->kinship == KIN_WAITING)) {
            ids[n++] = query->ids[i];
        }
    }
    if (n == 0) {
        return true;
    }
    if (!run_kin(tx, query, ids, n, &rows, err)) {
        return false;
    }
    take_kin(rows, query, arena, out);
    PQclear(rows);
    return true;
}

/* ---- Looking at all that is live ---- */

/* The columns of scan_live. */
static void read_live(const PGresult *rows, size_t i, struct task *task)
{
    *task = (struct task){.id = get_id(rows, i, 0),
                          .type = get_str(rows, i, 1),
                          .queue = get_str(rows, i, 2),
                          .document = get_str(rows, i, 3),
                          .parent = get_id(rows, i, 4),
                          .family = get_id(rows, i, 5),
                          .container = get_bool(rows, i, 6),
                          .continues = get_bool(rows, i, 7),
                          .runs_anyway = get_bool(rows, i, 8),
                          .expires_ms = get_int(rows, i, 9)};
    get_standing(rows, i, 10, task);
}

/* One page behind *after, which moves on; it stays where it is at the end. */
static bool scan_page(struct pg_store *store, struct task_id *after, store_each_fn *each, void *arg,
                      struct err *err)
{
    SCOPED(args_fini) struct args args;
    struct task task;
    bool ok = true;
    args_init(&args, false);
    arg_id(&args, *after);
    arg_int(&args, SCAN_PAGE);
    struct pg_call call = {.sql = PG_SCAN_LIVE, .args = &args};
    if (!pg_read_run(&store->pg, &call, 1, err)) {
        return false;
    }
    for (size_t i = 0; i < get_count(call.result) && ok; i++) {
        read_live(call.result, i, &task);
        *after = task.id;
        ok = each(arg, &task, err);
    }
    pg_calls_fini(&call, 1);
    return ok;
}

bool pg_scan_live(struct store *base, store_each_fn *each, void *arg, struct err *err)
{
    struct task_id before, after = TASK_ID_NONE;
    do {
        before = after;
        if (!scan_page(PG_STORE(base), &after, each, arg, err)) {
            return false;
        }
    } while (!id_eq(before, after));
    return true;
}
