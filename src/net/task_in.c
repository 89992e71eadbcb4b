/* net/task_in.c: orders for new tasks, and changes of old ones, out of JSON. See task_in.h.
 *
 * SPDX-License-Identifier: MIT */
#include "net/task_in.h"

#include "net/fault.h"
#include "net/order_in.h"
#include "wire/base64.h"

static struct task *task_of(void *into)
{
    return &((struct order_in *)into)->order.task;
}

/* ---- Values ---- */

bool priority_of(struct str text, enum task_priority *out)
{
    if (text.len == 1 && text.ptr[0] >= '1' && text.ptr[0] <= '4') {
        *out = (enum task_priority)(text.ptr[0] - '0');
        return true;
    }
    return task_priority_parse(text, out);
}

bool read_priority(struct json *json, enum task_priority *out, struct err *err)
{
    struct str text = STR_NONE;
    bool number = json_peek(json) == JSON_NUMBER;
    if (!number && json_peek(json) != JSON_STRING) {
        return json_refuse(json, err, PRIORITY_RULE);
    }
    if (!(number ? json_raw(json, &text, err) : field_str(json, &text, err))) {
        return false;
    }
    bool known = number ? priority_of(text, out) : task_priority_parse(text, out);
    return known || json_refuse(json, err, PRIORITY_RULE);
}

#define COST_MAX 1e15 /* beyond it a double no longer counts by ones */

static bool set_estimated(struct json *json, void *into, struct err *err)
{
    return field_f64(json, 0, COST_MAX, &((struct task_cost *)into)->estimated, err);
}

static bool set_actual(struct json *json, void *into, struct err *err)
{
    return field_f64(json, 0, COST_MAX, &((struct task_cost *)into)->actual, err);
}

static bool set_tokens(struct json *json, void *into, struct err *err)
{
    return field_f64(json, 0, COST_MAX, &((struct task_cost *)into)->tokens, err);
}

static const struct field cost_table[] = {
    FIELD("estimated", set_estimated),
    FIELD("actual", set_actual),
    FIELD("tokens", set_tokens),
};

bool read_cost(struct json *json, struct task_cost *out, struct err *err)
{
    *out = TASK_COST_NONE;
    return json_take_null(json) || fields_inner(json, FIELDS(cost_table), "cost", out, err);
}

/* ---- The fields of an order ---- */

static bool set_type(struct json *json, void *into, struct err *err)
{
    return field_str(json, &task_of(into)->type, err);
}

static bool set_queue(struct json *json, void *into, struct err *err)
{
    return field_str(json, &task_of(into)->queue, err);
}

static bool set_document(struct json *json, void *into, struct err *err)
{
    ((struct order_in *)into)->has_document = true;
    return json_take_null(json) || field_str(json, &task_of(into)->document, err);
}

static bool set_key(struct json *json, void *into, struct err *err)
{
    return json_take_null(json) || field_str(json, &task_of(into)->key, err);
}

static bool take_payload(struct json *json, struct order_in *in, const char *field,
                         struct str bytes, struct err *err)
{
    if (in->has_payload) {
        return json_refuse(json, err, "must not be given beside the other form of the payload");
    }
    if (bytes.len > in->payload_max) {
        return fault_too_large(err, field, bytes.len, in->payload_max);
    }
    in->has_payload = true;
    in->order.task.payload = bytes;
    return true;
}

static bool set_payload(struct json *json, void *into, struct err *err)
{
    struct str raw;
    return json_raw(json, &raw, err) && take_payload(json, into, "payload", raw, err);
}

static bool set_payload_base64(struct json *json, void *into, struct err *err)
{
    struct str text, bytes;
    if (!field_str(json, &text, err)) {
        return false;
    }
    if (!base64_decode(text, json->arena, &bytes, NULL)) {
        return json_refuse(json, err, "must be base64 with padding");
    }
    task_of(into)->payload_raw = true;
    return take_payload(json, into, "payloadBase64", bytes, err);
}

