/* tests/client/test_redis_tls.c: Redis over TLS: a real server, and certificates made on the spot.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "client/redis_wire.h"
#include "conformance/redis_server.h"
#include "test.h"

#define PATIENCE_MS (20 * SECOND_MS) /* far more than anything here takes */
#define FOLDER_MAX  32

/* One folder for the whole program: an authority and another; certificates of the first for this
 * machine, for another, and one that has expired; one for us. */
static const char make_certificates[] =
    "set -e; cd %s\n"
    "new='openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes'\n"
    "$new -x509 -keyout ca.key -out ca.pem -subj /CN=ca -days 2\n"
    "$new -x509 -keyout other.key -out other.pem -subj /CN=other -days 2\n"
    "sign() {\n"
    "  $new -keyout $1.key -out $1.csr -subj /CN=$1\n"
    "  echo \"subjectAltName=$2\" >$1.ext\n"
    "  openssl x509 -req -in $1.csr -CA ca.pem -CAkey ca.key -out $1.pem -days $3 -extfile $1.ext\n"
    "}\n"
    "sign server IP:127.0.0.1,DNS:localhost 2\n"
    "sign elsewhere DNS:redis.example 2\n"
    "sign expired IP:127.0.0.1 -1\n"
    "sign us DNS:us 2\n";

#define ENV_FOLDER "ERRAND_TEST_CERTIFICATES"

static void remove_folder(void)
{
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", getenv(ENV_FOLDER));
    CHECK_EQ(system(command), 0);
}

/* Every test of the program uses the same, remembered in the environment. */
static const char *certificates(void)
{
    char folder[FOLDER_MAX] = "/tmp/errand-tls-XXXXXX", script[2 * KIB];
    if (getenv(ENV_FOLDER) == NULL) {
        CHECK(mkdtemp(folder) != NULL);
        snprintf(script, sizeof script, "(");
        snprintf(script + 1, sizeof script - 1, make_certificates, folder);
        strcat(script, ") >/dev/null 2>&1");
        CHECK_EQ(system(script), 0);
        setenv(ENV_FOLDER, folder, 1);
        atexit(remove_folder);
    }
    return getenv(ENV_FOLDER);
}

struct bench {
    struct redis_server server;
    struct redis *redis;
    struct arena arena;
    struct redis_reply *replies;
    struct err err;
};

static void bench_start(struct bench *b, const char *cert)
{
    b->server.tls = certificates();
    b->server.tls_cert = cert;
    redis_server_start(&b->server);
}

static void bench_fini(struct bench *b)
{
    redis_close(b->redis);
    redis_server_stop(&b->server);
    arena_fini(&b->arena);
}

#define BENCH(b) SCOPED(bench_fini) struct bench b

static struct str in_folder(struct bench *b, const char *name)
{
    return arena_printf(&b->arena, "%s/%s", certificates(), name);
}

/* With the authority that signed the servers' certificates. */
static struct tls_files trusting(struct bench *b)
{
    return (struct tls_files){.cacert = in_folder(b, "ca.pem")};
}

/* Why a connection is refused; "" if it is not. */
static const char *refusal(struct bench *b, const char *url, const struct tls_files *tls)
{
    struct redis_place place = {0};
    struct redis_wire *wire = NULL;
    b->err = ERR_INIT;
    if (redis_place_open(str_of(url), tls, &place, &b->err)) {
        (void)!redis_wire_open(&place.url, place.trust, &wire, &b->err);
    }
    redis_wire_close(wire);
    redis_place_close(&place);
    return b->err.text;
}

static void bench_open(struct bench *b)
{
    const struct redis_options options = {.url = str_of(b->server.url), .tls = trusting(b)};
    CHECK(redis_open(&options, &b->redis, &b->err));
    CHECK(redis_wait(b->redis, PATIENCE_MS));
}

TEST(pipelines_larger_than_a_record_and_the_socket_go_over_tls)
{
    BENCH(b) = {0};
    bench_start(&b, "server");
    bench_open(&b);
    struct str big = {arena_zero(&b.arena, MIB), MIB};
    for (int round = 0; round < 3; round++) { /* tickets come between the first two */
        REDIS_ADD(b.redis, STR("SET"), STR("k"), STR("1"));
        REDIS_ADD(b.redis, STR("ECHO"), big);
        REDIS_ADD(b.redis, STR("ECHO"), big);
        CHECK(redis_run(b.redis, &b.arena, &b.replies, &b.err));
        CHECK_STR(b.replies[0].text, "OK");
        CHECK_EQ(b.replies[2].text.len, MIB);
        CHECK(!redis_away(b.redis));
    }
}

