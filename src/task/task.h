/* task/task.h: the noun everything else is about, and the table of its life.
 *
 * A task is a plain struct. Its texts are borrowed from whoever filled it (a request, a row): they
 * live as long as the arena named there. What may happen to a task is decided by the functions of
 * task/life.h, which are pure: task in, task out, time as an argument.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_TASK_TASK_H
#define ERRAND_TASK_TASK_H

#include "base/err.h"
#include "wire/id.h"

enum task_state {
    TASK_SCHEDULED,
    TASK_WAITING,
    TASK_QUEUED,
    TASK_RUNNING,
    TASK_RETRYING,
    TASK_COMPLETED,
    TASK_FAILED,
    TASK_CANCELLED,
    TASK_TIMEOUT,
    TASK_STATES
};

enum task_priority { TASK_LOW = 1, TASK_NORMAL, TASK_HIGH, TASK_CRITICAL };

/* How an attempt ended. */
enum task_outcome {
    OUTCOME_NONE, /* it has not: running, or never started */
    OUTCOME_COMPLETED,
    OUTCOME_FAILED,
    OUTCOME_TIMEOUT,
    OUTCOME_LOST,
    OUTCOME_RELEASED,
    OUTCOME_CANCELLED,
    TASK_OUTCOMES
};

/* Limits of docs/contract.md, "A task". Over them is an error that names the field, never a clamp.
 */
#define TASK_TYPE_MAX          256
#define TASK_QUEUE_MAX         256
#define TASK_DOCUMENT_MAX      256
#define TASK_KEY_MAX           256
#define TASK_WORKER_MAX        256
#define TASK_EXTERNAL_MAX      1024
#define TASK_TAGS_MAX          16
#define TASK_TAG_MAX           128
#define TASK_METADATA_MAX      (16 * KIB)
#define TASK_PAYLOAD_MAX       MIB /* default of [limits] payload */
#define TASK_RESULT_MAX        MIB
#define TASK_ERROR_MAX         (16 * KIB) /* code, message and detail together */
#define TASK_REASON_MAX        1024       /* a cancel's reason, a progress message */
#define TASK_RETRIES_MAX       100 /* the JSON API's; RETRIES_UNLIMITED from other protocols */
#define TASK_RETRIES_UNLIMITED (-1)
#define TASK_LOG_MAX           (64 * KIB) /* kept per attempt; older lines go first */
#define TASK_LOG_LINE_MAX      (4 * KIB)
#define TASK_TIME_MAX_MS       INT64_C(253402300799999) /* 9999-12-31T23:59:59.999Z */
#define TASK_DURATION_MAX_MS   (10 * 366 * DAY_MS)      /* delayMs, timeoutMs, backoff */
#define TASK_FACTOR_MAX        1000                     /* of backoff */
#define TASK_FACTOR_FAKTORY    0                        /* the curve of that protocol's jobs */
#define TASK_COST_MAX          INT64_C(1000000000000000) /* beyond it a double no longer counts by ones */
#define TASK_LEASE_MIN_MS      (1 * SECOND_MS)
#define TASK_LEASE_MAX_MS      (24 * HOUR_MS)

#define TASK_QUEUE_DEFAULT       "default"
#define TASK_MAX_RETRIES_DEFAULT 3
#define TASK_TIMEOUT_DEFAULT_MS  (300 * SECOND_MS)
#define TASK_LEASE_DEFAULT_MS    (60 * SECOND_MS)

struct task_backoff {
    int64_t base_ms, max_ms;
    double factor, jitter; /* jitter 0…1: that share of the wait is random */
};
#define TASK_BACKOFF_BASE_MS (5 * SECOND_MS)
#define TASK_BACKOFF_MAX_MS  (1 * HOUR_MS)
#define TASK_BACKOFF_FACTOR  5
#define TASK_BACKOFF_DEFAULT                                                                       \
    ((struct task_backoff){TASK_BACKOFF_BASE_MS, TASK_BACKOFF_MAX_MS, TASK_BACKOFF_FACTOR, 0})

struct task_error {
    struct str code, message; /* both absent: no error */
    struct str detail;        /* JSON as sent, or absent */
};

struct task_cost {
    double estimated, actual, tokens; /* negative: not given */
};
#define TASK_COST_NONE ((struct task_cost){-1, -1, -1})

struct task {
    /* The order: written once, at creation. */
    struct task_id id;
    struct str type, queue;
    struct str document, external_id, key; /* absent when not given */
    struct str payload;  /* JSON exactly as sent, or raw bytes; absent when not given */
    bool payload_raw;    /* raw bytes: shown as payloadBase64 */
    struct str metadata; /* JSON object as sent, or absent */
    struct str origin;   /* what the protocol it came by says of it besides: {"faktory":{…}} */
    struct str tags[TASK_TAGS_MAX];
    size_t tags_count;
    struct task_backoff backoff;
    struct task_id parent, team, schedule; /* relations; TASK_ID_NONE when unset */
    struct task_id family; /* the outermost container it runs in; TASK_ID_NONE: none.
                             A document is held by the family, not by its members */
    bool container;        /* has children and is never claimed itself */
    bool continues;        /* onChildFailure: continue */
    bool runs_anyway;      /* onDependencyFailure: run */
    const struct task_id
        *depends; /* only in an order: what it waits for; kept apart by the store */
    size_t depends_count;
    int64_t expires_ms; /* UTC; 0: never */
    int64_t created_ms;

