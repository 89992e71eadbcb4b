/* tests/team/test_lead.c: the lead takes part in the engine's batches.
 *
 * What agents see of it is tested from outside (tests/system/test_teams.py); here is what only
 * shows from within: batches that fail, a model's split, a synthesis, queues that are used again.
 *
 * SPDX-License-Identifier: MIT */
#include "team/lead.h"

#include "base/mem.h"
#include "queue/bench.h"
#include "test.h"

struct office {
    struct bench bench;
    struct lead_options with;
    struct lead *lead;
    struct guest *guests[2];
    struct guest *beside; /* another guest; NULL: none */
    struct err err;
    struct channel news;
    size_t told[TEAM_FOLLOWS + 1]; /* heard() counts */
};

static void ignore(void *arg)
{
    (void)arg; /* the office looks when it wants to know */
}

/* How often the crew was told so. */
static size_t heard(struct office *o, enum team_news_kind kind)
{
    struct list news;
    list_init(&news);
    channel_take(&o->news, &news);
    LIST_EACH(&news, it)
    {
        struct team_news *one = HOLDER(it, struct team_news, link);
        CHECK(one->kind > TEAM_ENDED || str_starts(str_of(one->queue), STR("team/")));
        o->told[one->kind]++;
        mem_free(one);
    }
    return o->told[kind];
}

static void seat(struct office *o)
{
    if (o->lead == NULL) {
        channel_init(&o->news, ignore, NULL);
        o->with.news = &o->news;
        o->lead = lead_new(&o->with);
        o->guests[0] = lead_guest(o->lead);
        o->bench.with.guests = o->guests;
        o->guests[1] = o->beside;
        o->bench.with.guests_count = o->beside == NULL ? 1 : 2;
        bench_settle(&o->bench); /* it has looked which teams run */
    }
}

#define OFFICE_INIT ((struct office){.bench = BENCH_INIT})

static void office_fini(struct office *o)
{
    bench_fini(&o->bench);
    lead_free(o->lead);
    heard(o, TEAM_ENDED);
    channel_fini(&o->news);
}

static struct lead_order ask(struct office *o, struct lead_order order)
{
    seat(o);
    struct lead_order *asked = arena_new(&o->bench.arena, struct lead_order);
    struct call *call = bench_call(&o->bench, COMMAND_GUEST);
    *asked = order;
    lead_ask(o->lead, &call->command, asked);
    bench_run(&o->bench, call);
    o->err = call->command.err;
    return *asked;
}

static struct team_tasks tasks_of(struct office *o, const char *text)
{
    struct json json;
    struct team_tasks tasks = {NULL, 0};
    struct err err = ERR_INIT;
    char *copy = arena_c_text(&o->bench.arena, str_of(text));
    for (char *c = copy; *c != '\0'; c++) {
        *c = *c == '\'' ? '"' : *c;
    }
    json_start(&json, str_of(copy), &o->bench.arena);
    CHECK_OK(team_tasks_read(&json, &tasks, &err) &&
             team_tasks_check(&tasks, &o->bench.arena, &err));
    return tasks;
}

#define TWO "[{'id':'a','title':'A'},{'id':'b','title':'B','dependsOn':['a']}]"

static struct team begin(struct office *o, const char *tasks)
{
    struct team team = TEAM_INIT;
    team.prompt = STR("p");
    if (tasks != NULL) {
        team.tasks = tasks_of(o, tasks);
    }
    return ask(o, (struct lead_order){.verb = LEAD_CREATE, .team = team}).team;
}

static struct team look(struct office *o, struct task_id id)
{
    struct err err = ERR_INIT;
    struct reader *reader;
    struct record record;
    struct team team;
    bool found;
    CHECK_OK(reader_open(o->bench.store, &reader, &err));
    CHECK_OK(reader_record(reader, RECORD_TEAM, id, &o->bench.arena, &found, &record, &err));
    CHECK(found);
    CHECK_OK(team_load(&record, &o->bench.arena, &team, &err));
    reader_close(reader);
    return team;
}

