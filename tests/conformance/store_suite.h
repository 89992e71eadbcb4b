/* tests/conformance/store_suite.h: the definition of store.h, run against every kind of store.
 *
 * A program that runs the suite links the store_suite_*.c files and says in a file of its own where
 * its stores live. A place keeps what was committed from one opening to the next.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_TESTS_STORE_SUITE_H
#define ERRAND_TESTS_STORE_SUITE_H

#include "base/rand.h"
#include "store/store.h"
#include "task/life.h"
#include "test.h"

/* ---- What each program defines ---- */

struct place;
struct place *place_new(void);
struct store *place_open(struct place *place);
void place_free(struct place *place); /* its store is closed */

/* ---- What the suite's files share ---- */

struct bench {
    struct place *place;
    struct store *store;
    struct reader *reader;
    struct arena arena;
    struct rand rand;
    struct id_maker ids;
    int64_t now_ms;
};

void bench_init(struct bench *b);
void bench_fini(struct bench *b);
void bench_reopen(struct bench *b); /* a restart */

/* A plain QUEUED task of type "t" in queue "default", with a new id; not stored yet. */
struct task bench_task(struct bench *b);
/* Each is one transaction that must succeed. */
void bench_insert(struct bench *b, const struct task *task);
bool bench_save(struct bench *b, const struct task *was, const struct task *now, bool ended,
                const char *log); /* was it applied? */
/* The attempt ends, but its document stays leased. */
void bench_keep(struct bench *b, const struct task *was, const struct task *now);
void bench_delete(struct bench *b, struct task_id id);
bool bench_load(struct bench *b, struct task_id id, struct task *out); /* whole; was it found? */
struct task_detail bench_detail(struct bench *b, struct task_id id);
struct task_rows bench_list(struct bench *b, const struct task_filter *filter);
int64_t bench_count(struct bench *b, const char *queue, enum task_state state);

/* Transitions by life.h, saved; `task` becomes what was saved. */
void bench_start(struct bench *b, struct task *task);
void bench_complete(struct bench *b, struct task *task, const char *result);
void bench_fail(struct bench *b, struct task *task, const char *code);
void bench_cancel(struct bench *b, struct task *task);

/* The same where it may be refused: was it applied? */
bool bench_try_start(struct bench *b, struct task *task);
/* Another state, and nothing else: for containers, which life.h moves for the engine's reasons. */
bool bench_move(struct bench *b, struct task *task, enum task_state state);

/* A stored task with a document (NULL: without). */
struct task bench_on_document(struct bench *b, const char *document);
/* A child, in the parent's batch and on its document; not stored yet. */
struct task bench_member(struct bench *b, const struct task *parent);
/* A container with three children, all stored. */
struct brood {
    struct task top, child[3];
};
void bench_brood(struct bench *b, struct brood *brood, const char *document);

/* Fails unless every field is the same, byte for byte. */
void check_same_task(const struct task *got, const struct task *want);
/* Fails if the doctor finds anything. */
void check_healthy(struct bench *b);

#endif
