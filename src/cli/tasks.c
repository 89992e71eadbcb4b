/* cli/tasks.c: the commands about tasks that are there: ls, show, why, edit, cancel, retry, rm,
 * stats.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "cli/verb.h"
#include "task/task.h"
#include "wire/time.h"

#define VALUE_SHOWN_MAX (4 * KIB) /* of a payload or result; --json has all of it */
#define NESTING_MAX     4         /* of what stats shows under names of its own */

/* The options that ls, cancel and retry share: which tasks are meant. */
struct tasks {
    struct remote_options remote;
    struct str state, type, queue, document, priority, tag, after, before;
    struct str reason; /* of cancel */
};

/* clang-format off */
#define FILTER_OPTIONS                                                                             \
    {"state", "S", "in this state, or several: queued,running", OPTION_CAPITALS(struct tasks, state), .field = "state"}, \
    {"type", "T", "of this task type", OPTION_TEXT(struct tasks, type), .field = "taskType"},      \
    {"queue", "Q", "in this queue", OPTION_TEXT(struct tasks, queue), .field = "queue"},           \
    {"doc", "ID", "of this document", OPTION_TEXT(struct tasks, document), .field = "documentId"}, \
    {"priority", "P", "of this priority", OPTION_CAPITALS(struct tasks, priority), .field = "priority"}, \
    {"tag", "T", "with this tag", OPTION_TEXT(struct tasks, tag), .field = "tag"},                 \
    {"after", "TIME", "created after this time: 1h, 2027-03-01", OPTION_PAST(struct tasks, after), .field = "createdAfter"}, \
    {"before", "TIME", "created before this time", OPTION_PAST(struct tasks, before), .field = "createdBefore"}
/* clang-format on */

static const struct option plain_options[] = {REMOTE_OPTIONS(struct tasks), OPTION_END};

/* ---- Lists ---- */

static const struct tasks ls_defaults = {REMOTE_LIST_DEFAULTS};

static const struct option ls_options[] = {
    FILTER_OPTIONS,
    REMOTE_LIST_OPTIONS(struct tasks),
    OPTION_END,
};

static const struct column ls_columns[] = {
    {"ID", .key = "id"},
    {"TYPE", .key = "taskType"},
    {"STATE", .key = "state"},
    {"PRIORITY", .key = "priority", .spare = true},
    {"QUEUE", .key = "queue"},
    {"DOCUMENT", .key = "documentId"},
    {"ATTEMPT", .key = "attempt", .kind = COLUMN_VALUE, .spare = true},
    {"CREATED", .key = "createdAt", .kind = COLUMN_TIME},
    {.head = NULL},
};

const struct verb ls_verb = {
    .name = "ls",
    .arguments = "",
    .summary = "list tasks",
    .about = "Lists tasks, newest first. Options narrow the list; those given together must all\n"
             "hold.",
    .examples = "# what went wrong lately\nerrand ls --state FAILED,TIMEOUT --limit 20\n"
                "# everything about one document, for a script\n"
                "errand ls --doc page-12 --json",
    .options = ls_options,
    .defaults = &ls_defaults,
    .size = sizeof(struct tasks),
    .request = {"GET", "/api/tasks", .columns = ls_columns},
};

/* ---- One task ---- */

static void print_field(struct remote *remote, const struct paper *paper, struct str key,
                        struct str raw)
{
    SCOPED(buf_fini) struct buf line = BUF_INIT(64 * KIB);
    struct str value = remote_text(remote, raw);
    if (str_ends(key, STR("At")) || str_ends(key, STR("Ms"))) {
        human_value(&line, paper, key, value);
    } else {
        human_clean(&line, (struct str){value.ptr, MIN(value.len, VALUE_SHOWN_MAX)});
        if (value.len > VALUE_SHOWN_MAX) {
            buf_printf(&line, "... (%zu bytes; --json shows all)", value.len);
        }
    }
    const char *colour = str_is(key, "state") ? human_colour(paper, value) : "";
    printf("%-16.*s  %s" STR_FMT "%s\n", STR_ARG(key), colour, STR_ARG(buf_view(&line)),
           colour[0] ? human_plain(paper) : "");
}

static void print_log(struct remote *remote, struct str log)
{
    struct json json;
    struct str raw;
    json_start(&json, log, &remote->arena);
    if (!json_enter_array(&json, NULL)) {
        return;
    }
    while (remote_item(&json, &raw)) {
        SCOPED(buf_fini) struct buf line = BUF_INIT(64 * KIB);
        human_clean(&line, remote_text(remote, raw));
        printf("    | " STR_FMT "\n", STR_ARG(buf_view(&line)));
    }
}

