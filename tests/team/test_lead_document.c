/* tests/team/test_lead_document.c: the document of a team: held, waited for and given on.
 *
 * SPDX-License-Identifier: MIT */
#include "office.h"
#include "test.h"

/* ---- The document of a team ---- */

#define PAIR                                                                                       \
    "[{'id':'a','title':'A'},{'id':'b','title':'B'},{'id':'c','title':'C','dependsOn':['a','b']}]"

static struct team begin_on(struct office *o, const char *tasks, const char *document)
{
    struct team team = TEAM_INIT;
    team.prompt = STR("p");
    team.document = str_of(document);
    if (tasks != NULL) {
        team.tasks = office_tasks(o, tasks);
    }
    team = office_ask(o, (struct lead_order){.verb = LEAD_CREATE, .team = team}).team;
    bench_settle(&o->bench);
    return office_look(o, team.id);
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
        struct task task = office_take(o, team, TEAM_TASK_TYPE);
        office_complete(o, &task, STR("1"));
    }
    CHECK_EQ(office_look(o, team->id).status, TEAM_COMPLETED);
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
    struct task a = office_take(&o, &team, TEAM_TASK_TYPE),
                b = office_take(&o, &team, TEAM_TASK_TYPE), none;
    CHECK_EQ(a.state, TASK_RUNNING);
    CHECK_EQ(b.state, TASK_RUNNING);
    CHECK_STR(b.document, "d");
    CHECK(!is_taken(&o, other, &none));
    struct document_view view = bench_document(&o.bench, "d");
    CHECK(view.locked && id_eq(view.task, team.hold));
    CHECK_EQ(view.waiting_count, 1);
    office_complete(&o, &a, STR("1"));
    office_complete(&o, &b, STR("2"));
    CHECK(!is_taken(&o, other, &none));
    struct task c = office_take(&o, &team, TEAM_TASK_TYPE);
    office_complete(&o, &c, STR("3"));
    CHECK_EQ(bench_task(&o.bench, team.hold).state, TASK_COMPLETED);
    CHECK(is_taken(&o, other, &none));
}

TEST(a_document_is_given_on_when_the_last_two_of_a_team_end_in_one_batch)
{
    SCOPED(office_fini) struct office o = OFFICE_INIT;
    struct task none;
    struct team team = begin_on(&o, "[{'id':'a','title':'A'},{'id':'b','title':'B'}]", "d");
    struct task_id other = outside(&o, "d");
    struct task a = office_take(&o, &team, TEAM_TASK_TYPE),
                b = office_take(&o, &team, TEAM_TASK_TYPE);
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
    office_seat(&o);
    struct task_id before = outside(&o, "d");
    struct team team = begin_on(&o, PAIR, "d");
    struct task_id behind = outside(&o, "d");
    CHECK_EQ(bench_document(&o.bench, "d").waiting_count, 3);
    CHECK(id_eq(bench_document(&o.bench, "d").waiting[1], team.turn));
    CHECK(id_none(office_take(&o, &team, TEAM_TASK_TYPE).id));
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
    CHECK(id_none(office_look(&o, team.id).turn));
    finish_all(&o, &team);
    CHECK(waits->answered && id_eq(waits->command.claim.tasks[0].id, behind));
    (void)none;
}

TEST(what_nobody_asks_for_holds_up_a_team_for_a_minute)
{
    SCOPED(office_fini) struct office o = OFFICE_INIT;
    office_seat(&o);
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
    office_seat(&o);
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
    struct task a = office_take(&o, &team, TEAM_TASK_TYPE);
    restart(&o);
    CHECK(!is_taken(&o, other, &none));
    struct task b = office_take(&o, &team, TEAM_TASK_TYPE);
    CHECK_EQ(b.state, TASK_RUNNING);
    CHECK(id_none(office_take(&o, &next, TEAM_TASK_TYPE).id));
    office_complete(&o, &a, STR("1"));
    office_complete(&o, &b, STR("1"));
    struct task c = office_take(&o, &team, TEAM_TASK_TYPE);
    office_complete(&o, &c, STR("1"));
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
    struct task a = office_take(&o, &team, TEAM_TASK_TYPE),
                b = office_take(&o, &team, TEAM_TASK_TYPE);
    struct task_id other = outside(&o, "d");
    office_ask(&o, (struct lead_order){.verb = LEAD_END, .id = team.id});
    CHECK_EQ(office_look(&o, team.id).status, TEAM_CANCELLED);
    office_ask(&o,
               (struct lead_order){.verb = LEAD_END, .id = team.id}); /* removed, while they work */
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
    CHECK_EQ(office_look(&o, team.id).status, TEAM_FAILED);
    CHECK(is_taken(&o, other, &none));
}

TEST(a_team_that_ends_in_the_batch_of_its_turn_gives_its_document_on)
{
    SCOPED(office_fini) struct office o = OFFICE_INIT;
    struct task running, none;
    office_seat(&o);
    struct task_id first = outside(&o, "d");
    CHECK(is_taken(&o, first, &running));
    struct team team = begin_on(&o, PAIR, "d");
    struct task_id behind = outside(&o, "d");
    bench_give(&o.bench, bench_finish_call(&o.bench, &running, OUTCOME_COMPLETED));
    bench_step(&o.bench); /* the document is free, the turn has not been looked at */
    struct call *cancel = bench_call(&o.bench, COMMAND_CANCEL);
    cancel->command.one.id = team.tasks.at[0].task;
    bench_run(&o.bench, cancel);
    CHECK_EQ(office_look(&o, team.id).status, TEAM_FAILED);
    CHECK_EQ(bench_task(&o.bench, team.hold).state, TASK_COMPLETED);
    CHECK(is_taken(&o, behind, &none));
}

