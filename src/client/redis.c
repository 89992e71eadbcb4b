/* client/redis.c: pipelines, scripts and the circuit. See redis.h.
 *
 * `servers` are the circuit: connections while it is closed, NULL while it is open and the probe
 * looks for new ones.
 *
 * Thread: the owner's.
 *
 * SPDX-License-Identifier: MIT */
#include "client/redis.h"

#include <openssl/sha.h>
#include <stdio.h>

#include "base/array.h"
#include "base/log.h"
#include "client/redis_probe.h"

struct command {
    const struct str *words;
    size_t count;
    const struct redis_script *script; /* then words are its arguments */
    struct str key;                    /* absent: the home has it */
};

/* What an answer asks for. */
enum answer { ANSWER_FINE, ANSWER_UNKNOWN_SCRIPT, ANSWER_ELSEWHERE };

struct redis {
    struct redis_probe probe;
    struct redis_cluster *servers;
    bool connected; /* and nobody has asked since */
    struct command *commands;
    size_t count, room;
    struct arena words; /* of the commands */
    int64_t command_ms; /* for each to be answered */
};

/* ---- Life ---- */

bool redis_open(const struct redis_options *options, struct redis **out, struct err *err)
{
    struct redis *redis = mem_new(struct redis);
    redis->probe.stop_fd = redis->probe.done_fd = -1;
    if (!redis_place_open(options->url, &options->tls, &redis->probe.place, err) ||
        !redis_probe_init(&redis->probe, err)) {
        redis_close(redis);
        return false;
    }
    redis->command_ms = options->command_ms != 0 ? options->command_ms : REDIS_COMMAND_MS;
    redis->probe.probe_key = arena_str(&redis->probe.place.texts, options->probe_key);
    redis_probe_start(&redis->probe);
    *out = redis;
    return true;
}

void redis_close(struct redis *redis)
{
    if (redis == NULL) {
        return;
    }
    redis_probe_fini(&redis->probe);
    redis_cluster_close(redis->servers);
    arena_fini(&redis->words);
    mem_free(redis->commands);
    mem_free(redis);
}

/* ---- The circuit ---- */

static void open_circuit(struct redis *redis, const char *why)
{
    log_warn("redis " STR_FMT ":%u: %s; going on without it", STR_ARG(redis->probe.place.url.host),
             redis->probe.place.url.port, why);
    redis_cluster_close(redis->servers);
    redis->servers = NULL;
    redis_probe_start(&redis->probe);
}

static void close_circuit(struct redis *redis, struct redis_cluster *found)
{
    log_info("redis " STR_FMT ":%u answers%s", STR_ARG(redis->probe.place.url.host),
             redis->probe.place.url.port, found->owners != NULL ? ", a cluster" : "");
    redis->servers = found;
    redis->connected = true;
}

/* A connection that was closed while nobody used it is no failure: nothing was sent, and a Redis
 * that was restarted answers at once. */
bool redis_away(struct redis *redis)
{
    if (redis->servers != NULL && redis_cluster_ended(redis->servers)) {
        open_circuit(redis, "it closed the connection");
    }
    struct redis_cluster *found = redis->servers == NULL ? redis_probe_take(&redis->probe) : NULL;
    if (found != NULL) {
        close_circuit(redis, found);
    }
    return redis->servers == NULL;
}

bool redis_connected(struct redis *redis, struct str *identity)
{
    bool connected = redis->connected && redis->servers != NULL;
    if (connected) {
        *identity = str_of(redis->servers->identity);
        redis->connected = false;
    }
    return connected;
}

bool redis_wait(struct redis *redis, int64_t limit_ms)
{
    if (redis_away(redis)) {
        redis_probe_wait(&redis->probe, limit_ms);
    }
    return !redis_away(redis);
}

/* ---- Commands ---- */

