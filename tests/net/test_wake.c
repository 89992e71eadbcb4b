/* tests/net/test_wake.c: claims about how other threads wake a net loop.
 *
 * SPDX-License-Identifier: MIT */
#include "net/wake.h"

#include <pthread.h>
#include <stdatomic.h>

#include "test.h"

#define SENDERS 4
#define TIMES   1000

struct bench {
    uv_loop_t loop;
    struct wake wake;
    atomic_int given;
    int woken;
    int wanted;
};

/* Whatever was given before a wake-up is seen by it. */
static void on_woken(void *arg)
{
    struct bench *bench = arg;
    bench->woken++;
    if (atomic_load(&bench->given) == bench->wanted) {
        wake_stop(&bench->wake);
    }
}

static void *send_all(void *arg)
{
    struct bench *bench = arg;
    for (int i = 0; i < TIMES; i++) {
        atomic_fetch_add(&bench->given, 1);
        wake_send(&bench->wake);
    }
    return NULL;
}

static void begin(struct bench *bench, int wanted)
{
    struct err err = ERR_INIT;
    bench->wanted = wanted;
    CHECK_EQ(uv_loop_init(&bench->loop), 0);
    CHECK(wake_open(&bench->wake, &bench->loop, on_woken, bench, &err));
}

static void end(struct bench *bench)
{
    wake_fini(&bench->wake);
    CHECK_EQ(uv_loop_close(&bench->loop), 0); /* nothing of it is left in the loop */
}

TEST(what_is_given_before_a_wake_up_is_never_left_lying)
{
    struct bench bench = {0};
    pthread_t senders[SENDERS];
    begin(&bench, SENDERS * TIMES);
    for (int i = 0; i < SENDERS; i++) {
        CHECK_EQ(pthread_create(&senders[i], NULL, send_all, &bench), 0);
    }
    uv_run(&bench.loop, UV_RUN_DEFAULT); /* ends when all was seen */
    for (int i = 0; i < SENDERS; i++) {
        pthread_join(senders[i], NULL);
    }
    CHECK(bench.woken >= 1 && bench.woken <= SENDERS * TIMES);
    end(&bench);
}

TEST(many_pokes_are_one_wake_up)
{
    struct bench bench = {0};
    begin(&bench, TIMES);
    send_all(&bench);
    uv_run(&bench.loop, UV_RUN_DEFAULT);
    CHECK_EQ(bench.woken, 1);
    end(&bench);
}

TEST(a_loop_that_was_not_woken_has_nothing_to_do)
{
    struct bench bench = {0};
    begin(&bench, 0);
    uv_run(&bench.loop, UV_RUN_NOWAIT);
    CHECK_EQ(bench.woken, 0);
    wake_stop(&bench.wake);
    uv_run(&bench.loop, UV_RUN_DEFAULT);
    end(&bench);
}
