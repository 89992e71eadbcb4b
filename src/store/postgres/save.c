/* store/postgres/save.c: transitions, each by one compare-and-set, many in one statement.
 *
 * Changes are made in the order given. A wave is a run of changes that do not touch each other (no
 * task twice, no document in two hands), so that its order does not matter: it is one trip.
 * Nearly every batch is one wave. Attempts and logs of what was applied go out with the commit, and
 * so does a wave whose changes will be applied for certain.
 *
 * Thread: engine. Keeps: G2 and rule 1 (state and attempt in WHERE), G3 (doc_lease), I5, I7.
 *
 * SPDX-License-Identifier: MIT */
#include "base/mem.h"
#include "store/postgres/postgres.h"
#include "store/postgres/row.h"
#include "store/shared.h"

#define WAVE_MAX   1000 /* changes */
#define WAVE_BYTES (16 * MIB)

/* From where to where a task goes: one statement each. The narrow ones come first: they write only
 * what they change. */
enum way {
    WAY_START,
    WAY_COMPLETE,
    WAYS_NARROW,
    WAY_SAVE = WAYS_NARROW,
    WAY_FINISH,
    WAY_SAVE_DOCUMENT,
    WAY_FINISH_DOCUMENT,
    WAY_REVIVE,
    WAY_REVISE,
    WAYS
};

struct wave {
    struct wave_row {
        struct task_change *change;
        enum way way;
    } rows[WAVE_MAX];
    struct args ways[WAYS];
    struct args left;   /* lines that somebody left: document, family, queue, type */
    struct map touched; /* of struct touch: tasks and documents */
    bool frees_any;     /* a container lets go of documents that nobody has listed */
    bool takes;         /* some document is taken */
    bool sure;          /* so far every change will be applied, or nothing at all */
    size_t count, bytes;
    struct arena arena;
};

struct touch {
    struct map_node node;
    struct task_id id;   /* a task, or the holder of the document */
    struct str document; /* absent: it is a task */
    bool shared;         /* the document is only taken: members of a family do it together */
};

static void wave_init(struct wave *wave)
{
    wave->touched = MAP_INIT;
    wave->arena = ARENA_INIT;
    wave->count = wave->bytes = 0;
    wave->frees_any = wave->takes = false;
    wave->sure = true;
    args_init(&wave->left, true);
    for (int way = 0; way < WAYS; way++) {
        args_init(&wave->ways[way], true);
    }
}

static void wave_fini(struct wave **at)
{
    struct wave *wave = *at;
    map_fini(&wave->touched);
    arena_fini(&wave->arena);
    args_fini(&wave->left);
    for (int way = 0; way < WAYS; way++) {
        args_fini(&wave->ways[way]);
    }
    mem_free(wave);
}

static void wave_clear(struct wave *wave)
{
    map_fini(&wave->touched);
    wave->touched = MAP_INIT;
    arena_clear(&wave->arena);
    wave->count = wave->bytes = 0;
    wave->frees_any = wave->takes = false;
    wave->sure = true;
    args_clear(&wave->left);
    for (int way = 0; way < WAYS; way++) {
        args_clear(&wave->ways[way]);
    }
}

static enum document_end end_of(const struct task_change *change)
{
    if (change_frees_document(change)) {
        return change->was->container ? END_FREES_ALL : END_FREES;
    }
    bool ends = change->was->state == TASK_RUNNING && change->now->state != TASK_RUNNING;
    return ends && change->keeps_document && !str_absent(change->was->document) ? END_KEEPS
                                                                                : END_NONE;
}

/* ---- What belongs into one wave ---- */

static struct touch *touch_find(const struct wave *wave, const struct touch *like, uint64_t hash)
{
    for (struct map_node *n = map_find(&wave->touched, hash); n != NULL; n = map_again(n)) {
        struct touch *touch = HOLDER(n, struct touch, node);
        bool same = str_absent(like->document)
                        ? str_absent(touch->document) && id_eq(touch->id, like->id)
                        : !str_absent(touch->document) && str_eq(touch->document, like->document);
        if (same) {
            return touch;
        }
    }
    return NULL;
}

static void touch_add(struct wave *wave, const struct touch *like, uint64_t hash)
{
    struct touch *touch = arena_new(&wave->arena, struct touch);
    *touch = *like;
    map_add(&wave->touched, &touch->node, hash);
}

