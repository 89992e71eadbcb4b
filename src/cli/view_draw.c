/* cli/view_draw.c: how a terminal shows what `errand watch` knows. See view.h.
 *
 * A frame is drawn over the one before it, so no line may wrap: each is cut to the width that the
 * terminal has now, and the terminal is told not to wrap either, since letters may be wider than
 * they are counted here.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>

#include "cli/view.h"

#define DRAW_EVERY_MS 100
#define WIDE          100 /* columns of a terminal that has room for whole ids */
#define ID_SHORT      18  /* of an id elsewhere: on one node no two begin alike so far */
#define BAR_NARROW    10
#define BAR_WIDE      20
#define TYPE_MAX      20 /* columns of a type, as far as others need no more */
#define TYPES_MAX     16 /* told apart in a folded line */
#define SHOWN_ALL     SIZE_MAX

/* What is shown, in this order. Of most states a few rows are enough, the newest; what runs gets
 * the room that is left, the longest first. */
static const struct section {
    enum task_state state;
    size_t rows; /* 0: folded into a line */
} sections[] = {
    {TASK_RUNNING, SHOWN_ALL}, {TASK_RETRYING, 4},  {TASK_FAILED, 5},
    {TASK_TIMEOUT, 3},         {TASK_QUEUED, 0},    {TASK_SCHEDULED, 0},
    {TASK_WAITING, 0},         {TASK_COMPLETED, 0}, {TASK_CANCELLED, 0},
};

/* A frame being drawn. */
struct frame {
    struct view *view;
    const struct paper *paper;
    int64_t now_ms; /* the server's */
    size_t room;    /* lines left */
    size_t type_width;
    struct view_row *picked[VIEW_ROWS_MAX]; /* the rows of a section */
    size_t picked_count;
};

/* A line: a word in the colour that it stands for, and text as far as there is room. */
static void put_line(struct frame *frame, const char *word, struct str text)
{
    struct buf *out = &frame->view->frame;
    const char *colour = human_colour(frame->paper, str_of(word));
    size_t used = human_width(str_of(word)), width = (size_t)frame->paper->width;
    if (frame->room == 0) {
        return;
    }
    while (text.len > 0 && human_width(text) + used > width) {
        text.len--;
    }
    buf_printf(out, "%s%s%s", colour, word, colour[0] ? human_plain(frame->paper) : "");
    buf_str(out, text);
    buf_c(out, "\033[K\n");
    frame->room--;
    frame->view->lines++;
}

/* ---- A task ---- */

static void put_bar(struct buf *text, const struct paper *paper, double percent)
{
    int width = paper->width < WIDE ? BAR_NARROW : BAR_WIDE;
    int full = (int)(MIN(MAX(percent, 0), 100) * width / 100);
    if (percent < 0) {
        buf_printf(text, "  %*s     ", width + 2, "");
        return;
    }
    buf_c(text, "  [");
    for (int i = 0; i < width; i++) {
        buf_char(text, i < full ? '#' : '.');
    }
    buf_printf(text, "] %3.0f%%", percent);
}

/* What an ended or waiting task has to say: how long it ran, when it goes on, why it failed. */
static void put_outcome(struct buf *text, const struct frame *frame, const struct view_row *row)
{
    bool ended = task_state_terminal(row->state);
    buf_c(text, "  ");
    if (ended && row->started_ms != 0) {
        buf_c(text, "ran ");
        human_span(text, MAX(row->since_ms - row->started_ms, 0));
    } else if (row->state == TASK_RETRYING && row->due_ms != 0) {
        buf_c(text, "retries in ");
        human_span(text, MAX(row->due_ms - frame->now_ms, 0));
    } else {
        buf_c(text, ended ? "ended" : "for ");
        if (!ended) {
            human_span(text, MAX(frame->now_ms - row->since_ms, 0));
        }
    }
    buf_printf(text, "%s%s", row->error[0] != '\0' ? ": " : "", row->error);
}

