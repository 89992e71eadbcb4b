/* work/push_request.c: one attempt as an HTTP request.
 *
 * What is sent is signed late, byte for byte. The answer is read up to the limit of a result; how
 * it is judged is told in push_answer.c. A request that is closed early takes its connection along,
 * so that the other side can see it.
 *
 * Thread: the workers'.
 *
 * SPDX-License-Identifier: MIT */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "client/guard.h"
#include "task/trace.h"
#include "wire/time.h"
#include "work/push_answer.h"
#include "work/push_cloud.h"
#include "work/push_parts.h"

#define HEAD_MAX    (64 * KIB) /* of an answer */
#define HEADER_MAX  (16 * KIB) /* one line that is sent */
#define REFUSED_MAX 256

struct push_request {
    struct push *push;
    struct job *job;
    struct push_target *target; /* NULL: the task says itself where it goes */
    CURL *easy;
    struct curl_slist *headers;
    struct buf body; /* of the answer */
    size_t head_len;
    char refused[REFUSED_MAX]; /* what the guard said of an address; "": nothing */
    bool let_through;          /* … but of another one that it is fine */
    int lacked;                /* errno of a socket that could not be opened; 0: none */
    char why[CURL_ERROR_SIZE];
};

/* ---- What is sent ---- */

static void add_header(struct push_request *request, const char *name, struct str value)
{
    SCOPED(buf_fini) struct buf line = BUF_INIT(HEADER_MAX);
    buf_c(&line, name);
    buf_str(&line, value);
    struct curl_slist *longer = curl_slist_append(request->headers, buf_c_text(&line));
    request->headers = longer == NULL ? request->headers : longer;
}

static void add_signature(struct push_request *request, struct str id)
{
    const struct task *task = &request->job->task;
    struct arena *arena = &request->job->arena;
    int64_t unix_s = clock_real_wall_ms() / SECOND_MS;
    add_header(request, "webhook-id: ", id);
    add_header(request, "webhook-timestamp: ", arena_printf(arena, "%" PRId64, unix_s));
    if (request->target->keys.count > 0) {
        SCOPED(buf_fini) struct buf text = BUF_INIT(KIB);
        webhook_sign(&request->target->keys, id, unix_s, task->payload, &text);
        add_header(request, "webhook-signature: ", buf_view(&text));
    }
}

static struct task_trace add_trace(struct push_request *request, struct str metadata)
{
    struct task_trace trace;
    struct job *job = request->job;
    task_trace(&job->task, metadata, request->push->work->traced, &job->arena, &trace);
    add_header(request, "traceparent: ", str_of(trace.parent));
    if (!str_absent(trace.state)) {
        add_header(request, "tracestate: ", trace.state);
    }
    return trace;
}

/* As the HTTP binding of CloudEvents wants it: printable ASCII stays, but for blank, " and %. */
static void add_event_header(struct push_request *request, const char *name, struct str value)
{
    SCOPED(buf_fini) struct buf text = BUF_INIT(HEADER_MAX);
    for (size_t i = 0; i < value.len; i++) {
        unsigned char c = (unsigned char)value.ptr[i];
        if (c > ' ' && c < 0x7F && c != '"' && c != '%') {
            buf_char(&text, (char)c);
        } else {
            buf_printf(&text, "%%%02X", c);
        }
    }
    add_header(request, name, buf_view(&text));
}

/* CloudEvents 1.0, binary mode: the body stays as it is, headers say what it tells of. Id and
 * source are the same on every attempt. */
static void add_event(struct push_request *request, struct str id, const struct task_trace *trace)
{
    const struct task *task = &request->job->task;
    struct arena *arena = &request->job->arena;
    char time[TIME_TEXT_LEN + 1];
    if (str_absent(request->target->cloudevents)) {
        return;
    }
    time_text(task->created_ms, time);
    add_header(request, "ce-specversion: ", STR("1.0"));
    add_header(request, "ce-id: ", id);
    add_event_header(request, "ce-source: ",
                     arena_printf(arena, "/errand/" STR_FMT "/queues/" STR_FMT,
                                  STR_ARG(request->target->cloudevents), STR_ARG(task->queue)));
    add_event_header(request, "ce-type: ", task->type);
    add_header(request, "ce-time: ", str_of(time));
    add_header(request, "ce-errandattempt: ", arena_printf(arena, "%" PRId32, task->attempt));
    if (!str_absent(trace->from)) {
        add_event_header(request, "ce-traceparent: ", trace->from);
    }
}

