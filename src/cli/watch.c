/* cli/watch.c: `errand watch`: what happens on a server, as it happens.
 *
 * One task is watched by its own stream, which begins with how the task and its descendants stand.
 * Many are watched by the stream of the whole system: it is opened first and the server is asked
 * once it speaks, so nothing falls between the two; what is asked then and what was on its way
 * meanwhile are told apart by view.h. After a gap the server is asked again, and those that ended
 * in it one by one.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>

#include "cli/remote.h"
#include "cli/verb.h"
#include "cli/view.h"
#include "wire/json.h"
#include "wire/time.h"
#include "wire/uri.h"

#define LOOK_MAX      500  /* tasks that one look lists; more are counted only */
#define MISSED_MAX    50   /* of those that ended in a gap are asked for, the others forgotten */
#define ASK_EVERY_MS  1000 /* how many wait, and what is doubted */
#define LIVE_STATES   "SCHEDULED,WAITING,QUEUED,RUNNING,RETRYING"
#define ACTIVE_STATES "RUNNING,RETRYING"

struct watch_options {
    struct remote_options remote;
    struct str type, queue, document;
    bool until_done;
};

/* Which tasks; the stream of events knows of type and document. */
/* clang-format off */
#define STREAM_OPTIONS                                                                             \
    {"type", "T", "tasks of this type", OPTION_TEXT(struct watch_options, type), .field = "taskType"}, \
    {"doc", "ID", "tasks of this document", OPTION_TEXT(struct watch_options, document), .field = "documentId"}
#define QUEUE_OPTION                                                                               \
    {"queue", "Q", "tasks in this queue", OPTION_TEXT(struct watch_options, queue), .field = "queue"}
/* clang-format on */
static const struct option stream_options[] = {STREAM_OPTIONS, OPTION_END};
static const struct option filter_options[] = {STREAM_OPTIONS, QUEUE_OPTION, OPTION_END};

struct watch {
    const struct watch_options *given;
    struct remote *remote; /* the stream's */
    struct remote *beside; /* for single calls */
    struct str id;         /* absent: many tasks */
    struct view view;
    struct remote_stream stream;
    int64_t asked_ms;
    bool cut;     /* the last look could not list all that lives */
    bool stirred; /* something happened since the server was last asked how many wait */
    bool failed;  /* something that was watched ended badly */
};

/* ---- What is told of a task ---- */

static int64_t time_of(struct str object, const char *key, struct arena *arena)
{
    int64_t ms;
    struct str text = json_find_str(object, key, arena);
    return !str_absent(text) && time_parse(text, &ms, NULL) ? ms : 0;
}

static struct task_id id_of(struct str object, const char *key, struct arena *arena)
{
    struct task_id id;
    struct str text = json_find_str(object, key, arena);
    return !str_absent(text) && id_parse(text, &id) ? id : TASK_ID_NONE;
}

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

/* Why it failed, or was cancelled. */
static struct str error_of(struct str object, struct arena *arena)
{
    struct str message = json_find_str(json_find(object, "error", arena), "message", arena);
    return str_absent(message) ? json_find_str(object, "cancelReason", arena) : message;
}

/* A task as the API shows it, or the data of one of its events. */
static struct view_news read_news(struct str object, bool look, struct arena *arena)
{
    struct str progress = json_find(object, "progress", arena), number;
    struct str inside = str_absent(progress) ? object : progress;
    struct view_news news = {
        .id = id_of(object, look ? "id" : "taskId", arena),
        .parent = id_of(object, "parentId", arena),
        .type = json_find_str(object, "taskType", arena),
        .message = json_find_str(inside, "message", arena),
        .error = look ? error_of(object, arena) : STR_NONE,
        .percent = percent_of(inside, arena),
        .at_ms = time_of(object, look ? "updatedAt" : "at", arena),
        .started_ms = look ? time_of(object, "startedAt", arena) : 0,
        .removed = str_is(json_find(object, "removed", arena), "true"),
        .look = look,
    };
    int64_t attempt = 0;
    number = json_find(object, "attempt", arena);
    news.attempt = !str_absent(number) && str_i64(number, &attempt) ? (int32_t)attempt : 0;
    if (!task_state_parse(json_find_str(object, "state", arena), &news.state)) {
        news.id = TASK_ID_NONE;
    }
    if (look && news.state == TASK_RETRYING) {
        news.due_ms = time_of(object, "scheduledAt", arena);
    }
    return news;
}

/* An event does not say why: the server is asked. A later attempt may have begun meanwhile, so the
 * error is that of the row's own. */