/* "  2  FAILED  started 2027-03-01T09:00:00.000Z (3m ago), ran 1.2s on worker-1: boom" */
static void print_attempt(struct remote *remote, const struct paper *paper, struct str attempt)
{
    struct arena *arena = &remote->arena;
    SCOPED(buf_fini) struct buf line = BUF_INIT(64 * KIB);
    struct str outcome = json_find_str(attempt, "outcome", arena);
    struct str worker = json_find_str(attempt, "workerId", arena);
    struct str error = json_find(attempt, "error", arena);
    struct str message = json_find_str(error, "message", arena);
    int64_t from_ms, to_ms;
    if (str_absent(outcome)) {
        outcome = STR("RUNNING");
    }
    buf_c(&line, "started ");
    human_exact(&line, paper, json_find_str(attempt, "startedAt", arena));
    if (time_parse(json_find_str(attempt, "startedAt", arena), &from_ms, NULL) &&
        time_parse(json_find_str(attempt, "finishedAt", arena), &to_ms, NULL)) {
        buf_c(&line, ", ran ");
        human_span(&line, to_ms - from_ms);
    }
    if (!str_absent(worker)) {
        buf_c(&line, " on ");
        human_clean(&line, worker);
    }
    if (!str_absent(message)) {
        buf_c(&line, ": ");
        human_clean(&line, message);
    }
    printf("  %3.*s  %s%-9.*s%s  " STR_FMT "\n", STR_ARG(json_find(attempt, "number", arena)),
           human_colour(paper, outcome), STR_ARG(outcome), human_plain(paper),
           STR_ARG(buf_view(&line)));
    print_log(remote, json_find(attempt, "log", arena));
}

/* Of a schedule's run: by which channel it was delivered, how that went and when. */
static void print_deliveries(struct remote *remote, const struct paper *paper,
                             struct str deliveries)
{
    struct json json;
    struct str channel, raw;
    json_start(&json, deliveries, &remote->arena);
    if (!json_enter_object(&json, NULL)) {
        return;
    }
    puts("deliveries");
    while (json_member(&json, &channel, NULL) && json_raw(&json, &raw, NULL)) {
        SCOPED(buf_fini) struct buf line = BUF_INIT(64 * KIB);
        struct str status = json_find_str(raw, "status", &remote->arena);
        struct str at = json_find_str(raw, "at", &remote->arena);
        struct str error = json_find_str(raw, "error", &remote->arena);
        if (!str_absent(at)) { /* older ones do not say */
            human_exact(&line, paper, at);
        }
        if (!str_absent(error)) {
            buf_c(&line, ": ");
            human_clean(&line, error);
        }
        printf("  %-6.*s  %s%-9.*s%s  " STR_FMT "\n", STR_ARG(channel), human_colour(paper, status),
               STR_ARG(status), human_plain(paper), STR_ARG(buf_view(&line)));
    }
}

static void print_task(struct remote *remote, struct str task)
{
    struct paper paper = paper_stdout();
    struct json json, attempts;
    struct str key, raw, attempt, deliveries = STR_NONE;
    bool tried = false;
    json_start(&json, task, &remote->arena);
    if (!json_enter_object(&json, NULL)) {
        return;
    }
    while (json_member(&json, &key, NULL) && json_raw(&json, &raw, NULL)) {
        if (str_is(raw, "null") || str_is(raw, "[]")) {
            continue;
        }
        if (str_is(key, "deliveries")) {
            deliveries = raw;
            continue;
        }
        if (!str_is(key, "attempts")) {
            print_field(remote, &paper, key, raw);
            continue;
        }
        json_start(&attempts, raw, &remote->arena);
        tried = json_enter_array(&attempts, NULL);
    }
    if (tried) {
        puts("attempts");
        while (remote_item(&attempts, &attempt)) {
            print_attempt(remote, &paper, attempt);
        }
    }
    if (!str_absent(deliveries) && !str_is(deliveries, "{}")) {
        print_deliveries(remote, &paper, deliveries);
    }
}

const struct verb show_verb = {
    .name = "show",
    .arguments = "ID",
    .summary = "show one task with its attempts",
    .about =
        "Shows everything the server knows about a task: its order, its state, its result, and\n"
        "each attempt with its outcome and log. Of a schedule's run also how it was delivered.",
    .examples = "# for people\nerrand show 0192f3a1-7c1e-7000-8000-000000000001\n"
                "# only the result, for a script\n"
                "errand show 0192f3a1-7c1e-7000-8000-000000000001 --json | jq .result",
    .options = plain_options,
    .size = sizeof(struct tasks),
    .words_min = 1,
    .words_max = 1,
    .request = {"GET", "/api/tasks/{}", .print = print_task},
};

/* ": retries in 4.5s, at 2027-03-01T09:00:04.500Z" */
static void put_until(struct buf *line, const struct paper *paper, struct str code, struct str time)
{
    int64_t at_ms;
    if (!str_absent(time) && time_parse(time, &at_ms, NULL)) {
        buf_printf(line, ": %s in ", str_is(code, "retry_backoff") ? "retries" : "begins");
        human_span(line, MAX(at_ms - paper->now_ms, 0));
        buf_printf(line, ", at " STR_FMT, STR_ARG(time));
    }
}

