/* cloud/settings.h: what a queue of the Cloud Tasks API is set to: how often its tasks are sent,
 * and how they are tried again.
 *
 * The rate and the number of requests at once are the settings of Errand's own queue of that name
 * (store_queue); what only this API knows is kept in a record.
 *
 * Thread: any. Pure.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_CLOUD_SETTINGS_H
#define ERRAND_CLOUD_SETTINGS_H

#include "store/record.h"
#include "wire/form.h"

#define CLOUD_RATE_MAX         500
#define CLOUD_CONCURRENT_MAX   5000
#define CLOUD_CONCURRENT       1000
#define CLOUD_ATTEMPTS         100
#define CLOUD_MIN_BACKOFF_MS   INT64_C(100)
#define CLOUD_MAX_BACKOFF_MS   HOUR_MS
#define CLOUD_DOUBLINGS        16
#define CLOUD_ATTEMPTS_FOREVER (-1)

struct cloud_retry {
    int32_t max_attempts;    /* or CLOUD_ATTEMPTS_FOREVER */
    int64_t max_duration_ms; /* since the first attempt; 0: none */
    int64_t min_backoff_ms, max_backoff_ms;
    int32_t max_doublings;
};

struct cloud_settings {
    struct str name; /* as a request names the queue; or absent */
    double rate;     /* maxDispatchesPerSecond */
    int32_t concurrent, burst;
    struct cloud_retry retry;
};

/* How a client says it. What it leaves out, or gives as 0, has its standard. */
extern const struct form cloud_settings_form;
void cloud_settings_default(struct cloud_settings *settings); /* what is 0 gets its standard */
MUST_CHECK bool cloud_settings_check(const struct cloud_settings *settings, struct err *err);
/* Takes over the fields of the rows in `mask`. */
void cloud_settings_apply(struct cloud_settings *into, uint64_t mask,
                          const struct cloud_settings *from);
int64_t cloud_burst(double rate); /* of a bucket that is refilled at that rate */

/* How long the attempt after failure n (1…) waits: the least backoff, doubled so many times, then
 * growing by the same amount each time, up to the longest. */
int64_t cloud_backoff_ms(const struct cloud_retry *retry, int32_t failures);

/* ---- The record ---- */

struct cloud_queue {
    struct str name;           /* Errand's: PROJECT/LOCATION/QUEUE */
    struct task_id generation; /* another one if it was deleted and made anew */
    struct cloud_retry retry;
    int64_t purge_ms;     /* when it was purged last; 0: never */
    struct task_id purge; /* tasks with smaller ids were purged then */
    bool deleting;        /* its tasks are being cancelled: it is gone for everybody */
    int64_t version;      /* of the record */
};
struct task_id cloud_queue_id(struct str name); /* of its record */
struct record cloud_queue_record(const struct cloud_queue *queue, struct arena *arena);
MUST_CHECK bool cloud_queue_load(const struct record *record, struct arena *arena,
                                 struct cloud_queue *out, struct err *err);

/* Whether the task was there when its queue was purged. */
static inline bool cloud_queue_purged(const struct cloud_queue *queue, struct task_id task)
{
    return !id_none(queue->purge) && task.hi < queue->purge.hi;
}

/* A named task, from its creation until its name may be used again: of its record the id follows
 * from the name, the parent is the task, and due_ms, if it is not 0, the end of the tombstone. */
struct task_id cloud_name_id(const struct cloud_queue *queue, struct str task);

#endif
