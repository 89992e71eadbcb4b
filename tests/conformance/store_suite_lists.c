/* tests/conformance/store_suite_lists.c: lists select what their filter says, page by page, and
 * counters are what counting gives; compared with a plain model under seeded random work.
 *
 * SPDX-License-Identifier: MIT */
#include <pthread.h>

#include "record_bench.h"
#include "store/shared.h"
#include "store_suite.h"

#define MODEL_MAX 600
#define PARENTS   3

struct model {
    struct task at[MODEL_MAX]; /* oldest first, containers before all; TASK_STATES: deleted */
    size_t count;
};

static struct str pick(struct bench *b, const char *const *texts, size_t n)
{
    return str_of(texts[rand_below(&b->rand, n)]);
}

static const char *const documents[] = {NULL, NULL, "d1", "d2", "d3"};
static const char *const types[] = {"t", "u", "v"};
static const char *const queues[] = {"default", "bulk"};
static const char *const labels[] = {"red", "green", "blue", "reddish"};

/* None, or one of the containers. */
static struct task_id random_parent(struct bench *b, const struct model *model)
{
    size_t which = rand_below(&b->rand, PARENTS + 1);
    return which == PARENTS ? TASK_ID_NONE : model->at[which].id;
}

static void add_parents(struct bench *b, struct model *model)
{
    for (; model->count < PARENTS; model->count++) {
        struct task *parent = &model->at[model->count];
        *parent = bench_task(b);
        parent->container = true;
        bench_insert(b, parent);
    }
}

static struct task random_task(struct bench *b, const struct model *model)
{
    struct task task = bench_task(b);
    task.type = pick(b, types, 3);
    task.queue = pick(b, queues, 2);
    task.document = pick(b, documents, 5);
    task.external_id = rand_below(&b->rand, 4) == 0 ? pick(b, labels, 4) : STR_NONE;
    task.tags_count = rand_below(&b->rand, 3);
    for (size_t i = 0; i < task.tags_count; i++) {
        task.tags[i] = pick(b, labels, 4);
    }
    task.priority = (enum task_priority)(1 + rand_below(&b->rand, 4));
    task.parent = random_parent(b, model);
    task.team = (struct task_id){rand_below(&b->rand, 3), 0};
    task.schedule = (struct task_id){0, rand_below(&b->rand, 3)};
    task.created_ms = b->now_ms + (int64_t)rand_below(&b->rand, 100);
    task.max_retries = 1;
    return task;
}

/* One random step of one task's life, as far as its document allows. */
static void live_on(struct bench *b, struct task *task)
{
    struct err err = ERR_INIT;
    struct task was = *task, now = *task;
    bool ended = now.state == TASK_RUNNING;
    struct task_claim claim = {STR("w"), 1000, 1 + rand_below(&b->rand, 99)};
    struct task_error error = {STR("e"), STR("m"), STR_NONE};
    b->now_ms++;
    if (rand_below(&b->rand, 8) == 0 && !task_state_terminal(now.state)) {
        CHECK_OK(ended ? task_cancel_now(&now, b->now_ms, &err)
                       : task_cancel(&now, STR("x"), b->now_ms, &err));
    } else if (now.state == TASK_QUEUED) {
        CHECK_OK(task_start(&now, &claim, b->now_ms, &err));
    } else if (now.state == TASK_RETRYING) {
        CHECK_OK(task_due(&now, b->now_ms, &err));
    } else if (ended && rand_below(&b->rand, 2) == 0) {
        CHECK_OK(task_complete(&now, STR("{}"), b->now_ms, &err));
    } else if (ended && rand_below(&b->rand, 3) == 0) {
        CHECK_OK(task_time_out(&now, 0, b->now_ms, &err));
    } else if (ended) {
        CHECK_OK(task_fail(&now, &error, true, 0, b->now_ms, &err));
    } else if (now.state != TASK_COMPLETED && rand_below(&b->rand, 4) == 0) {
        CHECK_OK(task_revive(&now, b->now_ms, &err));
    }
    if (bench_save(b, &was, &now, ended, NULL)) {
        *task = now;
    }
    struct task got;
    CHECK(bench_load(b, task->id, &got));
    check_same_task(&got, task);
}

static void random_work(struct bench *b, struct model *model, size_t steps)
{
    for (size_t i = 0; i < steps; i++) {
        uint64_t dice = rand_below(&b->rand, 10);
        struct task *task = &model->at[rand_below(&b->rand, model->count)];
        if ((dice < 3 || task < model->at + PARENTS) && model->count < MODEL_MAX) {
            model->at[model->count] = random_task(b, model);
            bench_insert(b, &model->at[model->count++]);
        } else if (task->state == TASK_STATES || task->container) {
            continue;
        } else if (dice == 9 && task_state_terminal(task->state)) {
            bench_delete(b, task->id);
            task->state = TASK_STATES;
        } else {
            live_on(b, task);
        }
    }
}

