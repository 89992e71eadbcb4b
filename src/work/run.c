/* work/run.c: one run of a command: payload in, result out, words on the way. See program.h.
 *
 * The payload lies in a file without a name, so nobody has to write it bit by bit. Standard output
 * is the result, the end of standard error is kept for the error, descriptor 3 takes progress and
 * log lines.
 *
 * Thread: the pool's. Keeps: G3 (a run ends after its processes), G8 (output is bounded).
 *
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "work/minder.h"
#include "work/pool.h"
#include "work/program.h"
#include "work/said.h"
#include "work/starter.h"
#include "work/text.h"

/* ---- What it says on descriptor 3 ---- */

static void told_line(void *arg, struct str line)
{
    struct job *job = arg;
    double percent;
    struct str text;
    switch (said_line(line, &percent, &text)) {
    case SAID_PROGRESS:
        job_progress(job, percent, text.len > 0 ? text : STR_NONE);
        break;
    case SAID_LOG:
        job_log(job, text);
        break;
    case SAID_NOTHING:
        break;
    }
}

/* ---- What it writes ---- */

static void too_much(struct run *run)
{
    run->too_much = true;
    minder_signal(run->control, SIGKILL);
}

static void heard(struct run_stream *stream, struct str more)
{
    struct run *run = stream->run;
    switch (stream->which) {
    case RUN_STDOUT:
        buf_str(&stream->text, more);
        if (stream->text.full && !run->too_much) {
            too_much(run);
        }
        break;
    case RUN_STDERR:
        said_keep(&stream->text, more);
        break;
    default:
        said_lines(&stream->text, more, told_line, run->attempt->job);
    }
}

static void run_look(struct run *run);

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
    mem_free(run);
}

