/* cli/workers.c: `errand workers` and its verbs: see who works, and ask workers to be quiet or end.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "cli/human.h"
#include "cli/remote.h"
#include "cli/verb.h"

struct workers {
    struct remote_options remote;
};

/* ---- Looking ---- */

static struct str first_task(struct str tasks, size_t *count, struct arena *arena)
{
    struct json json;
    struct str id, first = STR_NONE;
    *count = 0;
    json_start(&json, tasks, arena);
    if (json_enter_array(&json, NULL)) {
        while (json_item(&json, NULL) && json_str(&json, &id, NULL)) {
            first = (*count)++ == 0 ? id : first;
        }
    }
    return first;
}

static void add_worker(struct table *table, const struct paper *paper, struct str worker,
                       struct arena *arena)
{
    SCOPED(buf_fini) struct buf seen = BUF_INIT(KIB);
    SCOPED(buf_fini) struct buf tasks = BUF_INIT(KIB);
    size_t count;
    struct str at = json_find_str(worker, "lastSeenAt", arena);
    struct str first = first_task(json_find(worker, "taskIds", arena), &count, arena);
    table_add(table, json_find_str(worker, "id", arena));
    table_add(table, json_find_str(worker, "kind", arena));
    table_add(table, json_find_str(worker, "state", arena));
    table_add(table, json_find_str(worker, "signal", arena));
    if (!str_absent(at)) {
        human_when(&seen, paper, at);
    }
    table_add(table, str_absent(at) ? STR_NONE : buf_view(&seen));
    if (count > 0) {
        buf_str(&tasks, first);
    }
    if (count > 1) {
        buf_printf(&tasks, " and %zu more", count - 1);
    }
    table_add(table, count == 0 ? STR_NONE : buf_view(&tasks));
}

static void print_workers(struct remote *remote, struct str list)
{
    static const char *const heads[] = {"WORKER", "KIND", "STATE", "SIGNAL", "SEEN", "TASK", NULL};
    struct paper paper = paper_stdout();
    SCOPED(table_fini) struct table table;
    struct json json;
    struct str worker;
    table_init(&table, heads, &remote->arena);
    json_start(&json, list, &remote->arena);
    if (json_enter_array(&json, NULL)) {
        while (remote_item(&json, &worker)) {
            add_worker(&table, &paper, worker, &remote->arena);
        }
    }
    table_print(&table, &paper);
}

static void print_all(struct remote *remote, struct str answer)
{
    print_workers(remote, json_find(answer, "workers", &remote->arena));
}

/* A signal answers with the worker as it is now. */
static void print_one(struct remote *remote, struct str answer)
{
    SCOPED(buf_fini) struct buf list = BUF_INIT(MIB);
    buf_char(&list, '[');
    buf_str(&list, answer);
    buf_char(&list, ']');
    print_workers(remote, arena_str(&remote->arena, buf_view(&list)));
}

/* ---- All verbs are one call ---- */

static enum exit_status call(const struct workers *workers, struct str id, const char *after,
                             void (*print)(struct remote *remote, struct str answer))
{
    SCOPED(remote_close) struct remote remote = {.client = NULL};
    struct err err = ERR_INIT;
    struct str answer;
    if (!remote_open(&remote, &workers->remote, &err)) {
        return verb_fail(&err);
    }
    bool all = str_absent(id);
    struct str path = all ? STR("/api/workers") : remote_path(&remote, "/api/workers/", id, after);
    if (!remote_call(&remote, all ? "GET" : "POST", path, all ? STR_NONE : STR("{}"), &answer,
                     &err)) {
        return verb_fail(&err);
    }
    if (remote.json) {
        printf(STR_FMT "\n", STR_ARG(answer));
    } else {
        print(&remote, answer);
    }
    return EXIT_OK;
}

static enum exit_status run_workers(const void *options, const struct words *words)
{
    if (words->count > 0 && !str_is(words->at[0], "list") && !str_is(words->at[0], "ls")) {
        struct err err = ERR_INIT;
        err_set(&err, ERR_INVALID, "workers " STR_FMT ": there are list, quiet, stop and resume",
                STR_ARG(words->at[0]));
        return verb_usage(&err);
    }
    return call(options, STR_NONE, "", print_all);
}

static enum exit_status run_quiet(const void *options, const struct words *words)
{
    return call(options, words->at[0], "/quiet", print_one);
}

static enum exit_status run_stop(const void *options, const struct words *words)
{
    return call(options, words->at[0], "/stop", print_one);
}

static enum exit_status run_resume(const void *options, const struct words *words)
{
    return call(options, words->at[0], "/resume", print_one);
}

/* ---- The verbs ---- */

static const struct option plain_options[] = {
    REMOTE_OPTIONS(struct workers),
    OPTION_END,
};

const struct verb workers_verb = {
    .name = "workers",
    .arguments = "[list]",
    .summary = "list workers",
    .about = "Lists who works, or has asked for work in the last minute: inside the server and\n"
             "outside, with what is asked of them and what they work on.",
    .examples = "# all of them\nerrand workers",
    .options = plain_options,
    .size = sizeof(struct workers),
    .words_max = 1,
    .run = run_workers,
};

const struct verb workers_quiet_verb = {
    .name = "workers quiet",
    .arguments = "WORKER",
    .summary = "let a worker claim no more",
    .about = "The worker, one outside the server, is given no more tasks and is told so with its\n"
             "next heartbeat or claim; what it has, it finishes. This lasts until errand workers\n"
             "resume, or until the worker was away for a minute.",
    .examples = "# before its machine is upgraded\nerrand workers quiet build-3:812:9f00a1c2",
    .options = plain_options,
    .size = sizeof(struct workers),
    .words_min = 1,
    .words_max = 1,
    .run = run_quiet,
};

const struct verb workers_stop_verb = {
    .name = "workers stop",
    .arguments = "WORKER",
    .summary = "ask a worker to end",
    .about =
        "As quiet, and the worker ends: errand work gives what it runs its --grace to finish,\n"
        "gives back the rest without using a retry, and exits.",
    .examples = "# this one is no longer needed\nerrand workers stop build-3:812:9f00a1c2",
    .options = plain_options,
    .size = sizeof(struct workers),
    .words_min = 1,
    .words_max = 1,
    .run = run_stop,
};

const struct verb workers_resume_verb = {
    .name = "workers resume",
    .arguments = "WORKER",
    .summary = "let a worker claim again",
    .about = "Ends quiet and stop: the worker is given tasks again when it next claims.",
    .examples = "# the upgrade is over\nerrand workers resume build-3:812:9f00a1c2",
    .options = plain_options,
    .size = sizeof(struct workers),
    .words_min = 1,
    .words_max = 1,
    .run = run_resume,
};
