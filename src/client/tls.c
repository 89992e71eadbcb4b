/* client/tls.c: TLS over two memory buffers. See tls.h.
 *
 * OpenSSL reads from one BIO and writes to the other; both live in memory. Its error queue belongs
 * to the thread and is emptied before each call, or an old error would be taken for a new one.
 *
 * SPDX-License-Identifier: MIT */
#include "client/tls.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "base/mem.h"

struct tls_context {
    SSL_CTX *ctx;
};

struct tls {
    SSL *ssl;
    BIO *in, *out;      /* owned by ssl */
    const char *reason; /* of the last TLS_BAD; a text of OpenSSL's own */
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

static bool use_pair(SSL_CTX *ctx, const char *cert, const char *key, struct err *err)
{
    return (SSL_CTX_use_certificate_chain_file(ctx, cert) == 1 ||
            ssl_fails(err, "TLS certificate", cert)) &&
           (SSL_CTX_use_PrivateKey_file(ctx, key, SSL_FILETYPE_PEM) == 1 ||
            ssl_fails(err, "TLS key", key)) &&
           (SSL_CTX_check_private_key(ctx) == 1 ||
            ssl_fails(err, "TLS key does not belong to the certificate:", key));
}

/* NULL, with the error: no memory. */
static struct tls_context *context_new(const SSL_METHOD *method, struct err *err)
{
    ERR_clear_error();
    SSL_CTX *ctx = SSL_CTX_new(method);
    if (ctx == NULL) {
        ssl_fails(err, "TLS", "context");
        return NULL;
    }
    SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION);
    SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
    /* Idle connections keep no record buffers. */
    SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS);
    struct tls_context *context = mem_new(struct tls_context);
    context->ctx = ctx;
    return context;
}

bool tls_context_open(const char *cert, const char *key, struct tls_context **out, struct err *err)
{
    struct tls_context *context = context_new(TLS_server_method(), err);
    if (context == NULL || !use_pair(context->ctx, cert, key, err)) {
        tls_context_close(context);
        return false;
    }
    *out = context;
    return true;
}

static bool trust(SSL_CTX *ctx, const struct tls_files *files, struct err *err)
{
    SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, NULL);
    if (str_absent(files->cert) != str_absent(files->key)) {
        return err_set(err, ERR_INVALID, "TLS: cert and key belong together");
    }
    return (str_absent(files->cacert) ? SSL_CTX_set_default_verify_paths(ctx) == 1 ||
                                            ssl_fails(err, "TLS", "authorities of the system")
                                      : SSL_CTX_load_verify_file(ctx, files->cacert.ptr) == 1 ||
                                            ssl_fails(err, "TLS authorities", files->cacert.ptr)) &&
           (str_absent(files->cert) || use_pair(ctx, files->cert.ptr, files->key.ptr, err));
}

bool tls_trust_open(const struct tls_files *files, struct tls_context **out, struct err *err)
{
    struct tls_context *context = context_new(TLS_client_method(), err);
    if (context == NULL || !trust(context->ctx, files, err)) {
        tls_context_close(context);
        return false;
    }
    *out = context;
    return true;
}

struct tls_context *tls_context_share(struct tls_context *context)
{
    struct tls_context *shared = mem_new(struct tls_context);
    SSL_CTX_up_ref(context->ctx);
    shared->ctx = context->ctx;
    return shared;
}

void tls_context_close(struct tls_context *context)
{
    if (context != NULL) {
        SSL_CTX_free(context->ctx);
        mem_free(context);
    }
}

static struct tls *filter_new(struct tls_context *context)
{
    struct tls *tls = mem_new(struct tls);
    tls->ssl = SSL_new(context->ctx);
    tls->in = BIO_new(BIO_s_mem());
    tls->out = BIO_new(BIO_s_mem());
    if (tls->ssl == NULL || tls->in == NULL || tls->out == NULL) {
        abort(); /* out of memory, as in mem_alloc() */
    }
    SSL_set_bio(tls->ssl, tls->in, tls->out);
    return tls;
}

struct tls *tls_new(struct tls_context *context)
{
    struct tls *tls = filter_new(context);
    SSL_set_accept_state(tls->ssl);
    return tls;
}

/* An address is looked for among the certificate's addresses, a name among its names; only a name
 * may be told to the server (SNI). */
struct tls *tls_new_to(struct tls_context *context, const char *host)
{
    struct tls *tls = filter_new(context);
    X509_VERIFY_PARAM *expected = SSL_get0_param(tls->ssl);
    SSL_set_connect_state(tls->ssl);
    if (X509_VERIFY_PARAM_set1_ip_asc(expected, host) != 1) {
        ERR_clear_error(); /* it is no address */
        X509_VERIFY_PARAM_set_hostflags(expected, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
        if (X509_VERIFY_PARAM_set1_host(expected, host, 0) != 1 ||
            SSL_set_tlsext_host_name(tls->ssl, host) != 1) {
            abort(); /* out of memory: without it anybody's certificate would do */
        }
    }
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
        tls->reason = SSL_get_verify_result(tls->ssl) == X509_V_OK
                          ? ERR_reason_error_string(ERR_peek_error())
                          : X509_verify_cert_error_string(SSL_get_verify_result(tls->ssl));
        return TLS_BAD;
    }
}

const char *tls_reason(const struct tls *tls)
{
    return tls->reason == NULL ? "the connection ended" : tls->reason;
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
