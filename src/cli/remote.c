/* cli/remote.c: how client commands speak to a server. See remote.h.
 *
 * SPDX-License-Identifier: MIT */
#include "cli/remote.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "net/fault.h"
#include "task/task.h"
#include "wire/uri.h"

#define WAIT_PAUSE_US      100000 /* a server that answers early, while it drains, is not hammered */
#define RECONNECT_PAUSE_US 1000000
#define RECONNECTS_MAX     30
#define TOO_MANY_REQUESTS  429
#define READ_STEP          (64 * KIB) /* of a file or of standard input */

static struct str or_environment(struct str given, const char *name)
{
    const char *value = str_absent(given) ? getenv(name) : NULL;
    return value != NULL && value[0] != '\0' ? str_of(value) : given;
}

static bool check_url(struct str url, struct err *err)
{
    return client_url_ok(url) ||
           err_set(err, ERR_INVALID,
                   "\"" STR_FMT "\" is not a server's address; write %s, or unix:PATH",
                   STR_ARG(url), REMOTE_URL_DEFAULT);
}

void remote_resolve(struct remote_options *options)
{
    options->url = or_environment(options->url, "ERRAND_URL");
    options->token = or_environment(options->token, "ERRAND_TOKEN");
    options->cacert = or_environment(options->cacert, "ERRAND_CACERT");
    if (str_absent(options->url)) {
        options->url = STR(REMOTE_URL_DEFAULT);
    }
}

bool remote_open(struct remote *remote, const struct remote_options *options, struct err *err)
{
    struct remote_options to = *options;
    remote_resolve(&to);
    *remote = (struct remote){.arena = ARENA_INIT, .json = options->json};
    const struct client_options client = {
        .url = to.url, .token = to.token, .cacert = to.cacert.ptr};
    return check_url(to.url, err) && client_open(&client, &remote->client, err);
}

void remote_close(struct remote *remote)
{
    client_close(remote->client);
    arena_fini(&remote->arena);
}

struct str remote_path(struct remote *remote, const char *before, struct str name,
                       const char *after)
{
    SCOPED(buf_fini) struct buf path = BUF_INIT(64 * KIB);
    buf_c(&path, before);
    uri_encode(&path, name);
    buf_c(&path, after);
    return arena_str(&remote->arena, buf_view(&path));
}

/* The kind of failure that the API calls so. */
static enum err_kind kind_of(struct str code, int status)
{
    for (enum err_kind kind = ERR_INVALID; kind <= ERR_INTERNAL; kind++) {
        if (str_is(code, fault_code(kind))) {
            return kind;
        }
    }
    return status == 404 ? ERR_NOT_FOUND : ERR_REFUSED;
}

bool remote_refusal(struct remote *remote, const struct client_answer *answer, struct err *err)
{
    struct str error = json_find(answer->body, "error", &remote->arena);
    struct str code = json_find_str(error, "code", &remote->arena);
    struct str message = json_find_str(error, "message", &remote->arena);
    struct str field = json_find_str(error, "field", &remote->arena);
    enum err_kind kind = kind_of(code, answer->status);
    if (str_absent(message)) {
        return err_set(err, kind, "the server answered %d", answer->status);
    }
    err_set(err, kind, STR_FMT, STR_ARG(message));
    if (!str_absent(field)) {
        snprintf(err->field, sizeof err->field, STR_FMT, STR_ARG(field));
    }
    return false;
}

bool remote_call_whole(struct remote *remote, const struct client_call *call,
                       struct client_answer *answer, struct err *err)
{
    return client_call(remote->client, call, &remote->arena, answer, err) &&
           (answer->status < 400 || remote_refusal(remote, answer, err));
}

bool remote_call(struct remote *remote, const char *method, struct str path, struct str body,
                 struct str *answer, struct err *err)
{
    const struct client_call call = {.method = method, .path = path, .body = body};
    struct client_answer whole;
    if (!remote_call_whole(remote, &call, &whole, err)) {
        return false;
    }
    *answer = whole.body;
    return true;
}