static void add_task(struct push_request *request, struct str id)
{
    const struct task *task = &request->job->task;
    add_header(request, "Errand-Task-Id: ", id);
    add_header(request, "Errand-Task-Type: ", task->type);
    add_header(request, "Errand-Queue: ", task->queue);
    add_header(request,
               "Errand-Attempt: ", arena_printf(&request->job->arena, "%" PRId32, task->attempt));
    if (task->scheduled_ms != 0) {
        char time[TIME_TEXT_LEN + 1];
        time_text(task->scheduled_ms, time);
        add_header(request, "Errand-Scheduled-At: ", str_of(time));
    }
}

static void add_headers(struct push_request *request, struct str metadata)
{
    char text[TASK_ID_TEXT];
    struct str id = id_text(request->job->task.id, text);
    const struct task *task = &request->job->task;
    add_header(request, "Content-Type:",
               str_absent(task->payload) ? STR("") /* an empty header is curl's word for none */
               : task->payload_raw       ? STR(" application/octet-stream")
                                         : STR(" application/json"));
    add_header(request, "Expect:", STR("")); /* no 100-continue: it costs a round trip */
    add_header(request, "User-Agent: ", STR("Errand/" ERRAND_VERSION));
    if (request->target->authorization.len > 0) {
        add_header(request, "Authorization: ", request->target->authorization);
    }
    add_task(request, id);
    struct task_trace trace = add_trace(request, metadata);
    add_event(request, id, &trace);
    add_signature(request, id);
}

/* ---- What comes back ---- */

static size_t on_body(char *data, size_t one, size_t len, void *arg)
{
    struct push_request *request = arg;
    (void)one;
    buf_add(&request->body, data, len);
    return request->body.full ? 0 : len;
}

static size_t on_head(char *data, size_t one, size_t len, void *arg)
{
    struct push_request *request = arg;
    (void)one;
    (void)data; /* curl keeps it; here it is only counted */
    request->head_len += len;
    return request->head_len > HEAD_MAX ? 0 : len;
}

static void note_refused(struct push_request *request, const struct sockaddr *address,
                         const char *what)
{
    char text[INET6_ADDRSTRLEN] = "?";
    const void *bytes = address->sa_family == AF_INET6
                            ? (const void *)&((const struct sockaddr_in6 *)address)->sin6_addr
                            : (const void *)&((const struct sockaddr_in *)address)->sin_addr;
    inet_ntop(address->sa_family, bytes, text, sizeof text);
    snprintf(request->refused, sizeof request->refused, "%s is %s: pushes there are refused", text,
             what);
}

static curl_socket_t on_socket(void *arg, curlsocktype purpose, struct curl_sockaddr *to)
{
    struct push_request *request = arg;
    const char *what = guard_refuses(&to->addr, request->push->allow_private);
    (void)purpose;
    if (what != NULL) {
        note_refused(request, &to->addr, what);
        return CURL_SOCKET_BAD;
    }
    request->let_through = true;
    int fd = socket(to->family, to->socktype | SOCK_CLOEXEC, to->protocol);
    if (fd < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)) {
        request->lacked = errno;
    }
    return fd;
}

/* ---- Options ---- */

static void set_safety(CURL *easy, struct push_request *request)
{
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(easy, CURLOPT_DISALLOW_USERNAME_IN_URL, 1L);
    curl_easy_setopt(easy, CURLOPT_PROXY, ""); /* also none of the environment: the guard would
                                                  see the proxy's address only */
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, on_socket);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, request);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)PUSH_CONNECT_MS);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L); /* closing does not wait for the resolver */
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    /* One request per connection at a time: closing it is how an abort reaches the other side. */
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
}

static void set_post(CURL *easy, struct push_request *request)
{
    const struct str payload = request->job->task.payload;
    curl_easy_setopt(easy, CURLOPT_URL, request->target->url);
    curl_easy_setopt(easy, CURLOPT_POST, 1L);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)payload.len);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, str_absent(payload) ? "" : payload.ptr);
}

static void set_exchange(CURL *easy, struct push_request *request)
{
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, request->headers);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, request);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_head);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, request);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, request->why);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, request);
}

/* ---- Life ---- */

static void count(struct push_request *request, int change)
{
    struct push_host *host = request->target == NULL ? NULL : request->target->host;
    request->push->work->pushing += (size_t)change;
    if (host == NULL) {
        return;
    }
    host->under_way += (size_t)change;
    if (change < 0 && !host->asked_for) {
        claimer_withdraw(request->push->claimer); /* what waits does not ask for this host */
    }
}

