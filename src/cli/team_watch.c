/* cli/team_watch.c: a team as a graph of its tasks, and `errand team watch`: the graph until the
 * team has ended.
 *
 * On a terminal the graph is drawn again whenever something happens; into a file or pipe there is
 * one line for each event.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "cli/team.h"
#include "team/team.h"

#define BAR_WIDTH 20
#define FRAME_MAX MIB

/* ---- The graph ---- */

struct node {
    struct str ref, title, state, agent, error, depends; /* depends: a JSON array of refs */
    size_t depth;                                        /* steps before it */
};

struct graph {
    struct node nodes[TEAM_TASKS_MAX];
    size_t count;
    struct arena *arena;
};

static void read_nodes(struct graph *graph, struct str tasks)
{
    struct json json;
    struct str item;
    json_start(&json, str_absent(tasks) ? STR("[]") : tasks, graph->arena);
    if (!json_enter_array(&json, NULL)) {
        return;
    }
    while (graph->count < TEAM_TASKS_MAX && remote_item(&json, &item)) {
        struct str state = json_find_str(item, "state", graph->arena);
        graph->nodes[graph->count++] = (struct node){
            .ref = json_find_str(item, "id", graph->arena),
            .title = json_find_str(item, "title", graph->arena),
            .state = str_absent(state) ? STR("WAITING") : state,
            .agent = json_find_str(item, "agent", graph->arena),
            .error = json_find_str(item, "error", graph->arena),
            .depends = json_find(item, "dependsOn", graph->arena),
        };
    }
}

/* What a node depends on, one name at a time. */
static bool next_name(struct json *json, struct str *name)
{
    return json_item(json, NULL) && json_str(json, name, NULL);
}

static size_t depth_of(const struct graph *graph, const struct node *node)
{
    struct json json;
    struct str name;
    size_t depth = 0;
    json_start(&json, node->depends, graph->arena);
    if (str_absent(node->depends) || !json_enter_array(&json, NULL)) {
        return 0;
    }
    while (next_name(&json, &name)) {
        for (size_t i = 0; i < graph->count; i++) {
            if (str_eq(graph->nodes[i].ref, name)) {
                depth = MAX(depth, graph->nodes[i].depth + 1);
            }
        }
    }
    return depth;
}

/* Each round moves what depends on something behind it; a chain of all takes as many rounds. */
static void find_depths(struct graph *graph)
{
    bool moved = true;
    for (size_t round = 0; moved && round < graph->count; round++) {
        moved = false;
        for (size_t i = 0; i < graph->count; i++) {
            size_t depth = depth_of(graph, &graph->nodes[i]);
            moved = moved || depth != graph->nodes[i].depth;
            graph->nodes[i].depth = depth;
        }
    }
}

static void write_depends(struct buf *out, const struct graph *graph, struct str depends)
{
    struct json json;
    struct str name;
    bool any = false;
    json_start(&json, depends, graph->arena);
    if (str_absent(depends) || !json_enter_array(&json, NULL)) {
        return;
    }
    while (next_name(&json, &name)) {
        buf_c(out, any ? ", " : "  after ");
        human_clean(out, name);
        any = true;
    }
}

static void write_node(struct buf *out, const struct paper *paper, const struct graph *graph,
                       const struct node *node)
{
    for (size_t i = 0; i < node->depth; i++) {
        buf_c(out, "  ");
    }
    buf_printf(out, "%s %s%-9.*s%s  ", node->depth > 0 ? "└" : "·",
               human_colour(paper, node->state), STR_ARG(node->state), human_plain(paper));
    human_clean(out, node->ref);
    buf_c(out, "  ");
    human_clean(out, node->title);
    write_depends(out, graph, node->depends);
    if (!str_absent(node->agent)) {
        buf_c(out, "  by ");
        human_clean(out, node->agent);
    }
    if (!str_absent(node->error)) {
        buf_c(out, ": ");
        human_clean(out, node->error);
    }
    buf_char(out, '\n');
}

static void write_head(struct buf *out, const struct paper *paper, struct str team,
                       const struct graph *graph)
{
    size_t done = 0;
    struct str status = json_find_str(team, "status", graph->arena);
    struct str prompt = json_find_str(team, "prompt", graph->arena);
    for (size_t i = 0; i < graph->count; i++) {
        done += str_is(graph->nodes[i].state, "COMPLETED");
    }
    size_t filled = graph->count == 0 ? 0 : done * BAR_WIDTH / graph->count;
    buf_char(out, '[');
    for (size_t i = 0; i < BAR_WIDTH; i++) {
        buf_c(out, i < filled ? "#" : ".");
    }
    buf_printf(out, "] %zu of %zu  " STR_FMT "  ", done, graph->count, STR_ARG(status));
    size_t room = (size_t)MAX(paper->width - 50, 20);
    human_clean(out, (struct str){prompt.ptr, MIN(prompt.len, room)});
    buf_char(out, '\n');
}

int team_graph(struct buf *out, const struct paper *paper, struct str team, struct arena *arena)
{
    struct graph *graph = arena_new(arena, struct graph);
    graph->arena = arena;
    read_nodes(graph, json_find(team, "tasks", arena));
    find_depths(graph);
    write_head(out, paper, team, graph);
    for (size_t depth = 0; depth <= graph->count; depth++) {
        for (size_t i = 0; i < graph->count; i++) {
            if (graph->nodes[i].depth == depth) {
                write_node(out, paper, graph, &graph->nodes[i]);
            }
        }
    }
    return 1 + (int)graph->count;
}

