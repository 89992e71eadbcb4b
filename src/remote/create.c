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

/* ---- A create, as the server wants it ---- */

static void put_if(struct json_writer *w, const char *key, const char *value)
{
    if (value != NULL) {
        json_put_c(w, key, value);
    }
}

static void put_number_if(struct json_writer *w, const char *key, int64_t value)
{
    if (value >= 0) {
        json_put_i64(w, key, value);
    }
}

static bool put_fields(struct json_writer *w, const char *fields, struct err *err)
{
    struct arena arena = ARENA_INIT;
    struct json json;
    struct str key, value;
    json_start(&json, str_of(fields), &arena);
    bool ok = json_enter_object(&json, err);
    while (ok && json_member(&json, &key, err)) {
        ok = json_raw(&json, &value, err);
        if (ok) {
            json_key_str(w, key);
            json_add_raw(w, value);
        }
    }
    ok = ok && json_end(&json, err);
    arena_fini(&arena);
    return ok || err_wrap(err, "order.fields");
}

bool order_write(struct buf *out, const char *type, const char *payload,
                 const struct errand_order *order, const char *key, int64_t wall_ms,
                 struct err *err)
{
    struct json_writer w = JSON_WRITER(out);
    if (payload != NULL && !json_valid(str_of(payload), err)) {
        return err_wrap(err, "the payload is not JSON");
    }
    json_open_object(&w);
    json_put_c(&w, "taskType", type);
    if (payload != NULL) {
        json_put_raw(&w, "payload", str_of(payload));
    }
    json_put_c(&w, "idempotencyKey", order->key != NULL ? order->key : key);
    put_if(&w, "queue", order->queue);
    put_if(&w, "documentId", order->document);
    put_if(&w, "priority", order->priority);
    put_if(&w, "scheduledAt", order->at);
    if (order->delay_ms >= 0 && wall_ms >= 0) {
        json_put_time(&w, "scheduledAt", wall_ms + order->delay_ms);
    } else {
        put_number_if(&w, "delayMs", order->delay_ms);
    }
    put_number_if(&w, "timeoutMs", order->timeout_ms);
    put_number_if(&w, "maxRetries", order->max_retries);
    if (order->fields != NULL && !put_fields(&w, order->fields, err)) {
        return false;
    }
    json_close_object(&w);
    return !out->full || err_set(err, ERR_TOO_LARGE, "the task is too long");
}

/* ---- At the server, or else in the spool ---- */

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
            struct str text = json_find_str(reply.body, "id", arena);
            if (id != NULL) {
                snprintf(id, ERRAND_ID_SIZE, STR_FMT, STR_ARG(text));
            }
            return ERRAND_CREATED;
        }
        if (told == TOLD_AWAY && client->spool != NULL) {
            return put_into_spool(client, creation, error);
        }
        int64_t pause_ms = backoff_next(&backoff, &rand, reply.retry_after_ms);
        if (told == TOLD_NO || mono_ms() + pause_ms > until_ms || !pause_for(client, pause_ms)) {
            if (error != NULL) {
                *error = reply.error;
            }
            return -1;
        }
    }
}

int errand_create(errand_client *client, const char *type, const char *payload,
                  const struct errand_order *order, char id[ERRAND_ID_SIZE],
                  struct errand_error *error)
{
    SCOPED(buf_fini) struct buf body = BUF_INIT(REMOTE_ORDER_MAX);
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct creation creation = {.type = type, .payload = payload, .order = ERRAND_ORDER};
    struct err err = ERR_INIT;
    make_key(creation.key);
    if (order != NULL) { /* of an older program it is shorter: the rest keeps its default */
        memcpy(&creation.order, order, MIN(order->size, sizeof creation.order));
    }
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
