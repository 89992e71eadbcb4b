/* tests/team/test_lead.c: the lead takes part in the engine's batches.
 *
 * What agents see of it is tested from outside (tests/system/test_teams.py); here is what only
 * shows from within: batches that fail, a model's split, a synthesis, queues that are used again.
 *
 * SPDX-License-Identifier: MIT */
#include "office.h"
#include "test.h"

TEST(a_team_and_its_tasks_are_there_together_or_not_at_all)
{
    SCOPED(office_fini) struct office o = OFFICE_INIT;
    office_begin(&o, TWO);
    memory_disk_fail_next(o.bench.disk, MEMORY_FULL);
    office_begin(&o, TWO);
    CHECK_EQ(o.err.kind, ERR_UNAVAILABLE);
    CHECK_EQ(office_heard(&o, TEAM_BEGAN), 1);
    CHECK_EQ(bench_count(&o.bench, TASK_QUEUED), 1);
    CHECK_EQ(bench_count(&o.bench, TASK_WAITING), 1);
}

TEST(the_end_of_the_last_task_and_that_of_its_team_are_one_commit)
{
    SCOPED(office_fini) struct office o = OFFICE_INIT;
    struct team team = office_begin(&o, "[{'id':'a','title':'A'}]");
    struct task task = office_take(&o, &team, TEAM_TASK_TYPE);
    memory_disk_fail_next(o.bench.disk, MEMORY_FULL);
    CHECK_EQ(bench_finish(&o.bench, &task, OUTCOME_COMPLETED), ERR_UNAVAILABLE);
    CHECK_EQ(office_look(&o, team.id).status, TEAM_RUNNING);
    CHECK_EQ(office_heard(&o, TEAM_ENDED), 0);
    office_complete(&o, &task, STR("\"x\""));
    CHECK_EQ(office_look(&o, team.id).status, TEAM_COMPLETED);
    CHECK_STR(office_look(&o, team.id).result, "\"## A\\n\\nx\"");
    CHECK_EQ(office_heard(&o, TEAM_ENDED), 1);
}

TEST(two_tasks_that_end_in_one_batch_end_their_team_once)
{
    SCOPED(office_fini) struct office o = OFFICE_INIT;
    struct team team = office_begin(&o, "[{'id':'a','title':'A'},{'id':'b','title':'B'}]");
    struct task a = office_take(&o, &team, TEAM_TASK_TYPE),
                b = office_take(&o, &team, TEAM_TASK_TYPE);
    struct call *first = bench_finish_call(&o.bench, &a, OUTCOME_COMPLETED);
    struct call *second = bench_finish_call(&o.bench, &b, OUTCOME_COMPLETED);
    first->command.finish.items[0].result = STR("1");
    second->command.finish.items[0].result = STR("2");
    bench_give(&o.bench, first);
    bench_run(&o.bench, second);
    CHECK_STR(office_look(&o, team.id).result, "\"## A\\n\\n1\\n\\n## B\\n\\n2\"");
    CHECK_EQ(office_heard(&o, TEAM_ENDED), 1);
}

TEST(a_task_that_fails_in_the_batch_of_the_last_good_one_fails_its_team)
{
    SCOPED(office_fini) struct office o = OFFICE_INIT;
    struct team team = office_begin(&o, "[{'id':'a','title':'A'},{'id':'b','title':'B'}]");
    struct task a = office_take(&o, &team, TEAM_TASK_TYPE),
                b = office_take(&o, &team, TEAM_TASK_TYPE);
    struct call *good = bench_finish_call(&o.bench, &a, OUTCOME_COMPLETED);
    struct call *bad = bench_finish_call(&o.bench, &b, OUTCOME_FAILED);
    bad->command.finish.items[0].retry = false;
    bench_give(&o.bench, good);
    bench_run(&o.bench, bad);
    CHECK_EQ(office_look(&o, team.id).status, TEAM_FAILED);
    CHECK_STR(office_look(&o, team.id).error_code, "task_failed");
    CHECK_EQ(office_heard(&o, TEAM_ENDED), 1);
}

