/* net/cloud_out.c: what the Cloud Tasks API answers. See cloud.h.
 *
 * Thread: net loop.
 *
 * SPDX-License-Identifier: MIT */
#include "base/log.h"
#include "net/cloud.h"
#include "net/fault.h"
#include "store/rate.h"

#define JSON_UTF8 "application/json; charset=UTF-8"

bool cloud_speaks(struct str path)
{
    return str_starts(path, STR("/v2/")) || str_starts(path, STR("/v1/projects/"));
}

/* ---- Failures ---- */

static const char *status_name(enum err_kind kind)
{
    static const char *const names[] = {
        [ERR_NONE] = "INTERNAL",
        [ERR_INVALID] = "INVALID_ARGUMENT",
        [ERR_DENIED] = "UNAUTHENTICATED",
        [ERR_FORBIDDEN] = "PERMISSION_DENIED",
        [ERR_NOT_FOUND] = "NOT_FOUND",
        [ERR_METHOD] = "UNIMPLEMENTED",
        [ERR_CONFLICT] = "ALREADY_EXISTS",
        [ERR_LEASE_LOST] = "ABORTED",
        [ERR_TOO_LARGE] = "INVALID_ARGUMENT",
        [ERR_MEDIA] = "INVALID_ARGUMENT",
        [ERR_REFUSED] = "FAILED_PRECONDITION",
        [ERR_BUSY] = "RESOURCE_EXHAUSTED",
        [ERR_UNAVAILABLE] = "UNAVAILABLE",
        [ERR_FATAL] = "UNAVAILABLE",
        [ERR_INTERNAL] = "INTERNAL",
    };
    return names[kind];
}

void cloud_fail(struct call *call, const struct err *err)
{
    struct json_writer w = call_writer(call);
    int status = err->kind == ERR_REFUSED ? 400 : fault_status(err->kind);
    if (status == 500) {
        log_error("%s", err->text);
    }
    json_open_object(&w);
    json_put_object(&w, "error");
    json_put_i64(&w, "code", status);
    json_put_c(&w, "message",
               status == 500 ? "an internal error; the server's log has it" : err->text);
    json_put_c(&w, "status", status_name(err->kind));
    json_close_object(&w);
    json_close_object(&w);
    call_answer_with(call, status, JSON_UTF8,
                     str_absent(call->headers) ? str_of(fault_headers(err->kind)) : call->headers);
}

void cloud_answer(struct call *call)
{
    call_answer_with(call, 200, JSON_UTF8, STR(""));
}

/* ---- Small pieces ---- */

static void put_time(struct json_writer *w, const char *key, int64_t ms)
{
    SCOPED(buf_fini) struct buf text = BUF_INIT(64);
    if (ms != 0) {
        cloud_time_write(&text, ms);
        json_put_str(w, key, buf_view(&text));
    }
}

static void put_duration(struct json_writer *w, const char *key, int64_t ms)
{
    SCOPED(buf_fini) struct buf text = BUF_INIT(64);
    cloud_duration_write(&text, ms);
    json_put_str(w, key, buf_view(&text));
}

static void put_word(struct json_writer *w, const char *key, const char *word, int number,
                     bool numbers)
{
    if (numbers) {
        json_put_i64(w, key, number);
    } else {
        json_put_c(w, key, word);
    }
}

/* ---- Queues ---- */

static void put_limits(struct json_writer *w, const struct store_queue *settings)
{
    json_put_object(w, "rateLimits");
    if (settings->rate_per_second > 0) { /* else somebody lifted it over Errand's own API */
        json_put_f64(w, "maxDispatchesPerSecond", settings->rate_per_second);
        json_put_i64(w, "maxBurstSize", (int64_t)rate_burst(settings));
    }
    if (settings->max_concurrent > 0) {
        json_put_i64(w, "maxConcurrentDispatches", settings->max_concurrent);
    }
    json_close_object(w);
}

void cloud_write_queue(struct json_writer *w, const struct cloud_queue_view *view, bool numbers)
{
    const struct cloud_retry *retry = &view->queue.retry;
    struct str rest = view->queue.name;
    struct str project = str_cut(&rest, '/'), location = str_cut(&rest, '/');
    bool paused = view->settings.paused;
    json_open_object(w);
    json_key(w, "name");
    buf_printf(w->buf, "\"projects/" STR_FMT "/locations/" STR_FMT "/queues/" STR_FMT "\"",
               STR_ARG(project), STR_ARG(location), STR_ARG(rest));
    w->comma = true;
    put_limits(w, &view->settings);
    json_put_object(w, "retryConfig");
    json_put_i64(w, "maxAttempts", retry->max_attempts);
    if (retry->max_duration_ms > 0) {
        put_duration(w, "maxRetryDuration", retry->max_duration_ms);
    }
    put_duration(w, "minBackoff", retry->min_backoff_ms);
    put_duration(w, "maxBackoff", retry->max_backoff_ms);
    json_put_i64(w, "maxDoublings", retry->max_doublings);
    json_close_object(w);
    put_word(w, "state", paused ? "PAUSED" : "RUNNING", paused ? 2 : 1, numbers);
    put_time(w, "purgeTime", view->queue.purge_ms);
    json_close_object(w);
}