void redis_script_init(struct redis_script *script, struct str text)
{
    unsigned char digest[SHA_DIGEST_LENGTH];
    SHA1((const unsigned char *)text.ptr, text.len, digest);
    *script = (struct redis_script){.text = text};
    for (size_t i = 0; i < sizeof digest; i++) {
        snprintf(script->sha + 2 * i, 3, "%02x", digest[i]);
    }
}

static void add(struct redis *redis, struct command command)
{
    struct str *words = arena_array(&redis->words, struct str, command.count);
    for (size_t i = 0; i < command.count; i++) {
        words[i] = command.words[i];
    }
    command.words = words;
    *ARRAY_PUSH(redis->commands, redis->count, redis->room) = command;
}

/* The key is the first argument of a command, except of these. */
static bool has_key(struct str verb)
{
    static const char *const without[] = {"PUBLISH", "SCAN", "PING", "ECHO"};
    for (size_t i = 0; i < ARRAY_LEN(without); i++) {
        if (str_is(verb, without[i])) {
            return false;
        }
    }
    return true;
}

void redis_add(struct redis *redis, const struct str *words, size_t count)
{
    struct str key = count > 1 && has_key(words[0]) ? words[1] : STR_NONE;
    add(redis, (struct command){.words = words, .count = count, .key = key});
}

void redis_add_script(struct redis *redis, const struct redis_script *script, struct str key,
                      const struct str *words, size_t count)
{
    add(redis, (struct command){.script = script, .key = key, .words = words, .count = count});
}

static void add_to_wire(struct redis_wire *wire, const struct command *command, bool whole,
                        struct arena *arena)
{
    if (command->script == NULL) {
        redis_wire_add(wire, command->words, command->count);
        return;
    }
    struct str *words = arena_array(arena, struct str, 4 + command->count);
    words[0] = whole ? STR("EVAL") : STR("EVALSHA");
    words[1] = whole ? command->script->text : str_of(command->script->sha);
    words[2] = STR("1");
    words[3] = command->key;
    for (size_t i = 0; i < command->count; i++) {
        words[4 + i] = command->words[i];
    }
    redis_wire_add(wire, words, 4 + command->count);
}

static struct redis_reply copy_reply(const redisReply *from, struct arena *arena)
{
    struct redis_reply to = {.kind = REDIS_NOTHING};
    switch (from->type) {
    case REDIS_REPLY_STRING:
    case REDIS_REPLY_STATUS:
    case REDIS_REPLY_ERROR:
        to.kind = REDIS_TEXT;
        to.text = arena_str(arena, (struct str){from->str, from->len});
        break;
    case REDIS_REPLY_INTEGER:
        to.kind = REDIS_NUMBER;
        to.number = from->integer;
        break;
    case REDIS_REPLY_ARRAY:
        to.kind = REDIS_LIST;
        to.number = (int64_t)from->elements;
        to.items = arena_array(arena, struct redis_reply, from->elements);
        for (size_t i = 0; i < from->elements; i++) {
            to.items[i] = copy_reply(from->element[i], arena);
        }
        break;
    }
    return to;
}

static bool read_answer(const struct redis *redis, struct redis_wire *wire,
                        const struct command *command, struct arena *arena, struct redis_reply *out,
                        enum answer *answer, struct err *err)
{
    SCOPED(redis_wire_free) redisReply *reply = NULL;
    if (!redis_wire_next(wire, redis->command_ms, &reply, err)) {
        return false;
    }
    *answer = ANSWER_FINE;
    if (reply->type == REDIS_REPLY_ERROR) {
        struct str code = redis_wire_code(reply);
        /* Where a slot is on its way, a script that touches keys beside its own would find some of
         * them on neither side, and make others anew where the old ones are still to come. */
        bool many = command->script != NULL && command->script->many_keys;
        bool elsewhere = str_is(code, "MOVED") || (str_is(code, "ASK") && !many);
        *answer = str_is(code, "NOSCRIPT") ? ANSWER_UNKNOWN_SCRIPT
                  : elsewhere              ? ANSWER_ELSEWHERE
                                           : ANSWER_FINE;
        out->text = arena_str(arena, (struct str){reply->str, reply->len});
        return *answer != ANSWER_FINE ||
               err_set(err, ERR_UNAVAILABLE, "it says " STR_FMT, STR_ARG(code));
    }
    *out = copy_reply(reply, arena);
    return true;
}

