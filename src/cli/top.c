/* cli/top.c: `errand top`: one live screen of queues, what runs, what failed, workers and nodes.
 *
 * Each second the server is asked for the few lists that the screen shows, none longer than it.
 * Rates are what changed between two looks. Into a file or pipe one screen is written.
 *
 * SPDX-License-Identifier: MIT */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/verb.h"
#include "task/task.h"
#include "wire/time.h"

#define LOOK_EVERY_MS 1000
#define QUEUES_MAX    64 /* whose rates are remembered */
#define NAME_MAX_TOP  128
#define HEAD_LINES    6 /* besides the tables */
#define FAILED_SHOWN  5

struct top_options {
    struct remote_options remote;
    int64_t every_ms;
};

static const struct top_options top_defaults = {.every_ms = LOOK_EVERY_MS};

struct top {
    struct remote remote;
    struct paper paper;
    int64_t rows; /* of each table */
    struct pace { /* of one queue at the last look */
        char name[NAME_MAX_TOP];
        int64_t ended;
    } paces[QUEUES_MAX];
    size_t paces_count;
    int64_t looked_ms; /* 0: this is the first look */
};

static struct str get(struct top *top, const char *path)
{
    struct str answer = STR_NONE;
    struct err err = ERR_INIT;
    bool ok = remote_call(&top->remote, "GET", str_of(path), STR_NONE, &answer, &err);
    if (!ok) {
        printf("%s\n", err.text);
    }
    return ok ? answer : STR_NONE;
}

static int64_t number(struct top *top, struct str object, const char *member)
{
    int64_t n = 0;
    struct str raw = json_find(object, member, &top->remote.arena);
    return !str_absent(raw) && str_i64(raw, &n) ? n : 0;
}

static struct str value(struct top *top, struct str object, const char *member)
{
    struct arena *arena = &top->remote.arena;
    SCOPED(buf_fini) struct buf text = BUF_INIT(KIB);
    human_value(&text, &top->paper, str_of(member),
                remote_text(&top->remote, json_find(object, member, arena)));
    return arena_str(arena, buf_view(&text));
}

/* ---- The head: how much there is, and how fast ---- */

static void print_head(struct top *top)
{
    struct arena *arena = &top->remote.arena;
    struct str stats = get(top, "/api/stats");
    struct str nodes = json_find(get(top, "/api/nodes"), "nodes", arena), node;
    struct str counts = json_find(stats, "counts", arena), rates = json_find(stats, "rates", arena);
    struct json json;
    json_start(&json, nodes, arena);
    for (bool in = !str_absent(nodes) && json_enter_array(&json, NULL);
         in && remote_item(&json, &node);) {
        bool leads = str_is(json_find(node, "leader", arena), "true");
        printf(
            "node " STR_FMT "  " STR_FMT "%s  store " STR_FMT "  broker " STR_FMT "  runs %lld\n",
            STR_ARG(json_find_str(node, "address", arena)),
            STR_ARG(json_find_str(node, "version", arena)), leads ? "  leader" : "",
            STR_ARG(json_find_str(node, "store", arena)),
            STR_ARG(json_find_str(node, "broker", arena)), (long long)number(top, node, "running"));
    }
    for (enum task_state state = 0; !str_absent(counts) && state < TASK_STATES; state++) {
        const char *name = task_state_name(state);
        if (number(top, counts, name) == 0 && state + 1 < TASK_STATES) {
            continue; /* what there is none of needs no room */
        }
        const char *colour = human_colour(&top->paper, str_of(name));
        printf("%s%s%s %lld%s", colour, name, colour[0] ? human_plain(&top->paper) : "",
               (long long)number(top, counts, name), state + 1 < TASK_STATES ? "  " : "\n");
    }
    struct str latency = json_find(stats, "latency", arena);
    struct str wait = json_find(latency, "queueWaitMs", arena);
    struct str oldest = json_find(stats, "oldestReadyTask", arena);
    printf("created " STR_FMT "  started " STR_FMT "  finished " STR_FMT,
           STR_ARG(value(top, rates, "createdPerSecond")),
           STR_ARG(value(top, rates, "startedPerSecond")),
           STR_ARG(value(top, rates, "finishedPerSecond")));
    printf("  wait p95 %.1f ms",
           str_absent(wait) ? 0.0 : strtod(json_find(wait, "p95", arena).ptr, NULL));
    if (!str_absent(json_find(oldest, "ageMs", arena))) {
        printf("  oldest waits " STR_FMT, STR_ARG(value(top, oldest, "ageMs")));
    }
    puts("\n");
}

