/* work/crew.c: the crew's executor: which teams run, and who claims as which teammate. See crew.h.
 *
 * A claim that waits names the queues of the teams that had room when it was made. When that has
 * changed it is withdrawn and made again; what it may have got in between is worked on as ever.
 *
 * Thread: the workers'.
 *
 * SPDX-License-Identifier: MIT */
#include "work/crew.h"

#include <stdio.h>

#include "base/mem.h"
#include "work/function.h"

static const struct str task_types[] = {{TEAM_TASK_TYPE, sizeof TEAM_TASK_TYPE - 1}};
static const struct str lead_types[] = {{TEAM_SPLIT_TYPE, sizeof TEAM_SPLIT_TYPE - 1},
                                        {TEAM_SYNTHESIS_TYPE, sizeof TEAM_SYNTHESIS_TYPE - 1}};

/* ---- Teams ---- */

void crew_changed(struct crew *crew)
{
    for (size_t i = 0; i < CREW_SEATS; i++) {
        claimer_withdraw(crew->seats[i].claimer);
    }
}

static struct crew_team *find_team(const struct crew *crew, struct task_id id)
{
    LIST_EACH(&crew->teams, it)
    {
        struct crew_team *team = HOLDER(it, struct crew_team, link);
        if (id_eq(team->id, id)) {
            return team;
        }
    }
    return NULL;
}

static void forget(struct crew_team *team)
{
    list_remove(&team->link);
    mem_free(team);
}

void crew_hear(struct crew *crew, const struct team_news *news)
{
    struct crew_team *team = find_team(crew, news->team);
    if (news->kind == TEAM_LEADS || news->kind == TEAM_FOLLOWS) {
        /* What a new leader is told of is all there is; an old one has nothing to do with it any
         * more. */
        crew->leads = news->kind == TEAM_LEADS;
        LIST_EACH(&crew->teams, it)
        {
            forget(HOLDER(it, struct crew_team, link));
        }
    } else if (news->kind == TEAM_BEGAN && team == NULL) {
        team = mem_new(struct crew_team);
        team->id = news->team;
        team->mates = MIN(news->mates, (size_t)TEAM_MATES_MAX);
        memcpy(team->queue, news->queue, sizeof team->queue);
        list_append(&crew->teams, &team->link);
    } else if (news->kind == TEAM_ENDED && team != NULL) {
        forget(team);
    } else {
        return; /* it was known */
    }
    crew_changed(crew);
}

/* ---- What is claimed ---- */

static bool has_room(const struct crew *crew, const struct crew_team *team, size_t as)
{
    if (as == AS_LEAD) {
        return true;
    }
    for (size_t i = 0; i < CREW_SEATS; i++) {
        const struct seat *seat = &crew->seats[i];
        if (seat->claimer->held > 0 && seat->as == as && id_eq(seat->task.team, team->id)) {
            return false; /* that teammate is at work */
        }
    }
    return as < team->mates;
}

static bool is_claimed(const struct crew *crew, size_t as)
{
    for (size_t i = 0; i < CREW_SEATS; i++) {
        if (crew->seats[i].claimer->asked && crew->seats[i].as == as) {
            return true;
        }
    }
    return false;
}

static size_t count_room(const struct crew *crew, size_t as)
{
    size_t count = 0;
    LIST_EACH(&crew->teams, it)
    {
        count += has_room(crew, HOLDER(it, struct crew_team, link), as);
    }
    return count;
}

/* The lead's own work first, then the first teammate that nobody claims as; SIZE_MAX: none. */
static size_t choose(const struct crew *crew)
{
    if (!crew->leads || list_empty(&crew->teams)) {
        return SIZE_MAX;
    }
    if (!is_claimed(crew, AS_LEAD)) {
        return AS_LEAD;
    }
    for (size_t as = 0; as < TEAM_MATES_MAX; as++) {
        if (!is_claimed(crew, as) && count_room(crew, as) > 0) {
            return as;
        }
    }
    return SIZE_MAX;
}

