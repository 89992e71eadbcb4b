/* cli/steer.c: `errand cancel` and `errand retry`: one task, several, or all that a filter names.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "cli/filter.h"
#include "cli/human.h"
#include "cli/remote.h"
#include "cli/verb.h"

struct steer {
    struct remote_options remote;
    struct filter_options filter;
    struct str reason;
};

static bool steer_one(struct remote *remote, const char *after, struct str id, struct str body,
                      struct err *err)
{
    struct str task;
    if (!remote_call(remote, "POST", remote_path(remote, "/api/tasks/", id, after), body, &task,
                     err)) {
        return err_wrap(err, STR_FMT, STR_ARG(id));
    }
    if (remote->json) {
        printf(STR_FMT "\n", STR_ARG(task));
        return true;
    }
    struct str state = json_find_str(task, "state", &remote->arena);
    struct str asked = json_find(task, "cancelRequested", &remote->arena);
    printf(STR_FMT "  " STR_FMT "%s\n", STR_ARG(id), STR_ARG(state),
           str_is(asked, "true") && str_is(state, "RUNNING") ? "  cancel requested" : "");
    return true;
}

static bool steer_many(struct remote *remote, struct str path, const struct filter_options *filter,
                       struct err *err)
{
    SCOPED(buf_fini) struct buf body = BUF_INIT(64 * KIB);
    struct str answer;
    filter_json(filter, &body);
    if (!remote_call(remote, "POST", path, buf_view(&body), &answer, err)) {
        return false;
    }
    struct str shown = remote->json ? answer : json_find(answer, "count", &remote->arena);
    printf(STR_FMT "\n", STR_ARG(shown));
    return true;
}

/* Each id is tried, so that one that is gone does not hold up the others. */
static enum exit_status steer_each(struct remote *remote, const char *after, struct str body,
                                   const struct words *words)
{
    enum exit_status status = EXIT_OK;
    for (size_t i = 0; i < words->count; i++) {
        struct err err = ERR_INIT;
        if (!steer_one(remote, after, words->at[i], body, &err)) {
            status = verb_fail(&err);
        }
    }
    return status;
}

static enum exit_status steer(const struct steer *options, const struct words *words,
                              const char *after, struct str body, struct str many)
{
    SCOPED(remote_close) struct remote remote = {.client = NULL};
    struct err err = ERR_INIT;
    if ((words->count > 0) != filter_empty(&options->filter)) {
        err_set(&err, ERR_INVALID, "name tasks by id, or a filter such as --state and --type");
        return verb_usage(&err);
    }
    if (!remote_open(&remote, &options->remote, &err)) {
        return verb_fail(&err);
    }
    if (words->count > 0) {
        return steer_each(&remote, after, body, words);
    }
    return steer_many(&remote, many, &options->filter, &err) ? EXIT_OK : verb_fail(&err);
}

static enum exit_status run_cancel(const void *options, const struct words *words)
{
    const struct steer *given = options;
    SCOPED(buf_fini) struct buf body = BUF_INIT(64 * KIB);
    struct json_writer w = JSON_WRITER(&body);
    json_open_object(&w);
    if (!str_absent(given->reason)) {
        json_put_str(&w, "reason", given->reason);
    }
    json_close_object(&w);
    return steer(given, words, "/cancel", buf_view(&body), STR("/api/tasks/cancel"));
}

static enum exit_status run_retry(const void *options, const struct words *words)
{
    return steer(options, words, "/retry", STR("{}"), STR("/api/tasks/retry"));
}

static const struct option cancel_options[] = {
    {"reason", "TEXT", "kept as cancelReason (with ids)", OPTION_TEXT(struct steer, reason)},
    FILTER_OPTIONS(struct steer),
    REMOTE_OPTIONS(struct steer),
    OPTION_END,
};

const struct verb cancel_verb = {
    .name = "cancel",
    .arguments = "[ID]...",
    .summary = "cancel tasks",
    .about = "Cancels the named tasks, or all that a filter names; then it prints how many. A\n"
             "running task is asked to stop and ends when it has.",
    .examples =
        "# one\nerrand cancel 0192f3a1-7c1e-7000-8000-000000000001 --reason \"wrong file\"\n"
        "# a whole kind of work that has not begun\n"
        "errand cancel --type resize --state QUEUED,SCHEDULED",
    .options = cancel_options,
    .size = sizeof(struct steer),
    .words_max = WORDS_MAX,
    .run = run_cancel,
};

static const struct option retry_options[] = {
    FILTER_OPTIONS(struct steer),
    REMOTE_OPTIONS(struct steer),
    OPTION_END,
};

const struct verb retry_verb = {
    .name = "retry",
    .arguments = "[ID]...",
    .summary = "run ended tasks again",
    .about =
        "Gives FAILED, TIMEOUT or CANCELLED tasks another run with a fresh budget of retries:\n"
        "the named ones, or all that a filter names; then it prints how many.",
    .examples = "# one\nerrand retry 0192f3a1-7c1e-7000-8000-000000000001\n"
                "# all that failed since the mail server was down\n"
                "errand retry --type send-mail --state FAILED --after 2027-03-01T09:00:00Z",
    .options = retry_options,
    .size = sizeof(struct steer),
    .words_max = WORDS_MAX,
    .run = run_retry,
};