bool remote_wait(struct remote *remote, struct str id, struct str *task, struct err *err)
{
    const struct client_call call = {
        .method = "GET",
        .path = remote_path(remote, "/api/tasks/", id, "?waitMs=30000"),
        .limit_ms = REMOTE_WAIT_MS + CLIENT_CALL_MS,
    };
    struct client_answer answer;
    while (remote_call_whole(remote, &call, &answer, err)) {
        enum task_state state;
        struct str name = json_find_str(answer.body, "state", &remote->arena);
        if (task_state_parse(name, &state) && task_state_terminal(state)) {
            *task = answer.body;
            return true;
        }
        usleep(WAIT_PAUSE_US);
    }
    return false;
}

void remote_warn(struct remote *remote, struct str answer)
{
    struct str all = json_find(answer, "warnings", &remote->arena), one;
    struct json json;
    if (str_absent(all)) {
        return;
    }
    json_start(&json, all, &remote->arena);
    if (!json_enter_array(&json, NULL)) {
        return;
    }
    while (remote_item(&json, &one)) {
        struct str text = remote_text(remote, one);
        fprintf(stderr, "errand: warning: " STR_FMT "\n", STR_ARG(text));
    }
}

bool remote_item(struct json *json, struct str *item)
{
    return json_item(json, NULL) && json_raw(json, item, NULL);
}

/* The next page's path out of: Link: </api/tasks?…>; rel="next". Absent: that was the last. */
static struct str next_page(const struct client_answer *answer)
{
    struct str link = answer->link;
    const char *open = link.len == 0 ? NULL : memchr(link.ptr, '<', link.len);
    const char *close =
        open == NULL ? NULL : memchr(open, '>', link.len - (size_t)(open - link.ptr));
    if (close == NULL || memmem(link.ptr, link.len, "rel=\"next\"", 10) == NULL) {
        return STR_NONE;
    }
    return (struct str){open + 1, (size_t)(close - open - 1)};
}

bool remote_pages(struct remote *remote, struct str path, int64_t limit,
                  bool (*take)(void *arg, struct str item, struct err *err), void *arg,
                  struct err *err)
{
    int64_t left = limit;
    while (left > 0 && !str_absent(path)) {
        const struct client_call call = {.method = "GET", .path = path};
        struct client_answer answer;
        struct json json;
        struct str item;
        if (!remote_call_whole(remote, &call, &answer, err)) {
            return false;
        }
        json_start(&json, answer.body, &remote->arena);
        if (!json_enter_array(&json, err)) {
            return false;
        }
        for (; left > 0 && remote_item(&json, &item); left--) {
            if (!take(arg, item, err)) {
                return false;
            }
        }
        path = next_page(&answer);
    }
    return true;
}

/* ---- What a word names ---- */

#define NAMED_SHOWN_MAX 5

struct naming {
    struct remote *remote;
    struct str beginning; /* absent: the newest is wanted */
    struct str newest;    /* of those that fit */
    struct buf fitting;   /* the first ones, for people */
    size_t count;
};

static bool take_fitting(void *arg, struct str item, struct err *err)
{
    struct naming *naming = arg;
    struct arena *arena = &naming->remote->arena;
    struct str id = json_find_str(item, "id", arena);
    struct str what = json_find_str(item, "taskType", arena);
    (void)err;
    id = str_absent(id) ? json_find_str(item, "teamId", arena) : id;
    what = str_absent(json_find_str(item, "title", arena)) ? what
                                                           : json_find_str(item, "title", arena);
    if (str_absent(id) ||
        (!str_absent(naming->beginning) &&
         (id.len < naming->beginning.len ||
          !str_eq_nocase((struct str){id.ptr, naming->beginning.len}, naming->beginning)))) {
        return true;
    }
    /* Ids grow with time. */
    naming->newest =
        str_absent(naming->newest) || str_cmp(id, naming->newest) > 0 ? id : naming->newest;
    if (naming->count++ < NAMED_SHOWN_MAX) {
        buf_printf(&naming->fitting, "%s " STR_FMT " (" STR_FMT ")", naming->count > 1 ? "," : "",
                   STR_ARG(id), STR_ARG(what));
    }
    return true;
}

