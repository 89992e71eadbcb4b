/* schedule/schedule.h: the noun: a lasting order: what to do, when, for whom, where to deliver it.
 *
 * A schedule is a plain struct; its texts are borrowed from whoever filled it. Clients, the store
 * and the planner see it through one table (schedule_form). What a rule means in time is
 * schedule_plan.h, what happens when it is due is planner.h.
 *
 * Thread: any. Keeps nothing.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_SCHEDULE_SCHEDULE_H
#define ERRAND_SCHEDULE_SCHEDULE_H

#include "store/record.h"
#include "wire/form.h"

#define SCHEDULE_TITLE_MAX       512
#define SCHEDULE_DESCRIPTION_MAX (16 * KIB)
#define SCHEDULE_PURPOSE_MAX     (64 * KIB)
#define SCHEDULE_NAME_MAX        256 /* userId, chatId, messageId */
#define SCHEDULE_PAYLOAD_MAX     MIB
#define SCHEDULE_DELIVER_TO_MAX  (8 * KIB)
#define SCHEDULE_ADDRESS_MAX     2048 /* one address in deliverTo */
#define SCHEDULE_MESSAGES_MAX    50
#define SCHEDULE_CONTEXT_MAX     (256 * KIB) /* bytes of all messages; the oldest go first */
#define SCHEDULE_MESSAGE_MAX     (16 * KIB)  /* of a run's content that is remembered */
#define SCHEDULE_JITTER_MAX_MS   DAY_MS
#define SCHEDULE_COST_MAX        INT64_C(1000000000)

enum schedule_status {
    SCHEDULE_ACTIVE,
    SCHEDULE_PAUSED,
    SCHEDULE_COMPLETED,
    SCHEDULE_FAILED,
    SCHEDULE_STATUSES
};

enum schedule_category {
    SCHEDULE_REMINDER,
    SCHEDULE_REPORT,
    SCHEDULE_ANALYSIS,
    SCHEDULE_OTHERS,
    SCHEDULE_CATEGORIES
};

/* When the last run is unfinished: leave this one out, let it wait, let both run, end the last. */
enum schedule_overlap { OVERLAP_SKIP, OVERLAP_QUEUE, OVERLAP_ALLOW, OVERLAP_CANCEL };

/* After downtime: the latest of the missed times, none of them, all of them. */
enum schedule_misfire { MISFIRE_ONCE, MISFIRE_SKIP, MISFIRE_ALL };

enum schedule_channel { CHANNEL_EMAIL, CHANNEL_WEB, CHANNEL_MOBILE, SCHEDULE_CHANNELS };

struct schedule {
    struct task_id id;
    struct str title, description, purpose;
    bool one_time;
    struct str rrule;   /* canonical; absent: the start and rdates alone */
    struct str dtstart; /* on the wall of its zone, or with Z */
    struct form_texts exdates, rdates;
    struct str timezone;
    enum schedule_status status;
    struct str paused_reason; /* why it is PAUSED or FAILED */
    int64_t resume_ms;        /* PAUSED: active again then; 0: when a client says so */
    int64_t next_ms;          /* the coming occurrence; 0: none */
    int64_t last_ms;          /* when it last ran */
    int64_t wake_ms;          /* planned again then, because `next_ms` is too far */
    enum schedule_category category;
    struct str type, payload, queue, document; /* of the task of each run */
    enum task_priority priority;
    int64_t max_retries, timeout_ms;
    enum schedule_overlap overlap;
    enum schedule_misfire misfire;
    int gap, fold; /* enum recur_gap, recur_fold */
    int64_t jitter_ms;
    unsigned delivery; /* bits 1 << enum schedule_channel */
    struct str delivery_title;
    struct str deliver_to; /* {"EMAIL":"a@example.org"} */
    double query_cost;     /* estimated, of one run */
    struct str user, chat, message;
    struct str messages; /* the conversation it came from: an array */
    int64_t created_ms, updated_ms;

    /* Not shown: */
    bool open_start;         /* nobody said when to begin: another rule begins anew */
    int64_t cursor_ms;       /* occurrences up to here are dealt with */
    struct task_id last_run; /* the run that overlap looks at */
    int64_t zone_version;    /* of the zone data it was planned with */
    int64_t version;         /* of its record; 0: new. Not in the body */
};

/* One with the standard of every field. */
struct schedule schedule_blank(void);

extern const struct form schedule_form;
extern const char *const schedule_statuses[];
extern const char *const schedule_categories[];
extern const char *const schedule_channels[];

/* A record's mark says status and category, so that lists can be filtered by both. */
static inline int32_t schedule_mark(enum schedule_status status, enum schedule_category category)
{
    return (int32_t)(status * SCHEDULE_CATEGORIES + category);
}
/* The marks of those statuses and categories: bits 1 << each; 0: any. */
uint32_t schedule_marks(unsigned statuses, unsigned categories);

/* Everything a client can get wrong that needs neither a zone nor a clock; names the field. */
MUST_CHECK bool schedule_check(const struct schedule *schedule, struct arena *arena,
                               struct err *err);

MUST_CHECK bool schedule_load(const struct record *record, struct arena *arena,
                              struct schedule *out, struct err *err);
/* The record to save, its body in `arena`. When it is due is decided by its status and times. */
struct record schedule_record(const struct schedule *schedule, struct arena *arena);

/* What whoever follows the schedules of a user (absent: nobody's) subscribes to. */
struct str schedule_topic(struct str user, struct arena *arena);

/* How late this schedule begins within its jitter, always the same. */
int64_t schedule_offset_ms(const struct schedule *schedule);
/* When the planner must look at it next; 0: never. */
int64_t schedule_due_ms(const struct schedule *schedule);

/* A run has said something: the next one sees it. */
void schedule_remember(struct schedule *schedule, struct str content, struct arena *arena);

#endif
