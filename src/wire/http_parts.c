/* wire/http_parts.c: lines, header fields, framing and chunks, for requests and responses alike.
 *
 * The input may move between two calls, so what was found is kept as offsets until the head is
 * whole; then it is copied once. A line is judged when its end is there, so it makes no difference
 * in which pieces it came.
 *
 * The sizes of chunks are added up as they are announced, so a body over the limit is refused
 * before its bytes come. Extensions and trailers are checked and dropped; together they are bounded
 * like a head, so that one-byte chunks with long extensions are no way to keep us busy.
 *
 * Thread: any; a parser belongs to its caller.
 *
 * SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stdio.h>

#include "wire/http_parts.h"

#define SIZE_DIGITS_MAX 15 /* of a chunk, hex; always below 2^63, so sums do not overflow */

void http_parser_init(struct http_parser *parser, size_t body_max)
{
    parser->is_response = parser->head_only = false;
    parser->body_max = body_max;
    parser->body = BUF_INIT(body_max);
    http_restart(parser);
}

void http_parser_fini(struct http_parser *parser)
{
    buf_fini(&parser->body);
}

/* Field by field: the spans need no clearing, and they are most of it. */
void http_restart(struct http_parser *parser)
{
    parser->state = AT_START;
    parser->status = parser->code = parser->minor = 0;
    parser->at = parser->scanned = parser->overhead = parser->lines = 0;
    parser->left = parser->body_len = 0;
}

enum http_step http_refuse(struct http_parser *parser, struct err *err, int status,
                           const char *format, ...)
{
    char text[sizeof err->text];
    bool large = status == 413 || status == 414 || status == 431;
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    parser->state = AT_BAD;
    parser->status = status;
    err_set(err, large ? ERR_TOO_LARGE : ERR_INVALID, "%s", text);
    return HTTP_BAD;
}

size_t http_consume(struct http_parser *parser)
{
    size_t used = parser->at;
    parser->scanned -= MIN(parser->scanned, used);
    parser->at = 0;
    return used;
}

/* ---- Lines and fields ---- */

/* The letters a method or a header name may be made of. */
static const bool token_chars[256] = {
    ['0' ... '9'] = true, ['A' ... 'Z'] = true,  ['a' ... 'z'] = true,
    ['!'] = true,         ['#' ... '\''] = true, /* # $ % & ' */
    ['*'] = true,         ['+'] = true,          ['-'] = true,
    ['.'] = true,         ['^' ... '`'] = true, /* ^ _ ` */
    ['|'] = true,         ['~'] = true,
};

static bool is_token_char(char c)
{
    return token_chars[(unsigned char)c];
}

bool http_is_token(struct str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (!is_token_char(text.ptr[i])) {
            return false;
        }
    }
    return text.len > 0;
}

bool http_is_text(struct str text)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        if ((c < 0x20 && c != '\t') || c == 0x7F) {
            return false;
        }
    }
    return true;
}

enum http_step http_next_line(struct http_parser *parser, struct str input, size_t max,
                              int status_long, struct str *line, struct err *err)
{
    size_t end = MIN(input.len, parser->at + max), from = MAX(parser->at, parser->scanned);
    const char *lf = from < end ? memchr(input.ptr + from, '\n', end - from) : NULL;
    if (lf == NULL) {
        parser->scanned = end;
        return end - parser->at < max
                   ? HTTP_NEED_MORE
                   : http_refuse(parser, err, status_long, "a line or the whole head is too long");
    }
    const char *begin = input.ptr + parser->at;
    if (lf == begin || lf[-1] != '\r') {
        return http_refuse(parser, err, 400, "a line must end with CR LF");
    }
    *line = (struct str){begin, (size_t)(lf - begin) - 1};
    parser->at = parser->scanned = (size_t)(lf - input.ptr) + 1;
    return HTTP_DONE;
}

