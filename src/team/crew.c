/* team/crew.c: the crew as a whole: which teams run, when to stop. See crew.h.
 *
 * Thread: any; the lock guards what the seats share.
 *
 * SPDX-License-Identifier: MIT */
#include "team/crew.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "team/crew_data.h"

#define CREW_SERIALS (UINT64_C(3) << 62) /* nobody else's claims have these numbers */

/* ---- Teams ---- */

/* Parked claims do not ask for what has changed: their seats look again. */
void crew_changed(struct crew *crew)
{
    crew->version++;
    for (size_t i = 0; i < CREW_SEATS; i++) {
        if (crew->seats[i].parked) {
            sem_post(&crew->seats[i].answered);
        }
    }
    pthread_cond_broadcast(&crew->changed);
}

struct crew_team *crew_team(const struct crew *crew, struct task_id id)
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

/* Who led before may have work of that team under way. */
static void note_busy(const struct crew *crew, struct crew_team *team)
{
    for (size_t i = 0; i < CREW_SEATS; i++) {
        const struct seat *seat = &crew->seats[i];
        if (seat->works && id_eq(seat->team, team->id) && seat->as < TEAM_MATES_MAX) {
            team->busy[seat->as] = true;
        }
    }
}

static void on_began(void *arg, struct task_id id, struct str queue, size_t mates)
{
    struct crew *crew = arg;
    pthread_mutex_lock(&crew->lock);
    if (crew_team(crew, id) == NULL) {
        struct crew_team *team = mem_new(struct crew_team);
        team->id = id;
        team->queue = (struct str){mem_text(queue.ptr, queue.len), queue.len};
        team->mates = MIN(mates, (size_t)TEAM_MATES_MAX);
        note_busy(crew, team);
        list_append(&crew->teams, &team->link);
        crew_changed(crew);
    }
    pthread_mutex_unlock(&crew->lock);
}

static void forget(struct crew_team *team)
{
    list_remove(&team->link);
    mem_free((char *)team->queue.ptr);
    mem_free(team);
}

static void on_ended(void *arg, struct task_id id)
{
    struct crew *crew = arg;
    pthread_mutex_lock(&crew->lock);
    struct crew_team *team = crew_team(crew, id);
    if (team != NULL) {
        forget(team);
        crew_changed(crew);
    }
    pthread_mutex_unlock(&crew->lock);
}

/* What a new leader is told of is all there is; an old one has nothing to do with it any more. */
static void on_leads(void *arg, bool leads)
{
    struct crew *crew = arg;
    pthread_mutex_lock(&crew->lock);
    crew->leads = leads;
    LIST_EACH(&crew->teams, it)
    {
        forget(HOLDER(it, struct crew_team, link));
    }
    crew_changed(crew);
    pthread_mutex_unlock(&crew->lock);
}

struct lead_crew crew_of(struct crew *crew)
{
    return (struct lead_crew){.arg = crew, .began = on_began, .ended = on_ended, .leads = on_leads};
}

/* ---- Stopping ---- */

void seat_tell(struct seat *seat, enum seat_told why)
{
    uint64_t one = 1;
    if (seat->works && (seat->told == TOLD_NOTHING || why == TOLD_TIMEOUT)) {
        seat->told = why;
        while (write(seat->stop_fd, &one, sizeof one) < 0 && errno == EINTR) {
        }
    }
}

void crew_abort(struct crew *crew, struct task_id id, int32_t attempt, enum abort_why why)
{
    static const enum seat_told told[] = {[ABORT_CANCEL] = TOLD_CANCEL,
                                          [ABORT_TIMEOUT] = TOLD_TIMEOUT,
                                          [ABORT_LOST] = TOLD_GIVE_BACK};
    pthread_mutex_lock(&crew->lock);
    for (size_t i = 0; i < CREW_SEATS; i++) {
        struct seat *seat = &crew->seats[i];
        if (id_eq(seat->task, id) && seat->attempt == attempt) {
            seat_tell(seat, told[why]);
        }
    }
    pthread_mutex_unlock(&crew->lock);
}

