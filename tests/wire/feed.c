/* tests/wire/feed.c: see feed.h.
 *
 * SPDX-License-Identifier: MIT */
#include "wire/feed.h"

#include "base/mem.h"
#include "wire/http_response.h"

size_t feed_all(void *arg)
{
    (void)arg;
    return SIZE_MAX;
}

size_t feed_steps(void *arg)
{
    return *(size_t *)arg;
}

size_t feed_cut(void *arg)
{
    size_t first = *(size_t *)arg;
    *(size_t *)arg = SIZE_MAX;
    return first;
}

/* What was fed and not yet consumed. */
struct window {
    struct str text;
    size_t from, to;
    char *copy;
};

static struct str window_move(struct window *window)
{
    size_t len = window->to - window->from;
    mem_free(window->copy);
    window->copy = mem_alloc(len > 0 ? len : 1);
    if (len > 0) {
        memcpy(window->copy, window->text.ptr + window->from, len);
    }
    return (struct str){window->copy, len};
}

static void window_fini(struct window *window)
{
    mem_free(window->copy);
}

static bool window_grow(struct window *window, feed_piece *piece, void *arg)
{
    size_t left = window->text.len - window->to, more = left > 0 ? piece(arg) : 0;
    window->to += MIN(left, more);
    return left > 0;
}

static void note(struct buf *notes, const char *label, struct str text)
{
    buf_c(notes, label);
    if (str_absent(text)) {
        buf_c(notes, "(none)");
    }
    buf_str(notes, text);
}

static void note_headers(struct buf *notes, const struct http_headers *headers)
{
    buf_c(notes, " {");
    for (size_t i = 0; i < headers->count; i++) {
        note(notes, i == 0 ? "" : ";", headers->list[i].name);
        note(notes, "=", headers->list[i].value);
    }
    buf_c(notes, "}");
}

static void note_request(struct buf *notes, const struct http_request *request)
{
    note(notes, "", request->method_text);
    note(notes, " ", request->path);
    note(notes, " query=", request->query);
    note(notes, " host=", request->host);
    buf_printf(notes, " 1.%d%s%s%s", request->minor, request->keep_alive ? " keep" : " close",
               request->expect_continue ? " expect" : "", request->has_body ? " has-body" : "");
    note_headers(notes, &request->headers);
}

static void note_bad(struct buf *notes, const struct http_parser *parser, const struct err *err)
{
    buf_printf(notes, "bad %d %s", parser->status, err->text);
}

void feed_requests(struct str text, size_t body_max, feed_piece *piece, void *arg,
                   struct buf *notes)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    SCOPED(window_fini) struct window window = {.text = text};
    SCOPED(http_parser_fini) struct http_parser parser;
    struct http_request request;
    struct err err = ERR_INIT;
    enum http_step step = HTTP_NEED_MORE;
    http_parser_init(&parser, body_max);
    while (step != HTTP_NEED_MORE || window_grow(&window, piece, arg)) {
        size_t consumed;
        struct str input = window_move(&window);
        step = http_parse(&parser, input, &arena, &request, &consumed, &err);
        window.from += consumed;
        if (step == HTTP_BAD) {
            note_bad(notes, &parser, &err);
            return;
        }
        if (step == HTTP_DONE) {
            note_request(notes, &request);
            note(notes, " body=", request.body);
            buf_c(notes, " done\n");
        }
    }
    buf_printf(notes, "%zu left", window.to - window.from);
}

static void note_response(struct buf *notes, const struct http_response *response)
{
    buf_printf(notes, "%d 1.%d%s%s", response->status, response->minor,
               response->keep_alive ? " keep" : " close",
               response->until_close ? " until-close" : "");
    note(notes, " ", response->reason);
    note_headers(notes, &response->headers);
    buf_c(notes, " body=");
}

void feed_responses(struct str text, bool head_only, size_t body_max, feed_piece *piece, void *arg,
                    struct buf *notes)
{
    SCOPED(arena_fini) struct arena arena = ARENA_INIT;
    SCOPED(window_fini) struct window window = {.text = text};
    SCOPED(http_parser_fini) struct http_parser parser;
    struct http_response response;
    struct err err = ERR_INIT;
    enum http_step step = HTTP_NEED_MORE;
    http_reader_init(&parser, head_only, body_max);
    while (step != HTTP_NEED_MORE || window_grow(&window, piece, arg)) {
        size_t consumed;
        struct str body, input = window_move(&window);
        step = http_read(&parser, input, &arena, &response, &body, &consumed, &err);
        window.from += consumed;
        if (step == HTTP_BAD) {
            note_bad(notes, &parser, &err);
            return;
        }
        if (step == HTTP_GOT_HEAD) {
            note_response(notes, &response);
        } else if (step == HTTP_GOT_PIECE) {
            buf_str(notes, body);
        } else if (step == HTTP_DONE) {
            buf_c(notes, " done\n");
        }
    }
    buf_c(notes, http_read_eof(&parser, &err) ? " done at close" : err.text);
}