static struct task take(struct office *o, const struct team *team, const char *type)
{
    const char *queue = arena_c_text(&o->bench.arena, team->queue);
    return bench_claim(&o->bench, .worker = "w", .queue = queue, .type = type);
}

static void complete(struct office *o, const struct task *task, struct str result)
{
    struct call *call = bench_finish_call(&o->bench, task, OUTCOME_COMPLETED);
    call->command.finish.items[0].result = result;
    bench_run(&o->bench, call);
    CHECK_EQ(call->command.finish.items[0].err.kind, ERR_NONE);
}

TEST(a_team_and_its_tasks_are_there_together_or_not_at_all)
{
    SCOPED(office_fini) struct office o = OFFICE_INIT;
    begin(&o, TWO);
    memory_disk_fail_next(o.bench.disk, MEMORY_FULL);
    begin(&o, TWO);
    CHECK_EQ(o.err.kind, ERR_UNAVAILABLE);
    CHECK_EQ(heard(&o, TEAM_BEGAN), 1);
    CHECK_EQ(bench_count(&o.bench, TASK_QUEUED), 1);
    CHECK_EQ(bench_count(&o.bench, TASK_WAITING), 1);
}

TEST(the_end_of_the_last_task_and_that_of_its_team_are_one_commit)
{
    SCOPED(office_fini) struct office o = OFFICE_INIT;
    struct team team = begin(&o, "[{'id':'a','title':'A'}]");
    struct task task = take(&o, &team, TEAM_TASK_TYPE);
    memory_disk_fail_next(o.bench.disk, MEMORY_FULL);
    CHECK_EQ(bench_finish(&o.bench, &task, OUTCOME_COMPLETED), ERR_UNAVAILABLE);
    CHECK_EQ(look(&o, team.id).status, TEAM_RUNNING);
    CHECK_EQ(heard(&o, TEAM_ENDED), 0);
    complete(&o, &task, STR("\"x\""));
    CHECK_EQ(look(&o, team.id).status, TEAM_COMPLETED);
    CHECK_STR(look(&o, team.id).result, "\"## A\\n\\nx\"");
    CHECK_EQ(heard(&o, TEAM_ENDED), 1);
}

TEST(two_tasks_that_end_in_one_batch_end_their_team_once)
{
    SCOPED(office_fini) struct office o = OFFICE_INIT;
    struct team team = begin(&o, "[{'id':'a','title':'A'},{'id':'b','title':'B'}]");
    struct task a = take(&o, &team, TEAM_TASK_TYPE), b = take(&o, &team, TEAM_TASK_TYPE);
    struct call *first = bench_finish_call(&o.bench, &a, OUTCOME_COMPLETED);
    struct call *second = bench_finish_call(&o.bench, &b, OUTCOME_COMPLETED);
    first->command.finish.items[0].result = STR("1");
    second->command.finish.items[0].result = STR("2");
    bench_give(&o.bench, first);
    bench_run(&o.bench, second);
    CHECK_STR(look(&o, team.id).result, "\"## A\\n\\n1\\n\\n## B\\n\\n2\"");
    CHECK_EQ(heard(&o, TEAM_ENDED), 1);
}

TEST(a_task_that_fails_in_the_batch_of_the_last_good_one_fails_its_team)
{
    SCOPED(office_fini) struct office o = OFFICE_INIT;
    struct team team = begin(&o, "[{'id':'a','title':'A'},{'id':'b','title':'B'}]");
    struct task a = take(&o, &team, TEAM_TASK_TYPE), b = take(&o, &team, TEAM_TASK_TYPE);
    struct call *good = bench_finish_call(&o.bench, &a, OUTCOME_COMPLETED);
    struct call *bad = bench_finish_call(&o.bench, &b, OUTCOME_FAILED);
    bad->command.finish.items[0].retry = false;
    bench_give(&o.bench, good);
    bench_run(&o.bench, bad);
    CHECK_EQ(look(&o, team.id).status, TEAM_FAILED);
    CHECK_STR(look(&o, team.id).error_code, "task_failed");
    CHECK_EQ(heard(&o, TEAM_ENDED), 1);
}

