/* client/mailer.c: sends mails by SMTP. See mail.h.
 *
 * libcurl speaks the protocol and doubles the points at the beginning of lines. What the server
 * answers comes in as headers do; its last refusal says why a mail was not taken.
 *
 * SPDX-License-Identifier: MIT */
#include "client/mail.h"

#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/mem.h"
#include "client/secret.h"
#include "client/transfer.h"
#include "wire/uri.h"

#define MS_HAS_US 1000
#define REPLY_MAX 200 /* bytes of the server's last words in an error */

enum { PASSING = 400, FINAL = 500, REPLIES = 600 };

struct mailer {
    CURL *curl;
    CURLM *multi;
    struct arena arena; /* holds the texts of the options */
    const char *url, *username, *password, *cacert;
    enum mail_tls starttls;
    int64_t connect_ms, total_ms;
    char why[CURL_ERROR_SIZE];
};

/* One mail on its way. */
struct sending {
    struct buf mail;
    size_t sent;
    const int *stop;
    int64_t deadline_us;
    char reply[REPLY_MAX + 1]; /* the server's last line of refusal */
};

/* ---- Life ---- */

static bool check_options(const struct mailer_options *options, struct uri *uri, struct err *err)
{
    if (!uri_parse(options->url, uri, err)) {
        return err_wrap(err, "the mail server's url");
    }
    if (!str_eq_nocase(uri->scheme, STR("smtp")) && !str_eq_nocase(uri->scheme, STR("smtps"))) {
        return err_set(err, ERR_INVALID,
                       "the mail server's url must begin with smtp:// or smtps://");
    }
    if (!str_absent(uri->userinfo)) {
        return err_set(err, ERR_INVALID, "the mail server's url must not hold a password");
    }
    if (str_absent(options->username) != str_absent(options->password)) {
        return err_set(err, ERR_INVALID, "the mail server needs both a username and a password");
    }
    return !(str_has_control(options->username) || str_has_control(options->password)) ||
           err_set(err, ERR_INVALID, "the mail server's password has control characters");
}

static bool is_this_machine(struct str host)
{
    char text[INET6_ADDRSTRLEN];
    struct in_addr v4;
    struct in6_addr v6;
    snprintf(text, sizeof text, STR_FMT, STR_ARG(host));
    return str_eq_nocase(host, STR("localhost")) ||
           (inet_pton(AF_INET, text, &v4) == 1 && ntohl(v4.s_addr) >> 24 == IN_LOOPBACKNET) ||
           (inet_pton(AF_INET6, text, &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6));
}

/* A password goes in plain text only where nobody can listen, or where it was ordered. */
static enum mail_tls choose_tls(const struct mailer_options *options, struct str host)
{
    return options->starttls == MAIL_TLS_OPTIONAL && !str_absent(options->username) &&
                   !is_this_machine(host)
               ? MAIL_TLS_REQUIRED
               : options->starttls;
}

static const char *keep(struct mailer *mailer, struct str text)
{
    return str_absent(text) ? NULL : arena_c_text(&mailer->arena, text);
}

bool mailer_open(const struct mailer_options *options, struct mailer **out, struct err *err)
{
    struct uri uri;
    if (!check_options(options, &uri, err)) {
        return false;
    }
    struct mailer *mailer = mem_new(struct mailer);
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK ||
        (mailer->curl = curl_easy_init()) == NULL || (mailer->multi = curl_multi_init()) == NULL) {
        curl_easy_cleanup(mailer->curl);
        mem_free(mailer);
        return err_set(err, ERR_INTERNAL, "libcurl does not start");
    }
    mailer->url = keep(mailer, options->url);
    mailer->username = keep(mailer, options->username);
    mailer->password = keep(mailer, options->password);
    mailer->cacert = keep(mailer, str_of(options->cacert));
    mailer->starttls = choose_tls(options, uri.host);
    mailer->connect_ms = options->connect_ms > 0 ? options->connect_ms : MAIL_CONNECT_MS;
    mailer->total_ms = options->total_ms > 0 ? options->total_ms : MAIL_TOTAL_MS;
    *out = mailer;
    return true;
}

