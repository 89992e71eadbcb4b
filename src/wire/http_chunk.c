/* wire/http_chunk.c: bodies that come in chunks.
 *
 * Sizes are added up as they are announced, so a body over the limit is refused before its bytes
 * come. Extensions and trailers are checked and dropped; together they are bounded like a head, so
 * that one-byte chunks with long extensions are no way to keep us busy.
 *
 * Thread: any; a parser belongs to its caller.
 *
 * SPDX-License-Identifier: MIT */
#include "wire/http_parts.h"

#define SIZE_DIGITS_MAX 15 /* hex; always below 2^63, so sums do not overflow */

static int hex_of(char c)
{
    int lower = c | 0x20;
    return c >= '0' && c <= '9' ? c - '0' : lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/* Reads the digits off the front of a chunk's line; false if there are none or too many. */
static bool take_size(struct str *line, uint64_t *size)
{
    size_t digits = 0;
    uint64_t value = 0;
    for (; digits < line->len && hex_of(line->ptr[digits]) >= 0; digits++) {
        value = digits < SIZE_DIGITS_MAX ? value * 16 + (uint64_t)hex_of(line->ptr[digits]) : 0;
    }
    *line = str_from(*line, digits);
    *size = value;
    return digits > 0 && digits <= SIZE_DIGITS_MAX;
}

static bool spend(struct http_parser *parser, size_t bytes, struct err *err)
{
    parser->overhead += bytes;
    if (parser->overhead <= HTTP_HEAD_MAX) {
        return true;
    }
    http_refuse(parser, err, 431, "too many bytes of chunk extensions or trailers");
    return false;
}

static enum http_step begin_chunk(struct http_parser *parser, struct str line, struct err *err)
{
    uint64_t size;
    if (!take_size(&line, &size)) {
        return http_refuse(parser, err, 400, "a chunk must begin with its size");
    }
    struct str extension = str_trim(line);
    if (line.len > 0 && (extension.len == 0 || extension.ptr[0] != ';' || !http_is_text(line))) {
        return http_refuse(parser, err, 400, "a chunk's size is followed by something else");
    }
    if (!spend(parser, line.len, err)) {
        return HTTP_BAD;
    }
    parser->body_len += size;
    if (parser->body_len > parser->body_max) {
        return http_refuse(parser, err, 413, "the body is larger than %zu bytes", parser->body_max);
    }
    parser->left = size;
    parser->lines = 0;
    parser->state = size > 0 ? AT_CHUNK_DATA : AT_TRAILERS;
    return HTTP_DONE;
}

static enum http_step read_size(struct http_parser *parser, struct str input, struct err *err)
{
    struct str line;
    enum http_step step = http_next_line(parser, input, HTTP_CHUNK_LINE_MAX, 400, &line, err);
    return step == HTTP_DONE ? begin_chunk(parser, line, err) : step;
}

static enum http_step read_data(struct http_parser *parser, struct str input, struct str *piece)
{
    size_t there = input.len - parser->at;
    size_t len = there < parser->left ? there : (size_t)parser->left;
    if (len == 0) {
        return HTTP_NEED_MORE;
    }
    *piece = (struct str){input.ptr + parser->at, len};
    parser->at += len;
    parser->left -= len;
    if (parser->left == 0) {
        parser->state = AT_CHUNK_END;
    }
    return HTTP_GOT_PIECE;
}

static enum http_step read_end(struct http_parser *parser, struct str input, struct err *err)
{
    size_t there = MIN(input.len - parser->at, (size_t)2);
    if (there > 0 && memcmp(input.ptr + parser->at, "\r\n", there) != 0) {
        return http_refuse(parser, err, 400, "a chunk is longer than its size");
    }
    if (there < 2) {
        return HTTP_NEED_MORE;
    }
    parser->at += 2;
    parser->state = AT_CHUNK_SIZE;
    return HTTP_DONE;
}

static enum http_step read_trailer(struct http_parser *parser, struct str input, struct err *err)
{
    struct str line;
    struct http_header field;
    enum http_step step = http_next_line(parser, input, HTTP_HEAD_MAX, 431, &line, err);
    if (step != HTTP_DONE) {
        return step;
    }
    if (line.len == 0) {
        parser->state = AT_END;
        return HTTP_DONE;
    }
    if (++parser->lines > HTTP_HEADERS_MAX) {
        return http_refuse(parser, err, 431, "more than %d trailers", HTTP_HEADERS_MAX);
    }
    return http_split_field(parser, line, &field, err) && spend(parser, line.len, err) ? HTTP_DONE
                                                                                       : HTTP_BAD;
}

enum http_step http_read_chunks(struct http_parser *parser, struct str input, struct str *piece,
                                struct err *err)
{
    enum http_step step = HTTP_DONE;
    while (step == HTTP_DONE && parser->state != AT_END) {
        step = parser->state == AT_CHUNK_SIZE   ? read_size(parser, input, err)
               : parser->state == AT_CHUNK_DATA ? read_data(parser, input, piece)
               : parser->state == AT_CHUNK_END  ? read_end(parser, input, err)
                                                : read_trailer(parser, input, err);
    }
    return step;
}
