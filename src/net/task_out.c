/* net/task_out.c: tasks as JSON. See task_out.h.
 *
 * SPDX-License-Identifier: MIT */
#include "net/task_out.h"

/* ---- Small pieces ---- */

void id_write(struct json_writer *w, struct task_id id)
{
    char text[TASK_ID_TEXT + 2];
    struct str plain = id_text(id, text + 1);
    text[0] = text[1 + plain.len] = '"';
    json_add_raw(w, (struct str){text, plain.len + 2});
}

void id_put(struct json_writer *w, const char *key, struct task_id id)
{
    if (!id_none(id)) {
        json_key(w, key);
        id_write(w, id);
    }
}

void ids_put(struct json_writer *w, const char *key, const struct task_id *ids, size_t count)
{
    json_put_array(w, key);
    for (size_t i = 0; i < count; i++) {
        id_write(w, ids[i]);
    }
    json_close_array(w);
}

void time_put(struct json_writer *w, const char *key, int64_t ms)
{
    if (ms != 0) {
        json_put_time(w, key, ms);
    }
}

void signal_put(struct json_writer *w, enum worker_signal signal)
{
    if (signal != SIGNAL_NONE) {
        json_put_c(w, "signal", task_worker_signal_name(signal));
    }
}

void counts_put(struct json_writer *w, const char *key, const int64_t counts[TASK_STATES])
{
    json_put_object(w, key);
    for (int state = 0; state < TASK_STATES; state++) {
        json_put_i64(w, task_state_name((enum task_state)state), counts[state]);
    }
    json_close_object(w);
}

static void put_text(struct json_writer *w, const char *key, struct str text)
{
    if (!str_absent(text)) {
        json_put_str(w, key, text);
    }
}

static void put_json(struct json_writer *w, const char *key, struct str json)
{
    if (!str_absent(json)) {
        json_put_raw(w, key, json);
    }
}

static void put_amount(struct json_writer *w, const char *key, double amount)
{
    if (amount >= 0) {
        json_put_f64(w, key, amount);
    }
}

/* ---- A task ---- */

static void put_payload(struct json_writer *w, const struct task *task, bool omitted)
{
    if (omitted) {
        json_put_bool(w, "payloadOmitted", true);
    } else if (task->payload_raw && !str_absent(task->payload)) {
        json_key(w, "payloadBase64");
        json_add_base64(w, task->payload);
    } else {
        put_json(w, "payload", task->payload);
    }
}

static void put_backoff(struct json_writer *w, const struct task_backoff *backoff)
{
    json_put_object(w, "backoff");
    json_put_i64(w, "baseMs", backoff->base_ms);
    json_put_f64(w, "factor", backoff->factor);
    json_put_i64(w, "maxMs", backoff->max_ms);
    json_put_f64(w, "jitter", backoff->jitter);
    json_close_object(w);
}

static void put_tags(struct json_writer *w, const struct task *task)
{
    if (task->tags_count == 0) {
        return;
    }
    json_put_array(w, "tags");
    for (size_t i = 0; i < task->tags_count; i++) {
        json_add_str(w, task->tags[i]);
    }
    json_close_array(w);
}

/* What becomes of a failure, where that is not the usual. */
static void put_rules(struct json_writer *w, const struct task *task)
{
    if (task->continues) {
        json_put_c(w, "onChildFailure", "continue");
    }
    if (task->runs_anyway) {
        json_put_c(w, "onDependencyFailure", "run");
    }
}

/* What is not shown, but said to be there. An error is shortened, not left out. */
struct omitted {
    bool payload, result, metadata, error;
};

static void put_order(struct json_writer *w, const struct task *task, struct omitted omitted)
{
    json_key(w, "id");
    id_write(w, task->id);
    json_put_str(w, "taskType", task->type);
    json_put_str(w, "queue", task->queue);
    put_text(w, "externalId", task->external_id);
    put_text(w, "documentId", task->document);
    put_payload(w, task, omitted.payload);
    put_backoff(w, &task->backoff);
    put_text(w, "idempotencyKey", task->key);
    put_tags(w, task);
    if (omitted.metadata) {
        json_put_bool(w, "metadataOmitted", true);
    } else {
        put_json(w, "metadata", task->metadata);
    }
    id_put(w, "parentId", task->parent);
    id_put(w, "teamId", task->team);
    id_put(w, "scheduleId", task->schedule);
    if (task->depends_count > 0) { /* of a new one; the other views know more about them */
        ids_put(w, "dependsOn", task->depends, task->depends_count);
    }
    time_put(w, "expiresAt", task->expires_ms);
    put_rules(w, task);
}

static void put_standing(struct json_writer *w, const struct task *task)
{
    json_put_c(w, "priority", task_priority_name(task->priority));
    json_put_c(w, "state", task_state_name(task->state));
    json_put_i64(w, "attempt", task->attempt);
    json_put_i64(w, "retries", task->retries);
    json_put_i64(w, "maxRetries", task->max_retries);
    json_put_i64(w, "timeoutMs", task->timeout_ms);
    time_put(w, "scheduledAt", task->scheduled_ms);
    json_put_time(w, "createdAt", task->created_ms);
    time_put(w, "queuedAt", task->queued_ms);
    time_put(w, "startedAt", task->started_ms);
    time_put(w, "finishedAt", task->finished_ms);
    time_put(w, "cancelledAt", task->cancelled_ms);
    time_put(w, "updatedAt", task->updated_ms);
    put_text(w, "cancelReason", task->cancel_reason);
}

