/* tests/task/test_reserved.c: names that the server keeps for its own tasks.
 *
 * SPDX-License-Identifier: MIT */
#include "task/reserved.h"
#include "test.h"

static struct task order(const char *type, const char *queue, const char *key)
{
    return (struct task){.type = str_of(type),
                         .queue = str_of(queue),
                         .key = key == NULL ? STR_NONE : str_of(key),
                         .priority = TASK_NORMAL,
                         .backoff = TASK_BACKOFF_DEFAULT,
                         .progress = -1,
                         .cost = TASK_COST_NONE};
}

static void check_refused(const char *type, const char *queue, const char *key, const char *field)
{
    struct err err = ERR_INIT;
    struct task task = order(type, queue, key);
    CHECK(!task_check_order(&task, &err));
    CHECK_EQ(err.kind, ERR_INVALID);
    CHECK_STR(str_of(err.field), field);
    CHECK(strstr(err.text, "reserved") != NULL);
}

static void check_taken(const char *type, const char *queue, const char *key)
{
    struct err err = ERR_INIT;
    struct task task = order(type, queue, key);
    CHECK_OK(task_check_order(&task, &err));
}

TEST(a_client_may_not_use_the_names_of_deliveries_and_teams)
{
    check_refused("t", "q", "deliver:0192f3:EMAIL", "idempotencyKey");
    check_refused("t", "q", "failure:", "idempotencyKey");
    check_refused("team.task", "q", NULL, "taskType");
    check_refused("team.anything", "q", NULL, "taskType");
    check_refused("t", "team/1", NULL, "queue");
    check_refused("deliver.email", "team/1000", NULL, "queue");
    check_refused("t", "deliveries", NULL, "queue");
}

TEST(names_that_are_only_alike_are_free)
{
    check_taken("teams", "team", "delivery:1");
    check_taken("t", "teams/1", "a deliver:1");
    check_taken("t", "deliveries/1", NULL);
    check_taken("deliver.email", "deliveries", NULL); /* a message again */
    check_taken("prompt", "default", NULL);
    check_taken("document.append", "default", NULL);
}
