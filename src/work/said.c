/* work/said.c: what commands say and how they end, put into the words of a task. See said.h.
 *
 * SPDX-License-Identifier: MIT */
#include "work/said.h"

#include <math.h>
#include <stdlib.h>

#include "wire/json.h"
#include "work/text.h"

#define MESSAGE_MAX KIB /* of standard error's last line */

/* ---- Lines on descriptor 3 ---- */

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

enum said_word said_line(struct str line, double *percent, struct str *text)
{
    struct str rest = line;
    struct str verb = str_cut(&rest, ' ');
    bool progress = str_is(verb, "progress");
    if (str_is(verb, "log")) {
        *text = str_absent(rest) ? STR("") : rest;
        return SAID_LOG;
    }
    rest = str_absent(rest) ? STR("") : str_trim(rest);
    if (!progress || !read_percent(str_cut(&rest, ' '), percent)) {
        return SAID_NOTHING;
    }
    *percent = MIN(MAX(*percent, 0), 100);
    *text = str_absent(rest) ? STR("") : str_trim(rest);
    return SAID_PROGRESS;
}

void said_lines(struct buf *begun, struct str more, void (*each)(void *, struct str), void *arg)
{
    while (!str_absent(more)) {
        struct str piece = str_cut(&more, '\n');
        buf_add(begun, piece.ptr, MIN(piece.len, begun->max - begun->len));
        if (!str_absent(more)) {
            each(arg, buf_view(begun));
            buf_clear(begun);
        }
    }
}

/* ---- Standard error ---- */

void said_keep(struct buf *kept, struct str more)
{
    struct str tail = text_tail(more, kept->max);
    if (tail.len < more.len) {
        buf_clear(kept); /* lines between are lost: those before them would seem to be neighbours */
    }
    text_make_room(kept, tail.len);
    buf_str(kept, tail);
}

struct str said_message(struct arena *arena, const struct said_end *end)
{
    struct str text = end->last_said, last = STR("");
    while (!str_absent(text)) {
        struct str line = str_trim(str_cut(&text, '\n'));
        last = line.len > 0 ? line : last;
    }
    /* A message is one line for people: what would move a cursor or ring a bell is not said. */
    struct str clean = text_clean(arena, last, MESSAGE_MAX);
    char *plain = arena_c_text(arena, clean);
    for (size_t i = 0; i < clean.len; i++) {
        plain[i] = (unsigned char)plain[i] < ' ' ? '?' : plain[i];
    }
    struct str said = {plain, clean.len};
    const char *colon = said.len > 0 ? ": " : "";
    if (end->signal != 0) {
        return arena_printf(arena, "killed by signal %d (%s)%s" STR_FMT, end->signal,
                            strsignal(end->signal), colon, STR_ARG(said));
    }
    return arena_printf(arena, "exit status %d%s" STR_FMT, end->status, colon, STR_ARG(said));
}

struct str said_detail(struct arena *arena, const struct said_end *end)
{
    SCOPED(buf_fini) struct buf json = BUF_INIT(SIZE_MAX / 2);
    struct json_writer w = JSON_WRITER(&json);
    json_open_object(&w);
    json_put_i64(&w, end->signal != 0 ? "signal" : "exitStatus",
                 end->signal != 0 ? end->signal : end->status);
    if (end->last_said.len > 0) {
        json_put_str(&w, "stderr", end->last_said);
    }
    json_close_object(&w);
    return arena_str(arena, buf_view(&json));
}