static void request_free(struct push_request *request)
{
    count(request, -1);
    curl_multi_remove_handle(request->push->multi, request->easy);
    curl_easy_cleanup(request->easy);
    curl_slist_free_all(request->headers);
    buf_fini(&request->body);
    mem_free(request);
}

static struct push_request *request_new(struct job *job, struct push_target *target)
{
    CURL *easy = curl_easy_init();
    if (easy == NULL) {
        job_finish(job, &(struct job_end){.released = true});
        return NULL;
    }
    struct push_request *request = mem_new(struct push_request);
    *request = (struct push_request){.push = job->claimer->work->push,
                                     .job = job,
                                     .target = target,
                                     .easy = easy,
                                     .body = BUF_INIT(TASK_RESULT_MAX)};
    job->state = request;
    count(request, 1);
    set_safety(easy, request);
    return request;
}

static void request_send(struct push_request *request)
{
    set_exchange(request->easy, request);
    curl_multi_add_handle(request->push->multi, request->easy);
}

void push_request_start(struct job *job)
{
    struct push_target *target = push_target_find(job->claimer->work->push, job->task.type);
    if (target == NULL) {
        job_finish(job, &(struct job_end){.released = true});
        return;
    }
    struct push_request *request = request_new(job, target);
    if (request != NULL) {
        add_headers(request, job->claimed->metadata);
        set_post(request->easy, request);
        request_send(request);
    }
}

void push_cloud_start(struct job *job)
{
    struct cloud_request to;
    struct err err = ERR_INIT;
    if (!cloud_request_read(job->claimed->metadata, &job->arena, &to, &err)) {
        struct job_end end = JOB_FAIL("no_target", arena_str(&job->arena, str_of(err.text)));
        end.retry = false;
        job_finish(job, &end);
        return;
    }
    struct push_request *request = request_new(job, NULL);
    if (request != NULL) {
        request->headers = push_cloud_headers(job, &to);
        push_cloud_set(request->easy, &to, job);
        request_send(request);
    }
}

static struct str header(CURL *easy, const char *name, struct arena *arena)
{
    struct curl_header *found;
    bool there = curl_easy_header(easy, name, 0, CURLH_HEADER, -1, &found) == CURLHE_OK;
    return there ? str_trim(arena_str(arena, str_of(found->value))) : STR_NONE;
}

static struct push_answer answer_of(struct push_request *request, CURLcode how)
{
    struct arena *arena = &request->job->arena;
    long status = 0;
    curl_easy_getinfo(request->easy, CURLINFO_RESPONSE_CODE, &status);
    bool refused = how != CURLE_OK && request->refused[0] != '\0' && !request->let_through;
    const char *why = request->why[0] != '\0' ? request->why : curl_easy_strerror(how);
    return (struct push_answer){.status = (int)status,
                                .body = buf_view(&request->body),
                                .body_cut = request->body.full,
                                .retry_after = header(request->easy, "Retry-After", arena),
                                .date = header(request->easy, "Date", arena),
                                .broken = how == CURLE_OK ? NULL : why,
                                .refused = refused ? request->refused : NULL};
}

/* Nothing was sent because this server has no descriptor left: errno, else 0. The resolver and TLS
 * do not say why they failed, so a descriptor is asked for. */
static int lacks(const struct push_request *request, CURLcode how)
{
    long sent = 0;
    curl_easy_getinfo(request->easy, CURLINFO_REQUEST_SIZE, &sent);
    if (how == CURLE_OK || sent > 0 || request->lacked != 0) {
        return how == CURLE_OK || sent > 0 ? 0 : request->lacked;
    }
    int fd = eventfd(0, EFD_CLOEXEC);
    int failed = fd < 0 ? errno : 0;
    if (fd >= 0) {
        close(fd);
    }
    return failed;
}

void push_request_done(CURL *easy, CURLcode how)
{
    struct push_request *request = NULL;
    curl_easy_getinfo(easy, CURLINFO_PRIVATE, &request);
    struct job *job = request->job;
    int failed = lacks(request, how);
    if (failed != 0) {
        job_put_off(job, strerror(failed));
    } else {
        struct push_answer answer = answer_of(request, how);
        struct job_end end = (request->target == NULL ? push_cloud_judge : push_judge)(
            &answer, clock_real_wall_ms(), &job->arena);
        request->push->work->is_short = false;
        job_finish(job, &end);
    }
    request_free(request);
}

void push_request_close(struct job *job)
{
    request_free(job->state);
    job_finish(job, &JOB_FAIL("closed", STR("the request was closed before its answer")));
}