static struct task_filter random_filter(struct bench *b, const struct model *model)
{
    struct task_filter filter = {.limit = 1 + rand_below(&b->rand, 40)};
    uint64_t which = rand_u64(&b->rand);
    filter.states = which & 3 ? (unsigned)rand_below(&b->rand, 1u << TASK_STATES) : 0;
    filter.states = which & 4 ? filter.states & 0x1c0 : filter.states; /* rare ends only */
    filter.type = which & 0x30 ? STR_NONE : pick(b, types, 3);
    filter.queue = which & 0xc0 ? STR_NONE : pick(b, queues, 2);
    filter.document = which & 0x300 ? STR_NONE : pick(b, documents, 5);
    filter.tag = which & 0xc00 ? STR_NONE : pick(b, labels, 4);
    filter.external_id = which & 0x7000 ? STR_NONE : pick(b, labels, 4);
    filter.priority = which & 0x38000 ? 0 : (enum task_priority)(1 + rand_below(&b->rand, 4));
    filter.parent = which & 0x1c0000 ? TASK_ID_NONE : random_parent(b, model);
    filter.parent.lo ^= which & 0x2000000000 && !id_none(filter.parent);
    filter.team.hi = which & 0xe00000 ? 0 : rand_below(&b->rand, 4);
    filter.schedule.lo = which & 0x7000000 ? 0 : rand_below(&b->rand, 4);
    filter.created_after_ms = which & 0x38000000 ? 0 : b->now_ms - 200;
    filter.created_before_ms = which & 0x1c0000000 ? 0 : b->now_ms - 20;
    filter.before =
        which & 0x600000000 ? TASK_ID_NONE : model->at[rand_below(&b->rand, model->count)].id;
    filter.not_before =
        which & 0x1800000000 ? 0 : model->at[rand_below(&b->rand, model->count)].id.hi;
    return filter;
}

static void compare(struct bench *b, const struct model *model, const struct task_filter *filter)
{
    struct task_rows rows = bench_list(b, filter);
    size_t n = 0;
    bool more = false;
    for (size_t i = model->count; i-- > 0;) {
        const struct task *task = &model->at[i];
        bool in_page = id_none(filter->before) || task->id.hi < filter->before.hi;
        if (task->state == TASK_STATES || !in_page || !filter_wants(filter, task)) {
            continue;
        }
        if (n == filter->limit) {
            more = true;
            break;
        }
        CHECK(n < rows.count);
        check_same_task(&rows.at[n++].task, task);
    }
    CHECK_EQ(rows.count, n);
    CHECK_EQ(rows.more, more);
}

static void compare_select(struct bench *b, const struct task_filter *filter)
{
    SCOPED(tx_close) struct tx *tx = NULL;
    struct err err = ERR_INIT;
    struct task_rows rows = bench_list(b, filter);
    struct task_id *ids = NULL;
    size_t count = 0;
    CHECK_OK(store_begin(b->store, &tx, &err));
    CHECK_OK(tx_select(tx, filter, &b->arena, &ids, &count, &err));
    CHECK_EQ(count, rows.count);
    for (size_t i = 0; i < count; i++) {
        CHECK(id_eq(ids[i], rows.at[i].task.id));
    }
}

static void compare_counts(struct bench *b, const struct model *model)
{
    for (size_t q = 0; q < 2; q++) {
        for (int state = 0; state < TASK_STATES; state++) {
            int64_t n = 0;
            for (size_t i = 0; i < model->count; i++) {
                n += (int)model->at[i].state == state && str_is(model->at[i].queue, queues[q]);
            }
            CHECK_EQ(bench_count(b, queues[q], (enum task_state)state), n);
        }
    }
}

TEST(lists_and_counters_agree_with_a_plain_model)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    struct model *model = arena_new(&b.arena, struct model);
    add_parents(&b, model);
    for (int round = 0; round < 4; round++) {
        random_work(&b, model, 500);
        for (int i = 0; i < 200; i++) {
            struct task_filter filter = random_filter(&b, model);
            compare(&b, model, &filter);
            compare_select(&b, &filter);
        }
        compare_counts(&b, model);
        check_healthy(&b);
        bench_reopen(&b);
        compare_counts(&b, model);
    }
}

