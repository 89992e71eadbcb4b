/* base/log.h: one line for each thing an operator should know, on standard error.
 *
 * Errors travel up and are logged once, by whoever stops them. Payloads, secrets and tokens are
 * never logged.
 *
 * Thread: any.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_BASE_LOG_H
#define ERRAND_BASE_LOG_H

#include "base/def.h"

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR };

void log_set_level(enum log_level least);
void log_line(enum log_level level, const char *format, ...) PRINTF_LIKE(2, 3);

#define log_debug(...) log_line(LOG_DEBUG, __VA_ARGS__)
#define log_info(...)  log_line(LOG_INFO, __VA_ARGS__)
#define log_warn(...)  log_line(LOG_WARN, __VA_ARGS__)
#define log_error(...) log_line(LOG_ERROR, __VA_ARGS__)

#endif
