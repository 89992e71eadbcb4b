/* tests/schedule/test_delivery.c: what a run's end brings about, on the engine's workbench.
 *
 * SPDX-License-Identifier: MIT */
#include "desk.h"
#include "schedule/usage.h"
#include "test.h"

/* Its only run. */
static struct execution run_of(struct desk *d, struct task_id schedule)
{
    size_t count;
    struct execution *all = desk_history(d, schedule, &count);
    CHECK(count >= 1);
    return all[count - 1];
}

static struct task claim(struct desk *d, const char *type)
{
    return bench_claim(&d->bench, .worker = "d", .queue = "deliveries", .type = type);
}

static struct records list(struct desk *d, enum record_kind kind, const char *owner)
{
    struct err err = ERR_INIT;
    struct records found;
    SCOPED(tx_close) struct tx *tx = NULL;
    const struct record_filter filter = {
        .kind = kind, .owner = str_of(owner), .oldest_first = true};
    CHECK_OK(store_begin(d->bench.store, &tx, &err));
    CHECK_OK(tx_records_list(tx, &filter, &d->bench.arena, &found, &err));
    return found;
}

static const char *const all_channels =
    "{'title':'News','purpose':'p','userId':'ann','rrule':'FREQ=DAILY','taskType':'t',"
    "'delivery':['EMAIL','WEB','MOBILE'],'deliverTo':{'EMAIL':'ann@example.org'}}";

static struct task_id ran(struct desk *d, const char *json)
{
    struct task_id id = desk_create(d, json);
    CHECK(!id_none(id));
    desk_pass_ms(d, DAY_MS);
    desk_finish(d, OUTCOME_COMPLETED, "\"the news\"");
    return id;
}

/* What its report says is the task of its delivery to the WEB. */
static struct task web_task(struct desk *d, struct task_id schedule)
{
    struct arena *arena = &d->bench.arena;
    struct str web = json_find(run_of(d, schedule).deliveries, "WEB", arena);
    struct task_id id;
    CHECK(id_parse(json_find_str(web, "taskId", arena), &id));
    return bench_task(&d->bench, id);
}

TEST(a_good_run_has_one_delivery_for_each_channel)
{
    SCOPED(desk_fini) struct desk d = DESK_INIT;
    struct task_id id = ran(&d, all_channels);
    struct task mail = claim(&d, "deliver.email"), phone = claim(&d, "deliver.mobile");
    struct arena *arena = &d.bench.arena;
    struct task web = web_task(&d, id);

    CHECK(id_eq(mail.schedule, id) && id_eq(web.schedule, id) && id_eq(phone.schedule, id));
    CHECK_STR(web.type, "deliver.web");
    CHECK_STR(json_find_str(mail.payload, "to", arena), "ann@example.org");
    CHECK_STR(json_find_str(mail.payload, "title", arena), "News");
    CHECK_STR(json_find_str(mail.payload, "text", arena), "the news");
    CHECK(str_absent(json_find(phone.payload, "to", arena)));
    CHECK(id_none(claim(&d, NULL).id));
    CHECK(!run_of(&d, id).delivered);
}

TEST(it_is_delivered_when_every_channel_is)
{
    SCOPED(desk_fini) struct desk d = DESK_INIT;
    struct task_id id = ran(&d, all_channels);
    const char *const types[] = {"deliver.email", "deliver.mobile"};
    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        struct task task = claim(&d, types[i]);
        CHECK(!run_of(&d, id).delivered);
        CHECK_EQ(bench_finish(&d.bench, &task, OUTCOME_COMPLETED), ERR_NONE);
    }
    CHECK(run_of(&d, id).delivered);
}

TEST(a_channel_that_fails_shows_and_holds_up_no_other)
{
    SCOPED(desk_fini) struct desk d = DESK_INIT;
    struct task_id id = ran(&d, all_channels);
    struct arena *arena = &d.bench.arena;
    struct task mail = claim(&d, "deliver.email");
    bench_finish(&d.bench, &mail, OUTCOME_FAILED);

    struct str report = run_of(&d, id).deliveries;
    struct str email = json_find(report, "EMAIL", arena);
    CHECK_STR(json_find_str(email, "status", arena), "RETRYING");
    CHECK_STR(json_find(email, "attempts", arena), "1");
    CHECK_STR(json_find_str(json_find(report, "WEB", arena), "status", arena), "COMPLETED");
    CHECK_STR(json_find_str(json_find(report, "MOBILE", arena), "status", arena), "QUEUED");
}