TEST(a_split_becomes_tasks_in_the_commit_of_its_end)
{
    SCOPED(office_fini) struct office o = OFFICE_INIT;
    o.with.decides = true;
    struct team team = begin(&o, NULL);
    CHECK_EQ(team.mates.count, TEAM_MATES_DEFAULT);
    struct task split = take(&o, &team, TEAM_SPLIT_TYPE);
    complete(&o, &split,
             STR("{\"tasks\":[{\"id\":\"a\",\"title\":\"A\"},"
                 "{\"id\":\"b\",\"title\":\"B\",\"dependsOn\":[\"a\"]}]}"));
    team = look(&o, team.id);
    CHECK_EQ(team.tasks.count, 2);
    CHECK_EQ(bench_task(&o.bench, team.tasks.at[1].task).state, TASK_WAITING);
    CHECK_EQ(bench_task(&o.bench, team.synthesis).state, TASK_WAITING);
}

TEST(a_split_that_is_wrong_after_all_fails_the_team)
{
    SCOPED(office_fini) struct office o = OFFICE_INIT;
    o.with.decides = true;
    struct team team = begin(&o, NULL);
    struct task split = take(&o, &team, TEAM_SPLIT_TYPE);
    complete(&o, &split, STR("{\"tasks\":[]}"));
    CHECK_EQ(look(&o, team.id).status, TEAM_FAILED);
    CHECK_STR(look(&o, team.id).error_code, "split_failed");
    CHECK_EQ(heard(&o, TEAM_ENDED), 1);
}

TEST(a_synthesis_is_the_result_and_a_failed_one_loses_nothing)
{
    SCOPED(office_fini) struct office o = OFFICE_INIT;
    o.with.decides = true;
    for (int good = 0; good < 2; good++) {
        struct team team = begin(&o, "[{'id':'a','title':'A'}]");
        struct task task = take(&o, &team, TEAM_TASK_TYPE);
        complete(&o, &task, STR("\"x\""));
        CHECK_EQ(look(&o, team.id).status, TEAM_RUNNING);
        struct task synthesis = take(&o, &team, TEAM_SYNTHESIS_TYPE);
        CHECK(id_eq(synthesis.id, team.synthesis));
        if (good) {
            complete(&o, &synthesis, STR("\"all is well\""));
        } else {
            bench_cancel(&o.bench, synthesis.id);
            bench_finish(&o.bench, &synthesis, OUTCOME_RELEASED);
        }
        CHECK_EQ(look(&o, team.id).status, TEAM_COMPLETED);
        CHECK_STR(look(&o, team.id).result, good ? "\"all is well\"" : "\"## A\\n\\nx\"");
    }
}

TEST(teams_that_run_have_queues_of_their_own_and_ended_ones_leave_theirs)
{
    SCOPED(office_fini) struct office o = OFFICE_INIT;
    struct team last = {0};
    for (size_t i = 0; i < TEAMS_RUNNING_MAX; i++) {
        last = begin(&o, "[{'id':'a','title':'A'}]");
        CHECK_EQ(o.err.kind, ERR_NONE);
    }
    begin(&o, "[{'id':'a','title':'A'}]");
    CHECK_EQ(o.err.kind, ERR_BUSY);
    ask(&o, (struct lead_order){.verb = LEAD_END, .id = last.id});
    struct team next = begin(&o, "[{'id':'a','title':'A'}]");
    CHECK_EQ(o.err.kind, ERR_NONE);
    CHECK(str_eq(next.queue, last.queue));
}

TEST(after_a_restart_the_crew_hears_which_teams_run)
{
    SCOPED(office_fini) struct office o = OFFICE_INIT;
    struct team team = begin(&o, TWO);
    begin(&o, TWO);
    ask(&o, (struct lead_order){.verb = LEAD_END, .id = team.id});
    CHECK_EQ(heard(&o, TEAM_BEGAN), 2);
    struct lead *old = o.lead;
    o.lead = lead_new(&o.with);
    o.guests[0] = lead_guest(o.lead);
    bench_restart(&o.bench);
    lead_free(old);
    bench_settle(&o.bench);
    CHECK_EQ(heard(&o, TEAM_BEGAN), 3);
}