TEST(paging_is_stable_while_tasks_arrive)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    struct task tasks[10];
    for (size_t i = 0; i < 10; i++) {
        tasks[i] = bench_task(&b);
        bench_insert(&b, &tasks[i]);
    }
    struct task_filter filter = {.limit = 3};
    for (size_t at = 10; at > 0;) {
        struct task_rows rows = bench_list(&b, &filter);
        CHECK_EQ(rows.count, MIN(3, at));
        for (size_t i = 0; i < rows.count; i++) {
            CHECK(id_eq(rows.at[i].task.id, tasks[--at].id));
        }
        CHECK_EQ(rows.more, at > 0);
        filter.before = rows.at[rows.count - 1].task.id;
        struct task late = bench_task(&b);
        bench_insert(&b, &late);
    }
}

TEST(long_payloads_and_results_are_left_out_of_lists)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    struct task task = bench_task(&b);
    task.payload = STR("12345");
    task.state = TASK_COMPLETED;
    task.finished_ms = 1;
    task.result = STR("1234");
    bench_insert(&b, &task);

    struct task_row row = bench_list(&b, &(struct task_filter){.limit = 1, .omit_over = 4}).at[0];
    CHECK(row.payload_omitted && str_absent(row.task.payload));
    CHECK(!row.result_omitted);
    CHECK_STR(row.task.result, "1234");
    row = bench_list(&b, &(struct task_filter){.limit = 1, .omit_over = 5}).at[0];
    CHECK(!row.payload_omitted && !row.result_omitted);
    CHECK_STR(row.task.payload, "12345");
}

TEST(long_metadata_is_left_out_of_lists_and_long_errors_are_shortened)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    char message[3000], detail[2000];
    memset(message, 'm', sizeof message);
    memcpy(message + 1023, "\xE2\x82\xAC", 3); /* a character that lies across the cut */
    memset(detail, '1', sizeof detail);
    struct task task = bench_task(&b);
    task.metadata = STR("{\"a\":1}");
    task.state = TASK_FAILED;
    task.finished_ms = 1;
    task.error =
        (struct task_error){STR("code"), {message, sizeof message}, {detail, sizeof detail}};
    bench_insert(&b, &task);

    struct task_row row = bench_list(&b, &(struct task_filter){.limit = 1, .omit_over = 6}).at[0];
    CHECK(row.metadata_omitted && str_absent(row.task.metadata));
    CHECK(row.error_omitted && str_absent(row.task.error.detail));
    CHECK_STR(row.task.error.code, "code");
    CHECK_EQ(row.task.error.message.len, 1023);
    row = bench_list(&b, &(struct task_filter){.limit = 1, .omit_over = 5003}).at[0];
    CHECK(row.error_omitted && !row.metadata_omitted);
    CHECK_STR(row.task.metadata, "{\"a\":1}");
    row = bench_list(&b, &(struct task_filter){.limit = 1, .omit_over = 5004}).at[0];
    CHECK(!row.error_omitted);
    CHECK_EQ(row.task.error.message.len, sizeof message);
    CHECK_EQ(row.task.error.detail.len, sizeof detail);
}

TEST(names_that_nobody_used_select_nothing)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    struct task task = bench_task(&b);
    bench_insert(&b, &task);
    CHECK_EQ(bench_list(&b, &(struct task_filter){.type = STR("x"), .limit = 9}).count, 0);
    CHECK_EQ(bench_list(&b, &(struct task_filter){.queue = STR("x"), .limit = 9}).count, 0);
    CHECK_EQ(bench_list(&b, &(struct task_filter){.document = STR(""), .limit = 9}).count, 0);
    CHECK_EQ(bench_list(&b, &(struct task_filter){.type = STR("t"), .limit = 9}).count, 1);
}

/* Inserts n tasks in one transaction; every 100th has the document "rare". */
static void insert_many(struct bench *b, size_t n)
{
    SCOPED(tx_close) struct tx *tx = NULL;
    struct err err = ERR_INIT;
    CHECK_OK(store_begin(b->store, &tx, &err));
    for (size_t i = 0; i < n; i++) {
        struct task task = bench_task(b);
        const struct task *one = &task;
        task.document = i % 100 == 0 ? STR("rare") : STR("common");
        CHECK_OK(tx_insert(tx, &one, 1, &err));
    }
    CHECK_OK(tx_commit(&tx, &err));
}

static void tend_all(struct bench *b)
{
    struct err err = ERR_INIT;
    for (bool more = true; more;) {
        CHECK_OK(store_tend(b->store, &more, &err));
    }
}

