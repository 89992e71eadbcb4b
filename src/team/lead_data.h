/* team/lead_data.h: what the files of the lead share and nobody else sees.
 *
 * Thread: engine.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_TEAM_LEAD_DATA_H
#define ERRAND_TEAM_LEAD_DATA_H

#include "team/lead.h"

#define EXPIRE_CHUNK 100

struct lead {
    struct guest guest;
    struct lead_options with;
    bool leads, knows; /* the running teams were told to the crew */
    int64_t next_ms;   /* when the first team goes; 0: not known yet */
    int64_t looked_mono_ms;
    struct lead_figures figures;

    struct { /* what becomes true when the batch is committed */
        bool acted, knows;
        int64_t next_ms, saved_ms; /* as the store said; the earliest that this batch saved */
        int64_t mono_ms;
        struct list news; /* team_news.link */
        struct lead_figures figures;
    } draft;
};

/* ---- lead.c ---- */

MUST_CHECK bool lead_load(struct batch *batch, struct task_id id, bool *found, struct team *out);
/* Saves; a team that somebody else changed meanwhile loses the batch. */
MUST_CHECK bool lead_save(struct lead *lead, struct batch *batch, struct team *team);
MUST_CHECK bool lead_remove(struct batch *batch, struct task_id id);
void lead_tell(struct batch *batch, const struct team *team, const char *name, struct str json);
void lead_news(struct lead *lead, const struct team *team, enum team_news_kind kind);

/* ---- lead_tasks.c ---- */

/* Creates the tasks of the split, and that of the synthesis where a model decides; without tasks
 * the one that splits. With them, the first time, what has or waits for the team's document. */
MUST_CHECK bool lead_create_tasks(struct batch *batch, struct team *team, struct err *err);
/* The document is given on, as soon as nobody of the team works on it any more. */
void lead_release_document(struct batch *batch, struct task_id hold, struct str reason);
void lead_cancel_tasks(struct batch *batch, const struct team *team, struct str reason);

/* ---- lead_follow.c ---- */

void lead_changed(struct guest *guest, struct batch *batch, const struct task *was,
                  const struct task *now);
/* The team has come to its end: saved, told, what is left of its work cancelled. */
void lead_end(struct lead *lead, struct batch *batch, struct team *team, enum team_status status,
              struct str reason);

/* ---- lead_command.c ---- */

void lead_broadcast_result(struct batch *batch, const struct team *team, size_t place,
                           const struct task *task);

#endif
