/* tests/cli/test_option.c: what people type is understood or refused with a hint.
 *
 * SPDX-License-Identifier: MIT */
#include "cli/option.h"
#include "test.h"

struct wish {
    struct str name;
    int64_t number, size, pause_ms, mode;
    double rate;
    bool loud;
    struct option_many tags;
    struct option_maybe clock;
};

static const struct option table[] = {
    {"name", "N", "", OPTION_TEXT(struct wish, name)},
    {"number", "N", "", OPTION_NUMBER(struct wish, number, -5, 10), .letter = 'n'},
    {"size", "BYTES", "", OPTION_SIZE(struct wish, size, 1, 1 << 30)},
    {"pause", "D", "", OPTION_DURATION(struct wish, pause_ms)},
    {"mode", "M", "", OPTION_CHOICE(struct wish, mode, "slow|fast")},
    {"rate", "R", "", OPTION_REAL(struct wish, rate)},
    {"loud", NULL, "", OPTION_SET(struct wish, loud)},
    {"tag", "T", "", OPTION_LIST(struct wish, tags), .letter = 't'},
    {"clock", "TIME", "", OPTION_PERHAPS(struct wish, clock)},
    OPTION_END,
};

/* One reading of a command line, and what came out of it. */
struct reading {
    struct wish wish;
    struct words words;
    struct err err;
    bool help;
};

#define PARSE(...)                                                                                 \
    parse(&r, (char *[]){__VA_ARGS__}, (int)(sizeof((char *[]){__VA_ARGS__}) / sizeof(char *)))

static bool parse(struct reading *r, char **argv, int argc)
{
    r->wish = (struct wish){.number = -1};
    r->err = ERR_INIT;
    return option_parse(table, argc, argv, &r->wish, &r->words, &r->help, &r->err);
}

TEST(options_and_words_may_be_mixed)
{
    struct reading r;
    CHECK(PARSE("a", "--name", "x", "b", "--loud", "--number=7"));
    CHECK_STR(r.wish.name, "x");
    CHECK(r.wish.loud);
    CHECK_EQ(r.wish.number, 7);
    CHECK_EQ(r.words.count, 2);
    CHECK_STR(r.words.at[1], "b");
}

TEST(a_letter_takes_what_is_behind_it_or_the_next_word)
{
    struct reading r;
    CHECK(PARSE("-n7", "-t", "a", "-tb", "-5"));
    CHECK_EQ(r.wish.number, 7);
    CHECK_EQ(r.wish.tags.count, 2);
    CHECK_STR(r.wish.tags.at[1], "b");
    CHECK_EQ(r.words.count, 1);
    CHECK(!PARSE("-n"));
    CHECK(!PARSE("-x", "1"));
}

TEST(behind_two_dashes_all_are_words)
{
    struct reading r;
    CHECK(PARSE("--", "--loud", "-x"));
    CHECK(!r.wish.loud);
    CHECK_EQ(r.words.count, 2);
}

TEST(a_dash_and_a_negative_number_are_words)
{
    struct reading r;
    CHECK(PARSE("-", "-5"));
    CHECK_EQ(r.words.count, 2);
    CHECK(!PARSE("-x"));
}

TEST(values_are_read_by_their_kind)
{
    struct reading r;
    CHECK(PARSE("--size", "4k", "--pause", "1h30m", "--mode", "fast", "--rate", "0.5"));
    CHECK_EQ(r.wish.size, 4096);
    CHECK_EQ(r.wish.pause_ms, 90 * 60 * 1000);
    CHECK_EQ(r.wish.mode, 1);
    CHECK(r.wish.rate == 0.5);
}

TEST(sizes_know_their_units)
{
    struct reading r;
    CHECK(PARSE("--size", "1MiB") && r.wish.size == 1 << 20);
    CHECK(PARSE("--size", "16 mib") && r.wish.size == 16 << 20);
    CHECK(PARSE("--size", "2kB") && r.wish.size == 2000);
    CHECK(PARSE("--size", "7") && r.wish.size == 7);
    CHECK(!PARSE("--size", "1.5M") && !PARSE("--size", "M") && !PARSE("--size", "-1"));
    CHECK(!PARSE("--size", "9223372036854775807k"));
}

TEST(a_value_out_of_bounds_is_refused_with_the_bounds)
{
    struct reading r;
    CHECK(!PARSE("--number", "11"));
    CHECK_STR(str_of(r.err.text), "--number: must be -5 to 10");
    CHECK(!PARSE("--number", "seven"));
    CHECK_STR(str_of(r.err.text), "--number: \"seven\" is not a whole number");
    CHECK(!PARSE("--mode", "medium"));
    CHECK_STR(str_of(r.err.text), "--mode: \"medium\" is not one of slow|fast");
    CHECK(!PARSE("--rate", "nan") && !PARSE("--rate", "-1") && !PARSE("--rate", ""));
}

