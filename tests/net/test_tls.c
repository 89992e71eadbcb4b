/* tests/net/test_tls.c: claims about TLS, with a certificate made on the spot.
 *
 * SPDX-License-Identifier: MIT */
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "stand.h"
#include "test.h"

#define GET(path) "GET " path " HTTP/1.1\r\nHost: localhost\r\n\r\n"

struct files {
    char cert[40], key[40], other[40];
};

static void write_key(const char *path, EVP_PKEY *key)
{
    FILE *file = fopen(path, "w");
    CHECK_EQ(PEM_write_PrivateKey(file, key, NULL, NULL, 0, NULL, NULL), 1);
    fclose(file);
}

static void write_cert(const char *path, EVP_PKEY *key)
{
    X509 *cert = X509_new();
    X509_NAME *name = X509_get_subject_name(cert);
    ASN1_INTEGER_set(X509_get_serialNumber(cert), 1);
    X509_gmtime_adj(X509_getm_notBefore(cert), -60);
    X509_gmtime_adj(X509_getm_notAfter(cert), 3600);
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const unsigned char *)"localhost", -1, -1,
                               0);
    X509_set_issuer_name(cert, name);
    X509_set_pubkey(cert, key);
    CHECK(X509_sign(cert, key, EVP_sha256()) > 0);
    FILE *file = fopen(path, "w");
    CHECK_EQ(PEM_write_X509(file, cert), 1);
    fclose(file);
    X509_free(cert);
}

static void temp_path(char *path)
{
    strcpy(path, "/tmp/errand-tls-XXXXXX");
    close(mkstemp(path));
}

static void files_open(struct files *files)
{
    EVP_PKEY *key = EVP_EC_gen("P-256"), *other = EVP_EC_gen("P-256");
    temp_path(files->cert);
    temp_path(files->key);
    temp_path(files->other);
    write_cert(files->cert, key);
    write_key(files->key, key);
    write_key(files->other, other);
    EVP_PKEY_free(key);
    EVP_PKEY_free(other);
}

static void files_close(struct files *files)
{
    unlink(files->cert);
    unlink(files->key);
    unlink(files->other);
}

#define FILES(name)                                                                                \
    SCOPED(files_close) struct files name;                                                         \
    files_open(&name)

/* ---- A client that speaks TLS over the stand's plain one ---- */

struct tls_client {
    struct client client;
    SSL_CTX *ctx;
    SSL *ssl;
    struct buf plain;
    bool closed; /* the server said goodbye */
};

