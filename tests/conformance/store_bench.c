/* tests/conformance/store_bench.c: the bench on which the store suite works. See store_suite.h.
 *
 * SPDX-License-Identifier: MIT */
#include "store_suite.h"

#include <stdio.h>

void bench_init(struct bench *b)
{
    *b = (struct bench){.now_ms = INT64_C(1800000000000), .place = place_new()};
    rand_init_seed(&b->rand, 7);
    b->ids.rand = &b->rand;
    bench_reopen(b);
}

void bench_reopen(struct bench *b)
{
    struct err err = ERR_INIT;
    reader_close(b->reader);
    store_close(b->store);
    b->store = place_open(b->place);
    CHECK_OK(reader_open(b->store, &b->reader, &err));
}

void bench_fini(struct bench *b)
{
    reader_close(b->reader);
    store_close(b->store);
    place_free(b->place);
    arena_fini(&b->arena);
}

struct task bench_task(struct bench *b)
{
    struct task task = {.id = id_make(&b->ids, b->now_ms),
                        .type = STR("t"),
                        .queue = STR("default"),
                        .priority = TASK_NORMAL,
                        .max_retries = TASK_MAX_RETRIES_DEFAULT,
                        .timeout_ms = TASK_TIMEOUT_DEFAULT_MS,
                        .backoff = TASK_BACKOFF_DEFAULT,
                        .cost = TASK_COST_NONE};
    task_begin(&task, b->now_ms);
    return task;
}

void bench_insert(struct bench *b, const struct task *task)
{
    SCOPED(tx_close) struct tx *tx = NULL;
    struct err err = ERR_INIT;
    CHECK_OK(store_begin(b->store, &tx, &err));
    CHECK_OK(tx_insert(tx, &task, 1, &err));
    CHECK_OK(tx_commit(&tx, &err));
    CHECK(tx == NULL);
}

bool bench_save(struct bench *b, const struct task *was, const struct task *now, bool ended,
                const char *log)
{
    SCOPED(tx_close) struct tx *tx = NULL;
    struct err err = ERR_INIT;
    struct task_change change = {.was = was, .now = now, .ended = ended, .log = str_of(log)};
    CHECK_OK(store_begin(b->store, &tx, &err));
    CHECK_OK(tx_save(tx, &change, 1, &err));
    CHECK_OK(tx_commit(&tx, &err));
    return change.applied;
}

void bench_keep(struct bench *b, const struct task *was, const struct task *now)
{
    SCOPED(tx_close) struct tx *tx = NULL;
    struct err err = ERR_INIT;
    struct task_change change = {.was = was, .now = now, .ended = true, .keeps_document = true};
    CHECK_OK(store_begin(b->store, &tx, &err));
    CHECK_OK(tx_save(tx, &change, 1, &err));
    CHECK_OK(tx_commit(&tx, &err));
    CHECK(change.applied);
}

void bench_delete(struct bench *b, struct task_id id)
{
    SCOPED(tx_close) struct tx *tx = NULL;
    struct err err = ERR_INIT;
    CHECK_OK(store_begin(b->store, &tx, &err));
    CHECK_OK(tx_delete(tx, &id, 1, &err));
    CHECK_OK(tx_commit(&tx, &err));
}

bool bench_load(struct bench *b, struct task_id id, struct task *out)
{
    SCOPED(tx_close) struct tx *tx = NULL;
    struct err err = ERR_INIT;
    struct task_load load = {.id = id, .arena = &b->arena, .whole = true};
    CHECK_OK(store_begin(b->store, &tx, &err));
    CHECK_OK(tx_load(tx, &load, 1, &err));
    *out = load.task;
    return load.found;
}

struct task_detail bench_detail(struct bench *b, struct task_id id)
{
    struct err err = ERR_INIT;
    struct task_detail detail;
    bool found = false;
    CHECK_OK(reader_detail(b->reader, id, &b->arena, &found, &detail, &err));
    CHECK(found);
    return detail;
}

struct task_rows bench_list(struct bench *b, const struct task_filter *filter)
{
    struct err err = ERR_INIT;
    struct task_rows rows;
    CHECK_OK(reader_list(b->reader, filter, &b->arena, &rows, &err));
    return rows;
}

int64_t bench_count(struct bench *b, const char *queue, enum task_state state)
{
    struct err err = ERR_INIT;
    struct store_counts counts;
    CHECK_OK(store_counts(b->store, &b->arena, &counts, &err));
    for (size_t i = 0; i < counts.count; i++) {
        if (str_is(counts.at[i].queue, queue)) {
            return counts.at[i].tasks[state];
        }
    }
    return -1; /* not listed at all */
}

void bench_start(struct bench *b, struct task *task)
{
    struct err err = ERR_INIT;
    struct task was = *task;
    struct task_claim claim = {STR("w1"), TASK_LEASE_DEFAULT_MS, rand_u64(&b->rand) | 1};
    CHECK_OK(task_start(task, &claim, b->now_ms, &err));
    CHECK(bench_save(b, &was, task, false, NULL));
}

void bench_complete(struct bench *b, struct task *task, const char *result)
{
    struct err err = ERR_INIT;
    struct task was = *task;
    CHECK_OK(task_complete(task, str_of(result), b->now_ms, &err));
    CHECK(bench_save(b, &was, task, true, NULL));
}

void bench_fail(struct bench *b, struct task *task, const char *code)
{
    struct err err = ERR_INIT;
    struct task was = *task;
    struct task_error error = {str_of(code), STR("it broke"), STR("{\"a\":1}")};
    CHECK_OK(task_fail(task, &error, true, 0, b->now_ms, &err));
    CHECK(bench_save(b, &was, task, true, NULL));
}