/* Does the change touch what the wave has touched? If not, it does from now on. */
static bool touch_change(struct wave *wave, const struct task_change *change)
{
    bool takes = change_takes_document(change);
    enum document_end end = end_of(change);
    struct touch task = {.id = change->was->id};
    struct touch document = {
        .id = task_holder(change->now), .document = change->was->document, .shared = takes};
    uint64_t task_hash = id_hash(task.id), hash = 0;
    bool uses = (takes || end != END_NONE) && !str_absent(document.document);
    if (touch_find(wave, &task, task_hash) != NULL || (takes && wave->frees_any) ||
        (end == END_FREES_ALL && wave->takes)) {
        return true;
    }
    if (uses) {
        hash = str_hash(document.document);
        const struct touch *other = touch_find(wave, &document, hash);
        if (other != NULL && !(other->shared && takes && id_eq(other->id, document.id))) {
            return true;
        }
        touch_add(wave, &document, hash);
    }
    touch_add(wave, &task, task_hash);
    wave->frees_any |= end == END_FREES_ALL;
    wave->takes |= takes;
    return false;
}

/* ---- Filling it ---- */

static enum way way_of(const struct task_change *change)
{
    const struct task *was = change->was, *now = change->now;
    bool is_over = task_state_terminal(now->state);
    if (task_state_terminal(was->state)) {
        return is_over ? WAY_REVISE : WAY_REVIVE;
    }
    if (change_takes_document(change) || end_of(change) != END_NONE) {
        return is_over ? WAY_FINISH_DOCUMENT : WAY_SAVE_DOCUMENT;
    }
    if (row_only_starts(was, now)) {
        return WAY_START;
    }
    return row_only_completes(was, now) ? WAY_COMPLETE : is_over ? WAY_FINISH : WAY_SAVE;
}

static void args_narrow(const struct pg_tx *tx, struct args *args, enum way way,
                        const struct task_change *change)
{
    const struct task *was = change->was, *now = change->now;
    arg_id(args, was->id);
    arg_small(args, was->attempt);
    if (way == WAY_START) {
        arg_xid(args, ties_made(tx, was->id));
        arg_int(args, now->started_ms);
        arg_int(args, (int64_t)now->token);
        arg_bytes(args, now->worker);
        arg_int(args, now->lease_ms);
        arg_int(args, now->lease_until_ms);
    } else {
        arg_bool(args, ties_unlocked(tx, was->id));
        arg_int(args, now->finished_ms);
        arg_bytes(args, now->result);
    }
}

static void args_document(const struct pg_tx *tx, struct args *args, enum way way,
                          const struct task_change *change)
{
    bool ends = way == WAY_FINISH_DOCUMENT || way == WAY_REVISE;
    char text[TASK_ID_TEXT];
    arg_bytes(args, change->was->document);
    if (!ends) {
        arg_bool(args, change_takes_document(change));
    }
    arg_small(args, end_of(change));
    if (!ends) {
        arg_id(args, task_holder(change->was));
        arg_bool(args, change->was->container || !id_none(change->was->family));
        arg_text(args, lock_text(change->now, text));
    }
    arg_int(args, tx->store->node);
}

static void args_wide(const struct pg_tx *tx, struct args *args, enum way way,
                      const struct task_change *change)
{
    bool ends = task_state_terminal(change->now->state);
    arg_id(args, change->was->id);
    arg_small(args, change->was->state);
    arg_small(args, change->was->attempt);
    if (way >= WAY_SAVE_DOCUMENT) {
        args_document(tx, args, way, change);
    }
    if (!ends) {
        args_due(args, change->now);
    }
    args_standing(args, change->now);
    if (ends) {
        args_end(args, change->now);
    }
}

/* It leaves its place in the line of its document: another may come forward. */
static void note_leaving(struct wave *wave, const struct task_change *change)
{
    const struct task *was = change->was, *now = change->now;
    bool leaves = was->state == TASK_QUEUED && !was->container && !str_absent(was->document) &&
                  (now->state != TASK_QUEUED || now->priority != was->priority ||
                   now->queued_ms != was->queued_ms);
    if (leaves) {
        arg_bytes(&wave->left, was->document);
        arg_id(&wave->left, was->family);
        arg_text(&wave->left, was->queue);
        arg_text(&wave->left, was->type);
        args_row_end(&wave->left);
    }
}

