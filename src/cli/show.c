/* cli/show.c: `errand show` and `errand why`: one task, whole, and what it waits for.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "cli/human.h"
#include "cli/remote.h"
#include "cli/verb.h"

#define VALUE_SHOWN_MAX (4 * KIB) /* of a payload or result; --json has all of it */

struct show {
    struct remote_options remote;
};

static bool is_time(struct str key)
{
    return str_ends(key, STR("At"));
}

/* The text of a string, or the JSON of anything else. */
static struct str shown_value(struct remote *remote, struct str raw)
{
    struct json json;
    struct str text;
    json_start(&json, raw, &remote->arena);
    return json_peek(&json) == JSON_STRING && json_str(&json, &text, NULL) ? text : raw;
}

static void print_field(struct remote *remote, const struct paper *paper, struct str key,
                        struct str raw)
{
    SCOPED(buf_fini) struct buf line = BUF_INIT(64 * KIB);
    struct str value = shown_value(remote, raw);
    if (is_time(key)) {
        human_when(&line, paper, value);
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
        human_clean(&line, shown_value(remote, raw));
        printf("    | " STR_FMT "\n", STR_ARG(buf_view(&line)));
    }
}

/* "  2  FAILED  worker-1  started 3m ago  ran 1.2s: boom" */
static void print_attempt(struct remote *remote, const struct paper *paper, struct str attempt)
{
    struct arena *arena = &remote->arena;
    SCOPED(buf_fini) struct buf line = BUF_INIT(64 * KIB);
    struct str outcome = json_find_str(attempt, "outcome", arena);
    struct str worker = json_find_str(attempt, "workerId", arena);
    struct str error = json_find(attempt, "error", arena);
    struct str message = json_find_str(error, "message", arena);
    if (str_absent(outcome)) {
        outcome = STR("RUNNING");
    }
    buf_c(&line, "started ");
    human_when(&line, paper, json_find_str(attempt, "startedAt", arena));
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

static void print_attempts(struct remote *remote, const struct paper *paper, struct str attempts)
{
    struct json json;
    struct str attempt;
    json_start(&json, attempts, &remote->arena);
    if (json_enter_array(&json, NULL)) {
        while (remote_item(&json, &attempt)) {
            print_attempt(remote, paper, attempt);
        }
    }
}

static void print_task(struct remote *remote, struct str task)
{
    struct paper paper = paper_stdout();
    struct json json;
    struct str key, raw, attempts = STR("[]");
    json_start(&json, task, &remote->arena);
    if (!json_enter_object(&json, NULL)) {
        return;
    }
    while (json_member(&json, &key, NULL) && json_raw(&json, &raw, NULL)) {
        if (str_is(key, "attempts")) {
            attempts = raw;
        } else if (!str_is(raw, "null") && !str_is(raw, "[]")) {
            print_field(remote, &paper, key, raw);
        }
    }
    if (!str_is(attempts, "[]")) {
        puts("attempts");
        print_attempts(remote, &paper, attempts);
    }
}

/* Both verbs: get something of one task and print it. */
static enum exit_status ask(const struct show *show, struct str id, const char *after,
                            void (*print)(struct remote *remote, struct str answer))
{
    SCOPED(remote_close) struct remote remote = {.client = NULL};
    struct err err = ERR_INIT;
    struct str answer;
    if (!remote_open(&remote, &show->remote, &err) ||
        !remote_call(&remote, "GET", remote_path(&remote, "/api/tasks/", id, after), STR_NONE,
                     &answer, &err)) {
        return verb_fail(&err);
    }
    if (remote.json) {
        printf(STR_FMT "\n", STR_ARG(answer));
    } else {
        print(&remote, answer);
    }
    return EXIT_OK;
}

static enum exit_status run_show(const void *options, const struct words *words)
{
    return ask(options, words->at[0], "", print_task);
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
        printf("  " STR_FMT "\n", STR_ARG(buf_view(&text)));
        any = true;
    }
    if (!any) {
        puts("  nothing holds it up");
    }
}

static enum exit_status run_why(const void *options, const struct words *words)
{
    return ask(options, words->at[0], "/why", print_reasons);
}

static const struct option show_options[] = {
    REMOTE_OPTIONS(struct show),
    OPTION_END,
};

const struct verb show_verb = {
    .name = "show",
    .arguments = "ID",
    .summary = "show one task with its attempts",
    .about =
        "Shows everything the server knows about a task: its order, its state, its result, and\n"
        "each attempt with its outcome and log.",
    .examples = "# for people\nerrand show 0192f3a1-7c1e-7000-8000-000000000001\n"
                "# only the result, for a script\n"
                "errand show 0192f3a1-7c1e-7000-8000-000000000001 --json | jq .result",
    .options = show_options,
    .size = sizeof(struct show),
    .words_min = 1,
    .words_max = 1,
    .run = run_show,
};

const struct verb why_verb = {
    .name = "why",
    .arguments = "ID",
    .summary = "say why a task is not running",
    .about = "Says what a task waits for: its time, its document and who holds it, a paused or\n"
             "full queue, workers that are busy or do not exist.",
    .examples = "# what holds it up?\nerrand why 0192f3a1-7c1e-7000-8000-000000000001",
    .options = show_options,
    .size = sizeof(struct show),
    .words_min = 1,
    .words_max = 1,
    .run = run_why,
};