static void close_stream(struct run_stream *stream)
{
    if (stream->open) {
        stream->open = false;
        uv_close((uv_handle_t *)&stream->pipe, on_closed);
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
    struct run *run = stream->run;
    if (n > 0) {
        heard(stream, (struct str){buf->base, (size_t)n});
    } else if (n < 0) {
        close_stream(stream);
        run_look(run);
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

static char **build_env(struct job *job, const struct program *program)
{
    struct arena *arena = &job->arena;
    const struct task *task = &job->task;
    char id[TASK_ID_TEXT];
    char **env = arena_array(arena, char *, program->env_count + 5);
    size_t n = 0;
    env[n++] = (char *)arena_printf(arena, "ERRAND_TASK_ID=%s", id_text(task->id, id).ptr).ptr;
    env[n++] = (char *)arena_printf(arena, "ERRAND_TASK_TYPE=" STR_FMT, STR_ARG(task->type)).ptr;
    env[n++] = (char *)arena_printf(arena, "ERRAND_DOCUMENT_ID=" STR_FMT, (int)task->document.len,
                                    str_absent(task->document) ? "" : task->document.ptr)
                   .ptr;
    env[n++] = (char *)arena_printf(arena, "ERRAND_ATTEMPT=%d", task->attempt).ptr;
    memcpy(env + n, program->env, program->env_count * sizeof *env);
    return env;
}

static bool ask_for_process(struct attempt *attempt, struct ends *ends, int *control)
{
    const struct program *program = attempt->handler->program;
    struct spawn options = {.path = program->path,
                            .argv = program->argv,
                            .env = build_env(attempt->job, program),
                            .folder = program->folder,
                            .memory_max = program->memory_max,
                            .cpu_max_s = program->cpu_max_s,
                            .files_max = program->files_max};
    if (!open_ends(ends, attempt->job->task.payload)) {
        return false;
    }
    memcpy(options.fds, ends->child, sizeof options.fds);
    return starter_spawn(attempt->pool->starter, &options, control);
}

static void open_stream(struct run *run, int which, int fd, size_t most)
{
    struct run_stream *stream = &run->streams[which];
    stream->run = run;
    stream->which = which;
    stream->text = BUF_INIT(most);
    uv_pipe_init(&run->pool->loop, &stream->pipe, 0);
    stream->pipe.data = run;
    stream->open = true;
    run->handles++;
    uv_pipe_open(&stream->pipe, fd);
    uv_read_start((uv_stream_t *)&stream->pipe, give_room, on_read);
}

static void on_minder(uv_poll_t *poll, int status, int events);

static void run_new(struct attempt *attempt, int control, const int fds[SPAWN_FDS])
{
    struct run *run = mem_new(struct run);
    run->pool = attempt->pool;
    run->attempt = attempt;
    run->control = control;
    id_text(attempt->job->task.id, run->id);
    attempt->state = run;
    uv_timer_init(&run->pool->loop, &run->timer);
    uv_poll_init(&run->pool->loop, &run->minder, control);
    run->timer.data = run->minder.data = run;
    run->handles = 2;
    uv_poll_start(&run->minder, UV_READABLE, on_minder);
    open_stream(run, RUN_STDOUT, fds[1], TASK_RESULT_MAX);
    open_stream(run, RUN_STDERR, fds[2], SAID_STDERR_MAX);
    open_stream(run, RUN_TOLD, fds[3], SAID_LINE_MAX);
}

static void refuse(struct attempt *attempt, int failed)
{
    struct arena *arena = &attempt->job->arena;
    struct job_end end =
        JOB_FAIL("spawn_failed", arena_printf(arena, "the command cannot be started: %s: %s",
                                              attempt->handler->program->path, strerror(failed)));
    attempt_end(attempt, &end);
}

static void start(struct attempt *attempt)
{
    struct ends ends = {{-1, -1, -1, -1}, {-1, -1, -1, -1}};
    int control;
    bool asked = ask_for_process(attempt, &ends, &control);
    int failed = errno;
    close_fds(ends.child);
    if (asked) {
        run_new(attempt, control, ends.ours);
        return;
    }
    close_fds(ends.ours);
    if (failed == E2BIG) {
        refuse(attempt, failed);
    } else {
        attempt_put_off(attempt, strerror(failed));
    }
}

/* ---- Stopping ---- */

static void kill_run(struct attempt *attempt)
{
    struct run *run = attempt->state;
    minder_signal(run->control, SIGKILL);
}

static void on_grace_ended(uv_timer_t *timer)
{
    struct run *run = timer->data;
    if (run->attempt != NULL) {
        kill_run(run->attempt);
    }
}

static void abort_run(struct attempt *attempt)
{
    struct run *run = attempt->state;
    if (run->ended) {
        return;
    }
    minder_signal(run->control, SIGTERM);
    if (!run->asked) {
        run->asked = true;
        uv_update_time(&run->pool->loop);
        uv_timer_start(&run->timer, on_grace_ended, (uint64_t)run->pool->grace_ms, 0);
    }
}

const struct executor exec_program = {.start = start, .abort = abort_run, .kill = kill_run};

/* ---- The end ---- */

static struct job_end end_of(struct run *run)
{
    struct arena *arena = &run->attempt->job->arena;
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

/* The run is over; its handles close by and by. */
static struct attempt *leave(struct run *run)
{
    struct attempt *attempt = run->attempt;
    run->attempt = NULL;
    for (int i = 0; i < RUN_STREAMS; i++) {
        close_stream(&run->streams[i]);
    }
    uv_close((uv_handle_t *)&run->timer, on_closed);
    uv_close((uv_handle_t *)&run->minder, on_closed);
    return attempt;
}

static void end_run(struct run *run)
{
    struct job_end end = end_of(run);
    attempt_end(leave(run), &end);
}

static void run_look(struct run *run)
{
    bool all_read = !run->streams[RUN_STDOUT].open && !run->streams[RUN_STDERR].open &&
                    !run->streams[RUN_TOLD].open;
    if (run->ended && run->attempt != NULL && all_read) {
        end_run(run);
    }
}

/* Whoever holds its output was handed it: nothing that the command started is left. */
static void on_settled(uv_timer_t *timer)
{
    struct run *run = timer->data;
    if (run->attempt != NULL) {
        log_warn("task %s: somebody else holds the output of its command", run->id);
        end_run(run);
    }
}

static void on_ended(struct run *run, const struct minder_word *word)
{
    if (word->said == MINDER_LEFT) {
        log_warn("task %s: what its command left behind cannot be ended", run->id);
    }
    uv_poll_stop(&run->minder);
    run->ended = true;
    run->status = word->value;
    uv_update_time(&run->pool->loop);
    uv_timer_start(&run->timer, on_settled, SETTLE_MS, 0);
    run_look(run);
}

static void on_minder(uv_poll_t *poll, int status, int events)
{
    struct run *run = poll->data;
    struct minder_word word;
    (void)status;
    (void)events;
    if (!minder_hear(run->control, run->started, &word)) {
        return;
    }
    switch ((enum minder_said)word.said) {
    case MINDER_STARTED:
        run->started = true;
        run->pool->is_short = false;
        break;
    case MINDER_REFUSED:
        refuse(leave(run), word.value);
        break;
    case MINDER_SHORT:
        attempt_put_off(leave(run), strerror(word.value));
        break;
    case MINDER_ENDED:
    case MINDER_LEFT:
        on_ended(run, &word);
        break;
    }
}
