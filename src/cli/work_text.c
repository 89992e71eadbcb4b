/* cli/work_text.c: what commands say, put into the words of a task. See work_text.h.
 *
 * SPDX-License-Identifier: MIT */
#include "cli/work_text.h"

#include <math.h>
#include <stdlib.h>

#include "wire/json.h"

#define MESSAGE_MAX 500 /* of standard error's last line */

static bool read_percent(struct str text, double *out)
{
    char number[32], *end;
    if (text.len == 0 || text.len >= sizeof number) {
        return false;
    }
    memcpy(number, text.ptr, text.len);
    number[text.len] = '\0';
    *out = strtod(number, &end);
    return *end == '\0' && isfinite(*out);
}

enum work_word work_line_read(struct str line, double *percent, struct str *text)
{
    struct str rest = line;
    struct str verb = str_cut(&rest, ' ');
    bool progress = str_is(verb, "progress");
    if (str_is(verb, "log")) {
        *text = str_absent(rest) ? STR("") : rest;
        return WORK_LOG;
    }
    rest = str_absent(rest) ? STR("") : str_trim(rest);
    if (!progress || !read_percent(str_cut(&rest, ' '), percent)) {
        return WORK_NOTHING;
    }
    *percent = MIN(MAX(*percent, 0), 100);
    *text = str_absent(rest) ? STR("") : str_trim(rest);
    return WORK_PROGRESS;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

bool work_result_write(struct buf *out, struct str text)
{
    struct json_writer w = JSON_WRITER(out);
    struct str value = text;
    while (value.len > 0 && is_blank(value.ptr[value.len - 1])) {
        value.len--;
    }
    while (value.len > 0 && is_blank(value.ptr[0])) {
        value = str_from(value, 1);
    }
    if (value.len == 0) {
        return false;
    }
    if (json_valid(value, NULL)) {
        buf_str(out, value);
        return true;
    }
    text.len -= text.ptr[text.len - 1] == '\n' ? 1 : 0; /* as a shell's $(…) has it */
    json_add_str(&w, text);
    return true;
}

/* The newest lines that fit. */
static struct str tail_of(struct str text, size_t max)
{
    if (text.len <= max) {
        return text;
    }
    struct str tail = str_from(text, text.len - max);
    const char *end = memchr(tail.ptr, '\n', tail.len);
    bool more = end != NULL && end + 1 < tail.ptr + tail.len;
    return more ? str_from(tail, (size_t)(end + 1 - tail.ptr)) : tail;
}

void work_stderr_add(struct buf *kept, struct str more)
{
    size_t most = kept->max / 2; /* so that the new fits before the old is cut */
    buf_str(kept, tail_of(more, most));
    buf_cut_front(kept, kept->len - tail_of(buf_view(kept), most).len);
}

static struct str last_line(struct str text)
{
    struct str last = STR("");
    while (!str_absent(text)) {
        struct str line = str_trim(str_cut(&text, '\n'));
        last = line.len > 0 ? line : last;
    }
    return last;
}

void work_message_write(struct buf *out, const struct work_end *end)
{
    struct str said = last_line(end->said);
    if (end->signal != 0) {
        buf_printf(out, "killed by signal %d (%s)", end->signal, strsignal(end->signal));
    } else {
        buf_printf(out, "exit status %d", end->status);
    }
    buf_c(out, said.len > 0 ? ": " : "");
    for (size_t i = 0, left = MESSAGE_MAX; i < said.len && left > 0; left--) {
        size_t len = str_utf8_len(str_from(said, i));
        bool control = len == 1 && (unsigned char)said.ptr[i] < ' ';
        buf_add(out, len == 0 || control ? "?" : said.ptr + i, len == 0 ? 1 : len);
        i += MAX(len, 1u);
    }
}

void work_detail_write(struct buf *out, const struct work_end *end)
{
    struct json_writer w = JSON_WRITER(out);
    json_open_object(&w);
    json_put_i64(&w, end->signal != 0 ? "signal" : "exitStatus",
                 end->signal != 0 ? end->signal : end->status);
    if (end->said.len > 0) {
        json_put_str(&w, "stderr", end->said);
    }
    json_close_object(&w);
}
