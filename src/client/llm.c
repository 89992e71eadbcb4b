/* client/llm.c: questions to a language model: the tries, the waits and the transfer. See llm.h.
 *
 * What goes out is written by llm_request.c, what comes in is read by llm_answer.c.
 *
 * SPDX-License-Identifier: MIT */
#include "client/llm.h"

#include <poll.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "client/guard.h"
#include "client/llm_answer.h"
#include "client/llm_request.h"
#include "client/secret.h"
#include "client/transfer.h"
#include "wire/uri.h"

#define MS_HAS_US 1000

enum { OK = 200, TOO_MANY_REQUESTS = 429 };

struct llm {
    CURL *curl;
    CURLM *multi; /* holds the connection between questions */
    struct curl_slist *headers;
    struct arena arena; /* holds the texts of the options */
    const char *url;
    const char *cacert;
    struct str model, api_key;
    struct llm_limits limits;
    bool near; /* no proxy stands between */
    char why[CURL_ERROR_SIZE];
};

/* One request under way. */
struct attempt {
    struct llm *llm;
    const struct llm_question *question;
    struct llm_stream stream; /* its reply holds a whole answer too */
    struct buf body;          /* what came and is no stream */
    struct llm_pause pause;
    struct arena *arena;
    struct transfer_watch watch;
    bool streamed; /* what comes is a stream */
    bool broken;   /* what came cannot be read: err says why */
    bool again;    /* another try may have another outcome */
    int64_t pause_ms;
    struct err err;
};

/* ---- Life ---- */

static struct llm_limits fill_limits(struct llm_limits limits)
{
    return (struct llm_limits){
        .connect_ms = limits.connect_ms > 0 ? limits.connect_ms : LLM_CONNECT_MS,
        .total_ms = limits.total_ms > 0 ? limits.total_ms : LLM_TOTAL_MS,
        .idle_ms = limits.idle_ms > 0 ? limits.idle_ms : LLM_IDLE_MS,
        .wait_ms = limits.wait_ms > 0 ? limits.wait_ms : LLM_WAIT_MS,
        .wait_max_ms = limits.wait_max_ms > 0 ? limits.wait_max_ms : LLM_WAIT_MAX_MS,
        .tries = limits.tries > 0 ? limits.tries : LLM_TRIES,
        .answer_max = limits.answer_max > 0 ? limits.answer_max : LLM_ANSWER_MAX,
    };
}

static bool check_options(const struct llm_options *options, struct uri *uri, struct err *err)
{
    if (!uri_parse(options->base_url, uri, err)) {
        return err_wrap(err, "the LLM's base_url");
    }
    if (!str_eq_nocase(uri->scheme, STR("http")) && !str_eq_nocase(uri->scheme, STR("https"))) {
        return err_set(err, ERR_INVALID, "the LLM's base_url must begin with http:// or https://");
    }
    if (options->model.len == 0 || str_has_control(options->model)) {
        return err_set(err, ERR_INVALID, "the LLM needs a model");
    }
    return !str_has_control(options->api_key) ||
           err_set(err, ERR_INVALID, "the LLM's key has control characters");
}

static void add_header(struct llm *llm, const char *name, struct str value)
{
    SCOPED(buf_fini) struct buf line = BUF_INIT(64 * KIB);
    buf_c(&line, name);
    buf_str(&line, value);
    struct curl_slist *longer = curl_slist_append(llm->headers, buf_c_text(&line));
    llm->headers = longer == NULL ? llm->headers : longer;
    explicit_bzero(line.ptr, line.len); /* it may be the key */
}

