/* wire/http_write.c: heads and chunks out. See http.h.
 *
 * Thread: any. Keeps nothing.
 *
 * SPDX-License-Identifier: MIT */
#include "wire/http.h"

static const struct {
    int status;
    const char *reason;
} reasons[] = {
    {100, "Continue"},
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {204, "No Content"},
    {206, "Partial Content"},
    {301, "Moved Permanently"},
    {302, "Found"},
    {303, "See Other"},
    {304, "Not Modified"},
    {307, "Temporary Redirect"},
    {308, "Permanent Redirect"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {406, "Not Acceptable"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {410, "Gone"},
    {411, "Length Required"},
    {412, "Precondition Failed"},
    {413, "Content Too Large"},
    {414, "URI Too Long"},
    {415, "Unsupported Media Type"},
    {417, "Expectation Failed"},
    {422, "Unprocessable Content"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {502, "Bad Gateway"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
    {505, "HTTP Version Not Supported"},
    {507, "Insufficient Storage"},
};

const char *http_reason(int status)
{
    for (size_t i = 0; i < ARRAY_LEN(reasons); i++) {
        if (reasons[i].status == status) {
            return reasons[i].reason;
        }
    }
    return "";
}

void http_write_status(struct buf *buf, int status)
{
    buf_str(buf, STR("HTTP/1.1 "));
    buf_i64(buf, status);
    buf_char(buf, ' ');
    buf_c(buf, http_reason(status));
    buf_str(buf, STR("\r\n"));
}

/* A CR or LF that came in with somebody's text must not become a line of its own. */
static void add_value(struct buf *buf, struct str value)
{
    char *room = value.len == 0 ? NULL : buf_room(buf, value.len);
    if (room == NULL) {
        return;
    }
    for (size_t i = 0; i < value.len; i++) {
        unsigned char c = (unsigned char)value.ptr[i];
        room[i] = c < 0x20 || c == 0x7F ? ' ' : (char)c;
    }
    buf_used(buf, value.len);
}

void http_write_request(struct buf *buf, const char *method, struct str target, struct str host)
{
    buf_c(buf, method);
    buf_char(buf, ' ');
    add_value(buf, target);
    buf_str(buf, STR(" HTTP/1.1\r\n"));
    http_write_header(buf, "Host", host);
}

void http_write_header(struct buf *buf, const char *name, struct str value)
{
    buf_c(buf, name);
    buf_str(buf, STR(": "));
    add_value(buf, value);
    buf_str(buf, STR("\r\n"));
}

void http_write_length(struct buf *buf, uint64_t length)
{
    buf_str(buf, STR("Content-Length: "));
    buf_u64(buf, length);
    buf_str(buf, STR("\r\n"));
}

void http_write_end(struct buf *buf)
{
    buf_str(buf, STR("\r\n"));
}

void http_write_chunk(struct buf *buf, struct str piece)
{
    buf_printf(buf, "%zx\r\n", piece.len);
    buf_str(buf, piece);
    buf_str(buf, STR("\r\n"));
}