TEST(a_bad_run_is_not_delivered_but_a_retry_that_goes_well_is)
{
    SCOPED(desk_fini) struct desk d = DESK_INIT;
    struct task_id id =
        desk_create(&d, "{'title':'x','rrule':'FREQ=DAILY','taskType':'t','maxRetries':0}");
    desk_pass_ms(&d, DAY_MS);
    struct task_id task = desk_finish(&d, OUTCOME_FAILED, NULL);
    CHECK(id_none(claim(&d, NULL).id));
    CHECK(!run_of(&d, id).delivered && str_absent(run_of(&d, id).deliveries));
    CHECK_EQ(bench_revive(&d.bench, task), ERR_NONE);
    desk_finish(&d, OUTCOME_COMPLETED, "\"well\"");
    CHECK_EQ(web_task(&d, id).state, TASK_COMPLETED);
    CHECK_EQ(run_of(&d, id).status, EXECUTION_SUCCESS);
}

TEST(that_a_run_failed_is_told_once_and_that_it_was_cancelled_is_not)
{
    SCOPED(desk_fini) struct desk d = DESK_INIT;
    struct err err = ERR_INIT;
    struct notification got;
    desk_create(&d, "{'title':'News','userId':'ann','rrule':'FREQ=DAILY','taskType':'t',"
                    "'maxRetries':0,'delivery':['WEB','EMAIL']}");
    desk_pass_ms(&d, DAY_MS);
    struct task_id task = desk_finish(&d, OUTCOME_FAILED, NULL);
    CHECK_EQ(bench_revive(&d.bench, task), ERR_NONE);
    desk_finish(&d, OUTCOME_FAILED, NULL);

    struct records all = list(&d, RECORD_NOTIFICATION, "ann");
    CHECK_EQ(all.count, 1);
    CHECK_OK(notification_load(&all.at[0], &d.bench.arena, &got, &err));
    CHECK_STR(got.title, "Failed: News");
    CHECK(got.content.len > 0);
    CHECK(!id_none(claim(&d, "deliver.email").id));
    CHECK(id_none(claim(&d, NULL).id));

    desk_pass_ms(&d, DAY_MS);
    CHECK_EQ(bench_cancel(&d.bench, bench_claim(&d.bench, .worker = "w").id), ERR_NONE);
    CHECK_EQ(list(&d, RECORD_NOTIFICATION, "ann").count, 1);
}

/* ---- Notifications ---- */

TEST(a_delivery_to_the_web_is_done_when_the_run_is)
{
    SCOPED(desk_fini) struct desk d = DESK_INIT;
    struct task_id id =
        ran(&d, "{'title':'News','userId':'ann','rrule':'FREQ=DAILY','taskType':'t'}");
    struct task web = web_task(&d, id);

    CHECK(run_of(&d, id).delivered);
    CHECK_EQ(web.state, TASK_COMPLETED);
    CHECK_EQ(web.attempt, 1);
    CHECK_EQ(web.outcome, OUTCOME_COMPLETED);
    CHECK(id_none(claim(&d, NULL).id)); /* nobody has to work for it */
    CHECK_EQ(list(&d, RECORD_NOTIFICATION, "ann").count, 1);
}

TEST(the_web_channel_stores_one_notification_for_its_user)
{
    SCOPED(desk_fini) struct desk d = DESK_INIT;
    struct task_id id = ran(&d, "{'title':'News','userId':'ann','rrule':'FREQ=DAILY',"
                                "'taskType':'t','deliveryTitle':'Your news'}");
    struct err err = ERR_INIT;
    struct notification got;
    struct records all = list(&d, RECORD_NOTIFICATION, "ann");
    CHECK_EQ(all.count, 1);
    CHECK_OK(notification_load(&all.at[0], &d.bench.arena, &got, &err));
    CHECK(id_eq(got.schedule, id) && id_eq(got.execution, run_of(&d, id).id));
    CHECK_STR(got.title, "Your news");
    CHECK_STR(got.content, "the news");
    CHECK(!got.read);
    CHECK_EQ(list(&d, RECORD_NOTIFICATION, "bob").count, 0);
}

