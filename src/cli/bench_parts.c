/* cli/bench_parts.c: what producers and workers say, what they make of the answers, and how long
 * they waited. See bench.h.
 *
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/mem.h"
#include "cli/bench.h"
#include "wire/json.h"

#define LENGTH_DIGITS 10 /* room kept for Content-Length, filled in when the body is known */

/* ---- Times ---- */

static size_t index_of(uint64_t us)
{
    int top = us == 0 ? 0 : 63 - __builtin_clzll(us);
    if (top < 6) {
        return (size_t)us; /* below 64 every value has its own step */
    }
    size_t index = (size_t)(top - 5) * TIMES_STEPS + ((us >> (top - 6)) & (TIMES_STEPS - 1));
    return MIN(index, (size_t)TIMES_STEPS * TIMES_DOUBLING - 1);
}

/* The middle of a step. */
static double value_of(size_t index)
{
    if (index < TIMES_STEPS) {
        return (double)index;
    }
    int top = (int)(index / TIMES_STEPS) + 5;
    double low = ldexp(1.0 + (double)(index % TIMES_STEPS) / TIMES_STEPS, top);
    return low + ldexp(0.5, top - 6);
}

void bench_times_add(struct bench_times *times, int64_t us)
{
    uint64_t positive = us < 0 ? 0 : (uint64_t)us;
    times->at[index_of(positive)]++;
    times->count++;
    times->max_us = MAX(times->max_us, us);
}

double bench_times_ms(const struct bench_times *times, double quantile)
{
    uint64_t rank = (uint64_t)ceil(quantile * (double)times->count), seen = 0;
    for (size_t i = 0; i < ARRAY_LEN(times->at); i++) {
        seen += times->at[i];
        if (seen >= rank && seen > 0) {
            return MIN(value_of(i), (double)times->max_us) / 1000;
        }
    }
    return 0;
}

/* ---- Requests ---- */

/* Begins a request whose length is not known yet; returns where its digits go. */
static size_t open_request(struct bench *bench, struct lane *lane)
{
    buf_str(&lane->out, buf_view(&bench->head));
    buf_c(&lane->out, "Content-Length: ");
    size_t at = lane->out.len;
    buf_c(&lane->out, "0000000000\r\n\r\n");
    return at;
}

static void close_request(struct lane *lane, size_t at)
{
    char digits[LENGTH_DIGITS + 1];
    size_t body = lane->out.len - at - LENGTH_DIGITS - 4;
    snprintf(digits, sizeof digits, "%010zu", body);
    memcpy(lane->out.ptr + at, digits, LENGTH_DIGITS);
}

void bench_error(struct bench *bench, const struct lane *lane)
{
    struct bench_result *result = bench->result;
    result->errors++;
    if (result->first_error[0] == '\0') {
        struct str body = buf_view(&lane->body);
        snprintf(result->first_error, sizeof result->first_error, "%d %.*s", lane->response.status,
                 (int)MIN(body.len, 150u), body.ptr);
    }
    if (result->errors >= BENCH_ERRORS_MAX) {
        err_set(&bench->err, ERR_REFUSED, "too many errors; the first was: %s",
                result->first_error);
    }
}

/* A place for what is sent now; what is answered first is lane_heard(). */
static struct lane_sent *lane_sends(struct lane *lane)
{
    return &lane->sent[(lane->sent_at + lane->sent_count++) % BENCH_DEPTH_MAX];
}

static const struct lane_sent *lane_heard(struct lane *lane)
{
    return &lane->sent[lane->sent_at++ % BENCH_DEPTH_MAX];
}

/* ---- Producers ---- */

static void put_order(struct bench *bench, struct buf *out, int64_t due_us, uint64_t number)
{
    const struct bench_plan *plan = bench->plan;
    buf_c(out, "{\"taskType\":\"");
    buf_str(out, plan->type);
    buf_c(out, "\",\"queue\":\"");
    buf_str(out, plan->queue);
    if (plan->documents > 0) {
        buf_c(out, "\",\"documentId\":\"bench-");
        buf_u64(out, number % plan->documents);
    }
    buf_c(out, "\",\"payload\":{\"us\":");
    buf_i64(out, due_us);
    buf_c(out, ",\"pad\":\"");
    buf_str(out, buf_view(&bench->padding));
    buf_c(out, "\"}}");
}

int64_t bench_due_us(const struct bench *bench, int64_t now_us)
{
    const struct bench_plan *plan = bench->plan;
    bool late = plan->duration_us > 0 && now_us >= bench->start_us + plan->duration_us;
    if (bench->issued >= plan->count || late) {
        return INT64_MAX;
    }
    if (plan->rate <= 0) {
        return now_us;
    }
    return bench->start_us + (int64_t)((double)bench->issued / plan->rate * 1e6);
}