static void print_reasons(struct remote *remote, struct str answer)
{
    struct paper paper = paper_stdout();
    struct str state = json_find_str(answer, "state", &remote->arena), reason;
    bool any = false;
    struct json json;
    printf("%s" STR_FMT "%s\n", human_colour(&paper, state), STR_ARG(state), human_plain(&paper));
    json_start(&json, json_find(answer, "reasons", &remote->arena), &remote->arena);
    if (!json_enter_array(&json, NULL)) {
        return;
    }
    while (remote_item(&json, &reason)) {
        SCOPED(buf_fini) struct buf text = BUF_INIT(64 * KIB);
        human_clean(&text, json_find_str(reason, "message", &remote->arena));
        put_until(&text, &paper, json_find_str(reason, "code", &remote->arena),
                  json_find_str(reason, "until", &remote->arena));
        struct str since = json_find_str(reason, "since", &remote->arena);
        if (!str_absent(since)) {
            buf_c(&text, ", since ");
            human_exact(&text, &paper, since);
        }
        printf("  " STR_FMT "\n", STR_ARG(buf_view(&text)));
        any = true;
    }
    if (!any) {
        puts("  nothing holds it up");
    }
}

const struct verb why_verb = {
    .name = "why",
    .arguments = "ID",
    .summary = "say why a task is not running",
    .about = "Says what a task waits for: its time, its document and who holds it, a paused or\n"
             "full queue, workers that are busy or do not exist.",
    .examples = "# what holds it up?\nerrand why 0192f3a1-7c1e-7000-8000-000000000001",
    .options = plain_options,
    .size = sizeof(struct tasks),
    .words_min = 1,
    .words_max = 1,
    .request = {"GET", "/api/tasks/{}/why", .print = print_reasons},
};

/* ---- Changes: tasks by their ids, or all that a filter names ---- */

static void print_state(struct remote *remote, struct str task)
{
    struct str state = json_find_str(task, "state", &remote->arena);
    struct str asked = json_find(task, "cancelRequested", &remote->arena);
    printf(STR_FMT "%s\n", STR_ARG(state),
           str_is(asked, "true") && str_is(state, "RUNNING") ? "  cancel requested" : "");
}

/* The ids are the request of `verb`; a filter goes to `many`, which answers with how many. */
static enum exit_status change(const struct verb *verb, const struct tasks *tasks,
                               const struct words *words, const char *many)
{
    static const struct option filter[] = {FILTER_OPTIONS, OPTION_END};
    SCOPED(buf_fini) struct buf any = BUF_INIT(64 * KIB);
    struct err err = ERR_INIT;
    option_put_query(filter, tasks, &any);
    if ((words->count > 0) != (any.len == 0)) {
        err_set(&err, ERR_INVALID, "name tasks by id, or a filter such as --state and --type");
        return verb_usage_as(tasks->remote.json, &err);
    }
    const struct verb all = {.options = verb->options,
                             .request = {"POST", many, .member = "count"}};
    return verb_request(words->count > 0 ? verb : &all, tasks, words);
}

static enum exit_status run_cancel(const void *options, const struct words *words)
{
    return change(&cancel_verb, options, words, "/api/tasks/cancel");
}

static enum exit_status run_retry(const void *options, const struct words *words)
{
    return change(&retry_verb, options, words, "/api/tasks/retry");
}

static const struct option cancel_options[] = {
    {"reason", "TEXT", "kept as cancelReason", OPTION_TEXT(struct tasks, reason),
     .field = "reason"},
    FILTER_OPTIONS,
    REMOTE_OPTIONS(struct tasks),
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
    .size = sizeof(struct tasks),
    .words_max = WORDS_MAX,
    .request = {"POST", "/api/tasks/{}/cancel", .each = true, .print = print_state},
    .run = run_cancel,
};

static const struct option retry_options[] = {
    FILTER_OPTIONS,
    REMOTE_OPTIONS(struct tasks),
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
    .size = sizeof(struct tasks),
    .words_max = WORDS_MAX,
    .request = {"POST", "/api/tasks/{}/retry", .each = true, .print = print_state},
    .run = run_retry,
};

static void print_removed(struct remote *remote, struct str answer)
{
    (void)remote;
    (void)answer;
    puts("removed");
}

