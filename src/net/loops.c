/* net/loops.c: further net loops beside the first. See loops.h.
 *
 * What the home asks of a loop it writes into atomics and pokes it; the loop looks at all of them
 * then. Ending is simple because it happens on one thread: when a loop's thread has been joined,
 * the home's closes what was that loop's as it closes its own.
 *
 * SPDX-License-Identifier: MIT */
#include "net/loops.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>

#include "base/mem.h"

struct changes {
    struct server_taken server;
    size_t payload_max;
    bool push_private;
};

struct loop {
    struct loops *loops;
    uv_loop_t loop;
    pthread_t thread;
    bool running;
    uv_async_t poke;
    uv_timer_t drain_timer;
    struct token_book *book;
    struct auth auth;
    struct api *api;
    struct server *server;

    _Atomic(struct changes *) changes; /* to be taken over; NULL: none */
    atomic_bool quiet, stop, busy;
    _Atomic uint64_t stop_ms;       /* loop time at which it ends, whatever is under way */
    _Atomic uint64_t asked, turned; /* how often it was asked whether it turns, and answered */
};

struct loops {
    const struct auth *home_auth;
    struct server *home_server;
    size_t count;
    struct loop at[SERVER_LOOPS_MAX];
};

/* ---- On its own thread ---- */

static void take_changes(struct loop *loop)
{
    struct changes *changes = atomic_exchange(&loop->changes, NULL);
    if (changes != NULL) {
        server_take(loop->server, &changes->server);
        api_set_payload_max(loop->api, changes->payload_max);
        api_set_push_private(loop->api, changes->push_private);
        mem_free(changes);
    }
}

/* Long polls are told that their time is over; when all is answered it may end. */
static void on_drain_tick(uv_timer_t *timer)
{
    struct loop *loop = timer->data;
    server_hurry(loop->server);
    bool busy = server_busy(loop->server);
    loop->busy = busy;
    if (loop->stop && (!busy || uv_now(&loop->loop) >= loop->stop_ms)) {
        uv_stop(&loop->loop);
    }
}

static void on_poke(uv_async_t *handle)
{
    struct loop *loop = handle->data;
    loop->turned = loop->asked;
    take_changes(loop);
    if (loop->quiet && !uv_is_active((uv_handle_t *)&loop->drain_timer)) {
        server_quiet(loop->server);
        uv_timer_start(&loop->drain_timer, on_drain_tick, 0, LOOPS_DRAIN_TICK);
    }
}

/* Signals are the home's. */
static void *run(void *arg)
{
    struct loop *loop = arg;
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    pthread_setname_np(pthread_self(), "net");
    uv_run(&loop->loop, UV_RUN_DEFAULT);
    return NULL;
}

/* ---- Starting ---- */

static bool open_loop(struct loop *loop, const struct loops_options *options, struct err *err)
{
    struct api_options api = *options->api;
    struct server_options server = *options->server;
    mem_must(uv_loop_init(&loop->loop) == 0, "a net loop");
    mem_must(uv_async_init(&loop->loop, &loop->poke, on_poke) == 0, "a net loop");
    uv_timer_init(&loop->loop, &loop->drain_timer);
    loop->poke.data = loop->drain_timer.data = loop;
    api.loop = server.loop = &loop->loop;
    api.home = options->home_api;
    api.auth = &loop->auth;
    server.home = options->home_server;
    server.listen = server.socket = STR_NONE;
    struct token_book *book = options->api->auth->book;
    if ((book != NULL && !token_book_follow(book, &loop->book, err)) ||
        !api_start(&api, &loop->api, err)) {
        return false;
    }
    server.arg = loop->api;
    return server_start(&server, &loop->server, err);
}

