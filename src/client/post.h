/* client/post.h: one POST to an address that somebody else chose.
 *
 * The guard looks at every address a connection is made to (guard.h). Redirects are not followed,
 * no proxy stands between, the answer is read up to a limit.
 *
 * Thread: the caller's, which it blocks.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_CLIENT_POST_H
#define ERRAND_CLIENT_POST_H

#include "base/arena.h"
#include "base/err.h"

#define POST_CONNECT_MS      (10 * SECOND_MS)
#define POST_TOTAL_MS        (30 * SECOND_MS)
#define POST_ANSWER_MAX      (64 * KIB)
#define POST_RETRY_AFTER_MAX (24 * HOUR_MS)

struct post_header {
    const char *name;
    struct str value; /* no line ends: they would be refused */
};

struct post {
    struct str url;
    const struct post_header *headers;
    size_t headers_count;
    struct str body;
    bool allow_private; /* this machine and private networks are fine too */
    const int *stop;    /* a descriptor: given up once it can be read; NULL: none */
};

struct post_answer {
    int status;
    struct str body;        /* in the arena; what is beyond the limit is left out */
    int64_t retry_after_ms; /* 0: it did not say */
};

/* True when there was an answer, whatever its status.
 *   ERR_INVALID      no http or https address, or a header with a line end
 *   ERR_REFUSED      the guard does not let us go there
 *   ERR_UNAVAILABLE  nobody answered in time, or it was given up */
MUST_CHECK bool post_send(const struct post *post, struct arena *arena, struct post_answer *out,
                          struct err *err);

#endif
