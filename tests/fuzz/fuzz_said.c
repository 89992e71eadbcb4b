/* tests/fuzz/fuzz_said.c: what a command writes, and the line that starts it.
 *
 * The first byte says where the rest is cut in two: lines are the same however the pipe cut them,
 * progress is a percentage, what is kept of standard error is its end, and a message is one line.
 *
 * SPDX-License-Identifier: MIT */
#include <math.h>

#include "fuzz.h"
#include "wire/json.h"
#include "work/said.h"
#include "work/words.h"

#define NOTES_MAX (4 * MIB)

static void note(void *arg, struct str line)
{
    double percent = 0;
    struct str text = STR_NONE;
    FUZZ_CLAIM(line.len <= SAID_LINE_MAX && (line.len == 0 || !memchr(line.ptr, '\n', line.len)));
    enum said_word word = said_line(line, &percent, &text);
    FUZZ_CLAIM(word == SAID_NOTHING || !str_absent(text));
    FUZZ_CLAIM(word != SAID_PROGRESS || (isfinite(percent) && percent >= 0 && percent <= 100));
    buf_printf(arg, "%d %f ", word, percent);
    buf_str(arg, line);
    buf_char(arg, '\n');
}

static void check_lines(struct str text, size_t cut)
{
    SCOPED(buf_fini) struct buf whole = BUF_INIT(NOTES_MAX), pieces = BUF_INIT(NOTES_MAX);
    SCOPED(buf_fini) struct buf one = BUF_INIT(SAID_LINE_MAX), two = BUF_INIT(SAID_LINE_MAX);
    said_lines(&one, text, note, &whole);
    said_lines(&two, (struct str){text.ptr, cut}, note, &pieces);
    said_lines(&two, str_from(text, cut), note, &pieces);
    FUZZ_CLAIM(str_eq(buf_view(&whole), buf_view(&pieces)));
    FUZZ_CLAIM(str_eq(buf_view(&one), buf_view(&two)));
}

static void check_end(struct str text, size_t cut, struct arena *arena)
{
    SCOPED(buf_fini) struct buf kept = BUF_INIT(SAID_STDERR_MAX);
    struct err err = ERR_INIT;
    struct json json;
    said_keep(&kept, (struct str){text.ptr, cut});
    said_keep(&kept, str_from(text, cut));
    FUZZ_CLAIM(kept.len <= SAID_STDERR_MAX && str_ends(text, buf_view(&kept)));
    for (int signal = 0; signal <= 9; signal += 9) {
        struct said_end end = {.status = 3, .signal = signal, .last_said = buf_view(&kept)};
        struct str message = said_message(arena, &end);
        FUZZ_CLAIM(str_is_utf8(message) && !memchr(message.ptr, '\n', message.len));
        json_start(&json, said_detail(arena, &end), arena);
        FUZZ_CLAIM(json_skip(&json, &err) && json_end(&json, &err));
    }
}

void fuzz_one(struct str text)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    struct err err = ERR_INIT;
    char **words;
    size_t count = 0, cut = text.len > 0 ? (unsigned char)text.ptr[0] : 0;
    text = str_from(text, 1);
    check_lines(text, MIN(cut, text.len));
    check_end(text, MIN(cut, text.len), &arena);
    if (words_split(&arena, text, &words, &count, &err)) {
        FUZZ_CLAIM(words[count] == NULL && (count == 0 || words[count - 1] != NULL));
    } else {
        FUZZ_CLAIM(err.kind == ERR_INVALID && err.text[0] != '\0');
    }
}
