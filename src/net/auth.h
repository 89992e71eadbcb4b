/* net/auth.h: who may do what, and from where.
 *
 * Three questions, in this order: does the request come through a name that is ours (Host), was it
 * sent by a page that is ours (Origin), and does its token's role allow what the route asks for. A
 * browser that has signed in sends a cookie for its token (session.h). Browsers send cookies by
 * themselves, whoever made them ask: what comes with the cookie alone and changes something must
 * also carry a header that only a page of ours can set.
 * Without tokens everybody who reaches the port may do everything, unless `required` is set; once
 * there was a token, nobody may without one until the server is started again.
 *
 * Thread: net loop.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_NET_AUTH_H
#define ERRAND_NET_AUTH_H

#include "base/err.h"
#include "net/session.h"
#include "wire/http.h"

/* What a route asks for. */
enum access {
    OPEN,           /* needs no token: health */
    MAY_READ,       /* every GET */
    MAY_READ_TASKS, /* GETs that a worker needs too */
    MAY_PRODUCE,    /* create, cancel, retry, change tasks, schedules, teams */
    MAY_WORK,       /* claim, heartbeat, finish, messages */
    MAY_ADMIN,      /* what no other role names */
    ACCESSES
};

bool auth_role_allows(enum role role, enum access access);

struct auth {
    struct token_book *book; /* borrowed; NULL: there are no tokens */
    struct str listen;       /* HOST[:PORT] it listens on */
    const struct str *hosts; /* further names of ours, without port */
    size_t hosts_count;
    struct sessions *sessions; /* borrowed; NULL: nobody signs in */
    bool tls;                  /* it is reached by https */
    bool required; /* a token is needed even if none exists: public address, not --insecure */
};

/* Whether a Host header's value names this server: local, listened on, or configured. */
bool auth_host_ours(const struct auth *auth, struct str host);
/* Whether a page of that Origin ("http://localhost:8001") is ours: scheme, name and port are those
 * the request came by (its Host) or those that are listened on, or it is a configured name with the
 * usual port. "null" is foreign. Who checks it has checked Host before. */
bool auth_origin_ours(const struct auth *auth, struct str origin, struct str host);

bool auth_on(const struct auth *auth, int64_t now_ms); /* a token is needed for what is not OPEN */

enum { /* bits of `how` */
       AUTH_IN_QUERY =
           1,            /* EventSource and calendars set no headers: ?access_token= is taken too */
       AUTH_CHANGES = 2, /* the request changes something */
       AUTH_ANY_HOST = 4, /* whatever name it was reached by: probes know addresses only */
       AUTH_API_KEY = 8,  /* clients of Google's may send it as x-goog-api-key */
};
/* Who a request comes from, by its token or its cookie. ERR_DENIED: neither is there, or it is not
 * known. ERR_FORBIDDEN: the cookie alone, for a change, without the header of our pages. */
MUST_CHECK bool auth_identify(const struct auth *auth, const struct http_request *request,
                              unsigned how, int64_t now_ms, struct arena *arena,
                              struct token_who *who, struct err *err);

#define AUTH_OWN_HEADER "X-Errand-Request" /* what our pages send with every change: "1" */
bool auth_has_own_header(const struct http_request *request);
/* The session's cookie, if there is one and no token beside it. */
MUST_CHECK bool auth_cookie_alone(const struct http_request *request, struct str *out);

/* Decides about a request. With no tokens *who is an admin of no user. ERR_DENIED (401, send
 * AUTH_CHALLENGE) or ERR_FORBIDDEN (403). Texts it needs are put into `arena`. */
#define AUTH_CHALLENGE "WWW-Authenticate: Bearer\r\n"
MUST_CHECK bool auth_check(const struct auth *auth, const struct http_request *request,
                           enum access access, unsigned how, int64_t now_ms, struct arena *arena,
                           struct token_who *who, struct err *err);

#endif
