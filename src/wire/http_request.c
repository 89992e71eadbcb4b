/* wire/http_request.c: reads requests. See http.h; http_parts.c has what responses have too.
 *
 * Thread: any; a parser belongs to its caller.
 *
 * SPDX-License-Identifier: MIT */
#include "wire/http_parts.h"
#include "wire/uri.h"

#define FIRST_LINE_MAX (HTTP_METHOD_MAX + 1 + HTTP_TARGET_MAX + sizeof " HTTP/1.1\r\n" - 1)

static const char *const methods[] = {
    [HTTP_GET] = "GET",     [HTTP_HEAD] = "HEAD",     [HTTP_POST] = "POST",      [HTTP_PUT] = "PUT",
    [HTTP_PATCH] = "PATCH", [HTTP_DELETE] = "DELETE", [HTTP_OPTIONS] = "OPTIONS"};

static enum http_method method_of(struct str text)
{
    for (enum http_method method = HTTP_GET; method < ARRAY_LEN(methods); method++) {
        if (str_is(text, methods[method])) {
            return method;
        }
    }
    return HTTP_OTHER;
}

/* One empty line before a request is forgiven, as the standard asks. A first byte that begins no
 * method (TLS spoken to a plain port, say) is refused without waiting for a line. */
static enum http_step begin(struct http_parser *parser, struct str input, struct err *err)
{
    if (input.len == 0 || (input.len == 1 && input.ptr[0] == '\r')) {
        return HTTP_NEED_MORE;
    }
    if (input.ptr[0] == '\r' && input.ptr[1] == '\n') {
        parser->at = 2;
    } else if (!http_is_token((struct str){input.ptr, 1})) {
        return http_refuse(parser, err, 400, "this is not an HTTP request");
    }
    parser->state = AT_FIRST_LINE;
    return HTTP_DONE;
}

/* Visible ASCII without what no address has. What is inside is judged when it is decoded. */
static bool is_target(struct str text)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        if (c <= ' ' || c >= 0x7F || c == '#' || c == '"' || c == '<' || c == '>') {
            return false;
        }
    }
    return text.len > 0;
}

static enum http_step take_version(struct http_parser *parser, struct str text, struct err *err)
{
    if (text.len != 8 || !str_starts(text, STR("HTTP/")) || text.ptr[5] < '0' ||
        text.ptr[5] > '9' || text.ptr[6] != '.' || text.ptr[7] < '0' || text.ptr[7] > '9') {
        return http_refuse(parser, err, 400,
                           "the first line must be a method, a target and HTTP/1.1");
    }
    if (text.ptr[5] != '1' || text.ptr[7] > '1') {
        return http_refuse(parser, err, 505, "only HTTP/1.1 and HTTP/1.0 are spoken here");
    }
    parser->minor = text.ptr[7] - '0';
    return HTTP_DONE;
}

static enum http_step read_first_line(struct http_parser *parser, struct str input, struct err *err)
{
    struct str rest;
    enum http_step step = http_next_line(parser, input, FIRST_LINE_MAX, 414, &rest, err);
    if (step != HTTP_DONE) {
        return step;
    }
    struct str method = str_cut(&rest, ' '), target = str_cut(&rest, ' ');
    if (method.len > HTTP_METHOD_MAX || !http_is_token(method)) {
        return http_refuse(parser, err, 400, "the method is malformed");
    }
    if (take_version(parser, rest, err) != HTTP_DONE) {
        return HTTP_BAD;
    }
    if (target.len > HTTP_TARGET_MAX) {
        return http_refuse(parser, err, 414, "the target is longer than %zu bytes",
                           HTTP_TARGET_MAX);
    }
    if (!is_target(target)) {
        return http_refuse(parser, err, 400, "the target is malformed");
    }
    parser->first_line = http_span_of(input, method, target);
    parser->state = AT_HEADERS;
    return HTTP_DONE;
}

/* Cuts the scheme and host off an absolute target. */
static bool take_authority(struct str *rest, struct str *host)
{
    size_t scheme =
        str_eq_nocase((struct str){rest->ptr, MIN(rest->len, (size_t)7)}, STR("http://"))    ? 7
        : str_eq_nocase((struct str){rest->ptr, MIN(rest->len, (size_t)8)}, STR("https://")) ? 8
                                                                                             : 0;
    if (scheme == 0) {
        return false;
    }
    *rest = str_from(*rest, scheme);
    size_t len = 0;
    while (len < rest->len && rest->ptr[len] != '/' && rest->ptr[len] != '?') {
        len++;
    }
    *host = (struct str){rest->ptr, len};
    *rest = str_from(*rest, len);
    return true;
}

static bool split_target(struct http_parser *parser, struct http_request *request, struct err *err)
{
    struct str rest = request->target;
    if (rest.ptr[0] != '/' && !take_authority(&rest, &request->host) &&
        !(str_is(rest, "*") && request->method == HTTP_OPTIONS)) {
        http_refuse(parser, err, 400, "the target must be a path or an http address");
        return false;
    }
    request->path = str_cut(&rest, '?');
    request->query = rest;
    if (request->path.len == 0) {
        request->path = STR("/");
    }
    return true;
}

