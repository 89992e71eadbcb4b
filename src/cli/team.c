/* cli/team.c: `errand team`: begin a team, look at it, speak to it, cancel it.
 *
 * SPDX-License-Identifier: MIT */
#include "cli/team.h"

#include <stdio.h>

#include "team/team.h"

/* ---- Beginning ---- */

struct start_options {
    struct remote_options remote;
    struct str tasks, document, model;
    struct option_many mates;
    bool go_on, watch;
};

/* "ROLE" or "ROLE:FOCUS" */
static void put_mates(struct json_writer *w, const struct option_many *mates)
{
    if (mates->count == 0) {
        return;
    }
    json_put_array(w, "teammates");
    for (size_t i = 0; i < mates->count; i++) {
        struct str focus = mates->at[i];
        struct str role = str_cut(&focus, ':');
        json_open_object(w);
        json_put_str(w, "role", str_trim(role));
        if (!str_absent(focus)) {
            json_put_str(w, "focus", str_trim(focus));
        }
        json_close_object(w);
    }
    json_close_array(w);
}

static void write_team(const struct start_options *options, struct str prompt, struct str tasks,
                       struct buf *body)
{
    struct json_writer w = JSON_WRITER(body);
    json_open_object(&w);
    json_put_str(&w, "prompt", prompt);
    put_mates(&w, &options->mates);
    option_put_json(team_start_verb.options, options, &w);
    if (tasks.len > 0) {
        json_put_raw(&w, "tasks", tasks);
    }
    if (options->go_on) {
        json_put_c(&w, "onTaskFailure", "continue");
    }
    json_close_object(&w);
}

static enum exit_status run_start(const void *given, const struct words *words)
{
    const struct start_options *options = given;
    SCOPED(remote_close) struct remote remote = {.client = NULL};
    SCOPED(buf_fini) struct buf tasks = BUF_INIT(REMOTE_BODY_MAX);
    SCOPED(buf_fini) struct buf body = BUF_INIT(REMOTE_BODY_MAX + MIB);
    struct err err = ERR_INIT;
    struct str team;
    if (!str_absent(options->tasks) && !remote_read_json(options->tasks, &tasks, &err)) {
        err_wrap(&err, "--tasks");
        return verb_usage_as(options->remote.json, &err);
    }
    write_team(options, words->at[0], buf_view(&tasks), &body);
    if (!remote_open(&remote, &options->remote, &err) ||
        !remote_call(&remote, "POST", STR("/api/teams"), buf_view(&body), &team, &err)) {
        return verb_fail_as(options->remote.json, &err);
    }
    struct str id = json_find_str(team, "teamId", &remote.arena);
    remote_warn(&remote, team);
    if (options->watch) {
        return team_follow(&options->remote, id);
    }
    struct str shown = options->remote.json ? team : id;
    printf(STR_FMT "\n", STR_ARG(shown));
    return EXIT_OK;
}

static const struct option start_options[] = {
    {"tasks", "JSON", "the split: [{\"id\",\"title\",\"description\",\"dependsOn\"}], @FILE or -",
     OPTION_TEXT(struct start_options, tasks)},
    {"mate", "ROLE[:FOCUS]", "a teammate inside the server; may be given again",
     OPTION_LIST(struct start_options, mates)},
    {"doc", "ID", "document: the team holds it as one, until it has ended",
     OPTION_TEXT(struct start_options, document), .field = "documentId"},
    {"model", "NAME", "another language model than the configured one",
     OPTION_TEXT(struct start_options, model), .field = "model"},
    {"continue", NULL, "go on when a task fails, and name it in the result",
     OPTION_SET(struct start_options, go_on)},
    {"watch", NULL, "follow it until it has ended", OPTION_SET(struct start_options, watch)},
    REMOTE_OPTIONS(struct start_options),
    OPTION_END,
};

const struct verb team_start_verb = {
    .name = "team start",
    .arguments = "PROMPT",
    .summary = "begin a team",
    .about = "Begins a team and prints its id. Without --tasks the server's language model splits\n"
             "the prompt; with them agents outside can do all the work.",
    .examples =
        "# the language model splits, works and puts together\n"
        "errand team start \"Compare the three proposals\" --mate \"analyst:costs\" --watch\n"
        "# a split of your own, for agents outside\n"
        "errand team start \"Release 2.0\" --tasks @split.json",
    .options = start_options,
    .size = sizeof(struct start_options),
    .words_min = 1,
    .words_max = 1,
    .run = run_start,
};

/* ---- Looking ---- */

static const struct option look_options[] = {REMOTE_OPTIONS(struct team_options), OPTION_END};

