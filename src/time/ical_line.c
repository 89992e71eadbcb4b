/* time/ical_line.c: content lines: escaped, folded, ended by CRLF. See ical_line.h.
 *
 * Thread: any.
 *
 * SPDX-License-Identifier: MIT */
#include "time/ical_line.h"

#include <stdarg.h>
#include <stdio.h>

#include "wire/time.h"

#define FOLD_OCTETS 75  /* without the end of the line */
#define LINE_SHORT  256 /* of what ical_line() writes: names, numbers and zones */

/* How much of the text fits, whole characters only where it has any. */
static size_t fits(struct str text, size_t octets)
{
    size_t n = str_head(text, octets).len;
    return n > 0 ? n : MIN(text.len, octets);
}

void ical_end_line(struct ical_out *o)
{
    struct str rest = buf_view(&o->line);
    size_t n = fits(rest, FOLD_OCTETS);
    buf_add(o->out, rest.ptr, n);
    for (rest = str_from(rest, n); rest.len > 0; rest = str_from(rest, n)) {
        n = fits(rest, FOLD_OCTETS - 1);
        buf_c(o->out, "\r\n ");
        buf_add(o->out, rest.ptr, n);
    }
    buf_c(o->out, "\r\n");
    o->out->full |= o->line.full;
    buf_clear(&o->line);
}

void ical_line(struct ical_out *o, const char *format, ...)
{
    char text[LINE_SHORT];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    buf_c(&o->line, text);
    ical_end_line(o);
}

/* A line break of any make is \n; other control characters have no place in a calendar. */
static void escape(struct buf *buf, struct str text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (c == '\n' || (c == '\r' && !(i + 1 < text.len && text.ptr[i + 1] == '\n'))) {
            buf_c(buf, "\\n");
        } else if (c == '\\' || c == ';' || c == ',') {
            buf_char(buf, '\\');
            buf_char(buf, c);
        } else if (c == '\t' || ((unsigned char)c >= ' ' && c != 0x7F)) {
            buf_char(buf, c);
        }
    }
}

void ical_text_line(struct ical_out *o, const char *name, struct str text)
{
    if (!str_absent(text)) {
        buf_printf(&o->line, "%s:", name);
        escape(&o->line, text);
        ical_end_line(o);
    }
}

void ical_time(struct buf *buf, int64_t s)
{
    char text[TIME_TEXT_LEN + 1];
    time_text(s * 1000, text);
    buf_printf(buf, "%.4s%.2s%.2sT%.2s%.2s%.2s", text, text + 5, text + 8, text + 11, text + 14,
               text + 17);
}

void ical_wall_line(struct ical_out *o, const char *name, const struct zone *zone, int64_t wall_s)
{
    buf_printf(&o->line, "%s;TZID=%s:", name, zone_name(zone));
    ical_time(&o->line, wall_s);
    ical_end_line(o);
}

void ical_utc_line(struct ical_out *o, const char *name, int64_t utc_s)
{
    buf_printf(&o->line, "%s:", name);
    ical_time(&o->line, utc_s);
    buf_char(&o->line, 'Z');
    ical_end_line(o);
}