static struct notification_order mark_read(struct desk *d, struct task_id id, const char *owner)
{
    struct bench *b = &d->bench;
    struct notification_order *order = arena_new(&b->arena, struct notification_order);
    struct call *call = bench_call(b, COMMAND_GUEST);
    *order = (struct notification_order){.id = id, .owner = str_of(owner)};
    planner_ask_read(d->planner, &call->command, order);
    bench_run(b, call);
    d->err = call->command.err;
    return *order;
}

TEST(a_notification_is_read_once_and_by_its_user)
{
    SCOPED(desk_fini) struct desk d = DESK_INIT;
    ran(&d, "{'title':'x','userId':'ann','rrule':'FREQ=DAILY','taskType':'t'}");
    struct task_id id = list(&d, RECORD_NOTIFICATION, "ann").at[0].id;

    mark_read(&d, id, "bob");
    CHECK_EQ(d.err.kind, ERR_NOT_FOUND);
    struct notification_order first = mark_read(&d, id, "ann");
    CHECK_EQ(d.err.kind, ERR_NONE);
    CHECK(first.notification.read);
    desk_pass_ms(&d, SECOND_MS);
    struct notification_order second = mark_read(&d, id, NULL);
    CHECK_EQ(second.notification.read_ms, first.notification.read_ms);
    CHECK_EQ(list(&d, RECORD_NOTIFICATION, "ann").at[0].mark, NOTIFICATION_READ);
}

TEST(notifications_are_gone_when_their_time_is_over)
{
    SCOPED(desk_fini) struct desk d = DESK_INIT;
    d.with.retention_ms = 30 * DAY_MS;
    struct task_id id = ran(&d, "{'title':'x','userId':'ann','rrule':'FREQ=DAILY','taskType':'t'}");
    desk_wish(&d, id, PLANNER_PAUSE);
    desk_pass_ms(&d, 29 * DAY_MS);
    CHECK_EQ(list(&d, RECORD_NOTIFICATION, "ann").count, 1);
    desk_pass_ms(&d, 2 * DAY_MS);
    CHECK_EQ(list(&d, RECORD_NOTIFICATION, "ann").count, 0);
}

/* ---- Costs ---- */

static void finish_costing(struct desk *d, double queries, double tokens)
{
    struct bench *b = &d->bench;
    struct task task = bench_claim(b, .worker = "w");
    CHECK(!id_none(task.id));
    struct call *call = bench_finish_call(b, &task, OUTCOME_COMPLETED);
    call->command.finish.items[0].cost = (struct task_cost){-1, queries, tokens};
    bench_run(b, call);
}

TEST(what_a_run_cost_outlives_its_schedule)
{
    SCOPED(desk_fini) struct desk d = DESK_INIT;
    struct task_id id =
        desk_create(&d, "{'title':'x','userId':'ann','rrule':'FREQ=DAILY','taskType':'t'}");
    desk_pass_ms(&d, DAY_MS);
    finish_costing(&d, 3, 500);
    desk_wish(&d, id, PLANNER_REMOVE);

    struct records all = list(&d, RECORD_USAGE, "ann");
    CHECK_EQ(all.count, 1);
    CHECK(id_eq(usage_read(&all.at[0], &d.bench.arena).schedule, id));
    struct usage usage = usage_read(&all.at[0], &d.bench.arena);
    CHECK(usage.queries == 3 && usage.tokens == 500);
}

static const char *const hourly =
    "{'title':'x','userId':'ann','rrule':'FREQ=HOURLY','taskType':'t','overlap':'allow',"
    "'delivery':[]}";

static struct task_id paused(struct desk *d, const char *json)
{
    struct task_id id = desk_create(d, json);
    desk_wish(d, id, PLANNER_PAUSE);
    return id;
}

