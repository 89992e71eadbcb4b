/* net/on_system.c: documents, workers, nodes, statistics, health, the test clock.
 *
 * Thread: net loop.
 *
 * SPDX-License-Identifier: MIT */
#include <unistd.h>

#include "net/call.h"
#include "net/on.h"
#include "net/task_out.h"

/* Gives a command that needs no more than its kind; `done` finds it in call->own. */
static bool ask(struct call *call, enum command_kind kind, void (*done)(struct call *call),
                struct err *err)
{
    if (!call_asked(call, NULL, NULL, err)) {
        return false;
    }
    call->own = call_command(call, kind);
    call->done = done;
    return true;
}

/* ---- Documents ---- */

static void write_document(struct json_writer *w, const struct document_view *view, bool whole)
{
    json_open_object(w);
    json_put_str(w, "documentId", view->document);
    json_put_bool(w, "locked", view->locked);
    if (view->locked) {
        id_put(w, "taskId", view->task);
        if (!str_absent(view->worker)) {
            json_put_str(w, "workerId", view->worker);
        }
        time_put(w, "since", view->since_ms);
    }
    if (!whole) {
        json_put_i64(w, "waitingCount", view->line);
    }
    ids_put(w, "waiting", view->waiting, view->waiting_count);
    json_close_object(w);
}

static void answer_document(struct call *call)
{
    struct json_writer w = call_writer(call);
    write_document(&w, &((struct command *)call->own)->document.view, true);
    call_answer(call, 200);
}

static bool document_named(const struct call *call, struct err *err)
{
    return call->name.len <= TASK_DOCUMENT_MAX ||
           err_field(err, "documentId", "documentId must be at most %d bytes", TASK_DOCUMENT_MAX);
}

bool on_document_show(struct call *call, struct err *err)
{
    if (!document_named(call, err) || !ask(call, COMMAND_DOCUMENT, answer_document, err)) {
        return false;
    }
    ((struct command *)call->own)->document.document = call->name;
    return true;
}

/* Taken back: the answer is the document as it stands then. */
static void answer_released(struct call *call)
{
    const struct command *command = call->own;
    struct json_writer w = call_writer(call);
    write_document(&w, &command->document.view, true);
    call_answer(call, call->status);
}

static void look_again(struct call *call)
{
    const struct command_release release = ((struct command *)call->own)->release;
    call->status = release.is_asked ? 202 : 200;
    call->own = call_command(call, COMMAND_DOCUMENT);
    ((struct command *)call->own)->document.document = release.document;
    call->done = answer_released;
}

bool on_document_release(struct call *call, struct err *err)
{
    if (!str_absent(call_user(call))) {
        return err_set(err, ERR_FORBIDDEN,
                       "a token of one user may not release: the document may be another's");
    }
    if (!document_named(call, err) || !call_body(call, NULL, true, NULL, NULL, err) ||
        !ask(call, COMMAND_RELEASE, look_again, err)) {
        return false;
    }
    ((struct command *)call->own)->release = (struct command_release){.document = call->name};
    return true;
}

static void answer_documents(struct call *call)
{
    const struct command_document *documents = &((struct command *)call->own)->document;
    struct json_writer w = call_writer(call);
    json_open_array(&w);
    for (size_t i = 0; i < documents->count; i++) {
        write_document(&w, &documents->all[i], false);
    }
    json_close_array(&w);
    call_answer(call, 200);
}

struct documents_in {
    size_t limit;
};

static bool take_locked(const struct form_row *row, struct str value, void *into, struct err *err)
{
    (void)into;
    return str_is(value, "true") ||
           err_field(err, row->name.ptr, "locked must be true: only locked documents are listed");
}

static const struct form_hook locked_hook = {.text = take_locked};
static const struct form_row documents_rows[] = {
    {.name = {"locked", sizeof "locked" - 1},
     .kind = FORM_HOOK,
     .use = FORM_SET,
     .hook = &locked_hook,
     .schema = "{\"type\":\"boolean\",\"const\":true}",
     .about = "Only locked documents are known as such."},
    FORM_ROW("limit", struct documents_in, limit, FORM_SIZE, FORM_SET | FORM_DEFAULT, .min = 1,
             .max = DOCUMENTS_MAX, .standard = DOCUMENTS_MAX, .about = "At most so many."),
};
const struct form documents_form = FORM(documents_rows);

bool on_document_list(struct call *call, struct err *err)
{
    struct documents_in in = {.limit = DOCUMENTS_MAX};
    if (!call_asked(call, &documents_form, &in, err)) {
        return false;
    }
    struct command *command = call_command(call, COMMAND_DOCUMENTS);
    command->document.most = in.limit;
    call->own = command;
    call->done = answer_documents;
    return true;
}

/* ---- Workers and nodes ---- */

static void write_worker(struct json_writer *w, const struct worker_view *worker, struct str node)
{
    json_open_object(w);
    json_put_str(w, "id", worker->id);
    json_put_c(w, "kind", task_worker_kind_name(worker->kind));
    json_put_str(w, "node", node);
    json_put_c(w, "state", worker->tasks_count > 0 ? "busy" : "idle");
    ids_put(w, "taskIds", worker->tasks, worker->tasks_count);
    time_put(w, "lastSeenAt", worker->seen_ms);
    signal_put(w, worker->signal);
    json_close_object(w);
}

