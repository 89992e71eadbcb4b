/* client/redis_cluster.c: the servers behind one address. See redis_cluster.h.
 *
 * Thread: one at a time.
 *
 * SPDX-License-Identifier: MIT */
#include "client/redis_cluster.h"

#include <assert.h>
#include <stdio.h>

#include "base/mem.h"
#include "wire/uri.h"

#define CRC_POLYNOMIAL 0x1021 /* XMODEM */
#define NO_OWNER       UINT8_MAX

static_assert(REDIS_SERVERS_MAX < NO_OWNER, "a slot's owner is one byte");

/* ---- The rules of a cluster ---- */

static unsigned crc16(struct str text)
{
    unsigned crc = 0;
    for (size_t i = 0; i < text.len; i++) {
        crc ^= (unsigned)(unsigned char)text.ptr[i] << 8;
        for (int bit = 0; bit < 8; bit++) {
            crc = (crc & 0x8000) != 0 ? crc << 1 ^ CRC_POLYNOMIAL : crc << 1;
        }
        crc &= 0xFFFF;
    }
    return crc;
}

unsigned redis_slot(struct str key)
{
    const char *open = key.len == 0 ? NULL : memchr(key.ptr, '{', key.len);
    size_t at = open == NULL ? key.len : (size_t)(open - key.ptr) + 1;
    const char *close = at < key.len ? memchr(key.ptr + at, '}', key.len - at) : NULL;
    size_t len = close == NULL ? 0 : (size_t)(close - key.ptr) - at;
    return crc16(len == 0 ? key : (struct str){key.ptr + at, len}) % REDIS_SLOTS;
}

bool redis_moved_parse(struct str text, struct redis_moved *out)
{
    struct str rest = text, code = str_cut(&rest, ' '), slot = str_cut(&rest, ' ');
    uint64_t number, port;
    size_t colon = rest.len;
    while (colon > 0 && rest.ptr[colon - 1] != ':') {
        colon--;
    }
    bool asks = str_is(code, "ASK");
    if ((!asks && !str_is(code, "MOVED")) || !str_u64(slot, &number) || number >= REDIS_SLOTS ||
        colon == 0 || !str_u64(str_from(rest, colon), &port) || port == 0 || port > UINT16_MAX) {
        return false;
    }
    *out = (struct redis_moved){.slot = (unsigned)number,
                                .host = {rest.ptr, colon - 1},
                                .port = (uint16_t)port,
                                .asks = asks};
    return true;
}

/* ---- Seeds ---- */

static bool seed_is(const struct redis_seed *seed, struct str host, uint16_t port)
{
    return seed->port == port && str_is(host, seed->host);
}

static void seed_set(struct redis_seed *seed, struct str host, uint16_t port)
{
    snprintf(seed->host, sizeof seed->host, STR_FMT, STR_ARG(host));
    seed->port = port;
}

static bool open_seed(const struct redis_place *place, const struct redis_seed *seed,
                      struct redis_wire **out, struct err *err)
{
    struct redis_url url = place->url;
    url.host = str_of(seed->host);
    url.port = seed->port;
    return redis_wire_open(&url, place->trust, out, err) ||
           err_wrap(err, "%s:%u", seed->host, seed->port);
}

/* The address that we were given, then those of which we heard. What is wrong with the first is
 * told, if none answers. */
static bool open_any(const struct redis_place *place, const struct redis_seeds *seeds,
                     struct redis_seed *at, struct redis_wire **out, struct err *err)
{
    seed_set(at, place->url.host, place->url.port);
    bool fine = redis_wire_open(&place->url, place->trust, out, err);
    for (size_t i = 0; i < seeds->count && !fine; i++) {
        *at = seeds->at[i];
        fine = open_seed(place, at, out, NULL);
    }
    return fine;
}

/* ---- The map ---- */

static size_t server_of(struct redis_cluster *cluster, struct str host, uint16_t port)
{
    for (size_t i = 0; i < cluster->count; i++) {
        if (seed_is(&cluster->servers[i].at, host, port)) {
            return i;
        }
    }
    if (cluster->count < REDIS_SERVERS_MAX) {
        seed_set(&cluster->servers[cluster->count].at, host, port);
        return cluster->count++;
    }
    return NO_OWNER;
}

