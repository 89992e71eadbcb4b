/* client/otlp.c: the line of spans and the thread that sends them. See otlp.h.
 *
 * SPDX-License-Identifier: MIT */
#include "client/otlp.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "client/http.h"
#include "wire/json.h"

#define TRACES_PATH "/v1/traces"
#define REQUEST_MAX (16 * MIB) /* bytes of a request; texts in spans are short */

struct otlp {
    struct otlp_options with; /* texts in `arena` */
    struct arena arena;
    struct client *client;
    pthread_t thread;
    bool started;
    int give_up; /* readable: the call under way is given up */

    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t changed;
    struct list waiting; /* otlp_span.link */
    struct otlp_figures figures;
    bool stop, over;

    /* The thread's own: */
    struct list batch; /* otlp_span.link: what is being sent; these still count as waiting */
    size_t batch_count;
    bool failing; /* the log has said so */
    int64_t backoff_ms;
};

/* ---- Settings ---- */

/* NAME=VALUE, separated by commas, as other programs that send spans take them. */
static bool read_headers(struct str text, struct client_header out[OTLP_HEADERS_MAX], size_t *count,
                         struct err *err)
{
    *count = 0;
    while (!str_absent(text)) {
        struct str value = str_trim(str_cut(&text, ','));
        struct str name = str_cut(&value, '=');
        if (name.len == 0) {
            continue;
        }
        if (str_absent(value) || str_has_control(name) || str_has_control(value) ||
            memchr(name.ptr, ':', name.len) != NULL || memchr(name.ptr, ' ', name.len) != NULL) {
            return err_set(err, ERR_INVALID,
                           "[otel] headers must be NAME=VALUE, separated by commas");
        }
        if (*count == OTLP_HEADERS_MAX) {
            return err_set(err, ERR_INVALID, "[otel] headers: more than %d", OTLP_HEADERS_MAX);
        }
        out[(*count)++] = (struct client_header){str_trim(name), str_trim(value)};
    }
    return true;
}

bool otlp_check(const struct otlp_options *options, struct err *err)
{
    struct client_header headers[OTLP_HEADERS_MAX];
    size_t count;
    if (!client_url_ok(options->endpoint)) {
        return err_set(err, ERR_INVALID,
                       "[otel] endpoint must be http://HOST:PORT or https://HOST:PORT");
    }
    return read_headers(options->headers, headers, &count, err);
}

static bool open_client(struct otlp *otlp, struct err *err)
{
    struct client_header headers[OTLP_HEADERS_MAX];
    struct client_options options = {.url = otlp->with.endpoint, .headers = headers};
    if (!otlp_check(&otlp->with, err) ||
        !read_headers(otlp->with.headers, headers, &options.headers_count, err)) {
        return false;
    }
    options.url.len -= str_ends(options.url, STR("/")) ? 1 : 0;
    options.url.len -= str_ends(options.url, STR(TRACES_PATH)) ? strlen(TRACES_PATH) : 0;
    options.token = STR_NONE;
    return client_open(&options, &otlp->client, err);
}

/* ---- Giving ---- */

static struct str copy(char **at, struct str text)
{
    if (str_absent(text)) {
        return text;
    }
    struct str copied = {*at, text.len};
    memcpy(*at, text.ptr, text.len);
    *at += text.len;
    return copied;
}

/* The span and all its texts in one piece of memory. */
static struct otlp_span *span_copy(const struct otlp_span *span)
{
    size_t bytes = span->state.len + span->name.len + span->message.len;
    for (size_t i = 0; i < span->attributes_count; i++) {
        bytes += span->attributes[i].text.len;
    }
    struct otlp_span *made = mem_alloc(sizeof *made + bytes);
    char *at = (char *)(made + 1);
    *made = *span;
    made->state = copy(&at, span->state);
    made->name = copy(&at, span->name);
    made->message = copy(&at, span->message);
    for (size_t i = 0; i < span->attributes_count; i++) {
        made->attributes[i].text = copy(&at, span->attributes[i].text);
    }
    return made;
}

void otlp_give(struct otlp *otlp, const struct otlp_span *span)
{
    assert(span->attributes_count <= OTLP_ATTRIBUTES_MAX);
    struct otlp_span *made = span_copy(span);
    pthread_mutex_lock(&otlp->lock);
    bool fits = otlp->figures.waiting < OTLP_WAITING_MAX && !otlp->over;
    if (fits) {
        list_append(&otlp->waiting, &made->link);
        otlp->figures.waiting++;
    } else {
        otlp->figures.dropped++;
    }
    /* The thread gathers what comes in a second: it is woken for the first, and for a full batch.
     */
    bool wake = fits && (otlp->figures.waiting == 1 || otlp->figures.waiting == OTLP_BATCH_MAX);
    pthread_mutex_unlock(&otlp->lock);
    if (wake) {
        pthread_cond_signal(&otlp->changed);
    }
    if (!fits) {
        mem_free(made);
    }
}

