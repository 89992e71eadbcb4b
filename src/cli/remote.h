/* cli/remote.h: how client commands speak to a server.
 *
 * The server is found by --url or ERRAND_URL, the token by --token or ERRAND_TOKEN. An answer that
 * is an error becomes a `struct err` with the server's own words.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_CLI_REMOTE_H
#define ERRAND_CLI_REMOTE_H

#include "base/arena.h"
#include "base/buf.h"
#include "cli/option.h"
#include "client/http.h"
#include "wire/json.h"

#define REMOTE_URL_DEFAULT "http://127.0.0.1:8001"
#define REMOTE_BODY_MAX    (64 * MIB) /* the server has its own, smaller limit and says so */
#define REMOTE_WAIT_MS     (30 * SECOND_MS)

struct remote_options {
    struct str url, token, cacert;
    bool json;
};

/* Which server; and for commands that print what it answers, how. */
#define REMOTE_SERVER_OPTIONS(type)                                                                \
    {"url", "URL", "the server (default ERRAND_URL, else " REMOTE_URL_DEFAULT ")",                 \
     OPTION_TEXT(type, remote.url)},                                                               \
        {"token", "TOKEN", "bearer token (default ERRAND_TOKEN; there others cannot see it)",      \
         OPTION_TEXT(type, remote.token)},                                                         \
    {                                                                                              \
        "cacert", "FILE", "authorities to trust for https (default ERRAND_CACERT)",                \
            OPTION_TEXT(type, remote.cacert)                                                       \
    }
#define REMOTE_OPTIONS(type)                                                                       \
    {"json", NULL, "print the server's JSON, for scripts", OPTION_SET(type, remote.json)},         \
        REMOTE_SERVER_OPTIONS(type)

struct remote {
    struct client *client;
    struct arena arena; /* everything a command learns lives until it ends */
    bool json;
};

/* Fills what was not given from the environment, and the usual address. */
void remote_resolve(struct remote_options *options);

MUST_CHECK bool remote_open(struct remote *remote, const struct remote_options *options,
                            struct err *err);
void remote_close(struct remote *remote);

/* before + percent-encoded name + after: "/api/tasks/", id, "/cancel". */
struct str remote_path(struct remote *remote, const char *before, struct str name,
                       const char *after);

/* Calls, and takes the body of a good answer. An absent body sends none. */
MUST_CHECK bool remote_call(struct remote *remote, const char *method, struct str path,
                            struct str body, struct str *answer, struct err *err);
/* The same with all of the answer, and a limit of its own. */
MUST_CHECK bool remote_call_whole(struct remote *remote, const struct client_call *call,
                                  struct client_answer *answer, struct err *err);
/* The error in an answer whose status is 400 or more. Returns false. */
bool remote_refusal(struct remote *remote, const struct client_answer *answer, struct err *err);

/* Waits until the task is terminal; *task is then the task as the server shows it. */
MUST_CHECK bool remote_wait(struct remote *remote, struct str id, struct str *task,
                            struct err *err);

/* Walks the items of a JSON array that an answer holds. */
bool remote_item(struct json *json, struct str *item);

/* The next page's path out of: Link: </api/tasks?…>; rel="next". Absent: that was the last. */
struct str remote_next_page(const struct client_answer *answer);

#endif
