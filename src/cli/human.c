/* cli/human.c: numbers and times as people read them. See human.h.
 *
 * SPDX-License-Identifier: MIT */
#include "cli/human.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "wire/id.h"
#include "wire/time.h"

#define WIDTH_DEFAULT  80
#define HEIGHT_DEFAULT 24
#define CELL_MAX       60 /* columns of one cell on a terminal */
#define CELL_MIN       8  /* of one that is cut to make room */
#define ID_SHORT       18 /* of an id where room is scarce: on one node no two begin alike so far */
#define ZONE_LETTERS   "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/_+-"

struct paper paper_stdout(void)
{
    struct winsize size = {0};
    bool terminal = isatty(STDOUT_FILENO) == 1;
    const char *no_colour = getenv("NO_COLOR");
    bool sized = terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    return (struct paper){
        .terminal = terminal,
        .colour = terminal && (no_colour == NULL || no_colour[0] == '\0'),
        .width = sized ? size.ws_col : WIDTH_DEFAULT,
        .height = sized && size.ws_row > 0 ? size.ws_row : HEIGHT_DEFAULT,
        .now_ms = clock_real_wall_ms(),
    };
}

void human_span(struct buf *buf, int64_t ms)
{
    long long s = ms / SECOND_MS;
    if (ms < SECOND_MS) {
        buf_printf(buf, "%lldms", (long long)ms);
    } else if (s < 10) {
        buf_printf(buf, "%.1fs", (double)ms / SECOND_MS);
    } else if (s < 60) {
        buf_printf(buf, "%llds", s);
    } else if (s < 3600) {
        buf_printf(buf, "%lldm %llds", s / 60, s % 60);
    } else if (s < 86400) {
        buf_printf(buf, "%lldh %lldm", s / 3600, s / 60 % 60);
    } else {
        buf_printf(buf, "%lldd %lldh", s / 86400, s / 3600 % 24);
    }
}

void human_when(struct buf *buf, const struct paper *paper, struct str time)
{
    int64_t at_ms;
    if (str_absent(time)) {
        buf_char(buf, '-');
    } else if (!paper->terminal || !time_parse(time, &at_ms, NULL)) {
        human_clean(buf, time);
    } else if (at_ms > paper->now_ms) {
        buf_c(buf, "in ");
        human_span(buf, at_ms - paper->now_ms);
    } else {
        human_span(buf, paper->now_ms - at_ms);
        buf_c(buf, " ago");
    }
}

void human_exact(struct buf *buf, const struct paper *paper, struct str time)
{
    int64_t at_ms;
    human_clean(buf, time);
    if (time_parse(time, &at_ms, NULL)) {
        bool ahead = at_ms > paper->now_ms;
        buf_c(buf, ahead ? " (in " : " (");
        human_span(buf, ahead ? at_ms - paper->now_ms : paper->now_ms - at_ms);
        buf_c(buf, ahead ? ")" : " ago)");
    }
}

void human_value(struct buf *buf, const struct paper *paper, struct str name, struct str value)
{
    char copy[32] = "", *end = copy;
    int64_t at_ms;
    memcpy(copy, value.ptr, MIN(value.len, sizeof copy - 1));
    double number = strtod(copy, &end);
    bool numeric = value.len > 0 && value.len < sizeof copy && *end == '\0';
    if (numeric && str_ends(name, STR("PerSecond"))) {
        buf_printf(buf, "%.*f/s", number < 10 ? 2 : 0, number);
    } else if (numeric && str_ends(name, STR("Ms")) && number < 10) {
        buf_printf(buf, "%.1fms", number);
    } else if (numeric && str_ends(name, STR("Ms"))) {
        human_span(buf, (int64_t)number);
    } else if (time_parse(value, &at_ms, NULL)) {
        human_exact(buf, paper, value);
    } else {
        human_clean(buf, value);
    }
}

void human_bytes(struct buf *buf, int64_t bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    double value = (double)bytes;
    size_t unit = 0;
    while (value >= 1024 && unit + 1 < ARRAY_LEN(units)) {
        value /= 1024;
        unit++;
    }
    buf_printf(buf, value < 10 && unit > 0 ? "%.1f %s" : "%.0f %s", value, units[unit]);
}

/* How many bytes at `at` a terminal could obey instead of show: the control characters, U+0080–009F
 * among them, and those that turn the direction of text (U+202A–202E, U+2066–2069). */