/* ---- Tasks ---- */

/* What an HTTP status is in the words of gRPC. */
static void put_status(struct json_writer *w, const struct task *task, int status)
{
    static const struct {
        int from, to, code;
        const char *name;
    } table[] = {
        {400, 400, 3, "INVALID_ARGUMENT"},
        {401, 401, 16, "UNAUTHENTICATED"},
        {403, 403, 7, "PERMISSION_DENIED"},
        {404, 404, 5, "NOT_FOUND"},
        {409, 409, 10, "ABORTED"},
        {429, 429, 8, "RESOURCE_EXHAUSTED"},
        {400, 499, 9, "FAILED_PRECONDITION"},
        {501, 501, 12, "UNIMPLEMENTED"},
        {503, 503, 14, "UNAVAILABLE"},
        {504, 504, 4, "DEADLINE_EXCEEDED"},
        {500, 599, 13, "INTERNAL"},
        {1, 999, 2, "UNKNOWN"},
    };
    size_t at = 0;
    bool late = status == 0 && task->outcome == OUTCOME_TIMEOUT;
    int as = status != 0 ? status : late ? 504 : 503; /* no answer at all */
    while (as < table[at].from || as > table[at].to) {
        at++;
    }
    SCOPED(buf_fini) struct buf text = BUF_INIT(KIB);
    buf_printf(&text, "%s(%d): ", table[at].name, table[at].code);
    if (status != 0) {
        buf_printf(&text, "HTTP status code %d", status);
    } else {
        struct str why = task->error.message;
        buf_str(&text, str_absent(why) ? STR("no answer") : str_head(why, 256));
    }
    json_put_object(w, "responseStatus");
    json_put_i64(w, "code", table[at].code);
    json_put_str(w, "message", buf_view(&text));
    json_close_object(w);
}

static void put_attempts(struct json_writer *w, const struct task *task, struct arena *arena)
{
    const struct cloud_dispatch was = cloud_dispatch_read(task, arena);
    bool runs = task->state == TASK_RUNNING;
    json_put_i64(w, "dispatchCount", task->attempt);
    json_put_i64(w, "responseCount", was.answers);
    if (task->attempt == 0) {
        return;
    }
    json_put_object(w, "firstAttempt");
    put_time(w, "dispatchTime", was.first_ms != 0 ? was.first_ms : task->started_ms);
    json_close_object(w);
    json_put_object(w, "lastAttempt");
    put_time(w, "scheduleTime",
             runs || was.scheduled_ms == 0 ? cloud_eta_ms(task) : was.scheduled_ms);
    put_time(w, "dispatchTime", task->started_ms);
    if (!runs) {
        put_time(w, "responseTime", task->attempt_ended_ms);
        put_status(w, task, was.status);
    }
    json_close_object(w);
}

static void put_request(struct json_writer *w, const struct task *task, bool full, bool numbers,
                        struct arena *arena)
{
    struct cloud_request to;
    if (!cloud_request_read(task->metadata, arena, &to, NULL)) {
        return;
    }
    json_put_object(w, "httpRequest");
    json_put_str(w, "url", to.url);
    put_word(w, "httpMethod", cloud_method_words[to.method], (int)to.method, numbers);
    json_put_raw(w, "headers", to.headers);
    if (full && task->payload.len > 0) {
        json_key(w, "body");
        json_add_base64(w, task->payload);
    }
    json_close_object(w);
}

void cloud_write_task(struct json_writer *w, const struct task *task, enum cloud_view view,
                      bool numbers, struct arena *arena)
{
    bool full = view == CLOUD_VIEW_FULL;
    json_open_object(w);
    json_put_str(w, "name", task->external_id);
    put_request(w, task, full, numbers, arena);
    put_time(w, "scheduleTime", cloud_eta_ms(task));
    put_time(w, "createTime", task->created_ms / SECOND_MS * SECOND_MS);
    put_duration(w, "dispatchDeadline", task->timeout_ms);
    put_attempts(w, task, arena);
    put_word(w, "view", full ? "FULL" : "BASIC", full ? 2 : 1, numbers);
    json_close_object(w);
}
