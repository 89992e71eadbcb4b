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
#define REMOTE_PAGE_MAX    500 /* items of a page: the server's own limit */

struct remote_options {
    struct str url, token, cacert;
    bool json;
    int64_t limit; /* of a list that comes in pages; 0: it does not */
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
#define REMOTE_LIST_OPTIONS(type)                                                                  \
    {"limit", "N", "at most this many (default 50)",                                               \
     OPTION_NUMBER(type, remote.limit, 1, 1000000)},                                               \
        REMOTE_OPTIONS(type)
#define REMOTE_LIST_DEFAULTS .remote = {.limit = 50}

struct remote {
    struct client *client;
    struct arena arena; /* everything a command learns lives until it ends */
    bool json;
    int64_t now_ms; /* by the server's clock, where that was asked for; 0: by this machine's */
};

/* Fills what was not given from the environment, and the usual address. */
void remote_resolve(struct remote_options *options);

MUST_CHECK bool remote_open(struct remote *remote, const struct remote_options *options,
                            struct err *err);
void remote_close(struct remote *remote);

/* before + percent-encoded name + after: "/api/tasks/", id, "/cancel". */
struct str remote_path(struct remote *remote, const char *before, struct str name,
                       const char *after);

/* The id that a word names: an id itself, the beginning of one that no other task (schedule, team)
 * has, or "@last", the newest. `list` is where they are listed: "/api/tasks". A word that cannot be
 * any of these is left to the server. */
MUST_CHECK bool remote_name(struct remote *remote, const char *list, struct str word,
                            struct str *id, struct err *err);

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

/* What an answer warns of, on standard error: it was done, but may not do what was meant. */
void remote_warn(struct remote *remote, struct str answer);

/* Walks the items of a JSON array that an answer holds. */
bool remote_item(struct json *json, struct str *item);

/* Gives `take` the items of a list, page after page, at most `limit`; it may fail. */
MUST_CHECK bool remote_pages(struct remote *remote, struct str path, int64_t limit,
                             bool (*take)(void *arg, struct str item, struct err *err), void *arg,
                             struct err *err);

/* The text of a string, or the JSON of anything else. */
struct str remote_text(struct remote *remote, struct str json);

/* ---- Following what happens ---- */

/* A stream of events. One that breaks is taken up again where it ended, and people are told. */
struct remote_stream {
    struct str path;
    void *arg;
    bool (*begin)(void *arg, struct err *err); /* it speaks, again perhaps; NULL: never mind */
    bool (*event)(void *arg, struct str event, struct str data, struct err *err);
    void (*draw)(void *arg); /* something may have changed, or some time has passed */
    /* It broke and is tried again, perhaps not for the first time; begin() says when it is back.
     * NULL: both are told on standard error. */
    void (*lost)(void *arg, const struct err *why);
    bool patient;      /* it is tried again until somebody stops the command */
    const char *early; /* the failure of a server that ends it before `ended`; NULL: none */
    bool ended;        /* what is followed has ended: event() says so */
};
MUST_CHECK bool remote_follow(struct remote *remote, struct remote_stream *stream, struct err *err);

/* ---- What people give to a command ---- */

/* A file, or standard input (-). */
MUST_CHECK bool remote_read(struct str word, struct buf *out, struct err *err);

/* JSON as written, of a file (@FILE) or of standard input (-). */
MUST_CHECK bool remote_read_json(struct str word, struct buf *out, struct err *err);

#endif
