/* client/http.c: calls to an HTTP server. See http.h.
 *
 * libcurl does the work. It is started with the first client, so that commands which call nobody
 * do not pay for it.
 *
 * SPDX-License-Identifier: MIT */
#include "client/http.h"

#include <stdio.h>

#include "base/buf.h"
#include "base/mem.h"
#include "client/transfer.h"
#include "wire/uri.h"

#define RETRY_AFTER_MAX (24 * HOUR_MS)

struct client {
    CURL *curl;
    CURLM *multi;               /* holds the connection between calls */
    struct curl_slist *headers; /* of every call */
    struct transfer_sockets sockets;
    struct buf url; /* base, then the call's path */
    size_t base_len;
    const char *cacert;
    struct buf socket; /* path of the socket file; empty: none */
    char why[CURL_ERROR_SIZE];
};

/* One call under way: where its answer goes. */
struct receiver {
    struct client *client;
    struct buf body; /* of a call; of a stream: the line so far */
    struct arena *arena;
    struct str link;
    int64_t retry_after_ms;
    const struct client_stream *stream; /* NULL: a call */
    const int *stop;                    /* of a call; NULL: none */
    int64_t last_ms;                    /* how long its answer is then awaited */
    bool ended;                         /* a callback wants no more */
};

static void add_header(struct client *client, const char *name, struct str value)
{
    SCOPED(buf_fini) struct buf line = BUF_INIT(64 * KIB);
    buf_c(&line, name);
    buf_str(&line, value);
    struct curl_slist *longer = curl_slist_append(client->headers, buf_c_text(&line));
    client->headers = longer == NULL ? client->headers : longer;
}

bool client_url_ok(struct str url)
{
    struct uri uri;
    struct str path = uri_socket_path(url);
    if (!str_absent(path)) {
        return path.len > 0 && path.len < KIB && !str_has_control(path);
    }
    return uri_parse(url, &uri, NULL) && str_absent(uri.userinfo) && str_absent(uri.query) &&
           (str_is(uri.scheme, "http") || str_is(uri.scheme, "https"));
}

bool client_open(const struct client_options *options, struct client **out, struct err *err)
{
    if (str_has_control(options->token) || options->token.len > KIB) {
        return err_set(err, ERR_INVALID,
                       "the token is not one: it is too long or has control characters");
    }
    struct client *client = mem_new(struct client);
    *client = (struct client){
        .url = BUF_INIT(64 * KIB), .socket = BUF_INIT(KIB), .cacert = options->cacert};
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK ||
        (client->curl = curl_easy_init()) == NULL || (client->multi = curl_multi_init()) == NULL) {
        curl_easy_cleanup(client->curl);
        mem_free(client);
        return err_set(err, ERR_INTERNAL, "libcurl does not start");
    }
    struct str path = uri_socket_path(options->url);
    struct str base = str_absent(path) ? options->url : STR("http://localhost");
    buf_str(&client->socket, path);
    base.len -= str_ends(base, STR("/")) ? 1 : 0;
    buf_str(&client->url, base);
    client->base_len = base.len;
    add_header(client, "User-Agent: ", STR("Errand/" ERRAND_VERSION));
    add_header(client, "Expect:", STR("")); /* no 100-continue: it costs a round trip */
    if (!str_absent(options->token)) {
        add_header(client, "Authorization: Bearer ", options->token);
    }
    for (size_t i = 0; i < options->headers_count; i++) {
        SCOPED(buf_fini) struct buf name = BUF_INIT(KIB);
        buf_str(&name, options->headers[i].name);
        buf_c(&name, ": ");
        add_header(client, buf_c_text(&name), options->headers[i].value);
    }
    *out = client;
    return true;
}

void client_close(struct client *client)
{
    if (client != NULL) {
        curl_easy_cleanup(client->curl);
        curl_multi_cleanup(client->multi);
        curl_slist_free_all(client->headers);
        buf_fini(&client->url);
        buf_fini(&client->socket);
        mem_free(client);
        curl_global_cleanup();
    }
}

/* ---- What comes in ---- */

