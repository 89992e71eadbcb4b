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

/* As much of a cell as a terminal has room for; files get all of it. What is cut off an id is what
 * nobody needs to name it. */
static struct str fit(struct str cell, const struct paper *paper, bool narrow)
{
    struct task_id id;
    size_t end = 0, width = 0;
    if (!paper->terminal || human_width(cell) <= (narrow ? ID_SHORT : CELL_MAX)) {
        return cell;
    }
    if (narrow && id_parse(cell, &id)) {
        return (struct str){cell.ptr, ID_SHORT};
    }
    while (end < cell.len && width < CELL_MAX) {
        end++;
        while (end < cell.len && ((unsigned char)cell.ptr[end] & 0xC0) == 0x80) {
            end++;
        }
        width++;
    }
    return (struct str){cell.ptr, end};
}

/* How wide each column is; returns the width of all, two blanks between them. */
static size_t measure(const struct table *table, const struct paper *paper, bool narrow,
                      size_t *widths)
{
    size_t all = 0;
    memset(widths, 0, TABLE_COLUMNS_MAX * sizeof *widths);
    for (size_t i = 0; i < table->count; i++) {
        size_t width = human_width(fit(table->cells[i], paper, narrow));
        widths[i % table->columns] = MAX(widths[i % table->columns], width);
    }
    for (size_t i = 0; i < table->columns; i++) {
        all += widths[i] + (i > 0 ? 2 : 0);
    }
    return all;
}

void table_print(const struct table *table, const struct paper *paper)
{
    size_t widths[TABLE_COLUMNS_MAX];
    bool narrow = measure(table, paper, false, widths) > (size_t)paper->width;
    if (narrow) {
        measure(table, paper, true, widths);
    }
    for (size_t i = 0; i < table->count; i++) {
        struct str cell = fit(table->cells[i], paper, narrow);
        const char *colour = i < table->columns ? "" : human_colour(paper, cell);
        bool last = (i + 1) % table->columns == 0;
        int pad = last ? 0 : (int)(widths[i % table->columns] - human_width(cell)) + 2;
        printf("%s" STR_FMT "%s%*s%s", colour, STR_ARG(cell), colour[0] ? human_plain(paper) : "",
               pad, "", last ? "\n" : "");
    }
}