bool loops_open(const struct loops_options *options, struct loops **out, struct err *err)
{
    struct loops *loops = mem_new(struct loops);
    loops->home_auth = options->api->auth;
    loops->home_server = options->home_server;
    *out = loops; /* ended by loops_free(), whatever the answer */
    while (loops->count < options->count) {
        if (!open_loop(&loops->at[loops->count++], options, err)) {
            return err_wrap(err, "start a net loop");
        }
    }
    return true;
}

bool loops_run(struct loops *loops, const struct api_parts *parts, struct err *err)
{
    for (size_t i = 0; loops != NULL && i < loops->count; i++) {
        struct loop *loop = &loops->at[i];
        loop->auth = *loops->home_auth;
        loop->auth.book = loop->book;
        api_open(loop->api, parts);
        int failed = pthread_create(&loop->thread, NULL, run, loop);
        if (failed != 0) {
            return err_set(err, ERR_INTERNAL, "start a net loop: %s", strerror(failed));
        }
        loop->running = true;
    }
    return true;
}

/* ---- Asking ---- */

void loops_change(struct loops *loops, size_t payload_max, bool push_private)
{
    for (size_t i = 0; loops != NULL && i < loops->count; i++) {
        struct changes *changes = mem_new(struct changes);
        *changes =
            (struct changes){server_hand_over(loops->home_server), payload_max, push_private};
        changes = atomic_exchange(&loops->at[i].changes, changes);
        if (changes != NULL) { /* they were not taken yet */
            server_taken_free(&changes->server);
            mem_free(changes);
        }
        uv_async_send(&loops->at[i].poke);
    }
}

bool loops_turn(struct loops *loops)
{
    bool all = true;
    for (size_t i = 0; loops != NULL && i < loops->count; i++) {
        struct loop *loop = &loops->at[i];
        all = all && loop->turned == loop->asked;
        loop->asked++;
        uv_async_send(&loop->poke);
    }
    return all;
}

void loops_quiet(struct loops *loops)
{
    for (size_t i = 0; loops != NULL && i < loops->count; i++) {
        loops->at[i].busy = true; /* until it has looked */
        loops->at[i].quiet = true;
        uv_async_send(&loops->at[i].poke);
    }
}

bool loops_busy(const struct loops *loops)
{
    for (size_t i = 0; loops != NULL && i < loops->count; i++) {
        if (loops->at[i].busy) {
            return true;
        }
    }
    return false;
}

/* ---- Ending ---- */

void loops_stop(struct loops *loops, int64_t ms)
{
    for (size_t i = 0; loops != NULL && i < loops->count; i++) {
        struct loop *loop = &loops->at[i];
        loop->stop_ms = uv_hrtime() / 1000000 + (uint64_t)ms;
        loop->stop = loop->quiet = true;
        uv_async_send(&loop->poke);
    }
    for (size_t i = 0; loops != NULL && i < loops->count; i++) {
        struct loop *loop = &loops->at[i];
        if (loop->running) {
            pthread_join(loop->thread, NULL);
        }
        if (loop->server != NULL) {
            server_stop(loop->server);
        }
    }
}

void loops_close(struct loops *loops)
{
    for (size_t i = 0; loops != NULL && i < loops->count; i++) {
        struct loop *loop = &loops->at[i];
        if (loop->api != NULL) {
            api_stop(loop->api);
        }
        uv_close((uv_handle_t *)&loop->poke, NULL);
        uv_close((uv_handle_t *)&loop->drain_timer, NULL);
        uv_run(&loop->loop, UV_RUN_DEFAULT);
    }
}

void loops_free(struct loops *loops)
{
    for (size_t i = 0; loops != NULL && i < loops->count; i++) {
        struct loop *loop = &loops->at[i];
        struct changes *changes = loop->changes;
        if (changes != NULL) {
            server_taken_free(&changes->server);
            mem_free(changes);
        }
        server_free(loop->server);
        api_free(loop->api);
        uv_loop_close(&loop->loop);
        token_book_close(loop->book);
    }
    mem_free(loops);
}
