/* cli/view.c: what `errand watch` shows. See view.h.
 *
 * SPDX-License-Identifier: MIT */
#include "cli/view.h"

#include <stdio.h>

#include "base/mem.h"

#define DRAW_EVERY_MS 100
#define BAR_WIDTH     20
#define BAR_NARROW    10 /* on a terminal of less than WIDE columns */
#define WIDE          100

void view_init(struct view *view)
{
    *view = (struct view){.frame = BUF_INIT(MIB)};
    view->rows = mem_array(NULL, VIEW_ROWS_MAX, sizeof *view->rows);
}

void view_fini(struct view *view)
{
    buf_fini(&view->frame);
    mem_free(view->rows);
}

static void copy_clean(char *out, size_t size, struct str text)
{
    SCOPED(buf_fini) struct buf clean = BUF_INIT(64 * KIB);
    if (!str_absent(text)) {
        human_clean(&clean, text);
        snprintf(out, size, "%s", buf_c_text(&clean));
    }
}

/* ---- Rows ---- */

static bool has_ended(const struct view_row *row)
{
    enum task_state state;
    return task_state_parse(str_of(row->state), &state) && task_state_terminal(state);
}

/* Makes room: the oldest that has ended goes, else the oldest. */
static void drop_one(struct view *view)
{
    size_t at = view->pinned ? 1 : 0;
    for (size_t i = at; i < view->count; i++) {
        if (has_ended(&view->rows[i])) {
            at = i;
            break;
        }
    }
    view->count--;
    memmove(&view->rows[at], &view->rows[at + 1], (view->count - at) * sizeof view->rows[0]);
}

static struct view_row *find_row(struct view *view, struct str id)
{
    for (size_t i = 0; i < view->count; i++) {
        if (str_is(id, view->rows[i].id)) {
            return &view->rows[i];
        }
    }
    return NULL;
}

/* A new row: behind all that hangs below its parent, or at the end. */
static struct view_row *add_row(struct view *view, struct str id, struct str parent)
{
    if (view->count == VIEW_ROWS_MAX) {
        drop_one(view);
    }
    struct view_row *above = str_absent(parent) ? NULL : find_row(view, parent);
    size_t at = above == NULL ? view->count : (size_t)(above - view->rows) + 1;
    int depth = above == NULL ? 0 : above->depth + 1;
    while (at < view->count && view->rows[at].depth >= depth) {
        at++;
    }
    struct view_row *row = &view->rows[at];
    memmove(row + 1, row, (view->count - at) * sizeof *row);
    view->count++;
    *row = (struct view_row){.percent = -1, .depth = depth};
    copy_clean(row->id, sizeof row->id, id);
    return row;
}

static void print_plain(const struct view_row *row)
{
    printf("%s  %-9s  %*s%s", row->id, row->state, 2 * row->depth, "", row->type);
    if (row->percent >= 0) {
        printf("  %.0f%%", row->percent);
    }
    printf("%s%s\n", row->message[0] ? "  " : "", row->message);
    fflush(stdout);
}

static void enter_state(struct view_row *row, const struct view_news *news, int64_t now_ms)
{
    row->since_ms = news->since_ms != 0 ? MIN(news->since_ms, now_ms) : now_ms;
    row->message[0] = '\0';
    row->percent = str_is(news->state, "COMPLETED") ? 100 : row->percent;
    row->started_ms = str_is(news->state, "RUNNING") ? row->since_ms : row->started_ms;
}

void view_take(struct view *view, const struct paper *paper, const struct view_news *news)
{
    struct view_row *row = find_row(view, news->id);
    row = row != NULL ? row : add_row(view, news->id, news->parent);
    if (!str_absent(news->state) && !str_is(news->state, row->state)) {
        enter_state(row, news, paper->now_ms);
    }
    copy_clean(row->type, sizeof row->type, news->type);
    copy_clean(row->state, sizeof row->state, news->state);
    copy_clean(row->message, sizeof row->message, news->message);
    row->percent = news->percent >= 0 ? news->percent : row->percent;
    view->dirty = true;
    if (!paper->terminal) {
        print_plain(row);
    }
}

/* ---- Drawing ---- */

