/* cli/team_graph.c: a team as a graph of its tasks. See team.h.
 *
 * SPDX-License-Identifier: MIT */
#include "cli/team.h"
#include "team/team.h"

#define NAMES_MAX (4 * KIB)
#define BAR_WIDTH 20

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
