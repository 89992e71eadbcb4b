/* cli/push.c: `errand push`: create a task, and wait for it if asked to.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "cli/verb.h"
#include "task/task.h"

struct push {
    struct remote_options remote;
    struct str document, priority, queue, at, expires, key;
    int64_t delay_ms, max_retries, timeout_ms; /* negative: not given */
    struct option_many tags;
    bool wait;
};

static const struct push push_defaults = {.delay_ms = -1, .max_retries = -1, .timeout_ms = -1};

static void write_order(const struct push *push, struct str type, struct str payload,
                        struct buf *body)
{
    struct json_writer w = JSON_WRITER(body);
    json_open_object(&w);
    json_put_str(&w, "taskType", type);
    if (payload.len > 0) {
        json_put_raw(&w, "payload", payload);
    }
    option_put_json(push_verb.options, push, &w);
    json_close_object(&w);
}

/* The task has ended: its result on standard output, or what went wrong on standard error. */
static enum exit_status report(struct remote *remote, struct str id, struct str task)
{
    struct err err = ERR_INIT;
    struct str state = json_find_str(task, "state", &remote->arena);
    struct str result = json_find(task, "result", &remote->arena);
    struct str error = json_find(task, "error", &remote->arena);
    struct str message = json_find_str(error, "message", &remote->arena);
    if (str_absent(message)) {
        message = json_find_str(task, "cancelReason", &remote->arena);
    }
    struct str shown = remote->json ? task : result;
    if (shown.len > 0) {
        printf(STR_FMT "\n", STR_ARG(shown));
    }
    if (str_is(state, "COMPLETED")) {
        return EXIT_OK;
    }
    err_set(&err, ERR_REFUSED, "task " STR_FMT " ended " STR_FMT "%s" STR_FMT, STR_ARG(id),
            STR_ARG(state), str_absent(message) ? "" : ": ", STR_ARG(message));
    return verb_fail_as(remote->json, &err);
}

static enum exit_status run_push(const void *options, const struct words *words)
{
    const struct push *push = options;
    SCOPED(remote_close) struct remote remote = {.client = NULL};
    SCOPED(buf_fini) struct buf payload = BUF_INIT(REMOTE_BODY_MAX);
    SCOPED(buf_fini) struct buf body = BUF_INIT(REMOTE_BODY_MAX + MIB);
    struct err err = ERR_INIT;
    struct str task;
    if (words->count > 1 && !remote_read_json(words->at[1], &payload, &err)) {
        return verb_usage_as(push->remote.json, &err);
    }
    write_order(push, words->at[0], buf_view(&payload), &body);
    if (!remote_open(&remote, &push->remote, &err) ||
        !remote_call(&remote, "POST", STR("/api/tasks"), buf_view(&body), &task, &err)) {
        return verb_fail_as(push->remote.json, &err);
    }
    struct str id = json_find_str(task, "id", &remote.arena);
    if (push->wait && !remote_wait(&remote, id, &task, &err)) {
        err_wrap(&err, "task " STR_FMT " was created, but waiting for it failed", STR_ARG(id));
        return verb_fail_as(push->remote.json, &err);
    }
    if (push->wait) {
        return report(&remote, id, task);
    }
    struct str shown = push->remote.json ? task : id;
    printf(STR_FMT "\n", STR_ARG(shown));
    return EXIT_OK;
}

static const struct option push_options[] = {
    {"doc", "ID", "document: tasks with the same one never overlap",
     OPTION_TEXT(struct push, document), .field = "documentId"},
    {"priority", "P", "CRITICAL, HIGH, NORMAL or LOW", OPTION_TEXT(struct push, priority),
     .field = "priority"},
    {"queue", "Q", "the lane it goes into (default \"default\")", OPTION_TEXT(struct push, queue),
     .field = "queue"},
    {"delay", "DURATION", "not before this much time has passed: 10m, 1h30m",
     OPTION_DURATION(struct push, delay_ms), .field = "delayMs"},
    {"at", "TIME", "not before this time: 2027-03-01T09:00:00Z, 10m", OPTION_TIME(struct push, at),
     .field = "scheduledAt"},
    {"expires", "TIME", "cancelled if not started by then", OPTION_TIME(struct push, expires),
     .field = "expiresAt"},
    {"key", "K", "idempotency key: a second push with it gives the first task",
     OPTION_TEXT(struct push, key), .field = "idempotencyKey"},
    {"tag", "T", "a tag; may be given again", OPTION_LIST(struct push, tags), .field = "tags"},
    {"max-retries", "N", "retries after failures (default 3)",
     OPTION_NUMBER(struct push, max_retries, 0, TASK_RETRIES_MAX), .field = "maxRetries"},
    {"timeout", "DURATION", "limit of one attempt (default 5m); 0 for none",
     OPTION_DURATION(struct push, timeout_ms), .field = "timeoutMs"},
    {"wait", NULL, "wait until it has ended and print its result", OPTION_SET(struct push, wait)},
    REMOTE_OPTIONS(struct push),
    OPTION_END,
};

const struct verb push_verb = {
    .name = "push",
    .arguments = "TYPE [JSON|@FILE|-]",
    .summary = "create a task",
    .about = "Creates a task and prints its id once it is safe on the server's disk. TYPE says\n"
             "who does it. The payload is JSON: written out, read from a file (@FILE) or from\n"
             "standard input (-).\n\n"
             "With --wait it waits until the task has ended, prints its result instead, and\n"
             "fails unless the task COMPLETED.",
    .examples = "# a welcome mail, in ten minutes\n"
                "errand push send-welcome '{\"user\":7}' --delay 10m\n"
                "# one at a time for each document, before everything else\n"
                "errand push index @page.json --doc page-12 --priority CRITICAL\n"
                "# use the result\n"
                "errand push add '[1,2]' --wait",
    .options = push_options,
    .defaults = &push_defaults,
    .size = sizeof(struct push),
    .words_min = 1,
    .words_max = 2,
    .run = run_push,
};
