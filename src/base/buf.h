/* base/buf.h: text that is built.
 *
 * A buf owns its bytes and has a ceiling given at birth. Adding past the ceiling does not write and
 * sets `full`, so a writer adds freely and looks once at the end.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_BASE_BUF_H
#define ERRAND_BASE_BUF_H

#include "base/str.h"

struct buf {
    char *ptr;
    size_t len, cap, max;
    bool full; /* something did not fit below max */
};

#define BUF_INIT(ceiling) ((struct buf){.max = (ceiling)})

void buf_fini(struct buf *buf);
void buf_clear(struct buf *buf);             /* empty again, memory kept */
char *buf_room(struct buf *buf, size_t len); /* len writable bytes at the end, or NULL if full */
void buf_used(struct buf *buf, size_t len);  /* that many of them were written */
void buf_add(struct buf *buf, const void *ptr, size_t len);
void buf_str(struct buf *buf, struct str text);
void buf_c(struct buf *buf, const char *c_text);
void buf_char(struct buf *buf, char c);
void buf_u64(struct buf *buf, uint64_t value); /* decimal */
void buf_i64(struct buf *buf, int64_t value);
void buf_printf(struct buf *buf, const char *format, ...) PRINTF_LIKE(2, 3);
void buf_cut_front(struct buf *buf, size_t len); /* drops the first bytes */
const char *buf_c_text(struct buf *buf);         /* NUL-terminated view; "" when empty */

static inline struct str buf_view(const struct buf *buf)
{
    return (struct str){buf->ptr == NULL ? "" : buf->ptr, buf->len};
}

#endif
