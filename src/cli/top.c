/* cli/top.c: `errand top`: one live screen of queues, what runs, what failed, workers and nodes.
 *
 * Each second the server is asked for the few lists that the screen shows, none longer than it.
 * Rates are what changed between two looks; ages are those of the server's clock. No line is wider
 * than the terminal and no screen taller. While the server is away the last screen stays, under a
 * line that says so. Into a file or pipe one screen is written.
 *
 * SPDX-License-Identifier: MIT */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/verb.h"
#include "task/task.h"
#include "wire/time.h"

#define LOOK_EVERY_MS    1000
#define QUEUES_MAX       64 /* whose rates are remembered */
#define NAME_MAX_TOP     128
#define NODES_SHOWN      4
#define FAILED_SHOWN     5
#define FAILED_ASKED     100 /* the newest; those that ended lately are among them */
#define FAILED_RECENT_MS (10 * MINUTE_MS)
#define FIXED_LINES      9 /* heads of tables, blank lines, the workers */
#define TABLE_LINES_MIN  3
#define FILE_LINES       100 /* of a screen that is written into a file */

struct top_options {
    struct remote_options remote;
    int64_t every_ms;
};

static const struct top_options top_defaults = {.every_ms = LOOK_EVERY_MS};

/* What the server answered at one look: raw JSON. */
struct look {
    struct str stats, nodes, queues, running, failed, workers;
};

struct top {
    struct remote remote;
    struct paper paper;
    size_t column; /* of the head's line that is being written */
    int lines;     /* that the head has taken */
    struct pace {  /* of one queue at the last look */
        char name[NAME_MAX_TOP];
        int64_t ended;
    } paces[QUEUES_MAX];
    size_t paces_count;
    int64_t looked_ms; /* 0: this is the first look */
};

/* Some items of a list, in the order in which they are shown. */
struct items {
    struct str *at;
    size_t count;
};

static struct items items_of(struct top *top, struct str list)
{
    struct arena *arena = &top->remote.arena;
    struct items items = {.at = NULL};
    struct str item;
    for (int pass = 0; pass < 2; pass++) { /* they are counted, then kept */
        struct json json;
        size_t n = 0;
        json_start(&json, list, arena);
        for (bool in = !str_absent(list) && json_enter_array(&json, NULL);
             in && remote_item(&json, &item); n++) {
            if (pass == 1) {
                items.at[n] = item;
            }
        }
        items.at = pass == 0 ? arena_array(arena, struct str, n + 1) : items.at;
        items.count = n;
    }
    return items;
}

static int64_t number(struct top *top, struct str object, const char *member)
{
    int64_t n = 0;
    struct str raw = json_find(object, member, &top->remote.arena);
    return !str_absent(raw) && str_i64(raw, &n) ? n : 0;
}

static int64_t time_of(struct top *top, struct str object, const char *member)
{
    int64_t at_ms = 0;
    struct str text = json_find_str(object, member, &top->remote.arena);
    return !str_absent(text) && time_parse(text, &at_ms, NULL) ? at_ms : 0;
}

static struct str value(struct top *top, struct str object, const char *member, const char *unit)
{
    struct arena *arena = &top->remote.arena;
    SCOPED(buf_fini) struct buf text = BUF_INIT(KIB);
    human_value(&text, &top->paper, str_of(unit),
                remote_text(&top->remote, json_find(object, member, arena)));
    return arena_str(arena, buf_view(&text));
}

/* ---- The head: how much there is, and how fast ---- */

/* One phrase of the head, on the next line where this one is full. */
static void put_phrase(struct top *top, const char *word, struct str text)
{
    const char *colour = human_colour(&top->paper, str_of(word));
    size_t width = human_width(str_of(word)) + human_width(text) + 1;
    bool full = top->column + width + 2 > (size_t)top->paper.width;
    if (top->column > 0) {
        fputs(full ? "\n" : "  ", stdout);
        top->lines += full;
        top->column = full ? 0 : top->column + 2;
    }
    printf("%s%s%s " STR_FMT, colour, word, colour[0] ? human_plain(&top->paper) : "",
           STR_ARG(text));
    top->column += width;
}

static void end_line(struct top *top)
{
    top->lines += 1;
    top->column = 0;
    puts("");
}

static void print_nodes(struct top *top, const struct items *nodes)
{
    struct arena *arena = &top->remote.arena;
    for (size_t i = 0; i < MIN(nodes->count, (size_t)NODES_SHOWN); i++) {
        struct str node = nodes->at[i];
        bool leads = str_is(json_find(node, "leader", arena), "true");
        put_phrase(top, "node", json_find_str(node, "address", arena));
        put_phrase(top, leads ? "leader," : "errand", json_find_str(node, "version", arena));
        put_phrase(top, "store", json_find_str(node, "store", arena));
        put_phrase(top, "broker", json_find_str(node, "broker", arena));
        put_phrase(top, "runs", value(top, node, "running", ""));
        end_line(top);
    }
    if (nodes->count > NODES_SHOWN) {
        printf("and %zu more nodes\n", nodes->count - NODES_SHOWN);
        top->lines++;
    }
}