/* [HOST, PORT, …]: without a host it is where the question was asked. */
static bool read_server(const redisReply *reply, const struct redis_seed *asked, struct str *host,
                        uint16_t *port)
{
    if (reply->type != REDIS_REPLY_ARRAY || reply->elements < 2 ||
        reply->element[1]->type != REDIS_REPLY_INTEGER || reply->element[1]->integer < 1 ||
        reply->element[1]->integer > UINT16_MAX) {
        return false;
    }
    *host = (struct str){reply->element[0]->str, reply->element[0]->len};
    *host = host->len == 0 || str_is(*host, "?") ? str_of(asked->host) : *host;
    *port = (uint16_t)reply->element[1]->integer;
    return host->len < REDIS_HOST_MAX;
}

/* [FIRST, LAST, PRIMARY, REPLICA…]. All of them are seeds: a replica may be promoted. */
static bool read_range(struct redis_cluster *cluster, const redisReply *range,
                       const struct redis_seed *asked, struct redis_seeds *seeds)
{
    struct str host;
    uint16_t port;
    if (range->type != REDIS_REPLY_ARRAY || range->elements < 3 ||
        range->element[0]->type != REDIS_REPLY_INTEGER ||
        range->element[1]->type != REDIS_REPLY_INTEGER || range->element[0]->integer < 0 ||
        range->element[1]->integer >= REDIS_SLOTS ||
        !read_server(range->element[2], asked, &host, &port)) {
        return false;
    }
    size_t owner = server_of(cluster, host, port);
    for (long long slot = range->element[0]->integer; slot <= range->element[1]->integer; slot++) {
        cluster->owners[slot] = (uint8_t)owner;
    }
    for (size_t i = 2; i < range->elements; i++) {
        if (seeds->count < REDIS_SEEDS_MAX && read_server(range->element[i], asked, &host, &port)) {
            seed_set(&seeds->at[seeds->count++], host, port);
        }
    }
    return true;
}

/* Asks whether it is a cluster, and for its map. `seeds` are replaced if there is one. */
static bool read_map(struct redis_cluster *cluster, struct redis_wire *wire,
                     const struct redis_seed *asked, struct redis_seeds *seeds, struct err *err)
{
    SCOPED(redis_wire_free) redisReply *reply = NULL;
    const struct str words[] = {STR("CLUSTER"), STR("SLOTS")};
    redis_wire_add(wire, words, ARRAY_LEN(words));
    if (!redis_wire_next(wire, REDIS_CONNECT_MS, &reply, err)) {
        return false;
    }
    if (reply->type != REDIS_REPLY_ARRAY) {
        return true; /* it is none, or does not tell us: it serves alone */
    }
    cluster->owners = mem_alloc(REDIS_SLOTS);
    memset(cluster->owners, NO_OWNER, REDIS_SLOTS);
    bool fine = true;
    seeds->count = 0;
    for (size_t i = 0; i < reply->elements && fine; i++) {
        fine = read_range(cluster, reply->element[i], asked, seeds);
    }
    if (!fine) {
        return err_set(err, ERR_UNAVAILABLE, "its map of slots cannot be read");
    }
    if (cluster->count == REDIS_SERVERS_MAX && memchr(cluster->owners, NO_OWNER, REDIS_SLOTS)) {
        return err_set(err, ERR_UNAVAILABLE, "the cluster has more than %d primaries",
                       REDIS_SERVERS_MAX);
    }
    return memchr(cluster->owners, NO_OWNER, REDIS_SLOTS) == NULL ||
           err_set(err, ERR_UNAVAILABLE, "the cluster does not serve all of its slots");
}

/* ---- Opening ---- */

/* What changes when another server takes over, with less than the one before it had. */
static bool read_identity(struct redis_cluster *cluster, struct redis_wire *wire, struct err *err)
{
    SCOPED(redis_wire_free) redisReply *reply = NULL;
    const struct str words[] = {STR("INFO"), STR("replication")};
    static const char name[] = "master_replid:";
    redis_wire_add(wire, words, ARRAY_LEN(words));
    if (!redis_wire_next(wire, REDIS_CONNECT_MS, &reply, err)) {
        return false;
    }
    const char *found = reply->type == REDIS_REPLY_STRING ? strstr(reply->str, name) : NULL;
    if (found != NULL) {
        struct str rest = str_of(found + strlen(name)), value = str_chomp(str_cut(&rest, '\n'));
        snprintf(cluster->identity, sizeof cluster->identity, STR_FMT, STR_ARG(value));
    }
    return true;
}