/* ---- The tables ---- */

/* What ended in a queue since the last look, a second. */
static double pace_of(struct top *top, struct str name, int64_t ended)
{
    size_t i = 0;
    while (i < top->paces_count && !str_is(name, top->paces[i].name)) {
        i++;
    }
    if (i == QUEUES_MAX || name.len >= NAME_MAX_TOP) {
        return 0;
    }
    struct pace *pace = &top->paces[i];
    bool known = i < top->paces_count;
    double seconds = (double)(top->paper.now_ms - top->looked_ms) / SECOND_MS;
    double rate = known && seconds > 0 ? (double)(ended - pace->ended) / seconds : 0;
    top->paces_count += !known;
    snprintf(pace->name, sizeof pace->name, STR_FMT, STR_ARG(name));
    pace->ended = ended;
    return rate > 0 ? rate : 0;
}

static void add_number(struct top *top, struct table *table, const char *format, double n)
{
    table_add(table, arena_printf(&top->remote.arena, format, n));
}

static void print_queues(struct top *top)
{
    static const char *const heads[] = {"QUEUE",    "STATE",     "QUEUED",  "RUNNING",
                                        "RETRYING", "SCHEDULED", "ENDED/S", NULL};
    struct arena *arena = &top->remote.arena;
    struct str queues = get(top, "/api/queues"), queue;
    struct table table;
    struct json json;
    int64_t shown = 0;
    table_init(&table, heads, arena);
    json_start(&json, queues, arena);
    for (bool in = !str_absent(queues) && json_enter_array(&json, NULL);
         in && remote_item(&json, &queue);) {
        struct str name = json_find_str(queue, "name", arena),
                   counts = json_find(queue, "counts", arena);
        int64_t ended = 0;
        for (enum task_state state = 0; state < TASK_STATES; state++) {
            ended += task_state_terminal(state) ? number(top, counts, task_state_name(state)) : 0;
        }
        double rate = pace_of(top, name, ended);
        if (shown++ >= top->rows) {
            continue; /* its pace is known when it comes into view */
        }
        table_add(&table, name);
        table_add(&table,
                  str_is(json_find(queue, "paused", arena), "true") ? STR("paused") : STR("open"));
        add_number(top, &table, "%.0f", (double)number(top, counts, "QUEUED"));
        add_number(top, &table, "%.0f", (double)number(top, counts, "RUNNING"));
        add_number(top, &table, "%.0f", (double)number(top, counts, "RETRYING"));
        add_number(top, &table, "%.0f",
                   (double)(number(top, counts, "SCHEDULED") + number(top, counts, "WAITING")));
        add_number(top, &table, "%.1f", rate);
    }
    table_print(&table, &top->paper);
    table_fini(&table);
    puts("");
}

/* "40% halfway" */
static void write_progress(struct remote *remote, struct str task, const char *key,
                           struct buf *cell)
{
    struct str progress = json_find(task, key, &remote->arena);
    struct str percent = json_find(progress, "percent", &remote->arena);
    struct str message = json_find_str(progress, "message", &remote->arena);
    if (!str_absent(percent)) {
        buf_printf(cell, STR_FMT "%%", STR_ARG(percent));
    }
    if (!str_absent(message)) {
        buf_printf(cell, " " STR_FMT, STR_ARG(message));
    }
}

static void write_error(struct remote *remote, struct str task, const char *key, struct buf *cell)
{
    struct str message =
        json_find_str(json_find(task, key, &remote->arena), "message", &remote->arena);
    if (!str_absent(message)) {
        buf_str(cell, message);
    }
}