static bool set_priority(struct json *json, void *into, struct err *err)
{
    return read_priority(json, &task_of(into)->priority, err);
}

static bool read_retries(struct json *json, int32_t *out, struct err *err)
{
    int64_t retries;
    if (!field_i64(json, 0, TASK_RETRIES_MAX, &retries, err)) {
        return false;
    }
    *out = (int32_t)retries;
    return true;
}

static bool set_max_retries(struct json *json, void *into, struct err *err)
{
    return read_retries(json, &task_of(into)->max_retries, err);
}

static bool set_timeout(struct json *json, void *into, struct err *err)
{
    return field_i64(json, 0, TASK_DURATION_MAX_MS, &task_of(into)->timeout_ms, err);
}

static bool set_scheduled(struct json *json, void *into, struct err *err)
{
    if (json_take_null(json)) {
        return true;
    }
    ((struct order_in *)into)->has_scheduled = true;
    return field_time(json, &task_of(into)->scheduled_ms, err);
}

static bool set_delay(struct json *json, void *into, struct err *err)
{
    struct order_in *in = into;
    return json_take_null(json) ||
           field_i64(json, 0, TASK_DURATION_MAX_MS, &in->order.delay_ms, err);
}

static bool set_expires(struct json *json, void *into, struct err *err)
{
    return json_take_null(json) || field_time(json, &task_of(into)->expires_ms, err);
}

static bool set_tags(struct json *json, void *into, struct err *err)
{
    struct task *task = task_of(into);
    struct texts texts = {NULL, 0};
    if (!json_take_null(json) && !field_texts(json, TASK_TAGS_MAX, &texts, err)) {
        return false;
    }
    for (size_t i = 0; i < texts.count; i++) {
        task->tags[i] = texts.at[i];
    }
    task->tags_count = texts.count;
    return true;
}

static bool set_metadata(struct json *json, void *into, struct err *err)
{
    if (json_take_null(json)) {
        return true;
    }
    if (json_peek(json) != JSON_OBJECT) {
        return json_refuse(json, err, "must be an object");
    }
    return json_raw(json, &task_of(into)->metadata, err);
}

static bool set_cost(struct json *json, void *into, struct err *err)
{
    return read_cost(json, &task_of(into)->cost, err);
}

/* ---- backoff ---- */

static bool set_base(struct json *json, void *into, struct err *err)
{
    return field_i64(json, 0, TASK_DURATION_MAX_MS, &((struct task_backoff *)into)->base_ms, err);
}

static bool set_max(struct json *json, void *into, struct err *err)
{
    return field_i64(json, 0, TASK_DURATION_MAX_MS, &((struct task_backoff *)into)->max_ms, err);
}

static bool set_factor(struct json *json, void *into, struct err *err)
{
    return json_f64(json, &((struct task_backoff *)into)->factor, err);
}

static bool set_jitter(struct json *json, void *into, struct err *err)
{
    return json_f64(json, &((struct task_backoff *)into)->jitter, err);
}

static const struct field backoff_table[] = {
    FIELD("baseMs", set_base),
    FIELD("factor", set_factor),
    FIELD("maxMs", set_max),
    FIELD("jitter", set_jitter),
};

static bool set_backoff(struct json *json, void *into, struct err *err)
{
    struct task_backoff *backoff = &task_of(into)->backoff;
    return fields_inner(json, FIELDS(backoff_table), "backoff", backoff, err);
}

/* ---- Relations ---- */

static bool set_ref(struct json *json, void *into, struct err *err)
{
    return field_text(json, 1, REF_MAX, &((struct order_in *)into)->ref, err);
}

static bool set_depends(struct json *json, void *into, struct err *err)
{
    return json_take_null(json) ||
           field_texts(json, DEPENDS_MAX, &((struct order_in *)into)->depends, err);
}

static bool set_children(struct json *json, void *into, struct err *err)
{
    if (json_take_null(json)) {
        return true;
    }
    if (json_peek(json) != JSON_ARRAY) {
        return json_refuse(json, err, "must be an array of tasks");
    }
    return json_raw(json, &((struct order_in *)into)->children, err);
}

