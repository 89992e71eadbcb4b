/* cli/watch.c: `errand watch`: what happens on a server, as it happens.
 *
 * Reads the server's event stream. The stream is opened first and the state is looked up once it
 * speaks, so nothing falls between the two. A stream that breaks is taken up again where it ended.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <unistd.h>

#include "cli/remote.h"
#include "cli/verb.h"
#include "cli/view.h"
#include "wire/json.h"
#include "wire/time.h"

#define RECONNECT_PAUSE_US 1000000
#define RECONNECTS_MAX     30
#define SNAPSHOT_MAX       100
#define SNAPSHOT_PATH      "/api/tasks?state=RUNNING&limit=100"

struct watch_options {
    struct remote_options remote;
};

struct watch {
    struct remote *remote; /* the stream's */
    struct remote *look;   /* beside it, for single calls */
    struct str id;         /* absent: the whole system */
    struct view view;
    struct buf event, data, last_id; /* of the event being read; of the last one read */
    bool looked;                     /* the state was looked up since the stream began */
    bool ended;                      /* the watched task is terminal */
    bool refused;                    /* looking failed: `err` says why */
    struct err err;
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
    watch->ended = watch->ended || (str_eq(id, watch->id) && task_state_parse(state, &parsed) &&
                                    task_state_terminal(parsed));
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

/* ---- Looking up ---- */

/* The list has the newest first; a parent is older than its children and comes before them. */
static void take_list(struct watch *watch, struct str list)
{
    struct json json;
    struct str tasks[SNAPSHOT_MAX];
    size_t count = 0;
    json_start(&json, list, &watch->look->arena);
    if (json_enter_array(&json, NULL)) {
        while (count < SNAPSHOT_MAX && remote_item(&json, &tasks[count])) {
            count++;
        }
    }
    while (count > 0) {
        take_task(watch, tasks[--count], "id");
    }
}

static void look(struct watch *watch)
{
    struct str answer, path = STR(SNAPSHOT_PATH);
    if (!str_absent(watch->id)) {
        path = remote_path(watch->look, "/api/tasks/", watch->id, "");
    }
    if (!remote_call(watch->look, "GET", path, STR_NONE, &answer, &watch->err)) {
        watch->refused = true;
    } else if (str_absent(watch->id)) {
        take_list(watch, answer);
    } else {
        take_task(watch, answer, "id");
    }
    watch->looked = true;
}

/* ---- The stream ---- */

static void dispatch(struct watch *watch)
{
    struct str event = buf_view(&watch->event), data = buf_view(&watch->data);
    if (str_is(event, "state") || str_is(event, "progress")) {
        take_task(watch, data, "taskId");
    } else if (str_is(event, "log")) {
        take_log(watch, data);
    } else if (str_is(event, "reset")) {
        look(watch);
    }
    buf_clear(&watch->event);
    buf_clear(&watch->data);
}

static void keep(struct buf *buf, struct str value)
{
    buf_clear(buf);
    buf_str(buf, value);
}

static void take_line(struct watch *watch, struct str line)
{
    struct str value = line;
    struct str field = str_cut(&value, ':');
    value = str_starts(value, STR(" ")) ? str_from(value, 1) : value;
    if (line.len == 0) {
        dispatch(watch);
    } else if (str_is(field, "event")) {
        keep(&watch->event, value);
    } else if (str_is(field, "data")) {
        keep(&watch->data, value);
    } else if (str_is(field, "id")) {
        keep(&watch->last_id, value);
    }
}

static bool on_line(void *arg, struct str line)
{
    struct watch *watch = arg;
    struct paper paper = paper_stdout();
    if (!watch->looked) {
        look(watch);
    }
    take_line(watch, line);
    view_draw(&watch->view, &paper, false);
    return !watch->refused;
}

static bool on_tick(void *arg)
{
    struct watch *watch = arg;
    struct paper paper = paper_stdout();
    view_draw(&watch->view, &paper, false);
    return !watch->ended; /* the server ends the stream; this is for one that does not */
}

/* True when the watched task has ended. */
static bool follow(struct watch *watch, struct err *err)
{
    struct str path = STR("/api/events");
    struct client_answer answer = {.status = 0};
    if (!str_absent(watch->id)) {
        path = remote_path(watch->remote, "/api/tasks/", watch->id, "/stream");
    }
    const struct client_stream stream = {
        .path = path,
        .last_event_id = watch->last_id.len > 0 ? buf_view(&watch->last_id) : STR_NONE,
        .arg = watch,
        .line = on_line,
        .tick = on_tick,
    };
    watch->looked = false;
    bool ok = client_stream(watch->remote->client, &stream, &watch->remote->arena, &answer, err);
    if (watch->refused) {
        *err = watch->err;
        return false;
    }
    return ok || watch->ended ||
           (answer.status >= 400 && remote_refusal(watch->remote, &answer, err));
}

static bool follow_on(struct watch *watch, struct err *err)
{
    for (int tries = 0; tries < RECONNECTS_MAX; tries++) {
        *err = ERR_INIT;
        if (follow(watch, err)) {
            return true;
        }
        /* A server that was never there, or said no, will not change its mind. */
        if (err->kind != ERR_UNAVAILABLE ||
            (!watch->looked && tries == 0 && watch->view.count == 0)) {
            return false;
        }
        tries = watch->looked ? 0 : tries;
        usleep(RECONNECT_PAUSE_US);
    }
    return false;
}

static enum exit_status run_watch(const void *options, const struct words *words)
{
    const struct watch_options *given = options;
    SCOPED(remote_close) struct remote remote = {.client = NULL};
    SCOPED(remote_close) struct remote beside = {.client = NULL};
    struct err err = ERR_INIT;
    struct watch watch = {
        .remote = &remote,
        .look = &beside,
        .id = words->count > 0 ? words->at[0] : STR_NONE,
        .event = BUF_INIT(KIB),
        .data = BUF_INIT(CLIENT_LINE_MAX),
        .last_id = BUF_INIT(KIB),
    };
    view_init(&watch.view);
    watch.view.pinned = !str_absent(watch.id);
    bool ok = remote_open(&remote, &given->remote, &err) &&
              remote_open(&beside, &given->remote, &err) && follow_on(&watch, &err);
    struct paper paper = paper_stdout();
    view_draw(&watch.view, &paper, true);
    view_fini(&watch.view);
    buf_fini(&watch.event);
    buf_fini(&watch.data);
    buf_fini(&watch.last_id);
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
