/* client/transfer.c: one libcurl transfer, driven so that it can be given up. See transfer.h.
 *
 * SPDX-License-Identifier: MIT */
#include "client/transfer.h"

#include <assert.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"

#define POLL_MS   1000
#define MS_HAS_US 1000

curl_socket_t transfer_open_socket(void *arg, curlsocktype purpose, struct curl_sockaddr *address)
{
    (void)arg, (void)purpose;
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

/* None after the end: libcurl sends a request again whose kept connection was closed without an
 * answer, and nobody would end that one. */
static curl_socket_t open_noted(void *arg, curlsocktype purpose, struct curl_sockaddr *address)
{
    struct transfer_sockets *sockets = arg;
    if (sockets->hung_up || sockets->count == TRANSFER_SOCKETS_MAX) {
        return CURL_SOCKET_BAD;
    }
    curl_socket_t fd = transfer_open_socket(NULL, purpose, address);
    if (fd != CURL_SOCKET_BAD) {
        sockets->at[sockets->count++] = fd;
    }
    return fd;
}

static int close_noted(void *arg, curl_socket_t fd)
{
    struct transfer_sockets *sockets = arg;
    for (size_t i = 0; i < sockets->count; i++) {
        if (sockets->at[i] == fd) {
            sockets->at[i] = sockets->at[--sockets->count];
            break;
        }
    }
    return close(fd);
}

void transfer_note_sockets(CURL *curl, struct transfer_sockets *sockets)
{
    curl_easy_setopt(curl, CURLOPT_OPENSOCKETFUNCTION, open_noted);
    curl_easy_setopt(curl, CURLOPT_OPENSOCKETDATA, sockets);
    curl_easy_setopt(curl, CURLOPT_CLOSESOCKETFUNCTION, close_noted);
    curl_easy_setopt(curl, CURLOPT_CLOSESOCKETDATA, sockets);
}

void transfer_hear(struct transfer_watch *watch)
{
    watch->heard_us = clock_real_mono_us();
}

static int64_t left_ms(int64_t limit_ms, int64_t since_us)
{
    return limit_ms - (clock_real_mono_us() - since_us) / MS_HAS_US;
}

/* We say no more, and listen. A request that was not sent whole fails by that, and has done
 * nothing. The connection is of no further use. False: there is none. */
static bool hang_up(CURL *curl, struct transfer_watch *watch)
{
    bool listens = false;
    watch->last_us = clock_real_mono_us();
    watch->sockets->hung_up = true;
    curl_easy_setopt(curl, CURLOPT_FORBID_REUSE, 1L);
    for (size_t i = 0; i < watch->sockets->count; i++) {
        listens = shutdown(watch->sockets->at[i], SHUT_WR) == 0 || listens;
    }
    return listens;
}

/* False: the transfer is to be given up. */
static bool wait_for_more(CURLM *multi, CURL *curl, struct transfer_watch *watch)
{
    bool may_stop = watch->stop != NULL && watch->last_us == 0;
    struct curl_waitfd other = {.fd = may_stop ? *watch->stop : -1, .events = CURL_WAIT_POLLIN};
    int64_t idle_ms = watch->idle_ms == 0 ? POLL_MS : left_ms(watch->idle_ms, watch->heard_us);
    int64_t last_ms = watch->last_us == 0 ? POLL_MS : left_ms(watch->last_ms, watch->last_us);
    int64_t wait_ms = MIN(MIN(idle_ms, last_ms), POLL_MS);
    watch->stalled = idle_ms <= 0;
    if (wait_ms <= 0) {
        return false;
    }
    curl_multi_poll(multi, &other, may_stop ? 1 : 0, (int)wait_ms, NULL);
    bool stop = (other.revents & CURL_WAIT_POLLIN) != 0;
    return !stop || (watch->last_ms > 0 && hang_up(curl, watch));
}

static CURLcode outcome(CURLM *multi)
{
    CURLcode code = CURLE_ABORTED_BY_CALLBACK;
    const CURLMsg *message;
    int left;
    while ((message = curl_multi_info_read(multi, &left)) != NULL) {
        code = message->msg == CURLMSG_DONE ? message->data.result : code;
    }
    return code;
}

CURLcode transfer_drive(CURLM *multi, CURL *curl, struct transfer_watch *watch)
{
    int running = 1;
    bool go_on = true;
    transfer_hear(watch);
    assert(watch->last_ms == 0 || watch->sockets != NULL);
    if (watch->sockets != NULL) {
        watch->sockets->hung_up = false;
    }
    curl_multi_add_handle(multi, curl);
    while (curl_multi_perform(multi, &running) == CURLM_OK && running > 0 && go_on) {
        go_on = wait_for_more(multi, curl, watch);
    }
    watch->stalled = watch->stalled && running > 0;
    CURLcode code = outcome(multi);
    curl_multi_remove_handle(multi, curl);
    return code;
}
