/* wire/http_response.h: HTTP/1.1 answers, for our own client. See http.h for how readers are
 * called.
 *
 * The body is handed out piece by piece as it comes, so that an event stream can be followed.
 * Answers of the 1xx kind are passed over.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_WIRE_HTTP_RESPONSE_H
#define ERRAND_WIRE_HTTP_RESPONSE_H

#include "wire/http.h"

struct http_response {
    int status, minor;
    struct str reason;
    struct http_headers headers;
    bool keep_alive;
    bool until_close; /* the body has no length: it ends with the connection */
};

/* `head_only`: the request was a HEAD. Ends with http_parser_fini(). */
void http_reader_init(struct http_parser *parser, bool head_only, size_t body_max);

/* Reads on. At HTTP_GOT_PIECE, *piece is a part of the body, decoded; it points into `input`. */
enum http_step http_read(struct http_parser *parser, struct str input, struct arena *arena,
                         struct http_response *response, struct str *piece, size_t *consumed,
                         struct err *err);

/* The connection was closed by the other side: true if the response is complete by that. */
MUST_CHECK bool http_read_eof(struct http_parser *parser, struct err *err);

#endif
