/* store/record.h: what is kept besides tasks: schedules, executions, notifications, teams,
 * messages, costs.
 *
 * A record is a body in its own room's words with the few columns that a store must find it by. The
 * store does not read the body. Records are written in the transaction of the tasks they belong to.
 *
 * Versions: a record is saved by compare-and-set on the version it was loaded with; version 0 means
 * new. tx_records_load() keeps others from changing what it loaded until the transaction ends where
 * a store is shared; a save that is not applied then means that the key is taken.
 *
 * Thread: as store.h: transactions are the engine's, readers their own thread's.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_STORE_RECORD_H
#define ERRAND_STORE_RECORD_H

#include "store/store.h"

enum record_kind { /* stored: numbers never change */
                   RECORD_SCHEDULE = 1,
                   RECORD_EXECUTION = 2,
                   RECORD_NOTIFICATION = 3,
                   RECORD_TEAM = 4,
                   RECORD_MESSAGE = 5,
                   RECORD_USAGE = 6,   /* what a run cost; what a user may still spend today */
                   RECORD_REMOVED = 7, /* a schedule that is gone, while its history goes too */
                   RECORD_FOLLOW = 8,  /* a task whose end not all dependents know of yet */
                   RECORD_UNIQUE = 9,  /* what no second job may be while the first is open */
                   RECORD_CLOUD_QUEUE = 10, /* how a queue of the Cloud Tasks API retries */
                   RECORD_CLOUD_NAME = 11,  /* a name of its tasks that may not be used again yet */
                   RECORD_KINDS
};

#define RECORD_BODY_MAX (4 * MIB)
#define RECORD_KEY_MAX  1024

struct record {
    enum record_kind kind;
    struct task_id id;     /* unique within its kind */
    struct task_id parent; /* what it belongs to (an execution's schedule, a message's team) */
    struct str owner;      /* whose it is (userId); absent: nobody's */
    struct str key;        /* unique within its kind, as long as the record lives; absent: none */
    int64_t due_ms;        /* when something happens to it by itself, UTC; 0: never */
    int64_t at_ms;         /* its time, for ranges; 0: none */
    int32_t mark;          /* one small number to filter by (a status, read or not) */
    int64_t version;       /* as loaded; 0: new */
    struct str body;
};

struct record_load {
    enum record_kind kind;
    struct task_id id;
    bool found;           /* out */
    struct record record; /* out, texts in the arena */
};
MUST_CHECK bool tx_records_load(struct tx *tx, struct record_load *loads, size_t n,
                                struct arena *arena, struct err *err);

/* TASK_ID_NONE where no record has the key. */
MUST_CHECK bool tx_records_find(struct tx *tx, enum record_kind kind, const struct str *keys,
                                size_t n, struct task_id *out, struct err *err);

/* Inserts (version 0) or replaces (compare-and-set on version, which grows by one). Not applied:
 * the version moved, or the id or key is taken; nothing of that record was written then. */
struct record_save {
    const struct record *record;
    bool applied; /* out */
};
MUST_CHECK bool tx_records_save(struct tx *tx, struct record_save *saves, size_t n,
                                struct err *err);

MUST_CHECK bool tx_records_delete(struct tx *tx, enum record_kind kind, const struct task_id *ids,
                                  size_t n, struct err *err); /* unknown ids are passed over */
/* Removes all of a kind that belong to `parent`. */
MUST_CHECK bool tx_records_clear(struct tx *tx, enum record_kind kind, struct task_id parent,
                                 struct err *err);

/* Up to `most` records whose due_ms is at or before `until_ms`, earliest first, whole; on a shared
 * store without those that another node is working on. *next_ms: the due time of the first one that
 * is not among them (INT64_MAX: none). */
struct records {
    struct record *at;
    size_t count;
    bool more; /* of a list: others follow */
};
MUST_CHECK bool tx_records_due(struct tx *tx, enum record_kind kind, int64_t until_ms, size_t most,
                               struct arena *arena, struct records *out, int64_t *next_ms,
                               struct err *err);

/* Zero and absent mean any. */
struct record_filter {
    enum record_kind kind;
    struct task_id parent;
    struct str owner;
    uint32_t marks;                   /* bits 1 << mark; 0: any */
    int64_t at_from_ms, at_before_ms; /* from on, up to before; who has no time is in no range */
    struct task_id after;             /* only with greater ids: oldest first ... */
    struct task_id before;            /* only with smaller ids */
    bool oldest_first;                /* else newest first, by id */
    size_t limit;                     /* 0: none */
};
MUST_CHECK bool tx_records_list(struct tx *tx, const struct record_filter *filter,
                                struct arena *arena, struct records *out, struct err *err);
MUST_CHECK bool reader_records(struct reader *reader, const struct record_filter *filter,
                               struct arena *arena, struct records *out, struct err *err);
/* How many there are with one of these marks (bits 1 << mark; 0: any). Each is looked at: for
 * whoever asks now and then. */
MUST_CHECK bool reader_records_count(struct reader *reader, enum record_kind kind, uint32_t marks,
                                     int64_t *out, struct err *err);
MUST_CHECK bool reader_record(struct reader *reader, enum record_kind kind, struct task_id id,
                              struct arena *arena, bool *found, struct record *out,
                              struct err *err);

#endif