static bool greet_home(struct redis_cluster *cluster, struct str home_key, struct err *err)
{
    struct redis_wire *wire = cluster->servers[cluster->home].wire;
    const struct str write[] = {STR("SET"), home_key, STR("1"), STR("PX"), STR("1000")};
    return str_absent(home_key) || (redis_wire_greet(wire, "write", write, ARRAY_LEN(write), err) &&
                                    read_identity(cluster, wire, err));
}

/* The map, and a connection to the one server if it is not a cluster. */
static bool begin(const struct redis_place *place, struct redis_seeds *seeds, struct str home_key,
                  struct redis_cluster *cluster, struct err *err)
{
    struct redis_seed at;
    struct redis_wire *wire = NULL;
    if (!open_any(place, seeds, &at, &wire, err)) {
        return false;
    }
    bool fine = read_map(cluster, wire, &at, seeds, err);
    if (fine && cluster->owners == NULL) {
        cluster->servers[0].at = at;
        cluster->servers[0].wire = wire;
        cluster->count = 1;
        return true;
    }
    cluster->home = !fine || str_absent(home_key) ? 0 : cluster->owners[redis_slot(home_key)];
    redis_wire_close(wire);
    return fine;
}

bool redis_cluster_open(const struct redis_place *place, struct redis_seeds *seeds,
                        struct str home_key, struct redis_cluster **out, struct err *err)
{
    struct redis_cluster *cluster = mem_new(struct redis_cluster);
    bool fine = begin(place, seeds, home_key, cluster, err);
    for (size_t i = 0; i < cluster->count && fine; i++) {
        struct redis_server_of *server = &cluster->servers[i];
        fine = server->wire != NULL || open_seed(place, &server->at, &server->wire, err);
    }
    if (!fine || !greet_home(cluster, home_key, err)) {
        redis_cluster_close(cluster);
        return false;
    }
    *out = cluster;
    return true;
}

bool redis_cluster_open_home(const struct redis_place *place, struct redis_seeds *seeds,
                             struct str home_key, struct redis_wire **out, struct err *err)
{
    struct redis_cluster *cluster = mem_new(struct redis_cluster);
    struct redis_server_of *home = &cluster->servers[0];
    bool fine = begin(place, seeds, home_key, cluster, err);
    if (fine) {
        home = &cluster->servers[cluster->home];
        fine = home->wire != NULL || open_seed(place, &home->at, &home->wire, err);
    }
    if (fine) {
        *out = home->wire;
        home->wire = NULL;
    }
    redis_cluster_close(cluster);
    return fine;
}

void redis_cluster_close(struct redis_cluster *cluster)
{
    if (cluster == NULL) {
        return;
    }
    for (size_t i = 0; i < cluster->count; i++) {
        redis_wire_close(cluster->servers[i].wire);
    }
    mem_free(cluster->owners);
    mem_free(cluster);
}

/* ---- Using it ---- */

struct redis_wire *redis_cluster_wire(const struct redis_cluster *cluster, struct str key)
{
    bool by_key = cluster->owners != NULL && !str_absent(key);
    return cluster->servers[by_key ? cluster->owners[redis_slot(key)] : cluster->home].wire;
}

struct redis_wire *redis_cluster_follow(struct redis_cluster *cluster,
                                        const struct redis_wire *said, struct str text, bool *asks)
{
    struct redis_moved moved;
    if (cluster->owners == NULL || !redis_moved_parse(text, &moved)) {
        return NULL;
    }
    for (size_t i = 0; i < cluster->count && moved.host.len == 0; i++) {
        moved.host =
            cluster->servers[i].wire == said ? str_of(cluster->servers[i].at.host) : moved.host;
    }
    for (size_t i = 0; i < cluster->count; i++) {
        if (seed_is(&cluster->servers[i].at, moved.host, moved.port)) {
            cluster->owners[moved.slot] = moved.asks ? cluster->owners[moved.slot] : (uint8_t)i;
            *asks = moved.asks;
            return cluster->servers[i].wire;
        }
    }
    return NULL;
}

bool redis_cluster_ended(struct redis_cluster *cluster)
{
    for (size_t i = 0; i < cluster->count; i++) {
        if (redis_wire_ended(cluster->servers[i].wire)) {
            return true;
        }
    }
    return false;
}