TEST(an_unknown_option_is_refused_with_a_guess)
{
    struct reading r;
    CHECK(!PARSE("--nmae", "x"));
    CHECK_STR(str_of(r.err.text), "unknown option --nmae; did you mean --name?");
    CHECK(!PARSE("--num", "1"));
    CHECK_STR(str_of(r.err.text), "unknown option --num; did you mean --number?");
    CHECK(!PARSE("--elephant"));
    CHECK_STR(str_of(r.err.text), "unknown option --elephant");
}

TEST(a_missing_or_unwanted_value_is_refused)
{
    struct reading r;
    CHECK(!PARSE("--name"));
    CHECK_STR(str_of(r.err.text), "--name needs a value: --name N");
    CHECK(!PARSE("--loud=yes"));
    CHECK(!PARSE("--name="));
}

TEST(an_option_may_be_given_again_where_it_makes_a_list)
{
    struct reading r;
    CHECK(PARSE("--tag", "a", "--tag=b"));
    CHECK_EQ(r.wish.tags.count, 2);
    CHECK_STR(r.wish.tags.at[1], "b");
}

TEST(a_list_has_an_end)
{
    struct reading r;
    char *argv[2 * (OPTION_MANY_MAX + 1)];
    for (size_t i = 0; i < ARRAY_LEN(argv); i++) {
        argv[i] = i % 2 == 0 ? "--tag" : "t";
    }
    CHECK(parse(&r, argv, 2 * OPTION_MANY_MAX));
    CHECK(!parse(&r, argv, (int)ARRAY_LEN(argv)));
}

TEST(an_optional_value_needs_its_equals_sign)
{
    struct reading r;
    CHECK(PARSE("--clock", "word"));
    CHECK(r.wish.clock.given && str_absent(r.wish.clock.value));
    CHECK_EQ(r.words.count, 1);
    CHECK(PARSE("--clock=2027"));
    CHECK_STR(r.wish.clock.value, "2027");
}

TEST(help_is_known_everywhere_and_stops_the_reading)
{
    struct reading r;
    CHECK(PARSE("--help", "--elephant") && r.help);
    CHECK(PARSE("-h") && r.help);
}

/* ---- What is sent of them ---- */

static const struct option sent[] = {
    {"name", "N", "", OPTION_TEXT(struct wish, name), .field = "fullName"},
    {"number", "N", "", OPTION_NUMBER(struct wish, number, 0, 10), .field = "count"},
    {"rate", "R", "", OPTION_REAL(struct wish, rate), .field = "ratePerSecond"},
    {"loud", NULL, "", OPTION_SET(struct wish, loud), .field = "loud"},
    {"tag", "T", "", OPTION_LIST(struct wish, tags), .field = "tags"},
    {"size", "BYTES", "", OPTION_SIZE(struct wish, size, 1, 1 << 30)},
    OPTION_END,
};

static const struct wish nothing = {.number = -1, .rate = -1, .size = 7};
static const struct wish everything = {
    .name = {"a b&c", 5},
    .number = 0,
    .rate = 0.5,
    .loud = true,
    .size = 7,
    .tags = {.at = {{"x", 1}, {"y", 1}}, .count = 2},
};

TEST(what_was_given_is_sent_under_the_servers_names)
{
    SCOPED(buf_fini) struct buf body = BUF_INIT(KIB);
    struct json_writer w = JSON_WRITER(&body);
    json_open_object(&w);
    option_put_json(sent, &everything, &w);
    json_close_object(&w);
    CHECK_STR(buf_view(&body), "{\"fullName\":\"a b&c\",\"count\":0,\"ratePerSecond\":0.5,"
                               "\"loud\":true,\"tags\":[\"x\",\"y\"]}");
}

TEST(what_was_not_given_is_not_sent)
{
    SCOPED(buf_fini) struct buf text = BUF_INIT(KIB);
    struct json_writer w = JSON_WRITER(&text);
    option_put_json(sent, &nothing, &w);
    option_put_query(sent, &nothing, &text);
    CHECK_EQ(text.len, 0);
}

TEST(a_query_is_encoded_and_joins_one_that_is_there)
{
    SCOPED(buf_fini) struct buf path = BUF_INIT(KIB);
    buf_c(&path, "/api/tasks");
    option_put_query(sent, &(struct wish){.name = STR("a b&c"), .number = -1}, &path);
    CHECK_STR(buf_view(&path), "/api/tasks?fullName=a%20b%26c");
    option_put_query(sent, &(struct wish){.number = 3}, &path);
    CHECK_STR(buf_view(&path), "/api/tasks?fullName=a%20b%26c&count=3");
}

TEST(words_that_came_unquoted_are_a_sentence)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct words words = {.at = {STR("id"), STR("move"), STR("it")}, .count = 3};
    CHECK_STR(words_join(&words, 1, &arena), "move it");
    CHECK_STR(words_join(&words, 3, &arena), "");
}