static void fill(struct llm *llm, const struct llm_options *options, const struct uri *uri)
{
    struct str base = options->base_url;
    base.len -= str_ends(base, STR("/")) ? 1 : 0;
    llm->url = arena_printf(&llm->arena, STR_FMT "/chat/completions", STR_ARG(base)).ptr;
    llm->model = arena_str(&llm->arena, options->model);
    llm->api_key = arena_str(&llm->arena, options->api_key);
    llm->cacert =
        options->cacert == NULL ? NULL : arena_c_text(&llm->arena, str_of(options->cacert));
    llm->limits = fill_limits(options->limits);
    llm->near = !guard_check_host(uri->host, false, NULL);
    add_header(llm, "User-Agent: ", STR("Errand/" ERRAND_VERSION));
    add_header(llm, "Content-Type: ", STR("application/json"));
    add_header(llm, "Expect:", STR("")); /* no 100-continue: it costs a round trip */
    if (!str_absent(options->api_key)) {
        add_header(llm, "Authorization: Bearer ", options->api_key);
    }
}

bool llm_open(const struct llm_options *options, struct llm **out, struct err *err)
{
    struct uri uri;
    if (!check_options(options, &uri, err)) {
        return false;
    }
    struct llm *llm = mem_new(struct llm);
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK ||
        (llm->curl = curl_easy_init()) == NULL || (llm->multi = curl_multi_init()) == NULL) {
        curl_easy_cleanup(llm->curl);
        mem_free(llm);
        return err_set(err, ERR_INTERNAL, "libcurl does not start");
    }
    fill(llm, options, &uri);
    *out = llm;
    return true;
}

void llm_close(struct llm *llm)
{
    if (llm != NULL) {
        curl_easy_cleanup(llm->curl);
        curl_multi_cleanup(llm->multi);
        curl_slist_free_all(llm->headers);
        arena_fini(&llm->arena);
        mem_free(llm);
        curl_global_cleanup();
    }
}

/* ---- What comes in ---- */

/* A server that cannot stream answers in one piece: its Content-Type says which it is. */
static size_t on_bytes(char *ptr, size_t size, size_t count, void *arg)
{
    struct attempt *attempt = arg;
    struct str bytes = {ptr, size * count};
    long status = 0;
    const char *type = NULL;
    transfer_hear(&attempt->watch);
    curl_easy_getinfo(attempt->llm->curl, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_getinfo(attempt->llm->curl, CURLINFO_CONTENT_TYPE, &type);
    struct str media = str_of(type);
    media = str_trim(str_cut(&media, ';'));
    attempt->streamed = status == OK && str_eq_nocase(media, STR("text/event-stream"));
    if (attempt->streamed) {
        attempt->broken = !llm_stream_take(&attempt->stream, bytes, &attempt->err);
        return attempt->broken ? 0 : bytes.len;
    }
    buf_str(&attempt->body, bytes);
    return attempt->body.full ? 0 : bytes.len;
}

static size_t on_header(char *ptr, size_t size, size_t count, void *arg)
{
    struct attempt *attempt = arg;
    struct llm_pause *pause = &attempt->pause;
    struct str value = {ptr, size * count};
    struct str name = str_cut(&value, ':');
    transfer_hear(&attempt->watch);
    struct str *place = str_eq_nocase(name, STR("retry-after"))      ? &pause->retry_after
                        : str_eq_nocase(name, STR("retry-after-ms")) ? &pause->retry_after_ms
                        : str_eq_nocase(name, STR("date"))           ? &pause->date
                                                                     : NULL;
    if (place != NULL && !str_absent(value)) {
        *place = arena_str(attempt->arena, str_trim(str_chomp(value)));
    }
    return size * count;
}

/* ---- One request ---- */

static void set_up(struct attempt *attempt, struct str body, int64_t limit_ms)
{
    struct llm *llm = attempt->llm;
    CURL *curl = llm->curl;
    llm->why[0] = '\0';
    curl_easy_reset(curl);
    curl_easy_setopt(curl, CURLOPT_URL, llm->url);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L); /* the key must not travel to a stranger */
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_OPENSOCKETFUNCTION, transfer_open_socket);
    curl_easy_setopt(curl, CURLOPT_NOPROXY, llm->near ? "*" : NULL);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)llm->limits.connect_ms);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)limit_ms);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, llm->why);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, llm->headers);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body.len);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body.ptr);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_bytes);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, attempt);
    curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(curl, CURLOPT_HEADERDATA, attempt);
    if (llm->cacert != NULL) {
        curl_easy_setopt(curl, CURLOPT_CAINFO, llm->cacert);
    }
}

