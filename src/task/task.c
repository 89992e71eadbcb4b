/* task/task.c: the names of things, and what makes an order acceptable. See task.h.
 *
 * SPDX-License-Identifier: MIT */
#include "task/task.h"

#include <stdio.h>

#include "base/arena.h"
#include "task/reserved.h"
#include "wire/form.h"

const char *const task_state_words[] = {
    [TASK_SCHEDULED] = "SCHEDULED", [TASK_WAITING] = "WAITING",     [TASK_QUEUED] = "QUEUED",
    [TASK_RUNNING] = "RUNNING",     [TASK_RETRYING] = "RETRYING",   [TASK_COMPLETED] = "COMPLETED",
    [TASK_FAILED] = "FAILED",       [TASK_CANCELLED] = "CANCELLED", [TASK_TIMEOUT] = "TIMEOUT",
    [TASK_STATES] = NULL,
};

const char *const task_priority_words[] = {"",
                                           [TASK_LOW] = "LOW",
                                           [TASK_NORMAL] = "NORMAL",
                                           [TASK_HIGH] = "HIGH",
                                           [TASK_CRITICAL] = "CRITICAL",
                                           NULL};

const char *const task_outcome_words[] = {
    [OUTCOME_NONE] = "",
    [OUTCOME_COMPLETED] = "COMPLETED",
    [OUTCOME_FAILED] = "FAILED",
    [OUTCOME_TIMEOUT] = "TIMEOUT",
    [OUTCOME_LOST] = "LOST",
    [OUTCOME_RELEASED] = "RELEASED",
    [OUTCOME_CANCELLED] = "CANCELLED",
    [TASK_OUTCOMES] = NULL,
};

const char *task_state_name(enum task_state state)
{
    return task_state_words[state];
}

bool task_state_parse(struct str name, enum task_state *out)
{
    /* The names that two older systems gave to the same states. */
    if (str_is(name, "PENDING")) {
        name = STR("QUEUED");
    } else if (str_is(name, "IN_PROGRESS")) {
        name = STR("RUNNING");
    }
    int word;
    if (!form_word(task_state_words, name, &word)) {
        return false;
    }
    *out = (enum task_state)word;
    return true;
}

const char *task_priority_name(enum task_priority priority)
{
    return task_priority_words[priority];
}

bool task_priority_parse(struct str name, enum task_priority *out)
{
    int word;
    if (!form_word(task_priority_words, name, &word)) {
        return false;
    }
    *out = (enum task_priority)word;
    return true;
}

const char *task_outcome_name(enum task_outcome outcome)
{
    return task_outcome_words[outcome];
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
    char digits[10];
    size_t at = sizeof digits;
    uint32_t left = (uint32_t)lease.attempt;
    do {
        digits[--at] = (char)('0' + left % 10);
        left /= 10;
    } while (left > 0);
    size_t len = sizeof digits - at;
    memcpy(out, digits + at, len);
    out[len] = '-';
    str_put_hex(out + len + 1, lease.token);
    out[len + 1 + HEX_U64] = '\0';
    return (struct str){out, len + 1 + HEX_U64};
}

static bool hex_u64(struct str text, uint64_t *out)
{
    uint64_t value = 0;
    for (size_t i = 0; i < text.len; i++) {
        int digit = str_hex(text.ptr[i]);
        if (digit < 0 || (text.ptr[i] >= 'A' && text.ptr[i] <= 'F')) {
            return false; /* a token is compared as it was given: small letters */
        }
        value = value << 4 | (uint64_t)digit;
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

/* ---- The table of its fields ---- */

bool task_type_ok(struct str type)
{
    return type.len >= 1 && type.len <= TASK_TYPE_MAX && !str_has_control(type);
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

#define TASK_TAG_RULE      "must be strings of 1 to 128 bytes"
#define TASK_METADATA_RULE "must be at most 16384 bytes"

static const char *const task_child_failure[] = {"stop", "continue", NULL};
static const char *const task_dependency_failure[] = {"cancel", "run", NULL};

static const struct form_row rows[] = {
#define FIELD(part, kind, column, member, form, name, ...)                                         \
    FORM_ROW(name, struct task, member, form, __VA_ARGS__, ),
#include "task/task.def"
};
_Static_assert(ARRAY_LEN(rows) <= 64, "a bit for each row");
const struct form task_form = FORM(rows);

void task_init(struct task *task)
{
    *task = (struct task){0};
    form_init(&task_form, task);
}

struct task_error task_error_copy(struct arena *arena, const struct task_error *error)
{
    return (struct task_error){arena_str(arena, error->code), arena_str(arena, error->message),
                               arena_str(arena, error->detail)};
}

struct task task_copy(struct arena *arena, const struct task *task)
{
    struct task copy = *task;
#define COPY_TEXT(member)                                                                          \
    if (!str_absent(task->member)) {                                                               \
        copy.member = arena_str(arena, task->member);                                              \
    }
#define COPY_NAME  COPY_TEXT
#define COPY_JSON  COPY_TEXT
#define COPY_BYTES COPY_TEXT
#define COPY_TAGS(member)                                                                          \
    for (size_t i = 0; i < task->tags_count; i++) {                                                \
        COPY_TEXT(member[i])                                                                       \
    }
#define COPY_ID(member)
#define COPY_TIME                              COPY_ID
#define COPY_I32                               COPY_ID
#define COPY_I64                               COPY_ID
#define COPY_U64                               COPY_ID
#define COPY_F64                               COPY_ID
#define COPY_BOOL                              COPY_ID
#define COPY_AMOUNT                            COPY_ID
#define COPY_STATE                             COPY_ID
#define COPY_PRIORITY                          COPY_ID
#define COPY_OUTCOME                           COPY_ID
#define FIELD(part, kind, column, member, ...) COPY_##kind(member)
#include "task/task.def"
    copy.depends = NULL; /* only an order has them */
    copy.depends_count = 0;
    return copy;
}

/* The limits are those of the rows. Retries of other protocols than ours go further, and below zero
 * they have no end; one of them has a curve of its own. */
bool task_check_order(const struct task *task, struct err *err)
{
    double factor = task->backoff.factor;
    return form_check(&task_form, task, err) && reserved_check(task, err) &&
           (factor == TASK_FACTOR_FAKTORY || (factor >= 1 && factor <= TASK_FACTOR_MAX) ||
            err_field(err, "backoff.factor", "backoff.factor must be 1 to %d", TASK_FACTOR_MAX)) &&
           (task->max_retries >= TASK_RETRIES_UNLIMITED ||
            err_field(err, "maxRetries", "maxRetries must be at least %d", TASK_RETRIES_UNLIMITED));
}
