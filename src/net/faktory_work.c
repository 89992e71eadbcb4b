/* net/faktory_work.c: what Faktory workers say: FETCH, ACK, FAIL, BEAT, TRACK.
 *
 * The protocol has no lease in its messages: an ACK names the job alone. What a worker fetched here
 * is remembered with its lease, so its end is fenced like any other; what is not at hand (another
 * node gave it out, or this one was started anew) is looked up. Whoever had an earlier attempt of a
 * job that another worker holds now is too late, and is told so.
 *
 * Thread: net loop. Keeps: G2.
 *
 * SPDX-License-Identifier: MIT */
#include "net/faktory_parts.h"
#include "net/on.h"
#include "wire/time.h"

/* ---- FETCH ---- */

/* A job must not be reserved for nobody. */
static void give_job(struct faktory_op *op, const struct task *task,
                     const struct task_detail *detail)
{
    struct faktory *faktory = op->faktory;
    if (op->session == NULL) {
        claims_release(faktory->options.api, task, 1);
        op_null(op);
        return;
    }
    struct str job = job_write(task, detail, &op->arena);
    lease_keep(faktory, op->session->worker, job_id(task, &op->arena), task);
    op_bulk(op, job);
}

static void history_back(struct faktory_op *op)
{
    const struct query *history = op->own;
    bool known = history->err.kind == ERR_NONE && history->found;
    give_job(op, &op->command.claim.tasks[0], known ? &history->detail : NULL);
}

static void rest_over(struct faktory_op *op)
{
    list_remove(&op->resting);
    op_null(op);
}

static void on_rest(uv_timer_t *timer)
{
    struct faktory *faktory = timer->data;
    uint64_t now_ms = uv_now(faktory->loop);
    for (struct link *first; (first = list_first(&faktory->resting)) != NULL;) {
        struct faktory_op *op = HOLDER(first, struct faktory_op, resting);
        if (op->rest_until_ms > now_ms) {
            uv_timer_start(timer, on_rest, op->rest_until_ms - now_ms, 0);
            return;
        }
        rest_over(op);
    }
}

/* A worker that is to be quiet would ask again at once: it is told "nothing" as late as if it had
 * waited. */
static void rest(struct faktory_op *op)
{
    struct faktory *faktory = op->faktory;
    op->rest_until_ms = uv_now(faktory->loop) + FAKTORY_FETCH_MS;
    list_append(&faktory->resting, &op->resting);
    if (!uv_is_active((uv_handle_t *)&faktory->rest_timer)) {
        uv_timer_start(&faktory->rest_timer, on_rest, FAKTORY_FETCH_MS, 0);
    }
}

void fetch_stop(struct faktory_op *op)
{
    if (op->line.verb != FAKTORY_FETCH) {
        return;
    }
    if (link_in_list(&op->resting)) {
        rest_over(op);
    } else if (op->command.kind == COMMAND_CLAIM && op->pending > 0 && op->own == NULL) {
        struct command *stop = api_command(op->faktory->options.api, COMMAND_CLAIM_STOP);
        stop->claim_stop.serial = op->command.claim.serial;
    }
}

static void fetched(struct faktory_op *op)
{
    const struct command_claim *claim = &op->command.claim;
    struct faktory_session *session = op->session;
    bool may_rest = session != NULL && !session->half && !connection_ending(session->connection);
    if (op->failure.kind == ERR_UNAVAILABLE) {
        op->hangs_up = session != NULL && connection_ending(session->connection);
        op_error(op, "ERR", op->hangs_up ? STR("shutdown in progress") : str_of(op->failure.text));
    } else if (op->failure.kind != ERR_NONE) {
        op_fail(op, &op->failure);
    } else if (claim->count == 0 && claim->signal != SIGNAL_NONE && may_rest) {
        rest(op);
    } else if (claim->count == 0) {
        op_null(op);
    } else if (claim->tasks[0].attempt > 1 && session != NULL) {
        struct query *history = op_query(op, QUERY_DETAIL);
        history->id = claim->tasks[0].id;
        op->own = history;
        op->back = history_back;
        op_ask(op, history);
    } else {
        give_job(op, &claim->tasks[0], NULL);
    }
}

/* Names that are no queue of anybody's hold nothing; those of the server itself are not given out.
 */
