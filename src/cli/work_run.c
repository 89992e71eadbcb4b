/* cli/work_run.c: one run of a command: payload in, result out, words on the way. See work.h.
 *
 * The payload lies in a file without a name, so nobody has to write it bit by bit. The command has
 * a process group of its own, and what of it is left when the command ends is killed before the
 * job is finished: whoever has the document next must not meet it.
 *
 * Thread: main.
 *
 * SPDX-License-Identifier: MIT */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "cli/work.h"
#include "exec/text.h"

#define STDIO_COUNT 4
#define RESULT_MAX  MIB
#define ERROR_MAX   (16 * KIB)
#define TASK_ENV    4 /* ERRAND_TASK_ID and its like */

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

static void end_run(struct work_run *run)
{
    finish(run);
    run->job = NULL;
    list_remove(&run->link);
    for (int i = 0; i < WORK_STREAMS; i++) {
        close_stream(&run->streams[i]);
    }
    uv_close((uv_handle_t *)&run->timer, on_closed);
    uv_close((uv_handle_t *)&run->process, on_closed);
    work_rested(run->work);
}

static void look(struct work_run *run)
{
    bool all_read = !run->streams[WORK_STDOUT].open && !run->streams[WORK_STDERR].open &&
                    !run->streams[WORK_TOLD].open;
    if (run->exited && run->job != NULL && all_read) {
        end_run(run);
    }
}

static void on_settled(uv_timer_t *timer)
{
    struct work_run *run = timer->data;
    if (run->job != NULL) {
        log_warn("task %s: something its command started holds its output",
                 errand_job_id(run->job));
        end_run(run);
    }
}

static void kill_group(struct work_run *run, int number)
{
    kill(-run->process.pid, number); /* nobody left is fine */
}

static void on_exit(uv_process_t *process, int64_t status, int number)
{
    struct work_run *run = process->data;
    run->exited = true;
    run->end.status = (int)status;
    run->end.signal = number;
    kill_group(run, SIGKILL);
    uv_timer_start(&run->timer, on_settled, WORK_SETTLE_MS, 0);
    look(run);
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
        if (!run->exited) {
            kill_group(run, SIGKILL);
        }
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
static bool open_ends(const errand_job *job, int ours[STDIO_COUNT], int theirs[STDIO_COUNT])
{
    bool ok = (theirs[0] = payload_file(job)) >= 0;
    for (int i = 1; ok && i < STDIO_COUNT; i++) {
        int pair[2];
        ok = pipe2(pair, O_CLOEXEC) == 0;
        if (ok) {
            ours[i] = pair[0];
            theirs[i] = pair[1];
        }
    }
    return ok;
}

static void close_all(int fds[STDIO_COUNT])
{
    for (int i = 0; i < STDIO_COUNT; i++) {
        if (fds[i] >= 0) {
            close(fds[i]);
        }
    }
}

static int start_process(struct work_run *run, const int fds[STDIO_COUNT])
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    uv_stdio_container_t stdio[STDIO_COUNT];
    for (int i = 0; i < STDIO_COUNT; i++) {
        stdio[i] = (uv_stdio_container_t){.flags = UV_INHERIT_FD, .data.fd = fds[i]};
    }
    const uv_process_options_t options = {
        .exit_cb = on_exit,
        .file = run->work->argv[0],
        .args = run->work->argv,
        .env = task_env(run->work, run->job, &arena),
        .flags = UV_PROCESS_DETACHED, /* a session, so a process group, of its own */
        .stdio = stdio,
        .stdio_count = STDIO_COUNT,
    };
    /* Libraries open descriptors of their own: none of them is for the command. */
    int closed = close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
    assert(closed == 0); /* it has nothing to fail for */
    (void)closed;
    return uv_spawn(&run->work->loop, &run->process, &options);
}

static struct work_run *run_new(struct work *work, errand_job *job)
{
    struct work_run *run = mem_new(struct work_run);
    run->work = work;
    run->job = job;
    run->began_us = clock_real_mono_us();
    run->process.data = run;
    uv_timer_init(&work->loop, &run->timer);
    run->timer.data = run;
    run->handles = 2; /* the timer and the process */
    list_append(&work->runs, &run->link);
    return run;
}

/* It cannot be started: as if it had run and failed. */
static void not_started(struct work_run *run, const char *why)
{
    SCOPED(buf_fini) struct buf message = BUF_INIT(ERROR_MAX);
    buf_printf(&message, "%s cannot be started: %s", run->work->argv[0], why);
    run->end.status = 127;
    fail(run, "spawn_failed", buf_c_text(&message), NULL);
    run->job = NULL;
    list_remove(&run->link);
    uv_close((uv_handle_t *)&run->timer, on_closed);
    uv_close((uv_handle_t *)&run->process, on_closed);
    work_rested(run->work);
}

void work_run_start(struct work *work, errand_job *job)
{
    int ours[STDIO_COUNT] = {-1, -1, -1, -1}, theirs[STDIO_COUNT] = {-1, -1, -1, -1};
    struct work_run *run = run_new(work, job);
    bool ready = open_ends(job, ours, theirs);
    int failed = ready ? 0 : -errno;
    /* Also when that failed: uv_spawn() makes the handle known to the loop, and starts nothing. */
    int started = start_process(run, theirs);
    close_all(theirs);
    if (failed != 0 || started != 0) {
        close_all(ours);
        not_started(run, uv_strerror(failed != 0 ? failed : started));
        return;
    }
    open_stream(run, WORK_STDOUT, ours[1], RESULT_MAX);
    open_stream(run, WORK_STDERR, ours[2], SAID_STDERR_MAX);
    open_stream(run, WORK_TOLD, ours[3], SAID_LINE_MAX);
}

/* ---- Stopping ---- */

static void on_grace_ended(uv_timer_t *timer)
{
    struct work_run *run = timer->data;
    if (!run->exited) {
        kill_group(run, SIGKILL);
    }
}

void work_run_stop(struct work_run *run)
{
    if (run->exited || run->asked) {
        return;
    }
    run->asked = true;
    kill_group(run, SIGTERM);
    uv_timer_start(&run->timer, on_grace_ended, (uint64_t)run->work->options->grace_ms, 0);
}

void work_run_give_back(struct work_run *run)
{
    run->given_back = true;
    if (!run->exited) {
        kill_group(run, SIGKILL);
    }
}