static void say_create(struct bench *bench, struct lane *lane, int64_t due_us, size_t many)
{
    buf_c(&lane->out, "POST /api/tasks HTTP/1.1\r\n");
    size_t at = open_request(bench, lane);
    for (size_t i = 0; i < many; i++) {
        buf_c(&lane->out, many == 1 ? "" : i == 0 ? "[" : ",");
        put_order(bench, &lane->out, due_us, bench->issued + i);
    }
    buf_c(&lane->out, many == 1 ? "" : "]");
    close_request(lane, at);
}

enum lane_step producer_next(struct bench *bench, struct lane *lane, int64_t now_us)
{
    const struct bench_plan *plan = bench->plan;
    int64_t due_us = bench_due_us(bench, now_us);
    if (due_us > now_us) {
        return due_us == INT64_MAX ? LANE_LEAVE : LANE_REST;
    }
    size_t many = (size_t)MIN((uint64_t)plan->batch, plan->count - bench->issued);
    if (plan->faktory) {
        faktory_say_push(bench, lane, due_us, many);
    } else {
        say_create(bench, lane, due_us, many);
    }
    bench->issued += many;
    *lane_sends(lane) = (struct lane_sent){due_us, many};
    return LANE_SPEAK;
}

void producer_hears(struct bench *bench, struct lane *lane, int64_t now_us)
{
    const struct lane_sent *sent = lane_heard(lane);
    if (lane->response.status / 100 != 2) {
        bench_error(bench, lane);
        return;
    }
    bench->result->created += sent->many;
    bench_times_add(&bench->result->create, now_us - sent->since_us);
}

/* ---- Workers ---- */

static void put_finishes(struct lane *lane)
{
    for (size_t i = 0; i < lane->tasks_count; i++) {
        buf_c(&lane->out, i == 0 ? "[{\"id\":\"" : ",{\"id\":\"");
        buf_c(&lane->out, lane->tasks[i].id);
        buf_c(&lane->out, "\",\"lease\":\"");
        buf_c(&lane->out, lane->tasks[i].lease);
        buf_c(&lane->out, "\",\"outcome\":\"complete\"}");
    }
    buf_c(&lane->out, "]");
}

/* With what it holds, finished. */
static void say_claim(struct bench *bench, struct lane *lane)
{
    const struct bench_plan *plan = bench->plan;
    buf_c(&lane->out, "POST /api/claim HTTP/1.1\r\n");
    size_t at = open_request(bench, lane);
    buf_printf(&lane->out,
               "{\"workerId\":\"bench-%d\",\"taskTypes\":[\"" STR_FMT "\"],\"queues\":[\"" STR_FMT
               "\"],\"max\":%zu,\"waitMs\":%d,\"leaseMs\":60000",
               lane->fd, STR_ARG(plan->type), STR_ARG(plan->queue), plan->batch,
               plan->wait ? BENCH_WAIT_MS : 0);
    if (lane->tasks_count > 0) {
        buf_c(&lane->out, ",\"finish\":");
        put_finishes(lane);
    }
    buf_c(&lane->out, "}");
    close_request(lane, at);
}

static void say_complete(struct bench *bench, struct lane *lane)
{
    buf_c(&lane->out, "POST /api/tasks/");
    buf_c(&lane->out, lane->tasks[0].id);
    buf_c(&lane->out, "/complete HTTP/1.1\r\n");
    size_t at = open_request(bench, lane);
    buf_c(&lane->out, "{\"lease\":\"");
    buf_c(&lane->out, lane->tasks[0].lease);
    buf_c(&lane->out, "\"}");
    close_request(lane, at);
}

static void say_finish(struct bench *bench, struct lane *lane)
{
    buf_c(&lane->out, "POST /api/finish HTTP/1.1\r\n");
    size_t at = open_request(bench, lane);
    put_finishes(lane);
    close_request(lane, at);
}