static size_t choose_queues(struct str *names, size_t count)
{
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        if (task_queue_name_ok(names[i]) && !queue_is_own(names[i])) {
            names[n++] = names[i];
        }
    }
    return n;
}

void op_fetch(struct faktory_op *op)
{
    struct api *api = op->faktory->options.api;
    struct str *queues = arena_array(&op->arena, struct str, FAKTORY_QUEUES_MAX);
    size_t count = faktory_words(op->line.rest, queues, FAKTORY_QUEUES_MAX);
    if (count == 0) {
        op_error(op, "ERR", STR("must call fetch with at least one queue"));
        return;
    }
    count = choose_queues(queues, count);
    if (count == 0) {
        rest(op);
        return;
    }
    op->command = (struct command){.kind = COMMAND_CLAIM};
    op->command.claim = (struct command_claim){.worker = op->session->worker->name,
                                               .queues = queues,
                                               .queues_count = count,
                                               .in_order = true,
                                               .max = 1,
                                               .lease_of = job_lease_ms,
                                               .wait = !op->session->half,
                                               .wait_ms = FAKTORY_FETCH_MS,
                                               .serial = ++api->claims};
    op->command.claim.worker = arena_str(&op->arena, op->session->worker->name);
    op->back = fetched;
    op_give(op, &op->command);
}

/* ---- ACK and FAIL ---- */

struct ending {
    struct str jid;
    bool acks;
    struct finish finish;
    struct query *found, *detail;
    struct str wid; /* who says it; absent: nobody known */
};

static void not_reserved(struct faktory_op *op, const struct ending *ending)
{
    if (ending->acks) {
        op_ok(op); /* as for a job that nobody knows: nothing is left to be done */
    } else {
        op_error(op, "ERR",
                 arena_printf(&op->arena, "Job not found " STR_FMT, STR_ARG(ending->jid)));
    }
}

static void too_late(struct faktory_op *op, const struct ending *ending)
{
    op_error(op, "ERR",
             ending->acks
                 ? arena_printf(&op->arena,
                                "Job " STR_FMT " is no longer reserved by this worker: ACK ignored",
                                STR_ARG(ending->jid))
                 : arena_printf(&op->arena, "Job not found " STR_FMT, STR_ARG(ending->jid)));
}

static void ended(struct faktory_op *op)
{
    struct ending *ending = op->own;
    const struct err *err = op->failure.kind != ERR_NONE ? &op->failure : &ending->finish.err;
    if (err->kind == ERR_NONE) { /* a lost one is kept: who says it again is as late */
        leases_end(op->faktory, ending->jid, ending->finish.id, ending->finish.lease);
    }
    if (err->kind == ERR_LEASE_LOST) {
        too_late(op, ending);
    } else if (err->kind == ERR_NOT_FOUND) {
        not_reserved(op, ending);
    } else if (err->kind != ERR_NONE) {
        op_fail(op, err);
    } else {
        op_ok(op);
    }
}

static void finish(struct faktory_op *op, struct task_id id, struct task_lease lease)
{
    struct ending *ending = op->own;
    ending->finish.id = id;
    ending->finish.lease = lease;
    op->command = (struct command){.kind = COMMAND_FINISH, .finish = {&ending->finish, 1}};
    op->back = ended;
    op_give(op, &op->command);
}

/* Had this worker an attempt of the job before the one that runs? */
static bool had_earlier(const struct task_detail *detail, struct str wid)
{
    for (size_t i = 0; i + 1 < detail->attempts_count; i++) {
        if (str_eq(detail->attempts[i].worker, wid)) {
            return true;
        }
    }
    return false;
}

static void finish_found(struct faktory_op *op, const struct task *task)
{
    finish(op, task->id, (struct task_lease){task->attempt, task->token});
}

static void looked_closer(struct faktory_op *op)
{
    const struct ending *ending = op->own;
    const struct task *task = &ending->detail->detail.task;
    if (op->failure.kind != ERR_NONE) {
        op_fail(op, &op->failure);
    } else if (!ending->detail->found || task->state != TASK_RUNNING) {
        not_reserved(op, ending);
    } else if (had_earlier(&ending->detail->detail, ending->wid)) {
        too_late(op, ending);
    } else {
        finish_found(op, task);
    }
}

