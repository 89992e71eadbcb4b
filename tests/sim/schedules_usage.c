/* tests/sim/schedules_usage.c: a day's sum is what its runs stand for: what they cost, or while
 * they go on what they have cost so far and one estimate more.
 *
 * SPDX-License-Identifier: MIT */
#include "schedules.h"

static double counts_for(const struct seen *seen)
{
    double actual = MAX(seen->cost.actual, 0), estimated = MAX(seen->cost.estimated, 0);
    if (seen->state < TASK_COMPLETED) {
        return actual + estimated;
    }
    return seen->cost.actual >= 0 ? actual : seen->state == TASK_COMPLETED ? estimated : 0;
}

/* Of a run whose schedule goes in this batch nobody knows which came first. */
static void count(struct sim *sim, struct schedules *all, const struct known *known, bool *unsure)
{
    const struct past *past = schedules_past(all, known->id);
    if (past == NULL || past->gone || known->next_gone) {
        return;
    }
    const struct planned *planned = schedules_find(all, past->schedule);
    double was = past->is_new ? 0 : counts_for(&known->seen);
    int64_t day_ms = past->next.counted_ms != 0 ? past->next.counted_ms : past->created_ms;
    *unsure = *unsure || past->next_gone || planned == NULL || planned->next_gone;
    if (counts_for(&known->next) != was) {
        schedules_day(all, past->user, day_ms)->sum += counts_for(&known->next) - was;
    }
    (void)sim;
}

void schedules_count_usage(struct sim *sim)
{
    struct schedules *all = schedules_of(sim);
    bool unsure = false;
    if (all->queries_max == 0) {
        return;
    }
    for (size_t i = 0; i < sim->known_count; i++) {
        if (sim->known[i].dirty && sim->known[i].is_run) {
            count(sim, all, &sim->known[i], &unsure);
        }
    }
    for (size_t i = 0; i < all->days_count; i++) {
        struct day *day = &all->days[i];
        bool past = day->number + 2 < sim_now_ms(sim) / DAY_MS; /* its sum is forgotten */
        if (unsure || past || !day->on_disk) {
            day->sum = day->on_disk ? day->found : day->sum;
        } else if (day->sum != day->found) {
            sim_fail(sim, "user %d has spent %g on day %lld and the sum says %g", day->user,
                     day->sum, (long long)day->number, day->found);
        }
    }
}
