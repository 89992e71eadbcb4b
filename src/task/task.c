/* task/task.c: the names of things, and what makes an order acceptable. See task.h.
 *
 * SPDX-License-Identifier: MIT */
#include "task/task.h"

#include <math.h>
#include <stdio.h>

#include "task/reserved.h"

static const char *const state_names[TASK_STATES] = {
    [TASK_SCHEDULED] = "SCHEDULED", [TASK_WAITING] = "WAITING",     [TASK_QUEUED] = "QUEUED",
    [TASK_RUNNING] = "RUNNING",     [TASK_RETRYING] = "RETRYING",   [TASK_COMPLETED] = "COMPLETED",
    [TASK_FAILED] = "FAILED",       [TASK_CANCELLED] = "CANCELLED", [TASK_TIMEOUT] = "TIMEOUT",
};

static const char *const priority_names[] = {[TASK_LOW] = "LOW",
                                             [TASK_NORMAL] = "NORMAL",
                                             [TASK_HIGH] = "HIGH",
                                             [TASK_CRITICAL] = "CRITICAL"};

static const char *const outcome_names[TASK_OUTCOMES] = {
    [OUTCOME_NONE] = "",
    [OUTCOME_COMPLETED] = "COMPLETED",
    [OUTCOME_FAILED] = "FAILED",
    [OUTCOME_TIMEOUT] = "TIMEOUT",
    [OUTCOME_LOST] = "LOST",
    [OUTCOME_RELEASED] = "RELEASED",
    [OUTCOME_CANCELLED] = "CANCELLED",
};

const char *task_state_name(enum task_state state)
{
    return state_names[state];
}

bool task_state_parse(struct str name, enum task_state *out)
{
    /* The names that two older systems gave to the same states. */
    if (str_is(name, "PENDING")) {
        name = STR("QUEUED");
    } else if (str_is(name, "IN_PROGRESS")) {
        name = STR("RUNNING");
    }
    for (int state = 0; state < TASK_STATES; state++) {
        if (str_is(name, state_names[state])) {
            *out = (enum task_state)state;
            return true;
        }
    }
    return false;
}

const char *task_priority_name(enum task_priority priority)
{
    return priority_names[priority];
}

bool task_priority_parse(struct str name, enum task_priority *out)
{
    for (int priority = TASK_LOW; priority <= TASK_CRITICAL; priority++) {
        if (str_is(name, priority_names[priority])) {
            *out = (enum task_priority)priority;
            return true;
        }
    }
    return false;
}

const char *task_outcome_name(enum task_outcome outcome)
{
    return outcome_names[outcome];
}

static const char *const worker_kinds[WORKER_KINDS] = {
    [WORKER_REMOTE] = "remote", [WORKER_RUN] = "run",   [WORKER_EXEC] = "exec",
    [WORKER_PUSH] = "push",     [WORKER_TEAM] = "team",
};

const char *task_worker_kind_name(enum worker_kind kind)
{
    return worker_kinds[kind];
}

const char *task_worker_signal_name(enum worker_signal signal)
{
    static const char *const names[WORKER_SIGNALS] = {"", "quiet", "stop"};
    return names[signal];
}

bool task_worker_reserved(struct str worker)
{
    return str_starts(worker, STR("errand:"));
}

enum worker_kind task_worker_kind(struct str worker)
{
    struct str rest = str_from(worker, sizeof "errand:" - 1);
    struct str name = str_cut(&rest, ':');
    for (int kind = WORKER_RUN; task_worker_reserved(worker) && kind < WORKER_KINDS; kind++) {
        if (str_is(name, worker_kinds[kind])) {
            return (enum worker_kind)kind;
        }
    }
    return WORKER_REMOTE;
}

struct str task_worker_node(struct str worker)
{
    const char *at = task_worker_reserved(worker) ? memchr(worker.ptr, '@', worker.len) : NULL;
    return at == NULL ? STR_NONE : str_from(worker, (size_t)(at - worker.ptr) + 1);
}

struct str task_lease_text(struct task_lease lease, char out[static TASK_LEASE_TEXT])
{
    int len = snprintf(out, TASK_LEASE_TEXT, "%d-%016llx", lease.attempt,
                       (unsigned long long)lease.token);
    return (struct str){out, (size_t)len};
}