void bench_cancel(struct bench *b, struct task *task)
{
    struct err err = ERR_INIT;
    struct task was = *task;
    CHECK_OK(task_cancel(task, STR("no more"), b->now_ms, &err));
    CHECK(bench_save(b, &was, task, false, NULL));
}

bool bench_try_start(struct bench *b, struct task *task)
{
    struct err err = ERR_INIT;
    struct task now = *task;
    struct task_claim claim = {STR("w"), TASK_LEASE_DEFAULT_MS, 5};
    CHECK_OK(task_start(&now, &claim, b->now_ms, &err));
    bool applied = bench_save(b, task, &now, false, NULL);
    *task = applied ? now : *task;
    return applied;
}

bool bench_move(struct bench *b, struct task *task, enum task_state state)
{
    struct task now = *task;
    now.state = state;
    now.finished_ms = task_state_terminal(state) ? b->now_ms : 0;
    bool applied = bench_save(b, task, &now, false, NULL);
    *task = applied ? now : *task;
    return applied;
}

struct task bench_on_document(struct bench *b, const char *document)
{
    struct task task = bench_task(b);
    task.document = str_of(document);
    bench_insert(b, &task);
    return task;
}

struct task bench_member(struct bench *b, const struct task *parent)
{
    struct task task = bench_task(b);
    task.parent = parent->id;
    task.family = id_none(parent->family) ? parent->id : parent->family;
    task.document = parent->document;
    return task;
}

void bench_brood(struct bench *b, struct brood *brood, const char *document)
{
    brood->top = bench_task(b);
    brood->top.container = true;
    brood->top.document = str_of(document);
    bench_insert(b, &brood->top);
    for (size_t i = 0; i < ARRAY_LEN(brood->child); i++) {
        brood->child[i] = bench_member(b, &brood->top);
        bench_insert(b, &brood->child[i]);
    }
}

static void same(struct str got, struct str want, const char *field)
{
    if (str_absent(got) != str_absent(want) || !str_eq(got, want)) {
        print_error("%s: got %zu bytes <" STR_FMT ">, want %zu <" STR_FMT ">\n", field, got.len,
                    STR_ARG(got), want.len, STR_ARG(want));
        CHECK(false);
    }
}

#define SAME(field)       same(got->field, want->field, #field)
#define EQUAL(field)      CHECK_EQ(got->field, want->field)
#define EQUAL_REAL(field) CHECK(got->field == want->field)
#define EQUAL_ID(field)   CHECK(id_eq(got->field, want->field))

static void check_same_order(const struct task *got, const struct task *want)
{
    EQUAL_ID(id);
    SAME(type);
    SAME(queue);
    SAME(document);
    SAME(external_id);
    SAME(origin);
    SAME(key);
    SAME(payload);
    EQUAL(payload_raw);
    SAME(metadata);
    EQUAL(tags_count);
    for (size_t i = 0; i < want->tags_count; i++) {
        SAME(tags[i]);
    }
    EQUAL(backoff.base_ms);
    EQUAL(backoff.max_ms);
    EQUAL_REAL(backoff.factor);
    EQUAL_REAL(backoff.jitter);
    EQUAL_ID(parent);
    EQUAL_ID(team);
    EQUAL_ID(schedule);
    EQUAL_ID(family);
    EQUAL(container);
    EQUAL(continues);
    EQUAL(runs_anyway);
    CHECK_EQ(got->depends_count, 0); /* never loaded back */
    EQUAL(expires_ms);
    EQUAL(created_ms);
}

static void check_same_standing(const struct task *got, const struct task *want)
{
    EQUAL(state);
    EQUAL(priority);
    EQUAL(attempt);
    EQUAL(retries);
    EQUAL(max_retries);
    EQUAL(timeout_ms);
    EQUAL(scheduled_ms);
    EQUAL(queued_ms);
    EQUAL(started_ms);
    EQUAL(finished_ms);
    EQUAL(cancelled_ms);
    EQUAL(updated_ms);
    EQUAL(unmet);
    EQUAL(cancel_requested);
    SAME(cancel_reason);
    CHECK(got->token == want->token);
    EQUAL(outcome);
    SAME(worker);
    EQUAL(lease_ms);
    EQUAL(lease_until_ms);
    EQUAL(attempt_ended_ms);
    EQUAL_REAL(progress);
    SAME(progress_message);
    SAME(dispatch);
    EQUAL(log_bytes);
}

void check_same_task(const struct task *got, const struct task *want)
{
    check_same_order(got, want);
    check_same_standing(got, want);
    SAME(result);
    SAME(error.code);
    SAME(error.message);
    SAME(error.detail);
    EQUAL_REAL(cost.estimated);
    EQUAL_REAL(cost.actual);
    EQUAL_REAL(cost.tokens);
}

static void note_finding(void *arg, const char *invariant, const char *sentence)
{
    size_t *findings = arg;
    if (strcmp(invariant, "I8") != 0) {
        print_error("doctor: %s: %s\n", invariant, sentence);
        ++*findings;
    }
}

/* The suite makes rows by hand, each for its own question: that they add up to families whose
 * histories can end is asked where it matters. */
void check_healthy(struct bench *b)
{
    struct err err = ERR_INIT;
    size_t findings = 0;
    CHECK_OK(store_check(b->store, note_finding, &findings, &err));
    CHECK_EQ(findings, 0);
}