/* ---- The document of a team ---- */

#define PAIR                                                                                       \
    "[{'id':'a','title':'A'},{'id':'b','title':'B'},{'id':'c','title':'C','dependsOn':['a','b']}]"

static struct team begin_on(struct office *o, const char *tasks, const char *document)
{
    struct team team = TEAM_INIT;
    team.prompt = STR("p");
    team.document = str_of(document);
    if (tasks != NULL) {
        team.tasks = tasks_of(o, tasks);
    }
    team = ask(o, (struct lead_order){.verb = LEAD_CREATE, .team = team}).team;
    bench_settle(&o->bench);
    return look(o, team.id);
}

static struct task_id outside(struct office *o, const char *document)
{
    return bench_create(&o->bench, "outside", .document = document);
}

static bool is_taken(struct office *o, struct task_id id, struct task *out)
{
    *out = bench_claim(&o->bench, .worker = "o", .type = "outside");
    return id_eq(out->id, id);
}

static void finish_all(struct office *o, const struct team *team)
{
    for (size_t i = 0; i < team->tasks.count; i++) {
        struct task task = take(o, team, TEAM_TASK_TYPE);
        complete(o, &task, STR("1"));
    }
    CHECK_EQ(look(o, team->id).status, TEAM_COMPLETED);
}

static void restart(struct office *o)
{
    struct lead *old = o->lead;
    o->lead = lead_new(&o->with);
    o->guests[0] = lead_guest(o->lead);
    bench_restart(&o->bench);
    lead_free(old);
    bench_settle(&o->bench);
}

TEST(a_free_document_is_the_teams_at_once_and_its_tasks_run_beside_each_other)
{
    SCOPED(office_fini) struct office o = OFFICE_INIT;
    struct team team = begin_on(&o, PAIR, "d");
    struct task_id other = outside(&o, "d");
    struct task a = take(&o, &team, TEAM_TASK_TYPE), b = take(&o, &team, TEAM_TASK_TYPE), none;
    CHECK_EQ(a.state, TASK_RUNNING);
    CHECK_EQ(b.state, TASK_RUNNING);
    CHECK_STR(b.document, "d");
    CHECK(!is_taken(&o, other, &none));
    struct document_view view = bench_document(&o.bench, "d");
    CHECK(view.locked && id_eq(view.task, team.hold));
    CHECK_EQ(view.waiting_count, 1);
    complete(&o, &a, STR("1"));
    complete(&o, &b, STR("2"));
    CHECK(!is_taken(&o, other, &none));
    struct task c = take(&o, &team, TEAM_TASK_TYPE);
    complete(&o, &c, STR("3"));
    CHECK_EQ(bench_task(&o.bench, team.hold).state, TASK_COMPLETED);
    CHECK(is_taken(&o, other, &none));
}

TEST(a_document_is_given_on_when_the_last_two_of_a_team_end_in_one_batch)
{
    SCOPED(office_fini) struct office o = OFFICE_INIT;
    struct task none;
    struct team team = begin_on(&o, "[{'id':'a','title':'A'},{'id':'b','title':'B'}]", "d");
    struct task_id other = outside(&o, "d");
    struct task a = take(&o, &team, TEAM_TASK_TYPE), b = take(&o, &team, TEAM_TASK_TYPE);
    bench_give(&o.bench, bench_finish_call(&o.bench, &a, OUTCOME_COMPLETED));
    bench_run(&o.bench, bench_finish_call(&o.bench, &b, OUTCOME_COMPLETED));
    CHECK_EQ(bench_task(&o.bench, team.hold).state, TASK_COMPLETED);
    CHECK(is_taken(&o, other, &none));
}

/* Somebody else was faster: the first batch with tasks of a team comes to nothing. */
struct rival {
    struct guest guest;
    bool was_faster;
};

static int64_t never_due(struct guest *guest, struct now now)
{
    (void)guest, (void)now;
    return INT64_MAX;
}