    /* Where it stands: written by every transition, through life.h alone. Times are UTC, 0: unset.
     */
    enum task_state state;
    enum task_priority priority;
    int32_t attempt;      /* attempts started so far */
    int32_t retries;      /* used of this budget */
    int32_t max_retries;  /* or TASK_RETRIES_UNLIMITED */
    int64_t timeout_ms;   /* of one attempt; 0: none */
    int64_t scheduled_ms; /* not before this; the next retry while RETRYING */
    int64_t queued_ms;    /* its place in the line */
    int64_t started_ms, finished_ms, cancelled_ms, updated_ms;
    int32_t unmet; /* dependencies that have not ended well (or at all, when it runs anyway) */
    bool cancel_requested;
    struct str cancel_reason;

    /* The current attempt while RUNNING, else the last one. */
    uint64_t token;            /* with `attempt`: the lease that may finish it */
    enum task_outcome outcome; /* of that attempt */
    struct str worker;
    int64_t lease_ms;       /* what the claim asked for: a heartbeat's default extension */
    int64_t lease_until_ms; /* UTC; memory keeps the monotonic deadline */
    int64_t attempt_ended_ms;
    double progress; /* percent; negative: none */
    struct str progress_message;
    int32_t log_bytes;   /* kept so far for this attempt */
    struct str dispatch; /* JSON of whoever sends it on: what its next attempt must know of those
                            before (cloud/dispatch.h); absent: nothing */

    /* What came out of it. */
    struct str result; /* JSON as sent, or absent */
    struct task_error error;
    struct task_cost cost;
};

/* Every field by the name of its column, in the order of task.def and of the rows of task_form. */
enum task_field {
#define FIELD(part, kind, column, ...) TASK_FIELD_##column,
#include "task/task.def"
    TASK_FIELDS
};
#define TASK_BIT(column) (UINT64_C(1) << TASK_FIELD_##column)

/* How a task is read, shown and described: the rows of task.def (wire/form.h). */
struct form;
extern const struct form task_form;

struct arena;
void task_init(struct task *task); /* empty, with the standards of task_form */
struct task task_copy(struct arena *arena, const struct task *task); /* all texts in `arena` */
struct task_error task_error_copy(struct arena *arena, const struct task_error *error);

/* One finished or running attempt, as the detail view shows it. */
struct task_attempt {
    int32_t number;
    enum task_outcome outcome; /* OUTCOME_NONE while it runs */
    struct str worker;
    int64_t started_ms, finished_ms;
    struct task_error error;
    struct str log; /* lines, each ended by \n; absent when none */
};

/* What the current lease looks like to a worker: "ATTEMPT-TOKEN", the token in 16 hex digits. */
struct task_lease {
    int32_t attempt;
    uint64_t token;
};
#define TASK_LEASE_TEXT 32
struct str task_lease_text(struct task_lease lease, char out[static TASK_LEASE_TEXT]);
MUST_CHECK bool task_lease_parse(struct str text, struct task_lease *out);

extern const char *const task_state_words[];    /* by enum task_state, ended by NULL */
extern const char *const task_priority_words[]; /* by enum task_priority; no word for 0 */
extern const char *const task_outcome_words[];  /* by enum task_outcome; no word for NONE */
#define TASK_PRIORITY_RULE "must be one of CRITICAL, HIGH, NORMAL, LOW (or 4, 3, 2, 1)"
const char *task_state_name(enum task_state state);
MUST_CHECK bool task_state_parse(struct str name,
                                 enum task_state *out); /* PENDING, IN_PROGRESS too */
const char *task_priority_name(enum task_priority priority);
MUST_CHECK bool task_priority_parse(struct str name, enum task_priority *out); /* names only */
const char *task_outcome_name(enum task_outcome outcome);

/* Who runs an attempt. Workers inside the server are named "errand:KIND:…"; nobody else may be. */
enum worker_kind { WORKER_REMOTE, WORKER_RUN, WORKER_EXEC, WORKER_PUSH, WORKER_TEAM, WORKER_KINDS };
enum worker_kind task_worker_kind(struct str worker);
const char *task_worker_kind_name(enum worker_kind kind);
bool task_worker_reserved(struct str worker);   /* begins with "errand:" */
struct str task_worker_node(struct str worker); /* in a fleet "errand:KIND:…@NODE"; else absent */

/* What an operator asks of a worker outside: nothing; to claim no more; and to give back what it
 * does not finish in time, too. */
enum worker_signal { SIGNAL_NONE, SIGNAL_QUIET, SIGNAL_STOP, WORKER_SIGNALS };
const char *task_worker_signal_name(enum worker_signal signal); /* "quiet", "stop" */

static inline bool task_state_terminal(enum task_state state)
{
    return state >= TASK_COMPLETED;
}

bool task_type_ok(struct str type);       /* 1–256 bytes without control characters */
bool task_queue_name_ok(struct str name); /* 1–256 of [A-Za-z0-9_.:/-] */
#define TASK_TYPE_RULE  "must be 1 to 256 bytes of UTF-8 without control characters"
#define TASK_QUEUE_RULE "must be 1 to 256 characters of [A-Za-z0-9_.:/-]"

/* Checks everything that can be wrong in a new task that was not read by task_form, and names the
 * field; names that the server keeps for itself (reserved.h) are refused too. */
MUST_CHECK bool task_check_order(const struct task *task, struct err *err);

/* A team's hold: a container that has its document for as long as its team needs it. Whoever made
 * it ends it. */
static inline bool task_is_hold(const struct task *task)
{
    return task->container && !id_none(task->team);
}

/* A turn stands in the line of a document for the hold that is its `family`: nobody claims it, and
 * it is over when the hold has the document (queue/turn.h). */
#define TASK_TURN_TYPE "team.turn"
static inline bool task_is_turn(const struct task *task)
{
    return !id_none(task->family) && id_none(task->parent) && str_is(task->type, TASK_TURN_TYPE);
}

#endif
