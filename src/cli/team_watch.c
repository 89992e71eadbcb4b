/* cli/team_watch.c: `errand team watch`: a team until it has ended.
 *
 * On a terminal the graph of its tasks is drawn again whenever something happens; into a file or
 * pipe there is one line for each event. A stream that breaks is taken up again where it ended.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <unistd.h>

#include "cli/team.h"
#include "cli/verb.h"

#define RECONNECT_PAUSE_US 1000000
#define RECONNECTS_MAX     30
#define FRAME_MAX          MIB

struct watch_options {
    struct remote_options remote;
};

struct watch {
    struct remote *remote; /* the stream's */
    struct remote *look;   /* beside it, for single calls */
    struct str id;
    struct buf event, data, last_id; /* of the event being read; of the last one read */
    int lines;                       /* drawn now, to be drawn over */
    bool spoke, dirty, ended;
};

/* ---- Drawing ---- */

static void redraw(struct watch *watch)
{
    SCOPED(buf_fini) struct buf frame = BUF_INIT(FRAME_MAX);
    struct paper paper = paper_stdout();
    struct err err = ERR_INIT;
    struct str team;
    arena_clear(&watch->look->arena);
    if (!remote_call(watch->look, "GET", remote_path(watch->look, "/api/teams/", watch->id, ""),
                     STR_NONE, &team, &err)) {
        return; /* the stream will say that it broke */
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
static void print_event(struct watch *watch, const struct paper *paper, struct str data)
{
    SCOPED(buf_fini) struct buf line = BUF_INIT(64 * KIB);
    static const char *const parts[][2] = {
        {"id", "  "}, {"title", "  "}, {"agent", "  by "}, {"from", "  "}, {"to", " to "}};
    struct arena *arena = &watch->remote->arena;
    bool message = str_is(buf_view(&watch->event), "message");
    human_clean(&line, buf_view(&watch->event));
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

static void take_event(struct watch *watch)
{
    struct paper paper = paper_stdout();
    struct str event = buf_view(&watch->event), data = buf_view(&watch->data);
    if (event.len == 0) {
        return;
    }
    if (watch->remote->json) {
        printf("{\"event\":\"" STR_FMT "\",\"data\":" STR_FMT "}\n", STR_ARG(event), STR_ARG(data));
        fflush(stdout);
    } else if (!paper.terminal || str_is(event, "message")) {
        print_event(watch, &paper, data);
    }
    watch->dirty = paper.terminal && !watch->remote->json;
    watch->ended = watch->ended || str_is(event, "team_completed") || str_is(event, "team_failed");
    buf_clear(&watch->event);
    buf_clear(&watch->data);
}

/* ---- The stream ---- */

static void keep(struct buf *buf, struct str value)
{
    buf_clear(buf);
    buf_str(buf, value);
}

static bool on_line(void *arg, struct str line)
{
    struct watch *watch = arg;
    struct str value = line;
    struct str field = str_cut(&value, ':');
    value = str_starts(value, STR(" ")) ? str_from(value, 1) : value;
    watch->spoke = true;
    if (line.len == 0) {
        take_event(watch);
    } else if (str_is(field, "event")) {
        keep(&watch->event, value);
    } else if (str_is(field, "data")) {
        keep(&watch->data, value);
    } else if (str_is(field, "id")) {
        keep(&watch->last_id, value);
    }
    if (watch->dirty && line.len == 0) {
        redraw(watch);
    }
    return true;
}

static bool on_tick(void *arg)
{
    return !((struct watch *)arg)->ended;
}

static bool follow_once(struct watch *watch, struct err *err)
{
    struct client_answer answer = {.status = 0};
    const struct client_stream stream = {
        .path = remote_path(watch->remote, "/api/teams/", watch->id, "/stream"),
        .last_event_id = watch->last_id.len > 0 ? buf_view(&watch->last_id) : STR_NONE,
        .arg = watch,
        .line = on_line,
        .tick = on_tick,
    };
    bool ok = client_stream(watch->remote->client, &stream, &watch->remote->arena, &answer, err);
    if (answer.status >= 400) {
        return remote_refusal(watch->remote, &answer, err);
    }
    return (ok && watch->ended) || watch->ended ||
           err_set(err, ERR_UNAVAILABLE, "the stream ended before the team did");
}

static bool follow(struct watch *watch, struct err *err)
{
    for (int tries = 0; tries < RECONNECTS_MAX; tries++) {
        *err = ERR_INIT;
        watch->spoke = false;
        if (follow_once(watch, err)) {
            return true;
        }
        if (err->kind != ERR_UNAVAILABLE || (tries == 0 && !watch->spoke)) {
            return false; /* it was never there, or said no */
        }
        tries = watch->spoke ? 0 : tries;
        usleep(RECONNECT_PAUSE_US);
    }
    return false;
}

/* The team as it ended: its result, or why there is none. */
static int report(struct watch *watch)
{
    struct err err = ERR_INIT;
    struct str team;
    if (!remote_call(watch->look, "GET", remote_path(watch->look, "/api/teams/", watch->id, ""),
                     STR_NONE, &team, &err)) {
        return verb_fail(&err);
    }
    return team_report(watch->look, team);
}

int team_follow(const struct remote_options *options, struct str id)
{
    SCOPED(remote_close) struct remote remote = {.client = NULL};
    SCOPED(remote_close) struct remote beside = {.client = NULL};
    struct err err = ERR_INIT;
    struct watch watch = {
        .remote = &remote,
        .look = &beside,
        .id = id,
        .event = BUF_INIT(KIB),
        .data = BUF_INIT(CLIENT_LINE_MAX),
        .last_id = BUF_INIT(KIB),
    };
    bool ok = remote_open(&remote, options, &err) && remote_open(&beside, options, &err) &&
              follow(&watch, &err);
    int status = ok ? report(&watch) : (int)verb_fail(&err);
    buf_fini(&watch.event);
    buf_fini(&watch.data);
    buf_fini(&watch.last_id);
    return status;
}

/* ---- The verb ---- */

static enum exit_status run_watch(const void *options, const struct words *words)
{
    const struct watch_options *given = options;
    return (enum exit_status)team_follow(&given->remote, words->at[0]);
}

static const struct option watch_options[] = {
    REMOTE_OPTIONS(struct watch_options),
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
    .size = sizeof(struct watch_options),
    .words_min = 1,
    .words_max = 1,
    .run = run_watch,
};
