/* cli/watch.c: `errand watch`: what happens on a server, as it happens.
 *
 * Reads the server's event stream. The stream is opened first and the state is looked up once it
 * speaks, so nothing falls between the two.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <unistd.h>

#include "cli/remote.h"
#include "cli/verb.h"
#include "cli/view.h"
#include "wire/json.h"
#include "wire/time.h"

#define SNAPSHOT_MAX  100
#define SNAPSHOT_PATH "/api/tasks?state=RUNNING&limit=100"

struct watch_options {
    struct remote_options remote;
};

struct watch {
    struct remote *remote; /* the stream's */
    struct remote *look;   /* beside it, for single calls */
    struct str id;         /* absent: the whole system */
    struct view view;
    struct remote_stream stream;
    bool last; /* it is drawn for the last time */
};

/* ---- News ---- */

static double percent_of(struct str progress, struct arena *arena)
{
    double percent = -1;
    struct json json;
    struct str raw = json_find(progress, "percent", arena);
    if (!str_absent(raw)) {
        json_start(&json, raw, arena);
        percent = json_f64(&json, &percent, NULL) ? percent : -1;
    }
    return percent;
}

/* When a task came to the state that an event tells, by its `at`. */
static int64_t since_ms(struct str object, struct arena *arena)
{
    int64_t ms;
    struct err ignored = ERR_INIT;
    struct str at = json_find_str(object, "at", arena);
    return !str_absent(at) && time_parse(at, &ms, &ignored) ? ms : 0;
}

static void check_end(struct watch *watch, struct str id, struct str state)
{
    enum task_state parsed;
    watch->stream.ended =
        watch->stream.ended ||
        (str_eq(id, watch->id) && task_state_parse(state, &parsed) && task_state_terminal(parsed));
}

static void print_raw(struct str json)
{
    printf(STR_FMT "\n", STR_ARG(json));
    fflush(stdout);
}

/* A task, or the data of one of its events: both name their progress the same way. */
static void take_task(struct watch *watch, struct str object, const char *id_key)
{
    struct arena arena = ARENA_INIT;
    struct paper paper = paper_stdout();
    struct str progress = json_find(object, "progress", &arena);
    struct str inside = str_absent(progress) ? object : progress;
    struct view_news news = {
        .id = json_find_str(object, id_key, &arena),
        .parent = json_find_str(object, "parentId", &arena),
        .type = json_find_str(object, "taskType", &arena),
        .state = json_find_str(object, "state", &arena),
        .message = json_find_str(inside, "message", &arena),
        .percent = percent_of(inside, &arena),
        .since_ms = since_ms(object, &arena),
    };
    if (watch->remote->json) {
        print_raw(object);
        check_end(watch, news.id, news.state);
    } else if (!str_absent(news.id)) {
        view_take(&watch->view, &paper, &news);
        check_end(watch, news.id, news.state);
    }
    arena_fini(&arena);
}

static void take_log(struct watch *watch, struct str data)
{
    struct arena arena = ARENA_INIT;
    struct paper paper = paper_stdout();
    struct json json;
    struct str line, id = json_find_str(data, "taskId", &arena);
    json_start(&json, json_find(data, "lines", &arena), &arena);
    /* On a terminal the log of everything would drown the rows. */
    bool wanted = !str_absent(watch->id) || !paper.terminal;
    if (watch->remote->json) {
        print_raw(data);
    } else if (wanted && json_enter_array(&json, NULL)) {
        while (json_item(&json, NULL) && json_str(&json, &line, NULL)) {
            view_log(&watch->view, &paper, id, line);
        }
    }
    arena_fini(&arena);
}

/* ---- Looking up, and following ---- */

/* The stream was opened first: nothing falls between it and the look. */
static bool look(void *arg, struct err *err)
{
    struct watch *watch = arg;
    struct str answer, tasks[SNAPSHOT_MAX], path = STR(SNAPSHOT_PATH);
    struct json json;
    size_t count = 0;
    if (!str_absent(watch->id)) {
        path = remote_path(watch->look, "/api/tasks/", watch->id, "");
    }
    if (!remote_call(watch->look, "GET", path, STR_NONE, &answer, err)) {
        return false;
    }
    if (!str_absent(watch->id)) {
        take_task(watch, answer, "id");
        return true;
    }
    /* The list has the newest first; a parent is older than its children and comes before them. */
    json_start(&json, answer, &watch->look->arena);
    if (json_enter_array(&json, NULL)) {
        while (count < SNAPSHOT_MAX && remote_item(&json, &tasks[count])) {
            count++;
        }
    }
    while (count > 0) {
        take_task(watch, tasks[--count], "id");
    }
    return true;
}

static bool on_event(void *arg, struct str event, struct str data, struct err *err)
{
    struct watch *watch = arg;
    if (str_is(event, "state") || str_is(event, "progress")) {
        take_task(watch, data, "taskId");
    } else if (str_is(event, "log")) {
        take_log(watch, data);
    } else if (str_is(event, "reset")) {
        return look(watch, err);
    }
    return true;
}

static void draw(void *arg)
{
    struct watch *watch = arg;
    struct paper paper = paper_stdout();
    view_draw(&watch->view, &paper, watch->last);
}

static enum exit_status run_watch(const void *options, const struct words *words)
{
    const struct watch_options *given = options;
    SCOPED(remote_close) struct remote remote = {.client = NULL};
    SCOPED(remote_close) struct remote beside = {.client = NULL};
    struct err err = ERR_INIT;
    struct watch watch = {
        .remote = &remote, .look = &beside, .id = words->count > 0 ? words->at[0] : STR_NONE};
    if (!remote_open(&remote, &given->remote, &err) ||
        !remote_open(&beside, &given->remote, &err) ||
        (words->count > 0 && !remote_name(&remote, "/api/tasks", watch.id, &watch.id, &err))) {
        return verb_fail(&err);
    }
    watch.stream = (struct remote_stream){
        .path = str_absent(watch.id) ? STR("/api/events")
                                     : remote_path(&remote, "/api/tasks/", watch.id, "/stream"),
        .arg = &watch,
        .begin = look,
        .event = on_event,
        .draw = draw,
    };
    view_init(&watch.view);
    watch.view.pinned = !str_absent(watch.id);
    bool ok = remote_follow(&remote, &watch.stream, &err);
    watch.last = true;
    draw(&watch);
    view_fini(&watch.view);
    return ok ? EXIT_OK : verb_fail(&err);
}

static const struct option watch_options[] = {
    REMOTE_OPTIONS(struct watch_options),
    OPTION_END,
};

const struct verb watch_verb = {
    .name = "watch",
    .arguments = "[ID]",
    .summary = "show progress live",
    .about =
        "Shows a line with a progress bar for each running task, as it happens; into a file or\n"
        "pipe, one line for each change. With an ID only that task, with its log, until it\n"
        "has ended; of a batch the tree of its children, with the parent's bar for how many\n"
        "of them have ended. Otherwise until it is stopped with Ctrl-C.",
    .examples = "# everything\nerrand watch\n"
                "# one task, until it has ended\n"
                "errand watch $(errand push resize '{\"image\":7}')",
    .options = watch_options,
    .size = sizeof(struct watch_options),
    .words_max = 1,
    .run = run_watch,
};
