/* client/transfer.h: one libcurl transfer, driven so that it can be given up.
 *
 * Thread: whoever owns the handles.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_CLIENT_TRANSFER_H
#define ERRAND_CLIENT_TRANSFER_H

#include <curl/curl.h>

#include "base/def.h"

#define TRANSFER_SOCKETS_MAX 8 /* one is kept; while a name is tried out there are some more */

/* The connections of a handle that is used for one transfer after the other. libcurl does not tell
 * the socket of a transfer that is under way. */
struct transfer_sockets {
    curl_socket_t at[TRANSFER_SOCKETS_MAX];
    size_t count;
    bool hung_up; /* by the transfer under way */
};

/* What ends a transfer from our side, beside libcurl's own limits. */
struct transfer_watch {
    const int *stop; /* a descriptor: given up once it can be read; NULL: none */
    int64_t last_ms; /* but its answer is awaited for so long, see below; 0: it is not */
    int64_t last_us; /* since when that is */
    struct transfer_sockets *sockets; /* needed for `last_ms` */
    int64_t idle_ms;  /* given up when nothing came for this long; 0: silence is fine */
    int64_t heard_us; /* when something last came; transfer_hear() moves it */
    bool stalled;     /* out: idle_ms is why it ended */
};

/* Drives the transfer to its end. What has arrived when `stop` is seen is still taken: an answer
 * that is here must not be thrown away. Nor one that is on its way, where it gives something to us
 * alone: with `last_ms` our side of the connection is closed, which tells the other side to wait no
 * longer, and what it says is still read. CURLE_ABORTED_BY_CALLBACK: it was given up. */
CURLcode transfer_drive(CURLM *multi, CURL *curl, struct transfer_watch *watch);
void transfer_hear(struct transfer_watch *watch); /* for whoever receives the bytes */

/* For CURLOPT_OPENSOCKETFUNCTION: programs that are started beside a call must not have its
 * connection, which may be logged in. */
curl_socket_t transfer_open_socket(void *arg, curlsocktype purpose, struct curl_sockaddr *address);

/* Has the handle's connections noted; `sockets` lives longer than they do. */
void transfer_note_sockets(CURL *curl, struct transfer_sockets *sockets);

#endif