/* ---- Following a team ---- */

struct watch {
    struct remote *remote; /* the stream's */
    struct remote *look;   /* beside it, for single calls */
    struct str id;
    struct remote_stream stream;
    int lines; /* drawn now, to be drawn over */
    bool dirty;
};

static bool get_team(struct watch *watch, struct str *team, struct err *err)
{
    arena_clear(&watch->look->arena);
    return remote_call(watch->look, "GET", remote_path(watch->look, "/api/teams/", watch->id, ""),
                       STR_NONE, team, err);
}

static void draw(void *arg)
{
    struct watch *watch = arg;
    SCOPED(buf_fini) struct buf frame = BUF_INIT(FRAME_MAX);
    struct paper paper = paper_stdout();
    struct err ignored = ERR_INIT; /* the stream will say that it broke */
    struct str team;
    if (!watch->dirty || !get_team(watch, &team, &ignored)) {
        return;
    }
    if (watch->lines > 0) {
        buf_printf(&frame, "\x1b[%dA\x1b[J", watch->lines);
    }
    watch->lines = team_graph(&frame, &paper, team, &watch->look->arena);
    fwrite(frame.ptr, 1, frame.len, stdout);
    fflush(stdout);
    watch->dirty = false;
}

/* "task_claimed  b  Sum up the costs  by ann" */
static void print_event(struct watch *watch, const struct paper *paper, struct str event,
                        struct str data)
{
    SCOPED(buf_fini) struct buf line = BUF_INIT(64 * KIB);
    static const char *const parts[][2] = {
        {"id", "  "}, {"title", "  "}, {"agent", "  by "}, {"from", "  "}, {"to", " to "}};
    struct arena *arena = &watch->remote->arena;
    bool message = str_is(event, "message");
    human_clean(&line, event);
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        struct str value = json_find_str(data, parts[i][0], arena);
        if (!str_absent(value) && !(message && i == 0)) {
            buf_c(&line, parts[i][1]);
            human_clean(&line, value);
        }
    }
    struct str rest = json_find(data, message ? "body" : "error", arena);
    if (!str_absent(rest)) {
        buf_c(&line, ": ");
        human_clean(&line, rest);
    }
    if (watch->lines > 0) {
        printf("\x1b[%dA\x1b[J", watch->lines); /* above the graph, which is drawn again */
        watch->lines = 0;
    }
    size_t width = paper->terminal ? (size_t)MAX(paper->width, 20) : line.len;
    printf(STR_FMT "\n", (int)MIN(line.len, width), line.ptr);
    fflush(stdout);
}

static bool on_event(void *arg, struct str event, struct str data, struct err *err)
{
    struct watch *watch = arg;
    struct paper paper = paper_stdout();
    (void)err;
    if (watch->remote->json) {
        printf("{\"event\":\"" STR_FMT "\",\"data\":" STR_FMT "}\n", STR_ARG(event), STR_ARG(data));
        fflush(stdout);
    } else if (!paper.terminal || str_is(event, "message")) {
        print_event(watch, &paper, event, data);
    }
    watch->dirty = paper.terminal && !watch->remote->json;
    watch->stream.ended =
        watch->stream.ended || str_is(event, "team_completed") || str_is(event, "team_failed");
    return true;
}

enum exit_status team_follow(const struct remote_options *options, struct str id)
{
    SCOPED(remote_close) struct remote remote = {.client = NULL};
    SCOPED(remote_close) struct remote beside = {.client = NULL};
    struct watch watch = {.remote = &remote, .look = &beside, .id = id};
    struct err err = ERR_INIT;
    struct str team;
    if (!remote_open(&remote, options, &err) || !remote_open(&beside, options, &err) ||
        !remote_name(&remote, "/api/teams", id, &watch.id, &err)) {
        return verb_fail_as(options->json, &err);
    }
    watch.stream = (struct remote_stream){
        .path = remote_path(&remote, "/api/teams/", watch.id, "/stream"),
        .arg = &watch,
        .event = on_event,
        .draw = draw,
        .early = "the stream ended before the team did",
    };
    if (!remote_follow(&remote, &watch.stream, &err) || !get_team(&watch, &team, &err)) {
        return verb_fail_as(options->json, &err);
    }
    return team_report(&beside, team);
}

/* ---- The verb ---- */

static enum exit_status run_watch(const void *options, const struct words *words)
{
    return team_follow(options, words->at[0]);
}

static const struct option watch_options[] = {
    REMOTE_OPTIONS(struct team_options),
    OPTION_END,
};

const struct verb team_watch_verb = {
    .name = "team watch",
    .arguments = "ID",
    .summary = "follow a team until it has ended",
    .about = "Draws the tasks of a team, each behind those it depends on, with their states as\n"
             "they change, and what its members say to each other; into a file or pipe, one line\n"
             "for each event. At the end it prints the result. It fails unless the team has\n"
             "completed.",
    .examples = "# begin, and see it through\n"
                "errand team watch $(errand team start \"Compare the proposals\")",
    .options = watch_options,
    .size = sizeof(struct team_options),
    .words_min = 1,
    .words_max = 1,
    .run = run_watch,
};
