/* net/tls.c: TLS over two memory buffers. See tls.h.
 *
 * OpenSSL reads from one BIO and writes to the other; both live in memory. Its error queue belongs
 * to the thread and is emptied before each call, or an old error would be taken for a new one.
 *
 * SPDX-License-Identifier: MIT */
#include "net/tls.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include "base/mem.h"

struct tls_context {
    SSL_CTX *ctx;
};

struct tls {
    SSL *ssl;
    BIO *in, *out; /* owned by ssl */
};

/* The first error says what went wrong, the later ones only where that was noticed. */
static bool ssl_fails(struct err *err, const char *what, const char *path)
{
    unsigned long code = ERR_peek_error();
    const char *reason =
        ERR_SYSTEM_ERROR(code) ? strerror(ERR_GET_REASON(code)) : ERR_reason_error_string(code);
    return err_set(err, ERR_INVALID, "%s %s: %s", what, path,
                   reason != NULL ? reason : "is not usable");
}

bool tls_context_open(const char *cert, const char *key, struct tls_context **out, struct err *err)
{
    ERR_clear_error();
    struct tls_context *context = mem_new(struct tls_context);
    context->ctx = SSL_CTX_new(TLS_server_method());
    bool ok = context->ctx != NULL || ssl_fails(err, "TLS", "context");
    if (ok) {
        SSL_CTX_set_min_proto_version(context->ctx, TLS1_2_VERSION);
        SSL_CTX_set_options(context->ctx, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
        /* Idle connections keep no record buffers. */
        SSL_CTX_set_mode(context->ctx, SSL_MODE_RELEASE_BUFFERS);
        ok = (SSL_CTX_use_certificate_chain_file(context->ctx, cert) == 1 ||
              ssl_fails(err, "TLS certificate", cert)) &&
             (SSL_CTX_use_PrivateKey_file(context->ctx, key, SSL_FILETYPE_PEM) == 1 ||
              ssl_fails(err, "TLS key", key)) &&
             (SSL_CTX_check_private_key(context->ctx) == 1 ||
              ssl_fails(err, "TLS key does not belong to the certificate:", key));
    }
    if (!ok) {
        tls_context_close(context);
        return false;
    }
    *out = context;
    return true;
}

void tls_context_close(struct tls_context *context)
{
    if (context != NULL) {
        SSL_CTX_free(context->ctx);
        mem_free(context);
    }
}

struct tls *tls_new(struct tls_context *context)
{
    struct tls *tls = mem_new(struct tls);
    tls->ssl = SSL_new(context->ctx);
    tls->in = BIO_new(BIO_s_mem());
    tls->out = BIO_new(BIO_s_mem());
    if (tls->ssl == NULL || tls->in == NULL || tls->out == NULL) {
        abort(); /* out of memory, as in mem_alloc() */
    }
    SSL_set_bio(tls->ssl, tls->in, tls->out);
    SSL_set_accept_state(tls->ssl);
    return tls;
}

void tls_free(struct tls *tls)
{
    if (tls != NULL) {
        SSL_free(tls->ssl);
        mem_free(tls);
    }
}

void tls_feed(struct tls *tls, struct str ciphertext)
{
    BIO_write(tls->in, ciphertext.ptr, (int)ciphertext.len);
}

enum tls_step tls_read(struct tls *tls, char *out, size_t room, size_t *out_len)
{
    ERR_clear_error();
    if (SSL_read_ex(tls->ssl, out, room, out_len) == 1) {
        return TLS_PLAIN;
    }
    switch (SSL_get_error(tls->ssl, 0)) {
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE:
        return TLS_MORE;
    case SSL_ERROR_ZERO_RETURN:
        return TLS_CLOSED;
    default:
        return TLS_BAD;
    }
}

bool tls_ready(const struct tls *tls)
{
    return SSL_is_init_finished(tls->ssl);
}

bool tls_write(struct tls *tls, struct str plain)
{
    size_t written;
    ERR_clear_error();
    return plain.len == 0 ||
           (SSL_write_ex(tls->ssl, plain.ptr, plain.len, &written) == 1 && written == plain.len);
}

void tls_goodbye(struct tls *tls)
{
    ERR_clear_error();
    if (tls_ready(tls)) {
        SSL_shutdown(tls->ssl);
    }
}

size_t tls_pending(const struct tls *tls)
{
    return BIO_ctrl_pending(tls->out);
}

size_t tls_take(struct tls *tls, char *out, size_t room)
{
    int taken = BIO_read(tls->out, out, (int)room);
    return taken > 0 ? (size_t)taken : 0;
}
