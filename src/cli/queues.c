/* cli/queues.c: `errand queues` and its verbs: see, limit, pause, resume and empty queues.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <unistd.h>

#include "cli/verb.h"
#include "task/task.h"

struct queues {
    struct remote_options remote;
    int64_t max_concurrent, burst; /* negative: not given */
    double rate;
    bool yes;
};

static const struct queues queues_defaults = {.max_concurrent = -1, .burst = -1, .rate = -1};

/* ---- How a queue is shown; a change answers with the queue as it is now ---- */

static void write_paused(struct remote *remote, struct str queue, const char *key, struct buf *cell)
{
    buf_c(cell, str_is(json_find(queue, key, &remote->arena), "true") ? "paused" : "open");
}

/* A limit as people see it: 0 and null are none. */
static void write_limit(struct remote *remote, struct str queue, const char *key, struct buf *cell)
{
    struct str raw = json_find(queue, key, &remote->arena);
    if (!str_is(raw, "null") && !str_is(raw, "0")) {
        buf_str(cell, raw);
    }
}

static int64_t count_of(struct remote *remote, struct str queue, const char *state)
{
    int64_t n = 0;
    struct str counts = json_find(queue, "counts", &remote->arena);
    struct str raw = json_find(counts, state, &remote->arena);
    return !str_absent(raw) && str_i64(raw, &n) ? n : 0;
}

static void write_count(struct remote *remote, struct str queue, const char *state,
                        struct buf *cell)
{
    buf_i64(cell, count_of(remote, queue, state));
}

static void write_ended(struct remote *remote, struct str queue, const char *key, struct buf *cell)
{
    int64_t ended = 0;
    (void)key;
    for (enum task_state state = 0; state < TASK_STATES; state++) {
        if (task_state_terminal(state)) {
            ended += count_of(remote, queue, task_state_name(state));
        }
    }
    buf_i64(cell, ended);
}

static const struct column columns[] = {
    {"QUEUE", .key = "name"},
    {"STATE", .key = "paused", .write = write_paused},
    {"MAX", .key = "maxConcurrent", .write = write_limit},
    {"RATE", .key = "ratePerSecond", .write = write_limit},
    {"BURST", .key = "burst", .write = write_limit, .spare = true},
    {"SCHEDULED", .key = "SCHEDULED", .write = write_count, .spare = true},
    {"WAITING", .key = "WAITING", .write = write_count, .spare = true},
    {"QUEUED", .key = "QUEUED", .write = write_count},
    {"RUNNING", .key = "RUNNING", .write = write_count},
    {"RETRYING", .key = "RETRYING", .write = write_count},
    {"ENDED", .key = "", .write = write_ended, .spare = true},
    {.head = NULL},
};

/* ---- The verbs ---- */

static enum exit_status run_set(const void *options, const struct words *words)
{
    const struct queues *queues = options;
    struct err err = ERR_INIT;
    if (queues->max_concurrent < 0 && queues->rate < 0 && queues->burst < 0) {
        err_set(&err, ERR_INVALID, "nothing to set; give --max-concurrent, --rate or --burst");
        return verb_usage_as(queues->remote.json, &err);
    }
    return verb_request(&queues_set_verb, options, words);
}

/* A queue comes into being with its first task or setting: a mistyped name would be paused for
 * ever, and nobody would know. */
static bool may_make(struct remote *remote, const struct queues *queues, struct str name,
                     struct err *err)
{
    struct str answer, path = remote_path(remote, "/api/queues/", name, "");
    char line[8] = "";
    struct err missing = ERR_INIT;
    if (queues->yes || remote_call(remote, "GET", path, STR_NONE, &answer, &missing)) {
        return true;
    }
    if (missing.kind != ERR_NOT_FOUND) {
        *err = missing;
        return false;
    }
    if (isatty(STDIN_FILENO) == 1) {
        fprintf(stderr, "There is no queue " STR_FMT " yet. Pause it all the same? [y/N] ",
                STR_ARG(name));
        if (fgets(line, sizeof line, stdin) != NULL && (line[0] == 'y' || line[0] == 'Y')) {
            return true;
        }
    }
    return err_set(err, ERR_NOT_FOUND,
                   "there is no queue " STR_FMT " yet; --yes pauses it all the same",
                   STR_ARG(name));
}

