/* store/move.h: everything of one store into another, empty one.
 *
 * Tasks travel as tasks, as store.h knows them, so each kind of store writes them in its own shape;
 * attempts, logs, dependencies and held documents as the rows they are; records and settings of
 * queues through the doors that the engine uses. All of it is one transaction of the target, at
 * whose end both sides are counted: it holds everything, or nothing.
 *
 * An attempt that ran when the source was stopped has lost its worker: its lease is over in the
 * target, so the first server there finds it LOST, with all that follows from it, as after a crash.
 *
 * Both stores must be stopped, and are kept so while this lasts.
 *
 * Thread: one.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_STORE_MOVE_H
#define ERRAND_STORE_MOVE_H

#include "base/buf.h"
#include "store/fleet.h"
#include "store/record.h"

/* What there is in a store, counted by its rows: tasks by their states, records by their kinds. */
enum moved {
    MOVED_TASKS,
    MOVED_RECORDS,
    MOVED_ATTEMPTS,
    MOVED_LOGS,
    MOVED_DEPENDENCIES,
    MOVED_HELD,
    MOVED_QUEUES,
    MOVED_TOKENS,
    MOVED
};
#define MOVED_KINDS_MAX 32
struct move_counts {
    int64_t at[MOVED][MOVED_KINDS_MAX];
};
int64_t move_counts_sum(const struct move_counts *counts, enum moved what);
/* A row of a store's own counting: false, with the reason, if this errand cannot know it. */
MUST_CHECK bool move_counts_add(struct move_counts *counts, int64_t what, int64_t kind, int64_t n,
                                struct err *err);

/* Opened with `read_only`, and with `makes_new`. Refused: a store that somebody uses, a target that
 * holds anything, one store for both. */
struct move {
    struct store *from, *to;
    /* Who may speak to a shared target; an embedded store keeps them beside its file. */
    const struct steward_token *tokens;
    size_t tokens_count;
    /* So many tasks of all there are have been written. May be NULL. */
    void (*progress)(void *arg, int64_t done, int64_t all);
    /* Everything is written and counted: the last moment to put beside the target what it does not
     * hold itself. False: nothing happens. May be NULL. */
    bool (*finish)(void *arg, struct err *err);
    void *arg;
};
struct move_told {
    struct move_counts counts;
    int64_t lost; /* attempts that ran */
};
MUST_CHECK bool store_move(const struct move *move, struct move_told *told, struct err *err);

/* Every table of a store's schema, by what becomes of it; for the test that no table is forgotten.
 * Ended by a NULL name. */
struct move_table {
    const char *name;
    const char *travels; /* how */
};
extern const struct move_table sqlite_move_tables[], postgres_move_tables[];

/* ---- What a kind of store offers for it (ops.h) ---- */

enum move_part { MOVE_TASKS, MOVE_ATTEMPTS, MOVE_LOGS, MOVE_DEPENDENCIES, MOVE_HELD, MOVE_PARTS };

#define MOVE_SLICE_ROWS  500
#define MOVE_SLICE_BYTES (16 * MIB) /* of tasks, about */

/* Some rows of a part, in the order of its key. */
struct move_rows {
    size_t count;
    struct task *tasks;
    struct move_attempt {
        struct task_id id;
        struct task_attempt attempt; /* without its log */
    } * attempts;
    struct move_log {
        struct task_id id;
        int32_t number;
        int64_t until_byte;
        struct str text;
    } * logs;
    struct move_dependency {
        struct task_id id, on;
    } * dependencies;
    struct move_held {
        struct str document;
        struct task_id holder;
        bool family;     /* the holder is a container */
        struct str lock; /* see broker_lock() */
        int64_t since_ms;
    } * held;
};

struct move_ops {
    /* The same for two who speak to the same store, and for nobody else. */
    bool (*identify)(struct store *store, struct buf *out, struct err *err);
    /* Nobody uses it; or ERR_CONFLICT. As long as it is read, nobody can begin to. */
    bool (*seize)(struct store *store, struct err *err);
    bool (*count)(struct store *store, struct move_counts *out, struct err *err);
    /* Those behind `after`, the last slice; all zero: the first ones. None: that was all. */
    bool (*read)(struct store *store, enum move_part part, const struct move_rows *after,
                 struct arena *arena, struct move_rows *out, struct err *err);
    /* From now on the transaction takes rows as they are, and nobody else begins to use the store.
     */
    bool (*adopt)(struct tx *tx, uint64_t last_id, struct err *err);
    bool (*write)(struct tx *tx, enum move_part part, const struct move_rows *rows,
                  struct err *err);
    bool (*write_tokens)(struct tx *tx, const struct steward_token *tokens, size_t n,
                         struct err *err); /* NULL: they are kept elsewhere */
};

#endif
