/* work/push.c: the thread that pushes.
 *
 * It sleeps in push_poll.c, which wakes it for curl's sockets, for an answer of the engine, a note
 * of another thread, or when something is due. Each round it takes what came, lets curl work, and
 * sends what is on the desk: the ends of attempts and the claim for the next ones go together.
 *
 * Thread: push_*() of push.h are for any; the rest is its own.
 *
 * SPDX-License-Identifier: MIT */
#include "work/push.h"

#include <signal.h>

#include "base/log.h"
#include "base/mem.h"
#include "work/push_parts.h"

#define IDLE_MIN 100 /* so many connections may stay open for the next request, at least */

enum note_kind { NOTE_ABORT, NOTE_QUIET, NOTE_STOP };

struct note {
    struct link link;
    enum note_kind kind;
    struct task_id id; /* ABORT */
    int32_t attempt;
    enum abort_why why;
};

/* ---- Notes ---- */

static void give_note(struct push *push, struct note note)
{
    struct note *copy = mem_new(struct note);
    *copy = note;
    channel_give(&push->notes, &copy->link);
}

void push_abort(struct push *push, struct task_id id, int32_t attempt, enum abort_why why)
{
    give_note(push, (struct note){.kind = NOTE_ABORT, .id = id, .attempt = attempt, .why = why});
}

void push_quiet(struct push *push)
{
    give_note(push, (struct note){.kind = NOTE_QUIET});
}

static void on_abort(struct push *push, const struct note *note)
{
    struct job *job = job_find(&push->desk, note->id, note->attempt);
    if (job != NULL) {
        job_tell(job, told_of(note->why));
        push_request_close(job);
    }
}

static void on_quiet(struct push *push, int64_t give_back_ms)
{
    push->give_back_ms = push->quiet ? MIN(push->give_back_ms, give_back_ms) : give_back_ms;
    push->quiet = true;
}

static void on_note(struct push *push, struct note *note)
{
    switch (note->kind) {
    case NOTE_ABORT:
        on_abort(push, note);
        break;
    case NOTE_QUIET:
        on_quiet(push, push->now_ms + push->grace_ms);
        break;
    case NOTE_STOP:
        push->stopping = true;
        on_quiet(push, push->now_ms);
        break;
    }
    mem_free(note);
}

/* ---- What came ---- */

static void on_answer(struct push *push, struct command *command)
{
    if (desk_take(&push->desk, command, push->now_ms)) {
        return;
    }
    if (command->kind == COMMAND_CLAIM) {
        push_claim_answered(push, command);
    } else {
        push->stop.sender = NULL;
    }
}

/* The notes are taken before the answers and read after them: an abort follows the claim that
 * started its attempt. */
static void take_messages(struct push *push)
{
    struct list notes, answers;
    list_init(&notes);
    list_init(&answers);
    channel_take(&push->notes, &notes);
    channel_take(&push->answers, &answers);
    LIST_EACH(&answers, it)
    {
        list_remove(it);
        on_answer(push, HOLDER(it, struct command, link));
    }
    LIST_EACH(&notes, it)
    {
        list_remove(it);
        on_note(push, HOLDER(it, struct note, link));
    }
}

static void let_curl_work(struct push *push)
{
    int left;
    CURLMsg *message;
    push_poll_tick(push);
    while ((message = curl_multi_info_read(push->multi, &left)) != NULL) {
        push_request_done(message->easy_handle, message->data.result);
    }
}

/* ---- Coming to rest ---- */

static bool rests(const struct push *push)
{
    return push->claiming != CLAIM_ASKED && push->stop.sender == NULL && desk_idle(&push->desk);
}

static void come_to_rest(struct push *push)
{
    void (*rested)(void *) = push->rested;
    push->rested = NULL;
    if (rested != NULL) {
        rested(push->rested_arg);
    }
    push->done = push->stopping;
}

/* Quiet: first what is under way may end by itself, then it is closed and given back. */
static int64_t tick_quiet(struct push *push)
{
    if (push->now_ms < push->give_back_ms) {
        return push->give_back_ms - push->now_ms;
    }
    LIST_EACH(&push->desk.running, it)
    {
        struct job *job = HOLDER(it, struct job, link);
        job_tell(job, TOLD_RELEASE);
        push_request_close(job);
    }
    if (push->stopping && !push->desk.closing) {
        desk_close(&push->desk);
    }
    return -1;
}

/* ---- The loop ---- */

static int64_t sooner(int64_t a, int64_t b) /* -1: never */
{
    return a < 0 ? b : b < 0 ? a : MIN(a, b);
}

