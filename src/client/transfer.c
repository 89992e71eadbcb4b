/* client/transfer.c: one libcurl transfer, driven so that it can be given up. See transfer.h.
 *
 * SPDX-License-Identifier: MIT */
#include "client/transfer.h"

#include <sys/socket.h>

#include "base/clock.h"

#define POLL_MS   1000
#define MS_HAS_US 1000

curl_socket_t transfer_open_socket(void *arg, curlsocktype purpose, struct curl_sockaddr *address)
{
    (void)arg, (void)purpose;
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

void transfer_hear(struct transfer_watch *watch)
{
    watch->heard_us = clock_real_mono_us();
}

static int64_t idle_left_ms(const struct transfer_watch *watch)
{
    return watch->idle_ms == 0
               ? POLL_MS
               : watch->idle_ms - (clock_real_mono_us() - watch->heard_us) / MS_HAS_US;
}

/* False: the transfer is to be given up. */
static bool wait_for_more(CURLM *multi, struct transfer_watch *watch)
{
    struct curl_waitfd other = {.fd = watch->stop == NULL ? -1 : *watch->stop,
                                .events = CURL_WAIT_POLLIN};
    int64_t left_ms = idle_left_ms(watch);
    watch->stalled = left_ms <= 0;
    if (watch->stalled) {
        return false;
    }
    curl_multi_poll(multi, &other, watch->stop == NULL ? 0 : 1, (int)MIN(left_ms, POLL_MS), NULL);
    return (other.revents & CURL_WAIT_POLLIN) == 0;
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
    curl_multi_add_handle(multi, curl);
    while (curl_multi_perform(multi, &running) == CURLM_OK && running > 0 && go_on) {
        go_on = wait_for_more(multi, watch);
    }
    watch->stalled = watch->stalled && running > 0;
    CURLcode code = outcome(multi);
    curl_multi_remove_handle(multi, curl);
    return code;
}
