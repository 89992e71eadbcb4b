/* tests/sim/main.c: thousands of seeds, and the proof that each seeded bug is found. Speaks TAP.
 *
 *     sim                         all of it, as `meson test` does
 *     sim --from N --seeds M      ... walking the seeds from N to M instead
 *     sim --world NAME ...        the seeds of one world only
 *     sim --seed N [--trace]      one seed again; --bug NAME with that bug in it
 *
 * SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "sim.h"

#define STEPS      200
#define SEEDS      3000
#define BUG_SEEDS  1000 /* within which each seeded bug must be found */
#define GUEST_PART 10   /* a world with guests is walked in one of so many seeds */

static void tell(const struct sim *sim)
{
    printf("# seed %" PRIu64 ", step %zu: %s\n", sim->seed, sim->step, sim->complaint);
    printf("# again with: sim --world %s --seed %" PRIu64 " --bug %s --trace\n",
           world_name(sim->world), sim->seed, bug_name(sim->bug));
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
static bool run_seeds(struct sim *sim, const struct sim_options *options, uint64_t from,
                      uint64_t seeds, uint64_t *ran)
{
    for (uint64_t seed = from; seed <= seeds; seed++) {
        *ran = seed;
        if (!sim_run(sim, seed, options)) {
            tell(sim);
            if (options->bug == BUG_NONE) {
                tell_smallest(sim, seed, *options);
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

static bool run_world(struct sim *sim, const struct sim_options *options, uint64_t from,
                      uint64_t seeds)
{
    uint64_t ran = 0;
    bool good = run_seeds(sim, options, from, seeds, &ran);
    printf("%s %d - %s: the seeds from %" PRIu64 " to %" PRIu64
           ", of %d steps each, keep every promise\n",
           good ? "ok" : "not ok", 1 + (int)options->world, world_name(options->world), from, ran,
           STEPS);
    return good;
}

static bool run_bug(struct sim *sim, enum bug bug)
{
    uint64_t ran = 0;
    const struct sim_options options = {.bug = bug, .world = bug_world(bug), .steps = STEPS};
    bool found = !run_seeds(sim, &options, 1, BUG_SEEDS, &ran);
    printf("%s %d - the seeded bug %s is found in %" PRIu64 " seeds\n", found ? "ok" : "not ok",
           WORLDS + (int)bug, bug_name(bug), ran);
    return found;
}

static bool run_all(struct sim *sim, uint64_t from, uint64_t seeds)
{
    struct walked walked = {0};
    bool good = true;
    printf("1..%d\n", WORLDS + BUGS);
    for (int world = 0; world < WORLDS; world++) {
        bool plain = world == WORLD_TASKS;
        const struct sim_options options = {
            .world = (enum world)world, .steps = STEPS, .walked = plain ? &walked : NULL};
        good &= run_world(sim, &options, from, plain ? seeds : from + (seeds - from) / GUEST_PART);
    }
    for (int bug = BUG_NONE + 1; bug < BUGS; bug++) {
        good &= run_bug(sim, (enum bug)bug);
    }
    bool all = walked_all(&walked);
    printf("%s %d - every cell of a broker's health was walked\n", all ? "ok" : "not ok",
           WORLDS + BUGS);
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

static enum world world_of(const char *name)
{
    for (int world = 0; world < WORLDS; world++) {
        if (strcmp(world_name((enum world)world), name) == 0) {
            return (enum world)world;
        }
    }
    fprintf(stderr, "sim: there is no world named %s\n", name);
    exit(2);
}

int main(int argc, char **argv)
{
    struct sim_options options = {.world = WORLDS, .steps = STEPS};
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
        } else if (strcmp(argv[i], "--world") == 0) {
            options.world = world_of(value);
        } else if (strcmp(argv[i], "--bug") == 0) {
            options.bug = bug_of(value);
        }
    }
    struct sim *sim = mem_new(struct sim);
    log_set_level(LOG_ERROR + 1); /* failures are the point here */
    bool all = seed == 0 && options.world == WORLDS;
    options.world = options.world == WORLDS ? WORLD_TASKS : options.world;
    bool good = all         ? run_all(sim, from, seeds)
                : seed != 0 ? run_one(sim, seed, &options)
                            : run_world(sim, &options, from, seeds);
    mem_free(sim);
    return good ? 0 : 1;
}
