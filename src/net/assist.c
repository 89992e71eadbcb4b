/* net/assist.c: a text on its way to its meaning. See assist.h.
 *
 * SPDX-License-Identifier: MIT */
#include "net/assist.h"

#include "base/mem.h"

static void tell(struct assist *assist, const char *step)
{
    if (assist->step != NULL) {
        assist->step(assist, step);
    }
}

static void read_english(struct assist *assist)
{
    struct assistant_job *job = &assist->job;
    assistant_read(&job->asked, job->arena, &job->said);
    assist->understood(assist);
}

void assist_begin(struct assist *assist)
{
    struct assistant_pool *pool = assist->call->api->parts.assistant;
    struct err busy = ERR_INIT;
    assist->job.sender = assist;
    if (pool == NULL || !assistant_pool_give(pool, &assist->job, &busy)) {
        read_english(assist);
    }
}

struct assistant_asked assist_asked(const struct call *call, struct str text, int64_t now_ms)
{
    const struct planner *planner = call->api->parts.planner;
    return (struct assistant_asked){.text = text,
                                    .now_ms = now_ms,
                                    .zones = planner_zones(planner),
                                    .limits = *planner_limits(planner)};
}

void assist_noted(struct assistant_note *note)
{
    struct assistant_job *job = note->job;
    struct assist *assist = job->sender;
    const char *step = note->step;
    mem_free(note);
    if (step != NULL) {
        tell(assist, step);
    } else if (job->away) {
        tell(assist, "the model is away: reading it as plain English");
        read_english(assist);
    } else {
        assist->understood(assist);
    }
}