static void tls_client_open(struct tls_client *tls, struct stand *stand, int version_max)
{
    *tls = (struct tls_client){.plain = BUF_INIT(32 * MIB)};
    client_open(&tls->client, stand);
    tls->ctx = SSL_CTX_new(TLS_client_method());
    SSL_CTX_set_max_proto_version(tls->ctx, version_max);
    SSL_CTX_set_security_level(tls->ctx, 0);
    tls->ssl = SSL_new(tls->ctx);
    SSL_set_bio(tls->ssl, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
    SSL_set_connect_state(tls->ssl);
}

static void tls_client_close(struct tls_client *tls)
{
    SSL_free(tls->ssl);
    SSL_CTX_free(tls->ctx);
    client_close(&tls->client);
    buf_fini(&tls->plain);
}

static void flush(struct tls_client *tls)
{
    char bytes[16384];
    int len;
    while ((len = BIO_read(SSL_get_wbio(tls->ssl), bytes, sizeof bytes)) > 0) {
        client_send(&tls->client, (struct str){bytes, (size_t)len});
    }
}

static void receive(struct tls_client *tls)
{
    struct client *client = &tls->client;
    client_read_some(client);
    if (client->in.len > 0) {
        BIO_write(SSL_get_rbio(tls->ssl), client->in.ptr, (int)client->in.len);
        buf_clear(&client->in);
    }
    size_t len;
    while (SSL_read_ex(tls->ssl, buf_room(&tls->plain, 16384), 16384, &len) == 1) {
        buf_used(&tls->plain, len);
    }
    tls->closed = (SSL_get_shutdown(tls->ssl) & SSL_RECEIVED_SHUTDOWN) != 0;
    flush(tls);
}

/* Reads until `text` has come, or the end. */
static bool sees(struct tls_client *tls, const char *text)
{
    while (!tls->client.ended && !tls->closed &&
           (tls->plain.len == 0 || strstr(buf_c_text(&tls->plain), text) == NULL)) {
        receive(tls);
    }
    return strstr(buf_c_text(&tls->plain), text) != NULL;
}

static void shake_hands(struct tls_client *tls)
{
    while (!SSL_is_init_finished(tls->ssl) && !tls->client.ended) {
        SSL_do_handshake(tls->ssl);
        flush(tls);
        if (!SSL_is_init_finished(tls->ssl)) {
            receive(tls);
        }
    }
}

static void say(struct tls_client *tls, const char *text)
{
    size_t written;
    shake_hands(tls);
    CHECK_EQ(SSL_write_ex(tls->ssl, text, strlen(text), &written), 1);
    flush(tls);
}

#define TLS_CLIENT(name, stand, version)                                                           \
    SCOPED(tls_client_close) struct tls_client name;                                               \
    tls_client_open(&name, (stand), (version))

TEST(requests_and_answers_travel_encrypted)
{
    FILES(files);
    STAND(stand, .tls_cert = files.cert, .tls_key = files.key);
    TLS_CLIENT(tls, &stand, TLS1_3_VERSION);
    say(&tls, GET("/echo") "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\nhi");
    CHECK(sees(&tls, "POST hi"));
    CHECK_EQ(stand.handled, 2);
}

TEST(tls_1_2_is_spoken_and_1_1_is_not)
{
    FILES(files);
    STAND(stand, .tls_cert = files.cert, .tls_key = files.key);
    TLS_CLIENT(fine, &stand, TLS1_2_VERSION);
    say(&fine, GET("/echo"));
    CHECK(sees(&fine, "GET "));
    TLS_CLIENT(old, &stand, TLS1_1_VERSION);
    shake_hands(&old);
    CHECK(!SSL_is_init_finished(old.ssl));
    CHECK_EQ(stand.handled, 1);
}

TEST(a_large_answer_is_whole_and_ends_with_a_goodbye)
{
    FILES(files);
    STAND(stand, .tls_cert = files.cert, .tls_key = files.key);
    TLS_CLIENT(tls, &stand, TLS1_3_VERSION);
    say(&tls, "GET /big HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    while (!tls.closed && !tls.client.ended) {
        receive(&tls);
    }
    CHECK(tls.closed);
    CHECK(tls.plain.len > BIG_BODY);
}

TEST(a_goodbye_while_parked_is_noticed)
{
    FILES(files);
    STAND(stand, .tls_cert = files.cert, .tls_key = files.key);
    TLS_CLIENT(tls, &stand, TLS1_3_VERSION);
    say(&tls, GET("/park"));
    stand_step_until(&stand, &stand.handled, 1);
    SSL_shutdown(tls.ssl);
    flush(&tls);
    stand_step_until(&stand, &stand.gone, 1);
    exchange_answer(stand.kept, 200, "text/plain", STR(""), STR("late"));
}

TEST(plain_http_on_a_tls_port_is_closed)
{
    FILES(files);
    STAND(stand, .tls_cert = files.cert, .tls_key = files.key);
    CLIENT(client, &stand);
    client_say(&client, GET("/echo"));
    client_read_end(&client);
    CHECK_EQ(stand.handled, 0);
}

TEST(a_handshake_that_does_not_come_is_given_up)
{
    FILES(files);
    STAND(stand, .tls_cert = files.cert, .tls_key = files.key, .head_timeout_ms = 20);
    CLIENT(client, &stand);
    client_read_end(&client);
    CHECK_EQ(client.in.len, 0);
}

/* ---- Clients that would hold up others ---- */

enum { STALLED = 20 };

/* What a client says first, or a part of it. */
static void say_hello(struct client *client, size_t most)
{
    SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
    SSL *ssl = SSL_new(ctx);
    char hello[4096];
    SSL_set_bio(ssl, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
    SSL_set_connect_state(ssl);
    SSL_do_handshake(ssl);
    int len = BIO_read(SSL_get_wbio(ssl), hello, sizeof hello);
    CHECK(len > 100);
    client_send(client, (struct str){hello, MIN((size_t)len, most)});
    SSL_free(ssl);
    SSL_CTX_free(ctx);
}

static void check_served(struct stand *stand)
{
    TLS_CLIENT(tls, stand, TLS1_3_VERSION);
    int handled = stand->handled;
    say(&tls, GET("/echo"));
    CHECK(sees(&tls, "GET "));
    CHECK_EQ(stand->handled, handled + 1);
}

TEST(handshakes_that_stall_do_not_hold_up_others)
{
    FILES(files);
    STAND(stand, .tls_cert = files.cert, .tls_key = files.key);
    struct client stalled[STALLED];
    for (size_t i = 0; i < STALLED; i++) { /* some silent, some in the middle, some at the end */
        client_open(&stalled[i], &stand);
        say_hello(&stalled[i], i % 4 == 0 ? 0 : i % 4 == 1 ? 3 : i % 4 == 2 ? 90 : SIZE_MAX);
    }
    check_served(&stand);
    CHECK(server_connections(stand.server) >= STALLED);
    for (size_t i = 0; i < STALLED; i++) {
        client_close(&stalled[i]);
    }
    while (server_connections(stand.server) > 0) {
        stand_step(&stand, -1);
    }
}

TEST(a_handshake_that_stalls_or_drips_is_given_up)
{
    FILES(files);
    STAND(stand, .tls_cert = files.cert, .tls_key = files.key, .head_timeout_ms = 20);
    CLIENT(begun, &stand);
    say_hello(&begun, 90);
    client_read_end(&begun);
    CLIENT(answered, &stand); /* waits with the certificate in its hands */
    say_hello(&answered, SIZE_MAX);
    client_read_end(&answered);
    CLIENT(drips, &stand); /* a byte now and then is no progress */
    say_hello(&drips, 5);
    while (!drips.ended) {
        client_send(&drips, (struct str){"", 1});
        client_read_some(&drips);
    }
    CHECK_EQ(server_connections(stand.server), 0);
    CHECK_EQ(stand.handled, 0);
}

TEST(garbage_instead_of_a_handshake_or_after_it_ends_that_connection_only)
{
    FILES(files);
    STAND(stand, .tls_cert = files.cert, .tls_key = files.key);
    TLS_CLIENT(parked, &stand, TLS1_3_VERSION);
    say(&parked, GET("/park"));
    stand_step_until(&stand, &stand.handled, 1);
    static const char *const garbage[] = {"\x16\x03\x01\xFF\xFFgarbage",
                                          "\xFF\xFF\xFF\xFF\xFF\xFF\xFF", "\n\n\n\n\n\n"};
    for (size_t i = 0; i < ARRAY_LEN(garbage); i++) {
        CLIENT(client, &stand);
        client_say(&client, garbage[i]);
        client_read_end(&client);
    }
    client_send(&parked.client, STR("\x17\x03\x03\x00\x20 a record that nobody has encrypted!"));
    stand_step_until(&stand, &stand.gone, 1);
    exchange_answer(stand.kept, 200, "text/plain", STR(""), STR("to nobody"));
    check_served(&stand);
}

TEST(nobody_shakes_hands_twice)
{
    FILES(files);
    STAND(stand, .tls_cert = files.cert, .tls_key = files.key);
    TLS_CLIENT(tls, &stand, TLS1_2_VERSION);
    say(&tls, GET("/echo"));
    CHECK(sees(&tls, "GET "));
    CHECK_EQ(SSL_renegotiate(tls.ssl), 1);
    SSL_do_handshake(tls.ssl);
    flush(&tls);
    check_served(&stand);
    ERR_clear_error();
    while (SSL_renegotiate_pending(tls.ssl) && ERR_peek_error() == 0 && !tls.client.ended) {
        receive(&tls);
    }
    CHECK(ERR_peek_error() != 0 || tls.client.ended);
    CHECK_EQ(stand.handled, 2);
}

TEST(new_keys_may_be_asked_for_again_and_again)
{
    FILES(files);
    STAND(stand, .tls_cert = files.cert, .tls_key = files.key);
    TLS_CLIENT(tls, &stand, TLS1_3_VERSION);
    say(&tls, GET("/echo"));
    CHECK(sees(&tls, "GET "));
    for (int i = 0; i < 200; i++) {
        CHECK_EQ(SSL_key_update(tls.ssl, SSL_KEY_UPDATE_REQUESTED), 1);
        SSL_do_handshake(tls.ssl);
        flush(&tls);
    }
    check_served(&stand);
    say(&tls, "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\nhi");
    CHECK(sees(&tls, "POST hi"));
}

TEST(a_client_that_hangs_up_without_a_goodbye_is_noticed)
{
    FILES(files);
    STAND(stand, .tls_cert = files.cert, .tls_key = files.key);
    CLIENT(early, &stand); /* in the middle of the handshake */
    say_hello(&early, 90);
    shutdown(early.fd, SHUT_WR);
    client_read_end(&early);
    TLS_CLIENT(tls, &stand, TLS1_3_VERSION); /* while its request is handled */
    say(&tls, GET("/park"));
    stand_step_until(&stand, &stand.handled, 1);
    shutdown(tls.client.fd, SHUT_WR);
    stand_step_until(&stand, &stand.gone, 1);
    check_served(&stand);
    exchange_answer(stand.kept, 200, "text/plain", STR(""), STR("late"));
    CHECK(sees(&tls, "late")); /* it may still listen */
}

/* ---- Starting ---- */

static void check_start(const char *cert, const char *key, const char *says)
{
    uv_loop_t loop;
    struct server *server;
    struct err err = ERR_INIT;
    uv_loop_init(&loop);
    CHECK(!server_start(
        &(struct server_options){
            .loop = &loop, .listen = STR("127.0.0.1:0"), .tls_cert = cert, .tls_key = key},
        &server, &err));
    if (strstr(err.text, says) == NULL) {
        print_error("%s\n", err.text);
        CHECK(false);
    }
    CHECK_EQ(uv_loop_close(&loop), 0);
}

TEST(bad_certificates_and_keys_are_named_at_the_start)
{
    FILES(files);
    check_start("/nowhere/cert.pem", files.key,
                "TLS certificate /nowhere/cert.pem: No such file or directory");
    check_start(files.cert, "/nowhere/key.pem", "TLS key /nowhere/key.pem");
    check_start(files.cert, files.other, files.other);
    check_start(files.key, files.key, files.key);
    check_start(files.cert, NULL, "both a certificate and a key");
}
