/* base/buf.c: text that is built. See buf.h.
 *
 * SPDX-License-Identifier: MIT */
#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/mem.h"

void buf_fini(struct buf *buf)
{
    mem_free(buf->ptr);
    *buf = BUF_INIT(buf->max);
}

void buf_clear(struct buf *buf)
{
    buf->len = 0;
    buf->full = false;
}

char *buf_room(struct buf *buf, size_t len)
{
    if (len > buf->max - buf->len) {
        buf->full = true;
        return NULL;
    }
    if (buf->len + len > buf->cap) {
        size_t wanted = MAX(buf->len + len, MAX(buf->cap * 2, (size_t)256));
        buf->cap = MIN(wanted, buf->max);
        buf->ptr = mem_grow(buf->ptr, buf->cap);
    }
    return buf->ptr + buf->len;
}

void buf_used(struct buf *buf, size_t len)
{
    buf->len += len;
}

void buf_add(struct buf *buf, const void *ptr, size_t len)
{
    char *room = len == 0 ? NULL : buf_room(buf, len);
    if (room != NULL) {
        memcpy(room, ptr, len);
        buf->len += len;
    }
}

void buf_str(struct buf *buf, struct str text)
{
    buf_add(buf, text.ptr, text.len);
}

void buf_c(struct buf *buf, const char *c_text)
{
    buf_add(buf, c_text, strlen(c_text));
}

void buf_char(struct buf *buf, char c)
{
    buf_add(buf, &c, 1);
}

void buf_u64(struct buf *buf, uint64_t value)
{
    char digits[20];
    size_t at = sizeof digits;
    do {
        digits[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    buf_add(buf, digits + at, sizeof digits - at);
}

void buf_i64(struct buf *buf, int64_t value)
{
    if (value < 0) {
        buf_char(buf, '-');
    }
    buf_u64(buf, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

void buf_printf(struct buf *buf, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, format, args);
    char *room = len < 0 ? NULL : buf_room(buf, (size_t)len + 1);
    if (room != NULL) {
        vsnprintf(room, (size_t)len + 1, format, again);
        buf->len += (size_t)len;
    }
    va_end(again);
    va_end(args);
}

void buf_cut_front(struct buf *buf, size_t len)
{
    len = MIN(len, buf->len);
    buf->len -= len;
    if (buf->len > 0) {
        memmove(buf->ptr, buf->ptr + len, buf->len);
    }
}

const char *buf_c_text(struct buf *buf)
{
    if (buf->len == buf->cap) {
        buf->cap = buf->len + 1;
        buf->ptr = mem_grow(buf->ptr, buf->cap);
    }
    buf->ptr[buf->len] = '\0';
    return buf->ptr;
}
