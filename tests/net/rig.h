/* tests/net/rig.h: the whole server in one process: sockets, API, engine, memory store, and a clock
 * that is wound through the API.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_TESTS_NET_RIG_H
#define ERRAND_TESTS_NET_RIG_H

#include "net/loops.h"
#include "stand.h"

#define RIG_START_MS INT64_C(1803891600000) /* 2027-03-01T09:00:00Z */
#define RIG_START    "2027-03-01T09:00:00.000Z"

#define RIG_TOMBSTONE_MS DAY_MS

struct rig {
    bool google_limits;
    size_t further; /* net loops beside the stand's, which have threads */
    size_t connections_max;
    struct stand stand;
    struct clock clock;
    struct rand rand;
    struct store *store;
    struct broker *broker;
    struct zones *zones;
    struct planner *planner;
    struct lead *lead;
    struct cloud *cloud; /* nobody sends its tasks: they are claimed like others */
    struct guest *guests[3];
    struct engine *engine;
    struct queries *queries;
    struct events *events;
    struct auth auth;
    struct api *api;
    struct loops *loops;
    struct client client; /* what rig_ask() speaks through */
    struct arena arena;   /* holds answers */
    int status;
    struct str head, body; /* of the last answer */
};

void rig_open(struct rig *rig);
void rig_open_google(struct rig *rig); /* with [cloudtasks] google_limits */
void rig_open_loops(struct rig *rig, size_t further, size_t connections_max);
void rig_close(struct rig *rig); /* for SCOPED */
#define RIG(name)                                                                                  \
    SCOPED(rig_close) struct rig name;                                                             \
    rig_open(&name)

/* Sends a request and waits for the answer; returns its status. An empty body is none; others are
 * JSON, with ' for ". */
int rig_ask(struct rig *rig, const char *request, const char *body); /* "POST /api/tasks" */
void rig_say(struct client *client, const char *request, const char *body);
int rig_hear(struct rig *rig, struct client *client); /* the next answer of that client */

/* A member of the last answer: raw JSON, and as text. "tasks.0.id" goes inside. */
struct str rig_raw(struct rig *rig, const char *path);
struct str rig_text(struct rig *rig, const char *path);
bool rig_has(const struct rig *rig, const char *piece); /* of the body, with ' for " */

/* The last answer is an error of that code; `field` NULL: it names none. */
void rig_check_error(struct rig *rig, int status, const char *code, const char *field);

/* Asks again and again until that member is so; after some seconds the test fails. */
void rig_until(struct rig *rig, const char *request, const char *path, const char *raw);

/* Creates a task of that JSON, and claims one of any type for the worker w: ids and leases. */
const char *rig_create(struct rig *rig, const char *body);
struct rig_claimed {
    const char *id, *lease;
} rig_claim(struct rig *rig);

/* snprintf into the rig's arena. */
const char *rig_printf(struct rig *rig, const char *format, ...) PRINTF_LIKE(2, 3);

#endif
