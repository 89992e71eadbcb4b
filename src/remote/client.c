/* remote/client.c: a client from its opening to its end. See errand/client.h.
 *
 * Thread: whoever opens it; flush and interrupt any.
 *
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "remote/remote.h"
#include "wire/uri.h"

#define BACKOFF_MIN_MS 100
#define BACKOFF_MAX_MS (10 * SECOND_MS)
#define HOST_MAX       64
#define WORKER_MAX     256

/* ---- Options ---- */

static bool check_url(struct str url, struct err *err)
{
    return client_url_ok(url) ||
           err_set(err, ERR_INVALID,
                   "\"" STR_FMT "\" is not a server's address; write %s, or unix:PATH",
                   STR_ARG(url), REMOTE_URL_USUAL);
}

/* "host:pid:random": two workers are never the same, and people see where one is. */
static struct str make_name(struct arena *arena)
{
    struct rand rand;
    char host[HOST_MAX] = "";
    rand_init(&rand);
    if (gethostname(host, sizeof host - 1) != 0 || !str_is_utf8(str_of(host))) {
        host[0] = '\0';
    }
    return arena_printf(arena, "%s:%d:%08" PRIx32, host, (int)getpid(), (uint32_t)rand_u64(&rand));
}

static int64_t or_usual(int64_t given, int64_t usual)
{
    return given > 0 ? given : usual;
}

/* What every client of Errand goes by where its program says nothing. */
static const char *or_environment(const char *given, const char *name)
{
    const char *found = given == NULL ? getenv(name) : given;
    return found == NULL || (given == NULL && found[0] == '\0') ? NULL : found;
}

static void take_options(errand_client *client, const struct errand_options *options)
{
    struct arena *arena = &client->arena;
    const char *url = or_environment(options->url, "ERRAND_URL");
    client->to.url = arena_str(arena, str_of(url == NULL ? REMOTE_URL_USUAL : url));
    client->to.token = arena_str(arena, str_of(or_environment(options->token, "ERRAND_TOKEN")));
    client->to.cacert =
        arena_str(arena, str_of(or_environment(options->cacert, "ERRAND_CACERT"))).ptr;
    client->worker =
        options->worker == NULL ? make_name(arena) : arena_str(arena, str_of(options->worker));
    client->backoff_min_ms = or_usual(options->backoff_min_ms, BACKOFF_MIN_MS);
    client->backoff_max_ms =
        MAX(or_usual(options->backoff_max_ms, BACKOFF_MAX_MS), client->backoff_min_ms);
    client->patience_ms = or_usual(options->patience_ms, REMOTE_PATIENCE_MS);
    client->beat_ms = or_usual(options->beat_ms, REMOTE_BEAT_MS);
    client->on_stop = options->on_stop;
    client->on_finished = options->on_finished;
    client->on_signal = options->on_signal;
    client->arg = options->arg;
}

/* ---- Opening and ending ---- */

static void wake(void *arg)
{
    const errand_client *client = arg;
    ssize_t ignored = write(client->wake_fd, &(uint64_t){1}, sizeof(uint64_t));
    (void)ignored; /* a full counter is awake already */
}

static bool start(errand_client *client, const struct errand_options *options, struct err *err)
{
    int64_t max = or_usual(options->spool_max, REMOTE_SPOOL_MAX);
    if (client->wake_fd < 0 || client->stop_fd < 0) {
        return err_set(err, ERR_UNAVAILABLE, "%s", strerror(errno));
    }
    if (client->worker.len < 1 || client->worker.len > WORKER_MAX ||
        str_has_control(client->worker)) {
        return err_set(err, ERR_INVALID, "a worker's name has 1 to %d bytes", WORKER_MAX);
    }
    return check_url(client->to.url, err) &&
           (options->spool == NULL || spool_open(options->spool, max, &client->spool, err)) &&
           keeper_start(client, err);
}

static void destroy(errand_client *client)
{
    ask_close(client);
    spool_close(client->spool);
    channel_fini(&client->idle);
    channel_fini(&client->notes);
    close(client->wake_fd);
    close(client->stop_fd);
    arena_fini(&client->arena);
    mem_free(client);
}

errand_client *errand_client_open(const struct errand_options *given, struct errand_error *error)
{
    struct errand_options options = ERRAND_OPTIONS;
    struct err err = ERR_INIT;
    memcpy(&options, given, MIN(given->size, sizeof options));
    errand_client *client = mem_new(errand_client);
    client->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    client->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    channel_init(&client->idle, NULL, NULL);
    channel_init(&client->notes, wake, client);
    take_options(client, &options);
    if (!start(client, &options, &err)) {
        destroy(client);
        fail_with(error, &err);
        return NULL;
    }
    return client;
}

errand_client *errand_client_new(const char *url, const char *token, struct errand_error *error)
{
    struct errand_options options = ERRAND_OPTIONS;
    options.url = url;
    options.token = token;
    return errand_client_open(&options, error);
}

void errand_client_interrupt(errand_client *client)
{
    int before = errno;
    ssize_t ignored = write(client->stop_fd, &(uint64_t){1}, sizeof(uint64_t));
    (void)ignored;
    errno = before; /* a signal handler leaves no trace */
}

enum errand_signal errand_client_signal(const errand_client *client)
{
    return (enum errand_signal)atomic_load(&client->signal);
}

void errand_client_free(errand_client *client)
{
    if (client != NULL) {
        errand_client_interrupt(client);
        keeper_stop(client);
        destroy(client);
    }
}

/* ---- Flushing ---- */

void flush_let_go(struct flush *flush)
{
    if (atomic_fetch_sub(&flush->holders, 1) == 1) {
        sem_destroy(&flush->done);
        mem_free(flush);
    }
}

bool wait_for(sem_t *done, int64_t wait_ms)
{
    int64_t until_ms = mono_ms() + wait_ms;
    const struct timespec until = {.tv_sec = (time_t)(until_ms / SECOND_MS),
                                   .tv_nsec = (long)(until_ms % SECOND_MS * 1000000)};
    int answer;
    do {
        answer = sem_clockwait(done, CLOCK_MONOTONIC, &until);
    } while (answer != 0 && errno == EINTR);
    return answer == 0;
}

int errand_client_flush(errand_client *client, int64_t wait_ms)
{
    struct flush *flush = mem_new(struct flush);
    sem_init(&flush->done, 0, 0);
    atomic_store(&flush->holders, 2);
    keeper_note(client, &(struct note){.kind = NOTE_FLUSH, .flush = flush});
    bool done = wait_for(&flush->done, MAX(wait_ms, 0));
    flush_let_go(flush);
    return done ? 0 : -1;
}
