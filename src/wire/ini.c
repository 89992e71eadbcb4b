/* wire/ini.c: the lines of a settings file. See ini.h.
 *
 * Thread: any. Keeps nothing.
 *
 * SPDX-License-Identifier: MIT */
#include "wire/ini.h"

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static bool is_comment(char c)
{
    return c == ';' || c == '#';
}

/* Where the quote at `at` is closed; `at` itself if nothing closes it. */
static size_t closing_quote(struct str text, size_t at)
{
    char quote = text.ptr[at];
    for (size_t i = at + 1; i < text.len; i++) {
        if (text.ptr[i] == quote) {
            return i;
        }
        if (quote == '"' && text.ptr[i] == '\\' && i + 1 < text.len &&
            (text.ptr[i + 1] == '"' || text.ptr[i + 1] == '\\')) {
            i++;
        }
    }
    return at;
}

/* `raw` is everything behind the =, whose own place counts as the beginning of a word. */
static struct str without_comment(struct str raw)
{
    for (size_t i = 0; i < raw.len; i++) {
        char c = raw.ptr[i], before = i == 0 ? '=' : raw.ptr[i - 1];
        if (is_comment(c) && is_blank(before)) {
            return str_trim((struct str){raw.ptr, i});
        }
        if ((c == '"' || c == '\'') && (is_blank(before) || before == '=')) {
            i = closing_quote(raw, i);
        }
    }
    return str_trim(raw);
}

static bool take_section(struct ini *ini, struct str line, struct err *err)
{
    struct str name = str_from(line, 1);
    struct str behind = name;
    name = str_cut(&behind, ']');
    struct str rest = str_trim(behind);
    if (str_absent(behind) || (rest.len > 0 && !is_comment(rest.ptr[0]))) {
        return err_set(err, ERR_INVALID, "neither \"key = value\" nor \"[section]\"");
    }
    ini->section = name;
    return true;
}

static bool take_pair(const struct ini *ini, struct str line, struct ini_pair *out, struct err *err)
{
    size_t sign = 0;
    while (sign < line.len && line.ptr[sign] != '=' && line.ptr[sign] != ':') {
        sign++;
    }
    if (sign == 0 || sign == line.len) {
        return err_set(err, ERR_INVALID, "neither \"key = value\" nor \"[section]\"");
    }
    *out = (struct ini_pair){.section = ini->section,
                             .key = str_trim((struct str){line.ptr, sign}),
                             .value = without_comment(str_from(line, sign + 1))};
    return true;
}

struct ini ini_open(struct str text)
{
    struct str mark = STR("\xef\xbb\xbf"); /* which some editors put before UTF-8 */
    return (struct ini){.rest = str_starts(text, mark) ? str_from(text, mark.len) : text,
                        .section = STR("")};
}

bool ini_next(struct ini *ini, struct ini_pair *out, struct err *err)
{
    while (!str_absent(ini->rest) && ini->rest.len > 0) {
        struct str line = str_cut(&ini->rest, '\n');
        ini->line++;
        if (line.len > INI_LINE_MAX) {
            return err_set(err, ERR_INVALID, "the line is longer than %zu bytes", INI_LINE_MAX);
        }
        if (memchr(line.ptr, '\0', line.len) != NULL || !str_is_utf8(line)) {
            return err_set(err, ERR_INVALID, "the line is not UTF-8 text");
        }
        line = str_trim(str_chomp(line));
        if (line.len == 0 || is_comment(line.ptr[0])) {
            continue;
        }
        if (line.ptr[0] != '[') {
            return take_pair(ini, line, out, err);
        }
        if (!take_section(ini, line, err)) {
            return false;
        }
    }
    return false;
}

struct str ini_unquote(struct arena *arena, struct str value)
{
    bool quoted = value.len >= 2 && (value.ptr[0] == '"' || value.ptr[0] == '\'') &&
                  closing_quote(value, 0) == value.len - 1;
    if (!quoted) {
        return value;
    }
    char *out = arena_alloc(arena, value.len);
    size_t len = 0;
    for (size_t i = 1; i < value.len - 1; i++) {
        char next = value.ptr[i + 1];
        if (value.ptr[0] == '"' && value.ptr[i] == '\\' && (next == '"' || next == '\\')) {
            i++;
        }
        out[len++] = value.ptr[i];
    }
    out[len] = '\0';
    return (struct str){out, len};
}
