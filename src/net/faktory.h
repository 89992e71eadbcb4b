/* net/faktory.h: the listener for clients of Faktory: jobs are ordinary tasks.
 *
 * Speaks the work protocol (wire/faktory.h) on connections of a server of its own, on the same loop
 * and through the same engine as HTTP: what is pushed here is seen there, and a worker of either
 * kind may take what a producer of either kind brought. Translates; decides nothing. What users can
 * rely on is told in docs/clients.md.
 *
 * Start it behind the api: faktory_start(), server_start() with faktory_protocol and the faktory as
 * its `arg`, faktory_open(). Stop the server first, free it after the loop has ended.
 *
 * Thread: net loop.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_NET_FAKTORY_H
#define ERRAND_NET_FAKTORY_H

#include "net/api.h"
#include "net/protocol.h"

#define FAKTORY_LINE_DEFAULT        (16 * MIB)
#define FAKTORY_CONNECTIONS_DEFAULT 5000
#define FAKTORY_HANDSHAKE_MS        (2 * SECOND_MS)
#define FAKTORY_FETCH_MS            ((int64_t)1900)  /* one client waits no longer than 2 s */
#define FAKTORY_BEAT_MS             (60 * SECOND_MS) /* a worker that is silent for longer is gone */

struct faktory;
extern const struct protocol faktory_protocol;

struct faktory_options {
    struct api *api;        /* borrowed */
    struct str password;    /* absent: anybody may come in; borrowed */
    size_t line_max;        /* bytes of one command */
    size_t connections_max; /* beyond it HELLO is refused */
    bool flush;             /* whether FLUSH is allowed */
};
struct faktory *faktory_start(const struct faktory_options *options, uv_loop_t *loop);
void faktory_stop(struct faktory *faktory); /* before the loop ends; NULL is welcome */
void faktory_free(struct faktory *faktory); /* after; NULL is welcome */

/* What a client with this password answers to a salt: 64 hex digits and a NUL. */
#define FAKTORY_HASH_TEXT 65
void faktory_hash(struct str password, struct str salt, int64_t rounds,
                  char out[static FAKTORY_HASH_TEXT]);

#endif
