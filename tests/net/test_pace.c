/* tests/net/test_pace.c: claims about how progress is spaced out.
 *
 * SPDX-License-Identifier: MIT */
#include "net/pace.h"
#include "test.h"

static struct backlog_entry *progress(uint64_t task, double percent)
{
    return backlog_entry_new(
        &(struct event){.kind = EVENT_PROGRESS, .task = {1, task}, .percent = percent});
}

/* The percent of an entry that is let go, or -1 for none. */
static double percent_of(struct backlog_entry *entry)
{
    double percent = entry == NULL ? -1 : entry->event.percent;
    backlog_entry_free(entry);
    return percent;
}

#define PACE(name, most)                                                                           \
    SCOPED(pace_fini) struct pace name;                                                            \
    pace_init(&name, 250, most)

TEST(the_first_progress_goes_out_at_once_and_the_latest_when_due)
{
    PACE(pace, 10);
    CHECK(percent_of(pace_progress(&pace, progress(1, 10), 1000)) == 10);
    CHECK(percent_of(pace_progress(&pace, progress(1, 20), 1001)) == -1);
    CHECK(percent_of(pace_progress(&pace, progress(1, 30), 1200)) == -1);
    CHECK_EQ(pace_next_ms(&pace), 1250);
    CHECK(percent_of(pace_due(&pace, 1249)) == -1);
    CHECK(percent_of(pace_due(&pace, 1250)) == 30);
    CHECK_EQ(pace_next_ms(&pace), 1500);
    CHECK(percent_of(pace_due(&pace, 1500)) == -1);
    CHECK_EQ(pace_next_ms(&pace), 0); /* nothing is held: nothing wakes */
}

TEST(a_second_of_progress_is_at_most_four)
{
    PACE(pace, 10);
    int sent = 0;
    for (int64_t now_ms = 0; now_ms < 1000; now_ms++) {
        sent += percent_of(pace_due(&pace, now_ms)) >= 0;
        sent += percent_of(pace_progress(&pace, progress(1, 1), now_ms)) >= 0;
    }
    CHECK_EQ(sent, 4);
}

TEST(tasks_do_not_slow_each_other_down)
{
    PACE(pace, 10);
    CHECK(percent_of(pace_progress(&pace, progress(1, 1), 0)) == 1);
    CHECK(percent_of(pace_progress(&pace, progress(2, 2), 0)) == 2);
}

TEST(what_is_held_of_an_ended_task_is_dropped)
{
    PACE(pace, 10);
    CHECK(percent_of(pace_progress(&pace, progress(1, 1), 0)) == 1);
    CHECK(percent_of(pace_progress(&pace, progress(1, 2), 0)) == -1);
    pace_forget(&pace, (struct task_id){1, 1});
    CHECK(percent_of(pace_due(&pace, 250)) == -1);
}

TEST(beyond_its_limit_progress_is_lost)
{
    PACE(pace, 1);
    CHECK(percent_of(pace_progress(&pace, progress(1, 1), 0)) == 1);
    CHECK(percent_of(pace_progress(&pace, progress(2, 2), 0)) == -1);
}
