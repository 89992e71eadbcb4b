/* cli/work_run.c: one run of a command: payload in, result out, words on the way. See work.h.
 *
 * The payload lies in a file without a name, so nobody has to write it bit by bit. A minder sees to
 * it that nothing of the command is left when the job is finished, or when we are killed: whoever
 * has the document next must not meet it.
 *
 * Thread: main.
 *
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "cli/work.h"
#include "work/minder.h"
#include "work/text.h"

#define RESULT_MAX MIB
#define ERROR_MAX  (16 * KIB)
#define TASK_ENV   4 /* ERRAND_TASK_ID and its like */

/* ---- The end ---- */

static void on_closed(uv_handle_t *handle)
{
    struct work_run *run = handle->data;
    if (--run->handles > 0) {
        return;
    }
    for (int i = 0; i < WORK_STREAMS; i++) {
        buf_fini(&run->streams[i].text);
    }
    if (run->control >= 0) {
        close(run->control);
    }
    mem_free(run);
}

static void close_stream(struct work_stream *stream)
{
    if (stream->open) {
        stream->open = false;
        uv_close((uv_handle_t *)&stream->pipe, on_closed);
    }
}

static void fail(struct work_run *run, const char *code, const char *message, const char *detail)
{
    bool retry = run->end.signal != 0 || run->end.status != SAID_FOR_GOOD;
    struct errand_error error;
    log_warn("task %s: %s", errand_job_id(run->job), message);
    if (errand_job_fail(run->job, code, message, detail, retry, &error) != 0) {
        errand_job_fail(run->job, code, message, NULL, retry, NULL); /* the detail is too long */
    }
}

static void complete(struct work_run *run)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct str result = text_to_json(&arena, buf_view(&run->streams[WORK_STDOUT].text));
    struct errand_error error;
    char id[ERRAND_ID_SIZE];
    snprintf(id, sizeof id, "%s", errand_job_id(run->job));
    if (errand_job_complete(run->job, arena_str(&arena, result).ptr, &error) != 0) {
        fail(run, "output_too_large", error.message, NULL);
        return;
    }
    log_info("task %s: done in %dms", id, (int)((clock_real_mono_us() - run->began_us) / 1000));
}

static void finish(struct work_run *run)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    run->end.last_said = buf_view(&run->streams[WORK_STDERR].text);
    if (run->given_back) {
        errand_job_release(run->job, 0);
    } else if (run->too_much) {
        fail(run, "output_too_large", "the command wrote more than 1 MiB to its standard output",
             NULL);
    } else if (run->end.signal == 0 && run->end.status == 0) {
        complete(run);
    } else {
        fail(run, "command_failed", said_message(&arena, &run->end).ptr,
             said_detail(&arena, &run->end).ptr);
    }
}

/* Its job is finished; its handles close by and by. */
static void leave(struct work_run *run)
{
    run->job = NULL;
    list_remove(&run->link);
    for (int i = 0; i < WORK_STREAMS; i++) {
        close_stream(&run->streams[i]);
    }
    uv_close((uv_handle_t *)&run->timer, on_closed);
    if (run->control >= 0) {
        uv_close((uv_handle_t *)&run->minder, on_closed);
    }
    work_rested(run->work);
}

static void end_run(struct work_run *run)
{
    finish(run);
    leave(run);
}

static void look(struct work_run *run)
{
    bool all_read = !run->streams[WORK_STDOUT].open && !run->streams[WORK_STDERR].open &&
                    !run->streams[WORK_TOLD].open;
    if (run->ended && run->job != NULL && all_read) {
        end_run(run);
    }
}

static void on_settled(uv_timer_t *timer)
{
    struct work_run *run = timer->data;
    if (run->job != NULL) {
        log_warn("task %s: somebody else holds the output of its command", errand_job_id(run->job));
        end_run(run);
    }
}

/* It cannot be started: as if it had run and failed. */
static void refuse(struct work_run *run, int failed)
{
    SCOPED(buf_fini) struct buf message = BUF_INIT(ERROR_MAX);
    buf_printf(&message, "%s cannot be started: %s", run->work->argv[0], strerror(failed));
    run->end.status = 127;
    fail(run, "spawn_failed", buf_c_text(&message), NULL);
    leave(run);
}