const struct verb rm_verb = {
    .name = "rm",
    .arguments = "ID...",
    .summary = "remove tasks that have ended",
    .about = "Removes ended tasks with their attempts, logs and children; their keys are free\n"
             "again. A task that has not ended is refused: cancel it first.",
    .examples = "# one, by the beginning of its id\nerrand rm 0192f3a1-7c1e-7000",
    .options = plain_options,
    .size = sizeof(struct tasks),
    .words_min = 1,
    .words_max = WORDS_MAX,
    .request = {"DELETE", "/api/tasks/{}", .each = true, .print = print_removed},
};

struct edit {
    struct remote_options remote;
    struct str priority, at;
    int64_t max_retries, timeout_ms; /* negative: not given */
};

static const struct edit edit_defaults = {.max_retries = -1, .timeout_ms = -1};

static enum exit_status run_edit(const void *options, const struct words *words)
{
    const struct edit *edit = options;
    struct err err = ERR_INIT;
    if (str_absent(edit->priority) && str_absent(edit->at) && edit->max_retries < 0 &&
        edit->timeout_ms < 0) {
        err_set(&err, ERR_INVALID,
                "nothing to change; give --priority, --at, --max-retries or --timeout");
        return verb_usage_as(edit->remote.json, &err);
    }
    return verb_request(&edit_verb, options, words);
}

static const struct option edit_options[] = {
    {"priority", "P", "CRITICAL, HIGH, NORMAL or LOW", OPTION_CAPITALS(struct edit, priority),
     .field = "priority"},
    {"at", "TIME", "not before this time: 2027-03-01T09:00:00Z, 10m", OPTION_TIME(struct edit, at),
     .field = "scheduledAt"},
    {"max-retries", "N", "retries after failures",
     OPTION_NUMBER(struct edit, max_retries, 0, TASK_RETRIES_MAX), .field = "maxRetries"},
    {"timeout", "DURATION", "limit of one attempt; 0 for none",
     OPTION_DURATION(struct edit, timeout_ms), .field = "timeoutMs"},
    REMOTE_OPTIONS(struct edit),
    OPTION_END,
};

const struct verb edit_verb = {
    .name = "edit",
    .arguments = "ID...",
    .summary = "change tasks that do not run",
    .about = "Changes tasks that wait to run: how urgent they are, when they may begin, how often\n"
             "and how long they may try. What is not given stays.",
    .examples = "# first of all\nerrand edit @last --priority critical\n"
                "# not before tomorrow\nerrand edit 0192f3a1-7c1e-7000 --at 24h",
    .options = edit_options,
    .defaults = &edit_defaults,
    .size = sizeof(struct edit),
    .words_min = 1,
    .words_max = WORDS_MAX,
    .request = {"PATCH", "/api/tasks/{}", .each = true, .print = print_state},
    .run = run_edit,
};

/* ---- Numbers: shown as they come, so that a newer server's are shown too ---- */

static void print_value(struct remote *remote, const struct paper *paper, int depth,
                        struct str unit, struct str key, struct str raw)
{
    SCOPED(buf_fini) struct buf value = BUF_INIT(64 * KIB);
    human_value(&value, paper, unit, remote_text(remote, raw));
    const char *colour = human_colour(paper, key);
    printf("%*s%s%-*.*s%s  " STR_FMT "\n", depth * 2, "", colour, 24 - depth * 2, STR_ARG(key),
           colour[0] ? human_plain(paper) : "", STR_ARG(buf_view(&value)));
}

/* One object; its inner ones down to NESTING_MAX, below that as JSON. What an object's name says of
 * its unit ("queueWaitMs") holds for all in it. */
static void print_object(struct remote *remote, const struct paper *paper, int depth,
                         struct str unit, struct str object)
{
    struct json json;
    struct str key, raw;
    json_start(&json, object, &remote->arena);
    if (!json_enter_object(&json, NULL)) {
        return;
    }
    while (json_member(&json, &key, NULL)) {
        bool deeper = json_peek(&json) == JSON_OBJECT && depth < NESTING_MAX;
        struct str own = str_ends(unit, STR("Ms")) ? unit : key;
        if (!json_raw(&json, &raw, NULL)) {
            return;
        }
        if (deeper) {
            printf("%*s" STR_FMT "\n", depth * 2, "", STR_ARG(key));
            print_object(remote, paper, depth + 1, own, raw);
        } else {
            print_value(remote, paper, depth, own, key, raw);
        }
    }
}

static void print_stats(struct remote *remote, struct str answer)
{
    struct paper paper = paper_stdout();
    print_object(remote, &paper, 0, STR(""), answer);
}

const struct verb stats_verb = {
    .name = "stats",
    .arguments = "",
    .summary = "show counts, rates and latencies",
    .about = "Shows how many tasks are in each state, how fast they come and go, how long they\n"
             "wait and run, and since when the oldest one waits.",
    .examples = "# a look\nerrand stats\n# every two seconds\nwatch -n 2 errand stats",
    .options = plain_options,
    .size = sizeof(struct tasks),
    .request = {"GET", "/api/stats", .print = print_stats},
};