static bool hex_u64(struct str text, uint64_t *out)
{
    uint64_t value = 0;
    for (size_t i = 0; i < text.len; i++) {
        const char *digits = "0123456789abcdef", *found = strchr(digits, text.ptr[i]);
        if (found == NULL || text.ptr[i] == '\0') {
            return false;
        }
        value = value << 4 | (uint64_t)(found - digits);
    }
    *out = value;
    return text.len == 16;
}

bool task_lease_parse(struct str text, struct task_lease *out)
{
    uint64_t attempt, token;
    struct str number = str_cut(&text, '-');
    if (!str_u64(number, &attempt) || attempt > INT32_MAX || !hex_u64(text, &token)) {
        return false;
    }
    *out = (struct task_lease){(int32_t)attempt, token};
    return true;
}

bool task_queue_name_ok(struct str name)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!letter && (c == '\0' || strchr("_.:/-", c) == NULL)) {
            return false;
        }
    }
    return name.len >= 1 && name.len <= TASK_QUEUE_MAX;
}

/* ---- What makes an order acceptable ---- */

static bool check_text(struct str text, const char *field, size_t max, struct err *err)
{
    return (text.len <= max && str_is_utf8(text)) ||
           err_field(err, field, "%s must be at most %zu bytes of UTF-8", field, max);
}

static bool check_names(const struct task *task, struct err *err)
{
    if (task->type.len < 1 || task->type.len > TASK_TYPE_MAX || !str_is_utf8(task->type) ||
        str_has_control(task->type)) {
        return err_field(err, "taskType",
                         "taskType must be 1 to %d bytes of UTF-8 without control characters",
                         TASK_TYPE_MAX);
    }
    if (!task_queue_name_ok(task->queue)) {
        return err_field(err, "queue", "queue must be 1 to %d characters of [A-Za-z0-9_.:/-]",
                         TASK_QUEUE_MAX);
    }
    if (!str_absent(task->document) && task->document.len == 0) {
        return err_field(err, "documentId", "documentId must not be empty");
    }
    if (!str_absent(task->key) && task->key.len == 0) {
        return err_field(err, "idempotencyKey", "idempotencyKey must not be empty");
    }
    return check_text(task->document, "documentId", TASK_DOCUMENT_MAX, err) &&
           check_text(task->key, "idempotencyKey", TASK_KEY_MAX, err);
}

static bool check_tags(const struct task *task, struct err *err)
{
    for (size_t i = 0; i < task->tags_count; i++) {
        struct str tag = task->tags[i];
        if (tag.len < 1 || tag.len > TASK_TAG_MAX || !str_is_utf8(tag)) {
            return err_field(err, "tags", "tags must be strings of 1 to %d bytes", TASK_TAG_MAX);
        }
    }
    return task->metadata.len <= TASK_METADATA_MAX ||
           err_field(err, "metadata", "metadata must be at most %zu bytes", TASK_METADATA_MAX);
}

static bool check_range(int64_t value, const char *field, int64_t min, int64_t max, struct err *err)
{
    return (value >= min && value <= max) || err_field(err, field, "%s must be from %lld to %lld",
                                                       field, (long long)min, (long long)max);
}

static bool check_backoff(const struct task_backoff *backoff, struct err *err)
{
    if (!(backoff->factor >= 1 && backoff->factor <= 1000)) {
        return err_field(err, "backoff.factor", "backoff.factor must be from 1 to 1000");
    }
    if (!(backoff->jitter >= 0 && backoff->jitter <= 1)) {
        return err_field(err, "backoff.jitter", "backoff.jitter must be from 0 to 1");
    }
    return check_range(backoff->base_ms, "backoff.baseMs", 0, TASK_DURATION_MAX_MS, err) &&
           check_range(backoff->max_ms, "backoff.maxMs", 0, TASK_DURATION_MAX_MS, err);
}

bool task_check_order(const struct task *task, struct err *err)
{
    return check_names(task, err) && reserved_check(task, err) && check_tags(task, err) &&
           check_backoff(&task->backoff, err) &&
           check_range(task->max_retries, "maxRetries", TASK_RETRIES_UNLIMITED, INT32_MAX, err) &&
           check_range(task->timeout_ms, "timeoutMs", 0, TASK_DURATION_MAX_MS, err) &&
           check_range(task->scheduled_ms, "scheduledAt", 0, TASK_TIME_MAX_MS, err) &&
           check_range(task->expires_ms, "expiresAt", 0, TASK_TIME_MAX_MS, err);
}