static void put_task(struct frame *frame, const char *word, const struct view_row *row)
{
    SCOPED(buf_fini) struct buf text = BUF_INIT(4 * KIB);
    SCOPED(buf_fini) struct buf span = BUF_INIT(KIB);
    char id[TASK_ID_TEXT];
    id_text(row->id, id);
    struct str type = str_of(row->type);
    while (type.len > 0 && human_width(type) > frame->type_width) {
        type.len--;
    }
    buf_printf(&text, "  %.*s  " STR_FMT "%*s", frame->paper->width < WIDE ? ID_SHORT : 36, id,
               STR_ARG(type), (int)(frame->type_width - human_width(type)), "");
    if (row->state == TASK_RUNNING) {
        int64_t from_ms = row->started_ms != 0 ? row->started_ms : row->since_ms;
        put_bar(&text, frame->paper, row->percent);
        human_span(&span, MAX(frame->now_ms - from_ms, 0));
        buf_printf(&text, "  %7s  %s", buf_c_text(&span), row->message);
    } else {
        put_outcome(&text, frame, row);
    }
    put_line(frame, word, buf_view(&text));
}

/* ---- Sections ---- */

static int longest_first(const void *left, const void *right)
{
    const struct view_row *a = *(struct view_row *const *)left;
    const struct view_row *b = *(struct view_row *const *)right;
    return a->started_ms != b->started_ms ? (a->started_ms > b->started_ms ? 1 : -1)
                                          : (a->id.hi > b->id.hi) - (a->id.hi < b->id.hi);
}

static int newest_first(const void *left, const void *right)
{
    const struct view_row *a = *(struct view_row *const *)left;
    const struct view_row *b = *(struct view_row *const *)right;
    return a->since_ms != b->since_ms ? (a->since_ms < b->since_ms ? 1 : -1)
                                      : (a->id.hi < b->id.hi) - (a->id.hi > b->id.hi);
}

/* The rows in that state, in the order in which they are shown. */
static void pick(struct frame *frame, enum task_state state)
{
    struct view *view = frame->view;
    frame->picked_count = 0;
    for (size_t i = 0; i < view->count; i++) {
        if (view->rows[i].state == state && !id_eq(view->rows[i].id, view->root)) {
            frame->picked[frame->picked_count++] = &view->rows[i];
        }
    }
    qsort(frame->picked, frame->picked_count, sizeof frame->picked[0],
          state == TASK_RUNNING ? longest_first : newest_first);
}

/* How many there are: of what ended all that did so meanwhile, of what waits what the server
 * counted; what runs is known better than by a count that is a second old. */
static int64_t total(const struct frame *frame, enum task_state state)
{
    const struct view *view = frame->view;
    int64_t rows = (int64_t)frame->picked_count;
    bool server = view->counted && (state != TASK_RUNNING || view->count == VIEW_ROWS_MAX);
    return task_state_terminal(state)         ? view->ended[state]
           : server && state != TASK_RETRYING ? MAX(view->counts[state], rows)
                                              : rows;
}

/* "resize x8, mail": of which types the picked rows are. */
static void put_types(struct frame *frame, struct buf *text)
{
    const char *types[TYPES_MAX];
    size_t counts[TYPES_MAX], known = 0;
    for (size_t i = 0; i < frame->picked_count; i++) {
        const char *type = frame->picked[i]->type;
        size_t at = 0;
        while (at < known && strcmp(types[at], type) != 0) {
            at++;
        }
        if (at == TYPES_MAX) {
            continue;
        }
        types[at] = type;
        counts[at] = at == known ? 1 : counts[at] + 1;
        known += at == known;
    }
    for (size_t i = 0; i < known; i++) {
        buf_printf(text, "%s%s", i == 0 ? "  " : ", ", types[i]);
        if (counts[i] > 1) {
            buf_printf(text, " x%zu", counts[i]);
        }
    }
}

/* The lines that the sections behind this one need. */
static size_t lines_behind(struct frame *frame, const struct section *section)
{
    size_t lines = 0;
    for (const struct section *s = section + 1; s < sections + ARRAY_LEN(sections); s++) {
        pick(frame, s->state);
        size_t rows = MIN(frame->picked_count, s->rows);
        lines += total(frame, s->state) > 0 ? 1 + rows : 0;
    }
    return lines;
}

