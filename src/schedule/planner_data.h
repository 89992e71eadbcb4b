/* schedule/planner_data.h: the planner's memory, and what its files share and nobody else sees.
 *
 * Thread: engine.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_SCHEDULE_PLANNER_DATA_H
#define ERRAND_SCHEDULE_PLANNER_DATA_H

#include "schedule/planner.h"
#include "schedule/usage.h"

#define PLANNER_NEVER INT64_MAX
#define PLANNER_LINE  8 /* runs in line that the next one minds, besides the last */

/* Where the walk through all schedules stands, in search of old zone data. */
struct survey {
    bool under_way;
    struct task_id after;
    int64_t at_mono_ms; /* the next chunk */
};

struct planner {
    struct guest guest;
    struct planner_options with;
    struct usage_limit limit;
    bool leads;
    struct planner_figures figures;

    int64_t next_ms;      /* when the first schedule is due; 0: not known yet */
    int64_t expire_ms;    /* when the first execution is; 0: not known yet */
    int64_t expire_at_ms; /* when to look for old notifications and costs; 0: at once */
    size_t due_most;      /* schedules that the next batch takes on */
    int64_t looked_mono_ms;
    uint64_t zones_stamp;
    int64_t zones_at_mono_ms; /* when to look at the zone data again */
    struct survey survey;
    int64_t clear_at_mono_ms; /* when to go on with what removed schedules left */

    struct { /* what becomes true when the batch is committed */
        bool acted;
        int64_t next_ms, expire_ms; /* as the store said; PLANNER_NEVER: none */
        int64_t due_ms, gone_ms;    /* the earliest that this batch saved itself */
        int64_t mono_ms;
        int64_t expire_at_ms; /* 0: not looked */
        struct survey survey;
        bool surveyed, cleared;
        int64_t clear_at_mono_ms;
        struct planner_figures figures;
    } draft;
};

/* ---- planner.c ---- */

int64_t planner_until(int64_t at_ms, int64_t now_ms); /* 0: it is over; PLANNER_NEVER stays */
/* Notes when it is due, and tells whoever follows schedules. */
void planner_saved(struct planner *planner, struct batch *batch, const struct record *record);
/* Saves; a record that somebody else changed meanwhile loses the batch. */
bool planner_save(struct planner *planner, struct batch *batch, const struct record *records,
                  size_t count);
/* False: the batch is over. */
bool planner_load_schedule(struct batch *batch, struct task_id id, bool *found,
                           struct schedule *out);

/* ---- planner_fire.c: what is to be written in one batch ---- */

struct firing { /* one schedule that is acted on */
    struct schedule *schedule;
    struct plan plan;
    bool last_open; /* its last run has not ended */
    bool last_here; /* that run was created in this very batch: nothing can wait for it yet */
    struct task_id before[PLANNER_LINE]; /* runs before that one that have not ended either */
    size_t before_count;
    bool put_off;        /* nothing is done to it now */
    size_t first, count; /* its entries */
};

/* Whether a run of it has not ended that the next one must mind. */
static inline bool firing_is_open(const struct firing *firing)
{
    return firing->last_open || firing->before_count > 0;
}

struct entry { /* one execution to be written */
    struct execution execution;
    struct firing *firing;
    bool run;     /* it creates a task */
    bool timed;   /* its rule asked for it now: how late it is counts */
    bool missed;  /* left out since nobody could run it; else because of the run before it */
    bool waits;   /* that waits for the run before it */
    bool applied; /* its key was free */
    struct str chat, purpose;
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

/* Whether the runs before have ended, for each. */
bool round_look_back(struct round *round, struct firing **firings, size_t count);

/* The verbs add entries and change the schedule; nothing is written yet. */
void firing_due(struct round *round, struct firing *firing); /* what its times and rules ask for */
struct entry *firing_run(struct round *round, struct firing *firing, int64_t occurrence_ms,
                         bool waits);
/* The same for an occurrence, which nobody may run again. */
struct entry *firing_run_once(struct round *round, struct firing *firing, int64_t occurrence_ms,
                              bool waits);
void firing_cancel_last(struct round *round, const struct firing *firing);
void firing_wake(struct round *round, struct firing *firing, int64_t at_ms);

/* Writes executions, tasks and schedules. False: the batch is over. */
bool round_write(struct round *round, struct firing **firings, size_t count);

/* ---- planner_end.c ---- */

void planner_changed(struct guest *guest, struct batch *batch, const struct task *was,
                     const struct task *now);
void planner_progressed(struct guest *guest, struct batch *batch, const struct task *now);
bool planner_may_revive(struct guest *guest, struct batch *batch, const struct task *task,
                        struct err *err);
int64_t planner_expiry_ms(const struct planner *planner, int64_t now_ms); /* 0: never */

/* ---- planner_upkeep.c: what is old goes, and zone data that changed is looked at ---- */

void upkeep_act(struct planner *planner, struct batch *batch);
int64_t upkeep_due_in_ms(const struct planner *planner, struct now now);
/* Removes the first entries of a removed schedule's history; the rest goes in later batches. False:
 * the batch is over. */
bool upkeep_clear_history(struct planner *planner, struct batch *batch, struct task_id schedule);

#endif
