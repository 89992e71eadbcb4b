/* tests/work/test_crew.c: teammates inside the server: what they take, ask and give back.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "base/log.h"
#include "client/llm.h"
#include "endpoint.h"
#include "stand.h"

#define ANSWER                                                                                     \
    "{\"choices\":[{\"message\":{\"content\":\"done\"},\"finish_reason\":\"stop\"}],"              \
    "\"usage\":{\"prompt_tokens\":11,\"completion_tokens\":7,\"total_tokens\":18}}"
#define TWO   "[{'id':'a','title':'A'},{'id':'b','title':'B','dependsOn':['a']}]"
#define THREE "[{'id':'a','title':'A'},{'id':'b','title':'B'},{'id':'c','title':'C'}]"

struct office {
    struct stand stand;
    struct endpoint model;
    char url[64], answer[512];
    struct endpoint_row row;
};

/* A model that answers, or one that holds every question. */
static void office_open(struct office *o, bool answers, int64_t grace_ms)
{
    log_set_level(LOG_ERROR);
    snprintf(o->answer, sizeof o->answer,
             "HTTP/1.1 200 X\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
             strlen(ANSWER), ANSWER);
    o->row = (struct endpoint_row){"/v1/chat/completions", o->answer, false};
    endpoint_open(&o->model, &o->row, answers);
    snprintf(o->url, sizeof o->url, "http://127.0.0.1:%d/v1", o->model.port);
    const struct llm_options llm = {.base_url = str_of(o->url), .model = STR("m")};
    stand_open(&o->stand, &(struct stand_options){.workers = 1, .grace_ms = grace_ms, .llm = &llm});
}

static void office_close(struct office *o)
{
    stand_close(&o->stand);
    endpoint_close(&o->model);
}

static struct team ask(struct office *o, struct lead_order order)
{
    struct lead_order *asked = arena_new(&o->stand.arena, struct lead_order);
    struct command *command = stand_command(&o->stand, COMMAND_GUEST);
    *asked = order;
    lead_ask(o->stand.lead, command, asked);
    stand_run(&o->stand, command);
    return asked->team;
}

static struct team begin(struct office *o, const char *tasks, size_t mates)
{
    struct team_mate all[] = {{.role = STR("one")}, {.role = STR("two")}};
    struct arena *arena = &o->stand.arena;
    struct team team = TEAM_INIT;
    struct err err = ERR_INIT;
    struct json json;
    char *text = arena_c_text(arena, str_of(tasks));
    for (char *c = text; *c != '\0'; c++) {
        *c = *c == '\'' ? '"' : *c;
    }
    json_start(&json, str_of(text), arena);
    CHECK_OK(team_tasks_read(&json, &team.tasks, &err) &&
             team_tasks_check(&team.tasks, arena, &err));
    team.prompt = STR("p");
    team.mates = (struct team_mates){all, mates};
    return ask(o, (struct lead_order){.verb = LEAD_CREATE, .team = team});
}

/* ---- Working ---- */

TEST(what_the_model_answers_is_the_result_and_its_tokens_are_the_cost)
{
    SCOPED(office_close) struct office o;
    office_open(&o, true, 0);
    struct team team = begin(&o, TWO, 1);
    stand_until(&o.stand, team.tasks.at[1].task, TASK_COMPLETED);
    struct task first = stand_task(&o.stand, team.tasks.at[0].task).task;
    CHECK_STR(first.result, "\"done\"");
    CHECK_STR(first.worker, "errand:team:1");
    CHECK_EQ((int)first.cost.actual, 1);
    CHECK_EQ((int)first.cost.tokens, 18);
}

TEST(what_a_task_depends_on_is_told_to_the_model)
{
    SCOPED(office_close) struct office o;
    office_open(&o, true, 0);
    struct team team = begin(&o, TWO, 1);
    stand_until(&o.stand, team.tasks.at[1].task, TASK_COMPLETED);
    struct str first = endpoint_request(&o.model, 0).body;
    struct str second = endpoint_request(&o.model, 1).body;
    CHECK(memmem(first.ptr, first.len, "builds on", 9) == NULL);
    CHECK(memmem(second.ptr, second.len, "builds on", 9) != NULL);
}

TEST(a_team_has_no_more_tasks_under_way_than_it_has_teammates)
{
    SCOPED(office_close) struct office o;
    office_open(&o, false, 0);
    begin(&o, THREE, 2);
    endpoint_until_held(&o.model, 2);
    begin(&o, THREE, 1); /* its teammate does not wait for those of the other team */
    endpoint_until_held(&o.model, 3);
    begin(&o, THREE, 2);
    endpoint_until_held(&o.model, 5);
    CHECK_EQ(endpoint_most_held(&o.model), 5);
}

TEST(a_teammate_that_is_free_takes_the_next_task_of_its_team)
{
    SCOPED(office_close) struct office o;
    office_open(&o, true, 0);
    struct team team = begin(&o, THREE, 1);
    for (size_t i = 0; i < 3; i++) {
        stand_until(&o.stand, team.tasks.at[i].task, TASK_COMPLETED);
        CHECK_STR(stand_task(&o.stand, team.tasks.at[i].task).task.worker, "errand:team:1");
    }
}

/* ---- Stopping ---- */

TEST(a_team_that_is_cancelled_asks_the_model_no_more)
{
    SCOPED(office_close) struct office o;
    office_open(&o, false, 0);
    struct team team = begin(&o, TWO, 1);
    endpoint_until_held(&o.model, 1);
    ask(&o, (struct lead_order){.verb = LEAD_END, .id = team.id});
    endpoint_until_left(&o.model, 1);
    stand_until(&o.stand, team.tasks.at[0].task, TASK_CANCELLED);
    CHECK_EQ(endpoint_requests(&o.model), 1);
}

TEST(a_drain_gives_back_what_the_model_has_not_answered)
{
    SCOPED(office_close) struct office o;
    office_open(&o, false, 1);
    struct team team = begin(&o, TWO, 1);
    endpoint_until_held(&o.model, 1);
    workforce_quiet(o.stand.work);
    stand_rested(&o.stand);
    endpoint_until_left(&o.model, 1);
    struct task_detail detail = stand_task(&o.stand, team.tasks.at[0].task);
    CHECK_EQ(detail.task.state, TASK_QUEUED);
    CHECK_EQ(detail.task.retries, 0);
    CHECK_EQ(detail.attempts[0].outcome, OUTCOME_RELEASED);
}
