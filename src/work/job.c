/* work/job.c: one attempt inside this server, and the desk that speaks for it. See job.h.
 *
 * The end of an attempt is told until the engine has taken it. When the engine had given the
 * attempt up before (a run function that did not stop in time), or may have, COMMAND_RETURNED
 * follows: only then is the document given on. It follows the answer to the end and never travels
 * beside it, because the giving up may be decided in that very batch.
 *
 * Keeps: G2 (each report carries the lease), G3 (the end is told after the work has stopped).
 *
 * SPDX-License-Identifier: MIT */
#include "work/job.h"

#include <assert.h>
#include <math.h>

#include "base/log.h"
#include "base/mem.h"
#include "work/loop.h"
#include "work/text.h"

void desk_init(struct desk *desk, struct engine *engine, struct channel *answers)
{
    *desk = (struct desk){.engine = engine, .answers = answers};
    list_init(&desk->running);
    list_init(&desk->ending);
    list_init(&desk->out);
}

void desk_put(struct desk *desk, struct command *command)
{
    assert(command_is_from(command, BY_WORKER));
    command->reply_to = desk->answers;
    list_append(&desk->out, &command->link);
}

void desk_send(struct desk *desk)
{
    if (!list_empty(&desk->out)) {
        engine_give(desk->engine, &desk->out);
    }
}

bool desk_idle(const struct desk *desk)
{
    return list_empty(&desk->running) && list_empty(&desk->ending) && list_empty(&desk->out);
}

/* ---- A job's life ---- */

static struct desk *desk_of(const struct job *job)
{
    return &job->claimer->work->desk;
}

void job_start(struct claimer *claimer, const struct task *task)
{
    struct workforce *work = claimer->work;
    struct job *job = mem_new(struct job);
    job->claimer = claimer;
    job->by = claimer->by;
    job->claimed = task;
    job->task = task_copy(&job->arena, task);
    job->lease = (struct task_lease){task->attempt, task->token};
    job->percent = -1;
    job->message = BUF_INIT(TASK_REASON_MAX);
    job->log = BUF_INIT(TASK_LOG_MAX);
    job->reported_ms = workforce_now_ms(work) - JOB_REPORT_MS;
    list_append(&work->desk.running, &job->link);
    claimer->held++;
    if (work->quiet) {
        job_finish(job, &(struct job_end){.released = true});
    } else {
        job->by->start(job);
    }
}

static void job_free(struct job *job)
{
    list_remove(&job->link);
    buf_fini(&job->message);
    buf_fini(&job->log);
    arena_fini(&job->beat_arena);
    arena_fini(&job->arena);
    mem_free(job);
}

struct job *job_find(const struct desk *desk, struct task_id id, int32_t attempt)
{
    LIST_EACH(&desk->running, it)
    {
        struct job *job = HOLDER(it, struct job, link);
        if (id_eq(job->task.id, id) && job->lease.attempt == attempt) {
            return job;
        }
    }
    return NULL;
}

enum job_told told_of(enum abort_why why)
{
    static const enum job_told told[] = {
        [ABORT_CANCEL] = TOLD_CANCEL, [ABORT_TIMEOUT] = TOLD_TIMEOUT, [ABORT_LOST] = TOLD_RELEASE};
    return told[why];
}

void job_abort(struct job *job, enum job_told why)
{
    if (job->told == TOLD_NOTHING) {
        job->told_ms = workforce_now_ms(job->claimer->work);
    }
    if (job->told == TOLD_NOTHING || why == TOLD_TIMEOUT) {
        job->told = why;
    }
    job->by->abort(job);
}

void job_kill(struct job *job)
{
    if (job->by->kill != NULL) {
        job->by->kill(job);
    }
}

/* ---- Reports ---- */

void job_progress(struct job *job, double percent, struct str message)
{
    struct arena arena = ARENA_INIT;
    if (isnan(percent)) {
        return;
    }
    job->percent = MIN(MAX(percent, 0), 100);
    buf_clear(&job->message);
    buf_str(&job->message, text_clean(&arena, message, TASK_REASON_MAX));
    arena_fini(&arena);
}

