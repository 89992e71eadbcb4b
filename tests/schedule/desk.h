/* tests/schedule/desk.h: the planner on the engine's workbench (tests/queue/bench.h).
 *
 *     SCOPED(desk_fini) struct desk d = DESK_INIT;
 *     struct task_id id = desk_create(&d, "{'title':'t','rrule':'FREQ=DAILY'}");
 *     desk_pass_ms(&d, DAY_MS);
 *     CHECK_STR(desk_story(&d, id), "RUNNING");
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_TESTS_SCHEDULE_DESK_H
#define ERRAND_TESTS_SCHEDULE_DESK_H

#include "queue/bench.h"
#include "schedule/planner.h"

struct desk {
    struct bench bench;
    struct planner_options with;
    struct planner *planner;
    struct guest *before; /* another guest, told before the planner; NULL: none */
    struct guest *guests[2];
    struct zones *zones;
    const char *zone_folder; /* NULL: the system's */
    struct err err;          /* of the last wish */
};

/* One week of horizon would show in every test; a test that asks for wake-ups sets its own. */
#define DESK_INIT                                                                                  \
    ((struct desk){.bench = BENCH_INIT,                                                            \
                   .with = {.limits = {.horizon_ms = 400 * DAY_MS, .min_lead_ms = 5000},           \
                            .misfire_after_ms = MINUTE_MS,                                         \
                            .default_type = {"remind", 6}}})
void desk_fini(struct desk *d);
void desk_restart(struct desk *d, int64_t later_ms); /* down for that long */

/* ---- Wishes. JSON has ' for ". The answer is the error's kind; its text is in `err`. ---- */

struct task_id desk_create(struct desk *d, const char *json); /* none: refused */
enum err_kind desk_change(struct desk *d, struct task_id id, const char *json);
struct planner_order desk_order(struct desk *d, struct planner_order order);
#define desk_wish(d, schedule, what, ...)                                                          \
    desk_order((d), (struct planner_order){.verb = (what), .id = (schedule), __VA_ARGS__})
struct call *desk_call(struct desk *d, struct planner_order *order); /* not yet given */

/* ---- Time ---- */

void desk_pass_ms(struct desk *d, int64_t ms);
void desk_to(struct desk *d, const char *time); /* up to then, from event to event */

/* Claims and ends the next task; its id. */
struct task_id desk_finish(struct desk *d, enum task_outcome outcome, const char *result);

/* ---- Looking ---- */

struct schedule desk_schedule(struct desk *d, struct task_id id);
bool desk_has(struct desk *d, struct task_id id);
struct execution *desk_history(struct desk *d, struct task_id id, size_t *count); /* oldest first */
/* The history as "SUCCESS RUNNING SKIPPED:3 WAKE_UP", oldest first. */
struct str desk_story(struct desk *d, struct task_id id);
/* The times of its entries, as "03-14T13:00 …", UTC. */
struct str desk_times(struct desk *d, struct task_id id);
struct str desk_time(struct desk *d, int64_t ms); /* "2027-03-14T13:00:00.000Z"; "" for 0 */

#endif