static size_t control_len(const char *at, size_t left)
{
    const unsigned char *c = (const unsigned char *)at;
    if (c[0] < 0x20 || c[0] == 0x7F) {
        return 1;
    }
    if (c[0] == 0xC2 && left > 1 && c[1] < 0xA0) {
        return 2;
    }
    bool turns = c[0] == 0xE2 && left > 2 &&
                 ((c[1] == 0x80 && c[2] >= 0xAA && c[2] <= 0xAE) ||
                  (c[1] == 0x81 && c[2] >= 0xA6 && c[2] <= 0xA9));
    return turns ? 3 : 0;
}

void human_clean(struct buf *buf, struct str text)
{
    for (size_t i = 0; i < text.len;) {
        size_t control = control_len(text.ptr + i, text.len - i);
        buf_char(buf, control > 0 ? '?' : text.ptr[i]);
        i += control > 0 ? control : 1;
    }
}

size_t human_width(struct str text)
{
    size_t width = 0;
    for (size_t i = 0; i < text.len; i++) {
        width += ((unsigned char)text.ptr[i] & 0xC0) != 0x80;
    }
    return width;
}

const char *human_colour(const struct paper *paper, struct str word)
{
    static const struct {
        const char *word, *code;
    } colours[] = {
        {"COMPLETED", "\033[32m"}, {"ok", "\033[32m"},        {"FAILED", "\033[31m"},
        {"TIMEOUT", "\033[31m"},   {"LOST", "\033[31m"},      {"FAIL", "\033[31m"},
        {"RUNNING", "\033[36m"},   {"RETRYING", "\033[33m"},  {"warn", "\033[33m"},
        {"paused", "\033[33m"},    {"CANCELLED", "\033[90m"}, {"RELEASED", "\033[90m"},
        {"SCHEDULED", "\033[34m"}, {"WAITING", "\033[34m"},   {"disconnected", "\033[31m"},
    };
    for (size_t i = 0; paper->colour && i < ARRAY_LEN(colours); i++) {
        if (str_is(word, colours[i].word)) {
            return colours[i].code;
        }
    }
    return "";
}

const char *human_plain(const struct paper *paper)
{
    return paper->colour ? "\033[0m" : "";
}

/* What stands behind ".../zoneinfo/", or a name alone. */
static bool take_zone(const char *text, char out[static HUMAN_ZONE_MAX])
{
    const char *folder = text == NULL ? NULL : strstr(text, "zoneinfo/");
    const char *name = folder != NULL ? folder + strlen("zoneinfo/") : text;
    size_t len = name == NULL ? 0 : strcspn(name, "\n");
    if (len == 0 || len >= HUMAN_ZONE_MAX || strspn(name, ZONE_LETTERS) < len) {
        return false;
    }
    memcpy(out, name, len);
    out[len] = '\0';
    return true;
}

struct str human_zone(char out[static HUMAN_ZONE_MAX])
{
    char text[PATH_MAX] = "";
    const char *own = getenv("TZ");
    FILE *file = fopen("/etc/timezone", "re");
    bool found = own != NULL && take_zone(own[0] == ':' ? own + 1 : own, out);
    if (!found && file != NULL) {
        found = fgets(text, sizeof text, file) != NULL && take_zone(text, out);
    }
    if (!found) {
        ssize_t len = readlink("/etc/localtime", text, sizeof text - 1);
        text[MAX(len, 0)] = '\0';
        found = take_zone(text, out);
    }
    if (file != NULL) {
        fclose(file);
    }
    return found && !str_is(str_of(out), "Etc/UTC") ? str_of(out) : STR("UTC");
}

/* ---- Tables ---- */

void table_init(struct table *table, const char *const *heads, struct arena *arena)
{
    *table = (struct table){.arena = arena};
    for (; heads[table->columns] != NULL; table->columns++) {
        table_add(table, str_of(heads[table->columns]));
    }
}

void table_fini(struct table *table)
{
    mem_free(table->cells);
}

void table_add(struct table *table, struct str cell)
{
    SCOPED(buf_fini) struct buf clean = BUF_INIT(64 * KIB);
    human_clean(&clean, str_absent(cell) || cell.len == 0 ? STR("-") : cell);
    *ARRAY_PUSH(table->cells, table->count, table->room) =
        arena_str(table->arena, buf_view(&clean));
}