static void lose_once(struct guest *guest, struct batch *batch, const struct task *was,
                      const struct task *now)
{
    struct rival *rival = HOLDER(guest, struct rival, guest);
    (void)was, (void)now;
    if (!rival->was_faster) {
        rival->was_faster = true;
        guest_lost(batch);
    }
}

TEST(a_team_that_is_decided_anew_holds_its_document)
{
    SCOPED(office_fini) struct office o = OFFICE_INIT;
    struct rival rival = {.guest = {.due_in_ms = never_due, .changed = lose_once}};
    o.beside = &rival.guest;
    struct team team = begin_on(&o, PAIR, "d");
    CHECK(rival.was_faster);
    struct document_view view = bench_document(&o.bench, "d");
    CHECK(view.locked && id_eq(view.task, team.hold));
    CHECK_EQ(bench_task(&o.bench, team.hold).state, TASK_RUNNING);
}

TEST(a_team_has_its_place_in_the_line_of_its_document)
{
    SCOPED(office_fini) struct office o = OFFICE_INIT;
    seat(&o);
    struct task_id before = outside(&o, "d");
    struct team team = begin_on(&o, PAIR, "d");
    struct task_id behind = outside(&o, "d");
    CHECK_EQ(bench_document(&o.bench, "d").waiting_count, 3);
    CHECK(id_eq(bench_document(&o.bench, "d").waiting[1], team.turn));
    CHECK(id_none(take(&o, &team, TEAM_TASK_TYPE).id));
    struct task first, none;
    CHECK(is_taken(&o, before, &first));
    struct call *waits = bench_claim_call(
        &o.bench, (struct bench_claim){.worker = "o2", .type = "outside", .wait = true});
    bench_give(&o.bench, waits); /* asks before the team could */
    bench_settle(&o.bench);
    struct call *why = bench_why(&o.bench, team.tasks.at[0].task);
    CHECK_EQ(why->command.why.count, 1);
    CHECK_EQ(why->command.why.reasons[0].code, WHY_DOCUMENT_LOCKED);
    CHECK(id_eq(why->command.why.reasons[0].task, before));
    bench_finish(&o.bench, &first, OUTCOME_COMPLETED);
    bench_settle(&o.bench);
    CHECK(!waits->answered);
    CHECK_EQ(bench_task(&o.bench, team.hold).state, TASK_RUNNING);
    CHECK_EQ(bench_task(&o.bench, team.turn).state, TASK_COMPLETED);
    CHECK(id_none(look(&o, team.id).turn));
    finish_all(&o, &team);
    CHECK(waits->answered && id_eq(waits->command.claim.tasks[0].id, behind));
    (void)none;
}

TEST(what_nobody_asks_for_holds_up_a_team_for_a_minute)
{
    SCOPED(office_fini) struct office o = OFFICE_INIT;
    seat(&o);
    outside(&o, "d");
    struct team team = begin_on(&o, PAIR, "d");
    struct call *why = bench_why(&o.bench, team.hold);
    CHECK_EQ(why->command.why.count, 1);
    CHECK_EQ(why->command.why.reasons[0].ahead, 1);
    bench_pass_ms(&o.bench, 59000);
    CHECK_EQ(bench_task(&o.bench, team.hold).state, TASK_QUEUED);
    bench_pass_ms(&o.bench, 2000);
    CHECK_EQ(bench_task(&o.bench, team.hold).state, TASK_RUNNING);
    finish_all(&o, &team);
}

TEST(what_leaves_the_line_lets_the_team_come_forward)
{
    SCOPED(office_fini) struct office o = OFFICE_INIT;
    seat(&o);
    struct task_id before = outside(&o, "d");
    struct team team = begin_on(&o, PAIR, "d");
    bench_cancel(&o.bench, before);
    bench_settle(&o.bench);
    CHECK_EQ(bench_task(&o.bench, team.hold).state, TASK_RUNNING);
}

