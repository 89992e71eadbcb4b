/* work/run.c: one run of a command: payload in, result out, words on the way. See run.h.
 *
 * The payload lies in a file without a name, so nobody has to write it bit by bit. Standard output
 * is the result, the end of standard error is kept for the error, descriptor 3 takes progress and
 * log lines.
 *
 * Keeps: G3 (a run ends after its processes), G8 (output is bounded).
 *
 * SPDX-License-Identifier: MIT */
#include "work/run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "work/minder.h"
#include "work/said.h"
#include "work/starter.h"
#include "work/text.h"

#define READ_SIZE (16 * KIB) /* taken from a pipe at a time */
#define SETTLE_MS 1000       /* for the rest of its output, once nothing of a command is left */

enum { RUN_STDOUT, RUN_STDERR, RUN_TOLD, RUN_STREAMS };

struct run_stream {
    uv_pipe_t pipe;
    struct run *run;
    int which;
    bool open;
    struct buf text;
};

struct run {
    uv_loop_t *loop;
    const struct run_host *host; /* NULL: it has ended, only handles are left to close */
    void *arg;
    int64_t grace_ms;
    struct arena arena; /* of its end */
    char id[TASK_ID_TEXT];
    char *path;  /* of the program */
    int control; /* to its minder (minder.h) */
    uv_poll_t minder;
    struct run_stream streams[RUN_STREAMS];
    uv_timer_t timer; /* the end of the grace period, then of the patience with its output */
    int handles;
    bool started, ended, asked, too_much;
    int status; /* of waitpid() */
    char scratch[READ_SIZE];
};

/* ---- The end ---- */

static void on_closed(uv_handle_t *handle)
{
    struct run *run = handle->data;
    if (--run->handles > 0) {
        return;
    }
    for (int i = 0; i < RUN_STREAMS; i++) {
        buf_fini(&run->streams[i].text);
    }
    close(run->control);
    arena_fini(&run->arena);
    mem_free(run);
}

static void close_stream(struct run_stream *stream)
{
    if (stream->open) {
        stream->open = false;
        uv_close((uv_handle_t *)&stream->pipe, on_closed);
    }
}

/* Its host is told what came of it; its handles close by and by. */
static void end_run(struct run *run, const struct job_end *end, const char *lacks)
{
    const struct run_host *host = run->host;
    run->host = NULL;
    if (lacks != NULL) {
        host->lacked(run->arg, lacks);
    } else {
        host->ended(run->arg, end);
    }
    for (int i = 0; i < RUN_STREAMS; i++) {
        close_stream(&run->streams[i]);
    }
    uv_close((uv_handle_t *)&run->timer, on_closed);
    uv_close((uv_handle_t *)&run->minder, on_closed);
}

static struct job_end end_of(struct run *run)
{
    struct arena *arena = &run->arena;
    int status = run->status;
    if (run->too_much) {
        return JOB_FAIL("output_too_large",
                        STR("the command wrote more than 1 MiB to its standard output"));
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        struct str result = text_to_json(arena, buf_view(&run->streams[RUN_STDOUT].text));
        return (struct job_end){.completed = true, .result = result};
    }
    const struct said_end said = {.status = WEXITSTATUS(status),
                                  .signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0,
                                  .last_said = buf_view(&run->streams[RUN_STDERR].text)};
    struct job_end end = JOB_FAIL("command_failed", said_message(arena, &said));
    end.error.detail = said_detail(arena, &said);
    end.retry = said.signal != 0 || said.status != SAID_FOR_GOOD;
    return end;
}

static struct job_end end_of_refused(struct arena *arena, const char *path, int failed)
{
    return JOB_FAIL("spawn_failed", arena_printf(arena, "the command cannot be started: %s: %s",
                                                 path, strerror(failed)));
}

static void look(struct run *run)
{
    bool all_read = !run->streams[RUN_STDOUT].open && !run->streams[RUN_STDERR].open &&
                    !run->streams[RUN_TOLD].open;
    if (run->ended && run->host != NULL && all_read) {
        struct job_end end = end_of(run);
        end_run(run, &end, NULL);
    }
}