static bool refuse_name(struct http_parser *parser, struct str line, size_t at, struct err *err)
{
    bool blank = at < line.len && (line.ptr[at] == ' ' || line.ptr[at] == '\t');
    http_refuse(parser, err, 400, "%s",
                blank && at == 0 ? "folded header lines are not accepted"
                : blank          ? "a header name may not be followed by a blank"
                                 : "a header line must be a name, a colon and a value");
    return false;
}

bool http_split_field(struct http_parser *parser, struct str line, struct http_header *out,
                      struct err *err)
{
    size_t colon = 0;
    while (colon < line.len && is_token_char(line.ptr[colon])) {
        colon++;
    }
    if (colon == 0 || colon == line.len || line.ptr[colon] != ':') {
        return refuse_name(parser, line, colon, err);
    }
    *out = (struct http_header){{line.ptr, colon}, str_trim(str_from(line, colon + 1))};
    if (!http_is_text(out->value)) {
        http_refuse(parser, err, 400, "a header value has a control character");
        return false;
    }
    return true;
}

struct http_span http_span_of(struct str input, struct str name, struct str value)
{
    return (struct http_span){
        .name_at = (uint16_t)(name.ptr - input.ptr),
        .name_len = (uint16_t)name.len,
        .value_at = (uint16_t)(value.ptr - input.ptr),
        .value_len = (uint16_t)value.len,
    };
}

static bool take_field(struct http_parser *parser, struct str input, struct str line,
                       struct err *err)
{
    struct http_header field;
    if (parser->lines == HTTP_HEADERS_MAX) {
        http_refuse(parser, err, 431, "more than %d headers", HTTP_HEADERS_MAX);
        return false;
    }
    if (!http_split_field(parser, line, &field, err)) {
        return false;
    }
    parser->spans[parser->lines++] = http_span_of(input, field.name, field.value);
    return true;
}

enum http_step http_read_fields(struct http_parser *parser, struct str input, struct err *err)
{
    for (;;) {
        struct str line;
        enum http_step step =
            http_next_line(parser, input, HTTP_HEAD_MAX - parser->at, 431, &line, err);
        if (step != HTTP_DONE || line.len == 0) {
            return step;
        }
        if (!take_field(parser, input, line, err)) {
            return HTTP_BAD;
        }
    }
}

struct str http_keep_head(const struct http_parser *parser, struct str input, struct arena *arena,
                          struct http_headers *out)
{
    struct str copy = arena_str(arena, (struct str){input.ptr, parser->at});
    struct http_header *list = arena_alloc(arena, MAX(parser->lines, (size_t)1) * sizeof *list);
    for (size_t i = 0; i < parser->lines; i++) {
        const struct http_span *span = &parser->spans[i];
        list[i].name = (struct str){copy.ptr + span->name_at, span->name_len};
        list[i].value = (struct str){copy.ptr + span->value_at, span->value_len};
    }
    *out = (struct http_headers){list, parser->lines};
    return copy;
}

struct str http_header(const struct http_headers *headers, const char *name)
{
    struct str wanted = str_of(name);
    for (size_t i = 0; i < headers->count; i++) {
        if (str_eq_nocase(headers->list[i].name, wanted)) {
            return headers->list[i].value;
        }
    }
    return STR_NONE;
}

static bool list_has(struct str list, const char *token)
{
    while (!str_absent(list)) {
        if (str_eq_nocase(str_trim(str_cut(&list, ',')), str_of(token))) {
            return true;
        }
    }
    return false;
}

bool http_has_token(const struct http_headers *headers, const char *name, const char *token)
{
    struct str wanted = str_of(name);
    for (size_t i = 0; i < headers->count; i++) {
        if (str_eq_nocase(headers->list[i].name, wanted) &&
            list_has(headers->list[i].value, token)) {
            return true;
        }
    }
    return false;
}

/* ---- Framing ---- */

