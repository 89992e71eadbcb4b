/* client/tls.h: TLS 1.2 and later as a filter over bytes: ciphertext in, plain text out, and back.
 *
 * Knows no sockets: the connection feeds what it read and sends what is to be sent. Both sides are
 * here: net/ serves by it, client/ calls Redis by it.
 *
 * Thread: a connection's state belongs to one thread at a time; a context may be shared.
 *
 * SPDX-License-Identifier: MIT */
#ifndef ERRAND_CLIENT_TLS_H
#define ERRAND_CLIENT_TLS_H

#include "base/buf.h"
#include "base/err.h"

struct tls_context; /* certificate and key; for calls also whom to trust */
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
/* For calls: PEM files, all optional. `cacert` are the authorities to trust, else the system's;
 * `cert` and `key`, both or none, are who we are. */
struct tls_files {
    struct str cacert, cert, key; /* followed by a NUL */
};
MUST_CHECK bool tls_trust_open(const struct tls_files *files, struct tls_context **out,
                               struct err *err);
/* The same one for another loop, to be closed by itself. */
struct tls_context *tls_context_share(struct tls_context *context);
void tls_context_close(struct tls_context *context); /* NULL is welcome */

struct tls *tls_new(struct tls_context *context);
/* A call to `host`, a name or an address: the handshake fails unless its certificate is that
 * host's and of an authority that is trusted. */
struct tls *tls_new_to(struct tls_context *context, const char *host);
void tls_free(struct tls *tls); /* NULL is welcome */

void tls_feed(struct tls *tls, struct str ciphertext);
enum tls_step tls_read(struct tls *tls, char *out, size_t room, size_t *out_len);
bool tls_ready(const struct tls *tls); /* the handshake is done */
/* Why the last read was TLS_BAD, for people. */
const char *tls_reason(const struct tls *tls);

MUST_CHECK bool tls_write(struct tls *tls, struct str plain);
void tls_goodbye(struct tls *tls);

/* Ciphertext to be sent: how much there is, and taking at most `room` bytes of it. */
size_t tls_pending(const struct tls *tls);
size_t tls_take(struct tls *tls, char *out, size_t room);

#endif