static bool wants(struct claimer *claimer, struct command_claim *claim)
{
    struct crew *crew = claimer->work->crew;
    struct seat *seat = &crew->seats[claimer->number - 1];
    size_t as = claimer->held > 0 ? SIZE_MAX : choose(crew), count = 0;
    if (as == SIZE_MAX) {
        return false;
    }
    struct str *queues = arena_array(&claimer->arena, struct str, count_room(crew, as));
    LIST_EACH(&crew->teams, it)
    {
        const struct crew_team *team = HOLDER(it, struct crew_team, link);
        if (has_room(crew, team, as)) {
            queues[count++] = arena_str(&claimer->arena, str_of(team->queue));
        }
    }
    bool lead = as == AS_LEAD;
    seat->as = as;
    claim->worker =
        lead ? STR("errand:team:lead") : arena_printf(&claimer->arena, "errand:team:%zu", as + 1);
    claim->types = lead ? lead_types : task_types;
    claim->types_count = lead ? ARRAY_LEN(lead_types) : ARRAY_LEN(task_types);
    claim->queues = queues;
    claim->queues_count = count;
    claim->any_queue = false;
    claim->max = 1;
    return true;
}

/* ---- Working ---- */

static struct claim_facts copy_facts(const struct claim_facts *facts, struct arena *arena)
{
    size_t count = facts->dependencies_count;
    struct claim_facts copy = {.dependencies = arena_array(arena, struct task_dependency, count),
                               .dependencies_count = count};
    for (size_t i = 0; i < count; i++) {
        copy.dependencies[i] = facts->dependencies[i];
        copy.dependencies[i].result = arena_str(arena, facts->dependencies[i].result);
    }
    return copy;
}

/* With the task the seat is that teammate. It was waiting for the lead's work, or for this
 * teammate's of other teams too: somebody else may claim that now. */
static void start(struct job *job)
{
    struct crew *crew = job->claimer->work->crew;
    struct seat *seat = &crew->seats[job->claimer->number - 1];
    const struct command_claim *claim = &job->claimer->claim.claim;
    seat->task = job->task;
    seat->facts = copy_facts(&claim->facts[job->claimed - claim->tasks], &job->arena);
    job->handler = &seat->handler;
    for (size_t i = 0; i < CREW_SEATS; i++) {
        claimer_look(crew->seats[i].claimer);
    }
    function_start(job);
}

/* It needs no force: whoever asks the model stops as soon as it is asked to. */
const struct executor by_mate = {.wants = wants, .start = start, .abort = function_abort};

/* ---- Life ---- */

static void wake_seat(void *arg)
{
    sem_post(&((struct seat *)arg)->answered);
}

bool crew_open(struct workforce *work, const struct workforce_options *options,
               struct claimer *claimers, struct err *err)
{
    struct crew *crew = work->crew = arena_new(&work->arena, struct crew);
    crew->engine = options->engine;
    crew->lead = options->lead;
    list_init(&crew->teams);
    for (size_t i = 0; i < CREW_SEATS; i++) {
        struct seat *seat = &crew->seats[i];
        seat->crew = crew;
        seat->claimer = &claimers[i];
        seat->service = (struct service){.run = crew_work, .arg = seat};
        seat->handler = (struct handler){.by = &by_mate, .service = &seat->service};
        sem_init(&seat->answered, 0, 0);
        channel_init(&seat->answers, wake_seat, seat);
    }
    for (size_t i = 0; i < CREW_SEATS; i++) {
        if (!llm_open(options->llm, &crew->seats[i].llm, err)) {
            return false;
        }
    }
    return true;
}

void crew_close(struct crew *crew)
{
    if (crew == NULL) {
        return;
    }
    for (size_t i = 0; i < CREW_SEATS; i++) {
        llm_close(crew->seats[i].llm);
        channel_fini(&crew->seats[i].answers);
        sem_destroy(&crew->seats[i].answered);
    }
    LIST_EACH(&crew->teams, it)
    {
        forget(HOLDER(it, struct crew_team, link));
    }
}