TEST(a_host_is_verified_by_its_address_or_its_name)
{
    BENCH(b) = {0};
    bench_start(&b, "server");
    const struct tls_files tls = trusting(&b);
    struct str named = arena_printf(&b.arena, "rediss://localhost:%d", b.server.port);
    assert_string_equal(refusal(&b, b.server.url, &tls), "");
    assert_string_equal(refusal(&b, named.ptr, &tls), "");
    redis_server_stop(&b.server);
    b.server.tls_cert = "elsewhere";
    redis_server_start(&b.server);
    CHECK(strstr(refusal(&b, b.server.url, &tls), "IP address mismatch") != NULL);
    CHECK(strstr(refusal(&b, named.ptr, &tls), "hostname mismatch") != NULL);
}

TEST(an_authority_that_is_not_trusted_and_an_expired_certificate_are_refused_by_name)
{
    BENCH(b) = {0};
    bench_start(&b, "server");
    const struct tls_files tls = trusting(&b), other = {.cacert = in_folder(&b, "other.pem")},
                           system_own = {0};
    CHECK(strstr(refusal(&b, b.server.url, &other), "self-signed certificate") != NULL);
    CHECK(strstr(refusal(&b, b.server.url, &system_own), "self-signed certificate") != NULL);
    redis_server_stop(&b.server);
    b.server.tls_cert = "expired";
    redis_server_start(&b.server);
    CHECK(strstr(refusal(&b, b.server.url, &tls), "certificate has expired") != NULL);
}

TEST(a_server_that_asks_for_a_certificate_is_shown_ours)
{
    BENCH(b) = {.server.tls_asks = true};
    bench_start(&b, "server");
    struct tls_files tls = trusting(&b);
    CHECK(strstr(refusal(&b, b.server.url, &tls), "certificate required") != NULL);
    tls.cert = in_folder(&b, "us.pem");
    CHECK(strstr(refusal(&b, b.server.url, &tls), "cert and key belong together") != NULL);
    tls.key = in_folder(&b, "ca.key");
    CHECK(strstr(refusal(&b, b.server.url, &tls), "key values mismatch") != NULL);
    tls.key = in_folder(&b, "us.key");
    assert_string_equal(refusal(&b, b.server.url, &tls), "");
    tls.cacert = in_folder(&b, "nosuch.pem");
    CHECK(strstr(refusal(&b, b.server.url, &tls), "nosuch.pem: No such file") != NULL);
}

TEST(a_plain_server_and_a_plain_caller_are_told_apart)
{
    BENCH(b) = {0};
    redis_server_start(&b.server);
    const struct tls_files tls = trusting(&b);
    struct str secure = arena_printf(&b.arena, "rediss://127.0.0.1:%d", b.server.port);
    CHECK(strncmp(refusal(&b, secure.ptr, &tls), "TLS: ", 5) == 0);
    redis_server_stop(&b.server);
    b.server = (struct redis_server){0};
    bench_start(&b, "server");
    struct str plain = arena_printf(&b.arena, "redis://127.0.0.1:%d", b.server.port);
    CHECK(refusal(&b, plain.ptr, &tls)[0] != '\0');
}

TEST(a_connection_that_is_cut_opens_the_circuit_and_heals)
{
    BENCH(b) = {0};
    bench_start(&b, "server");
    bench_open(&b);
    redis_server_freeze(&b.server);
    REDIS_ADD(b.redis, STR("SET"), STR("k"), STR("1"));
    CHECK(!redis_run(b.redis, &b.arena, &b.replies, &b.err));
    CHECK(strstr(b.err.text, "no answer") != NULL);
    redis_server_stop(&b.server); /* in the midst of whatever the probe does */
    redis_server_start(&b.server);
    CHECK(redis_wait(b.redis, PATIENCE_MS));
    REDIS_ADD(b.redis, STR("GET"), STR("k"));
    CHECK(redis_run(b.redis, &b.arena, &b.replies, &b.err));
    CHECK_EQ(b.replies[0].kind, REDIS_NOTHING);
    redis_server_stop(&b.server);
    WAIT_FOR(redis_away(b.redis)); /* without a question */
}
