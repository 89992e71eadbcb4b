/* cli/view.h: what `errand watch` knows of the tasks it watches, and how a terminal shows it.
 *
 * Two sources tell of a task: events, in the order in which things happened, and looks, answers of
 * the server to a question. A look is newer than every event that was read before it; an event that
 * was on its way meanwhile may be older than the look, and is then left out. So a task never goes
 * back to a state that it has left.
 *
 * On a terminal whatever runs comes first, then what waits for its retry and what failed, with
 * errors; the other states are folded into a line each.
 *
 * Thread: the command's only one.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_CLI_VIEW_H
#define ERRAND_CLI_VIEW_H

#include "cli/human.h"
#include "task/task.h"

#define VIEW_ROWS_MAX 1001 /* tasks remembered, a whole batch; ended ones go first */

struct view_row {
    struct task_id id;
    char type[64], message[160], error[160]; /* error: why its last attempt failed */
    enum task_state state;
    int32_t attempt;
    int depth;          /* below how many that are watched */
    double percent;     /* negative: none */
    int64_t at_ms;      /* when the last thing known of it happened */
    int64_t since_ms;   /* in its state */
    int64_t started_ms; /* its last attempt; 0: none that is known */
    int64_t due_ms;     /* RETRYING: when it goes on; 0: not known */
    bool looked;        /* a look told it, which events on their way may be older than */
    bool seen;          /* by the look that is under way */
    bool explained;     /* `error` and `due_ms` were asked for, or the look had them */
};

struct view {
    struct view_row *rows;
    size_t count;
    struct task_id root; /* the task that is watched with its descendants; none: many */
    bool counted;        /* `counts` are the server's, so tasks that wait need no rows */
    int64_t counts[TASK_STATES];
    int64_t ended[TASK_STATES]; /* the root is not among them */
    int64_t ahead_ms;           /* the server's clock before ours */
    bool doubted;               /* an event was left out: a look should settle it */
    char lost[160];             /* why the server cannot be heard; "": it can */

    struct buf frame; /* what is drawn, so that it goes out in one write */
    int lines;        /* drawn now, to be drawn over */
    int64_t drawn_ms;
};

void view_init(struct view *view);
void view_fini(struct view *view);

/* Something that is known of a task. Absent texts, a negative percent and a time of 0 leave what
 * was known. */
struct view_news {
    struct task_id id, parent;
    struct str type, message, error;
    enum task_state state;
    int32_t attempt;
    double percent;
    int64_t at_ms; /* when it happened; 0: now */
    int64_t started_ms, due_ms;
    bool look;    /* the server was asked: this is newer than every event read so far */
    bool removed; /* the task is gone */
};

/* Returns the row if the news changed it; NULL: nothing new, or older than what is known. The row
 * lives until the next call. */
struct view_row *view_take(struct view *view, const struct view_news *news, int64_t now_ms);

/* A look at all that is live begins, and has ended: returns a row that lives by what is known, but
 * that the look did not show, so something was missed; NULL: none is left. Ask for it by its id,
 * and tell view_take() or, where it is not there any more, view_drop(). */
void view_look(struct view *view);
struct view_row *view_missed(struct view *view);
void view_drop(struct view *view, struct view_row *row);

struct view_row *view_find(struct view *view, struct task_id id); /* NULL: not known */
size_t view_live(const struct view *view);                        /* rows that have not ended */

/* ---- Drawing: cli/view_draw.c ---- */

/* Draws, but not more often than people can see. `explain` is asked about each row that is shown
 * with its error and has not been explained. */
struct view_drawing {
    void (*explain)(void *arg, struct view_row *row);
    void *arg;
    bool now; /* in any case */
};
void view_draw(struct view *view, const struct paper *paper, const struct view_drawing *how);

/* A line of a task's log, above the rows. */
void view_log(struct view *view, struct str line);

#endif
