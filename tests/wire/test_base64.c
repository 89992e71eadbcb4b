/* tests/wire/test_base64.c: the claims of wire/base64.h.
 *
 * SPDX-License-Identifier: MIT */
#include "test.h"
#include "wire/base64.h"

TEST(the_examples_of_the_standard_hold_both_ways)
{
    static const struct {
        const char *bytes, *text;
    } cases[] = {
        {"", ""},
        {"f", "Zg=="},
        {"fo", "Zm8="},
        {"foo", "Zm9v"},
        {"foob", "Zm9vYg=="},
        {"fooba", "Zm9vYmE="},
        {"foobar", "Zm9vYmFy"},
        {"\xff\xfe\xfd", "//79"},
        {"\xfb\xef", "++8="},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        SCOPED(arena_fini) struct arena arena = ARENA_INIT;
        SCOPED(buf_fini) struct buf buf = BUF_INIT(KIB);
        struct err err = ERR_INIT;
        struct str back;
        base64_write(&buf, str_of(cases[i].bytes));
        CHECK_STR(buf_view(&buf), cases[i].text);
        CHECK_OK(base64_decode(str_of(cases[i].text), &arena, &back, &err));
        CHECK_STR(back, cases[i].bytes);
    }
}

TEST(anything_else_is_refused)
{
    static const char *const cases[] = {
        "Zg",    "Zg=",        "Z",    "Z===",     "====",    "=",         "==",        "Zg==\n",
        " Zg==", "Zh==",       "Zm9=", "Zg==Zg==", "Zm=v",    "Z=g=",      "Zm9v Zm9v", "Zm9-",
        "Zm9_",  "Zm\xc3\xa9", "Zg=A", "=Zg=",     "Zm9vZg=", "Zm9vZg===",
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        SCOPED(arena_fini) struct arena arena = ARENA_INIT;
        struct err err = ERR_INIT;
        struct str back;
        CHECK(!base64_decode(str_of(cases[i]), &arena, &back, &err));
        CHECK_EQ(err.kind, ERR_INVALID);
    }
}

TEST(every_byte_survives_the_way_there_and_back)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    SCOPED(buf_fini) struct buf buf = BUF_INIT(KIB);
    char bytes[256];
    struct str back;
    for (int i = 0; i < 256; i++) {
        bytes[i] = (char)i;
    }
    for (size_t len = 0; len <= sizeof bytes; len++) {
        buf_clear(&buf);
        base64_write(&buf, (struct str){bytes, len});
        CHECK(base64_decode(buf_view(&buf), &arena, &back, NULL));
        CHECK(str_eq(back, (struct str){bytes, len}));
    }
}
