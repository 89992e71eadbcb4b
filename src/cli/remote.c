/* cli/remote.c: how client commands speak to a server. See remote.h.
 *
 * SPDX-License-Identifier: MIT */
#include "cli/remote.h"

#include <stdlib.h>
#include <unistd.h>

#include "task/task.h"
#include "wire/uri.h"

#define WAIT_PAUSE_US 100000 /* a server that answers early, while it drains, is not hammered */

static struct str or_environment(struct str given, const char *name)
{
    const char *value = str_absent(given) ? getenv(name) : NULL;
    return value != NULL && value[0] != '\0' ? str_of(value) : given;
}

static bool check_url(struct str url, struct err *err)
{
    struct uri uri;
    return (uri_parse(url, &uri, err) && str_absent(uri.userinfo) && str_absent(uri.query) &&
            (str_is(uri.scheme, "http") || str_is(uri.scheme, "https"))) ||
           err_set(err, ERR_INVALID, "\"" STR_FMT "\" is not a server's address; write %s",
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

bool remote_refusal(struct remote *remote, const struct client_answer *answer, struct err *err)
{
    struct str error = json_find(answer->body, "error", &remote->arena);
    struct str message = json_find_str(error, "message", &remote->arena);
    struct str field = json_find_str(error, "field", &remote->arena);
    enum err_kind kind = answer->status == 404 ? ERR_NOT_FOUND : ERR_REFUSED;
    if (str_absent(message)) {
        return err_set(err, kind, "the server answered %d", answer->status);
    }
    if (!str_absent(field) && field.len > 0) {
        return err_set(err, kind, STR_FMT " (field " STR_FMT ")", STR_ARG(message), STR_ARG(field));
    }
    return err_set(err, kind, STR_FMT, STR_ARG(message));
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

static bool is_terminal(struct remote *remote, struct str task)
{
    enum task_state state;
    struct str name = json_find_str(task, "state", &remote->arena);
    return task_state_parse(name, &state) && task_state_terminal(state);
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
        if (is_terminal(remote, answer.body)) {
            *task = answer.body;
            return true;
        }
        usleep(WAIT_PAUSE_US);
    }
    return false;
}

bool remote_item(struct json *json, struct str *item)
{
    return json_item(json, NULL) && json_raw(json, item, NULL);
}

struct str remote_next_page(const struct client_answer *answer)
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
