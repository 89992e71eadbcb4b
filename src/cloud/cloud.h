/* cloud/cloud.h: queues and tasks of the Cloud Tasks API.
 *
 * A guest of the engine (queue/guest.h). The tasks are ordinary ones of the type `cloudtasks` in an
 * ordinary queue called PROJECT/LOCATION/QUEUE; what this room adds is what only that API has: its
 * queues must be made first and say how their tasks are tried again, names of tasks are not used
 * twice, and a task can be sent at once whatever its queue says. Requests are sent by work/
 * (by_cloud).
 *
 * Wishes come as commands (COMMAND_GUEST): cloud_ask() makes one of a `struct cloud_order`.
 *
 * Thread: engine, but for cloud_new(), cloud_free() and cloud_ask().
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_CLOUD_CLOUD_H
#define ERRAND_CLOUD_CLOUD_H

#include "cloud/dispatch.h"
#include "cloud/settings.h"
#include "queue/guest.h"

#define CLOUD_AHEAD_MAX_MS                                                                         \
    (30 * DAY_MS)                          /* with google_limits: how far ahead a task may be set, \
                                            */
#define CLOUD_LIFE_MAX_MS (31 * DAY_MS)    /* and how long it is kept */
#define CLOUD_POLL_MS     (60 * SECOND_MS) /* a shared store: names that others gave */

#define CLOUD_NO_QUEUE                                                                             \
    "Queue does not exist. If you just created the queue, wait at least a minute for the queue "   \
    "to initialize."
#define CLOUD_NOT_FOUND "Requested entity was not found."
#define CLOUD_WAS_THERE                                                                            \
    "The task no longer exists, though a task with this name existed recently. The task either "   \
    "successfully completed or was deleted."

struct cloud;

struct cloud_options {
    bool google_limits;
    int64_t tombstone_ms; /* how long a name stays taken after its task has ended */
    bool shared;          /* other nodes write to the same store */
    bool is_told;         /* ... and the engine says when to look at it: no polling */
    /* Work inside this server is given a task that was started for it, on the engine's thread,
     * after the commit; what it points to is copied. NULL: nobody here sends requests. */
    void (*run)(void *arg, const struct task *task);
    /* ... and is told, in the same way, once there is a queue: whoever has none needs no sender. */
    void (*wake)(void *arg);
    void *arg;
};

struct cloud *cloud_new(const struct cloud_options *options);
void cloud_free(struct cloud *cloud); /* NULL is welcome */
struct guest *cloud_guest(struct cloud *cloud);
bool cloud_google_limits(const struct cloud *cloud);
int64_t cloud_tombstone_ms(const struct cloud *cloud);

/* ---- Wishes ---- */

enum cloud_verb {
    CLOUD_CREATE_QUEUE, /* with `settings` */
    CLOUD_GET_QUEUE,
    CLOUD_LIST_QUEUES, /* those of `parent` */
    CLOUD_PATCH_QUEUE, /* the rows `mask` of `settings`; made if it is not there */
    CLOUD_PAUSE_QUEUE,
    CLOUD_RESUME_QUEUE,
    CLOUD_PURGE_QUEUE,  /* whatever it has now shall go: the sender cancels it (COMMAND_BULK) */
    CLOUD_DELETE_QUEUE, /* nobody sees it any more: the sender cancels its tasks, then ... */
    CLOUD_FORGET_QUEUE, /* ... this removes it */
    CLOUD_CREATE_TASK,
    CLOUD_DELETE_TASK,
    CLOUD_RUN_TASK,
    CLOUD_VERBS
};

struct cloud_queue_view {
    struct cloud_queue queue;
    struct store_queue settings;
};

struct cloud_order {
    enum cloud_verb verb;
    struct str parent; /* LIST: PROJECT/LOCATION */
    struct str queue;  /* others: PROJECT/LOCATION/QUEUE */
    struct cloud_settings settings;
    uint64_t mask;
    struct str task;                /* its short name; absent in CREATE_TASK: it is given one */
    struct task make;               /* CREATE_TASK: in, but for its id, queue, name and retries */
    struct cloud_queue_view *views; /* out: one, or those of a list by name */
    size_t count;
    struct task out; /* the task, in the command's arena */
};

/* Answered like any command: a queue or task that is not there is ERR_NOT_FOUND, one that is
 * already ERR_CONFLICT. */
void cloud_ask(struct cloud *cloud, struct command *command, struct cloud_order *order);

#endif
