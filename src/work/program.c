/* work/program.c: commands: what a [handler.NAME] with `exec = …` starts, and the executor that
 * does so. See program.h.
 *
 * SPDX-License-Identifier: MIT */
#include "work/program.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "task/trace.h"
#include "work/loop.h"
#include "work/run.h"
#include "work/words.h"

static const struct {
    const char *name, *fallback;
} inherited[] = {
    {"PATH", "/usr/local/bin:/usr/bin:/bin"},
    {"HOME", "/"},
    {"LANG", "C.UTF-8"},
};

static bool is_given(const struct exec_command *command, const char *name)
{
    for (size_t i = 0; i < command->env_count; i++) {
        if (str_is(command->env[i].name, name)) {
            return true;
        }
    }
    return false;
}

static void add_env(struct arena *arena, struct program *program, struct str name, struct str value)
{
    program->env[program->env_count++] =
        (char *)arena_printf(arena, STR_FMT "=" STR_FMT, STR_ARG(name), STR_ARG(value)).ptr;
}

static bool build_env(struct arena *arena, const struct exec_command *command,
                      struct program *program, struct err *err)
{
    program->env = arena_array(arena, char *, command->env_count + ARRAY_LEN(inherited) + 1);
    for (size_t i = 0; i < ARRAY_LEN(inherited); i++) {
        const char *value = getenv(inherited[i].name);
        if (!is_given(command, inherited[i].name)) {
            add_env(arena, program, str_of(inherited[i].name),
                    str_of(value == NULL ? inherited[i].fallback : value));
        }
    }
    for (size_t i = 0; i < command->env_count; i++) {
        struct str name = command->env[i].name;
        if (name.len == 0 || memchr(name.ptr, '=', name.len) != NULL) {
            return err_set(err, ERR_INVALID, "env." STR_FMT " is no name", STR_ARG(name));
        }
        add_env(arena, program, name, command->env[i].value);
    }
    return true;
}

/* ---- Finding the program ---- */

static const char *path_of(const struct program *program)
{
    const char *path = "";
    for (size_t i = 0; i < program->env_count; i++) {
        if (str_starts(str_of(program->env[i]), STR("PATH="))) {
            path = program->env[i] + sizeof "PATH=" - 1; /* the last one counts, as for a shell */
        }
    }
    return path;
}

static const char *search(struct arena *arena, const struct program *program, const char *name)
{
    struct str rest = str_of(path_of(program));
    while (!str_absent(rest)) {
        struct str folder = str_cut(&rest, ':');
        const char *path = arena_printf(arena, STR_FMT "/%s", STR_ARG(folder), name).ptr;
        if (folder.len > 0 && access(path, X_OK) == 0) {
            return path;
        }
    }
    return NULL;
}

/* A name with a slash is relative to the folder; one without is looked for in PATH first. */
static const char *locate(struct arena *arena, const struct program *program, const char *name)
{
    const char *found = strchr(name, '/') == NULL ? search(arena, program, name) : NULL;
    if (found != NULL) {
        return found;
    }
    return name[0] == '/' ? name : arena_printf(arena, "%s/%s", program->folder, name).ptr;
}

bool program_new(struct arena *arena, const struct exec_command *command, struct program **out,
                 struct err *err)
{
    struct program *program = arena_new(arena, struct program);
    size_t count = 0;
    if (!words_split(arena, command->line, &program->argv, &count, err) ||
        !build_env(arena, command, program, err)) {
        return err_wrap(err, "exec");
    }
    if (count == 0) {
        return err_set(err, ERR_INVALID, "exec names no program");
    }
    program->folder = str_absent(command->folder) ? "." : arena_c_text(arena, command->folder);
    program->path = locate(arena, program, program->argv[0]);
    program->memory_max = command->memory_max;
    program->cpu_max_s = (command->cpu_max_ms + SECOND_MS - 1) / SECOND_MS;
    program->files_max = command->files_max;
    if (access(program->path, X_OK) != 0) { /* it may come later; until then its tasks fail */
        log_warn("[handler." STR_FMT "]: %s cannot be executed", STR_ARG(command->type),
                 program->path);
    }
    *out = program;
    return true;
}

/* ---- The executor ---- */

static void on_progress(void *arg, double percent, struct str message)
{
    job_progress(arg, percent, message.len > 0 ? message : STR_NONE);
}

static void on_log(void *arg, struct str text)
{
    job_log(arg, text);
}

static void on_started(void *arg)
{
    ((struct job *)arg)->claimer->work->is_short = false;
}

static void on_ended(void *arg, const struct job_end *end)
{
    job_finish(arg, end);
}

static void on_lacked(void *arg, const char *what)
{
    job_put_off(arg, what);
}

static void start(struct job *job)
{
    static const struct run_host host = {.progress = on_progress,
                                         .log = on_log,
                                         .started = on_started,
                                         .ended = on_ended,
                                         .lacked = on_lacked};
    const struct program *program = job->handler->program;
    const struct task *task = &job->task;
    char id[TASK_ID_TEXT];
    struct task_trace trace;
    id_text(task->id, id);
    task_trace(task, job->claimed->metadata, job->claimer->work->traced, &job->arena, &trace);
    const bool traced = job->claimer->work->traced || !str_absent(trace.from);
    struct run_options options = {
        .loop = &job->claimer->work->loop,
        .starter = job->claimer->work->starter,
        .program = {.path = program->path,
                    .argv = program->argv,
                    .env = run_env(&job->arena,
                                   &(struct run_task){id, task->type, task->document, task->attempt,
                                                      traced ? str_of(trace.parent) : STR_NONE},
                                   program->env, program->env_count),
                    .folder = program->folder,
                    .memory_max = program->memory_max,
                    .cpu_max_s = program->cpu_max_s,
                    .files_max = program->files_max},
        .payload = task->payload,
        .id = id,
        .grace_ms = job->claimer->work->grace_ms,
        .host = &host,
        .arg = job};
    struct run *run = run_start(&options);
    if (run != NULL) {
        job->state = run;
    }
}

static void abort_run(struct job *job)
{
    run_abort(job->state);
}

static void kill_run(struct job *job)
{
    run_kill(job->state);
}

const struct executor by_program = {.start = start, .abort = abort_run, .kill = kill_run};
