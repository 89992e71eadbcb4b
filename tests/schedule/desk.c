/* tests/schedule/desk.c: the planner on the workbench. See desk.h.
 *
 * SPDX-License-Identifier: MIT */
#include "desk.h"

#include "test.h"
#include "wire/time.h"

/* ---- Life ---- */

static void seat_planner(struct desk *d)
{
    d->with.zones = d->zones;
    d->planner = planner_new(&d->with);
    size_t count = 0;
    if (d->before != NULL) {
        d->guests[count++] = d->before;
    }
    d->guests[count++] = planner_guest(d->planner);
    d->bench.with.guests = d->guests;
    d->bench.with.guests_count = count;
}

static void open_once(struct desk *d)
{
    if (d->planner == NULL) {
        d->zones = zones_new(d->zone_folder);
        seat_planner(d);
    }
}

void desk_fini(struct desk *d)
{
    bench_fini(&d->bench);
    planner_free(d->planner);
    zones_free(d->zones);
}

void desk_restart(struct desk *d, int64_t later_ms)
{
    struct planner *old = d->planner;
    bench_jump_ms(&d->bench, later_ms);
    seat_planner(d);
    bench_restart(&d->bench);
    planner_free(old);
    bench_settle(&d->bench);
}

/* ---- Wishes ---- */

static struct str quoted(struct desk *d, const char *json)
{
    char *text = arena_c_text(&d->bench.arena, str_of(json));
    for (char *c = text; *c != '\0'; c++) {
        *c = *c == '\'' ? '"' : *c;
    }
    return str_of(text);
}

struct call *desk_call(struct desk *d, struct planner_order *order)
{
    open_once(d);
    struct call *call = bench_call(&d->bench, COMMAND_GUEST);
    planner_ask(d->planner, &call->command, order);
    return call;
}

struct planner_order desk_order(struct desk *d, struct planner_order order)
{
    struct planner_order *asked = arena_new(&d->bench.arena, struct planner_order);
    *asked = order;
    struct call *call = bench_run(&d->bench, desk_call(d, asked));
    d->err = call->command.err;
    return *asked;
}

static bool read_fields(struct desk *d, const char *text, struct schedule *out, uint64_t *given)
{
    struct json json;
    json_start(&json, quoted(d, text), &d->bench.arena);
    return form_read(&json, &schedule_form, out, given, NULL, &d->err) && json_end(&json, &d->err);
}

struct task_id desk_create(struct desk *d, const char *json)
{
    uint64_t given = 0;
    struct arena *arena = &d->bench.arena;
    struct schedule schedule = schedule_blank();
    open_once(d);
    d->err = ERR_INIT;
    if (!read_fields(d, json, &schedule, &given) || !schedule_check(&schedule, arena, &d->err) ||
        !schedule_settle(&schedule, STR_NONE, d->zones, bench_now(&d->bench).wall_ms, arena,
                         &d->err)) {
        return TASK_ID_NONE;
    }
    struct planner_order order = desk_wish(d, TASK_ID_NONE, PLANNER_CREATE, .schedule = schedule);
    return d->err.kind == ERR_NONE ? order.schedule.id : TASK_ID_NONE;
}

enum err_kind desk_change(struct desk *d, struct task_id id, const char *json)
{
    struct schedule_change *change = arena_new(&d->bench.arena, struct schedule_change);
    d->err = ERR_INIT;
    if (read_fields(d, json, &change->schedule, &change->given)) {
        desk_wish(d, id, PLANNER_CHANGE, .change = change);
    }
    return d->err.kind;
}

/* ---- Time ---- */

void desk_pass_ms(struct desk *d, int64_t ms)
{
    open_once(d);
    bench_pass_ms(&d->bench, ms);
}

void desk_to(struct desk *d, const char *time)
{
    struct err err = ERR_INIT;
    int64_t ms;
    open_once(d);
    CHECK_OK(time_parse(str_of(time), &ms, &err));
    desk_pass_ms(d, ms - bench_now(&d->bench).wall_ms);
}

struct task_id desk_finish(struct desk *d, enum task_outcome outcome, const char *result)
{
    struct task task = bench_claim(&d->bench, .worker = "w");
    CHECK(!id_none(task.id));
    struct call *call = bench_finish_call(&d->bench, &task, outcome);
    call->command.finish.items[0].result = str_of(result);
    bench_run(&d->bench, call);
    CHECK_EQ(call->command.finish.items[0].err.kind, ERR_NONE);
    return task.id;
}

/* ---- Looking ---- */

static struct record_load load(struct desk *d, struct task_id id)
{
    struct err err = ERR_INIT;
    SCOPED(tx_close) struct tx *tx = NULL;
    struct record_load load = {.kind = RECORD_SCHEDULE, .id = id};
    CHECK_OK(store_begin(d->bench.store, &tx, &err));
    CHECK_OK(tx_records_load(tx, &load, 1, &d->bench.arena, &err));
    return load;
}

bool desk_has(struct desk *d, struct task_id id)
{
    return load(d, id).found;
}

struct schedule desk_schedule(struct desk *d, struct task_id id)
{
    struct err err = ERR_INIT;
    struct schedule schedule;
    struct record_load found = load(d, id);
    CHECK(found.found);
    CHECK_OK(schedule_load(&found.record, &d->bench.arena, &schedule, &err));
    return schedule;
}

struct execution *desk_history(struct desk *d, struct task_id id, size_t *count)
{
    struct err err = ERR_INIT;
    struct records found;
    SCOPED(tx_close) struct tx *tx = NULL;
    const struct record_filter filter = {
        .kind = RECORD_EXECUTION, .parent = id, .oldest_first = true};
    CHECK_OK(store_begin(d->bench.store, &tx, &err));
    CHECK_OK(tx_records_list(tx, &filter, &d->bench.arena, &found, &err));
    struct execution *all = arena_array(&d->bench.arena, struct execution, found.count);
    for (size_t i = 0; i < found.count; i++) {
        CHECK_OK(execution_load(&found.at[i], &d->bench.arena, &all[i], &err));
    }
    *count = found.count;
    return all;
}

struct str desk_story(struct desk *d, struct task_id id)
{
    size_t count;
    struct execution *all = desk_history(d, id, &count);
    SCOPED(buf_fini) struct buf story = BUF_INIT(MIB);
    for (size_t i = 0; i < count; i++) {
        buf_printf(&story, "%s%s", i == 0 ? "" : " ", execution_statuses[all[i].status]);
        if (all[i].count != 1) {
            buf_printf(&story, ":%lld", (long long)all[i].count);
        }
    }
    return arena_str(&d->bench.arena, buf_view(&story));
}

struct str desk_time(struct desk *d, int64_t ms)
{
    char text[TIME_TEXT_LEN + 1] = "";
    if (ms != 0) {
        time_text(ms, text);
    }
    return arena_str(&d->bench.arena, str_of(text));
}

struct str desk_times(struct desk *d, struct task_id id)
{
    size_t count;
    struct execution *all = desk_history(d, id, &count);
    SCOPED(buf_fini) struct buf times = BUF_INIT(MIB);
    for (size_t i = 0; i < count; i++) {
        struct str time = desk_time(d, all[i].scheduled_ms);
        buf_printf(&times, "%s%.11s", i == 0 ? "" : " ", time.ptr + 5);
    }
    return arena_str(&d->bench.arena, buf_view(&times));
}