void mailer_close(struct mailer *mailer)
{
    if (mailer != NULL) {
        curl_easy_cleanup(mailer->curl);
        curl_multi_cleanup(mailer->multi);
        arena_fini(&mailer->arena);
        mem_free(mailer);
        curl_global_cleanup();
    }
}

/* ---- In and out ---- */

static size_t give_bytes(char *room, size_t size, size_t count, void *arg)
{
    struct sending *sending = arg;
    struct str rest = str_from(buf_view(&sending->mail), sending->sent);
    size_t len = MIN(rest.len, size * count);
    memcpy(room, rest.ptr, len);
    sending->sent += len;
    return len;
}

/* What comes behind a refusal is only the goodbye. */
static size_t take_reply(char *ptr, size_t size, size_t count, void *arg)
{
    struct sending *sending = arg;
    size_t len = 0;
    if (size * count == 0 || (ptr[0] != '4' && ptr[0] != '5')) {
        return size * count;
    }
    while (len < size * count && len < REPLY_MAX && ptr[len] >= ' ' && ptr[len] <= '~') {
        sending->reply[len] = ptr[len];
        len++;
    }
    sending->reply[len] = '\0';
    return size * count;
}

static bool is_stopped(const struct sending *sending)
{
    struct pollfd stop = {.fd = sending->stop == NULL ? -1 : *sending->stop, .events = POLLIN};
    return poll(&stop, 1, 0) > 0;
}

/* libcurl waits for the answers to a whole mail and to its goodbye inside one step of the transfer,
 * the latter without a thought of its limit; but it asks here about once a second. */
static int on_progress(void *arg, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
    const struct sending *sending = arg;
    (void)a, (void)b, (void)c, (void)d;
    return is_stopped(sending) || clock_real_mono_us() > sending->deadline_us ? 1 : 0;
}

/* ---- Sending ---- */

static void set_security(struct mailer *mailer)
{
    static const long use[] = {[MAIL_TLS_OPTIONAL] = CURLUSESSL_TRY,
                               [MAIL_TLS_REQUIRED] = CURLUSESSL_ALL,
                               [MAIL_TLS_NONE] = CURLUSESSL_NONE};
    CURL *curl = mailer->curl;
    /* Whoever would be content with plain text need not insist on a certificate. */
    bool lax = mailer->starttls == MAIL_TLS_OPTIONAL &&
               str_starts(str_of(mailer->url), STR("smtp:")) && mailer->cacert == NULL;
    curl_easy_setopt(curl, CURLOPT_USE_SSL, use[mailer->starttls]);
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, lax ? 0L : 1L);
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, lax ? 0L : 2L);
    if (mailer->cacert != NULL) {
        curl_easy_setopt(curl, CURLOPT_CAINFO, mailer->cacert);
    }
    if (mailer->username != NULL) {
        curl_easy_setopt(curl, CURLOPT_USERNAME, mailer->username);
        curl_easy_setopt(curl, CURLOPT_PASSWORD, mailer->password);
    }
}