/* What other nodes said of themselves, passed on as it is. */
static struct fleet_view others(struct call *call)
{
    struct fleet_view view = {STR_NONE, STR_NONE};
    if (call->api->home->fleet != NULL) {
        fleet_look(call->api->home->fleet, call->arena, &view);
    }
    return view;
}

static void add_others(struct json_writer *w, struct str elements)
{
    if (!str_absent(elements) && elements.len > 0) {
        json_add_raw(w, elements);
    }
}

static void answer_workers(struct call *call)
{
    const struct command_workers *workers = &((struct command *)call->own)->workers;
    struct json_writer w = call_writer(call);
    json_open_object(&w);
    json_put_array(&w, "workers");
    for (size_t i = 0; i < workers->count; i++) {
        write_worker(&w, &workers->workers[i], call->api->options.node_id);
    }
    add_others(&w, others(call).workers);
    json_close_array(&w);
    json_close_object(&w);
    call_answer(call, 200);
}

bool on_worker_list(struct call *call, struct err *err)
{
    return ask(call, COMMAND_WORKERS, answer_workers, err);
}

static void answer_worker(struct call *call)
{
    const struct command_worker *worker = &((struct command *)call->own)->worker;
    struct json_writer w = call_writer(call);
    write_worker(&w, &worker->view, call->api->options.node_id);
    call_answer(call, 200);
}

/* The engine has told the other nodes. One of them knew the worker: it is shown as that one did. */
static void worker_elsewhere(struct call *call)
{
    struct json json;
    struct str one;
    struct str all = arena_printf(call->arena, "[" STR_FMT "]", STR_ARG(others(call).workers));
    json_start(&json, all, call->arena);
    bool listed = call->failure.kind == ERR_NOT_FOUND && json_enter_array(&json, NULL);
    while (listed && json_item(&json, NULL) && json_raw(&json, &one, NULL)) {
        if (str_eq(json_find_str(one, "id", call->arena), call->name)) {
            struct json_writer w = call_writer(call);
            json_add_raw(&w, one);
            call_answer(call, 200);
            return;
        }
    }
    call_fail(call, &call->failure);
}

static bool signal_worker(struct call *call, enum worker_signal signal, struct err *err)
{
    if (!call_body(call, NULL, true, NULL, NULL, err)) {
        return false;
    }
    struct str id = call->name;
    if (!ask(call, COMMAND_WORKER, answer_worker, err)) {
        return false;
    }
    ((struct command *)call->own)->worker = (struct command_worker){.id = id, .signal = signal};
    call->failed = worker_elsewhere;
    return true;
}

bool on_worker_quiet(struct call *call, struct err *err)
{
    return signal_worker(call, SIGNAL_QUIET, err);
}

bool on_worker_stop(struct call *call, struct err *err)
{
    return signal_worker(call, SIGNAL_STOP, err);
}

bool on_worker_resume(struct call *call, struct err *err)
{
    return signal_worker(call, SIGNAL_NONE, err);
}

static void write_node(struct json_writer *w, const struct api *api, int64_t running)
{
    const struct fleet_status fleet = api_fleet_status(api);
    json_open_object(w);
    json_put_str(w, "id", api->options.node_id);
    json_put_str(w, "address", api->parts.address);
    json_put_i64(w, "pid", getpid());
    json_put_bool(w, "leader", fleet.leads);
    json_put_c(w, "store", api_store_down(api) ? "down" : "ok");
    json_put_c(w, "broker", fleet.broker);
    json_put_str(w, "version", api->options.version);
    json_put_time(w, "startedAt", api->options.started_ms);
    json_put_i64(w, "running", running);
    if (fleet.clock.known) {
        json_put_i64(w, "clockOffsetMs", fleet.clock.offset_ms);
    }
    json_close_object(w);
}

static void answer_nodes(struct call *call)
{
    const struct queue_stats *stats = &((struct command *)call->own)->stats.stats;
    struct json_writer w = call_writer(call);
    json_open_object(&w);
    json_put_array(&w, "nodes");
    write_node(&w, call->api, stats->running_here);
    add_others(&w, others(call).nodes);
    json_close_array(&w);
    json_close_object(&w);
    call_answer(call, 200);
}

bool on_node_list(struct call *call, struct err *err)
{
    return ask(call, COMMAND_STATS, answer_nodes, err);
}

/* ---- Statistics ---- */

/* Of this node and of the others together. */
static void put_quantiles(struct json_writer *w, const char *key, const struct histogram *own,
                          const struct histogram *others)
{
    struct histogram all = *own;
    histogram_merge(&all, others);
    json_put_object(w, key);
    json_put_f64(w, "p50", histogram_quantile_ms(&all, 0.50));
    json_put_f64(w, "p95", histogram_quantile_ms(&all, 0.95));
    json_put_f64(w, "p99", histogram_quantile_ms(&all, 0.99));
    json_close_object(w);
}

