/* tests/team/test_lead.c: the lead takes part in the engine's batches.
 *
 * What agents see of it is tested from outside (tests/system/test_teams.py); here is what only
 * shows from within: batches that fail, a model's split, a synthesis, queues that are used again.
 *
 * SPDX-License-Identifier: MIT */
#include "team/lead.h"

#include "queue/bench.h"
#include "test.h"

struct office {
    struct bench bench;
    struct lead_options with;
    struct lead *lead;
    struct guest *guests[1];
    struct err err;
    size_t began, ended;
};

static void on_began(void *arg, struct task_id team, struct str queue, size_t mates)
{
    struct office *o = arg;
    (void)team;
    (void)mates;
    CHECK(str_starts(queue, STR("team/")));
    o->began++;
}

static void on_ended(void *arg, struct task_id team)
{
    (void)team;
    ((struct office *)arg)->ended++;
}

static void seat(struct office *o)
{
    if (o->lead == NULL) {
        o->with.crew = (struct lead_crew){.arg = o, .began = on_began, .ended = on_ended};
        o->lead = lead_new(&o->with);
        o->guests[0] = lead_guest(o->lead);
        o->bench.with.guests = o->guests;
        o->bench.with.guests_count = 1;
        bench_settle(&o->bench); /* it has looked which teams run */
    }
}

#define OFFICE_INIT ((struct office){.bench = BENCH_INIT})

static void office_fini(struct office *o)
{
    bench_fini(&o->bench);
    lead_free(o->lead);
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
    CHECK_EQ(o.began, 1);
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
    CHECK_EQ(o.ended, 0);
    complete(&o, &task, STR("\"x\""));
    CHECK_EQ(look(&o, team.id).status, TEAM_COMPLETED);
    CHECK_STR(look(&o, team.id).result, "\"## A\\n\\nx\"");
    CHECK_EQ(o.ended, 1);
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
    CHECK_EQ(o.ended, 1);
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
    CHECK_EQ(o.ended, 1);
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
    CHECK_EQ(o.began, 2);
    struct lead *old = o.lead;
    o.lead = lead_new(&o.with);
    o.guests[0] = lead_guest(o.lead);
    bench_restart(&o.bench);
    lead_free(old);
    bench_settle(&o.bench);
    CHECK_EQ(o.began, 3);
}
