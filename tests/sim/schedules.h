/* tests/sim/schedules.h: the world of schedules: what is known of them and of their history.
 *
 * Rules are such that their times can be told without the planner's code: so many times, so many
 * seconds apart. What the sim knows of a schedule and of an entry in its history is what stood on
 * the disk after the last batch, as with tasks.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_TESTS_SIM_SCHEDULES_H
#define ERRAND_TESTS_SIM_SCHEDULES_H

#include "guests.h"
#include "schedule/planner.h"

#define SCHEDULES_MAX 16
#define ENTRIES_MAX   500 /* of all histories together */
#define DAYS_MAX      64
#define USERS         2

struct rhythm { /* its times: `count` of them */
    int64_t start_ms, every_ms, count;
};
/* How many of them are after `after_ms`, and not after `upto_ms`. */
int64_t rhythm_count(const struct rhythm *rhythm, int64_t after_ms, int64_t upto_ms);

struct schedule_seen {
    int64_t version;
    enum schedule_status status;
    enum schedule_overlap overlap;
    enum schedule_misfire misfire;
    bool one_time;
    int64_t next_ms, wake_ms, jitter_ms, cursor_ms, due_ms;
    struct task_id last_run;
    unsigned delivery;
    struct rhythm rhythm;
};

struct planned {
    struct task_id id;
    struct schedule_seen seen, next; /* after the last batch, and after this one */
    bool gone, next_gone;
    size_t wishes;  /* that this batch granted */
    unsigned verbs; /* ... bits 1 << enum planner_verb */
    bool lost_line; /* nobody knows for whom its last run waited */
};

enum entry_kind { ENTRY_TIMED, ENTRY_BY_HAND, ENTRY_LEFT_OUT, ENTRY_WAKE_UP };

struct entry_seen {
    int64_t version;
    enum execution_status status;
    bool has_task, delivered;
    int64_t count, counted_ms, expires_ms;
    int reported[SCHEDULE_CHANNELS]; /* enum task_state of its delivery; -1: no word of it */
};

struct past { /* an entry in the history of a schedule */
    struct task_id id, schedule;
    enum entry_kind kind;
    int64_t occurrence_ms, created_ms;
    int user; /* -1: nobody's */
    struct entry_seen seen, next;
    bool gone, next_gone, is_new;
    bool beside; /* it may run beside others: its schedule let it, or it was retried by hand */
    size_t results, failures; /* notifications of the one and of the other */
    bool regretted;           /* its failure was told before, and that may be forgotten */
};

struct day { /* what a user's runs of one day cost together */
    int user;
    int64_t number;
    double sum;   /* as it must be */
    double found; /* as the record says */
    bool on_disk;
};

struct schedules {
    struct guests guests;
    struct zones *zones;
    struct planner *planner;
    struct guest *guest;
    bool leads;
    int64_t queries_max;
    size_t promised; /* runs that may come of what was wished */

    struct planned planned[SCHEDULES_MAX];
    size_t planned_count;
    struct past past[ENTRIES_MAX];
    size_t past_count;
    struct day days[DAYS_MAX];
    size_t days_count;
};

static inline struct schedules *schedules_of(const struct sim *sim)
{
    return HOLDER(sim->guests, struct schedules, guests);
}

extern const struct str schedules_users[USERS];

/* schedules_step.c */
extern const struct act schedules_acts[];
extern const size_t schedules_acts_count;

/* schedules_look.c */
struct planned *schedules_find(struct schedules *all, struct task_id id);
struct past *schedules_past(struct schedules *all, struct task_id id);
struct day *schedules_day(struct schedules *all, int user, int64_t at_ms);
void schedules_look(struct sim *sim);
void schedules_settle(struct sim *sim);

/* schedules_check.c */
void schedules_check(struct sim *sim);
void schedules_quiet(struct sim *sim);
void schedules_restart(struct sim *sim, bool kept);
/* schedules_usage.c */
void schedules_count_usage(struct sim *sim); /* the tasks of this batch, against the days' sums */

#endif
