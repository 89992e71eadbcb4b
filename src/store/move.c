/* store/move.c: walks through one store and writes what it finds into another. See move.h.
 *
 * Everything is read in slices behind the last one, so that memory stays small whatever there is.
 *
 * SPDX-License-Identifier: MIT */
#include "store/move.h"

#include <string.h>

#include "store/ops.h"

#define RECORDS_SLICE 200 /* a body may be long */

int64_t move_counts_sum(const struct move_counts *counts, enum moved what)
{
    int64_t sum = 0;
    for (int kind = 0; kind < MOVED_KINDS_MAX; kind++) {
        sum += counts->at[what][kind];
    }
    return sum;
}

bool move_counts_add(struct move_counts *counts, int64_t what, int64_t kind, int64_t n,
                     struct err *err)
{
    bool known = kind >= 0 && kind < (what == MOVED_RECORDS ? RECORD_KINDS : TASK_STATES);
    if (!known) {
        return err_set(err, ERR_INVALID,
                       "it holds records of kind %lld, which this errand does not know: use a "
                       "newer errand",
                       (long long)kind);
    }
    counts->at[what][kind] += n;
    return true;
}

/* ---- Whether it may be ---- */

static bool check_ends(const struct move *move, struct err *err)
{
    SCOPED(buf_fini) struct buf from = BUF_INIT(KIB);
    SCOPED(buf_fini) struct buf to = BUF_INIT(KIB);
    return move->from->ops->move->identify(move->from, &from, err) &&
           move->to->ops->move->identify(move->to, &to, err) &&
           (!str_eq(buf_view(&from), buf_view(&to)) ||
            err_set(err, ERR_INVALID, "source and target are the same store"));
}

static bool check_target(struct store *to, struct err *err)
{
    static const struct move_counts none;
    struct move_counts counts;
    return to->ops->move->count(to, &counts, err) &&
           (memcmp(&counts, &none, sizeof none) == 0 ||
            err_set(err, ERR_CONFLICT,
                    "the target is not empty (%lld tasks, %lld other records, %lld tokens): move "
                    "into a new store",
                    (long long)move_counts_sum(&counts, MOVED_TASKS),
                    (long long)move_counts_sum(&counts, MOVED_RECORDS),
                    (long long)move_counts_sum(&counts, MOVED_TOKENS)));
}

/* ---- Rows ---- */

struct walk {
    const struct move *move;
    struct tx *tx;
    struct move_told *told;
    int64_t all, done; /* tasks */
    uint64_t last_hi;  /* of the last task */
};

/* Whoever ran a task is gone. That it was last heard of when its row was last written makes its
 * lease end before its time-out, whenever the target is started. */
static bool prepare_tasks(struct walk *walk, struct move_rows *rows, struct err *err)
{
    for (size_t i = 0; i < rows->count; i++) {
        struct task *task = &rows->tasks[i];
        if (task->state == TASK_RUNNING && !task->container) {
            task->lease_until_ms = MIN(task->lease_until_ms, MAX(task->updated_ms, 1));
            walk->told->lost++;
        }
        /* Two nodes may have made ids in the same instant, alike in their first half. */
        if (task->id.hi == walk->last_hi && !store_shared(walk->move->to)) {
            char id[TASK_ID_TEXT];
            return err_set(err, ERR_REFUSED,
                           "task %s has the first half of its id in common with another: an "
                           "embedded store cannot hold both; nothing was moved",
                           id_text(task->id, id).ptr);
        }
        walk->last_hi = task->id.hi;
    }
    return true;
}

static bool move_part(struct walk *walk, enum move_part part, struct err *err)
{
    SCOPED(arena_fini) struct arena even = ARENA_INIT;
    SCOPED(arena_fini) struct arena odd = ARENA_INIT;
    const struct move *move = walk->move;
    struct move_rows rows = {0};
    for (struct arena *arena = &even;; arena = arena == &even ? &odd : &even) {
        struct move_rows after = rows; /* where the next slice begins: it must outlive it */
        arena_clear(arena);
        if (!move->from->ops->move->read(move->from, part, &after, arena, &rows, err)) {
            return false;
        }
        if (rows.count == 0) {
            return true;
        }
        if ((part == MOVE_TASKS && !prepare_tasks(walk, &rows, err)) ||
            !move->to->ops->move->write(walk->tx, part, &rows, err)) {
            return false;
        }
        walk->done += part == MOVE_TASKS ? (int64_t)rows.count : 0;
        if (part == MOVE_TASKS && move->progress != NULL) {
            move->progress(move->arg, walk->done, walk->all);
        }
    }
}

