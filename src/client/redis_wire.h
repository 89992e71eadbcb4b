/* client/redis_wire.h: one connection to Redis: bytes out, answers in. For the files of redis.h.
 *
 * Thread: one at a time; a connection may be made by one thread and given to another.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_CLIENT_REDIS_WIRE_H
#define ERRAND_CLIENT_REDIS_WIRE_H

#include <hiredis/hiredis.h>

#include "base/buf.h"
#include "base/rand.h"
#include "client/redis.h"

struct redis_wire {
    redisContext *context;
    struct buf out;   /* bytes under way … */
    size_t sent;      /* … of which so much is gone */
    struct tls *tls;  /* NULL: plain, and `out` holds the commands themselves */
    struct buf plain; /* with TLS: commands that are not encrypted yet */
};

/* Where Redis is, and how it is spoken to. Belongs to whoever opened it; shared with the threads
 * that connect. */
struct redis_place {
    struct arena texts;
    struct redis_url url;
    struct tls_context *trust; /* NULL: plain */
};
MUST_CHECK bool redis_place_open(struct str url, const struct tls_files *tls,
                                 struct redis_place *out, struct err *err);
void redis_place_close(struct redis_place *place);

/* Connects, says who we are, chooses the database and asks for a sign of life. May wait for a name
 * to be resolved, so it is never called by a thread that others wait for. */
MUST_CHECK bool redis_wire_open(const struct redis_url *url, struct tls_context *trust,
                                struct redis_wire **out, struct err *err);
void redis_wire_close(struct redis_wire *wire); /* NULL is welcome */

void redis_wire_add(struct redis_wire *wire, const struct str *words, size_t count);
/* Sends what can be sent now; redis_wire_next() sends the rest. */
MUST_CHECK bool redis_wire_send(struct redis_wire *wire, struct err *err);
/* One command while connecting: its answer must not be an error. `what` is what it is for. */
MUST_CHECK bool redis_wire_greet(struct redis_wire *wire, const char *what, const struct str *words,
                                 size_t count, struct err *err);

/* The next answer, sending meanwhile what is still to be sent. An error answer is an answer. The
 * caller frees it with redis_wire_free(). */
MUST_CHECK bool redis_wire_next(struct redis_wire *wire, int64_t limit_ms, redisReply **out,
                                struct err *err);
/* Between two pipelines nothing is to be read but the end. */
bool redis_wire_ended(struct redis_wire *wire);
/* Waits for bytes, at most so long and no longer than until `stop_fd` can be read; -1: nobody
 * stops it. True: something came. */
bool redis_wire_poll(struct redis_wire *wire, int stop_fd, int64_t limit_ms);
void redis_wire_free(redisReply **reply); /* for SCOPED */

/* "OOM": the first word of an error answer. The rest may quote what was sent. */
struct str redis_wire_code(const redisReply *reply);

/* How long to wait before attempt n+1 when n have failed. */
int64_t redis_pause_ms(unsigned failures, struct rand *rand);
bool redis_stopped_within(int stop_fd, int64_t pause_ms); /* waits; true: told to stop */

#endif
