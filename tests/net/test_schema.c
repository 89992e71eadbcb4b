/* tests/net/test_schema.c: what the API shows is what openapi.json describes.
 *
 * SPDX-License-Identifier: MIT */
#include "net/openapi.h"
#include "net/task_out.h"
#include "test.h"

/* A task with every field set. */
static struct task full_task(void)
{
    struct str text = STR("x"), object = STR("{}");
    struct task_id id = {1, 1};
    return (struct task){
        .id = id,
        .type = text,
        .queue = text,
        .document = text,
        .external_id = text,
        .key = text,
        .payload = object,
        .metadata = object,
        .tags = {text},
        .tags_count = 1,
        .parent = id,
        .team = id,
        .schedule = id,
        .expires_ms = 1,
        .created_ms = 1,
        .state = TASK_RUNNING,
        .priority = TASK_LOW,
        .scheduled_ms = 1,
        .queued_ms = 1,
        .started_ms = 1,
        .finished_ms = 1,
        .cancelled_ms = 1,
        .updated_ms = 1,
        .cancel_requested = true,
        .cancel_reason = text,
        .worker = text,
        .lease_until_ms = 1,
        .progress = 1,
        .progress_message = text,
        .result = object,
        .error = {text, text, object},
        .cost = {1, 1, 1},
    };
}

static struct str inside(struct str value, const char *const *keys, struct arena *arena)
{
    for (; *keys != NULL; keys++) {
        value = json_find(value, *keys, arena);
    }
    return value;
}

/* Checks that every member of `shown` is a property of the schema; returns how many there are. */
static size_t check_members(struct str shown, struct str properties, struct arena *arena)
{
    struct json json;
    struct str key;
    size_t count = 0;
    json_start(&json, shown, arena);
    CHECK(json_enter_object(&json, NULL));
    while (json_member(&json, &key, NULL)) {
        CHECK(!str_absent(json_find(properties, arena_c_text(arena, key), arena)));
        count++;
    }
    CHECK(json_ok(&json));
    return count;
}

TEST(every_field_of_a_task_is_described)
{
    static const char *const way[] = {"components", "schemas", "Task", "properties", NULL};
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    SCOPED(buf_fini) struct buf document = BUF_INIT(MIB), shown = BUF_INIT(MIB);
    struct json_writer w = JSON_WRITER(&shown);
    struct task task = full_task();
    openapi_write(&document, STR("1"));
    task_write(&w, &task);
    struct str properties = inside(buf_view(&document), way, &arena);

    CHECK_EQ(check_members(buf_view(&shown), properties, &arena), 35);
    task.payload_raw = true;
    struct task_row row = {.task = task,
                           .payload_omitted = true,
                           .result_omitted = true,
                           .metadata_omitted = true,
                           .error_omitted = true};
    buf_clear(&shown);
    w = JSON_WRITER(&shown);
    task_write_row(&w, &row);
    CHECK_EQ(check_members(buf_view(&shown), properties, &arena),
             36); /* errorOmitted beside error */
}
