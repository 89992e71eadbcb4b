/* cli/queues.c: `errand queues` and its verbs: see, limit, pause, resume and empty queues.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "cli/human.h"
#include "cli/remote.h"
#include "cli/verb.h"
#include "task/task.h"

struct queues {
    struct remote_options remote;
    int64_t max_concurrent, burst; /* negative: not given */
    double rate;
};

static const struct queues queues_defaults = {.max_concurrent = -1, .burst = -1, .rate = -1};

/* ---- Looking ---- */

/* A limit as people see it: 0 and null are none. */
static struct str limit_text(struct str raw)
{
    return str_is(raw, "null") || str_is(raw, "0") ? STR_NONE : raw;
}

static int64_t count_of(struct str counts, enum task_state state, struct arena *arena)
{
    int64_t n = 0;
    struct str raw = json_find(counts, task_state_name(state), arena);
    return !str_absent(raw) && str_i64(raw, &n) ? n : 0;
}

static void add_count(struct table *table, int64_t n)
{
    SCOPED(buf_fini) struct buf text = BUF_INIT(64);
    buf_i64(&text, n);
    table_add(table, buf_view(&text));
}

static void add_queue(struct table *table, struct str queue, struct arena *arena)
{
    struct str counts = json_find(queue, "counts", arena);
    int64_t ended = 0;
    table_add(table, json_find_str(queue, "name", arena));
    table_add(table,
              str_is(json_find(queue, "paused", arena), "true") ? STR("paused") : STR("open"));
    table_add(table, limit_text(json_find(queue, "maxConcurrent", arena)));
    table_add(table, limit_text(json_find(queue, "ratePerSecond", arena)));
    table_add(table, limit_text(json_find(queue, "burst", arena)));
    for (enum task_state state = TASK_SCHEDULED; state <= TASK_RETRYING; state++) {
        add_count(table, count_of(counts, state, arena));
    }
    for (enum task_state state = TASK_COMPLETED; state < TASK_STATES; state++) {
        ended += count_of(counts, state, arena);
    }
    add_count(table, ended);
}

static void print_queues(struct remote *remote, struct str answer)
{
    static const char *const heads[] = {"QUEUE",   "STATE",     "MAX",     "RATE",
                                        "BURST",   "SCHEDULED", "WAITING", "QUEUED",
                                        "RUNNING", "RETRYING",  "ENDED",   NULL};
    struct paper paper = paper_stdout();
    SCOPED(table_fini) struct table table;
    struct json json;
    struct str queue;
    table_init(&table, heads, &remote->arena);
    json_start(&json, answer, &remote->arena);
    if (json_enter_array(&json, NULL)) {
        while (remote_item(&json, &queue)) {
            add_queue(&table, queue, &remote->arena);
        }
    }
    table_print(&table, &paper);
}

/* ---- All verbs are one call ---- */

static enum exit_status call(const struct queues *queues, const char *method, struct str name,
                             const char *after, struct str body,
                             void (*print)(struct remote *remote, struct str answer))
{
    SCOPED(remote_close) struct remote remote = {.client = NULL};
    struct err err = ERR_INIT;
    struct str answer;
    if (!remote_open(&remote, &queues->remote, &err)) {
        return verb_fail(&err);
    }
    struct str path =
        str_absent(name) ? STR("/api/queues") : remote_path(&remote, "/api/queues/", name, after);
    if (!remote_call(&remote, method, path, body, &answer, &err)) {
        return verb_fail(&err);
    }
    if (remote.json) {
        printf(STR_FMT "\n", STR_ARG(answer));
    } else {
        print(&remote, answer);
    }
    return EXIT_OK;
}

static enum exit_status run_queues(const void *options, const struct words *words)
{
    if (words->count > 0 && !str_is(words->at[0], "list") && !str_is(words->at[0], "ls")) {
        struct err err = ERR_INIT;
        err_set(&err, ERR_INVALID,
                "queues " STR_FMT ": there are list, set, pause, resume and purge",
                STR_ARG(words->at[0]));
        return verb_usage(&err);
    }
    return call(options, "GET", STR_NONE, "", STR_NONE, print_queues);
}

/* A change answers with the queue as it is now. */
static void print_queue(struct remote *remote, struct str answer)
{
    SCOPED(buf_fini) struct buf list = BUF_INIT(MIB);
    buf_char(&list, '[');
    buf_str(&list, answer);
    buf_char(&list, ']');
    print_queues(remote, arena_str(&remote->arena, buf_view(&list)));
}

static void print_count(struct remote *remote, struct str answer)
{
    struct str count = json_find(answer, "count", &remote->arena);
    printf(STR_FMT "\n", STR_ARG(count));
}

static enum exit_status run_set(const void *options, const struct words *words)
{
    const struct queues *queues = options;
    SCOPED(buf_fini) struct buf body = BUF_INIT(KIB);
    struct json_writer w = JSON_WRITER(&body);
    struct err err = ERR_INIT;
    if (queues->max_concurrent < 0 && queues->rate < 0 && queues->burst < 0) {
        err_set(&err, ERR_INVALID, "nothing to set; give --max-concurrent, --rate or --burst");
        return verb_usage(&err);
    }
    json_open_object(&w);
    if (queues->max_concurrent >= 0) {
        json_put_i64(&w, "maxConcurrent", queues->max_concurrent);
    }
    if (queues->rate >= 0) {
        json_put_f64(&w, "ratePerSecond", queues->rate);
    }
    if (queues->burst >= 0) {
        json_put_i64(&w, "burst", queues->burst);
    }
    json_close_object(&w);
    return call(queues, "PUT", words->at[0], "", buf_view(&body), print_queue);
}

static enum exit_status run_pause(const void *options, const struct words *words)
{
    return call(options, "POST", words->at[0], "/pause", STR("{}"), print_queue);
}

static enum exit_status run_resume(const void *options, const struct words *words)
{
    return call(options, "POST", words->at[0], "/resume", STR("{}"), print_queue);
}

static enum exit_status run_purge(const void *options, const struct words *words)
{
    return call(options, "POST", words->at[0], "/purge", STR("{}"), print_count);
}

/* ---- The verbs ---- */

static const struct option plain_options[] = {
    REMOTE_OPTIONS(struct queues),
    OPTION_END,
};

static const struct option set_options[] = {
    {"max-concurrent", "N", "tasks that may run at once; 0 for no limit",
     OPTION_NUMBER(struct queues, max_concurrent, 0, INT64_MAX)},
    {"rate", "R", "tasks that may start each second; 0 for no limit",
     OPTION_REAL(struct queues, rate)},
    {"burst", "N", "how many may start together when the queue was quiet",
     OPTION_NUMBER(struct queues, burst, 0, INT64_MAX)},
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
    .run = run_queues,
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
    .run = run_set,
};

const struct verb queues_pause_verb = {
    .name = "queues pause",
    .arguments = "QUEUE",
    .summary = "start nothing more from a queue",
    .about = "Pauses a queue: what runs goes on, nothing more is started. Tasks may still be\n"
             "created.",
    .examples = "# while the mail server is down\nerrand queues pause mail",
    .options = plain_options,
    .defaults = &queues_defaults,
    .size = sizeof(struct queues),
    .words_min = 1,
    .words_max = 1,
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
    .run = run_resume,
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
    .run = run_purge,
};
