/* client/mail_html.c: HTML made from plain text with a little Markdown. See mail_parts.h.
 *
 * Only our own words become tags: whatever the text holds is escaped. Links are not made; programs
 * that show mail find addresses by themselves, and an address that is shown is the one that opens.
 *
 * SPDX-License-Identifier: MIT */
#include "client/mail_parts.h"

enum block { BLOCK_NONE, BLOCK_PARAGRAPH, BLOCK_LIST };

static const char *const block_begin[] = {"", "<p>", "<ul>\n"};
static const char *const block_end[] = {"", "</p>\n", "</ul>\n"};

static void put_escaped(struct buf *out, char c)
{
    switch (c) {
    case '&':
        buf_c(out, "&amp;");
        break;
    case '<':
        buf_c(out, "&lt;");
        break;
    case '>':
        buf_c(out, "&gt;");
        break;
    case '"':
        buf_c(out, "&quot;");
        break;
    case '\'':
        buf_c(out, "&#39;");
        break;
    default:
        buf_char(out, c);
    }
}

static void put_plain(struct buf *out, struct str text)
{
    for (size_t i = 0; i < text.len; i++) {
        put_escaped(out, text.ptr[i]);
    }
}

/* "**strong**" or "`code`" at the beginning of *text: written and taken off. */
static bool take_marked(struct buf *out, struct str *text, struct str mark, const char *tag)
{
    struct str rest = str_from(*text, mark.len);
    const char *end = str_starts(*text, mark) && rest.len > 0
                          ? memmem(rest.ptr, rest.len, mark.ptr, mark.len)
                          : NULL;
    if (end == NULL || end == rest.ptr) {
        return false;
    }
    size_t len = (size_t)(end - rest.ptr);
    buf_printf(out, "<%s>", tag);
    put_plain(out, (struct str){rest.ptr, len});
    buf_printf(out, "</%s>", tag);
    *text = str_from(rest, len + mark.len);
    return true;
}

static void put_line(struct buf *out, struct str line)
{
    while (line.len > 0) {
        if (!take_marked(out, &line, STR("**"), "strong") &&
            !take_marked(out, &line, STR("`"), "code")) {
            put_escaped(out, line.ptr[0]);
            line = str_from(line, 1);
        }
    }
}

static void enter(struct buf *out, enum block *now, enum block next)
{
    if (*now != next) {
        buf_c(out, block_end[*now]);
        buf_c(out, block_begin[next]);
        *now = next;
    }
}

/* 1 to 3 for "# " to "### "; 0: no heading. */
static size_t heading_level(struct str line)
{
    size_t level = 0;
    while (level < line.len && line.ptr[level] == '#') {
        level++;
    }
    return level <= 3 && level < line.len && line.ptr[level] == ' ' ? level : 0;
}

static void put_block_line(struct buf *out, enum block *now, struct str line)
{
    size_t level = heading_level(line);
    if (level > 0) {
        enter(out, now, BLOCK_NONE);
        buf_printf(out, "<h%zu>", level);
        put_line(out, str_trim(str_from(line, level)));
        buf_printf(out, "</h%zu>\n", level);
    } else if (str_starts(line, STR("- ")) || str_starts(line, STR("* "))) {
        enter(out, now, BLOCK_LIST);
        buf_c(out, "<li>");
        put_line(out, str_trim(str_from(line, 2)));
        buf_c(out, "</li>\n");
    } else {
        buf_c(out, *now == BLOCK_PARAGRAPH ? "<br>\n" : "");
        enter(out, now, BLOCK_PARAGRAPH);
        put_line(out, line);
    }
}

void mail_put_html(struct buf *out, struct str text)
{
    enum block now = BLOCK_NONE;
    buf_c(out, "<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"></head><body>\n");
    while (!str_absent(text)) {
        struct str line = str_cut(&text, '\n');
        line.len -= str_ends(line, STR("\r")) ? 1 : 0;
        if (str_trim(line).len == 0) {
            enter(out, &now, BLOCK_NONE);
        } else {
            put_block_line(out, &now, line);
        }
    }
    enter(out, &now, BLOCK_NONE);
    buf_c(out, "</body></html>\n");
}
