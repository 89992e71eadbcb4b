/* cli/work_run.c: one task of `errand work`: a run of the command, and how the server is told of
 * it. See work.h.
 *
 * The run is the same as inside the server (work/run.h), and so is the judgement of its end; what
 * is said goes to the server over HTTP, through liberrand.
 *
 * Thread: main.
 *
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "cli/work.h"
#include "wire/json.h"

/* ---- What it says ---- */

static void on_progress(void *arg, double percent, struct str message)
{
    SCOPED(mem_free_at) char *text = mem_text(message.ptr, message.len);
    errand_job_progress(((struct work_run *)arg)->job, percent, text);
}

static void on_log(void *arg, struct str text)
{
    SCOPED(mem_free_at) char *copy = mem_text(text.ptr, text.len);
    errand_job_log(((struct work_run *)arg)->job, copy);
}

/* ---- The end ---- */

static void fail(struct work_run *run, const struct job_end *end)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    const char *code = arena_c_text(&arena, end->error.code);
    const char *message = arena_c_text(&arena, end->error.message);
    const char *detail =
        str_absent(end->error.detail) ? NULL : arena_c_text(&arena, end->error.detail);
    struct errand_error error;
    log_warn("task %s: %s", errand_job_id(run->job), message);
    if (errand_job_fail(run->job, code, message, detail, end->retry, &error) != 0) {
        errand_job_fail(run->job, code, message, NULL, end->retry, NULL); /* it is too long */
    }
}

static void complete(struct work_run *run, const struct job_end *end)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct errand_error error;
    char id[ERRAND_ID_SIZE];
    snprintf(id, sizeof id, "%s", errand_job_id(run->job));
    const char *result = str_absent(end->result) ? NULL : arena_c_text(&arena, end->result);
    if (errand_job_complete(run->job, result, &error) != 0) {
        fail(run, &JOB_FAIL("output_too_large", str_of(error.message)));
        return;
    }
    log_info("task %s: done in %dms", id, (int)((clock_real_mono_us() - run->began_us) / 1000));
}

/* The job is finished. */
static void leave(struct work_run *run)
{
    struct work *work = run->work;
    list_remove(&run->link);
    mem_free(run);
    work_rested(work);
}

static void on_ended(void *arg, const struct job_end *end)
{
    struct work_run *run = arg;
    switch (job_judge(run->told, end)) {
    case OUTCOME_COMPLETED:
        complete(run, end);
        break;
    case OUTCOME_RELEASED:
        errand_job_release(run->job, 0);
        break;
    default:
        fail(run, end);
    }
    leave(run);
}

/* This machine has no room for it: nobody's fault, so no retry is used. */
static void on_lacked(void *arg, const char *what)
{
    struct work_run *run = arg;
    log_error("task %s cannot be started here: %s; it is given back", errand_job_id(run->job),
              what);
    errand_job_release(run->job, WORK_SHORT_MS);
    leave(run);
}

/* ---- Starting and stopping ---- */

void work_run_start(struct work *work, errand_job *job)
{
    static const struct run_host host = {
        .progress = on_progress, .log = on_log, .ended = on_ended, .lacked = on_lacked};
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct work_run *run = mem_new(struct work_run);
    size_t payload_len;
    struct str whole = str_of(errand_job_json(job));
    const char *payload = errand_job_payload(job, &payload_len);
    run->work = work;
    run->job = job;
    run->began_us = clock_real_mono_us();
    list_append(&work->runs, &run->link);
    const struct run_options options = {
        .loop = &work->loop,
        .starter = work->starter,
        .program = {.path = work->argv[0],
                    .argv = work->argv,
                    .env = run_env(&arena,
                                   &(struct run_task){
                                       errand_job_id(job), str_of(errand_job_type(job)),
                                       str_of(errand_job_document(job)), errand_job_attempt(job),
                                       json_find_str(whole, "traceparent", &arena)},
                                   work->env, work->env_count),
                    .folder = ".",
                    .may_gain = true},
        .payload = {payload, payload_len},
        .id = errand_job_id(job),
        .grace_ms = work->options->grace_ms,
        .host = &host,
        .arg = run};
    struct run *started = run_start(&options);
    if (started != NULL) { /* otherwise it is over already */
        run->run = started;
    }
}

void work_run_stop(struct work_run *run)
{
    run->asked = true;
    run_abort(run->run);
}

void work_run_give_back(struct work_run *run)
{
    run->told = TOLD_RELEASE;
    run_kill(run->run);
}

/* ---- Whether the command can be started at all ---- */

/* A script names its interpreter in its first line: "#!/usr/bin/python3 -u". */
static bool check_interpreter(const char *path, struct err *err)
{
    char line[PATH_MAX] = "";
    FILE *file = fopen(path, "re");
    bool read = file != NULL && fgets(line, sizeof line, file) != NULL;
    if (file != NULL) {
        fclose(file);
    }
    if (!read || strncmp(line, "#!", 2) != 0) {
        return true; /* a program, or one that may be run but not read */
    }
    char *name = line + 2 + strspn(line + 2, " \t");
    name[strcspn(name, " \t\n")] = '\0';
    return access(name, X_OK) == 0 ||
           err_set(err, ERR_INVALID, "%s is to be run by %s: %s", path, name, strerror(errno));
}

static bool check_file(const char *path, struct err *err)
{
    struct stat st;
    if (stat(path, &st) != 0) {
        return err_set(err, ERR_INVALID, "%s cannot be run: %s", path, strerror(errno));
    }
    if (!S_ISREG(st.st_mode)) {
        return err_set(err, ERR_INVALID, "%s cannot be run: it is not a file", path);
    }
    if (access(path, X_OK) != 0) {
        return err_set(err, ERR_INVALID, "%s is not executable: chmod +x %s", path, path);
    }
    return check_interpreter(path, err);
}

bool work_check(const char *command, struct err *err)
{
    const char *folders = getenv("PATH");
    struct str left = str_of(folders == NULL ? "/usr/bin:/bin" : folders);
    char path[PATH_MAX];
    if (strchr(command, '/') != NULL) {
        return check_file(command, err);
    }
    while (!str_absent(left)) {
        struct str folder = str_cut(&left, ':');
        snprintf(path, sizeof path, STR_FMT "/%s", STR_ARG(folder.len == 0 ? STR(".") : folder),
                 command);
        struct err ignored = ERR_INIT;
        if (check_file(path, &ignored)) {
            return true;
        }
    }
    bool here = access(command, F_OK) == 0;
    return err_set(err, ERR_INVALID, "%s is in no folder of PATH%s%s", command,
                   here ? "; the one that is here is called ./" : "", here ? command : "");
}