/* How wide each column is; 0: it is left out. */
struct layout {
    size_t widths[TABLE_COLUMNS_MAX];
    bool ids[TABLE_COLUMNS_MAX]; /* it holds ids: cut shorter they name nothing */
};

static void measure(const struct table *table, const struct paper *paper, bool short_ids,
                    struct layout *layout)
{
    *layout = (struct layout){.widths = {0}};
    for (size_t i = 0; i < table->count; i++) {
        size_t column = i % table->columns, width = human_width(table->cells[i]);
        struct task_id id;
        if (short_ids && id_parse(table->cells[i], &id)) {
            layout->ids[column] = true;
            width = ID_SHORT;
        }
        width = paper->terminal ? MIN(width, (size_t)CELL_MAX) : width;
        layout->widths[column] = MAX(layout->widths[column], width);
    }
}

/* Columns stand two blanks apart. */
static bool fits(const struct layout *layout, const struct paper *paper)
{
    size_t all = 0;
    for (size_t i = 0; i < TABLE_COLUMNS_MAX; i++) {
        all += layout->widths[i] == 0 ? 0 : layout->widths[i] + (i > 0 ? 2 : 0);
    }
    return !paper->terminal || all <= (size_t)paper->width;
}

static bool says_nothing(const struct table *table, size_t column)
{
    bool nothing = table->count > table->columns;
    for (size_t i = table->columns + column; i < table->count; i += table->columns) {
        nothing = nothing && str_is(table->cells[i], "-");
    }
    return nothing;
}

/* False: none can be cut any more. */
static bool cut_widest(const struct table *table, struct layout *layout)
{
    size_t widest = 0;
    for (size_t i = 1; i < table->columns; i++) {
        if (!layout->ids[i] && layout->widths[i] > CELL_MIN &&
            (widest == 0 || layout->widths[i] > layout->widths[widest])) {
            widest = i;
        }
    }
    layout->widths[widest] -= widest > 0;
    return widest > 0;
}

static void lay_out(const struct table *table, const struct paper *paper, struct layout *layout)
{
    measure(table, paper, false, layout);
    if (!fits(layout, paper)) {
        measure(table, paper, true, layout);
    }
    for (size_t i = table->columns; i-- > 1 && !fits(layout, paper);) {
        layout->widths[i] = says_nothing(table, i) ? 0 : layout->widths[i];
    }
    for (size_t i = table->columns; i-- > 1 && !fits(layout, paper);) {
        layout->widths[i] = table->spare[i] ? 0 : layout->widths[i];
    }
    while (!fits(layout, paper) && cut_widest(table, layout)) {
    }
}

/* The first characters of a text, in bytes. */
static size_t bytes_of(struct str text, size_t characters)
{
    size_t end = 0;
    while (end < text.len && (characters > 0 || ((unsigned char)text.ptr[end] & 0xC0) == 0x80)) {
        characters -= ((unsigned char)text.ptr[end] & 0xC0) != 0x80;
        end++;
    }
    return end;
}

/* As much of a cell as its column has room for. What is cut off an id is what nobody needs to name
 * it; elsewhere the cut is shown. */
static struct str fit(const struct table *table, const struct layout *layout, size_t at)
{
    struct str cell = table->cells[at];
    size_t column = at % table->columns, width = layout->widths[column];
    if (human_width(cell) <= width) {
        return cell;
    }
    if (layout->ids[column]) {
        return (struct str){cell.ptr, bytes_of(cell, width)};
    }
    return arena_printf(table->arena, "%.*s…", (int)bytes_of(cell, width - 1), cell.ptr);
}

void table_print(const struct table *table, const struct paper *paper)
{
    struct layout layout;
    lay_out(table, paper, &layout);
    for (size_t i = 0; i < table->count; i++) {
        size_t column = i % table->columns, last = table->columns - 1;
        while (layout.widths[last] == 0) {
            last--;
        }
        if (layout.widths[column] > 0) {
            struct str cell = fit(table, &layout, i);
            const char *colour = i < table->columns ? "" : human_colour(paper, cell);
            size_t pad = column == last ? 0 : layout.widths[column] - human_width(cell) + 2;
            printf("%s" STR_FMT "%s%*s", colour, STR_ARG(cell), colour[0] ? human_plain(paper) : "",
                   (int)pad, "");
        }
        fputs(column + 1 == table->columns ? "\n" : "", stdout);
    }
}