static void print_head(struct top *top, const struct look *look)
{
    struct arena *arena = &top->remote.arena;
    struct str counts = json_find(look->stats, "counts", arena);
    struct str rates = json_find(look->stats, "rates", arena);
    struct str wait = json_find(json_find(look->stats, "latency", arena), "queueWaitMs", arena);
    struct str oldest = json_find(look->stats, "oldestReadyTask", arena);
    struct items nodes = items_of(top, json_find(look->nodes, "nodes", arena));
    print_nodes(top, &nodes);
    for (enum task_state state = 0; state < TASK_STATES; state++) {
        const char *name = task_state_name(state);
        if (number(top, counts, name) > 0) { /* what there is none of needs no room */
            put_phrase(top, name, json_find(counts, name, arena));
        }
    }
    if (top->column == 0) {
        put_phrase(top, "no", STR("tasks"));
    }
    end_line(top);
    put_phrase(top, "created", value(top, rates, "createdPerSecond", "PerSecond"));
    put_phrase(top, "started", value(top, rates, "startedPerSecond", "PerSecond"));
    put_phrase(top, "finished", value(top, rates, "finishedPerSecond", "PerSecond"));
    put_phrase(top, "wait p95", value(top, wait, "p95", "Ms"));
    if (!str_absent(json_find(oldest, "ageMs", arena))) {
        put_phrase(top, "oldest waits", value(top, oldest, "ageMs", "Ms"));
    }
    end_line(top);
    end_line(top);
}

/* ---- Queues ---- */

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

static void add_queue(struct top *top, struct table *table, struct str queue)
{
    struct arena *arena = &top->remote.arena;
    struct str name = json_find_str(queue, "name", arena);
    struct str counts = json_find(queue, "counts", arena);
    int64_t ended = 0, since_ms = time_of(top, queue, "oldestQueuedAt");
    SCOPED(buf_fini) struct buf age = BUF_INIT(KIB);
    for (enum task_state state = 0; state < TASK_STATES; state++) {
        ended += task_state_terminal(state) ? number(top, counts, task_state_name(state)) : 0;
    }
    if (since_ms > 0) {
        human_span(&age, MAX(top->paper.now_ms - since_ms, 0));
    }
    table_add(table, name);
    table_add(table,
              str_is(json_find(queue, "paused", arena), "true") ? STR("paused") : STR("open"));
    add_number(top, table, "%.0f", (double)number(top, counts, "QUEUED"));
    table_add(table, buf_view(&age));
    add_number(top, table, "%.0f", (double)number(top, counts, "RUNNING"));
    add_number(top, table, "%.0f", (double)number(top, counts, "RETRYING"));
    add_number(top, table, "%.0f",
               (double)(number(top, counts, "SCHEDULED") + number(top, counts, "WAITING")));
    add_number(top, table, "%.1f/s", pace_of(top, name, ended));
}

/* By name; where not all have room, those with something to do first. */
static void print_queues(struct top *top, const struct items *queues, size_t rows)
{
    static const char *const heads[] = {"QUEUE",    "STATE", "QUEUED", "OLDEST", "RUNNING",
                                        "RETRYING", "LATER", "ENDED",  NULL};
    bool all = queues->count <= rows;
    size_t room = all ? rows : rows - 1, shown = 0;
    SCOPED(table_fini) struct table table;
    table_init(&table, heads, &top->remote.arena);
    table.spare[5] = table.spare[6] = true; /* RETRYING, LATER */
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < queues->count && shown < room; i++) {
            struct str counts = json_find(queues->at[i], "counts", &top->remote.arena);
            bool busy = number(top, counts, "QUEUED") + number(top, counts, "RUNNING") > 0;
            if (all ? pass == 0 : busy == (pass == 0)) {
                add_queue(top, &table, queues->at[i]);
                shown++;
            }
        }
    }
    table_print(&table, &top->paper);
    if (queues->count > shown) {
        printf("and %zu more queues\n", queues->count - shown);
    }
    puts("");
}

/* ---- Tasks ---- */

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

static void print_tasks(struct top *top, const struct items *tasks, size_t rows,
                        const struct column *columns)
{
    SCOPED(buf_fini) struct buf list = BUF_INIT(64 * MIB);
    if (tasks->count == 0 || rows == 0) {
        return;
    }
    for (size_t i = 0; i < MIN(tasks->count, rows); i++) {
        buf_printf(&list, "%s" STR_FMT, i == 0 ? "[" : ",", STR_ARG(tasks->at[i]));
    }
    buf_c(&list, "]");
    verb_print_table(&top->remote, columns, buf_view(&list));
    puts("");
}