/* Failures of the way there and back. A certificate that is not trusted stays so. */
static bool is_of_the_way(CURLcode code)
{
    switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_CONNECT:
    case CURLE_OPERATION_TIMEDOUT:
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_PARTIAL_FILE:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
    case CURLE_SSL_CONNECT_ERROR:
        return true;
    default:
        return false;
    }
}

static bool fail_transfer(struct attempt *attempt, CURLcode code)
{
    struct err *err = &attempt->err;
    if (attempt->broken) {
        attempt->again = err->kind == ERR_UNAVAILABLE;
        return false; /* err says why */
    }
    if (attempt->body.full) {
        return err_set(err, ERR_TOO_LARGE, "the LLM's answer is too long");
    }
    if (attempt->watch.stalled) {
        return err_set(err, ERR_UNAVAILABLE, "the LLM's answer stalled");
    }
    if (code == CURLE_ABORTED_BY_CALLBACK) {
        return err_set(err, ERR_UNAVAILABLE, "the question to the LLM was given up");
    }
    const char *why = attempt->llm->why[0] != '\0' ? attempt->llm->why : curl_easy_strerror(code);
    attempt->again = is_of_the_way(code);
    return code == CURLE_OPERATION_TIMEDOUT
               ? err_set(err, ERR_UNAVAILABLE, "the LLM is too slow: %s", why)
           : code == CURLE_PARTIAL_FILE
               ? err_set(err, ERR_UNAVAILABLE, "the LLM's answer was cut short")
               : err_set(err, ERR_UNAVAILABLE, "the LLM cannot be reached: %s", why);
}

static bool fail_status(struct attempt *attempt, long status)
{
    char words[LLM_REASON_MAX + 1];
    llm_reason(buf_view(&attempt->body), words);
    attempt->again = llm_status_may_pass(status);
    attempt->pause_ms = llm_pause_ms(&attempt->pause, clock_real_wall_ms());
    enum err_kind kind = status == TOO_MANY_REQUESTS ? ERR_BUSY
                         : attempt->again            ? ERR_UNAVAILABLE
                                                     : ERR_REFUSED;
    return err_set(&attempt->err, kind, "the LLM's server answered %ld%s%s", status,
                   words[0] != '\0' ? ": " : "", words);
}

static bool read_answer(struct attempt *attempt)
{
    struct err *err = &attempt->err;
    if (!attempt->streamed) {
        return llm_reply_read(&attempt->stream.reply, buf_view(&attempt->body), err);
    }
    bool ok = llm_stream_end(&attempt->stream, err);
    attempt->again = !ok && err->kind == ERR_UNAVAILABLE;
    return ok;
}

static bool transfer(struct attempt *attempt, struct str body, int64_t limit_ms)
{
    long status = 0;
    set_up(attempt, body, limit_ms);
    CURLcode code = transfer_drive(attempt->llm->multi, attempt->llm->curl, &attempt->watch);
    curl_easy_getinfo(attempt->llm->curl, CURLINFO_RESPONSE_CODE, &status);
    if (code != CURLE_OK && !attempt->stream.done) { /* what is whole may end as it likes */
        return fail_transfer(attempt, code);
    }
    return status == OK ? read_answer(attempt) : fail_status(attempt, status);
}

/* ---- One question ---- */

static void add_cost(struct llm_cost *cost, const struct attempt *attempt)
{
    const struct llm_reply *reply = &attempt->stream.reply;
    long status = 0;
    curl_easy_getinfo(attempt->llm->curl, CURLINFO_RESPONSE_CODE, &status);
    cost->requests++;
    cost->queries += status == OK ? 1 : 0;
    cost->prompt_tokens += reply->prompt_tokens;
    cost->completion_tokens += reply->completion_tokens;
    cost->total_tokens += reply->total_tokens;
    cost->retry_after_ms = attempt->pause_ms;
}

