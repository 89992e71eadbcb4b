/* tests/fuzz/fuzz_schedule.c: the body of a schedule, whatever it holds.
 *
 * What is refused says why. What is taken is the same after it was kept and loaded again, can be
 * planned, and its next time is ahead.
 *
 * SPDX-License-Identifier: MIT */
#include "fuzz.h"
#include "schedule/execution.h"
#include "schedule/schedule_plan.h"
#include "zones.h"

#define NOW_MS INT64_C(1800000000000)

static void check_kept(const struct schedule *schedule, struct arena *arena)
{
    struct schedule back;
    struct record record = schedule_record(schedule, arena);
    FUZZ_CLAIM(schedule_load(&record, arena, &back, NULL));
    struct record again = schedule_record(&back, arena);
    FUZZ_CLAIM(str_eq(record.body, again.body));
    FUZZ_CLAIM(record.due_ms == again.due_ms && record.mark == again.mark);
}

static void check_planned(struct schedule *schedule, struct zones *zones, struct arena *arena)
{
    const struct plan_limits limits = {.horizon_ms = 30 * DAY_MS, .min_lead_ms = 5000};
    struct err err = ERR_INIT;
    SCOPED(plan_close) struct plan plan = {0};
    FUZZ_CLAIM(plan_open(schedule, zones, arena, &plan, &err));
    if (plan_begin(&plan, schedule, &limits, NOW_MS, &err)) {
        FUZZ_CLAIM(schedule->next_ms > NOW_MS);
        FUZZ_CLAIM(schedule_due_ms(schedule) >= MIN(schedule->next_ms, NOW_MS + 30 * DAY_MS));
        check_kept(schedule, arena);
    } else {
        FUZZ_CLAIM(err.kind == ERR_REFUSED && err.field[0] != '\0');
    }
}

static void try_schedule(struct str text, struct zones *zones, struct arena *arena)
{
    struct json json;
    struct err err = ERR_INIT;
    uint64_t given = 0;
    struct schedule schedule = schedule_blank();
    json_start(&json, text, arena);
    if (form_read(&json, &schedule_form, &schedule, &given, NULL, &err) && json_end(&json, &err) &&
        schedule_check(&schedule, arena, &err) &&
        schedule_settle(&schedule, STR_NONE, zones, NOW_MS, arena, &err)) {
        schedule.id = (struct task_id){1, 0x123456789abcdef};
        schedule_remember(&schedule, text, arena);
        check_kept(&schedule, arena);
        check_planned(&schedule, zones, arena);
    } else {
        FUZZ_CLAIM(err.kind != ERR_NONE && err.text[0] != '\0');
    }
}

void fuzz_one(struct str text)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct execution execution;
    struct record record = {.kind = RECORD_EXECUTION, .body = text};
    try_schedule(text, fuzz_zones(), &arena);
    (void)!execution_load(&record, &arena, &execution, NULL);
    (void)execution_content(text, &arena);
}
