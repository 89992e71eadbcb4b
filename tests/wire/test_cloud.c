/* tests/wire/test_cloud.c: names, durations, masks and messages of the Cloud Tasks API.
 *
 * SPDX-License-Identifier: MIT */
#include "test.h"
#include "wire/cloud.h"

TEST(a_name_is_taken_apart)
{
    struct cloud_name name;
    CHECK(cloud_name_parse(STR("projects/a.b:c/locations/us-1/queues/q/tasks/t_1"), &name));
    CHECK_STR(name.project, "a.b:c");
    CHECK_STR(name.location, "us-1");
    CHECK_STR(name.queue, "q");
    CHECK_STR(name.task, "t_1");
    CHECK(cloud_name_parse(STR("projects/a/locations/b"), &name));
    CHECK(str_absent(name.queue) && str_absent(name.task));
    static const char *const wrong[] = {
        "",
        "projects",
        "projects/",
        "projects/a/",
        "project/a",
        "/projects/a",
        "projects//locations/b",
        "projects/a/queues/q",
        "projects/a/locations/b/queues/q/tasks/t/x",
        "projects/a/locations/b/queues/q/tasks/t/",
    };
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        CHECK(!cloud_name_parse(str_of(wrong[i]), &name));
    }
}

TEST(ids_have_their_letters_and_lengths)
{
    char text[600];
    memset(text, 'a', sizeof text);
    CHECK(cloud_queue_ok(STR("My-queue-1")) && !cloud_queue_ok(STR("a_b")) &&
          !cloud_queue_ok(STR("")));
    CHECK(cloud_queue_ok((struct str){text, 100}) && !cloud_queue_ok((struct str){text, 101}));
    CHECK(cloud_task_ok(STR("a_b-C")) && !cloud_task_ok(STR("a.b")) && !cloud_task_ok(STR("ä")));
    CHECK(cloud_task_ok((struct str){text, 500}) && !cloud_task_ok((struct str){text, 501}));
    CHECK(cloud_project_ok(STR("example.com:p-1")) && !cloud_project_ok(STR("a/b")));
    CHECK(cloud_location_ok(STR("us-central1")) && !cloud_location_ok(STR("us.1")));
}

TEST(a_duration_has_seconds_and_up_to_nine_digits)
{
    static const struct {
        const char *text;
        int64_t ms;
    } right[] = {{"0s", 0},
                 {"3.5s", 3500},
                 {"600s", 600000},
                 {"0.100s", 100},
                 {"1.000000001s", 1001},
                 {"0.0000001s", 1},
                 {"1.999s", 1999},
                 {"316224000s", 316224000000}};
    static const char *const wrong[] = {"",          "s",
                                        "1",         "-1s",
                                        "1.s",       ".5s",
                                        "1 s",       "1.0000000001s",
                                        "1e3s",      "99999999999999999999s",
                                        "1m",        "+1s",
                                        "316224001s"};
    SCOPED(buf_fini) struct buf buf = BUF_INIT(64);
    int64_t ms;
    for (size_t i = 0; i < ARRAY_LEN(right); i++) {
        CHECK(cloud_duration_parse(str_of(right[i].text), &ms, NULL));
        CHECK_EQ(ms, right[i].ms);
    }
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        CHECK(!cloud_duration_parse(str_of(wrong[i]), &ms, NULL));
    }
    cloud_duration_write(&buf, 3600000);
    cloud_duration_write(&buf, 100);
    cloud_time_write(&buf, 1803891600000);
    cloud_time_write(&buf, 1803891600500);
    CHECK_STR(buf_view(&buf), "3600s0.100s2027-03-01T09:00:00Z2027-03-01T09:00:00.500Z");
}

TEST(bytes_come_in_either_alphabet_with_or_without_padding)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    static const char *const same[] = {"+/+/", "-_-_", "-/+_"};
    struct str bytes;
    for (size_t i = 0; i < ARRAY_LEN(same); i++) {
        CHECK(cloud_bytes_parse(str_of(same[i]), &arena, &bytes, NULL));
        CHECK_STR(bytes, "\xfb\xff\xbf");
    }
    CHECK(cloud_bytes_parse(STR("aGk"), &arena, &bytes, NULL));
    CHECK_STR(bytes, "hi");
    CHECK(cloud_bytes_parse(STR("aGk="), &arena, &bytes, NULL));
    CHECK_STR(bytes, "hi");
    CHECK(cloud_bytes_parse(STR(""), &arena, &bytes, NULL) && bytes.len == 0);
    CHECK(!cloud_bytes_parse(STR("a"), &arena, &bytes, NULL));
    CHECK(!cloud_bytes_parse(STR("a b="), &arena, &bytes, NULL));
}

TEST(a_message_is_the_same_in_both_spellings_and_null_is_absent)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct str out;
    struct err err = ERR_INIT;
    CHECK_OK(cloud_message(STR("{\"rate_limits\":{\"max_burst_size\":1,\"x\":null},\"n\":null,"
                               "\"headers\":{\"a_b\":null}, \"list\":[{\"a_b\":1}]}"),
                           &arena, &out, &err));
    CHECK_STR(out, "{\"rateLimits\":{\"maxBurstSize\":1},\"headers\":{\"a_b\":null},"
                   "\"list\":[{\"a_b\":1}]}");
    CHECK(!cloud_message(STR("[]"), &arena, &out, &err));
    CHECK(!cloud_message(STR("{\"a\":1} x"), &arena, &out, &err));
}

