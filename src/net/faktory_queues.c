/* net/faktory_queues.c: what the Faktory protocol says of queues: INFO and QUEUE.
 *
 * The sets of Faktory are states here: scheduled is SCHEDULED, retries RETRYING, working RUNNING,
 * dead FAILED and TIMEOUT but for jobs with `retry` 0, which that server forgets. Queues that the
 * server keeps for itself are in none of them.
 *
 * Thread: net loop.
 *
 * SPDX-License-Identifier: MIT */
#include <sys/resource.h>

#include "net/faktory_parts.h"
#include "task/reserved.h"

#define PAGE          ((size_t)500)
#define FORGOTTEN_MAX ((size_t)10000) /* counted for INFO; beyond it they look dead */
#define BIT(state)    (1u << (state))

bool queue_is_own(struct str name)
{
    return reserved_for_teams(name) || str_is(name, RESERVED_DELIVERY_QUEUE);
}

/* ---- Queues that were removed: not named again before something is pushed to them ---- */

struct removed_queue {
    struct removed_queue *next;
    struct str name;
    bool back;
};

static struct removed_queue *find_removed(const struct faktory *faktory, struct str name)
{
    struct removed_queue *it = faktory->removed;
    while (it != NULL && !str_eq(it->name, name)) {
        it = it->next;
    }
    return it;
}

void queue_is_back(struct faktory *faktory, struct str queue)
{
    struct removed_queue *removed = faktory->removed == NULL ? NULL : find_removed(faktory, queue);
    if (removed != NULL) {
        removed->back = true;
    }
}

static void remember_removed(struct faktory *faktory, struct str name)
{
    struct removed_queue *removed = find_removed(faktory, name);
    if (removed == NULL) {
        removed = arena_new(&faktory->removed_arena, struct removed_queue);
        *removed = (struct removed_queue){faktory->removed,
                                          arena_str(&faktory->removed_arena, name), false};
        faktory->removed = removed;
    }
    removed->back = false;
}

static int64_t live_tasks(const struct queue_view *view)
{
    int64_t n = 0;
    for (int state = 0; state < TASK_COMPLETED; state++) {
        n += view->counts[state];
    }
    return n;
}

static bool is_listed(const struct faktory *faktory, const struct queue_view *view)
{
    const struct removed_queue *removed = find_removed(faktory, view->settings.name);
    return !queue_is_own(view->settings.name) &&
           (removed == NULL || removed->back || live_tasks(view) > 0);
}

/* ---- INFO ---- */

struct info {
    struct command *queues;
    struct query *forgotten;
    int64_t forgotten_count;
};

struct totals {
    int64_t states[TASK_STATES];
    int64_t queues, enqueued;
    uint64_t processed, failed;
};

static struct totals add_up(const struct faktory *faktory, const struct command_queues *queues)
{
    struct totals totals = {0};
    for (size_t i = 0; i < queues->count; i++) {
        const struct queue_view *view = &queues->views[i];
        if (queue_is_own(view->settings.name)) {
            continue;
        }
        for (int state = 0; state < TASK_STATES; state++) {
            totals.states[state] += view->counts[state];
        }
        uint64_t failed = view->outcomes[OUTCOME_FAILED] + view->outcomes[OUTCOME_TIMEOUT] +
                          view->outcomes[OUTCOME_LOST];
        totals.failed += failed;
        totals.processed += failed + view->outcomes[OUTCOME_COMPLETED];
        if (is_listed(faktory, view)) {
            totals.queues++;
            totals.enqueued += view->counts[TASK_QUEUED];
        }
    }
    return totals;
}

static void write_sets(struct json_writer *w, const struct totals *totals, int64_t forgotten)
{
    int64_t dead = totals->states[TASK_FAILED] + totals->states[TASK_TIMEOUT] - forgotten;
    json_put_object(w, "sets");
    json_put_i64(w, "scheduled", totals->states[TASK_SCHEDULED]);
    json_put_i64(w, "retries", totals->states[TASK_RETRYING]);
    json_put_i64(w, "dead", MAX(dead, 0));
    json_put_i64(w, "working", totals->states[TASK_RUNNING]);
    json_close_object(w);
}

