/* queue/query.c: lists and details, answered by reader threads. See query.h.
 *
 * Readers sleep on a semaphore that counts the questions. A condition variable was the first
 * choice: that of glibc before 2.41 may lose a signal when several threads wait on it (bug 25847),
 * and a question that nobody was woken for waits for the next one: on a quiet server, for good.
 *
 * Thread: each reader has its own connection and sleeps until a question comes.
 *
 * SPDX-License-Identifier: MIT */
#include "queue/query.h"

#include <assert.h>
#include <pthread.h>
#include <semaphore.h>

#include "base/mem.h"

#define READERS_MAX   8
#define RECORDS_FIRST 16 /* records that are read at once; more while they are small */

struct queries {
    pthread_mutex_t lock;
    struct list questions;
    sem_t asked; /* posted once for each question, and at the end once for each reader */
    void (*answered)(void *arg, struct query *query);
    void *arg;
    size_t threads;
    struct asker {
        struct queries *queries;
        struct reader *reader;
        pthread_t id;
    } askers[READERS_MAX];
};

/* One task, if it is within the asker's reach. A schedule that is gone was nobody's: its tasks are
 * seen by those who see all. */
static bool look_up_detail(struct reader *reader, struct query *query)
{
    struct record schedule;
    struct task_id id;
    bool found = false;
    if (!reader_detail(reader, query->id, query->arena, &query->found, &query->detail,
                       &query->err)) {
        return false;
    }
    id = query->found ? query->detail.task.schedule : TASK_ID_NONE;
    if (str_absent(query->reach) || id_none(id)) {
        return true;
    }
    if (!reader_record(reader, RECORD_SCHEDULE, id, query->arena, &found, &schedule, &query->err)) {
        return false;
    }
    query->found = found && !str_absent(schedule.owner) && str_eq(schedule.owner, query->reach);
    return true;
}

/* Adds the children of `parent`, each followed by its own. Families are a few levels deep. */
static bool look_up_children(struct reader *reader, struct query *query, struct task_id parent)
{
    struct task_rows *all = &query->rows, found;
    struct task_filter filter = {.parent = parent, .limit = FAMILY_MAX, .omit_over = 1};
    if (!reader_list(reader, &filter, query->arena, &found, &query->err)) {
        return false;
    }
    for (size_t i = found.count; i-- > 0 && all->count < FAMILY_MAX;) { /* newest first */
        const struct task_row *row = &found.at[i];
        all->at[all->count++] = *row;
        if (row->task.container && !look_up_children(reader, query, row->task.id)) {
            return false;
        }
    }
    return true;
}

static bool look_up_family(struct reader *reader, struct query *query)
{
    query->rows = (struct task_rows){0};
    if (!look_up_detail(reader, query)) {
        return false;
    }
    if (!query->found || !query->detail.task.container) {
        return true;
    }
    query->rows.at = arena_array(query->arena, struct task_row, FAMILY_MAX);
    return look_up_children(reader, query, query->id);
}

/* The next piece of a page, behind what there is already. */
static bool add_records(struct reader *reader, struct query *query, size_t most, size_t *bytes)
{
    struct records *all = &query->records, piece;
    struct record_filter filter = query->record_filter;
    if (all->count > 0) {
        struct task_id last = all->at[all->count - 1].id;
        *(filter.oldest_first ? &filter.after : &filter.before) = last;
    }
    filter.limit = most;
    if (!reader_records(reader, &filter, query->arena, &piece, &query->err)) {
        return false;
    }
    for (size_t i = 0; i < piece.count; i++) {
        all->at[all->count++] = piece.at[i];
        *bytes += piece.at[i].body.len;
    }
    all->more = piece.more;
    return true;
}

/* A page is read in pieces, so that one of big records ends before it fills the memory. */
static bool look_up_records(struct reader *reader, struct query *query)
{
    size_t limit = query->record_filter.limit, bytes = 0, piece = RECORDS_FIRST;
    struct records *all = &query->records;
    assert(limit > 0);
    *all = (struct records){.at = arena_array(query->arena, struct record, limit), .more = true};
    while (all->more && all->count < limit && bytes < RECORDS_BYTES) {
        if (!add_records(reader, query, MIN(piece, limit - all->count), &bytes)) {
            return false;
        }
        piece *= bytes < RECORDS_BYTES / 16 ? 4 : 1;
    }
    return true;
}