static bool is_host(struct str text)
{
    struct str host;
    uint16_t port;
    return uri_parse_address(text, 0, &host, &port, NULL);
}

/* HTTP/1.1 needs exactly one Host, even when the target names the host itself. */
static bool take_host(struct http_parser *parser, struct http_request *request, struct err *err)
{
    struct str host = STR_NONE;
    for (size_t i = 0; i < request->headers.count; i++) {
        const struct http_header *header = &request->headers.list[i];
        if (!str_eq_nocase(header->name, STR("Host"))) {
            continue;
        }
        if (!str_absent(host)) {
            http_refuse(parser, err, 400, "Host is given twice");
            return false;
        }
        host = header->value;
    }
    if (str_absent(host) && request->minor == 1) {
        http_refuse(parser, err, 400, "Host is missing");
        return false;
    }
    if (str_absent(request->host)) {
        request->host = host;
    }
    if ((!str_absent(host) && !is_host(host)) ||
        (!str_absent(request->host) && !is_host(request->host))) {
        http_refuse(parser, err, 400, "the host is malformed");
        return false;
    }
    return true;
}

static bool take_expect(struct http_parser *parser, struct http_request *request, struct err *err)
{
    struct str expect = http_header(&request->headers, "Expect");
    if (request->minor == 0 || str_absent(expect)) {
        return true;
    }
    if (!str_eq_nocase(expect, STR("100-continue"))) {
        http_refuse(parser, err, 417, "the only expectation known is 100-continue");
        return false;
    }
    request->expect_continue = true;
    return true;
}

static bool take_framing(struct http_parser *parser, struct http_request *request, struct err *err)
{
    struct http_framing framing;
    if (!http_frame(parser, &request->headers, &framing, err)) {
        return false;
    }
    request->has_body = framing.chunked || framing.has_length;
    request->keep_alive = !framing.close && (request->minor == 1 || framing.keep_alive);
    parser->left = framing.length;
    parser->state = framing.chunked ? AT_CHUNK_SIZE : AT_LENGTH;
    return true;
}

/* The head is whole: makes the request of it. */
static enum http_step finish_head(struct http_parser *parser, struct str input, struct arena *arena,
                                  struct http_request *request, struct err *err)
{
    struct http_request got = {.minor = parser->minor, .body = {"", 0}};
    struct str head = http_keep_head(parser, input, arena, &got.headers);
    const struct http_span *line = &parser->first_line;
    got.method_text = (struct str){head.ptr + line->name_at, line->name_len};
    got.target = (struct str){head.ptr + line->value_at, line->value_len};
    got.method = method_of(got.method_text);
    if (!split_target(parser, &got, err) || !take_host(parser, &got, err) ||
        !take_framing(parser, &got, err) || !take_expect(parser, &got, err)) {
        return HTTP_BAD;
    }
    *request = got;
    return HTTP_GOT_HEAD;
}

static enum http_step read_head(struct http_parser *parser, struct str input, struct arena *arena,
                                struct http_request *request, struct err *err)
{
    enum http_step step = parser->state == AT_START ? begin(parser, input, err) : HTTP_DONE;
    if (step == HTTP_DONE && parser->state == AT_FIRST_LINE) {
        step = read_first_line(parser, input, err);
    }
    if (step == HTTP_DONE) {
        step = http_read_fields(parser, input, err);
    }
    return step == HTTP_DONE ? finish_head(parser, input, arena, request, err) : step;
}

static enum http_step read_length(struct http_parser *parser, struct str input,
                                  struct http_request *request)
{
    if (input.len < parser->left) {
        return HTTP_NEED_MORE;
    }
    parser->at = (size_t)parser->left;
    if (parser->at > 0) {
        request->body = (struct str){input.ptr, parser->at};
    }
    return HTTP_DONE;
}

static enum http_step read_chunked(struct http_parser *parser, struct str input,
                                   struct arena *arena, struct http_request *request,
                                   struct err *err)
{
    struct str piece;
    enum http_step step;
    while ((step = http_read_chunks(parser, input, &piece, err)) == HTTP_GOT_PIECE) {
        buf_str(&parser->body, piece);
    }
    if (step == HTTP_DONE) {
        request->body = arena_str(arena, buf_view(&parser->body));
        buf_fini(&parser->body);
    }
    return step;
}

uint64_t http_body_left(const struct http_parser *parser)
{
    return parser->state == AT_LENGTH ? parser->left : HTTP_LENGTH_UNKNOWN;
}

enum http_step http_parse(struct http_parser *parser, struct str input, struct arena *arena,
                          struct http_request *request, size_t *consumed, struct err *err)
{
    enum http_step step;
    *consumed = 0;
    if (parser->state == AT_BAD) {
        return http_refuse(parser, err, parser->status, "an earlier request was malformed");
    }
    if (parser->state < AT_LENGTH) {
        step = read_head(parser, input, arena, request, err);
        *consumed = step == HTTP_GOT_HEAD ? http_consume(parser) : 0;
        return step;
    }
    step = parser->state == AT_LENGTH ? read_length(parser, input, request)
                                      : read_chunked(parser, input, arena, request, err);
    *consumed = step == HTTP_BAD ? 0 : http_consume(parser);
    if (step == HTTP_DONE) {
        http_restart(parser);
    }
    return step;
}