bool remote_name(struct remote *remote, const char *list, struct str word, struct str *id,
                 struct err *err)
{
    SCOPED(buf_fini) struct buf path = BUF_INIT(KIB);
    struct task_id first, last;
    bool newest = str_is(word, "@last"), tasks = str_is(STR("/api/tasks"), list);
    *id = word;
    if (!newest && (word.len >= TASK_ID_TEXT - 1 || !id_beginning(word, &first, &last))) {
        return true;
    }
    struct naming naming = {.remote = remote,
                            .beginning = newest ? STR_NONE : word,
                            .newest = STR_NONE,
                            .fitting = BUF_INIT(4 * KIB)};
    /* Tasks are looked up by the server; of the others there are few. */
    buf_printf(&path, "%s?limit=%d", list, tasks && newest ? 1 : REMOTE_PAGE_MAX);
    if (tasks && !newest) {
        buf_printf(&path, "&id=" STR_FMT, STR_ARG(word));
    }
    bool ok = remote_pages(remote, buf_view(&path), tasks ? REMOTE_PAGE_MAX : INT64_MAX,
                           take_fitting, &naming, err);
    const char *noun = strrchr(list, '/') + 1;
    if (ok && naming.count == 0) {
        ok = newest
                 ? err_set(err, ERR_NOT_FOUND, "@last: there are no %s yet", noun)
                 : err_set(err, ERR_NOT_FOUND, "none of the %s has an id that begins with " STR_FMT,
                           noun, STR_ARG(word));
    } else if (ok && naming.count > 1 && !newest) {
        ok = err_set(err, ERR_INVALID, STR_FMT " is the beginning of several ids:" STR_FMT "%s",
                     STR_ARG(word), STR_ARG(buf_view(&naming.fitting)),
                     naming.count > NAMED_SHOWN_MAX ? ", ..." : "");
    }
    *id = ok ? naming.newest : word;
    buf_fini(&naming.fitting);
    return ok;
}

struct str remote_text(struct remote *remote, struct str json)
{
    struct json reader;
    struct str text;
    json_start(&reader, json, &remote->arena);
    return json_peek(&reader) == JSON_STRING && json_str(&reader, &text, NULL) ? text : json;
}

/* ---- Following what happens ---- */

struct follower {
    struct remote_stream *stream;
    struct buf event, data, last_id; /* of the event being read; of the last one read */
    bool spoke;                      /* since the stream was last taken up */
    bool lost;                       /* it broke, and people were told */
    bool refused;                    /* begin() or event() failed: `err` says why */
    struct err err;
};

static bool on_line(void *arg, struct str line)
{
    struct follower *follower = arg;
    struct remote_stream *stream = follower->stream;
    struct str value = line;
    struct str field = str_cut(&value, ':');
    struct buf *kept = str_is(field, "event")  ? &follower->event
                       : str_is(field, "data") ? &follower->data
                       : str_is(field, "id")   ? &follower->last_id
                                               : NULL;
    bool ok =
        follower->spoke || stream->begin == NULL || stream->begin(stream->arg, &follower->err);
    follower->spoke = true;
    if (follower->lost) {
        follower->lost = false;
        fputs(stream->lost == NULL ? "errand: connected again\n" : "", stderr);
    }
    if (line.len > 0 && kept != NULL) {
        buf_clear(kept);
        buf_str(kept, str_starts(value, STR(" ")) ? str_from(value, 1) : value);
    } else if (line.len == 0 && follower->event.len > 0) {
        ok = ok && stream->event(stream->arg, buf_view(&follower->event), buf_view(&follower->data),
                                 &follower->err);
        buf_clear(&follower->event);
        buf_clear(&follower->data);
    }
    stream->draw(stream->arg);
    follower->refused = !ok;
    return ok;
}

static bool on_tick(void *arg)
{
    struct follower *follower = arg;
    follower->stream->draw(follower->stream->arg);
    return !follower->stream->ended; /* the server ends the stream; this is for one that does not */
}

