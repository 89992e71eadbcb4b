/* net/faktory_job.c: jobs of Faktory as tasks, and tasks as jobs.
 *
 * What a task has a field for is in that field; `custom` is the task's metadata; the rest (a retry
 * below zero, reserve_for, the texts of times, backtrace) is its origin: {"faktory":{…}}, a job
 * with those fields only.
 *
 * Thread: any; pure but for the arena.
 *
 * SPDX-License-Identifier: MIT */
#include "net/faktory_parts.h"
#include "wire/time.h"

#define ORIGIN_BEGIN  "{\"faktory\":"
#define ORIGIN_LEASE  ORIGIN_BEGIN "{\"reserve_for\":" /* first: a claim looks for it alone */
#define RETRY_BASE_MS (15 * SECOND_MS)

/* ---- From a job to an order ---- */

static struct str write_origin(const struct faktory_job *job, bool custom_fits, struct arena *arena)
{
    SCOPED(buf_fini) struct buf out = BUF_INIT(SIZE_MAX / 2);
    struct json_writer w = JSON_WRITER(&out);
    buf_c(&out, ORIGIN_BEGIN);
    json_open_object(&w);
    if (job->reserve_for > 0) {
        json_put_i64(&w, "reserve_for", job->reserve_for);
    }
    if (job->retry < 0) {
        json_put_i64(&w, "retry", job->retry);
    }
    if (job->backtrace != 0) {
        json_put_i64(&w, "backtrace", job->backtrace);
    }
    if (!str_absent(job->at)) {
        json_put_str(&w, "at", job->at);
    }
    if (job->created_at.len > 0) {
        json_put_str(&w, "created_at", job->created_at);
    }
    if (!custom_fits) {
        json_put_raw(&w, "custom", job->custom);
    }
    json_close_object(&w);
    buf_char(&out, '}');
    return arena_str(arena, buf_view(&out));
}

static bool read_priority(struct str value, struct arena *arena, enum task_priority *out,
                          struct err *err)
{
    struct json json;
    struct str word = STR_NONE;
    int64_t number = 0;
    if (str_absent(value)) {
        return true;
    }
    json_start(&json, value, arena);
    bool is_word = json_peek(&json) == JSON_STRING && json_str(&json, &word, NULL);
    if (is_word && task_priority_parse(word, out)) {
        return true;
    }
    if (!is_word && json_i64(&json, &number, NULL) && number >= TASK_LOW &&
        number <= TASK_CRITICAL) {
        *out = (enum task_priority)number;
        return true;
    }
    return err_field(err, "custom.priority", "custom.priority %s", TASK_PRIORITY_RULE);
}

static bool read_custom(const struct faktory_custom *known, struct arena *arena, struct task *task,
                        struct err *err)
{
    struct err why = ERR_INIT;
    task->document = known->document_id.len > 0 ? known->document_id : STR_NONE;
    task->key = known->idempotency_key.len > 0 ? known->idempotency_key : STR_NONE;
    if (known->expires_at.len > 0 && !time_parse(known->expires_at, &task->expires_ms, &why)) {
        return err_field(err, "custom.expires_at",
                         "custom.expires_at must be a time as of RFC 3339");
    }
    task->expires_ms = known->expires_at.len > 0 ? MAX(task->expires_ms, 1) : 0;
    return read_priority(known->priority, arena, &task->priority, err);
}

struct order job_blank(void)
{
    struct order blank = {.delay_ms = -1};
    task_init(&blank.task);
    blank.task.timeout_ms = 0;
    blank.task.backoff =
        (struct task_backoff){RETRY_BASE_MS, TASK_DURATION_MAX_MS, TASK_FACTOR_FAKTORY, 0};
    return blank;
}

bool job_order(const struct faktory_job *job, const struct order *blank, struct arena *arena,
               struct order *order, struct err *err)
{
    struct task *task = &order->task;
    bool custom_fits = str_absent(job->custom) || job->custom.len <= TASK_METADATA_MAX;
    *order = *blank;
    task->type = job->jobtype;
    task->queue = job->queue;
    task->external_id = job->jid;
    task->payload = job->args;
    task->metadata = custom_fits ? job->custom : STR_NONE;
    task->scheduled_ms = job->at_ms;
    task->max_retries = (int32_t)MAX(job->retry, 0);
    task->origin = write_origin(job, custom_fits, arena);
    if (job->retry == 0) {
        task->tags[task->tags_count++] = STR(JOB_FORGOTTEN_TAG);
    }
    return read_custom(&job->known, arena, task, err) && task_check_order(task, err);
}

/* ---- From a task to a job ---- */