struct otlp_figures otlp_figures(struct otlp *otlp)
{
    if (otlp == NULL) {
        return (struct otlp_figures){0};
    }
    pthread_mutex_lock(&otlp->lock);
    struct otlp_figures figures = otlp->figures;
    pthread_mutex_unlock(&otlp->lock);
    return figures;
}

/* ---- Sending ---- */

static struct timespec after(int64_t ms)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    at.tv_sec += ms / 1000;
    at.tv_nsec += ms % 1000 * 1000000;
    if (at.tv_nsec >= 1000000000) {
        at.tv_sec++;
        at.tv_nsec -= 1000000000;
    }
    return at;
}

/* Waits for `ms`, for a line of that many spans, or for the end. Under the lock. */
static void await(struct otlp *otlp, int64_t ms, size_t enough)
{
    struct timespec until = after(ms);
    while (!otlp->stop && otlp->figures.waiting < enough &&
           pthread_cond_timedwait(&otlp->changed, &otlp->lock, &until) != ETIMEDOUT) {
    }
}

/* Fills the batch, unless the last one is still to be sent. False: nothing is left, and it is time
 * to end. *last: there will be no other try. */
static bool await_batch(struct otlp *otlp, bool *last)
{
    pthread_mutex_lock(&otlp->lock);
    while (otlp->figures.waiting == 0 && !otlp->stop) {
        pthread_cond_wait(&otlp->changed, &otlp->lock);
    }
    if (otlp->batch_count == 0) {
        await(otlp, OTLP_GATHER_MS, OTLP_BATCH_MAX);
    }
    LIST_EACH(&otlp->waiting, it)
    {
        if (otlp->batch_count == OTLP_BATCH_MAX) {
            break;
        }
        list_remove(it);
        list_append(&otlp->batch, it);
        otlp->batch_count++;
    }
    *last = otlp->stop;
    pthread_mutex_unlock(&otlp->lock);
    return otlp->batch_count > 0;
}

static void drop_all(struct list *spans)
{
    LIST_EACH(spans, it)
    {
        list_remove(it);
        mem_free(HOLDER(it, struct otlp_span, link));
    }
}

/* The batch is over; `rejected` of its spans nobody wanted. */
static void end_batch(struct otlp *otlp, size_t rejected)
{
    drop_all(&otlp->batch);
    pthread_mutex_lock(&otlp->lock);
    otlp->figures.waiting -= otlp->batch_count;
    otlp->figures.sent += otlp->batch_count - rejected;
    otlp->figures.dropped += rejected;
    pthread_mutex_unlock(&otlp->lock);
    otlp->batch_count = 0;
}

/* A collector may take some and say how many it did not. */
static size_t rejected_of(const struct client_answer *answer, size_t count, struct arena *arena)
{
    struct str partial = json_find(answer->body, "partialSuccess", arena);
    struct str number = str_absent(partial) ? STR_NONE : json_find(partial, "rejectedSpans", arena);
    uint64_t rejected = 0;
    if (!str_absent(number) && number.len >= 2 && number.ptr[0] == '"') {
        number = (struct str){number.ptr + 1, number.len - 2};
    }
    return !str_absent(number) && str_u64(number, &rejected) ? MIN(rejected, (uint64_t)count) : 0;
}

static bool is_worth_a_retry(int status)
{
    return status == 429 || status == 502 || status == 503 || status == 504;
}

static void tell_failing(struct otlp *otlp, const char *why)
{
    if (!otlp->failing) {
        log_warn("the collector at " STR_FMT " takes no spans: %s", STR_ARG(otlp->with.endpoint),
                 why);
    }
    otlp->failing = true;
}

static void tell_well(struct otlp *otlp)
{
    if (otlp->failing) {
        log_info("the collector at " STR_FMT " takes spans again", STR_ARG(otlp->with.endpoint));
    }
    otlp->failing = false;
    otlp->backoff_ms = 0;
}