/* ---- Records and settings ---- */

static bool write_records(struct tx *tx, struct records *records, struct err *err)
{
    struct record_save saves[RECORDS_SLICE];
    for (size_t i = 0; i < records->count; i++) {
        records->at[i].version = 0; /* new here */
        saves[i] = (struct record_save){.record = &records->at[i]};
    }
    if (!tx_records_save(tx, saves, records->count, err)) {
        return false;
    }
    for (size_t i = 0; i < records->count; i++) {
        if (!saves[i].applied) {
            return err_set(err, ERR_INTERNAL, "a record of kind %d is there twice",
                           (int)records->at[i].kind);
        }
    }
    return true;
}

static bool move_kind(struct walk *walk, struct reader *reader, enum record_kind kind,
                      struct err *err)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct record_filter filter = {.kind = kind, .oldest_first = true, .limit = RECORDS_SLICE};
    struct records records = {.more = true};
    while (records.more) {
        arena_clear(&arena);
        if (!reader_records(reader, &filter, &arena, &records, err) ||
            (records.count > 0 && !write_records(walk->tx, &records, err))) {
            return false;
        }
        if (records.count > 0) {
            filter.after = records.at[records.count - 1].id;
        }
    }
    return true;
}

static bool move_records(struct walk *walk, struct err *err)
{
    struct reader *reader;
    if (!reader_open(walk->move->from, &reader, err)) {
        return false;
    }
    bool ok = true;
    for (int kind = 1; ok && kind < RECORD_KINDS; kind++) {
        ok = move_kind(walk, reader, (enum record_kind)kind, err);
    }
    reader_close(reader);
    return ok;
}

static bool move_queue(void *arg, const struct store_queue *queue, struct err *err)
{
    struct walk *walk = arg;
    return tx_save_queue(walk->tx, queue, err);
}

/* ---- All of it ---- */

static bool move_all(struct walk *walk, struct err *err)
{
    const struct move *move = walk->move;
    const struct move_ops *to = move->to->ops->move;
    for (int part = 0; part < MOVE_PARTS; part++) {
        if (!move_part(walk, (enum move_part)part, err)) {
            return false;
        }
    }
    return move_records(walk, err) && store_scan_queues(move->from, move_queue, walk, err) &&
           (to->write_tokens == NULL || move->tokens_count == 0 ||
            to->write_tokens(walk->tx, move->tokens, move->tokens_count, err));
}

/* Tokens may be kept elsewhere than in rows. */
static bool compare(const struct move *move, const struct move_counts *source, struct err *err)
{
    struct move_counts target, expected = *source;
    if (!move->to->ops->move->count(move->to, &target, err)) {
        return false;
    }
    expected.at[MOVED_TOKENS][0] =
        move->to->ops->move->write_tokens == NULL ? 0 : (int64_t)move->tokens_count;
    return memcmp(&expected, &target, sizeof target) == 0 ||
           err_set(err, ERR_INTERNAL,
                   "%lld tasks were read and %lld written, or other rows differ: nothing was moved",
                   (long long)move_counts_sum(source, MOVED_TASKS),
                   (long long)move_counts_sum(&target, MOVED_TASKS));
}

bool store_move(const struct move *move, struct move_told *told, struct err *err)
{
    SCOPED(tx_close) struct tx *tx = NULL;
    const struct move_ops *from = move->from->ops->move, *to = move->to->ops->move;
    *told = (struct move_told){0};
    if (!check_ends(move, err) || !(from->seize(move->from, err) || err_wrap(err, "the source")) ||
        !(to->seize(move->to, err) || err_wrap(err, "the target")) ||
        !from->count(move->from, &told->counts, err) || !store_begin(move->to, &tx, err) ||
        !to->adopt(tx, store_last_id(move->from), err) || !check_target(move->to, err)) {
        return false;
    }
    struct walk walk = {
        .move = move, .tx = tx, .told = told, .all = move_counts_sum(&told->counts, MOVED_TASKS)};
    if (!move_all(&walk, err) || !compare(move, &told->counts, err)) {
        return false;
    }
    told->counts.at[MOVED_TOKENS][0] = (int64_t)move->tokens_count;
    return (move->finish == NULL || move->finish(move->arg, err)) && tx_commit(&tx, err);
}
