/* base/log.h: one line for each thing an operator should know, on standard error.
 *
 * A line is a sentence, and facts with names where a program may want to find them: in text behind
 * the sentence (taskId=…), in JSON members of the line's object. Errors travel up and are logged
 * once, by whoever stops them. Payloads, secrets and tokens are never logged.
 *
 * Thread: any.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_BASE_LOG_H
#define ERRAND_BASE_LOG_H

#include "base/str.h"

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR };
enum log_format { LOG_TEXT, LOG_JSON };

void log_set_level(enum log_level least);
void log_set_format(enum log_format format);
void log_line(enum log_level level, const char *format, ...) PRINTF_LIKE(2, 3);

struct log_fact {
    const char *name;
    struct str text; /* absent: the number */
    int64_t number;
};
/* The facts end with one that has no name. */
void log_facts(enum log_level level, const struct log_fact *facts, const char *format, ...)
    PRINTF_LIKE(3, 4);

#define log_debug(...) log_line(LOG_DEBUG, __VA_ARGS__)
#define log_info(...)  log_line(LOG_INFO, __VA_ARGS__)
#define log_warn(...)  log_line(LOG_WARN, __VA_ARGS__)
#define log_error(...) log_line(LOG_ERROR, __VA_ARGS__)

#endif
