/* client/redis_cluster.h: the servers behind one address: one Redis, or the primaries of a cluster,
 * and which of them has a key. For the files of redis.h.
 *
 * A cluster is asked for its map when it is connected to. A slot that moves to a server that we
 * know is followed, and so is a key on its way there; any other change (a replica was promoted, a
 * server is gone) ends with the circuit, and the next connection reads the map anew, from any
 * server that was ever in it.
 *
 * Commands without a key (PUBLISH, SCAN) go to the *home*: the server that has the home key.
 *
 * Thread: one at a time; it may be made by one thread and given to another.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_CLIENT_REDIS_CLUSTER_H
#define ERRAND_CLIENT_REDIS_CLUSTER_H

#include "client/redis_wire.h"

#define REDIS_SLOTS        16384
#define REDIS_SERVERS_MAX  64  /* primaries of one cluster */
#define REDIS_SEEDS_MAX    64  /* servers remembered, replicas among them */
#define REDIS_HOST_MAX     256 /* with its NUL */
#define REDIS_IDENTITY_MAX 48

/* ---- The rules of a cluster: pure ---- */

unsigned redis_slot(struct str key); /* CRC16 of the key, or of what is between its first braces */

/* "MOVED 3999 10.0.0.7:6381", or ASK: the host may be empty, for the one that said it. */
struct redis_moved {
    unsigned slot;
    struct str host; /* points into the text */
    uint16_t port;
    bool asks; /* ASK: for this command alone, while the slot is on its way */
};
MUST_CHECK bool redis_moved_parse(struct str text, struct redis_moved *out);

/* ---- The servers ---- */

/* Where a cluster was last known to be: whoever connects again tries these, too. */
struct redis_seeds {
    struct redis_seed {
        char host[REDIS_HOST_MAX];
        uint16_t port;
    } at[REDIS_SEEDS_MAX];
    size_t count;
};

struct redis_cluster {
    struct redis_server_of {
        struct redis_seed at;
        struct redis_wire *wire;
    } servers[REDIS_SERVERS_MAX];
    size_t count;
    uint8_t *owners; /* by slot; NULL: one server has all */
    size_t home;
    char identity[REDIS_IDENTITY_MAX]; /* of the home's data: another one after a failover or a
                                          restart; "": it does not say */
};

/* As redis_wire_open(). `home_key` is written, so that a Redis that is full or read only counts as
 * away; absent: that is not asked, and the first server is the home. */
MUST_CHECK bool redis_cluster_open(const struct redis_place *place, struct redis_seeds *seeds,
                                   struct str home_key, struct redis_cluster **out,
                                   struct err *err);
void redis_cluster_close(struct redis_cluster *cluster); /* NULL is welcome */

/* The one connection to the home, for a subscriber. */
MUST_CHECK bool redis_cluster_open_home(const struct redis_place *place, struct redis_seeds *seeds,
                                        struct str home_key, struct redis_wire **out,
                                        struct err *err);

struct redis_wire *redis_cluster_wire(const struct redis_cluster *cluster, struct str key);
/* Follows a redirection: whom to ask, after ASKING where *asks. NULL: it leads to somebody we do
 * not know. */
struct redis_wire *redis_cluster_follow(struct redis_cluster *cluster,
                                        const struct redis_wire *said, struct str text, bool *asks);
bool redis_cluster_ended(struct redis_cluster *cluster); /* has a server closed its connection? */

#endif
