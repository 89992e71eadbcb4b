/* tests/cli/test_work_text.c: what commands say becomes progress, logs, results and errors.
 *
 * SPDX-License-Identifier: MIT */
#include "cli/work_text.h"
#include "test.h"

TEST(progress_has_a_number_and_perhaps_a_message)
{
    double percent = -1;
    struct str text;
    CHECK_EQ(work_line_read(STR("progress 40 half way"), &percent, &text), WORK_PROGRESS);
    CHECK(percent == 40);
    CHECK_STR(text, "half way");
    CHECK_EQ(work_line_read(STR("progress 12.5"), &percent, &text), WORK_PROGRESS);
    CHECK(percent == 12.5);
    CHECK_STR(text, "");
    CHECK_EQ(work_line_read(STR("progress 250"), &percent, &text), WORK_PROGRESS);
    CHECK(percent == 100);
}

TEST(what_is_neither_progress_nor_log_is_passed_over)
{
    double percent;
    struct str text;
    CHECK_EQ(work_line_read(STR("progress"), &percent, &text), WORK_NOTHING);
    CHECK_EQ(work_line_read(STR("progress much"), &percent, &text), WORK_NOTHING);
    CHECK_EQ(work_line_read(STR("progress nan"), &percent, &text), WORK_NOTHING);
    CHECK_EQ(work_line_read(STR("hello"), &percent, &text), WORK_NOTHING);
    CHECK_EQ(work_line_read(STR(""), &percent, &text), WORK_NOTHING);
}

TEST(a_log_line_is_kept_as_it_is)
{
    double percent;
    struct str text;
    CHECK_EQ(work_line_read(STR("log  two blanks "), &percent, &text), WORK_LOG);
    CHECK_STR(text, " two blanks ");
    CHECK_EQ(work_line_read(STR("log"), &percent, &text), WORK_LOG);
    CHECK_STR(text, "");
}

TEST(json_is_a_result_as_it_is_and_text_becomes_a_string)
{
    SCOPED(buf_fini) struct buf out = BUF_INIT(MIB);
    CHECK(work_result_write(&out, STR(" {\"a\": 1}\n")));
    CHECK_STR(buf_view(&out), "{\"a\": 1}");
    buf_clear(&out);
    CHECK(work_result_write(&out, STR("two\nlines\n")));
    CHECK_STR(buf_view(&out), "\"two\\nlines\"");
    buf_clear(&out);
    CHECK(work_result_write(&out, STR("\xFF")));
    CHECK_STR(buf_view(&out), "\"\xEF\xBF\xBD\"");
    CHECK(!work_result_write(&out, STR(" \n")));
    CHECK(!work_result_write(&out, STR("")));
}

TEST(of_standard_error_the_last_lines_stay)
{
    SCOPED(buf_fini) struct buf kept = BUF_INIT(24);
    work_stderr_add(&kept, STR("first\n"));
    work_stderr_add(&kept, STR("second\n"));
    CHECK_STR(buf_view(&kept), "second\n");
    work_stderr_add(&kept, STR("third\n"));
    CHECK_STR(buf_view(&kept), "third\n");
    work_stderr_add(&kept, STR("a line that is longer than all of it"));
    CHECK_STR(buf_view(&kept), "an all of it");
}

TEST(an_error_says_how_it_ended_and_what_was_said_last)
{
    SCOPED(buf_fini) struct buf out = BUF_INIT(MIB);
    struct work_end end = {.status = 3, .said = STR("oops\nno such \x1B[31mimage\xFF\n\n")};
    work_message_write(&out, &end);
    CHECK_STR(buf_view(&out), "exit status 3: no such ?[31mimage?");
    buf_clear(&out);
    work_detail_write(&out, &(struct work_end){.status = 3, .said = STR("a\n")});
    CHECK_STR(buf_view(&out), "{\"exitStatus\":3,\"stderr\":\"a\\n\"}");
    buf_clear(&out);
    end = (struct work_end){.signal = 9, .said = STR("")};
    work_message_write(&out, &end);
    CHECK_STR(buf_view(&out), "killed by signal 9 (Killed)");
    buf_clear(&out);
    work_detail_write(&out, &end);
    CHECK_STR(buf_view(&out), "{\"signal\":9}");
}
