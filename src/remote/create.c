/* remote/create.c: errand_create(): at the server, or else in the spool. See errand/client.h.
 *
 * Every create has an idempotency key, ours if the caller gave none: a call that broke may have
 * arrived, and is said again.
 *
 * Thread: any.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "base/clock.h"
#include "remote/remote.h"
#include "wire/json.h"

#define KEY_BYTES 16

struct creation {
    const char *type, *payload;
    struct errand_order order;
    char key[2 * KEY_BYTES + 1];
};

static void make_key(char key[2 * KEY_BYTES + 1])
{
    struct rand rand;
    unsigned char bytes[KEY_BYTES];
    rand_init(&rand);
    rand_bytes(&rand, bytes, sizeof bytes);
    for (size_t i = 0; i < sizeof bytes; i++) {
        snprintf(key + 2 * i, 3, "%02x", bytes[i]);
    }
}

/* An older program has a shorter struct: what it does not know keeps its default. */
static struct errand_order order_of(const struct errand_order *given)
{
    struct errand_order order = ERRAND_ORDER;
    if (given != NULL) {
        memcpy(&order, given, MIN(given->size, sizeof order));
    }
    return order;
}

static int put_into_spool(errand_client *client, const struct creation *creation,
                          struct errand_error *error)
{
    SCOPED(buf_fini) struct buf body = BUF_INIT(REMOTE_ORDER_MAX);
    struct err err = ERR_INIT;
    if (!order_write(&body, creation->type, creation->payload, &creation->order, creation->key,
                     clock_real_wall_ms(), &err) ||
        !spool_add(client->spool, buf_view(&body), &err)) {
        return fail_with(error, &err);
    }
    keeper_note(client, &(struct note){.kind = NOTE_LOOK});
    return ERRAND_SPOOLED;
}

static int take_id(struct str task, char *id, struct arena *arena)
{
    struct str text = json_find_str(task, "id", arena);
    if (id != NULL) {
        snprintf(id, ERRAND_ID_SIZE, STR_FMT, STR_ARG(text));
    }
    return ERRAND_CREATED;
}

static int refuse(struct errand_error *error, const struct reply *reply)
{
    if (error != NULL) {
        *error = reply->error;
    }
    return -1;
}

/* Asks until there is an answer; without one the spool takes it, or patience ends. */
static int send_order(errand_client *client, const struct creation *creation, struct str body,
                      char *id, struct arena *arena, struct errand_error *error)
{
    const struct question question = {
        .path = "/api/tasks", .body = body, .limit_ms = REMOTE_CALL_MS};
    struct backoff backoff = {client->backoff_min_ms, client->backoff_max_ms, 0};
    int64_t until_ms = mono_ms() + client->patience_ms;
    struct rand rand;
    rand_init(&rand);
    for (;;) {
        struct reply reply;
        enum told told = ask(client, &question, arena, &reply);
        if (told == TOLD_YES) {
            return take_id(reply.body, id, arena);
        }
        if (told == TOLD_AWAY && client->spool != NULL) {
            return put_into_spool(client, creation, error);
        }
        int64_t pause_ms = backoff_next(&backoff, &rand, reply.retry_after_ms);
        if (told == TOLD_NO || mono_ms() + pause_ms > until_ms || !pause_for(client, pause_ms)) {
            return refuse(error, &reply);
        }
    }
}

int errand_create(errand_client *client, const char *type, const char *payload,
                  const struct errand_order *order, char id[ERRAND_ID_SIZE],
                  struct errand_error *error)
{
    SCOPED(buf_fini) struct buf body = BUF_INIT(REMOTE_ORDER_MAX);
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct creation creation = {.type = type, .payload = payload, .order = order_of(order)};
    struct err err = ERR_INIT;
    make_key(creation.key);
    if (id != NULL) {
        id[0] = '\0';
    }
    if (client->spool != NULL && !spool_empty(client->spool)) {
        return put_into_spool(client, &creation, error);
    }
    if (!order_write(&body, type, payload, &creation.order, creation.key, -1, &err)) {
        return fail_with(error, &err);
    }
    return send_order(client, &creation, buf_view(&body), id, &arena, error);
}