static void write_jobs(struct json_writer *w, struct faktory *faktory, const struct info *info)
{
    const struct command_queues *queues = &info->queues->queues;
    struct totals totals = add_up(faktory, queues);
    json_put_object(w, "faktory");
    json_put_object(w, "queues");
    for (size_t i = 0; i < queues->count; i++) {
        const struct queue_view *view = &queues->views[i];
        if (is_listed(faktory, view)) {
            json_key_str(w, view->settings.name);
            json_add_i64(w, view->counts[TASK_QUEUED]);
        }
    }
    json_close_object(w);
    write_sets(w, &totals, info->forgotten_count);
    json_put_object(w, "tasks");
    json_close_object(w);
    json_put_i64(w, "total_failures", (int64_t)(totals.failed - faktory->base_failed));
    json_put_i64(w, "total_processed", (int64_t)(totals.processed - faktory->base_processed));
    json_put_i64(w, "total_enqueued", totals.enqueued);
    json_put_i64(w, "total_queues", totals.queues);
    json_close_object(w);
}

static void write_server(struct json_writer *w, struct faktory_op *op)
{
    const struct api_options *api = &op->faktory->options.api->options;
    struct rusage usage = {0};
    getrusage(RUSAGE_SELF, &usage);
    int64_t up_ms = clock_now(api->clock).wall_ms - api->started_ms;
    json_put_object(w, "server");
    json_put_str(w, "description",
                 arena_printf(&op->arena, "Errand " STR_FMT, STR_ARG(api->version)));
    json_put_c(w, "faktory_version", "1.10.0");
    json_put_i64(w, "uptime", MAX(up_ms, 0) / SECOND_MS);
    json_put_i64(w, "connections",
                 op->session == NULL ? 0 : (int64_t)connection_siblings(op->session->connection));
    json_put_i64(w, "command_count", (int64_t)op->faktory->commands);
    json_put_i64(w, "used_memory_mb", usage.ru_maxrss / 1024);
    json_close_object(w);
}

static void answer_info(struct faktory_op *op)
{
    const struct info *info = op->own;
    int64_t now_ms = clock_now(op->faktory->options.api->options.clock).wall_ms;
    int64_t second = now_ms / SECOND_MS % (DAY_MS / SECOND_MS);
    SCOPED(buf_fini) struct buf text = BUF_INIT(ANSWER_MAX);
    struct json_writer w = JSON_WRITER(&text);
    json_open_object(&w);
    json_put_time(&w, "now", now_ms);
    json_put_str(&w, "server_utc_time",
                 arena_printf(&op->arena, "%02d:%02d:%02d UTC", (int)(second / 3600),
                              (int)(second / 60 % 60), (int)(second % 60)));
    write_jobs(&w, op->faktory, info);
    write_server(&w, op);
    json_close_object(&w);
    op_bulk(op, buf_view(&text));
}

static void info_back(struct faktory_op *op)
{
    struct info *info = op->own;
    if (op->failure.kind != ERR_NONE) {
        op_fail(op, &op->failure);
        return;
    }
    const struct task_rows *rows = &info->forgotten->rows;
    info->forgotten_count += (int64_t)rows->count;
    if (rows->more && info->forgotten_count < (int64_t)FORGOTTEN_MAX) {
        info->forgotten->filter.before = rows->at[rows->count - 1].task.id;
        op_ask(op, info->forgotten);
        return;
    }
    answer_info(op);
}

void op_info(struct faktory_op *op)
{
    struct info *info = arena_new(&op->arena, struct info);
    op->own = info;
    op->back = info_back;
    info->queues = op_command(op, COMMAND_QUEUES);
    info->forgotten = op_list(op, BIT(TASK_FAILED), PAGE);
    info->forgotten->filter.tag = STR(JOB_FORGOTTEN_TAG);
    info->forgotten->filter.omit_over = 1; /* the rows are only counted */
    op_ask(op, info->forgotten);
}

void info_start_over(struct faktory *faktory, const struct command_queues *queues)
{
    struct totals totals = add_up(faktory, queues);
    faktory->base_processed = totals.processed;
    faktory->base_failed = totals.failed;
}

/* ---- QUEUE ---- */

struct queue_change {
    struct str names[FAKTORY_QUEUES_MAX];
    size_t count;
    struct command *queues;
    enum { QUEUE_PAUSE, QUEUE_RESUME, QUEUE_REMOVE, QUEUE_LATENCY, QUEUE_VERBS } verb;
};

