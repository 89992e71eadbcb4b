/* cloud/cloud_data.h: what the files of cloud/ share.
 *
 * Thread: engine.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_CLOUD_CLOUD_DATA_H
#define ERRAND_CLOUD_CLOUD_DATA_H

#include "cloud/cloud.h"

struct cloud_start { /* a task that was started for work inside this server */
    struct link link;
    struct task task;
    struct arena arena;
};

struct cloud {
    struct guest guest;
    struct cloud_options with;
    bool leads;
    bool awake;             /* that there are queues was told */
    int64_t next_ms;        /* when the first name may be used again; 0: not known */
    int64_t looked_mono_ms; /* shared: when that was asked last */
    /* What this batch brings, if it is committed: */
    struct {
        bool looked, awake;
        int64_t looked_mono_ms, next_ms, saved_ms;
        struct list starts; /* cloud_start.link */
    } draft;
};

struct wish {
    struct cloud *cloud;
    struct batch *batch;
    struct command *command;
    struct cloud_order *order;
    struct arena *arena; /* the command's */
    struct err *err;
};

/* The queue as it is, without keeping others from changing it. False: the store failed. */
MUST_CHECK bool cloud_find_queue(struct batch *batch, struct str name, bool *found,
                                 struct cloud_queue *out);
/* Notes when a record of a name falls due. */
void cloud_saved_name(struct cloud *cloud, int64_t due_ms);

typedef bool cloud_wish_fn(struct wish *wish);
cloud_wish_fn cloud_create_queue, cloud_get_queue, cloud_list_queues, cloud_patch_queue,
    cloud_pause_queue, cloud_resume_queue, cloud_purge_queue, cloud_delete_queue,
    cloud_forget_queue;                                             /* cloud_queues.c */
cloud_wish_fn cloud_create_task, cloud_delete_task, cloud_run_task; /* cloud_tasks.c */

/* cloud_tasks.c: a task ended, or is tried again by hand. */
void cloud_changed(struct guest *guest, struct batch *batch, const struct task *was,
                   const struct task *now);
void cloud_ending(struct guest *guest, struct batch *batch, struct task *task,
                  const struct task_error *error);

#endif