static void explain(void *arg, struct view_row *row)
{
    struct watch *watch = arg;
    struct remote *beside = watch->beside;
    struct arena *arena = &beside->arena;
    struct str task, attempt, error;
    struct err err = ERR_INIT;
    struct json json;
    char id[TASK_ID_TEXT];
    row->explained = true;
    if (!remote_call(beside, "GET", remote_path(beside, "/api/tasks/", id_text(row->id, id), ""),
                     STR_NONE, &task, &err)) {
        return;
    }
    error = error_of(task, arena);
    json_start(&json, json_find(task, "attempts", arena), arena);
    for (bool in = json_enter_array(&json, NULL); in && remote_item(&json, &attempt);) {
        int64_t number;
        struct str own = error_of(attempt, arena);
        if (str_i64(json_find(attempt, "number", arena), &number) && number == row->attempt &&
            !str_absent(own)) {
            error = own;
        }
    }
    struct view_news news = read_news(task, true, arena);
    if (news.attempt == row->attempt && news.state == row->state) {
        row->due_ms = news.due_ms;
        row->started_ms = news.started_ms != 0 ? news.started_ms : row->started_ms;
    }
    SCOPED(buf_fini) struct buf clean = BUF_INIT(64 * KIB);
    human_clean(&clean, str_absent(error) ? STR("") : error);
    snprintf(row->error, sizeof row->error, "%s", buf_c_text(&clean));
}

static void print_plain(struct watch *watch, struct view_row *row)
{
    char id[TASK_ID_TEXT];
    bool says_why = row->state == TASK_RETRYING || row->state > TASK_COMPLETED;
    if (says_why && !row->explained) {
        explain(watch, row);
    }
    printf("%s  %-9s  %*s%s", id_text(row->id, id).ptr, task_state_name(row->state), 2 * row->depth,
           "", row->type);
    if (row->percent >= 0) {
        printf("  %.0f%%", row->percent);
    }
    printf("%s%s%s%s\n", row->message[0] ? "  " : "", row->message, row->error[0] ? "  " : "",
           says_why ? row->error : "");
    fflush(stdout);
}

/* As errand events prints them; a task that was asked for is a `task`. */
static void print_raw(struct str event, struct str data)
{
    printf("{\"event\":\"" STR_FMT "\",\"data\":" STR_FMT "}\n", STR_ARG(event), STR_ARG(data));
    fflush(stdout);
}

/* The stream is of the type and the document that were asked for; the queue is left to us. */
static bool is_watched(const struct watch *watch, struct str object, struct arena *arena)
{
    struct str queue = json_find_str(object, "queue", arena);
    return str_absent(watch->given->queue) || str_eq(queue, watch->given->queue);
}