/* Of those that failed the ones of the last minutes, the latest first. */
static struct items lately(struct top *top, struct items tasks)
{
    int64_t since_ms = top->paper.now_ms - FAILED_RECENT_MS;
    size_t kept = 0;
    for (size_t i = 0; i < tasks.count; i++) {
        struct str task = tasks.at[i];
        int64_t ended_ms = time_of(top, task, "finishedAt");
        size_t at = kept;
        if (ended_ms < since_ms) {
            continue;
        }
        for (; at > 0 && time_of(top, tasks.at[at - 1], "finishedAt") < ended_ms; at--) {
            tasks.at[at] = tasks.at[at - 1];
        }
        tasks.at[at] = task;
        kept++;
    }
    tasks.count = kept;
    return tasks;
}

static void print_workers(struct top *top, struct str answer)
{
    struct arena *arena = &top->remote.arena;
    struct items workers = items_of(top, json_find(answer, "workers", arena));
    size_t busy = 0;
    for (size_t i = 0; i < workers.count; i++) {
        busy += str_is(json_find_str(workers.at[i], "state", arena), "busy");
    }
    printf("%zu worker%s, %zu busy\n", workers.count, workers.count == 1 ? "" : "s", busy);
}

/* ---- The screen ---- */

static bool ask(struct top *top, struct look *look, struct err *err)
{
    top->paper = paper_stdout();
    top->paper.height = top->paper.terminal ? top->paper.height : FILE_LINES;
    const struct {
        const char *path;
        struct str *answer;
    } questions[] = {
        {"/api/stats", &look->stats},
        {"/api/nodes", &look->nodes},
        {"/api/queues", &look->queues},
        {arena_printf(&top->remote.arena, "/api/tasks?state=RUNNING&limit=%d",
                      MIN(top->paper.height, REMOTE_PAGE_MAX))
             .ptr,
         &look->running},
        {arena_printf(&top->remote.arena, "/api/tasks?state=FAILED,TIMEOUT&limit=%d", FAILED_ASKED)
             .ptr,
         &look->failed},
        {"/api/workers", &look->workers},
    };
    for (size_t i = 0; i < ARRAY_LEN(questions); i++) {
        if (!remote_call(&top->remote, "GET", str_of(questions[i].path), STR_NONE,
                         questions[i].answer, err)) {
            return false;
        }
    }
    return true;
}

static void draw(struct top *top, const struct look *look)
{
    struct items queues = items_of(top, look->queues), running = items_of(top, look->running);
    top->paper.now_ms = top->remote.now_ms = time_of(top, look->stats, "now");
    struct items failed = lately(top, items_of(top, look->failed));
    fputs(top->paper.terminal ? "\033[H\033[J" : "", stdout);
    top->lines = 0;
    print_head(top, look);
    size_t room = (size_t)MAX(top->paper.height - top->lines - FIXED_LINES, TABLE_LINES_MIN);
    size_t for_failed = MIN(MIN(failed.count, (size_t)FAILED_SHOWN), room / 3);
    size_t for_running = MIN(running.count, (room - for_failed) / 2);
    print_queues(top, &queues, room - for_failed - for_running);
    print_tasks(top, &running, for_running, running_columns);
    print_tasks(top, &failed, for_failed, failed_columns);
    print_workers(top, look->workers);
    fflush(stdout);
    top->looked_ms = top->paper.now_ms;
}

/* Over the first line of the last screen. */
static void draw_away(const struct top *top, const struct err *why)
{
    SCOPED(buf_fini) struct buf line = BUF_INIT(4 * KIB);
    buf_c(&line, "disconnected, trying again: ");
    human_clean(&line, str_of(why->text));
    printf("\033[H%s%.*s%s\033[K", human_colour(&top->paper, STR("disconnected")), top->paper.width,
           buf_c_text(&line), human_plain(&top->paper));
    fflush(stdout);
}

static enum exit_status run_top(const void *options, const struct words *words)
{
    const struct top_options *given = options;
    struct top top = {.looked_ms = 0};
    struct look look;
    struct err err = ERR_INIT;
    (void)words;
    if (!remote_open(&top.remote, &given->remote, &err) || !ask(&top, &look, &err)) {
        remote_close(&top.remote);
        return verb_fail(&err);
    }
    draw(&top, &look);
    while (top.paper.terminal) {
        struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
        char key = 0;
        if (poll(&input, 1, (int)given->every_ms) > 0 &&
            (read(STDIN_FILENO, &key, 1) <= 0 || key == 'q')) {
            break;
        }
        arena_clear(&top.remote.arena);
        if (ask(&top, &look, &err)) {
            draw(&top, &look);
        } else {
            draw_away(&top, &err);
        }
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
        "Shows one screen, drawn anew each second: nodes and counts, queues with how long their\n"
        "oldest task waits and what ended a second, what runs with its progress, what failed in\n"
        "the last ten minutes, and workers. q and Return, or Ctrl-C, ends it. Into a file or\n"
        "pipe one screen is written.",
    .examples = "# live\nerrand top\n# a picture for a report\nerrand top > now.txt",
    .options = top_option_rows,
    .defaults = &top_defaults,
    .size = sizeof(struct top_options),
    .run = run_top,
};
