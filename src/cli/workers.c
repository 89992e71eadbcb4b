/* cli/workers.c: `errand workers` and its verbs: see who works, and ask workers to be quiet or end.
 *
 * SPDX-License-Identifier: MIT */
#include "cli/verb.h"

struct workers {
    struct remote_options remote;
};

/* "0192f3a1-… and 3 more" */
static void write_tasks(struct remote *remote, struct str worker, const char *key, struct buf *cell)
{
    struct json json;
    struct str id;
    size_t count = 0;
    json_start(&json, json_find(worker, key, &remote->arena), &remote->arena);
    if (json_enter_array(&json, NULL)) {
        while (json_item(&json, NULL) && json_str(&json, &id, NULL)) {
            buf_str(cell, count++ == 0 ? id : STR(""));
        }
    }
    if (count > 1) {
        buf_printf(cell, " and %zu more", count - 1);
    }
}

/* A signal answers with the worker as it is now. */
static const struct column columns[] = {
    {"WORKER", .key = "id"},
    {"KIND", .key = "kind"},
    {"STATE", .key = "state"},
    {"SIGNAL", .key = "signal"},
    {"SEEN", .key = "lastSeenAt", .kind = COLUMN_TIME},
    {"TASK", .key = "taskIds", .write = write_tasks},
    {.head = NULL},
};

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
    .request = {"GET", "/api/workers", .columns = columns, .member = "workers"},
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
    .request = {"POST", "/api/workers/{}/quiet", .columns = columns},
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
    .request = {"POST", "/api/workers/{}/stop", .columns = columns},
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
    .request = {"POST", "/api/workers/{}/resume", .columns = columns},
};
