/* tests/net/test_auth.c: claims about roles, hosts and origins.
 *
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "net/auth.h"
#include "test.h"

TEST(every_role_may_do_what_the_table_says_and_no_more)
{
    /* read, read tasks, produce, work, admin; what is not marked is refused. */
    static const char *const table[ROLES][2] = {
        [ROLE_NONE] = {"none", "o....."},       [ROLE_READ] = {"read", "oRT..."},
        [ROLE_PRODUCE] = {"produce", "oRTP.."}, [ROLE_WORK] = {"work", "o.T.W."},
        [ROLE_ADMIN] = {"admin", "oRTPWA"},
    };
    for (enum role role = ROLE_NONE; role < ROLES; role++) {
        CHECK_STR(str_of(role_name(role)), table[role][0]);
        for (enum access access = OPEN; access < ACCESSES; access++) {
            CHECK_EQ(auth_role_allows(role, access), table[role][1][access] != '.');
        }
    }
}

TEST(a_host_is_ours_when_local_listened_on_or_configured)
{
    const struct str names[] = {STR("queue.example"), STR("10.1.2.3")};
    const struct auth auth = {.listen = STR("192.0.2.7:8001"), .hosts = names, .hosts_count = 2};
    static const struct {
        const char *host;
        bool ours;
    } cases[] = {
        {"localhost", true},
        {"localhost:8001", true},
        {"LOCALHOST:1", true},
        {"127.0.0.1", true},
        {"127.9.8.7:99", true},
        {"[::1]", true},
        {"[::1]:8001", true},
        {"192.0.2.7", true},
        {"192.0.2.7:8001", true},
        {"queue.example", true},
        {"Queue.Example:443", true},
        {"10.1.2.3:8001", true},
        {"", false},
        {"192.0.2.8", false},
        {"evil.example", false},
        {"localhost.evil.example", false},
        {"127.0.0.1.evil.example", false},
        {"127.0.0.1:8001.evil.example", false},
        {"evil.example:127", false},
        {"[::2]", false},
        {"128.0.0.1", false},
        {"127.1", false},
        {"localhost:8001/", false},
        {"user@localhost", false},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        if (auth_host_ours(&auth, str_of(cases[i].host)) != cases[i].ours) {
            print_error("host %s\n", cases[i].host);
            CHECK(false);
        }
    }
}

TEST(an_origin_is_ours_when_scheme_name_and_port_are)
{
    const struct str names[] = {STR("queue.example")};
    static const struct {
        const char *listen, *host, *origin;
        bool tls, ours;
    } cases[] = {
        {"127.0.0.1:8001", "127.0.0.1:8001", "http://127.0.0.1:8001", false, true},
        {"127.0.0.1:8001", "127.0.0.1:8001", "http://localhost:8001", false, true},
        {"127.0.0.1:8001", "localhost:8001", "http://LOCALHOST:8001", false, true},
        {"127.0.0.1:8001", "localhost", "http://localhost:8001", false, true},
        {"127.0.0.1:8001", "localhost", "http://localhost", false, true},
        {"127.0.0.1:8001", NULL, "http://localhost:8001", false, true},
        {"[::1]:8001", "[::1]:8001", "http://[::1]:8001", false, true},
        {"127.0.0.1:8001", "localhost:3000", "http://localhost:3000", false, true}, /* forwarded */
        {"0.0.0.0:8001", "203.0.113.9:8001", "http://203.0.113.9:8001", false, true},
        {"127.0.0.1:8001", "localhost:8001", "https://localhost:8001", true, true},
        {"127.0.0.1:8001", "localhost:443", "https://localhost", true, true},
        {"127.0.0.1:8001", "queue.example", "https://queue.example", false, true},
        {"127.0.0.1:8001", "queue.example", "http://queue.example:80", true, true},
        {"127.0.0.1:8001", "localhost:8001", "https://queue.example", false, true},
        {"127.0.0.1:8001", "queue.example:8443", "https://queue.example:8443", false, true},

        {"127.0.0.1:8001", "localhost:8001", "http://localhost:3000", false, false},
        {"127.0.0.1:8001", "localhost:8001", "http://localhost", false, false},
        {"127.0.0.1:8001", "127.0.0.1:8001", "http://127.0.0.1:3000", false, false},
        {"127.0.0.1:8001", "127.0.0.1:8001", "http://127.0.0.2:8001", false, false},
        {"127.0.0.1:8001", "127.0.0.1:8001", "http://[::1]:8001", false, false},
        {"127.0.0.1:8001", "localhost:8001", "https://localhost:8001", false, false},
        {"127.0.0.1:8001", "localhost:8001", "http://localhost:8001", true, false},
        {"0.0.0.0:8001", "203.0.113.9:8001", "http://198.51.100.1:8001", false, false},
        {"127.0.0.1:8001", "queue.example", "http://queue.example:3000", false, false},
        {"127.0.0.1:8001", "localhost:8001", "null", false, false},
        {"127.0.0.1:8001", "localhost:8001", "", false, false},
        {"127.0.0.1:8001", "localhost:8001", "http://", false, false},
        {"127.0.0.1:8001", "localhost:8001", "http://evil.example", false, false},
        {"127.0.0.1:8001", "localhost:8001", "http://evil.example:8001", false, false},
        {"127.0.0.1:8001", "localhost:8001", "http://localhost:8001@evil.example", false, false},
        {"127.0.0.1:8001", "localhost:8001", "http://localhost:8001.evil.example", false, false},
        {"127.0.0.1:8001", "localhost:8001", "file://localhost:8001", false, false},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct auth auth = {.listen = str_of(cases[i].listen),
                                  .hosts = names,
                                  .hosts_count = 1,
                                  .tls = cases[i].tls};
        struct str host = cases[i].host == NULL ? STR_NONE : str_of(cases[i].host);
        if (auth_origin_ours(&auth, str_of(cases[i].origin), host) != cases[i].ours) {
            print_error("origin %s, asked for %s\n", cases[i].origin, cases[i].host);
            CHECK(false);
        }
    }
}