TEST(a_restart_keeps_the_hold_and_the_place_in_line)
{
    SCOPED(office_fini) struct office o = OFFICE_INIT;
    struct task none;
    struct team team = begin_on(&o, PAIR, "d"), next = begin_on(&o, PAIR, "d");
    struct task_id other = outside(&o, "d");
    struct task a = take(&o, &team, TEAM_TASK_TYPE);
    restart(&o);
    CHECK(!is_taken(&o, other, &none));
    struct task b = take(&o, &team, TEAM_TASK_TYPE);
    CHECK_EQ(b.state, TASK_RUNNING);
    CHECK(id_none(take(&o, &next, TEAM_TASK_TYPE).id));
    complete(&o, &a, STR("1"));
    complete(&o, &b, STR("1"));
    struct task c = take(&o, &team, TEAM_TASK_TYPE);
    complete(&o, &c, STR("1"));
    bench_settle(&o.bench);
    CHECK_EQ(bench_task(&o.bench, next.hold).state, TASK_RUNNING);
    CHECK(bench_document(&o.bench, "d").locked);
    restart(&o);
    CHECK(!is_taken(&o, other, &none));
    finish_all(&o, &next);
    CHECK(is_taken(&o, other, &none));
}

TEST(a_document_is_given_on_when_the_last_of_an_ended_team_has_stopped)
{
    SCOPED(office_fini) struct office o = OFFICE_INIT;
    struct task none;
    struct team team = begin_on(&o, PAIR, "d");
    struct task a = take(&o, &team, TEAM_TASK_TYPE), b = take(&o, &team, TEAM_TASK_TYPE);
    struct task_id other = outside(&o, "d");
    ask(&o, (struct lead_order){.verb = LEAD_END, .id = team.id});
    CHECK_EQ(look(&o, team.id).status, TEAM_CANCELLED);
    ask(&o, (struct lead_order){.verb = LEAD_END, .id = team.id}); /* removed, while they work */
    bench_finish(&o.bench, &a, OUTCOME_RELEASED);
    CHECK(!is_taken(&o, other, &none));
    restart(&o);
    CHECK(!is_taken(&o, other, &none));
    bench_finish(&o.bench, &b, OUTCOME_COMPLETED);
    CHECK(is_taken(&o, other, &none));
    CHECK_EQ(bench_task(&o.bench, team.hold).state, TASK_COMPLETED);
}

TEST(a_team_that_fails_gives_its_document_on)
{
    SCOPED(office_fini) struct office o = OFFICE_INIT;
    struct task none;
    struct team team = begin_on(&o, PAIR, "d");
    struct task_id other = outside(&o, "d");
    bench_cancel(&o.bench, team.tasks.at[0].task);
    CHECK_EQ(look(&o, team.id).status, TEAM_FAILED);
    CHECK(is_taken(&o, other, &none));
}

TEST(a_team_that_ends_in_the_batch_of_its_turn_gives_its_document_on)
{
    SCOPED(office_fini) struct office o = OFFICE_INIT;
    struct task running, none;
    seat(&o);
    struct task_id first = outside(&o, "d");
    CHECK(is_taken(&o, first, &running));
    struct team team = begin_on(&o, PAIR, "d");
    struct task_id behind = outside(&o, "d");
    bench_give(&o.bench, bench_finish_call(&o.bench, &running, OUTCOME_COMPLETED));
    bench_step(&o.bench); /* the document is free, the turn has not been looked at */
    struct call *cancel = bench_call(&o.bench, COMMAND_CANCEL);
    cancel->command.one.id = team.tasks.at[0].task;
    bench_run(&o.bench, cancel);
    CHECK_EQ(look(&o, team.id).status, TEAM_FAILED);
    CHECK_EQ(bench_task(&o.bench, team.hold).state, TASK_COMPLETED);
    CHECK(is_taken(&o, behind, &none));
}