/* Whoever holds its output was handed it: nothing that the command started is left. */
static void on_settled(uv_timer_t *timer)
{
    struct run *run = timer->data;
    if (run->host != NULL) {
        log_warn("task %s: somebody else holds the output of its command", run->id);
        struct job_end end = end_of(run);
        end_run(run, &end, NULL);
    }
}

/* ---- Its minder ---- */

static void on_ended(struct run *run, const struct minder_word *word)
{
    if (word->said == MINDER_LEFT) {
        log_warn("task %s: what its command left behind cannot be ended", run->id);
    }
    uv_poll_stop(&run->minder);
    run->ended = true;
    run->status = word->value;
    uv_update_time(run->loop);
    uv_timer_start(&run->timer, on_settled, SETTLE_MS, 0);
    look(run);
}

static void on_minder(uv_poll_t *poll, int status, int events)
{
    struct run *run = poll->data;
    struct minder_word word;
    struct job_end refused;
    (void)status;
    (void)events;
    if (!minder_hear(run->control, run->started, &word)) {
        return;
    }
    switch ((enum minder_said)word.said) {
    case MINDER_STARTED:
        run->started = true;
        if (run->host->started != NULL) {
            run->host->started(run->arg);
        }
        break;
    case MINDER_REFUSED:
        refused = end_of_refused(&run->arena, run->path, word.value);
        end_run(run, &refused, NULL);
        break;
    case MINDER_SHORT:
        end_run(run, NULL, strerror(word.value));
        break;
    case MINDER_ENDED:
    case MINDER_LEFT:
        on_ended(run, &word);
        break;
    }
}

/* ---- What it says ---- */

/* One line on descriptor 3. */
static void on_line(void *arg, struct str line)
{
    const struct run *run = arg;
    double percent;
    struct str text;
    switch (said_line(line, &percent, &text)) {
    case SAID_PROGRESS:
        run->host->progress(run->arg, percent, text);
        break;
    case SAID_LOG:
        run->host->log(run->arg, text);
        break;
    case SAID_NOTHING:
        break;
    }
}

static void hear(struct run_stream *stream, struct str more)
{
    struct run *run = stream->run;
    switch (stream->which) {
    case RUN_STDOUT:
        buf_str(&stream->text, more);
        if (stream->text.full && !run->too_much) {
            run->too_much = true;
            minder_signal(run->control, SIGKILL);
        }
        break;
    case RUN_STDERR:
        said_keep(&stream->text, more);
        break;
    default:
        said_lines(&stream->text, more, on_line, run);
    }
}

static void give_room(uv_handle_t *handle, size_t suggested, uv_buf_t *out)
{
    struct run *run = handle->data;
    (void)suggested;
    *out = uv_buf_init(run->scratch, sizeof run->scratch);
}

static void on_read(uv_stream_t *pipe, ssize_t n, const uv_buf_t *buf)
{
    struct run_stream *stream = HOLDER(pipe, struct run_stream, pipe);
    if (n > 0) {
        hear(stream, (struct str){buf->base, (size_t)n});
    } else if (n < 0) {
        close_stream(stream);
        look(stream->run);
    }
}

/* ---- Starting ---- */

static int payload_file(struct str payload)
{
    int fd = memfd_create("payload", MFD_CLOEXEC);
    while (fd >= 0 && payload.len > 0) {
        ssize_t n = write(fd, payload.ptr, payload.len);
        if (n < 0) {
            close(fd);
            return -1;
        }
        payload = str_from(payload, (size_t)n);
    }
    if (fd >= 0) {
        lseek(fd, 0, SEEK_SET);
    }
    return fd;
}

struct ends {
    int child[SPAWN_FDS], ours[SPAWN_FDS];
};

static void close_fds(int fds[SPAWN_FDS])
{
    for (int i = 0; i < SPAWN_FDS; i++) {
        if (fds[i] >= 0) {
            close(fds[i]);
            fds[i] = -1;
        }
    }
}

static bool open_ends(struct ends *ends, struct str payload)
{
    ends->child[0] = payload_file(payload);
    bool ok = ends->child[0] >= 0 && spawn_lift(&ends->child[0]);
    for (int i = 1; ok && i < SPAWN_FDS; i++) {
        int pair[2];
        ok = pipe2(pair, O_CLOEXEC) == 0;
        if (ok) {
            ends->ours[i] = pair[0];
            ends->child[i] = pair[1];
            ok = spawn_lift(&ends->child[i]);
        }
    }
    return ok;
}