TEST(over_the_daily_limit_a_schedule_pauses_until_the_next_day)
{
    SCOPED(desk_fini) struct desk d = DESK_INIT;
    d.with.queries_max = 3;
    desk_pass_ms(&d, 0);
    struct task_id id = desk_create(&d, hourly);
    desk_to(&d, "2027-01-15T11:30:00Z"); /* three runs, each estimated at one */
    CHECK_EQ(desk_schedule(&d, id).status, SCHEDULE_ACTIVE);
    desk_to(&d, "2027-01-15T12:30:00Z");
    struct schedule paused = desk_schedule(&d, id);
    CHECK_EQ(paused.status, SCHEDULE_PAUSED);
    CHECK(paused.paused_reason.len > 0);
    CHECK_STR(desk_story(&d, id), "RUNNING RUNNING RUNNING");
    desk_to(&d, "2027-01-16T00:30:00Z");
    CHECK_EQ(desk_schedule(&d, id).status, SCHEDULE_ACTIVE);
    CHECK(str_absent(desk_schedule(&d, id).paused_reason));
}

TEST(runs_of_one_moment_cannot_all_slip_below_the_limit)
{
    SCOPED(desk_fini) struct desk d = DESK_INIT;
    size_t running = 0;
    d.with.queries_max = 2;
    struct task_id ids[5];
    for (size_t i = 0; i < ARRAY_LEN(ids); i++) {
        ids[i] = desk_create(&d, hourly);
    }
    desk_pass_ms(&d, HOUR_MS);
    for (size_t i = 0; i < ARRAY_LEN(ids); i++) {
        running += desk_story(&d, ids[i]).len > 0;
    }
    CHECK_EQ(running, 2);
}

/* Another node that begins the day's sum after a run was let through here and before it is counted:
 * told of the run's task before the planner is. */
struct other_node {
    struct guest guest;
    bool tried, applied;
};

static int64_t never_due(struct guest *guest, struct now now)
{
    (void)guest, (void)now;
    return INT64_MAX;
}

static void begin_day(struct guest *guest, struct batch *batch, const struct task *was,
                      const struct task *now)
{
    struct other_node *node = HOLDER(guest, struct other_node, guest);
    const struct record day = {
        .kind = RECORD_USAGE,
        .id = guest_make_id(batch),
        .owner = STR("ann"),
        .key = arena_printf(guest_arena(batch), "day:%lld:ann",
                            (long long)(guest_now(batch).wall_ms / DAY_MS)),
        .mark = USAGE_DAY,
        .body = STR("{\"queries\":1}"),
    };
    struct record_save save = {.record = &day};
    if (was == NULL && !id_none(now->schedule)) {
        CHECK(guest_try_records(batch, &save, 1));
        node->tried = true;
        node->applied = save.applied;
    }
}

TEST(whoever_lets_the_first_run_of_a_day_through_has_begun_its_sum)
{
    SCOPED(desk_fini) struct desk d = DESK_INIT;
    struct other_node other = {.guest = {.due_in_ms = never_due, .changed = begin_day}};
    d.before = &other.guest;
    d.with.queries_max = 1;
    struct task_id id = desk_create(&d, hourly);
    desk_pass_ms(&d, HOUR_MS);
    CHECK_STR(desk_story(&d, id), "RUNNING");
    CHECK(other.tried && !other.applied);
    struct records all = list(&d, RECORD_USAGE, "ann");
    CHECK_EQ(all.count, 1);
    CHECK(usage_read(&all.at[0], &d.bench.arena).queries == 1);
}

TEST(what_a_run_really_cost_counts_once_it_has_ended)
{
    SCOPED(desk_fini) struct desk d = DESK_INIT;
    d.with.queries_max = 3;
    struct task_id id = desk_create(&d, hourly);
    desk_pass_ms(&d, HOUR_MS);
    finish_costing(&d, 3, 10);
    desk_pass_ms(&d, HOUR_MS);
    CHECK_EQ(desk_schedule(&d, id).status, SCHEDULE_PAUSED);
    CHECK_STR(desk_story(&d, id), "SUCCESS");
}

TEST(a_run_that_ends_after_midnight_has_counted_for_its_own_day)
{
    SCOPED(desk_fini) struct desk d = DESK_INIT;
    d.with.queries_max = 3;
    struct task_id id = paused(&d, hourly);
    desk_to(&d, "2027-01-15T23:59:00Z");
    desk_wish(&d, id, PLANNER_RUN);
    desk_to(&d, "2027-01-16T00:01:00Z");
    finish_costing(&d, 3, 10);
    desk_wish(&d, id, PLANNER_RUN); /* the first of its day: nothing is spent yet */
    CHECK_EQ(d.err.kind, ERR_NONE);
    CHECK_STR(desk_story(&d, id), "SUCCESS RUNNING");
}