int64_t job_lease_ms(const struct task *task)
{
    int64_t seconds = 0;
    struct str rest = task->origin;
    if (!str_absent(rest) && str_starts(rest, STR(ORIGIN_LEASE))) {
        rest = str_from(rest, sizeof ORIGIN_LEASE - 1);
        for (size_t i = 0; i < rest.len && rest.ptr[i] >= '0' && rest.ptr[i] <= '9'; i++) {
            seconds = MIN(seconds * 10 + (rest.ptr[i] - '0'), FAKTORY_RESERVE_MAX_S);
        }
    }
    seconds = seconds == 0 ? FAKTORY_RESERVE_S : MAX(seconds, FAKTORY_RESERVE_MIN_S);
    return seconds * SECOND_MS;
}

struct str job_id(const struct task *task, struct arena *arena)
{
    char text[TASK_ID_TEXT];
    bool ours = task->external_id.len >= FAKTORY_JID_MIN && !str_absent(task->origin) &&
                str_starts(task->origin, STR(ORIGIN_BEGIN));
    return ours ? task->external_id : arena_str(arena, id_text(task->id, text));
}

bool job_is_forgotten(const struct task *task)
{
    for (size_t i = 0; i < task->tags_count; i++) {
        if (str_is(task->tags[i], JOB_FORGOTTEN_TAG)) {
            return true;
        }
    }
    return false;
}

/* Whatever ended an attempt badly counts as a failure; when it was lost, the reservation is over.
 */
static bool is_failure(const struct task_attempt *attempt)
{
    return attempt->outcome == OUTCOME_FAILED || attempt->outcome == OUTCOME_TIMEOUT ||
           attempt->outcome == OUTCOME_LOST;
}

static bool find_failure(const struct task_detail *detail, int64_t retry,
                         struct faktory_failure *out)
{
    const struct task *task = &detail->task;
    const struct task_attempt *last = NULL;
    for (size_t i = 0; i < detail->attempts_count; i++) {
        const struct task_attempt *attempt = &detail->attempts[i];
        if (is_failure(attempt)) {
            out->failed_at_ms = last == NULL ? attempt->finished_ms : out->failed_at_ms;
            last = attempt;
        }
    }
    if (last == NULL) {
        return false;
    }
    /* The last of a job that is dead used no retry. */
    bool dead = task->state == TASK_FAILED || task->state == TASK_TIMEOUT;
    out->retry_count = MAX(task->retries - !dead, 0);
    out->remaining = MAX(retry - out->retry_count, 0);
    out->next_at_ms = dead ? 0 : task->scheduled_ms;
    bool lost = last->outcome == OUTCOME_LOST;
    out->errtype = lost ? STR("ReservationExpired") : last->error.code;
    out->message = lost ? STR("Faktory job reservation expired") : last->error.message;
    out->backtrace = last->error.detail;
    return true;
}

static struct str payload_json(const struct task *task, struct arena *arena)
{
    if (!task->payload_raw) {
        return task->payload;
    }
    SCOPED(buf_fini) struct buf text = BUF_INIT(SIZE_MAX / 2);
    struct json_writer w = JSON_WRITER(&text);
    json_add_base64(&w, task->payload);
    return arena_str(arena, buf_view(&text));
}

struct str job_write(const struct task *task, const struct task_detail *detail, struct arena *arena)
{
    struct faktory_job said = {.retry = task->max_retries};
    struct faktory_failure failure = {0};
    struct str origin = task->origin;
    if (str_absent(origin) || !str_starts(origin, STR(ORIGIN_BEGIN))) {
        said.retry -= said.retry > 0 ? task->retries : 0; /* what is left of another's */
    } else {
        origin = str_from(origin, sizeof ORIGIN_BEGIN - 1);
        origin.len--; /* the outer brace */
        (void)!faktory_read_origin(origin, arena, &said);
    }
    bool failed = detail != NULL && find_failure(detail, said.retry, &failure);
    const struct faktory_told told = {
        .jid = job_id(task, arena),
        .queue = task->queue,
        .jobtype = task->type,
        .args = payload_json(task, arena),
        .created_at = said.created_at,
        .at = said.at,
        .custom = str_absent(said.custom) ? task->metadata : said.custom,
        .created_ms = task->created_ms,
        .enqueued_ms = task->queued_ms,
        .retry = said.retry,
        .reserve_for = said.reserve_for > 0 ? said.reserve_for : FAKTORY_RESERVE_S,
        .backtrace = said.backtrace,
        .failure = failed ? &failure : NULL,
    };
    SCOPED(buf_fini) struct buf text = BUF_INIT(SIZE_MAX / 2);
    faktory_write_job(&text, &told);
    return arena_str(arena, buf_view(&text));
}