static bool finish(struct attempt *attempt, struct llm_answer *out)
{
    const struct llm_question *question = attempt->question;
    const struct llm_reply *reply = &attempt->stream.reply;
    struct str content;
    if (!llm_reply_judge(reply, !str_absent(question->schema), &content, &attempt->err)) {
        return false;
    }
    if (!attempt->streamed && question->on_text != NULL) {
        question->on_text(question->arg, content); /* a server that cannot stream */
    }
    *out = (struct llm_answer){arena_str(attempt->arena, content), reply->cut_off};
    return true;
}

static void attempt_fini(struct attempt *attempt)
{
    llm_stream_fini(&attempt->stream);
    buf_fini(&attempt->body);
}

static bool try_once(struct llm *llm, const struct llm_question *question, struct str body,
                     int64_t limit_ms, struct attempt *attempt)
{
    *attempt = (struct attempt){
        .llm = llm,
        .question = question,
        .body = BUF_INIT(llm->limits.answer_max),
        .pause = {STR_NONE, STR_NONE, STR_NONE},
        .arena = attempt->arena,
        .watch = {.stop = question->stop,
                  .idle_ms = question->on_text != NULL ? llm->limits.idle_ms : 0},
    };
    llm_stream_init(&attempt->stream, llm->limits.answer_max);
    attempt->stream.on_text = question->on_text;
    attempt->stream.arg = question->arg;
    bool ok = transfer(attempt, body, limit_ms);
    /* A piece that was given cannot be taken back. */
    attempt->again =
        attempt->again && (question->on_text == NULL || attempt->stream.reply.content.len == 0);
    return ok;
}

static int64_t left_ms(int64_t deadline_us)
{
    return (deadline_us - clock_real_mono_us()) / MS_HAS_US;
}

/* Waits for the next try if there is to be one. */
static bool go_on(const struct attempt *attempt, unsigned tries, int64_t deadline_us,
                  struct err *err)
{
    const struct llm *llm = attempt->llm;
    struct rand *rand = attempt->question->rand;
    *err = attempt->err;
    secret_hide(llm->api_key, err->text);
    if (!attempt->again || tries >= llm->limits.tries) {
        return false;
    }
    int64_t wait_ms =
        llm_wait_ms(&llm->limits, tries, attempt->pause_ms, rand == NULL ? 0 : rand_unit(rand));
    if (wait_ms >= left_ms(deadline_us)) {
        return false; /* nobody would be left to hear the next answer */
    }
    const int *stop_fd = attempt->question->stop;
    struct pollfd stop = {.fd = stop_fd == NULL ? -1 : *stop_fd, .events = POLLIN};
    return poll(&stop, 1, (int)MIN(wait_ms, INT32_MAX)) <= 0 ||
           err_set(err, ERR_UNAVAILABLE, "the question to the LLM was given up");
}

bool llm_ask(struct llm *llm, const struct llm_question *question, struct arena *arena,
             struct llm_answer *out, struct llm_cost *cost, struct err *err)
{
    SCOPED(buf_fini) struct buf body = BUF_INIT(LLM_REQUEST_MAX);
    if (!llm_request_write(question, llm->model, &body, err)) {
        return false;
    }
    int64_t limit_ms = question->limit_ms > 0 ? question->limit_ms : llm->limits.total_ms;
    int64_t deadline_us = clock_real_mono_us() + limit_ms * MS_HAS_US;
    for (unsigned tries = 1;; tries++) {
        SCOPED(attempt_fini) struct attempt attempt = {.arena = arena};
        bool ok = try_once(llm, question, buf_view(&body), MAX(left_ms(deadline_us), 1), &attempt);
        add_cost(cost, &attempt);
        if (ok && finish(&attempt, out)) {
            return true;
        }
        if (!go_on(&attempt, tries, deadline_us, err)) {
            return false;
        }
    }
}