static void put_attempt_now(struct json_writer *w, const struct task *task)
{
    if (task->state != TASK_RUNNING) {
        return;
    }
    put_text(w, "workerId", task->worker);
    time_put(w, "leaseExpiresAt", task->lease_until_ms);
    if (task->cancel_requested) {
        json_put_bool(w, "cancelRequested", true);
    }
}

static void put_progress(struct json_writer *w, const struct task *task)
{
    if (task->progress < 0 && task->progress_message.len == 0) {
        return;
    }
    json_put_object(w, "progress");
    put_amount(w, "percent", task->progress);
    put_text(w, "message", task->progress_message);
    json_close_object(w);
}

static void put_error(struct json_writer *w, const struct task_error *error)
{
    if (str_absent(error->code) && str_absent(error->message)) {
        return;
    }
    json_put_object(w, "error");
    put_text(w, "code", error->code);
    put_text(w, "message", error->message);
    put_json(w, "detail", error->detail);
    json_close_object(w);
}

static void put_cost(struct json_writer *w, const struct task_cost *cost)
{
    if (cost->estimated < 0 && cost->actual < 0 && cost->tokens < 0) {
        return;
    }
    json_put_object(w, "cost");
    put_amount(w, "estimated", cost->estimated);
    put_amount(w, "actual", cost->actual);
    put_amount(w, "tokens", cost->tokens);
    json_close_object(w);
}

static void put_outcome(struct json_writer *w, const struct task *task, struct omitted omitted)
{
    if (omitted.result) {
        json_put_bool(w, "resultOmitted", true);
    } else {
        put_json(w, "result", task->result);
    }
    put_error(w, &task->error);
    if (omitted.error) {
        json_put_bool(w, "errorOmitted", true);
    }
    put_progress(w, task);
    put_cost(w, &task->cost);
}

/* All fields of a task, inside an object that is open. */
static void put_task(struct json_writer *w, const struct task *task, struct omitted omitted)
{
    put_order(w, task, omitted);
    put_standing(w, task);
    put_attempt_now(w, task);
    put_outcome(w, task, omitted);
}

static void put_whole(struct json_writer *w, const struct task *task)
{
    bool full = w->buf->len > ANSWER_WHOLE_MAX;
    put_task(w, task,
             (struct omitted){.payload = full && task->payload.len > LIST_OMIT_OVER,
                              .result = full && task->result.len > LIST_OMIT_OVER,
                              .metadata = full && task->metadata.len > LIST_OMIT_OVER});
}

/* ---- Its views ---- */

void task_write(struct json_writer *w, const struct task *task)
{
    json_open_object(w);
    put_whole(w, task);
    json_close_object(w);
}

void task_write_row(struct json_writer *w, const struct task_row *row)
{
    json_open_object(w);
    put_task(w, &row->task,
             (struct omitted){row->payload_omitted, row->result_omitted, row->metadata_omitted,
                              row->error_omitted});
    json_close_object(w);
}

static void dependencies_put(struct json_writer *w, const struct task_dependency *on, size_t count)
{
    if (count == 0) {
        return;
    }
    json_put_array(w, "dependsOn");
    for (size_t i = 0; i < count; i++) {
        id_write(w, on[i].id);
    }
    json_close_array(w);
    json_put_array(w, "dependencyResults");
    for (size_t i = 0; i < count; i++) {
        json_open_object(w);
        id_put(w, "id", on[i].id);
        json_put_c(w, "state", task_state_name(on[i].state));
        if (w->buf->len > ANSWER_WHOLE_MAX && on[i].result.len > LIST_OMIT_OVER) {
            json_put_bool(w, "resultOmitted", true);
        } else {
            put_json(w, "result", on[i].result);
        }
        json_close_object(w);
    }
    json_close_array(w);
}

void task_open_claimed(struct json_writer *w, const struct task *task)
{
    char lease[TASK_LEASE_TEXT];
    json_open_object(w);
    put_whole(w, task);
    json_put_str(w, "lease",
                 task_lease_text((struct task_lease){task->attempt, task->token}, lease));
}

void task_write_claimed(struct json_writer *w, const struct task *task,
                        const struct claim_facts *facts)
{
    task_open_claimed(w, task);
    dependencies_put(w, facts->dependencies, facts->dependencies_count);
    json_close_object(w);
}

static void write_log(struct json_writer *w, struct str log)
{
    json_put_array(w, "log");
    while (log.len > 0) {
        json_add_str(w, str_cut(&log, '\n'));
    }
    json_close_array(w);
}

static void write_attempt(struct json_writer *w, const struct task_attempt *attempt)
{
    json_open_object(w);
    json_put_i64(w, "number", attempt->number);
    if (attempt->outcome != OUTCOME_NONE) {
        json_put_c(w, "outcome", task_outcome_name(attempt->outcome));
    }
    put_text(w, "workerId", attempt->worker);
    time_put(w, "startedAt", attempt->started_ms);
    time_put(w, "finishedAt", attempt->finished_ms);
    put_error(w, &attempt->error);
    write_log(w, attempt->log);
    json_close_object(w);
}

void task_write_detail(struct json_writer *w, const struct task_detail *detail)
{
    json_open_object(w);
    put_whole(w, &detail->task);
    json_put_array(w, "attempts");
    for (size_t i = 0; i < detail->attempts_count; i++) {
        write_attempt(w, &detail->attempts[i]);
    }
    json_close_array(w);
    ids_put(w, "childIds", detail->children, detail->children_count);
    dependencies_put(w, detail->dependencies, detail->dependencies_count);
    json_close_object(w);
}