/* Gives each whole line away and keeps the rest. */
static bool split_lines(struct receiver *receiver, struct str bytes)
{
    const struct client_stream *stream = receiver->stream;
    while (!receiver->ended && bytes.len > 0) {
        const char *end = memchr(bytes.ptr, '\n', bytes.len);
        size_t len = end == NULL ? bytes.len : (size_t)(end - bytes.ptr);
        buf_str(&receiver->body, (struct str){bytes.ptr, len});
        bytes = str_from(bytes, len + 1);
        if (end != NULL) {
            struct str line = buf_view(&receiver->body);
            line.len -= str_ends(line, STR("\r")) ? 1 : 0;
            receiver->ended = !stream->line(stream->arg, line);
            buf_clear(&receiver->body);
        }
    }
    return !receiver->ended && !receiver->body.full;
}

static size_t on_bytes(char *ptr, size_t size, size_t count, void *arg)
{
    struct receiver *receiver = arg;
    struct str bytes = {ptr, size * count};
    long status = 0;
    curl_easy_getinfo(receiver->client->curl, CURLINFO_RESPONSE_CODE, &status);
    if (receiver->stream != NULL && status == 200) {
        return split_lines(receiver, bytes) ? bytes.len : 0;
    }
    buf_str(&receiver->body, bytes);
    return receiver->body.full ? 0 : bytes.len;
}

static size_t on_header(char *ptr, size_t size, size_t count, void *arg)
{
    struct receiver *receiver = arg;
    struct str value = {ptr, size * count};
    struct str name = str_cut(&value, ':');
    uint64_t seconds;
    if (str_absent(value)) {
        return size * count;
    }
    value = str_trim(str_chomp(value));
    if (str_eq_nocase(name, STR("link"))) {
        receiver->link = arena_str(receiver->arena, value);
    } else if (str_eq_nocase(name, STR("retry-after")) && str_u64(value, &seconds)) {
        receiver->retry_after_ms =
            (int64_t)MIN(seconds, (uint64_t)(RETRY_AFTER_MAX / SECOND_MS)) * SECOND_MS;
    }
    return size * count;
}

static int on_progress(void *arg, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
    struct receiver *receiver = arg;
    (void)a, (void)b, (void)c, (void)d;
    const struct client_stream *stream = receiver->stream;
    if (stream != NULL && stream->tick != NULL && !receiver->ended) {
        receiver->ended = !stream->tick(stream->arg);
    }
    return receiver->ended ? 1 : 0;
}

/* ---- What goes out ---- */

static void set_usual(struct client *client, struct receiver *receiver, struct str path)
{
    CURL *curl = client->curl;
    curl_easy_reset(curl);
    client->url.len = client->base_len;
    buf_str(&client->url, path);
    curl_easy_setopt(curl, CURLOPT_URL, buf_c_text(&client->url));
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    transfer_note_sockets(curl, &client->sockets);
    curl_easy_setopt(curl, CURLOPT_NOPROXY, "*"); /* the server is named, no proxy is meant */
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)CLIENT_CONNECT_MS);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, client->why);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_bytes);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, receiver);
    curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(curl, CURLOPT_HEADERDATA, receiver);
    if (client->socket.len > 0) {
        curl_easy_setopt(curl, CURLOPT_UNIX_SOCKET_PATH, buf_c_text(&client->socket));
    }
    if (client->cacert != NULL) {
        curl_easy_setopt(curl, CURLOPT_CAINFO, client->cacert);
    }
}

/* What went wrong, and what to do about it where that is known. */
static bool tell(const char *url, CURLcode code, const char *why, struct err *err)
{
    switch (code) {
    case CURLE_COULDNT_CONNECT:
        return err_set(err, ERR_UNAVAILABLE,
                       "nothing listens at %s; a server is started with: errand serve", url);
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
        return err_set(err, ERR_UNAVAILABLE,
                       "%s: %s; name the authority to trust with --cacert or ERRAND_CACERT", url,
                       why);
    default:
        return err_set(err, ERR_UNAVAILABLE, "%s: %s", url, why);
    }
}

