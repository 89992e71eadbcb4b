/* schedule/planner_data.h: what the files of the planner share and nobody else sees.
 *
 * Thread: engine.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_SCHEDULE_PLANNER_DATA_H
#define ERRAND_SCHEDULE_PLANNER_DATA_H

#include "schedule/planner.h"

#define SURVEY_CHUNK    100 /* schedules looked at in one batch when zone data may have changed */
#define SURVEY_PAUSE_MS 10
#define EXPIRE_CHUNK    100
#define CLEAR_CHUNK     500 /* entries of a removed schedule's history that go in one batch */
#define CLEAR_PAUSE_MS  10
#define CLEAR_LOOK_MS   MINUTE_MS /* a shared store: another node may have removed one */

/* Where the walk through all schedules stands, in search of old zone data. */
struct survey {
    bool under_way;
    struct task_id after;
    int64_t at_mono_ms; /* the next chunk */
};

struct planner {
    struct guest guest;
    struct planner_options with;
    bool leads;

    int64_t next_ms;   /* when the first schedule is due; 0: not known yet */
    int64_t expire_ms; /* when the first execution is; 0: not known yet */
    size_t due_most;   /* schedules that the next batch takes on */
    int64_t looked_mono_ms;
    uint64_t zones_stamp;
    int64_t zones_at_mono_ms; /* when to look at the zone data again */
    struct survey survey;
    int64_t clear_at_mono_ms; /* when to go on with what removed schedules left; NEVER: nothing */

    struct { /* what becomes true when the batch is committed */
        bool acted;
        int64_t next_ms, expire_ms; /* as the store said; NEVER_MS: none */
        int64_t due_ms, gone_ms;    /* the earliest that this batch saved itself */
        int64_t mono_ms;
        struct survey survey;
        bool surveyed, cleared;
        int64_t clear_at_mono_ms;
    } draft;
};

/* ---- planner.c ---- */

void planner_saved(struct planner *planner, const struct record *record); /* notes when it is due */
/* Saves; a schedule that somebody else changed meanwhile loses the batch. */
bool planner_save(struct planner *planner, struct batch *batch, const struct record *records,
                  size_t count);
bool planner_load_schedule(struct batch *batch, struct task_id id, bool *found,
                           struct schedule *out);

/* ---- planner_fire.c: what is to be written in one batch ---- */

struct firing { /* one schedule that is acted on */
    struct schedule *schedule;
    struct plan plan;
    bool last_open;      /* its last run has not ended */
    bool last_here;      /* that run was created in this very batch: nothing can wait for it yet */
    bool put_off;        /* nothing is done to it now */
    size_t first, count; /* its entries */
};

struct entry { /* one execution to be written */
    struct execution execution;
    struct firing *firing;
    bool run;     /* it creates a task */
    bool waits;   /* that waits for the run before it */
    bool applied; /* its key was free */
    struct str chat, purpose;
    struct order *order;
};

struct round {
    struct planner *planner;
    struct batch *batch;
    struct tx *tx;
    struct arena *arena;
    int64_t now_ms;
    const struct zone *zone; /* of the last schedule; NULL: none yet */
    struct entry *entries;
    size_t count, room;
};

void round_begin(struct round *round, struct planner *planner, struct batch *batch);

/* Whether its last run has ended, for each. */
bool round_look_back(struct round *round, struct firing **firings, size_t count);

/* The verbs add entries and change the schedule; nothing is written yet. */
void firing_due(struct round *round, struct firing *firing); /* what its times and rules ask for */
struct entry *firing_add(struct round *round, struct firing *firing, enum execution_status status,
                         int64_t occurrence_ms);
struct entry *firing_run(struct round *round, struct firing *firing, int64_t occurrence_ms,
                         bool waits);
/* The same for an occurrence, which nobody may run again. */
struct entry *firing_run_once(struct round *round, struct firing *firing, int64_t occurrence_ms,
                              bool waits);
void firing_cancel_last(struct round *round, const struct firing *firing);
void firing_wake(struct round *round, struct firing *firing, int64_t at_ms);
void firing_plan(struct round *round, struct firing *firing); /* its next time, or its end */

/* Writes executions, tasks and schedules. False: the batch is over. */
bool round_write(struct round *round, struct firing **firings, size_t count);

/* ---- planner_task.c ---- */

/* Creates the tasks of the runs that were applied. */
bool round_create_tasks(struct round *round, struct firing *firing);

/* ---- planner_end.c ---- */

void planner_changed(struct guest *guest, struct batch *batch, const struct task *was,
                     const struct task *now);
void planner_progressed(struct guest *guest, struct batch *batch, const struct task *now);
int64_t planner_expiry_ms(const struct planner *planner, int64_t now_ms); /* 0: never */

/* ---- planner_command.c ---- */

void planner_decide(struct guest *guest, struct batch *batch, struct command *command);

/* ---- planner_clear.c: the history of schedules that were removed ---- */

/* Its first entries; the rest goes in later batches. False: the batch is over. */
bool clear_begin(struct planner *planner, struct batch *batch, const struct schedule *schedule);
void clear_step(struct planner *planner, struct batch *batch);

/* ---- planner_survey.c ---- */

void survey_begin(struct planner *planner, struct now now);
void survey_step(struct planner *planner, struct batch *batch);

#endif