/* Digits only. A number past 64 bits is a length too, just one that is above every limit. */
static bool frame_length(struct http_parser *parser, struct str value, struct http_framing *out,
                         struct err *err)
{
    if (out->has_length) {
        http_refuse(parser, err, 400, "Content-Length is given twice");
        return false;
    }
    uint64_t length = 0;
    for (size_t i = 0; i < value.len; i++) {
        unsigned digit = (unsigned)(value.ptr[i] - '0');
        if (digit > 9) {
            value.len = 0;
            break;
        }
        length = length > UINT64_MAX / 10 - 1 ? UINT64_MAX : length * 10 + digit;
    }
    if (value.len == 0) {
        http_refuse(parser, err, 400, "Content-Length must be a number");
        return false;
    }
    out->has_length = true;
    out->length = length;
    return true;
}

/* Only "chunked", once. Another coding is one we do not have; chunked twice is nonsense. */
static bool frame_coding(struct http_parser *parser, struct str value, struct http_framing *out,
                         struct err *err)
{
    while (!str_absent(value)) {
        struct str coding = str_trim(str_cut(&value, ','));
        if (coding.len == 0 || (out->chunked && str_eq_nocase(coding, STR("chunked")))) {
            http_refuse(parser, err, 400, "Transfer-Encoding is malformed");
            return false;
        }
        if (!str_eq_nocase(coding, STR("chunked"))) {
            http_refuse(parser, err, 501, "only the transfer coding chunked is known");
            return false;
        }
        out->chunked = true;
    }
    return true;
}

static bool frame_header(struct http_parser *parser, const struct http_header *header,
                         struct http_framing *out, struct err *err)
{
    switch (header->name.len) { /* saves most of the comparisons */
    case 10:
        if (str_eq_nocase(header->name, STR("Connection"))) {
            out->close |= list_has(header->value, "close");
            out->keep_alive |= list_has(header->value, "keep-alive");
        }
        return true;
    case 14:
        return !str_eq_nocase(header->name, STR("Content-Length")) ||
               frame_length(parser, header->value, out, err);
    case 17:
        return !str_eq_nocase(header->name, STR("Transfer-Encoding")) ||
               frame_coding(parser, header->value, out, err);
    default:
        return true;
    }
}

bool http_frame(struct http_parser *parser, const struct http_headers *headers,
                struct http_framing *out, struct err *err)
{
    *out = (struct http_framing){0};
    for (size_t i = 0; i < headers->count; i++) {
        if (!frame_header(parser, &headers->list[i], out, err)) {
            return false;
        }
    }
    if (out->chunked && out->has_length) {
        http_refuse(parser, err, 400, "both Content-Length and Transfer-Encoding are given");
        return false;
    }
    if (out->chunked && parser->minor == 0) {
        http_refuse(parser, err, 400, "HTTP/1.0 has no Transfer-Encoding");
        return false;
    }
    if (out->has_length && out->length > parser->body_max) {
        http_refuse(parser, err, 413, "the body is larger than %zu bytes", parser->body_max);
        return false;
    }
    return true;
}

/* ---- Chunks ---- */

/* Reads the digits off the front of a chunk's line; false if there are none or too many. */
static bool take_size(struct str *line, uint64_t *size)
{
    size_t digits = 0;
    uint64_t value = 0;
    for (; digits < line->len && str_hex(line->ptr[digits]) >= 0; digits++) {
        value = digits < SIZE_DIGITS_MAX ? value * 16 + (uint64_t)str_hex(line->ptr[digits]) : 0;
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

static enum http_step begin_chunk(struct http_parser *parser, struct str input, struct err *err)
{
    struct str line;
    uint64_t size;
    enum http_step step = http_next_line(parser, input, HTTP_CHUNK_LINE_MAX, 400, &line, err);
    if (step != HTTP_DONE) {
        return step;
    }
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

static enum http_step read_chunk(struct http_parser *parser, struct str input, struct str *piece)
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

static enum http_step end_chunk(struct http_parser *parser, struct str input, struct err *err)
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
        step = parser->state == AT_CHUNK_SIZE   ? begin_chunk(parser, input, err)
               : parser->state == AT_CHUNK_DATA ? read_chunk(parser, input, piece)
               : parser->state == AT_CHUNK_END  ? end_chunk(parser, input, err)
                                                : read_trailer(parser, input, err);
    }
    return step;
}