/* The tasks that records stand for. */
static bool look_up_tasks(struct reader *reader, struct query *query, const struct record *records,
                          size_t count)
{
    query->tasks = arena_array(query->arena, const struct task *, count);
    for (size_t i = 0; i < count; i++) {
        struct task_detail *detail = NULL;
        bool found = false;
        if (query->task_marks >> records[i].mark & 1) {
            detail = arena_new(query->arena, struct task_detail);
            if (!reader_detail(reader, records[i].id, query->arena, &found, detail, &query->err)) {
                return false;
            }
        }
        query->tasks[i] = found ? &detail->task : NULL;
    }
    return true;
}

static bool count(struct reader *reader, struct query_count *count, struct err *err)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct task_rows rows;
    if (count->kind != 0) {
        return reader_records_count(reader, count->kind, count->marks, &count->count, err);
    }
    assert(count->filter.limit > 0);
    if (!reader_list(reader, &count->filter, &arena, &rows, err)) {
        return false;
    }
    count->count = (int64_t)rows.count;
    return true;
}

static void look_up(struct reader *reader, struct query *query)
{
    query->err = ERR_INIT;
    switch (query->kind) {
    case QUERY_LIST:
        query->filter.reach = query->reach;
        (void)!reader_list(reader, &query->filter, query->arena, &query->rows, &query->err);
        break;
    case QUERY_DETAIL:
        (void)!look_up_detail(reader, query);
        break;
    case QUERY_FAMILY:
        (void)!look_up_family(reader, query);
        break;
    case QUERY_RECORDS:
        (void)!(look_up_records(reader, query) &&
                look_up_tasks(reader, query, query->records.at, query->records.count));
        break;
    case QUERY_RECORD:
        (void)!(reader_record(reader, query->record_filter.kind, query->id, query->arena,
                              &query->found, &query->record, &query->err) &&
                look_up_tasks(reader, query, &query->record, query->found ? 1 : 0));
        break;
    case QUERY_COUNTS:
        for (size_t i = 0; i < query->counts_count; i++) {
            if (!count(reader, &query->counts[i], &query->err)) {
                break;
            }
        }
        break;
    }
}

/* The next question; NULL when it is time to end. */
static struct query *next_question(struct queries *queries)
{
    while (sem_wait(&queries->asked) != 0) {
    }
    pthread_mutex_lock(&queries->lock);
    struct link *first = list_first(&queries->questions);
    if (first != NULL) {
        list_remove(first);
    }
    pthread_mutex_unlock(&queries->lock);
    return first == NULL ? NULL : HOLDER(first, struct query, link);
}

static void *run(void *arg)
{
    struct asker *asker = arg;
    pthread_setname_np(pthread_self(), "reader");
    for (struct query *query; (query = next_question(asker->queries)) != NULL;) {
        look_up(asker->reader, query);
        asker->queries->answered(asker->queries->arg, query);
    }
    return NULL;
}

static bool start_one(struct queries *queries, struct store *store, struct err *err)
{
    struct asker *asker = &queries->askers[queries->threads];
    asker->queries = queries;
    if (!reader_open(store, &asker->reader, err)) {
        return false;
    }
    if (pthread_create(&asker->id, NULL, run, asker) != 0) {
        reader_close(asker->reader);
        return err_set(err, ERR_INTERNAL, "start a reader's thread");
    }
    queries->threads++;
    return true;
}

bool queries_start(struct store *store, size_t threads, void (*answered)(void *, struct query *),
                   void *arg, struct queries **out, struct err *err)
{
    struct queries *queries = mem_new(struct queries);
    pthread_mutex_init(&queries->lock, NULL);
    sem_init(&queries->asked, 0, 0);
    list_init(&queries->questions);
    queries->answered = answered;
    queries->arg = arg;
    for (size_t i = 0; i < MIN(threads, READERS_MAX); i++) {
        if (!start_one(queries, store, err)) {
            queries_stop(queries);
            return false;
        }
    }
    *out = queries;
    return true;
}

void queries_ask(struct queries *queries, struct query *query)
{
    pthread_mutex_lock(&queries->lock);
    list_append(&queries->questions, &query->link);
    pthread_mutex_unlock(&queries->lock);
    sem_post(&queries->asked);
}

void queries_stop(struct queries *queries)
{
    if (queries == NULL) {
        return;
    }
    for (size_t i = 0; i < queries->threads; i++) {
        sem_post(&queries->asked);
    }
    for (size_t i = 0; i < queries->threads; i++) {
        pthread_join(queries->askers[i].id, NULL);
        reader_close(queries->askers[i].reader);
    }
    pthread_mutex_destroy(&queries->lock);
    sem_destroy(&queries->asked);
    mem_free(queries);
}
