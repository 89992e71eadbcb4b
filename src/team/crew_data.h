/* team/crew_data.h: what the files of the crew share and nobody else sees.
 *
 * Thread: a seat belongs to its thread, but for what the crew's lock guards.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_TEAM_CREW_DATA_H
#define ERRAND_TEAM_CREW_DATA_H

#include <pthread.h>
#include <semaphore.h>

#include "base/channel.h"
#include "team/crew.h"

#define AS_LEAD TEAM_MATES_MAX /* the place of the lead's own work, behind all teammates */

/* A team that runs. */
struct crew_team {
    struct link link;
    struct task_id id;
    struct str queue; /* owned */
    size_t mates;
    bool busy[TEAM_MATES_MAX];
};

enum seat_told { TOLD_NOTHING, TOLD_CANCEL, TOLD_TIMEOUT, TOLD_GIVE_BACK };

struct seat {
    struct crew *crew;
    size_t number;
    pthread_t thread;
    struct channel answers;
    sem_t answered;
    struct llm *llm;
    struct arena arena; /* of the claim and the task */
    struct command claim, stop;

    /* Guarded by the crew's lock: */
    bool parked;      /* its claim is with the engine */
    size_t as;        /* which teammate it claims or works as; AS_LEAD */
    uint64_t version; /* of the teams, when the claim was made */
    bool works;
    struct task_id team, task;
    int32_t attempt;
    enum seat_told told;
    int stop_fd; /* readable once it should stop */
};

struct crew {
    struct crew_options with;
    struct lead *lead;
    struct engine *engine;
    pthread_mutex_t lock; /* guards the teams, and what says so above */
    pthread_cond_t changed;
    struct list teams;
    uint64_t version, serial;
    bool leads, quiet, stop;
    size_t resting; /* seats that have ended */
    struct seat seats[CREW_SEATS];
    size_t started;  /* threads: the watch, then the seats; the starter's alone */
    pthread_t watch; /* gives back what did not finish within the grace period */
};

/* ---- crew.c: both under the lock ---- */

void crew_changed(struct crew *crew);
void seat_tell(struct seat *seat, enum seat_told why); /* what it does should stop */
struct crew_team *crew_team(const struct crew *crew, struct task_id id); /* NULL: it is over */

/* ---- crew_seat.c ---- */

void *seat_run(void *seat);
/* Gives a command and waits for its answer. */
void seat_ask(struct seat *seat, struct command *command);

/* ---- crew_work.c ---- */

struct work {
    struct seat *seat;
    const struct task *task;
    const struct claim_facts *facts;
    struct team team;
    size_t mate; /* AS_LEAD: none */
    struct arena *arena;
};

struct work_end {
    bool completed;
    struct str result; /* JSON */
    struct err err;    /* when not completed; its kind says whether to try again */
    const char *code;
    bool retry;
    struct llm_cost cost;
};

void work_do(struct work *work, struct work_end *end);

/* ---- crew_words.c: what the model is told ---- */

struct str words_of_role(const struct work *work, struct arena *arena);
struct str words_of_task(const struct work *work, const struct team_message *mail, size_t count,
                         struct arena *arena);
struct str words_of_split(const struct work *work, struct arena *arena);
struct str words_of_synthesis(const struct work *work, struct arena *arena);
extern const char split_schema[];

#endif
