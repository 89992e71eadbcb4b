/* cli/bench_faktory.c: producers and workers that speak Faktory's work protocol. See bench.h.
 *
 * The loop, the amounts and the times are those of the clients that speak HTTP: only what is said
 * and how answers are cut differ.
 *
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "cli/bench.h"
#include "wire/faktory.h"

#define GREETING_MAX 512

/* ---- Coming in ---- */

static bool read_line(int fd, char *out, size_t room)
{
    for (size_t n = 0; n + 1 < room; n++) {
        if (recv(fd, out + n, 1, 0) != 1) {
            return false;
        }
        out[n + 1] = '\0';
        if (out[n] == '\n') {
            return true;
        }
    }
    return false;
}

bool faktory_greet(int fd, bool worker, struct err *err)
{
    char line[GREETING_MAX] = "", hello[GREETING_MAX];
    int len = worker ? snprintf(hello, sizeof hello, "HELLO {\"v\":2,\"wid\":\"bench-%d\"}\r\n", fd)
                     : snprintf(hello, sizeof hello, "HELLO {\"v\":2}\r\n");
    bool ok = read_line(fd, line, sizeof line) && send(fd, hello, (size_t)len, 0) == len &&
              read_line(fd, line, sizeof line) && line[0] == '+';
    return ok || err_set(err, ERR_UNAVAILABLE, "the handshake failed: %s", line);
}

/* ---- Saying ---- */

static void put_job(struct bench *bench, struct buf *out, int64_t due_us, uint64_t number)
{
    const struct bench_plan *plan = bench->plan;
    buf_printf(out, "{\"jid\":\"b%012llx%08llx\",\"jobtype\":\"", (long long)bench->start_us,
               (unsigned long long)number);
    buf_str(out, plan->type);
    buf_c(out, "\",\"queue\":\"");
    buf_str(out, plan->queue);
    buf_c(out, "\",\"args\":[{\"us\":");
    buf_i64(out, due_us);
    buf_c(out, ",\"pad\":\"");
    buf_str(out, buf_view(&bench->padding));
    buf_c(out, "\"}]");
    if (plan->documents > 0) {
        buf_printf(out, ",\"custom\":{\"document_id\":\"bench-%llu\"}",
                   (unsigned long long)(number % plan->documents));
    }
    buf_char(out, '}');
}

void faktory_say_push(struct bench *bench, struct lane *lane, int64_t due_us, size_t many)
{
    buf_c(&lane->out, many == 1 ? "PUSH " : "PUSHB [");
    for (size_t i = 0; i < many; i++) {
        buf_c(&lane->out, i == 0 ? "" : ",");
        put_job(bench, &lane->out, due_us, bench->issued + i);
    }
    buf_c(&lane->out, many == 1 ? "\r\n" : "]\r\n");
}

void faktory_say_work(struct bench *bench, struct lane *lane)
{
    if (lane->finishing) {
        buf_printf(&lane->out, "ACK {\"jid\":\"%s\"}\r\n", lane->tasks[0].id);
    }
    if (lane->claiming) {
        buf_c(&lane->out, "FETCH ");
        buf_str(&lane->out, bench->plan->queue);
        buf_c(&lane->out, "\r\n");
    }
    lane->replies = (unsigned)lane->finishing + lane->claiming;
}

/* ---- Hearing ---- */

/* One answer: its bytes, without the frame of a bulk. False: it is not whole yet. */
static bool cut_reply(struct str input, struct str *reply, size_t *used)
{
    int64_t len;
    struct str line;
    if (!faktory_cut(input, 0, &line, used)) {
        return false;
    }
    *reply = line;
    if (line.len == 0 || line.ptr[0] != '$' || !str_i64(str_from(line, 1), &len) || len < 0) {
        return true;
    }
    *reply = (struct str){input.ptr + *used, (size_t)len};
    *used += (size_t)len + 2;
    return *used <= input.len;
}

/* A job that was fetched: what is needed to acknowledge it, and when it was pushed. */
static void take_job(struct bench *bench, struct lane *lane, struct str job, int64_t now_us)
{
    static const char begins[] = "{\"jid\":\"", sent[] = "\"args\":[{\"us\":";
    if (!str_starts(job, STR("{\"jid\":\""))) {
        return;
    }
    struct str rest = str_from(job, sizeof begins - 1), jid = str_cut(&rest, '"');
    snprintf(lane->tasks[0].id, sizeof lane->tasks[0].id, STR_FMT, STR_ARG(jid));
    lane->tasks_count = 1;
    bench->claimed++;
    const char *found = memmem(job.ptr, job.len, sent, sizeof sent - 1);
    struct str us =
        found == NULL ? STR_NONE : str_from(job, (size_t)(found - job.ptr) + sizeof sent - 1);
    int64_t due_us = -1;
    if (found != NULL && str_i64(str_cut(&us, ','), &due_us) && due_us >= bench->start_us &&
        due_us <= now_us) {
        bench_times_add(&bench->result->start, now_us - due_us);
    }
}

static void worker_hears_reply(struct bench *bench, struct lane *lane, struct str reply)
{
    int64_t now_us = clock_real_mono_us();
    if (lane->finishing) { /* that comes first */
        bench->result->completed++;
        bench_times_add(&bench->result->work, now_us - lane->since_us);
        bench->last_us = now_us;
        lane->tasks_count = 0;
        lane->finishing = false;
        return;
    }
    take_job(bench, lane, reply, now_us);
    lane->since_us = bench->plan->wait ? now_us : lane->claimed_us;
    lane->left = lane->tasks_count == 0 && !bench->plan->wait;
}

bool faktory_hears(struct bench *bench, struct lane *lane)
{
    struct str reply = STR_NONE, rest = str_from(buf_view(&lane->in), lane->in_at);
    size_t used = 0;
    if (!cut_reply(rest, &reply, &used)) {
        return false;
    }
    lane->in_at += used;
    bool bad = (reply.len > 0 && reply.ptr[0] == '-') ||
               (!lane->worker && bench->plan->batch > 1 && !str_is(reply, "{}"));
    lane->response.status = bad ? 500 : 200;
    lane->response.keep_alive = true;
    buf_clear(&lane->body);
    if (bad) {
        buf_str(&lane->body, reply);
    }
    if (!lane->worker) {
        lane->replies = 0;
    } else {
        lane->replies--;
        if (bad) {
            bench_error(bench, lane);
        }
        worker_hears_reply(bench, lane, reply);
    }
    return true;
}