/* This machine has no room for it: nobody's fault, so no retry is used. */
static void put_off(struct work_run *run, int failed)
{
    log_error("task %s cannot be started here: %s; it is given back", errand_job_id(run->job),
              strerror(failed));
    errand_job_release(run->job, WORK_SHORT_MS);
    leave(run);
}

static void on_ended(struct work_run *run, const struct minder_word *word)
{
    if (word->said == MINDER_LEFT) {
        log_warn("task %s: what its command left behind cannot be ended", errand_job_id(run->job));
    }
    uv_poll_stop(&run->minder);
    run->ended = true;
    run->end.status = WEXITSTATUS(word->value);
    run->end.signal = WIFSIGNALED(word->value) ? WTERMSIG(word->value) : 0;
    uv_timer_start(&run->timer, on_settled, WORK_SETTLE_MS, 0);
    look(run);
}

static void on_minder(uv_poll_t *poll, int status, int events)
{
    struct work_run *run = poll->data;
    struct minder_word word;
    (void)status, (void)events;
    if (!minder_hear(run->control, run->started, &word)) {
        return;
    }
    switch ((enum minder_said)word.said) {
    case MINDER_STARTED:
        run->started = true;
        break;
    case MINDER_REFUSED:
        refuse(run, word.value);
        break;
    case MINDER_SHORT:
        put_off(run, word.value);
        break;
    case MINDER_ENDED:
    case MINDER_LEFT:
        on_ended(run, &word);
        break;
    }
}

/* ---- What it says ---- */

static void hear_line(void *arg, struct str line)
{
    struct work_run *run = arg;
    double percent;
    struct str text;
    enum said_word word = said_line(line, &percent, &text);
    if (word == SAID_NOTHING) {
        return;
    }
    SCOPED(mem_free_at) char *copy = mem_text(text.ptr, text.len);
    if (word == SAID_PROGRESS) {
        errand_job_progress(run->job, percent, copy);
    } else {
        errand_job_log(run->job, copy);
    }
}

static void hear(struct work_stream *stream, struct str more)
{
    struct work_run *run = stream->run;
    if (stream->which == WORK_TOLD) {
        said_lines(&stream->text, more, hear_line, run);
    } else if (stream->which == WORK_STDERR) {
        said_keep(&stream->text, more);
    } else {
        buf_str(&stream->text, more);
    }
    if (stream->which == WORK_STDOUT && stream->text.full && !run->too_much) {
        run->too_much = true;
        minder_signal(run->control, SIGKILL);
    }
}

static void give_room(uv_handle_t *handle, size_t suggested, uv_buf_t *out)
{
    struct work_run *run = handle->data;
    (void)suggested;
    *out = uv_buf_init(run->scratch, sizeof run->scratch);
}

static void on_read(uv_stream_t *pipe, ssize_t n, const uv_buf_t *buf)
{
    struct work_stream *stream = HOLDER(pipe, struct work_stream, pipe);
    if (n > 0) {
        hear(stream, (struct str){buf->base, (size_t)n});
    } else if (n < 0) {
        close_stream(stream);
        look(stream->run);
    }
}

/* ---- Starting ---- */

static int payload_file(const errand_job *job)
{
    size_t len;
    const char *payload = errand_job_payload(job, &len);
    int fd = memfd_create("payload", MFD_CLOEXEC);
    while (fd >= 0 && len > 0) {
        ssize_t n = write(fd, payload, len);
        if (n < 0) {
            close(fd);
            return -1;
        }
        payload += n;
        len -= (size_t)n;
    }
    return fd >= 0 && lseek(fd, 0, SEEK_SET) < 0 ? -1 : fd;
}

static void open_stream(struct work_run *run, int which, int fd, size_t max)
{
    struct work_stream *stream = &run->streams[which];
    stream->run = run;
    stream->which = which;
    stream->text = BUF_INIT(max);
    uv_pipe_init(&run->work->loop, &stream->pipe, 0);
    stream->pipe.data = run;
    stream->open = true;
    run->handles++;
    uv_pipe_open(&stream->pipe, fd);
    uv_read_start((uv_stream_t *)&stream->pipe, give_room, on_read);
}

