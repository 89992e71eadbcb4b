/* work/text.c: what other people's programs say, made fit to be kept and shown. See text.h.
 *
 * SPDX-License-Identifier: MIT */
#include "work/text.h"

#include "wire/json.h"

#define REPLACEMENT "\xEF\xBF\xBD" /* U+FFFD */

struct str text_clean(struct arena *arena, struct str text, size_t max)
{
    size_t len = 0, at = 0;
    if (str_absent(text)) {
        return text;
    }
    char *out = arena_alloc(arena, MIN(text.len * 3, max) + 1);
    while (at < text.len) {
        size_t whole = str_utf8_len(str_from(text, at));
        bool good = whole > 0 && text.ptr[at] != '\0';
        struct str piece = good ? (struct str){text.ptr + at, whole} : STR(REPLACEMENT);
        if (len + piece.len > max) {
            break;
        }
        memcpy(out + len, piece.ptr, piece.len);
        len += piece.len;
        at += good ? whole : 1;
    }
    out[len] = '\0';
    return (struct str){out, len};
}

/* The last `max` bytes, from the first line that begins there; the bytes themselves if none does.
 */
static struct str cut_lines(struct str text, size_t max)
{
    struct str tail = str_from(text, text.len - MIN(text.len, max));
    const char *end = tail.len > 0 ? memchr(tail.ptr, '\n', tail.len) : NULL;
    return end == NULL || text.len <= max ? tail : str_from(tail, (size_t)(end + 1 - tail.ptr));
}

struct str text_tail(struct str text, size_t max)
{
    struct str tail = cut_lines(text, max);
    return tail.len > 0 ? tail : str_from(text, text.len - MIN(text.len, max));
}

void text_make_room(struct buf *lines, size_t len)
{
    if (lines->len + len > lines->max) {
        size_t keep = len < lines->max ? lines->max - len : 0;
        buf_cut_front(lines, lines->len - cut_lines(buf_view(lines), keep).len);
    }
}

static struct str trim(struct str text)
{
    while (text.len > 0 && strchr(" \t\r\n", text.ptr[text.len - 1]) != NULL) {
        text.len--;
    }
    while (text.len > 0 && strchr(" \t\r\n", text.ptr[0]) != NULL) {
        text = str_from(text, 1);
    }
    return text;
}

struct str text_to_json(struct arena *arena, struct str text)
{
    struct err ignored = ERR_INIT;
    struct str value = trim(text);
    if (value.len == 0) {
        return STR_NONE;
    }
    if (json_valid(value, &ignored)) {
        return value;
    }
    SCOPED(buf_fini) struct buf json = BUF_INIT(SIZE_MAX / 2);
    struct json_writer writer = JSON_WRITER(&json);
    if (text.ptr[text.len - 1] == '\n') {
        text.len--; /* the end of the last line, as a shell's $(…) has it */
    }
    json_add_str(&writer, text);
    return arena_str(arena, buf_view(&json));
}
