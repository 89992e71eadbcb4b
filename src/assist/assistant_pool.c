/* assist/assistant_pool.c: a few threads that ask the language model. See assistant_pool.h.
 *
 * They sleep on a semaphore that counts what waits: see queue/query.c for why not on a condition.
 *
 * SPDX-License-Identifier: MIT */
#include "assist/assistant_pool.h"

#include <errno.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"

struct assistant_pool {
    struct assistant_pool_options with;
    pthread_t threads[ASSISTANT_THREADS];
    size_t threads_count;
    pthread_mutex_t lock;
    sem_t more;          /* posted once for each job, and at the end once for each thread */
    struct list waiting; /* assistant_job.link */
    size_t waiting_count;
    int stop; /* readable: what is being asked is given up */
};

/* ---- On its threads ---- */

static void note(struct assistant_pool *pool, struct assistant_job *job, const char *step)
{
    struct assistant_note *message = mem_new(struct assistant_note);
    message->job = job;
    message->step = step;
    channel_give(pool->with.notes, &message->link);
}

struct step {
    struct assistant_pool *pool;
    struct assistant_job *job;
};

static void on_step(void *arg, const char *text)
{
    const struct step *step = arg;
    note(step->pool, step->job, text);
}

static void ask(struct assistant_pool *pool, struct assistant_job *job)
{
    struct err err = ERR_INIT;
    struct step step = {pool, job};
    const struct assistant_model model = {
        .llm = pool->with.llm, .stop = &pool->stop, .step = on_step, .arg = &step};
    job->away = !assistant_ask(&model, &job->asked, job->arena, &job->said, &err);
    if (job->away) {
        log_warn("the language model does not help: %s", err.text);
    }
    note(pool, job, NULL);
}

/* NULL: it is over, and nothing waits. */
static struct assistant_job *next_job(struct assistant_pool *pool)
{
    struct assistant_job *job = NULL;
    while (sem_wait(&pool->more) != 0) {
    }
    pthread_mutex_lock(&pool->lock);
    if (!list_empty(&pool->waiting)) {
        job = HOLDER(list_first(&pool->waiting), struct assistant_job, link);
        list_remove(&job->link);
        pool->waiting_count--;
    }
    pthread_mutex_unlock(&pool->lock);
    return job;
}

static void *run(void *arg)
{
    struct assistant_pool *pool = arg;
    struct assistant_job *job;
    pthread_setname_np(pthread_self(), "assistant");
    while ((job = next_job(pool)) != NULL) {
        ask(pool, job);
    }
    return NULL;
}

/* ---- From outside ---- */

static bool start_threads(struct assistant_pool *pool, struct err *err)
{
    sigset_t all, before;
    int failed = 0;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (pool->threads_count < ASSISTANT_THREADS && failed == 0) {
        failed = pthread_create(&pool->threads[pool->threads_count], NULL, run, pool);
        pool->threads_count += failed == 0;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed == 0 || err_set(err, ERR_INTERNAL, "start the assistant: %s", strerror(failed));
}

bool assistant_pool_start(const struct assistant_pool_options *options, struct assistant_pool **out,
                          struct err *err)
{
    struct assistant_pool *pool = mem_new(struct assistant_pool);
    pool->with = *options;
    list_init(&pool->waiting);
    pthread_mutex_init(&pool->lock, NULL);
    sem_init(&pool->more, 0, 0);
    pool->stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (pool->stop < 0) {
        err_set(err, ERR_INTERNAL, "start the assistant: %s", strerror(errno));
    }
    if (pool->stop < 0 || !start_threads(pool, err)) {
        assistant_pool_stop(pool);
        return false;
    }
    *out = pool;
    return true;
}

bool assistant_pool_give(struct assistant_pool *pool, struct assistant_job *job, struct err *err)
{
    pthread_mutex_lock(&pool->lock);
    bool room = pool->waiting_count < ASSISTANT_WAITING_MAX;
    if (room) {
        list_append(&pool->waiting, &job->link);
        pool->waiting_count++;
    }
    pthread_mutex_unlock(&pool->lock);
    if (room) {
        sem_post(&pool->more);
    }
    return room || err_set(err, ERR_BUSY, "too many questions wait for the language model");
}

void assistant_pool_stop(struct assistant_pool *pool)
{
    uint64_t one = 1;
    if (pool == NULL) {
        return;
    }
    for (size_t i = 0; i < pool->threads_count; i++) {
        sem_post(&pool->more);
    }
    if (pool->stop >= 0 && write(pool->stop, &one, sizeof one) < 0) {
        log_warn("the assistant cannot be stopped early: %s", strerror(errno));
    }
    for (size_t i = 0; i < pool->threads_count; i++) {
        pthread_join(pool->threads[i], NULL);
    }
    sem_destroy(&pool->more);
    pthread_mutex_destroy(&pool->lock);
    if (pool->stop >= 0) {
        close(pool->stop);
    }
    mem_free(pool);
}