enum lane_step worker_next(struct bench *bench, struct lane *lane, int64_t now_us)
{
    const struct bench_plan *plan = bench->plan;
    bool late = plan->duration_us > 0 && now_us >= bench->start_us + plan->duration_us;
    bool enough = plan->producers == 0 && (late || bench->claimed >= plan->count);
    /* A claim that waits for a task which never comes answers only then how its finishes went: the
     * last tasks are finished by themselves, or that wait would be measured as work. */
    uint64_t rest = (late ? bench->issued : plan->count) - bench->claimed;
    bool scarce = plan->wait && rest <= plan->workers * plan->batch;
    if (lane->left || (enough && lane->tasks_count == 0)) {
        return LANE_LEAVE;
    }
    lane->finishing = lane->tasks_count > 0;
    lane->claiming = !lane->finishing || !(plan->apart || enough || scarce);
    lane->claimed_us = lane->claiming ? now_us : lane->claimed_us;
    if (plan->faktory) {
        faktory_say_work(bench, lane);
    } else if (lane->claiming) {
        say_claim(bench, lane);
    } else if (plan->batch == 1) {
        say_complete(bench, lane);
    } else {
        say_finish(bench, lane);
    }
    lane->sent_count = 1;
    return LANE_SPEAK;
}

static void copy_text(char *out, size_t size, struct str text)
{
    size_t len = MIN(text.len, size - 1);
    memcpy(out, text.ptr, len);
    out[len] = '\0';
}

/* One claimed task: what is needed to finish it, and when it was created. */
static bool read_task(struct bench *bench, struct json *json, struct lane_task *task,
                      int64_t now_us)
{
    struct str key, text = STR_NONE;
    int64_t due_us = -1;
    bool ok = json_enter_object(json, NULL);
    while (ok && json_member(json, &key, NULL)) {
        if (str_is(key, "id")) {
            ok = json_str(json, &text, NULL);
            copy_text(task->id, sizeof task->id, ok ? text : STR(""));
        } else if (str_is(key, "lease")) {
            ok = json_str(json, &text, NULL);
            copy_text(task->lease, sizeof task->lease, ok ? text : STR(""));
        } else if (str_is(key, "payload") && json_raw(json, &text, NULL)) {
            struct str us = str_starts(text, STR("{\"us\":")) ? str_from(text, 6) : STR_NONE;
            due_us = str_i64(str_cut(&us, ','), &due_us) ? due_us : -1;
        }
    }
    if (due_us >= bench->start_us && due_us <= now_us) { /* else it is of another run */
        bench_times_add(&bench->result->start, now_us - due_us);
    }
    return ok && json_ok(json);
}

/* {"tasks":[…]} */
static bool read_claim(struct bench *bench, struct lane *lane, int64_t now_us)
{
    struct json json;
    struct str key;
    lane->tasks_count = 0;
    json_start(&json, buf_view(&lane->body), &lane->arena);
    if (!json_enter_object(&json, NULL)) {
        return false;
    }
    while (json_member(&json, &key, NULL)) {
        if (!str_is(key, "tasks") || !json_enter_array(&json, NULL)) {
            continue;
        }
        while (lane->tasks_count < bench->plan->batch && json_item(&json, NULL)) {
            if (!read_task(bench, &json, &lane->tasks[lane->tasks_count], now_us)) {
                return false;
            }
            lane->tasks_count++;
            bench->claimed++;
        }
        if (lane->tasks_count == bench->plan->batch) {
            return true; /* the rest of the answer is of no interest */
        }
    }
    return json_ok(&json);
}

static size_t count_text(struct str body, const char *text)
{
    size_t n = 0, len = strlen(text);
    const char *at = body.ptr, *end = body.ptr + body.len;
    while ((at = memmem(at, (size_t)(end - at), text, len)) != NULL) {
        n++;
        at += len;
    }
    return n;
}

/* Items of a finish have a status each; one that lost its lease is an error. */
static void hear_finish(struct bench *bench, struct lane *lane, int64_t now_us)
{
    bool rows = bench->plan->batch > 1 || lane->claiming;
    bool bad = rows && count_text(buf_view(&lane->body), "\"error\":{") > 0;
    if (bad) {
        bench_error(bench, lane);
    }
    bench->result->completed += lane->tasks_count;
    bench_times_add(&bench->result->work, now_us - lane->since_us);
    bench->last_us = now_us;
    lane->tasks_count = 0;
}

void worker_hears(struct bench *bench, struct lane *lane, int64_t now_us)
{
    if (lane->response.status / 100 != 2) {
        bench_error(bench, lane);
        lane->tasks_count = 0;
        return;
    }
    if (lane->finishing) {
        hear_finish(bench, lane, now_us);
    }
    if (!lane->claiming) {
        return;
    }
    if (!read_claim(bench, lane, now_us)) {
        bench_error(bench, lane);
        lane->tasks_count = 0;
    } else if (lane->tasks_count == 0 && !bench->plan->wait) {
        lane->left = true; /* the queue is empty */
    }
    /* Waiting for a task is not work. */
    lane->since_us = bench->plan->wait ? now_us : lane->claimed_us;
}
