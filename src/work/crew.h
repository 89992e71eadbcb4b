/* work/crew.h: teammates inside the server: they take a team's tasks and ask the language model.
 *
 * A few seats, each a claimer with a thread, serve all teams that run. A seat that is free claims
 * as one of the teammates (the second, say) of every team whose second teammate is idle; with the
 * task it is that teammate until the task has ended. So a team never has more tasks under way in
 * here than it has teammates, and one task each. What the lead itself must do, the split and the
 * synthesis, is taken by whoever is free. In a fleet only the leader's crew works.
 *
 * Thread: the workers', but for crew_work.c, which is a seat's.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_WORK_CREW_H
#define ERRAND_WORK_CREW_H

#include "client/llm.h"
#include "team/lead.h"
#include "work/loop.h"

#define AS_LEAD TEAM_MATES_MAX /* the place of the lead's own work, behind all teammates */

/* A team that runs. */
struct crew_team {
    struct link link;
    struct task_id id;
    char queue[TEAM_QUEUE_MAX];
    size_t mates;
};

struct seat {
    struct crew *crew;
    struct claimer *claimer;
    struct service service; /* crew_work(), with this seat */
    struct handler handler;
    struct llm *llm;
    struct channel answers; /* to what it asks the engine while it works */
    sem_t answered;
    size_t as; /* which teammate it claims or works as; AS_LEAD */
    /* Constant while it works: */
    struct task task;
    struct claim_facts facts;
};

struct crew {
    struct engine *engine;
    struct lead *lead;
    struct list teams;
    bool leads;
    struct seat seats[CREW_SEATS];
};

/* Who works for teams has changed, or which teams there are: parked claims ask for the wrong ones.
 */
void crew_changed(struct crew *crew);
void crew_hear(struct crew *crew, const struct team_news *news);

/* crew_work.c: one task, done with the language model; blocks for as long as the model thinks. */
void crew_work(void *seat, const struct service_call *call, struct service_end *end);

#endif
