/* base/log.c: one line for each thing an operator should know. See log.h.
 *
 * SPDX-License-Identifier: MIT */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

#define LINE_MAX_BYTES    2048 /* one write(2), so lines of several threads never mix */
#define MESSAGE_MAX_BYTES 1024
#define SPARE             8 /* what ends a line always fits */

static _Atomic int least_level = LOG_INFO;
static _Atomic int line_format = LOG_TEXT;

void log_set_level(enum log_level least)
{
    least_level = (int)least;
}

void log_set_format(enum log_format format)
{
    line_format = (int)format;
}

/* ---- A line that is being written: what does not fit is left out ---- */

struct line {
    char text[LINE_MAX_BYTES];
    size_t len;
};

static void add(struct line *line, struct str text)
{
    size_t room = sizeof line->text - SPARE - line->len, len = MIN(text.len, room);
    memcpy(line->text + line->len, text.ptr, len);
    line->len += len;
}

/* Nothing in a text can end the line, or the string that it stands in. */
static void add_safely(struct line *line, struct str text, bool quoted)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        char escape[8];
        if (quoted && (c == '"' || c == '\\' || c < 0x20)) {
            int len = snprintf(escape, sizeof escape, c < 0x20 ? "\\u%04x" : "\\%c", c);
            if (line->len + (size_t)len < sizeof line->text - SPARE) {
                add(line, (struct str){escape, (size_t)len});
            }
        } else {
            add(line, c < 0x20 ? STR(" ") : (struct str){text.ptr + i, 1});
        }
    }
}

static void add_stamp(struct line *line)
{
    char text[40];
    int64_t wall_ms = clock_real_wall_ms();
    time_t seconds = (time_t)(wall_ms / 1000);
    struct tm utc;
    gmtime_r(&seconds, &utc);
    size_t len = strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &utc);
    snprintf(text + len, sizeof text - len, ".%03dZ", (int)(wall_ms % 1000));
    add(line, str_of(text));
}

static void add_fact(struct line *line, const struct log_fact *fact, bool json)
{
    char number[24];
    bool text = !str_absent(fact->text);
    snprintf(number, sizeof number, "%lld", (long long)fact->number);
    add(line, json ? STR(",\"") : STR(" "));
    add(line, str_of(fact->name));
    add(line, json ? STR("\":") : STR("="));
    add(line, json && text ? STR("\"") : STR(""));
    add_safely(line, text ? fact->text : str_of(number), json);
    add(line, json && text ? STR("\"") : STR(""));
}

/* UTF-8 that a limit has cut in two would make a line no JSON. */
static struct str whole_characters(struct str text)
{
    while (text.len > 0 && ((unsigned char)text.ptr[text.len - 1] & 0xC0) == 0x80) {
        text.len--;
    }
    text.len -= text.len > 0 && (unsigned char)text.ptr[text.len - 1] >= 0xC0;
    return text;
}

static void write_line(enum log_level level, const struct log_fact *facts, const char *format,
                       va_list args)
{
    static const char *const names[] = {"debug", "info", "warn", "error"};
    struct line line = {.len = 0};
    char message[MESSAGE_MAX_BYTES];
    bool json = line_format == LOG_JSON;
    int len = vsnprintf(message, sizeof message, format, args);
    struct str said = {message, MIN((size_t)MAX(len, 0), sizeof message - 1)};
    said = (size_t)len < sizeof message ? said : whole_characters(said);
    add(&line, json ? STR("{\"time\":\"") : STR(""));
    add_stamp(&line);
    add(&line, json ? STR("\",\"level\":\"") : STR(" "));
    add(&line, str_of(names[level]));
    add(&line, json ? STR("\",\"message\":\"") : STR(" "));
    add_safely(&line, said, json);
    add(&line, json ? STR("\"") : STR(""));
    for (; facts != NULL && facts->name != NULL; facts++) {
        size_t before = line.len;
        add_fact(&line, facts, json);
        line.len =
            line.len < sizeof line.text - SPARE ? line.len : before; /* whole or not at all */
    }
    line.len += (size_t)snprintf(line.text + line.len, SPARE, json ? "}\n" : "\n");
    if (write(STDERR_FILENO, line.text, line.len) < 0) {
        return; /* nowhere left to say it */
    }
}

void log_line(enum log_level level, const char *format, ...)
{
    va_list args;
    if ((int)level >= least_level) {
        va_start(args, format);
        write_line(level, NULL, format, args);
        va_end(args);
    }
}

void log_facts(enum log_level level, const struct log_fact *facts, const char *format, ...)
{
    va_list args;
    if ((int)level >= least_level) {
        va_start(args, format);
        write_line(level, facts, format, args);
        va_end(args);
    }
}