static const struct column running_columns[] = {
    {"RUNNING", .key = "id"},
    {"TYPE", .key = "taskType"},
    {"WORKER", .key = "workerId"},
    {"STARTED", .key = "startedAt", .kind = COLUMN_TIME},
    {"PROGRESS", .key = "progress", .write = write_progress},
    {.head = NULL},
};

static const struct column failed_columns[] = {
    {"FAILED", .key = "id"},
    {"TYPE", .key = "taskType"},
    {"ENDED", .key = "finishedAt", .kind = COLUMN_TIME},
    {"ERROR", .key = "error", .write = write_error},
    {.head = NULL},
};

static void print_tasks(struct top *top, const char *path, int64_t limit,
                        const struct column *columns)
{
    struct str tasks =
        get(top, arena_printf(&top->remote.arena, "%s&limit=%lld", path, (long long)limit).ptr);
    if (!str_absent(tasks) && !str_is(tasks, "[]")) {
        verb_print_table(&top->remote, columns, tasks);
        puts("");
    }
}

static void print_workers(struct top *top)
{
    struct arena *arena = &top->remote.arena;
    struct str workers = json_find(get(top, "/api/workers"), "workers", arena), worker;
    size_t busy = 0, all = 0;
    struct json json;
    json_start(&json, workers, arena);
    for (bool in = !str_absent(workers) && json_enter_array(&json, NULL);
         in && remote_item(&json, &worker);) {
        busy += str_is(json_find_str(worker, "state", arena), "busy");
        all++;
    }
    printf("%zu worker%s, %zu busy\n", all, all == 1 ? "" : "s", busy);
}

/* ---- The screen ---- */

static void draw(struct top *top)
{
    top->paper = paper_stdout();
    top->rows = MAX((top->paper.height - HEAD_LINES - FAILED_SHOWN) / 2 - 2, 3);
    if (top->paper.terminal) {
        fputs("\033[H\033[J", stdout);
    }
    print_head(top);
    print_queues(top);
    print_tasks(top, "/api/tasks?state=RUNNING", top->rows, running_columns);
    print_tasks(top, "/api/tasks?state=FAILED,TIMEOUT", FAILED_SHOWN, failed_columns);
    print_workers(top);
    fflush(stdout);
    top->looked_ms = top->paper.now_ms;
}

static enum exit_status run_top(const void *options, const struct words *words)
{
    const struct top_options *given = options;
    struct top top = {.looked_ms = 0};
    struct err err = ERR_INIT;
    struct str answer;
    (void)words;
    if (!remote_open(&top.remote, &given->remote, &err) ||
        !remote_call(&top.remote, "GET", STR("/api/stats"), STR_NONE, &answer, &err)) {
        remote_close(&top.remote);
        return verb_fail(&err);
    }
    draw(&top);
    while (top.paper.terminal) {
        struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
        char key = 0;
        if (poll(&input, 1, (int)given->every_ms) > 0 &&
            (read(STDIN_FILENO, &key, 1) <= 0 || key == 'q')) {
            break;
        }
        arena_clear(&top.remote.arena);
        draw(&top);
    }
    remote_close(&top.remote);
    return EXIT_OK;
}

static const struct option top_option_rows[] = {
    {"every", "DURATION", "between two looks (default 1s)",
     OPTION_DURATION(struct top_options, every_ms)},
    REMOTE_SERVER_OPTIONS(struct top_options),
    OPTION_END,
};

const struct verb top_verb = {
    .name = "top",
    .arguments = "",
    .summary = "watch queues, running tasks, failures and workers on one screen",
    .about =
        "Shows one screen, drawn anew each second: nodes and counts, queues with what ended a\n"
        "second, what runs with its progress, what failed last, and workers. q and Return, or\n"
        "Ctrl-C, ends it. Into a file or pipe one screen is written.",
    .examples = "# live\nerrand top\n# a picture for a report\nerrand top > now.txt",
    .options = top_option_rows,
    .defaults = &top_defaults,
    .size = sizeof(struct top_options),
    .run = run_top,
};
