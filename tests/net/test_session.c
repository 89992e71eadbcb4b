/* tests/net/test_session.c: claims about sessions of browsers.
 *
 * SPDX-License-Identifier: MIT */
#include "base/mem.h"
#include "net/session.h"
#include "test.h"

struct bench {
    struct clock clock;
    struct token_book *book;
    struct sessions *sessions;
    struct arena arena;
    struct token token;
    char text[TOKEN_TEXT];
};

static void bench_open(struct bench *bench)
{
    struct rand rand;
    struct err err = ERR_INIT;
    *bench = (struct bench){.arena = ARENA_INIT};
    rand_init(&rand);
    clock_init_by_hand(&bench->clock, 1000);
    CHECK_OK(token_book_open("/nowhere", &bench->clock, &bench->book, &err));
    CHECK_OK(token_make(&(struct token_order){.role = ROLE_PRODUCE, .user = STR("ann")}, 0, &rand,
                        &bench->token, bench->text, &err));
    token_book_share(bench->book, &bench->token, 1);
    bench->sessions = sessions_new(&bench->clock);
}

static void bench_close(struct bench *bench)
{
    sessions_free(bench->sessions);
    token_book_close(bench->book);
    arena_fini(&bench->arena);
}

#define BENCH(name)                                                                                \
    SCOPED(bench_close) struct bench name;                                                         \
    bench_open(&name)

static struct str sign_in(struct bench *bench)
{
    struct str cookie = STR_NONE;
    CHECK(session_begin(bench->sessions, bench->book, 1, str_of(bench->text), &bench->arena,
                        &cookie));
    return cookie;
}

static bool lives(struct bench *bench, struct str cookie)
{
    struct session session;
    return session_check(bench->sessions, bench->book, 1, cookie, &session);
}

TEST(a_session_is_its_tokens_until_the_time_is_over)
{
    BENCH(bench);
    struct session session;
    struct str cookie = sign_in(&bench);
    CHECK(session_check(bench.sessions, bench.book, 1, cookie, &session));
    CHECK_EQ(session.who.role, ROLE_PRODUCE);
    CHECK_STR(str_of(session.who.user), "ann");
    clock_set(&bench.clock, 1000 + SESSION_MS - 1);
    CHECK(lives(&bench, cookie));
    clock_set(&bench.clock, 1000 + SESSION_MS);
    CHECK(!lives(&bench, cookie));
}

TEST(another_token_with_the_same_id_does_not_open_the_cookie)
{
    BENCH(bench);
    struct rand rand;
    struct err err = ERR_INIT;
    struct token other;
    char text[TOKEN_TEXT];
    struct str cookie = sign_in(&bench);
    rand_init(&rand);
    CHECK_OK(token_make(&(struct token_order){.role = ROLE_ADMIN}, 0, &rand, &other, text, &err));
    memcpy(other.id, bench.token.id, sizeof other.id);
    token_book_share(bench.book, &other, 1);
    CHECK(!lives(&bench, cookie));
    token_book_share(bench.book, NULL, 0);
    CHECK(!lives(&bench, cookie));
}

TEST(a_session_that_began_before_the_start_is_not_taken)
{
    BENCH(bench);
    struct str cookie = sign_in(&bench);
    CHECK(lives(&bench, cookie));
    int64_t began_ms = clock_real_wall_ms();
    WAIT_FOR(clock_real_wall_ms() > began_ms);
    sessions_free(bench.sessions);
    bench.sessions = sessions_new(&bench.clock);
    CHECK(!lives(&bench, cookie));
}

TEST(what_was_signed_out_never_comes_back_however_many_follow)
{
    BENCH(bench);
    struct session first, other = {.nonce = {0}};
    struct str cookie = sign_in(&bench);
    CHECK(session_check(bench.sessions, bench.book, 1, cookie, &first));
    session_end(bench.sessions, &first);
    CHECK(!lives(&bench, cookie));
    other.began_ms = first.began_ms;
    other.ends_ms = first.ends_ms;
    for (size_t i = 0; i < 3 * (size_t)SESSION_OVER_MAX; i++) {
        memcpy(other.nonce, &i, sizeof i);
        session_end(bench.sessions, &other);
    }
    CHECK(!lives(&bench, cookie));
}

TEST(the_end_of_a_session_is_told_as_it_is_read)
{
    SCOPED(buf_fini) struct buf text = BUF_INIT(KIB);
    const struct session told = {.nonce = {0x01, 0xAB, 0xFF}, .began_ms = 7, .ends_ms = 1LL << 40};
    struct session heard;
    session_write_end(&text, &told);
    CHECK(session_read_end(buf_view(&text), &heard));
    CHECK_EQ(memcmp(told.nonce, heard.nonce, SESSION_NONCE), 0);
    CHECK_EQ(heard.began_ms, 7);
    CHECK_EQ(heard.ends_ms, 1LL << 40);
    static const char *const wrong[] = {"",
                                        " ",
                                        "00 1 2",
                                        "01abff000000000000000000 1",
                                        "01abff000000000000000000 x 2",
                                        "01abfg000000000000000000 1 2",
                                        "01abff000000000000000000 1 2 3"};
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        CHECK(!session_read_end(str_of(wrong[i]), &heard));
    }
}