TEST(a_task_that_is_retried_in_line_waits_for_the_turn)
{
    SCOPED(office_fini) struct office o = OFFICE_INIT;
    struct task running;
    office_seat(&o);
    CHECK(is_taken(&o, outside(&o, "d"), &running));
    struct team team = TEAM_INIT;
    team.prompt = STR("p");
    team.document = STR("d");
    team.policy = TEAM_CONTINUE;
    team.tasks =
        office_tasks(&o, "[{'id':'a','title':'A'},{'id':'b','title':'B','dependsOn':['a']},"
                         "{'id':'c','title':'C'}]");
    team = office_ask(&o, (struct lead_order){.verb = LEAD_CREATE, .team = team}).team;
    bench_cancel(&o.bench, team.tasks.at[0].task);
    bench_remove(&o.bench, team.tasks.at[0].task);
    bench_revive(&o.bench, team.tasks.at[1].task); /* what it depended on is gone */
    CHECK_EQ(bench_task(&o.bench, team.tasks.at[1].task).state, TASK_WAITING);
    bench_finish(&o.bench, &running, OUTCOME_COMPLETED);
    bench_settle(&o.bench);
    struct task b = office_take(&o, &team, TEAM_TASK_TYPE),
                c = office_take(&o, &team, TEAM_TASK_TYPE);
    office_complete(&o, &b, STR("1"));
    office_complete(&o, &c, STR("2"));
    CHECK_EQ(office_look(&o, team.id).status, TEAM_COMPLETED);
}

TEST(a_team_that_ends_in_line_leaves_it)
{
    SCOPED(office_fini) struct office o = OFFICE_INIT;
    struct task none;
    struct team first = begin_on(&o, PAIR, "d"), team = begin_on(&o, PAIR, "d");
    struct task_id other = outside(&o, "d");
    office_ask(&o, (struct lead_order){.verb = LEAD_END, .id = team.id});
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
    CHECK_EQ(office_look(&o, second.id).status, TEAM_CANCELLED);
    CHECK_EQ(bench_cancel(&o.bench, third.hold), ERR_NONE);
    CHECK_EQ(office_look(&o, third.id).status, TEAM_CANCELLED);
    struct task a = office_take(&o, &first, TEAM_TASK_TYPE);
    CHECK_EQ(bench_cancel(&o.bench, first.hold), ERR_NONE);
    CHECK_EQ(office_look(&o, first.id).status, TEAM_CANCELLED);
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
    struct task split = office_take(&o, &team, TEAM_SPLIT_TYPE);
    office_complete(&o, &split, STR("{\"tasks\":[{\"id\":\"a\",\"title\":\"A\"}]}"));
    CHECK(id_none(office_take(&o, &team, TEAM_TASK_TYPE).id));
    struct task task = office_take(&o, &first, TEAM_TASK_TYPE);
    office_complete(&o, &task, STR("1"));
    task = office_take(&o, &first, TEAM_SYNTHESIS_TYPE);
    CHECK(id_none(office_take(&o, &team, TEAM_TASK_TYPE).id));
    office_complete(&o, &task, STR("1"));
    bench_settle(&o.bench);
    CHECK_EQ(office_take(&o, &team, TEAM_TASK_TYPE).state, TASK_RUNNING);
    struct team third = begin_on(&o, NULL, "e");
    struct task_id other = outside(&o, "e");
    split = office_take(&o, &third, TEAM_SPLIT_TYPE);
    office_complete(&o, &split, STR("{\"tasks\":[]}"));
    CHECK_EQ(office_look(&o, third.id).status, TEAM_FAILED);
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
    office_ask(&o, (struct lead_order){.verb = LEAD_END, .id = team.id});
    jump(&o, o.bench.with.grace_ms + 1);
    CHECK_EQ(bench_task(&o.bench, team.hold).state, TASK_COMPLETED);
    CHECK(!is_taken(&o, other, &none));
    come_back(&o, a.id);
    CHECK(is_taken(&o, other, &none));
}

TEST(of_teams_that_come_together_the_first_has_the_document)
{
    SCOPED(office_fini) struct office o = OFFICE_INIT;
    office_seat(&o);
    struct lead_order orders[2];
    for (size_t i = 0; i < 2; i++) {
        struct call *call = bench_call(&o.bench, COMMAND_GUEST);
        struct team team = TEAM_INIT;
        team.prompt = STR("p");
        team.document = STR("d");
        team.tasks = office_tasks(&o, PAIR);
        orders[i] = (struct lead_order){.verb = LEAD_CREATE, .team = team};
        lead_ask(o.lead, &call->command, &orders[i]);
        bench_give(&o.bench, call);
    }
    bench_settle(&o.bench);
    struct team first = office_look(&o, orders[0].id), second = office_look(&o, orders[1].id);
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
    struct task task = office_take(&o, &first, TEAM_TASK_TYPE);
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
    struct task a = office_take(&o, &team, TEAM_TASK_TYPE),
                c = office_take(&o, &team, TEAM_TASK_TYPE);
    CHECK_STR(a.document, "e");
    CHECK_STR(c.document, "d");
    CHECK(id_none(office_take(&o, &team, TEAM_TASK_TYPE).id));
    office_complete(&o, &a, STR("1"));
    CHECK_STR(office_take(&o, &team, TEAM_TASK_TYPE).document, "e");
}