void job_log(struct job *job, struct str text)
{
    if (str_ends(text, STR("\n"))) {
        text.len--;
    }
    while (!str_absent(text)) {
        SCOPED(arena_fini) struct arena arena = ARENA_INIT;
        struct str clean = text_clean(&arena, str_cut(&text, '\n'), TASK_LOG_LINE_MAX);
        text_make_room(&job->log, clean.len + 1);
        buf_str(&job->log, clean);
        buf_char(&job->log, '\n');
    }
}

static bool has_reports(const struct job *job)
{
    return job->percent >= 0 || job->log.len > 0;
}

static struct str take(struct buf *from, struct arena *arena)
{
    struct str text = from->len == 0 ? STR_NONE : arena_str(arena, buf_view(from));
    buf_clear(from);
    return text;
}

static void send_beat(struct job *job, struct command *beat, struct arena *arena)
{
    *beat = (struct command){.kind = COMMAND_HEARTBEAT,
                             .arena = arena,
                             .sender = job,
                             .heartbeat = {.id = job->task.id,
                                           .lease = job->lease,
                                           .extend_ms = -1,
                                           .progress = job->percent,
                                           .message = take(&job->message, arena),
                                           .log = take(&job->log, arena)}};
    job->percent = -1;
    job->under_way++;
    desk_put(desk_of(job), beat);
}

/* ---- The end ---- */

enum task_outcome job_judge(enum job_told told, const struct job_end *end)
{
    if (told == TOLD_TIMEOUT) {
        return OUTCOME_TIMEOUT;
    }
    if (end->completed) {
        return OUTCOME_COMPLETED;
    }
    if (told == TOLD_CANCEL) {
        return OUTCOME_CANCELLED;
    }
    return end->released || told == TOLD_RELEASE ? OUTCOME_RELEASED : OUTCOME_FAILED;
}

static struct task_error clean_error(struct job *job, const struct task_error *error)
{
    struct task_error clean = {.code = text_clean(&job->arena, error->code, TASK_TYPE_MAX),
                               .message =
                                   text_clean(&job->arena, error->message, TASK_LOG_LINE_MAX)};
    if (error->detail.len <= JOB_DETAIL_MAX) {
        clean.detail = arena_str(&job->arena, error->detail);
    }
    return clean;
}

static void fill_finish(struct job *job, const struct job_end *end)
{
    struct finish *finish = &job->finish;
    *finish = (struct finish){.id = job->task.id,
                              .lease = job->lease,
                              .outcome = job_judge(job->told, end),
                              .retry = end->retry,
                              .cost = end->costs ? end->cost : TASK_COST_NONE};
    if (finish->outcome == OUTCOME_COMPLETED) {
        finish->result = arena_str(&job->arena, end->result);
    } else if (finish->outcome == OUTCOME_FAILED) {
        finish->error = clean_error(job, &end->error);
        finish->retry_after_ms = end->retry_after_ms;
    } else if (finish->outcome == OUTCOME_RELEASED && end->released) {
        finish->delay_ms = end->delay_ms;
    }
}

static void send_end(struct job *job)
{
    job->again_ms = 0;
    job->under_way++;
    job->end = (struct command){.kind = COMMAND_FINISH,
                                .arena = &job->arena,
                                .sender = job,
                                .finish = {.items = &job->finish, .count = 1}};
    desk_put(desk_of(job), &job->end);
}

static void report(struct job *job, const struct job_end *end)
{
    static const struct job_end too_large = {
        .retry = true,
        .error = {.code = {"result_too_large", 16}, .message = {"the result is over 1 MiB", 24}}};
    bool fits = !end->completed || end->result.len <= TASK_RESULT_MAX;
    job->ended = true;
    list_remove(&job->link);
    list_append(&desk_of(job)->ending, &job->link);
    fill_finish(job, fits ? end : &too_large);
    if (has_reports(job) && !job->lost) {
        send_beat(job, &job->last_beat, &job->arena);
    }
    send_end(job);
}

void job_finish(struct job *job, const struct job_end *end)
{
    report(job, end);
    claimer_let_go(job->claimer);
}

void job_put_off(struct job *job, const char *what)
{
    struct workforce *work = job->claimer->work;
    if (!work->is_short) {
        log_error("tasks of type " STR_FMT " cannot be started here: %s; they are given back",
                  STR_ARG(job->task.type), what);
    }
    work->is_short = true;
    claimer_pause(job->claimer, CLAIM_SHORT_MS);
    job_finish(job, &(struct job_end){.released = true, .delay_ms = CLAIM_SHORT_MS});
}

