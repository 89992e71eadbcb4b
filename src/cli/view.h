/* cli/view.h: what `errand watch` shows: a row per task, redrawn on a terminal, plain lines else.
 *
 * Children stand behind their parent, indented: the rows are a tree written depth first.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_CLI_VIEW_H
#define ERRAND_CLI_VIEW_H

#include "cli/human.h"
#include "task/task.h"

#define VIEW_ROWS_MAX 1001 /* tasks remembered, a whole batch; ended ones go first */

struct view_row {
    char id[TASK_ID_TEXT];
    char type[64], state[16], message[160];
    int depth;          /* below how many that are shown */
    double percent;     /* negative: none */
    int64_t since_ms;   /* in its state */
    int64_t started_ms; /* 0: not known */
};

struct view {
    struct view_row *rows;
    size_t count;
    bool pinned;      /* the first row is what is watched: it stays in sight */
    struct buf frame; /* what is drawn, so that it goes out in one write */
    int lines;        /* drawn now, to be drawn over */
    bool dirty;
    int64_t drawn_ms;
};

void view_init(struct view *view);
void view_fini(struct view *view);

/* Something happened to a task. Absent texts and a negative percent leave what was known. */
struct view_news {
    struct str id, parent, type, state, message;
    double percent;
    int64_t since_ms; /* when it came to that state; 0: now */
};
void view_take(struct view *view, const struct paper *paper, const struct view_news *news);

/* A line of a task's log, above the rows. */
void view_log(struct view *view, const struct paper *paper, struct str id, struct str line);

/* Draws what changed, but not more often than people can see. */
void view_draw(struct view *view, const struct paper *paper, bool now);

#endif