TEST(listening_everywhere_every_address_is_ours_but_no_name)
{
    const struct auth auth = {.listen = STR("0.0.0.0:8001")};
    CHECK(auth_host_ours(&auth, STR("203.0.113.9:8001")));
    CHECK(auth_host_ours(&auth, STR("[2001:db8::1]:8001")));
    CHECK(!auth_host_ours(&auth, STR("evil.example:8001")));
}

/* ---- Requests ---- */

struct bench {
    char folder[32];
    struct arena arena;
    struct http_header headers[2];
    struct http_request request;
    struct auth auth;
    struct token_who who;
    struct err err;
    char worker[TOKEN_TEXT];
    struct clock clock;
    char authorization[TOKEN_TEXT + 16];
};

static void bench_open(struct bench *bench)
{
    *bench = (struct bench){.auth.listen = STR("127.0.0.1:8001"), .request.host = STR("localhost")};
    bench->request.headers.list = bench->headers;
    strcpy(bench->folder, "/tmp/errand-auth-XXXXXX");
    CHECK(mkdtemp(bench->folder) != NULL);
}

static void bench_token(struct bench *bench)
{
    struct rand rand;
    struct token made;
    struct err err = ERR_INIT;
    rand_init(&rand);
    clock_init_by_hand(&bench->clock, 0);
    CHECK_OK(token_create(bench->folder, &(struct token_order){.role = ROLE_WORK}, 0, &rand, &made,
                          bench->worker, &err));
    CHECK_OK(token_book_open(bench->folder, &bench->clock, &bench->auth.book, &err));
}

static void bench_close(struct bench *bench)
{
    char path[64];
    snprintf(path, sizeof path, "%s/tokens", bench->folder);
    unlink(path);
    snprintf(path, sizeof path, "%s/tokens.lock", bench->folder);
    unlink(path);
    rmdir(bench->folder);
    token_book_close(bench->auth.book);
    arena_fini(&bench->arena);
}

#define BENCH(name)                                                                                \
    SCOPED(bench_close) struct bench name;                                                         \
    bench_open(&name)

static void header(struct bench *bench, const char *name, const char *value)
{
    bench->headers[bench->request.headers.count++] =
        (struct http_header){str_of(name), str_of(value)};
}

static void bearer(struct bench *bench, const char *token)
{
    snprintf(bench->authorization, sizeof bench->authorization, "bearer %s", token);
    header(bench, "Authorization", bench->authorization);
}

/* The kind of refusal, or ERR_NONE. */
static enum err_kind verdict(struct bench *bench, enum access access, bool is_stream)
{
    bench->err = ERR_INIT;
    bool ok = auth_check(&bench->auth, &bench->request, access, is_stream, 1, &bench->arena,
                         &bench->who, &bench->err);
    CHECK_EQ(ok, bench->err.kind == ERR_NONE);
    return bench->err.kind;
}

TEST(without_tokens_everybody_is_an_admin)
{
    BENCH(bench);
    CHECK_EQ(verdict(&bench, MAY_ADMIN, false), ERR_NONE);
    CHECK_EQ(bench.who.role, ROLE_ADMIN);
    bench.auth.required = true;
    CHECK_EQ(verdict(&bench, MAY_READ, false), ERR_DENIED);
    CHECK_EQ(verdict(&bench, OPEN, false), ERR_NONE);
    CHECK_EQ(bench.who.role, ROLE_NONE);
}

TEST(with_one_token_everybody_needs_one)
{
    BENCH(bench);
    bench_token(&bench);
    CHECK_EQ(verdict(&bench, MAY_READ_TASKS, false), ERR_DENIED);
    CHECK_EQ(verdict(&bench, OPEN, false), ERR_NONE);
    bearer(&bench, bench.worker);
    CHECK_EQ(verdict(&bench, MAY_WORK, false), ERR_NONE);
    CHECK_EQ(bench.who.role, ROLE_WORK);
    CHECK_EQ(verdict(&bench, MAY_PRODUCE, false), ERR_FORBIDDEN);
}

TEST(an_unknown_token_is_denied)
{
    BENCH(bench);
    bench_token(&bench);
    bearer(&bench, "errand_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA");
    CHECK_EQ(verdict(&bench, MAY_WORK, false), ERR_DENIED);
}

TEST(a_token_in_the_query_counts_on_streams_only)
{
    BENCH(bench);
    bench_token(&bench);
    char query[TOKEN_TEXT + 32];
    snprintf(query, sizeof query, "types=state&access_token=%s", bench.worker);
    bench.request.query = str_of(query);
    CHECK_EQ(verdict(&bench, MAY_READ_TASKS, true), ERR_NONE);
    CHECK_EQ(verdict(&bench, MAY_READ_TASKS, false), ERR_DENIED);
}

TEST(a_foreign_host_or_origin_is_forbidden_even_with_a_token)
{
    BENCH(bench);
    bench_token(&bench);
    bearer(&bench, bench.worker);
    header(&bench, "Origin", "http://evil.example");
    CHECK_EQ(verdict(&bench, MAY_WORK, false), ERR_FORBIDDEN);
    bench.request.headers.count = 1;
    CHECK_EQ(verdict(&bench, MAY_WORK, false), ERR_NONE);
    bench.request.host = STR("evil.example");
    CHECK_EQ(verdict(&bench, MAY_WORK, false), ERR_FORBIDDEN);
    CHECK_EQ(verdict(&bench, OPEN, false), ERR_FORBIDDEN);
}
