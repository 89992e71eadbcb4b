/* work/claimer.c: asks the engine for work: one claim at a time, made anew whenever it is answered
 * and its executor wants something.
 *
 * Thread: the workers'.
 *
 * SPDX-License-Identifier: MIT */
#include "work/crew.h"

void claimer_look(struct claimer *claimer)
{
    claimer->look = true;
}

void claimer_withdraw(struct claimer *claimer)
{
    claimer->stale = claimer->asked;
    claimer->look = true;
}

void claimer_pause(struct claimer *claimer, int64_t pause_ms)
{
    claimer->again_ms = workforce_now_ms(claimer->work) + pause_ms;
    claimer_withdraw(claimer);
}

void claimer_let_go(struct claimer *claimer)
{
    claimer->held--;
    claimer->look = true;
    if (claimer->by == &by_mate) {
        crew_changed(claimer->work->crew); /* a teammate is free whom no parked claim counts on */
    }
}

static void ask(struct claimer *claimer)
{
    struct workforce *work = claimer->work;
    claimer->look = claimer->stale = false;
    arena_clear(&claimer->arena);
    claimer->claim = (struct command){.kind = COMMAND_CLAIM,
                                      .arena = &claimer->arena,
                                      .sender = claimer,
                                      .claim = {.queues = work->queues,
                                                .queues_count = work->queues_count,
                                                .any_queue = work->queues_count == 0,
                                                .wait = true}};
    if (claimer->by->wants(claimer, &claimer->claim.claim)) {
        claimer->claim.claim.serial = work->serial++;
        claimer->asked = true;
        desk_put(&work->desk, &claimer->claim);
    }
}

/* The engine is told once of each claim that it should answer now. */
static void stop_asking(struct claimer *claimer)
{
    uint64_t serial = claimer->claim.claim.serial;
    if (claimer->stop.sender != NULL || claimer->stop.claim_stop.serial == serial) {
        return;
    }
    claimer->stop = (struct command){.kind = COMMAND_CLAIM_STOP,
                                     .arena = &claimer->work->arena,
                                     .sender = claimer,
                                     .claim_stop = {.serial = serial}};
    desk_put(&claimer->work->desk, &claimer->stop);
}

void claimer_answered(struct claimer *claimer, struct command *answered)
{
    const struct command_claim *claim = &claimer->claim.claim;
    if (answered == &claimer->stop) {
        claimer->stop.sender = NULL;
        return;
    }
    claimer->asked = claimer->stale = false;
    claimer->look = true;
    if (answered->err.kind != ERR_NONE) {
        claimer_pause(claimer, CLAIM_PAUSE_MS);
        return;
    }
    for (size_t i = 0; i < claim->count; i++) {
        job_start(claimer, &claim->tasks[i]);
    }
}

int64_t claimer_tick(struct claimer *claimer, int64_t now_ms)
{
    bool quiet = claimer->work->quiet;
    if (claimer->asked && (claimer->stale || quiet)) {
        stop_asking(claimer);
    }
    if (claimer->asked || quiet || !claimer->look) {
        return -1;
    }
    if (now_ms < claimer->again_ms) {
        return claimer->again_ms - now_ms;
    }
    ask(claimer);
    return -1;
}