static void put_oldest(struct json_writer *w, const struct queue_stats *stats)
{
    if (stats->oldest_ms == INT64_MAX) {
        json_put_null(w, "oldestReadyTask");
        return;
    }
    json_put_object(w, "oldestReadyTask");
    json_put_i64(w, "ageMs", MAX(stats->now_ms - stats->oldest_ms, 0));
    json_put_time(w, "queuedAt", stats->oldest_ms);
    json_close_object(w);
}

static void write_stats(struct json_writer *w, const struct queue_stats *stats,
                        const struct queue_load *others)
{
    json_open_object(w);
    counts_put(w, "counts", stats->counts);
    json_put_object(w, "rates");
    json_put_f64(w, "createdPerSecond", stats->created_per_second + others->created_per_second);
    json_put_f64(w, "startedPerSecond", stats->started_per_second + others->started_per_second);
    json_put_f64(w, "finishedPerSecond", stats->finished_per_second + others->finished_per_second);
    json_close_object(w);
    json_put_object(w, "latency");
    put_quantiles(w, "queueWaitMs", &stats->wait, &others->series.wait);
    put_quantiles(w, "runMs", &stats->run, &others->series.run);
    json_close_object(w);
    put_oldest(w, stats);
    json_put_i64(w, "waitingClaims", (int64_t)stats->waiting_claims + others->waiting_claims);
    json_put_time(w, "now", stats->now_ms);
    json_close_object(w);
}

static void answer_stats(struct call *call)
{
    struct json_writer w = call_writer(call);
    const struct fleet_status fleet = api_fleet_status(call->api);
    write_stats(&w, &((struct command *)call->own)->stats.stats, &fleet.others);
    call_answer(call, 200);
}

bool on_stats_show(struct call *call, struct err *err)
{
    return ask(call, COMMAND_STATS, answer_stats, err);
}

/* ---- Health ---- */

static void write_health(struct call *call, bool down)
{
    struct json_writer w = call_writer(call);
    /* Run functions that ignored their abort hold a worker each until they return. */
    const struct api_options *options = &call->api->options;
    bool lost = options->lost != NULL && options->lost(options->lost_arg) > 0;
    struct fleet_status fleet = api_fleet_status(call->api);
    const struct {
        bool bad;
        struct str name;
    } parts[] = {{down, STR("store")},
                 {health_rule(fleet.health)->degraded, STR("broker")},
                 {lost, STR("workers")},
                 {fleet.clock.off, STR("clock")}};
    bool bad = false;
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        bad = bad || parts[i].bad;
    }
    json_open_object(&w);
    json_put_c(&w, "status", bad ? "degraded" : "ok");
    if (bad) {
        json_put_array(&w, "degraded");
        for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
            if (parts[i].bad) {
                json_add_str(&w, parts[i].name);
            }
        }
        json_close_array(&w);
    }
    json_put_str(&w, "version", call->api->options.version);
    json_close_object(&w);
}

bool on_health(struct call *call, struct err *err)
{
    (void)err;
    write_health(call, api_store_down(call->api));
    call_answer(call, 200);
    return true;
}

bool on_ready(struct call *call, struct err *err)
{
    bool down = api_store_down(call->api);
    (void)err;
    write_health(call, down);
    call_answer_with(call, down ? 503 : 200, "application/json",
                     down ? STR("Retry-After: 1\r\n") : STR(""));
    return true;
}

bool on_openapi(struct call *call, struct err *err)
{
    (void)err;
    exchange_answer(call->exchange, 200, "application/json", STR(""),
                    buf_view(&call->api->openapi));
    return true;
}

/* ---- The test clock ---- */

struct clock_in {
    int64_t advance_ms, set_ms;
};
static const struct form_row clock_rows[] = {
    FORM_ROW("advanceMs", struct clock_in, advance_ms, FORM_I64, FORM_SET, .max = TASK_TIME_MAX_MS),
    FORM_ROW("set", struct clock_in, set_ms, FORM_TIME, FORM_SET, 0),
};
const struct form clock_form = FORM(clock_rows);

static void answer_clock(struct call *call)
{
    struct json_writer w = call_writer(call);
    json_open_object(&w);
    json_put_time(&w, "now", ((struct command *)call->own)->clock.now_ms);
    json_close_object(&w);
    call_answer(call, 200);
}

bool on_test_clock(struct call *call, struct err *err)
{
    struct clock_in in = {0};
    uint64_t given = 0;
    if (!call->api->options.test_clock) {
        return err_set(err, ERR_NOT_FOUND, "this server was not started with --test-clock");
    }
    if (!call_body(call, &clock_form, false, &in, &given, err)) {
        return false;
    }
    bool advances = form_given(&clock_form, given, "advanceMs");
    if (advances == form_given(&clock_form, given, "set")) {
        return err_set(err, ERR_INVALID, "either advanceMs or set is needed");
    }
    struct command *command = call_command(call, COMMAND_CLOCK);
    command->clock.relative = advances;
    command->clock.ms = advances ? in.advance_ms : in.set_ms;
    call->own = command;
    call->done = answer_clock;
    return true;
}
