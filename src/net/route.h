/* net/route.h: the one table of what the API can be asked. Dispatch, access and openapi.json all
 * follow from it.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_NET_ROUTE_H
#define ERRAND_NET_ROUTE_H

#include "net/auth.h"
#include "wire/http.h"

struct call;
struct form;

/* Reads the request and answers it, at once or later. False: `err` is the answer. */
typedef bool route_fn(struct call *call, struct err *err);

/* Which net loops answer it, where there are several. */
enum route_loops {
    LOOPS_HOME,        /* the first */
    LOOPS_ALL,         /* whichever has the connection */
    LOOPS_ALL_UNASKED, /* likewise, unless it is asked for more by a query */
};

struct route {
    enum http_method method;
    const char *path; /* "/api/tasks/{id}/why": each {…} is a segment or its beginning */
    enum access access;
    route_fn *handle;
    const char *summary;
    const char *answers;      /* "201 CreateAnswer, 200 Task": statuses with schemas of the body */
    const char *faults;       /* further statuses of Error: "404 409"; or NULL */
    const char *request;      /* schema of the body; NULL: it has none */
    const struct form *query; /* its parameters; NULL: none */
    const char *media;        /* of the answer; NULL: application/json */
    bool optional_body;
    size_t body_max; /* bytes; 0: the server's limit */
    bool claims;     /* gives tasks away, whoever's they are */
    bool overlaps;   /* one command and nothing else: pipelined ones go to the engine together */
    bool reads;      /* changes nothing, though it is no GET */
    enum route_loops loops;
    bool any_host; /* for probes and scrapers, which come by an address: no Host is foreign */
};

extern const struct route routes[];
extern const size_t routes_count;

#define ROUTE_NO_BODY_MAX (64 * KIB)  /* where no body is asked for; what comes is not looked at */
#define ROUTE_EXECUTE_MAX (256 * KIB) /* where the secret is in the body: anybody may send one */
#define ROUTE_SIGN_IN_MAX (4 * KIB)

#define ROUTE_STREAM   "text/event-stream"
#define ROUTE_CALENDAR "text/calendar"
#define ROUTE_PAGE     "text/html"
#define ROUTE_FILE     "*/*"

/* The route of a request; *name is what stands for the first {…}, still encoded. A known path with
 * another method is ERR_METHOD, and *allow lists the methods it has; an unknown one ERR_NOT_FOUND.
 */
#define ROUTE_ALLOW_MAX 64
MUST_CHECK bool route_find(const struct http_request *request, const struct route **out,
                           struct str *name, char allow[static ROUTE_ALLOW_MAX], struct err *err);

bool route_matches(const char *pattern, struct str path, struct str *name);
const char *route_method_name(enum http_method method);

#endif
