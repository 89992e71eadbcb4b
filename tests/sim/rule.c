/* tests/sim/rule.c: the limits of queues: hard, to the task.
 *
 * SPDX-License-Identifier: MIT */
#include <math.h>

#include "sim.h"

static int64_t running(const struct sim *sim, int queue)
{
    int64_t n = 0;
    for (size_t i = 0; i < sim->known_count; i++) {
        const struct known *known = &sim->known[i];
        n += !known->gone && known->seen.queue == queue && known->seen.state == TASK_RUNNING &&
             !known->seen.container;
    }
    return n;
}

static bool started(const struct known *known)
{
    return known->dirty && known->next.state == TASK_RUNNING && known->seen.state != TASK_RUNNING &&
           !known->seen.container;
}

static int64_t starts(const struct sim *sim, int queue)
{
    int64_t n = 0;
    for (size_t i = 0; i < sim->known_count; i++) {
        n += sim->known[i].seen.queue == queue && started(&sim->known[i]);
    }
    return n;
}

static double burst_of(const struct queue_rule *rule)
{
    return rule->burst > 0 ? (double)rule->burst : fmax(1, ceil(rule->rate));
}

static void refill(const struct sim *sim, struct queue_rule *rule)
{
    int64_t now_ms = sim_now_ms(sim);
    double more = (double)(now_ms - rule->tokens_ms) / 1000 * rule->rate;
    rule->tokens = fmin(burst_of(rule), rule->tokens + more);
    rule->tokens_ms = now_ms;
}

static void check_queue(struct sim *sim, int queue)
{
    struct queue_rule *rule = &sim->rules[queue];
    int64_t n = starts(sim, queue);
    if (n == 0) {
        return;
    }
    if (rule->paused) {
        sim_fail(sim, "a task of paused queue %d was started", queue);
    }
    if (rule->max_concurrent > 0 && running(sim, queue) + n > rule->max_concurrent) {
        sim_fail(sim, "queue %d runs more than its maxConcurrent %lld", queue,
                 (long long)rule->max_concurrent);
    }
    if (rule->rate > 0) {
        refill(sim, rule);
        rule->tokens -= (double)n;
        if (rule->tokens < -1e-6) {
            sim_fail(sim, "queue %d starts faster than its rate", queue);
        }
    }
}

void rule_check(struct sim *sim)
{
    for (int queue = 0; queue < QUEUES; queue++) {
        check_queue(sim, queue);
    }
}

static struct queue_rule *rule_of(struct sim *sim, struct str name)
{
    for (int queue = 0; queue < QUEUES; queue++) {
        if (str_eq(name, sim_queues[queue])) {
            return &sim->rules[queue];
        }
    }
    return NULL;
}

void rule_changed(struct sim *sim, const struct call *call)
{
    const struct command_queue *change = &call->command.queue;
    struct queue_rule *rule = rule_of(sim, change->name);
    bool was_rated = rule->rate > 0;
    if (was_rated) {
        refill(sim, rule);
    }
    rule->paused = change->has_paused ? change->set.paused : rule->paused;
    rule->max_concurrent =
        change->has_max_concurrent ? change->set.max_concurrent : rule->max_concurrent;
    rule->rate = change->has_rate ? change->set.rate_per_second : rule->rate;
    rule->burst = change->has_burst ? change->set.burst : rule->burst;
    if (rule->rate > 0 && !was_rated) {
        rule->tokens = burst_of(rule);
        rule->tokens_ms = sim_now_ms(sim);
    }
}

static bool differs(const struct queue_rule *rule, const struct store_queue *queue)
{
    return rule->paused != queue->paused || rule->max_concurrent != queue->max_concurrent ||
           rule->rate != queue->rate_per_second || rule->burst != queue->burst;
}

static bool find_again(void *arg, const struct store_queue *queue, struct err *err)
{
    struct sim *sim = arg;
    struct queue_rule *rule = rule_of(sim, queue->name);
    (void)err;
    if (differs(rule, queue) && !sim->cut_off) {
        sim_fail(sim, "G1: the limits of a queue are not what was answered before a crash");
    }
    *rule = (struct queue_rule){.paused = queue->paused,
                                .max_concurrent = queue->max_concurrent,
                                .rate = queue->rate_per_second,
                                .burst = queue->burst,
                                .tokens_ms = sim_now_ms(sim)}; /* the bucket is empty */
    return true;
}

void rule_restart(struct sim *sim)
{
    struct err err = ERR_INIT;
    if (!store_scan_queues(sim->store, find_again, sim, &err)) {
        sim_fail(sim, "the queues cannot be read: %s", err.text);
    }
}

/* Inside a batch a proposal that came to nothing (a stale hint, a task that was cancelled just
 * then) may have kept the last place from a better one; the next batch makes good for it. */
static bool disturbed(const struct sim *sim, int queue)
{
    bool others = sim->stale_hints;
    for (size_t i = 0; i < sim->known_count; i++) {
        const struct known *known = &sim->known[i];
        others = others || (known->dirty && known->seen.queue == queue && !started(known));
    }
    return sim->in_batch && others;
}

bool rule_open(struct sim *sim, int queue)
{
    if (queue >= QUEUES) {
        return true; /* a team's has no limits */
    }
    const struct queue_rule *rule = &sim->rules[queue];
    if (rule->paused || rule->rate > 0) {
        return false;
    }
    return rule->max_concurrent == 0 ||
           (!disturbed(sim, queue) &&
            running(sim, queue) + starts(sim, queue) < rule->max_concurrent);
}
