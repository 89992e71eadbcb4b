/* wire/http.h: HTTP/1.1 messages, read strictly and step by step.
 *
 * Two readers work on a growing input: this one for requests (the server), http_response.h for our
 * own client. After each call the caller drops `consumed` bytes from the front of its input, and
 * calls again when the step says so or when more bytes came. No byte is looked at twice, so a body
 * may come in any number of pieces. Whatever two servers could understand differently is refused:
 * both length headers, a bare CR or LF, a blank before the colon, folded lines, and so on.
 *
 * Lifetimes: the head (method, path, headers) is copied into the arena. A body with a length points
 * into `input` and ends when the caller touches it; a chunked one is in the arena.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_WIRE_HTTP_H
#define ERRAND_WIRE_HTTP_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

#define HTTP_HEAD_MAX       (16 * KIB) /* also all trailers, and all chunk extensions together */
#define HTTP_HEADERS_MAX    100
#define HTTP_METHOD_MAX     32
#define HTTP_TARGET_MAX     (8 * KIB)
#define HTTP_CHUNK_LINE_MAX (1 * KIB)
#define HTTP_BODY_MAX       (16 * MIB) /* the usual body_max */

enum http_step {
    HTTP_NEED_MORE, /* call again with more input */
    HTTP_GOT_HEAD,  /* all but the body is filled in; call again, at once */
    HTTP_GOT_PIECE, /* responses: a piece of the body; call again, at once */
    HTTP_DONE,      /* the message is complete; the next call begins the next one */
    HTTP_BAD,       /* answer `status` and close; the reader stays bad */
};

enum http_method {
    HTTP_OTHER, /* a token we have no name for */
    HTTP_GET,
    HTTP_HEAD,
    HTTP_POST,
    HTTP_PUT,
    HTTP_PATCH,
    HTTP_DELETE,
    HTTP_OPTIONS,
};

struct http_headers {
    struct http_header {
        struct str name, value; /* value without blanks around it */
    } * list;
    size_t count;
};

/* The first header of that name in any case, or STR_NONE. */
struct str http_header(const struct http_headers *headers, const char *name);
/* Whether a comma-separated list in any header of that name has `token`, in any case. */
bool http_has_token(const struct http_headers *headers, const char *name, const char *token);

struct http_request {
    enum http_method method;
    struct str method_text;
    struct str target; /* as sent */
    struct str path;   /* begins with '/' (or is "*"), still percent-encoded */
    struct str query;  /* after '?', still encoded; STR_NONE if there is none */
    struct str host;   /* of an absolute target, else of Host; STR_NONE in HTTP/1.0 without */
    int minor;         /* 0 or 1 */
    struct http_headers headers;
    bool keep_alive;      /* the connection may be used again after the answer */
    bool expect_continue; /* "100 Continue" is awaited; at HTTP_GOT_HEAD */
    bool has_body;        /* a length or chunks were announced, even if of 0 bytes */
    struct str body;      /* at HTTP_DONE; present and empty when there is none */
};

/* Where a header line lies in the input, which may move between two calls. */
struct http_span {
    uint16_t name_at, name_len, value_at, value_len;
};

/* A reader of either kind. Callers look at `status`; the rest is its own. */
struct http_parser {
    int state;
    int status;                  /* at HTTP_BAD: 400, 413, 414, 417, 431, 501 or 505 */
    bool is_response;            /* which of the two readers this is */
    bool head_only;              /* response: it answers a HEAD */
    size_t body_max;             /* above it: 413 as soon as it shows */
    size_t at, scanned;          /* in the input: the line being read; how far it was searched */
    uint64_t left;               /* bytes of the body or chunk still to come */
    uint64_t body_len;           /* announced by chunks so far */
    size_t overhead;             /* bytes spent on chunk extensions and trailers */
    size_t lines;                /* header or trailer lines so far */
    int minor, code;             /* of the first line; code only in a response */
    struct http_span first_line; /* request: method and target; response: the value is the reason */
    struct http_span spans[HTTP_HEADERS_MAX];
    struct buf body; /* the chunks so far */
};

void http_parser_init(struct http_parser *parser, size_t body_max);
void http_parser_fini(struct http_parser *parser);

/* Reads on. `request` is filled at HTTP_GOT_HEAD (all but body) and at HTTP_DONE (body); give the
 * same one and the same arena for the whole of a request. */
enum http_step http_parse(struct http_parser *parser, struct str input, struct arena *arena,
                          struct http_request *request, size_t *consumed, struct err *err);

/* Between HTTP_GOT_HEAD and HTTP_DONE: bytes of the body that are not consumed; chunks do not tell.
 */
#define HTTP_LENGTH_UNKNOWN UINT64_MAX
uint64_t http_body_left(const struct http_parser *parser);

/* --- Writing heads. Control characters in a value are written as blanks: no header splits. */

const char *http_reason(int status);
void http_write_status(struct buf *buf, int status); /* "HTTP/1.1 200 OK" */
void http_write_request(struct buf *buf, const char *method, struct str target, struct str host);
void http_write_header(struct buf *buf, const char *name, struct str value);
void http_write_length(struct buf *buf, uint64_t length); /* Content-Length */
void http_write_end(struct buf *buf);                     /* the empty line */
void http_write_chunk(struct buf *buf, struct str piece); /* an empty piece is the last */

#endif