/* Sleeps until the seats have ended or the grace is over, then has the rest given back. */
static void *watch(void *arg)
{
    struct crew *crew = arg;
    pthread_mutex_lock(&crew->lock);
    while (!crew->quiet && !crew->stop) {
        pthread_cond_wait(&crew->changed, &crew->lock);
    }
    int64_t until_us = clock_real_mono_us() + crew->with.grace_ms * 1000;
    struct timespec until = {until_us / 1000000, until_us % 1000000 * 1000};
    int late = 0;
    while (crew->resting < CREW_SEATS && !crew->stop && late == 0) {
        late = pthread_cond_timedwait(&crew->changed, &crew->lock, &until);
    }
    for (size_t i = 0; i < CREW_SEATS; i++) {
        seat_tell(&crew->seats[i], TOLD_GIVE_BACK);
    }
    pthread_mutex_unlock(&crew->lock);
    return NULL;
}

static void end(struct crew *crew, bool at_once)
{
    pthread_mutex_lock(&crew->lock);
    crew->quiet = true;
    crew->stop = crew->stop || at_once;
    crew_changed(crew);
    pthread_mutex_unlock(&crew->lock);
}

void crew_quiet(struct crew *crew)
{
    end(crew, false);
}

void crew_stop(struct crew *crew)
{
    if (crew == NULL || crew->started == 0) {
        return;
    }
    end(crew, true);
    pthread_join(crew->watch, NULL);
    for (size_t i = 0; i + 1 < crew->started; i++) {
        pthread_join(crew->seats[i].thread, NULL);
    }
    crew->started = 0;
}

/* ---- Life ---- */

static void wake_seat(void *arg)
{
    sem_post(&((struct seat *)arg)->answered);
}

struct crew *crew_new(const struct crew_options *options)
{
    struct crew *crew = mem_new(struct crew);
    pthread_condattr_t attributes;
    crew->with = *options;
    crew->serial = CREW_SERIALS;
    list_init(&crew->teams);
    pthread_mutex_init(&crew->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&crew->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    for (size_t i = 0; i < CREW_SEATS; i++) {
        struct seat *seat = &crew->seats[i];
        seat->crew = crew;
        seat->number = i;
        seat->stop_fd = -1;
        sem_init(&seat->answered, 0, 0);
        channel_init(&seat->answers, wake_seat, seat);
    }
    return crew;
}

static bool open_seat(struct seat *seat, struct err *err)
{
    seat->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return (seat->stop_fd >= 0 ||
            err_set(err, ERR_INTERNAL, "a descriptor for the crew: %s", strerror(errno))) &&
           llm_open(seat->crew->with.llm, &seat->llm, err);
}

bool crew_start(struct crew *crew, struct lead *lead, struct engine *engine, struct err *err)
{
    crew->lead = lead;
    crew->engine = engine;
    for (size_t i = 0; i < CREW_SEATS; i++) {
        if (!open_seat(&crew->seats[i], err)) {
            return false;
        }
    }
    bool ok = pthread_create(&crew->watch, NULL, watch, crew) == 0;
    crew->started = ok;
    for (size_t i = 0; ok && i < CREW_SEATS; i++) {
        ok = pthread_create(&crew->seats[i].thread, NULL, seat_run, &crew->seats[i]) == 0;
        crew->started += ok;
    }
    return ok || err_set(err, ERR_INTERNAL, "start the threads of the crew");
}

void crew_free(struct crew *crew)
{
    if (crew == NULL) {
        return;
    }
    for (size_t i = 0; i < CREW_SEATS; i++) {
        struct seat *seat = &crew->seats[i];
        llm_close(seat->llm);
        arena_fini(&seat->arena);
        channel_fini(&seat->answers);
        sem_destroy(&seat->answered);
        if (seat->stop_fd >= 0) {
            close(seat->stop_fd);
        }
    }
    LIST_EACH(&crew->teams, it)
    {
        forget(HOLDER(it, struct crew_team, link));
    }
    pthread_cond_destroy(&crew->changed);
    pthread_mutex_destroy(&crew->lock);
    mem_free(crew);
}
