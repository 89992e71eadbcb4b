/* net/api.h: the HTTP API: requests become commands and queries, their answers become JSON.
 *
 * Translates; decides nothing. Commands that were read in one turn of the loop go to the engine
 * together; answers come back once per commit. Start in this order: events, api, engine (whose host
 * tells events_give() and api_engine_failed()), queries (with api_query_answered), server (with
 * api_admit, api_handle), api_open(). Stop: server_stop, engine_stop, engine_free, queries_stop,
 * api_stop, let the loop run out, free.
 *
 * Several loops have an api each (loops.h). All but the first answer only what needs nothing but
 * the engine and the readers (route.h); for anything else the connection goes to the first.
 *
 * Thread: the net loop of the api, but for the callbacks that say otherwise.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_NET_API_H
#define ERRAND_NET_API_H

#include <uv.h>

#include "assist/assistant_pool.h"
#include "base/clock.h"
#include "client/otlp.h"
#include "cloud/cloud.h"
#include "fleet/fleet.h"
#include "net/auth.h"
#include "net/events.h"
#include "net/server.h"
#include "queue/query.h"
#include "queue/queue.h"
#include "schedule/planner.h"
#include "team/lead.h"
#include "wire/redact.h"

struct api;

struct api_options {
    uv_loop_t *loop;
    struct api *home; /* of a further loop: the first; it answers what only one may. NULL: this */
    const struct auth *auth;   /* borrowed; of this loop alone */
    struct events *events;     /* borrowed; only a home's streams follow it */
    const struct clock *clock; /* borrowed: the clock that tasks live by */
    size_t payload_max;        /* [limits] payload; beyond it: 413 */
    bool test_clock;           /* whether /api/test/clock is there */
    bool mails;                /* somebody here delivers by EMAIL */
    bool push_private;         /* a task's own URL may lead to this machine or a private network */
    struct str execute_secret; /* who has it may fire schedules; absent: nobody. Borrowed */
    /* What role read is not shown; may be replaced at any time by another that lives as long as the
     * api. NULL: nothing is hidden. */
    _Atomic(const struct redact_keys *) *redact;
    struct str node_id; /* texts are borrowed */
    struct str version;
    struct str data;    /* the data folder, whose free space /metrics tells; absent: none */
    int64_t started_ms; /* UTC */
    /* A browser has signed out here: for the other nodes. NULL: there are none. */
    void (*signed_out)(void *arg, const struct session *session);
    void *signed_out_arg;
    void (*failed)(void *arg); /* on the loop: the store cannot be trusted, end soon; or NULL */
    void *failed_arg;
    struct otlp_figures (*spans)(void *arg); /* what was sent of them; NULL: none are */
    void *spans_arg;
    size_t (*lost)(void *arg); /* workers whose run function does not return; NULL: none can be */
    void *lost_arg;
};

MUST_CHECK bool api_start(const struct api_options *options, struct api **out, struct err *err);

/* On the threads of the engine and of the readers. */
void api_engine_failed(struct api *api, const struct err *err); /* the server ends soon */
void api_query_answered(void *api, struct query *query);
struct channel *api_assistant_notes(struct api *api); /* for assistant_pool_start() */

/* What is younger than the api; before the first request. */
struct api_parts {
    struct engine *engine;
    struct queries *queries;
    struct server *server;
    struct str address; /* HOST:PORT as it is reached */
    struct planner *planner;
    struct assistant_pool *assistant; /* NULL: there is no language model */
    struct lead *lead;                /* of teams */
    struct cloud *cloud;              /* of queues of the Cloud Tasks API */
};
void api_open(struct api *api, const struct api_parts *parts);

void api_set_payload_max(struct api *api, size_t bytes);  /* while it runs */
void api_set_push_private(struct api *api, bool allowed); /* likewise [push] allow_private */

/* The other nodes, where there are any: before the first request too, for all loops at once.
 * Borrowed until api_free(). */
void api_join(struct api *api, struct fleet *fleet);

/* server_options.admit and .handle: Host, Origin, path, token and role are looked at as soon as the
 * head is there; the body, when it is whole. */
bool api_admit(void *api, struct exchange *exchange);
void api_handle(void *api, struct exchange *exchange);

/* After the engine and the readers have ended: answers what is left; the loop then runs out. */
void api_stop(struct api *api);
void api_free(struct api *api); /* after the loop has ended; NULL is welcome */

/* ---- Commands of others on the loop ---- */

/* The `sender` of every command given here: told, on the loop, when it was answered. */
struct api_sender {
    void (*answered)(struct api_sender *sender, struct command *command);
};
void api_give(struct api *api, struct command *command); /* goes out at the end of this turn */

#endif