static bool follow_once(struct remote *remote, struct follower *follower, struct err *err)
{
    struct client_answer answer = {.status = 0};
    const struct client_stream stream = {
        .path = follower->stream->path,
        .last_event_id = follower->last_id.len > 0 ? buf_view(&follower->last_id) : STR_NONE,
        .arg = follower,
        .line = on_line,
        .tick = on_tick,
    };
    *err = ERR_INIT;
    follower->spoke = false;
    bool ok = client_stream(remote->client, &stream, &remote->arena, &answer, err);
    if (follower->refused) {
        *err = follower->err;
        return false;
    }
    if (answer.status >= 400) {
        /* A server that drains, or whose proxy does not find it, may be back soon. */
        bool may_pass = answer.status >= 500 || answer.status == TOO_MANY_REQUESTS;
        remote_refusal(remote, &answer, err);
        err->kind = may_pass ? ERR_UNAVAILABLE : err->kind;
        return false;
    }
    if (ok && follower->stream->early != NULL && !follower->stream->ended) {
        return err_set(err, ERR_UNAVAILABLE, "%s", follower->stream->early);
    }
    return ok || follower->stream->ended;
}

static void tell_lost(struct follower *follower, const struct err *why)
{
    struct remote_stream *stream = follower->stream;
    if (stream->lost != NULL) {
        stream->lost(stream->arg, why);
    } else if (!follower->lost) {
        fflush(stdout);
        fprintf(stderr, "errand: disconnected, trying again: %s\n", why->text);
    }
    follower->lost = true;
}

bool remote_follow(struct remote *remote, struct remote_stream *stream, struct err *err)
{
    struct follower follower = {.stream = stream,
                                .event = BUF_INIT(KIB),
                                .data = BUF_INIT(CLIENT_LINE_MAX),
                                .last_id = BUF_INIT(KIB),
                                .err = ERR_INIT};
    bool ok = false, on = true;
    for (int tries = 0; !ok && on && (stream->patient || tries < RECONNECTS_MAX); tries++) {
        ok = follow_once(remote, &follower, err);
        /* A server that was never there, or said no, will not change its mind. */
        on = err->kind == ERR_UNAVAILABLE && (follower.spoke || tries > 0);
        tries = follower.spoke ? 0 : MIN(tries, RECONNECTS_MAX);
        if (!ok && on) {
            tell_lost(&follower, err);
            usleep(RECONNECT_PAUSE_US);
        }
    }
    buf_fini(&follower.event);
    buf_fini(&follower.data);
    buf_fini(&follower.last_id);
    return ok;
}

/* ---- What people give to a command ---- */

static bool read_all(int fd, struct buf *out, struct err *err)
{
    for (;;) {
        char *room = buf_room(out, READ_STEP);
        ssize_t got = room == NULL ? 0 : read(fd, room, READ_STEP);
        if (got < 0) {
            return err_set(err, ERR_INVALID, "%s", strerror(errno));
        }
        if (got == 0) {
            return !out->full || err_set(err, ERR_TOO_LARGE, "this is too long");
        }
        buf_used(out, (size_t)got);
    }
}

static bool read_file(const char *path, struct buf *out, struct err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return err_set(err, ERR_INVALID, "%s: %s", path, strerror(errno));
    }
    bool ok = read_all(fd, out, err);
    close(fd);
    return ok || err_wrap(err, "%s", path);
}

bool remote_read(struct str word, struct buf *out, struct err *err)
{
    return str_is(word, "-") ? read_all(STDIN_FILENO, out, err) : read_file(word.ptr, out, err);
}

bool remote_read_json(struct str word, struct buf *out, struct err *err)
{
    bool ok = true;
    if (str_is(word, "-") || str_starts(word, STR("@"))) {
        ok = remote_read(str_is(word, "-") ? word : str_from(word, 1), out, err);
    } else {
        buf_str(out, word);
    }
    return ok && (json_valid(buf_view(out), err) || err_wrap(err, "this is not JSON"));
}