static bool perform(struct client *client, struct receiver *receiver, struct curl_slist *headers,
                    struct client_answer *out, struct err *err)
{
    long status = 0;
    client->why[0] = '\0';
    curl_easy_setopt(client->curl, CURLOPT_HTTPHEADER, headers);
    struct transfer_watch watch = {
        .stop = receiver->stop, .last_ms = receiver->last_ms, .sockets = &client->sockets};
    CURLcode code = transfer_drive(client->multi, client->curl, &watch);
    if (code != CURLE_OK && !receiver->ended) {
        const char *why = client->why[0] != '\0' ? client->why : curl_easy_strerror(code);
        client->url.len = client->base_len;
        return receiver->body.full ? err_set(err, ERR_TOO_LARGE, "the answer is too long")
                                   : tell(buf_c_text(&client->url), code, why, err);
    }
    curl_easy_getinfo(client->curl, CURLINFO_RESPONSE_CODE, &status);
    *out = (struct client_answer){.status = (int)status,
                                  .body = arena_str(receiver->arena, buf_view(&receiver->body)),
                                  .link = receiver->link,
                                  .retry_after_ms = receiver->retry_after_ms};
    return true;
}

static void drop_headers(struct curl_slist **list)
{
    curl_slist_free_all(*list);
}

/* The usual headers and one more. */
static struct curl_slist *with_header(const struct client *client, const char *line)
{
    struct curl_slist *list = NULL;
    for (const struct curl_slist *it = client->headers; it != NULL; it = it->next) {
        list = curl_slist_append(list, it->data);
    }
    return curl_slist_append(list, line);
}

bool client_call(struct client *client, const struct client_call *call, struct arena *arena,
                 struct client_answer *out, struct err *err)
{
    const struct client_stream lines = {.arg = call->arg, .line = call->line};
    struct receiver receiver = {.client = client,
                                .arena = arena,
                                .body = BUF_INIT(CLIENT_ANSWER_MAX),
                                .link = STR_NONE,
                                .stream = call->line == NULL ? NULL : &lines,
                                .stop = call->stop,
                                .last_ms = call->hear_out ? CLIENT_LAST_MS : 0};
    SCOPED(drop_headers)
    struct curl_slist *headers =
        with_header(client, str_absent(call->body) ? "Accept: application/json"
                                                   : "Content-Type: application/json");
    set_usual(client, &receiver, call->path);
    curl_easy_setopt(client->curl, CURLOPT_CUSTOMREQUEST, call->method);
    if (!str_absent(call->body)) {
        curl_easy_setopt(client->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)call->body.len);
        curl_easy_setopt(client->curl, CURLOPT_POSTFIELDS, call->body.ptr);
    }
    curl_easy_setopt(client->curl, CURLOPT_TIMEOUT_MS,
                     (long)(call->limit_ms > 0 ? call->limit_ms : CLIENT_CALL_MS));
    bool ok = perform(client, &receiver, headers, out, err);
    buf_fini(&receiver.body);
    return ok;
}

bool client_stream(struct client *client, const struct client_stream *stream, struct arena *arena,
                   struct client_answer *answer, struct err *err)
{
    SCOPED(buf_fini) struct buf resume = BUF_INIT(KIB);
    struct receiver receiver = {.client = client,
                                .arena = arena,
                                .body = BUF_INIT(CLIENT_LINE_MAX),
                                .link = STR_NONE,
                                .stream = stream};
    bool fresh = str_absent(stream->last_event_id);
    buf_c(&resume, fresh ? "Accept: text/event-stream" : "Last-Event-ID: ");
    buf_str(&resume, stream->last_event_id);
    SCOPED(drop_headers) struct curl_slist *headers = with_header(client, buf_c_text(&resume));
    set_usual(client, &receiver, stream->path);
    curl_easy_setopt(client->curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl_easy_setopt(client->curl, CURLOPT_LOW_SPEED_TIME, (long)(CLIENT_SILENCE_MS / SECOND_MS));
    curl_easy_setopt(client->curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(client->curl, CURLOPT_XFERINFOFUNCTION, on_progress);
    curl_easy_setopt(client->curl, CURLOPT_XFERINFODATA, &receiver);
    bool ok = perform(client, &receiver, headers, answer, err);
    buf_fini(&receiver.body);
    if (!ok || receiver.ended) {
        return ok;
    }
    return answer->status == 200
               ? err_set(err, ERR_UNAVAILABLE, "the server ended the stream")
               : err_set(err, ERR_REFUSED, "the server answered %d", answer->status);
}
