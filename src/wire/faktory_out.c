/* wire/faktory_out.c: what is said to Faktory's clients. See faktory.h.
 *
 * SPDX-License-Identifier: MIT */
#include "wire/faktory.h"
#include "wire/json_scan.h"

#define ERROR_MAX 400 /* bytes of an error's text */

void faktory_ok(struct buf *out)
{
    buf_c(out, "+OK\r\n");
}

void faktory_null(struct buf *out)
{
    buf_c(out, "$-1\r\n");
}

void faktory_bulk(struct buf *out, struct str bytes)
{
    buf_char(out, '$');
    buf_u64(out, bytes.len);
    buf_c(out, "\r\n");
    buf_str(out, bytes);
    buf_c(out, "\r\n");
}

void faktory_error(struct buf *out, const char *code, struct str text)
{
    size_t len = MIN(text.len, (size_t)ERROR_MAX);
    buf_char(out, '-');
    buf_c(out, code);
    buf_char(out, ' ');
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        buf_char(out, c < ' ' || c == 0x7F ? ' ' : (char)c);
    }
    buf_c(out, "\r\n");
}

/* Without a blank: a client splits it at the first. */
void faktory_hi(struct buf *out, int64_t rounds, struct str salt)
{
    buf_c(out, "+HI {\"v\":2");
    if (!str_absent(salt)) {
        buf_printf(out, ",\"i\":%lld,\"s\":\"" STR_FMT "\"", (long long)rounds, STR_ARG(salt));
    }
    buf_c(out, "}\r\n");
}

/* ---- Jobs ---- */

/* One line: what came by another way may hold line ends between its parts. */
static void put_json(struct json_writer *w, struct str json)
{
    if (memchr(json.ptr, '\n', json.len) == NULL && memchr(json.ptr, '\r', json.len) == NULL) {
        json_add_raw(w, json);
        return;
    }
    SCOPED(buf_fini) struct buf compact = BUF_INIT(json.len);
    faktory_compact(&compact, json);
    json_add_raw(w, buf_view(&compact));
}

static void put_args(struct json_writer *w, struct str args)
{
    json_key(w, "args");
    if (!str_absent(args) && json_scan_blank(args.ptr, args.ptr + args.len)[0] == '[') {
        put_json(w, args);
        return;
    }
    json_open_array(w);
    if (!str_absent(args)) {
        put_json(w, args);
    }
    json_close_array(w);
}

static void put_failure(struct json_writer *w, const struct faktory_failure *failure)
{
    json_put_object(w, "failure");
    json_put_i64(w, "retry_count", failure->retry_count);
    json_put_i64(w, "remaining", failure->remaining);
    if (failure->failed_at_ms != 0) {
        json_put_time(w, "failed_at", failure->failed_at_ms);
    }
    if (failure->next_at_ms != 0) {
        json_put_time(w, "next_at", failure->next_at_ms);
    }
    json_put_str(w, "message", failure->message);
    json_put_str(w, "errtype", failure->errtype);
    if (!str_absent(failure->backtrace)) {
        json_key(w, "backtrace");
        put_json(w, failure->backtrace);
    }
    json_close_object(w);
}

void faktory_write_job(struct buf *out, const struct faktory_told *job)
{
    struct json_writer w = JSON_WRITER(out);
    json_open_object(&w);
    json_put_str(&w, "jid", job->jid);
    json_put_str(&w, "queue", job->queue);
    json_put_str(&w, "jobtype", job->jobtype);
    put_args(&w, job->args);
    if (str_absent(job->created_at)) {
        json_put_time(&w, "created_at", job->created_ms);
    } else {
        json_put_str(&w, "created_at", job->created_at);
    }
    if (job->enqueued_ms != 0) {
        json_put_time(&w, "enqueued_at", job->enqueued_ms);
    }
    if (!str_absent(job->at)) {
        json_put_str(&w, "at", job->at);
    }
    json_put_i64(&w, "retry", job->retry);
    json_put_i64(&w, "reserve_for", job->reserve_for);
    if (job->backtrace != 0) {
        json_put_i64(&w, "backtrace", job->backtrace);
    }
    if (!str_absent(job->custom)) {
        json_key(&w, "custom");
        put_json(&w, job->custom);
    }
    if (job->failure != NULL) {
        put_failure(&w, job->failure);
    }
    json_close_object(&w);
}

/* ---- Globs ---- */

void faktory_compact(struct buf *out, struct str json)
{
    bool inside = false;
    for (size_t i = 0; i < json.len; i++) {
        char c = json.ptr[i];
        if (inside && c == '\\' && i + 1 < json.len) {
            buf_char(out, c);
            c = json.ptr[++i];
        } else if (c == '"') {
            inside = !inside;
        } else if (!inside && (c == ' ' || c == '\t' || c == '\n' || c == '\r')) {
            continue;
        }
        buf_char(out, c);
    }
}

/* `[a-c]`, `[^x]`: p is behind the bracket. *next: behind the closing one, or the end. */
static bool in_class(const char *p, const char *end, unsigned char c, const char **next)
{
    bool not = p < end && *p == '^', found = false;
    p += not ;
    while (p < end && *p != ']') {
        p += *p == '\\' && p + 1 < end;
        unsigned char from = (unsigned char)*p, to = from;
        if (p + 2 < end && p[1] == '-' && p[2] != ']') {
            to = (unsigned char)p[2];
            p += 2;
        }
        found = found || (c >= MIN(from, to) && c <= MAX(from, to));
        p++;
    }
    *next = p < end ? p + 1 : end;
    return found != not ;
}

/* One character of the pattern, but for '*', against one of the text. */
static bool fits(const char *p, const char *end, unsigned char c, const char **next)
{
    if (*p == '[') {
        return in_class(p + 1, end, c, next);
    }
    bool any = *p == '?';
    p += *p == '\\' && p + 1 < end;
    *next = p + 1;
    return any || (unsigned char)*p == c;
}

/* After a mismatch the last star takes one more: no recursion, and time is at most the product of
 * both lengths. */
bool faktory_glob(struct str pattern, struct str text)
{
    const char *p = pattern.ptr, *p_end = p + pattern.len, *star = NULL, *next;
    const char *t = text.ptr, *t_end = t + text.len, *mark = t;
    while (t < t_end) {
        if (p < p_end && *p == '*') {
            star = ++p;
            mark = t;
        } else if (p < p_end && fits(p, p_end, (unsigned char)*t, &next)) {
            p = next;
            t++;
        } else if (star != NULL) {
            p = star;
            t = ++mark;
        } else {
            return false;
        }
    }
    while (p < p_end && *p == '*') {
        p++;
    }
    return p == p_end;
}
