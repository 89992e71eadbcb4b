/* tests/wire/test_ini.c: a settings file is read line by line, and a comment may stand anywhere.
 *
 * SPDX-License-Identifier: MIT */
#include "test.h"
#include "wire/ini.h"

/* What the one pair of `text` says, as a person means it. */
static void check_value(const char *text, const char *value)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct ini ini = ini_open(str_of(text));
    struct ini_pair pair;
    struct err err = ERR_INIT;
    CHECK_OK(ini_next(&ini, &pair, &err));
    CHECK_STR(pair.key, "key");
    CHECK_STR(ini_unquote(&arena, pair.value), value);
    CHECK(!ini_next(&ini, &pair, &err));
    CHECK_EQ(err.kind, ERR_NONE);
}

static void check_refused(const char *text, int line, const char *why)
{
    struct ini ini = ini_open(str_of(text));
    struct ini_pair pair;
    struct err err = ERR_INIT;
    while (ini_next(&ini, &pair, &err)) {
    }
    CHECK_EQ(ini.line, line);
    CHECK_STR(str_of(err.text), why);
}

TEST(pairs_come_with_their_section_and_line)
{
    struct ini ini = ini_open(STR("\xef\xbb\xbf# mine\r\na = 1\r\n\r\n  [two]\n\t b : 2 = 3\n"));
    struct ini_pair pair;
    struct err err = ERR_INIT;
    CHECK_OK(ini_next(&ini, &pair, &err));
    CHECK_STR(pair.section, "");
    CHECK_STR(pair.key, "a");
    CHECK_STR(pair.value, "1");
    CHECK_EQ(ini.line, 2);
    CHECK_OK(ini_next(&ini, &pair, &err));
    CHECK_STR(pair.section, "two");
    CHECK_STR(pair.key, "b");
    CHECK_STR(pair.value, "2 = 3");
    CHECK_EQ(ini.line, 5);
    CHECK(!ini_next(&ini, &pair, &err));
    CHECK_EQ(err.kind, ERR_NONE);
}

TEST(a_comment_begins_behind_white_space_only)
{
    check_value("key = value ; why", "value");
    check_value("key = value\t# why", "value");
    check_value("key = value # one ; two", "value");
    check_value("key = a;b#c", "a;b#c");
    check_value("key = https://host/#part", "https://host/#part");
    check_value("key =#1", "#1");
    check_value("key = ; nothing", "");
    check_value("; key = old\n#key = older\nkey=new", "new");
    check_value("[part] ; why\nkey = value", "value");
}

TEST(quotes_keep_what_looks_like_a_comment)
{
    check_value("key = \"a ; b\" ; c", "a ; b");
    check_value("key = 'a # b'", "a # b");
    check_value("key=\"a # b\"# c", "\"a # b\"# c"); /* nothing stands between */
    check_value("key = \" a \"", " a ");
    check_value("key = \"\"", "");
    check_value("key = \"a \\\" # b\"", "a \" # b");
    check_value("key = \"c:\\\\\"", "c:\\");
    check_value("key = 'c:\\' # d", "c:\\");
    check_value("key = \"a\\nb\"", "a\\nb");
}

TEST(quotes_inside_a_value_stay_and_an_apostrophe_is_none)
{
    check_value("key = \"A B\" <a@b> # c", "\"A B\" <a@b>");
    check_value("key = run --name=\"x ; y\" ; z", "run --name=\"x ; y\"");
    check_value("key = \"a\" \"b\"", "\"a\" \"b\"");
    check_value("key = Ann's ; it's hers", "Ann's");
    check_value("key = 'tis ; so", "'tis");
    check_value("key = \"", "\"");
}

TEST(a_line_that_is_neither_is_refused_with_its_number)
{
    const char *neither = "neither \"key = value\" nor \"[section]\"";
    check_refused("a = 1\n\nword", 3, neither);
    check_refused("= 1", 1, neither);
    check_refused("[open", 1, neither);
    check_refused("[a] b = 1", 1, neither);
    check_refused("a = \xff", 1, "the line is not UTF-8 text");
}
