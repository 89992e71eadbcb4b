/* tests/fuzz/fuzz_mail.c: whatever a mail is made of, it has our headers and no others.
 *
 * The text is cut at each byte 01 into sender, receiver, subject, id and body.
 *
 * SPDX-License-Identifier: MIT */
#include "client/mail.h"
#include "client/mail_parts.h"
#include "fuzz.h"

#define HEADERS  8
#define LINE_MAX 998 /* RFC 5322 */

static struct str next(struct str *rest)
{
    struct str piece = str_cut(rest, '\x01');
    return str_absent(piece) ? STR("") : piece;
}

/* A line without its CRLF; nothing but ASCII, and no line end of another make. */
static struct str take_line(struct str *rest)
{
    struct str line = str_cut(rest, '\n');
    FUZZ_CLAIM(!str_absent(*rest) && str_ends(line, STR("\r")));
    line.len--;
    for (size_t i = 0; i < line.len; i++) {
        FUZZ_CLAIM(line.ptr[i] == '\t' || (line.ptr[i] >= ' ' && line.ptr[i] <= '~'));
    }
    return line;
}

static void check_mail(struct str mail)
{
    size_t headers = 0;
    struct str line;
    while ((line = take_line(&mail)).len > 0) {
        FUZZ_CLAIM(line.len <= LINE_MAX);
        headers += line.ptr[0] == ' ' ? 0 : 1;
    }
    FUZZ_CLAIM(headers == HEADERS);
    while (mail.len > 0) {
        FUZZ_CLAIM(take_line(&mail).len <= MAIL_LINE_MAX);
    }
}

void fuzz_one(struct str text)
{
    SCOPED(buf_fini) struct buf out = BUF_INIT(MAIL_MAX);
    struct err err = ERR_INIT;
    struct mail mail = {.from = next(&text)};
    mail.to = next(&text);
    mail.subject = next(&text);
    mail.message_id = next(&text);
    mail.text = str_absent(text) ? STR("") : text;
    if (mail_write(&mail, &out, &err)) {
        check_mail(buf_view(&out));
    } else {
        FUZZ_CLAIM(err.kind == ERR_INVALID || err.kind == ERR_TOO_LARGE);
        FUZZ_CLAIM(err.text[0] != '\0');
    }
}
