/* cli/node.h: one running server: every room opened, wired together, and ended in order.
 *
 * Thread: the net loop is the thread that calls node_run(); the engine and the readers have theirs.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_CLI_NODE_H
#define ERRAND_CLI_NODE_H

#include <uv.h>

#include "base/clock.h"
#include "cli/config.h"
#include "cli/services.h"
#include "cli/systemd.h"
#include "fleet/fleet.h"
#include "net/api.h"
#include "net/faktory.h"
#include "net/loops.h"
#include "work/starter.h"
#include "work/workforce.h"

#define NODE_READERS      2
#define NODE_HOSTS_MAX    64
#define NODE_QUEUES_MAX   64
#define NODE_TYPES_MAX    (3 + HANDLERS_MAX) /* of deliveries, and what handlers are for */
#define NODE_GIVE_BACK_MS ((int64_t)1000) /* beyond the grace: to give back what did not finish */
#define NODE_DRAIN_TICK   10              /* milliseconds between two looks while draining */
#define NODE_FAILED_MS    ((int64_t)500)  /* for 503s to go out when the store has failed */
#define NODE_OTEL_MIN_MS  ((int64_t)500)  /* for the last spans to go out, at least … */
#define NODE_OTEL_MAX_MS  ((int64_t)5000) /* … and at most, whatever the time to drain is */
#define NODE_ID_MAX       96
#define NODE_GUESTS_MAX   4
#define NODE_ZONES_MS     HOUR_MS /* between two looks for new time zone data */

struct node_options {
    bool insecure;   /* a public address without tokens is wanted */
    bool no_migrate; /* refuse an old schema */
    bool test_clock;
    int64_t test_clock_ms;       /* where it starts */
    const char *const *handlers; /* shared objects with run functions */
    size_t handlers_count;
    /* Reads the settings again, at SIGHUP; NULL: they stay. */
    bool (*reread)(void *arg, struct config *out, struct err *err);
    void *reread_arg;
};

/* Running until a signal; draining until open requests are answered or the grace has passed; then
 * stopping: uv_run() returns. */
enum node_phase { NODE_RUNNING, NODE_DRAINING, NODE_STOPPING };

struct node {
    struct config *config; /* borrowed */
    struct node_options options;
    char id[NODE_ID_MAX];
    struct clock clock;
    struct rand rand;
    struct services services;

    struct store *store;
    struct broker *broker;
    struct token_book *book;
    struct str hosts[NODE_HOSTS_MAX];
    struct sessions *sessions; /* of browsers; one for the whole server */
    struct auth auth;
    _Atomic(const struct redact_keys *) redact; /* what role read is not shown */

    uv_loop_t loop;
    uv_signal_t on_term, on_interrupt, on_hangup;
    uv_timer_t drain_timer;
    struct systemd systemd;
    struct events *events;
    struct api *api;
    struct zones *zones;
    struct planner *planner;
    struct assistant_pool *assistant; /* NULL: there is no language model */
    struct lead *lead;
    struct cloud *cloud;
    struct guest *guests[NODE_GUESTS_MAX]; /* of the engine */
    struct engine *engine;
    struct fleet *_Atomic fleet; /* NULL: alone */
    struct broker_options broker_options;
    struct queries *queries;
    struct otlp *otlp;       /* where spans go; NULL: nowhere */
    struct starter *starter; /* of commands; NULL: there are none */
    struct workforce *work;
    _Atomic bool rested;        /* nothing runs inside the server any more */
    struct str address, socket; /* where it listens; absent: not there */
    struct server *server;
    struct loops *loops;           /* further ones; NULL: there are none */
    struct faktory *faktory;       /* NULL: Faktory is not spoken here */
    struct server *faktory_server; /* its sockets */

    enum node_phase phase;
    uint64_t drain_until_ms; /* loop time */
    struct api_sender drained;
    struct command drain;
    struct arena drain_arena;
    bool failed; /* the store cannot be trusted: exit 1 */
};

/* The setting `listen`: HOST:PORT, unix:PATH, or both with a comma; what is not there is absent. */
MUST_CHECK bool node_listens(struct str listen, struct str *address, struct str *socket,
                             struct err *err);

/* Opens the stores, starts the threads and listens. node_close() ends it whatever the answer. */
MUST_CHECK bool node_open(struct node *node, struct config *config,
                          const struct node_options *options, struct err *err);
/* Serves until it is told to stop. False: the store failed. */
MUST_CHECK bool node_run(struct node *node);
void node_close(struct node *node);

bool node_is_loopback(struct str host);

/* node_guests.c: makes them, before the engine; how many there are. And whether tasks of teams are
 * done in here, with the language model. */
size_t node_seat_guests(struct node *node);
bool node_has_crew(const struct node *node);

/* node_otel.c: spans of attempts, where [otel] endpoint asks for them. */
MUST_CHECK bool node_start_otel(struct node *node, struct err *err); /* before the engine */
void node_watch_ends(struct node *node, struct engine_host *host);
void node_stop_otel(struct node *node); /* after it */

/* node_faktory.c: where [faktory] listen asks for it. */
MUST_CHECK bool node_start_faktory(struct node *node, struct err *err);

/* node_wait.c: opens it and reads what is shared there, after waiting for a database that boots
 * later; SIGTERM ends the process meanwhile. */
MUST_CHECK bool node_open_store(struct node *node, const struct store_options *options,
                                struct err *err);

/* node_fleet.c: among others, where the store is shared. */
struct engine_host node_engine_host(struct node *node);               /* events go to others too */
MUST_CHECK bool node_read_shared(struct node *node, struct err *err); /* before anybody comes */
MUST_CHECK bool node_join_fleet(struct node *node, struct err *err);
void node_signed_out(void *node, const struct session *session); /* the others hear of it */

/* reload.c */
void reload_start(struct node *node);
void reload_end(struct node *node); /* frees the settings that were read again */

#endif
