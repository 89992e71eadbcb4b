/* tests/cli/test_human.c: times and texts as people read them; nothing reaches the terminal raw.
 *
 * SPDX-License-Identifier: MIT */
#include "cli/human.h"
#include "test.h"

static void check_span(int64_t ms, const char *want)
{
    SCOPED(buf_fini) struct buf text = BUF_INIT(KIB);
    human_span(&text, ms);
    CHECK_STR(buf_view(&text), want);
}

static void check_when(bool terminal, const char *time, const char *want)
{
    SCOPED(buf_fini) struct buf text = BUF_INIT(KIB);
    const struct paper paper = {.terminal = terminal, .now_ms = 60000};
    human_when(&text, &paper, str_of(time));
    CHECK_STR(buf_view(&text), want);
}

static void check_clean(const char *raw, const char *want)
{
    SCOPED(buf_fini) struct buf text = BUF_INIT(KIB);
    human_clean(&text, str_of(raw));
    CHECK_STR(buf_view(&text), want);
}

TEST(a_span_has_the_two_units_that_matter)
{
    check_span(0, "0ms");
    check_span(999, "999ms");
    check_span(1500, "1.5s");
    check_span(59000, "59s");
    check_span(61000, "1m 1s");
    check_span(3 * HOUR_MS + 5 * MINUTE_MS, "3h 5m");
    check_span(49 * HOUR_MS, "2d 1h");
}

TEST(times_are_relative_on_a_terminal_only)
{
    check_when(true, "1970-01-01T00:00:30.000Z", "30s ago");
    check_when(true, "1970-01-01T00:01:30.000Z", "in 30s");
    check_when(false, "1970-01-01T00:00:30.000Z", "1970-01-01T00:00:30.000Z");
    check_when(true, "tomorrow", "tomorrow");
    check_when(true, NULL, "-");
}

TEST(control_characters_never_reach_the_terminal)
{
    check_clean("\033[2Jboom\n", "?[2Jboom?");
    check_clean("a\xc2\x9b"
                "b\x7f",
                "a?b?");
    check_clean("\xe2\x80\xaeliame\xe2\x81\xa6", "?liame?");
    check_clean("h\xc3\xa9llo \xe2\x82\xac", "h\xc3\xa9llo \xe2\x82\xac");
}

TEST(width_counts_characters)
{
    CHECK_EQ(human_width(STR("h\xc3\xa9llo")), 5);
}