/* It is certain that a change will be applied where the row is locked; and as good as certain where
 * it was read a moment ago, or when its attempt began here: tx.c undoes the exception. */
static void wave_add(struct pg_tx *tx, struct wave *wave, struct task_change *change)
{
    struct task_id id = change->was->id;
    enum way way = way_of(change);
    bool locked = ties_locked(tx, id);
    bool likely = way < WAYS_NARROW && ties_unlocked(tx, id);
    change->applied = false;
    wave->rows[wave->count++] = (struct wave_row){change, way};
    wave->sure = wave->sure && !change_takes_document(change) && (locked || likely);
    wave->bytes += task_texts_size(change->now);
    note_leaving(wave, change);
}

/* ---- Writing it ---- */

static void add_attempt(struct pg_tx *tx, const struct task_change *change)
{
    struct task_attempt attempt = change_attempt(change);
    struct args *args = &tx->attempts;
    arg_id(args, change->was->id);
    arg_small(args, attempt.number);
    arg_small(args, attempt.outcome);
    arg_bytes(args, attempt.worker);
    arg_int(args, attempt.started_ms);
    arg_int(args, attempt.finished_ms);
    args_error(args, &attempt.error);
    args_row_end(args);
}

/* What goes with a change that was applied. */
static void follow(struct pg_tx *tx, const struct task_change *change)
{
    fresh_drop(&tx->store->fresh, change->was->id);
    if (change->was->state != change->now->state) {
        pg_count(tx, change->was->queue, change->was->state, -1);
        pg_count(tx, change->was->queue, change->now->state, 1);
    }
    if (change->now->state == TASK_RUNNING && change->was->state != TASK_RUNNING &&
        !change->was->container) {
        pg_note_start(tx, change->now);
        ties_hold(tx, change->now);
    } else {
        held_drop(&tx->store->held, change->was->id);
    }
    if (change_keeps_attempt(change)) {
        add_attempt(tx, change);
    }
    if (change->log.len > 0) {
        arg_id(&tx->logs, change->was->id);
        arg_small(&tx->logs, change_log_number(change));
        arg_bytes(&tx->logs, change->log);
        args_row_end(&tx->logs);
    }
}

static const enum pg_id way_sql[WAYS] = {[WAY_START] = PG_START_TASKS,
                                         [WAY_COMPLETE] = PG_COMPLETE_TASKS,
                                         [WAY_SAVE] = PG_SAVE_TASKS,
                                         [WAY_FINISH] = PG_FINISH_TASKS,
                                         [WAY_SAVE_DOCUMENT] = PG_SAVE_ON_DOCUMENTS,
                                         [WAY_FINISH_DOCUMENT] = PG_FINISH_ON_DOCUMENTS,
                                         [WAY_REVIVE] = PG_REVIVE_TASKS,
                                         [WAY_REVISE] = PG_REVISE_TASKS};

/* All of them will be applied, or the transaction fails: nobody needs to wait for the answers. */
static bool wave_defer(struct pg_tx *tx, struct wave *wave, struct err *err)
{
    bool deferred = true;
    for (int way = 0; way < WAYS && deferred; way++) {
        deferred = wave->ways[way].rows_count == 0 ||
                   pg_tx_defer(tx, way_sql[way], &wave->ways[way], wave->bytes, err);
    }
    if (deferred && wave->left.rows_count > 0) {
        deferred = pg_tx_defer(tx, PG_UNPARK_TASKS, &wave->left, 0, err);
    }
    for (size_t i = 0; i < wave->count && deferred; i++) {
        wave->rows[i].change->applied = true;
        follow(tx, wave->rows[i].change);
    }
    return deferred;
}

/* The places of the changes that were applied, among those of one way. */
static void take_applied(struct pg_tx *tx, const struct wave *wave, enum way way,
                         const PGresult *rows)
{
    int32_t places[WAVE_MAX];
    size_t n = get_numbers(rows, 0, 0, places, WAVE_MAX), row = 0;
    bool applied[WAVE_MAX + 1] = {0};
    for (size_t i = 0; i < n; i++) {
        applied[places[i]] = true;
    }
    for (size_t i = 0; i < wave->count; i++) {
        if (wave->rows[i].way == way && applied[++row]) {
            wave->rows[i].change->applied = true;
            follow(tx, wave->rows[i].change);
        }
    }
}

