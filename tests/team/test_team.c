/* tests/team/test_team.c: a split is read, checked and kept; so are teams and messages.
 *
 * SPDX-License-Identifier: MIT */
#include "team/team.h"

#include "team/message.h"
#include "test.h"

struct
try {
    struct arena arena;
    struct team_tasks tasks;
    struct err err;
};

static void try_fini(struct try *try)
{
    arena_fini(&try->arena);
}

/* JSON has ' for ". */
static bool read(struct try *try, const char *text)
{
    struct json json;
    char *copy = arena_c_text(&try->arena, str_of(text));
    for (char *c = copy; *c != '\0'; c++) {
        *c = *c == '\'' ? '"' : *c;
    }
    try->err = ERR_INIT;
    json_start(&json, str_of(copy), &try->arena);
    return team_tasks_read(&json, &try->tasks, &try->err) && json_end(&json, &try->err) &&
           team_tasks_check(&try->tasks, &try->arena, &try->err);
}

TEST(a_split_is_read_with_its_dependencies)
{
    SCOPED(try_fini) struct try t = {0};
    CHECK(read(&t, "[{'id':'b','title':'B','dependsOn':['a']},{'id':'a','title':'A'}]"));
    CHECK_EQ(t.tasks.count, 2);
    CHECK_EQ(t.tasks.at[0].needs[0], 1);
    CHECK_STR(t.tasks.at[1].title, "A");
}

TEST(what_is_wrong_is_named)
{
    static const char *const wrong[][2] = {
        {"[]", "tasks"},
        {"[1]", "tasks[0]"},
        {"[{'title':'A'}]", "tasks[0].id"},
        {"[{'id':'a'}]", "tasks[0].title"},
        {"[{'id':'a','title':'A'},{'id':'b','title':'A\\n'}]", "tasks[1].title"},
        {"[{'id':'a','title':'A'},{'id':'a','title':'B'}]", "tasks[1].id"},
        {"[{'id':'a','title':'A','dependsOn':['c']}]", "tasks[0].dependsOn"},
        {"[{'id':'a','title':'A','dependsOn':['a']}]", "tasks"},
        {"[{'id':'a','title':'A','dependsOn':['b']},{'id':'b','title':'B','dependsOn':['a']}]",
         "tasks"},
        {"[{'id':'a','title':'A','colour':'red'}]", "tasks[0].colour"},
        {"[{'id':'a','title':'A','taskId':'x'}]", "tasks[0].taskId"},
    };
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        SCOPED(try_fini) struct try t = {0};
        CHECK(!read(&t, wrong[i][0]));
        CHECK_EQ(t.err.kind, ERR_INVALID);
        CHECK_STR(str_of(t.err.field), wrong[i][1]);
    }
}

TEST(a_team_survives_being_kept)
{
    SCOPED(try_fini) struct try t = {0};
    struct team_mate mates[] = {{STR("writer"), STR("style")}, {STR("writer"), STR_NONE}};
    struct err err = ERR_INIT;
    struct team back;
    CHECK(read(&t, "[{'id':'a','title':'A','description':'d','documentId':'x'}]"));
    t.tasks.at[0].task = (struct task_id){5, 6};
    struct team team = {.id = {1, 2},
                        .prompt = STR("p"),
                        .model = STR("m"),
                        .document = STR("d"),
                        .mates = {mates, 2},
                        .tasks = t.tasks,
                        .policy = TEAM_CONTINUE,
                        .decides = true,
                        .split = {3, 4},
                        .synthesis = {7, 8},
                        .status = TEAM_FAILED,
                        .result = STR("\"r\""),
                        .error_code = STR("c"),
                        .error = STR("e"),
                        .created_ms = 1000,
                        .finished_ms = 2000,
                        .expires_ms = 3000,
                        .queue = STR("team/7"),
                        .version = 9};
    struct record record = team_record(&team, &t.arena);
    CHECK_EQ(record.kind, RECORD_TEAM);
    CHECK_EQ(record.mark, TEAM_FAILED);
    CHECK_EQ(record.due_ms, 3000);
    CHECK(str_absent(record.key));
    CHECK_OK(team_load(&record, &t.arena, &back, &err));
    CHECK(id_eq(back.id, team.id) && id_eq(back.split, team.split));
    CHECK(id_eq(back.synthesis, team.synthesis) &&
          id_eq(back.tasks.at[0].task, (struct task_id){5, 6}));
    CHECK_STR(back.prompt, "p");
    CHECK_STR(back.mates.at[0].focus, "style");
    CHECK(str_absent(back.mates.at[1].focus));
    CHECK_STR(back.tasks.at[0].document, "x");
    CHECK_STR(back.result, "\"r\"");
    CHECK_STR(back.error, "e");
    CHECK_EQ(back.policy, TEAM_CONTINUE);
    CHECK_EQ(back.version, 9);
    team.status = TEAM_RUNNING;
    CHECK_STR(team_record(&team, &t.arena).key, "team/7");
}

TEST(teammates_of_one_role_have_mailboxes_of_their_own)
{
    SCOPED(try_fini) struct try t = {0};
    struct team_mate mates[] = {{.role = STR("x")}, {.role = STR("y")}, {.role = STR("x")}};
    struct team team = {.mates = {mates, 3}};
    CHECK_STR(team_mate_name(&team, 0, &t.arena), "x");
    CHECK_STR(team_mate_name(&team, 2, &t.arena), "x 2");
}

TEST(a_message_is_for_all_or_for_one)
{
    SCOPED(try_fini) struct try t = {0};
    struct team_message back, message = {.id = {1, 2},
                                         .team = {3, 4},
                                         .from = STR("a"),
                                         .to = STR("b"),
                                         .body = STR("{\"x\": 1}"),
                                         .created_ms = 5000,
                                         .number = 6};
    struct err err = ERR_INIT;
    struct record record = team_message_record(&message, &t.arena);
    CHECK_OK(team_message_load(&record, &t.arena, &back, &err));
    CHECK(id_eq(back.id, message.id) && id_eq(back.team, message.team));
    CHECK_STR(back.body, "{\"x\": 1}");
    CHECK_EQ(back.number, 6);
    CHECK(team_message_is_for(&back, STR("b")) && !team_message_is_for(&back, STR("c")));
    back.to = STR_NONE;
    CHECK(team_message_is_for(&back, STR("c")));
}
