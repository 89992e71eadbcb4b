/* client/post.c: one POST to an address that somebody else chose. See post.h.
 *
 * SPDX-License-Identifier: MIT */
#include "client/post.h"

#include <stdio.h>
#include <sys/socket.h>

#include "base/buf.h"
#include "client/guard.h"
#include "client/transfer.h"
#include "wire/uri.h"

#define HEADER_MAX (16 * KIB)

struct sending {
    const struct post *post;
    CURL *curl;
    CURLM *multi;
    struct curl_slist *headers;
    struct buf body;     /* of the answer */
    const char *refused; /* what the guard said of an address; NULL: nothing */
    bool let_through;    /* … but of another one that it is fine */
    char why[CURL_ERROR_SIZE];
};

static void sending_fini(struct sending *sending)
{
    curl_slist_free_all(sending->headers);
    curl_easy_cleanup(sending->curl);
    curl_multi_cleanup(sending->multi);
    buf_fini(&sending->body);
}

static bool check(const struct post *post, struct err *err)
{
    struct uri uri;
    if (!uri_parse(post->url, &uri, err)) {
        return false;
    }
    if (!str_eq_nocase(uri.scheme, STR("http")) && !str_eq_nocase(uri.scheme, STR("https"))) {
        return err_set(err, ERR_INVALID, "the address must begin with http:// or https://");
    }
    for (size_t i = 0; i < post->headers_count; i++) {
        if (str_has_control(post->headers[i].value)) {
            return err_set(err, ERR_INVALID, "%s has control characters", post->headers[i].name);
        }
    }
    return guard_check_host(uri.host, post->allow_private, err);
}

static curl_socket_t on_socket(void *arg, curlsocktype purpose, struct curl_sockaddr *to)
{
    struct sending *sending = arg;
    const char *what = guard_refuses(&to->addr, sending->post->allow_private);
    (void)purpose;
    if (what != NULL) {
        sending->refused = what;
        return CURL_SOCKET_BAD;
    }
    sending->let_through = true;
    return socket(to->family, to->socktype | SOCK_CLOEXEC, to->protocol);
}

static size_t on_body(char *data, size_t one, size_t len, void *arg)
{
    struct sending *sending = arg;
    size_t room = sending->body.max - sending->body.len;
    (void)one;
    buf_add(&sending->body, data, MIN(len, room)); /* what is beyond says nothing more */
    return len;
}

static void add_headers(struct sending *sending)
{
    for (size_t i = 0; i < sending->post->headers_count; i++) {
        const struct post_header *header = &sending->post->headers[i];
        SCOPED(buf_fini) struct buf line = BUF_INIT(HEADER_MAX);
        buf_printf(&line, "%s: ", header->name);
        buf_str(&line, header->value);
        struct curl_slist *longer = curl_slist_append(sending->headers, buf_c_text(&line));
        sending->headers = longer == NULL ? sending->headers : longer;
    }
    sending->headers = curl_slist_append(sending->headers, "Expect:");
}

static void set_up(struct sending *sending, const char *url)
{
    CURL *curl = sending->curl;
    struct str body = sending->post->body;
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_DISALLOW_USERNAME_IN_URL, 1L);
    curl_easy_setopt(curl, CURLOPT_PROXY, ""); /* the guard would see the proxy's address only */
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_QUICK_EXIT, 1L);
    curl_easy_setopt(curl, CURLOPT_OPENSOCKETFUNCTION, on_socket);
    curl_easy_setopt(curl, CURLOPT_OPENSOCKETDATA, sending);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)POST_CONNECT_MS);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)POST_TOTAL_MS);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, sending->why);
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "Errand/" ERRAND_VERSION);
    curl_easy_setopt(curl, CURLOPT_POST, 1L);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body.len);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, str_absent(body) ? "" : body.ptr);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, sending->headers);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, sending);
}

static bool fail(const struct sending *sending, CURLcode code, struct err *err)
{
    if (sending->refused != NULL && !sending->let_through) {
        return err_set(err, ERR_REFUSED, "the address leads to %s: that is refused",
                       sending->refused);
    }
    return err_set(err, ERR_UNAVAILABLE, "%s",
                   code == CURLE_ABORTED_BY_CALLBACK ? "it was given up"
                   : sending->why[0] != '\0'         ? sending->why
                                                     : curl_easy_strerror(code));
}

static void read_answer(struct sending *sending, struct arena *arena, struct post_answer *out)
{
    long status = 0;
    curl_off_t seconds = 0;
    curl_easy_getinfo(sending->curl, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_getinfo(sending->curl, CURLINFO_RETRY_AFTER, &seconds);
    seconds = MIN(MAX(seconds, 0), (curl_off_t)(POST_RETRY_AFTER_MAX / SECOND_MS));
    *out = (struct post_answer){.status = (int)status,
                                .body = arena_str(arena, buf_view(&sending->body)),
                                .retry_after_ms = seconds * SECOND_MS};
}

bool post_send(const struct post *post, struct arena *arena, struct post_answer *out,
               struct err *err)
{
    SCOPED(sending_fini)
    struct sending sending = {.post = post, .body = BUF_INIT(POST_ANSWER_MAX)};
    struct transfer_watch watch = {.stop = post->stop};
    if (!check(post, err)) {
        return false;
    }
    sending.curl = curl_easy_init();
    sending.multi = curl_multi_init();
    if (sending.curl == NULL || sending.multi == NULL) {
        return err_set(err, ERR_UNAVAILABLE, "libcurl does not start");
    }
    add_headers(&sending);
    set_up(&sending, arena_c_text(arena, post->url));
    CURLcode code = transfer_drive(sending.multi, sending.curl, &watch);
    if (code != CURLE_OK) {
        return fail(&sending, code, err);
    }
    read_answer(&sending, arena, out);
    return true;
}
