/* team/crew_seat.c: one seat: claims as a teammate, works, tells how it ended.
 *
 * A claim that waits names the queues of the teams that had room when it was made. When that has
 * changed it is told to stop and made again; what it may have got in between is worked on as ever.
 *
 * Thread: the seat's own.
 *
 * SPDX-License-Identifier: MIT */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "team/crew_data.h"

#define CLAIM_PAUSE_MS 200 /* before a claim that was refused is tried again */

static const struct str task_types[] = {{TEAM_TASK_TYPE, sizeof TEAM_TASK_TYPE - 1}};
static const struct str lead_types[] = {{TEAM_SPLIT_TYPE, sizeof TEAM_SPLIT_TYPE - 1},
                                        {TEAM_SYNTHESIS_TYPE, sizeof TEAM_SYNTHESIS_TYPE - 1}};

/* ---- Commands ---- */

static void take_answers(struct seat *seat)
{
    struct list answers;
    list_init(&answers);
    while (sem_wait(&seat->answered) != 0 && errno == EINTR) {
    }
    channel_take(&seat->answers, &answers);
    LIST_EACH(&answers, it)
    {
        list_remove(it);
        *(bool *)HOLDER(it, struct command, link)->sender = true;
    }
}

static void give(struct seat *seat, struct command *command, bool *answered)
{
    struct list commands;
    list_init(&commands);
    assert(command_is_from(command, BY_WORKER));
    *answered = false;
    command->reply_to = &seat->answers;
    command->sender = answered;
    list_append(&commands, &command->link);
    engine_give(seat->crew->engine, &commands);
}

void seat_ask(struct seat *seat, struct command *command)
{
    bool answered;
    give(seat, command, &answered);
    while (!answered) {
        take_answers(seat);
    }
}

/* ---- Claiming ---- */

static bool has_room(const struct crew_team *team, size_t as)
{
    return as == AS_LEAD || (as < team->mates && !team->busy[as]);
}