TEST(a_team_that_ends_in_line_leaves_it)
{
    SCOPED(office_fini) struct office o = OFFICE_INIT;
    struct task none;
    struct team first = begin_on(&o, PAIR, "d"), team = begin_on(&o, PAIR, "d");
    struct task_id other = outside(&o, "d");
    ask(&o, (struct lead_order){.verb = LEAD_END, .id = team.id});
    CHECK_EQ(bench_task(&o.bench, team.hold).state, TASK_CANCELLED);
    CHECK_EQ(bench_task(&o.bench, team.turn).state, TASK_CANCELLED);
    CHECK_EQ(bench_revive(&o.bench, team.hold), ERR_CONFLICT);
    finish_all(&o, &first);
    CHECK(is_taken(&o, other, &none));
}

TEST(to_cancel_what_holds_or_waits_is_to_cancel_the_team)
{
    SCOPED(office_fini) struct office o = OFFICE_INIT;
    struct task none;
    struct team first = begin_on(&o, PAIR, "d"), second = begin_on(&o, PAIR, "d"),
                third = begin_on(&o, PAIR, "d");
    struct task_id other = outside(&o, "d");
    CHECK_EQ(bench_change(
                 &o.bench, second.hold,
                 (struct task_patch){TASK_BIT(priority), &(struct task){.priority = TASK_HIGH}}),
             ERR_CONFLICT);
    CHECK_EQ(bench_cancel(&o.bench, second.turn), ERR_NONE);
    CHECK_EQ(look(&o, second.id).status, TEAM_CANCELLED);
    CHECK_EQ(bench_cancel(&o.bench, third.hold), ERR_NONE);
    CHECK_EQ(look(&o, third.id).status, TEAM_CANCELLED);
    struct task a = take(&o, &first, TEAM_TASK_TYPE);
    CHECK_EQ(bench_cancel(&o.bench, first.hold), ERR_NONE);
    CHECK_EQ(look(&o, first.id).status, TEAM_CANCELLED);
    CHECK(!is_taken(&o, other, &none));
    bench_finish(&o.bench, &a, OUTCOME_RELEASED);
    CHECK_EQ(bench_task(&o.bench, first.hold).state, TASK_COMPLETED);
    CHECK_EQ(bench_revive(&o.bench, first.hold), ERR_CONFLICT);
    CHECK(is_taken(&o, other, &none));
}

TEST(a_split_is_made_in_line_and_its_tasks_wait_for_the_turn)
{
    SCOPED(office_fini) struct office o = OFFICE_INIT;
    o.with.decides = true;
    struct team first = begin_on(&o, "[{'id':'a','title':'A'}]", "d");
    struct team team = begin_on(&o, NULL, "d");
    struct task split = take(&o, &team, TEAM_SPLIT_TYPE);
    complete(&o, &split, STR("{\"tasks\":[{\"id\":\"a\",\"title\":\"A\"}]}"));
    CHECK(id_none(take(&o, &team, TEAM_TASK_TYPE).id));
    struct task task = take(&o, &first, TEAM_TASK_TYPE);
    complete(&o, &task, STR("1"));
    task = take(&o, &first, TEAM_SYNTHESIS_TYPE);
    CHECK(id_none(take(&o, &team, TEAM_TASK_TYPE).id));
    complete(&o, &task, STR("1"));
    bench_settle(&o.bench);
    CHECK_EQ(take(&o, &team, TEAM_TASK_TYPE).state, TASK_RUNNING);
    struct team third = begin_on(&o, NULL, "e");
    struct task_id other = outside(&o, "e");
    split = take(&o, &third, TEAM_SPLIT_TYPE);
    complete(&o, &split, STR("{\"tasks\":[]}"));
    CHECK_EQ(look(&o, third.id).status, TEAM_FAILED);
    CHECK(is_taken(&o, other, &task));
}

static void come_back(struct office *o, struct task_id id)
{
    struct call *call = bench_call(&o->bench, COMMAND_RETURNED);
    call->command.returned.id = id;
    bench_run(&o->bench, call);
}

static void jump(struct office *o, int64_t ms)
{
    bench_jump_ms(&o->bench, ms);
    bench_settle(&o->bench);
}

