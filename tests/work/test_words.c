/* tests/work/test_words.c: command lines without a shell, and other people's texts made fit.
 *
 * SPDX-License-Identifier: MIT */
#include "test.h"
#include "work/text.h"
#include "work/words.h"

/* The words, each in brackets. */
static struct str split(struct arena *arena, const char *line)
{
    struct err err = ERR_INIT;
    char **words;
    size_t count;
    struct str all = STR("");
    if (!words_split(arena, str_of(line), &words, &count, &err)) {
        return arena_printf(arena, "%s", err.text);
    }
    CHECK(words[count] == NULL);
    for (size_t i = 0; i < count; i++) {
        all = arena_printf(arena, STR_FMT "[%s]", STR_ARG(all), words[i]);
    }
    return all;
}

TEST(words_are_split_as_a_shell_does_and_nothing_is_expanded)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    CHECK_STR(split(&arena, ""), "");
    CHECK_STR(split(&arena, " \t "), "");
    CHECK_STR(split(&arena, "./resize.sh  -w 10\t-h 20 "), "[./resize.sh][-w][10][-h][20]");
    CHECK_STR(split(&arena, "a 'b c' \"d e\" f\\ g"), "[a][b c][d e][f g]");
    CHECK_STR(split(&arena, "'' \"\""), "[][]");
    CHECK_STR(split(&arena, "a'b'\"c\"d"), "[abcd]");
    CHECK_STR(split(&arena, "\"\\\"\\\\\\n\" '\\\"'"), "[\"\\\\n][\\\"]");
    CHECK_STR(split(&arena, "$HOME *.c `ls` ; | >x"), "[$HOME][*.c][`ls`][;][|][>x]");
    CHECK_STR(split(&arena, "a\\"), "[a\\]");
}

TEST(a_quote_that_is_not_closed_is_an_error)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    CHECK_STR(split(&arena, "a 'b"), "a quote ' is not closed");
    CHECK_STR(split(&arena, "a \"b"), "a quote \" is not closed");
}

TEST(text_is_cut_between_characters_and_bad_bytes_are_replaced)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    CHECK_STR(text_clean(&arena, STR("gr\xC3\xBC\xC3\x9F"), 100), "gr\xC3\xBC\xC3\x9F");
    CHECK_STR(text_clean(&arena, STR("gr\xC3\xBC\xC3\x9F"), 5), "gr\xC3\xBC");
    CHECK_STR(text_clean(&arena, STR("a\xFF\0z"), 100), "a\xEF\xBF\xBD\xEF\xBF\xBDz");
    CHECK_STR(text_clean(&arena, STR("\xFF"), 2), "");
    CHECK(str_absent(text_clean(&arena, STR_NONE, 10)));
}

TEST(the_newest_lines_are_kept)
{
    CHECK_STR(text_tail(STR("one\ntwo\nthree\n"), 100), "one\ntwo\nthree\n");
    CHECK_STR(text_tail(STR("one\ntwo\nthree\n"), 11), "two\nthree\n");
    CHECK_STR(text_tail(STR("one\ntwo\nthree\n"), 4), "ree\n");
    SCOPED(buf_fini) struct buf lines = BUF_INIT(10);
    buf_c(&lines, "one\ntwo\n");
    text_make_room(&lines, 4);
    CHECK_STR(buf_view(&lines), "two\n");
    text_make_room(&lines, 20);
    CHECK_STR(buf_view(&lines), "");
}

TEST(json_stays_and_other_text_becomes_a_string)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    CHECK_STR(text_to_json(&arena, STR(" {\"a\" : 1}\n")), "{\"a\" : 1}");
    CHECK_STR(text_to_json(&arena, STR("12\n")), "12");
    CHECK_STR(text_to_json(&arena, STR("hello \"you\"\n")), "\"hello \\\"you\\\"\"");
    CHECK_STR(text_to_json(&arena, STR(" two\nlines\n")), "\" two\\nlines\"");
    CHECK(str_absent(text_to_json(&arena, STR("\n"))));
}
