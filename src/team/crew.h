/* team/crew.h: teammates inside the server: they take a team's tasks and ask the language model.
 *
 * A few seats, each a thread, serve all teams that run. A seat that is free claims as one of the
 * teammates (the second, say) of every team whose second teammate is idle; with the task it is that
 * teammate until the task has ended. So a team never has more tasks under way in here than it has
 * teammates, and one task each. What the lead itself must do, the split and the synthesis, is taken
 * by whoever is free. In a fleet only the leader's crew works.
 *
 * Start: crew_new(), lead_set_crew() with crew_of(), the engine, crew_start(). Stop: crew_quiet(),
 * crew_stop(), the engine, crew_free().
 *
 * Thread: any; the seats have their own.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_TEAM_CREW_H
#define ERRAND_TEAM_CREW_H

#include "client/llm.h"
#include "team/lead.h"

#define CREW_SEATS 8 /* questions to the model under way at once, of all teams */

struct crew;

struct crew_options {
    const struct llm_options *llm; /* borrowed */
    int64_t grace_ms;
    void (*rested)(void *arg); /* on a seat's thread: quiet, and nothing runs */
    void *rested_arg;
};

struct crew *crew_new(const struct crew_options *options);
struct lead_crew crew_of(struct crew *crew); /* how the lead speaks to it */
MUST_CHECK bool crew_start(struct crew *crew, struct lead *lead, struct engine *engine,
                           struct err *err);

/* For engine_host.abort. Attempts of others are passed over. */
void crew_abort(struct crew *crew, struct task_id id, int32_t attempt, enum abort_why why);

/* No more claims. What runs may finish within the grace period and is then given back. */
void crew_quiet(struct crew *crew);
void crew_stop(struct crew *crew); /* gives back what still runs, at once, and waits for it */
void crew_free(struct crew *crew); /* after the engine has ended; NULL is welcome */

#endif