TEST(a_split_becomes_tasks_in_the_commit_of_its_end)
{
    SCOPED(office_fini) struct office o = OFFICE_INIT;
    o.with.decides = true;
    struct team team = office_begin(&o, NULL);
    CHECK_EQ(team.mates.count, TEAM_MATES_DEFAULT);
    struct task split = office_take(&o, &team, TEAM_SPLIT_TYPE);
    office_complete(&o, &split,
                    STR("{\"tasks\":[{\"id\":\"a\",\"title\":\"A\"},"
                        "{\"id\":\"b\",\"title\":\"B\",\"dependsOn\":[\"a\"]}]}"));
    team = office_look(&o, team.id);
    CHECK_EQ(team.tasks.count, 2);
    CHECK_EQ(bench_task(&o.bench, team.tasks.at[1].task).state, TASK_WAITING);
    CHECK_EQ(bench_task(&o.bench, team.synthesis).state, TASK_WAITING);
}

TEST(a_split_that_is_wrong_after_all_fails_the_team)
{
    SCOPED(office_fini) struct office o = OFFICE_INIT;
    o.with.decides = true;
    struct team team = office_begin(&o, NULL);
    struct task split = office_take(&o, &team, TEAM_SPLIT_TYPE);
    office_complete(&o, &split, STR("{\"tasks\":[]}"));
    CHECK_EQ(office_look(&o, team.id).status, TEAM_FAILED);
    CHECK_STR(office_look(&o, team.id).error_code, "split_failed");
    CHECK_EQ(office_heard(&o, TEAM_ENDED), 1);
}

TEST(a_synthesis_is_the_result_and_a_failed_one_loses_nothing)
{
    SCOPED(office_fini) struct office o = OFFICE_INIT;
    o.with.decides = true;
    for (int good = 0; good < 2; good++) {
        struct team team = office_begin(&o, "[{'id':'a','title':'A'}]");
        struct task task = office_take(&o, &team, TEAM_TASK_TYPE);
        office_complete(&o, &task, STR("\"x\""));
        CHECK_EQ(office_look(&o, team.id).status, TEAM_RUNNING);
        struct task synthesis = office_take(&o, &team, TEAM_SYNTHESIS_TYPE);
        CHECK(id_eq(synthesis.id, team.synthesis));
        if (good) {
            office_complete(&o, &synthesis, STR("\"all is well\""));
        } else {
            bench_cancel(&o.bench, synthesis.id);
            bench_finish(&o.bench, &synthesis, OUTCOME_RELEASED);
        }
        CHECK_EQ(office_look(&o, team.id).status, TEAM_COMPLETED);
        CHECK_STR(office_look(&o, team.id).result, good ? "\"all is well\"" : "\"## A\\n\\nx\"");
    }
}

TEST(teams_that_run_have_queues_of_their_own_and_ended_ones_leave_theirs)
{
    SCOPED(office_fini) struct office o = OFFICE_INIT;
    struct team last = {0};
    for (size_t i = 0; i < TEAMS_RUNNING_MAX; i++) {
        last = office_begin(&o, "[{'id':'a','title':'A'}]");
        CHECK_EQ(o.err.kind, ERR_NONE);
    }
    office_begin(&o, "[{'id':'a','title':'A'}]");
    CHECK_EQ(o.err.kind, ERR_BUSY);
    office_ask(&o, (struct lead_order){.verb = LEAD_END, .id = last.id});
    struct team next = office_begin(&o, "[{'id':'a','title':'A'}]");
    CHECK_EQ(o.err.kind, ERR_NONE);
    CHECK(str_eq(next.queue, last.queue));
}

TEST(after_a_restart_the_crew_hears_which_teams_run)
{
    SCOPED(office_fini) struct office o = OFFICE_INIT;
    struct team team = office_begin(&o, TWO);
    office_begin(&o, TWO);
    office_ask(&o, (struct lead_order){.verb = LEAD_END, .id = team.id});
    CHECK_EQ(office_heard(&o, TEAM_BEGAN), 2);
    struct lead *old = o.lead;
    o.lead = lead_new(&o.with);
    o.guests[0] = lead_guest(o.lead);
    bench_restart(&o.bench);
    lead_free(old);
    bench_settle(&o.bench);
    CHECK_EQ(office_heard(&o, TEAM_BEGAN), 3);
}
