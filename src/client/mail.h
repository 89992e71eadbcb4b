/* client/mail.h: mails, written and sent by SMTP.
 *
 * A mail is plain text with a little Markdown; it is sent as that and as HTML made from it, in
 * which everything is escaped. Nothing that a mail is made of can add a header of its own.
 *
 * The server is the one that the configuration names, so the guard for strangers' URLs does not
 * apply to it.
 *
 * Thread: a mailer belongs to whoever opened it and blocks its thread; writing is pure.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_CLIENT_MAIL_H
#define ERRAND_CLIENT_MAIL_H

#include "base/buf.h"
#include "base/err.h"

#define MAIL_CONNECT_MS  (10 * SECOND_MS)
#define MAIL_TOTAL_MS    (60 * SECOND_MS)
#define MAIL_REPLY_MS    (30 * SECOND_MS) /* each answer of the server, that to the goodbye too */
#define MAIL_ADDRESS_MAX 254              /* RFC 5321 */
#define MAIL_NAME_MAX    128
#define MAIL_SUBJECT_MAX KIB
#define MAIL_TEXT_MAX    MIB
#define MAIL_MAX         (16 * MIB) /* written: what is escaped and encoded grows */

struct mail {
    struct str from;       /* "errand@example.org" or "Errand <errand@example.org>" */
    struct str to;         /* likewise; one */
    struct str subject;    /* one line */
    struct str text;       /* UTF-8; what is not becomes U+FFFD */
    struct str message_id; /* "task-7@example.org": the same whenever this mail is sent again */
    int64_t date_ms;
};

/* Writes the whole mail, CRLF at every line end. ERR_INVALID with the field named when an address,
 * the subject or the id has a line end or is not one; ERR_TOO_LARGE. */
MUST_CHECK bool mail_write(const struct mail *mail, struct buf *out, struct err *err);

/* Reads "ADDRESS" or "NAME <ADDRESS>"; the name is STR_NONE if there is none. Both point into the
 * text. `field` names it in errors. */
struct mail_address {
    struct str name, address;
};

MUST_CHECK bool mail_address_read(struct str text, const char *field, struct mail_address *out,
                                  struct err *err);

/* ---- Sending ---- */

/* How a connection that begins as plain text (smtp://) becomes a private one. smtps:// always is.
 */
enum mail_tls {
    MAIL_TLS_OPTIONAL, /* encrypted if the server can, whoever it is. With a password to a server
                          elsewhere it is required: it must not go to whoever stands between */
    MAIL_TLS_REQUIRED, /* encrypted, the certificate checked, or nothing is sent */
    MAIL_TLS_NONE,
};

struct mailer_options {
    struct str url;                /* smtp://HOST[:PORT] or smtps://HOST[:PORT] */
    struct str username, password; /* absent: without; see client/secret.h */
    enum mail_tls starttls;
    const char *cacert;           /* PEM file of authorities to trust; NULL: the system's */
    int64_t connect_ms, total_ms; /* 0: the usual limits above */
};

struct mailer;

/* Nothing is sent yet. */
MUST_CHECK bool mailer_open(const struct mailer_options *options, struct mailer **out,
                            struct err *err);
void mailer_close(struct mailer *mailer); /* NULL is welcome */

/* Sends one mail over a connection of its own. True: the server has taken it. `stop` is a
 * descriptor: given up once it can be read; NULL: none.
 *   ERR_UNAVAILABLE  for now: the server is out of reach, too slow, says 4xx; or given up
 *   ERR_REFUSED      for good: it says 5xx
 *   and what mail_write() says of the mail
 * When the connection breaks after the last byte, the mail may have been taken all the same: send
 * it again with the same message_id. */
MUST_CHECK bool mailer_send(struct mailer *mailer, const struct mail *mail, const int *stop,
                            struct err *err);

/* Greets the server and logs in, without a mail: would it take one? Kinds as above. */
MUST_CHECK bool mailer_probe(struct mailer *mailer, struct err *err);

#endif