char **run_env(struct arena *arena, const struct run_task *task, char *const *given,
               size_t given_count)
{
    char **env = arena_array(arena, char *, given_count + 6);
    const struct {
        const char *name;
        struct str value;
    } own[] = {
        {"ERRAND_TASK_ID", str_of(task->id)},
        {"ERRAND_TASK_TYPE", task->type},
        {"ERRAND_DOCUMENT_ID", str_absent(task->document) ? STR("") : task->document},
        {"ERRAND_ATTEMPT", arena_printf(arena, "%d", task->attempt)},
        {"TRACEPARENT", task->traceparent},
    };
    size_t n = 0;
    for (size_t i = 0; i < ARRAY_LEN(own); i++) {
        if (!str_absent(own[i].value)) {
            env[n++] =
                (char *)arena_printf(arena, "%s=" STR_FMT, own[i].name, STR_ARG(own[i].value)).ptr;
        }
    }
    for (size_t i = 0; i < given_count; i++) {
        env[n++] = given[i];
    }
    return env;
}

static void open_stream(struct run *run, int which, int fd, size_t most)
{
    struct run_stream *stream = &run->streams[which];
    stream->run = run;
    stream->which = which;
    stream->text = BUF_INIT(most);
    uv_pipe_init(run->loop, &stream->pipe, 0);
    stream->pipe.data = run;
    stream->open = true;
    run->handles++;
    uv_pipe_open(&stream->pipe, fd);
    uv_read_start((uv_stream_t *)&stream->pipe, give_room, on_read);
}

static struct run *run_new(const struct run_options *options, int control, const int fds[SPAWN_FDS])
{
    struct run *run = mem_new(struct run);
    run->loop = options->loop;
    run->host = options->host;
    run->arg = options->arg;
    run->grace_ms = options->grace_ms;
    run->control = control;
    run->path = arena_c_text(&run->arena, str_of(options->program.path));
    snprintf(run->id, sizeof run->id, "%s", options->id);
    uv_timer_init(run->loop, &run->timer);
    uv_poll_init(run->loop, &run->minder, control);
    run->timer.data = run->minder.data = run;
    run->handles = 2;
    uv_poll_start(&run->minder, UV_READABLE, on_minder);
    open_stream(run, RUN_STDOUT, fds[1], TASK_RESULT_MAX);
    open_stream(run, RUN_STDERR, fds[2], SAID_STDERR_MAX);
    open_stream(run, RUN_TOLD, fds[3], SAID_LINE_MAX);
    return run;
}

/* What is too long to be started at all is refused by everybody; anything else may be to be had in
 * a moment. */
static void tell_unstarted(const struct run_options *options, int failed)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    if (failed == E2BIG) {
        struct job_end end = end_of_refused(&arena, options->program.path, failed);
        options->host->ended(options->arg, &end);
    } else {
        options->host->lacked(options->arg, strerror(failed));
    }
}

struct run *run_start(const struct run_options *options)
{
    struct ends ends = {{-1, -1, -1, -1}, {-1, -1, -1, -1}};
    struct spawn program = options->program;
    int control;
    bool asked = open_ends(&ends, options->payload);
    if (asked) {
        memcpy(program.fds, ends.child, sizeof program.fds);
        asked = starter_spawn(options->starter, &program, &control);
    }
    int failed = errno;
    close_fds(ends.child);
    if (asked) {
        return run_new(options, control, ends.ours);
    }
    close_fds(ends.ours);
    tell_unstarted(options, failed);
    return NULL;
}

/* ---- Stopping ---- */

void run_kill(struct run *run)
{
    minder_signal(run->control, SIGKILL);
}

static void on_grace_ended(uv_timer_t *timer)
{
    run_kill(timer->data);
}

void run_abort(struct run *run)
{
    if (run->ended) {
        return;
    }
    minder_signal(run->control, SIGTERM);
    if (!run->asked) {
        run->asked = true;
        uv_update_time(run->loop);
        uv_timer_start(&run->timer, on_grace_ended, (uint64_t)run->grace_ms, 0);
    }
}