TEST(upkeep_changes_nothing_that_can_be_seen)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    struct task_filter rare = {.document = STR("rare"), .limit = 1000};
    struct task early = bench_task(&b);
    early.document = STR("rare");
    insert_many(&b, 5000);
    CHECK_EQ(bench_list(&b, &rare).count, 50);
    tend_all(&b);
    CHECK_EQ(bench_list(&b, &rare).count, 50);
    insert_many(&b, 200);
    CHECK_EQ(bench_list(&b, &rare).count, 52);
    bench_insert(&b, &early); /* an id from before the upkeep */
    CHECK_EQ(bench_list(&b, &rare).count, 53);
    bench_reopen(&b);
    CHECK_EQ(bench_list(&b, &rare).count, 53);

    bench_cancel(&b, &early);
    bench_delete(&b, early.id);
    CHECK_EQ(bench_list(&b, &rare).count, 52);
    check_healthy(&b);
}

/* A reader of its own thread, looking until it has seen all pairs. */
struct onlooker {
    struct store *store;
    size_t pairs;
    bool torn; /* it saw half a pair */
};

static bool look(struct onlooker *looker, struct reader *reader, size_t *seen)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct err err = ERR_INIT;
    struct task_rows rows;
    struct store_counts counts;
    if (!reader_list(reader, &(struct task_filter){0}, &arena, &rows, &err) ||
        !store_counts(looker->store, &arena, &counts, &err)) {
        return false;
    }
    int64_t counted = counts.count == 0 ? 0 : counts.at[0].tasks[TASK_QUEUED];
    looker->torn |= rows.count % 2 != 0 || counted % 2 != 0;
    *seen = rows.count / 2;
    return true;
}

static void *look_on(void *arg)
{
    struct onlooker *looker = arg;
    struct reader *reader = NULL;
    struct err err = ERR_INIT;
    size_t seen = 0;
    looker->torn = !reader_open(looker->store, &reader, &err);
    while (seen < looker->pairs && !looker->torn) {
        looker->torn |= !look(looker, reader, &seen);
    }
    reader_close(reader);
    return NULL;
}

static void insert_pair(struct bench *b)
{
    SCOPED(tx_close) struct tx *tx = NULL;
    struct err err = ERR_INIT;
    struct task one = bench_task(b), two = bench_task(b);
    const struct task *tasks[] = {&one, &two};
    CHECK_OK(store_begin(b->store, &tx, &err));
    CHECK_OK(tx_insert(tx, tasks, 2, &err));
    CHECK_OK(tx_commit(&tx, &err));
}

TEST(a_reader_in_another_thread_sees_whole_commits)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    struct onlooker looker = {.store = b.store, .pairs = 100};
    pthread_t thread;
    CHECK_EQ(pthread_create(&thread, NULL, look_on, &looker), 0);
    for (size_t i = 0; i < looker.pairs; i++) {
        insert_pair(&b);
    }
    CHECK_EQ(pthread_join(thread, NULL), 0);
    CHECK(!looker.torn);
}

/* ---- Reach ---- */

static struct task_id schedule_of(struct bench *b, uint64_t number, const char *owner)
{
    const struct record record = {.kind = RECORD_SCHEDULE,
                                  .id = {number, 1},
                                  .owner = owner == NULL ? STR_NONE : str_of(owner),
                                  .body = STR("{}")};
    CHECK(record_saved(b, &record));
    return record.id;
}

static struct task_id task_of(struct bench *b, struct task_id schedule)
{
    struct task task = bench_task(b);
    task.schedule = schedule;
    bench_insert(b, &task);
    return task.id;
}

TEST(tasks_of_schedules_of_others_are_out_of_reach)
{
    SCOPED(bench_fini) struct bench b;
    bench_init(&b);
    struct task_id ann = schedule_of(&b, 1, "ann"), bob = schedule_of(&b, 2, "bob");
    struct task_id plain = task_of(&b, TASK_ID_NONE), first = task_of(&b, ann);
    task_of(&b, bob);
    task_of(&b, schedule_of(&b, 3, NULL)); /* nobody's */
    task_of(&b, (struct task_id){4, 1});   /* of a schedule that is gone */
    struct task_id last = task_of(&b, ann);
    struct task_filter filter = {.reach = STR("ann"), .limit = 2};
    struct task_rows rows = bench_list(&b, &filter);
    CHECK_EQ(rows.count, 2);
    CHECK(rows.more);
    CHECK(id_eq(rows.at[0].task.id, last) && id_eq(rows.at[1].task.id, first));
    filter.before = first;
    rows = bench_list(&b, &filter);
    CHECK_EQ(rows.count, 1);
    CHECK(!rows.more);
    CHECK(id_eq(rows.at[0].task.id, plain));
    filter = (struct task_filter){.reach = STR("ann"), .limit = 9, .states = 1u << TASK_QUEUED};
    CHECK_EQ(bench_list(&b, &filter).count, 3);
    compare_select(&b, &filter);
    filter.schedule = bob;
    CHECK_EQ(bench_list(&b, &filter).count, 0);
    compare_select(&b, &filter);
}
