/* base/err.c: one way to fail. See err.h.
 *
 * SPDX-License-Identifier: MIT */
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void fill(struct err *err, enum err_kind kind, const char *field, const char *format,
                 va_list args)
{
    err->kind = kind;
    err->retry_after_ms = 0;
    snprintf(err->field, sizeof err->field, "%s", field);
    vsnprintf(err->text, sizeof err->text, format, args);
}

bool err_set(struct err *err, enum err_kind kind, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (err != NULL) {
        fill(err, kind, "", format, args);
    }
    va_end(args);
    return false;
}

bool err_field(struct err *err, const char *field, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (err != NULL) {
        fill(err, ERR_INVALID, field, format, args);
    }
    va_end(args);
    return false;
}

bool err_wrap(struct err *err, const char *format, ...)
{
    char text[sizeof err->text];
    va_list args;
    if (err == NULL) {
        return false;
    }
    va_start(args, format);
    int used = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (used >= 0 && (size_t)used < sizeof text) {
        snprintf(text + used, sizeof text - (size_t)used, ": %s", err->text);
    }
    memcpy(err->text, text, sizeof text);
    return false;
}
