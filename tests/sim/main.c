/* tests/sim/main.c: thousands of seeds, and the proof that each seeded bug is found. Speaks TAP.
 *
 *     sim                         all of it, as `meson test` does
 *     sim --from N --seeds M      ... walking the seeds from N to M instead
 *     sim --seed N [--trace]      one seed again; --bug NAME with that bug in it
 *
 * SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "sim.h"

#define STEPS     200
#define SEEDS     3000
#define BUG_SEEDS 1000 /* within which each seeded bug must be found */

static void tell(const struct sim *sim)
{
    printf("# seed %" PRIu64 ", step %zu: %s\n", sim->seed, sim->step, sim->complaint);
    printf("# again with: sim --seed %" PRIu64 " --bug %s --trace\n", sim->seed,
           bug_name(sim->bug));
}

/* Steps that do not matter are left out, as long as the same promise is broken: larger pieces
 * first, then smaller ones, then single steps. */
static void shrink(struct sim *sim, uint64_t seed, struct sim_options options, bool skip[STEPS_MAX])
{
    size_t last = sim->step;
    char complaint[16];
    snprintf(complaint, sizeof complaint, "%s", sim->complaint);
    options.skip = skip;
    options.trace = false;
    for (size_t step = last + 1; step < options.steps; step++) {
        skip[step] = true;
    }
    for (size_t piece = MAX(last / 2, (size_t)1);; piece /= 2) {
        for (size_t from = 0; from <= last; from += piece) {
            bool tried[STEPS_MAX];
            memcpy(tried, skip, sizeof tried);
            memset(tried + from, true, MIN(piece, last + 1 - from));
            options.skip = tried;
            if (memcmp(tried, skip, sizeof tried) != 0 && !sim_run(sim, seed, &options) &&
                strncmp(sim->complaint, complaint, sizeof complaint - 1) == 0) {
                memcpy(skip, tried, sizeof tried);
            }
        }
        if (piece == 1) {
            break;
        }
    }
}

static void tell_smallest(struct sim *sim, uint64_t seed, struct sim_options options)
{
    bool skip[STEPS_MAX] = {false};
    size_t left = 0;
    shrink(sim, seed, options, skip);
    for (size_t i = 0; i < options.steps; i++) {
        left += !skip[i];
    }
    options.skip = skip;
    options.trace = true;
    printf("# the same in %zu steps:\n", left);
    (void)!sim_run(sim, seed, &options);
}

/* True when no seed fails; otherwise the first that did has been told. */
static bool run_seeds(struct sim *sim, enum bug bug, uint64_t from, uint64_t seeds,
                      struct walked *walked, uint64_t *ran)
{
    for (uint64_t seed = from; seed <= seeds; seed++) {
        struct sim_options options = {.bug = bug, .steps = STEPS, .walked = walked};
        *ran = seed;
        if (!sim_run(sim, seed, &options)) {
            tell(sim);
            if (bug == BUG_NONE) {
                tell_smallest(sim, seed, options);
            }
            return false;
        }
    }
    return true;
}

static bool walked_all(const struct walked *walked)
{
    bool all = true;
    for (int health = 0; health < BROKER_HEALTHS; health++) {
        for (int event = 0; event < BROKER_EVENTS; event++) {
            if (health_has_cell((enum broker_health)health, (enum broker_event)event) &&
                walked->times[health][event] == 0) {
                printf("# a broker that is %s was never %s\n",
                       health_rule((enum broker_health)health)->name,
                       health_event_name((enum broker_event)event));
                all = false;
            }
        }
    }
    return all;
}

static bool run_all(struct sim *sim, uint64_t from, uint64_t seeds)
{
    uint64_t ran = 0;
    struct walked walked = {0};
    printf("1..%d\n", BUGS + 1);
    bool good = run_seeds(sim, BUG_NONE, from, seeds, &walked, &ran);
    printf("%s 1 - the seeds from %" PRIu64 " to %" PRIu64
           ", of %d steps each, keep every promise\n",
           good ? "ok" : "not ok", from, ran, STEPS);
    for (int bug = BUG_NONE + 1; bug < BUGS; bug++) {
        bool found = !run_seeds(sim, (enum bug)bug, 1, BUG_SEEDS, NULL, &ran);
        printf("%s %d - the seeded bug %s is found in %" PRIu64 " seeds\n", found ? "ok" : "not ok",
               bug + 1, bug_name((enum bug)bug), ran);
        good = good && found;
    }
    bool all = walked_all(&walked);
    printf("%s %d - every cell of a broker's health was walked\n", all ? "ok" : "not ok", BUGS + 1);
    return good && all;
}

static bool run_one(struct sim *sim, uint64_t seed, const struct sim_options *options)
{
    bool good = sim_run(sim, seed, options);
    if (!good) {
        tell(sim);
        if (!options->trace) {
            tell_smallest(sim, seed, *options);
        }
    }
    printf("1..1\n%s 1 - seed %" PRIu64 "\n", good ? "ok" : "not ok", seed);
    return good;
}

static enum bug bug_of(const char *name)
{
    for (int bug = 0; bug < BUGS; bug++) {
        if (strcmp(bug_name((enum bug)bug), name) == 0) {
            return (enum bug)bug;
        }
    }
    fprintf(stderr, "sim: there is no bug named %s\n", name);
    exit(2);
}

int main(int argc, char **argv)
{
    struct sim_options options = {.steps = STEPS};
    uint64_t seed = 0, from = 1, seeds = SEEDS;
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--trace") == 0) {
            options.trace = true;
        } else if (strcmp(argv[i], "--seed") == 0) {
            seed = strtoull(value, NULL, 10);
        } else if (strcmp(argv[i], "--from") == 0) {
            from = strtoull(value, NULL, 10);
        } else if (strcmp(argv[i], "--seeds") == 0) {
            seeds = strtoull(value, NULL, 10);
        } else if (strcmp(argv[i], "--bug") == 0) {
            options.bug = bug_of(value);
        }
    }
    struct sim *sim = mem_new(struct sim);
    log_set_level(LOG_ERROR + 1); /* failures are the point here */
    bool good = seed != 0 ? run_one(sim, seed, &options) : run_all(sim, from, seeds);
    mem_free(sim);
    return good ? 0 : 1;
}
