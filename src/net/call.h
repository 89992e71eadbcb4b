/* net/call.h: one request on its way through the API, and what every handler needs.
 *
 * A call lives in its exchange's arena. A handler reads the request, gives a command or asks a
 * query, and answers when all of them are back, with the writer of the call.
 *
 * Thread: the net loop of its api.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_NET_CALL_H
#define ERRAND_NET_CALL_H

#include <stdatomic.h>

#include "base/channel.h"
#include "net/api.h"
#include "net/guess.h"
#include "net/wake.h"
#include "wire/form.h"

#define ANSWER_MAX      ((size_t)1 << 30) /* bytes of one answer; whole tasks stop long before */
#define ANSWER_KEPT_MAX MIB               /* of the memory an answer was written in */
#define STORE_DOWN_MS   (5 * SECOND_MS)   /* how long an unanswered failure is remembered */

struct api {
    struct api_options options;
    struct api_parts parts;
    struct fleet *fleet;    /* NULL: this node is alone */
    struct wake wake;       /* something came back from another thread */
    uv_prepare_t prepare;   /* both give the turn's commands: one before the loop sleeps, */
    uv_check_t check;       /* one after it was woken */
    struct list outgoing;   /* commands of this turn */
    struct channel answers; /* commands from the engine */
    struct channel queries; /* queries from the readers */
    struct channel notes;   /* assistant_note.link: from those who ask the language model */
    uint64_t claims;        /* serial of the last claim */
    /* For /metrics: changed by this loop alone, read by the home loop. */
    _Atomic uint64_t commands_given[COMMAND_KINDS];

    struct api *home; /* itself, or the one whose loop answers what only one may. Of that one: */
    struct api *others[SERVER_LOOPS_MAX]; /* whose home it is */
    size_t others_count;
    atomic_bool engine_failed;
    bool failure_told;
    _Atomic uint64_t store_down_at_ms; /* loop time of the last ERR_UNAVAILABLE; 0: none */
    struct guess guess;                /* at the secret of the outside */
    struct buf scratch;                /* answers are written here */
    struct buf openapi;                /* the document, written once; of a home only */
    struct mcp_book *mcp;              /* what it says of tools; NULL: nobody has asked yet */
};

/* Asks the readers; false: they have ended. The answer goes to query->answered on this loop, or to
 * the call that is its sender. */
MUST_CHECK bool api_ask(struct api *api, struct query *query);
/* How many commands of a kind were given by all loops. */
uint64_t api_commands_given(const struct api *api, enum command_kind kind);

struct route;

struct call {
    struct api_sender sender; /* first: the engine's answers find the call by it */
    struct api *api;
    struct exchange *exchange;
    struct arena *arena; /* the exchange's */
    const struct route *route;
    struct token_who who; /* who asks */
    int64_t entered_ms;   /* loop time at which that was looked at */
    struct str name;    /* what stands for {…} in the path, decoded; absent when there is none */
    struct str headers; /* lines to send with a failure; absent: those that go with its kind */
    unsigned pending;   /* commands and queries that are out */
    struct err failure; /* the first among their answers */
    void (*done)(struct call *call);   /* all are back, and well */
    void (*failed)(struct call *call); /* all are back, `failure` says why not; NULL: answer it */
    void *own;                         /* the handler's */
    int status;                        /* likewise: of an answer that is yet to be asked for */
    /* A request inside another (api_dispatch): who is given the answer instead of the client. */
    void (*answered)(struct call *call, int status, struct str headers, struct str body);
    void *answered_arg;
};

/* ---- Reading ---- */

/* The body as JSON. ERR_MEDIA if it says to be something else, ERR_INVALID if there is none. */
MUST_CHECK bool call_json(struct call *call, struct json *json, struct err *err);

/* The whole body by a form, NULL: it may have no fields. An absent body is an empty object where
 * `optional`; `given` gets a bit for each row that was there, or is NULL. */
MUST_CHECK bool call_body(struct call *call, const struct form *form, bool optional, void *into,
                          uint64_t *given, struct err *err);
extern const struct form form_nothing; /* of a body that says nothing */
/* The query by a form; NULL: there may be none. */
MUST_CHECK bool call_asked(struct call *call, const struct form *form, void *into, struct err *err);
/* Whether who asked may still do so: where an answer was waited for, a token may have been revoked
 * or have expired meanwhile, and a session have ended. ERR_DENIED or ERR_FORBIDDEN. */
MUST_CHECK bool call_may_still(struct call *call, struct err *err);
bool call_may_stay(void *call); /* likewise, asked anew each time */
/* Makes the exchange a stream of what its caller may see, as long as he may (events_subscribe()).
 */
MUST_CHECK bool call_subscribe(struct call *call, struct events_filter *filter, struct err *err);
struct str call_user(const struct call *call); /* its token is limited to this user; or absent */
const struct redact_keys *call_redact(const struct call *call); /* what it may not see; or NULL */
MUST_CHECK bool call_id(struct call *call, struct task_id *out, struct err *err); /* {id}, or 404 */

/* ---- Asking ---- */

/* A command of the call, to be filled before the handler returns; it goes out by itself. */
struct command *call_command(struct call *call, enum command_kind kind);
/* A query of the call, to be filled and then asked; it may be asked again once it is back. */
struct query *call_query(struct call *call, enum query_kind kind);
void call_ask(struct call *call, struct query *query);

void call_query_back(struct query *query); /* the reader has answered it */

/* A command of nobody's, with an arena of its own: fill it; it goes out by itself. */
struct command *api_command(struct api *api, enum command_kind kind);

/* ---- Answering: the call is over afterwards ---- */

struct json_writer call_writer(struct call *call); /* an empty answer to be written */
void call_answer(struct call *call, int status);   /* what was written, as JSON */
void call_answer_with(struct call *call, int status, const char *content_type, struct str headers);
void call_answer_empty(struct call *call, int status);
void call_answer_empty_with(struct call *call, int status, struct str headers);
void call_fail(struct call *call, const struct err *err);

/* A page of a list, unless writing it failed (`call->failure`). If there are more behind `last`, a
 * "Link: </api/…?…cursor=…>; rel="next"" asks the same question from there. */
void call_answer_page(struct call *call, bool more, const struct task_id *last);

/* Carries out the request that the call's exchange holds now, by its route and with the rights of
 * call->who. False: `err` is its answer. */
MUST_CHECK bool api_dispatch(struct call *call, struct err *err);

bool api_store_down(const struct api *api);                  /* as far as anybody noticed */
struct fleet_status api_fleet_status(const struct api *api); /* alone: it leads itself */

#endif
