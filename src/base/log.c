/* base/log.c: one line for each thing an operator should know. See log.h.
 *
 * SPDX-License-Identifier: MIT */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

#define LINE_MAX_BYTES 1024 /* one write(2), so lines of several threads never mix */

static _Atomic int least_level = LOG_INFO;

void log_set_level(enum log_level least)
{
    least_level = (int)least;
}

static int stamp(char *out, size_t size, enum log_level level)
{
    static const char *const names[] = {"debug", "info", "warn", "error"};
    int64_t wall_ms = clock_real_wall_ms();
    time_t seconds = (time_t)(wall_ms / 1000);
    struct tm utc;
    gmtime_r(&seconds, &utc);
    size_t len = strftime(out, size, "%Y-%m-%dT%H:%M:%S", &utc);
    return (int)len +
           snprintf(out + len, size - len, ".%03dZ %s ", (int)(wall_ms % 1000), names[level]);
}

void log_line(enum log_level level, const char *format, ...)
{
    char line[LINE_MAX_BYTES];
    va_list args;
    if ((int)level < least_level) {
        return;
    }
    int head = stamp(line, sizeof line, level);
    va_start(args, format);
    int body = vsnprintf(line + head, sizeof line - (size_t)head - 1, format, args);
    va_end(args);
    size_t len = MIN((size_t)(head + MAX(body, 0)), sizeof line - 2);
    for (size_t i = (size_t)head; i < len; i++) {
        line[i] = line[i] == '\n' || line[i] == '\r' ? ' ' : line[i];
    }
    line[len++] = '\n';
    if (write(STDERR_FILENO, line, len) < 0) {
        return; /* nowhere left to say it */
    }
}