struct thing {
    int32_t a, b, c;
};
static const struct form_row rows[] = {
    FORM_ROW("rateLimits.maxA", struct thing, a, FORM_HOOK, FORM_SET, .hook = &cloud_i32),
    FORM_ROW("rateLimits.maxB", struct thing, b, FORM_HOOK, FORM_SET, .hook = &cloud_i32),
    FORM_ROW("rate", struct thing, c, FORM_HOOK, FORM_SET, .hook = &cloud_i32),
};
static const struct form thing_form = FORM(rows);

TEST(a_mask_names_fields_and_whole_messages)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct err err = ERR_INIT;
    uint64_t bits;
    CHECK_OK(cloud_mask_parse(STR("rate_limits.max_a"), &thing_form, &arena, &bits, &err));
    CHECK_EQ(bits, 1);
    CHECK_OK(cloud_mask_parse(STR("rateLimits, rate"), &thing_form, &arena, &bits, &err));
    CHECK_EQ(bits, 7);
    CHECK_OK(cloud_mask_parse(STR("rate"), &thing_form, &arena, &bits, &err));
    CHECK_EQ(bits, 4);
    CHECK_OK(cloud_mask_parse(STR("*"), &thing_form, &arena, &bits, &err));
    CHECK_EQ(bits, 7);
    CHECK(!cloud_mask_parse(STR("rate_limits.max_c"), &thing_form, &arena, &bits, &err));
    CHECK_STR(str_of(err.field), "updateMask");
    CHECK(!cloud_mask_parse(STR("rate,,rateLimits"), &thing_form, &arena, &bits, &err));
}

TEST(numbers_may_come_as_texts)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    static const char *const right[] = {"{\"rate\":7}", "{\"rate\":\"7\"}", "{\"rate\":7.0}"};
    static const char *const wrong[] = {
        "{\"rate\":\"\"}", "{\"rate\":\"7x\"}",  "{\"rate\":7.5}",    "{\"rate\":4e9}",
        "{\"rate\":true}", "{\"rate\":\"nan\"}", "{\"rate\":\" 7\"}", "{\"rate\":\"0x7\"}"};
    struct json json;
    for (size_t i = 0; i < ARRAY_LEN(right); i++) {
        struct thing thing = {0};
        struct err err = ERR_INIT;
        json_start(&json, str_of(right[i]), &arena);
        CHECK_OK(form_read_for(FORM_SET, &json, &thing_form, &thing, NULL, NULL, &err));
        CHECK_EQ(thing.c, 7);
    }
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        struct thing thing = {0};
        struct err err = ERR_INIT;
        json_start(&json, str_of(wrong[i]), &arena);
        CHECK(!form_read_for(FORM_SET, &json, &thing_form, &thing, NULL, NULL, &err));
        CHECK_STR(str_of(err.field), "rate");
    }
}

TEST(headers_that_are_the_servers_to_say_are_left_out)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct err err = ERR_INIT;
    struct str out;
    CHECK_OK(cloud_headers_read(
        STR("{\"X-A\":\" b \",\"host\":\"x\",\"User-agent\":\"me\",\"content-length\":\"9\","
            "\"X-CloudTasks-TaskName\":\"x\",\"x-google-y\":\"z\",\"X-AppEngine-Q\":\"\","
            "\"Connection\":\"close\",\"Empty\":\"\",\"Hosting\":\"kept\"}"),
        &arena, &out, &err));
    CHECK_STR(out, "{\"X-A\":\"b\",\"Empty\":\"\",\"Hosting\":\"kept\","
                   "\"User-Agent\":\"Google-Cloud-Tasks\"}");
    CHECK_OK(cloud_headers_read(STR_NONE, &arena, &out, &err));
    CHECK_STR(out, "{\"User-Agent\":\"Google-Cloud-Tasks\"}");
    static const char *const wrong[] = {"{\"a b\":\"c\"}", "{\"\":\"c\"}",   "{\"a\":\"x\\r\\ny\"}",
                                        "{\"a\":1}",       "{\"a:\":\"c\"}", "{\"a\":\"\\u0000\"}"};
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        CHECK(!cloud_headers_read(str_of(wrong[i]), &arena, &out, &err));
    }
}

TEST(headers_have_a_limit)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    SCOPED(buf_fini) struct buf text = BUF_INIT(MIB);
    struct err err = ERR_INIT;
    struct str out;
    buf_c(&text, "{\"a\":\"");
    for (size_t i = 0; i < CLOUD_HEADERS_MAX; i++) {
        buf_char(&text, 'x');
    }
    buf_c(&text, "\"}");
    CHECK(!cloud_headers_read(buf_view(&text), &arena, &out, &err));
    CHECK_STR(str_of(err.field), "headers");
}
