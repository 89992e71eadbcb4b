/* cli/view.c: what `errand watch` knows of the tasks it watches. See view.h.
 *
 * SPDX-License-Identifier: MIT */
#include "cli/view.h"

#include <stdio.h>

#include "base/mem.h"

#define FRAME_MAX MIB

void view_init(struct view *view)
{
    *view = (struct view){.frame = BUF_INIT(FRAME_MAX)};
    view->rows = mem_array(NULL, VIEW_ROWS_MAX, sizeof *view->rows);
}

void view_fini(struct view *view)
{
    buf_fini(&view->frame);
    mem_free(view->rows);
}

/* Returns whether `out` became another text. An absent one leaves it. */
static bool copy_clean(char *out, size_t size, struct str text)
{
    SCOPED(buf_fini) struct buf clean = BUF_INIT(64 * KIB);
    if (str_absent(text)) {
        return false;
    }
    human_clean(&clean, text);
    struct str fits = {clean.ptr, MIN(clean.len, size - 1)};
    while (fits.len < clean.len && fits.len > 0 &&
           ((unsigned char)clean.ptr[fits.len] & 0xC0) == 0x80) {
        fits.len--; /* a letter is cut as a whole */
    }
    bool other = !str_is(fits, out);
    snprintf(out, size, STR_FMT, STR_ARG(fits));
    return other;
}

/* ---- Rows ---- */

struct view_row *view_find(struct view *view, struct task_id id)
{
    for (size_t i = 0; i < view->count; i++) {
        if (id_eq(view->rows[i].id, id)) {
            return &view->rows[i];
        }
    }
    return NULL;
}

size_t view_live(const struct view *view)
{
    size_t live = 0;
    for (size_t i = 0; i < view->count; i++) {
        live += !task_state_terminal(view->rows[i].state);
    }
    return live;
}

void view_drop(struct view *view, struct view_row *row)
{
    *row = view->rows[--view->count]; /* what is drawn is sorted then */
}

/* Makes room: one that has ended goes, else one that does not run, the oldest of them. */
static void drop_one(struct view *view)
{
    struct view_row *worst = NULL;
    int worst_rank = -1;
    for (size_t i = 0; i < view->count; i++) {
        struct view_row *row = &view->rows[i];
        int rank = task_state_terminal(row->state) ? 2 : row->state != TASK_RUNNING;
        bool older = worst == NULL || row->at_ms < worst->at_ms;
        if (!id_eq(row->id, view->root) && (rank > worst_rank || (rank == worst_rank && older))) {
            worst = row;
            worst_rank = rank;
        }
    }
    view_drop(view, worst);
}

static struct view_row *add_row(struct view *view, const struct view_news *news)
{
    if (view->count == VIEW_ROWS_MAX) {
        drop_one(view);
    }
    struct view_row *above = id_none(news->parent) ? NULL : view_find(view, news->parent);
    struct view_row *row = &view->rows[view->count++];
    *row = (struct view_row){
        .id = news->id,
        .percent = -1,
        .state = TASK_STATES, /* none yet */
        .depth = above != NULL ? above->depth + 1
                               : !id_none(news->parent) && id_eq(news->parent, view->root),
    };
    return row;
}

/* ---- What is older than what is known ---- */

/* Which of two states of the same attempt, told for the same millisecond, is the later one. Before
 * its first attempt a task waits and then begins (a parent: without ever counting one); afterwards
 * it ran first and may wait again. */
