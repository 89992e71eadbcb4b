/* cloud/settings.c: what a queue of the Cloud Tasks API is set to. See settings.h.
 *
 * SPDX-License-Identifier: MIT */
#include "cloud/settings.h"

#include <openssl/sha.h>

#include "store/rate.h"
#include "wire/cloud.h"

/* ---- What clients say ---- */

#define ROW(label, member, kind, ...)                                                              \
    FORM_ROW(label, struct cloud_settings, member, kind, FORM_SET, __VA_ARGS__)
#define IGNORED(label) ROW(label, name, FORM_NONE, .about = "Taken and not looked at.")
#define DURATION       "{\"type\":\"string\",\"description\":\"Seconds: \\\"3.5s\\\".\"}"
#define NUMBER         "{\"type\":[\"number\",\"string\"]}"

/* clang-format off */
static const struct form_row rows[] = {
    ROW("name", name, FORM_TEXT, .about = "projects/P/locations/L/queues/Q."),
    ROW("rateLimits.maxDispatchesPerSecond", rate, FORM_HOOK, .hook = &cloud_f64, .schema = NUMBER),
    ROW("rateLimits.maxBurstSize", burst, FORM_HOOK, .hook = &cloud_i32, .schema = NUMBER),
    ROW("rateLimits.maxConcurrentDispatches", concurrent, FORM_HOOK, .hook = &cloud_i32, .schema = NUMBER),
    ROW("retryConfig.maxAttempts", retry.max_attempts, FORM_HOOK, .hook = &cloud_i32, .schema = NUMBER),
    ROW("retryConfig.maxRetryDuration", retry.max_duration_ms, FORM_HOOK, .hook = &cloud_duration, .schema = DURATION),
    ROW("retryConfig.minBackoff", retry.min_backoff_ms, FORM_HOOK, .hook = &cloud_duration, .schema = DURATION),
    ROW("retryConfig.maxBackoff", retry.max_backoff_ms, FORM_HOOK, .hook = &cloud_duration, .schema = DURATION),
    ROW("retryConfig.maxDoublings", retry.max_doublings, FORM_HOOK, .hook = &cloud_i32, .schema = NUMBER),
    IGNORED("state"),
    IGNORED("purgeTime"),
    IGNORED("stackdriverLoggingConfig"),
    IGNORED("appEngineRoutingOverride"),
};
/* clang-format on */
const struct form cloud_settings_form = FORM(rows);

void cloud_settings_default(struct cloud_settings *settings)
{
    struct cloud_retry *retry = &settings->retry;
    settings->rate = settings->rate == 0 ? CLOUD_RATE_MAX : settings->rate;
    settings->concurrent = settings->concurrent == 0 ? CLOUD_CONCURRENT : settings->concurrent;
    retry->max_attempts = retry->max_attempts == 0 ? CLOUD_ATTEMPTS : retry->max_attempts;
    retry->min_backoff_ms =
        retry->min_backoff_ms == 0 ? CLOUD_MIN_BACKOFF_MS : retry->min_backoff_ms;
    retry->max_backoff_ms =
        retry->max_backoff_ms == 0 ? CLOUD_MAX_BACKOFF_MS : retry->max_backoff_ms;
    retry->max_doublings = retry->max_doublings == 0 ? CLOUD_DOUBLINGS : retry->max_doublings;
}

/* The texts are those of the original: people look for them. */
bool cloud_settings_check(const struct cloud_settings *settings, struct err *err)
{
    const struct cloud_retry *retry = &settings->retry;
    const struct {
        bool wrong;
        const char *field, *text;
    } rules[] = {
        {settings->rate < 0, "maxDispatchesPerSecond",
         "RateLimits.maxDispatchesPerSecond cannot be negative."},
        {settings->rate > CLOUD_RATE_MAX, "maxDispatchesPerSecond",
         "RateLimits.maxDispatchesPerSecond must be less than or equal to 500."},
        {settings->rate > 0 && settings->rate < RATE_MIN, "maxDispatchesPerSecond",
         "RateLimits.maxDispatchesPerSecond must be 0 or at least 0.00001."},
        {settings->concurrent < 0, "maxConcurrentDispatches",
         "RateLimits.maxConcurrentDispatches cannot be negative."},
        {settings->concurrent > CLOUD_CONCURRENT_MAX, "maxConcurrentDispatches",
         "RateLimits.maxConcurrentDispatches must be less than or equal to 5000."},
        {retry->max_attempts < CLOUD_ATTEMPTS_FOREVER, "maxAttempts",
         "RetryConfig.maxAttempts must be greater or equal to -1."},
        {retry->max_doublings < 0, "maxDoublings", "RetryConfig.maxDoublings cannot be negative."},
        {retry->min_backoff_ms > retry->max_backoff_ms, "minBackoff",
         "RetryConfig.minBackoff must be less than or equal to RetryConfig.maxBackoff."},
    };
    for (size_t i = 0; i < ARRAY_LEN(rules); i++) {
        if (rules[i].wrong) {
            return err_field(err, rules[i].field, "%s", rules[i].text);
        }
    }
    return true;
}

