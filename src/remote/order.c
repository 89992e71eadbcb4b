/* remote/order.c: a create, as the server wants it. See remote.h.
 *
 * SPDX-License-Identifier: MIT */
#include "remote/remote.h"
#include "wire/json.h"

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

static void put_delay(struct json_writer *w, int64_t delay_ms, int64_t wall_ms)
{
    if (delay_ms >= 0 && wall_ms >= 0) {
        json_put_time(w, "scheduledAt", wall_ms + delay_ms);
    } else {
        put_number_if(w, "delayMs", delay_ms);
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
    put_delay(&w, order->delay_ms, wall_ms);
    put_number_if(&w, "timeoutMs", order->timeout_ms);
    put_number_if(&w, "maxRetries", order->max_retries);
    if (order->fields != NULL && !put_fields(&w, order->fields, err)) {
        return false;
    }
    json_close_object(&w);
    return !out->full || err_set(err, ERR_TOO_LARGE, "the task is too long");
}
