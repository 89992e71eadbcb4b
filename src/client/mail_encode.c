/* client/mail_encode.c: texts of any language in lines of ASCII: RFC 2047 and quoted-printable.
 * See mail_parts.h.
 *
 * SPDX-License-Identifier: MIT */
#include "client/mail_parts.h"
#include "wire/base64.h"

#define WORD_MAX    75 /* characters of an encoded word */
#define WORD_BEGIN  "=?utf-8?B?"
#define WORD_END    "?="
#define WORD_FRAME  (sizeof WORD_BEGIN - 1 + sizeof WORD_END - 1)
#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

/* ---- Headers ---- */

static bool is_plain(struct str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < ' ' || text.ptr[i] > '~') {
            return false;
        }
    }
    return text.len == 0 || memmem(text.ptr, text.len, "=?", 2) == NULL;
}

/* As many whole characters as fit into `room` bytes, at least one. */
static size_t whole_characters(struct str text, size_t room)
{
    size_t len = 0, next;
    while (len < text.len) {
        next = MAX(str_utf8_len(str_from(text, len)), (size_t)1);
        if (len > 0 && len + next > room) {
            break;
        }
        len += next;
    }
    return len;
}

/* Bytes that the encoded word has room for in a line of which `at` characters are used. */
static size_t word_room(size_t at)
{
    size_t left = MIN(MAIL_LINE_MAX - MIN(at, (size_t)MAIL_LINE_MAX), (size_t)WORD_MAX);
    return left > WORD_FRAME ? (left - WORD_FRAME) / 4 * 3 : 0;
}

void mail_put_text(struct buf *out, struct str text, size_t at)
{
    if (is_plain(text) && at + text.len <= MAIL_LINE_MAX) {
        buf_str(out, text);
        return;
    }
    for (; text.len > 0; at = 1) { /* further lines begin with a blank */
        size_t len = whole_characters(text, word_room(at));
        buf_c(out, WORD_BEGIN);
        base64_write(out, (struct str){text.ptr, len});
        buf_c(out, WORD_END);
        text = str_from(text, len);
        buf_c(out, text.len > 0 ? "\r\n " : "");
    }
}

/* ---- Bodies ---- */

/* A line end may be "\n", "\r\n" or "\r". Takes one off if it is next. */
static bool take_line_end(struct str *text)
{
    if (str_starts(*text, STR("\r\n"))) {
        *text = str_from(*text, 2);
        return true;
    }
    if (text->len > 0 && (text->ptr[0] == '\n' || text->ptr[0] == '\r')) {
        *text = str_from(*text, 1);
        return true;
    }
    return false;
}

/* Blanks are kept as they are inside a line; at its end they would be lost on the way. */
static bool may_stand(unsigned char c, struct str behind)
{
    if (c == ' ' || c == '\t') {
        return behind.len > 0 && behind.ptr[0] != '\n' && behind.ptr[0] != '\r';
    }
    return c > ' ' && c <= '~' && c != '=';
}

/* The place of the next character in a line that is never longer than it may be: one place is
 * kept for the "=" of a soft line end. */
static void put_piece(struct buf *out, size_t *column, const char *piece, size_t len)
{
    if (*column + len > MAIL_LINE_MAX - 1) {
        buf_c(out, "=\r\n");
        *column = 0;
    }
    buf_add(out, piece, len);
    *column += len;
}

static void put_byte(struct buf *out, size_t *column, unsigned char c, struct str behind)
{
    static const char hex[] = "0123456789ABCDEF";
    if (may_stand(c, behind)) {
        put_piece(out, column, (const char *)&c, 1);
    } else {
        put_piece(out, column, (const char[]){'=', hex[c >> 4], hex[c & 15]}, 3);
    }
}

static void put_character(struct buf *out, size_t *column, struct str one, struct str behind)
{
    for (size_t i = 0; i < one.len; i++) {
        put_byte(out, column, (unsigned char)one.ptr[i], behind);
    }
}

void mail_put_quoted(struct buf *out, struct str text)
{
    size_t column = 0;
    while (text.len > 0) {
        if (take_line_end(&text)) {
            buf_c(out, "\r\n");
            column = 0;
            continue;
        }
        size_t len = str_utf8_len(text);
        struct str one = len > 0 ? (struct str){text.ptr, len} : STR(REPLACEMENT);
        text = str_from(text, MAX(len, (size_t)1));
        put_character(out, &column, one, text);
    }
    buf_c(out, column > 0 ? "\r\n" : "");
}