static int order_in_attempt(enum task_state state, int32_t attempt)
{
    static const int first[TASK_STATES] = {
        [TASK_WAITING] = 0,   [TASK_SCHEDULED] = 1, [TASK_QUEUED] = 2,
        [TASK_RUNNING] = 3,   [TASK_RETRYING] = 4,  [TASK_COMPLETED] = 5,
        [TASK_CANCELLED] = 5, [TASK_FAILED] = 5,    [TASK_TIMEOUT] = 5,
    };
    static const int later[TASK_STATES] = {
        [TASK_RUNNING] = 0,   [TASK_RETRYING] = 1, [TASK_WAITING] = 2,
        [TASK_SCHEDULED] = 3, [TASK_QUEUED] = 4,   [TASK_COMPLETED] = 5,
        [TASK_CANCELLED] = 5, [TASK_FAILED] = 5,   [TASK_TIMEOUT] = 5,
    };
    return attempt == 0 ? first[state] : later[state];
}

static bool is_older(const struct view_news *news, const struct view_row *row)
{
    if (news->look || !row->looked || news->removed) {
        return false; /* events among themselves come in order */
    }
    if (news->attempt != row->attempt) {
        return news->attempt < row->attempt;
    }
    if (news->at_ms != row->at_ms) {
        return news->at_ms < row->at_ms;
    }
    return order_in_attempt(news->state, news->attempt) <
           order_in_attempt(row->state, row->attempt);
}

/* ---- Taking ---- */

static void count_end(struct view *view, const struct view_row *row, int by)
{
    if (row->state < TASK_STATES && task_state_terminal(row->state) &&
        !id_eq(row->id, view->root)) {
        view->ended[row->state] += by;
    }
}

static void enter_state(struct view *view, struct view_row *row, const struct view_news *news)
{
    count_end(view, row, -1); /* a manual retry takes it back */
    row->state = news->state;
    count_end(view, row, 1);
    row->attempt = news->attempt;
    row->since_ms = news->at_ms;
    row->message[0] = row->error[0] = '\0';
    row->explained = false;
    row->due_ms = 0;
    if (news->state == TASK_RUNNING) {
        row->started_ms = news->at_ms;
        row->percent = -1;
    } else if (news->state == TASK_COMPLETED) {
        row->percent = 100;
    }
}

struct view_row *view_take(struct view *view, const struct view_news *told, int64_t now_ms)
{
    struct view_news news = *told;
    struct view_row *row = view_find(view, news.id);
    news.at_ms = news.at_ms == 0 ? now_ms + view->ahead_ms : news.at_ms;
    /* Tasks that wait need no rows where the server counts them. */
    bool waits =
        news.state == TASK_QUEUED || news.state == TASK_SCHEDULED || news.state == TASK_WAITING;
    if (row == NULL && (news.removed || (view->counted && waits))) {
        return NULL;
    }
    if (row != NULL && is_older(&news, row)) {
        view->doubted = true;
        return NULL;
    }
    if (news.removed) {
        view_drop(view, row);
        return NULL;
    }
    row = row != NULL ? row : add_row(view, &news);
    bool changed = news.state != row->state || news.attempt != row->attempt;
    if (changed) {
        enter_state(view, row, &news);
    }
    copy_clean(row->type, sizeof row->type, news.type);
    changed = copy_clean(row->message, sizeof row->message, news.message) || changed;
    if (copy_clean(row->error, sizeof row->error, news.error)) {
        row->explained = true;
    }
    changed = changed || (news.percent >= 0 && news.percent != row->percent);
    row->percent = news.percent >= 0 ? news.percent : row->percent;
    row->started_ms = news.started_ms != 0 ? news.started_ms : row->started_ms;
    row->due_ms = news.due_ms != 0 ? news.due_ms : row->due_ms;
    row->at_ms = news.at_ms;
    row->looked = news.look;
    row->seen = row->seen || news.look;
    return changed ? row : NULL;
}

void view_look(struct view *view)
{
    for (size_t i = 0; i < view->count; i++) {
        view->rows[i].seen = false;
    }
    view->doubted = false;
}

struct view_row *view_missed(struct view *view)
{
    for (size_t i = 0; i < view->count; i++) {
        if (!view->rows[i].seen && !task_state_terminal(view->rows[i].state)) {
            return &view->rows[i];
        }
    }
    return NULL;
}
