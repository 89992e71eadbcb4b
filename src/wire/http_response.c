/* wire/http_response.c: reads responses, for our own client. See http_response.h.
 *
 * Thread: any; a parser belongs to its caller.
 *
 * SPDX-License-Identifier: MIT */
#include "wire/http_response.h"

#include "wire/http_parts.h"

#define BAD_ANSWER 502 /* what a gateway would say; nobody is told */

void http_reader_init(struct http_parser *parser, bool head_only, size_t body_max)
{
    http_parser_init(parser, body_max);
    parser->is_response = true;
    parser->head_only = head_only;
}

/* "HTTP/1.1 200 OK"; the reason, and even the blank before it, may be missing. */
static enum http_step read_first_line(struct http_parser *parser, struct str input, struct err *err)
{
    struct str line;
    uint64_t code = 0;
    enum http_step step = http_next_line(parser, input, HTTP_HEAD_MAX, BAD_ANSWER, &line, err);
    if (step != HTTP_DONE) {
        return step;
    }
    struct str rest = str_from(line, 9);
    bool fine = line.len >= 12 && str_starts(line, STR("HTTP/1.")) &&
                (line.ptr[7] == '0' || line.ptr[7] == '1') && line.ptr[8] == ' ' &&
                str_u64((struct str){rest.ptr, 3}, &code) && code >= 100 &&
                (rest.len == 3 || rest.ptr[3] == ' ') && http_is_text(line);
    if (!fine) {
        return http_refuse(parser, err, BAD_ANSWER, "the answer does not begin with HTTP/1.1");
    }
    parser->minor = line.ptr[7] - '0';
    parser->code = (int)code;
    parser->first_line = http_span_of(input, line, str_from(rest, 4));
    parser->state = AT_HEADERS;
    return HTTP_DONE;
}

static bool has_no_body(const struct http_parser *parser)
{
    return parser->head_only || parser->code == 204 || parser->code == 304;
}

static enum http_step finish_head(struct http_parser *parser, struct str input, struct arena *arena,
                                  struct http_response *response, struct err *err)
{
    struct http_response got = {.status = parser->code, .minor = parser->minor};
    struct str head = http_keep_head(parser, input, arena, &got.headers);
    struct http_framing framing;
    if (!http_frame(parser, &got.headers, &framing, err)) {
        return HTTP_BAD;
    }
    got.reason = (struct str){head.ptr + parser->first_line.value_at, parser->first_line.value_len};
    got.until_close = !has_no_body(parser) && !framing.chunked && !framing.has_length;
    got.keep_alive =
        !got.until_close && !framing.close && (parser->minor == 1 || framing.keep_alive);
    parser->left = framing.length;
    parser->state = has_no_body(parser) ? AT_END
                    : framing.chunked   ? AT_CHUNK_SIZE
                    : got.until_close   ? AT_UNTIL_CLOSE
                                        : AT_LENGTH;
    *response = got;
    return HTTP_GOT_HEAD;
}

static enum http_step read_head(struct http_parser *parser, struct str input, struct arena *arena,
                                struct http_response *response, struct err *err)
{
    enum http_step step = HTTP_DONE;
    if (parser->state <= AT_FIRST_LINE) {
        step = read_first_line(parser, input, err);
    }
    if (step == HTTP_DONE) {
        step = http_read_fields(parser, input, err);
    }
    if (step != HTTP_DONE || parser->code < 200) { /* a 1xx is dropped by the caller */
        return step;
    }
    return finish_head(parser, input, arena, response, err);
}

/* The final head; 1xx heads before it count as consumed. */
static enum http_step read_heads(struct http_parser *parser, struct str input, struct arena *arena,
                                 struct http_response *response, size_t *consumed, struct err *err)
{
    enum http_step step;
    while ((step = read_head(parser, input, arena, response, err)) == HTTP_DONE) {
        *consumed += parser->at;
        input = str_from(input, parser->at);
        http_restart(parser);
    }
    *consumed += step == HTTP_GOT_HEAD ? http_consume(parser) : 0;
    return step;
}

static enum http_step read_length(struct http_parser *parser, struct str input, struct str *piece)
{
    size_t len = input.len < parser->left ? input.len : (size_t)parser->left;
    if (parser->left == 0) {
        return HTTP_DONE;
    }
    if (len == 0) {
        return HTTP_NEED_MORE;
    }
    *piece = (struct str){input.ptr, len};
    parser->left -= len;
    parser->at = len;
    return HTTP_GOT_PIECE;
}

/* Hands out what the limit allows before it refuses, however the bytes came. */
static enum http_step read_until_close(struct http_parser *parser, struct str input,
                                       struct str *piece, struct err *err)
{
    size_t room = parser->body_max - (size_t)parser->body_len, len = MIN(input.len, room);
    if (input.len == 0) {
        return HTTP_NEED_MORE;
    }
    if (room == 0) {
        return http_refuse(parser, err, 413, "the body is larger than %zu bytes", parser->body_max);
    }
    *piece = (struct str){input.ptr, len};
    parser->body_len += len;
    parser->at = len;
    return HTTP_GOT_PIECE;
}

static enum http_step read_body(struct http_parser *parser, struct str input, struct str *piece,
                                struct err *err)
{
    switch (parser->state) {
    case AT_END:
        return HTTP_DONE;
    case AT_LENGTH:
        return read_length(parser, input, piece);
    case AT_UNTIL_CLOSE:
        return read_until_close(parser, input, piece, err);
    default:
        return http_read_chunks(parser, input, piece, err);
    }
}

enum http_step http_read(struct http_parser *parser, struct str input, struct arena *arena,
                         struct http_response *response, struct str *piece, size_t *consumed,
                         struct err *err)
{
    *consumed = 0;
    if (parser->state == AT_BAD) {
        return http_refuse(parser, err, parser->status, "the answer was malformed");
    }
    if (parser->state < AT_LENGTH) {
        return read_heads(parser, input, arena, response, consumed, err);
    }
    enum http_step step = read_body(parser, input, piece, err);
    *consumed = step == HTTP_BAD ? 0 : http_consume(parser);
    if (step == HTTP_DONE) {
        http_restart(parser);
    }
    return step;
}

bool http_read_eof(struct http_parser *parser, struct err *err)
{
    if (parser->state == AT_UNTIL_CLOSE) {
        http_restart(parser);
        return true;
    }
    http_refuse(parser, err, BAD_ANSWER,
                parser->state == AT_START ? "the connection was closed before an answer"
                                          : "the connection was closed in the middle of an answer");
    return false;
}