static void take(struct watch *watch, struct str event, struct str object)
{
    struct arena arena = ARENA_INIT;
    struct paper paper = paper_stdout();
    struct view_news news = read_news(object, str_is(event, "task"), &arena);
    if (!id_none(news.id) && is_watched(watch, object, &arena)) {
        struct view_row *row = view_take(&watch->view, &news, paper.now_ms);
        bool root = id_eq(news.id, watch->view.root);
        bool ended = task_state_terminal(news.state);
        if (watch->remote->json && (row != NULL || news.removed)) {
            print_raw(event, object);
        } else if (row != NULL && !watch->remote->json && !paper.terminal) {
            print_plain(watch, row);
        }
        watch->stirred = true;
        if (row != NULL && ended && news.state != TASK_COMPLETED &&
            (root || id_none(watch->view.root))) {
            watch->failed = true;
        }
        watch->stream.ended = watch->stream.ended || (root && (ended || news.removed));
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
    bool wanted = is_watched(watch, data, &arena) && (!str_absent(watch->id) || !paper.terminal);
    if (wanted && watch->remote->json) {
        print_raw(STR("log"), data);
    } else if (wanted && json_enter_array(&json, NULL)) {
        while (json_item(&json, NULL) && json_str(&json, &line, NULL)) {
            SCOPED(buf_fini) struct buf clean = BUF_INIT(64 * KIB);
            human_clean(&clean, line);
            if (paper.terminal) {
                view_log(&watch->view, line);
            } else {
                printf(STR_FMT "  log        %s\n", STR_ARG(id), buf_c_text(&clean));
                fflush(stdout);
            }
        }
    }
    arena_fini(&arena);
}

/* ---- Asking the server ---- */

/* How many wait, and what time the server has. A token that may not ask sees what runs alone. */
static void count(struct watch *watch)
{
    struct remote *beside = watch->beside;
    struct str stats, counts;
    struct err err = ERR_INIT;
    struct paper paper = paper_stdout();
    watch->asked_ms = paper.now_ms;
    watch->stirred = false;
    if (!remote_call(beside, "GET", STR("/api/stats"), STR_NONE, &stats, &err)) {
        return;
    }
    int64_t now_ms = time_of(stats, "now", &beside->arena);
    watch->view.ahead_ms = now_ms == 0 ? 0 : now_ms - paper.now_ms;
    counts = json_find(stats, "counts", &beside->arena);
    for (enum task_state state = 0; state < TASK_STATES; state++) {
        struct str number = json_find(counts, task_state_name(state), &beside->arena);
        if (str_absent(number) || !str_i64(number, &watch->view.counts[state])) {
            watch->view.counts[state] = 0;
        }
    }
}

/* Tasks that live by what is known, and were not in the list of those that live: they ended
 * meanwhile, or were removed. */
static void look_after_missed(struct watch *watch)
{
    struct remote *beside = watch->beside;
    struct view_row *row;
    for (size_t asked = 0; (row = view_missed(&watch->view)) != NULL; asked++) {
        char id[TASK_ID_TEXT];
        struct str task;
        struct err err = ERR_INIT;
        row->seen = true;
        if (asked < MISSED_MAX &&
            remote_call(beside, "GET", remote_path(beside, "/api/tasks/", id_text(row->id, id), ""),
                        STR_NONE, &task, &err)) {
            take(watch, STR("task"), task);
        } else if (asked >= MISSED_MAX || err.kind == ERR_NOT_FOUND) {
            view_drop(&watch->view, row);
        }
    }
}

/* Asks for all that is watched and has not ended. The newest come first in the list, but a parent
 * is older than its children and should be known before them. */
static bool look(struct watch *watch, struct err *err)
{
    struct remote *beside = watch->beside;
    SCOPED(buf_fini) struct buf path = BUF_INIT(64 * KIB);
    struct str answer, tasks[LOOK_MAX];
    struct json json;
    size_t listed = 0;
    buf_printf(&path, "/api/tasks?limit=%d&state=%s", LOOK_MAX,
               watch->view.counted ? ACTIVE_STATES : LIVE_STATES);
    option_put_query(filter_options, watch->given, &path);
    if (!remote_call(beside, "GET", buf_view(&path), STR_NONE, &answer, err)) {
        return false;
    }
    view_look(&watch->view);
    json_start(&json, answer, &beside->arena);
    if (json_enter_array(&json, NULL)) {
        while (listed < LOOK_MAX && remote_item(&json, &tasks[listed])) {
            listed++;
        }
    }
    watch->cut = listed == LOOK_MAX;
    while (listed > 0) {
        take(watch, STR("task"), tasks[--listed]);
    }
    if (!watch->cut) {
        look_after_missed(watch);
    }
    return true;
}

/* ---- Following ---- */

static bool begin(void *arg, struct err *err)
{
    struct watch *watch = arg;
    watch->view.lost[0] = '\0';
    count(watch);
    return !str_absent(watch->id) || look(watch, err);
}

static bool on_event(void *arg, struct str event, struct str data, struct err *err)
{
    struct watch *watch = arg;
    if (str_is(event, "state") || str_is(event, "progress")) {
        take(watch, event, data);
    } else if (str_is(event, "log")) {
        take_log(watch, data);
    } else if (str_is(event, "reset") && str_absent(watch->id)) {
        return look(watch, err);
    }
    return true;
}

static void draw_now(struct watch *watch, bool now)
{
    const struct paper paper = paper_stdout();
    const struct view_drawing how = {.explain = explain, .arg = watch, .now = now};
    if (!watch->remote->json) {
        view_draw(&watch->view, &paper, &how);
    }
    arena_clear(&watch->beside->arena);
}

static bool is_done(const struct watch *watch)
{
    const struct view *view = &watch->view;
    int64_t live = (int64_t)view_live(view);
    for (enum task_state state = 0; view->counted && !task_state_terminal(state); state++) {
        live += view->counts[state];
    }
    return live == 0 && !watch->cut;
}

static void draw(void *arg)
{
    struct watch *watch = arg;
    bool begun = watch->asked_ms != 0;
    bool due = begun && paper_stdout().now_ms - watch->asked_ms >= ASK_EVERY_MS;
    struct err ignored = ERR_INIT; /* a server that has gone is noticed by the stream */
    if (due && watch->view.lost[0] == '\0' && str_absent(watch->id)) {
        bool doubted = watch->view.doubted || (watch->cut && watch->given->until_done);
        if (watch->stirred) {
            count(watch);
        }
        if (doubted) {
            (void)look(watch, &ignored);
        }
        watch->stream.ended = watch->given->until_done && is_done(watch);
    }
    draw_now(watch, false);
}

static void on_lost(void *arg, const struct err *why)
{
    struct watch *watch = arg;
    SCOPED(buf_fini) struct buf clean = BUF_INIT(4 * KIB);
    human_clean(&clean, str_of(why->text));
    snprintf(watch->view.lost, sizeof watch->view.lost, "%s", buf_c_text(&clean));
    draw_now(watch, true);
}

static bool start(struct watch *watch, struct buf *path, const struct words *words, struct err *err)
{
    const struct watch_options *given = watch->given;
    const struct paper paper = paper_stdout();
    bool drawn = paper.terminal && !given->remote.json;
    bool filtered =
        !str_absent(given->type) || !str_absent(given->document) || !str_absent(given->queue);
    if (!remote_open(watch->remote, &given->remote, err) ||
        !remote_open(watch->beside, &given->remote, err) ||
        (words->count > 0 &&
         !remote_name(watch->remote, "/api/tasks", watch->id, &watch->id, err))) {
        return false;
    }
    if (words->count > 0) {
        buf_str(path, remote_path(watch->remote, "/api/tasks/", watch->id, "/stream"));
        watch->view.root = id_parse(watch->id, &watch->view.root) ? watch->view.root : TASK_ID_NONE;
    } else {
        buf_c(path, "/api/events");
        option_put_query(stream_options, given, path);
        watch->view.counted = drawn && !filtered;
    }
    watch->stream = (struct remote_stream){
        .path = buf_view(path),
        .arg = watch,
        .begin = begin,
        .event = on_event,
        .draw = draw,
        .lost = drawn ? on_lost : NULL,
        .patient = drawn,
    };
    return true;
}

static enum exit_status run_watch(const void *options, const struct words *words)
{
    const struct watch_options *given = options;
    SCOPED(remote_close) struct remote remote = {.client = NULL};
    SCOPED(remote_close) struct remote beside = {.client = NULL};
    SCOPED(buf_fini) struct buf path = BUF_INIT(64 * KIB);
    struct err err = ERR_INIT;
    struct watch watch = {.given = given,
                          .remote = &remote,
                          .beside = &beside,
                          .id = words->count > 0 ? words->at[0] : STR_NONE};
    if (words->count > 0 && (given->until_done || !str_absent(given->type) ||
                             !str_absent(given->document) || !str_absent(given->queue))) {
        err_set(&err, ERR_INVALID, "name a task, or a filter such as --type, not both");
        return verb_usage_as(given->remote.json, &err);
    }
    view_init(&watch.view);
    bool ok = start(&watch, &path, words, &err) && remote_follow(&remote, &watch.stream, &err);
    draw_now(&watch, true);
    view_fini(&watch.view);
    if (!ok) {
        return verb_fail_as(given->remote.json, &err);
    }
    return watch.failed ? EXIT_FAILED : EXIT_OK;
}

static const struct option watch_options[] = {
    STREAM_OPTIONS,
    QUEUE_OPTION,
    {"until-done", NULL, "end when nothing of it waits or runs any more",
     OPTION_SET(struct watch_options, until_done)},
    REMOTE_OPTIONS(struct watch_options),
    OPTION_END,
};

const struct verb watch_verb = {
    .name = "watch",
    .arguments = "[ID]",
    .summary = "show progress live",
    .about =
        "Shows what runs, the longest first, each with its bar and the time since it started;\n"
        "then what waits for a retry and what failed, with the error; what waits or has ended\n"
        "is folded into a line for each state. With an ID only that task and its descendants,\n"
        "with their log, until it has ended: with status 1 unless it completed. Otherwise\n"
        "everything, or what --type, --doc and --queue say, until Ctrl-C or, with\n"
        "--until-done, until nothing of it waits or runs: then with status 1 if something\n"
        "failed meanwhile.\n\n"
        "Into a file or pipe there is one line for each change. A server that goes away is\n"
        "said to be away and taken up again when it is back; a task never goes back to a\n"
        "state that it has left.",
    .examples = "# everything\nerrand watch\n"
                "# one task, until it has ended\n"
                "errand watch $(errand push resize '{\"image\":7}')\n"
                "# all of a kind, in a script\n"
                "errand watch --type resize --until-done || echo \"some failed\"",
    .options = watch_options,
    .size = sizeof(struct watch_options),
    .words_max = 1,
    .run = run_watch,
};