TEST(a_run_function_that_comes_back_late_does_not_give_on_what_the_team_holds)
{
    SCOPED(office_fini) struct office o = OFFICE_INIT;
    struct task none;
    struct team team = begin_on(&o, PAIR, "d");
    const char *queue = arena_c_text(&o.bench.arena, team.queue);
    struct task a = bench_claim(&o.bench, .worker = "errand:run:1", .queue = queue);
    struct task_id other = outside(&o, "d");
    jump(&o, TEAM_TASK_TIMEOUT_MS + 1); /* told to stop */
    jump(&o, o.bench.with.grace_ms + 1);
    CHECK_EQ(bench_task(&o.bench, a.id).state, TASK_RETRYING);
    come_back(&o, a.id);
    CHECK(!is_taken(&o, other, &none));
    jump(&o, MINUTE_MS);
    a = bench_claim(&o.bench, .worker = "errand:run:1", .queue = queue);
    ask(&o, (struct lead_order){.verb = LEAD_END, .id = team.id});
    jump(&o, o.bench.with.grace_ms + 1);
    CHECK_EQ(bench_task(&o.bench, team.hold).state, TASK_COMPLETED);
    CHECK(!is_taken(&o, other, &none));
    come_back(&o, a.id);
    CHECK(is_taken(&o, other, &none));
}

TEST(of_teams_that_come_together_the_first_has_the_document)
{
    SCOPED(office_fini) struct office o = OFFICE_INIT;
    seat(&o);
    struct lead_order orders[2];
    for (size_t i = 0; i < 2; i++) {
        struct call *call = bench_call(&o.bench, COMMAND_GUEST);
        struct team team = TEAM_INIT;
        team.prompt = STR("p");
        team.document = STR("d");
        team.tasks = tasks_of(&o, PAIR);
        orders[i] = (struct lead_order){.verb = LEAD_CREATE, .team = team};
        lead_ask(o.lead, &call->command, &orders[i]);
        bench_give(&o.bench, call);
    }
    bench_settle(&o.bench);
    struct team first = look(&o, orders[0].id), second = look(&o, orders[1].id);
    CHECK_EQ(bench_task(&o.bench, first.hold).state, TASK_RUNNING);
    CHECK_EQ(bench_task(&o.bench, second.hold).state, TASK_QUEUED);
    finish_all(&o, &first);
    finish_all(&o, &second);
}

TEST(a_turn_that_is_not_written_has_not_come)
{
    SCOPED(office_fini) struct office o = OFFICE_INIT;
    struct task none;
    struct team first = begin_on(&o, "[{'id':'a','title':'A'}]", "d");
    struct team team = begin_on(&o, PAIR, "d");
    struct task_id other = outside(&o, "d");
    struct task task = take(&o, &first, TEAM_TASK_TYPE);
    bench_give(&o.bench, bench_finish_call(&o.bench, &task, OUTCOME_COMPLETED));
    bench_step(&o.bench);
    memory_disk_fail_next(o.bench.disk, MEMORY_FULL);
    bench_step(&o.bench);
    CHECK_EQ(bench_task(&o.bench, team.hold).state, TASK_QUEUED);
    bench_pass_ms(&o.bench, 1000);
    CHECK_EQ(bench_task(&o.bench, team.hold).state, TASK_RUNNING);
    CHECK(!is_taken(&o, other, &none));
}

TEST(a_task_with_a_document_of_its_own_is_held_to_that)
{
    SCOPED(office_fini) struct office o = OFFICE_INIT;
    struct team team = begin_on(&o,
                                "[{'id':'a','title':'A','documentId':'e'},"
                                "{'id':'b','title':'B','documentId':'e'},"
                                "{'id':'c','title':'C','documentId':'d'}]",
                                "d");
    struct task a = take(&o, &team, TEAM_TASK_TYPE), c = take(&o, &team, TEAM_TASK_TYPE);
    CHECK_STR(a.document, "e");
    CHECK_STR(c.document, "d");
    CHECK(id_none(take(&o, &team, TEAM_TASK_TYPE).id));
    complete(&o, &a, STR("1"));
    CHECK_STR(take(&o, &team, TEAM_TASK_TYPE).document, "e");
}
