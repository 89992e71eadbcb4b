/* net/tls.h: TLS 1.2 and later as a filter over bytes: ciphertext in, plain text out, and back.
 *
 * Knows no sockets: the connection feeds what it read and sends what is to be sent.
 *
 * Thread: net loop.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_NET_TLS_H
#define ERRAND_NET_TLS_H

#include "base/buf.h"
#include "base/err.h"

struct tls_context; /* certificate and key */
struct tls;         /* one connection's state */

enum tls_step {
    TLS_PLAIN,  /* *out_len bytes were decrypted; ask again */
    TLS_MORE,   /* more ciphertext is needed */
    TLS_CLOSED, /* the other side said goodbye */
    TLS_BAD,    /* not TLS, or broken: send what is to be sent, then close */
};

/* PEM files: a certificate with its chain, and its key. */
MUST_CHECK bool tls_context_open(const char *cert, const char *key, struct tls_context **out,
                                 struct err *err);
void tls_context_close(struct tls_context *context); /* NULL is welcome */

struct tls *tls_new(struct tls_context *context);
void tls_free(struct tls *tls); /* NULL is welcome */

void tls_feed(struct tls *tls, struct str ciphertext);
enum tls_step tls_read(struct tls *tls, char *out, size_t room, size_t *out_len);
bool tls_ready(const struct tls *tls); /* the handshake is done */

MUST_CHECK bool tls_write(struct tls *tls, struct str plain);
void tls_goodbye(struct tls *tls);

/* Ciphertext to be sent: how much there is, and taking at most `room` bytes of it. */
size_t tls_pending(const struct tls *tls);
size_t tls_take(struct tls *tls, char *out, size_t room);

#endif
