/* client/mail_parts.h: the pieces that a mail is written with. Pure.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_CLIENT_MAIL_PARTS_H
#define ERRAND_CLIENT_MAIL_PARTS_H

#include "base/buf.h"

#define MAIL_LINE_MAX 76 /* characters of an encoded line, without CRLF */

/* Text inside a header, as it is or as the encoded words of RFC 2047, folded. `at` is how much of
 * the line is used. */
void mail_put_text(struct buf *out, struct str text, size_t at);

/* Quoted-printable, every line end CRLF, one behind the last line. Bad UTF-8 becomes U+FFFD. */
void mail_put_quoted(struct buf *out, struct str text);

/* HTML from plain text: paragraphs, line breaks, "# headings", "- lists", **strong** and `code`.
 * Everything else is shown as it was written. */
void mail_put_html(struct buf *out, struct str text);

#endif
