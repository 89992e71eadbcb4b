/* client/redis.h: what we ask of Redis: commands in pipelines, Lua scripts, channels.
 *
 * Every command has REDIS_COMMAND_MS to be answered (tests are more patient). The first failure
 * opens the circuit: calls then fail at once, while a thread of the client's own tries to connect,
 * pausing a little longer each time; as soon as Redis answers there, the circuit closes by itself.
 * So a caller is held up once, never again and again. An answer that is an error (out of memory,
 * read only, loading, …) is a failure like any other: the house sends no command that a healthy
 * Redis refuses. Behind the address may be one Redis or a cluster (redis_cluster.h): each command
 * goes where its key is.
 *
 * Passwords appear in no log line and no error.
 *
 * Thread: a struct redis and its replies belong to one thread; several may each have their own. A
 * subscriber is opened and closed by one thread and calls back on its own.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_CLIENT_REDIS_H
#define ERRAND_CLIENT_REDIS_H

#include "base/arena.h"
#include "base/err.h"
#include "client/tls.h"

#define REDIS_COMMAND_MS   250             /* for one command of a pipeline */
#define REDIS_CONNECT_MS   1000            /* to connect, and as much for each greeting */
#define REDIS_SILENCE_MS   (5 * SECOND_MS) /* a subscriber that hears no more for this long */
#define REDIS_PAUSE_MIN_MS 50         /* between two attempts to connect: doubled each time … */
#define REDIS_PAUSE_MAX_MS 1000       /* … up to here; a random half of it is left out */
#define REDIS_PIPELINE_MAX (64 * MIB) /* bytes of commands sent together */

/* redis://[[USER]:PASSWORD@]HOST[:PORT][/DB], user and password %-encoded; rediss:// is the same
 * over TLS. */
struct redis_url {
    bool tls;
    struct str host; /* all texts are followed by a NUL */
    uint16_t port;
    struct str user, password; /* absent: none */
    uint64_t db;
};
MUST_CHECK bool redis_url_parse(struct str url, struct arena *arena, struct redis_url *out,
                                struct err *err);

/* ---- A connection ---- */

struct redis;

struct redis_options {
    struct str url;
    struct tls_files tls; /* of rediss:// */
    struct str probe_key; /* given: a circuit closes only if this key can be written, so a Redis
                             that is full or read only counts as away. In a cluster, commands
                             without a key go to the server that has it */
    int64_t command_ms;   /* 0: REDIS_COMMAND_MS */
};

/* Begins to connect and does not wait for it: only a bad url or file is an error. */
MUST_CHECK bool redis_open(const struct redis_options *options, struct redis **out,
                           struct err *err);
void redis_close(struct redis *redis); /* NULL is welcome */

bool redis_away(struct redis *redis);                   /* is the circuit open? Never waits */
bool redis_wait(struct redis *redis, int64_t limit_ms); /* until it is closed; false: still open */
/* Has it connected since this was asked last? *identity is then that of the data there: another one
 * after a restart, and where a replica was promoted, which may lack what the former server had
 * acknowledged. "": it does not say. */
bool redis_connected(struct redis *redis, struct str *identity);

/* ---- Commands ---- */

enum redis_kind { REDIS_NOTHING, REDIS_TEXT, REDIS_NUMBER, REDIS_LIST };

struct redis_reply {
    enum redis_kind kind;
    int64_t number;  /* of a NUMBER; how many of a LIST */
    struct str text; /* of a TEXT */
    struct redis_reply *items;
};

/* A script is sent by its SHA-1, and whole when Redis has not seen it. */
struct redis_script {
    struct str text; /* borrowed */
    char sha[41];
    bool
        many_keys; /* it touches others of its slot: of no use while that is on its way elsewhere */
};
void redis_script_init(struct redis_script *script, struct str text);

/* Puts a command into the pipeline. Its texts are borrowed until redis_run(). */
void redis_add(struct redis *redis, const struct str *words, size_t count);
#define REDIS_ADD(redis, ...)                                                                      \
    redis_add((redis), (const struct str[]){__VA_ARGS__},                                          \
              ARRAY_LEN(((const struct str[]){__VA_ARGS__})))
void redis_add_script(struct redis *redis, const struct redis_script *script, struct str key,
                      const struct str *words, size_t count); /* KEYS[1] and ARGV */

/* Sends the pipeline and waits for its answers: as many as there were commands, in `arena`. The
 * pipeline is empty afterwards, whatever happened. When it fails some commands may have been
 * carried out. */
MUST_CHECK bool redis_run(struct redis *redis, struct arena *arena, struct redis_reply **out,
                          struct err *err);

MUST_CHECK bool redis_publish(struct redis *redis, struct str channel, struct str message,
                              struct err *err);

/* ---- Channels ---- */

struct redis_subscriber;

typedef void redis_message_fn(void *arg, struct str channel, struct str message);
/* Up: from now on every message is heard. Down: some may be missed. */
typedef void redis_state_fn(void *arg, bool up);

struct redis_subscription {
    struct str url;
    struct tls_files tls;
    struct str home_key; /* in a cluster: it listens at the server that has this key */
    const struct str *channels;
    size_t channels_count;
    redis_message_fn *message;
    redis_state_fn *state; /* NULL: nobody asks */
    void *arg;
};
MUST_CHECK bool redis_subscribe(const struct redis_subscription *subscription,
                                struct redis_subscriber **out, struct err *err);
void redis_unsubscribe(struct redis_subscriber *subscriber); /* waits for its thread; NULL is
                                                                welcome */

#endif
