/* tests/schedule/test_message.c: a message comes out of a payload as it went in.
 *
 * SPDX-License-Identifier: MIT */
#include "schedule/message.h"
#include "test.h"

TEST(a_message_survives_its_payload)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct err err = ERR_INIT;
    struct message read, message = {.to = STR("ann@example.org"),
                                    .title = STR("Grüße \"an\" alle"),
                                    .text = STR("two\nlines"),
                                    .id = STR("e.EMAIL"),
                                    .at_ms = INT64_C(1800000000000),
                                    .user = STR("ann")};
    CHECK_OK(message_read(message_write(&message, &arena), &arena, &read, &err));
    CHECK_STR(read.to, "ann@example.org");
    CHECK_STR(read.title, "Grüße \"an\" alle");
    CHECK_STR(read.text, "two\nlines");
    CHECK_STR(read.id, "e.EMAIL");
    CHECK_EQ(read.at_ms, message.at_ms);
    CHECK(str_absent(read.chat));
}

TEST(what_is_no_message_is_refused_with_a_reason)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    static const char *const bad[] = {"[]", "{\"to\":7}", "{\"at\":\"soon\"}", "{\"more\":1}", ""};
    struct message read;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct err err = ERR_INIT;
        CHECK(!message_read(str_of(bad[i]), &arena, &read, &err));
        CHECK_EQ(err.kind, ERR_INVALID);
    }
}

TEST(a_line_has_no_line_ends_and_is_cut_at_a_character)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    CHECK_STR(message_line(STR(" a\r\nb\tc "), 100, &arena), "a  b c");
    CHECK_STR(message_line(STR("aü"), 2, &arena), "a");
}
