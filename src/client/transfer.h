/* client/transfer.h: one libcurl transfer, driven so that it can be given up.
 *
 * Thread: whoever owns the handles.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_CLIENT_TRANSFER_H
#define ERRAND_CLIENT_TRANSFER_H

#include <curl/curl.h>

#include "base/def.h"

/* What ends a transfer from our side, beside libcurl's own limits. */
struct transfer_watch {
    const int *stop;  /* a descriptor: given up once it can be read; NULL: none */
    int64_t idle_ms;  /* given up when nothing came for this long; 0: silence is fine */
    int64_t heard_us; /* when something last came; transfer_hear() moves it */
    bool stalled;     /* out: idle_ms is why it ended */
};

/* Drives the transfer to its end. What has arrived when `stop` is seen is still taken: an answer
 * that is here must not be thrown away. CURLE_ABORTED_BY_CALLBACK: it was given up. */
CURLcode transfer_drive(CURLM *multi, CURL *curl, struct transfer_watch *watch);
void transfer_hear(struct transfer_watch *watch); /* for whoever receives the bytes */

/* For CURLOPT_OPENSOCKETFUNCTION: programs that are started beside a call must not have its
 * connection, which may be logged in. */
curl_socket_t transfer_open_socket(void *arg, curlsocktype purpose, struct curl_sockaddr *address);

#endif