static char **task_env(const struct work *work, const errand_job *job, struct arena *arena)
{
    const char *document = errand_job_document(job);
    char **env = arena_array(arena, char *, work->env_count + TASK_ENV + 1);
    struct str own[TASK_ENV] = {
        arena_printf(arena, "ERRAND_TASK_ID=%s", errand_job_id(job)),
        arena_printf(arena, "ERRAND_TASK_TYPE=%s", errand_job_type(job)),
        arena_printf(arena, "ERRAND_DOCUMENT_ID=%s", document == NULL ? "" : document),
        arena_printf(arena, "ERRAND_ATTEMPT=%d", errand_job_attempt(job)),
    };
    memcpy(env, work->env, work->env_count * sizeof *env);
    for (size_t i = 0; i < TASK_ENV; i++) {
        env[work->env_count + i] = (char *)own[i].ptr;
    }
    return env;
}

/* The child's ends: 0 the payload, 1 to 3 pipes; `ours` are their other ends. */
static bool open_ends(const errand_job *job, int ours[SPAWN_FDS], int theirs[SPAWN_FDS])
{
    bool ok = (theirs[0] = payload_file(job)) >= 0;
    for (int i = 1; ok && i < SPAWN_FDS; i++) {
        int pair[2];
        ok = pipe2(pair, O_CLOEXEC) == 0;
        if (ok) {
            ours[i] = pair[0];
            theirs[i] = pair[1];
        }
    }
    return ok;
}

static void close_all(int fds[SPAWN_FDS])
{
    for (int i = 0; i < SPAWN_FDS; i++) {
        if (fds[i] >= 0) {
            close(fds[i]);
        }
    }
}

static bool ask_for_process(struct work_run *run, const int fds[SPAWN_FDS])
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct spawn options = {.path = run->work->argv[0],
                            .argv = run->work->argv,
                            .env = task_env(run->work, run->job, &arena),
                            .folder = ".",
                            .may_gain = true};
    memcpy(options.fds, fds, sizeof options.fds);
    return starter_spawn(run->work->starter, &options, &run->control);
}

static struct work_run *run_new(struct work *work, errand_job *job)
{
    struct work_run *run = mem_new(struct work_run);
    run->work = work;
    run->job = job;
    run->began_us = clock_real_mono_us();
    run->control = -1;
    uv_timer_init(&work->loop, &run->timer);
    run->timer.data = run->minder.data = run;
    run->handles = 1; /* the timer */
    list_append(&work->runs, &run->link);
    return run;
}

void work_run_start(struct work *work, errand_job *job)
{
    int ours[SPAWN_FDS] = {-1, -1, -1, -1}, theirs[SPAWN_FDS] = {-1, -1, -1, -1};
    struct work_run *run = run_new(work, job);
    bool asked = open_ends(job, ours, theirs) && ask_for_process(run, theirs);
    int failed = errno;
    close_all(theirs);
    if (!asked) {
        close_all(ours);
        if (failed == E2BIG) {
            refuse(run, failed);
        } else {
            put_off(run, failed);
        }
        return;
    }
    uv_poll_init(&work->loop, &run->minder, run->control);
    run->handles++;
    uv_poll_start(&run->minder, UV_READABLE, on_minder);
    open_stream(run, WORK_STDOUT, ours[1], RESULT_MAX);
    open_stream(run, WORK_STDERR, ours[2], SAID_STDERR_MAX);
    open_stream(run, WORK_TOLD, ours[3], SAID_LINE_MAX);
}

/* ---- Stopping ---- */

static void on_grace_ended(uv_timer_t *timer)
{
    struct work_run *run = timer->data;
    minder_signal(run->control, SIGKILL);
}

void work_run_stop(struct work_run *run)
{
    if (run->ended || run->asked) {
        return;
    }
    run->asked = true;
    minder_signal(run->control, SIGTERM);
    uv_timer_start(&run->timer, on_grace_ended, (uint64_t)run->work->options->grace_ms, 0);
}

void work_run_give_back(struct work_run *run)
{
    run->given_back = true;
    minder_signal(run->control, SIGKILL);
}