TEST(users_have_a_limit_each)
{
    SCOPED(desk_fini) struct desk d = DESK_INIT;
    d.with.queries_max = 1;
    struct task_id ann = desk_create(&d, hourly);
    struct task_id bob =
        desk_create(&d, "{'title':'x','userId':'bob','rrule':'FREQ=HOURLY','taskType':'t'}");
    desk_pass_ms(&d, HOUR_MS);
    CHECK_STR(desk_story(&d, ann), "RUNNING");
    CHECK_STR(desk_story(&d, bob), "RUNNING");
}

/* ---- Runs that somebody asks for ---- */

#define YESTERDAY                                                                                  \
    "{'title':'x','userId':'ann','rrule':'FREQ=HOURLY','dtstart':'2027-01-14T00:00:00',"           \
    "'taskType':'t','overlap':'allow','delivery':[]}"

TEST(a_run_by_hand_beyond_the_limit_is_refused_until_the_next_day)
{
    SCOPED(desk_fini) struct desk d = DESK_INIT;
    d.with.queries_max = 2;
    struct task_id id = paused(&d, hourly);
    desk_wish(&d, id, PLANNER_RUN);
    desk_wish(&d, id, PLANNER_RUN);
    desk_wish(&d, id, PLANNER_RUN);
    CHECK_EQ(d.err.kind, ERR_BUSY);
    CHECK_EQ(d.err.retry_after_ms, DAY_MS - bench_now(&d.bench).wall_ms % DAY_MS);
    CHECK_STR(desk_story(&d, id), "RUNNING RUNNING");
    CHECK_EQ(desk_schedule(&d, id).status, SCHEDULE_PAUSED);
    desk_to(&d, "2027-01-16T00:00:01Z");
    desk_wish(&d, id, PLANNER_RUN);
    CHECK_EQ(d.err.kind, ERR_NONE);
}

TEST(runs_by_hand_that_begin_together_share_what_is_left)
{
    SCOPED(desk_fini) struct desk d = DESK_INIT;
    d.with.queries_max = 3;
    struct task_id ids[2] = {paused(&d, hourly), paused(&d, hourly)};
    struct planner_order orders[5];
    struct call *calls[5];
    size_t refused = 0;
    for (size_t i = 0; i < ARRAY_LEN(orders); i++) {
        orders[i] = (struct planner_order){.verb = PLANNER_RUN, .id = ids[i % 2]};
        calls[i] = desk_call(&d, &orders[i]);
        bench_give(&d.bench, calls[i]);
    }
    bench_settle(&d.bench);
    for (size_t i = 0; i < ARRAY_LEN(orders); i++) {
        refused += calls[i]->command.err.kind == ERR_BUSY;
    }
    CHECK_EQ(refused, 2);
    CHECK_EQ(bench_count(&d.bench, TASK_QUEUED), 3);
}

TEST(a_backfill_beyond_the_limit_is_refused_as_a_whole)
{
    SCOPED(desk_fini) struct desk d = DESK_INIT;
    d.with.queries_max = 3;
    struct task_id id = paused(&d, YESTERDAY);
    int64_t now_ms = bench_now(&d.bench).wall_ms;
    desk_wish(&d, id, PLANNER_BACKFILL, .from_ms = now_ms - 4 * HOUR_MS, .to_ms = now_ms - HOUR_MS);
    CHECK_EQ(d.err.kind, ERR_BUSY);
    CHECK_STR(desk_story(&d, id), "");
    struct planner_order order = desk_wish(
        &d, id, PLANNER_BACKFILL, .from_ms = now_ms - 3 * HOUR_MS, .to_ms = now_ms - HOUR_MS);
    CHECK_EQ(order.count, 3);
    order = desk_wish(&d, id, PLANNER_BACKFILL, .from_ms = now_ms - 3 * HOUR_MS,
                      .to_ms = now_ms - HOUR_MS); /* nothing to run needs nothing */
    CHECK_EQ(d.err.kind, ERR_NONE);
    CHECK_EQ(order.count, 0);
}

