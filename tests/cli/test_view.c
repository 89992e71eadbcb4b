/* tests/cli/test_view.c: what errand watch knows never goes back in time, and stays within bounds.
 *
 * SPDX-License-Identifier: MIT */
#include "cli/view.h"
#include "test.h"

static struct view_row *tell(struct view *view, bool look, uint64_t id, enum task_state state,
                             int32_t attempt, int64_t at_ms)
{
    const struct view_news news = {.id = {id, 1},
                                   .type = STR("t"),
                                   .message = STR_NONE,
                                   .error = STR_NONE,
                                   .state = state,
                                   .attempt = attempt,
                                   .percent = -1,
                                   .at_ms = at_ms,
                                   .look = look};
    return view_take(view, &news, at_ms);
}

static enum task_state state_of(struct view *view, uint64_t id)
{
    const struct view_row *row = view_find(view, (struct task_id){id, 1});
    return row == NULL ? TASK_STATES : row->state;
}

TEST(an_event_that_is_older_than_a_look_changes_nothing)
{
    SCOPED(view_fini) struct view view;
    view_init(&view);
    tell(&view, true, 1, TASK_RUNNING, 2, 500);
    CHECK(tell(&view, false, 1, TASK_RETRYING, 1, 400) == NULL);
    CHECK(tell(&view, false, 1, TASK_QUEUED, 1, 600) == NULL); /* another node's clock is ahead */
    CHECK_EQ(state_of(&view, 1), TASK_RUNNING);
    CHECK(view.doubted);
    CHECK(tell(&view, false, 1, TASK_COMPLETED, 2, 700) != NULL);
    CHECK_EQ(state_of(&view, 1), TASK_COMPLETED);
}

TEST(in_the_same_millisecond_the_later_state_stays)
{
    SCOPED(view_fini) struct view view;
    view_init(&view);
    tell(&view, true, 1, TASK_COMPLETED, 1, 500);
    CHECK(tell(&view, false, 1, TASK_RUNNING, 1, 500) == NULL);
    tell(&view, true, 2, TASK_QUEUED, 1, 500); /* released */
    CHECK(tell(&view, false, 2, TASK_RUNNING, 1, 500) == NULL);
    tell(&view, true, 3, TASK_QUEUED, 0, 500); /* a parent, which never counts an attempt */
    CHECK(tell(&view, false, 3, TASK_RUNNING, 0, 500) != NULL);
    CHECK_EQ(state_of(&view, 1), TASK_COMPLETED);
    CHECK_EQ(state_of(&view, 2), TASK_QUEUED);
    CHECK_EQ(state_of(&view, 3), TASK_RUNNING);
}

TEST(events_among_themselves_are_taken_in_the_order_in_which_they_come)
{
    SCOPED(view_fini) struct view view;
    view_init(&view);
    tell(&view, false, 1, TASK_RUNNING, 1, 500);
    tell(&view, false, 1, TASK_COMPLETED, 1, 490); /* of a node whose clock is behind */
    CHECK_EQ(state_of(&view, 1), TASK_COMPLETED);
}

TEST(a_manual_retry_takes_an_end_back)
{
    SCOPED(view_fini) struct view view;
    view_init(&view);
    tell(&view, false, 1, TASK_FAILED, 1, 500);
    CHECK_EQ(view.ended[TASK_FAILED], 1);
    tell(&view, false, 1, TASK_QUEUED, 1, 900);
    CHECK_EQ(view.ended[TASK_FAILED], 0);
    CHECK_EQ(view_live(&view), 1u);
}

TEST(what_a_look_does_not_show_any_more_was_missed)
{
    SCOPED(view_fini) struct view view;
    view_init(&view);
    tell(&view, false, 1, TASK_RUNNING, 1, 500);
    tell(&view, false, 2, TASK_RUNNING, 1, 500);
    tell(&view, false, 3, TASK_COMPLETED, 1, 500);
    view_look(&view);
    tell(&view, true, 2, TASK_RUNNING, 1, 500);
    struct view_row *missed = view_missed(&view);
    CHECK(missed != NULL && missed->id.hi == 1);
    tell(&view, true, 1, TASK_FAILED, 1, 800);
    CHECK(view_missed(&view) == NULL);
    CHECK_EQ(view.ended[TASK_FAILED], 1);
}

TEST(the_root_is_known_even_when_its_children_are_told_first)
{
    SCOPED(view_fini) struct view view;
    view_init(&view);
    view.root = (struct task_id){9, 1};
    const struct view_news child = {
        .id = {10, 1}, .parent = view.root, .state = TASK_COMPLETED, .percent = -1, .at_ms = 1};
    CHECK_EQ(view_take(&view, &child, 1)->depth, 1);
    tell(&view, false, 9, TASK_COMPLETED, 0, 2);
    CHECK_EQ(view.ended[TASK_COMPLETED], 1); /* the root is not folded away */
}

TEST(of_more_tasks_than_fit_those_that_run_are_kept)
{
    SCOPED(view_fini) struct view view;
    view_init(&view);
    tell(&view, false, 1, TASK_RUNNING, 1, 1);
    for (uint64_t i = 2; i < 2 * VIEW_ROWS_MAX; i++) {
        tell(&view, false, i, TASK_COMPLETED, 1, (int64_t)i);
    }
    CHECK_EQ(view.count, (size_t)VIEW_ROWS_MAX);
    CHECK_EQ(view.ended[TASK_COMPLETED], 2 * VIEW_ROWS_MAX - 2);
    CHECK_EQ(state_of(&view, 1), TASK_RUNNING);
}