static int64_t before_sleep(struct push *push)
{
    int64_t next = push->quiet ? tick_quiet(push) : -1;
    push_claim_update(push);
    next = sooner(next, push_claim_tick(push));
    next = sooner(next, desk_tick(&push->desk, push->now_ms));
    if (push->quiet && rests(push)) {
        come_to_rest(push);
    }
    return next;
}

static void *run(void *arg)
{
    struct push *push = arg;
    sigset_t pipe;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE); /* a connection that was closed is told otherwise */
    pthread_sigmask(SIG_BLOCK, &pipe, NULL);
    pthread_setname_np(pthread_self(), "push");
    while (!push->done) {
        take_messages(push);
        let_curl_work(push);
        int64_t next = before_sleep(push);
        if (!push->done) {
            push_poll_sleep(push, next);
        }
    }
    return NULL;
}

/* ---- Life ---- */

static void copy_options(struct push *push, const struct push_options *options)
{
    push->concurrency = options->concurrency;
    push->per_host = MIN(options->per_host, options->concurrency);
    push->allow_private = options->allow_private;
    push->grace_ms = options->grace_ms;
    push->rested = options->rested;
    push->rested_arg = options->rested_arg;
    push->serial = PUSH_SERIALS;
    push->epoll_fd = push->wake_fd = -1;
    push->curl_at_ms = -1;
    push->now_ms = clock_real_mono_us() / 1000;
    push->queues = arena_array(&push->arena, struct str, options->queues_count);
    push->queues_count = options->queues_count;
    for (size_t i = 0; i < options->queues_count; i++) {
        push->queues[i] = arena_str(&push->arena, options->queues[i]);
    }
}

static bool check_limits(const struct push_options *options, struct err *err)
{
    bool good = options->concurrency >= 1 && options->concurrency <= PUSH_CONCURRENCY_MAX &&
                options->per_host >= 1;
    return good || err_set(err, ERR_INVALID, "[push] concurrency is 1 to %d, per_host at least 1",
                           PUSH_CONCURRENCY_MAX);
}

static bool open_curl(struct push *push, struct err *err)
{
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK ||
        (push->multi = curl_multi_init()) == NULL) {
        return err_set(err, ERR_INTERNAL, "libcurl does not start");
    }
    /* Those in use count too: with fewer than may be under way each request would dial anew. */
    curl_multi_setopt(push->multi, CURLMOPT_MAXCONNECTS, (long)MAX(push->concurrency, IDLE_MIN));
    return push_poll_open(push, err);
}

static void fini(struct push *push)
{
    curl_multi_cleanup(push->multi);
    push_poll_close(push);
    arena_fini(&push->claim_arena);
    arena_fini(&push->arena);
    mem_free(push);
}

static void open_channels(struct push *push, struct engine *engine)
{
    channel_init(&push->answers, push_poll_wake, push);
    channel_init(&push->notes, push_poll_wake, push);
    desk_init(&push->desk, engine, &push->answers);
    push->desk.lost = push_request_close;
    rand_init(&push->rand);
}

/* Before the thread starts: whatever is given to the engine afterwards finds the claim there. */
static void claim_first(struct push *push)
{
    push_claim_update(push);
    desk_send(&push->desk);
}

bool push_start(const struct push_options *options, struct push **out, struct err *err)
{
    struct push *push = mem_new(struct push);
    copy_options(push, options);
    if (!check_limits(options, err) || !push_targets_read(push, options, err) ||
        !open_curl(push, err)) {
        fini(push);
        return false;
    }
    open_channels(push, options->engine);
    claim_first(push);
    int failed = pthread_create(&push->thread, NULL, run, push);
    if (failed != 0) { /* nothing else works then: the engine still has the claim */
        return err_set(err, ERR_INTERNAL, "start the pushes' thread: %s", strerror(failed));
    }
    *out = push;
    return true;
}

void push_stop(struct push *push)
{
    if (push == NULL) {
        return;
    }
    give_note(push, (struct note){.kind = NOTE_STOP});
    pthread_join(push->thread, NULL);
}

void push_free(struct push *push)
{
    struct list late;
    if (push == NULL) {
        return;
    }
    list_init(&late);
    channel_take(&push->notes, &late);
    LIST_EACH(&late, it)
    {
        mem_free(HOLDER(it, struct note, link));
    }
    channel_fini(&push->answers);
    channel_fini(&push->notes);
    fini(push);
}

size_t push_in_flight(const struct push *push)
{
    return push->under_way;
}

const struct str *push_types(const struct push *push, size_t *count)
{
    *count = push->targets_count;
    return push->types;
}