TEST(missed_runs_that_are_made_up_share_what_is_left)
{
    SCOPED(desk_fini) struct desk d = DESK_INIT;
    d.with.queries_max = 3;
    struct task_id id =
        desk_create(&d, "{'title':'x','userId':'ann','rrule':'FREQ=HOURLY','taskType':'t',"
                        "'overlap':'allow','misfire':'all','delivery':[]}");
    desk_restart(&d, 6 * HOUR_MS);
    desk_pass_ms(&d, 0);
    CHECK_STR(desk_story(&d, id), "RUNNING RUNNING RUNNING");
    CHECK_EQ(desk_schedule(&d, id).status, SCHEDULE_PAUSED);
}

/* ---- Attempts ---- */

static void fail_costing(struct desk *d, double queries)
{
    struct bench *b = &d->bench;
    struct task task = bench_claim(b, .worker = "w");
    CHECK(!id_none(task.id));
    struct call *call = bench_finish_call(b, &task, OUTCOME_FAILED);
    call->command.finish.items[0].cost = (struct task_cost){-1, queries, -1};
    bench_run(b, call);
}

TEST(an_attempt_more_counts_where_the_one_before_has_cost_something)
{
    SCOPED(desk_fini) struct desk d = DESK_INIT;
    d.with.queries_max = 2;
    struct task_id id = paused(&d, hourly);
    struct task_id run = desk_wish(&d, id, PLANNER_RUN).execution;
    fail_costing(&d, 1);
    CHECK_EQ(bench_task(&d.bench, run).state, TASK_RETRYING);
    desk_wish(&d, id, PLANNER_RUN); /* one is spent, one is set aside for the retry */
    CHECK_EQ(d.err.kind, ERR_BUSY);
    desk_pass_ms(&d, MINUTE_MS);
    fail_costing(&d, 2); /* the task has the sum of its attempts */
    CHECK_EQ(bench_task(&d.bench, run).state, TASK_CANCELLED);
    CHECK_STR(desk_story(&d, id), "FAILURE");
    desk_wish(&d, id, PLANNER_RUN);
    CHECK_EQ(d.err.kind, ERR_BUSY);
}

TEST(an_attempt_that_cost_nothing_gives_back_nothing_and_takes_nothing)
{
    SCOPED(desk_fini) struct desk d = DESK_INIT;
    d.with.queries_max = 1;
    struct task_id id = paused(&d, hourly);
    struct task_id run = desk_wish(&d, id, PLANNER_RUN).execution;
    fail_costing(&d, -1);
    CHECK_EQ(bench_task(&d.bench, run).state, TASK_RETRYING);
    bench_run(&d.bench, bench_one_call(&d.bench, COMMAND_CANCEL, run));
    desk_wish(&d, id, PLANNER_RUN); /* what was set aside is free again */
    CHECK_EQ(d.err.kind, ERR_NONE);
}

TEST(a_retry_by_hand_counts_for_its_own_day_and_is_refused_beyond_the_limit)
{
    SCOPED(desk_fini) struct desk d = DESK_INIT;
    d.with.queries_max = 2;
    struct bench *b = &d.bench;
    struct task_id id = paused(&d, hourly);
    struct task_id run = desk_wish(&d, id, PLANNER_RUN).execution;
    bench_run(b, bench_one_call(b, COMMAND_CANCEL, run)); /* that counts for nothing */
    desk_wish(&d, id, PLANNER_RUN);
    desk_wish(&d, id, PLANNER_RUN);
    struct call *retry = bench_run(b, bench_one_call(b, COMMAND_REVIVE, run));
    CHECK_EQ(retry->command.err.kind, ERR_BUSY);
    CHECK_EQ(bench_task(b, run).state, TASK_CANCELLED);
    retry = bench_run(b, bench_bulk_call(b, BULK_REVIVE, (struct task_filter){.schedule = id}));
    CHECK_EQ(retry->command.bulk.count, 0);
    desk_to(&d, "2027-01-16T00:00:01Z");
    retry = bench_run(b, bench_one_call(b, COMMAND_REVIVE, run));
    CHECK_EQ(retry->command.err.kind, ERR_NONE);
    desk_wish(&d, id, PLANNER_RUN);
    CHECK_EQ(d.err.kind, ERR_NONE);
    desk_wish(&d, id, PLANNER_RUN); /* the retry is one of this day's */
    CHECK_EQ(d.err.kind, ERR_BUSY);
}