static void put_section(struct frame *frame, const struct section *section,
                        const struct view_drawing *how)
{
    SCOPED(buf_fini) struct buf text = BUF_INIT(4 * KIB);
    size_t behind = section->rows == SHOWN_ALL ? lines_behind(frame, section) + 2 : 0;
    pick(frame, section->state);
    int64_t all = total(frame, section->state);
    if (all == 0) {
        return;
    }
    size_t most = section->rows != SHOWN_ALL ? section->rows
                  : frame->room > behind     ? frame->room - behind
                                             : 1;
    size_t shown = MIN(frame->picked_count, most);
    buf_printf(&text, " %lld", (long long)all);
    if (section->rows == 0 && all == (int64_t)frame->picked_count) {
        put_types(frame, &text);
    } else if (section->rows > 0 && (int64_t)shown < all) {
        buf_printf(&text, ", %s %zu of them",
                   section->state == TASK_RUNNING ? "the longest" : "the last", shown);
    }
    put_line(frame, task_state_name(section->state), buf_view(&text));
    for (size_t i = 0; i < shown; i++) {
        if (section->state != TASK_RUNNING && !frame->picked[i]->explained) {
            how->explain(how->arg, frame->picked[i]);
        }
        put_task(frame, "", frame->picked[i]);
    }
}

static void put_root(struct frame *frame, const struct view_drawing *how)
{
    struct view_row *root =
        id_none(frame->view->root) ? NULL : view_find(frame->view, frame->view->root);
    if (root == NULL) {
        return;
    }
    bool says_why = root->state == TASK_RETRYING || root->state > TASK_COMPLETED;
    if (says_why && !root->explained) {
        how->explain(how->arg, root);
    }
    put_task(frame, task_state_name(root->state), root);
}

/* ---- The frame ---- */

static size_t type_width(const struct view *view)
{
    size_t width = 1;
    for (size_t i = 0; i < view->count; i++) {
        width = MAX(width, human_width(str_of(view->rows[i].type)));
    }
    return MIN(width, TYPE_MAX);
}

static void put_home(struct view *view)
{
    buf_clear(&view->frame);
    buf_c(&view->frame, "\033[?7l");
    if (view->lines > 0) {
        buf_printf(&view->frame, "\033[%dA", view->lines);
    }
    buf_c(&view->frame, "\r");
}

static void put_frame(struct view *view, const struct paper *paper, const struct view_drawing *how)
{
    struct frame frame = {.view = view,
                          .paper = paper,
                          .now_ms = paper->now_ms + view->ahead_ms,
                          .room = (size_t)MAX(paper->height - 1, 1),
                          .type_width = type_width(view)};
    view->lines = 0;
    if (view->lost[0] != '\0') {
        SCOPED(buf_fini) struct buf text = BUF_INIT(KIB);
        buf_printf(&text, ", trying again: %s", view->lost);
        put_line(&frame, "disconnected", buf_view(&text));
    }
    put_root(&frame, how);
    for (size_t i = 0; i < ARRAY_LEN(sections); i++) {
        put_section(&frame, &sections[i], how);
    }
    if (view->lines == 0) {
        put_line(&frame, "", STR("nothing runs; Ctrl-C ends the watch"));
    }
    buf_c(&view->frame, "\033[J\033[?7h");
    fwrite(view->frame.ptr, 1, view->frame.len, stdout);
    fflush(stdout);
    view->drawn_ms = paper->now_ms;
}

void view_draw(struct view *view, const struct paper *paper, const struct view_drawing *how)
{
    if (paper->terminal && (how->now || paper->now_ms - view->drawn_ms >= DRAW_EVERY_MS)) {
        put_home(view);
        put_frame(view, paper, how);
    }
}

void view_log(struct view *view, struct str line)
{
    SCOPED(buf_fini) struct buf clean = BUF_INIT(64 * KIB);
    human_clean(&clean, line);
    put_home(view);
    buf_printf(&view->frame, "\033[?7h%s\033[K\n\033[J", buf_c_text(&clean));
    fwrite(view->frame.ptr, 1, view->frame.len, stdout);
    fflush(stdout);
    view->lines = 0;
    view->drawn_ms = 0; /* what the line has overwritten is drawn anew at once */
}
