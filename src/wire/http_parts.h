/* wire/http_parts.h: what requests and responses have in common. For http_*.c only.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_WIRE_HTTP_PARTS_H
#define ERRAND_WIRE_HTTP_PARTS_H

#include "wire/http.h"

/* Where a reader is. Lines come first, then at most one of the three kinds of body. */
enum {
    AT_START, /* before the first byte of a message */
    AT_FIRST_LINE,
    AT_HEADERS,
    AT_LENGTH,      /* `left` bytes of body to come */
    AT_CHUNK_SIZE,  /* the line that begins a chunk */
    AT_CHUNK_DATA,  /* `left` bytes of it to come */
    AT_CHUNK_END,   /* the CRLF behind its bytes */
    AT_TRAILERS,    /* lines after the last chunk */
    AT_UNTIL_CLOSE, /* all that comes is body */
    AT_END,         /* everything was read, but not yet said */
    AT_BAD,
};

/* Marks the reader bad; returns HTTP_BAD. */
enum http_step http_refuse(struct http_parser *parser, struct err *err, int status,
                           const char *format, ...) PRINTF_LIKE(4, 5);

void http_restart(struct http_parser *parser);   /* ready for the next message */
size_t http_consume(struct http_parser *parser); /* the bytes before `at` are done with */

/* The next line of at most `max` bytes, without its CRLF. HTTP_DONE when there is one; a longer
 * one is refused with `status_long`. */
enum http_step http_next_line(struct http_parser *parser, struct str input, size_t max,
                              int status_long, struct str *line, struct err *err);

/* Splits "Name: value" strictly. */
bool http_split_field(struct http_parser *parser, struct str line, struct http_header *out,
                      struct err *err);

/* Reads header lines up to the empty one: HTTP_DONE, and `at` is behind it. */
enum http_step http_read_fields(struct http_parser *parser, struct str input, struct err *err);

struct http_span http_span_of(struct str input, struct str name, struct str value);

/* The head as texts that stay: copies it into the arena and makes the spans point into the copy.
 * Returns the copy, from which first_line can be cut. */
struct str http_keep_head(const struct http_parser *parser, struct str input, struct arena *arena,
                          struct http_headers *out);

/* What the headers say about how the message is framed. */
struct http_framing {
    bool has_length, chunked;
    bool close, keep_alive; /* the words of Connection */
    uint64_t length;
};

/* Finds it out, or refuses what two readers could understand differently. */
bool http_frame(struct http_parser *parser, const struct http_headers *headers,
                struct http_framing *out, struct err *err);

/* Reads on in a chunked body: HTTP_GOT_PIECE with *piece inside `input`, HTTP_DONE after the
 * trailers. */
enum http_step http_read_chunks(struct http_parser *parser, struct str input, struct str *piece,
                                struct err *err);

bool http_is_token(struct str text);
bool http_is_text(struct str text); /* no control characters but the tab */

#endif