static int bar_width(const struct paper *paper)
{
    return paper->width < WIDE ? BAR_NARROW : BAR_WIDTH;
}

static void put_bar(struct buf *frame, int width, double percent)
{
    int full = (int)(MIN(MAX(percent, 0), 100) * width / 100);
    buf_char(frame, '[');
    for (int i = 0; i < width; i++) {
        buf_char(frame, i < full ? '#' : '.');
    }
    buf_printf(frame, "] %3.0f%%", MAX(percent, 0));
}

/* While it lasts: how long it is in its state; afterwards how long it ran. */
static void put_elapsed(struct buf *out, const struct paper *paper, const struct view_row *row)
{
    if (!has_ended(row)) {
        human_span(out, paper->now_ms - row->since_ms);
    } else if (row->started_ms != 0) {
        human_span(out, MAX(row->since_ms - row->started_ms, 0));
    }
}

/* A row must not wrap, or drawing over it would leave its tail behind. */
static void put_row(struct buf *frame, const struct paper *paper, const struct view_row *row)
{
    SCOPED(buf_fini) struct buf tail = BUF_INIT(4 * KIB);
    const char *colour = human_colour(paper, str_of(row->state));
    buf_printf(frame, "%s%-9s%s ", colour, row->state, colour[0] ? human_plain(paper) : "");
    put_bar(frame, bar_width(paper), row->percent);
    int indent = 2 * row->depth;
    buf_printf(&tail, "  %*s%-*s  ", indent, "", MAX(20 - indent, 1), row->type);
    put_elapsed(&tail, paper, row);
    buf_printf(&tail, "%s%s  %s", row->message[0] ? "  " : "", row->message, row->id);
    size_t used = 10 + (size_t)bar_width(paper) + 7;
    size_t room = (size_t)paper->width > used ? (size_t)paper->width - used : 0;
    struct str text = buf_view(&tail);
    while (text.len > 0 && human_width(text) > room) {
        text.len--;
    }
    buf_str(frame, text);
    buf_c(frame, "\033[K\n");
}

static void put_home(struct view *view)
{
    buf_clear(&view->frame);
    if (view->lines > 0) {
        buf_printf(&view->frame, "\033[%dA", view->lines);
    }
    buf_c(&view->frame, "\r");
}

/* Which rows fit: the newest, or, of a batch, those around the first that has not ended. */
static size_t first_shown(const struct view *view, size_t room)
{
    size_t last = view->count > room ? view->count - room : 0, at = 0;
    if (!view->pinned) {
        return last;
    }
    while (at < view->count && (at == 0 || has_ended(&view->rows[at]))) {
        at++;
    }
    return MIN(at > room / 3 ? at - room / 3 : 0, last);
}

static void put_rows(struct view *view, const struct paper *paper)
{
    size_t room = (size_t)MAX(paper->height - 2, 1);
    size_t first = first_shown(view, room), end = MIN(first + room, view->count);
    for (size_t i = first; i < end; i++) {
        put_row(&view->frame, paper, &view->rows[view->pinned && i == first ? 0 : i]);
    }
    view->lines = (int)(end - first);
    buf_c(&view->frame, "\033[J");
}

static void send_frame(struct view *view)
{
    fwrite(view->frame.ptr, 1, view->frame.len, stdout);
    fflush(stdout);
    view->dirty = false;
}

void view_draw(struct view *view, const struct paper *paper, bool now)
{
    bool due = now || paper->now_ms - view->drawn_ms >= DRAW_EVERY_MS;
    if (paper->terminal && due && (view->dirty || view->count > 0)) {
        put_home(view);
        put_rows(view, paper);
        send_frame(view);
        view->drawn_ms = paper->now_ms;
    }
}

void view_log(struct view *view, const struct paper *paper, struct str id, struct str line)
{
    SCOPED(buf_fini) struct buf clean = BUF_INIT(64 * KIB);
    human_clean(&clean, line);
    if (!paper->terminal) {
        printf(STR_FMT "  log        %s\n", STR_ARG(id), buf_c_text(&clean));
        fflush(stdout);
        return;
    }
    put_home(view);
    buf_printf(&view->frame, "%s\033[K\n", buf_c_text(&clean));
    put_rows(view, paper);
    send_frame(view);
}