static void looked_up(struct faktory_op *op)
{
    struct ending *ending = op->own;
    const struct task *task = NULL;
    if (op->failure.kind != ERR_NONE) {
        op_fail(op, &op->failure);
        return;
    }
    if (op_found(ending->found, &task, 1) == 0) {
        not_reserved(op, ending);
    } else if (!str_absent(ending->wid) && !str_eq(task->worker, ending->wid) &&
               task->attempt > 1) {
        ending->detail = op_query(op, QUERY_DETAIL);
        ending->detail->id = task->id;
        op->back = looked_closer;
        op_ask(op, ending->detail);
    } else {
        finish_found(op, task);
    }
}

static void end_job(struct faktory_op *op, struct ending *ending)
{
    struct faktory *faktory = op->faktory;
    const struct faktory_worker *worker = op->session->worker;
    const struct faktory_lease *lease = lease_find(faktory, worker, ending->jid);
    ending->wid = worker->named ? arena_str(&op->arena, worker->name) : STR_NONE;
    op->own = ending;
    /* Whether somebody else's later attempt may be ended by this worker must be looked up. */
    if (lease != NULL && (lease->worker == worker || !worker->named || lease->lease.attempt == 1)) {
        finish(op, lease->id, lease->lease);
        return;
    }
    ending->found = op_find(op, ending->jid, 1u << TASK_RUNNING, 1);
    op->back = looked_up;
}

void op_ack(struct faktory_op *op)
{
    struct err err = ERR_INIT;
    struct ending *ending = arena_new(&op->arena, struct ending);
    ending->acks = true;
    ending->finish = (struct finish){.outcome = OUTCOME_COMPLETED, .cost = TASK_COST_NONE};
    if (!faktory_read_ack(op->line.rest, &op->arena, &ending->jid, &err)) {
        op_fail(op, &err);
        return;
    }
    end_job(op, ending);
}

void op_fail_job(struct faktory_op *op)
{
    struct err err = ERR_INIT;
    struct faktory_fail fail;
    struct ending *ending = arena_new(&op->arena, struct ending);
    if (!faktory_read_fail(op->line.rest, ERROR_DETAIL, &op->arena, &fail, &err)) {
        op_fail(op, &err);
        return;
    }
    ending->jid = fail.jid;
    ending->finish = (struct finish){.outcome = OUTCOME_FAILED,
                                     .retry = true,
                                     .error = {fail.errtype, fail.message, fail.backtrace},
                                     .cost = TASK_COST_NONE};
    end_job(op, ending);
}

/* ---- BEAT ---- */

static void beaten(struct faktory_op *op)
{
    static const char *const states[WORKER_SIGNALS] = {"", "{\"state\":\"quiet\"}",
                                                       "{\"state\":\"terminate\"}"};
    if (op->failure.kind != ERR_NONE) {
        op_fail(op, &op->failure);
    } else if (op->command.beat.signal == SIGNAL_NONE) {
        op_ok(op);
    } else {
        op_bulk(op, str_of(states[op->command.beat.signal]));
    }
}

void op_beat(struct faktory_op *op)
{
    struct err err = ERR_INIT;
    struct faktory_beat beat;
    if (!faktory_read_beat(op->line.rest, &op->arena, &beat, &err)) {
        op_fail(op, &err);
        return;
    }
    struct faktory_worker *worker = worker_of_wid(op->faktory, beat.wid);
    if (worker == NULL) {
        beat.wid.len = MIN(beat.wid.len, (size_t)FAKTORY_ECHO_MAX);
        op_error(op, "ERR", arena_printf(&op->arena, "unknown worker " STR_FMT, STR_ARG(beat.wid)));
        return;
    }
    worker->beat_ms = uv_now(op->faktory->loop);
    op->command = (struct command){.kind = COMMAND_BEAT};
    op->command.beat =
        (struct command_beat){.worker = beat.wid,
                              .signal = str_is(beat.current_state, "terminate") ? SIGNAL_STOP
                                        : str_is(beat.current_state, "quiet")   ? SIGNAL_QUIET
                                                                                : SIGNAL_NONE};
    op->back = beaten;
    op_give(op, &op->command);
}

/* ---- TRACK ---- */

struct tracking {
    struct faktory_track said;
    struct query *found;
};

