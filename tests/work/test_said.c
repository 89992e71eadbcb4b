/* tests/work/test_said.c: what commands say becomes progress, logs, results and errors.
 *
 * SPDX-License-Identifier: MIT */
#include "test.h"
#include "work/said.h"

TEST(progress_has_a_number_and_perhaps_a_message)
{
    double percent = -1;
    struct str text;
    CHECK_EQ(said_line(STR("progress 40 half way"), &percent, &text), SAID_PROGRESS);
    CHECK(percent == 40);
    CHECK_STR(text, "half way");
    CHECK_EQ(said_line(STR("progress 12.5"), &percent, &text), SAID_PROGRESS);
    CHECK(percent == 12.5);
    CHECK_STR(text, "");
    CHECK_EQ(said_line(STR("progress 250"), &percent, &text), SAID_PROGRESS);
    CHECK(percent == 100);
}

TEST(what_is_neither_progress_nor_log_is_passed_over)
{
    double percent;
    struct str text;
    CHECK_EQ(said_line(STR("progress"), &percent, &text), SAID_NOTHING);
    CHECK_EQ(said_line(STR("progress much"), &percent, &text), SAID_NOTHING);
    CHECK_EQ(said_line(STR("progress nan"), &percent, &text), SAID_NOTHING);
    CHECK_EQ(said_line(STR("hello"), &percent, &text), SAID_NOTHING);
    CHECK_EQ(said_line(STR(""), &percent, &text), SAID_NOTHING);
}

TEST(a_log_line_is_kept_as_it_is)
{
    double percent;
    struct str text;
    CHECK_EQ(said_line(STR("log  two blanks "), &percent, &text), SAID_LOG);
    CHECK_STR(text, " two blanks ");
    CHECK_EQ(said_line(STR("log"), &percent, &text), SAID_LOG);
    CHECK_STR(text, "");
}

static void note(void *arg, struct str line)
{
    buf_str(arg, line);
    buf_char(arg, '|');
}

TEST(lines_may_come_in_pieces_and_long_ones_are_cut)
{
    SCOPED(buf_fini) struct buf begun = BUF_INIT(8);
    SCOPED(buf_fini) struct buf heard = BUF_INIT(KIB);
    said_lines(&begun, STR("one\ntw"), note, &heard);
    said_lines(&begun, STR("o\n\nabcdefghijk"), note, &heard);
    said_lines(&begun, STR("lmn\nend"), note, &heard);
    CHECK_STR(buf_view(&heard), "one|two||abcdefgh|");
}

TEST(of_standard_error_the_last_lines_stay)
{
    SCOPED(buf_fini) struct buf kept = BUF_INIT(12);
    said_keep(&kept, STR("first\n"));
    said_keep(&kept, STR("second\n"));
    CHECK_STR(buf_view(&kept), "second\n");
    said_keep(&kept, STR("third\n"));
    CHECK_STR(buf_view(&kept), "third\n");
    said_keep(&kept, STR("a line that is longer than all of it"));
    CHECK_STR(buf_view(&kept), "an all of it");
}

TEST(what_is_kept_of_standard_error_has_no_gap)
{
    SCOPED(buf_fini) struct buf kept = BUF_INIT(12);
    said_keep(&kept, STR("old\n"));
    said_keep(&kept, STR("lost in between\nnew\n"));
    CHECK_STR(buf_view(&kept), "new\n");
}

TEST(an_error_says_how_it_ended_and_what_was_said_last)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct said_end end = {.status = 3, .last_said = STR("oops\nno such \x1B[31mimage\xFF\n\n")};
    CHECK_STR(said_message(&arena, &end), "exit status 3: no such ?[31mimage\xEF\xBF\xBD");
    end.last_said = STR("a\n");
    CHECK_STR(said_detail(&arena, &end), "{\"exitStatus\":3,\"stderr\":\"a\\n\"}");
    end = (struct said_end){.signal = 9, .last_said = STR("")};
    CHECK_STR(said_message(&arena, &end), "killed by signal 9 (Killed)");
    CHECK_STR(said_detail(&arena, &end), "{\"signal\":9}");
}
