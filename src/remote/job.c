/* remote/job.c: one attempt, as its worker sees it. See errand/client.h.
 *
 * What happens to a job is told to the keeper by notes; the worker's side touches only what it
 * wrote itself, and `stop`.
 *
 * Thread: the job's worker.
 *
 * SPDX-License-Identifier: MIT */
#include "base/mem.h"
#include "remote/remote.h"
#include "wire/base64.h"
#include "wire/json.h"

/* ---- Out of a claimed task ---- */

static bool read_field(struct json *json, struct str key, errand_job *job)
{
    int64_t attempt;
    struct str text;
    if (str_is(key, "payloadBase64")) {
        return json_str(json, &text, NULL) && base64_decode(text, &job->arena, &job->payload, NULL);
    }
    if (str_is(key, "attempt")) {
        bool ok = json_i64(json, &attempt, NULL);
        job->attempt = ok ? (int)attempt : 0;
        return ok;
    }
    return str_is(key, "id")           ? json_str(json, &job->id, NULL)
           : str_is(key, "taskType")   ? json_str(json, &job->type, NULL)
           : str_is(key, "queue")      ? json_str(json, &job->queue, NULL)
           : str_is(key, "documentId") ? json_str(json, &job->document, NULL)
           : str_is(key, "lease")      ? json_str(json, &job->lease, NULL)
           : str_is(key, "payload")    ? json_raw(json, &job->payload, NULL)
           : str_is(key, "timeoutMs")  ? json_i64(json, &job->timeout_ms, NULL)
                                       : json_skip(json, NULL);
}

static bool read_task(errand_job *job)
{
    struct json json;
    struct str key;
    json_start(&json, job->json, &job->arena);
    bool ok = json_enter_object(&json, NULL);
    while (ok && json_member(&json, &key, NULL)) {
        ok = read_field(&json, key, job);
    }
    return ok && json_ok(&json) && !str_absent(job->id) && !str_absent(job->lease);
}

errand_job *job_read(errand_client *client, struct str task, int64_t lease_ms, int64_t now_ms)
{
    errand_job *job = mem_new(errand_job);
    *job = (errand_job){.client = client,
                        .lease_ms = lease_ms,
                        .percent = -1,
                        .renewed_ms = now_ms,
                        .end = BUF_INIT(REMOTE_RESULT_MAX + REMOTE_ERROR_MAX * 8),
                        .message = BUF_INIT(REMOTE_MESSAGE_MAX),
                        .log = BUF_INIT(REMOTE_LOG_MAX)};
    job->json = arena_str(&job->arena, task);
    if (!read_task(job)) {
        job_free(job);
        return NULL;
    }
    /* Callers want C texts: everything they can see gets a NUL behind it. */
    struct str *texts[] = {&job->id, &job->type, &job->queue, &job->document, &job->payload};
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        *texts[i] = arena_str(&job->arena, *texts[i]);
    }
    job->ends_ms = job->timeout_ms > 0 ? now_ms + job->timeout_ms : 0;
    job->until_ms = now_ms + (job->timeout_ms > 0 ? MIN(lease_ms, job->timeout_ms) : lease_ms);
    return job;
}

void job_free(errand_job *job)
{
    buf_fini(&job->end);
    buf_fini(&job->message);
    buf_fini(&job->log);
    arena_fini(&job->arena);
    mem_free(job);
}

/* ---- Looking ---- */

const char *errand_job_id(const errand_job *job)
{
    return job->id.ptr;
}

const char *errand_job_type(const errand_job *job)
{
    return job->type.ptr;
}

const char *errand_job_queue(const errand_job *job)
{
    return job->queue.ptr;
}

const char *errand_job_document(const errand_job *job)
{
    return job->document.ptr;
}

int errand_job_attempt(const errand_job *job)
{
    return job->attempt;
}

const char *errand_job_payload(const errand_job *job, size_t *length)
{
    if (length != NULL) {
        *length = job->payload.len;
    }
    return job->payload.ptr;
}

const char *errand_job_json(const errand_job *job)
{
    return job->json.ptr;
}

enum errand_stop errand_job_stop(const errand_job *job)
{
    return (enum errand_stop)atomic_load(&job->stop);
}

void errand_job_set_user(errand_job *job, void *user)
{
    job->user = user;
}

void *errand_job_user(const errand_job *job)
{
    return job->user;
}