static enum exit_status run_pause(const void *options, const struct words *words)
{
    SCOPED(remote_close) struct remote remote = {.client = NULL};
    struct err err = ERR_INIT;
    return remote_open(&remote, options, &err) && may_make(&remote, options, words->at[0], &err)
               ? verb_request(&queues_pause_verb, options, words)
               : verb_fail_as(((const struct queues *)options)->remote.json, &err);
}

static const struct option pause_options[] = {
    {"yes", NULL, "also if there is no such queue yet", OPTION_SET(struct queues, yes)},
    REMOTE_OPTIONS(struct queues),
    OPTION_END,
};

static const struct option plain_options[] = {
    REMOTE_OPTIONS(struct queues),
    OPTION_END,
};

static const struct option set_options[] = {
    {"max-concurrent", "N", "tasks that may run at once; 0 for no limit",
     OPTION_NUMBER(struct queues, max_concurrent, 0, INT64_MAX), .field = "maxConcurrent"},
    {"rate", "R", "tasks that may start each second; 0 for no limit",
     OPTION_REAL(struct queues, rate), .field = "ratePerSecond"},
    {"burst", "N", "how many may start together when the queue was quiet",
     OPTION_NUMBER(struct queues, burst, 0, INT64_MAX), .field = "burst"},
    REMOTE_OPTIONS(struct queues),
    OPTION_END,
};

const struct verb queues_verb = {
    .name = "queues",
    .arguments = "[list]",
    .summary = "list queues",
    .about = "Lists every queue that has tasks or settings, with its limits and its counts.",
    .examples = "# all of them\nerrand queues",
    .options = plain_options,
    .defaults = &queues_defaults,
    .size = sizeof(struct queues),
    .words_max = 1,
    .request = {"GET", "/api/queues", .columns = columns},
};

const struct verb queues_set_verb = {
    .name = "queues set",
    .arguments = "QUEUE",
    .summary = "limit a queue",
    .about = "Sets limits of a queue; what is not given stays. The limits hold for all workers\n"
             "together.",
    .examples = "# an API that takes ten calls a second, four at a time\n"
                "errand queues set billing --rate 10 --max-concurrent 4\n"
                "# no limits again\nerrand queues set billing --rate 0 --max-concurrent 0",
    .options = set_options,
    .defaults = &queues_defaults,
    .size = sizeof(struct queues),
    .words_min = 1,
    .words_max = 1,
    .request = {"PUT", "/api/queues/{}", .columns = columns},
    .run = run_set,
};

const struct verb queues_pause_verb = {
    .name = "queues pause",
    .arguments = "QUEUE",
    .summary = "start nothing more from a queue",
    .about = "Pauses a queue: what runs goes on, nothing more is started. Tasks may still be\n"
             "created.",
    .examples = "# while the mail server is down\nerrand queues pause mail",
    .options = pause_options,
    .defaults = &queues_defaults,
    .size = sizeof(struct queues),
    .words_min = 1,
    .words_max = 1,
    .request = {"POST", "/api/queues/{}/pause", .columns = columns},
    .run = run_pause,
};

const struct verb queues_resume_verb = {
    .name = "queues resume",
    .arguments = "QUEUE",
    .summary = "go on with a paused queue",
    .about = "Ends a pause: waiting tasks start at once.",
    .examples = "# the mail server is back\nerrand queues resume mail",
    .options = plain_options,
    .defaults = &queues_defaults,
    .size = sizeof(struct queues),
    .words_min = 1,
    .words_max = 1,
    .request = {"POST", "/api/queues/{}/resume", .columns = columns},
};

const struct verb queues_purge_verb = {
    .name = "queues purge",
    .arguments = "QUEUE",
    .summary = "cancel all that has not started",
    .about = "Cancels every task of a queue that is not running and prints how many there were.\n"
             "errand retry can bring them back.",
    .examples = "# a producer went wild\nerrand queues purge imports",
    .options = plain_options,
    .defaults = &queues_defaults,
    .size = sizeof(struct queues),
    .words_min = 1,
    .words_max = 1,
    .request = {"POST", "/api/queues/{}/purge", .member = "count"},
};