enum exit_status team_report(struct remote *remote, struct str team)
{
    struct err err = ERR_INIT;
    struct str status = json_find_str(team, "status", &remote->arena);
    struct str result = json_find(team, "result", &remote->arena);
    struct str error = json_find(team, "error", &remote->arena);
    struct str message = json_find_str(error, "message", &remote->arena);
    if (remote->json) {
        printf(STR_FMT "\n", STR_ARG(team));
    } else if (!str_absent(result)) {
        printf(STR_FMT "\n", STR_ARG(remote_text(remote, result)));
    }
    if (str_is(status, "completed")) {
        return EXIT_OK;
    }
    err_set(&err, ERR_REFUSED, "the team is " STR_FMT "%s" STR_FMT, STR_ARG(status),
            str_absent(message) ? "" : ": ", STR_ARG(message));
    return verb_fail_as(remote->json, &err);
}

static const struct column people[] = {
    {"AGENT", .key = "agent"},
    {"ROLE", .key = "role"},
    {"STATUS", .key = "status"},
    {"DONE", .key = "tasksDone", .kind = COLUMN_VALUE},
    {.head = NULL},
};

static void print_team(struct remote *remote, struct str team)
{
    SCOPED(buf_fini) struct buf out = BUF_INIT(MIB);
    struct paper paper = paper_stdout();
    struct str result = json_find(team, "result", &remote->arena);
    struct str error = json_find(team, "error", &remote->arena);
    team_graph(&out, &paper, team, &remote->arena);
    fwrite(out.ptr, 1, out.len, stdout);
    putchar('\n');
    verb_print_table(remote, people, json_find(team, "teammates", &remote->arena));
    if (!str_absent(error)) {
        struct str message = json_find_str(error, "message", &remote->arena);
        printf("\nfailed: " STR_FMT "\n", STR_ARG(message));
    }
    if (!str_absent(result)) {
        printf("\n" STR_FMT "\n", STR_ARG(remote_text(remote, result)));
    }
}

const struct verb team_show_verb = {
    .name = "team show",
    .arguments = "ID",
    .summary = "show a team: its tasks, its people, its result",
    .about = "Shows the tasks of a team, each behind those it depends on, who works on them, and\n"
             "what came of it.",
    .options = look_options,
    .size = sizeof(struct team_options),
    .words_min = 1,
    .words_max = 1,
    .request = {"GET", "/api/teams/{}", .print = print_team},
};

static const struct column teams[] = {
    {"ID", .key = "teamId"},
    {"STATUS", .key = "status"},
    {"DONE", .key = "tasksDone", .kind = COLUMN_VALUE},
    {"TASKS", .key = "tasksTotal", .kind = COLUMN_VALUE},
    {"CREATED", .key = "createdAt", .kind = COLUMN_TIME},
    {"PROMPT", .key = "prompt"},
    {.head = NULL},
};

const struct verb team_verb = {
    .name = "team",
    .arguments = "",
    .summary = "list teams of agents",
    .about = "Lists the newest teams. A team works on one prompt, split into tasks that depend on\n"
             "each other; its members talk while they work.",
    .options = look_options,
    .size = sizeof(struct team_options),
    .request = {"GET", "/api/teams", .columns = teams},
};

/* ---- Speaking and cancelling ---- */

struct say_options {
    struct remote_options remote;
    struct str from, to;
};

static const struct say_options say_defaults = {.from = {"user", 4}};

static const struct option say_options[] = {
    {"from", "NAME", "who speaks (default user)", OPTION_TEXT(struct say_options, from),
     .field = "from"},
    {"to", "NAME", "for one of them alone (default all)", OPTION_TEXT(struct say_options, to),
     .field = "to"},
    REMOTE_OPTIONS(struct say_options),
    OPTION_END,
};

const struct verb team_say_verb = {
    .name = "team say",
    .arguments = "ID TEXT",
    .summary = "say something to a team",
    .about = "Puts a message into the mailboxes of a team, or into that of one member, and prints\n"
             "its id once it is safe on the server's disk.",
    .examples = "# to all\nerrand team say $TEAM \"the deadline is Friday\"\n"
                "# to one\nerrand team say $TEAM \"look at page 3\" --to analyst",
    .options = say_options,
    .defaults = &say_defaults,
    .size = sizeof(struct say_options),
    .words_min = 2,
    .words_max = 2,
    .request = {"POST", "/api/teams/{}/messages", .word = "body", .member = "id"},
};

static void print_cancelled(struct remote *remote, struct str answer)
{
    (void)remote;
    puts(answer.len > 0 ? "cancelled" : "removed");
}

const struct verb team_cancel_verb = {
    .name = "team cancel",
    .arguments = "ID",
    .summary = "cancel a team, or remove one that has ended",
    .about =
        "Cancels a team that runs: what is queued at once, what runs is asked to stop. One that\n"
        "has ended is removed with its messages.",
    .options = look_options,
    .size = sizeof(struct team_options),
    .words_min = 1,
    .words_max = 1,
    .request = {"DELETE", "/api/teams/{}", .print = print_cancelled},
};