/* What was not carried out is sent again, in its order: to the server that has the slot now, or
 * will have it, and scripts whole, the first of each kind teaches it. */
static bool ask_again(struct redis *redis, const struct command *command, struct arena *arena,
                      struct redis_reply *out, enum answer answer, struct err *err)
{
    struct redis_wire *wire = redis_cluster_wire(redis->servers, command->key);
    bool asks = false;
    if (answer == ANSWER_ELSEWHERE &&
        (wire = redis_cluster_follow(redis->servers, wire, out->text, &asks)) == NULL) {
        return err_set(err, ERR_UNAVAILABLE, "it leads to a server that is not known");
    }
    if (asks) {
        static const struct str word = {"ASKING", 6};
        static const struct command asking = {.words = &word, .count = 1};
        add_to_wire(wire, &asking, false, arena);
    }
    add_to_wire(wire, command, true, arena);
    struct redis_reply granted;
    enum answer ignored;
    return (!asks || read_answer(redis, wire, command, arena, &granted, &ignored, err)) &&
           read_answer(redis, wire, command, arena, out, &answer, err) &&
           (answer == ANSWER_FINE ||
            err_set(err, ERR_UNAVAILABLE, "it says " STR_FMT, STR_ARG(out->text)));
}

static bool read_answers(struct redis *redis, struct arena *arena, struct redis_reply *out,
                         struct err *err)
{
    enum answer *answers = arena_array(arena, enum answer, redis->count);
    for (size_t i = 0; i < redis->count; i++) {
        const struct command *command = &redis->commands[i];
        struct redis_wire *wire = redis_cluster_wire(redis->servers, command->key);
        if (!read_answer(redis, wire, command, arena, &out[i], &answers[i], err)) {
            return false;
        }
    }
    for (size_t i = 0; i < redis->count; i++) {
        if (answers[i] != ANSWER_FINE &&
            !ask_again(redis, &redis->commands[i], arena, &out[i], answers[i], err)) {
            return false;
        }
    }
    return true;
}

/* All servers begin to work before the first is waited for. */
static bool send_all(const struct redis *redis, struct arena *arena, struct err *err)
{
    const struct redis_cluster *servers = redis->servers;
    for (size_t i = 0; i < redis->count; i++) {
        const struct command *command = &redis->commands[i];
        add_to_wire(redis_cluster_wire(servers, command->key), command, false, arena);
    }
    for (size_t i = 0; i < servers->count; i++) {
        if (!redis_wire_send(servers->servers[i].wire, err)) {
            return false;
        }
    }
    return true;
}

bool redis_run(struct redis *redis, struct arena *arena, struct redis_reply **out, struct err *err)
{
    struct err why = ERR_INIT;
    size_t count = redis->count;
    bool fine = !redis_away(redis) || err_set(&why, ERR_UNAVAILABLE, "it is away");
    *out = arena_array(arena, struct redis_reply, count);
    if (fine) {
        fine = send_all(redis, arena, &why) && read_answers(redis, arena, *out, &why);
        if (fine) {
            redis->probe.failures = 0;
        } else {
            redis->probe.failures++;
            open_circuit(redis, why.text);
        }
    }
    redis->count = 0;
    arena_clear(&redis->words);
    return fine || err_set(err, ERR_UNAVAILABLE, "redis: %s", why.text);
}

bool redis_publish(struct redis *redis, struct str channel, struct str message, struct err *err)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct redis_reply *replies;
    const struct str words[] = {STR("PUBLISH"), channel, message};
    redis_add(redis, words, ARRAY_LEN(words));
    return redis_run(redis, &arena, &replies, err);
}