static bool is_claimed(const struct crew *crew, size_t as)
{
    for (size_t i = 0; i < CREW_SEATS; i++) {
        if (crew->seats[i].parked && crew->seats[i].as == as) {
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
        count += has_room(HOLDER(it, struct crew_team, link), as);
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

static void fill_claim(struct seat *seat)
{
    struct crew *crew = seat->crew;
    bool lead = seat->as == AS_LEAD;
    size_t count = 0;
    arena_clear(&seat->arena);
    struct str *queues = arena_array(&seat->arena, struct str, count_room(crew, seat->as));
    LIST_EACH(&crew->teams, it)
    {
        const struct crew_team *team = HOLDER(it, struct crew_team, link);
        if (has_room(team, seat->as)) {
            queues[count++] = arena_str(&seat->arena, team->queue);
        }
    }
    seat->claim = (struct command){
        .kind = COMMAND_CLAIM,
        .arena = &seat->arena,
        .claim = {.worker = lead ? STR("errand:team:lead")
                                 : arena_printf(&seat->arena, "errand:team:%zu", seat->as + 1),
                  .types = lead ? lead_types : task_types,
                  .types_count = lead ? ARRAY_LEN(lead_types) : ARRAY_LEN(task_types),
                  .queues = queues,
                  .queues_count = count,
                  .max = 1,
                  .wait = true,
                  .serial = ++crew->serial},
    };
    seat->version = crew->version;
}

/* Waits until there is something to claim. False: it is time to end. */
static bool begin_claim(struct seat *seat)
{
    struct crew *crew = seat->crew;
    bool found = false;
    pthread_mutex_lock(&crew->lock);
    while (!crew->quiet && !crew->stop && (seat->as = choose(crew)) == SIZE_MAX) {
        pthread_cond_wait(&crew->changed, &crew->lock);
    }
    found = !crew->quiet && !crew->stop;
    if (found) {
        fill_claim(seat);
        seat->parked = true;
    }
    pthread_mutex_unlock(&crew->lock);
    return found;
}

/* The teams have changed since it was made, or it is time to end: the answer comes at once then. */
static bool must_stop(struct seat *seat)
{
    struct crew *crew = seat->crew;
    pthread_mutex_lock(&crew->lock);
    bool stale = seat->version != crew->version || crew->quiet || crew->stop;
    pthread_mutex_unlock(&crew->lock);
    return stale;
}

/* The crew wakes a parked seat through its semaphore whenever its claim may be stale. */
static void wait_for_claim(struct seat *seat)
{
    bool claimed, stopped = true, stopping = false;
    give(seat, &seat->claim, &claimed);
    while (!claimed || !stopped) {
        if (!stopping && !claimed && must_stop(seat)) {
            stopping = true;
            seat->stop = (struct command){.kind = COMMAND_CLAIM_STOP,
                                          .arena = &seat->arena,
                                          .claim_stop = {.serial = seat->claim.claim.serial}};
            give(seat, &seat->stop, &stopped);
        }
        take_answers(seat);
    }
}

/* ---- Working ---- */

/* With the task the seat is that teammate. A seat was waiting for the lead's work, or for this
 * teammate's of other teams: somebody else may claim that now. */
static void sit_down(struct seat *seat, const struct task *task)
{
    struct crew *crew = seat->crew;
    pthread_mutex_lock(&crew->lock);
    seat->parked = false;
    if (task != NULL) {
        struct crew_team *team = crew_team(crew, task->team);
        seat->works = true;
        seat->team = task->team;
        seat->task = task->id;
        seat->attempt = task->attempt;
        if (crew->stop) {
            seat_tell(seat, TOLD_GIVE_BACK);
        }
        if (team != NULL && seat->as != AS_LEAD) {
            team->busy[seat->as] = true;
        }
    }
    pthread_cond_broadcast(&crew->changed);
    pthread_mutex_unlock(&crew->lock);
}

/* The teammate is free: whoever claims as it does not ask for this team yet. */
static void stand_up(struct seat *seat, struct task_id id)
{
    struct crew *crew = seat->crew;
    uint64_t count;
    pthread_mutex_lock(&crew->lock);
    struct crew_team *team = crew_team(crew, id);
    seat->works = false;
    seat->told = TOLD_NOTHING;
    while (read(seat->stop_fd, &count, sizeof count) > 0) {
    }
    if (team != NULL && seat->as != AS_LEAD) {
        team->busy[seat->as] = false;
        crew_changed(crew);
    }
    pthread_mutex_unlock(&crew->lock);
}

static enum seat_told told(struct seat *seat)
{
    pthread_mutex_lock(&seat->crew->lock);
    enum seat_told why = seat->told;
    pthread_mutex_unlock(&seat->crew->lock);
    return why;
}

static enum task_outcome outcome_of(struct seat *seat, const struct work_end *end)
{
    enum seat_told why = told(seat);
    return why == TOLD_TIMEOUT     ? OUTCOME_TIMEOUT
           : end->completed        ? OUTCOME_COMPLETED
           : why == TOLD_CANCEL    ? OUTCOME_CANCELLED
           : why == TOLD_GIVE_BACK ? OUTCOME_RELEASED
                                   : OUTCOME_FAILED;
}

/* What attempts before this one have cost is not forgotten. */
static struct task_cost cost_of(const struct task_cost *before, const struct llm_cost *cost)
{
    return (struct task_cost){.estimated = before->estimated,
                              .actual = MAX(before->actual, 0) + (double)cost->queries,
                              .tokens = MAX(before->tokens, 0) + (double)cost->total_tokens};
}

static void tell_end(struct seat *seat, const struct task *task, const struct work_end *end)
{
    struct finish finish = {.id = task->id,
                            .lease = {task->attempt, task->token},
                            .outcome = outcome_of(seat, end),
                            .cost = cost_of(&task->cost, &end->cost)};
    struct command command = {
        .kind = COMMAND_FINISH, .arena = &seat->arena, .finish = {.items = &finish, .count = 1}};
    if (finish.outcome == OUTCOME_COMPLETED) {
        finish.result = end->result;
    } else if (finish.outcome == OUTCOME_FAILED) {
        finish.retry = end->retry;
        finish.retry_after_ms = end->cost.retry_after_ms;
        finish.error =
            (struct task_error){.code = str_of(end->code), .message = str_of(end->err.text)};
    }
    do {
        command.err = ERR_INIT;
        seat_ask(seat, &command);
    } while (command.err.kind == ERR_UNAVAILABLE && told(seat) != TOLD_GIVE_BACK &&
             usleep(CLAIM_PAUSE_MS * 1000) == 0);
}

static void work(struct seat *seat)
{
    const struct command_claim *claim = &seat->claim.claim;
    const struct task *task = claim->count == 0 ? NULL : &claim->tasks[0];
    sit_down(seat, task);
    if (task == NULL) {
        return;
    }
    struct work_end end = {.code = "failed"};
    struct work work = {.seat = seat,
                        .task = task,
                        .facts = &claim->facts[0],
                        .mate = seat->as,
                        .arena = &seat->arena};
    struct task_id team = task->team;
    work_do(&work, &end);
    tell_end(seat, task, &end);
    stand_up(seat, team);
}

/* ---- Life ---- */

static void rest(struct crew *crew)
{
    pthread_mutex_lock(&crew->lock);
    bool last = ++crew->resting == CREW_SEATS;
    pthread_cond_broadcast(&crew->changed);
    pthread_mutex_unlock(&crew->lock);
    if (last && crew->with.rested != NULL) {
        crew->with.rested(crew->with.rested_arg);
    }
}

void *seat_run(void *arg)
{
    struct seat *seat = arg;
    char name[16];
    snprintf(name, sizeof name, "team %zu", seat->number + 1);
    pthread_setname_np(pthread_self(), name);
    while (begin_claim(seat)) {
        wait_for_claim(seat);
        if (seat->claim.err.kind != ERR_NONE) {
            sit_down(seat, NULL);
            usleep(CLAIM_PAUSE_MS * 1000);
        } else {
            work(seat);
        }
    }
    rest(seat->crew);
    return NULL;
}