static const char *track_state(const struct task *task)
{
    static const char *const states[TASK_STATES] = {
        [TASK_SCHEDULED] = "enqueued", [TASK_WAITING] = "enqueued",  [TASK_QUEUED] = "enqueued",
        [TASK_RUNNING] = "working",    [TASK_RETRYING] = "failed",   [TASK_COMPLETED] = "success",
        [TASK_FAILED] = "dead",        [TASK_CANCELLED] = "unknown", [TASK_TIMEOUT] = "dead",
    };
    return task->state == TASK_FAILED && job_is_forgotten(task) ? "failed" : states[task->state];
}

static void tracked(struct faktory_op *op)
{
    const struct tracking *tracking = op->own;
    const struct task *task = NULL;
    SCOPED(buf_fini) struct buf text = BUF_INIT(64 * KIB);
    struct json_writer w = JSON_WRITER(&text);
    if (op->failure.kind != ERR_NONE) {
        op_fail(op, &op->failure);
        return;
    }
    bool known = op_found(tracking->found, &task, 1) > 0;
    json_open_object(&w);
    json_put_str(&w, "jid", tracking->said.jid);
    json_put_c(&w, "state", known ? track_state(task) : "unknown");
    if (known) {
        json_put_time(&w, "updated_at", task->updated_ms);
    } else {
        json_put_c(&w, "updated_at", "");
    }
    json_put_i64(&w, "percent", known && task->progress > 0 ? (int64_t)task->progress : 0);
    json_put_str(&w, "desc",
                 known && !str_absent(task->progress_message) ? task->progress_message : STR(""));
    json_close_object(&w);
    op_bulk(op, buf_view(&text));
}

/* A reservation that ended meanwhile is no mistake of the one who reports. */
static void track_set(struct faktory_op *op)
{
    bool wrong = op->failure.kind != ERR_NONE && op->failure.kind != ERR_LEASE_LOST;
    if (wrong) {
        op_fail(op, &op->failure);
    } else {
        op_ok(op);
    }
}

static void track_found(struct faktory_op *op)
{
    const struct tracking *tracking = op->own;
    const struct faktory_track *said = &tracking->said;
    const struct task *task = NULL;
    struct err err = ERR_INIT;
    int64_t until_ms = 0;
    if (op->failure.kind != ERR_NONE) {
        op_fail(op, &op->failure);
    } else if (op_found(tracking->found, &task, 1) == 0) {
        op_error(op, "ERR", arena_printf(&op->arena, "Job not found " STR_FMT, STR_ARG(said->jid)));
    } else if (said->reserve_until.len > 0 && !time_parse(said->reserve_until, &until_ms, &err)) {
        op_error(op, "ERR", STR("invalid timestamp for 'reserve_until'"));
    } else if (task->state != TASK_RUNNING) {
        op_ok(op);
    } else { /* it only ever lengthens */
        int64_t now_ms = clock_now(op->faktory->options.api->options.clock).wall_ms;
        op->command = (struct command){.kind = COMMAND_HEARTBEAT};
        op->command.heartbeat = (struct command_heartbeat){
            .id = task->id,
            .lease = {task->attempt, task->token},
            .extend_ms = MAX(MAX(until_ms, task->lease_until_ms) - now_ms, 0),
            .progress = said->percent >= 0 ? (double)said->percent : -1,
            .message = {said->desc.ptr, MIN(said->desc.len, (size_t)TASK_REASON_MAX)}};
        op->back = track_set;
        op_give(op, &op->command);
    }
}

void op_track(struct faktory_op *op)
{
    struct str rest = op->line.rest, word = str_cut(&rest, ' ');
    struct tracking *tracking = arena_new(&op->arena, struct tracking);
    struct err err = ERR_INIT;
    bool gets = str_eq_nocase(word, STR("GET")), sets = str_eq_nocase(word, STR("SET"));
    rest = str_absent(rest) ? STR("") : str_trim(rest);
    if (!gets && !sets) {
        op_error(op, "ERR", STR("TRACK takes GET jid or SET {\"jid\",…}"));
        return;
    }
    tracking->said.jid = rest;
    if (sets && !faktory_read_track(rest, &op->arena, &tracking->said, &err)) {
        op_fail(op, &err);
        return;
    }
    if (rest.len == 0) {
        op_error(op, "ERR", STR("missing JID"));
        return;
    }
    op->own = tracking;
    op->back = gets ? tracked : track_found;
    tracking->found = op_find(op, tracking->said.jid, 0, 1);
}