void job_leave_behind(struct job *job, bool given_up)
{
    if (!given_up && !job->lost) {
        report(job, &(struct job_end){.released = true});
        return;
    }
    job->ended = true;
    list_remove(&job->link);
    list_append(&desk_of(job)->ending, &job->link);
    if (job->under_way == 0) {
        job_free(job);
    }
}

/* ---- Answers ---- */

static bool is_lost(enum err_kind kind)
{
    return kind == ERR_LEASE_LOST || kind == ERR_NOT_FOUND;
}

static void on_beat(struct job *job, const struct command *command)
{
    job->beating = job->beating && command != &job->beat;
    if (!is_lost(command->err.kind) || job->lost) {
        return;
    }
    job->lost = true;
    if (!job->ended) {
        job_abort(job, TOLD_RELEASE); /* the engine knows better than we do who holds the task */
    }
}

static void on_end(struct job *job, const struct command *command, int64_t now_ms)
{
    enum err_kind kind =
        command->err.kind != ERR_NONE ? command->err.kind : command->finish.items[0].err.kind;
    if (is_lost(kind) || (kind == ERR_NONE && job->told != TOLD_NOTHING)) {
        job->under_way++;
        job->returned = (struct command){.kind = COMMAND_RETURNED,
                                         .arena = &job->arena,
                                         .sender = job,
                                         .returned = {.id = job->task.id}};
        desk_put(desk_of(job), &job->returned);
    } else if (kind != ERR_NONE && !desk_of(job)->closing) {
        job->again_ms = now_ms + JOB_AGAIN_MS;
    } else if (kind != ERR_NONE) {
        char id[TASK_ID_TEXT];
        log_warn("task %s: its end could not be told: %s", id_text(job->task.id, id).ptr,
                 command->err.text);
    }
}

bool desk_take(struct desk *desk, struct command *answered, int64_t now_ms)
{
    struct job *job = answered->sender;
    (void)desk;
    switch (answered->kind) {
    case COMMAND_HEARTBEAT:
        on_beat(job, answered);
        break;
    case COMMAND_FINISH:
        on_end(job, answered, now_ms);
        break;
    case COMMAND_RETURNED:
        if (answered->err.kind != ERR_NONE && !desk_of(job)->closing) {
            job->again_ms = now_ms + JOB_AGAIN_MS; /* the end again, then this again */
        }
        break;
    default:
        return false;
    }
    job->under_way--;
    if (job->ended && job->under_way == 0 && job->again_ms == 0) {
        job_free(job);
    }
    return true;
}

/* ---- Time ---- */

static int64_t tick_running(struct job *job, int64_t now_ms)
{
    int64_t at_ms = job->reported_ms + JOB_REPORT_MS;
    if (job->beating || job->lost || !has_reports(job)) {
        return -1;
    }
    if (at_ms <= now_ms) {
        job->reported_ms = now_ms;
        job->beating = true;
        arena_clear(&job->beat_arena);
        send_beat(job, &job->beat, &job->beat_arena);
        return -1;
    }
    return at_ms - now_ms;
}

static int64_t tick_ending(struct job *job, int64_t now_ms)
{
    if (job->again_ms == 0) {
        return -1;
    }
    if (job->again_ms <= now_ms) {
        send_end(job);
        return -1;
    }
    return job->again_ms - now_ms;
}

int64_t desk_tick(struct desk *desk, int64_t now_ms)
{
    int64_t next = -1;
    LIST_EACH(&desk->running, it)
    {
        next = job_sooner(next, tick_running(HOLDER(it, struct job, link), now_ms));
    }
    LIST_EACH(&desk->ending, it)
    {
        next = job_sooner(next, tick_ending(HOLDER(it, struct job, link), now_ms));
    }
    desk_send(desk);
    return next;
}

void desk_close(struct desk *desk)
{
    desk->closing = true;
    LIST_EACH(&desk->ending, it)
    {
        struct job *job = HOLDER(it, struct job, link);
        job->again_ms = 0;
        if (job->under_way == 0) {
            job_free(job);
        }
    }
}