/* ---- Reports ---- */

/* Reports come as fast as the worker likes; the keeper may be waiting for the network meanwhile. */
static void report(errand_job *job, enum note_kind kind, double percent, const char *text)
{
    errand_client *client = job->client;
    if (atomic_fetch_add(&client->reports, 1) >= REMOTE_REPORTS_MAX) {
        atomic_fetch_sub(&client->reports, 1);
        return;
    }
    keeper_note(client, &(struct note){.kind = kind,
                                       .job = job,
                                       .percent = percent,
                                       .text = text == NULL ? NULL : mem_text(text, strlen(text))});
}

void errand_job_progress(errand_job *job, double percent, const char *message)
{
    if (percent >= 0 && percent <= 100) { /* not when it is not a number */
        report(job, NOTE_PROGRESS, percent, message);
    }
}

void errand_job_log(errand_job *job, const char *text)
{
    report(job, NOTE_LOG, 0, text);
}

void job_write_beat(const errand_job *job, struct buf *out)
{
    struct json_writer w = JSON_WRITER(out);
    json_open_object(&w);
    json_put_str(&w, "lease", job->lease);
    if (job->percent >= 0) {
        json_put_object(&w, "progress");
        json_put_f64(&w, "percent", job->percent);
        if (job->message.len > 0) {
            json_put_str(&w, "message", buf_view(&job->message));
        }
        json_close_object(&w);
    }
    if (job->log.len > 0) {
        json_put_str(&w, "log", buf_view(&job->log));
    }
    json_close_object(&w);
}

/* ---- The end ---- */

static struct json_writer begin_end(errand_job *job, const char *outcome)
{
    struct json_writer w = JSON_WRITER(&job->end);
    buf_clear(&job->end);
    json_open_object(&w);
    json_put_str(&w, "id", job->id);
    json_put_str(&w, "lease", job->lease);
    json_put_c(&w, "outcome", outcome);
    return w;
}

static int give_away(errand_job *job)
{
    atomic_fetch_add(&job->client->ending, 1);
    keeper_note(job->client, &(struct note){.kind = NOTE_FINISH, .job = job});
    return 0;
}

static bool check_json(const char *text, size_t max, const char *what, struct err *err)
{
    if (text != NULL && strlen(text) > max) {
        return err_set(err, ERR_TOO_LARGE, "the %s is longer than %zu bytes", what, max);
    }
    return text == NULL || json_valid(str_of(text), err) ||
           err_wrap(err, "the %s is not JSON", what);
}

int errand_job_complete(errand_job *job, const char *result, struct errand_error *error)
{
    struct err err = ERR_INIT;
    if (!check_json(result, REMOTE_RESULT_MAX, "result", &err)) {
        return fail_with(error, &err);
    }
    struct json_writer w = begin_end(job, "complete");
    if (result != NULL) {
        json_put_raw(&w, "result", str_of(result));
    }
    json_close_object(&w);
    return give_away(job);
}

int errand_job_fail(errand_job *job, const char *code, const char *message, const char *detail,
                    int retry, struct errand_error *error)
{
    struct err err = ERR_INIT;
    if (str_of(code).len + str_of(message).len + str_of(detail).len > REMOTE_ERROR_MAX) {
        err_set(&err, ERR_TOO_LARGE, "the error is longer than %zu bytes", REMOTE_ERROR_MAX);
        return fail_with(error, &err);
    }
    if (!check_json(detail, REMOTE_ERROR_MAX, "detail", &err)) {
        return fail_with(error, &err);
    }
    struct json_writer w = begin_end(job, "fail");
    json_put_object(&w, "error");
    json_put_c(&w, "code", code == NULL || code[0] == '\0' ? "failed" : code);
    json_put_c(&w, "message", message == NULL ? "" : message);
    if (detail != NULL) {
        json_put_raw(&w, "detail", str_of(detail));
    }
    json_close_object(&w);
    json_put_bool(&w, "retry", retry != 0);
    json_close_object(&w);
    return give_away(job);
}

void job_write_release(errand_job *job, int64_t delay_ms)
{
    struct json_writer w = begin_end(job, "release");
    if (delay_ms > 0) {
        json_put_i64(&w, "delayMs", delay_ms);
    }
    json_close_object(&w);
}

void errand_job_release(errand_job *job, int64_t delay_ms)
{
    job_write_release(job, delay_ms);
    give_away(job);
}
