/* tests/sim/sim.c: a seed from its first step to its last. See sim.h.
 *
 * SPDX-License-Identifier: MIT */
#include "sim.h"

#include <stdarg.h>
#include <stdio.h>

int64_t sim_now_ms(const struct sim *sim)
{
    return sim->clock.wall_ms;
}

bool sim_chance(struct sim *sim, unsigned percent)
{
    return rand_below(&sim->dice, 100) < percent;
}

size_t sim_pick(struct sim *sim, size_t n)
{
    return (size_t)rand_below(&sim->dice, n);
}

bool sim_fail(struct sim *sim, const char *format, ...)
{
    if (!sim->failed) {
        va_list args;
        va_start(args, format);
        vsnprintf(sim->complaint, sizeof sim->complaint, format, args);
        va_end(args);
        sim->failed = true;
        sim_trace(sim, "BROKEN: %s", sim->complaint);
    }
    return false;
}

void sim_trace(struct sim *sim, const char *format, ...)
{
    if (sim->trace) {
        va_list args;
        va_start(args, format);
        printf("# %4zu %9lld  ", sim->step, (long long)(sim_now_ms(sim) - sim->clock.start_ms));
        vprintf(format, args);
        printf("\n");
        va_end(args);
    }
}

bool sim_run(struct sim *sim, uint64_t seed, const struct sim_options *options)
{
    *sim = (struct sim){.seed = seed,
                        .bug = options->bug,
                        .trace = options->trace,
                        .walked = options->walked,
                        .world = options->world};
    rand_init_seed(&sim->engine_rand, ~seed);
    world_open(sim);
    for (; sim->step < options->steps && !sim->failed; sim->step++) {
        /* Each step has dice of its own: when others are left out it stays what it was. */
        rand_init_seed(&sim->dice, seed * STEPS_MAX + sim->step);
        if (options->skip == NULL || !options->skip[sim->step]) {
            step_any(sim);
        }
    }
    rand_init_seed(&sim->dice, seed);
    if (!sim->failed) {
        step_last(sim);
    }
    world_close(sim);
    return !sim->failed;
}