static bool one_of(struct json *json, const char *no, const char *yes, bool *out, struct err *err)
{
    struct str text;
    if (!field_str(json, &text, err)) {
        return false;
    }
    *out = str_is(text, yes);
    return *out || str_is(text, no) || json_refuse(json, err, "must be %s or %s", no, yes);
}

static bool set_on_child_failure(struct json *json, void *into, struct err *err)
{
    return one_of(json, "stop", "continue", &task_of(into)->continues, err);
}

static bool set_on_dependency_failure(struct json *json, void *into, struct err *err)
{
    return one_of(json, "cancel", "run", &task_of(into)->runs_anyway, err);
}

static const struct field order_table[] = {
    FIELD("taskType", set_type),
    FIELD("payload", set_payload),
    FIELD("queue", set_queue),
    FIELD("documentId", set_document),
    FIELD("priority", set_priority),
    FIELD("idempotencyKey", set_key),
    FIELD("maxRetries", set_max_retries),
    FIELD("timeoutMs", set_timeout),
    FIELD("backoff", set_backoff),
    FIELD("scheduledAt", set_scheduled),
    FIELD("delayMs", set_delay),
    FIELD("expiresAt", set_expires),
    FIELD("tags", set_tags),
    FIELD("metadata", set_metadata),
    FIELD("payloadBase64", set_payload_base64),
    FIELD("cost", set_cost),
    FIELD("children", set_children),
    FIELD("dependsOn", set_depends),
    FIELD("ref", set_ref),
    FIELD("onChildFailure", set_on_child_failure),
    FIELD("onDependencyFailure", set_on_dependency_failure),
};

const struct fields order_fields = {order_table, ARRAY_LEN(order_table)};

void order_begin(struct order_in *in, size_t payload_max)
{
    *in = (struct order_in){
        .payload_max = payload_max,
        .order = {.delay_ms = -1,
                  .task = {.queue = STR("default"),
                           .priority = TASK_NORMAL,
                           .max_retries = TASK_MAX_RETRIES_DEFAULT,
                           .timeout_ms = TASK_TIMEOUT_DEFAULT_MS,
                           .backoff = TASK_BACKOFF_DEFAULT,
                           .progress = -1,
                           .cost = TASK_COST_NONE}},
    };
}

bool order_check(const struct order_in *in, struct err *err)
{
    if (str_absent(in->order.task.type)) {
        return err_field(err, "taskType", "taskType is required");
    }
    if (in->has_scheduled && in->order.delay_ms >= 0) {
        return err_field(err, "delayMs", "delayMs must not be given beside scheduledAt");
    }
    return task_check_order(&in->order.task, err);
}

/* ---- PATCH ---- */

static bool change_priority(struct json *json, void *into, struct err *err)
{
    struct task_patch *patch = into;
    patch->has_priority = true;
    return read_priority(json, &patch->priority, err);
}

static bool change_scheduled(struct json *json, void *into, struct err *err)
{
    struct task_patch *patch = into;
    patch->has_scheduled = true;
    return field_time(json, &patch->scheduled_ms, err);
}

static bool change_retries(struct json *json, void *into, struct err *err)
{
    struct task_patch *patch = into;
    patch->has_max_retries = true;
    return read_retries(json, &patch->max_retries, err);
}

static bool change_timeout(struct json *json, void *into, struct err *err)
{
    struct task_patch *patch = into;
    patch->has_timeout = true;
    return field_i64(json, 0, TASK_DURATION_MAX_MS, &patch->timeout_ms, err);
}

static const struct field patch_table[] = {
    FIELD("priority", change_priority),
    FIELD("scheduledAt", change_scheduled),
    FIELD("maxRetries", change_retries),
    FIELD("timeoutMs", change_timeout),
};

const struct fields patch_fields = {patch_table, ARRAY_LEN(patch_table)};