static bool wave_run(struct pg_tx *tx, struct wave *wave, struct err *err)
{
    struct pg_call calls[WAYS + 1];
    enum way ways[WAYS];
    size_t n = 0, done;
    for (int way = 0; way < WAYS; way++) {
        if (wave->ways[way].rows_count > 0) {
            ways[n] = (enum way)way;
            calls[n++] = (struct pg_call){.sql = way_sql[way], .args = &wave->ways[way]};
        }
    }
    done = n;
    if (wave->left.rows_count > 0) {
        calls[n++] = (struct pg_call){.sql = PG_UNPARK_TASKS, .args = &wave->left};
    }
    if (!pg_tx_run(tx, calls, n, TX_WRITES, err)) {
        return false;
    }
    for (size_t i = 0; i < done; i++) {
        take_applied(tx, wave, ways[i], calls[i].result);
    }
    pg_calls_fini(calls, n);
    return true;
}

static bool wave_write(struct pg_tx *tx, struct wave *wave, struct err *err)
{
    bool sure = wave->sure && !tx->store->careful;
    if (wave->count == 0) {
        return true;
    }
    for (size_t i = 0; i < wave->count; i++) {
        enum way way = wave->rows[i].way;
        struct args *args = &wave->ways[way];
        (way < WAYS_NARROW ? args_narrow : args_wide)(tx, args, way, wave->rows[i].change);
        if (args_same(args)) {
            arg_bool(args, sure);
        }
        args_row_end(args);
    }
    bool written = sure ? wave_defer(tx, wave, err) : wave_run(tx, wave, err);
    wave_clear(wave);
    return written;
}

/* What was loaded without its lock and changes by more than a start: now it is locked, and must
 * still be what was loaded. Those that are not are marked. */
static bool lock_unlocked(struct pg_tx *tx, struct task_change *changes, size_t n, bool *stale,
                          struct err *err)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    SCOPED(mem_free_at)
    struct task_load *loads = mem_array(NULL, MAX(n, (size_t)1), sizeof *loads);
    size_t count = 0, at = 0;
    memset(stale, 0, n * sizeof *stale);
    for (size_t i = 0; i < n; i++) {
        if (ties_unlocked(tx, changes[i].was->id) && way_of(&changes[i]) >= WAYS_NARROW) {
            loads[count++] = (struct task_load){.id = changes[i].was->id, .arena = &arena};
        }
    }
    if (count == 0 || !pg_load(&tx->tx, loads, count, err)) {
        return count == 0;
    }
    for (size_t i = 0; i < n && at < count; i++) {
        if (id_eq(loads[at].id, changes[i].was->id)) {
            stale[i] = !loads[at].found || !row_same_standing(&loads[at].task, changes[i].was);
            changes[i].applied = false;
            at++;
        }
    }
    return true;
}

bool pg_save(struct tx *base, struct task_change *changes, size_t n, struct err *err)
{
    struct pg_tx *tx = PG_TX(base);
    SCOPED(wave_fini) struct wave *wave = mem_alloc(sizeof *wave);
    SCOPED(mem_free_at) bool *stale = mem_array(NULL, MAX(n, (size_t)1), sizeof *stale);
    wave_init(wave);
    if (!lock_unlocked(tx, changes, n, stale, err)) {
        return err_wrap(err, "save tasks");
    }
    for (size_t i = 0; i < n; i++) {
        bool full = wave->count == WAVE_MAX || wave->bytes > WAVE_BYTES;
        if (stale[i]) {
            continue;
        }
        if (full || touch_change(wave, &changes[i])) {
            if (!wave_write(tx, wave, err)) {
                return err_wrap(err, "save tasks");
            }
            touch_change(wave, &changes[i]);
        }
        wave_add(tx, wave, &changes[i]);
    }
    return wave_write(tx, wave, err) || err_wrap(err, "save tasks");
}

bool pg_free_document(struct tx *base, struct str document, struct task_id holder, struct err *err)
{
    SCOPED(args_fini) struct args args;
    args_init(&args, false);
    arg_bytes(&args, document);
    arg_id(&args, holder);
    struct pg_call call = {.sql = PG_FREE_DOCUMENT, .args = &args};
    if (!pg_tx_run(PG_TX(base), &call, 1, TX_WRITES, err)) {
        return err_wrap(err, "free a document");
    }
    pg_calls_fini(&call, 1);
    return true;
}
