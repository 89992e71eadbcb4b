/* tests/work/test_job.c: what the end of an attempt is called, by what it was told and what came of
 * it.
 *
 * SPDX-License-Identifier: MIT */
#include "work/job.h"

#include "test.h"

static const struct job_end completed = {.completed = true};
static const struct job_end failed = {.error = {.code = {"failed", 6}}};
static const struct job_end released = {.released = true};

TEST(an_attempt_that_was_told_nothing_ends_as_it_says)
{
    CHECK_EQ(job_judge(TOLD_NOTHING, &completed), OUTCOME_COMPLETED);
    CHECK_EQ(job_judge(TOLD_NOTHING, &failed), OUTCOME_FAILED);
    CHECK_EQ(job_judge(TOLD_NOTHING, &released), OUTCOME_RELEASED);
}

TEST(after_a_time_out_it_is_a_time_out_whatever_came_of_it)
{
    CHECK_EQ(job_judge(TOLD_TIMEOUT, &completed), OUTCOME_TIMEOUT);
    CHECK_EQ(job_judge(TOLD_TIMEOUT, &failed), OUTCOME_TIMEOUT);
    CHECK_EQ(job_judge(TOLD_TIMEOUT, &released), OUTCOME_TIMEOUT);
}

TEST(work_that_completed_wins_over_a_cancel_and_a_release)
{
    CHECK_EQ(job_judge(TOLD_CANCEL, &completed), OUTCOME_COMPLETED);
    CHECK_EQ(job_judge(TOLD_RELEASE, &completed), OUTCOME_COMPLETED);
}

TEST(other_ends_do_not_win_over_what_was_told)
{
    CHECK_EQ(job_judge(TOLD_CANCEL, &failed), OUTCOME_CANCELLED);
    CHECK_EQ(job_judge(TOLD_CANCEL, &released), OUTCOME_CANCELLED);
    CHECK_EQ(job_judge(TOLD_RELEASE, &failed), OUTCOME_RELEASED);
    CHECK_EQ(job_judge(TOLD_RELEASE, &released), OUTCOME_RELEASED);
}

TEST(what_the_engine_says_is_understood)
{
    CHECK_EQ(told_of(ABORT_CANCEL), TOLD_CANCEL);
    CHECK_EQ(told_of(ABORT_TIMEOUT), TOLD_TIMEOUT);
    CHECK_EQ(told_of(ABORT_LOST), TOLD_RELEASE);
}