static bool is_named(const struct queue_change *change, struct str name)
{
    for (size_t i = 0; i < change->count; i++) {
        if (str_is(change->names[i], "*") || str_eq(change->names[i], name)) {
            return true;
        }
    }
    return false;
}

static void set_paused(struct faktory_op *op, struct str name, bool paused)
{
    struct command *command = op_command(op, COMMAND_QUEUE);
    command->queue =
        (struct command_queue){.name = name, .has_paused = true, .set = {.paused = paused}};
}

void queue_remove(struct faktory_op *op, const struct queue_view *view)
{
    struct command *command = op_command(op, COMMAND_BULK);
    struct str name = view->settings.name;
    command->bulk = (struct command_bulk){
        .verb = BULK_CANCEL,
        .reason = STR("removed"),
        .filter = {.queue = name, .states = BIT(TASK_QUEUED) | BIT(TASK_WAITING)}};
    if (view->settings.paused) {
        set_paused(op, name, false);
    }
    remember_removed(op->faktory, name);
}

static void change_queues(struct faktory_op *op, const struct queue_change *change)
{
    const struct command_queues *queues = &change->queues->queues;
    op->back = op_ok_or_fail;
    op->pending++;
    for (size_t i = 0; i < queues->count; i++) {
        const struct queue_view *view = &queues->views[i];
        struct str name = view->settings.name;
        if (queue_is_own(name) || !is_named(change, name)) {
            continue;
        }
        if (change->verb == QUEUE_REMOVE) {
            queue_remove(op, view);
        } else {
            set_paused(op, name, change->verb == QUEUE_PAUSE);
        }
    }
    if (--op->pending == 0) {
        op_ok(op);
    }
}

static void answer_latency(struct faktory_op *op, const struct queue_change *change)
{
    int64_t now_ms = clock_now(op->faktory->options.api->options.clock).wall_ms;
    const struct command_queues *queues = &change->queues->queues;
    SCOPED(buf_fini) struct buf text = BUF_INIT(MIB);
    struct json_writer w = JSON_WRITER(&text);
    json_open_object(&w);
    for (size_t i = 0; i < change->count; i++) {
        int64_t age_ms = 0;
        for (size_t j = 0; j < queues->count; j++) {
            const struct queue_view *view = &queues->views[j];
            if (str_eq(view->settings.name, change->names[i]) && view->oldest_ms != INT64_MAX) {
                age_ms = MAX(now_ms - view->oldest_ms, 0);
            }
        }
        json_key_str(&w, change->names[i]);
        json_add_f64(&w, (double)age_ms / SECOND_MS);
    }
    json_close_object(&w);
    op_bulk(op, buf_view(&text));
}

static void queues_back(struct faktory_op *op)
{
    const struct queue_change *change = op->own;
    if (op->failure.kind != ERR_NONE) {
        op_fail(op, &op->failure);
    } else if (change->verb == QUEUE_LATENCY) {
        answer_latency(op, change);
    } else {
        change_queues(op, change);
    }
}

void op_queue(struct faktory_op *op)
{
    static const char *const verbs[QUEUE_VERBS] = {"PAUSE", "RESUME", "REMOVE", "LATENCY"};
    struct queue_change *change = arena_new(&op->arena, struct queue_change);
    struct str rest = op->line.rest, word = str_cut(&rest, ' ');
    int verb = 0;
    while (verb < QUEUE_VERBS && !str_eq_nocase(word, str_of(verbs[verb]))) {
        verb++;
    }
    if (verb == QUEUE_VERBS) {
        word.len = MIN(word.len, (size_t)FAKTORY_ECHO_MAX);
        op_error(op, "ERR",
                 arena_printf(&op->arena, "no such QUEUE subcommand: " STR_FMT, STR_ARG(word)));
        return;
    }
    change->verb = verb;
    change->count = faktory_words(rest, change->names, FAKTORY_QUEUES_MAX);
    if (change->count == 0) {
        op_error(op, "ERR", STR("QUEUE needs the name of a queue"));
        return;
    }
    if (verb == QUEUE_LATENCY && is_named(change, STR("*"))) {
        op_error(op, "ERR", STR("QUEUE LATENCY takes names, not *"));
        return;
    }
    op->own = change;
    op->back = queues_back;
    change->queues = op_command(op, COMMAND_QUEUES);
}