static void set_up(struct mailer *mailer, struct sending *sending)
{
    CURL *curl = mailer->curl;
    mailer->why[0] = '\0';
    sending->deadline_us = clock_real_mono_us() + mailer->total_ms * MS_HAS_US;
    curl_easy_reset(curl);
    curl_easy_setopt(curl, CURLOPT_URL, mailer->url);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "smtp,smtps");
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
    curl_easy_setopt(curl, CURLOPT_FORBID_REUSE, 1L);
    curl_easy_setopt(curl, CURLOPT_OPENSOCKETFUNCTION, transfer_open_socket);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)mailer->connect_ms);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)mailer->total_ms);
    curl_easy_setopt(curl, CURLOPT_SERVER_RESPONSE_TIMEOUT, (long)(MAIL_REPLY_MS / SECOND_MS));
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, mailer->why);
    curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, take_reply);
    curl_easy_setopt(curl, CURLOPT_HEADERDATA, sending);
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, on_progress);
    curl_easy_setopt(curl, CURLOPT_XFERINFODATA, sending);
    curl_easy_setopt(curl, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(curl, CURLOPT_READFUNCTION, give_bytes);
    curl_easy_setopt(curl, CURLOPT_READDATA, sending);
    curl_easy_setopt(curl, CURLOPT_INFILESIZE_LARGE, (curl_off_t)sending->mail.len);
    set_security(mailer);
}

static bool fail(const struct mailer *mailer, const struct sending *sending, CURLcode code,
                 struct err *err)
{
    long reply = 0;
    curl_easy_getinfo(mailer->curl, CURLINFO_RESPONSE_CODE, &reply);
    if (code == CURLE_ABORTED_BY_CALLBACK) {
        err_set(err, ERR_UNAVAILABLE,
                is_stopped(sending) ? "sending the mail was given up"
                                    : "the mail cannot be sent for now: the server is too slow");
    } else if (reply >= PASSING && reply < REPLIES) {
        err_set(err, reply >= FINAL ? ERR_REFUSED : ERR_UNAVAILABLE,
                "the mail server refuses %s: %s", reply >= FINAL ? "for good" : "for now",
                sending->reply);
    } else {
        err_set(err, ERR_UNAVAILABLE, "the mail cannot be sent for now: %s",
                mailer->why[0] != '\0' ? mailer->why : curl_easy_strerror(code));
    }
    if (err != NULL && mailer->password != NULL) {
        secret_hide(str_of(mailer->password), err->text);
    }
    return false;
}

static void drop_list(struct curl_slist **list)
{
    curl_slist_free_all(*list);
}

static bool transfer(struct mailer *mailer, struct sending *sending, const struct mail *mail,
                     struct err *err)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct mail_address from, to;
    if (!mail_address_read(mail->from, "from", &from, err) ||
        !mail_address_read(mail->to, "to", &to, err)) {
        return false;
    }
    SCOPED(drop_list)
    struct curl_slist *to_list = curl_slist_append(NULL, arena_c_text(&arena, to.address));
    struct transfer_watch watch = {.stop = sending->stop};
    set_up(mailer, sending);
    curl_easy_setopt(mailer->curl, CURLOPT_MAIL_FROM, arena_c_text(&arena, from.address));
    curl_easy_setopt(mailer->curl, CURLOPT_MAIL_RCPT, to_list);
    CURLcode code = transfer_drive(mailer->multi, mailer->curl, &watch);
    return code == CURLE_OK || fail(mailer, sending, code, err);
}

bool mailer_send(struct mailer *mailer, const struct mail *mail, const int *stop, struct err *err)
{
    struct sending sending = {.mail = BUF_INIT(MAIL_MAX), .stop = stop};
    bool ok = mail_write(mail, &sending.mail, err) && transfer(mailer, &sending, mail, err);
    buf_fini(&sending.mail);
    return ok;
}

bool mailer_probe(struct mailer *mailer, struct err *err)
{
    struct sending sending = {.stop = NULL};
    struct transfer_watch watch = {.stop = NULL};
    set_up(mailer, &sending);
    curl_easy_setopt(mailer->curl, CURLOPT_UPLOAD, 0L);
    curl_easy_setopt(mailer->curl, CURLOPT_NOBODY, 1L);
    curl_easy_setopt(mailer->curl, CURLOPT_CUSTOMREQUEST, "NOOP");
    CURLcode code = transfer_drive(mailer->multi, mailer->curl, &watch);
    return code == CURLE_OK || fail(mailer, &sending, code, err);
}