/* Sends the batch. False: it is to be tried again, in *wait_ms at the earliest. */
static bool send_batch(struct otlp *otlp, int64_t *wait_ms)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    SCOPED(buf_fini) struct buf body = BUF_INIT(REQUEST_MAX);
    struct client_answer answer;
    struct err err = ERR_INIT;
    otlp_write(&body, &otlp->with, &otlp->batch);
    const struct client_call call = {.method = "POST",
                                     .path = STR(TRACES_PATH),
                                     .body = buf_view(&body),
                                     .limit_ms = OTLP_CALL_MS,
                                     .stop = &otlp->give_up};
    bool answered = client_call(otlp->client, &call, &arena, &answer, &err);
    if (!answered || is_worth_a_retry(answer.status)) {
        tell_failing(otlp, answered ? arena_printf(&arena, "it answers %d", answer.status).ptr
                                    : "it does not answer");
        otlp->backoff_ms = MIN(MAX(otlp->backoff_ms * 2, OTLP_BACKOFF_MS), OTLP_BACKOFF_MAX_MS);
        *wait_ms = MAX(otlp->backoff_ms, answered ? answer.retry_after_ms : 0);
        return false;
    }
    if (answer.status / 100 == 2) {
        end_batch(otlp, rejected_of(&answer, otlp->batch_count, &arena));
        tell_well(otlp);
    } else {
        tell_failing(otlp, arena_printf(&arena, "it answers %d", answer.status).ptr);
        end_batch(otlp, otlp->batch_count);
    }
    return true;
}

static void *run(void *arg)
{
    struct otlp *otlp = arg;
    bool last = false;
    pthread_setname_np(pthread_self(), "otlp");
    while (await_batch(otlp, &last)) {
        int64_t wait_ms = 0;
        if (send_batch(otlp, &wait_ms)) {
            continue;
        }
        if (last) {
            break;
        }
        pthread_mutex_lock(&otlp->lock);
        await(otlp, wait_ms, SIZE_MAX);
        pthread_mutex_unlock(&otlp->lock);
    }
    pthread_mutex_lock(&otlp->lock);
    otlp->over = true; /* nothing more is taken: what is left was not sent */
    otlp->figures.dropped += otlp->figures.waiting;
    otlp->figures.waiting = 0;
    pthread_cond_broadcast(&otlp->changed);
    pthread_mutex_unlock(&otlp->lock);
    return NULL;
}

/* ---- Life ---- */

bool otlp_start(const struct otlp_options *options, struct otlp **out, struct err *err)
{
    struct otlp *otlp = mem_new(struct otlp);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&otlp->lock, NULL);
    pthread_cond_init(&otlp->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    list_init(&otlp->waiting);
    list_init(&otlp->batch);
    otlp->arena = ARENA_INIT;
    otlp->with = (struct otlp_options){.endpoint = arena_str(&otlp->arena, options->endpoint),
                                       .headers = arena_str(&otlp->arena, options->headers),
                                       .service = arena_str(&otlp->arena, options->service),
                                       .instance = arena_str(&otlp->arena, options->instance)};
    otlp->give_up = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    otlp->started =
        open_client(otlp, err) && (pthread_create(&otlp->thread, NULL, run, otlp) == 0 ||
                                   err_set(err, ERR_INTERNAL, "start the thread that sends spans"));
    *out = otlp;
    if (!otlp->started) {
        otlp_free(otlp);
        *out = NULL;
    }
    return *out != NULL;
}

void otlp_stop(struct otlp *otlp, int64_t limit_ms)
{
    if (otlp == NULL || !otlp->started) {
        return;
    }
    struct timespec until = after(limit_ms);
    pthread_mutex_lock(&otlp->lock);
    otlp->stop = true;
    pthread_cond_broadcast(&otlp->changed);
    while (!otlp->over &&
           pthread_cond_timedwait(&otlp->changed, &otlp->lock, &until) != ETIMEDOUT) {
    }
    pthread_mutex_unlock(&otlp->lock);
    (void)!write(otlp->give_up, &(uint64_t){1}, sizeof(uint64_t));
    pthread_join(otlp->thread, NULL);
    otlp->started = false;
    struct otlp_figures figures = otlp_figures(otlp);
    if (figures.dropped > 0) {
        log_warn("%llu spans were not sent", (unsigned long long)figures.dropped);
    }
}

void otlp_free(struct otlp *otlp)
{
    if (otlp == NULL) {
        return;
    }
    assert(!otlp->started);
    drop_all(&otlp->waiting);
    drop_all(&otlp->batch);
    client_close(otlp->client);
    close(otlp->give_up);
    pthread_cond_destroy(&otlp->changed);
    pthread_mutex_destroy(&otlp->lock);
    arena_fini(&otlp->arena);
    mem_free(otlp);
}
