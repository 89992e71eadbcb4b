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
    {"number", "N", "", OPTION_NUMBER(struct wish, number, -5, 10)},
    {"size", "BYTES", "", OPTION_SIZE(struct wish, size, 1, 1 << 30)},
    {"pause", "D", "", OPTION_DURATION(struct wish, pause_ms)},
    {"mode", "M", "", OPTION_CHOICE(struct wish, mode, "slow|fast")},
    {"rate", "R", "", OPTION_REAL(struct wish, rate)},
    {"loud", NULL, "", OPTION_SET(struct wish, loud)},
    {"tag", "T", "", OPTION_LIST(struct wish, tags)},
    {"clock", "TIME", "", OPTION_PERHAPS(struct wish, clock)},
    OPTION_END,
};

static struct wish wish;
static struct words words;
static struct err err;
static bool help;

#define PARSE(...)                                                                                 \
    parse((char *[]){__VA_ARGS__}, (int)(sizeof((char *[]){__VA_ARGS__}) / sizeof(char *)))

static bool parse(char **argv, int argc)
{
    wish = (struct wish){.number = -1};
    err = ERR_INIT;
    return option_parse(table, argc, argv, &wish, &words, &help, &err);
}

TEST(options_and_words_may_be_mixed)
{
    CHECK(PARSE("a", "--name", "x", "b", "--loud", "--number=7"));
    CHECK_STR(wish.name, "x");
    CHECK(wish.loud);
    CHECK_EQ(wish.number, 7);
    CHECK_EQ(words.count, 2);
    CHECK_STR(words.at[1], "b");
}

TEST(behind_two_dashes_all_are_words)
{
    CHECK(PARSE("--", "--loud", "-x"));
    CHECK(!wish.loud);
    CHECK_EQ(words.count, 2);
}

TEST(a_dash_and_a_negative_number_are_words)
{
    CHECK(PARSE("-", "-5"));
    CHECK_EQ(words.count, 2);
    CHECK(!PARSE("-x"));
}

TEST(values_are_read_by_their_kind)
{
    CHECK(PARSE("--size", "4k", "--pause", "1h30m", "--mode", "fast", "--rate", "0.5"));
    CHECK_EQ(wish.size, 4096);
    CHECK_EQ(wish.pause_ms, 90 * 60 * 1000);
    CHECK_EQ(wish.mode, 1);
    CHECK(wish.rate == 0.5);
}

TEST(sizes_know_their_units)
{
    CHECK(PARSE("--size", "1MiB") && wish.size == 1 << 20);
    CHECK(PARSE("--size", "16 mib") && wish.size == 16 << 20);
    CHECK(PARSE("--size", "2kB") && wish.size == 2000);
    CHECK(PARSE("--size", "7") && wish.size == 7);
    CHECK(!PARSE("--size", "1.5M") && !PARSE("--size", "M") && !PARSE("--size", "-1"));
    CHECK(!PARSE("--size", "9223372036854775807k"));
}

TEST(a_value_out_of_bounds_is_refused_with_the_bounds)
{
    CHECK(!PARSE("--number", "11"));
    CHECK_STR(str_of(err.text), "--number: must be -5 to 10");
    CHECK(!PARSE("--number", "seven"));
    CHECK_STR(str_of(err.text), "--number: \"seven\" is not a whole number");
    CHECK(!PARSE("--mode", "medium"));
    CHECK_STR(str_of(err.text), "--mode: \"medium\" is not one of slow|fast");
    CHECK(!PARSE("--rate", "nan") && !PARSE("--rate", "-1") && !PARSE("--rate", ""));
}

TEST(an_unknown_option_is_refused_with_a_guess)
{
    CHECK(!PARSE("--nmae", "x"));
    CHECK_STR(str_of(err.text), "unknown option --nmae; did you mean --name?");
    CHECK(!PARSE("--num", "1"));
    CHECK_STR(str_of(err.text), "unknown option --num; did you mean --number?");
    CHECK(!PARSE("--elephant"));
    CHECK_STR(str_of(err.text), "unknown option --elephant");
}

TEST(a_missing_or_unwanted_value_is_refused)
{
    CHECK(!PARSE("--name"));
    CHECK_STR(str_of(err.text), "--name needs a value: --name N");
    CHECK(!PARSE("--loud=yes"));
    CHECK(!PARSE("--name="));
}

TEST(an_option_may_be_given_again_where_it_makes_a_list)
{
    CHECK(PARSE("--tag", "a", "--tag=b"));
    CHECK_EQ(wish.tags.count, 2);
    CHECK_STR(wish.tags.at[1], "b");
}

TEST(a_list_has_an_end)
{
    char *argv[2 * (OPTION_MANY_MAX + 1)];
    for (size_t i = 0; i < ARRAY_LEN(argv); i++) {
        argv[i] = i % 2 == 0 ? "--tag" : "t";
    }
    CHECK(parse(argv, 2 * OPTION_MANY_MAX));
    CHECK(!parse(argv, (int)ARRAY_LEN(argv)));
}

TEST(an_optional_value_needs_its_equals_sign)
{
    CHECK(PARSE("--clock", "word"));
    CHECK(wish.clock.given && str_absent(wish.clock.value));
    CHECK_EQ(words.count, 1);
    CHECK(PARSE("--clock=2027"));
    CHECK_STR(wish.clock.value, "2027");
}

TEST(help_is_known_everywhere_and_stops_the_reading)
{
    CHECK(PARSE("--help", "--elephant") && help);
    CHECK(PARSE("-h") && help);
}
