/* queue/query.h: lists and details, answered by reader threads beside the engine.
 *
 * A reader sees every change that was answered before the question was asked.
 *
 * Thread: queries_ask() from any; answers come on a reader's thread.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_QUEUE_QUERY_H
#define ERRAND_QUEUE_QUERY_H

#include "base/channel.h"
#include "store/record.h"

#define FAMILY_MAX    1000       /* descendants that are looked up; one request creates no more */
#define RECORDS_BYTES (16 * MIB) /* of bodies on a page: past it the page is over */

enum query_kind {
    QUERY_LIST,
    QUERY_DETAIL,
    QUERY_FAMILY,
    QUERY_RECORDS,
    QUERY_RECORD,
    QUERY_COUNTS,
};

/* How many there are: of records of a kind, or of tasks. */
struct query_count {
    enum record_kind kind;     /* 0: tasks */
    uint32_t marks;            /* of records: bits 1 << mark; 0: any */
    struct task_filter filter; /* of tasks; no more are counted than its limit, which is needed */
    int64_t count;             /* out */
};

struct query {
    struct link link;
    enum query_kind kind;
    struct arena *arena; /* the asker's; holds question and answer */
    struct str reach;    /* who asks: tasks of schedules of others are not found; absent: all are */
    struct task_filter filter;          /* LIST */
    struct task_id id;                  /* DETAIL, FAMILY, RECORD */
    struct record_filter record_filter; /* RECORDS; of RECORD its kind */
    struct task_rows rows;     /* out of LIST; of FAMILY: the descendants, each behind its parent */
    bool found;                /* out of DETAIL, FAMILY, RECORD */
    struct task_detail detail; /* out of DETAIL, FAMILY */
    uint32_t task_marks; /* RECORDS, RECORD: those with a mark of these bits have a task of the same
                            id, which is looked up too; 0: none */
    struct records records;     /* out of RECORDS */
    struct query_count *counts; /* COUNTS: in and out */
    size_t counts_count;
    struct record record;      /* out of RECORD */
    const struct task **tasks; /* out, if asked for: beside each record its task, or NULL */
    struct err err;            /* out */
    struct channel *reply_to;  /* the sender's, for the `answered` of queries_start() to use */
    void *sender;
    void (*answered)(struct query *query); /* of a sender that is no call; NULL: it is one */
};

struct queries;

MUST_CHECK bool queries_start(struct store *store, size_t threads,
                              void (*answered)(void *arg, struct query *query), void *arg,
                              struct queries **out, struct err *err);
void queries_ask(struct queries *queries, struct query *query); /* given away until answered */
void queries_stop(struct queries *queries);                     /* answers what it has, then ends */

#endif