void cloud_settings_apply(struct cloud_settings *into, uint64_t mask,
                          const struct cloud_settings *from)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        size_t size = rows[i].kind != FORM_HOOK    ? 0
                      : rows[i].hook == &cloud_i32 ? sizeof(int32_t)
                                                   : sizeof(int64_t); /* a double is as long */
        if (mask >> i & 1) {
            memcpy((char *)into + rows[i].at, (const char *)from + rows[i].at, size);
        }
    }
}

int64_t cloud_burst(double rate)
{
    return (int64_t)MAX(10, MIN(100, rate / 5));
}

int64_t cloud_backoff_ms(const struct cloud_retry *retry, int32_t failures)
{
    double step = (double)retry->min_backoff_ms, wait = step;
    int32_t doublings = MIN(failures - 1, retry->max_doublings);
    for (int32_t i = 0; i < doublings && wait < (double)retry->max_backoff_ms; i++) {
        wait *= 2;
    }
    wait += wait * MAX(failures - 1 - doublings, 0);
    return (int64_t)MIN(wait, (double)retry->max_backoff_ms);
}

/* ---- The record ---- */

#define KEPT(label, member, kind, ...)                                                             \
    FORM_ROW(label, struct cloud_queue, member, kind, FORM_KEPT, __VA_ARGS__)

/* clang-format off */
static const struct form_row kept[] = {
    KEPT("name", name, FORM_TEXT, .max = TASK_QUEUE_MAX),
    KEPT("generation", generation, FORM_ID, 0),
    KEPT("maxAttempts", retry.max_attempts, FORM_I32, .min = CLOUD_ATTEMPTS_FOREVER, .max = INT32_MAX),
    KEPT("maxRetryMs", retry.max_duration_ms, FORM_I64, .max = INT64_MAX),
    KEPT("minBackoffMs", retry.min_backoff_ms, FORM_I64, .max = INT64_MAX),
    KEPT("maxBackoffMs", retry.max_backoff_ms, FORM_I64, .max = INT64_MAX),
    KEPT("maxDoublings", retry.max_doublings, FORM_I32, .max = INT32_MAX),
    KEPT("purgedAt", purge_ms, FORM_TIME, 0),
    KEPT("purgedBefore", purge, FORM_ID, 0),
    KEPT("deleting", deleting, FORM_BOOL, 0),
};
/* clang-format on */
static const struct form kept_form = FORM(kept);

static struct task_id digest(struct str text)
{
    unsigned char sum[SHA256_DIGEST_LENGTH];
    struct task_id id = {0, 0};
    SHA256((const unsigned char *)text.ptr, text.len, sum);
    for (int i = 0; i < 8; i++) {
        id.hi = id.hi << 8 | sum[i];
        id.lo = id.lo << 8 | sum[8 + i];
    }
    return id;
}

struct task_id cloud_queue_id(struct str name)
{
    return digest(name);
}

struct task_id cloud_name_id(const struct cloud_queue *queue, struct str task)
{
    SCOPED(buf_fini) struct buf text = BUF_INIT(KIB);
    char generation[TASK_ID_TEXT];
    buf_str(&text, id_text(queue->generation, generation));
    buf_char(&text, '/');
    buf_str(&text, task);
    return digest(buf_view(&text));
}

/* Its parent is itself: so it can be read without locking its row. */
struct record cloud_queue_record(const struct cloud_queue *queue, struct arena *arena)
{
    SCOPED(buf_fini) struct buf body = BUF_INIT(RECORD_BODY_MAX);
    struct json_writer w = JSON_WRITER(&body);
    struct task_id id = cloud_queue_id(queue->name);
    const char *slash = memrchr(queue->name.ptr, '/', queue->name.len);
    form_keep(&w, &kept_form, queue);
    return (struct record){.kind = RECORD_CLOUD_QUEUE,
                           .id = id,
                           .parent = id,
                           .owner = {queue->name.ptr, (size_t)(slash - queue->name.ptr)},
                           .version = queue->version,
                           .body = arena_str(arena, buf_view(&body))};
}

bool cloud_queue_load(const struct record *record, struct arena *arena, struct cloud_queue *out,
                      struct err *err)
{
    *out = (struct cloud_queue){0};
    if (!form_load(record->body, &kept_form, arena, out, err)) {
        if (err != NULL) {
            err->kind = ERR_INTERNAL;
        }
        return err_wrap(err, "read the settings of a Cloud Tasks queue");
    }
    out->version = record->version;
    return true;
}
